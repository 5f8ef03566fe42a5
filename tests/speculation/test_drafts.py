"""Which models draft with layers of their own, and from which release on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from servelint.engines.releases import known_releases
from servelint.speculation.drafts import OwnDrafts, first_release, own_drafts, refusal

MINIMAX = OwnDrafts("MiniMaxM2ForCausalLM", True, frozenset({"minimax_m2"}))
DEEPSEEK = OwnDrafts("DeepseekV3ForCausalLM", True, frozenset({"deepseek_v3"}))


@pytest.mark.parametrize(
    ("model", "architecture", "layers", "kind"),
    [
        ("Qwen/Qwen3-8B", "Qwen3ForCausalLM", False, "qwen3"),
        ("deepseek-ai/DeepSeek-V3", "DeepseekV3ForCausalLM", True, "deepseek_v3"),
        ("moonshotai/Kimi-K2-Instruct", "DeepseekV3ForCausalLM", False, "kimi_k2"),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "Qwen3NextForCausalLM", True, "qwen3_next"),
        ("XiaomiMiMo/MiMo-V2-Flash", "MiMoV2FlashForCausalLM", True, "mimo_v2_flash"),  # whose config.json has no number
        ("MiniMaxAI/MiniMax-M2", "MiniMaxM2ForCausalLM", True, "minimax_m2"),
    ],
)
def test_the_layers_of_a_model(model: str, architecture: str, layers: bool, kind: str) -> None:
    found = own_drafts(model)
    assert (found.architecture, found.layers) == (architecture, layers)
    assert kind in found.types


def test_a_model_that_nobody_knows() -> None:
    assert own_drafts("house/none") == OwnDrafts("", None)


@pytest.mark.parametrize("count", [0, 1])
def test_a_folder(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {
        "architectures": ["Glm4MoeForCausalLM"], "model_type": "glm4_moe", "num_hidden_layers": 46, "hidden_size": 4096,
        "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 10944, "vocab_size": 151552,
        "moe_intermediate_size": 1408, "n_routed_experts": 128, "num_experts_per_tok": 8, "first_k_dense_replace": 1,
        "n_shared_experts": 1, "num_nextn_predict_layers": count, "torch_dtype": "bfloat16",
    }  # fmt: skip
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "config.json").write_text(json.dumps(config))
    monkeypatch.chdir(tmp_path)
    assert own_drafts("./here") == OwnDrafts("Glm4MoeForCausalLM", bool(count), frozenset({"glm4_moe"}))


def test_the_first_release_that_has_the_model_and_drafts() -> None:
    assert first_release("vllm", DEEPSEEK) == "0.7.3"
    assert first_release("sglang", DEEPSEEK) == "0.4.3.post1"
    assert first_release("vllm", OwnDrafts("", True, frozenset({"deepseek_v3"}))) == first_release("vllm", DEEPSEEK)
    assert first_release("vllm", MINIMAX) is None
    assert first_release("llama.cpp", DEEPSEEK) is None


@pytest.mark.parametrize(
    ("engine", "release", "own", "reason", "source"),
    [
        (
            "vllm", "0.7.0", DEEPSEEK,
            "vLLM 0.7.0 does not draft with the layers of DeepseekV3ForCausalLM; use vLLM 0.7.3 or later",
            "vllm-0.7.3 vllm/config/speculative.py",
        ),
        (
            "vllm", "0.33.0", MINIMAX,
            "no release of vLLM that is known drafts with the layers of MiniMaxM2ForCausalLM; serve it without drafts",
            f"vllm-{known_releases('vllm')[-1]} vllm/config/speculative.py",
        ),
        (
            "vllm", "0.33.0", OwnDrafts("Qwen3ForCausalLM", False),
            "x/m has no layer for multi-token prediction; name a draft that was made for it, or serve it without", "",
        ),
    ],
)  # fmt: skip
def test_why_a_release_cannot_draft(engine: str, release: str, own: OwnDrafts, reason: str, source: str) -> None:
    assert refusal(engine, release, "x/m", own) == (reason, source)


@pytest.mark.parametrize(
    ("engine", "release", "own"),
    [
        ("vllm", "0.7.3", DEEPSEEK),
        ("vllm", "0.33.0", DEEPSEEK),
        ("vllm", "main", DEEPSEEK),
        ("vllm", "0.33.0", OwnDrafts("", None)),
        ("vllm", "0.33.0", OwnDrafts("", True)),
        ("llama.cpp", "b9000", DEEPSEEK),
    ],
)
def test_no_refusal_where_it_can_or_nobody_knows(engine: str, release: str, own: OwnDrafts) -> None:
    assert refusal(engine, release, "x/m", own) is None
