"""SGLang: its record, its conversions of values (`conversions`), and what it makes of its settings (`facts`)."""

from __future__ import annotations

from servelint.engines.registry import Engine, ImageFamily, Launcher, Start, Wrapper

_SAMPLE = (
    "--model-path", "Qwen/Qwen3-8B", "--tp", "2", "--mem-fraction-static", "0.9", "--context-length", "8192",
    "--chunked-prefill-size", "4096",
)  # fmt: skip


_CHAIN = (
    ("speculative-num-steps", "{tokens}"), ("speculative-eagle-topk", "1"), ("speculative-num-draft-tokens", "{verified}"),
)  # fmt: skip


_ROUTERS = (
    "api-key assignment-mode backend balance-abs-threshold balance-rel-threshold bucket-adjust-interval-secs "
    "cache-threshold cb-failure-threshold cb-success-threshold cb-timeout-duration-secs "
    "cb-window-duration-secs chat-template client-cert-path client-key-path decode decode-policy "
    "eviction-interval eviction-interval-secs health-check-endpoint health-check-interval-secs "
    "health-check-timeout-secs health-failure-threshold health-success-threshold history-backend jwt-audience "
    "jwt-issuer jwt-jwks-uri log-dir log-level max-concurrent-requests max-idle-secs max-payload-size "
    "max-tree-size mcp-config-path model-path oracle-connect-descriptor oracle-password oracle-pool-max "
    "oracle-pool-min oracle-pool-timeout-secs oracle-tns-alias oracle-username oracle-wallet-path "
    "otlp-traces-endpoint policy postgres-db-url postgres-pool-max prefill-policy prometheus-host "
    "prometheus-port queue-size queue-timeout-secs rate-limit-tokens-per-second reasoning-parser "
    "redis-pool-max redis-retention-days redis-url request-timeout-secs retry-backoff-multiplier "
    "retry-initial-backoff-ms retry-jitter-factor retry-max-backoff-ms retry-max-retries "
    "service-discovery-namespace service-discovery-port shutdown-grace-period-secs tls-cert-path tls-key-path "
    "tokenizer-cache-l0-max-entries tokenizer-cache-l1-max-memory tokenizer-path tool-call-parser "
    "worker-startup-check-interval worker-startup-timeout-secs"
)
_ROUTERS_SWITCHES = (
    "control-plane-audit-enabled disable-circuit-breaker disable-health-check disable-retries dp-aware "
    "enable-igw enable-trace mini-lb pd-disaggregation service-discovery tokenizer-cache-enable-l0 "
    "tokenizer-cache-enable-l1 verbose"
)
_ROUTERS_LISTS = (
    "ca-cert-paths control-plane-api-keys cors-allowed-origins decode-selector jwt-role-mapping prefill "
    "prefill-selector prometheus-duration-buckets request-id-headers selector"
)
"""Options of sglang-router 0.1.4 to 0.3.2, which stand behind `--router-` where it starts the servers as well."""


def _routers(names: str) -> tuple[str, ...]:
    return tuple([f"router-{name}" for name in names.split()])


def _router(*, plain: bool) -> Launcher:
    return Launcher(
        "https://docs.sglang.ai/advanced_features/router.html",
        own=("router-dp-worker-base-port", *_routers(_ROUTERS)),
        switches=_routers(_ROUTERS_SWITCHES),
        lists=("worker-urls", *_routers(_ROUTERS_LISTS)),
        plain=plain,
    )


# the entry point for SageMaker makes SM_SGLANG_TP_SIZE=2 the option --tp-size 2
_SAGEMAKER = Wrapper(
    "https://github.com/aws/deep-learning-containers/blob/62eaf279bf1359684ab21288e20dd332970c3df6/sglang/build_artifacts/sagemaker_entrypoint.sh",
    prefix="SM_SGLANG_",
    unless={"SM_SGLANG_ENGINE": r"(?i)^(?!llm$)"},
)


