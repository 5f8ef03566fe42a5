"""How a pod runs a container: declared ports, mounts, probes, whether it is alone in its network."""

from __future__ import annotations

from servelint.core.launch import Hosting, Port, Probe
from servelint.core.numbers import is_whole
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.readers import hosting
from servelint.readers.kubernetes.objects import hidden, listed, section, string
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries

_KINDS = frozenset(("Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "LeaderWorkerSet"))
"""Kinds whose pods are run as they are written: the controllers of others add containers and probes."""
_KILLING = ("startupProbe", "livenessProbe")
_PROBES = (*_KILLING, "readinessProbe")


def of_container(source: Source, path: str, pod: Entries, fields: Entries) -> Hosting | None:
    """path: where the pod stands, kind first;  None for what other kinds or a template may add to"""
    if path.partition("/")[0] not in _KINDS or hidden(pod, "containers", "initContainers"):
        return None
    if hidden(fields, "ports", "volumeMounts", *_PROBES):
        return None
    ports = _ports(source, fields)
    names = {name: port.number for name, port in ports}
    mounts = [yaml.entries(item) for item in listed(fields, "volumeMounts")]
    return Hosting(
        ports=[port for _, port in ports],
        mounts=[yaml.text(source, mount["mountPath"][1]) for mount in mounts if string(mount, "mountPath") is not None],
        probes=[_probe(source, kind, fields, names) for kind in _PROBES if section(fields, kind)],
        private=_private(pod),
        declared=True,
    )


def _ports(source: Source, fields: Entries) -> list[tuple[str, Port]]:
    found: list[tuple[str, Port]] = []
    for item in listed(fields, "ports"):
        port = yaml.entries(item)
        if string(port, "containerPort") is not None and (string(port, "protocol") or "TCP") == "TCP":
            text = yaml.text(source, port["containerPort"][1])
            found.append((string(port, "name") or "", Port(text, hosting.count(text, 0))))
    return found


def _private(pod: Entries) -> bool:
    """Whether the pod has a network of its own, and no other container in it."""
    beside = [item for item in listed(pod, "initContainers") if string(yaml.entries(item), "restartPolicy") == "Always"]
    return string(pod, "hostNetwork") != "true" and len(listed(pod, "containers")) + len(beside) == 1


def _probe(source: Source, kind: str, fields: Entries, names: dict[str, int | None]) -> Probe:
    probe = section(fields, kind)

    def number(name: str, default: int) -> int | None:
        text = yaml.text(source, probe[name][1]) if string(probe, name) is not None else None
        return hosting.count(text, default)

    patience: float | None = None
    # what may still be starting is not asked whether it lives
    if kind in _KILLING and not (kind == "livenessProbe" and "startupProbe" in fields):
        patience = hosting.given_up(
            number("initialDelaySeconds", 0), number("periodSeconds", 10), number("failureThreshold", 3)
        )
    said = next((name for name in ("initialDelaySeconds", "failureThreshold", "periodSeconds") if name in probe), None)
    shown = yaml.text(source, probe[said][1] if said is not None else fields[kind][0])
    site = _asked(source, probe, names)
    return Probe(kind, shown, patience, site[0] if site is not None else None, site[1] if site is not None else None)


def _asked(source: Source, probe: Entries, names: dict[str, int | None]) -> tuple[int, Text] | None:
    for way in ("httpGet", "tcpSocket"):
        asked = section(probe, way)
        if string(asked, "port") is not None and string(asked, "host") is None:
            text = yaml.text(source, asked["port"][1])
            port = hosting.count(text, 0) if is_whole(text.flat) else names.get(text.flat)
            return (port, text) if port is not None and text.known else None
    command = [item for item in listed(section(probe, "exec"), "command") if yaml.scalar(item) is not None]
    return hosting.asked([yaml.text(source, item) for item in command]) if command else None
