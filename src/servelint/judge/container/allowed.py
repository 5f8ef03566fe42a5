"""What settings say is no complaint: the option `allow` of some rules of rules/container/."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Options = dict[str, dict[str, Any]]
    """name of a complaint -> the options of its rule"""


def allowed(options: Options, complaint: str, value: str) -> bool:
    """Whether one of the patterns (`*` and `?` stand for anything) of a rule's option is the whole value."""
    patterns = options.get(complaint, {}).get("allow", ())
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    return any(fnmatchcase(value, pattern) for pattern in patterns)
