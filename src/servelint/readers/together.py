"""Launches of one file that run at the same time on one host, or in one pod, and may ask for the same port there."""

from __future__ import annotations

import re

from servelint.core.launch import Launch
from servelint.engines import ENGINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.syntax.shell.evaluate import Invocation

_AT_MOST = 16
"""Launches that are compared with each other: more are written by a loop."""
_DETACHED = r"--detach(?:=true)?|-[it]*d[it]*"
"""The option with which a container tool goes on while the container runs."""
_NOT_HERE = frozenset(
    ("exec", "ip", "kubectl", "mpiexec", "mpirun", "nsenter", "parallel", "pdsh", "screen", "srun", "ssh", "timeout", "tmux")
)
"""Words of commands that start a program on another machine, in another network, or for a time."""
_ENDS = (
    r"(?i)\b(?:\w*(?:kill|stop|clean|shutdown|terminate|restart)\w*|wait|rm|down|exit|return|fg)\b"
    r"|#[^\n]*\b(?:node|host|machine|server|terminal|shell|either|or|alternativ\w*)\b"
)
"""What may end a server, or a comment that says that the next one runs elsewhere or instead."""


def join(launches: list[Launch]) -> None:
    """Tell launches that are started together of those before them."""
    for at, launch in enumerate(launches[:_AT_MOST]):
        launch.meanwhile = _met(launch, launches[:at])


def add(running: list[tuple[Launch, Invocation]], launch: Launch, ran: Invocation) -> None:
    """Tell a launch of a script of those before it that surely still run, and add it to them."""
    if not ran.likely or ran.path or ran.calls:
        return
    here = ran.site
    running[:] = [
        (other, one)
        for other, one in running[:_AT_MOST]
        if one.site.source is here.source
        and one.site.end < here.start
        and (
            one.background
            or (other.container is not None and any(re.fullmatch(_DETACHED, word.text.flat) for word in one.words))
        )
        and not any(word.text.flat in _NOT_HERE for word in (*one.words[:6], *ran.words[:6]))
        and not re.compile(_ENDS).search(here.source.text, one.site.end, here.start)
    ]
    launch.meanwhile = _met(launch, [other for other, _ in running])
    running.append((launch, ran))


def _met(launch: Launch, before: list[Launch]) -> tuple[Launch, ...]:
    own = _numbers(launch) if before else set()
    return tuple([one for one in before if own & _numbers(one)])


def _numbers(launch: Launch) -> set[str]:
    """What may be the port that a launch takes on its host or in its pod, as written."""
    if launch.container is not None:
        runtime = launch.container.runtime
        if runtime is None or not (runtime.declared or (runtime.network is not None and runtime.network.value == "host")):
            return {str(port.host) for port in runtime.ports or [] if port.host} if runtime is not None else set()
    words = [word.text.flat for word in launch.argv]
    pairs = zip(words, [*words[1:], ""], strict=False)
    given = {word.partition("=")[2] or after for word, after in pairs if word.startswith("-") and "port" in word.lower()}
    given |= {one.value.flat for name, one in launch.env.items() if "PORT" in name and one.value is not None}
    return given or {str(ENGINES[launch.engine].port)}
