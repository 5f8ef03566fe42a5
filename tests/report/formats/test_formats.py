"""The list of formats: one module each, from which the command line, completion, the settings and the docs take it."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from servelint.cli import main
from servelint.core.result import Report
from servelint.core.settings import FORMATS
from servelint.report import formats
from servelint.report.formats import RenderOptions
from servelint.settings.keys import KEYS
from tests.together import together
from tools.schemas import settings

ROOT = Path(__file__).parents[3]


def test_each_module_is_a_format() -> None:
    modules = {path.stem for path in Path(formats.__file__).parent.iterdir() if not path.name.startswith("_")}
    assert set(FORMATS) == modules
    assert len(FORMATS) == len(modules)
    assert FORMATS[0] == "text"


@together("name", list(FORMATS))
def test_a_format_has_what_the_registry_asks_for(name: str) -> None:
    found = formats.find(name)
    assert found.AUDIENCE
    assert found.SUMMARY
    assert list(inspect.signature(found.render).parameters) == ["report", "options"]
    assert found.render(Report(), RenderOptions()) == found.render(Report())


def test_the_command_line_takes_the_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "nope"]) == 2
    assert f"(choose from {', '.join(FORMATS)})" in capsys.readouterr().err


def test_the_settings_and_their_schema_take_the_formats() -> None:
    assert KEYS["format"].choices == FORMATS
    published = json.loads((ROOT / "schemas" / "settings.schema.json").read_text(encoding="utf-8"))
    assert published["properties"]["format"] == settings()["properties"]["format"]
    assert tuple(published["properties"]["format"]["enum"]) == FORMATS


def test_the_docs_have_their_table() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = "".join([line for line in page.splitlines(keepends=True) if line.startswith("|")])
    assert rows == formats.table(), 'python -c "from servelint.report.formats import table; print(table())" prints it'
