"""Cards of the page: a finding with its code and its fix, a launch with its facts and its memory plan."""

from __future__ import annotations

import re
from copy import copy
from itertools import pairwise

from servelint.core.finding import Edit, Finding
from servelint.core.launch import Launch
from servelint.core.numbers import counted
from servelint.core.secrets import MaskedLine, masked_line, masked_text, without
from servelint.core.source import Source, Span
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import configs
from servelint.engines.launch_files import carry
from servelint.filters.masking import secrets_of
from servelint.report import extent
from servelint.report.clean import clean
from servelint.report.formats.text import judged_by
from servelint.report.places import address, edited, printable, relative, see

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Versions = Callable[[str], dict[str, str]]
    """Path to the releases of the engines where a file pins none."""
    from collections.abc import Callable

    from servelint.memory.plan import MemoryPlan, Part

    PlanOf = Callable[[Launch], MemoryPlan | None]
    """Launch to its memory plan; None where it has none."""


def escaped(text: str) -> str:
    """Escape a text for an element and for a quoted attribute."""
    text = clean(text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("'", "&#39;")


def cited(evidence: str) -> str:
    """Return a source that a rule cites: a link if it is a web address, and what it says."""
    source, _, says = evidence.partition(" (")
    url = address(evidence)
    if url is None:
        return escaped(evidence)
    quoted = f" ({escaped(says)}" if says else ""
    return f'<a href="{escaped(url)}" rel="noreferrer">{escaped(source.rpartition("://")[2])}</a>{quoted}'


def judged(launch: Launch) -> str:
    """Return what of a launch was not judged, behind a click; nothing where all was."""
    record = launch.judged
    if record is None or not record.open:
        return ""
    rows = [extent.sentence(one) for one in record.unresolved]
    rows += [f"{one.rule} is undecided without {listed(one.lacks)}" for one in record.undecided or ()]
    items = "".join([f"<li>{escaped(row)}</li>" for row in rows])
    way = record.assumption or record.standing
    more = f"; {counted(len(rows), 'point', 'points')} not judged" if rows else ""
    return f"<details><summary>How it was judged: {escaped(way)}{more}</summary><ul>{items}</ul></details>"


DOES = {
    "wrong-output": "answers wrongly",
    "crash-at-start": "does not start",
    "crash-at-load": "stops while it loads",
    "crash-at-runtime": "stops while it serves",
    "out-of-memory": "runs out of memory",
    "security": "is a security risk",
    "silently-ignored": "ignores a setting",
    "performance-loss": "is slower than it could be",
    "deprecated": "breaks with a later release",
    "best-practice": "departs from good practice",
}
"""Impact to what the launch does."""

SEVERITIES = {"error": ("error", "errors"), "warning": ("warning", "warnings"), "info": ("note", "notes")}
"""Severity to singular and plural, the worst first."""

MEMORY = {
    "fits": ("fine", "fits"),
    "tight": ("warning", "tight: it may not start"),
    "refused": ("error", "does not start"),
    "oom-risk": ("error", "may run out of memory after its own check"),
}
"""Verdict of a memory plan to the style and the text of its badge."""

NAMED_BY = {"image": "named by the image", "pip": "named by pip install", "settings": "named by the settings"}
"""Origin of a release to its description."""


def impact_name(impact: str) -> str:
    """Return what a launch does, by the impact of a finding; the impact itself where it is not known."""
    return DOES.get(impact, impact)


def listed(parts: list[str]) -> str:
    """Return "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def article(finding: Finding, fingerprint: str, opened: bool, opens: Callable[[Span], str] | None = None) -> str:
    """Return a finding: what is wrong and what to write; code, fix, releases and evidence behind a click.

    Args:
        finding: the finding.
        fingerprint: one that no other finding of the page has.
        opened: whether the part behind the click is open.
        opens: span to an address that opens it; None where the page is not to name one.
    """
    source = finding.span.source
    line, column = source.position(finding.span.start)
    engine = finding.launch.engine if finding.launch is not None else ""
    name = f"finding-{escaped(fingerprint)}"
    severity = finding.severity
    advice = f'<p class="advice"><b>What to do:</b> {escaped(finding.advice)}</p>' if finding.advice else ""
    impact = f"the launch {impact_name(finding.impact)}" if finding.launch is not None else impact_name(finding.impact)
    where = f"{escaped(relative(source.path).rpartition('/')[2])}:{line}:{column}"
    place = f'<a href="#{name}">{where}</a>'
    if opens is not None:
        shown = escaped(opens(finding.span))
        place = f'<a href="{shown}" rel="noreferrer">{where}</a> <a href="#{name}">link to this finding</a>'
    head = (
        f'<article class="finding {severity}" id="{name}" data-severity="{severity}" data-impact="{escaped(finding.impact)}"'
        f' data-engine="{escaped(engine)}">'
        f'<h5><span class="badge {severity}">{SEVERITIES[severity][0]}</span> {escaped(finding.statement)}</h5>{advice}'
        f'<p class="meta">{place}'
        f" <span>{escaped(impact)}</span>"
        f' <a href="#rule-{escaped(finding.rule)}">{escaped(finding.rule)}</a></p>'
    )
    body = f"{frames(finding)}{_fix(finding)}{_notes(finding)}"
    return f"{head}<details{' open' if opened else ''}><summary>Code and evidence</summary>{body}</details></article>\n"


def _fix(finding: Finding) -> str:
    fix = finding.fix
    if fix is None:
        return ""
    option = "--fix" if fix.safe else "--unsafe-fixes"
    note = f" ({escaped(fix.note)})" if fix.note else ""
    return f"<p><b>Fix:</b> <code>servelint check {option}</code> does it: {escaped(fix.title)}{note}</p>{diff(finding)}"


def _notes(finding: Finding) -> str:
    notes: list[str] = []
    if finding.launch is not None:
        notes.append(f"<b>Release:</b> {escaped(judged_by(finding))}")
    if finding.confidence != "high":
        notes.append(f"<b>Confidence:</b> {escaped(finding.confidence)}")
    if finding.evidence:
        more = len(finding.evidence) - 1
        rest = f', <a href="#rule-{escaped(finding.rule)}">{more} more</a>' if more else ""
        where = see(finding)
        catalog = finding.evidence[0].startswith("the published source")
        shown = f"<code>{escaped(where)}</code>" if catalog else cited(finding.evidence[0])
        notes.append(f"<b>{'More' if catalog else 'Evidence'}:</b> {shown}{rest}")
    return "".join([f"<p>{note}</p>" for note in notes])


_AROUND = 160
"""Characters that are shown before and after a mark in a long line."""
_WIDTH = 640
_LINES = 8
"""Lines of a longer span that are shown."""
_QUOTED = 48
_ALSO = ' class="also"'

Mark = tuple[int, int, str, bool]
"""Start and end in a line, the label, and whether the mark is the finding's own, not a related one."""


def frames(finding: Finding) -> str:
    """Return a figure for each file that a finding points into, its own first.

    Only lines with marks are shown: other lines of a file may be private.
    """
    places = [(finding.span, finding.label, True), *[(one.span, one.message, False) for one in finding.related]]
    sources = list({id(span.source): span.source for span, _, _ in places}.values())
    return "".join(
        [_frame(source, [one for one in places if one[0].source is source], source is not sources[0]) for source in sources]
    )


def _frame(source: Source, places: list[tuple[Span, str, bool]], named: bool) -> str:
    """Return a figure of one file; with its path where `named`, which the heading has for the finding's own file."""
    lines: dict[int, list[Mark]] = {}
    more: dict[int, int] = {}
    for span, label, primary in places:
        first, last = span.line, span.end_line
        until = min(last, first + _LINES - 1)
        for line in range(first, until + 1):
            text = source.line_text(line)
            start = source.position(span.start)[1] - 1 if line == first else len(text) - len(text.lstrip())
            end = source.position(span.end)[1] - 1 if source.position(span.end)[0] == line else len(text)
            mark = (start, max(end, start + 1), label if line == first else "", primary)
            lines.setdefault(line, []).append(mark)
        if until < last:
            more[until] = max(last - until, more.get(until, 0))
    rows: list[str] = []
    for number in sorted(lines):
        rows.append(_line(masked_line(source, number), number, lines[number]))
        if number in more:
            rows.append(f'<span class="more">and {more[number]} more lines</span>')
    head = ""
    if named:
        line, column = source.position(places[0][0].start)
        head = f"<figcaption>{escaped(relative(source.path))}:{line}:{column}</figcaption>"
    return f'<figure class="frame">{head}<pre><code>{"".join(rows)}</code></pre></figure>'


def _line(printed: MaskedLine, number: int, marks: list[Mark]) -> str:
    """Return a line with its marks, and the labels below it."""
    text = printed.text
    marks = [(printed.at(one[0]), printed.at(one[1], end=True), *one[2:]) for one in marks]
    marks.sort(key=lambda mark: (not mark[3], mark[0]))
    start, end = _window(len(text), marks)
    cuts = sorted({start, end, *[min(max(at, start), end) for mark in marks for at in mark[:2]]})
    parts = ["\u2026" if start else ""]
    for left, right in pairwise(cuts):
        kinds = [mark[3] for mark in marks if mark[0] <= left and right <= mark[1]]
        piece = escaped(text[left:right].replace("\t", " "))
        parts.append(f"<mark{'' if True in kinds else _ALSO}>{piece}</mark>" if kinds else piece)
    if any(mark[0] >= len(text) for mark in marks):
        parts.append("<mark> </mark>")  # after the last character
    parts.append("\u2026" if end < len(text) else "")
    labels = "".join([_label(text, mark, len(marks) > 1) for mark in marks if mark[2]])
    return f'<span class="line" data-line="{number}">{"".join(parts)}</span>{labels}'


def _label(text: str, mark: Mark, several: bool) -> str:
    """Return the label of a mark; with the marked text where the line has several marks."""
    quoted = ""
    if several:
        marked = text[mark[0] : mark[1]].strip()
        cut = marked if len(marked) <= _QUOTED else marked[: _QUOTED - 1] + "\u2026"
        quoted = f"<mark{'' if mark[3] else _ALSO}>{escaped(cut)}</mark> "
    return f'<span class="label">{quoted}{escaped(mark[2])}</span>'


def _window(length: int, marks: list[Mark]) -> tuple[int, int]:
    """Return the part of a line that is shown: around the first mark, with the other marks that fit."""
    if length <= _WIDTH:
        return 0, length
    start = max(0, min(marks[0][0], length) - _AROUND)
    others = [mark[1] for mark in marks if mark[1] <= start + _WIDTH]
    return start, min(length, start + _WIDTH, max([marks[0][1], *others]) + _AROUND)


_DIFF_LINES = 24
"""Changed lines of one place that are shown."""
_DIFF_WIDTH = 400


def diff(finding: Finding) -> str:
    """Return a figure for each file that a finding's fix changes; none where the fix writes a secret."""
    if finding.fix is None or not finding.fix.edits or not printable(finding):
        return ""
    edits: dict[int, list[Edit]] = {}
    for edit in finding.fix.edits:
        edits.setdefault(id(edit.span.source), []).append(edit)
    return "".join([_of_source(several, finding.span.source) for several in edits.values()])


def _of_source(edits: list[Edit], own: Source) -> str:
    """Return a figure of the edits in one file; `own` is the finding's file, whose path the heading has."""
    source = edits[0].span.source
    edits = sorted(edits, key=lambda edit: edit.span.start)
    places: list[list[Edit]] = []
    for edit in edits:
        if places and edit.span.line <= source.position(places[-1][-1].span.end)[0] + 1:
            places[-1].append(edit)
        else:
            places.append([edit])
    parts = [part for place in places for part in _change(source, place)]
    head = f"<figcaption>{escaped(relative(source.path))}</figcaption>" if source is not own else ""
    return f'<figure class="frame diff">{head}<pre><code>{"".join(parts)}</code></pre></figure>' if parts else ""


def _change(source: Source, edits: list[Edit]) -> list[str]:
    """Return the lines of edits that are close together, before and after."""
    starts = source.line_starts
    first, last = edits[0].span.line, source.position(edits[-1].span.end)[0]
    start = starts[first - 1]
    end = starts[last] if last < len(starts) else len(source.text)
    before, after = _split(source.text[start:end]), _split(edited(source, edits, start, end))
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return [*_diff_lines("del", "-", before, source), *_diff_lines("ins", "+", after, source)]


def _split(text: str) -> list[str]:
    lines = re.split("\r\n|\r|\n", text)
    return lines if lines[-1] else lines[:-1]


def _diff_lines(name: str, sign: str, lines: list[str], source: Source) -> list[str]:
    shown = [
        f'<{name} class="line" data-line="{sign}">{escaped(_masked(line, source))}</{name}>' for line in lines[:_DIFF_LINES]
    ]
    if len(lines) > _DIFF_LINES:
        shown.append(f'<span class="more">and {len(lines) - _DIFF_LINES} more lines</span>')
    return shown


def _masked(line: str, source: Source) -> str:
    line = masked_text(line, source).replace("\t", " ")
    return line if len(line) <= _DIFF_WIDTH else line[: _DIFF_WIDTH - 1] + "\u2026"


_UNSAID = '<span class="unsaid">not known</span>'
_MODELS = ("hf-repo", "model-url", "model-id")
"""Options that name the model, besides the one that every engine has (llama.cpp, TGI)."""
_LONGEST = 200


def place(launch: Launch) -> str:
    """Return "compose.yml:12"."""
    return f"{relative(launch.source.path)}:{launch.line}"


def title(launch: Launch) -> str:
    """Return "services.llm, line 12"."""
    where = f"line {launch.line}" if launch.line == launch.end_line else f"lines {launch.line}\u2013{launch.end_line}"
    return f"{escaped(_cut(launch.name))}, {where}" if launch.name else where[:1].upper() + where[1:]


def facts(launch: Launch, versions: Versions) -> str:
    """Return the engine, release, model, GPUs and image of a launch."""
    secrets = secrets_of([launch])
    model, gpus = _read(launch)
    rows = [
        ("Engine", escaped(ENGINE_NAMES[launch.engine])),
        ("Release", _release(launch, versions(launch.source.path).get(launch.engine))),
        ("Model", _known(model, secrets)),
        ("GPUs", _known(gpus, secrets)),
    ]
    if launch.image is not None:
        rows.append(("Image", _known(launch.image.shown, secrets)))
    return f'<dl class="facts">{"".join([f"<div><dt>{term}</dt><dd>{shown}</dd></div>" for term, shown in rows])}</dl>'


def _known(text: str, secrets: tuple[str, ...]) -> str:
    return f"<code>{escaped(_cut(without(text, secrets)))}</code>" if text else _UNSAID


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\u2026"


def _release(launch: Launch, given: str | None) -> str:
    """Return the release of a launch and its origin."""
    claim = launch.release
    if claim.release is not None:
        return (
            f"<code>{escaped(claim.release)}</code>, {NAMED_BY[claim.how]}" if claim.how in NAMED_BY else escaped(claim.release)
        )
    if given is not None:
        return f"<code>{escaped(given)}</code>, {NAMED_BY['settings']}"
    return "the newest at the time of the pull" if claim.rolling else _UNSAID


def _read(launch: Launch) -> tuple[str, str]:
    """Return the model as the launch writes it, and its GPUs; empty texts where they are not known."""
    bare = copy(launch)
    bare.open = carry(launch)  # as other processes send it: the page is the same for any number of processes
    release = launch.release.release
    (config,) = configs(bare, [release] if release is not None else [])
    model = config.reading.model
    named = [setting.value for name in _MODELS if (setting := config.setting(name)) is not None and setting.value is not None]
    shown = model.shown if model is not None else named[0].shown if named else ""
    count, container = config.operand("gpu.count").value, launch.container
    product = container.settings.get("gpu_product") if container is not None else None
    name = config.gpu_name or (product.shown if product is not None else "")
    many = str(count) if count is not None else ""
    return shown, f"{many} \u00d7 {name}" if many and name else many or name


_LOOKS = {
    "weights": ("a", "plain"),
    "draft weights": ("a", "dots"),
    "lora adapters": ("a", "level"),
    "kv cache": ("b", "rising"),
    "states": ("b", "dots"),
    "activations": ("c", "upright"),
    "prefill": ("c", "upright"),
    "sampler": ("c", "dots"),
    "request table": ("c", "level"),
    "buffers": ("c", "plain"),
    "cuda graphs": ("d", "falling"),
    "cuda context": ("d", "plain"),
    "shared with the host": ("e", "level"),
}
"""Part of a plan to its colour and its pattern, which distinguishes it where colours do not."""

_OTHER = ("e", "dots")
_SHAPES = {
    "dots": '<circle cx="3" cy="3" r="1.2"/>',
    "rising": '<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5"/>',
    "falling": '<path d="M-1 5L1 7M0 0L6 6M5 -1L7 1"/>',
    "upright": '<path d="M3 0V6"/>',
    "level": '<path d="M0 3H6"/>',
}
_HEIGHT = 24
_LETTER = 2.3
"""Width of a letter on a narrow screen, in percent of the bar."""


def shapes() -> str:
    """Return the patterns that fill the bars of the page, which it needs once."""
    looks = sorted({look for look in (*_LOOKS.values(), _OTHER) if look[1] in _SHAPES})
    patterns = "".join(
        [
            f'<pattern id="{_name(look)}" class="memory-{look[0]}" width="6" height="6" patternUnits="userSpaceOnUse">'
            f'<rect width="6" height="6"/>{_SHAPES[look[1]]}</pattern>'
            for look in looks
        ]
    )
    return f'<svg class="memory-shapes" width="0" height="0" aria-hidden="true"><defs>{patterns}</defs></svg>\n'


def memory(plan: MemoryPlan, secrets: tuple[str, ...]) -> str:
    """Return the memory plan of a launch: verdict, a stacked bar of one GPU, and a table of the parts behind a click.

    Args:
        plan: the plan.
        secrets: texts of the launch that must not be shown.
    """

    def shown(text: str) -> str:
        return escaped(without(text, secrets))

    total = plan.gpu_gib or 0.0
    parts = sorted(plan.parts, key=lambda part: not part.inside)  # the engine's share is one stretch of the bar
    kind, verdict = MEMORY[plan.verdict]
    return (
        f'<div class="memory"><p><b>Memory:</b> <span class="badge {kind}">{escaped(verdict)}</span> {shown(_room(plan))}</p>'
        f"{_bar(parts, plan, total, shown)}{_parts_table(parts, plan, shown)}</div>"
    )


def _room(plan: MemoryPlan) -> str:
    """Return what the KV cache holds, or how much memory is missing."""
    found = []
    if (more := sum(max(part.gib.mid, 0.0) for part in plan.parts) - (plan.gpu_gib or 0.0)) > 0:
        found.append(f"{more:.1f} GiB more than the GPU has")
    if plan.kv_tokens is not None and plan.verdict != "refused":
        found.append(f"KV cache of {counted(plan.kv_tokens, 'token', 'tokens')}")
        if plan.max_concurrency is not None and plan.max_model_len:
            found.append(f"{plan.max_concurrency:,.1f} requests of {plan.max_model_len:,} tokens at once")
    longest = plan.largest_context
    if plan.verdict != "fits" and longest and plan.max_model_len and longest < plan.max_model_len:
        found.append(f"the longest context that would start is about {longest:,} tokens")
    return ", ".join(found)


def _bar(parts: list[Part], plan: MemoryPlan, total: float, shown: Callable[[str], str]) -> str:
    """Return the bar of one GPU; as long as the parts where they take more than the GPU has."""
    whole = max(total, sum(max(part.gib.mid, 0.0) for part in parts)) or 1.0
    drawn = ""
    at = 0.0
    for part in parts:
        width = max(part.gib.mid, 0.0) / whole * 100
        if width <= 0:
            continue
        drawn += f'<rect x="{at:.2f}%" width="{width:.2f}%" height="{_HEIGHT}" {_fill(part.name)}/>'
        if width >= _LETTER * len(part.name):
            drawn += f'<text x="{at + width / 2:.2f}%" y="16">{escaped(part.name)}</text>'
        at += width
    if plan.budget_gib is not None and plan.budget_gib < whole:
        drawn += _edge(plan.budget_gib / whole * 100, "share")
    if total < whole:
        drawn += _edge(total / whole * 100, "end")
    name = shown(_described(parts, plan, total))
    return f'<svg class="bar" role="img" aria-label="{name}" width="100%" height="{_HEIGHT}">{drawn}</svg>'


def _edge(at: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{at:.2f}%" x2="{at:.2f}%" y1="0" y2="{_HEIGHT}"/>'


def _described(parts: list[Part], plan: MemoryPlan, total: float) -> str:
    """Return the bar in words, for screen readers."""
    each = [f"{part.name} {part.gib.mid:.1f} GiB" for part in parts if part.gib.mid > 0]
    left = total - sum(max(part.gib.mid, 0.0) for part in parts)
    each.append(f"free {left:.1f} GiB" if left >= 0 else f"{-left:.1f} GiB more than there are")
    return f"{_gpu(plan)} of {total:.1f} GiB: {', '.join(each)}"


def _gpu(plan: MemoryPlan) -> str:
    return f"One {plan.gpu or 'GPU'}" + (f" of {plan.gpu_count}" if plan.gpu_count > 1 else "")


def _parts_table(parts: list[Part], plan: MemoryPlan, shown: Callable[[str], str]) -> str:
    rows = "".join([_part_row(part, shown) for part in parts])
    share = f"; the engine's share, the dashed line: {plan.budget_gib:.2f} GiB" if plan.budget_gib is not None else ""
    release = f"{ENGINE_NAMES[plan.engine]} {plan.release or ''}".rstrip()
    caption = f"{_gpu(plan)} under {release}: {plan.gpu_gib or 0.0:.2f} GiB{share}"
    notes = [f"<b>It says:</b> {shown(plan.refusal)}"] if plan.refusal else []
    if plan.need_gib is not None and plan.max_model_len:
        notes.append(f"One request of {plan.max_model_len:,} tokens needs {plan.need_gib:.2f} GiB of the KV cache.")
    notes += [f"<b>Note:</b> {shown(text)}" for text in plan.notes]
    return (
        f"<details><summary>Where the memory goes</summary><table><caption>{shown(caption)}</caption><thead><tr>"
        '<th scope="col">Part</th><th scope="col">GiB (least to most)</th>'
        '<th scope="col">Where that comes from</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>{''.join([f'<p>{note}</p>' for note in notes])}</details>"
    )


def _part_row(part: Part, shown: Callable[[str], str]) -> str:
    from servelint.report.memory import interval_text

    swatch = f'<svg width="14" height="14" aria-hidden="true"><rect width="14" height="14" {_fill(part.name)}/></svg>'
    origin = shown(part.origin) + ("" if part.inside else " (outside the engine's share)")
    return f'<tr><th scope="row">{swatch} {escaped(part.name)}</th><td>{interval_text(part.gib)}</td><td>{origin}</td></tr>'


def _fill(part: str) -> str:
    look = _LOOKS.get(part, _OTHER)
    return f'fill="url(#{_name(look)})"' if look[1] in _SHAPES else f'class="memory-{look[0]}"'


def _name(look: tuple[str, str]) -> str:
    return f"memory-{look[0]}-{look[1]}"
