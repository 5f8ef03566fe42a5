"""`servelint engines harvest`: read what a release accepts, and put it into the engine's catalog."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any

from servelint.engines import ENGINES
from servelint.engines.catalog import compile_file
from servelint.engines.releases import LEAST, sort_key
from servelint.harvest import llamacpp, mentions, store
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
    with open(os.path.join(DATA, "patches.json"), encoding="utf-8") as file:
        found: list[dict[str, Any]] = json.load(file)["engines"].get(engine, [])
    return found


def _add(path: str, engine: str, snapshots: list[dict[str, Any]]) -> None:
    """Put snapshots into a catalog, in place of those of the same releases, and print what the newest of them changes."""
    known: dict[str, dict[str, Any]] = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            catalog = json.load(file)
        known = {release: store.snapshot_of(catalog, release) for release in catalog["releases"]}
    known.update({snapshot["release"]: snapshot for snapshot in snapshots})
    ordered = sorted(known.values(), key=lambda snapshot: sort_key(snapshot["release"]))
    merged = store.merge(engine, ordered, patches(engine))
    store.write(path, merged)
    compile_file(path)
    newest = ordered.index(known[snapshots[-1]["release"]])
    if newest:
        print("\n".join(store.difference(ordered[newest - 1], ordered[newest])))
    print(f"{path}: {len(ordered)} releases, {ordered[0]['release']} to {ordered[-1]['release']}", file=sys.stderr)
