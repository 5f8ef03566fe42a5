"""Options that several commands share, and reading what they name."""

from __future__ import annotations

import argparse
import sys

from servelint.engines import ENGINE_NAMES
from servelint.engines.releases import release_key
from servelint.linter import Report, add_source, beside, check_in_parallel
from servelint.problem import Problem
from servelint.readers.neighbours import Neighbours
from servelint.settings import PROFILES, Settings
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
        "--rules", action="append", default=[], metavar="FOLDER", help="a folder of rules of your own, in the same format"
    )
    arguments.add_argument(
        "--profile",
        choices=PROFILES,
        default="default",
        help="strict adds best practice, audit everything, low confidence too (default: default)",
    )
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


def add_gpu(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("--gpu", metavar="NAME", help="the GPU where a file does not say, such as h100-80gb")
    arguments.add_argument("--gpu-count", type=int, metavar="N", help="how many of them there are where a file does not say")


def gpu(arguments: argparse.Namespace, usage: argparse.ArgumentParser) -> tuple[str | None, int | None]:
    """What --gpu and --gpu-count say; ends with a usage error if one of them makes no sense."""
    if arguments.gpu_count is not None and arguments.gpu_count < 1:
        usage.error(f"--gpu-count {arguments.gpu_count}: give the number of GPUs of one launch")
    if arguments.gpu is not None:
        from servelint import hardware

        if hardware.identify(arguments.gpu) is None:
            near = hardware.near(arguments.gpu)
            told = f"did you mean {', '.join(near)}?" if near else f"use one of {', '.join(hardware.names())}"
            usage.error(f"--gpu {arguments.gpu}: not a GPU that servelint knows; {told}")
    return arguments.gpu, arguments.gpu_count


def settings(arguments: argparse.Namespace, usage: argparse.ArgumentParser) -> Settings:
    """Settings from parsed options; ends with a usage error if one of them makes no sense."""
    folders = tuple(arguments.rules)
    select, ignore = _patterns(arguments.select, folders, usage), _patterns(arguments.ignore, folders, usage)
    asked = Settings(select, ignore, arguments.severity, engine_versions(arguments, usage), arguments.profile, folders)
    if "gpu" in arguments:
        asked.gpu, asked.gpu_count = gpu(arguments, usage)
    return asked


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


def _patterns(given: list[str], folders: tuple[str, ...], usage: argparse.ArgumentParser) -> tuple[str, ...]:
    patterns = tuple([part for text in given for part in text.split(",") if part])
    if patterns:
        from servelint.rules.load import every
        from servelint.suppress import UNUSED

        ids = [UNUSED, *(rule.id for rule in every(folders))]
        for pattern in patterns:
            one = Settings(select=(pattern,))
            if not any(one.wants(rule) for rule in ids):
                usage.error(f"no rule matches {pattern!r} (servelint rules lists them)")
    return patterns


def run(arguments: argparse.Namespace, asked: Settings, usage: argparse.ArgumentParser, *, words: bool = True) -> Report:
    """Lint what the options name. words: whether the words of the launches are needed afterwards"""
    if arguments.command is not None:
        if arguments.paths:
            usage.error("--command takes the place of PATH")
        report = Report()
        report.errors += rule_problems(asked)
        add_source(report, Source("command.sh", arguments.command), asked, Neighbours("."))
        return report
    paths = arguments.paths or ["."]
    if "-" not in paths:
        report = check_in_parallel(paths, asked, words=words)
        report.errors[:0] = rule_problems(asked)
        return report
    if len(paths) > 1:
        usage.error("- stands for standard input and is given alone")
    report = Report()
    report.errors += rule_problems(asked)
    report.files = 1
    source = _stdin(arguments.stdin_filename)
    if isinstance(source, Problem):
        report.errors.append(source)
    elif source is not None:
        add_source(report, source, asked, beside(arguments.stdin_filename))
    return report


def rule_problems(asked: Settings) -> list[Problem]:
    """What is wrong with the folders of rules that are asked for."""
    if not asked.rules:
        return []
    from servelint.rules import folder

    return [problem for path in asked.rules for problem in folder.load(path).problems]


def _stdin(name: str) -> Source | Problem | None:
    from servelint.discover import SIZE_AT_MOST, decode

    data = sys.stdin.buffer.read(SIZE_AT_MOST + 1)
    if len(data) > SIZE_AT_MOST:
        return Problem(name, f"not read: servelint reads up to {SIZE_AT_MOST >> 20} MiB")
    return decode(name, data)
