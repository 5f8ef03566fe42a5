"""The variables of a batch file while it is walked, and what joins after a branch that cannot be decided."""

from __future__ import annotations

from servelint.core.text import EMPTY, HOLE, Piece, Text, unknown


class Value:
    """name: as first written;  text: empty where the file takes the variable away"""

    __slots__ = ("name", "text")

    def __init__(self, name: str, text: Text) -> None:
        self.name = name
        self.text = text


State = dict[str, Value]
"""Upper-case name -> value. A variable that is not here may be set by the environment."""


class Status:
    """Whether a condition holds.

    value:    True, False, or None if it cannot be told
    likely:   the branch to follow where it cannot: without arguments, without extra environment, every command succeeding
    assumed:  the value rests on a default that the environment may override
    emptied:  upper-case name of a variable of the environment that is empty where the condition is true (`if "%V%"==""`), or
              false (`if defined V`) as `empty_when` says
    """

    __slots__ = ("assumed", "emptied", "empty_when", "likely", "value")

    def __init__(
        self,
        value: bool | None,
        likely: bool = True,
        assumed: bool = False,
        emptied: str | None = None,
        empty_when: bool = True,
    ) -> None:
        self.value = value
        self.likely = likely if value is None else value
        self.assumed = assumed
        self.emptied = emptied
        self.empty_when = empty_when

    def negated(self) -> Status:
        value = None if self.value is None else not self.value
        return Status(value, not self.likely, self.assumed, self.emptied, not self.empty_when)


def join(main: State, other: State, defaulted: str | None = None) -> State:
    """The state after a branch that cannot be decided: what differs is unknown, shown as the main branch leaves it.

    defaulted: a variable that the main branch gives a value where the environment gives none: that value is its default
    """
    joined: State = {}
    for key in {**main, **other}:
        ours, theirs = main.get(key), other.get(key)
        if ours is not None and theirs is not None and _same(ours.text, theirs.text):
            joined[key] = ours
        elif key == defaulted and ours is not None and (theirs is None or theirs.text.flat == HOLE):
            joined[key] = Value(ours.name, _softened(ours.text))
        else:
            joined[key] = _unsure(ours, theirs)
    return joined


def _same(one: Text, other: Text) -> bool:
    return one is other or (one.flat == other.flat and one.shown == other.shown)


def _softened(text: Text) -> Text:
    return text.softened() if text.pieces else Text((Piece("", None, assumed=True),))


def _unsure(ours: Value | None, theirs: Value | None) -> Value:
    name = ours.name if ours is not None else theirs.name if theirs is not None else ""
    main = ours.text if ours is not None else EMPTY
    shown = main.shown if ours is not None else f"%{name}%"
    if ours is None or theirs is None:
        return Value(name, Text((unknown(f"%{name}%", main.extent(), shown),)))
    one, other = _possible(ours.text), _possible(theirs.text)
    program = _program(one)
    if program is not None and _program(other) == program:
        folder = shown[: -len(program)] if shown.lower().endswith(program) else f"%{name}%"
        return Value(name, Text((unknown(f"%{name}%", main.extent(), folder), Piece(program, main.extent()))))
    # one branch adds words, the other none
    perhaps = (one or other) if one is None or other is None else None
    return Value(name, Text((unknown(f"%{name}%", main.extent(), shown, perhaps),)))


def _possible(text: Text) -> Text | None:
    """What a value may be beside empty; None if it is surely empty."""
    if len(text.pieces) == 1 and text.pieces[0].perhaps is not None:
        return text.pieces[0].perhaps
    return text if text.flat else None


def _program(text: Text | None) -> str | None:
    """The file name of the program that a value names, whatever its folder."""
    flat = text.flat.lower() if text is not None else ""
    base = flat[max(flat.rfind("\\"), flat.rfind("/"), flat.rfind(HOLE)) + 1 :]
    return base if base.endswith(".exe") else None
