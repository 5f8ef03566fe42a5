"""GitLab's code quality report, against the fields that its documentation names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from servelint.report.formats.gitlab import render
from tests.findings import documented, report
from tests.report.kinds import SECRET, mixed

DOCUMENTED = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "additionalProperties": False,
                "properties": {
                    "path": {"type": "string", "not": {"pattern": "^(\\./|/)"}},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}, "end": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
"""docs.gitlab.com, "Code Quality report format"."""


OWN = os.environ.get("SERVELINT_GITLAB_SCHEMA", "")


def valid(text: str) -> Any:
    data = json.loads(text)
    jsonschema.Draft202012Validator(DOCUMENTED).validate(data)
    return data


@pytest.mark.skipif(
    not OWN, reason="SERVELINT_GITLAB_SCHEMA names no copy of GitLab's app/validators/json_schemas/codeclimate.json"
)
def test_by_the_schema_of_gitlab_itself() -> None:
    items = json.loads(render(mixed()))
    assert items
    for item in items:
        jsonschema.validate(item, json.loads(Path(OWN).read_text()))


def test_nothing() -> None:
    assert valid(render(report())) == []


def test_a_finding() -> None:
    assert valid(render(report(documented()))) == [
        {
            "description": "turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops; "
            "write --kv-cache-dtype fp8",
            "check_name": "vllm/turboquant-with-spec-decode",
            "fingerprint": documented().fingerprint,
            "severity": "critical",
            "location": {"path": "deploy/compose.yml", "lines": {"begin": 7, "end": 7}},
        }
    ]


def test_fingerprints_are_unique_and_stay() -> None:
    data = valid(render(mixed()))
    fingerprints = [one["fingerprint"] for one in data]
    assert len(set(fingerprints)) == len(fingerprints) == 10
    assert fingerprints == [one["fingerprint"] for one in valid(render(mixed()))]


def test_a_path_does_not_start_with_a_dot() -> None:
    assert [one["location"]["path"] for one in valid(render(mixed()))][2] == "twice.sh"


def test_severities() -> None:
    severities = [one["severity"] for one in valid(render(mixed()))]
    assert severities == [
        "critical",
        "critical",
        "minor",
        "minor",
        "info",
        "minor",
        "critical",
        "critical",
        "blocker",
        "blocker",
    ]


def test_no_secret_is_written() -> None:
    assert SECRET not in render(mixed())
