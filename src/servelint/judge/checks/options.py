"""Checks of option values with parts, and of values that depend on each other: lists, JSON objects, GPUs, parallel sizes."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise

from servelint.core.numbers import is_whole
from servelint.engines import ENGINES, images
from servelint.engines.config import Config, given_object
from servelint.engines.sglang.facts import CONTEXT_PARALLEL
from servelint.engines.stack import allows, bounds_of, required
from servelint.engines.vllm.facts import refused_number
from servelint.judge.checks import after, whole
from servelint.judge.parser.view import listed, misspelt
from servelint.syntax.json import ARRAY, NUMBER, OBJECT, STRING, UNKNOWN, WORD, JsonNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def lora_paths(config: Config) -> dict[str, str] | None:
    """The number of adapters in --lora-paths of SGLang, where --max-loaded-loras allows fewer.

    Source: check_lora_server_args in sglang-0.5.23 srt/arg_groups/lora_hook.py:162; 0.4.10.post2 srt/server_args.py.
    """
    words, most = _words(config, "lora-paths"), whole(config, "max-loaded-loras")
    if words is None or most is None or len(words) <= most or any(word.startswith(("{", "[")) for word in words):
        return None
    return {"adapters": str(len(words)), "most": str(most)}


def all_targets(config: Config) -> dict[str, str] | None:
    """The modules beside "all" in --lora-target-modules of SGLang.

    Source: check_lora_server_args in sglang-0.5.23 srt/arg_groups/lora_hook.py:146; 0.4.10.post2 srt/server_args.py.
    """
    words = _words(config, "lora-target-modules")
    if words is None or "all" not in words or len(set(words)) < 2:
        return None
    return {"others": ", ".join(word for word in words if word != "all")}


def _words(config: Config, option: str) -> list[str] | None:
    """The words of a list option; None where one of them, or where the list ends, is not known."""
    setting = config.setting(option)
    if setting is None or any(word.many or not word.text.known for word in setting.values + after(config, setting)):
        return None
    return [word.text.flat for word in setting.values]


# -- numbers


def number_range(config: Config) -> dict[str, str] | None:
    """The option whose number the release refuses, and its range in words."""
    found = refused_number(config)
    return {"option": "--" + found[0], "wanted": _described(found[1])} if found is not None else None


def _described(bounds: dict[str, float]) -> str:
    """Bounds in words: "a number from 1 to 65535", "a number above 0 and below 1"."""
    if bounds.keys() == {"ge", "le"}:
        return f"a number from {bounds['ge']:g} to {bounds['le']:g}"
    words = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}
    return "a number " + " and ".join([f"{words[name]} {bound:g}" for name, bound in bounds.items()])


# -- buckets of SGLang's metrics


def prompt_buckets(config: Config) -> dict[str, str] | None:
    """What is wrong with the buckets of --prompt-tokens-buckets."""
    return _buckets(config, "prompt-tokens-buckets")


def generation_buckets(config: Config) -> dict[str, str] | None:
    """What is wrong with the buckets of --generation-tokens-buckets."""
    return _buckets(config, "generation-tokens-buckets")


def _buckets(config: Config, option: str) -> dict[str, str] | None:
    """What is wrong with a rule for buckets: tse MIDDLE BASE COUNT, default, or custom VALUE ...

    Source: validate_buckets_rule in sglang-0.5.23 srt/arg_groups/validation_hook.py:384; the same in 0.5.3 srt/server_args.py.
    """
    words = _words(config, option)
    if not words:
        return None
    fault = _rule_fault(*words)
    return {"fault": fault} if fault is not None else None


def _rule_fault(rule: str, *values: str) -> str | None:
    if rule not in ("tse", "default", "custom"):
        return f'begins with "{rule}", not with tse, default or custom'
    if rule == "default":
        return "has values after default" if values else None
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return "has a value that is not a number"
    if rule == "custom":
        if not numbers:
            return "has no values after custom"
        if len(set(numbers)) < len(numbers):
            return "names a value twice"
        return "has a negative value" if min(numbers) < 0 else None
    if len(numbers) != 3:
        return f"has {len(numbers)} values after tse, which takes 3"
    if not is_whole(values[2]):
        return f"has {values[2]} as the number of buckets"
    middle, base, count = numbers
    return None if middle > 0 and base > 1 and count > 0 else "needs a middle above 0, a base above 1 and a count above 0"


# -- SGLang's loader of weights

_LOADERS = {
    "fastsafetensors": ("enable_multithread_load", "num_threads", "enable_gds"),
    "dummy": (),
    **dict.fromkeys(("auto", "safetensors", "pt", "npcache"), ("enable_multithread_load", "num_threads")),
}


def loader_config(config: Config) -> dict[str, str] | None:
    """A key of --model-loader-extra-config that the loader of the format does not take.

    Source: DefaultModelLoader and DummyModelLoader in sglang-0.5.23 srt/model_loader/loader.py; the same in 0.5.3.
    """
    form = config.operand("load-format")
    name = "auto" if form.present is False else form.value
    taken = _LOADERS.get(name) if isinstance(name, str) else None
    node = config.reading.parsed("model-loader-extra-config")
    if taken is None or node is None or node.kind != OBJECT:
        return None
    if not taken:
        return {"fault": f"is not read for --load-format {name}"} if node.members else None
    odd = next((key for key in node.members if key not in taken), None)
    return {"fault": f"has the key {odd}, which the loader does not take"} if odd is not None else None


# -- vLLM's loader of weights

_VLLM_LOADERS = {
    **dict.fromkeys(
        ("auto", "hf", "safetensors", "pt", "npcache", "mistral", "fastsafetensors", "instanttensor"),
        ("enable_multithread_load", "num_threads", "enable_weights_track"),
    ),
    **dict.fromkeys(("sharded_state", "runai_streamer_sharded"), ("pattern",)),
    "runai_streamer": ("distributed", "concurrency", "memory_limit"),
    "dummy": (),
}
_OBJECT_STORES = ("s3://", "gs://", "az://")


def vllm_loader_config(config: Config) -> dict[str, str] | None:
    """What vLLM's loader of the format does not take in --model-loader-extra-config.

    Source: default_loader.py, runai_streamer_loader.py, sharded_state_loader.py and dummy_loader.py in
    vllm-0.33.0 vllm/model_executor/model_loader.
    """
    form, node = _load_format(config), config.reading.parsed("model-loader-extra-config")
    taken = _VLLM_LOADERS.get(form or "")
    if config.text("model.quantization") in ("bitsandbytes", "gguf"):  # they have loaders of their own
        return None
    if taken is None or node is None or node.kind != OBJECT or (form == "runai_streamer" and not config.at_least("0.24.0")):
        return None
    if not taken:
        return {"fault": f"is not read for --load-format {form}"} if node.members else None
    if config.at_least("0.21.0") is False:
        taken = tuple([key for key in taken if key != "enable_weights_track"])
    odd = next((key for key in node.members if key not in taken), None)
    if odd is not None:
        return {"fault": f"has the key {odd}, which the loader of {form} does not take ({', '.join(taken)})"}
    fault = _loader_value(config, {key: value for key, (_, value) in node.members.items()})
    return {"fault": fault} if fault is not None else None


def _load_format(config: Config) -> str | None:
    """The load format; that of object stores where the model is in one (try_verify_and_update_config in config/vllm.py)."""
    form = config.operand("load-format")
    name = "auto" if form.present is False else form.value
    if name != "auto":
        return name if isinstance(name, str) else None
    model = config.text("model")
    if model is None:
        return None
    return "runai_streamer" if model.lower().startswith(_OBJECT_STORES) else "auto"


def _loader_value(config: Config, given: dict[str, JsonNode]) -> str | None:
    """A value that the loader refuses; before 0.24.0 none is looked at."""
    if not config.at_least("0.24.0"):
        return None
    threads = given.get("enable_multithread_load")
    for key in ("enable_multithread_load", "distributed"):
        if key in given and given[key].kind in (STRING, NUMBER):
            return f"has {given[key].text.flat} as {key}, which is not true or false"
    for key in ("num_threads", "concurrency", "memory_limit"):
        if key in given and given[key].kind == STRING and (key == "num_threads" or config.at_least("0.25.0")):
            return f"has {given[key].text.flat} as {key}, which is not a number"
    strategy = config.text("safetensors-load-strategy")
    if threads is not None and threads.value is True and strategy not in (None, "lazy"):
        return f"has enable_multithread_load, which does not work with --safetensors-load-strategy {strategy}"
    return None


# -- prefill and decode


def prefills_elsewhere(config: Config) -> dict[str, str] | None:
    """The release that prefills for a launch, where both files name one and it is not that which decodes."""
    own = config.launch.release.release
    others = {one.launch.release.release for one in config.prefills}
    other = others.pop() if len(others) == 1 else None
    return {"other": other} if own is not None and other is not None and own != other else None


# -- packages beside the engine


def prefill_drafts_not(config: Config) -> dict[str, str] | None:
    """Whether no launch of the same file that prefills for this one has drafts: supposed where there is none."""
    return None if config.operand("prefill.speculative-algorithm").present is True else {}


def flashinfer_packages(config: Config) -> dict[str, str] | None:
    """Two packages of FlashInfer that certainly are of different releases.

    Source: _check_version of flashinfer/__init__.py compares the whole versions when it is imported.
    """
    python, cubin = config.text("stack.flashinfer"), config.text("stack.flashinfer-cubin")
    if python is None or cubin is None or allows(cubin, python) or allows(python, cubin):
        return None
    return {"python": python, "cubin": cubin} if python[0].isdigit() else None


def torch_replaced(config: Config) -> dict[str, str] | None:
    """A PyTorch that certainly is of another series than the one that the release requires."""
    installed = config.text("stack.torch")
    pin = required(config.launch.engine, config.key, "torch").removeprefix("==")
    if installed is None or not pin[:1].isdigit() or bounds_of(installed)[0][0][:2] == bounds_of(pin)[0][0][:2]:
        return None
    image = config.launch.image
    return None if image is not None and images.identify(image).house else {"torch": installed, "pin": pin}


# -- CUDA graphs

_CERTAIN = 512
_WITHOUT_GRAPHS = (
    "enforce-eager",
    "compilation-config.cudagraph_mode",
    "compilation-config.mode",
    "all2all-backend",
)


def capture_sizes(config: Config) -> dict[str, str] | None:
    """The batch sizes for which CUDA graphs are captured.

    Source: VllmConfig._set_cudagraph_sizes in vllm-0.33.0 vllm/config/vllm.py:2551-2625; the same in 0.11.1. Sizes above
    --max-num-batched-tokens are dropped before the largest is compared, so that only sizes up to 512 are looked at here.
    Without CUDA graphs nothing is checked.
    """
    graphs = str(config.operand("optimization-level").value) in ("1", "2", "3")
    without = _WITHOUT_GRAPHS if graphs else (*_WITHOUT_GRAPHS, "optimization-level")
    if any(config.operand(name).present is not False and config.operand(name).value is not False for name in without):
        return None
    if any(config.operand(name).present is not False for name in ("max-num-batched-tokens", "kv-transfer-config")):
        return None
    sizes, largest = _sizes(config), _largest(config)
    if largest is not None and largest < 1:
        return {"reason": f"have {largest} as the largest"}
    if sizes is None:
        return None
    if not sizes:
        return {"reason": "are an empty list"}
    if largest is None or largest == max(sizes) or max(sizes) > _CERTAIN:
        return None
    return {"reason": f"go up to {max(sizes)}, and max_cudagraph_capture_size is {largest}"}


def _largest(config: Config) -> int | None:
    own = whole(config, "max-cudagraph-capture-size")
    return own if own is not None else whole(config, "compilation-config.max_cudagraph_capture_size")


def _sizes(config: Config) -> list[int] | None:
    """All sizes; None if they are not given, or not all of them are known."""
    setting = config.setting("cudagraph-capture-sizes")
    if setting is not None:
        words = [word.text.flat for word in setting.values if word.text.known and not word.many]
        return [int(word) for word in words] if len(words) == len(setting.values) and all(map(is_whole, words)) else None
    node = config.reading.parsed("compilation-config")
    member = node.members.get("cudagraph_capture_sizes") if node is not None and node.kind == OBJECT else None
    if member is None or member[1].kind != ARRAY or member[1].open:
        return None
    values = [int(item.value) for item in member[1].items if item.kind == NUMBER and isinstance(item.value, int)]
    return values if len(values) == len(member[1].items) else None


def compile_sizes(config: Config) -> dict[str, str] | None:
    """A text among the sizes that are compiled by themselves, or a bound of a range of sizes that is not above 0.

    Source: post_init_cudagraph_sizes in vllm-0.33.0 vllm/config/compilation.py:1139 (init_with_cudagraph_sizes in 0.10.1), and
    _set_compile_ranges in vllm/config/vllm.py:2725 (0.13.0 line 1206, where the key has another name up to 0.17).
    """
    for size in _appended(config, "compile_sizes") or ():
        if size != "cudagraph_capture_sizes":
            return {"key": "compile_sizes", "item": f'the text "{size}"'}
    for item in _members_of(config, "compile_sizes"):
        if item.kind == STRING and isinstance(item.value, str) and item.value != "cudagraph_capture_sizes":
            return {"key": "compile_sizes", "item": f'the text "{item.value}"'}
    for key in ("compile_ranges_endpoints", "compile_ranges_split_points") if config.at_least("0.13.0") else ():
        for item in _members_of(config, key):
            if item.kind == NUMBER and isinstance(item.value, int) and item.value < 1:
                return {"key": key, "item": str(item.value)}
    return None


def encoder_budgets(config: Config) -> dict[str, str] | None:
    """A token budget of the encoder's CUDA graphs below the number of images that a graph is for.

    Source: EncoderCudaGraphManager in vllm-0.22.0 and 0.33.0 vllm/v1/worker/encoder_cudagraph.py, which compares the smallest.
    """
    most = whole(config, "compilation-config.encoder_cudagraph_max_vision_items_per_batch")
    for item in _members_of(config, "encoder_cudagraph_token_budgets") if most is not None else ():
        if most is not None and item.kind == NUMBER and isinstance(item.value, int) and 0 < item.value < most:
            return {"budget": str(item.value)}
    return None


def _members_of(config: Config, key: str) -> Sequence[JsonNode]:
    """What is known of a list in --compilation-config."""
    node = config.reading.parsed("compilation-config")
    member = node.members.get(key) if node is not None and node.kind == OBJECT else None
    if member is None:
        node = config.reading.parsed(f"compilation-config.{key}")
        return node.items if node is not None and node.kind == ARRAY else ()
    return member[1].items if member[1].kind == ARRAY else ()


def _appended(config: Config, key: str) -> list[str] | None:
    """The texts that `--compilation-config.KEY+ A,B` appends to a list, as far as they are known; None without the option.

    Numbers stay texts there: vllm-0.33.0 vllm/utils/argparse_utils.py splits the value at its commas.
    """
    setting = config.reading.arguments.settings.get(f"compilation-config.{key}")
    if setting is None or not setting.spelling.endswith("+"):
        return None
    return setting.value.flat.split(",") if setting.value is not None and setting.value.known else []


# The names of torch.device, and an index without leading zeros (c10/core/Device.cpp, parse_type).
_DEVICES = re.compile(
    r"(cpu|cuda|ipu|xpu|mkldnn|opengl|opencl|ideep|hip|ve|fpga|maia|xla|lazy|vulkan|mps|meta|hpu|mtia|privateuseone|npu|tpu)"
    r"(:(0|[1-9]\d*))?"
)


def torch_device(config: Config) -> dict[str, str] | None:
    """A device for the processor of media that PyTorch does not know (vllm-0.28.0 vllm/config/multimodal.py:410)."""
    name = config.operand("mm-processor-kwargs.device").value
    return {"name": name or "an empty text"} if isinstance(name, str) and not _DEVICES.fullmatch(name) else None


# -- custom operations


def bare_level(config: Config) -> dict[str, str] | None:
    """A number as the whole compilation config. `-O 3` is a level, which the parser writes out as an object."""
    setting = config.setting("compilation-config")
    level = config.operand("compilation-config").value
    return {"level": str(level)} if setting is not None and setting.spelling != "-O" and level is not None else None


def custom_op(config: Config) -> dict[str, str] | None:
    """An operation in custom_ops that is neither switched on nor off.

    Source: CompilationConfig.__post_init__ in vllm-0.33.0 vllm/config/compilation.py:1013; the same in 0.11.0.
    """
    bare = [op for op in _custom_ops(config) if op not in ("all", "none") and (len(op) < 2 or op[0] not in "+-")]
    return {"op": bare[0]} if bare else None


def custom_ops(config: Config) -> dict[str, str] | None:
    """custom_ops that contradict each other about one operation.

    Source: CompilationConfig.__post_init__ in vllm-0.33.0 vllm/config/compilation.py:1022-1038. Two base modes are refused in
    every release since 0.8.5, an operation with + and - from 0.27.0 on.
    """
    ops = _custom_ops(config)
    if "all" in ops and "none" in ops:
        return {"reason": "has both all and none"}
    both = sorted({op[1:] for op in ops if op.startswith("+")} & {op[1:] for op in ops if op.startswith("-")})
    return {"reason": f"switches {both[0]} on and off"} if both and config.at_least("0.27.0") else None


def _custom_ops(config: Config) -> list[str]:
    """The operations that are known, in order."""
    added = _appended(config, "custom_ops")
    if added is not None:
        return added
    node = config.reading.parsed("compilation-config")
    member = node.members.get("custom_ops") if node is not None and node.kind == OBJECT else None
    if member is None or member[1].kind != ARRAY:
        return []
    return [item.value for item in member[1].items if item.kind == STRING and isinstance(item.value, str)]


_ATTENTION_OPERATORS = (
    ("0.16.0", "::", ("rocm_aiter_sparse_attn_indexer",)),
    ("0.11.1", "::", ("unified_attention_with_output", "unified_mla_attention_with_output", "mamba_mixer2", "kda_attention")),
    ("0.10.2", ".", ("unified_attention", "unified_attention_with_output", "mamba_mixer2", "short_conv", "gdn_attention")),
    ("0.10.1", ".", ("unified_attention", "unified_attention_with_output", "mamba_mixer2")),
)
"""From which release on splitting_ops must have which operators, the newest first, and what stands before their names."""


def splitting_ops(config: Config) -> dict[str, str] | None:
    """splitting_ops of vLLM without an operator of attention.

    Source: _attention_ops and splitting_ops_contain_attention in vllm/config/compilation.py (vllm-0.10.1 to 0.19.1), which
    CudagraphDispatcher asserts. The table has some operators of each release, not all. XPU has no graphs by default
    (vllm/platforms/xpu.py).
    """
    if config.operand("gpu.vendor").value == "intel":
        return None
    node = config.reading.parsed("compilation-config")
    member = node.members.get("splitting_ops") if node is not None and node.kind == OBJECT else None
    if member is None or member[1].kind != ARRAY or not member[1].items:
        return None
    if not all(item.kind == STRING and isinstance(item.value, str) for item in member[1].items):
        return None
    given = {item.value for item in member[1].items}
    for since, mark, names in _ATTENTION_OPERATORS:
        newer = config.at_least(since)
        if newer is None:
            return None
        missing = [f"vllm{mark}{name}" for name in names if f"vllm{mark}{name}" not in given] if newer else []
        if missing:
            return {"missing": missing[0]}
        if newer and since != "0.16.0":
            return None
    return None


# -- JSON objects

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def reasoning_efforts(config: Config) -> dict[str, str] | None:
    """The efforts of --reasoning-effort-map.

    Source: validate_reasoning_effort_map in vllm-0.33.0 vllm/entrypoints/common/cli_args.py:512-528.
    """
    node = config.reading.parsed("reasoning-effort-map")
    if node is None:
        return None
    if node.kind == ARRAY:
        return {"reason": "is a list, not an object"}
    if node.kind != OBJECT:
        return None
    for effort, (_, value) in node.members.items():
        if effort not in _EFFORTS:
            return {"reason": f"names {effort}, which is not an effort"}
        if value.kind in (ARRAY, OBJECT, NUMBER):
            return {"reason": f"gives {effort} a value that is not a string"}
    return None


def histogram_buckets(config: Config) -> dict[str, str] | None:
    """The buckets of --custom-histogram-buckets, which are lists of numbers.

    Source: ObservabilityConfig in vllm-0.33.0 vllm/config/observability.py:163-214; the catalog has the families, which are in
    vllm/v1/metrics/buckets.py.
    """
    node, families = config.reading.parsed("custom-histogram-buckets"), config.names("histogram-families")
    if node is None or node.kind != OBJECT:
        return None
    for family, (_, buckets) in node.members.items():
        if families is not None and family not in families:
            return {"reason": f"{family} is not a family of histograms"}
        if buckets.kind not in (ARRAY, UNKNOWN):
            return {"reason": f"{family} has no list of bounds"}
        if buckets.kind == ARRAY and (reason := _bucket_fault(buckets)) is not None:
            return {"reason": f"{family} {reason}"}
    return None


def _bucket_fault(buckets: JsonNode) -> str | None:
    if not buckets.items and not buckets.open:
        return "has no bucket"
    bounds = [item.value for item in buckets.items if item.kind == NUMBER and isinstance(item.value, (int, float))]
    if any(not math.isfinite(bound) or bound <= 0 for bound in bounds):
        return "has a bound that is not above 0"
    known = len(bounds) == len(buckets.items) and not buckets.open
    return "has bounds that are not in rising order" if known and any(a >= b for a, b in pairwise(bounds)) else None


def draft_schedule(config: Config) -> dict[str, str] | None:
    """What is wrong with the ranges of batch sizes for which a speculative config names a number of draft tokens.

    Source: validate_and_normalize_dynamic_sd_schedule in vllm/v1/spec_decode/dynamic/utils.py (vllm-0.24.0 to 0.33.0).
    """
    given = given_object(config, "speculative-config")
    ranges = given.get("num_speculative_tokens_per_batch_size") if given is not None else None
    if not isinstance(ranges, list) or not ranges:
        return None  # an empty list turns the schedule off
    rows: list[list[int]] = []
    for row in ranges:
        if not isinstance(row, list) or len(row) != 3:
            return {"reason": f"{row} is not a first batch size, a last one, and a number of draft tokens"}
        if not all(isinstance(one, int) and not isinstance(one, bool) for one in row):
            return None  # some values are converted
        rows.append(row)
    for first, last, tokens in rows:
        if first < 1 or first > last or tokens < 0:
            return {"reason": f"{[first, last, tokens]} has a batch size below 1, a falling range or fewer than 0 tokens"}
    rows.sort()
    if rows[0][0] != 1:
        return {"reason": f"the first range begins at {rows[0][0]}, not at 1"}
    for before, later in pairwise(rows):
        if later[0] <= before[1]:
            return {"reason": f"{before} and {later} overlap"}
    return None


def layer_partition(config: Config) -> dict[str, str] | None:
    """A partition of layers in VLLM_PP_LAYER_PARTITION that does not fit the stages of the pipeline or the model.

    Source: get_pp_indices in vllm/distributed/utils.py (vllm-0.6.0 to 0.33.0), which every model asks, with one stage as well.
    """
    given = config.operand("env.VLLM_PP_LAYER_PARTITION").text
    if given is None or not given.known:
        return None
    try:
        parts = [int(one) for one in given.flat.split(",")]
    except ValueError:
        return {"reason": "which is not a list of whole numbers"}
    stages, layers = whole(config, "pipeline-parallel-size", 1), config.operand("model.layers").value
    if stages is not None and len(parts) != stages:
        return {"reason": f"which has {len(parts)} parts for {stages} pipeline stage{'s' if stages > 1 else ''}"}
    if isinstance(layers, int) and sum(parts) != layers:
        return {"reason": f"whose sum is {sum(parts)}, and the model has {layers} layers"}
    return None


# -- GPUs and cores

_CORES = r"\d+(-\d+)?(,\d+(-\d+)?)*"


def device_ids(config: Config) -> dict[str, str] | None:
    """GPUs in --device-ids that are named twice, in two ways, or beyond those that the process sees.

    Source: EngineArgs._resolve_device_ids in vllm-0.33.0 vllm/engine/arg_utils.py:2140-2178; from 0.24.0 on.
    """
    given = config.operand("device-ids").text
    if given is None or not given.known:
        return None
    ids = [one.strip() for one in given.flat.split(",")]
    if len(set(ids)) != len(ids):
        return {"reason": f"{given.flat} names a GPU twice"}
    numbers = [int(one) for one in ids if is_whole(one)]
    if numbers and len(numbers) != len(ids):
        return {"reason": f"{given.flat} mixes numbers with UUIDs"}
    visible = config.operand("env.CUDA_VISIBLE_DEVICES").value
    if not numbers or not isinstance(visible, str) or not visible:
        return None
    count = len(visible.split(","))
    if max(numbers) < count:
        return None
    return {"reason": f"{max(numbers)} is not an index among the {count} GPUs of CUDA_VISIBLE_DEVICES ({visible})"}


def numa_cpus(config: Config) -> dict[str, str] | None:
    """The lists of cores that --numa-bind-cpus takes.

    Source: ParallelConfig._validate_numa_bind_cpus in vllm-0.33.0 vllm/config/parallel.py:496-520; the same from 0.20.0 on.
    """
    setting = config.setting("numa-bind-cpus")
    for word in setting.values if setting is not None else []:
        if not word.text.known or word.many:
            continue
        cpus = word.text.flat
        if re.fullmatch(_CORES, cpus) is None:
            return {"cpus": cpus, "reason": "numbers and ranges, separated by commas"}
        if any(int(first) > int(last) for first, last in re.findall(r"(?<!\d)(\d{1,18})-(\d{1,18})(?!\d)", cpus)):
            return {"cpus": cpus, "reason": "a range goes up"}
    return None


# -- SGLang: replicas of the experts must fit all GPUs, and the parts of the context


def expert_replicas(config: Config) -> dict[str, str] | None:
    """With expert parallelism the replicas must make up all GPUs, in one pipeline stage."""
    replicas, width = whole(config, "effective.moe-dp-size"), whole(config, "effective.tp-size")
    if replicas is None or width is None or replicas < 2:
        return None
    if width % replicas:
        return {"misfit": f"does not divide the tensor parallel size {width}"}
    stages = whole(config, "effective.pp-size")
    if stages is not None and stages > 1:
        return {"misfit": f"cannot be combined with {stages} pipeline stages"}
    experts = whole(config, "effective.ep-size")
    if experts is None or experts < 2 or experts * replicas == width or config.operand("moe-a2a-backend").present is not False:
        return None
    return {"misfit": f"times the expert parallel size {experts} must equal the tensor parallel size {width}"}


def expert_context(config: Config) -> dict[str, str] | None:
    """Replicas of the experts are as many as attention has parts of the context, from 0.5.11 on."""
    replicas, parts = whole(config, "effective.moe-dp-size"), whole(config, "effective.cp-size")
    if replicas is None or parts is None or replicas in (1, parts):
        return None
    if any(config.operand(name).present is not False for name in CONTEXT_PARALLEL):
        return None  # some of these layouts set the size by themselves
    return {"width": str(parts)} if expert_replicas(config) is None else None


def gc_thresholds(config: Config) -> dict[str, str] | None:
    """More numbers of --gc-threshold than Python's collector has generations (srt/server_args.py of SGLang)."""
    setting = config.setting("gc-threshold")
    count = len(setting.values) if setting is not None else 0
    return {"count": str(count)} if count > 3 else None


