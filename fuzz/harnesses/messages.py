"""The language server's messages: what an editor sends, what no editor would, and what comes back."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from typing import Any

from fuzz import grammar, vocabulary
from fuzz.case import Case, insist
from fuzz.chance import Seeded
from fuzz.counts import COUNTS
from fuzz.mutate import mutated
from fuzz.properties import SETTINGS
from servelint.core.source import Source
from servelint.lsp.analysis import analyse
from servelint.lsp.server import Server
from servelint.lsp.transport import Frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fuzz.chance import Chance

_INTERNAL = -32603
_LOGGERS = ("servelint.lsp", "pygls", "asyncio", "concurrent.futures")
_WRAPPERS = (
    "compose-list",
    "compose-string",
    "compose-flow",
    "kubernetes-args",
    "shell",
    "dockerfile-shell",
    "env-command",
    "markdown-list",
)
_NAMES = ("compose.yml", "deployment.yaml", "run.sh", "Dockerfile", "Makefile", "spec.json", "README.md", ".env", "start.bat")
_LANGUAGES = ("yaml", "dockercompose", "shellscript", "json", "markdown", "plaintext", "")
_AT_A_PLACE = ("hover", "completion")
_OF_A_RANGE = ("codeAction", "inlayHint")
_OF_A_TEXT = ("codeLens", "documentSymbol", "diagnostic")
_METHODS = (
    "textDocument/nothing", "$/cancelRequest", "$/setTrace", "initialize", "initialized", "textDocument/didClose", "", 5,
    "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles", "textDocument/didSave", "completionItem/resolve",
    "workspace/diagnostic", "workspace/didChangeWorkspaceFolders", "workspace/executeCommand", "textDocument/hover",
)  # fmt: skip
_TYPED = ("x", " ", "\n", "-", "'", "\U0001f642", "\r\n", "\r", "\u2028", "--port 1", "${V}", ": ", "\ud83d", "\u00e9", "")


# -- what is sent


def make(chance: Chance) -> Case:
    """A session as lines of JSON: a text is opened, changed, asked about. "broken": some of it is no such message."""
    file = grammar.file(chance, _WRAPPERS, _NAMES)
    uri = f"file:///fuzz/{file.name}" if chance.often(0.7) else "untitled:Untitled-1"
    sent: list[Any] = [
        _note(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": chance.pick(_LANGUAGES), "version": 1, "text": file.text}},
        )
    ]
    text = file.text
    for version in range(2, 2 + chance.below(4)):
        changes: list[Any] = []
        for _ in range(1 + chance.below(2)):
            change, text = _change(chance, text)
            changes.append(change)
        sent.append(
            _note("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes})
        )
    asked = range(1, 1 + chance.below(3))
    sent += [{"jsonrpc": "2.0", "id": number, **_request(chance, uri, text)} for number in asked]
    lines = [json.dumps(one) for one in sent]
    kind = "session"
    if chance.often(0.25):
        kind = "broken"
        for _ in range(1 + chance.below(3)):
            at = chance.below(len(lines))
            lines[at] = _spoilt(chance, lines[at])
    return Case(kind, "\n".join(lines), chance.below(1 << 16), whole=kind == "session")


def _note(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _change(chance: Chance, text: str) -> tuple[dict[str, Any], str]:
    """A change as the protocol has it, and the text after it."""
    if chance.often(0.1):
        new = mutated(chance, text)
        return {"text": new}, new
    start = chance.below(len(text) + 1)
    end = min(len(text), start + (chance.below(6) if chance.often(0.5) else 0))
    # no position stands between a carriage return and its line feed
    start, end = (at - 1 if text[at - 1 : at + 1] == "\r\n" else at for at in (start, end))
    typed = chance.pick(_TYPED) if chance.often(0.7) else chance.pick(vocabulary.tokens())
    place = {"start": _position(text, start), "end": _position(text, max(start, end))}
    return {"range": place, "text": typed}, text[:start] + typed + text[max(start, end) :]


def _position(text: str, offset: int) -> dict[str, int]:
    """A position as the protocol counts: lines end at LF, CR LF and CR, columns are UTF-16 code units."""
    lines = re.split(r"\r\n|\n|\r", text[:offset])
    return {"line": len(lines) - 1, "character": len(lines[-1].encode("utf-16-le", "surrogatepass")) // 2}


def _request(chance: Chance, uri: str, text: str) -> dict[str, Any]:
    params: dict[str, Any] = {"textDocument": {"uri": uri}}
    place = _position(text, chance.below(len(text) + 1))
    kind = chance.below(24)
    if kind < 9:
        method = _AT_A_PLACE[kind == 8]
        params["position"] = place
    elif kind < 14:
        method = _OF_A_RANGE[kind != 9]
        params["range"] = {"start": place, "end": chance.pick((place, {"line": 99, "character": 99}))}
        params["context"] = {"diagnostics": []}
    else:
        method = _OF_A_TEXT[kind % 3]
    return {"method": f"textDocument/{method}", "params": params}


def _spoilt(chance: Chance, line: str) -> str:
    kind = chance.below(5)
    if kind == 0:
        return mutated(chance, line)
    if kind == 1:
        return chance.pick(
            (
                "",
                "{}",
                "[]",
                "null",
                "1",
                '"x"',
                '{"jsonrpc": "2.0"}',
                '{"jsonrpc": "2.0", "id": 7}',
                '{"jsonrpc": "2.0", "id": {}}',
            )
        )
    try:
        data = json.loads(line)
    except ValueError:  # spoilt before
        data = None
    if not isinstance(data, dict):
        return line
    if kind == 2:
        data["method"] = chance.pick(_METHODS)
        return json.dumps(data)
    # a value somewhere inside that is another
    node: Any = data
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return json.dumps(data)
        key = chance.pick(keys)
        if not isinstance(node[key], (dict, list)) or chance.often(0.2):
            node[key] = chance.pick(
                (None, -1, 10**12, "", "\ud800", [], {}, True, 1.5, "file:///fuzz/x", "http://x", "file://[", 0)
            )
            return json.dumps(data)
        node = node[key]


# -- what comes back


class _Wire:
    """The server's end. messages: what it has sent"""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def write(self, data: bytes) -> None:
        self.messages.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None:
        pass


