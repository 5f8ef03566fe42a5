"""`servelint check`: the linter, with its baseline, its trusted revision, its fixes and the settings that it shows."""

from __future__ import annotations

import os
import time

from servelint.cli import options, output
from servelint.cli.command import Options, command, fail, flag, option
from servelint.cli.options import CacheOptions, ExitStatus, Hardware, Inputs, Rules, SettingsOptions
from servelint.cli.output import plural, print_problems, print_stderr, write_json, write_stdout
from servelint.core.result import Report
from servelint.core.settings import FORMATS
from servelint.core.trust import EVERYTHING, Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date
    from typing import Any

    from servelint.core.finding import Finding
    from servelint.core.problem import Problem
    from servelint.core.source import Source
    from servelint.files.git import Changes
    from servelint.filters.baseline import Baseline, Entry
    from servelint.settings.files import SettingsFiles
    from servelint.settings.layers import EffectiveValue, Origin

_NOTES = """exit status: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or a file that could not
be read or parsed (the other files are still linted), 3 an error in servelint itself"""


class ShownSettings(SettingsOptions, title="settings"):
    """Which settings files are read, and whether they are shown."""

    show_settings: bool = flag("--show-settings", help="print the settings of each PATH and where each comes from")


class GateOptions(Options, title="baseline and trust"):
    """Which findings pass, and whose suppressions are believed."""

    baseline: str | None = option("--baseline", metavar="FILE", help="hide the known findings that this file lists")
    write_baseline: bool = flag("--write-baseline", help="record all findings in --baseline (servelint-baseline.json)")
    changed_since: str | None = option(
        "--changed-since", metavar="REV", help="report only what the changes since a git revision touch"
    )
    trusted_suppressions: str | None = option(
        "--trusted-suppressions", choices=("base", "head"), help="base: only suppressions of --base count (default: head)"
    )
    base: str | None = option("--base", metavar="REV", help="the trusted git revision (default: that of --changed-since)")
    no_inline_ignore: bool = flag("--no-inline-ignore", help="report findings despite ignore comments")
    show_suppressed: bool = flag("--show-suppressed", help="list every suppression in force and what it hides")


class Requirement(ExitStatus, title="failing"):
    """Which findings, and what was not judged, make the exit status 1."""

    require: str | None = option(
        "--require", choices=("judged", "decided"), help="exit with 1 if a launch was not fully judged, or decided"
    )


class OutputOptions(Options, title="output"):
    """How the report is written, and where to."""

    format: str | None = option("--format", choices=FORMATS, help="report format (default: text)")
    output: tuple[str, ...] = option(
        "--output",
        metavar="[FORMAT=]FILE",
        many=True,
        help="write the report to FILE; FORMAT=FILE writes one more in that format",
    )
    color: str = options.color_option("text on standard output")
    statistics: bool = flag("--statistics", help="count the findings of each rule instead of printing them")
    quiet: bool = flag("-q", "--quiet", help="print findings and nothing else")
    verbose: bool = flag("-v", "--verbose", help="list what was not judged: words, versions, rules and files")


class Fixing(Options, title="fixing"):
    """Whether findings are fixed."""

    fix: bool = flag("--fix", help="apply the safe fixes")
    unsafe_fixes: bool = flag("--unsafe-fixes", help="also apply the fixes that change what the launch does")
    diff: bool = flag("--diff", help="print what --fix would change as a patch, and change nothing")
    exit_non_zero_on_fix: bool = flag("--exit-non-zero-on-fix", help="exit with 1 if a file was changed")

    @property
    def wanted(self) -> bool:
        """Whether fixes are applied or shown."""
        return self.fix or self.unsafe_fixes or self.diff


