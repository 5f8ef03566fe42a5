"""How containers are run, as the formats write it alike: published ports, mounts, durations, the port that a check asks."""

from __future__ import annotations

import re

from servelint.core.launch import Port
from servelint.core.numbers import is_whole, whole_number
from servelint.core.text import HOLE, Text

_DURATION = r"(\d+(?:\.\d+)?)(h|ms|us|µs|ns|m|s)"
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_ASKED = r"(?:https?://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(\d{2,5})\b"
_CALLED = r"(?:^|[\s/\"'(])(?:curl|wget|urllib|requests|http\.client|httpx|nc)\b"
_EVERYWHERE = ("", "0.0.0.0", "::", "[::]", "*")  # noqa: S104 - compared with


def published(text: Text) -> list[Port]:
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


def duration(text: Text | None, default: float) -> float | None:
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


def count(text: Text | None, default: int) -> int | None:
    """A whole number; the default where nothing is given; None if it is not known."""
    if text is None:
        return default
    return int(text.value) if text.value is not None and is_whole(text.value) and len(text.value) < 9 else None


def asked(texts: list[Text]) -> tuple[int, Text] | None:
    """The port of the container itself that a command asks, if it asks just one, and where that stands."""
    if not re.search(_CALLED, " ".join([text.flat for text in texts])):
        return None
    found = [(match, text) for text in texts for match in re.finditer(_ASKED, text.flat)]
    if len({match.group(1) for match, _ in found}) != 1 or len(found) > 1:
        return None
    match, text = found[0]
    return int(match.group(1)), text.cut(match.start(1), match.end(1))


def given_up(start: float | None, interval: float | None, retries: int | None) -> float | None:
    """Seconds until so many checks in a row have failed after the start that is granted."""
    return start + interval * retries if start is not None and interval is not None and retries is not None else None
