"""What a report tells of a rule, from the rule's own file. Imports the rule compiler, so only the reports that tell it do."""

from __future__ import annotations

from servelint.core.own_rules import OWN
from servelint.rules.compile import RuleError, find_rule
from servelint.rules.load import rule_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.core.trust import RuleFolder


def written(name: str, folders: tuple[str | RuleFolder, ...]) -> dict[str, Any] | None:
    """A rule as its file has it, None if it has none. folders: those of users' rules"""
    for path in folders:
        from servelint.rules import folder

        for data in folder.load(path).written:
            if data["id"] == name:
                return data
    try:
        return find_rule(name, rule_folder())
    except (OSError, ValueError, RuleError):
        return None


def title_and_why(name: str, folders: tuple[str | RuleFolder, ...]) -> tuple[str, str]:
    """What a rule is about and why it is one; its name where nothing tells more."""
    own = OWN.get(name)
    if own is not None:
        return own.title, own.why
    data = written(name, folders)
    return (data["title"], data["why"]) if data is not None else (name, "")
