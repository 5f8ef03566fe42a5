"""Bounds of rules, at the releases next to them: the first inside has the finding, the first outside has not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from packaging.version import Version

from servelint.core.data import load_data
from servelint.engines.catalog import load
from servelint.engines.releases import known_releases
from servelint.readers import read
from servelint.rule_examples import _found as spans_of
from servelint.rule_examples import example_text, unmarked
from servelint.rules.load import rules
from tests.rules.test_rules import DATA

pytestmark = pytest.mark.book

BOOK = {rule.id: rule for rule in rules()}
DYNAMO = re.compile(r"ai-dynamo/tensorrtllm-runtime:([\w.-]+)")
TAGS: dict[str, str] = load_data("engines/data/images.json")["ai-dynamo/tensorrtllm-runtime"]["releases"]
PINNED = re.compile(r"(?:tensorrt_llm==|lmdeploy==|:v?|server-(?:\w+-)?|release:)(b?\d[\w.]*)")


def version(text: object) -> Version:
    return Version(str(text).removeprefix("b"))


def inside(release: str, operator: str, bound: Version) -> bool:
    """Whether a release is inside a bound; a candidate of the bound's release is not below it."""
    own = version(release)
    own = Version(own.base_version) if operator == "<" and not bound.is_prerelease else own
    return {">=": own >= bound, "<": own < bound, "<=": own <= bound, ">": own > bound}[operator]


def moved(example: dict[str, Any], release: str) -> dict[str, Any] | None:
    """An example at another release; None for one that names no release."""
    if "text" not in example:
        return {**example, "version": release} if "version" in example else None
    worker = DYNAMO.search(example["text"])
    if worker is not None:  # the tag is Dynamo's release, not the engine's
        tag = next((tag for tag, one in TAGS.items() if one == release), None)
        return None if tag is None else {**example, "text": example["text"].replace(worker.group(1), tag), "version": release}
    pin = PINNED.search(example["text"])
    named = str(example.get("version", "")) or (pin.group(1) if pin else "")
    if not named:
        return None
    return {**example, "text": example["text"].replace(named, release), "version": release}


def is_found(rule: dict[str, Any], example: dict[str, Any]) -> bool:
    source, _ = unmarked(*example_text(example))
    return any(spans_of(BOOK[rule["id"]], launch, example) for launch in read(source).launches)


@pytest.mark.parametrize(
    ("engine", "least"), [("trtllm", 110), ("lmdeploy", 90), ("tgi", 60), ("llama.cpp", 55), ("ollama", 30)]
)
def test_a_bad_launch_is_found_up_to_each_bound_and_not_behind_it(engine: str, least: int) -> None:
    catalog = load(engine)
    assert catalog is not None
    releases = sorted({*known_releases(engine), *catalog.releases}, key=version)
    tried = 0
    for rule in (one for one in DATA if one["engine"] == engine):
        assert rule["evidence"], rule["id"]
        written = re.findall(r"([<>]=?)\s*b?([\w.]+)", rule["versions"])
        bounds = [(operator, version(text)) for operator, text in written if text != "0"]
        within = [one for one in releases if all(inside(one, *bound) for bound in bounds)]
        for operator, bound in bounds:
            lower = operator.startswith(">")
            without = [one for one in releases if not inside(one, operator, bound)]
            near = [one for bad in rule["examples"]["bad"] if (one := moved(bad, within[0 if lower else -1]))]
            assert near or not without, f"{rule['id']}: no bad example names a release"
            assert not near or any(is_found(rule, one) for one in near), f"{rule['id']}: not found at {operator}{bound}"
            for bad in rule["examples"]["bad"] if without else ():
                other = moved(bad, without[-1 if lower else 0])
                assert other is None or not is_found(rule, other), f"{rule['id']}: found outside of {operator}{bound}"
            tried += 1
    assert tried >= least
