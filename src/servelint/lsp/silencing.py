"""An ignore comment for a finding, where its file's format takes one: every place is tried by reading the changed text."""

from __future__ import annotations

from servelint.core.finding import Finding
from servelint.core.result import Report
from servelint.core.source import Source
from servelint.files.directives import ignores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WHY = "why"
"""What stands for the reason until somebody writes it."""


def comment(before: Report, finding: Finding, source: Source, lint: Callable[[Source], Report]) -> tuple[int, int, str] | None:
    """An edit that silences a finding and changes nothing else; None where no comment can.

    before: what is found in the text as it is;  lint: tells what is found in a text
    """
    for edit in _candidates(finding, source):
        start, end, text = edit
        after = lint(Source(source.path, source.text[:start] + text + source.text[end:], source.encoding))
        if _silences(before, after, finding):
            return edit
    return None


def _candidates(finding: Finding, source: Source) -> Iterator[tuple[int, int, str]]:
    lines = _lines(finding, source)
    for one in ignores(source):
        if one.patterns and set(one.lines) & set(lines):
            end = one.patterns[-1][1].end
            yield end, end, f", {finding.rule}"
    said = f"# servelint: ignore[{finding.rule}] {_WHY}"
    for line in lines:
        start = source.line_starts[line - 1]
        text = source.line_text(line)
        indent = text[: len(text) - len(text.lstrip())]
        yield start, start, f"{indent}{said}{_line_end(source)}"
    end = source.line_starts[lines[0] - 1] + len(source.line_text(lines[0])) if lines else 0
    yield end, end, f"  {said}"


def _lines(finding: Finding, source: Source) -> list[int]:
    """The lines on which a comment speaks for a finding, the nearest first."""
    found = [finding.span.line] if finding.span.source is source else []
    found += [one.span.line for one in finding.related if one.message == "used here" and one.span.source is source]
    if finding.launch is not None and finding.launch.source is source:
        found.append(finding.launch.line)
    return list(dict.fromkeys(found))


def _line_end(source: Source) -> str:
    return "\r\n" if "\r\n" in source.text else "\n"


def _silences(before: Report, after: Report, finding: Finding) -> bool:
    if len(after.errors) > len(before.errors) or len(after.launches) != len(before.launches):
        return False
    pairs = zip(before.launches, after.launches, strict=True)
    if any([word.shown for word in old.argv] != [word.shown for word in new.argv] for old, new in pairs):
        return False
    was = [_key(one) for one in before.findings]
    now = [_key(one) for one in after.findings]
    return now == [one for one in was if one != _key(finding)]


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.span.text, finding.message
