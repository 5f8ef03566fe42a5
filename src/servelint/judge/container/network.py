"""The network of a container: where its server listens, the ports that are published, and the probes of its health."""

from __future__ import annotations

import re

from servelint.core.finding import Related
from servelint.core.launch import Port, Probe, Runtime
from servelint.core.numbers import is_whole
from servelint.core.source import Span
from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES, ENGINES, images
from servelint.engines.config import Config, Operand
from servelint.fixes.change import written_at
from servelint.judge.parser.violation import Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.judge.parser.violation import Options


# -- where a server listens, as options, variables or the engine's defaults say


_EVERY_INTERFACE = ("0.0.0.0", "::")  # noqa: S104 - what others write
_LOOPBACK_NAMES = ("localhost", "::1")
_SERVED_ELSEWHERE = ("headless", "uds", "grpc", "ssl-port", "data-parallel-multi-port-external-lb")
"""Options with which another process, a socket or another port than the one is served."""
_COUNTED_FROM_0 = ("LWS_WORKER_INDEX", "JOB_COMPLETION_INDEX", "pod-index", "SLURM_NODEID", "SLURM_PROCID")
"""What counts the nodes of a launch: one of them is node 0."""


def served_port(config: Config) -> tuple[int, Span | None] | None:
    """The port that the server listens on, and the span that sets it; None if it is unknown, or if it serves no HTTP."""
    engine = ENGINES[config.launch.engine]
    if not engine.port or any(config.operand(name).present is not False for name in _SERVED_ELSEWHERE) or not _serves(config):
        return None
    if engine.address_variable and config.operand("env." + engine.address_variable).present is not False:
        address = _address(config)
        return (address[1], address[2]) if address is not None else None
    found = _setting(config, engine.port_option, engine.port_variables)
    if found is None:
        return None
    if found.present:
        value = str(found.value) if found.value is not None else ""
        return (int(value), found.span) if is_whole(value) else None
    port = _default_port(config)
    return (port, None) if port else None


def _default_port(config: Config) -> int:
    """The port where none is set; 0 if an image of others may set one."""
    engine, image = ENGINES[config.launch.engine], config.launch.image
    if image is not None and not images.identify(image).house:
        return engine.image_port or engine.port
    return engine.port if config.launch.verb and (image is None or not engine.image_port) else 0


def _serves(config: Config) -> bool:
    """Whether the launch runs on node 0 as well: with several nodes that is the one which answers requests."""
    rank = config.operand("node-rank")
    if rank.present is False or str(rank.value) == "0":
        return True
    nodes = config.launch.nodes
    leads = nodes is None or not nodes.kind or nodes.parts[0][0] is config.launch
    return rank.value is None and leads and rank.text is not None and any(name in rank.text.shown for name in _COUNTED_FROM_0)


def bound_loopback(config: Config) -> tuple[str, Span | None] | None:
    """The loopback address that the server is bound to, and the span that sets it; None if it is another, or unknown."""
    engine = ENGINES[config.launch.engine]
    if engine.address_variable and config.operand("env." + engine.address_variable).present is not False:
        address = _address(config)
        found = Operand(True, address[0], site=address[2]) if address is not None else None
    else:
        found = _setting(config, engine.host_option, engine.host_variables)
    if found is None:
        return None
    if found.present:
        value = found.value
        inside = isinstance(value, str) and (value in _LOOPBACK_NAMES or value.startswith("127."))
        return (str(value), found.span) if inside else None
    opened = engine.open_images and config.launch.container is not None  # an image made of theirs has their variables
    return ("127.0.0.1", None) if engine.loopback and _own(config) and not opened else None


_SCHEMES = {"": 0, "http": 80, "https": 443}
"""scheme of an address -> the port that it stands for, 0 for the engine's own (envconfig.Host of Ollama)"""


