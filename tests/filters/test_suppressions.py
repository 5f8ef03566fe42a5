"""The list of suppressions in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.result import Report
from servelint.filters import suppressions
from servelint.settings.files import SettingsFiles


def test_a_setting_of_a_file_that_several_extend_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text('ignore = ["vllm/*"]\n')
    settings = SettingsFiles()
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "servelint.toml").write_text('extends = "../base.toml"\n')
        settings.of(f"{folder}/x.sh")
    assert [(one.what, one.path, one.line) for one in suppressions.every(Report(), [], settings)] == [
        ("ignore = vllm/*", "base.toml", 1)
    ]
