"""Options that several commands share, and reading what they name."""

from __future__ import annotations

import argparse
import sys

from servelint.engines import ENGINE_NAMES
from servelint.engines.releases import release_key
from servelint.linter import Report, add_source, beside, check
from servelint.problem import Problem
from servelint.readers.neighbours import Neighbours
from servelint.settings import Settings
from servelint.source import Source


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: asking for the terminal's, which argparse does for every option, costs 4 ms of start-up."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100)


def parser(command: str, description: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"servelint {command}", description=description, allow_abbrev=False, formatter_class=_Formatter
    )


def add_inputs(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("paths", nargs="*", metavar="PATH", help="a file, a folder, or - for standard input (default: .)")
    arguments.add_argument(
        "--stdin-filename",
        default="-",
        metavar="NAME",
        help="the name that standard input goes by; it tells the format",
    )
    arguments.add_argument("--command", metavar="TEXT", help="one command line instead of files, as a shell would read it")


def add_filters(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument(
        "--select", action="append", default=[], metavar="ID", help="only these rules: an id, or an area such as vllm/*"
    )
    arguments.add_argument("--ignore", action="append", default=[], metavar="ID", help="not these rules")
    arguments.add_argument(
        "--severity",
        choices=("error", "warning", "info"),
        default="info",
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


def settings(arguments: argparse.Namespace, usage: argparse.ArgumentParser) -> Settings:
    """Settings from parsed options; ends with a usage error if one of them makes no sense."""
    select, ignore = _patterns(arguments.select, usage), _patterns(arguments.ignore, usage)
    return Settings(select, ignore, arguments.severity, engine_versions(arguments, usage))


def engine_versions(arguments: argparse.Namespace, usage: argparse.ArgumentParser) -> dict[str, str]:
    versions: dict[str, str] = {}
    for given in arguments.engine_version:
        engine, _, release = given.partition("=")
        if engine not in ENGINE_NAMES:
            usage.error(f"--engine-version {given}: {engine!r} is not an engine; use one of {', '.join(ENGINE_NAMES)}")
        release = release.removeprefix("v")
        if release_key(release) is None:
            usage.error(f"--engine-version {given}: {release!r} is not a release; write {engine}=0.19.1")
        versions[engine] = release
    return versions


def _patterns(given: list[str], usage: argparse.ArgumentParser) -> tuple[str, ...]:
    patterns = tuple([part for text in given for part in text.split(",") if part])
    if patterns:
        from servelint.rules.load import rules
        from servelint.suppress import UNUSED

        ids = [UNUSED, *(rule.id for rule in rules())]
        for pattern in patterns:
            one = Settings(select=(pattern,))
            if not any(one.wants(rule) for rule in ids):
                usage.error(f"no rule matches {pattern!r} (servelint rules lists them)")
    return patterns


def run(arguments: argparse.Namespace, asked: Settings, usage: argparse.ArgumentParser) -> Report:
    """Lint what the options name."""
    if arguments.command is not None:
        if arguments.paths:
            usage.error("--command takes the place of PATH")
        report = Report()
        add_source(report, Source("command.sh", arguments.command), asked, Neighbours("."))
        return report
    paths = arguments.paths or ["."]
    if "-" not in paths:
        return check(paths, asked)
    if len(paths) > 1:
        usage.error("- stands for standard input and is given alone")
    report = Report()
    report.files = 1
    source = _stdin(arguments.stdin_filename)
    if isinstance(source, Problem):
        report.errors.append(source)
    elif source is not None:
        add_source(report, source, asked, beside(arguments.stdin_filename))
    return report


def _stdin(name: str) -> Source | Problem | None:
    from servelint.discover import SIZE_AT_MOST, decode

    data = sys.stdin.buffer.read(SIZE_AT_MOST + 1)
    if len(data) > SIZE_AT_MOST:
        return Problem(name, f"not read: servelint reads up to {SIZE_AT_MOST >> 20} MiB")
    return decode(name, data)
