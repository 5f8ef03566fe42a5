"""Verdicts of starts that people published, collected before servelint's answers to them: published_starts.json."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import servelint
from servelint.memory.plan import FITS, REFUSED, MemoryPlan

STARTS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "published_starts.json").read_text("utf-8"))
COMMANDS = {"vllm": ("vllm", "serve"), "sglang": ("python3", "-m", "sglang.launch_server")}


def planned(start: dict[str, Any]) -> MemoryPlan:
    argv = [*COMMANDS[start["engine"]], *shlex.split(start["argv"])]
    return servelint.plan_memory(start["engine"], argv, version=start["release"], gpu=start["gpu"], gpu_count=start["gpus"])


def test_no_verdict_is_the_opposite() -> None:
    """Of 48, five did not start that were certain to before: eight pipeline stages in 0.15.0 (vLLM issue 32105), MiniMax-M2.7
    on two GB10s, Qwen3-30B-A3B on four A10s, Qwen3-VL-235B on eight A100s, and 0.95 of two GB10s."""
    for start in STARTS:
        plan = planned(start)
        assert not plan.missing, start["source"]
        assert plan.verdict != (REFUSED if start["started"] else FITS), start["source"]


def test_the_kv_cache_is_inside_the_interval() -> None:
    for start in STARTS:
        if "kv_gib" in start:
            found = planned(start).kv_gib
            assert found is not None
            # of eight stages, the log's has a layer less than the fullest, which is planned
            assert found.low - 0.1 <= start["kv_gib"] <= found.high + 0.4, start["source"]


def test_a_draft_is_not_quantized_as_its_model() -> None:
    """1.6 GiB on each of two GPUs are the drafter's, in bfloat16 (draft_model_config in vllm/config/speculative.py)."""
    (start,) = [one for one in STARTS if "DFlash" in one["argv"]]
    drafted = planned(start).weights_gib
    alone = planned({**start, "argv": start["argv"].partition(" --speculative-config")[0]}).weights_gib
    assert drafted is not None
    assert alone is not None
    assert 1.5 < drafted - alone < 2.0


def test_a_drafter_with_other_heads_does_not_join_the_models_groups() -> None:
    """48, 16, 4 and 1 layers have one layer a group (vLLM issue 49730), though the pages are of one size."""
    (start,) = [one for one in STARTS if "DFlash" in one["argv"]]
    assert any("among 69 groups" in note for note in planned({**start, "release": "0.20.0"}).notes)
