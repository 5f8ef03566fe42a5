"""Release ranges: PEP 440 specifiers, compiled to keys that compare without importing packaging."""

from __future__ import annotations

import re

from servelint.engines.releases import ReleaseKey, release_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SPECIFIER = r"(>=|<=|==|!=|>|<)\s*([0-9][\w.!+-]*)"
_AFTER_ANY_POST = 1 << 40

Bounds = list[tuple[str, ReleaseKey]]


def compile_range(text: str) -> list[list[Any]]:
    """A specifier set such as ">=0.19,<0.29" as [operator, key] pairs that must all hold; "" holds for every release.

    As in PEP 440, `<0.29` does not take 0.29's own pre-releases, and `>0.5.4` does not take its post-releases.
    Raises ValueError for what is not a range.
    """
    bounds: list[list[Any]] = []
    for part in [part.strip() for part in text.split(",") if part.strip()]:
        match = re.fullmatch(_SPECIFIER, part)
        key = release_key(match.group(2)) if match is not None else None
        if match is None or key is None:
            raise ValueError(f"{part!r} is not a release bound such as >=0.19")
        operator = match.group(1)
        if operator == "<" and key[1] == 3 and key[4] == 1:
            key = (key[0], -1, 0, -1, 0, 0) if key[3] == -1 else (key[0], 3, 0, key[3], 0, 0)
        elif operator == ">" and key[3] == -1:
            key = (key[0], key[1], key[2], _AFTER_ANY_POST, key[4], key[5])
        bounds.append([operator, key])
    return bounds


def loaded(bounds: list[list[Any]]) -> Bounds:
    """Bounds as they come back from JSON."""
    return [(operator, (tuple(key[0]), *key[1:])) for operator, key in bounds]


def contains(bounds: Bounds, key: ReleaseKey | None) -> bool:
    """Whether a release is in a range. A release that is not known is only in the range of all releases."""
    if key is None:
        return not bounds
    for operator, bound in bounds:
        if operator == ">=":
            holds = key >= bound
        elif operator == "<":
            holds = key < bound
        elif operator == "<=":
            holds = key <= bound
        elif operator == ">":
            holds = key > bound
        else:
            holds = (key == bound) is (operator == "==")
        if not holds:
            return False
    return True


def describe(text: str) -> str:
    """A range as a person says it: ">=0.20" is "0.20 and later"."""
    lower = re.search(r">(=?)\s*([\w.]+)", text)
    upper = re.search(r"<(=?)\s*([\w.]+)", text)
    exact = re.search(r"==\s*([\w.]+)", text)
    without = re.findall(r"!=\s*([\w.]+)", text)
    if exact:
        said = f"only {exact.group(1)}"
    elif lower and upper and lower.group(1) and upper.group(1):
        said = f"{lower.group(2)} to {upper.group(2)}"
    else:
        parts: list[str] = []
        if lower:
            parts.append(f"{lower.group(2)} and later" if lower.group(1) else f"after {lower.group(2)}")
        if upper:
            parts.append(f"{upper.group(2)} and earlier" if upper.group(1) else f"before {upper.group(2)}")
        said = ", ".join(parts) or "every release"
    return said + (f", not {', '.join(without)}" if without else "")
