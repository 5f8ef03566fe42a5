"""Files that hold nothing but a speculative config: a part of a launch, not a start of its own."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.lint import check_launches
from servelint.readers import read, spec_config
from servelint.syntax import json
from tests.launching import argv, launch_in, launches_in, lines, marked_launch, shown, sites


def test_the_json_is_the_value_of_the_option() -> None:
    launch, marks = marked_launch('\n⟦{\n  "method": "mtp",\n  "num_speculative_tokens": 2\n}⟧\n', "spec.json")
    assert (launch.engine, launch.name, launch.fragment) == ("vllm", "speculative-config", True)
    assert argv(launch)[0] == "--speculative-config"
    assert sites(launch.argv) == [marks[0], marks[0]]
    assert launch.argv[1].text.span() == marks[0]
    assert lines(launch) == (1, 4)


@pytest.mark.parametrize("key", ["num_speculative_tokens", "prompt_lookup_max", "draft_tensor_parallel_size"])
def test_it_is_known_by_the_keys_that_only_it_has(key: str) -> None:
    assert launch_in(f'{{"{key}": 2}}', "any.json").fragment


@pytest.mark.parametrize(
    "text",
    [
        '{"method": "mtp"}',
        '{"vllm": {"num_speculative_tokens": 2}}',
        '["num_speculative_tokens"]',
        '{"note": "num_speculative_tokens"}',
        '{"method": "ngram", "num_speculative_tokens": 5, "results": [{"speedup": 2.8}]}',
        "{}",
        "{" + ", ".join([f'"k{n}": {n}' for n in range(40)]) + ', "num_speculative_tokens": 1}',
    ],
)
def test_other_json_is_none_of_our_business(text: str) -> None:
    assert launches_in(text, "any.json") == []


def test_what_is_meant_to_be_one_and_is_not_json_is_an_error() -> None:
    found = read(Source("spec.json", '{\n  "method": "mtp",\n  "num_speculative_tokens": 2,\n}\n'))
    assert found.launches == []
    assert [shown(problem) for problem in found.problems] == ["spec.json:3:30: not valid JSON: a comma with nothing after it"]


class TestComments:
    def test_they_are_passed_over(self) -> None:
        launch, marks = marked_launch(
            """
            // the drafts of production
            ⟦{
              "method": "⟦mtp⟧", // one layer
              /* "model": "x", */
              "num_speculative_tokens": ⟦2⟧,
            }⟧
            """,
            "spec.json",
        )
        assert launch.argv[1].site == marks[0]
        text = launch.argv[1].text
        assert text.cut(text.flat.index("mtp"), text.flat.index("mtp") + 3).span() == marks[1]
        node = json.parse(text)
        assert isinstance(node, json.JsonNode)
        assert {key: value.value for key, (_, value) in node.members.items()} == {"method": "mtp", "num_speculative_tokens": 2}
        assert node.members["num_speculative_tokens"][1].text.span() == marks[2]

    def test_a_comma_too_many_is_a_liberty_of_such_files_only(self) -> None:
        text = '{"method": "mtp", "num_speculative_tokens": 2,}'
        assert launch_in(text, "spec.jsonc").fragment
        assert launch_in(text.replace("}", "/* x */}"), "spec.json").fragment
        assert [shown(problem) for problem in read(Source("spec.json", text)).problems]

    def test_what_looks_like_one_in_a_string(self) -> None:
        launch = launch_in('{"model": "http://x/*y*/", "num_speculative_tokens": 2} // z', "spec.json")
        assert launch.argv[1].text.flat.strip() == '{"model": "http://x/*y*/", "num_speculative_tokens": 2}'

    def test_a_fault_is_told_where_it_stands(self) -> None:
        found = read(Source("spec.json", '{ // a\n  "method": mtp,\n  "num_speculative_tokens": 2\n}\n'))
        assert [shown(problem) for problem in found.problems] == ["spec.json:2:13: not valid JSON: not a JSON value"]

    def test_single_quotes(self) -> None:
        found = read(Source("spec.json", "{'method': 'mtp', 'num_speculative_tokens': 2}"))
        assert [shown(problem) for problem in found.problems] == [
            "spec.json:1:2: not valid JSON: a key in double quotes is expected"
        ]


@pytest.mark.parametrize("text", ["{prompt_lookup_max: 2", '{"num_speculative_tokens": 2,' + " " * 5000])
def test_broken_json_of_another_kind_is_passed_over(text: str) -> None:
    found = read(Source("spec.json", text))
    assert (found.launches, found.problems) == ([], [])


def test_nothing_is_said_of_what_the_rest_of_the_launch_may_set() -> None:
    text = '{"method": "⟦qwen3_next_mtp⟧", "num_speculative_tokens": 2}'
    launch, marks = marked_launch(text, "spec.json")
    assert launch.open_env is False
    settings = Settings(engine_versions={"vllm": "0.28.0"})
    found = check_launches(launch.source, [launch], settings)
    # the method is named here; the model and prefix caching are not
    assert [(finding.rule, finding.span) for finding in found] == [("vllm/spec-method-alias", marks[0])]


class TestUnfinished:
    @pytest.mark.parametrize("text", ['{"num_speculative_tokens": 2, "met', '\n{"num_speculative_tokens": }\n'])
    def test_what_is_to_be_one_is_told_while_it_is_no_json(self, text: str) -> None:
        launch = spec_config.unfinished(Source("spec.json", text))
        assert launch is not None
        assert launch.fragment
        assert argv(launch) == ["--speculative-config", text.strip()]

    @pytest.mark.parametrize("text", ["", "[", '{"method": "mtp", ', "num_speculative_tokens"])
    def test_what_may_be_anything_is_not(self, text: str) -> None:
        assert spec_config.unfinished(Source("spec.json", text)) is None
