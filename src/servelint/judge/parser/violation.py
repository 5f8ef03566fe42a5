"""A violation: one thing that a release refuses, ignores or warns of, before a rule makes a finding of it."""

from __future__ import annotations

from copy import copy

from servelint.core.finding import Related
from servelint.core.source import Span
from servelint.fixes.change import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Options = dict[str, dict[str, Any]]
    """Violation -> the options of its rule, as settings have them."""

REFUSED = frozenset(
    (
        *("unknown-option", "removed-option", "option-not-yet", "option-of-other-engine", "ambiguous-option", "refused-option"),
        *("missing-value", "unexpected-value", "unexpected-argument", "one-word", "missing-argument", "exclusive-options"),
        *("invalid-choice", "invalid-value", "malformed-json", "unknown-json-key", "invalid-json-value"),
        *("given-twice", "refused-env-value"),
    )
)
"""Rules whose violations keep the engine from starting."""

UNKNOWN_WORDS = frozenset(
    ("unknown-option", "removed-option", "option-not-yet", "option-of-other-engine", "ambiguous-option", "unknown-json-key")
)
"""Those of them for which the release lacks a word: it says nothing of the value."""

UNLESS_NEWER = "; it is the same in all earlier releases that are known, and may differ in a newer one"
"""How a message ends where a release after all known ones may run."""

BROKEN = frozenset(("command-cut-short", "unreadable-env-value"))
"""Rules whose violations let the engine start without what was written, or end once it has started."""

NEW_IN_FORKS = frozenset(("unknown-option", "unknown-json-key", "ignored-json-key", "unknown-env"))
"""Rules that may be wrong about a changed engine, which may know more than the published one."""

OF_FORKS = NEW_IN_FORKS | {"removed-env", "env-not-yet", "env-of-other-engine", "deprecated-env", "deprecated-option"}
"""The same for a changed engine of an unknown release, which may also have kept what the published one removed."""

OF_BUILDS = UNKNOWN_WORDS | {"unexpected-argument", "unexpected-value", "missing-value", "invalid-choice"}
"""Rules about words of which a build that is not known, or a fork's, may know more."""

VALUES_OF_FORKS = frozenset(("invalid-choice", "invalid-json-value"))
"""Rules about values that a changed engine may have beside the published ones: no errors there."""


class Violation:
    """One violation, with its place and its repair.

    Attributes:
        rule: the name of a rule of rules/catalog/ or rules/container/, without the engine.
        span: where it is; None if it is about the whole launch.
        message: what is wrong.
        advice: what to write instead.
        label: a few words at the span.
        related: other places that explain it.
        change: what removes it, if there is one right answer.
        title: a title of the change; the advice if it is empty.
        safe: whether the launch means the same after the change, or was refused and could mean nothing else.
        variable: the name of the environment variable that it is about.
        new: whether its subject is in no known release of any engine, so that the next release or a fork may have it.
        mild: whether it is a warning at most.
    """

    __slots__ = ("advice", "change", "label", "message", "mild", "new", "related", "rule", "safe", "span", "title", "variable")

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
        mild: bool = False,
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
        self.mild = mild
        self.variable = variable

    @property
    def refused(self) -> bool:
        """Whether it keeps the engine from starting."""
        return self.rule in REFUSED

    def without_fix(self) -> Violation:
        """The same violation without its change."""
        bare = copy(self)
        bare.change, bare.title, bare.safe = None, "", False
        return bare

    def as_warning(self) -> Violation:
        """The same violation where it is a warning at most."""
        mild = copy(self)
        mild.mild = True
        return mild

    def unless_newer(self) -> Violation:
        """The same violation where a release after all known ones may run, which may have what they lack."""
        doubtful = self.as_warning()
        doubtful.message = self.message + UNLESS_NEWER
        return doubtful


def allowed(options: Options, violation: str, value: str) -> bool:
    """Whether the option `allow` of a violation's rule has a pattern (`*` and `?` as wildcards) that is the whole value."""
    patterns = options.get(violation, {}).get("allow", ())
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    return any(fnmatchcase(value, pattern) for pattern in patterns)
