"""Everything that the evaluator makes of a script: the words of its launches, their places, variables and branches."""

from __future__ import annotations

from pathlib import Path

from tests.whole import compare


def test_launches() -> None:
    compare(Path(__file__).with_name("whole.txt"))
