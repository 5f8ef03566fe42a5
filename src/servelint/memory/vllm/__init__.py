"""vLLM's memory plan, for releases 0.6.4 to 0.33.0; before 0.8.0 of plain models, to 0.9.2 where the V1 engine serves."""

from __future__ import annotations

from servelint.engines import ENGINES
from servelint.engines.config import Config
from servelint.engines.releases import BETWEEN, place, sort_key
from servelint.memory.plan import GIB, MemoryPlan
from servelint.memory.vllm.cache import STATE, NoCache, StateOutgrown, Unsupported
from servelint.memory.vllm.footprint import weights_of
from servelint.memory.vllm.layers import cache_of, known_dtype, mode
from servelint.memory.vllm.settings import VllmSettings
from servelint.memory.vllm.verdict import add_notes, divide, fill, judge, judge_without_cache
from servelint.models import folder
from servelint.models.architecture import Architecture

_HEADS = ("eagle3", "dflash", "dspark")
"""Methods that draft with a head, never with a whole model."""
_OLDEST, _FIRST, _ALONE = "0.6.4", "0.8.0", "0.10.0"
"""Before the second release the V0 engine serves all, and from there on it has another arithmetic, as have releases before the
first. From the third on the V1 engine serves what is planned."""
EARLY = (_OLDEST, "0.7.0", _FIRST, "0.8.4", "0.8.5", "0.9.0", "0.9.1", "0.9.2")
"""Releases that changed the arithmetic before 0.10.0. They are planned where they are pinned: a launch of today names no V0."""
CHANGES = (
    _ALONE, "0.10.2", "0.11.0", "0.11.1", "0.12.0", "0.13.0", "0.14.0", "0.15.0", "0.16.0", "0.17.0", "0.18.0", "0.19.0",
    "0.20.0", "0.20.1", "0.21.0", "0.22.0", "0.23.0", "0.24.0", "0.25.0", "0.26.0", "0.27.0", "0.28.0", "0.29.0", "0.30.0",
    "0.32.0", "0.33.0",
)  # fmt: skip
"""Releases that changed the memory arithmetic or the engine's facts."""


def plan(config: Config) -> MemoryPlan:
    """Plan a launch under one release. What is not known stands in `missing`, and the verdict is then "unknown"."""
    name = config.text("model")
    count = config.operand("gpu.count").value
    gpus = count if isinstance(count, int) and count > 0 else config.launch.gpu_count or 1
    found = MemoryPlan("vllm", config.release, name, config.gpu_name, gpus)
    model = folder.model_of(config.launch, name)
    settings = VllmSettings(config, model)
    found.ranks = needed = settings.tensor * settings.pipeline * settings.prefill * settings.data
    if config.operand("gpu.count").value is None and needed > gpus:
        found.gpu_count = needed
        found.notes.append(f"the number of GPUs is not known: it takes {needed}, and the plan assumes as many")
    found.gpu_gib = settings.gpu.gib
    found.max_model_len = settings.length
    if settings.gpu.gib is None:
        found.missing.append("the GPU's memory" if settings.gpu.name else "the GPU")
    if model is None:
        found.missing.append(f"the architecture of {name}" if name else "the model")
        return found
    if config.at_least(_OLDEST) is not True:
        found.missing.append(f"the arithmetic of releases before {_OLDEST}")
        return found
    early = config.at_least(_FIRST) is not True
    if early and not settings.plain(model):
        found.missing.append(f"the arithmetic of releases before {_FIRST} for such a launch")
        return found
    if not early and config.at_least(_ALONE) is not True and not settings.first_engine(model):
        found.missing.append("the arithmetic of the V0 engine")
        return found
    since = config.since
    if since is not None and config.at_least(since) is False and not _on_the_way(found.release, since):
        found.missing.append(f"{config.release} does not know {model.architecture}, which came with {since}")
        return found
    if config.at_least(_ALONE) is not True and settings.images:
        found.missing.append(f"the memory of image encoders before {_ALONE}")
        return found
    if not known_dtype(settings.kv_dtype):
        found.missing.append(f"the size of a {settings.kv_dtype} KV cache")
        return found
    found.missing += _hidden(config, settings)
    if settings.length is None:
        found.missing.append("the model's context length")
        return found
    draft = _draft_of(config, settings)
    cache = None
    try:
        cache = cache_of(settings, model, draft)
    except NoCache:
        pass
    except (Unsupported, ValueError) as reason:
        found.missing.append(str(reason))
        return found
    found.need_gib = cache.need(settings.length) / GIB if cache is not None else None
    weights = weights_of(settings, model, draft)
    if weights is None:
        found.missing.append("the size of the weights")
    elif settings.gpu.gib is not None and cache is None:
        divide(found, settings, model, weights)
        judge_without_cache(found, settings)
    elif settings.gpu.gib is not None and cache is not None:
        divide(found, settings, model, weights)
        fill(found, settings, cache)
        judge(found, settings, model, cache)
    else:
        found.weights_gib = weights.gib.mid
        found.parts = [weights]
    if cache is not None:
        add_notes(found, settings, model, cache, draft is not None)
    return found


