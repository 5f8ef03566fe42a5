"""The texts that are open, by the URIs that editors give them."""

from __future__ import annotations

import pytest

from servelint.core.source import Source
from servelint.lsp.documents import Document, Positions, path_of


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


def test_lines_of_the_protocol_start_at_0() -> None:
    found = Positions("utf-16").range(Source("a.sh", "a\nbc\n"), 2, 4)
    assert ((found.start.line, found.start.character), (found.end.line, found.end.character)) == ((1, 0), (1, 2))
