"""`servelint rules`: the list of rules."""

from __future__ import annotations

import json
import sys

from servelint.cli import options
from servelint.engines import ENGINE_NAMES
from servelint.rules.load import rules
from servelint.rules.ranges import describe
from servelint.rules.rule import SEVERITIES
from servelint.settings import Settings


def run(args: list[str]) -> int:
    usage = options.parser("rules", "List the rules.")
    options.add_filters(usage)
    usage.add_argument("--format", choices=("text", "json"), default="text", help="(default: text)")
    arguments = usage.parse_args(args)
    arguments.engine_version = []
    asked: Settings = options.settings(arguments, usage)
    least = SEVERITIES.index(asked.severity)
    shown = [rule for rule in rules() if asked.wants(rule.id) and SEVERITIES.index(rule.severity) >= least]
    if arguments.format == "json":
        fields = ("id", "title", "severity", "confidence", "impact", "engine", "versions", "evidence")
        sys.stdout.write(
            json.dumps([{name: getattr(rule, name) for name in fields} for rule in shown], indent=1, ensure_ascii=False) + "\n"
        )
        return 0
    width = max([len(rule.id) for rule in shown], default=0)
    for rule in shown:
        print(f"{rule.id:<{width}}  {rule.severity:<7}  {rule.title} ({ENGINE_NAMES[rule.engine]} {describe(rule.versions)})")
    return 0
