"""Text Generation Inference: its record."""

from __future__ import annotations

from servelint.engines.registry import Dialect, Engine, EntryPoint, ImageFamily, Launcher, Start

_LAUNCHER = (EntryPoint("text-generation-launcher"),)
_LLAMACPP = "text-generation-router-llamacpp"
_TRTLLM = "text-generation-backends-trtllm"  # its image has it under the launcher's name
_OF_TGIS = (
    *(
        "model-name",
        "deployment-framework",
        "dtype-str",
        "max-sequence-length",
        "max-new-tokens",
        "max-batch-weight",
        "grpc-port",
    ),
    *("max-prefill-weight", "max-prefill-padding", "tls-cert-path", "tls-key-path", "tls-client-ca-cert-path"),
    *("default-include-stop-seqs", "cuda-process-memory-fraction"),
)
_OF_PYTHON_SHARDS = (
    *("api-key", "cuda-graphs", "cuda-memory-fraction", "disable-custom-kernels", "dtype", "enable-prefill-logprobs", "env"),
    *("graceful-termination-timeout", "huggingface-hub-cache", "kv-cache-dtype", "lora-adapters", "master-addr", "master-port"),
    *("max-input-length", "max-waiting-tokens", "ngrok", "ngrok-authtoken", "ngrok-edge", "num-shard", "quantize"),
    *("rope-factor", "rope-scaling", "shard-uds-path", "sharded", "speculate", "trust-remote-code", "waiting-served-ratio"),
    *("watermark-delta", "watermark-gamma", "weights-cache-override"),
)


class TGI(Engine):
    """Text Generation Inference."""

    id, name = "tgi", "TGI"

    wheels = ("text_generation_server",)
    harvested_since = "0.8.0"
    unpinned_since = "2.0.0"  # April 2024
    source_tag = "v{}"
    source_url = "https://github.com/huggingface/text-generation-inference/blob/v{release}/{path}"
    documentation = "https://huggingface.co/docs/text-generation-inference/reference/launcher"

    command = ("text-generation-launcher",)
    starts = (
        Start(programs=("text-generation-launcher",)),
        Start(programs=(_LLAMACPP,), launcher="llamacpp"),
        Start(programs=(_TRTLLM,), launcher="trtllm"),
    )
    launchers = {
        # a fork with a program of the same name, in the images of Open Data Hub and OpenShift AI
        "tgis": Launcher(
            "https://github.com/IBM/text-generation-inference/blob/main/launcher/src/main.rs",
            own=_OF_TGIS,
            switches=("output-special-tokens",),
            marks=(*_OF_TGIS, "output-special-tokens"),
            lacks=(
                "model-id",
                "max-total-tokens",
                "max-input-tokens",
                "max-input-length",
                "max-batch-prefill-tokens",
                "hostname",
            ),
            fork=True,
        ),
        "llamacpp": Launcher(
            "https://github.com/huggingface/text-generation-inference/blob/v3.3.7/backends/llamacpp/src/main.rs",
            own=(
                *("n-threads", "n-threads-batch", "n-gpu-layers", "split-mode", "numa", "type-k", "type-v", "model-gguf"),
                *("max-physical-batch-total-tokens", "defrag-threshold", "max-image-fetch-size"),
            ),
            switches=("disable-mmap", "use-mlock", "disable-offload-kqv", "disable-flash-attention"),
            lacks=(*_OF_PYTHON_SHARDS, "max-batch-prefill-tokens", "max-best-of", "max-stop-sequences", "max-top-n-tokens"),
        ),
        "trtllm": Launcher(
            "https://github.com/huggingface/text-generation-inference/blob/v3.3.7/backends/trtllm/src/main.rs",
            own=("executor-worker", "tokenizer-name", "auth-token", "max-image-fetch-size"),
            marks=("executor-worker", "tokenizer-name"),
            lacks=(*_OF_PYTHON_SHARDS, "disable-grammar-support", "max-batch-size"),
            required=("tokenizer-name", "executor-worker"),
        ),
    }

    images = (
        ImageFamily(
            "huggingface/text-generation-inference",
            "https://huggingface.co/docs/text-generation-inference/quicktour",
            entrypoint=_LAUNCHER,
            builds=r"rocm|intel-(?:cpu|xpu)|gaudi|neuron|llamacpp|trtllm",
            programs={"llamacpp": EntryPoint(_LLAMACPP), "trtllm": EntryPoint(_TRTLLM)},
            minor_tags=True,  # .github/workflows/build.yaml
        ),
        ImageFamily(
            "huggingface/neuronx-tgi", "https://github.com/huggingface/optimum-neuron", entrypoint=_LAUNCHER, own_tags=True
        ),
        ImageFamily(
            "huggingface-pytorch-tgi-inference",
            "https://github.com/aws/deep-learning-containers/blob/master/available_images.md",
            entrypoint=(),
            own_tags=True,
            tags=r"(?:^|-)tgi(?P<release>\d+\.\d+\.\d+)(?:-|$)",
        ),
        ImageFamily("huggingface/tgi-gaudi", "https://github.com/huggingface/tgi-gaudi", entrypoint=_LAUNCHER, own_tags=True),
    )
    image_names = r"text-generation-inference|(?<![-_.])tgi"
    model_variables = ("MODEL_ID",)

    words = (
        *(b"text-generation-launcher", b"text-generation-inference", b"text-generation-router", b"neuronx-tgi", b"tgi-gaudi"),
        *(b"tgi-inference", b"text-generation-backends", b"tgi.sif", b"/tgi"),
    )
    stems = ("text-generation", "tgi")
    platforms = {"llmaz": "tgi", "llmkube": "tgi"}

    dialect = Dialect(abbreviations=False, attached=True, once=True)  # clap

    option_variables = True
    argument_variables = ("TGI",)

    port = 3000  # launcher/src/main.rs
    tls_operands = ()
    checks_no_health = True
    image_port = 80  # the Dockerfile of text-generation-inference
    port_variables = ("PORT",)
    host_option = "hostname"
    api_key_operands = ("api-key", "env.API_KEY")
    api_key_variables = ("API_KEY",)
    starts_slowly = True
    model_cache = "/data"
    needs_gpu = True
    rank_operands = ("num-shard",)
    ranks_share_memory = True
    model_option = "model-id"
    tensor_parallel_option = "num-shard"

    samples = (("ghcr.io/huggingface/text-generation-inference:3.3.4", (), ("--model-id", "Qwen/Qwen3-8B", "--port", "x")),)


ENGINE = TGI()
