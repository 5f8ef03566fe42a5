"""Kustomizations: the patches that stand in them, strategic merges and JSON 6902."""

from __future__ import annotations

import re
from functools import partial

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.readers.kubernetes import embedded, kustomize_images, pods
from servelint.readers.kubernetes.objects import PATCHES, File, Object, listed, objects, section, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, Node

_CONTAINER = re.compile(r"(?P<place>/\S*/(?:containers|initContainers)/(?:\d+|-))(?:/(?P<field>.+))?")
_OPERATIONS = ("add", "replace", "test")


def of_object(file: File, one: Object, images: kustomize_images.Overrides | None) -> list[Launch]:
    """The launches of the patches that a kustomization holds itself."""
    del images
    own = kustomize_images.own(file.source, one.fields)
    found: list[Launch] = []
    for key in PATCHES:
        for item in listed(one.fields, key):
            fields = yaml.entries(item)
            text = fields["patch"][1] if "patch" in fields else item
            target = section(fields, "target")
            label = "/".join([part for part in (string(target, "kind"), string(target, "name")) if part]) or one.label
            found += embedded.launches(file.source, text, partial(_patches, label, own))
    return found


def _patches(label: str, images: kustomize_images.Overrides | None, source: Source, documents: list[Node]) -> list[Launch]:
    file = File(source, documents)
    return [launch for document in documents for launch in of_patch(file, document, label, images)]


def of_patch(file: File, document: Node, label: str, images: kustomize_images.Overrides | None) -> list[Launch]:
    """The launches of one patch. label: what it is for, where it does not say so itself"""
    operations = yaml.items(document)
    if operations is not None:
        return of_operations(file, operations, label, images)
    found: list[Launch] = []
    for one in objects([document]):
        for fields, path in pods.walk(file, one.node, one.label or label):
            found += _of_pod(file, fields, path, images)
    return found


def of_operations(
    file: File, operations: list[Node], label: str, images: kustomize_images.Overrides | None = None
) -> list[Launch]:
    """The launches of a JSON 6902 patch: what it says of one container is taken together."""
    containers: dict[str, Entries] = {}
    found: list[Launch] = []
    for item in operations:
        fields = yaml.entries(item)
        path = string(fields, "path")
        if string(fields, "op") not in _OPERATIONS or path is None or "value" not in fields:
            continue
        key, value = fields["value"]
        place = _CONTAINER.fullmatch(path)
        if place is None:
            for inside, below in pods.walk(file, value, label + path.replace("/", ".")):
                found += _of_pod(file, inside, below, images)
            continue
        known = containers.setdefault(place.group("place"), {})
        field = place.group("field")
        if field is None:
            known.update(yaml.entries(value))
        elif field == "args/0":
            known["args"] = (key, yaml.new_sequence([value], yaml.start(value), yaml.end(value)))
        elif "/" not in field:
            known[field] = (key, value)
    for path, fields in containers.items():
        pod = pods.Pod(file, {}, label, images)
        pod.complete = False
        parts = [part for part in path.strip("/").split("/") if part not in pods.UNNAMED]
        found += pods.of_container(pod, ".".join([label, *parts]), fields)
    return found


def _of_pod(file: File, fields: Entries, path: str, images: kustomize_images.Overrides | None) -> list[Launch]:
    pod = pods.Pod(file, fields, path, images)
    pod.complete = False
    return [launch for name, container in pod.containers() for launch in pods.of_container(pod, name, container)]
