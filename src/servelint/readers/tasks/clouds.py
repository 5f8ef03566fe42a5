"""Tasks that a tool runs on machines elsewhere: SkyPilot, dstack, srt-slurm and Akash."""

from __future__ import annotations

import re

from servelint.core.launch import Container, Launch, Mishap, Variable, Word
from servelint.core.numbers import is_whole
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import ENGINES
from servelint.readers.commands import launches
from servelint.readers.containers import identified, in_container
from servelint.readers.context import CommandContext
from servelint.readers.registry import YAML, Format
from servelint.readers.tasks import Claims, Environment, each, optional, run, scalars, script, text, variables, words
from servelint.syntax import yaml
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node, section

SKYPILOT = Format(
    "skypilot",
    32,
    title="SkyPilot",
    about="`setup` and `run` of a task, its image and accelerators",
    syntax=YAML,
    bounded=True,
    is_mine="is_sky",
    read="read_sky",
)
DSTACK = Format(
    "dstack",
    33,
    title="dstack",
    about="commands of tasks, services and groups of replicas, their image and GPUs",
    syntax=YAML,
    bounded=True,
    is_mine="is_dstack",
    read="read_dstack",
)
SRT_SLURM = Format(
    "srt-slurm",
    37,
    title="srt-slurm",
    about="the workers of a recipe with SGLang or vLLM, with their options and variables, and the container",
    syntax=YAML,
    bounded=True,
    is_mine="is_recipe",
    read="read_recipe",
)
AKASH = Format(
    "akash",
    9,
    title="Akash SDL",
    about="services with their variables, and the GPUs of the profiles that deploy them",
    syntax=YAML,
    bounded=True,
    is_mine="is_sdl",
    read="read_sdl",
)

_SKY = frozenset(("envs", "file_mounts", "num_nodes", "resources", "secrets", "service", "setup", "workdir"))
_SKY_GPUS = "SKYPILOT_NUM_GPUS_PER_NODE"
_DSTACK = frozenset(("dev-environment", "service", "task"))
_MEMORY = re.compile(r"[\d.]*(?:GB|MB|TB)?(?:\.\.[\d.]*(?:GB|MB|TB)?)?\+?", re.IGNORECASE)
_VENDORS = frozenset(("amd", "google", "intel", "nvidia", "tenstorrent"))


# -- SkyPilot


def is_sky(_source: Source, document: Node) -> bool:
    """Whether a document is a SkyPilot task."""
    fields = yaml.entries(document)
    scalar = yaml.scalar(yaml.field(fields, "run")) is not None
    return scalar and not _SKY.isdisjoint(fields) and "jobs" not in fields


def _sky(source: Source, document: Node) -> list[Launch]:
    """The launches of a task. `setup` and `run` are scripts on one machine, or in one container."""
    fields = yaml.entries(document)
    env: Environment = {}
    for key in ("envs", "secrets"):
        env.update(variables(source, fields, key))
    wanted = section(fields, "resources")
    named = optional(source, wanted, "image_id")
    named = named.cut(len("docker:")) if named is not None and named.flat.startswith("docker:") else None
    image = identified(named)
    machine = _machine(named, *_accelerators(source, wanted))
    for name, given in (("SKYPILOT_NUM_NODES", optional(source, fields, "num_nodes")), (_SKY_GPUS, _gpus(machine))):
        if given is not None:
            env.setdefault(name, Variable(name, given, given.span()))
    context = CommandContext(source, "run", None, env, machine, image.claims)
    installed: Claims = {}
    found: list[Launch] = []
    for key in ("setup", "run"):
        if key in fields:
            context.name = key
            found += run(script(source, fields[key][1]), context, installed)
    return found


def _gpus(machine: Container | None) -> TracedText | None:
    """How many GPUs a machine has, where the task says it."""
    product = machine.settings.get("gpu_product") if machine is not None else None
    if machine is None or not machine.gpus or product is None:
        return None
    return TracedText.of(str(machine.gpus))


def _machine(image: TracedText | None, product: TracedText | None, count: int | None) -> Container | None:
    """What the launch runs in. More settings may be given than the file has: it is not the container's own."""
    if image is None and product is None:
        return None
    settings = {"gpu_product": product} if product is not None else {}
    return Container(image, settings, count, True if product is not None else None, open=True)


def _accelerators(source: Source, wanted: Entries) -> tuple[TracedText | None, int | None]:
    """`H100:8`, `H100`, `{H100: 8}`; where there is a choice of several, the product is not known."""
    if "accelerators" not in wanted:
        return None, None
    node = wanted["accelerators"][1]
    if yaml.is_mapping(node):
        fields = yaml.entries(node)
        if len(fields) != 1:
            return None, None
        [(key, value)] = fields.values()
        count = yaml.scalar(value)
        return text(source, key), int(count) if count is not None and is_whole(count) else None
    if (listed := yaml.items(node)) is not None:
        if len(listed) != 1:
            return None, None
        node = listed[0]
    if yaml.scalar(node) is None:
        return None, None
    written = text(source, node)
    name, sign, number = written.flat.partition(":")
    if not written.known or not name:
        return None, None
    return written.cut(0, len(name)), int(number) if is_whole(number) else None if sign else 1


