"""SGLang's memory plan: weights and pools within --mem-fraction-static, graphs and activations in what it leaves.

SGLang measures what is free before and after loading, and gives its pools what the fraction allows:

    pool = free after loading - free before loading x (1 - fraction)

Source: srt/model_executor/model_runner.py, 0.4.0 to 0.5.23. States of linear attention and the KV cache share the pool. Nothing
is profiled: whether graphs and activations fit into the rest shows when they are captured.
"""

from __future__ import annotations

from dataclasses import replace

from servelint import hardware
from servelint.engines.config import Config
from servelint.memory.plan import GIB, Interval, MemoryPlan, Part, Release
from servelint.memory.sglang import cache, deepseek_v4, defaults, footprint, verdict
from servelint.memory.sglang.pools import Inputs, OnGpu, Pools, pools_of
from servelint.memory.sglang.settings import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.memory.sglang.footprint import Loaded
    from servelint.models.architecture import Architecture

CHANGES = (
    "0.4.0", "0.4.0.post1", "0.4.3", "0.4.3.post3", "0.4.4", "0.4.4.post1", "0.4.4.post4", "0.4.5", "0.4.5.post3",
    "0.4.6.post2", "0.4.7", "0.4.7.post1", "0.4.9.post3", "0.5.2", "0.5.3rc2", "0.5.3.post1", "0.5.3.post2", "0.5.4",
    "0.5.4.post1", "0.5.5.post1", "0.5.6", "0.5.6.post2", "0.5.7", "0.5.8", "0.5.9", "0.5.10rc0", "0.5.10", "0.5.11",
    "0.5.12", "0.5.13", "0.5.14", "0.5.15", "0.5.16", "0.5.17", "0.5.18", "0.5.19", "0.5.20", "0.5.21", "0.5.22", "0.5.23",
)  # fmt: skip
"""Releases that changed the memory arithmetic or the engine's facts."""


_FP4_EXPERTS = "SGLANG_DSV4_FP4_EXPERTS"


def plan(config: Config) -> MemoryPlan:
    """Plan a launch under one release. What is not known stands in `missing`, and the verdict is then "unknown"."""
    launch = config.launch
    name = _model_name(config)
    count = config.operand("gpu.count").value
    gpus = count if isinstance(count, int) and count > 0 else launch.gpu_count or 1
    found = MemoryPlan("sglang", config.release, name, config.gpu_name, gpus)
    if config.release is None:
        found.missing.append("the release")
        return found
    release = Release(config.release)
    if not release.since(CHANGES[0]):
        found.missing.append(f"the arithmetic of releases before {CHANGES[0]}")
        return found
    settings = read(config, release)
    found.missing += [f"the value of --{one}" for one in settings.unknown]
    found.missing += [f"what {one} changes" for one in settings.special]
    arguments = config.reading.arguments
    if not arguments.complete:
        found.missing.append("the effect of unknown words")
    found.missing += [f"whether --{name} is given" for name in sorted(arguments.possible)]
    model = _model(config, name)
    if model is None:
        found.missing.append(f"what {name} looks like" if name else "the model")
        return found
    if _other_layout(config, model):
        found.missing.append(f"what {_FP4_EXPERTS} changes")
    given = Inputs(release, settings, model)
    speculation = settings.speculation
    if speculation is not None and speculation.draft != found.model:
        given.draft = _model(config, speculation.draft)
    given.gpu = hardware.identify(found.gpu) if found.gpu is not None else None
    given.loaded = footprint.load_weights(release, settings, model, given.draft, given.gpu)
    if given.loaded is None:
        found.missing.append("the size of the weights")
    elif given.loaded.draft is None and speculation is not None:
        found.missing.append("the size of the draft model")
    _place(config, found, given)
    _cache(config, found, given)
    if settings.lora is not None:
        given.adapters = footprint.adapters_gib(settings.lora, model, given.attention_ranks)
        if given.adapters is None:
            found.missing.append("the room for LoRA adapters")
    if given.loaded is not None:
        _parts(found, given, given.loaded)
        if given.free is not None and given.defaults is not None:
            _divide(found, given, OnGpu(given.loaded, given.free, given.defaults))
    return found


def _model_name(config: Config) -> str | None:
    """--model-path, or the first positional word: `sglang serve MODEL`."""
    if config.reading.model is not None:
        return config.reading.model.value
    words = config.reading.arguments.positionals
    return words[0].value if words else None


def _other_layout(config: Config, model: Architecture) -> bool:
    """Whether DeepSeek V4's experts are set to another format than the checkpoint has them in.

    Without the variable SGLang looks into the checkpoint (srt/configs/model_config.py, 0.5.12 to 0.5.23).
    """
    given = config.operand(f"env.{_FP4_EXPERTS}")
    if not given.present:
        return False
    four = any(one.scheme == "mxfp4" for one in model.quantization.formats)
    return not isinstance(given.value, str) or (given.value.lower() in ("1", "true", "yes", "y")) != four


