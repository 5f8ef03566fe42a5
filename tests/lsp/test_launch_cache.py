"""Findings out of the cache are those of a fresh check, whatever was edited; what an edit leaves alone is not judged again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from servelint.core.finding import Finding, Related
from servelint.core.launch import Launch
from servelint.core.settings import DEFAULT, Settings
from servelint.core.source import Source, Span
from servelint.engines.catalog import load
from servelint.judge.judging import judge
from servelint.lint import beside
from servelint.lsp import launch_cache
from servelint.lsp.analysis import Analysis, analyse
from servelint.lsp.launch_cache import LaunchCache, LaunchKey
from servelint.readers import read
from tests.lsp import scripting
from tests.lsp.editing import NAMES, TEXTS, edits, originals

ROOT = Path(__file__).parents[2]
INPUTS = ("editor-compose.yml", "editor-serve.sh", "compose.yml")


def content(analysis: Analysis) -> tuple[object, ...]:
    """All that an editor shows of a text."""
    findings = [
        (
            *(one.rule, one.span.source.path, one.span.start, one.span.end, one.message, one.advice, one.severity, one.label),
            *(one.confidence, one.impact, one.evidence, one.release, one.release_from, one.affected),
            [(place.span.source.path, place.span.start, place.span.end, place.message) for place in one.related],
            one.launch is None or one.launch in analysis.launches,
            one.span.source is analysis.source or one.span.source.path != analysis.source.path,
        )
        for one in analysis.findings
    ]
    return findings, [repr(problem) for problem in analysis.problems], len(analysis.launches)


class Document:
    """A file that is edited, and what is found of it with a cache and without."""

    def __init__(self, path: Path, settings: Settings = DEFAULT) -> None:
        self._path = str(path)
        self._settings = settings
        self.cache = LaunchCache()

    def of(self, text: str, settings: Settings | None = None) -> Analysis:
        return analyse(Source(self._path, text), settings or self._settings, beside(self._path), self.cache)

    def same(self, text: str) -> bool:
        fresh = analyse(Source(self._path, text), self._settings, beside(self._path))
        return content(self.of(text)) == content(fresh)


@pytest.mark.parametrize("seed", range(3))
def test_random_edits(seed: int) -> None:
    """Of scripts, compose files, manifests, JSON and variables."""
    texts = originals()
    documents = {name: Document(TEXTS / name) for name in NAMES}
    for edit in edits(60, seed):
        texts[edit.name] = edit.of(texts[edit.name])
        assert documents[edit.name].same(texts[edit.name]), edit


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("settings", [DEFAULT, Settings(profile="strict", gpu="h100-80gb")], ids=["default", "strict"])
def test_random_edits_of_long_files(name: str, settings: Settings) -> None:
    path = ROOT / "benchmarks" / "inputs" / name
    original = text = path.read_text(encoding="utf-8")
    chance = random.Random(name)
    document = Document(path, settings)
    for index in range(10):
        text = original if index % 6 == 0 else scripting.edited(text, chance)
        assert document.same(text), text


@pytest.mark.parametrize("seed", range(10))
def test_random_scripts(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    document = Document(tmp_path / "run.sh")
    texts = [scripting.script(chance)]
    for _ in range(15):
        again = chance.random() < 0.2
        texts.append(chance.choice(texts[-6:]) if again else scripting.edited(texts[-1], chance))
        assert document.same(texts[-1]), texts[-2:]


PROJECT = {
    "compose.yml": """\
services:
  chat:
    image: vllm/vllm-openai:${TAG:-v0.27.1}
    env_file: chat.env
    volumes: ["./engine.yaml:/engine.yaml", "./config.json:/model/config.json"]
    command: --model /model --config /engine.yaml ${MORE}
  code:
    extends: {service: chat}
    image: vllm/vllm-openai
    command: --model ${MODEL} ${MORE} --max-model-len 8192
  third:
    build: .
    command: vllm serve ${MODEL} ${MORE}
