"""Ray Serve: the `LLMConfig`s of a RayService, whose `engine_kwargs` are vLLM's options, and the command of a RayJob."""

from __future__ import annotations

from functools import partial

from servelint.core.launch import Container, Launch, ReleaseClaim, Variable, Word
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.engines import images
from servelint.engines.registry import called, started_by
from servelint.readers.kubernetes import embedded, environment, flags, hardware, pods
from servelint.readers.kubernetes.kustomize_images import Overrides
from servelint.readers.kubernetes.objects import File, Object, listed, section, string
from servelint.readers.place import Place
from servelint.readers.scripts import script_launches
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, Node

_VISITS_AT_MOST = 20_000
_ENGINE_KEYS = ("model_loading_config", "engine_kwargs")


class Worker:
    """Where Ray puts the engine: what the containers of the cluster say."""

    __slots__ = ("claims", "container", "env")

    def __init__(self) -> None:
        self.container: Container | None = None
        self.claims: dict[str, ReleaseClaim] = {}
        self.env: dict[str, Variable] = {}


def of_object(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    """The launches of a RayService or RayJob and of the containers of their cluster, or of a Ray Serve configuration."""
    if not one.kind:
        return _applications(Worker(), "applications", file.source, [one.node])
    worker = _worker(file, one, images)
    spec = section(one.fields, "spec")
    found: list[Launch] = []
    if "serveConfigV2" in spec:
        found += embedded.launches(file.source, spec["serveConfigV2"][1], partial(_applications, worker, one.label))
    if "entrypoint" in spec:
        text = yaml.text(file.source, spec["entrypoint"][1])
        place = Place(file.source, f"{one.label}.entrypoint", None, {}, worker.container, worker.claims, open_env=True)
        found += script_launches(text, place, None)
    return [*found, *pods.of_object(file, one, images)]


def _worker(file: File, one: Object, overrides: Overrides | None) -> Worker:
    """The cluster's only GPU container; what several of them agree on where there are more."""
    found = Worker()
    for pod in pods.pods(file, one, overrides):
        for _, fields in pod.containers():
            gpus, reserved = hardware.gpus(fields, pod.fields, complete=True)
            image_text = pods.image_of(pod, fields)
            if not reserved or image_text is None:
                continue
            if found.container is not None:
                return Worker()  # groups of workers: nobody says which takes the engine
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
            for fields in _configs(item):
                launch = _launch(source, fields, env, worker)
                if launch is not None:
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


def _launch(source: Source, fields: Entries, env: dict[str, Variable], worker: Worker) -> Launch | None:
    name = string(fields, "llm_engine")
    engine = called("ray", name) if name else started_by("ray")
    if engine is None:
        return None
    loading, settings = section(fields, "model_loading_config"), section(fields, "engine_kwargs")
    named = next((loading[key][1] for key in ("model_source", "model_id") if string(loading, key) is not None), None)
    argv = [] if named is None or "model" in settings else [Word(yaml.text(source, named), yaml.span(source, named))]
    return Launch(
        source=source,
        engine=engine.id,
        argv=[*argv, *flags.of_mapping(source, settings)],
        site=pods.extent(source, [fields[key] for key in _ENGINE_KEYS if key in fields]),
        env={**env, **_env_vars(source, fields)},
        release=worker.claims.get(engine.id),
        container=worker.container,
        open_env=True,
    )


def _env_vars(source: Source, fields: Entries) -> dict[str, Variable]:
    """What a `runtime_env` sets."""
    found: dict[str, Variable] = {}
    for name, (key, value) in section(fields, "runtime_env", "env_vars").items():
        text: Text | None = yaml.text(source, value) if yaml.scalar(value) is not None else None
        found[name] = Variable(name, text, yaml.span(source, key))
    return found
