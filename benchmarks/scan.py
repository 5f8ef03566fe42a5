"""`servelint scan` over 200,000 generated files in 500 repositories, 1 % of them with launches: the pool, the cache, Dask.

    python benchmarks/scan.py [--repositories 500] [--files 400] [--runs 3] [--jobs 2] [--folder FOLDER] [--no-dask]

Prints wall time, and the processor time of all processes, which other programs on the machine disturb less. The cluster is a
local one with a worker for each of the jobs; one worker is killed (SIGKILL) when half of the repositories are done. Needs the
extra `dask` for that. The files come from a fixed seed; a folder that is named is kept, and used again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter

NAMES = (
    ("src/{word}/{word}_{number}.py", 38),
    ("src/{word}/{word}{number}.ts", 14),
    ("docs/{word}/{word}-{number}.md", 9),
    ("config/{word}/{word}-{number}.yaml", 9),
    ("data/{word}-{number}.json", 8),
    ("scripts/{word}-{number}.sh", 4),
    ("include/{word}_{number}.h", 8),
    ("assets/{word}-{number}.svg", 5),
    (".github/workflows/{word}-{number}.yml", 2),
    ("docker/{word}{number}/Dockerfile", 1),
    ("{word}{number}/Makefile", 1),
    ("LICENSES/{word}{number}", 1),
)
"""Names of files and how many of a hundred are like that: about a third are names that servelint looks at."""
WORDS = str.split(
    "core model server client worker queue cache store index parser render router session token metric trace config schema"
    " batch stream buffer vector matrix kernel driver plugin widget layout theme asset fixture report export import sync"
)
LAUNCHES = (
    ("deploy/compose-{number}.yml", "compose"),
    ("scripts/serve-{number}.sh", "shell"),
    ("k8s/deployment-{number}.yaml", "kubernetes"),
    ("docs/serving-{number}.md", "markdown"),
)
COMPOSE = """services:
  llm:
    image: vllm/vllm-openai:v0.{minor}.0
    env_file: .env
    ports: ["{port}:8000"]
    ipc: host
    environment:
      HF_HOME: ${{CACHE:-/cache}}
    command: >-
      --model Qwen/Qwen3-8B
      --max-model-len {length}
      --kv-cache-dtype {cache}
      --speculative-config '{{"method":"mtp","num_speculative_tokens":{tokens}}}'
"""
SHELL = """#!/usr/bin/env bash
set -euo pipefail
. ./common.sh
MODEL="${{MODEL:-Qwen/Qwen3-8B}}"
vllm serve "$MODEL" --port {port} --max-model-len {length} --gpu-memory-utilization 0.9{tokens} \\
  --kv-cache-dtype {cache}
"""
KUBERNETES = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: llm-{number}}}
spec:
  template:
    spec:
      containers:
        - name: sglang
          image: lmsysorg/sglang:v0.5.{minor}
          command: [python3, -m, sglang.launch_server]
          args: ["--model-path", "Qwen/Qwen3-8B", "--port", "{port}", "--context-length", "{length}"]
          resources: {{limits: {{nvidia.com/gpu: 1}}}}
"""
MARKDOWN = """# Serving

```bash
vllm serve Qwen/Qwen3-8B --port {port} --max-model-len {length} --swap-space {tokens}
```
"""
TEXTS = {"compose": COMPOSE, "shell": SHELL, "kubernetes": KUBERNETES, "markdown": MARKDOWN}


def main() -> None:
    arguments = _parser().parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.abspath(arguments.folder or os.path.join(scratch, "repositories"))
        files, size, launching = made(folder, arguments.repositories, arguments.files)
        print(f"{files:,} files, {size / 1e6:,.0f} MB, in {arguments.repositories:,} repositories; {launching:,} with launches")
        cache = os.path.join(scratch, "cache")
        pool = os.path.join(scratch, "pool.jsonl")
        jobs = ["--jobs", str(arguments.jobs)]
        told(
            f"pool of {arguments.jobs}, no cache",
            [run(folder, pool, "--no-cache", *jobs) for _ in range(arguments.runs)],
            files,
        )
        told("the same, filling the cache", [run(folder, pool, "--cache", cache, *jobs)], files)
        first = rows(pool)
        # files that are younger than the times on them are exact are read once more
        told("second run", [run(folder, pool, "--cache", cache, *jobs) for _ in range(arguments.runs + 1)][1:], files)
        print(f"{len(first):,} rows; the second run's are the same: {rows(pool) == first}")
        if not arguments.no_dask:
            _on_dask(folder, os.path.join(scratch, "dask.jsonl"), arguments, first)


