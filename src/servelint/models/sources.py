"""Where the facts of a model are from, and the models file of a project (schemas/models.schema.json)."""

from __future__ import annotations

import hashlib
import json
import os

from servelint import models
from servelint.core.text import TracedText
from servelint.models import checkpoint, folder
from servelint.models.catalog import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.models import Fact

    Row = tuple[str, Fact, str]
    """A fact of servelint.models.FACTS or `bytes` (of the weights), its value, and its source."""

_TRANSFORMERS = "Transformers models/auto/configuration_auto.py"
_CONFIG_AT_MOST = 1 << 20


def of_name(name: str) -> list[Row]:
    """The facts that are known of a model by its name; none for a name that is not known."""
    traced = TracedText.of(name)
    family, known = models.identify(traced), lookup(name)
    rows: list[Row] = []
    for fact in models.FACTS:
        value = family.fact(fact) if family is not None else None
        if family is not None and value not in (None, ""):
            source = family.source
            if fact in ("family", "size"):
                source = "the name"
            elif fact == "quant-method":
                source = "quant_method in the checkpoints that the publisher has in this format"
            elif fact == "quantization":
                source = f"the name; {family.source}"
            elif fact == "transformers":
                source = _TRANSFORMERS
            rows.append((fact, value, source))
        elif fact in models.NUMBERS and known is not None and (number := models.described_number(name, fact)) is not None:
            rows.append((fact, number, "; ".join(known.sources)))
    if known is not None and known.checkpoint:
        rows.append(("bytes", known.checkpoint, "; ".join(known.sources)))
    return rows


def of_entry(entry: dict[str, Any]) -> list[Row]:
    """The facts of a model in a models file."""
    noted = entry["sources"]
    rows: list[Row] = [(fact, value, noted["config"]) for fact, value in folder.from_config(entry["config"]).items()]
    return rows + ([("bytes", entry["bytes"], noted["bytes"])] if "bytes" in entry else [])


def read_folder(path: str) -> dict[str, Any]:
    """What a models file has of a model: its config.json and the bytes of its weights, each with its source.

    Args:
        path: the config.json, or its folder, which may have the index or the headers of the weights.

    Raises:
        ValueError: there is no config.json, or it names no architecture; the message is one sentence.
    """
    place = os.path.dirname(path) or os.curdir if os.path.basename(path) == folder.CONFIG else path
    text = folder.open_in(place)(folder.CONFIG)
    if text is None:
        raise ValueError(f"there is no {folder.CONFIG} of at most {_CONFIG_AT_MOST >> 20} MiB in {place}")
    config = folder.json_object(text)
    if config is None:
        raise ValueError(f"{os.path.join(place, folder.CONFIG)} is not valid JSON of an object")
    opened, parts = folder.open_in(place), folder.parts_in(place)
    quantization = folder.json_object(opened(checkpoint.QUANTIZATION))
    inner = (quantization or {}).get("quantization")
    source = _cited(folder.CONFIG, text)
    if isinstance(inner, dict) and not config.get("quantization_config"):
        config["quantization_config"] = {"quant_method": "modelopt", **inner}
        source += f"; quantization_config: {_cited(checkpoint.QUANTIZATION, json.dumps(quantization))}"
    if "architecture" not in folder.from_config(config):
        raise ValueError(f"{os.path.join(place, folder.CONFIG)} names no architecture")
    entry: dict[str, Any] = {"config": config, "sources": {"config": source}}
    size = checkpoint.size_of(os.curdir, opened, parts)
    if size is not None:
        entry["bytes"], entry["sources"]["bytes"] = size
    return entry


def read_gguf(path: str) -> dict[str, Any]:
    """What a models file has of a GGUF file, by its header.

    Raises:
        ValueError: the header cannot be read, or not by servelint; the message is one sentence.
    """
    if not os.path.exists(path):
        raise ValueError(f"{path}: no such file")
    place, name = os.path.split(path)
    headers = checkpoint.gguf_headers(name, folder.parts_in(place or os.curdir))
    if isinstance(headers, str):
        raise ValueError(os.path.join(place, headers))
    config = checkpoint.gguf_config(headers)
    if config is None:
        kind = str(headers[0].keys.get("general.architecture", ""))[:80]
        why = f"{path} is of the architecture {kind!r}, whose header does not describe its layers"
        raise ValueError(f"{why}: add its config.json")
    config["quantization_config"] = {"quant_method": "gguf"}
    size = sum(header.bytes for header in headers)
    return {"config": config, "bytes": size, "sources": dict.fromkeys(("config", "bytes"), f"{name} (header)")}


def _cited(name: str, text: str) -> str:
    return f"{name} (sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]})"
