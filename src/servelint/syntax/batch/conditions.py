"""The conditions of a batch file's `if`."""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.text import HOLE, Text
from servelint.syntax.batch.state import Status
from servelint.syntax.batch.syntax import Test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.batch.evaluate import Walk

_EMPTY = re.compile(r"[\"'.\[\]x_#-]*", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d+")
_ARGUMENT = re.compile(r"%(?:~\w*)?\d")
_VARIABLE = re.compile(r"[%!]([^%!:]+)[%!]")
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "equ": lambda left, right: left == right,
    "neq": lambda left, right: left != right,
    "lss": lambda left, right: left < right,
    "leq": lambda left, right: left <= right,
    "gtr": lambda left, right: left > right,
    "geq": lambda left, right: left >= right,
}


def holds(walk: Walk, test: Test) -> Status:
    status = _positive(walk, test)
    return status.negated() if test.negated else status


def _positive(walk: Walk, test: Test) -> Status:
    if test.kind == "defined":
        return _defined(walk, test.left.flat.strip('"'))
    if test.kind == "errorlevel":
        return Status(None, likely=test.left.flat.strip() == "0")
    if test.kind not in ("==", *_COMPARISONS):
        return Status(None)
    left, right = walk.fill(test.left).text, walk.fill(test.right).text
    ours, theirs = _likely(left), _likely(right)
    if test.fold:
        ours, theirs = ours.lower(), theirs.lower()
    equality = test.kind in ("==", "equ", "neq")
    if test.kind != "==" and _NUMBER.fullmatch(ours) and _NUMBER.fullmatch(theirs):
        found = _COMPARISONS[test.kind](int(ours[:20]), int(theirs[:20]))
    else:
        found = equality and (ours == theirs) != (test.kind == "neq")
    if left.known and right.known:
        return Status(found, assumed=left.assumed or right.assumed)
    if equality and ours == theirs and _EMPTY.fullmatch(ours):
        return _emptiness(walk, left, right, found)
    return Status(None, likely=found)


def _emptiness(walk: Walk, left: Text, right: Text, found: bool) -> Status:
    """A test whether an unknown value is empty."""
    unknowns = [piece for piece in (*left.pieces, *right.pieces) if piece.expression is not None]
    expression = unknowns[0].expression or ""
    if len(unknowns) != 1:
        return Status(None, likely=found)
    if _ARGUMENT.fullmatch(expression):
        state = walk.state or {}
        own = [key for key, value in state.items() if value.text.flat == HOLE and value.text.pieces[0].span == unknowns[0].span]
        # a script is started without arguments, unless someone knows better
        return Status(None, found, emptied=own[0], empty_when=found) if own else Status(found, assumed=True)
    name = _VARIABLE.fullmatch(expression)
    return Status(None, found, emptied=name.group(1).upper() if name is not None else None, empty_when=found)


def _defined(walk: Walk, name: str) -> Status:
    value = walk.now(name)
    if value is None:
        return Status(None, likely=False, emptied=name.upper(), empty_when=False)
    if value.flat == HOLE:
        likely = bool(value.shown) and not value.shown.startswith("%")
        return Status(None, likely, emptied=name.upper(), empty_when=False)
    return Status(bool(value.flat), assumed=value.assumed)


def _likely(text: Text) -> str:
    """A text as it is where every command has succeeded and nothing else is set."""
    if HOLE not in text.flat:
        return text.flat
    parts: list[str] = []
    for piece in text.pieces:
        expression = piece.expression
        parts.append(piece.text if expression is None else "0" if expression.lower().strip("%!") == "errorlevel" else "")
    return "".join(parts)
