"""`servelint check`: the linter."""

from __future__ import annotations

import gc
import os
import sys
import time

from servelint.cli import options
from servelint.finding import Finding
from servelint.linter import Report
from servelint.report import FORMATS
from servelint.rules.rule import SEVERITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from servelint.settings_files.files import SettingsFiles

_EPILOG = """exit status: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or a file that could not
be read or parsed; the others are still linted"""


_MODULES = {"json": "json_report"}
"""format -> its module in servelint.report, where that is another word."""


def run(args: list[str]) -> int:
    started = time.perf_counter()
    gc.set_threshold(100_000)  # a run is short, and most of what it makes is kept
    usage = options.parser("check", "Lint the files that launch LLM inference servers.")
    usage.epilog = _EPILOG
    options.add_inputs(usage)
    options.add_filters(usage)
    options.add_engine_version(usage)
    options.add_gpu(usage)
    options.add_settings(usage)
    usage.add_argument("--show-settings", action="store_true", help="print the settings of each PATH, and where they are said")
    usage.add_argument(
        "--fail-on",
        choices=(*reversed(SEVERITIES), "never"),
        help="findings that make the exit status 1 (default: error)",
    )
    usage.add_argument("--format", choices=FORMATS, help="(default: text)")
    usage.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="[FORMAT=]FILE",
        help="write the report there instead of standard output; with a format, write that too (may be given several times)",
    )
    usage.add_argument("--fix", action="store_true", help="apply the fixes that are safe")
    usage.add_argument("--unsafe-fixes", action="store_true", help="apply the others too: they change what the launch does")
    usage.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 if a file was changed")
    usage.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    arguments = usage.parse_args(args)
    output, others = _outputs(arguments.output, usage)
    asked = options.settings(arguments, usage)
    if arguments.show_settings:
        from servelint.cli import show_settings

        return show_settings.run(arguments, asked, usage)
    report = options.run(arguments, asked, usage, words=False)
    kind = arguments.format or asked.value("format") or "text"
    if asked.problems:
        targets = others if kind == "text" else [(kind, output), *others]
        _write(report, targets, 0, asked)
        return options.stop(asked.problems)
    fixed = 0
    if arguments.fix or arguments.unsafe_fixes or arguments.diff:
        from servelint.cli import fixing

        if arguments.command is not None or "-" in arguments.paths:
            usage.error("fixes are for files")
        if arguments.diff and kind != "text" and output is None:
            usage.error(f"--diff and the {kind} report would both go to standard output; give one --output")
        report, fixed = fixing.fix(report, asked, unsafe=arguments.unsafe_fixes, diff=arguments.diff)
    if not _write(report, [*others, (kind, output)], (time.perf_counter() - started) * 1000, asked):
        return 2
    if not report.launches and not report.errors:
        print(f"servelint: no launch found in {report.files} {'file' if report.files == 1 else 'files'}", file=sys.stderr)
    status = _status(report, asked)
    return 1 if fixed and arguments.exit_non_zero_on_fix and status == 0 else status


def _outputs(given: list[str], usage: argparse.ArgumentParser) -> tuple[str | None, list[tuple[str, str | None]]]:
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


def _write(report: Report, targets: list[tuple[str, str | None]], milliseconds: float, asked: SettingsFiles) -> bool:
    """Write a report in each format to its file, None for standard output; gives whether all could be written."""
    written = [_print(_render(report, kind, milliseconds, path, asked), path) for kind, path in targets]
    return all(written)


def _render(report: Report, kind: str, milliseconds: float, output: str | None, asked: SettingsFiles) -> str:
    if kind == "text":
        from servelint.cli import colour
        from servelint.report import text

        return text.render(report, milliseconds, output is None and colour.wanted(sys.stdout))
    if kind == "sarif":
        from servelint.report import sarif

        return sarif.render(report, asked.rule_folders())
    from importlib import import_module

    rendered: str = import_module(f"servelint.report.{_MODULES.get(kind, kind)}").render(report)
    return rendered


def _print(text: str, path: str | None) -> bool:
    """Write a report to a file, or to standard output; gives whether it could be written."""
    from servelint.cli import files

    if path is None:
        files.write_out(text)
        return True
    problem = files.write(path, text.encode("utf-8", "backslashreplace"))
    if problem is not None:
        print(f"servelint: {path}: {problem}", file=sys.stderr)
    return problem is None


def _status(report: Report, asked: SettingsFiles) -> int:
    return 2 if report.errors else int(any(_fails(finding, asked) for finding in report.findings))


def _fails(finding: Finding, asked: SettingsFiles) -> bool:
    """Whether a finding is as bad as the settings of the file that was linted want it to be."""
    source = finding.launch.source if finding.launch is not None else finding.span.source
    least = asked.of(source.path).fail_on
    return least != "never" and SEVERITIES.index(finding.severity) >= SEVERITIES.index(least)
