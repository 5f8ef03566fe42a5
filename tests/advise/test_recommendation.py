"""On or off, how, and why; the command is one that the linter has nothing against."""

from __future__ import annotations

from typing import Any

import pytest

import servelint
from servelint.advise import Objective, Recommendation, UseCase, recommend
from servelint.speculation.gains import Calibration, Measurement, published

DENSE = "Qwen/Qwen3.6-27B-FP8"
MIXTURE = "Qwen/Qwen3.6-35B-A3B-FP8"


def asked(**more: Any) -> Recommendation:
    return recommend(**{"use_case": UseCase.SINGLE_USER, "gpu_id": "h100", "model": DENSE, **more})


def test_one_user_of_a_dense_model() -> None:
    found = asked(objective=Objective.MINIMIZE_LATENCY)
    assert (found.enable, found.method, found.num_speculative_tokens, found.profile) == (True, "mtp", 3, "low-latency")
    assert found.expected_gain is not None
    assert found.expected_gain.low > 1.3
    assert found.step_ratio is not None
    assert found.step_ratio > 1
    assert "3 draft tokens give" in found.reason
    assert found.command is not None
    assert '"num_speculative_tokens":3' in found.command.command


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("use_case", list(UseCase))
def test_the_command_is_clean(engine: str, use_case: UseCase) -> None:
    found = asked(engine=engine, use_case=use_case, gpu_id="h200", max_model_len=32768)
    assert found.command is not None
    settings = servelint.Settings(gpu="h200", gpu_count=1, severity="warning")
    told = servelint.check_command(engine, list(found.command.argv), found.command.release, found.command.env, settings)
    assert told == []


def test_llama_cpp_for_one_user_and_for_many() -> None:
    found = asked(engine="llama.cpp", model="unsloth/Qwen3.6-27B-MTP-GGUF:Q4_K_M", gpu_id="rtx-4090")
    assert (found.verdict, found.method) == ("yes", "mtp")
    assert found.expected_gain is not None
    assert found.expected_gain.low > 1.2
    assert any(one.case.engine == "llama.cpp" for one in found.expected_gain.near)
    assert found.command is not None
    assert "--spec-type draft-mtp" in found.command.command
    many = asked(engine="llama.cpp", model="unsloth/Qwen3.8-27B-GGUF:UD-Q4_K_XL", gpu_id="rtx-3090", concurrency=16)
    assert (many.verdict, many.command is not None and "--spec-type" in many.command.command) == ("no", False)


def test_gpus_that_have_some_of_the_layers_each_work_one_after_the_other() -> None:
    one, two = (
        asked(engine="llama.cpp", model="unsloth/Qwen3.8-27B-GGUF:Q8_0", gpu_id="rtx-3090", gpu_count=count) for count in (1, 2)
    )
    assert two.gpu == "2x rtx-3090"
    assert one.expected_gain is not None
    assert two.expected_gain is not None
    assert one.expected_gain.mid == two.expected_gain.mid


def test_a_model_without_layers_for_it() -> None:
    found = asked(model="Qwen/Qwen3-8B")
    assert (found.enable, found.num_speculative_tokens, found.method, found.profile) == (False, 0, None, "off")
    assert "Qwen/Qwen3-8B has no layer for multi-token prediction" in found.reason
    assert found.command is not None
    assert "speculative" not in found.command.command


def test_a_release_that_cannot() -> None:
    found = asked(model="deepseek-ai/DeepSeek-V4-Flash", gpu_id="h200", gpu_count=8, release="0.19.1")
    assert not found.enable
    assert found.broken
    assert all(note.text in found.reasons for note in found.broken)


