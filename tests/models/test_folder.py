"""A model's own config.json: what it says, and that it wins over the name where it is here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from servelint import check, check_command
from servelint.core.text import TracedText, unknown
from servelint.models import Fact, Family
from servelint.models.folder import described_files, from_config, open_in, read
from tests.together import together

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "num_attention_heads": 36,
    "num_key_value_heads": 12,
    "hidden_size": 4608,
    "max_position_embeddings": 8192,
}
QWEN35 = {
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "model_type": "qwen3_5_moe",
    "vision_config": {"depth": 27},
    "text_config": {
        "model_type": "qwen3_5_moe_text",
        "num_hidden_layers": 40,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "hidden_size": 2048,
        "num_experts": 256,
        "mtp_num_hidden_layers": 1,
        "max_position_embeddings": 262144,
        "layer_types": ["linear_attention", "full_attention"],
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000000},
    },
}
DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "kv_lora_rank": 512,
    "n_routed_experts": 256,
    "num_nextn_predict_layers": 1,
    "max_position_embeddings": 163840,
    "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096},
    "quantization_config": {"quant_method": "fp8"},
}


@together(
    "config, facts",
    [
        (
            LLAMA,
            {"architecture": "LlamaForCausalLM", "layers": 32, "heads": 36, "kv-heads": 12, "hidden-size": 4608,
             "context": 8192, "moe": False, "mla": False, "multimodal": False, "experts": None, "quantization": None,
             "mtp": None, "hybrid": None},
        ),
        (
            QWEN35,
            {"architecture": "Qwen3_5MoeForConditionalGeneration", "heads": 16, "experts": 256, "moe": True, "mtp": True,
             "hybrid": True, "mixer": "gdn", "multimodal": True, "sliding": False, "context": 262144},
        ),
        (
            DEEPSEEK,
            {"mla": True, "kv-heads": None, "experts": 256, "mtp": True, "context": 163840, "quant-method": "fp8",
             "quantization": "fp8"},
        ),
        ({**LLAMA, "num_key_value_heads": None}, {"kv-heads": 36}),
        ({**LLAMA, "num_local_experts": 1}, {"moe": False}),
        ({**LLAMA, "layer_types": ["sliding_attention", "full_attention"]}, {"sliding": True, "hybrid": False}),
        ({**LLAMA, "architectures": ["A", "B"]}, {"architecture": None}),
        ({**LLAMA, "quantization_config": {"quant_method": "modelopt"}}, {"quant-method": "modelopt", "quantization": None}),
        ({**LLAMA, "quantization_config": {}}, {"quant-method": None}),
        ({**LLAMA, "mtp_num_hidden_layers": 0}, {"mtp": False}),
        ({"num_attention_heads": "36", "max_position_embeddings": True}, {"heads": None, "context": None}),
    ],
)  # fmt: skip
def test_facts(config: dict[str, Any], facts: dict[str, Fact | None]) -> None:
    found = from_config(config)
    assert {key: found.get(key) for key in facts} == facts


@together(
    "scaling, context",
    [
        (None, 8192),
        ({"rope_type": "llama3", "factor": 8.0}, 8192),
        ({"rope_type": "linear", "factor": 4}, 32768),
        ({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, 131072),
        ({"type": "yarn", "factor": 4.0}, 32768),
        ({"rope_type": "longrope", "long_factor": [1.0]}, 8192),
        ({"rope_type": "another"}, None),
        ({"rope_type": "yarn", "factor": "4"}, None),
        ({"full_attention": {"rope_type": "default"}}, None),
        ("yarn", None),
    ],
)
def test_the_longest_context_that_a_release_derives(scaling: object, context: int | None) -> None:
    assert from_config({**LLAMA, "rope_scaling": scaling}).get("context") == context


def folder_of(tmp_path: Path, content: str | bytes, name: str = "Qwen3-8B") -> Path:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "config.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def local(tmp_path: Path, model: str) -> Family | None:
    return read(TracedText.of(model), open_in(str(tmp_path)))


def test_it_wins_over_the_name(tmp_path: Path) -> None:
    folder_of(tmp_path, json.dumps(LLAMA))
    found = local(tmp_path, "./Qwen3-8B/")
    assert found is not None
    assert (found.name, found.facts["heads"], found.tools) == ("LlamaForCausalLM", 36, None)


def test_the_name_adds_what_the_file_does_not_say(tmp_path: Path) -> None:
    folder_of(tmp_path, json.dumps({**LLAMA, "architectures": ["Qwen3ForCausalLM"]}))
    found = local(tmp_path, "Qwen3-8B")
    assert found is not None
    assert (found.name, found.size, found.tools, found.transformers) == ("qwen3", "8b", "hermes", "4.51.0")
    assert found.facts["heads"] == 36


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "{", '{"architectures": []}', b"\xff", "[" * 100_000, " " * (1 << 20) + "{}"]
)
def test_a_file_that_says_nothing(content: str | bytes, tmp_path: Path) -> None:
    folder_of(tmp_path, content)
    assert local(tmp_path, "Qwen3-8B") is None


def test_a_folder_that_is_not_here(tmp_path: Path) -> None:
    assert local(tmp_path, "Qwen3-8B") is None
    assert local(tmp_path, "") is None
    assert read(TracedText((unknown("${MODEL}", None),)), open_in(str(tmp_path))) is None
    (tmp_path / "config.json").mkdir()
    assert local(tmp_path, ".") is None


def test_a_command_that_is_judged_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of(tmp_path, json.dumps(LLAMA))
    monkeypatch.chdir(tmp_path)
    argv = ["./Qwen3-8B", "--tensor-parallel-size", "12"]
    assert [finding.rule for finding in check_command("vllm", argv, version="0.33.0")] == []
    assert "vllm/heads-not-divisible" in [one.rule for one in check_command("vllm", [*argv[:-1], "5"], version="0.33.0")]


@pytest.mark.parametrize(
    "script",
    [
        "pip install vllm==0.33.0\nvllm serve ./model --tensor-parallel-size 5\n",
        "docker run -v ./model:/models/house vllm/vllm-openai:v0.33.0 --model /models/house --tensor-parallel-size 5\n",
    ],
)
def test_a_folder_beside_a_script(script: str, tmp_path: Path) -> None:
    folder_of(tmp_path, json.dumps(LLAMA), "model")
    (tmp_path / "run.sh").write_text(script)
    assert "vllm/heads-not-divisible" in [finding.rule for finding in check([str(tmp_path / "run.sh")]).findings]


def test_in_a_folder_that_a_service_mounts(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 4096}
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    (tmp_path / "compose.yml").write_text(
        "services:\n  llm:\n    image: vllm/vllm-openai:v0.27.1\n    gpus: all\n    volumes: ['./model:/models/m']\n"
        "    command: --model /models/m --max-model-len 8192\n"
    )
    assert [one.rule for one in check([str(tmp_path / "compose.yml")]).findings] == ["vllm/model-len-above-model"]


@pytest.mark.parametrize(
    ("models", "problem"),
    [
        ({"a/b": {"config": {}}}, None),
        ({"a/b": {"config": {}, "bytes": 7}}, None),
        ({"a/b": {"config": []}}, "a/b"),
        ({"a/b": {"config": {}, "bytes": "7"}}, "a/b"),
        ({"a/b": 3}, "a/b"),
        ([], "an object with"),
    ],
)
def test_a_models_file(models: object, problem: str | None) -> None:
    text = json.dumps({"servelint-models": 1, "models": models})
    if problem is not None:
        with pytest.raises(ValueError, match=problem):
            described_files(text)
        return
    found = described_files(text)
    assert found["a/b/config.json"] == "{}"
    size = {"metadata": {"total_size": 7}}
    assert [json.loads(found[name]) for name in found if name != "a/b/config.json"] == ([size] if "7" in text else [])
