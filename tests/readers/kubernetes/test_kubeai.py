"""KubeAI's `Model`."""

from __future__ import annotations

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release


def model(spec: str) -> str:
    lines = [f"  {line}" for line in spec.strip().splitlines()]
    return "\n".join(["apiVersion: kubeai.org/v1", "kind: Model", "metadata: {name: chat}", "spec:", *lines, ""])


def launch_of(spec: str) -> Launch:
    return launch_in(model(spec), "model.yaml")


def test_flags_as_given_behind_the_operators_own() -> None:
    launch, marks = marked_launch(
        model(
            "engine: VLLM\nurl: hf://⟦Qwen/Qwen3-8B⟧\nargs:\n  - ⟦--max-model-len=4096⟧\n"
            "env: {VLLM_USE_V1: '1'}\nresourceProfile: nvidia-gpu-l4:2"
        ),
        "model.yaml",
    )
    assert argv(launch) == ["--model=Qwen/Qwen3-8B", "--served-model-name=chat", "--max-model-len=4096"]
    assert [launch.argv[0].text.span(8), launch.argv[2].text.span()] == marks
    assert environment(launch) == {"VLLM_USE_V1": "1"}
    assert launch.name == "Model/chat"
    assert release(launch) == (None, None)
    assert launch.container is not None
    assert (launch.container.gpus, launch.container.reserved) == (2, True)
    assert launch.container.settings["gpu_product"].value == "nvidia-gpu-l4"


def test_an_image_of_its_own() -> None:
    assert release(launch_of("engine: VLLM\nurl: hf://a/b\nimage: vllm/vllm-openai:v0.20.0")) == ("0.20.0", "image")


@pytest.mark.parametrize("source", ["url: s3://bucket/m", "url: pvc://claim/m", "url: hf://a/b\ncacheProfile: fast"])
def test_a_model_that_lies_in_the_cluster(source: str) -> None:
    launch = launch_of(f"engine: VLLM\n{source}")
    assert launch.argv[0].value is None


def test_a_profile_without_a_known_gpu() -> None:
    launch = launch_of("engine: VLLM\nurl: hf://a/b\nresourceProfile: cpu:4")
    assert launch.container is not None
    assert (launch.container.gpus, launch.container.reserved, launch.container.settings) == (None, None, {})


@pytest.mark.parametrize(
    "spec", ["engine: OLlama\nurl: ollama://vllm", "engine: Infinity\nurl: hf://vllm/x", "engine: VLLM", "url: hf://vllm/x"]
)
def test_what_is_no_launch(spec: str) -> None:
    assert launches_in(model(spec), "model.yaml") == []


def test_a_model_of_somebody_else() -> None:
    assert launches_in(model("engine: VLLM\nurl: hf://a/b").replace("kubeai.org", "example.org"), "model.yaml") == []
