"""What SGLang makes of its settings, release by release: effective facts, and conversions of values."""

from __future__ import annotations

import json
import re

from servelint.engines import catalog, images
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

    from servelint.engines.conversions import Conversion


_TRUE, _FALSE = ("true", "1", "yes", "y"), ("false", "0", "no", "n")
_GEMMA4_ASSISTANT = r"gemma-?4.*assistant"
_ROCM_WORDS = ("rocm", "mi30x", "mi35x", "mi300", "mi325", "mi350", "mi355")


def speculative_algorithm(config: Config) -> Operand:
    """The algorithm that runs: NEXTN is EAGLE in every release (to FROZEN_KV_MTP only for Gemma 4 assistants).

    Source: srt/server_args.py (0.4.6 line 317), srt/arg_groups/speculative_hook.py (0.5.23 line 81).
    """
    given = config.operand("speculative-algorithm")
    if not isinstance(given.value, str):
        return given
    late = config.at_least("0.5.12")
    name = given.value.upper() if late else given.value
    if name in ("NEXTN", "EAGLE"):
        name = "FROZEN_KV_MTP" if late and gemma4_assistant_draft(config).value else "EAGLE"
    return Operand(True, name, given.text, given.site)


def gemma4_assistant_draft(config: Config) -> Operand:
    """Whether the draft is an assistant of a Gemma 4 model, by its name.

    Source: _resolve_speculative_algorithm_alias in srt/arg_groups/speculative_hook.py (0.5.23 line 81).
    """
    draft = config.operand("speculative-draft-model-path")
    if not isinstance(draft.value, str):
        return draft
    return Operand(True, re.search(_GEMMA4_ASSISTANT, draft.value.lower()) is not None, draft.text, draft.site)


def speculative_algorithm_known(config: Config) -> Operand:
    """Whether the release has the algorithm as written: SpeculativeAlgorithm in srt/speculative/spec_info.py.

    Up to 0.5.11 the parser names the choices; later releases look the name up, also among what plug-ins register.
    """
    given = config.operand("speculative-algorithm")
    if not isinstance(given.value, str):
        return given if given.present is False else UNKNOWN
    image = config.launch.image
    if config.operand("env.SGLANG_PLUGINS").present or (image is not None and images.identify(image).house):
        return UNKNOWN
    if given.value.upper() == "NONE":
        return Operand(True, True, given.text, given.site)  # a member of the enumeration: no drafting
    known = config.named("speculative-methods", given.value.upper())
    here = known.here if known is not None else None if config.index is None else False
    return UNKNOWN if here is None else Operand(True, here, given.text, given.site)


def spec_v2(config: Config) -> Operand:
    """SGLANG_ENABLE_SPEC_V2 as SGLang reads a boolean (srt/environ.py EnvBool)."""
    variable = config.operand("env.SGLANG_ENABLE_SPEC_V2")
    if not isinstance(variable.value, str):
        return variable
    value = variable.value.lower()
    if value in _TRUE or value in _FALSE:
        return Operand(True, value in _TRUE, variable.text, variable.site)
    return Operand(None, site=variable.site)


def mamba_strategy(config: Config) -> Operand:
    """The radix cache strategy of hybrid models, under its names before and after 0.5.14."""
    for name in ("mamba-radix-cache-strategy", "mamba-scheduler-strategy"):
        given = config.operand(name)
        if given.present is not False:
            return given
    return ABSENT


def says_rocm(config: Config) -> Operand:
    """Whether the launch's image, an AMD variable, an AMD backend or the GPU says that it is for ROCm."""
    vendor = config.operand("gpu.vendor").value
    if vendor is not None:
        return Operand(True, vendor == "amd")
    image, backend = config.operand("container.image"), config.operand("attention-backend")
    said = image.text.flat.lower() if image.text is not None else ""
    amd = any(name.startswith(("HIP_", "ROCM_", "RCCL_", "SGLANG_USE_AITER", "HSA_")) for name in config.launch.env)
    if amd or any(word in said for word in _ROCM_WORDS) or backend.value == "aiter":
        return Operand(True, True)
    written = [operand.text for operand in (image, backend) if operand.text is not None]
    return Operand(True, False) if all(text.known for text in written) else UNKNOWN


