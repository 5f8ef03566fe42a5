"""Every figure and every word of memory plans: each arithmetic, each kind of model, many options."""

from __future__ import annotations

from pathlib import Path

from tests.memory.whole import plan_lines
from tests.whole import compare


def test_plans() -> None:
    compare(Path(__file__).with_name("whole.txt"), plan_lines)