def _model(config: Config, name: str | None) -> Architecture | None:
    from servelint.models import architecture, folder

    return architecture.find(name, folder.files_of(config.launch)) if name else None


def _place(config: Config, found: MemoryPlan, given: Inputs) -> None:
    """Fill in the GPU, how many there are, what is free on one, and the settings that depend on its size."""
    settings = given.settings
    found.ranks = needed = settings.tp * settings.pp * (settings.data_parallel if settings.replicas == 1 else 1)
    total = footprint.total_gib(given.gpu) if given.gpu is not None else None
    if given.gpu is None or total is None:
        found.missing.append(f"the memory of {found.gpu}" if found.gpu else "the GPU")
    given.prefill_graphs = defaults.prefill_graphs(given.release, settings, given.model, given.gpu)
    if given.gpu is None or total is None:
        return
    nodes = config.operand("nnodes").value
    nodes = max(nodes, 1) if isinstance(nodes, int) else 1
    if config.operand("gpu.count").value is None and needed > found.gpu_count * nodes:
        found.gpu_count = -(-needed // nodes)
        where = f"over {nodes} nodes" if nodes > 1 else "and is planned for this number"
        found.notes.append(f"the number of GPUs is not known: it takes {needed}, {where}")
    if needed > found.gpu_count * nodes:
        found.missing.append(f"{needed} GPUs: the launch has {found.gpu_count}; write --gpu-count {-(-needed // nodes)}")
    if settings.data_parallel > 1 and settings.replicas == 1:
        found.notes.append(f"tokens and requests are those of one of {settings.data_parallel} replicas (--dp-size)")
    elif settings.replicas > 1:
        found.notes.append(f"tokens and requests are those of one of {settings.replicas} replicas of attention")
    found.gpu_gib = total
    given.free = footprint.free_gib(given.gpu, settings.tp * settings.pp)
    captured = given.prefill_graphs is not False
    vendor, encoder, mla = given.gpu.vendor, defaults.vision(settings, given.model), cache.latent(given.model)
    inputs = defaults.FractionInputs(total * 1024, settings, vendor == "nvidia", captured, mla, encoder)
    given.defaults = defaults.defaults(given.release, inputs)
    length = _context(config, given)
    if length is not None and length > defaults.AITER_TOKENS and _aiter(config, given):
        given.defaults = replace(given.defaults, fraction=given.defaults.fraction * defaults.AITER_SHARE)
        least = f"a model of more than {defaults.AITER_TOKENS} tokens"
        found.notes.append(f"with AITER's attention {least} gets {defaults.AITER_SHARE:g} of --mem-fraction-static")


def _context(config: Config, given: Inputs) -> int | None:
    known = config.operand("model.context").value
    return given.settings.context or (known if isinstance(known, int) else None) or given.model.context


def _aiter(config: Config, given: Inputs) -> bool:
    """Whether AITER's attention lowers the fraction. From 0.5.19 a variable keeps one that is given as it is."""
    kept = given.settings.fraction is not None and given.release.since("0.5.19")
    if kept and str(config.operand("env.SGLANG_AITER_HONOR_EXPLICIT_MEM_FRACTION").value).lower() in ("1", "true", "yes", "y"):
        return False
    return defaults.with_aiter(given.release, given.settings, given.model, given.gpu, config.text("attention-backend"))


def _cache(config: Config, found: MemoryPlan, given: Inputs) -> None:
    """Fill in what a token takes of the KV cache, its pages and the share of sliding layers."""
    release, settings, model = given.release, given.settings, given.model
    given.context = _context(config, given)
    found.max_model_len = given.context
    form = cache.cache_form(release, settings, model, given.gpu)
    if form is None:
        found.missing.append("the format of the KV cache")
        return
    given.share = cache.window_share(release, settings, model)
    if cache.compressed(model):
        given.v4 = deepseek_v4.cache_sizes(release, settings, model, given.share if given.share is not None else 0.1)
        return
    prefix = "dsa" if release.since("0.5.13") else "nsa"
    prefill, decode, backend = (
        config.text(name) for name in (f"{prefix}-prefill-backend", f"{prefix}-decode-backend", "attention-backend")
    )
    ranks = cache.Ranks(given.attention_ranks, settings.decode_context, settings.pp)
    scaled = cache.sparse(model) and cache.scaled_rows((prefill, decode), model, given.gpu)
    short = cache.short_keys(release, settings, model, given.gpu, backend)
    given.cells = cache.cells(release, model, form, ranks, scaled_rows=scaled, short_keys=short)
    given.scales = cache.uncounted_scales(release, model, form, scaled, given.gpu, settings.pp)
    given.page = cache.page_size(release, settings, model, backend)
    given.draft_cells = cache.draft_cells(release, settings, model, given.draft, given.cells, form)
    if given.share is not None and not settings.radix and settings.requests is not None and release.since("0.5.14"):
        found.missing.append("the pool of sliding layers, which --disable-radix-cache sizes by --max-running-requests")


def _parts(found: MemoryPlan, given: Inputs, loaded: Loaded) -> None:
    """Add the parts for weights, drafts and adapters."""
    target, draft = loaded.target, loaded.draft
    found.parts.append(Part("weights", target, loaded.origin))
    found.weights_gib = target.mid
    if draft is not None and draft.high > 0:
        late = "loaded when the pools are sized: taken from the rest of the GPU"
        when = "loaded before the pools are sized" if given.counted else late
        found.parts.append(Part("draft weights", draft, f"{loaded.draft_origin}; {when}", inside=given.counted))
        found.weights_gib += draft.mid
    if given.adapters is not None and given.settings.lora is not None:
        origin = f"room for {given.settings.lora.adapters} of rank {given.settings.lora.rank}"
        found.parts.append(Part("lora adapters", given.adapters, origin))


def _divide(found: MemoryPlan, given: Inputs, on: OnGpu) -> None:
    """Fill in the pools of states and of the KV cache, what is left of the GPU, and the verdict.

    Source: profile_max_num_token in srt/model_executor/model_runner.py (0.4.0 line 466), _profile_available_bytes in
    srt/mem_cache/kv_cache_configurator.py (0.5.23 line 2990).
    """
    fraction, loaded = on.defaults.fraction, on.loaded
    found.budget_gib = on.free.mid * fraction
    taken = [loaded.target]
    if given.counted and loaded.draft is not None:
        taken.append(loaded.draft)
    if given.adapters is not None:
        taken.append(given.adapters)
    if given.model.vision is not None and given.release.since("0.5.18"):
        taken.append(Interval.exact(100 / 1024))  # SGLANG_VLM_CACHE_SIZE_MB: mm_runtime_reservation_gb
    rest = on.free.scaled(max(0.0, fraction)).less(taken)
    low, mid, high = (pools_of(given, gib) for gib in (rest.low, rest.mid, rest.high))
    if (given.cells is None and given.v4 is None) or rest.mid <= 0:
        found.kv_gib = rest
    else:
        found.kv_gib = Interval(low.kv_gib if rest.low > 0 else rest.low, mid.kv_gib, max(high.kv_gib, mid.kv_gib))
    _report(found, given, mid)
    verdict.judge(found, given, on, rest, mid)


def _token(given: Inputs) -> float | None:
    """Bytes of a token, with its share of the windows where these have a pool of their own."""
    if given.v4 is not None:
        return given.v4.token
    if given.cells is None:
        return None
    if given.share is None or not given.cells.layers:
        return given.cells.every
    return given.cells.full + given.share * given.cells.sliding


def _report(found: MemoryPlan, given: Inputs, pools: Pools) -> None:
    """Fill in tokens, requests and the parts of the pools."""
    token = _token(given)
    if token is None or pools.pool is None:
        return
    tokens = pools.pool.tokens
    if given.context is not None:
        found.need_gib = given.context * token / GIB
    if pools.states is not None:
        held = pools.states
        drafts = f", {held.drafts / GIB:.2f} GiB of it for tokens that are being verified" if held.drafts else ""
        origin = f"{held.slots} slots, {held.a_request} for a running request{drafts}"
        found.parts.append(Part("states", Interval.exact(pools.states_gib), origin))
        found.state_pool = Interval.exact(float(held.requests))
        asked = given.settings.requests
        found.sequences = asked // given.settings.replicas if asked is not None else None
    if tokens <= 0:
        return
    found.kv_tokens = tokens
    if given.context is not None:
        concurrency = tokens / given.context
        found.max_concurrency = min(concurrency, float(pools.requests)) if pools.requests else concurrency
    size = found.kv_gib if found.kv_gib is not None else Interval.exact(pools.kv_gib)
    found.parts.append(Part("kv cache", size.map(lambda gib: max(gib, 0.0)), f"{tokens} tokens of {token:.0f} bytes"))
    if given.scales:
        origin = f"{given.scales} bytes a token that this release allocates and does not count"
        found.parts.append(Part("scales of fp8 rows", Interval.exact(tokens * given.scales / GIB), origin, inside=False))
    if pools.draft_gib:
        origin = f"{sum(given.draft_cells or (0, 0))} bytes a token, "
        origin += "counted with the target's" if given.counted else "taken from the rest of the GPU"
        found.parts.append(Part("draft kv cache", Interval.exact(pools.draft_gib), origin, inside=given.counted))
