"""Launches that run elsewhere, which servelint must not call broken: vLLM's accuracy tests and InferenceX's benchmarks.

    python tools/proven.py vllm vllm-0.33.0 vllm-0.22.0 --out proven
    python tools/proven.py inferencex ~/clones/InferenceX --every 60 --out proven
    python tools/proven.py check proven

The first reads unpacked source distributions of vLLM, the second a clone with its history. Both write a script for each
launch into a folder that names GPU, engine and release. Nothing is downloaded, and nothing that is read is run. The exit
status of `check` is 1 if servelint says of a launch that it does not start or does not load.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

import servelint

GPUS = {
    "b200": "b200",
    "b300": "b300",
    "h200": "h200",
    "h100": "h100",
    "a100": "a100-80gb",
    "l4": "l4",
    "mi300x": "mi300x",
    "mi325x": "mi325x",
    "mi355": "mi355x",
    "mi355x": "mi355x",
    "gfx942": "mi300x",
    "gfx950": "mi355x",
    "rtx6000pro": "rtx-pro-6000",
}
"""GPUs by the words that name them in lists of tests and in the runners of benchmarks."""
ENGINES = {"vllm": "vllm", "sglang": "sglang", "trt": "trtllm"}
"""Engines by the frameworks of InferenceX."""
FOLDERS = {"fixed-seq-len": "fixed_seq_len/", "agentic-coding": "agentic/"}
"""Folders of scripts by the scenarios of InferenceX."""
BROKEN = ("crash-at-start", "crash-at-load")


class Launch(NamedTuple):
    """A launch that runs: its GPU, engine, release, origin, and script."""

    gpu: str
    engine: str
    release: str
    origin: str
    script: str


def of_tests(folder: Path) -> Iterator[Launch]:
    """The launches of vLLM's accuracy tests (tests/evals) whose list names a GPU."""
    release = folder.name.removeprefix("vllm-")
    for listed in sorted(folder.glob("tests/evals/**/*.txt")):
        words = re.split(r"[^a-z0-9]+", listed.stem)
        gpu = next((GPUS[word] for word in words if word in GPUS), None)
        for line in listed.read_text().splitlines() if gpu is not None else ():
            file = listed.parent / line.strip()
            if gpu is None or not line.strip() or line.startswith("#") or not file.is_file():
                continue
            test: dict[str, Any] = YAML(typ="safe").load(file)
            given = test.get("server_args") or ""
            # the tests add this option to each
            argv = [*(given if isinstance(given, list) else shlex.split(given)), "--trust-remote-code"]
            env = "".join(f"{name}={shlex.quote(str(value))} " for name, value in (test.get("env") or {}).items())
            command = f"{env}vllm serve {shlex.quote(test['model_name'])} {shlex.join(map(str, argv))}\n"
            yield Launch(gpu, "vllm", release, str(file.relative_to(folder)), command)


def of_benchmarks(clone: Path, every: int) -> Iterator[Launch]:
    """The launches of InferenceX on one node, at each n-th commit: scripts with a configuration's variables."""
    for commit in _git(clone, "log", "--format=%H").split()[::every]:
        names = _git(clone, "ls-tree", "-r", "--name-only", commit).splitlines()
        scripts = {name for name in names if name.startswith("benchmarks/") and name.endswith(".sh")}
        for name in names:
            if not name.endswith("-master.yaml") or "deprecated" in name:
                continue
            try:
                entries = YAML(typ="safe").load(_git(clone, "show", f"{commit}:{name}"))
            except YAMLError:
                continue
            for key, entry in entries.items():
                for script, variables in _runs(entry, key, scripts):
                    gpu = GPUS.get(str(entry["runner"]).removeprefix("cluster:").split("-")[0])
                    engine = ENGINES[entry["framework"]]
                    release = _release(entry["image"], engine)
                    if gpu is not None and release is not None:
                        text = "".join(f'export {one}="{value}"\n' for one, value in variables.items())
                        text += _git(clone, "show", f"{commit}:{script}")
                        yield Launch(gpu, engine, release, f"{commit[:9]} {key}", text)


