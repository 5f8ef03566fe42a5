"""The simple commands of a script as they are written: read once, and run as often as a function or a loop runs them."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.source import Span
from servelint.core.text import Text
from servelint.syntax.shell import idle, lexer
from servelint.syntax.shell.expand import Raw, is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.ground import Ground

_TARGET = re.compile(r"([A-Za-z_]\w*)(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?(\+?=)", re.ASCII)


_LINE_AT_MOST = 2_000
"""Characters of a line whose shape is kept."""


class Assignment:
    """`name=value`, `name+=value`, `name[index]=value`, `name=(items)`.

    index: of the item that is set, None if none is written;  adds: `+=`
    """

    __slots__ = ("_items", "adds", "index", "name", "value")

    def __init__(self, raw: Text, target: re.Match[str]) -> None:
        self.name: str = target.group(1)
        self.index = raw.cut(target.start(2), target.end(2)) if target.group(2) is not None else None
        self.adds = target.group(3) == "+="
        self.value = Raw(raw.cut(target.end()))
        self._items: list[tuple[Text | None, Raw]] | None = None

    @property
    def array(self) -> bool:
        return self.value.text.flat[:1] == "("

    @property
    def items(self) -> list[tuple[Text | None, Raw]]:
        """The items of an array, each with its key if one is written."""
        if self._items is None:
            raw = self.value.text
            ranges = lexer.items(raw.flat, 1, len(raw.flat) - raw.flat.endswith(")"))
            self._items = [_item(raw.cut(start, end)) for start, end in ranges]
        return self._items


def _item(word: Text) -> tuple[Text | None, Raw]:
    index, sign, _ = word.flat.partition("]=")
    if not (sign and index.startswith("[")):
        return None, Raw(word)
    return word.cut(1, len(index)), Raw(word.cut(len(index) + 2))


def assignment(raw: Text) -> Assignment | None:
    """A word that assigns; None for any other."""
    target = _TARGET.match(raw.flat)
    return Assignment(raw, target) if target is not None else None


def assignment_end(flat: str, at: int) -> int | None:
    """The offset at which the assignment that starts at an offset ends; None if none starts there."""
    target = _TARGET.match(flat, at)
    if target is None:
        return None
    end = lexer.word_end(flat, target.end())
    if end == target.end() and flat.startswith("(", end):
        end = min(lexer.matching(flat, end + 1, ")") + 1, len(flat))
    return end


class Shape:
    """What the characters of a simple command tell, wherever it stands. Offsets are those from its start.

    cut:   it has more words than are read;  end: its last character's
    count: how many of its words are assignments that stand before the others;  plain: which of those are their own values
    idle:  its name, where nothing but that tells whether all of it can be left out (servelint.syntax.shell.idle)
    """

    __slots__ = ("count", "cut", "end", "files", "idle", "plain", "strings", "words")

    def __init__(self, flat: str, start: int, found: lexer.Command) -> None:
        self.cut = found.cut
        self.end = found.end - start
        self.words = [(low - start, high - start) for low, high in found.words]
        self.strings = [(low - start, high - start) for low, high in found.strings]
        self.files = [(operator, (low - start, high - start)) for operator, (low, high) in found.files]
        words = [flat[low:high] for low, high in found.words]
        self.count = next((index for index, word in enumerate(words) if _TARGET.match(word) is None), len(words))
        self.plain = [is_plain(word) for word in words[self.count :]]
        quiet = not found.strings and not any(idle.writes(operator, flat[low:high]) for operator, (low, high) in found.files)
        self.idle = idle.name(words) if quiet and words and not self.count else None

    @staticmethod
    def at(flat: str, start: int) -> Shape:
        """The shape of the command that starts at an offset."""
        return _shape(flat, start)


def _shape(flat: str, start: int) -> Shape:
    end = flat.find("\n", start)
    while end > start and flat[end - 1] == "\\":
        end = flat.find("\n", end + 1)
    if end == -1:
        end = len(flat)
    if end - start < _LINE_AT_MOST:
        found = _line(flat[start : end + 1])
        if found is not None:
            return found
    return Shape(flat, start, lexer.command(flat, start))


@lru_cache(maxsize=4096)
def _line(line: str) -> Shape | None:
    """The shape of the command that starts a line, where what follows the line has no say in it."""
    if "(" in line and ("<<" in line or "case" in line):
        return None
    found = lexer.command(line, 0)
    return None if found.open or found.end >= len(line) else Shape(line, 0, found)


class Simple:
    """A simple command.

    shape:       what its characters tell
    assignments: that stand before its words;  words: the others, which stand at `ranges`;  all_words: with the assignments
    strings:     its here-strings;  files: the operator of each redirection, and the word that names its file
    site:        from its first character to its last word's end;  lost: what looks like its rest (servelint.syntax.shell.lexer.lost)
    """

    __slots__ = (
        "_assignments", "_declared", "_files", "_flat", "_ground", "_lost", "_site", "_strings", "_words", "shape", "start",
    )  # fmt: skip

    def __init__(self, ground: Text | Ground, flat: str, start: int, shape: Shape) -> None:
        self._ground = ground
        self._flat = flat
        self.start = start
        self.shape = shape
        self._assignments: list[Assignment] | None = None
        self._declared: list[Assignment | Raw] | None = None
        self._files: list[tuple[str, Raw]] | None = None
        self._lost: tuple[Span | None] | None = None
        self._site: tuple[Span | None] | None = None
        self._strings: list[Raw] | None = None
        self._words: list[Raw] | None = None

    def _cut(self, place: lexer.Range) -> Text:
        return self._ground.cut(self.start + place[0], self.start + place[1])

    @property
    def end(self) -> int:
        return self.start + self.shape.end

    @property
    def assignments(self) -> list[Assignment]:
        if self._assignments is None:
            made = [assignment(self._cut(place)) for place in self.shape.words[: self.shape.count]]
            self._assignments = [one for one in made if one is not None]
        return self._assignments

    @property
    def words(self) -> list[Raw]:
        if self._words is None:
            cut, start, shape = self._ground.cut, self.start, self.shape
            places = zip(shape.words[shape.count :], shape.plain, strict=True)
            self._words = [Raw(cut(start + low, start + high), plain) for (low, high), plain in places]
        return self._words

    @property
    def ranges(self) -> list[lexer.Range]:
        return [(self.start + low, self.start + high) for low, high in self.shape.words[self.shape.count :]]

    @property
    def all_words(self) -> list[Raw]:
        if not self.shape.count:
            return self.words
        return [*[Raw(self._cut(place)) for place in self.shape.words[: self.shape.count]], *self.words]

    @property
    def strings(self) -> list[Raw]:
        if self._strings is None:
            self._strings = [Raw(self._cut(place)) for place in self.shape.strings]
        return self._strings

    @property
    def files(self) -> list[tuple[str, Raw]]:
        if self._files is None:
            self._files = [(operator, Raw(self._cut(place))) for operator, place in self.shape.files]
        return self._files

    @property
    def site(self) -> Span | None:
        if self._site is None:
            words = self.shape.words
            self._site = (self._ground.extent(self.start, self.start + words[-1][1]) if words else None,)
        return self._site[0]

    @property
    def lost(self) -> Span | None:
        if self._lost is None:
            after = lexer.lost(self._flat, self.end)
            self._lost = (self._ground.extent(*after) if after is not None else None,)
        return self._lost[0]

    @property
    def declared(self) -> list[Assignment | Raw]:
        """What follows a word such as `export`: names with a value, and other words."""
        if self._declared is None:
            self._declared = [assignment(word.text) or word for word in self.all_words[1:]]
        return self._declared
