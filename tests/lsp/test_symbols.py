"""The outline of a text."""

from __future__ import annotations

from servelint.lsp.annotations import Symbol, symbols
from tests.lsp.marked import analysed, chart, compose

SCRIPT = """#!/bin/sh
docker run --gpus all \\
  vllm/vllm-openai:v0.27.1 \\
  --model Qwen/Qwen3-8B --max-model-len=8192

/opt/venv/bin/vllm serve Qwen/Qwen3-32B --port 80 --api-key sk-0123456789abcdef --enable-prefix-caching
"""


def outline(name: str, text: str) -> list[Symbol]:
    found = symbols(analysed(name, text))
    for one in found:
        inside(one)
        for child in one.children:
            inside(child)
            assert one.span.start <= child.span.start <= child.span.end <= one.span.end
    return found


def inside(one: Symbol) -> None:
    """What names a symbol is a part of it, as an editor wants it."""
    assert one.span.start <= one.selection.start <= one.selection.end <= one.span.end


def test_the_launches_of_a_script_with_engine_and_release() -> None:
    first, second = outline("serve.sh", SCRIPT)
    assert (first.name, first.detail, first.kind) == ("vllm", "vLLM 0.27.1", "launch")
    assert (second.name, second.detail) == ("vllm serve Qwen/Qwen3-32B", "vLLM")
    assert first.selection.text == "docker run --gpus all \\"


def test_their_options_with_what_they_are_set_to() -> None:
    first, second = outline("serve.sh", SCRIPT)
    assert [(child.name, child.detail, child.kind) for child in first.children] == [
        ("--model", "Qwen/Qwen3-8B", "option"),
        ("--max-model-len", "8192", "option"),
    ]
    assert [child.span.text for child in first.children] == ["--model Qwen/Qwen3-8B", "--max-model-len=8192"]
    assert [child.name for child in second.children] == ["--port", "--api-key", "--enable-prefix-caching"]


def test_a_secret_is_shortened() -> None:
    _, second = outline("serve.sh", SCRIPT)
    assert second.children[1].detail == "sk-***"


def test_the_services_of_a_compose_file_by_their_names() -> None:
    (only,) = outline("compose.yml", compose("\n      - --model=x/y\n      - --port=${PORT}"))
    assert (only.name, only.detail) == ("services.llm", "vLLM 0.27.1")
    assert [(child.name, child.detail) for child in only.children] == [("--model", "x/y"), ("--port", "${PORT}")]


def test_the_options_that_a_chart_makes_of_its_values() -> None:
    (only,) = outline("values.yaml", chart("        maxModelLen: 4096"))
    assert ("--max-model-len", "4096") in [(child.name, child.detail) for child in only.children]


def test_a_text_without_launches_has_none() -> None:
    assert outline("compose.yml", "services:\n  db:\n    image: postgres\n") == []
