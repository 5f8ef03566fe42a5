"""What the API server refuses in an object around a container: quantities, volumes, ports, probes, variables, selectors.

The checks are those of k8s.io/kubernetes pkg/apis/core/validation and pkg/apis/apps/validation. They hold for objects whose
pods are run as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from servelint.core.launch import Mishap
from servelint.core.source import Source
from servelint.readers.kubernetes import environment
from servelint.readers.kubernetes.objects import HIDDEN, File, Object, entries, hidden, listed, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, Node, section

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d+))?")
_UNITS = {
    **{f"{unit}i": 2.0 ** (10 * power) for power, unit in enumerate("KMGTPE", start=1)},
    **{unit: 10.0 ** (3 * power) for power, unit in enumerate("kMGTPE", start=1)},
    **{unit: 10.0 ** (-3 * power) for power, unit in enumerate("mun", start=1)},
}
_OTHER_UNIT = re.compile(r"(\d+(?:\.\d+)?) ?([KMGTkmgt])(?:[Ii]?[Bb]|i|)")
_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_HOST_PATHS = ("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
_PORT_NAME = re.compile(r"(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
SIMPLE = frozenset(("Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"))
"""Kinds whose whole pods are in the object: no other controller adds volumes or variables."""
_ALWAYS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
_LEAST = 4 * 2**20
"""Bytes with which no process of a container starts: a quantity below has the wrong unit."""


def amount(text: str) -> float | None:
    """The number that a quantity stands for, such as bytes; None for any other text."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    factor = _UNITS[match[2]] if match[2] else 10.0 ** int(match[3] or 0) if len(match[3] or "") < 4 else None
    return float(match[1]) * factor if factor is not None else None


def _mishap(source: Source, kind: str, node: Node, shown: str, other: str = "") -> list[Mishap]:
    """A mishap, where the value is known and no other tool fills it in (envsubst, Flux)."""
    text = yaml.text(source, node).flat if yaml.is_scalar(node) else ""
    known = not yaml.is_scalar(node) or (yaml.text(source, node).known and re.search(r"\$(?!\()|[{}<>]", text) is None)
    return [Mishap(kind, yaml.span(source, node), shown, other)] if known else []


def of_container(source: Source, fields: Entries) -> list[Mishap]:
    """What is refused in a container."""
    return [
        *_resources(source, section(fields, "resources")),
        *_ports(source, fields),
        *_probes(source, fields),
        *_variables(source, fields),
        *_words(source, fields),
        *_mounted_twice(source, fields),
    ]


def _resources(source: Source, resources: Entries) -> Iterator[Mishap]:
    limits, requests = section(resources, "limits"), section(resources, "requests")
    for kind in (limits, requests):
        for name, (_, node) in kind.items():
            yield from quantity(source, node)
            value = amount(yaml.scalar(node) or "")
            if name == "memory" and value is not None and 0 < value < _LEAST:
                plain = yaml.scalar(node) or ""
                yield from _mishap(
                    source,
                    "tiny-memory",
                    node,
                    plain,
                    f"{re.sub('[^0-9.].*', '', plain)}{'Mi' if plain.endswith('m') else 'Gi'}",
                )
    for name in _RESOURCES:
        limit, request = amount(string(limits, name) or ""), amount(string(requests, name) or "")
        if limit is not None and request is not None and request > limit:
            shown = f"{name}: {string(requests, name)}"
            yield from _mishap(source, "above-limit", requests[name][1], shown, string(limits, name) or "")


def quantity(source: Source, node: Node) -> list[Mishap]:
    """A size with a unit that Kubernetes does not know: 16GB."""
    plain = yaml.scalar(node) or ""
    other = _OTHER_UNIT.fullmatch(plain)
    if other is None or amount(plain) is not None:
        return []
    return _mishap(source, "quantity", node, plain, f"{other[1]}{other[2].upper()}i")


