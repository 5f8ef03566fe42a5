"""systemd units: the engine that a service starts, itself, through a shell or in a container."""

from __future__ import annotations

import re

from servelint.core.launch import Launch, ReleaseClaim, Variable, Word
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.files.siblings import Neighbours
from servelint.readers import installs
from servelint.readers.commands import launches
from servelint.readers.place import Place
from servelint.readers.scripts import script_launches
from servelint.syntax import dotenv, units
from servelint.syntax.units import Section, Setting, parse

_PREFIX = re.compile(r"[-@:+!|]*")
_PLAIN_NAME = re.compile(r"\.(?:service|container|conf)$", re.IGNORECASE)


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    sections = parse(source, template=_PLAIN_NAME.search(source.path) is None)
    settings = merged(sections, "Service")
    container = merged(sections, "Container")
    service = Service(source, neighbours, settings)
    if container:
        from servelint.readers import quadlet

        return quadlet.read(service, container)
    return service.launches()


def merged(sections: list[Section], name: str) -> list[Setting]:
    """The settings of all sections of one name."""
    return [setting for section in sections if section.name == name for setting in section.settings]


class Service:
    """A `[Service]`: the environment that reaches its commands, and what they start."""

    def __init__(self, source: Source, neighbours: Neighbours, settings: list[Setting]) -> None:
        self.source = source
        self.neighbours = neighbours
        self.settings = settings
        self.env: dict[str, Variable] = {}
        # a drop-in adds to a unit that is not seen here
        self.open_env = source.path.lower().endswith(".conf")
        self.environment()

    def of(self, key: str) -> list[Setting]:
        """The settings of a list; an empty one takes back those before it."""
        found: list[Setting] = []
        for setting in self.settings:
            if setting.key == key:
                found.append(setting)
                if not setting.value.flat:
                    found.clear()
        return found

    def environment(self) -> None:
        for setting in self.of("PassEnvironment"):
            for word in units.split(setting.value):
                self.env[word.shown] = Variable(word.shown, None, word.site)
        for setting in self.of("Environment"):
            self.env.update({variable.name: variable for variable in units.assignments(setting.value)})
        for setting in self.of("EnvironmentFile"):
            flat = setting.value.flat
            beside = self.beside(flat.removeprefix("-"))
            if beside is None:
                self.open_env = True
            else:
                self.env.update({variable.name: variable for variable in units.file(beside)})
        for setting in self.of("UnsetEnvironment"):
            for word in units.split(setting.value):
                name, sign, value = word.shown.partition("=")
                before = self.env.get(name)
                if not sign or (before is not None and before.value is not None and before.value.value == value):
                    self.env.pop(name, None)

    def beside(self, path: str) -> Source | None:
        """A file that the unit names by where it is installed, if a file of that name lies beside the unit."""
        name = path.rpartition("/")[2]
        return self.neighbours.read(name) if name and "*" not in name else None

    def lookup(self, name: str) -> Text | None:
        variable = self.env.get(name)
        return variable.value if variable is not None else None

    def env_file(self, path: str) -> dict[str, Variable] | None:
        """The env file that a container's command line names."""
        beside = self.beside(path)
        if beside is None:
            return None
        return {name: Variable(name, value, value.span()) for name, value in dotenv.parse(beside).items()}

    def place(self, claims: dict[str, ReleaseClaim]) -> Place:
        return Place(self.source, env=self.env, claims=claims, env_file=self.env_file, open_env=self.open_env)

    def launches(self) -> list[Launch]:
        claims: dict[str, ReleaseClaim] = {}
        for setting in self.of("ExecStartPre"):
            for command in units.commands(setting.value):
                claims.update(installs.claims(self.command(command)))
        found: list[Launch] = []
        place = self.place(claims)
        for setting in self.of("ExecStart"):
            by_shell = _PREFIX.match(setting.value.flat)
            if by_shell and "|" in by_shell.group():
                started = script_launches(setting.value.cut(by_shell.end()), place, [])
            else:
                started = [one for words_ in units.commands(setting.value) for one in launches(self.command(words_), place)]
            for launch in started:
                launch.cut = setting.cut
            found += started
        return found

    def command(self, given: list[Word]) -> list[Word]:
        """The words that a command line of the unit passes on, without the marks in front of its program."""
        prefix = _PREFIX.match(given[0].text.flat)
        marks = prefix.group() if prefix is not None else ""
        first = Word(given[0].text.cut(len(marks)), given[0].site, given[0].many)
        rest = given[2:] if "@" in marks else given[1:]  # `@` puts another name for the program next
        all_words = [units.specified(word) for word in (first, *rest)]
        return all_words if ":" in marks else units.expanded(all_words, self.lookup)
