"""The summary: how much was found, what breaks, on which engines, and what could not be read."""

from __future__ import annotations

from servelint.core.finding import IMPACTS, Finding
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.engines import ENGINE_NAMES
from servelint.report.html.markup import counted, escaped
from servelint.report.html.words import SEVERITIES, impact_name, listed
from servelint.report.places import relative


def verdict(report: Report) -> str:
    """ "3 errors and 1 note in 12 launches (9 files); 1 file could not be read"."""
    counts = [(sum(one.severity == severity for one in report.findings), names) for severity, names in SEVERITIES.items()]
    said = listed([counted(number, *names) for number, names in counts if number])
    files = counted(report.files, "file", "files")
    text = f"{said or 'Nothing found'} in {counted(len(report.launches), 'launch', 'launches')} ({files})"
    if not said and not report.launches:
        text = f"No launch found in {files}"
    return f"{text}; {_unread(report.errors)}" if report.errors else text


def _unread(errors: list[Problem]) -> str:
    return f"{counted(len({one.path for one in errors}), 'file', 'files')} could not be read"


def left_out(report: Report) -> str:
    """What was found and is not told here."""
    parts = [
        counted(report.known, "known finding (baseline)", "known findings (baseline)") if report.known else "",
        counted(report.unchanged, "finding in unchanged code", "findings in unchanged code") if report.unchanged else "",
    ]
    said = listed([part for part in parts if part])
    if not said:
        return ""
    are = "is" if report.known + report.unchanged == 1 else "are"
    return f'<p class="meta">{said} {are} left out; a launch that has no other is listed as one without a finding.</p>'


def unread(errors: list[Problem]) -> str:
    """What could not be read: nothing is known of it, so it comes first."""
    if not errors:
        return ""
    rows = [
        f"<li><code>{escaped(relative(one.path))}:{one.line}:{one.column}</code> {escaped(one.message)}</li>" for one in errors
    ]
    return (
        f'<section class="unread" aria-labelledby="unread"><h2 id="unread">{_unread(errors)}</h2>'
        f"<p>What may be wrong there is not in this report.</p><ul>{''.join(rows)}</ul></section>\n"
    )


def summary(report: Report) -> str:
    found = [part for part in (_impacts(report.findings), _engines(report)) if part]
    tables = f'<div class="tables">{"".join(found)}</div>'
    return f'<section aria-labelledby="summary"><h2 id="summary">Summary</h2>{tables}</section>\n' if found else ""


def impacts_of(findings: list[Finding]) -> list[str]:
    """Those that occur, the worst first."""
    there = {finding.impact for finding in findings}
    return [impact for impact in IMPACTS if impact in there] + sorted(there.difference(IMPACTS))


def engines_of(report: Report) -> list[str]:
    """Those that are launched, the most launched first."""
    counts: dict[str, int] = {}
    for launch in report.launches:
        counts[launch.engine] = counts.get(launch.engine, 0) + 1
    return sorted(counts, key=lambda engine: (-counts[engine], engine))


def _impacts(findings: list[Finding]) -> str:
    rows: list[str] = []
    for impact in impacts_of(findings):
        here = [finding for finding in findings if finding.impact == impact]
        head = f'<a data-filter="impact={escaped(impact)}">{escaped(impact_name(impact))}</a>'
        rows.append(_row(head, [_launches(here)], here))
    return _table("What is found", ("The launch", "Launches"), rows)


def _engines(report: Report) -> str:
    rows: list[str] = []
    for engine in engines_of(report):
        here = [one for one in report.findings if one.launch is not None and one.launch.engine == engine]
        launches = sum(launch.engine == engine for launch in report.launches)
        head = f'<a data-filter="engine={escaped(engine)}">{escaped(ENGINE_NAMES[engine])}</a>'
        rows.append(_row(head, [launches, _launches(here)], here))
    return _table("Engines", ("Engine", "Launches", "With findings"), rows)


def _launches(findings: list[Finding]) -> int:
    """How many launches some findings are about."""
    return len({id(finding.launch) for finding in findings if finding.launch is not None})


def _row(head: str, launches: list[int], findings: list[Finding]) -> str:
    counts = [sum(finding.severity == severity for finding in findings) for severity in SEVERITIES]
    cells = "".join([f"<td{'' if number else _NONE}>{number:,}</td>" for number in (*launches, *counts)])
    return f'<tr><th scope="row">{head}</th>{cells}</tr>'


_NONE = ' class="none"'


def _table(caption: str, heads: tuple[str, ...], rows: list[str]) -> str:
    if not rows:
        return ""
    names = [*heads, *[names[1].capitalize() for names in SEVERITIES.values()]]
    head = "".join([f'<th scope="col">{name}</th>' for name in names])
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
