"""Examples as JSON recipes: an argument list, an npm script, a task definition's container."""

from __future__ import annotations

import json
from typing import Any

from tests.wrapping import image_of, verb_of, words

_PACKAGES = {"vllm": "vllm=={}", "sglang": "sglang[all]=={}", "lmdeploy": "lmdeploy=={}", "trtllm": "tensorrt-llm=={}"}


def _in_container(engine: str, example: dict[str, Any]) -> bool:
    """Whether only an image can say the example's release."""
    return "image" in example or ("version" in example and engine not in _PACKAGES)


def _written(recipe: dict[str, Any]) -> str:
    return json.dumps(recipe, indent=2, ensure_ascii=False) + "\n"


def _runner(engine: str, example: dict[str, Any]) -> list[str]:
    if "version" not in example:
        return []
    return ["uv", "run", "--with", _PACKAGES[engine].format(example["version"])]


def _container(engine: str, example: dict[str, Any]) -> dict[str, Any]:
    image, starts = image_of(engine, example)
    command = example["run"]
    argv = words(command.removeprefix(verb_of(command, engine)) if starts else command)
    env = [{"name": name, "value": value} for name, value in example.get("env", {}).items()]
    return {"name": "llm", "image": image, "environment": env, "command": argv}


def json_argv(engine: str, example: dict[str, Any]) -> str:
    if _in_container(engine, example):
        image, starts = image_of(engine, example)
        command = example["run"]
        argv = words(command.removeprefix(verb_of(command, engine)) if starts else command)
        env = [word for name, value in example.get("env", {}).items() for word in ("-e", f"{name}={value}")]
        return _written({"command": "docker", "args": ["run", "--rm", *env, image, *argv]})
    argv = [*_runner(engine, example), *words(example["run"])]
    return _written({"servers": [{"argv": argv, "env": example.get("env", {})}]})


def json_script(engine: str, example: dict[str, Any]) -> str:
    if _in_container(engine, example):
        return json_container(engine, example)
    env = "".join([f'{name}="{value}" ' for name, value in example.get("env", {}).items()])
    line = env + " ".join([*[f"'{word}'" for word in _runner(engine, example)], example["run"]])
    return _written({"name": "llm", "scripts": {"build": "tsc", "serve": line}})


def json_container(engine: str, example: dict[str, Any]) -> str:
    return _written({"family": "llm", "containerDefinitions": [{"name": "web", "image": "nginx"}, _container(engine, example)]})


WRAPPERS = {
    "json-argv": ("recipe.json", json_argv),
    "json-script": ("package.json", json_script),
    "json-container": ("task.json", json_container),
}
