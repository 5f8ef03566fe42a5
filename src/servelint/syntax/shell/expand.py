"""Expanding one shell word: quotes, parameters, substitutions and word splitting, each character with its place.

The word is read from its text rather than from a syntax tree, so that defaults, heredocs and array items all take the same
path. What cannot be known without running something stays unknown. A file name pattern (`*.gguf`) stays as it is written.
"""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.source import Span
from servelint.core.text import HOLE, Text
from servelint.syntax.shell import braces, recipe
from servelint.syntax.shell.fields import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.parameters import Scope

_SPECIAL = re.compile(r"[$`'\"\\]|^~")


def is_plain(flat: str) -> bool:
    """Whether a raw word is its own value."""
    return _SPECIAL.search(flat) is None


class Raw:
    """A word as a script writes it, which may be expanded again and again: what of that never changes is kept.

    text: its characters, quotes and variables still in it
    """

    __slots__ = ("_braced", "_recipe", "_texts", "_value", "_words", "plain", "text")

    def __init__(self, text: Text, plain: bool | None = None) -> None:
        self.text = text
        self.plain = is_plain(text.flat) if plain is None else plain
        self._braced: list[Raw] | None = None
        self._recipe: recipe.Recipe | None = None
        self._texts: list[Text | None] | None = None
        self._value: Text | None = None
        self._words: list[Word] | None = None

    @property
    def recipe(self) -> recipe.Recipe:
        found = self._recipe
        if found is None:
            found = self._recipe = recipe.read(self.text.flat)
        return found

    @property
    def site(self) -> Span | None:
        """Where it stands."""
        return self.text.extent()

    def words(self, scope: Scope) -> list[Word]:
        """The words that it stands for. Nobody changes the list."""
        if self._words is not None:
            return self._words
        flat = self.text.flat
        if "{" in flat and self._braced is None:
            self._braced = [Raw(part) for part in braces.expand(self.text) if part is not self.text]
        if self._braced:
            site = self.site
            return [Word(word.text, site, word.many) for part in self._braced for word in part.unbraced(scope)]
        return self.unbraced(scope)

    def unbraced(self, scope: Scope) -> list[Word]:
        """The words that it stands for where its braces are expanded already, or are none."""
        if self._words is not None:
            return self._words
        flat = self.text.flat
        if self.plain:
            # what an outer layer (compose) could not fill in is split here like any unquoted text
            self._words = [Word(self.text, self.text.extent(), many=flat == HOLE)] if flat else []
            return self._words
        recipe = self.recipe
        if recipe.quoted and not recipe.fixed:
            return [Word(self._joined(scope), self.text.extent())]
        fields = Fields(True, scope.separators())
        for part in recipe.parts:
            part.add(self.text, scope, fields)
        fields.end()
        site = self.site
        words = [Word(text, site, many) for text, many in fields.done]
        if recipe.fixed:
            self._words = words
        return words

    def value(self, scope: Scope) -> Text:
        """The value that an assignment of it would store."""
        if self._value is not None:
            return self._value
        if self.plain:
            found = self.text
        elif self.recipe.single:
            found = self._joined(scope)
        else:
            fields = Fields(split=False)
            for part in self.recipe.parts:
                part.add(self.text, scope, fields)
            found = Text.join(fields.parts)
        if self.plain or self.recipe.fixed:
            self._value = found
        return found

    def _joined(self, scope: Scope) -> Text:
        """The texts of the parts, of which those that never change are kept."""
        parts = self.recipe.texts
        if self._texts is None:
            self._texts = [part.text(self.text, scope) if part.fixed else None for part in parts]
        texts = [part.text(self.text, scope) if kept is None else kept for kept, part in zip(self._texts, parts, strict=True)]
        return Text.join(texts)


def words(raw: Text, scope: Scope) -> list[Word]:
    """The words that a raw word stands for."""
    return Raw(raw).words(scope)


def value(raw: Text, scope: Scope) -> Text:
    """The value that an assignment of a raw word would store."""
    return Raw(raw).value(scope)


def pattern(raw: Text, scope: Scope) -> list[tuple[Text, bool]]:
    """The parts of a raw word that is used as a pattern, each with whether it is quoted."""
    fields = _filled(raw, recipe.WORD, scope)
    return list(zip(fields.parts, fields.marks, strict=True))


def heredoc(raw: Text, scope: Scope) -> Text:
    """The body of an unquoted heredoc: parameters are expanded, quotes are not special."""
    return Text.join(_filled(raw, recipe.HEREDOC, scope).parts)


def inside_quotes(raw: Text, scope: Scope) -> Text:
    """A default inside double quotes, as in "${V:-word}": single quotes are ordinary, double quotes are removed."""
    return Text.join(_filled(raw, recipe.IN_QUOTES, scope).parts)


def _filled(raw: Text, where: int, scope: Scope) -> Fields:
    fields = Fields(split=False)
    for part in recipe.read(raw.flat, where).parts:
        part.add(raw, scope, fields)
    return fields
