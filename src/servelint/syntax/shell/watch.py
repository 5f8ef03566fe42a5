"""What a part of a walk asks for and changes: the names of variables, functions and files, noted as they are used."""

from __future__ import annotations

from typing import Any


class Names:
    """asked: names whose values were asked for;  changed: those that were given others

    alone: False where something else was asked for or changed than these names stand for
    """

    __slots__ = ("alone", "asked", "changed")

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.changed: set[str] = set()
        self.alone = True

    def begin(self) -> tuple[set[str], set[str], bool]:
        """Note anew; gives what was noted before."""
        before = self.asked, self.changed, self.alone
        self.asked, self.changed, self.alone = set(), set(), True
        return before

    def end(self, before: tuple[set[str], set[str], bool]) -> tuple[set[str], set[str], bool]:
        """Gives what was noted since; it counts for what was noted before as well."""
        since = self.asked, self.changed, self.alone
        asked, changed, alone = before
        self.asked, self.changed, self.alone = asked | self.asked, changed | self.changed, alone and self.alone
        return since


class Watched(dict[str, Any]):
    """A dictionary that notes which of its names are used. Who goes through all of it is not noted."""

    __slots__ = ("names",)

    def __init__(self, values: dict[str, Any], names: Names) -> None:
        super().__init__(values)
        self.names = names

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str):
            self.names.asked.add(name)
        return dict.__contains__(self, name)

    def __getitem__(self, name: str) -> Any:
        self.names.asked.add(name)
        return dict.__getitem__(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.names.changed.add(name)
        dict.__setitem__(self, name, value)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.asked.add(name)
        return dict.get(self, name, default)

    def pop(self, name: str, default: Any = None) -> Any:
        self.names.changed.add(name)
        return dict.pop(self, name, default)

    def setdefault(self, name: str, default: Any = None) -> Any:
        self.names.asked.add(name)
        self.names.changed.add(name)
        return dict.setdefault(self, name, default)

    def update(self, *values: Any, **more: Any) -> None:
        given = dict(*values, **more)
        self.names.changed.update(given)
        dict.update(self, given)

    def copy(self) -> Watched:
        return Watched(self, self.names)
