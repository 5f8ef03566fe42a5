"""Bytes of one matrix in the format of a checkpoint, and of what a format leaves as it is."""

from __future__ import annotations

from servelint.models.architecture import Format
from servelint.models.patterns import patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
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


class Formats:
    """The formats of a checkpoint's modules, whose lists are read once."""

    __slots__ = ("_ignored", "_main", "_several", "_whole")

    def __init__(self, quantization: Quantization) -> None:
        self._main = quantization.formats[-1]
        self._whole = quantization.scheme in ("none", "gguf")
        self._ignored = patterns(quantization.ignored)
        self._several = [(one, patterns(one.targets)) for one in quantization.formats if one.targets]

    def of(self, module: Module) -> Format:
        """The format of a module: none for what no quantization takes and for what the checkpoint's list leaves out."""
        if self._whole:
            return self._main if module.columns > 1 and self._main.scheme == "gguf" else PLAIN
        if module.plain or (self._ignored is not None and self._ignored.names(module.name)):
            return PLAIN
        for one, targets in self._several:
            if targets is not None and targets.names(module.name):
                return one
        if self._main.targets or module.group == "lm_head":
            return PLAIN
        if module.group == "mtp" and self._main.bits < 8:
            return PLAIN  # whoever quantizes to 4 bits leaves it, and tells so in no list if his tool does not know it
        return self._main

    def of_layer(self, index: int, tails: tuple[str, ...]) -> object:
        """What the lists say of a layer: two of which it is equal have their modules in the same formats.

        tails: the names of its modules after the layer's number, ".self_attn.q_proj"
        """
        if self._whole:
            return None
        lists = [self._ignored, *[targets for _, targets in self._several]]
        return tuple([one.of_layer(index, tails) for one in lists if one is not None])


def format_of(module: Module, quantization: Quantization) -> Format:
    """The format of one module."""
    return Formats(quantization).of(module)
