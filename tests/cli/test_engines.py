"""`servelint engines`: the catalog, listed and shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from servelint.engines import ENGINE_NAMES
from servelint.engines import catalog as catalogs
from servelint.engines.registry import Engine
from tests.running import Workspace


@pytest.mark.parametrize("args", [[], ["list"]])
def test_list(args: list[str], workspace: Workspace) -> None:
    ran = workspace.run("engines", *args)
    lines = ran.out.splitlines()
    assert (ran.status, ran.err) == (0, "")
    assert [line.split()[0] for line in lines] == list(ENGINE_NAMES)
    assert any(line.startswith("vllm       vLLM: ") and "0.6.0 to " in line for line in lines)
    for line, (engine, name) in zip(lines, ENGINE_NAMES.items(), strict=True):
        catalog = catalogs.load(engine)
        if catalog is None:
            assert line == f"{engine:<10} {name}: launches only"
            continue
        releases, options = catalog.releases, len(catalog.table(len(catalog.releases) - 1).options())
        known = f"{len(releases)} releases, {releases[0]} to {releases[-1]} ({options} options in the newest)"
        assert line == f"{engine:<10} {name}: {known}"
    assert any(line.startswith("trtllm     TensorRT-LLM: ") and "0.18.2 to " in line for line in lines)


def test_list_of_an_engine_without_a_catalog(bare: Engine, workspace: Workspace) -> None:
    ran = workspace.run("engines", "list")
    lines = ran.out.splitlines()
    assert (ran.status, ran.err) == (0, "")
    assert [line.split()[0] for line in lines] == list(ENGINE_NAMES)
    assert "bare       Bare Engine: launches only" in lines
    assert lines[-1].endswith(": launches only")


@pytest.mark.parametrize(("engine", "release"), [("lmdeploy", "0.18.0"), ("lmdeploy", "v0.18.0"), ("llama.cpp", "b4234")])
def test_show(engine: str, release: str, workspace: Workspace) -> None:
    ran = workspace.run("engines", "show", engine, release)
    catalog = catalogs.load(engine)
    assert catalog is not None
    index = catalog.index(release)
    assert index is not None
    head, empty, *options, gap, variables = ran.out.splitlines()
    assert (ran.status, head, empty, gap) == (0, f"{ENGINE_NAMES[engine]} {catalog.releases[index]}", "", "")
    assert len(options) == len(catalog.table(index).options())
    assert variables.startswith("environment: ")


def test_show_says_what_an_option_takes(workspace: Workspace) -> None:
    lines = workspace.run("engines", "show", "lmdeploy", "0.18.0").out.splitlines()
    assert "--backend: one of pytorch or turbomind, default turbomind" in lines
    assert "--allow-credentials: a switch" in lines


def test_show_the_newest(workspace: Workspace) -> None:
    catalog = catalogs.load("lmdeploy")
    assert catalog is not None
    assert workspace.run("engines", "show", "lmdeploy").out.startswith(f"LMDeploy {catalog.releases[-1]}\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["show", "../x"], "servelint: no option catalog for '../x' (servelint engines list)\n"),
        (["show", "lmdeploy", "9.9"], "servelint: the catalog of LMDeploy has no release 9.9\n"),
        (["show"], "servelint engines show: error: missing argument: ENGINE\n"),
        (["list", "more"], "servelint engines list: error: unexpected argument: more\n"),
        (
            ["forget"],
            "servelint engines: error: 'forget' is not a command; use one of list, show, update, harvest, anchors, stack\n",
        ),
    ],
)
def test_wrong_usage(args: list[str], said: str, workspace: Workspace) -> None:
    ran = workspace.run("engines", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(said)


def test_show_of_an_engine_without_a_catalog(bare: Engine, workspace: Workspace) -> None:
    ran = workspace.run("engines", "show", bare.id)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("servelint: no option catalog for 'bare' (servelint engines list)\n")


def test_help(workspace: Workspace) -> None:
    ran = workspace.run("engines", "--help")
    assert ran.status == 0
    assert "servelint engines harvest ENGINE [RELEASE]" in ran.out


class TestHarvest:
    CLI = """
class CLI:
    parser = argparse.ArgumentParser(prog='lmdeploy')
    subparsers = parser.add_subparsers(title='Commands', dest='command')
"""
    SERVE = """
from .cli import CLI

class SubCliServe:
    parser = CLI.subparsers.add_parser('serve', help='')
    subparsers = parser.add_subparsers(title='Commands')

    @staticmethod
    def add_parser_api_server():
        parser = SubCliServe.subparsers.add_parser('api_server')
        parser.set_defaults(run=SubCliServe.api_server)
        parser.add_argument('model_path', type=str, help='The model')
        parser.add_argument('--server-port', type=int, default=23333)

    @staticmethod
    def api_server(args):
        pass
