"""Of the launches that broke for someone, each that the launch itself tells is caught, or named as missed with why."""

from __future__ import annotations

import json
import re
from operator import itemgetter
from typing import Any

from tests.reports.scoring import FOLDER, Case, misses
from tests.together import together

ROWS = [json.loads(line) for line in (FOLDER / "reports.jsonl").read_text(encoding="utf-8").splitlines()]
IDS = [row["id"] for row in ROWS]
KNOWN = misses()


def test_no_case_stands_twice() -> None:
    launches = [(row["url"], row["run_version"], tuple(row["argv"]), str(row["env"]), row["gpu"]) for row in ROWS]
    assert len(set(IDS)) == len(IDS)
    assert len(set(launches)) == len(launches)


@together("row", ROWS, name=itemgetter("id"), at_once=400)
def test_a_case_says_where_it_comes_from_and_what_it_wants(row: dict[str, Any]) -> None:
    assert re.fullmatch(r"https://\S+", str(row["url"]))
    assert row["predictable"] in ("yes", "partly", "no")
    assert all(row[field] for field in ("failure", "cause", "expect_regex"))
    re.compile(str(row["expect_regex"]))


def test_the_misses_name_cases_that_the_launch_tells() -> None:
    telling = {row["id"] for row in ROWS if row["predictable"] == "yes"}
    assert set(KNOWN) <= telling
    assert all(len(reason.split()) > 2 for reason in KNOWN.values())


@together("row", [row for row in ROWS if row["predictable"] == "yes"], name=itemgetter("id"))
def test_a_case_is_caught_or_is_named_as_missed(row: dict[str, Any]) -> None:
    case = Case(row)
    if case.id in KNOWN:
        assert not case.caught, f"{case.id} is caught now: take it out of misses.json"
    else:
        assert case.caught, f"{case.id} is missed: {case.command}: {case.findings}"


@together("row", [row for row in ROWS if row["predictable"] == "no"], name=itemgetter("id"))
def test_a_launch_that_does_not_tell_its_failure_gets_no_error(row: dict[str, Any]) -> None:
    # An advisory is an error about a release that starts all the same.
    errors = [text for text in Case(row).errors if not re.match(r"\w+/cve-", text)]
    assert not errors
