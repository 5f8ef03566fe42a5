"""Definition files of Apptainer: the image they begin with, what they install, and the scripts that the image runs."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release

HEAD = "Bootstrap: docker\nFrom: vllm/vllm-openai:v0.9.1\n"


def test_the_script_of_an_image() -> None:
    launch, (model, port) = marked_launch(
        """
        # an image for the cluster
        Bootstrap: docker
        From: vllm/vllm-openai:v0.9.1

        %environment
            export HF_HOME=/models
            export PORT=9000

        %runscript
            exec vllm serve ⟦Qwen/Qwen3-8B⟧ --port ⟦$PORT⟧ "$@"
        """,
        "vllm.def",
    )
    assert release(launch)[0] == "0.9.1"
    assert argv(launch)[:3] == ["Qwen/Qwen3-8B", "--port", "9000"]
    assert launch.argv[-1].many
    assert environment(launch) == {"HF_HOME": "/models", "PORT": "9000"}
    assert (launch.argv[0].site, launch.argv[2].site) == (model, port)


@pytest.mark.parametrize("section", ["runscript", "startscript", "apprun serve", "appstart serve"])
def test_sections_that_are_run(section: str) -> None:
    assert argv(launch_in(f"{HEAD}%{section}\n    vllm serve m\n", "a.def")) == ["m"]


@pytest.mark.parametrize("section", ["post", "test", "help", "setup", "files", "labels"])
def test_sections_that_start_nothing(section: str) -> None:
    assert launches_in(f"{HEAD}%{section}\n    vllm serve m\n", "a.def") == []


def test_what_is_installed_counts_before_the_image() -> None:
    text = f"{HEAD}%post\n    pip install vllm==0.8.5\n%runscript\n    vllm serve m\n"
    assert release(launch_in(text, "a.def"))[0] == "0.8.5"


def test_the_last_stage() -> None:
    text = (
        f"{HEAD}Stage: build\n%runscript\n    vllm serve one\nBootstrap: docker\nFrom: vllm/vllm-openai:v0.10.0\n%runscript\n"
    )
    launch = launch_in(text + "    vllm serve two\n", "a.def")
    assert (argv(launch), release(launch)[0]) == (["two"], "0.10.0")


@pytest.mark.parametrize("head", ["Bootstrap: localimage\nFrom: vllm.sif\n", "BootStrap: library\nFrom: ubuntu:24.04\n"])
def test_an_image_that_is_not_known(head: str) -> None:
    assert release(launch_in(f"{head}%runscript\n    vllm serve m\n", "Singularity.vllm"))[0] is None


def test_a_file_of_the_same_ending() -> None:
    assert launches_in("EXPORTS\n  vllm serve m\n", "library.def") == []


def test_one_that_a_script_writes() -> None:
    text = (
        'tmp=$(mktemp)\ncat > "$tmp" <<EOF\n'
        + HEAD
        + "%startscript\n    vllm serve m --port \\$PORT\nEOF\napptainer build a.sif $tmp\n"
    )
    launch = launch_in(text, "run.sh")
    assert (argv(launch)[:2], release(launch)[0]) == (["m", "--port"], "0.9.1")


def test_a_dockerfile_that_a_script_writes() -> None:
    text = 'cat > Dockerfile <<EOF\nFROM vllm/vllm-openai:v0.9.1\nCMD ["m", "--seed", "1"]\nEOF\ndocker build -t a .\n'
    launch = launch_in(text, "run.sh")
    assert (argv(launch), release(launch)[0]) == (["m", "--seed", "1"], "0.9.1")
