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
PEEPHOLE = "https://github.com/at0rp1d0i-cell/peephole/blob/9daee2bc9269a8b6a4bea53ebf3f58748612102b/logs"
H100_LOG = "https://github.com/yangyuxin-hub/H100-llm-deploy/blob/e38ab69b07b24cbee99c9f71b197ca472f2b5843/PROJECT_LOG.md"
UNIT = "notes of a unit qwen3.8-27b-bf16-native-diag.service, whose repository is not known"
G7E = "https://github.com/graz-dev/vllm-benchmark/blob/0f25736c7b96e78dc91f701d1df36321de5b559d/studies/2-larger-model-g7e/README.md"
HARNESS = (
    "https://github.com/aarora79/llm-coding-harness-benchmarks/blob/568f4c8794562e35d678ee1949cd292ed2fe993b"
    "/self-hosted/vllm/models/qwen3-coder-next.md"
)
FORGE = "https://github.com/rmholston420/Forge-OH: bench/pathE_qwen36_27b/vllm_launch.sh, cell c04"
HOME_OPS = "https://github.com/rwlove/home-ops/pull/13226"

REFUSALS = [
    # two RX 7900 XT; the threads of the other logs name their GPU
    (
        f"{VLLM}/vllm/issues/49064",
        "Qwen/Qwen3.8-27B -tp 2 --max-model-len 122633",
        "0.23.0",
        "rtx-4090",
        161,
        3.86,
        123_399,
        None,
    ),
    (SECOND, "Qwen/Qwen3.8-27B-FP8 --max-model-len 131072", "0.26.0", "l40s", 184, 8.82, 141_036, 1.08),
    (RECIPE, "nvidia/Qwen3.8-27B-NVFP4", "0.30.0", "gb10", 242, 11.6, None, None),
    (DEPLOY, "Qwen/Qwen3.6-27B --max-model-len 8192", "0.20.2", "rtx-pro-6000", 615, 29.47, 359_862, 43.93),
    (
        f"{PEEPHOLE}/serve-e4-attempt2-maxnumseqs-default-fail.log",
        "Qwen/Qwen3.8-27B --gpu-memory-utilization 0.90 --max-model-len 8192",
        "0.29.0",
        "rtx-pro-6000",
        635,
        30.4,
        305_995,
        37.35,
    ),
    (UNIT, "Qwen/Qwen3.8-27B --max-model-len 8192", "0.26.0", "rtx-pro-6000", 616, None, 360_448, None),
    (
        H100_LOG,
        "nvidia/Qwen3.6-27B-NVFP4 --quantization modelopt --max-model-len 262144",
        "0.24.0",
        "h100",
        976,
        None,
        1_496_213,
        5.71,
    ),
    # with an FP8 KV cache, as the manifest of the change has it
    (HOME_OPS, "Qwen/Qwen3.6-35B-A3B --kv-cache-dtype fp8 --max-model-len 131072", "0.25.1", "rtx-4090", 95, None, None, 1.44),
]
"""Starts that ended with "max_num_seqs (N) exceeds available Mamba cache blocks (M)".

Where it is published, the launch, the release, the GPU, the blocks M of the message, and what the log printed before: GiB of
KV cache, tokens, and requests of the whole length. What is not in the log is None.
"""

LOGS = [
    # a comment of 2026-03-08 that does not name the model: the tokens fit the 122B in 16 bits alone
    (f"{VLLM}/vllm/pull/30515", "Qwen/Qwen3.5-122B-A10B --max-model-len 131072", "0.17.1", "gb10", 17.36, 361, 188_640),
    (NOTES, "Qwen/Qwen3.5-27B --max-model-len 32768", "0.18.1", "h100", 6.76, 141, 27_440),
    (APRON, "Qwen/Qwen3.6-35B-A3B-FP8", "0.30.0", "h100", 34_821_447_352 / GIB, 1610, None),
    (
        f"{PEEPHOLE}/serve-e4.log",
        "Qwen/Qwen3.8-27B --max-num-seqs 256 --max-model-len 8192",
        "0.29.0",
        "rtx-pro-6000",
        31.24,
        652,
        314_187,
    ),
]
"""Starts that were not refused: the same, with GiB of KV cache before the blocks."""


