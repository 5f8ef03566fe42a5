"""The parts of a raw word, each with what it stands for: characters, escapes, substitutions."""

from __future__ import annotations

import re

from servelint.core.text import Piece, Text, unknown
from servelint.syntax.shell.fields import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.parameters import Scope

_ESCAPED = re.compile(r"\\([`$\\])")
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c.|([abeEfnrtv\\'\"?])|.)", re.DOTALL
)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


class Part:
    """Some characters of a word.

    fixed:  what they add hangs on no variable
    single: they add one text, wherever they stand;  quoted: which is not split
    """

    __slots__ = ("end", "fixed", "quoted", "single", "start")

    def __init__(self, start: int, end: int, quoted: bool, fixed: bool = False, single: bool = True) -> None:
        self.start = start
        self.end = end
        self.quoted = quoted
        self.fixed = fixed
        self.single = single

    def add(self, raw: Text, scope: Scope, fields: Fields) -> None:
        """Add what they stand for to the fields of the word."""
        if self.quoted:
            fields.add(self.text(raw, scope))
        else:
            fields.add_value(self.text(raw, scope))

    def text(self, raw: Text, scope: Scope) -> Text:
        """The one text that they stand for."""
        raise NotImplementedError


class Fixed(Part):
    """Characters that stand for the same text whatever the variables are."""

    __slots__ = ()

    def __init__(self, start: int, end: int, quoted: bool = True) -> None:
        super().__init__(start, end, quoted, fixed=True)

    def text(self, raw: Text, scope: Scope) -> Text:
        del scope
        return self.written(raw)

    def written(self, raw: Text) -> Text:
        """The text that they stand for."""
        return raw.cut(self.start, self.end)


class Quotes(Fixed):
    """Quotes that make a field even of nothing."""

    __slots__ = ()

    def __init__(self, at: int) -> None:
        super().__init__(at, at)

    def add(self, raw: Text, scope: Scope, fields: Fields) -> None:
        del raw, scope
        fields.quoted = True


class Literal(Fixed):
    """Characters that stand for themselves. nested: in a default they are split like a value"""

    __slots__ = ("nested",)

    def __init__(self, start: int, end: int, quoted: bool, nested: bool = False) -> None:
        super().__init__(start, end, quoted)
        self.nested = nested

    def add(self, raw: Text, scope: Scope, fields: Fields) -> None:
        del scope
        text = raw.cut(self.start, self.end)
        if self.nested:
            fields.add_plain(text)
        else:
            fields.add(text, self.quoted)


class Escaped(Fixed):
    """A character behind a backslash."""

    __slots__ = ("char",)

    def __init__(self, start: int, char: str) -> None:
        super().__init__(start, start + 2)
        self.char = char

    def written(self, raw: Text) -> Text:
        return Text((Piece(self.char, raw.span(self.start, self.end)),))


class Home(Fixed):
    """`~` or `~user`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(0, len(name))
        self.name = name

    def written(self, raw: Text) -> Text:
        return Text((unknown(self.name, raw.span(0, self.end)),))


class Ansi(Fixed):
    """`$'...'`. Escapes for single bytes, control keys and NUL leave the whole unknown."""

    __slots__ = ()

    def written(self, raw: Text) -> Text:
        whole, done, close = raw.cut(self.start, self.end), self.start + 2, self.end - 1
        parts: list[Text] = []
        for match in _ANSI.finditer(raw.flat, done, close):
            parts.append(raw.cut(done, match.start()))
            byte, unit, code, octal, letter = match.groups()
            number = int(byte or unit or code or "0", 16) or int(octal or "0", 8)
            if letter:
                parts.append(Text((Piece(_ANSI_LETTERS.get(letter, letter), raw.span(match.start(), match.end())),)))
            elif raw.flat[match.start() + 1] == "c" or (byte or unit or code or octal):
                if not 0 < number < (0x80 if byte or octal else 0x110000) or 0xD800 <= number < 0xE000:
                    return Text((unknown(whole.shown, whole.span()),))
                parts.append(Text((Piece(chr(number), raw.span(match.start(), match.end())),)))
            else:
                parts.append(raw.cut(match.start(), match.end()))
            done = match.end()
        return Text.join([*parts, raw.cut(done, close)])


class Substitution(Part):
    """`$(...)`. low, high: what stands between the brackets, the characters `inside`"""

    __slots__ = ("high", "inside", "low")

    def __init__(self, flat: str, start: int, low: int, high: int, quoted: bool) -> None:
        super().__init__(start, high + 1, quoted)
        self.low = low
        self.high = high
        self.inside = flat[low:high]

    def text(self, raw: Text, scope: Scope) -> Text:
        return scope.substitute(raw.cut(self.low, self.high), raw.cut(self.start, self.end))


class Backquoted(Substitution):
    __slots__ = ()

    def text(self, raw: Text, scope: Scope) -> Text:
        return scope.substitute(_unescaped(raw.cut(self.low, self.high)), raw.cut(self.start, self.end))


class Arithmetic(Substitution):
    """`$((...))`."""

    __slots__ = ()

    def __init__(self, flat: str, start: int, low: int, high: int, quoted: bool) -> None:
        super().__init__(flat, start, low, high, quoted)
        self.end = high + 2

    def text(self, raw: Text, scope: Scope) -> Text:
        return scope.arithmetic(raw.cut(self.low, self.high), raw.cut(self.start, self.end))


def _unescaped(raw: Text) -> Text:
    """A command between backquotes without the backslashes that protect it from them."""
    parts: list[Text] = []
    done = 0
    for match in _ESCAPED.finditer(raw.flat):
        parts += [raw.cut(done, match.start()), raw.cut(match.start(1), match.end())]
        done = match.end()
    return Text.join([*parts, raw.cut(done)])
