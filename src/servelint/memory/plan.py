"""The shape of a memory plan, the same for every engine. GiB are 2**30 bytes, on one GPU."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

GIB = 2**30

FITS = "fits"
TIGHT = "tight"
REFUSED = "refused"
OOM_RISK = "oom-risk"
UNKNOWN = "unknown"
VERDICTS = (FITS, TIGHT, REFUSED, OOM_RISK, UNKNOWN)
"""fits: certainly starts;  tight: too near the bound to say;  refused: the engine certainly ends with its own message;
oom-risk: it passes its own check and may die later, in graph capture or under load;  unknown: see MemoryPlan.missing."""

NEAR_GIB = 0.7
NEAR_SHARE = 0.03
"""A margin below the larger of these (a share of the GPU's memory) is `tight`: two boots of one launch differ by as much."""


class Interval:
    """A quantity that is not known exactly: low <= mid <= high, mid being the most likely."""

    __slots__ = ("high", "low", "mid")

    def __init__(self, low: float, mid: float, high: float) -> None:
        self.low, self.mid, self.high = low, mid, high

    @classmethod
    def exact(cls, value: float) -> Interval:
        return cls(value, value, value)

    @classmethod
    def around(cls, value: float, share: float, least: float = 0.0) -> Interval:
        """value, give or take a share of it, and at least so much."""
        spread = max(abs(value) * share, least)
        return cls(value - spread, value, value + spread)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.mid + other.mid, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.mid - other.mid, self.high - other.low)

    def scaled(self, factor: float) -> Interval:
        """factor: not negative"""
        return Interval(self.low * factor, self.mid * factor, self.high * factor)

    def map(self, function: Callable[[float], float]) -> Interval:
        """The image under a function that does not fall."""
        return Interval(function(self.low), function(self.mid), function(self.high))

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def known(self) -> bool:
        return self.low == self.high

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Interval) and (self.low, self.mid, self.high) == (other.low, other.mid, other.high)

    def __hash__(self) -> int:
        return hash((self.low, self.mid, self.high))

    def __repr__(self) -> str:
        return f"Interval({self.low:.4g}, {self.mid:.4g}, {self.high:.4g})"


class Part:
    """One use of a GPU's memory.

    name:    "weights", "activations", "cuda graphs", ...
    gib:     how much
    origin:  where the number comes from, for a reader: the setting, the file of the engine, or what it was fitted on
    inside:  whether the engine counts it within its memory fraction; what is outside is taken from the rest of the GPU
    """

    __slots__ = ("gib", "inside", "name", "origin")

    def __init__(self, name: str, gib: Interval, origin: str, *, inside: bool = True) -> None:
        self.name, self.gib, self.origin, self.inside = name, gib, origin, inside

    def __repr__(self) -> str:
        return f"Part({self.name!r}, {self.gib!r})"


class MemoryPlan:
    """What one GPU of a launch holds, and what follows. What is not known is None, and `missing` says why.

    engine, release:   the release whose arithmetic was used (None if the engine has none that is known)
    releases:          all that the plan holds for, the oldest first: of those that count alike the newest
    model, gpu:        as the launch names them;  gpu_count: how many GPUs the launch sees
    gpu_gib:           the memory of one GPU as its driver reports it
    budget_gib:        what the engine lets itself use of it
    weights_gib:       weights on the fullest GPU, draft and MTP weights included
    kv_gib:            what is left for the KV cache on a GPU (below zero: nothing, and by how much)
    kv_tokens:         the size of the KV cache in tokens as that release prints it, at kv_gib.mid
    max_concurrency:   how many requests of max_model_len tokens the KV cache holds at once
    max_model_len:     the longest request, as given or as the engine derives it
    need_gib:          what one request of max_model_len tokens takes of the KV cache
    largest_context:   the longest max_model_len that would start, where the given one does not
    verdict:           one of VERDICTS
    refusal:           what the engine prints when it refuses, with the numbers of this plan
    parts:             what the memory goes to;  notes: what a reader should know;  missing: what is not known
    """

    __slots__ = (
        "budget_gib",
        "engine",
        "gpu",
        "gpu_count",
        "gpu_gib",
        "kv_gib",
        "kv_tokens",
        "largest_context",
        "max_concurrency",
        "max_model_len",
        "missing",
        "model",
        "need_gib",
        "notes",
        "parts",
        "refusal",
        "release",
        "releases",
        "verdict",
        "weights_gib",
    )

    def __init__(self, engine: str, release: str | None, model: str | None, gpu: str | None, gpu_count: int) -> None:
        self.engine, self.release, self.model = engine, release, model
        self.releases: list[str] = [release] if release is not None else []
        self.gpu, self.gpu_count = gpu, gpu_count
        self.gpu_gib: float | None = None
        self.budget_gib: float | None = None
        self.weights_gib: float | None = None
        self.kv_gib: Interval | None = None
        self.kv_tokens: int | None = None
        self.max_concurrency: float | None = None
        self.max_model_len: int | None = None
        self.need_gib: float | None = None
        self.largest_context: int | None = None
        self.verdict = UNKNOWN
        self.refusal: str | None = None
        self.parts: list[Part] = []
        self.notes: list[str] = []
        self.missing: list[str] = []

    def part(self, name: str) -> Part | None:
        return next((part for part in self.parts if part.name == name), None)

    def __repr__(self) -> str:
        return f"MemoryPlan({self.engine} {self.release}, {self.model}, {self.gpu} x{self.gpu_count}: {self.verdict})"


def near(gpu_gib: float) -> float:
    """A margin in GiB below which nobody can say whether a launch starts."""
    return max(NEAR_GIB, NEAR_SHARE * gpu_gib)