def _address(config: Config) -> tuple[str, int, Span | None] | None:
    """The interface, the port and the place of the variable that holds both; None if it is unknown."""
    engine = ENGINES[config.launch.engine]
    found = config.operand("env." + engine.address_variable)
    if not isinstance(found.value, str):
        return None
    text = found.value.strip().strip("\"'")
    match = re.fullmatch(r"(?:(\w+)://)?(\[[0-9A-Fa-f:]*\]|[^:/]*)(?::(\d{1,5}))?(?:/.*)?", text)
    if match is None or (match[1] or "") not in _SCHEMES:
        return None
    port = int(match[3]) if match[3] else _SCHEMES[match[1] or ""] or engine.port
    # no interface in front of a port is every one
    return match[2].strip("[]") or ("0.0.0.0" if match[3] else "127.0.0.1"), port, found.span  # noqa: S104 - as the engine reads it


def _setting(config: Config, option: str, variables: tuple[str, ...]) -> Operand | None:
    """The operand of an option, else of the first variable that is set; None if that is unknown."""
    found = config.operand(option)
    for name in variables:
        if found.present is False:
            found = config.operand("env." + name)
    return None if found.present is None or (found.present and found.value is None) else found


def _own(config: Config) -> bool:
    """Whether the engine's own defaults hold: its program or an official image starts it."""
    launch = config.launch
    return bool(launch.verb) or (launch.image is not None and not images.identify(launch.image).house)


def names_number(config: Config, number: int) -> bool:
    """Whether a number is in the words or the variables of a launch, where it may be another port of it."""
    text = re.compile(rf"(?<!\d){number}(?!\d)")
    launch = config.launch
    words = [word.text.flat for word in launch.argv]
    values = [variable.value.flat for variable in launch.env.values() if variable.value is not None]
    return any(text.search(one) for one in (*words, *values))


# -- published ports


def violations(config: Config, runtime: Runtime, options: Options) -> list[Violation]:
    """The violations in the published ports and the probes of a container. `options` are those of each violation's rule."""
    if not config.launch.likely:
        return []
    found = _ports(config, runtime)
    for probe in runtime.probes:
        found += [
            *_patience(config, probe, options),
            *_probe_port(config, runtime, probe),
            *_probe_path(config, runtime, probe),
            *_probe_program(config, runtime, probe),
            *_probe_scheme(config, runtime, probe),
            *_probe_key(config, runtime, probe),
        ]
        if probe.outside and not any(one.rule == "listens-on-loopback" for one in found):
            found += _loopback(config, runtime, probe.site or probe.text, f"the {probe.kind} asks the pod's address")
    listening = served_port(config) if runtime.services else None
    for asked in runtime.services if listening is not None else ():
        own = next((each for each in asked if listening is not None and each.port == listening[0]), None)
        if own is None and all(each.port is not None for each in asked):
            found += _probe_port(config, runtime, asked[0], "service-port")
        elif own is not None and not any(one.rule == "listens-on-loopback" for one in found):
            found += _loopback(config, runtime, own.text, f"the {own.kind} sends requests to the pod's address")
    return found


def _ports(config: Config, runtime: Runtime) -> list[Violation]:
    listening = served_port(config) if runtime.ports or runtime.network is not None else None
    if runtime.network is not None and runtime.network.value == "host":
        return [*_on_host(runtime, runtime.ports or []), *_open_on_host(config, runtime, listening)]
    if listening is None or not runtime.ports:
        return []
    own = next((one for one in runtime.ports if one.number == listening[0]), None)
    called = _called(config, runtime, own, listening)
    port = own or runtime.ports[0]
    what = f"port {port.number or port.text.shown} is {'declared' if runtime.declared else 'published'}"
    loopback = _loopback(config, runtime, port.text, what) if own is not None or runtime.direct else []
    if own is not None:
        return [*called, *(loopback or _open(config, own))]
    return [*_not_served(config, runtime, runtime.ports, listening), *loopback]


def _called(config: Config, runtime: Runtime, own: Port | None, listening: tuple[int, Span | None]) -> list[Violation]:
    """Addresses by which other containers of the network ask for the port that is published on the host."""
    found: list[Violation] = []
    for port in runtime.called if own is not None and own.host != own.number and runtime.direct and runtime.private else []:
        span = port.span()
        if (
            span is None
            or own is None
            or port.flat != str(own.host)
            or any(one.number == own.host for one in runtime.ports or ())
        ):
            continue
        name = ENGINE_NAMES[config.launch.engine]
        message = (
            f"port {port.flat} is published on the host alone: in the containers' network {name} listens on {listening[0]}"
        )
        site = own.text.span()
        related = [Related(site, "published")] if site is not None else []
        change = written_at(port.written, str(listening[0]))
        found.append(Violation("peer-port", span, message, f"write {listening[0]}", "refused", related=related, change=change))
    return found


