"""Findings on servelint's own comments and baselines. No rule file makes them."""

from __future__ import annotations

from servelint.core.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.settings import Settings
    from servelint.core.source import Span

UNUSED_IGNORE = "servelint/unused-ignore"
GPU_COMMENT = "servelint/gpu-comment"
STALE_ENTRY = "servelint/stale-baseline-entry"
MOVED_ENTRY = "servelint/moved-baseline-entry"
UNKNOWN_RELEASE = "servelint/unknown-release"


class OwnRule:
    """A rule without a rule file.

    Attributes:
        severity: Unless the settings say another.
        title, why: As in a rule file.
    """

    __slots__ = ("severity", "title", "why")

    def __init__(self, severity: str, title: str, why: str) -> None:
        self.severity = severity
        self.title = title
        self.why = why


OWN = {
    UNUSED_IGNORE: OwnRule(
        "warning",
        "An ignore comment that silences nothing",
        "The comment names an unknown rule, or a rule without a finding at this place. It would hide the next finding.",
    ),
    GPU_COMMENT: OwnRule(
        "warning",
        "A GPU comment without a GPU or without a launch",
        "The comment has a name or a number that servelint does not understand, has no launch, or names another GPU than the"
        " file itself. So servelint judges without it. Write it on a line of a launch, or alone on the line above:"
        " # servelint: gpu=h100-80gb gpu-count=2",
    ),
    STALE_ENTRY: OwnRule(
        "warning",
        "A baseline entry without a finding",
        "The finding was fixed, or its file was deleted. The entry would hide the finding if it came back. Delete the entry, or"
        " update the baseline with --write-baseline, which keeps the reasons of the others.",
    ),
    MOVED_ENTRY: OwnRule(
        "info",
        "A baseline entry whose finding moved",
        "The file or the launch was renamed and has the same finding, so the finding stays known. Update the baseline with"
        " --write-baseline.",
    ),
    UNKNOWN_RELEASE: OwnRule(
        "warning",
        "A release of an engine that servelint does not know",
        "The release is newer or older than every known release, a pre-release, a custom build, or mistyped. servelint judges"
        " the launch as the nearest known release, and the findings say so. Between two known releases, it reports only what"
        " holds for both. A release that is probably mistyped is a warning, because its image or package does not exist. The"
        " other cases are notes.",
    ),
}
"""rule id -> what there is to say of it"""


def finding(rule: str, span: Span, message: str, advice: str, settings: Settings | None = None) -> Finding:
    """Make a finding of one of these rules; `settings` may give the rule another severity."""
    severity = OWN[rule].severity
    return Finding(
        rule=rule,
        severity=settings.of_rule(rule).get("severity", severity) if settings is not None else severity,
        confidence="high",
        impact="best-practice",
        message=message,
        advice=advice,
        span=span,
    )
