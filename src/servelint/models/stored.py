"""The architecture of a model in a folder that is here, by its own config.json."""

from __future__ import annotations

import json
from dataclasses import replace

from servelint.models.described import described
from servelint.models.local import CONFIG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from servelint.models.architecture import Architecture

INDEX = "model.safetensors.index.json"
QUANTIZATION = "hf_quant_config.json"


def read(name: str, opened: Callable[[str], str | None]) -> Architecture | None:
    """What the config.json in the folder `name` describes; None if there is none, or its model type is unknown.

    opened: gives the text of a file by its path, None if it is not here
    """
    folder = name.rstrip("/")
    config = _object(opened(f"{folder}/{CONFIG}"))
    if config is None:
        return None
    if not config.get("quantization_config"):
        quant = _object(opened(f"{folder}/{QUANTIZATION}"))
        inner = quant.get("quantization") if quant is not None else None
        if isinstance(inner, dict):
            config = {**config, "quantization_config": {"quant_method": "modelopt", **inner}}
    found = described(name, config, (f"{folder}/{CONFIG}",))
    if found is None:
        return None
    total = total_size(_object(opened(f"{folder}/{INDEX}")))
    return replace(found, checkpoint=total) if total else found


def total_size(index: Mapping[str, Any] | None) -> int | None:
    """Bytes of all tensors that a model.safetensors.index.json tells, None if it tells none."""
    metadata = index.get("metadata") if index is not None else None
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    if isinstance(total, float) and total.is_integer() and 0 < total < 1 << 53:
        return int(total)
    return total if isinstance(total, int) and not isinstance(total, bool) and 0 < total < 1 << 60 else None


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
