"""The connection with a client: messages out of a stream of bytes, the protocol's rules of a session, and the server's life.

A server runs on standard input and output or on a port, until its client leaves, ends, or vanishes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
import threading

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound
from pygls.protocol import LanguageServerProtocol, lsp_method

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any
    from typing import Protocol as Interface

    class Server(Interface):
        """What the life of a server needs of it. editor: number of the client's process, None if it cannot be seen."""

        editor: int | None

        @property
        def protocol(self) -> Protocol:
            """The protocol with the client."""

        def close(self) -> None:
            """End what still runs."""


log = logging.getLogger("servelint.lsp")

# its traceback for a message that is wrong: one line of ours is logged anyway
logging.getLogger("pygls.protocol.json_rpc").addFilter(lambda record: not str(record.msg).startswith("Unable to deserialize"))

LONGEST = 64 << 20
"""Bytes (64 MiB) that a message may have."""
_LENGTH = re.compile(rb"(?i)Content-Length:[ \t]*(\d+)[ \t]*\r?\n")
_NAME = b"Content-Length:"
_END = re.compile(rb"\r?\n\r?\n")
_HEADER_AT_MOST = 4096
_CHUNK = 1 << 16
_LOOKING = 1.0
"""Seconds between two looks at whether the client's process is there."""


# -- messages


def _next(body: bytes) -> int:
    """Where a header starts, perhaps only its first characters at the end."""
    start = body.find(_NAME)
    count = next(count for count in range(len(_NAME), -1, -1) if body.endswith(_NAME[:count]))
    return start if start != -1 else len(body) - count


