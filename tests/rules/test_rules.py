"""Every rule's own examples, through every reader; and what every rule must have."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from packaging.version import Version

from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.engines import ENGINE_NAMES
from servelint.judge.parser.violation import BROKEN, REFUSED
from servelint.lint import check_launches
from servelint.readers import read
from servelint.rules.compile import compile_rule, engines_of, faults
from servelint.rules.condition import operands
from servelint.rules.load import rules
from servelint.rules.rule import ANY
from tests.book import as_written, each_rule, id_of
from tests.together import together
from tests.wrappers import WRAPPERS
from tests.wrapping import CLOSE, OPEN, unmarked

pytestmark = pytest.mark.book

ROOT = Path(__file__).parents[2]
FILES = as_written()
ALL = each_rule()
AROUND = [rule for rule in FILES if rule.get("engine") == ANY]
DATA = [rule for rule in FILES if "engines" not in rule and rule["engine"] != ANY]
SHARED = [rule for rule in FILES if "engines" in rule]
EVERYWHERE = "SERVELINT_ALL_FORMATS" in os.environ


@cache
def _schema(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text()))


def _written(rule: dict[str, Any], example: dict[str, Any], number: int) -> Iterator[tuple[str, Source, Span | None]]:
    """An example in formats, without its marks: the format, the file, and the span that the marks enclose.

    Each example in one format, each in another; all in every one of them where SERVELINT_ALL_FORMATS is set.
    """
    if "text" in example:
        yield "as it is", *unmarked(example["file"], example["text"])
        return
    for index, (name, (filename, wrap)) in enumerate(WRAPPERS.items()):
        if EVERYWHERE or index == (number + len(rule["id"])) % len(WRAPPERS):
            yield name, *unmarked(filename, wrap(rule["engine"], example))


def _each(rule: dict[str, Any], kind: str) -> Iterator[tuple[dict[str, Any], str, Source, Span | None]]:
    for number, example in enumerate(rule["examples"][kind], start=1):
        for name, source, marked in _written(rule, example, number):
            yield example, f"{kind} example {number}, {name}", source, marked


def asked(example: dict[str, Any]) -> Settings:
    """The settings of an example. Some files have no place for a release: that of the example is in the settings."""
    engine = {"Modelfile": "ollama", "models.ini": "llama.cpp", "router.sh": "llama.cpp"}.get(example.get("file", ""))
    versions = {engine: example["version"]} if engine is not None and "version" in example else None
    return Settings(profile="audit", gpu=example.get("gpu"), gpu_count=example.get("gpus"), engine_versions=versions)


@together("rule", ALL, name=id_of)
def test_bad_examples_are_found_at_their_marks(rule: dict[str, Any]) -> None:
    for example, name, source, expected in _each(rule, "bad"):
        assert expected is not None or rule.get("complaint") == "missing-argument", "a bad example marks its span"
        reading = read(source)
        assert len(reading.launches) == 1 or "text" in example, f"{name}: {source.text}"
        found = [one for one in check_launches(source, reading.launches, asked(example)) if one.rule == rule["id"]]
        assert len(found) == 1, f"{name}: {source.text}"
        assert expected is None or found[0].span == expected, f"{name}: {found[0].span}, not {expected}, in\n{source.text}"
        texts = "; ".join((found[0].message, found[0].label, *[one.message for one in found[0].related]))
        assert "{" not in texts.replace("${", "").replace("{{", ""), texts
        assert "  " not in found[0].message.strip() or "  " in source.text, texts


@together("rule", ALL, name=id_of)
def test_good_examples_are_not_found(rule: dict[str, Any]) -> None:
    for example, name, source, marked in _each(rule, "good"):
        assert marked is None
        reading = read(source)
        assert len(reading.launches) == 1 or "text" in example, f"{name}: {source.text}"
        found = check_launches(source, reading.launches, asked(example))
        assert rule["id"] not in [finding.rule for finding in found], f"{name}: {source.text}"


def unknown(example: dict[str, Any]) -> bool:
    """Whether an example has a value or a release that nobody knows."""
    if "text" in example:
        return "$" in example["text"]
    return "$" in example["run"] or "$" in "".join(example.get("env", {}).values()) or "version" not in example


class TestEachRule:
    @together("rule", DATA, name=id_of)
    def test_all_hold(self, rule: dict[str, Any]) -> None:
        self.is_valid(rule)
        self.has_as_many_good_examples_as_bad_ones(rule)
        self.has_an_unknown_among_the_good_examples(rule)
        self.has_a_release_on_each_side_of_every_bound(rule)
        self.names_what_exists(rule)
        self.labels_belong_to_its_operands(rule)
        self.crash_at_start_is_an_error(rule)

    def is_valid(self, rule: dict[str, Any]) -> None:
        _schema("rule").validate(rule)

    def has_as_many_good_examples_as_bad_ones(self, rule: dict[str, Any]) -> None:
        examples = rule["examples"]
        assert len(examples["good"]) >= len(examples["bad"])

    def has_an_unknown_among_the_good_examples(self, rule: dict[str, Any]) -> None:
        assert any(unknown(example) for example in rule["examples"]["good"])

    def has_a_release_on_each_side_of_every_bound(self, rule: dict[str, Any]) -> None:
        def inside(example: dict[str, Any], operator: str, bound: Version) -> bool:
            version = Version(str(example["version"]).removeprefix("b"))
            return {">=": version >= bound, "<": version < bound, "<=": version <= bound, ">": version > bound}[operator]

        outermost = {"vllm": "0.6", "sglang": "0.4"}
        named = {kind: [one for one in rule["examples"][kind] if "version" in one] for kind in ("bad", "good")}
        for operator, text in re.findall(r"([<>]=?)\s*([\w.]+)", rule["versions"]):
            bound = Version(text)
            assert all(inside(example, operator, bound) for example in named["bad"]), (
                f"a bad example is outside of {operator}{text}"
            )
            if text not in ("0", outermost.get(rule["engine"])):  # no release is before 0
                assert any(not inside(example, operator, bound) for example in named["good"]), (
                    f"no good example outside of {operator}{text}"
                )

    def names_what_exists(self, rule: dict[str, Any]) -> None:
        assert list(faults(rule, compile_rule(rule))) == []

    def labels_belong_to_its_operands(self, rule: dict[str, Any]) -> None:
        compiled = compile_rule(rule)
        named = {*operands(compiled["when"]), *compiled["at"]}
        assert set(rule.get("labels", {})) <= named

    def crash_at_start_is_an_error(self, rule: dict[str, Any]) -> None:
        if "crash-at-start" in (rule["impact"], *rule.get("impact-in", {}).values()):
            assert rule["severity"] == "error"


@pytest.mark.parametrize(
    ("engine", "least"), [("trtllm", 40), ("tgi", 40), ("llama.cpp", 40), ("lmdeploy", 40), ("ollama", 20)]
)
def test_each_engine_has_rules_of_its_own(engine: str, least: int) -> None:
    """Counts rules with evidence; TestEachRule holds that examples stand on both sides of each of their bounds."""
    own = [rule for rule in DATA if rule["engine"] == engine]
    assert len([rule for rule in own if rule["evidence"]]) >= least


class TestEachRuleOfTheCatalog:
    @together("rule", SHARED, name=id_of)
    def test_all_hold(self, rule: dict[str, Any]) -> None:
        self.is_valid(rule)
        self.says_whether_the_engine_starts(rule)
        self.has_examples_of_its_engines(rule)
        self.has_as_many_good_examples_as_bad_ones_and_an_unknown(rule)

    def is_valid(self, rule: dict[str, Any]) -> None:
        _schema("catalog-rule").validate(rule)

    def says_whether_the_engine_starts(self, rule: dict[str, Any]) -> None:
        assert (rule["impact"] == "crash-at-start") is (rule["complaint"] in REFUSED)
        assert (rule["severity"] == "error") is (rule["complaint"] in REFUSED | BROKEN)

    def has_examples_of_its_engines(self, rule: dict[str, Any]) -> None:
        for kind in ("bad", "good"):
            assert rule["examples"][kind]
            assert {example["engine"] for example in rule["examples"][kind]} <= set(engines_of(rule))

    def has_as_many_good_examples_as_bad_ones_and_an_unknown(self, rule: dict[str, Any]) -> None:
        examples = rule["examples"]
        assert len(examples["good"]) >= len(examples["bad"])
        assert any(unknown(example) for example in examples["good"])


class TestEachRuleAboutTheSurroundings:
    @together("rule", AROUND, name=id_of)
    def test_all_hold(self, rule: dict[str, Any]) -> None:
        self.is_valid(rule)
        self.never_says_that_the_engine_refuses(rule)
        self.has_an_unknown_among_the_good_examples(rule)

    def is_valid(self, rule: dict[str, Any]) -> None:
        _schema("container-rule").validate(rule)

    def never_says_that_the_engine_refuses(self, rule: dict[str, Any]) -> None:
        assert rule["impact"] != "crash-at-start" or rule["complaint"] in ("gpu-request", "not-started")  # others do

    def has_an_unknown_among_the_good_examples(self, rule: dict[str, Any]) -> None:
        assert any("$" in example["text"] or "{{" in example["text"] for example in rule["examples"]["good"])


def test_the_book_holds_every_rule() -> None:
    assert [rule.id for rule in rules()] == sorted([rule["id"] for rule in ALL])
    assert {rule.engine for rule in rules()} <= {*ENGINE_NAMES, ANY}


def test_marks_are_only_in_bad_examples() -> None:
    for rule in FILES:
        for example in rule["examples"]["good"]:
            assert OPEN not in json.dumps(example, ensure_ascii=False)
            assert CLOSE not in json.dumps(example, ensure_ascii=False)