def _not_served(config: Config, runtime: Runtime, ports: list[Port], listening: tuple[int, Span | None]) -> list[Violation]:
    """Published ports that are all other ones than the server's."""
    numbers = [one.number for one in ports if one.number is not None]
    if runtime.declared or not runtime.direct or not runtime.private or len(numbers) < len(ports):
        return []
    span = ports[0].text.span()
    if span is None or any(names_number(config, number) for number in numbers):
        return []
    port, site = listening
    engine = ENGINES[config.launch.engine]
    shown = " and ".join([str(number) for number in numbers[:3]])
    message = f"port {shown} of the container is published, but {engine.name} listens on {port}: nothing answers there"
    other = f"add --{engine.port_option} {numbers[0]}" if site is None else f"write --{engine.port_option} {numbers[0]}"
    if engine.address_variable:
        other = f"set {engine.address_variable}=0.0.0.0:{numbers[0]}"
    related = [Related(site, "listens here")] if site is not None else []
    return [Violation("port-not-served", span, message, f"publish {port}, or {other}", "leads nowhere", related=related)]


def _loopback(config: Config, runtime: Runtime, asked: TracedText, what: str) -> list[Violation]:
    """A server that is bound to the container's loopback interface, where `what` says that it is asked from outside."""
    bound = bound_loopback(config) if _serves(config) else None
    span = asked.span()
    if bound is None or not runtime.private or span is None:
        return []
    name = ENGINE_NAMES[config.launch.engine]
    address, site = bound
    own = ENGINES[config.launch.engine].address_variable or "--host"
    by = f"listens on {address}" if site is not None else f"listens on {address} unless {own} sets another address"
    message = f"{what}, and {name} {by}, which is reachable only inside the container"
    related = [Related(site, "inside the container alone")] if site is not None else []
    variable = ENGINES[config.launch.engine].address_variable
    way = f"{variable}=0.0.0.0" if variable else "--host 0.0.0.0"
    advice = f"write {way}; to keep it private, publish it on 127.0.0.1 of the host"
    change = written_at(site, "0.0.0.0") if site is not None and site.text == address else None  # noqa: S104 - in the container
    title = "listen on 0.0.0.0"
    return [
        Violation(
            "listens-on-loopback",
            span,
            message,
            advice,
            "unreachable",
            related=related,
            change=change,
            title=title,
        )
    ]


def _open(config: Config, port: Port) -> list[Violation]:
    """A port that is published on every interface of the host, of a server without a key."""
    span = port.text.span()
    if not port.exposed or span is None:
        return []
    shown = port.host if port.host is not None else port.number
    return _without_key(config, span, f"port {shown} is published on every interface", "publish it on 127.0.0.1 or not at all")


def _open_on_host(config: Config, runtime: Runtime, listening: tuple[int, Span | None] | None) -> list[Violation]:
    """The same for a container in the host's network, whose server listens on every interface."""
    engine = ENGINES[config.launch.engine]
    span = runtime.network.span() if runtime.network is not None else None
    variable = "env." + engine.address_variable
    host = config.operand(variable) if engine.address_variable else _setting(config, engine.host_option, engine.host_variables)
    if runtime.declared or not runtime.direct or span is None or listening is None or host is None or host.present is None:
        return []
    if host.present and host.value not in _EVERY_INTERFACE:
        return []
    message = f"port {listening[0]} is open on every interface of the host"
    where = f"set {engine.address_variable}" if engine.address_variable else f"--{engine.host_option}"
    return _without_key(config, span, message, f"let the server listen on 127.0.0.1 ({where})")


