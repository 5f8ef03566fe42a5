"""The bodies of functions, as they were read before: in an editor most of a script stays as it is while a line is typed."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.syntax.shell.lexer import neutral
from servelint.syntax.shell.tree import Node, ascii_of, is_plain, parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.simple import Shape

CHARACTERS_AT_MOST = 8_000
_FUNCTION = re.compile(r"^[A-Za-z_][\w-]*[ \t]*\(\)[ \t]*\{\n", re.ASCII | re.MULTILINE)
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1", re.ASCII)
_SCRIPT_AT_LEAST = 400
_KEPT_AT_MOST = 256
_MET_BEFORE = 2
"""What is read once is not worth another tree."""


class Body:
    """One body, wherever it stands.

    root:  its tree, None until it was met twice;  met: how often it was
    alone: its characters are read so wherever they stand
    names, pure, shapes: those of its script
    """

    __slots__ = ("alone", "met", "names", "pure", "root", "shapes")

    def __init__(self) -> None:
        self.alone = False
        self.met = 0
        self.root: Node | None = None
        self.names: dict[int, list[str] | None] = {}
        self.pure: dict[tuple[int, str], frozenset[str] | None] = {}
        self.shapes: dict[int, Shape] = {}

    def meet(self, flat: str, read: str) -> Node | None:
        """Its tree, if it is kept. flat: its characters;  read: what the parser read of them"""
        self.met += 1
        if self.met == _MET_BEFORE:
            self.root = _whole(read)
            alone = _whole(neutral(flat)) if self.root is not None else None
            self.alone = alone is not None and self.root is not None and alone.count == self.root.count
        if self.alone:
            key = flat, read == ascii_of(flat)
            if key not in _known:
                if len(_known) >= _KEPT_AT_MOST:
                    _known.clear()
                _known[key] = self
        return self.root


_known: dict[tuple[str, bool], Body] = {}
"""Bodies that are read the same wherever they stand, by their characters and by whether these are what the parser read."""


@lru_cache(maxsize=_KEPT_AT_MOST)
def body(flat: str, read: str) -> Body:
    """A body by its characters, and by what the parser read of them."""
    del flat, read
    return Body()


def is_whole(flat: str) -> bool:
    """Whether the text of each heredoc in a body ends in it: it may stand behind the function.

    >>> is_whole("{\\n  cat <<EOF\\nit\\nEOF\\n}"), is_whole("{ cat <<EOF; }")
    (True, False)
    """
    if "<<" not in flat:
        return True
    starts = flat.replace("<<<", "   ")
    heredocs = list(_HEREDOC.finditer(starts))
    return len(heredocs) == starts.count("<<") and all(
        re.search(rf"^\t*{re.escape(found.group(2))}$", flat[found.end() :], re.MULTILINE) for found in heredocs
    )


def around(flat: str) -> tuple[Node, dict[int, Body]] | None:
    """The tree of a script with nothing in those functions' bodies that are known, and these by where they start.

    To parse takes most of the time where little else is new. None where no function is known, and where what looks like one
    that is known is none.
    """
    if not _known or len(flat) < _SCRIPT_AT_LEAST:
        return None
    found: dict[int, Body] = {}
    kept: list[str] = []
    done = 0
    plain = is_plain(flat)
    for function in _FUNCTION.finditer(flat):
        start = function.end() - 2
        end = flat.find("\n}", start, start + CHARACTERS_AT_MOST) + 2
        known = _known.get((flat[start:end], plain)) if end > start >= done else None
        if known is not None:
            found[start] = known
            kept += [flat[done:start], _nothing(end - start)]
            done = end
    if not found:
        return None
    root = parsed("".join([*kept, flat[done:]]), plain)
    functions = [child.field("body") for child in root.children if child.type == "function_definition"]
    starts = {one.start_byte for one in functions if one is not None and one.text == _nothing(one.end_byte - one.start_byte)}
    return None if root.has_error or not found.keys() <= starts else (root, found)


def _nothing(length: int) -> str:
    """A body of a length in which nothing is done."""
    return "{\n:" + "\n" * (length - 4) + "}"


def _whole(flat: str) -> Node | None:
    """The tree of what is a function's body and nothing else."""
    program = parsed(flat, plain=True)
    whole = len(program.children) == 1 and not program.has_error and program.children[0].end_byte == len(flat)
    return program.children[0] if whole else None
