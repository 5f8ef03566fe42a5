"""The code blocks of a Markdown text: which lines are code, in which language, without what the page puts in front of them.

Looked through: lists and quotes, tabs and admonitions of MkDocs, directives of MyST, HTML, Jinja and Hugo around the code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from servelint.core.text import EMPTY, TracedText
from servelint.readers.registry import JSON, YAML

_FRONT = re.compile(r"\A(?:---[ \t]*\r?\n.*?^(?:---|\.\.\.)|\+\+\+[ \t]*\r?\n.*?^\+\+\+)[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_MARKER = r"(?:[-*+]|\d{1,9}[.)])[ \t]"
_FENCE = re.compile(rf"(?P<before>(?:[ \t>]|{_MARKER})*)(?P<mark>`{{3,}}|~{{3,}})(?P<info>[^\r\n]*)")
_CLOSE = re.compile(r"(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[ \t]*\r?$")
_QUOTE = re.compile(r"[ \t]*> ?")
_LIST = re.compile(r"(?P<marker>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+)(?=\S)")
_ADMONITION = re.compile(r"(?:===[+!]?[ \t]+[\"']|!!![ \t]|\?\?\?\+?[ \t]|\[\^[^\]\n]+\]:|:[ \t]{3})")
_COMMENTS = (("<!--", "-->"), ("{/*", "*/}"), ("{#", "#}"), ("{% comment %}", "{% endcomment %}"))
_PRE = re.compile(
    r"<(?P<tag>pre|code)(?P<attributes>(?:\s[^>\n]*)?)>(?:[ \t\r\n]*<code(?P<inner>(?:\s[^>\n]*)?)>)?", re.IGNORECASE
)
_PRE_END = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("pre", "code")}
_HTML_LANGUAGE = re.compile(
    r"(?:language-|lang-|highlight-source-|\blang(?:uage)?=[\"']?|\bclass=[\"']?(?=(?:bash|sh|shell|console)\b))(?P<name>[\w-]+)",
    re.IGNORECASE,
)
_HIGHLIGHT = re.compile(
    r"\{(?:%|\{[<%])-?\s*(?:highlight|code(?:block)?)\s+(?:lang(?:uage)?=)?[\"']?(?P<name>[\w-]+)[^\n]*?(?:%|[>%]\})\}"
)
_HIGHLIGHT_END = re.compile(r"\{(?:%|\{[<%])-?\s*(?:/\s*|end)(?:highlight|code(?:block)?)\s*-?(?:%|[>%]\})\}")
_OPTIONS = re.compile(r"\A(?:[ \t]*:[\w-]+:[^\n]*\n)+")
_TEMPLATE_TAG = re.compile(r"^[ \t]*\{%-?[^%\n]*-?%\}[ \t]*\r?\n", re.MULTILINE)
_DIRECTIVE = re.compile(r"\{\s*(?P<dot>\.)?(?P<name>[\w+-]+)[^}]*\}[ \t]*(?P<rest>.*)")
_CODE_DIRECTIVES = frozenset(("code", "code-block", "sourcecode", "parsed-literal", "prompt", "termynal"))
_NAME = re.compile(r"[\w+#.-]+(?!\s*=)(?![\w+#.-])")
_TABS = 4
_DEPTH = 50
_ROOM = 1_000


class Block:
    """A piece of code. language: in lower case, "" if the page does not say; indented: made by indentation alone."""

    __slots__ = ("indented", "language", "text")

    def __init__(self, language: str, text: TracedText, indented: bool = False) -> None:
        self.language = language
        self.text = text
        self.indented = indented


def blocks(text: TracedText) -> Iterator[Block]:
    """The code blocks of a text, in its order."""
    return _Page(text).blocks()


def lines_of(flat: str) -> list[tuple[int, int]]:
    """The start and the end of each line, its line end included."""
    lines: list[tuple[int, int]] = []
    at = 0
    while at < len(flat):
        end = flat.find("\n", at) + 1 or len(flat)
        lines.append((at, end))
        at = end
    return lines


class _Page:
    """One pass over the lines. Lines are ranges of the text's characters, the line's end included."""

    def __init__(self, text: TracedText) -> None:
        self.text = text
        self.flat = text.flat
        self.lines = lines_of(self.flat)
        self.absent: set[str] = set()
        self.room = _ROOM + 4 * len(self.lines)
        """How many more lines may be read again."""
        self.containers: list[int] = []
        """The columns at which the contents of the open list items and admonitions start."""
        self.blank = True

    def blocks(self) -> Iterator[Block]:
        front = _FRONT.match(self.flat)
        at = self.line_after(front.end()) if front is not None else 0
        while at < len(self.lines):
            start, end = self.lines[at]
            line = self.flat[start:end]
            content = line.lstrip(" \t")
            first = content[:1]
            fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
            if fence is not None and not (fence["mark"][0] == "`" and "`" in fence["info"]):
                self.open(line)
                block, at = self.fenced(at, fence)
                yield block
                self.blank = False
                continue
            if not content.strip():
                self.blank = True
                at += 1
                continue
            if self.blank and first not in "><{" and self.column(line) >= self.base(line) + _TABS:
                block, at = self.indented(at, self.base(line) + _TABS)
                yield block
                continue
            skipped = self.comment(at, content) if first in "<{" else None
            if skipped is None and first in "<{":
                found = self.marked_up(start + len(line) - len(content))
                if found is not None:
                    block, at = found
                    yield block
                    continue
            self.open(line)
            self.blank = False
            at = skipped if skipped is not None else at + 1

    def line_after(self, offset: int) -> int:
        """The index of the first line that starts after an offset."""
        return bisect_right(self.lines, offset, key=lambda line: line[0])

    # -- containers

    @staticmethod
    def column(line: str) -> int:
        """The column of the first character that is not white."""
        column = 0
        for char in line:
            if char == "\t":
                column += _TABS - column % _TABS
            elif char == " ":
                column += 1
            else:
                break
        return column

    def base(self, line: str) -> int:
        """The column at which the innermost container of a line has its contents."""
        column = self.column(line)
        return max([inside for inside in self.containers if inside <= column], default=0)

    def open(self, line: str) -> None:
        """Leave the containers that a line is not in, and enter those that it starts."""
        column = self.column(line)
        self.containers = [inside for inside in self.containers if inside <= column]
        content = line.lstrip(" \t")
        if _ADMONITION.match(content):
            self.containers.append(column + _TABS)
            return
        item = _LIST.match(content)
        while item is not None and len(self.containers) < _DEPTH:
            column += len(item["marker"]) + min(len(item["gap"]), _TABS)
            self.containers.append(column)
            content = content[item.end() :]
            item = _LIST.match(content)

    # -- kinds of blocks

    def joined(self, ranges: list[tuple[int, int]]) -> TracedText:
        whole: list[tuple[int, int]] = []
        for start, end in ranges:
            if whole and whole[-1][1] == start:
                whole[-1] = (whole[-1][0], end)
            elif start < end:
                whole.append((start, end))
        return TracedText.join([self.text.cut(start, end) for start, end in whole])

    def fenced(self, at: int, fence: re.Match[str]) -> tuple[Block, int]:
        """The block that a fence opens, and the index of the line after it."""
        before, mark = fence["before"], fence["mark"]
        quotes = before.count(">")
        inside = re.sub(r".*> ?", "", before, flags=re.DOTALL)
        # a list marker before the fence counts as white space
        indent = self.column(re.sub(r"[^ \t]", " ", inside))
        ranges: list[tuple[int, int]] = []
        left: int | None = None  # the first line with less indentation: there the fence's list item ends, if it is never closed
        closed = False
        at += 1
        first = at
        while at < len(self.lines) and not closed:
            start, end = self.lines[at]
            unquoted = self.unquoted(start, end, quotes)
            if unquoted is None:
                break
            line = self.flat[unquoted:end]
            close = _CLOSE.match(line.rstrip("\n"))
            if close is not None and close["mark"][0] == mark[0] and len(close["mark"]) >= len(mark):
                closed = self.column(line) < indent + _TABS
            elif left is None and indent and not quotes and self.column(line) < indent and line.strip():
                left = at
            elif left is not None and mark in line and _FENCE.match(line):
                break  # another opens: this one was forgotten
            if not closed:
                ranges.append((self.dedented(unquoted, end, indent), end))
            at += 1
        if not closed and left is not None and self.room > 0:
            self.room -= at - left
            ranges, at = ranges[: left - first], left
        language, rest = _language(fence["info"])
        return Block(language, self.without_tags(self.joined(ranges), rest)), at

    def unquoted(self, start: int, end: int, quotes: int) -> int | None:
        """The offset after a line's quote marks; None if it has fewer."""
        for _ in range(quotes):
            mark = _QUOTE.match(self.flat, start, end)
            if mark is None:
                return None
            start = mark.end()
        return start

    def dedented(self, start: int, end: int, columns: int) -> int:
        """The offset after a line's white space, of which up to a number of columns is the block's indentation."""
        column = 0
        while start < end and column < columns and self.flat[start] in " \t":
            column += _TABS - column % _TABS if self.flat[start] == "\t" else 1
            start += 1
        return start

    @staticmethod
    def without_tags(text: TracedText, options: bool) -> TracedText:
        """Code without the lines that a site generator reads (`{% raw %}`), or a directive's options."""
        if "{%" not in text.flat and not options:
            return text
        text = text.sub(_OPTIONS, lambda _: EMPTY) if options else text
        return text.sub(_TEMPLATE_TAG, lambda _: EMPTY) if "{%" in text.flat else text

    def indented(self, at: int, columns: int) -> tuple[Block, int]:
        ranges: list[tuple[int, int]] = []
        last = at
        while at < len(self.lines):
            start, end = self.lines[at]
            line = self.flat[start:end]
            if line.strip():
                if self.column(line) < columns:
                    break
                last = at
            ranges.append((self.dedented(start, end, columns), end))
            at += 1
        return Block("", self.joined(ranges[: len(ranges) - (at - 1 - last)]), indented=True), last + 1

    def comment(self, at: int, content: str) -> int | None:
        """The index of the line after a comment that starts a line; None if none does."""
        for opening, closing in _COMMENTS:
            if content.startswith(opening) and closing not in self.absent:
                if (end := self.flat.find(closing, self.lines[at][0])) != -1:
                    return self.line_after(end)
                self.absent.add(closing)
        return None

    def end_of(self, closing: re.Pattern[str], start: int) -> int | None:
        """The offset of a closing tag after an offset; None if there is none."""
        found = closing.search(self.flat, start) if closing.pattern not in self.absent else None
        if found is None:
            self.absent.add(closing.pattern)
            return None
        return found.start()

    def marked_up(self, start: int) -> tuple[Block, int] | None:
        """Code in HTML (`<pre>`, a `<code>` of several lines) or in a site generator's tags."""
        tag = _PRE.match(self.flat, start)
        if tag is not None:
            name = tag["tag"].lower()
            end = self.end_of(_PRE_END[name], tag.end())
            if end is None or (name == "code" and self.flat.find("\n", tag.end(), end) == -1):
                return None
            named = _HTML_LANGUAGE.search((tag["inner"] or "") + " " + tag["attributes"])
            language = named["name"].lower() if named is not None else ""
            return Block(language, plain(self.text.cut(tag.end(), end))), self.line_after(end)
        tag = _HIGHLIGHT.match(self.flat, start)
        if tag is not None:
            end = self.end_of(_HIGHLIGHT_END, tag.end())
            if end is not None:
                return Block(tag["name"].lower(), self.text.cut(tag.end(), end)), self.line_after(end)
        return None


