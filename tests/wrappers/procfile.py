"""Examples as a line of a Procfile."""

from __future__ import annotations

from typing import Any

from tests.wrapping import IMAGED, PACKAGES, container


def process(engine: str, example: dict[str, Any]) -> str:
    if "image" in example or ("version" in example and engine in IMAGED):
        return f"web: nginx\nllm: {container(engine, example)}\n"
    install = f"pip install {PACKAGES[engine].format(example['version'])} && " if "version" in example else ""
    env = "".join([f'{name}="{value}" ' for name, value in example.get("env", {}).items()])
    return f"web: nginx\nllm: {install}{env}{example['run']}\n"


WRAPPERS = {"procfile": ("Procfile", process)}
