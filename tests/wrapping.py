"""What the wrappers of tests/wrappers share: they put a rule's example, with its marks, into the formats that readers read."""

from __future__ import annotations

import shlex
from typing import Any

from servelint.core.source import Source, Span

OPEN, CLOSE = "\u27e6", "\u27e7"
VERBS = {
    "vllm": ("vllm serve", "python3 -m vllm.entrypoints.openai.api_server"),
    "sglang": ("python -m sglang.launch_server", "python3 -m sglang.launch_server", "sglang serve"),
    "llama.cpp": ("llama-server",),
    "lmdeploy": ("lmdeploy serve api_server",),
    "tgi": ("text-generation-launcher",),
    "ollama": ("ollama",),
    "trtllm": ("trtllm-serve",),
}
IMAGES = {
    "vllm": "vllm/vllm-openai:v{}",
    "sglang": "lmsysorg/sglang:v{}-cu126",
    "llama.cpp": "ghcr.io/ggml-org/llama.cpp:server-cuda-{}",
    "lmdeploy": "openmmlab/lmdeploy:v{}",
    "tgi": "ghcr.io/huggingface/text-generation-inference:{}",
    "ollama": "ollama/ollama:{}",
    "trtllm": "nvcr.io/nvidia/tensorrt-llm/release:{}",
}
IMAGED = ("llama.cpp", "tgi", "ollama")
"""Engines that are no Python packages: an example names its release by an image."""
PACKAGES = {"vllm": "vllm=={}", "sglang": "sglang[all]=={}", "lmdeploy": "lmdeploy=={}", "trtllm": "tensorrt-llm=={}"}


def words(command: str) -> list[str]:
    """The words of a command; variables stay as they are written."""
    return shlex.split(command)


def verb_of(command: str, engine: str) -> str:
    return next(verb for verb in VERBS[engine] if command.replace(OPEN, "").startswith(verb))


def image_of(engine: str, example: dict[str, Any]) -> tuple[str, bool]:
    """An image for the example's release, and whether the image starts the engine by itself."""
    if "image" in example:
        return str(example["image"]), engine not in ("sglang", "lmdeploy", "trtllm")
    if "version" not in example:
        return "registry.example/house/server:prod", False
    if engine == "vllm" and example["run"].startswith("python3 -m"):
        return f"registry.example/vllm-openai:v{example['version']}", False  # whose entrypoint nobody knows
    starts = engine not in ("sglang", "lmdeploy", "trtllm")
    return IMAGES[engine].format(example["version"]), starts


def single_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def environment(example: dict[str, Any], indent: str) -> str:
    if "env" not in example:
        return ""
    return f"{indent}environment:\n" + "".join([f'{indent}  {name}: "{value}"\n' for name, value in example["env"].items()])


def unmarked(filename: str, text: str) -> tuple[Source, Span | None]:
    """The source without its marks, and the span that they enclosed."""
    start = text.find(OPEN)
    if start == -1:
        return Source(filename, text), None
    end = text.index(CLOSE) - 1
    source = Source(filename, text.replace(OPEN, "").replace(CLOSE, ""))
    return source, Span(source, start, end)


def container(engine: str, example: dict[str, Any]) -> str:
    """The example as a `docker run` of an image for its release."""
    image, starts = image_of(engine, example)
    command = example["run"]
    rest = command.removeprefix(verb_of(command, engine)).strip() if starts else command
    variables = "".join([f' -e {name}="{value}"' for name, value in example.get("env", {}).items()])
    return f"docker run --rm --gpus all{variables} {image} {rest}"
