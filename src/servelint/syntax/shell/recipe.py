"""Recipes: how a raw word is expanded, as a list of parts, each of which adds to the fields of the word.

A recipe holds no places and no values, so that it is kept and serves every word of the same characters.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.launch import Word
from servelint.core.text import HOLE, Piece, TracedText, spend, unknown
from servelint.syntax.shell import parameters
from servelint.syntax.shell.lexer import ansi_end, backquote, matching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.evaluate import Evaluator

WHITE = " \t\n"
_ESCAPED = re.compile(r"\\([`$\\])")
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c.|([abeEfnrtv\\'\"?])|.)", re.DOTALL
)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
WORD, IN_QUOTES, HEREDOC = range(3)
"""Where the characters stand: as a word, as a default in double quotes (single quotes are ordinary there), in a heredoc."""
_PLAIN = re.compile(r"[^\\'\"$`]+")
_PLAIN_IN_QUOTES = re.compile(r"[^\\\"$`]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]", re.ASCII)
_STARRED = re.compile(r"!?(?:\*|\w+\[\*\])")
_HOME = re.compile(r"~[\w.+-]*(?=/|$)", re.ASCII)
_KEPT_AT_MOST = 500
"""Characters of a word whose recipe is kept."""


class Fields:
    """The words that one raw word expands to, while they are made.

    Attributes:
        separators: What splits the value of an unquoted expansion (IFS); None if it is not known.
        marks: Whether each part of the current word is quoted.
        nested: Whether a default (`${V:-a b}`) is expanded, whose plain text is split like a value.
        soft: Whether a default is expanded that the environment may override.
        most: How many words matter; what a value has behind these is left out. None if all do.
    """

    __slots__ = ("delimiter", "done", "marks", "most", "nested", "parts", "quoted", "soft", "split")

    def __init__(self, split: bool, separators: str | None = WHITE, most: int | None = None) -> None:
        self.split = split
        self.most = most
        self.delimiter = delimiter(separators) if separators is not None else None
        self.done: list[tuple[TracedText, bool]] = []
        self.parts: list[TracedText] = []
        self.marks: list[bool] = []
        self.quoted = False
        self.nested = False
        self.soft = False

    def add(self, text: TracedText, quoted: bool = True) -> None:
        """Add text that is not split."""
        self.parts.append(text.softened() if self.soft else text)
        self.marks.append(quoted)

    def add_plain(self, text: TracedText) -> None:
        """Add unquoted text of the word itself."""
        if self.nested:
            self.add_value(text)
        else:
            self.add(text, quoted=False)

    def add_value(self, text: TracedText) -> None:
        """Add the value of an unquoted expansion, split at the separators."""
        if not self.split or not text.flat:
            self.add(text, quoted=False)
            return
        if self.delimiter is None:
            self.add(TracedText((unknown(text.shown, text.span()),)), quoted=False)
            return
        at = 0
        spend(8 * len(text.flat))
        for match in self.delimiter.finditer(text.flat):
            if match.group(1):
                self.add(text.cut(at, match.start()), quoted=False)
                self.quoted = True
            elif match.start() > at:
                self.add(text.cut(at, match.start()), quoted=False)
            self.end()
            at = match.end()
            if self.most is not None and len(self.done) > self.most:
                return
        if at < len(text.flat):
            self.add(text.cut(at), quoted=False)

    def end(self) -> None:
        """End the current word."""
        text = TracedText.join(self.parts)
        if self.quoted or text.flat:
            self.done.append((text, not self.quoted and not text.flat.strip(HOLE)))
        elif text.pieces and text.assumed:
            self.done.append((text, True))  # a default that is empty: no word, unless it is given
        self.parts, self.marks, self.quoted = [], [], False


@lru_cache(maxsize=32)
def delimiter(separators: str) -> re.Pattern[str]:
    """A pattern of what stands between fields; group 1: a separator other than white space, which ends an empty field too."""
    white = "".join([char for char in separators if char in WHITE])
    hard = re.escape("".join([char for char in separators if char not in WHITE]))
    spaces = f"[{white}]" if white else "(?!)"
    return re.compile(f"{spaces}*([{hard}]){spaces}*|{spaces}+" if hard else f"(?!)()|{spaces}+")


def fields_of(text: TracedText, separators: str | None) -> list[Word]:
    """The words that the value of an unquoted expansion is split into."""
    fields = Fields(True, separators)
    fields.add_value(text)
    fields.end()
    return [Word(part, None, many) for part, many in fields.done]


class _Part:
    """Some characters of a word. fixed: what they add is the same whatever the variables are;  quoted: it is not split."""

    __slots__ = ("end", "fixed", "quoted", "start")

    def __init__(self, start: int, end: int, quoted: bool, fixed: bool = False) -> None:
        self.start = start
        self.end = end
        self.quoted = quoted
        self.fixed = fixed

    def add(self, raw: TracedText, shell: Evaluator, fields: Fields) -> None:
        """Add what they stand for to the fields of the word."""
        if self.quoted:
            fields.add(self.text(raw, shell))
        else:
            fields.add_value(self.text(raw, shell))

    def text(self, raw: TracedText, shell: Evaluator) -> TracedText:
        """The text that they stand for."""
        raise NotImplementedError


class _Fixed(_Part):
    """Characters whose text does not depend on variables."""

    __slots__ = ()

    def __init__(self, start: int, end: int, quoted: bool = True) -> None:
        super().__init__(start, end, quoted, fixed=True)

    def text(self, raw: TracedText, _shell: Evaluator) -> TracedText:
        return raw.cut(self.start, self.end)


class _Quotes(_Fixed):
    """Quotes: they make a word even of nothing."""

    __slots__ = ()

    def __init__(self, at: int) -> None:
        super().__init__(at, at)

    def add(self, _raw: TracedText, _shell: Evaluator, fields: Fields) -> None:
        fields.quoted = True


class _Literal(_Fixed):
    """Characters that stand for themselves. nested: in a default they are split like a value."""

    __slots__ = ("nested",)

    def __init__(self, start: int, end: int, quoted: bool, nested: bool = False) -> None:
        super().__init__(start, end, quoted)
        self.nested = nested

    def add(self, raw: TracedText, _shell: Evaluator, fields: Fields) -> None:
        text = raw.cut(self.start, self.end)
        if self.nested:
            fields.add_plain(text)
        else:
            fields.add(text, self.quoted)


class _Escaped(_Fixed):
    """A character behind a backslash."""

    __slots__ = ("char",)

    def __init__(self, start: int, char: str) -> None:
        super().__init__(start, start + 2)
        self.char = char

    def text(self, raw: TracedText, _shell: Evaluator) -> TracedText:
        return TracedText.of(self.char, raw.span(self.start, self.end))


class _Home(_Fixed):
    """`~` or `~user`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(0, len(name))
        self.name = name

    def text(self, raw: TracedText, _shell: Evaluator) -> TracedText:
        return TracedText((unknown(self.name, raw.span(0, self.end)),))


