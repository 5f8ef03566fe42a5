"""Install commands: which engine they bring, and which release."""

from __future__ import annotations

import pytest

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.engines.releases import NEVER, NEWER, place
from servelint.readers.installs import claims, dependents
from servelint.syntax.shell.words import split
from tests.launching import marked
from tests.together import together


def installed(command: str) -> dict[str, tuple[str | None, bool]]:
    """engine -> (release, whether it is the newest at the time)."""
    found = claims(split(TracedText.at(Source("run.sh", command), 0, len(command))))
    assert all(claim.how == "pip" for claim in found.values())
    return {engine: (claim.release, claim.rolling) for engine, claim in found.items()}


@together(
    "command, found",
    [
        ('pip install "ai-dynamo[vllm]==1.4.0"', {"vllm": ("0.26.0", False)}),
        ("uv pip install 'ai_dynamo[trtllm]==0.9.1'", {"trtllm": ("1.3.0rc3", False)}),
        ("pip install ai-dynamo[sglang,vllm]==1.1.1", {"sglang": ("0.5.10.post1", False), "vllm": ("0.19.0", False)}),
        # what is not pinned, a release that is not known, and an extra without an engine
        ("pip install ai-dynamo[vllm]", {"vllm": (None, False)}),
        ("pip install 'ai-dynamo[vllm]>=1.4.0'", {"vllm": (None, False)}),
        ("pip install ai-dynamo[vllm]==99.0", {"vllm": (None, False)}),
        ("pip install ai-dynamo==1.4.0", {}),
        ("pip install ai-dynamo[planner]==1.4.0", {}),
        # the engine's own name counts, whatever stands first
        ("pip install vllm==0.26.0 'ai-dynamo[vllm]'", {"vllm": ("0.26.0", False)}),
        ("pip install 'ai-dynamo[vllm]==1.4.0' vllm==0.26.1", {"vllm": ("0.26.1", False)}),
    ],
)
def test_an_extra_of_another_package_brings_the_engine(command: str, found: dict[str, tuple[str | None, bool]]) -> None:
    assert installed(command) == found


def test_each_release_of_another_package_names_releases_that_are_known() -> None:
    for dependent in dependents().values():
        for pins in dependent.releases.values():
            assert set(pins) <= set(dependent.extras)
            for extra, release in pins.items():
                placed = place(dependent.extras[extra], release)
                assert placed is not None
                assert placed.kind not in (NEVER, NEWER), release


@together(
    "command, engine, release",
    [
        ("pip install vllm==0.19.1", "vllm", "0.19.1"),
        ("pip3.12 install -q --no-cache-dir vllm==0.19.1", "vllm", "0.19.1"),
        ("/opt/venv/bin/pip install vllm==0.19.1", "vllm", "0.19.1"),
        ("python3 -m pip install vllm==0.19.1", "vllm", "0.19.1"),
        ("sudo pip install VLLM==0.19.1", "vllm", "0.19.1"),
        ("uv pip install --system vllm==0.19.1", "vllm", "0.19.1"),
        ("uv add vllm==0.19.1", "vllm", "0.19.1"),
        ("uv tool install vllm==0.19.1", "vllm", "0.19.1"),
        ("pipx install vllm==0.19.1", "vllm", "0.19.1"),
        ("poetry add vllm@0.19.1", "vllm", "0.19.1"),
        ("pip install 'vllm == 0.19.1'", "vllm", "0.19.1"),
        ("pip install vllm===0.19.1", "vllm", "0.19.1"),
        ("pip install vllm[audio,flashinfer]==0.19.1", "vllm", "0.19.1"),
        ("pip install 'vllm==0.19.1; python_version > \"3.9\"'", "vllm", "0.19.1"),
        ("pip install vllm==0.19.1+cu130", "vllm", "0.19.1"),
        ("pip install vllm==0.20.0rc1", "vllm", "0.20.0rc1"),
        ("pip install vllm==v0.19.1", "vllm", "0.19.1"),
        ("pip install vllm==0.5.3post1", "vllm", "0.5.3.post1"),
        ("pip install vllm==0.6.1-post2", "vllm", "0.6.1.post2"),
        ("pip install vllm==0.20.0-RC.1", "vllm", "0.20.0rc1"),
        ("conda install -c conda-forge vllm=0.19.1", "vllm", "0.19.1"),
        ("mamba create -y -n llm python=3.12 vllm=0.19.1", "vllm", "0.19.1"),
        ("pip install 'sglang[all]==0.5.4.post1'", "sglang", "0.5.4.post1"),
        ("pip install lmdeploy==0.10.0", "lmdeploy", "0.10.0"),
        ("pip install tensorrt_llm==1.0.0 --extra-index-url https://pypi.nvidia.com", "trtllm", "1.0.0"),
        ("pip install vllm==0.19.1 --extra-index-url https://wheels.vllm.ai/0.19.1/cu130", "vllm", "0.19.1"),
        ("pip install --index-url https://wheels.vllm.ai/nightly vllm==0.19.1 -r vllm.txt", "vllm", "0.19.1"),
        ("pip install git+https://github.com/vllm-project/vllm.git@v0.19.1", "vllm", "0.19.1"),
        ("uv pip install 'vllm @ git+https://github.com/vllm-project/vllm@v0.19.1#egg=vllm'", "vllm", "0.19.1"),
        ("pip install -e git+ssh://git@github.com/InternLM/lmdeploy.git@v0.10.0", "lmdeploy", "0.10.0"),
        ("pip install 'git+https://github.com/sgl-project/sglang.git@v0.5.9#subdirectory=python'", "sglang", "0.5.9"),
        ("pip install ./dist/vllm-0.19.1-cp38-abi3-linux_x86_64.whl", "vllm", "0.19.1"),
        ("pip install 'd/text_generation_server-2.4.1-py3-none-any.whl[bnb, accelerate]'", "tgi", "2.4.1"),
        (
            "pip install https://github.com/vllm-project/vllm/releases/download/v0.19.1/vllm-0.19.1%2Bcu128-cp38-abi3-linux_x86_64.whl",
            "vllm",
            "0.19.1",
        ),
    ],
)
def test_a_pinned_release(command: str, engine: str, release: str) -> None:
    assert installed(command) == {engine: (release, False)}


