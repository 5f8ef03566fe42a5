"""The plan of a vLLM launch: parts, verdicts, and the engine's own words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import servelint
from servelint.engines.config import configs
from servelint.memory import plan_of
from servelint.memory.plan import GIB, VERDICTS, Interval, MemoryPlan
from tests.memory.planning import SMALL, planned, speculating
from tests.together import together


def kv(plan: MemoryPlan) -> Interval:
    assert plan.kv_gib is not None, plan.missing
    return plan.kv_gib


class TestParts:
    def test_they_fill_the_fraction(self) -> None:
        plan = planned("Qwen/Qwen3-8B", "0.19.1")
        inside = sum(part.gib.mid for part in plan.parts if part.inside)
        assert plan.budget_gib == pytest.approx(inside)
        assert plan.gpu_gib is not None
        assert plan.budget_gib == pytest.approx(0.9 * plan.gpu_gib)

    @pytest.mark.parametrize(
        ("model", "release", "noted"),
        [
            ("Salyut1/GLM-4.7-NVFP4", "0.15.1", True),  # logs 729,248 tokens with auto, the plan has 362,768
            ("Salyut1/GLM-4.7-NVFP4", "0.13.0", False),
            ("nvidia/Qwen3-235B-A22B-NVFP4", "0.15.1", False),
            ("Qwen/Qwen3-30B-A3B-FP8", "0.15.1", False),
        ],
    )
    def test_a_checkpoint_that_is_not_known_may_name_an_fp8_cache(self, model: str, release: str, noted: bool) -> None:
        plan = planned(f"{model} --tensor-parallel-size 4", release, gpu="rtx pro 6000")
        assert any("scales for an FP8 cache" in note for note in plan.notes) is noted

    def test_the_fraction_is_larger_from_0_20_0(self) -> None:
        for release, fraction in (("0.19.1", 0.9), ("0.20.0", 0.92)):
            plan = planned("Qwen/Qwen3-8B", release)
            assert plan.gpu_gib is not None
            assert plan.budget_gib == pytest.approx(fraction * plan.gpu_gib)

    @pytest.mark.parametrize(
        ("release", "env", "inside"),
        [
            ("0.17.1", "1", False),
            ("0.19.1", None, False),
            ("0.19.1", "1", True),
            ("0.20.0", None, True),
            ("0.20.0", "0", False),
        ],
    )
    def test_cuda_graphs_are_counted_from_0_20_0(self, release: str, env: str | None, inside: bool) -> None:
        variables = {"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS": env} if env is not None else {}
        part = planned("Qwen/Qwen3-8B", release, env=variables).part("cuda graphs")
        assert part is not None
        assert part.inside is inside

    def test_without_cuda_graphs_there_are_none(self) -> None:
        assert planned("Qwen/Qwen3-8B --enforce-eager", "0.33.0").part("cuda graphs") is None

    def test_weights_are_those_of_bfloat16(self) -> None:
        """8.19 billion parameters: https://huggingface.co/Qwen/Qwen3-8B"""
        plan = planned("Qwen/Qwen3-8B", "0.19.1")
        assert plan.weights_gib == pytest.approx(8.19e9 * 2 / GIB, rel=0.01)

    @pytest.mark.parametrize(
        ("gpu", "release", "options", "padded"),
        [
            ("b200", "0.30.0", "", True),
            ("b200", "0.30.0", "--moe-backend triton", False),
            ("b200", "0.23.0", "", False),
            ("h200", "0.30.0", "", False),
        ],
    )
    def test_experts_are_padded_for_tensorrt_llm(self, gpu: str, release: str, options: str, padded: bool) -> None:
        """A third of Qwen3-30B-A3B's experts of 768 is 256; an eighth is 96, which becomes 128."""
        plan, least = (planned(f"Qwen/Qwen3-30B-A3B -tp {size} {options}", release, gpu).weights_gib for size in (8, 2))
        assert plan is not None
        assert least is not None
        assert (plan > 0.3 * least) == padded

    @pytest.mark.parametrize(
        ("release", "backend", "more"),
        [
            ("0.10.1", "", True),
            ("0.13.0", "--all2all-backend allgather_reducescatter", True),
            ("0.13.0", "--all2all-backend deepep_low_latency", False),
        ],
    )
    def test_experts_gather_the_tokens_of_all_replicas(self, release: str, backend: str, more: bool) -> None:
        command = "Qwen/Qwen3-30B-A3B --enable-expert-parallel --max-num-batched-tokens 8192 --max-num-seqs 8"
        one = planned(command, release).part("activations")
        eight = planned(f"{command} --data-parallel-size 8 {backend}", release).part("activations")
        assert one is not None
        assert eight is not None
        assert (eight.gib.mid > 1.5 * one.gib.mid) is more

    @pytest.mark.parametrize(("release", "cut"), [("0.11.2", 32768), ("0.12.0", 16384)])
    def test_batches_of_experts_are_cut(self, release: str, cut: int) -> None:
        """VLLM_FUSED_MOE_CHUNK_SIZE in vllm/envs.py."""

        def buffers(tokens: int) -> float:
            command = f"Qwen/Qwen3-30B-A3B --max-num-seqs 8 --enforce-eager --max-num-batched-tokens {tokens}"
            part = planned(command, release).part("activations")
            assert part is not None
            assert "experts" in part.origin
            return part.gib.mid

        assert buffers(cut) - buffers(cut // 2) > 3 * (buffers(2 * cut) - buffers(cut)) / 2

    @pytest.mark.parametrize(
        ("options", "release", "copied"),
        [
            ("", "0.11.0", False),
            ("", "0.11.1", True),
            ("", "0.33.0", True),
            ("--enforce-eager", "0.33.0", False),
            ("-O0", "0.33.0", False),
            ("--compilation-config.mode NONE", "0.33.0", False),
        ],
    )
    def test_the_first_start_compiles_with_a_copy_of_the_embedding(self, options: str, release: str, copied: bool) -> None:
        """Qwen3-8B has 151,936 tokens of 4,096: 1.16 GiB (vLLM issue 54383)."""
        plan = planned(f"Qwen/Qwen3-8B --max-num-seqs 16 {options}", release)
        part = plan.part("activations")
        assert part is not None
        assert ("embedding" in part.origin) is copied
        assert (part.gib.mid > 151_936 * 4_096 * 2 / GIB) is copied
        assert any("compile cache" in note for note in plan.notes) is copied

    def test_ranks_share_the_copy_of_the_embedding(self) -> None:
        one, two = (planned(f"Qwen/Qwen3-8B --max-num-seqs 16 {more}", "0.19.1") for more in ("", "--tensor-parallel-size 2"))
        parts = [plan.part("activations") for plan in (one, two)]
        whole, half = (part.gib.mid for part in parts if part is not None)
        assert whole - half == pytest.approx(151_936 * 4_096 * 2 / GIB / 2, rel=0.01)

    def test_where_images_are_encoded_the_embedding_is_not_compiled(self) -> None:
        for options, copied in (("", False), ("--language-model-only", True)):
            part = planned(f"google/gemma-4-E4B-it --max-num-seqs 8 {options}", "0.31.0").part("activations")
            assert part is not None
            assert ("embedding" in part.origin) is copied

    @pytest.mark.parametrize(("options", "divided"), [("", True), ("--mm-encoder-tp-mode data", False)])
    def test_ranks_share_the_widest_matrix_of_the_encoder(self, options: str, divided: bool) -> None:
        found = []
        for ranks in (1, 2):
            command = (
                f"Qwen/Qwen3.6-27B-FP8 --max-num-seqs 2 --max-num-batched-tokens 8192 --tensor-parallel-size {ranks} {options}"
            )
            part = planned(command, "0.24.0", gpu="RTX 3090").part("activations")
            assert part is not None
            assert "encoder" in part.origin
            found.append(part.gib.mid)
        assert found[1] / found[0] == pytest.approx(17.5 / 25 if divided else 1.0)

    @pytest.mark.parametrize(
        ("gpu", "env", "marlin"), [("a100", None, True), ("h100", None, False), ("h100", "1", True), ("h100", "0", False)]
    )
    def test_a_gpu_without_fp8_has_scales_for_each_row(self, gpu: str, env: str | None, marlin: bool) -> None:
        """57 GB of MiniMax-M2.7 on each of four GPUs."""
        variables = {"VLLM_TEST_FORCE_FP8_MARLIN": env} if env is not None else {}
        found = planned("MiniMaxAI/MiniMax-M2.7 --tensor-parallel-size 4", "0.22.0", gpu=gpu, env=variables).weights_gib
        assert found == pytest.approx(54.47 if marlin else 53.65, abs=0.05)

    @pytest.mark.parametrize(("gpu", "most"), [("h100", 3.1), ("rtx pro 6000", 1.5)])
    def test_the_second_runner_counts_most_for_states_on_hopper(self, gpu: str, most: float) -> None:
        part = planned("Qwen/Qwen3.8-27B --max-num-seqs 256 --max-model-len 8192", "0.29.0", gpu=gpu).part("cuda graphs")
        assert part is not None
        assert part.gib.mid == pytest.approx(most)

    def test_a_batch_encodes_at_least_the_longest_video(self) -> None:
        """Muse Glimmer: 48 pairs of frames of 144 tokens, or a picture of 4,096, each of four patches of 1,536."""
        name = "Inferact/Muse-Glimmer-30B-NVFP4-W4A4 --max-num-seqs 8"
        found = []
        for options in ("", "--limit-mm-per-prompt.video 0"):
            part = planned(f"{name} {options}", "0.28.0", gpu="RTX 5090").part("activations")
            assert part is not None
            found.append(part.gib.mid)
        assert found[0] / found[1] == pytest.approx(48 * 144 / 4096)
        assert found[0] == pytest.approx(25 * 4 * 48 * 144 * 1536 / GIB)

    def test_room_for_adapters(self) -> None:
        """Qwen3-8B's 36 layers: 4096 to 4096, twice 1024, back, and three of 12288; four adapters of rank 64."""
        plan = planned("Qwen/Qwen3-8B --enable-lora --max-loras 4 --max-lora-rank 64", "0.19.1")
        part = plan.part("lora adapters")
        assert part is not None
        linear = 2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 12_288)
        assert part.gib.mid == pytest.approx(36 * linear * 4 * 64 * 2 / GIB)
        assert planned("Qwen/Qwen3-8B", "0.19.1").part("lora adapters") is None

    def test_what_goes_to_the_cpu(self) -> None:
        kept = planned("Qwen/Qwen3-8B", "0.19.1").weights_gib
        left = planned("Qwen/Qwen3-8B --cpu-offload-gb 5", "0.19.1").weights_gib
        assert kept is not None
        assert left == pytest.approx(kept - 5)

    @pytest.mark.parametrize(
        ("thread", "options", "release", "cache"),
        [
            (23278, "", "0.10.1", -2.14),
            (27508, " --gpu-memory-utilization 0.95 --max-num-batched-tokens 1024", "0.11.0", 1.71),
        ],
    )
    def test_a_large_vocabulary_with_1024_sequences(self, thread: int, options: str, release: str, cache: float) -> None:
        """What https://github.com/vllm-project/vllm/issues/THREAD logged: GiB for the cache, of one H100."""
        plan = planned(f"openai/gpt-oss-120b{options}", release)
        assert plan.weights_gib == pytest.approx(65.97, rel=0.01)
        assert plan.kv_gib is not None
        assert plan.kv_gib.low <= cache <= plan.kv_gib.high
        assert plan.kv_gib.mid == pytest.approx(cache, abs=0.5)

    def test_sequences_take_from_the_cache_where_the_vocabulary_is_sorted(self) -> None:
        """gpt-oss-120b did not start on one H100 in 0.10: 1,024 sequences of 201,088 logits took 7 GiB (vLLM issue 23278)."""
        many, few = (kv(planned(f"openai/gpt-oss-120b {more}", "0.11.1")) for more in ("", "--max-num-seqs 64"))
        assert 5.5 < few.mid - many.mid < 7.5

    def test_a_cache_of_a_given_size(self) -> None:
        plan = planned("Qwen/Qwen3-8B --kv-cache-memory-bytes 8589934592", "0.19.1")
        assert kv(plan) == Interval.exact(8.0)

    def test_blocks_of_a_given_number(self) -> None:
        plan = planned("Qwen/Qwen3-8B --num-gpu-blocks-override 4000 --max-model-len 8000", "0.19.1")
        assert (plan.kv_tokens, plan.max_concurrency) == (64_000, 8.0)

    @pytest.mark.parametrize(
        ("options", "release", "batched"),
        [
            ("--max-model-len 1024", "0.6.4.post1", "2,048"),
            ("--max-model-len 20000", "0.7.3", "20,000"),
            ("--max-model-len 20000 --enable-chunked-prefill", "0.6.4.post1", "512"),
            ("--max-model-len 20000 --enable-chunked-prefill", "0.7.0", "2,048"),
            ("--max-model-len 65536", "0.7.3", "2,048"),
            ("--max-model-len 65536 --enable-chunked-prefill false", "0.7.3", "65,536"),
        ],
    )
    def test_the_v0_engine_profiles_whole_prompts(self, options: str, release: str, batched: str) -> None:
        part = planned(f"meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 2 {options}", release, "h100").part("activations")
        assert part is not None
        assert batched in part.origin

    @pytest.mark.parametrize(("length", "cache"), [(20_000, 3.81), (29_000, 2.89)])
    def test_the_v0_engine_on_one_rtx_3090(self, length: int, cache: float) -> None:
        """https://github.com/vllm-project/vllm/issues/10517: the second was refused, with room for 23,648 tokens."""
        plan = planned(f"meta-llama/Llama-3.1-8B-Instruct --max-model-len {length}", "0.6.4.post1", "rtx-3090")
        assert kv(plan).mid == pytest.approx(cache, abs=0.05)
        assert plan.verdict == ("fits" if length == 20_000 else "tight")
        refused = planned("meta-llama/Llama-3.1-8B-Instruct --max-model-len 32000", "0.6.4.post1", "rtx-3090")
        assert refused.verdict == "refused"
        assert refused.refusal is not None
        assert (
            "max seq len (32000) is larger than the maximum number of tokens that can be stored in KV cache ("
            in refused.refusal
        )


