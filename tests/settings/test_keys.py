"""The schema of settings files: in step with the code, and of one mind with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.files.toml_document import Document, parse
from servelint.settings.keys import KEYS, PER_PATH, RULE, variable
from servelint.settings.reading import to_layer
from tests.settings.test_reading import EVERYTHING
from tests.together import together
from tools.schemas import settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent.parent


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(settings())
    assert set(settings()["properties"]) == {*KEYS, RULE, PER_PATH}


def faults(data: Any) -> bool:
    return not jsonschema.Draft202012Validator(settings()).is_valid(data)


@together(
    "written",
    [
        "",
        EVERYTHING,
        "selct = []",
        "select = 'x'",
        "select = [1]",
        "profile = 'x'",
        "profile = 1",
        "severity = 'never'",
        "fail-on = 'never'",
        "gpu-count = 0",
        "gpu-count = true",
        "gpu-count = 2.5",
        "force-exclude = 'yes'",
        "format = 'text'",
        "[engine-versions]\nvlm = '1'",
        "[engine-versions]\nvllm = 0.2",
        "[rule.'vllm/x']\nseverity = 'off'",
        "[rule.'vllm/x']\nseverity = 'info'",
        "rule = 1",
        "[rule]\nx = 1",
        "[per-path]\npaths = ['x']",
        "[[per-path]]\nprofile = 'audit'",
        "[[per-path]]\npaths = []",
        "[[per-path]]\npaths = ['x']\nrules = []",
        "[[per-path]]\npaths = ['x']\n[per-path.rule.'vllm/x']\nseverity = 'error'",
    ],
)
def test_it_refuses_what_the_code_refuses(written: str) -> None:
    document = parse(Source("servelint.toml", written))
    assert isinstance(document, Document)
    problems: list[Problem] = []
    to_layer(document, "/repo/servelint.toml", problems)
    assert faults(tomllib.loads(written)) is bool(problems)


class TestDocs:
    """docs/settings.md has every key."""

    DOCS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")

    @together("name", [*KEYS, RULE, PER_PATH])
    def test_has_every_key(self, name: str) -> None:
        assert f"\n### {name}\n" in self.DOCS

    @together("name", [key.name for key in KEYS.values() if key.variable])
    def test_has_every_variable(self, name: str) -> None:
        assert f"`{variable(name)}`" in self.DOCS

    def test_its_examples_are_right(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from servelint.settings.files import SettingsFiles

        monkeypatch.chdir(tmp_path)
        (tmp_path / "policy").mkdir()
        (tmp_path / "base.toml").write_text("")
        (tmp_path / "servelint-models.json").write_text('{"servelint-models": 1, "models": {}}')
        usage = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
        blocks = [block.partition("```")[0] for block in (self.DOCS + usage).split("```toml\n")[1:]]
        assert len(blocks) >= len(KEYS)
        for block in blocks:
            name = "pyproject.toml" if "[tool.servelint" in block else "servelint.toml"
            (tmp_path / name).write_text(block)
            settings = SettingsFiles(file=name)
            settings.of("x.sh")
            assert settings.problems == [], block

    @pytest.mark.parametrize("rule", ["vllm/mtp-many-tokens", "container/unpinned-image", "container/secret-in-plain-text"])
    def test_names_options_of_rules(self, rule: str) -> None:
        assert json.dumps(rule) in self.DOCS or rule in self.DOCS
