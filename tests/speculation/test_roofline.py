"""What a step of decoding reads, against counts by hand from the config.json of each model."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from servelint.models.architecture import Architecture, find
from servelint.speculation.cases import Case
from servelint.speculation.gains import published
from servelint.speculation.roofline import Steps, Traffic, outside_graphs, prior, steps, traffic, traffic_of


def of(name: str) -> Traffic:
    found = find(name)
    assert found is not None
    return traffic(found)


def test_a_dense_model() -> None:
    found = of("Qwen/Qwen3-8B")
    layer = 4096 * (32 * 128) * 2 + 2 * 4096 * (8 * 128) + 3 * 4096 * 12288
    assert found.active == pytest.approx(36 * layer + 151_936 * 4096, rel=1e-3)
    assert found.read(1) == found.read(64, 4) == pytest.approx(2 * found.active, rel=1e-3)
    assert found.key_value == 36 * 2 * 8 * 128 * 2
    assert found.state == 0


def test_the_experts_of_a_mixture_that_tokens_are_sent_to() -> None:
    found = of("Qwen/Qwen3.6-35B-A3B-FP8")
    assert (found.experts, found.per_token) == (256, 8)
    assert found.expert == pytest.approx(40 * 3 * 2048 * 512, rel=1e-3)  # one byte each
    assert found.touched(1) == pytest.approx(8)
    assert found.touched(3) == pytest.approx(256 * (1 - (248 / 256) ** 3))
    assert found.touched(10_000) == pytest.approx(256)
    assert found.read(3) - found.read(1) == pytest.approx(found.expert * (found.touched(3) - found.touched(1)))


def test_tokens_in_a_row_share_experts() -> None:
    """https://cohere.com/blog/mixture-of-experts-models-get-more-from-speculative-decoding: with 8 of 128 experts."""
    found = Traffic(expert=1, experts=128, per_token=8)
    assert found.touched(1, 4) == pytest.approx(2.5 * 8, rel=0.01)
    assert found.touched(1, 9) - found.touched(1, 8) < found.touched(1, 3) - found.touched(1, 2)
    assert found.touched(4) == pytest.approx(3.64 * 8, rel=0.01)
    assert found.read(2, 3) == found.touched(2, 3) < found.touched(6)


def test_a_state_is_written_after_each_token() -> None:
    found = of("Qwen/Qwen3.6-27B-FP8")
    state = 48 * 4 * 48 * 128 * 128  # layers, float32, value heads, both sizes
    assert found.state == pytest.approx(state, rel=0.03)  # and the convolution's
    assert found.cached(0, 1) == 2 * found.state
    assert found.cached(0, 3) - found.cached(0, 1) == 2 * 2.5 * found.state  # as long as these bytes


def test_a_window_is_read_once_it_is_full() -> None:
    found = of("openai/gpt-oss-120b")
    assert found.windows == [(18 * 2 * 8 * 64 * 2, 128)]
    assert found.cached(4096, 1) - found.cached(2048, 1) == 2048 * found.key_value


def test_the_draft_reads_the_head_each_time() -> None:
    found = of("Qwen/Qwen3.6-27B-FP8")
    assert found.head == 248_320 * 5120 * 2
    assert found.drafting(1) > found.head


def test_a_pass_of_the_draft_reads_the_experts_of_its_tokens() -> None:
    assert Traffic(draft=10, draft_expert=3, experts=128, per_token=8).drafting(1) == pytest.approx(10 + 3 * 8)


def test_a_block_drafter_that_is_not_known_is_as_wide_as_its_model() -> None:
    case = Case("vllm", "block", "Qwen/Qwen3-14B", "H100", 8)
    assert case.architecture is not None
    found = traffic_of(case, case.architecture)
    assert found.draft - found.head == 2 * 65 * 5120**2
    assert (found.draft_expert, found.draft_layers) == (0, 5)


def seconds(facts: Traffic, tokens: int, case: Case, bandwidth: float, flops: float, count: int, each: float) -> float:
    """A step of all requests with some tokens each, as docs/speculation.md has it; flops: of 16 bits, 0 for none."""
    size = facts.read(case.concurrency, tokens) + case.concurrency * facts.cached(case.context, tokens)
    memory = size / (0.8e9 * bandwidth * count)
    compute = 2 * facts.active * case.concurrency * tokens / (0.77e12 * flops * count) if flops else 0.0
    return memory + compute + each


