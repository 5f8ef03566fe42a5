"""The catalog file of an engine: what all its releases accept, each body stored once for the releases that share it.

A snapshot (the harvest of one release) is a plain dict. The file is JSON with one line a body, so that the diff of a new
release shows what it changed. Hand corrections are in a patch file and are applied to the snapshots.
"""

from __future__ import annotations

import json
import os
from typing import Any

from servelint.engines.catalog import format_runs, parse_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    Snapshot = dict[str, Any]
    Bodies = list[dict[str, Any]]


GROUPED = ("options", "env")
"""Parts of a snapshot that map a name to a body."""


def merge(engine: str, snapshots: list[Snapshot], patches: list[dict[str, Any]]) -> dict[str, Any]:
    """One catalog of many snapshots, which are given oldest first."""
    releases = [snapshot["release"] for snapshot in snapshots]
    snapshots = [_patched(snapshot, patches, releases) for snapshot in snapshots]
    catalog: dict[str, Any] = {"engine": engine, "releases": releases}
    for part in GROUPED:
        catalog[part] = _merged([snapshot.get(part, {}) for snapshot in snapshots], releases)
    catalog["positionals"] = _bodies([{"list": snapshot.get("positionals", [])} for snapshot in snapshots], releases)
    catalog["json"] = {}
    for name in sorted({name for snapshot in snapshots for name in snapshot.get("json", {})}):
        each = [snapshot.get("json", {}).get(name) for snapshot in snapshots]
        catalog["json"][name] = {
            "extra": _bodies([_extra(one) if one is not None else None for one in each], releases),
            "keys": _merged([one.get("keys", {}) if one is not None else {} for one in each], releases),
        }
    catalog["names"] = {
        kind: _merged([_named(snapshot.get("names", {}).get(kind, {})) for snapshot in snapshots], releases)
        for kind in sorted({kind for snapshot in snapshots for kind in snapshot.get("names", {})})
    }
    return catalog


def snapshot_of(catalog: dict[str, Any], release: str) -> Snapshot:
    """What a catalog says of one release, as its snapshot would."""
    position = {name: index for index, name in enumerate(catalog["releases"])}
    index = position[release]

    def pick(bodies: Bodies) -> dict[str, Any] | None:
        for body in bodies:
            if any(first <= index <= last for first, last in parse_runs(body["releases"], position)):
                return {key: value for key, value in body.items() if key != "releases"}
        return None

    def table(part: dict[str, Bodies]) -> dict[str, Any]:
        picked = {name: pick(bodies) for name, bodies in part.items()}
        return {name: body for name, body in picked.items() if body is not None}

    snapshot: Snapshot = {"engine": catalog["engine"], "release": release}
    for part in GROUPED:
        snapshot[part] = table(catalog[part])
    positionals = pick(catalog["positionals"])
    snapshot["positionals"] = positionals["list"] if positionals is not None else []
    snapshot["json"] = {}
    for name, part in catalog["json"].items():
        if (extra := pick(part["extra"])) is not None:
            snapshot["json"][name] = {"extra": extra["value"], "keys": table(part["keys"])}
            if "dashes" in extra:
                snapshot["json"][name]["dashes"] = extra["dashes"]
    snapshot["names"] = {kind: table(part) for kind, part in catalog["names"].items()}
    return snapshot


def dump(catalog: dict[str, Any]) -> str:
    """The text of a catalog file: a line for each body."""
    lines = ["{", f' "engine": {_line(catalog["engine"])},', f' "releases": {_line(catalog["releases"])},']
    lines += [*_table("options", catalog["options"]), ","]
    lines += [' "positionals": [', *_rows(catalog["positionals"], "  "), " ],", ' "json": {']
    for number, (name, part) in enumerate(catalog["json"].items()):
        lines += [f"  {_line(name)}: {{", '   "extra": [', *_rows(part["extra"], "    "), "   ],"]
        comma = "," if number + 1 < len(catalog["json"]) else ""
        lines += [*_table("keys", part["keys"], "   "), f"  }}{comma}"]
    lines += [" },", *_table("env", catalog["env"]), ",", ' "names": {']
    for number, (kind, part) in enumerate(catalog["names"].items()):
        lines += [*_table(kind, part, "  "), *([","] if number + 1 < len(catalog["names"]) else [])]
    return "\n".join([*lines, " }", "}"]) + "\n"


