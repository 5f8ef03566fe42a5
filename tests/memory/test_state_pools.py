"""Pools of states against starts that were published: how many sequences a launch may decode at once."""

from __future__ import annotations

import shlex

import pytest

import servelint
from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lint import check_launches
from servelint.memory.plan import GIB, MemoryPlan, Release
from servelint.memory.sglang.pools import StateInputs, extra_buffer_slots, solve_states, state_bytes
from servelint.memory.vllm import settings_of
from servelint.memory.vllm.cache import KvCache
from servelint.memory.vllm.layers import cache_of
from servelint.models import architecture
from servelint.readers import read
from tests.memory.planning import config_of, planned, speculating


def cache(command: str, release: str, gpu: str) -> KvCache:
    config = config_of(command, release, gpu)
    model = architecture.find(shlex.split(command)[0])
    assert model is not None
    return cache_of(settings_of(config), model)


VLLM, APRON, KAITO = (
    "https://github.com/vllm-project",
    "https://github.com/mondegreens/apron",
    "https://github.com/kaito-project",
)
NOTES = "https://github.com/stoic-yang/xiandaobei_qwen3.5/blob/3f6f82715c22b0da6d0755d407f0325f23ee3759/memory/50-arch-bottleneck.md"
RECIPE = "https://github.com/edurdias/capyctl-recipes/blob/main/vllm/qwen3.8-27b-nvfp4-gb10/README.md"
SECOND = (
    "https://github.com/Grigoriy-V/local-multimodal-agent/blob/7892948db956c87d35ef566927bb13b6d4c24cde"
    "/reports/2026-09-05_qwen38_second_model.md"
)
DEPLOY = (
    "Qwen3.6-27B on vLLM - Deploy & Benchmark, a public note whose repository is not known: refused with 1,024, 43.93 requests"
)
ATTNVIEW = "the report of stage 02 of attnview, whose repository is not known: refused with 1,024, 38.35 requests"

LOGS = [
    # a comment of 2026-03-08 that does not name the model: the tokens fit the 122B in 16 bits alone
    (f"{VLLM}/vllm/pull/30515", "Qwen/Qwen3.5-122B-A10B --max-model-len 131072", "0.17.1", "gb10", 17.36, 361, 188_640),
    # two RX 7900 XT
    (f"{VLLM}/vllm/issues/49064", "Qwen/Qwen3.8-27B -tp 2 --max-model-len 122633", "0.23.0", "rtx-4090", 3.86, 161, 123_399),
    (NOTES, "Qwen/Qwen3.5-27B --max-model-len 32768", "0.18.1", "h100", 6.76, 141, 27_440),
    (APRON, "Qwen/Qwen3.6-35B-A3B-FP8", "0.30.0", "h100", 34_821_447_352 / GIB, 1610, None),
    (RECIPE, "nvidia/Qwen3.8-27B-NVFP4", "0.30.0", "gb10", 11.6, 242, None),
    (SECOND, "Qwen/Qwen3.8-27B-FP8 --max-model-len 131072", "0.26.0", "l40s", 8.82, 184, 141_036),
    (DEPLOY, "Qwen/Qwen3.6-27B --max-num-seqs 512 --max-model-len 8192", "0.20.2", "rtx-pro-6000", 29.47, 615, 359_862),
    (ATTNVIEW, "Qwen/Qwen3.8-27B --max-num-seqs 256 --max-model-len 8192", "0.29.0", "rtx-pro-6000", 31.24, 652, 314_187),
]
"""Where it is published, the launch, the release, the GPU, GiB of KV cache, blocks of states, and the tokens it printed."""


