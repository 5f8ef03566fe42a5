"""Rule folders of users: what holds, what is wrong with a file and where, and what a check makes of them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from servelint import Settings, check, rule_examples
from servelint.cli import main
from servelint.rules import folder

RULE = """\
id: policy/no-remote-code
title: Code of a model repository is not run here
severity: error
confidence: high
impact: security
engine: vllm
versions: ">=0.6"
when:
  trust-remote-code: true
at: trust-remote-code
message: "--trust-remote-code runs whatever the repository of {model.name} holds"
advice: leave it out, or ask for an exception
why: |
  The cluster runs with credentials that a model's own code must never see, so nothing that contains code is loaded.
evidence:
  - {url: "https://example.invalid/policy", says: so it was decided}
examples:
  bad:
    - {version: 0.27.1, run: "vllm serve Qwen/Qwen3-8B ⟦--trust-remote-code⟧"}
  good:
    - {version: 0.27.1, run: "vllm serve Qwen/Qwen3-8B $MORE"}
""".replace(" of {model.name}", "")


@pytest.fixture(autouse=True)
def fresh() -> None:
    folder.forget()


def write(root: Path, text: str = RULE, name: str = "policy/no-remote-code.yaml") -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(root)


def faults(root: Path) -> list[str]:
    book = folder.load(str(root))
    return [f"{problem.line}:{problem.column}: {problem.message}" for problem in book.problems]


def test_a_rule_is_loaded(tmp_path: Path) -> None:
    book = folder.load(write(tmp_path))
    assert book.problems == []
    assert [rule.id for rule in book.rules] == ["policy/no-remote-code"]
    assert rule_examples.faults(book.rules[0], book.written[0]) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("severity: error", "severity: fatal", "3:11: severity: 'fatal' is not one of ['error', 'warning', 'info']"),
        ('versions: ">=0.6"', 'versions: ">=0.6,oops"', "7:11: versions: "),
        ("  trust-remote-code: true", "  trust-remot-code: true", "9:3: no release of vllm has an option 'trust-remot-code'"),
        ("id: policy/no-remote-code", "id: policy/other", "1:5: the id is 'policy/other', and its file's place makes it"),
        ("advice: leave", "advise: leave", "1:1: "),
        ("  trust-remote-code: true", "  trust-remote-code: {like: x}", "9:22: when.trust-remote-code"),
        ("evidence:\n  - {url", "evidence:\n  - {link", "16:5: evidence.0"),
        (
            "at: trust-remote-code",
            "at: trust-remote-code\ncheck: sglang_draft_tokens",
            "11:8: only servelint's own rules have checks",
        ),
        ("severity: error", "severity: [", "not valid YAML"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(old: str, new: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, RULE.replace(old, new, 1))
    told = faults(tmp_path)
    assert told
    assert any(said in one for one in told), told


@pytest.mark.parametrize("text", ["", "- a\n", "a: 1\n---\nb: 2\n", "just text\n", "a: !!python/object:x {}\n"])
def test_what_is_no_rule_is_an_error(text: str, tmp_path: Path) -> None:
    write(tmp_path, text)
    assert faults(tmp_path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "policy" / "no-remote-code.yaml").write_bytes(b"id: \xff\n")
    assert [problem.message.partition(":")[0] for problem in folder.load(str(tmp_path)).problems] == ["cannot be read"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert [problem.message for problem in folder.load(str(tmp_path / "nothing")).problems] == ["is not a folder of rules"]


def test_a_broken_rule_does_not_cost_the_others(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, "id: x", "policy/broken.yaml")
    book = folder.load(str(tmp_path))
    assert len(book.rules) == 1
    assert book.problems


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("⟦--trust-remote-code⟧", "--port 1", "bad example 1: the rule does not find it"),
        ("⟦--trust-remote-code⟧", "⟦--port⟧ 1 --trust-remote-code", "bad example 1: the rule points at '--trust-remote-code'"),
        ("Qwen/Qwen3-8B $MORE", "Qwen/Qwen3-8B --trust-remote-code", "good example 1: the rule finds '--trust-remote-code'"),
        ("vllm serve Qwen/Qwen3-8B $MORE", "echo $MORE", "good example 1: it has 0 launches"),
    ],
)
def test_examples_are_held_against_the_rule(old: str, new: str, said: str, tmp_path: Path) -> None:
    book = folder.load(write(tmp_path, RULE.replace(old, new, 1)))
    assert book.problems == []
    (told,) = rule_examples.faults(book.rules[0], book.written[0])
    assert told.startswith(said)


class TestCheck:
    @pytest.fixture(autouse=True)
    def launch(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("run.sh").write_text("vllm serve m --trust-remote-code\n")
        write(tmp_path / "rules")

    def test_a_rule_of_the_folder_finds(self) -> None:
        found = check(["run.sh"], Settings(rules=("rules",))).findings
        assert [finding.rule for finding in found] == ["policy/no-remote-code"]
        assert found[0].span.text == "--trust-remote-code"

    def test_it_can_be_silenced_in_the_file(self) -> None:
        Path("run.sh").write_text(
            dedent(
                """\
                # servelint: ignore[policy/no-remote-code] agreed
                vllm serve m --trust-remote-code
                """
            )
        )
        assert check(["run.sh"], Settings(rules=("rules",))).findings == []

    def test_on_the_command_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["check", "--rules", "rules", "--select", "policy/*", "run.sh"]) == 1
        assert "error[policy/no-remote-code]" in capsys.readouterr().out
        assert main(["check", "--rules", "rules", "--ignore", "policy/no-remote-code", "run.sh"]) == 0
        assert main(["explain", "--rules", "rules", "policy/no-remote-code"]) == 0
        assert "The cluster runs with credentials" in capsys.readouterr().out
        assert main(["rules", "--rules", "rules", "--select", "policy/*"]) == 0
        assert capsys.readouterr().out.startswith("policy/no-remote-code  error")

    def test_a_broken_rule_is_told_and_the_files_are_linted(self, capsys: pytest.CaptureFixture[str]) -> None:
        write(Path("rules"), RULE.replace("severity: error", "severity: fatal"), "policy/other.yaml")
        assert main(["check", "--rules", "rules", "run.sh"]) == 2
        out = capsys.readouterr().out
        assert "other.yaml:3:11: severity: 'fatal' is not one of" in out
        assert "error[policy/no-remote-code]" in out

    @pytest.mark.parametrize(
        ("old", "new", "status"), [("", "", 0), ("⟦", "--x ⟦", 0), ("--trust-remote-code⟧", "--port⟧ 1", 1)]
    )
    def test_rules_test(self, old: str, new: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
        write(Path("rules"), RULE.replace(old, new, 1))
        assert main(["rules", "test", "rules"]) == status
        assert f"{2 - status} of 2 examples hold" in capsys.readouterr().out

    def test_rules_test_of_a_broken_folder(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["rules", "test", "nothing"]) == 2
        assert "is not a folder of rules" in capsys.readouterr().err


def test_a_relative_folder_belongs_to_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, title in (("one", "Title of one"), ("other", "Title of the other")):
        write(tmp_path / place / "rules", RULE.replace("Code of a model repository is not run here", title))
    monkeypatch.chdir(tmp_path / "one")
    assert [rule.title for rule in folder.load("rules").rules] == ["Title of one"]
    monkeypatch.chdir(tmp_path / "other")
    assert [rule.title for rule in folder.load("rules").rules] == ["Title of the other"]
