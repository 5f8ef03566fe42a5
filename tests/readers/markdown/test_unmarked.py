"""Blocks that are marked as text, or as a language that they are not in: the commands in them, and what only looks like one."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release, spans
from tests.together import together


def page(code: str, language: str = "text") -> str:
    return f"Start it:\n\n```{language}\n{code}\n```\n"


TEXTS = ["text", "plain", "plaintext", "txt", "code"]
OTHERS = ["python", "yaml", "docker", "ini", "json", "makefile", "julia"]
SHELLS = ["cmd", "powershell"]


@together("language", [*TEXTS, *OTHERS, *SHELLS])
def test_a_command_by_itself(language: str) -> None:
    assert argv(launch_in(page("vllm serve a/b --port 8000", language), "README.md")) == ["a/b", "--port", "8000"]


@together("language", [*TEXTS, "python", "yaml", "docker"])
def test_the_words_are_those_of_the_page(language: str) -> None:
    code = "# two GPUs\nconda activate x\nvllm serve \\\n  \u27e6/models/a\u27e7 \u27e6--port\u27e7 \u27e68000\u27e7"
    launch, marks = marked_launch(page(code, language), "README.md")
    assert spans(launch.argv) == marks


@pytest.mark.parametrize(
    ("engine", "command"),
    [
        ("vllm", "python -m vllm.entrypoints.openai.api_server --model a/b"),
        ("vllm", "CUDA_VISIBLE_DEVICES=0 nohup vllm serve ./a --port 1 > a.log 2>&1 &"),
        ("vllm", "docker run --gpus all vllm/vllm-openai:v0.20.0 --model a/b"),
        ("sglang", "python3 -m sglang.launch_server --model-path a/b --tp 2"),
        ("llama.cpp", "./build/bin/llama-server -m a.gguf -ngl 99"),
        ("trtllm", "mpirun -n 2 trtllm-serve a/b --tp_size 2"),
        ("lmdeploy", "lmdeploy serve api_server internlm2-chat-7b --tp 2  # start it"),
        ("tgi", "text-generation-launcher --model-id a/b"),
        ("ollama", "ollama serve"),
    ],
)
@pytest.mark.parametrize("language", ["text", "python"])
def test_engines(engine: str, command: str, language: str) -> None:
    assert launch_in(page(command, language), "README.md").engine == engine


def test_other_lines_are_no_part_of_it() -> None:
    code = "The server:\n  vllm serve a/b --port 1\nIt answers at port 1\n\nvllm serve c/d\nINFO: ready"
    assert [argv(launch) for launch in launches_in(page(code), "README.md")] == [["a/b", "--port", "1"], ["c/d"]]


def test_lines_that_prepare_one() -> None:
    launch = launch_in(page("pip install vllm==0.20.0\nexport VLLM_USE_V1=1\nvllm serve a/b"), "README.md")
    assert (release(launch), environment(launch)) == (("0.20.0", "pip"), {"VLLM_USE_V1": "1"})


NOT_ONE = [
    "vllm serve",
    "trtllm-serve\ntrtllm-build",
    "llama-server router mode",
    "vllm serve starts the server in the background",
    "vllm serve: error: unrecognized arguments: --port",
    "vllm serve  Start the server",
    "usage: vllm serve [-h] [--port PORT] MODEL",
    "Usage: trtllm-serve [OPTIONS] MODEL",
    "+ vllm serve a/b",
    "INFO 10-01 vllm serve a/b --port 1",
    "1234 pts/0 00:00:01 vllm serve a/b",
    "\u251c\u2500\u2500 vllm serve a/b",
    "\u2502 vllm serve a/b --port 1 \u2502",
    "vllm serve a/b \u2500\u2500> port 8000",
    "docker run [OPTIONS] IMAGE [COMMAND]\nvllm/vllm-openai",
    "docker run is how most teams start vllm",
    "# vllm serve a/b",
    "ran: vllm serve a/b --port 1",
]


@together("text", NOT_ONE)
def test_what_only_looks_like_one(text: str) -> None:
    for language in (*TEXTS, *OTHERS):
        assert launches_in(page(text, language), "README.md") == [], language


@pytest.mark.parametrize("language", ["output", "log", "stdout"])
def test_output(language: str) -> None:
    assert launches_in(page("vllm serve a/b --port 1", language), "README.md") == []
    assert argv(launch_in(page("$ vllm serve a/b\nvllm serve c/d", language), "README.md")) == ["a/b"]


def test_output_below_a_prompt() -> None:
    assert argv(launch_in(page("$ vllm serve a/b\nvllm serve c/d --port 1"), "README.md")) == ["a/b"]


class TestPython:
    def test_lines_of_a_notebook(self) -> None:
        code = "!pip install vllm==0.20.0\nport = 1\n!vllm serve a/b --port 8000"
        launch = launch_in(page(code, "python"), "README.md")
        assert (argv(launch), release(launch)) == (["a/b", "--port", "8000"], ("0.20.0", "pip"))

    def test_what_python_starts(self) -> None:
        code = 'import subprocess\nport = 8000\nsubprocess.Popen(["vllm", "serve", "a/b", "--port", str(port)])'
        assert argv(launch_in(page(code, "python"), "README.md")) == ["a/b", "--port", "8000"]

    @pytest.mark.parametrize(
        "code",
        [
            'text = """\nvllm serve a/b --port 1\n"""',
            'if x:\ntext = """\nvllm serve a/b --port 1\n"""',  # not valid, as a part of a script may be
            "print('run: vllm serve a/b')",
        ],
    )
    def test_a_text_in_python(self, code: str) -> None:
        assert launches_in(page(code, "python"), "README.md") == []

    def test_what_is_not_valid_is_passed_over(self) -> None:
        assert launches_in(page("def vllm(:\n  ...", "python"), "README.md") == []


@pytest.mark.parametrize("language", ["cmd", "powershell", "bat"])
def test_lines_that_go_on_as_a_shell_has_it(language: str) -> None:
    assert argv(launch_in(page("vllm serve a/b \\\n  --port 1", language), "README.md")) == ["a/b", "--port", "1"]


@pytest.mark.parametrize(("language", "mark"), [("cmd", "^"), ("powershell", "`")])
def test_or_as_windows_has_it(language: str, mark: str) -> None:
    assert argv(launch_in(page(f"vllm serve a/b {mark}\n  --port 1", language), "README.md")) == ["a/b", "--port", "1"]


def test_a_file_that_a_text_shows_is_that_file() -> None:
    code = "services:\n  a:\n    image: vllm/vllm-openai:v0.20.0\n    command: --model a/b"
    assert argv(launch_in(page(code), "README.md")) == ["--model", "a/b"]
