"""How containers are run, as formats write it alike: published ports, mounts, health checks, networks; and `docker run`."""

from __future__ import annotations

import re

from servelint.core.launch import Port, Probe, Runtime
from servelint.core.numbers import is_whole, whole_number
from servelint.core.source import Source
from servelint.core.text import HOLE, TracedText
from servelint.readers.containers import ContainerRun

_DURATION = r"(\d+(?:\.\d+)?)(h|ms|us|µs|ns|m|s)"
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_ASKED = r"(?:https?://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(\d{2,5})\b"
_CALLED = r"(?:^|[\s/\"'(])(?:curl|wget|urllib|requests|http\.client|httpx|nc)\b"
_TALKS = rf"{_CALLED}|https?:|/dev/tcp|localhost|127\.0\.0\.1|\b(?:socket|grpc\w*|health\w*|ready\w*|v1/models)\b"
_EVERYWHERE = ("", "0.0.0.0", "::", "[::]", "*")  # noqa: S104 - compared with


def published(text: TracedText) -> list[Port]:
    """The ports of `[[address:]host:]container[/protocol]`; one for each of a range that is not known."""
    flat = text.flat
    parts = _split(flat.partition("/")[0])
    if flat.partition("/")[2] not in ("", "tcp"):
        return []
    inside = _range(parts[-1])
    if inside is None:
        return [Port(text, None)]
    outside = _range(parts[-2]) if len(parts) > 1 else None
    known = len(parts) > 1 and HOLE not in flat[: flat.rfind(parts[-2])]
    exposed = (parts[-3] if len(parts) > 2 else "") in _EVERYWHERE if known or len(parts) == 1 else None
    hosts = outside if outside is not None and len(outside) == len(inside) else [None] * len(inside)
    return [Port(text, number, host, exposed) for number, host in zip(inside, hosts, strict=True)]


def _split(flat: str) -> list[str]:
    """The parts of a published port; an IPv6 address stands in brackets."""
    if flat.startswith("["):
        address, _, rest = flat.partition("]:")
        return [address + "]", *rest.split(":")]
    return flat.split(":")


def _range(part: str) -> list[int | None] | None:
    """The numbers of "8000" or "8000-8003"; None if they are not known."""
    low, dash, high = part.partition("-")
    first, last = whole_number(low), whole_number(high if dash else low)
    if first is None or last is None:
        return None
    return list(range(first, last + 1)) if first <= last < first + 256 else None


_DRIVE = r"[A-Za-z]:[\\/]"


def parts(text: TracedText) -> list[TracedText]:
    """The parts of a text between its colons; that of a drive of Windows (`C:\\models:/models`) is a part of its path."""
    found: list[TracedText] = []
    at = 0
    start = 2 if re.match(_DRIVE, text.flat) is not None else 0
    while (colon := text.flat.find(":", max(at, start))) != -1:
        found.append(text.cut(at, colon))
        at = colon + 1
    return [*found, text.cut(at)]


def duration(text: TracedText | None, default: float) -> float | None:
    """Seconds of "1m30s"; the default where nothing is given; None if it is not known."""
    if text is None:
        return default
    value = text.value
    if value is None:
        return None
    if value in ("0", ""):
        return 0.0
    found = re.findall(_DURATION, value)
    if "".join(number + unit for number, unit in found) != value:
        return None
    return sum([float(number) * _SECONDS[unit] for number, unit in found])


def count(text: TracedText | None, default: int) -> int | None:
    """A whole number; the default where nothing is given; None if it is not known."""
    if text is None:
        return default
    return int(text.value) if text.value is not None and is_whole(text.value) and len(text.value) < 9 else None


_NO_PATH = (None, None, None)
_PATH = r"/[\w./-]*(?=[\s'\");|&]|$)"
_FAILS = r"\bcurl\b[^|;&]*\s(?:-[a-zA-Z]*f|--fail)|\bwget\b"


def asked(texts: list[TracedText]) -> tuple[int | None, TracedText | None, TracedText | None]:
    """The port of the container itself that a command asks, if it asks just one, where that stands, and the path.

    A command that takes 404 for an answer has no path.
    """
    command = " ".join([text.flat for text in texts])
    if not re.search(_CALLED, command):
        return _NO_PATH
    found = [(match, text) for text in texts for match in re.finditer(_ASKED, text.flat)]
    if len({match.group(1) for match, _ in found}) != 1 or len(found) > 1:
        return _NO_PATH
    match, text = found[0]
    path = re.compile(_PATH).match(text.flat, match.end(1)) if re.search(_FAILS, command) else None
    return int(match.group(1)), text.cut(*match.span(1)), text.cut(*path.span()) if path is not None else None


def asks_server(texts: list[TracedText]) -> bool:
    """Whether a check may ask the server, which then has to be up; `pgrep` and files say nothing of that."""
    command = " ".join([text.flat for text in texts])
    return not command.strip() or re.search(_TALKS, command) is not None


_CLIENT = r"[ \t]*(?:/usr/bin/)?(curl|wget)(?=\s|$)"
_OTHER_WAY = r";|\|\|(?!\s*(?:exit|false|kill)\b)"


def client(texts: list[TracedText]) -> TracedText | None:
    """The program, curl or wget, without which a check fails; None if it needs neither, or has another way."""
    if re.search(_OTHER_WAY, " ".join([text.flat for text in texts])):
        return None
    found = [(match, text) for text in texts if (match := re.match(_CLIENT, text.flat)) is not None]
    return found[0][1].cut(*found[0][0].span(1)) if found else None


def given_up(start: float | None, interval: float | None, retries: int | None) -> float | None:
    """Seconds until so many checks in a row have failed after the start that is granted."""
    return start + interval * retries if start is not None and interval is not None and retries is not None else None


_SHARED = ("host", "container:", "ns:")


def of_run(run: ContainerRun, source: Source, *, docker: bool = False) -> Runtime:
    """How `docker run` runs a container. docker: whether it is Docker; Podman drops the health check of an image."""
    network = run.last("--network") or run.last("--net")
    return Runtime(
        ports=[port for word in run.values("--publish") for port in published(word.text)],
        mounts=_mounts(run),
        probes=_checks(run),
        network=network,
        private=_private(run, network, source),
        restart=run.last("--restart"),
        checked=docker and not any(name in ("--health-cmd", "--no-healthcheck") for name, _ in run.options),
    )


def _private(run: ContainerRun, network: TracedText | None, source: Source) -> bool | None:
    if run.values("--pod") or "container:" in source.text:
        return False  # another container may join it
    if network is None:
        return True
    if network.value is None:
        return None
    return not network.value.startswith(_SHARED)


def _mounts(run: ContainerRun) -> list[TracedText] | None:
    if run.values("--volumes-from"):
        return None
    found: list[TracedText] = []
    for word in run.values("--volume"):
        found += parts(word.text)[:2][-1:]
    found += [parts(word.text)[0] for word in run.values("--tmpfs")]
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
    patience = given_up(duration(start, 0), duration(interval, 30), count(retries, 3)) if asks_server([test]) else None
    port, site, path = asked([test])
    return [Probe("healthcheck", start or retries or interval or test, patience, port, site, path=path, program=client([test]))]
