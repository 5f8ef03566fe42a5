"""How `docker run` and its kin run a container: published ports, mounts, health check, network."""

from __future__ import annotations

from servelint.core.launch import Hosting, Probe
from servelint.core.source import Source
from servelint.core.text import Text
from servelint.readers import hosting
from servelint.readers.container_run import ContainerRun

_SHARED = ("host", "container:", "ns:")


def of_run(run: ContainerRun, source: Source) -> Hosting:
    network = run.last("--network") or run.last("--net")
    return Hosting(
        ports=[port for word in run.values("--publish") for port in hosting.published(word.text)],
        mounts=_mounts(run),
        probes=_checks(run),
        network=network,
        private=_private(run, network, source),
        restart=run.last("--restart"),
    )


def _private(run: ContainerRun, network: Text | None, source: Source) -> bool | None:
    if run.values("--pod") or "container:" in source.text:
        return False  # another container may join it
    if network is None:
        return True
    if network.value is None:
        return None
    return not network.value.startswith(_SHARED)


def _mounts(run: ContainerRun) -> list[Text] | None:
    if run.values("--volumes-from"):
        return None
    found: list[Text] = []
    for word in run.values("--volume"):
        parts = word.text.flat.split(":")
        start = len(parts[0]) + 1 if len(parts) > 1 else 0
        found.append(word.text.cut(start, start + len(parts[1] if len(parts) > 1 else parts[0])))
    found += [word.text.cut(0, len(word.text.flat.partition(":")[0])) for word in run.values("--tmpfs")]
    for word in run.values("--mount"):
        at = 0
        for part in word.text.flat.split(","):
            name, sign, _ = part.partition("=")
            if sign and name in ("target", "dst", "destination"):
                found.append(word.text.cut(at + len(name) + 1, at + len(part)))
            at += len(part) + 1
    return found


def _checks(run: ContainerRun) -> list[Probe]:
    test = run.last("--health-cmd")
    if test is None or not test.flat or test.flat == "none" or any(name == "--no-healthcheck" for name, _ in run.options):
        return []
    start, interval, retries = (run.last(f"--health-{name}") for name in ("start-period", "interval", "retries"))
    patience = hosting.given_up(hosting.duration(start, 0), hosting.duration(interval, 30), hosting.count(retries, 3))
    asked = hosting.asked([test])
    port, site = asked if asked is not None else (None, None)
    return [Probe("healthcheck", start or retries or interval or test, patience, port, site)]
