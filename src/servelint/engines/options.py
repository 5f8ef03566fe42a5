"""The option table of an engine, and reading an argv by it.

The tables in data/ are small and made by hand from a few releases' parsers. A catalog of every release will stand behind the
same interface: Options.name, Options.get, read.
"""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache

from servelint.launch import Word
from servelint.shell.words import split
from servelint.text import HOLE, Text

FLAG, TOGGLE, VALUE, OPTIONAL, LIST = "flag", "toggle", "value", "optional", "list"
UNLISTED = "unlisted"

_NUMBER = re.compile(r"-\d*\.?\d+(?:[eE][-+]?\d+)?$")


class Option:
    """One option: its canonical name (without dashes), how many words it takes, its value's type, and since when."""

    __slots__ = ("kind", "name", "since", "type", "values_since")

    def __init__(self, name: str, kind: str, type: str | None, since: str | None, values_since: dict[str, str]) -> None:
        self.name = name
        self.kind = kind
        self.type = type
        self.since = since
        self.values_since = values_since


class Options:
    """An engine's options by canonical name and by spelling, and its dialect."""

    __slots__ = (
        "by_spelling",
        "json_paths",
        "options",
        "positional",
        "single_dash",
        "speculative_methods",
        "underscores",
    )

    def __init__(self, data: dict[str, object]) -> None:
        self.underscores = bool(data.get("underscores"))
        self.json_paths = bool(data.get("json_paths"))
        self.single_dash = bool(data.get("single_dash"))
        positional = data.get("positional")
        self.positional = positional if isinstance(positional, str) else None
        methods = data.get("speculative_methods")
        self.speculative_methods: dict[str, dict[str, str]] = methods if isinstance(methods, dict) else {}
        self.options: dict[str, Option] = {}
        self.by_spelling: dict[str, str] = {}
        entries = data.get("options")
        for name, entry in (entries if isinstance(entries, dict) else {}).items():
            self.options[name] = Option(
                name, entry["kind"], entry.get("type"), entry.get("since"), entry.get("values_since", {})
            )
            self.by_spelling["--" + name] = name
            for spelling in entry.get("spellings", ()):
                self.by_spelling[spelling] = name

    def get(self, name: str) -> Option | None:
        return self.options.get(name)

    def name(self, spelling: str) -> tuple[str, bool | None]:
        """(canonical name, polarity) of an option as written: `--no-x` is (x, False); polarity None where there is none."""
        if self.underscores and spelling.startswith("--"):
            head, dot, path = spelling.partition(".")
            spelling = head.replace("_", "-") + dot + path
        found = self.by_spelling.get(spelling)
        if found is not None:
            return found, _polarity(spelling, found) if self.options[found].kind in (FLAG, TOGGLE) else None
        if spelling.startswith("--no-"):
            positive = "--" + spelling[5:]
            found = self.by_spelling.get(positive)
            if found is not None and self.options[found].kind == TOGGLE:
                return found, not _polarity(positive, found)
        if spelling.startswith("--disable-"):
            found = self.by_spelling.get("--enable-" + spelling[10:])
            if found is not None and self.options[found].kind == TOGGLE:
                return found, False
        return spelling.lstrip("-"), None

    def abbreviated(self, spelling: str) -> set[str]:
        """The options that an unlisted spelling may be short for: argparse takes every prefix that is unique in its release."""
        if self.single_dash or not spelling.startswith("--"):
            return set()
        start = spelling.replace("_", "-") if self.underscores else spelling
        # `--no-x` and what it stands for may be cut short as well
        starts = (start, "--" + start.removeprefix("--no-"))
        return {name for known, name in self.by_spelling.items() if known.startswith(starts)}


def _polarity(spelling: str, name: str) -> bool:
    """What a toggle's spelling sets it to: `--enable-x` is the opposite of an option that is named disable-x."""
    return not (name.startswith("disable-") and spelling == "--enable-" + name.removeprefix("disable-"))


