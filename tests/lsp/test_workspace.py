"""The findings of every file on request: in parts, cancelled, again, and never in the way of whoever types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.lsp.raw import Process

BROKEN = "vllm serve Qwen/Qwen3-8B --gpu-memory-utilization 1.5\n"
RULE = "vllm/gpu-memory-utilization-out-of-range"


def items(server: Process, **params: Any) -> list[Any]:
    found: list[Any] = server.asked("workspace/diagnostic", {"previousResultIds": [], **params})["items"]
    return found


def test_what_changed_since(tmp_path: Path) -> None:
    for name in ("a.sh", "b.sh"):
        (tmp_path / name).write_text(BROKEN)
    (tmp_path / "c.sh").write_text("echo hello\n")
    (tmp_path / "servelint.toml").write_text('exclude = ["b.sh"]\n')
    with Process() as server:
        server.initialize(rootUri=tmp_path.as_uri())
        (first,) = items(server)
        assert (first["uri"], first["kind"]) == ((tmp_path / "a.sh").as_uri(), "full")
        assert [one["code"] for one in first["items"]] == [RULE]
        before = [{"uri": first["uri"], "value": first["resultId"]}]
        (again,) = items(server, previousResultIds=before)
        assert again == {"uri": first["uri"], "kind": "unchanged", "resultId": first["resultId"], "version": None} or (
            again["kind"] == "unchanged"
        )
        (tmp_path / "a.sh").unlink()
        (gone,) = items(server, previousResultIds=before)
        assert (gone["uri"], gone["items"]) == (first["uri"], [])


def test_a_client_that_takes_parts_is_answered_when_something_changes(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(BROKEN)
    with Process() as server:
        server.initialize(rootUri=tmp_path.as_uri())
        assert items(server, partialResultToken="p", workDoneToken="w") == []
        number = server.ask(
            "workspace/diagnostic",
            {"previousResultIds": [{"uri": (tmp_path / "a.sh").as_uri(), "value": "x"}], "partialResultToken": "q"},
        )
        assert server.asked("textDocument/documentSymbol", {"textDocument": {"uri": "file:///none"}}) == []
        (tmp_path / "a.sh").write_text(BROKEN.replace("1.5", "0.5"))
        server.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": (tmp_path / "a.sh").as_uri(), "type": 2}]})
        parts = []
        while "method" in (message := server.next()):
            if message["method"] == "$/progress" and message["params"]["token"] == "q":
                parts += message["params"]["value"]["items"]
        assert message["id"] == number
        assert [one["items"] for one in parts] == [[]]


def test_twenty_thousand_files(tmp_path: Path) -> None:
    for number in range(20_000):
        if number % 1000 == 0:
            (tmp_path / str(number)).mkdir()
        text = BROKEN if number % 400 == 0 else "echo hello\n"
        (tmp_path / str(number // 1000 * 1000) / f"{number}.sh").write_text(text)
    with Process() as server:
        server.initialize(rootUri=tmp_path.as_uri())
        dropped = server.ask("workspace/diagnostic", {"previousResultIds": []})
        server.notify("$/cancelRequest", {"id": dropped})
        assert server.answer(dropped)["error"]["code"] == -32800
        scan = server.ask("workspace/diagnostic", {"previousResultIds": [], "partialResultToken": "p", "workDoneToken": "w"})
        symbols = server.ask("textDocument/documentSymbol", {"textDocument": {"uri": "file:///none"}})
        answered, found, said = [], 0, []
        while scan not in answered:
            message = server.next()
            if "method" not in message:
                answered.append(message["id"])
            elif message["method"] == "$/progress" and message["params"]["token"] == "p":
                found += len(message["params"]["value"]["items"])
            elif message["method"] == "$/progress":
                said.append(message["params"]["value"]["kind"])
        assert answered == [symbols, scan]  # what is asked meanwhile is answered meanwhile
        assert found == 50
        assert (said[0], said[-1]) == ("begin", "end")
