"""A quantization method that the release refuses unless --allow-deprecated-quantization is given.

Source: DEPRECATED_QUANTIZATION_METHODS in vllm/model_executor/layers/quantization/__init__.py, 0.14.0 to 0.33.0, as far as the
release has the method at all; experts_int8 has a rule of its own.
"""

from __future__ import annotations

from servelint.engines.config import Config

_SINCE = "0.14.0"
_UNTIL = {
    "fbgemm_fp8": None,
    "fp_quant": None,
    "petit_nvfp4": "0.20.0",
    "ptpc_fp8": "0.19.0",
    "deepspeedfp": "0.15.0",
    "bitblas": "0.15.0",
    "gptq_bitblas": "0.15.0",
    "gptq_marlin_24": "0.15.0",
    "hqq": "0.15.0",
    "ipex": "0.15.0",
    "auto-round": "0.15.0",
    "rtn": "0.15.0",
}
"""method -> the first release that does not list it any more"""


def check(config: Config) -> dict[str, str] | None:
    method = config.operand("quantization").value
    if not isinstance(method, str) or method not in _UNTIL or not config.at_least(_SINCE):
        return None
    until = _UNTIL[method]
    return {} if until is None or config.at_least(until) is False else None
