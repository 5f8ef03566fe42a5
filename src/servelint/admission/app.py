"""The webhook as an ASGI application: paths, limits of a body, health, and metrics for Prometheus and OpenMetrics."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qs

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.exposition import choose_encoder

from servelint import __version__
from servelint.admission.answer import Answer, refusal
from servelint.admission.request import OPERATIONS
from servelint.admission.workers import BusyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _T = TypeVar("_T", Counter, Gauge, Histogram, Info)

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    Ask = Callable[[str, bytes, float], Awaitable[Answer]]

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(slots=True, kw_only=True)
class Options:
    """Options of the server.

    Attributes:
        host: the address to listen on.
        port: its port, 0 for a free one.
        budget: seconds that a review may take.
        largest: bytes of the body of a review.
        reviews: concurrent reviews, which limits the memory.
        idle: seconds for a TLS handshake, for the head of a request, and for its body.
        connections: concurrent connections.
        drain: seconds for which it answers on after SIGTERM, while it is not ready.
        grace: seconds after that to finish open reviews.
    """

    host: str = "127.0.0.1"
    port: int = 0
    budget: float = 5.0
    largest: int = 8 << 20
    reviews: int = 64
    idle: float = 10.0
    connections: int = 512
    drain: float = 5.0
    grace: float = 10.0


class Metrics:
    """The metrics of one server, in a registry of its own.

    Attributes:
        registry: the registry.
        waiting: reviews in progress.
        certificate: when the certificate ends, in seconds since 1970.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def add(kind: type[_T], name: str, help: str, *labels: str, **more: Any) -> _T:
            return kind(f"servelint_admission_{name}", help, labels, registry=self.registry, **more)

        self._reviews = add(Counter, "reviews", "Answered reviews, by result.", "operation", "result")
        self._findings = add(Counter, "findings", "Findings in judged objects.", "rule", "severity", "action")
        took = "Time from the end of a review's body to its answer."
        self._seconds = add(Histogram, "review_duration_seconds", took, buckets=_BUCKETS)
        self._refused = add(Counter, "http_errors", "Requests that were not reviews, by status.", "status")
        self.waiting = add(Gauge, "reviews_in_flight", "Reviews that are being judged or are waiting.")
        restarts = "Replaced processes, by reason: timeout, ended."
        self._restarts = add(Counter, "worker_restarts", restarts, "reason")
        ends = "Expiry of the certificate, in seconds since 1970."
        self.certificate = add(Gauge, "certificate_expiry_timestamp_seconds", ends)
        add(Info, "build", "The release of servelint.").info({"version": __version__})

    def review(self, facts: dict[str, Any], seconds: float) -> None:
        """Count an answered review, by the facts of its Answer."""
        operation = facts.get("operation")
        self._reviews.labels(operation if operation in OPERATIONS else "", facts["result"]).inc()
        self._seconds.observe(seconds)
        for rule, severity, action in facts.get("findings", ()):
            self._findings.labels(rule, severity, action).inc()

    def http_error(self, status: int) -> None:
        """Count a request that is not a review, by its HTTP status."""
        self._refused.labels(str(status)).inc()

    def restart(self, reason: str) -> None:
        """Count a replaced process, by the reason."""
        self._restarts.labels(reason).inc()

    def page(self, accept: str) -> tuple[bytes, str]:
        """Return the page and its content type, by the Accept header of a request."""
        encode, content_type = choose_encoder(accept)
        return encode(self.registry), content_type


_LOG = logging.getLogger("servelint.admission")
_LOGGED = frozenset(("denied", "warned", "failed-open", "failed-closed"))
_SECONDS = re.compile(r"(\d{1,4})s")
_JSON = b"application/json"
_CLOSE = (b"connection", b"close")
_TEXT = b"text/plain; charset=utf-8"


class Disconnected(Exception):
    """The client has closed the connection."""


