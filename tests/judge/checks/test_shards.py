"""Shards of quantized weights that end within a block or a group."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines.config import Config, configs
from servelint.files.siblings import Neighbours
from servelint.lint import check_launches
from servelint.readers import read
from tests.judging import fields, holds
from tests.launching import launch_in
from tests.together import together


def config(text: str, release: str) -> Config:
    return configs(launch_in(text, "run.sh"), [release])[0]


def vllm(words: str, release: str = "0.10.2") -> Config:
    return config(f"vllm serve {words}", release)


def sglang(words: str, release: str = "0.5.2") -> Config:
    return config(f"python -m sglang.launch_server --model-path {words}", release)


@together(
    "words, release, shard",
    [
        ("Qwen/Qwen3-30B-A3B-FP8 -tp 4", "0.10.2", "192"),
        ("Qwen/Qwen3-30B-A3B-FP8 -tp 2 -dp 2", "0.10.2", "192"),
        ("Qwen/Qwen3-235B-A22B-FP8 -tp 8", "0.28.0", "192"),
        ("RedHatAI/Qwen3-235B-A22B-Instruct-2507-FP8-block -tp 8", "0.11.0", "192"),
        ("RedHatAI/Qwen3-235B-A22B-Instruct-2507-FP8-block -tp 8", "0.10.2", None),  # no such format yet
        ("RedHatAI/Qwen3-235B-A22B-Instruct-2507-FP8-block -tp 8 --quantization compressed-tensors", "0.16.0", "192"),
        ("RedHatAI/Qwen3-235B-A22B-Instruct-2507-FP8-block -tp 8 --quantization fp8", "0.16.0", None),
        ("RedHatAI/Qwen3-235B-A22B-Instruct-2507-FP8-dynamic -tp 8", "0.16.0", None),
        ("Qwen/Qwen3-235B-A22B-FP8 -tp 8", "0.29.0", None),  # scales of experts are refined
        ("Qwen/Qwen3-235B-A22B-FP8 -tp 8 --enable-expert-parallel", "0.10.2", None),
        ("Qwen/Qwen3-235B-A22B-FP8 -tp 8 $EXTRA", "0.10.2", None),
        ("Qwen/Qwen3-32B-FP8 -tp 16", "0.33.0", "1600"),
        ("Qwen/Qwen3-32B-FP8 -tp 8", "0.33.0", None),
        ("Qwen/Qwen3-4B-FP8 -tp 8", "0.11.0", "1216"),
        ("deepseek-ai/DeepSeek-V3 -tp 32", "0.6.6", "576"),
        ("deepseek-ai/DeepSeek-V3 -tp 16", "0.6.6", None),
        ("deepseek-ai/DeepSeek-V4-Pro -tp 16", "0.20.0", "192"),
        ("deepseek-ai/DeepSeek-V4-Pro -tp 16", "0.24.0", None),  # shared experts are padded
        ("MiniMaxAI/MiniMax-M2.7 -tp 8", "0.25.0", "192"),
        ("zai-org/GLM-4.5-Air-FP8 -tp 8", "0.25.0", None),  # a scale for each channel
        ("RedHatAI/Qwen3-30B-A3B-FP8-dynamic -tp 4", "0.10.2", None),
        ("Qwen/Qwen3-30B-A3B -tp 4", "0.10.2", None),
        ("Qwen/Qwen3-30B-A3B-FP8 -tp 4 --quantization gptq", "0.10.2", None),
    ],
)
def test_fp8_blocks_in_vllm(words: str, release: str, shard: str | None) -> None:
    found = fields("vllm/fp8-blocks-cut", vllm(words, release))
    assert (found["shard"] if found is not None else None) == shard


@together(
    "words, release, shard",
    [
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 --tp 8", "0.4.9.post3", "320"),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 --tp 8 --ep-size 2", "0.5.2", None),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 --tp 8 --moe-a2a-backend deepep", "0.5.2", None),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 --tp 8", "0.5.12", None),  # padded on Blackwell
        ("deepseek-ai/DeepSeek-V3.1 --tp 32 --dp 8 --enable-dp-attention", "0.5.2", "64"),
        ("deepseek-ai/DeepSeek-R1 --tp 32", "0.4.4.post1", "576"),
        ("stepfun-ai/Step-3.5-Flash-FP8 --tp 4", "0.5.12", "320"),
        ("Qwen/Qwen3-32B-FP8 --tp 16", "0.5.23", "1600"),
        ("Qwen/Qwen3-32B-FP8 --tp 16 --moe-dense-tp-size 1", "0.5.23", None),
        ("RedHatAI/Qwen3-32B-FP8-block --tp 16", "0.5.7", "1600"),
        ("RedHatAI/Qwen3-32B-FP8-block --tp 16", "0.5.6", None),  # not checked yet
    ],
)
def test_fp8_blocks_in_sglang(words: str, release: str, shard: str | None) -> None:
    found = fields("sglang/fp8-blocks-cut", sglang(words, release))
    assert (found["shard"] if found is not None else None) == shard


def test_an_older_gpu_has_no_padded_shards() -> None:
    text, name = "python -m sglang.launch_server --model-path Qwen/Qwen3-30B-A3B-FP8 --tp 4\n", "sglang/fp8-blocks-cut"
    source = Source("run.sh", text)
    for gpu, known in (("h100", True), ("b200", False), (None, False)):
        settings = Settings(engine_versions={"sglang": "0.5.12"}, gpu=gpu)
        found = check_launches(source, read(source, Neighbours(None)).launches, settings)
        assert (name in [one.rule for one in found]) is known


def test_a_folder_is_a_hint() -> None:
    found = vllm("/models/Qwen3-30B-A3B-FP8 -tp 4")
    assert not holds("vllm/fp8-blocks-cut", found)
    assert holds("vllm/fp8-blocks-cut-of-folder", found)
    assert holds("sglang/fp8-blocks-cut-of-folder", sglang("/data/Qwen3-Coder-480B-A35B-Instruct-FP8/ --tp 8"))
    assert not holds("vllm/fp8-blocks-cut-of-folder", vllm("house/Qwen3-30B-A3B-FP8 -tp 4"))


def _of(folder: Path, **quantization: object) -> Launch:
    data = {
        "model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "num_hidden_layers": 2, "hidden_size": 2048,
        "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8,
        "num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 151936,
        "quantization_config": {"quant_method": "fp8", **quantization},
    }  # fmt: skip
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_text(json.dumps(data))
    launch = launch_in("vllm serve ./model -tp 4", "run.sh")
    launch.folder = str(folder)
    return launch


def test_a_config_in_a_folder_decides(tmp_path: Path) -> None:
    found = configs(_of(tmp_path, weight_block_size=[128, 128]), ["0.10.2"])[0]
    assert holds("vllm/fp8-blocks-cut", found)
    assert not holds("vllm/fp8-blocks-cut-of-folder", found)
    assert not holds("vllm/fp8-blocks-cut", configs(_of(tmp_path), ["0.10.2"])[0])
    assert not holds("vllm/fp8-blocks-cut", configs(_of(tmp_path, weight_block_size=[64, 64]), ["0.10.2"])[0])


def test_the_advice_fits() -> None:
    found = fields("vllm/fp8-blocks-cut", vllm("Qwen/Qwen3-30B-A3B-FP8 -tp 4"))
    assert found is not None
    assert found["advice"] == "a tensor parallel size of 2, or add --enable-expert-parallel, which leaves experts whole"
    found = fields("vllm/fp8-blocks-cut", vllm("Qwen/Qwen3-32B-FP8 -tp 16"))
    assert found is not None
    assert found["advice"] == "a tensor parallel size of 8"


@together(
    "words, rule",
    [
        ("Qwen/Qwen2.5-VL-72B-Instruct-AWQ -tp 2", "vllm/awq-groups-cut-of-folder"),  # replaced by a padded one
        ("OpenGVLab/InternVL3-78B-AWQ -tp 4", "vllm/awq-groups-cut"),
        ("./InternVL3-78B-AWQ -tp 2", "vllm/awq-groups-cut-of-folder"),
        ("Qwen/Qwen2.5-VL-72B-Instruct-AWQ", None),
        ("Qwen/Qwen2.5-72B-Instruct-AWQ -tp 2", None),  # its inner size is padded
        ("house/Qwen2.5-VL-72B-Instruct-AWQ -tp 2", None),
        ("Qwen/Qwen2.5-14B-Instruct-AWQ -tp 8", "vllm/awq-groups-cut"),
        ("Qwen/Qwen2.5-14B-Instruct-AWQ -tp 4", None),
        ("Qwen/Qwen2.5-14B-Instruct-AWQ -tp 8 -q bitsandbytes", None),
    ],
)
def test_awq_groups(words: str, rule: str | None) -> None:
    found = [one for one in ("vllm/awq-groups-cut", "vllm/awq-groups-cut-of-folder") if holds(one, vllm(words))]
    assert found == ([rule] if rule is not None else [])


@together(
    "words, shard",
    [
        ("Qwen/Qwen3-235B-A22B-GPTQ-Int4 -tp 8", "192"),
        ("Qwen/Qwen3-30B-A3B-GPTQ-Int4 -tp 2 -dp 2", "192"),
        ("/models/Qwen3-30B-A3B-GPTQ-Int4 -tp 4 -q gptq_marlin", "192"),
        ("Qwen/Qwen3-235B-A22B-GPTQ-Int4 -tp 4", None),
        ("Qwen/Qwen3-235B-A22B-GPTQ-Int4 -tp 8 --enable-expert-parallel", None),
        ("Qwen/Qwen3-235B-A22B-GPTQ-Int4 -tp 8 -q fp8", None),
        ("Qwen/Qwen3-235B-A22B-GPTQ-Int4 -tp 7", None),
        ("Qwen/Qwen3-235B-A22B -tp 8", None),
        ("Qwen/Qwen3-32B-AWQ -tp 8", None),
        ("house/Qwen3-235B-A22B-GPTQ-Int4 -tp 8", None),
        ("house/model -tp 8", None),
    ],
)
def test_experts_in_int4(words: str, shard: str | None) -> None:
    found = fields("vllm/int4-experts-cut", vllm(words, "0.9.1"))
    assert (found["shard"] if found is not None else None) == shard


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("zai-org/GLM-4.5-Air-FP8 -tp 8", "inner size of 10944"),
        ("zai-org/GLM-4.5-Air-FP8 -tp 2", "inner size of 10944"),
        ("zai-org/GLM-4.5-FP8 -tp 8", None),
        ("zai-org/GLM-4.5-Air -tp 8", None),
        ("zai-org/GLM-4.5-Air-FP8 -tp 8 -q fp8", None),
        ("/models/GLM-4.5-Air-FP8 -tp 8", None),
        ("Qwen/Qwen3-32B-FP8 -tp 8", None),  # in blocks
    ],
)
def test_tiles_of_fp8_in_channels(words: str, part: str | None) -> None:
    found = vllm(words, "0.11.0")
    found.launch.gpu = "a100"
    read_fields = fields("vllm/fp8-tiles-cut", found)
    assert (read_fields["part"] if read_fields is not None else None) == part


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("Qwen/Qwen3-8B-FP8", True),
        ("deepseek-ai/DeepSeek-V3", True),
        ("/data/Qwen3-8B-FP8", True),
        ("Qwen/Qwen3-8B-FP8 --quantization fp8", True),
        ("zai-org/GLM-4.5-Air-FP8", False),
        ("RedHatAI/Qwen3-8B-FP8-dynamic", False),
        ("Qwen/Qwen3-8B", False),
    ],
)
def test_fp8_in_blocks(words: str, known: bool) -> None:
    found = sglang(words, "0.4.7")
    found.launch.gpu = "rtx-3090"
    assert holds("sglang/fp8-blocks-before-ada", found) is known


@pytest.mark.parametrize(
    ("words", "gpu", "release", "part"),
    [
        ("Qwen/Qwen3-8B-FP8", "a100", "0.8.5", "FP8 weights in blocks"),
        ("Qwen/Qwen3-8B-FP8", "a100", "0.9.0", None),
        ("Qwen/Qwen3-8B-FP8", "l4", "0.8.5", None),
        ("Qwen/Qwen3-30B-A3B --quantization fp8", "a100", "0.8.5", "FP8 experts"),
        ("Qwen/Qwen3-30B-A3B --quantization bitsandbytes", "a100", "0.8.5", None),
        ("Qwen/Qwen3-8B --quantization fp8", "a100", "0.8.5", None),
        ("Qwen/Qwen3-30B-A3B", "a100", "0.8.5", None),
    ],
)
def test_fp8_in_triton(words: str, gpu: str, release: str, part: str | None) -> None:
    launch = launch_in(f"vllm serve {words}", "run.sh")
    launch.gpu = gpu
    found = fields("vllm/fp8-triton-before-ada", configs(launch, [release])[0])
    assert (found["part"] if found is not None else None) == part


@together(
    "words, part",
    [
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 -tp 8", None),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 -tp 16", "groups"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 -tp 3", "heads"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", None),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 -tp $N", None),
        ("ibm-granite/granite-4.0-h-small -tp 16", None),  # one group, which each GPU has a copy of
        ("Qwen/Qwen3.6-27B -tp 16", None),  # no Mamba-2
        ("house/model -tp 16", None),
    ],
)
def test_heads_of_states(words: str, part: str | None) -> None:
    found = fields("vllm/state-heads-not-divided", vllm(words, "0.28.0"))
    assert (found["part"] if found is not None else None) == part


PACKED = "RedHatAI/Qwen3-30B-A3B-quantized.w4a16"


@together(
    "words, release, shard",
    [
        (f"{PACKED} -tp 8", "0.33.0", "96"),
        (f"{PACKED} -tp 4", "0.24.0", "192"),
        (f"{PACKED} -tp 2", "0.33.0", None),
        (f"{PACKED} -tp 2 -dp 2", "0.33.0", "192"),
        (f"{PACKED} -tp 4", "0.23.0", None),
        (f"{PACKED} -tp 4 --enable-expert-parallel", "0.33.0", None),
        (f"{PACKED} -tp 4 $MORE", "0.33.0", None),
        ("Qwen/Qwen3-30B-A3B -tp 8", "0.33.0", None),
        ("Qwen/Qwen3-30B-A3B-FP8 -tp 8", "0.33.0", None),
    ],
)
def test_experts_in_groups_of_compressed_tensors(words: str, release: str, shard: str | None) -> None:
    found = fields("vllm/packed-experts-cut", vllm(words, release))
    assert (found["shard"] if found is not None else None) == shard


@together(
    "words, release, shard",
    [
        ("RedHatAI/Qwen2.5-14B-Instruct-quantized.w4a16 -tp 8", "0.33.0", "1728"),
        ("RedHatAI/Qwen2.5-14B-Instruct-quantized.w4a16 -tp 4", "0.33.0", None),
        ("RedHatAI/Qwen2.5-14B-Instruct-quantized.w4a16 -tp 8 --quantization gptq", "0.33.0", None),
        ("RedHatAI/Qwen2.5-14B-Instruct-quantized.w8a16 -tp 8", "0.33.0", None),  # a scale for each channel
        ("RedHatAI/granite-3.1-8b-instruct-quantized.w4a16 -tp 8", "0.33.0", None),  # groups of 64 would fit
        ("RedHatAI/gemma-4-26B-A4B-it-quantized.w4a16 -tp 2", "0.33.0", None),  # 2112 inputs have no groups of 128
        ("Qwen/Qwen2.5-14B-Instruct-GPTQ-Int4 -tp 8 --quantization gptq", "0.21.0", "1728"),
        ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4 -tp 8 --quantization gptq", "0.21.0", None),  # padded
    ],
)
def test_linear_groups(words: str, release: str, shard: str | None) -> None:
    found = fields("vllm/linear-groups-cut", vllm(words, release))
    assert (found["shard"] if found is not None else None) == shard


def in_groups(folder: Path, rule: str, tp: int, weights: Mapping[str, object], model: Mapping[str, object]) -> bool:
    """Whether a rule finds something where a folder has a model in compressed-tensors' format."""
    quantization = {
        "quant_method": "compressed-tensors", "format": "pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"type": "int", "symmetric": True, **weights}}},
    }  # fmt: skip
    config = {**model, "vocab_size": 1000, "torch_dtype": "bfloat16", "quantization_config": quantization}
    (folder / "m").mkdir()
    (folder / "m" / "config.json").write_text(json.dumps(config))
    launch = launch_in(f"vllm serve ./m -tp {tp}", "run.sh", folder)
    return fields(rule, configs(launch, ["0.33.0"])[0]) is not None


@pytest.mark.parametrize(("width", "cut"), [(13824, True), (8192, False), (13760, False)])
def test_linear_groups_by_the_config_of_a_folder(width: int, cut: bool, tmp_path: Path) -> None:
    model = {
        "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 5120, "intermediate_size": width,
        "num_hidden_layers": 2, "num_attention_heads": 40, "num_key_value_heads": 8,
    }  # fmt: skip
    weights = {"num_bits": 4, "group_size": 128, "strategy": "group"}
    assert in_groups(tmp_path, "vllm/linear-groups-cut", 8, weights, model) is cut


@pytest.mark.parametrize(
    ("bits", "group", "cut"), [(4, 128, True), (8, 128, False), (4, 32, False), (4, None, False), (4, -1, False)]
)
def test_experts_in_groups_by_the_config_of_a_folder(bits: int, group: int | None, cut: bool, tmp_path: Path) -> None:
    model = {
        "architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144,
        "num_hidden_layers": 4, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
        "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 768,
    }  # fmt: skip
    weights = {"num_bits": bits, "group_size": group, "strategy": "group" if group else "channel"}
    assert in_groups(tmp_path, "vllm/packed-experts-cut", 4, weights, model) is cut
