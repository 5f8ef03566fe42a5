"""Templates in texts: Go's `{{ }}` (Helm, gomplate), Jinja's `{{ }}` and `{% %}` (Ansible), Terraform's `%{ }`.

A template is never rendered. An action that writes something is an unknown value, and what stands between `if` and `end` is
optional.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from servelint.core.text import EMPTY, Piece, TracedText, unknown

OPEN, ELSE, CLOSE, SILENT, VALUE = "open", "else", "close", "silent", "value"
"""What an action does: it starts, divides or ends a part that may stand there or not, writes nothing, or writes something."""

_START = re.compile(r"\$?\{\{|\{%|(?<!\$)\{#|(?<!%)%\{(?=~?\s*(?:if|else|endif|for|endfor)\b)")
_COMMENT = re.compile(r"\{\{-?\s*(/\*|!--)")
_INSIDE = {
    "{": re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`|\'(?:[^\'\\\n]|\\.)*\'|\}\}'),
    "%": re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|%\}'),
    "%{": re.compile(r'"(?:[^"\\\n]|\\.)*"|\}'),
}
_CLOSING = {"{": "}}", "%": "%}", "%{": "}"}
_WORD = re.compile(r"(?:\$?\{[{%]|%\{)[-+~]?\s*(#|/|\$\w*\s*(?:,\s*\$\w+\s*)?:?=|\w+)")
_SET = re.compile(r"\{%[-+]?\s*set\s+[^=%]*%\}")
_OPENERS = {
    "{": frozenset(("if", "with", "range", "block", "define", "#")),
    "%": frozenset(("if", "for", "with", "macro", "call", "filter", "raw", "block", "autoescape", "trans")),
    "%{": frozenset(("if", "for")),
}
BARE_ELSES = frozenset(("else", "elif", "elseif", "elsif"))
_SILENT = frozenset(("break", "continue", "fail", "set", "import", "from", "extends", "do"))
_SURE = re.compile(r"\{[{%][-+~]?\s*(?:block|define|macro|raw|autoescape|filter|call)\b")
"""Parts that are not left out, as far as this file says."""
_COMMAND = re.compile(r"\s*[A-Za-z_./][\w./-]*(?:=|\s|$)")
_GOES_ON = frozenset("\\(|&,{[\"'")
"""Signs after which a command or a list goes on in the next line."""
_LINE = re.compile(r"(?:[^\n]*\\[ \t]*\n)*[^\n]*\n?")
"""A line, and those that a backslash continues."""
REPEATS = re.compile(r"(?:\{[{%]|%\{)[-~]?\s*(?:with|range|for)\b")
BARE_ELSE = re.compile(r"(?:\{[{%]|%\{)[-~]?\s*else\s*[-~]?[%}]?\}")
_RAW = re.compile(r"\{\{-?\s*`(?P<text>\{\{[^`]*\}\})`\s*-?\}\}")
_BRACES_OPENED = re.compile(r"\{\{-?\s*([\"'`])\{\{-?\1\s*-?\}\}")
_BRACES_CLOSED = re.compile(r"[^\n]*?\{\{-?\s*([\"'`])-?\}\}\1\s*-?\}\}")
"""`{{ '{{' }} env "PORT" {{ '}}' }}`: what this template writes for a later one to fill in, one value."""
_OPTIONS = re.compile(r"[ \t]*--?[A-Za-z](?:[^\n\"']|\"[^\"\n]*\"|'[^'\n]*')*\n?[ \t]*")
"""Options, with their values, in one line."""
_BLANK = TracedText.of(" ")
_PART = re.compile(r"\"(?P<double>[^\"\\\n]*)\"|'(?P<single>[^'\\\n]*)'|[\w.\[\]|]+")
"""A part of what an expression joins: a string, or a variable with its filters."""
_NESTED_AT_MOST = 40
_LONG = 4000


class Action:
    """One action of a template: `{{ ... }}` or `{% ... %}`.

    Attributes:
        start, end: Its characters.
        kind: What it does.
        sure: Whether a part that it starts is always in the output.
    """

    __slots__ = ("end", "kind", "start", "sure")

    def __init__(self, start: int, end: int, kind: str, sure: bool = False) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.sure = sure


def scan(text: str) -> list[Action]:
    """The actions of a text, in order; braces that are never closed are not actions."""
    found: list[Action] = []
    dead: set[str] = set()  # what is not closed anywhere in the rest of the text
    match = _START.search(text)
    while match is not None:
        start, sign = match.start(), "%{" if match.group() == "%{" else text[match.end() - 1]
        comment = _comment(text, match, dead)
        end = comment if comment != -1 else _end(text, match.end(), sign, dead)
        opened = _BRACES_OPENED.match(text, start)
        closed = _BRACES_CLOSED.match(text, opened.end()) if opened is not None else None
        end = closed.end() if closed is not None else end
        if end == -1:
            end = match.end()
        else:
            found.append(Action(start, end, SILENT) if comment != -1 else _action(text, start, end, sign))
        match = _START.search(text, end)
    return found


def _comment(text: str, match: re.Match[str], dead: set[str]) -> int:
    """Where a comment ends that starts at a match; -1 if it is not one."""
    if text[match.end() - 1] == "#":
        closing, after = "#}", ""
    else:
        opened = _COMMENT.match(text, match.start())
        if opened is None:
            return -1
        closing, after = ("*/", "}}") if opened.group(1) == "/*" else ("--}}", "")
    for wanted in (closing, after):
        at = text.find(wanted, match.end()) if wanted not in dead else -1
        if at == -1:
            dead.add(wanted)
            return -1
    end = text.find(closing, match.end()) + len(closing)
    return text.find(after, end) + len(after) if after else end


def _end(text: str, at: int, sign: str, dead: set[str]) -> int:
    """Where an action ends that starts before an offset; -1 if it does not end."""
    closing = _CLOSING.get(sign, "")
    last = text.find(closing, at) if closing and closing not in dead else -1
    if last == -1:
        dead.add(closing)
        return -1
    for token in _INSIDE[sign].finditer(text, at):
        if token.group() == closing:
            return token.end()
        if token.end() - at > _LONG:
            break
    return last + len(closing)


def _action(text: str, start: int, end: int, sign: str) -> Action:
    match = _WORD.match(text, start, end)
    word = match.group(1) if match is not None else ""
    if text[start] == "$" or not word:
        return Action(start, end, VALUE)
    if word == "/" or word.startswith("end"):
        return Action(start, end, CLOSE)
    if word in _OPENERS[sign] or (word == "set" and _SET.match(text, start, end)):
        return Action(start, end, OPEN, _SURE.match(text, start, end) is not None)
    if word in BARE_ELSES:
        return Action(start, end, ELSE)
    if word.endswith("=") or word in _SILENT:
        return Action(start, end, SILENT)
    return Action(start, end, VALUE)


def alone(text: str, actions: list[Action]) -> dict[int, tuple[int, int]]:
    """The whole lines around each action, by its start, where they hold only actions and comments."""
    found: dict[int, tuple[int, int]] = {}
    at = 0
    while at < len(actions):
        first, end = at, -1
        start = text.rfind("\n", 0, actions[at].start) + 1
        rest = [text[start : actions[at].start]]
        while True:
            if actions[at].end > end:
                end = text.find("\n", actions[at].end)
                end = len(text) if end == -1 else end
            if at + 1 >= len(actions) or actions[at + 1].start >= end:
                break
            rest.append(text[actions[at].end : actions[at + 1].start])
            at += 1
        rest.append(text[actions[at].end : end])
        at += 1
        if not (left := "".join(rest).strip()) or (left[0] == "#" and not rest[0].strip()):
            for action in actions[first:at]:
                found[action.start] = (start, min(end + 1, len(text)))
    return found


def arms(text: str) -> list[list[tuple[Action, int, int]]]:
    """The parts of each `if` with an `else` whose actions stand alone in their lines: what opens each, its start and its end.

    The last item is what closes them, and the line of it.
    """
    actions = scan(text)
    rows = alone(text, actions)
    found: list[list[tuple[Action, int, int]]] = []
    opened: list[list[Action]] = []
    for action in actions:
        if action.kind == OPEN:
            opened.append([action])
        elif action.kind == ELSE and opened:
            opened[-1].append(action)
        elif action.kind == CLOSE and opened:
            marks = [*opened.pop(), action]
            if len(marks) > 2 and all(one.start in rows for one in marks):
                parts = [(one, rows[one.start][1], rows[after.start][0]) for one, after in pairwise(marks)]
                found.append([*parts, (action, *rows[action.start])])
    return found


# -- texts


def filled(
    text: TracedText,
    lookup: Callable[[str], TracedText | None] | None = None,
    *,
    script: bool = False,
    truth: Callable[[str], bool | None] | None = None,
) -> TracedText:
    """A text with its actions as unknown pieces.

    Args:
        text: The text.
        lookup: Gives the value of an expression, or None.
        script: Whether optional lines may be commands of a shell script.
        truth: Tells whether the condition of an action holds, or None.
    """
    if not any(opening in text.flat for opening in ("{{", "{%", "{#", "%{")):
        return text
    actions = scan(text.flat)
    return _Filler(text, lookup, script, truth).filled(actions) if actions else text


class _Filler:
    """Makes unknown pieces of the actions of one text.

    Attributes:
        rows: The lines of an action that stands alone, by its start.
        ends: The index of the `end` of an `if`, by its index.
    """

    def __init__(
        self,
        text: TracedText,
        lookup: Callable[[str], TracedText | None] | None,
        script: bool,
        truth: Callable[[str], bool | None] | None,
    ) -> None:
        self.truth = truth
        self.text = text
        self.lookup = lookup
        self.script = script
        self.actions: list[Action] = []
        self.rows: dict[int, tuple[int, int]] = {}
        self.ends: dict[int, int] = {}

    def filled(self, actions: list[Action]) -> TracedText:
        self.actions = actions
        if "\n" in self.text.flat:
            self.rows = alone(self.text.flat, actions)
        opened: list[int] = []
        for index, action in enumerate(actions):
            if action.kind == OPEN:
                opened.append(index)
            elif action.kind == CLOSE and opened:
                self.ends[opened.pop()] = index
        return self.part(0, len(actions), 0, len(self.text.flat), 0)

    def extent(self, action: Action) -> tuple[int, int]:
        """The characters that go with an action: its whole line where it stands alone and writes nothing."""
        row = self.rows.get(action.start)
        return row if row is not None and action.kind != VALUE else (action.start, action.end)

    def part(self, first: int, last: int, start: int, end: int, depth: int) -> TracedText:
        """The text between two offsets, whose actions are those between two indices."""
        parts: list[TracedText] = []
        done, at = start, first
        while at < last:
            action = self.actions[at]
            here, after = self.extent(action)
            parts.append(self.text.cut(done, max(done, here)))
            closing = self.ends.get(at) if action.kind == OPEN else None
            if closing is not None:
                after = self.extent(self.actions[closing])[1]
                if heads := self.heads(at, closing, _last(parts), depth):
                    rest = self.part(closing + 1, last, after, end, depth)
                    whole = _LINE.match(rest.flat)
                    cut = whole.end() if whole is not None else 0
                    parts += self.conditional([(TracedText.join((head, rest.cut(0, cut))), by) for head, by in heads])
                    return TracedText.join([*parts, rest.cut(cut)])
                parts += self.branches(at, closing, parts, depth)
                at = closing
            elif action.kind == VALUE:
                parts.append(self.value(action.start, action.end))
            done = max(done, after)
            at += 1
        parts.append(self.text.cut(done, max(done, end)))
        return TracedText.join(parts)

    def value(self, start: int, end: int) -> TracedText:
        written = self.text.cut(start, end)
        if self.lookup is not None and (known := self.lookup(written.flat)) is not None:
            return known.placed(written.span(), assumed=True)
        literal = _RAW.fullmatch(written.flat)  # for another program, which fills it later
        if literal is not None:
            return TracedText((unknown(literal.group("text"), written.span()),))
        return expression(written)

    def heads(self, opening: int, closing: int, before: str, depth: int) -> list[tuple[TracedText, Action]]:
        """The parts of an `if`, each the start of a command that goes on behind its `end`; [] where they are not."""
        marks = [opening, *self.elses(opening, closing), closing]
        if not self.script or len(marks) < 3 or before in _GOES_ON or self.rows.get(self.actions[opening].start) is None:
            return []
        bounds = [
            (here, there, self.extent(self.actions[here])[1], self.extent(self.actions[there])[0])
            for here, there in pairwise(marks)
        ]
        if not all(
            _COMMAND.match(flat := self.text.flat[start:end]) and flat.rstrip().endswith("\\") for *_, start, end in bounds
        ):
            return []
        return [(self.part(here + 1, there, start, end, depth + 1), self.actions[here]) for here, there, start, end in bounds]

    def branches(self, opening: int, closing: int, written: list[TracedText], depth: int) -> list[TracedText]:
        """The parts between an `if` and its `end`, one unknown each. written: what stands in front of it."""
        first, last = self.actions[opening], self.actions[closing]
        row = self.rows.get(first.start)
        if row is None or row == self.rows.get(last.start) or depth > _NESTED_AT_MOST:
            return self.in_line(opening, closing, written, depth)
        parts: list[tuple[TracedText, Action]] = []
        marks = [opening, *self.elses(opening, closing), closing]
        for here, there in pairwise(marks):
            start, end = self.extent(self.actions[here])[1], self.extent(self.actions[there])[0]
            if start < end:
                parts.append((self.part(here + 1, there, start, end, depth + 1), self.actions[here]))
        if first.sure:
            return [part for part, _ in parts]
        if (decided := self.decided(marks, parts)) is not None:
            return decided
        if self.script and parts and _last(written) not in _GOES_ON and all(_is_command(part.flat) for part, _ in parts):
            return self.conditional(parts)
        return [piece for part, _ in parts for piece in _perhaps(part)]

    def decided(self, marks: list[int], parts: list[tuple[TracedText, Action]]) -> list[TracedText] | None:
        """The part that is there where the values tell it; None if they do not, or if there is only one to leave out."""
        if self.truth is None:
            return None
        repeats = REPEATS.match(self.written(marks[0])) is not None
        if len(marks) < 3 and not repeats:
            return None
        for mark in marks[:-1]:
            holds = True if BARE_ELSE.match(self.written(mark)) else self.truth(self.written(mark))
            if holds is None or (holds and repeats and mark == marks[0]):
                return None
            if holds:
                return [part for part, opening in parts if opening is self.actions[mark]]
        return []

    def written(self, index: int) -> str:
        action = self.actions[index]
        return self.text.flat[action.start : action.end]

    def in_line(self, opening: int, closing: int, written: list[TracedText], depth: int) -> list[TracedText]:
        """The same where they stand in one line. Blanks in all of the parts are around the unknown: it is words of its own."""
        first, last = self.actions[opening], self.actions[closing]
        marks = [opening, *self.elses(opening, closing), closing]
        repeats = REPEATS.match(self.written(opening)) is not None and len(marks) == 2
        if repeats and self.truth is not None and self.truth(self.written(opening)) is False:
            return []
        places = [(here, there, self.actions[here].end, self.actions[there].start) for here, there in pairwise(marks)]
        places = [place for place in places if self.text.flat[place[2] : place[3]].strip()]
        arms = [self.text.flat[start:end] for *_, start, end in places]
        if self.script and len(marks) == 2 and arms and arms[0][0].isspace() and "\n" not in arms[0].strip():
            return _perhaps(self.part(opening + 1, closing, first.end, last.start, depth + 1))
        if arms and self.apart(arms, written, last.end):
            made = [
                piece
                for here, there, start, end in places
                for piece in [_BLANK, *_perhaps(self.part(here + 1, there, start, end, depth + 1).strip())]
            ]
            return [*made, _BLANK]
        before = self.script and bool(arms) and all(arm[0].isspace() for arm in arms)
        after = self.script and bool(arms) and all(arm[-1].isspace() for arm in arms)
        return [*[_BLANK] * before, self.value(first.start, last.end), *[_BLANK] * after]

    def apart(self, arms: list[str], written: list[TracedText], end: int) -> bool:
        """Whether the parts of an `if` in one line are whole words of a command, options with their values."""
        if not all(_OPTIONS.fullmatch(arm) for arm in arms):
            return False
        before = next((part.flat[-1] for part in reversed(written) if part.flat), " ")
        after = self.text.flat[end : end + 1]
        return (before.isspace() or all(arm[0].isspace() for arm in arms)) and (
            not after or after.isspace() or after == "\\" or all(arm[-1].isspace() for arm in arms)
        )

    def elses(self, opening: int, closing: int) -> list[int]:
        found: list[int] = []
        at = opening + 1
        while at < closing:
            if self.actions[at].kind == ELSE:
                found.append(at)
            at = self.ends.get(at, at) + 1
        return found

    def conditional(self, parts: list[tuple[TracedText, Action]]) -> list[TracedText]:
        """Commands as the branches of a shell's `if` with an unknown condition."""
        made: list[TracedText] = []
        for part, opening in parts:
            condition = self.text.cut(opening.start, opening.end)
            written = TracedText((unknown(condition.shown, condition.span()),))
            made += [TracedText.of("elif " if made else "if "), written, TracedText.of("; then\n"), part]
            if not part.flat.endswith("\n"):
                made.append(TracedText.of("\n"))
        return [*made, TracedText.of("fi\n")]


