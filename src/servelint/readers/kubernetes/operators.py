"""Objects of operators that start an engine: KubeAI, KServe, Ray, the vLLM production stack, and holders of Helm values."""

from __future__ import annotations

import re
from functools import partial

from servelint.core.launch import Container, Launch, Mishap, ReleaseClaim, Variable, Word
from servelint.core.numbers import whole_number
from servelint.core.source import Source
from servelint.core.text import Piece, TracedText, unknown
from servelint.engines import entry, images
from servelint.engines.registry import Engine, built_by, called, started_by
from servelint.readers import embedded, helm
from servelint.readers.commands import script_launches
from servelint.readers.containers import identified
from servelint.readers.context import CommandContext
from servelint.readers.installs import brought, requirement
from servelint.readers.kubernetes import environment, nodes, pods, runtime
from servelint.readers.kubernetes.objects import (
    File,
    Object,
    Overrides,
    in_chart,
    joined_lists,
    kustomized,
    listed,
    option_tables,
    string,
)
from servelint.syntax import yaml, yaml_values
from servelint.syntax.placeholders import substituted
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node, section
from servelint.syntax.yaml_values import KUBERNETES


def of_mapping(source: Source, fields: Entries) -> list[Word]:
    """The options that a mapping of settings gives; null leaves the engine's default."""
    return [word for name, (key, value) in fields.items() for word in of_setting(source, name, key, value)]


def of_setting(source: Source, name: str, key: Node, value: Node) -> list[Word]:
    """The words of one setting."""
    site = yaml.span(source, key)
    option = name.replace("_", "-")
    if (switch := yaml_values.truth(value, KUBERNETES)) is not None:
        return [Word(TracedText.of(("--" if switch else "--no-") + option), yaml.span(source, value))]
    if yaml.is_null(value):
        return []
    items = yaml.items(value)
    values = [value] if items is None else items
    return [Word(TracedText.of("--" + option), site), *[_value(source, one) for one in values]]


def _value(source: Source, node: Node) -> Word:
    site = yaml.span(source, node)
    if yaml.is_scalar(node):
        return Word(yaml.text(source, node), site)
    try:
        return Word(yaml_values.JsonWriter(source, KUBERNETES).text(node), site)
    except (RecursionError, ValueError):
        return Word(TracedText((unknown(site.text, site),)), site)


_PROFILE = re.compile(r"(?P<name>(?:nvidia|amd)-gpu-[\w.-]+):(?P<count>\d{1,4})")
_SOURCE = re.compile(r"hf://")


def kubeai(file: File, one: Object, overrides: Overrides | None) -> list[Launch]:
    """The launch that KubeAI makes: `--model=REF --served-model-name=NAME`, then the flags as given."""
    spec = section(one.fields, "spec")
    engine = called("kubeai", string(spec, "engine") or "")
    if engine is None or "url" not in spec:
        return []
    given = environment.of_container(file, spec)
    _, args = pods.words(file.source, spec, given)
    image = pods.image_of(pods.Pod(file, spec, one.label, overrides), spec)
    context = CommandContext(file.source, one.label, None, given.variables, _profiled(file, spec, image), open_env=given.open)
    context.claims = identified(image).claims
    site = pods.extent(file.source, [spec[key] for key in ("url", "engine", "args") if key in spec])
    launch = context.launch(engine.id, [*_own(file, one, spec, engine), *(args or [])], site)
    environment.show_injected(launch, given)
    return [launch]


