"""DeepSeek V4's KV cache in vLLM, against what engines printed and what their functions give for its layers."""

from __future__ import annotations

import pytest

from servelint.memory.plan import FITS, GIB, REFUSED, TIGHT, UNKNOWN
from servelint.memory.vllm import capacity
from servelint.memory.vllm.cache import CompressedCache
from servelint.memory.vllm.footprint import workspaces_gib
from servelint.memory.vllm.layers import cache_of
from servelint.memory.vllm.settings import VllmSettings
from servelint.models.architecture import find
from tests.memory.planning import config_of, planned

FLASH, PRO = "deepseek-ai/DeepSeek-V4-Flash", "deepseek-ai/DeepSeek-V4-Pro"


def cache(name: str, more: str, release: str, gpu: str = "h200") -> CompressedCache:
    model = find(name)
    assert model is not None
    found = cache_of(VllmSettings(config_of(f"{name} {more}", release, gpu), model), model)
    assert isinstance(found, CompressedCache)
    return found


class TestPublished:
    def test_a_refusal_on_two_gh200(self) -> None:
        """https://github.com/vllm-project/vllm/issues/44376, vLLM 0.22: 6.66 GiB for 30,000 tokens; 13,528 fit in 5.44."""
        found = cache(FLASH, "--max-model-len 30000 --max-num-batched-tokens 16384", "0.22.0")
        assert found.need(30_000) / GIB == pytest.approx(6.66, abs=0.005)
        assert found.longest(int(5.44 * GIB), 30_000) == pytest.approx(13_528, rel=0.001)
        plan = planned(f"{FLASH} --tensor-parallel-size 2 --max-model-len 30000 --max-num-batched-tokens 16384"
            " --gpu-memory-utilization 0.95 --enable-expert-parallel", "0.22.0", "gh200-96gb")  # fmt: skip
        assert plan.kv_gib is not None
        assert plan.kv_gib.low < 5.44 < plan.kv_gib.high

    @pytest.mark.parametrize(
        ("more", "gib", "tokens"),
        [
            ("--max-model-len 1048576 --max-num-batched-tokens 8192", 20.36, 3_076_565),
            ("--max-model-len 500000 --max-num-batched-tokens 16384", 26.15, 1_687_476),
        ],
    )
    def test_tokens_on_pairs_of_gb10(self, more: str, gib: float, tokens: int) -> None:
        """Their batches are taken for the usual ones: the logs cut the command."""
        found = capacity(config_of(f"{FLASH} --tensor-parallel-size 2 {more}", "0.22.0", "gb10"), gib)
        assert found is not None
        assert found[0] == pytest.approx(tokens, rel=0.006)

    def test_pro_on_eight_h20(self) -> None:
        """https://github.com/vllm-project/recipes/issues/390 and pull request 617.

        Without drafts 800,000 tokens started. With DSpark a batch of 16,384 left 312,000 tokens of KV cache, and one of 32,768
        less than 10,000.
        """
        decoding = """--compilation-config '{"mode": 0, "cudagraph_mode": "FULL_DECODE_ONLY"}'"""
        common = f"{PRO} --block-size 256 --enable-expert-parallel --gpu-memory-utilization 0.95 {decoding}"
        ranks = f"{common} --data-parallel-size 8 --max-num-seqs 512 --max-num-batched-tokens 512 --max-model-len 800000"
        assert planned(ranks, "0.20.0", "h20-141gb").verdict == TIGHT
        shared = f"{common} --tensor-parallel-size 8 --max-num-seqs 16 --max-model-len 200000 --max-num-batched-tokens"
        assert planned(f"{shared} 16384", "0.25.0", "h20-141gb").verdict == FITS
        assert planned(f"{shared} 32768", "0.25.0", "h20-141gb").verdict == REFUSED


