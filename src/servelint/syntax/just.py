"""justfiles: recipes, variables and expressions, evaluated as far as they are known without running anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText, unknown

Lookup = Callable[[str], "TracedText | None"]

_SPACE = re.compile(r"(?:[ \t]|\\\r?\n)*")
_SPACE_OVER_LINES = re.compile(r"(?:\s|#[^\n]*)*")
_NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_QUOTES = ("'''", '"""', "```", "'", '"', "`")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|(\r?\n)|([nrt\"\\]))")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_COMPARISON = re.compile(r"==|!=|=~")
_DEPTH = 32
_LENGTH_AT_MOST = 100_000


class Wrong(Exception):
    """The text is not an expression."""


class Expression:
    """Parses and evaluates one expression of a source. `at` is the offset where it ends.

    A variable that the lookup does not know, a command's output and what depends on the machine are unknown.
    """

    def __init__(self, source: Source, at: int, end: int, lookup: Lookup, environment: Lookup) -> None:
        self.source = source
        self.text = source.text
        self.at = at
        self.end = end
        self.lookup = lookup
        self.environment = environment
        self.depth = 0
        self.brackets = 0

    def read(self) -> TracedText:
        """The expression's value. Raises Wrong."""
        self.depth += 1
        if self.depth > _DEPTH:
            raise Wrong
        start = self.at
        value = self.choice() if self.word("if") else self.joined()
        self.depth -= 1
        self.space()
        if self.text.startswith(("&&", "||"), self.at, self.end):
            self.at += 2
            self.read()
            return self.unsure(start)
        return value if len(value.flat) <= _LENGTH_AT_MOST else self.unsure(start)

    def joined(self) -> TracedText:
        """An operand, `a + b`, or `a / b`."""
        parts = [self.value()]
        while True:
            self.space()
            if not self.text.startswith(("+", "/"), self.at, self.end):
                return TracedText.join(parts)
            sign = self.text[self.at]
            self.at += 1
            parts += [*([TracedText.of("/")] if sign == "/" else []), self.value()]

    def choice(self) -> TracedText:
        """The condition, branches and value of an `if`."""
        start = self.at - len("if")
        left = self.read()
        comparison = self.match(_COMPARISON)
        right = self.read()
        then = self.block()
        if not self.word("else"):
            raise Wrong
        otherwise = self.choice() if self.word("if") else self.block()
        if comparison == "=~" or not left.known or not right.known:
            return self.unsure(start)
        holds = (left.flat == right.flat) == (comparison == "==")
        taken = then if holds else otherwise
        return taken.softened() if left.assumed or right.assumed else taken

    def block(self) -> TracedText:
        """The value between braces."""
        self.match(re.compile(r"\{"))
        self.brackets += 1
        value = self.read()
        self.match(re.compile(r"\}"))
        self.brackets -= 1
        return value

    def value(self) -> TracedText:
        """One operand: a string, a variable, a call, an expression in parentheses."""
        self.space()
        start = self.at
        if start >= self.end:
            raise Wrong
        char = self.text[start]
        if char == "(":
            self.at += 1
            self.brackets += 1
            value = self.read()
            self.match(re.compile(r"\)"))
            self.brackets -= 1
            return value
        if char == "/":  # `/ 'a'` is an absolute path
            self.at += 1
            return TracedText.join((TracedText.of("/"), self.value()))
        if char in "xf" and self.text[start + 1 : start + 2] in ("'", '"'):
            self.at += 1
            self.string()
            return self.unsure(start)
        if char in "'\"`":
            return self.string()
        name = self.match(_NAME)
        if self.text.startswith("(", self.at, self.end):
            return self.function(name, start)
        known = self.lookup(name)
        return known if known is not None else self.unsure(start)

    def string(self) -> TracedText:
        """A quoted or indented string."""
        start = self.at
        quote = next(quote for quote in _QUOTES if self.text.startswith(quote, start))
        low = start + len(quote)
        close = low
        while True:
            close = self.text.find(quote, close, self.end)
            if close == -1:
                raise Wrong
            slashes = close - low - len(self.text[low:close].rstrip("\\"))
            if quote[0] != '"' or slashes % 2 == 0:
                break
            close += 1
        self.at = close + len(quote)
        if quote[0] == "`" or (len(quote) == 3 and "\n" in self.text[low:close]):
            return self.unsure(start)  # a command's output; a text whose indentation is taken off
        if low == close:
            return EMPTY
        whole = TracedText.at(self.source, low, close)
        return _unescaped(whole) if quote == '"' else whole

    def function(self, name: str, start: int) -> TracedText:
        """The value of a function's call."""
        self.at += 1
        self.brackets += 1
        given: list[TracedText] = []
        self.space()
        while self.at < self.end and self.text[self.at] != ")":
            given.append(self.read())
            self.space()
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self.space()
        self.match(re.compile(r"\)"))
        self.brackets -= 1
        known = self.environment(given[0].value or "") if given else None
        if name in ("env_var", "env_var_or_default", "env") and known is not None:
            return known
        if name in ("env_var_or_default", "env") and len(given) == 2:
            return given[1].as_default()
        return self.unsure(start)

    def unsure(self, start: int) -> TracedText:
        """An unknown for what stands from an offset to the current one."""
        whole = TracedText.at(self.source, start, max(self.at, start + 1))
        return TracedText((unknown("{{" + whole.flat.strip() + "}}", whole.span()),))

    # -- tokens

    def space(self) -> None:
        """Step over white space."""
        space = (_SPACE_OVER_LINES if self.brackets else _SPACE).match(self.text, self.at, self.end)
        self.at = space.end() if space is not None else self.at

    def match(self, pattern: re.Pattern[str]) -> str:
        """Step over what a pattern matches, and return it. Raises Wrong."""
        self.space()
        found = pattern.match(self.text, self.at, self.end)
        if found is None:
            raise Wrong
        self.at = found.end()
        return found.group()

    def word(self, word: str) -> bool:
        """Step over a keyword; whether it stands there."""
        self.space()
        name = _NAME.match(self.text, self.at, self.end)
        if name is None or name.group() != word:
            return False
        self.at = name.end()
        return True


