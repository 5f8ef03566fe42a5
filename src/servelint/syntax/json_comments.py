"""JSON as people write it (`//` and `/* */` comments, a comma after the last item) as JSON of the same length."""

from __future__ import annotations

import re

from servelint.core.text import Text

_STEP = re.compile(r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|/\*|,')


def without_comments(text: Text, *, lenient: bool = False) -> Text:
    """The text with blanks for its comments and for commas that nothing follows; every other character keeps its place.

    A text without comments is left as it is, unless lenient: its commas are then a fault, not a liberty.
    """
    flat = text.flat
    blanks = _blanks(flat)
    if not lenient and all(flat[start] == "," for start, _ in blanks):
        return text
    parts: list[Text] = []
    done = 0
    for start, end in blanks:
        # line ends stay, so that a fault is told in its line
        blank = re.sub(r"[^\r\n]", " ", flat[start:end])
        parts += [text.cut(done, start), Text.of(blank, text.span(start, end))]
        done = end
    return Text.join([*parts, text.cut(done)])


def _blanks(flat: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    comma: int | None = None
    at = 0
    while True:
        step = _STEP.search(flat, at)
        between = flat[at : step.start()] if step is not None else flat[at:]
        if comma is not None and between.strip():
            if between.lstrip()[0] in "]}":
                found.append((comma, comma + 1))
            comma = None
        if step is None:
            return sorted(found)
        at = step.end()
        kind = step.group()[:2]
        if kind == "/*":
            close = flat.find("*/", at)
            at = len(flat) if close == -1 else close + 2
            found.append((step.start(), at))
        elif kind == "//":
            found.append((step.start(), at))
        elif kind[0] == ",":
            comma = step.start()
        else:
            comma = None
