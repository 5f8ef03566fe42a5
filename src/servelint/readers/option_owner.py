"""Whose options a list of names holds: told by names that one engine alone has."""

from __future__ import annotations

import re

from servelint.engines.registry import ENGINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from servelint.engines.catalog import Catalog, Option

_SEVERAL_WORDS = re.compile(r"[a-z0-9]+[-_][a-z0-9]+")
_SHORT = ("tp", "dp", "pp", "ep")
"""Abbreviations (`--tp` for `--tp-size`) that are written more often than what they stand for."""


def owner(names: Iterable[str], hint: str = "", takes: Callable[[str, list[Option]], bool] | None = None) -> str | None:
    """The engine that knows all options and, unless the hint names it, is the only one to know one of them.

    names: without their dashes;  hint: the name of a file or variable
    takes: whether an option may have the value that it is given
    """
    names = list(names)
    if not any(_SEVERAL_WORDS.match(name) for name in names):
        return None  # `model`, `port`, `task`: words that any file may have
    from servelint.engines import catalog as catalogs

    asked = [engine.id for engine in ENGINES.values() if engine.identified_by_options]
    known = {engine: catalog for engine in asked if (catalog := catalogs.load(engine)) is not None}
    for engine, catalog in known.items():
        found = {name: _options(catalog, engine, name) for name in names}
        if not all(options and (takes is None or takes(name, options)) for name, options in found.items()):
            continue
        others = [(other, known[other]) for other in known if other != engine]
        own = [name for name in names if not any(_options(one, other, name) for other, one in others)]
        if engine in hint.lower() or any(_SEVERAL_WORDS.match(name) for name in own):
            return engine
    return None


def _options(catalog: Catalog, engine: str, name: str) -> list[Option]:
    """The option of a name in each run of releases that has it."""
    option = name.partition(".")[0]
    spelling = "--" + (option.replace("_", "-") if ENGINES[engine].dialect.underscores else option)
    if option in _SHORT and not catalog.spelled(spelling):
        spelling += "-size"
    return [known for _, _, known in catalog.spelled(spelling)]
