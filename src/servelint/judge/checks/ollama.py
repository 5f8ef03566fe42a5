"""Checks of Ollama: variables that recipes set and no release reads."""

from __future__ import annotations

from servelint.engines.config import Config
from servelint.judge.checks import containers

_GPUS = "Ollama uses the GPUs that CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES leaves it"
_MEMORY = "Ollama takes what a model needs; OLLAMA_GPU_OVERHEAD leaves bytes of each GPU alone"
_LAYERS = "the parameter num_gpu of a Modelfile or a request says how many layers are on the GPU"
_THREADS = "the parameter num_thread of a Modelfile or a request has this effect"
_BATCH = "the parameter num_batch of a Modelfile or a request has this effect"
_NO_VARIABLES = {
    "OLLAMA_GPU": _GPUS,
    "OLLAMA_USE_GPU": _GPUS,
    "OLLAMA_FORCE_GPU": _GPUS,
    "OLLAMA_GPU_ENABLED": _GPUS,
    "OLLAMA_DEVICE": _GPUS,
    "OLLAMA_ENABLE_GPU": _GPUS,
    "OLLAMA_GPU_MEMORY": _MEMORY,
    "OLLAMA_GPU_MEMORY_FRACTION": _MEMORY,
    "OLLAMA_MAX_MEMORY": _MEMORY,
    "OLLAMA_MEMORY_LIMIT": _MEMORY,
    "OLLAMA_CUDA_VISIBLE_DEVICES": "the variable is CUDA_VISIBLE_DEVICES",
    "OLLAMA_ORIGIN": "the variable is OLLAMA_ORIGINS",
    "OLLAMA_MODEL_PATH": "the variable is OLLAMA_MODELS",
    "OLLAMA_MODELS_PATH": "the variable is OLLAMA_MODELS",
    "OLLAMA_MODELS_DIR": "the variable is OLLAMA_MODELS",
    "OLLAMA_CACHE_TYPE": "the variable is OLLAMA_KV_CACHE_TYPE",
    "OLLAMA_CTX_SIZE": "the variable is OLLAMA_CONTEXT_LENGTH",
    "OLLAMA_MAX_CONTEXT": "the variable is OLLAMA_CONTEXT_LENGTH",
    "OLLAMA_CONTEXT_SIZE": "the variable is OLLAMA_CONTEXT_LENGTH",
    "OLLAMA_FLASH_ATTN": "the variable is OLLAMA_FLASH_ATTENTION",
    "OLLAMA_GPU_LAYERS": _LAYERS,
    "OLLAMA_GPU_LAYER": _LAYERS,
    "OLLAMA_NUM_GPU_LAYERS": _LAYERS,
    "OLLAMA_N_GPU_LAYERS": _LAYERS,
    "OLLAMA_NUM_THREADS": _THREADS,
    "OLLAMA_NUM_THREAD": _THREADS,
    "OLLAMA_THREADS": _THREADS,
    "OLLAMA_NUM_BATCH": _BATCH,
    "OLLAMA_BATCH_SIZE": _BATCH,
    "OLLAMA_GPU_COUNT": _GPUS,
    "OLLAMA_VRAM": _MEMORY,
    "OLLAMA_KV_CACHE": "the variable is OLLAMA_KV_CACHE_TYPE",
    "OLLAMA_PARALLEL": "the variable is OLLAMA_NUM_PARALLEL",
    "OLLAMA_MAX_PARALLEL": "the variable is OLLAMA_NUM_PARALLEL",
    "OLLAMA_MAX_MODELS": "the variable is OLLAMA_MAX_LOADED_MODELS",
    "OLLAMA_MODEL_DIR": "the variable is OLLAMA_MODELS",
    "OLLAMA_ALLOW_ORIGINS": "the variable is OLLAMA_ORIGINS",
    "OLLAMA_KEEPALIVE": "the variable is OLLAMA_KEEP_ALIVE",
    "OLLAMA_LOG_LEVEL": "the variable is OLLAMA_DEBUG",
}


def no_variable(config: Config) -> dict[str, str] | None:
    """A variable that no release of Ollama reads, and what has its effect."""
    if containers.own_variables(config) is None:
        return None
    found = next((name for name in _NO_VARIABLES if config.operand("env." + name).present), None)
    return {"name": found, "instead": _NO_VARIABLES[found]} if found is not None else None


_SCHEMAS = ("http://", "https://", "chrome-extension://", "safari-extension://", "moz-extension://", "ms-browser-extension://")


def refused_origin(config: Config) -> dict[str, str] | None:
    """An origin for which the server panics, and why.

    Source: Validate and parseWildcardRules in cors.go of gin-contrib/cors 1.7.2, which Ollama has from 0.1.40 to 0.32.15.
    """
    written = config.operand("env.OLLAMA_ORIGINS").value
    if not isinstance(written, str):
        return None
    listed = written.strip().strip("\"'")
    for origin in listed.split(",") if listed else []:
        if origin.count("*") > 1:
            return {"origin": origin, "refused": "has more than one *"}
        if "*" not in origin and not origin.startswith(_SCHEMAS):
            kind = "begins with a blank" if origin != origin.lstrip() else "has neither a * nor http:// or https:// in front"
            return {"origin": f'"{origin}"' if origin != origin.strip() or not origin else origin, "refused": kind}
    return None
