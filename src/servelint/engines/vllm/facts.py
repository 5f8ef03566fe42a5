"""What vLLM makes of its settings, release by release: effective facts, and conversions of values."""

from __future__ import annotations

import json
import re

from servelint import models
from servelint.core.text import TracedText
from servelint.engines import entry, images
from servelint.engines.config import (
    ABSENT,
    UNKNOWN,
    UNWRITTEN,
    Config,
    Fact,
    Operand,
    lacks,
    least_capability,
    overridden_model,
    quantization_method,
)
from servelint.engines.conversions import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.launch import Word
    from servelint.engines.conversions import Conversion


_METHODS = "speculative-methods"
_METHODS_ON_HIDDEN_STATES = ("mtp", "eagle", "eagle3")
_METHODS_ON_THE_HOST = ("ngram", "suffix", "medusa", "custom_class")


def speculation(config: Config) -> Operand:
    """Whether speculative decoding is on: by `--speculative-config`, or by `--spec-method` and similar options (from 0.22.0).

    Source: EngineArgs.create_speculative_config in vllm/engine/arg_utils.py. A checkpoint may also bring a configuration of its
    own (the speculators format); what no option says is therefore only off for a model that is known.
    """
    unwritten = False
    for name in ("speculative-config", "spec-method", "spec-model", "spec-tokens"):
        given = config.operand(name)
        if given.present:
            known = given.text is not None and given.text.known and given.text.flat not in ("", "None", "null")
            return Operand(True, True, given.text, given.site) if known else Operand(None, site=given.site)
        unwritten = unwritten or given is UNWRITTEN
    return UNWRITTEN if unwritten else ABSENT


def _first(config: Config, *names: str) -> Operand:
    """The first of some operands that is not certainly absent."""
    found = [config.operand(name) for name in names]
    return next((one for one in found if one.present), next((one for one in found if one.present is None), ABSENT))


def speculative_method(config: Config) -> Operand:
    """The speculative method under its present name: every `*_mtp` name is `mtp`.

    Source: SpeculativeConfig.__post_init__ in vllm/config/speculative.py (0.11.0 and later); before, each family's own name is
    a real method of the same kind. What is not a method of hidden states is looked at again: a draft named after EAGLE is taken
    for one.
    """
    method = _first(config, "speculative-config.method", "spec-method")
    if method.present is not True:
        return _undeclared_method(config) if method.present is False else method
    if not isinstance(method.value, str):
        return method
    known = config.named(_METHODS, method.value)
    name = known.body.get("alias_of", method.value) if known is not None else method.value
    if name == "draft_model":
        draft = _draft(config)
        if draft is not None and not draft.known:
            return Operand(None, site=method.site)
        name = _told_by_draft(draft, config) or name
    return Operand(True, name, method.text, method.site)


def _draft(config: Config) -> TracedText | None:
    return draft_model(config).text


def _told_by_draft(draft: TracedText | None, config: Config) -> str | None:
    """The method that vLLM guesses from a draft's name."""
    name = draft.flat.lower() if draft is not None else ""
    for word, method, since in (
        ("eagle-", "eagle", None), ("eagle3", "eagle3", None), ("dflash", "dflash", "0.20.0"), ("dspark", "dspark", "0.25.0"),
    ):  # fmt: skip
        if word in name and (since is None or config.at_least(since)):
            return method
    return None


def _undeclared_method(config: Config) -> Operand:
    """The method where none is written: n-grams for `model: ngram`, else what the draft's name or architecture says.

    The architecture is known of some families. Source: SpeculativeConfig.__post_init__, 0.10.2 to 0.33.0.
    """
    given = speculation(config)
    if given.present is False:
        return ABSENT
    draft = _draft(config)
    if draft is None or not draft.known:
        return Operand(None, site=given.site)
    if draft.flat in ("ngram", "[ngram]"):
        return Operand(True, "ngram", draft, given.site)
    name = _told_by_draft(draft, config)
    family = models.identify(draft)
    if name is None and family is not None and "mtp" in family.facts:
        name = "mtp" if family.facts["mtp"] else "draft_model"
    return Operand(True, name, draft, given.site) if name is not None else Operand(None, site=given.site)


def speculative_tokens(config: Config) -> Operand:
    """The number of draft tokens, as it is written."""
    return _first(config, "speculative-config.num_speculative_tokens", "spec-tokens")


