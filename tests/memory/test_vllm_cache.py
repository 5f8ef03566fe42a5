"""The KV cache of vLLM: what published starts printed for the memory that they printed.

Each figure is a log's "Available KV cache memory" with its "GPU KV cache size" and "Maximum concurrency". The memory is printed
with two decimals, so that what it holds is known within a few blocks.
"""

from __future__ import annotations

import pytest

from servelint.memory.plan import GIB
from servelint.memory.vllm import capacity
from servelint.memory.vllm.cache import FULL, SLIDING, STATE, Batching, KvCache, Layers
from servelint.memory.vllm.settings import ReleaseRules
from tests.memory.planning import config_of, planned, speculating
from tests.together import together

GLM = "--tensor-parallel-size 8 --max-model-len 202752 --kv-cache-dtype fp8"
"""GLM-5.1 on eight RTX PRO 6000: https://github.com/local-inference-lab/rtx6kpro (models/glm5.1/benchmarks)"""
SPARK = (
    "--max-model-len 131072 --max-num-batched-tokens 16384 --max-num-seqs 32 --kv-cache-dtype fp8_e4m3 --enable-prefix-caching"
)

LOGGED = [
    # https://github.com/dennislee22/vLLM-benchmarking (log/)
    ("openai/gpt-oss-120b --max-model-len 16384 --tensor-parallel-size 4", "0.10.1.1", 45.32, 2_640_144, 284.25),
    ("Qwen/Qwen2-7B-Instruct --max-model-len 16384 --tensor-parallel-size 2", "0.10.1.1", 12.02, 450_192, 27.48),
    ("Qwen/Qwen2-7B-Instruct --max-model-len 16384 --tensor-parallel-size 2", "0.10.1.1", 31.83, 1_192_160, 72.76),
    ("Qwen/Qwen3-Next-80B-A3B-Instruct --tensor-parallel-size 2", "0.10.2", 44.59, 973_760, 14.77),
    # https://github.com/djangodevreng/dgx-spark-benchmarks (results/)
    ("Qwen/Qwen3.6-35B-A3B --max-model-len 131072 --no-enable-prefix-caching", "0.19.2rc1.dev134", 47.55, 623_040, 18.44),
    (
        "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4 --max-model-len 131072 --kv-cache-dtype fp8 --no-enable-prefix-caching "
        "--mamba-ssm-cache-dtype float32 --max-num-seqs 20 " + speculating(method="mtp", num_speculative_tokens=3),
        "0.19.2rc1.dev134",
        36.25,
        1_399_712,
        27.81,
    ),
    (f"zai-org/GLM-5.1 {GLM}", "0.20.2rc1", 19.55, 341_504, 1.68),
    (f"zai-org/GLM-5.1 {GLM} {speculating(method='mtp', num_speculative_tokens=3)}", "0.20.2rc1", 18.51, 319_232, 1.57),
    (f"zai-org/GLM-5.1 {GLM} --decode-context-parallel-size 8", "0.20.2rc1", 19.47, 2_720_768, 13.42),
    # https://github.com/noonghunna/club-3090 (issue 612)
    (
        "nvidia/Qwen3.6-35B-A3B-NVFP4 --max-model-len 131072 --kv-cache-dtype fp8 --enable-prefix-caching --max-num-seqs 1",
        "0.24.0",
        5.98,
        567_978,
        4.33,
    ),
]


@together("command, release, kv_gib, tokens, concurrency", list(LOGGED))
def test_what_a_logged_memory_holds(command: str, release: str, kv_gib: float, tokens: int, concurrency: float) -> None:
    found = capacity(config_of(command, release, "a100-80gb"), kv_gib)
    assert found is not None
    assert found[0] == pytest.approx(tokens, rel=0.001)
    assert found[1] == pytest.approx(concurrency, rel=0.0005, abs=0.006)


class TestMtpOnAHybridModel:
    """Qwen3.6-35B-A3B in FP8 on a GB10, vLLM 0.19.1rc1: 323,456 tokens and 8.24x with MTP, 360 thousand without it."""

    RELEASE = "0.19.1rc1.dev328+g18013df6a"
    COMMAND = "Qwen/Qwen3.6-35B-A3B-FP8 " + SPARK
    MTP = COMMAND + " " + speculating(method="qwen3_next_mtp", num_speculative_tokens=2)

    def test_the_blocks_that_were_printed(self) -> None:
        found = capacity(config_of(self.MTP, self.RELEASE), 13.62)
        assert found is not None
        assert (found[0], round(found[1], 2)) == (323_456, 8.24)
        found = capacity(config_of(self.COMMAND, self.RELEASE), 13.78)
        assert found is not None
        assert round(found[0], -3) in (360_000, 361_000)

    def test_most_of_the_loss_is_padding(self) -> None:
        """The same memory holds a tenth less tokens with MTP, and a sixth fewer requests."""
        plain, drafted = (capacity(config_of(command, self.RELEASE), 13.7) for command in (self.COMMAND, self.MTP))
        assert plain is not None
        assert drafted is not None
        assert 0.09 < 1 - drafted[0] / plain[0] < 0.11
        assert 0.16 < 1 - drafted[1] / plain[1] < 0.18


def cache(release: str, *kinds: Layers, batching: Batching | None = None) -> KvCache:
    return KvCache(ReleaseRules(release), list(kinds), batching or Batching(2048))


