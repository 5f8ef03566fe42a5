"""TLS from files that are replaced while the server runs, as cert-manager and the kubelet do."""

from __future__ import annotations

import asyncio
import calendar
import logging
import os
import re
import ssl
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logging.getLogger("servelint.admission")
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_VERSION, _GENERALIZED_TIME = 0xA0, 0x18


class CertificateError(Exception):
    """Files that are no certificate and key."""


class Certificate:
    """A certificate chain and its key, both PEM files.

    The context stays the same: connections that are made after a change get the new certificate.
    """

    def __init__(self, chain: str, key: str) -> None:
        """Raises CertificateError."""
        self.chain = chain
        self.key = key
        self._seen = self._state()
        self.context = self._made()

    @property
    def ends(self) -> float:
        """When the certificate ends, in seconds since 1970."""
        return _ends(self.chain)

    def refresh(self) -> bool:
        """Load the files anew if they are not what they were; whether the certificate changed. A pair that does not load is
        left alone, and tried again when it changes: the files are not replaced in one moment."""
        state = self._state()
        if state == self._seen:
            return False
        self._seen = state
        try:
            self._made()  # what is half there must not get into the context that is in use
            self.context.load_cert_chain(self.chain, self.key)
        except (CertificateError, OSError) as error:
            _LOG.error(
                "the certificate was changed and cannot be loaded; the former one is kept", extra={"facts": {"why": str(error)}}
            )
            return False
        _LOG.info("the certificate was changed", extra={"facts": {"ends": _day(self.ends)}})
        return True

    async def watch(self, seconds: float, changed: Callable[[], None]) -> None:
        """Look at the files from time to time."""
        while True:
            await asyncio.sleep(seconds)
            if self.refresh():
                changed()

    def _state(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple([_stat(path) for path in (self.chain, self.key)])

    def _made(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self.chain, self.key, password=_no_password)
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise CertificateError(f"{self.chain} and {self.key} are no certificate and its key: {reason}") from error
        return context


def _no_password() -> str:
    raise ValueError("the key is encrypted; give one that is not")


def _stat(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _ends(path: str) -> float:
    """notAfter of the first certificate in a PEM file (RFC 5280, 4.1.2.5), which Python's ssl tells of a peer's only."""
    with open(path, encoding="ascii", errors="replace") as file:
        match = _PEM.search(file.read())
    try:
        der = ssl.PEM_cert_to_DER_cert(match[0]) if match is not None else b""
        fields = _inside(der, *_inside(der, 0, len(der))[0][1:])
        parts = _inside(der, *fields[0][1:]) if fields else []
        parts = parts[1:] if parts[0][0] == _VERSION else parts
        tag, start, end = _inside(der, *parts[3][1:])[1]
        written = der[start:end].decode("ascii")
        century = "" if tag == _GENERALIZED_TIME else "20" if written < "50" else "19"
        return float(calendar.timegm(time.strptime(century + written, "%Y%m%d%H%M%SZ")))
    except (ValueError, IndexError) as error:
        raise CertificateError(f"{path} holds no certificate") from error


def _inside(der: bytes, start: int, end: int) -> list[tuple[int, int, int]]:
    """(tag, start, end) of each DER value between two offsets."""
    found: list[tuple[int, int, int]] = []
    while start < end:
        tag, length = der[start], der[start + 1]
        start += 2
        if length > 127:
            size = length & 127
            length = int.from_bytes(der[start : start + size], "big")
            start += size
        found.append((tag, start, start + length))
        start += length
    return found


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))