@lru_cache(maxsize=8)
def load(engine: str) -> Options:
    path = os.path.join(os.path.dirname(__file__), "data", engine + ".json")
    try:
        with open(path, encoding="utf-8") as file:
            return Options(json.load(file))
    except FileNotFoundError:
        return Options({})


class Setting:
    """One option as a launch sets it.

    name:   canonical name; for a JSON path (`--a.b v`) the path too: "a.b"
    word:   the option's own word;  on: polarity of a flag or toggle, None otherwise
    value:  the value's text, None where none is given;  value_word: the word that holds it
    """

    __slots__ = ("name", "on", "value", "value_word", "word")

    def __init__(self, name: str, word: Word, on: bool | None, value: Text | None, value_word: Word | None) -> None:
        self.name = name
        self.word = word
        self.on = on
        self.value = value
        self.value_word = value_word


class Arguments:
    """An argv as the engine's parser reads it.

    settings:     canonical name -> the last setting of it
    positionals:  words that belong to no option
    possible:     names of options that an unknown word, or an abbreviation, may be
    complete:     False if an unknown word may add any option
    """

    __slots__ = ("complete", "positionals", "possible", "settings")

    def __init__(self) -> None:
        self.settings: dict[str, Setting] = {}
        self.positionals: list[Word] = []
        self.possible: set[str] = set()
        self.complete = True


def read(argv: list[Word], options: Options) -> Arguments:
    """Read the words after an engine's verb. An option that the table lacks takes the next word if that is no option."""
    result = Arguments()
    at = 0
    while at < len(argv):
        word = argv[at]
        flat = word.text.flat
        if word.many:
            _perhaps(word, options, result)
            at += 1
        elif flat == "--":
            result.positionals += argv[at + 1 :]
            break
        elif not _is_option(flat):
            if flat.startswith(HOLE) and (options.positional is None or result.positionals):
                result.complete = False  # it may be an option as well
            else:
                result.positionals.append(word)
            at += 1
        else:
            at = _option(argv, at, options, result)
    if "config" in result.settings:
        result.complete = False  # options may stand in the file that it names
    return result


def _perhaps(word: Word, options: Options, result: Arguments) -> None:
    """An expansion that may yield nothing, one word or several: what options it may add."""
    piece = word.text.pieces[0]
    if len(word.text.pieces) > 1 or piece.perhaps is None:
        result.complete = False
        return
    for option in split(piece.perhaps):
        spelling = option.text.flat.partition("=")[0]
        if spelling.startswith(HOLE):
            result.complete = False
        elif _is_option(spelling):
            name = options.name(spelling)[0]
            result.possible |= {name, name.partition(".")[0]}


def _option(argv: list[Word], at: int, options: Options, result: Arguments) -> int:
    word = argv[at]
    spelling, sign, _ = word.text.flat.partition("=")
    if HOLE in spelling:
        result.complete = False
        return at + 1
    name, on = options.name(spelling)
    head, dot, path = spelling.partition(".")
    option = options.get(name)
    if dot and options.json_paths and (known := options.name(head)[0]) in options.options:
        name = known + "." + path
    elif option is None:
        result.possible |= options.abbreviated(head if options.json_paths else spelling)
    kind = option.kind if option is not None else UNLISTED
    if sign:
        value = word.text.cut(len(spelling) + 1)
        result.settings[name] = Setting(name, word, on, value, word)
        return at + 1
    at += 1
    if kind in (FLAG, TOGGLE):
        result.settings[name] = Setting(name, word, on, None, None)
        return at
    values: list[Word] = []
    limit = len(argv) if kind == LIST else at + 1
    while at < min(limit, len(argv)) and not _is_option(argv[at].text.flat) and not (kind == UNLISTED and argv[at].many):
        values.append(argv[at])
        at += 1
    first = values[0] if values else None
    result.settings[name] = Setting(name, word, on, first.text if first is not None else None, first)
    return at


def _is_option(flat: str) -> bool:
    """Whether argparse takes a word for an option: a dash in front, no negative number, no white space inside."""
    return len(flat) > 1 and flat[0] == "-" and _NUMBER.match(flat) is None and " " not in flat.partition("=")[0]
