"""Hovers, completions, notes, lenses, the outline and actions, as a client asks for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.clients import PUSH, changed, led, opened, published
from tests.lsp.editing import originals
from tests.lsp.told import position

TEXT = originals()["compose.yml"]
NESTED = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        document_symbol=types.DocumentSymbolClientCapabilities(hierarchical_document_symbol_support=True),
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
        completion=types.CompletionClientCapabilities(
            completion_item=types.ClientCompletionItemOptions(documentation_format=[types.MarkupKind.Markdown])
        ),
    ),
    workspace=types.WorkspaceClientCapabilities(workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)),
)


def at(uri: str, words: str, text: str = TEXT) -> types.HoverParams:
    """In the middle of some words."""
    return types.HoverParams(types.TextDocumentIdentifier(uri), position(text, text.index(words) + len(words) // 2, "utf-16"))


async def hovered(client: LanguageClient, params: types.HoverParams) -> tuple[str, str]:
    found = await client.text_document_hover_async(params)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    place = found.range
    assert place is not None
    line = TEXT.splitlines()[place.start.line]
    return found.contents.value, line[place.start.character : place.end.character]


@pytest.mark.asyncio
async def test_one_text(tmp_path: Path) -> None:
    async with led(NESTED) as client:
        uri = opened(client, tmp_path / "compose.yml", TEXT)
        named = types.TextDocumentIdentifier(uri)
        markdown, words = await hovered(client, at(uri, "--swap-space"))
        assert words == "--swap-space"
        assert "vLLM 0.19.1" in markdown
        assert await client.text_document_hover_async(at(uri, "nginx")) is None

        where = at(uri, "--max-num-batched-token")
        listed = await client.text_document_completion_async(types.CompletionParams(named, where.position))
        assert isinstance(listed, types.CompletionList)
        item = next(one for one in listed.items if one.label == "--max-num-batched-tokens")
        assert item.documentation is None
        full = await client.completion_item_resolve_async(item)
        assert isinstance(full.documentation, types.MarkupContent)

        whole = types.Range(types.Position(0, 0), types.Position(99, 0))
        hints = await client.text_document_inlay_hint_async(types.InlayHintParams(named, whole))
        assert hints
        assert len(hints) == 3
        lenses = await client.text_document_code_lens_async(types.CodeLensParams(named))
        assert lenses
        assert [one.command.title for one in lenses if one.command] == [
            "vLLM 0.27.1 · 1 error, 1 warning, 1 info",
            "vLLM 0.19.1 · 2 errors",
            "SGLang 0.5.14 · 2 errors, 2 warnings",
        ]
        assert {one.command.command for one in lenses if one.command} == {""}  # a click does nothing
        symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(named))
        assert symbols
        assert [one.name for one in symbols] == ["services.chat", "services.draft", "services.embed"]
        assert isinstance(symbols[1], types.DocumentSymbol)
        assert "--swap-space" in [one.name for one in symbols[1].children or []]


@pytest.mark.asyncio
async def test_a_flat_outline_for_clients_that_take_no_other(tmp_path: Path) -> None:
    async with led(PUSH) as client:
        uri = opened(client, tmp_path / "compose.yml", TEXT)
        symbols = await client.text_document_document_symbol_async(
            types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        )
        assert symbols
        assert all(isinstance(one, types.SymbolInformation) for one in symbols)
        inside = [one.name for one in symbols if isinstance(one, types.SymbolInformation) and one.container_name]
        assert "--swap-space" in inside


@pytest.mark.asyncio
async def test_a_text_that_cannot_be_parsed_is_known_as_it_was(tmp_path: Path) -> None:
    async with led(PUSH) as client:
        uri = opened(client, tmp_path / "compose.yml", TEXT)
        assert await client.text_document_hover_async(at(uri, "--swap-space")) is not None
        line = TEXT[: TEXT.index("  chat:")].count("\n")
        place = types.Position(line, 0)
        changed(client, uri, 2, '"\n', types.Range(place, place))
        broken = TEXT.replace("  chat:", '"\n  chat:', 1)
        found = await client.text_document_hover_async(at(uri, "--swap-space", broken))
        assert found is not None
        assert found.range is not None
        assert broken.splitlines()[found.range.start.line].strip() == "- --swap-space"


@pytest.mark.asyncio
async def test_actions(tmp_path: Path) -> None:
    async with led(NESTED) as client:
        uri = opened(client, tmp_path / "compose.yml", TEXT)

        async def titles(words: str, *only: str) -> list[str]:
            where = at(uri, words).position
            context = types.CodeActionContext([], only=[types.CodeActionKind(one) for one in only] if only else None)
            params = types.CodeActionParams(types.TextDocumentIdentifier(uri), types.Range(where, where), context)
            found = await client.text_document_code_action_async(params)
            actions = [one for one in found or [] if isinstance(one, types.CodeAction)]
            for one in actions:
                assert one.edit is not None
                assert one.edit.document_changes is not None
                (changes,) = one.edit.document_changes
                assert isinstance(changes, types.TextDocumentEdit)
                assert (changes.text_document.uri, changes.text_document.version) == (uri, 1)
            return [one.title for one in actions]

        assert await titles("--swap-space", "quickfix") == [
            "Delete --swap-space",
            "Ignore vllm/removed-option here, with a reason",
        ]
        assert await titles("--swap-space", "refactor") == []
        (everything,) = await titles("nginx", "source.fixAll")
        assert re.fullmatch(r"Apply all \d safe fixes", everything)


@pytest.mark.asyncio
async def test_a_text_without_a_file() -> None:
    async with led(PUSH) as client:
        text = "docker run vllm/vllm-openai:v0.18.0 --gpu-memory-utilization 0.9 --swap-space 4\n"
        item = types.TextDocumentItem("untitled:Untitled-1", "shellscript", 1, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        told = {str(one.code): one for one in await published(client, item.uri)}
        (release,) = told["vllm/removed-option"].related_information or []
        assert release.location.uri == item.uri
        found = await client.text_document_hover_async(at(item.uri, "--gpu-memory-utilization", text))
        assert found is not None
