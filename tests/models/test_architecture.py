"""What is known of a model: by its name, by the files in its folder, and what its config.json says of its layers."""

from __future__ import annotations

import json
import struct
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.models import catalog
from servelint.models.architecture import Architecture, find
from servelint.models.config_json import described
from servelint.models.folder import open_in, parts_in
from servelint.models.matrices import matrices
from servelint.models.weights import weigh
from tests.together import together
from tools.architectures import entry, packed
from tools.architectures import names as shortened

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = sorted(catalog.known_names())
TRAITS = json.loads((resources.files("servelint.models") / "traits.json").read_text())


def known(name: str) -> Architecture:
    """A model that must be known."""
    found = find(name)
    assert found is not None
    return found


def test_each_trait_of_a_model_type_is_explained() -> None:
    assert {word for words in TRAITS["types"].values() for word in words.split()} == set(TRAITS["words"])


def test_a_hybrid() -> None:
    model = known("Qwen/Qwen3.6-35B-A3B")
    assert model.mixers[:4] == ("gdn", "gdn", "gdn", "full")
    (attention,), (state,) = model.attention, model.states
    assert (attention.layers, attention.kv_heads, attention.head_dim, attention.gate, attention.rotary) == (
        10,
        2,
        256,
        True,
        64,
    )
    assert (state.layers, state.conv_channels, state.state_elements, state.ssm_dtype) == (30, 8192, 32 * 128 * 128, "float32")
    assert model.experts is not None
    assert (model.experts.count, model.experts.per_token, model.experts.shared) == (256, 8, 512)
    assert (model.mtp_layers, model.context, model.tied) == (1, 262144, False)


def test_latent_attention_with_an_indexer() -> None:
    model = known("zai-org/GLM-5.2")
    (attention,) = model.attention
    assert attention.mla is not None
    assert (attention.kind, attention.kv_heads, attention.mla.cached) == ("mla", 1, 576)
    assert model.indexer is not None
    assert (model.indexer.layers, model.indexer.head_dim) == (21, 128)
    assert model.feeds[:4] == ("dense", "dense", "dense", "moe")


def test_layers_that_differ_in_their_heads() -> None:
    model = known("google/gemma-4-31B-it")
    sliding, full = model.attention
    assert (sliding.kind, sliding.layers, sliding.kv_heads, sliding.head_dim, sliding.window) == ("sliding", 50, 16, 256, 1024)
    assert (full.kind, full.layers, full.kv_heads, full.head_dim, full.key_is_value) == ("full", 10, 4, 512, True)


