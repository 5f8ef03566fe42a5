"""What a user asks of a check beside the files themselves."""

from __future__ import annotations


class Settings:
    """select, ignore:    rule ids, areas (`vllm/*`) or single names; empty select means all
    severity:          findings below it are not reported
    engine_versions:   engine -> release, used where a file does not say
    """

    __slots__ = ("engine_versions", "ignore", "select", "severity")

    def __init__(
        self,
        select: tuple[str, ...] = (),
        ignore: tuple[str, ...] = (),
        severity: str = "info",
        engine_versions: dict[str, str] | None = None,
    ) -> None:
        self.select = select
        self.ignore = ignore
        self.severity = severity
        self.engine_versions = engine_versions or {}

    def wants(self, rule: str) -> bool:
        """Whether findings of a rule are asked for."""
        if not self.ignore and not self.select:
            return True
        if any(_matches(pattern, rule) for pattern in self.ignore):
            return False
        return not self.select or any(_matches(pattern, rule) for pattern in self.select)


def _matches(pattern: str, rule: str) -> bool:
    if pattern.endswith("*"):
        return rule.startswith(pattern[:-1])
    return pattern == rule or rule.startswith(pattern.rstrip("/") + "/")
