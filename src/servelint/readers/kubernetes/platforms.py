"""Objects of platforms that put a container together from several objects: Dynamo, llmaz, LLMKube, llm-d, AIBrix and kthena."""

from __future__ import annotations

import re

from servelint.core.launch import Container, Launch, Mishap, Word
from servelint.core.text import TracedText, unknown
from servelint.engines import entry
from servelint.engines.registry import ENGINES, Engine, called, started_by
from servelint.readers.containers import identified, in_container
from servelint.readers.context import CommandContext
from servelint.readers.kubernetes import environment, pods
from servelint.readers.kubernetes.objects import File, Object, Overrides, joined_lists, listed, option_tables, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, Node, section

_HUB = re.compile(r"(?:hf|huggingface)://")
_NO_FIELD = re.compile(r"[a-z]+(?:[-_][a-z0-9]+)+")
"""A name with a dash or an underscore, which no field of Dynamo's services has."""


def dynamo(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launches of a DynamoGraphDeployment, whose services have variables and GPUs beside their container."""
    spec = section(one.fields, "spec")
    services = section(spec, "services")
    found: list[Launch] = []
    for name, (_, node) in (services or {"": (one.node, one.node)}).items():
        service = yaml.entries(node)
        mishaps = _not_fields(file, service) if services else []
        if services and "envs" in spec:
            key, envs = spec["envs"]
            service = {**service, "envs": (key, joined_lists(envs, service["envs"][1]) if "envs" in service else envs)}
        path = f"{one.label}.services.{name}" if services else one.label
        for fields, below in pods.walk(file, node, path):
            pod = pods.Pod(file, fields, below, images)
            # `envs` of the graph and a secret that is named beside it
            pod.complete = "services" not in spec and "envs" not in spec and "envFromSecret" not in service
            for label, container in pod.containers():
                launches = pods.of_container(pod, label, _in_service(service if services else {}, container))
                for launch in launches[:1]:
                    launch.mishaps = [*launch.mishaps, *mishaps]
                    mishaps = []  # once for a service
                found += launches
    return found


def _not_fields(file: File, service: Entries) -> list[Mishap]:
    """Keys of a service that its operator has no field for.

    No name in DynamoComponentDeploymentSharedSpec has a dash or an underscore.
    """
    strange = [(name, key) for name, (key, _) in service.items() if _NO_FIELD.fullmatch(name)]
    return [Mishap("no-field", yaml.span(file.source, key), name) for name, key in strange]


def _in_service(service: Entries, container: Entries) -> Entries:
    """A container with what its service says beside it: `envs`, and `resources` whose GPUs are called `gpu`."""
    merged = dict(container)
    if "envs" in service:
        key, envs = service["envs"]
        merged["env"] = (key, joined_lists(envs, container["env"][1]) if "env" in container else envs)
    limits = section(service, "resources", "limits")
    if "resources" not in container and string(limits, "gpu") is not None:
        key, count = limits["gpu"]
        start, end = yaml.start(key), yaml.end(count)
        name = yaml.new_scalar("nvidia.com/gpu", start, yaml.end(key))
        listing = yaml.new_mapping([(name, count)], start, end)
        merged["resources"] = (key, yaml.new_mapping([(yaml.new_scalar("limits", start, start), listing)], start, end))
    return merged


def llmaz(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launches of a BackendRuntime, one for each of its configurations, or the launch of a Playground."""
    spec = section(one.fields, "spec")
    if one.kind == "Playground":
        return _playground(file, one, spec)
    pod = pods.Pod(file, {}, one.label, images)
    pod.more = True
    pod.complete = False
    found: list[Launch] = []
    for item in listed(spec, "recommendedConfigs"):
        configuration = yaml.entries(item)
        fields: Entries = {key: spec[key] for key in ("command", "image") if key in spec}
        fields |= _renamed(spec, "envs", "env")
        fields |= {key: configuration[key] for key in ("args", "resources") if key in configuration}
        launches = pods.of_container(pod, f"{one.label}.{string(configuration, 'name') or 'default'}", fields)
        for launch in launches:
            _set_version(launch, file, spec)
        found += launches
    return found


def _renamed(fields: Entries, name: str, other: str) -> Entries:
    """The entry of a name under another name, without all others; empty if there is none."""
    return {other: fields[name]} if name in fields else {}


def _set_version(launch: Launch, file: File, spec: Entries) -> None:
    """Give the image of a launch the tag that stands beside it as `version`."""
    image = launch.image
    if image is None or string(spec, "version") is None:
        return
    whole = TracedText.join((image, TracedText.of(":"), yaml.text(file.source, spec["version"][1])))
    if launch.container is not None:
        launch.container.image = whole
    launch.release = identified(whole).claims.get(launch.engine, launch.release)


def _playground(file: File, one: Object, spec: Entries) -> list[Launch]:
    """A model with the name of the runtime that serves it, which is vLLM's where none is named."""
    config = section(spec, "backendRuntimeConfig")
    name = string(config, "backendName")
    engine = called("llmaz", name) if name is not None else started_by("llmaz")
    claim = next((spec[key] for key in ("modelClaim", "modelClaims") if key in spec), None)
    if engine is None or claim is None:
        return []
    given = environment.of_container(file, _renamed(config, "envs", "env"))
    _, args = pods.words(file.source, config, given)
    nodes = [config[key] for key in ("args",) if key in config] or [claim]
    context = CommandContext(file.source, one.label, None, given.variables, Container(None, open=True), open_env=True)
    if string(config, "version") is not None and engine.images:
        tag = yaml.text(file.source, config["version"][1])
        context.claims = identified(TracedText.join((TracedText.of(engine.images[0].repository + ":"), tag))).claims
    models = [*listed(section(spec, "modelClaims"), "models")]
    target = string(section(spec, "modelClaim"), "modelName") or next(
        (string(yaml.entries(item), "name") for item in models), None
    )
    model = file.named.get(("OpenModel", target or ""))
    words = (
        _model(file, engine, section(model.fields, "spec", "source", "modelHub").get("modelID")) if model is not None else []
    )
    return [context.launch(engine.id, [*words, pods.unseen(), *(args or [])], pods.extent(file.source, nodes))]


def _model(file: File, engine: Engine, entry: tuple[Node, Node] | None) -> list[Word]:
    """The words that name a model by a key's value; the hub's scheme in front of it is left off."""
    if entry is None or yaml.scalar(entry[1]) is None or engine.numbered_builds:
        return []  # llama.cpp is given a file of the repository
    text = yaml.text(file.source, entry[1])
    scheme = _HUB.match(text.flat)
    if "://" in text.flat and scheme is None:
        return []
    site = yaml.span(file.source, entry[1])
    option = [Word(TracedText.of("--" + engine.model_option), yaml.span(file.source, entry[0]))] if engine.model_option else []
    return [*option, Word(text.cut(scheme.end()) if scheme is not None else text, site)]


def llmkube(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launch of an InferenceService of LLMKube, which is llama.cpp's where no other runtime is named."""
    spec = section(one.fields, "spec")
    engine = called("llmkube", string(spec, "runtime") or "llamacpp")
    if "modelRef" not in spec:
        return []
    pod = pods.Pod(file, spec, one.label, images)
    pod.complete = False
    if engine is None:
        return pods.of_container(pod, one.label, spec)  # the runtime is the container's own
    where = "" if engine.platforms["llmkube"] == "llamacpp" else f"{string(spec, 'runtime')}Config"
    given = section(spec, where) if where else spec
    words: list[Word] = []
    for key, option in option_tables()["llmkube"].get(where, {}).items():
        value = string(given, key)
        if value in (None, "", "false"):
            continue
        site = yaml.span(file.source, given[key][0])
        words += [Word(TracedText.of(word, site), site) for word in option.split()]
        if value != "true":
            words.append(Word(yaml.text(file.source, given[key][1]), yaml.span(file.source, given[key][1])))
    environs = environment.of_container(file, spec)
    _, more = pods.words(file.source, _renamed(spec, "extraArgs", "args"), environs)
    image = pods.image_of(pod, spec)
    context = CommandContext(
        file.source, one.label, None, environs.variables, Container(image, open=True), identified(image).claims, open_env=True
    )
    nodes = [spec[key] for key in ("modelRef", "extraArgs", where, "contextSize") if key in spec]
    command, _ = pods.words(file.source, {"command": spec["command"]} if "command" in spec else {}, environs)
    args = [pods.unseen(), *words, *(more or [])]
    context.site = pods.extent(file.source, nodes)
    if command and entry.find(command) is None:
        return in_container(command, args, identified(image), context)
    return [context.launch(engine.id, args, context.site)]


def aibrix(file: File, one: Object, _images: Overrides | None) -> list[Launch]:
    """The launch of a ModelClaim: a model for an engine that runs already, with options by name."""
    spec = section(one.fields, "spec")
    engine = called("aibrix", string(spec, "engine") or "")
    if engine is None or "artifactURL" not in spec:
        return []
    words = [
        *_model(file, engine, spec["artifactURL"]),
        *_given(file, section(spec, "engineConfig", "args"), "", switch=("",)),
    ]
    context = CommandContext(file.source, one.label, None, {}, Container(None, open=True), open_env=True)
    nodes = [spec[key] for key in ("engineConfig", "artifactURL") if key in spec]
    return [context.launch(engine.id, [*words, pods.unseen()], pods.extent(file.source, nodes))]


def _given(file: File, settings: Entries, prefix: str, switch: tuple[str, ...]) -> list[Word]:
    """The words of a mapping of options. switch: the values that stand for an option without one."""
    words: list[Word] = []
    for key, value in settings.values():
        name = TracedText.join((TracedText.of(prefix), yaml.text(file.source, key)))
        words.append(Word(name, yaml.span(file.source, key)))
        if string({"": (key, value)}, "") not in (None, *switch):
            words.append(Word(yaml.text(file.source, value), yaml.span(file.source, value)))
        elif not yaml.is_scalar(value):
            words.append(Word(TracedText((unknown(name.flat, yaml.span(file.source, value)),)), yaml.span(file.source, value)))
    return words


_ENGINE_KEYS = ("engine", "runtime", "server", "backend", "inferenceEngine")
_NAMED = ("name", "type", "kind")
_SERVING = ("ModelDeployment", "InferenceService", "LLMInferenceService")
"""Kinds, of whatever operator, that serve the model that they name."""


def named_engine(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launch of another operator's object that names an engine beside its options: `engine: {name: vllm, args: [...]}`."""
    spec = section(one.fields, "spec")
    for key in _ENGINE_KEYS:
        fields = section(spec, key)
        name = next((value for field in _NAMED if (value := string(fields, field)) is not None), "").lower()
        engine = next((one for one in ENGINES.values() if name in (one.id, *map(str.lower, one.yaml_keys))), None)
        if engine is None:
            continue
        pod = pods.Pod(file, {}, one.label, images)
        pod.complete = False
        given = environment.of_container(file, {**spec, **fields})
        options = next((field for field in ("args", "extraArgs", "engineArgs") if field in fields), "")
        words = _given(file, section(fields, options), "--", switch=("", "true"))
        listed_words = pods.words(file.source, _renamed(fields, options, "args"), given)[1] if not words else None
        if listed_words and not listed_words[0].text.flat.startswith("-"):
            continue  # a command
        if not (words or listed_words) and not (one.kind in _SERVING and {"model", "modelRef", "modelName"} & spec.keys()):
            continue
        holder = fields if "image" in fields else spec
        image = pods.image_of(pod, holder) if "image" in holder else None
        container = pods.container_of(pod, fields, image, complete=False)
        context = CommandContext(
            file.source, one.label, None, given.variables, container, identified(image).claims, open_env=True
        )
        argv = [pods.unseen(), *words, *(listed_words or [])]
        return [context.launch(engine.id, argv, pods.extent(file.source, [fields[options] if options else spec[key]]))]
    return []


def kthena(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launches of a ModelBooster, one for each kind of worker of its backend."""
    spec = section(one.fields, "spec")
    backend = section(spec, "backend")
    found: list[Launch] = []
    for fields in [backend] if backend else [yaml.entries(item) for item in listed(spec, "backends")]:
        engine = called("kthena", (string(fields, "type") or "").removesuffix("Disaggregated"))
        if engine is None or "modelURI" not in fields:
            continue
        for item in listed(fields, "workers"):
            worker = yaml.entries(item)
            settings = section(worker, "config")
            pod = pods.Pod(file, {}, one.label, images)
            pod.complete = False
            given = environment.of_container(file, fields)
            image = pods.image_of(pod, worker)
            container = pods.container_of(pod, worker, image, complete=False)
            context = CommandContext(
                file.source, one.label, None, given.variables, container, identified(image).claims, open_env=True
            )
            model = _model(file, engine, fields["modelURI"])
            words = [*model, pods.unseen(), *_given(file, settings, "--", switch=("", "true"))]
            nodes = [worker[key] for key in ("image", "config") if key in worker] or [fields["modelURI"]]
            found.append(context.launch(engine.id, words, pods.extent(file.source, nodes)))
    return found


def llm_d(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launches of a ModelService, whose image and command may stand in the ConfigMap that it is based on."""
    engine = started_by("llm-d")
    spec = section(one.fields, "spec")
    found: list[Launch] = []
    for pod in pods.pods(file, one, images):
        pod.more = "baseConfigMapRef" in spec
        pod.complete = False
        for name, fields in pod.containers():
            launches = pods.of_container(pod, name, fields)
            serving = engine.id in (string(fields, "name") or "")
            if not launches and serving and "command" not in fields and "args" in fields:
                given = environment.of_container(file, fields)
                _, args = pods.words(file.source, fields, given)
                container = pods.container_of(pod, fields, pods.image_of(pod, fields), complete=False)
                context = CommandContext(file.source, name, None, given.variables, container, open_env=True)
                launches = [
                    context.launch(engine.id, [pods.unseen(), *(args or [])], pods.extent(file.source, [fields["args"]]))
                ]
                environment.show_injected(launches[0], given)
            found += launches
    return found
