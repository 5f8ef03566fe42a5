"""Unknown is not wrong: what servelint says of a launch with unknown parts holds whatever those parts are.

The first example of a rule is taken with one part unknown. What is then found must also be found with the part that the example
has, which is one of the values that the unknown may have. The exception is a rule's `unless`: a way out of the problem counts
only where it is written.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.engines import ENGINES
from servelint.engines import catalog as catalogs
from servelint.engines.config import configs
from servelint.engines.releases import known_releases
from servelint.judge.judging import judge
from servelint.judge.parser import violations
from servelint.judge.releases import possible_releases
from servelint.rules.compile import compile_rule
from servelint.rules.condition import operands
from tests.book import each_rule
from tests.launching import launch_in, launches_in
from tests.together import together
from tests.wrapping import CLOSE, OPEN, verb_of

pytestmark = pytest.mark.book

RULES = {rule["id"]: rule for rule in each_rule()}
EVERYWHERE = "SERVELINT_ALL_FORMATS" in os.environ
EXAMPLES = [
    (rule["engine"], rule["examples"]["bad"][0])
    for number, rule in enumerate(RULES.values())
    if rule["examples"]["bad"] and "run" in rule["examples"]["bad"][0] and (EVERYWHERE or number % 8 == 1)
]
"""The first bad example of every eighth rule; of each where SERVELINT_ALL_FORMATS is set."""

UNKNOWN = ('"$UNKNOWN"', "$UNKNOWN", "$(cat unknown)", "${UNKNOWN:?}")
"""Ways to write a value that nobody knows."""

MORE = ("$EXTRA_ARGS", '"$@"', '"${ARGS[@]}"', "$(cat args)")
"""Ways to write words that nobody knows."""

NEVER_WRITTEN = [
    "--no-enable-prefix-caching",
    "--kv-cache-dtype fp8",
    "--disable-radix-cache",
    "--mamba-scheduler-strategy extra_buffer",
    "--speculative-draft-model-path x/y",
    "--speculative-eagle-topk 4",
    "--speculative-algorithm NGRAM",
    "--speculative-config.method ngram",
    "--no-async-scheduling",
    "--gpu-memory-utilization 0.9",
    "--mem-fraction-static 0.8",
]
"""Options that turn some rule's condition from true to false."""


def plain(text: str) -> str:
    return text.replace(OPEN, "").replace(CLOSE, "")


def script(engine: str, example: dict[str, Any], run: str | None = None) -> str:
    """The example as a script; its release is given by the settings."""
    exports = "".join([f'export {name}="{plain(value)}"\n' for name, value in example.get("env", {}).items()])
    return exports + (plain(example["run"]) if run is None else run)


def version(engine: str, example: dict[str, Any]) -> dict[str, str]:
    return {engine: str(example["version"])} if "version" in example else {}


def found(text: str, versions: dict[str, str]) -> set[str]:
    return judged(launch_in(text, "run.sh"), versions)


def judged(launch: Launch, versions: dict[str, str]) -> set[str]:
    return {finding.rule for finding in judge(launch, Settings(engine_versions=versions, profile="audit"))}


def known_of(text: str, versions: dict[str, str]) -> frozenset[str]:
    """What is found, and what the catalog has to say although a rule tells more of it."""
    return _known_of(text, tuple(versions.items()))


@lru_cache(maxsize=64)
def _known_of(text: str, asked: tuple[tuple[str, str], ...]) -> frozenset[str]:
    versions = dict(asked)
    launch = launch_in(text, "run.sh")
    area = ENGINES[launch.engine].package
    releases = list(versions.values()) or [known_releases(launch.engine)[-1]]
    told = {f"{area}/{one.rule}" for config in configs(launch, releases) for one in violations(config)}
    found = judged(launch, versions)
    if any(
        one.endswith("-parser-without-tokens") for one in found
    ):  # what breaks has one finding, which says the other as well
        told |= {f"{area}/tool-parser-of-another-model", f"{area}/reasoning-parser-of-another-model"}
    return frozenset(found | told)