@command(
    "check",
    *(Inputs, Rules, Hardware, ShownSettings, GateOptions, Fixing, OutputOptions, Requirement, CacheOptions),
    about="Lint the files that launch LLM inference servers.",
    notes=_NOTES,
    examples=[
        "servelint check deploy/ compose.yml",
        "servelint check --engine-version vllm=0.27.1 --gpu h100-80gb run.sh",
        "servelint check --command 'vllm serve Qwen/Qwen3-8B --kv-cache-dtype fp8'",
        "servelint check --fix --diff deploy/",
        "servelint check --output sarif=report.sarif --output html=report.html",
    ],
)
def run(
    inputs: Inputs,
    rules: Rules,
    hardware: Hardware,
    shown: ShownSettings,
    gating: GateOptions,
    fixing: Fixing,
    writing: OutputOptions,
    ending: Requirement,
    caching: CacheOptions,
) -> int:
    """Lint, fix and report."""
    trust = EVERYTHING
    if gating.trusted_suppressions or gating.base or gating.changed_since or gating.no_inline_ignore:
        trust = _trust(inputs, shown, gating)
    if ending.exit_zero:
        ending.fail_on = "never"
    settings_files = options.settings(inputs, rules, hardware, shown, gating, writing, ending, trust=trust)
    if shown.show_settings:
        return _show_settings(inputs, writing, settings_files)
    return _check(inputs, gating, fixing, writing, settings_files, None if ending.exit_zero else ending.require, caching)


def _check(
    inputs: Inputs,
    gating: GateOptions,
    fixing: Fixing,
    writing: OutputOptions,
    settings_files: SettingsFiles,
    required: str | None,
    caching: CacheOptions,
) -> int:
    from servelint.report.formats import RenderOptions

    started = time.perf_counter()
    try:
        path, others = output.destinations(writing.output)
    except ValueError as error:
        fail(str(error))
    kind: str = writing.format or settings_files.value("format") or "text"
    _refuse_contradictions(inputs, gating, fixing, writing, kind, path)
    believes_files = settings_files.trust.base is None and gating.trusted_suppressions is None
    if believes_files and settings_files.value("trusted-suppressions") == "base":
        fail('the settings set trusted-suppressions = "base", which needs a revision; give --base REV')
    gate = None
    if gating.baseline or gating.changed_since or gating.write_baseline or settings_files.value("baseline"):
        gate = gate_of(inputs, gating, settings_files)
    kinds = {kind, *[other for other, _ in others]}
    undecided = writing.verbose or required is not None or not kinds.isdisjoint(("json", "html", "sarif"))
    words = "html" in kinds
    cache = None if words or fixing.wanted or settings_files.trust.base is not None else caching
    report = options.lint(inputs, settings_files, words=words, undecided=undecided, quiet=writing.quiet, cache=cache)
    if settings_files.problems:
        for other, file in others if kind == "text" else [(kind, path), *others]:
            output.write_report(report, other, file, RenderOptions(settings=settings_files))
        return options.report_problems(settings_files.problems)
    if gating.write_baseline:
        return _write_baseline(report, settings_files, quiet=writing.quiet)
    if gate is not None:
        gate.narrow(report)
    fixed = 0
    if fixing.wanted:
        report, fixed = _fix(report, inputs, fixing, settings_files, gate, undecided, quiet=writing.quiet)
    milliseconds = (time.perf_counter() - started) * 1000
    style = RenderOptions(milliseconds, quiet=writing.quiet, settings=settings_files, verbose=writing.verbose)
    style.paths = list(inputs.paths) or ["."]
    if not inputs.are_files:
        style.paths = ["standard input" if inputs.command is None else "a command"]
    if gating.show_suppressed:
        from servelint.filters import suppressions

        style.suppressions = suppressions.every(report, gate.known if gate is not None else [], settings_files)
    good = [output.write_report(report, other, file, style) for other, file in others]
    if fixing.diff and path is None:  # standard output is the patch's
        print_problems(report.errors)
        good.append(True)
    else:
        good.append(output.write_report(report, kind, path, style, writing.color, statistics=writing.statistics))
    if not all(good):
        return 2
    if not writing.quiet:
        _print_extent(report, kind)
    status = options.status_of_errors(report) or int(any(_fails(finding, settings_files) for finding in report.findings))
    if required is not None and _not_judged(report, required):
        status = status or 1
    return 1 if fixed and fixing.exit_non_zero_on_fix and status == 0 else status