def speculative_alias(config: Config) -> Operand:
    """The present name of the method as written, if the release takes the written one for a deprecated alias."""
    method = config.operand("speculative-config.method")
    if not isinstance(method.value, str):
        return ABSENT if method.present is False else UNKNOWN
    known = config.named(_METHODS, method.value)
    if known is None or "alias_of" not in known.body:
        return ABSENT
    renamed = config.at_least("0.11.0")
    if known.here is None or renamed is None:
        return UNKNOWN
    return Operand(True, known.body["alias_of"], method.text, method.site) if known.here and renamed else ABSENT


def speculative_method_known(config: Config) -> Operand:
    """Whether the release's SpeculativeMethod has the method as written. From 0.9.1; earlier releases take any text."""
    method = config.operand("speculative-config.method")
    if not isinstance(method.value, str):
        return UNKNOWN
    known = config.named(_METHODS, method.value)
    here = known.here if known is not None else None if config.index is None else False
    return UNKNOWN if here is None else Operand(True, here, method.text, method.site)


_ENCODERS = ("bert", "roberta", "xlm-roberta", "modernbert")
"""Model types whose attention looks both ways, and which have no KV cache."""


def prefix_caching(config: Config) -> Operand:
    """Whether prefix caching is on.

    Sources: EngineArgs.create_engine_config in vllm/engine/arg_utils.py. On by default for decoder models on the V1 engine
    (the only engine from 0.11.0); for hybrid models off by default until 0.27.1, on from 0.28.0. Hybrid models have it
    overridden to off even if asked for: all of them through 0.11.0, those with Gated DeltaNet through 0.14.1
    (MambaModelConfig in vllm/model_executor/models/config.py). Off by default for encoders
    (ModelConfig.is_prefix_caching_supported in vllm/config/model.py).
    """
    hybrid = config.operand("model.hybrid").value
    asked = config.operand("enable-prefix-caching")
    if asked.present is None or (asked.present and not isinstance(asked.value, bool)):
        return UNKNOWN
    if hybrid is True and asked.value is not False:
        honoured, default = _mamba_prefix_caching(config), config.at_least("0.28.0")
        if honoured is None or default is None:
            return UNKNOWN
        if not honoured:
            return Operand(True, False)
        if not asked.present:
            return Operand(True, default)
    if asked.present:
        return asked
    if hybrid is None or not config.at_least("0.11.0"):
        return UNKNOWN
    return Operand(True, config.operand("model.type").value not in _ENCODERS)


def _mamba_prefix_caching(config: Config) -> bool | None:
    """Whether the release can cache prefixes of a hybrid model at all."""
    if config.at_least("0.15.0"):
        return True
    if config.at_least("0.11.1"):
        return {"gdn": False, "mamba2": True}.get(str(config.operand("model.mixer").value))
    return False if config.at_least("0.10.2") else None


def async_scheduling(config: Config) -> Operand:
    """Whether scheduling is asynchronous: opt-in before 0.14.0, then on by default but for what a release cannot schedule so.

    Source: vllm/config/scheduler.py and vllm/config/vllm.py (async_scheduling None means auto from 0.14.0). Auto is off for
    drafts that are made on the CPU, for pooling models from 0.20.0, and for hybrid models that cache prefixes in 0.16.
    Pipelines and Ray's executors are not decided here.
    """
    asked = config.operand("async-scheduling")
    if asked.present is not False:
        return asked if isinstance(asked.value, bool) else UNKNOWN
    auto = config.at_least("0.14.0")
    if auto is None:
        return UNKNOWN
    if not auto:
        return Operand(True, False)
    for name in ("pipeline-parallel-size", "distributed-executor-backend", "data-parallel-backend"):
        other = config.operand(name)
        if other.present is not False and other.value not in (1, "mp", "uni"):
            return UNKNOWN
    padded = config.operand("speculative-config.disable_padded_drafter_batch")
    if padded.present is not False and padded.value is not False:
        return UNKNOWN
    if config.operand("gpu.vendor").value not in (None, "nvidia", "amd"):
        return UNKNOWN
    method = speculative_method(config)
    if method.value in _METHODS_ON_THE_HOST:
        return Operand(True, False) if config.at_least("0.33.0") is False else UNKNOWN
    drafts = method.value in _METHODS_ON_HIDDEN_STATES
    if (not drafts and speculation(config).present is not False) or not _writes_text(config, drafts):
        return UNKNOWN
    if config.at_least("0.15.0") is not False and not config.at_least("0.18.0"):
        states = config.operand("model.hybrid").value is True and prefix_caching(config).value is not False
        if states or config.operand("mamba-cache-mode").present is not False:
            return UNKNOWN
    return Operand(True, True)


