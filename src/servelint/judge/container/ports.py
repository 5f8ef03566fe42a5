"""Published ports: whether the server listens on them, where it can be reached, and who may."""

from __future__ import annotations

from servelint.core.finding import Related
from servelint.core.launch import Port, Runtime
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.config import Config
from servelint.fixes.change import written_at
from servelint.judge.container import serving
from servelint.judge.parser.complaint import Complaint


def complaints(config: Config) -> list[Complaint]:
    container = config.launch.container
    runtime = container.runtime if container is not None else None
    if runtime is None or not runtime.ports or not config.launch.likely:
        return []
    on_host = _on_host(runtime, runtime.ports)
    if on_host or (runtime.network is not None and runtime.network.value == "host"):
        return on_host
    listening = serving.port(config)
    if listening is None:
        return []
    port = listening[0]
    own = next((one for one in runtime.ports if one.number == port), None)
    if own is not None:
        return _loopback(config, runtime, own) or _open(config, own)
    return _not_served(config, runtime, runtime.ports, listening[0])


def _not_served(config: Config, runtime: Runtime, ports: list[Port], port: int) -> list[Complaint]:
    """Published ports, and another one that the server listens on."""
    numbers = [one.number for one in ports if one.number is not None]
    if runtime.declared or not runtime.direct or not runtime.private or len(numbers) < len(ports):
        return []
    span = ports[0].text.span()
    if span is None or any(serving.named(config, number) for number in numbers):
        return []
    name = ENGINE_NAMES[config.launch.engine]
    shown = " and ".join([str(number) for number in numbers[:3]])
    message = f"port {shown} of the container is published, and {name} listens on {port}: nobody answers there"
    listening = serving.port(config)
    site = listening[1] if listening is not None else None
    option = ENGINES[config.launch.engine].port_option
    advice = f"publish {port}, or add --{option} {numbers[0]}" if site is None else f"publish {port}, or write the other one"
    related = [Related(site, "listens here")] if site is not None else []
    return [Complaint("port-not-served", span, message, advice, "leads nowhere", related=related)]


def _loopback(config: Config, runtime: Runtime, port: Port) -> list[Complaint]:
    """A published port of a server that only the container itself can reach."""
    bound = serving.loopback(config)
    span = port.text.span()
    if bound is None or not runtime.private or span is None:
        return []
    name = ENGINE_NAMES[config.launch.engine]
    address, site = bound
    by = f"listens on {address}" if site is not None else f"listens on {address} unless --host says otherwise"
    way = "declared" if runtime.declared else "published"
    message = f"port {port.number} is {way}, and {name} {by}, which nobody outside of the container reaches"
    related = [Related(site, "inside the container alone")] if site is not None else []
    advice = "write --host 0.0.0.0; what should not be reached from outside is published on 127.0.0.1 of the host"
    change = written_at(site, "0.0.0.0") if site is not None and site.text == address else None  # noqa: S104 - in the container
    title = "listen on 0.0.0.0"
    return [
        Complaint("listens-on-loopback", span, message, advice, "reaches nobody", related=related, change=change, title=title)
    ]


def _open(config: Config, port: Port) -> list[Complaint]:
    """A port on every interface of the host, and no key."""
    engine = ENGINES[config.launch.engine]
    span = port.text.span()
    if not engine.api_key_operands or not port.exposed or span is None:
        return []
    asked = (*engine.api_key_operands, *engine.open_host_operands)
    if any(config.operand(name).present is not False for name in asked) or serving.loopback(config) is not None:
        return []
    shown = port.host if port.host is not None else port.number
    message = f"port {shown} is published on every interface, and {engine.name} asks for no key"
    advice = "publish it on 127.0.0.1 or not at all, or give the server a key (--api-key)"
    return [Complaint("open-port-without-key", span, message, advice, "for everybody who reaches the host")]


def _on_host(runtime: Runtime, ports: list[Port]) -> list[Complaint]:
    """Ports that are mapped to others in the host's network, where the runtime drops them."""
    if runtime.declared or runtime.network is None or runtime.network.value != "host":
        return []
    moved = [one for one in ports if one.host is not None and one.number is not None and one.host != one.number]
    span = moved[0].text.span() if moved else None
    if span is None or not runtime.direct:
        return []
    message = (
        f"port {moved[0].host} stays closed: in the host's network published ports are dropped, {moved[0].number} included"
    )
    site = runtime.network.span()
    related = [Related(site, "the host's network")] if site is not None else []
    advice = f"delete it and have the server listen on {moved[0].host}, or leave the host's network"
    return [Complaint("ports-on-host-network", span, message, advice, "dropped", related=related)]