def _print_extent(report: Report, kind: str) -> None:
    """Print on standard error that no launch was found, or how far the report judged if its format has no place for that."""
    from servelint.report import extent, formats

    if nothing := extent.no_launch(report):
        print_stderr(f"servelint: {nothing}")
    elif not getattr(formats.find(kind), "HAS_EXTENT", True) and (closing := extent.closing(report)):
        print_stderr(f"servelint: {closing}")


def _refuse_contradictions(
    inputs: Inputs, gating: GateOptions, fixing: Fixing, writing: OutputOptions, kind: str, path: str | None
) -> None:
    """Raise UsageError if options contradict each other."""
    if fixing.wanted and not inputs.are_files:
        if not fixing.diff or inputs.command is not None:
            fail("fixes are for files")
        if inputs.stdin_filename == options.STDIN:
            fail("--diff of standard input needs the path that the patch names; give --stdin-filename")
    if fixing.diff and kind != "text" and path is None:
        fail(f"--diff and the {kind} report would both go to standard output; give one --output")
    if writing.statistics and kind not in ("text", "json"):
        fail(f"--statistics are printed as text or json, not as {kind}; add --output {kind}=FILE for that report")
    if gating.show_suppressed and (kind not in ("text", "json") or writing.statistics):
        fail(f"--show-suppressed is printed as text or json, not as {'statistics' if writing.statistics else kind}")
    if gating.write_baseline:
        if fixing.wanted or gating.changed_since is not None or writing.output or writing.statistics:
            fail("--write-baseline writes no report, and cannot be combined with fixes or --changed-since")
        if not inputs.are_files:
            fail("a baseline is for files")


def _not_judged(report: Report, required: str) -> bool:
    """Print the launches that were not judged as far as required, and return whether there are any."""
    from servelint.report import extent
    from servelint.report.clean import clean

    found = [one for one in extent.records(report) if not one[1].whole or (required == "decided" and one[1].undecided)]
    for launch, record in found:
        what = [extent.sentence(one) for one in record.unresolved if one.matters]
        if required == "decided" and record.undecided:
            what.append(f"{len(record.undecided)} {plural(len(record.undecided), 'rule')} undecided")
        print_stderr(f"servelint: not wholly judged: {'; '.join([extent.head(launch, record), *what])}")
    images = extent.unjudged(report)
    for image in images:
        print_stderr(f"servelint: not judged: {clean(repr(image))}")
    return bool(found or images)


def _fails(finding: Finding, settings_files: SettingsFiles) -> bool:
    """Return whether the settings of the file that was linted let a finding of that severity fail the check."""
    return options.reaches(finding.severity, settings_files.of(_linted_file(finding).path).fail_on)


def _linted_file(finding: Finding) -> Source:
    """Return the file that was linted; the finding itself may stand in another that this one names."""
    return finding.launch.source if finding.launch is not None else finding.span.source


# -- the baseline, and the changes since a revision


