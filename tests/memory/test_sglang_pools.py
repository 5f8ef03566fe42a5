"""SGLang's pools: what a token and a state take, and how many so much memory holds, against starts that were published."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.engines.releases import known_releases
from servelint.hardware import identify
from servelint.memory.plan import GIB, Release
from servelint.memory.sglang.cache import FP4, FP8, PLAIN, Cells, Ranks, cells, page_size, short_keys
from servelint.memory.sglang.pools import (
    PoolInputs,
    StateInputs,
    draft_headroom,
    extra_buffer_slots,
    running_requests,
    solve_pool,
    solve_states,
    state_bytes,
)  # fmt: skip
from servelint.memory.sglang.settings import SglangSettings
from servelint.models import architecture
from servelint.models.architecture import Architecture, StateLayers
from tests.together import together

NEWEST = Release("0.5.23")
RELEASES = known_releases("sglang")
HYBRID = [release for release in RELEASES if Release(release).since("0.5.3.post2")]


def model(name: str) -> Architecture:
    found = architecture.find(name)
    assert found is not None, name
    return found


@together(
    "name, release, backend, given, tokens",
    [
        ("deepseek-ai/DeepSeek-V3", "0.5.23", "flashmla", None, 64),
        ("deepseek-ai/DeepSeek-V3", "0.5.23", "cutlass_mla", 1, 128),
        ("deepseek-ai/DeepSeek-V3", "0.5.23", "trtllm_mla", None, 64),
        ("deepseek-ai/DeepSeek-V3", "0.5.23", "cutedsl_mla", 32, 64),
        ("deepseek-ai/DeepSeek-V3", "0.5.23", "fa3", None, 1),
        ("Qwen/Qwen3-32B", "0.5.23", "flashmla", 32, 32),
        ("zai-org/GLM-5", "0.5.3.post1", "fa3", None, 64),
        ("zai-org/GLM-5", "0.5.3", "fa3", None, 1),
    ],
)
def test_tokens_of_a_page(name: str, release: str, backend: str, given: int | None, tokens: int) -> None:
    assert page_size(Release(release), SglangSettings(page=given), model(name), backend) == tokens


class TestCells:
    @pytest.mark.parametrize(
        ("name", "form", "ranks", "size"),
        [
            ("Qwen/Qwen3-32B", PLAIN, 1, 64 * 8 * 256 * 2),
            ("Qwen/Qwen3-235B-A22B-FP8", PLAIN, 4, 94 * 1 * 256 * 2),
            ("Qwen/Qwen3-235B-A22B-FP8", PLAIN, 8, 94 * 1 * 256 * 2),
            ("Qwen/Qwen3-32B", FP8, 2, 64 * 4 * 256),
            ("deepseek-ai/DeepSeek-V3", PLAIN, 8, 61 * 576 * 2),
            ("Qwen/Qwen3.6-27B", PLAIN, 1, 16 * 4 * 512 * 2),
        ],
    )
    def test_a_token(self, name: str, form: str, ranks: int, size: int) -> None:
        assert cells(NEWEST, model(name), form, Ranks(ranks)).every == size

    def test_sparse_attention_keeps_keys_of_its_indexer(self) -> None:
        """29.32 GiB held 314,304 tokens of GLM-5 on eight GPUs: 100,164 bytes each."""
        found = cells(NEWEST, model("zai-org/GLM-5"), PLAIN, Ranks(8))
        assert found.every == 78 * (576 * 2 + 132)
        assert cells(Release("0.5.3"), model("zai-org/GLM-5"), PLAIN, Ranks(8)).every == 78 * 576 * 2

    def test_block_sparse_attention_keeps_keys_of_its_indexer(self) -> None:
        """MiniMax-M3: 57 of the 60 layers have one key for all heads and no value (pool_configurator.py, 0.5.23 line 410)."""
        plain, short = (
            cells(NEWEST, model("MiniMaxAI/MiniMax-M3"), form, Ranks(8), short_keys=form == FP8) for form in (PLAIN, FP8)
        )
        assert (plain.every, short.every) == (60 * 256 * 2 + 57 * 128 * 2, 60 * 256 + 57 * 128)

    @pytest.mark.parametrize(
        ("release", "gpu", "dtype", "backend", "short"),
        [
            ("0.5.20", "B200", "fp8_e4m3", None, False),
            ("0.5.21", "B200", "fp8_e4m3", None, True),
            ("0.5.21", "B200", "auto", None, False),
            ("0.5.21", "B200", "fp8_e4m3", "fa4", False),
            ("0.5.22", "H200", "fp8_e4m3", None, False),
            ("0.5.23", "H200", "fp8_e4m3", None, True),
            ("0.5.23", "H200", "fp8_e5m2", None, False),
            ("0.5.23", "MI355X", "auto", None, True),
            ("0.5.23", "MI300X", "auto", None, False),
        ],
    )
    def test_keys_in_eight_bits(self, release: str, gpu: str, dtype: str, backend: str | None, *, short: bool) -> None:
        settings, known = SglangSettings(kv_dtype=dtype), model("MiniMaxAI/MiniMax-M3")
        assert short_keys(Release(release), settings, known, identify(gpu), backend) is short

    def test_rows_of_fp8_with_scales(self) -> None:
        """656 bytes of a row: 512 of fp8, 16 of scales, 64 in 16 bits."""
        found = cells(NEWEST, model("zai-org/GLM-5"), FP8, Ranks(8), scaled_rows=True)
        assert found.every == 78 * (656 + 132)

    def test_four_bits(self) -> None:
        """41.56 GiB held 5,532,637 tokens of a Qwen2.5-1.5B (June 2026): 8,064 bytes each."""
        found = cells(Release("0.5.13"), model("Qwen/Qwen2.5-1.5B-Instruct"), FP4, Ranks())
        assert found.every == 8064
        assert int(41.56 * GIB) // found.every == pytest.approx(5_532_637, rel=0.001)

    def test_layers_of_two_kinds(self) -> None:
        """Gemma-4-26B-A4B with an fp8 cache: 5,120 bytes of keys and as many of values in full layers; 102,400 in others."""
        found = cells(NEWEST, model("google/gemma-4-26B-A4B"), FP8, Ranks())
        assert (found.full, found.sliding) == (10_240, 102_400)

    def test_stages_share_the_layers(self) -> None:
        whole, half = (cells(NEWEST, model("Qwen/Qwen3-32B"), PLAIN, Ranks(1, 1, stages)).every for stages in (1, 2))
        assert whole == 2 * half


class TestPool:
    def test_llama_on_one_gpu(self) -> None:
        """The notebook of January 2025: 78.81 GiB before loading, 63.72 after, 0.88, 444,500 tokens."""
        rest = 63.72 - 78.81 * (1 - 0.88)
        found = solve_pool(Release("0.4.1.post7"), int(rest * GIB), Cells(131_072, 0, 32, 0), PoolInputs())
        assert found.tokens == pytest.approx(444_500, abs=50)
        assert running_requests(Release("0.4.1.post7"), found.tokens, 131_072, None, 1) == 2048

    @pytest.mark.parametrize(
        ("share", "tokens", "sliding"), [(0.8, 29_061, 23_248), (0.3, 65_387, 19_616), (0.3, 89_571, 26_871)]
    )
    def test_two_pools_of_gemma(self, share: float, tokens: int, sliding: int) -> None:
        """Starts of October 2026 on an RTX 5090, with 2.50 and 3.42 GiB."""
        held = tokens * (10_240 + share * 102_400)
        found = solve_pool(NEWEST, int(held) + 1, Cells(10_240, 102_400, 5, 25), PoolInputs(window_share=share))
        assert (found.tokens, found.sliding) == (tokens, sliding)

    def test_two_pools_of_a_small_gemma(self) -> None:
        """79.94 GiB on a GB10: 997,846 tokens, 798,276 of sliding layers."""
        small = Cells(7 * 4096, 35 * 2048, 7, 35)
        found = solve_pool(NEWEST, int(79.94 * GIB), small, PoolInputs(window_share=0.8))
        assert found.tokens == pytest.approx(997_846, rel=0.0001)
        assert found.sliding == int(found.tokens * 0.8)

    def test_layers_were_taken_as_alike_up_to_0_5_8(self) -> None:
        """gpt-oss: 18 layers of each kind, alike; from 0.5.9 their bytes decide."""
        even, uneven = Cells(18_432, 18_432, 18, 18), Cells(10_240, 102_400, 5, 25)
        for kinds, alike in ((even, True), (uneven, False)):
            old, new = (
                solve_pool(Release(one), 10 * GIB, kinds, PoolInputs(window_share=0.8)).tokens for one in ("0.5.8", "0.5.9")
            )
            assert (abs(old - new) <= 2) is alike

    def test_a_draft_of_one_layer(self) -> None:
        """0.5.17 with EAGLE: 171,008 tokens took 5.22 + 5.22 GiB and 0.33 + 0.33 of the draft."""
        inputs = PoolInputs(drafts=(65_536 // 16, 0), counted=True)
        found = solve_pool(Release("0.5.17"), 171_008 * 65_536 * 17 // 16, Cells(65_536, 0, 16, 0), inputs)
        assert found.tokens == 171_008
        assert found.bytes / GIB == pytest.approx(10.44, abs=0.01)
        assert found.drafts / GIB == pytest.approx(0.66, abs=0.01)

    def test_drafts_are_not_counted_before_0_5_14(self) -> None:
        rest, kinds = 10 * GIB, Cells(65_536, 0, 16, 0)
        counted = solve_pool(NEWEST, rest, kinds, PoolInputs(drafts=(4096, 0), counted=True)).tokens
        beside = solve_pool(NEWEST, rest, kinds, PoolInputs(drafts=(4096, 0))).tokens
        assert beside == rest // 65_536 > counted

    def test_drafts_enlarged_the_pool_up_to_0_5_6(self) -> None:
        assert draft_headroom(Release("0.5.6.post2"), 48, 3, 1, 4) == 48 * 3 + 48 * 4 + 100
        assert draft_headroom(Release("0.5.7"), 48, 3, 1, 4) == 0
        assert draft_headroom(Release("0.4.2"), 48, 5, 8, 64) == 0

    @given(
        release=st.sampled_from(RELEASES),
        rest=st.integers(-GIB, 80 * GIB),
        more=st.integers(0, GIB),
        page=st.sampled_from([1, 16, 64]),
        share=st.sampled_from([None, 0.1, 0.8]),
        limit=st.sampled_from([None, 10_000]),
    )
    def test_more_memory_never_holds_less(
        self, release: str, rest: int, more: int, page: int, share: float | None, limit: int | None
    ) -> None:
        kinds, asked = Cells(10_240, 102_400, 5, 25), PoolInputs(page=page, limit=limit, window_share=share)
        small, large = (solve_pool(Release(release), size, kinds, asked) for size in (rest, rest + more))
        assert small.tokens <= large.tokens
        assert small.bytes <= large.bytes
        assert large.bytes <= max(0, rest + more)
        if Release(release).since("0.5.7"):
            assert large.tokens % page == 0
        if limit is not None and share is None:
            assert large.tokens <= limit


class TestRunningRequests:
    def test_they_follow_the_tokens(self) -> None:
        assert running_requests(NEWEST, 450_000, 131_072, None, 1) == 2048
        assert running_requests(NEWEST, 450_000, 32_768, None, 1) == 4096
        assert running_requests(NEWEST, 674, 32_768, None, 1) == 337
        assert running_requests(NEWEST, 60_000, 10_000, None, 1) == 3072

    def test_replicas_share_what_is_asked(self) -> None:
        assert running_requests(NEWEST, 450_000, 32_768, 256, 8) == 32
        assert running_requests(NEWEST, 450_000, 32_768, 4, 8) == 1
        assert running_requests(Release("0.5.21"), 450_000, 32_768, 4, 8) == 0


class TestStates:
    def test_a_qwen_of_27_billion(self) -> None:
        """GB10, September 2026: 360 slots and one that pads took 0.99 GiB of convolutions and 50.77 of states."""
        size = state_bytes(model("Qwen/Qwen3.6-27B"), 1, 1, ssm_dtype=None)
        assert size == 48 * (10_240 * 3 * 2 + 48 * 128 * 128 * 4)
        found = solve_states(NEWEST, 60 * GIB, size, StateInputs(slots=360, requests=72, extra=2))
        assert found.bytes / GIB == pytest.approx(0.99 + 50.77, abs=0.02)
        assert found.requests == 72

    def test_states_in_16_bits_are_half(self) -> None:
        whole, half = (state_bytes(model("Qwen/Qwen3.6-27B"), 1, 1, ssm_dtype=one) for one in ("float32", "bfloat16"))
        assert 0.5 < half / whole < 0.52

    def test_gpus_share_a_state(self) -> None:
        one, four = (state_bytes(model("Qwen/Qwen3.6-35B-A3B"), ranks, 1, ssm_dtype=None) for ranks in (1, 4))
        assert one == 4 * four

    @pytest.mark.parametrize(("ranks", "groups"), [(1, 2), (2, 2), (4, 4), (8, 8)])
    def test_groups_of_mamba_2_are_as_many_as_the_gpus_that_they_do_not_divide_among(self, ranks: int, groups: int) -> None:
        """2 groups on 4 GPUs are 4: extra_groups_for_head_shards in srt/configs/mamba_utils.py."""
        kind = StateLayers("mamba2", 3, 2, 64, 32, 16, 4)
        made = replace(model("Qwen/Qwen3.6-27B"), states=(kind,))
        conv = (32 * 16 + 2 * groups * 64) // ranks * 3 * 2
        assert state_bytes(made, ranks, 1, ssm_dtype="float32") == 3 * (conv + 32 * 16 * 64 // ranks * 4)

    def test_states_of_tokens_that_are_verified(self) -> None:
        """64 slots of a model with 48 MiB of states: 48.75 GiB for 64 requests of 16 tokens without a radix cache."""
        a_state = 24 * 32 * 128 * 128 * 4
        asked = StateInputs(slots=64, requests=64, radix=False, drafts=16)
        found = solve_states(NEWEST, 90 * GIB, a_state, asked)
        assert found.drafts / GIB == pytest.approx(48.75, abs=0.01)

    def test_three_slots_for_a_request_and_two_more_with_an_extra_buffer(self) -> None:
        taken = [
            extra_buffer_slots(NEWEST, one, overlap=True, drafts=False)
            for one in ("no_buffer", "extra_buffer", "extra_buffer_lazy")
        ]
        assert taken == [0, 2, 1]

    def test_too_few_slots_for_a_request(self) -> None:
        """A 24 GB card with a Qwen3.5: max_mamba_cache_size=4, mamba_ratio=5, resulting max_num_reqs=0."""
        a_state = state_bytes(model("Qwen/Qwen3.6-27B"), 1, 1, ssm_dtype=None)
        found = solve_states(Release("0.5.14"), 14 * GIB // 10, a_state, StateInputs(ratio=0.9, extra=2))
        assert (found.slots, found.a_request, found.requests) == (4, 5, 0)

    @given(
        release=st.sampled_from(HYBRID),
        rest=st.integers(GIB, 80 * GIB),
        more=st.integers(0, 8 * GIB),
        drafts=st.sampled_from([0, 4, 16]),
        radix=st.booleans(),
    )
    def test_more_memory_never_gives_fewer_slots(self, release: str, rest: int, more: int, drafts: int, radix: bool) -> None:
        asked = StateInputs(requests=48, drafts=drafts, radix=radix)
        small, large = (solve_states(Release(release), size, 50_000_000, asked) for size in (rest, rest + more))
        assert small.slots <= large.slots
        assert small.bytes <= large.bytes

    @given(release=st.sampled_from(HYBRID), rest=st.integers(4 * GIB, 80 * GIB), drafts=st.sampled_from([2, 4, 16]))
    def test_drafts_never_give_more_slots(self, release: str, rest: int, drafts: int) -> None:
        plain, drafting = (
            solve_states(Release(release), rest, 50_000_000, StateInputs(requests=48, drafts=one)) for one in (0, drafts)
        )
        assert drafting.slots <= plain.slots
