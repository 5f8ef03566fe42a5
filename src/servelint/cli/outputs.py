"""Where reports go: standard output and files, in one format or several."""

from __future__ import annotations

import argparse
import os
import sys

from servelint.cli.told import tell
from servelint.core.result import Report
from servelint.core.settings import FORMATS
from servelint.files.settings.files import SettingsFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.filters.suppressions import Suppression

_MODULES = {"json": "json_report"}
"""format -> its module in servelint.report, where that is another word."""


class Manner:
    """milliseconds: how long the check took;  quiet: findings and nothing else;  statistics: counts of rules, not findings

    suppressions: those in force, where they are asked for
    """

    __slots__ = ("milliseconds", "quiet", "statistics", "suppressions")

    def __init__(self, milliseconds: float | None = None, *, quiet: bool = False, statistics: bool = False) -> None:
        self.milliseconds = milliseconds
        self.quiet = quiet
        self.statistics = statistics
        self.suppressions: list[Suppression] | None = None


def add(usage: argparse.ArgumentParser) -> None:
    usage.add_argument("--format", choices=FORMATS, help="(default: text)")
    usage.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="[FORMAT=]FILE",
        help="write the report there instead of standard output; with a format, write that too (may be given several times)",
    )
    usage.add_argument("--statistics", action="store_true", help="count the findings of each rule instead of printing them")
    usage.add_argument("-q", "--quiet", action="store_true", help="print findings and nothing else")


def asked_for(given: list[str], usage: argparse.ArgumentParser) -> tuple[str | None, list[tuple[str, str | None]]]:
    """The file that takes the report, None for standard output, and the formats that are written besides, with their files."""
    files: list[str] = []
    others: list[tuple[str, str | None]] = []
    for text in given:
        kind, sign, path = text.partition("=")
        if not (sign and kind in FORMATS):
            path = text
            files.append(text)
        elif path:
            others.append((kind, path))
        if not path:
            usage.error("--output needs the name of a file")
    if len(files) > 1:
        usage.error("--output FILE is given once; name the format of the others, as in --output sarif=report.sarif")
    paths = [os.path.realpath(path) for path in [*files, *[path for _, path in others if path]]]
    if len(set(paths)) < len(paths):
        usage.error("two reports would go to the same file")
    return (files[0] if files else None), others


def write(report: Report, kind: str, path: str | None, manner: Manner, asked: SettingsFiles) -> bool:
    """Write a report in a format to a file, None for standard output; gives whether it could be written."""
    from servelint.cli import files

    text = _render(report, kind, path, manner, asked)
    if path is None:
        files.write_out(text)
        return True
    problem = files.write(path, text.encode("utf-8", "backslashreplace"))
    if problem is not None:
        tell(f"servelint: {path}: {problem}")
    return problem is None


def _render(report: Report, kind: str, path: str | None, manner: Manner, asked: SettingsFiles) -> str:
    if manner.statistics:
        from servelint.report import statistics

        return statistics.render(report, kind == "json", manner.milliseconds, quiet=manner.quiet)
    if kind == "text":
        from servelint.cli import colour
        from servelint.report import text

        shown = text.render(report, manner.milliseconds, path is None and colour.wanted(sys.stdout), quiet=manner.quiet)
        if manner.suppressions is None:
            return shown
        from servelint.report import suppressed

        return f"{shown}\n{suppressed.render(manner.suppressions)}"
    if kind == "json" and manner.suppressions is not None:
        from servelint.report import json_report, suppressed

        return json_report.render(report, suppressed.data(manner.suppressions))
    if kind == "sarif":
        from servelint.report import sarif

        return sarif.render(report, asked.rule_folders())
    if kind == "html":
        from servelint.cli.plans import Plans
        from servelint.report import html

        return html.render(report, asked.rule_folders(), lambda path: asked.of(path).engine_versions, Plans(asked))
    from importlib import import_module

    rendered: str = import_module(f"servelint.report.{_MODULES.get(kind, kind)}").render(report)
    return rendered
