"""`servelint check`: the linter."""

from __future__ import annotations

import gc
import os
import sys
import time

from servelint.cli import options
from servelint.linter import Report
from servelint.rules.rule import SEVERITIES

_EPILOG = """exit status: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or a file that could not
be read or parsed; the others are still linted"""


def run(args: list[str]) -> int:
    started = time.perf_counter()
    gc.set_threshold(100_000)  # a run is short, and most of what it makes is kept
    usage = options.parser("check", "Lint the files that launch LLM inference servers.")
    usage.epilog = _EPILOG
    options.add_inputs(usage)
    options.add_filters(usage)
    options.add_engine_version(usage)
    options.add_gpu(usage)
    usage.add_argument(
        "--fail-on",
        choices=(*reversed(SEVERITIES), "never"),
        default="error",
        help="findings that make the exit status 1 (default: error)",
    )
    usage.add_argument("--format", choices=("text", "json", "github"), default="text", help="(default: text)")
    usage.add_argument("--output", metavar="FILE", help="write the report there instead of standard output")
    usage.add_argument("--fix", action="store_true", help="apply the fixes that are safe")
    usage.add_argument("--unsafe-fixes", action="store_true", help="apply the others too: they change what the launch does")
    usage.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 if a file was changed")
    usage.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    arguments = usage.parse_args(args)
    asked = options.settings(arguments, usage)
    report = options.run(arguments, asked, usage, words=False)
    fixed = 0
    if arguments.fix or arguments.unsafe_fixes or arguments.diff:
        from servelint.cli import fixing

        if arguments.command is not None or "-" in arguments.paths:
            usage.error("fixes are for files")
        if arguments.diff and arguments.format != "text" and arguments.output is None:
            usage.error(f"--diff and the {arguments.format} report would both go to standard output; give one --output")
        report, fixed = fixing.fix(report, asked, unsafe=arguments.unsafe_fixes, diff=arguments.diff)
    text = _render(report, arguments.format, (time.perf_counter() - started) * 1000, arguments.output)
    if arguments.output is None:
        sys.stdout.write(text)
    elif not _write(arguments.output, text):
        return 2
    if not report.launches and not report.errors:
        print(f"servelint: no launch found in {report.files} {'file' if report.files == 1 else 'files'}", file=sys.stderr)
    status = _status(report, arguments.fail_on)
    return 1 if fixed and arguments.exit_non_zero_on_fix and status == 0 else status


def _render(report: Report, kind: str, milliseconds: float, output: str | None) -> str:
    if kind == "json":
        from servelint.report import json_report

        return json_report.render(report)
    if kind == "github":
        from servelint.report import github

        return github.render(report)
    from servelint.report import text

    colour = output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return text.render(report, milliseconds, colour)


def _write(path: str, text: str) -> bool:
    from servelint.cli import files

    problem = files.write(path, text.encode("utf-8", "backslashreplace"))
    if problem is not None:
        print(f"servelint: {path}: {problem}", file=sys.stderr)
    return problem is None


def _status(report: Report, fail_on: str) -> int:
    if report.errors:
        return 2
    if fail_on == "never":
        return 0
    least = SEVERITIES.index(fail_on)
    return int(any(SEVERITIES.index(finding.severity) >= least for finding in report.findings))
