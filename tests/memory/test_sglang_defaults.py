"""What SGLang makes of --mem-fraction-static, --chunked-prefill-size and --cuda-graph-max-bs where they are left out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.engines.releases import known_releases
from servelint.memory.plan import Release
from servelint.memory.sglang.defaults import Defaults, FractionInputs, defaults, prefill_sizes
from servelint.memory.sglang.settings import SglangSettings, Speculation
from tests.together import together

RELEASES = known_releases("sglang")
H100, H200, RTX5090, RTX4090, B200, T4 = 81559, 143771, 32607, 24564, 183359, 15360
"""MiB that nvidia-smi prints."""


def of(release: str, gpu_mib: float, *, algorithm: str | None = None, **given: Any) -> Defaults:
    """The defaults on a GPU. given: attributes of FractionInputs, and settings of the launch"""
    own = {name: given.pop(name) for name in ("prefill_graphs", "vision") if name in given}
    speculation = Speculation(algorithm, None, 3, 1, 4) if algorithm is not None else None
    return defaults(Release(release), FractionInputs(gpu_mib, SglangSettings(speculation=speculation, **given), **own))


def fraction(release: str, gpu_mib: float, **given: Any) -> float:
    return of(release, gpu_mib, **given).fraction


class TestFraction:
    def test_it_was_a_matter_of_the_number_of_gpus(self) -> None:
        """srt/server_args.py of 0.4.0, line 158."""
        found = [fraction("0.4.3.post4", H100, tp=tp) for tp in (1, 2, 4, 8, 16)]
        assert found == [0.88, 0.87, 0.85, 0.81, 0.79]

    def test_a_gemma_on_an_rtx_5090(self) -> None:
        """A start with --cuda-graph-max-bs-decode 32 printed 0.778, and that the weights left nothing (October 2026)."""
        assert fraction("0.5.23", RTX5090, batch=32, prefill_graphs=True) == 0.778

    def test_large_gpus_keep_more(self) -> None:
        assert fraction("0.4.9", H100) == round((H100 - 10 * 1024) / H100, 3)
        assert fraction("0.4.9", H200) == round((H200 - 12.5 * 1024) / H200, 3)
        assert fraction("0.4.9", B200, tp=8) == round((B200 - 32 * 1024) / B200, 3)

    @pytest.mark.parametrize(
        ("release", "gib"), [("0.5.9", 2.0), ("0.5.10rc0", 4.0), ("0.5.13.post1", 4.0), ("0.5.14", 0.0), ("0.5.23", 0.0)]
    )
    def test_drafts_are_counted_as_weights_from_0_5_14(self, release: str, gib: float) -> None:
        plain, drafting = fraction(release, H100), fraction(release, H100, algorithm="EAGLE")
        assert plain - drafting == pytest.approx(gib * 1024 / H100, abs=0.002)

    def test_a_large_draft_model_keeps_six(self) -> None:
        assert fraction("0.5.9", H100) - fraction("0.5.9", H100, algorithm="STANDALONE") == pytest.approx(
            6144 / H100, abs=0.002
        )

    def test_drafts_of_an_n_gram_keep_nothing(self) -> None:
        assert fraction("0.5.9", H100, algorithm="NGRAM") == fraction("0.5.9", H100)

    def test_an_encoder_takes_a_share(self) -> None:
        """0.95 for an encoder of ViT-L's size: adjust_mem_fraction_for_vlm."""
        assert fraction("0.5.9", H100, vision=(24, 1024)) == pytest.approx(fraction("0.5.9", H100) * 0.95)
        assert fraction("0.5.9", H100, vision=(48, 2048)) == pytest.approx(fraction("0.5.9", H100) * 0.95 * 0.8)
        assert fraction("0.4.0", H100, vision=(48, 2048)) == pytest.approx(0.88 * 0.95)

    def test_a_node_that_only_decodes_keeps_less(self) -> None:
        assert fraction("0.5.20", H100, node="decode", tp=4) > fraction("0.5.20", H100, tp=4)
        assert fraction("0.5.13", H100, node="decode", tp=4) == fraction("0.5.13", H100, tp=4)

    @pytest.mark.parametrize(("release", "mib"), [("0.5.14", 0), ("0.5.15", 2048)])
    def test_deepep_keeps_two_from_0_5_15_where_it_decodes(self, release: str, mib: int) -> None:
        for node, kept in (("null", mib), ("prefill", 0)):
            plain, deepep = (fraction(release, H100, node=node, deepep=on) for on in (False, True))
            assert plain - deepep == pytest.approx(kept / H100, abs=0.001)

    def test_replicas_of_attention_keep_more_for_large_batches(self) -> None:
        few, many = (fraction("0.5.9", H200, tp=8, replicas=8, batch=batch) for batch in (160, 512))
        assert fraction("0.5.9", H200, tp=8) > few > many

    @given(
        release=st.sampled_from(RELEASES),
        gpu_mib=st.sampled_from([T4, RTX4090, RTX5090, H100, H200, B200]),
        chunk=st.sampled_from([2048, 4096, 8192, 16384]),
        batch=st.sampled_from([8, 64, 256]),
    )
    def test_larger_chunks_never_leave_more(self, release: str, gpu_mib: float, chunk: int, batch: int) -> None:
        small = fraction(release, gpu_mib, chunk=chunk, batch=batch)
        large = fraction(release, gpu_mib, chunk=2 * chunk, batch=2 * batch)
        assert large <= small < 1


class TestChunkAndBatch:
    @together(
        "release, gpu_mib, tp, chunk, batch",
        [
            ("0.4.0", H100, 1, 8192, 160),
            ("0.4.0", RTX4090, 1, 2048, 8),
            ("0.4.6.post5", RTX5090, 1, 8192, 160),
            ("0.4.9", RTX5090, 1, 2048, 8),
            ("0.4.9", B200, 1, 16384, 256),
            ("0.5.3", RTX5090, 1, 2048, 16),
            ("0.5.4.post1", RTX5090, 1, 2048, 24),
            ("0.5.19", RTX5090, 4, 2048, 80),
            ("0.5.20", RTX5090, 1, 4096, 48),
            ("0.5.20", RTX5090, 4, 4096, 160),
            ("0.5.23", H100, 1, 8192, 256),
            ("0.5.23", H100, 4, 8192, 512),
            ("0.5.23", B200, 1, 16384, 512),
            ("0.5.23", T4, 1, 2048, 8),
        ],
    )
    def test_they_follow_the_gpu(self, release: str, gpu_mib: float, tp: int, chunk: int, batch: int) -> None:
        found = of(release, gpu_mib, tp=tp)
        assert (found.chunk, found.batch) == (chunk, batch)

    def test_few_requests_are_captured_in_small_batches_from_0_5_22(self) -> None:
        assert of("0.5.21", H100, requests=32).batch == 256
        assert of("0.5.22", H100, requests=32).batch == 32

    def test_sizes_of_prefill_that_are_captured(self) -> None:
        """50 sizes up to 4,096 tokens, as a start of October 2026 printed them."""
        assert len(prefill_sizes(Release("0.5.23"), 4096)) == 50
        assert prefill_sizes(Release("0.5.8"), 1024)[-7:] == [640, 704, 768, 832, 896, 960, 1024]


def test_a_text_that_is_no_release() -> None:
    with pytest.raises(ValueError, match=r"'latest' is not a release"):
        Release("latest")
