"""`servelint scan`: the linter over many repositories."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable

from servelint.cli import collect_garbage_as_usual, options
from servelint.cli.command import Options, argument, command, fail, flag, option, whole_number
from servelint.cli.options import ExitStatus, Hardware, Rules
from servelint.cli.output import Progress, bar_wanted, plural, print_stderr
from servelint.core.finding import SEVERITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.scan.job import Counts, Job, Unit
    from servelint.scan.output import File, Stream

_NOTES = """SOURCE is a folder of repositories, a repository (PATH@REVISION reads a revision from git, as does a
bare repository), or an archive (.tar, .tar.gz, .tar.bz2, .tar.xz, .zip). A killed
scan with --output continues when it is started again. Settings files inside repositories are
not read.

exit status: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage, or a file or a repository
that could not be read or parsed (the others are still linted), 3 an error in servelint itself"""
_FORMATS = ("jsonl", "parquet")


class Sources(Options, title="input"):
    """Which repositories are read, and which of their files."""

    paths: tuple[str, ...] = argument("SOURCE", "a folder, a git repository, or an archive", many=True)
    lists: tuple[str, ...] = option(
        "--from", metavar="FILE", many=True, help="a file with one source a line, optionally TAB and a name; - is stdin"
    )
    revision: str | None = option(
        "--revision", metavar="REV", help="read every git repository at this revision (bare ones: HEAD)"
    )
    depth: int | None = option(
        "--depth", metavar="N", read=whole_number, help="the folders N levels below SOURCE are the repositories"
    )
    exclude: tuple[str, ...] = option("--exclude", metavar="GLOB", many=True, help="skip these paths of repositories")
    extend_exclude: tuple[str, ...] = option("--extend-exclude", metavar="GLOB", many=True, help="also skip these paths")


class SettingsOptions(Options, title="settings"):
    """Which settings file is read."""

    settings: str | None = option(
        "--settings", metavar="FILE", help="use this file, not the nearest one above the current folder"
    )
    isolated: bool = flag("--isolated", help="read no settings file")


class Running(Options, title="running"):
    """Where the work is done, and what is kept of it."""

    jobs: int | None = option(
        "--jobs", metavar="N", read=whole_number, help="processes on this machine (default: one for each processor)"
    )
    scheduler: str | None = option("--scheduler", metavar="URL", help="run on a Dask cluster, such as tcp://host:8786")
    cache: str | None = option("--cache", metavar="FOLDER", help="where results are kept (default: the user's cache)")
    no_cache: bool = flag("--no-cache", help="neither read nor write the cache")
    restart: bool = flag("--restart", help="start over, even if a killed scan left rows in --output")


class OutputOptions(Options, title="output"):
    """How the rows are written, and where to."""

    kind: str = option("--format", choices=_FORMATS, default=_FORMATS[0], help=f"output format (default: {_FORMATS[0]})")
    output: str | None = option("--output", metavar="FILE", help="write the rows to FILE instead of standard output")
    quiet: bool = flag("-q", "--quiet", help="print rows and nothing else")


@command(
    "scan",
    *(Sources, Rules, Hardware, SettingsOptions, Running, OutputOptions, ExitStatus),
    about="Lint many repositories and write one row for each finding.",
    notes=_NOTES,
    examples=[
        "servelint scan ~/repositories --output findings.jsonl",
        "servelint scan --from list.txt --revision v1.2 --format parquet --output findings.parquet",
    ],
)
def run(
    sources: Sources,
    rules: Rules,
    hardware: Hardware,
    own: SettingsOptions,
    running: Running,
    writing: OutputOptions,
    ending: ExitStatus,
) -> int:
    """Scan."""
    started = time.perf_counter()
    collect_garbage_as_usual()
    _refuse_contradictions(sources, running, writing)
    settings_files = options.settings(sources, rules, hardware, own, ending)
    settings = options.settings_of(settings_files)
    if problems := [*settings_files.problems, *settings_files.rule_problems()]:
        return options.report_problems(problems)
    from servelint.scan import job

    patterns = tuple([glob.text for glob in settings_files.governing("source")[0].exclude])
    lines = _lines(writing)
    total = _scan(sources, running, writing, _with_cache(job.create(settings, patterns), running), lines)
    if writing.kind == "parquet" and writing.output is not None and lines is not None:
        from servelint.scan import output

        try:
            output.write_parquet(lines, writing.output)
            os.unlink(lines)
        except OSError as error:
            fail(f"{writing.output}: cannot be written: {error.strerror or error}")
    if not writing.quiet:
        print_stderr(_summary(total, time.perf_counter() - started))
    return _status(total, "never" if ending.exit_zero else settings.fail_on)


def _refuse_contradictions(sources: Sources, running: Running, writing: OutputOptions) -> None:
    """Raise UsageError if options contradict each other."""
    if not sources.paths and not sources.lists:
        fail("name a SOURCE, or a list of them with --from")
    if running.jobs is not None and running.scheduler is not None:
        fail("--jobs is for the processes of this machine; the cluster of --scheduler has its own workers")
    if running.no_cache and running.cache is not None:
        fail("--no-cache cannot be combined with --cache")
    if running.restart and writing.output is None:
        fail("--restart is for a scan with --output")
    if writing.kind == "parquet":
        from servelint.scan import output

        why = output.parquet_problem() if writing.output is not None else "--format parquet needs --output FILE"
        if why is not None:
            fail(why)


def _with_cache(job: Job, running: Running) -> Job:
    if running.no_cache:
        return job
    from servelint.scan import cache

    folder = os.path.abspath(running.cache or cache.default_folder())
    try:
        cache.prepare(folder, job.context)
    except OSError as error:
        if running.cache is not None:
            fail(f"--cache {running.cache}: cannot be written: {error.strerror}")
        return job  # it was not settings_files for, and this user has no place for it
    return job._replace(cache=folder)


def _lines(writing: OutputOptions) -> str | None:
    """Return the file of JSON Lines that is written, if any; a Parquet file is made of one."""
    path = writing.output
    return path if path is None or writing.kind == _FORMATS[0] else f"{path}.jsonl"


def _scan(named: Sources, running: Running, writing: OutputOptions, job: Job, lines: str | None) -> Counts:
    from servelint.parallel import processors
    from servelint.scan import output, pool, repository, sources

    into: Stream | File | None = None
    bar: Progress | None = None
    try:
        found: Iterable[Unit] = sources.units(sources.named(list(named.paths), list(named.lists)), named.revision, named.depth)
        if "-" not in named.lists:
            found = list(found)  # a wrong source is reported before anything is read
        into = output.Stream(sys.stdout.buffer) if lines is None else output.File(lines, job, restart=running.restart)
        if into.before.repositories and not writing.quiet:
            print_stderr(f"servelint: continuing: {into.before.repositories:,} repositories were done before")
        if isinstance(found, list) and bar_wanted(writing.quiet):
            bar = Progress("repositories")
            bar.step(len(found), into.before.repositories)
        left = (unit for unit in found if not into.is_done(unit))
        if running.scheduler is not None:
            done = pool.run_on_cluster(left, job, running.scheduler)
        else:
            done = pool.run_processes(left, job, running.jobs or processors())
        total = into.before
        for unit, one in done:
            into.add(unit, one)
            total = total.plus(one.counts)
            if bar is not None and isinstance(found, list):
                bar.step(len(found))
        into.finish()
    except (sources.SourceError, output.OutputError, pool.ClusterError, repository.Mismatch) as error:
        fail(str(error))
    finally:
        if bar is not None:
            bar.clear()
        if into is not None:
            into.close()
    return total


def _summary(total: Counts, seconds: float) -> str:
    found = [f"{_count(getattr(total, name), name)}" for name in SEVERITIES[::-1] if getattr(total, name)]
    parts = [
        f"servelint: {', '.join(found) or 'nothing found'} in {_count(total.launches, 'launch')}",
        f"{_count(total.files, 'file')} of {_count(total.repositories, 'repository')} in {seconds:.1f} s",
    ]
    if total.reused:
        parts.append(f"{total.reused:,} files were known")
    if total.problems:
        parts.append(f"{_count(total.problems, 'error row')}: what could not be read or parsed")
    return "; ".join(parts)


def _count(number: int, word: str) -> str:
    return f"{number:,} {plural(number, word)}"


def _status(total: Counts, fail_on: str) -> int:
    if total.own or total.problems:
        return 3 if total.own else 2
    return int(any(getattr(total, name) for name in SEVERITIES if options.reaches(name, fail_on)))
