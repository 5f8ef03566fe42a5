"""Expanding one shell word: braces, quotes, parameters, substitutions and word splitting, each character with its place.

A word is read from its text, not from a syntax tree: defaults, heredocs and array items take the same path. A value that only
running would tell is unknown. A file name pattern (`*.gguf`) stays as it is written.
"""

from __future__ import annotations

import re
from itertools import pairwise

from servelint.core.launch import Word
from servelint.core.text import HOLE, TracedText, unknown
from servelint.syntax.shell import recipe
from servelint.syntax.shell.lexer import step
from servelint.syntax.shell.recipe import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.evaluate import Evaluator

_SPECIAL = re.compile(r"[$`'\"\\]|^~")
_SEQUENCE = re.compile(r"(?:(-?\d{1,9})\.\.(-?\d{1,9})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d{1,9}))?")
_WORDS_AT_MOST = 64


def is_plain(flat: str) -> bool:
    """Whether a raw word is its own value."""
    return _SPECIAL.search(flat) is None


class Raw:
    """A word as a script writes it; what never changes of its expansion is kept.

    Attributes:
        text: The word with its quotes and variables.
        plain: Whether it is its own value.
        site: Its characters in the file.
    """

    __slots__ = ("_braced", "_value", "_words", "plain", "site", "text")

    def __init__(self, text: TracedText, plain: bool | None = None) -> None:
        self.text = text
        self.plain = is_plain(text.flat) if plain is None else plain
        self.site = text.pieces[0].span if len(text.pieces) == 1 else text.extent()
        self._braced: list[Raw] | None = None
        self._value: TracedText | None = None
        self._words: list[Word] | None = None

    def words(self, shell: Evaluator, most: int | None = None) -> list[Word]:
        """The words that it expands to; the list must not be changed. most: how many matter, where a value has more of them."""
        if self._words is not None:
            return self._words
        if "{" in self.text.flat and self._braced is None:
            self._braced = [Raw(part) for part in _braced(self.text) if part is not self.text]
        if self._braced:
            site = self.site
            return [Word(word.text, site, word.many) for part in self._braced for word in part.unbraced(shell)]
        return self.unbraced(shell, most)

    def unbraced(self, shell: Evaluator, most: int | None = None) -> list[Word]:
        """The words that it expands to, without brace expansion."""
        if self._words is not None:
            return self._words
        flat = self.text.flat
        if self.plain:
            # what an outer layer (compose) could not fill in is split here like any unquoted text
            self._words = [Word(self.text, self.site, many=flat == HOLE)] if flat else []
            return self._words
        made = recipe.read(flat)
        if made.variable is not None and made.variable.quoted:
            return [Word(TracedText.join((made.variable.value(self.text, shell),)), self.site)]
        fields = made.filled(self.text, shell, Fields(True, shell.separators(), most))
        fields.end()
        words = [Word(text, self.site, many) for text, many in fields.done]
        if made.fixed:
            self._words = words
        return words

    def value(self, shell: Evaluator) -> TracedText:
        """The value that an assignment of it stores."""
        if self._value is not None:
            return self._value
        if self.plain:
            return self.text
        made = recipe.read(self.text.flat)
        if made.variable is not None:
            return TracedText.join((made.variable.value(self.text, shell),))
        found = TracedText.join(made.filled(self.text, shell, Fields(split=False)).parts)
        if made.fixed:
            self._value = found
        return found


def words(raw: TracedText, shell: Evaluator) -> list[Word]:
    """The words that a raw word expands to."""
    return Raw(raw).words(shell)


def value(raw: TracedText, shell: Evaluator) -> TracedText:
    """The value that an assignment of a raw word stores."""
    return Raw(raw).value(shell)


def pattern(raw: TracedText, shell: Evaluator) -> list[tuple[TracedText, bool]]:
    """The parts of a raw word that is used as a pattern, each with whether it is quoted."""
    fields = recipe.read(raw.flat).filled(raw, shell, Fields(split=False))
    return list(zip(fields.parts, fields.marks, strict=True))


