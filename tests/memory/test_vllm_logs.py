"""Plans against start-up logs of vLLM that people published: GiB and requests as the log prints them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import servelint
from servelint.memory.plan import FITS, REFUSED, MemoryPlan

LOGS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "vllm_logs.json").read_text())
"""Without the KV cache of two starts: of one the experts in CUTLASS took 2 GiB more than the plan explains, of the other
(Kimi Linear) the config.json of the quantized weights is not known."""


def planned(log: dict[str, Any]) -> MemoryPlan:
    argv = ["vllm", "serve", *shlex.split(log["argv"])]
    return servelint.plan_memory(
        "vllm", argv, version=log["release"], env=log.get("env"), gpu=log["gpu"], gpu_count=log["gpus"]
    )


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log["about"])
def test_the_plan_is_near_the_log(log: dict[str, Any]) -> None:
    plan = planned(log)
    assert not plan.missing
    if "weights_gib" in log:
        assert plan.weights_gib == pytest.approx(log["weights_gib"], rel=0.02 if "4B-FP8" not in log["about"] else 0.08)
    if "kv_gib" in log:
        assert plan.kv_gib is not None
        assert plan.kv_gib.mid == pytest.approx(log["kv_gib"], rel=0.1, abs=0.6)
    if "requests" in log:
        assert plan.max_concurrency == pytest.approx(log["requests"], rel=0.15, abs=0.4)
    if "tokens" in log:
        assert plan.kv_tokens == pytest.approx(log["tokens"], rel=0.1)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log["about"])
def test_the_verdict_is_not_the_opposite(log: dict[str, Any]) -> None:
    assert planned(log).verdict != (REFUSED if log["started"] else FITS)