class Gate:
    """Findings that pass: those that a baseline knows, and those of code that did not change since a revision.

    Attributes:
        baseline: None where there is none.
        known: the findings that the baseline accepted, each with its entry.
    """

    __slots__ = ("_settings_files", "_since", "baseline", "known")

    def __init__(
        self, settings_files: SettingsFiles, baseline: Baseline | None, since: tuple[str, Changes | None] | None
    ) -> None:
        """since: the revision whose code passes, and what changed since; None for none."""
        self._settings_files = settings_files
        self._since = since
        self.baseline = baseline
        self.known: list[tuple[Finding, Entry]] = []

    def narrow(self, report: Report) -> None:
        """Take from a report what passes. What is wrong with the baseline is in its errors; its sound entries count.

        Files may change between one report and the next, so the changes are settings_files for anew for each.
        """
        stale: list[Finding] = []
        if self.baseline is not None:
            from servelint.filters import baseline

            report.errors[:0] = [problem for problem in self.baseline.problems if problem not in report.errors]
            found = baseline.apply(report, self.baseline, self._settings_files, _today())
            stale, self.known = found.findings, found.known
        if self._since is not None:
            from servelint.files import git
            from servelint.filters import changed

            revision, changes = self._since
            changed.narrow(report, changes or git.since(revision), self._settings_files)
            self._since = revision, None
        report.findings += stale


def gate_of(inputs: Inputs, gating: GateOptions, settings_files: SettingsFiles) -> Gate | None:
    """Return the gate that options and settings ask for, if any. Raises UsageError where they make no sense."""
    path = settings_files.value("baseline")
    revision = gating.changed_since
    if path is None and revision is None:
        return None
    since = None
    if revision is not None:
        if not inputs.are_files:
            fail("--changed-since is for files")
        from servelint.files import git

        try:
            since = revision, git.since(revision)
        except git.GitError as error:
            fail(f"--changed-since: {error}")
    known = None
    if path is not None and not gating.write_baseline:
        from servelint.files.project import shown
        from servelint.filters import baseline

        known = baseline.read(shown(path), settings_files.trust)
    return Gate(settings_files, known, since)


def _write_baseline(report: Report, settings_files: SettingsFiles, *, quiet: bool) -> int:
    """Record the findings of a report as known, with the reasons that the file gave before. Returns the exit status."""
    from servelint.core.source import Source
    from servelint.files.project import shown
    from servelint.filters import baseline

    path = shown(settings_files.value("baseline") or baseline.NAME)
    old = baseline.read(path, settings_files.trust) if os.path.lexists(path) else baseline.Baseline(Source(path, ""))
    problems = [*old.problems, *report.errors]
    if not old.problems:
        new = baseline.renew(report, old, settings_files, _today())
        problem = output.write_file(path, baseline.render(new.entries).encode("utf-8", "backslashreplace"))
        if problem is not None:
            fail(f"{path}: {problem}")
        count = sum(entry.count for entry in new.entries)
        numbers = {"new": new.added, "gone": new.gone, "moved": new.moved}
        parts = ", ".join([f"{number} {word}" for word, number in numbers.items() if number])
        if not quiet:
            print_stderr(
                f"servelint: wrote {path}: {count} known {plural(count, 'finding')}" + (f" ({parts})" if parts else "")
            )
    for one in problems:
        print_stderr(one)
    return options.status_of_errors(report) or (2 if problems else 0)


def _today() -> date:
    from datetime import date

    return date.today()


# -- the revision whose suppressions are believed


def _trust(inputs: Inputs, settings: SettingsOptions, gating: GateOptions) -> Trust:
    """Return whose version of settings, rules, baselines and comments counts. Raises UsageError where that is not clear.

    The settings of the trusted revision may ask for it as well: those of the files under test could weaken it.
    """
    inline = not gating.no_inline_ignore
    wanted = gating.trusted_suppressions
    revision = gating.base or gating.changed_since
    files = Trust(inline=inline)
    if wanted == "base" and revision is None:
        fail("--trusted-suppressions base needs a revision; give --base REV, or --changed-since REV")
    if revision is None or wanted == "head":
        if gating.base:
            fail("--base is for --trusted-suppressions base")
        return files
    from servelint.files import git
    from servelint.files import git as base

    try:
        found = base.of(revision)
    except git.GitError as error:
        if wanted is None and not gating.base:
            return files  # before the first commit there is nothing to believe; `_gate` reports what else is wrong
        fail(f"{'--base' if gating.base else '--changed-since'}: {error}")
    trust = Trust(inline=inline, base=found)
    if wanted is None and not _settings_ask_for_base(settings, gating, trust):
        if gating.base:
            fail(f"--base is for --trusted-suppressions base, and neither an option nor the settings of {revision} set it")
        return files
    if not inputs.are_files:
        fail("--trusted-suppressions base is for files")
    if gating.write_baseline:
        fail("--write-baseline records the findings in the files, and cannot be combined with --trusted-suppressions base")
    return trust


