"""Parameter expansion: what stands between the braces of `${...}`."""

from __future__ import annotations

import fnmatch
import re

from servelint.launch import Word
from servelint.text import EMPTY, HOLE, Piece, Text, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Scope(Protocol):
        """What an expansion may ask of the evaluator."""

        def variable(self, name: str) -> Text | None:
            """The value of a variable; None if the script does not set it (the environment may)."""

        def array(self, name: str) -> list[Word] | None:
            """The items of an array, or the positional parameters for `@`; None if not set by the script."""

        def item(self, name: str, index: str) -> Text | None:
            """One item of an array or of an associative array."""

        def assign(self, name: str, value: Text) -> None: ...

        def expand(self, raw: Text, quoted: bool) -> Text:
            """A nested word (a default), expanded without splitting."""

        def substitute(self, command: Text, whole: Text) -> Text:
            """The output of a command substitution; unknown unless it is plain."""

        def arithmetic(self, expression: Text, whole: Text) -> Text: ...


_PARAMETER = re.compile(r"([!#]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!_-])(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?", re.ASCII)
_OPERATOR = re.compile(r":?[-=?+]|##?|%%?|//?|:|\^\^?|,,?|@", re.ASCII)
_PATTERN_AT_MOST = 2_000


def matching(flat: str, at: int, closing: str, quoted: bool = False) -> int:
    """The offset of the closing bracket of a `${`, `$(` or `$((` whose content starts at an offset.

    Quotes, nested substitutions and escapes are stepped over; the end of the text if it is never closed. quoted: the
    expansion stands in double quotes, where a single quote is an ordinary character.
    """
    depth = 0
    while at < len(flat):
        char = flat[at]
        if char == "\\":
            at += 2
            continue
        if char == "'" and not (quoted and closing == "}"):
            close = flat.find("'", at + 1)
            at = len(flat) if close == -1 else close + 1
            continue
        if char == '"':
            at = _after_quotes(flat, at + 1)
            continue
        if char == "$" and flat[at + 1 : at + 2] in ("{", "("):
            inner = "}" if flat[at + 1] == "{" else ")"
            at = matching(flat, at + 2, inner, quoted) + 1
            continue
        if char == "`":
            close = flat.find("`", at + 1)
            at = len(flat) if close == -1 else close + 1
            continue
        if closing == ")" and char == "(":
            depth += 1
        elif char == closing:
            if depth == 0:
                return at
            depth -= 1
        at += 1
    return len(flat)


def _after_quotes(flat: str, at: int) -> int:
    while at < len(flat):
        char = flat[at]
        if char == "\\":
            at += 2
        elif char == '"':
            return at + 1
        elif char == "$" and flat[at + 1 : at + 2] in ("{", "("):
            at = matching(flat, at + 2, "}" if flat[at + 1] == "{" else ")", quoted=True) + 1
        else:
            at += 1
    return len(flat)


def word_end(flat: str, at: int) -> int:
    """The offset at which the word that starts at an offset ends: at unquoted white space or an operator."""
    while at < len(flat):
        char = flat[at]
        if char in " \t\n;&|<>()":
            return at
        if char == "\\":
            at += 2
        elif char == "'":
            close = flat.find("'", at + 1)
            at = len(flat) if close == -1 else close + 1
        elif char == '"':
            at = _after_quotes(flat, at + 1)
        elif char == "$" and flat[at + 1 : at + 2] in ("{", "("):
            at = matching(flat, at + 2, "}" if flat[at + 1] == "{" else ")") + 1
        elif char == "`":
            close = flat.find("`", at + 1)
            at = len(flat) if close == -1 else close + 1
        else:
            at += 1
    return len(flat)