def _unescaped(whole: TracedText) -> TracedText:
    def char(match: re.Match[str]) -> TracedText:
        code, line_end, letter = match.groups()
        if line_end is not None:
            return EMPTY
        number = int(code, 16) if code else 0
        char = _LETTERS[letter] if letter else chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "?"
        return TracedText.of(char, whole.span(*match.span()))

    return whole.sub(_ESCAPE, char)


_ASSIGNMENT = re.compile(r"(export[ \t]+)?([A-Za-z_][\w-]*)[ \t]*:=", re.ASCII)
_SETTING = re.compile(r"set[ \t]+([a-z-]+)[ \t]*(?::=[ \t]*(.*))?$", re.MULTILINE)
_OTHER = re.compile(r"(?:alias|import\??|mod\??|unexport|set)[ \t]")
_HEADER = re.compile(r"@?([A-Za-z_][\w-]*)", re.ASCII)
_PARAMETER = re.compile(r"[ \t]*([*+]?)(\$?)([A-Za-z_][\w-]*)", re.ASCII)
_HOLE = re.compile(r"\{\{\{\{|\{\{(.*?)\}\}|\{\{.*", re.DOTALL)
_INTERPRETER = re.compile(r"#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)")
_EXPRESSION_AT_MOST = 20_000


@dataclass(slots=True, eq=False)
class _Parameter:
    """A parameter of a recipe.

    Attributes:
        value: Its default; None if it must be given.
        variadic: `*`, `+`, or empty.
    """

    name: str
    value: TracedText | None
    variadic: str
    exported: bool


@dataclass(slots=True, eq=False)
class Recipe:
    """A recipe.

    Attributes:
        header: Where what follows its name starts, and where its line ends.
        lines: The place of each line of its body.
        needs: Names of the recipes that it depends on.
        script: Whether its body is one script.
    """

    name: str
    header: tuple[int, int]
    parameters: list[_Parameter] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    lines: list[tuple[int, int]] = field(default_factory=list)
    script: bool = False


