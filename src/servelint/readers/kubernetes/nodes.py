"""The pods that an object starts together: how many, with how many GPUs, and which launch runs in which of them."""

from __future__ import annotations

from servelint.core.launch import Launch, Nodes
from servelint.core.numbers import whole_number
from servelint.readers.kubernetes import runtime
from servelint.readers.kubernetes.objects import File, Object, listed, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.source import Span
    from servelint.readers.kubernetes.pods import Pod

    Parts = list[tuple[Pod, list[Launch]]]

_ROLES = {"PyTorchJob": ("pytorchReplicaSpecs", "Master", "Worker"), "MPIJob": ("mpiReplicaSpecs", "Launcher", "Worker")}
"""Kinds of Kubeflow -> the key of their groups of pods, and the groups, the first one's pod being node 0."""
_CLUSTERS = {"RayCluster": (), "RayService": ("rayClusterConfig",), "RayJob": ("rayClusterSpec",)}
"""Kinds of Ray -> where their cluster stands."""


def join(file: File, one: Object, parts: Parts) -> None:
    """Tell the launches of an object which of them run together."""
    spec = section(one.fields, "spec")
    if one.kind == "LeaderWorkerSet":
        _leader_and_workers(file, one, parts)
    elif one.kind == "StatefulSet":
        _alike(file, one, parts, spec, "replicas")
    elif one.kind == "Job" and string(spec, "completionMode") == "Indexed":
        _alike(file, one, parts, spec, "parallelism")
    elif one.kind in _ROLES:
        _roles(file, one, parts)
    elif one.kind in _CLUSTERS:
        cluster(one, [launch for _, launches in parts for launch in launches])


def _number(fields: Entries, key: str, default: int | None = 1) -> int | None:
    return default if key not in fields else whole_number(string(fields, key) or "")


def _leader_and_workers(file: File, one: Object, parts: Parts) -> None:
    group = section(one.fields, "spec", "leaderWorkerTemplate")
    size = _number(group, "size")
    leaders = [launch for pod, launches in parts if pod.path.endswith(".leaderTemplate") for launch in launches]
    workers = [launch for pod, launches in parts if not pod.path.endswith(".leaderTemplate") for launch in launches]
    rest = size - 1 if size is not None and "leaderTemplate" in group else size
    of_leader = [_gpus(pod) for pod, _ in parts if pod.path.endswith(".leaderTemplate")]
    of_workers = [_gpus(pod) for pod, _ in parts if not pod.path.endswith(".leaderTemplate")]
    gpus = _total([*[(1, count) for count in of_leader], *[(rest, count) for count in of_workers]])
    _set(
        one.kind,
        [*[(launch, 1) for launch in leaders], *[(launch, rest) for launch in workers]],
        size,
        _site(file, group, "size"),
        gpus,
    )


def _alike(file: File, one: Object, parts: Parts, spec: Entries, key: str) -> None:
    size = _number(spec, key)
    launches = [launch for _, found in parts for launch in found]
    _set(one.kind, [(launch, size) for launch in launches], size, _site(file, spec, key), None)


def _roles(file: File, one: Object, parts: Parts) -> None:
    key, first, other = _ROLES[one.kind]
    groups = section(one.fields, "spec", key)
    counts = {name: _number(section(groups, name), "replicas") if name in groups else 0 for name in (first, other)}
    known = [(counts[other if f".{other}" in pod.path else first], pod, found) for pod, found in parts]
    ordered = sorted(known, key=lambda part: f".{other}" in part[1].path)
    nodes = counts if one.kind != "MPIJob" else {other: counts[other]}
    size = None if None in nodes.values() else sum(count or 0 for count in nodes.values())
    gpus = _total([(count, _gpus(pod)) for count, pod, _ in known])
    launches = [(launch, count) for count, _, found in ordered for launch in found]
    _set(one.kind, launches, size, _site(file, section(groups, other), "replicas"), gpus)


def cluster(one: Object, launches: list[Launch]) -> None:
    """Tell launches on a Ray cluster how many GPUs its pods have at most."""
    spec = section(one.fields, "spec", *_CLUSTERS.get(one.kind, ()))
    counts: list[tuple[int | None, int | None]] = []
    for group in [section(spec, "headGroupSpec"), *[yaml.entries(item) for item in listed(spec, "workerGroupSpecs")]]:
        pod = section(group, "template", "spec")
        pods = [_number(group, key, None) for key in ("replicas", "maxReplicas") if key in group]
        most = max(filter(None, pods), default=1) if None not in pods else None
        hosts = _number(group, "numOfHosts")
        counts.append((most * hosts if most is not None and hosts is not None else None, _gpus_of(pod, group)))
    if len(counts) > 1 and all(pod for _, pod in counts[1:]):
        _set(one.kind, [(launch, 1) for launch in launches], None, None, _total(counts))


def _gpus_of(pod: Entries, group: Entries) -> int | None:
    if "num-gpus" in section(group, "rayStartParams"):
        return None
    counts = [runtime.gpus(yaml.entries(item), pod, complete=True)[0] for item in listed(pod, "containers")]
    return None if None in counts else sum(count or 0 for count in counts)


def _gpus(pod: Pod) -> int | None:
    return _gpus_of(pod.fields, {})


def _total(counts: list[tuple[int | None, int | None]]) -> int | None:
    """The sum of numbers of pods times GPUs; None if one of them is not known, or if there are none."""
    known = [pods * gpus for pods, gpus in counts if pods is not None and gpus is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _site(file: File, fields: Entries, key: str) -> Span | None:
    return yaml.span(file.source, fields[key][1]) if key in fields else None


def _set(kind: str, parts: list[tuple[Launch, int | None]], size: int | None, site: Span | None, gpus: int | None) -> None:
    nodes = Nodes(kind, parts, size, site, gpus)
    for launch, _ in parts:
        launch.nodes = nodes
