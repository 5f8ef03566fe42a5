"""What weights weigh on a GPU, against what engines logged when they had loaded them ("Model loading took ... GiB")."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.models.architecture import Architecture, Format, Quantization, find
from servelint.models.matrices import Matrix
from servelint.models.quantization import GGUF_BITS, format_of, tensors
from servelint.models.weights import Weights, quantized, rounded, stages, weigh
from tests.together import together


def known(name: str) -> Architecture:
    """A model that must be known."""
    found = find(name)
    assert found is not None
    return found


def weighed(name: str, **how: Any) -> Weights:
    """Weights that must be known."""
    found = weigh(known(name), **how)
    assert found is not None
    return found


def sizes(found: Weights) -> dict[str, int]:
    """Bytes by the names of the parts."""
    return {part.name: part.bytes for part in found.parts}


@together(
    "name, how, logged",
    [
        ("Qwen/Qwen2-7B-Instruct", {"tensor": 2}, 7.1217),
        ("Qwen/Qwen2.5-7B-Instruct", {}, 14.2487),
        ("acme/Qwen2.5-7B-Instruct-FP8-dynamic", {}, 8.1426),
        ("Qwen/Qwen2.5-3B-Instruct", {}, 5.79),
        ("Qwen/Qwen2.5-VL-7B-Instruct", {}, 15.6271),
        ("Qwen/Qwen3-8B", {}, 15.27),
        ("Qwen/Qwen3-4B-Instruct-2507", {}, 7.6065),
        ("microsoft/Phi-4-mini-instruct", {}, 7.17),
        ("zai-org/GLM-4.7-Flash", {}, 55.87),
        ("Qwen/Qwen3-8B-FP8", {}, 8.8),
        ("Qwen/Qwen2.5-Omni-7B", {}, 16.73),
        ("acme/Qwen3-30B-A3B-NVFP4", {"tensor": 2}, 8.44),
        ("nvidia/GLM-4.7-NVFP4", {"tensor": 4}, 47.11),
        ("xai-org/grok-2", {}, 502.09),
        ("openai/gpt-oss-120b", {"tensor": 4}, 17.2217),
        ("openai/gpt-oss-120b", {}, 65.9651),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", {"tensor": 2}, 74.2812),
        ("MiniMaxAI/MiniMax-M2.5", {"tensor": 4}, 53.75),
        ("google/gemma-4-26B-A4B", {}, 48.5),
        ("Qwen/Qwen3.6-35B-A3B", {"vision": False}, 64.69),
        ("Qwen/Qwen3.6-35B-A3B-FP8", {}, 34.23),
        ("Qwen/Qwen3.6-35B-A3B-FP8", {"mtp": True}, 35.02),
        ("Qwen/Qwen3.6-27B-FP8", {"vision": False}, 27.64),
        ("Qwen/Qwen3.8-27B", {}, 51.1),
        ("nvidia/GLM-5.1-NVFP4", {"tensor": 8}, 55.67),
        ("nvidia/Qwen3.6-27B-NVFP4", {"mtp": True}, 20.57),
        ("cyankiwi/Qwen3.5-35B-A3B-AWQ-4bit", {}, 22.84),
    ],
)
def test_what_engines_logged(name: str, how: dict[str, Any], logged: float) -> None:
    found = weighed(name, **how)
    assert found.gib == pytest.approx(logged, rel=0.006)
    assert found.low <= logged <= found.high


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", 1121),
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4", 352.3),
        ("Qwen/Qwen3.8-2.4T-A95B", 4892),
    ],
)
def test_what_publishers_say_that_files_weigh(name: str, gigabytes: float) -> None:
    assert weighed(name, mtp=True).bytes / 1e9 == pytest.approx(gigabytes, rel=0.002)


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        ("mistralai/Ministral-3-3B-Instruct-2512", 4.35),
        ("mistralai/Ministral-3-14B-Instruct-2512", 14.65),
        ("mistralai/Mistral-Small-4-119B-2603", 112.63),
        ("Qwen/Qwen3.5-122B-A10B-GPTQ-Int4", 73.47),
        ("Qwen/Qwen3.5-397B-A17B-GPTQ-Int4", 219.56),
        ("mistralai/Mistral-Small-4-119B-2603-NVFP4", 65.95),
        ("microsoft/phi-4", 27.31),
    ],
)
def test_what_files_weigh(name: str, gib: float) -> None:
    """kaito-project/kaito presets/workspace/models/model_catalog.yaml: files without what engines add to them."""
    found = weighed(name, mtp=True)
    beside = sum(size for part, size in sizes(found).items() if part in ("allocator", "absorbed", "rotary table"))
    assert (found.bytes - beside) / (1 << 30) == pytest.approx(gib, rel=0.013)


@together(
    "name, drafts, gib",
    [
        ("XiaomiMiMo/MiMo-V2.5-Pro", False, 960.2),
        ("deepseek-ai/DeepSeek-OCR", False, 6.214),
        ("rednote-hilab/dots.ocr", False, 5.661),
        ("google/gemma-4-E2B-it-qat-w4a16-ct", False, 7.745),
        ("google/gemma-4-31B-it-qat-w4a16-ct", False, 21.7),
        ("RedHatAI/Qwen3.5-122B-A10B-NVFP4", True, 71.23),
        ("cyankiwi/Qwen3-Coder-30B-A3B-Instruct-AWQ-4bit", False, 16.86),
        ("cyankiwi/Qwen3.6-35B-A3B-AWQ-4bit", False, 22.63),
        ("cyankiwi/Qwen3.5-122B-A10B-AWQ-4bit", False, 74.5),
    ],
)
def test_what_published_files_weigh(name: str, drafts: bool, gib: float) -> None:
    """The sizes of files that model pages, indices and headers state, with or without multi-token prediction."""
    found = weighed(name, mtp=drafts)
    beside = sum(size for part, size in sizes(found).items() if part in ("allocator", "absorbed", "rotary table"))
    assert (found.bytes - beside) / (1 << 30) == pytest.approx(gib, rel=0.01)


def test_a_head_beside_the_embedding_in_quantized_weights_of_a_tied_model() -> None:
    quantized, plain = weighed("google/gemma-4-E2B-it-qat-w4a16-ct"), weighed("google/gemma-4-E2B-it")
    assert (quantized.head, plain.head) == (262144 * 1536 * 2, 0)


@pytest.mark.parametrize(("name", "sure"), [("nvidia/Qwen3.6-27B-NVFP4", True), ("acme/Qwen3.6-27B-NVFP4", False)])
def test_other_publishers_may_leave_other_modules(name: str, sure: bool) -> None:
    found = weighed(name)
    assert (found.high - found.low < 0.06 * found.gib) == sure


def test_a_layer_that_drafts_in_four_bits() -> None:
    """GLM-5.1: 0.95 GiB of each of eight GPUs in NVFP4, where the model's other quantized checkpoints have it in 16 bits."""
    four = weighed("lukealonso/GLM-5.1-NVFP4-MTP", tensor=8, mtp=True)
    wide = weighed("nvidia/GLM-5.1-NVFP4", tensor=8, mtp=True)
    assert four.bytes / (1 << 30) == pytest.approx(56.62, rel=0.01)
    assert four.mtp / (1 << 30) == pytest.approx(0.95, abs=0.1)
    assert wide.mtp > 2.5 * four.mtp


