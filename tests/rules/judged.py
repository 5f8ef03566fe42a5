"""What servelint says of the rules' own bad examples, at the releases of each rule's range."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.engines.releases import release_key
from servelint.readers import read
from servelint.rule_examples import example_text, unmarked
from servelint.rules import ranges
from tests.advice import judged_at, releases_of
from tests.rules.test_rules import asked
from tests.wrappers import WRAPPERS

EVERYWHERE = "SERVELINT_ALL_RELEASES" in os.environ


class Judged(NamedTuple):
    """A launch of a bad example at a release.

    Attributes:
        launch, settings: what is judged.
        release: at which; None for what its file names.
        findings: all of it.
        own: the first finding of the rule whose example it is; None where there is none.
        number: of the example, from 1.
    """

    launch: Launch
    settings: Settings
    release: str | None
    findings: list[Finding]
    own: Finding | None
    number: int


def each_judged(rule: dict[str, Any], *, middle: bool = False) -> Iterator[Judged]:
    """The bad examples of a rule, each at the first and the last release of its range, or at all with SERVELINT_ALL_RELEASES.

    Args:
        rule: as its file has it.
        middle: whether each is judged at the release in the middle as well.
    """
    for number, example in enumerate(rule["examples"]["bad"], start=1):
        filename, wrap = WRAPPERS["compose-list"]
        text = (filename, wrap(rule["engine"], example)) if "image" in example else example_text(example)
        for launch in read(unmarked(*text)[0]).launches:
            for release in _sampled(rule, example, middle):
                settings = asked(example)
                findings = judged_at(launch, settings, release)
                own = next((one for one in findings if one.rule == rule["id"]), None)
                yield Judged(launch, settings, release, findings, own, number)


def _sampled(rule: dict[str, Any], example: dict[str, Any], middle: bool) -> list[str | None]:
    """The releases at which an example is judged; None for what its file names."""
    own = str(example["version"]) if "version" in example else None
    if "text" in example or "image" in example or not rule.get("versions"):
        return [own]
    bounds = ranges.loaded(ranges.compile_range(rule["versions"]))
    inside = [one for one in releases_of(rule["engine"]) if ranges.contains(bounds, release_key(one))]
    if not inside:
        return [own]
    few = [inside[0], inside[len(inside) // 2], inside[-1]] if middle else [inside[0], inside[-1]]
    chosen = inside if EVERYWHERE else few
    return list(dict.fromkeys([*chosen, *([own] if own is not None else [])]))
