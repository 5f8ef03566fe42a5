"""A finding: which rule, where, why it is true here, and what to write instead."""

from __future__ import annotations

from servelint.core.launch import Launch, Word
from servelint.core.secrets import masked_span
from servelint.core.source import Span
from servelint.core.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEVERITIES = ("info", "warning", "error")
"""The mildest first."""

IMPACTS = (
    "wrong-output",
    "crash-at-start",
    "crash-at-runtime",
    "out-of-memory",
    "security",
    "silently-ignored",
    "performance-loss",
    "deprecated",
    "best-practice",
)
"""What happens to a launch, the worst first."""


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


class Effect:
    """The words and variables of a launch as a fix leaves them. Starts as they are; each change is noted with the edit."""

    __slots__ = ("_added", "_before", "_dropped", "_env", "_objects", "_replaced", "goes_on", "launch")

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.goes_on = False  # whether more words follow, which did not belong to it
        self._dropped: set[int] = set()
        self._added: dict[int, list[str]] = {}  # after a word
        self._before: dict[int, list[str]] = {}
        self._objects: dict[int, tuple[str, Any]] = {}
        self._replaced: list[tuple[Span, str]] = []
        self._env: dict[str, str | None] = {}  # name -> another name, None for a variable that goes

    def drop(self, words: list[Word]) -> None:
        self._dropped |= {id(word) for word in words}

    def add(self, word: Word, texts: list[str], *, before: bool = False) -> None:
        """Words that come after a word, or before it."""
        found = self._before if before else self._added
        found[id(word)] = [*found.get(id(word), []), *texts]

    def replace(self, span: Span, text: str) -> None:
        """Characters of words or variables, wherever they are used."""
        self._replaced.append((span, text))

    def object(self, word: Word, prefix: str, value: Any) -> None:
        """The JSON value of a word, after a prefix (`--option=`)."""
        self._objects[id(word)] = prefix, value

    def rename(self, name: str, other: str | None) -> None:
        """A variable that gets another name, or goes."""
        self._env[name] = other

    def holds(self, other: Launch) -> bool:
        """Whether a launch, read from the changed file, is what this says."""
        expected: list[tuple[str, Any] | str] = []
        for word in self.launch.argv:
            expected += self._before.get(id(word), [])
            if id(word) not in self._dropped:
                expected.append(self._objects.get(id(word)) or self._shown(word.text))
            expected += self._added.get(id(word), [])
        found = [word.shown for word in other.argv]
        if self.goes_on:
            found = found[: len(expected)]
        if len(found) != len(expected) or not all(map(_same, expected, found)):
            return False
        return self._variables() == variables(other)

    def _variables(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for name, variable in self.launch.env.items():
            other = self._env.get(name, name)
            if other is not None:
                found[other] = self._shown(variable.value) if variable.value is not None else None
        return found

    def _shown(self, text: Text) -> str:
        parts: list[str] = []
        for piece in text.pieces:
            shown = piece.text if piece.expression is None else piece.shown or ""
            span = piece.span
            if piece.verbatim and piece.expression is None and span is not None:
                inside = [(place, new) for place, new in self._replaced if place.source is span.source]
                inside = [(place, new) for place, new in inside if span.start <= place.start and place.end <= span.end]
                for place, new in sorted(inside, key=lambda one: -one[0].start):
                    shown = shown[: place.start - span.start] + new + shown[place.end - span.start :]
            parts.append(shown)
        return "".join(parts)


def variables(launch: Launch) -> dict[str, str | None]:
    return {name: variable.value.shown if variable.value is not None else None for name, variable in launch.env.items()}


def _same(expected: tuple[str, Any] | str, shown: str) -> bool:
    if isinstance(expected, str):
        return expected == shown
    prefix, value = expected
    if not shown.startswith(prefix):
        return False
    try:
        import json  # a check without fixes asks for none

        found = json.loads(shown.removeprefix(prefix))
    except ValueError:
        return False
    return bool(found == value)
