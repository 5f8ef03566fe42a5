"""Scripts inside commands that start nothing: what was found of one holds wherever it stands with the same variables.

A file may have the same `bash -c "pip install ..."` in many places, and an editor has it at every keystroke.
"""

from __future__ import annotations

from servelint import limits
from servelint.text import HOLE, METER, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from servelint.launch import Word
    from servelint.readers.place import Place
    from servelint.shell.evaluate import Budget
    from servelint.shell.files import Opened

_KEPT_AT_MOST = 256
_CHARACTERS_AT_MOST = 2_000
_EXPANDING = ("$", "`", HOLE)

_known: dict[Hashable, Idle] = {}


class Idle:
    """A script that starts nothing and writes no script.

    asked: files that it would run, if there were any;  steps, pieces: what it took to see that
    """

    __slots__ = ("asked", "pieces", "steps")

    def __init__(self, asked: list[str], steps: int, pieces: float) -> None:
        self.asked = asked
        self.steps = steps
        self.pieces = pieces


class Looking:
    """One look at a script. open: opens files for it, and notes which"""

    __slots__ = ("_asked", "_key", "_left", "_place", "_said", "_steps")

    def __init__(self, text: Text, place: Place, args: list[Word] | None, depth: int) -> None:
        self._place = place
        self._asked: list[tuple[str, bool]] = []
        self._key: Hashable = None
        flat = text.flat
        if depth and place.files is None and len(flat) < _CHARACTERS_AT_MOST and not any(sign in flat for sign in _EXPANDING):
            env = [(name, *_content(one.value)) for name, one in place.env.items()]
            words = None if args is None else tuple([(word.text.flat, word.many) for word in args])
            self._key = (flat, depth, place.budget is None, tuple(env), words)
        self._steps = place.budget.left if place.budget is not None else 0
        self._left, self._said = METER.left, limits.said()

    def open(self, path: Text) -> Opened | None:
        found = self._place.open(path) if self._place.open is not None else None
        self._asked.append((path.flat, found is not None or not path.known))
        return found

    def is_idle(self) -> bool:
        """Whether the same script was seen to start nothing; counts what it took."""
        place = self._place
        known = _known.get(self._key) if self._key is not None else None
        if known is None or METER.left <= known.pieces or (place.budget is not None and place.budget.left <= known.steps):
            return False
        if place.open is not None and any(place.open(Text.of(path)) is not None for path in known.asked):
            return False
        if place.budget is not None:
            place.budget.left -= known.steps
        METER.left -= known.pieces
        return True

    def note(self, budget: Budget | None) -> None:
        """It starts nothing and writes no script. budget: what it took its steps from"""
        if self._key is None or limits.said() != self._said or any(found for _, found in self._asked):
            return
        if len(_known) >= _KEPT_AT_MOST:
            _known.clear()
        pieces = self._left - METER.left if METER.left < self._left else 0
        steps = self._steps - budget.left if budget is not None else 0
        _known[self._key] = Idle([path for path, _ in self._asked], steps, pieces)


def _content(value: Text | None) -> tuple[str, str, bool] | tuple[None]:
    return (value.flat, value.shown, value.assumed) if value is not None else (None,)
