"""The files that a script writes and reads: heredocs and echoes into a file, and the files that stand beside the script."""

from __future__ import annotations

import os
import re

from servelint.core.launch import OpenedFile
from servelint.core.text import Piece, Text, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.launch import Open
    from servelint.core.source import Span

    Here = Callable[[Text], "OpenedFile | None"]

OWN = "\ufdd1$(dirname $0)"
"""The expression of a piece that stands for the folder of the script itself."""

HERE = Text((unknown("\ufdd1.", None, ""),))
"""The folder in which a script runs that is no file, or that another one starts."""

_SHEBANG = re.compile(r"#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)")
_HERE = "<\ufdd1.>/"

CHANGING = frozenset(("sed", "yq", "perl", "mv", "rm", "truncate", "patch", "python", "python3", "install"))
"""Programs after which a file that they are given may hold something else."""

TOUCHING = CHANGING | {"cp", "sudo", "tee"}
"""All programs that are followed to the files that they are given."""


def is_shell(path: str, text: str) -> bool:
    """Whether a file is a shell script, by its name or by its first line."""
    return path.endswith((".sh", ".bash")) or _SHEBANG.match(text) is not None


def own(shown: str, span: Span | None) -> Text:
    """The folder of the script itself, as the script writes it."""
    return Text((unknown(OWN, span, shown),))


def is_own(path: Text) -> bool:
    """Whether a path starts at the folder of the script itself."""
    return bool(path.pieces) and path.pieces[0].expression == OWN


def file_key(path: Text, folder: Text | None) -> str | None:
    """A name under which the same path is found again; None if it may be any file.

    `./x` below the script's own folder; otherwise the path as written, an unknown part by its expression
    folder: where relative paths start, None if that is not known
    """
    if not path.flat:
        return None
    if is_own(path):
        return _below("".join([_name(piece) for piece in path.pieces[1:]]))
    name = "".join([_name(piece) for piece in path.pieces])
    if path.pieces[0].expression is not None or os.path.isabs(name) or name.startswith("~"):
        return name
    if folder is None:
        return None
    base = file_key(folder, None)
    return None if base is None else _below(f"/{base}/{name}") if base.startswith(".") else os.path.normpath(f"{base}/{name}")


def _below(rest: str) -> str:
    path = os.path.normpath("." + rest)
    return path if path.startswith(".") else "./" + path


def _name(piece: Piece) -> str:
    if piece.expression is None:
        return piece.text
    start = piece.span.start if piece.span is not None and not piece.expression.startswith("${") else ""
    return f"<{piece.expression}{start}>"


class Files:
    """The files that are known at one point of a script.

    written: key -> content, None if that is not known;  open: opens a file below the script's own folder
    here:    opens a file below the folder in which the script runs, where that is another one
    """

    __slots__ = ("_here", "_open", "written")

    def __init__(self, open: Open | None, written: dict[str, Text | None] | None = None, here: Here | None = None) -> None:
        self._open = open
        self._here = here
        self.written = written or {}

    def knows(self, name: str | None) -> bool:
        """Whether the script has written a file."""
        return name in self.written

    def opened(self, name: str | None) -> OpenedFile | None:
        """A file by its key; None if it is not known."""
        if name is None:
            return None
        if self.knows(name):
            text = self.written[name]
            return OpenedFile(text, name, True, self._open) if text is not None else None
        if name.startswith(_HERE):
            return self._here(Text.of("./" + name[len(_HERE) :])) if self._here is not None else None
        if name.startswith("/"):
            return self._here(Text.of(name)) if self._here is not None else None
        source = self._open(name) if self._open is not None and name.startswith(".") else None
        return OpenedFile(Text.at(source, 0, len(source.text)), name, False, self._open) if source is not None else None

    def read(self, name: str | None) -> Text | None:
        """The text of a file by its key; None if it is not known."""
        found = self.opened(name)
        return found.text if found is not None else None

    def after(self, name: str | None, text: Text | None, append: bool = False) -> Files:
        """The files after one was written. name None: it may be any of them that no other name tells apart."""
        if name is None:
            return self
        if append and text is not None:
            before = self.read(name) if self.knows(name) else None
            text = Text.join((before, text)) if before is not None else None
        return Files(self._open, {**self.written, name: text}, self._here)

    def joined(self, other: Files) -> Files:
        """What is known after one of two branches."""
        names = self.written.keys() | other.written.keys()
        same = {
            name: text
            for name in sorted(names)
            if (text := self.written.get(name)) is not None and _alike(text, other.written.get(name))
        }
        return Files(self._open, {name: same.get(name) for name in sorted(names)}, self._here)


def _alike(one: Text, other: Text | None) -> bool:
    return one is other or (other is not None and one.flat == other.flat and one.shown == other.shown)
