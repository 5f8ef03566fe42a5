"""A variable that holds the interface and the port, and an image that needs a command: Ollama."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.judge.judging import judge
from tests.launching import launches_in

PRIVATE = "image: ollama/ollama:0.12.3\n    volumes: [models:/root/.ollama]"
SCRIPT = "docker run -v models:/root/.ollama"


def found(fields: str, image: str = PRIVATE) -> dict[str, str]:
    text = f"services:\n  ollama:\n    {image}\n    {fields}\n"
    launches = launches_in(text, "compose.yml")
    assert [launch.engine for launch in launches] == ["ollama"]
    return {one.rule.partition("/")[2]: one.message for one in judge(launches[0], Settings(profile="strict"))}


def compose(host: str, ports: str) -> dict[str, str]:
    return found(f'environment: {{OLLAMA_HOST: "{host}"}}\n    ports: ["{ports}"]')


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:11434", "localhost:11434", "http://127.0.0.1:11434", "'127.0.0.1'"])
def test_a_loopback_address_is_not_reached_by_a_published_port(host: str) -> None:
    message = compose(host, "11434:11434")["listens-on-loopback"]
    assert "11434 is published" in message


@pytest.mark.parametrize("host", ["0.0.0.0", "0.0.0.0:11434", ":11434", "[::]:11434", "http://0.0.0.0:11434", "${HOST}"])
def test_others_are(host: str) -> None:
    assert not {"listens-on-loopback", "port-not-served"} & compose(host, "11434:11434").keys()


@pytest.mark.parametrize(
    ("host", "listens"),
    [("0.0.0.0:8080", 8080), ("http://0.0.0.0", 80), ("https://0.0.0.0", 443), ("http://0.0.0.0:81/v1", 81)],
)
def test_the_port_of_the_address(host: str, listens: int) -> None:
    assert f"Ollama listens on {listens}:" in compose(host, "11434:11434")["port-not-served"]
    assert "port-not-served" not in compose(host, f"11434:{listens}")


def test_the_image_listens_on_every_interface_by_default() -> None:
    without = found('ports: ["11434:11434"]')
    assert not {"listens-on-loopback", "port-not-served"} & without.keys()
    assert "Ollama requires no key" in without["open-port-without-key"]
    assert "OLLAMA_HOST=0.0.0.0:8080" not in found('ports: ["8080:8080"]')["port-not-served"]


def test_models_that_no_volume_keeps() -> None:
    image = "image: ollama/ollama:0.12.3"
    assert "no-model-cache" in found("restart: always", image)
    assert "no-model-cache" not in found("restart: always")
    assert "no-model-cache" not in found("volumes: [./models:/models]\n    environment: {OLLAMA_MODELS: /models}", image)


@pytest.mark.parametrize(
    ("words", "count"),
    [("", 1), ("serve", 1), ("start", 1), ("pull llama3.2", 0), ("run llama3.2", 0), ("--help", 0), ("$WORDS", 0)],
)
def test_the_command_of_the_image(words: str, count: int) -> None:
    found = launches_in(f"{SCRIPT} ollama/ollama:0.12.3 {words}\n", "run.sh")
    assert sum(launch.started for launch in found) == count


def test_an_option_that_serve_does_not_have() -> None:
    (launch,) = launches_in(f"{SCRIPT} ollama/ollama:0.12.3 serve --port 80\n", "run.sh")
    (finding,) = [one for one in judge(launch, Settings()) if one.severity == "error"]
    assert finding.message == "--port is an option of vLLM; Ollama 0.12.3 refuses it"
    assert finding.advice == "set OLLAMA_HOST, such as 0.0.0.0:11434, and delete the option"
