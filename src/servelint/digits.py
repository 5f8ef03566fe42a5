"""Whole numbers in texts that anybody may have written."""

from __future__ import annotations

_DIGITS_AT_MOST = 18


def whole_number(text: str) -> int | None:
    """The number that a text of decimal digits is; None for any other, and for one that nothing can be counted to.

    str.isdigit takes a superscript two, and int refuses it; int also refuses more than 4,300 digits.

    >>> whole_number("08"), whole_number("\\u00b2"), whole_number("-1"), whole_number("9" * 19)
    (8, None, None, None)
    """
    return int(text) if 0 < len(text) <= _DIGITS_AT_MOST and text.isascii() and text.isdecimal() else None
