"""tools/site/llms.py: llms.txt in the form of https://llmstxt.org, with every page of the documentation."""

from __future__ import annotations

import re

from servelint.engines import ENGINE_NAMES, ENGINES
from servelint.engines.catalog import load
from tests.tools.loading import ROOT, loaded

GROUPS = {"Tutorial": ["tutorial"], "Reference": ["usage", "formats", "limits"], "Contributing": ["architecture"]}
TEXT: str = loaded("site/llms.py").text(ROOT, GROUPS)


def test_its_form() -> None:
    """A title, a quotation that says what it is about, and sections of links; the last section may be left out."""
    head, *sections = re.split(r"(?m)^## ", TEXT)
    assert re.match(r"# servelint\n\n> A linter for the files [^\n]+\n\n", head)
    assert [section.partition("\n")[0] for section in sections] == ["Rules and options", "Tutorial", "Reference", "Optional"]
    for section in sections:
        lines = section.strip().splitlines()[2:]
        assert lines
        assert all(re.fullmatch(r"- \[[^\]]+\]\([^)\s]+\)(?:: [^\n]+)?", line) for line in lines)


def test_it_names_pages_and_engines() -> None:
    assert "- [Get started](docs/tutorial.md): In this tutorial you check a compose file, read a finding, " in TEXT
    assert "- [Report formats](docs/formats.md): `servelint check --format NAME` prints the report in a format to " in TEXT
    for engine in ENGINES:
        assert (f"[Options of {ENGINE_NAMES[engine]}](options/" in TEXT) == (load(engine) is not None)


def test_the_site_has_every_page_of_the_docs() -> None:
    build = (ROOT / "tools" / "site" / "build.py").read_text(encoding="utf-8")
    named = set(re.findall(r'"([a-z-]+)"', build.partition("GROUPS = {")[2].partition("}\n")[0]))
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= named
