"""What a model's name says of its weights: which known model it is, and in which format it was published again.

A name is a known one with words after it that tell a format and nothing else: `Qwen3-8B-AWQ`, `unsloth/Qwen3-8B-GGUF:Q4_K_M`,
`/models/qwen3-8b-nvfp4`. A word that tells more (another training, a pruned model) makes it another model.
"""

from __future__ import annotations

import re

from servelint.models import table
from servelint.models.architecture import Format, Quantization
from servelint.models.storage import GGUF_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_PART = re.compile(r"-\d{5}-of-\d{5}$")
_GGUF = re.compile(r"(?:^|[-_.:])((?:ud-)?(?:i?q[1-8](?:_[a-z0-9]+)*|bf16|f16))$")
_GROUPED = re.compile(r"(?<=gptq)-4b-128g$")
"""What a publisher adds to "gptq": four bits in groups of 128."""
_CUT = re.compile(r"[-_.:@+ ]")
_ENDINGS = ("-instruct", "-it", "-chat", "-hf", "-chat-hf")
_MORE = (
    "ct",
    "quantized",
    "unsloth",
    "google",
    "mlx",
    "hf",
    "gs",
    "g",
    "vllm",
    "sglang",
    "w4a4",
    "kv",
    "w",
    "a",
    "experts",
    "only",
    "lm",
    "head",
)
"""Words that tell nothing of the model, beside those that families.json has."""
_BLOCKS = ("qwen/", "zai-org/", "deepseek-ai/", "minimaxai/", "xiaomimimo/", "inclusionai/", "stepfun-ai/")
"""Publishers whose FP8 has a scale for each block of 128 by 128."""
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


def last_part(name: str) -> str:
    """A model's name without its publisher or folder, in lower case: of a snapshot in the hub's cache the repository's.

    >>> last_part("unsloth/Qwen3-8B-GGUF:Q4_K_M"), last_part("/m/models--Qwen--Qwen3-8B/snapshots/ab12")
    ('qwen3-8b-gguf:q4_k_m', 'qwen3-8b')
    """
    parts = name.lower().replace("\\", "/").rstrip("/").split("/")
    if len(parts) > 2 and parts[-2] == "snapshots":
        return parts[-3].rpartition("--")[2]
    return _PART.sub("", parts[-1].removesuffix(".gguf"))


def resolve(name: str, known: Collection[str]) -> tuple[str, Quantization | None] | None:
    """The known name that a name stands for, and how its weights are held, None if as that one's.

    known: the last parts of the names that are known, in lower case
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
            if rest and not all(_plain(word) for word in words):
                return None  # the longest known name is another model's beginning
            return base, _quantization(rest, words, name)
    return None


def _plain(word: str) -> bool:
    return word in _MORE or table().plain(word)


def _quantization(rest: str, words: list[str], name: str) -> Quantization | None:
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
    if found in ("gptq", "awq", "int4", "bitsandbytes") and any(
        word in words for word in ("int8", "8bit", "8bits", "w8a16", "w8a8")
    ):
        main = Format("int8", 8, main.group)
    odd = next((int(word[0]) for word in words if word[1:] in ("bit", "bits") and word[0] in "2356"), None)
    if found in ("gptq", "awq", "int4") and odd is not None:
        main = Format("int", odd, main.group, main.zeros)
    if found == "fp8" and name.lower().startswith(_BLOCKS) and "dynamic" not in words:
        main = Format("fp8-block", 8, 128)
    if found == "bitsandbytes" and "8bit" in words:
        main = Format("bnb8", 8)
    return Quantization(method, (main,))
