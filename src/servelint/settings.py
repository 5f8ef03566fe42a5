"""What a user asks of a check beside the files themselves."""

from __future__ import annotations

PROFILES = ("default", "strict", "audit")
"""What is certain and worth stopping for; best practice as well; everything, low confidence too."""


class Settings:
    """select, ignore:    rule ids, areas (`vllm/*`) or single names; empty select means all
    severity:          findings below it are not reported
    engine_versions:   engine -> release, used where a file does not say
    rules:             folders of rules beside servelint's own
    gpu, gpu_count:    the GPUs that a launch runs on, used where a file does not say; gpu as servelint.hardware knows it
    profile:           how much is told: one of PROFILES, each with what stands before it
    """

    __slots__ = ("engine_versions", "gpu", "gpu_count", "ignore", "profile", "rules", "select", "severity")

    def __init__(
        self,
        select: tuple[str, ...] = (),
        ignore: tuple[str, ...] = (),
        severity: str = "info",
        engine_versions: dict[str, str] | None = None,
        profile: str = "default",
        rules: tuple[str, ...] = (),
        gpu: str | None = None,
        gpu_count: int | None = None,
    ) -> None:
        self.select = select
        self.ignore = ignore
        self.severity = severity
        self.engine_versions = engine_versions or {}
        self.profile = profile
        self.rules = rules
        self.gpu = gpu
        self.gpu_count = gpu_count

    def with_release(self, engine: str, release: str) -> Settings:
        """The same, with a release of an engine."""
        versions = {**self.engine_versions, engine: release}
        return Settings(self.select, self.ignore, self.severity, versions, self.profile, self.rules, self.gpu, self.gpu_count)

    def wants(self, rule: str, profile: str = "default") -> bool:
        """Whether findings of a rule are asked for. profile: the rule's own; a rule that is selected by its id needs none"""
        told = profile == "default" or PROFILES.index(profile) <= PROFILES.index(self.profile)
        if not self.ignore and not self.select:
            return told
        if any(_matches(pattern, rule) for pattern in self.ignore):
            return False
        return rule in self.select or (told and (not self.select or any(_matches(pattern, rule) for pattern in self.select)))


def _matches(pattern: str, rule: str) -> bool:
    if pattern.endswith("*"):
        return rule.startswith(pattern[:-1])
    return pattern == rule or rule.startswith(pattern.rstrip("/") + "/")
