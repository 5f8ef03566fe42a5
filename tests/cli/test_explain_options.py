"""`servelint explain ENGINE OPTION|VARIABLE`: the life of an option or a variable."""

from __future__ import annotations

import re

import pytest

from servelint.engines import catalog as catalogs
from tests.running import Workspace


@pytest.mark.parametrize(
    ("args", "head"),
    [
        (["vllm", "--swap-space"], "--swap-space of vLLM: 0.6.0 to 0.17.1; gone in 0.18.0"),
        (["vllm", "swap_space"], "--swap-space of vLLM: 0.6.0 to 0.17.1; gone in 0.18.0"),
        (["vllm", "-tp"], "-tp of vLLM: 0.6.0 and later"),
        (["vllm", "disable-log-requests"], "--disable-log-requests of vLLM: 0.6.0 to 0.16.0 and 0.33.0 and later"),
        (["vllm", "VLLM_USE_V1"], "VLLM_USE_V1 of vLLM: 0.6.4 to 0.11.0; gone in 0.11.1"),
        (["sglang", "--stream-output"], "--stream-output of SGLang: 0.4.2 to 0.5.19; gone in 0.5.20"),
        (["lmdeploy", "backend"], "--backend of LMDeploy: 0.2.0 and later"),
        (["llama.cpp", "--ctx-size"], "--ctx-size of llama.cpp: b3889 and later"),
    ],
)
def test_head(args: list[str], head: str, workspace: Workspace) -> None:
    ran = workspace.run("explain", *args)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(head + "\n\n")


def test_a_page(workspace: Workspace) -> None:
    assert workspace.run("explain", "vllm", "VLLM_USE_V1").out == (
        "VLLM_USE_V1 of vLLM: 0.6.4 to 0.11.0; gone in 0.11.1\n\n"
        "  0.6.4 to 0.7.3: true or false, default false\n"
        "  0.8.0 to 0.11.0: true or false, default true\n\n"
        "Instead: delete it: there is only the V1 engine\n"
    )


@pytest.mark.parametrize("args", [["vllm", "--swap-space"], ["vllm", "VLLM_USE_V1"], ["vllm", "--port"]])
def test_what_takes_its_place_is_told_of_what_is_gone(args: list[str], workspace: Workspace) -> None:
    assert ("\nInstead: " in workspace.run("explain", *args).out) is (args[1] != "--port")


def test_every_page_ends_with_one_line_break_and_is_as_wide_as_a_terminal(workspace: Workspace) -> None:
    catalog = catalogs.load("llama.cpp")
    assert catalog is not None
    for spelling in list(catalog.spellings())[::5]:
        out = workspace.run("explain", "llama.cpp", spelling).out
        assert out.endswith("\n")
        assert not out.endswith("\n\n")
        assert max(len(line) for line in out.splitlines()) <= 100 or " " not in out.splitlines()[-1]


@pytest.mark.parametrize("option", ["--draft-max", "--draft"])
def test_an_option_is_not_cut_at_the_end_of_a_line(option: str, workspace: Workspace) -> None:
    assert not re.search(r"-$", workspace.run("explain", "llama.cpp", option).out, re.MULTILINE)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["vllm", "--swap-spce"], "servelint: no release of vLLM has --swap-spce; did you mean --swap-space?\n"),
        (
            ["vllm", "VLLM_ATTENTON_BACKEND"],
            "servelint: no release of vLLM has VLLM_ATTENTON_BACKEND; did you mean VLLM_ATTENTION_BACKEND?\n",
        ),
        (["vllm", "zzzzzz"], "servelint: no release of vLLM has zzzzzz\n"),
        (
            ["trtllm", "--max_batch_siz"],
            "servelint: no release of TensorRT-LLM has --max_batch_siz; did you mean --max_batch_size?\n",
        ),
        (["vllm", "--data-parallel"], "servelint: --data-parallel is short for several options: --data-parallel-address, "),
        (["llama.cpp", "--ctx-siz"], "servelint: no release of llama.cpp has --ctx-siz; did you mean --ctx-size?\n"),
        (["vllm", "speculative-config.methd"], "servelint: no release of vLLM has speculative-config.methd"),
        (["../x", "--port"], "servelint: no option catalog for '../x'; use one of vllm, "),
        (["vllm", "--port", "more"], "servelint explain: error: unexpected argument: more\n"),
    ],
)
def test_what_is_not_there(args: list[str], said: str, workspace: Workspace) -> None:
    ran = workspace.run("explain", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(said)


@pytest.mark.parametrize(
    ("engine", "same"),
    [
        ("llamacpp", "llama.cpp"), ("llama-cpp", "llama.cpp"), ("llama-server", "llama.cpp"), ("LLaMA.cpp", "llama.cpp"),
        ("vLLM", "vllm"), ("SGLang", "sglang"), ("LMDeploy", "lmdeploy"),
    ],
)  # fmt: skip
def test_an_engine_is_known_however_it_is_spelled(engine: str, same: str, workspace: Workspace) -> None:
    option = "--server-port" if same == "lmdeploy" else "--port"
    ran = workspace.run("explain", engine, option)
    assert (ran.status, ran.out) == (0, workspace.run("explain", same, option).out)


@pytest.mark.parametrize(
    ("engine", "name", "option"),
    [
        ("sglang", "--tp", "--tp-size"),
        ("sglang", "--speculative-num-st", "--speculative-num-steps"),
        ("vllm", "tensor_par", "--tensor-parallel-size"),
        ("vllm", "--max-model", "--max-model-len"),
        ("lmdeploy", "--cache-max", "--cache-max-entry-count"),
    ],
)
def test_an_abbreviation_is_the_option_that_the_parser_takes_it_for(
    engine: str, name: str, option: str, workspace: Workspace
) -> None:
    out = workspace.run("explain", engine, name).out
    assert out.startswith(f"{option} of ")
    assert f"\n--{name.lstrip('-').replace('_', '-')} is short for it.\n" in out


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("max_model_len", "--max-model-len of vLLM"),
        ("--max_model_len", "--max-model-len of vLLM"),
        ("--max-model-len=8192", "--max-model-len of vLLM"),
        ("vllm_use_v1", "VLLM_USE_V1 of vLLM"),
        ("$VLLM_USE_V1", "VLLM_USE_V1 of vLLM"),
        ("${VLLM_USE_V1}", "VLLM_USE_V1 of vLLM"),
        ("VLLM_USE_V1=1", "VLLM_USE_V1 of vLLM"),
        ("speculative-config.method", "method of --speculative-config of vLLM: 0.8.2 and later\n"),
        ("--speculative_config.num-speculative-tokens", "num_speculative_tokens of --speculative-config of vLLM"),
        ("draft_tensor_parallel_size", "draft_tensor_parallel_size of --speculative-config of vLLM"),
        ("cudagraph_mode", "cudagraph_mode of --compilation-config of vLLM"),
    ],
)
def test_a_name_as_people_write_it(name: str, head: str, workspace: Workspace) -> None:
    ran = workspace.run("explain", "vllm", name)
    assert ran.status == 0
    assert ran.out.startswith(head)


def test_what_an_option_does(workspace: Workspace) -> None:
    assert workspace.run("explain", "sglang", "--page-size").out.splitlines()[2] == "Tokens in one page of the KV cache."
    assert workspace.run("explain", "llama.cpp", "-ngl").out.splitlines()[2].startswith("Number of layers in GPU memory")
