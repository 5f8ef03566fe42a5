"""What servelint says of launches that broke for someone: cases of public threads, each with what a finding must match."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.engines.releases import normalize
from servelint.files.siblings import Neighbours
from servelint.lint import check_launches
from servelint.readers import read

FOLDER = Path(__file__).parent

_COMMANDS = {
    "vllm": ("vllm", "vllm serve"),
    "sglang": ("sglang", "python3 -m sglang.launch_server"),
    "llamacpp": ("llama.cpp", "llama-server"),
    "lmdeploy": ("lmdeploy", "lmdeploy serve api_server"),
    "trtllm": ("trtllm", "trtllm-serve"),
    "tgi": ("tgi", "text-generation-launcher"),
    "ollama": ("ollama", "ollama serve"),
}
_MODULE = "python3 -m vllm.entrypoints.openai.api_server"


class Case:
    """A report: the launch of a thread, or a file of it in `files/`, where it ran, and what a finding must match.

    Attributes:
        id, engine, kind, predictable: As in the file.
        errors: Texts of the errors that servelint reports.
        caught: Whether an error or a warning of the default profile matches.
    """

    def __init__(self, row: dict[str, Any]) -> None:
        self.id: str = row["id"]
        self.engine: str = row["engine"]
        self.kind: str = row["kind"]
        self.predictable: str = row["predictable"]
        engine, command = _COMMANDS[self.engine]
        if row["verb"] == "module":
            command = _MODULE
        env = "".join(f"{name}={shlex.quote(value)} " for name, value in row["env"].items())
        self.command = f"{env}{command} {shlex.join(row['argv'])}"
        # a candidate of vLLM or SGLang is judged as its release; TensorRT-LLM publishes candidates for months
        candidate = r"" if engine == "trtllm" else r"rc\d+(\.dev\d+)?$|"
        version = re.sub(candidate + r"\.dev\d+.*$", "", row["run_version"] or "")
        settings = Settings(
            engine_versions={engine: normalize(engine, version)} if version else None,
            gpu=row["gpu"],
            gpu_count=row["gpu_count"] if row["gpu"] else None,
        )
        name, text = "run.sh", self.command + "\n"
        if row["file"]:
            name, text = row["file"], (FOLDER / "files" / row["file"]).read_text(encoding="utf-8")
            self.command = text
        source = Source(name, text)
        found = check_launches(source, read(source, Neighbours(None)).launches, settings)
        self.findings = [(finding.severity, f"{finding.rule} {finding.message}") for finding in found]
        self.errors = [text for severity, text in self.findings if severity == "error"]
        wanted = re.compile(row["expect_regex"], re.IGNORECASE)
        self.caught = any(
            severity in ("error", "warning")
            and (wanted.search(text) or (self.kind == "memory" and "memory" in text.split()[0]))
            for severity, text in self.findings
        )


def cases(path: Path = FOLDER / "reports.jsonl") -> list[Case]:
    """The cases of a file, judged."""
    return [Case(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def misses() -> dict[str, str]:
    """Cases that a launch tells and servelint does not: id to why."""
    known: dict[str, str] = json.loads((FOLDER / "misses.json").read_text(encoding="utf-8"))
    return known
