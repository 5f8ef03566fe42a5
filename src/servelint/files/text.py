"""Decoding a file's bytes."""

from __future__ import annotations

import codecs

from servelint.core.problem import Problem
from servelint.core.source import Source


def decode_text(path: str, data: bytes) -> Source | Problem | None:
    """The text of a file's bytes (UTF-8, or UTF-16 with a byte order mark); None for a binary file."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return Source(path, data.decode("utf-16"), "utf-16")
        except UnicodeDecodeError as error:
            return _not_valid(path, "UTF-16", data[: error.start].decode("utf-16"), data[error.start])
    if b"\0" in data:
        return None
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return Source(path, body.decode(), "utf-8" if len(body) == len(data) else "utf-8-sig")
    except UnicodeDecodeError as error:
        return _not_valid(path, "UTF-8", body[: error.start].decode(), body[error.start])


def _not_valid(path: str, encoding: str, before: str, byte: int) -> Problem:
    line, column = Source(path, before).position(len(before))
    return Problem(path, f"not valid {encoding}: byte 0x{byte:02x}", line, column)
