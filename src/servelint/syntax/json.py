"""JSON as positioned nodes, read from a traced text that may have unknown parts.

What is accepted is what Python's json.loads accepts, since that is what the engines call. An unknown part (`${N}`) may stand
for a value, inside a string, or for a member; it makes just that node unknown.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core import bounds
from servelint.core.text import HOLE, TracedText

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?(?![\w.+-])")
_WORDS = {"true": True, "false": False, "null": None, "NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_WORD = re.compile(r"-?[A-Za-z]+")
_CHUNK = re.compile(r'[^"\\\x00-\x1f]+')
_DELIMITED = re.compile(r"[^,\]}\s]*")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

OBJECT, ARRAY, STRING, NUMBER, WORD, UNKNOWN = "object", "array", "string", "number", "word", "unknown"


class JsonNode:
    """One JSON value.

    Attributes:
        kind: OBJECT, ARRAY, STRING, NUMBER, WORD (true, false, null) or UNKNOWN.
        text: The value as the source writes it, with quotes.
        content: A string's characters with their places; otherwise the same as `text`.
        value: The Python value of a scalar; None for collections and unknowns.
        members: An object's members: key to (key node, value node); the last one of a repeated key.
        items: An array's items.
        open: Whether an object or array has an unknown part that may hold more members.
    """

    __slots__ = ("content", "items", "kind", "members", "open", "text", "value")

    def __init__(
        self, kind: str, text: TracedText, value: str | float | bool | None = None, content: TracedText | None = None
    ) -> None:
        self.kind = kind
        self.text = text
        self.value = value
        self.content = text if content is None else content
        self.members: dict[str, tuple[JsonNode, JsonNode]] = {}
        self.items: list[JsonNode] = []
        self.open = False


class JsonFault:
    """Why a text is not JSON, and at which offset of TracedText.flat."""

    __slots__ = ("message", "offset")

    def __init__(self, message: str, offset: int) -> None:
        self.message = message
        self.offset = offset


MORE = "text after the end of the JSON value"
"""The message of a fault behind a value."""


def parse(text: TracedText) -> JsonNode | JsonFault:
    """Parse a JSON text; what is wrong with it is returned, not raised."""
    return _Parser(text).document()


@lru_cache(maxsize=64)
def parsed(text: TracedText) -> JsonNode | JsonFault:
    """Like parse, cached: an option's value is parsed once for all releases that may run."""
    return parse(text)


class _Stop(Exception):
    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.fault = JsonFault(message, offset)


class _TooDeep(Exception):
    pass


