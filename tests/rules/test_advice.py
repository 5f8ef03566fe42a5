"""Every advice and fix of every rule, on the rules' own bad examples, at the releases of each rule's range.

What an advice names must exist there, and each way that it offers must be accepted by servelint itself. SERVELINT_ALL_RELEASES
takes all examples and releases, in place of the first example at the first, the middle and the last release.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.engines.releases import release_key
from servelint.readers import read
from servelint.rule_examples import example_text, unmarked
from servelint.rules import ranges
from tests.advice import follow, judged_at, releases_of, ways
from tests.rules.test_rules import ALL, asked

pytestmark = pytest.mark.book

EVERYWHERE = "SERVELINT_ALL_RELEASES" in os.environ


def sampled(rule: dict[str, Any], example: dict[str, Any]) -> list[str | None]:
    """The releases at which an example is judged; None for what its file names."""
    own = str(example["version"]) if "version" in example else None
    if "text" in example or not rule.get("versions"):
        return [own]
    bounds = ranges.loaded(ranges.compile_range(rule["versions"]))
    inside = [one for one in releases_of(rule["engine"]) if ranges.contains(bounds, release_key(one))]
    if not inside:
        return [own]
    chosen = inside if EVERYWHERE else [inside[0], inside[len(inside) // 2], inside[-1]]
    return list(dict.fromkeys([*chosen, *([own] if own is not None else [])]))


def found(rule: dict[str, Any]) -> Iterator[tuple[Launch, Settings, str | None, list[Finding], Finding]]:
    """The findings of a rule in its bad examples: the launch, settings and release, all findings, and the rule's own."""
    for example in rule["examples"]["bad"][: None if EVERYWHERE else 1]:
        source, _ = unmarked(*example_text(example))
        for launch in read(source).launches:
            for release in sampled(rule, example):
                settings = asked(example)
                before = judged_at(launch, settings, release)
                own = [one for one in before if one.rule == rule["id"]]
                if own:
                    yield launch, settings, release, before, own[0]


@pytest.mark.parametrize("rule", ALL, ids=[rule["id"] for rule in ALL])
def test_an_advice_holds_where_it_is_given(rule: dict[str, Any]) -> None:
    every = list(found(rule))
    assert every or not rule["examples"]["bad"]
    for launch, settings, release, before, finding in every:
        wrong, _ = follow(launch, settings, release, before, finding)
        assert wrong == [], f"{release}: {launch.source.text}"


def test_most_advice_can_be_followed() -> None:
    exact = [rule for rule in ALL if "advice" in rule and ways(rule["advice"].replace("{case}", "write --x 1"))]
    assert len(exact) / len([rule for rule in ALL if "advice" in rule]) > 0.55
