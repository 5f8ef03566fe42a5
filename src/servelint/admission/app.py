"""The webhook as an ASGI application: paths, bounds of a body, health, metrics."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from urllib.parse import parse_qs

from servelint.admission.answer import Answer, refusal
from servelint.admission.metrics import Metrics
from servelint.admission.patience import Patience
from servelint.admission.workers import BusyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    Ask = Callable[[str, bytes, float], Awaitable[Answer]]

_LOG = logging.getLogger("servelint.admission")
_TOLD = frozenset(("denied", "warned", "failed-open", "failed-closed"))
_SECONDS = re.compile(r"(\d{1,4})s")
_JSON = b"application/json"
_CLOSE = (b"connection", b"close")
_TEXT = b"text/plain; charset=utf-8"


class Disconnected(Exception):
    """Whoever asked has gone."""


class App:
    """ask:  judges a review: (name behind /validate/, body, seconds) -> answer
    ready:   whether it can, at this moment
    paths:   the names behind /validate/ that the policy has
    budget:  seconds that a review may take;  largest: bytes of a body;  most: reviews at a time, which bounds the memory
    patience: seconds for a whole body
    """

    def __init__(
        self,
        ask: Ask,
        metrics: Metrics,
        *,
        ready: Callable[[], bool] = lambda: True,
        paths: frozenset[str] = frozenset(),
        budget: float = 5.0,
        largest: int = 8 << 20,
        most: int = 64,
        patience: float = 10.0,
    ) -> None:
        self.ask = ask
        self.metrics = metrics
        self.stopping = False
        self._ready = ready
        self._paths = paths
        self._budget = budget
        self._largest = largest
        self._most = most
        self._open = 0
        self._patience = patience

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not spoken here")
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
        elif self._open >= self._most:
            await self._review(None, scope, receive, send)
        else:
            self._open += 1
            try:
                await self._review(name, scope, receive, send)
            finally:
                self._open -= 1

    async def _review(self, name: str | None, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """name: None for a review that is too many, whose body is read and thrown away"""
        try:
            with Patience(self._patience):
                body = await self._body(scope, receive, keep=name is not None)
        except asyncio.TimeoutError:
            await self._refuse(send, 408, "the body did not come in time")
        except Disconnected:
            return
        else:
            if body is None:
                await self._refuse(send, 413, f"a review has up to {self._largest} bytes here")
            elif name is None:
                await self._put_off(send, f"{self._most} reviews are open already")
            else:
                await self._answer(name, body, scope, send)

    async def _body(self, scope: dict[str, Any], receive: Receive, *, keep: bool = True) -> bytes | None:
        """The whole body, nothing of it where it is not kept; None where it is too large."""
        length = _header(scope, b"content-length")
        if length.isdigit() and int(length) > self._largest:
            return None
        parts: list[bytes] = []
        size = 0
        while True:
            event = await receive()
            if event["type"] == "http.disconnect":
                raise Disconnected
            part = event.get("body", b"")
            size += len(part)
            if size > self._largest:
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
            await self._put_off(send, "those that wait already would take longer than this review may")
            return
        finally:
            self.metrics.waiting.dec()
        seconds = time.perf_counter() - started
        self.metrics.review(answer.facts, seconds)
        if answer.status != 200:
            self.metrics.http_error(answer.status)
        await self._send(send, answer.status, answer.body, _JSON, [_CLOSE] if answer.status != 200 else None)
        level = logging.INFO if answer.facts["result"] in _TOLD or answer.status != 200 else logging.DEBUG
        if _LOG.isEnabledFor(level):
            _LOG.log(level, "review", extra={"facts": {**answer.facts, "ms": round(seconds * 1000, 1)}})

    def _seconds(self, scope: dict[str, Any]) -> float:
        """How long a review may take: an API server says in the query for how long it waits."""
        asked = _timeout(scope["query_string"]) if scope["query_string"] else None
        return self._budget if asked is None else min(self._budget, max(0.5, asked - 0.5))

    async def _put_off(self, send: Send, message: str) -> None:
        """Refuse a review whose body is read: the connection is kept, as a handshake costs as much as a review."""
        self.metrics.http_error(503)
        await self._send(send, 503, refusal(503, message).body, _JSON, [(b"retry-after", b"1")])

    async def _refuse(self, send: Send, status: int, message: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        self.metrics.http_error(status)
        # what follows on the connection may be the rest of a body that nobody reads
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
    """The seconds in a query: an API server sends the same one each time."""
    found = _SECONDS.fullmatch(parse_qs(query.decode("latin-1")).get("timeout", [""])[0])
    return int(found[1]) if found is not None else None


def _header(scope: dict[str, Any], name: bytes) -> bytes:
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return b""
