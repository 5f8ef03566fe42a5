"""systemd units: sections and settings, and the words of a command line with quotes, escapes, specifiers and variables.

A unit's command line is not shell: `|`, `>` and `&&` are words. The rules are those of systemd's extract-word.c, and of
replace_env_argv in env-util.c.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from servelint.core.launch import Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, HOLE, Piece, TracedText, unknown
from servelint.syntax import templates

Lookup = Callable[[str], "TracedText | None"]

_WHITE_SPACE = " \t\n\r"
_RUN = re.compile(r"[^\s'\"\\]+")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([abfnrtvs\\\"']))")
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " "}
_SPECIFIER = re.compile(r"%([%aAbBCdDEfgGhHiIjJlLmMnNopPqRsStTuUvVwWyY])")
_VARIABLE = re.compile(r"\$\$|\$\{([^}]*)\}")


def split(text: TracedText, *, escapes: bool = True) -> list[Word]:
    """The words of a value, without quotes. After a quote that is never closed, which systemd refuses, the words are unknown.

    Args:
        text: The value.
        escapes: Whether C escapes are read; otherwise a backslash only protects what follows it.
    """
    found: list[Word] = []
    at = 0
    while (word := _word(text, at, escapes)) is not None:
        found.append(word[0])
        at = word[1]
    return found


def commands(text: TracedText) -> list[list[Word]]:
    """The command lines of an `ExecStart=`; a `;` that stands alone separates them."""
    found: list[list[Word]] = [[]]
    at = 0
    while (word := _word(text, at, True)) is not None:
        raw = text.flat[at : word[1]].strip()
        if raw == ";" and found[-1]:
            found.append([])
        elif raw == "\\;":
            found[-1].append(Word(TracedText.of(";", word[0].text.span()), word[0].site))
        else:
            found[-1].append(word[0])
        at = word[1]
    return [words for words in found if words]


def _word(text: TracedText, at: int, escapes: bool) -> tuple[Word, int] | None:
    """The word after an offset and the offset after it; None at the end."""
    flat = text.flat
    while at < len(flat) and flat[at] in _WHITE_SPACE:
        at += 1
    if at >= len(flat):
        return None
    start = at
    parts: list[TracedText] = []
    quote = ""
    while at < len(flat):
        char = flat[at]
        if char == "\\":
            piece, at = _escaped(text, at, escapes)
            parts.append(piece)
        elif quote:
            if char == quote:
                quote = ""
                at += 1
                continue
            ends = [end for end in (flat.find(quote, at), flat.find("\\", at)) if end != -1]
            end = min(ends) if ends else len(flat)
            parts.append(text.cut(at, end))
            at = end
        elif char in "'\"":
            quote = char
            at += 1
        elif char in _WHITE_SPACE:
            break
        else:
            match = _RUN.match(flat, at)
            end = match.end() if match else at + 1
            parts.append(text.cut(at, end))
            at = end
    if quote:
        whole = text.cut(start)
        return Word(TracedText((unknown(whole.shown, whole.extent()),)), whole.extent(), many=True), len(flat)
    word = parts[0] if len(parts) == 1 else TracedText.join(parts)
    site = word.extent() if len(word) == at - start else text.extent(start, at)
    return Word(word, site, many=word.flat == HOLE == flat[start:at]), at


def _escaped(text: TracedText, at: int, escapes: bool) -> tuple[TracedText, int]:
    """What the backslash at an offset gives, and the offset after it; an unknown escape stays as it is."""
    flat = text.flat
    if not escapes:
        return text.cut(at + 1, at + 2), at + 2
    match = _ESCAPE.match(flat, at)
    if match is None:
        return text.cut(at, at + 2), at + 2
    number = int(next((code for code in match.groups()[:3] if code), "0"), 16) or int(match.group(4) or "0", 8)
    letter = match.group(5)
    byte = match.group(1) or match.group(4)
    if letter is None and (not 0 < number < (0x80 if byte else 0x110000) or 0xD800 <= number < 0xE000):
        whole = text.cut(at, match.end())
        return TracedText((unknown(whole.flat, whole.span()),)), match.end()
    char = _LETTERS.get(letter, letter) if letter is not None else chr(number)
    return TracedText.of(char, text.span(at, match.end())), match.end()


def specified(word: Word) -> Word:
    """The word with its specifiers: `%h` and `%i` are not known, `%%` is a percent sign."""

    def value(match: re.Match[str]) -> TracedText:
        span = word.text.span(*match.span())
        return TracedText((Piece("%", span) if match.group(1) == "%" else unknown(match.group(), span),))

    return Word(word.text.sub(_SPECIFIER, value), word.site, word.many)


def expanded(words: list[Word], lookup: Lookup) -> list[Word]:
    """The words with their variables: `$V` alone is split into words, `${V}` is part of one, `$$` is a dollar sign.

    A variable that the lookup does not know may be set by the service manager.
    """
    found: list[Word] = []
    for word in words:
        flat = word.text.flat
        if "$" not in flat:
            found.append(word)
        elif flat[0] == "$" and flat[1:2] not in ("{", "$", ""):
            found += _alone(word, lookup(flat[1:]))
        else:
            found.append(Word(substituted(word.text, lookup), word.site, word.many))
    return found


def _alone(word: Word, value: TracedText | None) -> list[Word]:
    span = word.text.span()
    if value is None or not value.known:
        name = "${" + word.text.flat[1:] + "}" if value is None else value.shown
        return [Word(TracedText((unknown(name, span),)), word.site, many=True)]
    return [Word(part.text, word.site, part.many) for part in split(_here(value, word), escapes=False)]


def substituted(text: TracedText, lookup: Lookup) -> TracedText:
    """A text with its `${V}` and `$$` replaced."""

    def new(match: re.Match[str]) -> TracedText:
        span = text.span(*match.span())
        if match.group() == "$$":
            return TracedText.of("$", span)
        value = lookup(match.group(1))
        return TracedText((unknown(match.group(), span),)) if value is None else _here(value, Word(text.cut(*match.span())))

    return text.sub(_VARIABLE, new)


def _here(value: TracedText, word: Word) -> TracedText:
    """A variable's value as a word uses it: one from another file stands where it is used, and may be another there."""
    used, origin = word.text.span(), value.span()
    if used is None or (origin is not None and origin.source is used.source):
        return value
    return value.placed(used, assumed=True)


