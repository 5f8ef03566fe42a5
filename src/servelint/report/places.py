"""Paths, columns and fingerprints as other people's tools count them."""

from __future__ import annotations

import hashlib
import os

from servelint.core.finding import Finding
from servelint.core.secrets import holds_secret
from servelint.core.source import Source
from servelint.report.clean import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def relative(path: str) -> str:
    """A path as seen from the current folder where it lies below it: no `./`, slashes only."""
    if not path.isprintable():
        path = "".join([escape(char) if _is_none(char) else char for char in path])
    if os.path.isabs(path):
        below = os.path.relpath(path)
        path = path if below == os.pardir or below.startswith(os.pardir + os.sep) else below
    return os.path.normpath(path).replace(os.sep, "/")


def _is_none(char: str) -> bool:
    """Whether no file's name has a character: one that came from a text, such as a path that YAML writes with escapes."""
    return char == "\0" or "\ud800" <= char < "\udc80" or "\udcff" < char <= "\udfff"


def utf16(text: str) -> int:
    """How many UTF-16 code units a text takes."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


def utf8(text: str) -> int:
    """How many bytes a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def position(source: Source, offset: int, length: Callable[[str], int]) -> tuple[int, int]:
    """1-based (line, column) of an offset, the column in what `length` counts."""
    line, column = source.position(offset)
    return line, length(source.text[offset - column + 1 : offset]) + 1


def numbered(findings: Iterable[Finding]) -> Iterator[tuple[Finding, int]]:
    """Each finding and the how manieth it is, from 1, of those with its fingerprint."""
    seen: dict[str, int] = {}
    for finding in findings:
        seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        yield finding, seen[finding.fingerprint]


def own(fingerprint: str, number: int) -> str:
    """A fingerprint that no other finding of the report has."""
    return fingerprint if number == 1 else hashlib.sha256(f"{fingerprint}:{number}".encode()).hexdigest()[:16]


def printable(finding: Finding) -> bool:
    """Whether what a finding's fix writes may be printed: it writes no secret."""
    edits = finding.fix.edits if finding.fix is not None else []
    secrets = {secret for span in (finding.span, *[edit.span for edit in edits]) for secret in span.source.redactions.values}
    return not any(holds_secret(edit.text, tuple(secrets)) for edit in edits)
