"""Commands of PowerShell and fish scripts, statement by statement, without running them.

A variable has its value where its last assignment stands in a block around the use; any other value is unknown. What a command
in parentheses prints is unknown, but for `Join-Path`.
"""

from __future__ import annotations

import re

from servelint.core.launch import Word
from servelint.core.text import EMPTY, HOLE, TracedText, spend, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    Value = TracedText | list[Word]

_GAP = {
    False: re.compile(r"(?:[\s;|,)(]|`\r?\n|<#.*?(?:#>|\Z)|#[^\n]*|&+(?=[\s\"'$.({]))*", re.DOTALL),
    True: re.compile(r"(?:[\s;|&]|\\\r?\n|#[^\n]*)*"),
}
_HERE_STRING = re.compile(r"@(?P<quote>[\"'])[ \t]*\r?\n(?P<text>.*?)(?:(?:(?<=\n)|\r?\n)(?P=quote)@|\Z)", re.DOTALL)
_ASSIGNMENT = re.compile(
    r"(?:\[[^\[\]\n]*(?:\[\][^\[\]\n]*)?\]\s*)*\$(?:(?P<scope>\w+):)?(?P<name>\w+)[ \t]*(?P<sign>(?:\+|\?\?)?=)(?![=])[ \t]*"
)
_GIVEN = re.compile(
    r"if\s*\(\s*(?P<negated>-not\s+|!\s*)?(?:\[string\]::IsNullOr(?:Empty|WhiteSpace)\(\s*(?P<empty>\$(?:env:)?\w+)\s*\)"
    r"|\(?\s*Test-Path\s+(?:-Path\s+)?(?P<path>env:)[\\/]?(?P<of>\w+)\s*\)?"
    r"|\(?\s*(?P<one>\$(?:env:)?\w+)(?:\s+-(?P<how>ne|eq)\s+(?:\$null|\"\"|''))?\s*\)?"
    r"|\$null\s+-(?P<compared>ne|eq)\s+(?P<other>\$(?:env:)?\w+))\s*\)\s*\{\s*",
    re.IGNORECASE,
)
"""The beginning of an `if` that asks whether a variable is given."""
_ELSE = re.compile(r"\s*\}\s*else\s*\{\s*", re.IGNORECASE)
_LITERAL = frozenset("\"'$0123456789")
"""The first characters of values that cannot be commands."""
_CLOSED = re.compile(r"\s*\}")
_PARAMETERS = re.compile(r"param\s*\((?P<inside>)", re.IGNORECASE)
_VARIABLE = {
    False: re.compile(
        r"\$(?:\{(?:(?P<scope>\w+):)?(?P<braced>\w+)\}|(?:(?P<at>env|global|local|script|using):)?(?P<name>\w+)"
        r"(?P<more>(?:\.\w+|\[)[^\s\"'`;|)]*)?)",
        re.IGNORECASE,
    ),
    True: re.compile(r"\$(?P<name>\w+)(?P<more>\[[^\]\s]*\])?"),
}
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}
"""What a backtick makes of a letter in double quotes."""
_REST = re.compile(r"[ \t]*\r?\n")
_SPLAT = re.compile(r"(?<!\S)@(?P<name>\w+)")
_HANDING_ON = re.compile(
    r"(?i)\bfunction[ \t]+(?P<name>[\w-]+)\s*(?P<given>\([^()]{0,200}\)\s*)?\{(?P<body>[^{}]{0,600}?)"
    r"(?:(?m:^)|(?<=[{;]))[ \t]*(?:&[ \t]*)?(?P<command>[^\s@&{}|;=]+(?:[ \t]+[\w.-]+){0,4}[ \t]+)@(?P<rest>\w+)"
)
"""A function that hands its arguments on to a program: `function Invoke-Docker { & docker @args }`."""
_KEYWORDS = frozenset((
    "begin", "break", "catch", "class", "continue", "data", "do", "else", "elseif", "end", "enum", "exit", "filter", "finally",
    "for", "foreach", "function", "if", "in", "process", "return", "switch", "throw", "trap", "try", "until", "using", "while",
))  # fmt: skip
_OPENING = frozenset(("begin", "for", "function", "if", "switch", "while"))
_PREFIXES = frozenset(("and", "builtin", "command", "else", "exec", "if", "not", "or", "time", "while"))
_INLINE = re.compile(r"([A-Za-z_]\w*)=")


