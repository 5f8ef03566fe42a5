"""Release ranges: PEP 440 specifiers, read by packaging and compiled to keys that a check compares without it."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.engines.releases import ReleaseKey, release_key
from servelint.engines.stack import bounds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OPERATORS = frozenset((">=", "<=", "==", "!=", ">", "<"))
_AFTER_ANY_POST = 1 << 40

Bounds = list[tuple[str, ReleaseKey]]


def compile_range(text: str) -> list[list[Any]]:
    """A specifier set such as ">=0.19,<0.29" as [operator, key] pairs that must all hold; "" holds for every release.

    As in PEP 440, `<0.29` does not take 0.29's own pre-releases, and `>0.5.4` does not take its post-releases.
    Raises ValueError for what is not a range.
    """
    from packaging.specifiers import InvalidSpecifier, Specifier
    from packaging.version import Version

    bounds: list[list[Any]] = []
    for part in [part.strip() for part in text.split(",") if part.strip()]:
        try:
            specifier = Specifier(part)
        except InvalidSpecifier as error:
            raise ValueError(f"{part!r} is not a release bound such as >=0.19") from error
        operator, key = specifier.operator, release_key(specifier.version)
        if operator not in _OPERATORS or key is None:
            raise ValueError(f"{part!r} is not a release bound such as >=0.19")
        if operator == "<" and not Version(specifier.version).is_prerelease:
            key = release_key(f"{specifier.version}.dev0")
        elif operator == ">" and key[3] == -1:
            key = (*key[:3], _AFTER_ANY_POST, *key[4:])
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


def within(bounds: Bounds, answer: str) -> bool | None:
    """Whether all releases of an answer about packages ("5.15.0", ">=4.56,<5") are in a range; None if only some are."""
    low, high, included = bounds_of(answer)
    if low == high:
        return contains(bounds, low)
    whole = True
    for operator, bound in bounds:
        if operator in ("==", "!="):
            outside = bound < low or (high is not None and (bound > high or (bound == high and not included)))
            inside, outside = (outside, False) if operator == "!=" else (False, outside)
        elif operator.startswith(">"):
            inside = low > bound or (low == bound and operator == ">=")
            outside = high is not None and (high < bound or (high == bound and not (included and operator == ">=")))
        else:
            inside = high is not None and (high < bound or (high == bound and (operator == "<=" or not included)))
            outside = low > bound or (low == bound and operator == "<")
        if outside:
            return False
        whole = whole and inside
    return whole or None


def is_open(bounds: Bounds) -> bool:
    """Whether a range has no upper bound: the releases that follow are in it, until someone finds that one is not."""
    return all(operator in (">=", ">", "!=") for operator, _ in bounds)


@lru_cache(maxsize=1024)
def describe(text: str) -> str:
    """A range in words: ">=0.20" is "0.20 and later", ">=9180" of numbered builds "b9180 and later", ">=0" "every release"."""
    text = re.sub(r"(?<![\w.])(\d{4,})(?![\w.])", r"b\1", text)
    lower = re.search(r">(?!=\s*0(?![\w.]))(=?)\s*([\w.]+)", text)
    upper = re.search(r"<(=?)\s*([\w.]+)", text)
    exact = re.search(r"==\s*([\w.]+)", text)
    without = re.findall(r"!=\s*([\w.]+)", text)
    if exact:
        shown = f"only {exact.group(1)}"
    elif lower and upper and lower.group(1) and upper.group(1):
        shown = f"{lower.group(2)} to {upper.group(2)}"
    else:
        parts: list[str] = []
        if lower:
            parts.append(f"{lower.group(2)} and later" if lower.group(1) else f"after {lower.group(2)}")
        if upper:
            parts.append(f"{upper.group(2)} and earlier" if upper.group(1) else f"before {upper.group(2)}")
        shown = ", ".join(parts) or "every release"
    return shown + (f", not {', '.join(without)}" if without else "")
