"""The suppressions in force, for a person and for programs."""

from __future__ import annotations

from servelint.core.finding import Finding
from servelint.filters.suppressions import Suppression
from servelint.report.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def render(found: list[Suppression]) -> str:
    """Lines for a person, each with its end."""
    if not found:
        return "no suppression is in force\n"
    count = sum(one.trusted for one in found)
    rest = f", {len(found) - count} not trusted" if count < len(found) else ""
    lines = [f"{count} {'suppression is' if count == 1 else 'suppressions are'} in force{rest}:"]
    for one in found:
        place = f"{one.path}:{one.line}:{one.column}" if one.line else one.path
        reason = f" ({one.reason})" if one.reason else ""
        lines.append(clean(f"{place}: {one.kind}: {one.what or 'no rule'}{reason}{_effect(one)}"))
        lines += [
            clean(f"    {_place(finding)}: {finding.severity}[{finding.rule}] {finding.message}")
            for finding in one.hidden or ()
        ]
    return "".join([line + "\n" for line in lines])


def _effect(one: Suppression) -> str:
    if not one.trusted:
        return "; not trusted, so it hides nothing"
    return "; hides nothing" if one.hidden == [] else ""


def _place(finding: Finding) -> str:
    line, column = finding.span.source.position(finding.span.start)
    return f"{finding.span.source.path}:{line}:{column}"


def data(found: list[Suppression]) -> list[dict[str, Any]]:
    """The same for programs; hidden is null where nobody looked for what is hidden."""
    return [
        {
            "kind": one.kind,
            "what": one.what,
            "reason": one.reason,
            "path": one.path if one.line else None,
            "line": one.line or None,
            "column": one.column or None,
            "said_by": None if one.line else one.path,
            "trusted": one.trusted,
            "hidden": None if one.hidden is None else [_finding(finding) for finding in one.hidden],
        }
        for one in found
    ]


def _finding(finding: Finding) -> dict[str, Any]:
    line, column = finding.span.source.position(finding.span.start)
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "path": finding.span.source.path,
        "line": line,
        "column": column,
    }
