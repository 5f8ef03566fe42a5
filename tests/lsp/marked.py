"""Texts with a mark where the cursor is."""

from __future__ import annotations

from typing import NamedTuple

from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lsp.analysis import Analysis, analyse

MARK = "\u2038"


class Marked(NamedTuple):
    """A text without its mark, as the server knows it, and where the mark was."""

    analysis: Analysis
    offset: int

    @property
    def text(self) -> str:
        return self.analysis.source.text


def marked(name: str, text: str, settings: Settings | None = None) -> Marked:
    before, mark, after = text.partition(MARK)
    assert mark, "the text has no mark"
    return Marked(analysed(name, before + after, settings), len(before))


def analysed(name: str, text: str, settings: Settings | None = None) -> Analysis:
    return analyse(Source(name, text), settings or Settings(), Neighbours(None))


def compose(command: str, *, image: str = "vllm/vllm-openai:v0.27.1", environment: str = "") -> str:
    """A compose file of one service. command: the lines after `command:`, environment: those of its variables"""
    lines = ["services:", "  llm:", f"    image: {image}"]
    lines += ["    environment:", environment] if environment else []
    return "\n".join([*lines, f"    command:{command}", ""])


def pod(container: str) -> str:
    """A Kubernetes pod. container: the lines of its container after the image"""
    return (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: llm\nspec:\n  containers:\n    - name: vllm\n"
        f"      image: vllm/vllm-openai:v0.27.1\n{container}\n"
    )


def chart(config: str) -> str:
    """Values of vLLM's production stack. config: the lines of `vllmConfig`"""
    return (
        "servingEngineSpec:\n  modelSpec:\n    - name: chat\n      repository: vllm/vllm-openai\n      tag: v0.27.1\n"
        f"      modelURL: Qwen/Qwen3-8B\n      vllmConfig:\n{config}\n"
    )
