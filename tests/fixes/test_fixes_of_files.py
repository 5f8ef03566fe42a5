"""`check --fix --unsafe-fixes` over whole folders, in the ways in which files are written: nothing but the fixes changes.

The folders are the examples of this repository and, where SERVELINT_CORPUS names one, a folder of other people's files.
"""

from __future__ import annotations

import codecs
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from servelint import autofix
from servelint.core.finding import Finding
from servelint.core.result import Report
from servelint.core.source import Source
from servelint.lint import check
from servelint.settings.files import SettingsFiles
from tests.running import Workspace

EXAMPLES = Path(__file__).parents[2] / "examples"
CORPUS = os.environ.get("SERVELINT_CORPUS")

FOLDERS = [
    pytest.param(EXAMPLES, id="examples"),
    pytest.param(
        Path(CORPUS or ""),
        id="corpus",
        marks=pytest.mark.skipif(not CORPUS, reason="SERVELINT_CORPUS names no folder of launch files"),
    ),
]


def _crlf(data: bytes) -> bytes:
    if data.startswith(b"#!"):
        return data  # to a shell the CR is a part of the last word, which is a finding of its own
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _tabs(data: bytes) -> bytes:
    return data.replace(b" \\\n", b"\t\\\n")


def _bom(data: bytes) -> bytes:
    # a shell would take the mark for a part of `#!`, and YAML and JSON read over it: all of them are linted
    return codecs.BOM_UTF8 + data.removeprefix(codecs.BOM_UTF8)


VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": bytes,
    "CR LF": _crlf,
    "BOM": _bom,
    "no final newline": lambda data: data.rstrip(b"\r\n"),
    "tabs": _tabs,
}


class Step(NamedTuple):
    """A fix that was made."""

    source: Source
    before: Report
    finding: Finding
    new: Source
    after: Report

    @property
    def rules(self) -> Counter[str]:
        """The rules of the findings that went."""
        return _rules(self.before) - _rules(self.after)


def _rules(report: Report) -> Counter[str]:
    return Counter(one.rule for one in report.findings)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """Every fix that is made."""
    made: list[Step] = []
    real = autofix.attempt

    def attempt(source: Source, before: Report, finding: Finding, *rest: object) -> tuple[Source, Report] | None:
        done = real(source, before, finding, *rest)  # type: ignore[arg-type]
        if done is not None:
            made.append(Step(source, before, finding, *done))
        return done

    monkeypatch.setattr(autofix, "attempt", attempt)
    return made


def _only_at_the_spans(step: Step) -> bool:
    """Whether two texts differ by the edits of a finding's fix and by nothing else."""
    source, _, finding, new, _ = step
    at = shift = 0
    assert finding.fix is not None
    for edit in sorted(finding.fix.edits, key=lambda edit: edit.span.start):
        start, end = edit.span.start, edit.span.end
        if source.text[at:start] != new.text[at + shift : start + shift] or not new.text.startswith(edit.text, start + shift):
            return False
        at, shift = end, shift + len(edit.text) - (end - start)
    return source.text[at:] == new.text[at + shift :]


def _only_what_was_edited(step: Step) -> bool:
    """Whether the finding went, and of the others only such as point at what was edited: they spoke of the same characters.

    Where no release is named, others may go as well: what was written narrowed the releases that can start the launch.
    """
    edits = [edit.span for edit in step.finding.fix.edits] if step.finding.fix is not None else []

    def is_edited(finding: Finding) -> bool:
        spans = [span for span in (finding.span, *[one.span for one in finding.related]) if span.source is step.source]
        return any(span.start <= edit.end and edit.start <= span.end for span in spans for edit in edits)

    others = step.rules - Counter([step.finding.rule])
    edited = Counter(one.rule for one in step.before.findings if is_edited(one) or one.release is None)
    return step.rules[step.finding.rule] >= 1 and not others - edited


def _found(profile: str) -> tuple[dict[str, Counter[str]], list[str]]:
    """The rules of the findings in each file, and the errors."""
    settings = SettingsFiles(isolated=True).of("").with_release("none", "1")
    settings.profile = profile
    report = check(["."], settings)
    rules: dict[str, Counter[str]] = {}
    for finding in report.findings:
        path = finding.launch.source.path if finding.launch is not None else finding.span.source.path
        rules.setdefault(path, Counter())[finding.rule] += 1
    return rules, [f"{problem.path}: {problem.message}" for problem in report.errors]


def _ends(data: bytes) -> tuple[bool, bool, bool]:
    """How a file is written: with a byte order mark, with CR LF alone, with a line end at its end."""
    return data.startswith(codecs.BOM_UTF8), b"\n" not in data.replace(b"\r\n", b""), data.endswith(b"\n")


@pytest.mark.book
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("profile", ["default", "audit"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_but_the_fixes(folder: Path, profile: str, variant: str, workspace: Workspace, steps: list[Step]) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            target = workspace.folder / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(VARIANTS[variant](path.read_bytes()))
    files = [path for path in workspace.folder.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    found_before, errors_before = _found(profile)
    fix = ("check", "--isolated", "--profile", profile, "--fix", "--unsafe-fixes", "--exit-zero", "-q", "--output", os.devnull)
    first = workspace.run(*fix)
    assert first.status in (0, 2), first
    made = list(steps)
    assert made
    for step in made:
        assert _only_at_the_spans(step), step.finding
        assert _only_what_was_edited(step), (step.finding, step.rules)
    changed = {str(path.relative_to(workspace.folder)) for path, data in before.items() if path.read_bytes() != data}
    assert changed == {os.path.normpath(step.source.path) for step in made}
    for path, data in before.items():
        assert _ends(path.read_bytes()) == _ends(data), path
    found_after, errors_after = _found(profile)
    assert errors_after == errors_before
    for name in {*found_before, *found_after}:
        steps_here = [step for step in made if step.source.path == name]
        # all that went, went by these steps; a note may go by one step and come again by the next
        lost = _rules(steps_here[0].before) - _rules(steps_here[-1].after) if steps_here else Counter()
        was, now = found_before.get(name, Counter()), found_after.get(name, Counter())
        assert was - now == lost, (name, was - now, lost)
    after = {path: path.read_bytes() for path in files}
    workspace.run(*fix)
    assert {path: path.read_bytes() for path in files} == after
    shutil.rmtree(workspace.folder)
