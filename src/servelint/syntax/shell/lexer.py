"""Where quotes, substitutions, words and commands end in a shell text.

This reads characters, not the syntax tree: the grammar cuts some words in two (`a:$B`), loses a lone `$`, and attaches words
after a redirection to it. Offsets are offsets of the text that is passed in.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core import bounds

Range = tuple[int, int]

_RUN = re.compile(r"[^ \t\n\\'\"`$;&|<>()]+")
_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_REDIRECTION = re.compile(r"(?:\d+|\{\w+\})?(?:<<<|<<-?|<>|>>|>&|<&|>\||[<>](?!\())|&>>?")
_LOST = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)+[ \t]*(--?[A-Za-z])")
_SPECIAL = re.compile(r"[\\'\"`$#]|<<-?")
_IN_COMMAND = re.compile(r"[)\\'\"`$(#<]|(?<![\w$.-])[ce]")
_IN_BRACES = re.compile(r"[}\\'\"`$]")
_BACKQUOTED = re.compile(r"(?:[^`\\]+|\\.?)*", re.DOTALL)
_IN_QUOTES = re.compile(r"[\"\\`$]")
_AFTER_DOLLAR = re.compile(r"[A-Za-z_0-9{(@*#?$!'\"\[-]")
_CASE = re.compile(r"(?<![\w$.-])(?:case(?=\s+\S+\s+in\s)|esac(?![\w.-]))")
_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s'\"\\;&|<>()]+))")


class Command:
    """A simple command.

    Attributes:
        words: Its words.
        strings: The words of its here-strings.
        files: The operator (`>`, `>>`, `<`, `2>`) of each redirection, and the word that names its file.
        end: Its end.
        cut: Whether it has more words than are read.
        open: Whether it ends before a quote or a bracket that is never closed.
    """

    __slots__ = ("cut", "end", "files", "open", "strings", "words")

    def __init__(self) -> None:
        self.cut = False
        self.open = False
        self.end = 0
        self.words: list[Range] = []
        self.strings: list[Range] = []
        self.files: list[tuple[str, Range]] = []


def command(flat: str, at: int) -> Command:
    """The simple command that starts at an offset. An array's `name=(...)` is one word.

    A command of too many words has none, and continues to the end of the text.
    """
    found = Command()
    most = bounds.WORDS.most
    while at < len(flat):
        blank = _BLANK.match(flat, at)
        if blank:
            at = blank.end()
            continue
        if redirection := _REDIRECTION.match(flat, at):
            blank = _BLANK.match(flat, redirection.end())
            start = blank.end() if blank else redirection.end()
            at = word_end(flat, start)
            if redirection.group().endswith("<<<"):
                found.strings.append((start, at))
            elif not redirection.group().endswith(("<<", "<<-")):
                found.files.append((redirection.group(), (start, at)))
            continue
        end = word_end(flat, at)
        if end == at or flat[at] == "#":
            break
        if flat[end - 1 : end + 1] == "=(":
            end = matching(flat, end + 1, ")") + 1
        if end > len(flat):
            found.open = True
            break  # no shell runs it
        found.words.append((at, end))
        at = end
        if len(found.words) > most:
            found.words, at = [], len(flat)
            found.cut = True
    found.end = at
    return found


def lost(flat: str, at: int) -> Range | None:
    """The lines after a command that start with an option: a continuation before them is missing.

    No command starts with a dash.
    """
    first = _LOST.match(flat, at)
    if first is None:
        return None
    following: re.Match[str] | None = first
    while following is not None:
        end = max(command(flat, following.start(1)).end, following.end())
        following = _LOST.match(flat, end)
    return first.start(1), len(flat[:end].rstrip())


def items(flat: str, at: int, end: int) -> list[Range]:
    """The words between two offsets, over line ends and comments: what stands between an array's parentheses."""
    found: list[Range] = []
    while at < end:
        if flat[at] in " \t\n":
            at += 1
        elif flat.startswith("\\\n", at):
            at += 2
        elif flat[at] == "#":
            stop = flat.find("\n", at, end)
            at = end if stop == -1 else stop
        else:
            stop = min(word_end(flat, at), end)
            if stop > at:
                found.append((at, stop))
            at = max(stop, at + 1)
    return found