def _ports(source: Source, fields: Entries) -> Iterator[Mishap]:
    for item in listed(fields, "ports"):
        port = yaml.entries(item)
        name = string(port, "name")
        if name and _PORT_NAME.fullmatch(name) is None and re.fullmatch(r"[\w-]+", name):
            yield from _mishap(source, "port-name", port["name"][1], name)


def _probes(source: Source, fields: Entries) -> Iterator[Mishap]:
    for kind in _PROBES:
        probe = section(fields, kind)
        if not probe or hidden(fields, kind) or HIDDEN in probe:
            continue
        given = [way for way in _HANDLERS if way in probe and not yaml.is_null(probe[way][1])]
        if len(given) != 1:
            yield from _mishap(source, "handlers", fields[kind][0], kind, " and ".join(given) or "none")
        asked = section(probe, given[0]) if given else {}
        port = string(asked, "port") or ""
        names = {string(yaml.entries(item), "name") for item in listed(fields, "ports")}
        if re.fullmatch(r"[a-z][a-z0-9-]*", port) and port not in names and not hidden(fields, "ports"):
            yield from _mishap(source, "no-port", asked["port"][1], port, kind)
        if kind != "readinessProbe" and string(probe, "successThreshold") not in (None, "1"):
            node = probe["successThreshold"][1]
            yield from _mishap(source, "success-threshold", node, string(probe, "successThreshold") or "", kind)


def _variables(source: Source, fields: Entries) -> Iterator[Mishap]:
    for item in listed(fields, "env"):
        one = yaml.entries(item)
        if string(one, "value") and section(one, "valueFrom"):
            yield from _mishap(source, "value-twice", one["valueFrom"][0], string(one, "name") or "")


def _words(source: Source, fields: Entries) -> Iterator[Mishap]:
    """A command that is one text, and a word that is a mapping: `- --port: 8000`."""
    for key in ("command", "args"):
        node = yaml.field(fields, key)
        if node is None or yaml.is_null(node):
            continue
        if yaml.is_scalar(node) and "{{" not in node.value:
            yield from _mishap(source, "no-list", node, key)
        for item in yaml.items(node) or []:
            if yaml.is_mapping(item) and not any("{" in name for name in yaml.entries(item)):
                yield Mishap("not-a-string", yaml.span(source, item), yaml.span(source, item).text, "a mapping")


def _mounted_twice(source: Source, fields: Entries) -> Iterator[Mishap]:
    seen: set[str] = set()
    for item in listed(fields, "volumeMounts"):
        mount = yaml.entries(item)
        path = string(mount, "mountPath")
        if path is not None and path in seen:
            yield from _mishap(source, "mounted-twice", mount["mountPath"][1], path)
        seen.add(path or "")


def of_pod(file: File, one: Object, pod: Entries) -> list[Mishap]:
    """What is refused in a pod, and in the object that makes pods of it."""
    if one.kind not in SIMPLE:
        return []
    return [*_volumes(file, one, pod), *_selector(file, one), *_restarts(file, one, pod)]


def _volumes(file: File, one: Object, pod: Entries) -> Iterator[Mishap]:
    source = file.source
    names = {string(yaml.entries(item), "name") for item in listed(pod, "volumes")}
    for item in listed(section(one.fields, "spec"), "volumeClaimTemplates"):
        fields = yaml.entries(item)
        names.add(string(section(fields, "metadata"), "name"))
        size = section(fields, "spec", "resources", "requests")
        yield from quantity(source, size["storage"][1]) if "storage" in size else ()
    for item in listed(pod, "volumes"):
        volume = yaml.entries(item)
        host, empty = section(volume, "hostPath"), section(volume, "emptyDir")
        if string(host, "type") not in (None, *_HOST_PATHS):
            yield from _mishap(source, "host-path", host["type"][1], string(host, "type") or "")
        yield from quantity(source, empty["sizeLimit"][1]) if "sizeLimit" in empty else ()
    if hidden(pod, "volumes") or hidden(section(one.fields, "spec"), "volumeClaimTemplates") or None in names:
        return
    if not file.is_whole():
        return  # a patch may add the volume
    for key in ("containers", "initContainers"):
        for item in listed(pod, key):
            for mount in listed(entries(item), "volumeMounts"):
                fields = yaml.entries(mount)
                if (name := string(fields, "name")) is not None and name not in names:
                    yield from _mishap(source, "no-volume", fields["name"][1], name, ", ".join(filter(None, names)))


