"""llama.cpp's memory plan, for builds from b4435 on: weights, KV cache and compute buffers, which it allocates when it starts.

It reserves no share of the GPU: each buffer is as large as the model, the context and the batch make it, and a start ends at
the first one for which there is no room. Sources (build b11434 where none is named): src/llama-kv-cache.cpp and
src/llama-kv-cache-iswa.cpp for the cache, src/llama-memory-recurrent.cpp for states, src/llama-model.cpp (load_tensors) for the
layers of each device, common/common.h for defaults. The compute buffer follows no formula there: see `_Here.compute`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import ceil

from servelint.core.numbers import is_whole
from servelint.memory.plan import FITS, GIB, REFUSED, TIGHT, Interval, MemoryPlan, Part
from servelint.memory.vllm import fitted
from servelint.memory.vllm.settings import CudaGpu
from servelint.models import architecture, folder
from servelint.models.architecture import Format, Quantization
from servelint.models.quantization import GGUF_BITS, gguf_bits
from servelint.models.weights import round_up, weigh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config
    from servelint.models.architecture import Architecture, Attention, Mla

CHANGES = ("b4435", "b5415", "b5590", "b6122", "b6301", "b6431", "b7079", "b7347", "b7698", "b8095", "b9464", "b10001")
"""Builds that changed the memory arithmetic, or between which a default changed. The arithmetic before is not known."""

BYTES = {
    "f32": 4.0, "f16": 2.0, "bf16": 2.0, "q8_0": 34 / 32, "q5_1": 24 / 32, "q5_0": 22 / 32, "q4_1": 20 / 32, "q4_0": 18 / 32,
    "iq4_nl": 18 / 32,
}  # fmt: skip
"""Type of a KV cache -> bytes of an element: ggml/src/ggml-common.h, blocks of 32."""
_OLD_CONTEXT = 4096
"""The default of --ctx-size before it became the model's own."""
_LATENT = (("b5415", "b7698"), "b8095")
"""Builds that certainly keep the latents as keys and as values (llama.cpp pull request 12801, April 2025), and
the first that certainly keeps the keys alone (pull request 19067, January 2026)."""
_LATENT_MODELS = frozenset(("deepseek_v2", "deepseek_v3", "kimi_k2", "glm4_moe_lite"))
"""Types of models that become its deepseek2, which keeps latents. That of others is not known."""
_BEFORE_LATENT = re.compile(r"(?i)deepseek-?(?:v2|v3|r1|coder-v2|prover-v2|vl2)|moonlight|\bdeepseek-?2", re.ASCII)
"""Models whose files may be older than the latent cache: those have a key and a value for each head."""
_CERTAINLY_LATENT = re.compile(r"(?i)r1-?0528|v3[._-]?1|terminus|v3[._-]2", re.ASCII)
_PAD = 256
_ON_PROCESSOR = r"/llama\.cpp:(?:server|full)(?:-b\d+)?$"
"""Images of its developers without a GPU in their tags."""
_OF_OTHERS = {"nvidia": r"(?i)rocm|gfx\d|musa|sycl|-intel|cann", "amd": r"(?i)cuda|musa|-intel|cann"}
"""Vendor of a GPU -> pattern of devices and images that are for others."""
_AUTO_SLOTS = 4
"""Slots of a server that is given no --parallel (tools/server/server.cpp, from b7079)."""
_OTHER_PLACES = ("override-tensor", "cpu-moe", "n-cpu-moe")
"""Options that keep some tensors in main memory."""
_LIBRARIES = Interval(0.0, 0.1, 0.5)
"""GiB of cuBLAS workspaces and of buffers that kernels take while they run. Fitted: "unaccounted" of its own breakdown of the
memory is 0.2 to 0.9 with CUDA's context."""
_ENCODER = Interval(0.3, 1.1, 3.5)
"""GiB of an image encoder and its compute buffer. Fitted on two logs: 1.11 (Ollama issue 17482), 1.8 (Ollama issue 8430)."""
_MTP = Interval(0.0, 0.6, 2.5)
"""GiB of the context of multi-token prediction: 0.57 in Ollama issue 17482."""
_ROOM = 0.3
"""GiB that must certainly be left for a start to count as certain."""


