"""The words of every launch stand where they say: in every format, the examples, and a folder that SERVELINT_CORPUS names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from servelint.core.source import Source, Span
from servelint.lint import beside
from servelint.readers import read
from servelint.readers.discover import files, read_file
from tests.book import as_written
from tests.spans import faults
from tests.wrappers import WRAPPERS
from tests.wrapping import unmarked

ROOT = Path(__file__).parent.parent
CORPUS = os.environ.get("SERVELINT_CORPUS")


def _examples() -> list[tuple[str, dict[str, Any]]]:
    """Of every rule of one engine the first bad example, where that is a plain command."""
    bad = [(rule["engine"], rule["examples"]["bad"][0]) for rule in as_written() if "engine" in rule]
    return [(engine, example) for engine, example in bad if "run" in example]


EXAMPLES = _examples()


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_in_every_format(wrapper: str) -> None:
    filename, wrap = WRAPPERS[wrapper]
    chosen = EXAMPLES[len(wrapper) % 5 :: 5]
    for engine, example in chosen:
        source, _ = unmarked(filename, wrap(engine, example))
        launches = read(source).launches
        assert launches, source.text
        assert [fault for launch in launches for fault in faults(launch)] == [], source.text


def _faults_below(folder: str) -> tuple[int, list[str]]:
    """How many launches there are below a folder, and what is wrong with their places."""
    launches, found = 0, []
    for path in files([folder], []):
        source = read_file(path)
        if isinstance(source, Source):
            for launch in read(source, beside(path)).launches:
                launches += 1
                found += [f"{path}: {fault}" for fault in faults(launch)]
    return launches, found


def test_in_the_examples() -> None:
    launches, found = _faults_below(str(ROOT / "examples"))
    assert launches > 5
    assert found == []


@pytest.mark.skipif(CORPUS is None, reason="SERVELINT_CORPUS names no folder of launch files")
def test_in_real_files() -> None:
    launches, found = _faults_below(CORPUS or "")
    assert launches > 0
    assert found == []


def test_a_wrong_place_is_a_fault() -> None:
    source, _ = unmarked("run.sh", "vllm serve m --port 8000\n")
    (launch,) = read(source).launches
    assert faults(launch) == []
    piece = launch.argv[-1].text.pieces[0]
    piece.span = Span(source, piece.span.start, piece.span.end - 2)  # type: ignore[union-attr]
    assert faults(launch) != []
