"""How a compose service is run: ports, mounts, its health check, its network, what is done when it ends."""

from __future__ import annotations

from servelint.core.launch import Hosting, Port, Probe
from servelint.core.text import Text
from servelint.readers import hosting
from servelint.readers.compose_file import File, Service
from servelint.syntax import yaml
from servelint.syntax.yaml import Node

_ALONE = ("bridge", "default", "none")


def of_service(service: Service, files: list[File]) -> Hosting:
    network = service.last("network_mode")
    return Hosting(
        ports=_ports(service),
        mounts=_mounts(service),
        probes=_checks(service, files),
        network=network,
        private=_private(service, network, files),
        restart=service.last("restart"),
    )


def _ports(service: Service) -> list[Port]:
    found: list[Port] = []
    for file, _, node in service.layers("ports"):
        for item in file.items(node):
            fields = yaml.entries(item)
            if not fields:
                found += hosting.published(file.text(item))
                continue
            target = file.optional(fields, "target")
            outside, address = file.optional(fields, "published"), file.optional(fields, "host_ip")
            if target is not None and "protocol" not in fields:
                exposed = address.value in ("", "0.0.0.0", "::") if address is not None and address.known else address is None  # noqa: S104
                host = hosting.count(outside, 0) if outside is not None else None
                found.append(
                    Port(target, hosting.count(target, 0), host, exposed if address is None or address.known else None)
                )
    return found


def _mounts(service: Service) -> list[Text] | None:
    if "volumes_from" in service.fields:
        return None
    found: list[Text] = []
    for file, _, node in service.layers("volumes"):
        for item in file.items(node):
            fields = yaml.entries(item)
            target = file.optional(fields, "target") if fields else _target(file.text(item))
            if target is None:
                return None
            found.append(target)
    for file, _, node in service.layers("tmpfs"):
        listed = file.items(node) or [node]
        found += [_first(file.text(item)) for item in listed if yaml.scalar(item) is not None]
    return found


def _target(text: Text) -> Text:
    """The path in the container of `[source:]target[:options]`."""
    first = text.flat.find(":")
    if first == -1:
        return text
    second = text.flat.find(":", first + 1)
    return text.cut(first + 1, None if second == -1 else second)


def _first(text: Text) -> Text:
    colon = text.flat.find(":")
    return text if colon == -1 else text.cut(0, colon)


def _private(service: Service, network: Text | None, files: list[File]) -> bool | None:
    """Whether no other container shares the network of a service."""
    joined = f"service:{service.name}"
    if any(joined in file.source.text for file in (*files, *[file for file, _ in service.parts])):
        return False
    if network is None:
        return True
    return None if network.value is None else network.value in _ALONE


def _checks(service: Service, files: list[File]) -> list[Probe]:
    if "healthcheck" not in service.fields:
        return []
    disabled = service.last("healthcheck", "disable")
    tests = service.layers("healthcheck", "test")
    layers = service.layers("healthcheck")
    if not layers or (disabled is not None and disabled.value != "false"):
        return []
    test = _words(*tests[-1][::2]) if tests else []
    if not test or test[0].value == "NONE":
        return []  # the image's own, or none
    start, interval = service.last("healthcheck", "start_period"), service.last("healthcheck", "interval")
    retries = service.last("healthcheck", "retries")
    patience = hosting.given_up(hosting.duration(start, 0), hosting.duration(interval, 30), hosting.count(retries, 3))
    file, key, _ = layers[-1]
    shown = start or retries or interval or yaml.text(file.source, key)
    asked = hosting.asked(test)
    port, site = asked if asked is not None else (None, None)
    return [Probe("healthcheck", shown, patience, port, site, gates=_gates(service.name, files, service))]


def _words(file: File, node: Node) -> list[Text]:
    if yaml.scalar(node) is not None:
        return [file.text(node)]
    return [file.text(item) for item in file.items(node) if yaml.scalar(item) is not None]


def _gates(name: str, files: list[File], service: Service) -> bool:
    """Whether another service of the files starts only when this one is healthy."""
    return any(name in file.awaited for file in (*files, *[file for file, _ in service.parts]))