class Justfile:
    """The recipes and variables of a file. `environment`: the variables of the `.env` that it loads."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.settings: dict[str, str] = {}
        self.environment: dict[str, TracedText] = {}
        self.exported: list[str] = []
        self.recipes: list[Recipe] = []
        self.assignments: dict[str, int] = {}
        self.values: dict[str, TracedText | None] = {}
        self.end = 0
        self.scan()

    def is_set(self, name: str) -> bool:
        """Whether a setting is on."""
        return self.settings.get(name, "false") not in ("false", "")

    # -- lines

    def scan(self) -> None:
        """Find the items at the left margin; their values are evaluated on request."""
        source, text = self.source, self.source.text
        recipe: Recipe | None = None
        script = False
        for index, start in enumerate(source.line_starts):
            end = start + len(source.line_text(index + 1))
            if start < self.end:
                continue  # inside a string of several lines
            if start == end or text[start] in " \t":
                if recipe is not None:
                    recipe.lines.append((start, end))
                continue
            if text[start] == "#":
                continue
            recipe = None
            setting, assignment = _SETTING.match(text, start, end), _ASSIGNMENT.match(text, start, end)
            if text[start] == "[":
                script = script or text.startswith("[script", start)
            elif setting is not None:
                self.settings[setting.group(1)] = "true" if setting.group(2) is None else setting.group(2).strip()
            elif assignment is not None:
                self.assigned(assignment)
            elif not _OTHER.match(text, start, end) and (header := _HEADER.match(text, start, end)) is not None:
                recipe = self.recipe(header, end)
                recipe.script, script = script, False
        self.values.clear()

    def assigned(self, match: re.Match[str]) -> None:
        """Note a variable's assignment."""
        self.assignments[match.group(2)] = match.end()
        if match.group(1):
            self.exported.append(match.group(2))
        expression = self.expression(match.end(), None)
        try:
            expression.read()
        except (Wrong, RecursionError):
            return
        self.end = expression.at

    def recipe(self, header: re.Match[str], end: int) -> Recipe:
        """The recipe of a header line; its defaults are evaluated later, when all variables are known."""
        recipe = Recipe(header.group(1), (header.end(), end))
        _, at = self.parameters(header.end(), end)
        recipe.needs = re.findall(r"[A-Za-z_][\w-]*", self.source.text[at:end].partition("#")[0])
        self.recipes.append(recipe)
        return recipe

    def parameters(self, at: int, end: int) -> tuple[list[_Parameter], int]:
        """The parameters of a header up to its colon, and the offset after it."""
        found: list[_Parameter] = []
        text = self.source.text
        while (match := _PARAMETER.match(text, at, end)) is not None:
            at = match.end()
            value: TracedText | None = None
            if (sign := re.compile(r"[ \t]*=").match(text, at, end)) is not None:
                expression = Expression(self.source, sign.end(), end, self.variable, self.environment.get)
                try:
                    value = expression.value()
                except (Wrong, RecursionError):
                    return found, end
                at = expression.at
            found.append(_Parameter(match.group(3), value, match.group(1), bool(match.group(2))))
        colon = text.find(":", at, end)
        return found, end if colon == -1 else colon + 1

    # -- values

    def expression(self, start: int, end: int | None) -> Expression:
        """A parser for the expression at an offset."""
        stop = min(start + _EXPRESSION_AT_MOST, len(self.source.text)) if end is None else end
        return Expression(self.source, start, stop, self.variable, self.environment.get)

    def variable(self, name: str) -> TracedText | None:
        """The value of a variable; None if the file does not set it, or if it depends on itself."""
        if name not in self.values:
            start = self.assignments.get(name)
            self.values[name] = None
            if start is not None:
                try:
                    self.values[name] = self.expression(start, None).read()
                except (Wrong, RecursionError):
                    self.values[name] = None
        return self.values[name]

    def given(self, recipe: Recipe) -> dict[str, TracedText]:
        """The parameters of a recipe with their defaults."""
        recipe.parameters, _ = self.parameters(*recipe.header)
        found: dict[str, TracedText] = {}
        for parameter in recipe.parameters:
            if (value := parameter.value) is not None:
                found[parameter.name] = value.as_default()
            elif parameter.variadic == "*":
                found[parameter.name] = EMPTY.as_default()
            else:
                found[parameter.name] = TracedText((unknown("{{" + parameter.name + "}}", None),))
        return found

    # -- bodies

    def scripts(self, recipe: Recipe) -> list[TracedText]:
        """The texts that shells get: one a line, or the whole body of a recipe that names its interpreter."""
        lines = recipe.lines
        while lines and lines[-1][0] == lines[-1][1]:
            lines = lines[:-1]
        text = self.source.text
        first = next((text[start:end] for start, end in lines if text[start:end].strip()), "")
        indent = len(first) - len(first.lstrip())
        given = self.given(recipe)

        def known(name: str) -> TracedText | None:
            return given[name] if name in given else self.variable(name)

        interpreter = first.lstrip() if first.lstrip().startswith("#!") else ""
        if interpreter or recipe.script:
            if interpreter and not _INTERPRETER.match(interpreter):
                return []
            parts: list[TracedText] = []
            for start, end in lines:
                low = min(start + indent, end)
                parts += [self.filled(low, end, known), TracedText.of("\n", Span(self.source, end, end))]
            return [TracedText.join(parts)]
        return self.lines(lines, known)

    def lines(self, lines: list[tuple[int, int]], known: Lookup) -> list[TracedText]:
        """The lines of a recipe's body, with those that a backslash continues."""
        text = self.source.text
        found: list[TracedText] = []
        parts: list[TracedText] = []
        for start, end in lines:
            low = start + len(text[start:end]) - len(text[start:end].lstrip())
            goes_on = text[low:end].endswith("\\")
            if low < end:
                parts.append(self.filled(low, end - goes_on, known))
            if not goes_on and parts:
                found.append(TracedText.join(parts))
                parts = []
        return [*found, TracedText.join(parts)] if parts else found

    def filled(self, start: int, end: int, known: Lookup) -> TracedText:
        """A part of a recipe's body with its `{{ }}` replaced."""
        if start >= end:
            return EMPTY
        whole = TracedText.at(self.source, start, end)

        def value(match: re.Match[str]) -> TracedText:
            span = whole.span(*match.span())
            if match.group() == "{{{{":
                return TracedText.of("{{", span)
            if match.group(1) is None:
                return TracedText((unknown(match.group(), span),))  # never closed
            expression = Expression(self.source, start + match.start(1), start + match.end(1), known, self.environment.get)
            try:
                found = expression.read()
            except (Wrong, RecursionError):
                return TracedText((unknown(match.group(), span),))
            return TracedText((unknown(match.group(), span),)) if len(found.pieces) == 1 and not found.known else found

        return whole.sub(_HOLE, value)
