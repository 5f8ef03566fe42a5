"""Examples as commands that a Python script starts."""

from __future__ import annotations

from typing import Any

from tests.wrapping import IMAGED, PACKAGES, container


def python(engine: str, example: dict[str, Any]) -> str:
    lines = ["import os", "import subprocess", "import sys", ""]
    command = example["run"]
    if "image" in example or ("version" in example and engine in IMAGED):
        command = container(engine, example)
    else:
        if "version" in example:
            package = PACKAGES[engine].format(example["version"])
            lines.append(f'subprocess.check_call([sys.executable, "-m", "pip", "install", "{package}"])')
        command = "".join([f'{name}="{value}" ' for name, value in example.get("env", {}).items()]) + command
    return "\n".join([*lines, f"subprocess.Popen(r'''{command} ''', shell=True)", ""])


WRAPPERS = {"python": ("serve.py", python)}
