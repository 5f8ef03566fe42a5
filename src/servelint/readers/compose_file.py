"""What a compose file says: its documents and variables, its services, and what several files say of one of them."""

from __future__ import annotations

import posixpath

from servelint.core.launch import Variable
from servelint.core.numbers import is_whole
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.files.siblings import Neighbours
from servelint.syntax import yaml, yaml_values
from servelint.syntax.interpolation import Lookup, interpolate
from servelint.syntax.yaml import Entries, Node

RESET, OVERRIDE = "!reset", "!override"


class File:
    """A compose file.

    Attributes:
        folder: Where its relative paths start, seen from the file that is read.
        outer: Looks up the variables that it may use; None for those of the `.env` beside it.
        tops: The entries of its documents.
        services: Name of a service -> its keys and values, several where documents repeat it.
        spent: How many values were read so far of all files of a project.
        overlaid: Whether a file beside it looks as if it adds the GPUs; None until that is asked.
    """

    __slots__ = ("_awaited", "_dotenv", "folder", "neighbours", "outer", "overlaid", "services", "source", "spent", "tops")

    def __init__(
        self,
        source: Source,
        documents: list[Node],
        neighbours: Neighbours,
        folder: str = "",
        project: File | None = None,
        lookup: Lookup | None = None,
    ) -> None:
        self.source = source
        self.neighbours = neighbours
        self.folder = folder
        self.outer = lookup if lookup is not None or project is None else project.lookup
        self.spent: list[int] = project.spent if project is not None else [0]
        self._dotenv: dict[str, TracedText] | None = None
        self._awaited: frozenset[str] | None = None
        self.overlaid: bool | None = None
        self.tops = [yaml.entries(document) for document in documents]
        self.services: dict[str, list[tuple[Node, Node]]] = {}
        for top in self.tops:
            for name, defined in yaml.section(top, "services").items():
                self.services.setdefault(name, []).append(defined)

    def lookup(self, name: str) -> TracedText | None:
        """A variable that the file may use."""
        if self.outer is not None:
            return self.outer(name)
        if self._dotenv is None:
            beside = self.neighbours.read(".env")
            self._dotenv = {}
            if beside is not None:
                from servelint.syntax import dotenv

                self._dotenv = dotenv.parse(beside)
        return self._dotenv.get(name)

    @property
    def awaited(self) -> frozenset[str]:
        """The names of the services that another one waits for until they are healthy."""
        if self._awaited is None:
            names: list[str] = []
            for _, node in [definition for defined in self.services.values() for definition in defined]:
                fields = yaml.entries(node)
                for name, (_, waits) in yaml.entries(fields["depends_on"][1]).items() if "depends_on" in fields else ():
                    condition = yaml.entries(waits).get("condition")
                    if condition is not None and yaml.scalar(condition[1]) == "service_healthy":
                        names.append(name)
            self._awaited = frozenset(names)
        return self._awaited

    def text(self, node: Node) -> TracedText:
        """The text of a scalar with its variables filled in."""
        found = interpolate(yaml.text(self.source, node), self.lookup)
        self.spent[0] += 1 + len(found.flat) // 16
        return found

    def items(self, node: Node) -> list[Node]:
        """The items of a sequence; none of anything else."""
        found = yaml.items(node) or []
        self.spent[0] += len(found)
        return found

    def value(self, node: Node) -> TracedText:
        """The text that Docker Compose makes of a scalar: "420" of `0644`."""
        plain = yaml_values.shown(node, yaml_values.COMPOSE)
        return self.text(node) if plain == node.value else TracedText.of(plain, yaml.span(self.source, node))

    def optional(self, fields: Entries, name: str) -> TracedText | None:
        """The value of a field, None if it is missing, null or not a scalar."""
        node = yaml.field(fields, name)
        return self.value(node) if yaml.is_scalar(node) and not yaml.is_null(node) else None

    def read(self, path: str) -> Source | None:
        """A file that this one names."""
        return self.neighbours.read(self.path(path))

    def folder_at(self, path: str) -> Neighbours:
        """The files of a folder that this one names."""
        return self.neighbours.below(self.path(path))

    def path(self, path: str) -> str:
        """A path that this file names, as seen from the file that is read."""
        return f"{self.folder}/{path}" if self.folder and path[:1] not in ("/", "~") else path


Layer = tuple[File, Node, Node]
"""What one file says of something: the file, the key, the value."""


