"""What a result depends on beside the files of a project: servelint with its rules, Python, the parsers, the settings.

The digest of the program is that of its files' contents, so that it is the same wherever the same release is installed. To read
7 MB takes as long as a check of a few files: the digest is kept in the user's cache, by the sizes and times of the files.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from functools import lru_cache

from servelint.core.data import PACKAGE, active, own_folder
from servelint.core.digest import SIZE, content_digest
from servelint.core.settings import Settings

_FORMAT = 1
"""Raise it when the format of an entry changes."""

FRESH_FOR = 2_000_000_000
"""Nanoseconds for which a changed file may keep its times: the resolution of some file systems is that coarse."""

_PARSERS = ("_ruamel", "jsonschema", "packaging", "ruamel", "tree_sitter")
"""Prefixes of the names of packages on whose release a result depends."""


def user_folder() -> str:
    """Return the folder of the user's caches by the conventions of the system."""
    return own_folder("~/Library/Caches", "XDG_CACHE_HOME", "~/.cache")


def settings_digest(settings: Settings) -> str:
    """Return a digest of settings, with the rules in their folders."""
    return content_digest(json.dumps(settings_data(settings), sort_keys=True, default=repr).encode())


def settings_data(settings: Settings) -> dict[str, object]:
    """Return settings as JSON data. Folders of rules are read: their place does not matter."""
    found: dict[str, object] = {
        name: getattr(settings, name) for name in Settings.__slots__ if name not in ("selections", "rules", "trust")
    }
    found["selections"] = [[layer.select, layer.extend_select, layer.ignore] for layer in settings.selections]
    found["inline"] = settings.trust.inline
    found["rules"] = []
    if settings.rules:
        from servelint.rules import folder

        found["rules"] = [folder.load(path).written for path in settings.rules]
    return found


@lru_cache(maxsize=1)
def program() -> str:
    """Return a digest of servelint, its rules and catalogs, of Python and of the parsers.

    Raises:
        OSError: The files cannot be read, as those of a program that is packed into one file.
    """
    files = [(path, entry.stat()) for folder in program_folders() for path, entry in _walk(folder)]
    parsers = sorted(_parsers())
    about = [_FORMAT, sys.version, [name for name, _ in parsers]]
    fresh = time.time_ns() - FRESH_FOR
    stamps = [(path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino) for path, info in files]
    stamp = content_digest(json.dumps([about, stamps, parsers]).encode())
    known = os.path.join(user_folder(), "program", stamp)
    if all(max(info.st_mtime_ns, info.st_ctime_ns) < fresh for _, info in files):
        try:
            with open(known, encoding="ascii") as file:
                found = file.read(64)
            if len(found) == 2 * SIZE:
                return found
        except (OSError, ValueError):
            pass
        found = _digest([path for path, _ in files], about)
        _keep(known, found)
        return found
    return _digest([path for path, _ in files], about)


@lru_cache(maxsize=1)
def program_contents() -> str:
    """Return a digest of the files of servelint, its rules and catalogs; "" for a program that is packed into one file."""
    try:
        return _digest([path for folder in program_folders() for path, _ in _walk(folder)], [])
    except OSError:
        return ""


def _digest(paths: list[str], about: list[object]) -> str:
    parts = [json.dumps(about).encode()]
    every = set(paths)
    roots = program_folders()
    for path in sorted(paths):
        if path.endswith(".catalog") and f"{path.removesuffix('.catalog')}.json" in every:
            continue  # made of it, likewise the rule book of a checkout
        if len(roots) > 1 and os.path.basename(path).startswith("book.json"):
            continue
        root = next(one for one in roots if path.startswith(one))
        with open(path, "rb") as file:
            parts += [os.path.relpath(path, root).encode("utf-8", "surrogateescape"), file.read()]
    return content_digest(*parts)


def program_folders() -> list[str]:
    """Return the folder of the package, that of the rules where it is another one, and that of a data bundle."""
    from servelint.rules.load import rule_folder

    bundle = active()
    other = bundle.folder if bundle is not None else rule_folder()
    return [PACKAGE] if other.startswith(PACKAGE + os.sep) else [PACKAGE, other]


def _walk(folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _walk(entry.path)
        elif not entry.name.endswith((".pyc", ".tmp")):
            yield entry.path, entry


def _parsers() -> Iterator[tuple[str, int]]:
    """Yield the packages that parse, by names that have their releases, and the times at which they changed."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("ruamel")
    places = {os.path.dirname(one) for one in (spec.submodule_search_locations if spec is not None else None) or ()}
    for place in places:
        with os.scandir(place) as scan:
            for entry in scan:
                if entry.name.startswith(_PARSERS):
                    yield entry.name, entry.stat().st_mtime_ns


def _keep(path: str, text: str) -> None:
    folder = os.path.dirname(path)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for name in os.listdir(folder):
            if time.time() - os.stat(os.path.join(folder, name)).st_mtime > 30 * 24 * 3600:
                os.unlink(os.path.join(folder, name))
        with open(temporary, "x", encoding="ascii") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        return