def _own(file: File, one: Object, spec: Entries, engine: Engine) -> list[Word]:
    """The words that the operator puts in front, as engine_vllm.go has them."""
    if not engine.model_option:
        return []  # engine_ollama.go: its model is pulled when the server runs
    node = spec["url"][1]
    site = yaml.span(file.source, node)
    url = yaml.text(file.source, node)
    scheme = _SOURCE.match(url.flat)
    if scheme is None or "cacheProfile" in spec:
        model = TracedText((unknown(url.shown, site),))  # a folder or an address that only the cluster knows
    else:
        query = url.flat.find("?")
        model = url.cut(scheme.end(), None if query == -1 else query)
    words = [Word(TracedText.join((TracedText.of(f"--{engine.model_option}=", None), model)), site)]
    metadata = section(one.fields, "metadata")
    if engine.served_name_option and one.name and "name" in metadata:
        name = metadata["name"][1]
        served = TracedText.join((TracedText.of(f"--{engine.served_name_option}="), yaml.text(file.source, name)))
        words.append(Word(served, yaml.span(file.source, name)))
    return words


def _profiled(file: File, spec: Entries, image: TracedText | None) -> Container:
    """What the profile of a Model says: `nvidia-gpu-l4:2`."""
    if "resourceProfile" not in spec:
        return Container(image)
    text = yaml.text(file.source, spec["resourceProfile"][1])
    profile = _PROFILE.fullmatch(text.flat)
    if profile is None:
        return Container(image)
    return Container(image, {"gpu_product": text.cut(*profile.span("name"))}, int(profile.group("count")), True)


_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,80}")
_RUNTIMES = ("ServingRuntime", "ClusterServingRuntime")
_WORD = re.compile(r"[-_.]")
_SERVER = "kserve-container"
_HUGGING_FACE, _HUGGING_FACE_SERVER = ("huggingface", "kserve-huggingface"), "huggingfaceserver"
_ENGINE_PODS = ("", ".worker", ".prefill", ".prefill.worker")
"""Where an LLMInferenceService has pods that run the engine; its router has some that do not."""


def kserve(file: File, one: Object, overrides: Overrides | None) -> list[Launch]:
    """The launches of an InferenceService, an LLMInferenceService or a runtime that no service of the file uses."""
    if one.kind in _RUNTIMES and one.name in file.used:
        services = [each for each in file.objects if each.kind == "InferenceService"]
        if any(_runtime_of(file, each) is one for each in services):
            return []  # read with the InferenceService that uses it
    if one.kind in _RUNTIMES and _used_beside(file, one):
        return []
    if one.kind == "LLMInferenceService":
        return _llm(file, one, overrides)
    found = pods.of_object(file, one, overrides)
    if one.kind in _RUNTIMES:
        return _stated(
            [launch for launch in found if entry.serves(launch.engine, launch.launcher, launch.argv, sure=True)],
            file.source,
            one,
        )
    model = section(one.fields, "spec", "predictor", "model")
    if one.kind == "InferenceService" and model:
        found += _served_model(file, one, model, overrides)
    return found


_STATED = "opendatahub.io/runtime-version"
_STATED_RELEASE = re.compile(r"v?(?P<release>\d+\.\d+\.\d+(?:\.post\d+|rc\d+)?)")


def _stated(found: list[Launch], source: Source, one: Object) -> list[Launch]:
    """Note the release that a runtime of Open Data Hub states of its image, whose tag or digest says none.

    https://github.com/opendatahub-io/odh-model-controller/tree/main/config/runtimes/vllm
    """
    annotations = section(one.fields, "metadata", "annotations")
    match = _STATED_RELEASE.fullmatch(string(annotations, _STATED) or "")
    for launch in found if match is not None else ():
        image = launch.container.image if launch.container is not None else None
        tag = image.flat.rpartition(":")[2] if image is not None else ""
        of_product = match is not None and tag.removeprefix("v") == match.group("release")  # of RHAIIS: its image has it too
        if match is not None and not of_product and launch.release.release is None and not launch.release.rolling:
            launch.release = ReleaseClaim(match.group("release"), "image", yaml.span(source, annotations[_STATED][1]))
    return found