_PREFETCH_NUMBERS = ("prefetch_threshold", "prefetch_timeout_base", "prefetch_timeout_per_ki_token")


def prefetch_numbers(config: Config) -> dict[str, str] | None:
    """A text where --hicache-storage-backend-extra-config takes a number.

    Source: _parse_storage_backend_extra_config in sglang-0.5.4 srt/mem_cache/hiradix_cache.py:174.
    """
    return _text_for_number(config.reading.parsed("hicache-storage-backend-extra-config"), _PREFETCH_NUMBERS)


def graph_values(config: Config) -> dict[str, str] | None:
    """A value of --cuda-graph-config of the wrong kind: nothing converts it, and SGLang computes with it.

    Source: srt/server_args.py (0.5.14 lines 3220 and 3303), srt/arg_groups/memory_hook.py (0.5.23 lines 202 and 386). Nothing
    looks into the sizes of prefill, which are counted where memory is reserved for graphs.
    """
    node = config.reading.parsed("cuda-graph-config")
    members = node.members if node is not None and node.kind == OBJECT else {}
    for phase in ("decode", "prefill"):
        held = members[phase][1] if phase in members and members[phase][1].kind == OBJECT else None
        fault = _graph_fault(config, phase, held) if held is not None else None
        if fault is not None:
            return {"fault": fault}
    return None


