"""The values that memory planning works with: releases, intervals and the plan itself.

One GiB is 2**30 bytes. All sizes are those of one GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from servelint.engines.releases import release_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from servelint.core.finding import Finding

GIB = 2**30

FITS = "fits"
TIGHT = "tight"
REFUSED = "refused"
OOM_RISK = "oom-risk"
UNKNOWN = "unknown"
VERDICTS = (FITS, TIGHT, REFUSED, OOM_RISK, UNKNOWN)
"""fits: certainly starts;  tight: too near the limit to tell;  refused: the engine certainly exits with its own message;
oom-risk: it passes its own check and may die later, in graph capture or under load;  unknown: see MemoryPlan.missing."""

NEAR_GIB = 0.7
NEAR_SHARE = 0.03
"""A margin below the larger of these (a share of the GPU's memory) is `tight`: two starts of one launch differ by as much."""


class Release:
    """A release of an engine that can be compared with others.

    Attributes:
        name: the version as PyPI has it ("0.5.14"), or one between two published ones.
        key: its sort key.
    """

    __slots__ = ("key", "name")

    def __init__(self, name: str) -> None:
        """Parse a version. Raises ValueError if the text is not one."""
        key = release_key(name)
        if key is None:
            raise ValueError(f"{name!r} is not a release")
        self.name, self.key = name, key

    def since(self, release: str) -> bool:
        """Whether this is the given release or a later one."""
        bound = release_key(release)
        return bound is not None and self.key >= bound


@dataclass(frozen=True, slots=True, repr=False)
class Interval:
    """A quantity that is not known exactly.

    Attributes:
        low: the least that is plausible.
        mid: the most likely value.
        high: the most that is plausible.
    """

    low: float
    mid: float
    high: float

    @classmethod
    def exact(cls, value: float) -> Interval:
        """An interval of one value."""
        return cls(value, value, value)

    @classmethod
    def around(cls, value: float, share: float, least: float = 0.0) -> Interval:
        """A value plus or minus a share of it, such as 0.05, or `least` where that is more."""
        spread = max(abs(value) * share, least)
        return cls(value - spread, value, value + spread)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.mid + other.mid, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.mid - other.mid, self.high - other.low)

    def less(self, parts: Iterable[Interval]) -> Interval:
        """The difference of independent quantities, whose spreads add as squares do."""
        parts = list(parts)
        mid = self.mid - sum(part.mid for part in parts)
        down = (self.mid - self.low) ** 2 + sum((part.high - part.mid) ** 2 for part in parts)
        up = (self.high - self.mid) ** 2 + sum((part.mid - part.low) ** 2 for part in parts)
        return Interval(mid - down**0.5, mid, mid + up**0.5)

    def scaled(self, factor: float) -> Interval:
        """The interval times a factor that is not negative."""
        return Interval(self.low * factor, self.mid * factor, self.high * factor)

    def map(self, function: Callable[[float], float]) -> Interval:
        """The image under a function that never decreases."""
        return Interval(function(self.low), function(self.mid), function(self.high))

    @classmethod
    def sum(cls, parts: Iterable[Interval]) -> Interval:
        """The sum of some quantities."""
        return sum(parts, cls.exact(0.0))

    @property
    def known(self) -> bool:
        """Whether the quantity is known exactly."""
        return self.low == self.high

    def __repr__(self) -> str:
        return f"Interval({self.low:.4g}, {self.mid:.4g}, {self.high:.4g})"


@dataclass(eq=False, slots=True)
class Part:
    """One use of a GPU's memory.

    Attributes:
        name: what uses it, such as "weights", "activations" or "cuda graphs".
        gib: its size in GiB.
        origin: where the number comes from, for a reader: the setting, the engine's file, or what it was fitted on.
        inside: whether the engine counts it within its memory fraction. What is outside comes out of the rest of the GPU.
    """

    name: str
    gib: Interval
    origin: str
    inside: bool = True


@dataclass(eq=False, slots=True, repr=False)
class MemoryPlan:
    """What one GPU of a launch holds, and what follows from it. An attribute that is not known is None.

    Attributes:
        engine: the engine's id.
        release: the release whose arithmetic was used.
        model: the model as the launch names it.
        gpu: the GPU as the launch names it.
        gpu_count: how many GPUs the launch sees.
        ranks: how many GPUs its processes take, over all nodes.
        releases: all releases that the plan holds for, oldest first. Of those with equal arithmetic only the newest.
        gpu_gib: the memory of one GPU as its driver reports it.
        budget_gib: what the engine allows itself of it.
        weights_gib: the weights on the fullest GPU, those of drafts and of multi-token prediction included.
        kv_gib: what is left for the KV cache on one GPU. A negative value says how much is lacking.
        kv_tokens: the size of the KV cache in tokens as this release prints it, at `kv_gib.mid`.
        max_concurrency: how many requests of `max_model_len` tokens the KV cache holds at once.
        max_model_len: the longest request in tokens, as given or as the engine derives it.
        need_gib: what one request of `max_model_len` tokens takes of the KV cache.
        sequences: how many sequences the engine decodes at once, where each needs a block or a slot of a pool of states
            (--max-num-seqs, --max-running-requests).
        state_pool: how many sequences that pool serves.
        largest_context: the largest `max_model_len` that would start.
        verdict: one of `VERDICTS`.
        refusal: what the engine prints when it refuses, with the numbers of this plan.
        reason, remedy: why it refuses and what would start, in words, where the arithmetic of the engine says it.
        parts: the uses of the memory.
        notes: remarks for a reader.
        missing: what has to be known for a verdict and is not, in words.
        findings: findings of the rules that stop the start (servelint.judge.start); none in the plan of the arithmetic alone.
    """

    engine: str
    release: str | None
    model: str | None
    gpu: str | None
    gpu_count: int
    releases: list[str] = field(init=False)
    ranks: int = 1
    gpu_gib: float | None = None
    budget_gib: float | None = None
    weights_gib: float | None = None
    kv_gib: Interval | None = None
    kv_tokens: int | None = None
    max_concurrency: float | None = None
    max_model_len: int | None = None
    need_gib: float | None = None
    sequences: int | None = None
    state_pool: Interval | None = None
    largest_context: int | None = None
    verdict: str = UNKNOWN
    refusal: str | None = None
    reason: str | None = None
    remedy: str | None = None
    parts: list[Part] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.releases = [self.release] if self.release is not None else []

    def part(self, name: str) -> Part | None:
        """The first part of this name."""
        return next((part for part in self.parts if part.name == name), None)

    def __repr__(self) -> str:
        return f"MemoryPlan({self.engine} {self.release}, {self.model}, {self.gpu} x{self.gpu_count}: {self.verdict})"


def near(gpu_gib: float) -> float:
    """The margin, in GiB, below which a plan cannot tell whether a launch starts."""
    return max(NEAR_GIB, NEAR_SHARE * gpu_gib)
