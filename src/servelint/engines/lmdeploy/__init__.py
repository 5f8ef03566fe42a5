"""LMDeploy: its record."""

from __future__ import annotations

from servelint.engines.registry import Dialect, Engine, ImageFamily, Start


class LMDeploy(Engine):
    """LMDeploy."""

    id, name = "lmdeploy", "LMDeploy"
    parts = ("facts",)

    source_url = "https://github.com/InternLM/lmdeploy/blob/v{release}/{path}"
    documentation = "https://lmdeploy.readthedocs.io/en/latest/llm/api_server.html"
    distributions = ("lmdeploy",)
    python_package = "lmdeploy"
    harvested_since = "0.2.0"
    unpinned_since = "0.6.0"  # September 2024

    command = ("lmdeploy", "serve", "api_server")
    starts = (Start("serve", "api_server", programs=("lmdeploy",), modules=("lmdeploy",)),)
    routers = ("lmdeploy serve proxy", "-m lmdeploy.serve.proxy.proxy")

    images = (ImageFamily("openmmlab/lmdeploy", "https://github.com/InternLM/lmdeploy/blob/v0.16.0/docker/Dockerfile"),)
    image_names = r"lmdeploy"

    classes = r"(?<!def )\b(?:\w+\.)?(?:pipeline|serve|TurbomindEngineConfig|PytorchEngineConfig)\("
    words = (b"lmdeploy",)
    stems = ("lmdeploy",)

    # lmdeploy/cli/utils.py: FlexibleArgumentParser
    dialect = Dialect("model-path", underscores=True, json_paths="--", since="0.9.2", before=Dialect("model-path"))
    looked_up_options = {"quant-policy": "kv-cache-dtypes"}
    lowered = ("quant-policy",)
    value_kinds_of_options = {
        "tool-call-parser": ("tool-call-parsers", ""),
        "reasoning-parser": ("reasoning-parsers", ""),
        "speculative-algorithm": ("speculative-methods", ""),
    }

    variables = ("LMDEPLOY_",)
    variables_closed = True
    argument_variables = ("LMDEPLOY",)

    port = 23333  # lmdeploy/cli/serve.py
    port_option, host_option = "server-port", "server-name"
    several_nodes = True
    node_options = {"model": None, "tp": 1, "dp": 1, "nnodes": 1, "dtype": None}
    starts_slowly = True
    model_cache = "/root/.cache/huggingface"
    needs_gpu = True
    rank_operands = ("tp",)
    uncounted_operands = (
        "dp",
        "ep",
        "cp",
        "attn-tp-size",
        "mlp-tp-size",
        "moe-tp-size",
        "device",
        "distributed-executor-backend",
    )
    counts_gpus = True
    ranks_share_memory = True
    tensor_parallel_option = "tp"

    samples = (("openmmlab/lmdeploy:v0.10.0", ("lmdeploy", "serve", "api_server"), ("Qwen/Qwen3-8B", "--tp", "2", "--no")),)


ENGINE = LMDeploy()
