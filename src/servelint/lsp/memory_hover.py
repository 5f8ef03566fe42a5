"""The memory plan of a launch in a few lines: for the GPU that it names, else which common ones it fits on."""

from __future__ import annotations

from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.engines import ENGINE_NAMES
from servelint.files.directives import name_gpus
from servelint.judge.start import MEMORY_RULES, plan_with_findings, start_plan
from servelint.lsp.launch_view import LaunchView, key_of
from servelint.memory import PLANNED
from servelint.memory.plan import UNKNOWN, MemoryPlan
from servelint.report.clean import plain
from servelint.report.memory import interval_text

_AT_MOST = 128
_VERDICTS = {
    "fits": "It fits", "tight": "It is tight", "refused": "It does not fit, and the engine refuses to start",
    "oom-risk": "It may run out of memory",
}  # fmt: skip
_ROWS_AT_MOST = 7

_known: dict[object, tuple[MemoryPlan, list[MemoryPlan], Launch | None]] = {}


def plan_of(view: LaunchView, settings: Settings) -> MemoryPlan | None:
    """The plan of a launch whose GPU is named; None if what it needs is not known and no finding stops the start."""
    if view.launch.engine not in PLANNED or view.launch.fragment:
        return None
    plan = _planned(view, settings)[0]
    known = not plan.missing and plan.verdict != UNKNOWN and plan.gpu_gib is not None and plan.kv_gib is not None
    return plan if known or plan.findings else None


def names_gpu(launch: Launch, settings: Settings) -> bool:
    """Whether the file, a comment or the settings name the GPU of a launch."""
    name_gpus(launch, settings)
    product = launch.container.settings.get("gpu_product") if launch.container is not None else None
    return launch.gpu is not None or product is not None


def memory_lines(view: LaunchView, settings: Settings) -> list[str]:
    """The plan as lines of Markdown; none if nothing is known."""
    if view.launch.engine not in PLANNED or view.launch.fragment:
        return []
    plan, others = _planned(view, settings)
    if plan.gpu is not None:
        known = plan_of(view, settings)
        return _of_plan(known, view) if known is not None else _not_known(plan)
    known_plans = [one for one in others if one.verdict != UNKNOWN]
    if not known_plans:
        return []
    release = f"{ENGINE_NAMES[view.launch.engine]} {_releases(known_plans[0])}"
    lines = ["", f"No GPU is named. By {release} with what is said here:", ""]
    for verdict in _VERDICTS:
        names = [one.gpu or "" for one in known_plans if one.verdict == verdict]
        if names:
            lines.append(f"- {verdict}: {', '.join(names)}")
    return lines


def _planned(view: LaunchView, settings: Settings) -> tuple[MemoryPlan, list[MemoryPlan]]:
    """The plan, and if no GPU is named the plans on common ones."""
    launch, given = view.launch, settings.engine_versions.get(view.launch.engine)
    key, kept = key_of(launch, given)
    found = _known.get(key)
    if found is None:
        from servelint.memory import variants

        plan, configs, note = start_plan(launch, settings)
        if note is not None:
            plan.notes.append(note)
        wanted = plan.gpu is None and plan.model is not None
        others = variants.gpus(configs, lambda several: plan_with_findings(several, settings)) if wanted else []
        if len(_known) >= _AT_MOST:
            _known.clear()
        found = _known[key] = plan, others, kept
    return found[0], found[1]


def _of_plan(plan: MemoryPlan, view: LaunchView) -> list[str]:
    if others := [one for one in plan.findings if one.rule.partition("/")[2] not in MEMORY_RULES]:
        stops = [f"- {plain(one.sentence)}" for one in others]
        return ["", f"It does not start on {plain(plan.gpu or '')}:", "", *stops]
    if plan.kv_gib is None or plan.gpu_gib is None:
        return []
    release = "" if view.releases.exact else f", planned as {_releases(plan)}"
    lines = ["", f"{_VERDICTS[plan.verdict]} on {plain(plan.gpu or '')} ({plan.gpu_gib:.1f} GiB a GPU){release}."]
    if rows := [part for part in plan.parts if part.gib.mid > 0][:_ROWS_AT_MOST]:
        lines += ["", "| | GiB |", "|---|---:|", *[f"| {part.name} | {interval_text(part.gib)} |" for part in rows]]
    if plan.kv_tokens is not None and plan.max_concurrency is not None and plan.max_model_len:
        held = f"{plan.max_concurrency:.1f} requests of {plan.max_model_len:,} at once"
        lines += ["", f"KV cache: {plan.kv_tokens:,} tokens, {held}."]
    if plan.refusal:
        lines += ["", f"It says: {plain(plan.refusal)}"]
    if plan.largest_context and plan.max_model_len and plan.verdict != "fits" and plan.largest_context < plan.max_model_len:
        lines += ["", f"The longest context that would start: about {plan.largest_context:,} tokens."]
    return lines


def _releases(plan: MemoryPlan) -> str:
    first, last = plan.releases[0], plan.releases[-1]
    return last if first == last else f"{first} to {last}"


def _not_known(plan: MemoryPlan) -> list[str]:
    missing = plain(", ".join(plan.missing))
    return ["", f"Whether it fits on {plain(plan.gpu or '')} is not known: {missing}."] if missing else []