class App:
    """The application.

    Args:
        ask: judges a review: (name after /validate/, body, seconds) to the answer.
        metrics: where requests are counted.
        options: the limits of a review.
        ready: whether `ask` can judge at present.
        paths: the names after /validate/ that the policy has.

    Attributes:
        stopping: whether the server is about to end; it is then not ready, and closes connections.
    """

    def __init__(
        self,
        ask: Ask,
        metrics: Metrics,
        options: Options,
        *,
        ready: Callable[[], bool] = lambda: True,
        paths: frozenset[str] = frozenset(),
    ) -> None:
        self.ask = ask
        self.metrics = metrics
        self.stopping = False
        self._options = options
        self._ready = ready
        self._paths = paths
        self._open = 0

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not supported")
        path: str = scope["path"]
        if path == "/validate" or path.startswith("/validate/"):
            await self._validate(path.removeprefix("/validate").lstrip("/"), scope, receive, send)
        elif path in ("/livez", "/readyz", "/metrics"):
            if scope["method"] not in ("GET", "HEAD"):
                await self._refuse(send, 405, f"{path} takes GET", [(b"allow", b"GET, HEAD")])
            elif path == "/livez":
                await self._send(send, 200, b"ok\n", _TEXT)
            elif path == "/readyz":
                why = "stopping" if self.stopping else "" if self._ready() else "nothing can judge yet"
                await self._send(send, 503 if why else 200, f"{why or 'ok'}\n".encode(), _TEXT)
            else:
                page, content_type = self.metrics.page(_header(scope, b"accept").decode("latin-1"))
                await self._send(send, 200, page, content_type.encode())
        else:
            await self._refuse(send, 404, "no such path; use /validate, /livez, /readyz or /metrics")

    async def _validate(self, name: str, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if name and name not in self._paths:
            await self._refuse(send, 404, "no override of the policy is for this path; use /validate")
        elif scope["method"] != "POST":
            await self._refuse(send, 405, "/validate takes POST", [(b"allow", b"POST")])
        elif _header(scope, b"content-type").partition(b";")[0].strip().lower() != _JSON:
            await self._refuse(send, 415, "the content type of a review is application/json")
        elif _header(scope, b"content-encoding") not in (b"", b"identity"):
            await self._refuse(send, 415, "a review is sent without a content encoding")
        elif self._open >= self._options.reviews:
            await self._review(None, scope, receive, send)
        else:
            self._open += 1
            try:
                await self._review(name, scope, receive, send)
            finally:
                self._open -= 1

    async def _review(self, name: str | None, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Read a body and answer it; for a `name` of None, a review over the limit, read the body and refuse it."""
        try:
            body = await asyncio.wait_for(self._body(scope, receive, keep=name is not None), self._options.idle)
        except asyncio.TimeoutError:
            await self._refuse(send, 408, "the body did not arrive in time")
        except Disconnected:
            return
        else:
            if body is None:
                await self._refuse(send, 413, f"a review has up to {self._options.largest} bytes here")
            elif name is None:
                await self._put_off(send, f"{self._options.reviews} reviews are already open")
            else:
                await self._answer(name, body, scope, send)

    async def _body(self, scope: dict[str, Any], receive: Receive, *, keep: bool = True) -> bytes | None:
        """Return the whole body, empty unless `keep`; None if it is too large."""
        length = _header(scope, b"content-length")
        if length.isdigit() and int(length) > self._options.largest:
            return None
        parts: list[bytes] = []
        size = 0
        while True:
            event = await receive()
            if event["type"] == "http.disconnect":
                raise Disconnected
            part = event.get("body", b"")
            size += len(part)
            if size > self._options.largest:
                return None
            if keep:
                parts.append(part)
            if not event.get("more_body", False):
                return b"".join(parts)

    async def _answer(self, name: str, body: bytes, scope: dict[str, Any], send: Send) -> None:
        started = time.perf_counter()
        self.metrics.waiting.inc()
        try:
            answer = await self.ask(name, body, self._seconds(scope))
        except BusyError:
            await self._put_off(send, "the waiting reviews would take longer than the time limit of this review")
            return
        finally:
            self.metrics.waiting.dec()
        seconds = time.perf_counter() - started
        self.metrics.review(answer.facts, seconds)
        if answer.status != 200:
            self.metrics.http_error(answer.status)
        await self._send(send, answer.status, answer.body, _JSON, [_CLOSE] if answer.status != 200 else None)
        level = logging.INFO if answer.facts["result"] in _LOGGED or answer.status != 200 else logging.DEBUG
        if _LOG.isEnabledFor(level):
            _LOG.log(level, "review", extra={"facts": {**answer.facts, "ms": round(seconds * 1000, 1)}})

    def _seconds(self, scope: dict[str, Any]) -> float:
        """Return how long a review may take: the query of an API server has the time for which it waits."""
        asked = _timeout(scope["query_string"]) if scope["query_string"] else None
        return self._options.budget if asked is None else min(self._options.budget, max(0.5, asked - 0.5))

    async def _put_off(self, send: Send, message: str) -> None:
        """Refuse a review whose body has been read. The connection is kept: a handshake costs as much as a review."""
        self.metrics.http_error(503)
        await self._send(send, 503, refusal(503, message).body, _JSON, [(b"retry-after", b"1")])

    async def _refuse(self, send: Send, status: int, message: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        self.metrics.http_error(status)
        # the rest of an unread body may follow on the connection
        await self._send(send, status, refusal(status, message).body, _JSON, [*(headers or []), _CLOSE])

    async def _send(
        self, send: Send, status: int, body: bytes, content_type: bytes, more: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        headers = [(b"content-type", content_type), (b"content-length", b"%d" % len(body)), *(more or [])]
        if self.stopping and _CLOSE not in (more or ()):
            headers.append(_CLOSE)  # the next one goes to another replica
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@lru_cache(maxsize=64)
def _timeout(query: bytes) -> int | None:
    """Return the seconds in a query; an API server sends the same query each time."""
    found = _SECONDS.fullmatch(parse_qs(query.decode("latin-1")).get("timeout", [""])[0])
    return int(found[1]) if found is not None else None


def _header(scope: dict[str, Any], name: bytes) -> bytes:
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return b""
