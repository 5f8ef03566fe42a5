"""What a client may do wrong, and how it may leave: the server goes on, or ends, and never hangs or stays behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lsp.raw import Process, framed

BROKEN = "vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 1.5\n"
RULE = "vllm/gpu-memory-utilization-out-of-range"
SYMBOLS = {"textDocument": {"uri": "untitled:1"}}


def works(server: Process) -> None:
    """It still answers."""
    server.open("untitled:works", BROKEN, "shellscript")
    assert [one["code"] for one in server.published("untitled:works")] == [RULE]


class TestMessages:
    def test_no_json(self) -> None:
        bodies = (b"{", b"", b"\xff\xfe", b"[" * 100_000, b'{"jsonrpc": "2.0", "method": "initialized"} }')
        with Process() as server:
            server.initialize()
            for body in bodies:
                server.bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                assert server.answer(None)["error"]["code"] == -32700
            works(server)

    @pytest.mark.parametrize("wrong", [-7, 7, 700])
    def test_a_wrong_length(self, wrong: int) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": "initialized", "params": {}}).encode()
        with Process() as server:
            server.initialize()
            server.bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body) + wrong, body))
            for _ in range(12):  # enough to fill what was said to come
                server.notify("$/setTrace", {"value": "off"})
            works(server)

    def test_a_header_that_is_none(self) -> None:
        headers = (b"Content-Length: 99999999999999999999", b"Content-Length: x", b"hello", b"\0" * 9000)
        with Process() as server:
            server.initialize()
            for header in headers:
                server.bytes(header + b"\r\n\r\n")
                works(server)

    def test_messages_that_are_wrong(self) -> None:
        wrong: list[tuple[object, int]] = [
            ([], -32600),
            ({"id": 7, "method": "shutdown"}, -32600),
            ({"jsonrpc": "2.0"}, -32600),
            ({"jsonrpc": "2.0", "id": {}, "method": "textDocument/hover"}, -32600),
            ({"jsonrpc": "2.0", "id": True, "method": "textDocument/hover"}, -32600),
            ({"jsonrpc": "2.0", "id": 7, "method": None, "params": {}}, -32600),
            ({"jsonrpc": "2.0", "id": 7, "method": 3}, -32600),
            ({"jsonrpc": "2.0", "id": 7, "method": "servelint/unheard"}, -32601),
            ({"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": {"position": 3}}, -32602),
            ({"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover"}, -32602),
            ({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"capabilities": {}}}, -32600),
        ]
        with Process() as server:
            server.initialize()
            for message, code in wrong:
                server.bytes(framed(message))
                while "error" not in (answer := server.next()):
                    pass
                assert answer["error"]["code"] == code, message
            works(server)

    def test_notifications_that_are_wrong_are_left_out(self) -> None:
        with Process() as server:
            server.initialize()
            server.notify("servelint/unheard", {"a": 1})
            server.notify("textDocument/didOpen", {"textDocument": 3})
            server.open("file://[", "vllm serve m")
            server.notify(
                "textDocument/didChange", {"textDocument": {"uri": "file:///none", "version": 3}, "contentChanges": []}
            )
            server.notify("textDocument/didClose", {"textDocument": {"uri": "file:///none"}})
            server.notify("$/cancelRequest", {"id": 99})
            works(server)

    def test_before_initialize(self) -> None:
        with Process() as server:
            server.notify("textDocument/didOpen", {})
            early = server.ask("textDocument/documentSymbol", SYMBOLS)
            assert server.answer(early)["error"]["code"] == -32002
            server.initialize()
            works(server)

    def test_after_shutdown(self) -> None:
        with Process() as server:
            server.initialize()
            assert server.asked("shutdown") is None
            late = server.ask("textDocument/documentSymbol", SYMBOLS)
            assert server.answer(late)["error"]["code"] == -32600
            server.notify("exit")
            assert server.ended() == 0


class TestTheEnd:
    def test_exit_without_shutdown(self) -> None:
        with Process() as server:
            server.initialize()
            server.notify("exit")
            assert server.ended() == 1

    def test_the_client_closes_its_end(self) -> None:
        with Process() as server:
            server.initialize()
            server.close()
            assert server.ended() == 1

    def test_the_client_never_said_anything(self) -> None:
        with Process() as server:
            server.close()
            assert server.ended() == 1

    def test_the_process_of_the_client_vanishes(self) -> None:
        editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        try:
            with Process() as server:
                server.initialize(processId=editor.pid)
                works(server)
                editor.kill()
                editor.wait()
                assert server.ended() == 1  # although its pipes are open
        finally:
            editor.kill()
            editor.communicate()


class TestFiles:
    def test_five_megabytes(self, tmp_path: Path) -> None:
        with Process() as server:
            server.initialize()
            uri = (tmp_path / "compose.yml").as_uri()
            server.open(uri, "# vllm\n" + "# nothing else\n" * 350_000)
            (told,) = server.published(uri)
            assert told["message"] == "not read: 5.0 MiB, and servelint reads files of up to 4 MiB"
            assert server.asked("textDocument/documentSymbol", {"textDocument": {"uri": uri}}) == []
            works(server)

    def test_a_quarter_of_a_megabyte_is_checked_apart(self, tmp_path: Path) -> None:
        with Process() as server:
            server.initialize()
            uri = (tmp_path / "run.sh").as_uri()
            server.open(uri, "# nothing else\n" * 15_000 + BROKEN, "shellscript")
            (told,) = server.published(uri)
            assert (told["code"], told["range"]["start"]) == (RULE, {"line": 15_000, "character": 50})

    def test_nothing_of_the_folder_is_run(self, tmp_path: Path) -> None:
        ran = tmp_path / "ran"
        for name in ("servelint", "yaml", "json", "tomllib", "jsonschema"):
            (tmp_path / f"{name}.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
        with Process() as server:
            server.initialize(rootUri=tmp_path.as_uri())
            uri = (tmp_path / "run.sh").as_uri()
            server.open(uri, "# nothing else\n" * 15_000 + BROKEN, "shellscript")
            (told,) = server.published(uri)
            assert told["code"] == RULE
        assert not ran.exists()

    def test_a_large_text_that_is_changed_meanwhile(self, tmp_path: Path) -> None:
        with Process() as server:
            server.initialize()
            uri = (tmp_path / "run.sh").as_uri()
            text = "# nothing else\n" * 15_000
            server.open(uri, text + BROKEN, "shellscript")
            change = {"text": text + BROKEN.replace("1.5", "0.9")}
            server.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]})
            assert server.published(uri) == []

    def test_a_file_that_is_deleted(self, tmp_path: Path) -> None:
        path = tmp_path / "run.sh"
        path.write_text(BROKEN)
        with Process() as server:
            server.initialize(rootUri=tmp_path.as_uri())
            server.open(path.as_uri(), BROKEN, "shellscript")
            assert [one["code"] for one in server.published(path.as_uri())] == [RULE]
            path.unlink()
            server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": 3}]})
            assert server.asked("workspace/diagnostic", {"previousResultIds": []}) == {"items": []}
            server.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
            assert server.published(path.as_uri()) == []

    @pytest.mark.skipif(not os.path.exists("/proc/thread-self/children"), reason="asks Linux for the children of a process")
    def test_what_is_checked_apart_ends_with_the_server(self, tmp_path: Path) -> None:
        with Process() as server:
            server.initialize()
            uri = (tmp_path / "values.yaml").as_uri()
            server.open(uri, "# vllm\nkey:\n" + "  - name: item\n    value: 3\n" * 18_000)
            number = server.popen.pid
            while not (children := _children(number)):
                assert server.asked("textDocument/documentSymbol", {"textDocument": {"uri": uri}}) == []
            server.close()
            assert server.ended() == 1
        while any(_runs(child) for child in children):
            pass  # it was killed, and is gone as soon as somebody has asked


def _children(number: int) -> list[int]:
    with open(f"/proc/{number}/task/{number}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def _runs(number: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        with open(f"/proc/{number}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
