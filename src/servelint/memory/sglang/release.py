"""A release of SGLang to compare with: the arithmetic of memory changed often, and never back."""

from __future__ import annotations

from functools import lru_cache

from servelint.engines.releases import ReleaseKey, release_key


class Release:
    """name: as PyPI has it ("0.5.14"), or one between two of those. Raises ValueError for a text that is no release."""

    __slots__ = ("key", "name")

    def __init__(self, name: str) -> None:
        key = release_key(name)
        if key is None:
            raise ValueError(f"{name!r} is not a release; write 0.5.14")
        self.name = name
        self.key = key

    def since(self, release: str) -> bool:
        """Whether it is that release or a later one."""
        return self.key >= _key(release)


@lru_cache(maxsize=64)
def _key(release: str) -> ReleaseKey:
    return Release(release).key
