"""Whether a container is given GPUs at all."""

from __future__ import annotations

import re

from servelint.acceptance.complaint import Complaint
from servelint.engines import ENGINE_NAMES
from servelint.engines.config import Config

_WITHOUT = r"(?i)cpu|rocm|xpu|gaudi|hpu|tpu|neuron|ascend|npu|musa|openvino|metal|vulkan"
_ENGINES = ("vllm", "sglang", "lmdeploy", "tgi", "trtllm")


def complaints(config: Config) -> list[Complaint]:
    """A service that asks for no GPU in any of the ways that its runtime knows."""
    launch = config.launch
    container = launch.container
    if container is None or container.reserved is not False or container.open or launch.engine not in _ENGINES:
        return []
    image = launch.image
    if image is None or image.value is None or re.search(_WITHOUT, image.value) or _elsewhere(config):
        return []
    name = ENGINE_NAMES[launch.engine]
    message = f"no GPU is given to this container: {name} finds none unless the host's default runtime adds them"
    if launch.name.startswith("services."):
        advice = "reserve them: deploy.resources.reservations.devices with driver nvidia and capabilities [gpu], or gpus: all"
    else:
        advice = "ask for them: resources.limits nvidia.com/gpu"
    return [Complaint("no-gpu", None, message, advice, "without a GPU")]


def _elsewhere(config: Config) -> bool:
    """Whether the engine is told to run on something else than NVIDIA's GPUs, or may be."""
    device = config.operand("device")
    if device.present is not False and device.value not in ("cuda", "auto"):
        return True
    return any(name in config.launch.env for name in ("VLLM_TARGET_DEVICE", "SGLANG_USE_CPU_ENGINE"))
