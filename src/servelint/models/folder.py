"""Model facts from a local config.json, which wins over the name, and access to the files of a folder."""

from __future__ import annotations

import json
import os

from servelint.core import safe_open
from servelint.core.text import TracedText
from servelint.models import Fact, Family, identify, table, with_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from servelint.core.launch import Launch
    from servelint.models.architecture import Architecture

CONFIG = "config.json"
_SIZE_AT_MOST = 1 << 20
_NESTED = ("text_config", "llm_config", "language_config")
_NUMBERS = {
    "num_hidden_layers": "layers", "hidden_size": "hidden-size", "num_attention_heads": "heads",
    "num_key_value_heads": "kv-heads",
    "vocab_size": "vocabulary", "draft_vocab_size": "draft-vocabulary", "sliding_window": "window",
}  # fmt: skip
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
_DRAFTS = ("mtp_num_hidden_layers", "num_nextn_predict_layers")
_MIXERS = {
    "qwen3_next": "gdn", "qwen3_5": "gdn", "qwen3_5_moe": "gdn", "qwen3_5_text": "gdn", "qwen3_5_moe_text": "gdn",
    "nemotron_h": "mamba2", "granitemoehybrid": "mamba2", "falcon_h1": "mamba2", "bamba": "mamba2", "zamba2": "mamba2",
    "kimi_linear": "kda", "qwen4_exp": "gdn", "qwen4_exp_text": "gdn", "glm5_next": "kda", "glm5_next_text": "kda",
}  # fmt: skip
"""Model type -> the kind of its layers that are not attention."""
_UNSCALED = (None, "default", "llama3", "mrope", "longrope", "su", "yarn", "linear", "dynamic")


def open_in(folder: str) -> Callable[[str], str | None]:
    """Reads the text of a small regular file by its path in a folder, None if there is none."""

    def opened(path: str) -> str | None:
        full = os.path.join(folder, os.path.expanduser(path))
        try:
            data = safe_open.read(full, _SIZE_AT_MOST)
            return data.decode("utf-8-sig") if len(data) <= _SIZE_AT_MOST else None
        except (OSError, UnicodeDecodeError, ValueError):
            return None

    return opened


def parts_in(folder: str) -> Callable[[str, int, int], bytes | None]:
    """Reads bytes of a regular file by its path in a folder, offset and length, None if there is none."""

    def part(path: str, offset: int, size: int) -> bytes | None:
        full = os.path.join(folder, os.path.expanduser(path))
        try:
            with os.fdopen(safe_open.descriptor(full), "rb") as file:
                file.seek(offset)
                return file.read(size)
        except (OSError, ValueError, OverflowError):
            return None

    return part


def files_of(launch: Launch) -> Callable[[str], str | None] | None:
    """Open files that a launch sees, None if none can be read.

    They are in the folder that the launch starts in, mounted where it runs, or described by the settings.
    """
    opened = _files_there(launch)
    if not launch.models:
        return opened
    return lambda path: (opened(path) if opened is not None else None) or launch.models.get(path)


def model_of(launch: Launch, name: str | None) -> Architecture | None:
    """The model of a name, by the files that the launch sees (local, or mounted where it runs), else by the name; or None."""
    from servelint.models.architecture import find

    if name is None:
        return None
    parts = parts_in(launch.folder) if launch.folder is not None else None
    return find(name, files_of(launch), parts)


def described_files(text: str) -> dict[str, str]:
    """The files that a models file stands for (schemas/models.schema.json), by their paths below the names of the models.

    Raises:
        ValueError: it is not such a file.
    """
    data = json.loads(text)
    models = data.get("models") if isinstance(data, dict) and data.get("servelint-models") == 1 else None
    if not isinstance(models, dict):
        raise ValueError('a models file is an object with "servelint-models": 1 and "models"')
    found: dict[str, str] = {}
    for name, entry in models.items():
        config, size = (entry.get("config"), entry.get("bytes")) if isinstance(entry, dict) else (None, None)
        if not isinstance(config, dict) or not (size is None or _number(size)):
            raise ValueError(f'the model "{name}" needs "config", an object; "bytes" is a whole number')
        found[f"{name}/{CONFIG}"] = json.dumps(config)
        if size is not None:
            found[f"{name}/model.safetensors.index.json"] = json.dumps({"metadata": {"total_size": size}})
    return found


def _files_there(launch: Launch) -> Callable[[str], str | None] | None:
    if launch.folder is not None:
        return open_in(launch.folder)
    open_mounted = launch.open
    if open_mounted is None:
        return None

    def opened(path: str) -> str | None:
        source = open_mounted(TracedText.of(path))
        return source.text.value if source is not None else None

    return opened


