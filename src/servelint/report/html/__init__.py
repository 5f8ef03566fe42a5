"""One page for people: a summary, a card for each launch, findings with their code, filters. It loads nothing from anywhere."""

from __future__ import annotations

from servelint.core.result import Report
from servelint.report.html.page import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.core.trust import RuleFolder
    from servelint.report.html.launches import Versions
    from servelint.report.html.memory import Plans


def render(
    report: Report, folders: tuple[str | RuleFolder, ...] = (), versions: Versions = lambda _: {}, plans: Plans = lambda _: None
) -> str:
    """The page.

    folders:  those of users' rules;  versions: path -> the releases of the engines where a file does not say
    plans:    the memory plan of a launch, which is drawn; None for one that has none
    """
    return page(report, folders, versions, plans)
