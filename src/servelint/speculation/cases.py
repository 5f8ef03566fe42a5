"""A case of speculation: which server, which draft, which load."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from servelint.engines.registry import ENGINES
from servelint.speculation import names
from servelint.speculation.names import BLOCK, EAGLE, MTP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from servelint.hardware import Gpu
    from servelint.models.architecture import Architecture

ADVISED = tuple(engine.id for engine in ENGINES.values() if engine.advised)
"""Ids of the engines that servelint.advise knows; the first is the default."""
TOKENS = {MTP: 2, EAGLE: 3, BLOCK: 15}
"""How many tokens are drafted where nobody says: what the recipes of the engines write most."""
_ACCEPTED = {MTP: (0.82, 0.75), EAGLE: (0.765, 0.72), BLOCK: (0.8, 0.8)}
"""How likely the first drafted token is accepted, and each later one if those before it were, where nobody measured it: MTP as
Qwen3.6-35B-A3B's positions (0.818, 0.615), EAGLE as EAGLE-3 of Llama-3.1-8B (0.765 for one, 0.411 of five); a block's are
guessed."""


@dataclass(frozen=True)
class Case:
    """What is asked, or was measured. Lengths are tokens; concurrency is how many requests are decoded at a time.

    method:   a kind of drafting (servelint.speculation.names);  tokens: that are drafted each step
    accepted: mean tokens that a step gives, the one of the model itself among them; None if nobody knows
    folder:   where a model that is a path starts from; None: it is a name
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

    @cached_property
    def architecture(self) -> Architecture | None:
        """The model, if it is known."""
        return names.model_of(self.model, self.folder) if self.model else None

    @cached_property
    def gpus(self) -> tuple[Gpu | None, int]:
        """The GPU, if it is known, and how many there are."""
        return names.gpus_of(self.gpu) if self.gpu else (None, 1)

    @property
    def drafted(self) -> int:
        """Tokens that are drafted, guessed where nobody says."""
        return self.tokens or TOKENS.get(self.method, 3)

    @property
    def length(self) -> float:
        """Mean tokens of a step, guessed where nobody says."""
        if self.accepted is not None:
            return self.accepted
        first, later = _ACCEPTED.get(self.method, (0.5, 0.7))
        return 1 + first * (1 - later**self.drafted) / (1 - later)

    @property
    def context(self) -> float:
        """Tokens of context of a request half-way."""
        return (self.input or 512) + (self.output or 256) / 2


def accepted_of(acceptance: Mapping[str, Any] | float | None, tokens: int) -> float | None:
    """Mean tokens of a step as people tell it: its length, a rate of the proposed ones, or a rate for each position.

    tokens: that are drafted each step

    >>> accepted_of({"per_pos": [0.8181, 0.6146]}, 2), accepted_of(0.72, 2), accepted_of({}, 2)
    (2.4327, 2.44, None)
    """
    if acceptance is None:
        return None
    told: Mapping[str, Any] = {"rate": acceptance} if isinstance(acceptance, (int, float)) else acceptance
    if told.get("length"):
        return float(told["length"])
    if told.get("per_pos"):
        return round(1 + sum(map(float, told["per_pos"])), 4)
    if told.get("rate") is not None:
        return float(1 + tokens * told["rate"])
    return None