class Command:
    """A command, and the variables that the script has exported before it."""

    __slots__ = ("env", "words")

    def __init__(self, words: list[Word], env: dict[str, TracedText]) -> None:
        self.words = words
        self.env = env


def commands(text: TracedText, *, fish: bool) -> list[Command]:
    """The commands of a script in their order."""
    walk = _Walk(text, fish)
    at = 0
    while at < len(text.flat):
        at = max(walk.statement(at), at + 1)
    return walk.found


class _Walk:
    def __init__(self, text: TracedText, fish: bool) -> None:
        self.text, self.flat, self.fish = text, text.flat, fish
        self.escape = "\\" if fish else "`"
        self.found: list[Command] = []
        self.blocks: list[int] = []
        self.values: dict[str, tuple[Value, tuple[int, ...]]] = {}
        self.parameters = -1
        self.handing: dict[str, tuple[int, int]] = {}
        for match in () if fish else _HANDING_ON.finditer(self.flat):
            rest, given = match["rest"].lower(), "".join(f"{match['given'] or ''}{match['body']}".lower().split())
            if rest == "args" or f"${rest})" in given:
                self.handing[match["name"].lower()] = match.span("command")

    def statement(self, at: int) -> int:
        """Read the statement at an offset; gives the offset behind it."""
        flat = self.flat
        here = None if self.fish else _HERE_STRING.match(flat, at)
        if here is not None:
            return here.end()
        if (gap := _GAP[self.fish].match(flat, at)) is not None and gap.end() > at:
            return gap.end()
        if not self.fish:
            if flat[at] in "{}":
                self.blocks = [*self.blocks, at] if flat[at] == "{" else self.blocks[:-1]
                return at + 1
            if flat[at] == "@":
                return at + 1
            if (parameters := _PARAMETERS.match(flat, at)) is not None:
                self.parameters = self.matching(parameters.end() - 1)
                return parameters.end()
            end = self.default(at)
            if end is not None:
                return end
            if (assigned := _ASSIGNMENT.match(flat, at)) is not None:
                return self.assignment(assigned)
            if at < self.parameters:
                return self.end_of_default(at) + 1  # a parameter without a default
        words, end = self.words(at, commas=not self.fish and _START_PROCESS.match(flat, at) is not None)
        if words:
            self.run(words)
        return end

    # -- variables

    def assignment(self, match: re.Match[str]) -> int:
        """Set a variable of PowerShell; gives the offset behind the value, or before a command whose output it is."""
        at, flat = match.end(), self.flat
        name = (match["scope"] or "").lower().replace("script", "").replace("global", "") + ":" + match["name"].lower()
        value: Value | None = None
        here = _HERE_STRING.match(flat, at)
        end = here.end() if here is not None else at
        if (either := self.either(at)) is not None:
            value, end = either
        elif here is not None:
            inside = self.text.cut(*here.span("text"))
            value = inside if here["quote"] == "'" else inside.sub(_VARIABLE[False], self.in_text)
        elif flat.startswith("@(", at):
            end = self.matching(at + 1) + 1
            value = self.items(at + 2, end - 1)
        elif flat[at : at + 1].isdigit() or flat[at : at + 1] in ("'", '"', "$", "("):
            default = match.start() < self.parameters
            words, end = self.words(at, commas=True, end=self.end_of_default(at) if default else None)
            added = len(words) > 1 and words[0].text.flat != HOLE  # more behind a known program may be unknown
            if len(words) % 2 and (added or not words[0].many) and all(one.value == "+" for one in words[1::2]):
                value = TracedText.join([word.text for word in words[::2]])  # "a" + $b
            elif len(words) == 3 and words[1].value == "??" and words[2].text.flat.strip():
                value = self.or_default(flat[at:end].partition("??")[0].strip(), words[2].text)
        elif flat[at : at + 9].lower() == "join-path":
            value = self.path(at, self.words(at)[1])
        before = self.value(name)
        if match["sign"] == "??=":
            value = self.or_default("$" + name.removeprefix(":"), value) if isinstance(value, TracedText) else None
        if match["sign"] == "+=":
            more = value if isinstance(value, list) else [Word(value)] if value is not None else None
            value = [*before, *more] if isinstance(before, list) and more is not None else None
            if value is None or self.values[name][1] != tuple(self.blocks):
                value = [*(before if isinstance(before, list) else ()), self.unsure(match["name"], None)]
                if isinstance(before, list):
                    self.values[name] = value, self.values[name][1]
                    return end
        if isinstance(value, TracedText) and match.start() < self.parameters:
            value = value.as_default()
        self.set(name, value if value is not None else self.unsure(match["name"], None).text)
        return end

    def or_default(self, variable: str, default: TracedText) -> TracedText | None:
        """The value of a variable as `$name` or `$env:name`, or a default where the script gives it none."""
        key = variable[1:].lower() if variable[1:].lower().startswith("env:") else ":" + variable[1:].lower()
        value = self.value(key)
        if isinstance(value, TracedText) and value.known:
            return value if value.flat else default
        return default.as_default() if value is None and key not in self.values and default.known else None

    def default(self, at: int) -> int | None:
        """Set the variable of `if (-not $env:A) { $env:A = "b" }`; gives the offset behind it, None for anything else."""
        given = self.given(at)
        assigned = _ASSIGNMENT.match(self.flat, given[2]) if given is not None and not given[1] else None
        if given is None or assigned is None or assigned["sign"] != "=":
            return None
        words, end = self.words(assigned.end()) if self.flat[assigned.end() : assigned.end() + 1] in _LITERAL else ([], at)
        closed = _CLOSED.match(self.flat, end)
        named = self.flat[given[2] : assigned.start("sign")].strip().lower()
        if len(words) != 1 or closed is None or named != given[0] or re.match(r"\s*else", self.flat[closed.end() :][:40], re.I):
            return None
        value = self.or_default(given[0], words[0].text)
        if value is not None:
            self.set(named[1:] if named.startswith("$env:") else ":" + named[1:], value)
        return closed.end() if value is not None else None

    def given(self, at: int) -> tuple[str, bool, int] | None:
        """The variable that an `if` asks for, whether its block runs where that is given, and the offset inside the block."""
        match = _GIVEN.match(self.flat, at)
        if match is None:
            return None
        variable = f"$env:{match['of']}" if match["path"] else match["empty"] or match["one"] or match["other"]
        empty = bool(match["empty"]) or "eq" in ((match["how"] or "").lower(), (match["compared"] or "").lower())
        return variable.lower(), empty == bool(match["negated"]), match.end()

    def either(self, at: int) -> tuple[TracedText | None, int] | None:
        """The value of `if ($env:A) { $env:A } else { "b" }`, and the offset behind it; None for anything else."""
        opened = re.compile(r"\$?\(\s*").match(self.flat, at)
        given = self.given(opened.end() if opened is not None else at)
        if given is None:
            return None
        variable, first, inside = given
        one, end = self.words(inside)
        between = _ELSE.match(self.flat, end)
        if between is None:
            return None
        other, last = self.words(between.end())
        closed = _CLOSED.match(self.flat, last)
        shown = self.flat[inside:end] if first else self.flat[between.end() : last]
        default = other if first else one
        if closed is None or shown.strip().lower() != variable or len(default) != 1:
            return None
        if self.flat[between.end() if first else inside] not in _LITERAL:
            return None  # what a command prints
        after = closed.end()
        if opened is not None:
            after = self.matching(at + opened.group().index("(")) + 1
        return self.or_default(variable, default[0].text), after

    def end_of_default(self, at: int) -> int:
        """The offset behind the default of a parameter."""
        if self.flat[at] in "\"'":
            return self.close_of(at, self.flat[at]) + 1
        return next((to for to in range(at, len(self.flat)) if self.flat[to] in ",)\r\n"), len(self.flat))

    def set(self, name: str, value: Value) -> None:
        self.values[name] = value, tuple(self.blocks)

    def value(self, name: str) -> Value | None:
        """The value of a variable; None if it has none that is sure."""
        value, blocks = self.values.get(name, (None, ()))
        return value if blocks == tuple(self.blocks[: len(blocks)]) else None

    def unsure(self, name: str, match: re.Match[str] | None) -> Word:
        span = self.text.span(*match.span()) if match is not None else None
        return Word(TracedText((unknown("${" + name + "}", span),)), span, many=True)

    def environment(self) -> dict[str, TracedText]:
        """The exported variables; one that is set in another block is unknown."""
        found: dict[str, TracedText] = {}
        for key in self.values:
            if not key.startswith("env:"):
                continue
            value, name = self.value(key), key[4:] if self.fish else key[4:].upper()
            found[name] = value if isinstance(value, TracedText) else self.unsure(name, None).text
        return found

    # -- words

    def words(self, at: int, *, commas: bool = False, end: int | None = None, lines: bool = False) -> tuple[list[Word], int]:
        """The words from an offset to the end of the statement, and that end.

        Args:
            at: The offset.
            commas: Whether a comma ends a word.
            end: Where to stop at the latest.
            lines: Whether a line end only separates words.
        """
        flat, last = self.flat, len(self.flat) if end is None else end
        words: list[Word] = []
        parts: list[TracedText] = []
        start, quoted, many = at, False, False

        def flush(upto: int) -> None:
            nonlocal parts, quoted, many
            if parts or quoted:
                text = TracedText.join(parts) if parts else EMPTY
                words.append(Word(text, self.text.span(start, upto), many=many and len(parts) == 1))
            parts, quoted, many = [], False, False

        while at < last:
            char = flat[at]
            if not parts and not quoted:
                start = at
            if char == self.escape and (goes_on := _REST.match(flat, at + 1)):
                flush(at)
                at = goes_on.end()
            elif char in " \t" or (lines and char in "\r\n") or (commas and char == ","):
                flush(at)
                at += 1
            elif char == "#" and not parts and not quoted:
                at = flat.find("\n", at)
                at = last if at == -1 else at
            elif char in ("\r\n;|&)" if self.fish else "\r\n;|})" if parts else "\r\n;|{})"):
                break
            elif char == ">" or (char == "<" and self.fish):
                if len(parts) == 1 and parts[0].flat in ("1", "2", "*"):
                    parts = []
                flush(at)
                at = next((to for to in range(at, last) if flat[to] in "\n;|"), last)
                break
            elif char in "\"'":
                text, at = self.quoted(at, char)
                quoted = True
                parts += [text] if text.pieces else []
            elif char == "@" and flat[at + 1 : at + 2] == "(" and not self.fish and not parts:
                close = self.matching(at + 1)
                words += self.items(at + 2, close)
                at = close + 1
            elif char == "(":
                close = self.matching(at)
                path = self.path(at + 1, close) if flat[at + 1 : at + 10].lower() == "join-path" else None
                parts.append(path or TracedText((unknown(flat[at : close + 1], self.text.span(at, close + 1)),)))
                many, at = many or path is None, close + 1
            elif char == "$" and flat[at + 1 : at + 2] == "(":
                close = self.matching(at + 1)
                parts.append(TracedText((unknown(flat[at : close + 1], self.text.span(at, close + 1)),)))
                many, at = True, close + 1
            elif char in "$@" and (match := (_VARIABLE[self.fish] if char == "$" else _SPLAT).match(flat, at)):
                found = self.expanded(match)
                at = match.end()
                alone = not parts and not quoted and (at >= last or flat[at] in " \t\r\n;|,)}")
                if isinstance(found, list) and alone:
                    words += [Word(word.text, self.text.span(*match.span()), word.many) for word in found]
                else:
                    many = many or isinstance(found, list) or not found.known
                    parts.append(found if isinstance(found, TracedText) else self.unsure(match["name"] or "", match).text)
            elif char == self.escape and at + 1 < last:
                parts.append(self.text.cut(at + 1, at + 2))
                at += 2
            else:
                to = at + 1
                while to < last and flat[to] not in " \t\r\n;|,@&<>(){}\"'$#" + self.escape:
                    to += 1
                many = many or flat[at:to] == HOLE
                parts.append(self.text.cut(at, to))
                at = to
        flush(at)
        return words, at

    def quoted(self, at: int, quote: str) -> tuple[TracedText, int]:
        """The text between quotes, and the offset behind them."""
        flat = self.flat
        parts: list[TracedText] = []
        done = at = at + 1
        while at < len(flat):
            char, two = flat[at], flat[at : at + 2]
            if char == quote and (two != quote * 2 or self.fish):
                return TracedText.join([*parts, self.text.cut(done, at)]), at + 1
            escapes = char == self.escape and (quote == '"' or (self.fish and two in ("\\'", "\\\\")))
            if char == quote or escapes:
                control = "" if self.fish or char == quote else _CONTROL.get(two[1:], "")
                character = TracedText.of(control, self.text.span(at, at + 2)) if control else self.text.cut(at + 1, at + 2)
                parts += [self.text.cut(done, at), character]
                done = at = at + 2
            elif char == "$" and quote == '"' and two == "$(":
                close = self.matching(at + 1)
                parts += [self.text.cut(done, at), TracedText((unknown(flat[at : close + 1], self.text.span(at, close + 1)),))]
                done = at = close + 1
            elif char == "$" and quote == '"' and (match := _VARIABLE[self.fish].match(flat, at)):
                stop = match.end() if self.fish or match["more"] is None else match.start("more")
                parts += [self.text.cut(done, at), self.in_text(match)]
                done = at = stop
            else:
                at += 1
        return TracedText.join([*parts, self.text.cut(done)]), at

    def expanded(self, match: re.Match[str], inside: bool = False) -> Value:
        groups = match.groupdict()
        name = groups.get("braced") or groups.get("name") or ""
        scope = (groups.get("scope") or groups.get("at") or "").lower()
        key = name if self.fish else ("env:" if scope == "env" else ":") + name.lower()
        value = self.value(key) if groups.get("more") is None or (inside and not self.fish) else None
        if value is None and self.fish:
            value = self.value("env:" + name)
        if isinstance(value, list) and len(value) == 1 and not value[0].many:
            value = value[0].text  # a list of one is that item, also inside quotes
        return value if value is not None else self.unsure(name, match).text

    def in_text(self, match: re.Match[str]) -> TracedText:
        """The value of a variable inside a text."""
        found = self.expanded(match, inside=True)
        return found if isinstance(found, TracedText) else self.unsure(match["name"] or "", match).text

    def items(self, at: int, end: int) -> list[Word]:
        """The items of `@(...)`."""
        return self.words(at, commas=True, end=end, lines=True)[0]

    def path(self, at: int, end: int) -> TracedText | None:
        """What `Join-Path` makes of its words."""
        words = [word for word in self.words(at, end=end)[0][1:] if not (word.value or "").startswith("-")]
        if not words or any(word.many and not word.text.pieces for word in words):
            return None
        joined: list[TracedText] = []
        for word in words:
            joined += [TracedText.of("/"), word.text] if joined else [word.text]
        return TracedText.join(joined)

    def matching(self, at: int) -> int:
        """The offset of the bracket that closes the one at an offset; the last character without one."""
        depth, flat = 0, self.flat
        while at < len(flat):
            char = flat[at]
            if char == "#" and (flat[at - 1] in " \t\r\n(,;" or at == 0):
                at = flat.find("\n", at)  # a comment, whose quotes and brackets are none
                if at == -1:
                    break
                continue
            if char in "\"'":
                at = self.close_of(at, char)
            depth += (char == "(") - (char == ")")
            if depth == 0:
                return at
            at += 2 if char == self.escape else 1
        return len(flat) - 1

    def close_of(self, at: int, quote: str) -> int:
        end = at + 1
        while end < len(self.flat) and self.flat[end] != quote:
            end += 2 if self.flat[end] == self.escape and (quote == '"' or self.fish) else 1
        return end

    # -- commands

    def run(self, words: list[Word]) -> None:
        """Note a command; builtins that set variables and blocks are followed."""
        first = (words[0].value or "").lower()
        if self.fish:
            words = self.fish_words(words)
        elif first in self.handing:
            start, end = self.handing[first]
            before = [Word(one.text, words[0].site, one.many) for one in self.words(start, end=end)[0]]
            words = [*before, *words[1:]]
        elif first in _KEYWORDS or (len(words) > 1 and words[1].value in ("=", "+=")):
            return
        elif first in ("start-process", "start", "saps"):
            words = self.started(words[1:])
        elif first in ("invoke-expression", "iex"):
            env = self.environment()
            for text in [word.text for word in words[1:] if word.text.flat.lower() != "-command"][:1]:
                self.found += [Command(one.words, {**env, **one.env}) for one in commands(text, fish=False)]
            return
        elif re.fullmatch(r"[A-Z][a-z]+-[A-Z]\w+", words[0].value or ""):
            return
        env = self.environment()
        spend(20 * len(env))
        while self.fish and words and (inline := _INLINE.match(words[0].text.flat)):
            env[inline.group(1)] = words.pop(0).text.cut(inline.end())
        if words:
            program = words[0].text if self.fish else words[0].text.sub(_BACKSLASH, lambda _: _SLASH)
            self.found.append(Command([Word(program, words[0].site, words[0].many), *words[1:]], env))

    def fish_words(self, words: list[Word]) -> list[Word]:
        """The words of a command of fish behind its keywords."""
        at = words[0].site.start if words[0].site is not None else 0
        while words and words[0].value in _PREFIXES | _OPENING | {"end", "case"}:
            name = words[0].value
            if name in ("end", "else", "case"):
                self.blocks = self.blocks[:-1]
            goes_on = name == "if" and self.blocks[-1:] == [-at - 1]  # `else if`
            if (name in _OPENING or name in ("else", "case")) and not goes_on:
                self.blocks = [*self.blocks, -at - 1]
            words = [] if name in ("for", "function", "switch", "case", "end") else words[1:]
        if words and words[0].value == "set":
            self.fish_set(words[1:])
            return []
        return words

    def fish_set(self, words: list[Word]) -> None:
        named = next((at for at, word in enumerate(words) if not word.text.flat.startswith("-")), len(words))
        flags, rest = "".join([word.text.flat for word in words[:named]]), words[named:]
        if not rest or rest[0].value is None or "e" in flags.replace("export", "x") or "q" in flags:
            return
        name, values = rest[0].value, rest[1:]
        if "x" in flags:
            self.set("env:" + name, values[0].text if len(values) == 1 else self.unsure(name, None).text)
        else:
            self.set(name, values)

    def started(self, words: list[Word]) -> list[Word]:
        """The words of the program that `Start-Process` starts."""
        program: list[Word] = []
        arguments: list[Word] = []
        option = ""
        for word in words:
            value = (word.value or "").lower()
            if value in _ITS_OWN or (option != _ARGUMENTS and re.fullmatch(r"-[a-z]+", value)):
                option = _ARGUMENTS if value == "-args" else value
            elif option.startswith(_WITH_VALUE):
                option = ""
            elif option == _ARGUMENTS or (program and option != "-filepath"):
                arguments.append(word)
            else:
                program, option = [word], ""
        if len(arguments) == 1:
            text = arguments[0].text
            parts = [text.cut(*match.span()) for match in _ARGUMENT.finditer(text.flat)]
            arguments = [Word(part.sub(_QUOTE, lambda _: EMPTY), part.span()) for part in parts]
        return [*program, *arguments] if program else []


_START_PROCESS = re.compile(r"(?:start-process|saps|start)(?=\s)", re.IGNORECASE)
_ARGUMENTS = "-argumentlist"
_WITH_VALUE = ("-redirect", "-working", "-windowstyle", "-verb", "-credential")
_ITS_OWN = frozenset((
    _ARGUMENTS, "-args", "-credential", "-filepath", "-loaduserprofile", "-nonewwindow", "-passthru", "-redirectstandarderror",
    "-redirectstandardinput", "-redirectstandardoutput", "-usenewenvironment", "-verb", "-wait", "-windowstyle",
    "-workingdirectory",
))  # fmt: skip
_ARGUMENT = re.compile(r"(?:[^\s\"]|\"[^\"]*\"?)+")
_QUOTE = re.compile('"')
_BACKSLASH = re.compile(r"\\")
_SLASH = TracedText.of("/")
