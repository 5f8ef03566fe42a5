"""What is known of a GPU by its name, as people and clusters write it. A name that is not known has no facts."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.data import load_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Fact = str | float | bool

FACTS = {
    "name": ("text", "the GPU as servelint writes it: h100-80gb"),
    "vendor": ("text", "nvidia, amd, intel, ..."),
    "architecture": ("text", "hopper, blackwell, gfx942, ..."),
    "unified": ("bool", "shares its memory with the CPU"),
    "capability": ("number", "the compute capability of an NVIDIA GPU: 9.0"),
    "memory-gib": ("number", "the memory of one GPU or slice, in GiB, as its driver reports it"),
    "cuda-gib": ("number", "the part that a program can use, in GiB: PyTorch's total capacity"),
    "slice": ("text", "the MIG profile: 1g.10gb"),
    "spread-gib": ("number", "the additional memory of a slice with some drivers, in GiB"),
    "bandwidth-gbs": ("number", "the bandwidth of the whole card's memory, in GB/s"),
    "bf16-tflops": ("number", "dense BF16 arithmetic of the whole card (FP16 where it has no BF16), in TFLOP/s"),
    "fp8-tflops": ("number", "dense FP8 arithmetic of the whole card, in TFLOP/s"),
    "fp4-tflops": ("number", "dense FP4 arithmetic of the whole card, in TFLOP/s"),
    "fp32-tflops": ("number", "FP32 arithmetic of the whole card outside of its matrix units, in TFLOP/s"),
    "fp8": ("bool", "computes in FP8"),
    "nvfp4": ("bool", "computes in NVFP4"),
    "flash-attention-3": ("bool", "has the instructions that FlashAttention 3 needs"),
    "count": ("number", "the largest number of GPUs that the engine sees"),
}
"""fact -> its type and its meaning"""

_MEMORY = re.compile(r"(\d+)(?:gb?|gib)")
_MIG = re.compile(r"(?:^| )(?:mig (?:\d+c )?((?:\d+g )?\d+gb?)|(?:\d+c )?(\d+g \d+gb))(?: (?:me|all|gfx|nome))*(?= |$)")
"""A MIG profile, as nvidia-smi and node labels write it (`MIG 1c.3g.20gb+me`), also without the word."""
_VGPU = re.compile(r"(?:^| )(?:\d )?\d+[abcq](?:me)?$")
"""The end of a virtual GPU's name: its memory in GB and the kind of its licence (`A100-40C`, `A100-3-20C`)."""
_SPEEDS = ("bandwidth-gbs", "bf16-tflops", "fp8-tflops", "fp4-tflops")


class Gpu:
    """One kind of GPU.

    Attributes:
        name: as servelint writes it: "h100-80gb".
        facts: those of FACTS that are known.
    """

    __slots__ = ("facts", "name")

    def __init__(self, name: str, facts: dict[str, Fact]) -> None:
        self.name = name
        self.facts = facts

    @property
    def vendor(self) -> str:
        """The vendor, "nvidia" or "amd"."""
        return str(self.facts["vendor"])

    @property
    def capability(self) -> float | None:
        """The CUDA compute capability, such as 9.0, None for other vendors."""
        found = self.facts.get("capability")
        return found if isinstance(found, float) else None


class _Table:
    __slots__ = ("by_words", "data", "noise")

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.noise = re.compile(data["noise"])
        self.by_words: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        for family in data["families"]:
            for gpu in family["gpus"]:
                for name in (gpu["name"], *gpu["also"]):
                    self.by_words[self.without_noise(name)] = (family, gpu)

    def without_noise(self, text: str) -> str:
        return " ".join([word for word in text.split() if not self.noise.fullmatch(word)])


@lru_cache(maxsize=1)
def _table() -> _Table:
    return _Table(load_data("hardware/gpus.json"))


@lru_cache(maxsize=64)
def identify(name: str) -> Gpu | None:
    """The GPU that a name such as `h100`, `NVIDIA-H100-80GB-HBM3` or `nvidia-tesla-t4` stands for, None if it is not known."""
    table = _table()
    text = table.data["whole"].get(name.strip().lower()) or re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()
    slice_, virtual = _MIG.search(text), _VGPU.search(text)
    part = slice_ is not None or virtual is not None or re.search(r"(?:^| )shared(?: |$)", text) is not None
    words = table.without_noise(_VGPU.sub("", _MIG.sub("", text))).split()
    if virtual is not None and len(words) == 1 and words[0] not in table.by_words:
        words = [re.sub(r"(?:d|l|xm|xl|dx|x)$", "", words[0])]  # of which size or board: A100D, H100XM
    for end in range(len(words), 0, -1):
        found = table.by_words.get(" ".join(words[:end]))
        if found is None:
            continue
        family, gpu = found
        more = " ".join([_MEMORY.sub(r"\1gb", word) for word in words[end:] if word != family["architecture"]])
        if more in table.by_words and table.by_words[more][1] is gpu:
            more = ""  # Strix Halo gfx1151, DGX Spark (GB10): the same again
        if more and more not in gpu["memory"] and (gpu["memory"] or _MEMORY.fullmatch(more) is None):
            return None  # more than a size, or a size that this card does not have: another card
        found_gpu = _gpu(family, gpu, more, part)
        _measures(found_gpu.facts, gpu, more, "pcie" in text.split(), slice_.group(1) or slice_.group(2) if slice_ else None)
        return found_gpu
    return None


