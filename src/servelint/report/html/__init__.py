"""One page for people: a summary, a card for each launch, findings with their code, filters. It loads nothing from anywhere."""

from __future__ import annotations

from servelint.linter import Report
from servelint.report.html.page import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.report.html.launches import Versions


def render(report: Report, folders: tuple[str, ...] = (), versions: Versions = lambda _: {}) -> str:
    """The page. folders: those of users' rules; versions: path -> the releases of the engines where a file does not say"""
    return page(report, folders, versions)
