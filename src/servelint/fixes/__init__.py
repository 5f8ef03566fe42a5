"""Fixes: text edits at spans, made from a rule's `fix`, applied from the end of the file. A file is never serialised anew."""

from __future__ import annotations

from servelint.core.finding import Finding, Fix
from servelint.core.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from servelint.engines.config import Config
    from servelint.fixes.change import Change

__all__ = ["Applied", "apply", "fix_for", "fix_of"]


def fix_for(fix: dict[str, Any], config: Config, at: list[str], fill: Callable[[str], str]) -> Fix | None:
    """A rule's fix at a launch (schemas/rule.schema.json: fix); None where the text to change does not stand in the file.

    Args:
        fix: The rule's `fix`.
        config: The launch as a release reads it.
        at: The operands that the rule points at: new options are written beside them.
        fill: Fills in the placeholders of a text.
    """
    from servelint.fixes.make import of_rule

    return of_rule(fix, config, at, fill)


def fix_of(change: Change | None, config: Config, *, safe: bool, title: str) -> Fix | None:
    """The edits that make a change; None where there is nothing to change, or the file does not show it."""
    if change is None:
        return None
    from servelint.fixes.make import of_change

    return of_change(change, config, safe, title)


class Applied:
    """A source's text after its fixes, and the findings that were fixed."""

    __slots__ = ("findings", "source", "text")

    def __init__(self, source: Source, text: str, findings: list[Finding]) -> None:
        self.source = source
        self.text = text
        self.findings = findings


def apply(source: Source, findings: list[Finding], unsafe: bool) -> Applied:
    """Apply the fixes of a source's findings, from its end; one that overlaps another already taken is left out."""
    taken: list[tuple[int, int, str]] = []
    fixed: list[Finding] = []
    for finding in findings:
        fix = finding.fix
        if fix is None or not (fix.safe or unsafe):
            continue
        wanted = [(edit.span.start, edit.span.end, edit.text) for edit in fix.edits if edit.span.source is source]
        if len(wanted) < len(fix.edits):
            continue
        new = [edit for edit in wanted if edit not in taken]
        if any(start < other_end and other_start < end for start, end, _ in new for other_start, other_end, _ in taken):
            continue
        taken += new
        fixed.append(finding)
    text = source.text
    for start, end, replacement in sorted(taken, reverse=True):
        text = text[:start] + replacement + text[end:]
    return Applied(source, text, fixed)
