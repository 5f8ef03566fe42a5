"""The plan of an SGLang launch: parts, verdicts, and the engine's own words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import servelint
from servelint.engines.releases import known_releases
from servelint.memory.plan import FITS, GIB, OOM_RISK, REFUSED, TIGHT, UNKNOWN, Interval, MemoryPlan
from tests.together import together

RELEASES = known_releases("sglang")
QUICK = settings(max_examples=60, deadline=None)


def planned(
    command: str, release: str = "0.5.23", gpu: str | None = "h100", gpus: int = 1, env: dict[str, str] | None = None
) -> MemoryPlan:
    return servelint.plan_memory("sglang", command.split(), version=release, env=env, gpu=gpu, gpu_count=gpus)


def kv(plan: MemoryPlan) -> Interval:
    assert plan.kv_gib is not None, plan.missing
    return plan.kv_gib


def weights(plan: MemoryPlan) -> float:
    assert plan.weights_gib is not None, plan.missing
    return plan.weights_gib


class TestPublishedStarts:
    def test_qwen_of_32_billion_on_one_h100(self) -> None:
        """October 2026: 61.07 GiB of weights, 17.40 left, 9.54 GiB for 39,078 tokens, captured prefill of 2.84 GiB."""
        plan = planned("--model-path Qwen/Qwen3-32B --mem-fraction-static 0.9")
        assert weights(plan) == pytest.approx(61.07, rel=0.005)
        assert kv(plan).mid == pytest.approx(9.54, rel=0.02)
        assert plan.kv_tokens == pytest.approx(39_078, rel=0.02)
        assert plan.verdict == FITS

    def test_qwen_of_30_billion_on_two_h20s(self) -> None:
        """https://github.com/sgl-project/sglang/pull/12978: 14.60 GiB of weights, 66.06 GiB for 1,443,316 tokens."""
        command = "--model-path Qwen/Qwen3-30B-A3B-FP8 --tp 2 --enable-piecewise-cuda-graph"
        plan = planned(command + " --piecewise-cuda-graph-compiler eager", release="0.5.5", gpu="H20-96GB", gpus=2)
        assert weights(plan) == pytest.approx(14.60, rel=0.005)
        assert kv(plan).mid == pytest.approx(66.06, rel=0.02)
        assert plan.kv_tokens == pytest.approx(1443316, rel=0.02)
        assert plan.verdict == FITS

    def test_qwen_of_235_billion_on_four(self) -> None:
        """https://github.com/vllm-project/vllm/issues/21348: 16.46 GiB, 367,404 tokens."""
        plan = planned("--model-path Qwen/Qwen3-235B-A22B-FP8 --tp 4 --mem-fraction-static 0.93", gpus=4)
        assert kv(plan).mid == pytest.approx(16.46, rel=0.02)
        assert kv(plan).low < 16.46 < kv(plan).high
        assert plan.kv_tokens == pytest.approx(367_404, rel=0.02)
        assert plan.verdict == FITS

    @pytest.mark.parametrize(
        ("dtype", "gib", "tokens"), [("auto", 41.60, 1_557_709), ("fp8_e4m3", 41.58, 3_113_713), ("fp4_e2m1", 41.56, 5_532_637)]
    )
    def test_a_small_qwen_on_a_gb10(self, dtype: str, gib: float, tokens: int) -> None:
        """June 2026, 0.4 of 112.25 GiB that were free."""
        plan = planned(
            f"--model-path Qwen/Qwen2.5-1.5B-Instruct --mem-fraction-static 0.4 --kv-cache-dtype {dtype}", "0.5.13", "gb10"
        )
        assert kv(plan).low < gib < kv(plan).high
        assert kv(plan).high - kv(plan).low < 4
        assert kv(plan).mid == pytest.approx(gib, rel=0.02)
        assert plan.kv_tokens == pytest.approx(tokens, rel=0.02)

    def test_a_gemma_that_the_default_fraction_refuses(self) -> None:
        """October 2026, RTX 5090, text only: 0.778 leaves nothing beside 25.12 GiB, 0.90 leaves 2.50."""
        command = "--model-path google/gemma-4-26B-A4B --quantization fp8 --language-only --kv-cache-dtype fp8_e4m3"
        command += " --context-length 16384 --cuda-graph-max-bs-decode 32"
        refused, starts = planned(command, gpu="rtx 5090"), planned(command + " --mem-fraction-static 0.9", gpu="rtx 5090")
        assert refused.verdict == REFUSED
        assert refused.refusal is not None
        assert "under --mem-fraction-static=0.778. Raise --mem-fraction-static above 0.8" in refused.refusal
        assert weights(starts) == pytest.approx(25.12, rel=0.01)
        assert kv(starts).low < 2.50 < kv(starts).high

    def test_weights_that_leave_nothing_of_a_small_gpu(self) -> None:
        """GLM-4.7-Flash in 16 bits on an RTX 5090: "Raise --mem-fraction-static above 1.000"."""
        plan = planned("--model-path zai-org/GLM-4.7-Flash --mem-fraction-static 0.85", gpu="rtx 5090")
        assert plan.verdict == REFUSED
        assert plan.refusal is not None
        assert "above 1.000 (minimum viable = 1 - available/pre = 1.0000)" in plan.refusal


