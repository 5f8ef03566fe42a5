"""Options that several commands share, each declared once; the settings that they make, and linting what they name."""

from __future__ import annotations

import os
import sys

from servelint.cli.command import Options, argument, fail, flag, option
from servelint.cli.output import AUTO, COLORS, Progress, bar_wanted, print_stderr
from servelint.core.finding import SEVERITIES
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.settings import PROFILES, Settings
from servelint.core.source import Source
from servelint.core.trust import EVERYTHING, Trust
from servelint.files.siblings import Neighbours
from servelint.lint import add_source, beside, check_in_parallel
from servelint.settings.files import SettingsFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

    from servelint.cache import ResultCache
    from servelint.settings.layers import Layer

KEYS = (
    "select", "extend-select", "ignore", "profile", "severity", "fail-on", "engine-version", "gpu", "gpu-count", "rules",
    "exclude", "extend-exclude", "force-exclude", "format", "baseline", "trusted-suppressions",
)  # fmt: skip
"""Options that set a key of the settings. A command has those that make sense for it."""

_PREFIX = "SERVELINT_"
STDIN = "-"
"""The PATH that stands for standard input."""


class Inputs(Options, title="input"):
    """What a command reads."""

    paths: tuple[str, ...] = argument("PATH", "a file, a folder, or - for standard input (default: .)", many=True)
    stdin_filename: str = option(
        "--stdin-filename", metavar="NAME", default="-", help="file name of standard input, which decides its format"
    )
    command: str | None = option("--command", metavar="TEXT", help="one command line instead of files, parsed as a shell does")
    exclude: tuple[str, ...] = option("--exclude", metavar="GLOB", many=True, help="skip these paths when a folder is searched")
    extend_exclude: tuple[str, ...] = option(
        "--extend-exclude", metavar="GLOB", many=True, help="also skip these paths, in addition to --exclude"
    )
    force_exclude: bool = flag("--force-exclude", help="skip excluded files even if they are named, for pre-commit")

    @property
    def are_files(self) -> bool:
        """Whether files are read, rather than standard input or a command line."""
        return self.command is None and STDIN not in self.paths


class Rules(Options, title="rules"):
    """Which rules run."""

    select: tuple[str, ...] = option(
        "--select", metavar="ID", many=True, help="run only these rules: an id, or an area such as vllm/*"
    )
    extend_select: tuple[str, ...] = option("--extend-select", metavar="ID", many=True, help="run these rules too")
    ignore: tuple[str, ...] = option("--ignore", metavar="ID", many=True, help="do not run these rules")
    rules: tuple[str, ...] = option("--rules", metavar="FOLDER", many=True, help="a folder with your own rules")
    profile: str | None = option(
        "--profile", choices=PROFILES, help="strict adds best practice, audit everything (default: default)"
    )
    severity: str | None = option(
        "--severity", choices=("error", "warning", "info"), help="hide findings below this severity (default: info)"
    )


class Versions(Options, title="versions"):
    """Which release is assumed where a file pins none."""

    engine_version: tuple[str, ...] = option(
        "--engine-version",
        metavar="ENGINE=RELEASE",
        many=True,
        help="release to assume where a file pins none, as in vllm=0.27.1",
    )


class Hardware(Versions, title="versions and hardware"):
    """Which release and which GPUs are assumed if a file sets none."""

    gpu: str | None = option("--gpu", metavar="NAME", help="GPU to assume where a file names none, such as h100-80gb")
    gpu_count: str | None = option("--gpu-count", metavar="N", help="number of GPUs to assume where a file sets none")


class SettingsOptions(Options, title="settings"):
    """Which settings files are read."""

    settings: str | None = option("--settings", metavar="FILE", help="use this file, not the nearest one above each file")
    isolated: bool = flag("--isolated", help="read no settings file")


