"""Measurements out of what `vllm bench serve` saves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from servelint.advise.benchmarks import Unusable, pairs, results


def result(speed: float, *, concurrency: int = 16, accepted: tuple[float, ...] = (), prompts: int = 10) -> dict[str, Any]:
    """As vllm-0.33.0 vllm/benchmarks/serve.py writes one."""
    found: dict[str, Any] = {
        "model_id": "Qwen/Qwen3.6-27B-FP8",
        "max_concurrency": concurrency,
        "completed": prompts,
        "total_input_tokens": 2048 * prompts + 3,
        "total_output_tokens": 511 * prompts,
        "output_throughput": speed,
    }
    if accepted:
        found["spec_decode_acceptance_length"] = 1 + sum(accepted)
        found["spec_decode_per_position_acceptance_rates"] = list(accepted)
    return found


def test_a_load_that_was_run_on_and_off() -> None:
    (made,) = pairs([result(200), result(260, accepted=(0.8, 0.6))], "vllm", "h100", "mtp", "mine")
    assert made == {
        "engine": "vllm",
        "model": "Qwen/Qwen3.6-27B-FP8",
        "gpu": "h100",
        "method": "mtp",
        "tokens": 2,
        "concurrency": 16,
        "input": 2000,
        "output": 510,
        "off": 200,
        "on": 260,
        "unit": "tok/s",
        "accepted": 2.4,
        "source": "mine",
    }


def test_only_what_belongs_together() -> None:
    found = [result(200, concurrency=1), result(900, concurrency=16), result(260, concurrency=1, accepted=(0.8,))]
    assert [(one["concurrency"], one["off"], one["on"]) for one in pairs(found, "vllm", "h100", "mtp", "x")] == [(1, 200, 260)]


def test_nothing_belongs_together() -> None:
    with pytest.raises(Unusable, match="1 without speculation and 1 with it, and no two of the same model"):
        pairs([result(200), result(260, concurrency=4, accepted=(0.8,))], "vllm", "h100", "mtp", "x")


def test_one_result_a_list_or_one_a_line() -> None:
    one, other = result(200), result(260, accepted=(0.8,))
    assert results(json.dumps(one)) == [one]
    assert results(json.dumps([one, other])) == [one, other]
    assert results(json.dumps(one) + "\n" + json.dumps(other) + "\n") == [one, other]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "not JSON"),
        ("{}", "no result of vllm bench serve"),
        ("[1]", "no result of vllm bench serve"),
        (json.dumps(result(0)), "no result of vllm bench serve"),
        (json.dumps(result(1, prompts=0)), "no result of vllm bench serve"),
    ],
)
def test_what_is_no_result(text: str, message: str) -> None:
    with pytest.raises(Unusable, match=message):
        results(text)
