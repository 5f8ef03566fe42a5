"""`servelint check`: the linter."""

from __future__ import annotations

import gc
import sys
import time

from servelint.cli import options
from servelint.finding import Finding
from servelint.linter import Report
from servelint.report import FORMATS
from servelint.rules.rule import SEVERITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.settings_files.files import SettingsFiles

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
    options.add_settings(usage)
    usage.add_argument("--show-settings", action="store_true", help="print the settings of each PATH, and where they are said")
    usage.add_argument(
        "--fail-on",
        choices=(*reversed(SEVERITIES), "never"),
        help="findings that make the exit status 1 (default: error)",
    )
    usage.add_argument("--format", choices=FORMATS, help="(default: text)")
    usage.add_argument("--output", metavar="FILE", help="write the report there instead of standard output")
    usage.add_argument("--fix", action="store_true", help="apply the fixes that are safe")
    usage.add_argument("--unsafe-fixes", action="store_true", help="apply the others too: they change what the launch does")
    usage.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 if a file was changed")
    usage.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    arguments = usage.parse_args(args)
    asked = options.settings(arguments, usage)
    if arguments.show_settings:
        from servelint.cli import show_settings

        return show_settings.run(arguments, asked, usage)
    report = options.run(arguments, asked, usage, words=False)
    kind = arguments.format or asked.value("format") or "text"
    if asked.problems:
        if kind != "text":
            _print(_render(report, kind, 0, arguments.output), arguments.output)
        return options.stop(asked.problems)
    fixed = 0
    if arguments.fix or arguments.unsafe_fixes or arguments.diff:
        from servelint.cli import fixing

        if arguments.command is not None or "-" in arguments.paths:
            usage.error("fixes are for files")
        if arguments.diff and kind != "text" and arguments.output is None:
            usage.error(f"--diff and the {kind} report would both go to standard output; give one --output")
        report, fixed = fixing.fix(report, asked, unsafe=arguments.unsafe_fixes, diff=arguments.diff)
    text = _render(report, kind, (time.perf_counter() - started) * 1000, arguments.output)
    if not _print(text, arguments.output):
        return 2
    if not report.launches and not report.errors:
        print(f"servelint: no launch found in {report.files} {'file' if report.files == 1 else 'files'}", file=sys.stderr)
    status = _status(report, asked)
    return 1 if fixed and arguments.exit_non_zero_on_fix and status == 0 else status


def _render(report: Report, kind: str, milliseconds: float, output: str | None) -> str:
    if kind == "json":
        from servelint.report import json_report

        return json_report.render(report)
    if kind == "github":
        from servelint.report import github

        return github.render(report)
    from servelint.cli import colour
    from servelint.report import text

    return text.render(report, milliseconds, output is None and colour.wanted(sys.stdout))


def _print(text: str, path: str | None) -> bool:
    """Write a report to a file, or to standard output; gives whether it could be written."""
    if path is None:
        sys.stdout.write(text)
        return True
    from servelint.cli import files

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
