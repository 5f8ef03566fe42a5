"""A finding: which rule, where, why it is true here, and what to write instead."""

from __future__ import annotations

from servelint.core.launch import Launch
from servelint.core.secrets import masked_span
from servelint.core.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.effect import Effect


SEVERITIES = ("info", "warning", "error")
"""The mildest first."""

IMPACTS = (
    "wrong-output",
    "crash-at-start",
    "crash-at-load",
    "crash-at-runtime",
    "out-of-memory",
    "security",
    "silently-ignored",
    "performance-loss",
    "deprecated",
    "best-practice",
)
"""What happens to a launch, the worst first.

crash-at-start: argument parsing, configuration or the orchestrator refuses it before anything is loaded.
crash-at-load: the workers, the model or the memory refuse it later, before it serves.
crash-at-runtime: it starts, and dies or fails requests while it serves.
"""


class Related:
    """Another place that makes a finding true, and what it is."""

    __slots__ = ("message", "span")

    def __init__(self, span: Span, message: str) -> None:
        self.span = span
        self.message = message


class Edit:
    """Replace the characters of a span by a text."""

    __slots__ = ("span", "text")

    def __init__(self, span: Span, text: str) -> None:
        self.span = span
        self.text = text


class Fix:
    """Edits that remove a finding.

    safe:   the launch does the same as before, or what the engine already makes of it, or what alone it can have meant
    note:   what else comes with it;  effect: what the launch is to be afterwards, None where nobody says
    """

    __slots__ = ("edits", "effect", "note", "safe", "title")

    def __init__(self, title: str, safe: bool, edits: list[Edit], *, note: str = "", effect: Effect | None = None) -> None:
        self.title = title
        self.safe = safe
        self.edits = edits
        self.note = note
        self.effect = effect


class Finding:
    """rule, severity, confidence, impact: strings as in the rule.

    message:   what is wrong;  advice: what to write instead
    span:      the characters to change;  label: what they are
    release:   the release that it was judged by, None if it holds for whichever it is;  release_from: what names it
    affected:  the releases that the rule holds for, as a PEP 440 range
    launch:    None for a finding on servelint's own comments
    """

    __slots__ = (
        "advice",
        "affected",
        "confidence",
        "evidence",
        "fix",
        "impact",
        "label",
        "launch",
        "message",
        "related",
        "release",
        "release_from",
        "rule",
        "severity",
        "span",
    )

    def __init__(
        self,
        *,
        rule: str,
        severity: str,
        confidence: str,
        impact: str,
        message: str,
        advice: str,
        span: Span,
        label: str = "",
        related: list[Related] | None = None,
        fix: Fix | None = None,
        evidence: list[str] | None = None,
        launch: Launch | None = None,
        release: str | None = None,
        release_from: str | None = None,
        affected: str = "",
    ) -> None:
        self.rule = rule
        self.severity = severity
        self.confidence = confidence
        self.impact = impact
        self.message = message
        self.advice = advice
        self.span = span
        self.label = label
        self.related = related or []
        self.fix = fix
        self.evidence = evidence or []
        self.launch = launch
        self.release = release
        self.release_from = release_from
        self.affected = affected

    def __repr__(self) -> str:
        line, column = self.span.source.position(self.span.start)
        return f"Finding({self.severity}[{self.rule}] {self.span.source.path}:{line}:{column})"

    @property
    def sentence(self) -> str:
        """What is wrong and what to write instead, on one line."""
        return f"{self.message}; {self.advice}" if self.advice else self.message

    @property
    def fingerprint(self) -> str:
        """The same for the same finding on another line: rule, path, launch and the text that it points at.

        Of a secret only its mask counts: whoever has a report could try out what else makes the same fingerprint.
        """
        import hashlib  # only reports ask for it

        name = self.launch.name if self.launch is not None else ""
        parts = (self.rule, self.span.source.path, name, masked_span(self.span))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
