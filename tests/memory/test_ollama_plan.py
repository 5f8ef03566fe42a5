"""Ollama's memory plan, by Modelfiles and names of its library."""

from __future__ import annotations

import pytest

import servelint
from servelint.engines.config import configs
from servelint.memory import is_planned, plan_of
from servelint.memory.ollama import library_model
from servelint.memory.plan import FITS, TIGHT, UNKNOWN, MemoryPlan
from tests.together import together


def plan(text: str, gpu: str = "rtx-4090", release: str = "0.12.3", gpus: int = 1) -> MemoryPlan:
    (launch,) = [one for one in servelint.find_launches(text, "Modelfile") if is_planned(one)]
    launch.gpu, launch.gpu_count = gpu, gpus
    return plan_of(configs(launch, [release])[0])


def mib(found: MemoryPlan, name: str) -> tuple[float, float, float]:
    part = found.part(name)
    assert part is not None
    return part.gib.low * 1024, part.gib.mid * 1024, part.gib.high * 1024


@pytest.mark.parametrize(
    ("name", "layers", "kind"),
    [
        ("llama3.1:8b", 32, "Q4_K_M"),
        ("llama3.3:70b-instruct-q8_0", 80, "Q8_0"),
        ("qwen3:30b-a3b", 48, "Q4_K_M"),
        ("gemma3:27b", 62, "Q4_K_M"),
        ("qwen2.5:7b-instruct-fp16", 28, "F16"),
        ("gpt-oss:20b", 24, "Q4_K_M"),
    ],
)
def test_names_of_the_library(name: str, layers: int, kind: str) -> None:
    found = library_model(name)
    assert found is not None
    assert (found.layers, found.quantization.gguf) == (layers, kind)


@pytest.mark.parametrize("name", ["llama3.1", "our-own:8b", "qwen3", "qwen3:latest"])
def test_other_names_are_not_known(name: str) -> None:
    assert library_model(name) is None


@pytest.mark.parametrize(
    ("text", "name", "size"),
    [
        # https://github.com/ollama/ollama/issues/8361: 8,192 tokens in all; its weights stayed on the processor
        ("FROM llama3.1:8b\nPARAMETER num_ctx 8192\n", "kv cache", 1024.0),
        # the log of the same model with 33 layers on the GPU: 4403.49 MiB
        ("FROM llama3.1:8b\nPARAMETER num_ctx 8192\n", "weights", 4403.49),
        # https://github.com/ollama/ollama/issues/7408: 16,384 tokens in all
        ("FROM qwen2.5:72b\nPARAMETER num_ctx 16384\n", "kv cache", 5120.0),
        # https://github.com/ollama/ollama/issues/9181: a 70B with num_ctx 64000, memory.required.kv 19.5 GiB
        ("FROM llama3.3:70b\nPARAMETER num_ctx 64000\n", "kv cache", 19.5 * 1024),
    ],
)
def test_published_sizes(text: str, name: str, size: float) -> None:
    low, _, high = mib(plan(text), name)
    assert low <= size * 1.005
    assert size <= high * 1.005


def test_verdicts() -> None:
    assert plan("FROM llama3.1:8b\nPARAMETER num_ctx 8192\n").verdict == FITS
    assert plan("FROM llama3.3:70b\nPARAMETER num_ctx 8192\n").verdict == TIGHT
    unknown = plan("FROM llama3.1:8b\n", "no-such-gpu", "0.15.5")
    assert unknown.verdict == UNKNOWN
    assert "the context: neither num_ctx nor OLLAMA_CONTEXT_LENGTH is given" in unknown.missing


@together(
    "release, gpu, tokens",
    [
        ("0.6.6", "rtx-4090", 2048),
        ("0.6.7", "rtx-4090", 4096),
        ("0.15.4", "h100", 4096),
        ("0.15.5", "rtx-4090", 32768),
        ("0.15.5", "h100", 131072),  # the tier says 262,144 tokens, and the model has half of them
        ("0.15.5", "rtx-4060", 4096),
    ],
)
def test_the_default_of_the_context(release: str, gpu: str, tokens: int) -> None:
    """server/routes.go of v0.15.5, and envconfig/config.go of the others."""
    assert plan("FROM llama3.1:8b\n", gpu, release).max_model_len == tokens