class CacheOptions(Options, title="cache"):
    """Whether results of earlier checks are used, and where they are kept."""

    no_cache: bool = flag("--no-cache", help="neither use nor keep results of earlier checks")
    cache_dir: str | None = option(
        "--cache-dir", metavar="FOLDER", help="where results are kept (default: .servelint_cache in the project)"
    )

    def opened(self) -> ResultCache | None:
        """Open the cache; None where there is none. Raises UsageError if the options contradict each other."""
        if self.no_cache and self.cache_dir is not None:
            fail("--no-cache cannot be combined with --cache-dir")
        if self.no_cache:
            return None
        from servelint import cache

        try:
            return cache.opened(self.cache_dir)
        except cache.Unusable as error:
            place = self.cache_dir or cache.default_folder()
            print_stderr(f"servelint: {place}: not used as the cache: {error}")
            return None


def fail_on_option(effect: str) -> Any:
    """Declare `--fail-on`. effect: what findings of that severity and above do."""
    return option("--fail-on", choices=(*reversed(SEVERITIES), "never"), help=f"{effect} (default: error)")


class ExitStatus(Options, title="failing"):
    """Which findings make the exit status 1."""

    fail_on: str | None = fail_on_option("exit with 1 at this severity or above")
    exit_zero: bool = flag("--exit-zero", help="always exit with 0 for findings, as --fail-on never")


def format_option(*formats: str) -> Any:
    """Declare `--format`; the first format is the default."""
    return option("--format", choices=formats, default=formats[0], help=f"output format (default: {formats[0]})")


class OutputOptions(Options, title="output"):
    """How an answer is printed."""

    format: str = format_option("text", "json")


class LaunchOutput(Options, title="output"):
    """How launches are printed."""

    format: str = format_option("text", "json")
    show_secrets: bool = flag("--show-secrets", help="print keys and tokens as they are written")


def color_option(what: str) -> Any:
    """Declare `--color`. what: what is coloured."""
    return option("--color", choices=COLORS, default=AUTO, help=f"colour {what} (default: {AUTO})")


def settings(*groups: Options, judging: bool = True, trust: Trust = EVERYTHING) -> SettingsFiles:
    """Make the settings of every path from options, the environment and settings files.

    Args:
        groups: the options of the command; `settings` and `isolated` are among them.
        judging: whether findings are wanted at all.
        trust: whose version of settings and rules counts.

    Raises:
        UsageError: the options or the environment make no sense.
    """
    given: dict[str, Any] = {name: value for group in groups for name, value in vars(group).items()}
    values = {key: given.get(key.replace("-", "_")) for key in KEYS}
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    faults: list[str] = []
    layers: list[Layer] = []
    file, isolated = given["settings"], given["isolated"]
    if any(name.startswith(_PREFIX) and value for name, value in os.environ.items()):
        from servelint.settings import reading

        layers.append(reading.from_env(os.environ, faults))
        file = file or os.environ.get(reading.FILE_VARIABLE) or None
        isolated = isolated or reading.is_isolated(os.environ, faults)
        for warning in reading.unread_variables(os.environ):
            print_stderr(f"servelint: {warning}")
    if any(values.values()) or not judging:
        from servelint.settings import reading

        values["engine-versions"] = values.pop("engine-version")
        layers.append(reading.from_cli(values if judging else {**values, "ignore": ["*"]}, faults))
    _refuse(faults)
    for layer in layers:
        _warn_of_releases(layer)
    if given["isolated"] and given["settings"] is not None:
        fail("--isolated cannot be combined with --settings")
    return SettingsFiles(isolated=isolated, file=file, overrides=layers, trust=trust)


def _warn_of_releases(layer: Layer) -> None:
    """Print a warning for each release of an option or a variable that servelint does not know."""
    from servelint.engines.releases import unlisted_note

    value = layer.values.get("engine-versions")
    for engine, release in (value.value if value is not None else {}).items():
        if warning := unlisted_note(engine, release):
            print_stderr(f"servelint: {warning}")


def _refuse(faults: list[str]) -> None:
    if faults:
        fail("\n".join(faults))


