"""The words of a command line in a unit: quotes, escapes, specifiers and variables, as systemd takes them.

It is no shell: `|`, `>` and `&&` are words like others. The rules are those of systemd's extract-word.c and of
replace_env_argv in env-util.c.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.launch import Word
from servelint.core.text import HOLE, Piece, Text, unknown

Lookup = Callable[[str], "Text | None"]

_WHITE = " \t\n\r"
_RUN = re.compile(r"[^\s'\"\\]+")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([abfnrtvs\\\"']))")
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " "}
_SPECIFIER = re.compile(r"%([%aAbBCdDEfgGhHiIjJlLmMnNopPqRsStTuUvVwWyY])")
_VARIABLE = re.compile(r"\$\$|\$\{([^}]*)\}")


def split(text: Text, *, escapes: bool = True) -> list[Word]:
    """The words of a value, quotes removed. escapes: C escapes are read; else a backslash just protects what follows it.

    systemd refuses a quote that is never closed: what follows it is not known.
    """
    found: list[Word] = []
    at = 0
    while (word := _word(text, at, escapes)) is not None:
        found.append(word[0])
        at = word[1]
    return found


def commands(text: Text) -> list[list[Word]]:
    """The command lines of an `ExecStart=`, which a `;` that stands alone separates."""
    found: list[list[Word]] = [[]]
    at = 0
    while (word := _word(text, at, True)) is not None:
        raw = text.flat[at : word[1]].strip()
        if raw == ";" and found[-1]:
            found.append([])
        elif raw == "\\;":
            found[-1].append(Word(Text((Piece(";", word[0].text.span()),)), word[0].site))
        else:
            found[-1].append(word[0])
        at = word[1]
    return [words for words in found if words]


def _word(text: Text, at: int, escapes: bool) -> tuple[Word, int] | None:
    """The word after an offset and the offset after it; None at the end."""
    flat = text.flat
    while at < len(flat) and flat[at] in _WHITE:
        at += 1
    if at >= len(flat):
        return None
    start = at
    parts: list[Text] = []
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
        elif char in _WHITE:
            break
        else:
            match = _RUN.match(flat, at)
            end = match.end() if match else at + 1
            parts.append(text.cut(at, end))
            at = end
    if quote:
        whole = text.cut(start)
        return Word(Text((unknown(whole.shown, whole.extent()),)), whole.extent(), many=True), len(flat)
    word = parts[0] if len(parts) == 1 else Text.join(parts)
    site = word.extent() if len(word) == at - start else text.extent(start, at)
    return Word(word, site, many=word.flat == HOLE == flat[start:at]), at


def _escaped(text: Text, at: int, escapes: bool) -> tuple[Text, int]:
    """What the backslash at an offset gives, and the offset after it. One that means nothing stays as it is."""
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
        return Text((unknown(whole.flat, whole.span()),)), match.end()
    char = _LETTERS.get(letter, letter) if letter is not None else chr(number)
    return Text((Piece(char, text.span(at, match.end())),)), match.end()


def specified(word: Word) -> Word:
    """The word with its specifiers (`%h`, `%i`) read: they are not known here, `%%` is a percent sign."""
    flat = word.text.flat
    if "%" not in flat:
        return word
    parts: list[Text] = []
    done = 0
    for match in _SPECIFIER.finditer(flat):
        span = word.text.span(*match.span())
        parts.append(word.text.cut(done, match.start()))
        parts.append(Text((Piece("%", span) if match.group(1) == "%" else unknown(match.group(), span),)))
        done = match.end()
    return Word(Text.join([*parts, word.text.cut(done)]), word.site, word.many)


def expanded(words: list[Word], lookup: Lookup) -> list[Word]:
    """The words with their variables: `$V` alone is split into words, `${V}` stands inside one, `$$` is a dollar sign.

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


def _alone(word: Word, value: Text | None) -> list[Word]:
    span = word.text.span()
    if value is None or not value.known:
        name = "${" + word.text.flat[1:] + "}" if value is None else value.shown
        return [Word(Text((unknown(name, span),)), word.site, many=True)]
    return [Word(part.text, word.site, part.many) for part in split(_here(value, word), escapes=False)]


def substituted(text: Text, lookup: Lookup) -> Text:
    """A text with its `${V}` and `$$` replaced."""
    flat = text.flat
    parts: list[Text] = []
    done = 0
    for match in _VARIABLE.finditer(flat):
        span = text.span(*match.span())
        parts.append(text.cut(done, match.start()))
        done = match.end()
        if match.group() == "$$":
            parts.append(Text((Piece("$", span),)))
            continue
        value = lookup(match.group(1))
        used = Word(text.cut(*match.span()))
        parts.append(_here(value, used) if value is not None else Text((unknown(match.group(), span),)))
    return Text.join([*parts, text.cut(done)])


def _here(value: Text, word: Word) -> Text:
    """A variable's value as a word uses it: one from another file stands where it is used, and may be another there."""
    used, origin = word.text.span(), value.span()
    if used is None or (origin is not None and origin.source is used.source):
        return value
    return value.placed(used, assumed=True)
