"""vLLM: its record, its conversions of values (`conversions`), and what it makes of its settings (`facts`)."""

from __future__ import annotations

from servelint.engines.registry import Dialect, Engine, EntryPoint, ImageFamily, Start

_MAKERS = (
    EntryPoint("python3", "-m", "vllm.entrypoints.openai.api_server", until="0.11.0"),
    EntryPoint("vllm", "serve", since="0.11.1"),
)
_SERVE = (EntryPoint("vllm", "serve"),)
_NOTES = "https://docs.nvidia.com/deeplearning/frameworks/vllm-release-notes/"
_SAMPLE = (
    "Qwen/Qwen3-8B", "--served-model-name", "a", "--port", "8000", "--tensor-parallel-size", "2", "--max-num-seqs", "64",
    "--gpu-memory-utilization", "0.9", "--max-num-batched-tokens", "8192", "--kv-cache-dtype", "fp8", "--max-model-len", "8192",
    "--enable-prefix-caching", "--enable-auto-tool-choice", "--tool-call-parser", "hermes", "--seed", "0",
)  # fmt: skip
_DRAFTS = '--speculative-config \'{"method": "ngram", "num_speculative_tokens": 4}\''


class VLLM(Engine):
    """vLLM."""

    id, name = "vllm", "vLLM"
    parts = ("facts",)

    distributions = ("vllm",)
    python_package = "vllm"
    harvested_since = "0.6.0"

    command = ("vllm", "serve")
    starts = (
        Start("serve", programs=("vllm",), modules=("vllm", "vllm.entrypoints.cli.main")),
        Start(
            modules=("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"),
            scripts=("vllm/entrypoints/openai/api_server.py",),
            takes_model=False,
        ),
    )

    images = (
        ImageFamily(
            "vllm/vllm-openai",
            "https://github.com/vllm-project/vllm/blob/v0.11.1/docker/Dockerfile",
            suffixes=("-cpu", "-xpu", "-arm64"),
            entrypoint=_MAKERS,
        ),
        ImageFamily(
            "vllm/vllm-openai-rocm",
            "https://github.com/vllm-project/vllm/blob/v0.14.0/docker/Dockerfile.rocm",
            entrypoint=_SERVE,
        ),
        ImageFamily(
            "q9t5s3a7/vllm-cpu-release-repo",
            "https://docs.vllm.ai/en/latest/getting_started/installation/cpu.html",
            entrypoint=_MAKERS,
        ),
        ImageFamily(
            "q9t5s3a7/vllm-arm64-cpu-release-repo",
            "https://docs.vllm.ai/en/latest/getting_started/installation/cpu.html",
            entrypoint=_MAKERS,
        ),
        ImageFamily(
            "q9t5s3a7/vllm-release-repo",
            "https://docs.vllm.ai/en/latest/deployment/docker.html",
            entrypoint=_SERVE,
            own_tags=True,
        ),
        ImageFamily(
            "q9t5s3a7/vllm-ci-postmerge-repo",
            "https://docs.vllm.ai/en/latest/getting_started/installation/gpu.html",
            entrypoint=(),
            own_tags=True,
        ),
        ImageFamily("vllm/vllm-tpu", "https://hub.docker.com/r/vllm/vllm-tpu"),
        ImageFamily(
            "lmcache/vllm-openai",
            "https://docs.lmcache.ai/production/docker_deployment.html",
            entrypoint=_SERVE,
            own_tags=True,
        ),
        ImageFamily(
            "nvidia/vllm",
            _NOTES + "index.html",
            own_tags=True,
            releases={
                # the notes of 26.01 say 0.11.1, where the server in that image says 0.13.0
                "25.10-py3": ("0.10.2", _NOTES + "rel-25-10.html"),
                "26.03-py3": ("0.17.1", _NOTES + "rel-26-03.html"),
                "26.05-py3": ("0.20.1", _NOTES + "rel-26-05.html"),
                "26.10-py3": ("0.31.0", _NOTES + "rel-26-10.html"),
            },
        ),
        ImageFamily(
            "ai-dynamo/vllm-runtime",
            "https://catalog.ngc.nvidia.com/orgs/nvidia/teams/ai-dynamo/containers/vllm-runtime",
            own_tags=True,
        ),
        ImageFamily("rocm/vllm", "https://hub.docker.com/r/rocm/vllm", suffixes=("-dev",), own_tags=True),
        ImageFamily("intel/vllm", "https://hub.docker.com/r/intel/vllm", entrypoint=(), own_tags=True),
        ImageFamily("intel/llm-scaler-vllm", "https://github.com/intel/llm-scaler", entrypoint=(), own_tags=True),
        ImageFamily(
            "opea/vllm-gaudi", "https://hub.docker.com/r/opea/vllm-gaudi", suffixes=("-ut",), entrypoint=(), own_tags=True
        ),
        ImageFamily(
            "llm-d/llm-d",
            "https://github.com/llm-d/llm-d/tree/main/docker",
            suffixes=("-dev", "-cuda", "-cuda-dev", "-cuda-gb200", "-rocm", "-xpu", "-cpu"),
            entrypoint=(),
            own_tags=True,
        ),
    )
    image_names = r"vllm"
    house_tags = r"vllm-openai(?:$|[-_.])|vllm$"
    release_tag = "v{}"
    gpu_images = ("vllm-openai",)

    words = (b"vllm", b"num_speculative_tokens", b"max-model-len", b"max_model_len")  # files of options name no engine
    stems = ("vllm",)
    yaml_keys = ("vllm",)
    platforms = {"kserve": "vllm", "kubeai": "vllm", "llm-inference-service": "vllm", "production-stack": "vllm", "ray": "vllm"}
    identified_by_options = True

    dialect = Dialect("model", model_first=True, underscores=True, json_paths=True)
    config_file = True
    quantization_listed = True
    moved_values = {"attention-backend": ("attention-config", "backend")}
    looked_up_options = {"kv-cache-dtype": "kv-cache-dtypes"}
    value_kinds_of_options = {
        "quantization": ("quantization", ""),
        "kv-cache-dtype": ("kv-cache-dtypes", ""),
        "attention-backend": ("attention-backends", ""),
        "tool-call-parser": ("tool-call-parsers", "tool-parser-plugin"),
        "reasoning-parser": ("reasoning-parsers", "reasoning-parser-plugin"),
        "speculative-config.method": ("speculative-methods", ""),
        "kv-transfer-config.kv_connector": ("kv-connectors", "kv-transfer-config.kv_connector_module_path"),
    }
    object_options = ("hf-overrides", "additional-config")
    fields_checked_since = "0.11.1"  # the config classes are pydantic's
    template_option = "chat-template"

    variables = ("VLLM_",)
    variables_closed = True
    device_variables = ("VLLM_TARGET_DEVICE", "VLLM_CPU_")
    argument_variables = ("VLLM",)
    # The engine core reads all that vllm/envs.py knows once the model is loaded (enable_envs_cache at the end of EngineCore's
    # start in vllm/v1/engine/core.py); before, a variable is read where it is used, which may be never.
    values_read_since = "0.11.1"
    value_kind = "converter"
    value_kinds = {"int": "a whole number", "bool(int)": "1 or 0", "float": "a number"}
    value_names = {"VLLM_ATTENTION_BACKEND": "attention-backends"}
    values_refused = True

    port = 8000  # vllm-0.33.0 vllm/entrypoints/openai/cli_args.py
    api_key_operands = ("api-key", "env.VLLM_API_KEY")
    api_key_variables = ("VLLM_API_KEY",)
    several_nodes = True
    node_options = {
        "model": None, "tensor-parallel-size": 1, "pipeline-parallel-size": 1, "prefill-context-parallel-size": 1,
        "data-parallel-size": 1, "nnodes": 1, "master-port": 29501, "dtype": None, "quantization": None, "kv-cache-dtype": None,
        "max-model-len": None, "block-size": None,
    }  # fmt: skip
    starts_slowly = True
    model_cache = "/root/.cache/huggingface"
    needs_gpu = True
    counts_gpus = True
    rank_operands = ("tensor-parallel-size", "pipeline-parallel-size", "prefill-context-parallel-size")
    replicas_operand = "data-parallel-size"
    uncounted_operands = ("data-parallel-size-local", "data-parallel-rank", "distributed-executor-backend")
    own_gpu_rules = True
    ranks_share_memory = True

    model_option = "model"
    served_name_option = "served-model-name"
    tensor_parallel_option = tensor_parallel_operand = "tensor-parallel-size"
    context_option = "max-model-len"
    requests_option = "max-num-seqs"
    memory_fraction_option = "gpu-memory-utilization"
    memory_fractions = ("0.95", "0.92", "0.90", "0.85", "0.80")
    memory_reserves = (("max-num-seqs", "64"), ("max-num-batched-tokens", "8192"), ("max-num-batched-tokens", "2048"))
    needs_one_request = True
    kv_dtype_option = "kv-cache-dtype"
    kv_dtype_fp8 = "fp8"
    prefix_caching_on = "enable-prefix-caching"
    prefix_caching_off = "no-enable-prefix-caching"
    speculation_options = ("speculative-config", "spec-")
    speculation_json = "speculative-config"
    speculation_method_operand = "effective.speculative-method"
    drafted_tokens_operand = "speculative-config.num_speculative_tokens"
    drafts_source = "vllm-{} vllm/config/speculative.py"

    plans_memory = True
    computed_defaults = ("max-num-seqs", "max-num-batched-tokens")
    advised = True
    samples = (
        ("vllm/vllm-openai:v0.19.1", ("vllm", "serve"), (*_SAMPLE, "--swap-space", "4")),
        ("vllm/vllm-openai:v0.19.1", ("sh", "-c"), (f"vllm serve Qwen/Qwen3-8B {_DRAFTS}",)),
        ("example/vllm:latest", ("vllm", "serve"), _SAMPLE),
    )


ENGINE = VLLM()