@together(
    "command",
    [
        "pip install 'vllm>=0.19'",
        "pip install 'vllm>=0.19,<0.20'",
        "pip install vllm~=0.19.0",
        "pip install vllm!=0.19.1",
        "pip install 'vllm==0.19.*'",
        "pip install vllm==0.1.dev5",
        "pip install vllm==${VERSION}",
        "conda install -c conda-forge vllm=0.19",
        "pip install vllm=0.19.1",
        "pip install git+https://github.com/vllm-project/vllm.git@main",
        "pip install git+https://github.com/house/vllm.git@v0.19.1",
        "pip install git+https://github.com/vllm-project/vllm.git@v0.19.1-house",
        "pip install git+https://github.com/vllm-project/vllm.git@0123456789abcdef",
        "pip install -e git+https://github.com/vllm-project/vllm.git#egg=vllm",
        "pip install 'vllm @ git+https://github.com/vllm-project/vllm.git'",
        "pip install -U --pre vllm",
        "pip install -U vllm --extra-index-url https://wheels.vllm.ai/nightly",
    ],
)
def test_a_release_that_cannot_be_told(command: str) -> None:
    assert installed(command) == {"vllm": (None, False)}


@pytest.mark.parametrize(
    "command", ["pip install -U vllm", "pip install --upgrade vllm transformers", "uv pip install -U vllm"]
)
def test_the_newest(command: str) -> None:
    assert installed(command) == {"vllm": (None, True)}


@together(
    "command",
    [
        "pip install vllm",  # satisfied by whatever is there
        "pip uninstall -y vllm==0.19.1",
        "pip download vllm==0.19.1",
        "pip install -r requirements-vllm.txt",
        "pip install -c vllm.txt transformers",
        "pip install vllm-flash-attn==2.6.2 sglang-router==0.1.0",
        "apt-get install vllm==0.19.1",
        "docker exec llm pip install vllm==0.19.1",  # not here
        "sudo docker run house/server pip install vllm==0.19.1",
        "ssh host pip install vllm==0.19.1",
        "echo pip install vllm==0.19.1",
        "pip install",
        "",
    ],
)
def test_nothing(command: str) -> None:
    assert installed(command) == {}


def test_several_engines() -> None:
    assert installed("pip install vllm==0.19.1 sglang==0.5.9") == {"vllm": ("0.19.1", False), "sglang": ("0.5.9", False)}


@pytest.mark.parametrize(
    "command",
    [
        "pip install vllm==⟦0.19.1⟧",
        "pip install 'vllm[audio]==⟦0.19.1⟧; python_version > \"3.9\"'",
        "pip install vllm==⟦0.19.1⟧+cu130",
        "pip install https://example.invalid/vllm-⟦0.19.1⟧-cp38-abi3-linux_x86_64.whl",
        "pip install 'vllm>=⟦0.19⟧'",
        "pip install ⟦git+https://github.com/vllm-project/vllm.git⟧",
        "pip install -U ⟦vllm⟧",
    ],
)
def test_the_release_is_pointed_at(command: str) -> None:
    source, marks = marked("run.sh", command)
    found = claims(split(TracedText.at(source, 0, len(source.text))))
    assert [claim.span for claim in found.values()] == marks