class _Ansi(_Fixed):
    """`$'...'`. Escapes for single bytes, control keys and NUL leave the whole unknown."""

    __slots__ = ()

    def text(self, raw: TracedText, _shell: Evaluator) -> TracedText:
        whole, done, close = raw.cut(self.start, self.end), self.start + 2, self.end - 1
        parts: list[TracedText] = []
        for match in _ANSI.finditer(raw.flat, done, close):
            parts.append(raw.cut(done, match.start()))
            byte, unit, code, octal, letter = match.groups()
            number = int(byte or unit or code or "0", 16) or int(octal or "0", 8)
            if letter:
                parts.append(TracedText.of(_ANSI_LETTERS.get(letter, letter), raw.span(match.start(), match.end())))
            elif raw.flat[match.start() + 1] == "c" or (byte or unit or code or octal):
                if not 0 < number < (0x80 if byte or octal else 0x110000) or 0xD800 <= number < 0xE000:
                    return TracedText((unknown(whole.shown, whole.span()),))
                parts.append(TracedText.of(chr(number), raw.span(match.start(), match.end())))
            else:
                parts.append(raw.cut(match.start(), match.end()))
            done = match.end()
        return TracedText.join([*parts, raw.cut(done, close)])


class _Substitution(_Part):
    """`$(...)`. low, high: what stands between the brackets."""

    __slots__ = ("high", "low")

    def __init__(self, start: int, low: int, high: int, quoted: bool) -> None:
        super().__init__(start, high + 1, quoted)
        self.low = low
        self.high = high

    def text(self, raw: TracedText, shell: Evaluator) -> TracedText:
        return shell.substitute(raw.cut(self.low, self.high), raw.cut(self.start, self.end))


class _Backquoted(_Substitution):
    __slots__ = ()

    def text(self, raw: TracedText, shell: Evaluator) -> TracedText:
        return shell.substitute(_unescaped(raw.cut(self.low, self.high)), raw.cut(self.start, self.end))