class TestBlocks:
    @pytest.mark.parametrize(("source", "command", "release", "gpu", "gib", "blocks", "tokens"), LOGS)
    def test_the_blocks_that_the_log_has(
        self, source: str, command: str, release: str, gpu: str, gib: float, blocks: int, tokens: int | None
    ) -> None:
        found = cache(command, release, gpu)
        assert found.number_of_blocks(gib * GIB) == blocks, source
        if tokens is not None:
            length = int(command.rsplit(" ", 1)[1])
            assert found.tokens(blocks, length) == tokens, source

    def test_requests_that_as_many_blocks_hold(self) -> None:
        """95 blocks and 1.44 requests: https://github.com/rwlove/home-ops/pull/13226 (an FP8 KV cache)."""
        found = cache("Qwen/Qwen3.6-35B-A3B --kv-cache-dtype fp8 --max-model-len 131072", "0.25.1", "rtx-4090")
        assert found.concurrency(95, 131_072) == pytest.approx(1.44, abs=0.005)

    @pytest.mark.parametrize(
        ("command", "release", "blocks", "length", "requests"),
        [
            ("Qwen/Qwen3.6-27B --max-num-seqs 512", "0.20.2", 615, 8192, 43.93),
            ("Qwen/Qwen3.8-27B --max-num-seqs 256", "0.29.0", 652, 8192, 38.35),
            # refused with 1,024, and 360,448 tokens (notes of a unit qwen3.8-27b-bf16-native-diag.service; no memory is given)
            ("Qwen/Qwen3.8-27B --max-num-seqs 512", "0.26.0", 616, 8192, 44.0),
        ],
    )
    def test_requests_that_the_blocks_of_a_refusal_hold(
        self, command: str, release: str, blocks: int, length: int, requests: float
    ) -> None:
        found = cache(f"{command} --max-model-len {length}", release, "rtx-pro-6000")
        assert found.concurrency(blocks, length) == pytest.approx(requests, abs=0.005)

    def test_the_block_of_mamba_2(self) -> None:
        """12,877,824 bytes, of which 733 were there for 1,024 sequences: https://github.com/mondegreens/apron."""
        found = cache("nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16", "0.30.0", "h100")
        assert found.bytes_of_block == 12_877_824


STARTS = [
    (f"{VLLM}/recipes/pull/551", "Qwen/Qwen3.6-27B-FP8 --gpu-memory-utilization 0.95", "0.23.0", "h100", 856),
    (f"{KAITO}/kaito/pull/2344", "Qwen/Qwen3.6-27B", "0.25.1", "h100-nvl", 614),
    (f"{KAITO}/kaito/pull/2344", "Qwen/Qwen3.8-27B", "0.25.1", "h100-nvl", 614),
    (f"{KAITO}/kaito/pull/2344", "Qwen/Qwen3.6-35B-A3B", "0.25.1", "h100-nvl", 747),
    (APRON, "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16", "0.30.0", "h100", 733),
    (APRON, "Qwen/Qwen3.6-35B-A3B-FP8", "0.30.0", "h100", 1610),
    (SECOND, "Qwen/Qwen3.8-27B-FP8 --gpu-memory-utilization 0.9 --max-model-len 131072", "0.26.0", "l40s", 184),
]
"""The same of launches whose logs give no memory. KAITO's H100 are the NVL of Azure: 80 GB do not leave so much of the 27B."""


class TestPlans:
    @pytest.mark.parametrize(("source", "command", "release", "gpu", "blocks"), STARTS)
    def test_the_blocks_are_in_the_interval(self, source: str, command: str, release: str, gpu: str, blocks: int) -> None:
        plan = planned(command, release, gpu)
        assert plan.state_pool is not None
        assert plan.state_pool.low <= blocks <= plan.state_pool.high, source
        assert plan.state_pool.mid == pytest.approx(blocks, rel=0.15), source
        assert plan.sequences == (256 if gpu == "l40s" else 1024)
        if blocks < 700:
            assert plan.verdict == "refused", source

    def test_the_message_of_the_release(self) -> None:
        plan = planned("Qwen/Qwen3.6-27B --max-model-len 132000 --gpu-memory-utilization 0.9", "0.28.0")
        assert plan.verdict == "refused"
        assert plan.refusal is not None
        assert plan.refusal.startswith("max_num_seqs (1024) exceeds available Mamba cache blocks (")

    @pytest.mark.parametrize(
        "more",
        ["--max-num-seqs 128", "--enforce-eager", "-cc.cudagraph_mode=PIECEWISE", "--optimization-level 1"],
    )
    def test_what_keeps_it_from_being_refused(self, more: str) -> None:
        plan = planned(f"Qwen/Qwen3.6-27B --max-model-len 16384 --gpu-memory-utilization 0.9 {more}", "0.28.0")
        assert plan.verdict in ("fits", "tight")

    @pytest.mark.parametrize("more", ['--kv-transfer-config \'{"kv_connector":"X","kv_role":"kv_both"}\'', "-cc.mode=0"])
    def test_captures_that_are_not_known_refuse_nothing(self, more: str) -> None:
        plan = planned(f"Qwen/Qwen3.6-27B --max-model-len 16384 --gpu-memory-utilization 0.9 {more}", "0.28.0")
        assert plan.verdict != "refused"

    def test_a_model_without_states_has_no_such_pool(self) -> None:
        plan = planned("Qwen/Qwen3-8B --max-num-seqs 1024", "0.28.0")
        assert plan.state_pool is None
        assert plan.sequences is None

    @pytest.mark.parametrize(("release", "refused"), [("0.17.1", True), ("0.18.1", False), ("0.19.1", False), ("0.20.0", True)])
    def test_from_release_to_release(self, release: str, refused: bool) -> None:
        """An assertion to 0.17.1, smaller captures in 0.18 and 0.19, the message from 0.20.0."""
        plan = planned("Qwen/Qwen3.6-35B-A3B --gpu-memory-utilization 0.95", release)
        assert (plan.verdict == "refused") == refused
        assert (plan.refusal or "").startswith("AssertionError") == (release == "0.17.1")

    def test_drafts_are_captured_whole_by_flash_attention(self) -> None:
        """FlashInfer, the choice on RTX Blackwell, may capture them in pieces: https://github.com/noonghunna/club-3090/issues/617."""
        command = "Qwen/Qwen3.6-27B --gpu-memory-utilization 0.9 " + speculating(method="mtp", num_speculative_tokens=2)
        assert planned(command + " --max-model-len 8192", "0.28.0").verdict == "refused"
        other = planned(command.replace("27B", "27B-FP8") + " --max-model-len 8192", "0.28.0", "rtx-5090")
        assert other.verdict != "refused" or not (other.refusal or "").startswith("max_num_seqs")

    @pytest.mark.parametrize(("release", "verdict"), [("0.25.1", "refused"), ("0.28.0", "fits")])
    def test_the_blocks_with_which_graphs_are_measured(self, release: str, verdict: str) -> None:
        """512 tokens of captured batches need as many blocks of 52 MiB to 0.26; then 32 sequences of 8 tokens each need 32."""
        drafts = speculating(method="mtp", num_speculative_tokens=7)
        plan = planned(f"Qwen/Qwen3.6-27B-FP8 --max-num-seqs 32 --max-model-len 8192 {drafts}", release, "l40s")
        assert plan.verdict == verdict
        assert (plan.refusal is not None) == (verdict == "refused")

    def test_check_and_memory_agree(self) -> None:
        command = "vllm serve Qwen/Qwen3.6-27B --max-model-len 132000"
        (one,) = findings(command)
        assert one.rule == "vllm/max-num-seqs-above-states"
        count = one.advice.split()[2].rstrip(",")
        assert one.advice == f"write --max-num-seqs {count}, which fits"
        assert not findings(f"{command} --max-num-seqs {count}")


