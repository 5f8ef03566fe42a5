"""Layers that weigh the same: of a hundred only a few differ, and one of each kind is enough to be looked at."""

from __future__ import annotations

from servelint.models.modules import layer_modules, shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    from servelint.models.architecture import Architecture
    from servelint.models.storage import Formats


def alike(model: Architecture, formats: Formats) -> list[int]:
    """For each layer the first one that has modules of the same shapes in the same formats.

    The first layer, which the embedding is told with, is like no other.
    """
    tails: dict[Hashable, tuple[str, ...]] = {}
    first: dict[tuple[Hashable, object, bool], int] = {}
    found: list[int] = []
    for index in range(model.layers):
        shape = shape_of(model, index)
        if shape not in tails:
            tails[shape] = tuple([one.name[1:] for one in layer_modules(model, index, index, "-.")])
        found.append(first.setdefault((shape, formats.of_layer(index, tails[shape]), not index), index))
    return found
