"""`servelint lsp`: how it is started, and what is told where it cannot be."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lsp.raw import framed
from tests.running import Workspace

BROKEN = "vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 1.5\n"


def test_without_pygls(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    ran = workspace.run("lsp")
    assert (ran.status, ran.out) == (2, "")
    assert re.fullmatch(r"servelint: the language server needs pygls \(.*\); pip install 'servelint\[lsp\]'\n", ran.err)


@pytest.mark.parametrize("address", ["2087", "localhost:", "localhost:no", "localhost:70000", ":1"])
def test_what_is_no_address(address: str, workspace: Workspace) -> None:
    ran = workspace.run("lsp", "--tcp", address)
    assert ran.status == 2
    assert ran.err == f'servelint lsp: error: "{address}" is not an address; write HOST:PORT, such as 127.0.0.1:2087\n'


def test_an_address_that_is_taken(workspace: Workspace) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = workspace.run("lsp", "--tcp", f"127.0.0.1:{taken.getsockname()[1]}")
    assert ran.status == 2
    assert ran.err.startswith("servelint: cannot listen on 127.0.0.1:")
    assert ran.err.count("\n") == 1


def test_a_log_that_cannot_be_written(workspace: Workspace) -> None:
    ran = workspace.run("lsp", "--log", "nowhere/lsp.log")
    assert (ran.status, ran.err) == (2, "servelint: cannot write nowhere/lsp.log: No such file or directory\n")


def test_on_a_port(tmp_path: Path) -> None:
    """Two clients, one after the other: the server stays, and writes its log."""
    log = tmp_path / "lsp.log"
    server = subprocess.Popen(
        [sys.executable, "-m", "servelint", "lsp", "--tcp", "127.0.0.1:0", "--log", str(log), "--log-level", "info"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert server.stderr is not None
        said = re.fullmatch(r"servelint: listening on 127\.0\.0\.1:(\d+)\n", server.stderr.readline())
        assert said is not None
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", int(said[1])), timeout=60) as connection:
                stream = connection.makefile("rb")
                initialize: dict[str, object] = {"processId": None, "rootUri": None, "capabilities": {}}
                opened = {"uri": "untitled:1", "languageId": "shellscript", "version": 1, "text": BROKEN}
                for number, (method, params) in enumerate(
                    [("initialize", initialize), ("initialized", {}), ("textDocument/didOpen", {"textDocument": opened})]
                ):
                    message = {"jsonrpc": "2.0", "method": method, "params": params}
                    connection.sendall(framed(message if number else {**message, "id": 1}))
                found: list[str] = []
                while "textDocument/publishDiagnostics" not in found:
                    length = int(stream.readline().split(b":")[1])
                    while stream.readline().strip():
                        pass
                    found.append(json.loads(stream.read(length)).get("method", ""))
                stream.close()
        assert server.poll() is None
        assert log.read_text().count("a client came") == 2
    finally:
        server.terminate()
        server.communicate()


def test_its_help_needs_no_pygls(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    ran = workspace.run("lsp", "--help")
    assert (ran.status, ran.err) == (0, "")
    assert "--tcp HOST:PORT" in ran.out


def test_what_is_logged_is_clean(tmp_path: Path) -> None:
    """It may quote a text that somebody has open."""
    from servelint.cli.lsp import _formatter

    record = logging.LogRecord(
        "servelint", logging.WARNING, "x.py", 1, "read %s", ("\x1b[2J hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345",), None
    )
    assert _formatter("%(message)s").format(record) == r"read \x1b[2J hf_***"
