"""Models that REAP pruned: a known model of which some routed experts are gone, the same number in each layer.

The name has the parameters that are left (cerebras/GLM-4.5-Air-REAP-82B-A12B). The share of experts that goes is a multiple of
a twentieth (https://github.com/CerebrasResearch/reap), so that these parameters tell it.
"""

from __future__ import annotations

import math
import re

from servelint.models import catalog
from servelint.models.matrices import MTP, VISION, matrices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.architecture import Architecture

_PRUNED = re.compile(r"(?P<base>.+)-reap-(?P<left>\d+(?:\.\d+)?)b(?:-(?P<active>a\d+(?:\.\d+)?b))?(?P<rest>(?:[-_.:].*)?)")
_STEPS = 20
_TOLERANCE = 0.03
"""How far the parameters may be from those in the name, which are rounded."""


def lookup(name: str) -> Architecture | None:
    """A pruned model by its name, None if the name is of no such model or the model that was pruned is unknown.

    >>> found = lookup("cerebras/GLM-4.5-Air-REAP-82B-A12B")
    >>> found.experts.count if found and found.experts else None
    96
    """
    match = _PRUNED.fullmatch(catalog.last_part(name))
    if match is None:
        return None
    from dataclasses import replace

    left, before = float(match["left"]) * 1e9, name[: name.rfind("/") + 1]
    for base in _bases(match["base"], match["active"]):
        whole = catalog.lookup(before + base + match["rest"])
        found = _with_parameters(whole, left) if whole is not None else None
        if found is not None:
            return replace(found, name=name, checkpoint=None)
    return None


def _bases(start: str, active: str | None) -> list[str]:
    """The last parts of known names that a name without the pruning may stand for, the shortest first."""
    larger = re.compile(re.escape(start) + r"-\d+b" + (f"-{active}" if active else r"(-a\d+b)?") + r"(-instruct(-2507)?)?")
    known = {catalog.last_part(one) for one in catalog.known_names()}
    return [start, *sorted((one for one in known if larger.fullmatch(one)), key=lambda one: (len(one), one))]


def _with_parameters(model: Architecture, left: float) -> Architecture | None:
    """The model with as many experts as some parameters leave room for, None if no usual share does."""
    if model.experts is None:
        return None
    from dataclasses import replace

    counted = [one for one in matrices(model) if one.layer not in (MTP, VISION)]
    experts = sum(one.parameters for one in counted if one.count > 1)
    rest, each = sum(one.parameters for one in counted) - experts, experts / model.experts.count
    counts = [math.ceil(round(model.experts.count * step / _STEPS, 6)) for step in range(1, _STEPS)]
    nearest = min(counts, key=lambda count: abs(rest + each * count - left))
    if abs(rest + each * nearest - left) > _TOLERANCE * left:
        return None
    source = f"{nearest} of {model.experts.count} experts: by the name"
    return replace(model, experts=replace(model.experts, count=nearest), sources=(*model.sources, source))
