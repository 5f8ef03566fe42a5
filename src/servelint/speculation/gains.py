"""What speculative decoding gains, as an interval: the arithmetic, corrected by published measurements of similar cases.

The error of the arithmetic (the logarithm of the measured over the computed gain) is taken for a Gaussian process over cases
with the covariance below: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from servelint.core.data import load_data
from servelint.engines.registry import ENGINES
from servelint.speculation.cases import ADVISED, BLOCK, TOKENS, Case, accepted_of, method_of
from servelint.speculation.roofline import Prior, prior

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_NOISE, _WORKLOAD, _BLOCK, _BUILDS, _BACKENDS = 0.05, 0.06, 0.15, 0.15, 0.2
"""Standard deviations of the logarithm of a measured gain. Two runs of one benchmark differ by some percent. Two workloads
whose acceptance was not measured differ by more, those of a block drafter most, and two builds for different hardware too.
The last is for cards of AMD and Intel, for which a case does not say whether llama.cpp was built for Vulkan, ROCm or SYCL: of
Qwen3.6-27B on an R9700, three drafts make 0.9 and 1.8 to 2.0 with two states of one branch (ggml-org/llama.cpp pull request
22673), Qwen3.8-27B on an RX 7900 XTX gains 1.4, 1.7 and 2.5 with two and three (sudoingX/qwen38-mtp)."""
_ONE_BACKEND = 0.5
"""The share of a correction that holds for another case where the kernels depend on a backend that a case does not name."""
_OTHER_GRAPHS = 0.3
"""The share of a correction that still holds between a step in CUDA graphs and one outside of them."""
_OTHER_MODEL, _OTHER_GPU = 0.3, 0.3
"""How much of the arithmetic's error two models share, and two GPUs. Of factors from 0.3 to 0.7 these make 70 measurements of
which most have one request most likely (the marginal likelihood, Rasmussen and Williams, 2006, equation 5.8)."""
_FIELDS = {"engine", "release", "model", "gpu", "method", "tokens", "concurrency", "input", "output", "off", "on", "unit"}
_FIELDS |= {"accepted", "rate", "workload", "source", "note", "cache"}

WIDTH, _ELSEWHERE = 1.14, 0.12
"""Half of an interval in standard deviations, and the deviation that an estimate has beside its own for what no case states:
clocks and power limits, drivers, the host, the texts. Without it 252 of 276 held-out measurements are inside of intervals as
wide on average (tests/speculation/held_out.json), with it 260: estimates that seem certain miss as often as others."""
_VAGUE = 0.32
"""An estimate with a larger deviation of the logarithm does not help to decide whether to speculate."""
_NEAR = 0.35
"""How similar a measurement has to be to be listed, from 0 to 1."""
BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Numbers of requests at which the curve is computed."""
_TOKENS = (1, 2, 3, 4, 5)


class Measurement:
    """Throughput or time with and without speculation, as published.

    Attributes:
        case: what was measured.
        method: the method as the publisher writes it.
        off: the figure without speculation.
        on: the figure with speculation.
        unit: the unit of both, "ms" and "s" for times.
        source: where it is published.
    """

    def __init__(self, data: dict[str, object]) -> None:
        """Read the fields of a measurement, as in measurements.json.

        Raises:
            ValueError: a field is unknown, missing or not of its type, or the method is not known.
        """
        strange = sorted(set(data) - _FIELDS)
        if strange:
            raise ValueError(f"{strange[0]!r} is not a field of a measurement; use {', '.join(sorted(_FIELDS))}")
        self.off, self.on = (_number(data, key) for key in ("off", "on"))
        method = method_of(str(data.get("method", "")))
        if method is None:
            raise ValueError(f"method {data.get('method')!r} is not known; write mtp, eagle3, dflash, draft, ngram or medusa")
        tokens = _whole(data, "tokens")
        rate = data.get("rate", data.get("accepted"))
        given = {"rate": data["rate"]} if "rate" in data else {"length": data["accepted"]} if "accepted" in data else None
        if rate is not None and not isinstance(rate, (int, float)):
            raise ValueError(f"{rate!r} is not a number")
        self.method = str(data["method"])
        self.unit = _text(data, "unit") or "tok/s"
        requests = _whole(data, "concurrency") or 1
        self.case = Case(
            str(data.get("engine", ADVISED[0])),
            method,
            _text(data, "model"),
            _text(data, "gpu"),
            tokens,
            requests,
            _whole(data, "input"),
            _whole(data, "output"),
            accepted_of(given, tokens or TOKENS.get(method, 3)),
            release=_text(data, "release"),
            cache=_text(data, "cache"),
            decoding=self.unit == "ms" and requests == 1,  # the time between tokens, of one request
        )
        self.source = _text(data, "source") or "your own"

    @property
    def gain(self) -> float:
        """Throughput with speculation over throughput without."""
        return self.off / self.on if self.unit in ("ms", "s") else self.on / self.off


