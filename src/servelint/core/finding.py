"""A finding: which rule, where, why it holds, and what to write instead; and what its fix makes of the launch."""

from __future__ import annotations

from servelint.core.launch import Branch, Launch, Word
from servelint.core.secrets import masked_span
from servelint.core.source import Span
from servelint.core.text import TracedText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEVERITIES = ("info", "warning", "error")
"""The mildest first."""

IMPACTS = (
    "wrong-output", "crash-at-start", "crash-at-load", "crash-at-runtime", "out-of-memory", "security", "silently-ignored",
    "performance-loss", "deprecated", "best-practice",
)  # fmt: skip
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

    Attributes:
        title: What the fix does, for an editor's menu.
        safe: Whether the launch does the same as before, or what the engine makes of it already, or the only thing it can mean.
        edits: The edits.
        note: What else changes with them.
        effect: The launch as it must be afterwards; None where the fix does not state it.
    """

    __slots__ = ("edits", "effect", "note", "safe", "title")

    def __init__(self, title: str, safe: bool, edits: list[Edit], *, note: str = "", effect: Effect | None = None) -> None:
        self.title = title
        self.safe = safe
        self.edits = edits
        self.note = note
        self.effect = effect


class Finding:
    """What a rule says of a launch.

    Attributes:
        rule, severity, confidence, impact: As in the rule.
        message: What is wrong.
        advice: What to write instead.
        span: The characters to change.
        label: What those characters are.
        related: Other places that make the finding true.
        fix: Edits that remove it; None where there are none.
        evidence: Links.
        launch: The launch; None for a finding on servelint's own comments.
        release: The release that it was judged by; None if it holds for every release that may run.
        release_from: What names that release.
        affected: The releases that the rule holds for, as a PEP 440 range.
        assumption: A sentence where the launch names a release that servelint does not know: how it was judged.
        branches: The undecided conditions of a script that must have these outcomes; empty if it holds whatever they are.
    """

    __slots__ = (
        "advice", "affected", "assumption", "branches", "confidence", "evidence", "fix", "impact", "label", "launch", "message",
        "related",
        "release", "release_from", "rule", "severity", "span",
    )  # fmt: skip

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
        self.assumption = ""
        self.branches: tuple[Branch, ...] = ()

    def __repr__(self) -> str:
        line, column = self.span.source.position(self.span.start)
        return f"Finding({self.severity}[{self.rule}] {self.span.source.path}:{line}:{column})"

    @property
    def statement(self) -> str:
        """What is wrong, with the branches of a script that must be taken for it."""
        if not self.branches:
            return self.message
        ways = {taken: sorted({one.span.line for one in self.branches if one.taken == taken}) for taken in (True, False)}
        said = [_branches(lines, "" if taken else "not ") for taken, lines in ways.items() if lines]
        return f"{self.message}, if {' and '.join(said)}"

    @property
    def sentence(self) -> str:
        """What is wrong and what to write instead, on one line."""
        return f"{self.statement}; {self.advice}" if self.advice else self.statement

    @property
    def fingerprint(self) -> str:
        """A hash of rule, path, launch name and text, which stays the same when the finding moves to another line.

        A secret enters it by its mask only, so that a report does not let its readers test guesses of the secret.
        """
        import hashlib  # only reports ask for it

        name = self.launch.name if self.launch is not None else ""
        parts = (self.rule, self.span.source.path, name, masked_span(self.span))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _branches(lines: list[int], way: str) -> str:
    if len(lines) == 1:
        return f"the branch at line {lines[0]} is {way}taken"
    return f"the branches at lines {', '.join([str(line) for line in lines])} are {way}taken"


class Effect:
    """The words and variables of a launch as a fix leaves them, noted edit by edit, to be compared with the file read again."""

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
        """Note that words go."""
        self._dropped |= {id(word) for word in words}

    def add(self, word: Word, texts: list[str], *, before: bool = False) -> None:
        """Note new words after a word, or before it."""
        found = self._before if before else self._added
        found[id(word)] = [*found.get(id(word), []), *texts]

    def replace(self, span: Span, text: str) -> None:
        """Note that characters of words or variables change, wherever they are used."""
        self._replaced.append((span, text))

    def object(self, word: Word, prefix: str, value: Any) -> None:
        """Note the new JSON value of a word, after a prefix (`--option=`)."""
        self._objects[id(word)] = prefix, value

    def rename(self, name: str, other: str | None) -> None:
        """Note that a variable gets another name; None if it goes."""
        self._env[name] = other

    def holds(self, other: Launch) -> bool:
        """Whether a launch, read from the changed file, has exactly these words and variables."""
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
            if (other := self._env.get(name, name)) is not None:
                found[other] = self._shown(variable.value) if variable.value is not None else None
        return found

    def _shown(self, text: TracedText) -> str:
        parts: list[str] = []
        for piece in text.pieces:
            shown = piece.text if piece.expression is None else piece.shown or ""
            span = piece.span
            if piece.expression is not None:
                shown = next((new for place, new in self._replaced if place == span), shown)
            elif piece.verbatim and span is not None:
                inside = [(place, new) for place, new in self._replaced if place.source is span.source]
                inside = [(place, new) for place, new in inside if span.start <= place.start and place.end <= span.end]
                for place, new in sorted(inside, key=lambda one: -one[0].start):
                    shown = shown[: place.start - span.start] + new + shown[place.end - span.start :]
            parts.append(shown)
        return "".join(parts)


def variables(launch: Launch) -> dict[str, str | None]:
    """The environment of a launch as listings show it: name to value, None for a variable that is only passed through."""
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
