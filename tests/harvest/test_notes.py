"""What new releases change, as notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from servelint.harvest import notes, stale
from servelint.harvest.anchors import Source
from servelint.harvest.archives import HarvestError
from servelint.harvest.sources import Tree

BEFORE: dict[str, Any] = {
    "options": {"port": {"default": 8000}, "swap-space": {}, "seed": {}, "dtype": {"choices": ["auto", "half"]}},
    "env": {"VLLM_PORT": {}},
    "json": {"spec": {"extra": "reject", "keys": {"model": {}, "tree": {}}}},
    "names": {"architectures": {"A": {}}, "reasoning-parsers": ["r1"], "mentioned-variables": ["VLLM_Z"]},
}
AFTER: dict[str, Any] = {
    "options": {"port": {"default": 8080}, "offload": {}, "seed": {}, "dtype": {"choices": ["auto", "bfloat16"]}},
    "env": {"VLLM_PORT": {}},
    "json": {"spec": {"extra": "reject", "keys": {"model": {}}}},
    "names": {"architectures": {"A": {}, "B": {}}, "reasoning-parsers": ["r1", "r2"]},
}


def test_what_a_release_changes() -> None:
    assert notes.changes(BEFORE, AFTER).splitlines() == [
        "**Options**: 1 new, 1 removed, 2 changed",
        "",
        "- new: `--offload`",
        "- removed: `--swap-space`",
        "- `--dtype`: choices + `bfloat16` - `half`",
        "- `--port`: default `8000` -> `8080`",
        "",
        "**Keys of JSON options**: 0 new, 1 removed, 0 changed",
        "",
        "- removed: `--spec.tree`",
        "",
        "**Model architectures**: 1 new, 0 removed, 0 changed",
        "",
        "- new: `B`",
        "",
        "**Reasoning parsers**: 1 new, 0 removed, 0 changed",
        "",
        "- new: `r2`",
    ]


def test_a_release_that_changes_nothing() -> None:
    assert notes.changes(BEFORE, BEFORE) == "Nothing that the catalogs hold.\n"


def source(text: str, path: str = "vllm/config/model.py") -> Source:
    return Source(Tree("vllm", "0.33.0", {path: text}))


CHECK = 'def f(c):\n    if c.size > 1:\n        raise ValueError(f"size {c.size} is too large")\n'


def test_start_up_checks_that_come_go_and_change() -> None:
    text = notes.startup_checks(source(""), source(CHECK))
    assert text.splitlines()[0] == "**Start-up checks**: 1 new, 0 removed, 0 with other conditions"
    assert "- new: `size {} is too large`" in text
    assert "- removed: `size {} is too large`" in notes.startup_checks(source(CHECK), source(""))
    assert "0 new, 0 removed, 1 with other" in notes.startup_checks(source(CHECK), source(CHECK.replace("> 1", "> 2")))
    assert notes.startup_checks(source(CHECK), source("\n" + CHECK)) == ""
    assert notes.startup_checks(source(""), source(CHECK, "vllm/worker/loop.py")) == ""


def test_releases_that_a_catalog_lacks() -> None:
    listed = ["0.34.0", "0.33.0", "0.9.0", "0.35.0rc1", "0.33.0.post1"]
    assert notes.missing(["0.32.0", "0.33.0"], listed) == ["0.33.0.post1", "0.34.0"]
    assert notes.missing(["b9093"], ["b9100", "b9000"]) == ["b9100"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "expected an object such as"),
        ('{"vllm": "0.34.0"}', "expected an object such as"),
        ('{"vllm": ["new"]}', "expected an object such as"),
        ('{"nothing": []}', "'nothing' is not an engine with a catalog"),
    ],
)
def test_a_list_of_releases_that_is_wrong(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "releases.json"
    path.write_text(text)
    with pytest.raises(HarvestError, match=message) as raised:
        notes.available(str(path))
    assert str(path) in str(raised.value)


def test_a_list_of_releases_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(HarvestError, match="cannot be read"):
        notes.available(str(tmp_path / "releases.json"))


def test_new_releases_are_harvested_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty: dict[str, Any] = {"positionals": [], "json": {}, "env": {}, "names": {}}
    known: dict[str, Any] = {"engine": "vllm", "releases": ["0.33.0"], "options": {}, **empty}
    rule = {
        "id": "vllm/x", "engine": "vllm", "versions": ">=0.20", "when": {"size": {"above": 1}}, "why": "",
        "evidence": [{"source": "vllm-0.33.0 vllm/config/model.py:3", "says": "the error"}],
    }  # fmt: skip
    trees = {"0.33.0": CHECK, "0.34.0": "\n" + CHECK, "0.35.0": ""}
    anchors = tmp_path / "anchors.json"
    opened = {release: source(text) for release, text in trees.items()}
    stale.write({"vllm": {"release": "0.33.0", "rules": stale.build([rule], "0.33.0", opened.__getitem__)}}, str(anchors))
    monkeypatch.setattr("servelint.harvest.command.read", lambda tree: {"release": tree.release})

    def add(_: str, snapshot: dict[str, Any]) -> None:
        known["releases"].append(snapshot["release"])

    steps: list[str] = []
    text = notes.new_releases(
        ["vllm", "llama.cpp"],
        {"vllm": ["0.35.0", "0.34.0", "0.33.0"]},
        catalog=lambda engine: known if engine == "vllm" else {**known, "releases": ["b9093"]},
        add=add,
        open_source=lambda _, release: Tree("vllm", release, {"vllm/config/model.py": trees[release]}),
        progress=steps.append,
        anchors=str(anchors),
        rules=lambda *_: [rule],
    )
    assert steps == ["vllm 0.34.0: harvesting", "vllm 0.35.0: harvesting"]
    first, second = text.split("## vLLM ")[1:]
    assert first.startswith("0.33.0 -> 0.34.0")
    assert "1 unchanged and 0 moved" in first
    assert second.startswith("0.34.0 -> 0.35.0")
    assert "| `vllm/x` | gone |" in second
    assert "- removed: `size {} is too large`" in second
    assert json.loads(anchors.read_text()) == {"vllm": {"release": "0.35.0", "rules": {}}}
