"""The settings of an SGLang launch that decide about memory, as one release reads them.

Settings whose value is not known are named, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from servelint.engines.config import UNWRITTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config, Operand
    from servelint.memory.plan import Release

BLOCKS = ("DFLASH", "DSPARK")
"""Algorithms whose draft model proposes a block at once."""
_RUNNING_WITH_DRAFTS = 48

_SPECIAL = (
    "enable-unified-memory", "enable-kv-cache-sharding", "enable-hisparse", "enable-linear-replayssm-spec",
    "enable-linear-replayssm", "prefill-only-disable-kv-cache", "enable-double-sparsity", "enable-dwdp", "enable-pdmux",
    "enable-weight-cache", "uno-lora-path", "json-model-override-args",
)  # fmt: skip
"""Options that this arithmetic does not follow."""
_OFF = ("0", "false", "no", "n")
_SPECIAL_VARIABLES = {
    "SGLANG_ENABLE_POST_CAPTURE_KV_SIZING": _OFF, "SGLANG_PP_LAYER_PARTITION": (), "SGLANG_CI_SMALL_KV_SIZE": (),
    "SGLANG_OPT_MAMBA_SKIP_DECODE_LOCK": _OFF, "SGLANG_VLM_CACHE_SIZE_MB": ("100",), "SGLANG_DSV4_KV_LAYOUT": ("v4",),
    "SGLANG_OPT_USE_ONLINE_COMPRESS": _OFF,
}  # fmt: skip
"""Variables that this arithmetic does not follow -> the values that they have by default (srt/environ.py, 0.5.12 to 0.5.23)."""


@dataclass(frozen=True, slots=True)
class Speculation:
    """Speculative decoding as it runs.

    Attributes:
        algorithm: the algorithm; NEXTN runs as EAGLE.
        draft: the draft model's name, None where layers of the target draft.
        steps: --speculative-num-steps.
        topk: --speculative-eagle-topk.
        tokens: --speculative-num-draft-tokens.
    """

    algorithm: str
    draft: str | None
    steps: int
    topk: int
    tokens: int

    @property
    def loads_draft(self) -> bool:
        """Whether a draft model is loaded."""
        return self.algorithm not in ("NGRAM", "UNO")


@dataclass(frozen=True, slots=True)
class Lora:
    """The settings of LoRA adapters.

    Attributes:
        adapters: adapters of one batch.
        rank: --max-lora-rank, None where it is the adapters' own.
        modules: --lora-target-modules.
    """

    adapters: int
    rank: int | None
    modules: tuple[str, ...]


@dataclass(slots=True)
class SglangSettings:
    """The settings of a launch. None stands for a default that depends on the GPU or on the model.

    Attributes:
        tp, pp, ep: tensor, pipeline and expert parallel size.
        replicas, data_parallel: replicas of data-parallel attention, 1 without it, and --dp-size.
        decode_context: --dcp-size.
        fraction: --mem-fraction-static.
        kv_dtype, page: --kv-cache-dtype, and --page-size in tokens.
        limit, requests: --max-total-tokens and --max-running-requests.
        chunk, prefill: --chunked-prefill-size and --max-prefill-tokens.
        batch: the largest captured batch.
        decode_graphs, prefill_graphs: decoding or prefill is captured.
        speculation: speculative decoding.
        radix, overlap: there is a radix cache; scheduling overlaps with the GPU's work.
        slots, state_share: --max-mamba-cache-size and --mamba-full-memory-ratio.
        strategy: --mamba-radix-cache-strategy.
        ssm_dtype, conv_dtype: the dtypes of recurrent states and of those of convolutions.
        window_share: --swa-full-tokens-ratio.
        window_pool: sliding layers may have a pool of their own.
        context: --context-length in tokens.
        node: --disaggregation-mode.
        offload: --cpu-offload-gb in GiB.
        ngrams: where a table of n-grams is: "gpu", "pinned" (the host's memory) or "file" (--ple-offload-embedding, which is on
            by default for bfloat16, and --ple-offload-backend).
        gpu_experts: --kt-num-gpu-experts, where KTransformers computes the other experts of each layer on the CPU.
        encoder: the encoder of images is loaded.
        deepep: experts are exchanged by DeepEP.
        experts, dispatch: --moe-runner-backend and --moe-a2a-backend.
        states16, v4_backend: DeepSeek V4's compressors keep their states in bfloat16; --dsv4-attn-backend.
        quantization: --quantization.
        lora: the settings of LoRA adapters.
        unknown: names of settings whose value is not known.
        special: settings that this arithmetic does not follow.
    """

    tp: int = 1
    pp: int = 1
    ep: int = 1
    replicas: int = 1
    data_parallel: int = 1
    decode_context: int = 1
    fraction: float | None = None
    kv_dtype: str = "auto"
    page: int | None = None
    limit: int | None = None
    requests: int | None = None
    chunk: int | None = None
    prefill: int = 16384
    batch: int | None = None
    decode_graphs: bool = True
    prefill_graphs: bool | None = None
    speculation: Speculation | None = None
    radix: bool = True
    overlap: bool = True
    slots: int | None = None
    state_share: float = 0.9
    strategy: str = "auto"
    ssm_dtype: str | None = None
    conv_dtype: str | None = None
    window_share: float | None = None
    window_pool: bool = True
    context: int | None = None
    node: str = "null"
    offload: float = 0.0
    ngrams: str = "pinned"
    gpu_experts: int | None = None
    encoder: bool = True
    deepep: bool = False
    experts: str | None = None
    dispatch: str | None = None
    states16: bool = False
    v4_backend: str | None = None
    quantization: str | None = None
    lora: Lora | None = None
    unknown: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)


def read(config: Config, release: Release) -> SglangSettings:
    """Read the settings of a launch under its release."""
    found = SglangSettings()
    reader = _Reader(config, found)
    found.tp = reader.whole("effective.tp-size") or 1
    found.pp = reader.whole("effective.pp-size") or 1
    found.ep = reader.whole("effective.ep-size") or 1
    found.data_parallel = reader.whole("effective.dp-size") or 1
    found.replicas = _replicas(config, release, reader)
    found.decode_context = reader.whole("dcp-size") or 1
    found.fraction = reader.number("mem-fraction-static")
    found.kv_dtype = reader.word("kv-cache-dtype") or "auto"
    found.page = reader.whole("page-size")
    found.limit = reader.whole("max-total-tokens")
    found.requests = reader.whole("max-running-requests")
    found.chunk = reader.whole("chunked-prefill-size")
    found.prefill = reader.whole("max-prefill-tokens") or 16384
    _graphs(found, release, reader)
    found.speculation = _speculation(config, release, reader)
    if found.speculation is not None and found.requests is None:
        found.requests = _running_with_drafts(release, found.speculation)
    found.radix = not reader.flag("disable-radix-cache")
    found.overlap = not reader.flag("disable-overlap-schedule")
    _states(found, release, reader)
    found.window_share = reader.number("swa-full-tokens-ratio")
    found.window_pool = not reader.flag("disable-hybrid-swa-memory")
    found.context = reader.whole("context-length")
    found.node = reader.word("disaggregation-mode") or "null"
    found.offload = reader.number("cpu-offload-gb") or 0.0
    other_dtype = reader.word("dtype") in ("half", "float16", "float", "float32")
    on_gpu = other_dtype or config.operand("ple-offload-embedding").value is False
    found.ngrams = "gpu" if on_gpu else reader.word("ple-offload-backend") or "pinned"
    _on_cpu(found, reader)
    found.encoder = not (reader.flag("language-only") or reader.flag("language-model-only"))
    found.deepep = reader.word("moe-a2a-backend") == "deepep" or reader.flag("enable-deepep-moe")
    found.experts = reader.word("moe-runner-backend")
    found.dispatch = "deepep" if found.deepep else reader.word("moe-a2a-backend")
    found.v4_backend = reader.word("dsv4-attn-backend")
    found.states16 = reader.word("env.SGLANG_DSV4_COMPRESS_STATE_DTYPE") in ("bfloat16", "bf16")
    found.quantization = reader.word("quantization")
    found.lora = _lora(config, reader)
    found.special += [f"--{name}" for name in _SPECIAL if config.operand(name).value not in (None, False)]
    for name, usual in _SPECIAL_VARIABLES.items():
        given = config.operand("env." + name)
        if given.present and not (isinstance(given.value, str) and given.value.lower() in usual):
            found.special.append(name)
    if (reader.whole("offload-group-size") or 0) > 0:
        found.special.append("--offload-group-size")
    return found


def _on_cpu(found: SglangSettings, reader: _Reader) -> None:
    """Experts that KTransformers keeps in the memory of the host (srt/layers/moe/kt_ep_wrapper.py, 0.5.4 to 0.5.23)."""
    if reader.word("kt-weight-path") is None and reader.word("kt-amx-weight-path") is None:
        return
    found.gpu_experts = reader.whole("kt-num-gpu-experts")
    if found.gpu_experts is None and "kt-num-gpu-experts" not in found.unknown:
        found.special.append("--kt-weight-path")


def _lora(config: Config, reader: _Reader) -> Lora | None:
    if not reader.flag("enable-lora") and config.operand("lora-paths").present is not True:
        return None
    given = config.setting("lora-target-modules")
    modules = tuple(word.text.value or "" for word in given.values) if given is not None else ()
    return Lora(reader.whole("max-loras-per-batch") or 8, reader.whole("max-lora-rank"), modules)


class _Reader:
    """Reads values of options and keeps the names of those whose value is not known."""

    __slots__ = ("config", "found")

    def __init__(self, config: Config, found: SglangSettings) -> None:
        self.config, self.found = config, found

    def _operand(self, name: str) -> Operand | None:
        operand = self.config.operand(name)
        if operand.present is False or operand is UNWRITTEN:
            return None
        if operand.present is None or operand.value is None:
            shown = name.removeprefix("effective.")
            if shown not in self.found.unknown:
                self.found.unknown.append(shown)
            return None
        return operand

    def whole(self, name: str) -> int | None:
        operand = self._operand(name)
        value = operand.value if operand is not None else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def number(self, name: str) -> float | None:
        operand = self._operand(name)
        value = operand.value if operand is not None else None
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def word(self, name: str) -> str | None:
        operand = self._operand(name)
        value = operand.value if operand is not None else None
        return value if isinstance(value, str) else None

    def flag(self, name: str) -> bool:
        operand = self._operand(name)
        return operand is not None and operand.value is True

    def default(self, name: str) -> float | None:
        """The release's own default of a numeric option."""
        config = self.config
        if config.catalog is None:
            return None
        index = config.index if config.index is not None else config.catalog.nearest(config.release)
        option = config.catalog.table(index).get(name)
        value = option.default if option is not None else None
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _replicas(config: Config, release: Release, reader: _Reader) -> int:
    """Replicas of data-parallel attention. Up to 0.4.4 there are as many as GPUs (srt/server_args.py, 0.4.4 line 269)."""
    from servelint.engines.sglang import facts

    requested = facts.dp_attention(config)
    if not release.since("0.4.4.post1"):
        return reader.found.tp if config.operand("enable-dp-attention").value is True else 1
    if requested.value is not True:
        if requested.present is None and requested is not UNWRITTEN:
            reader.found.unknown.append("enable-dp-attention")
        return 1
    width = reader.whole("effective.attn-dp-size") or 1
    return width if width > 1 else reader.found.data_parallel