def word_end(flat: str, at: int) -> int:
    """The offset at which the word that starts at an offset ends: at unquoted white space or an operator.

    An offset past the end of the text if a quote or a bracket in it is never closed.
    """
    while at < len(flat):
        if run := _RUN.match(flat, at):
            at = run.end()
            continue
        char = flat[at]
        if char in "<>" and flat.startswith("(", at + 1):
            at = matching(flat, at + 2, ")") + 1
        elif char == "(" and at and flat[at - 1] in "?*+@!":
            at = matching(flat, at + 1, ")") + 1
        elif char in " \t\n;&|<>()":
            return at
        else:
            at = step(flat, at)
    return at


def neutral(flat: str) -> str:
    r"""The text with plain letters for quotes, braces, substitutions, escapes and lone `$`, of the same length.

    The grammar trips over some of them (`V=\ `, `$'\\'`, `${V#]}`) and needs none.
    """
    done: list[str] = []
    kept = at = stop = 0
    while at < len(flat):
        if at == stop:
            stop = _line_end(flat, at)
            line = _neutral_line(flat[at:stop]) if stop - at < _LINE_AT_MOST else None
            if line is not None:
                done += [flat[kept:at], line]
                kept = at = stop
                continue
        special = _SPECIAL.search(flat, at, stop)
        if special is None:
            at = stop
            continue
        at = special.start()
        end, low, high = _plain_inside(flat, at, special.end())
        end = min(end, len(flat))
        if low < high:
            done += [flat[kept:low], "X" * (high - low)]
            kept = high
        at = end
        if at > stop:
            stop = _line_end(flat, at)
    return "".join([*done, flat[kept:]])


_LINE_AT_MOST = 2_000
"""Characters of a line that is kept."""


def _line_end(flat: str, at: int) -> int:
    """The offset after the line end that follows an offset, or the end of the text."""
    return flat.find("\n", at) + 1 or len(flat)


@lru_cache(maxsize=4096)
def _neutral_line(line: str) -> str | None:
    """A line as `neutral` makes it; None if something in it may end behind it."""
    if not line.endswith("\n") or "<<" in line or "case" in line:
        return None
    done: list[str] = []
    kept = at = 0
    while (special := _SPECIAL.search(line, at)) is not None:
        at, low, high = _plain_inside(line, special.start(), special.end())
        if at > len(line):
            return None
        if low < high:
            done += [line[kept:low], "X" * (high - low)]
            kept = high
    return "".join([*done, line[kept:]])


def _plain_inside(flat: str, at: int, after: int) -> tuple[int, int, int]:
    """Where what starts at a special character ends, past the text if it is never closed, and what `neutral` replaces.

    after: the offset after the character
    """
    end = step(flat, at)
    char, following = flat[at], flat[at + 1 : at + 2]
    low, high = at + (2 if char == "$" else 1), min(end, len(flat)) - 1
    if char == "#":
        low = high
        starts = at == 0 or flat[at - 1] in " \t\n;&|()"
        end = _past(flat, flat.find("\n", at)) if starts else at + 1
    elif char == "<":
        low = high
        end = _after_heredoc(flat, at) or after
    elif char == "\\":
        low, high = (at, end) if following != "\n" else (end, end)
    elif char == "$" and following not in ("'", '"', "{", "("):
        low, high = at, at + (0 if _AFTER_DOLLAR.match(flat, at + 1) else 1)
    elif char == "$" and following == '"':
        low = high
    return end, low, high


