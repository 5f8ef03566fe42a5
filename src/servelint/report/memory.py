"""Memory plans of launches: made for reports, printed for people, and as data for programs.

GiB are 2**30 bytes on one GPU. In data, what is not known is null.
"""

from __future__ import annotations

from copy import copy

from servelint import memory
from servelint.core.launch import Launch
from servelint.core.numbers import singular
from servelint.core.settings import Settings
from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import configs
from servelint.engines.launch_files import Carried, carry
from servelint.files.directives import name_gpus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.memory.plan import Interval, MemoryPlan, Part
    from servelint.memory.variants import WhatIf
    from servelint.settings.files import SettingsSource

_WIDTH = 60
_FILLS = "█▓▒░▚▞◆◇"
_FREE = "·"


def plan_text(plan: MemoryPlan) -> str:
    """Return a plan for a person: one bar of a GPU, its parts, and what follows; without the last line end."""
    lines = [_head(plan)]
    if plan.gpu_gib and plan.kv_gib is not None:
        lines += _bar(plan.parts, plan.gpu_gib)
    if plan.kv_gib is not None and plan.need_gib is not None and plan.max_model_len:
        lines.append(f"  one request of {plan.max_model_len:,} tokens needs {plan.need_gib:.2f} GiB of the KV cache")
    if plan.kv_tokens is not None and plan.max_concurrency is not None:
        lines.append(
            f"  KV cache: {plan.kv_tokens:,} tokens as the engine prints it, {plan.max_concurrency:.2f} such requests at once"
        )
    if plan.sequences is not None and plan.state_pool is not None:
        pool = plan.state_pool
        between = f" ({pool.low:,.0f} to {pool.high:,.0f})" if not pool.known else ""
        lines.append(f"  states: a pool for {pool.mid:,.0f}{between} sequences, and {plan.sequences:,} are allowed at once")
    if plan.refusal:
        lines.append(f"  it says: {plan.refusal}")
    lines += [f"  {one.severity}[{one.rule}]: {one.sentence}" for one in plan.findings]
    if plan.verdict != "fits" and plan.largest_context and plan.max_model_len and plan.largest_context < plan.max_model_len:
        lines.append(f"  the longest context that would start: about {plan.largest_context:,} tokens")
    lines += [f"  not known: {text}" for text in plan.missing]
    lines += [f"  note: {singular(text)}" for text in plan.notes]
    return "\n".join(lines)


def _head(plan: MemoryPlan) -> str:
    name = ENGINE_NAMES.get(plan.engine, plan.engine)
    several = f"{plan.gpu_count} x " if plan.gpu_count > 1 else ""
    gpu = f" on {several}{plan.gpu}" if plan.gpu else ""
    return f"  {plan.verdict}: {plan.model or 'a model that is not known'}, {name} {plan.release or ''}{gpu}".rstrip()


def _bar(parts: list[Part], total: float) -> list[str]:
    """Return the bar of a GPU, and a line for each part. A part that is not empty has at least one cell of the bar."""
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
    """Return "5.98 (4.11 to 6.65)", or the number alone where it is exact."""
    if value.known:
        return f"{value.mid:.2f}"
    return f"{value.mid:.2f} ({value.low:.2f} to {value.high:.2f})"


def table_text(plan: MemoryPlan, others: list[WhatIf]) -> str:
    """Return a table of what-ifs, the launch as it is first."""
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


def plan_data(plan: MemoryPlan) -> dict[str, Any]:
    """Return a plan as data for programs."""
    return {
        "engine": plan.engine,
        "version": plan.release,
        "versions": plan.releases,
        **{name: getattr(plan, name) for name in ("model", "gpu", "gpu_count", "gpu_gib", "budget_gib", "weights_gib")},
        **_cache_data(plan),
        "sequences": plan.sequences,
        "state_pool": _interval(plan.state_pool),
        **{name: getattr(plan, name) for name in ("max_model_len", "need_gib", "largest_context", "verdict", "refusal")},
        "parts": [
            {"name": part.name, "gib": _interval(part.gib), "origin": part.origin, "inside": part.inside} for part in plan.parts
        ],
        "notes": plan.notes,
        "missing": plan.missing,
        "findings": [
            {"rule": one.rule, "severity": one.severity, "message": one.message, "advice": one.advice} for one in plan.findings
        ],
    }


