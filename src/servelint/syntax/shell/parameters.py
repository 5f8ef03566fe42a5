"""Parameter expansion (`${V:-d}`, `${V#p}`, arrays) and the patterns of `case`, `[[ == ]]` and `${V%p}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from servelint.core.launch import Word
from servelint.core.text import EMPTY, HOLE, Piece, TracedText, unknown
from servelint.syntax.shell.lexer import step
from servelint.syntax.shell.state import UNSET, is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.evaluate import Evaluator

Token = str | re.Pattern[str] | None
"""One literal character, a class of characters, or None for `*`."""
Pattern = list[Token]

_ANY = re.compile(r".", re.DOTALL)
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \t", "digit": "0-9", "lower": "a-z", "space": r"\s",
    "upper": "A-Z", "word": "a-zA-Z0-9_", "xdigit": "0-9A-Fa-f", "punct": r"!-/:-@\[-`{-~",
}  # fmt: skip


def read_pattern(parts: Iterable[tuple[str, bool]]) -> Pattern | None:
    """The pattern that some texts make, each with whether it is quoted; None for a pattern that this module does not read."""
    chars = [(char, quoted) for text, quoted in parts for char in text]
    pattern: Pattern = []
    at = 0
    while at < len(chars):
        char, quoted = chars[at]
        at += 1
        if quoted:
            pattern.append(char)
        elif char in "?*+@!" and chars[at : at + 1] == [("(", False)]:
            return None  # an extended pattern
        elif char == "*":
            if pattern[-1:] != [None]:
                pattern.append(None)
        elif char == "?":
            pattern.append(_ANY)
        elif char == "\\" and at < len(chars):
            pattern.append(chars[at][0])
            at += 1
        elif char == "[" and (close := _closing(chars, at)) != -1:
            members = _members(chars[at:close])
            if members is None:
                return None
            pattern.append(members)
            at = close + 1
        else:
            pattern.append(char)
    return pattern


def _closing(chars: list[tuple[str, bool]], at: int) -> int:
    """The index of the bracket that closes a class; the first character of a class is never it."""
    at += chars[at : at + 1] in ([("!", False)], [("^", False)])
    start = at
    while at < len(chars):
        if chars[at : at + 2] == [("[", False), (":", False)]:
            named = next((index for index in range(at + 2, len(chars)) if chars[index] == ("]", False)), -1)
            if named != -1 and chars[named - 1] == (":", False):
                at = named + 1
                continue
        if chars[at] == ("]", False) and at > start:
            return at
        at += 1
    return -1


def _members(chars: list[tuple[str, bool]]) -> re.Pattern[str] | None:
    """The class between two brackets; None for one that this module does not read."""
    negated = chars[:1] in ([("!", False)], [("^", False)])
    at = int(negated)
    members = ""
    while at < len(chars):
        char, quoted = chars[at]
        if char == "\\" and not quoted:
            return None
        if char == "[" and not quoted and chars[at + 1 : at + 2] in ([(":", False)], [(".", False)], [("=", False)]):
            name = re.match(r"\[:(\w+):\]", "".join([member for member, _ in chars[at:]]))
            if name is None or name.group(1) not in _CLASSES:
                return None
            members += _CLASSES[name.group(1)]
            at += name.end()
        elif chars[at + 1 : at + 2] == [("-", False)] and at + 2 < len(chars):
            last = chars[at + 2][0]
            if last < char or last == "[":
                return None
            members += f"{re.escape(char)}-{re.escape(last)}"
            at += 3
        else:
            members += re.escape(char)
            at += 1
    return re.compile(f"[{'^' * negated}{members}]", re.DOTALL)


def _matching_prefixes(pattern: Pattern, text: str) -> Iterator[int]:
    """The lengths of the starts of a text that a pattern matches, in growing order."""
    states = _closed(pattern, {0})
    for length in range(len(text) + 1):
        if len(pattern) in states:
            yield length
        if length == len(text) or not states:
            return
        char = text[length]
        following: set[int] = set()
        for state in states:
            if state < len(pattern):
                token = pattern[state]
                if token is None:
                    following.add(state)
                elif token == char if isinstance(token, str) else token.match(char):
                    following.add(state + 1)
        states = _closed(pattern, following)


def _closed(pattern: Pattern, states: set[int]) -> set[int]:
    """The states and those that a `*` which matches nothing leads to."""
    return states | {state + 1 for state in states if state < len(pattern) and pattern[state] is None}


def literal(pattern: Pattern) -> str | None:
    """The text of a pattern that matches only this text; None for any other."""
    chars = [token for token in pattern if isinstance(token, str)]
    return "".join(chars) if len(chars) == len(pattern) else None


def matches(pattern: Pattern, text: str) -> bool:
    """Whether a pattern matches a whole text."""
    if (exact := literal(pattern)) is not None:
        return exact == text
    if None not in pattern:
        return len(pattern) == len(text) and any(length == len(text) for length in _matching_prefixes(pattern, text))
    return any(length == len(text) for length in _matching_prefixes(pattern, text))


def surely_matches(pattern: Pattern, text: str) -> bool:
    """Whether a pattern matches a text whatever stands for each HOLE in it: only `*` takes one."""
    return all(token is None or isinstance(token, str) for token in pattern) and matches(pattern, text)


def _matching_suffixes(pattern: Pattern, text: str) -> Iterator[int]:
    """The lengths of the ends of a text that a pattern matches, in growing order."""
    return _matching_prefixes(pattern[::-1], text[::-1])


def _replace_pattern(pattern: Pattern, text: str, new: str, every: bool) -> str:
    """The text with the longest match at the first place, or at every one, replaced. An empty match replaces nothing."""
    if exact := literal(pattern):
        return text.replace(exact, new, -1 if every else 1)
    done: list[str] = []
    at = 0
    while at < len(text):
        length = max(_matching_prefixes(pattern, text[at:]), default=0)
        if length == 0:
            done.append(text[at])
            at += 1
            continue
        done.append(new)
        at += length
        if not every:
            break
    return "".join(done) + text[at:]


_PARAMETER = re.compile(r"([!#]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!_-])(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?", re.ASCII)
_SPECIAL = re.compile(r"()([#?$!@*-])()", re.ASCII)
_REFERENCE = re.compile(r"(?:[A-Za-z_]\w*|[0-9]{1,9})(?:\[[^\[\]]+\])?", re.ASCII)
_OPERATOR = re.compile(r":?[-=?+]|##?|%%?|//?|:|\^\^?|,,?|@", re.ASCII)
_EACH = ("#", "%", "/", "^", ",")
_CASES = {"U": "^^", "u": "^", "L": ",,"}
_QUOTE = re.compile("'")
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
"""Characters for which bash writes `$'...'` where it quotes a value."""
_PATTERN_AT_MOST = 2_000
_STAR_AT_MOST = 300


class Operand:
    """A default or an alternative, to be expanded in place of its expansion. assumed: the environment may override it."""

    __slots__ = ("assumed", "raw")

    def __init__(self, raw: TracedText, assumed: bool) -> None:
        self.raw = raw
        self.assumed = assumed


class Written:
    """What stands between the braces of an expansion.

    Attributes:
        name: The parameter's name; "" without one.
        prefix: `!`, `#` or "".
        index: An array item's index; None if none is written.
        at: The offset of the index.
        rest: What follows the parameter.
        operator: `:-`, `##`, ...; "" without one, or with one that this module does not read.
        operand: The offset of what follows the operator.
        plain: Whether it is only a name of a single value.
    """

    __slots__ = ("at", "flat", "index", "name", "operand", "operator", "plain", "prefix", "rest")

    def __init__(self, flat: str) -> None:
        self.flat = flat
        match = _PARAMETER.match(flat)
        if match is None or (match.group(1) == "#" and match.end() < len(flat) and not match.group(3)):
            match = _SPECIAL.match(flat)
        self.prefix: str
        self.name: str
        self.index: str | None
        self.prefix, self.name, self.index = match.groups() if match is not None else ("", "", None)
        self.at = match.start(3) if match is not None else 0
        self.rest = match.end() if match is not None else 0
        operator = _OPERATOR.match(flat, self.rest) if match is not None else None
        self.operator = operator.group() if operator is not None else ""
        self.operand = operator.end() if operator is not None else self.rest
        one = bool(self.name) and not self.prefix and not self.index and self.name not in ("@", "*")
        self.plain = one and self.rest == len(flat)


def evaluate(
    inner: TracedText, whole: TracedText, shell: Evaluator, quoted: bool, written: Written
) -> TracedText | list[Word] | Operand:
    """The value of `${inner}`; several words for `@` and arrays. `whole` is the expansion as written."""
    name, index = written.name, written.index
    if not name:
        return _unknown(whole)
    if written.prefix == "!":
        return _indirect(name, index, inner.cut(written.rest), whole, shell, quoted)
    if name in ("@", "*") or index in ("@", "*"):
        return _list(name, written.prefix, inner.cut(written.rest), whole, shell)
    known = shell.item(name, inner.cut(written.at, written.at + len(index))) if index else shell.variable(name)
    if written.prefix == "#":
        if known is None or known.value is None:
            return _unknown(whole)
        return TracedText((Piece(str(len(known.flat)), whole.span(), assumed=known.assumed),))
    if written.rest == len(written.flat):
        return _unknown(whole, name) if known is None else known
    if not written.operator:
        return _unknown(whole)
    return _operate(written.operator, inner.cut(written.operand), known, (name, index), whole, shell, quoted)


def _operate(
    operator: str,
    operand: TracedText,
    known: TracedText | None,
    target: tuple[str, str | None],
    whole: TracedText,
    shell: Evaluator,
    quoted: bool,
) -> TracedText | Operand:
    there = known is not None and known is not UNSET and not (operator[0] == ":" and known.value == "")
    if operator in (":-", "-"):
        return known if known is not None and there else Operand(operand, True)
    if operator in (":=", "="):
        if known is not None and there:
            return known
        default = shell.expand(operand, quoted).softened()
        if not default.pieces:
            default = TracedText((Piece("", whole.span(), assumed=True),))
        shell.assign(target[0], default, target[1])
        return default
    if operator in (":+", "+"):
        given = shell.given(target[0], whole) if known is None and target[1] is None else None
        if given is not None:
            return Operand(operand, False) if given else EMPTY
        if known is None or (operator == ":+" and _may_be_empty(known)):
            return TracedText((unknown(whole.shown, whole.span(), shown="", perhaps=shell.expand(operand, quoted)),))
        return Operand(operand, False) if there else EMPTY
    if known is None:
        found = _unknown(whole, target[0] if operator in (":?", "?") else None)
        if operator == ":?" and target[1] is None:
            shell.assign(target[0], found)  # the script goes on only with a value
        return found
    return known if operator in (":?", "?") else _changed(operator, operand, known, whole, shell)


def _may_be_empty(text: TracedText) -> bool:
    """Whether a text is unknown expansions, each of which may give nothing: `${A:+x}`, the value of another such one."""
    return bool(text.pieces) and all(piece.expression is not None and piece.shown == "" for piece in text.pieces)


def _changed(operator: str, operand: TracedText, known: TracedText, whole: TracedText, shell: Evaluator) -> TracedText:
    """A known value changed by an operator."""
    if operator in ("#", "##", "%", "%%"):
        return _trim(operator, operand, known, whole, shell)
    if operator == "@" and operand.flat == "Q":
        return _quoted(known, whole)
    if known.value is None:
        return _unknown(whole)
    if operator == "@" and operand.flat in _CASES:
        operator, operand = _CASES[operand.flat], EMPTY
    if operator in ("/", "//"):
        return _replace(operator, operand, known, whole, shell)
    if operator == ":":
        return _substring(operand, known, whole, shell)
    if operator[0] in "^," and not operand.flat:
        change = str.upper if operator[0] == "^" else str.lower
        flat = known.flat
        # bash maps each character to one character; `ß` stays
        size = len(flat) if len(operator) == 2 else 1
        changed = "".join([change(char) if len(change(char)) == 1 else char for char in flat[:size]]) + flat[size:]
        return known if changed == flat else _of(changed, known)
    return _unknown(whole)


def _quoted(known: TracedText, whole: TracedText) -> TracedText:
    """`${V@Q}`: a value in the quotes that a shell takes off again, around what is unknown in it too."""
    if known is UNSET:
        return EMPTY
    if UNPRINTABLE.search(known.flat) is not None:
        return _unknown(whole)  # bash writes $'...'
    mark = TracedText.of("'", known.span())
    inner = known.sub(_QUOTE, lambda match: TracedText.of("'\\''", known.span(*match.span())))
    return TracedText.join((mark, inner, mark))


def _of(text: str, known: TracedText) -> TracedText:
    return TracedText((Piece(text, known.span(), assumed=known.assumed),))


def _list(name: str, prefix: str, rest: TracedText, whole: TracedText, shell: Evaluator) -> TracedText | list[Word] | Operand:
    found = shell.array("@" if name in ("@", "*") else name)
    if found is not None and not prefix and not rest.flat:
        return found
    nothing = [Word(TracedText((unknown(whole.shown, whole.span(), shown=""),)), whole.span(), many=True)]
    unsure = found is None or any(word.many for word in found)
    if prefix == "#":
        return _unknown(whole) if found is None or unsure else TracedText.of(str(len(found)), whole.span())
    if found is None:
        found = nothing
    flat = rest.flat
    if not flat:
        return found
    operator = _OPERATOR.match(flat)
    if operator is None:
        return nothing
    operand = rest.cut(operator.end())
    if operator.group() == ":":
        if name not in ("@", "*") and shell.keys(name) is None:
            return nothing  # of a variable that is not an array, characters are taken
        return nothing if unsure else _slice(found, operand, name in ("@", "*"), whole, shell)
    kind = operator.group()[-1]
    given = _given(found, flat[0] == ":")
    if kind == "+":
        if given is None:
            return _perhaps(found, operand, whole, shell)
        return Operand(operand, False) if given else EMPTY if found else []
    if kind == "-":
        return Operand(operand, True) if given is False else found if given or all(word.many for word in found) else nothing
    if kind in _EACH and not unsure:
        return [Word(_changed(operator.group(), operand, word.text, whole, shell)) for word in found]
    if kind == "@" and operand.flat == "Q":
        return [word if word.many else Word(_quoted(word.text, whole)) for word in found]
    return nothing


def _given(found: list[Word], colon: bool) -> bool | None:
    """Whether a list is there (with `colon`: and is not one empty word); None if that is not known."""
    if not found or (colon and len(found) == 1 and found[0].value == ""):
        return False
    sure = [word for word in found if not word.many and not (colon and not word.text.flat.replace(HOLE, ""))]
    return True if sure else None


def _perhaps(found: list[Word], operand: TracedText, whole: TracedText, shell: Evaluator) -> list[Word]:
    """`${A[@]+...}` where A may be empty: A itself in the spelling of "${A[@]}" that is safe under set -u, else an unknown."""
    if re.search(r"\[[@*]\]", operand.flat):
        return found
    text = TracedText((unknown(whole.shown, whole.span(), shown="", perhaps=shell.expand(operand, True)),))
    return [Word(text, whole.span(), many=True)]


def _slice(found: list[Word], operand: TracedText, positional: bool, whole: TracedText, shell: Evaluator) -> list[Word]:
    bounds = _bounds(operand, whole, shell)
    if bounds is None:
        return [Word(TracedText((unknown(whole.shown, whole.span(), shown=""),)), whole.span(), many=True)]
    start, length = bounds
    start = start - 1 if positional and start > 0 else start
    if (positional and bounds[0] == 0) or (length is not None and length < 0):
        # from `$0` on, or a length that bash refuses
        return [Word(TracedText((unknown(whole.shown, whole.span(), shown=""),)), whole.span(), many=True)]
    if start < 0:
        start += len(found)
        if start < 0:
            return []
    return found[start : None if length is None else start + length]


def _bounds(operand: TracedText, whole: TracedText, shell: Evaluator) -> tuple[int, int | None] | None:
    """The offset and the length of `:offset:length`; None if they are not known."""
    text = shell.expand(operand, True)
    first, colon, second = text.flat.partition(":")
    if "?" in text.flat:
        return None
    numbers = [shell.arithmetic(TracedText.of(part or "0"), whole).value for part in ([first, second] if colon else [first])]
    if any(number is None for number in numbers):
        return None
    start, *length = [int(number or "0") for number in numbers]
    return start, length[0] if length else None


def _indirect(
    name: str, index: str | None, rest: TracedText, whole: TracedText, shell: Evaluator, quoted: bool
) -> TracedText | list[Word] | Operand:
    if index in ("@", "*") and not rest.flat:
        keys = shell.keys(name)
        return (
            keys if keys is not None else [Word(TracedText((unknown(whole.shown, whole.span(), shown=""),)), None, many=True)]
        )
    target = shell.variable(name)
    if index is not None or target is None or _REFERENCE.fullmatch(target.flat) is None or rest.flat in ("@", "*"):
        return _unknown(whole)
    inner = TracedText.join((TracedText.of(target.flat), rest))
    return evaluate(inner, whole, shell, quoted, Written(inner.flat))


def _unknown(whole: TracedText, name: str | None = None) -> TracedText:
    expression = "${" + name + "}" if name is not None else whole.shown
    return TracedText((unknown(expression, whole.span()),))


def _read(raw: TracedText, flat: str, shell: Evaluator) -> Pattern | None:
    """A pattern for a known value; None if it is not known, or would take too long."""
    parts = shell.pattern(raw)
    if not all(text.known for text, _ in parts) or len(flat) > _PATTERN_AT_MOST:
        return None
    pattern = read_pattern([(text.flat, quoted) for text, quoted in parts])
    if pattern is None or (None in pattern and len(flat) > _STAR_AT_MOST and pattern.count(None) > 1):
        return None
    return pattern


def _trim(operator: str, operand: TracedText, known: TracedText, whole: TracedText, shell: Evaluator) -> TracedText:
    flat = known.flat
    pattern = _read(operand, flat, shell)
    if pattern is None:
        return _unknown(whole)
    lengths = _matching_prefixes(pattern, flat) if operator[0] == "#" else _matching_suffixes(pattern, flat)
    cut = next(lengths, None) if len(operator) == 1 else max(lengths, default=None)
    rest = known if cut is None else known.cut(cut) if operator[0] == "#" else known.cut(0, len(flat) - cut)
    # an unknown part may hold what the pattern looks for: only `##*/` with a known rest is certain
    if operator == "%" and pattern == ["/", None] and is_own(known) and flat.count("/") == 1:
        return rest
    if HOLE in flat and not (operator == "##" and pattern == [None, "/"] and HOLE not in rest.flat and cut is not None):
        return _unknown(whole)
    return rest


def _replace(operator: str, operand: TracedText, known: TracedText, whole: TracedText, shell: Evaluator) -> TracedText:
    anchor = operand.flat[:1] if operator == "/" and operand.flat[:1] in ("#", "%") else ""
    body = operand.cut(len(anchor))
    slash = _slash(body.flat)
    flat = known.flat
    pattern = _read(body.cut(0, slash), flat, shell)
    parts = shell.pattern(body.cut(slash + 1)) if slash < len(body.flat) else []
    # an unquoted `&` is what was matched from bash 5.2 on, and itself before
    if pattern is None or any(not text.known or ("&" in text.flat and not quoted) for text, quoted in parts):
        return _unknown(whole)
    new = "".join([text.flat for text, _ in parts])
    if anchor == "#":
        cut = max(_matching_prefixes(pattern, flat), default=None)
        replaced = flat if cut is None else new + flat[cut:]
    elif anchor == "%":
        cut = max(_matching_suffixes(pattern, flat), default=None)
        replaced = flat if cut is None else flat[: len(flat) - cut] + new
    elif None in pattern and len(flat) > _STAR_AT_MOST:
        return _unknown(whole)
    else:
        replaced = _replace_pattern(pattern, flat, new, operator == "//")
    return known if replaced == flat else _of(replaced, known)


def _slash(flat: str) -> int:
    """The offset of the first slash that no quotes or braces hide, else the end."""
    at = 0
    while at < len(flat):
        if flat[at] == "/":
            return at
        at = step(flat, at)
    return len(flat)


def _substring(operand: TracedText, known: TracedText, whole: TracedText, shell: Evaluator) -> TracedText:
    bounds = _bounds(operand, whole, shell)
    if bounds is None:
        return _unknown(whole)
    size = len(known.flat)
    start, length = bounds
    start = size + start if start < 0 else start
    if not 0 <= start <= size:
        return EMPTY
    stop = size if length is None else start + length if length >= 0 else size + length
    return known.cut(start, min(stop, size)) if stop > start else EMPTY
