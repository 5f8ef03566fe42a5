"""What a compose service takes from other files: other compose files, the Dockerfile that it builds, mounts and configs.

The parts that several compose files say of one service (`extends`, `include`, the override file, documents of one file) are
kept apart, each with its file, so that every value keeps its place; which of them counts is decided field by field, as the
Compose specification merges them (compose-go, override/merge.go). What an `extends` brings comes before what the service says
itself; files are merged after each has extended its own.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable

from servelint.core import bounds
from servelint.core.launch import Launch, OpenedFile, ReleaseClaim, Variable, Word
from servelint.core.source import Source, Span
from servelint.core.text import EMPTY, HOLE, TracedText, unknown
from servelint.engines import entry, images
from servelint.files.siblings import Neighbours
from servelint.readers import commands, runtime
from servelint.readers.commands import launches
from servelint.readers.compose_file import OVERRIDE, RESET, File, Service, add_variables
from servelint.readers.context import CommandContext
from servelint.syntax import yaml
from servelint.syntax.interpolation import Lookup
from servelint.syntax.yaml import Entries, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.readers.dockerfile_stages import Stage

Part = tuple[File, Entries]


def services(file: File, other: Source | None, *, over: bool) -> tuple[list[Service], list[File]]:
    """Put the services of a file together as they are started.

    Services that only another file of the project names are left out: they are found where that file is read.

    Args:
        file: The file that is read.
        other: The file that `docker compose up` takes as well.
        over: Whether that is the base of the file, not its override.

    Returns:
        The services, and the files of their project; the file that counts most comes last.
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
    """The files of a project, each parsed once.

    Attributes:
        missing: Whether a part that was needed is not there.
    """

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
        """Open a compose file.

        Args:
            path: Its path, seen from the file that is read.
            folder: Where its own paths start.
            lookup: The variables of an included file, None for those of the project.
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
        name = (file.optional(inside, "service") if inside else file.text(node)) or TracedText(())
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
        if (given := file.optional(inside, "project_directory")) is not None:
            if given.value is None:
                return []
            folder = _join(file.folder, given.value)
        named = [_join(file.folder, path or "") for path in _texts(file, inside["env_file"][1])] if "env_file" in inside else []
        lookup = self.environment(file, named or [_join(folder, ".env")])
        opened = [self.open(_join(file.folder, path), folder, lookup) for path in paths if path is not None]
        return [one for one in opened if one is not None]

    def environment(self, file: File, paths: list[str]) -> Lookup:
        """The variables of an included file: those of the project that includes it come before its own."""
        values: dict[str, TracedText] | None = None

        def own(name: str) -> TracedText | None:
            nonlocal values
            if values is None:
                from servelint.syntax import dotenv

                values = {}
                for path in paths:
                    if (source := self.neighbours.read(path)) is not None:
                        values.update(dotenv.parse(source, file.lookup))
            return values.get(name)

        def lookup(name: str) -> TracedText | None:
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


_IMAGE = "docker-image://"


class Built:
    """An image that is built from a Dockerfile.

    Attributes:
        image: What the Dockerfile says of the engine and its release. The name of the image is only a label, which says
            them where the Dockerfile is not there.
    """

    def __init__(self, service: Service, labelled: images.Image) -> None:
        self.stages: list[Stage] = []
        self.stage: Stage | None = None
        self.text = TracedText(())
        self.opened: dict[str, OpenedFile | None] = {}
        named = labelled.claim if labelled.claim.release is not None else ReleaseClaim()
        self.image = images.Image(labelled.engine, named, labelled.entrypoint)
        build = _Build(service)
        text, target = build.dockerfile(), build.get("target")
        if text is not None and (target is None or target.value is not None):
            from servelint.readers import dockerfile_stages

            self.text = text
            self.neighbours = build.context() or Neighbours(None)
            given = {name: variable.value for name, variable in build.args.items()}
            self.stages = dockerfile_stages.stages(text, given, build.contexts())
            self.stage = dockerfile_stages.chosen(self.stages, target.value if target is not None else None)
        found = self.stage.image if self.stage is not None else None
        if found is not None:
            self.image = found if found.engine is not None else images.Image(labelled.engine, found.claim, labelled.entrypoint)

    @property
    def claims(self) -> dict[str, ReleaseClaim]:
        """Engine -> what is known of its release."""
        return self.stage.claims if self.stage is not None else self.image.claims

    @property
    def engine_image(self) -> TracedText:
        """The image of FROM that brings the engine; no text if none does, or a release is installed over it."""
        stage = self.stage
        if stage is None or stage.origin.engine is None or stage.origin.engine != self.image.engine:
            return EMPTY
        claim = self.claims.get(stage.origin.engine)
        return stage.reference if claim is None or claim.release is None else EMPTY

    @property
    def env(self) -> dict[str, Variable]:
        """The variables that the Dockerfile sets."""
        return self.stage.env if self.stage is not None else {}

    @property
    def entrypoint(self) -> list[Word] | None:
        """The words of ENTRYPOINT, None for the base image's own."""
        return self.stage.entrypoint.words if self.stage is not None and self.stage.entrypoint is not None else None

    @property
    def command(self) -> list[Word] | None:
        """The words of CMD, None for the base image's own."""
        return self.stage.cmd.words if self.stage is not None and self.stage.cmd is not None else None

    def open(self, path: TracedText) -> OpenedFile | None:
        """A file that the Dockerfile puts into the image."""
        name = path.value
        if self.stage is None or name is None or name.startswith("-"):
            return None
        if "/" not in name and not name.endswith(".sh") and name not in self.text.flat:
            return None  # every command of a script is asked for
        if name not in self.opened:
            from servelint.readers import dockerfile

            self.opened[name] = dockerfile.open_file(self.stage, self.stages, path, self.neighbours)
        return self.opened[name]