def _without_key(config: Config, span: Span, message: str, closed: str) -> list[Violation]:
    engine = ENGINES[config.launch.engine]
    closing = (*engine.api_key_operands, *engine.open_host_operands)
    if not (engine.api_key_operands or engine.asks_for_no_key) or bound_loopback(config) is not None:
        return []
    if any(config.operand(name).present is not False for name in closing):
        return []
    key = next((name for name in engine.api_key_operands if not name.startswith("env.")), "")
    way = f"give the server a key (--{key})" if key else "let a proxy in front of it check a key"
    message = f"{message}, and {engine.name} requires no key"
    advice = f"{closed}, or {way}"
    return [Violation("open-port-without-key", span, message, advice, "for every client that reaches the host")]


def _on_host(runtime: Runtime, ports: list[Port]) -> list[Violation]:
    """Ports mapped to others in the host's network, where the runtime drops the mapping."""
    if runtime.declared or runtime.network is None or runtime.network.value != "host":
        return []
    moved = [one for one in ports if one.host is not None and one.number is not None and one.host != one.number]
    span = moved[0].text.span() if moved else None
    if span is None or not runtime.direct:
        return []
    message = f"port {moved[0].host} stays closed: host networking drops published ports, {moved[0].number} included"
    site = runtime.network.span()
    related = [Related(site, "the host's network")] if site is not None else []
    advice = f"delete it and let the server listen on {moved[0].host}, or do not use host networking"
    return [Violation("ports-on-host-network", span, message, advice, "dropped", related=related)]


# -- probes


_EARLY, _SHORT = 60, 180
"""Seconds within which a server is rarely up, and within which a large or downloaded model is not loaded: the defaults of the
rules' options."""


def _patience(config: Config, probe: Probe, options: Options) -> list[Violation]:
    span = probe.text.span()
    if probe.patience is None or span is None or not ENGINES[config.launch.engine].starts_slowly:
        return []
    kills = probe.kind in ("startupProbe", "livenessProbe")
    eager = config.operand("enforce-eager").present is not False or config.operand("disable-cuda-graph").present is not False
    early = options.get("probe-before-load", {}).get("seconds", _EARLY)
    soon = probe.patience < early and (kills or probe.gates) and not eager
    if not soon and probe.patience >= options.get("short-probe", {}).get("seconds", _SHORT):
        return []
    end = "Kubernetes restarts it again and again" if kills else "the container counts as unhealthy"
    if probe.gates:
        end = "services that depend on it are not started"
    when = f"{probe.patience:g} s after the start"
    what = "a model is rarely loaded by then" if soon else "a large model, or one that is downloaded, is not loaded by then"
    message = f"the {probe.kind} gives up {when}: {what}; {end}"
    advice = "give it as long as the slowest start takes: "
    advice += "a startupProbe with a failureThreshold of some minutes" if kills else "a start_period of some minutes"
    return [Violation("probe-before-load" if soon else "short-probe", span, message, advice, "too soon")]


def _probe_port(config: Config, runtime: Runtime, probe: Probe, rule: str = "probe-port") -> list[Violation]:
    """A probe, or a Service, of a port that nothing listens on."""
    span = probe.site.span() if probe.site is not None else None
    if span is None or probe.port is None or not runtime.private or not runtime.direct:
        return []
    listening = served_port(config)
    if listening is None or listening[0] == probe.port or names_number(config, probe.port):
        return []
    port, site = listening
    end = "it always fails" if rule == "probe-port" else "no request is answered"
    written = "" if probe.site is None or probe.site.flat == str(probe.port) else f" ({probe.site.flat})"
    message = (
        f"the {probe.kind} asks port {probe.port}{written}, and {ENGINE_NAMES[config.launch.engine]} listens on {port}: {end}"
    )
    related = [Related(site, "listens here")] if site is not None else []
    change = written_at(probe.site.written, str(port)) if probe.site is not None and rule == "probe-port" else None
    advice = f"ask port {port}" if rule == "probe-port" else f"write targetPort: {port}"
    return [Violation(rule, span, message, advice, "nothing listens", related=related, change=change)]


