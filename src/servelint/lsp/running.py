"""The server's life: on standard input and output or on a port, until its client leaves, ends, or vanishes."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading

from servelint.lsp.frames import Frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.lsp.server import Server

log = logging.getLogger("servelint.lsp")

_CHUNK = 1 << 16
_LOOKING = 1.0
"""Seconds between two looks at whether the client's process is there."""


class _Pipe:
    """Standard output, which is the client's alone: whatever else prints, prints to standard error."""

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


def serve_pipes(server: Server) -> int:
    """Serve one client on standard input and output; gives the exit status."""
    return asyncio.run(_pipes(server))


async def _pipes(server: Server) -> int:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[int] = loop.create_future()
    end = _once(over)
    server.protocol.set_writer(_Pipe(lambda: end(1)))
    server.protocol.ended = end
    frames = Frames()

    def take(data: bytes) -> None:
        if not data:
            log.info("the client closed its end")
            end(1)
        for message in frames.feed(data):
            server.protocol.take(message)

    def read() -> None:
        data = b"?"
        while data:
            try:
                data = os.read(0, _CHUNK)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(take, data)
            except RuntimeError:  # it is over
                return

    threading.Thread(target=read, name="reading", daemon=True).start()
    watching = asyncio.ensure_future(_watch(server, end))
    status = await over
    watching.cancel()
    return status


def _once(over: asyncio.Future[int]) -> Callable[[int], None]:
    def end(status: int) -> None:
        if not over.done():
            over.set_result(status)

    return end


async def _watch(server: Server, end: Callable[[int], None]) -> None:
    """End where the process that the client said to be has vanished: it may have left its end of a pipe to another."""
    while server.editor is None or lives(server.editor):
        await asyncio.sleep(_LOOKING)
    log.info("the client's process %s is gone", server.editor)
    end(1)


def lives(number: int) -> bool:
    """Whether there is a process of a number; there always is where that cannot be asked."""
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
    """Serve clients on a port, one after the other or together, each with a server of its own, until interrupted.

    ready: is told of the address. Raises OSError where it cannot be had.
    """
    return asyncio.run(_port(make, host, port, ready))


async def _port(make: Callable[[], Server], host: str, port: int, ready: Callable[[str, int], None]) -> int:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        log.info("a client came")
        server = make()
        over: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        end = _once(over)
        server.protocol.set_writer(_Socket(writer))
        server.protocol.ended = end
        frames = Frames()
        reading = asyncio.ensure_future(reader.read(_CHUNK))
        while not over.done():
            await asyncio.wait((reading, over), return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                break
            try:
                data = reading.result()
            except OSError:
                data = b""
            if not data:
                break
            for message in frames.feed(data):
                server.protocol.take(message)
            reading = asyncio.ensure_future(reader.read(_CHUNK))
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
