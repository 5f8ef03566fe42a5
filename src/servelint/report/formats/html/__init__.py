"""One HTML page for people: a summary, filters, a card for each launch, findings with their code.

The page holds all that it shows and loads nothing, from the network or from its folder. The files that it quotes come from
other people: `escaped` is applied to every text.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import Counter

from servelint import __version__
from servelint.core.finding import IMPACTS, Finding
from servelint.core.launch import Launch
from servelint.core.numbers import counted
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.trust import RuleFolder
from servelint.engines import ENGINE_NAMES
from servelint.engines.releases import sort_key
from servelint.filters.masking import secrets_of
from servelint.report import extent
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.report.formats.html.cards import (
    SEVERITIES,
    article,
    cited,
    escaped,
    facts,
    impact_name,
    judged,
    listed,
    memory,
    place,
    shapes,
    title,
)
from servelint.report.places import numbered, own, relative
from servelint.report.reference import title_and_why
from servelint.rules.ranges import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.report.formats.html.cards import PlanOf, Versions
    from servelint.report.formats.html.origin import Origin

    Card = Callable[[Launch], str]
    """Facts and memory plan of a launch, as HTML."""


AUDIENCE = "people who do not read logs"
SUMMARY = "one page to open or to send: a summary, a card for each launch, findings with their code, filters"

_POLICY = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
"""Content security policy. An icon without bytes keeps browsers from asking a server for one."""

_OPEN_AT_MOST = 40
"""With more findings, the code of warnings and notes is behind a click."""

Groups = dict[str, dict[int, list[tuple[Finding, str]]]]
"""Path to identity of a launch to findings, each with a fingerprint that no other finding of the page has."""


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return the page, with the memory plans of launches whose GPUs are known."""
    settings = options.settings
    origin = None
    if options.paths is not None:
        from servelint.report.formats.html.origin import Origin

        origin = Origin(options.paths, os.environ)
    if settings is None:
        return page(report, origin=origin)
    from servelint.report.memory import Plans

    return page(report, settings.rule_folders(), lambda path: settings.of(path).engine_versions, Plans(settings), origin=origin)


