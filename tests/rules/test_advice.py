"""Every advice and fix of every rule, on the rules' own bad examples, at the releases of each rule's range.

What an advice names must exist there, and each way that it offers must be accepted by servelint itself. SERVELINT_ALL_RELEASES
takes all examples and releases, in place of the first example at the first, the middle and the last release.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from servelint.engines.releases import release_key
from servelint.readers import read
from servelint.rule_examples import example_text, unmarked
from servelint.rules import ranges
from tests.advice import follow, judged_at, ways
from tests.book import id_of
from tests.rules.judged import EVERYWHERE, each_judged
from tests.rules.test_duplicates import CAUSES, said_twice
from tests.rules.test_rules import ALL, asked
from tests.together import together

pytestmark = pytest.mark.book

FOLLOWED = 0.80
"""The share of rules whose advice is exact enough to follow, or has a fix. Others say what to measure, install or move."""


@together("rule", ALL, name=id_of)
def test_an_advice_holds_where_it_is_given_and_no_two_errors_say_the_same(rule: dict[str, Any]) -> None:
    judged = list(each_judged(rule))
    own = [one for one in judged if one.own is not None and (EVERYWHERE or one.number == 1)]
    assert own or not rule["examples"]["bad"]
    for launch, settings, release, findings, finding, _ in own:
        assert finding is not None
        wrong, _ = follow(launch, settings, release, findings, finding)
        assert wrong == [], f"{release}: {launch.source.text}\n{wrong}"
    more = {pair: said for one in judged for pair, said in said_twice(one).items() if pair not in CAUSES}
    assert not more, (
        "exclude one of them with `unless` or `versions`, or name their causes in test_duplicates.py:\n"
        + "\n".join(more.values())
    )


def test_most_advice_can_be_followed() -> None:
    """Counts what the first finding of each rule says, be it of the rule, of its cases or of its check.

    Rules that hold for several engines have examples for some of them; the others are not counted.
    """
    written = [first for rule in ALL if (first := next((one.own for one in each_judged(rule) if one.own), None)) is not None]
    exact = [one for one in written if ways(one.advice) or one.fix is not None]
    assert len(exact) / len(written) > FOLLOWED


# -- the engines' own verdicts

VERDICTS = Path(__file__).parent / "verdicts" / "advice.jsonl"
NOT_BY_ADVICE = (
    r"Blackwell|SM100|NIXL package|pip install|is not loaded|binary was not found|not found: |SGLANG_DEEPEP_V2_NUM_MAX"
    r"|architecture 'LlamaForCausalLM'|Unsupported speculative method: 'mtp'|Arctic Inference is required"
    r"|World size \(\d+\) is larger|couldn't connect|file does not exist: FILE|No package metadata|type `kimi_k2`"
    r"|config \(fp8\) does not match|experts in the model must be greater than 0|attention heads \(32\) must be divisible"
)
"""Refusals for the GPU, packages and files of the host that was asked, and for models of which it had another's config.json."""
ASKED = {"vllm": ("0.16.0", "0.33.0"), "sglang": ("0.5.12", "0.5.23")}
"""The releases whose own start-up code was asked, by engine."""


def advised() -> Iterator[dict[str, Any]]:
    """The launches that come of the advice about launches that do not start, at the releases that were asked."""
    for rule in ALL[:: 1 if EVERYWHERE else 2]:
        example = rule["examples"]["bad"][0] if rule["examples"]["bad"] else {}
        if rule.get("severity") != "error" or "run" not in example or "versions" not in rule:
            continue
        bounds = ranges.loaded(ranges.compile_range(rule["versions"]))
        for release in ASKED.get(rule["engine"], ()):
            if not ranges.contains(bounds, release_key(release)):
                continue
            settings, (launch,) = asked(example), read(unmarked(*example_text(example))[0]).launches
            before = judged_at(launch, settings, release)
            for finding in [one for one in before if one.rule == rule["id"]][:1]:
                for at, new in follow(launch, settings, release, before, finding)[1]:
                    shown = " ".join(word.shown for word in new.argv)
                    if (
                        at == release
                        and "$" not in shown
                        and not any(one.severity == "error" for one in judged_at(new, settings, release))
                    ):
                        env = {name: one.value.shown for name, one in new.env.items() if one.value is not None}
                        argv = [word.shown for word in new.argv]
                        yield {"rule": rule["id"], "release": release, "argv": argv, "env": env}


def test_the_engine_accepts_what_is_advised() -> None:
    recorded = [json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").splitlines()]
    verdicts = {json.dumps([one["rule"], one["release"], one["argv"], one["env"]]): one["refusal"] for one in recorded}
    made = [json.dumps(list(one.values())) for one in advised()]
    known = [verdicts[one] for one in made if one in verdicts]
    assert len(known) / len(made) > 0.9
    assert [one for one in known if one is not None and not re.search(NOT_BY_ADVICE, one)] == []
