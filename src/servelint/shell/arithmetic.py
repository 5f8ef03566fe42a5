"""Shell arithmetic over whole numbers: `$(( ISL * 2 ))` as far as its variables are known."""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|\d+)|\$?\{?([A-Za-z_]\w*)\}?|(\*\*|<=|>=|==|!=|&&|\|\||[-+*/%()<>!?:]))", re.ASCII
)
_LEVELS = ("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%")
_LARGEST = 1 << 63


class NotKnown(Exception):
    """The value cannot be told: a variable is unknown, or the expression is more than this module reads."""


def evaluate(expression: str, variable: Callable[[str], str | None]) -> int:
    """The value of an arithmetic expression.

    variable: the text of a variable, None if it is not known. Raises NotKnown.
    """
    tokens: list[str | int] = []
    at = 0
    expression = expression.strip()
    while at < len(expression):
        match = _TOKEN.match(expression, at)
        if match is None:
            raise NotKnown
        number, name, operator = match.groups()
        if number is not None:
            tokens.append(_number(number))
        elif name is not None:
            known = variable(name)
            if known is None or not re.fullmatch(r"\s*-?\d+\s*|", known):
                raise NotKnown
            tokens.append(int(known or "0"))
        else:
            tokens.append(operator)
        at = match.end()
    parser = _Parser(tokens)
    value = parser.ternary()
    if parser.at < len(tokens):
        raise NotKnown
    return value


def _number(text: str) -> int:
    if text[:2].lower() == "0x":
        return int(text, 16)
    if len(text) > 1 and text[0] == "0":
        if re.fullmatch("[0-7]+", text) is None:
            raise NotKnown
        return int(text, 8)
    return int(text[:20])


class _Parser:
    def __init__(self, tokens: list[str | int]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def peek(self) -> str | int | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, *operators: str) -> str | None:
        token = self.peek()
        if isinstance(token, str) and token in operators:
            self.at += 1
            return token
        return None

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
        if self.depth > 100:
            raise NotKnown
        try:
            if self.take("-"):
                return -self.unary()
            if self.take("+"):
                return self.unary()
            if self.take("!"):
                return int(not self.unary())
            if self.take("("):
                value = self.ternary()
                if not self.take(")"):
                    raise NotKnown
                return value
            token = self.peek()
            if not isinstance(token, int):
                raise NotKnown
            self.at += 1
            return token
        finally:
            self.depth -= 1


def _apply(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%"):
        if right == 0:
            raise NotKnown
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    results = {
        "||": int(bool(left or right)),
        "&&": int(bool(left and right)),
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
