"""Procfiles: a line a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans


def test_processes() -> None:
    launches = launches_in(
        """
        # the web server
        web: gunicorn app:app
        llm: CUDA_VISIBLE_DEVICES=0 vllm serve Qwen/Qwen3-8B --port 8000 2>&1 | tee llm.log
        draft-1:exec python -m sglang.launch_server --model-path m
        """,
        "Procfile",
    )
    assert [(launch.name, launch.engine, argv(launch), launch.line) for launch in launches] == [
        ("llm", "vllm", ["Qwen/Qwen3-8B", "--port", "8000"], 3),
        ("draft-1", "sglang", ["--model-path", "m"], 4),
    ]
    assert environment(launches[0]) == {"CUDA_VISIBLE_DEVICES": "0"}


def test_words_stand_at_their_places() -> None:
    launch, marks = marked_launch("llm: vllm serve '⟦m⟧' --port ${PORT:-⟦8000⟧}\r\nweb: x\r\n", "Procfile.dev")
    assert spans(launch.argv[::2]) == marks


@pytest.mark.parametrize(
    "text", ["vllm serve m\n", "llm vllm: vllm serve m\n", "web: x\n llm: vllm serve m\n", "llm: # vllm serve m\n"]
)
def test_what_starts_none(text: str) -> None:
    assert launches_in(text, "Procfile") == []


def test_variables_of_the_dotenv_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=9000\nVLLM_USE_V1=1\n")
    launch = launch_in("llm: vllm serve m --port $PORT --x $Y\n", "Procfile", tmp_path)
    assert argv(launch) == ["m", "--port", "9000", "--x", "${Y}"]
    assert environment(launch) == {"PORT": "9000", "VLLM_USE_V1": "1"}


def test_a_line_does_not_go_on() -> None:
    launch, marks = marked_launch("llm: vllm serve m \\\n  ⟦--port 8000 \\\n  --seed 1⟧\nweb: x\n", "Procfile")
    assert argv(launch) == ["m"]
    assert launch.cut == marks[0]
    assert lines(launch) == (1, 1)
    assert launch_in("llm: vllm serve m\nweb: x --port 1\n", "Procfile").cut is None


def test_what_is_installed_before() -> None:
    assert release(launch_in("llm: pip install vllm==0.19.1 && vllm serve m\n", "Procfile")) == ("0.19.1", "pip")


def test_a_process_that_starts_two() -> None:
    launches = launches_in("llm: vllm serve a & vllm serve b\n", "Procfile")
    assert [(launch.name, argv(launch)) for launch in launches] == [("", ["a"]), ("", ["b"])]
