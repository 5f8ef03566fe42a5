"""Compound commands of a script that do not end, or end without a beginning: what `bash -n` calls a syntax error.

Only the words that open and close them are followed. What is inside quotes, substitutions, heredocs and `[[ ]]` is skipped.
"""

from __future__ import annotations

import re

from servelint.syntax.shell.lexer import matching, step, word_end

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|((?:\\.|[^\s;&|<>()'\"])+))")
_OPERATOR = re.compile(r";;&|;&|;;|&&|\|\||\|&|[;&|]")
_REDIRECTION = re.compile(r"&>>?|[<>]&|>\||<>|>>|[<>]")
_FUNCTION = re.compile(r"[ \t]*\([ \t]*\)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_TEST_ENDS = re.compile(r"[ \t\n]\]\](?=[\s;&|)]|\Z)")
_CLOSED_BY = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}", "(": ")"}
_NEEDS = {"then": ("if", "test"), "elif": ("if", "body"), "else": ("if", "body"), "fi": ("if", "body"), "esac": ("case", "")}
_LOOPS = ("while", "until", "for", "select")
_DO = re.compile(r"[ \t]+do(?![^\s;])")
_STATEMENT_AT_MOST, _STATEMENTS_AT_MOST = 4_000, 1_024
_known: dict[str, str] = {}
"""The first line of a statement outside of all others that is whole by itself -> all of its lines, as they were last read."""
_PLAIN, _COMMAND, _WORDS, _COMPOUND = "plain", "command", "words", "compound"


class Mismatch:
    """What is wrong with the compound commands of a script.

    Attributes:
        at: The offset of the word that does not fit, or the end of the text.
        word: That word; "" for the end.
        opened: The word that opened what is not closed; "" where none is open.
        opened_at: Its offset.
        whole: The offset up to which a shell runs commands before it finds that.
    """

    __slots__ = ("at", "opened", "opened_at", "whole", "word")

    def __init__(self, at: int, word: str, opened: str, opened_at: int, whole: int) -> None:
        self.at = at
        self.word = word
        self.opened = opened
        self.opened_at = opened_at
        self.whole = whole

    @property
    def closing(self) -> str:
        """The word that closes what is open."""
        return _CLOSED_BY.get(self.opened, "")


class _Open:
    __slots__ = ("at", "kind", "state")

    def __init__(self, kind: str, at: int, state: str) -> None:
        self.kind = kind
        self.at = at
        self.state = state


class _GiveUpError(Exception):
    """The text has something that is not followed."""


def mismatch(flat: str) -> Mismatch | None:
    """The first compound command that does not fit; None without one, and where the text is not followed."""
    try:
        return _Blocks(flat).find()
    except _GiveUpError:
        return None


def _note(flat: str, start: int, end: int) -> None:
    """Keep the lines of a statement: these characters are whole again wherever a command may start."""
    if end - start > _STATEMENT_AT_MOST:
        return
    if len(_known) >= _STATEMENTS_AT_MOST:
        _known.clear()
    _known[flat[start : flat.find("\n", start) + 1]] = flat[start:end]


