"""`servelint check --show-settings`: the settings of paths, and the place that says each of them."""

from __future__ import annotations

import argparse
import json
import os

from servelint.cli import options
from servelint.cli.files import write_out
from servelint.files.settings import effective, files
from servelint.files.settings.effective import Said
from servelint.files.settings.files import SettingsFiles
from servelint.files.settings.keys import KEYS
from servelint.files.settings.layer import IN_FILE, Origin
from servelint.report.clean import clean
from servelint.report.encode import encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LISTS = ("select", "extend-select", "ignore", "exclude", "extend-exclude", "rules")


def run(arguments: argparse.Namespace, asked: SettingsFiles, usage: argparse.ArgumentParser) -> int:
    """Print them as text or as JSON."""
    paths = [arguments.stdin_filename if path == "-" else path for path in arguments.paths] or ["."]
    shown = [(path, *_of(path, asked)) for path in paths]
    options.settled(asked, usage)
    if asked.problems:
        return options.stop(asked.problems)
    if (arguments.format or asked.value("format")) == "json":
        data = [{"path": path, "files": names, "settings": _data(said)} for path, names, said in shown]
        write_out(encoded({"paths": data}, indent=1) + "\n")
    else:
        write_out("\n".join([_text(*one) for one in shown]))
    return 0


def _of(path: str, asked: SettingsFiles) -> tuple[list[str], list[Said]]:
    """The settings files of a path, the nearest first, and what holds."""
    if os.path.isdir(path):
        governing, absolute = asked.governing(os.path.join(path, ""))[0], None
    else:
        governing, absolute = asked.governing(path)
    return list(files.paths(governing)), effective.said(governing.layers_of(absolute))


def _text(path: str, names: list[str], said: list[Said]) -> str:
    head = f"{path}: {', which extends '.join(names)}" if names else f"{path}: no settings file"
    rows: list[tuple[str, str, str]] = []
    for key in (*KEYS, *dict.fromkeys([one.key for one in said if one.key not in KEYS])):
        if key in effective.PASSED:
            continue
        own = [one for one in said if one.key == key]
        rows += [(key, _value(one), str(one.origin or "default")) for one in own] or [(key, _nothing(key), "default")]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [clean(head)]
    before = ""
    for key, value, origin in rows:
        name = "" if key == before else key
        before = key
        lines.append(clean(f"  {name:<{widths[0]}}  {value:<{widths[1]}}  {origin}"))
    return "\n".join([*lines, ""])


def _nothing(key: str) -> str:
    return "every rule of the profile" if key == "select" else "none"


def _value(one: Said) -> str:
    value = one.value
    text = "none" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{one.name} {text}" if one.name else text


def _data(said: list[Said]) -> dict[str, Any]:
    found: dict[str, Any] = {key: [] if key in _LISTS else {} for key in KEYS if key not in effective.PASSED}
    found["rule"] = {}
    for one in said:
        data = {"value": one.value, "from": _origin(one.origin)}
        if one.key in _LISTS:
            found[one.key].append(data)
        elif one.key.startswith("rule."):
            found["rule"].setdefault(one.key.removeprefix("rule."), {})[one.name] = data
        elif one.name:
            found[one.key][one.name] = data
        else:
            found[one.key] = data
    return found


def _origin(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None:
        return None
    data: dict[str, Any] = {"kind": origin.kind, "name": origin.name}
    return {**data, "line": origin.line, "column": origin.column} if origin.kind == IN_FILE else data