def _settings_ask_for_base(settings: SettingsOptions, gating: GateOptions, trust: Trust) -> bool:
    """Return whether the settings of the revision ask for it. Raises UsageError where they cannot be read."""
    from servelint.settings import reading
    from servelint.settings.files import SettingsFiles

    faults: list[str] = []
    layer = reading.from_env(os.environ, faults)
    isolated = settings.isolated or reading.is_isolated(os.environ, faults)
    file = settings.settings or os.environ.get(reading.FILE_VARIABLE) or None
    settings_files = SettingsFiles(isolated=isolated, file=file, overrides=[layer], trust=trust)
    found: bool = settings_files.value("trusted-suppressions") == "base"
    if settings_files.problems and not found and gating.base:
        fail(f"the settings of {gating.base} cannot be read: {settings_files.problems[0]}")
    return found


# -- fixes


def _fix(
    report: Report,
    inputs: Inputs,
    fixing: Fixing,
    settings_files: SettingsFiles,
    gate: Gate | None,
    undecided: bool,
    *,
    quiet: bool,
) -> tuple[Report, int]:
    """Fix the findings of a report that pass the gate; with --diff, print the changes and leave the files alone.

    Returns the report of what is left, and how many findings were fixed.
    """
    from servelint.autofix import mend
    from servelint.files.project import folders
    from servelint.lint import add_source, beside, settle

    changed: list[tuple[Source, Source]] = []
    shown = 0
    left = Report()
    left.files, left.paths = report.files, report.paths
    left.errors = [problem for problem in report.errors if problem.path not in {source.path for source in report.sources}]
    fixed = 0
    named = folders(list(inputs.paths))
    for source in report.sources:
        settings = settings_files.of(source.path)
        only = (
            [finding for finding in report.findings if _linted_file(finding).path == source.path] if gate is not None else None
        )
        new, gone = mend(source, settings, beside(source.path, settings, named), unsafe=fixing.unsafe_fixes, only=only)
        if new.text != source.text:
            if fixing.diff:
                changed.append((source, new))
                shown += len(gone)
                new = source
            elif (problem := _write_source(new)) is not None:
                left.errors.append(problem)
                new = source
            else:
                fixed += len(gone)
        add_source(left, new, settings, beside(source.path, settings, named), undecided=undecided)
    settle(left)
    if gate is not None:
        gate.narrow(left)
    if fixing.diff:
        _print_diff(changed, shown, quiet=quiet)
    elif fixed and not quiet:
        print_stderr(f"servelint: fixed {fixed} {plural(fixed, 'finding')}")
    return left, fixed


def _print_diff(changed: list[tuple[Source, Source]], count: int, *, quiet: bool) -> None:
    """Print the changes as a patch on standard output, and what is to be known of them on standard error."""
    from servelint.report import patch

    found = patch.make(changed)
    output.write_stdout_bytes(found.text.encode("utf-8", "surrogateescape"))
    for reason in found.left_out:
        print_stderr(f"servelint: not in the patch: {reason}; --fix makes them")
    if found.text and found.root:
        print_stderr(f"servelint: the paths of the patch are relative to {found.root}: apply it there")
    if not quiet:
        files = len(changed)
        what = f"would fix {count} {plural(count, 'finding')} in {files} {plural(files, 'file')}"
        print_stderr(f"servelint: {what if count else 'nothing to fix'}")


