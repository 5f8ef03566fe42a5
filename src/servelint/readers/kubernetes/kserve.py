"""KServe: an InferenceService's model with the runtime that serves it, and LLMInferenceService."""

from __future__ import annotations

import re

from servelint.core.launch import Launch, ReleaseClaim, Word
from servelint.engines import images
from servelint.engines.registry import called, started_by
from servelint.readers.kubernetes import environment, pods
from servelint.readers.kubernetes.kustomize_images import Overrides
from servelint.readers.kubernetes.objects import File, Object, listed, section, string
from servelint.syntax import yaml
from servelint.syntax.shell.words import split
from servelint.syntax.yaml import Entries, Node

_RUNTIMES = ("ServingRuntime", "ClusterServingRuntime")
_WORD = re.compile(r"[-_.]")
_SERVER = "kserve-container"
_ENGINE_PODS = ("", ".worker", ".prefill", ".prefill.worker")
"""Where an LLMInferenceService has pods that run the engine; its router has some that do not."""


def of_object(file: File, one: Object, overrides: Overrides | None) -> list[Launch]:
    if one.kind in _RUNTIMES and one.name in file.used and file.named.get((one.kind, one.name)) is one:
        return []  # read with the InferenceService that uses it
    if one.kind == "LLMInferenceService":
        return _llm(file, one, overrides)
    found = pods.of_object(file, one, overrides)
    model = section(one.fields, "spec", "predictor", "model")
    if one.kind == "InferenceService" and model:
        found += _model(file, one, model, overrides)
    return found


def _runtime_of(file: File, one: Object) -> Object | None:
    """The runtime of this file that an InferenceService names."""
    name = string(section(one.fields, "spec", "predictor", "model"), "runtime") or ""
    return next((file.named[kind, name] for kind in _RUNTIMES if (kind, name) in file.named), None)


def _model(file: File, one: Object, model: Entries, overrides: Overrides | None) -> list[Launch]:
    """`predictor.model` is a container over the runtime's: its arguments and variables come after."""
    label = f"{one.label}.predictor.model"
    predictor = section(one.fields, "spec", "predictor")
    if "command" in model:
        return pods.of_container(pods.Pod(file, predictor, label, overrides), label, model)
    runtime = _runtime_of(file, one)
    if runtime is None:
        return _unseen_runtime(file, predictor, model, label, overrides)
    spec = section(runtime.fields, "spec")
    containers = [yaml.entries(item) for item in listed(spec, "containers")]
    servers = [fields for fields in containers if string(fields, "name") == _SERVER] or containers
    server: Entries = servers[0] if servers else {}
    merged: Entries = {**server, **{key: model[key] for key in ("image", "resources") if key in model}}
    for key in ("args", "env"):
        if key in server and key in model:
            merged[key] = (server[key][0], _joined(server[key][1], model[key][1]))
        elif key in model:
            merged[key] = model[key]
    return pods.of_container(pods.Pod(file, {**spec, **predictor}, label, overrides), label, merged)


def _joined(first: Node, second: Node) -> Node:
    items = [*(yaml.items(first) or []), *(yaml.items(second) or [])]
    return yaml.new_sequence(items, yaml.start(first), yaml.end(first))


def _unseen_runtime(file: File, predictor: Entries, model: Entries, label: str, overrides: Overrides | None) -> list[Launch]:
    """A model whose runtime stands elsewhere: its format or the runtime's name says which engine is given the arguments."""
    names = (string(section(model, "modelFormat"), "name") or "", string(model, "runtime") or "")
    named = [called("kserve", word) for name in names for word in _WORD.split(name)]
    engine = next((one for one in named if one is not None), None)
    if engine is None:
        return []
    pod = pods.Pod(file, predictor, label, overrides)
    pod.complete = False
    nodes = [model[key] for key in ("args",) if key in model] or [model["modelFormat" if "modelFormat" in model else "runtime"]]
    return [_launch(pod, model, engine.id, label, [pods.unseen()], nodes)]


def _launch(
    pod: pods.Pod, fields: Entries, engine: str, label: str, first: list[Word], nodes: list[tuple[Node, Node]]
) -> Launch:
    """A launch whose program stands elsewhere. first: words in front of the arguments"""
    file = pod.file
    given = environment.of_container(file, fields)
    _, args = pods.words(file.source, fields, given)
    image = pods.image_of(pod, fields)
    claim = images.identify(image).claims.get(engine) if image is not None else None
    launch = Launch(
        source=file.source,
        engine=engine,
        argv=[*first, *(args or [])],
        site=pods.extent(file.source, nodes),
        env=given.variables,
        name=label,
        release=claim or ReleaseClaim(),
        container=pods.container_of(pod, fields, image, complete=False),
        open_env=True,
    )
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
    return _launch(pod, fields, engine, name, [*words, pods.unseen(), *_additional(pod, fields)], nodes)
