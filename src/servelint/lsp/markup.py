"""Markdown of texts that come from other people's files: nothing in them is markup."""

from __future__ import annotations

import re

from servelint.report.clean import clean

_MARKUP = re.compile(r"[\\\\`*\[\]<>&|]|(?<![^\W_])_|_(?![^\W_])")


def plain(text: str) -> str:
    """A text as it is to be read. Underscores within words are none of Markdown's.

    >>> plain("write [x](y) for kv_cache, *or* `z`")
    'write \\\\[x\\\\](y) for kv_cache, \\\\*or\\\\* \\\\`z\\\\`'
    """
    return _MARKUP.sub(lambda found: "\\" + found.group(), clean(text))


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
