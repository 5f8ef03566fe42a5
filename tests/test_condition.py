"""The condition language of rules: three truth values, so that what is not known is neither true nor false."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from servelint.engines.config import Config, configs
from servelint.rules.condition import OPERATORS, Truth, compile_condition, evaluate, needs, operands, same
from tests.launching import launch_in

WRITTEN = "vllm serve m --port 8000 --seed $SEED --enforce-eager --kv-cache-dtype fp8_e5m2 --gpu-memory-utilization 0.90"


def config(text: str = WRITTEN) -> Config:
    return configs(launch_in(text, "run.sh"), ["0.20.0"])[0]


def truth(condition: dict[str, Any], text: str = WRITTEN, closed: bool = False) -> Truth:
    return evaluate(compile_condition(condition), config(text), closed)


# -- one operand: every operator with a value, with a value that nobody knows, absent, and perhaps added by $ARGS

HOLDS = {"set": True, "is": 8000, "is-not": 1, "in": [1, 8000], "not-in": [1], "prefix": "80", "above": 7999, "below": 8001,
         "at-least": 8000, "at-most": 8000}  # fmt: skip
FAILS = {"set": False, "is": 1, "is-not": 8000, "in": [1], "not-in": [1, 8000], "prefix": "81", "above": 8000, "below": 8000,
         "at-least": 8001, "at-most": 7999}  # fmt: skip


def test_the_tables_here_have_every_operator() -> None:
    assert tuple(HOLDS) == tuple(FAILS) == OPERATORS


@pytest.mark.parametrize("operator", OPERATORS)
class TestOperators:
    def test_of_a_known_value(self, operator: str) -> None:
        assert truth({"port": {operator: HOLDS[operator]}}) is True
        assert truth({"port": {operator: FAILS[operator]}}) is False

    def test_of_a_value_that_nobody_knows(self, operator: str) -> None:
        expected = True if operator == "set" else None
        assert truth({"seed": {operator: HOLDS[operator]}}) is expected
        assert truth({"seed": {operator: HOLDS[operator]}}, closed=True) is expected

    def test_of_what_is_absent(self, operator: str) -> None:
        for argument in (HOLDS[operator], FAILS[operator]):
            expected = argument is False if operator == "set" else operator in ("is-not", "not-in")
            assert truth({"dtype": {operator: argument}}) is expected
            assert truth({"dtype": {operator: argument}}, closed=True) is expected

    def test_of_what_an_unknown_word_may_add(self, operator: str) -> None:
        for argument in (HOLDS[operator], FAILS[operator]):
            assert truth({"dtype": {operator: argument}}, WRITTEN + " $ARGS") is None

    def test_of_what_an_unknown_word_may_add_in_a_closed_world(self, operator: str) -> None:
        for argument in (HOLDS[operator], FAILS[operator]):
            expected = argument is False if operator == "set" else operator in ("is-not", "not-in")
            assert truth({"dtype": {operator: argument}}, WRITTEN + " $ARGS", closed=True) is expected


@pytest.mark.parametrize("operator", ["above", "below", "at-least", "at-most"])
def test_a_comparison_of_no_number_is_not_known(operator: str) -> None:
    assert truth({"kv-cache-dtype": {operator: 1}}) is None


@pytest.mark.parametrize("operator", ["above", "below", "at-least", "at-most"])
def test_a_bound_that_no_number_reaches_is_not_known(operator: str) -> None:
    assert truth({"port": {operator: 10**400}}) is None


def test_an_unknown_stays_unknown_in_a_closed_world() -> None:
    # passed through from an environment that no file shows: written, but with a value that nobody knows
    text = "docker run -e A vllm/vllm-openai:v0.20.0 --model m"
    assert truth({"env.A": "1"}, text, closed=True) is None
    assert truth({"env.B": "1"}, text, closed=True) is False


@pytest.mark.parametrize(
    ("value", "wanted", "equal"),
    [
        (8000, 8000, True),
        (8000, "8000", True),
        ("8000", 8000, True),
        (0.9, 0.9, True),
        ("0.90", 0.9, True),
        (1.0, 1, True),
        ("1", "1.0", False),
        ("fp8", "fp8", True),
        ("fp8", "FP8", False),
        (True, True, True),
        (True, "true", True),
        ("True", True, True),
        ("1", True, False),
        (False, True, False),
        ("mtp", 1, False),
        ("", "", True),
    ],
)
def test_same(value: object, wanted: object, equal: bool) -> None:
    assert same(value, wanted) is equal


# -- several operands

TRUE: dict[str, Any] = {"port": 8000}
FALSE: dict[str, Any] = {"port": 1}
UNKNOWN: dict[str, Any] = {"seed": 1}
BY_TRUTH: dict[Truth, dict[str, Any]] = {True: TRUE, False: FALSE, None: UNKNOWN}


def every(truths: tuple[Truth, ...]) -> Truth:
    return False if False in truths else None if None in truths else True


def some(truths: tuple[Truth, ...]) -> Truth:
    return True if True in truths else None if None in truths else False


@pytest.mark.parametrize("truths", list(product(BY_TRUTH, repeat=2)), ids=str)
class TestLogic:
    def test_all(self, truths: tuple[Truth, ...]) -> None:
        assert truth({"all": [BY_TRUTH[one] for one in truths]}) is every(truths)

    def test_any(self, truths: tuple[Truth, ...]) -> None:
        assert truth({"any": [BY_TRUTH[one] for one in truths]}) is some(truths)

    def test_not(self, truths: tuple[Truth, ...]) -> None:
        inner = every(truths)
        assert truth({"not": {"all": [BY_TRUTH[one] for one in truths]}}) is (None if inner is None else not inner)

    def test_the_opposite_of_any_is_all_of_the_opposites(self, truths: tuple[Truth, ...]) -> None:
        parts = [BY_TRUTH[one] for one in truths]
        assert truth({"not": {"any": parts}}) is truth({"all": [{"not": part} for part in parts]})


def test_all_keys_of_a_mapping_must_hold() -> None:
    assert truth({"port": 8000, "enforce-eager": True}) is True
    assert truth({"port": 8000, "enforce-eager": False}) is False
    assert truth({"port": 8000, "seed": 1}) is None
    assert truth({"gpu-memory-utilization": {"at-least": 0.9, "below": 1}}) is True
    assert truth({"gpu-memory-utilization": {"at-least": 0.9, "below": 0.9}}) is False


# -- compiling


@pytest.mark.parametrize(
    ("tree", "compiled"),
    [
        ({"port": 8000}, ["test", "port", "is", 8000]),
        ({"port": {"set": True}}, ["test", "port", "set", True]),
        ({"port": {"above": 1, "below": 9}}, ["and", [["test", "port", "above", 1], ["test", "port", "below", 9]]]),
        ({"a": 1, "b": "x"}, ["and", [["test", "a", "is", 1], ["test", "b", "is", "x"]]]),
        ({"any": [{"a": 1}, {"b": 2}]}, ["or", [["test", "a", "is", 1], ["test", "b", "is", 2]]]),
        ({"not": {"a": 1}}, ["not", ["test", "a", "is", 1]]),
        ({"all": [{"a": 1}]}, ["and", [["test", "a", "is", 1]]]),
    ],
)
def test_compiled(tree: dict[str, Any], compiled: list[Any]) -> None:
    assert compile_condition(tree) == compiled


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({}, "a condition is a mapping"),
        (None, "a condition is a mapping"),
        ([{"a": 1}], "a condition is a mapping"),
        ({"any": []}, "any takes a list of conditions"),
        ({"all": {"a": 1}}, "all takes a list of conditions"),
        ({"not": []}, "a condition is a mapping"),
        ({"port": {}}, "port says nothing"),
        ({"port": {"matches": "x"}}, "port: matches is not an operator; use one of set, is"),
        ({"port": [1, 2]}, r"port: write \{in: \[...\]\}"),
        ({"port": None}, r"port: write \{in: \[...\]\}"),
    ],
)
def test_what_is_no_condition(tree: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile_condition(tree)


def test_operands_in_the_order_written() -> None:
    tree = {"b": 1, "any": [{"a": 1}, {"not": {"c": {"set": True}}}], "not": {"b": 2}}
    assert operands(compile_condition(tree)) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("tree", "needed"),
    [
        ({"b": 1, "a": {"set": True}}, [["a"], ["b"]]),
        ({"speculative-config.method": "mtp"}, [["speculative-config"]]),
        ({"model": {"prefix": "x/"}}, []),
        ({"a": {"set": False}}, []),
        ({"a": {"is-not": 1}}, []),
        ({"a": {"not-in": [1]}}, []),
        ({"effective.x": 1, "container.ipc": "host"}, []),
        ({"env.A": "1", "model.hybrid": True, "gpu.count": {"above": 1}}, [["env.A"], ["gpu."], ["model."]]),
        ({"env.A": {"set": False}, "model.hybrid": {"is-not": True}}, []),
        ({"any": [{"a": 1}, {"b": 1}]}, [["a", "b"]]),
        ({"any": [{"a": 1, "c.d": 2}, {"b": 1}]}, [["a", "b"]]),
        ({"any": [{"a": 1}, {"effective.x": 1}]}, []),
        ({"not": {"a": 1}}, []),
        ({"all": [{"a": 1}, {"b": {"above": 1}}]}, [["a"], ["b"]]),
    ],
)
def test_what_a_condition_cannot_hold_without(tree: dict[str, Any], needed: list[list[str]]) -> None:
    assert needs(compile_condition(tree)) == needed