class TestRefusals:
    @pytest.mark.parametrize(("source", "command", "release", "gpu", "blocks", "gib", "tokens", "requests"), REFUSALS)
    def test_the_number_of_sequences_that_the_message_has(
        self,
        source: str,
        command: str,
        release: str,
        gpu: str,
        blocks: int,
        gib: float | None,
        tokens: int | None,
        requests: float | None,
    ) -> None:
        found = cache(command, release, gpu)
        length = int(command.rsplit(" ", 1)[1]) if tokens or requests else 0
        if gib is not None:
            assert found.number_of_blocks(gib * GIB) == blocks, source
        if tokens is not None:
            numbers = [count for count in range(1, 2 * blocks) if found.tokens(count, length) == tokens]
            assert numbers == [blocks], source
        if requests is not None:
            assert found.concurrency(blocks, length) == pytest.approx(requests, abs=0.005), source
        if gib is None and tokens is None:  # no other number of blocks gives as many requests
            numbers = [
                count for count in range(1, 2 * blocks) if abs(found.concurrency(count, length) - (requests or 0)) <= 0.005
            ]
            assert numbers == [blocks], source

    def test_the_blocks_between_two_refusals(self) -> None:
        """213 blocks with 0.725 of an RTX 5090 of 32,607 MiB, and 146 with 0.70 (Nemotron 3 Nano in NVFP4, NIM 2.0.12).

        Notes on footprints whose repository is not known. The fraction alone differs.
        """
        found = cache("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4 --max-model-len 4096", "0.22.1", "rtx-5090")
        between = (0.725 - 0.70) * 32_607 * 2**20 / found.bytes_of_block
        assert between == pytest.approx(213 - 146, abs=1)


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
    (H100_LOG, "nvidia/Qwen3.6-27B-NVFP4 --quantization modelopt --max-model-len 262144", "0.24.0", "h100", 976),
    (
        f"{PEEPHOLE}/serve-e4-attempt2-maxnumseqs-default-fail.log",
        "Qwen/Qwen3.8-27B --max-model-len 8192 --gpu-memory-utilization 0.9",
        "0.29.0",
        "rtx-pro-6000",
        635,
    ),
    (G7E, "Qwen/Qwen3.8-27B --gpu-memory-utilization 0.90 --no-enable-prefix-caching", "0.27.1", "rtx-pro-6000", 603),
    (
        HARNESS,
        "Qwen/Qwen3-Coder-Next --tensor-parallel-size 4 --max-model-len 16384 --gpu-memory-utilization 0.90",
        "0.25.1",
        "l40s",
        134,
    ),
    (FORGE, "nvidia/Qwen3.6-27B-NVFP4 --gpu-memory-utilization 0.90", "0.26.0", "rtx-5090", 111),
    (
        f"{VLLM}/vllm/pull/38599",
        "nvidia/Qwen3.5-397B-A17B-NVFP4 --data-parallel-size 2 --enable-expert-parallel",
        "0.20.0",
        "b200",
        600,
    ),
    (
        "https://github.com/NVIDIA-NeMo/RL/issues/2620",
        "nvidia/NVIDIA-Nemotron-Nano-12B-v2 --gpu-memory-utilization 0.6",
        "0.20.0",
        "h100",
        658,
    ),
    (APRON, "Qwen/Qwen3.8-Flash-Next --tensor-parallel-size 2", "0.30.0", "b200", 626),
    (
        "the manual of a deployment of Qwen3.5-27B Opus-Distilled on an A800 (AutoDL, 2026-04-29)",
        "Qwen/Qwen3.5-27B --dtype bfloat16 --max-model-len 32768 --gpu-memory-utilization 0.92",
        "0.20.0",
        "a800-80gb",
        348,
    ),
    (
        "Walking skeleton: measured, not assumed (RunPod, 2026-08-30)",
        "Qwen/Qwen3.8-27B-FP8 --max-model-len 16384 --gpu-memory-utilization 0.94",
        "0.28.0",
        "l40s",
        211,
    ),
    ("the engine.sh of a benchmark of KV events, profile qwen38-27b-fp8-v1", "Qwen/Qwen3.8-27B-FP8", "0.28.0", "l40s", 180),
    ("the serve.sh of a class on L40S", "Qwen/Qwen3.6-35B-A3B-FP8 --max-model-len 16384", "0.26.0", "l40s", 173),
    (
        "a job of vlm_pipeline on RTX PRO 6000",
        "Qwen/Qwen3.6-35B-A3B --max-model-len 8192 --gpu-memory-utilization 0.8",
        "0.26.0",
        "rtx-pro-6000",
        274,
    ),
    (
        "a script that scores TeleQnA with Qwen3.5-122B-A10B on two H200",
        "Qwen/Qwen3.5-122B-A10B -tp 2 --max-model-len 8192 --gpu-memory-utilization 0.95 --language-model-only",
        "0.28.0",
        "h200",
        466,
    ),
]
"""Launches whose sources give the blocks alone; where they name no release it is one of that date.

KAITO's H100 are the NVL of Azure: 80 GB do not leave so much of the 27B. Where a source has no address, its repository is not
known.
"""
WIDE = (134, 173, 274, 626)
"""Of these a few GiB are left beside the weights: the middle of the interval is not near."""


class TestPlans:
    @pytest.mark.parametrize(("source", "command", "release", "gpu", "blocks"), STARTS)
    def test_the_blocks_are_in_the_interval(self, source: str, command: str, release: str, gpu: str, blocks: int) -> None:
        plan = planned(command, release, gpu)
        assert plan.state_pool is not None
        assert plan.state_pool.low <= blocks <= plan.state_pool.high, source
        if blocks not in WIDE:
            assert plan.state_pool.mid == pytest.approx(blocks, rel=0.15), source
        assert plan.sequences == (256 if gpu in ("l40s", "rtx-5090") else 1024)
        if blocks < 700 and blocks not in (134, 626):
            assert plan.verdict == "refused", source
        assert plan.verdict not in ("fits", "unknown") or blocks >= plan.sequences, source

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