class _Blocks:
    def __init__(self, flat: str) -> None:
        self.flat = flat
        self.at = 0
        self.open: list[_Open] = []
        self.waiting: list[tuple[str, bool]] = []
        self.where = _COMMAND

    def find(self) -> Mismatch | None:
        flat = self.flat
        start = -1
        while self.at < len(flat):
            if self.where == _COMMAND and not self.open and not self.waiting and flat[self.at - 1 : self.at] in ("", "\n"):
                if start != -1:
                    _note(flat, start, self.at)
                start = self.at
                whole = _known.get(flat[start : flat.find("\n", start) + 1], "")
                if whole and flat.startswith(whole, start):
                    self.at, start = start + len(whole), -1
                    continue
            if (blank := _BLANK.match(flat, self.at)) is not None:
                self.at = blank.end()
                continue
            top = self.open[-1] if self.open else None
            if top is not None and top.kind == "case" and top.state == "pattern" and flat[self.at] not in "\n#":
                self.pattern(top)
                continue
            if (wrong := self.token(flat[self.at])) is not None:
                return wrong
        if self.waiting:
            raise _GiveUpError
        if not self.open:
            return None
        return self.wrong(len(flat), "")

    def token(self, char: str) -> Mismatch | None:
        flat, at = self.flat, self.at
        if char == "\n":
            self.at += 1
            self.heredocs()
            self.where = _COMMAND if self.where != "case" else "case"  # `in` may stand on a line of its own
        elif char == "#":
            end = flat.find("\n", at)
            self.at = len(flat) if end == -1 else end
        elif (operator := _OPERATOR.match(flat, at)) is not None and not flat.startswith("&>", at):
            self.at = operator.end()
            if operator.group() in (";;", ";&", ";;&"):
                if not self.open or self.open[-1].kind != "case":
                    return self.wrong(at, operator.group())
                self.open[-1].state = "pattern"
            self.where = _COMMAND
        elif char == "(":
            self.parenthesis()
        elif char == ")":
            if not self.open or self.open[-1].kind != "(":
                return self.wrong(at, ")")
            self.open.pop()
            self.at += 1
            self.where = _COMPOUND
        elif char in "<>&":
            self.redirection()
        else:
            return self.word()
        return None

    def wrong(self, at: int, word: str) -> Mismatch:
        last = self.open[-1] if self.open else None
        whole = self.open[0].at if self.open else self.flat.rfind("\n", 0, at) + 1
        return Mismatch(at, word, last.kind if last is not None else "", last.at if last is not None else 0, whole)

    def heredocs(self) -> None:
        for delimiter, tabs in self.waiting:
            body = re.compile(rf"^\t*{re.escape(delimiter)}$" if tabs else rf"^{re.escape(delimiter)}$", re.MULTILINE)
            found = body.search(self.flat, self.at)
            if found is None:
                raise _GiveUpError
            self.at = min(found.end() + 1, len(self.flat))
        self.waiting.clear()

    def pattern(self, top: _Open) -> None:
        """A pattern of a `case`, up to its parenthesis; or `esac`."""
        end = word_end(self.flat, self.at)
        if self.flat[self.at : end] == "esac":
            self.open.pop()
            self.at, self.where = end, _COMPOUND
            return
        at = self.at + (self.flat[self.at] == "(")
        while at < len(self.flat) and self.flat[at] != ")":
            if self.flat[at] == "(":
                at = matching(self.flat, at + 1, ")") + 1
            elif self.flat[at] == "\n" or self.flat.startswith(";;", at):
                raise _GiveUpError
            else:
                at = step(self.flat, at)
        if at >= len(self.flat):
            raise _GiveUpError
        self.at = at + 1
        top.state = "body"
        self.where = _COMMAND

    def parenthesis(self) -> None:
        if self.where == _COMMAND and self.flat.startswith("((", self.at):
            end = matching(self.flat, self.at + 1, ")")
            if not self.flat.startswith("))", end - 1):
                raise _GiveUpError  # a subshell in a subshell
            self.at, self.where = end + 1, _COMPOUND
        elif self.where == _COMMAND:
            self.open.append(_Open("(", self.at, ""))
            self.at += 1
        elif self.where == "for" and self.flat.startswith("((", self.at):
            self.at, self.where = matching(self.flat, self.at + 1, ")") + 1, _COMPOUND
        else:
            raise _GiveUpError

    def redirection(self) -> None:
        heredoc = _HEREDOC.match(self.flat, self.at)
        if heredoc is not None and not self.flat.startswith("<<<", self.at):
            plain = heredoc.group(2) if heredoc.group(2) is not None else heredoc.group(3)
            given = plain if plain is not None else re.sub(r"\\(.)", r"\1", heredoc.group(4))
            if any(sign in given for sign in "$`'\""):
                raise _GiveUpError
            self.waiting.append((given, heredoc.group(1) == "-"))
            self.at = heredoc.end()
        elif self.flat.startswith(("<(", ">("), self.at):
            self.at = matching(self.flat, self.at + 2, ")") + 1
        else:
            operator = _REDIRECTION.match(self.flat, self.at + 2 if self.flat.startswith("<<<", self.at) else self.at)
            if operator is None:
                raise _GiveUpError
            blank = _BLANK.match(self.flat, operator.end())
            self.at = blank.end() if blank is not None else operator.end()
            end = word_end(self.flat, self.at)
            if end == self.at:
                raise _GiveUpError
            self.at = end
        self.where = _WORDS if self.where == _COMMAND else self.where

    def word(self) -> Mismatch | None:
        at = self.at
        end = word_end(self.flat, at)
        if end <= at or end > len(self.flat):
            raise _GiveUpError
        word = self.flat[at:end].replace("\\\n", "")
        if word.endswith("=") and self.flat.startswith("(", end) and _ASSIGNMENT.match(word) is not None:
            end = matching(self.flat, end + 1, ")") + 1  # an array
        self.at = end
        top = self.open[-1] if self.open else None
        if self.where == "for":  # the variable of a loop, which `in` or, over the arguments, `do` follows
            self.where = _COMMAND if _DO.match(self.flat, end) is not None else _PLAIN
            return None
        if self.where == "case":
            if top is not None and word == "in" and top.state == "word":
                top.state = "pattern"
                self.where = _COMMAND
            elif top is not None:
                top.state = "word"
            return None
        if self.where == "function":
            named = _FUNCTION.match(self.flat, self.at)
            self.at = named.end() if named is not None else self.at
            self.where = _COMMAND
            return None
        if self.where == "coproc":
            self.where = _COMMAND
            if word not in _CLOSED_BY and word != "[[":
                return None  # its name, or a plain command
        if self.where in (_COMMAND, _COMPOUND):
            return self.reserved(word, at, top)
        return None

    def reserved(self, word: str, at: int, top: _Open | None) -> Mismatch | None:
        """What a word does where a command may start."""
        kind, state = (top.kind, top.state) if top is not None else ("", "")
        if self.where == _COMPOUND and word not in ("then", "do", "fi", "done", "esac", "}", "else", "elif", "{"):
            raise _GiveUpError
        if kind in ("for", "select") and state == "test" and word not in ("do", "{"):
            if word != "in":
                return self.wrong(at, word)
            self.where = _PLAIN  # on a line of its own
            return None
        if word in ("if", "while", "until"):
            self.open.append(_Open(word, at, "test"))
        elif word in ("for", "select"):
            self.open.append(_Open(word, at, "test"))
            self.where = "for"
        elif word == "case":
            self.open.append(_Open(word, at, ""))
            self.where = "case"
        elif word == "{":
            if kind in ("for", "select") and state == "test":
                top.kind, top.state = "{", ""  # type: ignore[union-attr]
            else:
                self.open.append(_Open("{", at, ""))
            self.where = _COMMAND
        elif word == "[[":
            self.test()
        elif word in _NEEDS:
            if kind != _NEEDS[word][0] or (
                word != "esac" and state != _NEEDS[word][1] and not (word == "fi" and state == "else")
            ):
                return self.wrong(at, word)
            self.closed(word, top)
        elif word in ("do", "done"):
            if kind not in _LOOPS or state != ("test" if word == "do" else "body"):
                return self.wrong(at, word)
            self.closed(word, top)
        elif word == "}":
            if kind != "{":
                return self.wrong(at, word)
            self.closed(word, top)
        elif word in ("!", "time"):
            self.where = _COMMAND
        elif word in ("function", "coproc"):
            self.where = word
        elif _FUNCTION.match(self.flat, self.at) is not None and _ASSIGNMENT.match(word) is None:
            self.at = _FUNCTION.match(self.flat, self.at).end()  # type: ignore[union-attr]
            self.where = _COMMAND
        elif _ASSIGNMENT.match(word) is not None:
            self.where = _WORDS
        else:
            self.where = _WORDS
        return None

    def closed(self, word: str, top: _Open | None) -> None:
        """A word that continues what is open, or ends it."""
        if word in ("then", "do", "elif", "else") and top is not None:
            top.state = {"then": "body", "do": "body", "elif": "test", "else": "else"}[word]
            self.where = _COMMAND
        else:
            self.open.pop()
            self.where = _COMPOUND

    def test(self) -> None:
        end = self.at
        while end < len(self.flat):
            if _TEST_ENDS.match(self.flat, end) is not None:
                self.at, self.where = end + 3, _COMPOUND
                return
            end = step(self.flat, end)
        raise _GiveUpError