def test_odd_numbers_of_bits() -> None:
    six, four = (weighed(f"acme/Qwen3-8B-AWQ-{bits}bit") for bits in (6, 4))
    assert sizes(six)["dense mlp"] == pytest.approx(sizes(four)["dense mlp"] * (6 + 0.16) / (4 + 0.16), rel=0.01)


def test_the_allocator_explains_what_counting_does_not() -> None:
    """28 layers of matrices that leave half a MiB or one of a segment of 2 MiB: 14.185 GiB counted, 14.25 logged."""
    found = weighed("Qwen/Qwen2-7B-Instruct")
    assert sizes(found)["allocator"] == 57 << 20
    assert found.gib == pytest.approx(14.25, abs=0.005)


def test_positions_of_pictures_take_a_table_four_times_as_long() -> None:
    assert sizes(weighed("Qwen/Qwen2.5-VL-7B-Instruct"))["rotary table"] == 4 * 128000 * 128 * 2
    assert sizes(weighed("Qwen/Qwen2.5-VL-7B-Instruct", engine="sglang"))["rotary table"] == 128000 * 128 * 2
    assert sizes(weighed("Qwen/Qwen2.5-7B-Instruct"))["rotary table"] == 32768 * 128 * 2
    assert sizes(weighed("xai-org/grok-2", engine="sglang"))["rotary table"] == 65 * 131072 * 128 * 2


