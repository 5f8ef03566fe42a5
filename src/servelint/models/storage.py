"""Bytes of one matrix in the format of a checkpoint, and of what a format leaves as it is."""

from __future__ import annotations

import re
from functools import lru_cache

from servelint.models.architecture import Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from servelint.models.architecture import Quantization
    from servelint.models.modules import Module

PLAIN = Format()
GGUF_BITS = {
    "IQ1_S": 2.0042,
    "IQ1_M": 2.1460,
    "IQ2_XXS": 2.3824,
    "IQ2_XS": 2.5882,
    "IQ2_S": 2.7403,
    "IQ2_M": 2.9294,
    "IQ3_XXS": 3.2548,
    "IQ3_XS": 3.4977,
    "IQ3_S": 3.6606,
    "IQ3_M": 3.7628,
    "IQ4_XS": 4.4597,
    "IQ4_NL": 4.6818,
    "Q2_K": 3.1593,
    "Q2_K_S": 2.9697,
    "Q3_K_S": 3.6429,
    "Q3_K_M": 3.9960,
    "Q3_K_L": 4.2979,
    "Q4_0": 4.6590,
    "Q4_1": 5.1070,
    "Q4_K_S": 4.6672,
    "Q4_K_M": 4.8944,
    "Q5_0": 5.5550,
    "Q5_1": 6.0027,
    "Q5_K_S": 5.5704,
    "Q5_K_M": 5.7036,
    "Q6_K": 6.5633,
    "Q8_0": 8.5008,
    "F16": 16.0005,
    "BF16": 16.0005,
}
"""Bits of a weight, over all of a Llama-3.1-8B: llama.cpp tools/quantize/README.md."""


def tensors(kind: Format, rows: int, columns: int, element: int) -> list[int]:
    """Bytes of the tensors that hold one matrix: the weights first, then their scales and zero points.

    element: bytes of what is not quantized. Shapes: vllm-0.33.0 vllm/model_executor/layers/quantization (create_weights of each
    method); bitsandbytes with the constants of each 64 weights in float32 (vllm-0.19.1 quantization/bitsandbytes.py).
    """
    size, group = rows * columns, kind.group or columns or 1
    groups = rows * -(-columns // group)
    if kind.scheme == "none":
        return [size * element]
    if kind.scheme == "fp8-block":
        block = kind.group or 128
        return [size, 4 * -(-rows // block) * -(-columns // block)]
    if kind.scheme in ("fp8", "bnb8"):
        return [size, 4 * rows]
    if kind.scheme == "int8":
        return [size, 2 * groups]
    if kind.scheme in ("int4", "int"):
        packed = -(-size * int(kind.bits) // 8)
        return [packed, 2 * groups, groups // 2] if kind.zeros else [packed, 2 * groups]
    if kind.scheme == "nvfp4":
        return [size // 2, rows * -(-columns // 16)]
    if kind.scheme == "mxfp4":
        return [size // 2, rows * -(-columns // 32)]
    if kind.scheme == "mxfp8":
        return [size, rows * -(-columns // 32)]
    if kind.scheme == "bnb4":
        return [size // 2, 4 * -(-size // 64)]
    return [int(size * kind.bits / 8)]


def format_of(module: Module, quantization: Quantization) -> Format:
    """The format of a module: none for what no quantization takes and for what the checkpoint's list leaves out."""
    if quantization.scheme == "gguf":
        return quantization.formats[-1] if module.columns > 1 else PLAIN
    if module.plain or quantization.scheme == "none" or _any(quantization.ignored, module.name):
        return PLAIN
    for one in quantization.formats:
        if one.targets and _any(one.targets, module.name):
            return one
    main = quantization.formats[-1]
    if main.targets or module.group == "lm_head":
        return PLAIN
    if module.group == "mtp" and main.bits < 8:
        return PLAIN  # whoever quantizes to 4 bits leaves it, and tells so in no list if his tool does not know it
    return main


def _any(patterns: tuple[str, ...], name: str) -> bool:
    """Whether one of the patterns of a checkpoint's list names a module, or what it is in."""
    if not patterns:
        return False
    plain, expressions = _compiled(patterns)
    for one in _spoken(name):
        if plain.search(one) is not None or any(expression.match("model." + one) for expression in expressions):
            return True
    return False


def _spoken(name: str) -> tuple[str, ...]:
    """The names that checkpoints give a module: routed experts have each its number, and without a gate up_proj alone."""
    if ".experts." not in name:
        return (name,)
    return (
        name,
        name.replace(".experts.gate_up_proj", ".experts.0.gate_proj").replace(".experts.down_proj", ".experts.0.down_proj"),
        name.replace(".experts.gate_up_proj", ".experts.0.up_proj"),
    )


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...]]:
    """Names as one expression, and the expressions among them; of names whole parts, from `layers` on.

    What comes before `layers` differs between releases of Transformers.
    """
    bodies: list[str] = []
    expressions: list[re.Pattern[str]] = []
    for pattern in patterns:
        if (
            len(pattern) > _PATTERN_AT_MOST
            or len(_REPEATS.findall(pattern)) > _REPEATS_AT_MOST
            or _REPEATED_GROUP.search(pattern)
        ):
            continue  # no checkpoint needs it, and matching it could take for ever
        if pattern.startswith("re:"):
            try:
                expressions.append(re.compile(_translated(pattern[3:], re.escape)))
            except re.error:
                continue
        else:
            start = pattern.find("layers.")
            text = pattern[start:] if start >= 0 and not pattern.startswith("mtp") else pattern
            for before in ("model.language_model.", "language_model.model.", "language_model.", "model."):
                text = text.removeprefix(before)
            bodies.append(re.escape(_translated(text, str)).replace(r"\*", ".*").replace(r"\?", "."))
    return re.compile(r"(?:^|\.)(?:" + "|".join(bodies) + r")(?:\.|$)" if bodies else r"(?!)"), tuple(expressions)


_PATTERN_AT_MOST = 2000
_REPEATS_AT_MOST = 4
_REPEATS = re.compile(r"[*+{]")
_REPEATED_GROUP = re.compile(r"\)[*+{]")


def _translated(text: str, written: Callable[[str], str]) -> str:
    """A name, or an expression that has names as `written`, with the names that modules have here."""
    for old, new in _SAME:
        text = text.replace(written(old), written(new))
    return text


_SAME = (
    (".attn.", ".self_attn."),
    ("ffn.", "mlp."),
    ("block_sparse_moe", "mlp"),
    ("feed_forward", "mlp"),
    ("shared_expert.", "shared_experts."),
    ("mixer.q_proj", "self_attn.q_proj"),
    ("mixer.k_proj", "self_attn.k_proj"),
    ("mixer.v_proj", "self_attn.v_proj"),
    ("mixer.o_proj", "self_attn.o_proj"),
    ("mixer.qkv_proj", "self_attn.*_proj"),
    ("mixer.experts", "mlp.experts"),
    ("mixer.shared_experts", "mlp.shared_experts"),
    ("mixer.gate", "mlp.gate"),
    ("mixer.fc", "mlp.fc"),
    ("mixer.up_proj", "mlp.up_proj"),
    ("mixer.down_proj", "mlp.down_proj"),
    ("router.gate", "gate"),
    (".w1", ".gate_proj"),
    (".w2", ".down_proj"),
    (".w3", ".up_proj"),
    ("index_q_proj", "indexer.wq_b"),
    ("index_k_proj", "indexer.wk"),
)
"""Names of the same modules in checkpoints of other families."""
