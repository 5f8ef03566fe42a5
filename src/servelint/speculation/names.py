"""What people who measured something wrote for a model, a GPU and a method, as what servelint knows under those names."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint import hardware
from servelint.hardware import Gpu
from servelint.models.architecture import Architecture, find
from servelint.models.folder import open_in, parts_in

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


def method_of(name: str) -> str | None:
    """The kind of a method of drafting; None for one that is not known.

    >>> method_of("qwen3_next_mtp"), method_of("EAGLE3"), method_of("dflash"), method_of("eagle/mtp")
    ('mtp', 'eagle', 'block', 'mtp')
    """
    word = name.strip().lower()
    return next((kind for kind, parts in _METHODS if any(part in word for part in parts)), None)


def model_of(name: str, folder: str | None = None) -> Architecture | None:
    """A model by its name, with asides and the format as a word behind it: `Qwen3.6-27B IQ4_XS`, `Llama-3.1-8B (BF16)`.

    folder: where a path starts from, for a model whose files are here; None: no file is read
    """
    if folder is not None:
        here = find(name, open_in(folder), parts_in(folder))
        if here is not None:
            return here
    return _named(name)


@lru_cache(maxsize=256)
def _named(name: str) -> Architecture | None:
    plain = _ASIDE.sub("", name).strip()
    return find(plain) or find(re.sub(r"\s+", "-", plain))


def gpus_of(name: str) -> tuple[Gpu | None, int]:
    """A GPU, and how many of it the name tells.

    >>> [(gpu.name if gpu else None, count) for gpu, count in map(gpus_of, ("H100 x4 (TP4)", "2x L40S", "GB10", "TP16"))]
    [('h100', 4), ('l40s', 2), ('gb10', 1), (None, 16)]
    """
    counts = [int(next(filter(None, found))) for found in _SEVERAL.findall(name)]
    plain = _SEVERAL.sub(" ", name).strip(" ()")
    return (hardware.identify(plain) if plain else None), max(counts, default=1)
