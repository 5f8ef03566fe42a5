"""Names as people write them beside what they measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from servelint.speculation.cases import Case, accepted_of, gpus_of, method_of, model_of
from tests.together import together


@together(
    "name, gpu, count",
    [
        ("GB10", "gb10", 1),
        ("H100 x4 (TP4)", "h100", 4),
        ("GB200 TP4", "gb200", 4),
        ("2x L40S", "l40s", 2),
        ("NVIDIA H100 80GB HBM3", "h100-80gb", 1),
        ("TP16", None, 16),
        ("tp-2 (x8) H100", "h100", 8),
        ("H100x4", None, 1),
        ("", None, 1),
        ("Radeon gfx1151", None, 1),
    ],
)
def test_gpus(name: str, gpu: str | None, count: int) -> None:
    found, many = gpus_of(name)
    assert ((found.name if found is not None else None), many) == (gpu, count)


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct (BF16)", 32),
        ("Qwen3.6-27B IQ4_XS", 64),
        ("Qwen/Qwen3-8B", 36),
        ("nobody/nothing", None),
    ],
)
def test_models(name: str, layers: int | None) -> None:
    found = model_of(name)
    assert (found.layers if found is not None else None) == layers


@together(
    "name, kind",
    [
        ("mtp", "mtp"),
        ("qwen3_next_mtp", "mtp"),
        ("NEXTN", "mtp"),
        ("eagle/mtp", "mtp"),
        ("EAGLE3", "eagle"),
        ("dflash", "block"),
        ("ngram", "lookup"),
        ("suffix", "lookup"),
        ("prompt_lookup", "lookup"),
        ("draft_model", "draft-model"),
        ("classic", "draft-model"),
        ("STANDALONE", "draft-model"),
        ("medusa", "medusa"),
        ("mlp_speculator", "medusa"),
        ("phoenix", "eagle"),
        (" dspark ", "block"),
        ("telepathy", None),
    ],
)
def test_methods(name: str, kind: str | None) -> None:
    assert method_of(name) == kind


def test_a_gguf_of_any_type_has_the_size_of_its_weights() -> None:
    kinds = ("-Q4_K_M.gguf", " IQ4_XS", "-GGUF:UD-Q4_K_XL", "-GGUF")
    found = [model_of(f"Qwen3.6-27B{kind}") for kind in kinds]
    assert [one and one.quantization.formats[-1].bits for one in found] == [4.8944, 4.4597, 4.8944, 4.8944]


def test_a_model_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    config = {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 7, "hidden_size": 256,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 512, "vocab_size": 1000,
    }  # fmt: skip
    (tmp_path / "m" / "config.json").write_text(json.dumps(config))
    found = model_of("./m", str(tmp_path))
    assert found is not None
    assert found.layers == 7
    assert model_of("./m") is None
    assert Case("vllm", "mtp", "./m", folder=str(tmp_path)).architecture == found
    known = model_of("Qwen/Qwen3-8B", str(tmp_path))  # a name, though there is a folder to look in
    assert known is not None
    assert known.layers == 36


@pytest.mark.parametrize(
    ("method", "tokens", "drafted", "length"),
    [
        ("mtp", None, 2, 1 + 0.82 * (1 + 0.75)),
        ("eagle", None, 3, 1 + 0.58 * (1 + 0.68 + 0.68**2)),
        ("block", None, 15, 1 + 0.8 * sum(0.8**n for n in range(15))),
        ("lookup", None, 3, 1 + 0.5 * (1 + 0.7 + 0.49)),
        ("mtp", 1, 1, 1.82),
        ("eagle", 2, 2, 1 + 0.58 * 1.68),
    ],
)
def test_what_is_drafted_and_accepted_by_default(method: str, tokens: int | None, drafted: int, length: float) -> None:
    case = Case("vllm", method, tokens=tokens)
    assert case.drafted == drafted
    assert case.length == pytest.approx(length)
    assert Case("vllm", method, tokens=tokens, accepted=1.5).length == 1.5


def test_the_context_of_a_request_half_way() -> None:
    assert Case("vllm", "mtp").context == 512 + 128
    assert Case("vllm", "mtp", input=100, output=50).context == 125
    assert (Case("vllm", "mtp").gpus, Case("vllm", "mtp").architecture) == ((None, 1), None)


@together(
    "acceptance, tokens, length",
    [
        (None, 2, None),
        ({}, 2, None),
        ({"length": 2.5, "rate": 0.1}, 2, 2.5),
        ({"per_pos": [0.8, "0.5"], "rate": 0.1}, 2, 2.3),
        ({"per_pos": [0.33333, 0.33333]}, 2, 1.6667),
        ({"rate": 0.5}, 3, 2.5),
        ({"rate": 0}, 3, 1.0),
        (0.5, 2, 2.0),
        (1, 2, 3.0),
    ],
)
def test_the_acceptance_length(acceptance: dict[str, object] | float | None, tokens: int, length: float | None) -> None:
    assert accepted_of(acceptance, tokens) == (pytest.approx(length) if length is not None else None)
