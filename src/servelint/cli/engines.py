"""`servelint engines`: list the engines, show what a release accepts, harvest a release."""

from __future__ import annotations

from servelint.cli.command import Options, argument, command, fail, flag, option
from servelint.cli.output import print_stderr, write_stdout
from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.catalog import Catalog


class Release(Options, title="arguments"):
    """Which release is shown."""

    engine: str = argument("ENGINE", "an engine, such as vllm", needed=True)
    release: str | None = argument("RELEASE", "its release (default: the newest that is known)")


class Harvested(Options, title="source"):
    """What is read, and where the snapshot goes."""

    engine: str = argument(
        "ENGINE", "an engine, such as vllm", needed=True, choices=tuple(one.id for one in ENGINES.values() if one.harvested)
    )
    release: str | None = argument("RELEASE", "its release, or all to rebuild the catalog from every release")
    path: str | None = option("--from", metavar="PATH", help="read an archive, a folder, an installed package or a clone")
    unverified: bool = flag("--unverified", help="read only the sources in a wheel, without its hash; faster for large wheels")


class Stored(Options, title="output"):
    """Where the snapshot goes."""

    output: str | None = option("--output", metavar="FILE", help="write the snapshot there and leave the catalog alone")
    catalog: str | None = option("--catalog", metavar="FILE", help="the catalog to add to (default: that of servelint)")


def _print_list() -> int:
    for engine, name in ENGINE_NAMES.items():
        catalog, known = catalogs.load(engine), "launches only"
        if catalog is not None:
            releases, options = catalog.releases, len(catalog.table(len(catalog.releases) - 1).options())
            known = f"{len(releases)} releases, {releases[0]} to {releases[-1]} ({options} options in the newest)"
        write_stdout(f"{engine:<10} {name}: {known}\n")
    return 0


_list = command("list", about="List the engines and the releases that servelint knows.", examples=["servelint engines list"])


@command(
    "show",
    Release,
    about="Show the options and environment variables of a release.",
    examples=["servelint engines show vllm", "servelint engines show llama.cpp b9305"],
)
def _show(wanted: Release) -> int:
    catalog = catalogs.load(wanted.engine)
    if catalog is None:
        print_stderr(f"servelint: no option catalog for {wanted.engine!r} (servelint engines list)")
        return 2
    newest = len(catalog.releases) - 1
    index = newest if wanted.release is None else catalog.index(wanted.release.removeprefix("v"))
    if index is None:
        print_stderr(f"servelint: the catalog of {ENGINE_NAMES[wanted.engine]} has no release {wanted.release}")
        return 2
    write_stdout(_release(catalog, index))
    return 0


def _release(catalog: Catalog, index: int) -> str:
    from servelint.report.reference import takes

    lines = [f"{ENGINE_NAMES[catalog.engine]} {catalog.releases[index]}", ""]
    lines += [
        f"{' '.join([*option.names, *option.negatives])}: {takes(option, '')}" for option in catalog.table(index).options()
    ]
    variables = [name for name, runs in catalog.variables().items() if any(first <= index <= last for first, last, _ in runs)]
    return "\n".join([*lines, "", f"environment: {' '.join(variables)}", ""])


@command(
    "harvest",
    *(Harvested, Stored),
    about="Read what a release accepts from its published source, and add it to the catalog.",
    notes="servelint does not run the source. It compares the whole file with the hash in the package index,\n"
    "unless you give --unverified.",
    examples=["servelint engines harvest vllm 0.34.0", "servelint engines harvest vllm --from ./vllm --output snapshot.json"],
)
def _harvest(harvested: Harvested, stored: Stored) -> int:
    from servelint.harvest.archives import HarvestError
    from servelint.harvest.command import harvest

    if harvested.release is None and harvested.path is None:
        fail("name a release, or an archive or a folder with --from")
    try:
        harvest(
            harvested.engine,
            harvested.release,
            path=harvested.path,
            output=stored.output,
            catalog=stored.catalog,
            unverified=harvested.unverified,
        )
    except HarvestError as error:
        print_stderr(f"servelint: {error}")
        return 2
    return 0


@command(
    "engines",
    about="List the engines that servelint knows; with a subcommand, show or harvest a release.",
    subcommands={
        "list": (_list(_print_list), "list the engines and their releases (the default)"),
        "show": (_show, "show the options and environment variables of a release"),
        "harvest": (_harvest, "read what a new release accepts and add it to the catalog"),
    },
    usage=[
        "servelint engines [list]",
        "servelint engines show ENGINE [RELEASE]",
        "servelint engines harvest ENGINE [RELEASE] [options]",
    ],
    examples=["servelint engines", "servelint engines show vllm 0.27.1"],
)
def run() -> int:
    """Print the list."""
    return _print_list()
