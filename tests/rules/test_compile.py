"""The rule book: rule files compiled, written, and loaded again."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from servelint.core.data import DataError
from servelint.engines import ENGINE_NAMES
from servelint.rules import compile as compiling
from servelint.rules import load
from servelint.rules.compile import RuleError, compile_book, compile_rule, find_rule, read_rules, rule_files, write_book
from servelint.rules.load import Book
from servelint.rules.rule import ANY

TEXT = """\
id: vllm/some-rule
title: Some rule
severity: error
confidence: high
impact: crash-at-start
engine: vllm
versions: ">=0.20,<0.33"
when: {port: 8000, env.A: {set: true}}
unless: {enforce-eager: true}
at: port
labels: {port: here}
message: a message
advice: some advice
fix: {set: {port: "8001"}, safe: true}
evidence:
  - {url: "https://example.invalid/1", says: so}
  - {source: "vllm-0.20.0 vllm/envs.py:1", says: there}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules" / "vllm").mkdir(parents=True)
    (tmp_path / "rules" / "vllm" / "some-rule.yaml").write_text(TEXT)
    return tmp_path / "rules"


def test_a_rule_comes_back_as_it_was_written(folder: Path) -> None:
    path = folder.parent / "book.json"
    write_book(str(folder), str(path))
    (rule,) = Book(path.read_bytes()).rules()
    assert (rule.id, rule.severity, rule.impact, rule.engine) == ("vllm/some-rule", "error", "crash-at-start", "vllm")
    assert rule.versions == ">=0.20,<0.33"
    assert [operator for operator, _ in rule.bounds] == [">=", "<"]
    assert rule.when == ["and", [["test", "port", "is", 8000], ["test", "env.A", "set", True]]]
    assert rule.unless == ["test", "enforce-eager", "is", True]
    assert rule.needs == [["env.A"], ["port"]]
    assert (rule.at, rule.labels) == (["port"], {"port": "here"})
    assert (rule.fix, rule.check, rule.complaint) == ({"set": {"port": "8001"}, "safe": True}, None, None)
    assert rule.evidence == ["https://example.invalid/1 (so)", "vllm-0.20.0 vllm/envs.py:1 (there)"]
    assert sorted(os.listdir(folder.parent)) == ["book.json", "rules"]


def test_the_head_of_a_rule_has_its_complaint(folder: Path) -> None:
    (folder / "vllm" / "some-rule.yaml").write_text(TEXT + "complaint: ignored-option\n")
    (compiled,) = compile_book(str(folder))
    assert compiled["complaint"] == "ignored-option"


def test_rule_files_are_found_in_order(folder: Path) -> None:
    for name in ("vllm/b.yaml", "sglang/a.yaml", "vllm/notes.txt", "vllm/_a.yaml", "_all.yaml", "coverage.yaml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("")
    found = [os.path.relpath(path, folder) for path in rule_files(str(folder))]
    assert found == ["_all.yaml", "sglang/a.yaml", "vllm/_a.yaml", "vllm/b.yaml", "vllm/some-rule.yaml"]


class TestWrongRules:
    @pytest.mark.parametrize(
        ("before", "after", "message"),
        [
            ("id: vllm/some-rule", "id: vllm/other", "the id must be vllm/some-rule"),
            (TEXT, "- a list", "the id must be vllm/some-rule"),
            ("title: Some rule", "title: [", "vllm/some-rule.yaml:4:11: not valid YAML: "),
            (">=0.20,<0.33", "~=0.20", "vllm/some-rule: versions: '~=0.20' is not a release bound"),
            ("port: 8000", "port: [8000]", r"vllm/some-rule: when: port: write \{in"),
            ("message: a message\n", "", "vllm/some-rule: 'message'"),
        ],
    )
    def test_are_refused(self, before: str, after: str, message: str, folder: Path) -> None:
        (folder / "vllm" / "some-rule.yaml").write_text(TEXT.replace(before, after))
        with pytest.raises(RuleError, match=message):
            compile_book(str(folder))


class TestWhatRulesName:
    """Operands, values, cases and checks that a rule names: what there is not is an error of the compiler."""

    def compiled(self, folder: Path, **changes: Any) -> dict[str, Any]:
        path = folder / "vllm" / "some-rule.yaml"
        (data,) = read_rules(str(path), str(folder))
        path.write_text(json.dumps({**data, **changes}))
        (rule,) = compile_book(str(folder))
        return rule

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"when": {"prot": 1}}, "vllm/some-rule: when: no release of vllm has an option 'prot'"),
            ({"when": {"port": {"above": {"operand": "prot"}}}}, "when: no release of vllm has an option 'prot'"),
            ({"unless": {"model.head": 1}}, "unless: there is no operand model.head; servelint rules --operands lists"),
            ({"when": {"gpu.size": 1}}, "when: there is no operand gpu.size"),
            ({"when": {"effective.tp-size": 1}}, "when: vLLM has no operand effective.tp-size"),
            ({"at": "container.volume"}, "at: there is no operand container.volume"),
            ({"message": "port {prot}"}, "message: no release of vllm has an option 'prot'"),
            ({"values": {"a": {"operand": "prot"}}, "message": "{a}"}, "values: no release of vllm has an option 'prot'"),
            ({"values": {"dtype": {"operand": "port"}}}, "values: dtype is also the name of an option"),
            ({"values": {"a": {"operand": "port", "times": 2}}}, "values.a: operand does not take times, only default"),
            (
                {"values": {"a": {"sum": ["port", "b"]}, "b": 1}, "message": "{a}"},
                "values: no release of vllm has an option 'b'",
            ),
            ({"unless": {"port": {"abov": 1}}}, "unless: port: abov is not an operator"),
            ({"cases": [{"when": {"port": {"abov": 1}}, "text": "a"}]}, "case 1: port: abov is not an operator"),
            ({"cases": [{"when": {"port": 1}, "text": "a"}]}, "cases and {case} in a text go together"),
            ({"message": "it {case}"}, "cases and {case} in a text go together"),
            (
                {"cases": [{"when": {"prot": 1}, "text": "a"}], "message": "{case}"},
                "cases: no release of vllm has an option 'prot'",
            ),
            (
                {"cases": [{"when": {"port": 1}, "text": "{prot}"}], "message": "{case}"},
                "cases: no release of vllm has an option",
            ),
            ({"when": {"port": {"in": {"names": "portt"}}}}, "when: the catalog has no names of the kind 'portt'"),
            ({"check": "no_such_module"}, "check: there is no check 'no_such_module'"),
            ({"check": "memory.no_such_function"}, "check: there is no check 'memory.no_such_function'"),
            ({"check": "values"}, "check: there is no check 'values'"),
        ],
    )
    def test_what_there_is_not(self, changes: dict[str, Any], message: str, folder: Path) -> None:
        with pytest.raises(RuleError, match=re.escape(message)):
            self.compiled(folder, **changes)

    def test_what_there_is(self, folder: Path) -> None:
        rule = self.compiled(
            folder,
            values={"a": {"operand": "port"}, "b": {"sum": ["a", 1]}, "c": {"operand": "seed"}},
            cases=[{"when": {"b": {"above": 8000}}, "text": "is {c}"}],
            message="{b} {case} {release}",
            check="memory.refused",
        )
        assert (rule["shows"], rule["check"]) == (["b"], "memory.refused")
        assert rule["values"] == {"b": {"sum": [{"operand": "port"}, 1]}, "c": {"operand": "seed"}}
        assert rule["cases"] == [[["test", rule["values"]["b"], "above", 8000], "is {c}", ["c"]]]