class _Arithmetic(_Substitution):
    __slots__ = ()

    def __init__(self, start: int, low: int, high: int, quoted: bool) -> None:
        super().__init__(start, low, high, quoted)
        self.end = high + 2

    def text(self, raw: TracedText, shell: Evaluator) -> TracedText:
        return shell.arithmetic(raw.cut(self.low, self.high), raw.cut(self.start, self.end))


def _unescaped(raw: TracedText) -> TracedText:
    """A command between backquotes without the backslashes that protect it from them."""
    return raw.sub(_ESCAPED, lambda match: raw.cut(match.start(1), match.end()))


class Recipe:
    """The parts of a raw word, in order.

    Attributes:
        parts: The parts.
        fixed: Whether nothing in it depends on variables.
        variable: The only part, quoted or not, if that is a variable.
    """

    __slots__ = ("fixed", "parts", "variable")

    def __init__(self, parts: list[_Part]) -> None:
        self.parts = parts
        self.fixed = all(part.fixed for part in parts)
        others = [part for part in parts if not isinstance(part, _Quotes)]
        alone = others[0] if len(others) == 1 else None
        self.variable = alone if isinstance(alone, _Parameter) and alone.inner.plain else None

    def filled(self, raw: TracedText, shell: Evaluator, fields: Fields) -> Fields:
        """Add what a word of these characters expands to, and return the fields."""
        for part in self.parts:
            part.add(raw, shell, fields)
        return fields


class _Parameter(_Part):
    """`$name` or `${...}`. low, high: what stands between the braces;  inner: its parts."""

    __slots__ = ("high", "inner", "low")

    def __init__(self, flat: str, start: int, low: int, high: int, end: int, quoted: bool) -> None:
        self.inner = parameters.Written(flat[low:high])
        super().__init__(start, end, quoted)
        self.low = low
        self.high = high

    def add(self, raw: TracedText, shell: Evaluator, fields: Fields) -> None:
        inner = self.inner
        found: TracedText | list[Word] | parameters.Operand
        if inner.plain:
            found = self.value(raw, shell)
        else:
            whole = raw.cut(self.start, self.end)
            found = parameters.evaluate(raw.cut(self.low, self.high), whole, shell, self.quoted, inner)
        if isinstance(found, TracedText):
            if self.quoted:
                fields.add(found)
            else:
                fields.add_value(found)
        elif isinstance(found, parameters.Operand):
            self._operand(found, raw, shell, fields)
        else:
            self._list(found, raw.flat[self.low : self.high], shell, fields)

    def value(self, raw: TracedText, shell: Evaluator) -> TracedText:
        """The value of the variable, if it is only that."""
        known = shell.variable(self.inner.name)
        if known is None:
            return self._required(raw, shell)
        piece = known.pieces[0] if len(known.pieces) == 1 else None
        if piece is not None and piece.span is None and piece.expression == "${" + self.inner.name + "}":
            return known.placed(raw.span(self.start, self.end))  # what `set -u` required before
        return known

    def _required(self, raw: TracedText, shell: Evaluator) -> TracedText:
        name = self.inner.name
        return shell.required(name, TracedText((unknown("${" + name + "}", raw.span(self.start, self.end)),)))

    def _list(self, found: list[Word], inner: str, shell: Evaluator, fields: Fields) -> None:
        quoted = self.quoted
        starred = _STARRED.match(inner) is not None
        if (quoted and starred) or not fields.split:
            text = joined([word.text for word in found], shell.separators() if starred else WHITE)
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

    def _operand(self, operand: parameters.Operand, raw: TracedText, shell: Evaluator, fields: Fields) -> None:
        """Expand a default or an alternative instead of its expansion."""
        before = len(fields.done), len(fields.parts)
        nested, soft = fields.nested, fields.soft
        fields.nested, fields.soft = not self.quoted, soft or operand.assumed
        read(operand.raw.flat, IN_QUOTES if self.quoted else WORD).filled(operand.raw, shell, fields)
        fields.nested, fields.soft = nested, soft
        if operand.assumed and before == (len(fields.done), len(fields.parts)):
            fields.add(TracedText((Piece("", raw.span(self.start, self.end), assumed=True),)), self.quoted)


def read(flat: str, where: int = WORD) -> Recipe:
    """The recipe of a raw word, of a default in double quotes, or of the body of a heredoc."""
    return _kept(flat, where) if len(flat) <= _KEPT_AT_MOST else _read(flat, where)