def _selector(file: File, one: Object) -> Iterator[Mishap]:
    """Labels that the selector asks for and the template has otherwise."""
    spec = section(one.fields, "spec")
    wanted, labels = section(spec, "selector", "matchLabels"), section(spec, "template", "metadata", "labels")
    if one.kind not in _ALWAYS or not labels or HIDDEN in wanted or hidden(section(spec, "template", "metadata"), "labels"):
        return
    if not file.is_whole():
        return  # commonLabels set both
    for name, (_, node) in wanted.items():
        given = string(labels, name)
        if yaml.scalar(node) is not None and string(wanted, name) != given and yaml.text(file.source, node).known:
            if name in labels and not yaml.text(file.source, labels[name][1]).known:
                continue
            shown = f"{name}: {string(wanted, name)}"
            yield from _mishap(file.source, "selector", node, shown, f"{name}: {given}" if given is not None else f"no {name}")


def _restarts(file: File, one: Object, pod: Entries) -> Iterator[Mishap]:
    policy, batch = string(pod, "restartPolicy"), one.kind in ("Job", "CronJob")
    if policy is None or (batch and not (string(one.fields, "apiVersion") or "").startswith("batch/")):
        return
    if (one.kind in _ALWAYS and policy in ("OnFailure", "Never")) or (batch and policy == "Always"):
        right = "OnFailure or Never" if batch else "Always"
        yield from _mishap(file.source, "pod-restarts", pod["restartPolicy"][1], policy, f"{one.kind}\n{right}")


def missing_keys(file: File, fields: Entries) -> Iterator[Mishap]:
    """Variables that take a key of a Secret or a ConfigMap of this file that has no such key."""
    for item in listed(fields, "env"):
        source = section(yaml.entries(item), "valueFrom")
        for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
            reference = section(source, field)
            name, key = string(reference, "name") or "", string(reference, "key") or ""
            one = file.named.get((kind, name))
            if not key or one is None or string(reference, "optional") not in (None, "false") or HIDDEN in one.fields:
                continue
            parts = [section(one.fields, part) for part in ("data", "stringData", "binaryData")]
            open_ = any(hidden(one.fields, part) for part in ("data", "stringData", "binaryData")) or not any(parts)
            have = [name for part in parts for name in part]
            if key not in have and not open_ and not any("{{" in name or "$" in name for name in have):
                yield from _mishap(file.source, "no-key", reference["key"][1], key, f"{kind} {name}\n{' or '.join(have[:4])}")


_REFERENCE = re.compile(r"(?<!\$)\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
_SERVICE = re.compile(r".+_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\w+)?)")


def undefined(source: Source, fields: Entries, given: environment.Environment) -> Iterator[Mishap]:
    """`$(NAME)` in a word of the command, where the container has no such variable and Kubernetes leaves the characters."""
    if given.open or hidden(fields, "env", "envFrom"):
        return
    for key in ("command", "args"):
        for node in yaml.items(fields[key][1]) or [] if key in fields else []:
            plain = yaml.scalar(node) or ""
            for match in _REFERENCE.finditer(plain) if "\n" not in plain and " " not in plain else ():
                if match[1] not in given.variables and _SERVICE.fullmatch(match[1]) is None:
                    yield from _mishap(source, "undefined", node, match[0], match[1])
