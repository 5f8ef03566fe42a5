"""Code in HTML: its text without tags, with entities read, each character with its place."""

from __future__ import annotations

import re

from servelint.core.text import Text

_MARKUP = re.compile(r"<br\s*/?>|</?[A-Za-z][^<>\n]{0,300}>|&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});", re.IGNORECASE)
_ENTITIES = {
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "quot": '"',
    "apos": "'",
    "nbsp": " ",
    "hyphen": "-",
    "dash": "-",
    "lbrace": "{",
    "rbrace": "}",
}


def plain(text: Text) -> Text:
    """What a browser shows of a text in HTML."""
    parts: list[Text] = []
    done = 0
    for match in _MARKUP.finditer(text.flat):
        shown = _shown(match.group())
        if shown is None:
            continue
        parts.append(text.cut(done, match.start()))
        if shown:
            parts.append(Text.of(shown, text.span(*match.span())))
        done = match.end()
    return Text.join([*parts, text.cut(done)]) if parts else text


def _shown(markup: str) -> str | None:
    """The text of an entity or a line break, "" for a tag; None for an entity that is not known."""
    if markup[0] == "<":
        return "\n" if markup[:3].lower() == "<br" else ""
    name = markup[1:-1]
    if name[0] != "#":
        return _ENTITIES.get(name)
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else None
