"""What `servelint exec -- vllm serve ...` adds to the start of a server: the same stub with it and without it, in turn.

    python benchmarks/exec.py [RUNS]

Needs servelint beside this interpreter, installed from a wheel as an image has it (pip compiles it then). The stub is a script
called vllm, in a virtual environment that has the metadata of a release and nothing else. Printed are the medians, and the
median of the differences pair by pair, which holds when the machine's speed drifts.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from one_file import tool

RELEASE = "0.27.1"
LAUNCH = [
    "vllm", "serve", "Qwen/Qwen3-8B", "--tensor-parallel-size", "2", "--max-model-len", "32768", "--kv-cache-dtype", "fp8",
    "--gpu-memory-utilization", "0.9", "--speculative-config", '{"method": "ngram", "num_speculative_tokens": 3}',
]  # fmt: skip


FLOOR = [sys.executable, "-c", "raise SystemExit(7)"]


def environment(folder: str, release: str | None) -> dict[str, str]:
    """An environment in whose PATH the stub stands; release None: nothing tells which one it is."""
    binaries, packages = os.path.join(folder, "bin"), os.path.join(folder, "lib", "python3.12", "site-packages")
    os.makedirs(binaries)
    os.makedirs(packages)
    open(os.path.join(folder, "pyvenv.cfg"), "w").close()
    if release is not None:
        os.mkdir(os.path.join(packages, f"vllm-{release}.dist-info"))
    os.symlink("/bin/sh", os.path.join(binaries, "python3"))  # the stub is a script of a shell that goes by Python's name
    stub = os.path.join(binaries, "vllm")
    with open(stub, "w") as file:
        file.write(f"#!{binaries}/python3\nexit 7\n")
    os.chmod(stub, 0o755)
    return {**os.environ, "HOME": folder, "PATH": os.pathsep.join([binaries, os.environ["PATH"]])}


def seconds(command: list[str], env: dict[str, str]) -> float:
    """Wall time of one run; it must come to the stub."""
    start = time.perf_counter()
    status = subprocess.run(command, cwd=env["HOME"], env=env, stderr=subprocess.DEVNULL, check=False).returncode
    taken = time.perf_counter() - start
    if status != 7:
        sys.exit(f"exit status {status} of {' '.join(command)}: the stub has not run")
    return taken


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    for name, release in ((f"release known ({RELEASE})", RELEASE), ("release not known", None)):
        with tempfile.TemporaryDirectory() as folder:
            env = environment(folder, release)
            ours = [tool("servelint"), "exec", "--quiet", "--", *LAUNCH]
            for command in (ours, LAUNCH):
                seconds(command, env)
            rows = [[seconds(command, env) * 1000 for command in (ours, LAUNCH, FLOOR)] for _ in range(runs)]
        added = sorted(mine - alone for mine, alone, _ in rows)
        print(f"{name}: servelint exec {statistics.median(row[0] for row in rows):.1f} ms, ", end="")
        print(f"the stub alone {statistics.median(row[1] for row in rows):.1f} ms, ", end="")
        print(f"python alone {statistics.median(row[2] for row in rows):.1f} ms; ", end="")
        print(f"added {statistics.median(added):.1f} ms (min {added[0]:.1f}, max {added[-1]:.1f}, {runs} pairs)")


if __name__ == "__main__":
    main()
