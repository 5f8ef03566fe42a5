"""The releases that start a launch: found once for each launch, and for each release as if it were the only one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.core.launch import Launch, Variable
from servelint.core.settings import Settings
from servelint.core.source import Source, Span
from servelint.core.text import TracedText
from servelint.engines import catalog as catalogs
from servelint.engines.config import Config, configs
from servelint.engines.releases import known_releases, sort_key
from servelint.files.siblings import Neighbours
from servelint.judge import parser, releases
from servelint.judge.judging import judge
from servelint.judge.parser import Violation, refuse, verdicts, violations
from servelint.judge.releases import able_releases, is_changed_build, next_minor_release, possible_releases, releases_note
from servelint.readers import read
from tests.launching import launch_in

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(path for path in EXAMPLES.rglob("*") if path.is_file())

WORDS = ("1", "auto", "fp8", "x", "true", "-1", '{"method": "mtp", "num_speculative_tokens": 2}', "'{bad'", "Qwen/Qwen3-8B")
VALUES = ("1", "0", "on", "x", "FLASH_ATTN", "")


def names(engine: str, kind: str) -> list[str]:
    """Spellings of options of any release of an engine, or names of its variables, a misspelt one each."""
    catalog = catalogs.load(engine)
    assert catalog is not None
    found = sorted(catalog.starting("--") if kind == "options" else catalog.variables())
    return [*found, found[0] + "s"]


@st.composite
def launches(draw: st.DrawFn) -> Launch:
    engine, command = draw(
        st.sampled_from([("vllm", "vllm serve m"), ("sglang", "python -m sglang.launch_server --model-path m")])
    )
    option = st.tuples(st.sampled_from(names(engine, "options")), st.sampled_from(("", *WORDS)))
    chosen = draw(st.lists(option, max_size=4))
    variables = draw(st.dictionaries(st.sampled_from(names(engine, "variables")), st.sampled_from(VALUES), max_size=2))
    words = " ".join([f"{name} {value}".rstrip() for name, value in chosen])
    sets = "".join([f"{name}={value} " for name, value in variables.items()])
    return launch_in(f"{sets}{command} {words}\n", "run.sh")


@settings(deadline=None, max_examples=60)
@given(launches())
def test_many_releases_are_judged_as_each_alone(launch: Launch) -> None:
    every = known_releases(launch.engine)
    together = configs(launch, every)
    shared = zip(every, together, refuse(together), verdicts(together), strict=True)
    for release, config, refused, verdict in list(shared)[:: max(1, len(every) // 25)]:
        alone = configs(launch, [release])[0]
        assert refused is refuse([alone])[0], release
        assert judged(verdict) == judged(violations(alone)), release
        found, expected = (
            [(one.rule, one.span, one.message, one.advice, one.title) for one in violations(each)] for each in (config, alone)
        )
        assert found == expected, release


def judged(found: list[Violation]) -> list[tuple[str, Span | None, bool]]:
    return [(one.rule, one.span, one.new) for one in found]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_releases_share_only_what_each_would_find_alone(path: Path) -> None:
    """Judge the launches of the examples under all releases together, and under each alone."""
    source = Source(str(path), path.read_text(encoding="utf-8"))
    for launch in [one for main in read(source, Neighbours(str(path.parent))).launches for one in main.every]:
        every = configs(launch, known_releases(launch.engine))
        for config, verdict in list(zip(every, verdicts(every), strict=True))[::7]:
            alone = configs(launch, [config.release or ""])[0]
            assert judged(verdict) == judged(violations(alone)), (launch, config.release)


def test_releases_that_nothing_tells_apart_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    found = parser._found

    def counted(config: Config, *shared: Any) -> Any:
        asked.append(config.release or "")
        return found(config, *shared)

    monkeypatch.setattr(parser, "_found", counted)
    launch = launch_in("vllm serve m --port 8001 --seed 1\n", "run.sh")
    every = configs(launch, known_releases("vllm"))
    verdicts(every)
    assert len(asked) <= len(every) // 8


@settings(deadline=None, max_examples=30)
@given(launches())
def test_a_second_look_finds_the_same(launch: Launch) -> None:
    first, configs_then = possible_releases(launch, Settings())
    again, configs_now = possible_releases(launch, Settings())
    assert (again.known, again.exact, again.rolling, again.how) == (first.known, first.exact, first.rolling, first.how)
    assert [one.release for one in configs_now] == [one.release for one in configs_then]
    assert not {id(one) for one in configs_now} & {id(one) for one in configs_then}


def test_releases_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def counted(several: list[Config]) -> list[bool]:
        asked.extend([one.release for one in several])
        return refuse(several)

    monkeypatch.setattr(releases, "refuse", counted)
    launch = launch_in("vllm serve m --kv-cache-dtype fp8\n", "run.sh")
    before = possible_releases(launch, Settings())[0].known
    assert asked == known_releases("vllm")[-len(asked) :]
    asked.clear()
    assert possible_releases(launch, Settings())[0].known == before
    assert asked == []


@pytest.mark.parametrize("change", ["words", "variables"])
def test_a_changed_launch_is_asked_again(change: str) -> None:
    launch = launch_in("vllm serve m --enable-prefix-caching\n", "run.sh")
    before = possible_releases(launch, Settings())[0].known
    if change == "words":
        launch.argv = [*launch.argv, *launch_in("vllm serve m --swap-space 4\n", "run.sh").argv[1:]]
        assert set(possible_releases(launch, Settings())[0].known) < set(before)
    else:
        launch.env = {"VLLM_PORT": Variable("VLLM_PORT", TracedText.of("x"), None)}
        alone = launch_in("VLLM_PORT=x vllm serve m --enable-prefix-caching\n", "run.sh")
        assert possible_releases(launch, Settings())[0].known == possible_releases(alone, Settings())[0].known


@pytest.mark.parametrize(
    ("text", "filename", "exact", "rolling", "how"),
    [
        ("services: {llm: {image: vllm/vllm-openai:latest, command: -m m}}", "compose.yml", False, True, "image"),
        ("services: {llm: {image: vllm/vllm-openai:v0.27.1, command: -m m}}", "compose.yml", True, False, "image"),
        ("pip install vllm==0.27.1\nvllm serve m\n", "run.sh", True, False, "pip"),
        ("vllm serve m\n", "run.sh", False, False, None),
    ],
)
def test_what_pins_the_release(text: str, filename: str, exact: bool, rolling: bool, how: str | None) -> None:
    releases, found = possible_releases(launch_in(text, filename), Settings())
    assert (releases.exact, releases.rolling, releases.how) == (exact, rolling, how)
    assert len(found) == len(releases.known) >= 1
    assert (len(found) == 1) is (exact or rolling)


def test_the_settings_pin_a_release_that_the_launch_does_not() -> None:
    releases, _ = possible_releases(launch_in("vllm serve m\n", "run.sh"), Settings(engine_versions={"vllm": "0.27.1"}))
    assert (releases.known, releases.exact, releases.rolling, releases.how) == (["0.27.1"], True, False, "settings")


def test_only_releases_that_take_the_options_may_run() -> None:
    """--swap-space was removed in 0.18.0."""
    releases, _ = possible_releases(launch_in("vllm serve m --swap-space 4\n", "run.sh"), Settings())
    assert releases.known == [one for one in known_releases("vllm") if sort_key(one) < sort_key("0.18.0")]


def test_old_releases_are_judged_where_they_are_named() -> None:
    """LMDeploy is known from 0.2.0 on, TGI from 0.8.0; a launch that names no release is judged from 0.6.0 and 2.0.0 on."""
    unnamed, _ = possible_releases(launch_in("lmdeploy serve api_server m\n", "run.sh"), Settings())
    assert (known_releases("lmdeploy")[0], unnamed.known[0]) == ("0.2.0", "0.6.0")
    unnamed, _ = possible_releases(launch_in("text-generation-launcher --model-id m\n", "run.sh"), Settings())
    assert (known_releases("tgi")[0], unnamed.known[0]) == ("0.8.0", "2.0.0")
    named = launch_in("docker run --gpus all openmmlab/lmdeploy:v0.5.3 lmdeploy serve api_server m --eager-mode\n", "run.sh")
    assert [one.message for one in judge(named, Settings()) if one.rule == "lmdeploy/option-not-yet"] == [
        "--eager-mode exists from LMDeploy 0.6.2; LMDeploy 0.5.3 refuses it"
    ]


def test_a_message_names_the_releases_that_it_holds_for() -> None:
    """Without a pinned release no message names the one that the launch happens to be judged as."""
    refused = 'vllm serve Qwen/Qwen3-8B --speculative-config \'{"method":"ngram","num_speculative_token":5}\''
    cases = [
        ("vllm serve m --kv-cache-dtype fp8_e4m4", "invalid-choice", "--kv-cache-dtype in vLLM", ""),
        ("vllm serve Qwen/Qwen3-8B --port x", "invalid-value", "--port in vLLM", ">=0.8.4"),
        (refused, "ignored-json-key", "vLLM 0.9.1 to 0.15.1 has no key num_speculative_token", ">=0.9.1,<=0.15.1"),
        ("vllm serve m --nope 1 --max-lora-rank 17", "unknown-option", "vLLM 0.33.0 has no option --nope", ""),
        ("sglang serve --model-path m --enable-ep-moe", "removed-option", "SGLang 0.5.23 refuses it", ">=0.5.5"),
    ]
    wrong: list[object] = []
    for text, rule, message, affected in cases:
        found = [one for one in judge(launch_in(text + "\n", "run.sh"), Settings()) if one.rule.endswith("/" + rule)]
        if [(message in one.message, one.affected) for one in found] != [(True, affected)]:
            wrong.append((text, [(one.message, one.affected) for one in found]))
    assert wrong == []


def test_a_plan_is_for_releases_that_have_the_verb() -> None:
    """No release takes --nope, so that the arguments are ignored: `sglang serve` still came with 0.5.5."""
    serve, module = (
        able_releases(launch_in(f"{command} --model-path m --nope 1\n", "run.sh"))
        for command in ("sglang serve", "python -m sglang.launch_server")
    )
    assert all(one.at_least("0.5.5") for one in serve)
    assert len(serve) < len(module)


def test_a_plan_says_which_releases_it_covers() -> None:
    launch = launch_in("vllm serve m\n", "run.sh")
    several = configs(launch, ["0.26.0", "0.27.0", "0.28.0"])
    assert releases_note(several[:1], "why") == "why: planned as 0.26.0, the newest that can start it"
    said = "why: planned for 0.26.0 to 0.28.0, which can start it; single figures are those of 0.28.0"
    assert releases_note(several, "why") == said


@pytest.mark.parametrize(
    ("release", "changed"),
    [
        ("0.20.2", False),
        ("0.20.2+cu129", False),
        ("0.20.2+g1a2b3c4d5", False),
        ("0.20.2rc1.dev249+g1a2b3c4d5.d20260101", False),
        ("0.20.2rc1.dev249+mybuild", True),
        ("0.20.2+cu129.acme", True),
    ],
)
def test_a_build_that_its_label_calls_private(release: str, changed: bool) -> None:
    assert is_changed_build(release) is changed


@pytest.mark.parametrize(("release", "after"), [("0.10.0", "0.11.0"), ("0.27.0", "0.28.0"), ("0.33.0", None), ("x", None)])
def test_the_first_release_of_the_next_series(release: str, after: str | None) -> None:
    assert next_minor_release("vllm", release) == after
