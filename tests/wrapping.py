"""Wraps a rule's example into the formats that readers read. The marks around the expected span travel along."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from servelint.source import Source, Span

OPEN, CLOSE = "\u27e6", "\u27e7"
VERBS = {
    "vllm": ("vllm serve", "python3 -m vllm.entrypoints.openai.api_server"),
    "sglang": ("python -m sglang.launch_server", "python3 -m sglang.launch_server", "sglang serve"),
    "llama.cpp": ("llama-server",),
    "lmdeploy": ("lmdeploy serve api_server",),
}
IMAGES = {
    "vllm": "vllm/vllm-openai:v{}",
    "sglang": "lmsysorg/sglang:v{}-cu126",
    "llama.cpp": "ghcr.io/ggml-org/llama.cpp:server-cuda-{}",
    "lmdeploy": "openmmlab/lmdeploy:v{}",
}


def words(command: str) -> list[str]:
    """The words of a command; variables stay as they are written."""
    return shlex.split(command)


def verb_of(command: str, engine: str) -> str:
    return next(verb for verb in VERBS[engine] if command.replace(OPEN, "").startswith(verb))


def _image(engine: str, example: dict[str, Any]) -> tuple[str, bool]:
    """An image for the example's release, and whether the image starts the engine by itself."""
    if "image" in example:
        return str(example["image"]), engine not in ("sglang", "lmdeploy")
    if "version" not in example:
        return "registry.example/house/server:prod", False
    if engine == "vllm" and example["run"].startswith("python3 -m"):
        return f"registry.example/vllm-openai:v{example['version']}", False  # whose entrypoint nobody knows
    starts = engine not in ("sglang", "lmdeploy")
    return IMAGES[engine].format(example["version"]), starts


def _single_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _environment(example: dict[str, Any], indent: str) -> str:
    if "env" not in example:
        return ""
    return f"{indent}environment:\n" + "".join([f'{indent}  {name}: "{value}"\n' for name, value in example["env"].items()])


def compose_list(engine: str, example: dict[str, Any]) -> str:
    image, starts = _image(engine, example)
    command = example["run"]
    argv = words(command.removeprefix(verb_of(command, engine)) if starts else command)
    items = "".join([f"      - {_single_quoted(word)}\n" for word in argv])
    return f"services:\n  llm:\n    image: {image}\n{_environment(example, '    ')}    command:\n{items}"


def compose_string(engine: str, example: dict[str, Any]) -> str:
    image, starts = _image(engine, example)
    command = example["run"]
    text = command.removeprefix(verb_of(command, engine)).strip() if starts else command
    folded = text.replace(" --", "\n      --")
    return f"services:\n  llm:\n    image: {image}\n{_environment(example, '    ')}    command: >-\n      {folded}\n"


def compose_shell(engine: str, example: dict[str, Any]) -> str:
    image, _ = _image(engine, example)
    # in a script of its own the variables are the shell's: compose passes a doubled dollar on
    lines = example["run"].replace("$", "$$").replace(" --", " \\\n          --")
    environment = _environment(example, "    ")
    return (
        f"services:\n  llm:\n    image: {image}\n{environment}    entrypoint: [bash, -c]\n"
        f"    command:\n      - |\n        set -e\n        exec {lines}\n"
    )


def shell_script(engine: str, example: dict[str, Any]) -> str:
    command = example["run"]
    verb = verb_of(command, engine)
    exports = "".join([f'export {name}="{value}"\n' for name, value in example.get("env", {}).items()])
    rest = command.removeprefix(verb).strip()
    head, dashes, options = rest.partition(" -") if not rest.startswith("-") else ("", "-", rest[1:])
    array = f"ARGS=(\n  {dashes.strip()}{options.replace(' --', chr(10) + '  --')}\n)\n" if dashes else "ARGS=()\n"
    start = f'{verb} {head} "${{ARGS[@]}}"'.replace("  ", " ")
    if "image" in example or ("version" in example and engine == "llama.cpp"):
        image, starts = _image(engine, example)
        head = head if starts else f"{verb} {head}"
        environment = "".join([f' -e {name}="{value}"' for name, value in example.get("env", {}).items()])
        return f'#!/bin/bash\n{array}docker run --rm --gpus all{environment} \\\n  {image} {head} "${{ARGS[@]}}"\n'
    package = {"vllm": "vllm=={}", "sglang": "sglang[all]=={}", "lmdeploy": "lmdeploy=={}"}.get(engine, "")
    install = f'pip install -q "{package.format(example["version"])}"\n' if "version" in example else ""
    return f"#!/usr/bin/env bash\nset -euo pipefail\n{install}{exports}{array}exec {start}\n"


WRAPPERS: dict[str, tuple[str, Callable[[str, dict[str, Any]], str]]] = {
    "compose-list": ("compose.yml", compose_list),
    "compose-string": ("compose.yml", compose_string),
    "compose-shell": ("compose.yml", compose_shell),
    "shell": ("run.sh", shell_script),
}


def unmarked(filename: str, text: str) -> tuple[Source, Span | None]:
    """The source without its marks, and the span that they enclosed."""
    start = text.find(OPEN)
    if start == -1:
        return Source(filename, text), None
    end = text.index(CLOSE) - 1
    source = Source(filename, text.replace(OPEN, "").replace(CLOSE, ""))
    return source, Span(source, start, end)