@pytest.mark.parametrize(("engine", "plain", "each"), [("vllm", 1.2e-3, 0.2e-3), ("sglang", 0.35e-3, 0.3e-3)])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("requests", [1, 16])
def test_the_time_of_a_step_is_counted_by_the_published_formula(
    requests: int, count: int, engine: str, plain: float, each: float
) -> None:
    case = Case(engine, "mtp", "Qwen/Qwen3.6-27B-FP8", f"{count}x H100", 3, requests, 512, 512)
    model, (gpu, found) = case.architecture, case.gpus
    assert model is not None
    assert gpu is not None
    assert found == count
    facts, layer = traffic_of(case, model), 10e-6 if count == 1 else 60e-6
    speeds = (float(gpu.facts["bandwidth-gbs"]), float(gpu.facts["bf16-tflops"]))
    made = steps(case, model, gpu, count)
    assert made.before == pytest.approx(seconds(facts, 1, case, *speeds, count, layer * model.layers) + plain)
    passes = 3 * (facts.drafting(requests) / (0.8e9 * speeds[0] * count) + layer)
    verified = seconds(facts, 4, case, *speeds, count, layer * model.layers)
    assert made.after == pytest.approx(verified + passes + 1.2e-3 + 0.12e-3 + 3 * each)
    assert made.prompts == pytest.approx(2 * facts.active * 512 * requests / (0.77e12 * speeds[1] * count))
    assert made.gain == pytest.approx((made.prompts + 512 * made.before) / (made.prompts + 512 * made.after / case.length))
    assert made.on_prompts == pytest.approx(made.prompts / (made.prompts + 512 * made.before))


def test_what_a_pass_of_the_draft_takes_by_release() -> None:
    """use_cuda_graph in vllm/v1/spec_decode/eagle.py of 0.9.0, disable_padded_drafter_batch in vllm/config/speculative.py of
    0.11.0; the releases before each do not have it."""
    case = Case("vllm", "eagle", "Qwen/Qwen3-8B", "H100", 2, accepted=2.0)
    assert case.architecture is not None
    graphed = steps(replace(case, release="0.9.0"), case.architecture, *case.gpus).after
    for release, each in (("0.8.5.post1", 0.64e-3), ("0.10.2", 0.3e-3), ("0.11.0", 0.2e-3), (None, 0.2e-3), ("main", 0.2e-3)):
        longer = steps(replace(case, release=release), case.architecture, *case.gpus).after - graphed
        assert longer == pytest.approx(2 * (each - 0.3e-3)), release


def test_llama_cpp_unpacks_weights_again_for_each_token() -> None:
    """Of Qwen3.8-27B in Q4_K on an RTX 3090, 2 to 8 tokens add 2.9 to 6.5 ms each and 12 tokens 16.6 ms; Q8_0 adds little."""

    def longer(model: str, gpu: str, tokens: int, engine: str = "llama.cpp") -> float:
        case = Case(engine, "lookup", model, gpu, tokens - 1, accepted=1.0)
        assert case.architecture is not None
        counted = steps(case, case.architecture, *case.gpus)
        return 1000 * (counted.after - counted.before)

    q4, q8 = "Qwen3.8-27B-Q4_K_M", "Qwen3.8-27B-Q8_0"
    assert 2.9 < longer(q4, "rtx-3090", 5) - longer(q4, "rtx-3090", 4) < 6.5
    assert longer(q4, "rtx-3090", 12) < longer(q4, "rtx-3090", 8)
    assert longer(q4, "v100", 12) > longer(q4, "v100", 8)
    assert longer(q8, "rtx-3090", 5) - longer(q8, "rtx-3090", 4) < 2
    assert longer(q4, "a2", 12) > longer(q4, "a2", 8)  # whose rate is not known


def test_of_a_gpu_that_is_not_known_only_the_memory_counts() -> None:
    case = Case("vllm", "mtp", "Qwen/Qwen3.6-27B-FP8", None, 1, 2, 512, 512)
    model = case.architecture
    assert model is not None
    facts = traffic_of(case, model)
    made = steps(case, model, None, 1)
    assert made.before == pytest.approx(seconds(facts, 1, case, 1000.0, 0.0, 1, 0.0) + 1.2e-3)
    drafts = facts.drafting(2) / 0.8e12 + 1.2e-3 + 0.12e-3 + 0.2e-3
    assert made.after == pytest.approx(seconds(facts, 2, case, 1000.0, 0.0, 1, 0.0) + drafts)
    assert made.prompts == 0.0


