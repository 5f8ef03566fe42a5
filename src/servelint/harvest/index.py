"""Package indexes (PEP 503 pages, PEP 691 JSON) over HTTP: which files a project has, and reading them whole or in part."""

from __future__ import annotations

import base64
import configparser
import hashlib
import http.client
import io
import itertools
import json
import os
import re
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from html.parser import HTMLParser
from typing import IO

from servelint.engines.releases import release_key
from servelint.harvest.archives import Files, HarvestError, member_text, wanted

# -- HTTP


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
        raise HarvestError(f"{shown(url)} is not an http or https address")
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


def get(url: str, accept: str) -> tuple[bytes, str, str]:
    """(body, content type, final address) of a page."""
    facts: list[str] = []

    def take(response: http.client.HTTPResponse) -> bytes:
        facts[:] = [response.headers.get("Content-Type") or "", response.url]
        body = response.read(PAGE_LIMIT + 1)
        if len(body) > PAGE_LIMIT:
            raise HarvestError(f"{shown(url)} is larger than {PAGE_LIMIT // 2**20} MiB")
        return body

    body = _retried(url, {"Accept": accept}, take)
    return body, facts[0], facts[1]


def download(url: str, file: IO[bytes], sha256: str | None, progress: Progress) -> None:
    """A whole file into `file`. Raises HarvestError when it is too large or has another hash than the index."""

    def take(response: http.client.HTTPResponse) -> bytes:
        file.seek(0)
        file.truncate()
        digest, size, reported = hashlib.sha256(), 0, 0
        length = response.headers.get("Content-Length") or ""
        while block := response.read(2**20):
            size += len(block)
            if size > FILE_LIMIT:
                raise HarvestError(f"{shown(url)} is larger than {FILE_LIMIT // 2**30} GiB")
            digest.update(block)
            file.write(block)
            if size - reported >= 64 * 2**20:
                reported = size
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

    def _fetch(self, range: str) -> None:
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
            self._block = _retried(self._url, {"Range": f"bytes={range}", "Accept-Encoding": "identity"}, take)
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
        """Whether the position can be set."""
        return True

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def tell(self) -> int:
        """The position, in bytes."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position, and return it."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        """Read bytes from the position on; all that are left if the size is negative."""
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


# -- the index


DEFAULT_INDEX = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


class IndexFile:
    """One file of a project: its name, where it is, what it holds, for which Python it is, and when it came if that is said."""

    __slots__ = ("filename", "kind", "python", "release", "sha256", "tags", "uploaded", "url", "yanked")

    def __init__(
        self, project: str, filename: str, url: str, sha256: str | None, yanked: bool, python: str = "", uploaded: str = ""
    ) -> None:
        self.python = python
        self.uploaded = uploaded
        self.filename = filename
        self.url = url
        self.sha256 = sha256
        self.yanked = yanked
        self.kind, self.release, self.tags = _parse(project, filename)


def _parse(project: str, filename: str) -> tuple[str, str, str]:
    """(wheel, sdist or other, release, wheel tags) from a file's name."""
    if filename.endswith(".whl"):
        parts = filename[:-4].split("-")
        if len(parts) in (5, 6) and _same(parts[0], project):
            return "wheel", parts[1].replace("_", "-").partition("+")[0], "-".join(parts[-3:])
    match = re.fullmatch(r"(?P<name>.+?)-(?P<release>\d[^-]*)\.(?:tar\.gz|tgz|zip)", filename)
    if match and _same(match.group("name"), project):
        return "sdist", match.group("release").partition("+")[0], ""
    return "other", "", ""


def _same(one: str, other: str) -> bool:
    return re.sub(r"[-_.]+", "-", one).lower() == re.sub(r"[-_.]+", "-", other).lower()


def index_address() -> str:
    """PIP_INDEX_URL, else `index-url` of pip's configuration, else the public index."""
    address = os.environ.get("PIP_INDEX_URL") or _configured() or DEFAULT_INDEX
    return address.split()[0].rstrip("/")


def _configured() -> str | None:
    """`index-url` of pip's configuration files, in pip's order: system, user, environment folder, PIP_CONFIG_FILE."""
    named = os.environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return None
    home = os.path.expanduser("~")
    paths = [
        os.path.join(folder, "pip", "pip.conf") for folder in os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(os.pathsep)
    ]
    paths.append("/etc/pip.conf")
    paths.append(os.path.join(home, ".pip", "pip.conf"))
    paths.append(os.path.join(home, "Library", "Application Support", "pip", "pip.conf"))
    paths.append(os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "pip", "pip.conf"))
    paths.append(os.path.join(os.environ.get("APPDATA", home), "pip", "pip.ini"))
    paths.append(os.path.join(sys.prefix, "pip.ini" if os.name == "nt" else "pip.conf"))
    paths.extend([named] if named else [])
    found: str | None = None
    for path in paths:
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
            found = parser.get("global", "index-url", fallback=found)
        except (configparser.Error, UnicodeDecodeError, OSError):
            continue  # pip itself would fail; another file may still have it
    return found or None


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []
        self.base: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links.append(dict(attrs))
        elif tag == "base" and self.base is None:
            self.base = dict(attrs).get("href")


def files(project: str) -> list[IndexFile]:
    """Every file that the index has of a project. Raises HarvestError when the index cannot be read."""
    name = re.sub(r"[-_.]+", "-", project).lower()
    address = f"{index_address()}/{name}/"
    body, content_type, final = get(address, _ACCEPT)
    text = body.decode("utf-8", "replace")
    found = _from_json(project, text, final) if "json" in content_type else _from_html(project, text, final)
    if not found:
        raise HarvestError(f"{shown(address)} lists no files of {project}")
    return [file for file in found if file.kind != "other" and release_key(file.release) is not None]


def _from_json(project: str, text: str, address: str) -> list[IndexFile]:
    try:
        entries = json.loads(text)["files"]
        return [
            IndexFile(
                project,
                str(entry["filename"]),
                urllib.parse.urljoin(address, str(entry["url"])),
                (entry.get("hashes") or {}).get("sha256"),
                bool(entry.get("yanked")),
                str(entry.get("requires-python") or ""),
                str(entry.get("upload-time") or ""),
            )
            for entry in entries
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HarvestError(f"{shown(address)} is not a package index page: {error}") from error


def _from_html(project: str, text: str, address: str) -> list[IndexFile]:
    parser = _Links()
    parser.feed(text)
    base = urllib.parse.urljoin(address, parser.base or "")
    found: list[IndexFile] = []
    for link in parser.links:
        if href := link.get("href"):
            url, _, fragment = urllib.parse.urljoin(base, href).partition("#")
            filename = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
            sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
            found.append(IndexFile(project, filename, url, sha256, "data-yanked" in link))
    return found


def ranked(candidates: list[IndexFile]) -> list[IndexFile]:
    """The files of one release, the best source of its text first: pure wheel, source archive, Linux wheel, the rest."""

    def rank(file: IndexFile) -> tuple[bool, int, bool, str]:
        order = 0 if file.tags.endswith("none-any") else 1 if file.kind == "sdist" else 2 if "linux" in file.tags else 3
        return file.yanked, order, "x86_64" not in file.tags, file.filename

    return sorted(candidates, key=rank)
