"""The rules of a page's findings, each told once."""

from __future__ import annotations

import re

from servelint.core.finding import Finding
from servelint.core.trust import RuleFolder
from servelint.engines import ENGINE_NAMES
from servelint.report.html.markup import cited, counted, escaped
from servelint.report.html.words import impact_name
from servelint.report.rule_texts import title_and_why
from servelint.rules.ranges import describe


def section(findings: list[Finding], folders: tuple[str | RuleFolder, ...]) -> str:
    """What each rule is about, why it is one, and who says so. folders: those of users' rules"""
    told: dict[str, list[Finding]] = {}
    for finding in findings:
        told.setdefault(finding.rule, []).append(finding)
    if not told:
        return ""
    rules = "".join([_rule(name, told[name], folders) for name in sorted(told)])
    return f'<section aria-labelledby="rules"><h2 id="rules">Rules</h2>\n{rules}</section>\n'


def _rule(name: str, findings: list[Finding], folders: tuple[str | RuleFolder, ...]) -> str:
    title, why = title_and_why(name, folders)
    first = findings[0]
    paragraphs = "".join([f"<p>{escaped(' '.join(part.split()))}</p>" for part in re.split(r"\n\s*\n", why.strip()) if part])
    releases = ""
    if first.affected and first.launch is not None:
        releases = f"<p><b>Releases:</b> {escaped(ENGINE_NAMES[first.launch.engine])} {escaped(describe(first.affected))}</p>"
    evidence = "".join([f"<li>{cited(one)}</li>" for one in first.evidence])
    return (
        f'<article class="rule" id="rule-{escaped(name)}"><h3>{escaped(title)}</h3>'
        f'<p class="meta"><code>{escaped(name)}</code> <span>{escaped(impact_name(first.impact))}</span>'
        f" <span>{counted(len(findings), 'finding', 'findings')} here</span></p>{paragraphs}{releases}"
        + (f"<p><b>Evidence:</b></p><ul>{evidence}</ul>" if evidence else "")
        + f"<p><b>To silence it</b>, on the line or above the launch: <code># servelint: ignore[{escaped(name)}] why</code></p>"
        "</article>\n"
    )
