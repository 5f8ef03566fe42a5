"""Quadlet containers: the container that podman's generator makes of a unit."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, sites


def container(text: str, folder: Path | None = None) -> Launch:
    return launch_in("[Container]\n" + text, "llm.container", folder)


def test_image_and_arguments() -> None:
    launch, marks = marked_launch(
        """
        [Unit]
        Description=the model

        [Container]
        Image=docker.io/vllm/vllm-openai:v⟦0.20.0⟧
        ContainerName=llm
        PublishPort=8000:8000
        Volume=%h/.cache:/root/.cache:Z
        Exec=⟦--model⟧ ⟦Qwen/Qwen3-8B⟧ \\
          ⟦--served-model-name⟧ ⟦"my model"⟧

        [Install]
        WantedBy=default.target
        """,
        "llm.container",
    )
    assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--served-model-name", "my model"]
    assert sites(launch.argv) == marks[1:]
    assert release(launch) == ("0.20.0", "image")
    assert launch.release.span == marks[0]
    assert launch.image is not None
    assert launch.image.value == "docker.io/vllm/vllm-openai:v0.20.0"
    assert lines(launch) == (9, 10)


def test_an_image_that_starts_its_engine_without_arguments() -> None:
    launch = container("Image=ghcr.io/ggml-org/llama.cpp:server-cuda-b9180\nEnvironment=LLAMA_ARG_MODEL=/m.gguf\n")
    assert (launch.engine, argv(launch), environment(launch)) == ("llama.cpp", [], {"LLAMA_ARG_MODEL": "/m.gguf"})
    assert lines(launch) == (2, 2)


@pytest.mark.parametrize(
    "text",
    [
        "Image=docker.io/library/nginx:1.27\n",
        "Image=docker.io/lmsysorg/sglang:v0.5.9\n",
        "Exec=vllm serve m\n",
        "Image=docker.io/vllm/vllm-openai:v0.20.0\nEntrypoint=/bin/bash\nExec=-c 'vllm bench serve'\n",
        "",
    ],
)
def test_what_starts_none(text: str) -> None:
    assert launches_in("[Container]\n" + text, "x.container") == []


@pytest.mark.parametrize(
    ("entrypoint", "words", "expected"),
    [
        ("vllm", "serve m --port 80", ["m", "--port", "80"]),
        ('["vllm", "serve"]', "m --port 80", ["m", "--port", "80"]),
        ("/bin/bash", "-c 'exec vllm serve m --port 80'", ["m", "--port", "80"]),
        ("/usr/bin/env", "A=1 vllm serve m", ["m"]),
    ],
)
def test_another_entry_point(entrypoint: str, words: str, expected: list[str]) -> None:
    launch = container(f"Image=docker.io/vllm/vllm-openai:v0.20.0\nEntrypoint={entrypoint}\nExec={words}\n")
    assert argv(launch) == expected


def test_environment(tmp_path: Path) -> None:
    (tmp_path / "llm.env").write_text("A=1\nB=1\n")
    launch = container(
        """
        Image=docker.io/vllm/vllm-openai:v0.20.0
        EnvironmentFile=./llm.env
        Environment=B=2 "C=a b"
        Environment=D=%h
        PodmanArgs=--env E=1 -e F
        Exec=m
        """,
        tmp_path,
    )
    assert environment(launch) == {"A": "1", "B": "2", "C": "a b", "D": "%h", "E": "1", "F": None}
    assert not launch.open_env


def test_an_environment_file_that_is_not_here(tmp_path: Path) -> None:
    launch = container("Image=docker.io/vllm/vllm-openai:v0.20.0\nEnvironmentFile=%h/llm.env\nExec=m\n", tmp_path)
    assert launch.open_env


def test_variables_are_those_of_the_service() -> None:
    launch = launch_in(
        """
        [Service]
        Environment=MODEL=m
        [Container]
        Environment=PORT=80
        Image=docker.io/vllm/vllm-openai:v0.20.0
        Exec=--model ${MODEL} --port ${PORT} $MORE
        """,
        "llm.container",
    )
    assert argv(launch) == ["--model", "m", "--port", "${PORT}", "${MORE}"]
    assert environment(launch) == {"PORT": "80"}


@pytest.mark.parametrize(
    ("text", "gpus", "reserved"),
    [
        ("AddDevice=nvidia.com/gpu=all", None, True),
        ("AddDevice=nvidia.com/gpu=0\nAddDevice=nvidia.com/gpu=1", 2, True),
        ("PodmanArgs=--gpus 2", 2, True),
        ("AddDevice=/dev/dri", None, None),
        ("AddDevice=nvidia.com/gpu=all\nAddDevice=", None, False),
    ],
)
def test_gpus(text: str, gpus: int | None, reserved: bool | None) -> None:
    launch = container(f"Image=docker.io/vllm/vllm-openai:v0.20.0\n{text}\nExec=m\n")
    assert launch.container is not None
    assert (launch.container.gpus, launch.container.reserved) == (gpus, reserved)


def test_settings() -> None:
    launch = container("Image=docker.io/vllm/vllm-openai:v0.20.0\nShmSize=16g\nPodmanArgs=--ipc=host\nExec=m\n")
    assert launch.container is not None
    assert {name: text.shown for name, text in launch.container.settings.items()} == {"shm_size": "16g", "ipc": "host"}


def test_the_image_of_another_unit(tmp_path: Path) -> None:
    (tmp_path / "llm.image").write_text("[Image]\nImage=docker.io/vllm/vllm-openai:v0.19.1\n")
    assert release(container("Image=llm.image\nExec=m\n", tmp_path)) == ("0.19.1", "image")
    assert launches_in("[Container]\nImage=other.image\nExec=m\n", "x.container", tmp_path) == []
    assert release(container("Image=llm.build\nExec=vllm serve m\n", tmp_path)) == (None, None)


def test_lines_that_are_lost() -> None:
    launch, marks = marked_launch(
        "[Container]\nImage=docker.io/vllm/vllm-openai:v0.20.0\nExec=--model m\n  ⟦--port 80⟧\n", "llm.container"
    )
    assert argv(launch) == ["--model", "m"]
    assert launch.cut == marks[0]


def test_how_it_is_run() -> None:
    launch = container(
        "Image=docker.io/vllm/vllm-openai:v0.20.0\nPublishPort=127.0.0.1:8000:8001\nVolume=%h/.cache:/root/.cache:Z\n"
        "Network=llm.network\nHealthCmd=curl -f http://localhost:8001/health\nHealthStartPeriod=5m\nExec=m\n"
    )
    hosting = launch.container.hosting if launch.container is not None else None
    assert hosting is not None
    assert hosting.ports is not None
    assert [(port.number, port.host, port.exposed) for port in hosting.ports] == [(8001, 8000, False)]
    assert [mount.shown for mount in hosting.mounts or []] == ["/root/.cache"]
    assert [(probe.patience, probe.port) for probe in hosting.probes] == [(390, 8001)]
    assert hosting.private