def evaluate(inner: Text, whole: Text, scope: Scope, quoted: bool) -> Text | list[Word]:
    """The value of `${inner}`; several words for `@` and arrays. `whole` is the expansion as written."""
    flat = inner.flat
    match = _PARAMETER.match(flat)
    if match is None or (match.group(1) == "#" and match.end() < len(flat) and match.group(3) is None):
        match = re.compile(r"()([#?$!@*-])", re.ASCII).match(flat)
        if match is None:
            return _unknown(whole)
        prefix, name, index = "", match.group(2), None
    else:
        prefix, name, index = match.group(1), match.group(2), match.group(3)
    if prefix == "!":
        return _indirect(name, index, whole, scope)
    rest = inner.cut(match.end())
    if name in ("@", "*") or index in ("@", "*"):
        return _list(name, prefix, rest, whole, scope)
    known = _scalar(name, index, scope)
    if prefix == "#":
        if known is None or known.value is None:
            return _unknown(whole)
        return Text((Piece(str(len(known.flat)), whole.span(), assumed=known.assumed),))
    if not rest.flat:
        return _unknown(whole, name) if known is None else known
    operator = _OPERATOR.match(rest.flat)
    if operator is None:
        return _unknown(whole)
    operand = rest.cut(operator.end())
    return _operate(operator.group(), operand, known, name, whole, scope, quoted)


def _operate(operator: str, operand: Text, known: Text | None, name: str, whole: Text, scope: Scope, quoted: bool) -> Text:
    kind = operator[-1]
    if operator in (":-", "-", ":=", "="):
        if known is not None and not (operator[0] == ":" and known.value == ""):
            return known
        default = scope.expand(operand, quoted).softened()
        if not default.pieces:
            default = Text((Piece("", whole.span(), assumed=True),))
        if kind == "=":
            scope.assign(name, default)
        return default
    if operator in (":?", "?"):
        return _unknown(whole, name) if known is None else known
    if operator in (":+", "+"):
        if operator[0] == ":" and known is not None and known.value == "":
            return EMPTY
        other = scope.expand(operand, quoted)
        return other if known is not None else Text((unknown(whole.shown, whole.span(), shown="", perhaps=other),))
    if known is None:
        return _unknown(whole)
    if operator in ("#", "##", "%", "%%"):
        pattern = scope.expand(operand, quoted).value
        return _unknown(whole) if pattern is None else _trim(operator, pattern, known, whole)
    if known.value is None:
        return _unknown(whole)
    if operator in ("/", "//"):
        return _replace(operator, operand, known, whole, scope, quoted)
    if operator == ":":
        return _substring(operand, known, whole, scope)
    if kind in "^,":
        change = str.upper if kind == "^" else str.lower
        flat = known.flat
        changed = change(flat) if len(operator) == 2 else change(flat[:1]) + flat[1:]
        return known if changed == flat else _of(changed, known)
    return _unknown(whole)


def _of(text: str, known: Text) -> Text:
    return Text((Piece(text, known.span(), assumed=known.assumed),))


def _scalar(name: str, index: str | None, scope: Scope) -> Text | None:
    if index is not None:
        return scope.item(name, index)
    return scope.variable(name)


def _list(name: str, prefix: str, rest: Text, whole: Text, scope: Scope) -> Text | list[Word]:
    found = scope.array("@" if name in ("@", "*") else name)
    if prefix == "#":
        if found is None or any(word.many for word in found):
            return _unknown(whole)
        return Text.of(str(len(found)), whole.span())
    if found is None:
        found = [Word(Text((unknown(whole.shown, whole.span(), shown=""),)), whole.span(), many=True)]
    if not rest.flat:
        return found
    if rest.flat[0] == ":" and rest.flat[1:2] not in ("-", "+", "=", "?"):
        numbers = scope.expand(rest.cut(1), True).value
        bounds = re.fullmatch(r"\s*(\d+)\s*(?::\s*(\d+)\s*)?", numbers or "")
        if bounds is None or any(word.many for word in found):
            return [Word(Text((unknown(whole.shown, whole.span(), shown=""),)), whole.span(), many=True)]
        start = int(bounds.group(1)) - (1 if name in ("@", "*") else 0)
        stop = None if bounds.group(2) is None else max(start, 0) + int(bounds.group(2))
        return found[max(start, 0) : stop]
    if rest.flat.startswith((":+", "+")):
        operand = rest.cut(2 if rest.flat[0] == ":" else 1)
        if not found:
            return EMPTY
        if any(word.many for word in found):
            return found
        # `${A[@]+"${A[@]}"}`: the safe spelling of "${A[@]}" under set -u
        return found if re.search(r"\[[@*]\]", operand.flat) else scope.expand(operand, False)
    if rest.flat.startswith((":-", "-")) and not found:
        return scope.expand(rest.cut(2 if rest.flat[0] == ":" else 1), False).softened()
    if rest.flat.startswith((":-", "-")):
        return found
    return [Word(Text((unknown(whole.shown, whole.span(), shown=""),)), whole.span(), many=True)]