def _text(data: dict[str, object], key: str) -> str | None:
    value = data.get(key)
    return None if value is None else str(value)


def _number(data: dict[str, object], key: str) -> float:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError(f"{key}: {value!r} is not a number above 0")
    return float(value)


def _whole(data: dict[str, object], key: str) -> int | None:
    value = data.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{key}: {value!r} is not a whole number above 0")
    return value


@lru_cache(maxsize=1)
def published() -> tuple[Measurement, ...]:
    """The measurements that servelint ships."""
    data = load_data("speculation/data/measurements.json")
    return tuple([Measurement(row) for row in data["measurements"]])


@lru_cache(maxsize=1)
def published_calibration() -> Calibration:
    """The calibration by the published measurements."""
    return Calibration(published())


@dataclass(frozen=True, slots=True)
class Posterior:
    """What is expected of a case after measurements are considered.

    Attributes:
        mean: the mean of the logarithm of the gain.
        deviation: its standard deviation.
        near: measurements with their similarity from 0 to 1, the most similar first.
        prior: what was expected before.
    """

    mean: float
    deviation: float
    near: list[tuple[float, Measurement]]
    prior: Prior


class Calibration:
    """Measurements that estimates are corrected by.

    Attributes:
        measurements: each with what the arithmetic expects of its case.
    """

    def __init__(self, measurements: tuple[Measurement, ...]) -> None:
        self.measurements = [(one, before) for one in measurements if (before := prior(one.case)) is not None]

    @cached_property
    def _factor(self) -> list[list[float]]:
        """The lower Cholesky factor of the covariance of the measurements, by rows."""
        rows: list[list[float]] = []
        for index, (one, before) in enumerate(self.measurements):
            row: list[float] = []
            for other in range(index + 1):
                there, its = self.measurements[other]
                value = covariance(one.case, before, there.case, its) + (noise(one.case) ** 2 if other == index else 0.0)
                value -= sum(map(_times, row, rows[other] if other < index else row))
                row.append(math.sqrt(value) if other == index else value / rows[other][other])
            rows.append(row)
        return rows

    @cached_property
    def _weights(self) -> list[float]:
        return self._backward(self._forward([math.log(one.gain) - before.mean for one, before in self.measurements]))

    def _forward(self, values: list[float]) -> list[float]:
        found: list[float] = []
        for row, value in zip(self._factor, values, strict=True):
            found.append((value - sum(map(_times, row, found))) / row[-1])
        return found

    def _backward(self, values: list[float]) -> list[float]:
        rows, found = self._factor, list(values)
        for index in range(len(found) - 1, -1, -1):
            found[index] /= rows[index][index]
            for other in range(index):
                found[other] -= rows[index][other] * found[index]
        return found

    def left_out(self) -> list[tuple[Measurement, Posterior]]:
        """Each measurement, and what all others predict for it: Rasmussen and Williams, 2006, equations 5.10 to 5.12."""
        found: list[tuple[Measurement, Posterior]] = []
        for index, ((one, before), weight) in enumerate(zip(self.measurements, self._weights, strict=True)):
            unit = [float(other == index) for other in range(len(self.measurements))]
            precision = self._backward(self._forward(unit))[index]
            near = [pair for pair in self._ranked(one.case, before) if pair[1] is not one]
            mean = math.log(one.gain) - weight / precision
            found.append((one, Posterior(mean, math.sqrt(1 / precision), near, before)))
        return found

    def _ranked(self, case: Case, before: Prior) -> list[tuple[float, Measurement]]:
        pairs = [
            (covariance(case, before, one.case, its) / (before.deviation * its.deviation), one)
            for one, its in self.measurements
        ]
        return sorted(pairs, key=lambda pair: -pair[0])

    def at(self, case: Case) -> Posterior | None:
        """What is expected of a case, None where the arithmetic has no figure at all."""
        before = prior(case)
        if before is None:
            return None
        shared = [covariance(case, before, one.case, its) for one, its in self.measurements]
        mean = before.mean + sum(map(_times, shared, self._weights))
        left = before.deviation**2 - sum(value * value for value in self._forward(shared))
        return Posterior(mean, math.sqrt(max(left, 0.0) + noise(case) ** 2), self._ranked(case, before), before)