def heredoc(raw: TracedText, shell: Evaluator) -> TracedText:
    """The body of an unquoted heredoc: parameters are expanded, quotes are ordinary characters."""
    return TracedText.join(recipe.read(raw.flat, recipe.HEREDOC).filled(raw, shell, Fields(split=False)).parts)


def inside_quotes(raw: TracedText, shell: Evaluator) -> TracedText:
    """A default inside double quotes, as in "${V:-word}": single quotes are ordinary, double quotes are removed."""
    return TracedText.join(recipe.read(raw.flat, recipe.IN_QUOTES).filled(raw, shell, Fields(split=False)).parts)


# -- braces: `{a,b}`, `{1..3}`, `{a..c}`, before anything else in a word is expanded


class _TooMany(Exception):
    """Braces make more words than are kept apart."""


def _braced(raw: TracedText) -> list[TracedText]:
    """The raw words that brace expansion makes; one unknown if they are too many."""
    try:
        found = _expand(raw)
    except (_TooMany, RecursionError):
        return [TracedText((unknown(raw.shown, raw.span()),))]
    return found if len(found) <= _WORDS_AT_MOST else [TracedText((unknown(raw.shown, raw.span()),))]


def _expand(raw: TracedText) -> list[TracedText]:
    flat = raw.flat
    at = flat.find("{")
    if at == -1 or ("," not in flat and ".." not in flat):
        return [raw]
    if flat.count("{") > _WORDS_AT_MOST:
        raise _TooMany
    at = 0
    while at < len(flat):
        if flat[at] == "{":
            close, commas = _group(flat, at + 1)
            middles = _middles(raw, at, close, commas) if close != -1 else None
            if middles is not None:
                after = _expand(raw.cut(close + 1))
                if len(middles) * len(after) > _WORDS_AT_MOST:
                    raise _TooMany
                before = raw.cut(0, at)
                return [TracedText.join((before, middle, end)) for middle in middles for end in after]
        at = _step(flat, at)
    return [raw]


def _group(flat: str, at: int) -> tuple[int, list[int]]:
    """The offset of the brace that closes a group whose content starts at an offset, and of the commas between; or -1."""
    depth = 0
    commas: list[int] = []
    while at < len(flat):
        char = flat[at]
        if char == "{":
            depth += 1
        elif char == "}":
            if depth == 0:
                return at, commas
            depth -= 1
        elif char == "," and depth == 0:
            commas.append(at)
        at = _step(flat, at)
    return -1, []


def _step(flat: str, at: int) -> int:
    """Like lexer.step, but `${...}` is stepped over with its braces counted."""
    if not flat.startswith("${", at):
        return step(flat, at)
    depth = 0
    at += 1
    while at < len(flat):
        depth += (flat[at] == "{") - (flat[at] == "}")
        if depth == 0:
            return at + 1
        at = step(flat, at) if flat[at] in "\\'\"`" or flat.startswith("$'", at) else at + 1
    return len(flat)


def _middles(raw: TracedText, start: int, close: int, commas: list[int]) -> list[TracedText] | None:
    """The alternatives of a brace group; None if it is not a brace expansion."""
    if commas:
        bounds = [start, *commas, close]
        return [text for low, high in pairwise(bounds) for text in _expand(raw.cut(low + 1, high))]
    sequence = _SEQUENCE.fullmatch(raw.flat, start + 1, close)
    if sequence is None:
        return None
    span = raw.span(start, close + 1)
    first, last, from_letter, to_letter, by = sequence.groups()
    if from_letter:
        first, last = str(ord(from_letter)), str(ord(to_letter))
        if from_letter.islower() != to_letter.islower():
            raise _TooMany
    low, high = int(first), int(last)
    width = max(len(first), len(last)) if re.match("-?0\\d", first) or re.match("-?0\\d", last) else 0
    size = abs(int(by)) if by and int(by) else 1
    numbers = range(low, high + 1, size) if high >= low else range(low, high - 1, -size)
    if len(numbers) > _WORDS_AT_MOST:
        raise _TooMany
    return [TracedText.of(chr(number) if from_letter else f"{number:0{width}d}", span) for number in numbers]
