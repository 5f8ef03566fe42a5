"""The header of a safetensors file: what tensors it holds, without reading them.

Format: 8 bytes, little-endian, the length of a JSON object; then that object, from names of tensors to dtype, shape and offsets
(https://github.com/huggingface/safetensors#format). What is not of this form is a problem told in words, never an exception.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[int, int], bytes | None]
    """Gives bytes of a file by offset and length, fewer at its end; None if it cannot be read."""

HEADER_AT_MOST = 100_000_000
"""As the format's own library has it: no header is longer."""
_BITS = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "I64": 64,
    "U64": 64,
    "F64": 64,
    "C64": 64,
}


class Tensor:
    """One tensor of a file: its name, dtype as the file has it, shape, and bytes."""

    __slots__ = ("bytes", "dtype", "name", "shape")

    def __init__(self, name: str, dtype: str, shape: tuple[int, ...], size: int) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.bytes = size


def read(reader: Reader) -> list[Tensor] | str:
    """The tensors of a file, or what is wrong with it."""
    start = reader(0, 8)
    if start is None or len(start) < 8:
        return "it is shorter than the length of its header"
    length = int.from_bytes(start, "little")
    if not 2 <= length <= HEADER_AT_MOST:
        return f"its header would be {length} bytes long"
    text = reader(8, length)
    if text is None or len(text) < length:
        return f"it ends within its header of {length} bytes"
    try:
        data = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        return "its header is not JSON"
    if not isinstance(data, dict):
        return "its header is no object"
    found: list[Tensor] = []
    for name, entry in data.items():
        if name == "__metadata__":
            continue
        tensor = _tensor(name, entry)
        if isinstance(tensor, str):
            return tensor
        found.append(tensor)
    return found


def _tensor(name: str, entry: object) -> Tensor | str:
    """Its offsets and its shape tell the same size, or it is told wrongly."""
    if not isinstance(entry, dict):
        return f"what it says of {name[:80]} is no object"
    dtype, shape, offsets = entry.get("dtype"), _counts(entry.get("shape")), _counts(entry.get("data_offsets"))
    if not isinstance(dtype, str) or shape is None or offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
        return f"what it says of {name[:80]} has no dtype, shape or offsets"
    size = offsets[1] - offsets[0]
    if dtype in _BITS and -(-elements(shape) * _BITS[dtype] // 8) != size:
        return f"{name[:80]} has {size} bytes for a shape of {elements(shape)} {dtype}"
    return Tensor(name, dtype, shape, size)


def _counts(value: object) -> tuple[int, ...] | None:
    """A list of numbers; None if it is none."""
    if not isinstance(value, list):
        return None
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one < 1 << 62 for one in value):
        return None
    return tuple(value)


def elements(shape: tuple[int, ...]) -> int:
    """How many elements a shape has; one that has no dimension has one."""
    total = 1
    for one in shape:
        total *= one
        if total > 1 << 80:
            break
    return total
