"""Expanding one shell word: quotes, parameters, substitutions and word splitting, each character with its place.

The word is read from its text rather than from a syntax tree, so that defaults, heredocs and array items all take the same
path. What cannot be known without running something stays unknown. A file name pattern (`*.gguf`) stays as it is written.
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.launch import Word
from servelint.shell import braces, parameters
from servelint.shell.lexer import ansi_end, backquote, matching
from servelint.text import HOLE, Piece, Text, spend, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.shell.parameters import Scope

_PLAIN = re.compile(r"[^\\'\"$`]+")
_PLAIN_IN_QUOTES = re.compile(r"[^\\\"$`]+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]", re.ASCII)
_STARRED = re.compile(r"!?(?:\*|\w+\[\*\])")
_ESCAPED = re.compile(r"\\([`$\\])")
_HOME = re.compile(r"~[\w.+-]*(?=/|$)", re.ASCII)
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c.|([abeEfnrtv\\'\"?])|.)", re.DOTALL
)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_WHITE = " \t\n"


class Fields:
    """Collects the words that one raw word expands to.

    separators: what splits the value of an unquoted expansion (IFS); None if it is not known
    marks:      for each part of the word in progress, whether it is quoted
    nested:     inside a default (`${V:-a b}`), whose plain text is split like a value
    soft:       inside a default that the environment may override
    """

    def __init__(self, split: bool, separators: str | None = _WHITE) -> None:
        self.split = split
        self.delimiter = _delimiter(separators) if separators is not None else None
        self.done: list[tuple[Text, bool]] = []
        self.parts: list[Text] = []
        self.marks: list[bool] = []
        self.quoted = False
        self.nested = False
        self.soft = False

    def add(self, text: Text, quoted: bool = True) -> None:
        """Text that is never split."""
        self.parts.append(text.softened() if self.soft else text)
        self.marks.append(quoted)

    def add_plain(self, text: Text) -> None:
        """Text as the word holds it, without quotes."""
        if self.nested:
            self.add_value(text)
        else:
            self.add(text, quoted=False)

    def add_value(self, text: Text) -> None:
        """The value of an unquoted expansion."""
        if not self.split or not text.flat:
            self.add(text, quoted=False)
            return
        if self.delimiter is None:
            self.add(Text((unknown(text.shown, text.span()),)), quoted=False)
            return
        at = 0
        spend(8 * len(text.flat))
        for match in self.delimiter.finditer(text.flat):
            if match.group(1):
                self.add(text.cut(at, match.start()), quoted=False)
                self.quoted = True
            elif match.start() > at:
                self.add(text.cut(at, match.start()), quoted=False)
            self.end()
            at = match.end()
        if at < len(text.flat):
            self.add(text.cut(at), quoted=False)

    def end(self) -> None:
        if self.quoted or any(part.flat for part in self.parts):
            text = Text.join(self.parts)
            self.done.append((text, not self.quoted and not text.flat.strip(HOLE)))
        elif any(part.assumed for part in self.parts):
            self.done.append((Text.join(self.parts), True))  # a default that is empty: no word, unless it is given
        self.parts, self.marks, self.quoted = [], [], False


@lru_cache(maxsize=32)
def _delimiter(separators: str) -> re.Pattern[str]:
    """What stands between two fields; group 1 is a separator that is no white space, which ends even an empty field."""
    white = "".join([char for char in separators if char in _WHITE])
    hard = re.escape("".join([char for char in separators if char not in _WHITE]))
    spaces = f"[{white}]" if white else "(?!)"
    return re.compile(f"{spaces}*([{hard}]){spaces}*|{spaces}+" if hard else f"(?!)()|{spaces}+")


def words(raw: Text, scope: Scope, *, split: bool = True) -> list[Word]:
    """The words that a raw word stands for; with split=False (an assignment) exactly one."""
    if split and "{" in raw.flat:
        site = raw.extent()
        return [Word(word.text, site, word.many) for part in braces.expand(raw) for word in _words(part, scope, True)]
    return _words(raw, scope, split)


def _words(raw: Text, scope: Scope, split: bool) -> list[Word]:
    flat = raw.flat
    site = raw.extent()
    if "$" not in flat and "`" not in flat and "'" not in flat and '"' not in flat and "\\" not in flat and flat[:1] != "~":
        if not flat and split:
            return []
        # what an outer layer (compose) could not fill in is split here like any unquoted text
        return [Word(raw, site, many=flat == HOLE and split)]
    fields = Fields(split, scope.separators())
    _expand(raw, scope, fields)
    if not split:
        return [Word(Text.join(fields.parts), site)]
    fields.end()
    return [Word(text, site, many) for text, many in fields.done]


def value(raw: Text, scope: Scope) -> Text:
    """The value that an assignment of a raw word would store."""
    return words(raw, scope, split=False)[0].text


def fields_of(text: Text, separators: str | None) -> list[Word]:
    """The words that the value of an unquoted expansion is split into."""
    fields = Fields(True, separators)
    fields.add_value(text)
    fields.end()
    return [Word(part, None, many) for part, many in fields.done]


def pattern(raw: Text, scope: Scope) -> list[tuple[Text, bool]]:
    """The parts of a raw word that is used as a pattern, each with whether it is quoted."""
    fields = Fields(split=False)
    _expand(raw, scope, fields)
    return list(zip(fields.parts, fields.marks, strict=True))


def heredoc(raw: Text, scope: Scope) -> Text:
    """The body of an unquoted heredoc: parameters are expanded, quotes are not special."""
    fields = Fields(split=False)
    _quoted(raw, 0, scope, fields, closing="")
    return Text.join(fields.parts)


def inside_quotes(raw: Text, scope: Scope) -> Text:
    """A default inside double quotes, as in "${V:-word}": single quotes are ordinary, double quotes are removed."""
    fields = Fields(split=False)
    _nested(raw, scope, fields, quoted=True)
    return Text.join(fields.parts)


def _nested(raw: Text, scope: Scope, fields: Fields, quoted: bool) -> None:
    if not quoted:
        _expand(raw, scope, fields)
        return
    at = 0
    while at < len(raw.flat):
        at = _quoted(raw, at, scope, fields, closing='"', escapable='$`\\"}')


def _expand(raw: Text, scope: Scope, fields: Fields) -> None:
    flat = raw.flat
    home = _HOME.match(flat)
    at = 0
    if home:
        at = home.end()
        fields.add(Text((unknown(home.group(), raw.span(0, at)),)))
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
                fields.add(Text((Piece(flat[at + 1 : at + 2] or "\\", raw.span(at, at + 2)),)))
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
            fields.add_plain(raw.cut(at, end))
            at = end


def _quoted(raw: Text, at: int, scope: Scope, fields: Fields, closing: str, escapable: str = "") -> int:
    """Read what stands in double quotes (or in a heredoc, closing=""); gives the offset after the closing quote."""
    flat = raw.flat
    escapable = escapable or "$`\\" + closing
    while at < len(flat):
        char = flat[at]
        if char == closing:
            return at + 1
        if char == "\\":
            following = flat[at + 1 : at + 2]
            if following and following in escapable:
                fields.add(Text((Piece(following, raw.span(at, at + 2)),)))
            elif following != "\n":
                fields.add(raw.cut(at, at + 2))
            at += 2
        elif "}" in escapable and flat.startswith("$'", at):
            at = _ansi(raw, at, fields)
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
        close = backquote(flat, at + 1)
        _put(fields, scope.substitute(_unescaped(raw.cut(at + 1, close)), raw.cut(at, close + 1)), quoted)
        return close + 1
    if flat.startswith("$((", at):
        close = matching(flat, at + 3, ")")
        if flat.startswith("))", close):
            _put(fields, scope.arithmetic(raw.cut(at + 3, close), raw.cut(at, close + 2)), quoted)
            return close + 2
    if flat.startswith("$(", at):
        close = matching(flat, at + 2, ")")
        _put(fields, scope.substitute(raw.cut(at + 2, close), raw.cut(at, close + 1)), quoted)
        return close + 1
    if flat.startswith("${", at):
        close = matching(flat, at + 2, "}", quoted=quoted)
        _parameter(raw, at, at + 2, close, close + 1, scope, fields, quoted)
        return close + 1
    name = _NAME.match(flat, at + 1)
    if name is None:
        fields.add(raw.cut(at, at + 1), quoted)
        return at + 1
    _parameter(raw, at, name.start(), name.end(), name.end(), scope, fields, quoted)
    return name.end()


def _unescaped(raw: Text) -> Text:
    """A command between backquotes without the backslashes that protect it from them."""
    parts: list[Text] = []
    done = 0
    for match in _ESCAPED.finditer(raw.flat):
        parts += [raw.cut(done, match.start()), raw.cut(match.start(1), match.end())]
        done = match.end()
    return Text.join([*parts, raw.cut(done)])


def _parameter(raw: Text, at: int, start: int, stop: int, end: int, scope: Scope, fields: Fields, quoted: bool) -> None:
    """`$name` or `${...}`: start to stop is what stands between the braces."""
    inner = raw.cut(start, stop)
    found = parameters.evaluate(inner, raw.cut(at, end), scope, quoted)
    if isinstance(found, parameters.Operand):
        _operand(found, raw.cut(at, end), scope, fields, quoted)
        return
    if isinstance(found, Text):
        _put(fields, found, quoted)
        return
    joined = _STARRED.match(inner.flat) is not None
    if (quoted and joined) or not fields.split:
        _put(fields, _joined([word.text for word in found], scope.separators() if joined else _WHITE), quoted)
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
            fields.add_value(word.text)
    if quoted and not found and not was_quoted and not any(part.flat for part in fields.parts):
        fields.quoted = False


def _operand(operand: parameters.Operand, whole: Text, scope: Scope, fields: Fields, quoted: bool) -> None:
    """A default or an alternative, expanded in the place of its expansion."""
    before = len(fields.done), len(fields.parts)
    nested, soft = fields.nested, fields.soft
    fields.nested, fields.soft = not quoted, soft or operand.assumed
    _nested(operand.raw, scope, fields, quoted)
    fields.nested, fields.soft = nested, soft
    if operand.assumed and before == (len(fields.done), len(fields.parts)):
        fields.add(Text((Piece("", whole.span(), assumed=True),)), quoted)


def _joined(texts: list[Text], separators: str | None) -> Text:
    between = Text((unknown("$IFS", None),)) if separators is None else Text.of(separators[:1])
    parts: list[Text] = []
    for text in texts:
        parts += [text, between]
    return Text.join(parts[:-1])


def _put(fields: Fields, text: Text, quoted: bool) -> None:
    if quoted:
        fields.add(text)
    else:
        fields.add_value(text)


def _ansi(raw: Text, at: int, fields: Fields) -> int:
    """`$'...'`; gives the offset after it. Escapes for single bytes, control keys and NUL leave the whole unknown."""
    flat = raw.flat
    fields.quoted = True
    end = ansi_end(flat, at + 2)
    whole, close = raw.cut(at, end), end - 1
    parts: list[Text] = []
    done = at + 2
    for match in _ANSI.finditer(flat, done, close):
        parts.append(raw.cut(done, match.start()))
        byte, unit, code, octal, letter = match.groups()
        number = int(byte or unit or code or "0", 16) or int(octal or "0", 8)
        if letter:
            parts.append(Text((Piece(_ANSI_LETTERS.get(letter, letter), raw.span(match.start(), match.end())),)))
        elif flat[match.start() + 1] == "c" or (byte or unit or code or octal):
            if not 0 < number < (0x80 if byte or octal else 0x110000) or 0xD800 <= number < 0xE000:
                fields.add(Text((unknown(whole.shown, whole.span()),)))
                return end
            parts.append(Text((Piece(chr(number), raw.span(match.start(), match.end())),)))
        else:
            parts.append(raw.cut(match.start(), match.end()))
        done = match.end()
    fields.add(Text.join([*parts, raw.cut(done, close)]))
    return end