def _writes_text(config: Config, drafts: bool) -> bool:
    """Whether the model writes text, or what it does makes no difference to its schedule (before 0.20.0).

    drafts: the model is drafted for, and so writes text unless an option sets another task
    """
    if config.at_least("0.20.0") is False:
        return True
    runner = config.operand("runner")
    if runner.present is not False:
        return runner.value == "generate"
    if config.operand("convert").present is not False:
        return False
    name = str(config.operand("model").value or "").lower()
    pools = any(word in name for word in ("embed", "rerank", "reward", "classif"))
    plain = config.operand("model.family").value is not None and model_overridden(config).value is False
    return drafts or (plain and not pools and config.operand("model.type").value not in _ENCODERS)


def _registered(config: Config, option: str, kind: str, plugins: tuple[str, ...] = ()) -> Operand:
    """Whether the release registers a name. One that no release has may come from a plugin or a changed engine."""
    asked = config.operand(option)
    if not isinstance(asked.value, str):
        return UNKNOWN if asked.present is not False else asked
    if any(config.operand(plugin).present is not False for plugin in plugins):
        return UNKNOWN
    known = config.named(kind, asked.value)
    image = config.launch.image
    if known is None:
        return UNKNOWN if config.index is None or (image is not None and images.identify(image).house) else _no(asked)
    return UNKNOWN if known.here is None else Operand(True, known.here, asked.text, asked.site)


def _no(asked: Operand) -> Operand:
    return Operand(True, False, asked.text, asked.site)


def tool_call_parser_known(config: Config) -> Operand:
    """Whether the release registers the tool-call parser: ToolParserManager in vllm/tool_parsers."""
    return _registered(config, "tool-call-parser", "tool-call-parsers", ("tool-parser-plugin",))


REASONING_PARSER = ("reasoning-parser", "structured-outputs-config.reasoning_parser", "reasoning-config.reasoning_parser")
"""The operands that name a reasoning parser, the option first (vllm/engine/arg_utils.py: it replaces the others)."""


def reasoning_parser_known(config: Config) -> Operand:
    """Whether the release registers the reasoning parser: ReasoningParserManager in vllm/reasoning."""
    asked = next((name for name in REASONING_PARSER if config.operand(name).present), REASONING_PARSER[0])
    return _registered(config, asked, "reasoning-parsers", ("reasoning-parser-plugin",))


def quantization_known(config: Config) -> Operand:
    """Whether the release's QuantizationMethods has the name of --quantization (vllm/model_executor/layers/quantization)."""
    return _registered(config, "quantization", "quantization")


_API_SERVER = ("vllm.entrypoints.openai.api_server", "api_server.py")


def entrypoint(config: Config) -> Operand:
    """What starts the server: `vllm serve` or `python -m vllm.entrypoints.openai.api_server`; not known for an image."""
    verb = config.launch.verb
    name = entry.program(verb[-1]) if verb else None
    found = "api_server" if name in _API_SERVER else name if name == "serve" else None
    sites = [word.site for word in verb if word.site is not None and word.site.source is config.launch.source]
    if found is None or not sites:
        return UNKNOWN
    site = min(sites, key=lambda site: site.start).to(max(sites, key=lambda site: site.end))
    return Operand(True, found, site=site)


def dropped_switch(config: Config) -> Operand:
    """A key of the file of `--config` whose `false` is dropped, though the switch is on without it.

    Source: load_config_file in vllm/utils/argparse_utils.py (0.27.1), which writes no word for false. From 0.28.0 it writes
    the negative option if the parser that reads the file has it; that of `vllm serve` has only subcommands.
    """
    keys = _in_file(config, "false")
    if keys and config.at_least("0.28.0") is not False and entrypoint(config).value != "serve":
        return UNKNOWN if entrypoint(config) is UNKNOWN else ABSENT
    for word in keys:
        table = config.catalog.table(config.index) if config.catalog is not None and config.index is not None else None
        option = table.find(word.text.flat.replace("_", "-")) if table is not None else None
        if option is not None and option.negatives and (option.default is True or _on_by_default(config, option.name)):
            return Operand(True, option.name, TracedText.of(option.name), word.site)
    return ABSENT


