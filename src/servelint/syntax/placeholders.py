"""Placeholders: values that a person or a program fills in before a command runs, in the notations of many template languages.

A placeholder is an unknown value. Those that hold blanks, or signs that a shell reads (`<model>`, `{{ port }}`), are taken out
of a command before it is split into words (`in_command`), the others out of single values (`in_value`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.launch import Container, Launch, Variable, Word
from servelint.core.text import HOLE, Piece, TracedText, unknown

ANGLE = (
    r"<(?<![<&\d]<)(?=[^\W\d_]|\d+-\d|\d+_|\d+[ \t]*\|[ \t]*\w|\d+[ \t]*\*[ \t]*[^\W\d_]|/\w|-{1,2}[^\W\d_])"
    r"[^<>\n\"'`$;&]{0,80}?(?<![ \t-])>(?!\()"
)
_CURLY = r"\{\{[^{}\n\"']{1,80}\}\}|(?<![${\w\\])\{\d+(?:\|\d+)+\}|(?<![${\w\\])\{[^\W\d][\w .-]{0,60}\}(?!\})"
_SQUARE = r"(?<!\S)(?<!:[ \t])\[(?:[A-Za-z-][^\[\]\n\"'`$]{0,160}|\d+(?:\|\d+)+|\.\.\.|…)\](?!\S)"
_DOTS = (
    r"(?:(?<!\S)(?:\.{3,}|…)[ \t]*[A-Za-z][\w ,'-]{0,60}?[ \t]*(?:\.{3,}|…)(?=\s|$)"
    r"|(?<!\S)(?:\.{3,}|…)[A-Za-z][\w ,'-]{0,60}?(?=[ \t]*\\?$)"
    r"|(?<![^\s\"'{,(=:\[])(?:\.{3,}|…+)(?![^\s\"'}),\]\\]))"
)
_ESCAPED = r"\{\{-?[ \t]*(?P<quote>[\"'])\{\{[^\n]{0,100}?\}\}(?P=quote)[ \t]*-?\}\}"
"""What one template writes for the next one: `{{ '{{' }} port {{ '}}' }}`, `{{ "{{ port }}" }}`."""
_TAGS = r"<%[=-]?[^%<>\n]{1,80}%>|\{%[^%\n]{1,80}%\}|(?<![\w$\\])[#@%]\{[A-Za-z_][\w.:-]{0,60}\}|%\([A-Za-z_]\w{0,60}\)[sdif]"
_OF_TAGS = ("<%", "{%", "#{", "@{", "%{", "%(")
_HASHES = r"##(?<=[ \t=\"']##)#*[A-Za-z_]\w{0,60}#{2,}"
_IN_PAGE = rf"{ANGLE}|{_CURLY}|{_DOTS}"
_LEFT_OUT = (
    r"(?:(?<=\\\n)|(?<=\\\r\n))[ \t]*#(?:[^\n]*(?:\.{3}|…)|[ \t]+(?i:(?:(?:your|the|any|all)[ \t]+)?"
    r"(?:other|rest|remaining|additional|further|more)\b))[^\r\n]*"
    r"|(?:(?<=\\\n)|(?<=\\\r\n))[ \t]*(?i:other|additional|further|more|any)[ \t][A-Za-z ]{0,60}"
    r"(?i:arguments|args|flags|options|parameters)(?=[ \t]*(?:\\?\r?$|\Z))"
)
"""A comment or words instead of a command's next line, which say that the page does not show more of it."""
_IN_SCRIPT = rf"{_LEFT_OUT}|{_IN_PAGE}|{_SQUARE}|{_TAGS}|(?<=[ \t])(?:etc\.?|\.(?: \.){{2,}}|or[ \t]+-[^\n\\]*)(?=\s|$)"
_IN_COMMAND = (
    (("<",), rf"{ANGLE}|<(?<=[\"'=]<)(?=[ \t]|[^<>]*[ \t]>)[^<>\n\"'`$;&|]{{1,80}}>(?=[\"'])"),
    (("{{",), _ESCAPED),
    (("{{",), r"\$\{\{[^{}\n\"'$]{1,80}\}\}|\{\{[^{}\n\"'$]{1,80}\}\}"),
    (_OF_TAGS, _TAGS),
    (("##",), _HASHES),
    (("[",), r"\[(?<=[ \t]\[)(?<!:[ \t]\[)[A-Za-z][^\[\]\n\"'`$=:]{0,80}\](?=[ \t]*(?:$|\\|[\w-]))"),
)
"""(signs, pattern) of each notation, in the order in which they are tried. A command without any of the signs cannot match.

Each alternative starts with a character and looks behind only then, so that `re` passes over all other characters.
"""
_FENCED = (
    (("__",), r"(?<!\w)(?P<low>__+)[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*(?P=low)(?![\w.])"),
    (("@",), r"(?<![\w@])(?P<at>@{1,2})[A-Za-z]\w*(?P=at)(?![\w@])"),
    (("%",), r"(?<![\w%])(?P<percent>%{1,2})[A-Za-z_]\w*(?P=percent)(?![\w%])"),
    (("«",), r"«[^«»\n]{1,60}»"),
    (("$",), r"\$[A-Za-z_]\w*\$"),
    (("[[",), r"\[\[[A-Za-z][^\[\]\n\"']{0,60}\]\]"),
    (("<<",), r"<<[ \t]?[A-Za-z_][\w. -]{0,60}>>"),
    (("##",), r"#{2,}[A-Za-z_]\w*#{2,}"),
    (("~",), r"(?<!\w)~[A-Za-z_]\w*~(?!\w)"),
    (("${",), r"\$\{[A-Za-z_]\w*(?:\.[A-Za-z_][\w-]*)+\}"),
    (("${{",), r"(?<![\w${])\$\{\{[^{}\n]{1,80}\}\}"),
)
_WORDED = (
    r"(?<![A-Za-z0-9_])(?i:your[-_][a-z0-9][\w-]*|[a-z][a-z0-9_-]*[-_]here|change[-_]?me|replace[-_]?(?:me|this|with)(?:[-_]\w+)*"
    r"|to-?do|tbd|fixme|fill[-_]?me(?:[-_]in)?)(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_])(?:YOUR[A-Z]{2,}|(?:REPLACE|INSERT|PLACEHOLDER)_\w+|(?:[A-Z0-9]+_)*PLACEHOLDER)(?![A-Za-z0-9_])"
)
_CROSSED = r"(?<![A-Za-z0-9_])(?:x{3,}|X{2,}|\d\.X+|[vV]?[XY]\.[XYZ]\.[XYZ])(?![A-Za-z0-9_])"
_IN_JSON = r"(?<=[:\[,])[ ]*(?:\[(?!(?:null|true|false)\])[A-Za-z][\w -]*\]|\{[A-Za-z]\w*\}|_{2,}|\?{2,}|N)(?=[ ]*[,}\]])"
_WHOLE = r"\$\([A-Za-z_]\w*\)|\[[^\W\d][^\[\]\n\"':{}]{0,80}\]|_{2,}|\?{2,}|N|<[^<>\n]{1,80}>"
_WHOLE_BEGINS = ("$(", "[", "_", "?", "<")
_OF_A_TOKENIZER = (
    r"</?(?:think|thinking|reasoning|answer|tool_calls?|function|response|s|pad|unk|mask|[be]os|image|video|audio)>"
)
"""Texts of a tokenizer, which look like placeholders."""
_SEVERAL = r"(?i)^#[ \t]|\.{3}|…|^\[|(?:\b|_)(?:args|arguments|flags|options)\b"
_MARKS = "<{[.…"
_GENERIC = frozenset(("count", "file", "host", "id", "list", "model", "n", "name", "num", "path", "port", "size", "value"))
_WORDS = ("your", "here", "change", "replace", "do", "tbd", "fixme", "fill", "insert", "placeholder")
_IN_VALUE = (
    (("[", "{", "__", "??", "N,", "N ", "N}", "N]"), _IN_JSON),
    *_FENCED,
    (_WORDS, _WORDED),
    (("xx", ".x", ".y", ".z"), _CROSSED),
    (_OF_TAGS, _TAGS),
    (("<",), ANGLE),
    (("{{",), _ESCAPED),
    (("{",), _CURLY),
    (("...", "…"), _DOTS),
)
"""(signs, pattern) of each notation, in the order in which they are tried. A value without any of the signs cannot match."""


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def in_page(text: TracedText, *, script: bool = False) -> TracedText:
    """A text of documentation with an unknown for each placeholder. script: of commands, in which `[options]` is one too."""
    flat = text.flat
    if not script and not any(mark in flat for mark in ("<", "{", "[", "...", "…")):
        return text
    return _without(text, _IN_SCRIPT if script else _IN_PAGE)


