"""SARIF, against the published schema, and what GitHub code scanning reads of it."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import servelint
from servelint.core.finding import Finding
from servelint.core.result import Report
from servelint.report.formats.sarif import _harmless, descriptor, render
from servelint.rules.load import rules
from tests.findings import documented, finding, report, simple
from tests.launching import marked
from tests.report.kinds import SECRET, mixed, sarif_schema
from tests.rules.test_folder import RULE
from tests.running import Workspace
from tests.syntax import yaml_texts


@lru_cache
def validator() -> Any:
    schema = sarif_schema()
    return jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())


def run_of(report: Report) -> Any:
    """The only run of a report's log, which the schema takes."""
    data = json.loads(render(report))
    validator().validate(data)
    (run,) = data["runs"]
    return run


def result_of(found: Finding) -> Any:
    return run_of(report(found))["results"][0]


def region(text: str) -> Any:
    return result_of(simple(text))["locations"][0]["physicalLocation"]["region"]


def test_the_schema_refuses_what_is_wrong() -> None:
    data = json.loads(render(report(documented())))
    data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startColumn"] = 0
    assert not validator().is_valid(data)


def test_nothing() -> None:
    run = run_of(report())
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_a_finding() -> None:
    run = run_of(report(documented()))
    assert run["columnKind"] == "utf16CodeUnits"
    assert run["tool"]["driver"]["version"] == servelint.__version__
    (result,) = run["results"]
    artifact = {"uri": "deploy/compose.yml", "uriBaseId": "%SRCROOT%"}
    place = {"artifactLocation": artifact, "region": {"startLine": 7, "startColumn": 24, "endLine": 7, "endColumn": 39}}
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "vllm/turboquant-with-spec-decode"
    assert result["level"] == "error"
    assert result["message"]["text"] == (
        "turboquant_k8v4 KV cache with speculative decoding (mtp) falls into token loops; write --kv-cache-dtype fp8 "
        "(see [with this draft method](1), [vLLM 0.27.1; affected: 0.20 and later](2))"
    )
    assert result["locations"] == [
        {"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": "services.llm", "kind": "resource"}]}
    ]
    related = [
        (one["id"], one["message"]["text"], one["physicalLocation"]["region"]["startLine"])
        for one in result["relatedLocations"]
    ]
    assert related == [(1, "with this draft method", 8), (2, "vLLM 0.27.1; affected: 0.20 and later", 4)]
    assert result["partialFingerprints"] == {"primaryLocationLineHash": f"{documented().fingerprint}:1"}
    assert result["fixes"] == [
        {
            "description": {"text": "--kv-cache-dtype fp8 (unsafe: it changes what the launch does)"},
            "artifactChanges": [
                {
                    "artifactLocation": artifact,
                    "replacements": [{"deletedRegion": place["region"], "insertedContent": {"text": "fp8"}}],
                }
            ],
        }
    ]


def test_everything_is_valid() -> None:
    run = run_of(mixed())
    driver = run["tool"]["driver"]["rules"]
    assert all(driver[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])
    assert [one["level"] for one in run["results"]][2:5] == ["warning", "warning", "note"]
    hashes = [one["partialFingerprints"]["primaryLocationLineHash"] for one in run["results"]]
    assert len(set(hashes)) == len(hashes)
    assert [text.rpartition(":")[2] for text in hashes[2:4]] == ["1", "2"]


def test_files_that_could_not_be_read() -> None:
    (invocation,) = run_of(mixed())["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0] == {
        "level": "error",
        "message": {"text": r"not valid YAML: \x1b 100%"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "a%20b%3Ac.yml", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 4},
                }
            }
        ],
    }


