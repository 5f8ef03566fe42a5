"""YAML that only its template makes valid is parsed from a mask: a copy of the same length and the same line breaks.

An action within a line is a run of one character there, and a line of nothing but actions is blank. What the nodes then lack
is put back: the text of the actions, a mark on what may be left out, and an entry where the template writes lines of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from servelint.syntax.templates import CLOSE, ELSE, OPEN, VALUE, Action, alone, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.text import Text

_INDENT = re.compile(r"\b(n?)indent\s+(\d+)")
_RUN = tuple([chr(0xE000 + number) for number in range(64)])
_LINE = re.compile(r"^( *)([^\s].*)$", re.MULTILINE)
_NEAR = 4_000
RUNS = re.compile("([\ue000-\ue03f])\\1*")
"""What stands for an action in the copy."""


class Gap:
    """A place where a template writes lines that nobody shows.

    start, end: the action;  column: where its lines start, as far as that is said
    """

    __slots__ = ("column", "end", "start")

    def __init__(self, start: int, end: int, column: int) -> None:
        self.start = start
        self.end = end
        self.column = column


class Mask:
    """How a YAML text with a template in it was parsed.

    text:    the copy that was parsed; None if the text is YAML as it stands
    holes:   the actions that the copy shows as runs of a character, in order
    gaps:    lines that the template writes
    rows:    the lines that are blank in the copy, as (start, end)
    lookup:  the value of an expression, if somebody knows it
    """

    __slots__ = ("_branches", "_parents", "_starts", "gaps", "holes", "lookup", "rows", "text")

    def __init__(self) -> None:
        self.text: str | None = None
        self.holes: list[tuple[int, int]] = []
        self.gaps: list[Gap] = []
        self.rows: list[tuple[int, int]] = []
        self.lookup: Callable[[str], Text | None] | None = None
        self._starts: list[int] = []
        self._branches: list[int] = []
        self._parents: list[int] = [-1]

    def branch(self, at: int) -> int:
        """The innermost part that may be left out in which an offset stands; 0 outside of all."""
        index = bisect_right(self._starts, at) - 1
        return self._branches[index] if index >= 0 else 0

    def within(self, at: int, outer: int) -> bool:
        """Whether an offset stands wherever another does: in no part that leaves out just the first."""
        wanted, branch = self.branch(at), self.branch(outer)
        while branch != -1:
            if branch == wanted:
                return True
            branch = self._parents[branch]
        return False

    def enter(self, at: int, parent: int) -> int:
        self._parents.append(parent)
        self.switch(at, len(self._parents) - 1)
        return len(self._parents) - 1

    def switch(self, at: int, branch: int) -> None:
        self._starts.append(at)
        self._branches.append(branch)


def mask(text: str) -> Mask:
    """The copy of a template that a YAML parser reads, and what it hides."""
    found = Mask()
    actions = scan(text)
    rows = alone(text, actions)
    pairs = _pairs(text, actions, rows)
    free: list[Action] = []
    parts: list[str] = []
    done = 0
    for action in actions:
        if action.start < done:
            continue  # inside of a pair
        start, end = action.start, pairs.get(action.start, action.end)
        paired = end != action.end
        row = rows.get(start) or (_line(text, start, end) if paired else None)
        if row is None and action.kind == VALUE and _begins(text, action):
            row = (text.rfind("\n", 0, start) + 1, end)
        parts.append(text[done:start])
        if row is not None:
            parts.append(_blank(text[start:end]))
            if not found.rows or found.rows[-1] != row:
                found.rows.append(row)
            if paired or action.kind == VALUE:
                found.gaps.append(Gap(start, end, _column(text[start:end], start - row[0])))
        elif paired or action.kind == VALUE:
            if paired and parts[-1].endswith(" ") and text[action.end : end].lstrip().startswith(","):
                parts[-1] = parts[-1][:-1] + ","  # an item of a list in brackets
            parts.append(_run(text[start:end], len(found.holes)))
            found.holes.append((start, end))
        else:
            parts.append(_blank(text[start:end]))
        if not paired:
            free.append(action)
        done = end
    parts.append(text[done:])
    found.text = "".join(parts)
    _branches(found, free)
    return found


def _pairs(text: str, actions: list[Action], rows: dict[int, tuple[int, int]]) -> dict[int, int]:
    """start -> end of each `{{ if }}...{{ end }}` that begins and ends in one line."""
    found: dict[int, int] = {}
    opened: list[Action] = []
    for action in actions:
        if action.kind == OPEN:
            opened.append(action)
        elif action.kind == CLOSE and opened:
            opening = opened.pop()
            if rows.get(opening.start) == rows.get(action.start) and text.find("\n", opening.start, action.start) == -1:
                found[opening.start] = action.end
    return found


def _line(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The line of a span that stands alone in it."""
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    while end < len(text) and text[end] in " \t\r":
        end += 1
    if (start > 0 and text[start - 1] != "\n") or (end < len(text) and text[end] != "\n"):
        return None
    return start, min(end + 1, len(text))


def _begins(text: str, action: Action) -> bool:
    """Whether an action is the first part of a key's value, whose other lines follow: `env: {{- toYaml .a | nindent 2 }}`."""
    if "nindent" not in text[action.start : action.end] or text[action.end : action.end + 1] not in ("\n", "\r"):
        return False
    start = text.rfind("\n", 0, action.start) + 1
    line = text[start : action.start].rstrip()
    if not line.endswith(":"):
        return False
    indent = len(line) - len(line.lstrip(" -"))
    for match in _LINE.finditer(text, action.end, action.end + _NEAR):
        if not match.group(2).startswith(("#", "{{", "{%")):
            # a list may stand as deep as its key
            return len(match.group(1)) + match.group(2).startswith("- ") > indent
    return False


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def _run(text: str, number: int) -> str:
    """What stands for an action in the copy."""
    line, broken, rest = text.partition("\n")
    return _RUN[number % len(_RUN)] * len(line) + broken + _blank(rest)


def _column(text: str, column: int) -> int:
    match = _INDENT.search(text)
    if match is None:
        return column
    return int(match.group(2)) + (0 if match.group(1) else column)


def _branches(found: Mask, actions: list[Action]) -> None:
    opened: list[tuple[int, bool]] = []
    current = 0
    closes = sum([action.kind == CLOSE for action in actions])
    opens = sum([action.kind == OPEN for action in actions])
    if opens > closes:
        return  # a part that nothing ends says nothing
    for action in actions:
        if action.kind == OPEN:
            opened.append((current, action.sure))
            current = current if action.sure else found.enter(action.end, current)
        elif action.kind == ELSE and opened and not opened[-1][1]:
            current = found.enter(action.end, opened[-1][0])
        elif action.kind == CLOSE and opened:
            current = opened.pop()[0]
            found.switch(action.start, current)
