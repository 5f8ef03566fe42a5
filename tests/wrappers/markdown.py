"""Examples in Markdown: a fence inside a list, and a console inside a quote."""

from __future__ import annotations

from typing import Any

from tests.wrapping import image_of, verb_of

_PACKAGES = {"vllm": "vllm=={}", "sglang": "sglang[all]=={}", "lmdeploy": "lmdeploy=={}", "trtllm": "tensorrt-llm=={}"}


def commands(engine: str, example: dict[str, Any]) -> list[str]:
    """What is typed to run an example: an installer and exports before it, or a container."""
    command = example["run"]
    variables = example.get("env", {})
    if "image" in example or ("version" in example and engine not in _PACKAGES):
        image, starts = image_of(engine, example)
        words = command.removeprefix(verb_of(command, engine)).strip() if starts else command
        given = "".join([f' -e {name}="{value}"' for name, value in variables.items()])
        return [f"docker run --rm --gpus all{given} {image} {words}"]
    install = [f'pip install "{_PACKAGES[engine].format(example["version"])}"'] if "version" in example else []
    return [*install, *[f'export {name}="{value}"' for name, value in variables.items()], command]


def fence_in_a_list(engine: str, example: dict[str, Any]) -> str:
    lines = "\n".join(commands(engine, example)).replace(" --", " \\\n     --").replace("\n", "\n   ")
    return f"# Serving\n\n`vllm serve` and `sglang serve` start a server.\n\n1. Start it:\n\n   ```bash\n   {lines}\n   ```\n"


def console_in_a_quote(engine: str, example: dict[str, Any]) -> str:
    typed = [command.replace(" --", " \\\n> > --") for command in commands(engine, example)]
    lines = "\n".join([f"> $ {command}\n> vllm serve: ready" for command in typed])
    return f"> **Note**\n>\n> ```console\n{lines}\n> ```\n"


WRAPPERS = {
    "markdown-list": ("README.md", fence_in_a_list),
    "markdown-console": ("guide.mdx", console_in_a_quote),
}
