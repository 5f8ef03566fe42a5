"""What servelint says of its own repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.lint import check
from servelint.rules.load import rules
from servelint.settings.files import SettingsFiles
from tests.reporting import rules_in

ROOT = Path(__file__).parents[1]


def test_findings_stand_in_the_broken_examples_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    report = check(["."], SettingsFiles())
    assert report.errors == []
    assert {str(Path(one.span.source.path).parent) for one in report.findings} == {"examples/broken"}


def test_best_practice_is_not_in_the_default_profile() -> None:
    told = [rule.id for rule in rules() if rule.impact == "best-practice" and rule.profile == "default"]
    assert told == []


@pytest.mark.parametrize(
    "text",
    [
        "id: a/b\nexamples:\n  bad:\n    - {run: vllm serve m --port x}\n  good:\n    - {run: vllm serve m}\n",
        "examples:\n  bad:\n    - {file: run.sh, text: vllm serve m --port x, run: vllm serve m --port x}\n",
        "columns: {a: b}\neach: {severity: error}\nrows:\n  one:\n    run: vllm serve m --port x\n",
    ],
)
def test_a_rule_file_starts_nothing(text: str) -> None:
    assert rules_in(text, "rule.yaml") == []
    assert rules_in(text.replace("examples:", "cases:").replace("columns:", "table:"), "rule.yaml") == ["vllm/invalid-value"]


@pytest.mark.parametrize("name", ["README.md", "page.mdx", "guide.markdown"])
def test_comments_on_a_page_are_examples(name: str) -> None:
    text = (
        "`# servelint: ignore[vllm/no-such-rule] why` and `# servelint: gpu=h100-80gb gpu-count=2`.\n\n```\nvllm serve m\n```\n"
    )
    assert rules_in(text, name) == []
    assert rules_in("# servelint: ignore[vllm/no-such-rule] why\nvllm serve m\n") == ["servelint/unused-ignore"]
