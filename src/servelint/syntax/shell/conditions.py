"""`[ ... ]`, `[[ ... ]]` and `test`: whether they hold, as far as their operands are known."""

from __future__ import annotations

import math
import re
from operator import eq, ge, gt, le, lt, ne

from servelint.core.launch import Word
from servelint.core.text import HOLE, TracedText
from servelint.syntax.shell import arithmetic, expand, parameters
from servelint.syntax.shell.lexer import step, word_end
from servelint.syntax.shell.state import Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.evaluate import Evaluator

_NUMERIC = {"-eq": eq, "-ne": ne, "-gt": gt, "-ge": ge, "-lt": lt, "-le": le}
_BINARY = frozenset(("=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef", *_NUMERIC))
_UNARY = re.compile(r"-[a-zA-Z]")
_TOKEN = re.compile(r"\s*(&&|\|\||[()<>]|!(?=[\s(])|$)")
_UNSURE = Status(None, likely=False)
_REGEX = re.compile(
    r"(?:[^\\\[\](){}|*+?$^.]|\.|\\[^\w<>'`]|\^|\$|\[\^?(?:[^\\\[\]]|\[(?![:.=]))+\]|\((?!\?)|\||\)(?![*+{])|(?<!^)[*+?](?![*+?{])|\{\d+(?:,\d*)?\}(?![*+?{]))*"
)
"""What extended regular expressions and Python's agree on, without repeated groups: they may take a very long time."""
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "digit": "0-9", "lower": "a-z", "space": " \t\n\r\f\v", "upper": "A-Z",
}  # fmt: skip
_LENGTH_AT_MOST = 300
"""Characters of a text that is compared with a pattern."""
_TRIES_AT_MOST = 10_000_000
"""Ways of matching a text against a regular expression that may be tried (`_tries`)."""
_REPEATED_AT_MOST = 10
"""Characters that are compared with a group that is repeated: each may be tried in as many ways as it has alternatives."""


class _NotRead(Exception):
    """The tests cannot be parsed: whether they hold is unknown."""


def double(raw: TracedText, shell: Evaluator) -> Status:
    """`[[ raw ]]`: words are not split, and an unquoted right side is a pattern."""
    parser = _Parser(raw, shell)
    try:
        status = parser.either()
    except _NotRead:
        return _UNSURE
    return status if parser.at_end() else _UNSURE


def _number(text: TracedText, shell: Evaluator) -> TracedText:
    """An operand of -eq and the like: inside double brackets it is arithmetic."""
    return text if arithmetic.decimal(text.flat.replace(HOLE, "")) is not None else shell.arithmetic(text, text)


class _Parser:
    """Parses and evaluates tests; like a shell, it expands the operands of all of them."""

    def __init__(self, raw: TracedText, shell: Evaluator) -> None:
        self.raw = raw
        self.shell = shell
        self.flat = raw.flat
        self.at = 0

    def take(self, *tokens: str) -> bool:
        if (match := _TOKEN.match(self.flat, self.at)) is not None and match.group(1) in tokens:
            self.at = match.end()
            return True
        return False

    def at_end(self) -> bool:
        return self.take("")

    def word(self, regex: bool = False) -> TracedText:
        while self.at < len(self.flat) and self.flat[self.at] in " \t\n":
            self.at += 1
        start = self.at
        self.at = _regex_end(self.flat, start) if regex else min(word_end(self.flat, start), len(self.flat))
        if self.at == start:
            raise _NotRead
        return self.raw.cut(start, self.at)

    def either(self) -> Status:
        status = self.both()
        while self.take("||"):
            status = either(status, self.both())
        return status

    def both(self) -> Status:
        status = self.one()
        while self.take("&&"):
            status = _both(status, self.one())
        return status

    def one(self) -> Status:
        if self.take("!"):
            return self.one().negated()
        if self.take("("):
            status = self.either()
            if not self.take(")"):
                raise _NotRead
            return status
        word = self.word()
        start = self.at
        if self.take("<", ">"):
            operator = self.flat[start : self.at].strip()
        elif self.at_end() or self.take("&&", "||", ")"):
            self.at = start
            return self.leaf("-n", word)
        elif _UNARY.fullmatch(word.flat):
            return self.leaf(word.flat, self.word())
        else:
            operator = self.word().flat
        if operator not in _BINARY:
            raise _NotRead
        try:
            right = self.word(regex=operator == "=~")
        except _NotRead:
            self.leaf("-n", word)  # a shell has expanded it by then
            raise
        return self.leaf(operator, word, right)

    def leaf(self, operator: str, word: TracedText, right: TracedText | None = None) -> Status:
        """One test: its operator, its only or left operand, and its right one."""
        shell, left = self.shell, expand.value(word, self.shell)
        value: str | None = None
        if right is None:
            status = _unary(operator, left, shell)
        elif operator in _NUMERIC:
            number = _number(expand.value(right, shell), shell)
            value = None if number.assumed else number.value
            status = _numeric(operator, _number(left, shell), number)
        else:
            parts = shell.pattern(right)
            pattern = parameters.read_pattern([(text.flat, quoted) for text, quoted in parts])
            if pattern is not None and all(text.known and not text.assumed for text, _ in parts):
                value = parameters.literal(pattern)
            status = _compare(operator, left, parts)
        return shell.tested(status, operator, [word] if right is None else [word, right], value)