_NAME = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
_KEY = re.compile(r"[^\S\n]*(?:([#;])|([^=\n]*)=)")
_PLAIN = re.compile(r"[^\s'\"\\]+")
_IN_DOUBLE = re.compile(r'[^"\\]+')


def assignments(value: TracedText) -> list[Variable]:
    """The variables of one `Environment=`: `A=b "C=d e"`. Like systemd, it ignores what is not an assignment."""
    found: list[Variable] = []
    for word in split(value):
        word = specified(word)
        if (match := _NAME.match(word.text.flat)) is not None:
            found.append(Variable(match.group(1), word.text.cut(match.end()), word.site))
    return found


def file(source: Source) -> list[Variable]:
    """The variables of an environment file, by the rules of systemd's env-file.c: nothing in it is expanded."""
    found: list[Variable] = []
    text = source.text
    at = 0
    while at < len(text):
        match = _KEY.match(text, at)
        if match is None or match.group(1):
            end = text.find("\n", at)
            at = len(text) if end == -1 else end + 1
            continue
        value, at = _value(source, match.end())
        name = match.group(2).strip()
        if name.isascii() and name.isidentifier():
            found.append(Variable(name, value, value.span() or Span(source, *match.span(2))))
    return found


def _value(source: Source, at: int) -> tuple[TracedText, int]:
    """The value that starts at an offset, and the offset after its line."""
    text = source.text
    parts: list[TracedText] = []
    quotable = True
    blanks = 0
    while at < len(text) and text[at] != "\n":
        char = text[at]
        if char == "\\":
            if text[at + 1 : at + 2] != "\n":
                parts.append(TracedText((Piece(text[at + 1 : at + 2], Span(source, at, min(at + 2, len(text)))),)))
            quotable, blanks = False, 0
            at += 2
        elif char in "'\"" and quotable:
            at = _quoted(source, at, parts)
            blanks = 0
        elif char.isspace():
            if not quotable:
                parts.append(TracedText.at(source, at, at + 1))
                blanks += 1
            at += 1
        else:
            match = _PLAIN.match(text, at)
            end = match.end() if match else at + 1
            parts.append(TracedText.at(source, at, end))
            quotable, blanks = False, 0
            at = end
    value = TracedText.join(parts[: len(parts) - blanks]) if parts else EMPTY
    return value, at + 1


def _quoted(source: Source, at: int, parts: list[TracedText]) -> int:
    """Read a quoted part that opens at an offset; gives the offset after it."""
    text = source.text
    quote = text[at]
    at += 1
    if quote == "'":
        close = text.find("'", at)
        close = len(text) if close == -1 else close
        parts.append(TracedText.at(source, at, close))
        return close + 1
    while at < len(text) and text[at] != '"':
        if text[at] == "\\":
            following = text[at + 1 : at + 2]
            if following and following in '"\\`$':
                parts.append(TracedText.of(following, Span(source, at, at + 2)))
            elif following != "\n":
                parts.append(TracedText.at(source, at, min(at + 2, len(text))))
            at += 2
            continue
        match = _IN_DOUBLE.match(text, at)
        end = match.end() if match else at + 1
        parts.append(TracedText.at(source, at, end))
        at = end
    return at + 1


_WHITE = " \t"
_COMMAND = re.compile(r"ExecStart[ \t]*=")
_HOLE = re.compile(r"\{\{.*?\}\}")
_NAMED = re.compile(r"@[A-Z][A-Z0-9_]*@")
_WORD = re.compile(r"\S+")


def _unsure(text: TracedText, match: re.Match[str]) -> TracedText:
    """A word that may not be there, instead of a match."""
    word = text.cut(*match.span())
    return TracedText((unknown(word.shown, word.span(), perhaps=word),))


