"""A complaint: one thing that a release refuses, ignores or warns of, before a rule makes a finding of it."""

from __future__ import annotations

from servelint.core.finding import Related
from servelint.core.source import Span
from servelint.fixes.change import Change

REFUSED = frozenset(
    (
        "unknown-option",
        "removed-option",
        "option-not-yet",
        "option-of-other-engine",
        "ambiguous-option",
        "missing-value",
        "unexpected-value",
        "unexpected-argument",
        "one-word",
        "missing-argument",
        "exclusive-options",
        "refused-option",
        "invalid-choice",
        "invalid-value",
        "malformed-json",
        "unknown-json-key",
        "invalid-json-value",
    )
)
"""Rules whose complaints keep the engine from starting."""

BROKEN = frozenset(("command-cut-short", "unreadable-env-value"))
"""Rules whose complaints leave an engine that starts without what was written, or that ends once it has started."""

NEW_IN_FORKS = frozenset(("unknown-option", "unknown-json-key", "ignored-json-key", "unknown-env"))
"""Rules whose complaints an engine that somebody changed may not deserve, since it may know more."""

OF_FORKS = NEW_IN_FORKS | frozenset(
    ("removed-env", "env-not-yet", "env-of-other-engine", "deprecated-env", "deprecated-option")
)
"""The same where its release is not known either: it may also have kept what has gone."""


class Complaint:
    """rule: the name of a rule of rules/catalog/;  span: None if it is about the whole launch

    new:  what it is about is in no release and no engine that is known: it may be in the next release, or in a fork
    variable: the name of the environment variable that it is about
    change: what removes it, if there is one right answer, and its title (else the advice)
    safe: the launch means the same afterwards, or was refused and can have meant nothing else
    """

    __slots__ = ("advice", "change", "label", "message", "new", "related", "rule", "safe", "span", "title", "variable")

    def __init__(
        self,
        rule: str,
        span: Span | None,
        message: str,
        advice: str,
        label: str = "",
        *,
        related: list[Related] | None = None,
        change: Change | None = None,
        title: str = "",
        safe: bool = False,
        variable: str = "",
        new: bool = False,
    ) -> None:
        self.rule = rule
        self.span = span
        self.message = message
        self.advice = advice
        self.label = label
        self.related = related or []
        self.change = change
        self.title = title
        self.safe = safe
        self.new = new
        self.variable = variable

    @property
    def refused(self) -> bool:
        return self.rule in REFUSED

    def without_fix(self) -> Complaint:
        return Complaint(
            self.rule,
            self.span,
            self.message,
            self.advice,
            self.label,
            related=self.related,
            variable=self.variable,
            new=self.new,
        )
