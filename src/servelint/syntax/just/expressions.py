"""just's expressions: strings, variables, `+`, `/`, `if`, and the few functions whose value can be told."""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.source import Source
from servelint.core.text import EMPTY, Piece, Text, unknown

Lookup = Callable[[str], "Text | None"]

_SPACE = re.compile(r"(?:[ \t]|\\\r?\n)*")
_SPACE_OVER_LINES = re.compile(r"(?:\s|#[^\n]*)*")
_NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_QUOTES = ("'''", '"""', "```", "'", '"', "`")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|(\r?\n)|([nrt\"\\]))")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_COMPARISON = re.compile(r"==|!=|=~")
_DEPTH = 32
_LENGTH_AT_MOST = 100_000


class Wrong(Exception):
    """A text that is no expression."""


class Expression:
    """Reads one expression of a source from an offset on. at: where it ends.

    A variable that the lookup does not know, a command's output and what depends on the machine are unknown.
    """

    def __init__(self, source: Source, at: int, end: int, lookup: Lookup, environment: Lookup) -> None:
        self.source = source
        self.text = source.text
        self.at = at
        self.end = end
        self.lookup = lookup
        self.environment = environment
        self.depth = 0
        self.brackets = 0

    def read(self) -> Text:
        """The expression's value. Raises Wrong."""
        self.depth += 1
        if self.depth > _DEPTH:
            raise Wrong
        start = self.at
        value = self.choice() if self.word("if") else self.joined()
        self.depth -= 1
        self.space()
        if self.text.startswith(("&&", "||"), self.at, self.end):
            self.at += 2
            self.read()
            return self.unsure(start)
        return value if len(value.flat) <= _LENGTH_AT_MOST else self.unsure(start)

    def joined(self) -> Text:
        """`a + b` and `a / b`."""
        parts = [self.value()]
        while True:
            self.space()
            sign = self.text[self.at : self.at + 1] if self.at < self.end else ""
            if sign not in ("+", "/") or not sign:
                return Text.join(parts)
            self.at += 1
            value = self.value()
            parts += [Text.of("/"), value] if sign == "/" else [value]

    def choice(self) -> Text:
        """What follows `if`."""
        start = self.at
        left = self.read()
        comparison = self.match(_COMPARISON)
        right = self.read()
        then = self.block()
        if not self.word("else"):
            raise Wrong
        otherwise = self.choice() if self.word("if") else self.block()
        if comparison == "=~" or not left.known or not right.known:
            return self.unsure(start)
        holds = (left.flat == right.flat) == (comparison == "==")
        taken = then if holds else otherwise
        return taken.softened() if left.assumed or right.assumed else taken

    def block(self) -> Text:
        self.match(re.compile(r"\{"))
        self.brackets += 1
        value = self.read()
        self.match(re.compile(r"\}"))
        self.brackets -= 1
        return value

    def value(self) -> Text:
        self.space()
        start = self.at
        if start >= self.end:
            raise Wrong
        char = self.text[start]
        if char == "(":
            self.at += 1
            self.brackets += 1
            value = self.read()
            self.match(re.compile(r"\)"))
            self.brackets -= 1
            return value
        if char == "/":  # `/ 'a'` is an absolute path
            self.at += 1
            return Text.join((Text.of("/"), self.value()))
        if char in "xf" and self.text[start + 1 : start + 2] in ("'", '"'):
            self.at += 1
            self.string()
            return self.unsure(start)
        if char in "'\"`":
            return self.string()
        name = self.match(_NAME)
        if self.text.startswith("(", self.at, self.end):
            return self.function(name, start)
        known = self.lookup(name)
        return known if known is not None else self.unsure(start)

    def string(self) -> Text:
        start = self.at
        quote = next(quote for quote in _QUOTES if self.text.startswith(quote, start))
        low = start + len(quote)
        close = low
        while True:
            close = self.text.find(quote, close, self.end)
            if close == -1:
                raise Wrong
            slashes = close - low - len(self.text[low:close].rstrip("\\"))
            if quote[0] != '"' or slashes % 2 == 0:
                break
            close += 1
        self.at = close + len(quote)
        if quote[0] == "`" or (len(quote) == 3 and "\n" in self.text[low:close]):
            return self.unsure(start)  # a command's output; a text whose indentation is taken off
        if low == close:
            return EMPTY
        whole = Text.at(self.source, low, close)
        return _unescaped(whole) if quote == '"' else whole

    def function(self, name: str, start: int) -> Text:
        self.at += 1
        self.brackets += 1
        given: list[Text] = []
        self.space()
        while self.at < self.end and self.text[self.at] != ")":
            given.append(self.read())
            self.space()
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self.space()
        self.match(re.compile(r"\)"))
        self.brackets -= 1
        known = self.environment(given[0].value or "") if given else None
        if name in ("env_var", "env_var_or_default", "env") and known is not None:
            return known
        if name in ("env_var_or_default", "env") and len(given) == 2:
            return given[1].softened() if given[1].pieces else Text((Piece("", None, assumed=True),))
        return self.unsure(start)

    def unsure(self, start: int) -> Text:
        whole = Text.at(self.source, start, max(self.at, start + 1))
        return Text((unknown("{{" + whole.flat.strip() + "}}", whole.span()),))

    # -- tokens

    def space(self) -> None:
        space = (_SPACE_OVER_LINES if self.brackets else _SPACE).match(self.text, self.at, self.end)
        self.at = space.end() if space is not None else self.at

    def match(self, pattern: re.Pattern[str]) -> str:
        self.space()
        found = pattern.match(self.text, self.at, self.end)
        if found is None:
            raise Wrong
        self.at = found.end()
        return found.group()

    def word(self, word: str) -> bool:
        """Step over a keyword, if it stands here."""
        self.space()
        name = _NAME.match(self.text, self.at, self.end)
        if name is None or name.group() != word:
            return False
        self.at = name.end()
        return True


def _unescaped(whole: Text) -> Text:
    parts: list[Text] = []
    done = 0
    for match in _ESCAPE.finditer(whole.flat):
        parts.append(whole.cut(done, match.start()))
        done = match.end()
        code, line_end, letter = match.groups()
        if line_end is None:
            number = int(code, 16) if code else 0
            char = _LETTERS[letter] if letter else chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "?"
            parts.append(Text((Piece(char, whole.span(*match.span())),)))
    return Text.join([*parts, whole.cut(done)])
