"""Checks that ask what is known of a model: on which releases it loads, and what goes with it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from servelint.engines.config import Config, configs
from servelint.judge.checks import models, run_check
from tests.judging import fields
from tests.launching import launch_in
from tests.together import together


def config(text: str, release: str, filename: str = "run.sh") -> Config:
    return configs(launch_in(text, filename), [release])[0]


def compose(image: str, command: str) -> str:
    return f"services:\n  llm:\n    image: {image}\n    command: {command}\n"


@together(
    "text, release, expected",
    [
        ("vllm serve Qwen/Qwen3-8B", "0.6.4.post1", "0.8.4"),
        ("vllm serve Qwen/Qwen3-8B", "0.7.1", "0.8.4"),
        ("vllm serve Qwen/Qwen3-8B", "0.8.2", None),  # pip may bring a newer Transformers
        ("vllm serve Qwen/Qwen3-8B", "0.8.4", None),
        ("vllm serve /models/qwen3.6", "0.16.0", None),
        ("vllm serve Qwen/Qwen3.6-27B", "0.16.0", "0.17.0"),
        ("vllm serve Qwen/Qwen3.6-27B", "0.11.0", "0.17.0"),  # which does not run with Transformers 5
        ("vllm serve Qwen/Qwen3.6-27B", "0.16.1rc1", None),  # 0.17.0, which has it, is the next that is known
        ("vllm serve Qwen/Qwen3.6-27B", "0.14.2.dev3", "0.17.0"),
        ("vllm serve house/Qwen3.6-27B --trust-remote-code", "0.16.0", None),
        ("vllm serve Qwen/Qwen3.6-27B --trust-remote-code", "0.16.0", "0.17.0"),  # its repository brings no code
        ("vllm serve Qwen/Qwen3.6-27B $EXTRA", "0.16.0", None),
        ("vllm serve Qwen/Qwen3-8B --trust-remote-code", "0.6.6", "0.8.4"),
        ("pip install -U transformers\nvllm serve Qwen/Qwen3.6-27B", "0.16.0", None),
        ("uv pip install \\\n  git+https://github.com/huggingface/transformers\nvllm serve Qwen/Qwen3.6-27B", "0.16.0", None),
        ("vllm serve house/model", "0.6.4", None),
        ("vllm serve meta-llama/Llama-3.1-8B", "0.6.0", None),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "0.4.5", "0.4.5.post2"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3.6-27B", "0.5.8", "0.5.9"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3.6-27B", "0.5.9", None),
        ("python -m sglang.launch_server --model-path zai-org/GLM-4.5-Air", "0.4.9.post5", None),
    ],
)
def test_too_new(text: str, release: str, expected: str | None) -> None:
    found = run_check("models.too_new", config(text, release))
    assert (found or {}).get("since") == expected


@pytest.mark.parametrize(
    ("image", "release", "expected"),
    [
        ("vllm/vllm-openai:v0.8.2", "0.8.2", True),
        ("vllm/vllm-openai:v0.8.3", "0.8.3", False),
        ("registry.example/house/vllm:v0.6.4", "0.6.4", False),
    ],
)
def test_too_new_for_an_image(image: str, release: str, expected: bool) -> None:
    found = config(compose(image, "--model Qwen/Qwen3-8B"), release, "compose.yml")
    assert (run_check("models.too_new", found) is not None) is expected


@pytest.mark.parametrize(
    ("text", "release", "expected"),
    [
        ("vllm serve Qwen/Qwen3-8B", "0.8.2", True),
        ("vllm serve Qwen/Qwen3-8B", "0.7.1", False),
        ("vllm serve Qwen/Qwen3.6-27B", "0.16.0", False),
        ("vllm serve house/Qwen3.6-27B --trust-remote-code", "0.16.0", True),
        ("vllm serve Qwen/Qwen3.6-27B --trust-remote-code", "0.16.0", False),  # a repository without code
        ("vllm serve Qwen/Qwen3-8B", "0.8.4", False),
        ("vllm serve house/model", "0.8.2", False),
    ],
)
def test_not_listed(text: str, release: str, expected: bool) -> None:
    assert (run_check("models.not_listed", config(text, release)) is not None) is expected


@together(
    "text, release, expected",
    [
        ("vllm serve Qwen/Qwen3.6-27B --tool-call-parser hermes", "0.20.2", "qwen3_coder"),
        ("vllm serve Qwen/Qwen3.6-27B --tool-call-parser qwen3_xml", "0.20.2", None),
        ("vllm serve Qwen/Qwen3.6-27B --tool-call-parser house", "0.20.2", None),
        ("vllm serve Qwen/Qwen3.6-27B --tool-call-parser $PARSER", "0.20.2", None),
        ("vllm serve Qwen/Qwen3.6-27B", "0.20.2", None),
        ("vllm serve house/model --tool-call-parser hermes", "0.20.2", None),
        ("vllm serve house/Qwen3.6-27B-tuned --tool-call-parser hermes", "0.20.2", None),
        ("vllm serve Qwen/Qwen3-Coder-30B-A3B-Instruct --tool-call-parser hermes", "0.9.2", None),  # there is none yet
        ("vllm serve Qwen/Qwen3-Coder-30B-A3B-Instruct --tool-call-parser hermes", "0.10.0", "qwen3_coder"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3.6-27B --tool-call-parser qwen25", "0.5.9", "qwen3_coder"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3.6-27B --tool-call-parser auto", "0.5.12", None),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tool-call-parser qwen25", "0.5.2", None),
        ("python -m sglang.launch_server --model-path openai/gpt-oss-20b --tool-call-parser qwen25", "0.5.9", "gpt-oss"),
    ],
)
def test_tool_parser(text: str, release: str, expected: str | None) -> None:
    assert (run_check("models.tool_calls", config(text, release)) or {}).get("fits") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vllm serve Qwen/Qwen3-8B --reasoning-parser deepseek_r1", None),
        ("vllm serve Qwen/Qwen3-8B --reasoning-parser openai_gptoss", "qwen3"),
        ("vllm serve openai/gpt-oss-20b --reasoning-parser qwen3", "openai_gptoss"),
        ("vllm serve meta-llama/Llama-3.1-8B-Instruct --reasoning-parser qwen3", None),
    ],
)
def test_reasoning_parser(text: str, expected: str | None) -> None:
    assert (run_check("models.reasoning", config(text, "0.33.0")) or {}).get("fits") == expected


@together(
    "model, names, expected",
    [
        ("Qwen/Qwen3.6-35B-A3B-FP8", "Qwen3.5-27B", True),
        ("Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B-Instruct", True),
        ("Qwen/Qwen3-8B", "Qwen3-14B Qwen3-32B", True),
        ("Qwen/Qwen3-8B", "Qwen3-14B qwen3-8b-awq", False),
        ("Qwen/Qwen3-8B", "Qwen3-14B house", False),
        ("Qwen/Qwen3-8B", "gpt-4", False),
        ("Qwen/Qwen3-8B", "$NAME", False),
        ("Qwen/Qwen3-8B", "Qwen3-14B $NAME", False),
        ("Qwen/Qwen3-30B-A3B", "qwen3-30b", False),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "qwen3-next-80b", False),
        ("Qwen/Qwen3.6-27B", "Qwen3.5-27B", False),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3", False),
        ("house/model", "Qwen3-8B", False),
        ("$MODEL", "Qwen3-8B", False),
    ],
)
def test_served_name(model: str, names: str, expected: bool) -> None:
    found = config(f"vllm serve {model} --served-model-name {names}", "0.33.0")
    assert (run_check("models.another_model", found) is not None) is expected


@together(
    "heads, kv, size, expected",
    [
        (28, 2, 7, "4"),  # each key-value head on two of the four
        (28, 2, 4, None),
        (40, 10, 8, "5"),
        (24, 8, 12, "8"),
        (8, 8, 4, None),
        (60, 2, 15, "12"),
        (6, 4, 3, "2"),
        (6, 2, 0, None),
    ],
)
def test_the_largest_size_that_shares_the_heads(
    heads: int, kv: int, size: int, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"model.kv-heads": kv, "model.heads": heads, "tensor-parallel-size": size}
    monkeypatch.setattr(models, "whole", lambda config, name: found[name])
    fake: Any = SimpleNamespace(launch=SimpleNamespace(engine="vllm"), operand=lambda name: SimpleNamespace(value=False))
    assert (models.kv_heads(fake) or {}).get("largest") == expected


@pytest.mark.parametrize(
    ("model", "size", "expected"),
    [
        ("Qwen/Qwen3.6-27B", 6, "4"),
        ("Qwen/Qwen3.6-27B", 8, None),
        ("Qwen/Qwen3.6-27B", 5, None),  # the attention heads do not divide either
        ("microsoft/phi-4", 4, "2"),
        ("Qwen/Qwen3-30B-A3B", 16, None),
        ("deepseek-ai/DeepSeek-V3", 16, None),
        ("house/model", 6, None),
    ],
)
def test_key_value_heads(model: str, size: int, expected: str | None) -> None:
    for text, release in (
        (f"vllm serve {model} -tp {size}", "0.33.0"),
        (f"python -m sglang.launch_server --model-path {model} --tp {size}", "0.5.23"),
        (f"python -m sglang.launch_server --model-path {model} --tp {size}", "0.5.9"),
    ):
        assert (run_check("models.kv_heads", config(text, release)) or {}).get("largest") == expected


@together(
    "text, release, expected",
    [
        ("vllm serve Qwen/Qwen3-8B-FP8 -q awq", "0.33.0", "fp8"),
        ("vllm serve Qwen/Qwen3-8B-FP8 -q fp8", "0.33.0", None),
        ("vllm serve Qwen/Qwen3-8B-AWQ -q awq_marlin", "0.33.0", None),
        ("vllm serve Qwen/Qwen3-8B-AWQ -q fp8", "0.33.0", "awq"),
        ("vllm serve openai/gpt-oss-20b -q fp8", "0.20.0", None),
        ("vllm serve openai/gpt-oss-20b -q fp8", "0.19.1", "mxfp4"),
        ("vllm serve house/Qwen3-8B-FP8 -q awq", "0.33.0", None),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B-AWQ --quantization awq_marlin", "0.5.23", None),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B-AWQ --quantization fp8", "0.5.23", "awq"),
    ],
)
def test_quantization_mismatch(text: str, release: str, expected: str | None) -> None:
    found = config(text, release)
    rule = f"{found.launch.engine}/quantization-mismatch"
    assert (found.operand("model.quant-method").value if fields(rule, found) is not None else None) == expected


@together(
    "text, release, gpu, expected",
    [
        ("vllm serve m -q fp8", "0.13.0", "t4", "8.0"),
        ("vllm serve m -q fp8", "0.14.0", "t4", None),
        ("vllm serve m -q fp8", "0.14.0", "v100", "7.5"),
        ("vllm serve m -q fp8", "0.14.0", "mi300x", None),
        ("vllm serve m -q fp8", "0.14.0", None, None),
        ("vllm serve m -q modelopt", "0.26.0", "a100", "8.9"),
        ("vllm serve m -q modelopt", "0.27.0", "a100", None),
        ("vllm serve openai/gpt-oss-20b", "0.33.0", "t4", "8.0"),
        ("vllm serve openai/gpt-oss-20b -q $METHOD", "0.33.0", "t4", None),
        ("vllm serve Qwen/Qwen3-8B-AWQ", "0.33.0", "v100", "7.5"),
        ("vllm serve Qwen/Qwen3-8B-GPTQ-Int4", "0.33.0", "v100", None),
        ("vllm serve RedHatAI/Qwen3-8B-quantized.w4a16", "0.11.2", "t4", "8.0"),
        ("vllm serve RedHatAI/Qwen3-8B-quantized.w4a16", "0.12.0", "t4", None),
        ("vllm serve RedHatAI/Qwen3-8B-quantized.w4a16", "0.33.0", "v100", "7.5"),
        ("vllm serve RedHatAI/Qwen3-8B-quantized.w8a8", "0.11.2", "t4", None),
        ("vllm serve RedHatAI/Qwen3-8B-FP8-dynamic", "0.14.1", "t4", "8.0"),
        ("vllm serve RedHatAI/Qwen3-8B-FP8-dynamic", "0.16.0", "t4", None),
        ("vllm serve RedHatAI/Qwen3-8B-FP8", "0.14.1", "t4", None),  # the older ones are of another method
        ("vllm serve cpatonn/Qwen3-8B-AWQ-4bit", "0.11.2", "t4", "8.0"),
        ("vllm serve ./Qwen3-8B-AWQ -q compressed-tensors", "0.11.2", "t4", "8.0"),
        ("vllm serve ./Qwen3-8B-AWQ -q compressed-tensors", "0.11.2", "a100", None),
        ("vllm serve ./house -q compressed-tensors", "0.11.2", "t4", None),
        ("python -m sglang.launch_server --model-path m --quantization modelopt_fp4", "0.5.12", "h100", "10.0"),
        ("python -m sglang.launch_server --model-path m --quantization modelopt_fp4", "0.5.13", "h100", None),
    ],
)
def test_quantization_capability(text: str, release: str, gpu: str | None, expected: str | None) -> None:
    found = config(text, release)
    found.launch.gpu = gpu
    holds = fields(f"{found.launch.engine}/quantization-below-capability", found) is not None
    assert (found.operand("effective.least-capability").shown if holds else None) == expected


@pytest.mark.parametrize(
    ("words", "release", "needs"),
    [
        ("XiaomiMiMo/MiMo-7B-Base", "0.5.23", "its own code"),
        ("XiaomiMiMo/MiMo-7B-Base", "0.5.2", "its own code"),
        ("XiaomiMiMo/MiMo-V2-Flash", "0.5.21", "Transformers 5.13.0 or its own code"),
        ("XiaomiMiMo/MiMo-V2-Flash", "0.5.22", None),
        ("XiaomiMiMo/MiMo-V2-Flash", "0.5.6", None),  # the release does not list the architecture: another rule's
        ("Qwen/Qwen3-8B", "0.5.21", None),
        ("$MODEL", "0.5.21", None),
    ],
)
def test_a_config_that_sglang_cannot_read(words: str, release: str, needs: str | None) -> None:
    found = config(f"python -m sglang.launch_server --model-path {words}", release)
    assert (fields("sglang/config-needs-remote-code", found) or {}).get("needs") == needs


@pytest.mark.parametrize(
    ("text", "release", "needs"),
    [
        ("python -m sglang.launch_server --model-path zai-org/GLM-4.7-Flash", "0.5.9", "5.0.0"),
        ("python -m sglang.launch_server --model-path zai-org/GLM-5", "0.5.9", "5.2.0"),
        ("python -m sglang.launch_server --model-path zai-org/GLM-5", "0.5.8", None),  # not listed: another rule's
        ("python -m sglang.launch_server --model-path zai-org/GLM-5", "0.5.10", None),
        ("pip install -U transformers\npython -m sglang.launch_server --model-path zai-org/GLM-5", "0.5.9", None),
        ("python -m sglang.launch_server --model-path $MODEL", "0.5.9", None),
    ],
)
def test_a_type_that_the_pinned_transformers_does_not_have(text: str, release: str, needs: str | None) -> None:
    found = fields("sglang/config-needs-newer-transformers", config(text, release))
    assert (found or {}).get("transformers") == needs


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("vllm/vllm-openai:v0.18.0 --model", True),
        ("scitrera/dgx-spark-vllm:0.18.0-t5 vllm serve", False),
        ("house/vllm-openai:v0.18.0-transformers5 vllm serve", False),
    ],
)
def test_an_image_of_others_may_have_another_transformers(command: str, refused: bool) -> None:
    found = config(f"docker run --gpus all {command} nvidia/NVIDIA-Nemotron-Nano-9B-v2", "0.18.0")
    assert (fields("vllm/config-needs-remote-code", found) is not None) is refused


@together(
    "words, release, expected",
    [
        ("zai-org/GLM-4.7-Flash --kv-cache-dtype fp8", "0.16.0", "--kv-cache-dtype asks for"),
        ("nvidia/DeepSeek-V3.1-NVFP4", "0.14.0", "the checkpoint's scales ask for"),
        ("nvidia/DeepSeek-V3.1-NVFP4 --kv-cache-dtype auto", "0.14.0", "the checkpoint's scales ask for"),
        ("nvidia/DeepSeek-V3.1-NVFP4", "0.13.0", None),
        ("nvidia/DeepSeek-V3.1-NVFP4 --kv-cache-dtype bfloat16", "0.14.0", None),
        ("nvidia/DeepSeek-V3.1-NVFP4 --kv-cache-dtype $KV", "0.14.0", None),
        ("/models/DeepSeek-V3.1-NVFP4", "0.14.0", None),
        ("deepseek-ai/DeepSeek-V3", "0.14.0", None),
    ],
)
def test_fp8_latent_cache(words: str, release: str, expected: str | None) -> None:
    assert (run_check("models.fp8_latent_cache", config(f"vllm serve {words}", release)) or {}).get("by") == expected
