"""`servelint memory`: whether each launch fits into GPU memory, and with how much room."""

from __future__ import annotations

from typing import Any

from servelint import memory
from servelint.cli import options
from servelint.cli.command import Options, command, flag, option
from servelint.cli.launches import one_each
from servelint.cli.options import Hardware, Inputs, OutputOptions, SettingsOptions
from servelint.cli.output import print_problems, print_stderr, write_json, write_stdout
from servelint.core.launch import Launch
from servelint.core.result import Report
from servelint.core.secrets import without, without_in
from servelint.core.settings import Settings
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import Config
from servelint.filters.masking import secrets_of
from servelint.judge.start import plan_with_findings, start_plan
from servelint.memory import variants
from servelint.memory.plan import FITS, OOM_RISK, REFUSED, UNKNOWN, MemoryPlan
from servelint.report.clean import clean, clean_lines
from servelint.report.formats.json import problem_data
from servelint.report.memory import plan_data, plan_text, table_text, what_if_data, with_hint
from servelint.settings.files import SettingsFiles


class Planning(Options, title="plan"):
    """What is computed beside the plan."""

    what_if: bool = flag("--what-if", help="compare other contexts, sequences, KV dtypes and GPUs")
    solve: str | None = option(
        "--solve",
        choices=("max-model-len", "max-num-seqs", "gpu"),
        help="find the largest value that fits, or the smallest GPU",
    )


@command(
    "memory",
    *(Inputs, Hardware, SettingsOptions, Planning, OutputOptions),
    about="Plan the GPU memory of every launch: whether it fits, and with how much room.",
    notes="exit status: 0 success, 1 a launch is refused or may run out of memory, 2 wrong usage or a file\n"
    "that could not be read",
    examples=["servelint memory --gpu h100-80gb deploy/", "servelint memory --gpu l40s --solve max-model-len run.sh"],
)
def run(inputs: Inputs, hardware: Hardware, settings: SettingsOptions, planning: Planning, writing: OutputOptions) -> int:
    """Print the plans."""
    settings_files = options.settings(inputs, hardware, settings, writing)
    report = options.lint(inputs, settings_files)
    if settings_files.problems:
        return options.report_problems(settings_files.problems)
    planned = plans(report, settings_files, planning)
    if writing.format == "json":
        data = {"plans": [one.data() for one in planned], "errors": [problem_data(problem) for problem in report.errors]}
        write_json(data)
    else:
        if planned:
            write_stdout("\n\n".join([one.text() for one in planned]) + "\n")
        print_problems(report.errors)
        if not planned and not report.errors:
            print_stderr(f"servelint: {none_planned(report)}")
    if report.errors:
        return 2
    return int(any(one.plan.verdict in (REFUSED, OOM_RISK) for one in planned))


NO_LAUNCH = f"no launch of {', '.join(ENGINE_NAMES[one] for one in memory.PLANNED)} found"


def none_planned(report: Report) -> str:
    """Why a report has no plan: it has no launch, or launches of engines whose memory is not planned."""
    others = sorted({ENGINE_NAMES[launch.engine] for launch in report.launches if launch.engine not in memory.PLANNED})
    return f"{NO_LAUNCH}; the memory of {' and '.join(others)} is not planned" if others else NO_LAUNCH


def plans(report: Report, settings_files: SettingsFiles, planning: Planning) -> list[Planned]:
    """Plan each launch of a report whose engine has a memory plan."""
    found = one_each([launch for launch in report.launches if memory.is_planned(launch)])
    return [Planned(launch, settings_files.of(launch.source.path), planning) for launch in found]


class Planned:
    """One launch with its plan, and what was asked beside it."""

    __slots__ = ("elsewhere", "launch", "others", "plan", "solved", "solving")

    def __init__(self, launch: Launch, settings: Settings, planning: Planning) -> None:
        self.launch = launch
        self.plan, launches, note = start_plan(launch, settings)
        if note is not None and self.plan.weights_gib is not None:
            self.plan.notes.append(with_hint(note, launch))
        planned = lambda several: plan_with_findings(several, settings)  # noqa: E731
        self.others = variants.what_ifs(launches, self.plan, planned) if planning.what_if else []
        self.solving: str | None = planning.solve
        no_gpu = self.plan.gpu_gib is None
        tried = variants.gpus(launches, planned) if no_gpu or self.solving == "gpu" else []
        self.elsewhere = tried if any(plan.verdict != UNKNOWN for plan in tried) else []
        self.solved = _solved(self.solving, launches, self.plan, self.elsewhere, planned)

    def data(self) -> Any:
        """Return the plan as the JSON output shows it."""
        launch = self.launch
        found: dict[str, Any] = {"path": launch.source.path, "line": launch.line, "name": launch.name, **plan_data(self.plan)}
        found["what_if"] = [what_if_data(one) for one in self.others]
        found["gpus"] = [{"gpu": plan.gpu, "gpu_gib": plan.gpu_gib, "verdict": plan.verdict} for plan in self.elsewhere]
        if self.solving is not None:
            found["solved"] = {self.solving: self.solved}
        return without_in(found, secrets_of([launch]))

    def text(self) -> str:
        """Return the plan as text."""
        name = f" ({clean(self.launch.name)})" if self.launch.name else ""
        hidden = secrets_of([self.launch])
        lines = [f"{clean(self.launch.source.path)}:{self.launch.line}{name}"]
        lines.append(clean_lines(without(plan_text(self.plan), hidden)))
        if self.others:
            lines.append(clean_lines(without(table_text(self.plan, self.others), hidden)))
        lines += [f"  {plan.gpu:<14}{plan.gpu_gib:7.2f} GiB  {plan.verdict}" for plan in self.elsewhere]
        if self.solving is not None:
            known = self.elsewhere if self.solving == "gpu" else self.plan.verdict != UNKNOWN
            nothing = "none certainly fits" if known else "cannot be determined"
            more = " (more was not tried)" if self.solving == "max-num-seqs" and self.solved == variants.MOST_SEQUENCES else ""
            answer = f"--{self.solving} {self.solved}{more}" if self.solved is not None else f"--{self.solving}: {nothing}"
            lines.append(f"  solved: {answer}")
        return "\n".join(lines)


def _solved(
    what: str | None, launches: list[Config], plan: MemoryPlan, elsewhere: list[MemoryPlan], planned: variants.Planning
) -> int | str | None:
    if what == "max-model-len":
        return variants.largest_context(launches, plan, planned)
    if what == "max-num-seqs":
        return variants.most_sequences(launches, planned)
    if what == "gpu":
        return next((one.gpu for one in elsewhere if one.verdict == FITS), None)
    return None