def _graph_fault(config: Config, phase: str, held: JsonNode) -> str | None:
    backend, most, sizes = (held.members[key][1] if key in held.members else None for key in ("backend", "max_bs", "bs"))
    if backend is not None and backend.kind not in (STRING, UNKNOWN):
        return f"{_kind_of(backend)} for the backend of {phase}"
    if most is not None and (most.kind in (STRING, OBJECT, ARRAY) or (most.kind == NUMBER and isinstance(most.value, float))):
        return f"{_kind_of(most)} for the max_bs of {phase}"
    if sizes is None or sizes.kind == UNKNOWN or _is_null(sizes):
        return None
    if phase == "prefill":
        counted = sizes.kind in (NUMBER, WORD) and _counts_prefill_graphs(config)
        return f"{_kind_of(sizes)} for the bs of prefill" if counted else None
    if sizes.kind != ARRAY or not (sizes.items or sizes.open):
        return f"{_kind_of(sizes)} for the bs of decode"
    wrong = next((one for one in sizes.items if one.kind in (STRING, OBJECT, ARRAY) or _is_null(one)), None)
    return f"{_kind_of(wrong)} among the bs of decode" if wrong is not None else None


def _is_null(node: JsonNode) -> bool:
    return node.kind == WORD and node.value is None


