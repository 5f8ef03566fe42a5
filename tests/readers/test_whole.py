"""Everything that a reader makes of a text: words, their places, variables, the release, the container and branches."""

from __future__ import annotations

from pathlib import Path

from tests.whole import compare


def test_launches() -> None:
    compare(Path(__file__).with_name("whole.txt"))
