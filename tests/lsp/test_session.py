"""A session of edits, as three kinds of clients lead it: after each one the editor shows what a check of the text says."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from tests.lsp.editing import NAMES, Edit, edits, originals
from tests.lsp.told import Checked, Kept, Told, checked, of_server, position

EDITS = 200
SYNTAX = "servelint/unreadable"

PUSH = types.ClientCapabilities()
PULL = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
)
PULL_UTF8 = types.ClientCapabilities(
    general=types.GeneralClientCapabilities(
        position_encodings=[types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16]
    ),
    text_document=PULL.text_document,
)
KINDS = {"push": (PUSH, "utf-16"), "pull": (PULL, "utf-16"), "pull in UTF-8": (PULL_UTF8, "utf-8")}


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[sys.executable, "-m", "servelint", "lsp"]), params=list(KINDS))
async def client(  # type: ignore[untyped-decorator]request: pytest.FixtureRequest, lsp_client: LanguageClient) -> AsyncIterator[None]:
    capabilities, _ = KINDS[request.param]
    await lsp_client.initialize_session(
        types.InitializeParams(capabilities=capabilities, initialization_options={"isolated": True})
    )
    yield
    await lsp_client.shutdown_session()


class Step:
    """An edit, the text that it leaves, and what a check says of that text and of the compose file beside it."""

    def __init__(self, edit: Edit, texts: dict[str, str], found: dict[str, Checked]) -> None:
        self.edit = edit
        self.texts = dict(texts)
        self.found = dict(found)


@lru_cache(maxsize=1)
def steps(folder: Path) -> list[Step]:
    texts = originals()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = {name: checked(folder / name) for name in NAMES}
    listed = [Step(Edit(NAMES[0], 0, 0, ""), texts, found)]
    for edit in edits(EDITS, seed=8):
        texts[edit.name] = edit.of(texts[edit.name])
        (folder / edit.name).write_bytes(texts[edit.name].encode())
        found[edit.name] = checked(folder / edit.name)
        if edit.name == ".env":  # the compose file reads it
            found["compose.yml"] = checked(folder / "compose.yml")
        listed.append(Step(edit, texts, found))
    return listed


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> list[Step]:
    return steps(tmp_path_factory.mktemp("checked"))


async def told(client: LanguageClient, uri: str, version: int) -> list[types.Diagnostic]:
    """The diagnostics of a version of a text, by asking or by waiting."""
    if client.capabilities is not PUSH:
        report = await client.text_document_diagnostic_async(types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri)))
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return list(report.items)
    while True:
        published = await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        if (published.uri, published.version) == (uri, version):
            return list(published.diagnostics)


def expected(found: Checked, kept: Kept) -> list[Told]:
    return sorted(kept.told() if found.problems else found.findings)


@pytest.mark.asyncio
async def test_every_edit(client: LanguageClient, session: list[Step], tmp_path: Path) -> None:
    encoding = next(coded for capabilities, coded in KINDS.values() if capabilities is client.capabilities)
    uris = {name: (tmp_path / name).as_uri() for name in NAMES}
    versions = dict.fromkeys(NAMES, 1)
    first = session[0]
    for name in (".env", *NAMES[:-1]):
        item = types.TextDocumentItem(uris[name], "plaintext", 1, first.texts[name])
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        got = of_server(first.texts[name], await told(client, uris[name], 1), encoding, uris[name])
        assert got == sorted(first.found[name].findings)
    kept = {name: Kept(first.texts[name], first.found[name].findings) for name in NAMES}
    broken = 0
    for before, step in pairwise(session):
        name = step.edit.name
        versions[name] += 1
        start, end = (position(before.texts[name], at, encoding) for at in step.edit[1:3])
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(versions[name], uris[name]),
                [types.TextDocumentContentChangePartial(types.Range(start, end), step.edit.text)],
            )
        )
        kept[name].edit(step.edit)
        for one in (name, "compose.yml") if name == ".env" else (name,):
            diagnostics = await told(client, uris[one], versions[one])
            found, text = step.found[one], step.texts[one]
            if not found.problems:
                kept[one] = Kept(text, found.findings)
            got = of_server(text, diagnostics, encoding, uris[one])
            assert [one for one in got if one.code != SYNTAX] == expected(found, kept[one]), (versions, step.edit)
            assert [one.message for one in got if one.code == SYNTAX] == [one.message for one in found.problems]
            broken += bool(found.problems)
    assert broken > 10  # else nothing of what is kept was tried
