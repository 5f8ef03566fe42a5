"""python -m fuzz --harness NAME --executions N [--seed S] [--jobs J] [--minutes M] [--engine loop|atheris] [--keep FOLDER]"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from fuzz import run
from fuzz.counts import COUNTS
from fuzz.harnesses import NAMES, harness


def main() -> int:
    arguments = _parser().parse_args()
    if arguments.replay is not None:
        return _replay(arguments.replay)
    if arguments.engine == "atheris":
        from fuzz import guided

        return guided.main(arguments.harness[0], arguments.executions, arguments.seed, Path(arguments.keep))
    failed = 0
    for name in arguments.harness or NAMES:
        failed += _harness(name, arguments)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Texts that nobody would write, and what must hold of each.")
    parser.add_argument("--harness", action="append", choices=NAMES, help="one of them; all if it is not given")
    parser.add_argument("--executions", type=int, default=10_000, help="of each harness (10000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same cases (1)")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with seeds of its own (1)")
    parser.add_argument("--minutes", type=float, help="of processor time after which each process stops")
    parser.add_argument("--engine", choices=("loop", "atheris"), default="loop", help="atheris: led by coverage, one harness")
    parser.add_argument("--keep", default="fuzz-failures", help="the folder for what fails (fuzz-failures)")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="check a case of that folder again")
    return parser


def _replay(path: Path) -> int:
    name, case = run.stored(path)
    failure = run.failing(harness(name), case)
    print(failure.told if failure is not None else "it holds")
    return 1 if failure is not None else 0


def _harness(name: str, arguments: argparse.Namespace) -> int:
    each = -(-arguments.executions // arguments.jobs)
    seconds = arguments.minutes * 60 if arguments.minutes else None
    asked = [(name, each, arguments.seed + job, seconds, arguments.keep) for job in range(arguments.jobs)]
    if arguments.jobs == 1:
        found = [_run(*asked[0])]
    else:
        with ProcessPoolExecutor(arguments.jobs) as pool:
            found = list(pool.map(_run, *zip(*asked, strict=True)))
    executions, taken = sum(one[0] for one in found), sum(one[1] for one in found)
    counts: dict[str, int] = {}
    for _, _, _, counted in found:
        for what, count in counted.items():
            counts[what] = counts.get(what, 0) + count
    kinds = sorted({what for _, _, failures, _ in found for what in failures})
    print(
        f"{name}: {executions} executions in {taken:.0f} s of processor time, {executions / max(taken, 0.001):.0f} a second; "
        f"{counts.pop('failures', 0)} failures of {len(kinds)} kinds"
    )
    print("  " + ", ".join([f"{what}: {count}" for what, count in sorted(counts.items())]))
    for kind in kinds:
        print("  failed: " + kind)
    sys.stdout.flush()
    return len(kinds)


def _run(name: str, executions: int, seed: int, seconds: float | None, keep: str) -> tuple[int, float, list[str], dict[str, int]]:
    COUNTS.clear()
    ran = run.loop(name, executions, seed, seconds=seconds, keep=Path(keep))
    return ran.executions, ran.seconds, [failure.what for failure in ran.failures], dict(COUNTS)


if __name__ == "__main__":
    sys.exit(main())
