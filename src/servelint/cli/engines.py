"""`servelint engines`: list the engines, show what a release accepts, harvest a release, install newer data."""

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


_HARVESTED = tuple(one.id for one in ENGINES.values() if one.harvested)


class Harvested(Options, title="source"):
    """What is read, and where the snapshot goes."""

    engine: str | None = argument("ENGINE", "an engine, such as vllm", choices=_HARVESTED)
    release: str | None = argument("RELEASE", "its release, or all to rebuild the catalog from every release")
    path: str | None = option("--from", metavar="PATH", help="read an archive, a folder, an installed package or a clone")
    unverified: bool = flag("--unverified", help="read only the sources in a wheel, without its hash; faster for large wheels")


class Stored(Options, title="output"):
    """Where the snapshot goes."""

    output: str | None = option("--output", metavar="FILE", help="write the snapshot there and leave the catalog alone")
    catalog: str | None = option("--catalog", metavar="FILE", help="the catalog to add to (default: that of servelint)")


class Updated(Options, title="data"):
    """Which data are used."""

    path: str | None = option("--from", metavar="BUNDLE", help="verify and install a data bundle: a folder or a zip archive")
    key: str | None = option("--key", metavar="FILE", help="the public key that signed it (default: that of servelint)")
    rollback: bool = flag("--rollback", help="return to the data before the last update")
    show: bool = flag("--show", help="print which data are used (the default)")


class New(Options, title="new releases"):
    """Which releases are new, and what is written about them."""

    new: bool = flag("--new", help="harvest every release that the catalogs lack (of one ENGINE or of all)")
    available: str | None = option(
        "--available", metavar="FILE", help="a JSON list of releases by engine, instead of the index"
    )
    notes: str | None = option("--notes", metavar="FILE", help="write what the releases change there, as Markdown")
    cap: bool = flag("--cap", help="in the rule files, end the ranges of rules whose evidence changed")


class Compared(Options, title="arguments"):
    """The release that is compared with the newest one that is known."""

    engine: str = argument("ENGINE", "an engine, such as vllm", needed=True, choices=_HARVESTED)
    release: str | None = option("--release", metavar="RELEASE", help="the release (default: what its source says)")
    path: str | None = argument("SOURCE", "an archive, a folder or an installed package (default: the published one)")
    base: str | None = option(
        "--base", metavar="SOURCE", help="the source of the release in the catalog (default: the published one)"
    )
    cap: bool = flag("--cap", help="in the rule files, end the ranges of rules whose evidence changed")
    brief: bool = flag("--brief", help="do not print the statements that changed")
    write: bool = flag("--write", help="rebuild the stored anchors from the newest release")


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
    *(Harvested, Stored, New),
    about="Read what a release accepts from its published source, and add it to the catalog.",
    notes="servelint does not run the source. It compares the whole file with the hash in the package index,\n"
    "unless you give --unverified.",
    examples=[
        "servelint engines harvest vllm 0.34.0",
        "servelint engines harvest vllm --from ./vllm --output snapshot.json",
        "servelint engines harvest --new --notes notes.md",
    ],
)
def _harvest(harvested: Harvested, stored: Stored, wanted: New) -> int:
    from servelint.harvest.archives import HarvestError
    from servelint.harvest.command import harvest, new

    if wanted.new and (harvested.release or harvested.path or stored.output or stored.catalog):
        fail("--new finds the releases itself; it takes neither RELEASE nor --from, --output or --catalog")
    if not wanted.new and (wanted.available or wanted.notes or wanted.cap):
        fail("--available, --notes and --cap are for --new")
    if not wanted.new and harvested.engine is None:
        fail("missing argument: ENGINE")
    if not wanted.new and harvested.release is None and harvested.path is None:
        fail("name a release, or an archive or a folder with --from")
    try:
        if wanted.new:
            written = new(
                harvested.engine,
                available=wanted.available,
                output=wanted.notes,
                unverified=harvested.unverified,
                cap=wanted.cap,
            )
            if wanted.notes is None:
                write_stdout(written)
            return 0
        harvest(
            harvested.engine or "",
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
    "update",
    Updated,
    about="Install newer catalogs, rules, images, models and GPUs from a signed data bundle.",
    notes="Nothing is downloaded. A bundle that is damaged, older than the data in use, or not signed by\n"
    "the key is refused with exit status 2. From their next start on, all commands of this user use\n"
    "the new data.",
    examples=["servelint engines update --from servelint-data.zip", "servelint engines update --rollback"],
)
def _update(wanted: Updated) -> int:
    from servelint.core.data import DataError
    from servelint.harvest import bundle

    if sum([wanted.path is not None, wanted.rollback, wanted.show]) > 1:
        fail("--from, --rollback and --show cannot be combined")
    if wanted.key is not None and wanted.path is None:
        fail("--key needs --from")
    try:
        if wanted.path is not None:
            found, new = bundle.install(wanted.path, wanted.key or bundle.KEY)
            done = "installed the" if new else "already installed: the"
            write_stdout(f"{done} data of {found.manifest['date'][:10]}: bundle {found.id}\n")
        elif wanted.rollback:
            left = bundle.rollback()
            write_stdout(f"returned to {'the data of servelint itself' if left is None else f'bundle {left}'}\n")
        else:
            write_stdout(f"{describe(verbose=True)}\n")
    except bundle.Refused as error:
        print_stderr(f"servelint: {wanted.path}: refused: {error}" if wanted.path is not None else f"servelint: {error}")
        return 2
    except DataError as error:
        print_stderr(f"servelint: {error}")
        return 2
    except OSError as error:
        print_stderr(f"servelint: {error.filename or wanted.path}: {error.strerror}")
        return 2
    return 0