def expression(written: TracedText) -> TracedText:
    """What an expression of a template writes: an unknown, or the one text that it writes if it writes any.

    That is so of `{{ '--flag ' ~ value if value else '' }}`.
    """
    plain = TracedText((unknown(written.shown, written.span()),))
    value, _, condition = written.flat.partition(" if ")
    otherwise = condition.partition(" else ")[2].rstrip("-}").strip()
    if not condition or otherwise not in ("", "''", '""') or not value.startswith("{{"):
        return plain
    start = len(value) - len(value[2:].lstrip("- \t"))
    parts = list(_PART.finditer(value, start))
    strings = [one for one in parts if one.lastgroup is not None]
    if not strings or _PART.sub("", value[start:]).strip(" \t~+"):
        return plain
    texts: list[TracedText] = []
    for part in parts:
        one = written.cut(*(part.span(part.lastgroup) if part.lastgroup is not None else part.span()))
        texts.append(one if part in strings else TracedText((unknown("{{ " + one.shown + " }}", one.span()),)))
    inside = TracedText.join(texts)
    return TracedText((unknown(written.shown, written.span(), perhaps=inside),)) if inside.pieces else EMPTY


def _last(parts: list[TracedText]) -> str:
    """The last character of some texts, white space aside; empty if there is none."""
    for part in reversed(parts):
        if flat := part.flat.rstrip(" \t\r\n"):
            return flat[-1]
    return ""


