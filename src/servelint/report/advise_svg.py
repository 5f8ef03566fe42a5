"""The gain over requests as a picture: the band of what is likely, the middle of it, what was measured, and the line of 1."""

from __future__ import annotations

import math

from servelint.report.html.markup import escaped
from servelint.speculation.gains import Crossover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from servelint.speculation.gains import Measurement

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
    """One document. measured: those to draw as points."""
    told = [(batch, gain) for batch, gain in found.points if gain is not None]
    batches = [batch for batch, _ in found.points]
    values = [gain.high for _, gain in told] + [gain.low for _, gain in told] + [one.gain for one in measured] + [0.9, 1.2]
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
    if told:
        upper = [f"{x(batch)},{y(gain.high)}" for batch, gain in told]
        lower = [f"{x(batch)},{y(gain.low)}" for batch, gain in reversed(told)]
        parts.append(f'<polygon class="band" points="{" ".join([*upper, *lower])}"/>')
        parts.append(f'<polyline class="mid" points="{" ".join([f"{x(batch)},{y(gain.mid)}" for batch, gain in told])}"/>')
    for one in measured:
        case = one.case
        about = f"{one.gain:.2f}: {case.model or 'a model'}, {case.gpu or 'a GPU'}, {case.drafted} tokens ({one.source})"
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
    """Where lines are drawn: five to ten of them."""
    width = next(width for width in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if (top - bottom) / width <= 10)
    first = math.ceil(bottom / width - 1e-9)
    return [index * width for index in range(first, math.floor(top / width + 1e-9) + 1)]
