"""Releases are ordered as PEP 440 orders them, without importing packaging."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from servelint.engines.catalog import load
from servelint.engines.releases import (
    LEAST,
    is_final,
    is_published_build,
    known_releases,
    newest,
    normalize,
    place,
    release_key,
    requested,
    sort_key,
    unlisted_note,
)
from tests.together import together

FOLLOWED = ("vllm", "sglang", "lmdeploy", "trtllm")
RELEASES = sorted({release for engine in FOLLOWED for release in known_releases(engine)})

NUMBERS = st.lists(st.integers(0, 3) | st.integers(0, 99999), min_size=1, max_size=5).map(
    lambda parts: ".".join(map(str, parts))
)
NUMBER = st.just("") | st.integers(0, 12).map(str)


def suffix(separators: list[str], names: list[str]) -> st.SearchStrategy[str]:
    """A part that may be left out, in any spelling that PEP 440 takes."""
    part = st.tuples(st.sampled_from(separators), st.sampled_from(names), NUMBER).map("".join)
    return st.just("") | part


PEP_440 = st.tuples(
    st.sampled_from(["", "v"]),
    NUMBERS,
    suffix(["", ".", "-", "_"], ["a", "b", "rc", "RC"]),
    suffix(["", ".", "-", "_"], ["post", "POST"]),
    suffix(["", ".", "-", "_"], ["dev"]),
).map("".join)


def order(one: Any, other: Any) -> int:
    return int(one > other) - int(one < other)


@given(PEP_440, PEP_440)
def test_generated_releases_are_ordered_as_packaging_orders_them(one: str, other: str) -> None:
    assert order(release_key(one), release_key(other)) == order(Version(one), Version(other))


def test_stages_of_one_release_are_in_the_order_of_their_publication() -> None:
    stages = ["1.0.dev1", "1.0a1.dev0", "1.0a1.dev1", "1.0a1", "1.0b1", "1.0rc1.dev0", "1.0rc1", "1.0"]
    stages += ["1.0.post.dev0", "1.0.post", "1.0.post1.dev0", "1.0.post1"]
    assert sorted(stages, key=sort_key) == stages
    assert len({release_key(one) for one in stages}) == len(stages)


@given(st.sampled_from(RELEASES), PEP_440)
def test_generated_releases_against_published_ones(one: str, other: str) -> None:
    assert order(release_key(one), release_key(other)) == order(Version(one), Version(other))


def test_all_published_releases_are_ordered_as_packaging_orders_them() -> None:
    keys = {release: release_key(release) for release in RELEASES}
    versions = {release: Version(release) for release in RELEASES}
    for one in RELEASES:
        for other in RELEASES:
            assert order(keys[one], keys[other]) == order(versions[one], versions[other]), (one, other)


@pytest.mark.parametrize("engine", FOLLOWED)
def test_known_releases_are_listed_from_the_oldest(engine: str) -> None:
    releases = known_releases(engine)
    assert all(Version(one) < Version(other) for one, other in pairwise(releases))
    assert newest(engine) == releases[-1]


@pytest.mark.parametrize("engine", ["llama.cpp", "nobody"])
def test_an_engine_whose_releases_are_not_followed(engine: str) -> None:
    assert known_releases(engine) == []
    assert newest(engine) is None


@given(st.integers(0, 99999), st.integers(0, 99999))
def test_builds_of_llama_cpp_are_whole_numbers(one: int, other: int) -> None:
    assert order(release_key(f"b{one}"), release_key(f"b{other}")) == order(one, other)


def test_a_build_is_compared_with_a_bound_that_is_a_number() -> None:
    assert release_key("b9180") == release_key("9180")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0.20", "0.20.0"),
        ("v0.20.0", "0.20.0"),
        (" 0.20.0 ", "0.20.0"),
        ("0.11.0rc", "0.11.0rc0"),
        ("0.8.5.post", "0.8.5.post0"),
        ("0.19.1+cu130", "0.19.1"),
        ("0", "0.0.0"),
    ],
)
def test_spellings_of_one_release(one: str, other: str) -> None:
    assert release_key(one) == release_key(other)


@together(
    "engine, written, release",
    [
        ("vllm", "0.20.0", "0.20.0"),
        ("vllm", "v0.20.0", "0.20.0"),
        ("vllm", " 0.20 ", "0.20"),
        ("vllm", "0.20.0-RC.1", "0.20.0rc1"),
        ("sglang", "0.5.4-1", "0.5.4.post1"),
        ("vllm", "0.19.1rc1.dev328+g18013df6a", "0.19.1rc1.dev328+g18013df6a"),
        ("llama.cpp", "b9180", "b9180"),
        ("llama.cpp", "9180", "9180"),
    ],
)
def test_a_release_that_a_person_writes(engine: str, written: str, release: str) -> None:
    assert normalize(engine, written) == release
    assert release_key(release) is not None


@pytest.mark.parametrize(
    ("engine", "written"),
    [("vllm", "latest"), ("vllm", ""), ("vllm", "b9180"), ("vllm", "1!0.20"), ("llama.cpp", "bb1"), ("vllm", "0.20.0-cu129")],
)
def test_what_a_person_writes_that_is_no_release(engine: str, written: str) -> None:
    with pytest.raises(ValueError, match=f"{written!r} is not a release"):
        normalize(engine, written)


@pytest.mark.parametrize(
    ("engine", "written", "release"),
    [
        ("vllm", "v0.20.0", "0.20.0"),
        ("vllm", "1.0.0", "1.0.0"),
        ("ollama", "0.12.3", "0.12.3"),
        ("llama.cpp", "b9180", "b9180"),
    ],
)
def test_a_release_that_a_person_names(engine: str, written: str, release: str) -> None:
    assert requested(engine, written) == release


@pytest.mark.parametrize(
    ("engine", "written", "message"),
    [
        ("vllm", "latest", '"latest" is not a release of vLLM; releases look like 0.19.1'),
        ("llama.cpp", "new", '"new" is not a release of llama.cpp; releases look like b9180'),
        ("vllm", "0.231.0", '"0.231.0" is not a release of vLLM; did you mean 0.23.0 or 0.33.0?'),
        (
            "vllm",
            "0.1.dev1+g0a1b2c3",
            '"0.1.dev1+g0a1b2c3" says nothing of the release: a checkout of vLLM without tags calls itself so',
        ),
        ("sglang", "5.23", '"5.23" is not a release of SGLang; did you mean 0.5.23?'),
    ],
)
def test_no_release_that_a_person_could_mean(engine: str, written: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        requested(engine, written)


@given(PEP_440)
def test_a_release_and_its_normal_form_have_one_key(written: str) -> None:
    assert release_key(normalize("vllm", written)) == release_key(written)


@pytest.mark.parametrize("release", ["0.20.0", "0.20.0.post1", "v1"])
def test_final_releases(release: str) -> None:
    assert is_final(release)
    assert sort_key(release) > LEAST


@pytest.mark.parametrize("release", ["0.20.0rc1", "0.20.0.dev1", "0.20.0.post1.dev2", "latest"])
def test_releases_that_are_not_final(release: str) -> None:
    assert not is_final(release)


def test_what_is_no_release_is_older_than_all() -> None:
    assert sort_key("latest") == LEAST < sort_key("0.0.0.dev0")


@together("text", ["", "latest", "nightly", "v", "0.20.x", "0.20.", ".1", "main", "0.20.0-cu129", "1!2.0", "${V}", "0 1"])
def test_what_is_no_release(text: str) -> None:
    assert release_key(text) is None


@together(
    "engine, release, kind, near",
    [
        ("vllm", "0.33.0", "known", ["0.33.0"]),
        ("vllm", "v0.33", "known", ["0.33.0"]),
        ("vllm", "0.34.0", "newer", ["0.33.0"]),
        ("vllm", "0.99", "newer", ["0.33.0"]),
        ("vllm", "1.0.0", "newer", ["0.33.0"]),
        ("vllm", "0.33.0.post1", "newer", ["0.33.0"]),
        ("vllm", "0.3.3", "older", ["0.6.0"]),
        ("vllm", "0.331", "never", ["0.33.0"]),  # a dot is missing
        ("vllm", "0.231.0", "never", ["0.23.0", "0.33.0"]),
        ("vllm", "33.0", "never", ["0.33.0"]),  # the zero in front is missing
        ("vllm", "0.27.5", "never", ["0.27.1", "0.28.0"]),
        ("vllm", "0.11.20", "never", ["0.11.2", "0.12.0"]),
        ("vllm", "0.20.0rc1", "between", ["0.19.1", "0.20.0"]),
        ("vllm", "0.19.1rc1.dev328", "between", ["0.19.0", "0.20.0"]),  # of the main branch, which leads to the next minor
        ("vllm", "0.19.1rc1", "between", ["0.19.0", "0.19.1"]),
        ("vllm", "0.19.2rc1.dev134+gfe9c3d6c5", "between", ["0.19.1", "0.20.0"]),
        ("vllm", "0.20.0rc1.dev3", "between", ["0.19.1", "0.20.0"]),
        ("vllm", "0.33.1rc1.dev20", "newer", ["0.33.0"]),
        ("sglang", "0.523", "never", ["0.5.23"]),
        ("sglang", "5.23", "never", ["0.5.23"]),
        ("sglang", "5.13", "never", ["0.5.13.post1", "0.5.23"]),
        ("sglang", "0.5.230", "never", ["0.5.23"]),
        ("sglang", "0.99", "newer", ["0.5.23"]),
        ("sglang", "0.5.13.post9", "between", ["0.5.13.post1", "0.5.14"]),
        ("lmdeploy", "0.181", "never", ["0.18.0"]),
        ("trtllm", "0.17.0", "between", ["0.16.0", "0.17.0.post1"]),  # published with a number behind it only
        ("trtllm", "1.3.0rc18", "between", ["1.3.0rc15", "1.3.0rc22"]),
        ("llama.cpp", "b9180", "known", ["b9113", "b9246"]),  # most builds are not in the catalog
        ("llama.cpp", "b11500", "newer", ["b11434"]),
        ("llama.cpp", "b114340", "never", ["b11434"]),
        ("llama.cpp", "b1", "older", ["b3889"]),
        ("llama.cpp", "11434.1", "newer", ["b11434"]),
    ],
)
def test_where_a_release_stands(engine: str, release: str, kind: str, near: list[str]) -> None:
    found = place(engine, release)
    assert found is not None
    assert (found.kind, found.near) == (kind, near)


@pytest.mark.parametrize(("engine", "text"), [("nobody", "3.3.4"), ("vllm", "latest"), ("vllm", "0.1.dev1"), ("vllm", "")])
def test_what_stands_nowhere(engine: str, text: str) -> None:
    assert place(engine, text) is None


@pytest.mark.parametrize("engine", FOLLOWED)
def test_every_known_release_stands_among_them(engine: str) -> None:
    placed = {release: place(engine, release) for release in known_releases(engine)}
    catalog = load(engine)
    last = sort_key(catalog.releases[-1]) if catalog is not None else sort_key("0")
    kinds = {release: one.kind if one is not None else None for release, one in placed.items()}
    # published, and its source could not be read
    assert kinds == {one: "newer" if sort_key(one) > last else "known" for one in placed}


@pytest.mark.parametrize(
    ("label", "published"),
    [("cu128", True), ("rocm6.3", True), ("cpu", True), ("", True), ("fork", False), ("cu128.fork", False)],
)
def test_labels_of_published_builds(label: str, published: bool) -> None:
    assert is_published_build(label) is published


NOTES = [
    ("vllm", "0.33.0", ""),
    ("vllm", "0.19.1rc1", "vLLM 0.19.1rc1 is not in the catalog; it is judged by 0.19.0 and 0.19.1"),
    ("vllm", "0.5.0", "vLLM 0.5.0 is older than every release that servelint knows; it is judged as 0.6.0"),
    ("vllm", "0.30.1", "vLLM 0.30.1 is not a release that servelint knows; it is judged by 0.30.0 and 0.31.0"),
    ("vllm", "latest", ""),
]


@pytest.mark.parametrize(("engine", "release", "note"), NOTES)
def test_a_note_on_a_release_that_is_not_known(engine: str, release: str, note: str) -> None:
    assert unlisted_note(engine, release) == note


def test_how_far_a_newer_release_may_be() -> None:
    """Four times the newest number, or 99, may be a later release; more is a mistyped one."""
    minor = release_key(known_releases("vllm")[-1])
    assert minor is not None
    most = max(99, 4 * minor[0][1])
    kinds = [placed.kind for number in (most, most + 1) if (placed := place("vllm", f"0.{number}.0")) is not None]
    assert kinds == ["newer", "never"]


def test_a_number_of_any_length_has_a_key() -> None:
    assert release_key("1.0rc" + "9" * 30) == release_key("1.0rc" + "9" * 18)
    assert sort_key("1.0rc" + "9" * 18) > sort_key("1.0rc" + "9" * 17)