@lru_cache(maxsize=4096)
def _kept(flat: str, where: int) -> Recipe:
    return _read(flat, where)


def _read(flat: str, where: int) -> Recipe:
    parts: list[_Part] = []
    at = 0
    if where == WORD:
        _word(flat, parts)
    elif where == HEREDOC:
        _in_quotes(flat, 0, parts, closing="")
    else:
        while at < len(flat):
            at = _in_quotes(flat, at, parts, closing='"', escapable='$`\\"}')
    return Recipe(parts)


def _word(flat: str, parts: list[_Part]) -> None:
    home = _HOME.match(flat)
    at = 0
    if home:
        at = home.end()
        parts.append(_Home(home.group()))
    while at < len(flat):
        char = flat[at]
        if char == "'":
            close = flat.find("'", at + 1)
            close = len(flat) if close == -1 else close
            parts += (_Quotes(at), _Literal(at + 1, close, True))
            at = close + 1
        elif char == '"':
            parts.append(_Quotes(at))
            at = _in_quotes(flat, at + 1, parts, closing='"')
        elif char == "\\":
            if flat[at + 1 : at + 2] != "\n":
                parts += (_Quotes(at), _Escaped(at, flat[at + 1 : at + 2] or "\\"))
            at += 2
        elif char == "$" and flat.startswith("$'", at):
            end = ansi_end(flat, at + 2)
            parts += (_Quotes(at), _Ansi(at, end))
            at = end
        elif char == "$" and flat.startswith('$"', at):
            at += 1
        elif char in "$`":
            at = _dollar(flat, at, parts, quoted=False)
        else:
            match = _PLAIN.match(flat, at)
            end = match.end() if match else at + 1
            parts.append(_Literal(at, end, False, nested=True))
            at = end


def _in_quotes(flat: str, at: int, parts: list[_Part], closing: str, escapable: str = "") -> int:
    """Read what stands in double quotes (or in a heredoc, closing=""); gives the offset after the closing quote."""
    escapable = escapable or "$`\\" + closing
    while at < len(flat):
        char = flat[at]
        if char == closing:
            return at + 1
        if char == "\\":
            following = flat[at + 1 : at + 2]
            if following and following in escapable:
                parts.append(_Escaped(at, following))
            elif following != "\n":
                parts.append(_Literal(at, at + 2, True))
            at += 2
        elif "}" in escapable and flat.startswith("$'", at):
            end = ansi_end(flat, at + 2)
            parts += (_Quotes(at), _Ansi(at, end))
            at = end
        elif char in "$`":
            at = _dollar(flat, at, parts, quoted=True)
        elif char == '"':
            parts.append(_Literal(at, at + 1, True))
            at += 1
        else:
            match = _PLAIN_IN_QUOTES.match(flat, at)
            end = match.end() if match else at + 1
            parts.append(_Literal(at, end, True))
            at = end
    return at


def _dollar(flat: str, at: int, parts: list[_Part], quoted: bool) -> int:
    """One `$...` or backquoted substitution; gives the offset after it."""
    if flat[at] == "`":
        close = backquote(flat, at + 1)
        parts.append(_Backquoted(at, at + 1, close, quoted))
        return close + 1
    if flat.startswith("$((", at):
        close = matching(flat, at + 3, ")")
        if flat.startswith("))", close):
            parts.append(_Arithmetic(at, at + 3, close, quoted))
            return close + 2
    if flat.startswith("$(", at):
        close = matching(flat, at + 2, ")")
        parts.append(_Substitution(at, at + 2, close, quoted))
        return close + 1
    if flat.startswith("${", at):
        close = matching(flat, at + 2, "}", quoted=quoted)
        parts.append(_Parameter(flat, at, at + 2, close, close + 1, quoted))
        return close + 1
    name = _NAME.match(flat, at + 1)
    if name is None:
        parts.append(_Literal(at, at + 1, quoted))
        return at + 1
    parts.append(_Parameter(flat, at, at + 1, name.end(), name.end(), quoted))
    return name.end()


def joined(texts: list[TracedText], separators: str | None) -> TracedText:
    """Texts with the first separator between them; it is unknown if the separators are."""
    between = TracedText((unknown("$IFS", None),)) if separators is None else TracedText.of(separators[:1])
    return TracedText.join([part for text in texts for part in (text, between)][:-1])
