"""Text Generation Inference: its record."""

from __future__ import annotations

from servelint.engines.registry import Engine, EntryPoint, ImageFamily, Start

_LAUNCHER = (EntryPoint("text-generation-launcher"),)


class TGI(Engine):
    """Text Generation Inference."""

    id, name = "tgi", "TGI"

    harvested = False

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

    words = (b"text-generation-launcher", b"text-generation-inference")
    stems = ("text-generation",)
    platforms = {"llmaz": "tgi"}

    argument_variables = ("TGI",)

    port = 80  # the Dockerfile of text-generation-inference; the launcher's own is 3000
    port_variables = ("PORT",)
    host_variables = ("HOSTNAME",)
    answers_on_port = False
    rank_operands = ("num-shard",)
    model_option = "model-id"

    samples = (("ghcr.io/huggingface/text-generation-inference:3.3.4", (), ("--model-id", "Qwen/Qwen3-8B", "--port", "x")),)


ENGINE = TGI()
