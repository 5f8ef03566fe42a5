"""servelint: a linter for the files that launch LLM inference servers.

>>> import servelint
>>> findings = servelint.check_command("vllm", ["Qwen/Qwen3-8B", "--swap-space", "4"], version="0.33.0")
>>> [(finding.rule, finding.severity, finding.impact) for finding in findings]
[('vllm/removed-option', 'error', 'crash-at-start')]
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.api import Finding, Launch, Report, Settings, SettingsFiles, check, check_command, find_launches, plan_memory

__all__ = ["Finding", "Launch", "Report", "Settings", "SettingsFiles", "check", "check_command", "find_launches", "plan_memory"]


def __getattr__(name: str) -> object:
    # the API is loaded when it is used: the command line never is
    if name in __all__:
        from servelint import api

        return getattr(api, name)
    if name == "advise":
        from importlib import import_module

        return import_module("servelint.advise")
    raise AttributeError(f"module 'servelint' has no attribute {name!r}")
