"""Readers turn one source into launches. Which reader a text goes to is told by its shape, not by its name alone."""

from __future__ import annotations

import re

from servelint.launch import Launch
from servelint.problem import Problem
from servelint.readers.neighbours import Neighbours
from servelint.source import Source

_ENGINES = (
    b"vllm",
    b"sglang",
    b"llama-server",
    b"llama.cpp",
    b"llamacpp",
    b"trtllm",
    b"tensorrt-llm",
    b"tensorrt_llm",
    b"lmdeploy",
    b"text-generation-launcher",
    b"text-generation-inference",
    b"num_speculative_tokens",
)

_SHELL_NAMES = (".sh", ".bash", ".zsh", ".ksh", ".sbatch", ".slurm")
_SHEBANG = r"#!\s*\S*?\b(?:env\s+(?:-\S+\s+)*)?(?:ba|da|z|k|a)?sh(?:\s|$)"
_SERVICES = r"(?m)^\s*[\"']?services[\"']?\s*:"
_TEMPLATE = "{{"


class Reading:
    """What was found in one source, and what could not be read of it."""

    __slots__ = ("launches", "problems", "source")

    def __init__(self, source: Source, launches: list[Launch], problems: list[Problem]) -> None:
        self.source = source
        self.launches = launches
        self.problems = problems


def mentions_engine(data: bytes) -> bool:
    """Whether a file's bytes name an engine. One that does not launches none that servelint knows; it is never parsed."""
    lowered = data.lower()
    return any(name in lowered for name in _ENGINES)  # 15 times as fast as a pattern of them all


def read(source: Source, neighbours: Neighbours | None = None) -> Reading:
    """The launches of a source. A format that is not recognised yields none."""
    beside = neighbours if neighbours is not None else Neighbours(None)
    kind = recognise(source)
    if kind == "shell":
        from servelint.readers import shell_script

        return Reading(source, shell_script.read(source, beside), [])
    if kind == "json":
        from servelint.readers import spec_config

        launches, problem = spec_config.read(source)
        return Reading(source, launches, [problem] if problem is not None else [])
    if kind == "yaml":
        return _yaml(source, beside)
    return Reading(source, [], [])


def recognise(source: Source) -> str | None:
    """ "yaml", "json", "shell", or None for a text that no reader takes."""
    path, text = source.path, source.text
    start = text.lstrip()[:1]
    name = path.lower().rpartition("/")[2]
    if name.endswith((".yml", ".yaml")):
        return "yaml"
    if name.endswith(".json"):
        return "json" if start == "{" else None
    if name.endswith(_SHELL_NAMES) or (start == "#" and re.match(_SHEBANG, text)):
        return "shell"
    if "." in name.strip("."):
        return None
    if start == "{":
        return "json"
    return "yaml" if re.search(_SERVICES, text) else None


def _yaml(source: Source, neighbours: Neighbours) -> Reading:
    from servelint import yaml_nodes
    from servelint.readers import compose

    documents, problem = yaml_nodes.documents(source)
    launches: list[Launch] = []
    for document in documents:
        if compose.is_compose(document):
            launches += compose.read(source, document, neighbours)
    problems = [problem] if problem is not None and (_TEMPLATE not in source.text or re.search(_SERVICES, source.text)) else []
    return Reading(source, launches, problems)