class _Errors(logging.Handler):
    """What is logged as an error: a traceback in the editor's log."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record)


class _Desk:
    """A server that has begun its session, and what it says."""

    def __init__(self, *, pulls: bool) -> None:
        self.loop = asyncio.new_event_loop()
        self.errors = _Errors()
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(self.errors)
            logging.getLogger(name).propagate = False
        self.wire = _Wire()
        self.loop.run_until_complete(self._begin(pulls))

    async def _begin(self, pulls: bool) -> None:
        self.server = Server()
        self.server.protocol.set_writer(self.wire)
        text: dict[str, Any] = {"diagnostic": {}} if pulls else {}
        releases = {engine: release for engine, release in SETTINGS.engine_versions.items() if engine != "llama.cpp"}
        self.options = options = {"engine-versions": releases, "isolated": True}
        params = {"processId": None, "rootUri": None, "capabilities": {"textDocument": text}, "initializationOptions": options}
        self.server.protocol.take({"jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": params})
        self.server.protocol.take(_note("initialized", {}))
        await asyncio.sleep(0)
        self.files = [folder.files for folder in self.server.folders.everywhere()]

    def lead(self, case: Case) -> None:
        self.wire.messages.clear()
        self.errors.told.clear()
        self.loop.run_until_complete(self._lead(case))

    async def _lead(self, case: Case) -> None:
        chance = Seeded(case.turn)
        data = b"".join([_framed(line, chance if case.name == "broken" else None) for line in case.text.split("\n")])
        frames = Frames()
        paced = _is_compared(case)
        at = 0
        while at < len(data):
            size = 1 + chance.below(2 * len(data))
            for message in frames.feed(data[at : at + size]):
                self.server.protocol.take(message)
                if paced:
                    await self._told()
            at += size
        pending = self.server.protocol._request_futures
        await self._idle()
        for future in list(pending.values()):
            future.cancel()  # what waits for a change that does not come
        pending.clear()
        await asyncio.sleep(0)

    async def _told(self) -> None:
        """Have what is due published, so that each change comes to a text that was analysed as it was before."""
        await self._idle()
        for document in self.server.documents.values():
            document.seconds = 0.0  # what took longer is looked at later, and how long a small text takes is up to the machine

    async def _idle(self) -> None:
        """Wait until the server has nothing to do but for what waits for a change."""
        quiet = 0
        while quiet < 20:
            busy = self.server._due or self.server.worker.jobs
            quiet = 0 if busy else quiet + 1
            await asyncio.sleep(0.0005 if busy else 0)

    def close(self) -> None:
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self.errors)
            logging.getLogger(name).propagate = True
        self.server.close()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    async def known(self, document: Any) -> Any:
        """The analysis of a text."""
        return await self.server.analyses.begin(document, requested=True).analysis()

    def settings(self) -> None:
        """What a message may have changed, as it was. What is known of the same ones stays known."""
        folders = self.server.folders
        files = [folder.files for folder in folders.everywhere()]
        if files != self.files or folders.data != self.options:
            folders.start(self.options)
            self.files = [folder.files for folder in folders.everywhere()]

    def leave(self) -> None:
        for document in list(self.server.documents.values()):
            del self.server.documents[document.uri]
            self.server.shut(document)
        for task in list(self.server._tasks):
            task.cancel()
        for path in [folder.path for folder in self.server.folders]:
            self.server.folders.remove(path)


def _is_compared(case: Case) -> bool:
    """Whether what is known of the text at last is held against a fresh look at it."""
    return case.turn % 8 == 0


def _framed(line: str, chance: Seeded | None) -> bytes:
    body = line.encode("utf-8", "replace")
    length = len(body)
    if chance is not None and chance.often(0.1):
        length += chance.pick((-1, 1, 3, -5, 40, 10**13))
    header = b"Content-Length: %d\r\n\r\n" % length
    if chance is not None and chance.often(0.1):
        header = chance.pick(
            (
                b"content-length:%d\n\n" % length,
                b"X: y\r\n" + header,
                b"noise" + header,
                b"Content-Length: x\r\n\r\n",
                header[:-2],
            )
        )
    return header + body


_DESKS: dict[bool, _Desk] = {}
"""Whether the editor asks for diagnostics -> its server, which lasts from case to case."""


def _desk(pulls: bool) -> _Desk:
    if pulls not in _DESKS:
        _DESKS[pulls] = _Desk(pulls=pulls)
    return _DESKS[pulls]


def close() -> None:
    """End the servers."""
    for desk in _DESKS.values():
        desk.close()
    _DESKS.clear()


def check(case: Case) -> None:
    sent: list[Any] = []
    if case.name == "session":
        try:
            sent = [json.loads(line) for line in case.text.split("\n")]
        except ValueError:
            return  # made smaller, it is none any more
        if not all(isinstance(one, dict) for one in sent):
            return
    COUNTS[case.name] += 1
    COUNTS["messages"] += case.text.count("\n") + 1
    desk = _desk(bool(case.turn & 1))
    try:
        desk.lead(case)
        told = [record.getMessage() for record in desk.errors.told]
        insist(not told, "never a traceback", told)
        answers = [one for one in desk.wire.messages if "method" not in one]
        internal = [one for one in answers if one.get("error", {}).get("code") == _INTERNAL]
        insist(not internal, "never an internal error", internal)
        if case.name == "session":
            _as_the_editor_has_it(case, desk, sent, answers)
    finally:
        desk.leave()
        if case.name == "broken":
            desk.settings()
        if desk.server.protocol._shutdown or not desk.server.protocol.begun:
            close()


def _as_the_editor_has_it(case: Case, desk: _Desk, sent: list[Any], answers: list[Any]) -> None:
    """Each request has its answer, the text is the editor's, and what is told of it stands in it."""
    numbers = sorted(one["id"] for one in answers)
    insist(numbers == sorted({one["id"] for one in sent if "id" in one}), "each request is answered once", numbers)
    insist(not [one for one in answers if "error" in one], "what is asked rightly is answered", answers)
    text, version = sent[0]["params"]["textDocument"]["text"], 1
    uri = sent[0]["params"]["textDocument"]["uri"]
    for message in sent[1:]:
        if message["method"] == "textDocument/didChange":
            version = message["params"]["textDocument"]["version"]
            for change in message["params"]["contentChanges"]:
                text = _changed(text, change)
    document = desk.server.documents.get(uri)
    insist(document is not None, "a text that is open is known", uri)
    if document is None:
        return
    insist(document.source.text == text, "the text is as the editor has it", document.source.text, text)
    insist(document.version == version, "the version is the editor's", document.version)
    lines = [len(line.encode("utf-16-le", "surrogatepass")) // 2 for line in re.split(r"\r\n|\n|\r", text)]
    for answer in answers:
        _places(answer.get("result"), lines)
    published = [one for one in desk.wire.messages if one.get("method") == "textDocument/publishDiagnostics"]
    insist(desk.server.pulls or bool(published), "who does not ask is told", case.text)
    for message in published[-1:]:
        insist(message["params"].get("version") == version, "the last thing told is of the last version", message)
        _places(message["params"]["diagnostics"], lines)
    if _is_compared(case):
        COUNTS["compared with a fresh look"] += 1
        _fresh(desk, document)


def _changed(text: str, change: dict[str, Any]) -> str:
    """The text after a change, in UTF-16 code units as the protocol has it."""
    if "range" not in change:
        new: str = change["text"]
        return new
    starts = [0, *[match.end() for match in re.finditer(r"\r\n|\n|\r", text)]]
    start, end = (
        starts[place["line"]] + _units(text[starts[place["line"]] :], place["character"])
        for place in (change["range"]["start"], change["range"]["end"])
    )
    typed: str = change["text"]
    return text[:start] + typed + text[end:]


def _units(text: str, count: int) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * count].decode("utf-16-le", "surrogatepass"))


def _places(node: Any, lines: list[int]) -> None:
    """Every range in an answer is in the text."""
    if isinstance(node, list):
        for one in node:
            _places(one, lines)
        return
    if not isinstance(node, dict):
        return
    if set(node) == {"line", "character"}:
        inside = 0 <= node["line"] < len(lines) and 0 <= node["character"] <= lines[node["line"]]
        insist(inside, "spans inside the text", node, lines)
        return
    if set(node) == {"start", "end"}:
        first, last = ((node[one]["line"], node[one]["character"]) for one in ("start", "end"))
        insist(first <= last, "a range begins before it ends", node)
    for one in node.values():
        _places(one, lines)


def _fresh(desk: _Desk, document: Any) -> None:
    """What is known of a text after its changes is what is known of one that is opened as it is now."""
    known = desk.loop.run_until_complete(desk.known(document))
    if known.broken:
        return
    fresh = analyse(Source(document.path, document.source.text), known.settings, desk.server.analyses.neighbours(document))
    before, now = (
        [(one.rule, one.span.start, one.span.end, one.message) for one in found.findings] for found in (known, fresh)
    )
    insist(before == now, "an edited text is judged as a fresh one", before, now)
