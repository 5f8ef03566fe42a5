"""What an estimator would have fetched of a model from the hub: its config.json, and the headers of its safetensors files.

The config.json is the published one where aiconfigurator-core brings a copy of it (architectures.json names the copy), with the
checkpoint's quantization added where the copy is of the plain model; else it is written from what servelint knows. The headers
are written from servelint's modules and their formats, every tensor in its stored type, multi-token prediction and encoder
included, as in the files: the same bytes that servelint weighs. So an estimator is never behind for want of facts.
"""

from __future__ import annotations

import json
import os
from typing import Any

from servelint.models.architecture import Architecture
from servelint.models.matrices import matrices
from servelint.models.quantization import format_of, tensors

_BY_SIZE = {1: "U8", 2: "BF16", 4: "F32"}
_FP8 = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
_CLASSES = {"qwen2": "Qwen2ForCausalLM", "qwen3_next": "Qwen3NextForCausalLM", "gemma4_text": "Gemma4ForConditionalGeneration"}
_WORDS = {"full": "full_attention", "mla": "full_attention", "sliding": "sliding_attention", "gdn": "linear_attention"}


def header(model: Architecture) -> dict[str, Any]:
    """The header of one safetensors file with all tensors: name -> dtype and shape."""
    found: dict[str, Any] = {}
    for number, module in enumerate(matrices(model)):
        if module.group == "lm_head" and model.tied:
            continue
        kind = format_of(module, model.quantization)
        sizes = tensors(kind, module.rows, module.columns, 2)
        scale = 4 if kind.scheme in ("fp8-block", "fp8") else 1
        for part, size in enumerate(sizes):
            if part == 0 and kind.scheme == "none":
                dtype, each = "BF16", 2
            elif part == 0:
                dtype, each = ("F8_E4M3" if kind.scheme.startswith("fp8") else "U8"), 1
            else:
                dtype, each = _BY_SIZE[scale], scale
            suffix = "weight" if part == 0 else f"scale_{part}"
            found[f"{module.name}.{number}.{suffix}"] = {"dtype": dtype, "shape": [size * module.count // each]}
    return found


def parameters(model: Architecture) -> int:
    """Weights of all modules, as the hub counts them of a file that packs none."""
    return sum(module.parameters for module in matrices(model) if not (module.group == "lm_head" and model.tied))


def config(model: Architecture, copies: str | None) -> tuple[dict[str, Any], str | None]:
    """A config.json, and the name under which aiconfigurator-core has this very one, None if it has not.

    copies: the folder of its copies, None where it is not installed
    """
    for source in model.sources:
        file = os.path.basename(source)
        path = os.path.join(copies or "", file)
        if copies is None or not file.endswith("_config.json") or "_hf_quant_" in file or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as opened:
            found: dict[str, Any] = json.load(opened)
        if model.quantization.method == "fp8" and "quantization_config" not in found:
            return found | {"quantization_config": _FP8}, None
        return found, file.removesuffix("_config.json").replace("--", "/")
    return written(model), None


def written(model: Architecture) -> dict[str, Any]:
    """A config.json with what servelint knows of the model."""
    text: dict[str, Any] = {
        "model_type": model.model_type,
        "dtype": model.dtype,
        "hidden_size": model.hidden,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "intermediate_size": model.dense,
        "vocab_size": model.vocab,
        "max_position_embeddings": model.context,
        "tie_word_embeddings": model.tied,
        "hidden_act": "silu",
    }
    if len(set(model.mixers)) > 1:
        text["layer_types"] = [_WORDS.get(word, word) for word in model.mixers]
    for layer in model.attention:
        if layer.kind == "full" and len(model.attention) > 1:  # Gemma 4: the full layers have heads of their own
            text |= {"global_head_dim": layer.head_dim, "num_global_key_value_heads": layer.kv_heads}
            text |= {"attention_k_eq_v": layer.key_is_value}
        else:
            text |= {"head_dim": layer.head_dim, "num_key_value_heads": layer.kv_heads}
            text |= {"sliding_window": layer.window} if layer.window is not None else {}
    for state in model.states:
        if "full" in model.mixers:
            text["full_attention_interval"] = model.mixers.index("full") + 1
        text |= {"linear_num_key_heads": state.key_heads, "linear_key_head_dim": state.key_dim}
        text |= {"linear_num_value_heads": state.value_heads, "linear_value_head_dim": state.value_dim}
        text |= {"linear_conv_kernel_dim": state.conv_kernel}
    if model.experts is not None:
        one = model.experts
        text |= {"num_experts": one.count, "num_experts_per_tok": one.per_token, "moe_intermediate_size": one.intermediate}
        text |= {"shared_expert_intermediate_size": one.shared}
    if model.quantization.method == "fp8":
        text["quantization_config"] = _FP8
    name = model.architecture or _CLASSES.get(model.model_type, "")
    if name.endswith("ForConditionalGeneration"):
        whole = {"architectures": [name], "model_type": model.model_type.removesuffix("_text"), "text_config": text}
        return whole | {"tie_word_embeddings": model.tied}
    return {"architectures": [name], **text}
