"""A check with a cache says what one without it says, whatever happened to the files between two checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import histories


def test_histories(tmp_path: Path) -> None:
    assert histories.run(str(tmp_path), 150, seed=2) == []


def test_a_cache_that_leaves_out_the_settings_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("servelint.cache.context.settings_digest", lambda settings: "")
    assert histories.run(str(tmp_path), 8, seed=5)


def test_a_cache_that_does_not_look_beside_a_file_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("servelint.files.siblings.Neighbours._note", lambda *_: None)
    assert histories.run(str(tmp_path), 20, seed=5)
