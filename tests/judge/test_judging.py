"""Judging: on which releases a launch may run, which rules are then certainly true, and where a finding points."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

import servelint
from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.engines.catalog import load
from servelint.engines.releases import known_releases, newest
from servelint.judge import judging
from servelint.judge.judging import judge
from servelint.judge.parser.violation import Violation
from servelint.judge.releases import Releases, possible_releases, release_name
from servelint.rules.compile import compile_rule
from servelint.rules.rule import Rule
from tests.launching import launch_in, marked_launch
from tests.reporting import rules_in

NEWEST = {engine: newest(engine) or "" for engine in ("vllm", "sglang")}


def releases(text: str, filename: str = "run.sh", **versions: str) -> Releases:
    return possible_releases(launch_in(text, filename), Settings(engine_versions=versions))[0]


def span_of(text: str, filename: str = "run.sh", **versions: str) -> tuple[str, str]:
    """The oldest and the newest possible release."""
    known = releases(text, filename, **versions).known
    return known[0], known[-1]


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch) -> list[Rule]:
    """The rules that judge() has: those that a test adds."""
    rules: list[Rule] = []
    monkeypatch.setattr("servelint.judge.judging.rules_of", lambda engine: [rule for rule in rules if rule.engine == engine])
    monkeypatch.setattr("servelint.judge.judging._indexed", judging._indexed.__wrapped__)
    return rules


def rule(when: dict[str, Any], versions: str = ">=0.6", **more: Any) -> Rule:
    data = {
        "id": "vllm/some-rule",
        "title": "A rule",
        "severity": "error",
        "confidence": "high",
        "impact": "crash-at-start",
        "engine": "vllm",
        "versions": versions,
        "when": when,
        "at": next(iter(when)),
        "message": "a message",
        "advice": "some advice",
        "evidence": [{"url": "https://example.invalid/1", "says": "so"}],
        **more,
    }
    return Rule(compile_rule(data))


def found(text: str, filename: str = "run.sh", **versions: str) -> list[Finding]:
    return judge(launch_in(text, filename), Settings(engine_versions=versions))


class TestReleaseThatIsNamed:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("docker run vllm/vllm-openai:v0.19.1 --model m", "0.19.1"),
            ("pip install vllm==0.19.1\nvllm serve m", "0.19.1"),
            # what is installed on top of an image counts
            ("docker run vllm/vllm-openai:v0.20.0 --model m", "0.20.0"),
            ("docker run --entrypoint bash vllm/vllm-openai:v0.20.0 -c 'pip install vllm==0.19.1; vllm serve m'", "0.19.1"),
        ],
    )
    def test_by_the_file(self, text: str, expected: str) -> None:
        named = releases(text, vllm="0.11.0")
        assert (named.known, named.exact, named.rolling) == ([expected], True, False)

    @pytest.mark.parametrize(
        "text", ["vllm serve m", "docker run vllm/vllm-openai:latest --model m", "docker run house/vllm:1 --model m"]
    )
    def test_by_the_settings_where_the_file_does_not_say(self, text: str) -> None:
        named = releases(text, vllm="0.19.1", sglang="0.5.9")
        assert (named.known, named.exact, named.rolling) == (["0.19.1"], True, False)

    def test_a_requirement_on_top_of_an_image_makes_its_release_unknown(self) -> None:
        text = "docker run --entrypoint bash vllm/vllm-openai:v0.20.0 -c 'pip install \"vllm>=0.19\"; vllm serve m'"
        assert not releases(text).exact

    @pytest.mark.parametrize(
        ("text", "engine"),
        [
            ("docker run vllm/vllm-openai:latest --model m", "vllm"),
            ("docker run vllm/vllm-openai --model m", "vllm"),
            ("pip install -U vllm\nvllm serve m", "vllm"),
            ("docker run lmsysorg/sglang:latest sglang serve --model-path m", "sglang"),
        ],
    )
    def test_a_rolling_one_is_the_newest(self, text: str, engine: str) -> None:
        rolling = releases(text)
        assert (rolling.known, rolling.exact, rolling.rolling) == ([NEWEST[engine]], False, True)


class TestReleaseThatIsNotNamed:
    """Then it may be every release that knows what the launch asks for: what is older would not start at all."""

    @pytest.mark.parametrize(
        ("words", "oldest"),
        [
            ("m --port 8000", "0.6.0"),
            ("m --an-option-of-tomorrow 1", "0.6.0"),
            # an option, a value, a method, a model
            ("m --speculative-config '{}'", "0.8.2"),
            ("m --speculative-config $SPEC", "0.8.2"),
            ("m --speculative-config.method eagle", "0.9.0"),
            ("m --kv-cache-dtype turboquant_k8v4", "0.20.0"),
            ("m --kv-cache-dtype fp8", "0.6.0"),
            ("m --kv-cache-dtype $DTYPE", "0.6.0"),
            ('m --speculative-config \'{"method": "eagle3"}\'', "0.9.1"),
            ('m --speculative-config \'{"method": "mtp"}\'', "0.11.0"),
            ('m --speculative-config \'{"method": "method_of_tomorrow"}\'', "0.8.2"),
            ("Qwen/Qwen3-8B", "0.8.4"),
            ("Qwen/Qwen3.6-27B", "0.17.0"),
            ("Qwen/Qwen3.6-27B --kv-cache-dtype turboquant_k8v4", "0.20.0"),
        ],
    )
    def test_vllm(self, words: str, oldest: str) -> None:
        assert span_of(f"vllm serve {words}") == (oldest, NEWEST["vllm"])

    @pytest.mark.parametrize(
        ("command", "oldest"),
        [
            ("python -m sglang.launch_server --model-path m", "0.4.0"),
            ("sglang serve --model-path m", "0.5.5"),
            ("python -m sglang.launch_server --model-path Qwen/Qwen3.6-27B", "0.5.9"),
        ],
    )
    def test_sglang(self, command: str, oldest: str) -> None:
        assert span_of(command) == (oldest, NEWEST["sglang"])

    def test_what_only_an_unknown_word_may_ask_for_does_not_count(self) -> None:
        assert span_of("vllm serve m ${KV:+--kv-cache-dtype turboquant_k8v4}")[0] == "0.6.0"

    def test_an_engine_whose_releases_are_builds(self) -> None:
        catalog = load("llama.cpp")
        assert catalog is not None
        assert releases("llama-server -m a.gguf").known == catalog.releases
        assert releases("llama-server -m a.gguf", **{"llama.cpp": "b9180"}).known == ["b9180"]

    @pytest.mark.parametrize("tag", ["${TAG}", "v${VERSION}", "prod", "nightly-0123456789abcdef"])
    def test_an_image_without_a_release(self, tag: str) -> None:
        text = f"services:\n  llm:\n    image: vllm/vllm-openai:{tag}\n    command: m\n"
        assert span_of(text, "compose.yml") == ("0.6.0", NEWEST["vllm"])


class TestRange:
    """A rule fires only if every possible release is in its range."""

    @pytest.mark.parametrize(
        ("versions", "release", "fires"),
        [
            (">=0.20", "0.19.1", False),
            (">=0.20", "0.20.0", True),
            (">=0.20", "0.20.0rc1", False),
            (">=0.20,<0.21", "0.20.2", True),
            (">=0.20,<0.21", "0.21.0", False),
            ("<0.21", "0.20.2", True),
        ],
    )
    def test_of_a_named_release(self, versions: str, release: str, fires: bool, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}, versions))
        assert [one.rule for one in found("vllm serve m --port 8000", vllm=release)].count("vllm/some-rule") == int(fires)

    @pytest.mark.parametrize(
        ("versions", "words", "fires"),
        [
            (">=0.6", "m", True),
            (">=0.6.1", "m", False),
            (">=0.20", "m", False),
            (">=0.20", "m --kv-cache-dtype turboquant_k8v4", True),
            (">=0.20.1", "m --kv-cache-dtype turboquant_k8v4", False),
            (">=0.17", "Qwen/Qwen3.6-27B", True),
            (">=0.6,<0.33", "m", False),
            (f">=0.6,<={NEWEST['vllm']}", "m", True),
        ],
    )
    def test_of_a_release_that_is_not_named(self, versions: str, words: str, fires: bool, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}, versions))
        assert bool(found(f"vllm serve {words} --port 8000")) is fires

    @pytest.mark.parametrize(("versions", "fires"), [(">=0.20", True), ("<0.33", False), (f"=={NEWEST['vllm']}", True)])
    def test_of_a_rolling_tag(self, versions: str, fires: bool, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}, versions))
        assert bool(found("docker run vllm/vllm-openai:latest --model m --port 8000")) is fires

    @pytest.mark.parametrize(("versions", "fires"), [(">=9180", False), ("<9180", False)])
    def test_of_an_engine_that_is_not_followed(self, versions: str, fires: bool, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}, versions, engine="llama.cpp"))
        assert bool(found("llama-server -m a.gguf --port 8000")) is fires
        assert bool(found("llama-server -m a.gguf --port 8000", **{"llama.cpp": "b9180"})) is (versions == ">=9180")


class TestCondition:
    def test_it_must_hold_on_every_possible_release(self, book: list[Rule]) -> None:
        # mtp replaced qwen3_next_mtp in 0.11.0
        book.append(rule({"effective.speculative-alias": "mtp"}))
        words = 'vllm serve {} --speculative-config \'{{"method": "qwen3_next_mtp"}}\''
        assert found(words.format("m")) == []
        assert found(words.format("m"), vllm="0.10.2") == []
        assert len(found(words.format("m"), vllm="0.11.0")) == 1
        assert len(found(words.format("Qwen/Qwen3.6-27B"))) == 1  # known from 0.17.0

    def test_true_is_needed_not_unknown(self, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}))
        assert found("vllm serve m --port $PORT") == []
        assert found("vllm serve m $ARGS") == []

    def test_what_avoids_the_problem(self, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}, unless={"enforce-eager": True}))
        assert len(found("vllm serve m --port 8000")) == 1
        assert found("vllm serve m --port 8000 --enforce-eager") == []
        assert found("vllm serve m --port 8000 --enforce-eager=$EAGER") == []
        assert len(found("vllm serve m --port 8000 --no-enforce-eager")) == 1

    def test_a_check_must_agree(self, book: list[Rule]) -> None:
        book.append(
            rule(
                {"served-model-name": {"set": True}},
                ">=0.4",
                engine="sglang",
                check="models.name_with_colon",
                message="write {plain}",
            )
        )
        command = "sglang serve --model-path m --served-model-name {}"
        assert [finding.message for finding in found(command.format("a:b"))] == ["write a-b"]
        assert found(command.format("a-b")) == []
        assert found(command.format("$NAME")) == []

    def test_rules_that_are_not_asked_for(self, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}))
        launch = launch_in("vllm serve m --port 8000", "run.sh")
        assert judge(launch, Settings(ignore=("vllm/some-rule",))) == []
        assert judge(launch, Settings(select=("sglang/*",))) == []
        assert len(judge(launch, Settings(select=("vllm/*",)))) == 1

    def test_rules_of_another_engine(self, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}))
        assert found("sglang serve --model-path m --port 8000") == []


class TestPlaces:
    def test_the_first_operand_of_at_that_stands_in_the_file(self, book: list[Rule]) -> None:
        book.append(rule({"port": 8000, "seed": 1}, at=["dtype", "seed", "port"], labels={"seed": "this", "port": "that"}))
        launch, marks = marked_launch("vllm serve m --port ⟦8000⟧ --seed ⟦1⟧", "run.sh")
        (finding,) = judge(launch, Settings())
        assert (finding.span, finding.label) == (marks[1], "this")
        assert [(related.span, related.message) for related in finding.related] == [(marks[0], "that")]

    def test_an_operand_without_a_label(self, book: list[Rule]) -> None:
        book.append(rule({"port": 8000, "seed": 1}))
        (finding,) = found("vllm serve m --port 8000 --seed 1")
        assert finding.label == ""
        assert [related.message for related in finding.related] == ["with this"]

    def test_where_a_value_is_used_that_is_given_elsewhere(self, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}))
        launch, marks = marked_launch("PORT=⟦8000⟧\nvllm serve m ⟦--port⟧ $PORT", "run.sh")
        (finding,) = judge(launch, Settings())
        assert finding.span == marks[0]
        assert [(related.span, related.message) for related in finding.related] == [(marks[1], "used here")]

    @pytest.mark.parametrize(
        "text",
        [
            # a word that goes over several lines, and one that follows a continued line
            'vllm serve m --speculative-config \'{\n  "method": "⟦mtp⟧"\n}\'',
            "services:\n  llm:\n    image: house/vllm:1\n    command: |\n      --model m \\\n      -sc.method=⟦mtp⟧\n",
        ],
    )
    def test_a_value_in_its_own_word_is_not_said_to_be_used_there(self, text: str, book: list[Rule]) -> None:
        book.append(rule({"speculative-config.method": "mtp"}))
        launch, marks = marked_launch(text, "compose.yml" if text.startswith("services") else "run.sh")
        (finding,) = judge(launch, Settings())
        assert (finding.span, finding.related) == (marks[0], [])

    def test_the_release_that_the_file_names(self, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}, ">=0.19,<0.29"))
        launch, marks = marked_launch("docker run vllm/vllm-openai:v⟦0.20.0⟧ --model m --port 8000", "run.sh")
        (finding,) = judge(launch, Settings())
        assert [(related.span, related.message) for related in finding.related] == [
            (marks[0], "vLLM 0.20.0; affected: 0.19 and later, before 0.29")
        ]
        assert (finding.release, finding.affected) == ("0.20.0", ">=0.19,<0.29")

    def test_a_setting_that_is_missing_is_shown_at_the_command(self, book: list[Rule]) -> None:
        book.append(rule({"port": {"set": False}}))
        launch, marks = marked_launch("sudo ⟦vllm serve⟧ m --seed 1", "run.sh")
        (finding,) = judge(launch, Settings())
        assert finding.span == marks[0]

    def test_or_at_the_first_line_of_what_the_image_starts(self, book: list[Rule]) -> None:
        book.append(rule({"port": {"set": False}}))
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                ⟦command:⟧
                  - --model
                  - m
        """)
        (finding,) = judge(launch, Settings())
        assert finding.span == marks[0]

    def test_or_at_the_key_of_an_alias(self, book: list[Rule]) -> None:
        book.append(rule({"port": {"set": False}}))
        launch, marks = marked_launch("""
            x-command: &command [--model, m]
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                ⟦command⟧: *command
        """)
        (finding,) = judge(launch, Settings())
        assert finding.span == marks[0]

    def test_a_place_inside_the_primary_one_is_not_shown_twice(self, book: list[Rule]) -> None:
        book.append(rule({"speculative-config": {"set": True}, "speculative-config.method": "mtp"}))
        (finding,) = found('vllm serve m --speculative-config \'{"method": "mtp"}\'')
        assert finding.related == []


