"""The catalogs against the releases themselves: what is harvested of a release now is what its engine's catalog says of it."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from servelint.engines import catalog as catalogs
from servelint.harvest import store
from servelint.harvest.command import patches, read
from servelint.harvest.llamacpp import open_build
from servelint.harvest.mentions import KIND
from servelint.harvest.sources import HarvestError, open_local, open_tree

pytestmark = pytest.mark.book

DATA = os.path.join(os.path.dirname(catalogs.__file__), "data")
NEWEST = {"vllm": "0.33.0", "sglang": "0.5.23"}
"""Half a minute each: they are tried where SERVELINT_ALL_RELEASES is set."""
EVERYWHERE = "SERVELINT_ALL_RELEASES" in os.environ
RELEASES = {
    "vllm": ("0.11.0", *([NEWEST["vllm"]] if EVERYWHERE else [])),
    "sglang": ("0.5.4", *([NEWEST["sglang"]] if EVERYWHERE else [])),
    "lmdeploy": ("0.18.0",),
    "llama.cpp": ("b11434",),
}
CLONES = os.environ.get("SERVELINT_CLONES", "")
"""A folder with clones of the repositories of TGI and Ollama, which are on no package index: `tgi` and `ollama`."""
PARTS = ("options", "positionals", "json", "env", "names")


def catalog(engine: str) -> dict[str, Any]:
    with open(os.path.join(DATA, engine + ".json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def harvested(engine: str, release: str, releases: list[str]) -> dict[str, Any]:
    """A release's snapshot with the hand corrections, which name their releases by the catalog's list of them."""
    try:
        tree = open_build(release) if engine == "llama.cpp" else open_tree(engine, release, unverified=True)
    except HarvestError as error:
        pytest.skip(f"{engine} {release} is neither on the package index nor in the cache: {error}")
    snapshot = read(tree)
    every = [snapshot if one == release else {"engine": engine, "release": one} for one in releases]
    return store.snapshot_of(store.merge(engine, every, patches(engine)), release)


def without_empty(part: Any) -> Any:
    """The kinds of names that a release has none of are left out."""
    return {name: one for name, one in part.items() if one != {}} if isinstance(part, dict) else part


@pytest.mark.parametrize(("engine", "release"), [(engine, one) for engine, some in RELEASES.items() for one in some])
def test_a_release_is_in_the_catalog_as_it_was_published(engine: str, release: str) -> None:
    known = catalog(engine)
    told = store.snapshot_of(known, release)
    found = harvested(engine, release, known["releases"])
    for part in PARTS:
        expected, actual = told[part], found[part]
        if part == "names":
            expected, actual = without_empty(expected), without_empty(actual)
            # those of native code are in the catalog beside those of the Python files
            assert set(actual.pop(KIND, ())) <= set(expected.pop(KIND, ()))
        if isinstance(expected, dict):
            differ = sorted(name for name in {*expected, *actual} if expected.get(name) != actual.get(name))
            assert differ == [], f"{part} of {engine} {release}"
        assert actual == expected, f"{part} of {engine} {release}"


@pytest.mark.parametrize("engine", ["tgi", "ollama"])
def test_a_catalog_is_what_the_tags_of_a_clone_say(engine: str) -> None:
    if not os.path.isdir(clone := os.path.join(CLONES, engine)) or not CLONES:
        pytest.skip(f"SERVELINT_CLONES names no folder with a clone of {engine}")
    known = catalog(engine)
    every = [read(open_local(engine, clone, release)) for release in known["releases"]]
    assert store.merge(engine, every, patches(engine)) == known


@pytest.mark.parametrize("engine", RELEASES)
def test_the_newest_release_that_is_known_is_tried(engine: str) -> None:
    assert catalog(engine)["releases"][-1] == NEWEST.get(engine, RELEASES[engine][-1])


@pytest.mark.parametrize("engine", ["vllm", "sglang", "lmdeploy", "llama.cpp", "tgi", "ollama", "trtllm"])
def test_a_catalog_file_is_as_the_harvester_writes_it(engine: str) -> None:
    with open(os.path.join(DATA, engine + ".json"), encoding="utf-8") as file:
        text = file.read()
    assert store.dump(json.loads(text)) == text
