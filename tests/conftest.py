"""Fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.running import Workspace

# a run of the suite says the same each time; `--hypothesis-profile search` looks for examples that were not tried yet
LONG = [HealthCheck.too_slow]  # how fast examples come says something of the machine
settings.register_profile("suite", derandomize=True, max_examples=50, deadline=None, suppress_health_check=LONG)
settings.register_profile("search", derandomize=False, max_examples=2_000, deadline=None, suppress_health_check=LONG)
settings.load_profile("suite")


@pytest.fixture
def workspace(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty folder, which is the current one during the test."""
    return Workspace(tmp_path, capsys, monkeypatch)