class TestMessage:
    def test_operands_and_the_release_are_filled_in(self, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}, message="--port {port} for {model} on {release}", advice="not {port}"))
        text = "docker run vllm/vllm-openai:v0.20.0 --model ${MODEL:-Qwen/Qwen3-8B} --port 8000"
        (finding,) = found(text)
        assert finding.message == "--port 8000 for Qwen/Qwen3-8B on vLLM 0.20.0"
        assert finding.advice == "not 8000"
        assert finding.sentence == "--port 8000 for Qwen/Qwen3-8B on vLLM 0.20.0; not 8000"

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("docker run vllm/vllm-openai:v0.20.0 --model m", "vLLM 0.20.0"),
            ("docker run vllm/vllm-openai:latest --model m", f"vLLM {NEWEST['vllm']} (the newest that servelint knows)"),
            ("vllm serve m", "every vLLM release that takes these options"),
            ("sglang serve --model-path m", "every SGLang release that takes these options"),
        ],
    )
    def test_the_release_s_name(self, text: str, name: str) -> None:
        assert release_name(launch_in(text, "run.sh"), releases(text)) == name

    @pytest.mark.parametrize(
        ("text", "release"),
        [
            ("docker run vllm/vllm-openai:v0.20.0 --model m --port 8000", "0.20.0"),
            ("docker run vllm/vllm-openai:latest --model m --port 8000", NEWEST["vllm"]),
            ("vllm serve m --port 8000", None),
        ],
    )
    def test_the_release_that_it_was_judged_by(self, text: str, release: str | None, book: list[Rule]) -> None:
        book.append(rule({"port": 8000}))
        assert [finding.release for finding in found(text)] == [release]