def _runtime_of(file: File, one: Object) -> Object | None:
    """The runtime of this file that an InferenceService names: one of its namespace, if several have the name."""
    name = string(section(one.fields, "spec", "predictor", "model"), "runtime") or ""
    found = next((file.named[kind, name] for kind in _RUNTIMES if (kind, name) in file.named), None)
    own = [each for each in file.objects if (each.kind, each.name, each.namespace) == (_RUNTIMES[0], name, one.namespace)]
    return found or (own[0] if len(own) == 1 else None)


def _served_model(file: File, one: Object, model: Entries, overrides: Overrides | None) -> list[Launch]:
    """`predictor.model` is a container over the runtime's: its arguments and variables come after."""
    label = f"{one.label}.predictor.model"
    predictor = section(one.fields, "spec", "predictor")
    if "command" in model:
        return pods.of_container(pods.Pod(file, predictor, label, overrides), label, model)
    runtime = _runtime_of(file, one)
    if runtime is None:
        return _of_other_file(file, predictor, model, label, one.name) or _unseen_runtime(
            file, predictor, model, label, overrides
        )
    spec = section(runtime.fields, "spec")
    server = _server(spec)
    merged: Entries = {**server, **{key: model[key] for key in ("image", "resources") if key in model}}
    for key in ("args", "env"):
        if key in server and key in model:
            merged[key] = (server[key][0], joined_lists(server[key][1], model[key][1]))
        elif key in model:
            merged[key] = model[key]
    found = pods.of_container(pods.Pod(file, {**spec, **predictor}, label, overrides), label, merged)
    for launch in found:
        launch.argv = _of_service(launch.argv, one.name)
    return found if "image" in model else _stated(found, file.source, runtime)


def _server(spec: Entries) -> Entries:
    """The container of a runtime that runs the model's server."""
    containers = [yaml.entries(item) for item in listed(spec, "containers")]
    servers = [fields for fields in containers if string(fields, "name") == _SERVER] or containers
    return servers[0] if servers else {}


_RUNTIME_FILES = (
    "{}.yaml", "{}.yml", "kserve-huggingfaceserver.yaml", "vllm-runtime.yaml", "sglang-runtime.yaml", "runtime.yaml",
    "serving-runtime.yaml", "servingruntime.yaml", "serving_runtime.yaml", "clusterservingruntime.yaml",
    "cluster-serving-runtime.yaml", "runtimes.yaml", "{}-runtime.yaml", "runtime-{}.yaml", "servingruntime-{}.yaml",
    "{}-servingruntime.yaml", "../runtimes/{}.yaml", "../runtime/{}.yaml", "../serving-runtimes/{}.yaml",
    "../servingruntimes/{}.yaml", "../base/{}.yaml", "../base/servingruntime.yaml", "../base/serving-runtime.yaml",
    "runtimes/{}.yaml", "runtime/{}.yaml", "../{}.yaml",
)  # fmt: skip
"""Where a repository keeps the runtime of a name that an InferenceService uses, beside the service."""


_SERVICE_FILES = (
    "inferenceservice.yaml", "inference-service.yaml", "inference_service.yaml", "isvc.yaml", "inferenceservice.yml",
    "inference-service.yml", "isvc.yml", "service.yaml", "model.yaml",
)  # fmt: skip
"""Where a repository keeps the InferenceService that uses a runtime, beside the runtime."""


def _used_beside(file: File, runtime: Object) -> bool:
    """Whether an InferenceService in another file of the folder is read with a runtime of this one."""
    own = file.source.path.replace("\\", "/").rpartition("/")[2]
    if file.neighbours is None:
        return False
    name = runtime.name
    if not _NAME.fullmatch(name):  # a template, whose values say it
        runtimes = [one.name for one in File(*in_chart(file.source, file.neighbours)).objects if one.kind in _RUNTIMES]
        name = runtimes[0] if len(runtimes) == 1 else ""
    together = kustomized(file.neighbours)
    if not _NAME.fullmatch(name) or own not in (*(one.format(name) for one in _RUNTIME_FILES), *together):
        return False
    for path in dict.fromkeys([*_SERVICE_FILES, *together]):
        other = file.neighbours.read(path) if path != own and "/" not in path else None
        if other is None or "InferenceService" not in other.text:
            continue
        theirs = File(*in_chart(other, file.neighbours), file.neighbours)
        for one in theirs.objects if name in theirs.used else []:
            predictor = section(one.fields, "spec", "predictor")
            model = section(predictor, "model")
            if string(model, "runtime") == name and _runtime_of(theirs, one) is None and "command" not in model:
                return bool(_of_other_file(theirs, predictor, model, one.label, one.name))
    return False


