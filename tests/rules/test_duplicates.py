"""No launch gets two errors that say the same: on the bad examples of every rule, at the releases at the ends of its range.

Two errors at one place with one impact are two causes, which `CAUSES` names. What an engine's parser refuses is said once: a
release that does not have an option or a value does not go on to judge it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any

import pytest

from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.lint import check_launches
from servelint.readers import read
from servelint.rule_examples import example_text, unmarked
from tests.rules.test_advice import sampled
from tests.rules.test_rules import ALL, asked

pytestmark = pytest.mark.book

CAUSES = {
    ("container/gated-without-token", "tgi/gemma-3-too-new"): "the token; the release",
    ("container/gated-without-token", "tgi/llama-4-too-new"): "the token; the release",
    ("container/gated-without-token", "tgi/mllama-too-new"): "the token; the release",
    ("sglang/deepep-v2-conflicts", "sglang/deepep-v2-prefill-budget"): "another option; the number of tokens",
    ("vllm/bfloat16-checkpoint-before-ampere", "vllm/memory-does-not-start"): "the kind of the GPU; its size",
    ("vllm/bfloat16-checkpoint-before-ampere", "vllm/weights-do-not-fit"): "the kind of the GPU; its size",
    ("vllm/experts-without-marlin", "vllm/memory-does-not-start"): "the kind of the GPU; its size",
    ("vllm/experts-without-marlin", "vllm/weights-do-not-fit"): "the kind of the GPU; its size",
    ("vllm/fp8-blocks-on-xpu", "vllm/max-model-len-above-kv-cache"): "the kind of the GPU; its size",
    ("vllm/kv-connector-found-late", "vllm/kv-connector-with-encoder-decoder"): "the name; the model",
    ("vllm/kv-connector-hybrid-model", "vllm/offloading-without-host-memory"): "the model; a setting",
    ("vllm/kv-connector-with-encoder-decoder", "vllm/offloading-without-host-memory"): "the model; a setting",
    ("vllm/offloading-of-deepseek-v4", "vllm/offloading-without-host-memory"): "the model; a setting",
    ("vllm/offloading-spec-unknown", "vllm/offloading-without-host-memory"): "the spec; its size",
    ("vllm/quantization-not-on-rocm", "vllm/quantization-without-config"): "the GPU; the checkpoint",
    ("vllm/sparse-attention-without-kernels", "vllm/weights-do-not-fit"): "the kind of the GPU; its size",
    ("trtllm/no-models-of-early-2026", "trtllm/quantization-config-not-read"): "the class; the quantization",
    ("sglang/gdn-blackwell-attention-backend", "sglang/modelopt-mixed-precision"): "the kind of the GPU; the checkpoint",
    ("sglang/attention-heads-not-divided", "sglang/experts-not-shared-behind-exchange"): "the heads; the experts",
    ("sglang/experts-not-divided", "sglang/fp8-experts-ranks"): "the experts; the ranks",
    ("sglang/flashinfer-a2a-needs-attention-replicas", "sglang/flashinfer-a2a-runner"): "two options that are missing",
    ("llamacpp/memory-does-not-start", "llamacpp/model-too-new"): "the size of the GPU; the release",
    ("lmdeploy/fp8-with-pytorch-before-ada", "lmdeploy/qwen3-too-new"): "the GPU; the release",
    ("lmdeploy/qwen3-too-new", "lmdeploy/weights-do-not-fit"): "the release; the size of the GPU",
    ("sglang/decode-radix-needs-nixl", "sglang/decode-radix-with-spec"): "the transfer backend; speculation",
    ("sglang/deepep-before-hopper", "sglang/deepep-experts-format"): "the GPU; the weights",
    ("sglang/deepep-experts-format", "sglang/exchange-needs-low-latency"): "the weights; the mode",
    ("sglang/disaggregation-stages-differ", "sglang/stages-of-a-decode-node"): "the stages of the other node; the release",
    ("sglang/fa4-for-prefill-only", "sglang/fp4-e2m1-attention-backend"): "fa4 decodes with no cache; it prefills without fp4",
    ("sglang/fp8-blocks-before-ada", "sglang/model-too-new"): "the GPU; the release",
    ("sglang/deepseek-v4-before-hopper", "sglang/memory-does-not-start"): "the kind of the GPU; its size",
    ("sglang/gpu-without-kernels", "sglang/memory-does-not-start"): "the kind of the GPU; its size",
    ("sglang/int8-experts", "sglang/model-too-new"): "the weights; the release",
    ("sglang/language-model-only-conflicts", "sglang/language-model-only-twice"): "the model; another option",
    ("sglang/layernorm-sp-model", "sglang/layernorm-sp-needs-tensor-parallel"): "the model; another option",
    ("sglang/lora-needs-graphs-off", "sglang/lora-needs-radix-off"): "two options that are missing",
    ("sglang/memory-does-not-start", "sglang/model-too-new"): "the size of the GPU; the release",
    ("sglang/memory-does-not-start", "sglang/sparse-attention-without-kernels"): "the size of the GPU; its kind",
    ("sglang/uno-needs-draft-tokens", "sglang/uno-needs-lora-path"): "two options that are missing",
    ("tgi/flash-needs-turing", "tgi/qwen2-5-vl-too-new"): "the GPU; the release",
    ("trtllm/dynamic-tree-without-top-k", "trtllm/eagle-choices-with-dynamic-tree"): "a key that is missing; one too many",
    ("trtllm/fp8-block-experts-on-sm120", "trtllm/memory-does-not-start"): "the kind of the GPU; its size",
    ("trtllm/mxfp4-experts-before-hopper", "trtllm/weights-do-not-fit"): "the kind of the GPU; its size",
    ("trtllm/no-gpt-oss", "trtllm/weights-do-not-fit"): "the release; the size of the GPU",
    ("trtllm/memory-does-not-start", "trtllm/nvfp4-before-blackwell"): "the kind of the GPU; its size",
    ("vllm/bitsandbytes-needs-plugin", "vllm/quantization-mismatch"): "a package that is missing; the checkpoint",
    ("vllm/external-balancing-of-dense-model", "vllm/external-balancing-without-rank"): "the model; an option that is missing",
    ("vllm/gguf-architecture-unsupported", "vllm/model-too-new"): "the format of the file; the release",
    ("vllm/gguf-needs-plugin", "vllm/quantization-mismatch"): "a package that is missing; the checkpoint",
    ("vllm/kv-connector-found-late", "vllm/kv-connector-hybrid-model"): "the release; the model",
    ("vllm/kv-connector-with-encoder-decoder", "vllm/kv-offloading-with-hybrid-manager"): "the model; a missing option",
    ("vllm/memory-does-not-start", "vllm/sparse-attention-without-kernels"): "the size of the GPU; its kind",
    ("vllm/model-too-new", "vllm/quantization-below-capability"): "the release; the GPU",
    ("vllm/num-speculative-tokens-missing", "vllm/speculative-model-missing"): "two keys that are missing",
    ("vllm/ptpc-fp8-needs-rocm", "vllm/quantization-deprecated"): "the GPU; an option that is missing",
    ("vllm/quantization-deprecated", "vllm/quantization-mismatch"): "an option that is missing; the checkpoint",
    ("vllm/quantization-deprecated", "vllm/quantization-without-config"): "an option that is missing; the checkpoint",
    ("vllm/replayssm-triton-on-v2-runner", "vllm/replayssm-with-kv-connector"): "the model runner; another option",
}
"""Rules whose errors meet at one place with one impact -> the cause that each has. Mending one leaves the other."""

PARSER = {rule["id"] for rule in ALL if "complaint" in rule}


def at_one_place(findings: list[Finding]) -> list[tuple[Finding, Finding]]:
    """Errors of one launch at one place, in pairs in the order of their rules."""
    errors = sorted([one for one in findings if one.severity == "error"], key=lambda one: one.rule)
    return [(a, b) for a, b in combinations(errors, 2) if a.launch is b.launch and a.span == b.span]


def repeats(a: Finding, b: Finding) -> bool:
    """Whether two errors at one place may say the same."""
    return a.impact == b.impact or a.rule in PARSER or b.rule in PARSER


@lru_cache(maxsize=1)
def judged() -> tuple[int, dict[tuple[str, str], str]]:
    """How many launches got an error, and the pairs that may say the same with the first launch of each."""
    refused, found = 0, dict[tuple[str, str], str]()
    for rule in ALL:
        for example in rule["examples"]["bad"]:
            launches = launches_of(example)
            for release in sampled(rule, example):
                findings = findings_of(launches, example, release)
                refused += any(one.severity == "error" for one in findings)
                for a, b in [pair for pair in at_one_place(findings) if repeats(*pair)]:
                    shown = f"{release}: {example.get('run', example.get('file'))}\n  {a.message}\n  {b.message}"
                    found.setdefault((a.rule, b.rule), shown)
    return refused, found


def launches_of(example: dict[str, Any]) -> list[Launch]:
    return read(unmarked(*example_text(example))[0]).launches


def findings_of(launches: list[Launch], example: dict[str, Any], release: str | None) -> list[Finding]:
    settings = asked(example)
    settings.engine_versions = {one.engine: release for one in launches} if release is not None else {}
    return check_launches(launches[0].source, launches, settings) if launches else []


def test_no_launch_gets_two_errors_that_say_the_same() -> None:
    _, found = judged()
    more = [f"{a} and {b}, at {shown}" for (a, b), shown in found.items() if (a, b) not in CAUSES]
    assert not more, "exclude one of them with `unless` or `versions`, or name their causes:\n" + "\n".join(more)


def test_every_pair_of_causes_is_met() -> None:
    _, found = judged()
    assert sorted(CAUSES.keys() - found.keys()) == []


def test_most_bad_examples_with_errors_are_judged() -> None:
    errors = sum(len(rule["examples"]["bad"]) for rule in ALL if rule["severity"] == "error")
    assert judged()[0] > errors > 1000


@pytest.mark.parametrize("words", ["--max-num-batched-tokens 128 --max-num-seqs 256", "--kv-cache-dtype fp7"])
def test_a_second_rule_for_one_refusal_is_found(words: str) -> None:
    example = {"run": f"vllm serve Qwen/Qwen3-8B {words}"}
    launches = launches_of(example)
    found = [one for _ in range(2) for one in findings_of(launches, example, "0.33.0") if one.severity == "error"]
    assert len(found) == 2
    assert [repeats(*pair) for pair in at_one_place(found)] == [True]
