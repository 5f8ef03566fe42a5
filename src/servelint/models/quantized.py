"""How a checkpoint holds its weights, from the quantization_config of its config.json or from its hf_quant_config.json.

Keys as vllm-0.33.0 reads them: vllm/model_executor/layers/quantization/ fp8.py, awq.py, gptq.py, auto_round.py, modelopt.py,
mxfp4.py, bitsandbytes.py, compressed_tensors/compressed_tensors.py.
"""

from __future__ import annotations

from servelint.models.architecture import Format, Quantization
from servelint.models.numbers import flag, integer, listed, number, table, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_MODELOPT = {
    "FP8": Format("fp8", 8),
    "FP8_PER_CHANNEL_PER_TOKEN": Format("fp8", 8),
    "FP8_PB_WO": Format("fp8-block", 8, 128),
    "NVFP4": Format("nvfp4", 4, 16),
    "NVFP4_AWQ": Format("nvfp4", 4, 16),
    "NVFP4_SVD": Format("nvfp4", 4, 16),
    "W4A16_NVFP4": Format("nvfp4", 4, 16),
    "W4A8_NVFP4_FP8": Format("nvfp4", 4, 16),
    "MXFP8": Format("mxfp8", 8, 32),
    "MXFP4": Format("mxfp4", 4, 32),
    "W4A8_MXFP4_FP8": Format("mxfp4", 4, 32),
    "W4A16_AWQ": Format("int4", 4, 128),
    "W4A8_AWQ": Format("int4", 4, 128),
}
_IGNORED = ("ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers", "llm_int8_skip_modules")
_PLAIN = {
    "fbgemm_fp8": Format("fp8", 8),
    "ptpc_fp8": Format("fp8", 8),
    "mxfp4": Format("mxfp4", 4, 32),
    "gpt_oss_mxfp4": Format("mxfp4", 4, 32),
    "mxfp8": Format("mxfp8", 8, 32),
    "experts_int8": Format("int8", 8),
}


def quantization_of(data: Mapping[str, Any], inner: Mapping[str, Any]) -> Quantization | None:
    """None if the config says that weights are quantized in a way that is not known here."""
    given = next((one for one in (data.get("quantization_config"), inner.get("quantization_config")) if one), None)
    given = given or data.get("compression_config") or inner.get("compression_config")
    if given is None:
        return Quantization()
    if not isinstance(given, dict):
        return None
    if isinstance(given.get("quantization"), dict):
        given = {"quant_method": "modelopt", **given["quantization"]}  # hf_quant_config.json
    method = str(given.get("quant_method") or "")
    formats = _formats(method, given)
    if formats is None:
        return None
    if inner.get("expert_dtype") == "fp4" and not formats[0].targets:  # DeepSeek V4: FP8, and MXFP4 in the experts
        formats = (Format("mxfp4", 4, 32, False, ("*.experts.*",)), *formats)
    if method in ("fp8", "deepseek_v4_fp8") and formats[0].targets:  # what the others' list leaves out stays FP8
        return Quantization(method, (*formats, Format("fp8-block", 8, 128)))
    ignored = [one for key in _IGNORED for one in listed(given, key) if isinstance(one, str)]
    dynamic = given.get("dynamic")
    if isinstance(dynamic, dict):
        ignored += ["re:" + one[2:] for one in dynamic if isinstance(one, str) and one.startswith("-:")]
    extra = given.get("extra_config")
    if isinstance(extra, dict):
        ignored += [name for name, one in extra.items() if isinstance(one, dict) and number(one, "bits") >= 16]
    cache = word(given, "kv_cache_quant_algo") or ("FP8" if number(table(given, "kv_cache_scheme"), "num_bits") == 8 else None)
    return Quantization(method, formats, tuple(dict.fromkeys(ignored)), "fp8" if cache == "FP8" else cache and cache.lower())


def _formats(method: str, given: Mapping[str, Any]) -> tuple[Format, ...] | None:
    if method in _PLAIN:
        return (_PLAIN[method],)
    if method in ("fp8", "deepseek_v4_fp8") and not isinstance(given.get("quantized_layers"), dict):
        block = listed(given, "weight_block_size")
        main = Format("fp8-block", 8, int(block[-1])) if len(block) == 2 and isinstance(block[-1], int) else Format("fp8", 8)
        return (main,)
    if method in ("awq", "gptq", "awq_marlin", "gptq_marlin", "auto-round", "auto_round", "intel/auto-round", "inc"):
        bits, group = number(given, "bits", "w_bit"), integer(given, "group_size", "q_group_size")
        if bits not in (2, 3, 4, 8):
            return None
        group = group if group is not None else 0 if given.get("group_size") == -1 else 128
        asymmetric = flag(given, "zero_point") or given.get("sym") is False
        awq = "awq" in method or "awq" in str(given.get("packing_format"))
        return (Format("int4" if bits == 4 else "int8" if bits == 8 else "int", bits, group, asymmetric or not awq),)
    if method == "bitsandbytes":
        return (Format("bnb4", 4, 64) if flag(given, "load_in_4bit") or flag(given, "_load_in_4bit") else Format("bnb8", 8),)
    if method.startswith("modelopt") or "quant_algo" in given or "quantized_layers" in given:
        return _modelopt(given)
    if method in ("compressed-tensors", "compressed_tensors"):
        return _compressed_tensors(given)
    return None


def _modelopt(given: Mapping[str, Any]) -> tuple[Format, ...] | None:
    algo = word(given, "quant_algo")
    if algo in _MODELOPT:
        main = _MODELOPT[algo]
        group = integer(given, "group_size")
        return (Format(main.scheme, main.bits, group or main.group),)
    by_scheme: dict[Format, list[str]] = {}
    for name, entry in table(given, "quantized_layers").items():
        found = _MODELOPT.get(str(table({"": entry}, "").get("quant_algo")))
        if found is None:
            return None
        by_scheme.setdefault(found, []).append(name)
    kinds = [Format(one.scheme, one.bits, one.group, False, tuple(names)) for one, names in by_scheme.items()]
    return tuple(sorted(kinds, key=lambda one: -one.bits)) or None  # what has few bits is most of the weights


def _compressed_tensors(given: Mapping[str, Any]) -> tuple[Format, ...] | None:
    """One format for each group; one whose target is a class (`Linear`) is that of what no other names, and comes last."""
    found: list[Format] = []
    for entry in table(given, "config_groups").values():
        weights = table(table({"": entry}, ""), "weights")
        bits, kind = number(weights, "num_bits"), word(weights, "type")
        group = integer(weights, "group_size") or 0
        format_ = word(table({"": entry}, ""), "format") or word(given, "format") or ""
        block = listed(weights, "block_structure")
        if kind == "float" and bits == 4:
            scheme = "mxfp4" if "mxfp4" in format_ or group == 32 else "nvfp4"
            group = group or (32 if scheme == "mxfp4" else 16)
        elif kind == "float" and bits == 8:
            scheme = "mxfp8" if group == 32 else "fp8-block" if len(block) == 2 else "fp8"
            group = int(block[-1]) if len(block) == 2 and isinstance(block[-1], int) else group
        elif kind == "int" and bits in (2, 3, 4, 8):
            scheme = "int8" if bits == 8 else "int4" if bits == 4 else "int"
        else:
            return None
        targets = tuple(one for one in listed(table({"": entry}, ""), "targets") if isinstance(one, str))
        everything = any(one[:1].isupper() for one in targets)
        found.append(Format(scheme, bits, group, weights.get("symmetric") is False, () if everything else targets))
    return tuple(sorted(found, key=lambda one: not one.targets)) or None