def _kind_of(node: JsonNode) -> str:
    if node.kind == STRING:
        return f'the text "{node.value}"' if isinstance(node.value, str) else "a text"
    if node.kind == NUMBER:
        return f"the number {node.value}"
    return {OBJECT: "an object", ARRAY: "a list" if node.items else "an empty list"}.get(node.kind, json.dumps(node.value))


def _counts_prefill_graphs(config: Config) -> bool:
    """Whether SGLang reserves memory for the prefill graphs of a launch by their number."""
    absent = (
        "mem-fraction-static", "disaggregation-mode", "disable-cuda-graph", "disable-prefill-cuda-graph", "pp-size", "device",
    )  # fmt: skip
    plain = config.operand("model.mla").value is False and config.operand("model.multimodal").value is False
    return plain and all(config.operand(name).present is False for name in absent)


def _text_for_number(node: JsonNode | None, keys: tuple[str, ...]) -> dict[str, str] | None:
    if node is None or node.kind != OBJECT:
        return None
    for key in keys:
        value = node.members[key][1] if key in node.members else None
        if value is not None and value.kind == STRING and isinstance(value.value, str):
            return {"key": key, "text": value.value}
    return None


def other_modality(config: Config) -> dict[str, str] | None:
    """A key of --limit-mm-data-per-request that is not a modality (srt/arg_groups/serving_hook.py of SGLang)."""
    node = config.reading.parsed("limit-mm-data-per-request")
    other = (
        [key for key in node.members if key not in ("image", "video", "audio")]
        if node is not None and node.kind == OBJECT
        else []
    )
    return {"key": other[0]} if other else None