class TestDefaults:
    @pytest.mark.parametrize(
        ("gpu", "release", "batched", "sequences"),
        [
            ("h100", "0.19.1", "8,192", "1,024"),
            ("a100-80gb", "0.19.1", "2,048", "256"),
            ("rtx-5090", "0.19.1", "2,048", "256"),
            ("b200", "0.27.1", "8,192", "1,024"),
            ("b200", "0.28.0", "16,384", "1,024"),
            ("gb10", "0.32.0", "2,048", "256"),
            ("gb10", "0.33.0", "2,048", "256"),
        ],
    )
    def test_batches_by_gpu(self, gpu: str, release: str, batched: str, sequences: str) -> None:
        part = planned("Qwen/Qwen3-8B", release, gpu).part("activations")
        assert part is not None
        assert batched in part.origin or sequences in part.origin

    def test_the_context_is_the_models(self) -> None:
        assert planned("Qwen/Qwen3-8B", "0.19.1").max_model_len == 40_960


class TestVerdicts:
    def test_fits(self) -> None:
        plan = planned("Qwen/Qwen3-8B", "0.19.1", "h100")
        assert (plan.verdict, plan.refusal, plan.missing) == ("fits", None, [])

    def test_no_room_for_the_weights(self) -> None:
        plan = planned("Qwen/Qwen3-8B", "0.19.1", "rtx-5070")
        assert (plan.verdict, plan.refusal) == ("refused", "torch.OutOfMemoryError: CUDA out of memory.")

    def test_no_room_beside_the_weights(self) -> None:
        plan = planned("Qwen/Qwen3-8B --gpu-memory-utilization 0.45", "0.19.1", "rtx-5090")
        assert plan.verdict == "refused"
        assert plan.refusal is not None
        assert plan.refusal.startswith("No available memory for the cache blocks. Try increasing `gpu_memory_utilization`")

    def test_no_room_for_one_request(self) -> None:
        plan = planned("openai/gpt-oss-120b --max-num-seqs 256 --gpu-memory-utilization 0.87", "0.11.1")
        assert plan.verdict == "refused"
        assert plan.refusal is not None
        assert plan.refusal.startswith("To serve at least one request with the models's max seq len (131072), (")
        assert plan.largest_context is not None
        assert 0 < plan.largest_context < 131_072
        assert f"the estimated maximum model length is {plan.largest_context}." in plan.refusal

    def test_near_the_bound_nobody_can_tell(self) -> None:
        plan = planned("Qwen/Qwen3-8B --max-model-len 32768", "0.19.1", "rtx-4090")
        assert plan.need_gib is not None
        assert abs(kv(plan).mid - plan.need_gib) < 1.0
        assert plan.verdict == "tight"

    def test_a_fraction_that_is_not_free(self) -> None:
        plan = planned("Qwen/Qwen3-8B --gpu-memory-utilization 0.999", "0.19.1", "h100")
        assert plan.verdict == "refused"
        assert plan.refusal is not None
        assert plan.refusal.startswith("Free memory on device cuda:0")

    def test_a_fraction_that_leaves_nothing_for_cuda_graphs(self) -> None:
        assert planned("Qwen/Qwen3-8B --gpu-memory-utilization 0.985", "0.17.1", "h100").verdict in ("tight", "oom-risk")

    @pytest.mark.parametrize(
        ("options", "release", "env", "verdict"),
        [
            ("", "0.19.1", {}, "oom-risk"),  # 0.31 GiB are left, CUDA's context takes 0.3 and graphs of 512 tokens 0.1
            ("--enforce-eager", "0.19.1", {}, "tight"),
            ("--max-num-seqs 4", "0.19.1", {}, "tight"),  # graphs of 8 tokens may take next to nothing
            ("", "0.19.1", {"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS": "1"}, "tight"),
            ("", "0.20.0", {}, "tight"),
            ("", "0.20.0", {"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS": "0"}, "oom-risk"),
        ],
    )
    def test_a_fraction_that_certainly_leaves_too_little(
        self, options: str, release: str, env: dict[str, str], verdict: str
    ) -> None:
        plan = planned(f"Qwen/Qwen3-8B --max-model-len 8192 --gpu-memory-utilization 0.99 {options}", release, "rtx-5090", env)
        assert plan.verdict == verdict
        assert any("leaves 0.31 GiB" in note for note in plan.notes) is (verdict == "oom-risk")

    def test_the_longest_that_fits(self) -> None:
        plan = planned("openai/gpt-oss-120b --max-model-len -1 --max-num-seqs 256 --gpu-memory-utilization 0.9", "0.19.1")
        assert plan.verdict != "refused"
        assert plan.max_model_len is not None
        assert plan.max_model_len <= 131_072


