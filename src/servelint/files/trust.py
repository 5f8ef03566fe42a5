"""What a check believes of the files that say what it leaves out: settings, rules, baselines, comments.

Where these may come from whoever is under test, they are read as another revision has them. A check has one trust, which is set
before anything is read: what asks for a settings file is far from what knows of revisions.
"""

from __future__ import annotations

import os

from servelint.core import safe_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.finding import Finding
    from servelint.core.source import Span
    from servelint.files.revision import Base


class Trust:
    """inline: whether comments count at all;  base: the revision that they and all settings are taken from; None for files"""

    __slots__ = ("base", "inline")

    def __init__(self, *, inline: bool = True, base: Base | None = None) -> None:
        self.inline = inline
        self.base = base

    def believes_comment(self, comment: Span, lines: tuple[int, ...]) -> bool:
        """Whether a comment, which speaks for some lines, counts at all."""
        return self.inline and (self.base is None or self.base.has_comment(comment, lines))

    def believes(self, comment: Span, lines: tuple[int, ...], finding: Finding) -> bool:
        """Whether a comment, which speaks for some lines, may silence a finding."""
        return self.inline and (self.base is None or self.base.had(comment, lines, finding))


EVERYTHING = Trust()
_current = EVERYTHING


def current() -> Trust:
    return _current


def use(trust: Trust) -> None:
    """Have what follows read settings, rules and baselines as a trust has them. What was read before is forgotten."""
    global _current
    if trust.base is not _current.base:
        from servelint.rules import load

        load.headings.cache_clear()
        import sys

        folder = sys.modules.get("servelint.rules.folder")
        if folder is not None:
            folder.load.cache_clear()
    _current = trust


def read(path: str, at_most: int) -> bytes:
    """The first bytes of a file, `at_most` and one more at most. Raises OSError or ValueError."""
    base = _current.base
    data = base.read(path) if base is not None and base.covers(path) else None
    if data is not None:
        return data[: at_most + 1]
    if base is not None and base.covers(path):
        raise FileNotFoundError(2, f"it is not in {base.name}")
    return safe_open.read(path, at_most)


def is_file(path: str) -> bool:
    base = _current.base
    if base is not None and base.covers(path):
        return base.is_file(path)
    return os.path.isfile(path)


def is_folder(path: str) -> bool:
    base = _current.base
    if base is not None and base.covers(path):
        return base.is_folder(path)
    return os.path.isdir(path)


def below(folder: str) -> list[str]:
    """The files in a folder and in those within it, sorted, without those that links lead to."""
    base = _current.base
    if base is not None and base.covers(folder):
        return base.below(folder)
    return sorted([os.path.join(here, name) for here, _, names in os.walk(folder) for name in names])