_WHOLE_NUMBERS = ("max_position_embeddings", "num_hidden_layers", "hidden_size", "vocab_size", "num_attention_heads")
_CHECKED_TYPES = ("gpt_oss", "llama", "qwen2", "qwen3", "qwen3_moe")
"""Their configurations are classes of transformers, which checks what it is given, and of no repository."""


def override_shape(config: Config) -> dict[str, str] | None:
    """--json-model-override-args that are not an object, or give an object of the config a single value, or a number a text.

    Source: get_config in sglang-0.5.23 srt/utils/hf_transformers/config.py calls `config.update`; get_context_length of
    common.py reads the factor and the length. The configurations of transformers 5 refuse other types (0.5.12 and 0.5.23, run).
    """
    node = config.reading.parsed("json-model-override-args")
    if node is None or node.kind == UNKNOWN:
        return None
    if node.kind != OBJECT:
        empty = (node.kind == ARRAY and not node.items) or (node.kind == WORD and node.value is None)
        return {"reason": "is a list, not an object" if node.kind == ARRAY else "is not an object"} if not empty else None
    flat = config.operand("model.multimodal").value is False  # no inner config: these are the keys that count
    checked = flat and config.at_least("0.5.12") is True and config.operand("model.type").value in _CHECKED_TYPES
    for key, (_, value) in node.members.items():
        if key == "text_config" and value.kind not in (OBJECT, UNKNOWN):
            return {"reason": "gives text_config a value that is not an object"}
        if (
            key == "text_config"
            and flat
            and value.kind == OBJECT
            and not value.open
            and "num_attention_heads" not in value.members
        ):
            return {"reason": "gives a config without text_config one that lacks num_attention_heads"}
        if key == "max_position_embeddings" and flat and value.kind in (OBJECT, ARRAY):
            return {"reason": "gives max_position_embeddings a value that is not a number"}
        text = value.kind == STRING and value.value is not None
        if checked and key in _WHOLE_NUMBERS and (text or value.kind == WORD or isinstance(value.value, float)):
            return {"reason": f"gives {key} a value that is not a whole number"}
        single = value.kind in (STRING, NUMBER, WORD) and value.value
        read = key == "rope_scaling" or (key == "rope_parameters" and config.at_least("0.5.10") is True)
        if read and flat and single:
            return {"reason": f"gives {key} a value that is not an object"}
    return None