def _on_the_way(release: str | None, later: str) -> bool:
    """Whether a build between two releases may have what came with a later one."""
    placed = place("vllm", release) if release is not None else None
    return placed is not None and placed.kind == BETWEEN and sort_key(placed.near[-1]) >= sort_key(later)


def _draft_of(config: Config, settings: VllmSettings) -> Architecture | None:
    """The model that drafts, None where there is none or it is not known.

    The name of a head tells the model that it belongs to: such a head is not counted as that model.
    """
    if settings.draft is None or settings.method == "mtp":
        return None
    found = folder.model_of(config.launch, settings.draft)
    return found if found is None or found.draft is not None or settings.method not in _HEADS else None


def capacity(config: Config, kv_gib: float) -> tuple[int, float] | None:
    """What a KV cache of some GiB on each GPU holds: tokens as the release prints them, and requests of the launch's length.

    None where the model, its context length or the layout of its cache is not known.
    """
    model = folder.model_of(config.launch, config.text("model"))
    settings = VllmSettings(config, model)
    if model is None or settings.length is None:
        return None
    draft = _draft_of(config, settings)
    try:
        cache = cache_of(settings, model, draft)
    except (NoCache, Unsupported, ValueError):
        return None
    blocks = cache.number_of_blocks(kv_gib * GIB)
    return cache.tokens(blocks, settings.length), cache.concurrency(blocks, settings.length)


def aligned_block(config: Config) -> tuple[int, int] | None:
    """Tokens of a block, and of a batch, where a state is kept at the end of each block (the mode "align").

    None where the mode is another, or where the model or a setting that decides about it is not known. Tensor parallelism,
    drafts and the dtype of the KV cache change the block. The GPU counts for a batch whose size is not given.
    """
    model = folder.model_of(config.launch, config.text("model"))
    settings = VllmSettings(config, model)
    if model is None or not model.states or not settings.cached or settings.missing or mode(settings, model) != "align":
        return None
    try:
        cache = cache_of(settings, model, None)
    except (NoCache, Unsupported, ValueError):
        return None
    blocks = [one.block for one in cache.kinds if one.kind != STATE]
    return (max(blocks), settings.batched) if blocks else None


def outgrown_state(config: Config) -> tuple[int, int] | None:
    """Bytes of a page, and of a state with drafts that does not fit it. None where it fits, or if that is unknown."""
    model = folder.model_of(config.launch, config.text("model"))
    settings = VllmSettings(config, model)
    if model is None or not model.states or settings.missing:
        return None
    draft = _draft_of(config, settings)
    try:
        cache_of(settings, model, draft)
    except StateOutgrown as found:
        return found.page, found.state
    except (NoCache, Unsupported, ValueError):
        return None
    return None


def _hidden(config: Config, settings: VllmSettings) -> list[str]:
    """The settings that are not known. Where any option may be given out of sight, one phrase stands for all of them."""
    arguments = config.reading.arguments
    if arguments.complete:
        return settings.missing
    file = config.setting("config")
    name = f"what {file.value.shown} says" if file is not None and file.value is not None else None
    given = [one for one in settings.missing if one.startswith("--") and config.setting(one[2:].split()[0]) is not None]
    return [name or "the effect of unknown words", *given]


def settings_of(config: Config) -> VllmSettings:
    """The settings of a launch as its release reads them, with what is known of its model."""
    return VllmSettings(config, folder.model_of(config.launch, config.text("model")))


def computed_defaults(config: Config) -> dict[str, int]:
    """The batches that are not given, which depend on the GPU and the context."""
    settings = settings_of(config)
    known = {"max-num-seqs": settings.sequences, "max-num-batched-tokens": settings.batched}
    return {
        name: known[name] for name in ENGINES[config.launch.engine].computed_defaults if config.operand(name).present is False
    }
