"""GitLab CI: scripts of jobs, with what they inherit."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans

FILE = ".gitlab-ci.yml"


def launch(text: str) -> Launch:
    return launch_in(dedent(text), FILE)


def test_a_list_of_lines() -> None:
    found, marks = marked_launch(
        """
        serve:
          stage: test
          script:
            - export VLLM_USE_V1=1
            - vllm serve \u27e6m\u27e7
              --port \u27e68000\u27e7
            - make test
        """,
        FILE,
    )
    assert argv(found) == ["m", "--port", "8000"]
    assert [spans(found.argv)[0], spans(found.argv)[2]] == marks
    assert environment(found) == {"VLLM_USE_V1": "1"}
    assert (found.name, lines(found)) == ("serve", (5, 6))


def test_lines_before_it_run_in_the_same_shell() -> None:
    found = launch("""
        default:
          before_script: [pip install vllm==0.20.0, export A=1]
        serve:
          script: [vllm serve m]
    """)
    assert release(found) == ("0.20.0", "pip")
    assert environment(found) == {"A": "1"}


def test_lines_after_it_run_in_another() -> None:
    found = launch("""
        serve:
          stage: test
          script: [export A=1]
          after_script: [vllm serve m]
    """)
    assert environment(found) == {}


def test_variables_and_image() -> None:
    found = launch("""
        variables: {RELEASE: 0.20.0, A: top, B: {value: top, description: a variable}}
        image: vllm/vllm-openai:v$RELEASE
        serve:
          variables: {A: job}
          script: [vllm serve m]
    """)
    assert environment(found) == {"RELEASE": "0.20.0", "A": "job", "B": "top"}
    assert release(found) == ("0.20.0", "image")


def test_what_a_job_extends() -> None:
    found = launch("""
        .base:
          image: {name: vllm/vllm-openai:v0.20.0, entrypoint: ['']}
          variables: {A: base, B: base}
          script: [vllm serve m]
        serve:
          extends: .base
          variables: {B: job}
    """)
    assert (found.name, argv(found)) == ("serve", ["m"])
    assert environment(found) == {"A": "base", "B": "job"}
    assert release(found) == ("0.20.0", "image")
    assert not found.open_env


def test_what_it_extends_of_another_file() -> None:
    found = launch("""
        include: [base.yml]
        serve:
          extends: .base
          script: [vllm serve m]
    """)
    assert found.open_env


def test_nested_lists() -> None:
    found = launch("""
        .lines: &lines [export A=1, true]
        serve:
          stage: test
          script:
            - *lines
            - vllm serve m
    """)
    assert environment(found) == {"A": "1"}


def test_services() -> None:
    found = launch("""
        test:
          services:
            - name: vllm/vllm-openai:v0.20.0
              alias: llm
              command: [--model, m]
            - postgres:16
          script: [make test]
    """)
    assert (found.name, argv(found), release(found)) == ("test.services[0]", ["--model", "m"], ("0.20.0", "image"))


@pytest.mark.parametrize(
    "text",
    [
        "test:\n  stage: test\n  script: [pip install vllm, pytest]\n",
        "variables: {COMMAND: vllm serve m}\ntest:\n  script: [make]\n",
        "test:\n  image: vllm/vllm-openai:v0.20.0\n  script: [python -m pytest tests]\n",
    ],
)
def test_what_starts_nothing(text: str) -> None:
    assert launches_in(text, FILE) == []