_SERVICE_NAME = re.compile(r"\{\{\s*\.Name\s*\}\}")


def _of_service(words: list[Word], name: str) -> list[Word]:
    """Words of a runtime with the name of the service that uses it instead of `{{.Name}}`."""
    found: list[Word] = []
    name = "" if "{{" in name else name
    for word in words:
        pieces: list[Piece] = []
        for piece in word.text.pieces:
            own = piece.expression is not None and _SERVICE_NAME.fullmatch(piece.expression) is not None and name
            pieces.append(Piece(name, piece.span) if own else piece)
        text = TracedText(pieces)
        text = text.sub(_SERVICE_NAME, lambda _: TracedText.of(name)) if name else text
        found.append(Word(text, word.site, word.many))
    return found


def _of_other_file(file: File, predictor: Entries, model: Entries, label: str, service: str) -> list[Launch]:
    """The launch of a model whose runtime stands in another file: the runtime's words, then the model's."""
    name = string(model, "runtime") or ""
    if file.neighbours is None or not _NAME.fullmatch(name):
        return []
    for path in [*_RUNTIME_FILES, *kustomized(file.neighbours)]:
        other = file.neighbours.read(path.format(name) if "{}" in path else path)
        if other is None or "ServingRuntime" not in other.text:
            continue
        theirs = File(*in_chart(other, file.neighbours))
        runtime = next((theirs.named[kind, name] for kind in _RUNTIMES if (kind, name) in theirs.named), None)
        if runtime is None:
            continue
        spec = section(runtime.fields, "spec")
        pod = pods.Pod(theirs, spec, label)
        pod.complete = False
        server = _server(spec)
        own = pods.Pod(file, predictor, label)
        own.complete = False
        given = environment.of_container(file, model)
        _, args = pods.words(file.source, model, given)
        nodes = [model[key] for key in ("args", "runtime") if key in model][:1]
        found = pods.of_container(pod, label, server)
        for launch in found:
            launch.source, launch.site = file.source, pods.extent(file.source, nodes)
            launch.argv = [*_of_service(launch.argv, service), *(args or [])]
            launch.env = {**launch.env, **given.variables}
            image = pods.image_of(own, model) if "image" in model else launch.image
            launch.container = pods.container_of(own, model, image, complete=False)
            launch.open_env = True
            if "image" in model:
                launch.release = identified(image).claims.get(launch.engine, launch.release)
        found = found if "image" in model else _stated(found, other, runtime)
        return [launch for launch in found if entry.serves(launch.engine, launch.launcher, launch.argv)]
    return []


def _unseen_runtime(file: File, predictor: Entries, model: Entries, label: str, overrides: Overrides | None) -> list[Launch]:
    """A model whose runtime stands elsewhere: its format or the runtime's name says which engine is given the arguments."""
    names = (string(section(model, "modelFormat"), "name") or "", string(model, "runtime") or "")
    named = [called("kserve", word) for name in names for word in _WORD.split(name)]
    engine = next((one for one in named if one is not None), None)
    launcher = ""
    if engine is None and any(name.startswith(_HUGGING_FACE) for name in names):
        engine = started_by("huggingface")
        launcher = _HUGGING_FACE_SERVER if not names[1] or names[1].startswith(_HUGGING_FACE) else "huggingface-runtime"
    if engine is None:
        return []
    pod = pods.Pod(file, predictor, label, overrides)
    pod.complete = False
    nodes = [model[key] for key in ("args",) if key in model] or [model["modelFormat" if "modelFormat" in model else "runtime"]]
    launch = _unseen_program(pod, model, engine.id, label, [pods.unseen()], nodes)
    launch.launcher = launcher
    return [launch] if entry.serves(engine.id, launcher, launch.argv) else []


