"""The catalog's files: data/<engine>.json, which people review, and its compiled form, which a check loads.

A compiled catalog is lines of JSON: a header, then one line for each part or body, so that only what is asked for is decoded.
In the reviewed form, `releases` of a body is a text such as "0.6.0..0.16.0, 0.33.0..". An open end reaches to the newest
release in the catalog, so that adding a release changes only what the release changes.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SUFFIX = ".catalog"


def compiled(engine: str, folder: str) -> str | None:
    """The text of an engine's compiled catalog, compiled anew if the reviewed file is newer; None if there is none."""
    path = os.path.join(folder, engine + SUFFIX)
    try:
        if os.stat(path).st_mtime_ns >= os.stat(os.path.join(folder, engine + ".json")).st_mtime_ns:
            return _read(path)
    except FileNotFoundError:
        if not os.path.exists(os.path.join(folder, engine + ".json")):
            return _read(path) if os.path.exists(path) else None
    text = compile_catalog(json.loads(_read(os.path.join(folder, engine + ".json"))))
    try:
        _write(path, text)
    except OSError:
        return text  # a folder that may only be read
    return text


def exists(engine: str, folder: str) -> bool:
    """Whether a folder has a catalog of an engine."""
    return any(os.path.exists(os.path.join(folder, engine + suffix)) for suffix in (".json", SUFFIX))


def compile_file(path: str) -> str:
    """Write the compiled form of a catalog file beside it, and return its path."""
    target = path.removesuffix(".json") + SUFFIX
    _write(target, compile_catalog(json.loads(_read(path))))
    return target


def compile_all(folder: str, engines: list[str]) -> list[str]:
    """Compile the catalogs of some engines in a folder, and return the paths that were written."""
    paths = [os.path.join(folder, engine + ".json") for engine in engines]
    return [compile_file(path) for path in paths if os.path.exists(path)]


def compile_catalog(data: dict[str, Any]) -> str:
    """Compile a catalog. Raises KeyError if a body names a release that the catalog does not list."""
    position = {release: index for index, release in enumerate(data["releases"])}

    def runs(bodies: list[dict[str, Any]]) -> list[list[Any]]:
        found: list[list[Any]] = []
        for body in bodies:
            rest = {key: value for key, value in body.items() if key != "releases"}
            found += [[first, last, rest] for first, last in parse_runs(body["releases"], position)]
        return sorted(found, key=lambda run: run[:2])

    def table(part: dict[str, Any]) -> dict[str, list[list[Any]]]:
        return {name: runs(bodies) for name, bodies in part.items()}

    lines: list[str] = [""]

    def add(value: object) -> int:
        lines.append(json.dumps(value, separators=(",", ":"), ensure_ascii=False))
        return len(lines) - 1

    spellings: dict[str, list[list[int]]] = {}
    required: list[int] = []
    for name, bodies in data["options"].items():
        for body in bodies:
            line = add([name, {key: value for key, value in body.items() if key != "releases"}])
            if body.get("required"):
                required.append(line)
            for first, last in parse_runs(body["releases"], position):
                for spelling in [*body.get("names", ["--" + name]), *body.get("negatives", [])]:
                    spellings.setdefault(spelling, []).append([first, last, line])
    parts = {
        "required": required,
        "spellings": add({spelling: sorted(found) for spelling, found in spellings.items()}),
        "positionals": add(runs(data["positionals"])),
        "env": add(table(data["env"])),
        "json": {name: add({"extra": runs(part["extra"]), "keys": table(part["keys"])}) for name, part in data["json"].items()},
        "names": {kind: add(table(part)) for kind, part in data["names"].items()},
    }
    header = {"engine": data["engine"], "releases": data["releases"], "parts": parts}
    lines[0] = json.dumps(header, separators=(",", ":"), ensure_ascii=False)
    return "\n".join(lines)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def format_runs(indexes: list[int], releases: list[str]) -> str:
    """Write sorted positions in a list of releases as runs.

    >>> format_runs([0, 1, 3], ["0.1", "0.2", "0.3", "0.4"])
    '0.1..0.2, 0.4..'
    """
    parts: list[str] = []
    at = 0
    while at < len(indexes):
        end = at
        while end + 1 < len(indexes) and indexes[end + 1] == indexes[end] + 1:
            end += 1
        first, last = indexes[at], indexes[end]
        if last == len(releases) - 1:
            parts.append(releases[first] + "..")
        else:
            parts.append(releases[first] if first == last else f"{releases[first]}..{releases[last]}")
        at = end + 1
    return ", ".join(parts)


def parse_runs(text: str, position: dict[str, int]) -> list[tuple[int, int]]:
    """Read runs as inclusive positions (first, last). Raises KeyError for a release that has no position.

    >>> parse_runs("0.1..0.2, 0.4..", {"0.1": 0, "0.2": 1, "0.3": 2, "0.4": 3})
    [(0, 1), (3, 3)]
    """
    runs: list[tuple[int, int]] = []
    for part in text.split(", "):
        first, dots, last = part.partition("..")
        start = position[first]
        runs.append((start, position[last] if last else len(position) - 1 if dots else start))
    return runs
