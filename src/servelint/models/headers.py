"""The headers of safetensors and GGUF files: tensors and key-values, without reading the weights.

safetensors: 8 bytes, little-endian, the length of a JSON object; then the object, from names of tensors to dtype, shape and
offsets (https://github.com/huggingface/safetensors#format).

GGUF: llama.cpp docs (gguf.md): magic, version, counts of tensors and of key-values, then these. Arrays are skipped, because a
tokenizer's vocabulary is most of a header.

A file that is not of this form is a problem in words, never an exception.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from math import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[int, int], bytes | None]
    """Reads bytes of a file by offset and length, fewer at its end, None if it cannot be read."""

_JSON_AT_MOST = 100_000_000
"""The limit of the format's own library."""
_BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64,
    "U64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
_CHUNK = 1 << 16
_HEADER_AT_MOST = 1 << 28
_KEYS_AT_MOST = 1 << 16
_TENSORS_AT_MOST = 1 << 20
_TEXT_AT_MOST = 1 << 16
_DIMENSIONS_AT_MOST = 4
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
GGUF_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 40), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292), 16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50), 20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136), 24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36), 41: ("Q1_0", 128, 18),
}  # fmt: skip
"""Number of a type of tensor -> its name, weights of a block and bytes of a block: gguf 0.19.0 (PyPI) constants.py
GGML_QUANT_SIZES."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of a file.

    Attributes:
        name: its name.
        dtype: its type as the file has it, such as "BF16" or "Q4_K".
        shape: its dimensions in the order of the file.
        bytes: its size.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int


def read_safetensors(reader: Reader) -> list[Tensor] | str:
    """The tensors of a safetensors file, or what is wrong with it."""
    start = reader(0, 8)
    if start is None or len(start) < 8:
        return "it is shorter than the length of its header"
    length = int.from_bytes(start, "little")
    if not 2 <= length <= _JSON_AT_MOST:
        return f"its header would be {length} bytes long"
    text = reader(8, length)
    if text is None or len(text) < length:
        return f"it ends within its header of {length} bytes"
    try:
        data = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        return "its header is not JSON"
    if not isinstance(data, dict):
        return "its header is not an object"
    found: list[Tensor] = []
    for name, entry in data.items():
        if name == "__metadata__":
            continue
        tensor = _safetensor(name, entry)
        if isinstance(tensor, str):
            return tensor
        found.append(tensor)
    return found


def _safetensor(name: str, entry: object) -> Tensor | str:
    """A tensor whose offsets and shape agree on its size, or what is wrong with its entry."""
    if not isinstance(entry, dict):
        return f"what it says of {name[:80]} is not an object"
    dtype, shape, offsets = entry.get("dtype"), _counts(entry.get("shape")), _counts(entry.get("data_offsets"))
    if not isinstance(dtype, str) or shape is None or offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
        return f"what it says of {name[:80]} has no dtype, shape or offsets"
    size = offsets[1] - offsets[0]
    if dtype in _BITS and -(-elements(shape) * _BITS[dtype] // 8) != size:
        return f"{name[:80]} has {size} bytes for a shape of {elements(shape)} {dtype}"
    return Tensor(name, dtype, shape, size)


def _counts(value: object) -> tuple[int, ...] | None:
    """The elements of a list of whole numbers, None for anything else."""
    if not isinstance(value, list):
        return None
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one < 1 << 62 for one in value):
        return None
    return tuple(value)


def elements(shape: tuple[int, ...]) -> int:
    """The number of elements of a shape, 1 for a shape without dimensions."""
    total = 1
    for one in shape:
        total *= one
        if total > 1 << 80:
            break
    return total


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a GGUF file.

    Attributes:
        version: the version of the format.
        keys: its key-values without arrays. A text longer than 64 KiB is empty.
        tensors: its tensors.
    """

    version: int
    keys: dict[str, int | float | bool | str]
    tensors: list[Tensor]

    @property
    def bytes(self) -> int:
        """The size of all tensors without padding."""
        return sum(tensor.bytes for tensor in self.tensors)


