"""Text Generation Inference: its record."""

from __future__ import annotations

from servelint.engines.registry import Engine, EntryPoint, ImageFamily, Start

_LAUNCHER = (EntryPoint("text-generation-launcher"),)


class TGI(Engine):
    """Text Generation Inference."""

    id, name = "tgi", "TGI"

    harvested = False
    source_url = "https://github.com/huggingface/text-generation-inference/blob/v{release}/{path}"
    documentation = "https://huggingface.co/docs/text-generation-inference/reference/launcher"

    command = ("text-generation-launcher",)
    starts = (Start(programs=("text-generation-launcher",)),)

    images = (
        ImageFamily(
            "huggingface/text-generation-inference",
            "https://huggingface.co/docs/text-generation-inference/quicktour",
            entrypoint=_LAUNCHER,
        ),
        ImageFamily("huggingface/tgi-gaudi", "https://github.com/huggingface/tgi-gaudi", entrypoint=_LAUNCHER, own_tags=True),
    )
    image_names = r"text-generation-inference"
    model_variables = ("MODEL_ID",)

    words = (b"text-generation-launcher", b"text-generation-inference")
    stems = ("text-generation",)
    platforms = {"llmaz": "tgi", "llmkube": "tgi"}

    argument_variables = ("TGI",)

    port = 3000  # launcher/src/main.rs
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
