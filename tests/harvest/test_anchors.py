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
    look_up,
    lost,
    statements,
)
from servelint.harvest.sources import Tree
from tests.together import together

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
    return look_up(one, source(text, path), anchors.subject(RULE), before).state


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
    assert look_up(one, source(CHECK, twin), anchors.ANY, before).state == GONE


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


ACCESSOR = '''
def drafts_of(cfg):
    """Text."""
    return cfg.speculative_config.method in ("eagle", "mtp")


class Config:
    @property
    def pipelined(self):
        return self.parallel_config.pipeline_parallel_size > 1

    def verify(self):
        if self.pipelined and drafts_of(self):
            raise ValueError("pipelines do not take eagle")
'''


def test_a_function_that_only_returns_an_expression_is_that_expression() -> None:
    assert raised(ACCESSOR).fingerprint == raised(CHECK).fingerprint
    assert after(ACCESSOR) == SAME
    assert after(ACCESSOR.replace("size > 1", "size > 2")) == CHANGED
    module, _, check = ACCESSOR.partition("\n\nclass Config")
    text = "from vllm.config.accessors import drafts_of\n\n\nclass Config" + check
    files = {PATH: text, "vllm/config/accessors.py": module}
    (one,) = [one for one in Source(Tree("vllm", "0.34.0", files)).module(PATH) if one.kind == "raise"]
    assert one.fingerprint == raised(CHECK).fingerprint
    assert raised(text).fingerprint != raised(CHECK).fingerprint  # the other file is not there


def test_a_function_that_calls_itself_ends() -> None:
    assert raised("def f(a):\n    return f(a) or a.b\n\n\ndef g(c):\n    assert f(c)\n").guards


VALUES: dict[str, Any] = {
    "when": {"quantization": {"in": ["awq", "gptq"]}, "moe-backend": "x"},
    "why": "",
    "evidence": [{"source": "vllm-0.33.0 vllm/config/vllm.py:4", "says": "the error"}],
}
MEMBERS = """
def verify(cfg):
    if cfg.moe_backend == "x" and cfg.quantization not in ("fp8", "mxfp8"):
        raise ValueError("the backend x does not take this quantization")
"""


@pytest.mark.parametrize(
    ("other", "state"),
    [
        (MEMBERS.replace('"mxfp8"', '"mxfp8", "nvfp4"'), SAME),
        (MEMBERS.replace('"mxfp8"', '"mxfp8", "awq"'), CHANGED),
        (MEMBERS.replace("not in (", "not in (None, "), SAME),
        (MEMBERS.replace('"mxfp8"):', '"mxfp8") and not (cfg.moe_backend == "y" and cfg.extra):'), SAME),
        (MEMBERS.replace('"mxfp8"):', '"mxfp8") and not (cfg.moe_backend == "x" and cfg.extra):'), CHANGED),
    ],
)
def test_values_that_a_rule_does_not_name_do_not_count(other: str, state: str) -> None:
    before = source(MEMBERS)
    (one,) = cited(citations(VALUES)[0], VALUES, before)
    assert look_up(one, source(other), anchors.subject(VALUES), before).state == state


def test_the_values_that_a_rule_is_limited_to() -> None:
    when = {
        "effective.speculative-algorithm": {"in": ["EAGLE", "NGRAM"]},
        "page-size": {"above": 1},
        "any": [{"quantization": "awq"}, {"quantization": {"set": False}}],
        "model.architecture": "LlamaForCausalLM",
    }
    found = anchors.subject({"when": when}).values
    assert found["speculative_algorithm"] == {"EAGLE", "NGRAM"}
    assert found["quantization"] == {"awq", None}
    assert found["model_arch"] == {"LlamaForCausalLM"}
    assert "page_size" not in found
    assert anchors.subject({"when": {"any": [{"quantization": "awq"}, {"seed": "1"}]}}).values == {}


def test_a_check_that_becomes_a_function_of_its_own() -> None:
    check = "        if spec.method in ('eagle', 'mtp'):\n            raise ValueError('pipelines do not take drafts')\n"
    text = "class Config:\n    def verify(self):\n        spec = self.speculative_config\n"
    text += "        if self.parallel_config.pipeline_parallel_size > 1:\n            self.check_drafts(spec)\n\n"
    text += "    def check_drafts(self, spec):\n" + check
    assert after(text) == MOVED
    assert after(text.replace("size > 1", "size > 2")) == CHANGED


def test_decorators_are_a_statement() -> None:
    text = '@app.post("/load")\nasync def load(request):\n    return await manager.load(request)\n'
    rule = {**RULE, "evidence": [{"source": "vllm-0.33.0 vllm/config/vllm.py:1", "says": "no level"}]}
    (one,) = cited(citations(rule)[0], rule, source(text))
    assert one.kind == "decorators"
    assert look_up(one, source("\n" + text)).state == SAME
    assert look_up(one, source(text.replace("async", "@level(ADMIN)\nasync"))).state == CHANGED


SNAPSHOT: dict[str, Any] = {
    "options": {"kv-cache-dtype": {"choices": ["auto", "fp8", "nvfp4"]}, "seed": {}},
    "env": {"VLLM_X": {}},
    "json": {"speculative-config": {"keys": {"method": {}}}},
    "names": {"quantization": {"awq": {}}},
}


@together(
    "when, after, found",
    [
        ({"seed": 1}, {"options": {}}, ["seed: known -> missing"]),
        ({"env.VLLM_X": "1"}, {"env": {}}, ["env.VLLM_X: known -> missing"]),
        ({"speculative-config.method": "mtp"}, {"json": {}}, ["speculative-config.method: known -> missing"]),
        ({"kv-cache-dtype": "fp8"}, {"options": {"kv-cache-dtype": {"choices": ["auto"]}}}, ["kv-cache-dtype: without fp8"]),
        ({"kv-cache-dtype": {"in": ["fp8", "nvfp4"]}}, {"options": {"kv-cache-dtype": {"choices": ["fp8"]}}}, []),
        ({"kv-cache-dtype": "fp8"}, {"options": {"kv-cache-dtype": {"choices": ["fp8", "other"]}}}, []),
        ({"quantization": "awq"}, {"names": {}}, ["quantization: without awq"]),
        ({"quantization": "awq"}, {"names": {"quantization": {"awq": {"gpu": 8}}}}, ["quantization awq: {} -> {'gpu': 8}"]),
        ({"any": [{"seed": 1}, {"env.VLLM_X": "1"}]}, {"options": {}}, []),
        (
            {"any": [{"seed": 1}, {"env.VLLM_X": "1"}]},
            {"options": {}, "env": {}},
            ["env.VLLM_X: known -> missing", "seed: known -> missing"],
        ),
    ],
)
def test_what_a_rule_needs_and_a_release_lacks(when: dict[str, Any], after: dict[str, Any], found: list[str]) -> None:
    assert lost({"when": when}, SNAPSHOT, {**SNAPSHOT, **after}) == found
    assert lost({"when": when}, SNAPSHOT, SNAPSHOT) == []