def test_layers_with_a_number_of_heads_for_each() -> None:
    """118B parameters (Laguna S 2.1) of which the heads of queries of sliding layers are half as many again."""
    full, sliding = known("poolside/Laguna-S-2.1").attention
    assert (full.kind, full.layers, full.heads, full.kv_heads) == ("full", 12, 48, 8)
    assert (sliding.kind, sliding.layers, sliding.heads, sliding.window) == ("sliding", 36, 72, 512)
    config = {"model_type": "laguna", "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 100, "num_attention_heads": 4}
    assert described("x", {**config, "num_attention_heads_per_layer": [4, 4]}) is not None
    assert described("x", {**config, "num_attention_heads_per_layer": [4, 6]}) is None, "two layers of one kind differ"


def test_layers_that_share_a_cache() -> None:
    model = known("google/gemma-4-E4B-it")
    assert sum(kind.layers for kind in model.attention) == 42
    assert sum(kind.cached for kind in model.attention) == 24


def test_layers_that_have_only_a_feed_forward_part() -> None:
    model = known("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16")
    assert (model.mixers.count("mamba2"), model.mixers.count("full"), model.mixers.count("none")) == (23, 6, 23)
    assert model.feeds.count("moe") == 23
    assert all(mixer == "none" for mixer, feed in zip(model.mixers, model.feeds, strict=True) if feed == "moe")


@together(
    "name, scheme, base",
    [
        ("qwen/qwen3-8b", "none", "Qwen/Qwen3-8B"),
        ("Qwen/Qwen3-8B-AWQ", "int4", "Qwen/Qwen3-8B"),
        ("Qwen/Qwen3-32B-FP8", "fp8-block", "Qwen/Qwen3-32B"),
        ("RedHatAI/Qwen3-14B-FP8-dynamic", "fp8", "Qwen/Qwen3-14B"),
        ("unsloth/Qwen3-8B-GGUF:Q4_K_M", "gguf", "Qwen/Qwen3-8B"),
        ("/models/Qwen3.6-27B-Q8_0.gguf", "gguf", "Qwen/Qwen3.6-27B"),
        ("/cache/qwen3.6-27b-autoround-int4", "int4", "Qwen/Qwen3.6-27B"),
        ("AEON-7/Qwen3.6-27B-AEON-Ultimate-Uncensored-Multimodal-NVFP4-MTP", "nvfp4", "Qwen/Qwen3.6-27B"),
        ("HauhauCS/Qwen3.6-35B-A3B-Uncensored-HauhauCS-Aggressive", "none", "Qwen/Qwen3.6-35B-A3B"),
        ("QuantTrio/GLM-5.2-Int4-Int8Mix", "int4", "zai-org/GLM-5.2"),
        ("syvai/Qwen3.8-27B-DFlash2-W4A16", "int4", "z-lab/Qwen3.8-27B-DFlash2"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "int8", "meta-llama/Llama-3.1-8B-Instruct"),
        ("nvidia/Llama-3.3-70B-Instruct-FP4", "nvfp4", "meta-llama/Llama-3.3-70B-Instruct"),
        ("unsloth/Llama-3.3-70B-Instruct-bnb-4bit", "bnb4", "meta-llama/Llama-3.3-70B-Instruct"),
        ("/hub/models--Qwen--Qwen3-8B/snapshots/0123abc", "none", "Qwen/Qwen3-8B"),
        ("gemma-4-31b-autoround-int4", "int4", "google/gemma-4-31B-it"),
        ("unsloth/DeepSeek-R1-0528-BF16", "none", "deepseek-ai/DeepSeek-R1"),
        ("openai/gpt-oss-120b", "mxfp4", "openai/gpt-oss-120b"),
    ],
)
def test_a_name_tells_the_format(name: str, scheme: str, base: str) -> None:
    found = known(name)
    assert found.quantization.scheme == scheme
    assert (found.layers, found.mixers, found.hidden) == (known(base).layers, known(base).mixers, known(base).hidden)


@together(
    "name",
    [
        "",
        "/",
        "model",
        "Qwen/Qwen9-8B",
        "Qwen/Qwen3-9B",
        "acme/Qwen3-8B-Pruned",
        "acme/Qwen3.6-40B-Deckard",
        "acme/Qwopus3.6-27B-Coder",
        "Qwen/Qwen3-8B/extra-long",
        "meta-llama/Llama-3.1-8B-to-70B-merge",
        "$MODEL",
    ],
)
def test_a_name_that_is_not_known_is_not_guessed(name: str) -> None:
    assert find(name) is None


def test_every_entry_is_described_and_weighs_something() -> None:
    for name in KNOWN:
        model = known(name)
        assert len(model.mixers) == len(model.feeds) == len(model.widths) == model.layers
        assert model.sources
        told = sum(kind.layers for kind in model.attention) + sum(state.layers for state in model.states)
        assert told >= model.layers - model.mixers.count("none")
        found = weigh(model)
        assert found is not None
        assert found.low <= found.gib <= found.high
        assert all(part.source for part in found.parts)


@together(
    "name, parameters",
    [
        ("Qwen/Qwen3-8B", 8_190_735_360),
        ("Qwen/Qwen3-VL-30B-A3B-Instruct", 31_070_754_032),
        ("meta-llama/Llama-3.1-405B", 405_853_388_800),
        ("openai/gpt-oss-20b", 20_914_757_184),
        ("deepseek-ai/DeepSeek-V3", 671_026_404_352),
        ("Qwen/Qwen3.5-397B-A17B", 396_802_360_816),
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", 549_308_968_960),
        ("zai-org/GLM-5.2", 743_377_000_704),
        ("google/gemma-4-26B-A4B", 25_805_933_872),
    ],
)
def test_parameters_are_those_of_the_models_own_code(name: str, parameters: int) -> None:
    """Counted with Transformers 5.23.0 on empty tensors, multi-token prediction left out."""
    model = known(name)
    counted = sum(
        one.parameters for one in matrices(model) if one.group != "mtp" and (one.name, model.tied) != ("lm_head", True)
    )
    assert counted == pytest.approx(parameters, rel=2e-5)


CONFIG = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 128,
    "max_position_embeddings": 512,
}


def test_a_folder_says_it_better_than_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "Qwen3-8B"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    found = find(str(folder), open_in("/"))
    assert found is not None
    assert (found.layers, found.checkpoint, found.sources) == (2, None, (f"{folder}/config.json",))
    (folder / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}}')
    (folder / "model.safetensors.index.json").write_text('{"metadata": {"total_size": 123456}, "weight_map": {}}')
    found = find(str(folder), open_in("/"))
    assert found is not None
    assert (found.quantization.scheme, found.quantization.kv_cache, found.checkpoint) == ("nvfp4", "fp8", 123456)


