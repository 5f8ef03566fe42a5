"""Which rules a launch is compared with, by what it has."""

from __future__ import annotations

import pytest

from servelint.engines.config import configs
from servelint.engines.releases import release_key
from servelint.rules.index import RuleIndex
from servelint.rules.load import rules_of
from tests.launching import launch_in

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
    bare, more = rules.candidates(KEYS, set()), rules.candidates(KEYS, {"speculative-config", "speculative-config.method"})
    assert {rule.id for rule in bare} < {rule.id for rule in more}
    assert all(not rule.needs for rule in bare)
    assert rules.candidates(KEYS, set()) == bare
    assert "speculative-config.method" in rules.keys["speculative-config"]["method"]
    without_keys = rules.candidates(KEYS, {"speculative-config"})
    assert {rule.id for rule in without_keys} < {rule.id for rule in more}


@pytest.mark.parametrize(
    ("words", "there"),
    [
        ("""--speculative-config '{"method": "mtp"}'""", {"method"}),
        ("""--speculative-config '{"draft-sample-method": "greedy"}'""", {"draft_sample_method"}),
        ("""--speculative-config "$CONFIG" """, None),
        ("""--speculative-config "{\\"method\\": \\"mtp\\", $MORE}" """, None),
        ("--speculative-config.method mtp", None),
        ("--port 1", None),
    ],
)
def test_a_key_that_the_launch_cannot_have_selects_no_rule(words: str, there: set[str] | None) -> None:
    (config,) = configs(launch_in(f"vllm serve m {words}\n", "run.sh"), ["0.33.0"])
    assert config.reading.keys("speculative-config") == there


@pytest.mark.parametrize(
    "words",
    [
        'Qwen/Qwen3.6-27B --speculative-config \'{"method": "mtp", "num_speculative_tokens": 2}\' --kv-cache-dtype fp8',
        "$MODEL --tensor-parallel-size 3 --load-format dummy --quantization awq",
        'deepseek-ai/DeepSeek-V3.2 --speculative-config "$CONFIG" $MORE',
    ],
)
def test_only_rules_that_do_not_hold_are_left_out_by_their_first_test(words: str) -> None:
    rules = RuleIndex(rules_of("vllm"))
    (config,) = configs(launch_in(f"vllm serve {words}\n", "run.sh"), ["0.19.1"])
    there = {name for rule in rules.rules for names in rule.needs for name in names}
    every, kept = rules.candidates(KEYS, there), rules.that_may_hold(KEYS, there, config)
    assert [rule for rule in every if rule in kept] == kept
    assert [rule.id for rule in every if rule.holds(config)] == [rule.id for rule in kept if rule.holds(config)]
    assert any(rule.holds(config) for rule in kept)
    assert len(kept) < len(every) / 4
