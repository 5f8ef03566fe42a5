"""Architectures that are known by name, from architectures.json, and what else a name says of the weights.

A name stands for a known model if only words of a format follow it: `Qwen3-8B-AWQ`, `unsloth/Qwen3-8B-GGUF:Q4_K_M`,
`/models/qwen3-8b-nvfp4`. A word that says more (another training, a pruned model) makes it another model.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache

from servelint.core.data import data_path
from servelint.models import table
from servelint.models.architecture import Architecture, Format, Quantization
from servelint.models.config_json import described
from servelint.models.quantization import GGUF_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

_WORD = re.compile(r"[-_.]")
_PART = re.compile(r"-\d{5}-of-\d{5}$")
_COUNTED = re.compile(r"(?<=deepseek-r1|deepseek-v3)-671b$")
"""The number of weights at the end of the name of a folder, which the repository's does not have."""
_GGUF = re.compile(r"(?:^|[-_.:])((?:ud-)?(?:i?q[1-8](?:_(?!mtp)[a-z0-9]+)*|bf16|f16))(?:[-_.]mtp)?$")
_GROUPED = re.compile(r"(?<=gptq)-4b-128g$")
"""What a publisher adds to "gptq": four bits in groups of 128."""
_EDITION = re.compile(r"(abliterated|uncensored|derestricted|decensored|heretic)[-_.]?v\d+(?:\.\d+)?(?![a-z0-9])")
"""The edition of a model whose refusals were removed (`-abliterated-v2`), which is not the version of the model."""
_CUT = re.compile(r"[-_.:@+ ]")
_JOINT = re.compile(r"(?<!\d)-|-(?!\d)")
_ENDINGS = ("-instruct", "-it", "-chat", "-hf", "-chat-hf")
_MORE = (
    "ct", "quantized", "unsloth", "google", "mlx", "hf", "gs", "g", "vllm", "sglang", "w4a4", "kv", "w", "a", "experts", "only",
    "lm", "head",
)  # fmt: skip
"""Words that say nothing about the model, beside those of families.json."""
_BLOCKS = ("qwen/", "zai-org/glm-5", "deepseek-ai/", "minimaxai/", "xiaomimimo/", "inclusionai/", "stepfun-ai/")
"""Publishers whose FP8 has a scale for each block of 128 by 128.

Z.ai's has since GLM-5 (config.json of zai-org/GLM-5-FP8). Of GLM-4.5 to 4.7 it has one for each channel, in the format of
compressed-tensors: on a GPU without FP8 vLLM repacks such weights for Marlin, and does not look at blocks (zai-org/GLM-4.5#94).
"""
_CHANNELS = "zai-org/glm-4."
_WITH_DRAFTS = "deepseek-v4-"
"""How the models begin that are also published in one repository with their DSpark drafts."""
_SCALES = frozenset({"block", "dynamic"})
"""What llm-compressor's recipes write behind FP8: a scale for each block of 128 by 128, or for each channel."""
_LLM_COMPRESSOR = ("cyankiwi/", "cpatonn/")
"""Publishers whose AWQ is llm-compressor's: 4 bits without zero points, a scale for 32 weights.

Sources: vllm-project/vllm-omni#3714 (the log of cyankiwi/Qwen3-Omni-30B-A3B-Instruct-AWQ-4bit: group_size=32, num_bits=4), and
cyankiwi/Qwen3-Coder-30B-A3B-Instruct-AWQ-4bit, whose files have 18.1 GB. Qwen3.6-27B-AWQ-BF16-INT4 has zero points (27 GB:
noonghunna/club-3090 scripts/lib/profiles/models/qwen3.6-27b.yml).
"""
_EXPERTS_ALONE = ("*self_attn*", "*linear_attn*", "*shared_experts*")
"""What these leave in 16 bits of Qwen3.5's and Qwen3.6's experts: modules_to_not_convert of
cyankiwi/Qwen3.6-35B-A3B-AWQ-4bit, whose files have 24.3 GB."""
_GRAFTED = re.compile(r"nvfp4-mtp|mtp-nvfp4")
"""How checkpoints of Qwen's dense hybrids call the recipe of lna-lab/GGUF-to-NVFP4-SM120.

It is ModelOpt's NVFP4_DEFAULT_CFG, which takes attention and GDN too, with the MTP layers put back in 16 bits.
natfii/Qwen3.6-27B-VLM-NVFP4-MTP has 20.6 GB, which only this gives.
"""
_GRAFTERS = ("aeon-7/", "sakamakismile/", "osoleve/", "natfii/")
"""Publishers whose cards describe this recipe."""
_FORMATS = {
    "awq": ("awq", Format("int4", 4, 128, True)),
    "gptq": ("gptq", Format("int4", 4, 128, True)),
    "int4": ("compressed-tensors", Format("int4", 4, 128)),
    "int8": ("compressed-tensors", Format("int8", 8)),
    "fp8": ("fp8", Format("fp8", 8)),
    "nvfp4": ("modelopt", Format("nvfp4", 4, 16)),
    "mxfp4": ("mxfp4", Format("mxfp4", 4, 32)),
    "mxfp8": ("mxfp8", Format("mxfp8", 8, 32)),
    "bitsandbytes": ("bitsandbytes", Format("bnb4", 4, 64)),
}


