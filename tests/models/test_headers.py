"""Headers of safetensors and GGUF files, against what the formats' own libraries write."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from servelint.models.headers import GGUF_TYPES, Header, read_gguf, read_safetensors
from tests.together import together

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = st.lists(st.from_regex(r"[a-z]{1,8}(\.[0-9]{1,2})?(\.weight)?", fullmatch=True), unique=True, max_size=8)
SHAPE = st.lists(st.integers(0, 9), max_size=3)


def reader(data: bytes) -> Callable[[int, int], bytes | None]:
    """Reads bytes as a file."""
    return lambda offset, size: data[offset : offset + size]


@given(NAMES, st.data())
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_what_the_library_writes_is_read_as_it_was(names: list[str], data: st.DataObject) -> None:
    numpy = pytest.importorskip("numpy")
    library = pytest.importorskip("safetensors.numpy")
    kinds = {"F32": "float32", "F16": "float16", "I64": "int64", "U8": "uint8", "BOOL": "bool"}
    wanted = {}
    arrays = {}
    for name in names:
        kind, shape = data.draw(st.sampled_from(sorted(kinds))), tuple(data.draw(SHAPE))
        arrays[name] = numpy.zeros(shape, dtype=kinds[kind])
        wanted[name] = (kind, shape, arrays[name].nbytes)
    found = read_safetensors(reader(library.save(arrays, metadata={"format": "pt"})))
    assert not isinstance(found, str)
    assert {one.name: (one.dtype, one.shape, one.bytes) for one in found} == wanted


@given(NAMES, st.data())
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_a_gguf_of_the_library_is_read_as_it_was(tmp_path: Path, names: list[str], data: st.DataObject) -> None:
    numpy = pytest.importorskip("numpy")
    library = pytest.importorskip("gguf")
    path = tmp_path / "model.gguf"
    writer = library.GGUFWriter(path, "qwen3")
    writer.add_block_count(28)
    writer.add_float32("qwen3.rope.freq_base", 10000.0)
    writer.add_string("general.name", "a model")
    writer.add_array("tokenizer.ggml.tokens", data.draw(st.lists(st.text(max_size=6), min_size=1, max_size=40)))
    writer.add_array("tokenizer.ggml.scores", [0.5, 1.5])
    wanted = {}
    for name in names:
        rows = data.draw(st.integers(1, 5))
        kind = data.draw(st.sampled_from(["F32", "F16", "Q8_0", "Q4_0"]))
        block, size = {"F32": (1, 4), "F16": (1, 2), "Q8_0": (32, 34), "Q4_0": (32, 18)}[kind]
        if block == 1:
            writer.add_tensor(name, numpy.zeros((rows, 32), dtype="float32" if kind == "F32" else "float16"))
        else:
            raw = numpy.zeros((rows, 32 // block * size), dtype="uint8")
            writer.add_tensor(name, raw, raw_dtype=library.GGMLQuantizationType[kind])
        wanted[name] = (kind, (32, rows), rows * 32 // block * size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = read_gguf(reader(path.read_bytes()))
    assert not isinstance(found, str)
    assert {one.name: (one.dtype, one.shape, one.bytes) for one in found.tensors} == wanted
    assert found.keys["general.architecture"] == "qwen3"
    assert found.keys["qwen3.block_count"] == 28
    assert found.keys["general.name"] == "a model"
    assert "tokenizer.ggml.tokens" not in found.keys


def test_the_sizes_of_types_are_the_librarys() -> None:
    library = pytest.importorskip("gguf")
    theirs = {kind.value: (kind.name, *sizes) for kind, sizes in library.constants.GGML_QUANT_SIZES.items()}
    assert {key: GGUF_TYPES[key] for key in theirs if key in GGUF_TYPES} == {
        key: theirs[key] for key in theirs if key in GGUF_TYPES
    }
    assert len(GGUF_TYPES) >= 30


@given(st.binary(max_size=200))
def test_no_bytes_are_an_exception(data: bytes) -> None:
    for text in (data, b"GGUF" + data, b"GGUF\x03\0\0\0" + data, struct.pack("<Q", len(data)) + data):
        for found in (read_safetensors(reader(text)), read_gguf(reader(text))):
            assert isinstance(found, (str, list, Header))


@given(st.binary(min_size=1, max_size=400), st.integers(0, 400))
def test_a_truncated_safetensors_is_told(data: bytes, cut: int) -> None:
    header = json.dumps({"a": {"dtype": "U8", "shape": [len(data)], "data_offsets": [0, len(data)]}}).encode()
    whole = struct.pack("<Q", len(header)) + header
    found = read_safetensors(reader(whole[: min(cut, len(whole) - 1)]))
    assert isinstance(found, str)
    assert isinstance(read_safetensors(reader(whole)), list)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}, "4 bytes for a shape of 2 F32"),
        ({"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}, "no dtype, shape or offsets"),
        ({"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}, "no dtype, shape or offsets"),
        ({"dtype": "F32", "shape": [True], "data_offsets": [0, 4]}, "no dtype, shape or offsets"),
        ([], "is not an object"),
    ],
)
def test_what_a_header_says_wrongly(entry: Any, told: str) -> None:
    text = json.dumps({"w": entry}).encode()
    found = read_safetensors(reader(struct.pack("<Q", len(text)) + text))
    assert isinstance(found, str)
    assert told in found


def test_a_header_that_claims_to_be_huge_is_not_read() -> None:
    asked: list[int] = []

    def counting(offset: int, size: int) -> bytes:
        asked.append(size)
        return struct.pack("<Q", 1 << 60)[:size] if offset == 0 else b""

    assert "bytes long" in str(read_safetensors(counting))
    assert asked == [8]


@together(
    "data, told",
    [
        (b"GGML\x03\0\0\0", "it is not GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 9, 0, 0), "version is 9"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 40, 0), "would have 1099511627776 tensors"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1 << 50), "longer than 256 MiB"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 8, 1 << 40), "ends within its header"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sI", 1, b"k", 77), "value of type 77"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q1sI", 1, b"t", 9), "9 dimensions"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q1sIQIQ", 1, b"t", 1, 4, 99, 0), "of type 99"),
    ],
)
def test_a_hostile_gguf_is_told_and_not_followed(data: bytes, told: str) -> None:
    found = read_gguf(reader(data))
    assert isinstance(found, str)
    assert told in found
