"""Commands as pages show them: placeholders for the reader to fill in, consoles with prompts, PowerShell.

What a page means to be filled in or added (`<model>`, `{port}`, `[options]`, `...`) is unknown. Of a console, only what was
typed after a prompt counts. PowerShell is put into the words of a POSIX shell: a backtick at a line's end goes on, `&` calls,
`$env:A = "b"` exports, a backslash is a character of a path.
"""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.text import HOLE, Piece, TracedText
from servelint.readers.markdown.blocks import lines_of

_ANGLE = r"(?<![<&\d])<(?=\d*[^\W\d_]|\d+_|/\w|-{1,2}[^\W\d_])[^<>\n\"'`$;&]{0,80}?(?<![ \t-])>(?!\()"
_CURLY = r"\{\{[^{}\n\"']{1,80}\}\}|(?<![${\w\\])\{[^\W\d][\w .-]{0,60}\}(?!\})"
_SQUARE = r"(?<!\S)\[(?:[A-Za-z-][^\[\]\n\"'`$]{0,80}|\.\.\.|…)\](?!\S)"
_DOTS = r"(?:(?<![^\s\"'{,(=:\[])(?:\.{3,}|…+)(?![^\s\"'}),\]\\]))"
_ANY = re.compile(f"{_ANGLE}|{_CURLY}|{_DOTS}")
_IN_SCRIPT = re.compile(f"{_ANGLE}|{_CURLY}|{_SQUARE}|{_DOTS}")
_SEVERAL = re.compile(r"\.{3}|…|^\[|(?:\b|_)(?:args|arguments|flags|options)\b", re.IGNORECASE)
_MARKS = "<{[.…"


def replaced(text: TracedText, *, script: bool = False) -> TracedText:
    """The text with an unknown for each placeholder. script: of commands, in which `[options]` is one too."""
    flat = text.flat
    if not any(mark in flat for mark in ("<", "{", "[", "...", "…")):
        return text
    return text.sub(_IN_SCRIPT if script else _ANY, lambda match: None if HOLE in match.group() else text.unknown(match))


def disguised(flat: str) -> str:
    """A text of the same length whose `<model>` is no redirection to who splits it."""
    return re.sub(_ANGLE, lambda match: f"\u27ea{match.group()[1:-1]}\u27eb", flat) if "<" in flat else flat


def counted(word: Word) -> Word:
    """The word with how many it stands for: `<model>` for one, `...` and `<options>` for any number."""
    expression = _alone(word.text.pieces)
    if expression is None:
        return word
    many = _SEVERAL.search(expression) is not None and not (expression[0] in ".…" and word.site != word.text.span())
    return word if many == word.many else Word(word.text, word.site, many)


def filled(word: Word) -> Word:
    """A word of a file that a page shows, with its placeholders unknown."""
    text = replaced(word.text)
    return word if text is word.text else counted(Word(text, word.site, word.many))


def _alone(pieces: tuple[Piece, ...]) -> str | None:
    """The expression of the placeholder that is all of a word."""
    if len(pieces) != 1 or not pieces[0].expression or pieces[0].expression[0] not in _MARKS:
        return None
    return pieces[0].expression


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


_PARTS = re.compile(
    r"(?P<assign>^[ \t]*\$(?P<scope>env:)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?=[\"'\w]))"
    r"|(?P<call>^[ \t]*&[ \t]+)"
    r"|(?P<program>^[ \t]*(?P<path>[\w.:-]*(?:\\[\w.:-]+)+)(?=\s|$))"
    r"|(?P<single>'[^'\n]*')"
    r"|(?P<more>(?<=[ \t])`[ \t]*(?=\r?\n))"
    r"|(?P<escape>`.)"
    r"|(?P<variable>\$(?:env:(?P<plain>\w+)|\{env:(?P<braced>\w+)\}))"
    r"|(?P<backslash>\\)",
    re.MULTILINE | re.IGNORECASE,
)


def as_shell(text: TracedText) -> TracedText:
    """The script as a shell reads it, each character with its place."""
    parts: list[TracedText] = []
    done = 0
    at = 0
    while (match := _PARTS.search(text.flat, at)) is not None:
        said = _in_shell(match)
        at = match.end()
        if match["call"] is not None:
            # what is called may be a path
            path = re.compile(r"[\"']?[\w.:-]*(?:\\[\w.:-]+)+[\"']?(?=\s|$)").match(text.flat, at)
            parts += [text.cut(done, match.start())]
            done = at
            if path is not None:
                parts.append(TracedText.of(path.group().replace("\\", "/"), text.span(*path.span())))
                done = at = path.end()
        elif said is not None:
            parts += [text.cut(done, match.start()), TracedText.of(said, text.span(*match.span()))]
            done = at
    return TracedText.join([*parts, text.cut(done)])


def _in_shell(match: re.Match[str]) -> str | None:
    """What stands for a part in a shell; None for one that is the same."""
    if match["assign"] is not None:
        return f"export {match['name']}=" if match["scope"] else f"{match['name']}="
    if match["program"] is not None:
        return match["program"].replace("\\", "/")
    if match["more"] is not None:
        return "\\"
    if match["escape"] is not None:
        return "\\" + match["escape"][1]
    if match["variable"] is not None:
        return "${" + (match["plain"] or match["braced"]) + "}"
    return "\\\\" if match["backslash"] is not None else None