def test_plain_steps_of_an_a40_are_as_long_as_measured() -> None:
    """Llama-3.1-8B with 1 to 64 requests, whose throughput without drafts is in the rows of EAGLE-3 and of n-grams alike."""
    rows = [row for row in published() if row.case.gpu == "A40"]
    assert len(rows) == 10
    for row in rows:
        assert row.case.architecture is not None
        counted = steps(row.case, row.case.architecture, *row.case.gpus)
        assert counted.before == pytest.approx(row.case.concurrency / row.off, rel=0.13)


def test_computing_counts_where_only_the_bandwidth_is_known() -> None:
    def longer(gpu: str) -> float:
        case = Case("vllm", "mtp", "Qwen/Qwen3-8B", gpu, 3, 64)
        assert case.architecture is not None
        counted = steps(case, case.architecture, *case.gpus)
        return counted.after / counted.before

    assert longer("RTX 4060") == pytest.approx(longer("RTX 4060 Ti 16GB"), rel=0.3)


def test_a_block_drafter_passes_once_through_all_its_layers() -> None:
    """z-lab/Qwen3-8B-DFlash-b16 has 5 layers, 1.05 billion parameters and the head of its model, of 0.62 billion."""
    case = Case("sglang", "block", "Qwen/Qwen3-8B", "H100", 15, 8)
    model, (gpu, _) = case.architecture, case.gpus
    assert model is not None
    assert gpu is not None
    facts = traffic_of(case, model)
    assert (facts.draft_layers, facts.groups) == (5, 0)
    assert facts.draft_active == pytest.approx(1.67e9, rel=0.01)
    assert facts.draft == 2 * facts.draft_active
    bandwidth, flops = float(gpu.facts["bandwidth-gbs"]), float(gpu.facts["bf16-tflops"])
    verified = seconds(facts, 16, case, bandwidth, flops, 1, 10e-6 * model.layers)
    drafts = facts.draft / (0.8e9 * bandwidth) + 5 * 10e-6 + 2 * facts.draft_active * 8 * 16 / (0.77e12 * flops)
    assert steps(case, model, gpu, 1).after == pytest.approx(verified + drafts + 1.2e-3 + 0.12e-3 + 0.3e-3)


def test_a_block_drafter_adds_groups_of_layers_to_a_model_with_states() -> None:
    """vLLM has one layer a group where the drafter has one of a kind: 70 instead of 4 with a drafter of 6 (issue 49730). The
    five of DFlash2 are of one kind. 46 groups double a step of the model with 40 layers on an H200 (pull request 51742)."""
    added = {"Qwen/Qwen3.6-27B": 69 - 4, "Qwen/Qwen3.6-35B-A3B": 48 - 4, "Qwen/Qwen3.8-27B": 15 - 4, "Qwen/Qwen3-4B": 0}
    for name, groups in added.items():
        case = Case("vllm", "block", name, "H200", 15, accepted=5.0)
        model = case.architecture
        assert model is not None
        assert traffic_of(case, model).groups == groups
        here, there = (steps(replace(case, engine=one), model, *case.gpus).after for one in ("vllm", "sglang"))
        assert here - there == pytest.approx(0.28e-3 * groups - 0.1e-3)


def test_steps_with_a_block_drafter_are_about_as_long_as_measured() -> None:
    """With one request, where the acceptance length is published and nobody waits for another's prompt."""
    rows = [row for row in published() if row.case.method == "block" and row.case.concurrency == 1]
    rows = [row for row in rows if row.case.accepted is not None]
    assert len(rows) == 6
    for row in rows:
        assert row.case.architecture is not None
        counted = steps(row.case, row.case.architecture, *row.case.gpus)
        assert 1000 * counted.after == pytest.approx(1000 * row.case.length / row.on, rel=0.2)


def test_what_is_expected_without_arithmetic() -> None:
    one, eight = (prior(Case("vllm", "mtp", None, "H100", 2, requests, accepted=2.2)) for requests in (1, 8))
    assert one is not None
    assert eight is not None
    assert one.mean == pytest.approx(math.log(2.2 / (1 + 2 * 0.14)))
    assert eight.mean == pytest.approx(one.mean - 3 * 0.05)
    assert one.deviation == pytest.approx(math.hypot(0.12, 0.22))
    assert eight.deviation == pytest.approx(math.hypot(0.12, 0.22, 0.03 * math.log2(8 * 3 / 8)))
    assert (one.counted, one.step, one.prompts) == (False, 0.0, 0.0)


