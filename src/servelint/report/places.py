"""Paths, columns and fingerprints as the tools that read reports count them."""

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
    """Return a path relative to the current folder where it lies below it, without `./` and with slashes only."""
    if not path.isprintable():
        path = "".join([escape(char) if _is_no_path(char) else char for char in path])
    if os.path.isabs(path):
        below = os.path.relpath(path)
        path = path if below == os.pardir or below.startswith(os.pardir + os.sep) else below
    return os.path.normpath(path).replace(os.sep, "/")


def _is_no_path(char: str) -> bool:
    """Return whether no file name can have a character; the path then comes from a text, such as escapes in YAML."""
    return char == "\0" or "\ud800" <= char < "\udc80" or "\udcff" < char <= "\udfff"


def utf16(text: str) -> int:
    """Return how many UTF-16 code units a text takes."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


def utf8(text: str) -> int:
    """Return how many bytes a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def position(source: Source, offset: int, length: Callable[[str], int]) -> tuple[int, int]:
    """Return the 1-based line and column of an offset, the column in the units of `length` (`utf8`, `utf16`)."""
    line, column = source.position(offset)
    return line, length(source.text[offset - column + 1 : offset]) + 1


def numbered(findings: Iterable[Finding]) -> Iterator[tuple[Finding, int]]:
    """Yield each finding and its number, from 1, among those with the same fingerprint."""
    seen: dict[str, int] = {}
    for finding in findings:
        seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        yield finding, seen[finding.fingerprint]


def own(fingerprint: str, number: int) -> str:
    """Return a fingerprint that no other finding of the report has, from the number that `numbered` gives."""
    return fingerprint if number == 1 else hashlib.sha256(f"{fingerprint}:{number}".encode()).hexdigest()[:16]


def printable(finding: Finding) -> bool:
    """Return whether the text of a finding's fix may be printed: it writes no secret."""
    edits = finding.fix.edits if finding.fix is not None else []
    secrets = {secret for span in (finding.span, *[edit.span for edit in edits]) for secret in span.source.redactions.values}
    return not any(holds_secret(edit.text, tuple(secrets)) for edit in edits)