@given(st.integers(0, 1 << 34))
def test_rounding_adds_less_than_a_mebibyte_and_a_block(size: int) -> None:
    assert 0 <= rounded(size) - size <= (1 << 20) + 512


def test_tensor_parallelism_divides_all_but_a_few() -> None:
    whole, half = weighed("deepseek-ai/DeepSeek-V3"), weighed("deepseek-ai/DeepSeek-V3", tensor=8)
    assert sizes(half)["experts"] == pytest.approx(sizes(whole)["experts"] / 8, rel=1e-4)
    assert sizes(half)["router"] == sizes(whole)["router"]
    assert sizes(half)["attention"] > sizes(whole)["attention"] / 8


def test_heads_of_keys_are_not_divided_further_than_into_one() -> None:
    four, eight = (sizes(weighed("Qwen/Qwen3-30B-A3B", tensor=count))["attention"] for count in (4, 8))
    assert four / 2 < eight < four


def test_expert_parallelism_deals_out_experts_alone() -> None:
    apart, dealt = weighed("Qwen/Qwen3-235B-A22B", tensor=8), weighed("Qwen/Qwen3-235B-A22B", tensor=1, expert=8)
    assert sizes(dealt)["experts"] == sizes(apart)["experts"]
    assert sizes(dealt)["attention"] > 4 * sizes(apart)["attention"]


def test_the_heaviest_stage_counts() -> None:
    whole = weighed("meta-llama/Llama-3.1-70B-Instruct")
    stage = weighed("meta-llama/Llama-3.1-70B-Instruct", pipeline=4)
    assert whole.bytes / 4 < stage.bytes < whole.bytes / 4 + whole.embedding
    assert ("embedding" in sizes(stage)) != ("lm_head" in sizes(stage))


@given(st.integers(1, 200), st.integers(1, 16))
def test_every_layer_is_in_one_stage(layers: int, pipeline: int) -> None:
    found = stages(layers, min(pipeline, layers))
    assert [layer for stage in found for layer in stage] == list(range(layers))
    assert max(map(len, found)) - min(map(len, found)) <= 1


def test_multi_token_prediction_is_told_even_if_it_is_not_loaded() -> None:
    without, loaded = weighed("Qwen/Qwen3.6-35B-A3B-FP8"), weighed("Qwen/Qwen3.6-35B-A3B-FP8", mtp=True)
    assert without.mtp == loaded.mtp == loaded.bytes - without.bytes
    assert loaded.mtp / (1 << 30) == pytest.approx(0.79, abs=0.01)


def test_the_engine_keeps_the_up_projection_of_latent_attention_twice() -> None:
    assert "absorbed" in sizes(weighed("deepseek-ai/DeepSeek-V3", tensor=8))
    assert "absorbed" not in sizes(weighed("deepseek-ai/DeepSeek-V2-Lite"))
    assert "absorbed" in sizes(weighed("deepseek-ai/DeepSeek-V2-Lite", engine="sglang"))


