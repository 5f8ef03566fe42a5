"""Health checks with a program that the image does not have."""

from __future__ import annotations

import pytest

from tests.reporting import findings_in

HEAD = "services:\n  ollama:\n    image: ollama/ollama:0.12.6\n"
CHECK = "    healthcheck:\n      test: {}\n"


def _found(text: str, name: str = "compose.yml") -> list[str]:
    return [one.message for one in findings_in(text, name) if one.rule == "container/probe-program"]


@pytest.mark.parametrize(
    "test",
    [
        "curl -f http://localhost:11434",
        "[CMD, curl, -f, 'http://localhost:11434']",
        "[CMD, /usr/bin/curl, -f, 'http://localhost:11434']",
        "[CMD-SHELL, 'curl -f http://localhost:11434/ || exit 1']",
        "[CMD, sh, -c, 'wget -q http://localhost:11434 || false']",
    ],
)
def test_a_check_with_a_program_that_is_not_there(test: str) -> None:
    (message,) = _found(HEAD + CHECK.format(test))
    program = "wget" if "wget" in test else "curl"
    assert message.startswith(f"the healthcheck starts {program}, which the images of Ollama do not have")


@pytest.mark.parametrize(
    "test",
    [
        "[CMD, ollama, list]",
        "curl -f http://localhost:11434 || ollama list",
        "curl -f http://localhost:11434; exit 0",
        "[CMD-SHELL, 'test -x /usr/bin/curl']",
        "[CMD, $CLIENT, 'http://localhost:11434']",
    ],
)
def test_a_check_with_another_way(test: str) -> None:
    assert _found(HEAD + CHECK.format(test)) == []


@pytest.mark.parametrize(
    "lines",
    [
        "    build: .\n",
        "    entrypoint: [/bin/bash, -c]\n    command: ['apt-get update && apt-get install -y curl && ollama serve']\n",
        "    volumes: ['/usr/bin/curl:/usr/bin/curl:ro']\n",
    ],
)
def test_an_image_that_gets_the_program(lines: str) -> None:
    assert _found(HEAD + lines + CHECK.format("curl -f http://localhost:11434")) == []


def test_other_images() -> None:
    check = CHECK.format("curl -f http://localhost:11434")
    assert _found(HEAD.replace(":0.12.6", ":0.1.40-rocm") + check) == []
    assert _found(HEAD.replace("ollama/ollama:0.12.6", "registry.example.com/ollama/ollama:0.12.6") + check) == []
    assert _found("services:\n  llm:\n    image: vllm/vllm-openai:v0.33.0\n    command: --model m\n" + check) == []


def test_a_probe_of_kubernetes() -> None:
    pod = """\
apiVersion: v1
kind: Pod
metadata: {name: ollama}
spec:
  containers:
    - name: ollama
      image: ollama/ollama:0.12.6
      livenessProbe:
        exec:
          command: [curl, -f, "http://localhost:11434"]
"""
    (message,) = _found(pod, "pod.yaml")
    assert message.startswith("the livenessProbe starts curl")