@together(
    "release, text, slots, kv",
    [
        ("0.1.48", "FROM llama3.1:8b\nPARAMETER num_ctx 8192\n", 1, (1024, 1024)),
        ("0.2.0", "FROM llama3.1:8b\nPARAMETER num_ctx 8192\n", 4, (4096, 4096)),
        ("0.6.7", "FROM llama3.1:8b\nPARAMETER num_ctx 8192\n", 2, (2048, 2048)),
        ("0.10.0", "FROM llama3.1:8b\nPARAMETER num_ctx 8192\n", 1, (1024, 1024)),
        # four requests of this length find no room, and one may
        ("0.5.12", "FROM llama3.1:8b\nPARAMETER num_ctx 65536\n", 1, (8192, 32768)),
        # https://github.com/ollama/ollama/issues/9362: 8,192 cells of 28 layers with 256 + 256 elements
        ("0.5.12", "FROM deepseek-r1:1.5b\nPARAMETER num_ctx 2048\n", 4, (224, 224)),
    ],
)
def test_parallel_requests_that_nobody_gave(release: str, text: str, slots: int, kv: tuple[int, int]) -> None:
    """defaultParallel in server/sched.go."""
    found = plan(text, release=release)
    low, _, high = mib(found, "kv cache")
    assert (found.sequences, round(low), round(high)) == (slots, *kv)


@together(
    "text, gpu, gpus, release",
    [
        # https://github.com/ollama/ollama/issues/5913: an allocation failed
        ("FROM llama3:70b\nPARAMETER num_ctx 2048\n", "rx-7900-xtx", 1, "0.2.8"),
        # https://github.com/ollama/ollama/issues/8597: 45,108 MiB found no room
        ("FROM deepseek-r1:671b\n", "l40s", 4, "0.5.7"),
        # https://github.com/ollama/ollama/issues/8447: 385 GiB of weights
        ("FROM deepseek-v3:671b\nPARAMETER num_ctx 2048\n", "rtx-4090", 1, "0.5.6"),
    ],
)
def test_what_failed_does_not_fit(text: str, gpu: str, gpus: int, release: str) -> None:
    assert plan(text, gpu, release, gpus).verdict != FITS


def test_a_model_on_two_gpus() -> None:
    """https://github.com/stackblitz-labs/bolt.diy/issues/313: all on two RTX 3090, as four requests of 13,108 tokens."""
    found = plan("FROM qwen2.5-coder:32b\nPARAMETER num_ctx 13108\n", "rtx-3090", "0.4.1", 2)
    assert (found.verdict, found.sequences) == (FITS, 4)


def test_a_server_alone_says_no_model() -> None:
    found = servelint.plan_memory("ollama", [], version="0.12.3", gpu="rtx-4090", env={"OLLAMA_NUM_PARALLEL": "4"})
    assert found.missing == ["the model: Ollama loads what its clients ask for"]


def test_each_parallel_request_has_a_context_of_its_own() -> None:
    env = {"OLLAMA_NUM_PARALLEL": "4", "OLLAMA_CONTEXT_LENGTH": "8192"}
    found = servelint.plan_memory("ollama", ["llama3.1:8b"], version="0.12.3", gpu="h100", env=env)
    assert (found.kv_tokens, found.max_model_len, found.sequences) == (32768, 8192, 4)
    assert mib(found, "kv cache")[1] == 4096.0
    env |= {"OLLAMA_KV_CACHE_TYPE": "q8_0", "OLLAMA_FLASH_ATTENTION": "1"}
    found = servelint.plan_memory("ollama", ["llama3.1:8b"], version="0.12.3", gpu="h100", env=env)
    assert mib(found, "kv cache")[1] == 4096.0 * 34 / 64
    found = servelint.plan_memory(
        "ollama", ["llama3.1:8b"], version="0.12.3", gpu="h100", env=env | {"OLLAMA_FLASH_ATTENTION": "0"}
    )
    assert mib(found, "kv cache")[1] == 4096.0
