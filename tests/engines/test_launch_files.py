"""`--config FILE`: the options of the file count where the command line does not say otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import servelint

FILE = """\
port: 9000
max-model-len: 8k
enable-prefix-caching: true
enforce-eager: false
served-model-name:
  - one
  - two
speculative-config:
  method: mtp
  num_speculative_tokens: 2
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(argv: list[str], engine: str = "vllm", version: str = "0.27.1") -> list[tuple[str, str]]:
    return [(finding.rule, finding.span.text) for finding in servelint.check_command(engine, argv, version=version)]


def test_its_options_are_judged(folder: Path) -> None:
    (folder / "serve.yaml").write_text(FILE + "swap-space: 4\nkv-cache-dtype: turboquant_k8v4\n")
    rules = dict(found(["Qwen/Qwen3-8B", "--config", "serve.yaml"]))
    assert rules["vllm/removed-option"] == "swap-space"
    assert rules["vllm/turboquant-with-spec-decode"] == "turboquant_k8v4"


def test_a_sound_file_is_not_reported(folder: Path) -> None:
    (folder / "serve.yaml").write_text("port: 9000\nmax-model-len: 8k\nenforce-eager: false\nserved-model-name: [one, two]\n")
    assert found(["Qwen/Qwen3-8B", "--config", "serve.yaml", "--port", "8000"]) == []


def test_the_command_line_wins(folder: Path) -> None:
    (folder / "serve.yaml").write_text("gpu-memory-utilization: 1.5\n")
    assert [rule for rule, _ in found(["m", "--config", "serve.yaml"])] == ["vllm/gpu-memory-utilization-out-of-range"]
    assert found(["m", "--config", "serve.yaml", "--gpu-memory-utilization", "0.9"]) == []


def test_it_may_name_the_model(folder: Path) -> None:
    (folder / "serve.yml").write_text("model-path: Qwen/Qwen3-8B\nport: 30000\n")
    assert found(["--config", "serve.yml"], "sglang", "0.5.12") == []
    assert [rule for rule, _ in found(["--port", "1"], "sglang", "0.5.12")] == ["sglang/missing-argument"]


@pytest.mark.parametrize("name", ["missing.yaml", "serve.json", "broken.yaml"])
def test_a_file_that_cannot_be_used_ends_the_start(name: str, folder: Path) -> None:
    (folder / "broken.yaml").write_text("port: [1\n")
    (folder / "serve.json").write_text("{}")
    assert found(["m", "--config", name]) == [("vllm/invalid-value", "--config")]


def test_only_the_separate_word_names_one() -> None:
    assert found(["m", "--config=missing.yaml"]) == [("vllm/config-not-read", "missing.yaml")]
    assert found(["m", "--port", "1"]) == []


def test_a_file_in_one_word_gives_no_model(folder: Path) -> None:
    (folder / "serve.yaml").write_text("model-path: Qwen/Qwen3-8B\n")
    rules = [rule for rule, _ in found(["--config=serve.yaml"], "sglang", "0.5.12")]
    assert rules == ["sglang/missing-argument", "sglang/config-not-read"]
    assert found(["--config", "serve.yaml"], "sglang", "0.5.12") == []


def test_a_file_of_another_machine_is_not_looked_for() -> None:
    text = "services: {llm: {image: 'vllm/vllm-openai:v0.27.1', command: [m, --config, missing.yaml]}}"
    launch = servelint.find_launches(text)[0]
    assert launch.folder is None


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_file(text: str, folder: Path) -> None:
    (folder / "serve.yaml").write_text(text)
    assert found(["Qwen/Qwen3-8B", "--config", "serve.yaml"]) == [("vllm/invalid-value", "--config")]
    assert found(["--model-path", "Qwen/Qwen3-8B", "--config", "serve.yaml"], "sglang", "0.5.12") == []
    assert [rule for rule, _ in found(["--config", "serve.yaml"], "sglang", "0.5.12")] == ["sglang/missing-argument"]


@pytest.mark.parametrize(
    "text", ["just text\n", "- port: 9000\n", "port: 1\n---\nport: 2\n", "port: 1\n---\n", "---\n---\nport: 1\n"]
)
@pytest.mark.parametrize(("engine", "version", "model"), [("vllm", "0.27.1", "--model"), ("sglang", "0.5.12", "--model-path")])
def test_a_file_that_is_not_a_mapping(engine: str, version: str, model: str, text: str, folder: Path) -> None:
    (folder / "serve.yaml").write_text(text)
    rules = [rule for rule, _ in found([model, "Qwen/Qwen3-8B", "--config", "serve.yaml"], engine, version)]
    assert rules == [f"{engine}/invalid-value"]
