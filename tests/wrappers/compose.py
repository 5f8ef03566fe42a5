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


WRAPPERS = {
    "compose-list": ("compose.yml", compose_list),
    "compose-string": ("compose.yml", compose_string),
    "compose-shell": ("compose.yml", compose_shell),
}
