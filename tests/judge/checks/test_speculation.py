"""Checks that ask the adviser: what they say, and that they say nothing where something is not known."""

from __future__ import annotations

import subprocess
import sys

import pytest

import servelint
from servelint.engines.config import Config, configs
from servelint.judge.checks import run_check

DENSE = "vllm serve Qwen/Qwen3.6-27B-FP8 "
MIXTURE = "vllm serve Qwen/Qwen3.6-35B-A3B-FP8 "


def config(command: str, release: str = "0.24.0", gpu: str | None = "l40s") -> Config:
    launch = servelint.find_launches(command + "\n", filename="run.sh")[0]
    launch.gpu = gpu
    return configs(launch, [release])[0]


def drafting(method: str, tokens: int, more: str = "") -> str:
    return f'--speculative-config \'{{"method":"{method}",{more}"num_speculative_tokens":{tokens}}}\''


DFLASH = drafting("dflash", 7, '"model":"z-lab/Qwen3.6-27B-DFlash",')


class TestRequests:
    def test_where_it_was_measured_to_lose(self) -> None:
        said = run_check("speculation.many_requests", config(DENSE + "--max-num-seqs 64 " + DFLASH))
        assert said is not None
        assert (said["requests"], said["tokens"]) == ("64", "7")
        assert int(said["batch"]) <= 32
        assert said["loss"].endswith(" % less")

    @pytest.mark.parametrize("requests", [2, 8])
    def test_not_far_past_it(self, requests: int) -> None:
        assert run_check("speculation.many_requests", config(f"{DENSE}--max-num-seqs {requests} {DFLASH}")) is None

    def test_a_mixture_rises_again(self) -> None:
        assert (
            run_check("speculation.many_requests", config(MIXTURE + "--max-num-seqs 64 " + drafting("mtp", 2), gpu="gb10"))
            is None
        )


class TestTokens:
    def test_more_than_pay(self) -> None:
        said = run_check("speculation.many_tokens", config(MIXTURE + drafting("mtp", 10), gpu="gb10"))
        assert said is not None
        assert int(said["best"]) < 5
        assert said["gain"].endswith(" % more")

    def test_without_cuda_graphs_the_host_takes_most(self) -> None:
        command = MIXTURE + "--enforce-eager " + drafting("mtp", 10)
        assert run_check("speculation.many_tokens", config(command, gpu="gb10")) is None

    @pytest.mark.parametrize("tokens", [1, 2, 3])
    def test_as_recipes_have_it(self, tokens: int) -> None:
        assert run_check("speculation.many_tokens", config(MIXTURE + drafting("mtp", tokens), gpu="gb10")) is None


class TestOff:
    def test_one_request_of_a_dense_model(self) -> None:
        said = run_check("speculation.off", config(DENSE + "--max-num-seqs 1", "0.33.0", "h100"))
        assert said is not None
        assert said["tokens"] == "3"

    def test_a_release_that_does_not_draft_with_the_layers(self) -> None:
        assert run_check("speculation.off", config(DENSE + "--max-num-seqs 1", "0.16.0", "h100")) is None

    def test_a_gain_that_is_not_sure(self) -> None:
        assert run_check("speculation.off", config(MIXTURE + "--max-num-seqs 1", "0.33.0", "gb10")) is None


@pytest.mark.parametrize("check", ["speculation.many_requests", "speculation.many_tokens", "speculation.off"])
@pytest.mark.parametrize(
    "command",
    [
        "vllm serve $MODEL --max-num-seqs 64 " + drafting("mtp", 10),
        "vllm serve nobody/nothing --max-num-seqs 64 " + drafting("mtp", 10),
        MIXTURE + "--max-num-seqs $N --tensor-parallel-size $TP " + drafting("mtp", 10),
        MIXTURE + "--max-num-seqs 64 $MORE " + drafting("mtp", 10),
        MIXTURE + "--max-num-seqs 64 --speculative-config $SPEC",
    ],
)
def test_what_is_not_known_says_nothing(check: str, command: str) -> None:
    assert run_check(check, config(command)) is None
    assert run_check(check, config(command, gpu=None)) is None


def test_a_check_without_a_gpu_loads_none_of_it() -> None:
    program = (
        "import sys, servelint\n"
        f"servelint.check_command('vllm', {['Qwen/Qwen3.6-27B-FP8', '--max-num-seqs', '1']!r}, '0.33.0',"
        " settings=servelint.Settings(profile='strict'))\n"
        "print([name for name in sys.modules if name.startswith('servelint.advise')])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
