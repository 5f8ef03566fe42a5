"""Small archives and a small package index, for the tests of the harvest."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def wheel(files: dict[str, str], name: str = "sglang", release: str = "0.5.9", padding: int = 0) -> bytes:
    """A wheel with these files, its metadata and, between them, `padding` bytes that no reader wants."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (path, text) in enumerate(files.items()):
            if padding and number == len(files) // 2:
                archive.writestr(zipfile.ZipInfo(f"{name}/kernels.so"), bytes(padding))
            archive.writestr(path, text)
        archive.writestr(
            f"{name}-{release}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n\nVersion: 9\n"
        )
    return buffer.getvalue()


def sdist(files: dict[str, str], name: str = "sglang", release: str = "0.5.9") -> bytes:
    """A source archive with these files under its one folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        top = f"{name}-{release}"
        for path, text in {**files, "PKG-INFO": f"Metadata-Version: 2.1\nVersion: {release}\n"}.items():
            member = tarfile.TarInfo(path if path.startswith(("/", "..")) else f"{top}/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


class Index:
    """A package index on this machine: files by name, and what was asked for."""

    def __init__(self, files: dict[str, bytes], ranges: bool = True, as_json: bool = False) -> None:
        self.files = files
        self.ranges = ranges
        self.as_json = as_json
        self.yanked: set[str] = set()
        self.failures: list[int] = []
        self.wrong_hash = False
        self.no_hash = False
        self.requests: list[str] = []
        self.address = ""

    def page(self, project: str) -> bytes:
        listed = {name: body for name, body in self.files.items() if re.sub(r"[-_.]+", "-", name).startswith(project)}
        hashes = {name: "0" * 64 if self.wrong_hash else hashlib.sha256(body).hexdigest() for name, body in listed.items()}
        if self.as_json:
            entries = [
                {
                    "filename": name,
                    "url": f"../../files/{name}",
                    "hashes": {} if self.no_hash else {"sha256": hashes[name]},
                    "yanked": name in self.yanked,
                }
                for name in listed
            ]
            return json.dumps({"meta": {"api-version": "1.1"}, "name": project, "files": entries}).encode()
        links = []
        for name in listed:
            mark = " data-yanked=reason" if name in self.yanked else ""
            fragment = "" if self.no_hash else f"#sha256={hashes[name]}"
            links.append(f'<a href="../../files/{name}{fragment}"{mark}>{name}</a><br/>')
        return f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()


@contextmanager
def served(index: Index) -> Iterator[Index]:
    """The index over HTTP; its address is `index.address`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            index.requests.append(f"{self.path} {asked}".strip())
            if index.failures:
                self._answer(index.failures.pop(0), b"")
            elif self.path.startswith("/simple/"):
                kind = "application/vnd.pypi.simple.v1+json" if index.as_json else "text/html"
                self._answer(200, index.page(self.path.split("/")[2]), {"Content-Type": kind})
            elif self.path.rpartition("/")[2] in index.files:
                self._file(index.files[self.path.rpartition("/")[2]], asked)
            else:
                self._answer(404, b"")

        def _file(self, body: bytes, asked: str) -> None:
            match = re.fullmatch(r"bytes=(\d*)-(\d*)", asked)
            if match is None or not index.ranges:
                return self._answer(200, body)
            start = int(match.group(1)) if match.group(1) else max(0, len(body) - int(match.group(2)))
            end = min(int(match.group(2)), len(body) - 1) if match.group(1) else len(body) - 1
            return self._answer(206, body[start : end + 1], {"Content-Range": f"bytes {start}-{end}/{len(body)}"})

        def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    index.address = f"http://127.0.0.1:{server.server_port}/simple"
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
