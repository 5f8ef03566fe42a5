"""Images of products that hold an engine behind a program of their own, whose launches servelint does not judge."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.core.data import load_data


class Product:
    """A product whose images serve models.

    Attributes:
        name: as its developers write it.
        image: pattern of the end of the repository's name.
        words: parts of the name, in lower case, one of which every such image has; given with spaces between them.
        why: what keeps a launch from being judged, as the rest of a sentence that begins with the product's name.
        source: address of the page or file that says it.
        tags: pattern of the tags, "" for all.
    """

    __slots__ = ("image", "name", "source", "tags", "why", "words")

    def __init__(self, name: str, image: str, words: str, why: str, source: str, tags: str = "") -> None:
        self.name = name
        self.image = image
        self.words = words.split()
        self.why = why
        self.source = source
        self.tags = tags


PRODUCTS = tuple([Product(**one) for one in load_data("engines/data/products.json")])


@lru_cache(maxsize=64)
def product(name: str) -> Product | None:
    """Return the product that an image holds. name: as a file writes it, with a HOLE for each unknown part."""
    whole, _, _digest = name.partition("@")
    cut = whole.rfind(":", whole.rfind("/") + 1)
    repository, tag = (whole, "") if cut == -1 else (whole[:cut], whole[cut + 1 :])
    lower = repository.lower()
    for one in PRODUCTS:
        if (
            any(word in lower for word in one.words)
            and re.search(rf"(?:^|[^\w.-]){one.image}$", repository, re.IGNORECASE) is not None
            and re.search(one.tags, tag) is not None
        ):
            return one
    return None
