"""vLLM: its record, its conversions of values (`conversions`), and what it makes of its settings (`facts`)."""

from __future__ import annotations

from servelint.engines.registry import TRITON, Dialect, Engine, EntryPoint, ImageFamily, Launcher, Start, Wrapper

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
_UNCOMPILED = (
    "ernie4_5_moe", "glm4_moe", "glm4_moe_lite", "glm_ocr", "glm_ocr_text", "hy_v3", "longcat_flash", "mimo", "mimo_v2",
    "mimo_v2_flash", "step3p5", "step3p7",
)  # fmt: skip
"""Types whose *_mtp.py in vllm/model_executor/models has no support_torch_compile, 0.12.0 to 0.33.0."""
_DRAFTS = '--speculative-config \'{"method": "ngram", "num_speculative_tokens": 4}\''


_KSERVE_OWN = (
    "http_port", "grpc_port", "workers", "max_threads", "max_asyncio_workers", "enable_grpc", "enable_docs_url",
    "enable_latency_logging", "configure_logging", "log_config_file", "access_log_format", "event-loop", "timeout-keep-alive",
    "model_name", "predictor_host", "protocol", "predictor_protocol", "predictor_use_ssl",
    "predictor_request_timeout_seconds", "grpc_max_send_message_length", "grpc_max_receive_message_length",
    "predictor_request_retries", "enable_predictor_health_check", "model_dir", "tensor_input_names", "backend", "task",
    "max_log_len", "max-log-len", "tokenizer_revision",
)  # fmt: skip
_KSERVE_SWITCHES = (
    "disable_lower_case", "disable_special_tokens", "return_token_type_ids", "return_offsets_mapping", "return_probabilities",
    "return_raw_logits", "disable_log_requests", "disable_vllm",
)  # fmt: skip
"""Options of kserve.model_server, and of its Hugging Face server."""


def _of_kserve(*, ignores: bool) -> Launcher:
    return Launcher(
        "https://github.com/kserve/kserve/blob/v0.16.0/python/huggingfaceserver/huggingfaceserver/__main__.py",
        own=_KSERVE_OWN,
        switches=_KSERVE_SWITCHES,
        same={
            "model_id": "model",
            "model_revision": "revision",
            "max_length": "max-model-len",
            "max_model_len": "max-model-len",
            "trust_remote_code": "trust-remote-code",
        },
        ignores=ignores,
        chooses=("backend", ("auto", "vllm")),
        # tasks of encoders and of sequence-to-sequence models, which it serves with Transformers alone
        others=r"^task=(?!text_generation)\w"
        r"|^model-id=.*(?:bert|roberta|(?:^|[-/_])(?:flan-)?t5|bart|marian|electra|minilm|mpnet|deberta|opus-mt)",
    )


_LMI = "https://github.com/deepjavalibrary/djl-serving/blob/master/serving/docs/lmi/release_notes.md"
_LMI_TAGS = r"^0\.3[3-9]\.\d-lmi(?:$|1[5-9]|[2-9]\d)"
# djl_python/properties_manager/vllm_rb_properties.py: every other field of EngineArgs is passed on by its own name
_LMI_OPTIONS = Wrapper(
    "https://github.com/deepjavalibrary/djl-serving/blob/0.36.0-lmi27-dlc/serving/docs/lmi/user_guides/vllm_user_guide.md",
    options={
        "HF_MODEL_ID": "model",
        "OPTION_MODEL_ID": "model",
        "TENSOR_PARALLEL_DEGREE": "tensor-parallel-size",
        "OPTION_TENSOR_PARALLEL_DEGREE": "tensor-parallel-size",
        "OPTION_MAX_ROLLING_BATCH_SIZE": "max-num-seqs",
        "OPTION_MAX_ROLLING_BATCH_PREFILL_TOKENS": "max-num-batched-tokens",
        "OPTION_CPU_OFFLOAD_GB_PER_GPU": "cpu-offload-gb",
        "OPTION_QUANTIZE": "quantization",
        **{
            "OPTION_" + name.replace("-", "_").upper(): name
            for name in (
                "max-model-len", "max-num-seqs", "max-num-batched-tokens", "gpu-memory-utilization", "kv-cache-dtype",
                "quantization", "load-format", "enforce-eager", "enable-prefix-caching", "enable-chunked-prefill",
                "trust-remote-code", "revision", "enable-lora", "max-loras", "max-lora-rank", "max-cpu-loras", "block-size",
                "speculative-config", "limit-mm-per-prompt", "attention-backend",
            )
        },
    },
    unless={"OPTION_ROLLING_BATCH": r"^(?!(?:vllm|auto|lmi-dist)$)", "OPTION_ENTRYPOINT": r"^(?!djl_python\.lmi_vllm\.)"},
)  # fmt: skip