def _graphs(found: SglangSettings, release: Release, reader: _Reader) -> None:
    found.batch = reader.whole("cuda-graph-max-bs-decode") or reader.whole("cuda-graph-max-bs")
    off = reader.flag("disable-cuda-graph")
    found.decode_graphs = not (off or reader.flag("disable-decode-cuda-graph"))
    backend = reader.word("cuda-graph-backend-prefill")
    if backend is not None:
        found.prefill_graphs = backend != "disabled"
    elif off or reader.flag("disable-prefill-cuda-graph") or reader.flag("disable-piecewise-cuda-graph"):
        found.prefill_graphs = False
    elif reader.flag("enable-piecewise-cuda-graph") or reader.flag("enforce-piecewise-cuda-graph"):
        found.prefill_graphs = True
    elif not release.since("0.5.10rc0"):
        found.prefill_graphs = False


def _states(found: SglangSettings, release: Release, reader: _Reader) -> None:
    found.slots = reader.whole("max-mamba-cache-size")
    given = reader.number("mamba-full-memory-ratio")
    if given is None:
        given = reader.default("mamba-full-memory-ratio")
    found.state_share = given if given is not None else 0.9
    strategy = reader.word("mamba-radix-cache-strategy") or reader.word("mamba-scheduler-strategy")
    found.strategy = strategy or "auto"
    found.ssm_dtype = reader.word("mamba-ssm-dtype") or reader.word("env.SGLANG_MAMBA_SSM_DTYPE")
    if found.ssm_dtype is None and not release.since("0.5.9"):
        found.ssm_dtype = "float32"
    found.conv_dtype = reader.word("env.SGLANG_MAMBA_CONV_DTYPE")