class TestParts:
    @pytest.mark.parametrize("model", ["Qwen/Qwen3-32B", "Qwen/Qwen3.6-27B", "openai/gpt-oss-20b"])
    def test_they_fill_the_fraction(self, model: str) -> None:
        plan = planned(f"--model-path {model}")
        assert plan.budget_gib == pytest.approx(sum(part.gib.mid for part in plan.parts if part.inside), abs=0.2)

    def test_a_whole_checkpoint_as_draft_is_its_own_layers_of_prediction(self) -> None:
        """A target in NVFP4 with the draft of the original checkpoint: the class of a draft loads no other layer."""
        command = "--model-path nvidia/DeepSeek-R1-0528-NVFP4 --tp 8 --speculative-algorithm EAGLE"
        whole = f"{command} --speculative-draft-model-path deepseek-ai/DeepSeek-R1"
        draft = planned(whole, gpu="b200", gpus=8).part("draft weights")
        assert draft is not None
        assert 1 < draft.gib.mid < 6

    def test_a_draft_brings_its_own_embedding_and_head(self) -> None:
        """Qwen3.6-27B's: 0.79 GiB of layers, and twice 248,320 x 5,120 in 16 bits."""
        plan = planned("--model-path Qwen/Qwen3.6-27B --speculative-algorithm NEXTN", gpu="h200")
        draft = plan.part("draft weights")
        assert draft is not None
        assert draft.gib.mid == pytest.approx(0.79 + 2 * 248_320 * 5_120 * 2 / 2**30, rel=0.05)

    @pytest.mark.parametrize(("release", "inside"), [("0.5.13.post1", False), ("0.5.14", True)])
    def test_a_draft_is_counted_from_0_5_14(self, release: str, inside: bool) -> None:
        plan = planned("--model-path Qwen/Qwen3.6-27B --speculative-algorithm NEXTN", release, "h200")
        for name in ("draft weights", "draft kv cache"):
            part = plan.part(name)
            assert part is not None
            assert part.inside is inside

    def test_states_take_a_share_by_the_ratio(self) -> None:
        small, large = (
            planned(f"--model-path Qwen/Qwen3.6-27B --mamba-full-memory-ratio {ratio}", gpu="h200").part("states")
            for ratio in (0.2, 0.9)
        )
        assert small is not None
        assert large is not None
        assert small.gib.mid < large.gib.mid

    def test_a_limit_on_tokens(self) -> None:
        plan = planned("--model-path Qwen/Qwen3-8B --max-total-tokens 100000")
        assert plan.kv_tokens == 100_000
        assert kv(plan).mid == pytest.approx(100_000 * 36 * 8 * 256 * 2 / 2**30)

    def test_what_goes_to_the_cpu(self) -> None:
        kept, left = planned("--model-path Qwen/Qwen3-32B"), planned("--model-path Qwen/Qwen3-32B --cpu-offload-gb 20")
        assert weights(kept) - weights(left) == pytest.approx(20)

    def test_experts_that_stay_on_the_cpu(self) -> None:
        offloaded = "--model-path Qwen/Qwen3-30B-A3B --kt-weight-path /w --kt-method AMXINT8 "
        whole, half, none = (weights(planned(offloaded + f"--kt-num-gpu-experts {count}")) for count in (128, 64, 0))
        assert whole == pytest.approx(weights(planned("--model-path Qwen/Qwen3-30B-A3B")))
        assert whole - half == pytest.approx(half - none)
        assert none < 4
        assert planned(offloaded).verdict == "unknown"

    def test_replicas_of_attention_each_have_whole_heads(self) -> None:
        plain, replicas = (
            planned("--model-path deepseek-ai/DeepSeek-V3 --tp 8" + more, gpu="h200", gpus=8)
            for more in ("", " --dp-size 8 --enable-dp-attention")
        )
        assert weights(replicas) > weights(plain) + 5


