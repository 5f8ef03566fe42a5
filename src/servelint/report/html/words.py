"""What the page calls things, for readers who know no rule."""

from __future__ import annotations

DOES = {
    "wrong-output": "answers wrongly",
    "crash-at-start": "does not start",
    "crash-at-load": "stops while it loads",
    "crash-at-runtime": "stops while it serves",
    "out-of-memory": "runs out of memory",
    "security": "is a security risk",
    "silently-ignored": "ignores a setting",
    "performance-loss": "is slower than it could be",
    "deprecated": "breaks with a later release",
    "best-practice": "departs from good practice",
}
"""impact -> what the launch does."""

SEVERITIES = {"error": ("error", "errors"), "warning": ("warning", "warnings"), "info": ("note", "notes")}
"""severity -> one of them, several of them; the worst first."""

MEMORY = {
    "fits": ("fine", "fits"),
    "tight": ("warning", "tight: it may not start"),
    "refused": ("error", "does not start"),
    "oom-risk": ("error", "may run out of memory after its own check"),
}
"""verdict of a memory plan that is known -> how it looks, what it says."""

NAMED_BY = {"image": "named by the image", "pip": "named by pip install", "settings": "named by the settings"}
"""What says which release a launch runs on."""


def impact_name(impact: str) -> str:
    return DOES.get(impact, impact)


def listed(parts: list[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
