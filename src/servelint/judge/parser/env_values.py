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

_NAMES = {"VLLM_ATTENTION_BACKEND": "attention-backends"}
"""Variables that hold one of the catalog's names of a kind."""
_INTEGER = re.compile(r"\s*[-+]?\d+(?:_\d+)*\s*")
_WHOLE = "a whole number"
_SWITCH = "1 or 0"
_KINDS = {"int": _WHOLE, "bool(int)": _SWITCH, "float": "a number"}
_MEANT = {"true": "1", "yes": "1", "on": "1", "y": "1", "t": "1", "enable": "1", "enabled": "1"}
_MEANT |= {"false": "0", "no": "0", "off": "0", "n": "0", "f": "0", "disable": "0", "disabled": "0"}
_NOT_READ_AS_TRUE = frozenset(("on", "t", "enable", "enabled"))
"""Words for "true" that none of SGLang's readers knows; what they do not know is false, or the default."""


def complaints(here: Here) -> list[Complaint]:
    if here.engine not in ("vllm", "sglang"):
        return []
    known = here.catalog.variables()
    found: list[Complaint] = []
    for name, variable in here.config.launch.env.items():
        for first, last, body in known.get(name, ()):
            value = variable.value.value if variable.value is not None else None
            if first <= here.index <= last and value and isinstance(body, dict):
                one = _vllm(here, name, variable, body) if here.engine == "vllm" else _sglang(here, name, variable, body)
                found += [one] if one is not None else []
    return found


def _vllm(here: Here, name: str, variable: Variable, body: dict[str, Any]) -> Complaint | None:
    """A value that raises ValueError when it is read.

    From 0.11.1 the engine core reads all that vllm/envs.py knows once the model is loaded (enable_envs_cache at the end of
    EngineCore's start in vllm/v1/engine/core.py); before, a variable is read where it is used, which may be never.
    """
    text = variable.value
    if text is not None and name in _NAMES and here.config.at_least("0.11.1"):
        return _named(here, name, text, variable)
    wanted = _KINDS.get(body.get("converter", ""))
    if text is None or wanted is None or not here.config.at_least("0.11.1") or _is_number(text.flat, wanted):
        return None
    meant = _MEANT.get(text.flat.strip().lower()) if wanted == _SWITCH else None
    message = f"{name}={text.flat} is not read as {wanted}: {here.release} ends with ValueError after loading"
    return Complaint(
        "unreadable-env-value",
        text.span() or variable.site,
        message,
        f"write {meant or wanted}",
        f"not {wanted}",
        variable=name,
    )


def _named(here: Here, name: str, text: Text, variable: Variable) -> Complaint | None:
    """A value that is none of the names which env_with_choices lets in."""
    lives = here.catalog.names(_NAMES[name])
    names = [one for one, runs in lives.items() if any(run[0] <= here.index <= run[1] for run in runs)]
    if not names or text.flat in names:
        return None
    close = similar(text.flat, names)
    message = f"{name}={text.flat} names no backend of {here.release}, which ends with ValueError"
    advice = f"write {close or listed(names)}"
    return Complaint("unreadable-env-value", text.span() or variable.site, message, advice, "no such name", variable=name)


def _sglang(here: Here, name: str, variable: Variable, body: dict[str, Any]) -> Complaint | None:
    """A value that is passed over for the default (EnvField.get in srt/environ.py), with a line in the log at most."""
    text = variable.value
    if text is None or not here.config.at_least("0.5.3"):
        return None
    kind = body.get("type")
    word = text.flat.strip().lower()
    if kind == "bool" and word in _NOT_READ_AS_TRUE:
        wanted = "true or 1"
    elif kind in ("int", "float") and not _is_number(text.flat, _WHOLE if kind == "int" else "a number"):
        wanted = _WHOLE if kind == "int" else "a number"
    else:
        return None
    message = f"{name}={text.flat} is not read as {wanted} by {here.release}, which goes on without it"
    return Complaint(
        "ignored-env-value", text.span() or variable.site, message, f"write {wanted}", f"not {wanted}", variable=name
    )


def _is_number(text: str, wanted: str) -> bool:
    if wanted in (_WHOLE, _SWITCH):
        return _INTEGER.fullmatch(text) is not None
    try:
        float(text)
    except ValueError:
        return False
    return True
