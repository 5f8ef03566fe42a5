"""What several compose files say of one service: `extends`, `include`, the override file, documents of one file.

The parts are kept apart, each with its file, so that every value keeps its place; which of them counts is told field by field,
as the Compose specification merges them (compose-go, override/merge.go). What an `extends` brings comes before what the
service says itself; files are merged after each has extended its own.
"""

from __future__ import annotations

import os

from servelint.core import bounds
from servelint.core.source import Source, Span
from servelint.core.text import Text
from servelint.readers.compose_file import OVERRIDE, RESET, File, Service
from servelint.syntax import yaml
from servelint.syntax.interpolation import Lookup
from servelint.syntax.yaml import Entries, Node

Part = tuple[File, Entries]


def services(file: File, other: Source | None, *, over: bool) -> tuple[list[Service], list[File]]:
    """The services of a file as they are started, and the files of their project, the last word last.

    other: the file that `docker compose up` takes as well;  over: it is the base of the file, not its override.
    Services that only the other file, or an included one, names are not among them: they are told where that file is read.
    """
    model = _Model(file)
    beside = model.parsed(other, "", None) if other is not None else None
    files = [beside, file] if beside is not None and over else [file, beside] if beside is not None else [file]
    found: list[Service] = []
    for name, defined in file.services.items():
        parts: list[Part] = []
        model.missing = False
        for one in files:
            parts = model.merged(parts, one, name)
        if not parts or not any(yaml.is_mapping(node) for _, node in defined):
            continue
        own: Entries = {}
        for _, node in defined:
            own.update(yaml.entries(node))
        service = Service(name, defined[-1][0], parts, own, model.missing)
        if beside is not None and over and name in beside.services:
            service.owner = beside.source
        found.append(service)
    return found, files


