"""Findings of launches whose script has conditions that cannot be decided."""

from __future__ import annotations

import pytest

from servelint.core.finding import Finding
from servelint.core.settings import Settings
from servelint.judge.judging import judge
from tests.launching import launches_in

PINNED = Settings(engine_versions={"vllm": "0.27.1"})


def findings(script: str, name: str = "run.sh") -> list[Finding]:
    return [one for launch in launches_in(script, name) for one in judge(launch, PINNED)]


def said(script: str) -> dict[str, list[tuple[int, bool]]]:
    """The rules of the errors, and of what is one in a branch, each with the branches that it needs."""
    errors = [one for one in findings(script) if one.severity == "error" or one.branches]
    return {one.rule.partition("/")[2]: [(branch.span.line, branch.taken) for branch in one.branches] for one in errors}


TOO_MUCH = "gpu-memory-utilization-out-of-range"
CASES = {
    "beside an array that grows": (
        'R=(--gpu-memory-utilization 1.5)\nif [ -n "$A" ]; then R+=(--enforce-eager); fi\nvllm serve m "${R[@]}"',
        {TOO_MUCH: []},
    ),
    "in a branch": ('R=\nif [ -n "$A" ]; then R="--gpu-memory-utilization 1.5"; fi\nvllm serve m $R', {TOO_MUCH: [(2, True)]}),
    "in the other branch": (
        'if [ -n "$A" ]; then G=1.5; else G=0.9; fi\nvllm serve m --gpu-memory-utilization $G',
        {TOO_MUCH: [(1, True)]},
    ),
    "in the branch of a plain run": (
        'if [ -n "$A" ]; then G=0.8; else G=1.5; fi\nvllm serve m --gpu-memory-utilization $G',
        {TOO_MUCH: [(1, False)]},
    ),
    "in a list": ('R=()\n[ -n "$A" ] && R+=(--no-such-option)\nvllm serve m "${R[@]}"', {"unknown-option": [(2, True)]}),
    "in a case": ("case $A in\nx) R=--no-such-option ;;\n*) R= ;;\nesac\nvllm serve m $R", {"unknown-option": [(2, True)]}),
    "in an alternative": ("vllm serve m ${A:+--no-such-option}", {"unknown-option": [(1, True)]}),
    "in nested branches": (
        'R=\nif [ "$A" = x ]; then\nif [ "$B" = y ]; then R=--no-such-option; fi\nfi\nvllm serve m $R',
        {"unknown-option": [(2, True), (3, True)]},
    ),
    "in a branch around another": (
        'R=\nif [ "$A" = x ]; then\nR=--no-such-option\nif [ "$B" = y ]; then R="$R --enforce-eager"; fi\nfi\nvllm serve m $R',
        {"unknown-option": [(2, True)]},
    ),
    "of a command in a string": (
        'C="vllm serve m"\nif [ -n "$A" ]; then C="$C --no-such-option"; fi\nexec $C',
        {"unknown-option": [(2, True)]},
    ),
    "two options that no run passes together": (
        'if [ -n "$A" ]; then R=(--kv-cache-dtype fp8); else R=(--kv-cache-dtype auto); fi\nvllm serve m "${R[@]}"',
        {},
    ),
    "options of two tests that exclude each other": (
        'R=\n[ "$A" = x ] && R="--disable-log-stats"\n[ "$A" = y ] && R="$R --enforce-eager"\nvllm serve m $R',
        {},
    ),
    "a branch that takes the mistake away": (
        'G=1.5\nif [ -n "$A" ]; then G=0.9; fi\nvllm serve m --gpu-memory-utilization "$G"',
        {TOO_MUCH: [(2, False)]},
    ),
    "a branch that another typo hides nothing of": (
        'R=(--gpu-memory-utilization 1.5)\nif [ -n "$A" ]; then R+=(--no-such-option); fi\nvllm serve m "${R[@]}"',
        {TOO_MUCH: [], "unknown-option": [(2, True)]},
    ),
}


@pytest.mark.parametrize(("script", "expected"), CASES.values(), ids=CASES.keys())
def test_findings_name_the_branches_that_they_need(script: str, expected: dict[str, list[tuple[int, bool]]]) -> None:
    assert said(script) == expected


def test_the_sentence_has_the_lines() -> None:
    (one,) = findings('R=()\n[ -n "$A" ] && R+=(--no-such-option)\nvllm serve m "${R[@]}"')
    assert ", if the branch at line 2 is taken" in one.sentence
    assert [(related.span.text, related.message) for related in one.related] == [('[ -n "$A" ]', "if this holds")]
    (other,) = findings(CASES["in the branch of a plain run"][0])
    assert ", if the branch at line 1 is not taken" in other.sentence


def test_a_fix_spares_the_words_of_another_branch() -> None:
    script = 'if [ "$1" = big ]; then A=%s; else A=--swap-space=4; fi\nvllm serve m $A'
    fixes = {
        other: [one.fix for one in findings(script % other) if one.rule == "vllm/removed-option"]
        for other in ("--dtype=half", "")
    }
    assert fixes["--dtype=half"] == [None]
    assert [[edit.span.text for edit in fix.edits] for fix in fixes[""] if fix is not None] == [[" $A"]]


def test_what_a_branch_adds_is_not_reported_as_missing() -> None:
    launch = """
        R=(--enable-auto-tool-choice)
        if [ -n "$PARSER" ]; then R+=(--tool-call-parser hermes); fi
        vllm serve Qwen/Qwen3-8B "${R[@]}"
    """
    assert {one.rule for one in findings(launch.replace("(--tool-call-parser hermes)", "()"))} >= {
        "vllm/auto-tool-choice-needs-parser"
    }
    assert "vllm/auto-tool-choice-needs-parser" not in {one.rule for one in findings(launch)}