def noise(case: Case) -> float:
    """The standard deviation of the logarithm between two measurements of one case."""
    builds = 0.0
    if _own_kernels(case):
        gpu = case.gpus[0]
        builds = _BACKENDS if gpu is not None and gpu.vendor in ("amd", "intel") else _BUILDS
    if case.accepted is not None:
        return math.hypot(_NOISE, builds)
    return math.hypot(_NOISE, builds, _BLOCK if case.method == BLOCK else _WORKLOAD)


def _own_kernels(case: Case) -> bool:
    """Whether an engine shares no kernels with the others."""
    return case.engine in ENGINES and ENGINES[case.engine].numbered_builds


def _times(one: float, other: float) -> float:
    return one * other


def covariance(one: Case, mine: Prior, other: Case, its: Prior) -> float:
    """How much the arithmetic's error in one case says about that in another: the product of both deviations for equal cases.

    `mine` and `its` are what the arithmetic expects of the two cases. What it leaves out weighs alike only in steps that are
    about equally long.
    """
    if one.method != other.method and {one.method, other.method} != {"mtp", "eagle"}:
        return 0.0
    if one.engine != other.engine and (_own_kernels(one) or _own_kernels(other)):
        return 0.0
    alike = 1.0 if one.method == other.method else 0.5
    alike *= 1.0 if one.engine == other.engine else 0.6
    alike *= _same_model(one, other)
    alike *= 1.0 if _same_gpu(one, other) else _OTHER_GPU
    alike *= 1.0 if (one.accepted is None) == (other.accepted is None) else 0.7
    alike *= 1.0 if mine.outside == its.outside else _OTHER_GRAPHS
    alike *= _ONE_BACKEND if mine.backends or its.backends else 1.0
    alike *= _near(one.concurrency, other.concurrency, 2.0)
    alike *= _near(1 + one.drafted, 1 + other.drafted, 1.0)
    alike *= _near(one.context, other.context, 3.0)
    if mine.step and its.step:
        alike *= _near(mine.step, its.step, 1.5)
    return alike * mine.deviation * its.deviation


def _near(one: float, other: float, length: float) -> float:
    """1 for equal numbers, less the more doublings lie between them."""
    return math.exp(-((math.log2(one / other) / length) ** 2) / 2)


def _same_model(one: Case, other: Case) -> float:
    mine, its = one.architecture, other.architecture
    if mine is None or its is None:
        return 1.0 if one.model == other.model else _OTHER_MODEL / 2
    if (mine.model_type, mine.layers, mine.hidden) == (its.model_type, its.layers, its.hidden):
        return 1.0
    return _OTHER_MODEL if (mine.experts is None) == (its.experts is None) else _OTHER_MODEL / 2  # errors lie in the experts


