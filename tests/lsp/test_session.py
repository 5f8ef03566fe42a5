"""A session of edits, as three kinds of clients lead it: after each one the editor shows what a check of the text says."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from lsprotocol import types

from servelint.lsp.annotations import symbols as symbols_of
from tests.lsp.clients import PULL, PULL_UTF8, PUSH, Editor, changed, led, opened, published, pulled
from tests.lsp.editing import NAMES, Edit, edits, originals
from tests.lsp.marked import analysed
from tests.lsp.told import Checked, Kept, Told, checked, of_server, position

pytestmark = pytest.mark.book

EDITS = 140
SYNTAX = "servelint/unreadable"
KINDS = {"push": (PUSH, "utf-16"), "pull": (PULL, "utf-16"), "pull in UTF-8": (PULL_UTF8, "utf-8")}


class Step:
    """An edit, the texts that it leaves, and what a check says of them."""

    def __init__(self, edit: Edit, texts: dict[str, str], found: dict[str, Checked]) -> None:
        self.edit = edit
        self.texts = dict(texts)
        self.found = dict(found)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> list[Step]:
    folder = tmp_path_factory.mktemp("checked")
    texts = originals()
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    found = {name: checked(folder / name) for name in NAMES}
    listed = [Step(Edit(NAMES[0], 0, 0, ""), texts, found)]
    for edit in edits(EDITS, seed=8):
        texts[edit.name] = edit.of(texts[edit.name])
        (folder / edit.name).write_bytes(texts[edit.name].encode())
        for name in concerned(edit):
            found[name] = checked(folder / name)
        listed.append(Step(edit, texts, found))
    return listed


def concerned(edit: Edit) -> tuple[str, ...]:
    """The texts whose findings an edit may change: the compose file reads the variables."""
    return (edit.name, "compose.yml") if edit.name == ".env" else (edit.name,)


async def told(client: Editor, uri: str, version: int) -> list[types.Diagnostic]:
    return await published(client, uri, version) if client.capabilities is PUSH else await pulled(client, uri)


def expected(found: Checked, kept: Kept) -> list[Told]:
    return sorted(kept.told() if found.problems else found.findings)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", KINDS)
async def test_every_edit(kind: str, session: list[Step], tmp_path: Path) -> None:
    capabilities, encoding = KINDS[kind]
    uris: dict[str, str] = {}
    versions = dict.fromkeys(NAMES, 1)
    first = session[0]
    kept = {name: Kept(first.texts[name], first.found[name].findings) for name in NAMES}
    broken = 0
    async with led(capabilities, options={"isolated": True, "unresolvedWords": False}) as client:
        for name in (".env", *NAMES[:-1]):
            uris[name] = opened(client, tmp_path / name, first.texts[name])
            got = of_server(first.texts[name], await told(client, uris[name], 1), encoding, uris[name])
            assert got == sorted(first.found[name].findings)
        for before, step in pairwise(session):
            edit = step.edit
            versions[edit.name] += 1
            start, end = (position(before.texts[edit.name], at, encoding) for at in (edit.start, edit.end))
            changed(client, uris[edit.name], versions[edit.name], edit.text, types.Range(start, end))
            kept[edit.name].edit(edit)
            for name in concerned(edit):
                diagnostics = await told(client, uris[name], versions[name])
                found, text = step.found[name], step.texts[name]
                if not found.problems:
                    kept[name] = Kept(text, found.findings)
                got = of_server(text, diagnostics, encoding, uris[name])
                assert [one for one in got if one.code != SYNTAX] == expected(found, kept[name]), edit
                assert [one.message for one in got if one.code == SYNTAX] == [one.message for one in found.problems]
                broken += bool(found.problems)
    assert broken > 10  # else nothing of what is kept was tried


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["compose.yml", "serve.sh", "deployment.yaml"])
async def test_edits_that_come_faster_than_they_are_analysed(name: str, session: list[Step], tmp_path: Path) -> None:
    """The last diagnostics are of the last text, and a request is answered of the text at which it was made."""
    first = session[0]
    steps = [(before, step) for before, step in pairwise(session) if step.edit.name == name]
    async with led(PUSH, options={"isolated": True, "unresolvedWords": False}) as client:
        uris = {one: opened(client, tmp_path / one, first.texts[one]) for one in (".env", name)}
        uri, asked = uris[name], []
        for version, (before, step) in enumerate(steps, start=2):
            edit = step.edit
            start, end = (position(before.texts[name], at, "utf-16") for at in (edit.start, edit.end))
            changed(client, uri, version, edit.text, types.Range(start, end))
            if version % 3 == 0:
                symbols = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
                future = asyncio.wrap_future(client.text_document_document_symbol(symbols))
                asked.append((future, len(symbols_of(analysed(str(tmp_path / name), step.texts[name])))))
        changed(client, uri, len(steps) + 2, first.texts[name])
        diagnostics = await published(client, uri, len(steps) + 2)
        assert of_server(first.texts[name], diagnostics, "utf-16", uri) == sorted(first.found[name].findings)
        answers = [(await answer, wanted) for answer, wanted in asked]
    assert len(answers) > 3
    tops = [
        [one for one in answer or () if isinstance(one, types.SymbolInformation) and one.container_name is None]
        for answer, _ in answers
    ]
    assert [len(found) for found in tops] == [wanted for _, wanted in answers]
