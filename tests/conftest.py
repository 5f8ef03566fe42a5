"""Fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import Workspace


@pytest.fixture
def workspace(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty folder, which is the current one during the test."""
    return Workspace(tmp_path, capsys, monkeypatch)
