"""Ports that two servers ask for at the same time: in one pod, on one host, or by publishing them there."""

from __future__ import annotations

from servelint.core.finding import Related
from servelint.core.source import Span
from servelint.engines import ENGINES
from servelint.engines.config import Config
from servelint.engines.config import configs as configs_of
from servelint.judge.container.network import served_port
from servelint.judge.parser.violation import Violation

_EVERY_INTERFACE = ("", "0.0.0.0", "::", "None")  # noqa: S104 - what others write


class _Claim:
    """A port that a launch takes on the host, or in its pod.

    Attributes:
        number: The port.
        site: Where it is written; None if it is a default.
        address: The interface, "" for every one.
        published: Whether the container runtime takes it, not the server itself.
    """

    __slots__ = ("address", "number", "published", "site")

    def __init__(self, number: int, site: Span | None, address: str, published: bool) -> None:
        self.number = number
        self.site = site
        self.address = address
        self.published = published

    def meets(self, other: _Claim) -> bool:
        """Whether both cannot be had: the same port, on the same interface or on every one."""
        return self.number == other.number and (not self.address or not other.address or self.address == other.address)


def violations(config: Config) -> list[Violation]:
    """The first port of a launch that a launch before it has as well."""
    own = _claims(config) if config.launch.likely else []
    for other in config.launch.meanwhile if own else ():
        claim = other.release.release
        theirs = configs_of(other, [claim] if claim is not None else [])[0]
        for one in _claims(theirs) if other.likely and not other.launcher else []:
            met = next((mine for mine in own if mine.meets(one)), None)
            if met is not None:
                return _violation(config, met, theirs, one)
    return []


def _claims(config: Config) -> list[_Claim]:
    launch, container = config.launch, config.launch.container
    runtime = container.runtime if container is not None else None
    if container is not None and runtime is None:
        return []
    if runtime is not None and not runtime.declared and not (runtime.network is not None and runtime.network.value == "host"):
        known = [one for one in runtime.ports or [] if one.host and one.exposed is not None]
        return [_Claim(one.host or 0, one.text.span(), "" if one.exposed else one.text.flat, True) for one in known]
    served = served_port(config)
    option = ENGINES[launch.engine].host_option
    host = config.operand(option) if option else None
    if served is None or host is None or host.present is None or (host.present and host.value is None):
        return []
    address = str(host.value) if host.present else ""
    return [_Claim(served[0], served[1], "" if address in _EVERY_INTERFACE else address, False)]


def _violation(config: Config, mine: _Claim, other: Config, theirs: _Claim) -> list[Violation]:
    launch, record = config.launch, ENGINES[config.launch.engine]
    pod = launch.container is not None and launch.container.runtime is not None and launch.container.runtime.declared
    project = launch.name.startswith("services.")
    first = other.launch
    name = first.name.rpartition(".")[2] if pod or project else f"the {ENGINES[first.engine].name} of line {first.line}"
    shared = not mine.published and not theirs.published and _shares(config) and _shares(other)
    if shared and _model(config) == _model(other):
        return []  # the kernel hands each connection to one of the replicas
    related = [Related(theirs.site or first.site, "taken here")]
    where = "of the pod" if pod else "of the host"
    advice = f"write --{record.port_option} {mine.number + 1}, or another free port"
    if mine.published:
        message = f"{name} publishes port {mine.number} {where} as well: the container that starts second fails"
        advice = f"publish another port of the host, such as {mine.number + 1}"
    elif shared:
        message = (
            f"{name} listens on port {mine.number} {where} as well, and {record.name} {config.release} binds it all the same: "
        )
        message += "each request goes to one of the two models"
    else:
        message = f"{name} takes port {mine.number} {where} as well: only one of the two can listen on it"
        if record.shares_port[0] and launch.release.release is None:
            first_shared, last = record.shares_port
            message += f", or each gets a part of the requests ({record.name} {first_shared} to {last})"
    return [
        Violation(
            "port-shared" if shared else "port-taken",
            mine.site,
            message,
            advice,
            "taken twice",
            related=related,
            mild=project and not shared,
        )
    ]


def _shares(config: Config) -> bool:
    """Whether the release binds a port that another process has bound in the same way."""
    first, last = ENGINES[config.launch.engine].shares_port
    catalog = config.catalog
    if not first or catalog is None or config.release is None:
        return False
    low, here, high = (catalog.index(one) for one in (first, config.release, last))
    return None not in (low, here, high) and (low or 0) <= (here or 0) <= (high or 0)


def _model(config: Config) -> str | None:
    """The name by which clients ask for the model; None if it is not known."""
    given = [config.operand(name) for name in ("served-model-name", "model", "model-path")]
    return next((str(one.value) for one in given if one.present), None)
