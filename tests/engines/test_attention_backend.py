"""The attention backends that the engines' own start-up code chose without an option, on GPUs of several generations.

`attention_backends.jsonl` has SGLang's resolved server arguments and the answers of vLLM's attention selector.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from servelint.core.settings import Settings
from servelint.engines.config import configs
from servelint.files.directives import name_gpus
from tests.launching import launch_in
from tests.together import together

RECORDED = [
    json.loads(line) for line in (Path(__file__).parent / "attention_backends.jsonl").read_text(encoding="utf-8").splitlines()
]
COMMANDS = {"vllm": "vllm serve {}", "sglang": "python -m sglang.launch_server --model-path {}"}


def chosen(command: str, release: str, gpu: str | None) -> object:
    launch = launch_in(command, "run.sh")
    name_gpus(launch, Settings(gpu=gpu))
    return configs(launch, [release])[0].operand("effective.attention-backend").value


@pytest.mark.parametrize("one", RECORDED, ids=[f"{one['engine']}-{one['release']}-{one['gpu']}" for one in RECORDED])
def test_is_that_of_the_engine_or_not_known(one: dict[str, object]) -> None:
    backends = one["backends"]
    assert isinstance(backends, dict)
    found = {name: chosen(COMMANDS[str(one["engine"])].format(name), str(one["release"]), str(one["gpu"])) for name in backends}
    known = {name: backend for name, backend in found.items() if backend is not None}
    assert known == {name: backends[name] for name in known}
    assert len(known) >= 8


@together(
    "command, release, gpu",
    [
        ("vllm serve Qwen/Qwen3-8B", "0.33.0", None),
        ("vllm serve Qwen/Qwen3-8B", "0.11.0", "h100"),  # not looked at
        ("vllm serve Qwen/Qwen3-8B", "0.33.0", "mi300x"),
        ("vllm serve Qwen/Qwen3-8B --kv-cache-dtype fp8", "0.33.0", "l4"),
        ("vllm serve Qwen/Qwen3-8B $ARGS", "0.33.0", "h100"),
        ("vllm serve Qwen/Qwen3-8B --attention-backend auto", "0.33.0", "h100"),
        ("VLLM_ATTENTION_BACKEND=FLASHINFER vllm serve Qwen/Qwen3-8B", "0.13.0", "h100"),
        ("vllm serve openai/gpt-oss-20b", "0.33.0", "l4"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "0.5.23", None),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "0.5.6", "b200"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "0.5.6.post2", "rtx-5090"),
        ("python -m sglang.launch_server --model-path mistralai/Mistral-7B-Instruct-v0.3", "0.5.6.post2", "h100"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B --decode-attention-backend fa3", "0.5.23", "b200"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B --enable-deterministic-inference", "0.5.23", "b200"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3.6-27B", "0.5.23", "b200"),
        ("python -m sglang.launch_server --model-path openai/gpt-oss-20b", "0.5.23", "mi300x"),
    ],
)
def test_is_not_known(command: str, release: str, gpu: str | None) -> None:
    assert chosen(command, release, gpu) is None


@together(
    "command, release, gpu, backend",
    [
        ("vllm serve Qwen/Qwen3-8B", "0.23.0", "t4", "FLASHINFER"),
        ("vllm serve Qwen/Qwen3-8B", "0.24.0", "t4", "TRITON_ATTN"),
        ("vllm serve Qwen/Qwen3-8B", "0.33.0", "gb10", "FLASH_ATTN"),
        ("vllm serve Qwen/Qwen3-8B", "0.33.0", "b300", "FLASHINFER"),
        ("vllm serve Qwen/Qwen3-8B --attention-backend TRITON_ATTN", "0.33.0", None, "TRITON_ATTN"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "0.5.23", "h100", "fa3"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "0.5.23", "b300", "trtllm_mha"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "0.5.23", "gb10", "flashinfer"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B", "0.5.23", "mi300x", "aiter"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B --attention-backend triton", "0.5.23", None, "triton"),
    ],
)
def test_on_other_gpus(command: str, release: str, gpu: str | None, backend: str) -> None:
    assert chosen(command, release, gpu) == backend
