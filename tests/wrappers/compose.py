"""Examples as services of a compose file."""

from __future__ import annotations

from typing import Any

from tests.wrapping import environment, image_of, single_quoted, verb_of, words


def compose_list(engine: str, example: dict[str, Any]) -> str:
    image, starts = image_of(engine, example)
    command = example["run"]
    argv = words(command.removeprefix(verb_of(command, engine)) if starts else command)
    items = "".join([f"      - {single_quoted(word)}\n" for word in argv])
    return f"services:\n  llm:\n    image: {image}\n{environment(example, '    ')}    command:\n{items}"


def compose_string(engine: str, example: dict[str, Any]) -> str:
    image, starts = image_of(engine, example)
    command = example["run"]
    text = command.removeprefix(verb_of(command, engine)).strip() if starts else command
    folded = text.replace(" --", "\n      --")
    return f"services:\n  llm:\n    image: {image}\n{environment(example, '    ')}    command: >-\n      {folded}\n"


def compose_shell(engine: str, example: dict[str, Any]) -> str:
    image, _ = image_of(engine, example)
    # in a script of its own the variables are the shell's: compose passes a doubled dollar on
    lines = example["run"].replace("$", "$$").replace(" --", " \\\n          --")
    variables = environment(example, "    ")
    return (
        f"services:\n  llm:\n    image: {image}\n{variables}    entrypoint: [bash, -c]\n"
        f"    command:\n      - |\n        set -e\n        exec {lines}\n"
    )


def compose_flow(engine: str, example: dict[str, Any]) -> str:
    """One line of JSON-like YAML, the keys of which come in another order."""
    image, starts = image_of(engine, example)
    command = example["run"]
    argv = words(command.removeprefix(verb_of(command, engine)) if starts else command)
    items = ", ".join([single_quoted(word) for word in argv])
    variables = "".join([f"      - {name}={value}\n" for name, value in example.get("env", {}).items()])
    environment = f"    environment:\n{variables}" if variables else ""
    return f"services:\n  llm:\n    command: [{items}]\n{environment}    image: '{image}'\n"


def compose_anchors(engine: str, example: dict[str, Any]) -> str:
    """Templates that a service takes by merge keys."""
    image, starts = image_of(engine, example)
    command = example["run"]
    argv = words(command.removeprefix(verb_of(command, engine)) if starts else command)
    items = "".join([f"    - {single_quoted(word)}\n" for word in argv])
    variables = environment(example, "  ").replace("environment:", "environment: &env") or "  environment: &env {}\n"
    return (
        f"x-engine: &engine\n  image: {image}\n  command:\n{items}x-env:\n{variables}"
        "services:\n  web: {image: nginx}\n  llm:\n    <<: *engine\n    environment:\n      <<: *env\n"
    )


def compose_extends(engine: str, example: dict[str, Any]) -> str:
    """A service that extends another, which alone starts nothing."""
    image, starts = image_of(engine, example)
    command = example["run"]
    text = command.removeprefix(verb_of(command, engine)).strip() if starts else command
    return (
        f"services:\n  base:\n    entrypoint: sleep\n    command: ['1']\n{environment(example, '    ')}"
        f"  llm:\n    extends: {{service: base}}\n    image: {image}\n    entrypoint:\n    command: >\n      {text}\n"
    )


def compose_config(engine: str, example: dict[str, Any]) -> str:
    """A script that stands in the file and is mounted."""
    image, _ = image_of(engine, example)
    lines = example["run"].replace("$", "$$").replace(" --", " \\\n        --")
    return (
        f"services:\n  llm:\n    image: {image}\n{environment(example, '    ')}    configs: [start.sh]\n"
        f"    entrypoint: [bash, /start.sh]\nconfigs:\n  start.sh:\n    content: |\n      set -e\n      exec {lines}\n"
    )


def compose_build(engine: str, example: dict[str, Any]) -> str:
    """A Dockerfile that stands in the file; the service gives the command."""
    image, starts = image_of(engine, example)
    command = example["run"]
    argv = words(command.removeprefix(verb_of(command, engine)) if starts else command)
    items = "".join([f"      - {single_quoted(word)}\n" for word in argv])
    return (
        f"services:\n  llm:\n    image: {image}\n    build:\n      dockerfile_inline: |\n        FROM {image}\n"
        f"        RUN pip install hf_transfer\n{environment(example, '    ')}    command:\n{items}"
    )


WRAPPERS = {
    "compose-list": ("compose.yml", compose_list),
    "compose-string": ("compose.yml", compose_string),
    "compose-shell": ("compose.yml", compose_shell),
    "compose-flow": ("compose.yml", compose_flow),
    "compose-anchors": ("compose.yml", compose_anchors),
    "compose-extends": ("compose.yml", compose_extends),
    "compose-config": ("compose.yml", compose_config),
    "compose-build": ("compose.yml", compose_build),
}
