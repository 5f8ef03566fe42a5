"""What is printed comes from other people's files: nothing in it may steer a terminal or a CI log, and no secret is in it.

Every text that a report, a listing or a message on standard error prints goes through here.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from servelint.core.secrets import without_lookalikes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800"
"""Characters that count as printable and show nothing, in which names and values can differ unseen."""

_ODD = re.compile(rf"\A\s*::(?=[A-Za-z])|##(?=[A-Za-z]*\[)|[{_UNSEEN}]")
"""What begins a command in the log of a CI: `::name::` for GitHub where a line starts with it, `##[name]` and `##vso[name]` for
GitHub and Azure wherever it is; and what is unseen."""
_SAFE = "!#$%&*+,/:;=?@~"
_MARKUP = re.compile(r"[\\\\`*\[\]<>&|]|(?<![^\W_])_|_(?![^\W_])")


def clean(text: str) -> str:
    """The text on one line, with a mask for secrets, and as escapes what does not print or would be taken for a command.

    >>> clean("a\\x1b[31m\\u202eb\\nc")
    'a\\\\x1b[31m\\\\u202eb\\\\nc'
    >>> clean("caf\\udce9.yml")
    'caf\\\\xe9.yml'
    """
    return escapes(without_lookalikes(text))


def clean_lines(text: str) -> str:
    """Text of several lines, each of them clean; white space at the ends of lines is kept."""
    return "\n".join([clean(line) for line in without_lookalikes(text).split("\n")])


def escapes(text: str) -> str:
    """The text on one line, secrets and all."""
    if text.isascii() and text.isprintable() and "::" not in text and "##" not in text:
        return text
    return "".join(pieces(text))


def pieces(text: str) -> list[str]:
    """What each character of a text is on a line: itself, or its escape."""
    found = [char if char.isprintable() else escape(char) for char in text]
    for match in _ODD.finditer(text):
        at = match.end() - 2 if match.group().endswith("::") else match.start()
        found[at] = escape(text[at])
    return found


def escape(char: str) -> str:
    """A character as an escape; a byte of a name that is not UTF-8 as that byte.

    >>> escape("\\t"), escape("\\x9b"), escape("\\u2066"), escape("\\U000e0041"), escape("\\udcff")
    ('\\\\t', '\\\\x9b', '\\\\u2066', '\\\\U000e0041', '\\\\xff')
    """
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00  # how Python reads such a byte
    named = {9: "\\t", 10: "\\n", 13: "\\r"}.get(code)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def harmless(data: Any, *, secrets: bool = False) -> Any:
    """Data for a program, its texts without secrets and without halves of characters, which JSON has no way to write.

    secrets: whether secrets are left in them
    """
    if isinstance(data, str):
        return _whole(data if secrets else without_lookalikes(data))
    if isinstance(data, dict):
        return {harmless(name, secrets=secrets): harmless(value, secrets=secrets) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [harmless(one, secrets=secrets) for one in data]
    return data


def _whole(text: str) -> str:
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return "".join([escape(char) if "\ud800" <= char <= "\udfff" else char for char in text])


# -- Markdown: nothing in a text of other people's files is markup


def plain(text: str) -> str:
    """A text as it is to be read. Underscores within words are none of Markdown's.

    >>> plain("write [x](y) for kv_cache, *or* `z`")
    'write \\\\[x\\\\](y) for kv_cache, \\\\*or\\\\* \\\\`z\\\\`'
    """
    return _MARKUP.sub(lambda found: "\\" + found.group(), clean(text))


def link(says: str, address: str) -> str:
    """A link, with what could end it early or begin another thing as a URL writes it; no other address than one of the web.

    >>> link("a source", "https://x/(y) z")
    '[a source](https://x/%28y%29%20z)'
    >>> link("a source", "command:x")
    'a source'
    """
    if not address.startswith(("https://", "http://")):
        return plain(says)
    return f"[{plain(says)}]({quote(address, safe=_SAFE)})"


def code(text: str) -> str:
    """A text in a code span, on one line.

    >>> code("fp8")
    '`fp8`'
    >>> code("a`b")
    '``a`b``'
    """
    text = clean(text)
    fence = "`"
    while fence in text:
        fence += "`"
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return fence + pad + text + pad + fence
