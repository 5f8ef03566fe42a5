"""The condition language of rules: three truth values, so that what is not known is neither true nor false."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from servelint.engines.config import Config, configs
from servelint.rules.condition import (
    _MAX_SEARCHED,
    OPERATORS,
    Truth,
    amount_of,
    compile_amount,
    compile_condition,
    evaluate,
    every_operand,
    filled,
    filled_amount,
    lacking,
    lacking_value,
    leading_test,
    named_parts,
    needs,
    operands,
    parts_of,
    predicate,
    same,
    shown,
)
from tests.launching import launch_in
from tests.together import together

WRITTEN = "vllm serve m --port 8000 --seed $SEED --enforce-eager --kv-cache-dtype fp8_e5m2 --gpu-memory-utilization 0.90"


def config(text: str = WRITTEN) -> Config:
    return configs(launch_in(text, "run.sh"), ["0.20.0"])[0]


def truth(condition: dict[str, Any], text: str = WRITTEN, closed: bool = False) -> Truth:
    return evaluate(compile_condition(condition), config(text), closed)


# -- one operand: every operator with a value, with a value that nobody knows, absent, and perhaps added by $ARGS

HOLDS = {"set": True, "is": 8000, "is-not": 1, "in": [1, 8000], "not-in": [1], "range": ">=8000", "prefix": "80",
         "contains": "00", "above": 7999, "below": 8001, "at-least": 8000, "at-most": 8000, "divisible-by": 16,
         "not-divisible-by": 3}  # fmt: skip
FAILS = {"set": False, "is": 1, "is-not": 8000, "in": [1], "not-in": [1, 8000], "range": "<8000", "prefix": "81",
         "contains": "x", "above": 8000, "below": 8000, "at-least": 8001, "at-most": 7999, "divisible-by": 3,
         "not-divisible-by": 16}  # fmt: skip


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
            assert predicate(compile_condition({"dtype": {operator: argument}}))(config(WRITTEN + " $ARGS")) is None
            assert evaluate(compile_condition({"dtype": {operator: argument}}), config(WRITTEN + " $ARGS")) is None

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


@together(
    "value, wanted, equal",
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


# -- comparing operands

SIZES = "vllm serve m --port 8000 --max-num-seqs 8 --max-num-batched-tokens 64 --seed $SEED --dtype auto"
AMOUNTS: dict[str, Any] = {
    "known": {"operand": "max-num-seqs"},
    "unknown": {"operand": "seed"},
    "absent": {"operand": "swap-space"},
}
COMPARED = {
    "is": {"known": True, "other": False}, "is-not": {"known": False, "other": True},
    "above": {"known": False, "other": True}, "below": {"known": False, "other": False},
    "at-least": {"known": True, "other": True}, "at-most": {"known": True, "other": False},
    "divisible-by": {"known": True, "other": True}, "not-divisible-by": {"known": False, "other": False},
}  # fmt: skip
"""operator -> what it makes of 8 and 8 (known), and of 64 and 8 (other)"""


@pytest.mark.parametrize("operator", COMPARED)
class TestComparingOperands:
    def test_with_a_known_one(self, operator: str) -> None:
        expected = COMPARED[operator]
        assert truth({"max-num-seqs": {operator: AMOUNTS["known"]}}, SIZES) is expected["known"]
        assert truth({"max-num-batched-tokens": {operator: AMOUNTS["known"]}}, SIZES) is expected["other"]

    @pytest.mark.parametrize("kind", ["unknown", "absent"])
    def test_with_one_that_is_not_known(self, operator: str, kind: str) -> None:
        assert truth({"max-num-seqs": {operator: AMOUNTS[kind]}}, SIZES) is None
        assert truth({"max-num-seqs": {operator: AMOUNTS[kind]}}, SIZES, closed=True) is None

    def test_with_a_default(self, operator: str) -> None:
        argument = {"operand": "swap-space", "default": 8}
        assert truth({"max-num-seqs": {operator: argument}}, SIZES) is COMPARED[operator]["known"]
        assert truth({"max-num-seqs": {operator: argument}}, SIZES + " $ARGS") is None
        assert truth({"max-num-seqs": {operator: {"operand": "seed", "default": 8}}}, SIZES) is None

    def test_of_one_that_is_not_known(self, operator: str) -> None:
        assert truth({"seed": {operator: AMOUNTS["known"]}}, SIZES) is None
        assert truth({"swap-space": {operator: AMOUNTS["known"]}}, SIZES) is (operator == "is-not")

    def test_of_one_that_is_no_number(self, operator: str) -> None:
        expected = {"is": False, "is-not": True}.get(operator)
        assert truth({"dtype": {operator: AMOUNTS["known"]}}, SIZES) is expected


def test_texts_of_operands() -> None:
    text = "vllm serve m --dtype half --kv-cache-dtype half --quantization $Q"
    assert truth({"dtype": {"is": {"operand": "kv-cache-dtype"}}}, text) is True
    assert truth({"dtype": {"is-not": {"operand": "kv-cache-dtype"}}}, text) is False
    assert truth({"dtype": {"is": {"operand": "quantization"}}}, text) is None


def test_amounts_in_a_list() -> None:
    assert truth({"port": {"in": [1, {"operand": "max-num-seqs"}]}}, SIZES) is False
    assert truth({"max-num-seqs": {"in": [1, {"operand": "max-num-seqs"}]}}, SIZES) is True
    assert truth({"port": {"not-in": [1, {"operand": "seed"}]}}, SIZES) is None
    assert truth({"port": {"in": [8000, {"operand": "seed"}]}}, SIZES) is True


def test_numbers_of_variables() -> None:
    text = "N=8 vllm serve m --max-num-seqs 8"
    assert truth({"env.N": {"is": {"operand": "max-num-seqs"}}}, text) is True
    assert truth({"env.N": {"above": {"operand": "max-num-seqs"}}}, text) is False
    assert truth({"env.N": {"divisible-by": 4}}, text) is True
    assert truth({"env.N": {"divisible-by": 4}}, text.replace("N=8", "N=8.0")) is None
    assert truth({"max-num-seqs": {"below": {"sum": ["env.N", 1]}}}, text) is True
    assert truth({"max-num-seqs": {"below": {"operand": "env.N"}}}, text.replace("N=8", "N=many")) is None


@together(
    "amount, value",
    [
        (8, 8),
        ({"sum": ["max-num-seqs", 1, 2]}, 11),
        ({"difference": ["max-num-seqs", 10]}, -2),
        ({"product": ["max-num-seqs", {"sum": ["max-num-batched-tokens", 1]}]}, 520),
        ({"smallest": ["port", "max-num-seqs", 16]}, 8),
        ({"quotient": ["max-num-batched-tokens", 10]}, 6),
        ({"remainder": ["max-num-batched-tokens", 10]}, 4),
        ({"largest-divisor": ["max-num-batched-tokens", 10]}, 8),
        ({"largest-divisor": [7, 5]}, 1),
        ({"sum": ["seed", 1]}, None),
        ({"sum": ["swap-space", 1]}, None),
        ({"sum": [{"operand": "swap-space", "default": 4}, 1]}, 5),
        ({"sum": ["dtype", 1]}, None),
        ({"quotient": ["port", 0]}, None),
        ({"remainder": ["port", {"difference": [1, 3]}]}, None),
        ({"largest-divisor": ["port", 0]}, None),
        ({"largest-divisor": [0, 8]}, None),
        ({"largest-divisor": [10**15, 10**15]}, None),
        ({"largest-divisor": [1, 8]}, 1),
        ({"largest-divisor": [7, 6]}, 1),
        ({"largest-divisor": [1_048_576, 2]}, 2),
        ({"largest-divisor": [1_048_577, 2]}, None),
        ({"largest-divisor": [_MAX_SEARCHED, 2]}, 2),
        ({"largest-divisor": [_MAX_SEARCHED + 1, 1]}, None),
        ({"operand": "swap-space", "default": {"operand": "max-num-seqs"}}, 8),
        ({"operand": "swap-space", "default": {"operand": "seed"}}, None),
    ],
)
def test_amounts(amount: Any, value: int | None) -> None:
    assert amount_of(compile_amount(amount, {}))(config(SIZES)) == value


@pytest.mark.parametrize(
    ("value", "grouped", "text"),
    [(8, False, "8"), (131072, True, "131,072"), (131072, False, "131072"),
     (1024.5, True, "1,024.5"), (8.9, False, "8.9"), (True, False, "true"), ("a", True, "a"),
     (["1"], False, "1"), (["1", "3", "7"], False, "1, 3 or 7")],
)  # fmt: skip
def test_how_amounts_are_printed(value: object, grouped: bool, text: str) -> None:
    assert shown(value, grouped) == text


def test_a_default_may_be_an_amount() -> None:
    written = {"operand": "swap-space", "default": {"sum": ["max-num-seqs", 1]}}
    assert amount_of(compile_amount(written, {}))(config(SIZES)) == 9


def test_nothing_is_a_multiple_of_zero() -> None:
    for test in ("divisible-by", "not-divisible-by"):
        assert truth({"port": {test: 0}}) is None
        assert truth({"port": {test: {"operand": "max-num-seqs"}}}, "vllm serve m --port 8000 --max-num-seqs 0") is None
        assert truth({"port": {test: -8}}) is None
        assert truth({"port": {test: 1}}) is (test == "divisible-by")


@pytest.mark.parametrize("test", ["prefix", "contains"])
def test_a_text_may_be_an_option_of_the_rule(test: str) -> None:
    assert compile_condition({"model": {test: {"option": "word"}}}) == ["test", "model", test, {"option": "word"}]


TOTAL = {"total": compile_amount({"product": ["max-num-seqs", 4]}, {})}


class TestNamedValues:
    def truth(self, condition: dict[str, Any], text: str = SIZES) -> Truth:
        return evaluate(compile_condition(condition, TOTAL), config(text))

    def test_can_be_tested(self) -> None:
        assert self.truth({"total": {"above": 31, "below": 33}}) is True
        assert self.truth({"total": 32}) is True
        assert self.truth({"total": {"not-divisible-by": {"operand": "max-num-batched-tokens"}}}) is True
        assert self.truth({"total": {"above": 31}}, "vllm serve m --max-num-seqs $N") is None
        assert self.truth({"total": {"is-not": 31}}, "vllm serve m") is None

    def test_can_be_compared_with(self) -> None:
        assert self.truth({"max-num-batched-tokens": {"above": {"operand": "total"}}}) is True
        assert self.truth({"max-num-batched-tokens": {"above": {"sum": ["total", 32]}}}) is False

    def test_are_what_earlier_ones_make(self) -> None:
        assert compile_amount({"sum": ["total", 1]}, TOTAL) == {"sum": [TOTAL["total"], 1]}

    @pytest.mark.parametrize(
        ("tree", "message"),
        [
            ({"total": {"set": True}}, "total: a value of the rule cannot be tested with set"),
            ({"total": {"prefix": "3"}}, "total: a value of the rule cannot be tested with prefix"),
            ({"total": {"contains": "3"}}, "total: a value of the rule cannot be tested with contains"),
            ({"total": {"range": ">=3"}}, "total: a value of the rule cannot be tested with range"),
            ({"port": {"is": {"operand": "total", "default": 1}}}, "total is a value of the rule and takes no default"),
        ],
    )
    def test_that_are_asked_for_what_they_do_not_have(self, tree: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            compile_condition(tree, TOTAL)


def test_releases() -> None:
    for versions, expected in ((">=0.20", True), ("<0.20", False), (">=0.11,<0.21", True), (">=0.20.1", False)):
        assert truth({"versions": versions}) is expected
        assert truth({"not": {"versions": versions}}) is not expected
    unreleased = configs(launch_in("vllm serve m", "run.sh"), [])[0]
    assert evaluate(compile_condition({"versions": ">=0.20"}), unreleased) is None


def test_names_of_the_catalog() -> None:
    methods = {"names": "deprecated-quantization"}
    assert truth({"quantization": {"in": methods}}, "vllm serve m -q fbgemm_fp8") is True
    assert truth({"quantization": {"in": methods}}, "vllm serve m -q fp8") is False
    assert truth({"quantization": {"not-in": methods}}, "vllm serve m -q fp8") is True
    assert truth({"quantization": {"in": methods}}, "vllm serve m -q $Q") is None
    assert truth({"quantization": {"in": {"names": "no-such-kind"}}}, "vllm serve m -q fp8") is None
    assert truth({"quantization": {"in": methods}}, "vllm serve m -q rtn") is False
    assert truth({"quantization": {"in": {**methods, "release": "any"}}}, "vllm serve m -q rtn") is True


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


@together(
    "tree, message",
    [
        ({}, "a condition is a mapping with at least one key"),
        (None, "a condition is a mapping with at least one key"),
        ([{"a": 1}], "a condition is a mapping with at least one key"),
        ({"any": []}, "any takes a list of conditions"),
        ({"all": {"a": 1}}, "all takes a list of conditions"),
        ({"not": []}, "a condition is a mapping with at least one key"),
        ({"port": {}}, "port has no operator; use one of set, is, .*, not-divisible-by"),
        (
            {"port": {"above": "max-num-seqs"}},
            r"port: above: 'max-num-seqs' is not a number; write \{operand: NAME\} for the value of an operand",
        ),
        (
            {"port": {"above": {"operands": "a"}}},
            "port: above: operands is not an amount; use one of operand, option, .*, largest-divisor",
        ),
        ({"port": {"above": {"operand": ""}}}, "port: above: operand takes a name"),
        ({"port": {"above": {"operand": "a", "plus": 1}}}, "port: above: operand does not take plus, only default"),
        ({"port": {"above": {"product": ["a"]}}}, "port: above: product takes a list of two or more amounts"),
        ({"port": {"above": {"quotient": ["a", 2, 3]}}}, "port: above: quotient takes a list of two amounts"),
        ({"port": {"above": {"sum": ["a", True]}}}, "port: above: True is not a number"),
        ({"port": {"above": {"sum": ["a", {"names": "x"}]}}}, "is not a number"),
        ({"port": {"above": [1]}}, "port: above: takes one value, not a list"),
        ({"port": {"is": [1]}}, "port: is: takes one value, not a list"),
        ({"port": {"in": 1}}, r"port: in: takes a list, \{names: KIND\} or \{option: NAME\}"),
        ({"port": {"in": {"names": "x", "release": "0.1"}}}, "port: in: names takes release: any, or no release at all$"),
        ({"port": {"set": 1}}, "port: set: write true or false"),
        ({"port": {"prefix": {"operand": "a"}}}, r"port: prefix: takes a text or \{option: NAME\}"),
        ({"port": {"contains": 8}}, "port: contains: 8 is not a text"),
        ({"versions": [1]}, 'versions takes a range such as ">=0.26,<0.30"$'),
        ({"versions": ">=x"}, "'>=x' is not a release bound such as >=0.19"),
        ({"port": {"matches": "x"}}, "port: matches is not an operator; use one of set, is, .*, not-divisible-by"),
        ({"port": [1, 2]}, r"port: write \{in: \[...\]\} for a list of values"),
        ({"port": None}, r"port: write \{in: \[...\]\} for a list of values"),
    ],
)
def test_what_is_no_condition(tree: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"(?:{message})$"):
        compile_condition(tree)


def test_operands_in_the_order_written() -> None:
    tree = {"b": 1, "any": [{"a": 1}, {"not": {"c": {"set": True}}}], "not": {"b": 2}}
    assert operands(compile_condition(tree)) == ["b", "a", "c"]


def test_operands_of_a_comparison_are_not_tested() -> None:
    tree = {"a": {"above": {"operand": "b"}}, "versions": ">=0.1"}
    assert operands(compile_condition(tree)) == ["a"]
    assert operands(compile_condition({"versions": ">=0.1"})) == []
    total = {"total": compile_amount({"sum": ["c", 1]}, {})}
    assert operands(compile_condition({"total": {"above": 2}, "a": 1}, total)) == ["a"]


@together(
    "tree, names",
    [
        ({"seed": 1}, ["seed"]),
        ({"not": {"seed": 1}}, ["seed"]),
        ({"all": [{"port": 8000}, {"seed": {"in": [1, 2]}}]}, ["seed"]),
        ({"port": {"above": {"sum": ["seed", 1]}}}, ["seed"]),
        ({"total": {"above": 8000}}, ["seed"]),
        ({"port": {"in": [{"operand": "seed"}, 1]}}, ["seed"]),
        ({"seed": {"set": True}}, []),
        ({"port": 1, "seed": 1}, []),
    ],
)
def test_what_leaves_a_condition_unknown(tree: dict[str, Any], names: list[str]) -> None:
    total = {"total": compile_amount({"sum": ["seed", 1]}, {})}
    assert lacking(compile_condition(tree, total), config()) == names


def test_a_closed_world_lacks_what_is_written_and_not_known() -> None:
    condition, launch = compile_condition({"any": [{"dtype": "half"}, {"seed": 1}]}), config(WRITTEN + " $ARGS")
    assert lacking(condition, launch) == ["dtype", "seed"]
    assert lacking(condition, launch, closed=True) == ["seed"]


def test_what_a_condition_lacks_where_no_release_is_known() -> None:
    bare = configs(launch_in(WRITTEN, "run.sh"), [])[0]
    tree = compile_condition({"versions": ">=0.1", "port": 8000, "seed": 1})
    assert lacking(tree, bare) == ["release", "seed"]


def test_options_are_filled_in_everywhere() -> None:
    tree = {
        "versions": ">=0.1",
        "any": [{"a": {"above": {"option": "n"}}}, {"not": {"b": {"in": [1, {"option": "n"}]}}}],
        "c": {"in": {"names": "x"}},
        "d": {"below": {"operand": "e", "default": {"option": "n"}}},
    }
    wanted = {
        "versions": ">=0.1",
        "any": [{"a": {"above": 5}}, {"not": {"b": {"in": [1, 5]}}}],
        "c": {"in": {"names": "x"}},
        "d": {"below": {"operand": "e", "default": 5}},
    }
    assert filled(compile_condition(tree), {"n": 5}) == compile_condition(wanted)


def test_every_operand_that_is_asked_for() -> None:
    tree = {"b": {"above": {"sum": ["c", {"operand": "d", "default": {"operand": "e"}}]}}, "a": {"in": [1, {"operand": "f"}]}}
    assert every_operand(compile_condition(tree)) == ["b", "c", "d", "e", "a", "f"]
    assert operands(compile_condition(tree)) == ["b", "a"]
    total = {"total": compile_amount({"sum": ["c", 1]}, {})}
    assert every_operand(compile_condition({"total": {"above": 2}}, total)) == ["c"]


@together(
    "tree, needed",
    [
        ({"b": 1, "a": {"set": True}}, [["a"], ["b"]]),
        ({"b": 0, "a": {"is": False}}, [["a"], ["b"]]),
        ({"speculative-config.method": "mtp"}, [["speculative-config.method"]]),
        ({"model": {"prefix": "x/"}}, []),
        ({"a": {"set": False}}, []),
        ({"a": {"is-not": 1}}, []),
        ({"a": {"not-in": [1]}}, []),
        ({"effective.x": 1, "container.ipc": "host"}, []),
        ({"env.A": "1", "model.hybrid": True, "gpu.count": {"above": 1}}, [["env.A"], ["gpu."], ["model."]]),
        ({"env.A": {"set": False}, "model.hybrid": {"is-not": True}}, []),
        ({"a": {"above": {"operand": "b"}}}, [["a"], ["b"]]),
        ({"a": {"above": {"operand": "b", "default": {"operand": "c"}}}}, [["a"]]),
        ({"a": {"above": {"product": ["model.heads", "effective.tp-size", 2]}}}, [["a"], ["model."]]),
        ({"a": {"is-not": {"operand": "b"}}}, []),
        ({"versions": ">=0.1", "a": 1}, [["a"]]),
        ({"model.repository": {"set": True}, "draft.context": {"above": 1}}, []),
        ({"any": [{"a": 1}, {"b": 1}]}, [["a", "b"]]),
        ({"any": [{"a": 1, "c.d": 2}, {"b": 1}]}, [["a", "b"]]),
        ({"any": [{"a": 1}, {"effective.x": 1}]}, []),
        ({"not": {"a": 1}}, []),
        ({"all": [{"a": 1}, {"b": {"above": 1}}]}, [["a"], ["b"]]),
    ],
)
def test_what_a_condition_cannot_hold_without(tree: dict[str, Any], needed: list[list[str]]) -> None:
    assert needs(compile_condition(tree)) == needed


@together(
    "name, need",
    [
        *[(name, [[name]]) for name in ("port", "env.A", "speculative-config.method", "models.a", "gpus", "model-impl", "gpu")],
        *[(name, [["model."]]) for name in ("model.hybrid", "model.size")],
        *[(name, [["gpu."]]) for name in ("gpu.count", "gpu.name")],
        *[(f"{head}.x", []) for head in ("effective", "container", "draft", "launcher", "prefill", "stack")],
        *[(name, []) for name in ("model", "model.repository")],
    ],
)
def test_what_a_launch_must_have_for_an_operand_to_be_known(name: str, need: list[list[str]]) -> None:
    assert needs(compile_condition({name: 1})) == need
    assert needs(compile_condition({name: {"set": True}})) == need
    assert needs(compile_condition({name: {"is-not": 1}})) == []
    assert needs(compile_condition({"total": {"above": 1}}, {"total": {"sum": [{"operand": name}, 1]}})) == need
    assert needs(compile_condition({"total": {"is-not": 1}}, {"total": {"sum": [{"operand": name}, 1]}})) == need


@together("amount", [{"option": "n"}, {"names": "kind"}, {"operand": "b", "default": 1}, 8], name=repr)
def test_an_amount_that_needs_nothing(amount: object) -> None:
    assert needs(["test", "a", "in", amount]) == [["a"]]


def test_an_alternative_is_needed_by_its_shortest_need() -> None:
    part = {"any": [{"a": 1}, {"b": 1}]}
    assert needs(compile_condition({"any": [{**part, "c": 1}, {"d": 1}]})) == [["c", "d"]]
    assert needs(compile_condition({"all": [{"a": 1}, {"a": 2}, {"b": 1}]})) == [["a"], ["b"]]


class Fixed:
    """A launch whose every operand is the same."""

    def __init__(self, value: object, present: bool | None = True) -> None:
        self.value, self.present = value, present

    def operand(self, _name: str) -> Fixed:
        return self


def amount(written: Any, value: object, present: bool | None = True) -> Any:
    fixed: Any = Fixed(value, present)
    return amount_of(compile_amount(written, {}))(fixed)


@together(
    "name, written",
    [
        *[(name, True) for name in ("port", "env.A", "a.b", "model", "models.a", "prefill.port", "launcher.port")],
        *[(f"{head}.x", False) for head in ("model", "draft", "gpu", "container", "effective", "stack", "prefill.effective")],
    ],
)
def test_texts_that_a_launch_writes_are_numbers_where_they_are_compared(name: str, written: bool) -> None:
    fixed: Any = Fixed("8")
    assert amount({"operand": name}, "8") == (8 if written else "8")
    assert amount({"sum": [name, 1]}, "8") == (9 if written else None)
    for test, holds in (("above", 7), ("below", 9), ("at-least", 8), ("at-most", 8)):
        assert evaluate(compile_condition({name: {test: holds}}), fixed) is True
        expected = True if written else None
        assert evaluate(compile_condition({name: {test: {"operand": "model.x", "default": 1}}}), fixed) is None
        assert evaluate(compile_condition({name: {test: {"sum": [holds, 0]}}}), fixed) is expected


@together(
    "value, present, expected",
    [
        (8, True, 9),
        (True, True, None),
        (8.0, True, None),
        (None, True, None),
        (8, None, None),
        (8, False, 5),
        ("x", True, None),
    ],
)
def test_only_whole_numbers_are_added_up(value: object, present: bool | None, expected: int | None) -> None:
    assert amount({"sum": [{"operand": "a", "default": 4}, 1]}, value, present) == expected


@together(
    "value, by, expected",
    [(8, 4, True), (8, 3, False), (0, 4, True), (8, 1, True), (8, 0, None), (8, -4, None), ("8", 4, True), ("x", 4, None),
     (8.0, 4, None), (True, 1, None), (8, 4.0, None)],
)  # fmt: skip
def test_what_is_a_multiple(value: object, by: Any, expected: Truth) -> None:
    fixed: Any = Fixed(value)
    for test, wanted in (("divisible-by", True), ("not-divisible-by", False)):
        found = evaluate(compile_condition({"total": {test: by}}, {"total": {"operand": "env.A"}}), fixed)
        assert found is (None if expected is None else expected is wanted)


@together(
    "value, listed, holds",
    [
        (True, ["true"], True),
        (True, ["TRUE", "x"], True),
        (False, ["true"], False),
        (8, ["8"], True),
        (8, [8], True),
        (8, [8.0], True),
        (8, [7, 9], False),
        ("a", ["A"], False),
        ("a", ["b", "a"], True),
        ("true", [True], True),
        (0.5, [0.5, "a"], True),
    ],
)
def test_what_is_in_a_list(value: object, listed: list[Any], holds: bool) -> None:
    fixed: Any = Fixed(value)
    assert evaluate(compile_condition({"model.x": {"in": listed}}), fixed) is holds
    assert evaluate(compile_condition({"model.x": {"not-in": listed}}), fixed) is not holds


@together(
    "tree, order",
    [
        ({"model.x": 1, "a": 1, "versions": ">=1"}, ["release", "a", "model.x"]),
        ({"total": 1, "a": 1}, ["a", None]),
        ({"any": [{"model.x": 1}, {"a": 1}], "b": 1}, ["b", "or"]),
        ({"not": {"model.x": 1}, "b": 1}, ["b", "not"]),
        ({"model.x": 1, "not": {"a": 1}}, ["not", "model.x"]),
        ({"model.x": 1, "any": [{"a": 1}, {"b": 1}]}, ["or", "model.x"]),
        ({"model.x": 1, "all": [{"a": 1}, {"b": 1}]}, ["and", "model.x"]),
        ({"any": [{"c": 1}, {"a": 1}], "b": 1}, ["or", "b"]),
        ({"all": [{"versions": ">=1"}, {"model.x": 1}], "b": 1}, ["b", "and"]),
        ({"model": 1, "a": 1}, ["model", "a"]),
    ],
)
def test_what_costs_most_is_tested_last(tree: dict[str, Any], order: list[str | None]) -> None:
    kind, parts = compile_condition(tree, {"total": {"sum": [{"operand": "a"}, 1]}})
    shown = [(part[1] if isinstance(part[1], str) else None) if part[0] == "test" else part[0] for part in parts]
    assert (kind, shown) == ("and", order)


@together(
    "tree, first",
    [
        ({"a": 1}, ["test", "a", "is", 1]),
        ({"all": [{"all": [{"a": 1}, {"b": 1}]}, {"c": 1}]}, ["test", "a", "is", 1]),
        ({"any": [{"a": 1}, {"b": 1}]}, None),
        ({"not": {"a": 1}}, None),
    ],
)
def test_the_test_that_a_condition_begins_with(tree: dict[str, Any], first: list[Any] | None) -> None:
    assert leading_test(compile_condition(tree)) == first


def test_a_condition_may_begin_with_a_range_of_releases() -> None:
    found = leading_test(compile_condition({"b": 1, "versions": ">=0.1"}))
    assert found is not None
    assert found[0] == "release"


@together(
    "written, parts, made",
    [
        (8, [], 8),
        ("a", [], "a"),
        ({"option": "n"}, [{"option": "n"}], 5),
        ({"operand": "a"}, [{"operand": "a"}], {"operand": "a"}),
        ({"names": "k"}, [{"names": "k"}], {"names": "k"}),
        (
            {"operand": "a", "default": {"option": "n"}},
            [{"operand": "a", "default": {"option": "n"}}, {"option": "n"}],
            {"operand": "a", "default": 5},
        ),
        (
            {"sum": ["a", {"product": [{"option": "n"}, 2]}]},
            [{"operand": "a"}, {"option": "n"}],
            {"sum": [{"operand": "a"}, {"product": [5, 2]}]},
        ),
    ],
)
def test_parts_of_amounts_and_their_options(written: object, parts: list[Any], made: object) -> None:
    compiled = compile_amount(written, {})
    assert list(parts_of(compiled)) == parts
    assert filled_amount(compiled, {"n": 5}) == made
    assert named_parts(["test", compiled if isinstance(compiled, dict) else "b", "is", compiled])[-len(parts) or 9 :] == parts


@together(
    "amount, present, value, names",
    [
        ({"operand": "a"}, True, 1, []),
        ({"operand": "a"}, True, None, ["a"]),
        ({"operand": "a"}, None, None, ["a"]),
        ({"operand": "a"}, False, None, []),
        ({"sum": ["a", {"operand": "b", "default": 1}, "a"]}, None, None, ["a", "b"]),
        ({"names": "k"}, None, None, []),
        (8, None, None, []),
    ],
)
def test_what_leaves_an_amount_unknown(amount: object, present: bool | None, value: object, names: list[str]) -> None:
    fixed: Any = Fixed(value, present)
    assert lacking_value(compile_amount(amount, {}), fixed) == names


@together(
    "written, message",
    [
        ({}, r"\{\} is not an amount; write a number or \{operand: NAME\}"),
        (None, r"None is not an amount; write a number or \{operand: NAME\}"),
        ([1], r"\[1\] is not an amount; write a number or \{operand: NAME\}"),
        ({"option": 1}, "option takes a name"),
        ({"option": "a", "default": 1}, "option does not take default"),
        ({"names": ""}, "names takes a name"),
        ({"names": "a", "default": 1}, "names does not take default, only release"),
        ({"operand": "a", "release": "any"}, "operand does not take release, only default"),
        ({"sum": "a"}, "sum takes a list of two or more amounts"),
        ({"sum": []}, "sum takes a list of two or more amounts"),
        ({"difference": ["a"]}, "difference takes a list of two amounts"),
        ({"sum": ["a", "b"], "product": [1, 2]}, "sum does not take product"),
        ({"total": 1}, "total is not an amount; use one of operand, .*, largest-divisor"),
    ],
)
def test_what_is_no_amount(written: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"^(?:{message})$"):
        compile_amount(written, {"total": 3})


@together(
    "tree, message",
    [
        ({"versions": " "}, 'versions takes a range such as ">=0.26,<0.30"'),
        ({"versions": ""}, 'versions takes a range such as ">=0.26,<0.30"'),
        ({"a": {"range": " "}}, 'a: range: takes a range such as ">=5,<6"'),
        ({"a": {"range": 5}}, 'a: range: takes a range such as ">=5,<6"'),
        ({"a": {"range": ["<1"]}}, 'a: range: takes a range such as ">=5,<6"'),
        ({"a": {"below": True}}, r"a: below: True is not a number; write \{operand: NAME\} for the value of an operand"),
        ({"a": {"divisible-by": "2"}}, "a: divisible-by: '2' is not a number; write .* for the value of an operand"),
        ({"a": {"not-in": "x"}}, r"a: not-in: takes a list, \{names: KIND\} or \{option: NAME\}"),
        ({"a": {"in": {"operand": "b"}}}, r"a: in: takes a list, \{names: KIND\} or \{option: NAME\}"),
        ({"a": {"set": None}}, "a: set: write true or false"),
        ({"any": ()}, "any takes a list of conditions"),
        ({"all": []}, "all takes a list of conditions"),
    ],
)  # fmt: skip
def test_what_an_operator_does_not_take(tree: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"^(?:{message})$"):
        compile_condition(tree)


def test_a_list_of_amounts_is_compiled() -> None:
    tree = {"a": {"not-in": [{"sum": ["total", 1]}, {"operand": "total"}, "x"]}}
    assert compile_condition(tree, {"total": 3}) == ["test", "a", "not-in", [{"sum": [3, 1]}, 3, "x"]]
    assert compile_condition({"a": {"in": {"option": "n"}}}) == ["test", "a", "in", {"option": "n"}]
    assert compile_condition({"a": {"below": 0.5}}) == ["test", "a", "below", 0.5]