_BARE = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})", re.ASCII)
"""A variable without quotes: an empty value leaves no word."""


def _regex_end(flat: str, at: int) -> int:
    """Where a regular expression ends: at white space outside of parentheses, or at a parenthesis that closes the test's."""
    depth = 0
    while at < len(flat) and (depth or flat[at] not in " \t\n"):
        depth += (flat[at] == "(") - (flat[at] == ")")
        if depth < 0:
            break
        at = step(flat, at)
    return min(at, len(flat))


def single(words: list[Word], shell: Evaluator) -> Status:
    """`[ words ]` and `test words`, by the number of words as POSIX defines it."""
    texts = [word.text for word in words]
    values = [text.value for text in texts]
    raws = [TracedText.of(word.site.text if word.site is not None else word.shown) for word in words]
    if len(texts) < 2:
        return shell.tested(_unary("-n", texts[0], shell), "-n", raws, None) if texts else Status(False)
    if len(texts) == 2 and values[0] == "-n" and _BARE.fullmatch(raws[1].flat):
        return Status(True)  # an empty value leaves `[ -n ]`, a test of the text "-n"
    if len(texts) == 3 and values[1] in _BINARY:
        operator = values[1] or ""
        value = None if texts[2].assumed else values[2]
        if operator in _NUMERIC:
            return shell.tested(_numeric(operator, texts[0], texts[2]), operator, raws[::2], value)
        return (
            shell.tested(_compare(operator, texts[0], [(texts[2], True)]), operator, raws[::2], value)
            if operator != "=~"
            else _UNSURE
        )
    for operator, join in (("-o", either), ("-a", _both)):
        if operator in values[1:-1] and len(texts) > 2:
            at = values.index(operator, 1)
            return join(single(words[:at], shell), single(words[at + 1 :], shell))
    if values[0] == "!":
        return single(words[1:], shell).negated()
    if values[0] == "(" and values[-1] == ")" and len(texts) > 2:
        return single(words[1:-1], shell)
    operator = values[0] or ""
    if len(texts) != 2 or not _UNARY.fullmatch(operator):
        return _UNSURE
    return shell.tested(_unary(operator, texts[1], shell), operator, raws[1:], None)


def _both(left: Status, right: Status) -> Status:
    """Whether two tests hold."""
    no = right.no if left.certain else left.no if right.certain else ()
    if left.value is False or right.value is False:
        decisive = [side for side in (left, right) if side.value is False]
        return Status(False, False, all(side.assumed for side in decisive), left.yes + right.yes, no)
    known = left.value is not None and right.value is not None
    likely, assumed = left.likely and right.likely, left.assumed or right.assumed
    return Status(True if known else None, likely, assumed, left.yes + right.yes, no)


def either(left: Status, right: Status) -> Status:
    """Whether at least one of two tests holds."""
    return _both(left.negated(), right.negated()).negated()


