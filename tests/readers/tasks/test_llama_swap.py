"""llama-swap: a command for each model, its macros replaced."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.core import bounds
from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, reading, release, sites, spans


def launch(text: str) -> Launch:
    return launch_in(dedent(text), "config.yaml")


def test_lines_are_one_command() -> None:
    found, marks = marked_launch(
        """
        models:
          "qwen 3":
            cmd: |
              # the server
              llama-server --port ${PORT}
                \u27e6-m\u27e7 \u27e6"/models/a b.gguf"\u27e7 \\
              # context
              \u27e6-c\u27e7 \u27e68192\u27e7
            env:
              - CUDA_VISIBLE_DEVICES=0,1
            ttl: 60
        """,
        "config.yaml",
    )
    assert argv(found) == ["--port", "${PORT}", "-m", "/models/a b.gguf", "-c", "8192"]
    assert sites(found.argv)[2:] == marks
    assert environment(found) == {"CUDA_VISIBLE_DEVICES": "0,1"}
    assert (found.name, lines(found)) == ("models.qwen 3", (3, 8))


def test_macros() -> None:
    found = launch("""
        macros:
          server: llama-server --port ${PORT} ${common}
          common: -fa on -c ${size}
          size: 4096
        models:
          a:
            macros: {size: 8192}
            cmd: ${server} -m /models/${MODEL_ID}.gguf --threads ${env.THREADS}
    """)
    assert argv(found) == [
        "--port", "${PORT}", "-fa", "on", "-c", "8192", "-m", "/models/${MODEL_ID}.gguf", "--threads", "${env.THREADS}",
    ]  # fmt: skip


def test_a_macro_of_itself() -> None:
    found, _ = reading("macros: {a: '${a} ${a}'}\nmodels:\n  m: {cmd: 'llama-server ${a}'}\n", "config.yaml")
    assert found.launches == []
    assert [one.message for one in found.problems] == [bounds.WORDS.message]


def test_no_shell_reads_it() -> None:
    found = launch("models:\n  m:\n    cmd: llama-server -m $HOME/a.gguf --alias '$A'\n")
    assert argv(found) == ["-m", "$HOME/a.gguf", "--alias", "$A"]
    assert found.argv[1].value == "$HOME/a.gguf"


def test_containers() -> None:
    found = launch("""
        models:
          m:
            cmdStop: docker stop llm
            cmd: docker run --name llm -e A=1 -p ${PORT}:8000 vllm/vllm-openai:v0.20.0 --model m
    """)
    assert (argv(found), environment(found), release(found)) == (["--model", "m"], {"A": "1"}, ("0.20.0", "image"))


@pytest.mark.parametrize(
    "text",
    [
        "models:\n  m: {cmd: python serve_whisper.py, description: llama-server}\n",
        "models:\n  m: {cmdStop: pkill llama-server}\n",
        "models:\n  - name: llama-server\n    cmd: [vllm, serve]\n",
    ],
)
def test_what_is_none(text: str) -> None:
    assert [found.name for found in launches_in(text, "config.yaml") if found.name.startswith("models.m")] == []


def test_spans_of_a_macro() -> None:
    found, marks = marked_launch(
        "macros:\n  size: \u27e68192\u27e7\nmodels:\n  m:\n    cmd: llama-server -c ${size}\n", "config.yaml"
    )
    assert spans(found.argv[1:]) == marks
