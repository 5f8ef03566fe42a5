"""Where an editor shows what could not be read."""

from __future__ import annotations

from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.lsp.diagnostics import of_problem
from servelint.lsp.documents import Positions
from tests.together import together


@together(
    "line, column, expected",
    [
        (1, 1, (0, 0, 5)),
        (1, 3, (0, 2, 5)),
        (1, 6, (0, 4, 5)),  # behind the line's end: its last character
        (1, 90, (0, 4, 5)),
        (2, 1, (1, 0, 0)),  # an empty line has none
        (3, 2, (2, 0, 1)),
        (0, 1, (0, 0, 5)),
        (9, 1, (2, 0, 1)),
    ],
)
def test_from_its_place_to_the_end_of_the_line(line: int, column: int, expected: tuple[int, int, int]) -> None:
    source = Source("a.yml", "a: {b\n\nc")
    found = of_problem(Problem("a.yml", "no end", line, column), source, Positions("utf-16")).range
    assert (found.start.line, found.start.character, found.end.character) == expected
    assert found.end.line == found.start.line


def test_one_of_another_file_is_shown_on_the_first_line() -> None:
    found = of_problem(Problem("b.env", "no end", 7, 3), Source("a.yml", "ab\nc"), Positions("utf-16"))
    assert (found.range.start.line, found.range.start.character, found.range.end.character) == (0, 0, 2)
    assert found.message == "b.env:7:3: no end"
