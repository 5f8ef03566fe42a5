"""The tools of `servelint mcp`: each answers what the command of its name answers, for files below some folders.

A tool runs in the main thread, as a command does, so that the time limit of each file holds. Other messages are read between
files.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

import click
from anyio.lowlevel import checkpoint
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from servelint import __version__
from servelint.cli import check, memory, options, rules, upgrade
from servelint.cli.command import Options
from servelint.cli.options import Hardware, Inputs, Rules, SettingsOptions
from servelint.core import bounds
from servelint.core.problem import Problem
from servelint.core.result import Report
from servelint.core.run import TooLong, time_limit
from servelint.core.trust import Trust
from servelint.engines import ENGINE_NAMES
from servelint.engines.releases import unlisted_note
from servelint.lint import add_source, beside, check_in_steps
from servelint.report import extent
from servelint.report.clean import clean, clean_lines
from servelint.report.formats import RenderOptions, find
from servelint.report.formats.text import Painter, problem_text
from servelint.settings.files import SettingsFiles

_ABOUT = (
    f"servelint lints files that launch LLM inference servers ({', '.join(ENGINE_NAMES.values())}): compose files, "
    "Kubernetes manifests, Helm values, Dockerfiles, shell scripts and more. Call check after you write or change such a file, "
    "or with text before you write it: a line of the answer is one problem, often with the exact edit. Call explain for an "
    "option before you use it: the release may not have it. Nothing is executed, written or fetched."
)

_CHARACTERS_AT_MOST = 100_000
"""Of an answer. What is longer ends with a line that says so."""

Paths = Annotated[list[str], Field(description="Files and folders. Default: the folders of the server")]
Text = Annotated[
    str | None, Field(description="The content of a file that is not saved yet, or a command line; instead of paths")
]
Filename = Annotated[str, Field(description="The path of the text: it decides the format, and the files next to it are read")]
Versions = Annotated[dict[str, str], Field(description='Engine to release, where a file pins none: {"vllm": "0.27.1"}')]
Gpu = Annotated[str, Field(description="The GPU if a file names none, such as h100-80gb")]
GpuCount = Annotated[int, Field(ge=0, description="The number of GPUs if a file sets none; 0: unknown")]


def server(folders: tuple[str, ...]) -> MCPServer:
    """Make a server whose tools read files below some folders, given by their real paths; the first is the current folder."""
    tools = Tools(folders)
    made = MCPServer("servelint", version=__version__, instructions=_ABOUT, log_level="WARNING")
    reads = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    for tool in (tools.check, tools.explain, tools.memory, tools.upgrade):
        made.add_tool(tool, annotations=reads, structured_output=False)
    return made


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what a command would refuse into an error of the tool."""
    try:
        yield
    except click.UsageError as error:
        raise ToolError(clean_lines(error.format_message())) from None


