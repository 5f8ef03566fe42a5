"""`servelint upgrade --to ENGINE=RELEASE`: what an engine upgrade breaks, fixes, or changes by its defaults."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from servelint.cli import options
from servelint.cli.command import Options, command, fail, option
from servelint.cli.options import Hardware, Inputs, OutputOptions, SettingsOptions
from servelint.cli.output import plural, print_problems, print_stderr, write_json, write_stdout
from servelint.core.finding import Finding
from servelint.core.result import Report
from servelint.engines import ENGINE_NAMES
from servelint.engines import catalog as catalogs
from servelint.engines.releases import requested
from servelint.memory.plan import UNKNOWN, MemoryPlan
from servelint.report.clean import clean
from servelint.settings.files import SettingsFiles
from servelint.upgrade import ChangedDefault, Upgrade, upgrade


class Target(Options, title="target"):
    """Which release the launches move to."""

    to: str = option("--to", metavar="ENGINE=RELEASE", needed=True, help="the release to upgrade to, such as vllm=0.33.0")


@command(
    "upgrade",
    *(Inputs, Target, Hardware, SettingsOptions, OutputOptions),
    about="Show what an engine upgrade changes for your launches, option by option.",
    notes="exit status: 0 success, 1 the upgrade breaks a launch, 2 wrong usage or a file that could not be\nread",
    examples=["servelint upgrade --to vllm=0.33.0 deploy/", "servelint upgrade --to sglang=0.5.20 --format json run.sh"],
)
def run(inputs: Inputs, target: Target, hardware: Hardware, settings: SettingsOptions, writing: OutputOptions) -> int:
    """Print the changes."""
    engine, release = target_of(target.to)
    settings_files = options.settings(inputs, hardware, settings, writing)
    report = options.lint(inputs, settings_files)
    if settings_files.problems:
        return options.report_problems(settings_files.problems)
    compared = compare(report, settings_files, engine, release)
    if writing.format == "json":
        errors = [{"path": problem.path, "message": problem.message} for problem in report.errors]
        data = {"upgrades": [_data(one) for one in compared.found], "skipped": compared.skipped, "errors": errors}
        write_json(data, indent=2)
    else:
        write_stdout(upgrades_text(compared.found))
        print_problems(report.errors)
        for note in compared.notes:
            print_stderr(f"servelint: {note}")
    if report.errors:
        return 2
    return int(any(one.breaks for one in compared.found))


def target_of(to: str) -> tuple[str, str]:
    """Read ENGINE=RELEASE. Raises UsageError if the catalog does not have it."""
    engine, _, release = to.partition("=")
    catalog = catalogs.load(engine) if engine in ENGINE_NAMES else None
    try:
        release = requested(engine, release) if catalog is not None and release else release
    except ValueError as error:
        fail(f"--to: {error}")
    if catalog is None or catalog.index(release) is None:
        fail(f"--to {to}: write ENGINE=RELEASE with a release of servelint engines list")
    return engine, release


class Compared(NamedTuple):
    """The launches of an engine under two releases; how many were skipped, and sentences about those."""

    found: list[Upgrade]
    skipped: int
    notes: list[str]


def compare(report: Report, settings_files: SettingsFiles, engine: str, release: str) -> Compared:
    """Compare each launch of an engine with what it is under another release."""
    catalog = catalogs.load(engine)
    found: list[Upgrade] = []
    skipped = outside = 0
    for launch in report.launches:
        if launch.engine != engine:
            continue
        source = launch.release.release or settings_files.of(launch.source.path).engine_versions.get(engine)
        if source is None or catalog is None or catalog.index(source) is None:
            skipped += source is None
            outside += source is not None
            continue
        found.append(upgrade(launch, source, release, settings_files.of(launch.source.path)))
    name = ENGINE_NAMES[engine]
    notes: list[str] = []
    if skipped:
        pin = "pins" if skipped == 1 else "pin"
        notes.append(f"{skipped} {plural(skipped, 'launch')} of {name} {pin} no release; give --engine-version {engine}=...")
    if outside:
        notes.append(f"{outside} of {name} skipped: the catalog does not have the release")
    if not found and not notes:
        notes.append(f"no launch of {name} found")
    return Compared(found, skipped + outside, notes)


def upgrades_text(found: list[Upgrade]) -> str:
    """Return what an upgrade changes, as text. Launches of a file for which it changes the same have one text."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in found:
        launch = one.launch
        path = clean(launch.source.path)
        head = f"{path}:{launch.line}: {ENGINE_NAMES[launch.engine]} {one.source} -> {one.target}"
        named = f"{head} ({clean(launch.name)})" if launch.name else head
        alike.setdefault((path, "\n".join(_changes(one) or ["  no known change"])), []).append(named)
    return "\n".join(["\n".join([*heads, changes, ""]) for (_, changes), heads in alike.items()])


def _changes(one: Upgrade) -> list[str]:
    lines = [f"  {title:<8}{_line(finding)}" for title, findings in _kinds(one) for finding in findings]
    lines += [f"  default {clean(_default(changed))}" for changed in one.defaults]
    if one.plans is not None and any(plan.gpu is not None and plan.verdict != UNKNOWN for plan in one.plans):
        before, after = one.plans
        gpu = f"{after.gpu_count} x {after.gpu}" if after.gpu_count > 1 else after.gpu
        change = before.verdict if before.verdict == after.verdict else f"{before.verdict} -> {after.verdict}"
        lines.append(clean(f"  memory  {change} on {gpu}"))
    return lines


def _kinds(one: Upgrade) -> list[tuple[str, list[Finding]]]:
    return [("breaks", one.breaks), ("warns", one.warns), ("mends", one.mended), ("stays", one.stays)]


def _line(finding: Finding) -> str:
    advice = f"; {finding.advice}" if finding.advice else ""
    line, column = finding.span.source.position(finding.span.start)
    return clean(f"{line}:{column} {finding.severity}[{finding.rule}] {finding.statement}{advice}")


def _default(changed: ChangedDefault) -> str:
    return f"{changed.name}: {_shown(changed.before)} -> {_shown(changed.after)} (from {changed.since})"


def _shown(value: object) -> str:
    return "''" if value == "" else json.dumps(value) if not isinstance(value, str) else value


def _data(one: Upgrade) -> dict[str, Any]:
    from servelint.report.formats.json import finding_data

    return {
        "path": one.launch.source.path,
        "line": one.launch.line,
        "name": one.launch.name,
        "engine": one.launch.engine,
        "from": one.source,
        "to": one.target,
        **{title: [finding_data(finding) for finding in findings] for title, findings in _kinds(one)},
        "defaults": [
            {"option": changed.name, "before": changed.before, "after": changed.after, "since": changed.since}
            for changed in one.defaults
        ],
        "memory": _memory_data(*one.plans) if one.plans is not None else None,
    }


def _memory_data(before: MemoryPlan, after: MemoryPlan) -> dict[str, Any]:
    return {"from": before.verdict, "to": after.verdict, "gpu": after.gpu}