class Service:
    """A service, as one file defines it or as several do together: later ones change what earlier ones say.

    Attributes:
        parts: The files with the fields that each of them has.
        own: The fields of the file that is read.
        fields: The names of all fields.
        open: Whether more of it stands in a file that is not there.
        owner: The file that the service belongs to, None for the file that is read.
    """

    __slots__ = ("fields", "key", "name", "open", "own", "owner", "parts")

    def __init__(
        self, name: str, key: Node, parts: list[tuple[File, Entries]], own: Entries | None = None, open: bool = False
    ) -> None:
        self.name = name
        self.key = key
        self.parts = parts
        self.own = parts[0][1] if own is None else own
        self.fields = self.own if len(parts) == 1 else frozenset([name for _, fields in parts for name in fields])
        self.open = open
        self.owner: Source | None = None

    def layers(self, *path: str) -> list[Layer]:
        """Find what each file says of a field, or of one deeper down; the value that counts comes last."""
        if path[0] not in self.fields:
            return []
        found: list[Layer] = []
        for file, inside in self.parts:
            for depth, name in enumerate(path, start=1):
                defined = inside.get(name)
                if defined is None:
                    break
                key, value = defined
                if yaml.tag(value) in (RESET, OVERRIDE):
                    found = []
                    if yaml.tag(value) == RESET:
                        break
                if depth == len(path):
                    found.append((file, key, value))
                else:
                    inside = yaml.entries(value)
        return found

    def last(self, *path: str) -> TracedText | None:
        """The scalar that counts, None if there is none."""
        if path[0] not in self.fields:
            return None
        for file, _, value in reversed(self.layers(*path)):
            if yaml.is_scalar(value) and not yaml.is_null(value):
                return file.value(value)
        return None


def number(file: File, fields: Entries, name: str) -> int | None:
    """A field that holds a number."""
    text = file.optional(fields, name)
    value = text.value if text is not None else None
    return int(value) if value is not None and is_whole(value) and len(value) < 10 else None


# -- variables


def add_variables(found: dict[str, Variable], file: File, node: Node) -> None:
    """Add an `environment` or `args`, a mapping or a list; a variable without a value comes from outside."""
    for key, (key_node, value) in yaml.entries(node).items():
        if yaml.tag(value) == RESET:
            found.pop(key, None)
            continue
        site = yaml.span(file.source, key_node)
        null = not yaml.is_scalar(value) or yaml.is_null(value)
        text = _outside(file, key, site) if null else file.value(value)
        found[key] = Variable(key, text, site)
    for item in file.items(node):
        if yaml.scalar(item) is not None:
            text = file.text(item)
            name, sign, _ = text.flat.partition("=")
            site = yaml.span(file.source, item)
            found[name] = Variable(name, text.cut(len(name) + 1) if sign else _outside(file, name, site), site)


def _outside(file: File, name: str, site: Span) -> TracedText | None:
    """The value of a variable that is only named: the `.env` file may give it."""
    known = file.lookup(name)
    return known.placed(site, assumed=True) if known is not None else None


def add_files(env: dict[str, Variable], service: Service) -> bool:
    """Add the variables of all the files, later ones over earlier ones; gives whether all of the files are here."""
    complete = True
    for file, path, raw in env_files(service):
        read = env_file(file, path, raw) if path is not None else None
        complete = complete and read is not None
        env.update(read or {})
    return complete


def env_files(service: Service) -> list[tuple[File, str | None, bool]]:
    """List the files of `env_file` and whether they are read without substitution; a path of None is not known."""
    found: dict[str | None, tuple[File, str | None, bool]] = {}
    for file, _, node in service.layers("env_file"):
        listed = yaml.items(node)
        for item in [node] if listed is None else listed:
            if yaml.is_null(item):
                continue
            fields = yaml.entries(item)
            path = file.optional(fields, "path") if fields else file.text(item) if yaml.scalar(item) else None
            value = path.value if path is not None else None
            kind = file.optional(fields, "format")
            # a file that is named twice keeps its first place (compose-go, override/uncity.go)
            found[posixpath.normpath(file.path(value)) if value is not None else None] = (
                file,
                value,
                kind is not None and kind.flat == "raw",
            )
    return list(found.values())


def env_file(file: File, path: str, raw: bool = False) -> dict[str, Variable] | None:
    """The variables of an env file; None if it is not here."""
    beside = file.read(path)
    if beside is None:
        return None
    from servelint.syntax import dotenv

    values = dotenv.raw(beside) if raw else dotenv.parse(beside, file.lookup)
    return {name: Variable(name, value, value.span()) for name, value in values.items()}