class _Build:
    """The fields of a `build`; its short form is the context alone."""

    def __init__(self, service: Service) -> None:
        self.fields: dict[str, tuple[File, Node]] = {}
        self.args: dict[str, Variable] = {}
        for file, _, node in service.layers("build"):
            if not yaml.is_mapping(node):
                self.fields["context"] = (file, node)
            for name, (_, value) in yaml.entries(node).items():
                if yaml.tag(value) == RESET:
                    self.fields.pop(name, None)
                else:
                    self.fields[name] = (file, value)
        for file, _, node in service.layers("build", "args"):
            add_variables(self.args, file, node)
        self.named: dict[str, Variable] = {}
        for file, _, node in service.layers("build", "additional_contexts"):
            add_variables(self.named, file, node)

    def get(self, name: str) -> TracedText | None:
        if name not in self.fields:
            return None
        file, node = self.fields[name]
        return file.text(node) if yaml.scalar(node) is not None else None

    def context(self) -> Neighbours | None:
        """The files that are built from; None if they are not here."""
        folder = self.get("context")
        value = folder.value if folder is not None else "."
        if not self.fields or value is None or "://" in value:
            return None
        file = self.fields["context"][0] if "context" in self.fields else next(iter(self.fields.values()))[0]
        return file.folder_at(value)

    def contexts(self) -> dict[str, TracedText]:
        """The images that `additional_contexts` gives names to; unknown for folders, and for images of other services."""
        found: dict[str, TracedText] = {}
        for name, variable in self.named.items():
            value = variable.value or TracedText(())
            image = value.flat.startswith(_IMAGE)
            found[name.lower()] = value.cut(len(_IMAGE)) if image else TracedText((unknown("${" + name + "}", variable.site),))
        return found

    def dockerfile(self) -> TracedText | None:
        """The Dockerfile; None if it is not here."""
        if "dockerfile_inline" in self.fields:
            return self.get("dockerfile_inline")
        context, name = self.context(), self.get("dockerfile")
        if context is None or (name is not None and name.value is None):
            return None
        beside = context.read(name.value if name is not None and name.value else "Dockerfile")
        return TracedText.at(beside, 0, len(beside.text)) if beside is not None else None


_WORKING = "${PWD}"