_NIM = Wrapper(
    "https://docs.nvidia.com/nim/large-language-models/2.0.9/reference/advanced-configuration.html",
    program="nim-serve",
    variable="NIM_PASSTHROUGH_ARGS",
    options={"NIM_MAX_MODEL_LEN": "max-model-len", "NIM_TENSOR_PARALLEL_SIZE": "tensor-parallel-size"},
)


# the entry point for SageMaker makes SM_VLLM_MAX_MODEL_LEN=8192 the option --max-model-len 8192
_SAGEMAKER = Wrapper(
    "https://github.com/aws/deep-learning-containers/blob/cb035a10da530bd891c3eabcdb9d4cb204b9fd7c/vllm/build_artifacts/sagemaker_entrypoint.sh",
    prefix="SM_VLLM_",
)


_DIALECT = Dialect("model", model_first=True, underscores=True)
for _since, _paths, _level in (("0.9.0", "--", False), ("0.9.2", "-", True), ("0.13.0", "-", False)):
    _DIALECT = Dialect(
        "model", model_first=True, underscores=True, json_paths=_paths, level_paths=_level, since=_since, before=_DIALECT,
        where=r"-[^=]*\.",
    )  # fmt: skip


_OF_THE_SERVER = (
    "allow-credentials", "allowed-headers", "allowed-methods", "allowed-origins", "anthropic-disabled-thinking-effort",
    "api-key", "api-server-count", "chat-template-content-format", "cohere-format", "cohere-is-reasoning-model", "config",
    "data-parallel-supervisor-port", "default-chat-template-kwargs", "device-memory-utilization",
    "disable-access-log-for-endpoints", "disable-fastapi-docs", "disable-frontend-multiprocessing",
    "disable-uvicorn-access-log", "dp-supervisor-probe-failure-threshold", "dp-supervisor-probe-interval-s",
    "dp-supervisor-probe-timeout-s", "enable-auto-tool-choice", "enable-flash-late-interaction",
    "enable-force-include-usage", "enable-log-deltas", "enable-log-outputs", "enable-offline-docs",
    "enable-per-request-metrics", "enable-prompt-tokens-details", "enable-request-id-headers", "enable-scale-out",
    "enable-server-load-tracking", "enable-ssl-refresh", "enable-tokenizer-info-endpoint",
    "exclude-tools-when-tool-choice-none", "fingerprint-mode", "fingerprint-value", "grpc", "grpc-port",
    "h11-max-header-count", "h11-max-incomplete-event-size", "headless", "help", "host", "log-error-stack", "lora-modules",
    "max-log-len", "middleware", "port", "prompt-adapters", "reasoning-effort-map", "response-role",
    "return-tokens-as-token-ids", "root-path", "sse-keep-alive-interval", "ssl-ca-certs", "ssl-cert-reqs", "ssl-certfile",
    "ssl-ciphers", "ssl-keyfile", "tool-call-parser", "tool-parser-plugin", "tool-server", "tool-strict-level",
    "trust-request-chat-template", "trust-request-mm-kwargs", "uds", "use-gpu-for-pooling-score", "uvicorn-log-level",
)  # fmt: skip
"""Options that AsyncEngineArgs has in no release (vllm/engine/arg_utils.py, 0.8.5 to 0.33.0)."""


