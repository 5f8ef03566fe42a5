"""Examples as shell scripts."""

from __future__ import annotations

from typing import Any

from tests.wrapping import IMAGED, image_of, verb_of


def shell_script(engine: str, example: dict[str, Any]) -> str:
    command = example["run"]
    verb = verb_of(command, engine)
    exports = "".join([f'export {name}="{value}"\n' for name, value in example.get("env", {}).items()])
    rest = command.removeprefix(verb).strip()
    head, dashes, options = rest.partition(" -") if not rest.startswith("-") else ("", "-", rest[1:])
    array = f"ARGS=(\n  {dashes.strip()}{options.replace(' --', chr(10) + '  --')}\n)\n" if dashes else "ARGS=()\n"
    start = f'{verb} {head} "${{ARGS[@]}}"'.replace("  ", " ")
    if "image" in example or ("version" in example and engine in IMAGED):
        image, starts = image_of(engine, example)
        head = head if starts else f"{verb} {head}"
        environment = "".join([f' -e {name}="{value}"' for name, value in example.get("env", {}).items()])
        return f'#!/bin/bash\n{array}docker run --rm --gpus all{environment} \\\n  {image} {head} "${{ARGS[@]}}"\n'
    package = {"vllm": "vllm=={}", "sglang": "sglang[all]=={}", "lmdeploy": "lmdeploy=={}", "trtllm": "tensorrt-llm=={}"}.get(
        engine, ""
    )
    install = f'pip install -q "{package.format(example["version"])}"\n' if "version" in example else ""
    return f"#!/usr/bin/env bash\nset -euo pipefail\n{install}{exports}{array}exec {start}\n"


WRAPPERS = {"shell": ("run.sh", shell_script)}
