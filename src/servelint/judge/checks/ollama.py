"""Checks of Ollama: variables that recipes set and no release reads."""

from __future__ import annotations

import re

from servelint.engines.config import Config
from servelint.judge.checks import containers

_INSTEAD = {
    "Ollama uses the GPUs that CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES leaves it": (
        "GPU USE_GPU FORCE_GPU GPU_ENABLED DEVICE ENABLE_GPU GPU_COUNT"
    ),
    "CUDA_VISIBLE_DEVICES=-1, or ROCR_VISIBLE_DEVICES=-1, leaves it no GPU": "USE_CPU CPU_ONLY NO_GPU FORCE_CPU DISABLE_GPU",
    "Ollama takes what a model needs; OLLAMA_GPU_OVERHEAD leaves bytes of each GPU alone": (
        "GPU_MEMORY GPU_MEMORY_FRACTION MAX_MEMORY MEMORY_LIMIT VRAM"
    ),
    "the variable is CUDA_VISIBLE_DEVICES": "CUDA_VISIBLE_DEVICES",
    "the variable is OLLAMA_ORIGINS": "ORIGIN ALLOW_ORIGINS",
    "the variable is OLLAMA_MODELS": "MODEL_PATH MODELS_PATH MODELS_DIR MODEL_DIR",
    "the variable is OLLAMA_KV_CACHE_TYPE": "CACHE_TYPE KV_CACHE",
    "the variable is OLLAMA_CONTEXT_LENGTH": "CTX_SIZE MAX_CONTEXT CONTEXT_SIZE",
    "the variable is OLLAMA_FLASH_ATTENTION": "FLASH_ATTN",
    "the variable is OLLAMA_NUM_PARALLEL": "PARALLEL MAX_PARALLEL",
    "the variable is OLLAMA_MAX_LOADED_MODELS": "MAX_MODELS",
    "the variable is OLLAMA_KEEP_ALIVE": "KEEPALIVE",
    "the parameter num_gpu of a Modelfile or a request says how many layers are on the GPU": (
        "GPU_LAYER NUM_GPU_LAYERS N_GPU_LAYERS"
    ),
    "the parameter num_thread of a Modelfile or a request has this effect": "THREADS",
    "the parameter num_batch of a Modelfile or a request has this effect": "NUM_BATCH BATCH_SIZE",
}
"""What has the effect -> the variables that no release reads, without OLLAMA_."""
_NO_VARIABLES = {f"OLLAMA_{name}": instead for instead, names in _INSTEAD.items() for name in names.split()}


def no_variable(config: Config) -> dict[str, str] | None:
    """A variable that no release of Ollama reads, and what has its effect."""
    if containers.own_variables(config) is None:
        return None
    found = next((name for name in _NO_VARIABLES if config.operand("env." + name).present), None)
    return {"name": found, "instead": _NO_VARIABLES[found]} if found is not None else None


_HOME = "/home/ubuntu/.ollama"
"""Where user 1000 of the image keeps models: the user `ubuntu` of its base, ubuntu:24.04."""


def home_of_user(config: Config) -> dict[str, str] | None:
    """A volume for the models of another user than user 1000 of the container.

    Source: HOME is that of the user in /etc/passwd of the image; Models in envconfig/config.go of Ollama.
    """
    container = config.launch.container
    mounts = container.runtime.mounts if container is not None and container.runtime is not None else None
    user = str(config.operand("container.user").value or "").partition(":")[0]
    if mounts is None or config.launch.open_env or user not in ("1000", "ubuntu"):
        return None
    paths = [one.flat.rstrip("/") if one.known else None for one in mounts]
    if None in paths or any(path is not None and (_HOME + "/").startswith(path + "/") for path in paths):
        return None
    found = next((path for path in paths if path in ("/.ollama", "/root/.ollama")), None)
    return {"path": found, "home": _HOME} if found is not None else None


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


def hidden_gpus(config: Config) -> dict[str, str] | None:
    """Hold outside of a container for a list of CUDA's GPUs that leaves out the first one, or all."""
    written = config.operand("env.CUDA_VISIBLE_DEVICES").value
    listed = [one.strip() for one in str(written).split(",")] if written is not None else []
    numbers = all(re.fullmatch(r"-1|[1-9]\d?", one) for one in listed)
    return containers.outside(config) if listed and numbers else None
