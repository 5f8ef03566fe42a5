"""A rule as a check needs it."""

from __future__ import annotations

import re

from servelint.rules import ranges
from servelint.rules.condition import Compiled, amount_of, filled, filled_amount, predicate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.data import Lines
    from servelint.engines.config import Config
    from servelint.engines.releases import ReleaseKey
    from servelint.rules.condition import Amount, Predicate

ANY = "any"
"""The engine of a rule that holds for every engine."""

PLACEHOLDER = re.compile(r"\{([\w.-]+)(:,)?\}")
"""What a rule's text prints: {release}, {case}, an operand, one of the rule's values or a field of its check."""

HEAD = ("id", "engine", "profile", "bounds", "needs", "complaint", "options")
"""What decides whether a rule is looked at, by itself in a compiled book."""


class Rule:
    """Fields as in a rule file (schemas/rule.schema.json), with the range and the conditions compiled.

    The fields beyond HEAD are decoded when one of them is asked for.

    Attributes:
        about: "server" if it speaks of the command, of the HTTP server or of what only that has for a default: it says nothing
            of an engine that Python code makes.
        values: the named amounts that the rule's texts print.
        shows: the names of those that its message, advice or fix prints.
        cases: of each case its condition, its text and the names of the values that the text prints.
        holds: its condition `when` as a function of a config, made when it is first asked for.
        exempts: its condition `unless` as one for which an option counts as absent although a word that is not known might
            add it; None if it has none.
    """

    __slots__ = (
        "_body",
        "_made",
        "_whens",
        "about",
        "advice",
        "at",
        "bounds",
        "cases",
        "check",
        "complaint",
        "confidence",
        "engine",
        "evidence",
        "exempts",
        "fix",
        "holds",
        "id",
        "impact",
        "impacts",
        "labels",
        "message",
        "needs",
        "options",
        "profile",
        "severity",
        "shows",
        "title",
        "unless",
        "values",
        "versions",
        "when",
        "written",
    )

    def __init__(
        self, head: dict[str, Any], body: tuple[Lines, int] | None = None, bounds: ranges.Bounds | None = None
    ) -> None:
        """Make a rule of its head, which has all fields if there is no body.

        Args:
            head: what selects the rule.
            body: where its condition is; the other fields are on the next line.
            bounds: its range, where a book has it once for all rules with it.
        """
        self._body: tuple[Lines, int] | dict[str, Any] | None = head if body is None else body
        self.id: str = head["id"]
        self.engine: str = head["engine"]
        self.bounds = ranges.loaded(head["bounds"]) if bounds is None else bounds
        self.options: dict[str, Any] = head.get("options", {})
        self.needs: list[list[str]] = head["needs"]
        self.complaint: str | None = head.get("complaint")
        self.profile: str = head.get("profile", "default")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or (self._body is None and name not in ("holds", "exempts")):
            raise AttributeError(name)
        if name == "when" and isinstance(self._body, tuple) and not self.options:
            self.when: Compiled = self._body[0].load(self._body[1])
        elif name == "holds" and not self.options:
            self.holds: Predicate = predicate(self.when)
        elif self._body is not None:
            self._decode()
        elif name == "holds":
            self.holds = predicate(self.when)
        else:
            self.exempts: Predicate | None = predicate(self.unless, closed=True) if self.unless is not None else None
        return getattr(self, name)

    def _decode(self) -> None:
        body = self._body
        data: dict[str, Any] = body if isinstance(body, dict) else {}
        if isinstance(body, tuple):
            lines, offset = body
            data = {"when": lines.load(offset), **lines.load_next(offset)}
        self._body = None
        self.title: str = data["title"]
        self.severity: str = data["severity"]
        self.confidence: str = data["confidence"]
        self.impact: str = data["impact"]
        self.impacts: list[list[Any]] = data.get("impacts", [])
        self.versions: str = data["versions"]
        self.written = data
        self.when = data["when"]
        self.unless: Compiled | None = data.get("unless")
        self.values: dict[str, Any] = data.get("values", {})
        self.shows: list[str] = data.get("shows", [])
        self.cases: list[list[Any]] = data.get("cases", [])
        self._made: dict[str, Amount] = {}
        self._whens: list[Predicate] = []
        self.about: str | None = data.get("about")
        self.check: str | None = data.get("check")
        self.at: list[str] = data["at"]
        self.labels: dict[str, str] = data.get("labels", {})
        self.message: str = data["message"]
        self.advice: str = data["advice"]
        self.fix: dict[str, Any] | None = data.get("fix")
        self.evidence: list[str] = data["evidence"]
        if self.options:
            self._fill()

    def __repr__(self) -> str:
        return f"Rule({self.id})"

    def impact_on(self, key: ReleaseKey | None) -> str:
        """The impact on a launch under a release; None for an unknown release."""
        for bounds, impact in self.impacts:
            if ranges.contains(ranges.loaded(bounds), key):
                return str(impact)
        return self.impact

    def changed(self, settings: dict[str, Any]) -> Rule:
        """The rule as settings have it: another severity, other values of its options."""
        if not settings:
            return self
        from copy import copy

        if self._body is not None:
            self._decode()
        rule = copy(self)
        rule.severity = settings.get("severity", self.severity)
        rule.options = {name: settings.get(name, value) for name, value in self.options.items()}
        rule._fill()
        return rule

    def _fill(self) -> None:
        """Put the values of its options into its conditions."""
        data = self.written
        self.when = filled(data["when"], self.options)
        self.unless = filled(data["unless"], self.options) if "unless" in data else None
        self.values = {name: filled_amount(one, self.options) for name, one in data.get("values", {}).items()}
        self.cases = [[filled(when, self.options), *rest] for when, *rest in data.get("cases", [])]
        self.holds = predicate(self.when)
        self.exempts = predicate(self.unless, closed=True) if self.unless is not None else None
        self._made, self._whens = {}, []

    def printed(self, names: list[str], config: Config) -> dict[str, Any] | None:
        """The values of some of the named amounts; None if one is unknown."""
        found: dict[str, Any] = {}
        for name in names:
            amount = self._made.get(name)
            if amount is None:
                amount = self._made[name] = amount_of(self.values[name])
            found[name] = amount(config)
            if found[name] is None:
                return None
        return found

    def case_of(self, config: Config) -> tuple[str, dict[str, Any]] | None:
        """The text of the first case that is certainly true and prints nothing unknown, and the values that it prints."""
        if not self._whens:
            self._whens = [predicate(when) for when, _, _ in self.cases]
        for holds, (_, text, names) in zip(self._whens, self.cases, strict=True):
            fields = self.printed(names, config) if holds(config) is True else None
            if fields is not None:
                return text, fields
        return None


def option_fault(default: Any, value: Any) -> str | None:
    """What an option of a rule must be; None if the value has the type of its default."""
    if isinstance(default, list):
        good = isinstance(value, list) and all(isinstance(one, str) for one in value)
        return None if good else 'a list of texts: ["..."]'
    if isinstance(default, (bool, str)):
        kinds = {bool: "true or false", str: "a text"}
        return None if isinstance(value, type(default)) else kinds[type(default)]
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if good else "a number"
