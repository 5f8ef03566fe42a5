"""The architecture of a model in a local folder, by its own files: config.json, the index and the headers of its weights."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from servelint.models.architecture import Format, Quantization
from servelint.models.config_json import described
from servelint.models.folder import CONFIG, json_object
from servelint.models.headers import Header, elements, read_gguf, read_safetensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from servelint.models.architecture import Architecture

    Opened = Callable[[str], str | None]
    Parts = Callable[[str, int, int], bytes | None]

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
QUANTIZATION = "hf_quant_config.json"
_INDEX_AT_MOST = 1 << 25
_FILES_AT_MOST = 1000
_SHARD = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")
_GGUF = {
    "llama": ("llama", "LlamaForCausalLM"),
    "qwen2": ("qwen2", "Qwen2ForCausalLM"),
    "qwen3": ("qwen3", "Qwen3ForCausalLM"),
    "qwen3moe": ("qwen3_moe", "Qwen3MoeForCausalLM"),
}
"""Architectures of llama.cpp with layers of one kind -> their model type, and its architecture in Transformers."""


def read(name: str, opened: Opened, parts: Parts | None = None) -> Architecture | None:
    """The architecture that the files in a folder, or a GGUF file, describe.

    Args:
        name: the path of the folder or of the GGUF file.
        opened: reads the text of a small file by its path, None if there is none.
        parts: reads bytes of a file of any length by path, offset and length.

    Returns:
        None if there are no such files or their model type is unknown.
    """
    if name.lower().endswith(".gguf"):
        return _of_gguf(name, parts) if parts is not None else None
    folder = name.rstrip("/")
    config = json_object(opened(f"{folder}/{CONFIG}"))
    if config is None:
        return None
    if not config.get("quantization_config"):
        quant = json_object(opened(f"{folder}/{QUANTIZATION}"))
        inner = (quant or {}).get("quantization")
        if isinstance(inner, dict):
            config = {**config, "quantization_config": {"quant_method": "modelopt", **inner}}
    found = described(name, config, (f"{folder}/{CONFIG}",))
    if found is None:
        return None
    size = size_of(folder, opened, parts)
    return replace(found, checkpoint=size[0]) if size else found


def size_of(folder: str, opened: Opened, parts: Parts | None) -> tuple[int, str] | None:
    """Bytes of all tensors of a folder, and the files that they are from; None if these are not there."""
    total = total_size(json_object(opened(f"{folder}/{INDEX}")))
    if total:
        return total, INDEX
    total = _measured(folder, parts) if parts is not None else None
    return (total, f"{INDEX}, or the headers of the weights") if total else None


def total_size(index: Mapping[str, Any] | None) -> int | None:
    """Bytes of all tensors that a model.safetensors.index.json states, None if it states none."""
    metadata = index.get("metadata") if index is not None else None
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    if isinstance(total, float) and total.is_integer() and 0 < total < 1 << 53:
        return int(total)
    return total if isinstance(total, int) and not isinstance(total, bool) and 0 < total < 1 << 60 else None


def _measured(folder: str, parts: Parts) -> int | None:
    """Bytes of all tensors by an index that is too long for `opened`, or by the headers of the files."""
    files = [SINGLE]
    text = parts(f"{folder}/{INDEX}", 0, _INDEX_AT_MOST)
    if text is not None:
        index = json_object(text.decode("utf-8", "replace"))
        total = total_size(index)
        if total is not None:
            return total
        names = index.get("weight_map") if index is not None else None
        if not isinstance(names, dict):
            return None
        files = sorted({one for one in names.values() if isinstance(one, str) and "/" not in one and "\\" not in one})
    if not files or len(files) > _FILES_AT_MOST:
        return None
    total = 0
    for file in files:
        found = read_safetensors(partial(parts, f"{folder}/{file}"))
        if isinstance(found, str):
            return None
        total += sum(tensor.bytes for tensor in found)
    return total or None


def gguf_headers(name: str, parts: Parts) -> list[Header] | str:
    """The header of each part of a GGUF file, or what is wrong with one. All have to be there."""
    shard = _SHARD.search(name)
    count = min(int(shard.group(2)), _FILES_AT_MOST) if shard is not None else 1
    headers: list[Header] = []
    for number in range(1, count + 1):
        path = f"{name[: shard.start()]}-{number:05}-of-{shard.group(2)}.gguf" if shard is not None else name
        found = read_gguf(partial(parts, path))
        if isinstance(found, str):
            return f"{path}: {found}"
        headers.append(found)
    return headers


def _of_gguf(name: str, parts: Parts) -> Architecture | None:
    headers = gguf_headers(name, parts)
    if isinstance(headers, str):
        return None
    weights = sum(elements(tensor.shape) for header in headers for tensor in header.tensors)
    size = sum(header.bytes for header in headers)
    if not weights:
        return None
    config = gguf_config(headers)
    model = described(name, config) if config is not None else None
    if model is None:
        from servelint.models.catalog import lookup

        model = lookup(name)
    if model is None:
        return None
    quantization = Quantization("gguf", (Format("gguf", size * 8 / weights),), gguf=model.quantization.gguf)
    return replace(model, name=name, quantization=quantization, checkpoint=None, sources=(f"{name} (header)",))


def gguf_config(headers: list[Header]) -> dict[str, Any] | None:
    """What a config.json would say, by the keys of the header; None for a model with several kinds of layers.

    Source: llama.cpp gguf-py gguf/constants.py.
    """
    keys = headers[0].keys
    kind = str(keys.get("general.architecture", ""))
    if kind not in _GGUF:
        return None
    shapes = {tensor.name: tensor.shape for header in headers for tensor in header.tensors}
    embedding = shapes.get("token_embd.weight", ())

    def key(text: str) -> int | float | bool | str | None:
        return keys.get(f"{kind}.{text}")

    config = {
        "architectures": [_GGUF[kind][1]],
        "model_type": _GGUF[kind][0],
        "num_hidden_layers": key("block_count"),
        "hidden_size": key("embedding_length"),
        "intermediate_size": key("feed_forward_length"),
        "num_attention_heads": key("attention.head_count"),
        "num_key_value_heads": key("attention.head_count_kv"),
        "head_dim": key("attention.key_length"),
        "max_position_embeddings": key("context_length"),
        "vocab_size": embedding[1] if len(embedding) == 2 else None,
        "num_experts": key("expert_count"),
        "num_experts_per_tok": key("expert_used_count"),
        "moe_intermediate_size": key("expert_feed_forward_length"),
        "tie_word_embeddings": "output.weight" not in shapes,
    }
    return {one: value for one, value in config.items() if value is not None}