def _language(info: str) -> tuple[str, bool]:
    """The language that a fence names, and whether the block may start with a directive's options.

    Known are `bash`, `bash title="x"`, `{.bash .copy}`, `{code-block} bash`; any other directive holds Markdown.
    """
    info = info.strip()
    if (directive := _DIRECTIVE.match(info)) is not None:
        name = directive["name"].lower()
        if name in _CODE_DIRECTIVES:
            return _language(directive["rest"])[0] if not directive["rest"].startswith("{") else "", True
        return (name, True) if directive["dot"] or name in KINDS else (MARKDOWN, False)
    name_match = _NAME.match(info)
    return name_match.group().lower() if name_match is not None else "", False


_MARKUP = re.compile(r"<br\s*/?>|</?[A-Za-z][^<>\n]{0,300}>|&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});", re.IGNORECASE)
_ENTITIES = {
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "quot": '"',
    "apos": "'",
    "nbsp": " ",
    "hyphen": "-",
    "dash": "-",
    "lbrace": "{",
    "rbrace": "}",
}


def plain(text: TracedText) -> TracedText:
    """What a browser shows of a text in HTML."""

    def shown(match: re.Match[str]) -> TracedText | None:
        made = _shown(match.group())
        return TracedText.of(made, text.span(*match.span())) if made is not None else None

    return text.sub(_MARKUP, shown)


