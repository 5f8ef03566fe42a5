"""A finding: what is wrong and what to write instead, and behind a click the code, the fix, the releases and who says so."""

from __future__ import annotations

from servelint.core.finding import Finding
from servelint.report.html.diffs import diff
from servelint.report.html.frames import frames
from servelint.report.html.markup import cited, escaped
from servelint.report.html.words import SEVERITIES, impact_name
from servelint.report.places import relative
from servelint.report.text import judged_by


def article(finding: Finding, fingerprint: str, opened: bool) -> str:
    """opened: whether what is behind the click is there at once. fingerprint: one that no other finding of the page has"""
    source = finding.span.source
    line, column = source.position(finding.span.start)
    engine = finding.launch.engine if finding.launch is not None else ""
    name = f"finding-{escaped(fingerprint)}"
    severity = finding.severity
    advice = f'<p class="advice"><b>What to do:</b> {escaped(finding.advice)}</p>' if finding.advice else ""
    impact = f"the launch {impact_name(finding.impact)}" if finding.launch is not None else impact_name(finding.impact)
    head = (
        f'<article class="finding {severity}" id="{name}" data-severity="{severity}" data-impact="{escaped(finding.impact)}"'
        f' data-engine="{escaped(engine)}">'
        f'<h5><span class="badge {severity}">{SEVERITIES[severity][0]}</span> {escaped(finding.message)}</h5>{advice}'
        f'<p class="meta"><a href="#{name}">{escaped(_last(relative(source.path)))}:{line}:{column}</a>'
        f" <span>{escaped(impact)}</span>"
        f' <a href="#rule-{escaped(finding.rule)}">{escaped(finding.rule)}</a></p>'
    )
    body = f"{frames(finding)}{_fix(finding)}{_notes(finding)}"
    return f"{head}<details{' open' if opened else ''}><summary>Code and evidence</summary>{body}</details></article>\n"


def _last(path: str) -> str:
    """The last part of a path: the rest is in the heading above."""
    return path.rpartition("/")[2]


def _fix(finding: Finding) -> str:
    fix = finding.fix
    if fix is None:
        return ""
    option = "--fix" if fix.safe else "--unsafe-fixes"
    note = f" ({escaped(fix.note)})" if fix.note else ""
    return f"<p><b>Fix:</b> <code>servelint check {option}</code> does it: {escaped(fix.title)}{note}</p>{diff(finding)}"


def _notes(finding: Finding) -> str:
    notes: list[str] = []
    if finding.launch is not None:
        notes.append(f"<b>Release:</b> {escaped(judged_by(finding))}")
    if finding.confidence != "high":
        notes.append(f"<b>Confidence:</b> {escaped(finding.confidence)}")
    if finding.evidence:
        more = len(finding.evidence) - 1
        rest = f', <a href="#rule-{escaped(finding.rule)}">{more} more</a>' if more else ""
        notes.append(f"<b>Evidence:</b> {cited(finding.evidence[0])}{rest}")
    return "".join([f"<p>{note}</p>" for note in notes])