RANKS = {"ranks": {"product": ["tensor-parallel-size", {"operand": "data-parallel-size", "default": 1}]}}


class TestValues:
    """What a rule computes: its message prints it, and it holds only where all that it prints is known."""

    def messages(self, words: str, version: str = "0.27.1") -> list[str]:
        return [finding.message for finding in found(f"vllm serve m {words}", vllm=version)]

    def test_are_printed(self, book: list[Rule]) -> None:
        book.append(rule({"tensor-parallel-size": {"above": 1}}, values=RANKS, message="{ranks} or {ranks:,} ranks"))
        assert self.messages("-tp 1000 -dp 2") == ["2000 or 2,000 ranks"]
        assert self.messages("-tp 8") == ["8 or 8 ranks"]
        assert self.messages("-tp 8 -dp $DP") == []
        assert self.messages("-tp 8 $MORE") == []

    def test_of_operands_have_commas_too(self, book: list[Rule]) -> None:
        book.append(
            rule({"max-num-batched-tokens": {"above": 1}}, message="{max-num-batched-tokens:,} of {max-num-batched-tokens}")
        )
        assert self.messages("--max-num-batched-tokens 8k") == ["8,000 of 8k"]

    def test_may_stand_in_a_fix(self, book: list[Rule]) -> None:
        fix = {"set": {"max-num-seqs": "{ranks}"}, "safe": True}
        book.append(rule({"max-num-seqs": {"below": {"operand": "ranks"}}}, values=RANKS, fix=fix))
        (finding,) = found("vllm serve m --max-num-seqs 4 -tp 8", vllm="0.27.1")
        assert finding.fix is not None
        assert [edit.text for edit in finding.fix.edits] == ["8"]


