"""Complaints about the values of environment variables that an engine cannot read as what it takes them for."""

from __future__ import annotations

import re

from servelint.core.launch import Variable
from servelint.core.text import Text
from servelint.judge.parser.complaint import Complaint
from servelint.judge.parser.wording import Here, listed, similar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_INTEGER = re.compile(r"\s*[-+]?\d+(?:_\d+)*\s*")
_WHOLE, _SWITCH, _TRUE = "a whole number", "1 or 0", "true or 1"
_MEANT = {"true": "1", "yes": "1", "on": "1", "y": "1", "t": "1", "enable": "1", "enabled": "1"}
_MEANT |= {"false": "0", "no": "0", "off": "0", "n": "0", "f": "0", "disable": "0", "disabled": "0"}
_NOT_READ_AS_TRUE = frozenset(("on", "t", "enable", "enabled"))
"""Words for "true" that a reader of `true or 1` does not know; what it does not know is false, or the default."""


def complaints(here: Here) -> list[Complaint]:
    since = here.record.values_read_since
    if not since or not here.config.at_least(since):
        return []
    known = here.catalog.variables()
    found: list[Complaint] = []
    for name, variable in here.config.launch.env.items():
        for first, last, body in known.get(name, ()):
            text = variable.value
            if first <= here.index <= last and text is not None and text.value and isinstance(body, dict):
                one = _value(here, name, text, variable, body)
                found += [one] if one is not None else []
    return found


def _value(here: Here, name: str, text: Text, variable: Variable, body: dict[str, Any]) -> Complaint | None:
    """A value that raises an error when it is read, or that is passed over for the default."""
    record = here.record
    if name in record.value_names:
        return _named(here, name, text, variable)
    wanted = record.value_kinds.get(body.get(record.value_kind, ""))
    if wanted is None or _reads(text.flat, wanted):
        return None
    meant = _MEANT.get(text.flat.strip().lower()) if wanted == _SWITCH else None
    if record.values_refused:
        message = f"{name}={text.flat} is not read as {wanted}: {here.release} ends with ValueError after loading"
    else:
        message = f"{name}={text.flat} is not read as {wanted} by {here.release}, which goes on without it"
    return Complaint(
        "unreadable-env-value" if record.values_refused else "ignored-env-value",
        text.span() or variable.site,
        message,
        f"write {meant or wanted}",
        f"not {wanted}",
        variable=name,
    )


def _named(here: Here, name: str, text: Text, variable: Variable) -> Complaint | None:
    """A value that is none of the names which the engine lets in."""
    lives = here.catalog.names(here.record.value_names[name])
    names = [one for one, runs in lives.items() if any(run[0] <= here.index <= run[1] for run in runs)]
    if not names or text.flat in names:
        return None
    close = similar(text.flat, names)
    message = f"{name}={text.flat} names no backend of {here.release}, which ends with ValueError"
    advice = f"write {close or listed(names)}"
    return Complaint("unreadable-env-value", text.span() or variable.site, message, advice, "no such name", variable=name)


def _reads(text: str, wanted: str) -> bool:
    """Whether a text is read as what is wanted."""
    if wanted == _TRUE:
        return text.strip().lower() not in _NOT_READ_AS_TRUE
    if wanted in (_WHOLE, _SWITCH):
        return _INTEGER.fullmatch(text) is not None
    try:
        float(text)
    except ValueError:
        return False
    return True
