"""Release ranges hold exactly the releases that PEP 440 says they hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from servelint.engines.releases import known_releases, release_key
from servelint.rules.load import rules
from servelint.rules.ranges import Bounds, compile_range, contains, describe, is_open, loaded
from tests.together import together

RELEASES = {engine: known_releases(engine) for engine in ("vllm", "sglang")}
ALL = [*RELEASES["vllm"], *RELEASES["sglang"], "0.5.10rc1", "0.5.10rc0.post1", "0.5.10.dev1", "0.5.10.post1.dev2", "1.0.0"]

BOUNDS = st.tuples(
    st.sampled_from([">=", "<=", ">", "<", "==", "!="]),
    st.sampled_from(["", " "]),
    st.sampled_from(ALL) | st.sampled_from(["0.20", "0.5", "0.4", "1", "0.5.10rc", "0.5.11a1", "0.5.10.post3"]),
).map("".join)
SPECIFIERS = st.lists(BOUNDS, max_size=3).map(",".join)


def bounds(text: str) -> Bounds:
    """A range as a check has it: compiled, written into the rule book, and loaded from there."""
    return loaded(json.loads(json.dumps(compile_range(text))))


def held(text: str, releases: list[str]) -> list[str]:
    return [release for release in releases if contains(bounds(text), release_key(release))]


@given(SPECIFIERS)
def test_a_range_holds_what_packaging_says(text: str) -> None:
    specifiers = SpecifierSet(text)
    assert held(text, ALL) == [release for release in ALL if specifiers.contains(release, prereleases=True)]


@pytest.mark.book
@pytest.mark.parametrize("operator", [">=", "<=", ">", "<", "==", "!="])
@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_every_published_release_as_a_bound(engine: str, operator: str) -> None:
    for bound in RELEASES[engine]:
        specifiers = SpecifierSet(f"{operator}{bound}")
        expected = [release for release in RELEASES[engine] if specifiers.contains(release, prereleases=True)]
        assert held(f"{operator}{bound}", RELEASES[engine]) == expected, bound


@pytest.mark.book
@together("text", sorted({rule.versions for rule in rules() if rule.engine in RELEASES}))
def test_the_ranges_of_the_rules(text: str) -> None:
    specifiers = SpecifierSet(text)
    assert held(text, ALL) == [release for release in ALL if specifiers.contains(release, prereleases=True)]


@together(
    "text, inside, outside",
    [
        (">=0.5.10,<0.5.11", ["0.5.10", "0.5.10.post1"], ["0.5.10rc0", "0.5.11"]),
        (">=0.5.10rc0,<0.5.11", ["0.5.10rc0", "0.5.10"], ["0.5.9"]),
        ("<0.5.10", ["0.5.9"], ["0.5.10rc0", "0.5.10"]),
        ("<0.5.10rc1", ["0.5.10rc0"], ["0.5.10"]),
        (">0.5.10", ["0.5.11"], ["0.5.10", "0.5.10.post1"]),
        ("==0.20", ["0.20.0"], ["0.20.1"]),
        (">=9180", ["b9180", "b9553"], ["b9179"]),
        ("<9180", ["b9179"], ["b9180"]),
        ("", ["0.1", "b1"], []),
    ],
)
def test_bounds(text: str, inside: list[str], outside: list[str]) -> None:
    assert held(text, [*inside, *outside]) == inside


def test_a_release_that_is_not_known_is_only_in_the_range_of_all() -> None:
    assert contains(bounds(""), None)
    assert not contains(bounds(">=0"), None)


@together("text", ["0.20", "~=0.20", "=>0.20", ">=", ">=latest", ">=0.20 <0.21", "===0.20", "==0.20.*", ">=1!0"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a release bound"):
        compile_range(text)


@together(
    "text, said",
    [
        (">=0.20", "0.20 and later"),
        (">0.20", "after 0.20"),
        ("<0.5.4.post1", "before 0.5.4.post1"),
        ("<=0.28.0", "0.28.0 and earlier"),
        (">=0.19,<0.29", "0.19 and later, before 0.29"),
        (">=0.19,<=0.28.0", "0.19 to 0.28.0"),
        (">0.19,<=0.28.0", "after 0.19, 0.28.0 and earlier"),
        ("==0.20.1", "only 0.20.1"),
        (">=0.20,!=0.20.1,!=0.20.2", "0.20 and later, not 0.20.1, 0.20.2"),
        ("!=0.20.1", "every release, not 0.20.1"),
        ("", "every release"),
        (">=0", "every release"),
        (">=0,<0.29", "before 0.29"),
    ],
)
def test_a_range_as_a_person_says_it(text: str, said: str) -> None:
    assert describe(text) == said


@pytest.mark.parametrize(
    ("versions", "open_"),
    [("", True), (">=0.6", True), (">0.6", True), ("!=0.7", True), (">=0.6,<0.9", False), ("<=0.9", False), ("==0.9", False)],
)
def test_a_range_without_an_upper_bound_is_open(versions: str, open_: bool) -> None:
    assert is_open(loaded(compile_range(versions))) is open_


def test_numbered_builds_in_words() -> None:
    assert describe(">=9180,<9300") == "b9180 and later, before b9300"
