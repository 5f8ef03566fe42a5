"""A Dockerfile's instructions: parser directives, continuations, comments, here-documents, words and variables.

As BuildKit's parser reads them (frontend/dockerfile/parser and frontend/dockerfile/shell).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.core.source import Span
from servelint.core.text import EMPTY, Piece, Text, unknown

Lookup = Callable[[str], "Text | None"]

_KEYWORDS = frozenset((
    "ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER", "ONBUILD", "RUN",
    "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR",
))  # fmt: skip
_WITH_HEREDOC = frozenset(("ADD", "COPY", "RUN"))
_DIRECTIVE = re.compile(r"#[ \t]*([A-Za-z][A-Za-z0-9]*)[ \t]*=[ \t]*(.+?)[ \t]*$")
_COMMENT = re.compile(r"[ \t]*#")
_KEYWORD = re.compile(r"[ \t]*(\S+)[ \t]*")
_TEMPLATE = re.compile(r"[ \t]*(?:\{[{%#]|%%|@@)")
_HEREDOC = re.compile(r"(?<![^\s])\d*<<(-?)[ \t]*(?:\"([\w.-]+)\"|'([\w.-]+)'|([\w.-]+))(?![^\s;&|)>])")
_NAME = re.compile(r"[A-Za-z_]\w*|\d+", re.ASCII)
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*|\d+)", re.ASCII)
_OPERATOR = re.compile(r":?[-+?]")
_DEPTH = 16


class Heredoc:
    """A here-document: its name, its lines, and whether variables in them are expanded (`<<EOF`, not `<<"EOF"`)."""

    __slots__ = ("expands", "name", "text")

    def __init__(self, name: str, text: Text, expands: bool) -> None:
        self.name = name
        self.text = text
        self.expands = expands


class Instruction:
    """One instruction.

    keyword:  in capitals
    text:     what follows it, without continuations and the comments between them
    site:     from the keyword to the end of its last line
    raw:      the text with its here-documents, as the shell of a RUN gets it
    escape:   the escape character of the file: a backslash or a backtick
    cut:      the next line is no instruction: a continuation is missing, and the file cannot be built
    """

    __slots__ = ("cut", "escape", "heredocs", "keyword", "raw", "site", "text")

    def __init__(self, keyword: str, text: Text, site: Span | None, heredocs: list[Heredoc], raw: Text, escape: str) -> None:
        self.cut = False
        self.escape = escape
        self.keyword = keyword
        self.text = text
        self.site = site
        self.heredocs = heredocs
        self.raw = raw


def instructions(text: Text) -> list[Instruction]:
    """The instructions of a Dockerfile. A line that is none is passed over; what stands before it is marked as cut short."""
    return _Lines(text).read()


class _Lines:
    def __init__(self, text: Text) -> None:
        self.text = text
        self.flat = text.flat
        self.at = 0
        self.escape = "\\"

    def line(self) -> tuple[int, int] | None:
        """The next line's start and end, its line end left out."""
        if self.at >= len(self.flat):
            return None
        start = self.at
        end = self.flat.find("\n", start)
        end = len(self.flat) if end == -1 else end
        self.at = end + 1
        return start, end - (self.flat[end - 1 : end] == "\r" and end > start)

    def read(self) -> list[Instruction]:
        self.directives()
        continued = re.compile(rf"(?:[^{re.escape(self.escape)}]|^)({re.escape(self.escape)})[ \t]*$")
        found: list[Instruction] = []
        while (line := self.line()) is not None:
            start, end = line
            if not self.flat[start:end].strip() or _COMMENT.match(self.flat, start, end):
                continue
            if _TEMPLATE.match(self.flat, start, end):
                continue
            parts: list[Text] = []
            last = end
            while (more := continued.search(self.flat[start:end])) is not None:
                parts.append(self.text.cut(start, start + more.start(1)))
                if (following := self.following()) is None:
                    break
                start, end = following
                last = end
            else:
                parts.append(self.text.cut(start, end))
            instruction = self.instruction(Text.join(parts), line[0], last)
            if instruction is not None:
                found.append(instruction)
            elif found:
                found[-1].cut = True
        return found

    def directives(self) -> None:
        while (line := self.line()) is not None:
            match = _DIRECTIVE.match(self.flat[line[0] : line[1]].lstrip())
            if match is None:
                self.at = line[0]
                return
            if match.group(1).lower() == "escape" and match.group(2) in ("\\", "`"):
                self.escape = match.group(2)

    def following(self) -> tuple[int, int] | None:
        """The line that a continuation goes on with: comments and blank lines are passed over."""
        while (line := self.line()) is not None:
            if self.flat[line[0] : line[1]].strip() and not _COMMENT.match(self.flat, *line):
                return line
        return None

    def instruction(self, joined: Text, start: int, end: int) -> Instruction | None:
        match = _KEYWORD.match(joined.flat)
        keyword = match.group(1).upper() if match is not None else ""
        if match is None or keyword not in _KEYWORDS:
            return None
        rest = joined.cut(match.end()).strip()
        start += len(self.flat[start:end]) - len(self.flat[start:end].lstrip())
        site = self.text.extent(start, end)
        heredocs: list[Heredoc] = []
        body = self.at
        if keyword in _WITH_HEREDOC and "<<" in rest.flat:
            heredocs = self.heredocs(rest)
        raw = Text.join((rest, Text.of("\n"), self.text.cut(body, self.at))) if heredocs else rest
        return Instruction(keyword, rest, site, heredocs, raw, self.escape)

    def heredocs(self, rest: Text) -> list[Heredoc]:
        found: list[Heredoc] = []
        for match in _HEREDOC.finditer(rest.flat):
            name = match.group(2) or match.group(3) or match.group(4)
            tabs = "\t*" if match.group(1) else ""
            close = re.compile(rf"^{tabs}{re.escape(name)}\r?$", re.MULTILINE).search(self.flat, self.at)
            if close is None:
                continue
            text = self.text.cut(self.at, close.start())
            if tabs:
                text = _without_tabs(text)
            found.append(Heredoc(name, text, expands=match.group(4) is not None))
            self.at = min(close.end() + 1, len(self.flat))
        return found


