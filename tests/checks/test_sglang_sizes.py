"""Checks of the sizes that SGLang compares with nothing, or with one another only."""

from __future__ import annotations

import pytest

from servelint.engines.config import Config, configs
from servelint.judge.checks import run_check
from tests.launching import launch_in


def config(words: str, gpus: int | None = None, model: str = "meta-llama/Llama-3.1-8B-Instruct") -> Config:
    launch = launch_in(f"python -m sglang.launch_server --model-path {model} {words}", "run.sh")
    launch.gpu_count = gpus
    return configs(launch, ["0.5.23"])[0]


@pytest.mark.parametrize(
    ("words", "largest"),
    [
        ("--tp-size 3", "2"),
        ("--tp-size 6", "4"),
        ("--tp-size 8", None),
        ("--tp-size 0", None),
        ("--tp-size $TP", None),
        ("", None),
    ],
)
def test_attention_heads(words: str, largest: str | None) -> None:
    found = run_check("sglang_attention_heads", config(words))
    assert found == ({"heads": "32", "largest": largest} if largest else None)
    assert run_check("sglang_attention_heads", config(words, model="$MODEL")) is None


@pytest.mark.parametrize(
    ("words", "gpus", "needed", "held"),
    [
        ("--tp-size 4", 2, "4", "2"),
        ("--tp-size 4", 4, None, ""),
        ("--tp-size 4", None, None, ""),
        ("--tp-size 2 --pp-size 2", 3, "4", "3"),
        ("--tp-size 2 --dp-size 2", 2, "4", "2"),
        ("--tp-size 2 --dp-size 2 --enable-dp-attention", 2, None, ""),
        ("--tp-size 16 --nnodes 2", 8, None, ""),
        ("--tp-size 32 --nnodes 2", 8, "32", "2 x 8"),
        ("--tp-size 32 --nnodes $NODES", 8, None, ""),
    ],
)
def test_gpu_count(words: str, gpus: int | None, needed: str | None, held: str) -> None:
    assert run_check("sglang_gpu_count", config(words, gpus)) == ({"needed": needed, "held": held} if needed else None)


@pytest.mark.parametrize(
    ("words", "replicas"),
    [
        ("--tp-size 8 --dp-size 3 --enable-dp-attention", "3"),
        ("--tp-size 8 --dp-size 4 --enable-dp-attention", None),
        ("--tp-size 8 --attn-dp-size 3", "3"),
        ("--tp-size 8 --attn-dp-size $DP", None),
        ("--tp-size 8 --dp-size 1 --enable-dp-attention", None),
    ],
)
def test_dp_attention(words: str, replicas: str | None) -> None:
    assert run_check("sglang_dp_attention", config(words)) == ({"replicas": replicas, "size": "8"} if replicas else None)


@pytest.mark.parametrize(
    ("words", "nodes"),
    [
        ("--nnodes 2 --node-rank 2", "2"),
        ("--nnodes 2 --node-rank=-1", "2"),
        ("--node-rank 1", "1"),
        ("--nnodes 2 --node-rank 1", None),
        ("--nnodes $NODES --node-rank 2", None),
        ("--nnodes 2", None),
    ],
)
def test_node_rank(words: str, nodes: str | None) -> None:
    expected = {"nodes": nodes, "last": str(int(nodes) - 1)} if nodes else None
    assert run_check("sglang_node_rank", config(words)) == expected


@pytest.mark.parametrize(
    ("words", "size"),
    [("--tp-size 8 --ep-size 4", "8"), ("--tp-size 8 --ep-size 8", None), ("--tp-size $TP --ep-size 4", None)],
)
def test_expert_parallel(words: str, size: str | None) -> None:
    assert run_check("sglang_expert_parallel", config(words)) == ({"size": size} if size else None)


@pytest.mark.parametrize(
    ("words", "limit"),
    [("--context-length 131072", "40960"), ("--context-length 40960", None), ("--context-length $LENGTH", None)],
)
def test_context_override(words: str, limit: str | None) -> None:
    found = run_check("sglang_context_override", config(words, model="Qwen/Qwen3-8B"))
    assert found == ({"limit": limit} if limit else None)


@pytest.mark.parametrize(
    ("model", "found"),
    [("moonshotai/Kimi-K2-Instruct", True), ("/models/Kimi-K2", False), ("./kimi/k2", False), ("$MODEL", False)],
)
def test_unpinned_model(model: str, found: bool) -> None:
    assert (run_check("sglang_unpinned_model", config("", model=model)) is not None) is found
