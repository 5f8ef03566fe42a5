"""Expanding one shell word: quotes, parameters, substitutions and word splitting, each character with its place.

The word is read from its text rather than from a syntax tree, so that defaults, heredocs and array items all take the same
path. What cannot be known without running something stays unknown.
"""

from __future__ import annotations

import re

from servelint.launch import Word
from servelint.shell import parameters
from servelint.text import HOLE, Piece, Text, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.shell.parameters import Scope

_PLAIN = re.compile(r"[^\\'\"$`]+")
_PLAIN_IN_QUOTES = re.compile(r"[^\\\"$`]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]", re.ASCII)
_FIELD = re.compile(r"[^ \t\n]+")
_BRACES = re.compile(r"\{([^{}$'\"\s]*,[^{}$'\"\s]*|\d+\.\.\d+)\}")
_ANSI = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|[0-7]{1,3}|.)", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v", "\\": "\\"}
_RANGE_AT_MOST = 64


class Fields:
    """Collects the words that one raw word expands to."""

    def __init__(self, split: bool) -> None:
        self.split = split
        self.done: list[tuple[Text, bool]] = []
        self.parts: list[Text] = []
        self.quoted = False

    def add(self, text: Text) -> None:
        """Text that is never split: quoted, or literal."""
        self.parts.append(text)

    def add_split(self, text: Text) -> None:
        """The value of an unquoted expansion."""
        if not self.split or not text.flat:
            self.parts.append(text)
            return
        flat = text.flat
        at = 0
        for match in _FIELD.finditer(flat):
            if match.start() > at:
                self.end()
            self.parts.append(text.cut(match.start(), match.end()))
            at = match.end()
        if at < len(flat):
            self.end()

    def end(self) -> None:
        if self.quoted or any(part.flat for part in self.parts):
            text = Text.join(self.parts)
            self.done.append((text, not self.quoted and text.flat == HOLE))
        self.parts, self.quoted = [], False


def words(raw: Text, scope: Scope, *, split: bool = True) -> list[Word]:
    """The words that a raw word stands for; with split=False (an assignment) exactly one."""
    flat = raw.flat
    site = raw.extent()
    if "$" not in flat and "`" not in flat and "'" not in flat and '"' not in flat and "\\" not in flat:
        if "{" in flat and split:
            return [Word(text, site) for text in _braces(raw)]
        # what an outer layer (compose) could not fill in is split here like any unquoted text
        return [Word(raw, site, many=flat == HOLE and split)]
    fields = Fields(split)
    _expand(raw, scope, fields)
    if not split:
        return [Word(Text.join(fields.parts), site)]
    fields.end()
    return [Word(text, site, many) for text, many in fields.done]


def value(raw: Text, scope: Scope) -> Text:
    """The value that an assignment of a raw word would store."""
    return words(raw, scope, split=False)[0].text


def heredoc(raw: Text, scope: Scope) -> Text:
    """The body of an unquoted heredoc: parameters are expanded, quotes are not special."""
    fields = Fields(split=False)
    _quoted(raw, 0, scope, fields, closing="")
    return Text.join(fields.parts)


def inside_quotes(raw: Text, scope: Scope) -> Text:
    """A default inside double quotes, as in "${V:-word}": single quotes are ordinary, double quotes are removed."""
    fields = Fields(split=False)
    at = 0
    while at < len(raw.flat):
        at = _quoted(raw, at, scope, fields, closing='"')
    return Text.join(fields.parts)


def _expand(raw: Text, scope: Scope, fields: Fields) -> None:
    flat = raw.flat
    at = 0
    while at < len(flat):
        char = flat[at]
        if char == "'":
            close = flat.find("'", at + 1)
            close = len(flat) if close == -1 else close
            fields.add(raw.cut(at + 1, close))
            fields.quoted = True
            at = close + 1
        elif char == '"':
            fields.quoted = True
            at = _quoted(raw, at + 1, scope, fields, closing='"')
        elif char == "\\":
            if flat[at + 1 : at + 2] != "\n":
                fields.add(Text((Piece(flat[at + 1 : at + 2], raw.span(at, at + 2)),)))
                fields.quoted = True
            at += 2
        elif char == "$" and flat.startswith("$'", at):
            at = _ansi(raw, at, fields)
        elif char == "$" and flat.startswith('$"', at):
            at += 1
        elif char in "$`":
            at = _dollar(raw, at, scope, fields, quoted=False)
        else:
            match = _PLAIN.match(flat, at)
            end = match.end() if match else at + 1
            fields.add(raw.cut(at, end))
            at = end


