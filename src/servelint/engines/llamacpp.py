"""llama.cpp: its record."""

from __future__ import annotations

from servelint.engines.registry import Dialect, Engine, EntryPoint, ImageFamily, Start

_SERVER = (EntryPoint("llama-server"),)
_DOCS = "https://github.com/ggml-org/llama.cpp/blob/master/docs/docker.md"
_TAGS = r"^(?:server|full)(?:-[a-z][a-z0-9]*)*-(?P<release>b\d+)$"


class LlamaCpp(Engine):
    """llama.cpp, whose releases are builds (b9180)."""

    id, name = "llama.cpp", "llama.cpp"
    source_url = "https://github.com/ggml-org/llama.cpp/blob/{release}/{path}"
    former_owners = ("ggerganov",)
    documentation = "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"
    numbered_builds = True

    command = ("llama-server",)
    starts = (
        Start(
            programs=("llama-server", "llama-server.exe"),
            marks=(frozenset(("-ngl", "--n-gpu-layers", "--gpu-layers")), frozenset(("--port", "--host"))),
        ),
        # copies of it that are named for what they were built with, or from
        Start(
            paths=r"(?:.*/)?llama-server-(?:cuda[\d.-]*|vulkan|rocm|hip|sycl|metal|musa|cann|cpu|gpu|gfx\w+|b\d{4,5}|(?=[a-f]*\d)[0-9a-f]{6,40})(?:\.exe)?"
        ),
        # app/llama.cpp hands the words on; b9254 has it, b9247 does not
        Start("serve", programs=("llama", "llama.exe"), since="b9254"),
        Start("server", programs=("llama", "llama.exe"), since="b9254"),
        # its name up to b3150: https://github.com/ggml-org/llama.cpp/pull/7809
        Start(
            paths=r"(?:^|.*/)(?:\w+[-_.])?llama[-_.]?cpp[^/]*/(?:build/)?(?:bin/)?(?:Release/)?server(?:\.exe)?", until="b3150"
        ),
    )

    images = (
        ImageFamily(
            "ggml-org/llama.cpp",
            _DOCS,
            entrypoint=_SERVER,
            only="^server",
            without="^light",
            tags=_TAGS,
            rolling=r"^server(?:-(?!b\d)[a-z][a-z0-9]*)*$",
        ),
        ImageFamily("ggerganov/llama.cpp", _DOCS, entrypoint=_SERVER, only="^server", without="^light", tags=_TAGS),
        ImageFamily(
            "mostlygeek/llama-swap",
            "https://github.com/mostlygeek/llama-swap/blob/main/README.md",
            entrypoint=(EntryPoint("llama-swap"),),
            own_tags=True,
            tags=r"^v\d+-[a-z0-9]+-(?P<release>b\d+)(?:-|$)",
        ),
    )
    choosing_images = (r"^full(?:-|$)", ("--server", "-s"))  # .devops/tools.sh
    image_names = r"llama-server|[a-z]*llama\.cpp|llamacpp|[a-z]*llama-cpp"
    not_image_names = r"llama-?cpp-python|llama-?\.?cpp-(?:rpc|worker)"

    words = (b"llama-server", b"llama_server", b"llama.cpp", b"llamacpp", b"llama serve", b"llama_cpp.server")
    # https://github.com/abetlen/llama-cpp-python/blob/main/llama_cpp/server/__main__.py: a server with options of its own
    other_servers = r"(?:-m|\buvicorn)[\s\"',]+llama_cpp\.server\b"
    stems = ("llama",)
    yaml_keys = ("llamacpp", "llamaCpp", "llama")
    platforms = {"kubeai": "llamacpp", "llmaz": "llamacpp", "llmkube": "llamacpp"}

    dialect = Dialect(underscores=True, abbreviations=False, equals=False, next_word=True)

    value_kinds_of_options = {
        "cache-type-k": ("kv-cache-dtypes", ""),
        "cache-type-v": ("kv-cache-dtypes", ""),
        "spec-type": ("speculative-methods", ""),
    }

    looked_up_options = {"cache-type-k": "kv-cache-dtypes", "cache-type-v": "kv-cache-dtypes"}  # kv_cache_type_from_str
    variables = ("LLAMA_", "GGML_")
    closed_variables = ("LLAMA_ARG_",)  # common/arg.cpp: each is named by set_env of an option
    option_variables = True
    flag_values = {  # common/arg.cpp: is_truthy and is_falsey
        **dict.fromkeys(("on", "enabled", "true", "1"), True),
        **dict.fromkeys(("off", "disabled", "false", "0"), False),
    }
    negating_variables = "LLAMA_ARG_NO_"
    object_options = ("json-schema",)
    # common/json-schema-to-grammar.cpp: "Unrecognized schema"; from b11076 on common/json-schema.cpp: build_node
    fields_checked_since, empty_lists_before = "b9733", "b11076"
    argument_variables = ("LLAMA_CPP", "LLAMACPP", "LLAMA_SERVER", "LLAMASERVER")

    shares_port = ("b3889", "b8390")  # cpp-httplib, until --reuse-port came
    port = 8080  # common/common.h
    loopback, open_images = True, True  # the same file; ENV LLAMA_ARG_HOST=0.0.0.0 in .devops/*.Dockerfile
    nixos_service = "llama-cpp"
    nixos_options = {"model": "-m", "modelsDir": "--models-dir", "host": "--host", "port": "--port"}
    port_variables = ("LLAMA_ARG_PORT",)
    host_variables = ("LLAMA_ARG_HOST",)
    numbers_converted = True  # common_params_parse_ex in common/arg.cpp: std::stoi of an empty text ends it too
    tls_operands = ("ssl-key-file", "ssl-cert-file", "env.LLAMA_ARG_SSL_KEY_FILE", "env.LLAMA_ARG_SSL_CERT_FILE")
    api_key_operands = ("api-key", "api-key-file", "env.LLAMA_API_KEY")
    open_host_operands = ("host",)
    gpu_images = ("cuda",)
    cpu_operands = (("gpu-layers", "0"), ("device", "none"))
    api_key_variables = ("LLAMA_API_KEY",)

    model_option = "model"
    context_option, requests_option = "ctx-size", "parallel"
    kv_dtype_option, kv_dtype_fp8 = "cache-type-k", "q8_0"
    plans_memory = True
    repository_options = {"model": "hf-repo", "spec-draft-model": "spec-draft-hf"}
    drafting = {  # https://github.com/ggml-org/llama.cpp/blob/master/docs/speculative.md
        "mtp": (("spec-type", "draft-mtp"), ("spec-draft-n-max", "{tokens}")),
        "eagle3": (("spec-type", "draft-eagle3"), ("spec-draft-model", "{draft}"), ("spec-draft-n-max", "{tokens}")),
        "dflash": (("spec-type", "draft-dflash"), ("spec-draft-model", "{draft}"), ("spec-draft-n-max", "{tokens}")),
    }
    advised = True
    host_seconds = (0.0, 0.75e-3)
    overwritten = (  # others collect their values, such as --lora and --override-kv
        *("model", "hf-repo", "host", "port", "ctx-size", "parallel", "batch-size", "ubatch-size", "gpu-layers", "split-mode"),
        *("main-gpu", "threads", "flash-attn", "cache-type-k", "cache-type-v", "predict", "temp", "top-k", "top-p", "min-p"),
        *("spec-type", "spec-draft-model", "spec-draft-n-max", "spec-draft-n-min", "reasoning-format", "reasoning-budget"),
    )

    overwritten_before = {"spec-type": "b9246"}  # common/arg.cpp: b9113 assigns the types, b9246 adds them

    samples = (
        ("ghcr.io/ggml-org/llama.cpp:server-b11434", (), ("-m", "/models/a.gguf", "-c", "8192", "-ngl", "99", "--port", "x")),
    )


ENGINE = LlamaCpp()
