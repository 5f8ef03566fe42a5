"""The release of an engine that is installed for a program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from servelint.engines.installed import release

pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts there are programs")


class Prefix:
    """A folder in which a Python is installed: no real one, as nothing of it is run."""

    def __init__(self, folder: Path, python: str = "3.12", venv: bool = True) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.packages = folder / "lib" / f"python{python}" / "site-packages"
        self.packages.mkdir(parents=True)
        self.script("python3", "")
        if venv:
            (folder / "pyvenv.cfg").write_text("")

    def script(self, name: str, head: str, mode: int = 0o755) -> Path:
        self.bin.mkdir(exist_ok=True)
        (self.bin / name).write_text(head)
        (self.bin / name).chmod(mode)
        return self.bin / name

    def install(self, *names: str) -> None:
        for name in names:
            (self.packages / name).mkdir()

    def release(self, engine: str = "vllm", program: str = "vllm", **env: str) -> str | None:
        return release(engine, program, {"PATH": str(self.bin), "HOME": "/nobody", **env})


@pytest.fixture
def prefix(tmp_path: Path) -> Prefix:
    made = Prefix(tmp_path / "venv")
    made.script("vllm", f"#!{made.bin}/python3\n")
    return made


def test_of_the_interpreter_in_the_first_line(prefix: Prefix) -> None:
    prefix.install("vllm-0.27.1.dist-info", "vllm", "vllm_flash_attn-2.0.dist-info", "torch-2.9.0.dist-info")
    assert prefix.release() == "0.27.1"
    assert release("vllm", str(prefix.bin / "vllm"), {}) == "0.27.1"


@pytest.mark.parametrize("python", ["python", "python3", "python3.12"])
def test_of_the_interpreter_that_is_named(python: str, prefix: Prefix, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix.install("sglang-0.5.12.post1.dist-info")
    prefix.script(python, "")
    monkeypatch.chdir(prefix.folder)
    assert prefix.release("sglang", python) == "0.5.12.post1"
    # a checkout in the current folder is what `python -m` imports
    (prefix.folder / "sglang").mkdir()
    assert prefix.release("sglang", python) is None


@pytest.mark.parametrize(
    "head",
    [
        "#!/usr/bin/env python3\n",
        "#!/usr/bin/env -S python3\n",
        "#!/bin/sh\n'''exec' {bin}/python3 \"$0\" \"$@\"\n' '''\n",
        "#!/bin/sh\n'''exec' \"{bin}/python3\" \"$0\" \"$@\"\n' '''\n",
        "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python3' \"$0\" \"$@\"\n' '''\n",
    ],
)
def test_ways_to_name_an_interpreter(head: str, prefix: Prefix) -> None:
    prefix.install("vllm-0.27.1.dist-info")
    prefix.script("vllm", head.format(bin=prefix.bin))
    assert prefix.release() == "0.27.1"


@pytest.mark.parametrize("head", ["", "\x7fELF", "#!/bin/bash\nexec vllm\n", "#!/usr/bin/env perl\n", "#!\n", "#!/bin/sh\n"])
def test_programs_that_name_none(head: str, prefix: Prefix) -> None:
    prefix.install("vllm-0.27.1.dist-info")
    prefix.script("vllm", head)
    assert prefix.release() is None


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["vllm-0.9.1+cu128.dist-info"], "0.9.1"),
        (["vllm-0.10.0rc1.dist-info"], "0.10.0rc1"),
        (["vllm-0.11.0+582e4e37.nv25.11.dist-info"], None),
        (["vllm-0.9.2.dev12+gabc123.dist-info"], None),
        (["vllm-unknown.dist-info"], None),
        (["vllm-0.9.1.dist-info", "vllm-0.10.0.dist-info"], None),
        ([], None),
    ],
)
def test_what_is_no_release_or_not_one(names: list[str], found: str | None, prefix: Prefix) -> None:
    prefix.install(*names)
    assert prefix.release() == found


def test_what_may_be_imported_first(prefix: Prefix, tmp_path: Path) -> None:
    prefix.install("vllm-0.27.1.dist-info")
    (tmp_path / "checkout" / "vllm").mkdir(parents=True)
    assert prefix.release(PYTHONPATH=str(tmp_path / "checkout")) is None
    assert prefix.release(PYTHONPATH=str(tmp_path)) == "0.27.1"
    assert prefix.release(PYTHONHOME=str(tmp_path)) is None


def test_of_an_interpreter_without_a_virtual_environment(tmp_path: Path) -> None:
    prefix = Prefix(tmp_path / "usr", venv=False)
    prefix.script("python3.12", "")
    (prefix.bin / "python3").unlink()
    (prefix.bin / "python3").symlink_to("python3.12")
    prefix.script("vllm", f"#!{prefix.bin}/python3\n")
    prefix.install("vllm-0.27.1.dist-info")
    (tmp_path / "usr" / "lib" / "python3.10" / "site-packages" / "vllm-0.6.0.dist-info").mkdir(parents=True)
    assert prefix.release() == "0.27.1"
    # what a user has installed for himself comes first: two releases are none
    (tmp_path / "user" / "lib" / "python3.12" / "site-packages" / "vllm-0.9.0.dist-info").mkdir(parents=True)
    assert prefix.release(PYTHONUSERBASE=str(tmp_path / "user")) is None
    assert prefix.release(PYTHONUSERBASE=str(tmp_path / "user"), PYTHONNOUSERSITE="1") == "0.27.1"


def test_engines_that_are_no_package_and_programs_that_are_not_there(prefix: Prefix) -> None:
    prefix.script("llama-server", f"#!{prefix.bin}/python3\n")
    assert prefix.release("llama.cpp", "llama-server") is None
    assert prefix.release(program="nosuch") is None
    assert prefix.release(program="") is None
    prefix.script("plain", f"#!{prefix.bin}/python3\n", 0o644)
    assert prefix.release(program="plain") is None