def _shown(markup: str) -> str | None:
    """The text of an entity or a line break, "" for a tag; None for an entity that is not known."""
    if markup[0] == "<":
        return "\n" if markup[:3].lower() == "<br" else ""
    name = markup[1:-1]
    if name[0] != "#":
        return _ENTITIES.get(name)
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else None


SHELL, CONSOLE, PLAIN, OUTPUT, POWERSHELL, MARKDOWN = "shell", "console", "plain", "output", "powershell", "markdown"
PYTHON = "python"
DOCKERFILE, UNIT, MAKEFILE, BATCH, NIX, LAUNCHD = "dockerfile", "unit", "makefile", "batch", "nix", "launchd"

_LANGUAGES = {
    SHELL: "ash bash cli cmdline command commandline dash fish ksh sh shell shellscript zsh",
    CONSOLE: "bash-session console consolesession session sh-session shell-session shellsession terminal zsh-session",
    PLAIN: "code codeblock example none plain plaintext raw text txt",
    OUTPUT: "log logs output stdout",
    POWERSHELL: "posh powershell ps1 pwsh",
    MARKDOWN: "markdown md mdx myst",
    PYTHON: "python python3 py",
    YAML: "compose docker-compose helm k8s kubernetes yaml yml",
    JSON: "json json5 jsonc",
    DOCKERFILE: "containerfile docker dockerfile",
    UNIT: "conf cfg desktop ini quadlet service supervisor systemd unit",
    MAKEFILE: "just justfile make makefile",
    BATCH: "bat batch batchfile cmd dos dosbatch winbatch",
    NIX: "nix nixos",
    LAUNCHD: "launchd plist xml",
}
KINDS = {name: kind for kind, names in _LANGUAGES.items() for name in names.split()}
"""name -> kind; what is not here is a language that servelint does not read."""