def test_a_folder_without_an_index_is_measured_by_headers(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    header = json.dumps({"a": {"dtype": "BF16", "shape": [3, 5], "data_offsets": [0, 30]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    found = find(str(tmp_path), open_in("/"), parts_in("/"))
    assert found is not None
    assert found.checkpoint == 30
    (tmp_path / "model.safetensors").write_bytes(b"garbage")
    found = find(str(tmp_path), open_in("/"), parts_in("/"))
    assert found is not None
    assert found.checkpoint is None


def test_a_gguf_is_what_its_header_says(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    library = pytest.importorskip("gguf")
    path = tmp_path / "anything.gguf"
    writer = library.GGUFWriter(path, "qwen3")
    writer.add_block_count(2)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(128)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_key_length(16)
    writer.add_context_length(512)
    writer.add_tensor("token_embd.weight", numpy.zeros((128, 64), dtype="float16"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = find(str(path), open_in("/"), parts_in("/"))
    assert found is not None
    assert (found.layers, found.vocab, found.tied, found.quantization.formats[0].bits) == (2, 128, True, 16)
    (tmp_path / "broken.gguf").write_bytes(path.read_bytes()[:40])
    assert find(str(tmp_path / "broken.gguf"), open_in("/"), parts_in("/")) is None


SCALAR = st.none() | st.booleans() | st.integers(-3, 1 << 70) | st.floats() | st.text(max_size=3)
VALUE = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
KEYS = (
    "num_hidden_layers",
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "layer_types",
    "sliding_window",
    "num_experts",
    "n_routed_experts",
    "moe_layer_freq",
    "first_k_dense_replace",
    "mlp_layer_types",
    "kv_lora_rank",
    "q_lora_rank",
    "block_configs",
    "hybrid_override_pattern",
    "layers_block_type",
    "quantization_config",
    "vision_config",
    "text_config",
    "linear_attn_config",
    "compress_ratios",
    "moe_num_experts",
    "moe_layer_start_index",
    "interleave_moe_layer_step",
    "no_rope_layers",
    "attention_chunk_size",
    "rope_parameters",
    "partial_rotary_factor",
    "tie_word_embeddings",
    "num_nextn_predict_layers",
    "architectures",
    "dtype",
    "eagle_config",
)


@given(st.sampled_from(sorted(TRAITS["types"])), st.dictionaries(st.sampled_from(KEYS), VALUE, max_size=12))
@settings(deadline=None)
def test_no_config_is_an_exception(kind: str, data: dict[str, Any]) -> None:
    for config in ({**data, "model_type": kind}, {**CONFIG, **data, "model_type": kind}):
        found = described("x", config)
        if found is not None and found.layers <= 8:
            weigh(found)


def test_a_config_that_claims_billions_of_layers_takes_no_time() -> None:
    assert described("x", {**CONFIG, "num_hidden_layers": 1 << 39}) is None
    found = described("x", {**CONFIG, "num_nextn_predict_layers": 1 << 39})
    assert found is not None
    assert found.mtp_layers == 0
    assert weigh(found) is not None


@given(st.lists(st.sampled_from(["a", "b"]), max_size=40))
def test_a_packed_list_comes_back(value: list[str]) -> None:
    assert catalog.unpacked({"key": packed(value)}) == {"key": value}


def test_what_is_kept_of_a_config_describes_the_same_model() -> None:
    layers = ["sliding_attention", "full_attention"] * 6
    lists = {"ignore": ["lm_head", *(f"model.layers.{one}.mlp.gate" for one in range(12))], "quant_method": "fp8"}
    config = {
        **CONFIG,
        "num_hidden_layers": 12,
        "layer_types": layers,
        "sliding_window": 128,
        "rope_theta": 1e6,
        "eos_token_id": 2,
    }
    config["quantization_config"] = lists
    kept = entry({"name": "x", "config": config, "sources": ["a test"]})
    assert kept is not None
    assert "eos_token_id" not in kept["config"]
    assert kept["config"]["layer_types"] == {"repeat": ["sliding_attention", "full_attention"], "length": 12}
    assert kept["config"]["quantization_config"]["ignore"] == ["lm_head", "model.layers.*.mlp.gate"]
    before, after = described("x", config), described("x", catalog.unpacked(kept["config"]))
    assert before is not None
    assert after is not None
    assert (after.mixers, after.attention, after.quantization.scheme) == (before.mixers, before.attention, "fp8")
    assert entry({"name": "x", "config": {"model_type": "unheard-of"}, "sources": []}) is None


def test_experts_of_a_layer_have_the_format_of_most() -> None:
    experts = {f"model.layers.0.mlp.experts.{one}.up_proj": {"quant_algo": "NVFP4" if one else "FP8"} for one in range(4)}
    config = {**CONFIG, "quantization_config": {"quant_method": "modelopt", "quantized_layers": experts}}
    kept = entry({"name": "x", "config": config, "sources": []})
    assert kept is not None
    layers = kept["config"]["quantization_config"]["quantized_layers"]
    assert list(layers.values()) == [{"quant_algo": "NVFP4"}]


def test_names_of_layers_are_shortened() -> None:
    assert shortened([f"model.layers.{one}.mlp.gate" for one in range(4)], 4) == ["model.layers.*.mlp.gate"]
    assert shortened(["lm_head", "model.layers.1.mlp*", "model.layers.3.mlp*"], 4) == [
        "lm_head",
        r"re:(?!.*mtp).*layers\.(1|3)\.mlp.*",
    ]
    assert shortened(["mtp.layers.0*"], 4) == [r"re:.*mtp\.layers\.(0).*"]
