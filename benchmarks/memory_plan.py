"""How long a memory plan takes once everything is loaded, in milliseconds of a processor: what else runs does not count.

    python benchmarks/memory_plan.py [--each]

Every model that is known by its name, on eight H100, under an old and the newest release of each engine. Told apart are the
first plan of an engine in a process, which imports its arithmetic and loads the tables of models, GPUs and options; the first
of a launch, which weighs its model; and the same launch again. --each prints the slowest launches too.
"""

from __future__ import annotations

import argparse
import statistics
import time

import servelint
from servelint.models.catalog import known_names

LAUNCHES = {
    "vllm": ("--tensor-parallel-size", "8"),
    "sglang": ("--tp-size", "8"),
}
RELEASES = (("vllm", "0.33.0"), ("sglang", "0.5.23"), ("vllm", "0.19.1"), ("sglang", "0.5.10"))
BUDGET = 5.0


def milliseconds(engine: str, model: str, release: str) -> float:
    argv = [model] if engine == "vllm" else ["--model-path", model]
    start = time.process_time()
    servelint.plan_memory(engine, [*argv, *LAUNCHES[engine]], version=release, gpu="h100", gpu_count=8)
    return (time.process_time() - start) * 1000


def told(times: list[float]) -> str:
    ordered = sorted(times)
    over = sum(one > BUDGET for one in ordered)
    p99 = ordered[int(0.99 * (len(ordered) - 1))]
    return f"median {statistics.median(ordered):5.2f}  p99 {p99:5.2f}  max {ordered[-1]:5.2f}  above {BUDGET:g}: {over}"


def main() -> None:
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("--each", action="store_true", help="the slowest launches too")
    arguments = usage.parse_args()
    loaded: set[str] = set()
    for engine, release in RELEASES:
        if engine not in loaded:
            loaded.add(engine)
            print(f"{engine}: first plan of the process {milliseconds(engine, 'Qwen/Qwen3-8B', release):.0f} ms")
        first: list[tuple[float, str]] = []
        again: list[float] = []
        for name in known_names():
            first.append((milliseconds(engine, name, release), name))
            again.append(milliseconds(engine, name, release))
        print(f"{engine} {release}, {len(first)} models: first plan  {told([one for one, _ in first])}")
        print(f"{'':<{len(engine) + len(release) + 2}}{len(first)} models: the same again  {told(again)}")
        if arguments.each:
            for one, name in sorted(first, reverse=True)[:10]:
                print(f"  {one:6.2f}  {name}")


if __name__ == "__main__":
    main()
