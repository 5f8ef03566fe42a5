"""Engines: which words start them, what their images hold, what their options mean in each release."""

from __future__ import annotations

ENGINE_NAMES = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "llama.cpp": "llama.cpp",
    "trtllm": "TensorRT-LLM",
    "lmdeploy": "LMDeploy",
    "tgi": "TGI",
}
"""Engine ids and how people write them."""