def _runs(entry: Any, key: str, scripts: set[str]) -> Iterator[tuple[str, dict[str, object]]]:
    """The script and the variables of each point of a configuration that runs on one node."""
    if not isinstance(entry, dict) or entry.get("multinode") or "image" not in entry or entry.get("framework") not in ENGINES:
        return
    base = f"{entry.get('model-prefix') or key.split('-')[0]}_{entry['precision']}_"
    base += str(entry["runner"]).removeprefix("cluster:").split("-")[0]
    for scenario, rows in (entry.get("scenarios") or {"fixed-seq-len": entry.get("seq-len-configs")}).items():
        for row in rows or ():
            for point in row.get("search-space", ()):
                drafts = point.get("spec-decoding", "none")
                ends = [f"_{entry['framework']}", ""] if entry["framework"] != "trt" else ["_trt"]
                kinds = (FOLDERS.get(scenario, ""), "")
                starts = [
                    f"benchmarks/{kind}{sub}{base}{end}" for sub in kinds for kind in ("single_node/", "") for end in ends
                ]
                tail = "_mtp" if drafts == "mtp" else ""
                tried = (f"{start}{tail}{kind}" for start in starts for kind in (".sh", "_slurm.sh"))
                script = next((one for one in tried if one in scripts), None)
                counts = point.get("conc-list") or [point.get("conc-start", 1), point.get("conc-end", 1)]
                length, answer = row.get("isl", 8192), row.get("osl", 1024)
                for count in dict.fromkeys((counts[0], counts[-1])) if script is not None else ():
                    assert script is not None
                    yield (
                        script,
                        {
                            "MODEL": entry["model"], "TP": point.get("tp", 8), "EP_SIZE": point.get("ep", 1), "CONC": count,
                            "DP_ATTENTION": str(point.get("dp-attn", False)).lower(), "ISL": length, "OSL": answer,
                            "MAX_MODEL_LEN": length + answer + 256, "PORT": 8888, "EVAL_ONLY": "false", "SPEC_DECODING": drafts,
                            "PRECISION": entry["precision"], "FRAMEWORK": entry["framework"],
                        },
                    )  # fmt: skip


def _release(image: str, engine: str) -> str | None:
    """The release inside an image, as servelint reads it; None for a nightly one."""
    command = "python3 -m sglang.launch_server --model-path m" if engine == "sglang" else "m"
    found = servelint.find_launches(f"docker run --gpus all {image.replace('#', '/')} {command}\n", filename="run.sh")
    return found[0].release.release if found else None


def _git(clone: Path, *words: str) -> str:
    command = ["git", "-C", str(clone), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, errors="replace").stdout


def write(launches: Iterable[Launch], out: Path) -> int:
    """Write a script for each launch that differs, with its origin as a comment. Returns how many there are."""
    seen = set()
    for one in launches:
        name = hashlib.sha256(f"{one.gpu} {one.engine} {one.release} {one.script}".encode()).hexdigest()[:16]
        if name not in seen:
            seen.add(name)
            folder = out / f"{one.gpu}+{one.engine}+{one.release}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.sh").write_text(f"#!/bin/bash\n# {one.origin}\n{one.script}")
    return len(seen)


def check(out: Path) -> int:
    """Print the errors about launches that run. Returns 1 if one says that a launch does not start or load, else 0."""
    files = launches = 0
    counts: Counter[str] = Counter()
    for folder in sorted(os.listdir(out)):
        gpu, engine, release = folder.split("+")
        command = [sys.executable, "-m", "servelint", "check", "--isolated", "--no-cache", "--fail-on", "never"]
        command += ["--format", "json", "--gpu", gpu, "--gpu-count", "8", str(out / folder)]
        command += ["--engine-version", f"{engine}={release}"]
        report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        files += len(os.listdir(out / folder))
        launches += report["launches"]
        for finding in report["findings"]:
            if finding["severity"] == "error" and finding["impact"] in BROKEN:
                counts[finding["rule"]] += 1
                print(f"{finding['path']}:{finding['start']['line']}: {finding['message']} [{finding['rule']}]")
    print(f"{files} files, {launches} launches, {counts.total()} errors of the start: {dict(counts)}")
    return int(bool(counts))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    tests = commands.add_parser("vllm", help="write the launches of vLLM's accuracy tests")
    tests.add_argument("folders", nargs="+", type=Path, help="unpacked source distributions, each named vllm-RELEASE")
    benchmarks = commands.add_parser("inferencex", help="write the launches of InferenceX's benchmarks")
    benchmarks.add_argument("clone", type=Path)
    benchmarks.add_argument("--every", type=int, default=60, help="read each n-th commit (default: 60)")
    for one in (tests, benchmarks):
        one.add_argument("--out", type=Path, required=True)
    commands.add_parser("check", help="lint the launches").add_argument("out", type=Path)
    given = parser.parse_args()
    if given.command == "check":
        return check(given.out)
    found = (one for folder in given.folders for one in of_tests(folder)) if given.command == "vllm" else None
    print(write(found if found is not None else of_benchmarks(given.clone, given.every), given.out), "launches written")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
