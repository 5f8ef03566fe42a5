"""The simple commands of a script as they are written: read once, and run as often as a function or a loop runs them."""

from __future__ import annotations

import re

from servelint.shell import lexer
from servelint.shell.expand import Raw
from servelint.source import Span
from servelint.text import Text

_TARGET = re.compile(r"([A-Za-z_]\w*)(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?(\+?=)", re.ASCII)


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


class Simple:
    """A simple command.

    cut:         it has more words than are read;  end: its last character's
    assignments: that stand before its words;  words: the others, which stand at `ranges`;  all_words: with the assignments
    strings:     its here-strings;  files: the operator of each redirection, and the word that names its file
    site:        from its first character to its last word's end;  lost: what looks like its rest (servelint.shell.lexer.lost)
    """

    __slots__ = (
        "_declared", "_flat", "_lost", "_text", "all_words", "assignments", "cut", "end", "files", "ranges", "site", "strings",
        "words",
    )  # fmt: skip

    def __init__(self, text: Text, flat: str, start: int) -> None:
        found = lexer.command(flat, start)
        self._text = text
        self._flat = flat
        self._lost: tuple[Span | None] | None = None
        self._declared: list[Assignment | Raw] | None = None
        self.cut = found.cut
        self.end = found.end
        raw = [text.cut(low, high) for low, high in found.words]
        self.assignments: list[Assignment] = []
        for one in raw:
            made = assignment(one)
            if made is None:
                break
            self.assignments.append(made)
        count = len(self.assignments)
        self.ranges = found.words[count:]
        self.words = [Raw(one) for one in raw[count:]]
        self.all_words = [*map(Raw, raw[:count]), *self.words] if count else self.words
        self.strings = [Raw(text.cut(low, high)) for low, high in found.strings]
        self.files = [(operator, Raw(text.cut(low, high))) for operator, (low, high) in found.files]
        self.site = text.extent(start, found.words[-1][1]) if found.words else None

    @property
    def lost(self) -> Span | None:
        if self._lost is None:
            after = lexer.lost(self._flat, self.end)
            self._lost = (self._text.extent(*after) if after is not None else None,)
        return self._lost[0]

    @property
    def declared(self) -> list[Assignment | Raw]:
        """What follows a word such as `export`: names with a value, and other words."""
        if self._declared is None:
            self._declared = [assignment(word.text) or word for word in self.words[1:]]
        return self._declared
