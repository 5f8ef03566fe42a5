"""Options whose value is a JSON object with keys that the release declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from servelint.harvest.evaluate import classes
from servelint.harvest.pysource import MISSING, UNKNOWN, Class, External, Field, Generic, Program, plain

_GRAPH = "sglang.srt.model_executor.cuda_graph_config"
_EVENTS = "sglang.srt.disaggregation.kv_events"


def json_options(program: Program, options: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Key -> the object's description; the options that take it are told so."""
    found: dict[str, dict[str, Any]] = {}
    for name, described in (("cuda-graph-config", _cuda_graph(program)), ("kv-events-config", _kv_events(program))):
        if name in options and described:
            found[name] = described
            options[name]["json"] = name
    return found


def _cuda_graph(program: Program) -> dict[str, Any]:
    """Phases, each an object of its own; the option's converter refuses an unknown phase and an unknown key."""
    module = program.module(_GRAPH)
    if module is None:
        return {}
    allowed = plain(module.resolve("ALLOWED_KEYS_PER_PHASE"))
    backends = plain(module.resolve("ALLOWED_BACKENDS_PER_PHASE")) if module.defines("ALLOWED_BACKENDS_PER_PHASE") else {}
    settings = module.resolve("PhaseConfig")
    if not isinstance(allowed, dict) or not isinstance(settings, Class):
        return {}
    keys = _keys(program, program.fields(settings))
    phases: dict[str, Any] = {}
    for phase, names in allowed.items():
        inner = {name: dict(keys.get(name, {})) for name in names}
        for entry in inner.values():
            entry.pop("default", None)  # what applies where it is not given depends on the phase
        if isinstance(backends, dict) and isinstance(backends.get(phase), list) and "backend" in inner:
            inner["backend"]["choices"] = backends[phase]
        phases[phase] = {"type": "object", "extra": "reject", "keys": inner}
    return {"extra": "reject", "keys": phases}


def _kv_events(program: Program) -> dict[str, Any]:
    """A pydantic model, which passes over keys that it does not know."""
    module = program.module(_EVENTS)
    model = module.resolve("KVEventsConfig") if module is not None and module.defines("KVEventsConfig") else None
    return {"extra": "ignore", "keys": _keys(program, program.fields(model))} if isinstance(model, Class) else {}


def _keys(program: Program, fields: Iterable[Field]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for field in fields:
        entry: dict[str, Any] = {}
        kind, choices = _kind(classes.annotation(program, field))
        if kind is not None:
            entry["type"] = kind
        if choices is not None:
            entry["choices"] = choices
        if field.default is MISSING:
            entry["required"] = True
        default = plain(field.default)
        if default is not UNKNOWN and default is not None:
            entry["default"] = default
        found[field.name] = entry
    return found


def _kind(annotation: Any) -> tuple[str | None, list[Any] | None]:
    """(type, choices) of an annotation; Optional counts as what it wraps."""
    if isinstance(annotation, type):
        return annotation.__name__, None
    if isinstance(annotation, Generic):
        if annotation.origin == External("typing.Literal"):
            choices = list(annotation.args)
            return type(choices[0]).__name__, choices
        if annotation.origin == External("typing.Union"):
            inner = [_kind(one) for one in annotation.args if one is not type(None)]
            return inner[0] if len(inner) == 1 else (None, None)
        if isinstance(annotation.origin, type):
            return annotation.origin.__name__, None
    return None, None
