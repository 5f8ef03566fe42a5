"""docker-compose files: services whose container starts an engine.

`entrypoint` and `command` are joined as the container runtime joins them; strings are split as compose splits them; a shell
inside (`bash -c`) is evaluated. Variables come from the `.env` beside the file, `env_file` and `environment`. What several
files say of one service (`extends`, `include`, an override file) is put together in compose_model.
"""

from __future__ import annotations

import re
from functools import cached_property

from servelint.core import bounds
from servelint.core.launch import NO_GPUS, Container, Launch, Mishap, OpenedFile, Port, Probe, Runtime, Variable, Word, join
from servelint.core.source import Source, Span
from servelint.core.text import HOLE, TracedText, unknown
from servelint.engines import entry
from servelint.engines.products import product
from servelint.files.siblings import Neighbours
from servelint.readers import runtime, together
from servelint.readers.commands import SHELLS, not_started, without_shell_text
from servelint.readers.compose_file import RESET, File, Service, add_variables, number
from servelint.readers.containers import identified, in_container
from servelint.readers.context import CommandContext
from servelint.readers.registry import YAML, Format
from servelint.syntax import yaml
from servelint.syntax.shell.words import dropped, split
from servelint.syntax.yaml import Entries, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.images import Image
    from servelint.readers.compose_project import Built, Mounts

FORMAT = Format(
    "compose",
    10,
    title="docker compose",
    about="`extends`, `include`, override files, anchors, profiles, `env_file`, `configs`, services that are built from a "
    "Dockerfile beside it",
    syntax=YAML,
    shape=r"(?m)^[ \t]*[\"']?services[\"']?[ \t]*:",
    lists=False,
    languages=("dockercompose",),
)

_BASES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_OVERRIDES = ("compose.override.yml", "compose.override.yaml", "docker-compose.override.yml", "docker-compose.override.yaml")
"""The files that `docker compose up` takes, the first that is there of each (compose-go, cli/options.go)."""


def is_mine(_source: Source, document: Node) -> bool:
    """Whether a YAML document has the shape of a compose file."""
    services = yaml.entries(document).get("services")
    return services is not None and yaml.is_mapping(services[1])


