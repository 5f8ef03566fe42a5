"""Model families: what is known of a model by its name alone."""

from __future__ import annotations

import json
import re
from importlib import resources

import pytest

from servelint.engines.releases import known_releases
from servelint.models import Family, identify
from servelint.text import Text, unknown


def family(name: str) -> Family | None:
    return identify(Text.of(name))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "qwen3-next"),
        ("/models/qwen3_next-80b", "qwen3-next"),
        ("Qwen/Qwen3.5-27B", "qwen3.5"),
        ("Qwen/Qwen3.6-35B-A3B-FP8", "qwen3.5"),
        ("Qwen/Qwen3.8-27B", "qwen3.5"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron-h"),
        ("Qwen/Qwen3-30B-A3B", "qwen3-moe"),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3-moe"),
        ("Qwen/Qwen3-8B", "qwen3"),
        ("Qwen/Qwen3-0.6B-FP8", "qwen3"),
        ("Qwen/Qwen2.5-Coder-7B-Instruct", "qwen2.5"),
        ("meta-llama/Meta-Llama-3.1-8B", "llama-3"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3"),
        ("openai/gpt-oss-120b", "gpt-oss"),
        ("mistralai/Mixtral-8x7B-v0.1", "mixtral"),
        ("zai-org/GLM-4.6-FP8", "glm-4.5"),
        ("moonshotai/Kimi-K2-Instruct", "kimi-k2"),
        ("deepseek-ai/DeepSeek-V3-0324", "deepseek-v3"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-v3"),
        ("/data/Models/Qwen3-8B/", "qwen3"),
    ],
)
def test_a_family_is_known_by_the_last_part_of_the_name(model: str, name: str) -> None:
    found = family(model)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "model",
    [
        "",
        "/",
        "house/my-model",
        "Qwen/model",
        "qwen3-8b-parent/model",
        "Qwen/Qwen3-Embedding-8B",
        "Qwen/Qwen3-Reranker-4B",
        "Qwen/Qwen3-Omni-30B-A3B-Instruct",
        "AngelSlim/Qwen3-8B_eagle3",
        "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B",
        "meta-llama/Llama-Guard-3-8B",
        "Qwen/Qwen3.7-Max",
        "zai-org/GLM-4.5V",
        "zai-org/GLM-4.7-Flash",
    ],
)
def test_a_name_that_says_nothing(model: str) -> None:
    assert family(model) is None


def test_a_name_that_is_not_known_as_a_whole() -> None:
    hole = unknown("${SIZE}", None)
    assert identify(Text([*Text.of("Qwen/Qwen3-").pieces, hole])) is None
    assert identify(Text([hole, *Text.of("/Qwen3-8B").pieces])) is not None


@pytest.mark.parametrize(
    ("model", "facts"),
    [
        ("Qwen/Qwen3.6-27B", {"architecture": "Qwen3_5ForConditionalGeneration", "hybrid": True, "mixer": "gdn", "mtp": True}),
        ("Qwen/Qwen3-8B", {"architecture": "Qwen3ForCausalLM", "hybrid": False, "mtp": False}),
        ("nvidia/Nemotron-H-8B-Base-8K", {"architecture": "NemotronHForCausalLM", "hybrid": True, "mixer": "mamba2"}),
    ],
)
def test_facts(model: str, facts: dict[str, str | bool]) -> None:
    found = family(model)
    assert found is not None
    assert found.facts == facts


class TestTable:
    DATA = json.loads((resources.files("servelint.models") / "families.json").read_text())

    @pytest.mark.parametrize("entry", DATA["families"], ids=lambda entry: entry["name"])
    def test_every_family_has_a_source_and_releases_that_exist(self, entry: dict[str, object]) -> None:
        assert entry["source"]
        assert isinstance(entry["architecture"], str)
        assert isinstance(entry["hybrid"], bool)
        since = entry.get("since", {})
        assert isinstance(since, dict)
        for engine, release in since.items():
            assert release in known_releases(engine)
        assert (entry["hybrid"] is True) == ("mixer" in entry)

    def test_patterns_are_in_lower_case(self) -> None:
        # names are compared in lower case
        for pattern in [self.DATA["not"], *[entry["match"] for entry in self.DATA["families"]]]:
            assert pattern == pattern.lower()
            re.compile(pattern)