def made(folder: str, repositories: int, files: int) -> tuple[int, int, int]:
    """Write the repositories, or take those that are there; gives how many files, bytes, and files with launches."""
    note = os.path.join(folder, "made.json")
    asked = [repositories, files]
    if os.path.exists(note):
        with open(note, encoding="utf-8") as file:
            known = json.load(file)
        if known["asked"] == asked:
            return known["files"], known["bytes"], known["launching"]
        sys.exit(f"{folder} holds other files: {known['asked']}")
    chosen = random.Random(20)
    prose = [" ".join(chosen.choices(WORDS, k=12)) for _ in range(4000)]
    total = size = launching = 0
    for number in range(repositories):
        repository = os.path.join(folder, f"owner-{number % 50:02}", f"name-{number:03}")
        paths = _paths(chosen, files)
        for index, path in enumerate(paths):
            text = _text(chosen, prose, path)
            if index < files // 100:
                shape, kind = LAUNCHES[(number + index) % len(LAUNCHES)]
                path, text = shape.format(number=index), _launch(chosen, kind)
                launching += 1
            full = os.path.join(repository, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            data = text.encode()
            with open(full, "wb") as file:
                file.write(data)
            size += len(data)
        os.makedirs(os.path.join(repository, ".git"))
        total += len(paths)
    with open(note, "w", encoding="utf-8") as file:
        json.dump({"asked": asked, "files": total, "bytes": size, "launching": launching}, file)
    return total, size, launching


def _paths(chosen: random.Random, count: int) -> list[str]:
    shapes = chosen.choices([name for name, _ in NAMES], [share for _, share in NAMES], k=count)
    return [shape.format(word=chosen.choice(WORDS), number=index) for index, shape in enumerate(shapes)]


def _text(chosen: random.Random, prose: list[str], path: str) -> str:
    """Lines of words; as long as files of repositories are: half of them below 2 kB, a few above 30."""
    lines = max(1, int(chosen.lognormvariate(3.2, 1.1)))
    mark = "# " if path.endswith((".py", ".sh", ".yaml", ".yml", "Makefile", "Dockerfile")) else ""
    return "".join([f"{mark}{line}\n" for line in chosen.choices(prose, k=min(lines, 2000))])


def _launch(chosen: random.Random, kind: str) -> str:
    return TEXTS[kind].format(
        number=chosen.randrange(1000),
        minor=chosen.randrange(8, 20),
        port=chosen.randrange(8000, 9000),
        length=1024 * chosen.randrange(4, 64),
        tokens=chosen.randrange(1, 5),
        cache=chosen.choice(("auto", "fp8", "turboquant_k8v4")),
    )


def run(folder: str, output: str, *options: str) -> tuple[float, float]:
    """Seconds of the clock and of the processors that a scan takes."""
    command = [sys.executable, "-m", "servelint", "scan", folder, "--isolated", "--exit-zero", "--output", output, *options]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    if os.path.exists(output):
        os.unlink(output)
    ran = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode not in (0, 2):
        sys.exit(ran.stderr)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def told(what: str, times: list[tuple[float, float]], files: int) -> None:
    walls, used = [wall for wall, _ in times], [seconds for _, seconds in times]
    each = min(used) / files * 1e6
    print(
        f"{what:<30} wall {min(walls):6.2f} s (median {statistics.median(walls):6.2f})   "
        f"processors {min(used):6.2f} s (median {statistics.median(used):6.2f}), {each:5.1f} us a file   {len(times)} runs"
    )


def rows(path: str) -> Counter[bytes]:
    with open(path, "rb") as file:
        return Counter(file)


def _on_dask(folder: str, output: str, arguments: argparse.Namespace, expected: Counter[bytes]) -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=arguments.jobs, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        command = [
            *(sys.executable, "-m", "servelint", "scan", folder, "--isolated", "--exit-zero", "--no-cache"),
            *("--output", output, "--scheduler", cluster.scheduler_address),
        ]
        started = time.perf_counter()
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as scan:
            half = arguments.repositories // 2
            while scan.poll() is None and _done(output) < half:
                time.sleep(0.02)
            before = _done(output)
            victim = next(iter(cluster.workers.values())).pid
            os.kill(victim, signal.SIGKILL)
            scan.wait()
        wall = time.perf_counter() - started
    same = rows(output) == expected
    print(f"Dask, {arguments.jobs} workers             wall {wall:6.2f} s; worker {victim} killed after {before} repositories")
    print(f"{rows(output).total():,} rows; the same as the pool's: {same}")
    if not same:
        sys.exit("the rows differ")


def _done(output: str) -> int:
    try:
        with open(output + ".journal", "rb") as file:
            return file.read().count(b"\n") - 1
    except FileNotFoundError:
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="servelint scan over generated repositories")
    parser.add_argument("--repositories", type=int, default=500)
    parser.add_argument("--files", type=int, default=400, help="of each repository")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", help="where the files are written, and kept")
    parser.add_argument("--no-dask", action="store_true")
    return parser


if __name__ == "__main__":
    main()
