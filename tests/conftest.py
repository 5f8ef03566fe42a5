"""Fixtures of all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# most of what is collected and loaded stays: to look through it again and again is a fifth of the time of the suite
gc.disable()
gc.set_threshold(50_000, 50, 100)

os.environ["_SERVELINT_BUNDLE"] = ""  # tests are of the data of this checkout, whatever its user has installed

from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.registry import Dialect, Engine, Start, register
from tests.running import Workspace
from tests.together import Shelf

# a run of the suite says the same each time; `--hypothesis-profile search` looks for examples that were not tried yet
LONG = [HealthCheck.too_slow]  # how fast examples come says something of the machine
settings.register_profile("suite", derandomize=True, max_examples=50, deadline=None, suppress_health_check=LONG)
settings.register_profile("search", derandomize=False, max_examples=2_000, deadline=None, suppress_health_check=LONG)
settings.load_profile("suite")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let `-k` find a test by the name of a case in it."""
    shelf = item.callspec.params.get("shelf") if isinstance(item, pytest.Function) and hasattr(item, "callspec") else None
    if isinstance(shelf, Shelf):
        item.extra_keyword_matches.update(name for name, _ in shelf)


def pytest_collection_finish() -> None:
    """Leave to the garbage collector what tests make."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _user_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes to the cache of the user who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("user")))
        yield


class Bare(Engine):
    """A made-up engine without a catalog, of which no release is known."""

    id, name = "bare", "Bare Engine"
    command = ("bare-server",)
    starts = (Start(programs=("bare-server",)),)
    harvested = False
    words = (b"bare-server",)
    stems = ("bare",)
    dialect = Dialect("model")


@pytest.fixture
def bare() -> Iterator[Engine]:
    """An engine without a catalog, beside those of servelint."""
    engine = Bare()
    register(engine)
    yield engine
    del ENGINES[engine.id], ENGINE_NAMES[engine.id]
    register(ENGINES["vllm"])  # so that what was made of all records is made again


@pytest.fixture
def without_catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], None]]:
    """Takes the catalog from one of servelint's engines, whose rules and releases stay, until the test ends."""
    with pytest.MonkeyPatch.context() as patch:

        def take(engine: str) -> None:
            patch.setattr(ENGINES[engine], "data", str(tmp_path_factory.mktemp("empty")))
            register(ENGINES[engine])

        yield take
    register(ENGINES["vllm"])  # so that what was made of all records is made again


@pytest.fixture
def workspace(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty folder, which is the current one during the test."""
    return Workspace(tmp_path, capsys, monkeypatch)