def _on_by_default(config: Config, switch: str) -> bool:
    """Whether a start turns on a switch that is not given, and has no default in the source."""
    if switch == "enable-prefix-caching":
        return prefix_caching(config).value is True
    if switch == "async-scheduling":
        return async_scheduling(config).value is True
    return switch == "enable-chunked-prefill" and config.at_least("0.10.0") is True


def mapping_in_file(config: Config) -> Operand:
    """A key of the file of `--config` whose value is a mapping."""
    keys = [(one.text.flat[2:], one.site) for one in _in_file(config, "mapping")]
    return Operand(True, keys[0][0], TracedText.of(keys[0][0]), keys[0][1]) if keys else ABSENT


def _in_file(config: Config, kind: str) -> list[Word]:
    if not any(word.value == "--config" for word in config.launch.argv):
        return []
    from servelint.engines import launch_files

    return launch_files.keys_with(config.launch, kind)


def expandable_segments(config: Config) -> Operand:
    """Whether PYTORCH_CUDA_ALLOC_CONF has "expandable_segments:True" anywhere, which is how vLLM looks for it.

    Source: vllm-0.33.0 vllm/config/vllm.py:1284, vllm-0.8.5 vllm/device_allocator/cumem.py.
    """
    given = config.operand("env.PYTORCH_CUDA_ALLOC_CONF")
    if given.present is not True or not isinstance(given.value, str):
        return Operand(given.present, site=given.site) if given.present is not False else Operand(True, False)
    return Operand(True, "expandable_segments:True" in given.value, given.text, given.site)


def draft_model(config: Config) -> Operand:
    """The draft model, by either way to name it."""
    return _first(config, "speculative-config.model", "spec-model", "speculative-model")


_OWN_CONTEXT = ("hf-overrides", "hf-config-path", "config-format", "rope-scaling", "rope-theta", "speculative-config", "runner")
"""Options that may give a model another context than that of its configuration."""


def longest_prompt(config: Config) -> Operand:
    """The tokens of the longest prompt: --max-model-len, or the context of a model that is known."""
    given = config.operand("max-model-len")
    if given.present is not False:
        return given if isinstance(given.value, int) and given.value > 0 else UNKNOWN
    if any(config.operand(one).present is not False for one in _OWN_CONTEXT):
        return UNKNOWN
    return config.operand("model.context")


def model_argument(config: Config) -> Operand:
    """How the model is named: by --model alone, by the file that --config names, or by the first word."""
    arguments, model = config.reading.arguments, config.reading.model
    if not arguments.complete or model is None:
        return UNKNOWN
    if arguments.positionals or config.setting("model") is None:
        return Operand(True, "word", model)
    given = any(word.text.flat.partition("=")[0] == "--model" for word in config.launch.argv)
    return Operand(True, "option" if given else "file", model)


def unknown_variable(config: Config) -> Operand:
    """The first variable of vLLM's that the release does not read, and another release does.

    Source: Platform.validate_environ in vllm-0.33.0 vllm/platforms/interface.py:1457, which goes by the list of vllm/envs.py.
    """
    if config.catalog is None or config.index is None:
        return UNKNOWN
    known = config.catalog.variables()
    for name, variable in config.launch.env.items():
        runs = known.get(name, ()) if name.startswith("VLLM_") else None
        if runs is not None and not any(run[0] <= config.index <= run[1] for run in runs):
            return Operand(True, name, None, variable.site)
    return UNWRITTEN if config.launch.open_env or config.launch.fragment else ABSENT


_RULE_OF_ITS_OWN = ("gpu-memory-utilization", "max-model-len", "spec-tokens")
_MADE_WHERE = {"LoRAConfig": "enable-lora", "MultiModalConfig": "model.multimodal"}


def refused_number(config: Config) -> tuple[str, dict[str, float]] | None:
    """The first option, in the order of the launch, whose number the release certainly refuses, and the bounds that it has.

    Source: the constraints of the fields in vllm/config/*.py (`Field(ge=..., gt=..., le=..., lt=...)`), which pydantic enforces
    from 0.11.1 on, as the catalog has them; that each is refused below its bound and taken at it was seen in 0.11.2, 0.16.0,
    0.20.0 and 0.33.0. Options whose range a rule of its own has are left out.
    """
    for name, setting in config.reading.arguments.settings.items():
        option = setting.option
        if option is None or not option.bounds or name in _RULE_OF_ITS_OWN:
            continue
        number = config.operand(name).value
        if not isinstance(number, (int, float)) or isinstance(number, bool) or _within(number, option.bounds):
            continue
        if not option.config or config.operand(_MADE_WHERE[option.config]).value is True:
            return name, option.bounds
    return None


