"""A settings file and those that it extends, read as layers."""

from __future__ import annotations

import os

from servelint.core.problem import Problem
from servelint.files import trust
from servelint.files.settings import document, validate
from servelint.files.settings.find import PYPROJECT, TABLE, shown
from servelint.files.settings.layer import Layer, Origin


def load(path: str, problems: list[Problem], known: dict[str, Layer | None]) -> list[Layer]:
    """The layers of a settings file, what it extends before it; what is wrong is added to problems.

    known: the layers of files that were read already, by path, None where one cannot be read; those that are read are added
    """
    layers: list[Layer] = []
    seen: list[str] = []
    asked: Origin | None = None
    while True:
        real = os.path.realpath(path)
        if real in seen:
            _wrong(
                asked,
                path,
                f"extends {' -> '.join([shown(one) for one in [*seen[seen.index(real) :], real]])}: a circle",
                problems,
            )
            break
        seen.append(real)
        if asked is not None and not trust.is_file(path):
            _wrong(asked, path, f"there is no file {shown(path)}", problems)
            break
        if path not in known:
            known[path] = _layer(path, asked, problems)
        layer = known[path]
        if layer is None:
            break
        layers.insert(0, layer)
        extended = layer.values.get("extends")
        if extended is None:
            break
        path, asked = extended.value, extended.origin
    return layers


def _layer(path: str, asked: Origin | None, problems: list[Problem]) -> Layer | None:
    found = document.read(path, shown(path))
    if isinstance(found, Problem):
        problems.append(found)
        return None
    if os.path.basename(path) == PYPROJECT and found.table(TABLE) is None:
        _wrong(asked, path, f"{shown(path)} has no table [{'.'.join(TABLE)}]", problems)
        return None
    return validate.layer(found, path, problems)


def _wrong(asked: Origin | None, path: str, message: str, problems: list[Problem]) -> None:
    """A problem where the file is asked for, or in the file itself."""
    if asked is None:
        problems.append(Problem(shown(path), message))
    else:
        problems.append(Problem(asked.name, message, asked.line, asked.column))
