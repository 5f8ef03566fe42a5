"""A server process and its pipes, for what no decent client sends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from tests.lsp.clients import COMMAND, PATIENCE


class Process:
    """A server on pipes. answers: the messages that it sends, in their order"""

    def __init__(self, *options: str, folder: Path | None = None) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.popen = subprocess.Popen(
            [*COMMAND, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=folder,
        )
        self._messages: Queue[Any] = Queue()
        self._number = 0
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        with self.popen.stdout as stream:
            while line := stream.readline():
                if line.lower().startswith(b"content-length"):
                    length = int(line.split(b":")[1])
                    while stream.readline().strip():
                        pass
                    self._messages.put(json.loads(stream.read(length)))

    def bytes(self, data: bytes) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(data)
        self.popen.stdin.flush()

    def send(self, **message: Any) -> None:
        self.bytes(framed({"jsonrpc": "2.0", **message}))

    def notify(self, method: str, params: Any = None) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request; gives its number."""
        self._number += 1
        self.send(id=self._number, method=method, params=params)
        return self._number

    def next(self) -> Any:
        """The next message that it sends."""
        return self._messages.get(timeout=PATIENCE)

    def answer(self, number: int | None) -> Any:
        """The answer to a request; what else it sends until then is left out."""
        while True:
            message = self.next()
            if "method" not in message and message.get("id") == number:
                return message

    def asked(self, method: str, params: Any = None) -> Any:
        """The result of a request."""
        return self.answer(self.ask(method, params))["result"]

    def initialize(self, **params: Any) -> Any:
        result = self.asked("initialize", {"processId": None, "rootUri": None, "capabilities": {}, **params})
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, language: str = "yaml") -> None:
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def published(self, uri: str) -> list[Any]:
        """The next diagnostics of a text that it tells."""
        while True:
            message = self.next()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                found: list[Any] = message["params"]["diagnostics"]
                return found

    def ended(self) -> int:
        """Its exit status, once it has ended."""
        return self.popen.wait(PATIENCE)

    def close(self) -> None:
        assert self.popen.stdin is not None
        if not self.popen.stdin.closed:
            self.popen.stdin.close()

    def __enter__(self) -> Process:  # noqa: PYI034  typing has no Self in Python 3.10
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BrokenPipeError):
            self.close()
        try:
            self.popen.wait(PATIENCE)
        finally:
            self.popen.kill()
            self._reader.join(PATIENCE)


def framed(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
