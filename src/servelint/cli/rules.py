"""`servelint rules`: the list of rules; `servelint rules test FOLDER`: rules of your own, held against their examples."""

from __future__ import annotations

import argparse

from servelint.cli import options
from servelint.cli.files import write_out
from servelint.cli.told import tell
from servelint.core.finding import SEVERITIES
from servelint.engines import ENGINE_NAMES
from servelint.report.clean import clean
from servelint.report.encode import encoded
from servelint.report.text import Painter, problem_text
from servelint.rules.load import every
from servelint.rules.ranges import describe


def run(args: list[str]) -> int:
    if args[:1] == ["test"]:
        return _test(args[1:])
    usage = parser()
    arguments = usage.parse_args(args)
    files = options.settings(arguments, usage)
    asked = options.settled(files, usage)
    if files.problems:
        return options.stop(files.problems)
    problems = options.rule_problems(files)
    for problem in problems:
        tell(problem_text(problem, Painter(False)))
    least = SEVERITIES.index(asked.severity)
    wanted = [rule.changed(asked.of_rule(rule.id)) for rule in every(asked.rules) if asked.wants(rule.id, rule.profile)]
    shown = [rule for rule in wanted if SEVERITIES.index(rule.severity) >= least]
    if arguments.format == "json":
        fields = ("id", "title", "severity", "confidence", "impact", "engine", "versions", "evidence")
        write_out(encoded([{name: getattr(rule, name) for name in fields} for rule in shown], indent=1) + "\n")
        return 2 if problems else 0
    width = max([len(rule.id) for rule in shown], default=0)
    lines = [
        f"{rule.id:<{width}}  {rule.severity:<7}  {clean(rule.title)}"
        f" ({ENGINE_NAMES.get(rule.engine, 'any engine,')} {describe(rule.versions)})\n"
        for rule in shown
    ]
    write_out("".join(lines))
    return 2 if problems else 0


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    usage = options.parser("rules", "List the rules; `servelint rules test FOLDER` runs the examples of a folder's rules.")
    options.add_filters(usage)
    options.add_settings(usage)
    usage.add_argument("--format", choices=("text", "json"), default="text", help="(default: text)")
    return usage


def test_parser() -> argparse.ArgumentParser:
    """The options of `servelint rules test`."""
    usage = options.parser("rules test", "Run the examples of the rules in folders of your own.")
    usage.add_argument("folders", nargs="+", metavar="FOLDER", help="where the rules stand, as FOLDER/<area>/<name>.yaml")
    return usage


def _test(args: list[str]) -> int:
    """Status 0 if every example holds, 1 if one does not, 2 if a file is no rule."""
    usage = test_parser()
    arguments = usage.parse_args(args)
    from servelint import rule_examples
    from servelint.rules import folder

    count = wrong = 0
    problems = []
    for path in arguments.folders:
        book = folder.load(path)
        problems += book.problems
        for rule, written in zip(book.rules, book.written, strict=True):
            count += sum(len(written["examples"][kind]) for kind in ("bad", "good"))
            for fault in rule_examples.faults(rule, written):
                wrong += 1
                print(clean(f"{rule.id}: {fault}"))
    for problem in problems:
        tell(problem_text(problem, Painter(False)))
    print(f"{count - wrong} of {count} {'example' if count == 1 else 'examples'} hold")
    return 2 if problems else int(wrong > 0)
