"""The options, variables and keys of a release as a list offers them, made once for each release."""

from __future__ import annotations

from functools import lru_cache

from servelint.engines import ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import Catalog, Keys, Option
from servelint.report import life

_CHOICES_AT_MOST = 16
_LATER, _LAST = "5", "9"


class Entry:
    """One thing that may be written: what a list shows of it, and where in the list.

    detail: on one line;  documentation: Markdown
    """

    __slots__ = ("deprecated", "detail", "documentation", "label", "sort")

    def __init__(self, label: str, detail: str, documentation: str, sort: str, *, deprecated: bool) -> None:
        self.label = label
        self.detail = detail
        self.documentation = documentation
        self.sort = sort
        self.deprecated = deprecated


def long_name(option: Option) -> str:
    """The spelling of an option that says the most."""
    return next((name for name in option.names if name.startswith("--")), option.names[0])


@lru_cache(maxsize=16)
def options_of(engine: str, index: int) -> list[tuple[Entry, Option]]:
    """The spellings of a release's options, those that are deprecated or refused last."""
    catalog = catalogs.load(engine)
    if catalog is None:
        return []
    found: list[tuple[Entry, Option]] = []
    for option in catalog.table(index).options():
        if option.refuses:
            continue
        first = long_name(option)
        for spelling in [*option.names, *option.negatives]:
            if spelling != first and not spelling.startswith("--"):
                continue
            rank = _LAST if option.deprecated else _LATER if spelling != first else "0"
            entry = Entry(
                spelling,
                _short(option, spelling),
                _documented(option, spelling, catalog),
                rank + spelling.lstrip("-"),
                deprecated=bool(option.deprecated),
            )
            found.append((entry, option))
    return found


@lru_cache(maxsize=16)
def variables_of(engine: str, index: int) -> list[Entry]:
    """The environment variables that a release reads."""
    catalog = catalogs.load(engine)
    if catalog is None:
        return []
    found: list[Entry] = []
    for name, runs in catalog.variables().items():
        body = next((run[2] for run in runs if run[0] <= index <= run[1]), None)
        if body is None:
            continue
        gone = bool(body.get("deprecated"))
        own = name.startswith(ENGINES[engine].variables)
        told = _lasting([(run[0], run[1]) for run in runs], catalog)
        said = life.reads(body)
        found.append(
            Entry(
                name, said if said != "read" else "", told, (_LAST if gone else "0" if own else _LATER) + name, deprecated=gone
            )
        )
    return found


_AT_MOST = 256
_fields: dict[tuple[str, int, str, tuple[str, ...]], list[Entry]] = {}


def fields_of(engine: str, index: int, name: str, above: tuple[str, ...], keys: Keys) -> list[Entry]:
    """The keys of an object of a JSON option. above: the keys down to the object"""
    key = (engine, index, name, above)
    if key not in _fields:
        if len(_fields) >= _AT_MOST:
            _fields.clear()
        catalog = catalogs.load(engine)
        _fields[key] = [
            Entry(
                one,
                life.field(body, _CHOICES_AT_MOST),
                _lasting([(run[0], run[1]) for run in keys.runs.get(one, ())], catalog),
                (_LAST if body.get("deprecated") else "0") + one,
                deprecated=bool(body.get("deprecated")),
            )
            for one, body in sorted(keys.known.items())
        ]
    return _fields[key]


def _lasting(runs: list[tuple[int, int]], catalog: Catalog | None) -> str:
    return life.lasting(runs, catalog) if runs and catalog is not None else ""


def _short(option: Option, spelling: str) -> str:
    """What an option takes in a few words: its choices are offered once it is written."""
    if not option.takes_value:
        return "off" if spelling in option.negatives else "switch"
    taken = life.takes(option, spelling, most=4)
    return taken.partition(", also ")[0]


def _documented(option: Option, spelling: str, catalog: Catalog) -> str:
    taken = life.takes(option, spelling, most=_CHOICES_AT_MOST)
    lines = [f"{taken[:1].upper()}{taken[1:]}.", "", _lasting([run[:2] for run in catalog.spelled(spelling)], catalog)]
    if option.deprecated:
        lines += ["", f"Deprecated: {' '.join(option.deprecated.split())}"]
    return "\n".join(lines)
