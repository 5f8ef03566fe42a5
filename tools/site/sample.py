"""Which pages of rules, options and releases have their text, where a sample of them is enough to try the site."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

LOOKED_AT = ("0.27.1", "kv-cache-dtype", "turboquant-with-spec-decode", "heads-not-divisible")
"""Pages that tests of the site look at."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Writes one in so many pages.

    Attributes:
        docs: the folder of the Markdown.
        one_in: how many pages share one that is written; 1 for all.
        left: what was left out: paths without a suffix, from `docs`.
    """

    docs: Path
    one_in: int = 1
    left: list[Path] = field(default_factory=list)

    def has(self, name: str) -> bool:
        """Whether the page, release or option of that name is written."""
        return name in LOOKED_AT or zlib.crc32(name.encode()) % self.one_in == 0

    def write(self, path: Path, made: Callable[[], str]) -> None:
        """Write a page with what `made` returns, where the sample has it; nothing else is made."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.has(path.stem):
            path.write_text(made(), encoding="utf-8")
        else:
            self.left.append(path.relative_to(self.docs).with_suffix(""))
