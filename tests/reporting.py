"""What a check of one text reports."""

from __future__ import annotations

from servelint.core.finding import Finding
from servelint.core.result import Report
from servelint.core.settings import DEFAULT, Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lint import add_source


def findings_in(text: str, filename: str = "run.sh", settings: Settings = DEFAULT) -> list[Finding]:
    """The findings of a text that stands alone."""
    report = Report()
    add_source(report, Source(filename, text), settings, Neighbours(None))
    assert report.errors == []
    return report.findings


def rules_in(text: str, filename: str = "run.sh", settings: Settings = DEFAULT) -> list[str]:
    """The ids of the rules that these are of."""
    return [one.rule for one in findings_in(text, filename, settings)]
