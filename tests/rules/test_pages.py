"""The pages of the rules: written from their files, and those of docs/rules up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.rules import pages

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs" / "rules"
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


def test_every_rule_has_a_page_that_is_up_to_date() -> None:
    there = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    assert sorted(there) == sorted(PAGES)
    stale = [name for name, text in PAGES.items() if there[name] != text]
    assert stale == [], "run: python -m servelint.rules.pages docs/rules"


def test_pages_of_rules_that_are_gone_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "pages", lambda: {"README.md": "x\n", "a/b.md": "y\n"})
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "old.md").write_text("z")
    pages.main(str(tmp_path))
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["README.md", "b.md"]
