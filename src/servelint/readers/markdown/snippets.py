"""Commands as pages show them: placeholders for the reader to fill in, consoles with prompts.

What a page means to be filled in or added (`<model>`, `{port}`, `[options]`, `...`) is unknown. Of a console, only what was
typed after a prompt counts.
"""

from __future__ import annotations

import re

from servelint.core.text import EMPTY, TracedText
from servelint.readers.markdown.blocks import lines_of

_WHO = (
    r"(?:\([\w .:/-]{1,80}\)[ \t]*)?(?:\[?[\w.-]{1,64}@[\w.-]{1,64}(?:[: ][^\n$#%>]{0,80}?)?\]?[ \t]?|~[^\s$#%>]{0,80}[ \t]?)?"
)
_PROMPT = re.compile(rf"[ \t]*(?:{_WHO}\$|PS(?:[ \t][^\n>]{{0,80}})?>|[A-Za-z]:\\[^\n>]{{0,80}}>|[\u276f\u279c])[ \t]+(?=\S)")
_ROOT = re.compile(rf"[ \t]*{_WHO}#[ \t]+(?=\S)")
_ROOT_OF_HOST = re.compile(
    r"[ \t]*(?:\([\w .:/-]{1,80}\)[ \t]*)?\[?[\w.-]{1,64}@[\w.-]{1,64}(?:[: ][^\n$#%>]{0,80}?)?\]?[ \t]?#[ \t]+(?=\S)"
)
_MORE = re.compile(r"[ \t]*>[ \t]")
_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)")
_LINES_AT_MOST = 400
_UNCLOSED_AT_MOST = 20


def commands(text: TracedText, root: bool = False) -> TracedText | None:
    """What was typed, as a script; None if no line has a prompt. root: a bare `#` is a prompt too."""
    flat = text.flat
    lines = lines_of(flat)
    typed: list[tuple[int, int]] = []
    at = unclosed = 0
    while at < len(lines):
        start, end = lines[at]
        prompt = _PROMPT.match(flat, start, end) or _ROOT_OF_HOST.match(flat, start, end)
        if prompt is None and root:
            prompt = _ROOT.match(flat, start, end)
        at += 1
        if prompt is not None:
            typed.append((prompt.end(), end))
            more, closed = _rest(flat, lines, at, flat[prompt.end() : end], quotes=unclosed < _UNCLOSED_AT_MOST)
            unclosed += not closed
            typed += more
            at += len(more)
    return TracedText.join([text.cut(start, end) for start, end in typed]) if typed else None


def continued(text: TracedText) -> TracedText:
    """A script without the `> ` that a shell printed in front of a continued line that starts with an option."""
    return text.sub(
        re.compile(r"\\\r?\n(?P<mark>[ \t]*>[ \t]+)(?=-)"), lambda match: text.cut(match.start(), match.start("mark"))
    )


_COMMON = (
    r"(?:a|an|and|are|as|at|by|can|for|from|if|in|into|is|it|its|of|on|or|so|than|that|the|then|this|to|when|which|will|with|you"
    r"|your)"
)
_SIGN = r"[ \t]+(?://|<-+|-+>|=>|\u2190|\u2192|\u2014|\u2013)[ \t]"
_NOTE = rf"(?<=\S)[ \t]{{2,}}(?=[^\n]*\b{_COMMON}\b|[A-Z][a-z]+[ \t])[^\W\d_][^\n\"'`$\\|]*$|{_SIGN}[^\n]*$"
_SENTENCE = rf"^[^\n\"'`$\\|;&=]*?(?:[ \t][A-Za-z]+,?){{1,9}}?[ \t]{_COMMON}(?:[ \t]+[A-Za-z]+[,.]?){{2,}}[^\n]*$"


def without_prose(text: TracedText) -> TracedText:
    """Commands without the notes behind them on their lines, and without lines that are sentences."""
    notes = text.sub(re.compile(_NOTE, re.MULTILINE), lambda _: EMPTY)
    return notes.sub(re.compile(_SENTENCE, re.MULTILINE), lambda _: EMPTY)


def _rest(flat: str, lines: list[tuple[int, int]], at: int, line: str, quotes: bool) -> tuple[list[tuple[int, int]], bool]:
    """The lines that a command goes on for, the first of which has an index; and whether its quotes are closed.

    It goes on after a backslash and, with `quotes`, inside quotes and a here-document; one that never closes is an apostrophe.
    """
    more: list[tuple[int, int]] = []
    state = _after(line, "")
    kept = 0
    while state == "\\" or (state and quotes):
        if at + len(more) >= len(lines) or len(more) >= _LINES_AT_MOST:
            return more[:kept], state == "\\"
        low, high = lines[at + len(more)]
        mark = _MORE.match(flat, low, high) if not state.startswith("<") else None
        low = mark.end() if mark is not None else low
        more.append((low, high))
        after_backslash = state == "\\"
        state = _after(flat[low:high], state)
        if after_backslash or state in ("", "\\"):
            kept = len(more)
    return more, not state


def _after(line: str, state: str) -> str:
    """What is open at a line's end: "" nothing, a backslash, a quote, or `<` and the word that ends a here-document."""
    if state.startswith("<"):
        return "" if line.strip() == state[1:] else state
    quote = state if state in ("'", '"') else ""
    heredoc = _HEREDOC.search(line) if not quote else None
    at = 0
    line = line.rstrip("\r\n")
    while at < len(line):
        char = line[at]
        if char == "\\" and quote != "'":
            if at + 1 == len(line):
                return quote or "\\"
            at += 1
        elif char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        elif not quote and char == "#" and (at == 0 or line[at - 1] in " \t"):
            break
        at += 1
    return quote or ("<" + heredoc["word"] if heredoc is not None else "")