@lru_cache(maxsize=1)
def _by_name() -> dict[str, tuple[str, str]]:
    """Each name in lower case -> the name and text of its entry.

    An entry stands on a line of its own (tools/architectures.py writes it so), so that only the requested one is
    parsed.
    """
    found: dict[str, tuple[str, str]] = {}
    with open(data_path("models/architectures.json"), encoding="utf-8") as file:
        for line in file:
            name, separator, text = line.partition('": ')
            if not separator or not name.startswith(' "'):
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
    """The names of all known models, as their publishers write them."""
    return [name for name, _ in _by_name().values()]


def config_of(name: str) -> dict[str, Any] | None:
    """What is known of the config.json of a model by its publisher's name, None if nothing is."""
    found = _by_name().get(name.lower())
    config: dict[str, Any] | None = unpacked(_entry(found[1])["config"]) if found is not None else None
    return config


def sources_of(name: str) -> list[str]:
    """Where the config.json of a model by its publisher's name was read, none if nothing is known of it."""
    found = _by_name().get(name.lower())
    sources: list[str] = _entry(found[1]).get("sources", []) if found is not None else []
    return sources


def unpacked(value: Any) -> Any:
    """A config whose lists tools/architectures.py has packed, with its lists in full."""
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
    """The last part of each name -> the first name that has it, all in lower case.

    An entry that is "alone" says nothing of what other publishers name so.
    """
    found: dict[str, str] = {}
    for one, (_, text) in _by_name().items():
        if '"alone":true' not in text:
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
    """What publishers usually leave unquantized, and whether that is certain, as it is for the model's own publisher.

    NVFP4: MLA stays as it was, attention and GDN of hybrids are FP8, by the lists in hf_quant_config.json of
    nvidia/GLM-5.1-NVFP4, nvidia/DeepSeek-V3.1-NVFP4, nvidia/Qwen3.6-27B-NVFP4 and nvidia/Qwen3.6-35B-A3B-NVFP4.

    GPTQ of Qwen's own hybrids: attention, GDN and shared experts stay, by the size of its files (73.47 GiB of
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


def _grafted(name: str, model: Architecture, quantization: Quantization) -> tuple[Quantization, bool] | None:
    """What checkpoints leave unquantized whose name shows the recipe, None if it does not.

    AEON-7 keeps GDN in 16 bits too ("~11 GB"), except in its XS variants (the card of
    Qwen3.6-27B-AEON-Ultimate-Uncensored-Text-NVFP4-MTP-XS).
    """
    if quantization.scheme != "nvfp4" or model.model_type != "qwen3_5_text" or not _GRAFTED.search(name):
        return None
    whole = name.startswith("aeon-7/") and not name.endswith("-xs")
    kept = ("*linear_attn*",) if whole else ("*in_proj_a", "*in_proj_b")
    return replace(quantization, ignored=("lm_head", "mtp*", *kept)), name.startswith(_GRAFTERS)


def _quantized_again(base: str, model: Architecture) -> bool:
    """Whether several publishers made such a checkpoint of a model in 4 bits, each with other matrices in them."""
    return model.quantization.formats[-1].bits < 8 and table().quantization(_WORD.split(base)) is not None


def _of_another(name: str, base: str, model: Architecture) -> Architecture:
    """A checkpoint named like a known one but by another publisher, which may hold other matrices in 4 bits.

    Scales of an fp8 KV cache are of NVIDIA's recipe: lukealonso/MiniMax-M2.5-NVFP4 has none, as SGLang's 181,721 tokens on two
    RTX PRO 6000 show.
    """
    publisher, _, last = model.name.lower().rpartition("/")
    if name.lower().startswith(publisher + "/") and last == base:
        return replace(model, name=name)
    source = f"{model.quantization.scheme}: by the name"
    plain = replace(model.quantization, kv_cache=None)
    return replace(model, name=name, quantization=plain, checkpoint=None, sources=(*model.sources, source))


def _resolved(name: str) -> tuple[str, Quantization | None] | None:
    return resolve(name, _by_last_part()) or _resolve_joined(name)


def base_of(name: str) -> str | None:
    """The known name, in lower case, that a name stands for with weights in the same or another format; None if none is."""
    if name.lower() in _by_name():
        return name.lower()
    resolved = _resolved(name)
    return _by_last_part()[resolved[0]] if resolved is not None else None


@lru_cache(maxsize=64)
def lookup(name: str) -> Architecture | None:
    """The architecture of a model by its name alone, None if it is unknown."""
    found = _known(name.lower())
    if found is not None:
        return found
    resolved = _resolved(name)
    if resolved is None:
        return None
    base, quantization = resolved
    found = _known(_by_last_part()[base])
    if found is None:
        return None
    if quantization is None or quantization.scheme == found.quantization.scheme.removesuffix("-block"):
        return _of_another(name, base, found) if _quantized_again(base, found) else replace(found, name=name)
    own = name.lower().rpartition("/")[0] == found.name.lower().rpartition("/")[0]
    quantization, sure = _grafted(name.lower(), found, quantization) or _customary(found, quantization, own=own)
    if quantization.scheme == "int4" and found.states and "bf16" in _WORD.split(name.lower()):
        main = replace(quantization.formats[-1], zeros=True)  # cyankiwi's AWQ-BF16-INT4
        quantization = replace(quantization, formats=(main,), ignored=(*quantization.ignored, "*linear_attn*"))
    if quantization.method == "compressed-tensors" and found.model_type == "qwen3_5_moe_text" and _llm_compressor(name):
        main = replace(quantization.formats[-1], zeros=True)
        quantization = replace(quantization, formats=(main,), ignored=_EXPERTS_ALONE)
    source = f"{quantization.gguf or quantization.scheme}: by {'its publisher' if sure else 'the name'}"
    return replace(found, name=name, quantization=quantization, checkpoint=None, sources=(*found.sources, source))


def last_part(name: str) -> str:
    """A model's name in lower case without its publisher or folder, for a snapshot in the hub's cache that of its repository.

    ModelScope's cache writes three underscores for a dot in a name.

    >>> last_part("unsloth/Qwen3-8B-GGUF:Q4_K_M"), last_part("/m/models--Qwen--Qwen3-8B/snapshots/ab12")
    ('qwen3-8b-gguf:q4_k_m', 'qwen3-8b')
    >>> last_part("Qwen/Qwen3-0___6B")
    'qwen3-0.6b'
    """
    parts = name.lower().replace("___", ".").replace("\\", "/").rstrip("/").split("/")
    if len(parts) > 2 and parts[-2] == "snapshots":
        return parts[-3].rpartition("--")[2]
    return _EDITION.sub(r"\1", _COUNTED.sub("", _PART.sub("", parts[-1].removesuffix(".gguf"))))


def resolve(name: str, known: Collection[str]) -> tuple[str, Quantization | None] | None:
    """The known name that a name or a path stands for, and how its weights are held, None if as in the known model.

    `known` are the last parts of the known names in lower case. None in all if the name stands for no known model.
    """
    last = _GROUPED.sub("", last_part(name))
    for prefix in ("", *table().data["prefixes"]):
        if not last.startswith(prefix):
            continue
        short = last[len(prefix) :]
        for end in [len(short), *(match.start() for match in reversed(list(_CUT.finditer(short))))]:
            base = next((short[:end] + ending for ending in ("", *_ENDINGS) if short[:end] + ending in known), None)
            if base is None:
                continue
            rest = short[end:]
            words = [word for word in _CUT.split(rest) if word]
            if _SCALES.intersection(words) and base.endswith("-fp8") and base[:-4] in known:
                continue  # the known FP8 may be scaled in another way
            if rest and not all(_plain(word) for word in words):
                return None  # the longest known name is another model's beginning
            if "dspark" in words and not base.startswith(_WITH_DRAFTS):
                return None  # the repository holds the drafts alone
            return base, _format_in_name(rest, words, name)
    return None


@lru_cache(maxsize=1)
def _joined() -> dict[str, str]:
    """The last part of each known name as `_join` has it -> that part; those that several share are left out."""
    found: dict[str, str] = {}
    for one in _by_last_part():
        joined = _join(one)
        found[joined] = one if found.get(joined, one) == one else ""
    return {joined: one for joined, one in found.items() if one}


def _join(name: str) -> str:
    """A name without dashes and underscores, but for those between two digits: llama-3-8b is not llama-38b."""
    return _JOINT.sub("", name.replace("_", "-"))


def respelled(name: str) -> str | None:
    """A name with the separators of the known one that it begins with: `gemma-3-27b-it-q8_0` for `Gemma3-27B-it-Q8_0`."""
    given = _GROUPED.sub("", last_part(name))
    last = given.replace("_", "-")
    for end in [len(last), *(match.start() for match in reversed(list(re.finditer("-", last))))]:
        start = _join(last[:end])
        base = next((_joined()[one] for ending in ("", *_ENDINGS) if (one := _join(start + ending)) in _joined()), None)
        if base is not None:  # a GGUF's file type keeps its underscores
            return base + given[end:] if all(_plain(word) for word in last[end:].split("-") if word) else None
    return None


def _resolve_joined(name: str) -> tuple[str, Quantization | None] | None:
    """As `resolve`, for a name that is written with other separators."""
    known = respelled(name)
    return resolve(known + (".gguf" if name.lower().endswith(".gguf") else ""), _by_last_part()) if known is not None else None


def _llm_compressor(name: str) -> bool:
    return name.lower().startswith(_LLM_COMPRESSOR)


def _plain(word: str) -> bool:
    return word in _MORE or table().plain(word)


def _format_in_name(rest: str, words: list[str], name: str) -> Quantization | None:
    found = table().quantization(words)
    gguf = _GGUF.search(last_part(name))
    if name.lower().endswith(".gguf") or found == "gguf":
        kind = gguf.group(1).upper() if gguf is not None else ""
        return Quantization("gguf", (Format("gguf", GGUF_BITS.get(kind, 0)),), gguf=kind or None)
    if found == "none":
        return Quantization()
    if found is None or not rest:
        return None
    method, main = _FORMATS[found]
    if found == "awq" and _llm_compressor(name):
        method, main = "compressed-tensors", Format("int4", 4, 32)
    eight = any(word in words for word in ("int8", "8bit", "8bits", "w8a16", "w8a8"))
    if found in ("gptq", "awq", "int4", "bitsandbytes") and eight:
        main = Format("int8", 8, main.group)
    odd = next((int(word[0]) for word in words if word[1:] in ("bit", "bits") and word[0] in "2356"), None)
    if found in ("gptq", "awq", "int4") and odd is not None:
        main = Format("int", odd, main.group, main.zeros)
    if found == "fp8" and (name.lower().startswith(_BLOCKS) or "block" in words) and "dynamic" not in words:
        main = Format("fp8-block", 8, 128)
    if found == "fp8" and (name.lower().startswith(_CHANNELS) or _SCALES.intersection(words)):
        method = "compressed-tensors"
    if found == "fp8" and name.lower().startswith("nvidia/"):
        method = "modelopt"
    if found == "bitsandbytes" and "8bit" in words:
        main = Format("bnb8", 8)
    return Quantization(method, (main,))