class TestFp4OnHopper:
    @pytest.mark.parametrize(
        ("release", "gpu", "fraction", "env", "verdict"),
        [
            ("0.11.2", "h100", 0.97, None, "fits"),
            ("0.12.0", "h100", 0.97, None, "tight"),
            ("0.14.1", "h100", 0.97, None, "tight"),
            ("0.14.1", "h100", 0.97, "1", "fits"),
            ("0.14.1", "h100", 0.95, None, "fits"),
            ("0.14.1", "a100-80gb", 0.97, None, "fits"),
        ],
    )
    def test_tritons_kernels_need_more(self, release: str, gpu: str, fraction: float, env: str | None, verdict: str) -> None:
        """https://github.com/vllm-project/vllm/issues/33155: 0.11.2 started at 0.97, 0.14.1 did not."""
        command = f"openai/gpt-oss-120b --gpu-memory-utilization {fraction} --max-num-seqs 1 --max-model-len 5120"
        variables = {"VLLM_MXFP4_USE_MARLIN": env} if env is not None else {}
        plan = planned(command, release, gpu, env=variables)
        assert plan.verdict == verdict
        assert any("Triton's kernels" in note for note in plan.notes) is (verdict == "tight")


class TestSlices:
    """Parts of a GPU, as MIG divides it."""

    def test_a_slice_is_a_gpu_of_its_size(self) -> None:
        whole, part = (planned("Qwen/Qwen3-8B --max-model-len 8192", "0.19.1", gpu) for gpu in ("h200", "h200-mig-3g.71gb"))
        assert (whole.gpu_gib, part.gpu_gib) == (139.8, 69.5)
        assert part.budget_gib == pytest.approx(0.9 * 69.5)
        assert (whole.verdict, part.verdict) == ("fits", "fits")

    def test_batches_are_those_of_a_small_gpu(self) -> None:
        part = planned("Qwen/Qwen3-8B --max-model-len 8192", "0.19.1", "NVIDIA-H100-80GB-HBM3-MIG-3g.40gb").part("activations")
        assert part is not None
        assert "2,048 tokens" in part.origin or "256 sequences" in part.origin

    def test_where_drivers_differ_the_cache_may_be_larger(self) -> None:
        """1g.23gb of a B200: 20.5 GiB by one driver, 22.0 by another, of which 0.9 are vLLM's."""
        least = planned("Qwen/Qwen3-8B --max-model-len 8192", "0.19.1", "b200-mig-1g.23gb")
        assert least.gpu_gib == 20.5
        known = kv(least)
        assert known.high - known.mid > 0.9 * 1.5
        assert known.mid - known.low < 0.9

    def test_a_model_that_no_driver_leaves_room_for(self) -> None:
        assert planned("Qwen/Qwen3-32B", "0.19.1", "b200-mig-1g.23gb").verdict == "refused"

    def test_a_virtual_gpu_has_no_size(self) -> None:
        plan = planned("Qwen/Qwen3-8B", "0.19.1", "GRID A100D-40C")
        assert (plan.verdict, plan.missing) == ("unknown", ["the GPU's memory"])