def _object(calls: str, about: str) -> Launcher:
    """A class of SGLang whose keyword arguments are fields of ServerArgs (sglang/srt/server_args.py, 0.4.9 to 0.5.23).

    An option whose first name is another one has a field of its own name: `--tensor-parallel-size` is tp_size.
    """
    return Launcher(
        "https://github.com/sgl-project/sglang/blob/v0.5.19/python/sglang/srt/server_args.py",
        calls=calls,
        about=about,
        positional=("model-path",),
        own=(
            "-radix-eviction-policy-explicitly-set", "-speculative-draft-quantization-explicitly-set",
            "-swa-full-tokens-ratio-explicitly-set", "aux-hidden-state-capture", "custom-sigquit-handler",
            "enable-cp-tp-group-sharing", "ep-join-mode", "ep-join-rank-offset", "fp4-gemm-runner-backend",
            "fp8-gemm-runner-backend", "grpc-worker-threads", "speculative-boundary-reduction", "stat-loggers",
            "uses-mamba-radix-cache", "watermark-context-window", "watermark-default-enabled", "watermark-enforce-all",
            "watermark-key", "watermark-key-b", "watermark-max-probability", "watermark-mixing-probability",
        ),
        lacks=(
            "attention-context-parallel-size", "attention-data-parallel-size", "config", "context-bucket",
            "data-parallel-size", "decode-context-parallel-size", "elastic-ep-join-mode", "elastic-ep-join-rank-offset",
            "enable-flashinfer-cutedsl-moe", "enable-hicache", "ep", "expert-parallel-size", "fp4-gemm-backend",
            "fp8-gemm-backend", "help", "model", "moe-data-parallel-size", "monokernel-backend", "nccl-init-addr",
            "pipeline-parallel-size", "speculative-draft-model", "tensor-parallel-size",
        ),
        plain=True,
        strict=True,
        known_since="0.4.9",
        # fields in the release before the one that is named here, or in one between the two that was not read
        refuses_since={
            "cuda-graph-bs": "0.5.14", "cuda-graph-max-bs": "0.5.14", "disable-piecewise-cuda-graph": "0.5.14",
            "piecewise-cuda-graph-max-tokens": "0.5.14", "mamba-scheduler-strategy": "0.5.14", "enable-deepep-moe": "0.5.3",
            "enable-ep-moe": "0.5.3", "enable-flashinfer-cutlass-moe": "0.5.3", "enable-flashinfer-mxfp4-moe": "0.5.3",
            "enable-flashinfer-trtllm-moe": "0.5.3", "enable-triton-kernel-moe": "0.5.3", "stream-output": "0.5.10",
            "enable-piecewise-cuda-graph": "0.5.10", "nsa-decode-backend": "0.5.13", "nsa-prefill-backend": "0.5.13",
            "hybrid-kvcache-ratio": "0.5.8",
        },
    )  # fmt: skip


