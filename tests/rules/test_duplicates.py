"""No launch gets two errors that say the same: on the bad examples of every rule, at releases of its range (test_advice.py).

Two errors at one place with one impact are two causes, which `CAUSES` names. What an engine's parser refuses is said once: a
release that does not have an option or a value does not go on to judge it.
"""

from __future__ import annotations

from itertools import combinations

import pytest

from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.judge.judging import judge
from servelint.readers import read
from tests.rules.judged import Judged, each_judged
from tests.rules.test_rules import ALL
from tests.together import together

pytestmark = pytest.mark.book

CAUSES = {
    ("container/gated-without-token", "tgi/gemma-3-too-new"): "the token; the release",
    ("container/gated-without-token", "tgi/gemma-too-new"): "the token; the release",
    ("container/gated-without-token", "tgi/llama-4-too-new"): "the token; the release",
    ("container/gated-without-token", "tgi/mllama-too-new"): "the token; the release",
    ("sglang/deepep-v2-conflicts", "sglang/deepep-v2-prefill-budget"): "another option; the number of tokens",
    ("vllm/bfloat16-checkpoint-before-ampere", "vllm/memory-does-not-start"): "the kind of the GPU; its size",
    ("vllm/bfloat16-checkpoint-before-ampere", "vllm/weights-do-not-fit"): "the kind of the GPU; its size",
    ("vllm/experts-without-marlin", "vllm/memory-does-not-start"): "the kind of the GPU; its size",
    ("vllm/experts-without-marlin", "vllm/weights-do-not-fit"): "the kind of the GPU; its size",
    ("vllm/fp8-blocks-on-xpu", "vllm/max-model-len-above-kv-cache"): "the kind of the GPU; its size",
    ("vllm/fp8-experts-off-tiles", "vllm/fp8-tiles-cut"): "the experts; the dense layers",
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
    (
        "sglang/flashinfer-a2a-needs-attention-replicas",
        "sglang/flashinfer-exchange-of-quantization",
    ): "an option that is missing; the weights",
    ("llamacpp/memory-does-not-start", "llamacpp/model-too-new"): "the size of the GPU; the release",
    ("lmdeploy/fp8-with-pytorch-before-ada", "lmdeploy/qwen3-too-new"): "the GPU; the release",
    ("lmdeploy/bfloat16-before-ampere", "lmdeploy/weights-do-not-fit"): "the kind of the GPU; its size",
    ("lmdeploy/qwen3-too-new", "lmdeploy/weights-do-not-fit"): "the release; the size of the GPU",
    ("sglang/decode-radix-needs-nixl", "sglang/decode-radix-with-spec"): "the transfer backend; speculation",
    ("sglang/deepep-before-hopper", "sglang/deepep-experts-format"): "the GPU; the weights",
    ("sglang/deepep-experts-format", "sglang/exchange-needs-low-latency"): "the weights; the mode",
    ("sglang/disaggregation-stages-differ", "sglang/stages-of-a-decode-node"): "the stages of the other node; the release",
    ("sglang/fa4-for-prefill-only", "sglang/fp4-e2m1-attention-backend"): "fa4 decodes with no cache; it prefills without fp4",
    ("sglang/fp8-blocks-before-ada", "sglang/model-too-new"): "the GPU; the release",
    (
        "sglang/fp8-blocks-on-rtx-blackwell",
        "sglang/gdn-blackwell-attention-backend",
    ): "the weights; attention",
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
    ("tgi/qwen2-too-new", "tgi/weights-do-not-fit"): "the release; the size of the GPU",
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

MET_IN = {
    ("sglang/fp8-blocks-on-rtx-blackwell", "sglang/gdn-blackwell-attention-backend"): "sglang/more-drafts-than-pay",
    ("lmdeploy/qwen3-too-new", "lmdeploy/weights-do-not-fit"): "lmdeploy/bfloat16-on-older-gpu",
    ("sglang/gpu-without-kernels", "sglang/memory-does-not-start"): "sglang/fa3-on-other-gpu",
    ("sglang/memory-does-not-start", "sglang/sparse-attention-without-kernels"): "sglang/tilelang-fp8-cache",
    ("vllm/kv-connector-hybrid-model", "vllm/offloading-without-host-memory"): "vllm/kv-connector-beside-aligned-states",
}
"""The rule in whose examples a pair is met that the examples of neither of its two rules have."""

PARSER = {rule["id"] for rule in ALL if "complaint" in rule}


def at_one_place(findings: list[Finding]) -> list[tuple[Finding, Finding]]:
    """Errors of one launch at one place, in pairs in the order of their rules."""
    errors = sorted([one for one in findings if one.severity == "error"], key=lambda one: one.rule)
    return [(a, b) for a, b in combinations(errors, 2) if a.launch is b.launch and a.span == b.span]


def repeats(a: Finding, b: Finding) -> bool:
    """Whether two errors at one place may say the same."""
    return a.impact == b.impact or a.rule in PARSER or b.rule in PARSER


def said_twice(judged: Judged) -> dict[tuple[str, str], str]:
    """The pairs of rules of which a launch has errors that may say the same, each with what is shown of it."""
    shown = f"{judged.release}: {judged.launch.source.text}"
    return {
        (a.rule, b.rule): f"{shown}\n  {a.message}\n  {b.message}" for a, b in at_one_place(judged.findings) if repeats(a, b)
    }


@together("causes", sorted(CAUSES))
def test_a_pair_of_causes_is_met(causes: tuple[str, str]) -> None:
    tried = [rule for rule in ALL if rule["id"] in (*causes, MET_IN.get(causes))]
    assert any(causes in said_twice(one) for rule in tried for one in each_judged(rule, middle=True))


@pytest.mark.parametrize("words", ["--max-num-batched-tokens 128 --max-num-seqs 256", "--kv-cache-dtype fp7"])
def test_a_second_rule_for_one_refusal_is_found(words: str) -> None:
    (launch,) = read(Source("run.sh", f"vllm serve Qwen/Qwen3-8B {words}\n")).launches
    found = [
        one for _ in range(2) for one in judge(launch, Settings(engine_versions={"vllm": "0.33.0"})) if one.severity == "error"
    ]
    assert len(found) == 2
    assert [repeats(*pair) for pair in at_one_place(found)] == [True]