def test_a_plain_run_keeps_its_findings() -> None:
    script = 'G="${G:-1.5}"\nif [ "${A:-0}" = 1 ]; then G=0.9; fi\nvllm serve m --gpu-memory-utilization "$G"'
    assert said(script) == {TOO_MUCH: []}


def test_a_branch_beside_one_that_adds_what_it_needs() -> None:
    script = 'A=()\n{}[ "${{P:-}}" ] && A+=(--tool-call-parser "$P")\nvllm serve m "${{A[@]}}"\n'
    choice = '[ "${C:-false}" = true ] && A+=(--enable-auto-tool-choice)\n'
    assert "auto-tool-choice-needs-parser" not in said(script.format(choice))
    alone = "A=()\n" + choice + 'vllm serve m "${A[@]}"\n'
    assert said(alone) == {"auto-tool-choice-needs-parser": [(2, True)]}


@pytest.mark.parametrize(
    "command",
    ["vllm serve m --omni --usp 8 --ring 1", "docker run vllm/vllm-openai:v0.14.0 --model m --omni --num-gpus 8"],
)
def test_options_of_a_plugin_that_takes_over(command: str) -> None:
    assert [one.rule for one in findings(command) if "option" in one.rule] == []
    assert any("option" in one.rule for one in findings(command.replace("--omni", "")))


def test_a_release_that_only_a_program_s_name_tells() -> None:
    rules = [one.rule for one in findings("./llama.cpp/server -m a.gguf --mlock --no-mmap")]
    assert rules == []


@pytest.mark.parametrize(
    ("script", "places"),
    [
        ("case $1 in\na) M=/data/a ;;\nb) M=/data/b ;;\n*) exit 1 ;;\nesac\nlmdeploy serve api_server $M", [(3, 0)]),
        ('if [ -n "$A" ]; then M=/data/a; else M=/data/b; fi\nlmdeploy serve api_server $M', [(1, 0)]),
        ("M=/data/a\n[ -d /b ] && M=/b\nlmdeploy serve api_server $M", [(1, 0)]),
        ('M=/data/a\nK=\nif [ -n "$A" ]; then M=/b; K="--api-keys $A"; fi\nlmdeploy serve api_server $M $K', [(1, 1)]),
    ],
)
def test_what_every_branch_lacks_is_reported_once(script: str, places: list[tuple[int, int]]) -> None:
    found = [one for launch in launches_in(script, "run.sh") for one in judge(launch, Settings(profile="strict"))]
    open_ = [one for one in found if one.rule == "lmdeploy/open-without-api-keys"]
    assert [(one.span.line, len(one.branches)) for one in open_] == places


def test_an_image_of_another_release_in_a_branch() -> None:
    text = (
        'if [ -n "$NEW" ]; then I=vllm/vllm-openai:v0.19.1; else I=vllm/vllm-openai:v0.9.1; fi\n'
        "docker run --gpus all --ipc=host $I --model m --swap-space 4\n"
    )
    (finding,) = [one for one in findings(text) if one.rule == "vllm/removed-option"]
    assert [branch.taken for branch in finding.branches] == [True]
    assert finding.fix is None
    same = text.replace("v0.9.1", "v0.19.1")
    (certain,) = [one for one in findings(same) if one.rule == "vllm/removed-option"]
    assert certain.branches == ()


@pytest.mark.parametrize(
    ("choice", "severities"),
    [
        ('"${1:-fast}"', ["warning"]),  # the default takes the other branch
        ('"${1:-slow}"', ["error"]),
        ('"$1"', ["error"]),  # nothing says which branch a plain run takes
    ],
)
def test_a_branch_that_the_defaults_leave_out_is_no_error(choice: str, severities: list[str]) -> None:
    cases = "fast) R=--enforce-eager ;;\nslow) R=--no-such-option ;;\n*) exit 1 ;;"
    found = findings(f"case {choice} in\n{cases}\nesac\nvllm serve m $R\n")
    assert [one.severity for one in found if one.rule == "vllm/unknown-option"] == severities


UNIT = "[Service]\nExecStart=/x/vllm serve m {} --port 1\n"


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        ("{% if k %}--no-such-option{% endif %}", "error"),
        ("{% if k %}--kv-cache-dtype fp7{% endif %}", "error"),
        ("{% if k %}--dtype half{% else %}--kv-cache-dtype fp7{% endif %}", "error"),
        ("{{ '--no-such-option ' ~ k if k }}", "error"),
        # who sets it has chosen it; another condition may bring what is missing; the value is another one's
        ("{% if k %}--enforce-eager{% endif %}", None),
        ("{% if k %}--tool-call-parser hermes{% endif %} {% if l %}--enable-auto-tool-choice{% endif %}", None),
        ("{% if k %}--kv-cache-dtype{% endif %} fp8", None),
    ],
)
def test_an_option_that_a_condition_of_a_template_leaves_out(options: str, severity: str | None) -> None:
    found = findings(UNIT.format(options), "a.service.j2")
    assert [one.severity for one in found if one.branches] == ([severity] if severity is not None else [])


def test_an_option_that_a_variable_brings_is_a_warning() -> None:
    compose = "services:\n  a:\n    image: vllm/vllm-openai:v0.27.1\n    command: --model m ${K:+--no-such-option}\n"
    assert [one.severity for one in findings(compose, "compose.yml") if one.branches] == ["warning"]