def findings(command: str) -> list[Finding]:
    """The errors of a command under 0.28.0 on one H100."""
    source = Source("run.sh", command + "\n")
    settings = Settings(engine_versions={"vllm": "0.28.0"}, gpu="h100", gpu_count=1)
    found = check_launches(source, read(source, Neighbours(None)).launches, settings)
    return [one for one in found if one.severity == "error" and not one.rule.startswith("vllm/cve")]


def plan_of(*words: str, release: str, gpu: str = "h100") -> MemoryPlan:
    return servelint.plan_memory("sglang", ["--model-path", *words], version=release, gpu=gpu, gpu_count=1)


class TestSglang:
    @pytest.mark.parametrize(
        ("source", "slots", "requests"),
        [
            ("https://github.com/jpezzulli/sglang-rtxpro6000/issues/5", 40, 8),
            ("https://github.com/MiaAI-Lab/Qwen3.8-Flash-Next-Dual-DGX-Sparks/issues/8", 28, 5),
        ],
    )
    def test_requests_that_the_slots_serve(self, source: str, slots: int, requests: int) -> None:
        extra = extra_buffer_slots(Release("0.5.20"), "extra_buffer", overlap=True, drafts=True)
        states = solve_states(Release("0.5.20"), 1 << 40, 1 << 20, StateInputs(slots=slots, requests=64, extra=extra, drafts=4))
        assert states.requests == requests, source

    @pytest.mark.parametrize(("slots", "states_gb"), [(4, 0.35), (8, 0.63)])
    def test_states_of_drafts_do_not_grow_with_the_slots(self, slots: int, states_gb: float) -> None:
        """One RTX 5090, DFlash of 12 tokens, one request: https://github.com/sgl-project/sglang/issues/37066."""
        model = architecture.find("Qwen/Qwen3.8-27B")
        assert model is not None
        a_state = state_bytes(model, 1, 1, ssm_dtype="bfloat16")
        states = solve_states(Release("0.5.22"), 1 << 40, a_state, StateInputs(slots=slots, requests=1, extra=1, drafts=12))
        assert states.drafts / GIB == pytest.approx(1.69, rel=0.05)
        assert (states.bytes - states.drafts) / GIB == pytest.approx(states_gb, rel=0.08)

    def test_the_plan_says_how_many_requests(self) -> None:
        plan = plan_of("Qwen/Qwen3.6-27B-FP8", "--max-mamba-cache-size", "40", "--max-running-requests", "64", release="0.5.23")
        assert plan.state_pool is not None
        assert plan.sequences == 64
        assert plan.state_pool.mid == 8