def _without_tabs(text: Text) -> Text:
    kept: list[Text] = []
    done = 0
    for match in re.finditer(r"^\t+", text.flat, re.MULTILINE):
        kept.append(text.cut(done, match.start()))
        done = match.end()
    return Text.join([*kept, text.cut(done)])


# -- words


def words(text: Text, escape: str = "\\") -> list[Text]:
    """The words of an instruction, at white space outside of quotes; quotes and variables are left as they are."""
    flat = text.flat
    found: list[Text] = []
    at = 0
    start: int | None = None
    quote = ""
    while at < len(flat):
        char = flat[at]
        if quote:
            at += char == escape and quote == '"'
            quote = "" if char == quote else quote
        elif char.isspace():
            if start is not None:
                found.append(text.cut(start, at))
            start = None
            at += 1
            continue
        elif char in "'\"":
            quote = char
        elif char == escape:
            at += 1
        start = at if start is None else start
        at += 1
    if start is not None:
        found.append(text.cut(start, at))
    return found


def expand(text: Text, lookup: Lookup, escape: str = "\\", depth: int = 0) -> Text:
    """A word's value: quotes and escapes removed, variables replaced. One that the lookup does not know is unknown."""
    flat = text.flat
    parts: list[Text] = []
    at = done = 0
    quoted = False
    while at < len(flat):
        char = flat[at]
        if char == "'" and not quoted:
            close = flat.find("'", at + 1)
            close = len(flat) if close == -1 else close
            parts += [text.cut(done, at), text.cut(at + 1, close)]
            at = done = close + 1
        elif char == '"':
            parts.append(text.cut(done, at))
            quoted = not quoted
            at = done = at + 1
        elif char == escape:
            if quoted and flat[at + 1 : at + 2] not in ('"', "$", escape):
                at += 2
                continue
            parts += [text.cut(done, at), text.cut(at + 1, at + 2)]
            at = done = at + 2
        elif char == "$":
            end, value = _reference(text, at, lookup, escape, depth)
            if end > at:
                parts += [text.cut(done, at), value]
                done = end
            at = max(end, at + 1)
        else:
            at += 1
    return Text.join([*parts, text.cut(done)])


def replace(text: Text, lookup: Lookup) -> Text:
    """The text with the variables that the lookup knows; quotes, escapes and other variables stay as they are written."""
    flat = text.flat
    parts: list[Text] = []
    done = 0
    at = flat.find("$")
    while at != -1:
        end, value = _reference(text, at, lookup, "\\", 0)
        if end > at and value.known and not flat.startswith("\\", at - 1):
            parts += [text.cut(done, at), value]
            done = end
        at = flat.find("$", max(end, at + 1))
    return Text.join([*parts, text.cut(done)])


def _reference(text: Text, at: int, lookup: Lookup, escape: str, depth: int) -> tuple[int, Text]:
    """The end and the value of the reference at an offset; (at, EMPTY) if there is none."""
    flat = text.flat
    plain = _NAME.match(flat, at + 1)
    if plain is not None:
        known = lookup(plain.group())
        return plain.end(), _unknown(text.cut(at, plain.end()), plain.group()) if known is None else known
    braced = _REFERENCE.match(flat, at)
    close = _closing(flat, braced.end()) if braced is not None and depth < _DEPTH else -1
    if braced is None or close == -1:
        return at, EMPTY
    whole, name = text.cut(at, close + 1), braced.group(1)
    known = lookup(name)
    if flat[braced.end()] == "}":
        return close + 1, _unknown(whole, name) if known is None else known
    operator = _OPERATOR.match(flat, braced.end())
    if operator is None:
        return close + 1, _unknown(whole, name)
    operand = text.cut(operator.end(), close)
    given = known is not None and not (operator.group()[0] == ":" and known.value == "")
    if operator.group()[-1] == "+":
        if known is None:
            other = expand(operand, lookup, escape, depth + 1)
            return close + 1, Text((unknown(whole.shown, whole.span(), shown="", perhaps=other),))
        return close + 1, expand(operand, lookup, escape, depth + 1) if given else EMPTY
    if known is not None and given:
        return close + 1, known
    if operator.group()[-1] == "?":
        return close + 1, _unknown(whole, name)
    default = expand(operand, lookup, escape, depth + 1).softened()
    return close + 1, default if default.pieces else Text((Piece("", whole.span(), assumed=True),))


def _unknown(whole: Text, name: str) -> Text:
    return Text((unknown("${" + name + "}", whole.span()),))


def _closing(flat: str, at: int) -> int:
    """The offset of the brace that closes a `${` whose name ends at an offset, or -1."""
    depth = 1
    while at < len(flat):
        if flat[at] == "{" and flat[at - 1] == "$":
            depth += 1
        elif flat[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1
