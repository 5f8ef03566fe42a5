"""Examples as cells of a notebook."""

from __future__ import annotations

import json
from typing import Any

from tests.wrapping import image_of, verb_of

_PACKAGES = {"vllm": "vllm=={}", "sglang": "sglang[all]=={}", "lmdeploy": "lmdeploy=={}", "trtllm": "tensorrt-llm=={}"}


def _cell(*lines: str) -> dict[str, Any]:
    source = [line + "\n" for line in lines]
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def notebook(engine: str, example: dict[str, Any]) -> str:
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# Serving\n", "`vllm serve m`"]}]
    env, command = example.get("env", {}), example["run"]
    if "image" in example or ("version" in example and engine not in _PACKAGES):
        image, starts = image_of(engine, example)
        given = command.removeprefix(verb_of(command, engine)) if starts else command
        variables = "".join([f'-e {name}="{value}" ' for name, value in env.items()])
        cells.append(_cell("!docker run --gpus all " + variables + "\\", f"  {image} {given}"))
    else:
        if "version" in example:
            cells.append(_cell(f"!pip install -q {_PACKAGES[engine].format(example['version'])}"))
        cells.append(_cell("import os", *[f"%env {name}={value}" for name, value in env.items()]))
        cells.append(_cell("# start it", *("!" + command.replace(" --", " \\\n --")).split("\n"), "print('up')"))
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


WRAPPERS = {"notebook": ("serve.ipynb", notebook)}
