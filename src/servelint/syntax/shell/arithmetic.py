"""Shell arithmetic over whole numbers: `$(( ISL * 2 ))` as far as its variables are known."""

from __future__ import annotations

import re
from collections.abc import Callable

Variable = Callable[[str], "str | None"]
Assign = Callable[[str, str], None]

_TOKEN = re.compile(
    r"\s*(?:(\d+#[0-9a-zA-Z@_]+|0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)"
    r"|(<<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%()<>!?:=&|^~,]))",
    re.ASCII,
)
_CHANGED = re.compile(
    r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)", re.ASCII
)
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
_INTEGER = re.compile(r"[ \t\n]*([-+]?[0-9]{1,18})[ \t\n]*")
_DECIMAL = re.compile(r"[ \t\n]*([-+]?(?:0|[1-9][0-9]{0,17}))[ \t\n]*")
_LARGEST = 1 << 63
_NESTED_AT_MOST = 3
_LENGTH_AT_MOST = 1_000
_NESTED_LENGTH_AT_MOST = 40


class NotKnown(Exception):
    """The value is unknown: a variable is, or the expression is more than this module reads."""


def integer(text: str) -> int | None:
    """A whole number written in decimal; None for anything else, and for more digits than a shell's number has."""
    match = _INTEGER.fullmatch(text)
    return int(match.group(1)) if match else None


def decimal(text: str) -> int | None:
    """Like integer, but None for a leading zero, which makes a number octal in an expression."""
    match = _DECIMAL.fullmatch(text)
    return int(match.group(1)) if match else None


def changed(expression: str) -> list[str]:
    """The names that an expression assigns."""
    return [first or second for first, second in _CHANGED.findall(expression)]


def evaluate(expression: str, variable: Variable, assign: Assign | None = None, depth: int = 0) -> int:
    """Evaluate an arithmetic expression.

    Args:
        expression: The expression.
        variable: Gives the text of a variable, itself an expression; None if it is not known.
        assign: Stores what the expression assigns. Without it, and beside `&&`, `||` and `?`, assignments are not read.
        depth: How many variables the expression came through.

    Raises:
        NotKnown: The value is not known.
    """
    if depth > _NESTED_AT_MOST or len(expression) > (_NESTED_LENGTH_AT_MOST if depth else _LENGTH_AT_MOST):
        raise NotKnown
    tokens: list[tuple[str, str]] = []
    at = 0
    expression = expression.strip()
    while at < len(expression):
        match = _TOKEN.match(expression, at)
        if match is None:
            raise NotKnown
        tokens.append((("number", "name", "operator")[(match.lastindex or 1) - 1], match.group(match.lastindex or 1)))
        at = match.end()
    if any(text in ("&&", "||", "?") for _, text in tokens):
        assign = None
    parser = _Parser(tokens, variable, assign, depth)
    value = parser.comma() if tokens else 0
    if parser.at < len(tokens):
        raise NotKnown
    return value


def _number(text: str) -> int:
    base, sign, digits = text.partition("#")
    try:
        if sign:
            if not 2 <= int(base[:3]) <= 36 or len(digits) > 63 or not digits.isalnum():
                raise NotKnown
            value = int(digits, int(base[:3]))
        elif text[:2].lower() == "0x":
            value = int(text[:40], 16)
        else:
            value = int(text[:40], 8 if text[0] == "0" else 10)
    except ValueError:
        raise NotKnown from None
    return _bounded(value)


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]], variable: Variable, assign: Assign | None, depth: int) -> None:
        self.tokens = tokens
        self.variable = variable
        self.assign = assign
        self.at = 0
        self.nesting = depth
        self.depth = 0

    def take(self, *operators: str) -> str | None:
        if self.at < len(self.tokens):
            kind, text = self.tokens[self.at]
            if kind == "operator" and text in operators:
                self.at += 1
                return text
        return None

    def comma(self) -> int:
        value = self.assignment()
        while self.take(","):
            value = self.assignment()
        return value

    def assignment(self) -> int:
        start = self.at
        if self.tokens[start : start + 1] and self.tokens[start][0] == "name":
            name = self.tokens[start][1]
            self.at += 1
            if (operator := self.take(*_ASSIGNMENTS)) is not None:
                value = self.assignment()
                if operator != "=":
                    value = _apply(operator[:-1], self.value(name), value)
                return self.store(name, value)
            self.at = start
        return self.ternary()

    def ternary(self) -> int:
        value = self.binary(0)
        if self.take("?"):
            yes = self.ternary()
            if not self.take(":"):
                raise NotKnown
            no = self.ternary()
            return yes if value else no
        return value

    def binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self.power()
        left = self.binary(level + 1)
        while (operator := self.take(*_LEVELS[level])) is not None:
            left = _apply(operator, left, self.binary(level + 1))
        return left

    def power(self) -> int:
        base = self.unary()
        if self.take("**"):
            exponent = self.power()
            if not 0 <= exponent < 64:
                raise NotKnown
            return _bounded(base**exponent)
        return base

    def unary(self) -> int:
        self.depth += 1
        if self.depth > 50:
            raise NotKnown
        try:
            sign = self.take("-", "+", "!", "~", "++", "--", "(")
            if sign == "(":
                value = self.comma()
                if not self.take(")"):
                    raise NotKnown
                return value
            if sign in ("++", "--"):
                name = self.name()
                return self.store(name, self.value(name) + (1 if sign == "++" else -1))
            if sign is not None:
                value = self.unary()
                return _bounded({"-": -value, "+": value, "!": int(not value), "~": ~value}[sign])
            if self.at < len(self.tokens) and self.tokens[self.at][0] == "number":
                self.at += 1
                return _number(self.tokens[self.at - 1][1])
            name = self.name()
            value = self.value(name)
            if (step := self.take("++", "--")) is not None:
                self.store(name, value + (1 if step == "++" else -1))
            return value
        finally:
            self.depth -= 1

    def name(self) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at][0] != "name":
            raise NotKnown
        self.at += 1
        return self.tokens[self.at - 1][1]

    def value(self, name: str) -> int:
        known = self.variable(name)
        if known is None:
            raise NotKnown
        plain = decimal(known)
        return evaluate(known, self.variable, None, self.nesting + 1) if plain is None else plain

    def store(self, name: str, value: int) -> int:
        if self.assign is None:
            raise NotKnown
        self.assign(name, str(_bounded(value)))
        return value


def _apply(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%"):
        if right == 0:
            raise NotKnown
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in ("<<", ">>"):
        if not 0 <= right < 64:
            raise NotKnown
        return _bounded(left << right if operator == "<<" else left >> right)
    results = {
        "||": int(bool(left or right)),
        "&&": int(bool(left and right)),
        "|": left | right,
        "^": left ^ right,
        "&": left & right,
        "==": int(left == right),
        "!=": int(left != right),
        "<": int(left < right),
        "<=": int(left <= right),
        ">": int(left > right),
        ">=": int(left >= right),
        "+": left + right,
        "-": left - right,
        "*": left * right,
    }
    return _bounded(results[operator])


def _bounded(value: int) -> int:
    if not -_LARGEST <= value < _LARGEST:
        raise NotKnown
    return value