class _Broken(Exception):
    """Ends the reading of a header. It does not leave this module."""


@dataclass(slots=True, eq=False)
class _Bytes:
    """Goes through a file in chunks, so that no length stated by a file is ever requested at once."""

    reader: Reader
    buffer: bytes = b""
    offset: int = 0
    place: int = 0

    def take(self, size: int) -> bytes:
        if len(self.buffer) - self.place < size:
            rest = self.buffer[self.place :]
            more = self.reader(self.offset, max(_CHUNK, size - len(rest)))
            if more is None or len(rest) + len(more) < size:
                raise _Broken("it ends within its header")
            self.offset += len(more)
            self.buffer, self.place = rest + more, 0
            self.limit()
        self.place += size
        return self.buffer[self.place - size : self.place]

    def skip(self, size: int) -> None:
        here = len(self.buffer) - self.place
        if size <= here:
            self.place += size
        else:
            self.offset += size - here
            self.buffer, self.place = b"", 0
            self.limit()

    def limit(self) -> None:
        if self.offset > _HEADER_AT_MOST:
            raise _Broken(f"its header is longer than {_HEADER_AT_MOST >> 20} MiB")

    def number(self, code: str) -> int:
        return int(struct.unpack("<" + code, self.take(struct.calcsize(code)))[0])

    def text(self) -> str:
        size = self.number("Q")
        if size > _TEXT_AT_MOST:
            self.skip(size)
            return ""
        return self.take(size).decode("utf-8", "replace")


def read_gguf(reader: Reader) -> Header | str:
    """The header of a GGUF file, or what is wrong with it."""
    try:
        return _header(_Bytes(reader))
    except _Broken as problem:
        return str(problem)


def _header(file: _Bytes) -> Header:
    if file.take(4) != b"GGUF":
        raise _Broken("it is not GGUF")
    version = file.number("I")
    if version not in (2, 3):
        raise _Broken(f"its version is {version}")
    tensors, keys = file.number("Q"), file.number("Q")
    if tensors > _TENSORS_AT_MOST or keys > _KEYS_AT_MOST:
        raise _Broken(f"it would have {tensors} tensors and {keys} keys")
    found: dict[str, int | float | bool | str] = {}
    for _ in range(keys):
        name = file.text()
        value = _value(file, file.number("I"))
        if value is not None:
            found[name] = value
    return Header(version, found, [_gguf_tensor(file) for _ in range(tensors)])


def _value(file: _Bytes, kind: int) -> int | float | bool | str | None:
    """None for an array."""
    if kind == _TEXT:
        return file.text()
    if kind == _ARRAY:
        _pass_array(file, 0)
        return None
    code = _SCALARS.get(kind)
    if code is None:
        raise _Broken(f"it has a value of type {kind}")
    value: int | float | bool = struct.unpack("<" + code, file.take(struct.calcsize(code)))[0]
    return value


def _pass_array(file: _Bytes, depth: int) -> None:
    kind, count = file.number("I"), file.number("Q")
    code = _SCALARS.get(kind)
    if code is not None:
        file.skip(count * struct.calcsize(code))
    elif kind == _TEXT:
        for _ in range(count):
            file.skip(file.number("Q"))
    elif kind == _ARRAY and depth < 4:
        for _ in range(count):
            _pass_array(file, depth + 1)
    else:
        raise _Broken(f"it has an array of type {kind}")


def _gguf_tensor(file: _Bytes) -> Tensor:
    name, dimensions = file.text(), file.number("I")
    if dimensions > _DIMENSIONS_AT_MOST:
        raise _Broken(f"{name[:80]} has {dimensions} dimensions")
    shape = tuple(file.number("Q") for _ in range(dimensions))
    kind = file.number("I")
    file.take(8)
    if kind not in GGUF_TYPES:
        raise _Broken(f"{name[:80]} is of type {kind}")
    label, block, size = GGUF_TYPES[kind]
    total = prod(shape)
    if total > 1 << 50:
        raise _Broken(f"{name[:80]} has {total} weights")
    return Tensor(name, label, shape, -(-total // block) * size)