def _quoted(raw: Text, at: int, scope: Scope, fields: Fields, closing: str) -> int:
    """Read what stands in double quotes (or in a heredoc, closing=""); gives the offset after the closing quote."""
    flat = raw.flat
    while at < len(flat):
        char = flat[at]
        if char == closing:
            return at + 1
        if char == "\\":
            following = flat[at + 1 : at + 2]
            if following in ("$", "`", "\\", closing or "$"):
                fields.add(Text((Piece(following, raw.span(at, at + 2)),)))
            elif following != "\n":
                fields.add(raw.cut(at, at + 2))
            at += 2
        elif char in "$`":
            at = _dollar(raw, at, scope, fields, quoted=True)
        elif char == '"':
            fields.add(raw.cut(at, at + 1))
            at += 1
        else:
            match = _PLAIN_IN_QUOTES.match(flat, at)
            end = match.end() if match else at + 1
            fields.add(raw.cut(at, end))
            at = end
    return at


def _dollar(raw: Text, at: int, scope: Scope, fields: Fields, quoted: bool) -> int:
    """One `$...` or backquoted substitution; gives the offset after it."""
    flat = raw.flat
    if flat[at] == "`":
        close = flat.find("`", at + 1)
        close = len(flat) if close == -1 else close
        _put(fields, scope.substitute(raw.cut(at + 1, close), raw.cut(at, close + 1)), quoted)
        return close + 1
    if flat.startswith("$((", at):
        close = parameters.matching(flat, at + 3, ")")
        if flat.startswith("))", close):
            _put(fields, scope.arithmetic(raw.cut(at + 3, close), raw.cut(at, close + 2)), quoted)
            return close + 2
    if flat.startswith("$(", at):
        close = parameters.matching(flat, at + 2, ")")
        _put(fields, scope.substitute(raw.cut(at + 2, close), raw.cut(at, close + 1)), quoted)
        return close + 1
    if flat.startswith("${", at):
        close = parameters.matching(flat, at + 2, "}", quoted=quoted)
        _parameter(raw, at, at + 2, close, close + 1, scope, fields, quoted)
        return close + 1
    name = _NAME.match(flat, at + 1)
    if name is None:
        fields.add(raw.cut(at, at + 1))
        return at + 1
    _parameter(raw, at, name.start(), name.end(), name.end(), scope, fields, quoted)
    return name.end()


def _parameter(raw: Text, at: int, start: int, stop: int, end: int, scope: Scope, fields: Fields, quoted: bool) -> None:
    """`$name` or `${...}`: start to stop is what stands between the braces."""
    inner = raw.cut(start, stop)
    found = parameters.evaluate(inner, raw.cut(at, end), scope, quoted)
    if isinstance(found, Text):
        _put(fields, found, quoted)
        return
    joined = (quoted and inner.flat[:1] == "*") or inner.flat.endswith("[*]")
    if joined or not fields.split:
        space = Text.of(" ")
        parts: list[Text] = []
        for word in found:
            parts += [word.text, space]
        _put(fields, Text.join(parts[:-1]), quoted)
        return
    was_quoted = fields.quoted and any(part.flat for part in fields.parts)
    for index, word in enumerate(found):
        if index:
            fields.end()
        if quoted and not word.many:
            fields.add(word.text)
            fields.quoted = True
        elif word.many:
            fields.quoted = False
            fields.add(word.text)
        else:
            fields.add_split(word.text)
    if quoted and not found and not was_quoted and not any(part.flat for part in fields.parts):
        fields.quoted = False


def _put(fields: Fields, text: Text, quoted: bool) -> None:
    if quoted:
        fields.add(text)
    else:
        fields.add_split(text)


def _ansi(raw: Text, at: int, fields: Fields) -> int:
    flat = raw.flat
    fields.quoted = True
    at += 2
    while at < len(flat) and flat[at] != "'":
        match = _ANSI.match(flat, at)
        if match is None:
            fields.add(raw.cut(at, at + 1))
            at += 1
            continue
        code = match.group(1)
        if code[0] in "xu" and len(code) > 1:
            char = chr(int(code[1:], 16))
        elif code[0] in "01234567":
            char = chr(int(code, 8))
        else:
            char = _ANSI_LETTERS.get(code, code)
        fields.add(Text((Piece(char, raw.span(at, match.end())),)))
        at = match.end()
    return at + 1


def _braces(raw: Text) -> list[Text]:
    """Brace expansion of a literal word: `{a,b}` and `{1..3}`."""
    match = _BRACES.search(raw.flat)
    if match is None:
        return [raw]
    before, after = raw.cut(0, match.start()), raw.cut(match.end())
    body, start = match.group(1), match.start(1)
    middles: list[Text] = []
    if "," in body:
        for part in body.split(","):
            middles.append(raw.cut(start, start + len(part)))
            start += len(part) + 1
    else:
        low, high = (int(number) for number in body.split(".."))
        if abs(high - low) >= _RANGE_AT_MOST:
            return [Text((unknown(raw.shown, raw.span()),))]
        step = 1 if high >= low else -1
        span = raw.span(match.start(), match.end())
        middles = [Text((Piece(str(number), span),)) for number in range(low, high + step, step)]
    return [text for middle in middles for text in _braces(Text.join((before, middle, after)))]