class SGLang(Engine):
    """SGLang."""

    id, name = "sglang", "SGLang"
    parts = ("facts",)

    source_url = "https://github.com/sgl-project/sglang/blob/v{release}/python/sglang/{path}"
    documentation = "https://docs.sglang.ai/advanced_features/server_arguments.html"
    distributions = ("sglang",)
    python_package = "sglang"
    harvested_since = "0.4.0"

    command = ("python", "-m", "sglang.launch_server")
    starts = (
        Start("serve", programs=("sglang",), since="0.5.5", model_first="0.5.16"),
        Start("serve", modules=("sglang.cli.main",), model_first="0.5.16"),
        Start(modules=("sglang.launch_server",), scripts=("sglang/launch_server.py",)),
        Start(modules=("sglang_router.launch_server",), launcher="router"),
        Start("server", programs=("sglang-router", "smg", "amg"), launcher="gateway"),
        Start(
            modules=(
                "dynamo.sglang", "dynamo.sglang.worker", "dynamo.sglang.decode_worker", "dynamo.sglang.prefill_worker",
            ),
            launcher="dynamo",
        ),
    )  # fmt: skip
    # https://github.com/sgl-project/sglang/tree/main/sgl-model-gateway
    routers = (
        *("sglang-router", "sgl-router", "smg launch", "amg launch", "smg start", "-m sglang_router.launch_router"),
        *("-m sglang_router", "-m sglang.launch_router", "-m sglang.srt.disaggregation.mini_lb"),
        *("-m sglang.srt.disaggregation.launch_lb",),
    )
    launchers = {
        "Engine": _object(r"sglang(?:\.srt(?:\.\w+)*|\.api)?\.Engine", "an engine in Python, no server"),
        "ServerArgs": _object(r"sglang(?:\.\w+)*\.ServerArgs", "the settings of a server or an engine in Python"),
        "multimodal_gen": Launcher(
            "https://github.com/sgl-project/sglang/blob/v0.5.6/python/sglang/multimodal_gen/runtime/server_args.py",
            marks=(
                "num-gpus", "dit-cpu-offload", "dit-layerwise-offload", "text-encoder-cpu-offload", "image-encoder-cpu-offload",
                "vae-cpu-offload", "pin-cpu-memory", "ulysses-degree", "ring-degree", "enable-cfg-parallel",
                "use-fsdp-inference", "vae-path", "disagg-role", "disagg-server-addr", "denoiser-urls", "decoder-urls",
                "pipeline-class-name", "cfg-parallel-size", "sp-degree", "cache-dit-config", "component-residency",
                # AttentionBackendEnum of multimodal_gen/runtime/platforms/interface.py, without what the server has as well
                *[
                    f"attention-backend={name}"
                    for name in (
                        "fa", "fa2", "torch_sdpa", "sage_attn", "sage_attn_3", "sparge_attn", "sliding_tile_attn",
                        "video_sparse_attn", "sparse_video_gen_2_attn", "vmoba_attn", "sla_attn", "sage_sla_attn",
                    )
                ],
            ),
            own=("attention-backend", "backend", "mode", "quantization"),
            verb="serve",
            foreign=True,
        ),
        "dynamo": Launcher(
            "https://docs.nvidia.com/dynamo/backends/sg-lang",
            strict=True,  # dynamo/sglang/args.py of ai-dynamo 0.6.0, 1.0.0 and 1.4.1: the parser of ServerArgs takes the rest
            own=(
                "endpoint", "namespace", "migration-limit", "request-plane", "event-plane", "discovery-backend", "store-kv",
                "dyn-tool-call-parser", "dyn-reasoning-parser", "dyn-endpoint-types", "custom-jinja-template",
                "durable-kv-events",
            ),
            switches=(
                "use-sglang-tokenizer", "multimodal-processor", "multimodal-encode-worker", "multimodal-worker",
                "embedding-worker", "enable-local-indexer",
            ),
            # sglang/args.py and common/ of ai-dynamo 0.4.0 to 1.6.1
            values={
                "disaggregation-mode": ("null", "prefill", "decode", "agg", "pd", "encode"),
                "request-plane": ("tcp", "nats", "http"),
                "event-plane": ("nats", "zmq"),
                "discovery-backend": ("kubernetes", "etcd", "file", "mem"),
            },
        ),
        # sglang-router-0.3.2 launch_server.py: the parser of the server with the router's options, and one server a rank
        "router": _router(plain=True),
        "gateway": _router(plain=False),
    }  # fmt: skip

    server_options = frozenset((
        "host", "port", "api-key", "admin-api-key", "served-model-name", "tool-call-parser", "tokenizer-worker-num",
        "enable-http2", "enable-ssl-refresh", "grpc-port", "sidecar", "enable-http-worker-reuseport", "enable-response-store",
        "load-publish-endpoint",
    ))  # fmt: skip

    images = (
        ImageFamily(
            "lmsysorg/sglang",
            "https://docs.sglang.ai/get_started/install.html",
            # of the branch deepseek_v4 (sgl-project/sglang#23728, April 2026), pushed anew to July, before 0.5.16
            # (SemiAnalysisAI/InferenceX#1922 and #2128)
            branches={r"deepseek-v4-(?:hopper|blackwell|b300|grace-blackwell)(?:-dev)?": "0.5.16"},
        ),
        ImageFamily("lmsysorg/sglang-rocm", "https://hub.docker.com/r/lmsysorg/sglang-rocm", own_tags=True),
        ImageFamily(
            "nim/nvidia/sglang-model-free-nim",
            "https://docs.nvidia.com/nim/large-language-models/about-nim-llm/release-notes",
            registry=r"nvcr\.io",
            entrypoint=(),
            own_tags=True,
            wrapper=Wrapper(
                "https://docs.nvidia.com/nim/large-language-models/reference/environment-variables",
                program="nim-serve",
                variable="NIM_PASSTHROUGH_ARGS",
            ),
        ),
        ImageFamily(
            "nvidia/sglang",
            "https://docs.nvidia.com/deeplearning/frameworks/sglang-release-notes/index.html",
            own_tags=True,
        ),
        ImageFamily(
            "ai-dynamo/sglang-runtime",
            "https://catalog.ngc.nvidia.com/orgs/nvidia/teams/ai-dynamo/containers/sglang-runtime",
            own_tags=True,
        ),
        ImageFamily(
            "sglang",
            "https://aws.github.io/deep-learning-containers/releasenotes/sglang/",
            registry=r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?|(?:.*/)?deep-learning-containers",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>\d+\.\d+\.\d+)-gpu-",
            wrapper=_SAGEMAKER,
        ),
        ImageFamily(
            "huggingface-sglang",
            "https://github.com/aws/deep-learning-containers/tree/master/docs/src/data/huggingface-sglang",
            registry=r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>\d+\.\d+\.\d+)-transformers",
            wrapper=_SAGEMAKER,
        ),
        ImageFamily(
            "scitrera/dgx-spark-sglang",
            "https://hub.docker.com/r/scitrera/dgx-spark-sglang",
            entrypoint=(),
            own_tags=True,
            tags=r"^(?P<release>\d+\.\d+\.\d+(?:rc\d+)?(?:\.post\d+)?)(?:-t\d+)?$",
        ),
        ImageFamily("rocm/sgl-dev", "https://hub.docker.com/r/rocm/sgl-dev", own_tags=True),
    )
    image_names = r"sglang"
    house_tags = r"sglang(?:[-_](?:cpu|gpu|cuda|rocm|xpu|server?|inference))*$"
    release_tag = "v{}"

    words = (b"sglang", b"mem-fraction-static")  # files of options name no engine
    stems = ("sglang",)
    yaml_keys = ("sglang",)
    platforms = dict.fromkeys(
        ("aibrix", "dynamo", "kserve", "kthena", "kubeai", "llmaz", "llmkube", "ray", "srt-slurm"), "sglang"
    )
    identified_by_options = True

    config_file = empty_config_file = writes_booleans = True
    value_kinds_of_options = {
        "quantization": ("quantization", ""),
        "speculative-draft-model-quantization": ("quantization", ""),
        "kv-cache-dtype": ("kv-cache-dtypes", ""),
        "attention-backend": ("attention-backends", ""),
        "prefill-attention-backend": ("attention-backends", ""),
        "decode-attention-backend": ("attention-backends", ""),
        "tool-call-parser": ("tool-call-parsers", ""),
        "reasoning-parser": ("reasoning-parsers", ""),
        "speculative-algorithm": ("speculative-methods", ""),
    }

    lowered = ("quantization",)  # ModelConfig.__init__; a parser with choices refuses other spellings before

    classes = r"(?<!def )\b(?:(?:(?:sgl|sglang)\.)?Engine|launch_server|run_server)\("
    variables = ("SGLANG_", "SGL_")
    variables_closed = True
    renamed_variables = ("SGL_", "SGLANG_")
    alone_since = "0.5.0"  # it ran parts of vLLM until 0.4.6
    device_variables = ("SGLANG_USE_CPU_ENGINE",)
    argument_variables = ("SGLANG", "SGL")
    values_read_since = "0.5.3"  # EnvField.get in srt/environ.py: a line in the log at most
    value_kinds = {"bool": "true or 1", "int": "a whole number", "float": "a number"}

    tls_operands = ("ssl-certfile", "ssl-keyfile")
    key_paths = r"/v1/.+"
    checks_no_health = True
    no_paths = r"/(?:healthz|livez|health/(?:ready|live)|v2/health/(?:ready|live)|api/health|healthcheck|health_check)/?"
    port = 30000  # sglang-0.5.23 srt/arg_groups/fields/serving.py
    loopback = True  # in every release, and in its images
    api_key_variables = ("SGLANG_API_KEY",)
    several_nodes = True
    node_options = {
        "model-path": None, "effective.tp-size": 1, "effective.pp-size": 1, "effective.dp-size": 1, "nnodes": 1, "dtype": None,
        "quantization": None, "kv-cache-dtype": None, "context-length": None, "page-size": None,
    }  # fmt: skip
    roles = ("disaggregation-mode", {"prefill": "prefill", "decode": "decode"})
    starts_slowly = True
    model_cache = "/root/.cache/huggingface"
    needs_gpu = True
    api_key_operands = ("api-key", "env.SGLANG_API_KEY")
    counts_gpus = True
    rank_operands = ("effective.tp-size", "effective.pp-size")
    replicas_operand = "effective.dp-size"
    shared_replicas_operand = "effective.dp-attention"
    own_gpu_rules = True
    ranks_share_memory = True

    model_option = "model-path"
    served_name_option = "served-model-name"
    tensor_parallel_option = "tp-size"
    tensor_parallel_operand = "effective.tp-size"
    context_option = "context-length"
    requests_option = "max-running-requests"
    memory_fraction_option = "mem-fraction-static"
    memory_fractions = ("0.95", "0.92", "0.90", "0.88", "0.85", "0.80", "0.75", "0.70")
    kv_dtype_option = "kv-cache-dtype"
    kv_dtype_fp8 = "fp8_e4m3"
    memory_experts = ("kt-num-gpu-experts", (128, 100, 64, 32, 16, 8, 4, 1))  # KTransformers
    prefix_caching_off = "disable-radix-cache"
    speculation_options = ("speculative-",)
    speculation_method_operand = "effective.speculative-algorithm"
    drafted_tokens_operand = "speculative-num-steps"
    drafts_source = "sglang-{} srt/configs/model_config.py"
    drafting = {
        "mtp": (("speculative-algorithm", "NEXTN"), *_CHAIN),
        "eagle3": (("speculative-algorithm", "EAGLE3"), ("speculative-draft-model-path", "{draft}"), *_CHAIN),
        "dflash": (("speculative-algorithm", "DFLASH"), ("speculative-draft-model-path", "{draft}")),
    }

    plans_memory = True
    advised = True
    # drafts end the overlap of the scheduler; without them 158 tok/s of Llama-3.1-8B on an H100 leave 0.35 ms
    host_seconds = (0.35e-3, 1.2e-3)
    draft_has_embeddings = True
    samples = (
        ("lmsysorg/sglang:v0.5.5", ("python3", "-m", "sglang.launch_server"), (*_SAMPLE, "--port", "x")),
        ("example/sglang:a", ("python3", "-m", "sglang.launch_server"), _SAMPLE),
    )


ENGINE = SGLang()
