"""`servelint engines harvest`: read what a release accepts, and put it into the engine's catalog."""

from __future__ import annotations

import json
import os
import sys
import time
from functools import lru_cache
from importlib import import_module
from typing import Any

from servelint.core.data import read_json
from servelint.engines import ENGINES
from servelint.engines.catalog import compile_file
from servelint.engines.releases import LEAST, sort_key
from servelint.harvest import llamacpp, mentions, notes, stale, store
from servelint.harvest.anchors import Source
from servelint.harvest.archives import HarvestError
from servelint.harvest.sources import Tree, open_local, open_tree, published

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "engines", "data")
ALL = "all"


def harvest(
    engine: str,
    release: str | None,
    *,
    path: str | None = None,
    output: str | None = None,
    catalog: str | None = None,
    unverified: bool = False,
) -> None:
    """Read what a release accepts, and put it into the catalog of its engine.

    Args:
        engine: the engine's id.
        release: a release, or `all` to rebuild the catalog from every release; what the source says where it is None.
        path: an archive, a source folder, an installed package or a clone to read, instead of what is published.
        output: a file for the snapshot; the catalog is left alone then.
        catalog: the catalog to add to; servelint's own where it is None.
        unverified: read only the sources in a wheel, which no hash of the index covers, instead of gigabytes.

    Raises:
        HarvestError: the release, the archive or the index cannot be read.
    """
    snapshots = _requested(engine, release, path, unverified=unverified)
    if output is not None:
        text = json.dumps(snapshots[0] if len(snapshots) == 1 else snapshots, indent=1, sort_keys=True, ensure_ascii=False)
        with open(output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return
    _add(catalog or os.path.join(DATA, engine + ".json"), engine, snapshots)


def _requested(engine: str, release: str | None, path: str | None, *, unverified: bool) -> list[dict[str, Any]]:
    if engine == "llama.cpp":
        if release is None or release == ALL:
            raise HarvestError("llama.cpp is read build by build: name one, such as b9180")
        return [read(llamacpp.open_source(path, release) if path is not None else llamacpp.open_build(release))]
    if release == ALL:
        return rebuild(engine, path, unverified=unverified)
    if path is not None:
        return [read(open_local(engine, path, release))]
    return [read(open_tree(engine, release or "", progress=_progress, unverified=unverified))]


def new(
    engine: str | None,
    *,
    available: str | None = None,
    output: str | None = None,
    folder: str = DATA,
    anchors: str = stale.FILE,
    unverified: bool = False,
    cap: bool = False,
    texts: bool = True,
    rules: notes.Rules = lambda engine, _: stale.open_rules(engine),
) -> str:
    """Harvest every release that the catalogs lack, and return what each changes, as Markdown; "" where there is none.

    Args:
        engine: an engine's id; all that are harvested where it is None.
        available: a JSON file that lists releases by engine; the package index is asked where it is None.
        output: a file for the notes as well.
        folder: the folder of the catalogs.
        anchors: the file of the anchors.
        unverified: as for `harvest`.
        cap: whether to end the ranges of the rules that have to be decided about, in their files.
        texts: whether the notes show the source of the statements that changed.
        rules: gives the rules of an engine that hold in a release and may end after it.

    Raises:
        HarvestError: a list, a release or the index cannot be read.
    """
    listed = notes.available(available) if available is not None else None
    engines = [engine] if engine is not None else [one.id for one in ENGINES.values() if one.harvested]

    def path(of: str) -> str:
        return os.path.join(folder, of + ".json")

    def catalog(of: str) -> dict[str, Any]:
        found: dict[str, Any] = read_json(path(of))
        return found

    def source(of: str, release: str) -> Tree:
        if of == "llama.cpp":
            return llamacpp.open_build(release)
        return open_tree(of, release, progress=_progress, unverified=unverified)

    written = notes.new_releases(
        engines,
        listed,
        catalog=catalog,
        add=lambda of, snapshot: _add(path(of), of, [snapshot], shown=False),
        open_source=source,
        progress=_progress,
        anchors=anchors,
        cap=cap,
        texts=texts,
        rules=rules,
    )
    if output is not None:
        with open(output, "w", encoding="utf-8") as file:
            file.write(written)
    return written


def alarm(
    engine: str, release: str | None, path: str | None, *, base: str | None = None, cap: bool = False, texts: bool = True
) -> str:
    """What a release does to the rules of an engine, as Markdown.

    Args:
        engine: the engine's id.
        release: the release; what the source says where it is None.
        path: an archive, a folder or an installed package with its source, instead of what is published.
        base: the source of the release that the anchors are of, instead of what is published.
        cap: whether to end the ranges of the rules that have to be decided about.
        texts: whether to show the source of the statements that changed.

    Raises:
        HarvestError: a source cannot be read, or the engine has no anchors.
    """
    known = _anchors_of(engine)
    old = open_local(engine, base, known["release"]) if base else open_tree(engine, known["release"], progress=_progress)
    tree = open_local(engine, path, release) if path else open_tree(engine, release or "", progress=_progress)
    catalog = read_json(os.path.join(DATA, engine + ".json"))
    both = store.snapshot_of(catalog, known["release"]), read(tree)
    verdicts = stale.compare(stale.open_rules(engine), known["rules"], Source(old), Source(tree), both)
    written = stale.markdown(engine, known["release"], tree.release, verdicts, texts=texts)
    left = stale.cap(verdicts, known["release"]) if cap else []
    return "\n".join([written, *[f"The range of `{one}` has to be ended by hand." for one in left]]).rstrip() + "\n"


def _anchors_of(engine: str) -> dict[str, Any]:
    known = stale.stored()
    if engine not in known:
        raise HarvestError(f"{engine} has no anchors; {' and '.join(sorted(known))} have")
    found: dict[str, Any] = known[engine]
    return found


def rebuild_anchors(engine: str) -> None:
    """Look up the anchors of an engine's rules in the newest release of its catalog, and store them. Raises HarvestError."""
    known = stale.stored() if os.path.exists(stale.FILE) else {}
    release = read_json(os.path.join(DATA, engine + ".json"))["releases"][-1]
    known[engine] = {"release": release, "rules": stale.build(stale.open_rules(engine), release, sources(engine))}
    stale.write(known)


def sources(engine: str) -> stale.Opener:
    """Opens the releases of an engine, each once."""
    return lru_cache(maxsize=None)(lambda release: Source(open_tree(engine, release, progress=_progress)))


def read(tree: Tree) -> dict[str, Any]:
    """The snapshot of a release."""
    module = import_module("servelint.harvest." + ENGINES[tree.engine].package)
    snapshot: dict[str, Any] = module.snapshot(tree)
    if ENGINES[tree.engine].variables_closed:
        snapshot.setdefault("names", {})[mentions.KIND] = sorted(mentions.mentioned(tree) - set(snapshot["env"]))
    return snapshot


def rebuild(engine: str, clone: str | None = None, *, unverified: bool = False) -> list[dict[str, Any]]:
    """The snapshots of every release that the catalog covers, oldest first. Progress goes to standard error.

    clone: a clone of the repository of an engine without a Python package
    """
    first = ENGINES[engine].harvested_since
    least = sort_key(first) if first else LEAST
    releases = [release for release in published(engine, clone) if sort_key(release) >= least]
    snapshots: list[dict[str, Any]] = []
    for number, release in enumerate(releases, start=1):
        print(f"\r{engine} {release} ({number} of {len(releases)})\x1b[K", end="", file=sys.stderr, flush=True)
        tree = open_local(engine, clone, release) if clone else open_tree(engine, release, unverified=unverified)
        snapshots.append(read(tree))
    print(file=sys.stderr)
    return snapshots


def _progress(text: str) -> None:
    print(text, file=sys.stderr)


def patches(engine: str) -> list[dict[str, Any]]:
    """The hand corrections of an engine's snapshots, each with its reason."""
    found: list[dict[str, Any]] = read_json(os.path.join(DATA, "patches.json"))["engines"].get(engine, [])
    return found


def _add(path: str, engine: str, snapshots: list[dict[str, Any]], *, shown: bool = True) -> None:
    """Put snapshots into a catalog, in place of those of the same releases.

    shown: whether what the newest of them changes is printed
    """
    known: dict[str, dict[str, Any]] = {}
    if os.path.exists(path):
        catalog = read_json(path)
        known = {release: store.snapshot_of(catalog, release) for release in catalog["releases"]}
    known.update({snapshot["release"]: snapshot for snapshot in snapshots})
    ordered = sorted(known.values(), key=lambda snapshot: sort_key(snapshot["release"]))
    store.write(path, store.merge(engine, ordered, patches(engine)))
    compile_file(path)
    _list(os.path.join(os.path.dirname(path), "releases.json"), engine, [snapshot["release"] for snapshot in snapshots])
    if (newest := ordered.index(known[snapshots[-1]["release"]])) and shown:
        print("\n".join(store.difference(ordered[newest - 1], ordered[newest])))
    print(f"{path}: {len(ordered)} releases, {ordered[0]['release']} to {ordered[-1]['release']}", file=sys.stderr)


def _list(path: str, engine: str, releases: list[str]) -> None:
    """Put releases into the list of published ones beside a catalog, if it has the engine, and date that list."""
    if not os.path.exists(path):
        return
    data = read_json(path)
    listed = data["engines"].get(engine, [])
    missing = [release for release in releases if release not in listed]
    if not listed or not missing:
        return
    data["engines"][engine] = sorted([*listed, *missing], key=sort_key)
    data["date"] = time.strftime("%Y-%m-%d", time.gmtime())
    rows = ",\n".join([f"    {json.dumps(name)}: {json.dumps(known)}" for name, known in data["engines"].items()])
    head = "".join([f"  {json.dumps(key)}: {json.dumps(data[key])},\n" for key in ("date", "about")])
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f'{{\n{head}  "engines": {{\n{rows}\n  }}\n}}\n')
