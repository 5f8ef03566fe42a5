"""systemd units: what a service starts, itself, through a shell or in a container; and Quadlet's `.container` units."""

from __future__ import annotations

import re

from servelint.core.launch import Launch, OpenedFile, ReleaseClaim, Variable, Word
from servelint.core.problem import Problem
from servelint.core.run import current
from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText, unknown
from servelint.engines.entry import mentions
from servelint.engines.registry import ENGINES, Engine
from servelint.files.siblings import Neighbours
from servelint.readers import installs
from servelint.readers.commands import launches, script_launches, without_shell_text
from servelint.readers.context import CommandContext, env_file
from servelint.readers.registry import TEMPLATE_SUFFIX, Format
from servelint.readers.tasks import roles
from servelint.syntax import json, units
from servelint.syntax.units import Section, Setting, parse

FORMAT = Format(
    "systemd",
    160,
    title="systemd, Quadlet",
    about="services with their environment files and drop-ins, `.container` units",
    files=("*.container", "*.service", "override.conf"),
    shape=r"(?m)^[ \t]*(?:ExecStart|Exec|Environment)[ \t]*=",
    languages=("ini", "properties"),
)

_FOLDERS_AT_MOST = 4
_SCRIPTS = ("scripts/", "bin/", "script/", "files/", "deploy/", "src/")
"""Folders in which repositories keep the scripts that they install."""
_PREFIX = re.compile(r"[-@:+!|]*")
_PLAIN_NAME = re.compile(r"\.(?:service|container|conf)$", re.IGNORECASE)
_DROP_IN = re.compile(r"\.conf" + TEMPLATE_SUFFIX, re.IGNORECASE)


def read(source: Source, neighbours: Neighbours) -> list[Launch]:
    """Read the launches of a unit."""
    template = _PLAIN_NAME.search(source.path) is None
    sections = parse(source, template, roles.lookup(source, neighbours, []) if template else None)
    settings = merged(sections, "Service")
    container = merged(sections, "Container")
    service = Service(source, neighbours, settings)
    if container:
        return _quadlet(service, container)
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
        self.open_env = _DROP_IN.search(source.path) is not None
        self.environment()

    def of(self, key: str) -> list[Setting]:
        """The settings of a list. An empty one takes back those before it."""
        return _listed(self.settings, key)

    def environment(self) -> None:
        """Collect the variables in the order in which systemd sets them."""
        for setting in self.of("PassEnvironment"):
            for word in units.split(setting.value):
                self.env[word.shown] = Variable(word.shown, None, word.site)
        for setting in self.of("Environment"):
            self.env.update({variable.name: variable for variable in units.assignments(setting.value)})
        for setting in self.of("EnvironmentFile"):
            beside = self.beside(setting.value.flat.removeprefix("-"))
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

    def lookup(self, name: str) -> TracedText | None:
        """The value of a variable, None if it is not known."""
        variable = self.env.get(name)
        return variable.value if variable is not None else None

    def env_file(self, path: str) -> dict[str, Variable] | None:
        """The env file that a container's command line names."""
        name = path.rpartition("/")[2]
        return env_file(self.neighbours)(name) if name and "*" not in name else None

    def script(self, path: TracedText) -> OpenedFile | None:
        """A script that the unit names by where it is installed, if one file of the repository ends like that path.

        The folders of the unit and above are looked in: `/opt/llm/scripts/start.sh` is `scripts/start.sh` of one of them. Last
        come those in which repositories keep scripts: `/usr/local/bin/start.sh` is installed from there.
        """
        parts = path.flat.split("/")
        if HOLE in path.flat or "/" not in path.flat or not parts[-1].endswith((".sh", ".bash", ".py")):
            return None
        for length in range(min(len(parts), _FOLDERS_AT_MOST), 0, -1):
            tail = "/".join(parts[-length:]).lstrip("/")
            kept = ("", *_SCRIPTS) if length == 1 else ("",)
            found = {
                one.path: (name, one)
                for folder in kept
                for up in range(_FOLDERS_AT_MOST)
                if (one := self.neighbours.read(name := "../" * up + folder + tail))
            }
            if len(found) == 1:
                ((name, one),) = found.values()
                return OpenedFile(TracedText.at(one, 0, len(one.text)), name, False, self.neighbours.read)
            if found:
                self.note_several(path, [one for _, one in found.values()])
                return None
        return None

    def note_several(self, path: TracedText, found: list[Source]) -> None:
        """Say that several files may be the script that the unit starts, where one of them names an engine."""
        run, span = current(), path.span()
        if run is None or span is None or not any(mentions(one.text) for one in found):
            return
        files = " or ".join(one.path for one in found)
        line, column = self.source.position(span.start)
        message = f"{path.shown} may be {files}: none is judged with the variables of this unit"
        run.report(Problem(self.source.path, message, line, column, note="always"))

    def context(self, claims: dict[str, ReleaseClaim]) -> CommandContext:
        """The context of the commands of the unit."""
        context = CommandContext(self.source, env=self.env, claims=claims, env_file=self.env_file, open_env=self.open_env)
        context.open, context.given = self.script, frozenset(self.env)
        return context

    def launches(self) -> list[Launch]:
        """The launches of `ExecStart`, with the releases that `ExecStartPre` installs."""
        claims: dict[str, ReleaseClaim] = {}
        for setting in self.of("ExecStartPre"):
            for command in units.commands(setting.value):
                claims.update(installs.claims(self.command(command)))
        found: list[Launch] = []
        context = self.context(claims)
        for setting in self.of("ExecStart"):
            by_shell = _PREFIX.match(setting.value.flat)
            if by_shell and "|" in by_shell.group():
                started = script_launches(setting.value.cut(by_shell.end()), context, [])
            else:
                started = [one for words_ in units.commands(setting.value) for one in launches(self.command(words_), context)]
                if not started and by_shell is not None:
                    words = [word for words_ in units.commands(setting.value) for word in self.command(words_)]
                    started = without_shell_text(setting.value.cut(by_shell.end()), words, context)
            for launch in started:
                launch.cut = setting.cut
            found += started
        if _DROP_IN.search(self.source.path) is not None and not self.of("ExecStart"):
            engine = next((one for one in ENGINES.values() if one.unit and self.adds_to(one)), None)
            words = [Word(TracedText.of(word)) for word in engine.command] if engine is not None else []
            sites = [variable.site for variable in self.env.values() if variable.site is not None]
            context.site = sites[0] if sites else None
            found += launches(words, context) if words and sites else []
        return found

    def adds_to(self, engine: Engine) -> bool:
        """Whether a drop-in is one of the unit that an engine's installer writes: by its folder, or by its variables."""
        inside = f"/{engine.unit}.d/" in f"/{self.source.path}"
        return inside or any(name.startswith(engine.variables) for name in self.env)

    def command(self, given: list[Word]) -> list[Word]:
        """The words that a command line of the unit passes on, without the marks in front of its program."""
        prefix = _PREFIX.match(given[0].text.flat)
        marks = prefix.group() if prefix is not None else ""
        first = Word(given[0].text.cut(len(marks)), given[0].site, given[0].many)
        rest = given[2:] if "@" in marks else given[1:]  # `@` puts another name for the program next
        scripted = self.script(first.text) is not None  # found by the end of its path, whatever `%h` is
        all_words = [first if scripted else units.specified(first), *(units.specified(word) for word in rest)]
        return all_words if ":" in marks else units.expanded(all_words, self.lookup)


