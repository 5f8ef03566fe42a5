"""docker-compose files: services whose container starts an engine.

`entrypoint` and `command` are joined as the container runtime joins them; strings are split as compose splits them; a shell
inside (`bash -c`) is evaluated. Variables come from the `.env` beside the file, `env_file` and `environment`.
"""

from __future__ import annotations

from servelint import yaml_nodes
from servelint.engines import entry, images
from servelint.interpolate import interpolate
from servelint.launch import Container, Launch, ReleaseClaim, Variable, Word
from servelint.readers.commands import Place, in_container
from servelint.readers.neighbours import Neighbours
from servelint.shell.words import split
from servelint.source import Source, Span
from servelint.text import Text
from servelint.yaml_nodes import Entries, Node


def is_mine(source: Source, document: Node) -> bool:
    """Whether a YAML document has the shape of a compose file."""
    del source
    services = yaml_nodes.entries(document).get("services")
    return services is not None and yaml_nodes.is_mapping(services[1])


def read(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    return [launch for document in documents for launch in _Compose(source, neighbours).launches(document)]


class _Compose:
    def __init__(self, source: Source, neighbours: Neighbours) -> None:
        self.source = source
        self.neighbours = neighbours
        self._dotenv: dict[str, Text] | None = None

    def launches(self, document: Node) -> list[Launch]:
        found: list[Launch] = []
        services = yaml_nodes.entries(document)["services"][1]
        for name, (_, service) in yaml_nodes.entries(services).items():
            if yaml_nodes.is_mapping(service):
                found += self.service(f"services.{name}", yaml_nodes.entries(service))
        return found

    # -- values

    def lookup(self, name: str) -> Text | None:
        if self._dotenv is None:
            beside = self.neighbours.read(".env")
            self._dotenv = {}
            if beside is not None:
                from servelint import dotenv

                self._dotenv = dotenv.parse(beside)
        return self._dotenv.get(name)

    def text(self, node: Node) -> Text:
        return interpolate(yaml_nodes.text(self.source, node), self.lookup)

    def optional(self, fields: Entries, name: str) -> Text | None:
        field = fields.get(name)
        return self.text(field[1]) if field is not None and yaml_nodes.scalar(field[1]) is not None else None

    def words(self, fields: Entries, name: str) -> list[Word] | None:
        """An entrypoint or command as words; None where the file leaves the image's own."""
        field = fields.get(name)
        if field is None or yaml_nodes.is_null(field[1]):
            return None
        listed = yaml_nodes.items(field[1])
        if listed is None:
            return split(self.text(field[1])) if yaml_nodes.scalar(field[1]) is not None else []
        return [
            Word(self.text(item), yaml_nodes.span(self.source, item))
            for item in listed
            if not yaml_nodes.is_mapping(item) and yaml_nodes.items(item) is None
        ]

    # -- services

    def service(self, name: str, fields: Entries) -> list[Launch]:
        entrypoint, command = self.words(fields, "entrypoint"), self.words(fields, "command")
        image_text = self.optional(fields, "image")
        image = images.identify(image_text) if image_text is not None else images.Image(None, ReleaseClaim(), None)
        if "build" in fields:
            image = self.built(fields["build"][1], image)
        if image.engine is None and not entrypoint and not command:
            return []
        env, open_env = self.environment(fields)
        place = Place(
            self.source,
            name,
            self.site(fields, entrypoint),
            env,
            self.container(fields, image_text),
            image.claims,
            self.env_file,
            open_env,
        )
        if entrypoint == []:
            entrypoint = None if command is None else entrypoint
        return in_container(entrypoint, command or [], image, place)

    def site(self, fields: Entries, entrypoint: list[Word] | None) -> Span:
        """The launch as a reader sees it: from the key that names the program to the end of the command."""
        nodes = [fields[name] for name in ("entrypoint", "command") if name in fields] or [fields["image"]]
        first = nodes[-1] if entrypoint is None or entry.find(entrypoint) is None else nodes[0]
        # the value of an alias stands elsewhere, often before its key
        ends = [first[0].end_mark.index, *[yaml_nodes.span(self.source, value).end for _, value in nodes]]
        return Span(self.source, first[0].start_mark.index, max(ends))

    def built(self, node: Node, image: images.Image) -> images.Image:
        """An image that is built here holds what its Dockerfile says; its own name is only a label."""
        from servelint.readers import dockerfile

        fields = yaml_nodes.entries(node)
        text = self.dockerfile(node, fields)
        target = self.optional(fields, "target")
        if text is None or (target is not None and target.value is None):
            return images.Image(image.engine, ReleaseClaim(), image.entrypoint)
        args = self.variables(fields["args"][1]) if "args" in fields else {}
        given = {name: variable.value for name, variable in args.items()}
        base = dockerfile.base(text, given, target.value if target is not None else None)
        return images.Image(base.engine or image.engine, base.claim, base.entrypoint if base.engine else image.entrypoint)

    def dockerfile(self, node: Node, fields: Entries) -> Text | None:
        """The Dockerfile of a `build`; None if it is not here."""
        if "dockerfile_inline" in fields:
            return self.optional(fields, "dockerfile_inline")
        context = self.text(node) if not yaml_nodes.is_mapping(node) else self.optional(fields, "context")
        folder = context.value if context is not None else "."
        name = self.optional(fields, "dockerfile")
        if folder is None or "://" in folder or (name is not None and name.value is None):
            return None
        beside = self.neighbours.read(f"{folder.rstrip('/')}/{name.value if name is not None else 'Dockerfile'}")
        return Text.at(beside, 0, len(beside.text)) if beside is not None else None

    def environment(self, fields: Entries) -> tuple[dict[str, Variable], bool]:
        """The variables that reach the container, and whether there may be more of them."""
        env: dict[str, Variable] = {}
        open_env = "extends" in fields
        if "env_file" in fields:
            for path in self.env_files(fields["env_file"][1]):
                read = self.env_file(path) if path is not None else None
                open_env = open_env or read is None
                env.update(read or {})
        if "environment" in fields:
            env.update(self.variables(fields["environment"][1]))
        return env, open_env

    def variables(self, node: Node) -> dict[str, Variable]:
        """`environment` or `args`, a mapping or a list; a variable without a value comes from outside."""
        found: dict[str, Variable] = {}
        for key, (key_node, value) in yaml_nodes.entries(node).items():
            text = self.text(value) if yaml_nodes.scalar(value) is not None else None
            found[key] = Variable(key, text, yaml_nodes.span(self.source, key_node))
        for item in yaml_nodes.items(node) or []:
            if yaml_nodes.scalar(item) is not None:
                text = self.text(item)
                name, sign, _ = text.flat.partition("=")
                value_text = text.cut(len(name) + 1) if sign else None
                found[name] = Variable(name, value_text, yaml_nodes.span(self.source, item))
        return found

    def env_files(self, node: Node) -> list[str | None]:
        """The paths of `env_file`; None for one that cannot be told."""
        listed = yaml_nodes.items(node)
        paths: list[str | None] = []
        for item in [node] if listed is None else listed:
            fields = yaml_nodes.entries(item)
            path = self.optional(fields, "path") if fields else self.text(item) if yaml_nodes.scalar(item) else None
            paths.append(path.value if path is not None else None)
        return paths

    def env_file(self, path: str) -> dict[str, Variable] | None:
        beside = self.neighbours.read(path)
        if beside is None:
            return None
        from servelint import dotenv

        return {name: Variable(name, value, value.span()) for name, value in dotenv.parse(beside, self.lookup).items()}

    def container(self, fields: Entries, image: Text | None) -> Container:
        settings: dict[str, Text] = {}
        for name in ("ipc", "shm_size", "runtime"):
            value = self.optional(fields, name)
            if value is not None:
                settings[name] = value
        gpus, reserved = self.gpus(fields)
        return Container(image, settings, gpus, reserved)

    def gpus(self, fields: Entries) -> tuple[int | None, bool | None]:
        """How many GPUs a service reserves (None: all, or not known), and whether it reserves any."""
        wanted: list[Entries] = []
        node = fields["deploy"][1] if "deploy" in fields else None
        for key in ("resources", "reservations", "devices"):
            node = yaml_nodes.entries(node).get(key, (None, None))[1]
        wanted += [yaml_nodes.entries(item) for item in yaml_nodes.items(node) or []]
        if "gpus" in fields:
            listed = yaml_nodes.items(fields["gpus"][1])
            if listed is None:
                return None, True
            wanted += [yaml_nodes.entries(item) for item in listed]
        total: int | None = 0
        reserved = bool(wanted)
        for device in wanted:
            count = self.count(device)
            total = None if total is None or count is None else total + count
        if reserved:
            return total, True
        runtime = self.optional(fields, "runtime")
        if runtime is not None and runtime.value == "nvidia":
            return None, True
        return None, None if "devices" in fields else False

    def count(self, device: Entries) -> int | None:
        if "device_ids" in device:
            listed = yaml_nodes.items(device["device_ids"][1]) or []
            ids = [value for item in listed if (value := self.text(item).value)]
            # one item may name several: the runtime joins them with commas
            return sum(len(value.split(",")) for value in ids) if ids and len(ids) == len(listed) else None
        count = self.optional(device, "count")
        return int(count.value) if count is not None and count.value is not None and count.value.isdigit() else None
