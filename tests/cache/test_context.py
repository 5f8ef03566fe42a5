"""What a result depends on beside the files of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.cache import context, opened
from servelint.core.settings import Selection, Settings
from servelint.core.trust import Trust


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the package's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "a.py").write_text("a = 1\n")
    monkeypatch.setattr(context, "program_folders", lambda: [str(folder)])
    return folder


def program() -> str:
    return context.program.__wrapped__()


def test_the_program_is_its_contents(package: Path) -> None:
    first = program()
    (package / "a.py").write_text("a = 2\n")
    second = program()
    (package / "b.json").write_text("{}")
    third = program()
    (package / "b.catalog").write_text("made of b.json")
    assert len({first, second, third}) == 3
    assert program() == third
    (package / "b.json").unlink()
    (package / "b.catalog").write_text("there without b.json")
    assert program() not in (first, second, third)


@pytest.mark.parametrize("text", ["", "short", "x" * 70])
def test_a_record_of_the_program_that_is_spoilt(
    text: str, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "FRESH_FOR", -(10**18))  # what was just written counts as old
    whole = program()
    (record,) = (tmp_path / "user" / "servelint" / "program").iterdir()
    assert record.read_text() == whole
    record.write_text(text)
    assert program() == whole


def test_a_program_without_files_has_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> str:
        raise NotADirectoryError(20, "it is in an archive")

    monkeypatch.setattr(context, "program", fails)
    assert opened(str(tmp_path / "cache")) is None


DIFFERENT = [
    Settings(),
    Settings(severity="error"),
    Settings(profile="strict"),
    Settings(gpu="h100-80gb"),
    Settings(gpu_count=2),
    Settings(engine_versions={"vllm": "0.9.0"}),
    Settings(select=("vllm/*",)),
    Settings(ignore=("vllm/*",)),
    Settings(selections=(Selection(None, ("vllm/*",), ()),)),
    Settings(rule_settings={"vllm/*": {"severity": "error"}}),
    Settings(read_outside=("/data",)),
    Settings(read_outside=True),
    Settings(fail_on="warning"),
    Settings(trust=Trust(inline=False)),
]


def test_every_setting_counts() -> None:
    assert len({context.settings_digest(one) for one in DIFFERENT}) == len(DIFFERENT)
    assert context.settings_digest(Settings()) == context.settings_digest(Settings())
    assert set(Settings.__slots__) <= {*context.settings_data(Settings()), "trust"}