_OPTIONS = (
    ("ContainerName", "--name"),
    ("AddDevice", "--device"),
    ("ShmSize", "--shm-size"),
    ("PublishPort", "--publish"),
    ("Volume", "--volume"),
    ("Mount", "--mount"),
    ("Tmpfs", "--tmpfs"),
    ("Network", "--network"),
    ("Pod", "--pod"),
    ("HealthCmd", "--health-cmd"),
    ("HealthInterval", "--health-interval"),
    ("HealthRetries", "--health-retries"),
    ("HealthStartPeriod", "--health-start-period"),
)
"""Settings of which the generator makes an option with the same value."""


def _quadlet(service: Service, settings: list[Setting]) -> list[Launch]:
    """The launches of the container. service: the unit's `[Service]`, whose variables systemd fills in."""
    last = {setting.key: setting for setting in settings if setting.value.flat}
    if "Image" not in last:
        return []
    entrypoint = _entrypoint(last.get("Entrypoint"))
    exec_words = _unit_words(service, last["Exec"].value) if "Exec" in last else []
    command: list[Word] = [_made("podman"), _made("run")]
    for setting in _listed(settings, "EnvironmentFile"):
        command += [_made("--env-file"), Word(setting.value.cut(setting.value.flat.rfind("/") + 1))]
    for setting in _listed(settings, "Environment"):
        for variable in units.assignments(setting.value):
            command += [_made("--env"), _assignment(service, variable)]
    for key, option in _OPTIONS:
        for setting in _listed(settings, key):
            command += [_made(option), Word(setting.value)]
    for setting in _listed(settings, "PodmanArgs"):
        command += _unit_words(service, setting.value)
    if entrypoint:
        command += [_made("--entrypoint"), entrypoint[0]]
    command += [Word(_image(service, last["Image"].value)), *entrypoint[1:], *exec_words]
    start = last.get("Exec") or last.get("Entrypoint") or last["Image"]
    context = CommandContext(
        service.source, site=start.site, env=service.env, env_file=service.env_file, open_env=service.open_env
    )
    found = launches(command, context)
    for launch in found:
        launch.cut = start.cut
    return found


def _made(text: str) -> Word:
    return Word(TracedText.of(text))


def _listed(settings: list[Setting], key: str) -> list[Setting]:
    """The settings of a list; an empty one takes back those before it."""
    found: list[Setting] = []
    for setting in settings:
        if setting.key == key:
            found.append(setting)
            if not setting.value.flat:
                found.clear()
    return found


def _unit_words(service: Service, value: TracedText) -> list[Word]:
    return units.expanded([units.specified(word) for word in units.split(value)], service.lookup)


def _assignment(service: Service, variable: Variable) -> Word:
    value = variable.value if variable.value is not None else TracedText(())
    return Word(TracedText.join((TracedText.of(variable.name + "="), units.substituted(value, service.lookup))), variable.site)


def _entrypoint(setting: Setting | None) -> list[Word]:
    """The words of `Entrypoint=`, which may be a JSON list."""
    if setting is None:
        return []
    if setting.value.flat[:1] == "[":
        node = json.parse(setting.value)
        if isinstance(node, json.JsonNode) and node.kind == json.ARRAY:
            return [Word(item.content, item.text.span()) for item in node.items]
    return [Word(setting.value)]


def _image(service: Service, image: TracedText) -> TracedText:
    """An image; that of another unit (`Image=llm.image`), if it lies beside this one."""
    if not image.flat.endswith((".image", ".build")):
        return units.substituted(units.specified(Word(image)).text, service.lookup)
    beside = service.neighbours.read(image.flat) if image.flat.endswith(".image") else None
    named = [setting for setting in merged(parse(beside), "Image") if setting.key == "Image"] if beside is not None else []
    if named:
        return named[-1].value
    return TracedText((unknown(image.flat, image.span()),))
