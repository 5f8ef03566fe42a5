"""The registry of operands: what is computed is registered, what is registered can be asked for, and the page lists it all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from servelint import hardware, models
from servelint.cli import main
from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import configs, facts_of
from servelint.engines.operands import fault, registered
from servelint.models.catalog import known_names
from servelint.models.folder import from_config
from servelint.rules.load import rules
from tests.launching import launch_in
from tools import pages

ROOT = Path(__file__).parent.parent.parent
TYPES: dict[str, Any] = {"bool": bool, "number": (int, float), "text": str}


def families() -> list[models.Family]:
    found = [models.identify(TracedText.of(name)) for name in known_names()]
    return [family for family in found if family is not None]


def test_every_fact_of_a_model_is_registered_with_its_type() -> None:
    known = families()
    assert len(known) > 200
    for family in known:
        for name, fact in family.facts.items():
            assert isinstance(fact, TYPES[models.FACTS[name][0]]), (family.name, name)
            assert family.fact(name) == fact


def test_every_fact_of_a_config_is_registered() -> None:
    config = {
        "architectures": ["A"], "model_type": "a", "vocab_size": 8, "sliding_window": 4, "num_hidden_layers": 2,
        "hidden_size": 4, "num_attention_heads": 2, "num_key_value_heads": 1, "num_experts": 4, "mtp_num_hidden_layers": 1,
        "max_position_embeddings": 16, "layer_types": ["linear_attention"], "quantization_config": {"quant_method": "fp8"},
    }  # fmt: skip
    facts = from_config(config)
    assert (
        {"type", "text-type", "vocabulary", "window", "mtp-layers", "context", "quant-method"}
        <= set(facts)
        <= set(models.FACTS)
    )


def test_every_fact_of_a_gpu_is_registered_with_its_type() -> None:
    for name in hardware.names():
        gpu = hardware.identify(name)
        assert gpu is not None
        for fact, value in gpu.facts.items():
            assert isinstance(value, TYPES[hardware.FACTS[fact][0]]), (name, fact)


def test_every_setting_of_a_container_is_registered() -> None:
    compose = """
    services:
      a:
        image: vllm/vllm-openai:v0.27.1
        command: m
        ipc: host
        shm_size: 1g
        runtime: nvidia
        privileged: true
    """
    container = launch_in(compose).container
    assert container is not None
    assert {f"container.{name}" for name in (*container.settings, "image")} <= {one.name for one in registered()}


def test_what_is_registered_can_be_asked_for() -> None:
    for one in registered():
        if not one.name.isupper() and "NAME" not in one.name and "OPTION" not in one.name:
            for engine in ENGINE_NAMES:
                assert (fault(engine, one.name) is None) is (engine in one.engines), (engine, one.name)


@pytest.mark.parametrize("name", ["model.colour", "gpu.", "effective.no-such", "container.", "draft.colour", "env.", "no-such"])
def test_what_is_not_registered_cannot(name: str) -> None:
    assert fault("vllm", name) is not None


@pytest.mark.parametrize(
    ("engine", "name"), [("llama.cpp", "effective.speculation"), ("llama.cpp", "draft.context"), ("vllm", "effective.tp-size")]
)
def test_what_another_engine_has_cannot(engine: str, name: str) -> None:
    assert fault(engine, name) is not None


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_facts_have_the_type_that_they_say(engine: str) -> None:
    command = "vllm serve" if engine == "vllm" else "python -m sglang.launch_server --model-path"
    words = ["Qwen/Qwen3.6-27B-FP8", "Qwen/Qwen3-8B --tp 2 --enable-prefix-caching", "$MODEL $MORE"]
    for text in (f"{command} {one}" for one in words):
        for release in ("0.5.23",) if engine == "sglang" else ("0.19.1", "0.33.0"):
            (config,) = configs(launch_in(text, "run.sh"), [release])
            for name, fact in facts_of(engine).items():
                value = config.operand(f"effective.{name}").value
                assert value is None or isinstance(value, TYPES[fact.type]), (name, value)


def test_the_book_asks_only_for_what_is_registered() -> None:
    known = {one.name for one in registered()}
    asked = {name for rule in rules() for name in rule.at if name.startswith(("model.", "draft.", "gpu.", "effective."))}
    assert asked
    assert asked <= known


def test_the_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / pages.OPERANDS).read_text(encoding="utf-8")
    assert written == pages.operands(), "run: python tools/pages.py docs/rules"
    assert all(f"| `{one.name}` |" in written for one in registered())


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--operands", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed == [
        {"name": one.name, "type": one.type, "meaning": one.meaning, "engines": list(one.engines)} for one in registered()
    ]
    assert main(["rules", "--operands"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(listed)
    assert any(line.startswith("gpu.capability ") for line in lines)
