"""Repositories to scan, and what a scan of them tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from servelint.core.settings import Settings
from servelint.scan import job, repository
from servelint.scan.job import FOLDER, Done, Unit

COMPOSE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    command: --model ${MODEL:-Qwen/Qwen3-8B} --gpu-memory-utilization ${SHARE:-1.5}
"""
"""Its share of the memory is refused, and stands in the .env where there is one."""

SCRIPT = "pip install vllm==0.20.0\n. ./common.sh\nvllm serve Qwen/Qwen3-8B $EXTRA\n"
"""What is wrong with it stands in the file that it sources."""

COMMON = 'EXTRA="--gpu-memory-utilization 1.5"\n'

RULE = "vllm/gpu-memory-utilization-out-of-range"
ONE_RULE = Settings(select=(RULE,))

FILES = {"compose.yml": COMPOSE, "scripts/serve.sh": SCRIPT, "scripts/common.sh": COMMON, "src/main.rs": "import vllm\n"}


def written(folder: Path, files: dict[str, str] | None = None) -> Path:
    """A repository in a folder."""
    for path, text in (FILES if files is None else files).items():
        full = folder / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text)
    return folder


def asked(settings: Settings | None = None, *, cache: Path | None = None, exclude: tuple[str, ...] = ()) -> job.Job:
    return job.create(settings or ONE_RULE, exclude)._replace(cache=str(cache) if cache is not None else None)


def scanned(unit: Unit | Path, asking: job.Job | None = None) -> Done:
    if isinstance(unit, Path):
        unit = Unit(unit.name, FOLDER, str(unit))
    return repository.scan(unit, asking or asked())


def rows(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def places(done: Done) -> list[tuple[str, int, str]]:
    """Where the findings and errors stand, and the rule or what could not be read."""
    return [(row["path"], row["line"], row["rule"] or row["message"]) for row in rows(done.rows) if row["kind"] != "launch"]
