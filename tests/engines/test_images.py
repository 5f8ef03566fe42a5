"""Image names: which engine an image holds, which release its tag names, what it starts by itself."""

from __future__ import annotations

import pytest

from servelint.engines.images import Image, identify
from servelint.engines.releases import known_releases
from servelint.interpolate import interpolate, nothing
from servelint.source import Source
from servelint.text import Text
from tests.launching import marked

DIGEST = "@sha256:" + "0123456789abcdef" * 4


def image(name: str) -> Image:
    """An image as a compose file names it: `${V}` is unknown."""
    return identify(interpolate(Text.at(Source("compose.yml", name), 0, len(name)), nothing))


@pytest.mark.parametrize(
    ("name", "engine", "release"),
    [
        ("vllm/vllm-openai:v0.20.0", "vllm", "0.20.0"),
        ("vllm/vllm-openai:0.20.0", "vllm", "0.20.0"),
        ("vllm/vllm-openai:v0.8.5.post1", "vllm", "0.8.5.post1"),
        ("vllm/vllm-openai:v0.10.1.1", "vllm", "0.10.1.1"),
        ("vllm/vllm-openai:v0.11.0rc2", "vllm", "0.11.0rc2"),
        ("vllm/vllm-openai:v0.20.0-cu129", "vllm", "0.20.0"),
        ("vllm/vllm-openai:v0.20.0-x86_64-cu129-ubuntu2404", "vllm", "0.20.0"),
        ("vllm/vllm-openai:v0.20.0" + DIGEST, "vllm", "0.20.0"),
        ("vllm/vllm-openai-rocm:v0.20.0", "vllm", "0.20.0"),
        ("vllm/vllm-openai-cpu:v0.20.0", "vllm", "0.20.0"),
        ("docker.io/vllm/vllm-openai:v0.20.0", "vllm", "0.20.0"),
        ("registry.example:5000/mirror/vllm/vllm-openai:v0.20.0", "vllm", "0.20.0"),
        ("lmsysorg/sglang:v0.5.9-cu126", "sglang", "0.5.9"),
        ("lmsysorg/sglang:v0.4.9.post6-cu126", "sglang", "0.4.9.post6"),
        ("lmsysorg/sglang:v0.5.10rc0", "sglang", "0.5.10rc0"),
        ("ghcr.io/ggml-org/llama.cpp:server-b9180", "llama.cpp", "b9180"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda-b9180", "llama.cpp", "b9180"),
        ("ghcr.io/ggerganov/llama.cpp:server-cuda-b4719", "llama.cpp", "b4719"),
        ("ghcr.io/huggingface/text-generation-inference:3.3.4", "tgi", "3.3.4"),
        ("openmmlab/lmdeploy:v0.10.0-cu12", "lmdeploy", "0.10.0"),
        ("nvcr.io/nvidia/tensorrt-llm/release:1.1.0rc2", "trtllm", "1.1.0rc2"),
        # an image of somebody's own, named like the engine's and tagged with a release that the engine has
        ("registry.example/house/vllm-openai:v0.20.0", "vllm", "0.20.0"),
        ("registry.example/house/vllm-openai-gb10:v0.20.0-house", "vllm", "0.20.0"),
        ("registry.example/house/vllm:v0.20.0", "vllm", "0.20.0"),
        ("registry.example/house/sglang:v0.5.9", "sglang", "0.5.9"),
    ],
)
def test_a_tag_names_the_release(name: str, engine: str, release: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.how, found.claim.rolling) == (engine, release, "image", False)
    assert found.claim.span is not None
    assert found.claim.span.text == release


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("vllm/vllm-openai", "vllm"),
        ("vllm/vllm-openai:latest", "vllm"),
        ("vllm/vllm-openai:nightly", "vllm"),
        ("vllm/vllm-openai:latest-cu129", "vllm"),
        ("vllm/vllm-openai:cu130-nightly", "vllm"),
        ("lmsysorg/sglang:latest", "sglang"),
        ("lmsysorg/sglang:dev", "sglang"),
        ("lmsysorg/sglang:latest-cu129", "sglang"),
        ("ghcr.io/ggml-org/llama.cpp:server", "llama.cpp"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda", "llama.cpp"),
    ],
)
def test_a_rolling_tag_takes_the_newest(name: str, engine: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.how, found.claim.rolling) == (engine, None, "image", True)


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        # parts that nobody knows
        ("vllm/vllm-openai:${TAG}", "vllm"),
        ("vllm/vllm-openai:v${VERSION}", "vllm"),
        ("vllm/vllm-openai:v0.20.${PATCH}", "vllm"),
        ("${REGISTRY}/vllm/vllm-openai:${TAG}", "vllm"),
        # a commit's own image, and one that is pinned by its content alone
        ("vllm/vllm-openai:nightly-0123456789abcdef0123456789abcdef01234567", "vllm"),
        ("vllm/vllm-openai:0123456789abcdef", "vllm"),
        ("vllm/vllm-openai" + DIGEST, "vllm"),
        ("vllm/vllm-openai:latest" + DIGEST, "vllm"),
        # releases of the image, not of the engine
        ("nvcr.io/nvidia/vllm:25.09-py3", "vllm"),
        ("nvcr.io/nvidia/sglang:25.10-py3", "sglang"),
        ("rocm/vllm:rocm7.0.0_vllm_0.10.1", "vllm"),
        ("rocm/vllm-dev:nightly", "vllm"),
        ("lmcache/vllm-openai:v0.3.9", "vllm"),
        ("registry.example/house/vllm:v1.2.3", "vllm"),
        ("registry.example/house/vllm:latest", "vllm"),
        ("registry.example/house/qwen-vllm:v0.20.0", "vllm"),
        ("registry.example/house/vllm", "vllm"),
        ("ghcr.io/ggml-org/llama.cpp:full-cuda-b9180", "llama.cpp"),
        ("ghcr.io/ggml-org/llama.cpp", "llama.cpp"),
    ],
)
def test_a_release_that_the_name_does_not_say(name: str, engine: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.rolling) == (engine, None, False)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "nginx:1.27",
        "python:3.12",
        "${IMAGE}",
        "${IMAGE:?vllm}",
        "registry.example/house/server:vllm-0.20.0",
        "lmsysorg/sglang-router:v0.2.0",
        "registry.example/house/vllm-router:v0.20.0",
        "registry.example/house/vllm-benchmark:1",
        "registry.example/house/sglang-gateway",
        "registry.example/house/vllm-exporter:1",
        "quay.io/ascend/vllm-ascend:v0.11.0",
        "vllm/vllm-omni:v0.20.0",
        "vllm.example/web:1",
        "house/vllmish:1",
    ],
)
def test_an_image_of_something_else(name: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.rolling, found.claims) == (None, None, False, {})


