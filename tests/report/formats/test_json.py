"""The JSON report, against its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import servelint
from servelint.core.finding import Edit, Fix
from servelint.core.judged import totals
from servelint.core.launch import ReleaseClaim
from servelint.core.problem import Problem
from servelint.engines.catalog import freshness
from servelint.filters.suppressions import Suppression
from servelint.report.formats import RenderOptions
from servelint.report.formats.json import render
from tests.book import as_written
from tests.findings import documented, finding, report
from tests.launching import marked
from tests.running import Workspace
from tests.together import together
from tests.wrapping import CLOSE, OPEN

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "schemas" / "report.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
RULES = as_written()


def valid(text: str) -> Any:
    """The report's data, which the schema takes."""
    data = json.loads(text)
    VALIDATOR.validate(data)
    return data


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_finding() -> None:
    assert valid(render(report(documented(), files=3))) == {
        "servelint": servelint.__version__,
        "files": 3,
        "launches": 1,
        "data": freshness(),
        "totals": dict.fromkeys(totals([]), 0),
        "judged": [],
        "without_launch": [],
        "findings": [
            {
                "rule": "vllm/turboquant-with-spec-decode",
                "severity": "error",
                "confidence": "high",
                "impact": "wrong-output",
                "message": "turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops; "
                "write --kv-cache-dtype fp8",
                "path": "deploy/compose.yml",
                "start": {"line": 7, "column": 24},
                "end": {"line": 7, "column": 39},
                "launch": {"engine": "vllm", "version": "0.27.1", "version_from": "image", "name": "services.llm"},
                "versions": ">=0.20",
                "advice": "write --kv-cache-dtype fp8",
                "related": [
                    {
                        "path": "deploy/compose.yml",
                        "start": {"line": 8, "column": 40},
                        "end": {"line": 8, "column": 43},
                        "message": "with this draft method",
                    },
                    {
                        "path": "deploy/compose.yml",
                        "start": {"line": 4, "column": 30},
                        "end": {"line": 4, "column": 36},
                        "message": "vLLM 0.27.1; affected: 0.20 and later",
                    },
                ],
                "fix": {
                    "title": "--kv-cache-dtype fp8",
                    "safe": False,
                    "edits": [
                        {
                            "path": "deploy/compose.yml",
                            "start": {"line": 7, "column": 24},
                            "end": {"line": 7, "column": 39},
                            "text": "fp8",
                        }
                    ],
                },
                "evidence": ["https://github.com/vllm-project/vllm/issues/53180 (reproduced on stock v0.27.1)"],
                "fingerprint": documented().fingerprint,
            }
        ],
        "errors": [],
    }


def test_errors() -> None:
    found = report(files=2)
    found.errors = [Problem("bad.yml", "not valid YAML: did not find expected key", 4, 7), Problem("gone", "cannot be read")]
    assert valid(render(found))["errors"] == [
        {"path": "bad.yml", "line": 4, "column": 7, "message": "not valid YAML: did not find expected key"},
        {"path": "gone", "line": 1, "column": 1, "message": "cannot be read"},
    ]


def test_a_finding_on_a_comment_of_our_own_has_no_launch() -> None:
    _, (mark,) = marked("run.sh", "# ⟦servelint: ignore⟧")
    (data,) = valid(render(report(finding(mark, launch=None, affected="", evidence=[]))))["findings"]
    assert (data["launch"], data["fix"], data["related"], data["evidence"]) == (None, None, [], [])


def test_columns_count_code_points() -> None:
    _, (mark,) = marked("run.sh", "\U0001f600\u4e2de\u0301\t⟦m⟧")
    (data,) = valid(render(report(finding(mark))))["findings"]
    assert (data["start"], data["end"]) == ({"line": 1, "column": 6}, {"line": 1, "column": 7})


def test_a_fix_that_deletes_a_line_ends_on_the_next() -> None:
    _, (mark, line) = marked("run.sh", "A=⟦1⟧\n⟦B=2\n⟧vllm serve m\n")
    (data,) = valid(render(report(finding(mark, fix=Fix("delete B", True, [Edit(line, "")])))))["findings"]
    (edit,) = data["fix"]["edits"]
    assert (edit["start"], edit["end"], edit["text"]) == ({"line": 2, "column": 1}, {"line": 3, "column": 1}, "")


@together("text", ['"', "\\", "\n", "\x1b[31m", "\u2028", "\ud800", "\x00", "</script>", "\u4e2d"])
def test_any_text_comes_back_as_it_is(text: str) -> None:
    _, (mark,) = marked("run.sh", "⟦m⟧")
    (data,) = valid(render(report(finding(mark, message=text, advice=""))))["findings"]
    assert data["message"] == text.replace("\ud800", r"\ud800")


