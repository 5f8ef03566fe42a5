"""The memory plan of a launch: a stacked bar of one GPU, the verdict in words, and behind a click the parts."""

from __future__ import annotations

from servelint.core.secrets import without
from servelint.engines import ENGINE_NAMES
from servelint.report.html.markup import counted, escaped
from servelint.report.html.words import MEMORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.core.launch import Launch
    from servelint.memory.plan import MemoryPlan, Part

    Plans = Callable[[Launch], MemoryPlan | None]
    """The plan of a launch; None for one that has none."""

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
"""part -> its colour and the shapes on it, which tell it apart where colours do not."""

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
"""About how much of the bar a letter takes on a narrow screen, in hundredths of it."""


def shapes() -> str:
    """What the bars of a page are filled with, told once."""
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
    """secrets: what the launch has that nobody may read"""

    def said(text: str) -> str:
        return escaped(without(text, secrets))

    total = plan.gpu_gib or 0.0
    parts = sorted(plan.parts, key=lambda part: not part.inside)  # what is inside the engine's share ends with that share
    kind, verdict = MEMORY[plan.verdict]
    return (
        f'<div class="memory"><p><b>Memory:</b> <span class="badge {kind}">{escaped(verdict)}</span> {said(_room(plan))}</p>'
        f"{_bar(parts, plan, total, said)}{_table(parts, plan, said)}</div>"
    )


def _room(plan: MemoryPlan) -> str:
    """What the KV cache holds, or what there is too little of."""
    told = []
    more = sum(max(part.gib.mid, 0.0) for part in plan.parts) - (plan.gpu_gib or 0.0)
    if more > 0:
        told.append(f"{more:.1f} GiB more than the GPU has")
    if plan.kv_tokens is not None and plan.verdict != "refused":
        told.append(f"KV cache of {counted(plan.kv_tokens, 'token', 'tokens')}")
        if plan.max_concurrency is not None and plan.max_model_len:
            told.append(f"{plan.max_concurrency:,.1f} requests of {plan.max_model_len:,} tokens at once")
    longest = plan.largest_context
    if plan.verdict != "fits" and longest and plan.max_model_len and longest < plan.max_model_len:
        told.append(f"the longest context that would start is about {longest:,} tokens")
    return ", ".join(told)


def _bar(parts: list[Part], plan: MemoryPlan, total: float, said: Callable[[str], str]) -> str:
    """One GPU, or as much as the parts take where that is more."""
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
        drawn += _line(plan.budget_gib / whole * 100, "share")
    if total < whole:
        drawn += _line(total / whole * 100, "end")
    name = said(_described(parts, plan, total))
    return f'<svg class="bar" role="img" aria-label="{name}" width="100%" height="{_HEIGHT}">{drawn}</svg>'


def _line(at: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{at:.2f}%" x2="{at:.2f}%" y1="0" y2="{_HEIGHT}"/>'


def _described(parts: list[Part], plan: MemoryPlan, total: float) -> str:
    """The bar for those who do not see it."""
    each = [f"{part.name} {part.gib.mid:.1f} GiB" for part in parts if part.gib.mid > 0]
    left = total - sum(max(part.gib.mid, 0.0) for part in parts)
    each.append(f"free {left:.1f} GiB" if left >= 0 else f"{-left:.1f} GiB more than there are")
    return f"{_gpu(plan)} of {total:.1f} GiB: {', '.join(each)}"


def _gpu(plan: MemoryPlan) -> str:
    return f"One {plan.gpu or 'GPU'}" + (f" of {plan.gpu_count}" if plan.gpu_count > 1 else "")


def _table(parts: list[Part], plan: MemoryPlan, said: Callable[[str], str]) -> str:
    rows = "".join([_row(part, said) for part in parts])
    share = f"; the engine's share, the dashed line: {plan.budget_gib:.2f} GiB" if plan.budget_gib is not None else ""
    release = f"{ENGINE_NAMES[plan.engine]} {plan.release or ''}".rstrip()
    caption = f"{_gpu(plan)} under {release}: {plan.gpu_gib or 0.0:.2f} GiB{share}"
    notes = [f"<b>It says:</b> {said(plan.refusal)}"] if plan.refusal else []
    if plan.need_gib is not None and plan.max_model_len:
        notes.append(f"One request of {plan.max_model_len:,} tokens needs {plan.need_gib:.2f} GiB of the KV cache.")
    notes += [f"<b>Note:</b> {said(text)}" for text in plan.notes]
    return (
        f"<details><summary>Where the memory goes</summary><table><caption>{said(caption)}</caption><thead><tr>"
        '<th scope="col">Part</th><th scope="col">GiB (least to most)</th>'
        '<th scope="col">Where that comes from</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>{''.join([f'<p>{note}</p>' for note in notes])}</details>"
    )


def _row(part: Part, said: Callable[[str], str]) -> str:
    from servelint.report.memory_text import interval_text

    swatch = f'<svg width="14" height="14" aria-hidden="true"><rect width="14" height="14" {_fill(part.name)}/></svg>'
    origin = said(part.origin) + ("" if part.inside else " (outside the engine's share)")
    return f'<tr><th scope="row">{swatch} {escaped(part.name)}</th><td>{interval_text(part.gib)}</td><td>{origin}</td></tr>'


def _fill(part: str) -> str:
    look = _LOOKS.get(part, _OTHER)
    return f'fill="url(#{_name(look)})"' if look[1] in _SHAPES else f'class="memory-{look[0]}"'


def _name(look: tuple[str, str]) -> str:
    return f"memory-{look[0]}-{look[1]}"
