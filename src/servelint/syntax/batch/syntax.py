"""The commands of a batch file as cmd.exe parses them: lines, `^`, operators, parentheses, `if` and `for`.

Percent variables are filled in later: a reference (`%V%`) is stepped over whole, so that its value cannot change the syntax.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from servelint.core.source import Span
from servelint.core.text import TracedText

REFERENCE = re.compile(
    r"%(?:%(?:(~[fdpnxsatzFDPNXSATZ]*(?:\$[^:%\s]*:)?)?([A-Za-z#@$&*_?]))?"  # `%%`, a loop's `%%~nxF`
    r"|(~[fdpnxsatzFDPNXSATZ]*(?:\$[^:%\s]*:)?[0-9]|[0-9*])"  # an argument
    r"|([^%:\r\n\s][^%:\r\n]*)(?::([^%\r\n]*))?%)"  # a variable, `%V:a=b%`
)
_SPACE = re.compile(r"[ \t,;=]*")
_BLANK = re.compile(r"[ \t]*")
_KEYWORD = re.compile(r"(if|for|rem)(?![^\s(/\\.,;=:+\"])", re.IGNORECASE)
_ELSE = re.compile(r"[ \t]*else(?=[\s(])", re.IGNORECASE)
_FOR = re.compile(r"for\s+(?:/([dlrf])\s*(?:(?:\"[^\"\n]*\"|%[^%\n]*%|[^\s%(\"])+\s+)?)?%%?(\S)\s+in\s*\(", re.IGNORECASE)
_DO = re.compile(r"[)\s]*do(?=[\s(@])", re.IGNORECASE)
_TEST = re.compile(r"(/i|not|defined|exist|errorlevel|cmdextversion)(?=[\s\"])[ \t]*", re.IGNORECASE)
_COMPARISON = re.compile(r"[ \t]*(==|(?:equ|neq|lss|leq|gtr|geq)(?=[\s\"%]))[ \t]*", re.IGNORECASE)
_REDIRECTION = re.compile(r"[0-9]?(?:>>|>|<)(?:[ \t]*&[ \t]*[0-9])?[ \t]*")
_LABEL = re.compile(r":[ \t]*([^\s:&|<>()+,;=]+)")
_LOST = re.compile(r"(?:[ \t]*\r?\n)*[ \t]*(-[^\r\n]*)")
_LINE = re.compile(r"[^\n]*")
_OPERATOR = re.compile(r"[ \t]*(&&|\|\||&|\|)")
_CARET = re.compile(r"\^(?:\r?\n)?")
_ARROW = re.compile(r"(?:>>|>|<)(?:[ \t]*&[ \t]*[0-9])?[ \t]*")
_RUN = re.compile(r"[^%\"^&|<>()\r\n]+")
_RUN_IN_QUOTES = re.compile(r"[^%\"\r\n]+")


@dataclass(slots=True, eq=False)
class Simple:
    """One command.

    Attributes:
        text: The command without carets and redirections.
        lost: Lines after it that look like a part of it but are not.
    """

    text: TracedText
    lost: Span | None


@dataclass(slots=True, eq=False)
class Label:
    """`:name`, a target of `goto` and `call`."""

    name: str


@dataclass(slots=True, eq=False)
class Test:
    """The condition of an `if`. kind: "defined", "exist", "errorlevel", "cmdextversion", "==", "equ", ..."""

    kind: str
    left: TracedText
    right: TracedText
    negated: bool
    fold: bool


@dataclass(slots=True, eq=False)
class If:
    """`if TEST command else command`."""

    test: Test
    then: Node
    otherwise: Node | None


@dataclass(slots=True, eq=False)
class For:
    """`for`.

    Attributes:
        variable: The letter after `%%`.
        switch: "f", "r", "d", "l" or "".
        items: What stands between the parentheses.
        body: The command.
    """

    variable: str
    switch: str
    items: TracedText
    body: Node


@dataclass(slots=True, eq=False)
class Several:
    """Commands one after the other, each with the operator in front of it: "", "&", "&&", "||" or "|"."""

    items: list[tuple[str, Node]]


Node = Simple | Label | If | For | Several


def parse(text: TracedText, *, paired: bool = False, closed: list[Span] | None = None) -> list[Node]:
    """The commands of a text, one a line or block.

    Args:
        text: The text.
        paired: Whether a parenthesis in a command of a block belongs to the one before it in the same command. cmd.exe does not
            pair them: the first that closes one ends the block.
        closed: Takes such parentheses.
    """
    return _Parser(text, paired, closed).file()


class _Parser:
    def __init__(self, text: TracedText, paired: bool = False, closed: list[Span] | None = None) -> None:
        self.paired = paired
        self.closed = closed
        self.text = text
        self.flat = text.flat
        self.at = 0
        self.depth = 0

    def file(self) -> list[Node]:
        found: list[Node] = []
        while self.at < len(self.flat):
            start = self.at
            try:
                node = self.line()
            except RecursionError:
                self.at = len(self.flat)
                break
            if node is not None:
                found.append(node)
            if (self.at < len(self.flat) and self.flat[self.at] in ")\n\r") or self.at == start:
                self.at += 1
        return found

    def line(self) -> Node | None:
        """The commands up to the end of the line, or to the parenthesis that closes the block."""
        items: list[tuple[str, Node]] = []
        operator = ""
        while self.at < len(self.flat):
            if (node := self.command()) is not None:
                items.append((operator, node))
            match = _OPERATOR.match(self.flat, self.at)
            if match is None:
                break
            operator = match.group(1)
            self.at = match.end()
        if not items:
            return None
        return items[0][1] if len(items) == 1 else Several(items)

    def command(self) -> Node | None:
        self.skip(_SPACE)
        while self.flat.startswith("@", self.at):
            self.at += 1
            self.skip(_SPACE)
        if self.flat.startswith("(", self.at):
            return self.block()
        label = _LABEL.match(self.flat, self.at)
        if self.flat.startswith(":", self.at):
            self.skip(_LINE)
            return Label(label.group(1).lower()) if label is not None else None
        keyword = _KEYWORD.match(self.flat, self.at)
        if keyword is None:
            return self.simple()
        word = keyword.group(1).lower()
        if word == "rem":
            self.skip(_LINE)
            return None
        if word == "if":
            self.at = keyword.end()
            return self.condition()
        loop = _FOR.match(self.flat, self.at)
        return self.loop(loop) if loop is not None else self.simple()

    def block(self) -> Node:
        self.at += 1
        self.depth += 1
        items: list[tuple[str, Node]] = []
        while self.at < len(self.flat) and self.flat[self.at] != ")":
            start = self.at
            if (node := self.line()) is not None:
                items.append(("&" if items else "", node))
            if (self.at < len(self.flat) and self.flat[self.at] in "\r\n") or self.at == start:
                self.at += 1
        self.depth -= 1
        self.at += 1
        # redirections of the whole block
        while (redirection := _REDIRECTION.match(self.flat, self.skip(_BLANK))) is not None:
            self.at = redirection.end()
            self.target(redirection)
        return Several(items)

    def condition(self) -> Node:
        negated = fold = False
        kind = ""
        while not kind:
            self.skip(_BLANK)
            word = _TEST.match(self.flat, self.at)
            if word is None:
                break
            self.at = word.end()
            name = word.group(1).lower()
            negated = negated != (name == "not")
            fold = fold or name == "/i"
            kind = name if name not in ("not", "/i") else ""
        left = self.token()
        right = TracedText(())
        if not kind:
            comparison = _COMPARISON.match(self.flat, self.at)
            if comparison is not None:
                self.at = comparison.end()
                right = self.token()
            kind = comparison.group(1).lower() if comparison is not None else "exist"
        test = Test(kind, left, right, negated, fold)
        self.skip(_SPACE)
        if not self.flat.startswith("(", self.at):
            return If(test, self.line() or Several([]), None)
        then = self.block()
        other = _ELSE.match(self.flat, self.at)
        if other is None:
            return If(test, then, None)
        self.at = other.end()
        return If(test, then, self.line() or Several([]))

    def loop(self, match: re.Match[str]) -> Node:
        start = self.at = match.end()
        depth = 0
        while self.at < len(self.flat):
            char = self.flat[self.at]
            if char == '"':
                close = self.flat.find('"', self.at + 1)
                self.at = len(self.flat) if close == -1 else close
            depth += (char == "(") - (char == ")")
            if depth < 0:
                break
            self.at += 1
        items = self.text.cut(start, self.at) if self.at > start else TracedText(())
        do = _DO.match(self.flat, self.at)
        if do is None:
            return Several([])
        self.at = do.end()
        return For(match.group(2), (match.group(1) or "").lower(), items, self.line() or Several([]))

    # -- characters

    def skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.flat, self.at)
        self.at = match.end() if match is not None else self.at
        return self.at

    def token(self) -> TracedText:
        """One operand of a condition, its quotes kept."""
        start = self.at
        quoted = False
        flat = self.flat
        while self.at < len(flat):
            char = flat[self.at]
            reference = REFERENCE.match(flat, self.at) if char == "%" else None
            if reference is not None:
                self.at = reference.end()
                continue
            if char in "\r\n" or (not quoted and (char in " \t" or flat.startswith("==", self.at))):
                break
            quoted = quoted != (char == '"')
            self.at += 2 if char == "^" and not quoted else 1
        self.at = min(self.at, len(flat))
        return self.text.cut(start, self.at) if self.at > start else TracedText(())

    def simple(self) -> Simple:
        """A command up to an operator or the end of its line; a caret there continues it."""
        flat = self.flat
        parts: list[TracedText] = []
        kept = self.at
        quoted = False
        opened = 0
        while self.at < len(flat):
            if (run := (_RUN_IN_QUOTES if quoted else _RUN).match(flat, self.at)) is not None:
                self.at = run.end()
                continue
            char = flat[self.at]
            if char == "\n" or (char == "\r" and flat.startswith("\n", self.at + 1)):
                break
            if char == "%" and (reference := REFERENCE.match(flat, self.at)) is not None:
                self.at = reference.end()
            elif char == '"':
                quoted = not quoted
                self.at += 1
            elif quoted:
                self.at += 1
            elif char == "^":
                parts.append(self.text.cut(kept, self.at))
                end = _CARET.match(flat, self.at)
                kept = end.end() if end is not None else self.at + 1
                # what follows is an ordinary character, at the start of the next line too
                self.at = kept + (flat[kept : kept + 1] not in ("", "\r", "\n"))
            elif char == ")" and self.depth and opened and self.paired:
                opened -= 1
                self.at += 1
            elif char in "&|" or (char == ")" and self.depth):
                site = self.text.span(self.at, self.at + 1)
                if opened and char == ")" and self.closed is not None and site is not None:
                    self.closed.append(site)
                break
            elif char in "<>":
                parts.append(self.text.cut(kept, self.digit(kept)))
                redirection = _ARROW.match(flat, self.at)
                self.at = redirection.end() if redirection is not None else self.at + 1
                if redirection is not None:
                    self.target(redirection)
                kept = self.at
            else:
                opened += char == "("
                self.at += 1
        self.at = min(self.at, len(flat))
        parts.append(self.text.cut(kept, max(self.at, kept)) if self.at > kept else TracedText(()))
        text = TracedText.join(parts).strip()
        ended = flat[self.at : self.at + 1] in ("\r", "\n") and text.flat[:1] != "-"
        return Simple(text, self.lost() if ended else None)

    def digit(self, kept: int) -> int:
        """Where the text in front of a redirection ends: a digit on its own there belongs to it."""
        before = self.flat[kept : self.at]
        alone = before[-1:].isdigit() and (len(before) == 1 or before[-2] in " \t")
        return self.at - 1 if alone else self.at

    def target(self, redirection: re.Match[str]) -> None:
        """Step over the file that a redirection names."""
        if "&" in redirection.group():
            return
        quoted = False
        while self.at < len(self.flat):
            char = self.flat[self.at]
            if char in "\r\n" or (not quoted and (char in " \t&|<>" or (char == ")" and self.depth))):
                return
            quoted = quoted != (char == '"')
            self.at += 1

    def lost(self) -> Span | None:
        """The lines after the current one, if they start with an option: cmd.exe runs them as commands of their own."""
        start = end = -1
        at = self.flat.find("\n", self.at) + 1
        goes_on = False
        while at:
            option = _LOST.match(self.flat, at)
            line = option if option is not None or not goes_on else _LINE.match(self.flat, at)
            if line is None:
                break
            low = line.start(1) if option is not None else line.start()
            start = low if start == -1 else start
            end = low + len(self.flat[low : line.end()].rstrip())
            goes_on = self.flat[low:end].endswith("^")
            at = self.flat.find("\n", line.end()) + 1
        return self.text.span(start, end) if start != -1 else None
