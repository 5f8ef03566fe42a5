"""Images of products that hold an engine behind a program of their own, whose launches servelint does not judge."""

from __future__ import annotations

import re
from functools import lru_cache


class Product:
    """A product whose images serve models.

    Attributes:
        name: as its developers write it.
        image: pattern of the end of the repository's name.
        words: parts of the name, in lower case, one of which every such image has; given with spaces between them.
        why: what keeps a launch from being judged, as the rest of a sentence that begins with the product's name.
        source: address of the page or file that says it.
        tags: pattern of the tags, "" for all.
    """

    __slots__ = ("image", "name", "source", "tags", "why", "words")

    def __init__(self, name: str, image: str, words: str, why: str, source: str, tags: str = "") -> None:
        self.name = name
        self.image = image
        self.words = words.split()
        self.why = why
        self.source = source
        self.tags = tags


_OF_ITS_OWN = "has an engine and options of its own"

PRODUCTS = (
    # what the makers call NIM for retrieval, speech and vision has other engines
    Product(
        "NVIDIA NIM",
        r"nvcr\.io/nim/(?!nvidia/(?:riva|parakeet|maxine|magpie|nv-?(?:embed|rerank|clip|ingest)|nemo(?:retriever|guard)|llama-\S*"
        r"(?:embed|rerank|guard)))(?:meta|mistralai|mistral-?ai|microsoft|google|qwen|openai|deepseek-ai|ibm|bigcode|moonshotai"
        r"|minimaxai|zai-org|nvidia|tokyotech-llm|upstage|databricks|01-ai|writer|nv-mistralai|rakuten|yentinglin|speakleash"
        r"|institute-of-science-tokyo|igenius|marin|sarvamai|stockmark|utter-project|gotocompany)/[\w.-]+",
        "nvcr.io/nim/",
        "chooses an engine when it starts (vLLM, TensorRT-LLM or SGLang), and sets most options itself",
        "https://docs.nvidia.com/nim/large-language-models/1.12.0/profiles.html",
    ),
    Product(
        "DJL Serving",
        r"(?:djl-inference|deepjavalibrary/djl-serving)",
        "djl-",
        "chooses an engine by serving.properties and its variables",
        "https://github.com/deepjavalibrary/djl-serving/blob/master/serving/docs/lmi/README.md",
    ),
    Product(
        "the model inference of Azure ML",
        r"azureml/curated/foundation-model-inference",
        "foundation-model-inference",
        "starts vLLM with arguments that it makes itself",
        "https://github.com/Azure/azureml-assets",
    ),
    Product(
        "RunPod's vLLM worker",
        r"runpod/worker-(?:v1-)?vllm",
        "runpod/worker-",
        "starts vLLM with arguments that it makes of its variables",
        "https://github.com/runpod-workers/worker-vllm/blob/main/README.md",
    ),
    Product(
        "Triton's vLLM backend",
        r"nvidia/tritonserver",
        "tritonserver",
        "reads vLLM's arguments from model.json in the model repository",
        "https://github.com/triton-inference-server/vllm_backend/blob/main/README.md",
        tags="vllm",
    ),
    Product(
        "vLLM-Omni",
        r"vllm/vllm-omni(?:-rocm)?",
        "vllm-omni",
        "adds options that servelint does not know to those of vLLM",
        "https://github.com/vllm-project/vllm-omni/blob/v0.14.0/vllm_omni/entrypoints/cli/serve.py",
    ),
    Product(
        "Aphrodite Engine",
        r"alpindale/aphrodite-(?:openai|engine)",
        "alpindale/aphrodite",
        "is a fork of vLLM whose options servelint does not know",
        "https://github.com/aphrodite-engine/aphrodite-engine",
    ),
    Product(
        "TabbyAPI", r"theroyallab/tabbyapi", "theroyallab/tabbyapi", _OF_ITS_OWN, "https://github.com/theroyallab/tabbyAPI"
    ),
    Product(
        "Text Embeddings Inference",
        r"huggingface/text-embeddings-inference",
        "text-embeddings-inference",
        _OF_ITS_OWN,
        "https://github.com/huggingface/text-embeddings-inference",
    ),
    Product(
        "LoRAX",
        r"predibase/lorax",
        "predibase/lorax",
        "is a fork of TGI whose options servelint does not know",
        "https://github.com/predibase/lorax",
    ),
    Product(
        "Xinference",
        r"xprobe/xinference",
        "xprobe/xinference",
        "starts an engine for each model that it is asked for",
        "https://inference.readthedocs.io/en/latest/getting_started/using_docker_image.html",
    ),
    Product(
        "LocalAI",
        r"(?:localai/localai|go-skynet/local-ai)",
        "localai/localai local-ai",
        "starts an engine for each model of its configuration",
        "https://localai.io/basics/container/",
    ),
    Product(
        "GPUStack",
        r"gpustack/gpustack",
        "gpustack/gpustack",
        "starts an engine for each model that is deployed in it",
        "https://docs.gpustack.ai/latest/quickstart/",
    ),
    Product("Infinity", r"michaelf34/infinity", "michaelf34/infinity", _OF_ITS_OWN, "https://github.com/michaelfeil/infinity"),
    Product(
        "KoboldCpp",
        r"koboldai/koboldcpp",
        "koboldai/koboldcpp",
        "is a fork of llama.cpp with options of its own",
        "https://github.com/LostRuins/koboldcpp",
    ),
    Product(
        "OpenVINO Model Server",
        r"openvino/model_server",
        "openvino/model_server",
        _OF_ITS_OWN,
        "https://docs.openvino.ai/2026/model-server/ovms_what_is_openvino_model_server.html",
    ),
    Product(
        "MAX",
        r"modular/max-(?:nvidia|amd|full|openai-api)[\w-]*",
        "modular/max-",
        _OF_ITS_OWN,
        "https://docs.modular.com/max/container/",
    ),
)


@lru_cache(maxsize=64)
def product(name: str) -> Product | None:
    """Return the product that an image holds. name: as a file writes it, with a HOLE for each unknown part."""
    whole, _, _digest = name.partition("@")
    cut = whole.rfind(":", whole.rfind("/") + 1)
    repository, tag = (whole, "") if cut == -1 else (whole[:cut], whole[cut + 1 :])
    for one in PRODUCTS:
        if (
            re.search(rf"(?:^|[^\w.-]){one.image}$", repository, re.IGNORECASE) is not None
            and re.search(one.tags, tag) is not None
        ):
            return one
    return None