class TestFingerprint:
    def of(self, text: str, path: str = "run.sh", name: str = "services.llm", rule: str = "vllm/some-rule") -> str:
        _, (mark,) = marked(path, text)
        return finding(mark, rule=rule, launch=name, claim=ReleaseClaim()).fingerprint

    def test_is_the_same_on_another_line(self) -> None:
        assert self.of("vllm serve ⟦m⟧") == self.of("\n\n  vllm serve --port 1 ⟦m⟧")

    def test_is_another_for_another_rule_path_launch_or_text(self) -> None:
        prints = {
            self.of("⟦m⟧"),
            self.of("⟦n⟧"),
            self.of("⟦m⟧", path="other.sh"),
            self.of("⟦m⟧", name="services.other"),
            self.of("⟦m⟧", rule="vllm/other-rule"),
        }
        assert len(prints) == 5


@pytest.mark.parametrize(
    ("text", "options", "version", "version_from"),
    [
        ("docker run vllm/vllm-openai:v0.20.0 --model m", [], "0.20.0", "image"),
        ("docker run vllm/vllm-openai:v0.20.0 --model m", ["--engine-version", "vllm=0.19.1"], "0.20.0", "image"),
        ("pip install vllm==0.20.0\nvllm serve m", [], "0.20.0", "pip"),
        ("pip install 'vllm>=0.20'\nvllm serve m", [], None, None),
        ("vllm serve m", [], None, None),
        ("vllm serve m", ["--engine-version", "vllm=0.19.1"], "0.19.1", "settings"),
        ("docker run vllm/vllm-openai:latest --model m", [], "0.33.0", "image"),
        ("docker run vllm/vllm-openai:latest --model m", ["--engine-version", "vllm=0.19.1"], "0.19.1", "settings"),
    ],
)
def test_the_release_and_what_names_it(
    text: str, options: list[str], version: str | None, version_from: str | None, workspace: Workspace
) -> None:
    workspace.file("run.sh", text + " --gpu-memory-utilization 1.5\n")
    (data,) = valid(workspace.run("check", "run.sh", "--format", "json", "--ignore", "container/*", *options).out)["findings"]
    assert (data["launch"]["version"], data["launch"]["version_from"]) == (version, version_from)


@pytest.mark.book
def test_findings_of_every_eighth_rule_are_valid(workspace: Workspace) -> None:
    for rule in RULES[::8]:
        for number, example in enumerate(rule["examples"]["bad"][:1]):
            if "text" in example:
                workspace.file(f"{rule['id']}-{number}-{example['file']}", example["text"].replace(OPEN, "").replace(CLOSE, ""))
                continue
            run = example["run"].replace(OPEN, "").replace(CLOSE, "")
            exports = "".join([f'export {name}="{value}"\n' for name, value in example.get("env", {}).items()])
            workspace.file(f"{rule['id']}-{number}.sh", exports.replace(OPEN, "").replace(CLOSE, "") + run + "\n")
    workspace.file("bad.yml", "services: [ # vllm")
    data = valid(workspace.run("check", ".", "--format", "json", "--profile", "audit").out)
    assert data["findings"]
    assert len(data["errors"]) == 1


def test_branches_of_a_script(workspace: Workspace) -> None:
    workspace.file("run.sh", 'R=\n[ -n "$A" ] && R=--no-such-option\nvllm serve m $R\n')
    data = valid(workspace.run("check", "--engine-version", "vllm=0.27.1", "run.sh", "--format", "json").out)
    (found,) = data["findings"]
    assert found["branches"] == [{"line": 2, "column": 1, "text": '[ -n "$A" ]', "taken": True}]
    assert ", if the branch at line 2 is taken" in found["message"]


def test_a_suppression_and_what_it_hides() -> None:
    hidden = documented()
    every = [
        Suppression("comment", "vllm/x", "a.sh", 2, 3, "as said", [hidden]),
        Suppression("setting", "b", "--exclude", 0, 0),
    ]
    first, second = valid(render(report(), RenderOptions(suppressions=every)))["suppressions"]
    assert (first["reason"], first["path"], first["line"], first["said_by"]) == ("as said", "a.sh", 2, None)
    assert first["hidden"] == [
        {
            "rule": hidden.rule,
            "severity": "error",
            "message": hidden.message,
            "path": "deploy/compose.yml",
            "line": 7,
            "column": 24,
        }
    ]
    assert (second["path"], second["line"], second["said_by"], second["hidden"]) == (None, None, "--exclude", None)