def _running_with_drafts(release: Release, speculation: Speculation) -> int | None:
    """--max-running-requests where drafts set it.

    Source: srt/server_args.py (0.4.4 line 282: 32, 0.4.5.post3: 48; NGRAM from 0.5.2), and srt/arg_groups/speculative_hook.py
    (0.5.23 line 442).
    """
    if speculation.algorithm in ("EAGLE", "EAGLE3") and not release.since("0.4.5"):
        return 32 if release.since("0.4.3.post3") else None
    return _RUNNING_WITH_DRAFTS


def _speculation(config: Config, release: Release, reader: _Reader) -> Speculation | None:
    """Speculative decoding as it runs.

    Defaults: auto_choose_speculative_params in srt/server_args.py (0.4.4.post4) and srt/arg_groups/speculative_hook.py. Where
    top-k is 1, a step verifies one token more than it drafts (0.4.5 line 336).
    """
    algorithm = reader.word("effective.speculative-algorithm")
    if algorithm is None:
        return None
    draft = reader.word("speculative-draft-model-path")
    steps, topk = reader.whole("speculative-num-steps"), reader.whole("speculative-eagle-topk")
    tokens = reader.whole("speculative-num-draft-tokens")
    if algorithm in BLOCKS:
        block = reader.whole("speculative-dflash-block-size") or tokens or 16
        return Speculation(algorithm, draft, 1, 1, block)
    if algorithm == "NGRAM":
        return Speculation(algorithm, None, 1, 1, tokens or 12)
    if steps is None:
        steps, topk, tokens = (3, 1, 4) if algorithm == "STANDALONE" else _chosen(config, release)
    topk = topk or 1
    if topk == 1 and release.since("0.4.5"):
        tokens = steps + 1
    return Speculation(algorithm, draft, steps, topk, tokens or steps + 1)


def _chosen(config: Config, release: Release) -> tuple[int, int, int]:
    """Steps, top-k and draft tokens of auto_choose_speculative_params: a tree for Llama and Grok, else a chain of three."""
    if not release.since("0.4.4.post4"):
        return 5, 4, 8
    family = config.family
    architecture = family.architecture if family is not None else None
    if architecture in ("LlamaForCausalLM", "Grok1ForCausalLM", "Grok1VForCausalLM"):
        return 5, 4, 8
    return 3, 1, 4
