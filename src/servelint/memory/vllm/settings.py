"""The settings of a vLLM launch that decide about memory, as one release reads them."""

from __future__ import annotations

from servelint.core.numbers import is_whole
from servelint.engines.config import Config
from servelint.engines.vllm.facts import prefix_caching, speculation, speculative_method, speculative_tokens
from servelint.memory.plan import Release
from servelint.memory.vllm import fitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_PRINTED = "0.20.1rc1.dev91"
"""The first build that is known to print tokens as concurrency times length; of releases that is 0.20.1."""
_MOST = 1 << 48
_MOST_DRAFTS = 1 << 16
_RANKS = 4096
_HIDDEN_STATES = ("mtp", "eagle", "eagle3")
"""Methods whose drafts read the model's hidden states."""
_ASYNCHRONOUS = (*_HIDDEN_STATES, "dflash", "dspark", "ngram_gpu", "extract_hidden_states")
"""Methods with which scheduling stays asynchronous (vllm/config/vllm.py; EagleModelTypes in vllm/config/speculative.py)."""
_NOTHING = ("", "None", "null")
_MAY_CUT_GRAPHS = (
    "kv-transfer-config",
    "compilation-config.mode",
    "all2all-backend",
    "speculative-config.num_speculative_tokens_per_batch_size",
)
"""Settings with which a release may capture decoding in pieces, or not at all."""
_LEFT_TO_V0 = (
    "speculative-config", "speculative-model", "load-format", "logits-processor-pattern", "preemption-mode", "dtype", "task",
    "disable-async-output-proc", "scheduling-policy", "num-scheduler-steps", "scheduler-delay-factor", "cpu-offload-gb",
    "guided-decoding-backend", "enable-prompt-adapter", "enable-prompt-embeds", "max-num-partial-prefills", "quantization",
    "max-long-partial-prefills", "otlp-traces-endpoint", "collect-detailed-traces", "env.VLLM_ATTENTION_BACKEND",
)  # fmt: skip
"""Options some of whose values choose the V0 engine before 0.10.0."""
_SECOND_RUNNER_MIXTURES = ("DeepseekV2ForCausalLM", "GraniteMoeForCausalLM", "Qwen2MoeForCausalLM")
_SECOND_RUNNER = ("Qwen3ForCausalLM", "LlamaForCausalLM", "MistralForCausalLM", *_SECOND_RUNNER_MIXTURES)
"""Architectures that the second model runner serves from 0.24.0, and those with experts that it still serves from 0.25.0."""
_FIRST_RUNNER = ("ngram", "ngram_gpu", "suffix", "medusa", "mlp_speculator", "custom_class")
"""Methods of drafting for which the first model runner stays."""
_BACKENDS = ("attention-backend", "attention-config.backend", "env.VLLM_ATTENTION_BACKEND")


