from __future__ import annotations

from servelint.core.text import HOLE
from servelint.engines.products import PRODUCTS, product
from tests.together import together


@together(
    "image, name",
    [
        ("nvcr.io/nim/meta/llama3-8b-instruct:1.0.3", "NVIDIA NIM"),
        ("nvcr.io/nim/nvidia/llama-3.1-nemotron-70b-instruct:latest", "NVIDIA NIM"),
        ("mirror.example/nvcr.io/nim/mistralai/mixtral-8x7b-instruct-v01:1.2", "NVIDIA NIM"),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.27.0-deepspeed0.12.6-cu121", "DJL Serving"),
        (HOLE + "/djl-inference:0.29.0-tensorrtllm0.11.0-cu124", "DJL Serving"),
        (
            "mcr.microsoft.com/azureml/curated/foundation-model-inference:85",
            "the model inference of Azure ML",
        ),
        ("runpod/worker-v1-vllm:v2.7.0stable-cuda12.1.0", "RunPod's vLLM worker"),
        ("nvcr.io/nvidia/tritonserver:25.08-vllm-python-py3", "Triton's vLLM backend"),
        ("vllm/vllm-omni:v0.20.0", "vLLM-Omni"),
        ("alpindale/aphrodite-openai", "Aphrodite Engine"),
        ("ghcr.io/theroyallab/tabbyapi:latest", "TabbyAPI"),
        ("ghcr.io/huggingface/text-embeddings-inference:cpu-1.7", "Text Embeddings Inference"),
        ("ghcr.io/predibase/lorax:main", "LoRAX"),
        ("registry.example:5000/xprobe/xinference:v1.5.0@sha256:00", "Xinference"),
        ("quay.io/go-skynet/local-ai:latest", "LocalAI"),
        ("localai/localai:latest-aio-gpu-nvidia-cuda-12", "LocalAI"),
        ("gpustack/gpustack:v0.7", "GPUStack"),
        ("michaelf34/infinity:0.0.77", "Infinity"),
        ("koboldai/koboldcpp:latest", "KoboldCpp"),
        ("openvino/model_server:latest-gpu", "OpenVINO Model Server"),
        ("modular/max-nvidia-full:25.6", "MAX"),
    ],
)
def test_an_image_of_a_product_that_serves_models(image: str, name: str) -> None:
    found = product(image)
    assert found is not None
    assert found.name == name
    assert any(word in image.lower() for word in found.words)


@together(
    "image",
    [
        "",
        HOLE,
        "nginx:1.27",
        "nvcr.io/nim/nvidia/nv-embedqa-e5-v5:1.0.1",
        "nvcr.io/nim/nvidia/llama-3.2-nv-rerankqa-1b-v2:1.3",
        "nvcr.io/nim/nvidia/parakeet-ctc-1.1b-asr:1.0",
        "nvcr.io/nim/baidu/paddleocr:1.0",
        "nvcr.io/nvidia/tritonserver:25.08-py3",
        "house/my-djl-inference:1",
        "house/localai-proxy:1",
        "gpustack/gpustack-ui:1",
        "vllm/vllm-openai:v0.20.0",
    ],
)
def test_another_image(image: str) -> None:
    assert product(image) is None


def test_every_product_names_a_source() -> None:
    assert all(one.source.startswith("https://") for one in PRODUCTS)
    assert len({one.name for one in PRODUCTS}) == len(PRODUCTS)
