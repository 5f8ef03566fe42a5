"""make's variables and how a text that refers to them is expanded.

A variable that the makefile does not set may come from the environment or from make's command line: it is unknown. So is what
only running something would tell (`$(shell ...)`).
"""

from __future__ import annotations

import re

from servelint.core.text import EMPTY, HOLE, Piece, Text, unknown

_DEPTH = 24
_STEPS_AT_MOST = 2_000
_STEPS_IN_ALL = 500_000
_LENGTH_AT_MOST = 100_000
_FUNCTION = re.compile(r"([a-z]+)[ \t]+|(error|warning|info)$")
_FUNCTIONS = frozenset((
    "abspath", "addprefix", "addsuffix", "and", "basename", "call", "dir", "error", "eval", "file", "filter", "filter-out",
    "findstring", "firstword", "flavor", "foreach", "guile", "if", "info", "intcmp", "join", "lastword", "let", "notdir",
    "or", "origin", "patsubst", "realpath", "shell", "sort", "strip", "subst", "suffix", "value", "warning", "wildcard",
    "word", "wordlist", "words",
))  # fmt: skip
_SILENT = frozenset(("error", "eval", "info", "warning"))


class Variable:
    """simple: the value is expanded already (`:=`); else it is expanded where it is used."""

    __slots__ = ("simple", "value")

    def __init__(self, value: Text, simple: bool) -> None:
        self.value = value
        self.simple = simple


class Scope:
    """The variables that an expansion sees."""

    def __init__(self, variables: dict[str, Variable]) -> None:
        self.variables = variables
        self.steps = self.in_all = 0
        self.resolving: set[str] = set()

    def with_(self, more: dict[str, Variable]) -> Scope:
        """The same scope with variables in front."""
        inner = Scope({**self.variables, **more})
        inner.steps, inner.in_all, inner.resolving = self.steps, self.in_all, self.resolving
        return inner

    def expand(self, text: Text, depth: int = 0) -> Text:
        """The text with its references replaced."""
        flat = text.flat
        at = flat.find("$")
        if at == -1:
            return text
        if depth == 0:
            self.steps = 0
        parts: list[Text] = []
        done = 0
        length = 0
        while at != -1 and at + 1 < len(flat):
            end, value = self.reference(text, at, depth)
            length += len(value.flat)
            if length > _LENGTH_AT_MOST:
                value = _unsure(text.cut(at, end))
            parts += [text.cut(done, at), value]
            done = end
            at = flat.find("$", done)
        return Text.join([*parts, text.cut(done)])

    def reference(self, text: Text, at: int, depth: int) -> tuple[int, Text]:
        """The end and the value of the reference at an offset."""
        flat = text.flat
        following = flat[at + 1]
        if following == "$":
            return at + 2, Text((Piece("$", text.span(at, at + 2)),))
        if following not in "({":
            return at + 2, self.named(text.cut(at + 1, at + 2), text.cut(at, at + 2), depth)
        close = closing(flat, at + 2, following)
        whole, inner = text.cut(at, min(close + 1, len(flat))), text.cut(at + 2, close)
        self.steps += 1
        self.in_all += 1
        if depth > _DEPTH or self.steps > _STEPS_AT_MOST or self.in_all > _STEPS_IN_ALL:
            return close + 1, _unsure(whole)
        function = _FUNCTION.match(inner.flat)
        if function is not None and function.group(1) in _FUNCTIONS:
            return close + 1, self.function(function.group(1), inner.cut(function.end()), whole, depth + 1)
        return close + 1, self.named(inner, whole, depth + 1)

    def named(self, name: Text, whole: Text, depth: int) -> Text:
        """The value of the variable of a name, which may itself refer to variables."""
        known = (self.expand(name, depth + 1).value or "").strip()
        variable = self.variables.get(known)
        if variable is None or known in self.resolving:
            return _unsure(whole)
        if variable.simple:
            return variable.value
        self.resolving.add(known)
        value = self.expand(variable.value, depth + 1)
        self.resolving.discard(known)
        return value

    def function(self, name: str, rest: Text, whole: Text, depth: int) -> Text:
        if name in _SILENT:
            return EMPTY
        if name == "strip":
            return _stripped(self.expand(rest, depth))
        if name == "if":
            return self.choice(arguments(rest), whole, depth)
        if name == "or":
            for part in arguments(rest):
                value = self.expand(part.strip(), depth)
                if not value.known:
                    return _unsure(whole)
                if value.flat:
                    return value
            return EMPTY
        if name == "call":
            given = [self.expand(part if index else part.strip(), depth) for index, part in enumerate(arguments(rest))]
            body = self.variables.get(given[0].value or "") if given else None
            if body is None:
                return _unsure(whole)
            own = {str(index): Variable(value, simple=True) for index, value in enumerate(given)}
            own.update({str(index): Variable(EMPTY, simple=True) for index in range(len(given), 10)})
            inner = self.with_(own)
            value = inner.expand(body.value, depth)
            self.steps, self.in_all = inner.steps, inner.in_all
            return value
        return _unsure(whole)

    def choice(self, parts: list[Text], whole: Text, depth: int) -> Text:
        """`$(if condition,then,else)`."""
        condition = self.expand(parts[0].strip(), depth)
        then = self.expand(parts[1], depth) if len(parts) > 1 else EMPTY
        otherwise = self.expand(parts[2], depth) if len(parts) > 2 else EMPTY
        if not condition.flat and not condition.assumed:
            return otherwise
        if not condition.flat:
            # the condition is an empty default
            return otherwise.softened() if otherwise.pieces else Text((Piece("", None, assumed=True),))
        if condition.flat.strip(HOLE):
            return then
        if otherwise.flat:
            return _unsure(whole)
        return Text((unknown(whole.shown, whole.extent(), shown="", perhaps=then),))


def _stripped(text: Text) -> Text:
    """The words of a text with one space between them."""
    parts: list[Text] = []
    for match in re.finditer(r"\S+", text.flat):
        parts += [text.cut(*match.span()), Text.of(" ")]
    return Text.join(parts[:-1])


def _unsure(whole: Text) -> Text:
    return Text((unknown(whole.shown, whole.extent()),))


def closing(flat: str, at: int, opening: str) -> int:
    """The offset of the bracket that closes a reference whose content starts at an offset, or the end of the text."""
    end = ")" if opening == "(" else "}"
    depth = 0
    while at < len(flat):
        if flat[at] == opening:
            depth += 1
        elif flat[at] == end:
            if depth == 0:
                return at
            depth -= 1
        at += 1
    return len(flat)


def arguments(text: Text) -> list[Text]:
    """The arguments of a function: what commas outside of brackets separate."""
    flat = text.flat
    found: list[Text] = []
    depth = start = 0
    for at, char in enumerate(flat):
        if char in "({":
            depth += 1
        elif char in ")}":
            depth -= 1
        elif char == "," and depth == 0:
            found.append(text.cut(start, at))
            start = at + 1
    return [*found, text.cut(start)]