def read(model: TracedText, opened: Callable[[str], str | None]) -> Family | None:
    """The facts in the config.json of a folder, None if there is none or it names no architecture.

    `opened` reads the text of a file by its path, None if there is none.
    """
    path = model.value
    facts = from_config(json_object(opened(path.rstrip("/") + "/" + CONFIG)) or {}) if path else {}
    if "architecture" not in facts:
        return None
    named = identify(model)
    entry = next((one for one in table().data["families"] if one.get("architecture") == facts["architecture"]), None)
    entry = {"transformers": entry.get("transformers")} if entry else with_source(str(facts["architecture"]), "")
    family = Family(str(facts["architecture"]), facts, None, entry)
    if named is not None and named.architecture == facts["architecture"]:
        family.name, family.size, family.tools, family.thinks = named.name, named.size, named.tools, named.thinks
    return family


def json_object(text: str | None) -> dict[str, Any] | None:
    """The object of a JSON text, None where there is none."""
    try:
        data = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def from_config(data: Mapping[str, Any]) -> dict[str, Fact]:
    """The facts in a config.json, those of the language model where it nests one. What it does not say is left out."""
    facts: dict[str, Fact] = {}
    architectures = data.get("architectures")
    if isinstance(architectures, list) and len(architectures) == 1 and isinstance(architectures[0], str):
        facts["architecture"] = architectures[0]
    nested = next((data[key] for key in _NESTED if isinstance(data.get(key), dict)), None)
    inner: Mapping[str, Any] = nested if nested is not None else data
    for fact, one in (("type", data), ("text-type", inner)):
        if isinstance(one.get("model_type"), str):
            facts[fact] = one["model_type"]
    for key, fact in _NUMBERS.items():
        if _number(inner.get(key)):
            facts[fact] = inner[key]
    if not _number(inner.get("num_key_value_heads")) and "heads" in facts and "num_key_value_heads" in inner:
        facts["kv-heads"] = facts["heads"]  # null: as many as there are heads
    experts = next((inner[key] for key in _EXPERTS if isinstance(inner.get(key), int)), 0)
    facts["moe"] = experts > 1
    if facts["moe"]:
        facts["experts"] = experts
    facts["mla"] = _number(inner.get("kv_lora_rank"))
    if facts["mla"]:
        facts.pop("kv-heads", None)
    facts["multimodal"] = any(isinstance(data.get(key), dict) for key in ("vision_config", "audio_config"))
    drafts = [source[key] for source in (inner, data) for key in _DRAFTS if isinstance(source.get(key), int)]
    if drafts:
        facts["mtp"] = max(drafts) > 0
        facts["mtp-layers"] = max(drafts)
    facts.update(_layers(data, inner))
    context = _context(inner)
    if context is not None:
        facts["context"] = context
    facts.update(quantization_in(data) or {})
    return facts


def _number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _layers(data: Mapping[str, Any], inner: Mapping[str, Any]) -> dict[str, Fact]:
    """hybrid, mixer and sliding, by the kinds of the layers."""
    facts: dict[str, Fact] = {}
    kinds = inner.get("layer_types")
    mixer = next((_MIXERS[kind] for kind in (inner.get("model_type"), data.get("model_type")) if kind in _MIXERS), None)
    if isinstance(kinds, list) and kinds:
        attention = ("full_attention", "sliding_attention", "chunked_attention", "attention")
        facts["hybrid"] = any(kind not in attention for kind in kinds)
        facts["sliding"] = any(kind in ("sliding_attention", "chunked_attention") for kind in kinds)
    elif mixer is not None:
        facts["hybrid"] = True
    if facts.get("hybrid") and mixer is not None:
        facts["mixer"] = mixer
    return facts


def _context(inner: Mapping[str, Any]) -> int | None:
    """The longest context that any release derives from the file. Releases differ in whether they scale it."""
    length = inner.get("max_position_embeddings")
    if not isinstance(length, int) or isinstance(length, bool) or length <= 0:
        return None
    scaling = inner.get("rope_scaling") or inner.get("rope_parameters") or {}
    if not isinstance(scaling, dict) or any(isinstance(value, dict) for value in scaling.values()):
        return None
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind not in _UNSCALED:
        return None
    factor = scaling.get("factor", 1)
    if kind in ("yarn", "linear", "dynamic"):
        if not isinstance(factor, (int, float)) or factor < 1:
            return None
        original = scaling.get("original_max_position_embeddings", length)
        if not isinstance(original, int):
            return None
        return max(length, int(max(original, length if kind != "yarn" else original) * factor))
    return length


def quantization_in(data: Mapping[str, Any]) -> dict[str, Fact] | None:
    """quant-method as a config.json has it, and the format of the weights where the method stands for one; None without any."""
    parts = (data, *(part for key in _NESTED if isinstance(part := data.get(key), dict)))
    given = next((one for part in parts if (one := part.get("quantization_config"))), None)
    if given is None:
        return None  # another file may say it: hf_quant_config.json
    method = given.get("quant_method") if isinstance(given, dict) else None
    if not isinstance(method, str):
        return {}
    facts: dict[str, Fact] = {"quant-method": method}
    if method in ("fp8", "awq", "gptq", "mxfp4", "bitsandbytes"):
        facts["quantization"] = method
    return facts
