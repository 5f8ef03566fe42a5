"""What one release changes against another, for people."""

from __future__ import annotations

from typing import Any


def lines(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """A line for each option, variable and JSON key that came, went or changed."""
    found = [f"{after['engine']} {before['release']} -> {after['release']}"]
    for part, sign in (("options", "--"), ("env", "")):
        found += _part(before.get(part, {}), after.get(part, {}), sign)
    for name in sorted({*before.get("json", {}), *after.get("json", {})}):
        old, new = (snapshot.get("json", {}).get(name, {}).get("keys", {}) for snapshot in (before, after))
        found += _part(old, new, f"--{name} .")
    return found


def _part(before: dict[str, Any], after: dict[str, Any], sign: str) -> list[str]:
    found = [f"  + {sign}{name}" for name in sorted(after.keys() - before.keys())]
    found += [f"  - {sign}{name}" for name in sorted(before.keys() - after.keys())]
    for name in sorted(before.keys() & after.keys()):
        fields = [
            f"{field}: {before[name].get(field)!r} -> {after[name].get(field)!r}"
            for field in sorted({*before[name], *after[name]})
            if before[name].get(field) != after[name].get(field)
        ]
        if fields:
            found.append(f"  ~ {sign}{name} ({'; '.join(fields)})")
    return found
