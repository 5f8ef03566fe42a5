"""The Python files of a package inside an archive, a wheel or a folder. Nothing is extracted to disk."""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping

from servelint.files import git


class HarvestError(Exception):
    """A release, an archive or an index that could not be read; the message says which and why."""


MEMBER_LIMIT = 16 * 2**20
"""Bytes. A larger file is data that happens to be called .py; it is left out."""
TOTAL_LIMIT = 512 * 2**20
"""Bytes. More text in one package is refused, so that a crafted archive cannot fill the memory."""

BROKEN = (tarfile.TarError, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, gzip.BadGzipFile, EOFError)
_METADATA = re.compile(r"^Version:[ \t]*(\S+)", re.MULTILINE | re.IGNORECASE)


class Files:
    """What an archive holds of a package: path -> text, and the release that its metadata names."""

    def __init__(self, files: Mapping[str, bytes], release: str | None) -> None:
        self.files = files
        self.release = release


def safe(name: str) -> bool:
    """Whether a member's name stays inside the archive."""
    return bool(name) and not name.startswith("/") and "\\" not in name and ":" not in name and ".." not in name.split("/")


def package_root(names: Iterable[str], package: str) -> str | None:
    """The folder (with its slash, or "") that holds the package, the shallowest one: `vllm-0.9.1/`, `python/`."""
    tail = f"{package}/__init__.py"
    roots = [name[: -len(tail)] for name in names if name == tail or name.endswith("/" + tail)]
    return min(roots, key=lambda root: (root.count("/"), root), default=None)


def metadata_release(text: str) -> str | None:
    """The release in a METADATA or PKG-INFO file, without its local part (`+cu128`)."""
    match = _METADATA.search(text.partition("\n\n")[0])
    return match.group(1).partition("+")[0] if match else None


def read_archive(path: str, package: str) -> Files:
    """A .tar.gz, .whl or .zip on disk. Raises HarvestError when it is broken or does not hold the package."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return read_zip(archive, package)
        with open(path, "rb") as file:
            return read_tar(file, package)
    except (OSError, *BROKEN) as error:
        raise HarvestError(f"{os.path.basename(path)} cannot be read: {error}") from error


def read_tar(file: io.BufferedIOBase | io.RawIOBase, package: str) -> Files:
    """The package's .py files of a .tar.gz. Raises HarvestError without the package."""
    texts: dict[str, bytes] = {}
    release, left = None, TOTAL_LIMIT
    with tarfile.open(fileobj=file, mode="r|gz") as archive:
        for member in archive:
            name = member.name.removeprefix("./")
            info = name.endswith("PKG-INFO") and name.count("/") <= 1
            if not member.isreg() or not safe(name) or member.size > MEMBER_LIMIT or not (info or name.endswith(".py")):
                continue
            if f"/{package}/" not in f"/{name}" and not info:
                continue
            reader = archive.extractfile(member)
            text = reader.read() if reader else b""
            left = _spent(left, len(text))
            if info:
                release = metadata_release(text.decode("utf-8", "replace")) or release
            else:
                texts[name] = text
    return Files(_under_root(texts, package), release)


def read_zip(archive: zipfile.ZipFile, package: str) -> Files:
    """The package's .py files of a wheel or .zip. Raises HarvestError without the package."""
    infos = wanted(archive, package)
    left = TOTAL_LIMIT
    texts: dict[str, bytes] = {}
    for info in infos:
        texts[info.filename] = member_text(archive, info)
        left = _spent(left, len(texts[info.filename]))
    return Files(_under_root(texts, package), zip_release(archive, package))


def zip_release(archive: zipfile.ZipFile, package: str) -> str | None:
    """The release in a wheel's METADATA or a source archive's PKG-INFO."""
    spelled = rf"(?:{re.escape(package)}-[^/]+\.dist-info/METADATA|(?:[^/]+/)?PKG-INFO)"
    for info in archive.infolist():
        if re.fullmatch(spelled, info.filename, re.IGNORECASE) and info.file_size <= MEMBER_LIMIT:
            return metadata_release(member_text(archive, info).decode("utf-8", "replace"))
    return None


