"""justfile recipes: what each one's commands start, with just's variables filled in before the shell sees them."""

from __future__ import annotations

import re

from servelint.core import bounds
from servelint.core.launch import Launch, ReleaseClaim, Variable
from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText
from servelint.files.siblings import Neighbours
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext, cut_off, env_file, inside, named
from servelint.readers.installs import installed
from servelint.readers.registry import Format
from servelint.readers.scripts import starts_something
from servelint.syntax.just import Justfile, Recipe

FORMAT = Format(
    "justfile",
    180,
    title="justfile",
    about="recipes, with just's variables and parameters filled in",
    files=("{,.}justfile", "*.just", "*.justfile"),
    unnamed=r"(?m)^(?:set [a-z-]+ :=|@?[a-z][\w-]*[^\n:=]*(?:=[^\n:]*)?:[^\n=]*\n[ \t]+\S)",
    languages=("just",),
)

_JUST = re.compile(r"(?:@?\bjust|\{\{\s*just_executable\(\)\s*\}\})[ \t]+(?P<name>[A-Za-z_][\w-]*)[ \t]+")
_CONTINUED = re.compile(r"\\\n[ \t]*")
_PREFIX = re.compile(r"[@\-?]*")
_QUOTED = re.compile(r"([\"'])(.*)\1$")
_OTHER_SHELLS = re.compile(r"\b(?:python3?|node|nu|pwsh|powershell(?:\.exe)?|fish|cmd(?:\.exe)?|perl|ruby)\b")


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the recipes of a justfile."""
    return _Recipes(source, neighbours).launches()


class _Recipes:
    def __init__(self, source: Source, neighbours: Neighbours) -> None:
        self.source = source
        self.neighbours = neighbours
        self.justfile = Justfile(source)
        self.by_name = {recipe.name: recipe for recipe in self.justfile.recipes}
        self.loaded: dict[str, Variable] = {}
        self.open_env = False
        self.load()

    def load(self) -> None:
        """The variables of the `.env` that the file says it loads; another process may have set more."""
        justfile = self.justfile
        path = next((justfile.settings[name] for name in ("dotenv-path", "dotenv-filename") if name in justfile.settings), None)
        if path is None and not justfile.is_set("dotenv-load") and not justfile.is_set("dotenv-required"):
            return
        quoted = _QUOTED.match(path) if path is not None else None
        name = ".env" if path is None else quoted.group(2) if quoted is not None else None
        read = env_file(self.neighbours)(name) if name is not None else None
        self.open_env = read is None
        self.loaded = read or {}
        justfile.environment = {name: variable.value for name, variable in self.loaded.items() if variable.value is not None}

    def launches(self) -> list[Launch]:
        """The launches of all recipes; of those with an interpreter line alone if just starts no POSIX shell."""
        if _OTHER_SHELLS.search(self.justfile.settings.get("shell", "")):
            return [launch for recipe in self.justfile.recipes if self.interpreted(recipe) for launch in self.of(recipe)]
        return [launch for recipe in self.justfile.recipes for launch in self.of(recipe)]

    def interpreted(self, recipe: Recipe) -> bool:
        """Whether a recipe names its own interpreter: `#!/bin/bash`."""
        return bool(recipe.lines) and self.source.text[slice(*recipe.lines[0])].lstrip().startswith("#!")

    def of(self, recipe: Recipe) -> list[Launch]:
        """The launches of a recipe."""
        found: list[Launch] = []
        scripts = self.justfile.scripts(recipe)
        if not any(starts_something(text.flat, self.neighbours) for text in scripts):
            return found
        env = self.environment(recipe)
        claims = self.claims(recipe, set())
        for index, text in enumerate(scripts):
            line = self.called(text.cut(_start(text)))
            context = CommandContext(
                self.source,
                recipe.name,
                env=env,
                claims=claims,
                env_file=env_file(self.neighbours),
                open_env=self.open_env,
                files=self.neighbours.read,
            )
            started = script_launches(line, context, None)
            for launch in started:
                launch.site = inside(launch.site, text)
                launch.cut = launch.cut or cut_off(scripts[index + 1 :])
            found += started
        return named([launch for launch in found if launch.site.source is self.source])

    def called(self, text: TracedText) -> TracedText:
        """A script with what a recipe puts in front of a command instead of `just RECIPE`: `just in-venv vllm serve m`."""

        def before(match: re.Match[str]) -> TracedText:
            wrapper = self.by_name.get(match.group("name"))
            prefix = self.in_front(wrapper) if wrapper is not None else None
            return prefix if prefix is not None else text.cut(*match.span())

        return text.sub(_JUST, before) if "just" in text.flat else text

    def in_front(self, recipe: Recipe) -> TracedText | None:
        """What a recipe that ends in its arguments (`uv run {{args}}`) puts in front of them; None for another one."""
        scripts = self.justfile.scripts(recipe)
        last = recipe.parameters[-1] if len(recipe.parameters) == 1 else None
        if last is None or not last.variadic or not scripts:
            return None
        text = scripts[-1].strip()
        at = text.flat.find(HOLE)
        known = [piece.expression for piece in text.pieces if piece.expression is not None]
        if known[-1:] != ["{{" + last.name + "}}"] or not text.flat.endswith((HOLE, HOLE + '"')) or text.flat.count(HOLE) != 1:
            return None
        start = max(text.flat.rfind("\n", 0, _command_start(text.flat, at)), -1) + 1
        return text.cut(start, at).sub(_CONTINUED, lambda _: TracedText.of(" "))

    def environment(self, recipe: Recipe) -> dict[str, Variable]:
        """The variables of the environment in which just runs a recipe, as far as the file sets them."""
        justfile = self.justfile
        env = dict(self.loaded)
        every = justfile.is_set("export")
        for name in justfile.assignments if every else justfile.exported:
            value = justfile.variable(name)
            env[name] = Variable(name, value, value.extent() if value is not None else None)
        given = justfile.given(recipe)
        for parameter in recipe.parameters:
            if parameter.exported or every:
                value = given[parameter.name]
                env[parameter.name] = Variable(parameter.name, value, value.extent())
        return env

    def claims(self, recipe: Recipe, seen: set[str]) -> dict[str, ReleaseClaim]:
        """What a recipe, and those that it needs, install."""
        if recipe.name in seen or len(seen) > bounds.NEEDED.most:
            return {}
        seen.add(recipe.name)
        found: dict[str, ReleaseClaim] = {}
        for name in recipe.needs:
            if name in self.by_name:
                found.update(self.claims(self.by_name[name], seen))
        for text in self.justfile.scripts(recipe):
            found.update(installed(text.cut(_start(text))))
        return found


def _command_start(flat: str, end: int) -> int:
    """Where the command begins that goes on at an offset: behind the last line end that no backslash continues."""
    at = end
    while (line := flat.rfind("\n", 0, at)) != -1 and flat[line - 1 : line] == "\\":
        at = line
    return at


def _start(text: TracedText) -> int:
    """Where a line starts behind the marks that just takes (`@`, `-`)."""
    match = _PREFIX.match(text.flat)
    return match.end() if match is not None else 0
