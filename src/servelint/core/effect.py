"""What a launch is to be after a fix: the file is read again, and the fix stands only if that is what it says then."""

from __future__ import annotations

import json

from servelint.core.launch import Launch, Word
from servelint.core.source import Span
from servelint.core.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Effect:
    """The words and variables of a launch as a fix leaves them. Starts as they are; each change is noted with the edit."""

    __slots__ = ("_added", "_before", "_dropped", "_env", "_objects", "_replaced", "goes_on", "launch")

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.goes_on = False  # whether more words follow, which did not belong to it
        self._dropped: set[int] = set()
        self._added: dict[int, list[str]] = {}  # after a word
        self._before: dict[int, list[str]] = {}
        self._objects: dict[int, tuple[str, Any]] = {}
        self._replaced: list[tuple[Span, str]] = []
        self._env: dict[str, str | None] = {}  # name -> another name, None for a variable that goes

    def drop(self, words: list[Word]) -> None:
        self._dropped |= {id(word) for word in words}

    def add(self, word: Word, texts: list[str], *, before: bool = False) -> None:
        """Words that come after a word, or before it."""
        found = self._before if before else self._added
        found[id(word)] = [*found.get(id(word), []), *texts]

    def replace(self, span: Span, text: str) -> None:
        """Characters of words or variables, wherever they are used."""
        self._replaced.append((span, text))

    def object(self, word: Word, prefix: str, value: Any) -> None:
        """The JSON value of a word, after a prefix (`--option=`)."""
        self._objects[id(word)] = prefix, value

    def rename(self, name: str, other: str | None) -> None:
        """A variable that gets another name, or goes."""
        self._env[name] = other

    def holds(self, other: Launch) -> bool:
        """Whether a launch, read from the changed file, is what this says."""
        expected: list[tuple[str, Any] | str] = []
        for word in self.launch.argv:
            expected += self._before.get(id(word), [])
            if id(word) not in self._dropped:
                expected.append(self._objects.get(id(word)) or self._shown(word.text))
            expected += self._added.get(id(word), [])
        found = [word.shown for word in other.argv]
        if self.goes_on:
            found = found[: len(expected)]
        if len(found) != len(expected) or not all(map(_same, expected, found)):
            return False
        return self._variables() == variables(other)

    def _variables(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for name, variable in self.launch.env.items():
            other = self._env.get(name, name)
            if other is not None:
                found[other] = self._shown(variable.value) if variable.value is not None else None
        return found

    def _shown(self, text: Text) -> str:
        parts: list[str] = []
        for piece in text.pieces:
            shown = piece.text if piece.expression is None else piece.shown or ""
            span = piece.span
            if piece.verbatim and piece.expression is None and span is not None:
                inside = [(place, new) for place, new in self._replaced if place.source is span.source]
                inside = [(place, new) for place, new in inside if span.start <= place.start and place.end <= span.end]
                for place, new in sorted(inside, key=lambda one: -one[0].start):
                    shown = shown[: place.start - span.start] + new + shown[place.end - span.start :]
            parts.append(shown)
        return "".join(parts)


def variables(launch: Launch) -> dict[str, str | None]:
    return {name: variable.value.shown if variable.value is not None else None for name, variable in launch.env.items()}


def _same(expected: tuple[str, Any] | str, shown: str) -> bool:
    if isinstance(expected, str):
        return expected == shown
    prefix, value = expected
    if not shown.startswith(prefix):
        return False
    try:
        found = json.loads(shown.removeprefix(prefix))
    except ValueError:
        return False
    return bool(found == value)
