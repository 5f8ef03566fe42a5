"""`servelint scan`: the linter over many repositories."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable

from servelint.cli import options
from servelint.core.finding import SEVERITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from servelint.scan.job import Job
    from servelint.scan.output import File, Stream
    from servelint.scan.unit import Counts, Done, Unit

_EPILOG = """SOURCE is a folder of repositories, a repository (PATH@REVISION reads what git has stored, and so
does PATH where it is bare), or an archive (.tar, .tar.gz, .tar.bz2, .tar.xz, .zip). Given once more
after it was killed, a scan with --output goes on. Settings files inside repositories are not read.

exit status: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage, or a file or a repository
that could not be read or parsed (the others are still linted), 3 an error in servelint itself"""
_FORMATS = ("jsonl", "parquet")


def run(args: list[str]) -> int:
    started = time.perf_counter()
    usage = parser()
    arguments = usage.parse_args(args)
    _hold_together(arguments, usage)
    asked = options.settings(arguments, usage)
    settings = options.settled(asked, usage)
    problems = [*asked.problems, *options.rule_problems(asked)]
    if problems:
        return options.stop(problems)
    from servelint.scan import job

    patterns = tuple([glob.text for glob in asked.governing("source")[0].exclude])
    lines = _lines(arguments)
    total = _scan(arguments, _with_cache(job.made(settings, patterns), arguments, usage), lines, usage)
    if arguments.kind == "parquet" and lines is not None:
        from servelint.scan import parquet

        try:
            parquet.write(lines, arguments.output)
            os.unlink(lines)
        except OSError as error:
            usage.error(f"{arguments.output}: cannot be written: {error.strerror or error}")
    if not arguments.quiet:
        print(_summary(total, time.perf_counter() - started), file=sys.stderr)
    return _status(total, "never" if arguments.exit_zero else settings.fail_on)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    usage = options.parser("scan", "Lint many repositories, each finding a row.")
    usage.epilog = _EPILOG
    usage.add_argument("paths", nargs="*", metavar="SOURCE", help="a folder, a git repository, or an archive")
    usage.add_argument(
        "--from",
        dest="lists",
        action="append",
        default=[],
        metavar="FILE",
        help="a list of sources, one a line, a name for its rows behind a tab; - is standard input",
    )
    usage.add_argument("--revision", metavar="REV", help="read every git repository at this one (default: HEAD of bare ones)")
    usage.add_argument(
        "--depth", type=int, metavar="N", help="the folders N below SOURCE are the repositories, with .git or not"
    )
    usage.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="leave these paths of repositories out")
    usage.add_argument("--extend-exclude", action="append", default=[], metavar="GLOB", help="leave these out as well")
    options.add_filters(usage)
    options.add_engine_version(usage)
    options.add_gpu(usage)
    usage.add_argument("--settings", metavar="FILE", help="this settings file, not the nearest one above the current folder")
    usage.add_argument("--isolated", action="store_true", help="read no settings file")
    options.add_status(usage)
    usage.add_argument("--format", dest="kind", choices=_FORMATS, default=_FORMATS[0], help=f"(default: {_FORMATS[0]})")
    usage.add_argument("--output", metavar="FILE", help="write the rows there instead of standard output")
    usage.add_argument("--restart", action="store_true", help="begin anew where a scan into the same file was killed")
    usage.add_argument("--jobs", type=int, metavar="N", help="processes of this machine (default: one for each processor)")
    usage.add_argument("--scheduler", metavar="URL", help="let the workers of this Dask cluster do it, such as tcp://host:8786")
    usage.add_argument("--cache", metavar="FOLDER", help="where results are kept for the next scan (default: the user's cache)")
    usage.add_argument("--no-cache", action="store_true", help="keep no results, and use none")
    usage.add_argument("-q", "--quiet", action="store_true", help="print rows and nothing else")
    return usage


def _hold_together(arguments: argparse.Namespace, usage: argparse.ArgumentParser) -> None:
    """End with a usage error if options contradict each other."""
    if not arguments.paths and not arguments.lists:
        usage.error("name a SOURCE, or a list of them with --from")
    for option in ("jobs", "depth"):
        value = getattr(arguments, option)
        if value is not None and value < 1:
            usage.error(f"--{option} is a number from 1 on, not {value}")
    if arguments.jobs is not None and arguments.scheduler is not None:
        usage.error("--jobs is for the processes of this machine; the cluster of --scheduler has workers of its own")
    if arguments.no_cache and arguments.cache is not None:
        usage.error("--no-cache keeps nothing, and --cache names where")
    if arguments.restart and arguments.output is None:
        usage.error("--restart is for a scan with --output")
    if arguments.kind == "parquet":
        from servelint.scan import parquet

        why = parquet.check() if arguments.output is not None else "--format parquet needs --output FILE"
        if why is not None:
            usage.error(why)


def _with_cache(job: Job, arguments: argparse.Namespace, usage: argparse.ArgumentParser) -> Job:
    if arguments.no_cache:
        return job
    from servelint.scan import cache

    folder = os.path.abspath(arguments.cache or cache.default_folder())
    try:
        cache.opened(folder, job.context)
    except OSError as error:
        if arguments.cache is not None:
            usage.error(f"--cache {arguments.cache}: cannot be written: {error.strerror}")
        return job  # nobody asked for it, and this user has no place for it
    return job._replace(cache=folder)


def _lines(arguments: argparse.Namespace) -> str | None:
    """The file of JSON Lines that is written, if any; a Parquet file is made of one."""
    output: str | None = arguments.output
    return output if output is None or arguments.kind == _FORMATS[0] else f"{output}.jsonl"


def _scan(arguments: argparse.Namespace, job: Job, lines: str | None, usage: argparse.ArgumentParser) -> Counts:
    from servelint.scan import cluster, output, pool, repository, sources

    into: Stream | File | None = None
    bar: _Bar | None = None
    try:
        named = sources.named(arguments.paths, arguments.lists)
        found: Iterable[Unit] = sources.units(named, arguments.revision, arguments.depth)
        if "-" not in arguments.lists:
            found = list(found)  # a wrong source is told before anything is read
        into = output.Stream(sys.stdout.buffer) if lines is None else output.File(lines, job, restart=arguments.restart)
        if into.before.repositories and not arguments.quiet:
            print(f"servelint: going on: {into.before.repositories:,} repositories were done before", file=sys.stderr)
        bar = _Bar(len(found) if isinstance(found, list) else None, into.before.repositories, quiet=arguments.quiet)
        left = (unit for unit in found if not into.is_done(unit))
        if arguments.scheduler is not None:
            done = cluster.run(left, job, arguments.scheduler)
        else:
            done = pool.run(left, job, arguments.jobs or pool.processors())
        total = _written(done, into, bar)
        into.finish()
    except (sources.SourceError, output.OutputError, cluster.ClusterError, repository.Mismatch) as error:
        usage.error(str(error))
    finally:
        if bar is not None:
            bar.clear()
        if into is not None:
            into.close()
    return total


def _written(done: Iterator[tuple[Unit, Done]], into: Stream | File, bar: _Bar) -> Counts:
    """Write the rows as they come; gives what they count, with those of an earlier run."""
    total = into.before
    for unit, one in done:
        into.add(unit, one)
        total = total.plus(one.counts)
        bar.step()
    return total


class _Bar:
    """How many repositories are done, on a terminal. total: None if nobody knows"""

    def __init__(self, total: int | None, before: int, *, quiet: bool) -> None:
        from servelint.cli import progress

        self._total = total
        self._bar = progress.Progress("repositories") if total is not None and progress.wanted(quiet) else None
        if self._bar is not None and before:
            self._bar.step(total or 0, before)

    def step(self) -> None:
        if self._bar is not None and self._total is not None:
            self._bar.step(self._total)

    def clear(self) -> None:
        if self._bar is not None:
            self._bar.clear()


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
    if number == 1 or word == "info":
        return f"{number:,} {word}"
    plural = word[:-1] + "ies" if word.endswith("y") else word + ("es" if word.endswith("ch") else "s")
    return f"{number:,} {plural}"


def _status(total: Counts, fail_on: str) -> int:
    if total.own or total.problems:
        return 3 if total.own else 2
    if fail_on == "never":
        return 0
    return int(any(getattr(total, name) for name in SEVERITIES[SEVERITIES.index(fail_on) :]))
