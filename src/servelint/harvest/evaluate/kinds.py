"""isinstance and issubclass over values of which not all are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from servelint.harvest.evaluate.builtin import is_typing
from servelint.harvest.evaluate.classes import lineage
from servelint.harvest.evaluate.values import UNKNOWN, Class, External, Generic, Instance, Member, Record

if TYPE_CHECKING:
    from servelint.harvest.pysource import Program


def is_instance(program: Program, value: Any, kinds: Any) -> Any:
    """isinstance(), as far as it is known."""
    if value is UNKNOWN or isinstance(value, External):
        return True if kinds is type and isinstance(value, External) else UNKNOWN
    results = [_is_one(program, value, kind) for kind in (kinds if isinstance(kinds, tuple) else _alternatives(kinds))]
    return True if True in results else (UNKNOWN if any(result is UNKNOWN for result in results) else False)


def _alternatives(kinds: Any) -> tuple[Any, ...]:
    return kinds.args if isinstance(kinds, Generic) and is_typing(kinds.origin, "Union") else (kinds,)


def _is_one(program: Program, value: Any, kind: Any) -> Any:
    if kind is UNKNOWN:
        return UNKNOWN
    if isinstance(kind, External):
        if isinstance(value, Record):
            return kind.name.rpartition(".")[2] == value.kind
        if isinstance(value, (Instance, Member)):
            return kind in lineage(program, value.owner)
        if kind.name.rpartition(".")[2] in ("Mapping", "MutableMapping", "Sequence", "Iterable", "Callable"):
            return UNKNOWN
        return False
    if isinstance(kind, Class):
        return isinstance(value, (Instance, Member)) and kind in lineage(program, value.owner)
    if kind is type:
        return isinstance(value, (type, Class))
    if isinstance(kind, type):
        inner = value.value if isinstance(value, Member) and kind in lineage(program, value.owner) else value
        return isinstance(inner, kind)
    return UNKNOWN


def is_subclass(program: Program, value: Any, kinds: Any) -> Any:
    """issubclass(), as far as it is known."""
    if isinstance(value, Class):
        order = lineage(program, value)
        options = kinds if isinstance(kinds, tuple) else (kinds,)
        known = any(option in order for option in options)
        return True if known else (UNKNOWN if any(base is UNKNOWN for base in order) else False)
    if isinstance(value, type) and isinstance(kinds, type):
        return issubclass(value, kinds)
    return False if isinstance(value, (type, External)) else UNKNOWN
