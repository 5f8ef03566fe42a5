"""Examples as Dockerfiles: what the image starts by itself."""

from __future__ import annotations

import json
from typing import Any

from tests.wrapping import image_of, verb_of, words


def _variables(example: dict[str, Any]) -> str:
    return "".join([f'ENV {name}="{value}"\n' for name, value in example.get("env", {}).items()])


def dockerfile_exec(engine: str, example: dict[str, Any]) -> str:
    image, starts = image_of(engine, example)
    command = example["run"]
    if "$" in command:
        # nothing replaces a variable in a JSON array: that takes a shell
        start = f"ENTRYPOINT []\nCMD {json.dumps(['sh', '-c', 'exec ' + command], ensure_ascii=False)}\n"
    else:
        argv = words(command.removeprefix(verb_of(command, engine)) if starts else command)
        start = "CMD [" + ", \\\n     ".join([json.dumps(word, ensure_ascii=False) for word in argv]) + "]\n"
    return f"FROM {image}\n{_variables(example)}{start}"


def dockerfile_shell(engine: str, example: dict[str, Any]) -> str:
    image, _ = image_of(engine, example)
    lines = example["run"].replace(" --", " \\\n    # an option\n    --")
    return f"ARG BASE={image}\nFROM $BASE AS server\n{_variables(example)}ENTRYPOINT []\nCMD exec {lines}\n"


def dockerfile_script(engine: str, example: dict[str, Any]) -> str:
    image, _ = image_of(engine, example)
    lines = example["run"].replace(" --", " \\\n  --")
    script = f"COPY --chmod=755 <<'EOF' start.sh\n#!/bin/bash\nset -e\nexec {lines}\nEOF\n"
    return f'FROM {image}\nWORKDIR /app\n{_variables(example)}{script}ENTRYPOINT ["tini", "--", "/app/start.sh"]\n'


WRAPPERS = {
    "dockerfile-exec": ("Dockerfile", dockerfile_exec),
    "dockerfile-shell": ("Dockerfile.server", dockerfile_shell),
    "dockerfile-script": ("server.Dockerfile", dockerfile_script),
}
