"""Bodies that are reviews, and bodies that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.admission.answer import answer
from servelint.admission.request import RefusedError, parse
from tests.admission.reviews import BROKEN, SOUND, answered, by, changed, deployment, pod_spec, review
from tests.together import together

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=[path.stem for path in RECORDED])
class TestRecorded:
    """Requests in the documentation of others."""

    def test_are_answered(self, path: Path) -> None:
        recorded = json.loads(path.read_text())
        response = answered(recorded["review"])
        assert (response["allowed"], response["result"]) == (True, recorded["result"])

    def test_are_judged_with_an_engine_in_them(self, path: Path) -> None:
        recorded = json.loads(path.read_text())["review"]
        for args, allowed in ((SOUND, True), (BROKEN, False)):
            spec = {**recorded["request"]["object"].get("spec", {}), **pod_spec(args)}
            with_engine = changed(recorded, "request", "object", "spec", to=spec)
            with_engine["request"] |= {"subResource": "", "oldObject": None}
            assert answered(with_engine, "owned: judge")["allowed"] is allowed


@together(
    "change, message",
    [
        ({"apiVersion": "admission.k8s.io/v1beta1"}, 'apiVersion is "admission.k8s.io/v1beta1"; write admissionReviewVersions'),
        ({"apiVersion": None}, "apiVersion is missing"),
        ({"kind": "Review"}, 'the body is not an AdmissionReview: its kind is "Review"'),
        ({"request": []}, "request of AdmissionReview is not an object"),
        ({"request": {}}, "request.uid is missing"),
        ({"request": {"uid": 7}}, "request.uid is not a text"),
        ({"request": {"uid": "a"}}, "request.operation is missing"),
        ({"request": {"uid": "a", "operation": "PATCH"}}, 'request.operation is "PATCH"; it is one of CREATE'),
        ({"request": {"uid": "a", "operation": "CREATE", "object": "x"}}, "object of request is not an object"),
        ({"request": {"uid": "a", "operation": "CREATE", "userInfo": []}}, "userInfo of request is not an object"),
    ],
)
def test_what_is_wrong_is_told(change: dict[str, Any], message: str) -> None:
    made = answer(json.dumps({**review(deployment(SOUND)), **change}).encode(), by())
    assert made.status == 400
    assert message in json.loads(made.body)["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[]", b'"sk-secret', b"[" * 200_000, b'{"a":' * 100_000])
def test_garbage_is_refused_and_not_repeated(body: bytes) -> None:
    made = answer(body, by())
    assert made.status == 400
    assert len(made.body) < 400
    assert b"sk-secret" not in made.body


def test_without_a_request() -> None:
    with pytest.raises(RefusedError, match="has no request"):
        parse(b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}')


_TEXT = st.text('ab/{}"\\ \0\x85\u2028\ud800é', max_size=8)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=12,
)
_KEYS = ("uid", "kind", "operation", "object", "oldObject", "userInfo", "namespace", "name", "subResource")


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(_KEYS), _JSON))
def test_any_request_is_answered_or_refused(fields: dict[str, Any]) -> None:
    """What an object holds is the business of its kind: no shape of it makes an error."""
    for operation in ("CREATE", "UPDATE"):
        request = {"uid": "a", "operation": operation, "object": {"vllm": 1}, **fields}
        data = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
        made = answer(json.dumps(data).encode(), by("unjudged: deny"))
        assert made.status in (200, 400)
        assert "itself" not in made.body.decode()


@settings(deadline=None)
@given(_JSON, _JSON)
def test_any_object_is_taken(metadata: Any, spec: Any) -> None:
    thing = {"kind": "Pod", "apiVersion": "v1", "vllm": True, "metadata": metadata, "spec": spec}
    made = answer(json.dumps(review(thing)).encode(), by("unjudged: deny"))
    assert made.status == 200
    assert made.facts["result"] in ("allowed", "warned")
