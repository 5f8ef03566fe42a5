"""The released source of an engine: from the package index, an archive, a folder, or what was read before."""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from collections.abc import Mapping

from packaging.version import Version

from servelint.engines import ENGINES
from servelint.engines.releases import release_key
from servelint.files import git
from servelint.harvest import archives, index
from servelint.harvest.archives import HarvestError
from servelint.harvest.index import NoRanges, Progress, download, read_wheel

__all__ = ["HarvestError", "Tree", "open_local", "open_tree", "published"]

_VERSION = re.compile(r"""^__version__\s*(?::\s*str\s*)?=\s*(?:version\s*=\s*)?["']([^"']+)["']""", re.MULTILINE)


def _silent(_: str) -> None:
    pass


class Tree:
    """The Python files of one release: paths are relative to the folder that holds the package (`vllm/version.py`)."""

    def __init__(self, engine: str, release: str, files: Mapping[str, bytes | str]) -> None:
        self.engine = engine
        self.release = release
        self._files = files
        self._paths = sorted(files)

    def read(self, path: str) -> str | None:
        """A file's text, None if the release does not have it."""
        text = self._files.get(path)
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        return text

    def paths(self, prefix: str = "") -> list[str]:
        """The paths that start with a prefix, sorted."""
        return [path for path in self._paths if path.startswith(prefix)]


def published(engine: str, clone: str | None = None) -> list[str]:
    """The releases on the package index, oldest first: pre-releases and posts too, neither yanked nor development ones.

    clone: a clone of the repository of an engine without a Python package, whose tags are read instead: final releases only.
    """
    if ENGINES[engine].source_tag:
        if clone is None:
            raise HarvestError(f"{engine} is read from a clone of its repository: name it with --from")
        pattern = re.escape(ENGINES[engine].source_tag).replace(r"\{\}", r"(\d+(?:\.\d+)+)")
        matches = [re.fullmatch(pattern, tag) for tag in git.tags(clone)]
        return sorted([match.group(1) for match in matches if match is not None], key=Version)
    found = {file.release for file in index.files(_project(engine)) if not file.yanked}
    return sorted([release for release in found if not Version(release).is_devrelease], key=Version)


def open_tree(
    engine: str, release: str, cache: str | None = None, progress: Progress = _silent, *, unverified: bool = False
) -> Tree:
    """A release from the package index. Its .py files are kept under `cache`, so that the next call needs no network.

    cache: a folder; default servelint/harvest in the user's cache folder
    unverified: read only the parts of a wheel that are wanted, which no hash is of, and take files without a hash; what is read
    so is not kept. Raises HarvestError.
    """
    kept = os.path.join(cache or cache_folder(), f"{_project(engine)}-{_checked(release)}.zip")
    try:
        with open(kept, "rb") as earlier:
            return Tree(engine, release, archives.PackedFiles(earlier.read()))
    except (OSError, zipfile.BadZipFile):
        pass  # not read before, or cut off while it was written
    wanted = release_key(release)
    files = index.ranked([file for file in index.files(_project(engine)) if release_key(file.release) == wanted])
    if not files:
        raise HarvestError(f"{index.index_address()} has no {_project(engine)} {release}")
    reasons: list[str] = []
    tried: set[tuple[str, str]] = set()
    for file in files:
        form = file.kind, file.tags and file.tags.rpartition("-")[2]
        if form in tried:
            continue  # a wheel for another Python holds the same text
        tried.add(form)
        progress(f"{engine} {release}: reading {file.filename}")
        try:
            packed = archives.pack(_read(file, ENGINES[engine].python_package, progress, unverified).files)
        except (HarvestError, OSError, *archives.BROKEN) as error:
            reasons.append(f"{file.filename}: {error}")
            continue
        if not unverified:
            keep(kept, packed)
        return Tree(engine, release, archives.PackedFiles(packed))
    raise HarvestError(f"{engine} {release} cannot be read from the index: " + "; ".join(reasons))


