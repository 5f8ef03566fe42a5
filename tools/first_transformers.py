"""Writes models/transformers.json: the first release of Transformers that knows the model type of each class of an engine.

usage: python tools/first_transformers.py TYPES.json SOURCE OUTPUT.json

TYPES.json has, of each release that was read, the model types in models/auto/configuration_auto.py or auto_mappings.py.
SOURCE is the unpacked wheel of the newest one, whose models/auto/modeling_auto.py says which class loads which model type. The
patch release does not count (engines/releases.py), so that one release of each two numbers is enough.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from servelint.engines import catalog

_PAIR = re.compile(r'\(\s*"([\w.-]+)",\s*"(\w+)"\s*,?\s*\)')
_TUPLE = re.compile(r'\(\s*"([\w.-]+)",\s*\(([^)]*)\)')


def main(types: str, source: str, output: str) -> None:
    """Write the table. The first release that was read stands for all before it and is left out."""
    first: dict[str, str] = {}
    for release, known in json.loads(Path(types).read_text(encoding="utf-8")).items():
        for one in known:
            first.setdefault(one, release)
    oldest = next(iter(json.loads(Path(types).read_text(encoding="utf-8"))))
    text = Path(source, "transformers/models/auto/modeling_auto.py").read_text(encoding="utf-8")
    pairs = _PAIR.findall(text) + [
        (kind, name) for kind, names in _TUPLE.findall(text) for name in re.findall(r'"(\w+)"', names)
    ]
    listed = {name for engine in ("vllm", "sglang") if (found := catalog.load(engine)) for name in found.names("architectures")}
    by_class: dict[str, list[str]] = {}
    for kind, name in pairs:
        if name in listed and kind in first:
            by_class.setdefault(name, []).append(first[kind])
    order = list(dict.fromkeys(first.values()))
    table: dict[str, list[str]] = {}
    for name in sorted(by_class):
        since = min(by_class[name], key=order.index)
        if since != oldest:
            table.setdefault(since, []).append(name)
    about = (
        "Release of Transformers -> classes that an engine lists and whose model type it is the first to know; written by "
        "tools/first_transformers.py from its wheels."
    )
    rows = [f" {json.dumps(since)}: {json.dumps(table[since])}" for since in order if since in table]
    text = f'{{"about": {json.dumps(about)},\n"first": {{\n' + ",\n".join(rows) + "\n}}\n"
    Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
