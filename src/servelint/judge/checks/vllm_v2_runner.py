"""What Model Runner V2 does not have in a release, so that VLLM_USE_V2_MODEL_RUNNER=1 keeps it from starting.

Source: VllmConfig._validate_v2_model_runner in vllm/config/vllm.py (0.20.0), later _get_v2_model_runner_unsupported_features
there (0.22.0 to 0.33.0). Without the variable vLLM falls back to the V1 runner.
"""

from __future__ import annotations

from servelint.engines.config import Config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Scalar

ANY = "any value"

_DRAFTS: tuple[str, Scalar] = ("effective.speculative-method", "eagle eagle3 mtp draft_model")

_SETTINGS: list[tuple[str, list[tuple[str, Scalar]], str, str | None]] = [
    ("hybrid models", [("model.hybrid", True)], "0.20.0", "0.23.0"),
    ("hybrid models with prefix caching", [("model.mixer", "gdn"), ("effective.prefix-caching", True)], "0.23.0", "0.25.0"),
    ("custom logits processors", [("logits-processors", ANY)], "0.20.0", "0.31.0"),
    ("--kv-sharing-fast-prefill", [("kv-sharing-fast-prefill", True)], "0.20.0", "0.30.0"),
    ("--enable-dbo", [("enable-dbo", True)], "0.20.0", "0.30.0"),
    ("--enable-dbo with LoRA", [("enable-dbo", True), ("enable-lora", True)], "0.30.0", None),
    ("--enable-dbo with speculative decoding", [("enable-dbo", True), ("effective.speculation", True)], "0.30.0", None),
    ("--enable-dbo with a hybrid model", [("enable-dbo", True), ("model.hybrid", True)], "0.30.0", None),
    (
        "--enable-dbo with piecewise CUDA graphs",
        [("enable-dbo", True), ("compilation-config.cudagraph_mode", "PIECEWISE")],
        "0.30.0",
        None,
    ),
    ("--enable-return-routed-experts", [("enable-return-routed-experts", True)], "0.20.0", "0.28.0"),
    ("--ec-transfer-config", [("ec-transfer-config", ANY)], "0.20.0", "0.28.0"),
    ("--enable-prompt-embeds", [("enable-prompt-embeds", True)], "0.22.0", "0.29.0"),
    ("--logprobs-mode raw_logits", [("logprobs-mode", "raw_logits")], "0.22.0", "0.26.0"),
    ("--logprobs-mode processed_logits", [("logprobs-mode", "processed_logits")], "0.22.0", "0.26.0"),
    ("--enable-elastic-ep", [("enable-elastic-ep", True)], "0.24.0", "0.32.0"),
    ("parallel drafting", [("speculative-config.parallel_drafting", True), _DRAFTS], "0.22.0", None),
    ("drafts with another vocabulary", [("speculative-config.use_heterogeneous_vocab", True)], "0.32.0", None),
]
"""(what it is, operands with the values that ask for it, the first release that refuses it, the first that does not any more);
a text may hold several values"""

_DBO: tuple[str, Scalar] = ("enable-dbo", True)
_TORCHRUN: tuple[str, Scalar] = ("distributed-executor-backend", "external_launcher")
_SIZES: list[tuple[str, tuple[str, Scalar] | None, str, str, str | None]] = [
    ("prefill-context-parallel-size", None, "prefill context parallelism", "0.20.0", "0.26.0"),
    ("prefill-context-parallel-size", _DBO, "--enable-dbo with context parallelism", "0.30.0", None),
    ("decode-context-parallel-size", _DBO, "--enable-dbo with context parallelism", "0.30.0", None),
    ("pipeline-parallel-size", _DBO, "--enable-dbo with pipeline parallelism", "0.30.0", None),
    ("pipeline-parallel-size", _TORCHRUN, "pipeline parallelism with external_launcher", "0.24.0", None),
]
"""sizes above 1: (the option, what must stand beside it, what it is, the first release that refuses it, the first that does
not)"""

_METHODS: dict[str, str | None] = {
    "ngram": "0.32.0",
    "ngram_gpu": "0.32.0",
    "draft_model": "0.31.0",
    "medusa": "0.33.0",
    "mlp_speculator": "0.33.0",
    "extract_hidden_states": "0.29.0",
    "dflash": "0.24.0",
    "suffix": None,
    "custom_class": None,
}
"""speculative methods that 0.20.0 refuses -> the first release that takes them"""


def check(config: Config) -> dict[str, str] | None:
    method = config.operand("effective.speculative-method").value
    if isinstance(method, str) and method in _METHODS and _within(config, "0.20.0", _METHODS[method]):
        return {"feature": f"the speculative method {method}"}
    for name, operands, since, until in _SETTINGS:
        if _within(config, since, until) and all(_asks(config, operand, value) for operand, value in operands):
            return {"feature": name}
    for name, beside, words, since, until in _SIZES:
        size = config.operand(name).value
        asked = beside is None or _asks(config, *beside)
        if isinstance(size, int) and size > 1 and asked and _within(config, since, until):
            return {"feature": words}
    return None


def _asks(config: Config, name: str, value: Scalar) -> bool:
    operand = config.operand(name)
    if operand.present is not True or value == ANY:
        return operand.present is True
    return operand.value in value.split() if isinstance(value, str) else operand.value == value


def _within(config: Config, since: str, until: str | None) -> bool:
    return config.at_least(since) is True and (until is None or config.at_least(until) is False)
