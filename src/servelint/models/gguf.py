"""The header of a GGUF file: its key-values and tensors, without reading the weights.

Format: llama.cpp docs (gguf.md): magic, version, counts of tensors and of key-values, then these. Arrays are passed over: a
tokenizer's vocabulary is most of a header. What is not of this form is a problem told in words, never an exception.
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.models.safetensors import Reader

_CHUNK = 1 << 16
_HEADER_AT_MOST = 1 << 28
_KEYS_AT_MOST = 1 << 16
_TENSORS_AT_MOST = 1 << 20
_TEXT_AT_MOST = 1 << 16
_DIMENSIONS_AT_MOST = 4
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    9: ("Q8_1", 32, 40),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36),
    41: ("Q1_0", 128, 18),
}
"""Name, weights of a block and its bytes, of each type of tensor: gguf 0.19.0 (PyPI) constants.py GGML_QUANT_SIZES."""


class Header:
    """What a file says of itself.

    keys:    its key-values, without arrays; of a text at most 64 KiB
    tensors: name, type and shape of each, and its bytes
    """

    __slots__ = ("keys", "tensors", "version")

    def __init__(
        self, version: int, keys: dict[str, int | float | bool | str], tensors: list[tuple[str, str, tuple[int, ...], int]]
    ) -> None:
        self.version = version
        self.keys = keys
        self.tensors = tensors

    @property
    def bytes(self) -> int:
        """Of all tensors, without what pads them."""
        return sum(tensor[3] for tensor in self.tensors)


class _Broken(Exception):  # ends the reading of a header and does not leave this module
    pass


class _Bytes:
    """Goes through a file in chunks: no length that a file tells is ever asked for at once."""

    __slots__ = ("buffer", "offset", "place", "reader")

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.buffer = b""
        self.offset = 0
        self.place = 0

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


def read(reader: Reader) -> Header | str:
    """The header of a file, or what is wrong with it."""
    try:
        return _header(_Bytes(reader))
    except _Broken as problem:
        return str(problem)


def _header(file: _Bytes) -> Header:
    if file.take(4) != b"GGUF":
        raise _Broken("it is no GGUF")
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
    return Header(version, found, [_tensor(file) for _ in range(tensors)])


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


def _tensor(file: _Bytes) -> tuple[str, str, tuple[int, ...], int]:
    name, dimensions = file.text(), file.number("I")
    if dimensions > _DIMENSIONS_AT_MOST:
        raise _Broken(f"{name[:80]} has {dimensions} dimensions")
    shape = tuple(file.number("Q") for _ in range(dimensions))
    kind = file.number("I")
    file.take(8)
    if kind not in TYPES:
        raise _Broken(f"{name[:80]} is of type {kind}")
    label, block, size = TYPES[kind]
    total = 1
    for one in shape:
        total *= one
    if total > 1 << 50:
        raise _Broken(f"{name[:80]} has {total} weights")
    return name, label, shape, -(-total // block) * size
