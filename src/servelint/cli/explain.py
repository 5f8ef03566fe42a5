"""`servelint explain RULE`: a rule's page, from its own file."""

from __future__ import annotations

import difflib
import os
import sys
import textwrap
from typing import Any

from servelint.cli import options
from servelint.engines import ENGINE_NAMES
from servelint.rules.load import rule_folder, rules
from servelint.rules.ranges import describe


def run(args: list[str]) -> int:
    usage = options.parser("explain", "Print a rule's page: what, why, since and until when, what to write, who says so.")
    usage.add_argument("rule", metavar="RULE", help="a rule's id, such as vllm/turboquant-with-spec-decode")
    arguments = usage.parse_args(args)
    ids = [rule.id for rule in rules()]
    if arguments.rule not in ids:
        near = difflib.get_close_matches(arguments.rule, ids, n=3, cutoff=0.4)
        hint = f"; did you mean {', '.join(near)}?" if near else " (servelint rules lists them)"
        print(f"servelint: there is no rule {arguments.rule!r}{hint}", file=sys.stderr)
        return 2
    from servelint.rules.compile import read_rule

    folder = rule_folder()
    data = read_rule(os.path.join(folder, arguments.rule + ".yaml"), folder)
    sys.stdout.write(page(data))
    return 0


def page(data: dict[str, Any]) -> str:
    """A rule's page as plain text."""
    engine = ENGINE_NAMES[data["engine"]]
    lines = [
        f"{data['id']}: {data['title']}",
        "",
        f"severity    {data['severity']} (confidence {data['confidence']}, impact {data['impact']})",
        f"engine      {engine} {describe(str(data['versions']))} ({data['versions']})",
        "",
        *textwrap.wrap(" ".join(data["why"].split()), 100),
        "",
        *textwrap.wrap(f"Fix: {data['advice']}", 100, subsequent_indent="  "),
        "",
        "Evidence:",
    ]
    for entry in data["evidence"]:
        lines.append(f"  {entry.get('url') or entry['source']}")
        lines += textwrap.wrap(entry["says"], 96, initial_indent="    ", subsequent_indent="    ")
    for kind, title in (("bad", "Reported:"), ("good", "Not reported:")):
        lines += ["", title]
        for example in data["examples"][kind]:
            release = f"{engine} {example['version']}" if "version" in example else "release not known"
            variables = [f"{name}={value} " for name, value in example.get("env", {}).items()]
            shown = "".join([*variables, example["run"]]).replace("\u27e6", "").replace("\u27e7", "")
            lines += [f"  {release}:", f"    {shown}"]
    lines += ["", f"Silence it with a comment above the launch: # servelint: ignore[{data['id']}] why", ""]
    return "\n".join(lines)