def in_command(text: TracedText) -> TracedText:
    """A command or a script with an unknown for each placeholder that it could not be split with."""
    flat = text.flat
    there = "|".join([pattern for signs, pattern in _IN_COMMAND if any(sign in flat for sign in signs)])
    return _without(text, there) if there else text


def in_value(text: TracedText) -> TracedText:
    """A value, a word of an argv or an image with an unknown for each placeholder."""
    flat = text.flat
    start = flat.find("=") + 1 if flat[:1] == "-" else 0
    may_be = flat.startswith(_WHOLE_BEGINS, start) or flat[start:] == "N"
    whole = _compiled(_WHOLE).fullmatch(flat, start) if may_be else None
    if (
        whole is not None
        and _compiled(_OF_A_TOKENIZER).fullmatch(flat, start) is None
        and (flat[start] != "$" or text.written is not None)
    ):  # `$$(A)` is `$(A)` by intent
        return _from(text, start)
    there = _notations(flat)
    return _without(text, there) if there else text


@lru_cache(maxsize=4096)
def _notations(flat: str) -> str:
    """The pattern of the notations that a value may have; "" for none."""
    lower = flat.lower()
    return "|".join([pattern for signs, pattern in _IN_VALUE if any(sign in flat or sign in lower for sign in signs)])


