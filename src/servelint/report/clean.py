"""Texts and data that come from other people's files, made safe to print.

Every text that a report, a listing or a message on standard error prints passes through this module: nothing in it may steer a
terminal or a CI log, and it contains no secret.
"""

from __future__ import annotations

import re

from servelint.core.secrets import may_look, without_lookalikes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800"
"""Characters that Python calls printable and that show nothing: two names may differ in them unseen."""

_ODD = rf"\A\s*::(?=[A-Za-z])|##(?=[A-Za-z]*\[)|[{_UNSEEN}]"
"""Starts of commands in CI logs, and invisible characters. `::name::` is a command of GitHub at the start of a line, `##[name]`
and `##vso[name]` are commands of GitHub and Azure anywhere."""
_SAFE = "!#$%&*+,/:;=?@~"
_MARKUP = r"[\\\\`*\[\]<>&|]|(?<![^\W_])_|_(?![^\W_])"


def clean(text: str) -> str:
    r"""Return a text on one line: secrets masked, unprintable characters and starts of CI commands escaped.

    >>> clean("a\x1b[31m\u202eb\nc")
    'a\\x1b[31m\\u202eb\\nc'
    >>> clean("caf\udce9.yml")
    'caf\\xe9.yml'
    """
    return escapes(without_lookalikes(text))


def clean_lines(text: str) -> str:
    """Clean each line of a text. White space at the ends of lines is kept."""
    return "\n".join([clean(line) for line in without_lookalikes(text).split("\n")])


def escapes(text: str) -> str:
    """Return a text on one line like `clean`, but with its secrets."""
    if text.isascii() and text.isprintable() and "::" not in text and "##" not in text:
        return text
    return "".join(pieces(text))


def pieces(text: str) -> list[str]:
    """Return what stands on a line for each character of a text: the character or its escape."""
    found = [char if char.isprintable() else escape(char) for char in text]
    for match in re.finditer(_ODD, text):
        at = match.end() - 2 if match.group().endswith("::") else match.start()
        found[at] = escape(text[at])
    return found


def escape(char: str) -> str:
    r"""Return the escape of a character; of a byte of a file name that is not UTF-8, that byte.

    >>> escape("\t"), escape("\x9b"), escape("\u2066"), escape("\U000e0041"), escape("\udcff")
    ('\\t', '\\x9b', '\\u2066', '\\U000e0041', '\\xff')
    """
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00  # how Python reads such a byte
    named = {9: "\\t", 10: "\\n", 13: "\\r"}.get(code)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def harmless(data: Any, *, secrets: bool = False) -> Any:
    """Return data whose texts have no secrets and no lone surrogates, which JSON cannot hold.

    Args:
        data: texts, numbers, lists and dictionaries.
        secrets: whether secrets stay in the texts.
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


# -- Markdown


def plain(text: str) -> str:
    r"""Return a text with the characters of Markdown escaped. Underscores within words need none.

    >>> plain("write [x](y) for kv_cache, *or* `z`")
    'write \\[x\\](y) for kv_cache, \\*or\\* \\`z\\`'
    """
    return re.sub(_MARKUP, lambda found: "\\" + found.group(), clean(text))


def link(says: str, address: str) -> str:
    """Return a Markdown link, its address percent-encoded where that could end it; plain text for an address not of the web.

    >>> link("a source", "https://x/(y) z")
    '[a source](https://x/%28y%29%20z)'
    >>> link("a source", "command:x")
    'a source'
    """
    if not address.startswith(("https://", "http://")):
        return plain(says)
    from urllib.parse import quote

    return f"[{plain(says)}]({quote(address, safe=_SAFE)})"


def code(text: str) -> str:
    """Return a text in a Markdown code span, on one line.

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


# -- JSON

_COMMAND = r"##(?=[A-Za-z]*\[)"


def encoded(data: Any, indent: int | None = None, *, secrets: bool = False) -> str:
    r"""Return data as JSON that a terminal may show: control characters and starts of CI commands are escaped.

    Letters of every language stay readable. Secrets are masked unless `secrets` is true.

    >>> encoded({"name": "caf\u00e9 \x9b\u202e\udcff"})
    '{"name": "café \\u009b\\u202e\\\\xff"}'
    """
    import json  # the text format has no use for it

    text = json.dumps(data, indent=indent, ensure_ascii=False)
    # one look at the whole text is a hundred times as fast as one at each of a thousand names of rules
    if (not secrets and may_look(text)) or _whole(text) is not text:
        text = json.dumps(harmless(data, secrets=secrets), indent=indent, ensure_ascii=False)

    def escaped(char: str) -> str:
        return json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"

    if not text.isascii() or "\x7f" in text:
        text = "".join([char if char == "\n" or char.isprintable() else escaped(char) for char in text])
    return re.sub(_COMMAND, "\\\\u0023#", text) if "##" in text else text


def json_list(items: list[str]) -> str:
    """Return a JSON array of encoded items, one on each line."""
    return "[\n  " + ",\n  ".join(items) + "\n ]" if items else "[]"
