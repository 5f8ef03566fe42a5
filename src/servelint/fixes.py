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
_KEY = re.compile(r":(?:\s+[&!]\S+)*(?:\s+#.*)?$")
_UNFINISHED = re.compile(r"(?:&&|\|\|?)$")
_OPENS = re.compile(r"(?:\b(?:then|do|else)|[{(])$")
_CLOSES = re.compile(r"\s*(?:fi|done|else|elif)\b|\s*[})]")


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
    start, text = source.line_starts[line - 1], source.line_text(line)
    whole = re.fullmatch(
        rf"\s*(?:-\s+)?(?P<export>export\s+)?(?:(?:-e|--env)[ =])?[\"']?{name}[\"']?\s*(?:[:=]\s*[\"']?[\w.$:{{}}/+-]*)?[\"']?"
        r"(?P<more>\s+\\)?(?:\s+#.*)?",
        text,
    )
    if whole is not None:
        first = _first_line(source, line) if not (whole["export"] and whole["more"]) else None
        if first is None or line == len(source.line_starts):
            return None
        return Edit(Span(source, source.line_starts[first - 1], source.line_starts[line]), "")
    match = re.search(rf"(?:(?:-e|--env)[ =])?\b{name}=[\w.]*[ \t]+", text)
    if match is not None and re.fullmatch(r"\s*(?:exec\s+)?(?:env\s+)?", text[: match.start()]):
        return Edit(Span(source, start + match.start(), start + match.end()), "")
    return None


def _first_line(source: Source, line: int) -> int | None:
    """From which line on to delete, so that what is around stays whole: the line itself, or an `environment:` that it leaves
    empty. None where a mapping, a block of a shell or a continued command would not be whole without it.
    """
    text, before, after = source.line_text(line), _next(source, line, -1), _next(source, line, 1)
    if before.endswith("\\") and not text.endswith("\\"):
        return None
    if _UNFINISHED.search(before) or (_OPENS.search(before) and _CLOSES.match(after)):
        return None
    if _indent(after) > _indent(text) and not text.endswith("\\") and not _OPENS.search(before):
        return None  # its value goes on there
    siblings = [other for other in (before, after) if other and _indent(other) == _indent(text) and _item(other) == _item(text)]
    if siblings or not _KEY.search(before):
        return line
    return line - 1 if before.strip() == "environment:" and source.line_text(line - 1).rstrip() == before else None


def _next(source: Source, line: int, step: int) -> str:
    """The next line, up or down, that is neither blank nor a comment; "" at the end."""
    line += step
    while 1 <= line <= len(source.line_starts):
        text = source.line_text(line).rstrip()
        if text and not text.lstrip().startswith("#"):
            return text
        line += step
    return ""


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _item(text: str) -> bool:
    return text.lstrip().startswith("- ")


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
