"""What a vLLM release makes of a launch's settings, as far as memory follows from them."""

from __future__ import annotations

from servelint.core.numbers import is_whole
from servelint.engines.config import Config
from servelint.engines.vllm.facts import prefix_caching, speculation, speculative_method, speculative_tokens
from servelint.memory.vllm import fitted
from servelint.memory.vllm.rules import Rules, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_MOST = 1 << 48
_MOST_DRAFTS = 1 << 16
_RANKS = 4096
_HIDDEN_STATES = ("mtp", "eagle", "eagle3")


class Gpu:
    """The GPU of a launch: what is None is not known.

    gib:      its memory as CUDA reports it to the engine (torch.cuda.mem_get_info);  spread: what some drivers give more
    unified:  it shares its memory with the host
    """

    __slots__ = ("capability", "gib", "name", "spread", "unified", "vendor")

    def __init__(self, config: Config) -> None:
        self.name = _text(config, "gpu.name")
        usable, whole = config.operand("gpu.cuda-gib").value, config.operand("gpu.memory-gib").value
        self.unified = config.operand("gpu.unified").value is True
        self.vendor = _text(config, "gpu.vendor")
        self.gib = float(usable) if isinstance(usable, (int, float)) else None
        if self.gib is None and isinstance(whole, (int, float)):
            hidden = self.vendor == "nvidia" and not self.unified
            self.gib = whole - (fitted.HIDDEN + fitted.HIDDEN_SHARE * whole if hidden else 0.0)
        spread = config.operand("gpu.spread-gib").value
        self.spread = float(spread) if isinstance(spread, (int, float)) else 0.0
        capability = config.operand("gpu.capability").value
        self.capability = capability if isinstance(capability, float) else None

    @property
    def large(self) -> bool:
        """Whether the release's defaults take it for a GPU like an H100 (EngineArgs.get_batch_defaults)."""
        return self.gib is not None and self.gib >= 70 and "a100" not in (self.name or "")