# -- dstack


def is_dstack(source: Source, document: Node) -> bool:
    """Whether a document is a run configuration of dstack."""
    fields = yaml.entries(document)
    kind = yaml.scalar(yaml.field(fields, "type"))
    named = source.path.endswith((".dstack.yml", ".dstack.yaml"))
    own = not {"commands", "entrypoint", "init"}.isdisjoint(fields) or "replicas" in fields
    return (
        kind in _DSTACK and own and (named or not {"image", "python", "resources", "env", "port", "ports"}.isdisjoint(fields))
    )


def _dstack(source: Source, document: Node) -> list[Launch]:
    """The launches of a run configuration, and of the groups of replicas that have commands of their own."""
    fields = yaml.entries(document)
    found = _of_run(source, "commands", fields)
    for index, node in enumerate((yaml.items(fields["replicas"][1]) or []) if "replicas" in fields else []):
        group = yaml.entries(node)
        if "commands" in group:
            env = variables(source, fields, "env")
            found += _of_run(source, f"replicas[{index}]", {**fields, **group}, env)
    return found


def _of_run(source: Source, name: str, fields: Entries, outer: Environment | None = None) -> list[Launch]:
    env = {**(outer or {}), **variables(source, fields, "env")}
    named = optional(source, fields, "image")
    image = identified(named)
    machine = _machine(named, *_gpu(source, section(fields, "resources")))
    context = CommandContext(source, name, None, env, machine, image.claims)
    if (entrypoint := optional(source, fields, "entrypoint")) is not None:
        argv: list[Word] = [*split(entrypoint), *(words(source, fields["commands"][1]) if "commands" in fields else [])]
        ends = [fields[key] for key in ("entrypoint", "commands") if key in fields]
        context.site = Span(source, yaml.start(ends[0][0]), max(yaml.span(source, value).end for _, value in ends))
        return launches(argv, context)
    nodes = [fields[key][1] for key in ("init", "commands") if key in fields and scalars(fields[key][1])]
    if nodes:
        return run(script(source, *nodes), context, {})
    if image.entrypoint and "image" in fields and yaml.scalar(fields["type"][1]) != "dev-environment":
        context.site = yaml.span(source, fields["image"][1])
        return in_container(None, [], image, context)
    return []


def _gpu(source: Source, wanted: Entries) -> tuple[TracedText | None, int | None]:
    """`H100:8`, `A100:80GB:2`, `nvidia:B200:8`, `{name: H100, count: 8}`; one GPU where no number is given."""
    if fields := section(wanted, "gpu"):
        name, count = optional(source, fields, "name"), optional(source, fields, "count")
        number = 1 if count is None else int(count.flat) if is_whole(count.flat) else None
        return (name if name is not None and name.known else None), number
    written = optional(source, wanted, "gpu")
    if written is None or not written.known or "," in written.flat:
        return None, None
    product: TracedText | None = None
    number = 1
    at = 0
    for part in written.flat.split(":"):
        if is_whole(part):
            number = int(part)
        elif ".." in part and is_whole(part.replace(".", "")):
            number = None
        elif part.lower() not in _VENDORS and not _MEMORY.fullmatch(part):
            product = written.cut(at, at + len(part))
        at += len(part) + 1
    return product, number


# -- srt-slurm: https://github.com/NVIDIA/srt-slurm/tree/main/src/srtctl/backends

_WORKERS = ("prefill", "decode", "aggregated")
_BACKENDS = {one.platforms["srt-slurm"]: one for one in ENGINES.values() if "srt-slurm" in one.platforms}
"""Backends whose options are those of a worker's command -> their engines."""
_NOT_PASSED = frozenset(("connector", "model-path", "model_path", "nccl-port", "nccl_port"))
_OFF = ("false", "False", "FALSE")


def is_recipe(_source: Source, document: Node) -> bool:
    """Whether a document is a recipe of srt-slurm."""
    fields = yaml.entries(document)
    backend = section(fields, "backend")
    named = (f"{one}_config" in backend for one in _BACKENDS)
    return "container" in section(fields, "model") and "resources" in fields and any(named)


