"""Messages out of a stream of bytes: each with a header that tells its length, and some with one that tells it wrong."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LONGEST = 64 << 20
"""Bytes (64 MiB). What says that it is longer is no message."""

_LENGTH = re.compile(rb"(?i)Content-Length:[ \t]*(\d+)[ \t]*\r?\n")
_NAME = b"Content-Length:"
_END = re.compile(rb"\r?\n\r?\n")
_HEADER_AT_MOST = 4096


def _next(body: bytes) -> int:
    """Where a header starts, perhaps only its first characters at the end."""
    start = body.find(_NAME)
    count = next(count for count in range(len(_NAME), -1, -1) if body.endswith(_NAME[:count]))
    return start if start != -1 else len(body) - count


class Broken:
    """Bytes that were to be a message and are no JSON."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


class Frames:
    """Takes bytes as they come and gives messages as data.

    A length that is too short or too long costs the message that it belongs to: the next header is looked for.
    """

    __slots__ = ("_buffer", "_wanted")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None

    def feed(self, data: bytes) -> Iterator[Any | Broken]:
        """The messages that are complete with these bytes."""
        self._buffer += data
        while self._wanted is not None or self._header():
            length = self._wanted or 0
            if len(self._buffer) < length:
                return
            body = bytes(self._buffer[:length])
            del self._buffer[:length]
            self._wanted = None
            yield self._read(body)

    def _header(self) -> bool:
        """Whether the buffer starts with a message now; what is before its header is left out."""
        while (found := _LENGTH.search(self._buffer)) is not None:
            end = _END.search(self._buffer, found.end() - 2)
            if end is None:
                if len(self._buffer) - found.end() > _HEADER_AT_MOST:
                    del self._buffer[: found.end()]
                    continue
                return False
            length = int(found.group(1)) if len(found.group(1)) < 12 else LONGEST + 1
            del self._buffer[: end.end()]
            if length <= LONGEST:
                self._wanted = length
                return True
        if len(self._buffer) > _HEADER_AT_MOST:
            del self._buffer[:-64]
        return False

    def _read(self, body: bytes) -> Any | Broken:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            # a length that is too long takes some of the next message; one that is too short leaves a rest
            self._buffer[:0] = body[_next(body) :]
            return Broken(f"{type(error).__name__}: {error}")