_SUBSTITUTED = r"(?<!\$)\$\{[A-Za-z_]\w*(?::?[-?+=][^{}\n]*)?\}"


def substituted(text: TracedText) -> TracedText:
    """A value whose reader knows no variables with an unknown for each `${NAME}`: a program fills it in before."""
    return _without(text, _SUBSTITUTED) if "${" in text.flat else text


def _from(text: TracedText, start: int) -> TracedText:
    """A text that is unknown from an offset on."""
    rest = text.cut(start)
    return TracedText.join([text.cut(0, start), rest.sub(_compiled(r"(?s).+"), rest.unknown)])


def _without(text: TracedText, pattern: str) -> TracedText:
    def unknown(match: re.Match[str]) -> TracedText | None:
        found = match.group()
        kept = HOLE in found or (found[0] == "<" and _compiled(_OF_A_TOKENIZER).fullmatch(found) is not None)
        if kept or not found[0].isspace():
            return None if kept else text.unknown(match)
        start = match.start() + len(found) - len(found.lstrip())
        written = Piece(HOLE, text.span(start, match.end()), expression=found.lstrip())
        return TracedText.join((text.cut(match.start(), start), TracedText((written,))))

    return text.sub(_compiled(pattern), unknown)


def disguised(flat: str) -> str:
    """A text of the same length whose `<model>` is not a redirection to who splits it."""
    return re.sub(ANGLE, lambda match: f"\u27ea{match.group()[1:-1]}\u27eb", flat) if "<" in flat else flat


def counted(word: Word) -> Word:
    """The word with how many it stands for: `<model>` for one, `...` and `<options>` for any number."""
    expression = _alone(word.text.pieces)
    if expression is None:
        return word
    many = re.search(_SEVERAL, expression) is not None and not (expression[0] in ".…" and word.site != word.text.span())
    return word if many == word.many else Word(word.text, word.site, many)


def filled(word: Word) -> Word:
    """A word with its placeholders unknown."""
    text = in_value(word.text)
    return word if text is word.text else counted(Word(text, word.site, word.many))


def _alone(pieces: tuple[Piece, ...]) -> str | None:
    """The expression of the placeholder that is all of a word."""
    if len(pieces) != 1 or not pieces[0].expression or pieces[0].expression[0] not in _MARKS:
        return None
    return pieces[0].expression


def _of_a_person(word: Word) -> bool:
    """Whether a word is a placeholder that was taken out before the command was split, of those that count themselves."""
    return word.text.flat == HOLE and (word.text.pieces[0].expression or " ")[0] in "<["


_OF_A_POD = r"(?<=[:\[,])[ ]*\$\([A-Za-z_]\w*\)(?=[ ]*[,}\]])"
"""A value of JSON that Kubernetes fills in, if the text becomes the argument of a container."""


_ARGUMENT_OR_NOTHING = re.compile(r"\$\{\d+:?-\}")


def _given_later(word: Word) -> Word:
    """A word with an unknown for an argument of its script that is empty by default: one that uses `"${1:-}"` is given it."""
    pieces = word.text.pieces
    span = pieces[0].span if pieces and not word.text.flat else None
    if span is None or _ARGUMENT_OR_NOTHING.fullmatch(span.text) is None:
        return word
    return Word(TracedText((unknown(span.text, span),)), word.site, word.many)


def fill(launch: Launch) -> None:
    """Make the placeholders in the words, the variables and the image of a launch unknown."""
    if launch.container is None and launch.source.path.endswith((".yaml", ".yml")):
        launch.argv = [
            Word(_without(word.text, _OF_A_POD), word.site, word.many) if "$(" in word.text.flat else word
            for word in launch.argv
        ]
    words = [filled(counted(word) if _of_a_person(word) else word) for word in map(_given_later, launch.argv)]
    if launch.source.is_page:
        words = [_metavariable(words[at - 1] if at else None, word) for at, word in enumerate(words)]
    launch.argv = words
    for name, variable in launch.env.items():
        value = in_value(variable.value) if variable.value is not None else None
        if value is not variable.value:
            launch.env[name] = Variable(name, value, variable.site)
    if (container := launch.container) is not None:
        _fill_container(container)


def _metavariable(before: Word | None, word: Word) -> Word:
    """The word with its value unknown if it names the value of its option, as a usage line does: `--port PORT`."""
    flat = word.text.flat
    option, sign, value = flat.partition("=")
    if not option.startswith("-"):
        option, sign, value = before.text.flat if before is not None else "", "", flat
    parts = set(re.split(r"[-_]", option.lstrip("-")))
    named = set(value.lower().split("_"))
    if not option.startswith("-") or re.fullmatch(r"[A-Z][A-Z0-9_]*", value) is None or not named <= parts | _GENERIC:
        return word
    start = len(option) + len(sign) if sign else 0
    return Word(_from(word.text, start), word.site, word.many)


def _fill_container(container: Container) -> None:
    if container.image is not None:
        container.image = in_value(container.image)
    for name, text in container.settings.items():
        container.settings[name] = in_value(text)
