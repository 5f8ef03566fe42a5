"""The catalog of models: which known model a name stands for."""

from __future__ import annotations

import pytest

from servelint.models import catalog
from servelint.models.architecture import Format, find


@pytest.mark.parametrize(
    ("name", "same", "scheme"),
    [
        ("/mnt/Model/Google/Gemma3_27B_BF16.gguf", "google/gemma-3-27b-it", "gguf"),
        ("qwen3_8b", "Qwen/Qwen3-8B", "none"),
        ("/m/Qwen3_8B_FP8", "Qwen/Qwen3-8B", "fp8"),
        ("/models/llama3.1-8b-instruct", "meta-llama/Llama-3.1-8B-Instruct", "none"),
        ("/data/DeepSeek_R1", "deepseek-ai/DeepSeek-R1", "fp8-block"),
        ("gpt_oss_20b", "openai/gpt-oss-20b", "mxfp4"),
    ],
)
def test_a_name_with_other_separators_stands_for_the_known_model(name: str, same: str, scheme: str) -> None:
    found, known = catalog.lookup(name), catalog.lookup(same)
    assert found is not None
    assert known is not None
    assert (found.hidden, found.layers, found.quantization.scheme) == (known.hidden, known.layers, scheme)


@pytest.mark.parametrize("name", ["llama-38b", "/models/qwen-314b", "qwen314b", "Qwen3-8Bfoo", "qwen3_8b_mine", "llama"])
def test_a_separator_between_numbers_and_a_word_that_is_not_known_count(name: str) -> None:
    assert catalog.lookup(name) is None


@pytest.mark.parametrize(
    ("name", "scheme", "method"),
    [
        ("Qwen/Qwen3-30B-A3B-FP8", "fp8-block", "fp8"),
        ("RedHatAI/Qwen3-30B-A3B-FP8-block", "fp8-block", "compressed-tensors"),
        ("RedHatAI/Qwen3-30B-A3B-FP8-dynamic", "fp8", "compressed-tensors"),
        ("RedHatAI/gemma-4-31B-it-FP8-block", "fp8-block", "compressed-tensors"),
    ],
)
def test_a_name_says_how_fp8_is_scaled(name: str, scheme: str, method: str) -> None:
    found = catalog.lookup(name)
    assert found is not None
    assert (found.quantization.scheme, found.quantization.method) == (scheme, method)


@pytest.mark.parametrize(
    ("name", "method", "kind", "left"),
    [
        ("cyankiwi/Qwen3-8B-AWQ-4bit", "compressed-tensors", Format("int4", 4, 32), False),
        ("cpatonn/Qwen3-30B-A3B-Instruct-2507-AWQ-4bit", "compressed-tensors", Format("int4", 4, 32), False),
        ("cyankiwi/Qwen3.6-35B-A3B-AWQ-4bit", "compressed-tensors", Format("int4", 4, 32, True), True),
        ("cyankiwi/Qwen3.6-27B-AWQ-INT4", "compressed-tensors", Format("int4", 4, 32), False),
        ("cyankiwi/Qwen3.6-27B-AWQ-BF16-INT4", "compressed-tensors", Format("int4", 4, 32, True), True),
        ("QuantTrio/Qwen3.6-35B-A3B-AWQ", "awq", Format("int4", 4, 128, True), False),
        ("Qwen/Qwen3-8B-AWQ", "awq", Format("int4", 4, 128, True), False),
    ],
)
def test_a_publisher_of_awq_has_groups_of_its_own(name: str, method: str, kind: Format, left: bool) -> None:
    found = catalog.lookup(name)
    assert found is not None
    assert (found.quantization.method, found.quantization.formats[-1]) == (method, kind)
    assert ("*linear_attn*" in found.quantization.ignored) is left


@pytest.mark.parametrize(
    ("name", "experts", "scheme"),
    [
        ("cerebras/MiniMax-M2.5-REAP-139B-A10B", 154, "fp8-block"),
        ("lukealonso/MiniMax-M2.5-REAP-139B-A10B-NVFP4", 154, "nvfp4"),
        ("cerebras/GLM-4.6-REAP-218B-A32B-FP8", 96, "fp8"),
        ("cerebras/Qwen3-Coder-REAP-25B-A3B", 103, "none"),
        ("cerebras/Qwen3-Coder-REAP-246B-A35B-FP8", 80, "fp8"),
        ("unsloth/GLM-4.5-Air-REAP-82B-A12B-GGUF", 96, "gguf"),
    ],
)
def test_experts_of_a_pruned_model(name: str, experts: int, scheme: str) -> None:
    found = find(name)
    assert found is not None
    assert found.experts is not None
    assert (found.name, found.experts.count, found.quantization.scheme) == (name, experts, scheme)


@pytest.mark.parametrize("name", ["cerebras/GLM-4.5-Air-REAP-20B", "a/Llama-3.1-8B-Instruct-REAP-6B", "a/Nobody-REAP-10B-A1B"])
def test_what_pruning_does_not_explain(name: str) -> None:
    assert find(name) is None


@pytest.mark.parametrize("name", ["RadixArk/Kimi-K3-DSpark", "RadixArk/Qwen3.8-27B-DSpark", "/models/kimi-k3-dspark"])
def test_a_repository_of_dspark_drafts_is_not_the_model_that_they_are_for(name: str) -> None:
    assert catalog.lookup(name) is None


def test_deepseek_v4_is_published_with_its_dspark_drafts() -> None:
    found, known = catalog.lookup("deepseek-ai/DeepSeek-V4-Flash-DSpark"), catalog.lookup("deepseek-ai/DeepSeek-V4-Flash")
    assert found is not None
    assert known is not None
    assert (found.layers, found.hidden) == (known.layers, known.hidden)
