"""Commands in reStructuredText: code directives and literal blocks (`::`), each read as a block of a Markdown page is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.core.text import TracedText, unknown
from servelint.files.siblings import Neighbours
from servelint.readers import markdown
from servelint.readers.markdown.blocks import Block, lines_of
from servelint.readers.registry import Format

FORMAT = Format(
    "restructuredtext",
    131,
    title="reStructuredText",
    about="code directives and literal blocks, consoles, files that a block shows",
    files=("*.rst",),
    languages=("restructuredtext",),
)

_CODE = re.compile(
    r"\.\.[ \t]+(?P<name>code-block|code|sourcecode|parsed-literal|prompt|console|terminal)::[ \t]*(?P<language>[\w+#.-]*)",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"\.\.[ \t]+highlight::[ \t]*(?P<language>[\w+#.-]+)", re.IGNORECASE)
_NOT_READ = re.compile(
    r"\.\.[ \t]+(?:raw|math|graphviz|mermaid)::|\.\.(?:[ \t]+(?![\w:.+-]+::)(?![_\[|])|[ \t]*$)", re.IGNORECASE
)
"""Directives whose content is another language, and comments, whose block no reader of the page sees."""
_WITH_TEXT = re.compile(r"\.\.[ \t]+[\w:.+-]+::[ \t]+\S")
_OPTION = re.compile(r":[\w-]+:(?:[ \t]|$)")
_SUBSTITUTION = re.compile(r"\|[A-Za-z][\w.-]*\|")


def read(source: Source, _neighbours: Neighbours) -> list[Launch]:
    """The launches of a page. The files beside it are not those that its examples speak of."""
    return markdown.of_blocks(blocks(TracedText.at(source, 0, len(source.text))), source)


def blocks(text: TracedText) -> Iterator[Block]:
    """The code blocks of a text, in its order."""
    flat = text.flat
    lines = lines_of(flat)
    default = ""
    at = 0
    while at < len(lines):
        line = flat[slice(*lines[at])].rstrip()
        content = line.lstrip()
        column = len(line) - len(content)
        at += 1
        code = _CODE.match(content)
        if (highlighted := _LANGUAGE.match(content)) is not None:
            default = highlighted["language"].lower()
        elif code is not None:
            after = _indented(flat, lines, at, column)
            while at < after and _OPTION.match(flat[slice(*lines[at])].lstrip()):
                at += 1
            shown = _dedented(text, lines[at:after])
            if code["name"].lower() == "parsed-literal":
                shown = _filled_in(shown)
            console = "console" if code["name"].lower() in ("console", "terminal") else ""
            yield Block(code["language"].lower() or console or default, shown)
            at = after
        elif _NOT_READ.match(content):
            at = _indented(flat, lines, at, column)
        elif content.endswith("::") and (not content.startswith("..") or _WITH_TEXT.match(content)):
            after = _indented(flat, lines, at, column)
            if after > at:
                yield Block(default, _dedented(text, lines[at:after]), indented=True)
            at = after


def _indented(flat: str, lines: list[tuple[int, int]], at: int, column: int) -> int:
    """The index after the lines that stand deeper than a column; blank lines behind the last of them do not count."""
    last = at
    while at < len(lines):
        line = flat[slice(*lines[at])].rstrip()
        if line and len(line) - len(line.lstrip()) <= column:
            break
        at += 1
        if line:
            last = at
    return last


def _filled_in(text: TracedText) -> TracedText:
    """A text in which the substitutions of the page (`|version|`) are unknown."""
    return text.sub(_SUBSTITUTION, lambda match: TracedText((unknown(match.group(), text.span(*match.span())),)))


def _dedented(text: TracedText, lines: list[tuple[int, int]]) -> TracedText:
    """Lines without the white space that all of them begin with, from the first that is not blank on."""
    first = next((index for index, line in enumerate(lines) if text.flat[slice(*line)].strip()), len(lines))
    lines = lines[first:]
    shown = [text.flat[start:end] for start, end in lines]
    margin = min([len(line) - len(line.lstrip()) for line in shown if line.strip()], default=0)
    kept = [text.cut(start + min(margin, end - start - 1), end) for start, end in lines]
    return TracedText.join(kept)
