"""Settings from files and from the editor, and what makes the server look again."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from servelint.lsp.settings import read
from tests.lsp.clients import PULL, led, opened, published, pulled

TEXT = "vllm serve Qwen/Qwen3-8B --swap-space 4 --gpu-memory-utilization 1.5\n"
RANGE, REMOVED = "vllm/gpu-memory-utilization-out-of-range", "vllm/removed-option"


def codes(diagnostics: list[types.Diagnostic]) -> set[str]:
    return {str(one.code) for one in diagnostics}


def saved(client: LanguageClient, path: Path) -> None:
    client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))


@pytest.mark.asyncio
async def test_a_settings_file_that_is_saved(tmp_path: Path) -> None:
    settings = tmp_path / "servelint.toml"
    settings.write_text('[engine-versions]\nvllm = "0.19.1"\n')
    async with led(folders=[tmp_path]) as client:
        uri = opened(client, tmp_path / "run.sh", TEXT)
        assert codes(await published(client, uri)) == {RANGE, REMOVED}
        settings.write_text(f'ignore = ["{RANGE}"]\n[engine-versions]\nvllm = "0.19.1"\n')
        saved(client, settings)
        assert codes(await published(client, uri)) == {REMOVED}
        settings.write_text("ignor = []\n")
        saved(client, settings)
        assert RANGE in codes(await published(client, uri))
        (wrong,) = await published(client, settings.as_uri())
        assert (wrong.message, wrong.range.start) == ('unknown key "ignor" (did you mean "ignore"?)', types.Position(0, 0))
        settings.write_text("")
        saved(client, settings)
        assert await published(client, settings.as_uri()) == []


@pytest.mark.asyncio
async def test_the_settings_of_each_folder(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    configuration = {"": {"ignore": [RANGE]}, other.as_uri(): {"engineVersions": {"vllm": "0.19.1"}}}
    async with led(PULL, folders=[one, other], configuration=configuration) as client:
        first, second = opened(client, one / "run.sh", TEXT), opened(client, other / "run.sh", TEXT)
        while RANGE in codes(await pulled(client, first)):  # what the client says may come after the text
            pass
        assert codes(await pulled(client, second)) == {RANGE, REMOVED}
        client.set_configuration(
            {"servelint": {"severity": "error", "select": ["vllm/removed-option"]}}, scope_uri=other.as_uri()
        )
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
        while RANGE in codes(await pulled(client, second)):
            pass
        client.workspace_did_change_workspace_folders(
            types.DidChangeWorkspaceFoldersParams(
                types.WorkspaceFoldersChangeEvent(added=[], removed=[types.WorkspaceFolder(other.as_uri(), "other")])
            )
        )
        assert REMOVED not in codes(await pulled(client, second))


@pytest.mark.asyncio
async def test_what_the_editor_says_at_the_beginning(tmp_path: Path) -> None:
    options = {"engine-versions": {"vllm": "0.19.1"}, "ignore": RANGE, "profile": "loud", "gpu": "h100"}
    async with led(folders=[tmp_path], options=options) as client:
        uri = opened(client, tmp_path / "run.sh", TEXT)
        assert codes(await published(client, uri)) == {REMOVED}
        while not client.messages:
            await pulled(client, uri)
        assert [one.message for one in client.messages] == [
            'servelint: servelint.profile: "loud" is none of default, strict, audit'
        ]


@pytest.mark.asyncio
async def test_switched_off(tmp_path: Path) -> None:
    async with led(folders=[tmp_path], options={"diagnostics": False, "codeLens": {"enable": False}}) as client:
        uri = opened(client, tmp_path / "run.sh", TEXT)
        assert await published(client, uri) == []
        assert not await client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ([], "the editor's settings are not an object but a list"),
        ({"gpuCount": "two"}, 'servelint.gpuCount: "two" is not a whole number from 1'),
        ({"codeLens": 3}, "servelint.codeLens: 3 is neither true nor false"),
        (
            {"engineVersions": {"vllm": "new"}},
            'servelint.engineVersions: "new" is not a release of vLLM; releases look like 0.19.1',
        ),
    ],
)
def test_what_nobody_understands(data: object, fault: str) -> None:
    assert read(data, "/work").faults == [fault]


def test_every_spelling() -> None:
    said = {"engineVersions": {"vllm": "0.19.1"}, "gpu_count": 2, "extend-select": "a/b,c/d", "inlayHints": {"enable": False}}
    options = read({"servelint": said}, "/work")
    assert options.faults == []
    assert {name: value.value for name, value in options.layer.values.items()} == {
        "engine-versions": {"vllm": "0.19.1"},
        "gpu-count": 2,
        "extend-select": ("a/b", "c/d"),
    }
    assert options.switches["inlay-hints"] is False
    assert options.words() == ["--engine-version=vllm=0.19.1", "--gpu-count=2", "--extend-select=a/b,c/d"]