class Mounts:
    """What a service sees in its container at which path.

    Attributes:
        targets: Path in the container -> file and path of what is mounted there; None for a volume or an unknown source.
        configs: Path in the container -> the file, the item and the name of a config.
        folder: The working folder.
    """

    def __init__(self, service: Service, files: list[File]) -> None:
        self.files = files
        self.targets: dict[str, tuple[File, str] | None] = {}
        self.configs: dict[str, tuple[File, Node, str]] = {}
        folder = service.last("working_dir")
        self.folder = folder.value if folder is not None else None
        for file, _, node in service.layers("volumes"):
            for item in file.items(node):
                self._mount(file, item)
        for file, _, node in service.layers("configs"):
            for item in file.items(node):
                self._config(file, item)

    def _mount(self, file: File, item: Node) -> None:
        if fields := yaml.entries(item):
            source, target = file.optional(fields, "source"), file.optional(fields, "target")
        else:
            text = file.text(item)
            parts = runtime.parts(text)
            source, target = (parts[0], parts[1]) if len(parts) > 1 else (None, text)
        if target is None or not target.value or not target.flat.startswith("/"):
            return
        here = _here(source) if source is not None else None
        self.targets[posixpath.normpath(target.value)] = (file, here) if here is not None else None

    def _config(self, file: File, item: Node) -> None:
        fields = yaml.entries(item)
        name = file.optional(fields, "source") if fields else file.text(item)
        if name is None or not name.value:
            return
        given = file.optional(fields, "target")
        target = given.value if given is not None else "/" + name.value
        if target is not None:
            self.configs[posixpath.normpath(target)] = (file, item, name.value)

    def absolute(self, path: str) -> str | None:
        """The absolute path in the container, None if the working folder is not known."""
        if not path.startswith("/"):
            if self.folder is None or not self.folder.startswith("/"):
                return None
            path = f"{self.folder}/{path}"
        return "/" + posixpath.normpath(path).lstrip("/")

    def open(self, path: TracedText) -> OpenedFile | None:
        """A file by the path that a command in the container gives."""
        value = self.absolute(path.value) if path.value else None
        if value is None:
            return None
        text = self._content(value)
        if text is None:
            source = self.source(value)
            text = TracedText.at(source, 0, len(source.text)) if source is not None else None
        if text is None:
            return None
        self.files[-1].spent[0] += len(text.flat) // 16
        return OpenedFile(text, value, True, self.source)

    def source(self, path: str) -> Source | None:
        """A file of its own that is mounted at a path."""
        value = self.absolute(path)
        if value is None:
            return None
        if value in self.configs:
            file, _, name = self.configs[value]
            return self._config_file(file, name)
        at = value
        while at != "/":
            if at in self.targets:
                mounted = self.targets[at]
                return mounted[0].read(mounted[1] + value[len(at) :]) if mounted is not None else None
            at = posixpath.dirname(at)
        return None

    def _content(self, path: str) -> TracedText | None:
        """The text of a config that the compose file itself holds."""
        if path not in self.configs:
            return None
        for file, fields in self._definitions(*self.configs[path][::2]):
            if "content" in fields:
                return file.optional(fields, "content")
        return None

    def _config_file(self, file: File, name: str) -> Source | None:
        for one, fields in self._definitions(file, name):
            if (path := one.optional(fields, "file")) is not None:
                return one.read(path.value) if path.value else None
        return None

    def _definitions(self, file: File, name: str) -> list[tuple[File, yaml.Entries]]:
        """What the top level of the project's files says of a config, the last word first."""
        found: list[tuple[File, yaml.Entries]] = []
        for one in [*reversed(self.files), file]:
            for top in reversed(one.tops):
                if "configs" in top:
                    defined = yaml.entries(top["configs"][1]).get(name)
                    found += [(one, yaml.entries(defined[1]))] if defined is not None else []
        return found


def _here(source: TracedText) -> str | None:
    """A path beside the compose file; None for a volume, and for what stands elsewhere on the machine."""
    flat = source.flat
    if source.pieces and source.pieces[0].expression == _WORKING:
        # the folder from which compose is started: its own, or what is mounted would not be there
        flat = "." + flat[1:]
    return flat if HOLE not in flat and (flat in (".", "..") or flat.startswith(("./", "../"))) else None


def passed_on(words: list[Word], opened: Callable[[TracedText], OpenedFile | None], context: CommandContext) -> list[Launch]:
    """The launch of a command that is given to a script which is not here: such a script ends in `exec "$@"`."""
    at = 1 if entry.program(words[0]) in commands.SHELLS else 0
    if len(words) < at + 3 or opened(words[at].text) is not None:
        return []
    if not (entry.program(words[at]) or "").endswith((".sh", "entrypoint")):
        return []
    at += 2 if words[at + 1].value == "--" else 1
    if entry.find(words, at) is None:
        return []
    return launches(words[at:], context.with_(site=context.site, env=context.env, open_env=True))