""",
    ".env": "MODEL=Qwen/Qwen3-8B\nMORE=--swap-space 4 --gpu-memory-utilization 1.5\n",
    "chat.env": "VLLM_USE_V1=0\nVLLM_ATTENTION_BACKEND=FLASHINFER\n",
    "engine.yaml": "max-model-len: 4096\nswap-space: 8\nkv-cache-dtype: fp7\n",
    "config.json": '{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "max_position_embeddings": 2048}\n',
    "Dockerfile": "FROM vllm/vllm-openai:v0.19.0\nRUN pip install transformers==4.51.0\nENV VLLM_USE_V1=1\n",
}


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_of_a_project(seed: int, tmp_path: Path) -> None:
    """Findings may stand in any of the files that a launch is read from, and hang on all of them."""
    chance = random.Random(seed)
    texts = dict(PROJECT)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    document = Document(tmp_path / "compose.yml")
    for _ in range(30):
        name = chance.choice((*PROJECT, "compose.yml"))
        texts[name] = PROJECT[name] if chance.random() < 0.3 else scripting.edited(texts[name], chance)
        (tmp_path / name).write_text(texts[name], encoding="utf-8")
        assert document.same(texts["compose.yml"]), (name, texts)


class Counted(Document):
    """Counts the launches that are judged."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(path)
        self.names: list[str] = []
        monkeypatch.setattr(launch_cache, "judge", self)

    def __call__(self, launch: Launch, settings: Settings) -> list[Finding]:
        self.names.append(launch.name)
        return judge(launch, settings)

    def judged(self, text: str, settings: Settings = DEFAULT) -> list[str]:
        """The names of those that are judged for a text."""
        self.names = []
        self.of(text, settings)
        return [name.removeprefix("services.") for name in self.names]


