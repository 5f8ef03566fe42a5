"""The file of a baseline: what is written can be read, and what is wrong with it is told with its place."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.filters import baseline
from servelint.filters.baseline import Entry
from servelint.rules.load import schema_folder

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ENTRIES = st.lists(
    st.builds(
        Entry,
        TEXTS,
        TEXTS,
        TEXTS,
        TEXTS,
        count=st.integers(1, 9),
        reason=TEXTS,
        expires=st.none() | st.dates(min_value=date(1000, 1, 1)),
    ),
    max_size=5,
)


def fields(entry: Entry) -> tuple[object, ...]:
    return (*entry.key, entry.count, entry.reason, entry.expires)


def read(text: str, folder: Path) -> baseline.Baseline:
    path = folder / "known.json"
    path.write_text(text)
    return baseline.read(str(path))


def problems(text: str, folder: Path) -> list[str]:
    return [f"{problem.line}:{problem.column}: {problem.message}" for problem in read(text, folder).problems]


@given(ENTRIES)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, entries: list[Entry]) -> None:
    text = baseline.render(entries)
    found = read(text, tmp_path_factory.mktemp("baseline"))
    assert found.problems == []
    assert [fields(entry) for entry in found.entries] == sorted([fields(entry) for entry in entries], key=lambda one: one[:4])
    jsonschema.validate(json.loads(text), json.loads((Path(schema_folder()) / "baseline.schema.json").read_text()))


def test_an_entry_is_a_line(tmp_path: Path) -> None:
    text = baseline.render([Entry("a/b", "run.sh", "", "1.5"), Entry("a/b", "a.yml", "services.x", "é", count=2, reason="so")])
    assert text == (
        '{\n "servelint-baseline": 1,\n "findings": [\n'
        '  {"rule": "a/b", "path": "a.yml", "launch": "services.x", "text": "é", "count": 2, "reason": "so"},\n'
        '  {"rule": "a/b", "path": "run.sh", "launch": "", "text": "1.5"}\n ]\n}\n'
    )


HEAD = '{"servelint-baseline": 1, "findings": '


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: the baseline is not JSON: the JSON ends where a value is expected"),
        ("[]", '1:1: this is not a baseline of servelint: it has no "servelint-baseline"'),
        ('{"servelint-baseline": 2, "findings": []}', "1:24: a baseline of format 2 is unknown to servelint; write 1"),
        ('{"servelint-baseline": 1}', '1:1: "findings" is a list of entries'),
        (HEAD + "{}}", '1:39: "findings" is a list of entries'),
        (HEAD + '[], "x": 1}', '1:43: unknown key "x"; a baseline has "findings"'),
        (HEAD + "[3]}", '1:40: an entry is an object with "rule", "path", "launch" and "text"'),
        (HEAD + '[{"rule": "a/b"}]}', "1:40: the entry has no path and no text"),
        (HEAD + '[{"rule": 1, "path": "p", "text": "t"}]}', '1:49: "rule" is a text'),
        (HEAD + '[{"rule": "r", "path": "p", "text": "t", "reason": 3}]}', '1:90: "reason" is a text'),
        (
            HEAD + '[{"rule": "r", "path": "p", "text": "t", "line": 3}]}',
            '1:80: unknown key "line"; an entry has rule, path, launch, text, count, reason, expires',
        ),
        (HEAD + '[{"rule": "r", "path": "p", "text": "t", "count": 0}]}', '1:89: "count" is a whole number from 1'),
        (
            HEAD + '[{"rule": "r", "path": "p", "text": "t", "expires": "31.1.2027"}]}',
            '1:91: "expires" is a day such as "2027-01-31"',
        ),
        (
            HEAD + '[{"rule": "r", "path": "p", "text": "t", "expires": "2027-02-30"}]}',
            '1:91: "expires" is a day such as "2027-01-31"',
        ),
    ],
)
def test_what_is_wrong(text: str, said: str, tmp_path: Path) -> None:
    assert problems(text, tmp_path) == [said]


def test_a_wrong_entry_does_not_cost_the_others(tmp_path: Path) -> None:
    found = read(HEAD + '[\n{"rule": 1},\n{"rule": "r", "path": "p", "text": "t"}]}', tmp_path)
    assert [entry.key for entry in found.entries] == [("p", "r", "", "t")]
    assert len(found.problems) == 2


def test_no_file(tmp_path: Path) -> None:
    (problem,) = baseline.read(str(tmp_path / "none.json")).problems
    assert problem.message == "the baseline cannot be read: No such file or directory; --write-baseline makes it"
    (problem,) = baseline.read(str(tmp_path)).problems
    assert problem.message == "the baseline cannot be read: not a regular file"
    (tmp_path / "latin.json").write_bytes(b"\xff")
    (problem,) = baseline.read(str(tmp_path / "latin.json")).problems
    assert problem.message == "the baseline cannot be read: it is not UTF-8"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(b"\xff")
    found = baseline.read(str(tmp_path / "b.json"))
    assert [one.message for one in found.problems] == ["the baseline cannot be read: it is not UTF-8"]
    assert (found.source.text, found.entries) == ("", [])
