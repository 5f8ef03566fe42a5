"""Image names: which engine an image holds, which release its tag names, what it starts by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.engines import ENGINES
from servelint.engines.images import Image, identify
from servelint.engines.releases import known_releases, release_key
from servelint.syntax.interpolation import interpolate, nothing
from tests.launching import marked
from tests.together import together

DIGEST = "@sha256:" + "0123456789abcdef" * 4
OLDER = ("python3", "-m", "vllm.entrypoints.openai.api_server")


def image(name: str) -> Image:
    """An image as a compose file names it: `${V}` is unknown."""
    return identify(interpolate(TracedText.at(Source("compose.yml", name), 0, len(name)), nothing))


@together(
    "name, engine, release",
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
        ("vllm/vllm-openai-xpu:v0.20.0", "vllm", "0.20.0"),
        ("docker.io/vllm/vllm-openai:v0.20.0", "vllm", "0.20.0"),
        ("docker.io/vllm/vllm-openai-cpu:v0.20.0-x86_64", "vllm", "0.20.0"),
        ("vllm/vllm-openai:v0.20.0-aarch64-cu129-ubuntu2404", "vllm", "0.20.0"),
        ("public.ecr.aws/q9t5s3a7/vllm-cpu-release-repo:v0.20.0", "vllm", "0.20.0"),
        ("registry.example:5000/mirror/vllm/vllm-openai:v0.20.0", "vllm", "0.20.0"),
        ("lmsysorg/sglang:v0.5.9-cu126", "sglang", "0.5.9"),
        ("lmsysorg/sglang:v0.4.9.post6-cu126", "sglang", "0.4.9.post6"),
        ("lmsysorg/sglang:v0.5.10rc0", "sglang", "0.5.10rc0"),
        ("lmsysorg/sglang:v0.5.9-rocm700-mi35x", "sglang", "0.5.9"),
        ("lmsysorg/sglang:v0.5.5.post3-cu129-arm64", "sglang", "0.5.5.post3"),
        ("lmsysorg/sglang:v0.5.9-runtime", "sglang", "0.5.9"),
        ("ghcr.io/ggml-org/llama.cpp:server-b9180", "llama.cpp", "b9180"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda-b9180", "llama.cpp", "b9180"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda13-b9180", "llama.cpp", "b9180"),
        ("ghcr.io/ggerganov/llama.cpp:server-cuda-b4719", "llama.cpp", "b4719"),
        ("ghcr.io/huggingface/text-generation-inference:3.3.4", "tgi", "3.3.4"),
        ("ghcr.io/huggingface/text-generation-inference:9.9", "tgi", "9.9"),
        ("x.amazonaws.com/huggingface-pytorch-tgi-inference:2.7.0-tgi3.3.6-gpu-py311", "tgi", "3.3.6"),
        ("ollama/ollama:0.12.3", "ollama", "0.12.3"),
        ("docker.io/ollama/ollama:0.12.3-rocm", "ollama", "0.12.3"),
        ("openmmlab/lmdeploy:v0.10.0-cu12", "lmdeploy", "0.10.0"),
        ("nvcr.io/nvidia/tensorrt-llm/release:1.1.0rc2", "trtllm", "1.1.0rc2"),
        ("nvcr.io/nvidia/tensorrt-llm/release:1.2.0rc6.post1", "trtllm", "1.2.0rc6.post1"),
        # an image of somebody's own, named like the engine's and tagged with a release that the engine has
        ("registry.example/house/vllm-openai:v0.20.0", "vllm", "0.20.0"),
        ("registry.example/house/vllm-openai-gb10:v0.20.0-house", "vllm", "0.20.0"),
        ("registry.example/house/vllm:v0.20.0", "vllm", "0.20.0"),
        ("vllm-cpu:v0.11.0-sha1234567", "vllm", "0.11.0"),
        ("registry.example/vllm-cpu-env:0.11.0-abcdef0", "vllm", "0.11.0"),
        ("registry.example/house/vllm_rocm:v0.20.0", "vllm", "0.20.0"),
        ("registry.example/house/sglang-rocm:v0.5.9-r1", "sglang", "0.5.9"),
        ("registry.example/house/llmd-vllm-openai:v0.20.0", "vllm", "0.20.0"),
        ("house/vllm-openai:v0.7.3.self.post1", "vllm", "0.7.3"),
        ("vllm/vllm-openai:v0.17.0.custom", "vllm", "0.17.0"),
        ("vllm/vllm-openai:v0.17.0.cu129", "vllm", "0.17.0"),
        ("lmsysorg/sglang:v0.5.6.patched", "sglang", "0.5.6"),
        ("house/vllm-openai:v0.8.5.post1-x", "vllm", "0.8.5.post1"),
        ("registry.example/house/vllm-openai-ubi9:0.4.2", "vllm", "0.4.2"),
        ("registry.example/vllm/vllm:0.8.5.0_cu128", "vllm", "0.8.5"),
        ("registry.example/house/sglang:v0.5.9", "sglang", "0.5.9"),
        ("registry.example/house/server:vllm-0.20.0", "vllm", "0.20.0"),
        ("registry.example/house/base:cu129_vllm-v0.10.0", "vllm", "0.10.0"),
        ("registry.example/house/mooncake:0.3.7.post2-sglang0.5.5.post3-deepep", "sglang", "0.5.5.post3"),
        ("registry.example/house/llm:1.4.0-lmdeploy0.9.1", "lmdeploy", "0.9.1"),
        ("registry.example/container-images/ollama:0.16.3", "ollama", "0.16.3"),
    ],
)
def test_a_tag_names_the_release(name: str, engine: str, release: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.how, found.claim.rolling) == (engine, release, "image", False)
    assert found.claim.span is not None
    assert found.claim.span.text == release


@together(
    "name, engine",
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
        ("lmsysorg/sglang:nightly-dev", "sglang"),
        ("lmsysorg/sglang:dev-cu13", "sglang"),
        ("lmsysorg/sglang:dev-arm64", "sglang"),
        ("vllm/vllm-openai:latest-ubuntu22.04", "vllm"),
        ("openmmlab/lmdeploy:latest-cu12", "lmdeploy"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda", "llama.cpp"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda13", "llama.cpp"),
    ],
)
def test_a_rolling_tag_takes_the_newest(name: str, engine: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.how, found.claim.rolling) == (engine, None, "image", True)


@together(
    "name, engine",
    [
        # parts that nobody knows
        ("vllm/vllm-openai:${TAG}", "vllm"),
        ("someone/tgi:2", "tgi"),
        ("vllm/vllm-openai:v${VERSION}", "vllm"),
        ("vllm/vllm-openai:v0.20.${PATCH}", "vllm"),
        ("${REGISTRY}/vllm/vllm-openai:${TAG}", "vllm"),
        # a commit's own image, and one that is pinned by its content alone
        ("vllm/vllm-openai:nightly-0123456789abcdef0123456789abcdef01234567", "vllm"),
        ("vllm/vllm-openai:0123456789abcdef", "vllm"),
        ("vllm/vllm-openai" + DIGEST, "vllm"),
        ("vllm/vllm-openai:latest" + DIGEST, "vllm"),
        # one made for a model, a machine or a day
        ("vllm/vllm-openai:gptoss", "vllm"),
        ("vllm/vllm-openai:v0.20.0-nightly", "vllm"),
        ("vllm/vllm-tpu:nightly-20260504-e2a6582-67058ca", "vllm"),
        ("lmsysorg/sglang:blackwell", "sglang"),
        ("lmsysorg/sglang:b200-cu129", "sglang"),
        ("lmsysorg/sglang:spark", "sglang"),
        ("lmsysorg/sglang:dev-inkling-small-dgx-spark", "sglang"),
        ("vllm/vllm-openai:nightly-sep28", "vllm"),
        ("vllm/vllm-openai:latest-deepseek-v4", "vllm"),
        ("vllm/vllm-openai:dev-pr-4567", "vllm"),
        ("lmsysorg/sglang:nightly-dev-20251208-5e2cda61", "sglang"),
        ("lmsysorg/sglang:v0.5.9-rocm700-mi35x-20260220", "sglang"),
        ("nvcr.io/nvidia/tensorrt-llm/release:spark-single-gpu-dev", "trtllm"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda-bXXXX", "llama.cpp"),
        # releases of the image, not of the engine
        ("nvcr.io/nvidia/vllm:26.02-py3", "vllm"),
        ("nvcr.io/nvidia/vllm:${TAG}", "vllm"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.1rc2", "vllm"),
        ("nvcr.io/nvidia/ai-dynamo/sglang-runtime:my-tag", "sglang"),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/sglang:0.5-gpu-py312", "sglang"),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:server-cuda-v9", "vllm"),
        ("rocm/vllm:latest", "vllm"),
        ("rocm/vllm-dev:nightly_main_20250911", "vllm"),
        ("rocm/vllm:v0.14.0_amd_dev", "vllm"),
        ("quay.io/ascend/vllm-ascend:v0.10.1rc1", "vllm"),
        ("quay.io/ascend/vllm-ascend:main", "vllm"),
        ("kserve/huggingfaceserver:latest-gpu", "vllm"),
        ("public.ecr.aws/q9t5s3a7/vllm-release-repo:0123456789abcdef-x86_64", "vllm"),
        ("intel/llm-scaler-vllm:0.2.0-b2", "vllm"),
        ("intel/llm-scaler-vllm:latest", "vllm"),
        ("registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.2.3", "vllm"),
        ("registry.redhat.io/rhaiis/vllm-tpu-rhel9:3.3.0", "vllm"),
        ("opea/vllm-gaudi:1.22.0", "vllm"),
        ("rocm/sgl-dev:v0.5.9-rocm720-mi35x-20260301", "sglang"),
        ("lmsysorg/sglang-rocm:v0.5.10rc0-rocm700-mi30x-20260407", "sglang"),
        ("nvcr.io/nvidia/vllm:25.09-py3", "vllm"),
        ("nvcr.io/nvidia/sglang:25.10-py3", "sglang"),
        ("rocm/vllm-dev:nightly", "vllm"),
        ("lmcache/vllm-openai:v0.3.9", "vllm"),
        ("registry.example/house/vllm:v1.2.3", "vllm"),
        ("registry.example/house/vllm-server:1.2.0", "vllm"),
        ("registry.example/house/my-vllm:0.20.0", "vllm"),
        ("registry.example/house/vllm-cpu:v0.11.0-20260102", "vllm"),
        ("registry.example/house/vllm:latest", "vllm"),
        ("registry.example/house/vllm-openai:v9.9.9", "vllm"),
        ("registry.example/house/vllm-openai:0.1.0", "vllm"),
        ("registry.example/house/sglang:0.1.0", "sglang"),
        ("registry.example/house/ollama:7.1.2", "ollama"),
        ("registry.example/house/vllm-openai:0.20.0.1", "vllm"),
        ("registry.example/house/qwen-vllm:v0.20.0", "vllm"),
        ("registry.example/house/vllm", "vllm"),
        ("ghcr.io/ggml-org/llama.cpp:full-cuda", "llama.cpp"),
        ("ghcr.io/ggml-org/llama.cpp", "llama.cpp"),
        ("ghcr.io/house/beellama.cpp:server-cuda-v0.3.0", "llama.cpp"),
        ("ghcr.io/house/ik-llama-cpp:cu12-server-4574", "llama.cpp"),
        ("ghcr.io/llm-d/llm-d-cuda:v0.3.0", "vllm"),
        ("ghcr.io/llm-d/llm-d:v0.2.0", "vllm"),
        ("ghcr.io/llm-d/llm-d-aws:v0.9.0", "vllm"),
        ("ghcr.io/llm-d/llm-d-xpu:v0.9.0", "vllm"),
    ],
)
def test_a_release_that_the_name_does_not_say(name: str, engine: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.rolling) == (engine, None, False)


@together(
    "name",
    [
        "",
        "nginx:1.27",
        "python:3.12",
        "${IMAGE}",
        "${IMAGE:?vllm}",
        "registry.example/house/server:vllm-0.99.0",
        "registry.example/house/server:vllm-0.20.0.dev3",
        "registry.example/house/server:vllm-router-0.20.0",
        "registry.example/house/ollama-gate:0.16.3",
        "registry.example/house/open-ollama-webui:1",
        "lmsysorg/sglang-router:v0.2.0",
        "registry.example/house/vllm-router:v0.20.0",
        "registry.example/house/vllm-benchmark:1",
        "registry.example/house/sglang-gateway",
        "registry.example/house/vllm-exporter:1",
        "vllm/vllm-omni:v0.20.0",
        "registry.example/house/vllm-mock:nightly",
        "registry.example/house/vllm-simulator:1",
        "ghcr.io/llm-d/llm-d-inference-sim:v0.5.0",
        "ghcr.io/house/llama-cpp-python:latest",
        "ghcr.io/ggml-org/llama.cpp:light-cuda",
        "vllm.example/web:1",
        "house/vllmish:1",
    ],
)
def test_an_image_of_something_else(name: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.rolling, found.claims) == (None, None, False, {})


@together(
    "name, entrypoint",
    [
        ("vllm/vllm-openai:v0.20.0", ("vllm", "serve")),
        ("vllm/vllm-openai:v0.11.1", ("vllm", "serve")),
        ("vllm/vllm-openai:v0.11.0", OLDER),
        ("vllm/vllm-openai:v0.6.4.post1", OLDER),
        ("vllm/vllm-openai-cpu:v0.9.2", OLDER),
        ("vllm/vllm-openai:v0.11.1rc1", None),
        ("vllm/vllm-openai:latest", ("vllm", "serve")),
        ("vllm/vllm-openai:${TAG}", ("vllm", "serve")),
        ("vllm/vllm-openai-rocm:v0.20.0", ("vllm", "serve")),
        ("intel/vllm:0.10.2-xpu", None),
        ("nvcr.io/nvidia/vllm:26.05-py3", ()),
        ("nvcr.io#nvidia/vllm:26.05-py3", ()),
        ("ghcr.io/llm-d/llm-d-cuda:v0.3.0", None),
        ("openmmlab/lmdeploy:v0.10.0-cu12", ()),
        ("lmcache/vllm-openai:v0.3.9", ("vllm", "serve")),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda-b9180", ("llama-server",)),
        ("ghcr.io/huggingface/text-generation-inference:3.3.4", ("text-generation-launcher",)),
        ("ollama/ollama:0.12.3", ("ollama",)),
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
    found = identify(TracedText.at(source, 0, len(source.text)))
    assert found.claim.span == marks[0]
    assert found.claims["vllm"] is found.claim


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("nvcr.io/nvidia/vllm:25.10-py3", "0.10.2"),
        ("nvcr.io#nvidia/vllm:25.10-py3", "0.10.2"),
        ("mirror.example/nvcr/nvidia/vllm:25.10-py3", "0.10.2"),
        ("nvcr.io/nvidia/vllm:26.03-py3", "0.17.1"),
        ("nvcr.io/nvidia/vllm:26.05-py3", "0.20.1"),
        ("nvcr.io/nvidia/vllm:26.10-py3" + DIGEST, "0.31.0"),
    ],
)
def test_a_tag_whose_release_the_publisher_names(name: str, release: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.how, found.claim.rolling) == ("vllm", release, "image", False)
    assert found.claim.span is not None
    assert found.claim.span.text == name.partition(":")[2].partition("@")[0]
    assert release in known_releases("vllm")


@together(
    "name, engine, release",
    [
        ("rocm/vllm:rocm7.0.0_vllm_0.10.2_20251006", "vllm", "0.10.2"),
        ("rocm/vllm:rocm6.3.1_instinct_vllm0.8.3_20250415", "vllm", "0.8.3"),
        ("rocm/vllm:rocm7.14.0_cdna_ubuntu24.04_py3.14_pytorch_2.11.0_vllm_0.23.0", "vllm", "0.23.0"),
        ("rocm/vllm-dev:rocm6.4.1_vllm_0.9.0.1_20250605", "vllm", "0.9.0.1"),
        ("763104351884.dkr.ecr.eu-west-1.amazonaws.com/vllm:0.11.0-gpu-py312-cu128-ubuntu22.04-ec2-v1.0", "vllm", "0.11.0"),
        ("public.ecr.aws/deep-learning-containers/vllm:0.15-gpu-py312-ec2", "vllm", "0.15.1"),
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/sglang:0.5.5-gpu-py312", "sglang", "0.5.5"),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm-arm64:0.10.2-gpu-py312-ec2", "vllm", "0.10.2"),
        (
            "763104351884.dkr.ecr.us-east-1.amazonaws.com/huggingface-vllm:0.17.0-transformers4.57.5-gpu-py312-cu129",
            "vllm",
            "0.17.0",
        ),
        (
            "763104351884.dkr.ecr.us-east-1.amazonaws.com/huggingface-sglang:0.5.8-transformers4.57.3-gpu-py312",
            "sglang",
            "0.5.8",
        ),
        ("public.ecr.aws/deep-learning-containers/sglang:server-cuda-v1.2", "sglang", "0.5.14"),
        ("quay.io/ascend/vllm-ascend:v0.11.0", "vllm", "0.11.0"),
        ("quay.io/ascend/vllm-ascend:v0.11.0rc1", "vllm", "0.11.0"),
        ("quay.io/ascend/vllm-ascend:v0.8.5rc1-openeuler", "vllm", "0.8.5.post1"),
        ("kserve/huggingfaceserver:v0.15.2-gpu", "vllm", "0.8.5"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.1", "vllm", "0.12.0"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.0-cuda13", "vllm", "0.16.0"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.2", "vllm", "0.26.0"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.1", "vllm", "0.26.0"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.1.0-dev.1", "vllm", "0.17.1"),
        ("nvcr.io/nvidia/ai-dynamo/sglang-runtime:0.9.0", "sglang", "0.5.8"),
        ("nvcr.io/nvidia/ai-dynamo/sglang-runtime:0.9.1-cuda13", "sglang", "0.5.8"),
        ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.4.1", "trtllm", "1.3.0rc22"),
        ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.5.0", "trtllm", "1.3.0rc25"),
        ("registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.0.0", "vllm", "0.8.4"),
        ("registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.2.5-1766067105", "vllm", "0.11.2"),
        ("mirror.example/rhaiis/vllm-rocm-rhel9:3.3.0", "vllm", "0.13.0"),
        ("ghcr.io/llm-d/llm-d-cuda:v0.9.0", "vllm", "0.26.0"),
        ("ghcr.io/llm-d/llm-d-cuda:v0.7.0", "vllm", "0.19.1"),
        ("intel/llm-scaler-vllm:0.14.0-b8.3.1", "vllm", "0.14.0"),
        ("intel/llm-scaler-vllm:1.4", "vllm", "0.14.0"),
        ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.1.0", "trtllm", "1.3.0rc11"),
        ("nvcr.io/nvidia/tritonserver:25.08-trtllm-python-py3", "trtllm", "0.21.0"),
        ("ghcr.io/huggingface/tgi-gaudi:2.0.5", "tgi", "2.0.4"),
        ("ghcr.io/huggingface/neuronx-tgi:0.0.28", "tgi", "3.0.0"),
        ("intel/vllm:0.10.2-xpu", "vllm", "0.10.2"),
        ("scitrera/dgx-spark-vllm:0.14.0-t5", "vllm", "0.14.0"),
        ("docker.io/scitrera/dgx-spark-vllm:0.16.0rc2-t4", "vllm", "0.16.0rc2"),
        ("scitrera/dgx-spark-sglang:0.5.10", "sglang", "0.5.10"),
        ("ghcr.io/mostlygeek/llama-swap:v245-vulkan-b10200", "llama.cpp", "b10200"),
        ("ghcr.io/mostlygeek/llama-swap:v175-cuda-b7007-non-root", "llama.cpp", "b7007"),
        ("docker.io/mixa3607/vllm-gfx906:0.11.0-rocm-6.3.3-nlzy", "vllm", "0.11.0"),
        ("mixa3607/llama.cpp-gfx906:full-b8667-rocm-6.3.3-20260405173349", "llama.cpp", "b8667"),
        ("rocm/llama.cpp:llama.cpp-b6356_rocm6.4.3_ubuntu24.04_server", "llama.cpp", "b6356"),
        ("example/llama-server:b9180", "llama.cpp", "b9180"),
        ("images/vllm-openai_v0.19.1.sif", "vllm", "0.19.1"),
        ("vllm+vllm-openai+v0.19.1.sqsh", "vllm", "0.19.1"),
        ("/images/lmsysorg+sglang+v0.5.5.sqsh", "sglang", "0.5.5"),
        ("vllm-0.19.1.sif", "vllm", "0.19.1"),
        ("/x/vllm0.12_cu131_py3.12_arm_custom.sif", "vllm", "0.12.0"),
        ("sglang0.5.6.post2-cuda12.simg", "sglang", "0.5.6.post2"),
    ],
)
def test_a_tag_that_carries_the_release_elsewhere(name: str, engine: str, release: str) -> None:
    found = image(name)
    assert (found.engine, found.claim.release, found.claim.how, found.claim.rolling) == (engine, release, "image", False)
    assert found.house


@together(
    "name", ["vllm-0.9_x.sif", "vllm-cuda12.4.sif", "vllm_py3.12.sif", "sglang-torch2.8.0.sif", "my-vllm.sif", "a/vllm.sif"]
)
def test_a_file_of_an_image_that_says_no_release(name: str) -> None:
    """A series with several releases says none of them."""
    assert (image(name).engine in (None, "vllm", "sglang"), image(name).claim.release) == (True, None)


@pytest.mark.parametrize(
    "name", ["nvcr.io/nvidia/tritonserver:25.08-py3", "123456789012.dkr.ecr.us-east-1.amazonaws.com/web:1"]
)
def test_an_image_of_the_same_publisher(name: str) -> None:
    assert image(name).engine is None


def test_every_family_names_a_source() -> None:
    families = [family for engine in ENGINES.values() for family in engine.images]
    assert len({family.repository for family in families}) == len(families)
    assert all(family.source.startswith("https://") for family in families)
    tables = json.loads(Path(ENGINES["vllm"].data, "images.json").read_text("utf-8"))
    engines = {family.repository: engine.id for engine in ENGINES.values() for family in engine.images if family.own_tags}
    for repository, table in tables.items():
        assert table["source"].startswith("https://")
        assert engines[repository] == table["engine"]
        assert all(release_key(release) is not None for release in table["releases"].values())


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_every_release_that_is_known_is_read_from_a_tag(engine: str) -> None:
    repository = {"vllm": "vllm/vllm-openai", "sglang": "lmsysorg/sglang"}[engine]
    tags = {release: image(f"{repository}:v{release}-cu129").claim.release for release in known_releases(engine)}
    assert tags == {release: release for release in known_releases(engine)}


@together(
    "name, release",
    [
        ("public.ecr.aws/neuron/pytorch-inference-vllm-neuronx:0.9.1-neuronx-py311-sdk2.26.0-ubuntu22.04", "0.9.1"),
        ("public.ecr.aws/neuron/pytorch-inference-vllm-neuronx:0.13.0-neuron-py312-sdk2.27.1", "0.13.0"),
        ("public.ecr.aws/neuron/pytorch-inference-vllm-neuronx:latest", None),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:0.11.2-gpu-py312-cu129-ubuntu22.04-ec2", "0.11.2"),
        ("REGISTRY/ecr-public/deep-learning-containers/vllm:0.13-gpu-py312-ec2", "0.13.0"),
        ("public.ecr.aws/deep-learning-containers/vllm:0.11-gpu-py312", "0.11.2"),
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/vllm:0.11-gpu-py312-cu129-ubuntu22.04-sagemaker-v1", "0.11.2"),
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/vllm:0.11-gpu-py312-cu128-ubuntu22.04-ec2-v1", None),  # 0.11.0 or later
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/vllm:0.20-gpu-py312-cu130-ubuntu22.04-ec2-v1", "0.20.2"),
        ("public.ecr.aws/deep-learning-containers/vllm:server-cuda-v2.2", "0.26.0"),
        ("public.ecr.aws/deep-learning-containers/vllm:server-cuda-v2.4", "0.27.1"),
        ("public.ecr.aws/deep-learning-containers/vllm:server-sagemaker-cuda-v2.6", "0.30.0"),
        ("public.ecr.aws/deep-learning-containers/vllm:0.28-gpu-py312-cu130-ubuntu24.04-sagemaker-v1", "0.28.0"),
        ("public.ecr.aws/deep-learning-containers/vllm:0.31-gpu-py312-ec2", "0.31.0"),
        ("public.ecr.aws/deep-learning-containers/vllm:server-cuda-v2.0", None),  # of a commit before 0.22.1
    ],
)
def test_tags_of_aws(name: str, release: str | None) -> None:
    found = image(name)
    assert (found.engine, found.claim.release) == ("vllm", release)


@pytest.mark.parametrize(
    ("tag", "until"),
    [("deepseek-v4-hopper", "0.5.16"), ("deepseek-v4-grace-blackwell-dev", "0.5.16"), ("latest", ""), ("v0.5.23", "")],
)
def test_an_image_of_a_branch_is_no_newer_than_its_last_build(tag: str, until: str) -> None:
    found = identify(TracedText.of(f"docker.io/lmsysorg/sglang:{tag}"))
    assert (found.until, found.engine) == (until, "sglang")


@pytest.mark.parametrize(
    ("tag", "program"),
    [
        ("3.3.5-llamacpp", "text-generation-router-llamacpp"),
        ("latest-trtllm", "text-generation-backends-trtllm"),
        ("3.3.5-gaudi", "text-generation-launcher"),
    ],
)
def test_images_of_one_repository_may_start_other_programs(tag: str, program: str) -> None:
    found = identify(TracedText.of(f"ghcr.io/huggingface/text-generation-inference:{tag}"))
    assert (found.engine, found.entrypoint) == ("tgi", (program,))


@pytest.mark.parametrize(
    ("tag", "release"), [("2.4", "2.4.1"), ("2.4-rocm", "2.4.1"), ("3.3-gaudi", "3.3.7"), ("3.3-mine", None)]
)
def test_a_tag_of_two_numbers_is_moved_to_the_newest_release(tag: str, release: str | None) -> None:
    image = identify(TracedText.of(f"ghcr.io/huggingface/text-generation-inference:{tag}"))
    assert (image.engine, image.claim.release) == ("tgi", release)


@pytest.mark.parametrize(
    ("name", "engine", "release"),
    [
        ("huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311", "tgi", "2.3.1"),
        ("gcr.io/huggingface-text-generation-inference-cu121.2-1.ubuntu2204.py310", "tgi", "2.1.1"),
        ("gcr.io/huggingface-text-generation-inference-cu118.0-5.ubuntu2204.py310", "tgi", None),
        ("gcr.io/huggingface-text-generation-inference-cu121.1-4.ubuntu2204.py310", "tgi", "1.4.5"),
        ("vertex-model-garden/vllm-inference.cu121.0-9.ubuntu2204.py310", "vllm", "0.9.2"),
        ("pytorch-inference-cu121.2-3.ubuntu2204.py310", None, None),
    ],
)
def test_an_image_of_google_names_the_series(name: str, engine: str | None, release: str | None) -> None:
    found = image(f"us-docker.pkg.dev/deeplearning-platform-release/{name}")
    assert (found.engine, found.claim.release, found.claim.rolling) == (engine, release, False)


@together(
    "name, engine, release",
    [
        ("nvcr.io/nim/meta/llama-3.1-8b-instruct:2.0.1", "vllm", "0.17.1"),
        ("nvcr.io/nim/openai/gpt-oss-120b:2.0.9", "vllm", "0.25.1"),
        ("nvcr.io/nim/nvidia/model-free-nim:2.0.10", "vllm", "0.26.0"),
        ("nvcr.io/nim/nvidia/vllm-model-free-nim:2.1.6", "vllm", "0.32.0"),
        ("nvcr.io/nim/nvidia/sglang-model-free-nim:2.1.6", "sglang", "0.5.22"),
        ("nvcr.io/nim/nvidia/model-free-nim:2.1.6", None, None),
        ("registry.example/nim/nvidia/vllm-model-free-nim:2.1.6", "vllm", None),
        ("nvcr.io/nvidia/vllm:25.12-py3", "vllm", "0.11.1"),
        ("nvcr.io/nvidia/vllm:25.11-py3", "vllm", "0.11.0"),
        ("nvcr.io/nvidia/vllm:26.01-py3", "vllm", "0.13.0"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0-dev.1", "vllm", "0.22.0"),
        ("nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.3.0-dev.1", "sglang", "0.5.12.post1"),
        ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.3.0-dev.1", "trtllm", "1.3.0rc17"),
        # a release of NIM whose notes name no release of vLLM
        ("nvcr.io/nim/openai/gpt-oss-120b:2.0.99", "vllm", None),
        # several engines in one image, of which a profile chooses one
        ("nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.4", None, None),
        ("nvcr.io/nim/meta/llama-3.1-8b-instruct:2.1.5", None, None),
        ("nvcr.io/nim/nvidia/riva-asr:2.0.1", None, None),
        ("registry.example/nim/meta/llama-3.1-8b-instruct:2.0.1", None, None),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.34.0-lmi16.0.0-cu128", "vllm", "0.10.2"),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.36.0-lmi20.0.0-cu128-v1.0", "vllm", "0.15.1"),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.36.0-lmi24.0.0-cu129", "vllm", "0.19.0"),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.36.0-lmi99.0.0-cu128", "vllm", None),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.31.0-lmi13.0.0-cu124", None, None),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.33.0-tensorrtllm0.21.0-cu128", None, None),
        ("registry.example/djl-inference:0.34.0-lmi16.0.0-cu128", None, None),
        ("deepjavalibrary/djl-serving:0.36.0-lmi", "vllm", None),
        ("deepjavalibrary/djl-serving:0.36.0-cpu", None, None),
        ("mcr.microsoft.com/aks/kaito/kaito-base:0.2.2", "vllm", "0.14.1"),
        ("mcr.microsoft.com/aks/kaito/kaito-base:0.2.1", "vllm", "0.12.0"),
        ("mcr.microsoft.com/aks/kaito/kaito-base:0.4.2", "vllm", "0.22.1"),
        ("mcr.microsoft.com/aks/kaito/kaito-base:0.5.0", "vllm", None),
    ],
)
def test_an_image_holds_the_release_that_its_notes_name(name: str, engine: str | None, release: str | None) -> None:
    found = image(name)
    assert (found.engine, found.claim.release) == (engine, release)


def test_a_copy_of_an_image_that_needs_no_words_starts_the_server() -> None:
    for name in ("ollama", "ollama-ubi9"):
        found = image(f"registry.example/container-images/{name}:0.16.3")
        assert (found.entrypoint, found.command, found.house) == (("ollama",), ("serve",), True)
        assert found.claim.release == "0.16.3"


def test_what_the_image_of_a_branch_starts_is_not_known() -> None:
    assert image("vllm/vllm-tpu:v0.11.1").entrypoint == image("vllm/vllm-tpu:nightly").entrypoint == ()
    assert image("vllm/vllm-tpu:gemma4").entrypoint is None
