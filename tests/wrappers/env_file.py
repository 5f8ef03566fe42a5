"""Examples as commands in an env file."""

from __future__ import annotations

from typing import Any

from tests.wrapping import image_of, verb_of

_PACKAGES = {"vllm": "vllm=={}", "sglang": "sglang[all]=={}", "lmdeploy": "lmdeploy=={}", "trtllm": "tensorrt-llm=={}"}


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def env_command(engine: str, example: dict[str, Any]) -> str:
    command, env = example["run"], example.get("env", {})
    variables = "".join([f'{name}="{value}"\n' for name, value in env.items()])
    if "image" in example or ("version" in example and engine not in _PACKAGES):
        image, starts = image_of(engine, example)
        given = command.removeprefix(verb_of(command, engine)) if starts else command
        options = "".join([f'-e {name}="{value}" ' for name, value in env.items()])
        return f"# how it is started\nSERVE_CMD={_quoted(f'docker run --gpus all {options}{image} {given}')}\n"
    runner = f"uv run --with {_PACKAGES[engine].format(example['version'])} " if "version" in example else ""
    return f"PORT_OUTSIDE=8080\n{variables}SERVE_CMD={_quoted(runner + command)}\n"


WRAPPERS = {"env-command": (".env", env_command)}