def page(
    report: Report,
    folders: tuple[str | RuleFolder, ...] = (),
    versions: Versions = lambda _: {},
    plans: PlanOf = lambda _: None,
    *,
    origin: Origin | None = None,
) -> str:
    """Return the page.

    Args:
        report: the findings and launches.
        folders: the folders of users' rules.
        versions: path to the releases of the engines where a file pins none.
        plans: launch to its memory plan, which is drawn; None for a launch without a plan.
        origin: where and when the report is made; None leaves that out, so that the page depends on the report only.
    """
    drawn = False

    def card(launch: Launch) -> str:
        nonlocal drawn
        plan = plans(launch)
        if plan is None:
            return facts(launch, versions) + judged(launch)
        drawn = True
        return facts(launch, versions) + judged(launch) + memory(plan, secrets_of([launch]))

    style, script = _part("page.css"), _part("page.js")
    policy = f"{_POLICY}; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    heading = escaped(_verdict(report))
    body = _unread(report.errors) + _summary(report)
    results = _files(report, card, origin) + _quiet(report, card) + _rules(report.findings, folders)
    skip = ""
    if report.findings or report.launches:
        skip = '<a class="skip" href="#results">Skip to the findings</a>\n'
        body += f'<div class="columns">{_filters(report)}<div class="results">{results}</div></div>\n'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escaped(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f'<title>servelint: {heading}</title>\n<link rel="icon" href="data:,">\n<style>{style}</style>\n</head>\n<body>\n'
        f'{skip}<header><h1>servelint report</h1><p class="verdict">{heading}</p>'
        f"{_facts(report, origin)}{_judged(report)}{_left_out(report)}</header>\n"
        f"{shapes() if drawn else ''}<main>\n{body}</main>\n{_footer()}\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _footer() -> str:
    return f"<footer><p>Made by servelint {escaped(__version__)} with {escaped(extent.data_line())}.</p></footer>"


def _part(name: str) -> str:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        return file.read()


def _digest(text: str) -> str:
    """Return the source expression by which a content security policy allows an inline text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _facts(report: Report, origin: Origin | None) -> str:
    """Return what was checked, when, and the versions of servelint and of the engines."""
    if origin is None:
        return ""
    releases: dict[str, set[str]] = {}
    for launch in report.launches:
        if launch.release.release is not None:
            releases.setdefault(ENGINE_NAMES[launch.engine], set()).add(launch.release.release)
    rows = [*origin.rows, ("servelint", __version__)]
    rows += [(name, ", ".join(sorted(found, key=sort_key))) for name, found in sorted(releases.items())]
    items = "".join([f"<div><dt>{escaped(term)}</dt><dd><code>{escaped(text)}</code></dd></div>" for term, text in rows])
    return f'<dl class="facts">{items}</dl>'


_WORST = {severity: number for number, severity in enumerate(SEVERITIES)}


def _worst(found: list[tuple[Finding, str]]) -> int:
    """Return the place of the worst severity among findings, 0 for errors."""
    return min(_WORST[finding.severity] for finding, _ in found)


def _files(report: Report, card: Card, origin: Origin | None) -> str:
    groups: Groups = {}
    for finding, number in numbered(report.findings):
        path = relative(finding.span.source.path)
        found = finding, own(finding.fingerprint, number)
        groups.setdefault(path, {}).setdefault(id(finding.launch), []).append(found)
    many = len(report.findings) > _OPEN_AT_MOST
    ordered = {
        path: sorted([sorted(found, key=lambda one: _WORST[one[0].severity]) for found in by_launch.values()], key=_worst)
        for path, by_launch in groups.items()
    }
    errors_first = sorted(ordered.items(), key=lambda item: _worst(item[1][0]))
    files = "".join([_file(path, launches, many, card, origin) for path, launches in errors_first])
    nothing = "" if files else "<p>Nothing found.</p>"
    return f'<section aria-labelledby="results"><h2 id="results" tabindex="-1">Findings</h2>\n{nothing}{files}</section>\n'


def _file(path: str, groups: list[list[tuple[Finding, str]]], many: bool, card: Card, origin: Origin | None) -> str:
    number = sum(len(found) for found in groups)
    return (
        f'<section class="file" data-path="{escaped(path)}"><h3>{escaped(path)}'
        f' <span class="number">{counted(number, "finding", "findings")}</span></h3>\n'
        + "".join([_launch(found, many, card, origin) for found in groups])
        + "</section>\n"
    )


def _launch(found: list[tuple[Finding, str]], many: bool, card: Card, origin: Origin | None) -> str:
    """Return the card of a launch with its findings, which a click folds."""
    launch = found[0][0].launch
    opens = origin.opens if origin is not None else None
    articles = "".join([article(one, name, not many or one.severity == "error", opens) for one, name in found])
    counts = Counter([one.severity for one, _ in found])
    badges = "".join(
        [
            f' <span class="badge {severity}">{counted(counts[severity], *SEVERITIES[severity])}</span>'
            for severity in SEVERITIES
            if counts[severity]
        ]
    )
    fold = " open" if not many or "error" in counts else ""
    if launch is None:
        head = f'<details class="fold"{fold}><summary><h4>The file itself</h4>{badges}</summary>'
        return f'<article class="launch">{head}{articles}</details></article>\n'
    elsewhere = ""
    if launch.source is not found[0][0].span.source:
        elsewhere = f'<p class="meta">launched by <code>{escaped(place(launch))}</code></p>'
    head = f"<summary><h4>{title(launch)}</h4>{badges}</summary>{elsewhere}{card(launch)}"
    return f'<article class="launch"><details class="fold"{fold}>{head}{articles}</details></article>\n'


def _quiet(report: Report, card: Card) -> str:
    """Return the launches without findings. Equal ones, such as those of a loop in a script, share a card."""
    with_findings = {id(finding.launch) for finding in report.findings}
    alike: dict[str, list[Launch]] = {}
    for launch in report.launches:
        if id(launch) not in with_findings:
            head = f"<h3>{escaped(place(launch))}</h3>"
            name = f'<p class="meta">{title(launch)}</p>' if launch.name else ""
            alike.setdefault(head + name + card(launch), []).append(launch)
    number = sum(len(several) for several in alike.values())
    if not number:
        return ""
    cards = ""
    for shown, several in alike.items():
        first, count = several[0], len(several)
        times = f'<p class="meta">{count} times</p>' if count > 1 else ""
        data = f'data-path="{escaped(relative(first.source.path))}" data-engine="{escaped(first.engine)}"'
        cards += f'<li class="launch" {data} data-launches="{count}">{shown}{times}</li>\n'
    return (
        '<section id="quiet" aria-labelledby="quiet-title"><h2 id="quiet-title">Launches without a finding</h2>'
        f"<details><summary>{counted(number, 'launch', 'launches')}</summary><ul>\n{cards}</ul></details></section>\n"
    )


def _verdict(report: Report) -> str:
    """Return "3 errors and 1 note in 12 launches (9 files); 1 file could not be read"."""
    counts = [(sum(one.severity == severity for one in report.findings), names) for severity, names in SEVERITIES.items()]
    found = listed([counted(number, *names) for number, names in counts if number])
    files = counted(report.files, "file", "files")
    text = f"{found or 'Nothing found'} in {counted(len(report.launches), 'launch', 'launches')} ({files})"
    if not found and not report.launches:
        text = f"No launch found in {files}"
    return f"{text}; {_unread_count(report.errors)}" if report.errors else text


def _unread_count(errors: list[Problem]) -> str:
    return f"{counted(len({one.path for one in errors}), 'file', 'files')} could not be read"


def _judged(report: Report) -> str:
    """Return how far the launches were judged, and the files that mention an engine without a launch."""
    closing, mentioning = extent.closing(report), extent.mentioning(report)
    shown = f'<p class="meta">{escaped(closing)}</p>' if closing else ""
    if images := "".join([f"<li>{escaped(repr(one))}</li>" for one in extent.unjudged(report)]):
        shown += f"<details open><summary>Images that are not judged</summary><ul>{images}</ul></details>"
    if mentioning:
        shown += (
            f"<details><summary>Files that mention an engine and have no launch</summary><p>{escaped(mentioning)}</p></details>"
        )
    return shown


def _left_out(report: Report) -> str:
    """Return how many findings a baseline or unchanged code leaves out of the page."""
    parts = [
        counted(report.known, "known finding (baseline)", "known findings (baseline)") if report.known else "",
        counted(report.unchanged, "finding in unchanged code", "findings in unchanged code") if report.unchanged else "",
    ]
    text = listed([part for part in parts if part])
    if not text:
        return ""
    are = "is" if report.known + report.unchanged == 1 else "are"
    return f'<p class="meta">{text} {are} left out; a launch that has no other is listed as one without a finding.</p>'


def _unread(errors: list[Problem]) -> str:
    """Return the files that could not be read, which come first: the page holds no findings of them."""
    if not errors:
        return ""
    rows = [
        f"<li><code>{escaped(relative(one.path))}:{one.line}:{one.column}</code> {escaped(one.message)}</li>" for one in errors
    ]
    return (
        f'<section class="unread" aria-labelledby="unread"><h2 id="unread">{_unread_count(errors)}</h2>'
        f"<p>Findings in these files are not in this report.</p><ul>{''.join(rows)}</ul></section>\n"
    )


def _summary(report: Report) -> str:
    found = [part for part in (_impacts(report.findings), _engines(report)) if part]
    tables = f'<div class="tables">{"".join(found)}</div>'
    return f'<section aria-labelledby="summary"><h2 id="summary">Summary</h2>{tables}</section>\n' if found else ""


def _impacts_of(findings: list[Finding]) -> list[str]:
    """Return the impacts of findings, the worst first."""
    found = {finding.impact for finding in findings}
    return [impact for impact in IMPACTS if impact in found] + sorted(found.difference(IMPACTS))


def _engines_of(report: Report) -> list[str]:
    """Return the engines that are launched, the most launched first."""
    counts = Counter([launch.engine for launch in report.launches])
    return sorted(counts, key=lambda engine: (-counts[engine], engine))


def _impacts(findings: list[Finding]) -> str:
    rows: list[str] = []
    for impact in _impacts_of(findings):
        here = [finding for finding in findings if finding.impact == impact]
        head = f'<a data-filter="impact={escaped(impact)}">{escaped(impact_name(impact))}</a>'
        rows.append(_row(head, [_launches(here)], here))
    return _table("What is found", ("The launch", "Launches"), rows)


def _engines(report: Report) -> str:
    rows: list[str] = []
    for engine in _engines_of(report):
        here = [one for one in report.findings if one.launch is not None and one.launch.engine == engine]
        launches = sum(launch.engine == engine for launch in report.launches)
        head = f'<a data-filter="engine={escaped(engine)}">{escaped(ENGINE_NAMES[engine])}</a>'
        rows.append(_row(head, [launches, _launches(here)], here))
    return _table("Engines", ("Engine", "Launches", "With findings"), rows)


def _launches(findings: list[Finding]) -> int:
    """Return how many launches findings are about."""
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


def _filters(report: Report) -> str:
    """Return the filters, hidden until the page's script shows them."""
    findings = report.findings
    severities = [
        (severity, names[1], sum(one.severity == severity for one in findings)) for severity, names in SEVERITIES.items()
    ]
    impacts = [(impact, impact_name(impact), sum(one.impact == impact for one in findings)) for impact in _impacts_of(findings)]
    engines = [
        (engine, ENGINE_NAMES[engine], sum(one.launch is not None and one.launch.engine == engine for one in findings))
        for engine in _engines_of(report)
    ]
    return (
        '<form id="filters" role="search" aria-label="Filters" hidden>'
        '<details id="filters-fold" open><summary>Filters</summary>'
        '<p><label for="filter-path">Path</label>'
        '<input type="text" id="filter-path" name="path" autocomplete="off" spellcheck="false"></p>'
        '<p><label for="filter-text">Text</label>'
        '<input type="search" id="filter-text" name="text" autocomplete="off" spellcheck="false"></p>'
        + _choices("severity", "Severity", [one for one in severities if one[2]])
        + _choices("impact", "The launch", impacts)
        + _choices("engine", "Engine", engines)
        + '<p class="buttons"><button type="reset">Clear the filters</button></p></details>'
        '<p><output id="count" aria-live="polite"></output></p>'
        '<p class="buttons"><button type="button" id="open-all">Show all code</button>'
        ' <button type="button" id="close-all">Hide all code</button></p></form>\n'
    )


def _choices(name: str, legend: str, choices: list[tuple[str, str, int]]) -> str:
    if not choices:
        return ""
    boxes = [
        f'<label><input type="checkbox" name="{name}" value="{escaped(value)}"><span>{escaped(shown)}</span>'
        f' <span class="number">{number:,}</span></label>'
        for value, shown, number in choices
    ]
    return f"<fieldset><legend>{legend}</legend>{''.join(boxes)}</fieldset>"


def _rules(findings: list[Finding], folders: tuple[str | RuleFolder, ...]) -> str:
    """Return the rules that have findings: what each is about, the reason, and the evidence."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    if not by_rule:
        return ""
    rules = "".join([_rule(name, by_rule[name], folders) for name in sorted(by_rule)])
    return f'<section aria-labelledby="rules"><h2 id="rules">Rules</h2>\n{rules}</section>\n'


def _rule(name: str, findings: list[Finding], folders: tuple[str | RuleFolder, ...]) -> str:
    heading, why = title_and_why(name, folders)
    first = findings[0]
    paragraphs = "".join([f"<p>{escaped(' '.join(part.split()))}</p>" for part in re.split(r"\n\s*\n", why.strip()) if part])
    releases = ""
    if first.affected and first.launch is not None:
        releases = f"<p><b>Releases:</b> {escaped(ENGINE_NAMES[first.launch.engine])} {escaped(describe(first.affected))}</p>"
    evidence = "".join([f"<li>{cited(one)}</li>" for one in first.evidence])
    return (
        f'<article class="rule" id="rule-{escaped(name)}"><h3>{escaped(heading)}</h3>'
        f'<p class="meta"><code>{escaped(name)}</code> <span>{escaped(impact_name(first.impact))}</span>'
        f" <span>{counted(len(findings), 'finding', 'findings')} here</span></p>{paragraphs}{releases}"
        + (f"<p><b>Evidence:</b></p><ul>{evidence}</ul>" if evidence else "")
        + f"<p><b>To silence it</b>, on the line or above the launch: <code># servelint: ignore[{escaped(name)}] why</code></p>"
        "</article>\n"
    )
