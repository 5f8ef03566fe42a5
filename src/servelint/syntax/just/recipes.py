"""Reading a justfile: its settings, its variables, and its recipes with their parameters."""

from __future__ import annotations

import re

from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, Piece, Text, unknown
from servelint.syntax.just.expressions import Expression, Lookup, Wrong

_ASSIGNMENT = re.compile(r"(export[ \t]+)?([A-Za-z_][\w-]*)[ \t]*:=", re.ASCII)
_SETTING = re.compile(r"set[ \t]+([a-z-]+)[ \t]*(?::=[ \t]*(.*))?$", re.MULTILINE)
_OTHER = re.compile(r"(?:alias|import\??|mod\??|unexport|set)[ \t]")
_HEADER = re.compile(r"@?([A-Za-z_][\w-]*)", re.ASCII)
_PARAMETER = re.compile(r"[ \t]*([*+]?)(\$?)([A-Za-z_][\w-]*)", re.ASCII)
_HOLE = re.compile(r"\{\{\{\{|\{\{(.*?)\}\}", re.DOTALL)
_INTERPRETER = re.compile(r"#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)")
_EXPRESSION_AT_MOST = 20_000


class Parameter:
    """value: its default; None if it must be given.  variadic: `*` or `+`, or empty"""

    __slots__ = ("exported", "name", "value", "variadic")

    def __init__(self, name: str, value: Text | None, variadic: str, exported: bool) -> None:
        self.name = name
        self.value = value
        self.variadic = variadic
        self.exported = exported


class Recipe:
    """
    header:  where what follows its name starts, and where its line ends
    lines:   where each line of its body stands
    needs:   names of the recipes that it depends on
    script:  its body is a script, whoever runs it
    """

    __slots__ = ("header", "lines", "name", "needs", "parameters", "script")

    def __init__(self, name: str, header: tuple[int, int]) -> None:
        self.name = name
        self.header = header
        self.parameters: list[Parameter] = []
        self.needs: list[str] = []
        self.lines: list[tuple[int, int]] = []
        self.script = False


class Justfile:
    """environment: the variables of the `.env` that the file loads, known once its settings are read"""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.settings: dict[str, str] = {}
        self.environment: dict[str, Text] = {}
        self.exported: list[str] = []
        self.recipes: list[Recipe] = []
        self.assignments: dict[str, int] = {}
        self.values: dict[str, Text | None] = {}
        self.end = 0
        self.scan()

    def is_set(self, name: str) -> bool:
        return self.settings.get(name, "false") not in ("false", "")

    # -- lines

    def scan(self) -> None:
        """Find what stands at the left margin; values are worked out when they are asked for."""
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
        """The recipe of a header line; its defaults are read later, when all variables are known."""
        recipe = Recipe(header.group(1), (header.end(), end))
        _, at = self.parameters(header.end(), end)
        recipe.needs = re.findall(r"[A-Za-z_][\w-]*", self.source.text[at:end].partition("#")[0])
        self.recipes.append(recipe)
        return recipe

    def parameters(self, at: int, end: int) -> tuple[list[Parameter], int]:
        """The parameters of a header up to its colon, and the offset after it."""
        found: list[Parameter] = []
        text = self.source.text
        while (match := _PARAMETER.match(text, at, end)) is not None:
            at = match.end()
            value: Text | None = None
            sign = re.compile(r"[ \t]*=").match(text, at, end)
            if sign is not None:
                expression = Expression(self.source, sign.end(), end, self.variable, self.environment.get)
                try:
                    value = expression.value()
                except (Wrong, RecursionError):
                    return found, end
                at = expression.at
            found.append(Parameter(match.group(3), value, match.group(1), bool(match.group(2))))
        colon = text.find(":", at, end)
        return found, end if colon == -1 else colon + 1

    # -- values

    def expression(self, start: int, end: int | None) -> Expression:
        stop = min(start + _EXPRESSION_AT_MOST, len(self.source.text)) if end is None else end
        return Expression(self.source, start, stop, self.variable, self.environment.get)

    def variable(self, name: str) -> Text | None:
        """The value of a variable of the file; None if it sets none, or one that depends on itself."""
        if name not in self.values:
            start = self.assignments.get(name)
            self.values[name] = None
            if start is not None:
                try:
                    self.values[name] = self.expression(start, None).read()
                except (Wrong, RecursionError):
                    self.values[name] = None
        return self.values[name]

    def given(self, recipe: Recipe) -> dict[str, Text]:
        """The parameters of a recipe, as they are when none is given."""
        recipe.parameters, _ = self.parameters(*recipe.header)
        found: dict[str, Text] = {}
        for parameter in recipe.parameters:
            value = parameter.value
            if value is not None:
                found[parameter.name] = value.softened() if value.pieces else Text((Piece("", None, assumed=True),))
            elif parameter.variadic == "*":
                found[parameter.name] = Text((Piece("", None, assumed=True),))
            else:
                found[parameter.name] = Text((unknown("{{" + parameter.name + "}}", None),))
        return found

    # -- bodies

    def scripts(self, recipe: Recipe) -> list[Text]:
        """The texts that shells get: a line each, or the whole body of a recipe that names its interpreter."""
        lines = recipe.lines
        while lines and lines[-1][0] == lines[-1][1]:
            lines = lines[:-1]
        text = self.source.text
        first = next((text[start:end] for start, end in lines if text[start:end].strip()), "")
        indent = len(first) - len(first.lstrip())
        given = self.given(recipe)

        def known(name: str) -> Text | None:
            return given[name] if name in given else self.variable(name)

        interpreter = first.lstrip() if first.lstrip().startswith("#!") else ""
        if interpreter or recipe.script:
            if interpreter and not _INTERPRETER.match(interpreter):
                return []
            parts: list[Text] = []
            for start, end in lines:
                low = min(start + indent, end)
                parts += [self.filled(low, end, known), Text((Piece("\n", Span(self.source, end, end)),))]
            return [Text.join(parts)]
        return self.lines(lines, known)

    def lines(self, lines: list[tuple[int, int]], known: Lookup) -> list[Text]:
        text = self.source.text
        found: list[Text] = []
        parts: list[Text] = []
        for start, end in lines:
            low = start + len(text[start:end]) - len(text[start:end].lstrip())
            goes_on = text[low:end].endswith("\\")
            if low < end:
                parts.append(self.filled(low, end - goes_on, known))
            if not goes_on and parts:
                found.append(Text.join(parts))
                parts = []
        return [*found, Text.join(parts)] if parts else found

    def filled(self, start: int, end: int, known: Lookup) -> Text:
        """A part of a recipe's body with its `{{ }}` replaced."""
        if start >= end:
            return EMPTY
        whole = Text.at(self.source, start, end)
        parts: list[Text] = []
        done = 0
        for match in _HOLE.finditer(whole.flat):
            parts.append(whole.cut(done, match.start()))
            done = match.end()
            span = whole.span(*match.span())
            if match.group(1) is None:
                parts.append(Text((Piece("{{", span),)))
                continue
            expression = Expression(self.source, start + match.start(1), start + match.end(1), known, self.environment.get)
            try:
                value = expression.read()
            except (Wrong, RecursionError):
                value = Text((unknown(match.group(), span),))
            parts.append(Text((unknown(match.group(), span),)) if len(value.pieces) == 1 and not value.known else value)
        return Text.join([*parts, whole.cut(done)])
