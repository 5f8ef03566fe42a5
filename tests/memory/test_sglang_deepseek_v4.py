"""DeepSeek V4 in SGLang: what its experts weigh once they are loaded, and its pools, against what engines printed."""

from __future__ import annotations

import pytest

import servelint
from servelint import hardware
from servelint.memory.plan import FITS, REFUSED, TIGHT, Interval, MemoryPlan, Release
from servelint.memory.sglang import deepseek_v4 as v4
from servelint.memory.sglang.settings import SglangSettings, Speculation
from servelint.models.architecture import Architecture, find
from tests.together import together

PRO, FLASH = "deepseek-ai/DeepSeek-V4-Pro", "deepseek-ai/DeepSeek-V4-Flash"
EAGLE = Speculation("EAGLE", None, 3, 1, 4)


def known(name: str) -> Architecture:
    found = find(name)
    assert found is not None
    return found


def gpu(name: str) -> hardware.Gpu:
    found = hardware.identify(name)
    assert found is not None
    return found


def planned(more: str, release: str, on: str = "h200") -> MemoryPlan:
    command = f"--model-path {PRO} --tp 8 --mem-fraction-static 0.88 {more}"
    return servelint.plan_memory("sglang", command.split(), version=release, gpu=on, gpu_count=8)


def asked(**more: object) -> SglangSettings:
    found = SglangSettings()
    for name, value in more.items():
        setattr(found, name, value)
    return found


@pytest.mark.parametrize(
    ("value", "model", "followed"), [("0", "sgl-project/DeepSeek-V4-Flash-FP8", True), ("1", FLASH, True), ("0", FLASH, False)]
)
def test_experts_are_read_as_the_checkpoint_has_them(value: str, model: str, followed: bool) -> None:
    env = {"SGLANG_DSV4_FP4_EXPERTS": value}
    plan = servelint.plan_memory(
        "sglang", ["--model-path", model, "--tp", "4"], version="0.5.19", env=env, gpu="h200", gpu_count=4
    )
    assert ("what SGLANG_DSV4_FP4_EXPERTS changes" not in plan.missing) is followed


class TestWeights:
    """https://github.com/SemiAnalysisAI/InferenceX/issues/2128: V4 Pro on eight H200 with Marlin, July 2026."""

    def test_marlin_kept_its_scales_twice(self) -> None:
        """125.65 GiB, "minimum viable" 0.9113."""
        plan = planned("--moe-runner-backend marlin", "0.5.14")
        assert plan.weights_gib == pytest.approx(125.65, rel=0.003)
        assert plan.verdict == REFUSED
        assert plan.refusal is not None
        assert "under --mem-fraction-static=0.88. Raise --mem-fraction-static above 0.91" in plan.refusal

    def test_a_draft_brings_a_table_of_its_own(self) -> None:
        """3.07 GiB more, "minimum viable" 0.9335."""
        plan = planned("--moe-runner-backend marlin --speculative-algorithm EAGLE", "0.5.14")
        draft = plan.part("draft weights")
        assert draft is not None
        assert draft.gib.mid == pytest.approx(3.07, rel=0.02)
        assert plan.verdict == REFUSED

    def test_it_keeps_them_once_from_0_5_16(self) -> None:
        plan = planned("--moe-runner-backend marlin", "0.5.16")
        assert plan.weights_gib == pytest.approx(125.65 - 384 * 3 * 7168 * 3072 * 61 / 32 * 4 / 8 / 2**30, rel=0.003)
        assert plan.verdict == FITS

    def test_an_image_that_names_no_release_is_never_called_a_fit(self) -> None:
        for drafts in ("", " --speculative-algorithm EAGLE --speculative-eagle-topk 1 --speculative-num-steps 3"):
            plan = planned(drafts, "deepseek-v4-hopper image")
            assert plan.verdict == TIGHT
            assert plan.kv_gib is not None
            assert plan.kv_gib.low < 0 < plan.kv_gib.high

    @together(
        "release, on, chosen",
        [
            ("0.5.12", "h200", "auto"),
            ("0.5.14", "rtx-pro-6000", "marlin"),
            ("0.5.15", "h200", "auto"),
            ("0.5.16", "rtx-pro-6000", "flashinfer_mxfp4"),
            ("0.5.18", "b200", "auto"),
            ("0.5.19", "b200", "flashinfer_mxfp4"),
            ("0.5.23", "h200", "flashinfer_mxfp4"),
            ("0.5.23", "a100", "auto"),
        ],
    )
    def test_who_runs_the_experts(self, release: str, on: str, chosen: str) -> None:
        for asked in (None, "auto"):
            assert v4.experts_backend(Release(release), SglangSettings(experts=asked), gpu(on)) == chosen
        assert v4.experts_backend(Release(release), SglangSettings(experts="triton"), gpu(on)) == "triton"

    @pytest.mark.parametrize("release", ["0.5.12", "0.5.15", "0.5.16", "0.5.23"])
    def test_a_gpu_that_nobody_names_leaves_all_layouts(self, release: str) -> None:
        found = v4.experts_factor(Release(release), SglangSettings(), None)
        for on in ("h100", "b200", "rtx-pro-6000", "gb10"):
            known_one = v4.experts_factor(Release(release), SglangSettings(), gpu(on))
            assert found.low <= known_one.low <= known_one.high <= found.high

    def test_a_projection_is_in_16_bits_but_on_large_blackwells(self) -> None:
        """16 x 1,024 rows of 128 x 512 / 16 columns, divided by eight: 8 MiB more than in FP8."""
        model, settings = known(PRO), asked(tp=8)
        assert v4.unfolded_gib(settings, model, gpu("h200")) == Interval.exact(8 / 1024)
        assert v4.unfolded_gib(settings, model, gpu("b200")) == Interval.exact(0.0)


