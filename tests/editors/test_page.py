"""docs/editors.md: what it shows can be read by who reads it."""

from __future__ import annotations

import json
import sys

import pytest

from tests.editors.running import ROOT, documented

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.mark.parametrize("heading", ["VS Code", "Zed", "Sublime Text", "JetBrains"])
def test_json(heading: str) -> None:
    blocks = documented(heading, "json")
    assert blocks
    assert all(isinstance(json.loads(block), dict) for block in blocks)


def test_vs_code_has_these_settings() -> None:
    manifest = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text())
    declared = manifest["contributes"]["configuration"]["properties"]
    (block,) = documented("VS Code", "json")
    assert set(json.loads(block)) <= set(declared)


def test_helix_names_a_server_that_is_defined() -> None:
    (block,) = documented("Helix", "toml")
    told = tomllib.loads(block)
    assert set(told["language-server"]) == {"servelint"}
    assert all("servelint" in one["language-servers"] for one in told["language"])
