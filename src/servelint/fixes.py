"""Fixes: text edits at spans, made from a rule's `fix`, applied from the end of a file. Never a re-serialised file."""

from __future__ import annotations

import re
from collections.abc import Callable

from servelint.engines.config import Config
from servelint.finding import Edit, Finding, Fix
from servelint.source import Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PLAIN = re.compile(r"[\w./:-]+", re.ASCII)


def fix_for(fix: dict[str, Any], config: Config, fill: Callable[[str], str]) -> Fix | None:
    """The edits of a rule's fix at a launch; None where the text to change does not stand in the file as such.

    set: operand -> new value (plain characters only, which need no quoting anywhere);  unset-env: a variable's name
    """
    edits: list[Edit] = []
    titles: list[str] = []
    for name, value in fix.get("set", {}).items():
        text = config.operand(name).text
        written = text.written if text is not None else None
        new = fill(str(value))
        if written is None or _PLAIN.fullmatch(new) is None:
            return None
        edits.append(Edit(written, new))
        titles.append(f"{name.rpartition('.')[2] if '.' in name else '--' + name} {new}")
    if "unset-env" in fix:
        variable = config.launch.env.get(fix["unset-env"])
        edit = _removal(fix["unset-env"], variable.site) if variable is not None and variable.site is not None else None
        if edit is None:
            return None
        edits.append(edit)
        titles.append(f"delete {fix['unset-env']}")
    if any(edit.span.source is not config.launch.source for edit in edits):
        return None
    return Fix(", ".join(titles), bool(fix["safe"]), edits)


def _removal(name: str, site: Span) -> Edit | None:
    """The edit that takes a variable's definition away, with its line where it has one to itself."""
    source = site.source
    line = source.position(site.start)[0]
    start = source.line_starts[line - 1]
    text = source.line_text(line)
    if len(source.text) > start + len(text) and re.fullmatch(
        rf"\s*(?:-\s+)?(?:export\s+|(?:-e|--env)[ =])?[\"']?{name}[\"']?\s*(?:[:=]\s*\S*)?[\"']?(?:\s+\\|\s+#.*)?", text
    ):
        end = source.line_starts[line] if line < len(source.line_starts) else len(source.text)
        return Edit(Span(source, start, end), "")
    match = re.search(rf"(?:(?:-e|--env)[ =])?\b{name}=[\w.]*[ \t]+", text)
    if match is not None and text[: match.start()].strip(" \t") in ("", "exec", "env"):
        return Edit(Span(source, start + match.start(), start + match.end()), "")
    return None


class Applied:
    """A source's text after its fixes, and the findings that were fixed."""

    __slots__ = ("findings", "source", "text")

    def __init__(self, source: Source, text: str, findings: list[Finding]) -> None:
        self.source = source
        self.text = text
        self.findings = findings


def apply(source: Source, findings: list[Finding], unsafe: bool) -> Applied:
    """Apply the fixes of a source's findings, from its end; one that overlaps another already taken is left out."""
    taken: list[tuple[int, int, str]] = []
    fixed: list[Finding] = []
    for finding in findings:
        fix = finding.fix
        if fix is None or not (fix.safe or unsafe):
            continue
        wanted = [(edit.span.start, edit.span.end, edit.text) for edit in fix.edits if edit.span.source is source]
        if len(wanted) < len(fix.edits):
            continue
        new = [edit for edit in wanted if edit not in taken]
        if any(start < other_end and other_start < end for start, end, _ in new for other_start, other_end, _ in taken):
            continue
        taken += new
        fixed.append(finding)
    text = source.text
    for start, end, replacement in sorted(taken, reverse=True):
        text = text[:start] + replacement + text[end:]
    return Applied(source, text, fixed)
