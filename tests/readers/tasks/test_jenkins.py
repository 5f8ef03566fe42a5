"""Jenkins pipelines."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in
from tests.together import together


@together(
    "step, words",
    [
        ("sh 'vllm serve m --port 80'", ["m", "--port", "80"]),
        ('sh "vllm serve m --port 80"', ["m", "--port", "80"]),
        ("sh('vllm serve m')", ["m"]),
        ("sh(script: 'vllm serve m', returnStatus: true)", ["m"]),
        ("sh(label: 'start it', script: \"vllm serve m\")", ["m"]),
        ("sh '''\n  vllm serve m \\\\\n    --port 80\n'''", ["m", "--port", "80"]),
        ("sh 'docker run vllm/vllm-openai:v0.9.0 --model m'", ["--model", "m"]),
        ('sh "vllm serve ${params.MODEL}"', ["${params.MODEL}"]),
        ("sh 'M=b; vllm serve $M'", ["b"]),
        ('sh "M=b; vllm serve \\$M"', ["b"]),
        ("sh 'vllm serve \"a b\"'", ["a b"]),
    ],
)
def test_steps(step: str, words: list[str]) -> None:
    launch = launch_in(f"pipeline {{\n stages {{ stage('a') {{ steps {{\n  {step}\n }} }} }}\n}}\n", "Jenkinsfile")
    assert argv(launch) == words


@pytest.mark.parametrize(
    "line", ["// sh 'vllm serve m'", "/* sh 'vllm serve m' */", "echo 'sh vllm serve m'", "bash 'vllm serve m'"]
)
def test_what_no_step_runs(line: str) -> None:
    assert launches_in(f"node {{\n  {line}\n}}\n", "Jenkinsfile") == []


def test_variables() -> None:
    text = """
    def model = 'a/b'
    pipeline {
      environment {
        VLLM_USE_V1 = '1'
        HF_HOME = credentials('home')
      }
      stages { stage('a') {
        environment { VLLM_PORT = '1' }
        steps { sh "vllm serve ${model}" }
      } }
    }
    """
    launch = launch_in(text, "ci/Jenkinsfile.gpu")
    assert argv(launch) == ["a/b"]
    assert environment(launch)["VLLM_USE_V1"] == "1"
    assert "credentials" in str(environment(launch)["HF_HOME"])
    assert "VLLM_PORT" not in environment(launch)
    assert launch.open_env


def test_variables_of_the_shell_are_not_those_of_the_pipeline() -> None:
    text = "node {\n  sh '''\nmodel=\"a\"\nvllm serve m\n'''\n  sh \"vllm serve ${model}\"\n}\n"
    assert [argv(launch) for launch in launches_in(text, "Jenkinsfile")] == [["m"], ["${model}"]]
