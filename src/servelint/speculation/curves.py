"""At how many requests speculation stops to pay: a curve over concurrency, and where it is above and below one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from servelint.speculation.cases import ADVISED, Case, accepted_of
from servelint.speculation.gains import Gain, of_case
from servelint.speculation.names import method_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from servelint.speculation.calibration import Calibration, Measurement

BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Requests at which the curve is taken."""
_TOKENS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Crossover:
    """What becomes of the gain of one number of drafted tokens as requests grow.

    spec_tokens: tokens that are drafted each step
    points:      requests and the gain there, None where nobody can tell
    """

    spec_tokens: int
    points: tuple[tuple[int, Gain | None], ...]

    @property
    def crossover_batch_size(self) -> tuple[int, int | None] | None:
        """Between which numbers of requests the gain is lost: the first at which it may be, and the first from which it surely
        is (None: none that is told). None where nothing says that it is lost at all.

        A mixture of experts dips at some requests and rises again: what counts is from where on it stays lost, and `dips` has
        the others.
        """
        told = self._told
        if not told or told[-1][1].low > 1:
            return None
        may = next(batch for index, (batch, _) in enumerate(told) if all(gain.low <= 1 for _, gain in told[index:]))
        sure = next((batch for index, (batch, _) in enumerate(told) if all(gain.high < 1 for _, gain in told[index:])), None)
        return may, sure

    @property
    def likely(self) -> int | None:
        """The number of requests from which on losing is likelier than gaining; None for none that is told."""
        told = self._told
        return next((batch for index, (batch, _) in enumerate(told) if all(gain.mid <= 1 for _, gain in told[index:])), None)

    @property
    def dips(self) -> tuple[tuple[int, int], ...]:
        """Requests between which the gain may be lost, with more requests at which it is there again."""
        found: list[tuple[int, int]] = []
        last = max((index for index, (_, gain) in enumerate(self._told) if gain.low > 1), default=-1)
        for batch, gain in self._told[: last + 1]:
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
        """The measurements that are like any of its points."""
        return list(dict.fromkeys([one for _, gain in self._told for one in gain.near]))

    @property
    def known_to(self) -> int | None:
        """The most requests at which anybody can tell; None for none."""
        return self._told[-1][0] if self._told else None

    @property
    def _told(self) -> list[tuple[int, Gain]]:
        return [(batch, gain) for batch, gain in self.points if gain is not None]


def curve(case: Case, measured: Calibration | None = None) -> Crossover:
    """The gain of a case over concurrency."""
    points = [(batch, of_case(replace(case, concurrency=batch), measured)) for batch in BATCHES]
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
    """For each number of drafted tokens, between which numbers of requests speculation stops to pay.

    Raises ValueError for a method that is not known.

    >>> [one.spec_tokens for one in crossover(gpu_id="rtx-3090", model="Qwen/Qwen3.6-27B")]
    [1, 2, 3, 4, 5]
    """
    kind = method_of(method)
    if kind is None:
        raise ValueError(f"{method!r} is no method of speculation; write mtp, eagle3, dflash, draft, ngram or medusa")
    cases = [
        Case(engine, kind, model, gpu_id, count, 1, input_len, output_len, accepted_of(acceptance, count)) for count in tokens
    ]
    return [curve(case, measured) for case in cases]
