"""The texts that are open, by the URIs that editors give them."""

from __future__ import annotations

from importlib import import_module

import pytest

from servelint.core.source import Source
from servelint.lsp.documents import Document, Positions, path_of
from servelint.readers.registry import JSON, TEXT, YAML, recognise
from tests.together import together

DECLARED = import_module("tools.formats").declared()
LANGUAGES = import_module("tools.formats").languages(DECLARED)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/compose.yml", "/a/compose.yml"),
        ("file:///a/../b%20c.yml", "/b c.yml"),
        ("untitled:Untitled-1", None),
        ("file://[", None),
        ("file://[x]/a", None),
        ("", None),
    ],
)
def test_the_path_of_a_file(uri: str, path: str | None) -> None:
    assert path_of(uri) == path


def test_what_is_no_file_goes_by_the_name_of_its_language() -> None:
    assert Document("file://[", "shellscript", 1, "").path == "untitled.sh"


@together("language", list(LANGUAGES))
def test_a_text_of_a_language_without_a_file_is_read_as_that_language(language: str) -> None:
    name = Document("untitled:Untitled-1", language, 1, "").path
    formats = [one for one in DECLARED if language in one.languages]
    if language in ("ini", "plaintext", "properties"):
        assert name == "untitled:Untitled-1"  # the text says which of several formats it is
    else:
        expected = [one.name if one.syntax == TEXT else one.syntax for one in formats] or [JSON if "json" in language else YAML]
        assert [recognise(Source(name, "{"))] == expected


def test_lines_of_the_protocol_start_at_0() -> None:
    found = Positions("utf-16").range(Source("a.sh", "a\nbc\n"), 2, 4)
    assert ((found.start.line, found.start.character), (found.end.line, found.end.character)) == ((1, 0), (1, 2))