class TestGroups:
    def test_one_kind_is_one_group(self) -> None:
        found = cache("0.19.1", Layers(FULL, 32, 16, 1024))
        assert (found.size, found.bytes_of_block, len(found.groups)) == (32, 32 * 1024, 1)

    def test_the_smallest_kind_tells_the_size(self) -> None:
        found = cache("0.19.1", Layers(FULL, 10, 16, 1024), Layers(STATE, 30, 16, 1024, states=1))
        assert (found.size, found.padding, len(found.groups)) == (10, 0, 4)

    def test_what_remains_is_padded(self) -> None:
        """Qwen3.6-35B-A3B with MTP: 11 layers of attention, and 30 with state in three groups of 11."""
        found = cache("0.19.1", Layers(FULL, 11, 16, 1024), Layers(STATE, 30, 16, 1024, states=3))
        assert (found.size, found.padding, len(found.groups)) == (11, 3, 4)

    @pytest.mark.parametrize(
        ("release", "size", "groups"), [("0.11.2", 10, 3), ("0.12.0", 12, 2), ("0.17.1", 12, 2), ("0.18.0", 12, 2)]
    )
    def test_kinds_of_nearly_one_size(self, release: str, size: int, groups: int) -> None:
        found = cache(release, Layers(FULL, 10, 16, 1024), Layers(SLIDING, 12, 16, 1024, window=128))
        assert (found.size, len(found.groups)) == (size, groups)

    @pytest.mark.parametrize(("release", "size"), [("0.17.1", 10), ("0.18.0", 14)])
    def test_nearly_is_half_as_many_again_from_0_18_0(self, release: str, size: int) -> None:
        assert cache(release, Layers(FULL, 10, 16, 1024), Layers(SLIDING, 14, 16, 1024, window=128)).size == size

    def test_smaller_pages_get_larger_blocks(self) -> None:
        found = cache("0.19.1", Layers(FULL, 5, 16, 512), Layers(SLIDING, 25, 16, 1024, window=1024))
        assert [(kind.block, kind.page) for kind in found.kinds] == [(32, 1024), (16, 1024)]

    def test_before_0_12_0_pages_of_two_sizes_are_refused(self) -> None:
        with pytest.raises(ValueError, match="pages of these sizes"):
            cache("0.11.2", Layers(FULL, 5, 16, 512), Layers(SLIDING, 25, 16, 1024, window=1024))

    def test_layers_of_one_kind_share_a_pool_whatever_their_pages(self) -> None:
        found = cache("0.19.1", Layers(FULL, 78, 64, 41984), Layers(FULL, 78, 64, 8448))
        assert (found.bytes_of_block, len(found.groups)) == (78 * (41984 + 8448), 1)


class TestARequest:
    def test_a_window_keeps_a_batch_beside_it(self) -> None:
        kind = Layers(SLIDING, 1, 16, 1024, window=1024)
        assert cache("0.19.1", kind).blocks(kind, 100_000) == -(-(1023 + 2048) // 16) + 1
        assert cache("0.26.0", kind, batching=Batching(2048, in_flight=2)).blocks(kind, 100_000) == -(-(1023 + 4096) // 16) + 1

    def test_no_longer_than_the_request(self) -> None:
        kind = Layers(SLIDING, 1, 16, 1024, window=1024)
        assert cache("0.19.1", kind).blocks(kind, 160) == 11

    def test_context_parallel_ranks_divide_it(self) -> None:
        kind = Layers(FULL, 1, 64, 1024)
        assert cache("0.20.2", kind, batching=Batching(2048, sharded=8)).blocks(kind, 202_752) == 396

    def test_what_is_compared_before_a_start(self) -> None:
        """0.14.0 to 0.18.1 look at the first group alone, so that a hybrid model passes that cannot hold one request."""
        kinds = [Layers(STATE, 30, 16, 1024, states=1), Layers(FULL, 10, 16, 1024)]
        assert cache("0.18.1", *kinds).need(16_000) == 10 * 1024
        assert cache("0.19.0", *kinds).need(16_000) == 10 * 1024 * (3 + 1000)

    def test_from_0_29_0_a_block_is_held_back(self) -> None:
        kind = Layers(FULL, 1, 16, 1024)
        assert cache("0.28.0", kind).starts(10 * 1024, 160)
        assert not cache("0.29.0", kind).starts(10 * 1024, 160)


class TestWhatIsPrinted:
    KINDS = (Layers(FULL, 10, 16, 1024), Layers(SLIDING, 30, 16, 1024, window=128))

    def test_before_0_20_1_blocks_are_divided_among_the_groups(self) -> None:
        assert cache("0.20.0", *self.KINDS).tokens(400, 16_000) == 1600

    def test_from_0_20_1_it_is_what_requests_find_room_for(self) -> None:
        found = cache("0.20.1", *self.KINDS)
        assert found.tokens(4000, 16_000) == int(4000 / (1000 + 3 * (136 + 1)) * 16_000)

    def test_a_build_before_0_20_1_prints_as_0_20_0(self) -> None:
        assert not ReleaseRules("0.20.1.dev0+g101584af0").printed
        assert ReleaseRules("0.20.2rc1.dev249").printed


@together("dtype, bits", [("turboquant_k8v4", 1568), ("turboquant_4bit_nc", 1072), ("turboquant_3bit_nc", 816)])
def test_turboquant_leaves_two_layers_at_each_end_in_16_bits(dtype: str, bits: int) -> None:
    found = planned(f"Qwen/Qwen3-8B --kv-cache-dtype {dtype}", "0.21.0")
    assert found.kv_gib is not None
    assert found.kv_tokens == int(found.kv_gib.mid * GIB / (4 * 8 * 2 * 128 * 2 + 32 * 8 * bits // 8)) // 16 * 16


def test_the_longest_request_that_fits() -> None:
    """MiniMax-M2.7 in 24.85 GiB: "the estimated maximum model length is 105056"."""
    found = cache("0.19.1", Layers(FULL, 62, 16, 65536))
    assert found.longest(int(24.85 * 2**30), 204_800) == 105_056
    assert found.need(204_800) / 2**30 == pytest.approx(48.44, abs=0.005)
