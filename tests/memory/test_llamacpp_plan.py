"""llama.cpp's memory plan against the buffers that published starts printed."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

import servelint
from servelint.memory.plan import FITS, OOM_RISK, REFUSED, TIGHT, UNKNOWN, MemoryPlan
from tests.together import together

LOGS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "llamacpp_logs.json").read_text())
"""Sizes in MiB, of one GPU or the sum of several (`about` says which), the embedding left out, which stays in main memory."""

PARTS = {"weights_mib": "weights", "kv_mib": "kv cache", "compute_mib": "compute buffer"}


def plan(words: str, build: str = "b6500", gpu: str | None = "rtx-4090", gpus: int = 1, **env: str) -> MemoryPlan:
    return servelint.plan_memory("llama.cpp", words.split(), version=build, gpu=gpu, gpu_count=gpus, env=env)


def mib(found: MemoryPlan, name: str) -> tuple[float, float, float]:
    part = found.part(name)
    assert part is not None
    return part.gib.low * 1024, part.gib.mid * 1024, part.gib.high * 1024


def test_there_are_enough_logs() -> None:
    assert len(LOGS) >= 12
    assert all(log["url"].startswith("https://github.com/") for log in LOGS)


@pytest.mark.parametrize("log", [log for log in LOGS if PARTS.keys() & log.keys()], ids=lambda log: log["about"])
def test_every_published_size_is_in_its_interval(log: dict[str, Any]) -> None:
    found = plan(log["argv"], log["build"], log["gpu"])
    for key, name in PARTS.items():
        if key in log:
            low, _, high = mib(found, name)
            assert low - 1 <= log[key] <= high + 1, name


@pytest.mark.parametrize("log", [log for log in LOGS if "total_mib" in log], ids=lambda log: log["about"])
def test_the_total_is_in_the_interval_of_all_buffers(log: dict[str, Any]) -> None:
    found = plan(log["argv"], log["build"], log["gpu"])
    sizes = [mib(found, name) for name in PARTS.values()]
    assert sum(size[0] for size in sizes) <= log["total_mib"] <= sum(size[2] for size in sizes)


@pytest.mark.parametrize("log", [log for log in LOGS if "outcome" in log], ids=lambda log: log["about"])
def test_no_start_that_failed_fits_and_none_that_succeeded_is_refused(log: dict[str, Any]) -> None:
    found = plan(log["argv"], log["build"], log["gpu"], log.get("gpus", 1))
    wrong = (FITS,) if log["outcome"] == "oom" else (REFUSED, OOM_RISK)
    assert found.verdict not in wrong


class TestCache:
    """Sizes that the same issues and the source state."""

    @pytest.mark.parametrize(
        ("types", "size"), [("", 1152.0), ("-ctk q8_0 -ctv q8_0", 612.0), ("-ctk q4_0 -ctv q4_0", 324.0), ("-ctk q8_0", 882.0)]
    )
    def test_types(self, types: str, size: float) -> None:
        """36 layers of 8 heads of 128 elements."""
        assert mib(plan(f"-m Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 8192 {types}"), "kv cache")[1] == size

    @pytest.mark.parametrize(
        ("build", "low", "high"),
        [
            ("b5415", 3196.0, 3196.0), ("b7698", 3196.0, 3196.0), ("b7836", 1692.0, 3196.0), ("b8095", 1692.0, 1692.0),
            ("b11434", 1692.0, 1692.0),
        ],
    )  # fmt: skip
    def test_latent_attention_keeps_latents_and_later_the_keys_alone(self, build: str, low: float, high: float) -> None:
        """47 layers of 576 elements, and 512 for values (llama.cpp pull requests 12801 and 19067)."""
        found = mib(plan("-m GLM-4.7-Flash-Q4_K_M.gguf -ngl 99 -c 32768", build), "kv cache")
        assert (found[0], found[2]) == (low, high)

    def test_the_keys_of_deepseek(self) -> None:
        """1,166.62 MiB of keys in Q8_0 (ikawrakow/ik_llama.cpp pull request 259)."""
        found = mib(plan("-m DeepSeek-V3.1-Q4_K_M.gguf -ngl 99 -c 32768 -ctk q8_0 -fa on", "b10276", "b200"), "kv cache")
        assert found[0] == pytest.approx(1166.62, abs=0.01)

    @pytest.mark.parametrize("model", ["DeepSeek-V3-Q4_K_M.gguf", "DeepSeek-R1-Q4_K_M.gguf"])
    def test_a_file_that_may_be_older_than_the_latents_may_keep_each_head(self, model: str) -> None:
        """24,576 elements of keys and 16,384 of values in 61 layers (llama.cpp pull request 11397)."""
        found = mib(plan(f"-m {model} -ngl 99 -c 4096", "b10276", "b200"), "kv cache")
        assert found[2] == pytest.approx(61 * (24576 + 16384) * 2 * 4096 / 2**20)
        assert found[0] < found[2] / 50
        assert mib(plan("-m Kimi-K2-Instruct-Q4_K_M.gguf -ngl 99 -c 4096", "b10276", "b200"), "kv cache")[2] < 300

    def test_latent_attention_of_another_kind_is_not_known(self) -> None:
        assert plan("-m Kimi-Linear-48B-A3B-Instruct-Q4_K_M.gguf -ngl 99 -c 4096", "b10276").verdict == UNKNOWN

    def test_windows_are_kept_from_the_build_that_has_them(self) -> None:
        words = "-m gemma-3-27b-it-Q4_K_M.gguf -ngl 99 -c 32768"
        sizes = {build: mib(plan(words, build, "h100"), "kv cache") for build in ("b4980", "b5415", "b5590")}
        assert sizes["b4980"][0] > 15000
        assert sizes["b5590"][2] < 4000
        assert sizes["b5415"][0] == sizes["b5590"][0]
        assert sizes["b5415"][2] == sizes["b4980"][2]
        full = mib(plan(words + " --swa-full", "b5590", "h100"), "kv cache")
        assert full == sizes["b4980"]

    def test_without_offload_the_cache_is_in_main_memory(self) -> None:
        assert mib(plan("-m Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 8192 -nkvo"), "kv cache") == (0.0, 0.0, 0.0)

    def test_slots_share_the_context(self) -> None:
        found = plan("-m Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 32768 -np 4")
        assert (found.max_model_len, found.kv_tokens, found.sequences) == (8192, 32768, 4)
        shared = plan("-m Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 32768 -np 4 --kv-unified")
        assert (shared.max_model_len, shared.kv_tokens) == (32768, 32768)

    @pytest.mark.parametrize(("build", "tokens"), [("b4435", 4096), ("b7324", 4096), ("b7698", 40960), ("b9310", 40960)])
    def test_the_default_of_the_context(self, build: str, tokens: int) -> None:
        assert plan("-m Qwen3-8B-Q4_K_M.gguf -ngl 99", build).kv_tokens == tokens

    def test_a_default_that_changed_between_two_known_builds_is_unknown(self) -> None:
        found = plan("-m Qwen3-8B-Q4_K_M.gguf -ngl 99", "b7500")
        assert found.verdict == UNKNOWN
        assert any("--ctx-size" in one for one in found.missing)


class TestUnevenSplit:
    WORDS = "-m Qwen3-32B-Q8_0.gguf -ngl 99 -c 8192"

    def test_the_fullest_gpu_is_planned(self) -> None:
        even, same, uneven = (plan(self.WORDS + more, gpus=2) for more in ("", " -ts 1,1", " -ts 3,1"))
        assert mib(even, "weights") == mib(same, "weights")
        assert mib(uneven, "weights")[1] == pytest.approx(mib(even, "weights")[1] * 1.5, rel=0.05)
        assert mib(uneven, "kv cache")[1] == pytest.approx(mib(even, "kv cache")[1] * 1.5, rel=0.05)
        assert mib(plan(self.WORDS + " -ts 1,3", gpus=2), "weights")[1] == mib(uneven, "weights")[1]

    @pytest.mark.parametrize("more", [" -ts 3,1,1", " -ts $S", " -ts 3,x", " -ts 0,0"])
    def test_shares_that_are_not_those_of_the_gpus(self, more: str) -> None:
        assert plan(self.WORDS + more, gpus=2).missing == ["the shares of --tensor-split"]


class TestLayers:
    @pytest.mark.parametrize(("build", "most"), [("b6301", 0.0), ("b6431", 5000.0)])
    def test_the_default_is_none_and_then_all(self, build: str, most: float) -> None:
        _, weights, _ = mib(plan("-m Qwen3-8B-Q4_K_M.gguf -c 8192", build), "weights")
        assert (weights == 0.0) is (most == 0.0)

    def test_some_layers_take_their_share(self) -> None:
        whole = mib(plan("-m Qwen3-8B-Q4_K_M.gguf -c 8192 -ngl 99"), "kv cache")[1]
        half = mib(plan("-m Qwen3-8B-Q4_K_M.gguf -c 8192 -ngl 18"), "kv cache")
        assert half[0] < whole / 2 <= half[2]

    def test_experts_in_main_memory_refuse_nothing(self) -> None:
        words = "-m Qwen3-235B-A22B-Q4_K_M.gguf -ngl 99 -c 8192"
        assert plan(words).verdict == REFUSED
        assert plan(words + " --cpu-moe").verdict == TIGHT
        assert plan(words + " -ot exps=CPU").verdict == TIGHT

    def test_the_experts_of_the_first_layers_are_taken_off(self) -> None:
        words = "-m gpt-oss-20b-mxfp4.gguf -ngl 99 -c 8192 -np 1"
        whole, most = (mib(plan(words + more, "b8390"), "weights") for more in ("", " --n-cpu-moe 21"))
        assert whole[0] <= 10694 <= whole[2]  # what such a server prints: 10694.15 MiB, and 2200.21 with 21 of 24 layers away
        assert most[0] <= 2200 <= most[2] < 7000
        every = mib(plan(words + " --cpu-moe", "b8390"), "weights")
        assert every[1] < most[1] < whole[1]
        assert mib(plan(words + " --n-cpu-moe 24", "b8390"), "weights") == every
        assert mib(plan(words + " --n-cpu-moe 0", "b8390"), "weights")[1] == whole[1]

    @pytest.mark.parametrize("more", [" --n-cpu-moe 21 -ot exps=CPU", " --n-cpu-moe $N", " --n-cpu-moe 21 -ngl 12"])
    def test_nothing_is_taken_off_where_it_is_not_known(self, more: str) -> None:
        words = "-m gpt-oss-20b-mxfp4.gguf -ngl 99 -c 8192 -np 1"
        assert mib(plan(words + more, "b8390"), "weights")[0] == 0.0

    def test_a_layer_without_experts_counts(self) -> None:
        words = "-m GLM-4.5-Air-Q4_K_M.gguf -ngl 99 -c 8192"  # 46 layers, the first without experts
        one, two, three = (mib(plan(f"{words} --n-cpu-moe {n}", "b8390", "h100"), "weights")[1] for n in (1, 2, 3))
        assert one == mib(plan(words, "b8390", "h100"), "weights")[1]
        assert one - two == pytest.approx(two - three)
        assert one > two

    def test_gpus_share_the_layers(self) -> None:
        words = "-m Qwen3-32B-Q8_0.gguf -ngl 99 -c 8192"
        assert plan(words).verdict == REFUSED
        assert plan(words, gpus=4).verdict == FITS
        assert plan(words + " -sm none", gpus=4).verdict == REFUSED


class TestVerdicts:
    def test_what_fits(self) -> None:
        found = plan("-m Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 8192")
        assert (found.verdict, found.missing) == (FITS, [])

    def test_a_context_that_is_too_long_says_which_one_fits(self) -> None:
        found = plan("-m Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf -ngl 99 -c 131072", "b4435")
        assert found.verdict == REFUSED
        assert found.refusal == "cudaMalloc failed: out of memory"
        assert found.remedy is not None
        shorter = found.remedy.split()[2]
        assert plan(f"-m Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf -ngl 99 -c {shorter}", "b4435").verdict == FITS

    def test_fit_refuses_nothing_unless_the_layers_are_given(self) -> None:
        assert plan("-m Qwen3-32B-Q8_0.gguf -c 8192", "b9310").verdict == TIGHT
        assert plan("-m Qwen3-32B-Q8_0.gguf -c 8192 -fit off", "b9310").verdict == REFUSED
        assert plan("-m Qwen3-32B-Q8_0.gguf -c 8192 -ngl 99", "b9310").verdict == REFUSED

    @pytest.mark.parametrize(
        "words",
        [
            "-m a-model-of-our-own-Q4_K_M.gguf",
            "-m Qwen3-8B.gguf",
            "-m Qwen3-8B-Q4_K_M.gguf -md draft-of-our-own.gguf",
            "-m Qwen3-8B-Q4_K_M.gguf --rpc 10.0.0.2:50052",
        ],
    )
    def test_what_is_not_known_is_said(self, words: str) -> None:
        found = plan(words + " -ngl 99 -c 8192")
        assert found.verdict == UNKNOWN
        assert found.missing

    def test_a_gpu_of_another_vendor_than_the_devices(self) -> None:
        found = plan("-m Qwen3-32B-Q8_0.gguf -ngl 99 -c 8192 --device ROCm0,ROCm1", gpus=2)
        assert found.missing == ["the GPU: rtx-4090 is not one that ROCm0,ROCm1 runs on"]
        assert plan("-m Qwen3-8B-Q8_0.gguf -ngl 99 -c 8192 --device ROCm0", gpu="rx-7900-xtx").missing == []

    def test_equal_shares_are_no_other_division(self) -> None:
        assert plan("-m Qwen3-32B-Q8_0.gguf -ngl 99 -c 8192 -ts 1,1 --device CUDA0,CUDA1", gpus=2).verdict == FITS

    def test_all_gpus_of_a_host_may_be_several(self) -> None:
        text = (
            "services:\n  a:\n    image: ghcr.io/ggml-org/llama.cpp:server-cuda-b6500\n"
            "    command: -m /m/Qwen3-32B-Q8_0.gguf -ngl 99 -c 8192\n    gpus: all\n"
        )
        (launch,) = servelint.find_launches(text, "compose.yaml")
        from servelint.engines.config import configs
        from servelint.memory import plan_of

        launch.gpu = "rtx-4090"
        found = plan_of(configs(launch, ["b6500"])[0])
        assert (found.verdict, found.notes[-1]) == (TIGHT, "the container gets all GPUs of its host: the plan assumes one")

    @pytest.mark.parametrize("words", ["-sm row", "-ts 3,1,1"])
    def test_other_divisions_of_several_gpus_are_not_known(self, words: str) -> None:
        assert plan(f"-m Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 8192 {words}", gpus=2).verdict == UNKNOWN

    def test_older_builds_are_not_planned(self) -> None:
        assert plan("-m Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 8192", "b3995").missing == ["the arithmetic of builds before b4435"]

    def test_a_draft_takes_room(self) -> None:
        found = plan("-m Qwen3-32B-Q4_K_M.gguf -md Qwen3-0.6B-Q8_0.gguf -ngld 99 -ngl 99 -c 8192", gpu="h100")
        assert found.part("draft") is not None
        assert found.verdict == FITS


def header(keys: dict[str, int | str], tensors: dict[str, tuple[int, ...]], kind: int) -> bytes:
    """A GGUF file without its weights."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    found = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for key, value in keys.items():
        found += text(key) + (struct.pack("<I", 8) + text(value) if isinstance(value, str) else struct.pack("<II", 4, value))
    for name, shape in tensors.items():
        found += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", one) for one in shape)
        found += struct.pack("<IQ", kind, 0)
    return found