_FA3_ON_HOPPER = frozenset((
    "BertForSequenceClassification", "BertModel", "DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "Gemma2ForCausalLM",
    "Gemma3ForConditionalGeneration", "Glm4MoeForCausalLM", "GptOssForCausalLM", "LlamaForCausalLM", "MistralForCausalLM",
    "MixtralForCausalLM", "NemotronHForCausalLM", "OPTForCausalLM", "Phi3ForCausalLM", "Qwen2ForCausalLM",
    "Qwen2_5_VLForConditionalGeneration", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM", "Qwen3NextForCausalLM",
    "Qwen3VLForConditionalGeneration", "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration",
    "XLMRobertaForSequenceClassification", "XLMRobertaModel",
))  # fmt: skip
"""The architectures whose default was looked at: fa3 on 0.5.9 to 0.5.23 (run)."""
_FA3_ON_HOPPER_BEFORE = frozenset((
    "DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "Gemma2ForCausalLM", "Gemma3ForConditionalGeneration",
    "Glm4MoeForCausalLM", "GptOssForCausalLM", "LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM",
    "Qwen3MoeForCausalLM", "Qwen3VLForConditionalGeneration",
))  # fmt: skip
"""Those with fa3 on 0.5.6.post2 (run), which had a list of them: is_fa3_default_architecture in srt/utils/common.py."""


def hopper_attention_backend(config: Config) -> Operand:
    """The backend of all attention on a Hopper GPU: the option's, or what is chosen there without drafts.

    Source: get_default_attention_backend in srt/server_args.py (0.5.14 line 4407) and srt/arg_groups/model_override_base.py
    (0.5.23).
    """
    given = config.operand("attention-backend")
    split = [config.operand(f"{phase}-attention-backend").present for phase in ("prefill", "decode")]
    if given.present is not False or split != [False, False]:
        return given if split == [False, False] else UNKNOWN
    plain = config.operand("speculative-algorithm").present is False and says_other_device(config).value is False
    looked_at = _FA3_ON_HOPPER if config.at_least("0.5.9") else _FA3_ON_HOPPER_BEFORE
    known = config.operand("model.architecture").value in looked_at and model_overridden(config).value is False
    return Operand(True, "fa3") if plain and known and config.at_least("0.5.6.post2") else UNKNOWN


_PLAIN = _FA3_ON_HOPPER & {
    "Gemma2ForCausalLM", "Gemma3ForConditionalGeneration", "Glm4MoeForCausalLM", "LlamaForCausalLM", "MistralForCausalLM",
    "MixtralForCausalLM", "OPTForCausalLM", "Phi3ForCausalLM", "Qwen2ForCausalLM", "Qwen2_5_VLForConditionalGeneration",
    "Qwen3ForCausalLM", "Qwen3MoeForCausalLM", "Qwen3VLForConditionalGeneration",
}  # fmt: skip
"""Those whose default was looked at on other GPUs: 0.5.6.post2, 0.5.9, 0.5.10 and 0.5.23 as B200 and L4, 0.5.13 and 0.5.23
as RTX 5090, 0.5.23 as T4 (run)."""
_ON_B200 = {
    **dict.fromkeys((*_PLAIN, "GptOssForCausalLM"), "trtllm_mha"), "DeepseekV3ForCausalLM": "trtllm_mla",
    **dict.fromkeys(("BertModel", "XLMRobertaModel", "XLMRobertaForSequenceClassification"), "trtllm_mha"),
}  # fmt: skip
"""The default by architecture, the same without drafts and with top-k 1: 0.5.6.post2, 0.5.9, 0.5.10, 0.5.12, 0.5.16 and 0.5.23
as B200 (run; with drafts from 0.5.10 on; the encoders 0.5.9, 0.5.11 and 0.5.23)."""
_CHOOSE_A_BACKEND = (
    "enable-deterministic-inference", "kv-cache-dtype", "page-size", "dllm-algorithm", "enable-hisparse", "dcp-size",
    "attn-cp-size", "rl-on-policy-target", "enable-page-major-kv-layout", "enable-unified-memory", "device",
)  # fmt: skip
"""Options beside which another backend may be chosen."""


