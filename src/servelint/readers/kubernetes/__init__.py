"""Kubernetes objects whose containers start an engine, and objects of operators that start one."""

from __future__ import annotations

import re
from bisect import bisect_left

from servelint.core.launch import Launch, join
from servelint.core.source import Source
from servelint.core.text import TracedText, unknown
from servelint.engines import entry
from servelint.files.siblings import Neighbours
from servelint.readers.commands import script_launches
from servelint.readers.containers import identified
from servelint.readers.context import CommandContext
from servelint.readers.kubernetes.objects import (
    KUSTOMIZATIONS,
    File,
    Object,
    Overrides,
    images_beside,
    is_json_patch,
    is_kustomization,
    is_serve_config,
    kustomized,
    string,
)
from servelint.readers.registry import YAML, Format
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

FORMAT = Format(
    "kubernetes",
    20,
    title="Kubernetes",
    about="containers at any depth of any object, `$(VAR)`, ConfigMaps with scripts and variables, LeaderWorkerSet, KServe, "
    "KubeAI, Ray, Dynamo, llmaz, LLMKube, llm-d, OME, kthena, KAITO, patches, kustomize overlays, HelmRelease and Argo CD with "
    "local charts, JSON and lists",
    syntax=YAML,
    shape=r"(?m)^[\"']?(?:apiVersion|kind)[\"']?[ \t]*:",
    words=(
        "name: huggingface",
        "uri: hf://",
        'uri: "hf://',
        "kind: inferenceservice",
        "kind: playground",
        "engine_kwargs",
        "model_loading_config",
        "kind: kustomization",
        "kustomize.config.k8s.io",
    ),
)

_OPERATORS = (
    ("kubeai", "kubeai.org/", ("Model",)),
    ("kserve", "serving.kserve.io/", ("InferenceService", "LLMInferenceService", "ServingRuntime", "ClusterServingRuntime")),
    ("ray", "ray.io/", ("RayService", "RayJob")),
    ("vllm_runtime", "production-stack.vllm.ai/", ("VLLMRuntime",)),
    ("dynamo", "nvidia.com/", ("DynamoGraphDeployment", "DynamoComponentDeployment")),
    ("llmaz", "inference.llmaz.io/", ("BackendRuntime", "Playground")),
    ("aibrix", "model.aibrix.ai/", ("ModelClaim",)),
    ("kthena", "workload.serving.volcano.sh/", ("ModelBooster",)),
    ("llmkube", "inference.llmkube.dev/", ("InferenceService",)),
    ("llm_d", "llm-d.ai/", ("ModelService",)),
    ("kaito", "v1", ("ConfigMap",)),
    ("helm_release", "helm.toolkit.fluxcd.io/", ("HelmRelease",)),
    ("helm_release", "argoproj.io/", ("Application",)),
    ("helm_release", "helm.cattle.io/", ("HelmChart", "HelmChartConfig")),
)
"""Function, group and kinds of the operators whose objects start an engine by more than their containers."""
_NO_CONTAINERS = frozenset(("CustomResourceDefinition", "ConfigMap", "Secret"))
_USER_DATA = re.compile(r"user[_-]?data", re.IGNORECASE)
_VERB = re.compile(r"%(?:\[\d+\])?[sdvq]")
_SHEBANGS = ("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/bash", "#!/usr/bin/env bash", "#!/usr/bin/env sh")


def is_mine(source: Source, document: Node) -> bool:
    """Whether a document is an object, a list of them, a kustomization, a JSON patch or a Ray Serve configuration."""
    if is_json_patch(document):
        return True
    fields = yaml.entries(document)
    if string(fields, "apiVersion") is not None and string(fields, "kind") is not None:
        return True
    name = source.path.replace("\\", "/").rpartition("/")[2]
    return (name in KUSTOMIZATIONS and is_kustomization(fields)) or is_serve_config(fields)


def read(source: Source, documents: list[Node], neighbours: Neighbours) -> list[Launch]:
    """Read the launches of the objects, of JSON patches, and of scripts in ConfigMaps that no container runs."""
    yaml.merge_in_order(documents, source)
    file = File(source, documents, neighbours)
    images = images_beside(source, neighbours)
    found = [launch for one in file.objects for launch in _of_object(file, one, images)]
    for document in documents:
        if is_json_patch(document):
            from servelint.readers.kubernetes import pods

            found += pods.of_operations(file, yaml.items(document) or [], "patch")
    found += _other_scripts(file, sorted([launch.site.start for launch in found]))
    _tell_apart(found)
    join(found)
    return found


def _of_object(file: File, one: Object, images: Overrides | None) -> list[Launch]:
    version = string(one.fields, "apiVersion") or ""
    named = [name for name, group, kinds in _OPERATORS if one.kind in kinds and version.startswith(group)]
    if named or not (one.kind or is_kustomization(one.fields)):
        from servelint.readers.kubernetes import operators, platforms

        function = named[0] if named else "ray"
        found: list[Launch] = getattr(platforms if hasattr(platforms, function) else operators, function)(file, one, images)
        return found
    if one.kind in _NO_CONTAINERS:
        return []
    from servelint.readers.kubernetes import pods

    if not is_kustomization(one.fields):
        found = pods.of_object(file, one, images)
        if found or "spec" not in one.fields:
            return found
        from servelint.readers.kubernetes import platforms

        return platforms.named_engine(file, one, images) or _user_data(file, one)
    if file.neighbours is not None and one.kind != "Component" and not {"resources", "bases"}.isdisjoint(one.fields):
        from servelint.readers.kubernetes import overlays

        if made := overlays.launches(file.source, one.fields, file.neighbours, _of_object):
            return made
    return pods.kustomization(file, one, images)