def test_what_loses_is_off() -> None:
    row = {"model": DENSE, "gpu": "h100", "method": "mtp", "tokens": 1, "concurrency": 64, "input": 1024, "output": 256}
    rows = [Measurement({**row, "tokens": tokens, "off": 100, "on": 70}) for tokens in (1, 2, 3)]
    found = asked(use_case=UseCase.BATCH, measured=Calibration((*published(), *rows)))
    assert not found.enable
    assert found.expected_gain is not None
    assert found.expected_gain.mid < 1
    assert "0.7" in found.reason


def test_what_nobody_can_tell_is_off_and_says_how_to_tell() -> None:
    found = asked(model="Qwen/Qwen3-8B", method="dflash", draft="z-lab/Qwen3-8B-DFlash-b16", gpu_id="b200", tokens=15)
    assert (found.enable, found.expected_gain) == (False, None)
    assert "neither the calculation nor a measurement shows what 15 draft tokens gain with 1 request at a time" in found.reason
    assert "servelint advise calibrate" in found.reason


def test_a_model_that_is_not_known_is_off() -> None:
    found = asked(model="nobody/nothing")
    assert (found.enable, found.expected_gain, found.crossover) == (False, None, None)
    assert "servelint does not know nobody/nothing" in found.reason


def test_memory_that_is_not_there() -> None:
    found = asked(gpu_id="rtx-4090")
    assert not found.enable
    assert found.command is None
    assert "does not start on rtx-4090" in found.reason


def test_what_it_costs_of_the_kv_cache() -> None:
    found = asked(model=MIXTURE, gpu_id="gb10", use_case=UseCase.MULTI_USER, release="0.19.1", max_model_len=131072, tokens=2)
    assert found.memory is not None
    assert found.memory.off.kv_tokens is not None
    assert found.memory.on.kv_tokens is not None
    assert 0.85 < found.memory.on.kv_tokens / found.memory.off.kv_tokens < 0.93  # padding: groups of 11 layers in place of 10
    assert "%)" in found.memory.sentence


def test_requests_that_wait_for_memory_cost_throughput() -> None:
    row = {"model": DENSE, "gpu": "l40s", "method": "mtp", "tokens": 3, "concurrency": 12, "input": 8192, "output": 256}
    measured = Calibration((*published(), Measurement({**row, "off": 100, "on": 118})))
    more: dict[str, Any] = {
        "gpu_id": "l40s",
        "use_case": UseCase.LONG_CONTEXT,
        "concurrency": 12,
        "tokens": 3,
        "max_model_len": 16384,
    }
    latency, throughput = (asked(**more, measured=measured, objective=objective) for objective in Objective)
    assert latency.enable
    assert "of the 12 requests at once, without it" in latency.reason
    assert not throughput.enable
    assert "waiting requests cost more throughput than drafting gains" in throughput.reason


def test_what_may_as_well_lose_is_off() -> None:
    found = asked(gpu_id="l40s", use_case=UseCase.BATCH, concurrency=64, max_model_len=16384, release="0.33.0")
    assert found.expected_gain is not None
    assert found.expected_gain.low < 0.8
    assert not found.enable
    assert "leave it off until you have measured it" in found.reason


def test_the_surprise_of_the_spark() -> None:
    """+24 % at sixteen requests, where few requests gain little: measured, and what the arithmetic says."""
    few, many = (asked(model=MIXTURE, gpu_id="gb10", use_case=UseCase.MULTI_USER, concurrency=c, tokens=2) for c in (4, 16))
    assert few.expected_gain is not None
    assert many.expected_gain is not None
    assert few.expected_gain.mid < 1.05 < many.expected_gain.mid
    assert (few.enable, many.enable) == (False, True)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"gpu_id": "nonesuch"}, "'nonesuch' is not a known GPU"),
        ({"engine": "tgi"}, "no command for the engine 'tgi'"),
        ({"release": "latest"}, '"latest" is not a release'),
        ({"method": "ngram"}, "'ngram' is not a method that a command can be written for"),
        ({"method": "eagle3"}, "eagle3 needs the draft model"),
    ],
)
def test_what_is_not_known(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        asked(**more)