def manager_settings(config: Config) -> dict[str, str] | None:
    """Settings in manager_config of --ec-manager-config; an empty object has none."""
    given = given_object(config, "ec-manager-config")
    return {} if given is not None and given.get("manager_config") else None


def online_name(config: Config) -> dict[str, str] | None:
    """A name in --quantization-config that is not one of online quantization.

    Source: QuantizationConfigArgs in vllm-0.33.0 vllm/config/quantization.py:143-200.
    """
    node, short, keys = (
        config.reading.parsed("quantization-config"), config.names("online-quantization"), config.names("quantization-keys"),
    )  # fmt: skip
    if node is None or node.kind != OBJECT or short is None or keys is None:
        return None
    for part in ("linear", "moe"):
        value = node.members[part][1] if part in node.members else None
        if value is not None and value.kind == STRING and value.value is not None:
            known = config.named("online-quantization", str(value.value))
            if part == "linear" and known is not None and known.here and "without-linear" in known.body:
                return {"name": str(value.value), "key": part, "names": listed([one for one in keys if one != value.value])}
            if value.value not in (*short, *keys):
                return {"name": str(value.value), "key": part, "names": listed(keys)}
        for key, (_, inner) in value.members.items() if value is not None and value.kind == OBJECT else ():
            if key in ("weight", "activation") and isinstance(inner.value, str) and inner.value not in keys:
                return {"name": str(inner.value), "key": f"{part}.{key}", "names": listed(keys)}
    targets = node.members["targets"][1] if "targets" in node.members else None
    for pattern, (_, value) in targets.members.items() if targets is not None else ():
        unknown = value.kind == UNKNOWN or (value.kind == STRING and value.value is None)
        if not unknown and (value.kind != STRING or value.value not in short):
            return {"name": value.content.shown or "an empty text", "key": f"targets[{pattern}]", "names": listed(short)}
    return None


