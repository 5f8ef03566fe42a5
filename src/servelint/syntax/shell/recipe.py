"""How a raw word is expanded, read from its characters once: quotes, parameters, substitutions, in the order of the word.

A recipe has no places and no values in it, so that it holds for every word of the same characters; it is kept for the next one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.launch import Word
from servelint.core.text import Piece, Text, unknown
from servelint.syntax.shell import parameters
from servelint.syntax.shell.fields import WHITE, Fields
from servelint.syntax.shell.lexer import ansi_end, backquote, matching
from servelint.syntax.shell.parts import (
    Ansi,
    Arithmetic,
    Backquoted,
    Escaped,
    Home,
    Literal,
    Part,
    Quotes,
    Substitution,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.parameters import Scope

WORD, IN_QUOTES, HEREDOC = range(3)
"""Where the characters stand: as a word, as a default in double quotes (single quotes are ordinary there), in a heredoc."""

_PLAIN = re.compile(r"[^\\'\"$`]+")
_PLAIN_IN_QUOTES = re.compile(r"[^\\\"$`]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]", re.ASCII)
_STARRED = re.compile(r"!?(?:\*|\w+\[\*\])")
_HOME = re.compile(r"~[\w.+-]*(?=/|$)", re.ASCII)
_KEPT_AT_MOST = 500
"""Characters of a word whose recipe is kept."""


class Recipe:
    """The parts of a raw word, in its order.

    fixed:  nothing of it hangs on a variable
    single: as a value it is one text of each part that has one
    quoted: as a word too, because quotes are around all that varies
    """

    __slots__ = ("fixed", "parts", "quoted", "single", "texts")

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        self.texts = [part for part in parts if not isinstance(part, Quotes)]
        self.fixed = all(part.fixed for part in parts)
        self.single = all(part.single for part in parts)
        self.quoted = self.single and len(self.texts) < len(parts) and all(part.fixed or part.quoted for part in parts)


class Parameter(Part):
    """`$name` or `${...}`.

    low, high: what stands between the braces;  inner: what that says
    default:   the recipe of its default (`${V:-d}`), where that is one text
    """

    __slots__ = ("default", "high", "inner", "low")

    def __init__(self, flat: str, start: int, low: int, high: int, end: int, quoted: bool) -> None:
        self.inner = inner = parameters.Written(flat[low:high])
        default = read(inner.flat[inner.operand :], IN_QUOTES if quoted else WORD) if inner.defaults else None
        self.default = default if default is not None and default.single else None
        super().__init__(start, end, quoted, single=inner.plain or self.default is not None)
        self.low = low
        self.high = high

    def add(self, raw: Text, scope: Scope, fields: Fields) -> None:
        inner = self.inner
        found: Text | list[Word] | parameters.Operand
        if inner.plain:
            found = self.text(raw, scope)
        else:
            whole = raw.cut(self.start, self.end)
            found = parameters.evaluate(raw.cut(self.low, self.high), whole, scope, self.quoted, inner)
        if isinstance(found, Text):
            if self.quoted:
                fields.add(found)
            else:
                fields.add_value(found)
        elif isinstance(found, parameters.Operand):
            self._operand(found, raw, scope, fields)
        else:
            self._list(found, raw.flat[self.low : self.high], scope, fields)

    def text(self, raw: Text, scope: Scope) -> Text:
        inner = self.inner
        known = scope.variable(inner.name)
        if self.default is not None:
            if known is not None and parameters.given(inner.operator, known):
                return known
            if not self.default.texts:
                return Text((Piece("", raw.span(self.start, self.end), assumed=True),))
            operand = raw.cut(self.low + inner.operand, self.high)
            return Text.join([part.text(operand, scope) for part in self.default.texts]).softened()
        if known is None:
            return Text((unknown("${" + inner.name + "}", raw.span(self.start, self.end)),))
        return known

    def _list(self, found: list[Word], inner: str, scope: Scope, fields: Fields) -> None:
        quoted = self.quoted
        joined = _STARRED.match(inner) is not None
        if (quoted and joined) or not fields.split:
            text = _joined([word.text for word in found], scope.separators() if joined else WHITE)
            if quoted:
                fields.add(text)
            else:
                fields.add_value(text)
            return
        was_quoted = fields.quoted and any(part.flat for part in fields.parts)
        for index, word in enumerate(found):
            if index:
                fields.end()
            if quoted and not word.many:
                fields.add(word.text)
                fields.quoted = True
            elif word.many:
                fields.quoted = False
                fields.add(word.text)
            else:
                fields.add_value(word.text)
        if quoted and not found and not was_quoted and not any(part.flat for part in fields.parts):
            fields.quoted = False

    def _operand(self, operand: parameters.Operand, raw: Text, scope: Scope, fields: Fields) -> None:
        """A default or an alternative, expanded in the place of its expansion."""
        before = len(fields.done), len(fields.parts)
        nested, soft = fields.nested, fields.soft
        fields.nested, fields.soft = not self.quoted, soft or operand.assumed
        for part in read(operand.raw.flat, IN_QUOTES if self.quoted else WORD).parts:
            part.add(operand.raw, scope, fields)
        fields.nested, fields.soft = nested, soft
        if operand.assumed and before == (len(fields.done), len(fields.parts)):
            fields.add(Text((Piece("", raw.span(self.start, self.end), assumed=True),)), self.quoted)


def read(flat: str, where: int = WORD) -> Recipe:
    """The recipe of a raw word, of a default in double quotes, or of the body of a heredoc."""
    return _kept(flat, where) if len(flat) <= _KEPT_AT_MOST else _read(flat, where)


@lru_cache(maxsize=4096)
def _kept(flat: str, where: int) -> Recipe:
    return _read(flat, where)


def _read(flat: str, where: int) -> Recipe:
    parts: list[Part] = []
    at = 0
    if where == WORD:
        _word(flat, parts)
    elif where == HEREDOC:
        _in_quotes(flat, 0, parts, closing="")
    else:
        while at < len(flat):
            at = _in_quotes(flat, at, parts, closing='"', escapable='$`\\"}')
    return Recipe(parts)


def _word(flat: str, parts: list[Part]) -> None:
    home = _HOME.match(flat)
    at = 0
    if home:
        at = home.end()
        parts.append(Home(home.group()))
    while at < len(flat):
        char = flat[at]
        if char == "'":
            close = flat.find("'", at + 1)
            close = len(flat) if close == -1 else close
            parts += (Quotes(at), Literal(at + 1, close, True))
            at = close + 1
        elif char == '"':
            parts.append(Quotes(at))
            at = _in_quotes(flat, at + 1, parts, closing='"')
        elif char == "\\":
            if flat[at + 1 : at + 2] != "\n":
                parts += (Quotes(at), Escaped(at, flat[at + 1 : at + 2] or "\\"))
            at += 2
        elif char == "$" and flat.startswith("$'", at):
            end = ansi_end(flat, at + 2)
            parts += (Quotes(at), Ansi(at, end))
            at = end
        elif char == "$" and flat.startswith('$"', at):
            at += 1
        elif char in "$`":
            at = _dollar(flat, at, parts, quoted=False)
        else:
            match = _PLAIN.match(flat, at)
            end = match.end() if match else at + 1
            parts.append(Literal(at, end, False, nested=True))
            at = end


def _in_quotes(flat: str, at: int, parts: list[Part], closing: str, escapable: str = "") -> int:
    """Read what stands in double quotes (or in a heredoc, closing=""); gives the offset after the closing quote."""
    escapable = escapable or "$`\\" + closing
    while at < len(flat):
        char = flat[at]
        if char == closing:
            return at + 1
        if char == "\\":
            following = flat[at + 1 : at + 2]
            if following and following in escapable:
                parts.append(Escaped(at, following))
            elif following != "\n":
                parts.append(Literal(at, at + 2, True))
            at += 2
        elif "}" in escapable and flat.startswith("$'", at):
            end = ansi_end(flat, at + 2)
            parts += (Quotes(at), Ansi(at, end))
            at = end
        elif char in "$`":
            at = _dollar(flat, at, parts, quoted=True)
        elif char == '"':
            parts.append(Literal(at, at + 1, True))
            at += 1
        else:
            match = _PLAIN_IN_QUOTES.match(flat, at)
            end = match.end() if match else at + 1
            parts.append(Literal(at, end, True))
            at = end
    return at


def _dollar(flat: str, at: int, parts: list[Part], quoted: bool) -> int:
    """One `$...` or backquoted substitution; gives the offset after it."""
    if flat[at] == "`":
        close = backquote(flat, at + 1)
        parts.append(Backquoted(flat, at, at + 1, close, quoted))
        return close + 1
    if flat.startswith("$((", at):
        close = matching(flat, at + 3, ")")
        if flat.startswith("))", close):
            parts.append(Arithmetic(flat, at, at + 3, close, quoted))
            return close + 2
    if flat.startswith("$(", at):
        close = matching(flat, at + 2, ")")
        parts.append(Substitution(flat, at, at + 2, close, quoted))
        return close + 1
    if flat.startswith("${", at):
        close = matching(flat, at + 2, "}", quoted=quoted)
        parts.append(Parameter(flat, at, at + 2, close, close + 1, quoted))
        return close + 1
    name = _NAME.match(flat, at + 1)
    if name is None:
        parts.append(Literal(at, at + 1, quoted))
        return at + 1
    parts.append(Parameter(flat, at, at + 1, name.end(), name.end(), quoted))
    return name.end()


def _joined(texts: list[Text], separators: str | None) -> Text:
    between = Text((unknown("$IFS", None),)) if separators is None else Text.of(separators[:1])
    parts: list[Text] = []
    for text in texts:
        parts += [text, between]
    return Text.join(parts[:-1])
