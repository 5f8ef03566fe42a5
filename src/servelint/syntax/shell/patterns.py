"""Shell patterns: `*`, `?` and `[...]` as `case`, `[[ == ]]` and `${V%pattern}` read them, quoted characters being literal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

Token = str | re.Pattern[str] | None
"""One literal character, a class of characters, or None for `*`."""
Pattern = list[Token]

_ANY = re.compile(r".", re.DOTALL)
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \t", "digit": "0-9", "lower": "a-z", "space": r"\s",
    "upper": "A-Z", "word": "a-zA-Z0-9_", "xdigit": "0-9A-Fa-f", "punct": r"!-/:-@\[-`{-~",
}  # fmt: skip


def read(parts: Iterable[tuple[str, bool]]) -> Pattern | None:
    """The pattern that some text stands for, each part with whether it is quoted; None for what is not read here."""
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
    """The class that stands between two brackets; None if it is not read here."""
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


def prefixes(pattern: Pattern, text: str) -> Iterator[int]:
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
    """The states with those that a `*` which matches nothing leads to."""
    return states | {state + 1 for state in states if state < len(pattern) and pattern[state] is None}


def _literal(pattern: Pattern) -> str | None:
    """The characters of a pattern that matches just these."""
    chars = [token for token in pattern if isinstance(token, str)]
    return "".join(chars) if len(chars) == len(pattern) else None


def matches(pattern: Pattern, text: str) -> bool:
    literal = _literal(pattern)
    if literal is not None:
        return literal == text
    if None not in pattern:
        return len(pattern) == len(text) and any(length == len(text) for length in prefixes(pattern, text))
    return any(length == len(text) for length in prefixes(pattern, text))


def suffixes(pattern: Pattern, text: str) -> Iterator[int]:
    """The lengths of the ends of a text that a pattern matches, in growing order."""
    return prefixes(pattern[::-1], text[::-1])


def replace(pattern: Pattern, text: str, new: str, every: bool) -> str:
    """The text with the longest match at the first place, or at every one, replaced. An empty match replaces nothing."""
    literal = _literal(pattern)
    if literal:
        return text.replace(literal, new, -1 if every else 1)
    done: list[str] = []
    at = 0
    while at < len(text):
        length = max(prefixes(pattern, text[at:]), default=0)
        if length == 0:
            done.append(text[at])
            at += 1
            continue
        done.append(new)
        at += length
        if not every:
            break
    return "".join(done) + text[at:]
