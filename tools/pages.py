"""Write the pages of the rules into a folder, and the page of the operands beside it.

python tools/pages.py docs/rules
"""

from __future__ import annotations

import os
import sys

from servelint.engines import ENGINE_NAMES
from servelint.engines.operands import registered
from servelint.rules.compile import every_rule
from servelint.rules.load import rule_folder
from servelint.rules.pages import markdown
from servelint.rules.ranges import describe


def pages() -> dict[str, str]:
    """`<area>/<name>.md` -> the page of each rule, and README.md, the list of them."""
    written = every_rule(rule_folder())
    found = {f"{data['id']}.md": markdown(data) for data in written}
    rows = [
        f"| [{data['id']}]({data['id']}.md) | {data['severity']} | {describe(str(data['versions']))} | {data['title']} |"
        for data in written
    ]
    head = ["# Rules", "", f"{len(rows)} rules.", "", "| rule | severity | releases | what |", "|---|---|---|---|"]
    return {"README.md": "\n".join([*head, *rows, ""]), **found}


OPERANDS = "operands.md"
"""The name of the page of all operands, beside the folder of the rules' pages."""


_ABOUT_OPERANDS = """\
# Operands of rules

    servelint rules --operands

The conditions, values and messages of a rule can use these operands. The command prints the same list.
[Write your own rules](writing-rules.md) explains how a rule uses them. An unknown operand is an error in the rule.

An operand has a value, is certainly absent, or is unknown.
This page is generated: `python tools/pages.py docs/rules`.
"""


def operands() -> str:
    """The page of all operands that a rule can use, in Markdown."""
    tables: dict[str, list[str]] = {title: [] for title in _TITLES.values()}
    for one in registered():
        engines = "all" if len(one.engines) == len(ENGINE_NAMES) else ", ".join([ENGINE_NAMES[name] for name in one.engines])
        head, dot, _ = one.name.partition(".")
        row = f"| `{one.name}` | {one.type} | {one.meaning} | {engines} |"
        tables[_TITLES.get(head if dot else "", _TITLES[""])].append(row)
    lines = [_ABOUT_OPERANDS]
    for title, rows in tables.items():
        lines += [f"## {title}", "", "| operand | type | meaning | engines |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


_TITLES = {
    "": "What the launch says",
    "model": "Facts about the model",
    "draft": "Facts about the draft model",
    "gpu": "Facts about the GPU",
    "container": "Facts about the container",
    "stack": "What runs beside the engine",
    "effective": "Settings as the engine uses them",
}


def main(folder: str) -> None:
    """Write the pages into a folder, and remove those of rules that are gone; the page of the operands stands beside it."""
    with open(os.path.join(os.path.dirname(os.path.abspath(folder)), OPERANDS), "w", encoding="utf-8", newline="\n") as file:
        file.write(operands())
    wanted = pages()
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            if os.path.relpath(path, folder).replace(os.sep, "/") not in wanted:
                os.unlink(path)
    for name, text in wanted.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(f"usage: {(__doc__ or '').strip().splitlines()[-1]}")
    main(sys.argv[1])
