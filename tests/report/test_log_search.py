"""Rules by the text of a log: fifty refusals from issue threads and from releases' own start-up checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from servelint.report import log_search
from servelint.rules.load import rules
from tests.running import Workspace

LOGS: list[dict[str, str]] = json.loads((Path(__file__).parent / "logs.json").read_text(encoding="utf-8"))
HEADS = "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (3)."


@pytest.fixture(scope="module")
def index() -> log_search.Index:
    return log_search.Index(log_search.entries())


@pytest.mark.book
def test_the_right_rule_is_among_the_first_three_for_most_refusals(index: log_search.Index) -> None:
    assert len(LOGS) == 50
    missed = [one for one in LOGS if one["rule"] not in [found.entry.rule for found in index.search(one["text"])[:3]]]
    assert len(missed) <= 5, missed


@pytest.mark.book
def test_refusals_name_rules_of_the_book() -> None:
    known = {rule.id for rule in rules()}
    data = json.loads((Path(log_search.__file__).parents[1] / "rules" / "refusals.json").read_text(encoding="utf-8"))
    assert set(data["refusals"]) <= known
    assert {one["rule"] for one in LOGS} <= known


def test_a_text_about_something_else_finds_no_rule(index: log_search.Index) -> None:
    assert index.search("") == []
    assert index.search("the quick brown fox\njumps over the lazy dog") == []


def test_the_line_of_a_long_log_is_found(index: log_search.Index) -> None:
    noise = [f"INFO 01-01 00:00:{number % 60:02} loading shard {number}" for number in range(2_000)]
    found = index.search("\n".join([*noise, HEADS, *noise[:50]]))[0]
    assert (found.entry.rule, found.line) == ("vllm/heads-not-divisible", 2_001)


def test_an_engine_that_the_log_names_comes_first(index: log_search.Index) -> None:
    first = index.search("launch_server.py: error: unrecognized arguments: --swap-spacee")[0]
    assert first.entry.engine == "sglang"


def test_the_command_line_reads_a_log(workspace: Workspace) -> None:
    workspace.file("server.log", f"INFO start\n{HEADS}\n")
    done = workspace.run("explain", "--log", "server.log")
    assert done.status == 0
    assert done.out.startswith("vllm/heads-not-divisible: ")
    assert f"line 2: {HEADS}" in done.out
    assert workspace.run("explain", "--log", "-", stdin=HEADS.encode()).out.startswith("vllm/heads-not-divisible: ")


def test_the_command_line_says_what_it_cannot_read(workspace: Workspace) -> None:
    done = workspace.run("explain", "--log", "missing.log")
    assert (done.status, done.err) == (2, "servelint: missing.log cannot be read: No such file or directory\n")
    assert workspace.run("explain", "--log", "x", "vllm/heads-not-divisible").status == 2
    workspace.file("empty.log", b"\xff\xfe\x00")
    done = workspace.run("explain", "--log", "empty.log")
    assert (done.status, done.err) == (1, "servelint: no rule matches this log\n")


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("error: unrecognized arguments: --bogus --api-key sk-very1secret2345", "very1secret"),
        ("error: unrecognized arguments: --bogus HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz123456", "abcdefghij"),
        ("error: unrecognized arguments: --bogus --ssl-keyfile-password hunter22x", "hunter22x"),
    ],
)
def test_no_secret_of_a_log_is_printed(workspace: Workspace, line: str, secret: str) -> None:
    out = workspace.run("explain", "--log", "-", stdin=f"api_server.py: {line}\n".encode()).out
    assert "unrecognized arguments: --bogus" in out
    assert secret not in out
    assert "***" in out
