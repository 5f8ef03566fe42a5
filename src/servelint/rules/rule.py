"""A rule as a check needs it."""

from __future__ import annotations

from servelint.rules import ranges
from servelint.rules.condition import Compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEVERITIES = ("info", "warning", "error")


class Rule:
    """Fields as in a rule file (schemas/rule.schema.json), with the range and the conditions compiled."""

    __slots__ = (
        "advice",
        "at",
        "bounds",
        "check",
        "complaint",
        "confidence",
        "engine",
        "evidence",
        "fix",
        "id",
        "impact",
        "labels",
        "message",
        "needs",
        "profile",
        "severity",
        "title",
        "unless",
        "versions",
        "when",
    )

    def __init__(self, data: dict[str, Any]) -> None:
        self.id: str = data["id"]
        self.title: str = data["title"]
        self.severity: str = data["severity"]
        self.confidence: str = data["confidence"]
        self.impact: str = data["impact"]
        self.engine: str = data["engine"]
        self.versions: str = data["versions"]
        self.bounds = ranges.loaded(data["bounds"])
        self.when: Compiled = data["when"]
        self.unless: Compiled | None = data.get("unless")
        self.needs = [frozenset(names) for names in data["needs"]]
        self.check: str | None = data.get("check")
        self.complaint: str | None = data.get("complaint")
        self.at: list[str] = data["at"]
        self.labels: dict[str, str] = data.get("labels", {})
        self.message: str = data["message"]
        self.advice: str = data["advice"]
        self.fix: dict[str, Any] | None = data.get("fix")
        self.evidence: list[str] = data["evidence"]
        self.profile: str = data.get("profile", "default")

    def __repr__(self) -> str:
        return f"Rule({self.id})"
