"""Layers with equal weights are weighed once and checkpoints' lists are read once: the result is that of one by one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.models import catalog, weights
from servelint.models.architecture import Format, Quantization, find
from servelint.models.matrices import Matrix, matrices
from servelint.models.quantization import GGUF_BITS, Formats, Patterns, format_of, quantization_of, tensors
from tests.together import together

MODELS = [
    "Qwen/Qwen3-8B",
    "openai/gpt-oss-120b",
    "google/gemma-4-E2B-it",
    "nvidia/Qwen3.6-35B-A3B-NVFP4",
    "nvidia/GLM-5.2-NVFP4",
    "nvidia/MiniMax-M3-NVFP4",
    "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4",
    "deepseek-ai/DeepSeek-V4-Pro",
    "zai-org/GLM-5.2-FP8",
    "moonshotai/Kimi-K3",
]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("how", [{"tensor": 8}, {"tensor": 2, "pipeline": 3}, {"engine": "sglang", "mtp": True}])
def test_weighed_as_if_every_layer_was_looked_at(name: str, how: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    model = find(name)
    assert model is not None
    found = weights.weigh(model, **how)
    monkeypatch.setattr(weights, "representatives", lambda model, formats: list(range(model.layers)))
    weights.weigh.cache_clear()
    one_by_one = weights.weigh(model, **how)
    weights.weigh.cache_clear()
    assert found is not None
    assert one_by_one is not None
    assert (found.parts, found.mtp, found.embedding, found.head) == (
        one_by_one.parts,
        one_by_one.mtp,
        one_by_one.embedding,
        one_by_one.head,
    )
    assert (found.low, found.high) == pytest.approx((one_by_one.low, one_by_one.high))


def test_few_layers_of_a_hundred_differ() -> None:
    model = find("nvidia/GLM-5.2-NVFP4")
    assert model is not None
    assert len(set(weights.representatives(model, Formats(model.quantization)))) < 10 < model.layers


def test_each_module_of_a_layer_has_the_format_of_its_like() -> None:
    """In every checkpoint that is known with a list of modules."""
    several = 0
    for name in catalog.known_names():
        model = catalog.lookup(name)
        if model is None or not (model.quantization.ignored or any(one.targets for one in model.quantization.formats)):
            continue
        formats = Formats(model.quantization)
        stands_for = weights.representatives(model, formats)
        by_layer: dict[int, list[tuple[str, Format]]] = {}
        for module in matrices(model):
            if module.layer >= 0 and module.name.startswith("layers."):
                by_layer.setdefault(module.layer, []).append((module.name.split(".", 2)[2], formats.of(module)))
        several += 1
        assert all(by_layer[index] == by_layer[first] for index, first in enumerate(stands_for)), name
    assert several > 20


@together(
    "pattern, named, not_named",
    [
        ("re:(?!.*mtp).*layers\\.(0|78).*", ["layers.0.mlp.gate", "layers.78.eh_proj"], ["layers.7.mlp", "mtp.layers.0.fc"]),
        ("re:(?!.*mtp).*layers\\.(1|2)\\.mlp\\.gate", ["layers.2.mlp.gate_proj"], ["layers.12.mlp.gate", "layers.1.self_attn"]),
        ("re:(?!.*mtp).*layers\\.(3)\\.self_attn.*", ["layers.3.self_attn.o_proj"], ["layers.4.self_attn.o_proj"]),
        ("re:(?!.*mtp).*layers\\.(3)\\.(", [], ["layers.3.self_attn.o_proj"]),
        ("layers.4", ["layers.4.mlp.gate", "mtp.layers.4.fc"], ["layers.40.mlp.gate"]),
        ("model.layers.4.mlp.*_proj", ["layers.4.mlp.up_proj"], ["layers.4.mlp.gate", "layers.5.mlp.up_proj"]),
        ("layers.?.mlp", ["layers.4.mlp.gate"], ["layers.40.mlp.gate"]),
        ("4.mlp", ["layers.4.mlp.gate"], ["layers.40.mlp.gate", "layers.4.self_attn.q_proj"]),
        ("experts.0.gate_proj", ["layers.4.mlp.experts.gate_up_proj"], ["layers.4.mlp.experts.down_proj"]),
    ],
)
def test_what_a_pattern_names(pattern: str, named: list[str], not_named: list[str]) -> None:
    found = Patterns((pattern,))
    assert [name for name in (*named, *not_named) if found.names(name)] == named


_LISTED = st.builds(
    "".join,
    st.lists(
        st.sampled_from(["layers.", "1", "2", "12", ".", "*", "?", "mlp", "self_attn", ".q_proj", "gate", "model.", "mtp."]),
        min_size=1,
        max_size=7,
    ),
)


@settings(deadline=None)
@given(st.lists(_LISTED, min_size=1, max_size=4))
def test_two_layers_of_which_a_list_says_the_same(listed: list[str]) -> None:
    """... have the same modules in it; and what it names is what its names say, read plainly."""
    found = Patterns(tuple(listed))
    tails = (".mlp.gate", ".self_attn.q_proj", ".mlp.up_proj")
    said = {index: found.of_layer(index, tails) for index in (0, 1, 2, 11, 12, 21)}
    named = {index: [found.names(f"layers.{index}{tail}") for tail in tails] for index in said}
    for one in said:
        for other in said:
            assert said[one] != said[other] or named[one] == named[other]
        for tail, yes in zip(tails, named[one], strict=True):
            assert yes is any(_plainly(text, f"layers.{one}{tail}") for text in listed)


def _plainly(text: str, name: str) -> bool:
    start = text.find("layers.")
    if start >= 0 and not text.startswith("mtp"):
        text = text[start:]
    text = text.removeprefix("model.")
    body = re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")
    return len(re.findall(r"[*+{]", text)) <= 4 and re.search(rf"(?:^|\.)(?:{body})(?:\.|$)", name) is not None


def test_a_format_is_told_one_by_one_as_well() -> None:
    quantization = Quantization("modelopt", (Format("fp8", 8, targets=("*self_attn*",)), Format("nvfp4", 4, 16)), ("lm_head",))
    found = [
        format_of(Matrix(0, name, "", 64, 64), quantization).scheme for name in ("layers.0.self_attn.q_proj", "layers.0.up")
    ]
    assert found == ["fp8", "nvfp4"]


def test_a_model_is_found_in_the_table_by_its_name() -> None:
    config = catalog.config_of("qwen/qwen3-8b")
    assert config is not None
    assert (config["model_type"], config["num_hidden_layers"]) == ("qwen3", 36)
    assert catalog.config_of("someone/never-heard-of") is None
    assert len(catalog.known_names()) == len(set(catalog.known_names())) > 600


@together(
    "config, kind",
    [
        ({"quant_method": "fbgemm_fp8"}, Format("fp8", 8)),
        ({"quant_method": "ptpc_fp8"}, Format("fp8", 8)),
        ({"quant_method": "mxfp4"}, Format("mxfp4", 4, 32)),
        ({"quant_method": "gpt_oss_mxfp4"}, Format("mxfp4", 4, 32)),
        ({"quant_method": "mxfp8"}, Format("mxfp8", 8, 32)),
        ({"quant_method": "experts_int8"}, Format("int8", 8)),
        ({"quant_method": "fp8"}, Format("fp8", 8)),
        ({"quant_method": "fp8", "weight_block_size": [128, 64]}, Format("fp8-block", 8, 64)),
        ({"quant_method": "awq", "bits": 4, "group_size": 64}, Format("int4", 4, 64)),
        ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64, "zero_point": True}, Format("int4", 4, 64, True)),
        ({"quant_method": "gptq", "bits": 3}, Format("int", 3, 128, True)),
        ({"quant_method": "gptq", "bits": 2, "group_size": -1, "sym": False}, Format("int", 2, 0, True)),
        ({"quant_method": "gptq", "bits": 8, "group_size": 32}, Format("int8", 8, 32, True)),
        (
            {"quant_method": "auto-round", "bits": 4, "packing_format": "auto_round:auto_awq"},
            Format("int4", 4, 128),
        ),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, Format("bnb4", 4, 64)),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, Format("bnb8", 8)),
        ({"quant_algo": "FP8"}, Format("fp8", 8)),
        ({"quant_algo": "FP8_PER_CHANNEL_PER_TOKEN"}, Format("fp8", 8)),
        ({"quant_algo": "FP8_PB_WO"}, Format("fp8-block", 8, 128)),
        *[({"quant_algo": name}, Format("nvfp4", 4, 16)) for name in ("NVFP4", "NVFP4_AWQ", "NVFP4_SVD", "W4A16_NVFP4")],
        ({"quant_algo": "W4A8_NVFP4_FP8"}, Format("nvfp4", 4, 16)),
        ({"quant_algo": "MXFP8"}, Format("mxfp8", 8, 32)),
        ({"quant_algo": "MXFP4"}, Format("mxfp4", 4, 32)),
        ({"quant_algo": "W4A8_MXFP4_FP8"}, Format("mxfp4", 4, 32)),
        ({"quant_algo": "W4A16_AWQ", "group_size": 64}, Format("int4", 4, 64)),
        ({"quant_algo": "W4A8_AWQ"}, Format("int4", 4, 128)),
    ],
)
def test_the_format_that_a_config_names(config: dict[str, object], kind: Format) -> None:
    found = quantization_of({"quantization_config": config}, {})
    assert found is not None
    assert found.formats == (kind,)


@pytest.mark.parametrize(
    "key", ["ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers", "llm_int8_skip_modules"]
)
def test_the_modules_that_each_method_leaves_out(key: str) -> None:
    found = quantization_of({"quantization_config": {"quant_method": "fp8", key: ["lm_head"]}}, {})
    assert found is not None
    assert found.ignored == ("lm_head",)


def test_the_layers_of_a_mixed_checkpoint_of_modelopt() -> None:
    layers = {"a": {"quant_algo": "FP8"}, "b": {"quant_algo": "NVFP4"}, "c": {"quant_algo": "NVFP4"}}
    found = quantization_of({"quantization_config": {"quant_method": "modelopt", "quantized_layers": layers}}, {})
    assert found is not None
    assert found.formats == (Format("fp8", 8, targets=("a",)), Format("nvfp4", 4, 16, targets=("b", "c")))


def test_a_hf_quant_config_is_modelopt_s() -> None:
    config = {"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    assert quantization_of({"quantization_config": config}, {}) == Quantization(
        "modelopt", (Format("nvfp4", 4, 16),), ("lm_head",), "fp8"
    )


def test_experts_in_fp4_beside_fp8() -> None:
    """DeepSeek V4: its config.json names FP8 in blocks, and the dtype of the experts apart."""
    config = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
    plain, experts = quantization_of(config, {"expert_dtype": "bf16"}), quantization_of(config, {"expert_dtype": "fp4"})
    assert plain is not None
    assert experts is not None
    assert [one.scheme for one in plain.formats] == ["fp8-block"]
    assert experts.formats[0] == Format("mxfp4", 4, 32, False, ("*.experts.*",))
    assert set(experts.formats[1:]) == {Format("fp8-block", 8, 128)}
    mimo = quantization_of(
        {"quantization_config": {**config["quantization_config"], "routed_experts_quant_method": "mxfp4"}}, {}
    )
    assert mimo is not None
    assert mimo.formats == experts.formats


@together(
    "kind, sizes",
    [
        (Format("fp8-block", 8, 128), [256 * 512, 4 * 2 * 4]),
        (Format("fp8-block", 8), [256 * 512, 4 * 2 * 4]),
        (Format("fp8", 8), [256 * 512, 4 * 256]),
        (Format("bnb8", 8), [256 * 512, 4 * 256]),
        (Format("bnb4", 4, 64), [256 * 512 // 2, 4 * 256 * 512 // 64]),
        (Format("int8", 8, 128), [256 * 512, 2 * 256 * 4]),
        (Format("int4", 4, 128, True), [256 * 512 // 2, 2 * 256 * 4, 256 * 4 // 2]),
        (Format("nvfp4", 4, 16), [256 * 512 // 2, 256 * 32]),
        (Format("mxfp4", 4, 32), [256 * 512 // 2, 256 * 16]),
        (Format("mxfp8", 8, 32), [256 * 512, 256 * 16]),
    ],
)
def test_the_tensors_of_a_matrix(kind: Format, sizes: list[int]) -> None:
    """256 x 512: the weights, then a scale for each block, and zero points of four bits."""
    assert tensors(kind, 256, 512, 2) == sizes


def test_a_file_type_of_more_bits_is_larger() -> None:
    smallest = [
        "IQ1_S",
        "IQ1_M",
        "IQ2_XXS",
        "IQ2_XS",
        "IQ2_S",
        "IQ2_M",
        "IQ3_XXS",
        "IQ3_XS",
        "IQ3_S",
        "IQ3_M",
        "IQ4_XS",
        "IQ4_NL",
    ]
    k_quants = ["Q2_K_S", "Q2_K", "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K", "Q8_0", "F16"]
    for names in (smallest, k_quants, ["Q4_0", "Q4_1", "Q5_0", "Q5_1"]):
        bits = [GGUF_BITS[name] for name in names]
        assert bits == sorted(bits)


@pytest.mark.parametrize(
    "config", [{"quant_method": "gptq", "bits": 5}, {"quant_method": "house"}, {"quantized_layers": {"a": {}}}]
)
def test_a_config_of_which_the_format_is_not_known(config: dict[str, object]) -> None:
    assert quantization_of({"quantization_config": config}, {}) is None


@together(
    "weights, kind",
    [
        ({"num_bits": 4, "type": "float", "group_size": 16}, Format("nvfp4", 4, 16)),
        ({"num_bits": 4, "type": "float"}, Format("nvfp4", 4, 16)),
        ({"num_bits": 4, "type": "float", "group_size": 32}, Format("mxfp4", 4, 32)),
        ({"num_bits": 8, "type": "float", "group_size": 32}, Format("mxfp8", 8, 32)),
        ({"num_bits": 8, "type": "float", "block_structure": [128, 64]}, Format("fp8-block", 8, 64)),
        ({"num_bits": 8, "type": "float", "block_structure": [128, None]}, Format("fp8-block", 8)),
        ({"num_bits": 8, "type": "float"}, Format("fp8", 8)),
        ({"num_bits": 8, "type": "int"}, Format("int8", 8)),
        ({"num_bits": 4, "type": "int", "group_size": 128, "symmetric": False}, Format("int4", 4, 128, True)),
        ({"num_bits": 3, "type": "int", "group_size": 64}, Format("int", 3, 64)),
    ],
)
def test_groups_of_compressed_tensors(weights: dict[str, object], kind: Format) -> None:
    for target in ("Linear", "re:.*mlp.*"):
        group = {"weights": weights, "targets": [target]}
        config = {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}
        found = quantization_of({"quantization_config": config}, {})
        assert found is not None
        assert found.formats == (replace(kind, targets=() if target == "Linear" else (target,)),)


@pytest.mark.parametrize(
    ("config", "cache"),
    [
        ({"kv_cache_scheme": {"num_bits": 8}}, "fp8"),
        ({"kv_cache_scheme": {"num_bits": 4}}, None),
        ({"kv_cache_quant_algo": "NVFP4"}, "nvfp4"),
        ({}, None),
    ],
)
def test_the_format_of_the_kv_cache(config: dict[str, object], cache: str | None) -> None:
    found = quantization_of({"quantization_config": {"quant_method": "ptpc_fp8", **config}}, {})
    assert found is not None
    assert found.kv_cache == cache


def test_a_gguf_quantizes_no_vector() -> None:
    formats = Formats(Quantization("gguf", (Format("gguf", 4.5),)))
    assert formats.of(Matrix(0, "layers.0.mlp.up_proj", "dense mlp", 64, 64)).scheme == "gguf"
    assert formats.of(Matrix(0, "layers.0.input_layernorm", "norms", 64, 1)).scheme == "none"
