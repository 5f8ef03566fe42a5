"""Options of rules: what a rule file says of them, and what settings make of a rule."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.rules import folder
from servelint.rules.compile import RuleError, compile_rule
from servelint.rules.condition import compile_condition, filled, named_parts
from servelint.rules.load import headings
from servelint.rules.rule import Rule, option_fault
from tests.rules.test_folder import RULE, faults, write

DATA: dict[str, Any] = {
    "id": "vllm/some-rule",
    "title": "A rule with an option",
    "severity": "info",
    "confidence": "high",
    "impact": "best-practice",
    "engine": "vllm",
    "versions": "",
    "options": {"tokens": {"is": 3, "says": "how many are enough"}},
    "when": {"max-num-seqs": {"above": {"option": "tokens"}}},
    "unless": {"any": [{"port": {"in": [1]}}, {"not": {"dtype": {"is-not": {"option": "tokens"}}}}]},
    "at": "max-num-seqs",
    "message": "",
    "advice": "",
    "evidence": [],
}


def test_conditions_take_their_values() -> None:
    rule = Rule(compile_rule(DATA))
    assert rule.options == {"tokens": 3}
    assert rule.when == ["test", "max-num-seqs", "above", 3]
    assert rule.unless == ["or", [["test", "port", "in", [1]], ["not", ["test", "dtype", "is-not", 3]]]]


def test_settings_change_them_and_leave_the_rule_alone() -> None:
    rule = Rule(compile_rule(DATA))
    changed = rule.changed({"tokens": 5, "severity": "error"})
    assert (changed.severity, changed.when, changed.options) == ("error", ["test", "max-num-seqs", "above", 5], {"tokens": 5})
    assert (rule.severity, rule.when, rule.options) == ("info", ["test", "max-num-seqs", "above", 3], {"tokens": 3})
    assert changed.changed({"severity": "warning"}).when == changed.when
    assert rule.changed({}) is rule


def test_names_in_conditions() -> None:
    assert named_parts(compile_condition(DATA["when"])) == [{"option": "tokens"}]
    assert filled(["and", []], {}) == ["and", []]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"options": {}}, "names an option 'tokens', and it has none"),
        ({"unless": {"port": {"above": {"option": "ports"}}}}, "names an option 'ports', and it has none"),
        ({"when": {"port": {"above": {"options": "tokens"}}}}, "when: port: above: options is not an amount"),
    ],
)
def test_what_is_wrong(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RuleError, match=said.replace("{", "\\{")):
        compile_rule({**DATA, **change})


@pytest.mark.parametrize(
    ("default", "value", "good"),
    [
        (3, 4, True), (3, 0.5, True), (3, "4", False), (3, True, False),
        ([], ["a"], True), ([], [], True), ([], "a", False), ([], [1], False),
        ("a", "b", True), ("a", 1, False),
        (True, False, True), (True, "yes", False),
    ],
)  # fmt: skip
def test_kinds(default: object, value: object, good: bool) -> None:
    assert (option_fault(default, value) is None) is good


def test_every_option_of_the_book_says_what_it_is() -> None:
    with_options = {rule: options for rule, options in headings(()).items() if options}
    assert "vllm/mtp-many-tokens" in with_options
    assert all("severity" not in options for options in with_options.values())


class TestRulesOfUsers:
    OPTION = RULE.replace(
        "when:\n", "options:\n  names: {is: [m], says: models that may}\nwhen:\n  model: {not-in: {option: names}}\n"
    )

    @pytest.fixture(autouse=True)
    def fresh(self) -> None:
        folder.forget()

    def test_may_have_options(self, tmp_path: Any) -> None:
        book = folder.load(write(tmp_path, self.OPTION))
        assert book.problems == []
        assert book.rules[0].options == {"names": ["m"]}
        assert headings((str(tmp_path),))["policy/no-remote-code"] == {"names": ["m"]}

    @pytest.mark.parametrize(
        "text",
        ["{is: 1}", "{says: x}", "{is: [1], says: models}", "{is: 1, says: models, more: 2}", "3"],
    )
    def test_that_are_told_whole(self, text: str, tmp_path: Any) -> None:
        broken = self.OPTION.replace("{is: [m], says: models that may}", text)
        write(tmp_path, broken)
        assert faults(tmp_path)
