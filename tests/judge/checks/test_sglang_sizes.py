"""Rules on the sizes that SGLang compares with nothing, or with one another only."""

from __future__ import annotations

import pytest

from servelint.engines.config import Config, configs
from tests.judging import fields
from tests.launching import launch_in
from tests.together import together


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
    found = fields("sglang/attention-heads-not-divided", config(words))
    assert found == ({"heads": "32", "largest": largest} if largest else None)
    assert fields("sglang/attention-heads-not-divided", config(words, model="$MODEL")) is None


@together(
    "words, gpus, needed, held",
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
        ("--tp-size 32 --dp-size 2 --nnodes 2", 8, "64", "2 x 8"),
        ("--tp-size 32 --dp-size $DP", 8, "32", "8"),
        ("--tp-size 4 --dp-size $DP", 8, None, ""),
    ],
)
def test_gpu_count(words: str, gpus: int | None, needed: str | None, held: str) -> None:
    found = fields("sglang/more-gpus-than-there-are", config(words, gpus))
    assert found == ({"case": f"{needed} GPUs, and the engine sees {held}"} if needed else None)


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
    found = fields("sglang/dp-attention-does-not-divide", config(words))
    assert found == ({"replicas": replicas, "size": "8"} if replicas else None)


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
    assert fields("sglang/node-rank-out-of-range", config(words)) == expected


@pytest.mark.parametrize(
    ("words", "size"),
    [("--tp-size 8 --ep-size 4", "8"), ("--tp-size 8 --ep-size 8", None), ("--tp-size $TP --ep-size 4", None)],
)
def test_expert_parallel(words: str, size: str | None) -> None:
    found = fields("sglang/a2a-overrides-ep-size", config(f"{words} --moe-a2a-backend deepep"))
    assert found == ({"size": size} if size else None)


@pytest.mark.parametrize(
    ("words", "limit"),
    [("--context-length 131072", "40960"), ("--context-length 40960", None), ("--context-length $LENGTH", None)],
)
def test_context_override(words: str, limit: str | None) -> None:
    override = """--json-model-override-args '{"rope_scaling": {"original_max_position_embeddings": 32768}}'"""
    found = fields("sglang/yarn-does-not-raise-the-limit", config(f"{words} {override}", model="Qwen/Qwen3-8B"))
    assert found == ({"limit": limit} if limit else None)


@pytest.mark.parametrize(
    ("model", "found"),
    [("moonshotai/Kimi-K2-Instruct", True), ("/models/Kimi-K2", False), ("./kimi/k2", False), ("$MODEL", False)],
)
def test_unpinned_model(model: str, found: bool) -> None:
    assert (fields("sglang/remote-code-unpinned", config("--trust-remote-code", model=model)) is not None) is found