def what_if_data(one: WhatIf) -> dict[str, Any]:
    """Return a what-if as data for programs."""
    plan = one.plan
    return {"change": one.name, **_cache_data(plan), "verdict": plan.verdict}


def _cache_data(plan: MemoryPlan) -> dict[str, Any]:
    return {"kv_gib": _interval(plan.kv_gib), "kv_tokens": plan.kv_tokens, "max_concurrency": plan.max_concurrency}


def _interval(value: Interval | None) -> dict[str, float] | None:
    return {"low": value.low, "mid": value.mid, "high": value.high} if value is not None else None


class Plans:
    """The plan of each launch whose GPU is named. Equal launches are planned once: most launches of a folder are equal.

    Args:
        settings: the settings of each path, which may name GPUs and releases.
    """

    __slots__ = ("_known", "_settings")

    def __init__(self, settings: SettingsSource) -> None:
        self._settings = settings
        self._known: dict[object, MemoryPlan | None] = {}

    def __call__(self, launch: Launch) -> MemoryPlan | None:
        """Return the plan of a launch; None where no GPU is named, or where something that the plan needs is not known."""
        if launch.engine not in memory.PLANNED or launch.fragment:
            return None
        settings = self._settings.of(launch.source.path)
        bare = copy(launch)
        bare.open = carry(launch)  # as other processes send it: the plan is the same for any number of processes
        name_gpus(bare, settings)
        if not bare.gpu and not _product(bare):
            return None
        key = content(bare, settings.engine_versions.get(launch.engine))
        if key not in self._known:
            self._known[key] = _planned(bare, settings)
        return self._known[key]


def _planned(launch: Launch, settings: Settings) -> MemoryPlan | None:
    if configs(launch, [])[0].operand("gpu.memory-gib").value is None:
        return None
    from servelint.judge.start import start_plan
    from servelint.memory.plan import UNKNOWN

    plan, _, note = start_plan(launch, settings)
    if plan.missing or plan.verdict == UNKNOWN or plan.gpu_gib is None or plan.kv_gib is None:
        return None  # figures that do not come from the launch would mislead
    if note is not None:
        plan.notes.append(with_hint(note, launch))
    return plan


def with_hint(note: str, launch: Launch) -> str:
    """Return the note on a launch without a pinned release, with the option that names one."""
    return note if launch.release.rolling else f"{note}; say --engine-version {launch.engine}=..."


def content(launch: Launch, release: str | None) -> object:
    """Return what a plan depends on: launches for which it is equal have the same plan."""
    container = launch.container
    hidden = None
    if container is not None:
        hidden = container.visible_gpus, container.reserved, _product(launch)
    return (
        launch.engine,
        release,
        (launch.release.release, launch.release.rolling),
        tuple([(_written(word.text), word.many) for word in (*launch.verb, *launch.argv)]),
        tuple([(name, _written(one.value) if one.value is not None else None) for name, one in sorted(launch.env.items())]),
        launch.open_env,
        launch.folder,
        tuple([(name, _written(text)) for name, text in launch.open.texts.items()]) if isinstance(launch.open, Carried) else (),
        (launch.gpu, launch.gpu_count, launch.gpu_site is not None),
        tuple(launch.models.items()),
        hidden,
    )


def _written(text: TracedText) -> tuple[str, str | None]:
    return text.shown, text.value


def _product(launch: Launch) -> tuple[str, str | None] | None:
    product = launch.container.settings.get("gpu_product") if launch.container is not None else None
    return _written(product) if product is not None else None
