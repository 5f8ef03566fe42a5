"""An entry of a baseline: a finding by what it is, not by the line that it is on."""

from __future__ import annotations

import hashlib
import os

from servelint.core.finding import Finding
from servelint.core.secrets import masked_span
from servelint.core.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

_TEXT_AT_MOST = 200


class Entry:
    """A finding that is accepted.

    rule, launch: the rule's id, and the name of the launch in its file, which may be empty
    path:    from the folder of the baseline, with slashes
    text:    the characters that the finding points at, secrets masked; of long ones the beginning and a hash
    count:   how many findings of the launch are alike in all this
    reason:  why it is accepted;  expires: the last day on which it is
    span:    where its path stands in the file of the baseline;  expires_span: where the day does
    """

    __slots__ = ("count", "expires", "expires_span", "launch", "path", "reason", "rule", "span", "text")

    def __init__(
        self,
        rule: str,
        path: str,
        launch: str,
        text: str,
        *,
        count: int = 1,
        reason: str = "",
        expires: date | None = None,
        span: Span | None = None,
        expires_span: Span | None = None,
    ) -> None:
        self.rule = rule
        self.path = path
        self.launch = launch
        self.text = text
        self.count = count
        self.reason = reason
        self.expires = expires
        self.span = span
        self.expires_span = expires_span

    def __repr__(self) -> str:
        return f"Entry({self.rule} {self.path} {self.launch!r} {self.text!r}, {self.count})"

    @property
    def site(self) -> Span:
        """Where its path stands. Raises ValueError for an entry that was not read from a file."""
        if self.span is None:
            raise ValueError(f"{self!r} is in no file")
        return self.span

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.path, self.rule, self.launch, self.text

    @property
    def what(self) -> tuple[str, str, str]:
        """The finding wherever it is."""
        return self.rule, self.launch, self.text


def of(finding: Finding, folder: str) -> Entry:
    """The entry that a finding makes in a baseline in a folder."""
    name = finding.launch.name if finding.launch is not None else ""
    return Entry(finding.rule, place(finding.span.source.path, folder), name, _text(finding.span))


def place(path: str, folder: str) -> str:
    """A path as a baseline in a folder writes it."""
    return os.path.relpath(os.path.realpath(path), os.path.realpath(folder)).replace(os.sep, "/")


def _text(span: Span) -> str:
    text = "\n".join(masked_span(span).splitlines())
    if len(text) <= _TEXT_AT_MOST:
        return text
    return f"{text[:_TEXT_AT_MOST]} sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"
