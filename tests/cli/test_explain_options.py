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
        (["lmdeploy", "backend"], "--backend of LMDeploy: 0.6.0 and later"),
        (["llama.cpp", "--ctx-size"], "--ctx-size of llama.cpp: b3889 and later"),
    ],
)
def test_head(args: list[str], head: str, workspace: Workspace) -> None:
    ran = workspace.run("explain", *args)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(head + "\n\n  ")


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
        (["vllm", "--swap-spac"], "servelint: no release of vLLM has --swap-spac; did you mean --swap-space?\n"),
        (["vllm", "VLLM_USE_V2"], "servelint: no release of vLLM has VLLM_USE_V2; did you mean VLLM_USE_V1?\n"),
        (["vllm", "zzzzzz"], "servelint: no release of vLLM has zzzzzz\n"),
        (["tgi", "--port"], "servelint: there is no catalog of 'tgi'; use one of vllm, sglang, llama.cpp, "),
        (["../x", "--port"], "servelint: there is no catalog of '../x'; use one of vllm, "),
        (["vllm", "--port", "more"], "servelint explain: error: unexpected argument: more\n"),
    ],
)
def test_what_is_not_there(args: list[str], said: str, workspace: Workspace) -> None:
    ran = workspace.run("explain", *args)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(said)
