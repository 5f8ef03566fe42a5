"""Which rules a launch is compared with, by what it has."""

from __future__ import annotations

from servelint.engines.releases import release_key
from servelint.rules.index import RuleIndex
from servelint.rules.load import rules_of

KEYS = (release_key("0.19.1"),)


def test_what_no_rule_needs_changes_nothing() -> None:
    there = {"speculative-config", "kv-cache-dtype", "env.VLLM_USE_V1", "model."}
    rules = RuleIndex(rules_of("vllm"))
    first = rules.candidates(KEYS, there)
    assert first
    assert rules.candidates(KEYS, there | {"env.SETTING_OF_SOMEBODY", "no-such-option"}) == first
    assert all(not there.isdisjoint(names) for rule in first for names in rule.needs)


def test_what_a_rule_needs_is_asked_for_each_time() -> None:
    rules = RuleIndex(rules_of("vllm"))
    bare, more = rules.candidates(KEYS, set()), rules.candidates(KEYS, {"speculative-config"})
    assert {rule.id for rule in bare} < {rule.id for rule in more}
    assert all(not rule.needs for rule in bare)
    assert rules.candidates(KEYS, set()) == bare
