"""Findings: their sentences and fingerprints, the comments that suppress them, and what a fix leaves of a launch."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from servelint.core.finding import IMPACTS, SEVERITIES, Effect, Finding, Fix, Related
from servelint.core.launch import Launch
from servelint.core.result import Ignore
from servelint.core.source import Source, Span
from tests.launching import launch_in
from tests.together import together

ROOT = Path(__file__).parents[2]
SOURCE = Source("run.sh", "one\ntwo --swap-space 4\nthree\nfour\n")
OTHER = Source("lib.sh", "one\ntwo\n")


def at(line: int, source: Source = SOURCE) -> Span:
    start = source.line_starts[line - 1]
    return Span(source, start, start + 3)


def finding(span: Span | None = None, **given: Any) -> Finding:
    fields = {"rule": "vllm/swap", "severity": "error", "confidence": "high", "impact": "crash-at-start", "message": "it went"}
    return Finding(**{**fields, "advice": "delete it", "span": span or at(2), **given})


def branch(line: int, taken: bool) -> Any:
    return SimpleNamespace(span=at(line), taken=taken)


@pytest.mark.parametrize(
    ("branches", "text"),
    [
        ([], "it went"),
        ([branch(1, True)], "it went, if the branch at line 1 is taken"),
        ([branch(3, False)], "it went, if the branch at line 3 is not taken"),
        ([branch(3, True), branch(1, True), branch(3, True)], "it went, if the branches at lines 1, 3 are taken"),
        (
            [branch(4, False), branch(1, True), branch(2, False)],
            "it went, if the branch at line 1 is taken and the branches at lines 2, 4 are not taken",
        ),
    ],
)
def test_the_sentence_of_a_finding(branches: list[Any], text: str) -> None:
    one = finding()
    one.branches = tuple(branches)
    assert one.statement == text
    assert one.sentence == f"{text}; delete it"
    one.advice = ""
    assert one.sentence == text
    assert repr(one) == "Finding(error[vllm/swap] run.sh:2:1)"


def test_a_fingerprint_stays_while_the_finding_moves() -> None:
    launch = launch_in("services:\n  llm: {image: 'vllm/vllm-openai:v0.20.0', command: [--model, m]}\n")
    moved = Source("run.sh", "\n\n" + SOURCE.text)
    same = finding().fingerprint
    assert len(same) == 16
    assert same == finding(at(4, moved)).fingerprint == finding(message="other", severity="info").fingerprint
    others = [finding(rule="vllm/other"), finding(at(1)), finding(Span(OTHER, 4, 7)), finding(launch=launch)]
    assert len({same, *[one.fingerprint for one in others]}) == 5


@together(
    "patterns, lines, given, used",
    [
        (["vllm/swap"], (2,), {}, "vllm/swap"),
        (["vllm/*"], (2,), {}, "vllm/*"),
        (["vllm/other", "vllm/swap", "vllm/*"], (1, 2), {}, "vllm/swap"),
        (["vllm/*"], (1,), {}, None),
        (["sglang/*"], (2,), {}, None),
        (["vllm/swa*"], (2,), {}, None),
        (["vllm/swap2"], (2,), {}, None),
        (["vllm/swap"], (3,), {"launch": SimpleNamespace(source=SOURCE, line=3)}, "vllm/swap"),
        (["vllm/swap"], (3,), {"launch": SimpleNamespace(source=OTHER, line=3)}, None),
        (["vllm/swap"], (4,), {"related": [Related(at(4), "used here")]}, "vllm/swap"),
        (["vllm/swap"], (4,), {"related": [Related(at(4), "set here")]}, None),
        (["vllm/swap"], (1,), {"related": [Related(at(1, OTHER), "used here")]}, None),
        (["vllm/swap"], (2,), {"span": at(2, OTHER)}, None),
    ],
)
def test_a_comment_that_suppresses_a_finding(
    patterns: list[str], lines: tuple[int, ...], given: dict[str, Any], used: str | None
) -> None:
    comment = Ignore(at(1), lines, [(pattern, at(1)) for pattern in patterns])
    assert comment.speaks_for(finding(**given)) is (used is not None)
    assert comment.used == ({used} if used is not None else set())


BEFORE = """A=1 B=x vllm serve m --port 8000 --c '{"a": 1}' --seed $S\n"""


def read(text: str) -> Launch:
    return launch_in(text, "run.sh")


def effect(text: str = BEFORE) -> tuple[Launch, Effect]:
    launch = read(text)
    return launch, Effect(launch)


class TestEffect:
    """What a fix says it leaves is compared with what is read again."""

    def test_nothing_changes(self) -> None:
        _, nothing = effect()
        assert nothing.holds(read(BEFORE))
        for other in (
            "B=x vllm serve m --port 8000 --c '{\"a\": 1}' --seed $S\n",
            "A=2 B=x vllm serve m --port 8000 --c '{\"a\": 1}' --seed $S\n",
            "A=1 B=x vllm serve m --port 8001 --c '{\"a\": 1}' --seed $S\n",
            "A=1 B=x vllm serve m --port 8000 --c '{\"a\":1}' --seed $S\n",
            "A=1 B=x vllm serve m --port 8000 --c '{\"a\": 1}' --seed $S --x\n",
            "A=1 B=x vllm serve m --port 8000 --c '{\"a\": 1}' --seed $T\n",
        ):
            assert not nothing.holds(read(other)), other

    def test_words_that_go_and_come(self) -> None:
        launch, one = effect()
        one.drop(launch.argv[1:3])
        one.add(launch.argv[0], ["--host", "::"])
        one.add(launch.argv[0], ["--x"])
        one.add(launch.argv[3], ["--y"], before=True)
        assert one.holds(read("A=1 B=x vllm serve m --host :: --x --y --c '{\"a\": 1}' --seed $S\n"))
        assert not one.holds(read("A=1 B=x vllm serve m --x --host :: --y --c '{\"a\": 1}' --seed $S\n"))

    @pytest.mark.parametrize(
        ("written", "holds"),
        [('{"a":2}', True), ('{"a": 2}', True), ('{"a": 3}', False), ("{a: 2}", False), ('--c={"a": 2}', False)],
    )
    def test_an_object_is_compared_as_json(self, written: str, holds: bool) -> None:
        launch, one = effect()
        one.object(launch.argv[4], "", {"a": 2})
        assert one.holds(read(f"A=1 B=x vllm serve m --port 8000 --c '{written}' --seed $S\n")) is holds

    def test_an_object_behind_its_option(self) -> None:
        launch, one = effect("vllm serve m --c='{\"a\": 1}'\n")
        one.object(launch.argv[1], "--c=", {"a": 2})
        assert one.holds(read("vllm serve m --c='{\"a\":2}'\n"))
        assert not one.holds(read("vllm serve m --d='{\"a\":2}'\n"))

    def test_characters_that_change_wherever_they_are_used(self) -> None:
        launch, one = effect("P=8000\nvllm serve m --port $P --x=$P-$P --y $Z\n")
        place = launch.argv[2].text.span()
        assert place is not None
        one.replace(place, "9")
        assert one.holds(read("P=9\nvllm serve m --port $P --x=$P-$P --y $Z\n"))
        assert not one.holds(read("P=9\nvllm serve m --port $P --x=8000-9 --y $Z\n"))
        launch, one = effect("vllm serve m --x abcdef --y $Z\n")
        text, hole = launch.argv[2].text.span(), launch.argv[4].text.span()
        assert text is not None
        assert hole is not None
        one.replace(Span(text.source, text.start + 1, text.start + 2), "BB")
        one.replace(Span(text.source, text.start + 4, text.start + 5), "")
        one.replace(hole, "z")
        assert one.holds(read("vllm serve m --x aBBcdf --y z\n"))

    def test_a_variable_that_gets_another_name_or_goes(self) -> None:
        _, one = effect()
        one.rename("A", "C")
        one.rename("B", None)
        assert one.holds(read(BEFORE.replace("A=1 B=x", "C=1")))
        assert not one.holds(read(BEFORE.replace("A=1 B=x", "C=1 B=x")))

    def test_more_words_may_follow_where_a_line_goes_on(self) -> None:
        _, one = effect()
        one.goes_on = True
        assert one.holds(read(BEFORE.replace("$S", "$S --more 1")))
        assert not one.holds(read(BEFORE.replace(" --seed $S", "")))


def test_a_finding_of_which_only_the_rule_s_words_are_known() -> None:
    one, fix = finding(), Fix("a title", True, [])
    assert (one.label, one.affected, one.assumption, one.related, one.evidence, one.branches) == ("", "", "", [], [], ())
    assert (one.fix, one.launch, one.release, one.release_from) == (None,) * 4
    assert (fix.note, fix.effect) == ("", None)
    assert (finding(related=[Related(at(1), "a")]).related[0].message, finding(evidence=["b"]).evidence) == ("a", ["b"])


def test_a_fingerprint_is_the_same_in_every_release() -> None:
    # baselines and code scanning keep it
    assert finding().fingerprint == hashlib.sha256(b"vllm/swap\0run.sh\0\0two").hexdigest()[:16]
    odd = Source("run.sh", "a\ud800b")
    assert finding(Span(odd, 0, 3)).fingerprint == hashlib.sha256(b"vllm/swap\0run.sh\0\0a?b").hexdigest()[:16]


def test_severities_and_impacts_are_those_of_the_schema() -> None:
    schema = json.loads((ROOT / "schemas/rule.schema.json").read_text(encoding="utf-8"))
    assert tuple(reversed(schema["properties"]["severity"]["enum"])) == SEVERITIES
    assert sorted(schema["$defs"]["impact"]["enum"]) == sorted(IMPACTS)
