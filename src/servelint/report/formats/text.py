"""The report for people: a code frame for each finding, and a summary line."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate

from servelint.core.finding import IMPACTS, Finding
from servelint.core.numbers import counted
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.secrets import MaskedLine, masked_line
from servelint.core.source import Source, Span
from servelint.engines import ENGINE_NAMES
from servelint.report import extent
from servelint.report.clean import clean, escapes, pieces
from servelint.report.formats import DEFAULTS, RenderOptions
from servelint.rules.ranges import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.filters.suppressions import Suppression

AUDIENCE = "people"
SUMMARY = "a code frame for each finding, and a summary"

_WIDTH = 116
_COLOURS = {"error": "1;31", "warning": "1;33", "info": "1;36", "gutter": "34", "bold": "1", "related": "36"}


class Painter:
    """Wraps text in the codes of a colour.

    Attributes:
        on: whether the output shows colours; if not, texts stay as they are.
    """

    __slots__ = ("on",)

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, colour: str, text: str) -> str:
        """Return a text in one of the colours of `_COLOURS`."""
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.on and text else text


def render(report: Report, options: RenderOptions = DEFAULTS) -> str:
    """Return the whole report; with `quiet`, without notes and summary."""
    paint = Painter(options.color)
    parts = [finding_text(finding, paint) for finding in report.findings]
    parts += [problem_text(problem, paint) for problem in report.errors]
    if not options.quiet:
        parts += [note_text(problem, paint) for problem in report.notes]
        parts += ["\n".join(found)] if options.verbose and (found := extent.lines(report)) else []
        closing = extent.closing(report, hint=not options.verbose)
        closing = f"{extent.data_line()}\n{closing}" if closing and options.verbose else closing
        parts.append(impacts(report) + summary(report, options.milliseconds) + (f"\n{closing}" if closing else ""))
    shown = "\n\n".join(parts) + "\n" if parts else ""
    return shown if options.suppressions is None else f"{shown}\n{_suppressions(options.suppressions)}"


def problem_text(problem: Problem, paint: Painter) -> str:
    """Return the line for a file that could not be read or parsed."""
    return f"{paint('error', 'error')}: {clean(problem.path)}:{problem.line}:{problem.column}: {clean(problem.message)}"


def note_text(problem: Problem, paint: Painter) -> str:
    """Return the line for something that limits what the check could judge."""
    return f"{paint('info', 'note')}: {clean(problem.path)}:{problem.line}:{problem.column}: {clean(problem.message)}"


def finding_text(finding: Finding, paint: Painter) -> str:
    """Return a finding: its message, a frame of each file that it points into, help, fix, the release and where to read on."""
    source = finding.span.source
    line, column = source.position(finding.span.start)
    head = paint(finding.severity, f"{finding.severity}[{clean(finding.rule)}]") + paint(
        "bold", f": {clean(finding.statement)}"
    )
    marks: list[tuple[Span, str, bool]] = [(finding.span, finding.label, True)]
    marks += [(related.span, related.message, False) for related in finding.related]
    own = [mark for mark in marks if mark[0].source is source]
    gutter = len(str(max(mark[0].line for mark in marks)))
    lines = [head, f"{' ' * gutter}{paint('gutter', '-->')} {clean(source.path)}:{line}:{column}"]
    lines += _frame(source, own, finding.severity, gutter, paint)
    for other in {id(mark[0].source): mark[0].source for mark in marks if mark[0].source is not source}.values():
        there = [mark for mark in marks if mark[0].source is other]
        first_line, first_column = other.position(there[0][0].start)
        lines.append(f"{' ' * gutter}{paint('gutter', ':::')} {clean(other.path)}:{first_line}:{first_column}")
        lines += _frame(other, there, finding.severity, gutter, paint)
    lines += [f"{' ' * gutter} {paint('gutter', '=')} {note}" for note in _notes(finding)]
    return "\n".join(lines)


def _notes(finding: Finding) -> list[str]:
    notes: list[str] = []
    if finding.advice:
        notes += _fix(finding)
    if finding.launch is not None:
        claim = finding.launch.release
        in_frame = claim.release is not None and claim.span is not None
        if finding.assumption:
            notes.append(f"note: {clean(finding.assumption)}")
        elif finding.release is None or not in_frame:
            judged = judged_by(finding)
            notes.append(f"note: {judged}" if judged.startswith(("no ", "judged ")) else f"note: judged as {judged}")
    if finding.evidence:
        from servelint.report.places import see  # a report without findings needs none

        notes.append(f"see: {clean(see(finding))}")
    return notes


def judged_by(finding: Finding) -> str:
    """Return the release that a finding was judged by, and the releases that it holds for."""
    if finding.launch is None:
        return ""
    engine = ENGINE_NAMES[finding.launch.engine]
    range_ = describe(finding.affected) if finding.affected else ""
    affected = f"; affected: {range_}" if range_ else ""
    if finding.release is None:
        accepting = f"version that accepts this command ({range_})" if range_ else "known version"
        return f"no {engine} version is pinned; this holds for every {accepting}"
    if finding.assumption:
        return f"{finding.assumption}{affected}"
    claim = finding.launch.release
    in_a_branch = finding.release_from is not None and not claim.rolling  # only another alternative of the launch pins one
    if claim.release is None and finding.release_from != "settings" and not in_a_branch:
        return f"judged as {engine} {finding.release}, the newest known version{affected}"
    return f"{engine} {finding.release}{affected}"


def _fix(finding: Finding) -> list[str]:
    """Return the advice and the option that applies it; with what the fix does where the advice alone does not say that."""
    advice, fix = f"help: {clean(finding.advice)}", finding.fix
    if fix is None:
        return [advice]
    option = "--fix" if fix.safe else "--unsafe-fixes"
    choice = any(sign in finding.advice for sign in (", or ", "; ", " ("))
    if not fix.note and (not choice or fix.title == finding.advice):
        return [f"{advice} ({option} does it)"]
    return [advice, f"fix: {clean(fix.title)} ({option}{'; ' + clean(fix.note) if fix.note else ''})"]


def _frame(source: Source, marks: list[tuple[Span, str, bool]], severity: str, gutter: int, paint: Painter) -> list[str]:
    bar = paint("gutter", "|")
    lines = [f"{' ' * gutter} {bar}"]
    by_line: dict[int, list[tuple[int, int, str, bool]]] = {}
    for span, label, primary in marks:
        line, column = source.position(span.start)
        stop = source.position(span.end)
        end = stop[1] if stop[0] == line else len(source.line_text(line)) + 1
        by_line.setdefault(line, []).append((column - 1, max(end - 1, column), label, primary))
    for line in sorted(by_line):
        printed = masked_line(source, line)
        text, starts = _escaped(printed.text)
        rows = [(starts[start], starts[end], label, primary) for start, end, label, primary in _moved(by_line[line], printed)]
        rows.sort(key=lambda row: (not row[3], row[0]))
        part, shift = _window(text, rows[0][0], max(row[1] for row in rows))
        lines.append(f"{paint('gutter', str(line).rjust(gutter))} {bar} {part}")
        for start, end, label, primary in rows:
            left = _columns(text[max(shift, 0) : start]) + (1 if shift else 0)
            width = max(1, min(_columns(text[start:end]), _WIDTH - left))
            if start < shift or left >= _WIDTH:
                continue
            mark = ("^" if primary else "-") * width
            pointer = paint(severity if primary else "related", f"{mark} {clean(label)}".rstrip())
            lines.append(f"{' ' * gutter} {bar} {' ' * left}{pointer}")
    lines.append(f"{' ' * gutter} {bar}")
    return lines


def _moved(rows: list[tuple[int, int, str, bool]], printed: MaskedLine) -> list[tuple[int, int, str, bool]]:
    """Move the marks of a line of the file to the line as printed, with its secrets masked."""
    moved = [(printed.at(start), printed.at(end, end=True), label, primary) for start, end, label, primary in rows]
    last = len(printed.text)
    return [(min(start, last), min(max(end, start), last + 1), label, primary) for start, end, label, primary in moved]


def _escaped(text: str) -> tuple[str, list[int]]:
    """Return a line with escapes, and where each of its characters begins there; the end and the column after it too."""
    text = text.replace("\t", " ")
    if escapes(text) is text:
        return text, list(range(len(text) + 2))
    parts = pieces(text)
    starts = [0, *accumulate([len(part) for part in parts])]
    return "".join(parts), [*starts, starts[-1] + 1]


def _window(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the part of a long line around a span, at most _WIDTH columns, and the number of characters cut off before."""
    if _fit(text, _WIDTH) == len(text):
        return text, 0
    shift = 0
    if _columns(text[:end]) > _WIDTH - 4:
        behind = _columns(text[start : start + _WIDTH])
        shift = start - _fit(text[:start][::-1], max(20, _WIDTH - 1 - behind))
    front = "\u2026" if shift else ""
    part = text[shift:]
    if _fit(part, _WIDTH - len(front)) < len(part):
        return front + part[: _fit(part, _WIDTH - len(front) - 1)] + "\u2026", shift
    return front + part, shift


