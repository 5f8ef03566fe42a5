"""No verdict of the adviser contradicts its reason, and no command that it prints has errors, over many combinations."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from functools import lru_cache

import pytest

from servelint.advise.recommendation import Objective, Recommendation, UseCase, recommend
from servelint.api import check_command
from servelint.core.settings import Settings
from servelint.report.advice import advice_data, advice_text
from tests.running import Workspace

MODELS = ("Qwen/Qwen3.6-27B-FP8", "Qwen/Qwen3.6-35B-A3B-FP8", "Qwen/Qwen3-8B", "some/unknown-model", "deepseek-ai/DeepSeek-R1")
METHODS = ((None, None), ("mtp", None), ("eagle3", "some/draft"), ("dflash", "some/draft"))
EVERYWHERE = "SERVELINT_ALL_FORMATS" in os.environ
FOR_IT = re.compile(r"^\d+ draft tokens? gives? ([0-9.]+) times")


@lru_cache(maxsize=8)
def every(engine: str, gpu: str | None) -> list[Recommendation]:
    found = []
    shift = len(f"{engine}{gpu}") % 3
    asked = itertools.product(MODELS, METHODS, (1, 64), Objective)
    for model, (method, draft), concurrency, objective in itertools.islice(asked, shift, None, 1 if EVERYWHERE else 3):
        found.append(
            recommend(
                UseCase.CHAT, objective, gpu, model, engine, concurrency=concurrency, method=method, draft=draft,
                max_model_len=8192 if gpu == "l40s" else None,
            )
        )  # fmt: skip
    return found


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("gpu", [None, "h100", "rtx-4090", "l40s"])
def test_reasons_lead_to_the_verdict(engine: str, gpu: str | None) -> None:
    for one in every(engine, gpu):
        first = one.reasons[0]
        told = FOR_IT.match(first)
        if one.verdict == "yes":
            assert one.enable
            assert told is not None
            assert float(told[1]) > 1
        else:
            assert not one.enable
            assert told is None, one.reasons
        if one.verdict == "unknown":
            unknown = f"servelint does not know {one.model}"
            assert first.startswith(("neither the calculation nor a measurement", unknown)), one.reasons
        assert not any("1 draft tokens" in text or text.endswith(".") for text in one.reasons)
        lines = advice_text(one).splitlines()
        assert lines[2].startswith(f"  speculate: {one.verdict}")
        assert all(line == "" or line.startswith("  ") for line in lines[1:])
        assert advice_data(one)["verdict"] == one.verdict


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("gpu", [None, "h100", "rtx-4090"])
def test_what_is_printed_has_no_findings_that_check_would_refuse(engine: str, gpu: str | None) -> None:
    count = 0
    for one in every(engine, gpu):
        if one.command is None:
            assert one.verdict == "no"
            continue
        settings = Settings(gpu=gpu, gpu_count=1)
        found = check_command(one.engine, list(one.command.argv), one.release, one.command.env, settings)
        assert [finding.rule for finding in found if finding.severity == "error"] == [], one.command.command
        count += 1
    assert count > 0


@pytest.mark.parametrize("model", ["some/unknown-model", "/models/nothing-here", "my-finetune"])
def test_a_model_that_is_not_known(model: str, workspace: Workspace) -> None:
    ran = workspace.run("advise", "--model", model, "--gpu", "h100")
    assert "\n  speculate: unknown\n" in ran.out
    assert f"why: servelint does not know {model}" in ran.out


def test_what_cannot_be_is_no_though_it_would_gain(workspace: Workspace) -> None:
    out = workspace.run("advise", "--model", "Qwen/Qwen3-8B", "--gpu", "h100").out
    assert "  speculate: no\n  why: Qwen/Qwen3-8B has no layer for multi-token prediction" in out
    assert "     : otherwise 3 draft tokens would give 2." in out


def test_what_does_not_start_at_all(workspace: Workspace) -> None:
    out = workspace.run("advise", "--model", "Qwen/Qwen3.6-27B", "--gpu", "rtx-4090").out
    assert out.startswith("Qwen/Qwen3.6-27B, vLLM 0.33.0 on rtx-4090\n")
    assert "  speculate: no\n  why: the launch does not start without drafts either\n     : vLLM 0.33.0 does not start" in out
    assert "vllm serve" not in out


def test_a_context_that_is_advised_is_one_that_the_model_has(workspace: Workspace) -> None:
    command = ("advise", "--model", "Qwen/Qwen3.6-27B-FP8", "--gpu", "h100", "--max-model-len", "9999999")
    ran = workspace.run(*command)
    advised = [int(number) for number in re.findall(r"--max-model-len (\d+) leaves?", ran.out)]
    assert max(advised, default=0) <= 262144
    words = ["vllm", "serve", "Qwen/Qwen3.6-27B-FP8", "--max-num-seqs", "256"]
    line = shlex.join([*words, "--max-model-len", str(advised[0] if advised else 8192)])
    checked = workspace.run("check", "--gpu", "h100", "--engine-version", "vllm=0.33.0", "--format", "json", "--command", line)
    assert [one["rule"] for one in checked.data["findings"] if one["severity"] == "error"] == []