def attention_backend(config: Config) -> Operand:
    """The backend of all attention: the option's, or what is chosen on the GPU that is known.

    Source: _get_default_attn_backend in srt/server_args.py (0.5.10 line 2217, 0.5.18 line 5870), get_default_attn_backend in
    srt/arg_groups/model_override_base.py (0.5.19 line 273, 0.5.23 line 277): fa3 on Hopper, trtllm_mha on compute capability
    10, aiter with ROCm, else FlashInfer, which SGLang installs. 0.5.6.post1 and 0.5.6.post2 take trtllm_mha on compute
    capability 12 too, and refuse it there; 0.5.6 and older take FlashInfer on compute capability 10.
    """
    hopper = hopper_attention_backend(config)
    if hopper is not UNKNOWN and hopper.text is not None:
        return hopper  # the option's
    if any(config.operand(one).present is not False for one in _CHOOSE_A_BACKEND):
        return UNKNOWN
    return default_attention_backend(config)


def default_attention_backend(config: Config) -> Operand:
    """What is chosen for the model on the GPU, before options other than drafts have a say."""
    capability = config.operand("gpu.capability").value
    if isinstance(capability, int | float) and 9 <= capability < 10:
        hopper = hopper_attention_backend(config)
        return hopper if hopper.text is None else UNKNOWN
    options = ("attention-backend", "prefill-attention-backend", "decode-attention-backend")
    if any(config.operand(one).present is not False for one in options) or says_other_device(config).value is not False:
        return UNKNOWN
    architecture = config.operand("model.architecture").value
    if model_overridden(config).value is not False or not config.at_least("0.5.6.post2"):
        return UNKNOWN
    drafts = config.operand("speculative-algorithm").present is not False
    if drafts and not config.at_least("0.5.10"):
        return UNKNOWN
    if isinstance(capability, int | float) and 10 <= capability < 11:
        known = isinstance(architecture, str) and not (drafts and config.operand("speculative-eagle-topk").value != 1)
        return Operand(True, _ON_B200[architecture]) if known and architecture in _ON_B200 else UNKNOWN
    if architecture not in _PLAIN or drafts:
        return UNKNOWN
    if config.operand("gpu.vendor").value == "amd":
        return Operand(True, "aiter")
    if not isinstance(capability, int | float):
        return UNKNOWN
    rtx_blackwell = 12 <= capability < 13 and config.at_least("0.5.7")
    return Operand(True, "flashinfer") if 7.5 <= capability < 9 or rtx_blackwell else UNKNOWN


def command(config: Config) -> Operand:
    """Which program starts the server: `serve` for `sglang serve`, `launch_server` for the module."""
    for word in reversed(config.launch.verb):
        value = word.value or ""
        if value == "serve":
            return Operand(True, "serve", word.text, word.site)
        if value == "sglang.launch_server" or value.endswith("launch_server.py"):
            return Operand(True, "launch_server", word.text, word.site)
    return UNKNOWN


def model_option(config: Config) -> Operand:
    """How `sglang serve` gets its model: the option as it is spelled, `position` for a bare word, or `file` for `--config`.

    The command looks for the model's option among its words before it parses them or reads a file.

    Source: get_model_path in sglang/cli/utils.py (0.5.5 line 126, 0.5.23 line 152).
    """
    serve = command(config)
    if serve.value != "serve":
        return UNKNOWN if serve is UNKNOWN else ABSENT
    argv, arguments = config.launch.argv, config.reading.arguments
    if argv and not argv[0].text.flat.startswith("-"):
        return UNKNOWN if argv[0].value is None else Operand(True, "position", argv[0].text, argv[0].site)
    on_line = {id(word) for word in argv}
    named = [one.word for one in arguments.every if one.name == "model-path"]
    spelled = {word.text.flat.partition("=")[0]: word for word in named if id(word) in on_line}
    for spelling in ("--model-path", "--model", *spelled):
        if spelling in spelled:
            return Operand(True, spelling, spelled[spelling].text, spelled[spelling].site)
    if not (arguments.complete if named else all(word.value is not None for word in argv)):
        return UNWRITTEN
    in_file = bool(named) or any((word.value or "").partition("=")[0] == "--config" for word in argv)
    return Operand(True, "file", serve.text, serve.site) if in_file else ABSENT