def _unary(operator: str, text: TracedText, shell: Evaluator) -> Status:
    """A test of one operand. Tests of files (`-f`) are unknown."""
    if operator in ("-z", "-n"):
        rest = text.flat.replace(HOLE, "")
        # part of it is unknown: what is known makes it long enough; a variable that nothing sets is empty
        filled = any(piece.filled for piece in text.pieces)
        empty = (not rest and not filled) if rest or filled or text.known else None
        status = Status(empty, likely=True, assumed=text.assumed and not filled)
        return status if operator == "-z" else status.negated()
    if operator == "-v":
        name = text.value
        given = shell.is_set(name) if name is not None and name.isidentifier() else None
        return _UNSURE if given is None else Status(given)
    return _UNSURE


def _compare(operator: str, left: TracedText, right: list[tuple[TracedText, bool]]) -> Status:
    """A comparison of texts. `right`: the parts of the right side, each with whether it is quoted."""
    assumed = left.assumed or any(text.assumed for text, _ in right)
    known = left.known and all(text.known for text, _ in right)
    # a variable that nothing sets is empty in a run without it
    if operator in ("=", "==", "!=") and any(piece.filled for piece in left.pieces) and not any(text.flat for text, _ in right):
        return Status(operator == "!=")
    one, parts = left.flat.replace(HOLE, ""), [(text.flat.replace(HOLE, ""), quoted) for text, quoted in right]
    if operator in ("=", "==", "!="):
        pattern = parameters.read_pattern(parts)
        if pattern is None or len(one) > _LENGTH_AT_MOST:
            return _UNSURE
        exact = parameters.literal(pattern) if not left.known and all(text.known for text, _ in right) else None
        if exact is not None and _differs(left, exact):
            return Status(operator == "!=")
        if not known and all(text.known for text, _ in right) and parameters.surely_matches(pattern, left.flat):
            return Status(operator != "!=", assumed=assumed)
        holds = parameters.matches(pattern, one) == (operator != "!=")
    elif operator == "=~":
        regex = _regex(parts)
        if regex is None or "\n" in one or _tries(regex.pattern, len(one)) > _TRIES_AT_MOST:
            return _UNSURE
        holds = regex.search(one) is not None
    elif operator in ("<", ">"):
        two = "".join([part for part, _ in parts])
        holds = one < two if operator == "<" else one > two
    else:
        return _UNSURE
    return Status(holds if known else None, holds, assumed)


def _differs(text: TracedText, other: str) -> bool:
    """Whether a text is not another one whatever is unknown in it: by how it begins or ends, or by its length."""
    if not all(piece.expression is None or HOLE in piece.text for piece in text.pieces):
        return False
    parts = text.flat.split(HOLE)
    return not (other.startswith(parts[0]) and other.endswith(parts[-1]) and sum(map(len, parts)) <= len(other))


def _tries(pattern: str, length: int) -> float:
    """How many ways of matching a text of some length against an expression may have to be tried."""
    if re.search(r"\)[*+{]", pattern) and length > _REPEATED_AT_MOST:
        return math.inf
    return float(max(length, 2)) ** min(len(re.findall("[*+?{]", pattern)), 64)


def _regex(parts: list[tuple[str, bool]]) -> re.Pattern[str] | None:
    """An extended regular expression in Python's terms; None where the two differ."""
    text = "".join([re.escape(part) if quoted else part for part, quoted in parts])
    text = re.sub(r"\[:(\w+):\]", lambda match: _CLASSES.get(match.group(1), "[]"), text)
    if _REGEX.fullmatch(text) is None:
        return None
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Python may read otherwise some day: `[a--b]`
            return re.compile(text)
    except re.error:
        return None


def _numeric(operator: str, left: TracedText, right: TracedText) -> Status:
    """A comparison of whole numbers, such as `-eq`."""
    one, two = arithmetic.integer(left.flat.replace(HOLE, "")), arithmetic.integer(right.flat.replace(HOLE, ""))
    if one is None or two is None:
        return _UNSURE
    holds = _NUMERIC[operator](one, two)
    return Status(holds if left.known and right.known else None, holds, left.assumed or right.assumed)
