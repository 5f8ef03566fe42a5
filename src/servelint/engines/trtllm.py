"""TensorRT-LLM: its record."""

from __future__ import annotations

from servelint.engines.registry import TRITON, Dialect, Engine, ImageFamily, Launcher, Start

_TRITON = "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/introduction/compatibility.html"


class TensorRTLLM(Engine):
    """TensorRT-LLM."""

    id, name = "trtllm", "TensorRT-LLM"

    source_url = "https://github.com/NVIDIA/TensorRT-LLM/blob/v{release}/{path}"
    documentation = "https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve/trtllm-serve.html"
    distributions = ("tensorrt-llm", "tensorrt_llm")
    python_package = "tensorrt_llm"
    harvested_since = "0.18.2"

    command = ("trtllm-serve", "serve")
    starts = (
        Start(
            programs=("trtllm-serve",),
            modules=("tensorrt_llm.commands.serve",),
            optional_verb="serve",
            other_verbs=("disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve", "embeddings"),
            by_file=("disaggregated", "disaggregated_mpi_worker"),
        ),
        Start(modules=("dynamo.trtllm",), launcher="dynamo"),
    )
    launchers = {
        "dynamo": Launcher(
            "https://docs.nvidia.com/dynamo/backends/trt-llm",
            own=(
                *("endpoint", "namespace", "served-model-name", "disaggregation-mode", "modality", "migration-limit"),
                *("override-engine-args", "trtllm", "disaggregation-strategy", "next-endpoint", "encode-endpoint"),
                *("request-plane", "event-plane", "discovery-backend", "store-kv", "enable-local-indexer"),
            ),
            switches=("use-nixl-connect", "durable-kv-events", "disable-request-abort"),
            same={"model-path": "model", "extra-engine-args": "extra_llm_api_options"},
            # trtllm/utils/trtllm_utils.py, trtllm/backend_args.py and common/ of ai-dynamo 0.4.0 to 1.6.1
            values={
                "disaggregation-mode": ("agg", "prefill", "decode", "encode", "pd", "prefill_and_decode"),
                "disaggregation-strategy": ("prefill_first", "decode_first"),
                "modality": ("text", "multimodal", "video_diffusion", "image_diffusion"),
                "enable-local-indexer": ("true", "false"),
                "request-plane": ("tcp", "nats", "http"),
                "event-plane": ("nats", "zmq"),
                "discovery-backend": ("kubernetes", "etcd", "file", "mem"),
            },
        ),
    }

    images = (
        ImageFamily("nvidia/tensorrt-llm/release", "https://nvidia.github.io/TensorRT-LLM/quick-start-guide.html"),
        ImageFamily(
            "ai-dynamo/tensorrtllm-runtime",
            "https://catalog.ngc.nvidia.com/orgs/nvidia/teams/ai-dynamo/containers/tensorrtllm-runtime",
            own_tags=True,
        ),
        ImageFamily(
            "nvidia/tritonserver",
            _TRITON,
            entrypoint=(),  # Triton's own server is in it as well
            without=r"^(?!.*trtllm)",
            own_tags=True,
        ),
    )
    image_names = r"tensorrt-llm|trtllm"

    words = (b"trtllm", b"tensorrt-llm", b"tensorrt_llm", b"tensorrtllm", b"launch_triton_server")
    stems = ("trtllm", "tensorrt")
    platforms = {"dynamo": "trtllm", "llmaz": "tensorrt-llm"}

    dialect = Dialect("model", abbreviations=False, next_word=True, last=True)  # click
    # https://github.com/triton-inference-server/tensorrtllm_backend
    other_servers = TRITON
    classes = r"(?<!def )\b(?:\w+\.)?LLM\("
    object_files = (("--config", "--extra_llm_api_options", "--extra-engine-args"), "_autodeploy")
    fields_checked_since = "0.21.0"  # the first release whose classes are known
    value_kinds_of_options = {
        "config.speculative_config.decoding_type": ("decoding-types", ""),
        "reasoning-parser": ("reasoning-parsers", ""),
        "tool-parser": ("tool-call-parsers", ""),
    }

    variables = ("TLLM_", "TRTLLM_")
    argument_variables = ("TRTLLM",)

    port = 8000  # tensorrt_llm/commands/serve.py
    loopback = True  # the same file: the default of --host is localhost
    asks_for_no_key = True
    starts_slowly = True
    model_cache = "/root/.cache/huggingface"
    needs_gpu = True
    rank_operands = ("tensor-parallel-size", "pipeline-parallel-size", "context-parallel-size")
    uncounted_operands = ("config", "gpus-per-node")
    counts_gpus = True
    roles = ("server-role", {"context": "prefill", "generation": "decode", "CONTEXT": "prefill", "GENERATION": "decode"})
    ranks_share_memory = True

    tensor_parallel_option = "tensor-parallel-size"
    context_option = "max-seq-len"
    requests_option = "max-batch-size"
    plans_memory = True

    samples = (
        ("nvcr.io/nvidia/tensorrt-llm/release:1.0.0", ("trtllm-serve", "serve"), ("Qwen/Qwen3-8B", "--tp_size", "2", "--no")),
    )


ENGINE = TensorRTLLM()