@dataclass(slots=True)
class Settings:
    """What decides about the memory of a launch. The plan of Ollama, which runs llama.cpp, makes one of its variables.

    Attributes:
        context: tokens of all slots, None for the model's own.
        slots: sequences that are served at once.
        unified: the slots share one cache.
        layers: layers on the GPU, None for all.
        keys, values: the types of the cache.
        flash: Flash Attention is on, None where that is not known.
        batch: tokens that are computed at once (--ubatch-size).
        adapts: the engine keeps in main memory what finds no room.
        shortens: it lowers the context first.
        more: the container gets all GPUs of its host, and how many there are is not known.
        spills: CUDA moves what finds no room to main memory itself.
        cache_here: the cache is on the GPU.
        elsewhere: some tensors may stay in main memory.
        experts_away: first layers whose experts stay there, None where other tensors may as well or it is not known.
        experts_gib: GiB of the experts of one layer.
        fullest: the largest share of the layers that a GPU has, 0 where all have the same.
        windows: layers with a window keep only that, None where that is not known.
        last_rows: logits are computed for the last tokens of a batch alone, or may be.
        reserved: the buffer that converts a quantized cache is part of the compute buffer.
        encoder: an image encoder is loaded where the model has one.
        draft: the draft model as the launch names it.
        draft_layers: layers of the draft on the GPU, None where that is not known.
        mtp: the model drafts with its own layers.
        adapters: LoRA adapters are loaded.
        latent_values: the cache of latent attention has values beside the keys, None where that is not known.
        per_head: it may have keys and values of each head, which it has in files that were converted before April 2025.
    """

    context: int | None = None
    slots: int = 1
    unified: bool = False
    layers: int | None = None
    keys: str = "f16"
    values: str = "f16"
    flash: bool | None = True
    batch: int = 512
    adapts: bool = False
    shortens: bool = False
    more: bool = False
    spills: bool = False
    cache_here: bool = True
    elsewhere: bool = False
    experts_away: int | None = None
    experts_gib: float = 0.0
    fullest: float = 0.0
    windows: bool | None = True
    last_rows: bool = False
    reserved: bool = True
    encoder: bool = False
    draft: str | None = None
    draft_layers: int | None = None
    mtp: bool = False
    adapters: bool = False
    latent_values: bool | None = None
    per_head: bool = True


def plan(config: Config) -> MemoryPlan:
    """Plan a launch under one build. What is not known stands in `missing`, and the verdict is then "unknown"."""
    name = _named(config)
    found = MemoryPlan("llama.cpp", config.release, name, config.gpu_name, 1)
    if config.at_least(CHANGES[0]) is not True:
        found.missing.append(f"the arithmetic of builds before {CHANGES[0]}")
        return found
    settings = _settings(config, found)
    count = _gpus(config, found)
    settings.fullest = (_fullest(config, count) or 0.0) if count > 1 else 0.0
    if not config.reading.arguments.complete:
        found.missing.append("the effect of unknown words")
    image = config.launch.image
    if image is not None and image.value is not None and re.search(_ON_PROCESSOR, image.value):
        found.missing.append(f"a GPU that {image.value} would use: it is built for the processor")
    built = f"{_text(config, 'device') or ''} {image.value if image is not None and image.value is not None else ''}"
    vendor = _text(config, "gpu.vendor")
    if re.search(_OF_OTHERS.get(vendor or "", "$^"), built) is not None:
        found.missing.append(f"the GPU: {config.gpu_name} is not one that {built.strip()} runs on")
    return planned(config, found, settings, name, count)