def _unseen_program(
    pod: pods.Pod, fields: Entries, engine: str, label: str, first: list[Word], nodes: list[tuple[Node, Node]]
) -> Launch:
    """A launch whose program stands elsewhere.

    Args:
        pod: The pod.
        fields: The container.
        engine: The engine.
        label: The name of the launch.
        first: Words in front of the arguments.
        nodes: The keys and values that the launch spans.
    """
    file = pod.file
    given = environment.of_container(file, fields)
    _, args = pods.words(file.source, fields, given)
    image = pods.image_of(pod, fields)
    container = pods.container_of(pod, fields, image, complete=False)
    context = CommandContext(file.source, label, None, given.variables, container, identified(image).claims, open_env=True)
    launch = context.launch(engine, [*first, *(args or [])], pods.extent(file.source, nodes))
    environment.show_injected(launch, given)
    return launch


def _llm(file: File, one: Object, overrides: Overrides | None) -> list[Launch]:
    """Containers called `main` run vLLM by the controller's own templates; they add to its command or replace it."""
    spec = section(one.fields, "spec")
    engine = started_by("llm-inference-service").id
    found: list[Launch] = []
    for pod in pods.pods(file, one, overrides):
        pod.more = True
        for name, fields in pod.containers():
            engine_pod = pod.path.removeprefix(one.label) in _ENGINE_PODS and string(fields, "name") == "main"
            if "command" in fields or not engine_pod:
                found += pods.of_container(pod, name, fields)
            elif not listed(spec, "baseRefs") or _names_engine(pod, fields, engine):
                found.append(_main(pod, name, spec, fields, engine))
    if not found and "uri" in section(spec, "model") and not listed(spec, "baseRefs") and "template" not in spec:
        # the controller's template runs the engine
        pod = pods.Pod(file, {}, one.label, overrides)
        pod.complete = False
        found.append(_main(pod, one.label, spec, {}, engine))
    return found


def _names_engine(pod: pods.Pod, fields: Entries, engine: str) -> bool:
    image = pods.image_of(pod, fields)
    return (image is not None and images.identify(image).engine == engine) or bool(_additional(pod, fields))


def _additional(pod: pods.Pod, fields: Entries) -> list[Word]:
    """The words of VLLM_ADDITIONAL_ARGS, which the templates hand on through `eval`."""
    variable = environment.of_container(pod.file, fields).variables.get("VLLM_ADDITIONAL_ARGS")
    return split(variable.value) if variable is not None and variable.value is not None else []


def _main(pod: pods.Pod, name: str, spec: Entries, fields: Entries, engine: str) -> Launch:
    model = section(spec, "model")
    words: list[Word] = []
    if (string(model, "uri") or "").startswith("hf://"):
        node = model["uri"][1]
        text = yaml.text(pod.file.source, node)
        words.append(Word(text.cut(len("hf://")), yaml.span(pod.file.source, node)))
    nodes = [fields["args"]] if "args" in fields else [fields[key] for key in ("image", "name") if key in fields][:1]
    nodes = nodes or [spec["model"]]
    return _unseen_program(pod, fields, engine, name, [*words, pods.unseen(), *_additional(pod, fields)], nodes)


_VISITS_AT_MOST = 20_000
_ENGINE_KEYS = ("model_loading_config", "engine_kwargs")