def _probe_path(config: Config, runtime: Runtime, probe: Probe) -> list[Violation]:
    """A probe of a path that the engine answers with 404."""
    path, listening = probe.path, served_port(config)
    absent = ENGINES[config.launch.engine].no_paths
    span = path.span() if path is not None and path.known and re.fullmatch(absent, path.flat) else None
    added = {"middleware", "root-path", "fastapi-root-path"} & config.reading.arguments.settings.keys()
    if (
        span is None
        or path is None
        or not absent
        or not runtime.direct
        or added
        or listening is None
        or listening[0] != probe.port
    ):
        return []
    message = f"the {probe.kind} asks {path.flat}, which {ENGINE_NAMES[config.launch.engine]} answers with 404: it always fails"
    return [Violation("probe-path", span, message, "ask /health", "not found", change=written_at(path.written, "/health"))]


def _probe_scheme(config: Config, runtime: Runtime, probe: Probe) -> list[Violation]:
    """A probe that speaks HTTPS to a server of HTTP, or HTTP to one of HTTPS."""
    engine, listening = ENGINES[config.launch.engine], served_port(config)
    if engine.tls_operands is None or not runtime.declared or probe.path is None or not runtime.direct or not runtime.private:
        return []
    site = probe.scheme or probe.path
    span = site.span()
    if span is None or listening is None or listening[0] != probe.port or (probe.scheme is not None and not probe.scheme.known):
        return []
    given = [config.operand(name) for name in engine.tls_operands]
    asks, serves = probe.scheme is not None and probe.scheme.flat == "HTTPS", any(one.present for one in given)
    if any(one.present is None for one in given) or asks == serves:
        return []
    has, other = ("HTTPS", "HTTP") if asks else ("HTTP", "HTTPS")
    message = f"the {probe.kind} asks by {has}, and {engine.name} speaks {other}: it always fails"
    advice = f"write scheme: {other}"
    related = [Related(one.span, other) for one in given if one.span is not None][:1]
    change = written_at(site.written, other) if probe.scheme is not None else None
    return [Violation("probe-scheme", span, message, advice, has, related=related, change=change)]


def _probe_key(config: Config, runtime: Runtime, probe: Probe) -> list[Violation]:
    """A probe without a key, of a path that needs one."""
    engine, listening, path = ENGINES[config.launch.engine], served_port(config), probe.path
    span = path.span() if path is not None and path.known and re.fullmatch(engine.key_paths, path.flat) else None
    if span is None or path is None or not engine.key_paths or probe.keyed or not runtime.direct or not runtime.private:
        return []
    given = next((one for name in engine.api_key_operands if (one := config.operand(name)).present), None)
    if listening is None or listening[0] != probe.port or given is None or given.value == "":
        return []
    message = f"the {probe.kind} asks {path.flat} without the key, which {engine.name} answers with 401: it always fails"
    related = [Related(given.span, "the key")] if given.span is not None else []
    change = written_at(path.written, "/health")
    return [Violation("probe-key", span, message, "ask /health", "needs the key", related=related, change=change)]


_SCRIPT = r"\.(?:sh|bash|py)\b|\bsource\b|\bdockerfile\b|\bbuild:"
"""Commands of a container that stand elsewhere."""


def _probe_program(config: Config, runtime: Runtime, probe: Probe) -> list[Violation]:
    """A probe with a program that the image does not have."""
    record, container = ENGINES[config.launch.engine], config.launch.container
    image = container.image if container is not None else None
    program, span = probe.program, probe.program.span() if probe.program is not None else None
    if span is None or program is None or program.flat not in record.absent_clients or image is None:
        return []
    if not runtime.direct and re.search(_SCRIPT, config.launch.source.text):
        return []  # it may install the program
    if not re.fullmatch(rf"(?:docker\.io/)?{record.images[0].repository}(?::(?!.*rocm)[\w.-]+)?(?:@.+)?", image.flat):
        return []
    installs = rf"\b(?:apt|apt-get|apk|dnf|microdnf|yum)\b[^;&]{{0,400}}\b{program.flat}\b"
    mounted = any(mount.flat.endswith(("/bin", f"/{program.flat}")) for mount in runtime.mounts or [])
    if mounted or re.search(installs, config.launch.source.text):
        return []
    message = f"the {probe.kind} starts {program.flat}, which the images of {record.name} do not have: it always fails"
    advice = f'ask with the engine\'s own program: ["CMD", "{record.command[0]}", "list"]'
    return [Violation("probe-program", span, message, advice, "not in the image")]