@pytest.mark.parametrize(
    ("name", "entrypoint"),
    [
        ("vllm/vllm-openai:v0.20.0", ("vllm", "serve")),
        ("lmcache/vllm-openai:v0.3.9", ("vllm", "serve")),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda-b9180", ("llama-server",)),
        ("ghcr.io/huggingface/text-generation-inference:3.3.4", ("text-generation-launcher",)),
        ("lmsysorg/sglang:v0.5.9", ()),
        ("nvcr.io/nvidia/vllm:25.09-py3", ()),
        ("registry.example/house/vllm-openai:v0.20.0", None),
        ("ghcr.io/ggml-org/llama.cpp:full-cuda-b9180", None),
        ("nginx", None),
    ],
)
def test_what_it_starts_by_itself(name: str, entrypoint: tuple[str, ...] | None) -> None:
    assert image(name).entrypoint == entrypoint


def test_the_release_is_pointed_at() -> None:
    source, marks = marked("compose.yml", "registry.example:5000/vllm/vllm-openai:v⟦0.8.5.post1⟧-cu129")
    found = identify(Text.at(source, 0, len(source.text)))
    assert found.claim.span == marks[0]
    assert found.claims["vllm"] is found.claim


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_every_release_that_is_known_is_read_from_a_tag(engine: str) -> None:
    repository = {"vllm": "vllm/vllm-openai", "sglang": "lmsysorg/sglang"}[engine]
    tags = {release: image(f"{repository}:v{release}-cu129").claim.release for release in known_releases(engine)}
    assert tags == {release: release for release in known_releases(engine)}