def _within(number: float, bounds: dict[str, float]) -> bool:
    held = {
        "ge": lambda bound: number >= bound,
        "gt": lambda bound: number > bound,
        "le": lambda bound: number <= bound,
        "lt": lambda bound: number < bound,
    }
    return all(held[name](bound) for name, bound in bounds.items())


def number_out_of_range(config: Config) -> Operand:
    """The number of an option that the release refuses, where it stands."""
    found = refused_number(config)
    return config.operand(found[0]) if found is not None else ABSENT


_SCHEMES = {
    "int4": ("0.12.0", 8.0, 7.5),
    "awq": ("0.12.0", 8.0, 7.5),
    "fp8": ("0.15.0", 8.0, 7.5),
    "nvfp4": ("0.15.0", 8.0, 7.5),
    "int8": ("0.12.0", 7.5, 7.5),  # with weights alone in 8 bits 8.0 before, which the format does not say
}
"""Format of the weights -> a release, and the compute capability of its scheme before it and from it on.

Source: get_min_capability in vllm/model_executor/layers/quantization/compressed_tensors/schemes (compressed_tensors_wNa16.py,
compressed_tensors_w8a8_int8.py, compressed_tensors_w8a16_fp8.py, which a GPU without FP8 gets, and
compressed_tensors_w4a16_nvfp4.py), vllm-0.6.6 to 0.33.0. Those of 0.15.0 and 0.15.1 were not read: the lower number is taken.
"""


def scheme_capability(config: Config) -> Operand:
    """The compute capability of the method, or of the scheme that weights of compressed-tensors are in."""
    found = least_capability(config)
    method = quantization_method(config)
    form = config.operand("model.quantization").value
    if method.value != "compressed-tensors" or not isinstance(found.value, int | float) or form not in _SCHEMES:
        return found
    release, before, after = _SCHEMES[str(form)]
    later = config.at_least(release)
    least = after if later is not False else before
    return Operand(True, max(found.value, least), site=found.span)