class _Parser:
    def __init__(self, text: TracedText) -> None:
        self.source = text
        self.flat = text.flat
        self.at = 0

    def document(self) -> JsonNode | JsonFault:
        try:
            self.space()
            node = self.node(0)
            self.space()
            if self.at < len(self.flat):
                raise _Stop(MORE, self.at)
        except _Stop as stop:
            return stop.fault
        except _TooDeep:
            return JsonNode(UNKNOWN, self.source)  # an engine may well take it
        return node

    def space(self) -> None:
        match = _SPACE.match(self.flat, self.at)
        self.at = match.end() if match else self.at

    def peek(self) -> str:
        return self.flat[self.at : self.at + 1]

    def node(self, depth: int) -> JsonNode:
        if bounds.JSON_DEPTH.passed(depth, self.source):
            raise _TooDeep
        start, char = self.at, self.peek()
        if char == "{":
            return self.object(depth)
        if char == "[":
            return self.array(depth)
        if char == '"':
            return self.string()
        if (run := _DELIMITED.match(self.flat, start)) and HOLE in run.group():
            self.at = run.end()
            return JsonNode(UNKNOWN, self.source.cut(start, self.at))
        if number := _NUMBER.match(self.flat, start):
            self.at = number.end()
            whole = not (number.group(1) or number.group(2))
            # a float of any length parses; an int of thousands of digits is refused by Python itself
            if whole and bounds.JSON_DIGITS.passed(len(number.group()), self.source):
                return JsonNode(UNKNOWN, self.source.cut(start, self.at))
            value = int(number.group()) if whole else float(number.group())
            return JsonNode(NUMBER, self.source.cut(start, self.at), value)
        if (word := _WORD.match(self.flat, start)) and word.group() in _WORDS:
            self.at = word.end()
            return JsonNode(WORD, self.source.cut(start, self.at), _WORDS[word.group()])
        if not char:
            raise _Stop("the JSON ends where a value is expected", start)
        if char == "'":
            raise _Stop("JSON strings are written in double quotes", start)
        raise _Stop("not a JSON value", start)

    def object(self, depth: int) -> JsonNode:
        start = self.at
        node = JsonNode(OBJECT, self.source)
        self.at += 1
        self.space()
        while self.peek() != "}":
            if self.peek() == HOLE:
                self.at += 1
                node.open = True
            else:
                if self.peek() != '"':
                    raise _Stop("a key in double quotes is expected", self.at)
                key = self.string()
                self.space()
                if self.peek() != ":":
                    raise _Stop("a colon is expected after the key", self.at)
                self.at += 1
                self.space()
                value = self.node(depth + 1)
                if isinstance(key.value, str):
                    node.members[key.value] = (key, value)
                else:
                    node.open = True
            self.space()
            if self.peek() == ",":
                comma = self.at
                self.at += 1
                self.space()
                if self.peek() == "}":
                    raise _Stop("a comma with nothing after it", comma)
            elif self.peek() not in ("}", HOLE):
                raise _Stop("a comma or a closing brace is expected", self.at)
        self.at += 1
        node.text = node.content = self.source.cut(start, self.at)
        return node

    def array(self, depth: int) -> JsonNode:
        start = self.at
        node = JsonNode(ARRAY, self.source)
        self.at += 1
        self.space()
        while self.peek() != "]":
            item = self.node(depth + 1)
            node.items.append(item)
            node.open = node.open or item.kind == UNKNOWN
            self.space()
            if self.peek() == ",":
                comma = self.at
                self.at += 1
                self.space()
                if self.peek() == "]":
                    raise _Stop("a comma with nothing after it", comma)
            elif self.peek() != "]":
                raise _Stop("a comma or a closing bracket is expected", self.at)
        self.at += 1
        node.text = node.content = self.source.cut(start, self.at)
        return node

    def string(self) -> JsonNode:
        start = self.at
        self.at += 1
        parts: list[TracedText] = []
        while True:
            if chunk := _CHUNK.match(self.flat, self.at):
                parts.append(self.source.cut(chunk.start(), chunk.end()))
                self.at = chunk.end()
            char = self.peek()
            if char == '"':
                break
            if char == "\\":
                parts.append(self.escape())
            elif not char:
                raise _Stop("the string is not closed", start)
            else:
                raise _Stop("a control character in a string", self.at)
        self.at += 1
        content = TracedText.join(parts)
        return JsonNode(STRING, self.source.cut(start, self.at), content.value, content)

    def escape(self) -> TracedText:
        start = self.at
        letter = self.flat[start + 1 : start + 2]
        if letter == "u":
            code = self.code_unit(start)
            if 0xD800 <= code < 0xDC00 and self.flat.startswith("\\u", self.at):
                end = self.at
                low = self.code_unit(end)
                if 0xDC00 <= low < 0xE000:
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                else:
                    self.at = end
            char = chr(0xFFFD if 0xD800 <= code < 0xE000 else code)
        elif letter in _ESCAPES:
            self.at = start + 2
            char = _ESCAPES[letter]
        else:
            raise _Stop("not an escape that JSON knows", start)
        return TracedText.of(char, self.source.span(start, self.at))

    def code_unit(self, start: int) -> int:
        digits = self.flat[start + 2 : start + 6]
        if len(digits) < 4 or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
            raise _Stop("\\u takes four hexadecimal digits", start)
        self.at = start + 6
        return int(digits, 16)


_STEP = r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|/\*|,'


def without_comments(text: TracedText, *, lenient: bool = False) -> TracedText:
    """The text with blanks for its comments and trailing commas; every other character keeps its place.

    A text without comments is left as it is unless `lenient`: its trailing commas are then an error.
    """
    flat = text.flat
    blanks = _blanks(flat)
    if not lenient and all(flat[start] == "," for start, _ in blanks):
        return text
    parts: list[TracedText] = []
    done = 0
    for start, end in blanks:
        # line ends stay, so that a fault keeps its line
        blank = re.sub(r"[^\r\n]", " ", flat[start:end])
        parts += [text.cut(done, start), TracedText.of(blank, text.span(start, end))]
        done = end
    return TracedText.join([*parts, text.cut(done)])


def _blanks(flat: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    comma: int | None = None
    at = 0
    while True:
        step = re.compile(_STEP).search(flat, at)
        between = flat[at : step.start()] if step is not None else flat[at:]
        if comma is not None and between.strip():
            if between.lstrip()[0] in "]}":
                found.append((comma, comma + 1))
            comma = None
        if step is None:
            return sorted(found)
        at = step.end()
        kind = step.group()[:2]
        if kind == "/*":
            close = flat.find("*/", at)
            at = len(flat) if close == -1 else close + 2
            found.append((step.start(), at))
        elif kind == "//":
            found.append((step.start(), at))
        elif kind[0] == ",":
            comma = step.start()
        else:
            comma = None
