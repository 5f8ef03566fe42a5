"""The plan of an SGLang launch: settings, weights, pools, and whether it starts."""

from __future__ import annotations

from servelint.memory.plan import GIB, Interval, MemoryPlan, Part
from servelint.memory.sglang import adapters, cells, machine, pool, resolved, states, v4, verdict
from servelint.memory.sglang.loaded import Loaded, load
from servelint.memory.sglang.release import Release
from servelint.memory.sglang.settings import Settings, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.engines.config import Config
    from servelint.hardware import Gpu
    from servelint.memory.sglang.cells import Cells
    from servelint.memory.sglang.fraction import Defaults
    from servelint.models.architecture import Architecture


class Launch:
    """What a plan is made of, once it is known."""

    __slots__ = (
        "adapters", "cells", "context", "defaults", "draft", "draft_cells", "free", "gpu", "loaded", "model", "page",
        "prefill_graphs", "release", "settings", "share", "v4",
    )  # fmt: skip

    def __init__(self, release: Release, settings: Settings, model: Architecture) -> None:
        self.release, self.settings, self.model = release, settings, model
        self.gpu: Gpu | None = None
        self.draft: Architecture | None = None
        self.loaded: Loaded | None = None
        self.cells: Cells | None = None
        self.draft_cells: tuple[int, int] | None = None
        self.defaults: Defaults | None = None
        self.free: Interval | None = None
        self.prefill_graphs: bool | None = None
        self.share: float | None = None
        self.v4: v4.Sizes | None = None
        self.context: int | None = None
        self.page = 1
        self.adapters: Interval | None = None

    @property
    def attention_ranks(self) -> int:
        return max(1, self.settings.tp // self.settings.replicas)

    @property
    def counted(self) -> bool:
        """Whether the draft is loaded before the pool is sized, and its cache counted: from 0.5.14, where the fraction has no
        term for drafts any more (srt/managers/scheduler.py init_model_worker); block drafters' caches from 0.5.11, sliding ones
        from 0.5.15."""
        return self.release.since("0.5.14")


class Machine:
    """What loads onto a GPU, what is free on it before, and the settings that follow from its size."""

    __slots__ = ("defaults", "free", "loaded")

    def __init__(self, loaded: Loaded, free: Interval, defaults: Defaults) -> None:
        self.loaded, self.free, self.defaults = loaded, free, defaults


def planned(config: Config) -> MemoryPlan:
    """The plan of a launch under one release."""
    launch = config.launch
    name = _model_name(config)
    count = config.operand("gpu.count").value
    gpus = count if isinstance(count, int) and count > 0 else launch.gpu_count or 1
    found = MemoryPlan("sglang", config.release, name, config.gpu_name, gpus)
    if config.release is None:
        found.missing.append("the release")
        return found
    release = Release(config.release)
    settings = read(config, release)
    found.missing += [f"the value of --{one}" for one in settings.unknown]
    found.missing += [f"what {one} changes" for one in settings.special]
    arguments = config.reading.arguments
    if not arguments.complete:
        found.missing.append("what the words add that are not known")
    found.missing += [f"whether --{name} is given" for name in sorted(arguments.possible)]
    model = _model(config, name)
    if model is None:
        found.missing.append(f"what {name} looks like" if name else "the model")
        return found
    plan = Launch(release, settings, model)
    plan.draft = _draft(config, found, plan)
    plan.gpu = _gpu(found.gpu)
    plan.loaded = load(release, settings, model, plan.draft, plan.gpu)
    if plan.loaded is None:
        found.missing.append("the size of the weights")
    elif plan.loaded.draft is None and settings.speculation is not None:
        found.missing.append("the size of the draft model")
    _machine(config, found, plan)
    _cache(config, found, plan)
    if settings.lora is not None:
        plan.adapters = adapters.adapters_gib(settings.lora, model, plan.attention_ranks)
        if plan.adapters is None:
            found.missing.append("the room for LoRA adapters")
    if plan.loaded is not None:
        _parts(found, plan, plan.loaded)
        if plan.free is not None and plan.defaults is not None:
            _divide(found, plan, Machine(plan.loaded, plan.free, plan.defaults))
    return found


def _model_name(config: Config) -> str | None:
    """--model-path, or the first word that belongs to no option: `sglang serve MODEL`."""
    if config.reading.model is not None:
        return config.reading.model.value
    words = config.reading.arguments.positionals
    return words[0].value if words else None


def _opened(config: Config) -> Callable[[str], str | None] | None:
    from servelint.core.text import Text
    from servelint.models import local

    launch = config.launch
    if launch.folder is not None:
        return local.open_in(launch.folder)
    if launch.open is None:
        return None
    opener = launch.open

    def opened(path: str) -> str | None:
        source = opener(Text.of(path))
        return source.text.value if source is not None else None

    return opened


def _model(config: Config, name: str | None) -> Architecture | None:
    from servelint.models import architecture

    return architecture.find(name, _opened(config)) if name else None


def _draft(config: Config, found: MemoryPlan, plan: Launch) -> Architecture | None:
    """The draft model of its own, None where the target's layers draft or where it is not known."""
    speculation = plan.settings.speculation
    if speculation is None or speculation.draft is None or speculation.draft == found.model:
        return None
    return _model(config, speculation.draft)


def _gpu(name: str | None) -> Gpu | None:
    from servelint import hardware

    return hardware.identify(name) if name is not None else None


def _machine(config: Config, found: MemoryPlan, plan: Launch) -> None:
    settings = plan.settings
    needed = settings.tp * settings.pp * (settings.data_parallel if settings.replicas == 1 else 1)
    name = found.gpu
    total = machine.total_gib(plan.gpu) if plan.gpu is not None else None
    if plan.gpu is None or total is None:
        found.missing.append(f"the memory of {name}" if name else "the GPU")
    plan.prefill_graphs = resolved.prefill_graphs(plan.release, settings, plan.model, plan.gpu)
    if plan.gpu is None or total is None:
        return
    nodes = config.operand("nnodes").value
    nodes = max(nodes, 1) if isinstance(nodes, int) else 1
    if config.operand("gpu.count").value is None and needed > found.gpu_count * nodes:
        found.gpu_count = -(-needed // nodes)
        found.notes.append(f"nobody says how many GPUs there are: it takes {needed}, {_over(nodes)}")
    if needed > found.gpu_count * nodes:
        found.missing.append(f"{needed} GPUs: the launch has {found.gpu_count}; say --gpu-count {-(-needed // nodes)}")
    if settings.data_parallel > 1 and settings.replicas == 1:
        found.notes.append(f"tokens and requests are those of one of {settings.data_parallel} replicas (--dp-size)")
    elif settings.replicas > 1:
        found.notes.append(f"tokens and requests are those of one of {settings.replicas} replicas of attention")
    found.gpu_gib = total
    plan.free = machine.free_gib(plan.gpu, settings.tp * settings.pp)
    plan.defaults = resolved.default_settings(plan.release, settings, plan.model, plan.gpu, total * 1024, plan.prefill_graphs)
    if settings.fraction is not None:
        plan.defaults = type(plan.defaults)(settings.fraction, plan.defaults.chunk, plan.defaults.batch)


def _over(nodes: int) -> str:
    return f"over {nodes} nodes" if nodes > 1 else "and is planned for so many"


def _cache(config: Config, found: MemoryPlan, plan: Launch) -> None:
    release, settings, model = plan.release, plan.settings, plan.model
    known = config.operand("model.context").value
    plan.context = settings.context or (known if isinstance(known, int) else None) or model.context
    found.max_model_len = plan.context
    form = resolved.form(release, settings, model, plan.gpu)
    if form is None:
        found.missing.append("the format of the KV cache")
        return
    if resolved.compressed(model):
        plan.page, plan.share = 256, resolved.window_share(release, settings, model)
        plan.v4 = v4.sizes(release, settings, model, plan.share if plan.share is not None else 0.1)
        return
    backend = config.operand("attention-backend").value
    backends = tuple(
        value if isinstance(value := config.operand(name).value, str) else None
        for name in (
            ("dsa-prefill-backend", "dsa-decode-backend")
            if release.since("0.5.13")
            else ("nsa-prefill-backend", "nsa-decode-backend")
        )
    )
    ranks = cells.Ranks(plan.attention_ranks, settings.decode_context, settings.pp)
    scaled = resolved.sparse(model) and resolved.scaled_rows((backends[0], backends[1]), model, plan.gpu)
    plan.cells = cells.cells(release, model, form, ranks, scaled_rows=scaled)
    plan.page = resolved.page_size(release, settings, model, backend if isinstance(backend, str) else None)
    plan.share = resolved.window_share(release, settings, model)
    plan.draft_cells = resolved.draft_cells(release, settings, model, plan.draft, plan.cells, form)
    if plan.share is not None and not settings.radix and settings.requests is not None and release.since("0.5.14"):
        found.missing.append("the pool of sliding layers, which --disable-radix-cache sizes by --max-running-requests")


def _parts(found: MemoryPlan, plan: Launch, loaded: Loaded) -> None:
    target, draft = loaded.target, loaded.draft
    found.parts.append(Part("weights", target, loaded.origin))
    found.weights_gib = target.mid
    if draft is not None and draft.high > 0:
        where = (
            "loaded before the pools are sized"
            if plan.counted
            else "loaded when the pools are sized: taken from the rest of the GPU"
        )
        found.parts.append(Part("draft weights", draft, f"{loaded.draft_origin}; {where}", inside=plan.counted))
        found.weights_gib += draft.mid
    if plan.adapters is not None and plan.settings.lora is not None:
        origin = f"room for {plan.settings.lora.adapters} of rank {plan.settings.lora.rank}"
        found.parts.append(Part("lora adapters", plan.adapters, origin))


def _divide(found: MemoryPlan, plan: Launch, on: Machine) -> None:
    """The pools of states and of the KV cache, and what is left of the GPU.

    Source: profile_max_num_token in srt/model_executor/model_runner.py (0.4.0 line 466), _profile_available_bytes in
    srt/mem_cache/kv_cache_configurator.py (0.5.23 line 2990).
    """
    fraction, loaded = on.defaults.fraction, on.loaded
    found.budget_gib = on.free.mid * fraction
    taken = [loaded.target]
    if plan.counted and loaded.draft is not None:
        taken.append(loaded.draft)
    if plan.adapters is not None:
        taken.append(plan.adapters)
    if plan.model.vision is not None and plan.release.since("0.5.18"):
        taken.append(Interval.exact(100 / 1024))  # SGLANG_VLM_CACHE_SIZE_MB: mm_runtime_reservation_gb
    rest = _less(on.free.scaled(max(0.0, fraction)), taken)
    low, mid, high = (pools_of(plan, gib) for gib in (rest.low, rest.mid, rest.high))
    if (plan.cells is None and plan.v4 is None) or rest.mid <= 0:
        found.kv_gib = rest
    else:
        found.kv_gib = Interval(low.kv_gib if rest.low > 0 else rest.low, mid.kv_gib, max(high.kv_gib, mid.kv_gib))
    _report(found, plan, mid)
    verdict.judge(found, plan, on, rest, mid)


def _less(whole: Interval, parts: list[Interval]) -> Interval:
    """What is left of it; spreads that have nothing to do with one another add as squares do."""
    mid = whole.mid - sum(part.mid for part in parts)
    down = (whole.mid - whole.low) ** 2 + sum((part.high - part.mid) ** 2 for part in parts)
    up = (whole.high - whole.mid) ** 2 + sum((part.mid - part.low) ** 2 for part in parts)
    return Interval(mid - down**0.5, mid, mid + up**0.5)


class Pools:
    """kv_gib: the target's KV cache; draft_gib: the draft's, counted: whether within the pool;  states: of linear attention"""

    __slots__ = ("draft_gib", "kv_gib", "pool", "requests", "states", "states_gib")

    def __init__(self, solved: pool.Pool | None, held: states.States | None, requests: int) -> None:
        self.pool = solved
        self.states = held
        self.requests = requests
        self.kv_gib = solved.bytes / GIB if solved is not None else 0.0
        self.draft_gib = solved.drafts / GIB if solved is not None else 0.0
        self.states_gib = held.bytes / GIB if held is not None else 0.0


def pools_of(plan: Launch, rest_gib: float) -> Pools:
    """The pools that so much memory holds; of a model whose pools are not followed, none."""
    release, settings = plan.release, plan.settings
    running = resolved.running_requests(settings, plan.model)
    rest = int(rest_gib * GIB)
    if plan.v4 is not None:
        tokens = plan.v4.tokens(rest, settings.limit)
        size = int(tokens * plan.v4.token) + (plan.v4.fixed if tokens else 0)
        requests = pool.running_requests(release, tokens, plan.context or 4096, running, settings.replicas)
        return Pools(pool.Pool(tokens, 0, size, 0), None, requests)
    if plan.cells is None:
        return Pools(None, None, running or 0)
    held = None
    if plan.model.states:
        wide = 4 if settings.conv_dtype == "float32" else 2
        a_state = states.state_bytes(
            plan.model, plan.attention_ranks, settings.pp, ssm_dtype=settings.ssm_dtype, conv_bytes=wide
        )
        held = states.solve(release, rest, a_state, resolved.states_asked(release, settings, plan.model, running))
        rest -= held.bytes
    full, sliding = plan.draft_cells or (0, 0)
    counted = plan.counted and (plan.share is None or release.since("0.5.15"))
    drafts = pool.Drafts(full, sliding, counted)
    context = plan.context or 4096
    asked = pool.Asked(page=plan.page, limit=settings.limit, window_share=plan.share)
    speculation = settings.speculation
    if speculation is not None and speculation.loads_draft:
        asked = pool.Asked(plan.page, settings.limit, plan.share, pool.draft_headroom(
            release, running or 48, speculation.steps, speculation.topk, speculation.tokens
        ))  # fmt: skip
    solved = pool.solve(release, rest, plan.cells, asked, drafts)
    requests = pool.running_requests(release, max(solved.tokens, 0), context, running, settings.replicas)
    if held is not None:
        requests = min(requests, held.requests)
    return Pools(solved, held, requests)


def _token(plan: Launch) -> float | None:
    """Bytes of a token, with its share of the windows where these have a pool of their own."""
    if plan.v4 is not None:
        return plan.v4.token
    if plan.cells is None:
        return None
    if plan.share is None or not plan.cells.layers:
        return plan.cells.every
    return plan.cells.full + plan.share * plan.cells.sliding


def _report(found: MemoryPlan, plan: Launch, pools: Pools) -> None:
    """Tokens, requests and the parts of what the fraction leaves."""
    token = _token(plan)
    if token is None or pools.pool is None:
        return
    tokens = pools.pool.tokens
    if plan.context is not None:
        found.need_gib = plan.context * token / GIB
    if pools.states is not None:
        held = pools.states
        drafts = f", {held.drafts / GIB:.2f} GiB of it for tokens that are being verified" if held.drafts else ""
        origin = f"{held.slots} slots, {held.a_request} for a running request{drafts}"
        found.parts.append(Part("states", Interval.exact(pools.states_gib), origin))
    if tokens <= 0:
        return
    found.kv_tokens = tokens
    if plan.context is not None:
        concurrency = tokens / plan.context
        found.max_concurrency = min(concurrency, float(pools.requests)) if pools.requests else concurrency
    cache = found.kv_gib if found.kv_gib is not None else Interval.exact(pools.kv_gib)
    found.parts.append(Part("kv cache", cache.map(lambda gib: max(gib, 0.0)), f"{tokens} tokens of {token:.0f} bytes"))
    if pools.draft_gib:
        full, sliding = plan.draft_cells or (0, 0)
        where = "counted with the target's" if plan.counted else "taken from the rest of the GPU"
        found.parts.append(
            Part(
                "draft kv cache",
                Interval.exact(pools.draft_gib),
                f"{full + sliding} bytes a token, {where}",
                inside=plan.counted,
            )
        )