class TestPools:
    """ "DSV4 memory calculation: bytes_per_full_token=..." of published logs."""

    @pytest.mark.parametrize(
        ("model", "release", "share", "token"),
        [
            (FLASH, "0.5.12", 0.1, 15955.85),
            (PRO, "0.5.13", 0.15, 32781.44),
            (FLASH, "0.5.15", 0.1, 7705.45),
            (PRO, "0.5.15", 0.15, 13735.04),
        ],
    )
    def test_bytes_of_a_token(self, model: str, release: str, share: float, token: float) -> None:
        assert v4.cache_sizes(Release(release), SglangSettings(), known(model), share).token == pytest.approx(token, abs=0.01)

    def test_tokens_of_a_log(self) -> None:
        """August 2026: 6.16 GiB, 0.04 of them fixed, full=852992."""
        sizes = v4.cache_sizes(Release("0.5.15"), asked(requests=1), known(FLASH), 0.1)
        assert sizes.fixed / 2**30 == pytest.approx(0.04, abs=0.005)
        assert sizes.tokens(int(6.16 * 2**30), None) == pytest.approx(852_992, rel=0.001)

    def test_requests_have_states_of_their_own_from_0_5_15(self) -> None:
        few, many = (v4.cache_sizes(Release("0.5.20"), asked(requests=one), known(PRO), 0.1) for one in (8, 256))
        assert few.token == many.token
        assert many.fixed > 20 * few.fixed
        assert v4.cache_sizes(Release("0.5.14"), asked(requests=256), known(PRO), 0.1).fixed == 0

    def test_drafts_have_wider_rings_and_a_layer(self) -> None:
        plain, drafts = (v4.cache_sizes(Release("0.5.14"), asked(speculation=one), known(PRO), 0.1) for one in (None, EAGLE))
        assert drafts.token > 1.5 * plain.token

    def test_pages_are_padded_from_0_5_21(self) -> None:
        """256 tokens of 584 bytes in 260 x 576, 64 in 65 x 576, 2 in 3 x 576; 132 bytes of the indexer."""
        sizes = v4.cache_sizes(Release("0.5.23"), SglangSettings(), known(PRO), 0.0)
        assert sizes.token == pytest.approx(30 * (65 * 576 / 64 + 132) / 4 + 31 * (3 * 576 / 2) / 128)

    def test_a_limit_counts_in_whole_pages(self) -> None:
        sizes = v4.cache_sizes(Release("0.5.23"), SglangSettings(), known(PRO), 0.1)
        assert sizes.tokens(40 << 30, 1000) == 768
        assert sizes.tokens(sizes.fixed - 1, None) == 0
