"""Ollama's memory plan, by Modelfiles and names of its library."""

from __future__ import annotations

import pytest

import servelint
from servelint.engines.config import configs
from servelint.memory import is_planned, plan_of
from servelint.memory.ollama import library_model
from servelint.memory.plan import FITS, TIGHT, UNKNOWN, MemoryPlan


def plan(text: str, gpu: str = "rtx-4090", release: str = "0.12.3") -> MemoryPlan:
    (launch,) = [one for one in servelint.find_launches(text, "Modelfile") if is_planned(one)]
    launch.gpu = gpu
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
    unknown = plan("FROM llama3.1:8b\n")
    assert unknown.verdict == UNKNOWN
    assert unknown.missing == ["the context: neither num_ctx nor OLLAMA_CONTEXT_LENGTH is given"]


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
