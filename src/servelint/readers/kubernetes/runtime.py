"""How a pod runs a container: GPUs and their product, the size of /dev/shm, ports, mounts, probes, the network."""

from __future__ import annotations

import re

from servelint.core.launch import NO_GPUS, Port, Probe, Runtime
from servelint.core.numbers import is_whole
from servelint.core.source import Source
from servelint.core.text import TracedText, unknown
from servelint.readers import runtime
from servelint.readers.kubernetes.objects import HIDDEN, hidden, listed, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, section

_GPU = re.compile(r"(?:nvidia|amd)\.com/(?:gpu(?:\.shared)?|mig-.+)")
_WHOLE = ("nvidia.com/gpu", "amd.com/gpu")
_ACCELERATOR = re.compile(
    r"gpu|google\.com/tpu|habana\.ai/|intel\.com/|aws\.amazon\.com/neuron|huawei\.com/|cambricon\.com/|metax-tech\.com/|mthreads\.com/"
)
"""Resources that a device plugin hands out in a way that says nothing of how many whole GPUs there are."""

_PRODUCTS = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "gpu.nvidia.com/model",
    "gpu.nvidia.com/class",
    "k8s.amazonaws.com/accelerator",
    "eks.amazonaws.com/instance-gpu-name",
    "aliyun.accelerator/nvidia_name",
    "machine.cluster.vke.volcengine.com/gpu-name",
    "oci.oraclecloud.com/gpu.product",
)
"""Labels of nodes whose value is a GPU product."""

_MACHINES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
"""Labels of nodes whose value is a cloud's type of machine."""

_PARTS = ("cloud.google.com/gke-gpu-partition-size",)
"""Labels of nodes whose GPUs are handed out in parts (https://cloud.google.com/kubernetes-engine/docs/how-to/gpus-multi)."""


def is_gpu(resource: str) -> bool:
    """Whether a resource is whole GPUs, or parts of them that are devices of their own."""
    return _GPU.fullmatch(resource) is not None


def _named(fields: Entries) -> str | None:
    """The value of the variable by which NVIDIA's runtime gives a container GPUs; None if it is not set."""
    items = [yaml.entries(item) for item in listed(fields, "env")]
    return next((string(one, "value") or "" for one in items if string(one, "name") == "NVIDIA_VISIBLE_DEVICES"), None)


def gpus(fields: Entries, pod: Entries, complete: bool) -> tuple[int | None, bool | None]:
    """How many GPUs a container reserves (None if that is not known), and whether it reserves any.

    complete: no other file adds to the object
    """
    resources = section(fields, "resources")
    limits, requests = section(resources, "limits"), section(resources, "requests")
    total: int | None = 0
    reserved = other = False
    for name in {**limits, **requests}:
        if is_gpu(name):
            count = string(limits if name in limits else requests, name) or ""
            if count == "0":
                continue
            reserved = True
            total = total + int(count) if total is not None and re.fullmatch(r"\d{1,6}", count) else None
        elif _ACCELERATOR.search(name):
            other = True
    if reserved:
        return total, True
    named = _named(fields)
    if (string(pod, "runtimeClassName") or "").startswith("nvidia") and named not in NO_GPUS:
        return None, True  # the image's NVIDIA_VISIBLE_DEVICES=all gives it every GPU of the node
    claims = "claims" in resources or "resourceClaims" in pod
    # what the node gives by itself: devices to a privileged container, GPUs where its runtime reads the variable
    other = other or string(section(fields, "securityContext"), "privileged") not in (None, "false")
    other = other or (named is not None and named not in ("", *NO_GPUS))
    complete = complete and not hidden(fields, "resources") and not hidden(resources, "limits", "requests") and not hidden(pod)
    return (0, False) if complete and not other and not claims else (None, None)


def resource(source: Source, fields: Entries, kind: str) -> TracedText | None:
    """What the `requests` or the `limits` of a container say of nvidia.com/gpu or amd.com/gpu; None if it is nothing."""
    given = section(fields, "resources", kind)
    for name in _WHOLE:
        if yaml.scalar(yaml.field(given, name)) is not None:
            return yaml.text(source, given[name][1])
    return None