class TestWithoutACache:
    def test_an_embedding_model(self) -> None:
        plan = planned("BAAI/bge-large-en-v1.5", "0.19.1")
        assert (plan.verdict, plan.kv_gib, plan.kv_tokens, plan.need_gib) == ("fits", None, None, None)
        assert plan.part("kv cache") is None
        assert plan.weights_gib == pytest.approx(0.335e9 * 2 / GIB, rel=0.03)


class TestLessThanOneRequest:
    def test_releases_that_look_at_the_first_group_alone(self) -> None:
        """Qwen3-Next's first layer keeps a state: 0.14.0 to 0.18.1 start where other releases refuse."""
        command = "Qwen/Qwen3-Next-80B-A3B-Instruct --tensor-parallel-size 2 --gpu-memory-utilization 0.565 --max-num-seqs 16"
        early, late = planned(command, "0.18.1", "h200"), planned(command, "0.19.1", "h200")
        assert early.max_concurrency is not None
        assert early.max_concurrency < 1
        assert early.verdict in ("fits", "tight")
        assert late.verdict in ("refused", "tight")

    def test_more_blocks_than_there_is_memory_for(self) -> None:
        plan = planned("Qwen/Qwen3-8B --num-gpu-blocks-override 10000000", "0.33.0")
        assert plan.verdict == "oom-risk"