def wanted(archive: zipfile.ZipFile, package: str) -> list[zipfile.ZipInfo]:
    """The package's .py members in the order in which they lie in the file. Raises HarvestError without the package."""
    names = [info.filename for info in archive.infolist() if safe(info.filename)]
    root = package_root(names, package)
    if root is None:
        raise HarvestError(f"it holds no {package} package")
    inside = [info for info in archive.infolist() if safe(info.filename) and info.filename.startswith(f"{root}{package}/")]
    found = [info for info in inside if info.filename.endswith(".py") and info.file_size <= MEMBER_LIMIT]
    _spent(TOTAL_LIMIT, sum(info.file_size for info in found))
    return sorted(found, key=lambda info: info.header_offset)


def member_text(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """One member, never more than the size that the directory declares for it."""
    with archive.open(info) as member:
        return member.read(info.file_size)


def _under_root(texts: dict[str, bytes], package: str) -> dict[str, bytes]:
    """The files of the package, by their paths from its own folder on. Raises HarvestError without the package."""
    root = package_root(texts, package)
    if root is None:
        raise HarvestError(f"it holds no {package} package")
    return {name[len(root) :]: text for name, text in texts.items() if name.startswith(f"{root}{package}/")}


def _spent(left: int, size: int) -> int:
    """The bytes of TOTAL_LIMIT that are left after a text of some size. Raises HarvestError if it is larger."""
    if size > left:
        raise HarvestError(f"it holds more than {TOTAL_LIMIT // 2**20} MiB of text")
    return left - size


def pack(files: Mapping[str, bytes]) -> bytes:
    """A zip of the files, the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, files[name])
    return buffer.getvalue()


class PackedFiles(Mapping[str, bytes]):
    """The files that `pack` wrote, each read on access."""

    def __init__(self, packed: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(packed))
        self._infos = {info.filename: info for info in self._archive.infolist() if safe(info.filename)}

    def __getitem__(self, name: str) -> bytes:
        return member_text(self._archive, self._infos[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)


class FolderFiles(Mapping[str, bytes]):
    """The .py files of a package's folder on disk; links that lead out of the folder are left out."""

    def __init__(self, folder: str, package: str) -> None:
        self._paths: dict[str, str] = {}
        top = os.path.realpath(os.path.join(folder, package))
        for at, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in names:
                path = os.path.join(at, name)
                inside = os.path.realpath(path).startswith(top + os.sep)
                if name.endswith(".py") and inside and os.path.isfile(path) and os.path.getsize(path) <= MEMBER_LIMIT:
                    self._paths["/".join([package, *os.path.relpath(path, top).split(os.sep)])] = path

    def __getitem__(self, name: str) -> bytes:
        with open(self._paths[name], "rb") as file:
            return file.read()

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


_SOURCE = re.compile(r"(?<!_test)\.(?:go|rs|py)$")


class CloneFiles(Mapping[str, bytes]):
    """The files of a tag in a clone of an engine's repository, each read on access. Raises HarvestError."""

    _blobs: dict[tuple[str, str], bytes] = {}  # noqa: RUF012 - most files are the same in many tags

    def __init__(self, folder: str, tag: str) -> None:
        self._folder = folder
        try:
            found = git.tree(folder, f"refs/tags/{tag}")
        except git.GitError as error:
            raise HarvestError(f"{folder} has no tag {tag}: {error}") from error
        self._names = {path: name for path, (mode, name) in found.items() if mode.startswith("100") and _SOURCE.search(path)}

    def __getitem__(self, path: str) -> bytes:
        key = self._folder, self._names[path]
        if key not in self._blobs:
            self._blobs[key] = git.blob(*key)
        return self._blobs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
