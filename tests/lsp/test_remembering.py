"""What is remembered of a text is what a fresh look at it finds, whatever was edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.settings import DEFAULT, Settings
from servelint.core.source import Source
from servelint.judge.judging import judge
from servelint.lint import beside
from servelint.lsp import remembering
from servelint.lsp.analysis import Analysis, analyse
from servelint.lsp.remembering import Memory
from tests.lsp.editing import NAMES, TEXTS, edits, originals


def content(analysis: Analysis) -> list[object]:
    return [
        (
            *(one.rule, one.span.start, one.span.end, one.message, one.advice, one.severity, one.label, one.release),
            [(place.span.start, place.span.end, place.message) for place in one.related],
            one.launch is None or one.launch in analysis.launches,
        )
        for one in analysis.findings
    ]


@pytest.mark.parametrize("seed", range(2))
def test_random_edits(seed: int) -> None:
    texts = originals()
    memories = {name: Memory() for name in NAMES}
    for edit in edits(100, seed):
        texts[edit.name] = edit.of(texts[edit.name])
        path = str(TEXTS / edit.name)
        found = analyse(Source(path, texts[edit.name]), DEFAULT, beside(path), memories[edit.name])
        fresh = analyse(Source(path, texts[edit.name]), DEFAULT, beside(path))
        assert content(found) == content(fresh), edit


class Counted:
    """How many launches are judged."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        monkeypatch.setattr(remembering, "judge", self)
        self._memory = Memory()

    def __call__(self, launch: Launch, settings: Settings) -> list[Finding]:
        self.names.append(launch.name)
        return judge(launch, settings)

    def of(self, text: str, settings: Settings = DEFAULT) -> list[str]:
        """Those that are judged for a text."""
        self.names = []
        path = str(TEXTS / "compose.yml")
        analyse(Source(path, text), settings, beside(path), self._memory)
        return [name.removeprefix("services.") for name in self.names]


def test_only_what_changed_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    text = originals()["compose.yml"]
    counted = Counted(monkeypatch)
    assert counted.of(text) == ["chat", "draft", "embed"]
    assert counted.of(text) == []
    text = "# a line more\n" + text
    assert counted.of(text) == []
    text = text.replace("--max-model-len 32768", "--max-model-len 16384")
    assert counted.of(text) == ["chat"]
    text = text.replace("ipc: host", "ipc: private")  # all but one have it from there
    assert counted.of(text) == ["chat", "draft"]
    assert counted.of(text, Settings(profile="strict")) == ["chat", "draft", "embed"]


def test_a_comment_on_gpus_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    text = originals()["compose.yml"]
    counted = Counted(monkeypatch)
    counted.of(text)
    assert counted.of(text.replace("  draft:\n", "  draft:\n    # servelint: gpu=h100-80gb\n")) in (["draft"], [])
    assert counted.of(text.replace("    command:\n", "    command:  # servelint: gpu=h100-80gb\n")) == ["draft"]


def test_what_it_is_told_to_forget(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = originals()["compose.yml"]
    counted = Counted(monkeypatch)
    counted.of(text)
    counted._memory.forget()
    assert counted.of(text) == ["chat", "draft", "embed"]


SCRIPT = """#!/bin/bash
cat > engine.yaml <<EOF
max-model-len: 8192
swap-space: 4
EOF
log() { echo "$1"; }
log started
vllm serve Qwen/Qwen3-8B --config engine.yaml --kv-cache-dtype fp8
"""


class OfAScript(Counted):
    """The same in a script, which knows the files that it writes."""

    def of(self, text: str, settings: Settings = DEFAULT) -> list[str]:
        self.names = []
        path = str(TEXTS / "run.sh")
        found = analyse(Source(path, text), settings, beside(path), self._memory)
        assert content(found) == content(analyse(Source(path, text), settings, beside(path)))
        return self.names


def test_a_file_that_a_launch_is_judged_by(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = OfAScript(monkeypatch)
    assert counted.of(SCRIPT)
    assert (counted.of(SCRIPT), counted.of(SCRIPT.replace("log started", "log up"))) == ([], [])
    assert counted.of(SCRIPT.replace("swap-space: 4\n", "")) == [""]
    assert counted.of(SCRIPT.replace("engine.yaml <<", "other.yaml <<")) == [""]
    assert counted.of(SCRIPT.replace("engine.yaml <<", "others.yaml <<")) == []


def test_a_command_that_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "vllm serve Qwen/Qwen3-8B --port 8000\n    --enforce-eager\necho done\n"
    counted = OfAScript(monkeypatch)
    assert counted.of(text)
    assert (counted.of(text), counted.of(text.replace("done", "over"))) == ([], [])
    assert counted.of(text.replace("8000\n", "8000 \\\n")) == [""]
