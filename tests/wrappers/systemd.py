"""Examples as systemd services and as Quadlet containers."""

from __future__ import annotations

import re
from typing import Any

from tests.wrapping import IMAGED, PACKAGES, container, image_of, verb_of

_VARIABLE = re.compile(r"\$(\w+)")
_BRACED = re.compile(r"\$\{?\w+\}?")
_ALONE = re.compile(r"(?<= )\$\{(\w+)\}(?= |$)")


def words(text: str) -> str:
    """A command line as systemd takes it: `$V` is a variable only as a whole word, a percent sign is doubled."""
    text = text.replace("\\", "\\\\").replace("%", "%%")
    return _ALONE.sub(r"$\1", _VARIABLE.sub(r"${\1}", text)).replace(" --", " \\\n  --")


def service(engine: str, example: dict[str, Any]) -> str:
    env = example.get("env", {})
    if "image" in example or ("version" in example and engine in IMAGED):
        command = words(container(engine, example))
        return f"[Service]\nExecStartPre=-/usr/bin/docker rm -f llm\nExecStart=/usr/bin/{command}\nRestart=always\n"
    # there are no variables in `Environment=`, but a unit's instance is not known either
    lines = [f'Environment="{name}={_BRACED.sub("%i", value)}"' for name, value in env.items()]
    if "version" in example:
        lines.append(f"ExecStartPre=/opt/llm/bin/pip install {PACKAGES[engine].format(example['version'])}")
    lines.append(f"ExecStart=/opt/llm/bin/{words(example['run'])}")
    return "[Unit]\nDescription=llm\n\n[Service]\n" + "\n".join(lines) + "\nRestart=always\n"


def quadlet(engine: str, example: dict[str, Any]) -> str:
    image, starts = image_of(engine, example)
    command = example["run"]
    text = words(command.removeprefix(verb_of(command, engine)).strip() if starts else command)
    env = "".join([f'Environment="{name}={words(value)}"\n' for name, value in example.get("env", {}).items()])
    return f"[Container]\nImage={image}\n{env}Exec={text}\n\n[Install]\nWantedBy=default.target\n"


WRAPPERS = {
    "systemd": ("llm.service", service),
    "quadlet": ("llm.container", quadlet),
}
