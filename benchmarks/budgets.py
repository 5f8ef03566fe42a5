"""Every budget of the project in one run, each as a ratio to the peer that was run beside it.

    python benchmarks/budgets.py [--runs N] [--edits N] [--json FILE] [--against FILE]    the budgets
    python benchmarks/budgets.py --sizes [--most N]                                       the cost against the size

Needs servelint with its extra `lsp`, yamllint, check-jsonschema and zizmor beside this interpreter; the inputs are made by
many_files.py and are the same each time. Packages are compiled first, as installations do. Commands are run in turn, and a
ratio is the median of the ratios run by run. Beside the elapsed time there is that of the processors, which holds on a busy
machine, and the number of instructions where `perf stat` counts them. The exit status is 1 if a budget is passed, or if the
figures of --against FILE, another run, were better by a tenth.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import many_files
from one_file import INPUT, tool

TENTH = 1.1
SIZES = (10, 100, 1_000, 10_000)
LAUNCHES = (1, 10, 50, 100, 200, 400)
OFF_A_LINE = 0.2
"""The share by which a time may be off the line that the times fit: runs of the same differ by a tenth."""
LAUNCH = "vllm serve m{0} --port {1} --max-model-len {2} --gpu-memory-utilization 0.9 --swap-space 4\n"


class Cost(NamedTuple):
    """What one run of a command takes: seconds, seconds of the processors, MiB at its peak, and millions of instructions."""

    elapsed: float
    processor: float
    memory: float
    instructions: float


class Row(NamedTuple):
    """A budget: its name, the figure, what it may be at most, and what it is in."""

    name: str
    figure: float
    budget: float
    unit: str


def cost(command: list[str], folder: str | None = None) -> Cost:
    """Run a command. Its exit status is not looked at: all of these tools find something in the inputs."""
    counting = _counts_instructions()
    with tempfile.NamedTemporaryFile("r") as counted:
        whole = ["perf", "stat", "-x", ",", "-e", "instructions:u", "-o", counted.name, *command] if counting else command
        started = time.perf_counter()
        process = subprocess.Popen(whole, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        _, _, used = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - started
        process.returncode = 0
        text = counted.read()
    instructions = next((float(line.split(",")[0]) / 1e6 for line in text.splitlines() if ",instructions" in line), 0.0)
    return Cost(elapsed, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, instructions)


_COUNTS: list[bool] = []


def _counts_instructions() -> bool:
    if not _COUNTS:
        try:
            ran = subprocess.run(["perf", "stat", "-x", ",", "-e", "instructions:u", "true"], capture_output=True, text=True)
            _COUNTS.append(ran.returncode == 0 and "not" not in ran.stderr)
        except OSError:
            _COUNTS.append(False)
    return _COUNTS[0]


def ratio(costs: list[dict[str, Cost]], mine: str, other: str, what: str = "elapsed") -> float:
    """The median of the ratios of two commands, run by run."""
    return statistics.median(getattr(one[mine], what) / getattr(one[other], what) for one in costs)


def small(runs: int) -> list[dict[str, Cost]]:
    """One compose file of 62 lines, in a folder without settings of any of the tools."""
    schema = ["--builtin-schema", "vendor.compose-spec"]
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(INPUT, folder)
        commands = {
            "servelint": [tool("servelint"), "check", "--no-cache", path],
            "yamllint": [tool("yamllint"), path],
            "check-jsonschema": [tool("check-jsonschema"), *schema, path],
        }
        return _in_turn(commands, runs, folder)


def large(runs: int, folder: str) -> list[dict[str, Cost]]:
    """1,000 files, cold and with everything known, and workflows."""
    launches, repository = many_files.write_inputs(folder)
    known = ["--cache-dir", os.path.join(folder, "known")]
    check = [tool("servelint"), "check", "-q", launches]
    commands = {
        "cold": [*check, "--no-cache"],
        "warm": [*check, *known],
        "zizmor": [tool("zizmor"), "--offline", "--no-progress", repository],
        "yamllint": [tool("yamllint"), launches],
    }
    return _in_turn(commands, runs)


def _in_turn(commands: dict[str, list[str]], runs: int, folder: str | None = None) -> list[dict[str, Cost]]:
    for command in commands.values():
        cost(command, folder)  # which writes the bytecode of what it imports
    return [{name: cost(command, folder) for name, command in commands.items()} for _ in range(runs)]


def keystrokes(count: int) -> dict[str, float]:
    """Milliseconds from a keystroke to the diagnostics, which one of a hundred passes, in the two files of 300 lines."""
    import editor

    client = editor.Client()
    client.begin()
    found: dict[str, float] = {}
    for name in editor.INPUTS:
        typing = editor.Typing(client, name)
        typing.run(count, random.Random(1))
        found[name] = sorted(typing.waits)[int(len(typing.waits) * 0.99)] * 1000
    client.end()
    return found


def budgets(runs: int, edits: int) -> list[Row]:
    """Measure everything."""
    one = small(runs)
    with tempfile.TemporaryDirectory() as folder:
        many = large(max(runs // 4, 1), folder)
    rows = [
        Row("one file / yamllint", ratio(one, "servelint", "yamllint"), 1.2, "x"),
        Row("one file / check-jsonschema", ratio(one, "servelint", "check-jsonschema"), 0.6, "x"),
        Row("1,000 files / zizmor", ratio(many, "cold", "zizmor"), 2.0, "x"),
        Row("1,000 files / yamllint", ratio(many, "cold", "yamllint"), 0.15, "x"),
        Row("1,000 files again / zizmor", ratio(many, "warm", "zizmor"), 0.5, "x"),
        Row("peak memory, one file", max(each["servelint"].memory for each in one), 45, "MiB"),
    ]
    rows += [
        Row("one file / yamllint, processor", ratio(one, "servelint", "yamllint", "processor"), 1.2, "x"),
        Row("1,000 files / zizmor, processor", ratio(many, "cold", "zizmor", "processor"), 2.0, "x"),
        Row("1,000 files again / zizmor, processor", ratio(many, "warm", "zizmor", "processor"), 0.5, "x"),
    ]
    if _counts_instructions():
        rows.append(Row("one file / yamllint, instructions", ratio(one, "servelint", "yamllint", "instructions"), 1.2, "x"))
    if edits:
        waits = keystrokes(edits)
        rows.append(Row("keystroke, compose, p99", waits["editor-compose.yml"], 25, "ms"))
        rows.append(Row("keystroke, script, p99", waits["editor-serve.sh"], 50, "ms"))
    return rows


def memory_of_all(command: list[str]) -> float | None:
    """The MiB that a command and its processes take together at the peak; None where the system does not say it.

    It is the sum of the proportional set sizes, which count a page that processes share once, looked at every 10 ms in a run
    of its own, so that no time is disturbed.
    """
    if not os.path.exists("/proc/self/smaps_rollup"):
        return None
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_proportional, _with_children(process.pid))))
        time.sleep(0.01)
    return peak / 1024


def _with_children(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        for path in glob.glob(f"/proc/{one}/task/*/children"):
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def _proportional(pid: int) -> int:
    """The proportional set size of a process in KiB; 0 if it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("Pss:")), 0)
    return 0


