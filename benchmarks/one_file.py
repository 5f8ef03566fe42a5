"""One 62-line compose file, whole process, against yamllint on the same file in the same run.

    python benchmarks/one_file.py [RUNS]

Needs servelint and yamllint installed beside this interpreter. The two are run in turn; printed are the medians and the
median of the ratios pair by pair, which holds when the machine's speed drifts.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
INPUT = os.path.join(HERE, "inputs", "compose.yml")


def seconds(command: list[str]) -> float:
    """Wall time of one run of a command. Its exit status is not looked at: both tools find something in the input."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def tool(name: str) -> str:
    """The tool that belongs to this interpreter or to that which it is made from, else the one on the path."""
    beside = [os.path.join(folder, name) for folder in (os.path.dirname(sys.executable), os.path.join(sys.base_prefix, "bin"))]
    found = next((one for one in beside if os.path.exists(one)), None) or shutil.which(name)
    if found is None:
        sys.exit(f"{name} is not installed; pip install {name}")
    return found


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    ours, theirs = [tool("servelint"), "check", INPUT], [tool("yamllint"), INPUT]
    floor = [sys.executable, "-c", "pass"]
    for command in (ours, theirs, floor):
        seconds(command)
    rows = [(seconds(ours), seconds(theirs), seconds(floor)) for _ in range(runs)]
    for name, column in (("servelint check", 0), ("yamllint", 1), ("python -c pass", 2)):
        times = sorted(row[column] * 1000 for row in rows)
        print(f"{name:<16} median {statistics.median(times):6.1f} ms   min {times[0]:6.1f}   max {times[-1]:6.1f}")
    ratio = statistics.median(mine / other for mine, other, _ in rows)
    print(f"servelint / yamllint: {ratio:.2f} (median of {runs} pairs)")


if __name__ == "__main__":
    main()