def write(path: str, catalog: dict[str, Any]) -> None:
    """Write a catalog file, which is either the old one or whole at any time."""
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(dump(catalog))
    os.replace(temporary, path)


def _table(name: str, part: dict[str, Bodies], indent: str = " ") -> list[str]:
    lines = [f"{indent}{_line(name)}: {{"]
    for number, (key, bodies) in enumerate(part.items()):
        comma = "," if number + 1 < len(part) else ""
        if len(bodies) == 1:
            lines.append(f"{indent} {_line(key)}: [{_line(bodies[0])}]{comma}")
        else:
            lines += [f"{indent} {_line(key)}: [", *_rows(bodies, indent + "  "), f"{indent} ]{comma}"]
    return [*lines, indent + "}"]


def _rows(bodies: Bodies, indent: str) -> list[str]:
    return [f"{indent}{_line(body)}{',' if number + 1 < len(bodies) else ''}" for number, body in enumerate(bodies)]


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _merged(parts: list[dict[str, Any]], releases: list[str]) -> dict[str, Bodies]:
    return {
        name: _bodies([part.get(name) for part in parts], releases)
        for name in sorted({name for part in parts for name in part})
    }


def _bodies(bodies: list[dict[str, Any] | None], releases: list[str]) -> Bodies:
    """Equal bodies together, in the order in which they first appear."""
    shared: dict[str, list[int]] = {}
    for index, body in enumerate(bodies):
        if body is not None:
            shared.setdefault(json.dumps(body, sort_keys=True), []).append(index)
    return [{"releases": format_runs(indexes, releases), **json.loads(text)} for text, indexes in shared.items()]


def _extra(part: dict[str, Any]) -> dict[str, Any]:
    """What a release does with keys: those that it does not know, and dashes in place of underscores."""
    return {"value": part.get("extra"), **({"dashes": True} if part.get("dashes") else {})}


def _named(names: list[str] | dict[str, Any]) -> dict[str, Any]:
    return names if isinstance(names, dict) else {name: {} for name in names}


def _patched(snapshot: Snapshot, patches: list[dict[str, Any]], releases: list[str]) -> Snapshot:
    """A snapshot with the hand corrections that are for its release.

    A patch: "at" (the path of a body: ["options", "swap-space"]), "releases" (runs), "reason", and "set" (fields to set; null
    removes one) or "remove": true (the body goes).
    """
    position = {release: index for index, release in enumerate(releases)}
    index = position[snapshot["release"]]
    done: Snapshot = json.loads(json.dumps(snapshot))
    for patch in patches:
        named = [release for part in patch["releases"].split(", ") for release in part.split("..") if release]
        if not position.keys() >= set(named):
            continue  # for releases that are not harvested here
        if not any(first <= index <= last for first, last in parse_runs(patch["releases"], position)):
            continue
        *path, name = patch["at"]
        part = done
        for key in path:
            part = part.setdefault(key, {})
        if patch.get("remove"):
            part.pop(name, None)
            continue
        body = {**part.get(name, {}), **patch["set"]}
        part[name] = {key: value for key, value in body.items() if value is not None}
    return done


# -- differences


def difference(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """A line for each option, variable and JSON key that came, went or changed."""
    found = [f"{after['engine']} {before['release']} -> {after['release']}"]
    for part, sign in (("options", "--"), ("env", "")):
        found += _changed(before.get(part, {}), after.get(part, {}), sign)
    for name in sorted({*before.get("json", {}), *after.get("json", {})}):
        old, new = (snapshot.get("json", {}).get(name, {}).get("keys", {}) for snapshot in (before, after))
        found += _changed(old, new, f"--{name} .")
    return found


def _changed(before: dict[str, Any], after: dict[str, Any], sign: str) -> list[str]:
    found = [f"  + {sign}{name}" for name in sorted(after.keys() - before.keys())]
    found += [f"  - {sign}{name}" for name in sorted(before.keys() - after.keys())]
    for name in sorted(before.keys() & after.keys()):
        fields = [
            f"{field}: {before[name].get(field)!r} -> {after[name].get(field)!r}"
            for field in sorted({*before[name], *after[name]})
            if before[name].get(field) != after[name].get(field)
        ]
        if fields:
            found.append(f"  ~ {sign}{name} ({'; '.join(fields)})")
    return found
