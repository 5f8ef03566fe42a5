"""The catalog file: many snapshots in one, each body once, and each snapshot back out of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.engines.catalog import Catalog, compile_catalog
from servelint.harvest.store import dump, merge, snapshot_of, write

Snapshot = dict[str, Any]
RELEASES = ["0.4.0", "0.4.1.post1", "0.5.0rc0", "0.5.0"]

names = st.sampled_from(["a", "b-c", "é", 'q"', "d.e"])
values = st.sampled_from([None, True, False, 0, 1, 1.5, "", "x", "ü\n", [], ["x", 1], {"k": "v"}])
bodies = st.dictionaries(st.sampled_from(["type", "default", "choices", "kind"]), values, max_size=3)
tables = st.dictionaries(names, bodies, max_size=3)
objects = st.fixed_dictionaries({"extra": st.sampled_from(["reject", "ignore", "keep"]), "keys": tables})
snapshots = st.fixed_dictionaries(
    {
        "options": tables,
        "env": tables,
        "positionals": st.lists(bodies, max_size=2),
        "json": st.dictionaries(names, objects, max_size=2),
        "names": st.fixed_dictionaries({"methods": tables, "parsers": tables}),
    }
)


def named(parts: list[Snapshot]) -> list[Snapshot]:
    """Snapshots of the first releases."""
    return [{"engine": "vllm", "release": release, **part} for release, part in zip(RELEASES, parts, strict=False)]


def plain(release: str, **parts: Any) -> Snapshot:
    return {"engine": "vllm", "release": release, "options": {}, "env": {}, "positionals": [], "json": {}, "names": {}, **parts}


class TestMerge:
    @settings(deadline=None, max_examples=60)
    @given(st.lists(snapshots, min_size=1, max_size=len(RELEASES)))
    def test_each_snapshot_comes_back(self, parts: list[Snapshot]) -> None:
        given_ = named(parts)
        catalog = merge("vllm", given_, [])
        assert [snapshot_of(catalog, one["release"]) for one in given_] == given_

    @settings(deadline=None, max_examples=40)
    @given(st.lists(snapshots, min_size=1, max_size=len(RELEASES)))
    def test_of_what_comes_back_is_the_same(self, parts: list[Snapshot]) -> None:
        given_ = named(parts)
        catalog = merge("vllm", given_, [])
        assert dump(merge("vllm", [snapshot_of(catalog, one["release"]) for one in given_], [])) == dump(catalog)

    @settings(deadline=None, max_examples=40)
    @given(st.lists(snapshots, min_size=1, max_size=len(RELEASES)))
    def test_equal_bodies_are_stored_once(self, parts: list[Snapshot]) -> None:
        catalog = merge("vllm", named(parts), [])
        for stored in catalog["options"].values():
            told = [json.dumps({**body, "releases": None}, sort_keys=True) for body in stored]
            assert len(told) == len(set(told))

    def test_the_file(self) -> None:
        before = plain("0.4.0", options={"port": {"type": "int"}, "old": {}}, env={"X": {}})
        after = plain("0.5.0", options={"port": {"type": "int"}, "new": {"kind": "flag"}}, env={"X": {"default": 1}})
        catalog = merge("vllm", [before, plain("0.4.1.post1"), after], [])
        assert catalog["releases"] == ["0.4.0", "0.4.1.post1", "0.5.0"]
        assert catalog["options"] == {
            "new": [{"releases": "0.5.0..", "kind": "flag"}],
            "old": [{"releases": "0.4.0"}],
            "port": [{"releases": "0.4.0, 0.5.0..", "type": "int"}],
        }
        assert catalog["env"] == {"X": [{"releases": "0.4.0"}, {"releases": "0.5.0..", "default": 1}]}

    def test_names_without_bodies_may_be_listed(self) -> None:
        catalog = merge("vllm", [plain("0.4.0", names={"parsers": ["hermes", "jamba"]})], [])
        assert snapshot_of(catalog, "0.4.0")["names"] == {"parsers": {"hermes": {}, "jamba": {}}}

    def test_a_release_that_is_added_changes_only_what_it_changes(self) -> None:
        old = [plain(release, options={"port": {"type": "int"}, "seed": {}}) for release in RELEASES[:3]]
        before = dump(merge("vllm", old, [])).splitlines()
        after = dump(merge("vllm", [*old, plain("0.5.0", options={"port": {"type": "int"}})], [])).splitlines()
        assert [line for line in before if line not in after] == [
            ' "releases": ["0.4.0", "0.4.1.post1", "0.5.0rc0"],',
            '  "seed": [{"releases": "0.4.0.."}]',
        ]

    def test_no_such_release(self) -> None:
        with pytest.raises(KeyError):
            snapshot_of(merge("vllm", [plain("0.4.0")], []), "0.9.0")


class TestPatches:
    SNAPSHOTS = (
        plain("0.4.0", options={"port": {"type": "int", "default": 1}, "gone": {}}),
        plain("0.5.0", options={"port": {"type": "int", "default": 1}, "gone": {}}),
    )

    def patched(self, release: str, *patches: dict[str, Any]) -> Snapshot:
        return snapshot_of(merge("vllm", list(self.SNAPSHOTS), list(patches)), release)

    def test_set_fields_and_remove_them(self) -> None:
        patch = {
            "at": ["options", "port"],
            "releases": "0.5.0..",
            "reason": "so",
            "set": {"default": None, "names": ["--port", "-p"]},
        }
        assert self.patched("0.4.0", patch)["options"]["port"] == {"type": "int", "default": 1}
        assert self.patched("0.5.0", patch)["options"]["port"] == {"type": "int", "names": ["--port", "-p"]}

    def test_add_a_body(self) -> None:
        patch = {"at": ["json", "spec", "keys", "model"], "releases": "0.4.0", "reason": "so", "set": {"type": "str"}}
        extra = {"at": ["json", "spec"], "releases": "0.4.0", "reason": "so", "set": {"extra": "reject"}}
        assert self.patched("0.4.0", patch, extra)["json"] == {"spec": {"extra": "reject", "keys": {"model": {"type": "str"}}}}
        assert self.patched("0.5.0", patch, extra)["json"] == {}

    def test_remove_a_body(self) -> None:
        patch = {"at": ["options", "gone"], "releases": "0.4.0..0.5.0", "reason": "so", "remove": True}
        assert [list(self.patched(release, patch)["options"]) for release in ("0.4.0", "0.5.0")] == [["port"], ["port"]]

    def test_leave_the_snapshots_as_they_are(self) -> None:
        before = json.dumps(self.SNAPSHOTS)
        self.patched("0.4.0", {"at": ["options", "gone"], "releases": "0.4.0..", "reason": "so", "remove": True})
        assert json.dumps(self.SNAPSHOTS) == before

    def test_may_be_applied_again(self) -> None:
        patch = {"at": ["options", "port"], "releases": "0.4.0..", "reason": "so", "set": {"default": None, "kind": "list"}}
        once = merge("vllm", list(self.SNAPSHOTS), [patch])
        again = merge("vllm", [snapshot_of(once, release) for release in once["releases"]], [patch])
        assert dump(again) == dump(once)

    def test_of_releases_that_are_not_there_change_nothing(self) -> None:
        patch = {"at": ["options", "port"], "releases": "0.1.0..0.2.0", "reason": "so", "set": {"default": 2}}
        assert self.patched("0.4.0", patch)["options"]["port"]["default"] == 1


class TestDump:
    @settings(deadline=None, max_examples=60)
    @given(st.lists(snapshots, min_size=1, max_size=3))
    def test_is_json_with_a_line_for_each_body(self, parts: list[Snapshot]) -> None:
        catalog = merge("vllm", named(parts), [])
        text = dump(catalog)
        assert json.loads(text) == catalog
        stored = [*catalog["options"].values(), *catalog["env"].values(), catalog["positionals"]]
        for part in catalog["json"].values():
            stored += [part["extra"], *part["keys"].values()]
        stored += [each for table in catalog["names"].values() for each in table.values()]
        told = [line for line in text.splitlines() if '{"releases": ' in line]
        assert len(told) == sum([len(each) for each in stored])

    def test_looks_so(self) -> None:
        catalog = merge(
            "vllm",
            [
                plain("0.4.0", options={"port": {"type": "int"}}, json={"spec": {"extra": "reject", "keys": {"model": {}}}}),
                plain("0.5.0", options={"port": {"type": "int", "default": 1}, "x": {}}, names={"methods": {"mtp": {}}}),
            ],
            [],
        )
        assert (
            dump(catalog)
            == """\
{
 "engine": "vllm",
 "releases": ["0.4.0", "0.5.0"],
 "options": {
  "port": [
   {"releases": "0.4.0", "type": "int"},
   {"releases": "0.5.0..", "default": 1, "type": "int"}
  ],
  "x": [{"releases": "0.5.0.."}]
 }
,
 "positionals": [
  {"releases": "0.4.0..", "list": []}
 ],
 "json": {
  "spec": {
   "extra": [
    {"releases": "0.4.0", "value": "reject"}
   ],
   "keys": {
    "model": [{"releases": "0.4.0"}]
   }
  }
 },
 "env": {
 }
,
 "names": {
  "methods": {
   "mtp": [{"releases": "0.5.0.."}]
  }
 }
}
"""
        )

    def test_goes_to_a_file_whole(self, tmp_path: Path) -> None:
        catalog = merge("vllm", [plain("0.4.0", options={"é": {}})], [])
        write(str(tmp_path / "vllm.json"), catalog)
        assert (tmp_path / "vllm.json").read_bytes() == dump(catalog).encode()
        assert [one.name for one in tmp_path.iterdir()] == ["vllm.json"]

    @settings(deadline=None, max_examples=30)
    @given(st.lists(snapshots, min_size=1, max_size=3))
    def test_compiles(self, parts: list[Snapshot]) -> None:
        given_ = named([{**part, "options": {}} for part in parts])
        catalog = Catalog(compile_catalog(merge("vllm", given_, [])))
        for index, one in enumerate(given_):
            assert catalog.positionals(index) == one["positionals"]
            read = {
                name: body for name, runs in catalog.variables().items() for first, last, body in runs if first <= index <= last
            }
            assert read == one["env"]
