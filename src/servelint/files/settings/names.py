"""The rules that layers name: whether there are such rules, and whether they have the options that are set."""

from __future__ import annotations

from collections.abc import Iterator

from servelint.core.own_rules import OWN
from servelint.core.settings import matches
from servelint.files.settings.keys import KEYS, PATTERNS, RULE_KEYS
from servelint.files.settings.layer import Layer, Origin
from servelint.files.settings.values import suggestion
from servelint.rules.load import headings
from servelint.rules.rule import option_fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LISTS = tuple([key.name for key in KEYS.values() if key.kind == PATTERNS])


def faults(layers: list[Layer], folders: tuple[str, ...]) -> list[tuple[Origin, str]]:
    """What is wrong with the names in layers, with their places. folders: those of rules that hold as well"""
    every = [one for layer in layers for one in (layer, *layer.per_path)]
    named = [(pattern, origin) for layer in every for pattern, origin in _patterns(layer) if pattern != "*"]
    if not named:
        return []
    known = {**{rule: {} for rule in OWN}, **headings(())}
    if folders and not all(_known(pattern, known) for pattern, _ in named):
        known = {**known, **headings(folders)}
    found = [(origin, _unknown(pattern, known)) for pattern, origin in named if not _known(pattern, known)]
    return found + [fault for layer in every for fault in _options(layer, known)]


def _patterns(layer: Layer) -> Iterator[tuple[str, Origin]]:
    for key in _LISTS:
        value = layer.values.get(key)
        for index, pattern in enumerate(value.value if value is not None else ()):
            if value is not None:
                yield pattern, value.part(index)
    for pattern, (origin, _) in layer.rules.items():
        yield pattern, origin


def _known(pattern: str, known: dict[str, dict[str, Any]]) -> bool:
    return pattern in known or any(matches(pattern, rule) for rule in known)


def _unknown(pattern: str, known: dict[str, dict[str, Any]]) -> str:
    areas = {rule.partition("/")[0] + "/*" for rule in known}
    near = suggestion(pattern, [*known, *sorted(areas)], 0.8) or " (servelint rules lists them)"
    return f'no rule matches "{pattern}"{near}'


def _options(layer: Layer, known: dict[str, dict[str, Any]]) -> Iterator[tuple[Origin, str]]:
    for pattern, (_, table) in layer.rules.items():
        for name, value in table.items():
            if name in RULE_KEYS or not _known(pattern, known):
                continue
            options = known.get(pattern)
            if options is None:
                yield value.key, f'"{name}" is set for {pattern}, and an area has only {", ".join(RULE_KEYS)}'
            elif name not in options:
                has = f"; it has {', '.join(options)}" if options else ""
                hint = suggestion(name, [*options, *RULE_KEYS])
                yield value.key, f'{pattern} has no option "{name}"{hint}{has}'
            elif (wrong := option_fault(options[name], value.value)) is not None:
                yield value.origin, f"{name} of {pattern} is {wrong}"