def old_variable(config: Config) -> Operand:
    """A variable under the prefix SGL_, which 0.5.3rc2 and later rewrite to SGLANG_, if a release reads one of the two names.

    Another one, such as SGL_XPU_GRAPH, is read by a fork under the name that it has.

    Source: _convert_SGL_to_SGLANG in srt/environ.py (0.5.3rc2 line 216, 0.5.23 line 2294).
    """
    held = catalog.load("sglang")
    read = held.variables() if held is not None else {}
    for name, variable in config.launch.env.items():
        if name.startswith("SGL_") and (name in read or name.replace("SGL_", "SGLANG_", 1) in read):
            return Operand(True, name, None, variable.site)
    return UNWRITTEN if config.launch.open_env or config.launch.fragment else ABSENT


_OTHER_DEVICES = ("npu", "cann", "ascend", "xpu", "cpu", "xeon", "hpu", "mps", "musa", "tpu")
_OTHER_BACKENDS = ("ascend", "intel_amx", "intel_xpu", "torch_native")


def says_other_device(config: Config) -> Operand:
    """Whether the launch's image, `--device` or the attention backend says that it runs on something else than a GPU."""
    image, device, backend = (config.operand(name) for name in ("container.image", "device", "attention-backend"))
    tag = image.text.flat.lower().rpartition("/")[2] if image.text is not None else ""
    if any(word in tag for word in _OTHER_DEVICES) or backend.value in _OTHER_BACKENDS:
        return Operand(True, True)
    if isinstance(device.value, str) and device.value != "cuda":
        return Operand(True, True, device.text, device.site)
    if device.present is False and config.operand("env.SGLANG_USE_CPU_ENGINE").value == "1":
        return Operand(True, True)
    written = [operand.text for operand in (image, device, backend) if operand.text is not None]
    return Operand(True, False) if all(text.known for text in written) else UNKNOWN


def _size(*names: str) -> Callable[[Config], Operand]:
    """A size whose option has another canonical name before and after 0.5.14; 1 where it is not given."""

    def fact(config: Config) -> Operand:
        found = [config.operand(name) for name in names]
        given = next((one for one in found if one.present), None) or next((one for one in found if one.present is None), None)
        return given if given is not None else Operand(True, 1)

    return fact


tp_size = _size("tp-size", "tensor-parallel-size")
pp_size = _size("pp-size", "pipeline-parallel-size")
dp_size = _size("dp-size", "data-parallel-size")
ep_size = _size("ep-size", "expert-parallel-size")
cp_size = _size("attn-cp-size", "attention-context-parallel-size")
attn_dp_size = _size("attn-dp-size")
moe_dp_size = _size("moe-dp-size", "moe-data-parallel-size")

CONTEXT_PARALLEL = (
    "enable-prefill-cp", "enable-prefill-context-parallel", "enable-dsa-prefill-context-parallel",
    "enable-nsa-prefill-context-parallel",
)  # fmt: skip


def dp_attention(config: Config) -> Operand:
    """Whether attention runs data parallel: `--enable-dp-attention` with more than one replica, or `--attn-dp-size` (0.5.22).

    Source: srt/server_args.py (0.5.2 line 634: one replica switches it off), srt/arg_groups/parallel_hook.py (0.5.23 line 41).
    Some layouts of context parallelism switch it on by themselves.
    """
    width = attn_dp_size(config)
    if isinstance(width.value, int) and width.value > 1:
        return Operand(True, True, width.text, width.site)
    asked, replicas = config.operand("enable-dp-attention"), dp_size(config)
    if asked.value is True and isinstance(replicas.value, int) and replicas.value > 1:
        return Operand(True, True, asked.text, asked.site)
    needed = [width, asked, replicas, *[config.operand(name) for name in CONTEXT_PARALLEL]]
    if any(one is UNWRITTEN for one in needed):
        return UNWRITTEN
    if any(one.present is None or (one.present and one.value is None) for one in needed):
        return UNKNOWN
    if any(one.present for one in needed[3:]):
        return UNKNOWN
    return Operand(True, False)


