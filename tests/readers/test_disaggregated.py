"""The file of `trtllm-serve disaggregated -c`."""

from __future__ import annotations

import pytest

from tests.launching import launches_in, reading

TEXT = """
    hostname: localhost
    port: 8000
    model: Qwen/Qwen3-8B
    backend: pytorch
    free_gpu_memory_fraction: 0.2
    context_servers:
      num_instances: 2
      tensor_parallel_size: 2
      kv_cache_config:
        dtype: fp8
      router: {type: kv_cache_aware}
      urls: ["localhost:8001", "localhost:8002"]
    generation_servers:
      max_batch_size: 64
"""


def test_each_kind_of_servers_is_a_fragment() -> None:
    context, generation = launches_in(TEXT, "disagg_config.yaml")
    assert [one.name for one in (context, generation)] == ["context_servers (prefill)", "generation_servers (decode)"]
    assert all(one.engine == "trtllm" and one.fragment for one in (context, generation))
    assert [word.value for word in context.argv][:7] == [
        "Qwen/Qwen3-8B", "--server_role", "context", "--backend", "pytorch", "--kv_cache_free_gpu_memory_fraction", "0.2",
    ]  # fmt: skip
    assert context.argv[-1].value == '{"tensor_parallel_size": 2, "kv_cache_config": {"dtype": "fp8"}}'
    assert generation.argv[-1].value == '{"max_batch_size": 64}'
    assert (context.env["URLS"].value.value, context.env["INSTANCES"].value.value) == ("2", "2")  # type: ignore[union-attr]


def test_a_key_keeps_its_place() -> None:
    context, _ = launches_in(TEXT, "disagg_config.yaml")
    text = context.argv[-1].text
    start = text.flat.index("fp8")
    span = text.span(start, start + 3)
    assert span is not None
    assert span.source.text[span.start : span.end] == "fp8"


def test_they_know_of_each_other() -> None:
    context, generation = launches_in(TEXT, "disagg_config.yaml")
    assert generation.beside == (context,)


def test_other_files_are_not_read() -> None:
    assert launches_in("context_servers: [a, b]\nport: 8000\n", "x.yaml") == []
    assert launches_in("servers:\n  context_servers: {num_instances: 1}\n", "x.yaml") == []
    assert launches_in("context_servers: {}\n", "x.yaml") != []


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("trtllm-serve m\ntrtllm-serve disaggregated -c disagg.yaml\n", [(2, 14, "trtllm-serve disaggregated")]),
        ("mpirun -n 2 trtllm-serve disaggregated_mpi_worker -c d.yaml\n", [(1, 26, "trtllm-serve disaggregated_mpi_worker")]),
        ("trtllm-serve mm_embedding_serve m\ntrtllm-serve --help\n", []),
        ("trtllm-serve disaggregated_model\n", []),
    ],
)
def test_what_starts_them_is_noted(text: str, notes: list[tuple[int, int, str]]) -> None:
    problems = reading(text, "run.sh")[0].problems
    assert [(one.line, one.column, one.message.partition(" is not judged here")[0]) for one in problems] == notes
    assert all(one.note == "always" for one in problems)
