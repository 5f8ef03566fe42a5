"""Texts that others read: as they stand in the editor, and on the disk where they are not open."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.clients import PULL, changed, led, opened, published, pulled

COMPOSE = "services:\n  llm:\n    image: vllm/vllm-openai:${TAG}\n    command: [--model, Qwen/Qwen3-8B, --swap-space, '4']\n"
EXTENDING = "services:\n  llm:\n    image: vllm/vllm-openai:v0.18.0\n    extends:\n      file: base.yml\n      service: llm\n"


def codes(diagnostics: list[types.Diagnostic]) -> list[str]:
    return [str(one.code) for one in diagnostics]


@pytest.mark.asyncio
async def test_variables_that_are_not_saved(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TAG=v0.17.1\n")
    async with led(folders=[tmp_path]) as client:
        uri = opened(client, tmp_path / "compose.yml", COMPOSE)
        assert "vllm/removed-option" not in codes(await published(client, uri))
        variables = opened(client, tmp_path / ".env", "TAG=v0.18.0\n")
        assert "vllm/removed-option" in codes(await published(client, uri))
        place = types.Range(types.Position(0, 7), types.Position(0, 8))
        for version, digit in enumerate("7878", start=2):
            changed(client, variables, version, digit, types.Range(types.Position(0, 8), types.Position(0, 9)))
            told = codes(await published(client, uri))
            assert ("vllm/removed-option" in told) == (digit == "8"), place
        client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(variables)))
        assert "vllm/removed-option" not in codes(await published(client, uri))  # as it is on the disk


@pytest.mark.asyncio
async def test_a_file_that_is_extended(tmp_path: Path) -> None:
    async with led(PULL, folders=[tmp_path]) as client:
        uri = opened(client, tmp_path / "compose.yml", EXTENDING)
        assert "vllm/removed-option" not in codes(await pulled(client, uri))
        base = opened(client, tmp_path / "base.yml", COMPOSE)
        told = {str(one.code): one for one in await pulled(client, uri)}
        (where, *_) = told["vllm/removed-option"].related_information or []
        assert where.location.uri == base
        assert client.diagnostic_refresh_count  # the client was asked to ask again


@pytest.mark.asyncio
async def test_a_file_that_changes_on_the_disk(tmp_path: Path) -> None:
    async with led(folders=[tmp_path]) as client:
        uri = opened(client, tmp_path / "compose.yml", COMPOSE)
        assert "vllm/removed-option" not in codes(await published(client, uri))
        (tmp_path / ".env").write_text("TAG=v0.18.0\n")
        event = types.FileEvent((tmp_path / ".env").as_uri(), types.FileChangeType.Created)
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        assert "vllm/removed-option" in codes(await published(client, uri))
