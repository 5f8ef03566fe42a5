"""The encoder of images of a model, and how many parameters it has."""

from __future__ import annotations

from servelint.models.architecture import Vision
from servelint.models.numbers import inner, integer, listed, number, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def vision_of(data: Mapping[str, Any], hidden: int) -> Vision | None:
    """None if the model has no encoder of images."""
    given = next((data[key] for key in ("vision_config", "vision_tower_config") if isinstance(data.get(key), dict)), None)
    if given is None and isinstance(data.get("thinker_config"), dict):
        given = data["thinker_config"].get("vision_config")
    if not isinstance(given, dict) or not given or inner(data) is given:
        return None
    layers = number(given, "depth", "num_hidden_layers", "vt_num_hidden_layers", "layers")
    kind = word(given, "model_type") or ""
    size = number(given, "hidden_size", "embed_dim", "vt_hidden_size", "width")
    if kind.startswith("qwen2_vl") or (kind == "" and "embed_dim" in given):
        size = number(given, "embed_dim") or size
    width = number(given, "intermediate_size", "vt_intermediate_size") or int(size * _ratio(given))
    merge = integer(given, "spatial_merge_size") or 1
    return Vision(
        layers, size, width, _params(kind, given, layers, size, width, hidden), merge, integer(given, "patch_size"), kind
    )


def _ratio(given: Mapping[str, Any]) -> float:
    ratio = given.get("mlp_ratio")
    return float(ratio) if isinstance(ratio, (int, float)) and 0 < ratio < 100 else 4.0


def _params(kind: str, given: Mapping[str, Any], layers: int, size: int, width: int, hidden: int) -> int | None:
    """Parameters with what projects to the language model; None for a kind whose shapes are not known here.

    Transformers 5.23.0: models/qwen3_vl/modeling_qwen3_vl.py, and so of qwen2_5_vl, qwen2_vl, gemma4, siglip, gemma3, pixtral
    and mistral3.
    """
    if not layers or not size:
        return None
    patch, channels = number(given, "patch_size"), number(given, "in_channels", "in_chans", "num_channels") or 3
    frames, merge = number(given, "temporal_patch_size") or 1, number(given, "spatial_merge_size") or 1
    merged = size * merge * merge
    pixels = channels * frames * patch * patch
    out = number(given, "out_hidden_size") or hidden
    if kind.startswith(("qwen3_vl", "qwen3_5", "qwen3_omni")):
        block = 4 * size * size + 4 * size + 2 * size * width + width + size + 4 * size
        merger = merged * merged + merged + merged * out + out
        deep = len(listed(given, "deepstack_visual_indexes"))
        position = number(given, "num_position_embeddings") * size
        return pixels * size + size + position + layers * block + merger + 2 * size + deep * (merger + 2 * merged)
    if kind.startswith("qwen2_5_vl"):
        block = 4 * size * size + 4 * size + 3 * size * width + 2 * width + size + 2 * size
        return pixels * size + layers * block + size + merged * merged + merged + merged * out + out
    if kind.startswith("qwen2_vl"):
        block = 4 * size * size + 4 * size + 2 * size * width + width + size + 4 * size
        target = number(given, "hidden_size") or hidden
        return (
            (channels * 2 * patch * patch) * size
            + layers * block
            + 2 * size
            + merged * merged
            + merged
            + merged * target
            + target
        )
    if kind.startswith("gemma4_vision"):
        head = number(given, "head_dim") or size // (number(given, "num_attention_heads") or 1)
        heads, kv = number(given, "num_attention_heads"), number(given, "num_key_value_heads")
        block = size * head * (2 * heads + 2 * kv) + 3 * size * width + 4 * size + 2 * head
        return 3 * patch * patch * size + 2 * number(given, "position_embedding_size") * size + layers * block + size * hidden
    if kind == "siglip_vision_model":
        block = 4 * size * size + 4 * size + 2 * size * width + width + size + 4 * size
        side = (number(given, "image_size") // patch) if patch else 0
        return pixels * size + size + side * side * size + layers * block + 2 * size + size * hidden + size
    if kind == "pixtral":
        block = 4 * size * size + 3 * size * width + 2 * size
        return pixels * size + size + layers * block + size * hidden + hidden * hidden
    return None
