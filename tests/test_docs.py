"""The pages in docs/: what they show holds."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from servelint.rules.compile import compile_rule, faults, find_rule, read_rules

DOCS = Path(__file__).parent.parent / "docs"
RULES = DOCS.parent / "rules"
PAGES = [*DOCS.glob("*.md"), DOCS.parent / "README.md"]


def test_the_examples_in_python() -> None:
    failed, tried = doctest.testfile(str(DOCS / "api.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (failed, tried > 15) == (0, True)


class TestWritingRules:
    BLOCKS = re.findall(r"```yaml\n(.*?)```", (DOCS / "writing-rules.md").read_text(encoding="utf-8"), re.DOTALL)
    WHOLE = BLOCKS[0].partition("id: ")[2].partition("\n")[0]

    def test_the_whole_rule_is_one_of_servelint_s(self) -> None:
        assert self.BLOCKS[0] == (RULES / f"{self.WHOLE}.yaml").read_text(encoding="utf-8")

    @pytest.mark.parametrize("block", BLOCKS[1:-1])
    def test_parts_of_rules_are_compiled(self, block: str, tmp_path: Path) -> None:
        (tmp_path / "part.yaml").write_text(f"id: part\n{block}", encoding="utf-8")
        (part,) = read_rules(str(tmp_path / "part.yaml"), str(tmp_path))
        rule = {**find_rule(self.WHOLE, str(RULES)), **part}
        assert list(faults(rule, compile_rule(rule))) == []

    def test_the_table_is_one(self, tmp_path: Path) -> None:
        (tmp_path / "_table.yaml").write_text(self.BLOCKS[-1], encoding="utf-8")
        (rule,) = read_rules(str(tmp_path / "_table.yaml"), str(tmp_path))
        assert (rule["id"], rule["when"]) == ("dcp-size-not-positive", {"dcp-size": {"at-most": 0}})


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        name, _, anchor = target.partition("#")
        to = (page.parent / name) if name else page
        assert to.exists(), target
        if anchor:
            assert anchor in {_anchor(heading) for heading in re.findall(r"^#+ (.*)$", to.read_text(), re.MULTILINE)}, target
