"""One input of a harness, and what it is when it breaks a property."""

from __future__ import annotations


class Case:
    """name:  of the file, which tells its format; or what else the harness needs to know of the text
    text:  what is read
    turn:  which of the dearer properties are looked at, and at what place
    whole: whether the text is as the grammar made it, so that what is added behind its end is no part of something unfinished
    """

    __slots__ = ("name", "text", "turn", "whole")

    def __init__(self, name: str, text: str, turn: int, *, whole: bool = False) -> None:
        self.name = name
        self.text = text
        self.turn = turn
        self.whole = whole

    def __repr__(self) -> str:
        return f"Case({self.name!r}, {self.text!r}, {self.turn}, whole={self.whole})"

    def with_text(self, text: str) -> Case:
        return Case(self.name, text, self.turn, whole=self.whole)


class BrokenError(AssertionError):
    """A property that does not hold. what: its name"""

    def __init__(self, what: str, told: str) -> None:
        super().__init__(f"{what}: {told}")
        self.what = what


def insist(holds: bool, what: str, *told: object) -> None:
    """Raise BrokenError if a property does not hold. told: what shows it"""
    if not holds:
        raise BrokenError(what, ", ".join([repr(one) for one in told]))