def _object(
    calls: str,
    about: str,
    *,
    source: str = "https://github.com/vllm-project/vllm/blob/v0.33.0/vllm/engine/arg_utils.py",
    own: tuple[str, ...] = (),
    lacks: tuple[str, ...] = (),
    refuses_since: dict[str, str] | None = None,
    takes_until: dict[str, str] | None = None,
) -> Launcher:
    """A class of vLLM whose keyword arguments are fields of EngineArgs: each is an option, but for those of `own`."""
    return Launcher(
        source,
        calls=rf"vllm(?:\.\w+)*\.{calls}",
        about=about,
        positional=("model",),
        own=(
            *("-api-process-count", "-api-process-rank", "enable-mm-processor-stats", "mamba-config", "model-weights"),
            *("quantization-config", "data-parallel-start-rank", "log-config-file", *own),
        ),
        lacks=(*_OF_THE_SERVER, *lacks),
        plain=True,
        strict=True,
        known_since="0.8.5",
        refuses_since=refuses_since,
        takes_until=takes_until,
    )


class VLLM(Engine):
    """vLLM."""

    id, name = "vllm", "vLLM"
    parts = ("facts",)

    source_url = "https://github.com/vllm-project/vllm/blob/v{release}/{path}"
    documentation = "https://docs.vllm.ai/en/latest/cli/serve/"
    distributions = ("vllm",)
    python_package = "vllm"
    tags_patch_at_branch = True
    harvested_since = "0.6.0"

    command = ("vllm", "serve")
    starts = (
        Start("serve", programs=("vllm",), modules=("vllm", "vllm.entrypoints.cli.main")),
        Start(
            modules=("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"),
            scripts=("vllm/entrypoints/openai/api_server.py",),
            takes_model=False,
        ),
        Start(
            modules=("vllm.entrypoints.grpc_server", "vllm.entrypoints.launchers.grpc_server"),
            takes_model=False,
            launcher="grpc",
        ),
        Start(modules=("huggingfaceserver",), takes_model=False, launcher="huggingfaceserver"),
        Start(modules=("dynamo.vllm",), takes_model=False, launcher="dynamo"),
        Start(modules=("fastchat.serve.vllm_worker",), takes_model=False, launcher="fastchat"),
        Start(
            modules=("ipex_llm.vllm.xpu.entrypoints.openai.api_server", "ipex_llm.vllm.cpu.entrypoints.openai.api_server"),
            takes_model=False,
            launcher="ipex-llm",
        ),
        Start("vllm-serve", programs=("trl",), takes_model=False, launcher="trl"),
        Start(modules=("trl.scripts.vllm_serve",), takes_model=False, launcher="trl"),
    )
    # https://github.com/vllm-project/router and https://github.com/vllm-project/production-stack
    routers = ("vllm-router", "-m vllm_router.app", "-m vllm_router.launch_router")

    images = (
        ImageFamily(
            "vllm/vllm-openai",
            "https://github.com/vllm-project/vllm/blob/v0.11.1/docker/Dockerfile",
            suffixes=("-cpu", "-xpu", "-arm64"),
            entrypoint=_MAKERS,
            builds=r"cu\d|x86_64|amd64|aarch64|arm64|ubuntu|cpu|xpu",  # those for ROCm have a repository of their own
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
        # `gemma4`, of the recipes of vLLM, is given the options of the server
        ImageFamily("vllm/vllm-tpu", "https://hub.docker.com/r/vllm/vllm-tpu", only=r"^(?:v?\d|nightly|latest)"),
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
        ),
        ImageFamily(
            "ai-dynamo/vllm-runtime",
            "https://catalog.ngc.nvidia.com/orgs/nvidia/teams/ai-dynamo/containers/vllm-runtime",
            own_tags=True,
        ),
        ImageFamily(
            "rocm/vllm",
            "https://rocm.docs.amd.com/en/latest/how-to/rocm-for-ai/inference/benchmark-docker/previous-versions/vllm-history.html",
            suffixes=("-dev",),
            own_tags=True,
            tags=r"(?:^|_)vllm_?(?P<release>\d+(?:\.\d+){2,3}(?:rc\d+)?)(?:_|$)",
        ),
        ImageFamily(
            "intel/vllm",
            "https://hub.docker.com/r/intel/vllm",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>\d+\.\d+\.\d+)-xpu$",
        ),
        ImageFamily(
            "scitrera/dgx-spark-vllm",
            "https://hub.docker.com/r/scitrera/dgx-spark-vllm",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>\d+\.\d+\.\d+(?:rc\d+)?)(?:-t\d+)?$",
        ),
        ImageFamily(
            "mixa3607/vllm-gfx906",
            "https://hub.docker.com/r/mixa3607/vllm-gfx906",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>\d+\.\d+\.\d+)-rocm-\d",
        ),
        ImageFamily(
            "intel/llm-scaler-vllm",
            "https://github.com/intel/llm-scaler/blob/main/Releases.md",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>0\.(?:9|\d\d)\.\d+)-b\d",
        ),
        *[
            ImageFamily(
                f"{product}/vllm",
                "https://docs.redhat.com/en/documentation/red_hat_ai_inference_server/",
                suffixes=("-cuda-rhel9", "-rocm-rhel9"),
                entrypoint=(),
                own_tags=True,
            )
            for product in ("rhaiis", "rhaii")
        ],
        ImageFamily(
            "opea/vllm-gaudi", "https://hub.docker.com/r/opea/vllm-gaudi", suffixes=("-ut",), entrypoint=(), own_tags=True
        ),
        ImageFamily("llm-d/llm-d-cuda", "https://github.com/llm-d/llm-d/releases", entrypoint=(), own_tags=True),
        ImageFamily(
            "llm-d/llm-d",
            "https://github.com/llm-d/llm-d/tree/main/docker",
            suffixes=("-dev", "-cuda-dev", "-cuda-gb200", "-aws", "-hpu", "-rocm", "-xpu", "-cpu"),
            entrypoint=(),
            own_tags=True,
        ),
        ImageFamily(
            "kserve/huggingfaceserver",
            "https://github.com/kserve/kserve/blob/v0.16.0/python/huggingface_server.Dockerfile",
            entrypoint=(EntryPoint("python3", "-m", "huggingfaceserver"),),
            own_tags=True,
        ),
        ImageFamily(
            "ascend/vllm-ascend",
            "https://docs.vllm.ai/projects/ascend/en/latest/community/versioning_policy.html",
            own_tags=True,
            tags=r"^v(?P<release>\d+\.\d+\.\d+)(?:\.post\d+)?(?:-|$)",  # the plugin is a final release of the same number
        ),
        # NIM for LLMs has vLLM alone in 2.0; 1.x holds several engines, and an image of one model in 2.1 either of two
        ImageFamily(
            "nim/nvidia/vllm-model-free-nim",
            "https://docs.nvidia.com/nim/large-language-models/about-nim-llm/release-notes",
            registry=r"nvcr\.io",
            entrypoint=(),
            own_tags=True,
            wrapper=_NIM,
        ),
        ImageFamily(
            "nim",
            "https://docs.nvidia.com/nim/large-language-models/2.0.1/about-nim-llm/release-notes.html",
            suffixes=(
                "/meta/llama-3.1-8b-instruct",
                "/meta/llama-3.1-70b-instruct",
                "/meta/llama-3.3-70b-instruct",
                "/openai/gpt-oss-20b",
                "/openai/gpt-oss-120b",
                "/nvidia/llama-3.3-nemotron-super-49b-v1.5",
                "/nvidia/nemotron-3-super-120b-a12b",
                "/nvidia/nemotron-3-nano",
                "/bigcode/starcoder2-7b",
                "/nvidia/model-free-nim",
            ),
            registry=r"nvcr\.io",
            entrypoint=(),
            own_tags=True,
            only=r"^2\.0\.\d+$",
            without=r"^(?!2\.0\.)",
            wrapper=_NIM,
        ),
        # LMI from V15 on has vLLM alone; older ones have several engines
        ImageFamily(
            "djl-inference",
            _LMI,
            registry=r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?",
            entrypoint=(),
            own_tags=True,
            only=_LMI_TAGS,
            without=f"^(?!{_LMI_TAGS[1:]})",
            wrapper=_LMI_OPTIONS,
        ),
        ImageFamily(
            "deepjavalibrary/djl-serving",
            _LMI,
            entrypoint=(),
            own_tags=True,
            only=_LMI_TAGS,
            without=f"^(?!{_LMI_TAGS[1:]})",
            wrapper=_LMI_OPTIONS,
        ),
        ImageFamily(
            "kaito/kaito-base",
            "https://github.com/kaito-project/kaito/blob/main/presets/workspace/models/supported_models.yaml",
            entrypoint=(),
            own_tags=True,
        ),
        ImageFamily(
            "vllm",
            "https://aws.github.io/deep-learning-containers/vllm/",
            registry=r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?|(?:.*/)?deep-learning-containers",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>\d+\.\d+(?:\.\d+)?)-(?:gpu|cpu|neuronx?)-",
            suffixes=("-arm64",),
            wrapper=_SAGEMAKER,
        ),
        ImageFamily(
            "huggingface-vllm",
            "https://github.com/aws/deep-learning-containers/tree/master/docs/src/data/huggingface-vllm",
            registry=r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>\d+\.\d+\.\d+)-transformers",
            wrapper=_SAGEMAKER,
        ),
        ImageFamily(
            "pytorch-inference-vllm-neuronx",
            "https://github.com/aws-neuron/deep-learning-containers",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>\d+\.\d+\.\d+)-neuronx?-",
        ),
    )
    launchers = {
        "omni": Launcher(
            "https://github.com/vllm-project/vllm-omni/blob/v0.14.0/vllm_omni/entrypoints/cli/serve.py",
            switches=("omni",),
            marks=("omni",),
            foreign=True,
        ),
        "LLM": _object(
            "LLM",
            "an offline engine in Python, no server",
            source="https://github.com/vllm-project/vllm/blob/v0.33.0/vllm/entrypoints/llm.py",
            own=("chat-template",),
            lacks=("disable-log-requests", "enable-log-requests"),
            # kwargs.pop("swap_space") in 0.18.0 to 0.25.1, not in 0.26.0
            takes_until={"swap-space": "0.26.0"},
        ),
        "EngineArgs": _object(
            "EngineArgs",
            "the settings of an engine in Python, no server",
            lacks=("chat-template", "disable-log-requests", "enable-log-requests"),
        ),
        "AsyncEngineArgs": _object(
            "AsyncEngineArgs",
            "the settings of an asynchronous engine in Python, no server of vLLM's",
            lacks=("chat-template",),
            # a property, no field, in 0.10.2; a field in 0.10.0
            refuses_since={"disable-log-requests": "0.10.2"},
        ),
        # answers no HTTP; the engine's options are those of AsyncEngineArgs
        "grpc": Launcher(
            "https://github.com/vllm-project/vllm/blob/v0.14.1/vllm/entrypoints/grpc_server.py",
            own=("port",),
            switches=("disable-log-stats-server",),
            strict=True,
        ),
        # AsyncEngineArgs.add_cli_args adds the engine's options (fastchat/serve/vllm_worker.py of fschat 0.2.36)
        "fastchat": Launcher(
            "https://github.com/lm-sys/FastChat/blob/v0.2.36/fastchat/serve/vllm_worker.py",
            own=(
                "host", "port", "worker-address", "controller-address", "model-names", "limit-worker-concurrency",
                "conv-template",
            ),
            switches=("no-register",),
            same={"model-path": "model", "num-gpus": "tensor-parallel-size"},
            sets=("model", "tensor-parallel-size", "trust-remote-code"),
        ),
        # a fork's server: its own copy of vLLM's arguments, with more
        "ipex-llm": Launcher(
            "https://github.com/intel/ipex-llm",
            own=("load-in-low-bit",),
            foreign=True,
        ),
        # a server of completions and weights around LLM, with options of its own
        "trl": Launcher("https://github.com/huggingface/trl/blob/v0.20.0/trl/scripts/vllm_serve.py", foreign=True),
        "huggingfaceserver": _of_kserve(ignores=True),
        # a runtime that serves the same format, whose program stands elsewhere
        "huggingface-runtime": _of_kserve(ignores=False),
        "dynamo": Launcher(
            "https://docs.nvidia.com/dynamo/backends/v-llm",
            own=(
                "endpoint", "namespace", "connector", "migration-limit", "request-plane", "event-plane", "discovery-backend",
                "store-kv", "dyn-tool-call-parser", "dyn-reasoning-parser", "dyn-endpoint-types", "custom-jinja-template",
                "disaggregation-mode", "sleep-mode-level", "durable-kv-events", "kv-store", "component", "mx-model-name",
                "endpoint-types", "benchmark-mode",
            ),
            switches=(
                "is-prefill-worker", "is-decode-worker", "use-vllm-tokenizer", "multimodal-processor",
                "multimodal-encode-worker", "multimodal-worker", "multimodal-decode-worker", "enable-multimodal",
                "enable-local-indexer", "route-to-encoder", "multimodal-encode-prefill-worker", "vllm-native-encoder-worker",
                "ec-processor",
            ),
            # the parser of AsyncEngineArgs takes the rest (dynamo/vllm/args.py of ai-dynamo 0.6.0, 1.0.0 and 1.4.1)
            strict=True,
            # of the HTTP server, which is the frontend's: the worker has those of AsyncEngineArgs (dynamo/vllm/args.py of
            # ai-dynamo 0.4.1, 0.6.0, 0.9.1, 1.0.0, 1.4.1 and 1.6.1)
            lacks=(
                "host", "port", "uds", "api-key", "chat-template", "chat-template-content-format", "response-role",
                "enable-auto-tool-choice", "tool-call-parser", "tool-parser-plugin", "lora-modules", "allowed-origins",
                "allowed-headers", "allowed-methods", "allow-credentials", "root-path", "middleware", "ssl-keyfile",
                "ssl-certfile", "ssl-ca-certs", "uvicorn-log-level", "disable-uvicorn-access-log", "api-server-count",
                "disable-frontend-multiprocessing", "return-tokens-as-token-ids", "enable-prompt-tokens-details",
                "enable-request-id-headers", "enable-server-load-tracking", "max-log-len", "log-config-file",
            ),
            plain=True,
            # parse_args, update_engine_config_with_dynamo and init_vllm of the same releases
            sets=(
                "enable-prefix-caching", "block-size", "distributed-executor-backend", "task", "runner", "convert",
                "skip-tokenizer-init", "disable-log-requests", "enable-log-requests", "disable-log-stats", "kv-transfer-config",
                "kv-events-config", "ec-transfer-config", "worker-cls", "worker-extension-cls", "scheduler-cls",
                "enable-sleep-mode", "logprobs-mode", "served-model-name", "stream-interval", "model", "load-format",
            ),
            # vllm/args.py, vllm/backend_args.py and common/ of ai-dynamo 0.4.0 to 1.6.1
            values={
                "disaggregation-mode": ("agg", "prefill", "decode", "encode", "pd"),
                "benchmark-mode": ("prefill", "decode", "agg"),
                "request-plane": ("tcp", "nats", "http"),
                "event-plane": ("nats", "zmq"),
                "discovery-backend": ("kubernetes", "etcd", "file", "mem"),
            },
        ),
    }  # fmt: skip
    server_options = frozenset(("served-model-name",))
    # Gaudi's: https://github.com/HabanaAI/vllm-fork/pull/394
    options_of_forks = frozenset(("--use-padding-aware-scheduling", "--max-num-prefill-seqs", "--weights-load-device"))
    choices_of_plugins = frozenset((("quantization", "ascend"),))  # pre_register_and_update in vllm_ascend/platform.py
    image_names = r"vllm"
    house_tags = (
        r"(?:[\w.]+[-_.])?vllm-openai(?:$|[-_.])"
        r"|vllm(?:[-_](?:cpu|gpu|cuda|rocm|xpu|server?|inference|env|release|repo))*$"
    )
    release_tag = "v{}"
    gpu_images = ("vllm-openai",)

    words = (
        b"djl-",
        b"kaito-base",
        b"vllm",
        b"huggingfaceserver",
        b"num_speculative_tokens",
        b"max-model-len",
        b"max_model_len",
    )  # files of options name no engine
    stems = ("vllm", "huggingfaceserver")
    yaml_keys = ("vllm",)
    platforms = {
        **dict.fromkeys(
            ("aibrix", "dynamo", "huggingface", "kaito", "kserve", "kubeai", "llm-d", "llm-inference-service"), "vllm"
        ),
        **dict.fromkeys(("kthena", "llmaz", "llmkube", "production-stack", "ray", "srt-slurm"), "vllm"),
    }
    identified_by_options = True

    dialect = _DIALECT
    config_file = True
    quantization_listed = True
    moved_values = {"attention-backend": ("attention-config", "backend")}
    looked_up_options = {"kv-cache-dtype": "kv-cache-dtypes"}
    # ArcticInference (snowflakedb/ArcticInference#157): enable_suffix_decoding and others
    keys_of_plugins = {"speculative-config": ("method", ("arctic",))}
    value_kinds_of_options = {
        "quantization": ("quantization", ""),
        "kv-cache-dtype": ("kv-cache-dtypes", ""),
        "attention-backend": ("attention-backends", ""),
        "tool-call-parser": ("tool-call-parsers", "tool-parser-plugin"),
        "reasoning-parser": ("reasoning-parsers", "reasoning-parser-plugin"),
        "speculative-config.method": ("speculative-methods", ""),
        "kv-transfer-config.kv_connector": ("kv-connectors", "kv-transfer-config.kv_connector_module_path"),
    }
    object_options = (
        *("hf-overrides", "additional-config", "override-generation-config", "mm-processor-kwargs", "media-io-kwargs"),
        *("limit-mm-per-prompt", "model-class-overrides", "rope-scaling", "override-neuron-config"),
    )
    filled_options = (
        *("served-model-name", "allowed-media-domains", "logits-processors", "numa-bind-nodes", "numa-bind-cpus"),
        "collect-detailed-traces",
    )
    strict_lists = ("compilation-config",)
    object_members = {"media-io-kwargs": "object", "model-class-overrides": "string"}
    late_objects = ("speculative-config",)  # a dictionary to the parser
    object_rules = (
        *("vllm/ec-connector-without-role", "vllm/kv-connector-without-role", "vllm/kv-role-without-connector"),
        *("vllm/profiler-directory", "vllm/proton-profiler", "vllm/torch-profiler-options", "vllm/logit-sigma-zero"),
        "vllm/pooling-types-twice",
        *("vllm/custom-ops-contradict", "vllm/custom-ops-syntax", "vllm/online-targets-beside-layers"),
        *("vllm/online-name-unknown", "vllm/backend-per-kind-unknown"),
    )
    fields_checked_since = "0.10.0"  # the config classes are pydantic's; 0.9.1 and 0.9.2 were not run
    template_option = "chat-template"

    unset_by = (frozenset(("none", "nullable_str", "parse_reasoning_parser")), ("", "None"))
    lowered = ("quantization",)  # a validator of ModelConfig, before anything looks at it

    # https://github.com/triton-inference-server/vllm_backend
    other_servers = TRITON
    classes = (
        r"(?<!def )\b(?:LLM|LLMConfig|(?:Async)?EngineArgs|(?:Async)?LLMEngine(?:\.from_\w+)?"
        r"|(?:api_server\.)?run_server(?:_worker)?)\("
    )
    variables = ("VLLM_",)
    variables_closed = True
    plugin_variables = (
        "VLLM_OPENVINO_",  # github.com/vllm-project/vllm-openvino: vllm_openvino/envs.py
        # github.com/vllm-project/vllm-gaudi: vllm_gaudi/extension/features.py and v1/worker/hpu_model_runner.py
        *("VLLM_SKIP_WARMUP", "VLLM_CONTIGUOUS_PA", "VLLM_PROMPT_USE_FUSEDSDPA", "VLLM_PT_PROFILE", "VLLM_GRAPH_RESERVED_MEM"),
        *("VLLM_USE_HPU_CONTIGUOUS_CACHE_FETCH", "VLLM_USE_FAKE_HPU"),
    )
    device_variables = ("VLLM_TARGET_DEVICE", "VLLM_CPU_")
    argument_variables = ("VLLM",)
    shares_port = ("0.7.3", "0.24.0")  # create_server_socket of vllm/entrypoints/openai/api_server.py
    # The engine core reads all that vllm/envs.py knows once the model is loaded (enable_envs_cache at the end of EngineCore's
    # start in vllm/v1/engine/core.py); before, a variable is read where it is used, which may be never.
    values_read_since = "0.11.1"
    value_kind = "converter"
    value_kinds = {"int": "a whole number", "bool(int)": "1 or 0", "float": "a number"}
    value_names = {"VLLM_ATTENTION_BACKEND": "attention-backends"}
    values_refused = True

    tls_operands = ("ssl-certfile", "ssl-keyfile")
    key_paths = r"/v1/.+"
    link_variables = ("VLLM_PORT",)  # envs.py of every release; get_open_port reads it
    checks_no_health = True
    no_paths = r"/(?:healthz|livez|health/(?:ready|live)|v2/health/(?:ready|live)|api/health|healthcheck|health_check)/?"
    port = 8000  # vllm-0.33.0 vllm/entrypoints/openai/cli_args.py
    api_key_operands = ("api-key", "env.VLLM_API_KEY")
    api_key_variables = ("VLLM_API_KEY",)
    several_nodes = True
    node_options = {
        "model": None, "tensor-parallel-size": 1, "pipeline-parallel-size": 1, "prefill-context-parallel-size": 1,
        "data-parallel-size": 1, "nnodes": 1, "master-port": 29501, "dtype": None, "quantization": None, "kv-cache-dtype": None,
        "max-model-len": None, "block-size": None,
    }  # fmt: skip
    roles = ("kv-transfer-config.kv_role", {"kv_producer": "prefill", "kv_consumer": "decode", "kv_both": "by name"})
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
    data_parallel_option = "data-parallel-size"
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
    host_seconds = (1.2e-3, 1.2e-3)  # overhead_constant_per_step of https://github.com/SpecDecode-Bench/simulator, vLLM 0.10.1
    group_seconds = 0.28e-3  # the metadata of 46 groups instead of 10 doubles a step of Qwen3.6-35B-A3B on an H200 (pull 51742)
    overlaps_since = "0.14.0"  # async_scheduling of None is true in vllm/config/scheduler.py, not in 0.13.0
    padded_drafts_since = "0.11.0"  # disable_padded_drafter_batch in vllm/config/speculative.py, not in 0.10.2
    graphed_drafts_since = "0.9.0"  # use_cuda_graph in vllm/v1/spec_decode/eagle.py, not in 0.8.5
    uncompiled_drafts = _UNCOMPILED
    uncompiled_drafts_until = "0.29.0"  # the second model runner captures a speculator itself (VllmConfig.use_v2_model_runner)
    # get_cudagraph_support in vllm/v1/attention/backends/flashinfer.py
    cut_drafts = ((8, "0.13.0", "0.33.0"), (12, "0.13.0", "0.28.0"))
    # get_flash_attn_version in vllm-0.33.0 vllm/v1/attention/backends/fa_utils.py: 3 on Hopper, 4 on other Blackwells
    unsplit_drafts = (8, 12)
    samples = (
        ("vllm/vllm-openai:v0.19.1", ("vllm", "serve"), (*_SAMPLE, "--swap-space", "4")),
        ("vllm/vllm-openai:v0.19.1", ("sh", "-c"), (f"vllm serve Qwen/Qwen3-8B {_DRAFTS}",)),
        ("example/vllm:latest", ("vllm", "serve"), _SAMPLE),
    )


ENGINE = VLLM()