def some(releases: Sequence[str], shift: int) -> Sequence[str]:
    """The oldest and the newest of many releases, and a dozen between: other ones for each shift."""
    step = -(-len(releases) // 12)
    return [one for index, one in enumerate(releases) if index % step == shift % step or index in (0, len(releases) - 1)]


class TestEachExample:
    @together("engine, example", EXAMPLES, name=lambda case: str(case[1]["run"]), at_once=8)
    def test_all_hold(self, engine: str, example: dict[str, Any]) -> None:
        self.any_word_may_be_unknown(engine, example)
        self.words_may_be_added(engine, example)
        self.any_variable_may_be_unknown(engine, example)
        start = (". ./env.sh", 'source "$CONFIG"')[len(example["run"]) % 2]
        self.variables_may_be_added(engine, example, start)
        self.the_release_may_be_unknown(engine, example)

    def any_word_may_be_unknown(self, engine: str, example: dict[str, Any]) -> None:
        run = plain(example["run"])
        verb = verb_of(run, engine)
        verb += " serve" if engine == "ollama" else ""  # with another word than that it is no launch
        words = shlex.split(run.removeprefix(verb))
        quoted = [shlex.quote(word) if "$" not in word else f'"{word}"' for word in words]
        known = known_of(script(engine, example, " ".join([verb, *quoted])), version(engine, example))
        for index in range(len(words)):
            parts = list(quoted)
            parts[index] = UNKNOWN[index % len(UNKNOWN)]
            text = script(engine, example, " ".join([verb, *parts]))
            counted = {rule for rule in found(text, version(engine, example)) if words[index].lstrip("-") not in way_out(rule)}
            assert counted <= known, text

    def words_may_be_added(self, engine: str, example: dict[str, Any]) -> None:
        launch = launch_in(script(engine, example), "run.sh")
        versions = version(engine, example)
        written = configs(launch, list(versions.values()))[0].reading.arguments.settings
        unknown = MORE[len(example["run"]) % len(MORE)]
        open_to_more = found(f"{script(engine, example)} {unknown}", versions)
        assert open_to_more <= known_of(script(engine, example), versions)
        for option in NEVER_WRITTEN if open_to_more else []:
            if not known_to(engine, option):
                continue
            name = option.removeprefix("--").removeprefix("no-").partition(" ")[0]
            if name in written or name.partition(".")[0] in written:
                continue
            counted = {rule for rule in open_to_more if name not in way_out(rule)}
            assert counted <= known_of(f"{script(engine, example)} {option}", versions), (unknown, option)

    def any_variable_may_be_unknown(self, engine: str, example: dict[str, Any]) -> None:
        known = known_of(script(engine, example), version(engine, example))
        for name in example.get("env", {}):
            unknown = {**example, "env": {**example["env"], name: "${UNKNOWN}"}}
            assert found(script(engine, unknown), version(engine, example)) <= known

    def variables_may_be_added(self, engine: str, example: dict[str, Any], start: str) -> None:
        versions = version(engine, example)
        open_to_more = found(f"{start}\n{script(engine, example)}", versions)
        for line in ("", "export SGLANG_ENABLE_SPEC_V2=1", "export SGLANG_ENABLE_SPEC_V2=0") if open_to_more else ():
            assert open_to_more <= found(f"{line}\n{script(engine, example)}", versions)

    def the_release_may_be_unknown(self, engine: str, example: dict[str, Any]) -> None:
        launch = launch_in(script(engine, example), "run.sh")
        # what newer releases have taken away is told of a launch without a release only
        unknown = {rule for rule in judged(launch, {}) if not rule.endswith("/removed-later")}
        for release in some(possible_releases(launch, Settings())[0].known, len(example["run"])) if unknown else []:
            assert unknown <= known_of(script(engine, example), {engine: release}), release


def known_to(engine: str, option: str) -> bool:
    """Whether some release of the engine has an option."""
    catalog = catalogs.load(engine)
    return catalog is None or bool(catalog.spelled(option.partition(" ")[0].partition(".")[0]))


def way_out(rule: str) -> set[str]:
    """The operands of a rule's `unless`, and the options that these read."""
    named = set(operands(compile_rule(RULES[rule]).get("unless", ["and", []])))
    return named | ({"attention-backend"} if "effective.says-rocm" in named else set())


COMPOSE = """
services:
  llm:
    image: lmsysorg/sglang:{tag}
    {more}
    command: >-
      python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 --speculative-algorithm NEXTN {words}
"""


class TestCompose:
    """sglang/spec-v2-not-set is true of this service on 0.5.9, unless the variable is set."""

    def rules(
        self, tag: str = "v0.5.9-cu126", more: str = "ipc: host", words: str = "", folder: Path | None = None
    ) -> set[str]:
        launches = launches_in(COMPOSE.format(tag=tag, more=more, words=words), folder=folder)
        return {rule for launch in launches for rule in judged(launch, {})}

    def test_all_is_known(self) -> None:
        assert "sglang/spec-v2-not-set" in self.rules()

    @pytest.mark.parametrize(
        "more",
        [
            "environment: [SGLANG_ENABLE_SPEC_V2]",
            "environment: {SGLANG_ENABLE_SPEC_V2: }",
            "environment: ['SGLANG_ENABLE_SPEC_V2=${V2}']",
            "env_file: missing.env",
            "env_file: '${ENV_FILE}'",
            "env_file: [{path: missing.env, required: false}]",
            "extends: {file: common.yml, service: llm}",
        ],
    )
    def test_a_variable_that_may_be_set(self, more: str, tmp_path: Path) -> None:
        assert "sglang/spec-v2-not-set" not in self.rules(more=more, folder=tmp_path)

    def test_a_variable_of_an_env_file(self, tmp_path: Path) -> None:
        (tmp_path / "llm.env").write_text("SGLANG_ENABLE_SPEC_V2=1\n")
        assert "sglang/spec-v2-not-set" not in self.rules(more="env_file: llm.env", folder=tmp_path)
        (tmp_path / "llm.env").write_text("OTHER=1\n")
        assert "sglang/spec-v2-not-set" in self.rules(more="env_file: llm.env", folder=tmp_path)

    @pytest.mark.parametrize("tag", ["${TAG}", "v0.5.${PATCH}", "prod", "nightly-dev-20260101-0123456"])
    def test_a_release_that_may_be_another(self, tag: str) -> None:
        assert "sglang/spec-v2-not-set" not in self.rules(tag)

    def test_an_option_that_may_be_added(self) -> None:
        assert "sglang/spec-v2-not-set" not in self.rules(words="$EXTRA_ARGS")
        assert "sglang/spec-v2-not-set" not in self.rules(words="${EXTRA_ARGS:+--speculative-eagle-topk 4}")
        assert "sglang/spec-v2-not-set" in self.rules(words="${EXTRA_ARGS:-}")
