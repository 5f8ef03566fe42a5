"""What compose or Docker refuses in a service.

These are values of another type, volumes and services that are not there, and pairs that cannot be combined. The checks are
those of github.com/compose-spec/compose-go (schema/compose-spec.json, loader/validate.go) and of Docker's daemon.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from servelint.core.launch import Mishap
from servelint.readers.compose_file import File, Service, env_files
from servelint.readers.runtime import parts
from servelint.syntax import yaml, yaml_values
from servelint.syntax.yaml import Node

_DEVICES = ("deploy", "resources", "reservations", "devices")
_VOLUME = r"[A-Za-z0-9][\w.-]+"
_RESTARTS = r"no|always|unless-stopped|on-failure(?::\d+)?"


def of_service(service: Service, files: list[File], whole: bool) -> list[Mishap]:
    """What is refused in a service.

    Args:
        service: The service.
        files: The files of its project.
        whole: Whether no other file adds to it, as far as its name says: another one may declare what `compose -f` joins.
    """
    found = [*_devices(service), *_texts(service), *_alone(service), *_quotes(service, files)]
    missing = [*_names(service, files)] if whole and not service.open else []
    return [*found, *missing] if missing and not _is_included(files[0]) else found


_PROJECTS = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
_FOLDERS_ABOVE = 3


def _is_included(file: File) -> bool:
    """Whether a compose file of a folder above names this one, as `include` does: what is missing here may stand there."""
    folder = file.neighbours.folder
    folders = os.path.abspath(folder).split(os.sep) if folder is not None else []
    for above in range(1, min(_FOLDERS_ABOVE, len(folders)) + 1):
        path = "/".join([*folders[-above:], os.path.basename(file.source.path)])
        for name in _PROJECTS:
            project = file.neighbours.read("../" * above + name)
            if project is not None and "include" in project.text and path in project.text:
                return True
    return False


def _devices(service: Service) -> Iterator[Mishap]:
    """Devices without `capabilities`, with a count and ids, or with a count that is not a number; GPUs that are not a list."""
    for path in (_DEVICES, ("gpus",)):
        for file, _, node in service.layers(*path):
            if path == ("gpus",) and yaml.scalar(node) is not None:
                value = file.value(node)
                if value.value is not None and value.value != "all":
                    yield Mishap("gpus-text", yaml.span(file.source, node), value.value)
            for item in file.items(node):
                device = yaml.entries(item)
                span = yaml.span(file.source, item)
                count = file.optional(device, "count")
                if device and path == _DEVICES and "capabilities" not in device and not any("{{" in key for key in device):
                    yield Mishap("no-capabilities", span, "capabilities")
                elif "count" in device and "device_ids" in device:
                    if not yaml.together(file.source, device["count"][0], device["device_ids"][0]):
                        continue
                    yield Mishap("count-and-ids", span, "count")
                elif count is not None and count.value and re.fullmatch(r"(?i)all|[+-]?\d+", count.value) is None:
                    yield Mishap("device-count", yaml.span(file.source, device["count"][1]), count.value)


def _quotes(service: Service, files: list[File]) -> Iterator[Mishap]:
    """Values in `.env` and in the files of `env_file` whose quote nothing closes."""
    from servelint.syntax import dotenv

    read = [files[0].neighbours.read(".env")] if files and files[0].outer is None else []
    read += [file.read(path) for file, path, raw in env_files(service) if path is not None and not raw]
    for source in {id(one): one for one in read if one is not None and ("'" in one.text or '"' in one.text)}.values():
        if (span := dotenv.unclosed(source)) is not None:
            yield Mishap("open-quote", span, span.text[:1])


def _texts(service: Service) -> Iterator[Mishap]:
    """Numbers in a command, and mappings in a list of variables."""
    for name in ("entrypoint", "command"):
        for file, _, node in service.layers(name)[-1:]:
            for item in file.items(node):
                if yaml.is_mapping(item) and "{" not in yaml.span(file.source, item).text:
                    yield Mishap("no-text", yaml.span(file.source, item), yaml.span(file.source, item).text, "a mapping")
                elif yaml.is_scalar(item) and yaml.tag(item) == yaml.PLAIN and yaml.text(file.source, item).known:
                    value = yaml_values.plain(item.value, yaml_values.COMPOSE)
                    if isinstance(value, (bool, int, float)):
                        kind = "a boolean" if isinstance(value, bool) else "a number"
                        yield Mishap("no-text", yaml.span(file.source, item), item.value, kind)
    for file, _, node in service.layers("environment"):
        for item in file.items(node):
            if yaml.is_mapping(item) and not any("{" in key for key in yaml.entries(item)):
                yield Mishap("pair-in-list", yaml.span(file.source, item), next(iter(yaml.entries(item)), ""))


def _alone(service: Service) -> Iterator[Mishap]:
    """Keys that cannot be combined, and values that Docker does not know."""
    replicas = service.last("deploy", "replicas") or service.last("scale")
    several = replicas is not None and (replicas.value or "").isdecimal() and int(replicas.value or "0") > 1
    name, network, restart = service.last("container_name"), service.last("network_mode"), service.last("restart")
    if several and replicas is not None and name is not None and (span := name.span()) is not None:
        scaled = "deploy" if service.last("deploy", "replicas") is not None else "scale"
        if _together(service, "container_name", scaled):
            yield Mishap("one-name", span, name.shown, replicas.shown)
    if network is not None and network.value is not None and (span := network.span()) is not None:
        if service.layers("networks") and _together(service, "network_mode", "networks"):
            yield Mishap("network-twice", span, network.value)
        ports = service.layers("ports") if _together(service, "network_mode", "ports") else []
        if network.value.startswith(("service:", "container:")) and ports and ports[-1][0].items(ports[-1][2]):
            file, key, _ = ports[-1]
            yield Mishap("ports-of-other", yaml.span(file.source, key), "ports", network.value)
    unknown = restart is not None and restart.value and re.fullmatch(_RESTARTS, restart.value) is None
    if unknown and restart is not None and (span := restart.span()) is not None:
        yield Mishap("restart-policy", span, restart.shown)
    if several and replicas is not None:
        yield from _fixed_port(service, replicas.value or "")
    for file, _, node in service.layers("healthcheck", "test")[-1:]:
        words = [file.text(item).value for item in file.items(node)]
        if words and words[0] is not None and words[0] not in ("CMD", "CMD-SHELL", "NONE"):
            yield Mishap("check-word", yaml.span(file.source, file.items(node)[0]), words[0])
        elif len(words) == 2 and words[0] == "CMD" and re.match(r"\S+ +\S", words[1] or ""):
            yield Mishap("check-one-word", yaml.span(file.source, file.items(node)[1]), words[1] or "")


def _together(service: Service, *names: str) -> bool:
    """Whether the keys that count are all in the output of a template, or none; True where no template makes the file."""
    keys = [(file, key) for name in names for file, key, _ in service.layers(name)[-1:]]
    return all(yaml.together(file.source, *[key for other, key in keys if other.source is file.source]) for file, _ in keys)


def _fixed_port(service: Service, replicas: str) -> Iterator[Mishap]:
    """A port of the host that several containers would publish."""
    for file, _, node in service.layers("ports"):
        for item in file.items(node):
            text = file.text(item) if yaml.scalar(item) is not None else None
            port = parts(text)[-2] if text is not None and len(parts(text)) > 1 else None
            if text is not None and port is not None and (port.value or "").isdecimal() and (span := text.span()) is not None:
                yield Mishap("one-port", span, port.value or "", replicas)
                return


def _names(service: Service, files: list[File]) -> Iterator[Mishap]:
    """Volumes that no file of the project declares."""
    tops = [top for file in files for top in file.tops]
    if any("include" in top or "{{" in file.source.text or "{%" in file.source.text for file in files for top in file.tops):
        return
    declared = {name for top in tops if "volumes" in top for name in yaml.entries(top["volumes"][1])}
    for file, _, node in service.layers("volumes"):
        for item in file.items(node):
            if (source := _volume(file, item)) is not None and source[1] not in declared:
                yield Mishap("no-such-volume", yaml.span(file.source, source[0]), source[1])


def _volume(file: File, item: Node) -> tuple[Node, str] | None:
    """The named volume of a mount, and where it is named."""
    if fields := yaml.entries(item):
        kind, source = file.optional(fields, "type"), file.optional(fields, "source")
        named = kind is not None and kind.value == "volume" and source is not None and source.value
        return (fields["source"][1], source.value) if named and source is not None and source.value else None
    if yaml.scalar(item) is None:
        return None
    words = parts(file.text(item))
    name = words[0].value if len(words) > 1 else None
    return (item, name) if name is not None and re.fullmatch(_VOLUME, name) else None


def of_dependents(files: list[File]) -> dict[str, list[Mishap]]:
    """What is refused in the services that wait for another one: the name of the other -> what is wrong about it.

    A service that is not there stands under "".
    """
    found: dict[str, list[Mishap]] = {}
    known = {name for file in files for name in file.services}
    whole = not any("include" in top for file in files for top in file.tops) and all(
        {"image", "build", "extends", "provider"} & yaml.entries(defined[-1][1]).keys()
        for file in files
        for defined in file.services.values()
    )
    if not whole:
        return {}
    for file in files if any("depends_on" in file.source.text for file in files) else ():
        for defined in file.services.values():
            fields = yaml.entries(defined[-1][1])
            node = yaml.field(fields, "depends_on")
            for item in file.items(node) if node is not None else []:
                name = yaml.scalar(item)
                if name and name not in known and re.fullmatch(r"[\w.-]+", name):
                    found.setdefault("", []).append(Mishap("no-service", yaml.span(file.source, item), name))
            for name, (key, value) in yaml.entries(node).items():
                waits = yaml.entries(value)
                if name not in known and re.fullmatch(r"[\w.-]+", name):
                    found.setdefault("", []).append(Mishap("no-service", yaml.span(file.source, key), name))
                elif yaml.scalar(yaml.field(waits, "condition")) == "service_healthy":
                    site = yaml.span(file.source, waits["condition"][1])
                    found.setdefault(name, []).append(Mishap("no-check", site, name))
    if "" in found and _is_included(files[0]):
        del found[""]
    return found
