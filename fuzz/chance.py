"""Where a harness takes its choices from: a seeded generator, or the bytes of an engine that learns which of them lead further."""

from __future__ import annotations

import random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol, TypeVar

    Item = TypeVar("Item")

    class Chance(Protocol):
        """Choices, one after the other."""

        def below(self, count: int) -> int:
            """A number from 0 to count - 1."""

        def often(self, share: float) -> bool:
            """True in about this share of the cases."""

        def pick(self, items: Sequence[Item]) -> Item:
            """One of the items, of which there is at least one."""


class Seeded:
    """The choices of a seed: the same each time."""

    __slots__ = ("_random",)

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, count: int) -> int:
        return int(self._random() * count)

    def often(self, share: float) -> bool:
        return self._random() < share

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self._random() * len(items))]


class Drawn:
    """The choices that bytes make. Where they are used up, the first of everything is taken, and nothing unlikely happens."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def below(self, count: int) -> int:
        size = 1 if count <= 256 else 2 if count <= 65_536 else 4
        part = self._data[self._at : self._at + size]
        self._at += size
        return int.from_bytes(part, "little") % count

    def often(self, share: float) -> bool:
        return self._at < len(self._data) and self.below(256) < share * 256

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]
