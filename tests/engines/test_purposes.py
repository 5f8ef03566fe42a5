"""Sentences on what options do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from servelint.engines import catalog as catalogs
from servelint.engines.purposes import FOLDER, purpose, purposes

ENGINES = sorted(path.name.removesuffix(".json") for path in Path(FOLDER).iterdir())


@pytest.mark.parametrize("engine", ENGINES)
class TestSentences:
    def test_each_option_is_in_some_release_and_takes_its_sentence(self, engine: str) -> None:
        catalog = catalogs.load(engine)
        for spelling, text in purposes(engine).items():
            assert spelling.startswith("--")
            assert catalog is None or catalog.spelled(spelling), spelling
            assert purpose(engine, [spelling]) == text

    def test_each_is_one_short_sentence_without_a_full_stop(self, engine: str) -> None:
        for spelling, text in purposes(engine).items():
            assert 10 <= len(text) <= 140, spelling
            assert not re.search(r"[.!?]$|[.!?] [A-Z]|\s\s|^\s", text), spelling
            assert text.isascii(), spelling

    def test_spellings_of_one_option_have_one_sentence(self, engine: str) -> None:
        catalog = catalogs.load(engine)
        known = purposes(engine)
        for spelling, text in known.items():
            runs = catalog.spelled(spelling) if catalog is not None else []
            if not runs or spelling in runs[-1][2].negatives:
                continue
            option = runs[-1][2]
            names = [name for name in option.names if name not in option.negatives]
            assert {known[name] for name in names if name in known} == {text}, spelling

    def test_it_does_not_repeat_the_name_of_the_option(self, engine: str) -> None:
        for spelling, text in purposes(engine).items():
            words = set(re.findall(r"[a-z]+", text.lower())) - set(spelling.strip("-").split("-"))
            assert len(words) >= 2, spelling


def test_the_300_that_people_use_most_have_one() -> None:
    assert sum(len(purposes(engine)) for engine in ENGINES) >= 600
    assert set(ENGINES) == {"vllm", "sglang", "llama.cpp", "lmdeploy", "tgi", "trtllm"}


def test_an_engine_without_sentences() -> None:
    assert purposes("acme") == {}
    assert purpose("acme", ["--port"]) is None
