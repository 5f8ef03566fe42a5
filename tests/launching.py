"""Launches of texts that stand in the tests themselves. Marks (`⟦ ⟧`) in a text say where its characters are expected."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

from servelint.core.launch import Launch, Word
from servelint.core.problem import Problem
from servelint.core.source import Source, Span
from servelint.files.siblings import Neighbours
from servelint.readers import Reading, read
from tests.wrapping import CLOSE, OPEN

_MARK = re.compile(f"[{OPEN}{CLOSE}]")


def marked(filename: str, text: str) -> tuple[Source, list[Span]]:
    """The source without its marks, and the spans that they enclose, in the order in which they open."""
    source = Source(filename, _MARK.sub("", text))
    spans: list[Span] = []
    opened: list[int] = []
    for count, mark in enumerate(_MARK.finditer(text)):
        at = mark.start() - count
        if mark.group() == OPEN:
            opened.append(len(spans))
            spans.append(Span(source, at, at))
        else:
            index = opened.pop()
            spans[index] = Span(source, spans[index].start, at)
    assert not opened, "a mark is not closed"
    return source, spans


def reading(text: str, filename: str = "compose.yml", folder: Path | None = None) -> tuple[Reading, list[Span]]:
    """What a reader makes of an indented text, and its marks. folder: where the file's neighbours stand."""
    source, spans = marked(filename, dedent(text).removeprefix("\n"))
    return read(source, Neighbours(str(folder) if folder is not None else None)), spans


def launches_in(text: str, filename: str = "compose.yml", folder: Path | None = None) -> list[Launch]:
    """The launches of a text in which nothing is wrong."""
    found, _ = reading(text, filename, folder)
    assert found.problems == []
    return found.launches


def launch_in(text: str, filename: str = "compose.yml", folder: Path | None = None) -> Launch:
    """The only launch of a text."""
    launches = launches_in(text, filename, folder)
    assert len(launches) == 1, launches
    return launches[0]


def marked_launch(text: str, filename: str = "compose.yml", folder: Path | None = None) -> tuple[Launch, list[Span]]:
    """The only launch of a text, and the text's marks."""
    found, spans = reading(text, filename, folder)
    assert found.problems == []
    assert len(found.launches) == 1, found.launches
    return found.launches[0], spans


def argv(launch: Launch) -> list[str]:
    return [word.shown for word in launch.argv]


def sites(words: list[Word] | tuple[Word, ...]) -> list[Span | None]:
    """The words as they stand in the command, quotes included."""
    return [word.site for word in words]


def spans(words: list[Word] | tuple[Word, ...]) -> list[Span | None]:
    """The characters that make the words, without their quotes."""
    return [word.text.span() for word in words]


def environment(launch: Launch) -> dict[str, str | None]:
    """name -> value as shown; None where it is passed through from outside."""
    return {name: variable.value.shown if variable.value is not None else None for name, variable in launch.env.items()}


def release(launch: Launch) -> tuple[str | None, str | None]:
    """The release that the file names, and what named it."""
    return launch.release.release, launch.release.how


def lines(launch: Launch) -> tuple[int, int]:
    return launch.line, launch.end_line


def shown(problem: Problem) -> str:
    return f"{problem.path}:{problem.line}:{problem.column}: {problem.message}"
