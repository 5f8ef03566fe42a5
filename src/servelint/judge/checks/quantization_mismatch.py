"""--quantization names another method than the one in the checkpoint's config.json.

Some pairs are taken as one (awq and awq_marlin), and some releases overrule the option; here are those that every release
refuses. Source: ModelConfig._verify_quantization, run on vLLM 0.11.2, 0.16.0, 0.19.1, 0.20.2, 0.24.0 and 0.33.0,
and on SGLang 0.5.2, 0.5.9, 0.5.12, 0.5.20 and 0.5.23. From 0.20 on vLLM takes gpt-oss for what it is, whatever the option says.
"""

from __future__ import annotations

from servelint.engines.config import Config

REFUSED = {
    ("vllm", "fp8"): (
        "awq", "awq_marlin", "gptq", "gptq_marlin", "bitsandbytes", "modelopt", "modelopt_fp4", "compressed-tensors", "mxfp4",
        "torchao", "experts_int8", "fbgemm_fp8", "ptpc_fp8", "fp8_per_tensor", "moe_wna16",
    ),
    ("vllm", "awq"): (
        "fp8", "gptq", "gptq_marlin", "bitsandbytes", "compressed-tensors", "modelopt", "modelopt_fp4", "mxfp4", "torchao",
        "experts_int8", "quark", "fp8_per_tensor",
    ),
    ("vllm", "gptq"): (
        "fp8", "awq", "awq_marlin", "bitsandbytes", "compressed-tensors", "modelopt", "modelopt_fp4", "experts_int8",
        "fp8_per_tensor",
    ),
    ("vllm", "compressed-tensors"): (
        "fp8", "awq", "awq_marlin", "gptq", "gptq_marlin", "bitsandbytes", "modelopt", "modelopt_fp4", "experts_int8",
        "fp8_per_tensor", "moe_wna16",
    ),
    ("vllm", "bitsandbytes"): (
        "fp8", "awq", "awq_marlin", "gptq", "gptq_marlin", "compressed-tensors", "modelopt", "modelopt_fp4", "experts_int8",
        "fp8_per_tensor", "moe_wna16",
    ),
    ("vllm", "mxfp4"): ("fp8", "awq", "awq_marlin", "gptq", "gptq_marlin", "bitsandbytes", "modelopt", "compressed-tensors"),
    ("sglang", "fp8"): (
        "awq", "awq_marlin", "gptq", "gptq_marlin", "bitsandbytes", "compressed-tensors", "gguf", "modelopt", "modelopt_fp8",
        "moe_wna16", "mxfp4", "w8a8_fp8", "w8a8_int8", "w4afp8", "petit_nvfp4", "auto-round",
    ),
    ("sglang", "awq"): (
        "fp8", "gptq", "bitsandbytes", "compressed-tensors", "gguf", "modelopt", "modelopt_fp8", "modelopt_fp4", "mxfp4",
        "w8a8_fp8", "w8a8_int8", "w4afp8", "petit_nvfp4",
    ),
    ("sglang", "mxfp4"): (
        "fp8", "awq", "awq_marlin", "gptq", "gptq_marlin", "bitsandbytes", "compressed-tensors", "gguf", "modelopt",
        "modelopt_fp8", "modelopt_fp4", "moe_wna16", "w8a8_fp8", "w8a8_int8", "w4afp8",
    ),
}  # fmt: skip


def check(config: Config) -> dict[str, str] | None:
    method = config.operand("model.quant-method").value
    given = config.operand("quantization").value
    if method is None or given not in REFUSED.get((config.launch.engine, str(method)), ()):
        return None
    if method == "mxfp4" and config.launch.engine == "vllm" and config.at_least("0.20.0") is not False:
        return None
    return {"method": str(method)}
