"""What others have measured, and what it says of a case that nobody has: the arithmetic's error there is like its error nearby.

The error of the arithmetic (the logarithm of what was measured over what it gives) is taken for a Gaussian process over cases,
with the covariance below: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1.
"""

from __future__ import annotations

import json
import math
import os
from functools import cached_property, lru_cache

from servelint.speculation.cases import ADVISED, TOKENS, Case, accepted_of
from servelint.speculation.names import BLOCK, method_of
from servelint.speculation.prior import Prior, prior

_NOISE, _WORKLOAD, _BLOCK = 0.05, 0.06, 0.15
"""Standard deviations of the logarithm of a measured gain: two runs of one benchmark differ by some percent; of two workloads
of which nobody says how many drafts they accept by more, those of a block drafter most."""
_FIELDS = {"engine", "release", "model", "gpu", "method", "tokens", "concurrency", "input", "output", "off", "on", "unit"}
_FIELDS |= {"accepted", "rate", "workload", "source", "note"}


class Measurement:
    """off, on: what was measured without and with speculation, in `unit`;  source: where it is published."""

    __slots__ = ("case", "note", "off", "on", "release", "source", "told", "unit", "workload")

    def __init__(self, data: dict[str, object]) -> None:
        strange = sorted(set(data) - _FIELDS)
        if strange:
            raise ValueError(f"{strange[0]!r} is no field of a measurement; use {', '.join(sorted(_FIELDS))}")
        self.off, self.on = (_number(data, key) for key in ("off", "on"))
        method = method_of(str(data.get("method", "")))
        if method is None:
            raise ValueError(f"method {data.get('method')!r} is not known; write mtp, eagle3, dflash, draft, ngram or medusa")
        tokens = _whole(data, "tokens")
        rate = data.get("rate", data.get("accepted"))
        told = {"rate": data["rate"]} if "rate" in data else {"length": data["accepted"]} if "accepted" in data else None
        if rate is not None and not isinstance(rate, (int, float)):
            raise ValueError(f"{rate!r} is no number")
        self.told = str(data["method"])
        self.case = Case(
            str(data.get("engine", ADVISED[0])),
            method,
            _text(data, "model"),
            _text(data, "gpu"),
            tokens,
            _whole(data, "concurrency") or 1,
            _whole(data, "input"),
            _whole(data, "output"),
            accepted_of(told, tokens or TOKENS.get(method, 3)),
        )
        self.release = _text(data, "release")
        self.unit = _text(data, "unit") or "tok/s"
        self.workload = _text(data, "workload")
        self.source = _text(data, "source") or "your own"
        self.note = _text(data, "note")

    @property
    def gain(self) -> float:
        """Throughput with speculation over throughput without; times are turned round."""
        return self.off / self.on if self.unit in ("ms", "s") else self.on / self.off


def _text(data: dict[str, object], key: str) -> str | None:
    value = data.get(key)
    return None if value is None else str(value)


def _number(data: dict[str, object], key: str) -> float:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError(f"{key}: {value!r} is no number above 0")
    return float(value)


def _whole(data: dict[str, object], key: str) -> int | None:
    value = data.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{key}: {value!r} is no whole number above 0")
    return value


@lru_cache(maxsize=1)
def published() -> tuple[Measurement, ...]:
    """The measurements that servelint brings along."""
    with open(os.path.join(os.path.dirname(__file__), "data", "measurements.json"), encoding="utf-8") as file:
        return tuple([Measurement(data) for data in json.load(file)["measurements"]])


@lru_cache(maxsize=1)
def of_all() -> Calibration:
    """What the published measurements tell."""
    return Calibration(published())


class Posterior:
    """mean, deviation: of the logarithm of the gain;  near: measurements by how much they have to say, the most first."""

    __slots__ = ("deviation", "mean", "near", "prior")

    def __init__(self, mean: float, deviation: float, near: list[tuple[float, Measurement]], before: Prior) -> None:
        self.mean = mean
        self.deviation = deviation
        self.near = near
        self.prior = before


class Calibration:
    """Measurements that cases are held against."""

    __slots__ = ("__dict__", "measurements")

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
        """Each measurement, and what all others let expect of it: Rasmussen and Williams, 2006, equations 5.10 to 5.12."""
        found: list[tuple[Measurement, Posterior]] = []
        for index, ((one, before), weight) in enumerate(zip(self.measurements, self._weights, strict=True)):
            unit = [float(other == index) for other in range(len(self.measurements))]
            precision = self._backward(self._forward(unit))[index]
            near = [pair for pair in self._ranked(one.case, before) if pair[1] is not one]
            mean = math.log(one.gain) - weight / precision
            found.append((one, Posterior(mean, math.sqrt(1 / precision), near, before)))
        return found

    def _ranked(self, case: Case, before: Prior) -> list[tuple[float, Measurement]]:
        told = [
            (covariance(case, before, one.case, its) / (before.deviation * its.deviation), one)
            for one, its in self.measurements
        ]
        return sorted(told, key=lambda pair: -pair[0])

    def at(self, case: Case) -> Posterior | None:
        """What is to be expected of a case; None where the arithmetic has no figure at all."""
        before = prior(case)
        if before is None:
            return None
        shared = [covariance(case, before, one.case, its) for one, its in self.measurements]
        mean = before.mean + sum(map(_times, shared, self._weights))
        left = before.deviation**2 - sum(value * value for value in self._forward(shared))
        return Posterior(mean, math.sqrt(max(left, 0.0) + noise(case) ** 2), self._ranked(case, before), before)


def noise(case: Case) -> float:
    """How far two measurements of one case are apart, as the standard deviation of a logarithm."""
    if case.accepted is not None:
        return _NOISE
    return math.hypot(_NOISE, _BLOCK if case.method == BLOCK else _WORKLOAD)


def _times(one: float, other: float) -> float:
    return one * other


def covariance(one: Case, mine: Prior, other: Case, its: Prior) -> float:
    """How much the arithmetic's error in one case tells of that in another: 1 and their deviations where they are the same."""
    if one.method != other.method and {one.method, other.method} != {"mtp", "eagle"}:
        return 0.0
    alike = 1.0 if one.method == other.method else 0.5
    alike *= 1.0 if one.engine == other.engine else 0.6
    alike *= _same_model(one, other)
    alike *= 1.0 if _same_gpu(one, other) else 0.7
    alike *= 1.0 if (one.accepted is None) == (other.accepted is None) else 0.7
    alike *= _near(one.concurrency, other.concurrency, 2.0)
    alike *= _near(1 + one.drafted, 1 + other.drafted, 1.0)
    alike *= _near(one.context, other.context, 3.0)
    return alike * mine.deviation * its.deviation


def _near(one: float, other: float, length: float) -> float:
    """1 for the same number, less the more doublings are between two."""
    return math.exp(-((math.log2(one / other) / length) ** 2) / 2)


def _same_model(one: Case, other: Case) -> float:
    mine, its = one.architecture, other.architecture
    if mine is None or its is None:
        return 1.0 if one.model == other.model else 0.5
    if (mine.model_type, mine.layers, mine.hidden) == (its.model_type, its.layers, its.hidden):
        return 1.0
    return 0.7 if (mine.experts is None) == (its.experts is None) else 0.5


def _same_gpu(one: Case, other: Case) -> bool:
    mine, its = one.gpus, other.gpus
    if mine[0] is None or its[0] is None:
        return one.gpu == other.gpu
    return mine[0].name == its[0].name and mine[1] == its[1]
