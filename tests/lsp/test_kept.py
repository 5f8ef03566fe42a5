"""What is kept of a script's parts is what a fresh look at it finds, whatever was edited."""

from __future__ import annotations

import gc
import random
from pathlib import Path

import pytest

from servelint.launch_walk import LaunchWalk
from servelint.linter import beside
from servelint.lsp.analysis import Analysis, analyse
from servelint.lsp.remembering import Memory
from servelint.readers import commands
from servelint.settings import DEFAULT
from servelint.shell.walk import Evaluator
from servelint.source import Source
from tests.lsp import scripting
from tests.lsp.test_remembering import content

ROOT = Path(__file__).parents[2]
SERVE = (ROOT / "benchmarks" / "inputs" / "editor-serve.sh").read_text(encoding="utf-8")


def launches(analysis: Analysis) -> list[object]:
    """All that they consist of, with the place of each character."""
    found: list[object] = []
    for launch in analysis.launches:
        walk = LaunchWalk(launch.source)
        walk.launch(launch)
        found.append((walk.values, walk.places, launch.likely, launch.source is analysis.source))
    return found


def told(analysis: Analysis) -> tuple[object, ...]:
    return content(analysis), launches(analysis), [repr(problem) for problem in analysis.problems]


class Edited:
    """A script that is edited, and what is found of it."""

    def __init__(self, folder: Path) -> None:
        self._path = str(folder / "run.sh")
        self._memory = Memory()

    def of(self, text: str) -> Analysis:
        return analyse(Source(self._path, text), DEFAULT, beside(self._path), self._memory)

    def fresh(self, text: str) -> Analysis:
        return analyse(Source(self._path, text), DEFAULT, beside(self._path))

    def same(self, text: str) -> bool:
        return told(self.of(text)) == told(self.fresh(text))


@pytest.mark.parametrize("seed", range(40))
def test_random_scripts(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    script = Edited(tmp_path)
    texts = [scripting.script(chance)]
    for _ in range(15):
        again = chance.random() < 0.2
        texts.append(chance.choice(texts[-6:]) if again else scripting.edited(texts[-1], chance))
        assert script.same(texts[-1]), texts[-2:]
