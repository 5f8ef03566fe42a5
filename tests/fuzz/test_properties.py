"""The properties of fuzzing break where they should: each is shown a servelint that is wrong in one way."""

from __future__ import annotations

import shutil

import pytest

from fuzz import properties, vocabulary
from fuzz.case import BrokenError, Case
from fuzz.counts import COUNTS
from servelint.core.finding import Finding
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.files.siblings import Neighbours
from servelint.lint import check_launches
from servelint.readers import Reading, read
from tests.together import together

TEXT = "export A=1\nvllm serve a/b --port 8000 --seed $A\n"
TWICE, COMMENT_BEHIND, UNKNOWN = 0, 64 + 4, 6
"""Turns that come to a property."""


def check(turn: int, text: str = TEXT) -> None:
    properties.of_a_text(Case("run.sh", text, turn, whole=True))


def breaks(turn: int) -> str:
    with pytest.raises(BrokenError) as broken:
        check(turn)
    return broken.value.what


@together("turn", range(128), at_once=16)
def test_a_sound_script_breaks_none(turn: int) -> None:
    check(turn)


def test_a_span_that_is_not_in_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(source: Source, neighbours: Neighbours) -> Reading:
        found = read(source, neighbours)
        for launch in found.launches:
            launch.site = Span(source, launch.site.start, len(source.text) + 1)
        return found

    monkeypatch.setattr(properties, "read", wrong)
    assert breaks(15) == "spans inside the text"


def test_a_word_that_does_not_stand_where_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(source: Source, neighbours: Neighbours) -> Reading:
        found = read(source, neighbours)
        for launch in found.launches:
            launch.argv[0].text.pieces[0].span = Span(source, 0, 3)
        return found

    monkeypatch.setattr(properties, "read", wrong)
    assert breaks(15) == "verbatim text stands where it says"


def test_a_second_reading_that_says_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[Reading] = []

    def wrong(source: Source, neighbours: Neighbours) -> Reading:
        readings.append(read(source, neighbours))
        if len(readings) > 1:
            del readings[-1].launches[0].argv[-1]
        return readings[-1]

    monkeypatch.setattr(properties, "read", wrong)
    assert breaks(TWICE) == "reading twice is equal"


def added_where(sign: str, source: Source, launches: list[Launch], settings: Settings) -> list[Finding]:
    """What is found, and an error more in texts with a sign."""
    found = check_launches(source, launches, settings)
    if sign in source.text:
        site = launches[0].site
        found.append(
            Finding(
                rule="vllm/wrong", severity="error", confidence="high", impact="security", message="m", advice="a", span=site
            )
        )
    return found


def test_a_comment_that_changes_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(properties, "check_launches", lambda *args: added_where("# a comment", *args))
    assert breaks(COMMENT_BEHIND) == "a comment changes no finding"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_what_bash_refuses_to_read_is_no_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands behind what makes no sense is read in one way or another."""
    monkeypatch.setattr(properties, "check_launches", lambda *args: added_where("# a comment", *args))
    before = COUNTS["comments in what is not a script"]
    check(COMMENT_BEHIND, TEXT + "fi\n")
    assert COUNTS["comments in what is not a script"] == before + 1


def test_an_unknown_that_adds_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(properties, "check_launches", lambda *args: added_where(vocabulary.UNKNOWN, *args))
    assert breaks(UNKNOWN) == "an unknown adds no error"