def product(source: Source, pod: Entries, fields: Entries) -> TracedText | None:
    """The GPU product that a container has, by its pod's node and the part of a GPU that it asks for; None if it may be any."""
    label = _labelled(source, pod, _PRODUCTS) or _machine(source, pod)
    if label is None:
        return None
    part = _part(source, pod, fields)
    if part is None or label.value is None:
        return label
    return TracedText.of(f"{label.value} MIG {part}", label.span()) if part else None


def _machine(source: Source, pod: Entries) -> TracedText | None:
    """The GPU of the machines of a type that a pod is bound to; None for one that is not known."""
    labels = _choices(source, pod, _MACHINES)
    if not labels:
        return None
    from servelint import hardware

    gpus = {hardware.of_machine(label.value or "") for label in labels}
    gpu = gpus.pop() if len(gpus) == 1 else None  # machines of several sizes may have the same
    return TracedText.of(gpu, labels[0].span()) if gpu is not None else None


def _part(source: Source, pod: Entries, fields: Entries) -> str | None:
    """The MIG profile of what a container asks for: "1g.10gb"; "" where it asks for several; None for whole GPUs."""
    resources = section(fields, "resources")
    asked = {**section(resources, "limits"), **section(resources, "requests")}
    profiles = {name.partition("/mig-")[2] for name in asked if "/mig-" in name}
    if (label := _labelled(source, pod, _PARTS)) is not None:
        profiles.add(label.value or "")
    return None if not profiles else profiles.pop() if len(profiles) == 1 else ""


def _labelled(source: Source, pod: Entries, labels: tuple[str, ...]) -> TracedText | None:
    """The value of the first of some labels that a pod's node must have; None if it may be any, or one of several."""
    found = _choices(source, pod, labels)
    return found[0] if len(found) == 1 else None