def _same_gpu(one: Case, other: Case) -> bool:
    mine, its = one.gpus, other.gpus
    if mine[0] is None or its[0] is None:
        return one.gpu == other.gpu
    return mine[0].name == its[0].name and mine[1] == its[1]


class Gain:
    """The estimated gain of a case.

    Attributes:
        case: the case.
        low: throughput with speculation over throughput without, at least; 1.2 is 20 % more.
        mid: the same, most likely.
        high: the same, at most.
        chance: the probability that it is above 1.
        counted: model and GPU are known, so that the arithmetic counts.
        near: the most similar measurements, at most four, the most similar first.
    """

    __slots__ = ("case", "chance", "counted", "high", "low", "mid", "near")

    def __init__(self, case: Case, found: Posterior) -> None:
        self.case = case
        deviation = math.hypot(found.deviation, _ELSEWHERE)
        self.low, self.mid, self.high = (math.exp(found.mean + step * WIDTH * deviation) for step in (-1, 0, 1))
        self.chance = (1 + math.erf(found.mean / deviation / math.sqrt(2))) / 2
        self.counted = found.prior.counted
        self.near: list[Measurement] = [one for alike, one in found.near[:4] if alike >= _NEAR]

    def __repr__(self) -> str:
        return f"Gain({self.low:.2f}..{self.mid:.2f}..{self.high:.2f})"


def gain_of(case: Case, measured: Calibration | None = None) -> Gain | None:
    """The gain of a case, None where neither the arithmetic nor a measurement says enough.

    `measured` are the measurements to correct by, the published ones by default.
    """
    found = (measured or published_calibration()).at(case)
    return gain_of_posterior(case, found) if found is not None else None


def gain_of_posterior(case: Case, found: Posterior) -> Gain | None:
    """The gain by what is expected of a case, None if that is too vague."""
    return Gain(case, found) if found.deviation <= _VAGUE else None


def gain(
    engine: str = ADVISED[0],
    model: str | None = None,
    gpu: str | None = None,
    method: str = "mtp",
    k: int | None = None,
    concurrency: int | None = 1,
    input_len: int | None = None,
    output_len: int | None = None,
    acceptance: Mapping[str, Any] | float | None = None,
    measured: Calibration | None = None,
    release: str | None = None,
    kv_cache_dtype: str | None = None,
) -> Gain | None:
    """Estimate throughput with speculation over throughput without.

    Args:
        engine: "vllm", "sglang" or "llama.cpp".
        model: the model's name.
        gpu: the GPU's name.
        method: mtp, eagle, eagle3, dflash, ngram, draft_model, medusa, or another of the engines' names of these.
        k: tokens drafted per step, as many as recipes write by default.
        concurrency: requests that are decoded at a time.
        input_len: tokens of a prompt.
        output_len: tokens of an answer.
        acceptance: {"length": mean tokens per step}, {"rate": accepted of the drafted}, {"per_pos": [...]}, or a rate.
        measured: the measurements to correct by, the published ones by default.
        release: the engine's release, None for any of those in use.
        kv_cache_dtype: the format of the KV cache as --kv-cache-dtype names it, None for the model's own.

    Returns:
        None where neither arithmetic nor measurements say enough.

    >>> found = gain(model="Qwen/Qwen3.6-27B-FP8", gpu="h100", k=2, acceptance=0.7)
    >>> found is not None and 1.4 < found.low < found.mid < found.high < 3
    True
    """
    kind = method_of(method)
    if kind is None:
        return None
    tokens = k if k is not None and k > 0 else None
    length = accepted_of(acceptance, tokens or TOKENS.get(kind, 3))
    requests = max(concurrency or 1, 1)
    case = Case(
        engine, kind, model, gpu, tokens, requests, input_len, output_len, length, release=release, cache=kv_cache_dtype
    )
    return gain_of(case, measured)


