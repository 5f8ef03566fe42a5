"""Findings in the words of a response: a message where an object is denied, warnings where it is not.

An API server hands warnings on to whoever asked: each up to 256 characters and all of them up to 4,096, counted in code
points, and none with a control character (k8s.io/apiserver pkg/endpoints/filters/warning.go, apimachinery pkg/util/net).
"""

from __future__ import annotations

from servelint.admission.found import Found
from servelint.report.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WARNING_AT_MOST = 256
WARNINGS_AT_MOST = 4096
_MESSAGE_AT_MOST = 4096
_MORE_AT_MOST = 48
_SIGN = "\u2026"


def message(denied: Sequence[Found], what: str) -> str:
    """Why an object is denied: one finding a line, the most severe first. what: "Deployment prod/llm" """
    count = "1 finding" if len(denied) == 1 else f"{len(denied)} findings"
    lines = [f"servelint denies {what} for {count}:"]
    left = _MESSAGE_AT_MOST - len(lines[0]) - _MORE_AT_MOST
    for number, one in enumerate(denied):
        line = cut(f"{one.severity}[{one.rule}] {_sentence(one)}", 1024)
        left -= len(line) + 1
        if left < 0:
            lines.append(f"and {len(denied) - number} more")
            break
        lines.append(line)
    return "\n".join(lines)


def warnings(warned: Sequence[Found]) -> list[str]:
    """What an object is warned of, the most severe first."""
    found: list[str] = []
    left = WARNINGS_AT_MOST - _MORE_AT_MOST
    for number, one in enumerate(warned):
        line = cut(f"{one.rule}: {_sentence(one)}", WARNING_AT_MOST)
        left -= len(line)
        if left < 0:
            found.append(f"servelint: and {len(warned) - number} more")
            break
        found.append(line)
    return found


def audit(told: Sequence[Found]) -> str:
    """What an audit log keeps of findings: "error vllm/removed-option, warning vllm/..." """
    return cut(", ".join(dict.fromkeys([f"{one.severity} {one.rule}" for one in told])), _MESSAGE_AT_MOST)


def plain(text: str) -> str:
    """A text on one line without anything that steers."""
    return clean(text)


def _sentence(one: Found) -> str:
    where = f"{one.field}: " if one.field else ""
    releases = f" ({one.releases})" if one.releases else ""
    return f"{where}{one.sentence}{releases}"


def cut(text: str, most: int) -> str:
    """A text on one line, of so many characters at most."""
    line = clean(text)
    return line if len(line) <= most else line[: most - 1] + _SIGN
