"""Ollama's memory plan: it runs llama.cpp's buffers (servelint.memory.llamacpp) with a context for each parallel request.

A server loads what its clients ask for, so that only a Modelfile says which model runs. Ollama keeps in main memory the layers
that find no room: nothing is refused, and "fits" means that all layers are on the GPU. Source: envconfig/config.go,
server/sched.go, server/routes.go and llm/server.go of the releases in CHANGES.
"""

from __future__ import annotations

import re
from dataclasses import replace

from servelint.core.numbers import is_whole
from servelint.memory import llamacpp
from servelint.memory.plan import FITS, Interval, MemoryPlan
from servelint.memory.vllm.settings import CudaGpu
from servelint.models import architecture
from servelint.models.architecture import Format, Quantization
from servelint.models.quantization import GGUF_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config
    from servelint.models.architecture import Architecture

CHANGES = ("0.2.0", "0.5.0", "0.5.13", "0.6.7", "0.9.3", "0.10.0", "0.15.5")
"""Releases that changed the arithmetic: the default of the context (0.5.13, 0.6.7, 0.15.5) and of the parallel requests
(0.2.0, 0.6.7, 0.10.0), the types of the cache (0.5.0), and that a context is cut to the model's own (0.9.3)."""
_TIERS = ((47, 262144), (23, 32768), (0, 4096))
"""GiB of all GPUs -> the context where no setting gives one, from 0.15.5 on."""
_DISTILLED = {**dict.fromkeys(("1.5b", "7b", "14b", "32b"), "qwen"), "70b": "llama"}
"""Sizes of deepseek-r1 that are distilled models -> what they are distilled into. Its 8b was first a Llama, then a Qwen3."""
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
    gpus = count if isinstance(count, int) and count > 0 else config.launch.gpu_count or 1
    model = library_model(name)
    context = _context(config, found, gpus)
    if config.at_least("0.9.3") is True and model is not None and model.context is not None and context is not None:
        context = min(context, model.context)
    given_flash = config.operand("env.OLLAMA_FLASH_ATTENTION")
    flash = given_flash.value in ("1", "true", "True", True) if given_flash.present is True else None
    cache = str(config.operand("env.OLLAMA_KV_CACHE_TYPE").value or "f16").lower()
    if cache not in llamacpp.BYTES:
        found.missing.append(f"the cache type {cache}")
        cache = "f16"
    if flash is False:
        cache = "f16"  # a quantized cache needs Flash Attention, and is ignored without it
    settings = llamacpp.Settings(
        context=context, layers=_number(config, found, "PARAMETER num_gpu"), keys=cache, values=cache, flash=flash,
        batch=_number(config, found, "PARAMETER num_batch") or 512, adapts=True, windows=None, last_rows=True, encoder=True,
        reserved=False,
    )  # fmt: skip
    plans: list[MemoryPlan] = []
    for slots in _slots(config, found):
        one = MemoryPlan("ollama", config.release, name, config.gpu_name, 1, missing=list(found.missing))
        shared = replace(settings, context=(context or 0) * slots or None, slots=slots)
        plans.append(llamacpp.planned(config, one, shared, name, gpus, model))
    return plans[0] if plans[0].verdict == FITS else _widened(plans[-1], plans[0])


def _slots(config: Config, found: MemoryPlan) -> tuple[int, ...]:
    """How many requests run at once: as given, or the numbers that Ollama tries in this order until all layers fit."""
    given = _number(config, found, "OLLAMA_NUM_PARALLEL")
    if given:
        return (given,)
    if config.at_least("0.10.0") is not False or config.at_least("0.2.0") is False:
        return (1,)
    return (2 if config.at_least("0.6.7") is True else 4, 1)


def _widened(found: MemoryPlan, most: MemoryPlan) -> MemoryPlan:
    """A plan whose KV cache may be as large as that of another plan, `most`: which one Ollama takes is not known."""
    for part, other in zip(found.parts, most.parts, strict=True):
        if part.name == "kv cache":
            part.gib = Interval(part.gib.low, part.gib.mid, other.gib.high)
            found.kv_gib = part.gib
    return found


def _context(config: Config, found: MemoryPlan, gpus: int) -> int | None:
    """Tokens of the context of one request: as given, or the default of the release; None if it is not known."""
    given = _number(config, found, "PARAMETER num_ctx")
    if not given and config.at_least("0.5.13") is not False:
        given = _number(config, found, "OLLAMA_CONTEXT_LENGTH")
    if given:
        return given
    if config.at_least("0.15.5") is False:
        return 4096 if config.at_least("0.6.7") is True else 2048
    gib = CudaGpu(config).gib
    if config.at_least("0.15.5") is None or gib is None:
        found.missing.append("the context: neither num_ctx nor OLLAMA_CONTEXT_LENGTH is given")
        return None
    return next(context for least, context in _TIERS if gib * gpus >= least)


def _number(config: Config, found: MemoryPlan, name: str) -> int | None:
    """A number of a variable or a parameter; None where it is not given, or not known, which is noted in `missing`."""
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
    family, size, rest = match.group("family", "size", "rest")
    kind = _KIND.search(rest)
    file_type = _USUAL
    if kind is not None:
        file_type, rest = kind.group(1).upper().replace("FP16", "F16"), rest[: kind.start()]
    if family.startswith(("llama", "gemma")):
        family = re.sub(r"(?<=[a-z])(?=\d)", "-", family)  # llama3.1 is llama-3.1 elsewhere
    if family == "deepseek-r1" and size.lower() in _DISTILLED:
        family = f"deepseek-r1-distill-{_DISTILLED[size.lower()]}"
    for spelling in (family, "meta-" + family):
        found = architecture.find(f"{spelling}-{size}{rest}") or architecture.find(f"{spelling}-{size}")
        if found is not None:
            bits = GGUF_BITS.get(file_type, 0)
            quantization = Quantization("gguf", (Format("gguf", bits),), gguf=file_type if bits else None)
            return replace(found, name=name, quantization=quantization, checkpoint=None)
    return None