class Tools:
    """The tools, for some folders. The docstrings are the descriptions that clients show to models."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self._trust = Trust(within=folders)

    async def check(
        self,
        paths: Paths = [],  # noqa: B006
        text: Text = None,
        filename: Filename = "command.sh",
        engine_versions: Versions = {},  # noqa: B006
        gpu: Gpu = "",
        gpu_count: GpuCount = 0,
        profile: Annotated[
            Literal["", "default", "strict", "audit"], Field(description="strict adds best practice, audit everything")
        ] = "",
        severity: Annotated[Literal["", "error", "warning", "info"], Field(description="Hide what is below")] = "",
        format: Annotated[
            Literal["agent", "json", "text"],
            Field(description="agent: one line for each finding; json: everything; text: with code frames"),
        ] = "agent",
        verbose: Annotated[bool, Field(description="List what was not judged, and why")] = False,
    ) -> str:
        """Lint files, folders, a text or a command line that launch LLM inference servers: what breaks, where, and the edit."""
        with _refusals():
            inputs = self._inputs(paths, filename if text is not None else "")
            judging = Rules({"profile": profile or None, "severity": severity or None})
            files, notes = self._settings(inputs, judging, _hardware(engine_versions, gpu, gpu_count))
            report = await self._lint(inputs, text, files, undecided=verbose or format == "json")
            if files.value("baseline"):
                gate = check.gate_of(inputs, check.GateOptions({}), files)
                if gate is not None:
                    gate.narrow(report)
        shown = find(format).render(report, RenderOptions(settings=files, verbose=verbose))
        if format == "json":
            if len(shown) > _CHARACTERS_AT_MOST:
                raise ToolError(f"the JSON report has {len(shown):,} characters; name fewer paths, or use format agent")
            return shown
        return _answer([shown, *([extent.no_launch(report)] if format == "text" else []), *notes])

    async def explain(
        self,
        topic: Annotated[
            str, Field(description="The id of a rule (vllm/removed-option), or an engine (vllm) with a name")
        ] = "",
        name: Annotated[
            str, Field(description="An option, a key of JSON (speculative-config.method) or an environment variable")
        ] = "",
        log: Annotated[
            str, Field(description="Instead: a part of a server's log; the answer names the rules that explain it")
        ] = "",
    ) -> str:
        """Explain a rule, the history of an engine's option or variable over its releases, or the error in a server's log."""
        with _refusals():
            folders = SettingsFiles(trust=self._trust).of_folder("").rules
        try:
            if log:
                return _answer([rules.log_rules(log)])
            return _answer([rules.life(topic, name) if name else rules.rule_page(topic, folders)])
        except rules.NotFound as error:
            raise ToolError(clean(str(error))) from None

    async def memory(
        self,
        paths: Paths = [],  # noqa: B006
        text: Text = None,
        filename: Filename = "command.sh",
        engine_versions: Versions = {},  # noqa: B006
        gpu: Gpu = "",
        gpu_count: GpuCount = 0,
        what_if: Annotated[bool, Field(description="Compare other contexts, sequences, KV cache formats and GPUs")] = False,
        solve: Annotated[
            Literal["", "max-model-len", "max-num-seqs", "gpu"],
            Field(description="Find the largest value that fits, or the smallest GPU"),
        ] = "",
    ) -> str:
        """Plan the GPU memory of launches: whether each starts, and what the KV cache holds."""
        with _refusals():
            inputs = self._inputs(paths, filename if text is not None else "")
            files, notes = self._settings(inputs, _hardware(engine_versions, gpu, gpu_count))
            report = await self._lint(inputs, text, files)
        plans = memory.plans(report, files, memory.Planning({"what_if": what_if, "solve": solve or None}))
        nothing = [] if plans or report.errors else [memory.none_planned(report)]
        return _answer(["\n\n".join([one.text() for one in plans]), *_problems(report), *nothing, *notes])

    async def upgrade(
        self,
        to: Annotated[str, Field(description="The release to upgrade to, as ENGINE=RELEASE: vllm=0.33.0")],
        paths: Paths = [],  # noqa: B006
        text: Text = None,
        filename: Filename = "command.sh",
        engine_versions: Versions = {},  # noqa: B006
        gpu: Gpu = "",
        gpu_count: GpuCount = 0,
    ) -> str:
        """Compare launches under their release and another one: what an upgrade breaks, mends, and changes by defaults."""
        with _refusals():
            engine, release = upgrade.target_of(to)
            inputs = self._inputs(paths, filename if text is not None else "")
            files, notes = self._settings(inputs, _hardware(engine_versions, gpu, gpu_count))
            report = await self._lint(inputs, text, files)
        found = upgrade.compare(report, files, engine, release)
        return _answer(
            [*([upgrade.upgrades_text(found.found)] if found.found else []), *_problems(report), *found.notes, *notes]
        )

    def _inputs(self, paths: list[str], filename: str) -> Inputs:
        """Return what is read: some paths, or a text by its file name. Raises UsageError for what may not be read."""
        if paths and filename:
            raise click.UsageError("text cannot be combined with paths")
        for path in [*paths, filename]:
            if "\0" in path or not self._trust.holds(path):
                raise click.UsageError(
                    f'"{path}" is outside the folders that this server may read: {", ".join(self._trust.within)}'
                )
        named = [os.path.join(".", path) if path == options.STDIN else path for path in paths]  # a file of that name
        return Inputs({"paths": (options.STDIN,) if filename else tuple(named), "stdin_filename": filename})

    def _settings(self, *groups: Options) -> tuple[SettingsFiles, list[str]]:
        """Return the settings of every path, and what is to be known of the releases that were given."""
        files = options.settings(*groups, SettingsOptions({"isolated": False}), trust=self._trust)
        given = [one.partition("=") for group in groups if isinstance(group, Hardware) for one in group.engine_version]
        return files, [note for engine, _, release in given if (note := unlisted_note(engine, release))]

    async def _lint(self, inputs: Inputs, text: str | None, files: SettingsFiles, *, undecided: bool = False) -> Report:
        """Lint a text, or files one by one. Raises UsageError if settings are wrong."""
        report = Report()
        if inputs.are_files:
            for _ in check_in_steps(list(inputs.paths) or [".", *self._trust.within[1:]], files, report, undecided=undecided):
                await checkpoint()
        elif text is not None and not files.leaves_out(inputs.stdin_filename):
            name = inputs.stdin_filename
            own = options.settings_of(files, name)
            source = options.read_stream(name, io.BytesIO(text.encode("utf-8", "surrogatepass")))
            report.files = 1
            if isinstance(source, Problem):
                report.errors.append(source)
            elif source is not None:
                try:
                    with time_limit(bounds.TIME.most):
                        add_source(report, source, own, beside(name, own), undecided=undecided)
                except TooLong:
                    report.errors.append(Problem(name, bounds.TIME.message, limit=True))
        if faults := [*map(str, files.problems), *files.faults]:
            raise click.UsageError("\n".join(faults))
        report.errors[:0] = files.rule_problems()
        return report


def _hardware(versions: dict[str, str], gpu: str, count: int) -> Hardware:
    pinned = tuple([f"{engine}={release}" for engine, release in versions.items()])
    return Hardware({"engine_version": pinned, "gpu": gpu or None, "gpu_count": str(count) if count else None})


def _problems(report: Report) -> list[str]:
    return [problem_text(problem, Painter(False)) for problem in report.errors]


def _answer(parts: list[str]) -> str:
    """Join parts of an answer, and cut it at a line where it is too long."""
    text = "\n".join([part.rstrip("\n") for part in parts if part])
    if len(text) <= _CHARACTERS_AT_MOST:
        return text
    kept, _, _ = text[:_CHARACTERS_AT_MOST].rpartition("\n")
    left = text.count("\n") - kept.count("\n")
    return f"{kept}\n{left} more lines omitted; name fewer paths, or a severity"