class Broken:
    """A message that is not valid JSON. message: why."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


class Frames:
    """Splits a stream of bytes into messages.

    A header with a wrong length costs the message that it belongs to: the next header is searched for.
    """

    __slots__ = ("_buffer", "_wanted")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None

    def feed(self, data: bytes) -> Iterator[Any | Broken]:
        """Take the next bytes of the stream; gives the messages that end in them."""
        self._buffer += data
        while self._wanted is not None or self._header():
            length = self._wanted or 0
            if len(self._buffer) < length:
                return
            body = bytes(self._buffer[:length])
            del self._buffer[:length]
            self._wanted = None
            yield self._read(body)

    def _header(self) -> bool:
        """Drop all up to the end of the next header; whether there is one."""
        while (found := _LENGTH.search(self._buffer)) is not None:
            end = _END.search(self._buffer, found.end() - 2)
            if end is None:
                if len(self._buffer) - found.end() > _HEADER_AT_MOST:
                    del self._buffer[: found.end()]
                    continue
                return False
            length = int(found.group(1)) if len(found.group(1)) < 12 else LONGEST + 1
            del self._buffer[: end.end()]
            if length <= LONGEST:
                self._wanted = length
                return True
        if len(self._buffer) > _HEADER_AT_MOST:
            del self._buffer[:-64]
        return False

    def _read(self, body: bytes) -> Any | Broken:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            # a length that is too long takes some of the next message; one that is too short leaves a rest
            self._buffer[:0] = body[_next(body) :]
            return Broken(f"{type(error).__name__}: {error}")


# -- a session


class Protocol(LanguageServerProtocol):
    """pygls' protocol without its own store of texts: servelint's own counts lines as editors do.

    Attributes:
        ended: Is called with the exit status when the client ends the session.
        reading: Is called with the method and the parameters of each message, before it is handled.
        begun: Whether the client has initialized the server.
    """

    ended: Callable[[int], None] = staticmethod(lambda _status: None)
    reading: Callable[[str, Any], object] = staticmethod(lambda _method, _params: None)
    begun = False

    def take(self, message: Any) -> None:
        """Handle a message. A wrong one is answered with an error, if it can be answered."""
        if isinstance(message, Broken):
            log.warning("no message: %s", message.message)
            self._refuse(None, types.ErrorCodes.ParseError, f"the message is not valid JSON: {message.message}")
            return
        if (fault := self._malformed(message)) is not None:
            self._refuse(None, types.ErrorCodes.InvalidRequest, fault)
            return
        method, number = message.get("method"), message.get("id")
        refused = self._untimely(method) if method is not None else None
        if refused is not None:
            self._refuse(number, *refused)
            return
        self.begun = self.begun or method == types.INITIALIZE
        try:
            structured = self.structure_message(message)
            self.reading(str(method), getattr(structured, "params", None))
            self.handle_message(structured)
        except JsonRpcException as error:
            log.warning("%s: %s", method, error)
            if method is not None and number is not None:
                self._refuse(number, types.ErrorCodes.InvalidParams, f"the parameters of {method} are wrong")

    def _malformed(self, message: Any) -> str | None:
        """What is wrong with the form of a message, None if nothing is."""
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            return "the message is not JSON-RPC 2.0"
        method, number = message.get("method"), message.get("id")
        if method is None and number is None:
            return "the message has neither a method nor an id"
        if "method" in message and not isinstance(method, str):
            return "the method of a message is a text"
        if number is not None and (isinstance(number, bool) or not isinstance(number, (int, str))):
            return "the id of a message is a whole number or a text"
        return None

    def _untimely(self, method: str) -> tuple[int, str] | None:
        """The error for a method that is not known, or that does not come between initialize and shutdown."""
        if method != types.EXIT:
            if method == types.INITIALIZE and self.begun:
                return types.ErrorCodes.InvalidRequest, "the server was initialized before"
            if self._shutdown:
                return types.ErrorCodes.InvalidRequest, f"{method} came after shutdown"
            if not self.begun and method != types.INITIALIZE:
                return types.ErrorCodes.ServerNotInitialized, f"{method} came before initialize"
        if method in self.fm.builtin_features or method in self.fm.features or method == types.CANCEL_REQUEST:
            return None
        return types.ErrorCodes.MethodNotFound, f"no method {method}"

    def _refuse(self, number: Any, code: int, message: str) -> None:
        """Answer with an error. number: of the request, None for a notification or where it is not known."""
        if number is None and code not in (types.ErrorCodes.ParseError, types.ErrorCodes.InvalidRequest):
            return
        self._send_data({"jsonrpc": self.VERSION, "id": number, "error": {"code": int(code), "message": message}})

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_args: Any) -> Generator[Any, Any, None]:
        """End the session."""
        self.ended(0 if self._shutdown else 1)
        yield from ()

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Pass a text that was opened to the server's own handler."""
        self._own(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Pass changes of a text to the server's own handler."""
        self._own(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Pass a text that was closed to the server's own handler."""
        self._own(types.TEXT_DOCUMENT_DID_CLOSE, params)

    def _own(self, method: str, params: Any) -> None:
        handler = self.fm.features.get(method)
        if handler is None:
            raise JsonRpcMethodNotFound.of(method)
        handler(params)


# -- the life of a server


class _Pipe:
    """Standard output, for the client alone: what any code prints goes to standard error."""

    def __init__(self, gone: Callable[[], None]) -> None:
        sys.stdout.flush()
        self._file = os.fdopen(os.dup(1), "wb", buffering=0)
        self._gone = gone
        os.dup2(2, 1)

    def write(self, data: bytes) -> None:
        try:
            left = memoryview(data)
            while left:
                left = left[self._file.write(left) or 0 :]
        except (OSError, ValueError):
            self._gone()

    def close(self) -> None:
        self._file.close()


class _Session:
    """A server, and the bytes that its client sends. over: gets the exit status."""

    def __init__(self, server: Server) -> None:
        self.over: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._protocol = server.protocol
        self._protocol.ended = self.end
        self._frames = Frames()

    def end(self, status: int) -> None:
        if not self.over.done():
            self.over.set_result(status)

    def take(self, data: bytes) -> None:
        """Handle the messages that end in some bytes; none come when the client has closed its end."""
        if not data:
            log.info("the client closed its end")
            self.end(1)
        for message in self._frames.feed(data):
            self._protocol.take(message)


def serve_pipes(server: Server) -> int:
    """Serve one client on standard input and output; gives the exit status."""
    return asyncio.run(_pipes(server))


async def _pipes(server: Server) -> int:
    loop, session = asyncio.get_running_loop(), _Session(server)
    server.protocol.set_writer(_Pipe(lambda: session.end(1)))

    def read() -> None:
        data = b"?"
        while data:
            try:
                data = os.read(0, _CHUNK)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(session.take, data)
            except RuntimeError:  # it is over
                return

    threading.Thread(target=read, name="reading", daemon=True).start()
    watching = asyncio.ensure_future(_watch(server, session.end))
    status = await session.over
    watching.cancel()
    server.close()
    return status


async def _watch(server: Server, end: Callable[[int], None]) -> None:
    """End when the client's process has vanished: another process may still hold its end of the pipe."""
    while server.editor is None or lives(server.editor):
        await asyncio.sleep(_LOOKING)
    log.info("the client's process %s is gone", server.editor)
    end(1)


def lives(number: int) -> bool:
    """Whether a process is there; True where that cannot be found out."""
    if os.name != "posix":
        return True
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def serve_port(make: Callable[[], Server], host: str, port: int, ready: Callable[[str, int], None]) -> int:
    """Serve clients on a port, each with a server of its own, until interrupted. Gives the exit status.

    Port 0 takes a free one; `ready` is called with the address. Raises OSError if the address cannot be used.
    """
    return asyncio.run(_port(make, host, port, ready))


async def _port(make: Callable[[], Server], host: str, port: int, ready: Callable[[str, int], None]) -> int:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        log.info("a client came")
        server = make()
        session = _Session(server)
        server.protocol.set_writer(_Socket(writer))

        async def read() -> None:
            data = b"?"
            while data:
                try:
                    data = await reader.read(_CHUNK)
                except OSError:
                    data = b""
                session.take(data)

        reading = asyncio.ensure_future(read())
        await session.over
        reading.cancel()
        server.close()
        writer.close()

    listening = await asyncio.start_server(client, host, port)
    address = listening.sockets[0].getsockname()
    ready(address[0], address[1])
    async with listening:
        await listening.serve_forever()
    return 0


class _Socket:
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    def close(self) -> None:
        self._writer.close()
