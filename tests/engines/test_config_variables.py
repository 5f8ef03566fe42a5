"""Options that variables set, as TGI and llama.cpp read them."""

from __future__ import annotations

import pytest

from servelint.engines.config import UNWRITTEN, Config, configs
from tests.launching import launch_in

IMAGE = "ghcr.io/huggingface/text-generation-inference:3.3.7"


def config(variables: str, words: str = "--port 80", release: str = "3.3.7") -> Config:
    return configs(launch_in(f"docker run {variables} {IMAGE} {words}\n", "run.sh"), [release])[0]


@pytest.mark.parametrize(
    ("variables", "option", "value"),
    [
        ("-e NUM_SHARD=2", "num-shard", 2),
        ("-e QUANTIZE=awq", "quantize", "awq"),
        ("-e TRUST_REMOTE_CODE=true", "trust-remote-code", True),
        ("-e TRUST_REMOTE_CODE=false", "trust-remote-code", False),
        ("-e NUM_SHARD=all", "num-shard", "all"),
    ],
)
def test_a_variable_sets_its_option(variables: str, option: str, value: object) -> None:
    found = config(variables).operand(option)
    assert (found.present, found.value) == (True, value)
    assert found.text is not None
    assert found.span is not None


@pytest.mark.parametrize(
    ("variable", "option", "value"),
    [
        ("LLAMA_ARG_CTX_SIZE=8192", "ctx-size", "8192"),
        ("LLAMA_ARG_CACHE_TYPE_V=q8_0", "cache-type-v", "q8_0"),
        ("LLAMA_ARG_CONT_BATCHING=on", "cont-batching", True),
        ("LLAMA_ARG_CONT_BATCHING=0", "cont-batching", False),
        ("LLAMA_ARG_NO_CONT_BATCHING=1", "cont-batching", False),
        ("LLAMA_ARG_CONT_BATCHING=yes", "cont-batching", None),
    ],
)
def test_a_variable_of_llamacpp_sets_its_option(variable: str, option: str, value: object) -> None:
    launch = launch_in(f"{variable} llama-server -m a.gguf", "run.sh")
    assert configs(launch, ["b11434"])[0].operand(option).value == value


def test_a_word_comes_before_the_variable() -> None:
    assert config("-e NUM_SHARD=2", "--num-shard 4").operand("num-shard").value == 4


@pytest.mark.parametrize(
    ("variables", "words"),
    [("-e NUM_SHARD=$N", "--port 80"), ("-e NUM_SHARD=2", "--port 80 $ARGS"), ("-e NUM_SHARD", "--port 80")],
)
def test_what_is_not_known(variables: str, words: str) -> None:
    found = config(variables, words).operand("num-shard")
    assert found.value is None
    assert found.present is not False


def test_a_release_that_does_not_read_the_variable() -> None:
    assert config("-e API_KEY=abc", release="2.2.0").operand("api-key").present is False
    assert config("-e API_KEY=abc", release="2.3.0").operand("api-key").present is True


def test_a_file_of_variables_that_is_not_there_may_set_it() -> None:
    assert config("--env-file nope.env").operand("num-shard") is UNWRITTEN


def test_the_model_of_a_variable_is_known() -> None:
    found = config("-e MODEL_ID=meta-llama/Llama-3.1-8B-Instruct")
    assert found.operand("model.heads").value == 32
    assert config("-e MODEL_ID=meta-llama/Llama-3.1-8B-Instruct", "--port 80 $ARGS").operand("model.heads").present is None