def backend_per_kind(config: Config) -> dict[str, str] | None:
    """A kind of KV cache groups, or a backend, in backend_per_kind that the release does not have.

    Source: AttentionConfig.validate_backend_per_kind_before in vllm-0.33.0 vllm/config/attention.py:240-265.
    """
    node, kinds, backends = (
        config.reading.parsed("attention-config"), config.names("kv-cache-kinds"), config.names("attention-backends"),
    )  # fmt: skip
    if node is None or node.kind != OBJECT or kinds is None or backends is None or "backend_per_kind" not in node.members:
        return None
    for kind, (_, value) in node.members["backend_per_kind"][1].members.items():
        if kind not in kinds:
            return {"name": kind, "what": "a kind of KV cache groups", "names": listed(kinds)}
        if isinstance(value.value, str) and value.value.upper() not in backends:
            return {"name": str(value.value), "what": "an attention backend", "names": listed(backends)}
    return None


_DUMMY_SIZES = {"video": ("num_frames", "width", "height"), "image": ("width", "height"), "audio": ("length",)}
"""Sizes of the items with which vLLM profiles an encoder, above 0 (vllm-0.11.2 and 0.33.0 vllm/config/multimodal.py)."""


def media_limit(config: Config) -> dict[str, str] | None:
    """A value of --limit-mm-per-prompt that is neither an object nor a whole number in range (vllm/config/multimodal.py)."""
    given = given_object(config, "limit-mm-per-prompt")
    for key, value in (given or {}).items():
        whole_text = isinstance(value, str) and re.fullmatch(r"\s*\d+\s*", value)
        negative = isinstance(value, int) and not isinstance(value, bool) and value < 0
        checked = config.operand("model.multimodal").value is True and config.at_least("0.11.1")
        if negative and checked:
            return {"key": key, "value": str(value)}
        for name, number in value.items() if isinstance(value, dict) and checked else ():
            least = 0 if name == "count" else 1 if name in _DUMMY_SIZES.get(key, ()) else None
            if least is not None and isinstance(number, int) and not isinstance(number, bool) and number < least:
                return {"key": f"{name} of {key}", "value": str(number)}
        if not isinstance(value, (int, dict)) and not whole_text and not (isinstance(value, float) and value.is_integer()):
            return {"key": key, "value": str(value) or "an empty text"}
    return None