@dataclass(slots=True, eq=False)
class Setting:
    """One `Key=value`.

    Attributes:
        key: The key.
        value: The value.
        site: The setting with the lines that continue it.
        cut: The lines after it that look like a part of it but are not.
    """

    key: str
    value: TracedText
    site: Span
    cut: Span | None


@dataclass(slots=True, eq=False)
class Section:
    """The settings under one `[Name]`."""

    name: str
    settings: list[Setting] = field(default_factory=list)


def parse(source: Source, template: bool = False, known: Lookup | None = None) -> list[Section]:
    """The sections of a unit file.

    Args:
        source: The file.
        template: Whether `{{ name }}` is filled in before systemd sees the file.
        known: Gives the values of expressions of the template.
    """
    sections = [Section("")]
    lines = _Lines(source, template, known)
    while lines.at < lines.count:
        start = lines.at
        value = lines.logical()
        flat = value.flat
        if flat[:1] == "[" and flat[-1:] == "]":
            sections.append(Section(flat[1:-1]))
            continue
        key, sign, rest = flat.partition("=")
        if not sign:
            continue
        text = value.cut(len(flat) - len(rest)).strip()
        site = value.extent() or Span(source, source.line_starts[start], source.line_starts[start])
        sections[-1].settings.append(Setting(key.rstrip(), text, site, lines.lost()))
    return sections


class _Lines:
    """The lines of a source, taken one logical line after the other."""

    def __init__(self, source: Source, template: bool, known: Lookup | None) -> None:
        self.source = source
        self.template = template
        self.known = known
        self.starts = source.line_starts
        self.count = len(self.starts)
        self.at = 0
        self.branches = self.outer = 0

    def bounds(self, index: int) -> tuple[int, int]:
        """Where a line's text starts after its indentation, and where it ends."""
        line = self.source.line_text(index + 1)
        high = self.starts[index] + len(line)
        return high - len(line.lstrip(_WHITE)), high

    def logical(self) -> TracedText:
        """The next line with what continues it, without blanks around it; empty for a blank line."""
        text = self.source.text
        parts: list[TracedText] = []
        while self.at < self.count:
            low, high = self.bounds(self.at)
            self.at += 1
            if text[low:high][:1] in ("#", ";") or self.control(low, high):
                if parts:
                    continue
                return EMPTY
            if not parts:
                # a command that one part of the template holds whole is read as it is: each part has its own
                self.outer = self.branches if _COMMAND.match(text, low, high) is not None else 0
            slashes = high - low - len(text[low:high].rstrip("\\"))
            if slashes % 2 == 0:
                parts.append(self.text(low, high))
                break
            parts += [self.text(low, high - 1), TracedText.of(" ", Span(self.source, high - 1, high))]
        return TracedText.join(parts).strip()

    def control(self, low: int, high: int) -> bool:
        """Whether a line belongs to the template (`{% if ... %}`) rather than to the unit."""
        if not self.template or "{" not in self.source.text[low:high]:
            return False
        line = self.source.text[low:high]
        actions = templates.scan(line)
        if not actions or any(action.kind == templates.VALUE for action in actions):
            return False
        between = [line[before.end : action.start] for before, action in pairwise(actions)]
        if "".join([line[: actions[0].start], *between, line[actions[-1].end :]]).strip(" \t\\"):
            return False
        self.count_branches(actions)
        return True

    def count_branches(self, actions: list[templates.Action]) -> None:
        """Note the parts that actions open and close."""
        for action in actions:
            if action.kind == templates.OPEN:
                self.branches += 1
            elif action.kind == templates.CLOSE:
                self.branches = max(self.branches - 1, 0)

    def text(self, low: int, high: int) -> TracedText:
        whole = TracedText.at(self.source, low, high)
        if not self.template:
            return whole.sub(_HOLE, whole.unknown)
        whole = whole.sub(_NAMED, whole.unknown)
        actions = templates.scan(whole.flat)
        inside = self.branches > self.outer
        self.count_branches(actions)
        most = max(self.branches - self.outer - inside, 0)
        opens = [action.start for action in actions if action.kind == templates.OPEN][:most]
        if inside or opens:
            # every word of a line that only some settings of the template give
            start = 0 if inside else opens[0]
            rest = templates.filled(whole.cut(start), self.known, script=True)
            sure = templates.filled(whole.cut(0, start), self.known, script=True)
            return TracedText.join((sure, rest.sub(_WORD, partial(_unsure, rest))))
        return templates.filled(whole, self.known, script=True)

    def lost(self) -> Span | None:
        """The lines from here on that start with an option: systemd ignores them, as the line before them is not continued."""
        text = self.source.text
        start, end = -1, -1
        goes_on = False
        for index in range(self.at, self.count):
            low, high = self.bounds(index)
            line = text[low:high]
            if line[:1] == "-" or (goes_on and line):
                start, end = (low if start == -1 else start), high
            elif start != -1 or line[:1] not in ("", "#", ";"):
                break
            goes_on = start != -1 and line.endswith("\\")
        return Span(self.source, start, end) if start != -1 else None
