"""The server around the application: uvicorn with limits for connections, TLS, logs, and a stop in two steps."""

from __future__ import annotations

import asyncio
import calendar
import json
import logging
import os
import re
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from servelint.admission.app import App, Metrics, Options
from servelint.admission.workers import WorkerError, Workers

_LOG = logging.getLogger("servelint.admission")
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_VERSION, _GENERALIZED_TIME = 0xA0, 0x18


class CertificateError(Exception):
    """Two files are not a certificate and its key. The message is one sentence."""


class Certificate:
    """A certificate chain and its key, PEM files that cert-manager or the kubelet replace while the server runs.

    Raises CertificateError where they do not load at the start.

    Attributes:
        chain: the file of the chain.
        key: the file of the key.
        context: the TLS context, always the same: new connections get the new certificate.
    """

    def __init__(self, chain: str, key: str) -> None:
        self.chain = chain
        self.key = key
        self._seen = self._state()
        self.context = self._load()

    @property
    def ends(self) -> float:
        """Expiry of the certificate, in seconds since 1970."""
        return _ends(self.chain)

    def refresh(self) -> bool:
        """Load the files again if they changed. Returns whether the certificate changed.

        A pair that does not load is tried again after the next change: the files are not replaced at the same moment.
        """
        state = self._state()
        if state == self._seen:
            return False
        self._seen = state
        try:
            self._load()  # an incomplete pair must not get into the context in use
            self.context.load_cert_chain(self.chain, self.key)
        except (CertificateError, OSError) as error:
            _LOG.error(
                "the certificate was changed and cannot be loaded; the former one is kept", extra={"facts": {"why": str(error)}}
            )
            return False
        _LOG.info("the certificate was changed", extra={"facts": {"ends": time.strftime("%Y-%m-%d", time.gmtime(self.ends))}})
        return True

    async def watch(self, seconds: float, changed: Callable[[], None]) -> None:
        """Check the files every few seconds, forever; `changed` is called after a change."""
        while True:
            await asyncio.sleep(seconds)
            if self.refresh():
                changed()

    def _state(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple([_stat(path) for path in (self.chain, self.key)])

    def _load(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self.chain, self.key, password=_no_password)
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise CertificateError(f"{self.chain} and {self.key} are not a certificate and its key: {reason}") from error
        return context


def _no_password() -> str:
    raise ValueError("the key is encrypted; give one that is not")


def _stat(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _ends(path: str) -> float:
    """Return notAfter of the first certificate in a PEM file (RFC 5280, 4.1.2.5), which Python's ssl has for peers only."""
    with open(path, encoding="ascii", errors="replace") as file:
        match = _PEM.search(file.read())
    try:
        der = ssl.PEM_cert_to_DER_cert(match[0]) if match is not None else b""
        fields = _inside(der, *_inside(der, 0, len(der))[0][1:])
        parts = _inside(der, *fields[0][1:]) if fields else []
        parts = parts[1:] if parts[0][0] == _VERSION else parts
        tag, start, end = _inside(der, *parts[3][1:])[1]
        written = der[start:end].decode("ascii")
        century = "" if tag == _GENERALIZED_TIME else "20" if written < "50" else "19"
        return float(calendar.timegm(time.strptime(century + written, "%Y%m%d%H%M%SZ")))
    except (ValueError, IndexError) as error:
        raise CertificateError(f"{path} holds no certificate") from error


def _inside(der: bytes, start: int, end: int) -> list[tuple[int, int, int]]:
    """Return tag, start and end of each DER value between two offsets."""
    found: list[tuple[int, int, int]] = []
    while start < end:
        tag, length = der[start], der[start + 1]
        start += 2
        if length > 127:
            size = length & 127
            length = int.from_bytes(der[start : start + size], "big")
            start += size
        found.append((tag, start, start + length))
        start += length
    return found


class Lines(logging.Formatter):
    """One JSON object on each line: time, level, message, and the `facts` of a record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        data = {"time": stamp, "level": record.levelname.lower(), "message": record.getMessage()}
        data.update(getattr(record, "facts", {}))
        if record.exc_info:
            data["exception"] = self.formatException(record.exc_info)
        return json.dumps(data)


def start_logging(level: str) -> None:
    """Send the logs of servelint and of its server to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logger = logging.getLogger("servelint.admission")
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
    for name in ("uvicorn", "asyncio"):
        server = logging.getLogger(name)
        server.handlers = [handler]
        # any client can cause "Invalid HTTP request received" and the like, which are counted
        server.setLevel(logging.ERROR)
        server.propagate = False


_HEADERS_AT_MOST = 32 << 10
_KEEP_ALIVE = 120
"""Seconds for which an idle connection is kept. A Go client closes one after 90, so that the client closes first."""
_LOOK_AT_FILES = 2.0


def protocol(options: Options) -> type[H11Protocol]:
    """Return a class of connections that close if no request comes, or only part of one: uvicorn would wait forever."""

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
            # not close(), which waits for a peer that may be gone
            if not self.transport.is_closing():
                self.transport.abort()

    return Connection


class Loop(asyncio.SelectorEventLoop):
    """The loop of asyncio with a time limit for TLS handshakes, whose default is a minute.

    Attributes:
        handshake: the limit in seconds.
    """

    handshake = 60.0

    async def create_server(self, *args: Any, **named: Any) -> asyncio.base_events.Server:
        """Create a server with the limit."""
        if named.get("ssl") is not None:
            named.setdefault("ssl_handshake_timeout", self.handshake)
            if sys.version_info >= (3, 11):
                named.setdefault("ssl_shutdown_timeout", self.handshake)
        return await super().create_server(*args, **named)


class Server(uvicorn.Server):
    """Stops in two steps: after SIGTERM it is not ready, and still answers; `drain` seconds later it ends."""

    def __init__(self, config: uvicorn.Config, app: App, drain: float) -> None:
        super().__init__(config)
        self._app = app
        self._drain = drain
        self._end: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Begin to stop; a second SIGINT ends at once."""
        if self._end is not None and sig == signal.SIGINT:
            self.should_exit = self.force_exit = True
        elif self._end is None:
            self._app.stopping = True
            _LOG.info("stopping", extra={"facts": {"seconds": self._drain}})
            self._end = time.monotonic() + (self._drain if sig == signal.SIGTERM else 0.0)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and log the address."""
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        _LOG.info("listening", extra={"facts": {"host": host, "port": port}})

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end, which uvicorn asks ten times a second."""
        if self._end is not None and time.monotonic() >= self._end:
            self.should_exit = True
        return await super().on_tick(counter)


def serve(workers: Workers, options: Options, certificate: Certificate | None) -> int:
    """Serve until a signal; without a certificate, plain HTTP. Returns the exit status."""
    loop = Loop()
    loop.handshake = options.idle
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(_serve(workers, options, certificate))
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _serve(workers: Workers, options: Options, certificate: Certificate | None) -> int:
    metrics = Metrics()
    workers.restarted = metrics.restart
    app = App(workers.ask, metrics, options, ready=lambda: workers.ready, paths=workers.rules.policy.paths)
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
