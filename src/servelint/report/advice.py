"""The adviser's recommendation: as text, as data for programs, and as a picture of the gain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from servelint.advise.commands import Note
from servelint.advise.recommendation import Recommendation
from servelint.core.numbers import counted
from servelint.engines import ENGINE_NAMES
from servelint.report.clean import clean
from servelint.report.formats.html.cards import escaped
from servelint.speculation.gains import Crossover, Gain, Measurement

_BAR = 48


def advice_text(found: Recommendation) -> str:
    """Return a recommendation for a person: on or off, why, a picture of the gain over requests, the command."""
    name = ENGINE_NAMES.get(found.engine, found.engine)
    where = f" on {found.gpu}" if found.gpu else ""
    lines = [f"{clean(found.model)}, {name} {found.release}{clean(where)}"]
    load = found.load
    lines.append(f"  load: {load.says}: {load.concurrency} at a time, {load.input:,} tokens in, {load.output:,} out")
    lines.append(f"  speculate: {found.verdict}{_how(found)}")
    lines += [f"  {'why' if index == 0 else '   '}: {clean(text)}" for index, text in enumerate(found.reasons)]
    if found.step_ratio is not None and found.expected_gain is not None:
        lines.append(
            f"  tail: a token whose drafts are all rejected takes {found.step_ratio:.2f} times as long as without them"
        )
    if found.memory is not None and found.memory.sentence:
        lines.append(f"  memory: {clean(found.memory.sentence)}")
    if found.crossover is not None:
        lines += ["", *crossover_lines(found.crossover)]
    near = found.expected_gain.near if found.expected_gain is not None else []
    if near:
        lines += ["", "  measured nearby:"]
        lines += [f"    {_measured(one)}" for one in near]
    if found.command is not None:
        lines += ["", f"  {clean(found.command.command)}"]
        lines += [f"    {clean(note.text)}" for note in found.command.notes]
    return "".join([line.rstrip() + "\n" for line in lines])


def _how(found: Recommendation) -> str:
    if not found.enable:
        return ""
    tokens = found.num_speculative_tokens
    return f", {found.method}, {tokens} {'token' if tokens == 1 else 'tokens'} ({found.profile})"


def _measured(one: Measurement) -> str:
    case = one.case
    where = f"{clean(case.model or 'a model')}, {clean(case.gpu or 'a GPU')}"
    drafted = counted(case.drafted, "token", "tokens")
    return f"{one.gain:.2f} with {drafted}, {case.concurrency} at a time: {where} ({clean(one.source)})"


def crossover_lines(found: Crossover) -> list[str]:
    """Return a line for each number of requests: the likely range of the gain, its middle marked, a bar at 1."""
    known = [(batch, gain) for batch, gain in found.points if gain is not None]
    if not known:
        return []
    most = max([gain.high for _, gain in known] + [1.2])
    least = min([gain.low for _, gain in known] + [0.9])

    def cell(value: float) -> int:
        return round((value - least) / (most - least) * (_BAR - 1))

    lines = [f"  gain of {found.spec_tokens} draft {'token' if found.spec_tokens == 1 else 'tokens'} over requests at a time:"]
    for batch, gain in known:
        cells = [" "] * _BAR
        cells[cell(1)] = "|"
        for index in range(cell(gain.low), cell(gain.high) + 1):
            cells[index] = "─" if cells[index] == " " else "┼"
        cells[cell(gain.mid)] = "●"
        lines.append(f"  {batch:>5}  {''.join(cells)}  {gain.mid:.2f} ({gain.low:.2f} to {gain.high:.2f})")
    lines.append(f"  {_crossing(found)}")
    return lines


def _crossing(found: Crossover) -> str:
    crossed = found.crossover_batch_size
    if crossed is None:
        return f"the gain is certain up to {found.known_to} concurrent requests; beyond that it is not known"
    may, sure = crossed
    surely = f", and certainly lost from {sure}" if sure is not None else ""
    likely = f", is likely lost from {found.likely}" if found.likely is not None else ""
    dips = "".join(f"; it dips between {first} and {last}" for first, last in found.dips if first != last)
    return f"the gain may be lost from {may} requests on{likely}{surely}{dips}"


def advice_data(found: Recommendation) -> dict[str, Any]:
    """Return a recommendation as data for programs."""
    load, command, memory = found.load, found.command, found.memory
    gain = found.expected_gain
    return {
        "engine": found.engine,
        "release": found.release,
        "model": found.model,
        "gpu": found.gpu,
        "load": {"concurrency": load.concurrency, "input": load.input, "output": load.output, "source": load.source},
        "objective": found.objective.value,
        "enable": found.enable,
        "verdict": found.verdict,
        "method": found.method,
        "num_speculative_tokens": found.num_speculative_tokens,
        "profile": found.profile,
        "expected_gain": _gain(gain),
        "reasons": list(found.reasons),
        "step_ratio": found.step_ratio,
        "memory": None
        if memory is None
        else {
            name: {"verdict": plan.verdict, "kv_tokens": plan.kv_tokens}
            for name, plan in (("off", memory.off), ("on", memory.on))
        },
        "broken": _notes(found.broken),
        "command": None
        if command is None
        else {"command": command.command, "argv": list(command.argv), "env": command.env, "notes": _notes(command.notes)},
        "crossover": crossover_data(found.crossover) if found.crossover is not None else None,
        "measurements": [_measurement(one) for one in gain.near] if gain is not None else [],
    }


def _notes(notes: Iterable[Note]) -> list[dict[str, Any]]:
    return [{"message": note.text, "rule": note.rule, "evidence": list(note.evidence)} for note in notes]


def crossover_data(found: Crossover) -> dict[str, Any]:
    """Return the curve of a gain as data for programs, with the numbers of requests at which it is lost."""
    crossed = found.crossover_batch_size
    return {
        "spec_tokens": found.spec_tokens,
        "crossover_batch_size": list(crossed) if crossed is not None else None,
        "likely": found.likely,
        "dips": [list(dip) for dip in found.dips],
        "known_to": found.known_to,
        "points": [{"concurrency": batch, "gain": _gain(gain)} for batch, gain in found.points],
    }


def _gain(gain: Gain | None) -> dict[str, float] | None:
    return None if gain is None else {"low": round(gain.low, 4), "mid": round(gain.mid, 4), "high": round(gain.high, 4)}


def _measurement(one: Measurement) -> dict[str, Any]:
    case = one.case
    return {
        "engine": case.engine,
        "release": one.case.release,
        "model": case.model,
        "gpu": case.gpu,
        "method": one.method,
        "tokens": case.tokens,
        "concurrency": case.concurrency,
        "gain": round(one.gain, 4),
        "source": one.source,
    }


_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 48, 56
_STYLE = """
svg { color-scheme: light dark; --ink: #1c1f24; --dim: #5b6470; --rule: #d5dae1; }
svg { --band: #2563eb33; --line: #1d4ed8; --dot: #b45309; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e8eaee; --dim: #a4adba; --rule: #3a414c; }
  svg { --band: #60a5fa40; --line: #93c5fd; --dot: #fbbf24; }
}
text { font: 13px system-ui, sans-serif; fill: var(--ink); }
.dim { fill: var(--dim); font-size: 12px; }
.grid { stroke: var(--rule); }
.one { stroke: var(--dim); stroke-dasharray: 5 4; }
.band { fill: var(--band); }
.mid { fill: none; stroke: var(--line); stroke-width: 2; }
.dot { fill: var(--dot); }
"""


def gain_svg(found: Crossover, title: str, measured: Sequence[Measurement] = ()) -> str:
    """Return an SVG document of a gain over requests: the likely band, its middle, and the line of 1.

    Args:
        found: the curve.
        title: the heading of the picture.
        measured: measurements to draw as points.
    """
    known = [(batch, gain) for batch, gain in found.points if gain is not None]
    batches = [batch for batch, _ in found.points]
    values = [gain.high for _, gain in known] + [gain.low for _, gain in known] + [one.gain for one in measured] + [0.9, 1.2]
    top, bottom = math.ceil(max(values) * 5) / 5, math.floor(min(values) * 5) / 5
    span = math.log2(batches[-1] / batches[0])

    def x(batch: float) -> float:
        return round(_LEFT + math.log2(max(batch, 1)) / span * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(gain: float) -> float:
        return round(_TOP + (top - gain) / (top - bottom) * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="t">',
        f'<title id="t">{escaped(title)}</title>',
        f"<style>{_STYLE}</style>",
        f'<text x="{_LEFT}" y="24">{escaped(title)}</text>',
    ]
    for batch in batches:
        if math.log2(batch).is_integer():
            parts.append(f'<line class="grid" x1="{x(batch)}" y1="{_TOP}" x2="{x(batch)}" y2="{_HEIGHT - _BOTTOM}"/>')
            parts.append(f'<text class="dim" x="{x(batch)}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{batch}</text>')
    for value in _steps(bottom, top):
        line = "one" if abs(value - 1) < 1e-9 else "grid"
        parts.append(f'<line class="{line}" x1="{_LEFT}" y1="{y(value)}" x2="{_WIDTH - _RIGHT}" y2="{y(value)}"/>')
        parts.append(f'<text class="dim" x="{_LEFT - 8}" y="{y(value) + 4}" text-anchor="end">{value:.1f}</text>')
    if known:
        upper = [f"{x(batch)},{y(gain.high)}" for batch, gain in known]
        lower = [f"{x(batch)},{y(gain.low)}" for batch, gain in reversed(known)]
        parts.append(f'<polygon class="band" points="{" ".join([*upper, *lower])}"/>')
        parts.append(f'<polyline class="mid" points="{" ".join([f"{x(batch)},{y(gain.mid)}" for batch, gain in known])}"/>')
    for one in measured:
        case = one.case
        drafted = counted(case.drafted, "token", "tokens")
        about = f"{one.gain:.2f}: {case.model or 'a model'}, {case.gpu or 'a GPU'}, {drafted} ({one.source})"
        parts.append(
            f'<circle class="dot" cx="{x(case.concurrency)}" cy="{y(one.gain)}" r="4"><title>{escaped(about)}</title></circle>'
        )
    middle = (_LEFT + _WIDTH - _RIGHT) // 2
    parts.append(f'<text class="dim" x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">requests at a time</text>')
    side = (_TOP + _HEIGHT - _BOTTOM) // 2
    parts.append(
        f'<text class="dim" transform="translate(18 {side}) rotate(-90)" text-anchor="middle">throughput, 1 = without</text>'
    )
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _steps(bottom: float, top: float) -> list[float]:
    """Return the values at which lines are drawn, at most eleven."""
    width = next(width for width in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if (top - bottom) / width <= 10)
    first = math.ceil(bottom / width - 1e-9)
    return [index * width for index in range(first, math.floor(top / width + 1e-9) + 1)]
