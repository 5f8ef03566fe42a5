"""--quantization names another method than the one in the checkpoint's config.json.

Some pairs are taken as one (awq and awq_marlin), and some releases overrule the option; here are those that every release
refuses. Source: ModelConfig._verify_quantization, run on vLLM 0.11.2, 0.16.0, 0.19.1, 0.20.2, 0.24.0 and 0.33.0,
and on SGLang 0.5.6, 0.5.9 and 0.5.23. From 0.20 on vLLM takes gpt-oss for what it is, whatever the option says.
"""

from __future__ import annotations

from servelint.engines.config import Config

REFUSED = {
    ("vllm", "fp8"): (
        "awq", "awq_marlin", "gptq", "gptq_marlin", "bitsandbytes", "modelopt", "modelopt_fp4", "compressed-tensors", "mxfp4",
        "torchao", "experts_int8", "fbgemm_fp8", "ptpc_fp8",
    ),
    ("vllm", "awq"): (
        "fp8", "gptq", "gptq_marlin", "bitsandbytes", "compressed-tensors", "modelopt", "mxfp4", "torchao", "experts_int8",
        "quark",
    ),
    ("vllm", "mxfp4"): ("fp8", "awq", "awq_marlin", "gptq", "gptq_marlin", "bitsandbytes", "modelopt", "compressed-tensors"),
    ("sglang", "fp8"): ("awq", "gptq", "bitsandbytes", "modelopt", "modelopt_fp8", "w8a8_fp8"),
    ("sglang", "awq"): ("fp8", "gptq", "bitsandbytes"),
    ("sglang", "mxfp4"): ("fp8", "awq", "gptq", "modelopt"),
}  # fmt: skip


def check(config: Config) -> dict[str, str] | None:
    method = config.operand("model.quant-method").value
    given = config.operand("quantization").value
    if method is None or given not in REFUSED.get((config.launch.engine, str(method)), ()):
        return None
    if method == "mxfp4" and config.launch.engine == "vllm" and config.at_least("0.20.0") is not False:
        return None
    return {"method": str(method)}
