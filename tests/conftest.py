"""Fixtures of all tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.running import Workspace

# a run of the suite says the same each time; `--hypothesis-profile search` looks for examples that were not tried yet
LONG = [HealthCheck.too_slow]  # how fast examples come says something of the machine
settings.register_profile("suite", derandomize=True, max_examples=50, deadline=None, suppress_health_check=LONG)
settings.register_profile("search", derandomize=False, max_examples=2_000, deadline=None, suppress_health_check=LONG)
settings.load_profile("suite")


@pytest.fixture(autouse=True, scope="session")
def _user_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes to the cache of the user who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("user")))
        yield


@pytest.fixture
def workspace(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty folder, which is the current one during the test."""
    return Workspace(tmp_path, capsys, monkeypatch)