def planned(
    config: Config, found: MemoryPlan, settings: Settings, name: str | None, count: int, known: Architecture | None = None
) -> MemoryPlan:
    """Fill in a plan of llama.cpp's buffers on the fullest of `count` GPUs.

    `known` is the model, where its name is not one that the files of llama.cpp have.
    """
    gpu = CudaGpu(config)
    found.gpu_count, found.gpu_gib = count, gpu.gib
    if gpu.gib is None:
        found.missing.append("the GPU's memory" if gpu.name else "the GPU")
    model = known or folder.model_of(config.launch, name)
    if model is None:
        found.missing.append(f"the architecture of {name}" if name else "the model")
        return found
    reason = _unsupported(model, name)
    if reason is not None:
        found.missing.append(reason)
        return found
    length = settings.context or model.context
    if length is None:
        found.missing.append("the model's context length")
        return found
    shares = _weights(model)
    if shares is None:
        found.missing.append(f"the quantization of {name}")
        return found
    layers = model.layers if settings.layers is None else min(settings.layers, model.layers)
    if model.experts is not None:
        settings.experts_gib = shares[0].mid * shares[2] / model.experts.layers
    most = -(-layers // count) if settings.fullest * count <= 1 else min(layers, ceil(settings.fullest * (layers + 1)))
    here = _Here(model, settings, layers, most, count)
    slot = length if settings.unified else length // settings.slots
    found.max_model_len, found.kv_tokens, found.sequences = slot, length, settings.slots
    found.max_concurrency = length / slot if slot else None
    cache = here.cache(length)
    found.kv_gib = cache
    found.need_gib = cache.mid * slot / length if length else None
    weights = here.weights(shares[0], shares[1])
    found.weights_gib = weights.mid
    parts = [Part("weights", weights, f"{model.sources[0] if model.sources else 'config.json'}; {_kind(model)}")]
    parts.append(Part("kv cache", cache, f"{length:,} tokens, keys {settings.keys}, values {settings.values}"))
    parts.append(Part("compute buffer", here.compute(length), f"batches of {settings.batch} tokens (--ubatch-size)"))
    parts += _beside(config, found, model, settings, length)
    parts.append(Part("context and libraries", _context(gpu) + _LIBRARIES, "fitted: CUDA's own, and cuBLAS"))
    found.parts = parts
    if gpu.gib is not None and not found.missing:
        _judge(found, settings, here, gpu.gib + gpu.spread, gpu.gib)
    return found


# -- settings


def _settings(config: Config, found: MemoryPlan) -> Settings:
    """The settings of a launch, as its build reads them."""
    one = Settings()
    asked = _whole(config, found, "ctx-size")
    one.context = asked or None
    fits = config.at_least("b7698") is True
    if asked is None and config.operand("ctx-size").present is False:
        if config.at_least("b7347") is not True or config.release == "b7347":
            one.context = _OLD_CONTEXT
        elif not fits:
            found.missing.append("--ctx-size, whose default changed between b7347 and b7698")
    auto = config.at_least("b7079") is True
    slots = _whole(config, found, "parallel")
    one.slots = slots if slots is not None and slots > 0 else _AUTO_SLOTS if auto else 1
    given = slots is not None and slots > 0
    one.unified = config.operand("kv-unified").value is True or config.at_least("b6122") is not True or (auto and not given)
    layers = _layers(config, found)
    one.layers = layers[0]
    one.adapts = fits and _text(config, "fit") not in ("off", "disabled", "false", "0") and not layers[1]
    one.shortens = fits and _text(config, "fit") not in ("off", "disabled", "false", "0") and asked is None
    one.spills = config.operand("env.GGML_CUDA_ENABLE_UNIFIED_MEMORY").present is not False
    container = config.launch.container
    every = container is not None and container.reserved is True and not container.visible_gpus
    one.more = every and config.operand("gpu.count").value is None
    one.keys, one.values = _dtype(config, found, "cache-type-k"), _dtype(config, found, "cache-type-v")
    one.flash = _flash(config)
    (first, last), without = _LATENT
    old = config.at_least(first) is True and (config.at_least(last) is not True or config.release == last)
    one.latent_values = True if old else False if config.at_least(without) is True else None
    name = _named(config) or ""
    dated = _BEFORE_LATENT.search(name) is not None and _CERTAINLY_LATENT.search(name) is None
    one.per_head = dated or config.at_least(first) is not True
    one.batch = _whole(config, found, "ubatch-size") or 512
    batch = _whole(config, found, "batch-size")
    one.batch = min(one.batch, batch) if batch else one.batch
    one.cache_here = config.operand("no-kv-offload").value is not True and config.operand("kv-offload").value is not False
    one.elsewhere = any(config.operand(option).present is not False for option in _OTHER_PLACES)
    if config.operand("override-tensor").present is False:
        one.experts_away = _EVERY if config.operand("cpu-moe").value is True else _counted(config, "n-cpu-moe")
    one.windows = False if config.at_least("b5415") is not True else True if config.at_least("b5590") else None
    if config.operand("swa-full").present is not False:
        one.windows = False if config.operand("swa-full").value is True else None
    one.last_rows = config.at_least("b7698") is True
    one.reserved = config.at_least("b9464") is True
    loads = config.operand("mmproj").present is not False or _text(config, "hf-repo") is not None
    one.encoder = loads and config.operand("mmproj-auto").value is not False and config.operand("no-mmproj").value is not True
    one.draft = next((text for text in [_text(config, name) for name in _DRAFTS] if text is not None), None)
    one.draft_layers = _draft_layers(config)
    one.mtp = "mtp" in (_text(config, "spec-type") or "")
    one.adapters = any(config.operand(name).present is not False for name in ("lora", "lora-scaled"))
    return one


_EVERY = 10**6


def _counted(config: Config, name: str) -> int | None:
    text = _text(config, name)
    return int(text) if text is not None and is_whole(text.strip()) else None


_DRAFTS = ("spec-draft-model", "model-draft", "spec-draft-hf", "hf-repo-draft")
_DRAFT_LAYERS = ("spec-draft-ngl", "gpu-layers-draft")


def _text(config: Config, name: str) -> str | None:
    """The value of an operand as a text, a number too; None for a flag."""
    value = config.operand(name).value
    return None if value is None or isinstance(value, bool) else str(value)


def _whole(config: Config, found: MemoryPlan, name: str) -> int | None:
    """A whole number as given; None where it is not given, and a remark in `missing` where it is not known."""
    operand = config.operand(name)
    text = _text(config, name)
    if operand.present is True and text is not None and is_whole(text.strip()):
        return int(text)
    if operand.present is not False:
        found.missing.append(f"--{name}")
    return None


def _layers(config: Config, found: MemoryPlan) -> tuple[int | None, bool]:
    """Layers on the GPU, None for all, and whether the launch says how many."""
    operand = config.operand("gpu-layers")
    if _text(config, "device") == "none":
        return 0, True
    if operand.present is False:
        if config.at_least("b6431") is True:
            return None, False
        if config.at_least("b6301") is True and config.release != "b6301":
            found.missing.append("--gpu-layers, whose default changed between b6301 and b6431")
        return 0, False
    text = _text(config, "gpu-layers")
    if text in ("auto", "-1"):
        return (None, False) if config.at_least("b6431") is True else (0, False)
    if text in ("all", "-2"):
        return None, True
    try:
        number = int(text or "")
    except ValueError:
        found.missing.append("--gpu-layers")
        return None, False
    return (number if number >= 0 else None), True


def _draft_layers(config: Config) -> int | None:
    text = next((text for text in [_text(config, name) for name in _DRAFT_LAYERS] if text is not None), "")
    return int(text) if text.isdecimal() else None


def _dtype(config: Config, found: MemoryPlan, name: str) -> str:
    operand = config.operand(name)
    if operand.present is False:
        return "f16"
    text = (_text(config, name) or "").lower()
    if text not in BYTES:
        found.missing.append(f"--{name} {text}".rstrip())
        return "f16"
    return text


def _flash(config: Config) -> bool | None:
    """Whether Flash Attention is on. `auto`, the default from b6431 on, switches it on where the device has it."""
    operand = config.operand("flash-attn")
    if operand.present is False:
        return True if config.at_least("b6431") is True else False if config.at_least("b6301") is not True else None
    if operand.value is True or str(operand.value) in ("on", "enabled", "true", "1"):
        return True
    if operand.value is False or str(operand.value) in ("off", "disabled", "false", "0"):
        return False
    return True if str(operand.value) in ("auto", "-1") else None


def _gpus(config: Config, found: MemoryPlan) -> int:
    """How many GPUs share the layers. What divides them otherwise than evenly stands in `missing`."""
    count = config.operand("gpu.count").value
    gpus = count if isinstance(count, int) and count > 0 else config.launch.gpu_count or 1
    devices = _text(config, "device")
    if devices is not None and devices != "none":
        gpus = len(devices.split(","))
    if config.operand("rpc").present is not False:
        found.missing.append("the devices of --rpc")
    mode = config.operand("split-mode")
    if _text(config, "split-mode") == "none":
        return 1
    if gpus > 1 and mode.present is not False and _text(config, "split-mode") != "layer":
        found.missing.append("how --split-mode divides each layer")
    if gpus > 1 and _fullest(config, gpus) is None:
        found.missing.append("the shares of --tensor-split")
    return gpus


def _fullest(config: Config, gpus: int) -> float | None:
    """The largest share of the layers that a GPU has; None where --tensor-split does not say it for each."""
    if config.operand("tensor-split").present is False:
        return 1 / gpus
    texts = re.split(r"[,/]", _text(config, "tensor-split") or "")
    shares = [float(text) for text in texts if re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", text)]
    if len(shares) != len(texts) or (len(shares) != gpus and len(set(shares)) > 1) or sum(shares) <= 0:
        return None
    return max(shares) / sum(shares) if len(shares) == gpus else 1 / gpus


def _named(config: Config) -> str | None:
    """The model as its name says most: the file of a repository, the repository with its quantization, or the path."""
    names = ("hf-file", "hf-repo", "model", "model-url")
    return next((text for text in [_text(config, name) for name in names] if text is not None), None)


def _unsupported(model: Architecture, name: str | None) -> str | None:
    """What is not known of a model's buffers, in words; None if everything is."""
    shown = model.architecture or name or "the model"
    if any(one.kind not in ("full", "sliding") and one.mla is None for one in model.attention):
        return f"the cache of {shown} in llama.cpp"
    if model.model_type not in _LATENT_MODELS and any(one.mla is not None for one in model.attention):
        return f"the cache of {shown} in llama.cpp"
    if model.per_layer or model.encoder or model.indexer is not None:
        return f"the buffers of {shown} in llama.cpp"
    if any(one.kind not in ("gdn", "mamba2") for one in model.states):
        return f"the states of {shown} in llama.cpp"
    return None


# -- weights


def _kind(model: Architecture) -> str:
    return model.quantization.gguf or model.quantization.scheme


def _weights(model: Architecture) -> tuple[Interval, Interval, float] | None:
    """GiB of all layers, of the output, and the share of experts in the layers.

    The embedding stays in main memory; where it is tied it is the output as well. None where the name does not say the
    quantization.
    """
    if model.model_type == "gpt_oss":  # its files keep MXFP4, whatever they are called; the rest is Q8_0 to F16
        shaped, low, mid, high = _original(model), 0.78, 0.88, 1.02
    else:
        bits, low, mid, high = _bits(model)
        if not bits:
            return None
        shaped = replace(model, quantization=Quantization("gguf", (Format("gguf", bits),), gguf=_kind(model)), checkpoint=None)
    weighed = weigh(shaped, vision=False)
    if weighed is None:
        return None
    whole = sum(part.bytes for part in weighed.parts if part.name not in ("rotary table", "allocator"))
    output = weighed.head or weighed.embedding
    layers = whole - weighed.embedding - weighed.head
    spread = Interval(low, mid, high)
    experts = sum(part.bytes for part in weighed.parts if part.name == "experts")
    return spread.scaled(layers / GIB), Interval(0.8, 1.08, 1.4).scaled(output / GIB), experts / layers if layers else 0.0


def _original(model: Architecture) -> Architecture:
    size = "20b" if model.layers == 24 else "120b"
    found = architecture.find(f"openai/gpt-oss-{size}")
    return found if found is not None and found.layers == model.layers else model


def _bits(model: Architecture) -> tuple[float, float, float, float]:
    """Bits of a weight, and the share of it that is the least, usual and most of files of this type. 0 bits if it is not known.

    The table of the types is of one model (llama.cpp tools/quantize/README.md), and publishers' own types differ more.
    """
    main = model.quantization.formats[-1]
    if any(source.endswith("(header)") for source in model.sources):
        return main.bits, 0.97, 1.0, 1.03
    kind = model.quantization.gguf
    if kind is None:
        return 0.0, 1.0, 1.0, 1.0
    if kind in GGUF_BITS:
        return GGUF_BITS[kind], 0.95, 1.0, 1.05
    low, mid, high = (0.96, 1.08, 1.4) if kind.removeprefix("UD-").startswith("Q8") else (0.84, 1.0, 1.2)
    return gguf_bits(kind), low, mid, high


# -- buffers of one GPU


@dataclass(frozen=True, slots=True)
class _Here:
    """The buffers of the fullest GPU.

    Attributes:
        model: the model.
        settings: the settings of the launch.
        offloaded: layers on all GPUs.
        layers: the most layers that one GPU has.
        count: GPUs.
    """

    model: Architecture
    settings: Settings
    offloaded: int
    layers: int
    count: int

    def weights(self, layers: Interval, output: Interval) -> Interval:
        """GiB of weights. Which layers are the larger ones is not known where only some are here."""
        model, asked = self.model, self.settings.layers
        share = self.layers / model.layers if model.layers else 0.0
        found = layers.scaled(share)
        if self.count > 1 or self.offloaded < model.layers:
            found = Interval(layers.low * self.offloaded / model.layers / self.count * 0.9, found.mid, found.high * 1.1)
        ends = asked is None or asked > model.layers
        here = output if ends or self.offloaded else Interval.exact(0.0)
        found = found + (here if ends and self.count == 1 else Interval(0.0, here.mid / self.count, here.high))
        if not self.settings.elsewhere:
            return found
        away = self._away()
        if away is None:
            return Interval(0.0, found.mid, found.high)
        return Interval(max(0.0, found.low - away * 1.05), max(0.0, found.mid - away), found.high - away * 0.85)

    def _away(self) -> float | None:
        """GiB of the experts that stay in main memory; None where that is not known.

        --n-cpu-moe counts all layers from the first one, and layers without experts come first. Published files have fewer bits
        for the experts than for the rest, so that at least 85 % of their share is assumed.
        """
        model, first = self.model, self.settings.experts_away
        if model.experts is None or first is None or self.count > 1 or self.offloaded < model.layers:
            return None
        return self.settings.experts_gib * min(model.experts.layers, max(0, first - (model.layers - model.experts.layers)))

    def cache(self, length: int) -> Interval:
        """GiB of keys, values and states of `length` tokens on this GPU. The cache of a layer is where the layer is."""
        if not self.settings.cache_here or not self.layers:
            return Interval.exact(0.0)
        model = self.model
        whole = Interval.sum([self._keys(length), Interval.exact(self._states() / GIB)])
        share = self.layers / model.layers
        if self.count == 1 and self.offloaded == model.layers:
            return whole
        least = self.offloaded / model.layers / self.count
        return Interval(whole.low * least * 0.7, whole.mid * share, whole.high * min(1.0, share * 1.3))

    def _keys(self, length: int) -> Interval:
        settings, found = self.settings, Interval.exact(0.0)
        padded = round_up(length, _PAD)
        streams = 1 if settings.unified else settings.slots
        for one in self.model.attention:
            if one.mla is not None:
                found = found + self._latents(one, one.mla).scaled(padded / GIB)
                continue
            token = one.kv_heads * (one.head_dim * BYTES[settings.keys] + one.value_dim * BYTES[settings.values]) * one.cached
            cells = Interval(length, padded, padded)
            if one.kind == "sliding" and one.window is not None and settings.windows is not False:
                own = min(padded // streams, one.window * (settings.slots if settings.unified else 1) + settings.batch)
                small = streams * round_up(own, _PAD)
                cells = Interval(small, small, small if settings.windows else padded)
            found = found + cells.scaled(token / GIB)
        return found

    def _latents(self, one: Attention, latent: Mla) -> Interval:
        """Bytes of a token in the layers of latent attention: the key is the latent beside the part that rotates."""
        settings = self.settings
        keys = (latent.kv_lora_rank + latent.rope_dim) * BYTES[settings.keys] * one.cached
        values = latent.kv_lora_rank * BYTES[settings.values] * one.cached
        low = keys + (values if settings.latent_values is True else 0.0)
        high = keys + (values if settings.latent_values is not False else 0.0)
        if settings.per_head:
            head = (latent.nope_dim + latent.rope_dim) * BYTES[settings.keys] + latent.value_dim * BYTES[settings.values]
            high = max(high, one.heads * head * one.cached)
        return Interval(low, low, high)

    def _states(self) -> float:
        """Bytes of the states of all slots: each has 4-byte elements (llama_memory_recurrent)."""
        each = sum(
            one.layers * (one.conv_channels * max(one.conv_kernel - 1, 0) + one.state_elements) for one in self.model.states
        )
        return 4.0 * each * self.settings.slots

    def compute(self, length: int) -> Interval:
        """GiB of the largest graph, which no formula of the source states.

        Fitted on published logs, which it meets within 1 % where Flash Attention is off: the larger of the logits of a batch
        (with the hidden states that they are computed from) and of one layer (the scores of all heads, the mask, and four
        hidden states).
        """
        settings, model = self.settings, self.model
        batch = settings.batch
        logits = 4.0 * (model.vocab + model.hidden) * batch
        widest = model.dense
        if model.experts is not None:
            widest = max(widest, model.experts.per_token * model.experts.intermediate + model.experts.shared)
        plain = 4.0 * batch * (4 * model.hidden + 3 * widest)
        scores = 4.0 * batch * length * (model.heads + 1) + 16.0 * batch * model.hidden
        # whether a device has Flash Attention for heads of this size is not known; without it the latents are copied as well
        latents = [one.mla for one in model.attention if one.mla is not None]
        flash = None if latents else settings.flash
        copied = max([4.0 * one.kv_lora_rank * (length + 3 * batch * model.heads) for one in latents], default=0.0)
        mask = 6.0 * batch * length
        high = max(logits, plain) + mask * (4 if self.count > 1 else 1)
        low = max(min(logits, plain) if settings.last_rows else logits, mask) * 0.9
        mid = max(logits if not settings.last_rows else (logits + plain) / 2, plain + mask)
        if flash is False:
            low, mid, high = max(logits, scores) * 0.9, max(logits, scores), max(logits, scores) * 1.15
        elif flash is None:
            high = max(high, scores * 1.15 + copied)
        if model.states:
            high += 4.0 * batch * 24 * model.hidden
        if settings.layers == 0 or settings.elsewhere:
            low, high = 0.0, high + logits + self.settings.experts_gib * GIB  # a layer's experts are copied for long batches
        if settings.keys not in ("f16", "bf16", "f32"):  # a layer of the cache is converted for the kernels
            high += max([length * one.kv_heads * (one.head_dim + one.value_dim) * 2.0 for one in model.attention], default=0.0)
        return Interval(low, max(low, mid), high * 1.05).scaled(1 / GIB)


def _context(gpu: CudaGpu) -> Interval:
    return fitted.TAKEN_UNIFIED if gpu.unified else fitted.CONTEXT


def _beside(config: Config, found: MemoryPlan, model: Architecture, settings: Settings, length: int) -> list[Part]:
    """The draft, the encoder of images and adapters. A GPU that is not the first one has less of them."""
    parts: list[Part] = []
    if settings.encoder and model.vision is not None:
        parts.append(Part("image encoder", _ENCODER, "fitted: the file that --mmproj names or -hf loads"))
    if settings.mtp:
        parts.append(Part("draft", _MTP, "fitted: multi-token prediction"))
    if settings.adapters:
        parts.append(Part("lora adapters", Interval(0.0, 0.2, 1.5), "an estimate: their size is not known"))
    if settings.draft is not None:
        draft = folder.model_of(config.launch, settings.draft)
        shares = _weights(draft) if draft is not None and _unsupported(draft, None) is None else None
        if draft is None or shares is None:
            found.missing.append(f"the architecture of {settings.draft}")
            return parts
        every = settings.draft_layers is not None and settings.draft_layers > draft.layers
        own = replace(settings, layers=None, keys="f16", values="f16", elsewhere=False)
        here = _Here(draft, own, draft.layers, draft.layers, 1)
        size = here.weights(shares[0], shares[1]) + here.cache(length) + here.compute(length)
        least = shares[0].low if every else 0.0
        parts.append(Part("draft", Interval(least, size.mid, size.high), f"{draft.name}, its cache and its compute buffer"))
    return parts


# -- verdict


def _judge(found: MemoryPlan, settings: Settings, here: _Here, most: float, total: float) -> None:
    """Fill in the verdict: each buffer finds room, or the start ends with cudaMalloc's error."""
    left = Interval.exact(total).less(part.gib for part in found.parts)
    least = sum(part.gib.low for part in found.parts)
    length = found.kv_tokens or 0
    found.largest_context = _longest(found, here, total, length)
    if left.low > _ROOM:
        found.verdict = FITS
        return
    if settings.adapts or settings.shortens:
        found.verdict = TIGHT
        what = "shortens the context, and keeps layers" if settings.shortens else "keeps layers"
        who = "--fit" if found.engine == "llama.cpp" else "the engine"
        found.notes.append(f"where it does not fit, {who} {what} in main memory, which is slower")
        return
    found.verdict = TIGHT
    if settings.more:
        found.notes.append("the container gets all GPUs of its host: the plan assumes one")
    elif least > most and not settings.spills:
        found.verdict = REFUSED
        found.refusal = "cudaMalloc failed: out of memory"
        sizes = ", ".join(f"{part.name} {part.gib.mid:.1f} GiB" for part in found.parts if part.gib.mid >= 0.05)
        found.reason = f"it needs at least {least:.1f} GiB of a GPU of {total:.1f} GiB ({sizes})"
        weights = found.part("weights")
        if found.largest_context:
            context = min(found.largest_context, here.model.context or found.largest_context) // 1024 * 1024
            found.remedy = (
                f"write -c {context} or less, which fits" if context >= 2 * 1024 else "put fewer layers on the GPU with -ngl"
            )
        else:
            found.remedy = "put fewer layers on the GPU with -ngl, or use more or larger GPUs"
        if weights is not None and found.largest_context is None and weights.gib.low < total:
            found.remedy = "put fewer layers on the GPU with -ngl, or take a file with fewer bits"


def _longest(found: MemoryPlan, here: _Here, total: float, length: int) -> int | None:
    """The longest context, in steps of 256 tokens, that certainly fits; None if none does."""
    others = [part.gib for part in found.parts if part.name not in ("kv cache", "compute buffer")]

    def fits(tokens: int) -> bool:
        parts = [*others, here.cache(tokens), here.compute(tokens)]
        return Interval.exact(total).less(parts).low > _ROOM

    low, high = 0, round_up(max(length, here.model.context or 0), _PAD) // _PAD
    if not fits(_PAD):
        return None
    if fits(high * _PAD):
        return high * _PAD
    low = 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle * _PAD) else (low, middle)
    return low * _PAD