def _choices(source: Source, pod: Entries, labels: tuple[str, ...]) -> list[TracedText]:
    """The values of which the first of some labels must have one on a pod's node; none if it may be any."""
    selector = section(pod, "nodeSelector")
    for name in labels:
        if yaml.scalar(yaml.field(selector, name)) is not None:
            return [yaml.text(source, selector[name][1])]
    required = section(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = listed(required, "nodeSelectorTerms")
    if len(terms) != 1:
        return []  # one of them is enough
    for item in listed(yaml.entries(terms[0]), "matchExpressions"):
        fields = yaml.entries(item)
        if string(fields, "key") in labels and string(fields, "operator") == "In":
            return [yaml.text(source, value) for value in listed(fields, "values")]
    return []


def shared_memory(source: Source, fields: Entries, pod: Entries) -> TracedText | None:
    """What is mounted at /dev/shm: the size of an `emptyDir`, "Memory" or "" for one without; None if nothing is."""
    name = None
    for item in listed(fields, "volumeMounts"):
        mount = yaml.entries(item)
        if (string(mount, "mountPath") or "").rstrip("/") == "/dev/shm":  # noqa: S108
            name = string(mount, "name")
    if name is None:
        return None
    for item in listed(pod, "volumes"):
        volume = yaml.entries(item)
        if string(volume, "name") != name or "emptyDir" not in volume:
            continue
        directory = section(volume, "emptyDir")
        for key in ("sizeLimit", "medium"):
            if yaml.scalar(yaml.field(directory, key)) is not None:
                return yaml.text(source, directory[key][1])
        return TracedText(())
    return TracedText((unknown(name, None),))


def privileged(source: Source, fields: Entries) -> TracedText | None:
    """The text "true" for a container that gets every device of its node, None for others."""
    context = section(fields, "securityContext")
    return yaml.text(source, context["privileged"][1]) if string(context, "privileged") not in (None, "false") else None


def ipc(source: Source, pod: Entries) -> TracedText | None:
    """The text "host" where a pod shares the memory of its node, None elsewhere."""
    if (string(pod, "hostIPC") or "").lower() != "true":
        return None
    return TracedText.of("host", yaml.span(source, pod["hostIPC"][1]))


KINDS = frozenset((
    "Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "LeaderWorkerSet",
    "CloneSet", "DisaggregatedSet", "JobSet", "PodTemplate", "ReplicationController", "Rollout",
))  # fmt: skip
"""Kinds whose pods are run as they are written: the controllers of others add containers and probes."""
_KILLING = ("startupProbe", "livenessProbe")
_PROBES = (*_KILLING, "readinessProbe")
_OUTSIDE = ("httpGet", "tcpSocket")
"""Ways in which the kubelet asks the pod's address; a command asks inside of the container."""


def of_container(source: Source, path: str, pod: Entries, fields: Entries) -> Runtime | None:
    """How a pod runs a container; None for what other kinds or a template may add to.

    Args:
        source: The file.
        path: Where the pod stands, kind first.
        pod: The pod.
        fields: The container.
    """
    if path.partition("/")[0] not in KINDS or HIDDEN in fields:
        return None
    ports = _ports(source, fields)
    names = {name: port.number for name, port in ports}
    mounts = [yaml.entries(item) for item in listed(fields, "volumeMounts")]
    mounted = [yaml.text(source, mount["mountPath"][1]) for mount in mounts if string(mount, "mountPath") is not None]
    return Runtime(
        ports=None if hidden(fields, "ports") else [port for _, port in ports],
        mounts=None if hidden(fields, "volumeMounts") or hidden(pod, "volumes") else mounted,
        probes=[_probe(source, kind, fields, names) for kind in _PROBES if section(fields, kind) and not hidden(fields, kind)],
        private=None if hidden(pod, "containers", "initContainers") else _private(pod),
        declared=True,
    )


def _ports(source: Source, fields: Entries) -> list[tuple[str, Port]]:
    found: list[tuple[str, Port]] = []
    for item in listed(fields, "ports"):
        port = yaml.entries(item)
        if string(port, "containerPort") is not None and (string(port, "protocol") or "TCP") == "TCP":
            text = yaml.text(source, port["containerPort"][1])
            found.append((string(port, "name") or "", Port(text, runtime.count(text, 0))))
    return found


def _private(pod: Entries) -> bool:
    """Whether the pod has a network of its own, and no other container in it."""
    beside = [item for item in listed(pod, "initContainers") if string(yaml.entries(item), "restartPolicy") == "Always"]
    return string(pod, "hostNetwork") != "true" and len(listed(pod, "containers")) + len(beside) == 1


def _probe(source: Source, kind: str, fields: Entries, names: dict[str, int | None]) -> Probe:
    probe = section(fields, kind)

    def number(name: str, default: int) -> int | None:
        text = yaml.text(source, probe[name][1]) if string(probe, name) is not None else None
        return runtime.count(text, default)

    patience: float | None = None
    # what may still be starting is not asked whether it lives
    run = [yaml.text(source, item) for item in listed(section(probe, "exec"), "command") if yaml.scalar(item) is not None]
    if kind in _KILLING and not (kind == "livenessProbe" and "startupProbe" in fields) and runtime.asks_server(run):
        patience = runtime.given_up(
            number("initialDelaySeconds", 0), number("periodSeconds", 10), number("failureThreshold", 3)
        )
    said = next((name for name in ("initialDelaySeconds", "failureThreshold", "periodSeconds") if name in probe), None)
    shown = yaml.text(source, probe[said][1] if said is not None else fields[kind][0])
    port, text, path = _asked(source, probe, names, run)
    outside = any(string(section(probe, way), "host") is None for way in _OUTSIDE if way in probe)
    http = section(probe, "httpGet")
    scheme = yaml.text(source, http["scheme"][1]) if string(http, "scheme") is not None else None
    keyed = "httpHeaders" in http or HIDDEN in http or not http
    return Probe(
        kind, shown, patience, port, text, outside=outside, path=path, program=runtime.client(run), scheme=scheme, keyed=keyed
    )


def _asked(
    source: Source, probe: Entries, names: dict[str, int | None], run: list[TracedText]
) -> tuple[int | None, TracedText | None, TracedText | None]:
    for way in _OUTSIDE:
        asked = section(probe, way)
        if string(asked, "port") is not None and string(asked, "host") is None:
            text = yaml.text(source, asked["port"][1])
            port = runtime.count(text, 0) if is_whole(text.flat) else names.get(text.flat)
            path = yaml.text(source, asked["path"][1]) if way == "httpGet" and string(asked, "path") is not None else None
            return (port, text, path) if port is not None and text.known else (None, None, None)
    return runtime.asked(run)
