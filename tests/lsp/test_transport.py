"""Messages out of bytes, however these come."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from servelint.lsp.transport import Broken, Frames, serve_port
from tests.lsp.raw import framed

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
MESSAGES: list[Any] = [{"a": "\u00e9"}, [1, 2], {"b": "x" * 300}, {}]


def read(data: bytes, cuts: list[int]) -> list[Any]:
    frames, found, done = Frames(), [], 0
    for cut in [*sorted(cuts), len(data)]:
        found += list(frames.feed(data[done:cut]))
        done = max(done, cut)
    return ["broken" if isinstance(one, Broken) else one for one in found]


@PATIENT
@given(st.lists(st.integers(0, 450), max_size=8))
def test_in_any_pieces(cuts: list[int]) -> None:
    assert read(b"".join(map(framed, MESSAGES)), cuts) == MESSAGES


@pytest.mark.parametrize(
    "header",
    [
        b"content-length:2\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"noise\r\n\r\nContent-Length: 2\r\n\r\n",
        b"noise Content-Length: 2\r\n\r\n",
    ],
)
def test_headers(header: bytes) -> None:
    assert read(header + b"{}" + framed([3]), []) == [{}, [3]]


@pytest.mark.parametrize("wrong", [-2, -1, 1, 5, 40])
@PATIENT
@given(st.lists(st.integers(0, 200), max_size=4))
def test_a_wrong_length_costs_its_message_alone(wrong: int, cuts: list[int]) -> None:
    body = b'{"a": [1, 2]}'
    data = b"Content-Length: %d\r\n\r\n%b" % (len(body) + wrong, body) + b"".join(map(framed, MESSAGES))
    assert read(data, cuts) == ["broken", *MESSAGES]


def test_a_length_that_nothing_has() -> None:
    assert read(b"Content-Length: 123456789012\r\n\r\n" + framed([3]), []) == [[3]]


def test_the_address_of_a_free_port_is_told() -> None:
    told: list[tuple[str, int]] = []

    def ready(host: str, port: int) -> None:
        told.append((host, port))
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    def no_client() -> Any:
        raise AssertionError

    with pytest.raises(asyncio.CancelledError):
        serve_port(no_client, "127.0.0.1", 0, ready)
    ((host, port),) = told
    assert (host, port > 0) == ("127.0.0.1", True)