class Worker:
    """Where Ray puts the engine: what the containers of the cluster say."""

    __slots__ = ("claims", "container", "env")

    def __init__(self) -> None:
        self.container: Container | None = None
        self.claims: dict[str, ReleaseClaim] = {}
        self.env: dict[str, Variable] = {}


def kaito(file: File, one: Object, _images: Overrides | None) -> list[Launch]:
    """The options in the ConfigMap that `inference.config` of a KAITO Workspace names.

    `presets/workspace/inference/vllm/inference_api.py` puts them behind those of the operator, which no file shows.
    """
    data = section(one.fields, "data")
    return embedded.of_yaml(file.source, data[_KAITO][1], partial(_kaito, one.label)) if _KAITO in data else []


_KAITO = "inference_config.yaml"


def _kaito(label: str, source: Source, documents: list[Node]) -> list[Launch]:
    found: list[Launch] = []
    for fields in map(yaml.entries, documents):
        given = section(fields, "vllm")
        # `--name False` would switch an option on that takes no value, or give one a value that it refuses
        words = of_mapping(
            source, {name: pair for name, pair in given.items() if yaml_values.truth(pair[1], KUBERNETES) is not False}
        )
        if words:
            context = CommandContext(source, f"{label}.{_KAITO}", None, {}, Container(None, open=True), open_env=True)
            found.append(context.launch(started_by("kaito").id, [*words, pods.unseen()], pods.extent(source, [fields["vllm"]])))
    return found


