"""The models that clients have a server load, and the release that loads them."""

from __future__ import annotations

from pathlib import Path

import pytest

import servelint
from servelint.readers.deployed import whole
from tests.launching import launches_in

SERVER = "docker run -d --gpus all --name ollama ollama/ollama:0.9.0\n"


def asked(text: str, path: str = "run.sh") -> list[tuple[str, str, str | None]]:
    """(command, model, release) of each model that a client asks for."""
    found = [one for one in launches_in(text, path) if one.fragment]
    return [(one.name, one.argv[-1].text.flat, one.release.release) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SERVER + "docker exec ollama ollama pull gemma3\n", [("pull", "gemma3", "0.9.0")]),
        (SERVER + "docker exec -it ollama ollama run gemma3:4b 'hello'\n", [("run", "gemma3:4b", "0.9.0")]),
        (
            SERVER + "for m in gemma3 qwen3; do ollama pull $m; done\n",
            [("pull", "gemma3", "0.9.0"), ("pull", "qwen3", "0.9.0")],
        ),
        (SERVER + "ollama pull $MODEL\nollama run --verbose gemma3\nollama list\n", []),
        ("ollama pull gemma3\n", []),
        ("ollama serve &\nollama pull gemma3\n", []),  # no release is known
        (SERVER + SERVER.replace("0.9.0", "0.12.0") + "ollama pull gemma3\n", []),  # of either server
    ],
)
def test_a_script(text: str, expected: list[tuple[str, str, str | None]]) -> None:
    assert asked(text) == expected


def test_a_service_that_pulls_for_another_one() -> None:
    text = """
    services:
      ollama:
        image: ollama/ollama:0.9.0
      pull:
        image: ollama/ollama:0.9.0
        environment: {OLLAMA_HOST: "ollama:11434"}
        entrypoint: ["ollama", "pull", "gemma3:4b"]
    """
    assert asked(text, "compose.yml") == [("pull", "gemma3:4b", "0.9.0")]


def test_it_is_no_start_of_a_server() -> None:
    (server, model) = launches_in(SERVER + "ollama pull gemma3\n", "run.sh")
    assert (server.fragment, model.fragment) == (False, True)
    assert (model.env, model.container) == ({}, None)


def test_the_models_that_steps_pull_are_no_launches_of_their_own() -> None:
    steps = "".join(f"        - {{name: pull {one}, run: ollama pull {one}}}\n" for one in ("gemma3", "qwen3"))
    text = f"runs:\n    using: composite\n    steps:\n        - run: docker run -d ollama/ollama:0.9.0\n{steps}"
    found = launches_in(text, "action.yml")
    assert sorted(one.fragment for one in found) == [False, True, True]
    assert [one.fragment for one in whole(found)] == [False]


def test_a_script_that_a_service_runs_is_judged_as_its_release(tmp_path: Path) -> None:
    service = "image: vllm/vllm-openai:v0.9.1, entrypoint: [sh, /run.sh], volumes: ['./run.sh:/run.sh']"
    (tmp_path / ".git").mkdir()
    (tmp_path / "compose.yml").write_text(f"services: {{llm: {{{service}}}}}\n")
    (tmp_path / "run.sh").write_text("exec vllm serve m --no-such-option\n")
    report = servelint.check([str(tmp_path)])
    assert {one.release.release for one in report.launches} == {"0.9.1"}
    assert [one.rule for one in report.findings if one.severity == "error"] == ["vllm/unknown-option"]
    assert "vllm/unknown-option" not in [one.rule for one in report.findings if one.severity == "warning"]