class TestVerdicts:
    @pytest.mark.parametrize(
        ("release", "words"),
        [
            ("0.4.9", "Not enough memory. Please try to increase --mem-fraction-static."),
            ("0.5.4", "Current value: self.server_args.mem_fraction_static=0.5"),
            ("0.5.10", "Current value: mem_fraction_static=0.5"),
            ("0.5.14", "Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.5"),
        ],
    )
    def test_the_engines_own_words(self, release: str, words: str) -> None:
        plan = planned("--model-path Qwen/Qwen3-32B --mem-fraction-static 0.5", release)
        assert plan.verdict == REFUSED
        assert plan.refusal is not None
        assert words in plan.refusal

    def test_no_slot_for_a_request(self) -> None:
        plan = planned("--model-path Qwen/Qwen3.6-27B --max-mamba-cache-size 4", gpu="h200")
        assert plan.verdict == REFUSED
        assert plan.refusal is not None
        assert "max_mamba_cache_size=4, mamba_ratio=5, resulting max_num_reqs=0" in plan.refusal

    def test_a_fraction_that_leaves_too_little(self) -> None:
        plan = planned("--model-path Qwen/Qwen3-32B --mem-fraction-static 0.99")
        assert plan.verdict == OOM_RISK
        assert any("graphs and activations need about" in note for note in plan.notes)

    def test_near_the_bound(self) -> None:
        assert planned("--model-path Qwen/Qwen3-32B --mem-fraction-static 0.78").verdict == TIGHT

    @pytest.mark.parametrize(
        ("command", "gpu", "missing"),
        [
            ("--model-path some/model", "h100", "what some/model looks like"),
            ("--model-path Qwen/Qwen3-8B", None, "the GPU"),
            ("--model-path Qwen/Qwen3-8B", "no-such-card", "the memory of no-such-card"),
            ("--model-path Qwen/Qwen3-8B --enable-unified-memory", "h100", "what --enable-unified-memory changes"),
            (
                "--model-path Qwen/Qwen3-8B --speculative-algorithm DFLASH --speculative-draft-model-path a/b",
                "h100",
                "the size of",
            ),
        ],
    )
    def test_what_is_not_known_is_said(self, command: str, gpu: str | None, missing: str) -> None:
        plan = planned(command, gpu=gpu)
        assert plan.verdict == UNKNOWN
        assert any(missing in one for one in plan.missing), plan.missing

    def test_more_ranks_than_gpus_are_refused(self) -> None:
        plan = planned("--model-path Qwen/Qwen3-8B --tp 2")
        assert plan.verdict == REFUSED
        assert [one.rule for one in plan.findings] == ["sglang/more-gpus-than-there-are"]

    def test_a_variable_that_sizes_the_pool_after_capture(self) -> None:
        plan = planned("--model-path Qwen/Qwen3-8B", env={"SGLANG_ENABLE_POST_CAPTURE_KV_SIZING": "1"})
        assert plan.verdict == UNKNOWN

    def test_a_slice_of_a_gpu(self) -> None:
        """What is told of it is what it can give, where drivers differ an interval."""
        known = planned("--model-path Qwen/Qwen3-8B --context-length 8192", gpu="h200-mig-3g.71gb")
        assert (known.gpu_gib, known.verdict) == (69.5, "fits")
        differs = planned("--model-path Qwen/Qwen3-8B --context-length 8192", gpu="b200-mig-1g.23gb")
        assert known.kv_gib is not None
        assert differs.kv_gib is not None
        assert differs.kv_gib.high - differs.kv_gib.mid > 1.0 > known.kv_gib.high - known.kv_gib.mid

    def test_a_folder_with_a_config(self, tmp_path: Path) -> None:
        config = {
            "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288,
            "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
            "max_position_embeddings": 40960, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
        }  # fmt: skip
        (tmp_path / "config.json").write_text(json.dumps(config))
        here, known = planned(f"--model-path {tmp_path}"), planned("--model-path Qwen/Qwen3-8B")
        assert here.kv_tokens == known.kv_tokens