@pytest.mark.parametrize(
    ("model", "gpu", "counted"), [("Qwen/Qwen3.6-27B-FP8", "H100", True), ("Qwen/Qwen3.6-27B-FP8", None, False)]
)
def test_the_arithmetic_counts_where_model_and_gpu_are_known(model: str, gpu: str | None, counted: bool) -> None:
    found = prior(Case("vllm", "mtp", model, gpu, 1, 4, accepted=1.8))
    assert found is not None
    assert found.counted is counted
    assert (found.step > 0) is counted
    hosts = 0.0 if counted else 1.5e-3 / steps_of(model).after  # a host that is not known differs by 1.5 ms
    assert found.deviation == pytest.approx(math.hypot(0.12, 0.0 if counted else 0.1, hosts))


def steps_of(model: str) -> Steps:
    case = Case("vllm", "mtp", model, None, 1, 4, accepted=1.8)
    assert case.architecture is not None
    return steps(case, case.architecture, None, 1)


def test_a_method_without_arithmetic() -> None:
    assert prior(Case("vllm", "telepathy", "Qwen/Qwen3.6-27B-FP8", "H100", 1)) is None


def test_what_is_not_known_widens_the_expectation() -> None:
    known = Case("vllm", "lookup", None, None, 2, 1, accepted=1.5)
    by = {
        "the acceptance length": (replace(known, accepted=None), 0.08 * math.sqrt(2)),
        "many tokens": (replace(known, tokens=31), 0.03 * math.log2(32 / 8)),
    }
    plain = prior(known)
    assert plain is not None
    assert plain.deviation == pytest.approx(math.hypot(0.5, 0.22, 0.1))
    for name, (case, more) in by.items():
        found = prior(case)
        assert found is not None, name
        assert found.deviation == pytest.approx(math.hypot(plain.deviation, more)), name
    few, many = (prior(replace(known, input=tokens)) for tokens in (1024, 16_384))
    assert few is not None
    assert many is not None
    assert plain.deviation < few.deviation < many.deviation
    assert plain.mean > few.mean > many.mean > 0
    assert few.prompts == pytest.approx(1024 / 96 / (1024 / 96 + 256), rel=0.02)


def test_one_of_several_draft_layers_drafts_a_token() -> None:
    three = find("MiniMaxAI/MiniMax-M2")
    assert three is not None
    assert three.mtp_layers == 3
    found = traffic(three)
    one = traffic(replace(three, mtp_layers=1))
    assert found.draft == pytest.approx(one.draft, rel=0.01)
    assert found.draft_expert == pytest.approx(one.draft_expert, rel=0.01)
    assert (found.dense, found.expert) == (one.dense, one.expert)


def test_the_draft_of_eagle() -> None:
    named = traffic_of(Case("vllm", "eagle", "Qwen/Qwen3-8B"), model("Qwen/Qwen3-8B"))
    head = find("Tengyunw/qwen3_8b_eagle3")
    assert head is not None
    own = traffic(head)
    assert named.draft == own.dense + (own.head or named.head)
    assert named.draft_expert == 0
    other = model("Qwen/Qwen3.6-27B-FP8")
    assert traffic_of(Case("vllm", "eagle"), other).draft == 2 * (12 * 5120**2 + 32_000 * 5120)
    assert traffic_of(Case("vllm", "mtp"), other).draft == traffic(other).draft


def model(name: str) -> Architecture:
    found = find(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("model", "off", "on", "accepted"), [("gpt-oss-20b", 304.93, 371.9, 2.347), ("gpt-oss-120b", 212, 285, 2.41)]
)
def test_triton_takes_its_time_for_experts_in_mxfp4(model: str, off: float, on: float, accepted: float) -> None:
    """SGLang on an H100, one request and EAGLE-3 with three drafts: Dogacel/specdrift-gpt-oss-20b-eagle3 and -120b-eagle3."""
    case = Case("sglang", "eagle", f"openai/{model}", "h100", 3, accepted=accepted)
    assert case.architecture is not None
    counted = steps(case, case.architecture, *case.gpus)
    assert counted.before == pytest.approx(1 / off, rel=0.04)
    assert counted.after == pytest.approx(accepted / on, rel=0.04)
    other = replace(case, gpu="b200")
    blackwell = steps(other, case.architecture, *other.gpus)
    assert counted.before - blackwell.before > 55e-6 * case.architecture.layers


