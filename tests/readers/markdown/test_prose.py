"""What pages say beside their commands is not a part of the commands."""

from __future__ import annotations

import pytest

from tests.launching import argv, launches_in
from tests.reporting import findings_in
from tests.together import together

BLOCKS = [
    "vllm serve m        lint a command, then exec it",
    "vllm serve m   starts the server on port 80",
    "vllm serve m --port 80  <- the model and its port",
    "vllm serve m --port 80 -> starts the server",
    "vllm serve m — the server",
    "vllm serve m    // start the server",
    "vllm serve m => OpenAI server",
    "vllm serve then loads the model and listens",
    "vllm serve m      Start it",
    "vllm serve [options] MODEL",
    "usage: vllm serve [-h] [--port PORT] [--dtype {auto,half}] MODEL_TAG",
    "vllm serve m (...) --port 80",
    'vllm serve m --speculative-config \'{"method": "mtp", ...}\'',
]


@together("line", list(BLOCKS))
def test_nothing_is_refused(line: str) -> None:
    assert findings_in(f"```\n{line}\n```\n", "README.md") == []


@pytest.mark.parametrize("line", BLOCKS[:7])
def test_the_command_before_a_note_is_read(line: str) -> None:
    (launch,) = launches_in(f"```\n{line}\n```\n", "README.md")
    assert argv(launch)[0] == "m"


def test_gaps_between_words_are_no_notes() -> None:
    (launch,) = launches_in("```\nvllm serve m     --port 80   --dtype half \\\n     --seed 1\n```\n", "README.md")
    assert argv(launch) == ["m", "--port", "80", "--dtype", "half", "--seed", "1"]


FIGURES = [
    "Container stats:\nllama-server    5.0%    15.2GiB / 31.4GiB",
    "NAME            CPU\nllama-server\t12\t1.1GiB",
    "Browser -> [FastAPI]\n              ↓ subprocess\n         llama-server",
    "client → ui(:8888)/v1/*\n   ↓\nllama-server / serve_embedding / serve_whisper → files\n   ↓",
    "├── vllm serve\n│   └── llama-server",
]


@pytest.mark.parametrize("text", FIGURES)
def test_figures_and_tables_start_nothing(text: str) -> None:
    assert launches_in(f"```\n{text}\n```\n", "README.md") == []


@pytest.mark.parametrize(
    "text",
    [
        "# ── start ──\nvllm serve a/b --port 80",
        'echo "→ starting"\nvllm serve a/b --port 80',
        "docker pull x\n   ↓\nvllm serve a/b --port 80",
        "vllm serve a/b --port 80   → the server",
        "sleep 5\nvllm serve a/b   --port 80",
    ],
)
def test_commands_beside_figures_are_read(text: str) -> None:
    (launch,) = launches_in(f"```\n{text}\n```\n", "README.md")
    assert argv(launch) == ["a/b", "--port", "80"]
