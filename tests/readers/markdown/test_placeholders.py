"""What a reader of a page is to fill in."""

from __future__ import annotations

import pytest

from servelint.core.text import Text
from servelint.readers.markdown.snippets import replaced


def unknowns(text: str, script: bool = True) -> list[str | None]:
    return [piece.expression for piece in replaced(Text.of(text), script=script).pieces if piece.expression]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vllm serve <model>", ["<model>"]),
        ("vllm serve <your model's-name>", []),
        ("vllm serve <path to the model> --port <port>", ["<path to the model>", "<port>"]),
        ("vllm serve </path/to/model>", ["</path/to/model>"]),
        ("vllm serve <--other-options>", ["<--other-options>"]),
        ("--model=<model>", ["<model>"]),
        ("vllm/vllm-openai:v<version>", ["<version>"]),
        ("HF_TOKEN=<your HF token>", ["<your HF token>"]),
        ("--served-model-name <\u6a21\u578b>", ["<\u6a21\u578b>"]),
        ("""'{"model": "<draft>"}'""", ["<draft>"]),
        ("--port {port}", ["{port}"]),
        ("--port={port}", ["{port}"]),
        ("--port {{ port }}", ["{{ port }}"]),
        ("vllm serve m ...", ["..."]),
        ("vllm serve m \u2026", ["\u2026"]),
        ("""'{"method": "mtp", ...}'""", ["..."]),
        ("vllm serve m [options]", ["[options]"]),
        ("vllm serve m [--port PORT]", ["[--port PORT]"]),
    ],
)
def test_placeholders(text: str, expected: list[str]) -> None:
    assert unknowns(text) == expected
    assert replaced(Text.of(text), script=True).shown == text


@pytest.mark.parametrize(
    "text",
    [
        "cat < input.txt > output.txt",
        "cat <input.txt >output.txt",
        "one <<EOF\nEOF",
        "one <<<word",
        "one 2>&1 </dev/null",
        "diff <(one) <(two)",
        "${MODEL} ${A[@]} $V",
        "cp {a,b} {1..3}",
        """'{"method": "mtp"}'""",
        "if [ -f a ]; then one; fi",
        "if [[ $A == b ]]; then one; fi",
        "pip install vllm[flashinfer]",
        "cd ../..; ls /a/... b...c",
        "awk '{print $1}'",
    ],
)
def test_what_a_shell_means(text: str) -> None:
    assert unknowns(text) == []


def test_in_a_value_brackets_are_a_list() -> None:
    assert unknowns("[options]", script=False) == []
    assert unknowns("<model>", script=False) == ["<model>"]