def line(points: list[tuple[int, float]], thing: str) -> str:
    """The line that sizes and seconds fit best by the squares of the relative errors, and how far they are off it."""
    weights = [1 / seconds**2 for _, seconds in points]
    whole = sum(weights)
    middle = sum(weight * size for weight, (size, _) in zip(weights, points, strict=True)) / whole
    height = sum(weight * seconds for weight, (_, seconds) in zip(weights, points, strict=True)) / whole
    spread = sum(weight * (size - middle) ** 2 for weight, (size, _) in zip(weights, points, strict=True))
    both = sum(weight * (size - middle) * seconds for weight, (size, seconds) in zip(weights, points, strict=True))
    slope = both / spread if spread else 0.0
    begin = height - slope * middle
    off = max(abs(begin + slope * size - seconds) / seconds for size, seconds in points)
    said = "a line" if off <= OFF_A_LINE else "no line"
    return f"{said}: {begin:.2f} s + {slope * 1000:.2f} ms a {thing}, within {off:.0%}"


def sizes(most: int) -> None:
    """Print the cost against the number of files, and of launches in a file, as tables in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        cost([tool("servelint"), "check", "-q", many_files.write_inputs(folder)[0], "--no-cache"])

    def files(count: int, folder: str) -> str:
        many_files.FILES = count
        return many_files.write_inputs(folder)[0]

    def launches(count: int, folder: str) -> str:
        path = os.path.join(folder, "serve.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(LAUNCH.format(one % 7, 8000 + one, 4096 * (1 + one % 16)) for one in range(count))
        return path

    _table("file", "files", [one for one in SIZES if one <= most], files)
    print()
    _table("launch", "launches in a file", LAUNCHES, launches)


def _table(thing: str, things: str, counts: Sequence[int], write: Callable[[int, str], str]) -> None:
    print(f"| {things} | cold | a {thing} | with everything known | a {thing} | largest process | all processes |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    cold: list[tuple[int, float]] = []
    warm: list[tuple[int, float]] = []
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            check = [tool("servelint"), "check", "-q", write(count, folder)]
            known = [*check, "--cache-dir", os.path.join(folder, "known")]
            first, again = cost(known), cost(known)
            together = memory_of_all([*check, "--no-cache"])
        cold.append((count, first.processor))
        warm.append((count, again.processor))
        print(
            f"| {count:,} | {first.processor:.2f} s | {first.processor / count * 1000:.1f} ms | {again.processor:.2f} s "
            f"| {again.processor / count * 1000:.2f} ms | {first.memory:.0f} MiB "
            f"| {f'{together:.0f} MiB' if together is not None else ''} |",
            flush=True,
        )
    print(f"\nCold {line(cold, thing)}. With everything known {line(warm, thing)}.")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure every budget beside its peer.")
    parser.add_argument("--runs", type=int, default=20, help="of the small commands; a quarter of it of the large ones (20)")
    parser.add_argument("--edits", type=int, default=500, help="in each of the two files of the editor; 0 leaves it out (500)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--against", metavar="FILE", help="the figures of another run, which these are compared with")
    parser.add_argument("--sizes", action="store_true", help="print the cost against the size instead")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="files of the largest size (10000)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # as an installation: bytecode of all packages, which the first run of each command writes; a checkout's may be stale
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        if arguments.sizes:
            sizes(arguments.most)
            return 0
        rows = budgets(arguments.runs, arguments.edits)
    before: dict[str, float] = {}
    if arguments.against and os.path.exists(arguments.against):
        with open(arguments.against, encoding="utf-8") as file:
            before = json.load(file)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    print(f"{os.cpu_count()} processors, load {load:.1f}, Python {sys.version.split()[0]}\n")
    print("| | measured | budget | | before |\n|---|---:|---:|---|---:|")
    worse = False
    for row in rows:
        old = before.get(row.name)
        lost = old is not None and row.figure > old * TENTH
        worse = worse or lost or row.figure > row.budget
        said = "over" if row.figure > row.budget else "lost" if lost else "kept"
        then = f"{old:.2f} {row.unit}" if old is not None else ""
        print(f"| {row.name} | {row.figure:.2f} {row.unit} | {row.budget:g} {row.unit} | {said} | {then} |")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({row.name: round(row.figure, 4) for row in rows}, file, indent=1)
    return int(worse)


if __name__ == "__main__":
    if shutil.which("perf") is None:
        _COUNTS.append(False)
    sys.exit(main())