class ReleaseRules(Release):
    """How one release plans the KV cache: what changed and when, read in the source of every release.

    Where no file is named it is vllm/v1/core/kv_cache_utils.py (from 0.33.0 vllm/v1/core/kv_cache_planning.py).

    Attributes:
        fraction: the default of --gpu-memory-utilization: 0.9, from 0.20.0 0.92 (vllm/config/cache.py).
        graphs_counted: whether an estimate of the CUDA graphs is taken off the KV cache unless
            VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS disables it: from 0.20.0 (vllm/envs.py).
        graphs_known: whether the release reads that variable: from 0.18.0.
        widen: if the most frequent kind of layer has fewer than this times the layers of the rarest, all groups get the size of
            the largest (_get_kv_cache_groups_uniform_page_size): 1 before 0.12.0, then 1.25, from 0.18.0 1.5.
        unify: layers with smaller pages get larger blocks (unify_kv_cache_spec_page_size): from 0.12.0.
        pad: attention pages that do not divide the largest are padded instead of refused: from 0.26.0.
        one_pool: layers of one kind with pages of several sizes make one group (UniformTypeKVCacheSpecs): from 0.11.0.
        printed: "GPU KV cache size" is int(concurrency * max_model_len): from 0.20.1, and in builds on the way to it, of which
            the 91st logs 1,206,303 tokens beside 4.71 requests of 256,000. Before, it is blocks // groups * block size.
        context_inside: CUDA's context counts within the fraction, and nothing has to be free at the start: before 0.9.1
            (determine_available_memory in vllm/v1/worker/gpu_worker.py).
        zeroth: the V0 engine serves, which profiles whole prompts without torch.compile: before 0.8.0.
        need: what is compared with the memory before a start: "layers", the sum over all layers (to 0.13.0); "first", the
            blocks of the first group alone (0.14.0 to 0.18.1); "groups", the blocks of all groups (from 0.19.0).
        stages: the layers of all pipeline stages are compared with the memory of one (issue 34076): from 0.14.0 to 0.16.0.
        null_block: one block is held back from that comparison: from 0.29.0.
        in_flight: sliding and chunked layers keep the tokens of every batch in flight (max_in_flight_tokens in
            vllm/v1/kv_cache_interface.py): from 0.26.0.
        state: the blocks that a request needs of a layer with state (MambaSpec.max_memory_usage_bytes): "one" (to 0.11.0);
            "length", by max_model_len and its block size (0.11.1 to 0.14.1); "mode", by the cache mode (from 0.15.0).
        all_mode: whether the mode "all" exists, with one state per block of tokens: from 0.11.1 to 0.31.0.
        align: prefix caching keeps one state per request unless "all" is requested: from 0.28.0.
        block_as_given: the attention block of a hybrid model is a multiple of --block-size: from 0.20.0
            (vllm/platforms/interface.py).
        mla_128: with latent attention it is also a multiple of 128: from 0.27.0.
        mamba2_drafts: draft tokens widen the convolution state of Mamba-2 too: from 0.17.0 (layers/mamba/mamba_utils.py).
        sequences: every sequence needs a block of each layer with state: no more than are captured, of layers with a delta
            rule, from 0.11.0 ("captured", an assertion of causal_conv1d_update in layers/mamba/ops/causal_conv1d.py), none
            from 0.18.0, whose captures shrink to the blocks, and all of them from 0.20.0 ("all",
            CompilationConfig.resolve_cudagraph_mode_and_sizes in vllm/config/compilation.py).
        fp8_of_model: --kv-cache-dtype auto takes the dtype that the checkpoint names: from 0.14.0 (vllm/utils/torch_utils.py).
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.fraction = 0.92 if self.since("0.20.0") else 0.9
        self.graphs_counted = self.since("0.20.0")
        self.graphs_known = self.since("0.18.0")
        self.widen = 1.5 if self.since("0.18.0") else 1.25 if self.since("0.12.0") else 1.0
        self.unify = self.since("0.12.0")
        self.pad = self.since("0.26.0")
        self.one_pool = self.since("0.11.0")
        self.printed = self.since(_PRINTED)
        self.need = "groups" if self.since("0.19.0") else "first" if self.since("0.14.0") else "layers"
        self.stages = self.need == "first" and not self.since("0.17.0")
        self.null_block = self.since("0.29.0")
        self.context_inside = not self.since("0.9.1")
        self.zeroth = not self.since("0.8.0")
        self.in_flight = self.since("0.26.0")
        self.state = "mode" if self.since("0.15.0") else "length" if self.since("0.11.1") else "one"
        self.all_mode = self.since("0.11.1") and not self.since("0.32.0")
        self.align = self.since("0.28.0")
        self.block_as_given = self.since("0.20.0")
        self.mla_128 = self.since("0.27.0")
        self.mamba2_drafts = self.since("0.17.0")
        self.fp8_of_model = self.since("0.14.0")
        self.sequences = (
            "all" if self.since("0.20.0") else "captured" if self.since("0.11.0") and not self.since("0.18.0") else ""
        )


class CudaGpu:
    """The GPU of a launch as CUDA shows it. An attribute that is not known is None.

    Attributes:
        name: its name as servelint writes it.
        unified: it shares its memory with the host.
        vendor: "nvidia" or "amd".
        gib: its memory in GiB as CUDA reports it to the engine (torch.cuda.mem_get_info).
        spread: GiB that some drivers report in addition.
        capability: its compute capability, such as 9.0.
    """

    def __init__(self, config: Config) -> None:
        self.name = config.text("gpu.name")
        usable, whole = config.operand("gpu.cuda-gib").value, config.operand("gpu.memory-gib").value
        self.unified = config.operand("gpu.unified").value is True
        self.vendor = config.text("gpu.vendor")
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
        """Whether the defaults of the release treat it as a large GPU such as an H100 (EngineArgs.get_batch_defaults)."""
        return self.gib is not None and self.gib >= 70 and "a100" not in (self.name or "") and self.capability != 12.1


class VllmSettings:
    """The settings of a launch under one release.

    Attributes:
        config: the launch under the release.
        missing: settings that are not known, in words for a reader.
        rules: the arithmetic of the release.
        gpu: the GPU of the launch.
        tensor, pipeline, data: the parallel sizes, such as --tensor-parallel-size.
        decode, prefill: --decode-context-parallel-size and --prefill-context-parallel-size.
        expert_parallel: --enable-expert-parallel.
        fraction: --gpu-memory-utilization.
        kv_bytes: --kv-cache-memory-bytes.
        blocks: --num-gpu-blocks-override.
        offload: --cpu-offload-gb in GiB.
        kv_dtype, block: --kv-cache-dtype and --block-size (tokens) as given.
        context: the context length of the model in tokens.
        length: --max-model-len, or the context length of the model.
        fitted: --max-model-len is "auto" or -1: the longest that fits.
        batched, sequences: --max-num-batched-tokens and --max-num-seqs.
        method, draft: how tokens are drafted, and the name of the draft model.
        drafts: tokens drafted per step, 0 without speculation.
        widest_graphs: the model asks for CUDA graphs of 1,024 tokens.
        graphs: CUDA graphs are captured, or may be (`perhaps_eager`: it is not known whether --enforce-eager is given).
        compiled: the model is compiled by torch.compile.
        captured: the largest captured batch in tokens.
        cached: prefix caching is on.
        text_only, images: the encoder of images is not loaded; it is profiled.
        sharded: ranks that share the tokens of a request: decode times prefill.
        adapters, rank: LoRA adapters that room is kept for, 0 without --enable-lora, and --max-lora-rank.
        in_flight: batches that may be in flight at once.
        second_runner: whether the second model runner serves the launch, None where that depends on what is unknown to
            servelint.
    """

    def __init__(self, config: Config, model: Architecture | None) -> None:
        self.config = config
        self.missing: list[str] = []
        self.rules = ReleaseRules(config.release or "0")
        self.gpu = CudaGpu(config)
        self.tensor = self._size("tensor-parallel-size")
        self.pipeline = self._size("pipeline-parallel-size")
        several = config.operand("nnodes").value not in (None, 1)
        self.one_node = not several and config.operand("distributed-executor-backend").value != "ray" and not self.gpu.unified
        self.data = self._size("data-parallel-size")
        self.decode = self._size("decode-context-parallel-size")
        self.prefill = self._size("prefill-context-parallel-size")
        self.sharded = self.decode * self.prefill
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
        self.widest_graphs = model is not None and model.architecture == "GptOssForCausalLM"
        self._graphs()
        self.cached = self._caches(model)
        self._images(model)
        self.adapters = (self._positive("max-loras") or 1) if self._flag("enable-lora") else 0
        self.rank = self._positive("max-lora-rank") or 16
        if self.adapters and model is not None and (model.experts is not None or model.states):
            self.missing.append("the memory of adapters in layers with experts or states")
        self.second_runner = self._second_runner(model)
        if self.second_runner and not self.rules.since("0.27.0"):
            self.images = False
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
        nothing = operand.present and operand.text is not None and operand.text.flat in _NOTHING
        if operand.present is not False and not nothing:
            self.missing.append(f"--{name}")
        return None

    def _positive(self, name: str) -> int | None:
        """A positive whole number. Any other number is refused by the engine for reasons other than memory."""
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
        """Source: EngineArgs, from 0.14.0: -1 and "auto" mean the longest length that fits."""
        operand = self.config.operand("max-model-len")
        self.fitted = operand.present is True and operand.value in (-1, "auto")
        given = None if self.fitted else self._positive("max-model-len")
        self.length = given if given is not None else self.context

    def _batches(self) -> None:
        """Source: EngineArgs._set_default_max_num_seqs_and_batched_tokens_args in vllm/engine/arg_utils.py, for a server.

        GPUs of 70 GiB and more, except the A100, get larger batches. From 0.28.0 those of 160 GiB get still larger ones. A GB10
        counts as small: NVML does not know its memory, and from 0.33.0 it is named. Before 0.9.0 an A100 counts as large,
        before 0.8.5 only H100 and H200 do, and before 0.8.4 every GPU gets 1,024 sequences. The class LLM gets larger batches
        (UsageContext.LLM_CLASS); what from_engine_args makes of EngineArgs gets those of no usage, by default.
        """
        rules, gpu = self.rules, self.gpu
        large = gpu.large
        if not rules.since("0.8.5"):
            large = (gpu.name or "").startswith(("h100", "h200"))
        elif not rules.since("0.9.0"):
            large = gpu.gib is not None and gpu.gib >= 70
        most = rules.since("0.28.0") and gpu.gib is not None and gpu.gib >= 160
        batched = self._positive("max-num-batched-tokens")
        sequences = self._positive("max-num-seqs")
        if rules.zeroth:
            self.batched = batched if batched is not None else self._unchunked()
            self.sequences = sequences if sequences is not None else 256
            return
        twice = 2 if self._words("performance-mode", "") == "throughput" else 1
        many = large or most or not rules.since("0.8.4")
        requested = sequences if sequences is not None else (1024 if many else 256) * twice
        default = (16384 if most else 8192 if large else 2048) * twice
        made = self.config.launch.launcher
        if made == "LLM":
            default = (16384 if most or large else 8192) * twice
        elif made in ("EngineArgs", "AsyncEngineArgs"):
            default = 2048 * twice
            if not rules.since("0.9.1"):
                self.missing += [f"--{name}" for name, one in (("max-num-batched-tokens", batched),) if one is None]
            elif sequences is None:
                requested = 128 * twice
        if batched is None and self.config.operand("enable-chunked-prefill").value is False:
            default = max(default, self.length or 0)
        if batched is None and self.length is not None and rules.since("0.11.1"):
            default = min(default, requested * self.length)
        self.batched = batched if batched is not None else default
        self.sequences = sequences if sequences is not None else min(requested, self.batched)

    def _unchunked(self) -> int:
        """Tokens of a batch of the V0 engine, by default whole prompts up to 32,768 tokens.

        Source: SchedulerConfig in vllm/config.py and create_engine_config in vllm/engine/arg_utils.py, 0.6.4 to 0.7.3.
        """
        chunked, length = self.config.operand("enable-chunked-prefill"), self.length or 0
        if (chunked.present and chunked.value is not False) or (chunked.present is False and length > 32768):
            return 2048 if self.rules.since("0.7.0") else 512
        return max(length, 2048)

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
        """The widest batch of a CUDA graph: 1,024 tokens for gpt-oss, and from 0.28.0 by default on data-centre Blackwell.

        Source: GptOssForCausalLMConfig in vllm/model_executor/models/config.py, 0.10.1 to 0.33.0; _set_cudagraph_sizes in
        vllm/config/vllm.py.
        """
        config = self.config
        requested = config.operand("enforce-eager")
        self.perhaps_eager = requested.present is None or (requested.present and requested.value is None)
        eager = requested.value is True or config.operand("compilation-config.cudagraph_mode").value == "NONE"
        level = config.operand("optimization-level").value
        self.graphs = not eager and level not in (0, "0")
        modes = [config.operand(name).value for name in ("compilation-config.mode", "compilation-config.level")]
        uncompiled = any(value in (0, "0", "NONE") for value in modes)
        self.compiled = requested.value is not True and level not in (0, "0") and not uncompiled
        given = self._positive("max-cudagraph-capture-size")
        inner = config.operand("compilation-config.max_cudagraph_capture_size").value
        given = inner if given is None and isinstance(inner, int) else given
        width = 1 + self.drafts
        listed = config.setting("cudagraph-capture-sizes")
        sizes = [int(word.text.flat) for word in listed.values if is_whole(word.text.flat)] if listed is not None else []
        most = 1024 if self.rules.since("0.28.0") and int(self.gpu.capability or 0) == 10 else 512
        default = 1024 if self.widest_graphs else min(self.sequences * width * 2, most)
        self.captured = max(sizes) if sizes else given if given is not None else default
        self.captured = min(self.captured, self.batched, 256 if self.rules.zeroth else self.batched)

    def _images(self, model: Architecture | None) -> None:
        """Source: GPUModelRunner.profile_run in vllm/v1/worker/gpu_model_runner.py.

        No encoder is profiled with --language-model-only, --skip-mm-profiling, or limits of 0 for all that it takes, and by the
        second model runner before 0.27.0 (vllm/v1/worker/gpu/model_runner.py). With such limits it is not loaded either, from
        0.16.0 on (_mark_tower_model in vllm/model_executor/models/interfaces.py).
        """
        vision = model is not None and model.vision is not None
        limits = [self.config.operand(f"limit-mm-per-prompt.{kind}").value for kind in ("image", "video")]
        self.text_only = self._flag("language-model-only") or (limits == [0, 0] and self.rules.since("0.16.0"))
        self.images = vision and not self.text_only and not self._flag("skip-mm-profiling") and limits != [0, 0]

    def _second_runner(self, model: Architecture | None) -> bool | None:
        """Source: VllmConfig.use_v2_model_runner in vllm/config/vllm.py, 0.22.0 to 0.33.0.

        It came for unquantized Qwen3, then for Llama and Mistral too (0.23.0), for some architectures (0.24.0), for those
        without experts or states (0.25.0), and for all (0.29.0), except with drafts that it does not know.
        """
        rules = self.rules
        given = self.config.operand("env.VLLM_USE_V2_MODEL_RUNNER")
        if not rules.since("0.22.0"):
            return False if given.present is False else None
        if given.present is not False:
            return given.value != "0" if isinstance(given.value, str) else None
        if rules.since("0.29.0"):
            return not self.drafts or self.method not in _FIRST_RUNNER
        if model is None:
            return None
        if rules.since("0.25.0"):
            chosen = model.architecture in _SECOND_RUNNER_MIXTURES or not (model.experts or model.states)
            return None if chosen and self.drafts else chosen
        if rules.since("0.24.0"):
            chosen = model.architecture in _SECOND_RUNNER
        else:
            first = _SECOND_RUNNER[: 3 if rules.since("0.23.0") else 1]
            chosen = model.architecture in first and model.quantization.scheme == "none"
        unsure = self.drafts or self.pipeline > 1 or model.vision is not None or self.config.operand("enable-lora").value
        return None if chosen and unsure else chosen

    def _caches(self, model: Architecture | None) -> bool:
        """Whether prefix caching is on. A model known by its config.json alone counts like one known by name."""
        known = prefix_caching(self.config).value
        if isinstance(known, bool):
            return known
        return self.rules.since("0.28.0") if model is not None and model.states else True

    def _asynchronous(self) -> bool:
        """Whether scheduling is asynchronous (vllm/config/vllm.py).

        It is by default where there are no drafts or drafts of these methods, and the executor runs on this machine.
        """
        requested = self.config.operand("async-scheduling").value
        if isinstance(requested, bool):
            return requested
        executor = self.config.operand("distributed-executor-backend").value
        local = executor in (None, "mp", "uni", "external_launcher")
        return local and (self.drafts == 0 or self.method in _ASYNCHRONOUS or self.method is None)

    def first_engine(self, model: Architecture) -> bool:
        """Whether the V1 engine certainly serves the launch before 0.10.0.

        Source: _is_v1_supported_oracle in vllm/engine/arg_utils.py, 0.9.2 default_v1 in vllm/platforms/interface.py.
        Models with states, drafts, a KV cache in 8 bits, GPUs before Ampere and some options are left to the V0 engine, whose
        arithmetic is another.
        """
        config = self.config
        known = config.operand("env.VLLM_USE_V1")
        plain = self.kv_dtype == "auto" and not self.drafts and not model.states and self.pipeline == 1
        new = self.gpu.vendor == "nvidia" and (self.gpu.capability or 0.0) >= 8.0
        new = new or (self.gpu.vendor == "amd" and (self.rules.since("0.9.2") or known.value == "1"))
        others = all(config.operand(name).present is False for name in _LEFT_TO_V0)
        return plain and new and others and (known.present is False or known.value == "1")

    def plain(self, model: Architecture) -> bool:
        """Whether the launch is of the kind whose memory is known before 0.8.0: dense attention to all tokens, no drafts."""
        known = self.config.operand("env.VLLM_USE_V1")
        first = known.present is not False and known.value != "0"
        full = all(layer.kind == "full" and layer.mla is None for layer in model.attention)
        dense = model.experts is None and not model.states and model.vision is None and full
        others = self.drafts or self.adapters or self.pipeline > 1 or self.offload
        return dense and not first and not others and self.gpu.vendor == "nvidia" and self.kv_dtype == "auto"

    @property
    def full_graphs(self) -> bool | None:
        """Whether decoding is captured as a whole, None where that depends on what is unknown to servelint.

        The mode is FULL_AND_PIECEWISE by default for layers with state (0.11.0 MambaModelConfig in
        vllm/model_executor/models/config.py, later OPTIMIZATION_LEVEL_02 in vllm/config/vllm.py). It becomes PIECEWISE where a
        backend cannot capture drafts (FlashInfer's with no TensorRT-LLM kernel) and for some KV connectors.
        """
        config = self.config
        mode = config.operand("compilation-config.cudagraph_mode")
        level = config.operand("optimization-level").value
        if not self.graphs or level in (1, "1") or mode.value in ("PIECEWISE", 1):
            return False
        if self.perhaps_eager or (mode.present is not False and not isinstance(mode.value, str)):
            return None
        if self.sharded > 1 or any(config.operand(name).present is not False for name in _MAY_CUT_GRAPHS):
            return None
        return None if self.drafts and not self._captures_drafts() else True

    def _captures_drafts(self) -> bool:
        """Whether decoding with drafts is certainly captured as a whole: by FlashAttention, the default but for B200.

        Layers with state do it from 0.20.0 (UNIFORM_BATCH in vllm/v1/attention/backends). The default is by
        _get_backend_priorities in vllm/platforms/cuda.py, where compute capability 10 alone has FlashInfer first.
        """
        named = any(self.config.operand(name).present is not False for name in _BACKENDS)
        plain = self.kv_dtype in ("auto", "bfloat16", "float16") and self.gpu.vendor == "nvidia" and not named
        capability = self.gpu.capability or 0.0
        attends = 8.0 <= capability < 10 or capability >= 12
        return plain and self.rules.since("0.20.0") and attends and self.method in _HIDDEN_STATES

    @property
    def largest_batch(self) -> int:
        """The largest batch that is captured: of 1, 2, 4, then multiples of 8, from 256 on of 16 (_set_cudagraph_sizes)."""
        most = min(self.captured, self.sequences)
        return most // 16 * 16 if most >= 256 else most // 8 * 8 if most >= 8 else 1 << (most.bit_length() - 1)

    @property
    def estimates_graphs(self) -> bool | None:
        """Whether the model runner estimates CUDA graphs, None if it is not known which one serves the launch."""
        if self.second_runner is None and not self.rules.since("0.29.0"):
            return None
        return not self.second_runner or self.rules.since("0.29.0")

    @property
    def graphs_counted(self) -> bool:
        """Whether an estimate of the CUDA graphs is taken off the KV cache."""
        if not self.graphs or not self.rules.graphs_known or self.estimates_graphs is False:
            return False
        given = self.config.operand("env.VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS").value
        return bool(given.strip("0 ")) if isinstance(given, str) else self.rules.graphs_counted
