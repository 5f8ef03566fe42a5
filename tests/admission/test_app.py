"""The webhook over HTTP, in this process: paths, content types, bounds, health, metrics."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from servelint.admission.answer import Answer, answer
from servelint.admission.app import App, Metrics, Options
from servelint.admission.workers import BusyError
from tests.admission.reviews import BROKEN, SOUND, by, deployment, review

JSON = {"content-type": "application/json"}


class Got:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


def app(*, ready: Callable[[], bool] = lambda: True, **options: Any) -> App:
    given = by("overrides: [{paths: [warn], deny: never}]")

    async def ask(path: str, body: bytes, seconds: float) -> Answer:
        asked.append(seconds)
        return answer(body, given, path)

    asked: list[float] = []
    made = App(ask, Metrics(), Options(**options), ready=ready, paths=given.policy.paths)
    made.asked = asked  # type: ignore[attr-defined]
    return made


def send(
    to: App,
    method: str = "POST",
    path: str = "/validate",
    body: bytes | list[bytes | None] = b"",
    headers: dict[str, str] | None = None,
    query: bytes = b"",
) -> Got:
    """One request. body: parts as they come, None where the client goes away, nothing more where it falls silent"""
    parts = [body] if isinstance(body, bytes) else body
    sent: list[dict[str, Any]] = []

    async def events() -> AsyncIterator[dict[str, Any]]:
        for number, part in enumerate(parts):
            if part is None:
                yield {"type": "http.disconnect"}
            else:
                more = not isinstance(body, bytes) or number + 1 < len(parts)
                yield {"type": "http.request", "body": part, "more_body": more}
        await asyncio.Event().wait()

    async def run() -> None:
        waiting = events()

        async def receive() -> dict[str, Any]:
            return await waiting.__anext__()

        async def out(event: dict[str, Any]) -> None:
            sent.append(event)

        scope = {
            "type": "http", "method": method, "path": path, "query_string": query,
            "headers": [(name.encode(), value.encode()) for name, value in (JSON if headers is None else headers).items()],
        }  # fmt: skip
        await to(scope, receive, out)

    asyncio.run(run())
    if not sent:
        return Got(0, {}, b"")
    return Got(
        sent[0]["status"],
        {name.decode(): value.decode() for name, value in sent[0]["headers"]},
        b"".join([event.get("body", b"") for event in sent[1:]]),
    )


def body(args: list[str]) -> bytes:
    return json.dumps(review(deployment(args))).encode()


def test_a_review_in_parts_is_answered() -> None:
    whole = body(BROKEN)
    parts: list[bytes | None] = [whole[:10], whole[10:500], whole[500:]]
    got = send(app(largest=len(whole)), body=whole)
    assert (got.status, got.headers["content-type"]) == (200, "application/json")
    assert int(got.headers["content-length"]) == len(got.body)
    assert json.loads(got.body)["response"]["allowed"] is False
    assert send(app(idle=0.05), body=parts).status == 408  # the last part says that more comes


def test_a_path_has_its_own_terms() -> None:
    assert json.loads(send(app(), path="/validate/warn", body=body(BROKEN)).body)["response"]["allowed"] is True
    assert send(app(), path="/validate/other", body=body(BROKEN)).status == 404


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"path": "/"}, 404),
        ({"path": "/validated"}, 404),
        ({"path": "/metrics/x"}, 404),
        ({"method": "GET"}, 405),
        ({"method": "POST", "path": "/livez"}, 405),
        ({"headers": {}}, 415),
        ({"headers": {"content-type": "application/yaml"}}, 415),
        ({"headers": {**JSON, "content-encoding": "gzip"}}, 415),
        ({"headers": {**JSON, "content-length": "1000001"}}, 413),
        ({"body": [b"x" * 600_000, b"x" * 600_000]}, 413),
        ({"body": b"garbage"}, 400),
        ({"body": [b"{"]}, 408),
        ({"body": []}, 408),
        ({"body": [b"{", None]}, 0),
    ],
    ids=str,
)
def test_what_is_no_review(request_: dict[str, Any], status: int) -> None:
    to = app(largest=1_000_000, idle=0.05)
    got = send(to, **request_)
    assert got.status == status
    if status:
        assert json.loads(got.body)["message"].startswith("servelint: ")
        assert f'servelint_admission_http_errors_total{{status="{status}"}} 1.0' in metrics(to)
        assert got.headers["connection"] == "close"


def test_a_content_type_may_have_parameters() -> None:
    assert send(app(), body=body(SOUND), headers={"content-type": "Application/JSON; charset=utf-8"}).status == 200


def test_more_reviews_than_are_taken_at_a_time() -> None:
    to = app(reviews=0)
    whole = body(SOUND)
    got = send(to, body=whole)
    assert (got.status, got.headers["retry-after"]) == (503, "1")
    assert "connection" not in got.headers  # its body is read: what follows is another request
    assert 'servelint_admission_http_errors_total{status="503"} 1.0' in metrics(to)
    # one that does not end, or is too large, costs the connection all the same
    assert send(app(reviews=0, idle=0.05), body=[whole[:10]]).status == 408
    assert send(app(reviews=0, largest=10), body=whole).headers["connection"] == "close"
    assert send(app(reviews=0), body=[whole[:10], None]).status == 0


def test_a_review_takes_a_place_until_it_is_answered() -> None:
    asked: list[bytes] = []
    nested: list[Got] = []

    async def ask(path: str, body: bytes, seconds: float) -> Answer:
        asked.append(body)
        if len(asked) == 1:
            nested.append(await asyncio.to_thread(send, to, body=body))
        return answered

    answered = Answer(200, b"{}", {"operation": "CREATE", "result": "allowed"})
    to = App(ask, Metrics(), Options(reviews=1), ready=lambda: True, paths=frozenset())
    assert send(to, body=body(SOUND)).status == 200
    assert [one.status for one in nested] == [503]
    assert send(to, body=body(SOUND)).status == 200


def test_a_review_that_would_not_be_answered_in_its_time() -> None:
    async def ask(path: str, body: bytes, seconds: float) -> Answer:
        raise BusyError

    to = App(ask, Metrics(), Options())
    got = send(to, body=body(SOUND))
    assert (got.status, got.headers["retry-after"]) == (503, "1")
    assert "connection" not in got.headers
    assert "servelint_admission_reviews_in_flight 0.0" in metrics(to)
    to.stopping = True
    assert send(to, body=body(SOUND)).headers["connection"] == "close"


@pytest.mark.parametrize(
    ("query", "seconds"), [(b"", 5), (b"timeout=10s", 5), (b"timeout=3s", 2.5), (b"timeout=1s", 0.5), (b"timeout=x", 5)]
)
def test_an_api_server_says_for_how_long_it_waits(query: bytes, seconds: float) -> None:
    to = app(budget=5)
    send(to, body=body(SOUND), query=query)
    assert to.asked == [seconds]  # type: ignore[attr-defined]


def test_health() -> None:
    ready = [False]
    to = app(ready=lambda: ready[0])
    assert send(to, "GET", "/livez").status == 200
    assert send(to, "GET", "/readyz").status == 503
    ready[0] = True
    assert send(to, "GET", "/readyz").status == 200
    to.stopping = True
    assert (send(to, "GET", "/readyz").status, send(to, "GET", "/readyz").body) == (503, b"stopping\n")
    assert send(to, "GET", "/livez").status == 200
    answered = send(to, body=body(SOUND))
    assert (answered.status, answered.headers["connection"]) == (200, "close")


def metrics(of: App) -> str:
    return send(of, "GET", "/metrics").body.decode()


def test_metrics() -> None:
    to = app()
    for args in (BROKEN, SOUND):
        send(to, body=body(args))
    page = metrics(to)
    assert 'servelint_admission_reviews_total{operation="CREATE",result="denied"} 1.0' in page
    assert 'servelint_admission_reviews_total{operation="CREATE",result="allowed"} 1.0' in page
    assert 'servelint_admission_findings_total{action="deny",rule="vllm/removed-option",severity="error"} 1.0' in page
    assert "servelint_admission_review_duration_seconds_count 2.0" in page
    assert "servelint_admission_reviews_in_flight 0.0" in page
    open_ = send(to, "GET", "/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"})
    assert open_.headers["content-type"].startswith("application/openmetrics-text")
    assert open_.body.endswith(b"# EOF\n")


def test_logs_name_the_object_and_hold_nothing_of_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "servelint.admission"):
        send(app(), body=body([*BROKEN, "--api-key", "sk-live-0123456789abcdefghijklmnop"]))
        send(app(), body=body(SOUND))
    (record,) = caplog.records
    facts = record.facts  # type: ignore[attr-defined]
    assert (facts["result"], facts["namespace"], facts["name"], facts["user"]) == ("denied", "prod", "llm", "somebody")
    assert ["vllm/removed-option", "error", "deny"] in facts["findings"]
    assert "sk-" not in json.dumps(facts)
