"""Contexts that a launch extends through the checkpoint's config: the lengths that the engines derived, run."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

import servelint
from servelint.engines.config import configs
from tests.judging import fields

ORIGINAL = {"factor": 4.0, "original_max_position_embeddings": 65536}

LINEAR = {"rope_type": "linear", "factor": 2.0}


def longest(engine: str, release: str, model: str, overrides: dict[str, Any]) -> int | None:
    """The longest context for which nothing is reported, None if any is."""
    option, length = {
        "vllm": ("--hf-overrides", "--max-model-len"),
        "sglang": ("--json-model-override-args", "--context-length"),
    }[engine]
    rule = f"{engine}/overridden-context-too-short"
    start = [model] if engine == "vllm" else ["--model-path", model]
    low, high = 1, 90_000_000
    while low < high:
        middle = (low + high + 1) // 2
        argv = [*start, option, json.dumps(overrides), length, str(middle)]
        found = {one.rule for one in servelint.check_command(engine, argv, version=release)}
        low, high = (low, middle - 1) if rule in found else (middle, high)
    return low if low < 90_000_000 else None


@pytest.mark.parametrize(
    ("release", "model", "overrides", "length"),
    [
        ("0.17.1", "Qwen/Qwen3-8B", {"rope_scaling": {"rope_type": "yarn", **ORIGINAL}}, 40960),
        ("0.17.1", "Qwen/Qwen3-8B", {"rope_parameters": {"rope_type": "yarn", **ORIGINAL}}, 262144),
        ("0.19.1", "Qwen/Qwen3-8B", {"rope_scaling": {"rope_type": "linear", **ORIGINAL}}, 163840),
        ("0.25.1", "Qwen/Qwen3.6-27B", {"max_position_embeddings": 300000}, 262144),
        ("0.25.1", "Qwen/Qwen3.6-27B", {"text_config": {"max_position_embeddings": 300000}}, 300000),
        ("0.25.1", "openai/gpt-oss-20b", {"max_position_embeddings": 300000}, 131072),
        ("0.33.0", "openai/gpt-oss-20b", {"max_position_embeddings": 300000}, 300000),
        ("0.33.0", "Qwen/Qwen3-8B", {"rope_parameters": LINEAR, "max_position_embeddings": 9000}, 18000),
        ("0.33.0", "Qwen/Qwen3-8B", {"model_max_length": 4}, None),
        ("0.33.0", "some/unknown-model", {"max_position_embeddings": 300000}, None),
    ],
)  # fmt: skip
def test_vllm(release: str, model: str, overrides: dict[str, Any], length: int | None) -> None:
    assert longest("vllm", release, model, overrides) == length


@pytest.mark.parametrize(
    ("release", "model", "overrides", "length"),
    [
        ("0.5.3", "Qwen/Qwen3-8B", {"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}, 40960),
        ("0.5.12", "Qwen/Qwen3-8B", {"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}, 163840),
        ("0.5.12", "Qwen/Qwen3-8B", {"rope_parameters": {"rope_type": "yarn", **ORIGINAL}}, 40960),
        ("0.5.23", "Qwen/Qwen3.6-27B", {"max_position_embeddings": 300000}, 262144),
        ("0.5.23", "Qwen/Qwen3.6-27B", {"text_config": {"max_position_embeddings": 300000}}, 300000),
        ("0.5.23", "Qwen/Qwen3-8B", {"max_position_embeddings": 300000}, 300000),
        ("0.5.23", "Qwen/Qwen3-8B", {"max_position_embeddings": 9000}, 9000),
        ("0.5.23", "google/gemma-3-27b-it", {"text_config": {"max_position_embeddings": 9000}}, 131072),
        ("0.5.15", "Qwen/Qwen3-8B", {"rope_scaling": 0}, 40960),
        ("0.5.15", "Qwen/Qwen3-8B", {"rope_scaling": {"rope_type": "yarn", **ORIGINAL}, "max_position_embeddings": 9000}, 9000),
        ("0.5.23", "Qwen/Qwen3-VL-8B-Instruct", {"text_config": {"max_position_embeddings": 9000}}, 9000),
        ("0.5.7", "Qwen/Qwen2.5-VL-7B-Instruct", {"max_position_embeddings": 163840}, 163840),
        ("0.5.7", "Qwen/Qwen2.5-VL-7B-Instruct", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, 128000),
    ],
)
def test_sglang(release: str, model: str, overrides: dict[str, Any], length: int | None) -> None:
    assert longest("sglang", release, model, overrides) == length


@pytest.mark.parametrize(
    ("model", "overrides", "value"),
    [
        ("Qwen/Qwen3-8B", {"max_position_embeddings": "131072"}, '"131072"'),
        ("Qwen/Qwen3-8B", {"max_position_embeddings": [131072]}, "[131072]"),
        ("Qwen/Qwen3-8B", {"max_position_embeddings": 131072}, None),
        ("Qwen/Qwen3-8B", {"max_position_embeddings": None}, None),
        ("Qwen/Qwen3-8B", {"text_config": {"max_position_embeddings": "131072"}}, None),
        ("google/gemma-3-27b-it", {"text_config": {"max_position_embeddings": "131072"}}, '"131072"'),
        ("google/gemma-3-27b-it", {"max_position_embeddings": "131072"}, None),
        ("house/some-model", {"max_position_embeddings": "131072"}, None),
    ],
)
def test_a_length_of_another_type(model: str, overrides: dict[str, Any], value: str | None) -> None:
    """vLLM 0.12.0, 0.18.0 and 0.33.0 refuse it where they read the length: in text_config for a multimodal model."""
    command = shlex.join(["vllm", "serve", model, "--hf-overrides", json.dumps(overrides)])
    launch = servelint.find_launches(f"{command}\n", filename="run.sh")[0]
    found = fields("vllm/overridden-context-is-no-number", configs(launch, ["0.33.0"])[0])
    assert (found["value"] if found is not None else None) == value
