"""What every repository of a scan is asked, and a name for it that changes with whatever a finding depends on."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from servelint import __version__
from servelint.core.settings import Settings
from servelint.core.trust import folder_path

_DERIVED = (".pyc", ".catalog", ".tmp")
_PARSERS = ("ruamel.yaml", "tree-sitter", "tree-sitter-bash")


class Job(NamedTuple):
    """It goes to other processes and to other machines.

    exclude: patterns of paths that are left out, relative to each repository;  cache: a folder, None for none
    context: what context() says where the scan was started
    """

    settings: Settings
    exclude: tuple[str, ...] = ()
    cache: str | None = None
    context: str = ""


def made(settings: Settings, exclude: tuple[str, ...] = (), cache: str | None = None) -> Job:
    return Job(settings, exclude, cache, context(settings, exclude))


def excludes(patterns: tuple[str, ...]) -> Callable[[str], bool] | None:
    """Tells of a path in a repository whether it is left out; None if nothing is."""
    if not patterns:
        return None
    from servelint.settings.layers import Glob

    globs = [Glob(pattern, os.sep) for pattern in patterns]
    return lambda path: any(glob.matches(os.sep + path.replace("/", os.sep), os.sep) for glob in globs)


def context(settings: Settings, exclude: tuple[str, ...]) -> str:
    """A digest of servelint, its version, rules and catalogs, of the interpreter and parsers, and of the settings."""
    told = {name: getattr(settings, name) for name in Settings.__slots__ if name not in ("selections", "rules", "trust")}
    told["selections"] = [[layer.select, layer.extend_select, layer.ignore] for layer in settings.selections]
    told["rules"] = [_of_folder(folder_path(folder)) for folder in settings.rules]
    told["exclude"] = exclude
    whole = hashlib.sha256(_program().encode())
    whole.update(json.dumps(told, sort_keys=True).encode())
    return whole.hexdigest()[:32]


@lru_cache(maxsize=1)
def _program() -> str:
    from importlib.metadata import version

    from servelint.rules.load import rule_folder

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [package] if rule_folder().startswith(package) else [package, rule_folder()]
    parsers = [version(name) for name in _PARSERS]
    return json.dumps([__version__, sys.version_info[:2], parsers, [_of_folder(folder) for folder in folders]])


def _of_folder(folder: str) -> str:
    """A digest of the files of a folder, but for what is made of the others."""
    whole = hashlib.sha256()
    for base, folders, names in os.walk(folder):
        folders[:] = sorted([name for name in folders if name != "__pycache__"])
        for name in sorted(names):
            path = os.path.join(base, name)
            if name.endswith(_DERIVED) or (name.startswith("book.json") and os.path.basename(base) == "rules"):
                continue
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError:
                continue
            whole.update(f"{os.path.relpath(path, folder)}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
            whole.update(data)
    return whole.hexdigest()
