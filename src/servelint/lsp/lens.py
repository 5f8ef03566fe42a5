"""A line above each launch: the release that it is judged by, what was found, and whether it fits its GPU."""

from __future__ import annotations

from collections import Counter

from servelint.core.finding import SEVERITIES
from servelint.core.source import Span
from servelint.lsp.analysis import Analysis
from servelint.lsp.facts import Here, briefly
from servelint.lsp.memory import names_gpu, plan_here
from servelint.lsp.symbols import first_line
from servelint.memory.plan import MemoryPlan

_VERDICTS = {"fits": "fits", "tight": "tight", "refused": "does not fit", "oom-risk": "may run out of memory"}


class Lens:
    """title: one line;  span: the first line of the launch"""

    __slots__ = ("span", "title")

    def __init__(self, title: str, span: Span) -> None:
        self.title = title
        self.span = span


def lenses(analysis: Analysis) -> list[Lens]:
    """One for each launch that stands in the text."""
    found: list[Lens] = []
    for launch in analysis.launches:
        if launch.site.source is not analysis.source or launch.site.start >= launch.site.end:
            continue
        counts = Counter(finding.severity for finding in analysis.findings if finding.launch is launch)
        parts = [briefly(launch, analysis.settings), _verdict(counts)]
        if not launch.fragment and names_gpu(launch, analysis.settings):
            plan = plan_here(Here(launch, analysis.settings), analysis.settings)
            parts += [_memory(plan)] if plan is not None else []
        found.append(Lens(" \u00b7 ".join(parts), first_line(launch.site)))
    return found


def _verdict(counts: Counter[str]) -> str:
    told = [f"{counts[one]} {_plural(one, counts[one])}" for one in reversed(SEVERITIES) if counts[one]]
    return ", ".join(told) or "nothing found"


def _plural(severity: str, count: int) -> str:
    return severity if count == 1 or severity == "info" else severity + "s"


def _memory(plan: MemoryPlan) -> str:
    verdict = f"{_VERDICTS[plan.verdict]} on {plan.gpu}"
    if plan.verdict in ("fits", "tight") and plan.max_concurrency is not None and plan.max_model_len:
        return f"{verdict} ({plan.max_concurrency:.1f} requests of {plan.max_model_len:,} tokens)"
    return verdict
