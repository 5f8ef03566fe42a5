"""The pages in docs/: what they show holds."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [*DOCS.glob("*.md"), DOCS.parent / "README.md"]


def test_the_examples_in_python() -> None:
    failed, tried = doctest.testfile(str(DOCS / "api.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (failed, tried > 15) == (0, True)


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
