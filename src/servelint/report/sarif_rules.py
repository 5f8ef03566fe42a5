"""What SARIF tells of a rule, from the rule's own file. Imports the rule compiler, so only a SARIF report does."""

from __future__ import annotations

import re

from servelint.core.finding import Finding
from servelint.core.own_rules import OWN
from servelint.report.markdown import escaped
from servelint.report.rule_texts import written
from servelint.rules.pages import markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.trust import RuleFolder

LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
_SECURITY = {"error": "8.0", "warning": "5.5", "info": "2.0"}
"""High, medium and low in GitHub's bands."""
_AT_MOST = 1024
"""Characters that GitHub takes of a description."""


def descriptor(finding: Finding, folders: tuple[str | RuleFolder, ...]) -> dict[str, Any]:
    """The reportingDescriptor of a finding's rule. folders: those of users' rules"""
    data = written(finding.rule, folders)
    if data is None:
        own = OWN.get(finding.rule)
        title, why = (own.title, own.why) if own is not None else (finding.rule, finding.rule)
        text = page = f"{title}. {why}"
        severity, confidence, impact = finding.severity, finding.confidence, finding.impact
    else:
        title, why = data["title"], " ".join(data["why"].split())
        text, page = _help(data, why), markdown(_harmless(data) if _is_foreign(finding.rule, folders) else data)
        severity, confidence, impact = data["severity"], data["confidence"], data["impact"]
    properties: dict[str, Any] = {
        "tags": [impact, finding.rule.partition("/")[0]],
        "precision": confidence,
        "problem.severity": _PROBLEMS[severity],
    }
    if impact == "security":
        properties["security-severity"] = _SECURITY[severity]
    return {
        "id": finding.rule,
        "shortDescription": {"text": _cut(title)},
        "fullDescription": {"text": _cut(why)},
        "help": {"text": text, "markdown": page},
        "defaultConfiguration": {"level": LEVELS[severity]},
        "properties": properties,
    }


def _is_foreign(rule: str, folders: tuple[str | RuleFolder, ...]) -> bool:
    """Whether a rule is told as somebody else's folder has it."""
    if not folders:
        return False
    from servelint.rules import folder

    return any(data["id"] == rule for path in folders for data in folder.load(path).written)


def _harmless(data: dict[str, Any]) -> dict[str, Any]:
    """A rule in whose texts nothing is markup; examples are code, and stay what they are."""
    cited = [
        {name: escaped(value) if name == "says" else _address(value) for name, value in one.items()} for one in data["evidence"]
    ]
    texts = {name: escaped(data[name]) for name in ("title", "advice") if data[name]}
    why = "\n\n".join([escaped(" ".join(part.split())) for part in re.split(r"\n\s*\n", data["why"].strip())])
    return {**data, **texts, "why": why, "evidence": cited}


def _address(text: str) -> str:
    return re.sub(r"[\s<>`]", "", text)


def _help(data: dict[str, Any], why: str) -> str:
    parts = [f"{data['title']}.", why]
    if data["advice"]:
        parts.append(f"What to write instead: {data['advice']}.")
    cited = [f"- {entry.get('url') or entry['source']}: {entry['says']}" for entry in data["evidence"]]
    if cited:
        parts.append("\n".join(["Evidence:", *cited]))
    parts.append(f"Silence it with a comment above the launch: # servelint: ignore[{data['id']}] why")
    return "\n\n".join(parts)


def _cut(text: str) -> str:
    return text if len(text) <= _AT_MOST else text[: _AT_MOST - 1].rstrip() + "\u2026"