class Settings:
    """The settings of a launch under one release. `missing` names those that nobody can know, in words for a reader.

    fraction:    --gpu-memory-utilization
    length:      --max-model-len, or what the model's config has; fitted: "auto" or -1, the longest that fits
    batched:     --max-num-batched-tokens;  sequences: --max-num-seqs
    kv_dtype:    --kv-cache-dtype as given;  block: --block-size as given
    drafts:      drafted tokens, 0 without speculation;  method: how they are drafted;  draft: the model that drafts them
    adapters:    LoRA adapters that room is kept for, 0 without --enable-lora;  rank: --max-lora-rank
    graphs:      whether CUDA graphs are captured, also where it is not known (perhaps_eager);  captured: the largest batch
    cached:      whether prefix caching is on
    kv_bytes:    --kv-cache-memory-bytes;  blocks: --num-gpu-blocks-override;  offload: GiB of --cpu-offload-gb
    images:      whether pictures are taken, so that their encoder is profiled (text_only: nor is it loaded)
    """

    __slots__ = (
        "adapters",
        "batched",
        "block",
        "blocks",
        "cached",
        "captured",
        "config",
        "context",
        "data",
        "decode",
        "draft",
        "drafts",
        "expert_parallel",
        "fitted",
        "fraction",
        "gpu",
        "graphs",
        "images",
        "in_flight",
        "kv_bytes",
        "kv_dtype",
        "length",
        "method",
        "missing",
        "offload",
        "perhaps_eager",
        "pipeline",
        "prefill",
        "rank",
        "rules",
        "sequences",
        "tensor",
        "text_only",
    )  # fmt: skip

    def __init__(self, config: Config, model: Architecture | None) -> None:
        self.config = config
        self.missing: list[str] = []
        self.rules: Rules = rules_of(config.release or "0")
        self.gpu = Gpu(config)
        self.tensor = self._size("tensor-parallel-size")
        self.pipeline = self._size("pipeline-parallel-size")
        self.data = self._size("data-parallel-size")
        self.decode = self._size("decode-context-parallel-size")
        self.prefill = self._size("prefill-context-parallel-size")
        self.expert_parallel = self._flag("enable-expert-parallel")
        self.fraction = self._number("gpu-memory-utilization", self.rules.fraction, 0.0, 1.0)
        self.kv_bytes = self._positive("kv-cache-memory-bytes") or self._positive("kv-cache-memory")
        self.blocks = self._positive("num-gpu-blocks-override")
        self.offload = self._number("cpu-offload-gb", 0.0, 0.0, 1e6)
        self.kv_dtype = self._words("kv-cache-dtype", "auto")
        self.block = self._positive("block-size")
        self.context = model.context if model is not None else None
        self._length()
        self._batches()
        self._speculation()
        self._graphs()
        self.cached = self._caches(model)
        self._images(model)
        self.adapters = (self._positive("max-loras") or 1) if self._flag("enable-lora") else 0
        self.rank = self._positive("max-lora-rank") or 16
        if self.adapters and model is not None and (model.experts is not None or model.states):
            self.missing.append("what adapters take in layers with experts or states")
        self.in_flight = 2 if self.rules.in_flight and self.pipeline == 1 and self._asynchronous() else self.pipeline

    def _size(self, name: str) -> int:
        found = self._positive(name) or 1
        if found > _RANKS:
            self.missing.append(f"--{name} {found}")
        return min(found, _RANKS)

    def _whole(self, name: str) -> int | None:
        operand = self.config.operand(name)
        value = operand.value
        if operand.present and isinstance(value, int) and not isinstance(value, bool):
            return value
        if operand.present is not False and not (
            operand.present and operand.text is not None and operand.text.flat in _NOTHING
        ):
            self.missing.append(f"--{name}")
        return None

    def _positive(self, name: str) -> int | None:
        """A whole number that makes sense: another one is refused by the engine, for another reason than memory."""
        found = self._whole(name)
        if found is not None and not 0 < found < _MOST:
            self.missing.append(f"--{name} {found}")
            return None
        return found

    def _number(self, name: str, default: float, least: float, most: float) -> float:
        operand = self.config.operand(name)
        value = operand.value
        if operand.present and isinstance(value, (int, float)) and not isinstance(value, bool):
            if least <= value <= most:
                return float(value)
            self.missing.append(f"--{name} {value}")
        elif operand.present is not False:
            self.missing.append(f"--{name}")
        return default

    def _words(self, name: str, default: str) -> str:
        operand = self.config.operand(name)
        if operand.present and operand.value is not None:
            return str(operand.value)
        if operand.present is not False:
            self.missing.append(f"--{name}")
        return default

    def _flag(self, name: str) -> bool:
        operand = self.config.operand(name)
        if operand.present is None or (operand.present and not isinstance(operand.value, bool)):
            self.missing.append(f"--{name}")
        return operand.value is True

    def _length(self) -> None:
        """--max-model-len: -1 and "auto" mean the longest that fits (EngineArgs, from 0.14.0)."""
        operand = self.config.operand("max-model-len")
        self.fitted = operand.present is True and operand.value in (-1, "auto")
        given = None if self.fitted else self._positive("max-model-len")
        self.length = given if given is not None else self.context

    def _batches(self) -> None:
        """EngineArgs._set_default_max_num_seqs_and_batched_tokens_args in vllm/engine/arg_utils.py, for a server.

        GPUs of 70 GiB and more, but for the A100, get larger batches; from 0.28.0 those of 160 GiB larger ones still; from
        0.33.0 a GB10 counts as small.
        """
        rules, gpu = self.rules, self.gpu
        large = gpu.large and not (rules.since("0.33.0") and gpu.capability == 12.1)
        most = rules.since("0.28.0") and gpu.gib is not None and gpu.gib >= 160
        batched = self._positive("max-num-batched-tokens")
        sequences = self._positive("max-num-seqs")
        twice = 2 if self._words("performance-mode", "") == "throughput" else 1
        asked = sequences if sequences is not None else (1024 if large or most else 256) * twice
        default = (16384 if most else 8192 if large else 2048) * twice
        if batched is None and self.config.operand("enable-chunked-prefill").value is False:
            default = max(default, self.length or 0)
        if batched is None and self.length is not None and rules.since("0.11.1"):
            default = min(default, asked * self.length)
        self.batched = batched if batched is not None else default
        self.sequences = sequences if sequences is not None else min(asked, self.batched)

    def _speculation(self) -> None:
        config = self.config
        on = speculation(config)
        self.method: str | None = None
        self.draft: str | None = None
        self.drafts = 0
        if on.present is None:
            self.missing.append("whether speculative decoding is on")
        if not on.present:
            return
        method = speculative_method(config).value
        self.method = method if isinstance(method, str) else None
        number = speculative_tokens(config)
        if isinstance(number.value, int) and 0 <= number.value < _MOST_DRAFTS:
            self.drafts = number.value
        elif number.present is not False:
            self.missing.append("num_speculative_tokens")
        else:
            self.drafts = 1  # vLLM takes the draft's own number: one layer of MTP drafts one token
        for name in ("speculative-config.model", "spec-model"):
            given = config.operand(name)
            if isinstance(given.value, str):
                self.draft = given.value
        if self.method is None and self.draft is None:
            self.missing.append("the speculative method")

    def _graphs(self) -> None:
        config = self.config
        asked = config.operand("enforce-eager")
        self.perhaps_eager = asked.present is None or (asked.present and asked.value is None)
        eager = asked.value is True or config.operand("compilation-config.cudagraph_mode").value == "NONE"
        level = config.operand("optimization-level").value
        self.graphs = not eager and level not in (0, "0")
        given = self._positive("max-cudagraph-capture-size")
        inner = config.operand("compilation-config.max_cudagraph_capture_size").value
        given = inner if given is None and isinstance(inner, int) else given
        width = 1 + self.drafts
        listed = config.setting("cudagraph-capture-sizes")
        sizes = [int(word.text.flat) for word in listed.values if is_whole(word.text.flat)] if listed is not None else []
        self.captured = max(sizes) if sizes else given if given is not None else min(self.sequences * width * 2, 512)
        self.captured = min(self.captured, self.batched)

    def _images(self, model: Architecture | None) -> None:
        """Whether an encoder is profiled: not with --language-model-only, --skip-mm-profiling, or limits of 0 for all that it
        takes (GPUModelRunner.profile_run in vllm/v1/worker/gpu_model_runner.py)."""
        vision = model is not None and model.vision is not None
        limits = [self.config.operand(f"limit-mm-per-prompt.{kind}").value for kind in ("image", "video")]
        self.text_only = self._flag("language-model-only")
        self.images = vision and not self.text_only and not self._flag("skip-mm-profiling") and limits != [0, 0]

    def _caches(self, model: Architecture | None) -> bool:
        """Whether prefix caching is on; of a model that is known by its config.json alone as of one that is known by name."""
        told = prefix_caching(self.config).value
        if isinstance(told, bool):
            return told
        return self.rules.since("0.28.0") if model is not None and model.states else True

    def _asynchronous(self) -> bool:
        """Whether scheduling is asynchronous: by default with drafts on hidden states or none, and an executor on this machine
        (vllm/config/vllm.py)."""
        asked = self.config.operand("async-scheduling").value
        if isinstance(asked, bool):
            return asked
        executor = self.config.operand("distributed-executor-backend").value
        return executor in (None, "mp", "uni") and (self.drafts == 0 or self.method in _HIDDEN_STATES or self.method is None)

    @property
    def sharded(self) -> int:
        return self.decode * self.prefill

    @property
    def graphs_counted(self) -> bool:
        """Whether an estimate of the CUDA graphs is taken off the KV cache."""
        if not self.graphs or not self.rules.graphs_known:
            return False
        given = self.config.operand("env.VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS").value
        return bool(given.strip("0 ")) if isinstance(given, str) else self.rules.graphs_counted


_NOTHING = ("", "None", "null")


def _text(config: Config, name: str) -> str | None:
    value = config.operand(name).value
    return value if isinstance(value, str) else None
