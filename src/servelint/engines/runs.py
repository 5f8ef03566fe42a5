"""Runs of releases: "0.6.0..0.16.0, 0.33.0.." says which of an engine's releases share something.

An open end reaches to the newest release that is known, so that adding a release changes only what it changes.
"""

from __future__ import annotations


def format_runs(indexes: list[int], releases: list[str]) -> str:
    """The runs of sorted positions in the list of releases.

    >>> format_runs([0, 1, 3], ["0.1", "0.2", "0.3", "0.4"])
    '0.1..0.2, 0.4..'
    """
    parts: list[str] = []
    at = 0
    while at < len(indexes):
        end = at
        while end + 1 < len(indexes) and indexes[end + 1] == indexes[end] + 1:
            end += 1
        first, last = indexes[at], indexes[end]
        if last == len(releases) - 1:
            parts.append(releases[first] + "..")
        else:
            parts.append(releases[first] if first == last else f"{releases[first]}..{releases[last]}")
        at = end + 1
    return ", ".join(parts)


def parse_runs(text: str, position: dict[str, int]) -> list[tuple[int, int]]:
    """Inclusive (first, last) positions of each run. Raises KeyError for a release that is not in the list.

    >>> parse_runs("0.1..0.2, 0.4..", {"0.1": 0, "0.2": 1, "0.3": 2, "0.4": 3})
    [(0, 1), (3, 3)]
    """
    runs: list[tuple[int, int]] = []
    for part in text.split(", "):
        first, dots, last = part.partition("..")
        start = position[first]
        runs.append((start, position[last] if last else len(position) - 1 if dots else start))
    return runs