class TestCheckout:
    """In a source checkout a rule that was changed since the book was written counts at once."""

    @pytest.fixture
    def checkout(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        book = folder.parent / "book.json"
        write_book(str(folder), str(book))
        for path in (folder, folder / "vllm", folder / "vllm" / "some-rule.yaml"):
            os.utime(path, (1_000_000_000, 1_000_000_000))
        monkeypatch.setattr(load, "_CHECKOUT", str(folder))
        monkeypatch.setattr(load, "_BOOK", str(book))
        monkeypatch.setattr(load, "_HERE", str(folder.parent))
        return folder

    def titles(self) -> list[str]:
        return [rule.title for rule in load._book.__wrapped__().rules()]

    def test_a_book_that_is_newer_is_taken(self, checkout: Path) -> None:
        book = checkout.parent / "book.json"
        book.write_text(book.read_text().replace("Some rule", "Book rule"))
        assert self.titles() == ["Book rule"]

    def test_a_rule_that_is_newer_is_compiled(self, checkout: Path) -> None:
        path = checkout / "vllm" / "some-rule.yaml"
        path.write_text(TEXT.replace("Some rule", "From the file"))
        os.utime(path, (4_000_000_000, 4_000_000_000))
        assert self.titles() == ["From the file"]

    def test_a_rule_that_is_wrong_is_no_bug_of_servelint(self, checkout: Path) -> None:
        path = checkout / "vllm" / "some-rule.yaml"
        path.write_text(TEXT.replace("vllm/some-rule", "vllm/another"))
        os.utime(path, (4_000_000_000, 4_000_000_000))
        with pytest.raises(DataError, match=re.escape(f"{path}: the id must be vllm/some-rule")):
            self.titles()

    def test_a_folder_of_rules_that_is_not_there_is_said(self, checkout: Path) -> None:
        checkout.rename(checkout.parent / "elsewhere")
        with pytest.raises(DataError, match="there are no rules"):
            self.titles()

    def test_a_rule_that_was_written_meanwhile_is_newer(self, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = checkout / "vllm" / "some-rule.yaml"
        compiled = compile_book(str(checkout))

        def compile_slowly(folder: str) -> list[dict[str, Any]]:
            path.write_text(TEXT.replace("Some rule", "Written meanwhile"))
            return compiled

        monkeypatch.setattr(compiling, "compile_book", compile_slowly)
        write_book(str(checkout), str(checkout.parent / "book.json"))
        monkeypatch.undo()
        assert path.stat().st_mtime_ns >= (checkout.parent / "book.json").stat().st_mtime_ns

    def test_without_a_book(self, checkout: Path) -> None:
        (checkout.parent / "book.json").unlink()
        assert self.titles() == ["Some rule"]

    def test_a_book_of_another_format_is_compiled_anew(self, checkout: Path) -> None:
        (checkout.parent / "book.json").write_text('{"vllm":2}\n')
        assert self.titles() == ["Some rule"]

    def test_the_folder_of_rules(self, checkout: Path) -> None:
        assert load.rule_folder() == str(checkout)
        (checkout.parent / "book").mkdir()
        assert load.rule_folder() == str(checkout.parent / "book")


def test_rules_of_an_engine() -> None:
    assert {rule.engine for rule in load.rules_of("sglang")} == {"sglang", ANY}
    every = [rule for rule in load.rules() if rule.engine == ANY]
    own = [rule for engine in ENGINE_NAMES for rule in load.rules_of(engine) if rule.engine != ANY]
    assert len(own) + len(every) == len(load.rules())
    assert {rule.id for rule in load.rules_of("tgi")} >= {rule.id for rule in every}


def test_a_rule_s_own_file_or_row_is_what_explain_reads() -> None:
    folder = load.rule_folder()
    for rule in load.rules()[::25]:
        assert compile_rule(find_rule(rule.id, folder))["title"] == rule.title