class TestProperties:
    @QUICK
    @given(release=st.sampled_from(RELEASES), fraction=st.integers(30, 90), more=st.integers(0, 9))
    def test_a_larger_fraction_never_leaves_less(self, release: str, fraction: int, more: int) -> None:
        command = "--model-path Qwen/Qwen3-8B --mem-fraction-static "
        small, large = (planned(command + str(share / 100), release) for share in (fraction, fraction + more))
        assert kv(small).mid <= kv(large).mid
        assert (small.kv_tokens or 0) <= (large.kv_tokens or 0)

    @QUICK
    @given(release=st.sampled_from(RELEASES), context=st.integers(1024, 40_000), more=st.integers(0, 90_000))
    def test_longer_contexts_never_run_more_at_once(self, release: str, context: int, more: int) -> None:
        command = "--model-path Qwen/Qwen3-8B --context-length "
        short, long = (planned(command + str(length), release) for length in (context, context + more))
        assert (short.max_concurrency or 0) >= (long.max_concurrency or 0)
        assert (short.need_gib or 0) <= (long.need_gib or 0)

    @QUICK
    @given(release=st.sampled_from(RELEASES), ranks=st.sampled_from([1, 2, 4]))
    def test_more_gpus_never_weigh_more(self, release: str, ranks: int) -> None:
        few, many = (planned(f"--model-path Qwen/Qwen3-32B --tp {one}", release, "h200", 8) for one in (ranks, 2 * ranks))
        assert weights(many) < weights(few)

    @QUICK
    @given(
        release=st.sampled_from(RELEASES),
        gpu=st.sampled_from(["rtx 4090", "l40s", "a100-80gb", "h200", "b200", "gb10", "mi300x"]),
    )
    def test_intervals_are_in_order(self, release: str, gpu: str) -> None:
        plan = planned("--model-path Qwen/Qwen3-8B", release, gpu)
        for interval in (kv(plan), *[part.gib for part in plan.parts]):
            assert interval.low <= interval.mid <= interval.high
        if plan.verdict == FITS:
            assert plan.refusal is None
            assert kv(plan).low > 0


class TestAiter:
    """On AMD's GPUs attention with AITER lowers --mem-fraction-static by 0.85, also where it is given."""

    QWEN = "--model-path Qwen/Qwen3.8-27B-FP8 --mem-fraction-static 0.85 --max-running-requests 32"

    @pytest.mark.parametrize(("options", "gpus", "tokens"), [("", 1, 1_543_256), ("--tp 2", 2, 3_228_418)])
    def test_published_starts_on_mi355x(self, options: str, gpus: int, tokens: int) -> None:
        assert planned(f"{self.QWEN} {options}", "0.5.17", "mi355x", gpus).kv_tokens == pytest.approx(tokens, rel=0.02)

    @pytest.mark.parametrize(
        ("command", "release", "gpu", "share"),
        [
            ("Qwen/Qwen3-8B", "0.4.6.post5", "mi300x", 1.0),
            ("Qwen/Qwen3-8B", "0.4.7", "mi300x", 0.85),
            ("Qwen/Qwen3-8B", "0.5.23", "mi300x", 0.85),
            ("Qwen/Qwen3-8B", "0.5.23", "h200", 1.0),
            ("Qwen/Qwen3-8B --context-length 8192", "0.5.23", "mi300x", 1.0),
            ("Qwen/Qwen3-8B --context-length 8193", "0.5.23", "mi300x", 0.85),
            ("Qwen/Qwen3-8B --attention-backend triton", "0.5.23", "mi300x", 1.0),
            ("deepseek-ai/DeepSeek-R1 --tp 8", "0.5.23", "mi300x", 0.85),
            ("deepseek-ai/DeepSeek-R1 --tp 4", "0.5.23", "mi300x", 1.0),
            ("deepseek-ai/DeepSeek-V3.2 --tp 8", "0.5.23", "mi300x", 1.0),
            ("google/gemma-4-31B-it", "0.5.23", "mi300x", 1.0),
        ],
    )
    def test_it_depends_on_the_attention_and_the_context(self, command: str, release: str, gpu: str, share: float) -> None:
        plan = planned(f"--model-path {command} --mem-fraction-static 0.8", release, gpu, 8)
        assert plan.budget_gib is not None
        whole = planned(
            f"--model-path {command} --attention-backend triton --mem-fraction-static 0.8", release, gpu, 8
        ).budget_gib
        assert whole is not None
        assert plan.budget_gib / whole == pytest.approx(share)

    @pytest.mark.parametrize(
        ("options", "release", "share"),
        [("--mem-fraction-static 0.8", "0.5.19", 1.0), ("--mem-fraction-static 0.8", "0.5.18", 0.85), ("", "0.5.19", 0.85)],
    )
    def test_a_variable_keeps_a_fraction_that_is_given(self, options: str, release: str, share: float) -> None:
        env = {"SGLANG_AITER_HONOR_EXPLICIT_MEM_FRACTION": "1"}
        command = f"--model-path Qwen/Qwen3-8B {options}"
        found = [planned(command + more, release, "mi300x", env=env).budget_gib for more in ("", " --attention-backend triton")]
        assert found[0] is not None
        assert found[1] is not None
        assert found[0] / found[1] == pytest.approx(share)


