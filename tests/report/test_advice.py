"""The picture of a gain, against the file beside this one."""

from __future__ import annotations

from pathlib import Path

from servelint.report.advice import gain_svg
from servelint.speculation.gains import Measurement
from tests.speculation.test_crossover import points

ROW = {"engine": "vllm", "method": "mtp", "model": "a/b<c", "gpu": "h100", "tokens": 2, "source": "https://a.b/?c&d"}


def test_the_picture_of_a_gain() -> None:
    found = points((1.3, 1.5, 1.8), (1.1, 1.3, 1.5), None, (0.9, 1.1, 1.2), (0.7, 0.8, 0.9))
    measured = [
        Measurement({**ROW, "off": 100, "on": 140, "concurrency": 4}),
        Measurement({**ROW, "off": 20, "on": 10, "unit": "ms"}),
    ]
    assert gain_svg(found, "a & b", measured) == (Path(__file__).parent / "gain.svg").read_text(encoding="utf-8")