def _user_data(file: File, one: Object) -> list[Launch]:
    """The launches of a machine's first boot, as an object describes it: a script, or cloud-init's configuration."""
    from servelint.readers import embedded

    found: list[Launch] = []
    waiting, seen = [one.node], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue  # an alias
        seen.add(id(node))
        waiting += yaml.items(node) or []
        for name, (_, value) in yaml.entries(node).items() if yaml.is_mapping(node) else ():
            text = yaml.scalar(value)
            if text is None:
                waiting.append(value)
            elif text.startswith(_SHEBANGS) and entry.mentions(text):
                written = yaml.text(file.source, value)
                if name == "fmt":  # Crossplane fills in what Go's fmt.Sprintf would
                    written = written.sub(_VERB, lambda verb: TracedText((unknown(verb[0], None, verb[0]),)))
                found += script_launches(written, CommandContext(file.source, f"{one.label}.{name}"), None)
            elif _USER_DATA.fullmatch(name) is not None and entry.mentions(text):
                written = yaml.text(file.source, value)
                if text.startswith("#cloud-config"):
                    found += _named(embedded.of_written("user-data.yaml", written, file.source), f"{one.label}.{name}")
    return found


def _named(found: list[Launch], name: str) -> list[Launch]:
    for launch in found:
        launch.name = name
    return found


def _other_scripts(file: File, starts: list[int]) -> list[Launch]:
    """The launches of scripts and programs in ConfigMaps that no container of the file runs: one of another file may.

    Args:
        file: The file.
        starts: The offsets at which the launches of the containers start.
    """
    found: list[Launch] = []
    for one, data in file.scripts:
        for key, text in data.items():
            extent = text.extent()
            program = key.endswith((".py", ".conf", ".ini", ".service")) or _is_llama_swap(text)
            if extent is None or not (program or key.endswith((".sh", ".bash")) or text.flat.startswith(_SHEBANGS)):
                continue
            if bisect_left(starts, extent.start) != bisect_left(starts, extent.end):
                continue
            if program:
                from servelint.readers import embedded

                started = _named(embedded.of_written(key, text, file.source), f"ConfigMap/{one.name}.{key}")
                found += _released(started, one.name, file.neighbours) if key.endswith((".yaml", ".yml")) else started
            else:
                found += script_launches(text, CommandContext(file.source, f"ConfigMap/{one.name}.{key}", open_env=True), None)
    return found


_MODELS = re.compile(r"^models:[ \t]*(?:#[^\n]*)?$", re.MULTILINE)


def _is_llama_swap(text: TracedText) -> bool:
    """Whether a text of a ConfigMap is a file of llama-swap: models with a `cmd` each."""
    return "cmd:" in text.flat and _MODELS.search(text.flat) is not None


_SWAP_IMAGE = re.compile(r"(?m)^[ \t]*-?[ \t]*image:[ \t]*[\"']?(?P<image>[\w./:-]*llama-swap:[\w.-]+)")
_RUNNING = ("deployment.yaml", "deployment.yml", "statefulset.yaml", "daemonset.yaml", "pod.yaml")


def _released(found: list[Launch], config_map: str, neighbours: Neighbours | None) -> list[Launch]:
    """Give launches without a release that of the container beside them which mounts their ConfigMap."""
    paths = [*kustomized(neighbours), *_RUNNING] if neighbours is not None and found else []
    for path in dict.fromkeys(paths):
        other = neighbours.read(path) if neighbours is not None else None
        named = _SWAP_IMAGE.search(other.text) if other is not None and config_map in other.text else None
        if other is None or named is None:
            continue
        claims = identified(TracedText.at(other, *named.span("image"))).claims
        for launch in found:
            launch.release = claims.get(launch.engine, launch.release) if launch.release.how is None else launch.release
        break
    return found


def _tell_apart(found: list[Launch]) -> None:
    """Number the launches that are called alike: patches of one object, and commands of one script that a plain run comes to.

    What only another branch of a script starts keeps the name of what a plain run does.
    """
    numbers: dict[str, int] = {}
    places: dict[tuple[str, int], dict[tuple[int, int], int]] = {}
    for launch in sorted(found, key=lambda launch: not launch.likely):
        name, site = launch.name, (launch.site.start, launch.site.end)
        here = places.setdefault((name, id(launch.container) if launch.container is not None else -1), {})
        if site not in here and (launch.likely or not here):
            here[site] = numbers[name] = numbers.get(name, 0) + 1
        number = here.get(site) or next(iter(here.values()))
        if number > 1:
            launch.name += f"#{number}"
