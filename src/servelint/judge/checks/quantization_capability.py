"""A quantization method on a GPU whose compute capability is below what the engine's method asks for.

Source: get_min_capability of each method's config class, read in every release (vllm/model_executor/layers/quantization,
sglang/srt/layers/quantization); compared in VllmConfig._get_quantization_config (vllm-0.33.0 vllm/config/vllm.py:930) and in
sglang-0.5.23 srt/model_loader/loader.py:259.
"""

from __future__ import annotations

from servelint.engines.config import Config

LEAST: dict[str, dict[str, tuple[tuple[str, float], ...]]] = {
    "vllm": {
        "fp8": (("0.6.0", 8.0), ("0.14.0", 7.5)),
        "awq": (("0.6.0", 7.5),),
        "awq_marlin": (("0.6.0", 8.0), ("0.14.0", 7.5)),
        "gptq_marlin": (("0.6.0", 8.0), ("0.14.0", 7.5)),
        "bitsandbytes": (("0.6.0", 7.0),),
        "compressed-tensors": (("0.6.0", 7.0),),
        "experts_int8": (("0.6.0", 8.0),),
        "fbgemm_fp8": (("0.6.0", 8.0),),
        "modelopt": (("0.6.1", 8.9), ("0.27.0", 8.0)),
        "modelopt_fp4": (("0.9.0", 8.0), ("0.14.0", 7.5)),
        "moe_wna16": (("0.7.1", 7.0),),
        "mxfp4": (("0.10.1", 8.0),),
        "torchao": (("0.8.4", 7.5),),
        "fp_quant": (("0.11.1", 10.0),),
        "mxfp8": (("0.19.0", 10.0), ("0.20.0", 7.5)),
        "modelopt_mxfp8": (("0.16.0", 10.0), ("0.20.0", 8.0)),
        "modelopt_mixed": (("0.17.0", 8.9), ("0.24.0", 7.5)),
        "petit_nvfp4": (("0.10.2", 9.0),),
        "fp8_per_tensor": (("0.20.0", 7.5),),
        "fp8_per_block": (("0.20.0", 7.5),),
        "fp8_per_channel": (("0.24.0", 7.5),),
        "auto_awq": (("0.24.0", 7.5),),
        "rtn": (("0.9.2", 8.0),),
        "hqq": (("0.9.2", 8.0),),
        "gptq_marlin_24": (("0.9.2", 8.0),),
    },
    "sglang": {
        "fp8": (("0.4.6", 8.0),),
        "awq": (("0.4.6", 7.5),),
        "awq_marlin": (("0.4.9.post3", 8.0),),
        "gptq_marlin": (("0.4.6", 8.0),),
        "mxfp4": (("0.5.0rc0", 8.0),),
        "modelopt_fp8": (("0.5.4", 8.9),),
        "modelopt_fp4": (("0.4.6", 10.0), ("0.5.13", 8.0)),
        "w8a8_fp8": (("0.4.6", 8.9),),
        "w4afp8": (("0.4.9.post1", 9.0),),
        "nvfp4_online": (("0.5.14", 10.0),),
    },
}


def check(config: Config) -> dict[str, str] | None:
    capability = config.operand("gpu.capability").value
    given = config.operand("quantization")
    method = given.value if given.present else config.operand("model.quant-method").value if given.present is False else None
    if not isinstance(capability, float) or not isinstance(method, str):
        return None
    least: float | None = None
    for since, value in LEAST[config.launch.engine].get(method, ()):
        if config.at_least(since):
            least = value
    if least is None or capability >= least:
        return None
    return {"method": method, "least": str(least)}