class TestUnknown:
    @together(
        "command, release, gpu, missing",
        [
            ("someone/never-heard-of", "0.19.1", "h100", "the architecture of someone/never-heard-of"),
            ("", "0.19.1", "h100", "the model"),
            ("Qwen/Qwen3-8B", "0.19.1", "my-gpu", "the GPU"),
            ("Qwen/Qwen3-8B", "0.19.1", None, "the GPU"),
            ("meta-llama/Llama-3.1-8B-Instruct", "0.6.3", "h100", "the arithmetic of releases before 0.6.4"),
            (
                "mistralai/Mixtral-8x7B-Instruct-v0.1",
                "0.7.3",
                "h100",
                "the arithmetic of releases before 0.8.0 for such a launch",
            ),
            ("Qwen/Qwen3-8B --num-scheduler-steps 8", "0.8.5", "h100", "the arithmetic of the V0 engine"),
            ("Qwen/Qwen3-8B", "0.8.5", "t4", "the arithmetic of the V0 engine"),
            ("Qwen/Qwen2.5-VL-3B-Instruct", "0.8.5", "h100", "the memory of image encoders before 0.10.0"),
            ("Qwen/Qwen3-8B --max-num-seqs $N", "0.19.1", "h100", "--max-num-seqs"),
            ("Qwen/Qwen3-8B --max-num-seqs 0", "0.19.1", "h100", "--max-num-seqs 0"),
            ("Qwen/Qwen3-8B --gpu-memory-utilization nan", "0.19.1", "h100", "--gpu-memory-utilization nan"),
            ("Qwen/Qwen3-8B --block-size -1", "0.19.1", "h100", "--block-size -1"),
            ("Qwen/Qwen3-8B --kv-cache-dtype my_own", "0.19.1", "h100", "the size of a my_own KV cache"),
        ],
    )
    def test_what_is_missing_is_named(self, command: str, release: str, gpu: str | None, missing: str) -> None:
        plan = planned(command, release, gpu)
        assert plan.verdict == "unknown"
        assert missing in plan.missing

    @pytest.mark.parametrize(
        ("command", "missing"),
        [
            ("Qwen/Qwen3-8B --config ./serve.yaml", ["what ./serve.yaml says"]),
            ("Qwen/Qwen3-8B $MORE", ["the effect of unknown words"]),
            ("Qwen/Qwen3-8B --max-num-seqs $SEQS $MORE", ["the effect of unknown words", "--max-num-seqs"]),
        ],
    )
    def test_options_out_of_sight_are_named_once(self, command: str, missing: list[str]) -> None:
        (launch,) = servelint.find_launches(f"vllm serve {command}\n", "run.sh")
        launch.gpu = "h100"
        plan = plan_of(configs(launch, ["0.19.1"])[0])
        assert (plan.verdict, plan.missing) == ("unknown", missing)

    def test_a_release_that_does_not_know_the_model(self) -> None:
        plan = planned("nvidia/Qwen3.6-35B-A3B-NVFP4", "0.11.0")
        assert plan.verdict == "unknown"
        assert any(text.startswith("0.11.0 does not know Qwen3_5MoeForConditionalGeneration") for text in plan.missing)

    def test_a_draft_that_nobody_knows(self) -> None:
        draft = speculating(method="dflash", model="someone/draft", num_speculative_tokens=3)
        assert planned(f"Qwen/Qwen3-8B {draft}", "0.24.0").missing == ["the layers of the draft model are unknown"]

    def test_a_head_named_after_its_model_is_not_that_model(self) -> None:
        draft = "--speculative-config.method dspark --speculative-config.num_speculative_tokens 7 --speculative-config.model x/"
        plan = planned(f"Qwen/Qwen3.8-27B-FP8 {draft}Qwen3.8-27B-DSpark-vLLM", "0.33.0")
        assert plan.missing == ["the layers of the draft model are unknown"]

    def test_an_eagle_head_is_taken_for_a_layer(self) -> None:
        """36 layers of the model, and one more."""
        head = speculating(method="eagle3", model="someone/head", num_speculative_tokens=3)
        plain, drafted = planned("Qwen/Qwen3-8B", "0.19.1"), planned(f"Qwen/Qwen3-8B {head}", "0.19.1")
        assert plain.need_gib is not None
        assert drafted.need_gib == pytest.approx(plain.need_gib * 37 / 36)
        assert plain.weights_gib is not None
        assert drafted.weights_gib is not None
        assert 0.3 < drafted.weights_gib - plain.weights_gib < 1.0
        assert "the EAGLE head is unknown: it counts as one layer of the model" in drafted.notes

    def test_an_engine_without_a_plan(self) -> None:
        with pytest.raises(ValueError, match=r"no memory plan for 'tgi'; use one of vllm, sglang"):
            servelint.plan_memory("tgi", ["--model-id", "m"])