def mamba_extra_buffer(config: Config) -> Operand:
    """Whether the radix cache of a model with Gated DeltaNet layers keeps states in an extra buffer.

    Asked for by name from 0.5.7 to 0.5.13.post1; chosen by `auto` from 0.5.14, where the overlap scheduler is on or pages are
    larger than one token. Without a radix cache there is none.
    Source: _handle_mamba_radix_cache in srt/server_args.py (0.5.13.post1 line 2652, 0.5.14 line 4379), and
    _mamba_radix_cache_resolution in srt/arg_groups/overrides.py (0.5.23 line 454).
    """
    radix, strategy = config.operand("disable-radix-cache"), mamba_strategy(config)
    if radix.value is True or strategy.value == "no_buffer":
        return Operand(True, False)
    node, overlap = config.operand("disaggregation-mode"), config.operand("disable-overlap-schedule")
    needed = [radix, strategy, node, config.operand("linear-attn-backend"), overlap, pp_size(config)]
    if any(one is UNWRITTEN for one in needed):
        return UNWRITTEN
    if any(one.present is None for one in needed) or node.present or (strategy.present and strategy.value is None):
        return UNKNOWN
    if strategy.value in ("extra_buffer", "extra_buffer_lazy"):
        return Operand(True, True, strategy.text, strategy.site)
    chosen = config.at_least("0.5.14")
    if chosen is False:
        return Operand(True, False)
    plain = needed[3].present is False and needed[4].present is False and needed[5].value == 1
    return Operand(True, True) if chosen and plain else UNKNOWN


def draft_model(config: Config) -> Operand:
    """The draft model."""
    return config.operand("speculative-draft-model-path")


def attention_groups(config: Config) -> Operand:
    """The groups of data-parallel attention, which divide a chunk of prefill among them; 1 where it is off.

    Source: sglang-0.4.6 srt/server_args.py:291, sglang-0.5.23 srt/arg_groups/parallel_hook.py:327.
    """
    shared = dp_attention(config)
    if shared.value is False:
        return Operand(True, 1)
    if shared.value is not True:
        return shared
    sizes = [attn_dp_size(config), dp_size(config)]
    return next((one for one in sizes if isinstance(one.value, int) and one.value > 1), UNKNOWN)


def prefill_chunk(mib: float, since: Callable[[str], bool | None]) -> int:
    """The default of --chunked-prefill-size on a GPU, from 0.4.7.post1 on.

    Args:
        mib: MiB of the GPU, as nvidia-smi prints it.
        since: whether the release is the given one or a later one.

    Source: ServerArgs.__post_init__ in srt/server_args.py (0.4.7.post1 line 331), _handle_gpu_memory_settings (0.5.3rc2 line
    542), srt/arg_groups/memory_hook.py (0.5.20 line 54, 0.5.23 line 90).
    """
    if mib < 35 * 1024:
        return 4096 if mib >= 20 * 1024 and since("0.5.20") else 2048
    if mib < 60 * 1024 and since("0.5.3rc2"):
        return 4096
    return 8192 if mib < 160 * 1024 else 16384


def default_chunk(config: Config) -> Operand:
    """The tokens of a chunk of prefill without --chunked-prefill-size, over all groups of attention.

    Without a GPU it is 2048, the least.
    """
    if config.at_least("0.4.7.post1") is False:
        return UNKNOWN
    memory = config.operand("gpu.memory-gib").value
    if not isinstance(memory, int | float) or says_other_device(config).value is not False:
        return Operand(True, 2048)
    if memory < 60 and config.key is None:  # only small GPUs have had several defaults
        return Operand(True, 2048)
    return Operand(True, prefill_chunk(memory * 1024, config.at_least))


