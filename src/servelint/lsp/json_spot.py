"""What stands at an offset of a JSON text that may not be finished: a key or a value, and of which objects."""

from __future__ import annotations

import re

_WORD = re.compile(r'"(?:\\.|[^"\\])*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_NAME = re.compile(r"[\w./-]*")


class Spot:
    """path:    the keys above, the outermost first; of a value its own key is the last
    is_key:     whether it is a key of an object, or would be one
    start, end: the characters of the key or value, without its quotes; equal where nothing is written yet
    quoted:     whether a quote opens it;  closed: whether one closes it
    colon:      whether a colon follows it
    keys:       the other keys of the same object
    """

    __slots__ = ("closed", "colon", "end", "is_key", "keys", "path", "quoted", "start")

    def __init__(self, path: tuple[str, ...], is_key: bool, start: int, end: int) -> None:
        self.path = path
        self.is_key = is_key
        self.start = start
        self.end = end
        self.quoted = False
        self.closed = False
        self.colon = False
        self.keys: set[str] = set()


class _Level:
    """An object or an array that is open."""

    __slots__ = ("is_object", "key", "keys", "value")

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.key: str | None = None
        self.value = False  # whether a colon was seen, so that a value follows
        self.keys: set[str] = set()


def spot(text: str, at: int) -> Spot | None:
    """What stands at an offset of a text that starts an object; None outside of it, and for an item of an array."""
    levels: list[_Level] = []
    found: Spot | None = None
    own: _Level | None = None
    for match in _WORD.finditer(text):
        word, start, end = match.group(), match.start(), match.end()
        if found is None and start >= at and not (start == at and word[0] not in '"{}[],:'):
            if not levels:
                return None
            found, own = _fresh(levels, at), levels[-1]
        if found is None and levels and _holds(word, start, end, at):
            found, own = _of_word(levels, word, start, end, at), levels[-1]
            if levels[-1].is_object and not levels[-1].value:
                if not found.closed and found.quoted:
                    break
                levels[-1].key = None
                found.colon = text[end:].lstrip()[:1] == ":"
                continue
        if word in "{[":
            levels.append(_Level(word == "{"))
        elif word in "}]":
            if not levels:
                return None
            if levels.pop() is own:
                break
            if not levels and found is None:
                return None
        elif word == ",":
            if levels:
                levels[-1].key, levels[-1].value = None, False
        elif word == ":":
            if levels:
                levels[-1].value = True
        elif levels and levels[-1].is_object and not levels[-1].value:
            levels[-1].key = word.strip('"')
            levels[-1].keys.add(levels[-1].key)
    if found is None:
        if not levels:
            return None
        found, own = _fresh(levels, at), levels[-1]
    if own is None or not own.is_object:
        return None
    found.keys = own.keys
    return found


def _holds(word: str, start: int, end: int, at: int) -> bool:
    if word[0] == '"':
        closed = len(word) > 1 and word.endswith('"')
        return start < at < end or (not closed and at == end)
    return word not in "{}[],:" and start <= at <= end


def _of_word(levels: list[_Level], word: str, start: int, end: int, at: int) -> Spot:
    level = levels[-1]
    quoted = word[0] == '"'
    closed = quoted and len(word) > 1 and word.endswith('"')
    first, last = start + quoted, end - closed
    is_key = level.is_object and not level.value
    if quoted and (not closed or "\n" in word or (is_key and _NAME.fullmatch(word, 1, len(word) - 1) is None)):
        closed = False  # it has swallowed what follows it
        name = _NAME.match(word, at - start)
        last = start + (name.end() if name is not None else at - start)
    found = Spot(_path(levels), is_key, first, last)
    found.quoted, found.closed = quoted, closed
    return found


def _fresh(levels: list[_Level], at: int) -> Spot:
    return Spot(_path(levels), levels[-1].is_object and not levels[-1].value, at, at)


def _path(levels: list[_Level]) -> tuple[str, ...]:
    """The keys above the innermost level, and its own key where a value follows."""
    keys = [level.key for level in levels if level.is_object and level.value and level.key is not None]
    return tuple(keys)