@pytest.fixture
def compose(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(TEXTS / "compose.yml", monkeypatch)


def test_only_what_changed_is_judged(compose: Counted) -> None:
    text = originals()["compose.yml"]
    assert compose.judged(text) == ["chat", "draft", "embed"]
    assert compose.judged(text) == []
    text = "# a line more\n" + text
    assert compose.judged(text) == []
    longer = text.replace("--max-model-len 32768", "--max-model-len 16384")
    assert compose.judged(longer) == ["chat"]
    assert compose.judged(text) == []  # as after an undo
    private = text.replace("ipc: host", "ipc: private")  # all but one have it from there
    assert compose.judged(private) == ["chat", "draft"]
    assert compose.judged(private, Settings(profile="strict")) == ["chat", "draft", "embed"]


def test_a_comment_on_gpus_counts(compose: Counted) -> None:
    text = originals()["compose.yml"]
    compose.judged(text)
    assert compose.judged(text.replace("    command:\n", "    command:  # servelint: gpu=h100-80gb\n")) == ["draft"]


def test_what_the_file_installs_counts(compose: Counted) -> None:
    """A file that installs Transformers may load models that the engine's release cannot load by itself."""
    text = originals()["compose.yml"]
    compose.judged(text)
    assert compose.judged(text + "# pip install transformers==5.0\n") == []
    assert compose.judged(text + "x-build: pip install transformers==5.0\n") == ["chat", "draft", "embed"]


def test_an_entry_that_no_text_uses_is_dropped(compose: Counted) -> None:
    text = originals()["compose.yml"]
    compose.judged(text)
    for _ in range(launch_cache._UNUSED_AT_MOST + 1):
        assert compose.judged("# vllm\n") == []
    assert compose.judged(text) == ["chat", "draft", "embed"]


SCRIPT = """#!/bin/bash
cat > engine.yaml <<EOF
max-model-len: 8192
swap-space: 4
EOF
log() { echo "$1"; }
log started
vllm serve Qwen/Qwen3-8B --config engine.yaml --kv-cache-dtype fp8
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counted:
    return Counted(tmp_path / "run.sh", monkeypatch)


def test_a_file_that_a_launch_is_judged_by_counts(script: Counted) -> None:
    assert script.judged(SCRIPT) == [""]
    assert script.judged("# one more\n" + SCRIPT) == []
    assert script.judged(SCRIPT.replace("swap-space: 4\n", "")) == [""]
    assert script.judged(SCRIPT.replace("engine.yaml <<", "other.yaml <<")) == [""]
    for text in (SCRIPT, SCRIPT.replace("4\nEOF", "5\nEOF"), SCRIPT.replace("log started", "log up")):
        assert script.same(text)


def test_a_command_that_is_cut_off_counts(script: Counted) -> None:
    text = "vllm serve Qwen/Qwen3-8B --port 8000\n    --enforce-eager\necho done\n"
    assert script.judged(text) == [""]
    assert script.judged(text.replace("done", "over")) == []
    assert script.judged(text.replace("8000\n", "8000 \\\n")) == [""]


def test_findings_stand_at_the_launch_s_new_place(script: Counted) -> None:
    text = 'MODEL=Qwen/Qwen3-8B\nvllm serve "$MODEL" --swap-space 4\n'
    before, after = script.of(text), script.of("# three\n\n# lines\n" + text)
    assert script.names == [""]
    assert before.findings
    assert [one.span.line + 3 for one in before.findings] == [one.span.line for one in after.findings]
    assert all(one.span.source is after.source for one in after.findings)


def test_lines_count(script: Counted) -> None:
    """Where a value stands on the line that uses it, only one of the two places is shown."""
    one = "A=1.5; vllm serve m --gpu-memory-utilization $A\n"
    for text in (one, one.replace("; ", ";\n"), one):
        assert script.same(text)
    assert len(script.of(one.replace("; ", ";\n")).findings[0].related) > len(script.of(one).findings[0].related)


def test_a_secret_of_another_launch(compose: Counted) -> None:
    """What another launch makes secret is masked in a message. The cache keeps the message as it was found."""
    text = (
        "services:\n  one:\n    image: vllm/vllm-openai:v0.27.1\n    command: --model m --api-key abcdefgh12345\n"
        "  two:\n    image: vllm/vllm-openai:v0.27.1\n    command: --model m --block-size abcdefgh12345\n"
    )
    open_key = text.replace("--api-key", "--served-model-name")
    for one in (text, text, open_key, text):
        assert compose.same(one)
    messages = [[finding.message for finding in compose.of(one).findings] for one in (text, open_key)]
    assert ["abcdefgh12345" in " ".join(each) for each in messages] == [False, True]
    assert compose.judged(text) == []


def test_a_bound_that_is_reached_is_reported_each_time(script: Counted) -> None:
    deep = '{"a":' * 80 + "1" + "}" * 80
    text = f"vllm serve m --speculative-config '{deep}'\n"
    for _ in range(3):
        assert script.same(text)
        assert len(script.of(text).problems) == 1


def test_a_finding_elsewhere_is_not_reused(script: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the key does not tell where a finding stands, the launch is judged each time."""
    elsewhere = Source("other.sh", "x")

    def judging(launch: Launch, settings: Settings) -> list[Finding]:
        found = script(launch, settings)
        for finding in found:
            finding.related.append(Related(Span(elsewhere, 0, 1), "of this"))
        return found

    monkeypatch.setattr(launch_cache, "judge", judging)
    text = "vllm serve m --swap-space 4\n"
    assert [script.judged(text) for _ in range(2)] == [[""], [""]]


def test_every_field_of_a_launch_is_in_its_key() -> None:
    """A field that is added to a launch counts at once; another value of any makes another key."""
    source = Source("run.sh", "vllm serve m --port 1\n")
    (launch,) = analyse(source, DEFAULT, beside("run.sh")).launches
    same = LaunchKey(launch).value
    others = {"argv": [], "verb": (), "env": {}, "engine": "sglang", "name": "x", "open_env": True, "likely": False}
    others |= {"folder": ".", "gpu": "h100-80gb", "gpu_count": 2, "fragment": True, "open": None}
    assert load(launch.engine) is not None
    for name, value in others.items():
        before = getattr(launch, name)
        setattr(launch, name, value)
        assert (LaunchKey(launch).value != same) is (before != value), name
        setattr(launch, name, before)
    assert LaunchKey(launch).value == same


def test_a_launch_that_prefills_is_part_of_the_key_of_one_that_decodes() -> None:
    text = "python -m sglang.launch_server --model-path m --disaggregation-mode {} --page-size {}\n"
    keys = [
        LaunchKey(read(Source("run.sh", text.format("prefill", size) + text.format("decode", 64))).launches[1]).value
        for size in (64, 32, 64)
    ]
    assert keys[0] == keys[2] != keys[1]
