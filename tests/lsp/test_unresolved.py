"""Hints of the language server at words that are not resolved."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.clients import PULL, PUSH, led, opened, published, pulled

TEXT = 'VLLM_LOGGING_LEVEL=$LEVEL vllm serve "$MODEL" --api-key $KEY --port ${PORT:-8000} --gpu-memory-utilization 1.5\n'
HINTS = {("$LEVEL", "VLLM_LOGGING_LEVEL=${LEVEL}"), ("$MODEL", "${MODEL}")}


def hints(found: list[types.Diagnostic]) -> set[tuple[str, str]]:
    every = [one for one in found if one.severity == types.DiagnosticSeverity.Hint]
    assert {one.code for one in every} <= {"servelint/unresolved"}
    assert all(one.message.endswith("; what depends on it is not judged") for one in every)
    return {
        (TEXT[one.range.start.character : one.range.end.character], one.message.partition(" is not resolved")[0])
        for one in every
    }


@pytest.mark.asyncio
@pytest.mark.parametrize("capabilities", [PUSH, PULL])
async def test_hints_at_words_and_variables(capabilities: types.ClientCapabilities, tmp_path: Path) -> None:
    async with led(capabilities, options={"isolated": True}) as client:
        uri = opened(client, tmp_path / "run.sh", TEXT)
        found = await (published if capabilities is PUSH else pulled)(client, uri)
        assert hints(found) == HINTS
        assert "vllm/gpu-memory-utilization-out-of-range" in {one.code for one in found}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "options", [{"unresolvedWords": False}, {"unresolved-words": False}, {"unresolvedWords": {"enable": False}}]
)
async def test_they_can_be_switched_off(options: dict[str, object], tmp_path: Path) -> None:
    async with led(PUSH, options={"isolated": True, **options}) as client:
        found = await published(client, opened(client, tmp_path / "run.sh", TEXT))
        assert hints(found) == set()
        assert "vllm/gpu-memory-utilization-out-of-range" in {one.code for one in found}


@pytest.mark.asyncio
@pytest.mark.parametrize("capabilities", [PUSH, PULL])
async def test_a_command_whose_servers_are_in_a_file(capabilities: types.ClientCapabilities, tmp_path: Path) -> None:
    async with led(capabilities, options={"isolated": True}) as client:
        uri = opened(client, tmp_path / "run.sh", "trtllm-serve m\ntrtllm-serve disaggregated -c disagg.yaml\n")
        found = await (published if capabilities is PUSH else pulled)(client, uri)
        notes = [one for one in found if one.message.startswith("trtllm-serve disaggregated is not judged here")]
        assert [(one.severity, one.range.start.line) for one in notes] == [(types.DiagnosticSeverity.Information, 1)]


@pytest.mark.asyncio
async def test_a_hint_at_an_image_that_is_not_judged(tmp_path: Path) -> None:
    async with led(PULL, options={"isolated": True}) as client:
        uri = opened(client, tmp_path / "compose.yml", "services:\n  tei:\n    image: xprobe/xinference:v1\n")
        (found,) = await pulled(client, uri)
        assert (found.code, found.severity) == ("servelint/unresolved", types.DiagnosticSeverity.Hint)
        assert found.range.start == types.Position(2, 11)
        assert found.message == (
            "xprobe/xinference:v1 is not judged: Xinference starts an engine for each model that it is asked for"
        )
