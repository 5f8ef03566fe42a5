"""The server around the application: uvicorn, with bounds for connections that it does not have, and a stop in two steps."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from typing import cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from servelint.admission.app import App
from servelint.admission.metrics import Metrics
from servelint.admission.tls import Certificate
from servelint.admission.workers import WorkerError, Workers

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from types import FrameType
    from typing import Any

_LOG = logging.getLogger("servelint.admission")
_HEADERS_AT_MOST = 32 << 10
_KEEP_ALIVE = 120
"""Seconds for which a connection without a request is kept; a Go client gives one up after 90, so that it is the first to."""
_LOOK_AT_FILES = 2.0


class Options:
    """host, port: where it listens;  certificate: None for plain HTTP, behind something that ends TLS
    budget:    seconds that a review may take, largest: bytes of its body;  reviews: how many at a time
    idle:      seconds for a TLS handshake, for the head of a request and for its body
    connections: how many at a time
    drain:     seconds that it still answers after SIGTERM, while it says that it is not ready
    grace:     seconds that what was asked until then has to be answered in
    """

    __slots__ = ("budget", "certificate", "connections", "drain", "grace", "host", "idle", "largest", "port", "reviews")

    def __init__(
        self,
        host: str,
        port: int,
        certificate: Certificate | None,
        *,
        budget: float = 5.0,
        largest: int = 8 << 20,
        reviews: int = 64,
        idle: float = 10.0,
        connections: int = 512,
        drain: float = 5.0,
        grace: float = 10.0,
    ) -> None:
        self.host = host
        self.port = port
        self.certificate = certificate
        self.budget = budget
        self.largest = largest
        self.reviews = reviews
        self.idle = idle
        self.connections = connections
        self.drain = drain
        self.grace = grace


def protocol(options: Options) -> type[H11Protocol]:
    """A connection that is closed if no request comes, or only part of one: uvicorn would wait for ever."""

    class Connection(H11Protocol):
        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(cast(asyncio.Transport, transport))
            if len(self.connections) > options.connections:
                cast(asyncio.Transport, transport).abort()
            else:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait_no_more()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._wait_no_more()
            elif self.waiting is None and self.timeout_keep_alive_task is None:
                self._wait()  # the first bytes of a further request

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0] and self.waiting is None:
                self._wait()

        def _wait(self) -> None:
            self.waiting = self.loop.call_later(options.idle, self._give_up)

        def _wait_no_more(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

        def _give_up(self) -> None:
            # not close(), which waits for a peer that may not be there any more
            if not self.transport.is_closing():
                self.transport.abort()

    return Connection


class Loop(asyncio.SelectorEventLoop):
    """asyncio's loop with a time for TLS handshakes: a minute is its own."""

    handshake = 60.0

    async def create_server(self, *args: Any, **named: Any) -> asyncio.base_events.Server:
        if named.get("ssl") is not None:
            named.setdefault("ssl_handshake_timeout", self.handshake)
            if sys.version_info >= (3, 11):
                named.setdefault("ssl_shutdown_timeout", self.handshake)
        return await super().create_server(*args, **named)


class Server(uvicorn.Server):
    """Stops in two steps: at SIGTERM it is not ready any more, and answers what still comes; `drain` seconds later it ends."""

    def __init__(self, config: uvicorn.Config, app: App, drain: float) -> None:
        super().__init__(config)
        self._app = app
        self._drain = drain
        self._end: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self._end is not None and sig == signal.SIGINT:
            self.should_exit = self.force_exit = True
        elif self._end is None:
            self._app.stopping = True
            _LOG.info("stopping", extra={"facts": {"seconds": self._drain}})
            self._end = time.monotonic() + (self._drain if sig == signal.SIGTERM else 0.0)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        _LOG.info("listening", extra={"facts": {"host": host, "port": port}})

    async def on_tick(self, counter: int) -> bool:
        if self._end is not None and time.monotonic() >= self._end:
            self.should_exit = True
        return await super().on_tick(counter)


def serve(workers: Workers, options: Options) -> int:
    """Serve until a signal ends it; gives the exit status."""
    loop = Loop()
    loop.handshake = options.idle
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(_serve(workers, options))
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _serve(workers: Workers, options: Options) -> int:
    metrics = Metrics()
    workers.restarted = metrics.restart
    app = App(
        workers.ask,
        metrics,
        ready=lambda: workers.ready,
        paths=workers.rules.policy.paths,
        budget=options.budget,
        largest=options.largest,
        most=options.reviews,
        patience=options.idle,
    )
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        http=protocol(options),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=max(1, round(options.grace)),
        h11_max_incomplete_event_size=_HEADERS_AT_MOST,
    )
    config.load()
    certificate = options.certificate
    watching: asyncio.Task[None] | None = None
    if certificate is not None:
        config.ssl = certificate.context

        def changed() -> None:
            metrics.certificate.set(certificate.ends)

        changed()
        watching = asyncio.get_running_loop().create_task(certificate.watch(_LOOK_AT_FILES, changed))
    server = Server(config, app, options.drain)
    try:
        await workers.start()
        await server.serve()
        return 0
    except SystemExit:  # uvicorn has logged why it cannot listen
        return 2
    except WorkerError as error:
        _LOG.error(str(error))
        return 3
    finally:
        if watching is not None:
            watching.cancel()
        workers.stop()


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
