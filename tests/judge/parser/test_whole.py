"""Every word of the findings of a release's parser: message, advice, places, severity and fix."""

from __future__ import annotations

from pathlib import Path

from tests.whole import compare


def test_findings() -> None:
    compare(Path(__file__).with_name("whole.txt"))
