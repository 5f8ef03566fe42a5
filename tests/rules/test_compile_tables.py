"""Tables of rules: the rules that rows stand for, what is wrong with a table, and where the rule of a row is found."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from servelint.core.source import Source
from servelint.lsp import diagnostics
from servelint.rules import compile as compiling
from servelint.rules.compile import RuleError, compile_book, file_of, find_rule, read_rules, rule_files
from servelint.rules.load import rule_folder, rules
from servelint.syntax import yaml_values

ROOT = Path(__file__).parent.parent.parent
TABLES = [path for path in rule_files(str(ROOT / "rules")) if os.path.basename(path).startswith("_")]
TABLE: dict[str, Any] = {
    "columns": {"option": "the option", "refused": "what is not taken"},
    "each": {
        "title": "--<option> is out of range",
        "severity": "error",
        "confidence": "high",
        "impact": "crash-at-start",
        "engine": "vllm",
        "versions": ">=0.6",
        "when": {"<option>": "<refused>"},
        "at": ["<option>"],
        "message": "{release} refuses --<option> {<option>}",
        "advice": "write another",
        "fix": {"delete": ["<option>"], "safe": False},
        "evidence": [{"url": "https://example.invalid/1", "says": "so"}],
    },
    "rows": {
        "port-negative": {"option": "port", "refused": {"below": 0}},
        "seed-nine": {"option": "seed", "refused": 9, "severity": "warning", "fix": None},
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vllm").mkdir()
    return tmp_path


def changed(**changes: Any) -> dict[str, Any]:
    return {**TABLE, **changes}


def test_a_row_is_a_rule() -> None:
    port, _ = compiling.rules_of_table(TABLE, "vllm")
    assert (port["id"], port["title"]) == ("vllm/port-negative", "--port is out of range")
    assert (port["when"], port["at"]) == ({"port": {"below": 0}}, ["port"])
    assert (port["message"], port["fix"]) == ("{release} refuses --port {port}", {"delete": ["port"], "safe": False})
    assert (port["severity"], port["versions"]) == ("error", ">=0.6")
    assert "option" not in port


def test_a_row_s_own_field_takes_the_place_of_the_table_s() -> None:
    _, seed = compiling.rules_of_table(TABLE, "vllm")
    assert (seed["severity"], seed["when"]) == ("warning", {"seed": 9})
    assert "fix" not in seed


def test_a_cell_in_a_longer_text_is_text() -> None:
    each = {**TABLE["each"], "advice": "not <refused>"}
    rows = {"seed-nine": {"option": "seed", "refused": 9}}
    (seed,) = compiling.rules_of_table(changed(each=each, rows=rows), "vllm")
    assert (seed["when"], seed["advice"]) == ({"seed": 9}, "not 9")


def test_rows_of_a_table_beside_the_areas_name_theirs() -> None:
    rows = {"sglang/port-negative": TABLE["rows"]["port-negative"]}
    assert [rule["id"] for rule in compiling.rules_of_table(changed(rows=rows), "")] == ["sglang/port-negative"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "a table has columns, each and rows"),
        ({"columns": {}, "rows": {}}, "a table has columns, each and rows"),
        (changed(columns={"option": "the option"}), "each.when: there is no column refused"),
        (
            changed(rows={"a-b": {"option": "port"}}),
            "vllm/a-b: it has no refused, which its when is made of",
        ),
        (
            changed(rows={"a-b": {"option": "port", "refused": 1, "when": {"port": 1}}}),
            "vllm/a-b: nothing uses its refused",
        ),
        (
            changed(rows={"a-b": {"option": "port", "refused": 1, "why": "of <option>"}}),
            "vllm/a-b: its own why has <option>; only the fields of `each` are filled",
        ),
    ],
)
def test_what_is_wrong_with_a_table(wrong: Any, message: str, folder: Path) -> None:
    path = folder / "vllm" / "_some.yaml"
    path.write_text(json.dumps(wrong), encoding="utf-8")
    with pytest.raises(RuleError) as raised:
        compile_book(str(folder))
    assert str(raised.value) == f"{path}: {message}"


def test_two_rules_of_one_name(folder: Path) -> None:
    (folder / "vllm" / "_one.yaml").write_text(json.dumps(TABLE), encoding="utf-8")
    (folder / "vllm" / "_two.yaml").write_text(json.dumps(TABLE), encoding="utf-8")
    with pytest.raises(RuleError, match="vllm/port-negative: there are two rules of this name"):
        compile_book(str(folder))


class TestWhereARuleIs:
    @pytest.mark.parametrize(
        ("rule", "path"),
        [
            ("vllm/awq-with-bfloat16", "vllm/awq-with-bfloat16.yaml"),
            ("trtllm/stream-interval-not-positive", "trtllm/_bounds.yaml"),
            ("vllm/cve-2025-32444", "_advisories.yaml"),
            ("vllm/unknown-option", "catalog/unknown-option.yaml"),
            ("vllm/no-such-rule", None),
            ("nowhere/at-all", None),
        ],
    )
    def test_by_its_name(self, rule: str, path: str | None) -> None:
        found = file_of(rule, rule_folder())
        assert (found and Path(found).relative_to(rule_folder()).as_posix()) == path

    def test_the_rows_of_every_table_are_found(self) -> None:
        for path in TABLES:
            rows = read_rules(path, rule_folder())
            for rule in {row["id"]: row for row in (rows[0], rows[len(rows) // 2], rows[-1])}.values():
                assert file_of(rule["id"], rule_folder()) == path
                assert find_rule(rule["id"], rule_folder()) == rule

    def test_an_editor_opens_its_file(self) -> None:
        assert diagnostics._page("vllm/cve-2025-32444", ()) == str(ROOT / "rules" / "_advisories.yaml")
        assert diagnostics._page("team/no-such-rule", ()) is None


@pytest.mark.parametrize("path", TABLES, ids=[Path(path).relative_to(ROOT / "rules").as_posix() for path in TABLES])
def test_servelint_s_own_tables(path: str) -> None:
    assert {rule["id"] for rule in read_rules(path, rule_folder())} <= {rule.id for rule in rules()}
    data = yaml_values.load(Source(path, Path(path).read_text(encoding="utf-8")))
    jsonschema.Draft202012Validator(json.loads((ROOT / "schemas" / "rule-table.schema.json").read_text())).validate(data)
    fields = json.loads((ROOT / "schemas" / "rule.schema.json").read_text())["properties"]
    assert not set(data["columns"]) & set(fields), "a column that is called as a field of a rule"