def unclosed(flat: str) -> int | None:
    """The offset of the first quote or substitution that is never closed; None without one."""
    at = stop = 0
    while at < len(flat):
        if at == stop:
            stop = _line_end(flat, at)
            if stop - at < _LINE_AT_MOST and _neutral_line(flat[at:stop]) is not None:
                at = stop
                continue
        special = _SPECIAL.search(flat, at, stop)
        if special is None:
            at = stop
            continue
        at = special.start()
        end = _plain_inside(flat, at, special.end())[0]
        if end > len(flat):
            return at if flat[at] != "#" else None
        at = end
        if at > stop:
            stop = _line_end(flat, at)
    return None


def step(flat: str, at: int, quoted: bool = False) -> int:
    """The offset after the escape, quotes or substitution that starts at an offset, else after its one character.

    An offset past the end of the text if it is never closed.
    quoted: it stands in double quotes, where a single quote is an ordinary character.
    """
    char = flat[at]
    if char == "\\":
        return min(at + 2, len(flat))
    if char == "'" and not quoted:
        return _past(flat, flat.find("'", at + 1))
    if char == '"':
        return _after_quotes(flat, at + 1)
    if char == "`":
        return backquote(flat, at + 1) + 1
    if char == "$":
        following = flat[at + 1 : at + 2]
        if following == "{":
            return matching(flat, at + 2, "}", quoted) + 1
        if following == "(":
            return matching(flat, at + 2, ")") + 1
        if following == "'" and not quoted:
            return ansi_end(flat, at + 2)
    return at + 1


def matching(flat: str, at: int, closing: str, quoted: bool = False) -> int:
    """The offset of the closing bracket of a `${`, `$(` or `$((` whose content starts at an offset.

    Quotes, nested substitutions, escapes, comments and heredocs are stepped over; the end of the text if it is never closed.
    """
    depth = cases = 0
    command = closing == ")"
    special = _IN_COMMAND if command else _IN_BRACES
    while (found := special.search(flat, at)) is not None:
        at = found.start()
        char = flat[at]
        if char == closing:
            if depth == 0 and not cases:
                return at
            depth -= depth > 0
        elif command and char in "ce" and (word := _CASE.match(flat, at)):
            cases = max(cases + (1 if char == "c" else -1), 0)
            at = word.end()
            continue
        elif command and char == "(":
            depth += 1
        elif command and char == "#" and flat[at - 1] in " \t\n":
            at = min(_past(flat, flat.find("\n", at)), len(flat)) - 1
        elif command and char == "<" and (after := _after_heredoc(flat, at)):
            at = after
            continue
        at = step(flat, at, quoted and not command)
    return len(flat)


def backquote(flat: str, at: int) -> int:
    """The offset of the backquote that closes a substitution whose content starts at an offset, or the end of the text."""
    closed = _BACKQUOTED.match(flat, at)
    return closed.end() if closed is not None else len(flat)


def ansi_end(flat: str, at: int) -> int:
    """The offset after the quote that closes a `$'` whose content starts at an offset."""
    while at < len(flat):
        if flat[at] == "'":
            return at + 1
        at += 2 if flat[at] == "\\" else 1
    return len(flat) + 1


def _after_quotes(flat: str, at: int) -> int:
    while (found := _IN_QUOTES.search(flat, at)) is not None:
        at = found.start()
        if flat[at] == '"':
            return at + 1
        at = step(flat, at, quoted=True)
    return len(flat) + 1


def _after_heredoc(flat: str, at: int) -> int:
    """The offset after the body of the heredoc whose `<<` stands at an offset; 0 if there is none.

    What else stands on the line of the `<<` is passed over with it.
    """
    match = _HEREDOC.match(flat, at)
    if match is None or flat.startswith("<<<", at):
        return 0
    delimiter = match.group(2) or match.group(3) or match.group(4) or ""
    tabs = "\t*" if match.group(1) else ""
    body = re.compile(rf"^{tabs}{re.escape(delimiter)}$", re.MULTILINE).search(
        flat, min(_past(flat, flat.find("\n", at)), len(flat))
    )
    return body.end() if body else 0


def _past(flat: str, at: int) -> int:
    """The offset after a character that was looked for, past the end of the text if it was not found."""
    return len(flat) + 1 if at == -1 else at + 1
