"""The catalog: what it answers of a release, and its compiled form."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.source import Source
from servelint.core.text import TracedText
from servelint.engines import ENGINE_NAMES
from servelint.engines import catalog as catalogs
from servelint.engines.argv import Arguments, read
from servelint.engines.catalog import (
    FLAG,
    LIST,
    SUFFIX,
    TOGGLE,
    VALUE,
    Catalog,
    Option,
    Signatures,
    compile_all,
    compile_catalog,
    compile_file,
    compiled_text,
)
from servelint.engines.registry import ENGINES, Engine
from servelint.syntax.shell.words import split
from tests.together import together

DATA: dict[str, Any] = {
    "engine": "sglang",
    "releases": ["0.4.0", "0.4.1.post1", "0.5.0rc0", "0.5.0", "0.6.0"],
    "options": {
        "model-path": [{"releases": "0.4.0..", "names": ["--model-path", "--model"], "required": True}],
        "port": [
            {"releases": "0.4.0..0.5.0rc0, 0.6.0..", "type": "int", "default": 30000},
            {"releases": "0.5.0", "type": ["int"], "default": 8000, "deprecated": True},
        ],
        "eager": [{"releases": "0.4.1.post1..0.5.0", "kind": "toggle", "negatives": ["--no-eager"]}],
        "easy": [{"releases": "0.6.0..", "kind": "flag", "sets": False}],
        "sizes": [{"releases": "0.5.0..", "kind": "list", "nargs": "+", "type": "int", "names": ["--sizes", "-s"]}],
        "spec": [{"releases": "0.4.0..", "type": "json", "json": "spec"}],
        "old": [{"releases": "0.4.0", "choices": ["a", "b"]}],
        "under_score": [{"releases": "0.5.0..", "names": ["--under_score"]}],
    },
    "positionals": [
        {"releases": "0.4.0", "list": []},
        {"releases": "0.4.1.post1..", "list": [{"name": "model_path", "kind": "optional"}]},
    ],
    "json": {
        "spec": {
            "extra": [{"releases": "0.4.0..0.5.0rc0", "value": "ignore"}, {"releases": "0.5.0", "value": "reject"}],
            "keys": {
                "method": [{"releases": "0.4.0.."}],
                "tokens": [{"releases": "0.5.0..", "type": "int", "aliases": ["num_tokens"]}],
            },
        }
    },
    "env": {"SGLANG_X": [{"releases": "0.4.0..0.5.0rc0", "default": "1"}, {"releases": "0.6.0..", "deprecated": "no more"}]},
    "names": {"methods": {"mtp": [{"releases": "0.5.0..", "parallel": True}]}},
}
CATALOG = Catalog(compile_catalog(DATA))


def spelled(spelling: str, index: int) -> Option | None:
    return CATALOG.table(index).find(spelling)


class TestReleases:
    @together(
        "release, index",
        [("0.4.0", 0), ("0.4", 0), ("v0.4.0", 0), ("0.5.0rc0", 2), ("0.5", 3), ("0.4.2", None), ("0.7", None), ("main", None)],
    )
    def test_index(self, release: str, index: int | None) -> None:
        assert CATALOG.index(release) == index

    @pytest.mark.parametrize(
        ("release", "index"),
        [("0.4.0", 0), ("0.4.2", 1), ("0.5.1", 3), ("0.9", 4), ("0.1", 0), (None, 4), ("nightly", 4)],
    )
    def test_nearest(self, release: str | None, index: int) -> None:
        assert CATALOG.nearest(release) == index

    @pytest.mark.parametrize(
        ("release", "expected"),
        [("0.4.1", (0, 1)), ("0.4.2", (1, 2)), ("0.5.9", (3, 4)), ("0.3", None), ("0.7", None), ("nightly", None)],
    )
    def test_around(self, release: str, expected: tuple[int, int] | None) -> None:
        assert CATALOG.around(release) == expected


class TestOptions:
    @pytest.mark.parametrize(
        ("spelling", "indexes"),
        [
            ("--port", [0, 1, 2, 3, 4]),
            ("--model", [0, 1, 2, 3, 4]),
            ("--eager", [1, 2, 3]),
            ("--no-eager", [1, 2, 3]),
            ("-s", [3, 4]),
            ("--old", [0]),
            ("--none", []),
        ],
    )
    def test_of_each_release(self, spelling: str, indexes: list[int]) -> None:
        assert [index for index in range(5) if spelled(spelling, index) is not None] == indexes
        runs = CATALOG.spelled(spelling)
        assert [index for first, last, _ in runs for index in range(first, last + 1)] == indexes

    def test_what_they_take(self) -> None:
        eager, easy, sizes, port, old = (
            spelled(*one) for one in (("--no-eager", 2), ("--easy", 4), ("-s", 3), ("--port", 3), ("--old", 0))
        )
        assert eager is not None
        assert (eager.kind, eager.takes_value, eager.polarity("--eager"), eager.polarity("--no-eager")) == (
            TOGGLE,
            False,
            True,
            False,
        )
        assert easy is not None
        assert (easy.kind, easy.polarity("--easy")) == (FLAG, False)
        assert sizes is not None
        assert (sizes.name, sizes.kind, sizes.nargs, sizes.types) == ("sizes", LIST, "+", ["int"])
        assert port is not None
        assert (port.kind, port.default, port.deprecated, port.polarity("--port")) == (VALUE, 8000, "it is deprecated", None)
        assert old is not None
        assert (old.choices, old.names, old.types) == (["a", "b"], ["--old"], [])

    def test_a_body_of_several_runs_is_one_option(self) -> None:
        runs = CATALOG.spelled("--port")
        assert [(first, last, option.default) for first, last, option in runs] == [(0, 2, 30000), (3, 3, 8000), (4, 4, 30000)]
        assert runs[0][2] is runs[2][2]

    def test_table(self) -> None:
        table = CATALOG.table(3)
        assert table.release == "0.5.0"
        assert [option.name for option in table.options()] == ["eager", "model-path", "port", "sizes", "spec", "under_score"]
        assert [option.name for option in table.required()] == ["model-path"]
        assert table.starting("--m") == ["--model", "--model-path"]
        assert table.starting("--old") == []
        found = table.get("model-path"), table.get("model"), table.get("old")
        assert [option.name if option is not None else None for option in found] == ["model-path", None, None]
        assert CATALOG.table(3) is table

    def test_spellings_of_all_releases(self) -> None:
        assert CATALOG.starting("--ea") == ["--eager", "--easy"]
        assert CATALOG.starting("--zz") == []
        assert {"--old", "--no-eager", "-s"} <= set(CATALOG.spellings())

    @pytest.mark.parametrize(("index", "names"), [(0, []), (1, ["model_path"]), (4, ["model_path"])])
    def test_positionals(self, index: int, names: list[str]) -> None:
        assert [one["name"] for one in CATALOG.positionals(index)] == names


class TestKeys:
    @pytest.mark.parametrize(
        ("index", "extra", "known"),
        [(0, "ignore", {"method"}), (2, "ignore", {"method"}), (3, "reject", {"method", "tokens", "num_tokens"})],
    )
    def test_of_a_release(self, index: int, extra: str, known: set[str]) -> None:
        keys = CATALOG.keys("spec", index)
        assert keys is not None
        assert (keys.extra, set(keys.known)) == (extra, known)
        assert keys.runs["tokens"] == [[3, 4, {"type": "int", "aliases": ["num_tokens"]}]]

    @pytest.mark.parametrize(("name", "index"), [("spec", 4), ("other", 0)])
    def test_that_are_not_known(self, name: str, index: int) -> None:
        assert CATALOG.keys(name, index) is None

    def test_the_releases_that_know_them(self) -> None:
        assert [(first, last) for first, last, _ in CATALOG.runs_of_object("spec")] == [(0, 2), (3, 3)]
        assert CATALOG.runs_of_object("other") == []


def test_variables_and_names() -> None:
    assert CATALOG.variables() == {"SGLANG_X": [[0, 2, {"default": "1"}], [4, 4, {"deprecated": "no more"}]]}
    assert CATALOG.names("methods") == {"mtp": [[3, 4, {"parallel": True}]]}
    assert CATALOG.names("parsers") == {}


def arguments(words: list[str], catalog: Catalog, index: int) -> Arguments:
    text = " ".join(words)
    argv = split(TracedText.at(Source("<command>", text), 0, len(text)))
    return read(argv, catalog.table(index), ENGINES[catalog.engine].dialect)


def reading(words: list[str], catalog: Catalog, index: int) -> object:
    """All that a parser makes of words."""
    found = arguments(words, catalog, index)
    return (
        [(one.name, one.spelling, one.on, one.value and one.value.flat, len(one.values), one.option) for one in found.every],
        [word.value for word in found.positionals],
        [(fault.kind, fault.spelling, fault.names) for fault in found.faults],
        (found.possible, found.complete),
    )


class TestSignature:
    """What lets releases share a reading."""

    WORDS = (
        "--port", "--por", "--port=1", "--e", "--ea", "--eager", "--no-eager", "--easy", "-s", "-s=1", "--sizes", "--m",
        "--model", "--old", "--under_score", "--under-score", "--spec.method", "--model_path", "--", "1", "x", "-1", "-x",
    )  # fmt: skip

    @given(st.lists(st.sampled_from(WORDS), max_size=6))
    def test_equal_ones_read_alike(self, words: list[str]) -> None:
        shared: dict[object, object] = {}
        for index in range(len(CATALOG.releases)):
            found = reading(words, CATALOG, index)
            assert shared.setdefault(Signatures(CATALOG, words).of(index), found) == found

    @pytest.mark.parametrize("engine", ["vllm", "sglang", "lmdeploy", "llama.cpp"])
    def test_equal_ones_read_alike_in_every_catalog(self, engine: str) -> None:
        catalog = catalogs.load(engine)
        assert catalog is not None
        step = len(catalog.releases) // 12
        for spelling in list(catalog.spellings())[::7]:
            words = ["m", spelling, "1"]
            shared: dict[object, object] = {}
            for index in range(0, len(catalog.releases), step):
                found = reading(words, catalog, index)
                assert shared.setdefault(Signatures(catalog, words).of(index), found) == found, (spelling, index)

    @together("words", ["-O3", "-O 3", "-O=3", "-O.level=3", "-O.mode 3", "-qfp8", "-q fp8", "-tp8", "-cc.mode=3"])
    def test_words_that_name_an_option_by_their_first_letters(self, words: str) -> None:
        catalog = catalogs.load("vllm")
        assert catalog is not None
        shared: dict[object, object] = {}
        for index in range(len(catalog.releases)):
            every = ["m", *words.split()]
            found = reading(every, catalog, index)
            assert shared.setdefault(Signatures(catalog, every).of(index), found) == found, catalog.releases[index]

    def test_those_of_releases_that_differ_are_few(self) -> None:
        signatures = {Signatures(CATALOG, ["--port", "1"]).of(index) for index in range(1, 5)}
        assert len(signatures) == 2


class TestCompiledFile:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "sglang.json").write_text(json.dumps(DATA))
        return tmp_path

    def text(self, folder: Path) -> bytes:
        found = compiled_text("sglang", str(folder))
        assert found is not None
        return bytes(found)

    def test_is_made(self, folder: Path) -> None:
        assert Catalog(self.text(folder)).releases == DATA["releases"]
        assert sorted(os.listdir(folder)) == ["sglang" + SUFFIX, "sglang.json"]
        assert (folder / ("sglang" + SUFFIX)).read_bytes() == compile_catalog(DATA)

    def test_is_taken_as_it_is(self, folder: Path) -> None:
        self.text(folder)
        kept = compile_catalog({**DATA, "engine": "kept"})
        (folder / ("sglang" + SUFFIX)).write_bytes(kept)
        assert self.text(folder) == kept

    @pytest.mark.parametrize("old", [b"", b'{"engine":"sglang","releases":[],"parts":{}}\n'])
    def test_is_made_anew_where_it_has_another_format(self, folder: Path, old: bytes) -> None:
        (folder / ("sglang" + SUFFIX)).write_bytes(old)
        assert self.text(folder) == compile_catalog(DATA)

    def test_is_made_anew_where_it_is_older(self, folder: Path) -> None:
        made = folder / ("sglang" + SUFFIX)
        made.write_text("stale")
        os.utime(made, ns=(0, 0))
        assert self.text(folder) == compile_catalog(DATA) == made.read_bytes()

    def test_is_enough_by_itself(self, folder: Path) -> None:
        expected = self.text(folder)
        (folder / "sglang.json").unlink()
        assert self.text(folder) == expected

    def test_is_not_needed_where_nothing_can_be_written(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("os.replace", refuse)
        assert self.text(folder) == compile_catalog(DATA)

    def test_of_an_engine_that_has_none(self, folder: Path) -> None:
        assert compiled_text("tgi", str(folder)) is None

    def test_is_made_for_a_wheel(self, folder: Path) -> None:
        made = str(folder / ("sglang" + SUFFIX))
        assert compile_file(str(folder / "sglang.json")) == made
        assert compile_all(str(folder), list(ENGINE_NAMES)) == [made]

    def test_a_release_that_is_not_listed(self) -> None:
        with pytest.raises(KeyError):
            compile_catalog({**DATA, "releases": ["0.4.0"]})


@pytest.mark.parametrize("engine", ["vllm", "sglang", "lmdeploy", "llama.cpp"])
def test_the_catalog_of_an_engine_is_compiled_whole(engine: str) -> None:
    catalog = catalogs.load(engine)
    assert catalog is not None
    with open(os.path.join(os.path.dirname(catalogs.__file__), "data", engine + ".json"), encoding="utf-8") as file:
        data = json.load(file)
    assert (catalog.engine, catalog.releases) == (engine, data["releases"])
    assert {option.name for _, _, option in (run for one in catalog.spellings() for run in catalog.spelled(one))} == set(
        data["options"]
    )
    assert catalog.variables().keys() == data["env"].keys()


def test_an_engine_without_a_catalog(bare: Engine) -> None:
    assert bare.id in ENGINE_NAMES
    assert catalogs.load(bare.id) is None