def test_marlin_has_a_scale_for_each_row_of_a_block() -> None:
    """Two bytes for 128 weights, instead of four for 128 times 128. FP8 with a scale for each row is as it was."""
    for name, more in (("Qwen/Qwen3-8B-FP8", 1 / 64 - 4 / 128**2), ("RedHatAI/Qwen3-8B-FP8-dynamic", 0.0)):
        plain, marlin = (sizes(weighed(name, marlin=how))["dense mlp"] for how in (False, True))
        assert marlin / plain - 1 == pytest.approx(more, rel=0.01, abs=1e-9)


def test_experts_in_16_bits_are_padded_to_a_multiple() -> None:
    """Qwen3.8-Flash-Next has experts of 640, half of them are 320 and padded to 384; Nemotron's 1,856 have no gate."""
    name = "Qwen/Qwen3.8-Flash-Next"
    plain, padded = (sizes(weighed(name, tensor=2, multiple=multiple))["experts"] for multiple in (1, 128))
    assert padded / plain == pytest.approx(384 / 320)
    assert sizes(weighed(name, multiple=128)) == sizes(weighed(name))
    assert sizes(weighed(name, tensor=2, expert=2, multiple=128)) == sizes(weighed(name, tensor=2, expert=2))
    name = "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"
    assert sizes(weighed(name, multiple=128))["experts"] / sizes(weighed(name))["experts"] == pytest.approx(1920 / 1856)


def test_quantization_while_loading() -> None:
    plain, fp8 = weighed("Qwen/Qwen3-8B"), weighed("Qwen/Qwen3-8B", quantization="fp8")
    assert sizes(fp8)["dense mlp"] == pytest.approx(sizes(plain)["dense mlp"] / 2, rel=0.01)
    assert sizes(fp8)["lm_head"] == sizes(plain)["lm_head"]
    assert weigh(known("Qwen/Qwen3-8B"), quantization="something-new") is None


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("fp8", "w8a8_fp8", "fp8_per_tensor"), Format("fp8", 8)),
        (("fp8_per_block", "blockwise_fp8"), Format("fp8-block", 8, 128)),
        (("bitsandbytes",), Format("bnb4", 4, 64)),
        (("mxfp8", "modelopt_mxfp8"), Format("mxfp8", 8, 32)),
        (("w8a8_int8", "experts_int8"), Format("int8", 8)),
    ],
)
def test_the_format_that_loading_quantizes_to(names: tuple[str, ...], kind: Format) -> None:
    for name in names:
        found = quantized(known("Qwen/Qwen3-8B"), name)
        assert found is not None
        assert found.formats == (kind,)


def test_a_quantized_checkpoint_stays_as_it_is() -> None:
    model = known("Qwen/Qwen3-8B-AWQ")
    assert quantized(model, "awq_marlin") is model.quantization


def test_a_name_that_tells_four_bits_is_less_sure() -> None:
    exact, told = weighed("nvidia/Qwen3.6-27B-NVFP4"), weighed("acme/Qwen3.8-27B-NVFP4")
    assert exact.high / exact.low < 1.05 < told.high / told.low
    assert told.low < 20.4 < 24.6 < told.high  # two publishers' checkpoints of that name


def test_a_name_of_four_bits_may_stand_for_attention_in_sixteen() -> None:
    model = known("acme/GLM-4.7-NVFP4")
    plain = replace(model.quantization, ignored=("re:.*self_attn.*", "re:.*shared_expert.*"))
    told, wide = weigh(model), weigh(replace(model, quantization=plain))
    assert told is not None
    assert wide is not None
    assert told.high == pytest.approx(1.02 * told.gib + wide.gib - told.gib, rel=1e-4)


def test_a_gguf_by_its_file_type() -> None:
    found = weighed("unsloth/Llama-3.1-8B-Instruct-GGUF:Q4_K_M")
    counted = sum(part.bytes for part in found.parts if part.name not in ("allocator", "rotary table", "norms"))
    assert counted == pytest.approx(8.03e9 * GGUF_BITS["Q4_K_M"] / 8, rel=0.01)
    assert weigh(known("unsloth/Qwen3-8B-GGUF:UD-Q4_K_XL")) is None


