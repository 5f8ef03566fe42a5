"""A memory plan as a person reads it: one bar a GPU, its parts, what follows, and a table of what-ifs."""

from __future__ import annotations

from servelint.engines import ENGINE_NAMES
from servelint.memory.plan import Interval, MemoryPlan, Part
from servelint.memory.variants import WhatIf

_WIDTH = 60
_FILLS = "█▓▒░▚▞◆◇"
_FREE = "·"


def plan_text(plan: MemoryPlan) -> str:
    """Several lines without the last line's end."""
    lines = [_head(plan)]
    if plan.gpu_gib and plan.kv_gib is not None:
        lines += _bar(plan.parts, plan.gpu_gib)
    if plan.kv_gib is not None and plan.need_gib is not None and plan.max_model_len:
        lines.append(f"  one request of {plan.max_model_len:,} tokens needs {plan.need_gib:.2f} GiB of the KV cache")
    if plan.kv_tokens is not None and plan.max_concurrency is not None:
        lines.append(
            f"  KV cache: {plan.kv_tokens:,} tokens as the engine prints it, {plan.max_concurrency:.2f} such requests at once"
        )
    if plan.refusal:
        lines.append(f"  it says: {plan.refusal}")
    if plan.verdict != "fits" and plan.largest_context and plan.max_model_len and plan.largest_context < plan.max_model_len:
        lines.append(f"  the longest context that would start: about {plan.largest_context:,} tokens")
    lines += [f"  not known: {text}" for text in plan.missing]
    lines += [f"  note: {text}" for text in plan.notes]
    return "\n".join(lines)


def _head(plan: MemoryPlan) -> str:
    name = ENGINE_NAMES.get(plan.engine, plan.engine)
    several = f"{plan.gpu_count} x " if plan.gpu_count > 1 else ""
    gpu = f" on {several}{plan.gpu}" if plan.gpu else ""
    return f"  {plan.verdict}: {plan.model or 'a model that is not known'}, {name} {plan.release or ''}{gpu}".rstrip()


def _bar(parts: list[Part], total: float) -> list[str]:
    """The bar, and a line for each part with its share of it. Parts keep their order; a part that shows at all has one cell."""
    cells = ""
    rows: list[str] = []
    for index, part in enumerate(parts):
        fill = _FILLS[index % len(_FILLS)]
        width = max(round(part.gib.mid / total * _WIDTH), 1 if part.gib.mid > 0 else 0)
        cells += fill * width
        where = "" if part.inside else " (outside the engine's share)"
        rows.append(f"  {fill} {part.name:<24}{interval_text(part.gib):>22} GiB  {part.origin}{where}")
    cells = cells[:_WIDTH]
    return [f"  [{cells}{_FREE * (_WIDTH - len(cells))}] {total:.2f} GiB", *rows]


def interval_text(value: Interval) -> str:
    """ "5.98 (4.11 to 6.65)", or the number alone where it is exact."""
    if value.known:
        return f"{value.mid:.2f}"
    return f"{value.mid:.2f} ({value.low:.2f} to {value.high:.2f})"


def table_text(plan: MemoryPlan, others: list[WhatIf]) -> str:
    """The what-ifs, the launch itself first."""
    head = ("what if", "KV GiB", "tokens", "requests", "verdict")
    rows = [head, _row("as it is", plan), *[_row(one.name, one.plan) for one in others]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column in (0, 4) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def _row(name: str, plan: MemoryPlan) -> tuple[str, str, str, str, str]:
    kv = f"{plan.kv_gib.mid:.2f}" if plan.kv_gib is not None else "-"
    tokens = f"{plan.kv_tokens:,}" if plan.kv_tokens is not None else "-"
    requests = f"{plan.max_concurrency:.2f}" if plan.max_concurrency is not None else "-"
    return name, kv, tokens, requests, plan.verdict
