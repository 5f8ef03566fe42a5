"""Makefile recipes: what each rule's commands start, with make's variables filled in before the shell sees them."""

from __future__ import annotations

import re

from servelint.core import bounds
from servelint.core.launch import Branch, Launch, ReleaseClaim, Variable
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, TracedText, unknown
from servelint.files.siblings import Neighbours
from servelint.readers.alternatives import attach
from servelint.readers.commands import script_launches
from servelint.readers.context import CommandContext, cut_off, env_file, identity, inside, named
from servelint.readers.installs import installed
from servelint.readers.registry import Format
from servelint.readers.scripts import starts_something
from servelint.syntax.make import Makefile, Rule, Scope
from servelint.syntax.make import Variable as MakeVariable
from servelint.syntax.make import read as read_rules

FORMAT = Format(
    "makefile",
    170,
    title="Makefile",
    about="recipes, with make's variables filled in and conditions decided each way",
    files=("{,GNU}Makefile", "{,GNU}Makefile.*", "*.mak", "*.mk"),
    unnamed=r"(?m)^[\w.%/-]+[ \t]*:(?!=)[^\n]*\n\t",
    languages=("makefile",),
)

_PREFIX = re.compile(r"[@+\-\s]*")
_CONDITIONS_AT_MOST = 6
"""Conditions of a makefile that are decided one way and the other."""
_LINE_END = re.compile(r"(?<!\\)\n")
_AUTOMATIC = ("@", "<", "^", "+", "?", "*", "%", "@D", "@F", "<D", "<F", "^D", "^F", "*D", "*F")
_BUILT = frozenset(("llama-server", "server"))
"""Files that llama.cpp's makefiles make, under the names of programs that start it."""


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the recipes of a makefile, each with the alternatives that its conditions make of it."""
    recipes = _Recipes(source, neighbours)
    found = recipes.launches()
    for condition, assumed in list(recipes.makefile.undecided.items())[:_CONDITIONS_AT_MOST]:
        for way in (True, False):
            others = _Recipes(source, neighbours, {condition: way}).launches()
            attach(found, others, Branch(condition, way, assumed))
    return found


class _Recipes:
    def __init__(self, source: Source, neighbours: Neighbours, forced: dict[Span, bool] | None = None) -> None:
        self.source = source
        self.neighbours = neighbours
        self.makefile: Makefile = read_rules(source, neighbours.read, forced)
        self.by_target: dict[str, list[Rule]] = {}
        for rule in self.makefile.rules:
            for target in rule.targets:
                self.by_target.setdefault(target.flat, []).append(rule)
        self.installed: dict[int, dict[str, ReleaseClaim]] = {}

    def launches(self) -> list[Launch]:
        found: list[Launch] = []
        seen: set[tuple[int, int, str, tuple[str, ...]]] = set()
        for rule in self.makefile.rules:
            if not rule.recipe or rule.recipe[0].extent() is None:
                continue
            if len(rule.targets) > bounds.TARGETS.most:
                bounds.TARGETS.reached(rule.targets[bounds.TARGETS.most])
            for target in rule.targets[: bounds.TARGETS.most]:
                for launch in self.of(rule, target):
                    key = identity(launch)
                    if launch.site.source is self.source and key not in seen:
                        seen.add(key)
                        found.append(launch)
        return found

    def of(self, rule: Rule, target: TracedText) -> list[Launch]:
        scope = self.scope(target)
        scripts = self.scripts(rule)
        texts = [scope.expand(raw) for raw in scripts]
        if not any(starts_something(text.flat, self.neighbours) for text in texts):
            return []
        env, open_env = self.environment(scope, target.flat)
        context = CommandContext(
            self.source,
            target.flat,
            env=env,
            claims=self.claims(rule, set()),
            env_file=env_file(self.neighbours),
            open_env=open_env,
            files=self.neighbours.read,
        )
        found: list[Launch] = []
        for index, text in enumerate(texts):
            for script in [text] if self.makefile.one_shell else _commands(text):
                started = script_launches(script, context, None)
                for launch in started:
                    launch.site = inside(launch.site, scripts[index])
                    launch.cut = launch.cut or cut_off(scripts[index + 1 :])
                found += started
        return named(found)

    def scripts(self, rule: Rule) -> list[TracedText]:
        """The recipe as the shells get it: a line each, or all of it."""
        if not self.makefile.one_shell:
            return rule.recipe
        parts: list[TracedText] = []
        for line in rule.recipe:
            parts += [line.cut(_prefix(line)), TracedText.of("\n")]
        return [TracedText.join(parts)]

    def scope(self, target: TracedText) -> Scope:
        own = {name: MakeVariable(TracedText((unknown(f"$({name})", None),)), simple=True) for name in _AUTOMATIC}
        if "%" not in target.flat and target.flat not in _BUILT:  # `llama-server: ... -o $@` builds the program
            own["@"] = MakeVariable(target, simple=True)
        return self.makefile.scope.with_({**own, **self.makefile.own.get(target.flat, {})})

    def environment(self, scope: Scope, target: str) -> tuple[dict[str, Variable], bool]:
        """The variables that make exports to a recipe, and whether there may be more."""
        makefile = self.makefile
        names = makefile.exported | makefile.own_exported.get(target, set())
        if makefile.all_exported:
            names = names | {name for name in scope.variables if name.isidentifier()}
        env: dict[str, Variable] = {}
        for name in sorted(names):
            variable = scope.variables.get(name)
            value = None if variable is None else variable.value if variable.simple else scope.expand(variable.value)
            env[name] = Variable(name, value, value.extent() if value is not None else None)
        return env, makefile.unsure and (makefile.all_exported or bool(makefile.exported))

    def claims(self, rule: Rule, seen: set[int]) -> dict[str, ReleaseClaim]:
        """What the recipe, and those of the targets that it needs, install."""
        if id(rule) in seen or len(seen) > bounds.NEEDED.most:
            return {}
        seen.add(id(rule))
        found: dict[str, ReleaseClaim] = {}
        for name in rule.prerequisites:
            for other in self.by_target.get(name, [])[: bounds.TARGETS.most]:
                found.update(self.claims(other, seen))
        if id(rule) not in self.installed:
            self.installed[id(rule)] = self.installs(rule)
        return {**found, **self.installed[id(rule)]}

    def installs(self, rule: Rule) -> dict[str, ReleaseClaim]:
        found: dict[str, ReleaseClaim] = {}
        scope = self.scope(rule.targets[0] if rule.targets else EMPTY)
        for line in rule.recipe:
            text = scope.expand(line)
            found.update(installed(text.cut(_prefix(text))))
        return found


def _prefix(text: TracedText) -> int:
    match = _PREFIX.match(text.flat)
    return match.end() if match is not None else 0


def _commands(text: TracedText) -> list[TracedText]:
    """The lines that an expanded line of a recipe holds (a `define` may give several), each without its marks."""
    found: list[TracedText] = []
    done = 0
    for match in _LINE_END.finditer(text.flat):
        found.append(text.cut(done, match.start()))
        done = match.end()
    found.append(text.cut(done))
    return [line.cut(_prefix(line)) for line in found if line.flat.strip()]