def _fit(text: str, width: int) -> int:
    """Return how many characters from the start of a text fit into a number of terminal columns."""
    if text.isascii():
        return min(len(text), width)
    taken = 0
    for index, char in enumerate(text):
        taken += _columns(char)
        if taken > width:
            return index
    return len(text)


def _columns(text: str) -> int:
    """Return how many terminal columns a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(0 if category(char) in ("Mn", "Me") else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def impacts(report: Report) -> str:
    """Return "by impact: wrong-output 1, silently-ignored 2" and a line end; nothing where there is no finding."""
    counts = Counter([finding.impact for finding in report.findings])
    parts = [f"{impact} {counts[impact]}" for impact in IMPACTS if counts[impact]]
    return f"by impact: {', '.join(parts)}\n" if parts else ""


def summary(report: Report, milliseconds: float | None) -> str:
    """Return "found 1 error, 2 warnings in 4 launches (3 files, 38 ms); 1 fixable with --fix"."""
    counts = Counter([finding.severity for finding in report.findings])
    names = {"error": ("error", "errors"), "warning": ("warning", "warnings"), "info": ("note", "notes")}
    found = ", ".join([counted(counts[severity], *names[severity]) for severity in names if counts[severity]])
    where = f"in {counted(len(report.launches), 'launch', 'launches')} ({counted(report.files, 'file', 'files')}"
    where += f", {milliseconds:.0f} ms)" if milliseconds is not None else ")"
    text = f"found {found} {where}" if found else f"nothing found {where}"
    if report.errors:
        text += f"; {counted(len(report.errors), 'file', 'files')} could not be read"
    if passed := sum(problem.limit for problem in report.notes):
        text += f"; {counted(passed, 'large file was', 'large files were')} passed over"
    safe = sum(finding.fix is not None and finding.fix.safe for finding in report.findings)
    unsafe = sum(finding.fix is not None and not finding.fix.safe for finding in report.findings)
    if safe or unsafe:
        text += f"; {safe} fixable with --fix" if safe else f"; {unsafe} fixable with --unsafe-fixes"
    text += f", {unsafe} with --unsafe-fixes" if safe and unsafe else ""
    if report.known:
        text += f"; {counted(report.known, 'known finding is', 'known findings are')} left out (baseline)"
    if report.unchanged:
        text += f"; {counted(report.unchanged, 'finding', 'findings')} in unchanged code left out"
    return text


def _suppressions(found: list[Suppression]) -> str:
    """List the suppressions in force, each with the findings that it hides."""
    if not found:
        return "no suppression is in force\n"
    count = sum(one.trusted for one in found)
    rest = f", {len(found) - count} not trusted" if count < len(found) else ""
    lines = [f"{count} {'suppression is' if count == 1 else 'suppressions are'} in force{rest}:"]
    for one in found:
        place = f"{one.path}:{one.line}:{one.column}" if one.line else one.path
        reason = f" ({one.reason})" if one.reason else ""
        lines.append(clean(f"{place}: {one.kind}: {one.what or 'no rule'}{reason}{_effect(one)}"))
        for finding in one.hidden or ():
            line, column = finding.span.source.position(finding.span.start)
            path = finding.span.source.path
            lines.append(clean(f"    {path}:{line}:{column}: {finding.severity}[{finding.rule}] {finding.statement}"))
    return "".join([line + "\n" for line in lines])


def _effect(one: Suppression) -> str:
    if not one.trusted:
        return "; not trusted, so it hides nothing"
    return "; hides nothing" if one.hidden == [] else ""