def test_the_header_of_a_local_file_says_the_model(tmp_path: Path) -> None:
    """Two layers in Q8_0 under a name that says nothing."""
    keys: dict[str, int | str] = {
        "general.architecture": "llama", "llama.block_count": 2, "llama.embedding_length": 1024,
        "llama.feed_forward_length": 4096, "llama.attention.head_count": 8, "llama.attention.head_count_kv": 8,
        "llama.attention.key_length": 128, "llama.context_length": 8192,
    }  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (1024, 32000), "output.weight": (1024, 32000)}
    for layer in range(2):
        shapes |= {f"blk.{layer}.attn_{one}.weight": (1024, 1024) for one in ("q", "k", "v", "output")}
        shapes |= {f"blk.{layer}.ffn_{one}.weight": (1024, 4096) for one in ("gate", "up")}
        shapes[f"blk.{layer}.ffn_down.weight"] = (4096, 1024)
    (tmp_path / "own.gguf").write_bytes(header(keys, shapes, 8))
    (tmp_path / "run.sh").write_text("llama-server -m own.gguf -ngl 99 -c 8192\n")
    (launch,) = servelint.find_launches((tmp_path / "run.sh").read_text(), str(tmp_path / "run.sh"))
    from servelint.engines.config import configs
    from servelint.memory import plan_of

    launch.gpu, launch.folder = "rtx-4090", str(tmp_path)
    found = plan_of(configs(launch, ["b6500"])[0])
    assert found.missing == []
    layers = 2 * (4 * 1024 * 1024 + 3 * 1024 * 4096) * 34 / 32 / 2**20
    low, _, high = mib(found, "weights")
    assert low < layers + 1024 * 32000 * 34 / 32 / 2**20 < high
    assert mib(found, "kv cache")[1] == 8192 * 2 * 2 * 1024 * 2 / 2**20


