"""Applying fixes to files: edit, read again, and keep the edit only if it did what it said and nothing else."""

from __future__ import annotations

import codecs
import difflib
import re
import sys
from collections import Counter

from servelint import fixes
from servelint.cli import files
from servelint.finding import Finding
from servelint.judge import judge
from servelint.launch import Launch
from servelint.linter import Report, add_source, beside, settle
from servelint.problem import Problem
from servelint.settings import Settings
from servelint.source import Source

_ROUNDS_AT_MOST = 10
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def fix(report: Report, settings: Settings, *, unsafe: bool, diff: bool) -> tuple[Report, int]:
    """Fix the files of a report; gives the report of what is left, and how many findings were fixed.

    With diff, prints the changes and leaves the files alone.
    """
    left = Report()
    left.files = report.files
    left.errors = [problem for problem in report.errors if problem.path not in {source.path for source in report.sources}]
    fixed = 0
    for source in report.sources:
        new, count = _fixed(source, settings, unsafe)
        if new.text != source.text:
            if diff:
                sys.stdout.write(_diff(source, new))
                new = source
            elif (problem := _write(new)) is not None:
                left.errors.append(problem)
                new = source
            else:
                fixed += count
        add_source(left, new, settings, beside(source.path))
    settle(left)
    if fixed:
        print(f"servelint: fixed {fixed} {'finding' if fixed == 1 else 'findings'}", file=sys.stderr)
    return left, fixed


def _fixed(source: Source, settings: Settings, unsafe: bool) -> tuple[Source, int]:
    """The source after its fixes, one round after the other until nothing changes, and how many findings went."""
    count = 0
    for _ in range(_ROUNDS_AT_MOST):
        before = _lint(source, settings)
        candidates = [finding for finding in before.findings if finding.fix is not None and (finding.fix.safe or unsafe)]
        accepted: list[Finding] = []
        for finding in candidates:
            trial = fixes.apply(source, [*accepted, finding], unsafe)
            if len(trial.findings) == len(accepted) + 1 and _keeps(source, trial.text, before, trial.findings, settings):
                accepted.append(finding)
        if not accepted:
            break
        source = Source(source.path, fixes.apply(source, accepted, unsafe).text, source.encoding)
        count += len(accepted)
    return source, count


def _lint(source: Source, settings: Settings) -> Report:
    report = Report()
    add_source(report, source, settings, beside(source.path))
    return report


def _keeps(source: Source, text: str, before: Report, fixed: list[Finding], settings: Settings) -> bool:
    """Whether an edit removed just the findings that it was made for: the same launches, no other finding, still readable."""
    after = _lint(Source(source.path, text, source.encoding), settings)
    if after.errors or len(after.launches) != len(before.launches):
        return False
    fixes_it = {(finding.rule, finding.span) for finding in fixed}
    for old, new in zip(before.launches, after.launches, strict=True):
        # another launch may share what was edited (an anchor, a variable): then it must have been wrong there too
        if _content(old) != _content(new) and not fixes_it & {(finding.rule, finding.span) for finding in judge(old, settings)}:
            return False
    was, now = (Counter(finding.rule for finding in report.findings) for report in (before, after))
    gone = Counter(finding.rule for finding in fixed)
    return not now - was and all(now[rule] <= was[rule] - count for rule, count in gone.items())


def _content(launch: Launch) -> tuple[list[str], dict[str, str | None]]:
    env = {name: variable.value.shown if variable.value is not None else None for name, variable in launch.env.items()}
    return [word.shown for word in launch.argv], env


def _diff(source: Source, new: Source) -> str:
    lines = difflib.unified_diff(
        _LINE.findall(source.text),
        _LINE.findall(new.text),
        f"a/{source.path}",
        f"b/{source.path}",
    )
    return "".join([line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines])


def _is_big_endian(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == codecs.BOM_UTF16_BE
    except OSError:
        return False


def _write(source: Source) -> Problem | None:
    data = source.text.encode(source.encoding)
    if source.encoding == "utf-16" and _is_big_endian(source.path):
        data = codecs.BOM_UTF16_BE + source.text.encode("utf-16-be")
    problem = files.write(source.path, data)
    return Problem(source.path, problem) if problem is not None else None
