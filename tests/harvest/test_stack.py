"""The table of what runs beside an engine, against the published files."""

from __future__ import annotations

import os

import pytest

from servelint.core.data import read_json
from servelint.engines.releases import known_releases
from servelint.harvest import stack
from servelint.harvest.archives import HarvestError

METADATA = """Metadata-Version: 2.4
Name: vllm
Version: 0.11.0
Requires-Dist: numpy
Requires-Dist: transformers>=4.55.2
Requires-Dist: torch==2.8.0
Requires-Dist: xformers==0.0.32.post1; platform_system == "Linux" and platform_machine == "x86_64"
Requires-Dist: mistral_common[audio]; extra == "audio"
Requires-Dist: flashinfer_python[cu13]==0.3.1
Requires-Dist: sgl-kernel==0.3.9; extra == "srt"

Requires-Dist: torch==1.0
"""
DOCKERFILE = """ARG CUDA_VERSION=12.8.1
FROM nvidia/cuda:${CUDA_VERSION}-devel-ubuntu20.04 AS base
ARG torch_cuda_arch_list='7.0 7.5 8.0 8.9 9.0 10.0+PTX'
"""
PIPELINE = """env:
  CUDA_ARCH_X86: "7.5 8.0 12.0+PTX"
  CUDA_ARCH_AARCH64: "8.0 8.7 12.0"
"""
OLDER_PIPELINE = """  - label: "Build wheel - CUDA 12.8"
    commands:
      - docker build --build-arg torch_cuda_arch_list='7.0 9.0+PTX' .
  - label: "Build arm64 wheel - CUDA 12.9"
    commands:
      - docker build --build-arg torch_cuda_arch_list='8.7 9.0 10.0+PTX 12.0' .
"""


@pytest.mark.book
@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_two_releases_are_in_the_table_as_they_were_published(engine: str) -> None:
    every = known_releases(engine)
    try:
        read = stack.rows_of(engine, (every[len(every) // 2], every[-1]))
    except HarvestError as error:
        pytest.skip(f"the package index cannot be read: {error}")
    table = read_json(stack.FILE)[engine]
    order = every.index
    for release, row in read.items():
        held = {
            name: next((text for since, text in reversed(runs) if order(since) <= order(release)), "")
            for name, runs in table.items()
        }
        assert {name: text for name, text in row.items() if text} == {name: text for name, text in held.items() if text}
    assert read


@pytest.mark.book
@pytest.mark.skipif("SERVELINT_ALL_RELEASES" not in os.environ, reason="it downloads every release")
def test_the_table_is_what_the_published_files_say() -> None:
    known = read_json(stack.FILE)
    newest = "newest"  # moves with every release of a package
    assert stack.table(known) | {newest: {}} == known | {newest: {}}


def test_the_requirements_of_a_wheel() -> None:
    expected = {"transformers": ">=4.55.2", "torch": "==2.8.0", "xformers": "==0.0.32.post1", "flashinfer": "==0.3.1"}
    assert stack.requirements(METADATA, "vllm") == expected
    assert stack.requirements(METADATA, "sglang") == expected | {"sgl-kernel": "==0.3.9"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, {}),
        (
            {stack.DOCKERFILE: DOCKERFILE},
            {"cuda of the image": "12.8", "capabilities": "7.0 7.5 8.0 8.9 9.0 10.0"},
        ),
        (
            {stack.DOCKERFILE: DOCKERFILE, stack.PIPELINE: PIPELINE},
            {"cuda of the image": "12.8", "capabilities": "7.5 8.0 12.0", "capabilities of ARM": "8.0 8.7 12.0"},
        ),
        ({stack.PIPELINE: OLDER_PIPELINE}, {"capabilities of ARM": "8.7 9.0 10.0 12.0"}),
        ({stack.CMAKE: 'set(CUDA_SUPPORTED_ARCHS "7.0;7.5;9.0")'}, {"capabilities": "7.0 7.5 9.0"}),
    ],
)
def test_what_an_image_is_built_for(files: dict[str, str], expected: dict[str, str]) -> None:
    assert stack.image(files) == expected


def test_a_release_without_sources_between_two_that_agree() -> None:
    assert stack._runs({"1": "a", "2": "", "3": "a", "4": "", "5": "b"}) == [["1", "a"], ["4", ""], ["5", "b"]]


def test_the_file_is_written_as_it_is_read() -> None:
    with open(stack.FILE, encoding="utf-8") as file:
        assert stack.text(read_json(stack.FILE)) == file.read()