class TestLayout:
    """Flash has 43 layers, of which 21 compress 4 tokens and 20 compress 128: pages of 37,440, 8,640 and 1,728 bytes."""

    @pytest.mark.parametrize(
        ("release", "size"),
        [
            ("0.20.0", 22 * (37_440 + 8_640 + 1_728)),
            ("0.22.1", 22 * (37_440 + 8_640 + 1_728)),
            ("0.23.0", 22 * 37_440 + 21 * 8_640 + 20 * 1_728),
            ("0.27.1", 22 * 37_440 + 21 * 8_640 + 20 * 1_728),
            ("0.28.0", 21 * 37_440 + 21 * 8_640 + 20 * 1_728),
            ("0.33.0", 21 * 37_440 + 21 * 8_640 + 20 * 1_728),
        ],
    )
    def test_a_block(self, release: str, size: int) -> None:
        assert cache(FLASH, "--max-model-len 65536", release).bytes_of_block == size

    @pytest.mark.parametrize(("name", "groups"), [(FLASH, [21, 22, 21, 21, 20]), (PRO, [31, 31, 30, 30, 31])])
    def test_windows_take_two_groups(self, name: str, groups: list[int]) -> None:
        for release in ("0.22.0", "0.33.0"):
            assert [one.size for one in cache(name, "--max-model-len 65536", release).groups] == groups

    def test_the_layer_that_drafts_has_a_window(self) -> None:
        more = """--max-model-len 65536 --speculative-config '{"method": "mtp", "num_speculative_tokens": 1}'"""
        assert [one.size for one in cache(FLASH, more, "0.33.0").groups] == [21, 22, 22, 21, 20]

    def test_a_request_takes_what_windows_and_states_keep(self) -> None:
        """8,192 tokens of a batch: 131 blocks of a window twice, 2,051 of states of 4, 1,041 of states of 128."""
        found = cache(FLASH, "--max-model-len 65536 --max-num-batched-tokens 8192", "0.24.0")
        assert [found.blocks(one.layers, 65_536) for one in found.groups] == [256, 131, 131, 2_051, 1_041]
        many = cache(FLASH, "--max-model-len 65536 --max-num-batched-tokens 8192", "0.33.0")
        assert many.concurrency(36_100, 65_536) == pytest.approx(36_100 / (256 + 2 * 259 + 4_099 + 2_065))

    def test_the_printed_size_is_what_a_request_of_the_length_finds(self) -> None:
        found = cache(FLASH, "--max-model-len 65536", "0.24.0")
        blocks = found.number_of_blocks(20 * GIB)
        assert found.tokens(blocks, 65_536) == int(found.concurrency(blocks, 65_536) * 65_536)

    @pytest.mark.parametrize(
        "more",
        [
            "--kv-cache-dtype bfloat16",
            "--attention-backend FLASHINFER_MLA_SPARSE_DSV4",
            """--speculative-config '{"method": "dspark", "num_speculative_tokens": 7, "model": "no/such-draft"}'""",
        ],
    )
    def test_other_layouts_are_not_known(self, more: str) -> None:
        plan = planned(f"{PRO} --tensor-parallel-size 8 {more}", "0.33.0", "h200")
        assert plan.verdict == UNKNOWN
        assert plan.missing


class TestWorkspaces:
    @pytest.mark.parametrize(("release", "gib"), [("0.12.0", 0.0), ("0.13.0", 0.997), ("0.19.0", 1.497)])
    def test_sparse_attention_reserves_keys_for_forty_requests(self, release: str, gib: float) -> None:
        """GLM-5.1: 40 x 202,752 keys of 132 bytes, and 512 MiB of logits from 0.19.0."""
        config = config_of("zai-org/GLM-5.1-FP8 --tensor-parallel-size 8", release, "h200")
        model = find("zai-org/GLM-5.1-FP8")
        assert model is not None
        assert workspaces_gib(VllmSettings(config, model), model).mid == pytest.approx(gib, abs=0.001)

    def test_starts_of_glm_5_1(self) -> None:
        """19.55 and 19.47 GiB on eight RTX PRO 6000, 18.51 with MTP: local-inference-lab/rtx6kpro, May 2026."""
        command = (
            "lukealonso/GLM-5.1-NVFP4-MTP --quantization modelopt_fp4 --tensor-parallel-size 8 --kv-cache-dtype fp8"
            " --gpu-memory-utilization 0.865 --max-num-batched-tokens 8192 --max-num-seqs 64 --max-cudagraph-capture-size 256"
        )
        drafts = """ --speculative-config '{"method": "mtp", "num_speculative_tokens": 3}'"""
        plain, drafted = (planned(command + more, "0.20.2rc1.dev249+glm", "rtx-pro-6000") for more in ("", drafts))
        assert plain.kv_gib is not None
        assert drafted.kv_gib is not None
        assert plain.kv_gib.mid == pytest.approx(19.5, rel=0.02)
        assert drafted.kv_gib.mid == pytest.approx(18.51, rel=0.02)
