"""Markdown of texts that come from other people's files: nothing in them is markup."""

from __future__ import annotations

import re
from urllib.parse import quote

from servelint.report.clean import clean

_SAFE = "!#$%&*+,/:;=?@~"
_MARKUP = re.compile(r"[\\\\`*\[\]<>&|]|(?<![^\W_])_|_(?![^\W_])")


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
