"""Cases of speculative decoding: which server, which draft, which load, by the names that people write for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from servelint import hardware
from servelint.engines.registry import ENGINES
from servelint.hardware import Gpu
from servelint.models.architecture import Architecture, Format, find
from servelint.models.folder import open_in, parts_in
from servelint.models.quantization import GGUF_BITS, gguf_bits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_ASIDE = re.compile(r"\s*\([^()]*\)")
_SEVERAL = re.compile(r"(?:^|[\s(])(?:x\s*(\d+)|(\d+)\s*x|tp\s*-?(\d+))(?=$|[\s)])", re.IGNORECASE)
MTP, EAGLE, BLOCK, DRAFT_MODEL, LOOKUP, MEDUSA = "mtp", "eagle", "block", "draft-model", "lookup", "medusa"
_METHODS = (
    (BLOCK, ("dflash", "dspark")),
    (MTP, ("mtp", "nextn")),
    (EAGLE, ("eagle", "phoenix")),
    (MEDUSA, ("medusa", "mlp_speculator")),
    (LOOKUP, ("ngram", "suffix", "lookup")),
    (DRAFT_MODEL, ("draft", "classic", "standalone")),
)

ADVISED = tuple(engine.id for engine in ENGINES.values() if engine.advised)
"""Ids of the engines that servelint.advise knows; the first is the default."""
TOKENS = {MTP: 2, EAGLE: 3, BLOCK: 15}
"""Draft tokens per step by default: what the recipes of the engines write most."""
_ACCEPTED = {MTP: (0.82, 0.75), EAGLE: (0.58, 0.68), BLOCK: (0.8, 0.8)}
"""How likely the first draft token is accepted, and each later one after an accepted one, where it was not measured: MTP as
Qwen3.6-35B-A3B's positions (0.818, 0.615), near which the middle lengths of other sources are (1.82 of eleven with one token,
2.38 of twelve with two, 2.80 of ten with three, 3.32 of five with four, where 1.82, 2.43, 2.90 and 3.24 are counted), EAGLE as
the least squares of 13 lengths from eight sources (1.96 with two tokens, 2.3 with three, 2.5 to 3.1 with five), a block's are
guessed."""


def method_of(name: str) -> str | None:
    """The kind of a drafting method, None for one that is not known.

    >>> method_of("qwen3_next_mtp"), method_of("EAGLE3"), method_of("dflash"), method_of("eagle/mtp")
    ('mtp', 'eagle', 'block', 'mtp')
    """
    word = name.strip().lower()
    return next((kind for kind, parts in _METHODS if any(part in word for part in parts)), None)


def model_of(name: str, folder: str | None = None) -> Architecture | None:
    """A model by its name, also with remarks and a format behind it: `Qwen3.6-27B IQ4_XS`, `Llama-3.1-8B (BF16)`.

    `folder` is the folder that a path starts from, None to read no file.
    """
    found = find(name, open_in(folder), parts_in(folder)) if folder is not None else None
    return _with_bits(found) if found is not None else _named(name)


@lru_cache(maxsize=256)
def _named(name: str) -> Architecture | None:
    plain = _ASIDE.sub("", name).strip()
    found = find(re.sub(r"\s+", "-", plain)) or find(plain)
    return _with_bits(found) if found is not None else None


def _with_bits(model: Architecture) -> Architecture:
    """A GGUF file of a type without exact bits gets about its bits, or those of the usual type: a gain hangs little on them."""
    way = model.quantization
    if way.scheme != "gguf" or way.formats[-1].bits:
        return model
    bits = gguf_bits(way.gguf or "") or GGUF_BITS["Q4_K_M"]
    return replace(model, quantization=replace(way, formats=(Format("gguf", bits),)))


def gpus_of(name: str) -> tuple[Gpu | None, int]:
    """A GPU, and how many of it a name mentions.

    >>> [(gpu.name if gpu else None, count) for gpu, count in map(gpus_of, ("H100 x4 (TP4)", "2x L40S", "GB10 (x)", "TP16"))]
    [('h100', 4), ('l40s', 2), ('gb10', 1), (None, 16)]
    """
    counts = [int(next(filter(None, found))) for found in _SEVERAL.findall(name)]
    plain = _SEVERAL.sub(" ", name)
    several = (plain.strip(" ()"), _ASIDE.sub(" ", plain).strip())
    return next((gpu for one in several if one and (gpu := hardware.identify(one))), None), max(counts, default=1)


@dataclass(frozen=True)
class Case:
    """A case to estimate, or that was measured.

    Attributes:
        engine: the engine's id.
        method: a kind of drafting.
        model: the model's name or path.
        gpu: the GPU's name, also with a number ("2x L40S").
        tokens: tokens drafted per step.
        concurrency: requests that are decoded at a time.
        input: tokens of a prompt.
        output: tokens of an answer.
        accepted: the acceptance length: mean tokens per step, the one of the model itself included.
        folder: the folder that a model's path starts from, None if the model is a name.
        release: the engine's release, None for any of those in use.
        cache: the format of the KV cache as --kv-cache-dtype names it, None for the model's own.
        decoding: only the decoding counts, not the prompt.
    """

    engine: str
    method: str
    model: str | None = None
    gpu: str | None = None
    tokens: int | None = None
    concurrency: int = 1
    input: int | None = None
    output: int | None = None
    accepted: float | None = None
    folder: str | None = None
    release: str | None = None
    cache: str | None = None
    decoding: bool = False

    @cached_property
    def architecture(self) -> Architecture | None:
        """The model, None if it is not known."""
        return model_of(self.model, self.folder) if self.model else None

    @cached_property
    def gpus(self) -> tuple[Gpu | None, int]:
        """The GPU, None if it is not known, and how many there are."""
        return gpus_of(self.gpu) if self.gpu else (None, 1)

    @property
    def drafted(self) -> int:
        """Tokens drafted per step, a guess where they are not given."""
        return self.tokens or TOKENS.get(self.method, 3)

    @property
    def length(self) -> float:
        """The acceptance length in tokens, a guess where it was not measured."""
        if self.accepted is not None:
            return self.accepted
        first, later = _ACCEPTED.get(self.method, (0.5, 0.7))
        return 1 + first * (1 - later**self.drafted) / (1 - later)

    @property
    def context(self) -> float:
        """The context of a request half-way, in tokens."""
        return (self.input or 512) + (self.output or 256) / 2


def accepted_of(acceptance: Mapping[str, Any] | float | None, tokens: int) -> float | None:
    """The acceptance length in tokens.

    Args:
        acceptance: {"length": mean tokens per step}, {"per_pos": a rate for each position}, or a rate of the draft tokens,
            also as {"rate": ...}.
        tokens: tokens drafted per step.

    >>> accepted_of({"per_pos": [0.8181, 0.6146]}, 2), accepted_of(0.72, 2), accepted_of({}, 2)
    (2.4327, 2.44, None)
    """
    if acceptance is None:
        return None
    given: Mapping[str, Any] = {"rate": acceptance} if isinstance(acceptance, (int, float)) else acceptance
    if given.get("length"):
        return float(given["length"])
    if given.get("per_pos"):
        return round(1 + sum(map(float, given["per_pos"])), 4)
    if given.get("rate") is not None:
        return float(1 + tokens * given["rate"])
    return None
