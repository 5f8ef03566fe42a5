"""Where a server listens: the port and the interface, as the options, the variables or the engine's own defaults say."""

from __future__ import annotations

from servelint.core.numbers import is_whole
from servelint.core.source import Span
from servelint.engines import ENGINES, images
from servelint.engines.config import Config, Operand

_LOOPBACK = ("localhost", "::1")
_NO_SERVER = ("headless", "uds", "grpc", "nnodes", "node-rank", "ssl-port", "data-parallel-multi-port-external-lb")
"""Options with which another process, a socket or another port than the one is served."""


def port(config: Config) -> tuple[int, Span | None] | None:
    """The port, and what sets it; None if it is not known, or if the launch serves no HTTP of its own."""
    engine = ENGINES[config.launch.engine]
    if not engine.port or any(config.operand(name).present is not False for name in _NO_SERVER):
        return None
    found = _setting(config, engine.port_option, engine.port_variables)
    if found is None:
        return None
    if found.present:
        value = str(found.value) if found.value is not None else ""
        return (int(value), found.span) if is_whole(value) else None
    return (engine.port, None) if _own(config) else None


def loopback(config: Config) -> tuple[str, Span | None] | None:
    """The loopback interface that the server is bound to, and what says so; None if it is another, or not known."""
    engine = ENGINES[config.launch.engine]
    found = _setting(config, engine.host_option, engine.host_variables)
    if found is None:
        return None
    if found.present:
        value = found.value
        inside = isinstance(value, str) and (value in _LOOPBACK or value.startswith("127."))
        return (str(value), found.span) if inside else None
    return ("127.0.0.1", None) if engine.loopback and _own(config) else None


def _setting(config: Config, option: str, variables: tuple[str, ...]) -> Operand | None:
    """The option, else one of the variables; None if that is not known."""
    found = config.operand(option)
    for name in variables:
        if found.present is False:
            found = config.operand("env." + name)
    return None if found.present is None or (found.present and found.value is None) else found


def _own(config: Config) -> bool:
    """Whether the engine's own defaults hold: it is started by its program, or by an image of its makers."""
    launch = config.launch
    return bool(launch.verb) or (launch.image is not None and not images.identify(launch.image).house)


def named(config: Config, number: int) -> bool:
    """Whether a number stands anywhere in the words or the variables of a launch: another port of it, maybe."""
    text = str(number)
    launch = config.launch
    words = [word.text.flat for word in launch.argv]
    values = [variable.value.flat for variable in launch.env.values() if variable.value is not None]
    return any(text in one for one in (*words, *values))
