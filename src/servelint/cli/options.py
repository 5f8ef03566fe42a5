"""Options that several commands share, and reading what they name."""

from __future__ import annotations

import argparse
import os
import sys

from servelint.cli.told import tell
from servelint.core.finding import SEVERITIES
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.settings import PROFILES, Settings
from servelint.core.source import Source
from servelint.files.settings.files import SettingsFiles
from servelint.files.siblings import Neighbours
from servelint.lint import add_source, beside, check_in_parallel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from servelint.files.settings.layer import Layer

_PREFIX = "SERVELINT_"
_SAID = (
    "select",
    "extend-select",
    "ignore",
    "profile",
    "severity",
    "fail-on",
    "engine-version",
    "gpu",
    "gpu-count",
    "rules",
    "exclude",
    "extend-exclude",
    "force-exclude",
    "format",
    "baseline",
    "trusted-suppressions",
)
"""Options that say a key of the settings."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: asking for the terminal's, which argparse does for every option, costs 4 ms of start-up."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100)


class _Parser(argparse.ArgumentParser):
    """Tells of a wrong usage in one line: thirty options above it would hide what is wrong."""

    def error(self, message: str) -> NoReturn:
        tell(f"{self.prog}: error: {message}")
        self.exit(2)


def parser(command: str, description: str) -> argparse.ArgumentParser:
    return _Parser(prog=f"servelint {command}", description=description, allow_abbrev=False, formatter_class=_Formatter)


def add_inputs(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("paths", nargs="*", metavar="PATH", help="a file, a folder, or - for standard input (default: .)")
    arguments.add_argument(
        "--stdin-filename",
        default="-",
        metavar="NAME",
        help="the name that standard input goes by; it tells the format",
    )
    arguments.add_argument("--command", metavar="TEXT", help="one command line instead of files, as a shell would read it")
    arguments.add_argument(
        "--exclude", action="append", default=[], metavar="GLOB", help="leave these paths out when a folder is searched"
    )
    arguments.add_argument("--extend-exclude", action="append", default=[], metavar="GLOB", help="leave these out as well")
    arguments.add_argument(
        "--force-exclude", action="store_true", help="leave excluded files out also where they are named, as pre-commit does"
    )


def add_settings(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("--settings", metavar="FILE", help="this settings file instead of the nearest one above each file")
    arguments.add_argument("--isolated", action="store_true", help="read no settings file")


def add_fail_on(usage: argparse.ArgumentParser, what: str) -> None:
    """The least severity that counts. what: what such findings do"""
    usage.add_argument("--fail-on", choices=(*reversed(SEVERITIES), "never"), help=f"findings that {what} (default: error)")


def add_status(usage: argparse.ArgumentParser) -> None:
    """What makes the exit status 1."""
    add_fail_on(usage, "make the exit status 1")
    usage.add_argument("--exit-zero", action="store_true", help="findings do not change the exit status, as --fail-on never")


def add_gate(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("--baseline", metavar="FILE", help="leave out the known findings that this file lists")
    arguments.add_argument(
        "--write-baseline",
        action="store_true",
        help="write every finding into the file of --baseline (default: servelint-baseline.json) as known",
    )
    arguments.add_argument(
        "--changed-since",
        metavar="REV",
        help="only findings that changes since this git revision touch, in their lines or in their launch",
    )


def add_trust(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument(
        "--trusted-suppressions",
        choices=("base", "head"),
        help="base: comments, settings, rules and baselines count as the revision of --base has them (default: head)",
    )
    arguments.add_argument("--base", metavar="REV", help="that git revision; that of --changed-since if it is not given")
    arguments.add_argument("--no-inline-ignore", action="store_true", help="no ignore comment counts")
    arguments.add_argument("--show-suppressed", action="store_true", help="list every suppression in force, and what it hides")


def add_filters(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument(
        "--select", action="append", default=[], metavar="ID", help="only these rules: an id, or an area such as vllm/*"
    )
    arguments.add_argument("--extend-select", action="append", default=[], metavar="ID", help="these rules too")
    arguments.add_argument("--ignore", action="append", default=[], metavar="ID", help="not these rules")
    arguments.add_argument(
        "--rules", action="append", default=[], metavar="FOLDER", help="a folder of rules of your own, in the same format"
    )
    arguments.add_argument(
        "--profile",
        choices=PROFILES,
        help="strict adds best practice, audit everything, low confidence too (default: default)",
    )
    arguments.add_argument(
        "--severity",
        choices=("error", "warning", "info"),
        help="leave out what is below (default: info)",
    )


def add_engine_version(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument(
        "--engine-version",
        action="append",
        default=[],
        metavar="ENGINE=RELEASE",
        help="the release where a file does not say, such as vllm=0.19.1",
    )


def add_gpu(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("--gpu", metavar="NAME", help="the GPU where a file does not say, such as h100-80gb")
    arguments.add_argument("--gpu-count", metavar="N", help="how many of them there are where a file does not say")


def settings(arguments: argparse.Namespace, usage: argparse.ArgumentParser, *, judging: bool = True) -> SettingsFiles:
    """What the options, the environment and the settings files say; ends with a usage error where the first two make no sense.

    judging: whether findings are wanted at all
    """
    faults: list[str] = []
    said = {name: getattr(arguments, name.replace("-", "_"), None) for name in _SAID}
    layers: list[Layer] = []
    file, isolated = arguments.settings, arguments.isolated
    if any(name.startswith(_PREFIX) for name in os.environ):
        from servelint.files.settings import spoken

        layers.append(spoken.environment(os.environ, faults))
        file = file or os.environ.get(spoken.FILE_VARIABLE) or None
        isolated = isolated or spoken.isolated(os.environ, faults)
        for warning in spoken.strangers(os.environ):
            tell(f"servelint: {warning}")
    if any(said.values()) or not judging:
        from servelint.files.settings import spoken

        said["engine-versions"] = said.pop("engine-version")
        layers.append(spoken.command_line(said if judging else {**said, "ignore": ["*"]}, faults))
    if faults:
        usage.error("\n".join(faults))
    if arguments.isolated and arguments.settings is not None:
        usage.error("--isolated reads no settings file, and --settings names one")
    return SettingsFiles(isolated=isolated, file=file, spoken=layers)


def run(arguments: argparse.Namespace, asked: SettingsFiles, usage: argparse.ArgumentParser, *, words: bool = True) -> Report:
    """Lint what the options name. words: whether the words of the launches are needed afterwards"""
    if arguments.command is not None and arguments.paths:
        usage.error("--command takes the place of PATH")
    paths = arguments.paths or ["."]
    if "-" in paths and len(paths) > 1:
        usage.error("- stands for standard input and is given alone")
    if arguments.command is None and "-" not in paths:
        report = _files(paths, asked, words, quiet=getattr(arguments, "quiet", False))
        if asked.faults:
            usage.error("\n".join(asked.faults))
    else:
        report = _text(arguments, asked, usage)
    if not asked.problems:
        report.errors[:0] = rule_problems(asked)
    return report


def _files(paths: list[str], asked: SettingsFiles, words: bool, *, quiet: bool) -> Report:
    if not sys.stderr.isatty():
        return check_in_parallel(paths, asked, words=words)
    from servelint.cli import progress

    if not progress.wanted(quiet):
        return check_in_parallel(paths, asked, words=words)
    bar = progress.Progress()
    try:
        return check_in_parallel(paths, asked, words=words, done=bar.step)
    finally:
        bar.clear()


def _text(arguments: argparse.Namespace, asked: SettingsFiles, usage: argparse.ArgumentParser) -> Report:
    """Lint a command line or standard input."""
    report = Report()
    name = arguments.stdin_filename if arguments.command is None else "command.sh"
    settings = settled(asked, usage, name)
    report.errors += asked.problems
    if asked.problems or (arguments.command is None and asked.leaves_out(name)):
        return report
    if arguments.command is not None:
        add_source(report, Source(name, arguments.command), settings, Neighbours("."))
        return report
    report.files = 1
    source = _stdin(name)
    if isinstance(source, Problem):
        report.errors.append(source)
    elif source is not None:
        add_source(report, source, settings, beside(name, settings))
    return report


def settled(asked: SettingsFiles, usage: argparse.ArgumentParser, path: str | None = None) -> Settings:
    """The settings of a path, of the current folder if there is none; ends with a usage error if options name no rules."""
    found = asked.of(path) if path is not None else asked.of_folder("")
    asked.check_names()
    if asked.faults:
        usage.error("\n".join(asked.faults))
    return found


def stop(problems: list[Problem]) -> int:
    """Tell what is wrong with settings files; gives the exit status."""
    for problem in problems:
        tell(problem)
    return 2


def status(report: Report) -> int:
    """The exit status that the errors of a report make: 3 if one is servelint's own, 2 if there is any."""
    return 3 if any(problem.own for problem in report.errors) else 2 if report.errors else 0


def rule_problems(asked: SettingsFiles) -> list[Problem]:
    """What is wrong with the folders of rules that are asked for."""
    folders = asked.rule_folders()
    if not folders:
        return []
    from servelint.rules import folder

    return [problem for path in folders for problem in folder.load(path).problems]


def _stdin(name: str) -> Source | Problem | None:
    from servelint.readers.discover import HEAD, bound, decode

    data = sys.stdin.buffer.read(HEAD)
    most = bound(name, data)
    data += sys.stdin.buffer.read(most.most + 1 - len(data))
    if len(data) > most.most:
        shown = f"{most.most >> 20} MiB" if most.most >= 1 << 20 else f"{most.most >> 10} KiB"
        return Problem(name, most.says.format(size=f"more than {shown}"))
    return decode(name, data)