def describe(*, verbose: bool) -> str:
    """Return which data are used: their day, the newest release of each engine, and the bundles that are installed."""
    from servelint.core import data

    fresh = catalogs.freshness()
    origin = f"of bundle {fresh['bundle']}" if fresh["bundle"] else f"of servelint {data.VERSION}"
    lines = [f"data of {fresh['date']}, {origin}"]
    lines += [f"  {ENGINE_NAMES[engine]} up to {release}" for engine, release in fresh["newest"].items()]
    if verbose:
        for one in map(data.read, data.installed()):
            state = "in use" if one.id == fresh["bundle"] else f"not used: {one.fault}" if one.fault else "for a rollback"
            lines.append(f"bundle {one.id} of {one.date}: {state}")
    return "\n".join(lines)


@command(
    "anchors",
    Compared,
    about="Print which rules a new release may end: it looks up the statements that rules cite.",
    notes="servelint compares the statements with those of the newest release in the catalog. It does not run\nthe source.",
    examples=["servelint engines anchors vllm ./vllm", "servelint engines anchors sglang --release 0.5.24 --brief"],
)
def _anchors(compared: Compared) -> int:
    from servelint.harvest.archives import HarvestError
    from servelint.harvest.command import alarm, rebuild_anchors

    if not compared.write and compared.release is None and compared.path is None:
        fail("name a release with --release, or its source")
    try:
        if compared.write:
            rebuild_anchors(compared.engine)
            return 0
        write_stdout(
            alarm(
                compared.engine, compared.release, compared.path, base=compared.base, cap=compared.cap, texts=not compared.brief
            )
        )
    except HarvestError as error:
        print_stderr(f"servelint: {error}")
        return 2
    return 0


@command(
    "stack",
    about="Read from the package index what each release of vLLM and SGLang runs with.",
    notes="It writes the releases of Transformers and PyTorch, CUDA, and the GPUs of the builds.",
    examples=["servelint engines stack"],
)
def _stack() -> int:
    from servelint.harvest import stack
    from servelint.harvest.archives import HarvestError

    try:
        stack.write()
    except HarvestError as error:
        print_stderr(f"servelint: {error}")
        return 2
    return 0


@command(
    "engines",
    about="List the engines that servelint knows; with a subcommand, show, harvest or compare a release.",
    subcommands={
        "list": (_list(_print_list), "list the engines and their releases (the default)"),
        "show": (_show, "show the options and environment variables of a release"),
        "update": (_update, "install newer data from a signed bundle, or return to the data before"),
        "harvest": (_harvest, "read what a new release accepts and add it to the catalog"),
        "anchors": (_anchors, "print which rules a new release may end"),
        "stack": (_stack, "read which packages, CUDA and GPUs each release is for"),
    },
    usage=[
        "servelint engines [list]",
        "servelint engines show ENGINE [RELEASE]",
        "servelint engines update [--from BUNDLE | --rollback | --show] [options]",
        "servelint engines harvest ENGINE [RELEASE] [options]",
        "servelint engines harvest --new [ENGINE] [options]",
        "servelint engines anchors ENGINE [SOURCE] [options]",
        "servelint engines stack",
    ],
    examples=["servelint engines", "servelint engines show vllm 0.27.1"],
)
def run() -> int:
    """Print the list."""
    return _print_list()
