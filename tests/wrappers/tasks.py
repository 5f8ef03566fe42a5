"""Examples as tasks of other tools: SkyPilot, GitHub Actions, recipes with templates, llama-swap."""

from __future__ import annotations

import re
from typing import Any

from tests.wrappers.markdown import commands
from tests.wrapping import image_of, verb_of

_PACKAGES = {"vllm": "vllm=={}", "sglang": "sglang[all]=={}", "lmdeploy": "lmdeploy=={}", "trtllm": "tensorrt-llm=={}"}
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


def _image(engine: str, example: dict[str, Any]) -> str | None:
    return image_of(engine, example)[0] if "image" in example or ("version" in example and engine not in _PACKAGES) else None


def _install(engine: str, example: dict[str, Any]) -> str:
    return f'pip install "{_PACKAGES[engine].format(example["version"])}"' if "version" in example else "true"


def skypilot(engine: str, example: dict[str, Any]) -> str:
    image = _image(engine, example)
    lines = example["run"].replace(" --", " \\\n    --")
    exports = "".join([f'  export {name}="{value}"\n' for name, value in example.get("env", {}).items()])
    where = f"  image_id: docker:{image}\n" if image else ""
    setup = "true" if image else _install(engine, example)
    gpus = f"accelerators: {example['gpu']}:{example.get('gpus', 8)}" if "gpu" in example else "disk_size: 512"
    return f"resources:\n  {gpus}\n{where}\nsetup: |\n  {setup}\n\nrun: |\n{exports}  {lines}\n"


def github_actions(engine: str, example: dict[str, Any]) -> str:
    image = _image(engine, example)
    lines = example["run"].replace(" --", " \\\n            --")
    values = {name: _VARIABLE.sub(r"${{ vars.\1 }}", value) for name, value in example.get("env", {}).items()}
    variables = "".join([f'      {name}: "{value}"\n' for name, value in values.items()])
    env = f"    env:\n{variables}" if variables else ""
    where = f"    container: {image}\n" if image else ""
    install = "true" if image else _install(engine, example)
    return (
        f"on: [push]\njobs:\n  serve:\n    runs-on: [self-hosted, gpu]\n{where}{env}    steps:\n      - run: {install}\n"
        f"      - name: start\n        run: |\n          {lines} &\n"
    )


def recipe(engine: str, example: dict[str, Any]) -> str:
    image, _ = image_of(engine, example)
    exports = "".join([f'  export {name}="{value}"\n' for name, value in example.get("env", {}).items()])
    braced = example["run"].replace("{", "{{").replace("}", "}}")
    lines = braced.replace(" --", " \\\n    --")
    return f"recipe_version: '1'\ncontainer: {image}\ndefaults:\n  port: 8000\ncommand: |\n{exports}  {lines}\n"


def llama_swap(engine: str, example: dict[str, Any]) -> str:
    if _image(engine, example) is not None or "version" in example:
        image, starts = image_of(engine, example)
        command = example["run"]
        words = command.removeprefix(verb_of(command, engine)).strip() if starts else command
        given = "".join([f' -e {name}="{value}"' for name, value in example.get("env", {}).items()])
        typed, env = f"docker run --rm{given} {image} {words}", ""
    else:
        typed = commands(engine, {key: value for key, value in example.items() if key != "env"})[-1]
        items = "".join([f"      - '{name}={value}'\n" for name, value in example.get("env", {}).items()])
        env = f"    env:\n{items}" if items else ""
    text = f"models:\n  main:\n{env}    cmd: |\n      # comments and lines are not the command's\n      {typed}\n".replace(
        " --", "\n      --"
    )
    return _VARIABLE.sub(r"${env.\1}", text)


WRAPPERS = {
    "skypilot": ("serve.sky.yaml", skypilot),
    "github-actions": ("workflow.yml", github_actions),
    "recipe": ("recipe.yaml", recipe),
    "llama-swap": ("config.yaml", llama_swap),
}
