"""The Services of a file that send requests to a pod of it, and the variables that their names put into the pod."""

from __future__ import annotations

import re
from collections.abc import Iterator

from servelint.core.launch import Mishap, Probe
from servelint.core.numbers import is_whole
from servelint.readers import runtime
from servelint.readers.kubernetes.objects import HIDDEN, File, Object, entries, hidden, listed, string
from servelint.readers.kubernetes.refused import SIMPLE
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, section

_NAME = re.compile(r"[a-z][a-z0-9-]*")


def _labels(one: Object) -> Entries:
    """The labels of the pods of an object; {} where a template may write more of them."""
    metadata = section(one.fields, *(() if one.kind == "Pod" else ("spec", "template")), "metadata")
    return {} if hidden(metadata, "labels") else section(metadata, "labels")


def _services(file: File, one: Object) -> Iterator[tuple[Object, Entries]]:
    for other in file.objects:
        spec = section(other.fields, "spec")
        if (
            other.kind == "Service"
            and other.namespace == one.namespace
            and HIDDEN not in spec
            and string(spec, "type") != "ExternalName"
        ):
            yield other, spec


def _selected(selector: Entries, labels: Entries) -> bool:
    return bool(selector) and all(string(selector, key) == string(labels, key) is not None for key in selector)


def asking(file: File, one: Object, pod: Entries) -> list[list[Probe]]:
    """The ports of the pod that each Service sends requests to."""
    services = list(_services(file, one)) if one.kind in SIMPLE else []
    labels = _labels(one) if services and file.is_whole() else {}
    names: dict[str, int | None] = {}
    for key in ("containers", "initContainers"):
        for item in listed(pod, key):
            for port in map(yaml.entries, listed(entries(item), "ports")):
                if string(port, "name") is not None and string(port, "containerPort") is not None:
                    text = yaml.text(file.source, port["containerPort"][1])
                    names[string(port, "name") or ""] = runtime.count(text, 0)
    found: list[list[Probe]] = []
    for other, spec in services if labels else ():
        if not _selected(section(spec, "selector"), labels) or hidden(spec, "selector", "ports"):
            continue
        asked = [_port(file, other, port, names) for port in map(yaml.entries, listed(spec, "ports"))]
        found.append([each for each in asked if each is not None])
    return [each for each in found if each]


def _port(file: File, service: Object, port: Entries, names: dict[str, int | None]) -> Probe | None:
    key = "targetPort" if string(port, "targetPort") is not None else "port"
    if string(port, key) is None or (string(port, "protocol") or "TCP") != "TCP":
        return None
    text = yaml.text(file.source, port[key][1])
    number = runtime.count(text, 0) if is_whole(text.flat) else names.get(text.flat)
    return Probe(f"Service {service.name}", text, port=number, site=text, outside=True)


def mishaps(file: File, one: Object, pod: Entries) -> Iterator[Mishap]:
    """Services whose ports or selectors fit nothing in the pod, and those whose names set a variable in it."""
    if one.kind not in SIMPLE or hidden(pod, "containers") or not file.is_whole():
        return
    named = {
        string(port, "name") for item in listed(pod, "containers") for port in map(yaml.entries, listed(entries(item), "ports"))
    }
    open_ = any(hidden(entries(item), "ports") for item in listed(pod, "containers"))
    for service in asking(file, one, pod):
        for each in service:
            span, text = each.text.span(), each.text
            if span is not None and _NAME.fullmatch(text.flat) and text.flat not in named and not open_:
                yield Mishap("no-such-port", span, text.flat, each.kind)
    yield from _unselected(file, one)
    if string(pod, "enableServiceLinks") == "false":
        return
    for other, spec in _services(file, one):
        if string(spec, "clusterIP") != "None" and _NAME.fullmatch(other.name):
            metadata = section(other.fields, "metadata")
            span = yaml.span(file.source, metadata["name"][1]) if "name" in metadata else None
            if span is not None:
                yield Mishap("service-variable", span, other.name, other.name.upper().replace("-", "_") + "_PORT")


def _unselected(file: File, one: Object) -> Iterator[Mishap]:
    """The only Service of a file with one object, which it is named after, and whose pods it does not select."""
    owners = [other for other in file.objects if other.kind in SIMPLE or section(other.fields, "spec", "template")]
    services = list(_services(file, one))
    labels = _labels(one)
    if len(owners) != 1 or len(services) != 1 or not labels:
        return
    other, spec = services[0]
    selector = section(spec, "selector")
    if not selector or hidden(spec, "selector") or _selected(selector, labels) or not _alike(other.name, one.name):
        return
    for key, (_, node) in selector.items():
        text = yaml.text(file.source, node)
        known = all(re.fullmatch(r"[\w./-]+", each or "") for each in (text.value, string(labels, key)))
        if known and string(labels, key) != string(selector, key):
            shown = f"{key}: {string(selector, key)}"
            yield Mishap(
                "selects-nothing",
                yaml.span(file.source, node),
                shown,
                f"{other.name}\n{key}: {string(labels, key)}\n{string(labels, key)}",
            )
            return


def _alike(service: str, owner: str) -> bool:
    return bool(service and owner) and (service.startswith(owner) or owner.startswith(service))