def read(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the services of a compose file."""
    repeated = [again for node in yaml.collections(documents) if (again := yaml.repeated_key(node)) is not None]
    if (template := yaml.mask_of(source)) is not None:
        # a key that is written several times over, or by one of several parts, is another one each time
        repeated = [key for key in repeated if "{{" not in key.value and not template.branch(yaml.start(key))]
    if repeated:
        bounds.COMPOSE_KEYS.reached(yaml.span(source, min(repeated, key=yaml.start)))
    file = File(source, documents, neighbours)
    files = [file]
    name = source.path.replace("\\", "/").rpartition("/")[2]
    other = _beside(name, neighbours) if name in _BASES or name in _OVERRIDES else None
    services: list[Service] = []
    enough = 2 * sum([source.text.count(sign) for sign in "\n,:"]) + bounds.VALUES.most
    extends = False
    for service, defined in file.services.items():
        key, node = defined[-1]
        fields = yaml.entries(node)
        file.spent[0] += len(fields)
        if file.spent[0] > enough:
            bounds.VALUES.reached(yaml.span(source, key))
            break
        if fields and yaml.tag(node) != RESET:
            services.append(Service(service, key, [(file, fields)]))
            extends = extends or "extends" in fields
    if extends or other is not None or len(documents) > 1:
        from servelint.readers import compose_project

        services, files = compose_project.services(file, other, over=name in _OVERRIDES)
    if len(services) > 1 and all(set(one.fields) == {"image"} for one in services):
        # the images of a file that says the rest, or an excerpt of a page
        for one in services:
            one.open = True
    file.spent[0] = 0
    found: list[Launch] = []
    at_once: list[Launch] = []
    for one in services:
        if file.spent[0] > enough:
            bounds.VALUES.reached(yaml.span(source, one.key))
            break
        if len(found) > bounds.LAUNCHES.most:
            break  # the reading says so
        started = _Reading(source, one, files).launches()
        if len(started) == 1 and not any(one.layers(*key) for key in _MAY_NOT_RUN):
            at_once += started
        if started:
            from servelint.readers import compose_refused

            started[0].mishaps = [*started[0].mishaps, *compose_refused.of_service(one, files, name in _BASES)]
            if not one.layers("healthcheck"):
                started[0].mishaps = [*started[0].mishaps, *compose_refused.of_dependents(files).get(one.name, [])]
        found += started
    if found and name in _BASES and "depends_on" in source.text and not any(one.open for one in services):
        from servelint.readers import compose_refused

        found[0].mishaps = [*found[0].mishaps, *compose_refused.of_dependents(files).get("", [])]
    together.join(at_once)
    join(found)
    return found


def _beside(name: str, neighbours: Neighbours) -> Source | None:
    """The override file of a base file, or the base file of an override file, as `docker compose up` pairs them."""

    def first(names: tuple[str, ...]) -> str | None:
        return next((one for one in names if one == name or neighbours.read(one) is not None), None)

    override = first(_OVERRIDES)
    base = first(_BASES) if override is not None else None
    return neighbours.read(override if base == name else base) if override and base and name in (override, base) else None


class _Reading:
    """One service, and the launches of its container."""

    def __init__(self, source: Source, service: Service, files: list[File]) -> None:
        self.source = source
        self.service = service
        self.files = files
        self.built: Built | None = None

    def launches(self) -> list[Launch]:
        service = self.service
        entrypoint, command = self.words("entrypoint"), self.words("command")
        image_text = service.last("image")
        image = identified(image_text)
        claims, part = image.claims, service.open
        if service.layers("build"):
            from servelint.readers.compose_project import Built

            self.built = built = Built(service, image)
            image, claims = built.image, built.claims
            if command is None and not entrypoint:
                command = built.command
            if entrypoint is None:
                entrypoint = built.entrypoint
        elif image_text is None:
            part = True  # for `docker compose -f base -f this`
        if service.open and command is None:
            command = [Word(TracedText((unknown("command", None, ""),)), many=True)]
        noted = image_text is not None and (image_text.flat.startswith(HOLE) or product(image_text.flat) is not None)
        if image.engine is None and not noted and not entrypoint and not command:
            return []
        env, complete = self.environment()
        context = CommandContext(
            self.source, f"services.{service.name}", self.site(), env, self.container(image_text, env, part), claims
        )
        context.open_env = part or not complete
        context.anchor = context.site
        if self.built is not None or "volumes" in service.fields or "configs" in service.fields:
            context.open, context.files = self.opened, self.mounted
        if entrypoint == []:
            entrypoint = None if command is None else entrypoint
        words = [*(entrypoint or []), *(command or [])]
        context.runtime = None if part else self.container_runtime
        found = in_container(entrypoint, command or [], image, context)
        if not found and any(word.text.flat.endswith((".sh", "entrypoint")) for word in words[:2]):
            from servelint.readers.compose_project import passed_on

            found = passed_on(words, self.opened, context)
            if found:
                context.note_runtime(direct=True, starts=True)
        if not found or any(launch.started for launch in found):
            found = self.unread(found, entrypoint, command, image, context)
        for launch in found:
            launch.owner = service.owner
            if not any(word.value == "--config" or word.text.flat.startswith(("/", "./")) for word in launch.argv):
                for one in launch.every:
                    one.open = None  # nothing names a file of the container, and it would keep the whole file's nodes
        return found

    def unread(
        self,
        found: list[Launch],
        entrypoint: list[Word] | None,
        command: list[Word] | None,
        image: Image,
        context: CommandContext,
    ) -> list[Launch]:
        """Tell of what compose makes of a command string: it splits it without a shell, and drops all from an operator on."""
        layers = self.service.layers("command")
        if not layers or not command or not yaml.is_scalar(layers[-1][2]):
            return found
        file, _, node = layers[-1]
        text = file.text(node)
        known = command[0].value is not None and "$" not in command[0].text.flat
        if not found and known and (entrypoint or image.entrypoint == ()):
            if entrypoint and entry.program(entrypoint[0]) in SHELLS and len(entrypoint) > 1:
                return not_started("shell-arguments", command[0], text, context, 0)
            return without_shell_text(text, [*(entrypoint or []), *command], context)
        rest = dropped(text)
        span = rest.span() if rest is not None else None
        if rest is not None and span is not None:
            for launch in found:
                launch.mishaps = [*launch.mishaps, Mishap("dropped", span, rest.shown)]
        return found

    def words(self, name: str) -> list[Word] | None:
        """An entrypoint or command as words; None where the files leave the image's own."""
        layers = self.service.layers(name)
        if not layers or yaml.is_null(layers[-1][2]):
            return None
        file, _, node = layers[-1]
        listed = yaml.items(node)
        if listed is None:
            return split(file.text(node)) if yaml.scalar(node) is not None else []
        words = yaml.listed(file.source, node) or []
        scalars = [item for item in listed if not yaml.is_mapping(item) and yaml.items(item) is None]
        return [Word(file.text(item), word.site, word.many) for item, word in zip(scalars, words, strict=True)]

    def site(self) -> Span:
        """The launch as a reader sees it: from the key that names the program to the end of the command.

        Where the service takes those from elsewhere, it is what it says itself, else its name.
        """
        own = self.service.own
        nodes = [own[name] for name in ("entrypoint", "command") if name in own]
        nodes = nodes or [own[name] for name in ("image", "extends", "build") if name in own][:1]
        if not nodes:
            return yaml.span(self.source, self.service.key)
        entrypoint = self.words("entrypoint") if len(nodes) > 1 else None
        first = nodes[-1] if entrypoint is None or entry.find(entrypoint) is None else nodes[0]
        # the value of an alias stands elsewhere, often before its key
        ends = [yaml.end(first[0]), *[yaml.span(self.source, value).end for _, value in nodes]]
        return Span(self.source, yaml.start(first[0]), max(ends))

    # -- environment

    def environment(self) -> tuple[dict[str, Variable], bool]:
        """The variables that reach the container, and whether these are all."""
        env: dict[str, Variable] = dict(self.built.env) if self.built is not None else {}
        complete = True
        if "env_file" in self.service.fields:
            from servelint.readers import compose_file

            complete = compose_file.add_files(env, self.service)
        for file, _, node in self.service.layers("environment"):
            add_variables(env, file, node)
        return env, complete

    # -- files in the container

    @cached_property
    def mounts(self) -> Mounts:
        from servelint.readers.compose_project import Mounts

        return Mounts(self.service, self.files)

    def opened(self, path: TracedText) -> OpenedFile | None:
        """A file in the container that a command names."""
        found: OpenedFile | None = None
        if path.flat[:1] in ("/", ".") or "working_dir" in self.service.fields:
            found = self.mounts.open(path)
        return found or (self.built.open(path) if self.built is not None else None)

    def mounted(self, path: str) -> Source | None:
        return self.mounts.source(path)

    # -- container

    def container(self, image: TracedText | None, env: dict[str, Variable], part: bool) -> Container:
        """What the service says of its container.

        Args:
            image: The name of its image.
            env: Its variables.
            part: Whether another file says more of it.
        """
        settings: dict[str, TracedText] = {}
        for name in ("ipc", "shm_size", "runtime", "privileged", "user"):
            if (value := self.service.last(name)) is not None:
                settings[name] = value
        named = env.get("NVIDIA_VISIBLE_DEVICES")
        hidden = named is not None and named.value is not None and named.value.value in ("", *NO_GPUS)
        gpus, reserved = self.gpus(settings.get("runtime"), hidden)
        # what the host gives by itself: devices to a privileged container, GPUs where the NVIDIA runtime is its default
        unsure = part or "privileged" in self.service.fields or (named is not None and not hidden)
        if reserved is False and not unsure:
            unsure = _gpus_added_elsewhere(self.service.parts[0][0])
        if self.built is not None:
            settings["build"] = self.built.engine_image
        return Container(image, settings, gpus, reserved or (None if unsure else reserved), part)

    def container_runtime(self) -> Runtime:
        """How the service is run. Only asked of a service that starts an engine."""
        return of_service(self.service, self.files)

    def gpus(self, chosen: TracedText | None, hidden: bool) -> tuple[int | None, bool | None]:
        """How many GPUs the service reserves (None for all, or an unknown number), and whether it reserves any.

        chosen: its runtime;  hidden: whether NVIDIA_VISIBLE_DEVICES leaves it none
        """
        counts: list[int | None] = []
        reservations = ("deploy", "resources", "reservations")
        for file, _, node in self.service.layers(*reservations, "devices"):
            counts += [_count(file, yaml.entries(item)) for item in file.items(node)]
        for file, _, node in self.service.layers("gpus"):
            listed = yaml.items(node)
            counts += [None] if listed is None else [_count(file, yaml.entries(item)) for item in listed]
        others = [*self.service.layers(*reservations, "generic_resources"), *self.service.layers("devices")]
        if others:
            counts += [count for file, _, node in others for item in file.items(node) for count in _listed_gpus(file, item)]
        if counts:
            return (sum([count or 0 for count in counts]) if None not in counts else None), True
        if chosen is not None and chosen.value == "nvidia" and not hidden:
            return None, True
        # a device that is passed in may be a GPU
        return None, None if any(file.items(node) for file, _, node in self.service.layers("devices")) else False


def _count(file: File, device: Entries) -> int | None:
    """How many devices an item of `devices` or `gpus` stands for."""
    if "device_ids" in device:
        return _identified(file, device["device_ids"][1])
    return number(file, device, "count")


_MAY_NOT_RUN = (("profiles",), ("scale",), ("deploy", "replicas"))
"""Keys with which a service may not be started with the others."""
_ALONE = ("bridge", "default", "none")


def of_service(service: Service, files: list[File]) -> Runtime:
    """How a service is run, as the last of its files says it.

    Args:
        service: The service.
        files: The files of its project.
    """
    network = service.last("network_mode")
    return Runtime(
        ports=_ports(service),
        mounts=_mounts(service),
        probes=_checks(service, files),
        network=network,
        private=_private(service, network, files),
        restart=service.last("restart"),
        called=_called(service, network, files),
        checked=_keeps_check(service),
    )


def _called(service: Service, network: TracedText | None, files: list[File]) -> list[TracedText]:
    """The ports of the addresses with a service's name in the files of its project; none where the name may be another's."""
    container = service.last("container_name")
    names = [name for name in (service.name, container.value if container is not None else None) if name]
    naming = [file for file in files if network is None and any(f"//{name}:" in file.source.text for name in names)]
    if not naming:
        return []
    any_name = "|".join([re.escape(name) for name in names])
    if any(re.search(rf"(?:{any_name})\s*[:=]\s*host-gateway", file.source.text) for file in files):
        return []
    pattern = re.compile(rf"(?m)//(?:{any_name}):(\d{{2,5}})(?=[/\s\"'}}]|$)")
    found: dict[tuple[int, int], TracedText] = {}  # the first of each line, outside of comments
    for at, source in enumerate([file.source for file in naming]):
        for match in pattern.finditer(source.text):
            start = source.text.rfind("\n", 0, match.start()) + 1
            if "#" not in source.text[start : match.start()]:
                found.setdefault((at, start), TracedText.at(source, *match.span(1)))
    return list(found.values())


def _ports(service: Service) -> list[Port]:
    found: list[Port] = []
    for file, _, node in service.layers("ports"):
        for item in file.items(node):
            fields = yaml.entries(item)
            if not fields:
                found += runtime.published(file.text(item))
                continue
            target = file.optional(fields, "target")
            outside, address = file.optional(fields, "published"), file.optional(fields, "host_ip")
            if target is not None and "protocol" not in fields:
                exposed = address.value in ("", "0.0.0.0", "::") if address is not None and address.known else address is None  # noqa: S104
                host = runtime.count(outside, 0) if outside is not None else None
                found.append(
                    Port(target, runtime.count(target, 0), host, exposed if address is None or address.known else None)
                )
    return found


def _mounts(service: Service) -> list[TracedText] | None:
    if "volumes_from" in service.fields:
        return None
    found: list[TracedText] = []
    for file, _, node in service.layers("volumes"):
        for item in file.items(node):
            fields = yaml.entries(item)
            target = file.optional(fields, "target") if fields else runtime.parts(file.text(item))[:2][-1]
            if target is None:
                return None
            found.append(target)
    for file, _, node in service.layers("tmpfs"):
        listed = file.items(node) or [node]
        found += [runtime.parts(file.text(item))[0] for item in listed if yaml.scalar(item) is not None]
    return found


def _private(service: Service, network: TracedText | None, files: list[File]) -> bool | None:
    """Whether no other container shares the network of a service; None if that is not known."""
    joined = f"service:{service.name}"
    if any(joined in file.source.text for file in (*files, *[file for file, _ in service.parts])):
        return False
    if network is None:
        return True
    return None if network.value is None else network.value in _ALONE


def _checks(service: Service, files: list[File]) -> list[Probe]:
    if "healthcheck" not in service.fields:
        return []
    disabled = service.last("healthcheck", "disable")
    tests = service.layers("healthcheck", "test")
    layers = service.layers("healthcheck")
    if not layers or (disabled is not None and disabled.value != "false"):
        return []
    test = _test_words(*tests[-1][::2]) if tests else []
    if not test or test[0].value == "NONE":
        return []  # the image's own, or none
    start, interval = service.last("healthcheck", "start_period"), service.last("healthcheck", "interval")
    retries = service.last("healthcheck", "retries")
    patience = runtime.given_up(runtime.duration(start, 0), runtime.duration(interval, 30), runtime.count(retries, 3))
    patience = patience if runtime.asks_server(test[1:] if test[0].value in ("CMD", "CMD-SHELL") else test) else None
    file, key, _ = layers[-1]
    shown = start or retries or interval or yaml.text(file.source, key)
    port, site, path = runtime.asked(test)
    gates = any(service.name in file.awaited for file in (*files, *[file for file, _ in service.parts]))  # for another one
    program = None if service.layers("build") else runtime.client(test)  # the image of a build has more than its base
    return [Probe("healthcheck", shown, patience, port, site, path=path, gates=gates, program=program)]


def _keeps_check(service: Service) -> bool:
    """Whether the health check of the image holds: without a `test` the other keys change when it runs."""
    disabled = service.last("healthcheck", "disable")
    return not service.layers("healthcheck", "test") and (disabled is None or disabled.value == "false")


def _test_words(file: File, node: Node) -> list[TracedText]:
    if yaml.scalar(node) is not None:
        return [file.text(node)]
    return [file.text(item) for item in file.items(node) if yaml.scalar(item) is not None]


_CDI = "nvidia.com/gpu="
_OVERLAYS = [
    f"{base}{separator}{kind}.{ending}"
    for base in ("docker-compose", "compose")
    for separator in (".", "-")
    for kind in ("gpu", "gpus", "nvidia", "cuda")
    for ending in ("yml", "yaml")
]
"""Names of files that are given with `-f` beside the main one where there are GPUs."""


def _gpus_added_elsewhere(file: File) -> bool:
    """Whether a file beside this one looks as if it adds the GPUs."""
    if file.overlaid is None:
        name = file.source.path.rpartition("/")[2]
        file.overlaid = any(one != name and file.neighbours.read(one) is not None for one in _OVERLAYS)
    return file.overlaid


def _identified(file: File, node: Node) -> int | None:
    """How many devices a list of ids names; None if all, or if it is not known."""
    listed = file.items(node)
    ids = [value for item in listed if (value := file.text(item).value)]
    return _id_count(ids) if ids and len(ids) == len(listed) else None


def _id_count(ids: list[str]) -> int | None:
    # one item may name several: the runtime joins them with commas
    each = [one.strip().removeprefix(_CDI) for joined in ids for one in joined.split(",")]
    return None if "all" in each else len(each)


def _listed_gpus(file: File, item: Node) -> list[int | None]:
    """The GPUs of an item of `devices` or of `generic_resources`: how many there are, None if all; none of other devices."""
    fields = yaml.entries(item)
    if "discrete_resource_spec" in fields:
        spec = yaml.entries(fields["discrete_resource_spec"][1])
        kind = file.optional(spec, "kind")
        return [number(file, spec, "value")] if kind is not None and "gpu" in kind.flat.lower() else []
    device = file.optional(fields, "source") or file.text(item)
    if not device.flat.startswith(_CDI):
        return []
    return [_id_count([device.flat]) if device.known else None]
