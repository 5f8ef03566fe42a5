"""reviewdog's rdjson, against the messages of its proto file: fields that are not there make reviewdog refuse the report."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from servelint.core.finding import Edit, Fix
from servelint.core.secrets import Redactions
from servelint.report.formats.rdjson import render
from tests.findings import documented, finding, report, simple
from tests.launching import marked
from tests.report.kinds import SECRET, mixed


def message(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 1}
POSITION = message(["line"], line=COUNT, column=COUNT)
RANGE = message(["start"], start=POSITION, end=POSITION)
SEVERITY = {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]}
SOURCE = message(["name"], name=TEXT, url=TEXT)
DIAGNOSTIC = message(
    ["message", "location"],
    message=TEXT,
    location=message(["path"], path=TEXT, range=RANGE),
    severity=SEVERITY,
    source=SOURCE,
    code=message(["value"], value=TEXT, url=TEXT),
    suggestions={"type": "array", "items": message(["range", "text"], range=RANGE, text=TEXT)},
    original_output=TEXT,
)
RESULT = message(["diagnostics"], diagnostics={"type": "array", "items": DIAGNOSTIC}, source=SOURCE, severity=SEVERITY)


def valid(text: str) -> Any:
    data = json.loads(text)
    jsonschema.Draft202012Validator(RESULT).validate(data)
    return data["diagnostics"]


def test_what_a_validator_of_others_says(tmp_path: Path) -> None:
    """The npm package @umbrelladocs/rdformat-validator, where it is installed."""
    validator = shutil.which("rdformat-validator")
    if validator is None:
        pytest.skip("rdformat-validator is not here")
    for name, text, status in (
        ("ours.json", render(mixed()), 0),
        ("nothing.json", render(report()), 0),
        ("wrong.json", '{"diagnostics": [{"message": "m", "location": {"path": "p", "column": 1}}]}', 1),
    ):
        (tmp_path / name).write_text(text)
        ran = subprocess.run([validator, "--strict", "--no-extra-fields", name], cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == status, ran.stdout + ran.stderr


def taken(text: str, suggestion: Any) -> str:
    """A text after a suggestion was taken, as reviewdog counts: lines, and bytes of UTF-8."""
    lines = text.encode().split(b"\n")
    offsets = [
        sum(len(line) + 1 for line in lines[: place["line"] - 1]) + place["column"] - 1
        for place in (suggestion["range"]["start"], suggestion["range"]["end"])
    ]
    data = text.encode()
    written: str = suggestion["text"]
    return (data[: offsets[0]] + written.encode() + data[offsets[1] :]).decode()


def test_nothing() -> None:
    assert valid(render(report())) == []


def test_a_finding() -> None:
    place = {"start": {"line": 7, "column": 24}, "end": {"line": 7, "column": 39}}
    assert valid(render(report(documented()))) == [
        {
            "message": "turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops; "
            "write --kv-cache-dtype fp8",
            "location": {"path": "deploy/compose.yml", "range": place},
            "severity": "ERROR",
            "code": {"value": "vllm/turboquant-with-spec-decode", "url": "https://github.com/vllm-project/vllm/issues/53180"},
            "suggestions": [{"range": place, "text": "fp8"}],
        }
    ]


def test_everything() -> None:
    found = valid(render(mixed()))
    assert [one["severity"] for one in found] == ["ERROR", "ERROR", *["WARNING"] * 2, "INFO", "WARNING", *["ERROR"] * 4]
    assert found[-2] == {
        "message": r"not valid YAML: \x1b 100%",
        "location": {"path": "a b:c.yml", "range": {"start": {"line": 4}}},
        "severity": "ERROR",
    }


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [("⟦m⟧", (1, 1), (1, 2)), ("a\U00010000⟦b⟧", (1, 6), (1, 7)), ("a\né⟦é\n⟧", (2, 3), (3, 1))],
)
def test_columns_are_bytes(text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
    (found,) = valid(render(report(simple(text))))
    places = found["location"]["range"]
    assert [(places[name]["line"], places[name]["column"]) for name in ("start", "end")] == [start, end]


@pytest.mark.parametrize(
    ("text", "written", "after"),
    [
        ("é ⟦--a 1⟧ --b ⟦2⟧ é\n", ("--c é", "3"), "é --c é --b 3 é\n"),
        ("⟦a \\\n⟧b ⟦c⟧\n", ("", "d"), "b d\n"),
        ("a⟦⟧ b⟦⟧\n", (" 1", " 2"), "a 1 b 2\n"),
    ],
)
def test_several_edits_are_one_suggestion(text: str, written: tuple[str, str], after: str) -> None:
    source, (one, two) = marked("run.sh", text)
    fix = Fix("both", True, [Edit(two, written[1]), Edit(one, written[0])])
    (found,) = valid(render(report(finding(one, fix=fix))))
    (suggestion,) = found["suggestions"]
    assert taken(source.text, suggestion) == after


def test_a_fix_of_several_files_is_no_suggestion() -> None:
    _, (one,) = marked("a.sh", "⟦m⟧")
    _, (two,) = marked("b.sh", "⟦m⟧")
    (found,) = valid(render(report(finding(one, fix=Fix("both", True, [Edit(one, "n"), Edit(two, "n")])))))
    assert "suggestions" not in found


def test_no_secret_is_written() -> None:
    assert SECRET not in render(mixed())
    source, (one, two) = marked("run.sh", f"⟦a⟧ {SECRET} ⟦b⟧")
    source.redactions = Redactions((SECRET,))
    between = finding(one, fix=Fix("both", True, [Edit(one, "c"), Edit(two, "d")]))
    assert SECRET not in render(report(between))