def sources(name: str) -> list[tuple[str, Fact, str]]:
    """Each fact that is known of a GPU by its name, with its value and where it is from; empty for one that is not known."""
    found = identify(name)
    if found is None:
        return []
    table = _table()
    family, gpu = next(
        (family, gpu)
        for family in table.data["families"]
        for gpu in family["gpus"]
        if re.fullmatch(re.escape(gpu["name"].replace(" ", "-")) + r"(?:(?:-pcie|-nvl)?-?(?:\d+gb)?)", found.name)
    )
    noted = table.data["sources"]

    def of(kind: str) -> str:
        own = next((text for names, text in noted[kind].items() if gpu["name"] in names.split(", ")), None)
        return str(own or noted[kind].get("", ""))

    parts = {**dict.fromkeys(_SPEEDS, of("speed")), "cuda-gib": noted["cuda"], "fp32-tflops": noted["vector"]}
    if "slice" in found.facts:
        parts |= dict.fromkeys(("slice", "memory-gib", "cuda-gib", "spread-gib"), of("slices"))
    parts |= {feature: needs["source"] for feature, needs in table.data["supports"].items()}
    return [(fact, value, parts.get(fact, family["source"])) for fact, value in found.facts.items()]


def _measures(facts: dict[str, Fact], gpu: dict[str, Any], more: str, pcie: bool, profile: str | None) -> None:
    """Fill in its memory and speed, by its size or independent of it."""
    if profile is not None:
        if profile in gpu.get("slices", {}):
            facts["slice"] = profile.replace(" ", ".")
            sizes = gpu["slices"][profile]
            least, most = sizes if isinstance(sizes, list) else (sizes, sizes)
            facts["memory-gib"] = facts["cuda-gib"] = least
            facts["spread-gib"] = most - least
        return
    size = more
    if not size and "" in gpu["memory"]:
        size = next((key for key, memory in gpu["memory"].items() if key and memory == gpu["memory"][""]), "")
    cuda = gpu.get("cuda", {})
    if "memory-gib" in facts and (size in cuda or "" in cuda):
        facts["cuda-gib"] = cuda.get(size, cuda.get(""))
    speeds = gpu.get("speed", {})
    keys = [f"pcie {size}", "pcie"] if pcie else []
    speed: list[float] = next((speeds[key] for key in (*keys, size, "") if key in speeds), [])
    facts.update(zip(_SPEEDS, speed, strict=False))
    if "vector" in gpu:
        facts["fp32-tflops"] = gpu["vector"]


def _gpu(family: dict[str, Any], gpu: dict[str, Any], more: str, part: bool) -> Gpu:
    name = gpu["name"].replace(" ", "-")
    if more and len(set(gpu["memory"].values())) > 1:
        name += "-" + more.replace(" ", "-")
    facts: dict[str, Fact] = {"name": name, "vendor": family["vendor"], "architecture": family["architecture"]}
    facts["unified"] = family.get("unified", False)
    if "capability" in family:
        facts["capability"] = family["capability"]
    if more in gpu["memory"] and not part:
        facts["memory-gib"] = gpu["memory"][more]
    for feature, needs in _table().data["supports"].items():
        if "capability" in family:
            facts[feature] = needs["capability"] <= family["capability"] < needs.get("below", 1000)
        else:
            facts[feature] = family["architecture"] in needs["architectures"]
    return Gpu(name, facts)


def of_machine(type_: str) -> str | None:
    """The GPU of a cloud's machine type (`p5.48xlarge`, `a3-highgpu-8g`), None if it is not known."""
    types = load_data("hardware/machines.json")["types"]
    return next((gpu for pattern, gpu, _ in types if re.fullmatch(pattern, type_.strip().lower())), None)


def counts(given: str, named: str) -> bool:
    """Whether the given name of a GPU wins over the one in a file, which is unknown, or the same card without its size."""
    mine, theirs = identify(given), identify(named)
    return mine is not None and (theirs is None or mine.name.startswith(theirs.name + "-"))


def names() -> list[str]:
    """The names of all known GPUs, one for each size of a card with several sizes of memory."""
    found: list[str] = []
    for family in _table().data["families"]:
        for gpu in family["gpus"]:
            name = gpu["name"].replace(" ", "-")
            several = len(set(gpu["memory"].values())) > 1
            sizes = [size for size in gpu["memory"] if _MEMORY.fullmatch(size)] if several else []
            found += [f"{name}-{size}" for size in sizes] if sizes and "" not in gpu["memory"] else [name]
    return found


def near(name: str) -> list[str]:
    """Known names that are similar to an unknown one, the most similar first."""
    from difflib import get_close_matches

    return get_close_matches(re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"), names(), n=4, cutoff=0.5)
