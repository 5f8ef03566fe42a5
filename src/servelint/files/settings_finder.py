"""Settings in files: `servelint.toml`, or `[tool.servelint]` in `pyproject.toml`. The nearest one above a path governs it.

Finder finds that file. files: the settings of each path;  reading: from files, variables of the environment and options to
layers;  layers: what layers say together;  keys: what may be written;  toml_document: TOML with the place of each key.
"""

from __future__ import annotations

import os
import re

from servelint.core.trust import EVERYTHING, Trust

NAME = "servelint.toml"
PYPROJECT = "pyproject.toml"
TABLE = ("tool", "servelint")
"""Where the settings stand in PYPROJECT."""

SIZE_AT_MOST = 1 << 20
"""Bytes (1 MiB)."""

_MAYBE = rb"""^[ \t]*\[*[ \t]*["']?tool\b.*servelint|^[ \t]*["']?servelint["']?[ \t]*[.=]"""
"""What may begin that table."""


class Finder:
    """Finds settings files, and keeps what it knows of each folder."""

    __slots__ = ("_known", "_trust")

    def __init__(self, trust: Trust = EVERYTHING) -> None:
        self._trust = trust
        self._known: dict[str, str | None] = {}

    def nearest(self, folder: str) -> str | None:
        """The settings file that governs a folder, given by its absolute path; None if there is none up to the root."""
        below: list[str] = []
        here = folder
        while here not in self._known:
            below.append(here)
            found = _in(here, self._trust)
            parent = os.path.dirname(here)
            if found is not None or parent == here:
                self._known[here] = found
                break
            here = parent
        found = self._known[here]
        for one in below:
            self._known[one] = found
        return found


def _in(folder: str, trust: Trust) -> str | None:
    own = os.path.join(folder, NAME)
    if trust.is_file(own):
        return own
    shared = os.path.join(folder, PYPROJECT)
    return shared if trust.is_file(shared) and _has_table(shared, trust) else None


def _has_table(path: str, trust: Trust) -> bool:
    """Whether a pyproject.toml has the table. One that cannot be parsed may have it: its reader says what is wrong."""
    try:
        data = trust.read(path, SIZE_AT_MOST)
    except OSError:
        return False
    if b"servelint" not in data or re.search(_MAYBE, data, re.MULTILINE) is None:
        return False  # most of them: they are not parsed
    from servelint.files import toml_document

    found = toml_document.read(path, path, SIZE_AT_MOST, trust)
    return not isinstance(found, toml_document.Document) or found.table(TABLE) is not None


def shown(path: str) -> str:
    """A path as reports show it: from the current folder where it is below that."""
    path = os.path.normpath(path)
    here = os.getcwd()
    if path == here:
        return "."
    start = os.path.join(here, "")
    return path[len(start) :] if path.startswith(start) else path
