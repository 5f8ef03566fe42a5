"""Examples as programs of supervisord."""

from __future__ import annotations

import re
from typing import Any

from tests.wrapping import container

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def _filled(text: str) -> str:
    return _VARIABLE.sub(lambda match: f"%(ENV_{match.group(1) or match.group(2)})s", text.replace("%", "%%"))


def program(engine: str, example: dict[str, Any]) -> str:
    contained = "image" in example or "version" in example
    command = _filled(container(engine, example) if contained else example["run"]).replace(" --", "\n  --")
    env = ",".join([f'{name}="{_filled(value)}"' for name, value in example.get("env", {}).items()])
    environment = f"environment={env}\n" if env and not contained else ""
    return f"[supervisord]\nnodaemon=true\n\n[program:llm]\ncommand={command}\n{environment}autostart=true\n"


WRAPPERS = {"supervisor": ("supervisord.conf", program)}