def _indirect(name: str, index: str | None, whole: Text, scope: Scope) -> Text:
    target = scope.variable(name)
    if index is not None or target is None or target.value is None:
        return _unknown(whole)
    found = scope.variable(target.value)
    return _unknown(whole) if found is None else found


def _unknown(whole: Text, name: str | None = None) -> Text:
    expression = "${" + name + "}" if name is not None else whole.shown
    return Text((unknown(expression, whole.span()),))


def _trim(operator: str, pattern: str, known: Text, whole: Text) -> Text:
    flat = known.flat
    if len(flat) > _PATTERN_AT_MOST:
        return _unknown(whole)
    matches = re.compile(fnmatch.translate(pattern)).match
    size = len(flat)
    if operator[0] == "#":
        lengths = range(size + 1) if operator == "#" else range(size, -1, -1)
        cut = next((length for length in lengths if matches(flat[:length])), None)
        rest = known if cut is None else known.cut(cut)
    else:
        lengths = range(size, -1, -1) if operator == "%" else range(size + 1)
        cut = next((length for length in lengths if matches(flat[length:])), None)
        rest = known if cut is None else known.cut(0, cut)
    # an unknown part may hold what the pattern looks for: only `##*/` with a known rest is certain
    if HOLE in flat and not (operator == "##" and pattern == "*/" and HOLE not in rest.flat and cut is not None):
        return _unknown(whole)
    return rest


def _replace(operator: str, operand: Text, known: Text, whole: Text, scope: Scope, quoted: bool) -> Text:
    anchored = operand.flat[:1] if operator == "/" and operand.flat[:1] in ("#", "%") else ""
    body = operand.cut(1 if anchored else 0)
    slash = _slash(body.flat)
    pattern = scope.expand(body.cut(0, slash), quoted).value
    new = scope.expand(body.cut(slash + 1), quoted) if slash < len(body.flat) else EMPTY
    if not pattern or new.value is None or len(known.flat) > _PATTERN_AT_MOST:
        return known if pattern == "" else _unknown(whole)
    expression = fnmatch.translate(pattern)
    expression = re.sub(r"\\[zZ]$", "", expression)
    if anchored == "#":
        expression = r"\A" + expression
    elif anchored == "%":
        expression += r"\Z"
    replaced = re.sub(expression, lambda _: new.flat, known.flat, count=0 if operator == "//" else 1)
    return known if replaced == known.flat else _of(replaced, known)


def _slash(flat: str) -> int:
    at = 0
    while at < len(flat):
        if flat[at] == "\\":
            at += 2
            continue
        if flat[at] == "/":
            return at
        at += 1
    return len(flat)


def _substring(operand: Text, known: Text, whole: Text, scope: Scope) -> Text:
    numbers = scope.expand(operand, True).value
    bounds = re.fullmatch(r"\s*(?:\(\s*)?(-?\d+)(?:\s*\))?\s*(?::\s*(-?\d+)\s*)?", numbers or "")
    if bounds is None:
        return _unknown(whole)
    size = len(known.flat)
    start = int(bounds.group(1))
    start = max(size + start, 0) if start < 0 else min(start, size)
    if bounds.group(2) is None:
        return known.cut(start)
    length = int(bounds.group(2))
    stop = start + length if length >= 0 else size + length
    return known.cut(start, min(max(stop, start), size))
