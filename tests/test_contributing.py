"""CONTRIBUTING.md: its diffs are those of files as they stand, its commands those of CI."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
DIFFS = re.findall(r"```diff\n(.*?)```", TEXT, re.DOTALL)


def test_there_is_a_diff_for_each_thing_to_add() -> None:
    headings = re.findall(r"^## Add (.*)$", TEXT, re.MULTILINE)
    assert headings == ["a rule", "a format", "an engine", "a release"]
    assert len(DIFFS) >= len(headings)


@pytest.mark.parametrize("diff", DIFFS, ids=lambda diff: re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE)[0])
def test_diffs_are_those_of_the_files(diff: str) -> None:
    for part in re.split(r"^(?=--- )", diff, flags=re.MULTILINE)[1:]:
        path = re.search(r"^\+\+\+ b/(.*)$", part, re.MULTILINE)
        assert path is not None
        text = (ROOT / path[1]).read_text(encoding="utf-8")
        hunks = re.split(r"^@@ .* @@\n", part, flags=re.MULTILINE)[1:]
        assert hunks
        for hunk in hunks:
            added = "".join([line[1:] for line in hunk.splitlines(keepends=True) if line.startswith("+")])
            assert added in text, path[1]


def test_commands_are_those_that_ci_runs() -> None:
    script = [line.strip() for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()]
    for command in ("ruff check .", "ruff format --check .", "mypy", "lint-imports"):
        assert command in TEXT
        assert command in script