class _Model:
    """The files of a project, each parsed once. missing: a part that was asked for is not here."""

    def __init__(self, project: File) -> None:
        self.project = project
        self.top = Span(project.source, 0, 0)
        self.neighbours = project.neighbours
        self.files: dict[tuple[str, str, bool], File | None] = {}
        self.includes: dict[int, list[list[File]]] = {}
        self.missing = False
        self.fields = 0

    def parsed(self, source: Source, folder: str, lookup: Lookup | None) -> File | None:
        documents, _ = yaml.documents(source)
        mine: list[Node] = [document for document in documents if yaml.is_mapping(document)]
        return File(source, mine, self.neighbours, folder, self.project, lookup) if mine else None

    def open(self, path: str, folder: str, lookup: Lookup | None = None) -> File | None:
        """A compose file by its path as seen from the file that is read.

        folder: where its own paths start;  lookup: the variables of a file that is included, None for the project's
        """
        key = (path, folder, lookup is None)
        if key not in self.files:
            if len(self.files) >= bounds.COMPOSE_FILES.most:
                bounds.COMPOSE_FILES.reached(self.top)
                return None
            source = self.neighbours.read(path)
            self.files[key] = self.parsed(source, folder, lookup) if source is not None else None
        return self.files[key]

    # -- services

    def merged(self, parts: list[Part], file: File, name: str, trail: tuple[tuple[str, str], ...] = ()) -> list[Part]:
        """The parts of a service after those that a file adds, or takes away."""
        self.fields += 1
        if bounds.COMPOSE_FIELDS.passed(self.fields, self.top):
            self.missing = True
            return parts
        if name not in file.services:
            return self.from_included(parts, file, name, trail)
        for _, node in file.services[name]:
            if yaml.tag(node) in (RESET, OVERRIDE):
                parts = []
            if yaml.tag(node) == RESET or not yaml.is_mapping(node):
                continue
            fields = yaml.entries(node)
            self.fields += len(fields)
            parts = [*parts, *self.extended(file, fields, (*trail, (file.source.path, name))), (file, fields)]
        if bounds.COMPOSE_PARTS.passed(len(parts), self.top):
            self.missing = True
        return parts[-bounds.COMPOSE_PARTS.most :]

    def extended(self, file: File, fields: Entries, trail: tuple[tuple[str, str], ...]) -> list[Part]:
        """The parts that a service takes over by its `extends`."""
        if "extends" not in fields or yaml.tag(fields["extends"][1]) == RESET:
            return []
        node = fields["extends"][1]
        inside = yaml.entries(node)
        name = (file.optional(inside, "service") if inside else file.text(node)) or Text(())
        base: File | None = file
        if "file" in inside:
            path = file.optional(inside, "file")
            base = self.beside(file, path.value) if path is not None and path.value is not None else None
        found: list[Part] = []
        if base is not None and name.value:
            if (base.source.path, name.value) in trail:
                bounds.COMPOSE_CIRCLE.reached(yaml.span(file.source, node))
            elif not bounds.COMPOSE_DEPTH.passed(len(trail), yaml.span(file.source, node)):
                found = self.merged([], base, name.value, trail)
        self.missing = self.missing or not found
        return found

    def beside(self, file: File, path: str) -> File | None:
        """The file that an `extends` names: its paths start in its own folder, its variables are those of who extends it."""
        included = file.outer is not None and file.outer != self.project.lookup
        return self.open(*_below(file, path), file.lookup if included else None)

    # -- include

    def from_included(self, parts: list[Part], file: File, name: str, trail: tuple[tuple[str, str], ...]) -> list[Part]:
        """The parts of a service that a file only includes."""
        if bounds.COMPOSE_DEPTH.passed(len(trail), self.top):
            return parts
        for project in self.included(file):
            for one in project:
                # the place in the trail ends circles of includes
                if (one.source.path, "") not in trail:
                    parts = self.merged(parts, one, name, (*trail, (one.source.path, "")))
        return parts

    def included(self, file: File) -> list[list[File]]:
        """The projects that a file includes, each of one file or of several that are merged."""
        if id(file) not in self.includes:
            self.includes[id(file)] = []
            nodes = [item for top in file.tops if "include" in top for item in file.items(top["include"][1])]
            self.includes[id(file)] = [project for node in nodes if (project := self.include(file, node))]
        return self.includes[id(file)]

    def include(self, file: File, node: Node) -> list[File]:
        inside = yaml.entries(node)
        paths = _texts(file, inside["path"][1] if "path" in inside else node)
        if not paths or paths[0] is None:
            return []
        folder = _below(file, paths[0])[1]
        given = file.optional(inside, "project_directory")
        if given is not None:
            if given.value is None:
                return []
            folder = _join(file.folder, given.value)
        named = [_join(file.folder, path or "") for path in _texts(file, inside["env_file"][1])] if "env_file" in inside else []
        lookup = self.environment(file, named or [_join(folder, ".env")])
        opened = [self.open(_join(file.folder, path), folder, lookup) for path in paths if path is not None]
        return [one for one in opened if one is not None]

    def environment(self, file: File, paths: list[str]) -> Lookup:
        """The variables of an included file: those of the project that includes it come before its own."""
        values: dict[str, Text] | None = None

        def own(name: str) -> Text | None:
            nonlocal values
            if values is None:
                from servelint.syntax import dotenv

                values = {}
                for path in paths:
                    source = self.neighbours.read(path)
                    if source is not None:
                        values.update(dotenv.parse(source, file.lookup))
            return values.get(name)

        def lookup(name: str) -> Text | None:
            known = file.lookup(name)
            return known if known is not None else own(name)

        return lookup


def _texts(file: File, node: Node) -> list[str | None]:
    listed = yaml.items(node)
    nodes = [node] if listed is None else listed
    return [file.text(item).value if yaml.scalar(item) is not None else None for item in nodes]


def _join(folder: str, path: str) -> str:
    return os.path.join(folder, path) if folder and path[:1] != "~" else path


def _below(file: File, path: str) -> tuple[str, str]:
    """A path that a file names, as seen from the file that is read, and its folder."""
    whole = os.path.normpath(_join(file.folder, path))
    return whole, os.path.dirname(whole)
