"""`fly.toml` of Fly.io."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in, marked_launch

_APP = "app = 'x'\n\n[build]\n  image = \"vllm/vllm-openai:v0.19.1\"\n"


def test_processes() -> None:
    text = _APP + "[env]\n  VLLM_USE_V1 = '1' # the default\n[processes]\n  app = 'a/b --port 80'\n  \"two\" = \"--model c\"\n"
    found = launches_in(text, "fly.toml")
    assert [(one.name, one.engine, argv(one)) for one in found] == [
        ("app", "vllm", ["a/b", "--port", "80"]),
        ("two", "vllm", ["--model", "c"]),
    ]
    assert [environment(one) for one in found] == [{"VLLM_USE_V1": "1"}] * 2
    assert all(one.open_env for one in found)


def test_places() -> None:
    launch, marks = marked_launch(_APP + '[processes]\napp = "⟦a/b⟧ --port ⟦80⟧"\n', "fly.toml")
    assert [launch.argv[0].text.span(), launch.argv[2].text.span()] == marks


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("", ["serve"]),
        ("[experimental]\n  cmd = ['serve']\n", ["serve"]),
        ("[experimental]\n  entrypoint = ['/bin/sh', '-c']\n  cmd = ['ollama serve']\n", ["serve"]),
    ],
)
def test_the_command_of_the_image(more: str, words: list[str]) -> None:
    text = "[build]\nimage = 'ollama/ollama:0.12.3'\n[http_service]\ninternal_port = 11434\n" + more
    assert [word.text.flat for word in launch_in(text, "fly.toml").verb[1:]] == words


def test_the_gpu_of_the_machine() -> None:
    container = launch_in(_APP + "[[vm]]\ngpu_kind = 'l40s'\ngpus = 2\n", "fly.llm.toml").container
    assert container is not None
    assert (container.settings["gpu_product"].value, container.gpus) == ("l40s", 2)
    other = launch_in(_APP + "[[vm]]\ngpu_kind = 'a10'\n[[vm]]\nsize = 'shared-cpu-1x'\n", "fly.toml").container
    assert other is not None
    assert "gpu_product" not in other.settings


@pytest.mark.parametrize(
    "text",
    [
        "[build]\ndockerfile = 'Dockerfile'\n[processes]\napp = 'a/b'\n",
        "[build]\nimage = 'nginx:1'\n[env]\nOLLAMA_HOST = 'x'\n",
        "image = 'ollama/ollama:0.12.3'\n",
    ],
)
def test_what_starts_no_engine(text: str) -> None:
    assert launches_in(text, "fly.toml") == []
