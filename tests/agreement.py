"""Whether check, memory, upgrade, the editor and the Python API give one answer about the same launches."""

from __future__ import annotations

from servelint import memory
from servelint.cli.memory import Planned, Planning
from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.result import Report
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines import catalog as catalogs
from servelint.files.siblings import Neighbours
from servelint.judge.judging import judge
from servelint.lint import add_source, beside
from servelint.lsp.launch_view import LaunchView
from servelint.lsp.memory_hover import memory_lines, plan_of
from servelint.report.memory import Plans
from servelint.upgrade import Upgrade, upgrade

STOPPING = ("crash-at-start", "crash-at-load")
OUT_OF_MEMORY = {"utilization-leaves-no-graphs", "kv-cache-memory-bytes-above-gpu", "memory-may-run-out", "memory-after-pools"}


def launches(source: Source, settings: Settings, neighbours: Neighbours | None = None) -> list[Launch]:
    """The launches of a source whose memory is planned."""
    report = Report()
    add_source(report, source, settings, neighbours or beside(source.path, settings))
    return [one for one in report.launches if one.engine in memory.PLANNED and not one.fragment]


def disagreements(launch: Launch, settings: Settings) -> list[str]:
    """What two faces say differently of a launch, in words; none if they agree."""
    found = judge(launch, settings)
    stops = _stopping(found)
    plan = Planned(launch, settings, Planning({"what_if": False, "solve": None})).plan
    said: list[str] = []
    if (plan.verdict == "refused") != bool(stops):
        said.append(f"memory: {plan.verdict}; check: {[one.rule for one in stops]}; {plan.refusal}")
    runs_out = [one.rule for one in found if one.rule.partition("/")[2] in OUT_OF_MEMORY]
    if plan.verdict != "refused" and (plan.verdict == "oom-risk") != bool(runs_out):
        said.append(f"memory: {plan.verdict}; check: {runs_out}")
    view = LaunchView(launch, settings)
    shown = plan_of(view, settings)
    if plan.gpu is not None and (shown.verdict if shown is not None else "unknown") != _shown(
        plan.verdict, plan.kv_gib is None
    ):
        said.append(f"memory: {plan.verdict}; editor: {shown.verdict if shown is not None else None}")
    text = "\n".join(memory_lines(view, settings))
    if plan.gpu is not None and stops and "does not start" not in text and "refuses to start" not in text:
        said.append(f"check: {[one.rule for one in stops]}; hover: {text[:60]}")
    drawn = Plans(settings)(launch)
    if drawn is not None and drawn.verdict != plan.verdict:
        said.append(f"memory: {plan.verdict}; page: {drawn.verdict}")
    return [*said, *_of_upgrade(launch, settings, stops, plan.verdict)]


def _of_upgrade(launch: Launch, settings: Settings, stops: list[Finding], verdict: str) -> list[str]:
    """What an upgrade to the release that the launch runs on says differently."""
    release = launch.release.release or settings.engine_versions.get(launch.engine)
    catalog = catalogs.load(launch.engine)
    if release is None or catalog is None or catalog.index(release) is None:
        return []
    other = catalog.releases[max(catalog.nearest(release) - 1, 0)]
    said: list[str] = []
    for moved, here in ((upgrade(launch, other, release, settings), 1), (upgrade(launch, release, other, settings), 0)):
        assert moved.plans is not None
        if moved.plans[here].verdict != verdict:
            said.append(f"memory: {verdict}; upgrade: {moved.plans[here].verdict}")
        missing = {one.rule for one in stops if not one.rule.startswith("container/")} - _rules(moved, after=bool(here))
        if missing:
            said.append(f"check: {missing}; upgrade: not")
    return said


def _rules(moved: Upgrade, *, after: bool) -> set[str]:
    own = [*moved.breaks, *moved.warns] if after else moved.mended
    return {one.rule for one in (*own, *moved.stays)}


def _stopping(findings: list[Finding]) -> list[Finding]:
    return [one for one in findings if one.severity == "error" and one.impact in STOPPING and not one.branches]


def _shown(verdict: str, no_cache: bool) -> str:
    """The verdict that the editor has: without a KV cache it draws no plan."""
    return "unknown" if no_cache and verdict != "refused" else verdict
