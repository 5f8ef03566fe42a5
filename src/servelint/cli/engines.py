"""`servelint engines`: the catalog, listed, shown and harvested."""

from __future__ import annotations

import sys

from servelint.cli.files import write_out
from servelint.cli.told import tell
from servelint.engines import ENGINE_NAMES
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import Catalog

_USAGE = """usage: servelint engines [list]
       servelint engines show ENGINE [RELEASE]
       servelint engines harvest ENGINE RELEASE [--from PATH] [--output FILE] [--unverified]

list:     the engines whose releases servelint knows
show:     the options and variables of a release (the newest if none is named)
harvest:  read what a release accepts from its published source, without running it
          (--from: from an archive, a folder or an installed package). A file is read whole and
          held against the hash that the index has of it; --unverified reads only the sources in a
          wheel, which is faster where it has gigabytes
"""


def run(args: list[str]) -> int:
    command, rest = (args[0], args[1:]) if args else ("list", [])
    if command in ("-h", "--help"):
        write_out(_USAGE)
        return 0
    if command == "list" and not rest:
        return _list()
    if command == "show" and len(rest) in (1, 2):
        return _show(*rest)
    if command == "harvest":
        from servelint.harvest.command import harvest

        return harvest(rest)
    sys.stderr.write(_USAGE)
    return 2


def _list() -> int:
    lines: list[str] = []
    for engine, name in ENGINE_NAMES.items():
        catalog = catalogs.load(engine)
        if catalog is None:
            lines.append(f"{engine:<10} {name}: launches only\n")
        else:
            options = len(catalog.table(len(catalog.releases) - 1).options())
            lines.append(
                f"{engine:<10} {name}: {len(catalog.releases)} releases, {catalog.releases[0]} to {catalog.releases[-1]}"
                f" ({options} options in the newest)\n"
            )
    write_out("".join(lines))
    return 0


def _show(engine: str, release: str | None = None) -> int:
    catalog = catalogs.load(engine)
    if catalog is None:
        tell(f"servelint: there is no catalog of {engine!r} (servelint engines list)")
        return 2
    index = len(catalog.releases) - 1 if release is None else catalog.index(release.removeprefix("v"))
    if index is None:
        tell(f"servelint: the catalog of {ENGINE_NAMES[engine]} has no release {release}")
        return 2
    write_out(_release(catalog, index))
    return 0


def _release(catalog: Catalog, index: int) -> str:
    from servelint.report.life import takes

    lines = [f"{ENGINE_NAMES[catalog.engine]} {catalog.releases[index]}", ""]
    lines += [
        f"{' '.join([*option.names, *option.negatives])}: {takes(option, '')}" for option in catalog.table(index).options()
    ]
    variables = [name for name, runs in catalog.variables().items() if any(first <= index <= last for first, last, _ in runs)]
    return "\n".join([*lines, "", f"environment: {' '.join(variables)}", ""])