def _read(file: index.IndexFile, package: str, progress: Progress, unverified: bool) -> archives.Files:
    if file.sha256 is None and not unverified:
        raise HarvestError(f"the index has no sha256 of {file.filename}; --unverified accepts it anyway")
    if file.kind == "wheel" and unverified:
        try:
            return read_wheel(file.url, package, progress)
        except NoRanges:
            progress("the server sends whole files only")
    with tempfile.TemporaryDirectory(prefix="servelint-") as folder:
        path = os.path.join(folder, os.path.basename(file.filename))
        with open(path, "w+b") as copy:
            download(file.url, copy, file.sha256, progress)
        return archives.read_archive(path, package)


def keep(path: str, packed: bytes) -> None:
    """Write a whole file or none: another process may read it."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), suffix=".part", delete=False) as file:
            file.write(packed)
        os.replace(file.name, path)
    except OSError as error:
        raise HarvestError(f"{path} cannot be written: {error}") from error


def open_local(engine: str, path: str, release: str | None = None) -> Tree:
    """A source archive, a wheel, a source folder, a folder with the package installed in it, or a clone. Raises HarvestError.

    release: which one it is; read from the metadata where not given.
    """
    package = ENGINES[engine].python_package
    files: Mapping[str, bytes]
    if ENGINES[engine].source_tag:
        if release is None:
            raise HarvestError(f"name the release that is read from {path}")
        return Tree(engine, _checked(release), archives.CloneFiles(path, ENGINES[engine].source_tag.format(release)))
    if os.path.isdir(path):
        folder = _holder(path, package)
        files, found_release = archives.FolderFiles(folder, package), _folder_release(folder, package)
    else:
        found = archives.read_archive(path, package)
        files, found_release = found.files, found.release
    release = release or found_release
    if release is None:
        raise HarvestError(f"{path} does not say which release it is; name it")
    return Tree(engine, _checked(release), files)


def _holder(path: str, package: str) -> str:
    """The folder that holds the package: the one named, its `python` or `src`, or the parent of the package itself."""
    for folder in (path, os.path.join(path, "python"), os.path.join(path, "src"), os.path.dirname(os.path.abspath(path))):
        named = folder != os.path.dirname(os.path.abspath(path)) or os.path.basename(os.path.abspath(path)) == package
        if named and os.path.isfile(os.path.join(folder, package, "__init__.py")):
            return folder
    raise HarvestError(f"{path} holds no {package} package")


def _folder_release(folder: str, package: str) -> str | None:
    """From the metadata beside an installed package, a source archive's PKG-INFO, or the package's version file."""
    pattern = re.compile(rf"{re.escape(package)}-[^/]+\.(?:dist-info|egg-info)", re.IGNORECASE)
    found: set[str] = set()
    for name in sorted(os.listdir(folder)):
        if pattern.fullmatch(name):
            for file in ("METADATA", "PKG-INFO"):
                found_release = archives.metadata_release(_text(os.path.join(folder, name, file)))
                found.update([found_release] if found_release else [])
    if len(found) == 1:
        return found.pop()
    found_release = archives.metadata_release(_text(os.path.join(folder, "PKG-INFO")))
    if found_release:
        return found_release
    for name in ("_version.py", "version.py", "__init__.py"):
        match = _VERSION.search(_text(os.path.join(folder, package, name)))
        if match and release_key(match.group(1)) is not None:
            return match.group(1).partition("+")[0]
    return None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(archives.MEMBER_LIMIT)
    except OSError:
        return ""


def _project(engine: str) -> str:
    names = {one.id: one.distributions[0] for one in ENGINES.values() if one.harvested and one.distributions}
    if engine not in names:
        raise HarvestError(f"{engine} has no Python package to harvest; use one of {', '.join(sorted(names))}")
    return names[engine]


def _checked(release: str) -> str:
    if release_key(release) is None or not re.fullmatch(r"[\w.+-]+", release):
        raise HarvestError(f"{release!r} is not a release")
    return release


def cache_folder() -> str:
    """The folder of sources that were read before: servelint/harvest in the user's cache folder."""
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "servelint", "harvest")