_PLAIN = frozenset((
    "Glm4MoeForCausalLM", "LlamaForCausalLM", "MistralForCausalLM", "MixtralForCausalLM", "OPTForCausalLM", "Qwen2ForCausalLM",
    "Qwen2_5_VLForConditionalGeneration", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM", "Qwen3VLForConditionalGeneration",
))  # fmt: skip
"""Architectures of causal attention whose default was looked at: 0.23.0 as T4, 0.33.0 as T4, L4, B200 and RTX 5090 (run)."""
_ALWAYS_128 = frozenset(("Glm4MoeForCausalLM", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM", "Qwen3VLForConditionalGeneration"))
"""Those whose heads have 128 dimensions, whatever the hidden size is."""
_CHOOSE_A_BACKEND = (
    "kv-cache-dtype", "block-size", "attention-config", "decode-context-parallel-size", "dcp-kv-cache-interleave-size",
    "runner", "task", "convert", "model-impl", "env.VLLM_ATTENTION_BACKEND", "env.VLLM_BATCH_INVARIANT", "env.VLLM_USE_V1",
)  # fmt: skip
"""Settings beside which another backend may be chosen."""


def attention_backend(config: Config) -> Operand:
    """The attention backend: the option's, or what is chosen on the NVIDIA GPU that is known.

    Source: _get_backend_priorities in vllm/platforms/cuda.py (0.11.1 line 46, 0.33.0 line 84), supports_compute_capability in
    vllm/v1/attention/backends/flash_attn.py (from 8.0) and flashinfer.py (from 7.5 up to 0.23.0, from 8.0 since 0.24.0).
    A KV cache of 16 bits is needed for it, so that checkpoints that may have scales for the cache are left out.
    """
    given = config.operand("attention-backend")
    if given.present is not False:
        return given if given.value not in (None, "auto") else UNKNOWN
    capability, vendor = config.operand("gpu.capability").value, config.operand("gpu.vendor").value
    if any(config.operand(one).present is not False for one in _CHOOSE_A_BACKEND) or vendor != "nvidia":
        return UNKNOWN
    plain = config.operand("model.architecture").value in _PLAIN and model_overridden(config).value is False
    sixteen = config.operand("dtype").present is False or config.operand("dtype").value in (
        "auto",
        "bfloat16",
        "float16",
        "half",
    )
    without_scales = config.operand("model.quant-method").value in ("fp8", "awq", "gptq")
    without_scales |= config.operand("model.quantization").value == "none"
    known = plain and sixteen and without_scales and speculation(config).present is False
    if not known or not config.at_least("0.11.1") or not isinstance(capability, int | float):
        return UNKNOWN
    if capability >= 8 and not 10 <= capability < 11:
        return Operand(True, "FLASH_ATTN")
    if not _heads_of_flashinfer(config):
        return UNKNOWN
    if 10 <= capability < 11:
        return Operand(True, "FLASHINFER")
    return Operand(True, "TRITON_ATTN" if config.at_least("0.24.0") else "FLASHINFER") if capability == 7.5 else UNKNOWN


def _heads_of_flashinfer(config: Config) -> bool:
    """Whether the heads have 64, 128 or 256 dimensions."""
    hidden, heads = config.operand("model.hidden-size").value, config.operand("model.heads").value
    if config.operand("model.architecture").value in _ALWAYS_128:
        return True
    return isinstance(hidden, int) and isinstance(heads, int) and heads > 0 and hidden / heads in (64, 128, 256)


def model_class(config: Config) -> Operand:
    """The class that the release takes for the model: that of its config.json, or of Mistral's params.json where that is read.

    Source: adapt_config_dict in vllm/transformers_utils/configs/mistral.py (0.14.0 line 100, 0.33.0 line 105) and, before,
    load_params_config in vllm/transformers_utils/config.py (0.8.1 line 683): whatever has a vision encoder is Pixtral.
    get_config there (0.11.0 line 549, 0.12.0 line 532): from 0.12.0 on "auto" looks for params.json first, which the
    repositories of mistralai have.
    """
    own, form = config.operand("model.architecture"), config.operand("config-format")
    if own.value != "Mistral3ForConditionalGeneration" or form.value == "hf":
        return own
    if form.value == "mistral":
        return Operand(True, "PixtralForConditionalGeneration")
    if form.present is not False and form.value != "auto":
        return UNKNOWN
    if config.at_least("0.12.0") is False:
        return own
    if (config.text("model.repository") or "").lower().startswith("mistralai/") and config.at_least("0.12.0"):
        return Operand(True, "PixtralForConditionalGeneration")
    return UNKNOWN


def kv_connectors(config: Config) -> list[str] | None:
    """The KV connectors of the launch by their names: its own, or those of MultiConnector. None if they are not known."""
    own = config.text("kv-transfer-config.kv_connector")
    if own != "MultiConnector":
        return [own] if own is not None else None
    inner = config.operand("kv-transfer-config.kv_connector_extra_config.connectors").value
    if isinstance(inner, str):
        try:
            inner = json.loads(inner)
        except ValueError:
            return None
    if not isinstance(inner, list) or not all(isinstance(one, dict) for one in inner):
        return None
    names = [one.get("kv_connector") for one in inner]
    return [str(name) for name in names] if all(isinstance(name, str) for name in names) else None


def connector_names(config: Config) -> Operand:
    """The names of `kv_connectors` with commas between them."""
    names = kv_connectors(config)
    return Operand(True, ", ".join(names)) if names else UNKNOWN


def _lacks(what: str) -> Callable[[Config], Operand]:
    return lacks(what, lambda config: model_class(config).value)


def model_overridden(config: Config) -> Operand:
    """Whether --hf-overrides may change more of the model than its context."""
    return overridden_model(config, "hf-overrides")


FACTS = {
    "quantization": Fact(quantization_method, "text", "the quantization method: the option's, or that of the checkpoint"),
    "least-capability": Fact(scheme_capability, "number", "the compute capability that the quantization method needs"),
    "attention-backend": Fact(attention_backend, "text", "the attention backend: the option's, or the default on the GPU"),
    "speculation": Fact(speculation, "bool", "speculative decoding is on"),
    "speculative-method": Fact(speculative_method, "text", "the speculative method under its current name"),
    "speculative-alias": Fact(speculative_alias, "text", "the current name of a speculative method with a deprecated name"),
    "speculative-method-known": Fact(speculative_method_known, "bool", "the release has the method as it is written"),
    "speculative-tokens": Fact(speculative_tokens, "number", "draft tokens of a step"),
    "draft-model": Fact(draft_model, "text", "the draft model"),
    "prefix-caching": Fact(prefix_caching, "bool", "prefix caching is on"),
    "async-scheduling": Fact(async_scheduling, "bool", "scheduling is asynchronous"),
    "longest-prompt": Fact(longest_prompt, "number", "tokens of the longest prompt: --max-model-len, or the model's context"),
    "model-argument": Fact(
        model_argument, "text", "where the model is named: word (first argument), option (--model), file (--config)"
    ),
    "tool-call-parser-known": Fact(tool_call_parser_known, "bool", "the release has the tool-call parser"),
    "model-overridden": Fact(model_overridden, "bool", "an override of the config may change more than the context"),
    "reasoning-parser-known": Fact(reasoning_parser_known, "bool", "the release has the reasoning parser"),
    "quantization-known": Fact(quantization_known, "bool", "the release has the quantization method"),
    "lacks-lora": Fact(_lacks("lora"), "bool", "the class of the model has no LoRA"),
    "lacks-pp": Fact(_lacks("pp"), "bool", "the class of the model has no pipeline parallelism"),
    "lacks-eagle3": Fact(_lacks("eagle3"), "bool", "the class of the model has no EAGLE3 drafts"),
    "lacks-eplb": Fact(_lacks("eplb"), "bool", "the class of the model cannot move its experts"),
    "lacks-bitsandbytes": Fact(_lacks("bitsandbytes"), "bool", "the class of the model has no bitsandbytes"),
    "model-class": Fact(model_class, "text", "the class that the release takes for the model"),
    "kv-connectors": Fact(connector_names, "text", "the KV connectors, those inside MultiConnector among them"),
    "entrypoint": Fact(entrypoint, "text", "what starts the server: serve or api_server"),
    "dropped-switch": Fact(dropped_switch, "text", "a switch that is on, whose `false` in the file of --config is dropped"),
    "mapping-in-file": Fact(mapping_in_file, "text", "a key of the file of --config whose value is a mapping"),
    "expandable-segments": Fact(expandable_segments, "bool", "whether PyTorch uses expandable segments"),
    "number-out-of-range": Fact(number_out_of_range, "number", "the number of an option that the release refuses"),
    "unknown-variable": Fact(unknown_variable, "text", "a variable of vLLM's that the release does not read"),
}


# -- conversions, by the names of vLLM's source


_BRACES = r"(?s)^\s*\{.*\}\s*$"
_HUMAN = r"(\d+(?:\.\d+)?)([kKmMgGtT])"
_SCALE = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def _human_int(text: str) -> int:
    """As human_readable_int: `8k` is 8000, `8K` is 8192, and a fraction goes with decimal suffixes only."""
    match = re.fullmatch(_HUMAN, text.strip())
    if match is None:
        return int(text.strip())
    number, suffix = match.groups()
    if suffix.islower():
        return int(float(number) * _SCALE[suffix])
    if "." in number:
        raise Refused(f"a whole number before {suffix}, or {number}{suffix.lower()}")
    return int(number) * _SCALE[suffix]


def _human_int_or_auto(text: str) -> int:
    return -1 if text.strip() == "-1" or text.strip().lower() == "auto" else _human_int(text)


def _lora_module(text: str) -> object:
    """As LoRAParserAction: `name=path`, or a JSON object."""
    if not text or ("=" in text and "," not in text):
        return text
    value = json.loads(text)
    if not isinstance(value, dict) or not {"name", "path"} <= value.keys():
        raise Refused('name=path, or {"name": ..., "path": ...}')
    return text


def _true_or_false(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise Refused("true or false")
    return text.lower() == "true"


def _object_or_text(text: str) -> object:
    return json.loads(text) if re.match(_BRACES, text) else text


def _lower_snake(text: str) -> str:
    return text.lower().replace("-", "_")


CONVERSIONS: dict[str, Conversion] = {
    "human_readable_int": (_human_int, "a whole number such as 8192 or 8k"),
    "human_readable_int_or_auto": (_human_int_or_auto, "a whole number such as 8192 or 8k, or auto"),
    "LoRAParserAction": (_lora_module, 'name=path, or {"name": ..., "path": ...}'),
    "StoreBoolean": (_true_or_false, "true or false"),
    "union_dict_and_str": (_object_or_text, "JSON between the braces"),
    "lambda s: s.lower().replace('-', '_')": (_lower_snake, ""),
}