CASES = [
    {"when": {"data-parallel-size": {"above": 4}}, "text": "{data-parallel-size} replicas"},
    {"when": {"versions": ">=0.27", "tensor-parallel-size": {"above": 4}}, "text": "{tensor-parallel-size} ranks, {seed}"},
    {"when": {"tensor-parallel-size": {"above": 4}}, "text": "{seats} seats"},
]


@pytest.mark.parametrize(
    ("version", "impact"),
    [("0.9.2", "crash-at-start"), ("0.10.2", "crash-at-load"), ("0.12.0", "crash-at-start")],
)
def test_another_impact_in_some_releases(version: str, impact: str, book: list[Rule]) -> None:
    other: dict[str, Any] = {"impact-in": {">=0.10,<0.12": "crash-at-load"}}
    book.append(rule({"seed": 1}, **other))
    assert [one.impact for one in found("vllm serve m --seed 1\n", vllm=version)] == [impact]


class TestCases:
    @pytest.fixture(autouse=True)
    def one(self, book: list[Rule]) -> None:
        values = {"seats": {"operand": "max-num-seqs"}}
        book.append(rule({"port": 1}, values=values, cases=CASES, message="too many: {case}"))

    @pytest.mark.parametrize(
        ("words", "version", "case"),
        [
            ("-dp 8 -tp 8", "0.27.1", "8 replicas"),
            ("-tp 8 --seed 3", "0.27.1", "8 ranks, 3"),
            ("-tp 8 --max-num-seqs 2", "0.26.0", "2 seats"),
            ("-tp 8", "0.26.0", None),  # what the case prints is not known
            ("-dp $DP -tp 8 --seed 3", "0.27.1", "8 ranks, 3"),
            ("-dp $DP -tp 2", "0.27.1", None),
            ("-tp 2", "0.27.1", None),
        ],
    )
    def test_the_first_that_is_true_gives_the_text(self, words: str, version: str, case: str | None) -> None:
        messages = [finding.message for finding in found(f"vllm serve m --port 1 {words}", vllm=version)]
        assert messages == ([f"too many: {case}"] if case is not None else [])