def test_measured_files_correct_what_is_quantized() -> None:
    model = known("Qwen/Qwen3-8B-AWQ")
    counted = weigh(model)
    larger = weigh(replace(model, checkpoint=int(1.05 * 6.1e9)))
    elsewhere = weigh(replace(model, checkpoint=60_000_000_000))
    assert counted is not None
    assert larger is not None
    assert elsewhere is not None
    assert larger.bytes > counted.bytes == elsewhere.bytes
    assert sizes(larger)["embedding"] == sizes(counted)["embedding"]


@together(
    "kind, bits",
    [
        (Format(), 16),
        (Format("fp8-block", 8, 128), 8),
        (Format("fp8", 8), 8),
        (Format("int4", 4, 128), 4.125),
        (Format("int4", 4, 128, True), 4.15625),
        (Format("int4", 4, 32), 4.5),
        (Format("nvfp4", 4, 16), 4.5),
        (Format("mxfp4", 4, 32), 4.25),
        (Format("mxfp8", 8, 32), 8.25),
        (Format("bnb4", 4, 64), 4.5),
    ],
)
def test_bits_of_a_weight(kind: Format, bits: float) -> None:
    assert sum(tensors(kind, 4096, 4096, 2)) * 8 / 4096**2 == pytest.approx(bits, abs=0.01)


@together(
    "ignored, name, left",
    [
        ("lm_head", "lm_head", True),
        ("model.layers.*.self_attn", "layers.3.self_attn.q_proj", True),
        ("model.layers.1*", "layers.12.mlp.gate_proj", True),
        ("model.layers.1.*", "layers.12.mlp.gate_proj", False),
        ("model.language_model.layers.0.mlp*", "layers.0.mlp.up_proj", True),
        ("gate", "layers.0.mlp.gate", True),
        ("gate", "layers.0.mlp.gate_proj", False),
        ("re:.*self_attn.*", "layers.7.self_attn.o_proj", True),
        ("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "layers.0.mlp.experts.down_proj", False),
        ("re:(", "layers.0.mlp.up_proj", False),
        ("re:(.*)*(.*)*x", "layers.0.mlp.up_proj", False),
        ("re:" + ".*" * 40 + "x", "layers.0.mlp.up_proj", False),
        ("*.experts.*", "layers.0.mlp.experts.gate_up_proj", True),
        ("mtp*", "mtp.layers.0.self_attn.q_proj", True),
        ("mtp*", "layers.0.self_attn.q_proj", False),
    ],
)
def test_what_a_checkpoint_leaves_out(ignored: str, name: str, left: bool) -> None:
    quantization = Quantization("fp8", (Format("fp8", 8),), (ignored,))
    found = format_of(Matrix(0, name, "attention", 64, 64), quantization)
    assert (found.scheme == "none") is left


def test_several_formats_in_one_checkpoint() -> None:
    quantization = known("nvidia/Qwen3.6-35B-A3B-NVFP4").quantization
    modules = {
        "layers.0.mlp.experts.down_proj": "nvfp4",
        "layers.3.self_attn.q_proj": "fp8",
        "layers.0.linear_attn.in_proj_a": "none",
    }
    for name, scheme in modules.items():
        assert format_of(Matrix(0, name, "experts", 64, 64), quantization).scheme == scheme


def test_only_experts_in_mxfp4_are_padded() -> None:
    """A hidden size of 896 would become 1024."""
    model = replace(known("Qwen/Qwen2.5-0.5B-Instruct"), quantization=Quantization("mxfp4", (Format("mxfp4", 4, 32),)))
    found = weigh(model)
    assert found is not None
    assert sizes(found)["dense mlp"] == 24 * 3 * 896 * 4864 * 17 // 32


def test_thirty_two_bits_take_twice_as_much_as_sixteen() -> None:
    half, plain, full = (sum(sizes(weighed("Qwen/Qwen3-8B", dtype=kind)).values()) for kind in ("float16", None, "float32"))
    assert half == plain
    assert full == pytest.approx(2 * plain, rel=1e-3)
    assert sum(sizes(weighed("Qwen/Qwen3-8B", dtype="float")).values()) == full