class TestAdapters:
    """srt/lora/mem_pool.py: an adapter of rank 16 on all linear layers of Llama 3.1 8B has 41,943,040 parameters."""

    LLAMA = "--model-path meta-llama/Llama-3.1-8B-Instruct"

    def test_room_is_kept_for_a_batch_of_them(self) -> None:
        plan = planned(f"{self.LLAMA} --enable-lora --max-lora-rank 16 --lora-target-modules all", gpu="h100")
        room = plan.part("lora adapters")
        assert room is not None
        assert room.gib.mid == pytest.approx(8 * 41_943_040 * 2 / 2**30)
        plain = planned(self.LLAMA, gpu="h100")
        assert kv(plain).mid - kv(plan).mid == pytest.approx(room.gib.mid, abs=0.01)

    def test_fewer_modules_and_adapters_take_less(self) -> None:
        modules = "--lora-target-modules q_proj k_proj v_proj o_proj"
        plan = planned(f"{self.LLAMA} --enable-lora --max-lora-rank 16 --max-loras-per-batch 2 {modules}", gpu="h100")
        room = plan.part("lora adapters")
        assert room is not None
        assert room.gib.mid == pytest.approx(2 * 13_631_488 * 2 / 2**30)

    def test_a_rank_that_nobody_tells_makes_the_plan_unknown(self) -> None:
        plan = planned(f"{self.LLAMA} --lora-paths a=/adapters/a", gpu="h100")
        assert plan.verdict == UNKNOWN
        assert plan.missing == ["the room for LoRA adapters"]


@together(
    "release, gpu, options, uncounted",
    [
        ("0.5.3.post3", "h200", "", False),
        ("0.5.8.post1", "h200", "", True),
        ("0.5.16", "h200", "", True),
        ("0.5.17", "h200", "", False),
        ("0.5.10", "mi355x", "", True),
        ("0.5.11", "mi355x", "", False),
        ("0.5.8.post1", "b200", "--nsa-decode-backend trtllm", True),
        ("0.5.11", "b200", "--nsa-decode-backend trtllm", False),
    ],
)
def test_scales_of_fp8_rows_are_not_counted(release: str, gpu: str, options: str, uncounted: bool) -> None:
    """A log of GLM-5-FP8 on eight MI355X: 186.77 GiB for 3,262,823 tokens that count with 55,224 bytes each."""
    command = f"--model-path deepseek-ai/DeepSeek-V3.2 --tp 8 --kv-cache-dtype fp8_e4m3 {options}"
    plan = planned(command, release, gpu=gpu, gpus=8)
    part = plan.part("scales of fp8 rows")
    assert (part is not None) is uncounted
    if part is not None:
        assert plan.kv_tokens is not None
        assert part.gib.mid == pytest.approx(plan.kv_tokens * 61 * 80 / GIB)
        assert not part.inside
