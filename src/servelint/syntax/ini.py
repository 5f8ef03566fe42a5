"""INI files as llama.cpp reads them (common/preset.cpp, b11434): sections, and keys with values up to a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from servelint.core.source import Source, Span
from servelint.core.text import TracedText

_LINE = re.compile(r"\[(?P<section>[^\]\n]+)\]|(?P<key>[A-Za-z_][\w.-]*)[ \t]*=(?P<value>[^;#\n]*)")


def lines(source: Source) -> Iterator[tuple[str, Span, TracedText | None, TracedText | None]]:
    """The lines with a section or a key: the section's name ("" before the first), the place, and the key and the value."""
    name = ""
    for line, start in enumerate(source.line_starts, start=1):
        match = _LINE.match(source.line_text(line).rstrip("\r"))
        if match is None:
            continue
        site = Span(source, start, start + match.end())
        if match.group("section") is not None:
            name = match.group("section").strip(" \t")
            yield name, site, None, None
        else:
            key, value = (TracedText.at(source, start + match.start(one), start + match.end(one)) for one in ("key", "value"))
            yield name, site, key, value.strip()
