"""Ollama's memory plan: it runs llama.cpp's buffers (servelint.memory.llamacpp) with a context for each parallel request.

A server loads what its clients ask for, so that only a Modelfile says which model runs. Ollama keeps in main memory the layers
that find no room: nothing is refused, and "fits" means that all layers are on the GPU. Source: envconfig/config.go and
llm/server.go of ollama 0.12.3.
"""

from __future__ import annotations

import re
from dataclasses import replace

from servelint.core.numbers import is_whole
from servelint.memory import llamacpp
from servelint.memory.plan import MemoryPlan
from servelint.models import architecture
from servelint.models.architecture import Format, Quantization
from servelint.models.quantization import GGUF_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config
    from servelint.models.architecture import Architecture

CHANGES = ("0.5.0",)
"""Releases that changed the arithmetic: before, the cache has one type."""
_NAME = re.compile(
    r"(?:[\w.-]+/)*(?P<family>[a-z0-9.-]+):(?P<size>e?\d+(?:\.\d+)?[bm](?:-a\d+b)?)(?P<rest>(?:-[\w.]+)*)$", re.IGNORECASE
)
_KIND = re.compile(r"-(q\d(?:_k)?(?:_[sml0-1])?|fp16|bf16)$", re.IGNORECASE)
_USUAL = "Q4_K_M"
"""The file type of a tag that names none: most models of the library."""


def plan(config: Config) -> MemoryPlan:
    """Plan the model of a Modelfile. What is not known stands in `missing`, and the verdict is then "unknown"."""
    words = [word.text.value for word in config.launch.argv]
    name = words[-1] if words and words[-1] is not None else None
    found = MemoryPlan("ollama", config.release, name, config.gpu_name, 1)
    if name is None:
        found.missing.append("the model: Ollama loads what its clients ask for")
        return found
    count = config.operand("gpu.count").value
    slots = _number(config, found, "OLLAMA_NUM_PARALLEL") or 1
    context = _number(config, found, "PARAMETER num_ctx") or _number(config, found, "OLLAMA_CONTEXT_LENGTH")
    if context is None:
        found.missing.append("the context: neither num_ctx nor OLLAMA_CONTEXT_LENGTH is given")
    flash = config.operand("env.OLLAMA_FLASH_ATTENTION")
    kind = str(config.operand("env.OLLAMA_KV_CACHE_TYPE").value or "f16").lower()
    if kind not in llamacpp.BYTES:
        found.missing.append(f"the cache type {kind}")
        kind = "f16"
    on = flash.value in ("1", "true", "True", True) if flash.present is True else None
    if on is False:
        kind = "f16"  # a quantized cache needs Flash Attention, and is ignored without it
    layers = _number(config, found, "PARAMETER num_gpu")
    settings = llamacpp.Settings(
        context=(context or 0) * slots or None, slots=slots, layers=layers, keys=kind, values=kind, flash=on,
        batch=_number(config, found, "PARAMETER num_batch") or 512, adapts=True, windows=None, last_rows=True, encoder=True,
        reserved=False,
    )  # fmt: skip
    gpus = count if isinstance(count, int) and count > 0 else config.launch.gpu_count or 1
    return llamacpp.planned(config, found, settings, name, gpus, library_model(name))


def _number(config: Config, found: MemoryPlan, name: str) -> int | None:
    """A number of a variable or a parameter; None where it is not given."""
    operand = config.operand("env." + name)
    text = operand.value if isinstance(operand.value, str) else None
    if operand.present is True and text is not None and is_whole(text):
        return int(text)
    if operand.present is True:
        found.missing.append(name)
    return None


def library_model(name: str) -> Architecture | None:
    """The model of a name in Ollama's library, such as llama3.1:8b-instruct-q8_0; None if it is not known."""
    match = _NAME.match(name)
    if match is None:
        return None
    kind = _KIND.search(match.group("rest"))
    spelled = kind.group(1).upper().replace("FP16", "F16") if kind is not None else _USUAL
    rest = match.group("rest")[: kind.start()] if kind is not None else match.group("rest")
    family = (
        re.sub(r"(?<=[a-z])(?=\d)", "-", match.group("family"))
        if match.group("family").startswith(("llama", "gemma"))
        else match.group("family")
    )
    for spelling in (family, "meta-" + family):
        found = architecture.find(f"{spelling}-{match.group('size')}{rest}") or architecture.find(
            f"{spelling}-{match.group('size')}"
        )
        if found is not None:
            bits = GGUF_BITS.get(spelled, 0)
            return replace(
                found,
                name=name,
                quantization=Quantization("gguf", (Format("gguf", bits),), gguf=spelled if bits else None),
                checkpoint=None,
            )
    return None
