"""What a process that judges has seen before it says that it is up."""

from __future__ import annotations

import io
import json

import pytest

from servelint.admission import worker
from servelint.admission.answer import Answer, Rules, answer
from servelint.core.source import Source
from servelint.engines import ENGINE_NAMES
from servelint.files.siblings import Neighbours
from servelint.readers import kubernetes
from servelint.syntax import yaml
from tests.admission.reviews import BROKEN, SOUND, by, deployment, review


def test_a_launch_of_each_engine_is_judged_before(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Answer] = []
    engines: dict[str, list[str | None]] = {}

    def watched(body: bytes, given: Rules) -> Answer:
        source = Source("object.json", json.dumps(json.loads(body)["request"]["object"]))
        for launch in kubernetes.read(source, yaml.documents(source)[0], Neighbours(None)):
            engines.setdefault(launch.engine, []).append(launch.release.release)
        answers.append(answer(body, given))
        return answers[-1]

    monkeypatch.setattr(worker, "answer", watched)
    worker.warm(by())
    assert engines.keys() == ENGINE_NAMES.keys()
    assert {None, "0.19.1"} <= set(engines["vllm"])
    assert {one.facts["result"] for one in answers} == {"denied", "warned", "allowed"}


def test_reviews_are_answered_until_there_are_no_more() -> None:
    bodies = [json.dumps(review(deployment(args))).encode() for args in (BROKEN, SOUND)]
    frames = [worker.LENGTHS.pack(4, len(body)) + b"warn" + body for body in bodies]
    out = io.BytesIO()
    worker.serve(by("overrides: [{paths: [warn], deny: never}]"), io.BytesIO(b"".join(frames)), out)
    out.seek(0)
    results: list[tuple[int, str, bool]] = []
    while lengths := out.read(worker.LENGTHS.size):
        facts, body = (out.read(length) for length in worker.LENGTHS.unpack(lengths))
        results.append((json.loads(facts)["status"], json.loads(facts)["result"], json.loads(body)["response"]["allowed"]))
    assert results == [(200, "warned", True), (200, "allowed", True)]
