"""What holds after all layers, value by value, each with the place that says it."""

from __future__ import annotations

from servelint.files.settings.globs import Glob
from servelint.files.settings.keys import FOLDERS, GLOBS, KEYS, PATTERNS, RELEASES
from servelint.files.settings.layer import Layer, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PASSED = ("extends",)
"""Keys that only say where other settings are."""


class Said:
    """One value;  name: of the element of a table (an engine, a rule's option), "" elsewhere;  origin: None for a default"""

    __slots__ = ("key", "name", "origin", "value")

    def __init__(self, key: str, value: Any, origin: Origin | None, name: str = "") -> None:
        self.key = key
        self.name = name
        self.value = value
        self.origin = origin


def said(layers: list[Layer]) -> list[Said]:
    """The values that hold, in the order of the keys, those of rules last."""
    found: list[Said] = []
    for key in KEYS.values():
        if key.name in PASSED:
            continue
        if key.kind in (PATTERNS, GLOBS, FOLDERS):
            found += _elements(_counting(layers, key.name), key.name)
        elif key.kind == RELEASES:
            found += _table(layers, key.name)
        else:
            values = [layer.values[key.name] for layer in layers if key.name in layer.values]
            found.append(Said(key.name, values[-1].value, values[-1].origin) if values else Said(key.name, key.default, None))
    return found + _of_rules(layers)


def _counting(layers: list[Layer], key: str) -> list[Layer]:
    """The layers whose list counts: those from the last that starts anew."""
    starts = {"extend-select": "select", "ignore": "select", "extend-exclude": "exclude"}.get(key, key)
    if key == "rules":
        return layers
    first = max([index for index, layer in enumerate(layers) if starts in layer.values], default=0)
    return layers[first:]


def _elements(layers: list[Layer], key: str) -> list[Said]:
    found: list[Said] = []
    for layer in layers:
        value = layer.values.get(key)
        for index, one in enumerate(value.value if value is not None else ()):
            if value is not None:
                found.append(Said(key, one.text if isinstance(one, Glob) else one, value.part(index)))
    return found


def _table(layers: list[Layer], key: str) -> list[Said]:
    found: dict[str, Said] = {}
    for layer in layers:
        value = layer.values.get(key)
        for name, one in (value.value if value is not None else {}).items():
            if value is not None:
                found[name] = Said(key, one, value.part(name), name)
    return list(found.values())


def _of_rules(layers: list[Layer]) -> list[Said]:
    found: dict[tuple[str, str], Said] = {}
    for layer in layers:
        for pattern, (_, table) in layer.rules.items():
            for name, value in table.items():
                found[(pattern, name)] = Said(f"rule.{pattern}", value.value, value.origin, name)
    return list(found.values())
