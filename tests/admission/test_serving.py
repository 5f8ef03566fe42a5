"""The real server, over TLS: who sends nothing, who sends garbage, a certificate that changes, a process that ends, a stop."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trustme
import uvicorn
from uvicorn.server import ServerState

from servelint.admission.app import Options
from servelint.admission.serving import protocol
from tests.admission.reviews import BROKEN, SOUND, deployment, review

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a signal stops it")


class Running:
    """A server in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.ca = trustme.CA()
        self.folder = folder
        self.write_certificate()
        (folder / "policy.yaml").write_text("overrides: [{paths: [warn], deny: never}]")
        words = [
            "admission", "--listen=127.0.0.1:0", f"--tls-cert={folder}/tls.crt", f"--tls-key={folder}/tls.key", "--workers=1",
            f"--policy={folder}/policy.yaml", "--idle=3", "--log-level=debug", "--drain=0", *options,
        ]  # fmt: skip
        self.process = subprocess.Popen([sys.executable, "-m", "servelint", *words], stderr=subprocess.PIPE, text=True)
        self.lines: list[dict[str, Any]] = []
        self.port = int(self.told("listening")["port"])

    def write_certificate(self) -> None:
        made = self.ca.issue_cert("localhost")
        for name, blobs in (("tls.key", [made.private_key_pem]), ("tls.crt", made.cert_chain_pems)):
            (self.folder / f"{name}.new").write_bytes(b"".join([blob.bytes() for blob in blobs]))
            os.replace(self.folder / f"{name}.new", self.folder / name)

    def told(self, message: str) -> dict[str, Any]:
        """The next line of the log with a message."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(json.loads(line))
            if self.lines[-1]["message"] == message:
                return self.lines[-1]
        raise AssertionError(f"it ended without {message!r}: {self.lines}")

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self.ca.configure_trust(context)
        return context

    def connection(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("localhost", self.port, context=self.context(), timeout=60)

    def ask(self, method: str = "GET", path: str = "/livez", body: bytes | None = None) -> tuple[int, bytes]:
        with closing(self.connection()) as connection:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()

    def review(self, args: list[str], path: str = "/validate") -> dict[str, Any]:
        status, body = self.ask("POST", path, json.dumps(review(deployment(args))).encode())
        assert status == 200, body
        found: dict[str, Any] = json.loads(body)["response"]
        return found

    def plain(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def secured(self) -> ssl.SSLSocket:
        one = self.plain()
        try:
            return self.context().wrap_socket(one, server_hostname="localhost")
        except BaseException:
            one.close()
            raise

    def worker(self) -> int:
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            (pid,) = file.read().split()
        return int(pid)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()
            if self.process.stderr is not None:
                self.process.stderr.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("server"))
    yield running
    assert running.stop() == 0


def test_reviews_and_probes(server: Running) -> None:
    assert server.review(SOUND)["allowed"]
    assert not server.review(BROKEN)["allowed"]
    assert server.review(BROKEN, "/validate/warn")["warnings"]
    assert server.ask(path="/readyz") == (200, b"ok\n")
    assert b"servelint_admission_certificate_expiry_timestamp_seconds" in server.ask(path="/metrics")[1]


def test_a_connection_is_kept(server: Running) -> None:
    with closing(server.connection()) as connection:
        connection.connect()
        kept = connection.sock
        for _ in range(3):
            connection.request("GET", "/livez")
            assert connection.getresponse().read() == b"ok\n"
            assert connection.sock is kept


def ended(one: socket.socket) -> bytes:
    """What the server sends until it ends the connection."""
    found = b""
    with suppress(ConnectionError, ssl.SSLError):
        while part := one.recv(4096):
            found += part
    return found


def test_who_sends_nothing_is_sent_away(server: Running) -> None:
    with ExitStack() as stack:
        plain, silent, slow, second, body = [
            stack.enter_context(one) for one in (server.plain(), *[server.secured() for _ in range(4)])
        ]
        slow.sendall(b"POST /validate HTTP/1.1\r\nHost: ")
        second.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /li")  # after a request that was whole
        body.sendall(_HEAD + b"Content-Length: 9\r\n\r\n{")
        assert [ended(one) for one in (plain, silent, slow)] == [b"", b"", b""]
        assert ended(second).count(b"HTTP/1.1 ") == 1
        assert ended(body).startswith(b"HTTP/1.1 408 ")
    assert server.review(SOUND)["allowed"]


_HEAD = b"POST /validate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x00\xff" * 4096, b"400"),
        (b"GET / HTTX\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 100_000, b"400"),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000, b"400"),
        (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"not a chunk\r\n", b"400"),
        (_HEAD + b"Content-Length: 999999999999\r\n\r\n", b"413"),
        (_HEAD + b"Content-Length: 5\r\n\r\n\xff\xfe\x00\x01\x02", b"400"),
        (_HEAD + b"Content-Length: 7\r\nContent-Length: 8\r\n\r\n", b"400"),
    ],
    ids=lambda value: value[:16] if isinstance(value, bytes) else "",
)
def test_garbage_is_refused(server: Running, sent: bytes, status: bytes) -> None:
    with server.secured() as one:
        with suppress(ConnectionError, ssl.SSLError):  # it may have been sent away already
            one.sendall(sent)
        assert ended(one)[9:12] in (status, b"")
    assert server.ask()[0] == 200


def test_what_is_no_tls_is_sent_away(server: Running) -> None:
    with server.plain() as one:
        one.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"HTTP/1.1" not in ended(one)
    assert server.ask()[0] == 200


def test_chunks_without_end_are_cut_off(server: Running) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with server.secured() as one:
        one.sendall(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        sent = 0
        with suppress(OSError):
            while sent < 64 << 20:
                one.sendall(chunk)
                sent += len(chunk)
        assert sent < 64 << 20
    assert server.ask()[0] == 200


def test_a_process_that_ends_is_replaced(server: Running) -> None:
    os.kill(server.worker(), signal.SIGKILL)
    response = server.review([*SOUND, "--seed", "1"])
    assert response["allowed"]
    assert server.told("a judging process is replaced")["reason"] == "ended"
    assert not server.review(BROKEN)["allowed"]


def test_a_review_that_is_too_many_keeps_its_connection_and_a_stop_answers_what_is_open(tmp_path: Path) -> None:
    running = Running(tmp_path, "--max-reviews=1", "--budget=60", "--drain=30")  # one for both: a start takes seconds
    worker = running.worker()
    os.kill(worker, signal.SIGSTOP)
    body = json.dumps(review(deployment(BROKEN))).encode()
    with closing(running.connection()) as first, closing(running.connection()) as second:
        first.request("POST", "/validate", body, {"Content-Type": "application/json"})
        while b"reviews_in_flight 1.0" not in running.ask(path="/metrics")[1]:
            pass
        second.connect()
        kept = second.sock
        for _ in range(3):
            second.request("POST", "/validate", body, {"Content-Type": "application/json"})
            response = second.getresponse()
            assert (response.status, response.headers["retry-after"]) == (503, "1")
            assert b"1 reviews are already open" in response.read()
            assert second.sock is kept
        os.kill(worker, signal.SIGCONT)
        assert json.loads(first.getresponse().read())["response"]["allowed"] is False
        second.request("POST", "/validate", body, {"Content-Type": "application/json"})
        assert json.loads(second.getresponse().read())["response"]["allowed"] is False
        assert second.sock is kept
    with closing(running.connection()) as other:
        other.request("GET", "/readyz")
        assert other.getresponse().read() == b"ok\n"
        running.process.send_signal(signal.SIGTERM)
        running.told("stopping")
        other.request("GET", "/readyz")
        response = other.getresponse()
        assert (response.status, response.headers["connection"], response.read()) == (503, "close", b"stopping\n")
    assert not running.review(BROKEN)["allowed"]
    running.process.send_signal(signal.SIGINT)  # somebody is in a hurry
    assert running.process.wait(60) == 0
    assert running.stop() == 0


def test_a_process_that_takes_too_long_is_replaced(tmp_path: Path) -> None:
    running = Running(tmp_path, "--budget=0.5")
    worker = running.worker()
    os.kill(worker, signal.SIGSTOP)
    response = running.review(BROKEN)
    assert response["allowed"]
    assert response["warnings"] == ["servelint could not judge Deployment prod/llm: no answer within 0.5 s; it is accepted"]
    assert running.told("a judging process is replaced")["reason"] == "timeout"
    assert running.stop() == 0


def test_a_new_certificate_is_taken_without_a_restart(server: Running) -> None:
    with server.secured() as before:
        first = before.getpeercert(binary_form=True)
    server.write_certificate()
    server.told("the certificate was changed")
    with server.secured() as after:
        assert after.getpeercert(binary_form=True) != first
    (server.folder / "tls.crt").write_text("no certificate")
    kept = server.told("the certificate was changed and cannot be loaded; the former one is kept")
    assert kept["why"].startswith(f"{server.folder}/tls.crt and {server.folder}/tls.key are not a certificate and its key")
    assert server.ask()[0] == 200


def test_connections_past_the_limit_are_ended_and_idle_ones_later() -> None:
    waiting: list[tuple[float, Callable[[], None]]] = []
    ended: list[str] = []
    loop: Any = SimpleNamespace(call_later=lambda seconds, call: waiting.append((seconds, call)))
    made = protocol(Options(connections=2, idle=7))
    config = uvicorn.Config(lambda scope: None, http=made, ws="none", lifespan="off", log_config=None)
    state = ServerState()
    for name in ("first", "second", "third"):
        transport: Any = SimpleNamespace(
            abort=partial(ended.append, name), get_extra_info=lambda key: None, is_closing=lambda name=name: name == "first"
        )
        made(config, state, {}, loop).connection_made(transport)
    assert (ended, [seconds for seconds, _ in waiting]) == (["third"], [7, 7])
    for _, call in waiting:
        call()
    assert ended == ["third", "second"]  # the first is closing already


def test_an_address_that_is_taken(server: Running) -> None:
    words = ["admission", f"--listen=127.0.0.1:{server.port}", "--plain-http", "--workers=1"]
    ran = subprocess.run([sys.executable, "-m", "servelint", *words], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 2
    assert "address already in use" in json.loads(ran.stderr.splitlines()[0])["message"]


def test_many_at_a_time(server: Running) -> None:
    found: list[bool] = []

    def ask(number: int) -> None:
        found.append(server.review([*(BROKEN if number % 2 else SOUND), "--seed", str(number)])["allowed"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [False] * 8 + [True] * 8
