"""`servelint cache`: show what the cache of a project holds, or delete it."""

from __future__ import annotations

import os

from servelint.cache import FOLDER, Unusable, default_folder
from servelint.cache.context import user_folder
from servelint.cache.store import AT_MOST, Store, user_key
from servelint.cli.command import Options, command, option
from servelint.cli.output import plural, print_stderr, write_stdout


class Place(Options, title="cache"):
    """The folder of the cache."""

    cache_dir: str | None = option("--cache-dir", metavar="FOLDER", help=f"its folder (default: {FOLDER} in the project)")


def _store(place: Place) -> Store | None:
    """Open the cache; None, and a message, where there is something else."""
    folder = os.path.abspath(place.cache_dir or default_folder())
    try:
        return Store(folder, user_key() or b"")
    except Unusable as error:
        print_stderr(f"servelint: {folder}: not used as the cache: {error}")
        return None


def _print(place: Place) -> int:
    store = _store(place)
    if store is None:
        return 2
    count, size = store.size()
    write_stdout(f"{store.folder}: {count:,} {plural(count, 'result')}, {size / (1 << 20):.1f} of {AT_MOST >> 20} MiB\n")
    if user_key() is None:
        print_stderr(f"servelint: the cache is not used: no key can be kept in {user_folder()}")
    return 0


_show = command(
    "show",
    Place,
    about="Show where the results of servelint check are kept, and how large they are.",
    examples=["servelint cache show"],
)


@command(
    "clean",
    Place,
    about="Delete the results of servelint check.",
    examples=["servelint cache clean", "servelint cache clean --cache-dir ~/.cache/servelint/check"],
)
def _clean(place: Place) -> int:
    store = _store(place)
    if store is None:
        return 2
    count = store.clean()
    print_stderr(f"servelint: deleted {count:,} {plural(count, 'result')} in {store.folder}")
    return 0


@command(
    "cache",
    about="Show or delete the results that servelint check keeps.",
    subcommands={
        "show": (_show(_print), "show where they are kept, and how large they are (the default)"),
        "clean": (_clean, "delete them"),
    },
    usage=["servelint cache [show | clean] [options]"],
    examples=["servelint cache", "servelint cache clean"],
)
def run() -> int:
    """Show the cache of the project."""
    return _print(Place({"cache_dir": None}))
