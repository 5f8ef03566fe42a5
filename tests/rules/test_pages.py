"""The pages of the rules, which are written from their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.rules.load import rules
from tools import pages

PAGES = pages.pages()


def test_a_page_tells_all_that_a_person_asks() -> None:
    page = PAGES["vllm/turboquant-with-spec-decode.md"]
    for part in (
        "# vllm/turboquant-with-spec-decode\n",
        "| severity | error |",
        "vLLM 0.20 and later (`>=0.20`)",
        "## Why\n",
        "## What to write instead\n",
        "<https://github.com/vllm-project/vllm/issues/53180>",
        "## Reported\n",
        "## Not reported\n",
        "# servelint: ignore[vllm/turboquant-with-spec-decode] why",
    ):
        assert part in page
    assert "\u27e6" not in page


def test_a_page_tells_the_impacts_of_releases() -> None:
    page = PAGES["vllm/reasoning-parser-gptoss.md"]
    assert "| impact | crash-at-start, crash-at-load (0.13 and later, before 0.20) |\n" in page


def test_every_rule_has_a_page() -> None:
    assert set(PAGES) == {"README.md", *(f"{rule.id}.md" for rule in rules())}


def test_pages_of_rules_that_are_gone_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "pages", lambda: {"README.md": "x\n", "a/b.md": "y\n"})
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "old.md").write_text("z")
    pages.main(str(tmp_path))
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["README.md", "b.md"]
