"""Whole numbers in texts of unknown origin, and numbers with their nouns in texts of our own."""

from __future__ import annotations

import re

_MOST = 18
_ONE = r"(?<![\w.,/=-])1 ((?:[a-z-]+ )?(?:GPU|block|draft|expert|head|layer|node|pod|rank|replica|request|step|token))s\b"


def is_whole(text: str) -> bool:
    """Whether a text is a whole number of up to 18 ASCII digits: `int` takes more than a program that reads a port or a count.

    >>> [is_whole(one) for one in ("8000", "-1", "8_0", "9" * 5000, "")]
    [True, False, False, False, False]
    """
    return 0 < len(text) <= _MOST and text.isascii() and text.isdecimal()


def whole_number(text: str) -> int | None:
    """The number that a text is; None where `is_whole` says no.

    >>> whole_number("08"), whole_number("-1")
    (8, None)
    """
    return int(text) if is_whole(text) else None


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "launch", "launches"), counted(1204, "launch", "launches")
    ('1 launch', '1,204 launches')
    """
    return f"{number:,} {one if number == 1 else many}"


def singular(text: str) -> str:
    """Return a text with nouns in the singular where their number turned out to be 1.

    >>> singular("needs 1 GPUs and 1 attention heads, not 11 GPUs or 1.1 GPUs")
    'needs 1 GPU and 1 attention head, not 11 GPUs or 1.1 GPUs'
    """
    return re.sub(_ONE, r"1 \1", text) if "1 " in text else text
