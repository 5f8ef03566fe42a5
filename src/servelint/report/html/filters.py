"""The filters. They are hidden until the page's script shows that it runs."""

from __future__ import annotations

from servelint.core.result import Report
from servelint.engines import ENGINE_NAMES
from servelint.report.html.markup import escaped
from servelint.report.html.summary import engines_of, impacts_of
from servelint.report.html.words import SEVERITIES, impact_name


def filters(report: Report) -> str:
    findings = report.findings
    severities = [
        (severity, names[1], sum(one.severity == severity for one in findings)) for severity, names in SEVERITIES.items()
    ]
    impacts = [(impact, impact_name(impact), sum(one.impact == impact for one in findings)) for impact in impacts_of(findings)]
    engines = [
        (engine, ENGINE_NAMES[engine], sum(one.launch is not None and one.launch.engine == engine for one in findings))
        for engine in engines_of(report)
    ]
    return (
        '<form id="filters" role="search" aria-label="Filters" hidden>'
        '<details id="filters-fold" open><summary>Filters</summary>'
        + _texts()
        + _choices("severity", "Severity", [one for one in severities if one[2]])
        + _choices("impact", "The launch", impacts)
        + _choices("engine", "Engine", engines)
        + '<p class="buttons"><button type="reset">Clear the filters</button></p></details>'
        '<p><output id="count" aria-live="polite"></output></p>'
        '<p class="buttons"><button type="button" id="open-all">Show all code</button>'
        ' <button type="button" id="close-all">Hide all code</button></p></form>\n'
    )


def _texts() -> str:
    return (
        '<p><label for="filter-path">Path</label>'
        '<input type="text" id="filter-path" name="path" autocomplete="off" spellcheck="false"></p>'
        '<p><label for="filter-text">Text</label>'
        '<input type="search" id="filter-text" name="text" autocomplete="off" spellcheck="false"></p>'
    )


def _choices(name: str, legend: str, choices: list[tuple[str, str, int]]) -> str:
    if not choices:
        return ""
    boxes = [
        f'<label><input type="checkbox" name="{name}" value="{escaped(value)}"><span>{escaped(said)}</span>'
        f' <span class="number">{number:,}</span></label>'
        for value, said, number in choices
    ]
    return f"<fieldset><legend>{legend}</legend>{''.join(boxes)}</fieldset>"