def _recipe(source: Source, document: Node) -> list[Launch]:
    """The launches of a recipe: one for each kind of worker."""
    from servelint.readers.kubernetes.operators import of_mapping

    fields = yaml.entries(document)
    backend, model = section(fields, "backend"), section(fields, "model")
    image = text(source, model["container"][1]).sub(re.compile("#"), lambda _: TracedText.of("/"))  # as enroot writes it
    path = optional(source, model, "path") or TracedText.of("/model")
    own = path.cut(len("hf:")) if path.flat.startswith("hf:") else path
    found: list[Launch] = []
    for engine, record in _BACKENDS.items():
        for worker in _WORKERS:
            given = section(section(backend, f"{engine}_config"), worker)
            if not given:
                continue
            passed = {
                name: pair for name, pair in given.items() if name not in _NOT_PASSED and yaml.scalar(pair[1]) not in _OFF
            }
            argv = [Word(TracedText.of(one)) for one in ("python3", "-m", f"dynamo.{engine}", f"--{record.model_option}")]
            argv += [Word(own, path.span()), *of_mapping(source, passed)]
            if worker != "aggregated" and record.roles[0] == "disaggregation-mode" and record.roles[0] not in given:
                argv += [Word(TracedText.of(one)) for one in ("--disaggregation-mode", worker)]
            env = variables(source, backend, f"{worker}_environment")
            nodes = list(given.values())
            site = Span(source, yaml.start(nodes[0][0]), yaml.span(source, nodes[-1][1]).end)
            claims = identified(image).claims
            context = CommandContext(
                source, f"backend.{engine}_config.{worker}", site, env, Container(image, open=True), claims
            )
            found += launches(argv, context)
    return found


# -- Akash: https://github.com/akash-network/provider/blob/main/cluster/kube/builder/workload.go


def is_sdl(_source: Source, document: Node) -> bool:
    """Whether a document is a deployment of Akash: services, and the profiles by which they are deployed."""
    fields = yaml.entries(document)
    return {"services", "profiles", "deployment"} <= fields.keys() and "compute" in section(fields, "profiles")


def _sdl(source: Source, document: Node) -> list[Launch]:
    """The launches of the services, which run as containers of Kubernetes: `command` replaces the image's entrypoint."""
    from servelint.readers.kubernetes.environment import expand

    fields = yaml.entries(document)
    compute = section(section(fields, "profiles"), "compute")
    found: list[Launch] = []
    for name, (_, node) in section(fields, "services").items():
        service = yaml.entries(node)
        named = optional(source, service, "image")
        if named is None:
            continue
        placements = [yaml.entries(value) for _, value in section(section(fields, "deployment"), name).values()]
        profiles = {one.flat for placed in placements if (one := optional(source, placed, "profile")) is not None}
        resources = section(section(compute, profiles.pop()), "resources") if len(profiles) == 1 else {}
        gpu = section(resources, "gpu")
        product = _model(source, gpu)
        machine = Container(named, {"gpu_product": product} if product is not None else {}, *_units(source, gpu), open=True)
        given = [service[key] for key in ("command", "args") if key in service] or [service["image"]]
        site = Span(source, yaml.start(given[0][0]), max(yaml.span(source, value).end for _, value in given))
        env = variables(source, service, "env")
        image = identified(named)
        context = CommandContext(source, f"deployment.{name}", site, env, machine, image.claims)
        command, args = (
            [
                Word(expand(one.text, env.get, script=any(map(str.isspace, one.text.flat))), one.site)
                for one in _given(source, service, key)
            ]
            for key in ("command", "args")
        )
        options = bool(command) and command[0].text.flat.startswith("-") and image.engine is not None
        started = in_container(None if options else command or None, [*command, *args] if options else args, image, context)
        if started and options and (first := command[0].site) is not None:
            # the options of the entrypoint that they replace: judged as they are meant
            started[0].mishaps.append(Mishap("replaced", first, command[0].text.shown))
        found += started
    return found


def _given(source: Source, fields: Entries, key: str) -> list[Word]:
    """The words of a list, or of a text; none where the key is missing."""
    node = yaml.field(fields, key)
    if node is None:
        return []
    return split(text(source, node)) if yaml.scalar(node) is not None else words(source, node)


def _units(source: Source, gpu: Entries) -> tuple[int | None, bool | None]:
    """How many GPUs a profile has, and whether it has any; both None where it does not say so."""
    units = optional(source, gpu, "units")
    count = int(units.flat) if units is not None and is_whole(units.flat) else 0
    return (count, True) if count else (None, None)


def _model(source: Source, gpu: Entries) -> TracedText | None:
    """The GPU of a profile; None where several will do."""
    vendors = section(section(gpu, "attributes"), "vendor").values()
    models = [optional(source, yaml.entries(item), "model") for _, held in vendors for item in yaml.items(held) or []]
    return models[0] if len(models) == 1 else None


read_recipe = each(_recipe)
read_sdl = each(_sdl)
read_sky = each(_sky)
read_dstack = each(_dstack)