def test_every_followed_release_is_possible_for_a_launch_that_asks_for_nothing() -> None:
    assert releases("vllm serve m").known == known_releases("vllm")


def test_a_model_that_is_inferred_is_no_ground_of_an_error() -> None:
    argv = ["--tensor-parallel-size", "3"]
    by_name = servelint.check_command("vllm", ["/models/Qwen3-8B", *argv], version="0.33.0")
    by_folder = servelint.check_command("vllm", ["/models/Qwen3-8B/model", *argv], version="0.33.0")
    found = [next(one for one in report if one.rule == "vllm/heads-not-divisible") for report in (by_name, by_folder)]
    assert [one.severity for one in found] == ["error", "warning"]
    assert found[1].message.endswith("; the model is inferred from its path or served name")


def test_an_advice_names_the_option_whose_value_another_release_refuses() -> None:
    launch = launch_in("pip install vllm==0.11.0\nvllm serve Qwen/Qwen3-8B --max-num-seqs 0\n", "run.sh")
    (advice,) = [one.advice for one in judge(launch, Settings()) if one.rule == "vllm/cve-2025-62164"]
    assert advice.endswith("; vLLM 0.13.0 refuses --max-num-seqs 0 as written here")


@pytest.mark.parametrize(
    ("release", "parser", "rules"),
    [
        ("0.21.0", "mistral", {"vllm/mistral-parser-without-tokens"}),
        ("0.27.0", "mistral", {"vllm/tool-parser-of-another-model"}),
        ("0.21.0", "deepseek_v31", {"vllm/tool-parser-without-tokens"}),
        ("0.21.0", "hermes", set()),
    ],
)
def test_a_parser_that_breaks_is_one_finding(release: str, parser: str, rules: set[str]) -> None:
    launch = launch_in(f"vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice --tool-call-parser {parser}\n", "run.sh")
    judged = judge(launch, Settings(engine_versions={"vllm": release}))
    findings = [one for one in judged if "tool-parser" in one.rule or one.rule.endswith("-without-tokens")]
    assert {one.rule for one in findings} == rules
    assert all("--tool-call-parser hermes" in one.advice for one in findings)


