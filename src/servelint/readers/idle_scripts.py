"""Commands, and scripts inside them, that start nothing: what was found of one holds wherever it has the same variables.

A file may have the same `bash -c "pip install ..."` in many places, and an editor has it at every keystroke.
"""

from __future__ import annotations

from servelint.core import bounds
from servelint.core.text import HOLE, METER, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from servelint.core.launch import Variable, Word
    from servelint.readers.place import EnvFile, Place
    from servelint.syntax.shell.evaluate import Budget
    from servelint.syntax.shell.files import Opened

_KEPT_AT_MOST = 256
_CHARACTERS_AT_MOST = 2_000
_WORDS_AT_MOST = 60
_EXPANDING = ("$", "`", HOLE)

_known: dict[Hashable, Idle] = {}


class Idle:
    """What starts nothing and writes no script.

    asked: files that it would run, if there were any;  steps, pieces: what it took to see that
    """

    __slots__ = ("asked", "pieces", "steps")

    def __init__(self, asked: list[str], steps: int, pieces: float) -> None:
        self.asked = asked
        self.steps = steps
        self.pieces = pieces


class Looking:
    """One look at a script or at a command. key: all that the answer hangs on, None where that is too much"""

    __slots__ = ("_asked", "_budget", "_env_file", "_key", "_left", "_open", "_said", "_steps")

    def __init__(self, key: Hashable, place: Place) -> None:
        self._budget = place.budget  # and not the place, which is given what opens files here
        self._open = place.open
        self._env_file = place.env_file
        self._asked: list[tuple[str, bool]] = []
        self._key = key if key is None else (key, place.budget is None, _environment(place))
        self._steps = place.budget.left if place.budget is not None else 0
        self._left, self._said = METER.left, bounds.said()

    @classmethod
    def at_script(cls, text: Text, place: Place, args: list[Word] | None, depth: int) -> Looking:
        flat = text.flat
        if not depth or place.files is not None or len(flat) > _CHARACTERS_AT_MOST or any(sign in flat for sign in _EXPANDING):
            return cls(None, place)
        words = None if args is None else tuple([(word.text.flat, word.many) for word in args])
        return cls((_content(text), words, depth), place)

    @classmethod
    def at_command(cls, words: list[Word], place: Place, depth: int) -> Looking:
        if len(words) > _WORDS_AT_MOST or place.stdin is not None or any(word.many or HOLE in word.text.flat for word in words):
            return cls(None, place)
        return cls((tuple([_content(word.text) for word in words]), depth), place)

    def open(self, path: Text) -> Opened | None:
        """Opens a file for it, and notes which."""
        found = self._open(path) if self._open is not None else None
        asked = path.flat, found is not None or not path.known
        if asked not in self._asked:
            self._asked.append(asked)
        return found

    @property
    def env_file(self) -> EnvFile | None:
        """Reads an env file for it: what hangs on one is looked at each time."""
        return self._read if self._env_file is not None else None

    def _read(self, path: str) -> dict[str, Variable] | None:
        self._asked.append((path, True))
        return self._env_file(path) if self._env_file is not None else None

    def is_idle(self) -> bool:
        """Whether the same was seen to start nothing; counts what it took."""
        budget = self._budget
        known = _known.get(self._key) if self._key is not None else None
        if known is None or METER.left <= known.pieces or (budget is not None and budget.left <= known.steps):
            return False
        if self._open is not None and any(self._open(Text.of(path)) is not None for path in known.asked):
            return False
        if budget is not None:
            budget.left -= known.steps
        METER.left -= known.pieces
        return True

    def note(self, budget: Budget | None) -> None:
        """It starts nothing and writes no script. budget: what it took its steps from"""
        if self._key is None or bounds.said() != self._said or any(found for _, found in self._asked):
            return
        if len(_known) >= _KEPT_AT_MOST:
            _known.clear()
        pieces = self._left - METER.left if METER.left < self._left else 0
        steps = self._steps - budget.left if budget is not None else 0
        _known[self._key] = Idle([path for path, _ in self._asked], steps, pieces)


def _environment(place: Place) -> Hashable:
    values = [(name, one.value) for name, one in place.env.items()]
    return tuple([(name, None if value is None else (_content(value), value.shown)) for name, value in values])


def _content(text: Text) -> tuple[object, ...]:
    """The characters of a text, and which of them are a default that may be another."""
    return tuple([(piece.text, piece.assumed) for piece in text.pieces])
