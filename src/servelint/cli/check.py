"""`servelint check`: the linter."""

from __future__ import annotations

import gc
import sys
import time

from servelint.cli import options, outputs
from servelint.cli.outputs import Manner
from servelint.cli.told import tell
from servelint.core.finding import SEVERITIES, Finding
from servelint.core.result import Report
from servelint.files import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from servelint.files.settings.files import SettingsFiles

_EPILOG = """exit status: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or a file that could not
be read or parsed (the others are still linted), 3 an error in servelint itself"""


def run(args: list[str]) -> int:
    try:
        return _run(args)
    finally:
        trusting = sys.modules.get("servelint.cli.trusting")
        if trusting is not None:
            trusting.end()


def _run(args: list[str]) -> int:
    started = time.perf_counter()
    gc.set_threshold(100_000)  # a run is short, and most of what it makes is kept
    usage = parser()
    arguments = usage.parse_args(args)
    output, others = outputs.asked_for(arguments.output, usage)
    if arguments.exit_zero:
        arguments.fail_on = "never"
    if arguments.trusted_suppressions or arguments.base or arguments.changed_since or arguments.no_inline_ignore:
        from servelint.cli import trusting

        trusting.begin(arguments, usage)
    asked = options.settings(arguments, usage)
    if arguments.show_settings:
        from servelint.cli import show_settings

        return show_settings.run(arguments, asked, usage)
    kind = arguments.format or asked.value("format") or "text"
    _hold_together(arguments, kind, output, usage)
    if (
        asked.value("trusted-suppressions") == "base"
        and trust.current().base is None
        and arguments.trusted_suppressions is None
    ):
        usage.error('the settings ask for trusted-suppressions = "base", which needs the revision: give --base REV')
    gate = None
    if arguments.baseline or arguments.changed_since or arguments.write_baseline or asked.value("baseline"):
        from servelint.cli import gate as gates

        gate = gates.of(arguments, asked, usage)
    report = options.run(arguments, asked, usage, words="html" in (kind, *[other for other, _ in others]))
    if asked.problems:
        for other, path in others if kind == "text" else [(kind, output), *others]:
            outputs.write(report, other, path, Manner(), asked)
        return options.stop(asked.problems)
    if arguments.write_baseline:
        from servelint.cli import gate as gates

        return gates.write(arguments, asked, report, usage)
    if gate is not None:
        gate.narrow(report)
    fixed = 0
    if arguments.fix or arguments.unsafe_fixes or arguments.diff:
        from servelint.cli import fixing

        report, fixed = fixing.fix(report, asked, arguments, gate)
    manner = Manner((time.perf_counter() - started) * 1000, quiet=arguments.quiet)
    if arguments.show_suppressed:
        from servelint.filters import suppressions

        manner.suppressions = suppressions.every(report, gate.known if gate is not None else [], asked)
    good = [outputs.write(report, other, path, manner, asked) for other, path in others]
    manner.statistics = arguments.statistics
    if not all([*good, outputs.write(report, kind, output, manner, asked)]):
        return 2
    if not report.launches and not report.errors and not arguments.quiet:
        tell(f"servelint: no launch found in {report.files} {'file' if report.files == 1 else 'files'}")
    status = _status(report, asked)
    return 1 if fixed and arguments.exit_non_zero_on_fix and status == 0 else status


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    usage = options.parser("check", "Lint the files that launch LLM inference servers.")
    usage.epilog = _EPILOG
    options.add_inputs(usage)
    options.add_filters(usage)
    options.add_engine_version(usage)
    options.add_gpu(usage)
    options.add_settings(usage)
    usage.add_argument("--show-settings", action="store_true", help="print the settings of each PATH, and where they are said")
    options.add_status(usage)
    options.add_gate(usage)
    options.add_trust(usage)
    outputs.add(usage)
    usage.add_argument("--fix", action="store_true", help="apply the fixes that are safe")
    usage.add_argument("--unsafe-fixes", action="store_true", help="apply the others too: they change what the launch does")
    usage.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 if a file was changed")
    usage.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    return usage


def _hold_together(arguments: argparse.Namespace, kind: str, output: str | None, usage: argparse.ArgumentParser) -> None:
    """End with a usage error if options contradict each other."""
    fixing = arguments.fix or arguments.unsafe_fixes or arguments.diff
    no_files = arguments.command is not None or "-" in arguments.paths
    if fixing and no_files:
        usage.error("fixes are for files")
    if arguments.diff and kind != "text" and output is None:
        usage.error(f"--diff and the {kind} report would both go to standard output; give one --output")
    if arguments.statistics and kind not in ("text", "json"):
        usage.error(f"--statistics are printed as text or json, not as {kind}; write that besides with --output {kind}=FILE")
    if arguments.show_suppressed and (kind not in ("text", "json") or arguments.statistics):
        usage.error(f"--show-suppressed is printed as text or json, not as {'statistics' if arguments.statistics else kind}")
    if arguments.write_baseline:
        if fixing or arguments.changed_since is not None or arguments.output or arguments.statistics:
            usage.error("--write-baseline makes no report, and takes neither a fix nor --changed-since")
        if no_files:
            usage.error("a baseline is for files")


def _status(report: Report, asked: SettingsFiles) -> int:
    return options.status(report) or int(any(_fails(finding, asked) for finding in report.findings))


def _fails(finding: Finding, asked: SettingsFiles) -> bool:
    """Whether a finding is as bad as the settings of the file that was linted want it to be."""
    source = finding.launch.source if finding.launch is not None else finding.span.source
    least = asked.of(source.path).fail_on
    return least != "never" and SEVERITIES.index(finding.severity) >= SEVERITIES.index(least)