def test_a_named_gpu_adds_the_plan_to_the_other_rules() -> None:
    strict = Settings(profile="strict")
    script = "# servelint: gpu=h100-80gb\nvllm serve Qwen/Qwen2.5-72B-Instruct --load-format dummy"
    assert set(rules_in(script, settings=strict)) == {"vllm/dummy-weights", "vllm/memory-does-not-start"}
    pod = """
        apiVersion: v1
        kind: Pod
        spec:
          nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
          containers: [{name: llm, image: "vllm/vllm-openai:v0.27.1", args: [--model, Qwen/Qwen2.5-72B-Instruct]}]
        """
    assert "vllm/memory-does-not-start" in rules_in(dedent(pod), "pod.yaml", strict)


def test_a_parser_that_no_release_has_names_the_one_of_the_model() -> None:
    tools, thinks = "tool-call-parser-unknown", "reasoning-parser-unknown"
    method = "spec-method-unknown"
    draft = """vllm serve m --speculative-config '{"model":"d","num_speculative_tokens":5,"method":"draft"}'"""
    cases = [
        ("vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice --tool-call-parser qwen", tools, "0.33.0", "write hermes, the"),
        ("vllm serve openai/gpt-oss-20b --enable-auto-tool-choice --tool-call-parser gpt-oss", tools, "0.20.0", "write openai"),
        ("vllm serve m --enable-auto-tool-choice --tool-call-parser llama3", tools, "0.12.0", "did you mean llama3_json?"),
        ("vllm serve m --enable-auto-tool-choice --tool-call-parser llama", tools, "0.12.0", "choose from deepseek_v3, "),
        ("vllm serve openai/gpt-oss-120b --reasoning-parser gpt-oss", thinks, "0.20.0", "did you mean openai_gptoss?"),
        ("vllm serve Qwen/Qwen3-8B --reasoning-parser deepseek", thinks, "0.12.0", "write qwen3, the parser for this model"),
        ("vllm serve moonshotai/Kimi-K2.6 --reasoning-parser kimi", thinks, "0.20.0", "write kimi_k2, the parser"),
        ("vllm serve zai-org/GLM-4.6 --reasoning-parser glm", thinks, "0.20.0", "write glm45, the parser"),
        ("vllm serve deepseek-ai/DeepSeek-V3.1 --reasoning-parser deepseek", thinks, "0.20.0", "write deepseek_v3, the"),
        ("vllm serve MiniMaxAI/MiniMax-M2 --reasoning-parser minimax", thinks, "0.20.0", "write minimax_m2, the"),
        ("vllm serve m --reasoning-parser deepseek", thinks, "0.12.0", "choose from deepseek_r1, "),
        (draft, method, "0.20.0", "did you mean draft_model?"),
    ]
    wrong: list[object] = []
    for text, rule_id, release, advice in cases:
        advices = [one.advice for one in found(text + "\n", vllm=release) if one.rule == f"vllm/{rule_id}"]
        if [one.startswith(advice) for one in advices] != [True]:
            wrong.append((text, advices))
    assert wrong == []


def test_an_option_that_is_back_in_the_newest_release_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    launch, here = marked_launch("vllm serve m ⟦--first⟧ ⟦--second⟧\n", "run.sh")
    first, second = here
    refused = {"2": [Violation("unknown-option", first, "", ""), Violation("removed-later", second, "", "")]}
    monkeypatch.setattr(judging, "known_releases", lambda engine: ["1", "2", "3"])
    monkeypatch.setattr(judging, "configs_of", lambda launch, releases: releases)
    monkeypatch.setattr(judging, "violations", lambda release: refused[release])
    last = [Violation(rule, span, "", "") for rule in ("option-came-and-went", "removed-option") for span in here]
    assert judging._back_at_last(launch, last) == last[:1]
    assert judging._back_at_last(launch, last[2:]) == []