@pytest.mark.parametrize(
    ("model", "gpu", "release", "cache", "outside"),
    [
        ("tencent/Hy3", "4x RTX PRO 6000", "0.25.1", None, True),  # HYV3MTP has no support_torch_compile
        ("tencent/Hy3", "4x RTX PRO 6000", "0.29.0", None, False),
        ("tencent/Hy3", "4x RTX PRO 6000", None, None, False),
        ("zai-org/GLM-4.7-Flash", "h100", "0.19.1", None, True),
        ("Qwen/Qwen3.6-27B", "h100", "0.19.1", None, False),
        ("Qwen/Qwen3.6-27B", "RTX PRO 5000 Blackwell", "0.24.0", "fp8", True),
        ("Qwen/Qwen3.6-27B", "RTX PRO 5000 Blackwell", "0.24.0", "auto", False),
        ("Qwen/Qwen3.6-27B", "RTX PRO 5000 Blackwell", "0.28.0", "fp8", False),
        ("Qwen/Qwen3.6-27B", "l40s", "0.28.0", "fp8", True),
        ("Qwen/Qwen3.6-27B", "l40s", "0.33.0", "fp8", False),
        ("Qwen/Qwen3.6-27B", "l40s", "0.12.0", "fp8", False),
        ("Qwen/Qwen3.6-27B", "h100", "0.24.0", "fp8", False),
        ("Qwen/Qwen3.6-27B", "MI300X", "0.24.0", "fp8", False),
        ("Qwen/Qwen3.6-27B", "unheard of", "0.24.0", "fp8", False),
    ],
)
def test_drafts_outside_of_graphs(model: str, gpu: str, release: str | None, cache: str | None, outside: bool) -> None:
    case = Case("vllm", "mtp", model, gpu, 2, release=release, cache=cache)
    assert outside_graphs(case) is outside


def test_a_pass_outside_of_graphs_takes_longer_in_releases_that_prepare_steps_ahead() -> None:
    """GLM-4.5-Air on four H100s (0.11.1) took 11.3, 14.0 and 17.9 ms with three drafts of 1, 2 and 4 requests, if 2.9
    tokens of a step were right; GLM-OCR on an A100 (0.17.1) took 6.5 ms with one draft."""
    for requests, measured in ((1, 11.3), (2, 14.0), (4, 17.9)):
        assert 1000 * after("zai-org/GLM-4.5-Air", "4x H100", 3, requests, "0.11.1") == pytest.approx(measured, rel=0.05)
    assert 1000 * after("zai-org/GLM-OCR", "A100 80GB", 1, 1, "0.17.1") == pytest.approx(6.5, rel=0.1)


def test_drafts_on_an_fp8_cache_are_verified_in_pieces() -> None:
    """Qwen3.6-35B-A3B-NVFP4 on an RTX PRO 5000 (0.24.0): 13.4, 22.4 and 26.7 ms with one to three drafts."""
    for tokens, measured in ((1, 13.4), (2, 22.4), (3, 26.7)):
        found = after("nvidia/Qwen3.6-35B-A3B-NVFP4", "RTX PRO 5000 Blackwell", tokens, 1, "0.24.0", "fp8")
        assert 1000 * found == pytest.approx(measured, rel=0.15)


def after(model: str, gpu: str, tokens: int, requests: int, release: str, cache: str | None = None) -> float:
    case = Case("vllm", "mtp", model, gpu, tokens, requests, release=release, cache=cache)
    assert case.architecture is not None
    return steps(case, case.architecture, *case.gpus).after


def test_prompts_count_where_the_model_is_not_known() -> None:
    """1.83 with prompts of 17,844 tokens, 2.58 with 204, at 4 tokens a step (Ciender/CMP-170HX-SGLang-Qwen3.6-Benchmarks)."""
    gains = []
    for tokens, output, gain in ((204, 218, 2.58), (17_844, 512, 1.83)):
        found = prior(Case("sglang", "mtp", None, "CMP 170HX 8G variant", 3, input=tokens, output=output, accepted=4.0))
        assert found is not None
        assert math.exp(found.mean) == pytest.approx(gain, rel=0.12)
        gains.append(math.exp(found.mean))
    assert gains[0] > gains[1] + 0.5


def test_nvfp4_by_its_name_alone_may_have_an_fp8_cache() -> None:
    """Qwen3.5-397B-A17B in NVFP4 on four RTX PRO 6000, 16,384 tokens: between attention that is split, and that is not."""
    means = {}
    for cache in ("fp8", None, "bfloat16"):
        found = prior(
            Case("vllm", "mtp", "lukealonso/Qwen3.5-397B-A17B-NVFP4", "4x RTX PRO 6000", 2, input=16_384, cache=cache)
        )
        assert found is not None
        means[cache] = found.mean
    assert means["bfloat16"] < means[None] < means["fp8"]
