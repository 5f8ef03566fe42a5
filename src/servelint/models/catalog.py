"""The architectures that are known by name: architectures.json."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from functools import lru_cache

from servelint.models import table
from servelint.models.architecture import Architecture, Format
from servelint.models.described import described
from servelint.models.names import last_part, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.models.architecture import Quantization


@lru_cache(maxsize=1)
def _by_name() -> dict[str, tuple[str, str]]:
    """The name of each entry and its text by every name that it has, in lower case.

    An entry stands on a line of its own (servelint.harvest.architectures writes it so): only what is asked for is parsed.
    """
    found: dict[str, tuple[str, str]] = {}
    with open(os.path.join(os.path.dirname(__file__), "architectures.json"), encoding="utf-8") as file:
        for line in file:
            name, told, text = line.partition('": ')
            if not told or not name.startswith(' "'):
                continue
            name = name[2:]
            others = _entry(text).get("also", ()) if '"also":' in text else ()
            for one in (name, *others):
                found[one.lower()] = (one, text)
    return found


def _entry(text: str) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(text.rstrip(",\n"))
    return entry


def known_names() -> list[str]:
    """Names of all models that are known, as their publishers write them."""
    return [name for name, _ in _by_name().values()]


def config_of(name: str) -> dict[str, Any] | None:
    """What is known of the config.json of a model by its publisher's name; None if nothing is."""
    found = _by_name().get(name.lower())
    config: dict[str, Any] | None = unpacked(_entry(found[1])["config"]) if found is not None else None
    return config


def unpacked(value: Any) -> Any:
    """A config as it was before servelint.harvest.architectures packed its lists."""
    if isinstance(value, dict):
        if value.keys() == {"repeat", "length"}:
            short = value["repeat"]
            return [short[index % len(short)] for index in range(value["length"])]
        if value.keys() == {"runs"}:
            return [one for one, count in value["runs"] for _ in range(count)]
        return {key: unpacked(one) for key, one in value.items()}
    return value


@lru_cache(maxsize=1)
def _by_last_part() -> dict[str, str]:
    """The first name, in lower case, of each that has the same last part: entries stand by their publishers' names."""
    found: dict[str, str] = {}
    for one in _by_name():
        found.setdefault(last_part(one), one)
    return found


@lru_cache(maxsize=64)
def _known(name: str) -> Architecture | None:
    found = _by_name().get(name)
    if found is None:
        return None
    known, entry = found[0], _entry(found[1])
    architecture = described(known, unpacked(entry["config"]), tuple(entry["sources"]))
    if architecture is None:
        return None
    vision = architecture.vision
    if vision is not None and "vision" in entry:
        vision = replace(vision, params=entry["vision"])
    return replace(architecture, checkpoint=entry.get("checkpoint"), vision=vision)


def _customary(model: Architecture, quantization: Quantization, *, own: bool) -> tuple[Quantization, bool]:
    """What publishers leave as it was, and whether that is sure: what a model's own publisher made of it.

    NVFP4: MLA stays as it was, attention and GDN of hybrids are FP8. So have it the lists in hf_quant_config.json of
    nvidia/GLM-5.1-NVFP4, nvidia/DeepSeek-V3.1-NVFP4, nvidia/Qwen3.6-27B-NVFP4 and nvidia/Qwen3.6-35B-A3B-NVFP4.
    GPTQ of Qwen's own hybrids: attention, GDN and shared experts stay, by what its files weigh (73.47 GiB of
    Qwen3.5-122B-A10B-GPTQ-Int4, 219.56 of Qwen3.5-397B-A17B-GPTQ-Int4: kaito-project/kaito model_catalog.yaml).
    """
    hybrid = any(one.kind == "gdn" for one in model.states)
    if quantization.method == "gptq" and own and hybrid:
        return replace(quantization, ignored=("*self_attn*", "*linear_attn*", "*shared_experts*")), True
    if quantization.scheme == "nvfp4" and any(one.kind == "mla" for one in model.attention):
        return replace(quantization, ignored=("*self_attn*",)), False
    if quantization.scheme == "nvfp4" and hybrid:
        attention = Format("fp8", 8, targets=("*self_attn*", "*linear_attn*"))
        kept = ("*in_proj_a", "*in_proj_b")
        return replace(quantization, formats=(attention, *quantization.formats), ignored=kept), False
    return quantization, own and not model.states


def _quantized_again(base: str, model: Architecture) -> bool:
    """Whether a checkpoint is one of several that publishers made of a model in 4 bits, each with other modules in them."""
    return model.quantization.formats[-1].bits < 8 and table().quantization(_WORD.split(base)) is not None


def _of_another(name: str, base: str, model: Architecture) -> Architecture:
    """A checkpoint that has the name of a known one, but not its publisher's: it may hold other modules in 4 bits."""
    publisher, _, last = model.name.lower().rpartition("/")
    if name.lower().startswith(publisher + "/") and last == base:
        return replace(model, name=name)
    source = f"{model.quantization.scheme}: by the name"
    return replace(model, name=name, checkpoint=None, sources=(*model.sources, source))


_WORD = re.compile(r"[-_.]")


@lru_cache(maxsize=64)
def lookup(name: str) -> Architecture | None:
    """The architecture of a model by its name alone."""
    found = _known(name.lower())
    if found is not None:
        return found
    told = resolve(name, _by_last_part())
    if told is None:
        return None
    base, quantization = told
    found = _known(_by_last_part()[base])
    if found is None:
        return None
    if quantization is None or quantization.scheme == found.quantization.scheme.removesuffix("-block"):
        return _of_another(name, base, found) if _quantized_again(base, found) else replace(found, name=name)
    own = name.lower().rpartition("/")[0] == found.name.lower().rpartition("/")[0]
    quantization, sure = _customary(found, quantization, own=own)
    if quantization.scheme == "int4" and found.states and "bf16" in _WORD.split(name.lower()):
        quantization = replace(quantization, ignored=(*quantization.ignored, "*linear_attn*"))  # cyankiwi's AWQ-BF16-INT4
    source = f"{quantization.gguf or quantization.scheme}: by {'its own publisher' if sure else 'the name'}"
    return replace(found, name=name, quantization=quantization, checkpoint=None, sources=(*found.sources, source))