def _is_command(text: str) -> bool:
    """Whether lines are whole commands, not words of one that continues after them."""
    return _COMMAND.match(text) is not None and not text.rstrip().endswith("\\")


def _perhaps(part: TracedText) -> list[TracedText]:
    """Lines that may be left out, as one unknown; the backslash that continues their last line stays."""
    flat = part.flat
    body = flat.rstrip(" \t\r\n")
    continued = body.endswith("\\")
    body = body[:-1].rstrip(" \t\r\n") if continued else body
    start = len(flat) - len(flat.lstrip(" \t\r\n"))
    if start >= len(body):
        return []
    inside = part.cut(start, len(body))
    whole = TracedText((unknown(inside.shown, inside.span(), shown=inside.shown, perhaps=inside),))
    return [part.cut(0, start), whole, part.cut(len(body))]


def unsure(text: TracedText) -> TracedText:
    """A text that may be missing, as one unknown."""
    return TracedText((unknown(text.shown, text.span(), perhaps=text),)) if text.pieces else EMPTY


def unfolded(text: TracedText) -> TracedText:
    """A text with its line breaks as the spaces of a folded scalar."""
    pieces: list[Piece] = []
    for piece in text.pieces:
        if piece.expression is not None or "\n" not in piece.text:
            pieces.append(piece)
        else:
            pieces.append(Piece(piece.text.replace("\n", " "), piece.span, assumed=piece.assumed, origin=piece.origin))
    return TracedText(pieces)
