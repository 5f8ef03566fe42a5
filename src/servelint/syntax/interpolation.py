"""docker-compose interpolation: `$V`, `${V}`, `${V:-d}`, `${V-d}`, `${V:?e}`, `${V?e}`, `${V:+a}`, `${V+a}`, `$$`, nested.

The grammar is that of the Compose specification (interpolation). A variable that the lookup does not know is unknown, not
empty: the environment may set it. A default is taken and marked as assumed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core import bounds
from servelint.core.text import EMPTY, Piece, TracedText, unknown

Lookup = Callable[[str], TracedText | None]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACES = re.compile(r"\$\$|\$\{|\}")


def nothing(_name: str) -> TracedText | None:
    """A lookup that knows no variable."""
    return None


def interpolate(text: TracedText, lookup: Lookup, depth: int = 0) -> TracedText:
    """The text with its variables replaced; what is not a variable reference stays as it is."""
    flat = text.flat
    if "$" not in flat:
        return text
    parts: list[TracedText] = []
    done = 0
    at = flat.find("$")
    closing = _closings(flat) if "${" in flat else {}
    while at != -1:
        end, value = _reference(text, at, lookup, depth, closing)
        if end > at:
            parts.append(text.cut(done, at))
            parts.append(value)
            done = end
        at = flat.find("$", max(end, at + 1))
    parts.append(text.cut(done))
    return TracedText.join(parts)


def _reference(text: TracedText, at: int, lookup: Lookup, depth: int, closing: dict[int, int]) -> tuple[int, TracedText]:
    """The end and the value of the reference at an offset; (at, EMPTY) if there is none."""
    flat = text.flat
    if flat.startswith("$$", at):
        return at + 2, TracedText.of("$", text.span(at, at + 2))
    braced = flat.startswith("${", at)
    name = _NAME.match(flat, at + 2 if braced else at + 1)
    if name is None:
        return at, EMPTY
    if not braced:
        return name.end(), _value(text, at, name.end(), name.group(), lookup)
    close = closing.get(at, -1)
    if close == -1 or bounds.DEFAULTS.passed(depth, text):
        return at, EMPTY
    operator = re.compile(r":?[-?+]").match(flat, name.end())
    if flat[name.end()] == "}":
        return close + 1, _value(text, at, close + 1, name.group(), lookup)
    if operator is None:
        return at, EMPTY
    known = lookup(name.group())
    colon, kind = operator.group().startswith(":"), operator.group()[-1]
    given = known is not None and not (colon and known.value == "")
    if kind == "+":
        other = interpolate(text.cut(operator.end(), close), lookup, depth + 1)
        if known is None:
            whole = text.cut(at, close + 1)
            return close + 1, TracedText((unknown(whole.shown, whole.span(), shown="", perhaps=other),))
        return close + 1, other if given else EMPTY
    if given or kind == "?":
        return close + 1, _value(text, at, close + 1, name.group(), lookup)
    default = interpolate(text.cut(operator.end(), close), lookup, depth + 1).softened()
    return close + 1, default if default.pieces else TracedText((Piece("", text.span(at, close + 1), assumed=True),))


def _value(text: TracedText, at: int, end: int, name: str, lookup: Lookup) -> TracedText:
    known = lookup(name)
    span = text.span(at, end)
    if known is None:
        return TracedText((unknown("${" + name + "}", span),))
    return known.placed(span, assumed=True)


def _closings(flat: str) -> dict[int, int]:
    """Where each `${` starts -> the offset of the brace that closes it."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACES.finditer(flat):
        if match.group() == "${":
            opened.append(match.start())
        elif match.group() == "}" and opened:
            found[opened.pop()] = match.start()
    return found