def model_overridden(config: Config) -> Operand:
    """Whether --json-model-override-args may change more of the model than its context."""
    return overridden_model(config, "json-model-override-args")


_METHOD_READ_ON_B200 = frozenset((
    "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "Glm4MoeForCausalLM", "Qwen3MoeForCausalLM",
    "Qwen3VLMoeForConditionalGeneration", "Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration",
))  # fmt: skip
"""The architectures whose method is read from the checkpoint on compute capability 10: _handle_model_specific_adjustments in
srt/server_args.py (0.5.9 and 0.5.12), srt/arg_groups/overrides.py:772 and model_overrides/ (0.5.23). 0.5.9, 0.5.12, 0.5.18,
0.5.20 and 0.5.23 were run as B200."""


def checked_quantization(config: Config) -> Operand:
    """The quantization method where the arguments are checked: the option's, on B200 also that of some checkpoints."""
    given = config.operand("quantization")
    if given.present is not False:
        return given
    capability = config.operand("gpu.capability").value
    if not (isinstance(capability, int | float) and 10 <= capability < 11 and config.at_least("0.5.9")):
        return UNKNOWN
    read = config.operand("model.architecture").value in _METHOD_READ_ON_B200 and model_overridden(config).value is False
    return quantization_method(config) if read and says_other_device(config).value is False else UNKNOWN


FACTS = {
    "quantization": Fact(quantization_method, "text", "the quantization method: the option's, or that of the checkpoint"),
    "checked-quantization": Fact(
        checked_quantization, "text", "the quantization method that the start checks: the option's, or on B200 the checkpoint's"
    ),
    "least-capability": Fact(least_capability, "number", "the compute capability that the quantization method needs"),
    "lacks-pp": Fact(lacks("pp"), "bool", "the class of the model has no pipeline parallelism"),
    "lacks-dflash": Fact(lacks("dflash"), "bool", "the class of the model has no DFLASH drafts"),
    "lacks-eagle3": Fact(lacks("eagle3"), "bool", "the class of the model has no EAGLE3 drafts"),
    "lacks-embed-and-head": Fact(lacks("embed-and-head"), "bool", "the class of the model shares no embedding with a draft"),
    "lacks-bitsandbytes": Fact(lacks("bitsandbytes"), "bool", "the class of the model has no bitsandbytes"),
    "lacks-expert-location": Fact(lacks("expert-location"), "bool", "the class of the model tells the expert balancer nothing"),
    "command": Fact(command, "text", "the program that starts the server: serve or launch_server"),
    "model-option": Fact(
        model_option, "text", "how `sglang serve` gets its model: the option as it is spelled, position, or file"
    ),
    "old-variable": Fact(old_variable, "text", "a variable under the old prefix SGL_"),
    "says-other-device": Fact(says_other_device, "bool", "the launch selects a device other than a GPU"),
    "tp-size": Fact(tp_size, "number", "tensor parallel size; 1 unless given"),
    "pp-size": Fact(pp_size, "number", "pipeline parallel size; 1 unless given"),
    "dp-size": Fact(dp_size, "number", "data parallel size; 1 unless given"),
    "ep-size": Fact(ep_size, "number", "expert parallel size; 1 unless given"),
    "model-overridden": Fact(model_overridden, "bool", "an override of the config may change more than the context"),
    "cp-size": Fact(cp_size, "number", "context parallel size of attention; 1 unless given"),
    "attn-dp-size": Fact(attn_dp_size, "number", "data parallel size of attention; 1 unless given"),
    "moe-dp-size": Fact(moe_dp_size, "number", "data parallel size of the experts; 1 unless given"),
    "dp-attention": Fact(dp_attention, "bool", "attention is data parallel"),
    "attention-groups": Fact(attention_groups, "number", "groups of data-parallel attention; 1 where it is off"),
    "default-chunk": Fact(
        default_chunk, "number", "the default of --chunked-prefill-size on the GPU; 2048, the least, without one"
    ),
    "mamba-extra-buffer": Fact(mamba_extra_buffer, "bool", "the radix cache of a hybrid model keeps states in an extra buffer"),
    "speculative-algorithm": Fact(speculative_algorithm, "text", "the algorithm of speculative decoding that runs"),
    "speculative-algorithm-known": Fact(speculative_algorithm_known, "bool", "the release has the algorithm as it is written"),
    "draft-model": Fact(draft_model, "text", "the draft model"),
    "gemma4-assistant-draft": Fact(gemma4_assistant_draft, "bool", "the draft is an assistant of a Gemma 4 model"),
    "hopper-attention-backend": Fact(
        hopper_attention_backend, "text", "the attention backend on a Hopper GPU: the option's, or the default"
    ),
    "attention-backend": Fact(attention_backend, "text", "the attention backend: the option's, or the default on the GPU"),
    "default-attention-backend": Fact(
        default_attention_backend, "text", "the attention backend of the model on the GPU, without an option about it"
    ),
    "spec-v2": Fact(spec_v2, "bool", "SGLANG_ENABLE_SPEC_V2 as SGLang reads it"),
    "mamba-strategy": Fact(mamba_strategy, "text", "the radix cache strategy of hybrid models"),
    "says-rocm": Fact(says_rocm, "bool", "the launch selects ROCm"),
}


