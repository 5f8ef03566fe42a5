"""`servelint exec -- COMMAND`: lints a command, then becomes it."""

from __future__ import annotations

import gc
import os
import sys

from servelint.core.finding import SEVERITIES, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from servelint.core.settings import Settings

BROKEN = 125
"""The exit status where servelint itself fails; `env`, `timeout` and others that run a command use the same one."""

_EPILOG = """The command is taken as given: no shell reads it again, and nothing of it is run before it is found
good. Its release is that of --engine-version or the settings, else the one that is installed.

exit status: that of the command, which takes the place of servelint. Else it was not started:
  1    findings at or above --fail-on     125  servelint itself failed
  2    wrong usage, settings or rules     126  the command cannot be executed
                                          127  the command is not found"""


def run(args: list[str]) -> int:
    gc.set_threshold(100_000)  # a run is short, and most of what it makes is kept
    usage = parser()
    at = args.index("--") if "--" in args else len(args)
    arguments, strange = usage.parse_known_args(args[:at])
    argv = args[at + 1 :]
    if strange and strange[0].startswith("-"):
        usage.error(f"unrecognized arguments: {' '.join(strange)}")
    if strange or not argv:
        usage.error("write the command after --, as in servelint exec -- vllm serve MODEL")
    try:
        stop = _lint(argv, arguments, usage)
    except Exception as error:  # a bug of ours: nobody has judged the command
        started = "started all the same" if arguments.fail_open else "not started; --fail-open starts it all the same"
        if os.environ.get("SERVELINT_TRACEBACK"):
            import traceback

            _write(traceback.format_exc())
        _say(f"an error in servelint itself: {type(error).__name__}: {error}; the command is {started}")
        stop = None if arguments.fail_open else BROKEN
    if stop is not None or arguments.dry_run:
        return stop or 0
    from servelint.cli import becoming

    return becoming.become(argv)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    from servelint.cli import options

    usage = options.parser("exec", "Lint a command, then become it if nothing at --fail-on was found.")
    usage.usage = "servelint exec [options] -- COMMAND [ARGUMENT]..."
    usage.epilog = _EPILOG
    options.add_filters(usage)
    options.add_engine_version(usage)
    options.add_gpu(usage)
    options.add_settings(usage)
    options.add_fail_on(usage, "keep the command from starting")
    usage.add_argument("--dry-run", action="store_true", help="only lint; exit with 0 where the command would be started")
    usage.add_argument("--quiet", action="store_true", help="say only what keeps the command from starting")
    usage.add_argument("--fail-open", action="store_true", help="start the command also where servelint itself fails")
    return usage


def _lint(argv: list[str], arguments: argparse.Namespace, usage: argparse.ArgumentParser) -> int | None:
    """Lint a command and print what is found; gives the exit status that keeps it from starting, None where nothing does."""
    from servelint.cli import options
    from servelint.lint import check_launches
    from servelint.readers import process

    asked = options.settings(arguments, usage)
    settings = options.settled(asked, usage)
    problems = asked.problems or options.rule_problems(asked)
    if problems:
        return options.stop(problems)
    source, launches = process.read(argv, os.environ, settings.engine_versions)
    if not launches:
        if not arguments.quiet:
            _say("no launch of an engine in this command; it is not judged")
        return None
    found = check_launches(source, launches, settings)
    stopping = [finding for finding in found if _stops(finding, settings)]
    shown = stopping if arguments.quiet else found
    if shown:
        _show(shown)
    if stopping:
        _say(f"the command is not started ({'1 finding' if len(stopping) == 1 else f'{len(stopping)} findings'} to stop it)")
    return 1 if stopping else None


def _stops(finding: Finding, settings: Settings) -> bool:
    return settings.fail_on != "never" and SEVERITIES.index(finding.severity) >= SEVERITIES.index(settings.fail_on)


def _show(findings: list[Finding]) -> None:
    from servelint.cli import colour
    from servelint.report import text
    from servelint.report.text import Painter

    paint = Painter(sys.stderr is not None and colour.wanted(sys.stderr))
    _write("\n\n".join([text.finding_text(finding, paint) for finding in findings]) + "\n\n")


def _say(text: str) -> None:
    from servelint.report.clean import clean_lines

    _write(clean_lines(f"servelint: {text}\n"))


def _write(text: str) -> None:
    """Write to standard error, which somebody may have closed: that stops no server."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