"""

    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        for path, text in {
            "lmdeploy/__init__.py": "",
            "lmdeploy/version.py": "__version__ = '0.99.0'\n",
            "lmdeploy/cli/__init__.py": "",
            "lmdeploy/cli/cli.py": "import argparse\n" + self.CLI,
            "lmdeploy/cli/serve.py": self.SERVE,
        }.items():
            file = tmp_path / "source" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path / "source"

    def test_to_a_file(self, source: Path, workspace: Workspace) -> None:
        ran = workspace.run("engines", "harvest", "lmdeploy", "--from", str(source), "--output", "snapshot.json")
        assert (ran.status, ran.err) == (0, "")
        snapshot = json.loads((workspace.folder / "snapshot.json").read_text())
        assert (snapshot["engine"], snapshot["release"]) == ("lmdeploy", "0.99.0")
        port = snapshot["options"]["server-port"]
        assert (port["names"], port["type"], port["default"]) == (["--server-port"], "int", 23333)

    def test_to_a_catalog(self, source: Path, workspace: Workspace) -> None:
        for release in ("0.98.0", "0.99.0"):
            ran = workspace.run("engines", "harvest", "lmdeploy", release, "--from", str(source), "--catalog", "lmdeploy.json")
            assert ran.status == 0
        assert ran.out == "lmdeploy 0.98.0 -> 0.99.0\n"
        assert ran.err == "lmdeploy.json: 2 releases, 0.98.0 to 0.99.0\n"
        catalog = json.loads((workspace.folder / "lmdeploy.json").read_text())
        assert catalog["releases"] == ["0.98.0", "0.99.0"]
        assert catalog["options"]["server-port"][0]["releases"] == "0.98.0.."
        assert (workspace.folder / "lmdeploy.catalog").exists()

    def test_the_list_of_releases_beside_a_catalog(self, source: Path, workspace: Workspace) -> None:
        listed = {"date": "2026-11-21", "about": "x", "engines": {"vllm": ["0.33.0"], "lmdeploy": ["0.98.0", "1.0.0"]}}
        path = workspace.file("releases.json", json.dumps(listed))
        for release, there in (("0.98.0", False), ("0.99.0", True)):
            assert workspace.run(
                "engines", "harvest", "lmdeploy", release, "--from", str(source), "--catalog", "lmdeploy.json"
            ).status == 0  # fmt: skip
            found = json.loads(path.read_text())
            assert found["engines"]["lmdeploy"] == ["0.98.0", *(["0.99.0"] if there else []), "1.0.0"]
            assert found["engines"]["vllm"] == ["0.33.0"]
            assert (found["date"] > "2026-11-21") is there
        assert path.read_text().startswith('{\n  "date": "')

    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (["lmdeploy"], "name a release, or an archive or a folder with --from"),
            (["nobody", "1.0"], '"nobody" is not a valid value for ENGINE (choose from vllm, sglang, '),
            (["lmdeploy", "--from", "missing.zip"], "servelint: "),
            ([], "servelint engines harvest: error: missing argument: ENGINE"),
            (["vllm", "0.34.0", "--new"], "--new finds the releases itself; it takes neither RELEASE nor --from"),
            (["vllm", "0.34.0", "--cap"], "--available, --notes and --cap are for --new"),
            (["--new", "--available", "missing.json"], "servelint: missing.json cannot be read: "),
        ],
    )
    def test_wrong_usage(self, args: list[str], said: str, workspace: Workspace) -> None:
        ran = workspace.run("engines", "harvest", *args)
        assert ran.status == 2
        assert said in ran.err

    def test_no_release_is_new(self, workspace: Workspace) -> None:
        (workspace.folder / "releases.json").write_text('{"vllm": ["0.33.0", "0.9.0"]}')
        ran = workspace.run("engines", "harvest", "--new", "vllm", "--available", "releases.json")
        assert ran == (0, "", "")


class TestAnchors:
    @pytest.mark.parametrize(
        ("args", "said"),
        [
            ([], "missing argument: ENGINE"),
            (["vllm"], "name a release with --release, or its source"),
            (["lmdeploy", "--release", "1.0"], "servelint: lmdeploy has no anchors; sglang and vllm have"),
            (["vllm", "missing", "--base", "missing"], "servelint: "),
        ],
    )
    def test_wrong_usage(self, args: list[str], said: str, workspace: Workspace) -> None:
        ran = workspace.run("engines", "anchors", *args)
        assert (ran.status, ran.out) == (2, "")
        assert said in ran.err

    def test_sources_on_disk(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        for release in ("old", "new"):
            folder = workspace.folder / release / "vllm"
            folder.mkdir(parents=True)
            (folder / "__init__.py").write_text("")
            (folder / "version.py").write_text("__version__ = '0.99.0'\n")
        empty: dict[str, Any] = {"options": {}, "env": {}, "json": {}, "names": {}}
        monkeypatch.setattr("servelint.harvest.command.read", lambda _: empty)
        ran = workspace.run("engines", "anchors", "vllm", "new", "--base", "old", "--brief")
        assert (ran.status, ran.err) == (0, "")
        first = ran.out.splitlines()[0]
        assert first.startswith("### Rules: vllm ")
        assert first.endswith(" -> 0.99.0")
        assert "| `vllm/eplb-without-expert-parallel` | changed | " in ran.out