SMALL = "-hf unsloth/Qwen3-8B-GGUF:Q4_K_M -c 4096"


class TestLayersOnTheGpu:
    @together(
        "build, words, offloaded",
        [
            ("b6301", "", False),  # none by default
            ("b6500", "", True),  # all that fit by default
            ("b6301", "-ngl auto", False),
            ("b6301", "-ngl 99", True),
            ("b6500", "-ngl all", True),
            ("b6500", "-ngl -2", True),
            ("b6500", "-ngl 0", False),
            ("b6500", "-ngl 99 --device none", False),
        ],
    )
    def test_all_or_none(self, build: str, words: str, offloaded: bool) -> None:
        found = plan(f"{SMALL} {words}", build)
        part = found.part("weights")
        assert part is not None
        assert (part.gib.mid > 4) is offloaded
        assert found.missing == []

    def test_builds_between_which_the_default_changed(self) -> None:
        (missing,) = plan(SMALL, "b6390").missing
        assert missing == "--gpu-layers, whose default changed between b6301 and b6431"

    def test_the_context_that_is_advised_is_whole_kibitokens_that_fit(self) -> None:
        found = plan("-hf unsloth/Qwen3-8B-GGUF:Q4_K_M -c 131072 -ngl 99", "b10001", "rtx-4060")
        assert found.verdict == REFUSED
        assert found.remedy is not None
        context = int(found.remedy.split()[2])
        assert found.remedy == f"write -c {context} or less, which fits"
        assert context % 1024 == 0
        assert plan(f"-hf unsloth/Qwen3-8B-GGUF:Q4_K_M -c {context} -ngl 99", "b10001", "rtx-4060").verdict in (FITS, TIGHT)
        assert plan(f"-hf unsloth/Qwen3-8B-GGUF:Q4_K_M -c {context + 1024} -ngl 99", "b10001", "rtx-4060").largest_context