def settings_of(settings_files: SettingsFiles, path: str | None = None) -> Settings:
    """Return the settings of a path, of the current folder where it is None. Raises UsageError if options name no rules."""
    found = settings_files.of(path) if path is not None else settings_files.of_folder("")
    settings_files.check_names()
    _refuse(settings_files.faults)
    return found


def lint(
    inputs: Inputs,
    settings_files: SettingsFiles,
    *,
    words: bool = True,
    undecided: bool = False,
    quiet: bool = False,
    cache: CacheOptions | None = None,
) -> Report:
    """Lint what the options name. Raises UsageError if they contradict each other.

    Args:
        inputs: what is read.
        settings_files: the settings of every path.
        words: whether the words of the launches are needed afterwards.
        undecided: whether to note the rules that stay undecided.
        quiet: draw no progress bar.
        cache: the results of earlier checks, which have no words; None to use none.
    """
    if inputs.command is not None and inputs.paths:
        fail("--command cannot be combined with PATH")
    paths = list(inputs.paths) or ["."]
    if STDIN in paths and len(paths) > 1:
        fail("- means standard input and cannot be combined with other paths")
    if "" in paths:
        fail("PATH is empty: a variable in it may have no value")
    if inputs.are_files:
        known = cache.opened() if cache is not None else None
        report = _lint_files(paths, settings_files, words, undecided, known, quiet=quiet)
        _refuse(settings_files.faults)
    else:
        report = _lint_text(inputs, settings_files, undecided)
    if not settings_files.problems:
        report.errors[:0] = settings_files.rule_problems()
    return report


def _lint_files(
    paths: list[str], settings_files: SettingsFiles, words: bool, undecided: bool, cache: ResultCache | None, *, quiet: bool
) -> Report:
    bar = Progress() if bar_wanted(quiet) else None
    try:
        done = bar.step if bar is not None else None
        return check_in_parallel(paths, settings_files, words=words, undecided=undecided, done=done, cache=cache)
    finally:
        if bar is not None:
            bar.clear()


def _lint_text(inputs: Inputs, settings_files: SettingsFiles, undecided: bool) -> Report:
    """Lint a command line or standard input."""
    report = Report()
    name = inputs.stdin_filename if inputs.command is None else "command.sh"
    own = settings_of(settings_files, name)
    report.errors += settings_files.problems
    if settings_files.problems or (inputs.command is None and settings_files.leaves_out(name)):
        return report
    if inputs.command is not None:
        add_source(report, Source(name, inputs.command), own, Neighbours("."), undecided=undecided)
        return report
    report.files = 1
    source = read_stream(name, sys.stdin.buffer)
    if isinstance(source, Problem):
        report.errors.append(source)
    elif source is not None:
        add_source(report, source, own, beside(name, own), undecided=undecided)
    return report


def read_stream(name: str, stream: IO[bytes]) -> Source | Problem | None:
    """Read the text of a stream as a file of some name; None if it is binary or mentions no engine."""
    from servelint.readers.discover import HEAD, bound, decode

    data = stream.read(HEAD)
    most = bound(name, data)
    data += stream.read(most.most + 1 - len(data))
    if len(data) > most.most:
        shown = f"{most.most >> 20} MiB" if most.most >= 1 << 20 else f"{most.most >> 10} KiB"
        return Problem(name, most.says.format(size=f"more than {shown}"))
    return decode(name, data)


def report_problems(problems: list[Problem]) -> int:
    """Print what is wrong with settings files. Returns the exit status."""
    for problem in problems:
        print_stderr(problem)
    return 2


def reaches(severity: str, least: str) -> bool:
    """Return whether a severity is at or above another one, which may be "never"."""
    return least != "never" and SEVERITIES.index(severity) >= SEVERITIES.index(least)


def status_of_errors(report: Report) -> int:
    """Return the exit status that the errors of a report make: 3 if one is servelint's own, else 2 if there is any."""
    return 3 if any(problem.own for problem in report.errors) else 2 if report.errors else 0
