"""A rule's page in Markdown, from its own file. `python -m servelint.rules.pages docs/rules` writes them all."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from servelint.engines import ENGINE_NAMES
from servelint.engines.operands import registered
from servelint.rules.compile import every_rule, on_gpus
from servelint.rules.load import rule_folder
from servelint.rules.ranges import describe

_MARKS = str.maketrans("", "", "\u27e6\u27e7")


def markdown(data: dict[str, Any]) -> str:
    """The page of a rule: what it reports and why, its releases, evidence and examples, how to suppress it."""
    engine = ENGINE_NAMES.get(data["engine"], "any engine,")
    bounds = f" (`{data['versions']}`)" if data["versions"] else ""
    lines = [
        f"# {data['id']}",
        "",
        f"{data['title']}.",
        "",
        "| | |",
        "|---|---|",
        f"| severity | {data['severity']} |",
        f"| confidence | {data['confidence']} |",
        f"| impact | {impacts(data)} |",
        f"| releases | {engine} {describe(str(data['versions']))}{bounds} |",
        f"| profile | {data.get('profile', 'default')} |",
        "",
        "## Why",
        "",
        data["why"].strip(),
        "",
    ]
    if data["advice"]:
        lines += ["## What to write instead", "", f"{data['advice'][:1].upper()}{data['advice'][1:]}.", ""]
    if "fix" in data:
        safe = "`--fix` applies it" if data["fix"]["safe"] else "`--unsafe-fixes` applies it; it changes what the launch does"
        lines += [f"{safe}.", ""]
    if "options" in data:
        lines += ["## Options", "", f'In a settings file under `[rule."{data["id"]}"]`:', ""]
        lines += [f"- `{name} = {json.dumps(option['is'])}`: {option['says']}" for name, option in data["options"].items()]
        lines.append("")
    lines += ["## Evidence", ""]
    for entry in data["evidence"]:
        place = f"<{entry['url']}>" if "url" in entry else f"`{entry['source']}`"
        lines.append(f"- {place}: {entry['says']}")
    for kind, title in (("bad", "Reported"), ("good", "Not reported")):
        examples = data["examples"][kind]
        lines += ["", f"## {title}"] if examples else []
        for example in examples:
            lines += ["", *_example(engine, example)]
    comment = f"# servelint: ignore[{data['id']}] why"
    lines += ["", "## How to suppress it", "", "On the line of the finding, above it, or above its launch:", ""]
    lines += [f"    {comment}", ""]
    return "\n".join(lines)


def impacts(data: dict[str, Any]) -> str:
    """The impact of a rule, with the releases in which it differs."""
    others = [f"{impact} ({describe(text)})" for text, impact in data.get("impact-in", {}).items()]
    return ", ".join([data["impact"], *others])


def _example(engine: str, example: dict[str, Any]) -> list[str]:
    if "text" in example:
        title, text = f"`{example['file']}`", example["text"]
    else:
        title = f"{engine} {example['version']}" if "version" in example else f"{engine}, release not known"
        title += on_gpus(example)
        text = "".join([f"{name}={value} " for name, value in example.get("env", {}).items()]) + example["run"]
    return [f"{title}:", "", *[f"    {line}".rstrip() for line in text.translate(_MARKS).splitlines()]]


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
This page is generated: `python -m servelint.rules.pages docs/rules`.
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
    "effective": "Settings as the engine uses them",
}


def main(folder: str) -> None:
    """Write the pages into a folder, and remove those of rules that are gone; the page of the operands stands beside it."""
    with open(os.path.join(folder, "..", OPERANDS), "w", encoding="utf-8", newline="\n") as file:
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
    main(sys.argv[1])