# -- TGI


def launcher_lacks(config: Config) -> dict[str, str] | None:
    """The options that the program which is started needs beside the engine's, and that neither a word nor a variable gives."""
    launch = config.launch
    launcher = ENGINES[launch.engine].launchers.get(launch.launcher)
    if launcher is None or not launcher.required or launch.open_env or any(not word.text.known for word in launch.argv):
        return None
    given = {word.text.flat.partition("=")[0] for word in launch.argv}
    missing = [
        f"--{name}"
        for name in launcher.required
        if f"--{name}" not in given and name.upper().replace("-", "_") not in launch.env
    ]
    return {"missing": " and ".join(missing)} if missing else None


# -- llama.cpp


def spec_types(config: Config) -> dict[str, str] | None:
    """The first part of --spec-type that no build has as a type. A typing mistake and the name "mtp" are other rules.

    Source: common_speculative_types_from_names in llama.cpp b11434 common/speculative.cpp, which stops at "none".
    """
    given, known = config.operand("spec-type"), config.names("speculative-methods", ever=True)
    if given.present is not True or given.text is None or not given.text.known or known is None:
        return None
    for part in given.text.flat.split(","):
        if part == "none":
            return None
        if part not in known:
            return {"part": part} if part != "mtp" and misspelt(part, known) is None else None
    return None


_TOOLS = frozenset(("all", "read_file", "file_glob_search", "grep_search", "exec_shell_command", "write_file", "edit_file"))
"""Those of every build from b9093 on"""
_TOOLS_GONE = {"apply_diff": "b10001", "get_datetime": "b10499"}
"""Tool -> the first build that was read without it"""
_TOOLS_NEW = {"get_info": "b10200"}
"""Tool -> the build after the last one that was read without it"""


def unknown_tool(config: Config) -> dict[str, str] | None:
    """The first part of --tools that is not a tool of the build.

    Source: server_tools::setup in tools/server/server-tools.cpp of llama.cpp b9093, b9951, b10001, b10199, b10261, b10456,
    b10499 and b11434.
    """
    text = config.operand("tools").text
    if text is None or not text.known:
        return None
    for part in filter(None, map(str.strip, text.flat.split(","))):
        gone, new = _TOOLS_GONE.get(part), _TOOLS_NEW.get(part)
        absent = config.at_least(gone) is True if gone else config.at_least(new) is False if new else part not in _TOOLS
        if absent:
            return {"part": part}
    return None


_COUNTS = ("ctx-size", "cache-ram", "fit-target", "fit-ctx", "batch-size", "ubatch-size", "parallel", "predict")


def digits_read(config: Config) -> dict[str, str] | None:
    """The number that std::stoi takes from a value such as 16k, the text, and the option.

    Source: common_params_parse_ex in llama.cpp b11434 common/arg.cpp.
    """
    for option in _COUNTS:
        text = config.operand(option).text
        found = re.fullmatch(r"(\d+)[^\d\s,/]\S*", text.flat) if text is not None and text.known else None
        if found is not None:
            return {"read": found.group(1), "text": found.group(), "option": "--" + option}
    return None


# -- LMDeploy


def lmdeploy_capture_sizes(config: Config) -> dict[str, str] | None:
    """Batch sizes of CUDA graphs that are not positive, or all above --max-batch-size.

    Source: normalize_cudagraph_capture_batch_sizes in lmdeploy-0.18.0 lmdeploy/pytorch/config.py.
    """
    sizes, largest = _known_words(config, "cudagraph-capture-batch-sizes"), whole(config, "max-batch-size")
    if not sizes or not all(re.fullmatch(r"-?\d+", size) for size in sizes):
        return None
    if min(map(int, sizes)) < 1:
        return {"reason": "are positive numbers"}
    if largest and min(map(int, sizes)) > largest:
        return {"reason": f"begin at {min(map(int, sizes))}, and --max-batch-size is {largest}"}
    return None


def lmdeploy_adapters(config: Config) -> dict[str, str] | None:
    """Several adapters: one has no name, or two have the same name.

    Source: get_lora_adapters in lmdeploy-0.18.0 lmdeploy/cli/utils.py.
    """
    adapters = _known_words(config, "adapters") or []
    names = [adapter.strip().partition("=")[0] for adapter in adapters]
    if len(adapters) < 2:
        return None
    bare = next((adapter for adapter in adapters if "=" not in adapter), None)
    if bare is not None:
        return {"reason": f"{bare} has no name, and there are {len(adapters)} adapters"}
    twice = next((name for name in names if names.count(name) > 1), None)
    return {"reason": f"has two adapters of the name {twice}"} if twice is not None else None


def _known_words(config: Config, option: str) -> list[str] | None:
    """The words of an option with several values; None if one is not known."""
    setting = config.setting(option)
    words = setting.values if setting is not None else []
    return [word.text.flat for word in words] if all(word.text.known and not word.many for word in words) else None


# -- the file of --config


def config_not_read(config: Config) -> dict[str, str] | None:
    """The file of --config that SGLang does not read, because no word of the command is --config.

    Source: prepare_server_args in sglang-0.5.23 srt/server_args.py:683 (0.5.4 line 3658).
    """
    setting = config.setting("config")
    words = config.launch.argv
    if setting is None or setting.value is None or not setting.value.known or any(word.many for word in words):
        return None
    alone = any(word.value in (None, "--config") for word in words)
    return None if alone else {"file": setting.value.flat}