class TestApi:
    def test_a_config_in_a_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        folder = tmp_path / "model"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(SMALL))
        named = servelint.plan_memory("vllm", ["Qwen/Qwen3-8B"], version="0.19.1", gpu="h100")
        here = servelint.plan_memory("vllm", ["./model"], version="0.19.1", gpu="h100")
        assert (here.weights_gib, here.kv_tokens) == (named.weights_gib, named.kv_tokens)

    @pytest.mark.parametrize("verb", [[], ["vllm", "serve"], ["python3", "-m", "vllm.entrypoints.openai.api_server"]])
    def test_with_the_verb_or_without_it(self, verb: list[str]) -> None:
        found = servelint.plan_memory("vllm", [*verb, "--model", "Qwen/Qwen3-8B"], version="0.19.1", gpu="h100")
        assert (found.model, found.verdict) == ("Qwen/Qwen3-8B", "fits")

    def test_a_build_between_releases(self) -> None:
        found = servelint.plan_memory("vllm", ["Qwen/Qwen3-8B"], version="v0.19.1rc1.dev328+g18013df6a", gpu="h100")
        assert (found.release, found.verdict) == ("0.19.1rc1.dev328+g18013df6a", "fits")

    @pytest.mark.parametrize("version", [None, "nightly"])
    def test_without_a_release_single_figures_are_the_newest_s(self, version: str | None) -> None:
        found = servelint.plan_memory("vllm", ["Qwen/Qwen3-8B"], version=version, gpu="h100")
        assert found.release == "0.33.0"
        assert any("single figures are those of 0.33.0" in note for note in found.notes)

    def test_a_build_of_a_checkout_without_tags_is_no_old_release(self) -> None:
        found = servelint.plan_memory("vllm", ["Qwen/Qwen3-8B"], version="0.1.dev1+gda1daf40b", gpu="h100")
        assert (found.release, found.verdict) == ("0.33.0", "fits")


