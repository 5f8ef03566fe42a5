"""What is kept of a script's parts is what a fresh look at it finds, whatever was edited."""

from __future__ import annotations

import gc
import random
from pathlib import Path

import pytest

from servelint.core.finding import Finding
from servelint.core.launch import Launch, Word
from servelint.core.settings import DEFAULT, Settings
from servelint.core.source import Source
from servelint.judge.judging import judge
from servelint.launch_walk import LaunchWalk
from servelint.lint import beside
from servelint.lsp import remembering
from servelint.lsp.analysis import Analysis, analyse
from servelint.lsp.remembering import Memory
from servelint.readers import commands
from servelint.readers.place import Place
from servelint.syntax.shell.state import Status
from servelint.syntax.shell.walk import Evaluator
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


@pytest.mark.parametrize("seed", range(24))
def test_random_scripts(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    script = Edited(tmp_path)
    texts = [scripting.script(chance)]
    for _ in range(15):
        again = chance.random() < 0.2
        texts.append(chance.choice(texts[-6:]) if again else scripting.edited(texts[-1], chance))
        assert script.same(texts[-1]), texts[-2:]


def test_random_edits_of_a_long_script(tmp_path: Path) -> None:
    chance = random.Random(1)
    script = Edited(tmp_path)
    text = SERVE
    for index in range(80):
        text = scripting.edited(text, chance) if index % 8 else SERVE
        assert script.same(text), text


class Walks:
    """The functions that are walked through, and the commands that are looked at for launches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        walk, look = Evaluator.walk_through, commands.launches

        def walked(shell: Evaluator, name: str, args: list[Word] | None) -> Status:
            self.names.append(name)
            return walk(shell, name, args)

        def looked(words: list[Word], place: Place, depth: int = 0) -> list[Launch]:
            if not depth:
                self.names.append(" ".join([word.shown for word in words[:2]]))
            return look(words, place, depth)

        monkeypatch.setattr(Evaluator, "walk_through", walked)
        monkeypatch.setattr(commands, "launches", looked)

    def of(self, script: Edited, text: str) -> list[str]:
        self.names = []
        script.of(text)
        return self.names


STARTING = """\
#!/bin/bash
MODEL=Qwen/Qwen3-8B
PORT=8000
OTHER=1
PIDS=/run/llm

log() {
  echo "$*"
}

chat() {
  if [[ -e $PIDS ]]; then
    log running
    return
  fi
  vllm serve "$MODEL" --port "$PORT" --swap-space 4
  echo $! > "$PIDS/$1"
}

code() {
  local model=$1
  vllm serve "$model" --port 8001
}

main() {
  chat chat
  code "$MODEL"
}

main "$@"
"""


@pytest.mark.parametrize(
    ("old", "new", "walked"),
    [
        ("OTHER=1", "OTHER=1 # a remark", []),
        ("OTHER=1", "\nOTHER=1", ["vllm serve", "vllm serve"]),  # two of its places may be on one line
        ("OTHER=1", "OTHER=2", []),
        ("log running", "log 'is running'", ["main", "chat", "vllm serve"]),
        ("--port 8001", "--port 8002", ["main", "code", "vllm serve"]),
        ("PORT=8000", "PORT=8003", ["main", "chat", "vllm serve"]),
        ("/run/llm", "/run/other", ["main", "chat"]),
        ("Qwen3-8B", "Qwen3-4B", ["main", "chat", "vllm serve", "code", "vllm serve"]),
        ("chat chat", "chat other", ["main", "chat"]),
        ("local model=$1", "local model=$1 other", ["main", "code", "vllm serve"]),
        ('main "$@"', 'PORT=1\nmain "$@"', ["main", "chat", "vllm serve"]),
        ('main "$@"', 'export OTHER\nmain "$@"', ["main", "chat", "vllm serve", "code", "vllm serve"]),
    ],
)
def test_what_is_walked_again(old: str, new: str, walked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Edited(tmp_path)
    for _ in range(3):
        assert script.same(STARTING)  # bodies are known from the second time on
    walks = Walks(monkeypatch)
    assert walks.of(script, STARTING) == []
    text = STARTING.replace(old, new)
    assert text != STARTING
    assert script.same(text)
    script = Edited(tmp_path)
    for _ in range(3):
        script.of(STARTING)
    assert walks.of(script, text) == walked


def test_what_was_found_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[Launch] = []

    def judging(launch: Launch, settings: Settings) -> list[Finding]:
        judged.append(launch)
        return judge(launch, settings)

    script = Edited(tmp_path)
    for _ in range(3):
        script.of(STARTING)
    monkeypatch.setattr(remembering, "judge", judging)
    text = STARTING.replace("MODEL", "# three\n\n# lines\nMODEL", 1)
    before, after = script.of(STARTING), script.of(text)
    assert not judged
    assert [one.span.line + 3 for one in before.findings] == [one.span.line for one in after.findings]
    assert content(after) == content(script.fresh(text))
    script.of(text.replace("--swap-space 4", "--swap-space 5"))
    assert len(judged) == 1


def test_a_finding_stays_with_its_text(tmp_path: Path) -> None:
    """What was found before is not moved with the next text."""
    script = Edited(tmp_path)
    for _ in range(3):
        found = script.of(STARTING)
    lines = [one.span.line for one in found.findings]
    script.of("#\n#\n" + STARTING)
    assert lines
    assert [one.span.line for one in found.findings] == lines
    assert all(one.span.source is found.source for one in found.findings)


def test_nothing_holds_itself(tmp_path: Path) -> None:
    """What is gone is gone at once: the collector of cycles has nothing to do."""
    chance = random.Random(2)
    script = Edited(tmp_path)
    script.of(SERVE)
    gc.collect()
    gc.disable()
    try:
        for index in range(30):
            script.of(scripting.edited(SERVE, chance) if index % 3 else SERVE)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_nothing_grows(tmp_path: Path) -> None:
    """A launch is moved again and again, and asks each time for the files that it names."""
    text = STARTING.replace("--swap-space 4", "--swap-space 4 --config run.yaml --chat-template chat.jinja")
    script = Edited(tmp_path)
    asked: list[list[int]] = []
    for _ in range(3):
        for count in range(27):
            script.of(text.replace("OTHER=1", "OTHER=" + "1" * (count % 9 + 1)))
        parts = script._memory._kept._new.values()
        asked.append([len(one.opening.asked) for part in parts for found in part._commands.values() for one in found])
    assert asked[0]
    assert asked[1:] == asked[:-1]


def test_a_text_of_before_is_read_for_itself(tmp_path: Path) -> None:
    """What is kept is of the text that was turned to last; one that is older has parts elsewhere."""
    path = str(tmp_path / "run.sh")
    memory = Memory()
    older = Source(path, STARTING)
    for source in (Source(path, STARTING), older, Source(path, "# one more\n" + STARTING)):
        analyse(source, DEFAULT, beside(path), memory)
    assert told(analyse(older, DEFAULT, beside(path))) == told(analyse(Source(path, STARTING), DEFAULT, beside(path)))
