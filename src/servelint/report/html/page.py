"""The page around it all: what it may load (nothing), its style, its script, and its parts in their order."""

from __future__ import annotations

import base64
import hashlib
import os

from servelint import __version__
from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.result import Report
from servelint.filters.masking import secrets_of
from servelint.report.html import launches, rules
from servelint.report.html.filters import filters
from servelint.report.html.findings import article
from servelint.report.html.markup import counted, escaped
from servelint.report.html.memory import memory, shapes
from servelint.report.html.summary import left_out, summary, unread, verdict
from servelint.report.places import numbered, own, relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.trust import RuleFolder
    from servelint.report.html.launches import Versions
    from servelint.report.html.memory import Plans

    Card = Callable[[Launch], str]
    """What a launch's card says of it."""

_POLICY = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
"""The page loads nothing, not even from its own folder; an icon of no bytes keeps browsers from asking for one."""

_OPEN_AT_MOST = 40
"""With more findings than these, the code is behind a click for all but errors."""

Groups = dict[str, dict[int, list[tuple[Finding, str]]]]
"""path -> launch, by its identity -> findings, each with the fingerprint that is its own."""


def page(report: Report, folders: tuple[str | RuleFolder, ...], versions: Versions, plans: Plans) -> str:
    drawn = False

    def card(launch: Launch) -> str:
        nonlocal drawn
        plan = plans(launch)
        if plan is None:
            return launches.facts(launch, versions)
        drawn = True
        return launches.facts(launch, versions) + memory(plan, secrets_of([launch]))

    style, script = _part("page.css"), _part("page.js")
    policy = f"{_POLICY}; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    said = escaped(verdict(report))
    body = unread(report.errors) + summary(report)
    results = _files(report, card) + _quiet(report, card) + rules.section(report.findings, folders)
    skip = ""
    if report.findings or report.launches:
        skip = '<a class="skip" href="#results">Skip to the findings</a>\n'
        body += f'<div class="columns">{filters(report)}<div class="results">{results}</div></div>\n'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escaped(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f'<title>servelint: {said}</title>\n<link rel="icon" href="data:,">\n<style>{style}</style>\n</head>\n<body>\n'
        f'{skip}<header><h1>servelint report</h1><p class="verdict">{said}</p>{left_out(report)}</header>\n'
        f"{shapes() if drawn else ''}<main>\n{body}</main>\n<footer><p>Made by servelint {escaped(__version__)}.</p></footer>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _part(name: str) -> str:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        return file.read()


def _digest(text: str) -> str:
    """What a policy calls an inline text that it allows."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _files(report: Report, card: Card) -> str:
    groups: Groups = {}
    for finding, number in numbered(report.findings):
        path = relative(finding.span.source.path)
        found = finding, own(finding.fingerprint, number)
        groups.setdefault(path, {}).setdefault(id(finding.launch), []).append(found)
    many = len(report.findings) > _OPEN_AT_MOST
    files = "".join([_file(path, list(by_launch.values()), many, card) for path, by_launch in groups.items()])
    nothing = "" if files else "<p>Nothing found.</p>"
    return f'<section aria-labelledby="results"><h2 id="results" tabindex="-1">Findings</h2>\n{nothing}{files}</section>\n'


def _file(path: str, groups: list[list[tuple[Finding, str]]], many: bool, card: Card) -> str:
    number = sum(len(found) for found in groups)
    return (
        f'<section class="file" data-path="{escaped(path)}"><h3>{escaped(path)}'
        f' <span class="number">{counted(number, "finding", "findings")}</span></h3>\n'
        + "".join([_launch(found, many, card) for found in groups])
        + "</section>\n"
    )


def _launch(found: list[tuple[Finding, str]], many: bool, card: Card) -> str:
    """A launch's card and its findings."""
    launch = found[0][0].launch
    articles = "".join([article(one, name, not many or one.severity == "error") for one, name in found])
    if launch is None:
        return f'<article class="launch"><h4>The file itself</h4>{articles}</article>\n'
    elsewhere = ""
    if launch.source is not found[0][0].span.source:
        elsewhere = f'<p class="meta">launched by <code>{escaped(launches.place(launch))}</code></p>'
    head = f"<h4>{launches.title(launch)}</h4>{elsewhere}{card(launch)}"
    return f'<article class="launch">{head}{articles}</article>\n'


def _quiet(report: Report, card: Card) -> str:
    """The launches in which nothing was found; what a loop or a branch of a script starts alike is one of them."""
    loud = {id(finding.launch) for finding in report.findings}
    alike: dict[str, list[Launch]] = {}
    for launch in report.launches:
        if id(launch) not in loud:
            head = f"<h3>{escaped(launches.place(launch))}</h3>"
            name = f'<p class="meta">{launches.title(launch)}</p>' if launch.name else ""
            alike.setdefault(head + name + card(launch), []).append(launch)
    number = sum(len(several) for several in alike.values())
    if not number:
        return ""
    cards = [
        f'<li class="launch" data-path="{escaped(relative(several[0].source.path))}" data-engine="{escaped(several[0].engine)}"'
        f' data-launches="{len(several)}">{card}{_times(len(several))}</li>\n'
        for card, several in alike.items()
    ]
    return (
        '<section id="quiet" aria-labelledby="quiet-title"><h2 id="quiet-title">Launches without a finding</h2>'
        f"<details><summary>{counted(number, 'launch', 'launches')}</summary><ul>\n{''.join(cards)}</ul></details></section>\n"
    )


def _times(number: int) -> str:
    return f'<p class="meta">{number} times</p>' if number > 1 else ""
