"""An argv as a parser understood it: the options that it sets, what is left over, and what the parser refuses."""

from __future__ import annotations

from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import Text
from servelint.engines.catalog import Option


class Setting:
    """One option as a launch sets it.

    name:    canonical name; for a JSON path (`--a.b v`) the path too: "a.b"
    option:  as the release declares it; None for one that it lacks
    word:    the option's own word;  spelling: as the parser understood it, prefixes completed
    on:      polarity of a flag or toggle, None otherwise
    value:   the value's text, None where none is given;  value_word: the word that holds it;  values: all words of a list
    """

    __slots__ = ("name", "on", "option", "spelling", "value", "value_word", "values", "word")

    def __init__(self, name: str, option: Option | None, word: Word, spelling: str, on: bool | None) -> None:
        self.name = name
        self.option = option
        self.word = word
        self.spelling = spelling
        self.on = on
        self.value: Text | None = None
        self.value_word: Word | None = None
        self.values: list[Word] = []

    def give(self, text: Text, word: Word) -> None:
        self.value, self.value_word = text, word

    @property
    def words(self) -> list[Word]:
        """The option's own word and those of its value."""
        values = self.values or ([self.value_word] if self.value_word is not None else [])
        return [self.word, *[word for word in values if word is not self.word]]


class Fault:
    """Why the release's parser refuses an argv, or what it notes.

    kind:      "unknown-option", "ambiguous-option", "missing-value", "unexpected-value", "unexpected-argument", "one-word",
               "missing-argument", "exclusive", "stray-path"; and what it takes: "abbreviated-option", "ignored-model"
    spelling:  the option as written;  names: what it may stand for, or is in conflict with
    """

    __slots__ = ("kind", "names", "setting", "span", "spelling", "word")

    def __init__(
        self, kind: str, word: Word | None, spelling: str, names: list[str] | None = None, setting: Setting | None = None
    ) -> None:
        self.kind = kind
        self.word = word
        self.spelling = spelling
        self.names = names or []
        self.setting = setting
        self.span: Span | None = head_of(word) if word is not None else None

    @property
    def fatal(self) -> bool:
        """Whether the parser refuses the argv for it."""
        return self.kind not in ("abbreviated-option", "ignored-model")

    def __repr__(self) -> str:
        return f"Fault({self.kind} {self.spelling!r} {self.names})"


class Arguments:
    """An argv as a parser reads it.

    settings:     canonical name -> the last setting of it;  every: all settings in order
    positionals:  words that belong to no option
    possible:     names of options that an unknown word may be
    complete:     False if an unknown word may add any option
    faults:       what the parser refuses, in order
    takes_model:  whether the entry point looks at a positional model, None if nobody knows
    """

    __slots__ = ("complete", "every", "faults", "positionals", "possible", "settings", "takes_model")

    def __init__(self) -> None:
        self.settings: dict[str, Setting] = {}
        self.every: list[Setting] = []
        self.positionals: list[Word] = []
        self.possible: set[str] = set()
        self.complete = True
        self.faults: list[Fault] = []
        self.takes_model: bool | None = True


def head_of(word: Word) -> Span | None:
    """The characters of a word that are its option: what stands before an equals sign."""
    flat = word.text.flat
    end = flat.find("=") if flat.startswith("-") else -1
    return word.text.span(0, end if end > 0 else None) or word.site
