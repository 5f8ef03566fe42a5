"""Statements that rules cite, and where they are in another release."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.harvest import anchors
from servelint.harvest.anchors import (
    CHANGED,
    GONE,
    MOVED,
    SAME,
    Source,
    Statement,
    citations,
    cited,
    facts,
    look_up,
    statements,
)
from servelint.harvest.sources import Tree

CHECK = '''
class Config:
    def verify(self):
        """Text."""
        spec = self.speculative_config
        if self.parallel_config.pipeline_parallel_size > 1 and spec.method in ("eagle", "mtp"):
            raise ValueError(f"pipelines do not take {spec.method}")
'''
RULE: dict[str, Any] = {
    "id": "vllm/x",
    "when": {"pipeline-parallel-size": {"above": 1}, "effective.speculative-method": {"in": ["eagle"]}},
    "why": 'It raises "pipelines do not take speculative drafts".',
    "evidence": [{"source": "vllm-0.33.0 vllm/config/vllm.py:7", "says": "the error"}],
}
PATH = "vllm/config/vllm.py"


def source(text: str, path: str = PATH) -> Source:
    return Source(Tree("vllm", "0.33.0", {path: text}))


def raised(text: str) -> Statement:
    (found,) = [one for one in statements(PATH, text) if one.kind == "raise"]
    return found


def after(text: str, path: str = PATH) -> str:
    before = source(CHECK)
    (one,) = cited(citations(RULE)[0], RULE, before)
    return look_up(one, source(text, path), anchors.rule_words(RULE), before).state


def test_a_citation_names_release_file_and_lines() -> None:
    rule = {
        "evidence": [
            {"source": "sglang-0.5.23 srt/server_args.py:10-12", "says": "a"},
            {"source": "vllm-0.1 (run)", "says": ""},
        ]
    }
    (one,) = citations(rule)
    assert (one.engine, one.release, one.path, one.first, one.last) == ("sglang", "0.5.23", "sglang/srt/server_args.py", 10, 12)


def test_a_statement_has_the_conditions_that_lead_to_it() -> None:
    found = raised(CHECK)
    assert found.function == "Config.verify"
    assert found.guards == ("pipeline_parallel_size Gt 1", "method In {'eagle', 'mtp'}")
    assert found.prints == "pipelines do not take {}"


@pytest.mark.parametrize(
    "other",
    [
        CHECK.replace("self.parallel_config.", "cfg."),
        CHECK.replace('"""Text."""', '"""Other."""').replace("if self", "if  self"),
        CHECK.replace("pipelines do not take", "no pipelines with"),
        CHECK.replace('("eagle", "mtp")', '["mtp", "eagle"]'),
        "\n\n# a comment\n" + CHECK,
        CHECK.replace(" and spec.method", ":\n            if spec.method").replace(
            "            raise", "                raise"
        ),
        CHECK.replace("            raise ValueError(", "            raise RuntimeError("),
    ],
)
def test_what_does_not_decide_does_not_count(other: str) -> None:
    assert raised(other).fingerprint == raised(CHECK).fingerprint
    assert after(other) == SAME


@pytest.mark.parametrize(
    ("other", "state"),
    [
        (CHECK.replace("size > 1", "size > 2"), CHANGED),
        (CHECK.replace(' and spec.method in ("eagle", "mtp")', ""), CHANGED),
        (CHECK.replace('("eagle", "mtp")', '("eagle", "mtp", "ngram")'), SAME),
        (CHECK.replace('("eagle", "mtp")', '("mtp", "ngram")'), CHANGED),
        (CHECK.replace("        if self", "        if self.rust:\n            return\n        if self"), CHANGED),
        (CHECK.replace("def verify", "def check_drafts"), MOVED),
        ("class Config:\n    def verify(self):\n        pass\n", GONE),
    ],
)
def test_what_decides_counts(other: str, state: str) -> None:
    assert after(other) == state


def test_a_file_that_is_renamed() -> None:
    assert after(CHECK, "vllm/config/pipeline.py") == MOVED


def test_what_was_elsewhere_before_has_not_moved() -> None:
    twin = "vllm/other.py"
    before = Source(Tree("vllm", "0.33.0", {PATH: CHECK, twin: CHECK}))
    (one,) = cited(citations(RULE)[0], RULE, before)
    assert look_up(one, source(CHECK, twin), frozenset(), before).state == GONE


def test_an_assertion_is_a_refusal() -> None:
    found = raised("def f(cfg):\n    assert cfg.size <= 1, 'no'\n")
    assert found.guards == raised("def f(self):\n    if self.size > 1:\n        raise ValueError('other')\n").guards


def test_a_line_within_a_list_is_its_member() -> None:
    text = 'METHODS = [\n    "eagle",\n    "mtp",\n]\n'
    rule = {**RULE, "evidence": [{"source": "vllm-0.33.0 vllm/config/vllm.py:3", "says": "the list"}]}
    (one,) = cited(citations(rule)[0], rule, source(text))
    assert (one.kind, one.outcome) == ("element", "METHODS has 'mtp'")
    assert look_up(one, source(text.replace('"eagle"', '"dflash"'))).state == SAME
    assert look_up(one, source(text.replace('    "mtp",\n', ""))).state == GONE


def test_a_text_that_is_printed_finds_the_statement() -> None:
    text = (
        CHECK + '        if spec.num > 9:\n            raise ValueError(f"num is {spec.num}, which is more than nine drafts")\n'
    )
    (found,) = anchors.search("num is {}, which is more than nine drafts", source(text))
    assert "num Gt 9" in found.guards
    assert anchors.search("num is {}, which is more than ten apples and pears", source(text)) == []


@pytest.mark.parametrize("text", ["def f(:\n", "\0", "x = " + "(" * 500 + ")" * 500])
def test_text_that_is_not_python_has_no_statements(text: str) -> None:
    assert all(one.kind == "assign" for one in statements("a.py", text))


def test_what_catalogs_say_of_a_rule() -> None:
    rule = {"when": {"kv-cache-dtype": {"in": ["fp8", "nvfp4"]}, "env.VLLM_X": "1", "speculative-config.method": "mtp"}}
    snapshot: dict[str, Any] = {
        "options": {"kv-cache-dtype": {"choices": ["auto", "fp8"]}},
        "env": {"VLLM_X": {}},
        "json": {"speculative-config": {"keys": {"method": {}}}},
        "names": {"quantization": {"fp8": {}}},
    }
    found = facts(rule, snapshot)
    assert found == {
        "kv-cache-dtype": ["nvfp4"],
        "VLLM_X": True,
        "speculative-config.method": [],
        "quantization fp8": {},
    }
    more = {**snapshot, "options": {"kv-cache-dtype": {"choices": ["auto", "fp8", "other"]}}}
    assert facts(rule, more) == found