def _write_source(source: Source) -> Problem | None:
    import codecs

    from servelint.core.problem import Problem

    data = source.text.encode(source.encoding)
    if source.encoding == "utf-16" and _is_big_endian(source.path):
        data = codecs.BOM_UTF16_BE + source.text.encode("utf-16-be")
    problem = output.write_file(source.path, data)
    return Problem(source.path, problem) if problem is not None else None


def _is_big_endian(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"\xfe\xff"
    except OSError:
        return False


# -- --show-settings

_LISTS = ("select", "extend-select", "ignore", "exclude", "extend-exclude", "rules")
"""Keys of the settings that are lists: each item has an origin of its own."""


def _show_settings(inputs: Inputs, writing: OutputOptions, settings_files: SettingsFiles) -> int:
    """Print the settings of each path, and the place that sets each of them."""
    paths = [inputs.stdin_filename if path == options.STDIN else path for path in inputs.paths] or ["."]
    shown = [(path, *_effective(path, settings_files)) for path in paths]
    options.settings_of(settings_files)
    if settings_files.problems:
        return options.report_problems(settings_files.problems)
    if (writing.format or settings_files.value("format")) == "json":
        write_json({"paths": [{"path": path, "files": names, "settings": _settings_data(own)} for path, names, own in shown]})
    else:
        write_stdout("\n".join([_settings_text(*one) for one in shown]))
    return 0


def _effective(path: str, settings_files: SettingsFiles) -> tuple[list[str], list[EffectiveValue]]:
    """Return the settings files of a path, the nearest first, and the settings that hold."""
    from servelint.settings import files
    from servelint.settings.layers import effective

    if os.path.isdir(path):
        governing, absolute = settings_files.governing(os.path.join(path, ""))[0], None
    else:
        governing, absolute = settings_files.governing(path)
    return list(files.paths(governing)), effective(governing.layers_of(absolute))


def _settings_text(path: str, names: list[str], values: list[EffectiveValue]) -> str:
    from servelint.report.clean import clean
    from servelint.settings.keys import KEYS
    from servelint.settings.layers import PASSED

    head = f"{path}: {', which extends '.join(names)}" if names else f"{path}: no settings file"
    rows: list[tuple[str, str, str]] = []
    for key in dict.fromkeys([*KEYS, *[one.key for one in values]]):
        if key in PASSED:
            continue
        own = [one for one in values if one.key == key]
        nothing = "every rule of the profile" if key == "select" else "none"
        rows += [(key, _value_text(one), str(one.origin or "default")) for one in own] or [(key, nothing, "default")]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [clean(head)]
    before = ""
    for key, value, origin in rows:
        name = "" if key == before else key
        before = key
        lines.append(clean(f"  {name:<{widths[0]}}  {value:<{widths[1]}}  {origin}"))
    return "\n".join([*lines, ""])


def _value_text(one: EffectiveValue) -> str:
    import json

    value = one.value
    text = "none" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{one.name} {text}" if one.name else text


def _settings_data(values: list[EffectiveValue]) -> dict[str, Any]:
    from servelint.settings.keys import KEYS
    from servelint.settings.layers import PASSED

    found: dict[str, Any] = {key: [] if key in _LISTS else {} for key in KEYS if key not in PASSED}
    found["rule"] = {}
    for one in values:
        data = {"value": one.value, "from": _origin_data(one.origin)}
        if one.key in _LISTS:
            found[one.key].append(data)
        elif one.key.startswith("rule."):
            found["rule"].setdefault(one.key.removeprefix("rule."), {})[one.name] = data
        elif one.name:
            found[one.key][one.name] = data
        else:
            found[one.key] = data
    return found


def _origin_data(origin: Origin | None) -> dict[str, Any] | None:
    from servelint.settings.layers import IN_FILE

    if origin is None:
        return None
    data: dict[str, Any] = {"kind": origin.kind, "name": origin.name}
    return {**data, "line": origin.line, "column": origin.column} if origin.kind == IN_FILE else data
