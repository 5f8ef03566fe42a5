"""Examples as Windows batch files."""

from __future__ import annotations

import re
from typing import Any

from tests.wrapping import IMAGED, PACKAGES, container, words

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_PLAIN = re.compile(r"[^\s\"&|<>^()]+")


def _filled(text: str) -> str:
    return _VARIABLE.sub(lambda match: f"%{match.group(1) or match.group(2)}%", text.replace("%", "%%"))


def _quoted(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return _filled(word)
    # a backslash is one of a program's own unless a quote follows
    return '"' + re.sub(r'(\\*)"', r'\1\1\\"', _filled(word)) + '"'


def batch(engine: str, example: dict[str, Any]) -> str:
    contained = "image" in example or ("version" in example and engine in IMAGED)
    command = container(engine, example) if contained else example["run"]
    argv = " ".join([_quoted(word) for word in words(command)]).replace(" --", " ^\r\n  --")
    lines = ["@echo off", "setlocal", "rem starts the server"]
    if not contained:
        lines += [f'set "{name}={_filled(value)}"' for name, value in example.get("env", {}).items()]
        if "version" in example:
            lines.append(f"pip install {PACKAGES[engine].format(example['version'])}")
    return "\r\n".join([*lines, argv, "pause", ""])


WRAPPERS = {"batch": ("start.bat", batch)}