@dataclass(frozen=True)
class Crossover:
    """The gain of one number of draft tokens over the number of requests.

    Attributes:
        spec_tokens: tokens drafted per step.
        points: a number of requests and the gain there, None where it is not known.
    """

    spec_tokens: int
    points: tuple[tuple[int, Gain | None], ...]

    @property
    def crossover_batch_size(self) -> tuple[int, int | None] | None:
        """The numbers of requests between which the gain is lost, None where it is not lost at any known number.

        The first is where it may be lost, the second from where on it certainly is (None if that is not known). The gain of a
        mixture of experts falls at some numbers of requests and rises again. Here counts from where on it stays lost; `dips`
        has the others.
        """
        known = self._known
        if not known or known[-1][1].low > 1:
            return None
        may = next(batch for index, (batch, _) in enumerate(known) if all(gain.low <= 1 for _, gain in known[index:]))
        sure = next((batch for index, (batch, _) in enumerate(known) if all(gain.high < 1 for _, gain in known[index:])), None)
        return may, sure

    @property
    def likely(self) -> int | None:
        """The number of requests from which on a loss is more likely than a gain, None if there is no such known number."""
        known = self._known
        return next((batch for index, (batch, _) in enumerate(known) if all(gain.mid <= 1 for _, gain in known[index:])), None)

    @property
    def dips(self) -> tuple[tuple[int, int], ...]:
        """Ranges of requests in which the gain may be lost, with more requests at which it is there again."""
        found: list[tuple[int, int]] = []
        last = max((index for index, (_, gain) in enumerate(self._known) if gain.low > 1), default=-1)
        for batch, gain in self._known[: last + 1]:
            if gain.low > 1:
                continue
            before = BATCHES.index(batch) - 1
            if found and before >= 0 and found[-1][1] == BATCHES[before]:
                found[-1] = (found[-1][0], batch)
            else:
                found.append((batch, batch))
        return tuple(found)

    @property
    def near(self) -> list[Measurement]:
        """The measurements that are similar to any of its points."""
        return list(dict.fromkeys([one for _, gain in self._known for one in gain.near]))

    @property
    def known_to(self) -> int | None:
        """The largest number of requests with a known gain."""
        return self._known[-1][0] if self._known else None

    @property
    def _known(self) -> list[tuple[int, Gain]]:
        return [(batch, gain) for batch, gain in self.points if gain is not None]


def curve(case: Case, measured: Calibration | None = None) -> Crossover:
    """The gain of a case over the number of requests. Its own concurrency does not matter."""
    points = [(batch, gain_of(replace(case, concurrency=batch), measured)) for batch in BATCHES]
    return Crossover(case.drafted, tuple(points))


def crossover(
    gpu_id: str,
    model: str,
    engine: str = ADVISED[0],
    method: str = "mtp",
    tokens: tuple[int, ...] = _TOKENS,
    input_len: int | None = None,
    output_len: int | None = None,
    acceptance: Mapping[str, Any] | float | None = None,
    measured: Calibration | None = None,
) -> list[Crossover]:
    """For each number of draft tokens, at what concurrency speculation stops paying off.

    Args:
        gpu_id: the GPU's name.
        model: the model's name.
        engine: "vllm", "sglang" or "llama.cpp".
        method: mtp, eagle, eagle3, dflash, ngram, draft_model, medusa, or another of the engines' names of these.
        tokens: numbers of tokens drafted per step.
        input_len: tokens of a prompt.
        output_len: tokens of an answer.
        acceptance: as for `gain`.
        measured: the measurements to correct by, the published ones by default.

    Raises:
        ValueError: the method is not known.

    >>> [one.spec_tokens for one in crossover(gpu_id="rtx-3090", model="Qwen/Qwen3.6-27B")]
    [1, 2, 3, 4, 5]
    """
    kind = method_of(method)
    if kind is None:
        raise ValueError(f"{method!r} is not a method of speculation; write mtp, eagle3, dflash, draft, ngram or medusa")
    cases = [
        Case(engine, kind, model, gpu_id, count, 1, input_len, output_len, accepted_of(acceptance, count)) for count in tokens
    ]
    return [curve(case, measured) for case in cases]
