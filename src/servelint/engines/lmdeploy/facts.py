"""What LMDeploy makes of its settings, release by release: effective facts."""

from __future__ import annotations

from servelint.engines.config import UNKNOWN, Config, Fact, Operand

_OTHER_CHIPS = ("ascend", "dlinfer", "maca", "camb")
"""Words in the names of images that are built without TurboMind."""
_LLAMAS = ("LlamaForCausalLM", "Qwen2ForCausalLM")


def backend(config: Config) -> Operand:
    """The backend that serves: TurboMind unless --backend says pytorch, or TurboMind does not support the model.

    Source: autoget_backend in lmdeploy/archs.py and is_supported in lmdeploy/turbomind/supported_models.py, which is
    harvested from 0.2.5 on. Before 0.14.0 it looks at the size of the heads too: 128 is supported by every release.
    """
    given = config.operand("backend")
    if given.present is not False and given.value != "turbomind":
        return given
    image = config.launch.image.flat if config.launch.image is not None else ""
    device = config.operand("device")
    architecture, method = config.operand("model.architecture"), config.operand("model.quant-method").value
    unread = method is None and config.operand("model.quantization").value != "none"
    elsewhere = device.present is None or (device.present and device.value != "cuda")
    unsure = unread or elsewhere or any(word in image for word in _OTHER_CHIPS) or config.index is None
    if unsure or not isinstance(architecture.value, str) or config.names("turbomind-architectures") is None:
        return UNKNOWN
    known = config.named("turbomind-architectures", architecture.value)
    if known is None or not known.here or method == "smooth_quant":
        return Operand(True, "pytorch", site=architecture.site)
    heads, width = config.operand("model.heads").value, config.operand("model.hidden-size").value
    fits = architecture.value in _LLAMAS and isinstance(heads, int) and width == 128 * heads
    return UNKNOWN if "conditional" in known.body and not fits else Operand(True, "turbomind", site=architecture.site)


FACTS = {
    "backend": Fact(backend, "text", "the backend that serves the model: turbomind or pytorch"),
}
