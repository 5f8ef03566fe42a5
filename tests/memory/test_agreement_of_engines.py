"""`check`, `memory`, the editor and `upgrade` of the engines whose plans are newer: one answer."""

from __future__ import annotations

from servelint.core.settings import Settings
from servelint.core.source import Source
from tests.agreement import disagreements, launches
from tests.together import together


@together(
    "text, pinned",
    [
        ("llama-server -m /m/Qwen3-32B-Q8_0.gguf -ngl 99 -c 8192", "llama.cpp=b6500"),
        ("llama-server -m /m/Qwen3-32B-Q8_0.gguf -ngl 99 -c 8192", ""),
        ("llama-server -m /m/Qwen3-32B-Q8_0.gguf -c 8192", "llama.cpp=b9310"),
        ("llama-server -m /m/Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 8192", "llama.cpp=b6500"),
        ("llama-server -m /m/Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 8192 -ctv q8_0 -fa off", "llama.cpp=b6500"),
        ("llama-server -m /m/Qwen3-8B-Q4_K_M.gguf -ngl 99 -c 8192 --no-such-option", "llama.cpp=b6500"),
        ("llama-server -m /m/Qwen3-32B-Q8_0.gguf -ngl $N -c 8192", "llama.cpp=b6500"),
        ("llama-server -m /m/Qwen3-32B-Q8_0.gguf -ngl 99 -c 8192 $MORE", "llama.cpp=b6500"),
        ("GGML_CUDA_ENABLE_UNIFIED_MEMORY=1 llama-server -m /m/Qwen3-32B-Q8_0.gguf -ngl 99 -c 8192", "llama.cpp=b6500"),
        ("trtllm-serve Qwen/Qwen3-32B", "trtllm=1.1.0"),
        ("trtllm-serve Qwen/Qwen3-8B", "trtllm=1.1.0"),
        ("trtllm-serve Qwen/Qwen3-32B --tp_size $TP", "trtllm=1.1.0"),
        ("trtllm-serve Qwen/Qwen3-32B", ""),
        ("ollama serve", "ollama=0.12.3"),
    ],
)
def test_one_answer(text: str, pinned: str) -> None:
    engine, _, release = pinned.partition("=")
    settings = Settings(gpu="rtx-4090", gpu_count=1, engine_versions={engine: release} if engine else {})
    found = launches(Source("run.sh", text + "\n"), settings)
    assert found
    for launch in found:
        assert disagreements(launch, settings) == []
