"""Suppression comments: for which findings a comment speaks, and what is said of a comment that silences nothing."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.core.finding import Finding
from servelint.core.own_rules import UNUSED_IGNORE as UNUSED
from servelint.core.settings import Settings
from servelint.files.directives import ignores
from servelint.lint import check_launches
from servelint.readers import read
from tests.launching import marked
from tests.together import together

RANGE = "vllm/gpu-memory-utilization-out-of-range"
SPEC = "sglang/spec-v2-removed"


def findings(text: str, filename: str = "run.sh", settings: Settings | None = None) -> list[Finding]:
    source, marks = marked(filename, dedent(text).removeprefix("\n"))
    found = check_launches(source, read(source).launches, settings or Settings())
    assert not marks or [finding.span for finding in found] == marks
    return found


def rules(text: str, filename: str = "run.sh", settings: Settings | None = None) -> list[str]:
    return [finding.rule for finding in findings(text, filename, settings)]


class TestPlace:
    """A comment speaks for its own line; alone on a line, for the next one as well."""

    def test_without_a_comment(self) -> None:
        assert rules("vllm serve m --gpu-memory-utilization 1.5") == [RANGE]

    @together(
        "text",
        [
            # on the line, above it, above the launch
            f"vllm serve m --gpu-memory-utilization 1.5 # servelint: ignore[{RANGE}] on purpose",
            f"# servelint: ignore[{RANGE}]\nvllm serve m --gpu-memory-utilization 1.5",
            f"  # servelint: ignore[{RANGE}]\nvllm serve m \\\n  --gpu-memory-utilization 1.5",
            f"vllm serve m --gpu-memory-utilization 1.5 #servelint:ignore[{RANGE}]",
            f"vllm serve m --gpu-memory-utilization 1.5 # a fraction; # servelint: ignore[{RANGE}]",
            # where the value is given, and where it is used
            f"UTIL=1.5 # servelint: ignore[{RANGE}]\nvllm serve m --gpu-memory-utilization $UTIL",
            f"UTIL=1.5\nvllm serve m \\\n  --gpu-memory-utilization $UTIL # servelint: ignore[{RANGE}]",
            f"UTIL=1.5\n# servelint: ignore[{RANGE}]\nvllm serve m --gpu-memory-utilization $UTIL",
        ],
    )
    def test_silenced(self, text: str) -> None:
        assert rules(text) == []

    @pytest.mark.parametrize(
        "text",
        [
            f"# servelint: ignore[{RANGE}]\n\nvllm serve m --gpu-memory-utilization 1.5",
            f"vllm serve m --gpu-memory-utilization 1.5\n# servelint: ignore[{RANGE}]",
            f"true # servelint: ignore[{RANGE}]\nvllm serve m --gpu-memory-utilization 1.5",
        ],
    )
    def test_too_far_away(self, text: str) -> None:
        assert sorted(rules(text)) == [UNUSED, RANGE]

    def test_in_a_compose_file(self) -> None:
        text = """
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                {above}
                command:
                  - m
                  - --gpu-memory-utilization
                  - "1.5"{beside}
                gpus: all
        """
        comment = f"# servelint: ignore[{RANGE}] on purpose"
        assert rules(text.format(above="", beside=""), "compose.yml") == [RANGE]
        assert rules(text.format(above="", beside="  " + comment), "compose.yml") == []
        assert rules(text.format(above=comment, beside=""), "compose.yml") == []

    def test_it_speaks_for_one_launch_alone(self) -> None:
        launches = "vllm serve m --gpu-memory-utilization 1.5\nvllm serve n --gpu-memory-utilization 1.6"
        text = f"# servelint: ignore[{RANGE}]\n{launches}"
        (finding,) = findings(text)
        assert finding.span.text == "1.6"


class TestPatterns:
    LAUNCH = "SGLANG_ENABLE_SPEC_V2=1 sglang serve --model-path m --mem-fraction-static 85 "
    RELEASE = Settings(engine_versions={"sglang": "0.5.20"})

    @pytest.mark.parametrize(
        ("ignore", "left"),
        [
            ("sglang/spec-v2-removed", ["sglang/mem-fraction-out-of-range"]),
            ("sglang/spec-v2-removed, sglang/mem-fraction-out-of-range", []),
            ("sglang/spec-v2-removed sglang/mem-fraction-out-of-range", []),
            ("sglang/*", []),
        ],
    )
    def test_rules_and_areas(self, ignore: str, left: list[str]) -> None:
        assert rules(f"{self.LAUNCH} # servelint: ignore[{ignore}] why", settings=self.RELEASE) == left

    def test_two_comments_for_one_finding_are_both_used(self) -> None:
        text = f"# servelint: ignore[{SPEC}]\n{self.LAUNCH} # servelint: ignore[sglang/*]"
        assert rules(text, settings=self.RELEASE) == []


class TestUnused:
    def test_it_silences_nothing(self) -> None:
        (finding,) = findings(f"vllm serve m # servelint: ignore[⟦{RANGE}⟧] why")
        assert finding.sentence == f"the ignore comment for {RANGE} silences nothing; delete it"
        assert (finding.rule, finding.severity, finding.launch) == (UNUSED, "warning", None)

    def test_an_area_that_silences_nothing(self) -> None:
        (finding,) = findings("vllm serve m # servelint: ignore[⟦vllm/*⟧]")
        assert finding.sentence == "the ignore comment for vllm/* silences nothing; delete it"

    def test_it_names_no_rule(self) -> None:
        (finding,) = findings("vllm serve m ⟦# servelint: ignore⟧")
        assert (
            finding.sentence == "the ignore comment names no rule; write the rule's id in brackets: ignore[vllm/some-rule] why"
        )

    def test_an_ignore_of_everything_silences_nothing(self) -> None:
        assert sorted(rules("vllm serve m --gpu-memory-utilization 1.5 # servelint: ignore")) == [UNUSED, RANGE]
        assert sorted(rules("vllm serve m --gpu-memory-utilization 1.5 # servelint: ignore[]")) == [UNUSED, RANGE]

    @pytest.mark.parametrize("pattern", ["vllm/no-such-rule", "vlm/*", "gpu-memory-utilization-out-of-range", "*"])
    def test_there_is_no_such_rule(self, pattern: str) -> None:
        (finding,) = findings(f"vllm serve m # servelint: ignore[⟦{pattern}⟧]")
        assert finding.sentence == f"there is no rule {pattern}; correct the id (servelint rules lists them)"

    def test_an_id_that_a_program_fills_in(self) -> None:
        for written in ("vllm/{rule}", "$RULE"):
            assert findings(f"vllm serve m # servelint: ignore[{written}]") == []

    def test_each_pattern_is_judged_on_its_own(self) -> None:
        text = f"vllm serve m --gpu-memory-utilization 1.5 # servelint: ignore[{RANGE}, ⟦vllm/spec-method-alias⟧]"
        assert [finding.rule for finding in findings(text)] == [UNUSED]

    @pytest.mark.parametrize(
        "settings", [Settings(select=("sglang/*",)), Settings(ignore=(RANGE,)), Settings(ignore=(UNUSED,))]
    )
    def test_a_rule_that_was_not_asked_for_is_not_held_against_it(self, settings: Settings) -> None:
        assert rules(f"vllm serve m # servelint: ignore[{RANGE}]", settings=settings) == []


@pytest.mark.parametrize(
    "text", ["# servelint ignore[x]", "servelint: ignore[x]", "# servelint: disable[x]", "# see servelint: it ignores"]
)
def test_other_comments_are_none(text: str) -> None:
    source, _ = marked("run.sh", text)
    assert ignores(source) == []


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_line_ends(end: str) -> None:
    text = end.join([f"# servelint: ignore[{RANGE}] why", "vllm serve m --gpu-memory-utilization 1.5", ""])
    assert rules(text) == []
    source, _ = marked("run.sh", text)
    assert [comment.span.text for comment in ignores(source)] == [f"# servelint: ignore[{RANGE}] why"]
