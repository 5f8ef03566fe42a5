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
        "The comment names an unknown rule, or one that finds nothing at this place: it would hide the next finding.",
    ),
    GPU_COMMENT: OwnRule(
        "warning",
        "A GPU comment that names no GPU, or speaks for no launch",
        "The comment has a name or a number that servelint does not understand, stands where no launch is, or says another GPU"
        " than the file itself: what depends on the GPU is judged without it. It stands on a line of a launch, or alone on the"
        " line above it: # servelint: gpu=h100-80gb gpu-count=2",
    ),
    STALE_ENTRY: OwnRule(
        "warning",
        "An entry of the baseline whose finding is gone",
        "The finding was mended, or its file was deleted. The entry would hide it if it came back: delete the entry, or write"
        " the baseline anew with --write-baseline, which keeps the reasons of the others.",
    ),
    MOVED_ENTRY: OwnRule(
        "info",
        "An entry of the baseline whose finding is in another place",
        "The file or the launch has another name now, and the same finding: it stays accepted. Write the baseline anew with"
        " --write-baseline, so that the entry names the place.",
    ),
    UNKNOWN_RELEASE: OwnRule(
        "warning",
        "A release of an engine that servelint does not know",
        "The release is newer or older than all that servelint knows, a pre-release, a build of someone's own, or mistyped:"
        " then its image or package does not exist. The launch is judged as the nearest known release. Of two neighbours, only"
        " what holds for both is reported. The findings say so. What is probably mistyped is a warning, the rest is a note.",
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
