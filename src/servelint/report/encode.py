"""JSON for programs that a terminal can take as well: what does not print, or a CI would take for a command, is escaped."""

from __future__ import annotations

import json
import re

from servelint.report.clean import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_COMMAND = re.compile(r"##(?=[A-Za-z]*\[)")


def encoded(data: Any, indent: int | None = None, *, secrets: bool = False) -> str:
    """Data as JSON, readable where it is of letters, and without secrets unless they are asked for.

    >>> encoded({"name": "caf\\u00e9 \\x9b\\u202e\\udcff"})
    '{"name": "café \\\\u009b\\\\u202e\\\\\\\\xff"}'
    """
    text = json.dumps(harmless(data, secrets=secrets), indent=indent, ensure_ascii=False)
    if not text.isascii() or "\x7f" in text:
        text = "".join([char if char == "\n" or char.isprintable() else _escaped(char) for char in text])
    return _COMMAND.sub("\\\\u0023#", text) if "##" in text else text


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"
