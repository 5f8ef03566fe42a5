"""From layers to settings: the later layer wins, lists of rules add up layer by layer."""

from __future__ import annotations

from collections.abc import Iterator

from servelint.core.settings import Selection, Settings
from servelint.files.settings.globs import Glob
from servelint.files.settings.keys import KEYS
from servelint.files.settings.layer import Layer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def last(layers: list[Layer], key: str) -> Any:
    """What the last layer that says anything of a key says, its default if none does."""
    for layer in reversed(layers):
        if key in layer.values:
            return layer.values[key].value
    return KEYS[key].default


def settings(layers: list[Layer]) -> Settings:
    """The settings that layers make, the strongest last."""
    versions: dict[str, str] = {}
    rules: dict[str, dict[str, Any]] = {}
    for layer in layers:
        versions.update(layer.get("engine-versions") or {})
        for pattern, (_, table) in layer.rules.items():
            rules.setdefault(pattern, {}).update({key: value.value for key, value in table.items()})
    return Settings(
        severity=last(layers, "severity"),
        engine_versions=versions,
        profile=last(layers, "profile"),
        rules=folders(layers),
        gpu=last(layers, "gpu"),
        gpu_count=last(layers, "gpu-count"),
        fail_on=last(layers, "fail-on"),
        rule_settings=rules,
        selections=tuple(_selections(layers)),
        read_outside=last(layers, "read-outside"),
    )


def _selections(layers: list[Layer]) -> Iterator[Selection]:
    for layer in layers:
        select, more, ignore = layer.get("select"), layer.get("extend-select"), layer.get("ignore")
        if select is not None or more or ignore:
            yield Selection(select, more or (), ignore or ())


def folders(layers: list[Layer]) -> tuple[str, ...]:
    """The folders of rules: those of every layer, since one that a file extends may name rules of its own."""
    return tuple(dict.fromkeys([folder for layer in layers for folder in layer.get("rules") or ()]))


def excluded(layers: list[Layer]) -> list[Glob]:
    """The patterns of what is left out: `exclude` of the last layer that has it, and every `extend-exclude` from there on."""
    found: list[Glob] = []
    for layer in layers:
        own = layer.get("exclude")
        found = [*(found if own is None else own), *(layer.get("extend-exclude") or ())]
    return found