@pytest.mark.parametrize(
    ("text", "line", "columns"),
    [
        ("⟦m⟧", 1, (1, 1, 2)),
        ("é⟦m⟧", 1, (2, 1, 3)),
        ("\U0001f600⟦m⟧", 1, (3, 1, 4)),
        ("a\r\n⟦\U0001f600⟧", 2, (1, 2, 3)),
        ("\u2028⟦m⟧", 1, (2, 1, 3)),
        ("⟦⟧m", 1, (1, 1, 1)),
        ("a⟦b\nc⟧d", 1, (2, 2, 2)),
    ],
)
def test_regions_count_utf16(text: str, line: int, columns: tuple[int, int, int]) -> None:
    start, end_line, end = columns
    assert region(text) == {"startLine": line, "startColumn": start, "endLine": end_line, "endColumn": end}


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("./a.sh", "a.sh"),
        ("models/é x#1%.sh", "models/%C3%A9%20x%231%25.sh"),
        ("a:b?c.sh", "a%3Ab%3Fc.sh"),
        ("../a.sh", "../a.sh"),
        ("a\udcff.sh", "a%FF.sh"),
    ],
)
def test_addresses(path: str, uri: str) -> None:
    found = result_of(simple("⟦m⟧", path))
    assert found["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri, "uriBaseId": "%SRCROOT%"}


def test_an_address_in_the_current_folder_is_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inside = result_of(simple("⟦m⟧", str(tmp_path / "x" / "a.sh")))
    outside = result_of(simple("⟦m⟧", str(tmp_path.parent / "a b.sh")))
    assert inside["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "x/a.sh"
    artifact = outside["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (tmp_path.parent / "a b.sh").as_uri()}


@pytest.mark.parametrize(
    ("message", "related", "text"),
    [
        ("a [b](c)", None, "a \\[b](c)"),
        ("a [b] (c)", None, "a [b] (c)"),
        ("a", "x [1] \\", "a (see [x \\[1\\] \\\\](1))"),
        ("a", "", "a (see [here](1))"),
    ],
)
def test_links(message: str, related: str | None, text: str) -> None:
    _, (mark, other) = marked("run.sh", "⟦m⟧ ⟦n⟧")
    places = [] if related is None else [(other, related)]
    assert result_of(finding(mark, *places, message=message, advice=""))["message"]["text"] == text


def test_no_secret_is_written() -> None:
    text = render(mixed())
    assert SECRET not in text
    assert "fixes" not in json.loads(text)["runs"][0]["results"][-1]


def descriptors() -> dict[str, Any]:
    _, (mark,) = marked("run.sh", "⟦m⟧")
    return {rule.id: descriptor(finding(mark, rule=rule.id), ()) for rule in rules()[::3]}


@pytest.mark.book
def test_what_is_told_of_every_third_rule() -> None:
    found = descriptors()
    log = json.loads(render(report()))
    log["runs"][0]["tool"]["driver"]["rules"] = list(found.values())[::3]
    validator().validate(log)
    levels = {"error": ("error", "error"), "warning": ("warning", "warning"), "info": ("note", "recommendation")}
    for rule in rules()[::3]:
        said = found[rule.id]
        assert said["id"] == rule.id
        assert 0 < len(said["shortDescription"]["text"]) <= 1024
        assert 0 < len(said["fullDescription"]["text"]) <= 1024
        assert rule.title in said["help"]["text"]
        assert said["help"]["markdown"].startswith(f"# {rule.id}\n")
        properties = said["properties"]
        assert (said["defaultConfiguration"]["level"], properties["problem.severity"]) == levels[rule.severity]
        assert properties["precision"] == rule.confidence
        assert ("security-severity" in properties) == (rule.impact == "security") == ("security" in properties["tags"])
        assert 0 < float(properties.get("security-severity", "1")) <= 10


def test_a_rule_of_our_own_that_has_no_file() -> None:
    _, (mark,) = marked("run.sh", "⟦m⟧")
    said = descriptor(finding(mark, rule="servelint/unused-ignore", severity="warning"), ())
    assert said["shortDescription"] == {"text": "An ignore comment that silences nothing"}
    assert said["properties"]["problem.severity"] == "warning"


def test_a_rule_of_a_users_folder(workspace: Workspace) -> None:
    workspace.file("rules/policy/no-remote-code.yaml", RULE)
    workspace.file("run.sh", "vllm serve Qwen/Qwen3-8B --trust-remote-code\n")
    ran = workspace.run("check", "--rules", "rules", "--select", "policy/*", "--format", "sarif", "run.sh")
    validator().validate(ran.data)
    (said,) = ran.data["runs"][0]["tool"]["driver"]["rules"]
    assert said["shortDescription"] == {"text": "Code of a model repository is not run here"}
    assert said["fullDescription"]["text"].startswith("The cluster runs with credentials that ")
    assert said["properties"] == {
        "tags": ["security", "policy"],
        "precision": "high",
        "problem.severity": "error",
        "security-severity": "8.0",
    }


def test_in_the_page_of_somebody_elses_rule_nothing_is_markup(workspace: Workspace) -> None:
    evil = "<img src=x> [a](javascript:b) `c`"
    data = yaml_texts.load(RULE)
    data |= {"title": f"A title {evil}", "why": f"Because {evil}\n\nand {evil} again, and once more"}
    workspace.file(f"policy/{data['id']}.yaml", yaml_texts.dump(data))
    workspace.file("run.sh", "vllm serve m --trust-remote-code\n")
    out = workspace.run("check", "run.sh", "--rules", "policy", "--select", "policy/*", "--format", "sarif").data
    (told,) = out["runs"][0]["tool"]["driver"]["rules"]
    assert r"&lt;img src=x&gt; \[a\]\(javascript\:b\) \`c\`" in told["help"]["markdown"]
    assert "<img" not in told["help"]["markdown"]


def test_addresses_and_texts_of_a_foreign_rule_are_no_markup() -> None:
    rule = {"title": "<b>", "advice": "", "why": "a\n b\n\n c", "evidence": [{"url": "https://a/<`b`> c", "says": "<i>"}]}
    assert _harmless(rule) == {
        "title": "&lt;b&gt;",
        "advice": "",
        "why": "a b\n\nc",
        "evidence": [{"url": "https://a/bc", "says": "&lt;i&gt;"}],
    }
