"""1,000 varied compose files and shell scripts, whole process, against zizmor on 1,000 workflows in the same run.

    python benchmarks/many_files.py [RUNS]

Needs servelint and zizmor (pip install zizmor) beside this interpreter. The inputs are written to a temporary folder.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile

from one_file import INPUT, seconds, tool

FILES = 1000
SCRIPT = """#!/usr/bin/env bash
# variant {number}
set -euo pipefail
IMAGE="${{IMAGE:-vllm/vllm-openai:v0.{minor}.0}}"
PORT="${{PORT:-{port}}}"
EXTRA=()
if [ -n "${{API_KEY:-}}" ]; then
  EXTRA+=(--api-key "$API_KEY")
fi
docker run --rm --gpus all --ipc=host -p "$PORT:8000" \\
  -e HF_TOKEN="${{HF_TOKEN:-}}" -e VLLM_NO_USAGE_STATS=1 \\
  "$IMAGE" --model Qwen/Qwen3.6-27B --max-model-len {length} \\
  --gpu-memory-utilization 0.9{digit} \\
  --speculative-config '{{"method":"mtp","num_speculative_tokens":{tokens}}}' \\
  "${{EXTRA[@]}}"
"""
WORKFLOW = """name: build {number}
on: [push, pull_request]
permissions:
  contents: read
jobs:
  test-{number}:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        python: ["3.10", "3.1{digit}"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{{{ matrix.python }}}}
      - run: pip install .[test{number}]
      - name: test
        run: |
          echo "${{{{ github.event.head_commit.message }}}}"
          pytest -q
"""


def write_inputs(folder: str) -> tuple[str, str]:
    """The folders with our files and with the workflows."""
    launches, workflows = os.path.join(folder, "launches"), os.path.join(folder, "repo", ".github", "workflows")
    os.makedirs(launches)
    os.makedirs(workflows)
    with open(INPUT, encoding="utf-8") as file:
        compose = file.read()
    for number in range(FILES):
        values = {
            "number": number,
            "digit": number % 5,
            "minor": 16 + number % 18,
            "port": 8000 + number,
            "tokens": 1 + number % 4,
        }
        if number % 2:
            text = compose.replace("0.27.1", f"0.{16 + number % 18}.0").replace("chat", f"chat{number}")
            path = os.path.join(launches, f"compose-{number}.yml")
        else:
            text = SCRIPT.format(**values, length=4096 * (1 + number % 16))
            path = os.path.join(launches, f"serve-{number}.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(workflows, f"ci-{number}.yml"), "w", encoding="utf-8") as file:
            file.write(WORKFLOW.format(**values))
    return launches, os.path.dirname(os.path.dirname(workflows))


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        launches, repository = write_inputs(folder)
        ours = [tool("servelint"), "check", "--format", "json", launches]
        theirs = [tool("zizmor"), "--offline", "--no-progress", repository]
        for command in (ours, theirs):
            seconds(command)
        rows = [(seconds(ours), seconds(theirs)) for _ in range(runs)]
    for name, column in (("servelint check", 0), ("zizmor", 1)):
        times = sorted(row[column] for row in rows)
        print(f"{name:<16} median {statistics.median(times):6.2f} s   min {times[0]:6.2f}   max {times[-1]:6.2f}")
    print(f"servelint / zizmor: {statistics.median(mine / other for mine, other in rows):.2f} (median of {runs} pairs)")


if __name__ == "__main__":
    main()
