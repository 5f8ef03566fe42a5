"""Complaints about environment variables: those that nothing in the release reads."""

from __future__ import annotations

from functools import lru_cache

from servelint.core.launch import Variable
from servelint.engines import ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import Catalog
from servelint.engines.registry import derived
from servelint.fixes.change import Change, name_span
from servelint.judge.parser.complaint import Complaint
from servelint.judge.parser.repairs import setting_named
from servelint.judge.parser.replacements import Replacement, replacement
from servelint.judge.parser.wording import Here, Life, similar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@derived
def _prefixes(engine: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the names of an engine's own variables begin with, and those of the other engines."""
    closed = [one for one in ENGINES.values() if one.variables_closed]
    own = tuple([prefix for one in closed if one.id == engine for prefix in one.variables])
    return own, tuple([prefix for one in closed if one.id != engine for prefix in one.variables])


def complaints(here: Here) -> list[Complaint]:
    prefixes, others = _prefixes(here.engine)
    both = (*prefixes, *others)
    env = [(name, variable) for name, variable in here.config.launch.env.items() if name.startswith(both)]
    if not env:
        return []
    known = here.catalog.variables()
    foreign = [
        _foreign(here, name, variable)
        for name, variable in env
        # what a script exports may be for another engine that it starts
        if here.config.launch.container is not None and name.startswith(others) and name not in known
    ]
    found = [_variable(here, name, variable, known) for name, variable in env if name.startswith(prefixes)]
    return [one for one in [*foreign, *found] if one is not None]


def _foreign(here: Here, name: str, variable: Variable) -> Complaint | None:
    """A variable of another engine, if that one does read it."""
    other = next(one for one in ENGINES.values() if one.variables_closed and name.startswith(one.variables))
    catalog = catalogs.load(other.id)
    if catalog is None or name not in catalog.variables():
        return None
    if here.record.alone_since and not here.config.at_least(here.record.alone_since):
        return None
    return Complaint(
        "env-of-other-engine",
        name_span(variable),
        f"{name} is a variable of {other.name}; nothing in {here.release} reads it",
        "delete it",
        "not read",
        variable=name,
        change=Change(unset=name),
        title=f"delete {name}",
        safe=True,
    )


def _variable(here: Here, name: str, variable: Variable, known: dict[str, Any]) -> Complaint | None:
    engine = here.name
    place = name_span(variable)
    runs = known.get(name)
    old, new = here.record.renamed_variables
    if old and name.startswith(old):
        renamed = known.get(old + "*")
        if runs is None and renamed is not None:
            return None  # read under the new name, and judged there by the engine itself
        if _live(here, renamed) and _live(here, known.get(new + name[len(old) :])):
            return None  # read under the new name, although the release has nothing of the old one itself
    instead = replacement(here.engine, name)
    if runs is None:
        close = similar(name, _read(here.catalog, here.index))
        if close is None:
            return None  # a script beside the engine may read it
        return Complaint(
            "unknown-env",
            place,
            f"nothing in {here.release} reads {name}",
            instead.text if instead is not None else f"write {close}, if that is meant",
            "not read",
            change=Change(rename=(name, close)),
            title=f"write {close}",
            variable=name,
        )
    body = next((run[2] for run in runs if run[0] <= here.index <= run[1]), None)
    if body is not None:
        told = body.get("deprecated") if isinstance(body, dict) else None
        if not told:
            return None
        text = " ".join(told.split()) if isinstance(told, str) else "look for what takes its place"
        return Complaint(
            "deprecated-env",
            place,
            f"{name} is deprecated in {here.release}",
            instead.text if instead else text,
            "deprecated",
            variable=name,
        )
    life = Life(here.catalog, runs, here.index)
    gone = life.before is not None and life.after is None and (instead is None or instead.delete)
    return Complaint(
        "removed-env" if life.before is not None else "env-not-yet",
        place,
        f"nothing in {here.release} reads {name}: it {life.told(engine)}",
        instead.text if instead is not None and life.before is not None else f"delete it, or use {life.use(engine)}",
        "not read",
        variable=name,
        change=Change(unset=name) if gone else _as_option(here, instead, variable),
        title=f"delete {name}" if gone or instead is None else instead.text,
        safe=gone,
    )


@lru_cache(maxsize=256)
def _read(catalog: Catalog, index: int) -> tuple[str, ...]:
    """The variables that a release reads."""
    known = catalog.variables()
    return tuple([one for one, lives in known.items() if any(life[0] <= index <= life[1] for life in lives)])


def _as_option(here: Here, instead: Replacement | None, variable: Variable) -> Change | None:
    """The option that takes a variable's place, with its value."""
    option, value = instead.option if instead is not None else None, variable.value
    if option is None or value is None or not value.known or setting_named(here, option) is not None:
        return None
    return Change(unset=variable.name, option=(option, value.flat))


def _live(here: Here, runs: Any) -> bool:
    return runs is not None and any(run[0] <= here.index <= run[1] for run in runs)