class TestProperties:
    """What must hold whatever the numbers are."""

    MODELS = (
        "Qwen/Qwen3-8B",
        "openai/gpt-oss-120b",
        "nvidia/Qwen3.6-35B-A3B-NVFP4",
        "google/gemma-4-26B-A4B",
        "zai-org/GLM-5.1",
    )
    RELEASES = ("0.10.2", "0.14.0", "0.19.1", "0.24.0", "0.33.0")

    @pytest.mark.parametrize("release", RELEASES)
    @pytest.mark.parametrize("model", MODELS)
    def test_more_utilisation_is_never_less_cache(self, model: str, release: str) -> None:
        each = [planned(f"{model} --gpu-memory-utilization {share / 100}", release, "b200") for share in range(50, 100, 5)]
        mids = [plan.kv_gib.mid for plan in each if plan.kv_gib is not None]
        tokens = [plan.kv_tokens or 0 for plan in each]
        assert mids == sorted(mids)
        assert tokens == sorted(tokens)

    @pytest.mark.parametrize("release", RELEASES)
    @pytest.mark.parametrize("model", MODELS)
    def test_more_context_is_never_more_concurrency(self, model: str, release: str) -> None:
        each = [planned(f"{model} --max-model-len {length}", release, "b200") for length in (1000, 4096, 32_768, 40_960)]
        found = [plan.max_concurrency for plan in each if plan.max_concurrency is not None]
        assert found == sorted(found, reverse=True)

    @pytest.mark.parametrize("model", MODELS)
    def test_more_gpus_are_never_more_weights_on_each(self, model: str) -> None:
        each = [planned(f"{model} --tensor-parallel-size {size}", "0.33.0", "b200").weights_gib for size in (1, 2, 4, 8)]
        found = [gib for gib in each if gib is not None]
        assert len(found) == 4
        assert found == sorted(found, reverse=True)

    @pytest.mark.parametrize("model", MODELS)
    def test_more_sequences_are_never_more_cache(self, model: str) -> None:
        each = [planned(f"{model} --max-num-seqs {count}", "0.33.0", "b200").kv_gib for count in (1, 64, 256, 1024)]
        mids = [one.mid for one in each if one is not None]
        assert mids == sorted(mids, reverse=True)

    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize("release", RELEASES)
    def test_intervals_are_in_order_and_verdicts_known(self, model: str, release: str) -> None:
        plan = planned(model, release, "h200")
        assert plan.verdict in VERDICTS
        for part in plan.parts:
            assert part.gib.low <= part.gib.mid <= part.gib.high
        if plan.kv_gib is not None:
            assert plan.kv_gib.low <= plan.kv_gib.mid <= plan.kv_gib.high

    def test_tokens_and_concurrency_agree_where_they_are_one_number(self) -> None:
        for model in self.MODELS:
            plan = planned(f"{model} --max-model-len 32768", "0.33.0", "b200")
            if plan.kv_tokens is not None and plan.max_concurrency is not None:
                assert plan.kv_tokens == int(plan.max_concurrency * 32_768)


def test_a_step_of_memory_beside_a_draft_with_more_heads() -> None:
    """Muse Glimmer's DFlash draft has pages of four times the model's size, and two batches are in flight.

    The recipe (vllm-project/recipes models/meta-models/Muse-Glimmer-30B.yaml) has 1,202,076 tokens with 0.92 of two RTX 5090,
    and 147,669, 147,687 and 147,669 fewer for each 0.04 less.
    """
    draft = speculating(method="dflash", model="meta-models/Muse-Glimmer-30B-assistant", num_speculative_tokens=15)
    found = []
    for fraction in (0.92, 0.88, 0.84, 0.8):
        words = f"Inferact/Muse-Glimmer-30B-NVFP4-W4A4 -tp 2 --max-model-len 131072 --gpu-memory-utilization {fraction} {draft}"
        plan = planned(words, "0.28.0", gpu="RTX 5090")
        assert plan.kv_tokens is not None
        found.append(plan.kv_tokens)
    assert found[0] - found[1] == pytest.approx(147_669, rel=0.002)
    assert found[0] - found[3] == pytest.approx(1_202_076 - 759_051, rel=0.002)


