"""Reading from a package index over HTTP: pages, whole files, and the parts of a wheel that are wanted."""

from __future__ import annotations

import base64
import hashlib
import http.client
import io
import itertools
import os
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import IO

from servelint.harvest.archives import Files, member_text, wanted
from servelint.harvest.errors import HarvestError

Progress = Callable[[str], None]

TIMEOUT = 60.0
TRIES = 4
PAUSE = 1.0
"""Seconds before the second try; doubled before each further one."""
PAGE_LIMIT = 64 * 2**20
FILE_LIMIT = 4 * 2**30
GAP = 128 * 2**10
"""Wanted members that lie closer than this are read by one request."""
RUN_LIMIT = 8 * 2**20
_FAILED = (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException, ssl.SSLError)
_AGENT = "servelint"


def shown(url: str) -> str:
    """An address as a message may show it: without a user's name and password, a query or a fragment."""
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or None)


@contextmanager
def _opened(url: str, headers: dict[str, str]) -> Iterator[http.client.HTTPResponse]:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise HarvestError(f"{shown(url)} is no http or https address")
    user, at, host = parts.netloc.rpartition("@")
    bare = urllib.parse.urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    request = urllib.request.Request(bare, headers=headers)  # noqa: S310 - http or https, as was just seen
    request.add_header("User-Agent", _AGENT)
    if at:
        name = urllib.parse.unquote(user).encode()
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(name).decode())
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=_certificates()))
    with opener.open(request, timeout=TIMEOUT) as response:
        yield response


def _retried(url: str, headers: dict[str, str], take: Callable[[http.client.HTTPResponse], bytes]) -> bytes:
    """What `take` makes of the answer, after as many tries as a passing fault deserves. HarvestError when none works."""
    for attempt in range(1, TRIES + 1):
        try:
            with _opened(url, headers) as response:
                return take(response)
        except urllib.error.HTTPError as error:
            error.close()
            if attempt == TRIES or (error.code < 500 and error.code != 429):
                raise HarvestError(f"{shown(url)} answered {error.code} {error.reason}") from error
        except _FAILED as error:
            if attempt == TRIES:
                reason = getattr(error, "reason", None) or error
                raise HarvestError(f"{shown(url)} cannot be reached: {reason}") from error
        time.sleep(PAUSE * 2 ** (attempt - 1))
    raise AssertionError("the last try returns or raises")


def get(url: str, accept: str, limit: int = PAGE_LIMIT) -> tuple[bytes, str, str]:
    """(body, content type, final address) of a page."""
    facts: list[str] = []

    def take(response: http.client.HTTPResponse) -> bytes:
        facts[:] = [response.headers.get("Content-Type") or "", response.url]
        body = response.read(limit + 1)
        if len(body) > limit:
            raise HarvestError(f"{shown(url)} is larger than {limit // 2**20} MiB")
        return body

    body = _retried(url, {"Accept": accept}, take)
    return body, facts[0], facts[1]


def download(url: str, file: IO[bytes], sha256: str | None, progress: Progress) -> None:
    """A whole file into `file`. Raises HarvestError when it is too large or not what the index says it is."""

    def take(response: http.client.HTTPResponse) -> bytes:
        file.seek(0)
        file.truncate()
        digest, size, told = hashlib.sha256(), 0, 0
        length = response.headers.get("Content-Length") or ""
        while block := response.read(2**20):
            size += len(block)
            if size > FILE_LIMIT:
                raise HarvestError(f"{shown(url)} is larger than {FILE_LIMIT // 2**30} GiB")
            digest.update(block)
            file.write(block)
            if size - told >= 64 * 2**20:
                told = size
                progress(f"{size // 2**20} MiB of {int(length) // 2**20 if length.isdigit() else '?'} MiB")
        if length.isdigit() and size != int(length):
            raise http.client.IncompleteRead(b"", int(length) - size)
        return digest.hexdigest().encode()

    found = _retried(url, {}, take).decode()
    if sha256 and found != sha256:
        raise HarvestError(f"{shown(url)} is not the file that the index describes (sha256 differs)")
    file.seek(0)


class NoRanges(Exception):
    """The server sends whole files only."""


class RemoteFile(io.RawIOBase):
    """A file on a server, read in parts. Raises NoRanges at once where the server does not take range requests."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._at = 0
        self._start, self._block = 0, b""
        self._size = -1
        self._fetch(f"-{256 * 2**10}")

    def _fetch(self, asked: str) -> None:
        spans: list[tuple[int, int]] = []

        def take(response: http.client.HTTPResponse) -> bytes:
            match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", response.headers.get("Content-Range") or "")
            if response.status != 206 or match is None:
                raise NoRanges
            start, end, self._size = (int(number) for number in match.groups())
            spans[:] = [(start, end + 1)]
            body = response.read(end + 1 - start)
            if len(body) != end + 1 - start:
                raise http.client.IncompleteRead(body)
            return body

        try:
            self._block = _retried(self._url, {"Range": f"bytes={asked}", "Accept-Encoding": "identity"}, take)
        except HarvestError as error:
            if self._size < 0 and isinstance(error.__cause__, urllib.error.HTTPError) and error.__cause__.code in (416, 501):
                raise NoRanges from error
            raise
        self._start = spans[0][0]

    def load(self, start: int, end: int) -> None:
        """Read [start, end) by one request; what was loaded before is dropped."""
        if not (self._start <= start and end <= self._start + len(self._block)):
            self._fetch(f"{start}-{min(end, self._size) - 1}")

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        end = self._size if size < 0 else min(self._at + size, self._size)
        if end <= self._at:
            return b""
        if not (self._start <= self._at and end <= self._start + len(self._block)):
            self._fetch(f"{self._at}-{min(max(end, self._at + 2**16), self._size) - 1}")
        found = self._block[self._at - self._start : end - self._start]
        self._at = end
        return found


def read_wheel(url: str, package: str, progress: Progress) -> Files:
    """The package's .py files of a wheel, without the rest of it. Raises NoRanges, HarvestError."""
    with RemoteFile(url) as remote, zipfile.ZipFile(remote) as archive:
        ends = sorted(info.header_offset for info in archive.infolist())
        ends.append(archive.start_dir)
        after = dict(itertools.pairwise(ends))
        texts: dict[str, bytes] = {}
        run: list[zipfile.ZipInfo] = []
        members = wanted(archive, package)
        for index, info in enumerate(members):
            run.append(info)
            end = after[info.header_offset]
            following = members[index + 1] if index + 1 < len(members) else None
            near = following is not None and following.header_offset - end <= GAP
            if near and following is not None and after[following.header_offset] - run[0].header_offset <= RUN_LIMIT:
                continue
            remote.load(run[0].header_offset, end)
            for member in run:
                texts[member.filename] = member_text(archive, member)
            run = []
            progress(f"{len(texts)} of {len(members)} files")
    root = len(members[0].filename.partition(f"{package}/")[0])
    return Files({name[root:]: text for name, text in texts.items()}, None)
