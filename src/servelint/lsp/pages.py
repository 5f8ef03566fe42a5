"""Where the page of a rule is, for an editor that opens it from a finding."""

from __future__ import annotations

import os
from functools import lru_cache

from servelint.core.own_rules import OWN
from servelint.core.trust import RuleFolder, folder_path
from servelint.rules.load import rule_folder

_DOCS = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "rules"))


@lru_cache(maxsize=4096)
def page_of(rule: str, folders: tuple[str | RuleFolder, ...]) -> str | None:
    """The path of a rule's page in a checkout, else of the rule's own file, which has the same in it; None if there is none.

    folders: those of users' rules
    """
    if rule in OWN:
        return None
    candidates = [os.path.join(_DOCS, *rule.split("/")) + ".md"]
    candidates += [os.path.join(folder_path(folder), *rule.split("/")) + ".yaml" for folder in (rule_folder(), *folders)]
    return next((os.path.abspath(path) for path in candidates if os.path.isfile(path)), None)
