"""Translations of the rule book's examples: the target's parser takes every word of them."""

from __future__ import annotations

import pytest

from servelint.engines import catalog as catalogs
from servelint.rules.load import rules
from servelint.translate import targets
from tools.translations import translations


@pytest.mark.book
@pytest.mark.parametrize("engine", targets())
def test_the_parser_takes_every_translation(engine: str) -> None:
    catalog = catalogs.load(engine)
    assert catalog is not None
    parser = {rule.id for rule in rules() if rule.complaint is not None and not rule.id.startswith("container/")}
    found = translations(engine, catalog.releases[-1], 300)
    assert len(found) == 300
    refused = [(one.target.argv, finding.message) for one in found for finding in one.findings if finding.rule in parser]
    assert refused == []