class TestParallelism:
    def test_experts_are_divided_among_all_ranks(self) -> None:
        """Attention is kept whole by every rank of data parallelism, experts are not."""
        model = "Qwen/Qwen3-30B-A3B"
        whole, dealt, parts = (
            planned(f"{model} {more}", "0.19.1", "b200").weights_gib or 0.0
            for more in ("", "--data-parallel-size 8 --enable-expert-parallel", "--data-parallel-size 8")
        )
        assert whole > 50
        assert dealt == pytest.approx(parts, rel=0.01)
        assert whole / 8 < dealt < whole / 5

    def test_experts_are_divided_among_ranks_of_prefill_contexts(self) -> None:
        model = "Qwen/Qwen3-30B-A3B"
        dealt, replicas, spread = (
            planned(f"{model} {more}", "0.31.0", "b200").weights_gib or 0.0
            for more in (
                "--prefill-context-parallel-size 4 --enable-expert-parallel",
                "--data-parallel-size 4 --enable-expert-parallel",
                "--prefill-context-parallel-size 4",
            )
        )
        assert dealt == pytest.approx(replicas, rel=0.01)
        assert dealt == pytest.approx(spread, rel=0.01)

    def test_stages_of_a_pipeline_divide_weights_and_cache(self) -> None:
        one, four = (planned(f"Qwen/Qwen3-8B --pipeline-parallel-size {size}", "0.19.1") for size in (1, 4))
        assert one.weights_gib is not None
        assert four.weights_gib is not None
        assert four.weights_gib < one.weights_gib / 3
        assert one.need_gib is not None
        assert four.need_gib == pytest.approx(one.need_gib / 4)


class TestWithoutTheHybridManager:
    """Windows that keep all tokens, so that gpt-oss needs its 36 layers' worth for each."""

    COMMAND = "openai/gpt-oss-120b --max-model-len 131072 --max-num-seqs 16 "
    CONNECTOR = """--kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'"""

    def need(self, more: str, release: str) -> float:
        return planned(self.COMMAND + more, release, "b200").need_gib or 0.0

    def test_where_it_is_turned_off(self) -> None:
        assert self.need("--disable-hybrid-kv-cache-manager", "0.19.1") == pytest.approx(9.0)
        assert 4.5 < self.need("", "0.19.1") < 5.5

    def test_a_connector_turns_it_off_to_0_21_0(self) -> None:
        assert self.need(self.CONNECTOR, "0.19.1") == pytest.approx(9.0)
        missing = planned(self.COMMAND + self.CONNECTOR, "0.22.0", "b200").missing
        assert missing == ["whether the KV connector lets windows and states have blocks of their own"]

    def test_a_connector_changes_nothing_where_all_layers_are_alike(self) -> None:
        with_it, without = (planned(f"Qwen/Qwen3-8B {more}", "0.22.0").need_gib for more in (self.CONNECTOR, ""))
        assert with_it == without

    def test_chunked_attention_keeps_all_tokens_unless_a_variable_allows_it(self) -> None:
        command = "meta-llama/Llama-4-Scout-17B-16E-Instruct --tensor-parallel-size 8 --max-model-len 131072"
        allowed = {"VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE": "1"}
        whole = planned(command, "0.19.1", "b200").need_gib
        chunked = planned(command, "0.19.1", "b200", allowed).need_gib
        assert whole is not None
        assert chunked is not None
        assert chunked < whole / 2


class TestStatesAndPrefixCaching:
    """Nemotron 3 Nano: Mamba-2 layers, whose models can keep a state for every block."""

    COMMAND = "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 --max-model-len 131072 "

    def test_a_state_for_every_block_costs_most(self) -> None:
        each = [
            planned(self.COMMAND + more, "0.24.0", "h200").need_gib or 0.0
            for more in (
                "--no-enable-prefix-caching",
                "--enable-prefix-caching --mamba-cache-mode align",
                "--enable-prefix-caching",
            )
        ]
        assert each == sorted(each)
        assert each[2] > 2 * each[1]

    def test_from_0_28_0_one_a_request_is_the_default(self) -> None:
        default, every = (
            planned(f"{self.COMMAND} --enable-prefix-caching {more}", "0.28.0", "h200").need_gib or 0.0
            for more in ("", "--mamba-cache-mode all")
        )
        assert every > 2 * default


class TestNotes:
    def test_mtp_on_a_hybrid_model(self) -> None:
        command = "nvidia/Qwen3.6-35B-A3B-NVFP4 " + speculating(method="mtp", num_speculative_tokens=2)
        plan = planned(command + " --max-model-len 131072 --enable-prefix-caching", "0.19.1", "gb10")
        assert any("groups grow from 10 to 11 layers" in note and "10 % more" in note for note in plan.notes)
        assert any("4 blocks for each group of layers with state, 2 of them for draft tokens" in note for note in plan.notes)

    def test_more_gpus_than_there_are(self) -> None:
        plan = planned("Qwen/Qwen3-8B --tensor-parallel-size 4 --pipeline-parallel-size 4", "0.19.1")
        assert "it needs 16 GPUs, and 8 are there: the rest are on other nodes" in plan.notes

    def test_more_ranks_than_heads(self) -> None:
        plan = planned("Qwen/Qwen3-8B --tensor-parallel-size 16", "0.19.1")
        assert "16 ranks share 8 key-value heads: each head is kept 2 times" in plan.notes
