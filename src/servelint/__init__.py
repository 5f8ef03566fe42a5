"""servelint: a linter for the files that launch LLM inference servers.

import servelint
report = servelint.check(["compose.yml"])
for finding in report.findings: print(finding.rule, finding.message)
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.api import Report, Settings, SettingsFiles, check, check_command, find_launches, plan_memory

__all__ = ["Report", "Settings", "SettingsFiles", "check", "check_command", "find_launches", "plan_memory"]


def __getattr__(name: str) -> object:
    # the API is loaded when it is used: the command line never is
    if name in __all__:
        from servelint import api

        return getattr(api, name)
    raise AttributeError(f"module 'servelint' has no attribute {name!r}")