def ray(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launches of a RayService or RayJob and of the containers of their cluster, or of a Ray Serve configuration."""
    if not one.kind:
        found = _applications(Worker(), "applications", file.source, [one.node])
        bare = (
            []
            if "applications" in one.fields
            else [_llm_config(file.source, fields, {}, Worker()) for fields in _configs(one.node)]
        )
        for launch in bare:
            if launch is not None:
                launch.name = "llm_config"
                found.append(launch)
        return found
    worker = _worker(file, one, images)
    spec = section(one.fields, "spec")
    found = []
    if "serveConfigV2" in spec:
        found += embedded.of_yaml(file.source, spec["serveConfigV2"][1], partial(_applications, worker, one.label))
    if "entrypoint" in spec:
        text = yaml.text(file.source, spec["entrypoint"][1])
        context = CommandContext(
            file.source, f"{one.label}.entrypoint", None, {}, worker.container, worker.claims, open_env=True
        )
        found += script_launches(text, context, None)
    nodes.cluster(one, found)
    return [*found, *pods.of_object(file, one, images)]


def _worker(file: File, one: Object, overrides: Overrides | None) -> Worker:
    """The cluster's only GPU container; what several of them agree on where there are more."""
    found = Worker()
    for pod in pods.pods(file, one, overrides):
        for _, fields in pod.containers():
            gpus, reserved = runtime.gpus(fields, pod.fields, complete=True)
            image_text = pods.image_of(pod, fields)
            if not reserved or image_text is None:
                continue
            if found.container is not None:
                return Worker()  # groups of workers: which of them takes the engine is not known
            found.container = Container(image_text, pods.settings(pod, fields), gpus, reserved)
            found.claims = images.identify(image_text).claims
            found.env = environment.of_container(file, fields).variables
    return found


def _applications(worker: Worker, label: str, source: Source, documents: list[Node]) -> list[Launch]:
    found: list[Launch] = []
    for document in documents:
        for item in listed(yaml.entries(document), "applications"):
            application = yaml.entries(item)
            env = {**worker.env, **_env_vars(source, application)}
            claims = _installed(source, application)
            for fields in _configs(item):
                if (launch := _llm_config(source, fields, env, worker, claims)) is not None:
                    launch.name = f"{label}.{string(application, 'name') or 'applications'}"
                    found.append(launch)
    return found


def _configs(node: Node) -> list[Entries]:
    """The mappings below a node that have the shape of an LLMConfig."""
    found: list[Entries] = []
    waiting = [node]
    left = _VISITS_AT_MOST
    while waiting and left > 0:
        node = waiting.pop()
        fields = yaml.entries(node)
        if section(fields, "model_loading_config"):
            found.append(fields)
            continue
        inside = (yaml.items(node) or [value for _, value in fields.values()])[:left]
        left -= 1 + len(inside)
        waiting += reversed(inside)
    return found


def _llm_config(
    source: Source, fields: Entries, env: dict[str, Variable], worker: Worker, claims: dict[str, ReleaseClaim] | None = None
) -> Launch | None:
    name = string(fields, "llm_engine")
    engine = called("ray", name) if name else built_by("ray", source.text)
    if engine is None:
        return None
    loading, settings = section(fields, "model_loading_config"), section(fields, "engine_kwargs")
    named = next((loading[key][1] for key in ("model_source", "model_id") if string(loading, key) is not None), None)
    positional = engine is started_by("ray")
    if not positional and not settings:
        return None
    model = named if "model" not in settings and positional else None
    argv = [Word(yaml.text(source, model), yaml.span(source, model))] if model is not None else []
    words = [Word(substituted(word.text), word.site, word.many) for word in [*argv, *of_mapping(source, settings)]]
    if not positional:  # how its server gets the model of model_loading_config is not known
        words.append(pods.unseen())
    env = {**env, **_env_vars(source, fields)}
    container = worker.container
    if string(fields, "accelerator_type") is not None:
        # the type that the deployment asks the cluster for
        product = {"gpu_product": yaml.text(source, fields["accelerator_type"][1])}
        container = Container(None, product) if container is None else container
        if "gpu_product" not in container.settings:
            container = Container(container.image, {**container.settings, **product}, container.gpus, container.reserved)
    claims = {**worker.claims, **(claims or {}), **_installed(source, fields)}
    context = CommandContext(source, "", None, env, container, claims, open_env=True)
    site = pods.extent(source, [fields[key] for key in _ENGINE_KEYS if key in fields])
    launch = context.launch(engine.id, words, site)
    launch.mishaps = _refused_by_ray(source, fields, settings)
    return launch


_RAY_BEFORE = re.compile(
    r"rayVersion:\s*[\"']?(?:[01]|2\.(?:\d|[0-3]\d|4[0-7]))\.|/ray(?:-\w+)?:(?:nightly|2\.(?:\d|[0-3]\d|4[0-7])\.)"
)
"""What says that Ray is older than 2.48, or a build whose release is not known."""


def _refused_by_ray(source: Source, fields: Entries, settings: Entries) -> list[Mishap]:
    """Settings of the engine that Ray Serve sets itself, and refuses in engine_kwargs.

    VLLMEngineConfig.get_initialization_kwargs of ray/llm/_internal/serve/engines/vllm/vllm_models.py; on CPUs another executor
    is right.
    """
    if _RAY_BEFORE.search(source.text) is not None:
        return []
    found = [
        Mishap("ray-model", yaml.span(source, settings[name][0]), name)
        for name in ("model", "served_model_name")
        if name in settings
    ]
    executor = string(settings, "distributed_executor_backend")
    if executor is not None and executor != "ray" and "$" not in executor and string(fields, "accelerator_type") is not None:
        found.append(Mishap("ray-executor", yaml.span(source, settings["distributed_executor_backend"][1]), executor))
    return found


def _env_vars(source: Source, fields: Entries) -> dict[str, Variable]:
    """What a `runtime_env` sets."""
    found: dict[str, Variable] = {}
    for name, (key, value) in section(fields, "runtime_env", "env_vars").items():
        text: TracedText | None = substituted(yaml.text(source, value)) if yaml.scalar(value) is not None else None
        found[name] = Variable(name, text, yaml.span(source, key))
    return found


def _installed(source: Source, fields: Entries) -> dict[str, ReleaseClaim]:
    """The engines that a `runtime_env` installs: `pip` and `uv` hold requirements, or a mapping with them in `packages`."""
    runtime_env = section(fields, "runtime_env")
    found: dict[str, ReleaseClaim] = {}
    for key in ("pip", "uv"):
        for item in listed(runtime_env, key) or listed(section(runtime_env, key), "packages"):
            found.update(brought(Word(yaml.text(source, item))) if yaml.is_scalar(item) else {})
            named = requirement(Word(yaml.text(source, item))) if yaml.is_scalar(item) else None
            if named is not None and named[1].how != "bare":
                found[named[0]] = named[1]
    return found


_BOTH_WAYS = frozenset(("enableChunkedPrefill", "enablePrefixCaching"))
"""Switches that the controller passes on as `--no-...` where they are off, and where they are not given."""


def vllm_runtime(file: File, one: Object, _overrides: Overrides | None) -> list[Launch]:
    """The launch of one VLLMRuntime. Its image is not a field that a kustomization replaces."""
    spec = section(one.fields, "spec")
    config, model = section(spec, "vllmConfig"), section(spec, "model")
    engine = started_by("production-stack").id
    if string(model, "modelURL") is None:
        return []
    given = environment.of_container(file, config)
    image = _runtime_image(file.source, section(spec, "deploymentConfig", "image"))
    env = {**_switches(file.source, config), **given.variables}
    container = Container(image, {}, *_runtime_gpus(section(spec, "deploymentConfig", "resources")), open=True)
    context = CommandContext(file.source, one.label, None, env, container, identified(image).claims, open_env=True)
    site = pods.extent(file.source, [spec[key] for key in ("model", "vllmConfig") if key in spec])
    launch = context.launch(engine, _runtime_words(file, spec), site)
    environment.show_injected(launch, given)
    return [launch]


def _runtime_words(file: File, spec: Entries) -> list[Word]:
    source = file.source
    node = spec["model"][1]
    url = section(spec, "model")["modelURL"][1]
    words = [Word(yaml.text(source, url), yaml.span(source, url))]
    for part, key, flag in option_tables()["production-stack"]:
        fields = section(spec, part)
        off = string(fields, key) in (None, "", "0")
        if key in _BOTH_WAYS and off:
            site = yaml.span(source, spec.get(part, (node, node))[0])
            words.append(Word(TracedText.of(flag.replace("--", "--no-")), site))
        elif not off and (key in _BOTH_WAYS or string(fields, key) != "false"):
            words += of_setting(source, flag.removeprefix("--"), *fields[key])
    for item in listed(section(spec, "vllmConfig"), "extraArgs"):
        words.append(Word(yaml.text(source, item), yaml.span(source, item)))
    words.append(pods.unseen())  # a connector for LMCache, a chat template
    return words


def _runtime_image(source: Source, fields: Entries) -> TracedText | None:
    if string(fields, "name") is None:
        return None
    name = yaml.text(source, fields["name"][1])
    if not string(fields, "registry"):
        return name
    return TracedText.join((yaml.text(source, fields["registry"][1]), TracedText.of("/"), name))


def _switches(source: Source, config: Entries) -> dict[str, Variable]:
    """VLLM_USE_V1, as `v1` has it."""
    if "v1" not in config:
        return {}
    site = yaml.span(source, config["v1"][1])
    value = TracedText.of("1" if string(config, "v1") == "true" else "0")
    return {"VLLM_USE_V1": Variable("VLLM_USE_V1", value, site)}


def _runtime_gpus(resources: Entries) -> tuple[int | None, bool | None]:
    count = whole_number(string(resources, "gpu") or "")
    if not count or not runtime.is_gpu(string(resources, "gpuType") or "nvidia.com/gpu"):
        return None, None
    return count, True


def helm_release(file: File, one: Object, _images: Overrides | None) -> list[Launch]:
    """The launches of Helm values that an object holds."""
    return helm.of_object(file.source, one.node, one.kind, one.label, file.neighbours)
