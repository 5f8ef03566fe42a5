"""What SGLang makes of its settings, release by release."""

from __future__ import annotations

from servelint.engines.config import ABSENT, UNKNOWN, Config, Operand

_TRUE, _FALSE = ("true", "1", "yes", "y"), ("false", "0", "no", "n")
_ROCM_WORDS = ("rocm", "mi30x", "mi35x", "mi300", "mi325", "mi350", "mi355")


def speculative_algorithm(config: Config) -> Operand:
    """The algorithm that runs: NEXTN is EAGLE in every release (to FROZEN_KV_MTP only for Gemma 4 assistants).

    Source: srt/server_args.py (0.4.6 line 317), srt/arg_groups/speculative_hook.py (0.5.23 line 81).
    """
    given = config.operand("speculative-algorithm")
    if not isinstance(given.value, str):
        return given
    name = given.value.upper() if config.at_least("0.5.12") else given.value
    return Operand(True, "EAGLE" if name == "NEXTN" else name, given.text, given.site)


def spec_v2(config: Config) -> Operand:
    """SGLANG_ENABLE_SPEC_V2 as SGLang reads a boolean (srt/environ.py EnvBool)."""
    variable = config.operand("env.SGLANG_ENABLE_SPEC_V2")
    if not isinstance(variable.value, str):
        return variable
    value = variable.value.lower()
    if value in _TRUE or value in _FALSE:
        return Operand(True, value in _TRUE, variable.text, variable.site)
    return Operand(None, site=variable.site)


def mamba_strategy(config: Config) -> Operand:
    """The radix cache strategy of hybrid models, under its names before and after 0.5.14."""
    for name in ("mamba-radix-cache-strategy", "mamba-scheduler-strategy"):
        given = config.operand(name)
        if given.present is not False:
            return given
    return ABSENT


def says_rocm(config: Config) -> Operand:
    """Whether the launch's image, an AMD variable or an AMD backend says that it is for ROCm."""
    image, backend = config.operand("container.image"), config.operand("attention-backend")
    said = image.text.flat.lower() if image.text is not None else ""
    amd = any(name.startswith(("HIP_", "ROCM_", "RCCL_", "SGLANG_USE_AITER", "HSA_")) for name in config.launch.env)
    if amd or any(word in said for word in _ROCM_WORDS) or backend.value == "aiter":
        return Operand(True, True)
    written = [operand.text for operand in (image, backend) if operand.text is not None]
    return Operand(True, False) if all(text.known for text in written) else UNKNOWN


FACTS = {
    "speculative-algorithm": speculative_algorithm,
    "spec-v2": spec_v2,
    "mamba-strategy": mamba_strategy,
    "says-rocm": says_rocm,
}