# -- conversions, by the names of SGLang's source


_IEC = r"(\d+(?:\.\d+)?)([KMGT]i|[kMGT])"
_POWERS = {"k": 10, "K": 10, "M": 20, "G": 30, "T": 40}
_LORA = '{"lora_name": ..., "lora_path": ...}'
_GRAPHS = '{"decode": {...}, "prefill": {...}}'


def _human_int(text: str) -> int:
    """As human_readable_int: `8k` is 8000 and `8Ki` 8192, case-sensitive; a fraction goes with the former."""
    match = re.fullmatch(_IEC, text.strip())
    if match is None:
        try:
            return int(text.strip())
        except ValueError as error:
            raise Refused("a whole number such as 8192, 8k or 8Ki") from error
    number, suffix = match.groups()
    if suffix.endswith("i") and "." in number:
        raise Refused(f"a whole number before {suffix}")
    return int(float(number) * (2 ** _POWERS[suffix[0]] if suffix.endswith("i") else 10 ** (_POWERS[suffix[0]] // 10 * 3)))


def _strict_json(text: str) -> object:
    """As orjson, which knows no NaN and no Infinity."""
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _nullable(text: str) -> str | None:
    return None if text in ("", "None") else text


def _lora_path(text: str) -> str:
    """As LoRAPathAction: a path, `name=path`, or a JSON object with both."""
    if text.strip().startswith("{") and text.strip().endswith("}"):
        value = json.loads(text)
        if not {"lora_name", "lora_path"} <= value.keys():
            raise Refused(_LORA)
    return text


def _log_level(text: str) -> str:
    if text.lower() not in ("critical", "fatal", "error", "warning", "warn", "info", "debug", "notset"):
        raise Refused("debug, info, warning, error or critical")
    return text


def _cuda_graph_config(text: str) -> object:
    value = json.loads(text)
    if not isinstance(value, dict) or not all(isinstance(phase, dict) for phase in value.values()):
        raise Refused(_GRAPHS)
    if not value.keys() <= {"decode", "prefill"}:
        raise Refused("settings for decode or prefill")
    return value


def _cuda_graph_backend(text: str) -> str:
    if text == "tc_piecewise":
        raise Refused("breakable, full or disabled")
    return text


CONVERSIONS: dict[str, Conversion] = {
    "human_readable_int": (_human_int, "a whole number such as 8192 or 8k"),
    "json_list_type": (_strict_json, "JSON"),
    "LoRAPathAction": (_lora_path, _LORA),
    "logging_level": (_log_level, ""),
    "parse_cuda_graph_config_arg": (_cuda_graph_config, _GRAPHS),
    "nullable_str": (_nullable, ""),
    "parse_cuda_graph_backend_arg": (_cuda_graph_backend, ""),
}
