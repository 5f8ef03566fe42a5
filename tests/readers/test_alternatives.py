"""Scripts as repositories have them, with conditions that cannot be decided: the plain run and what branches change."""

from __future__ import annotations

from typing import Any

import pytest

from servelint.core.launch import Launch
from servelint.syntax.shell import branches
from tests.launching import argv, environment, launch_in, launches_in
from tests.together import together

SLURM = """
    #!/bin/bash
    #SBATCH --nodes=2
    MODEL=${1:?model}
    TP=8
    if [[ "$SLURM_JOB_PARTITION" == small ]]; then TP=4; fi
    EXTRA=""
    if [ "$SLURM_NNODES" -gt 1 ]; then EXTRA="--pipeline-parallel-size $SLURM_NNODES"; fi
    srun vllm serve Qwen/Qwen3-8B --tensor-parallel-size $TP $EXTRA
"""
ENTRYPOINT = """
    #!/bin/sh
    set -e
    set -- --model /models/m "$@"
    [ -n "$MAX_LEN" ] && set -- "$@" --max-model-len "$MAX_LEN"
    if [ "$EAGER" = "true" ]; then set -- "$@" --enforce-eager; fi
    exec python3 -m vllm.entrypoints.openai.api_server "$@"
"""
GETOPTS = """
    #!/bin/bash
    TP=1
    EXTRA=()
    while getopts "t:eq:" opt; do
      case $opt in
        t) TP=$OPTARG ;;
        e) EXTRA+=(--enforce-eager) ;;
        q) EXTRA+=(--quantization "$OPTARG") ;;
      esac
    done
    vllm serve m --tensor-parallel-size "$TP" "${EXTRA[@]}"
"""
LONG_OPTIONS = """
    #!/bin/bash
    PORT=8000
    while [[ $# -gt 0 ]]; do
      case "$1" in
        --port) PORT="$2"; shift 2 ;;
        --fast) FAST=1; shift ;;
        *) echo "unknown: $1"; exit 1 ;;
      esac
    done
    CMD=(python -m sglang.launch_server --model-path m --port "$PORT")
    if [[ -n "${FAST:-}" ]]; then CMD+=(--enable-torch-compile); fi
    "${CMD[@]}"
"""
PROFILES = """
    #!/usr/bin/env bash
    case "${1:-chat}" in
      chat) ARGS="--max-model-len 8192" ;;
      long) ARGS="--max-model-len 131072 --enable-chunked-prefill" ;;
      *) echo "usage: $0 chat|long"; exit 2 ;;
    esac
    exec vllm serve m $ARGS
"""
SWEEP = """
    #!/bin/bash
    start() {
      local tp=$1 extra=$2
      if [ "$PROFILE" = 1 ]; then extra="$extra --disable-log-requests"; fi
      vllm serve m --tensor-parallel-size $tp $extra &
    }
    for tp in 1 2; do start $tp ""; done
"""
BUILDER = """
    #!/bin/bash
    build() {
      local cmd="vllm serve m"
      if [ -n "$QUANT" ]; then cmd="$cmd --quantization $QUANT"; fi
      echo "$cmd"
    }
    CMD=$(build)
    echo "Running: $CMD"
    eval "$CMD"
"""
DOCKER = """
    #!/bin/bash
    RUN=(docker run --rm --gpus all)
    [ -n "$DETACH" ] && RUN+=(-d)
    IMAGE=vllm/vllm-openai:v0.19.1
    if [ "$NIGHTLY" = 1 ]; then IMAGE=vllm/vllm-openai:nightly; fi
    "${RUN[@]}" "$IMAGE" --model m
"""
ROLES = """
    #!/bin/bash
    COMMON=(--model-path m --tp 8 --nnodes 2)
    if [ "$NODE_RANK" = 0 ]; then
      python3 -m sglang.launch_server "${COMMON[@]}" --node-rank 0
    else
      [ -n "$LOG" ] && COMMON+=(--log-level debug)
      python3 -m sglang.launch_server "${COMMON[@]}" --node-rank 1
    fi
"""
PREFIX = """
    #!/bin/bash
    PREFIX=""
    if command -v numactl >/dev/null; then PREFIX="numactl --cpunodebind=0"; fi
    $PREFIX llama-server -m model.gguf -c 4096
"""
GPU = """
    #!/bin/bash
    if nvidia-smi | grep -q H100; then KV=fp8; else KV=auto; fi
    export VLLM_USE_V1=1
    vllm serve m --kv-cache-dtype $KV
"""
DRAFT = """
    #!/bin/bash
    SPEC=()
    if [ "${SPEC_TOKENS:-0}" -gt 0 ]; then
      SPEC=(--speculative-config "{\\"method\\": \\"mtp\\", \\"num_speculative_tokens\\": $SPEC_TOKENS}")
    fi
    vllm serve m "${SPEC[@]}" ${TRUST:+--trust-remote-code}
"""
EXPECTED = {
    "slurm": (SLURM, "Qwen/Qwen3-8B --tensor-parallel-size 8", {"--tensor-parallel-size 4", "--pipeline-parallel-size"}),
    "entry point": (ENTRYPOINT, "--model /models/m", {"--max-model-len", "--enforce-eager"}),
    "getopts": (GETOPTS, "m --tensor-parallel-size 1", {"--enforce-eager", "--quantization"}),
    "long options": (LONG_OPTIONS, "--model-path m --port 8000", {"--enable-torch-compile"}),
    "profiles": (PROFILES, "m --max-model-len 8192", {"--max-model-len 131072 --enable-chunked-prefill"}),
    "builder": (BUILDER, "m", {"--quantization ${QUANT}"}),
    "gpu": (GPU, "m --kv-cache-dtype fp8", {"--kv-cache-dtype auto"}),
    "draft": (DRAFT, "m", {"--speculative-config", "--trust-remote-code"}),
}


def shown(launch: Launch) -> str:
    return " ".join([word for word in argv(launch) if word])


@pytest.mark.parametrize(("script", "plain", "possible"), EXPECTED.values(), ids=EXPECTED.keys())
def test_the_plain_run_and_what_branches_change(script: str, plain: str, possible: set[str]) -> None:
    launch = launch_in(script, "run.sh")
    assert shown(launch).startswith(plain)
    for words in possible:
        assert words not in shown(launch)
        assert any(words in shown(one) for one in launch.alternatives), words


def test_a_sweep_has_its_launches_with_an_alternative_each() -> None:
    launches = launches_in(SWEEP, "run.sh")
    assert [shown(launch) for launch in launches] == ["m --tensor-parallel-size 1", "m --tensor-parallel-size 2"]
    added = [[shown(one) for one in launch.alternatives] for launch in launches]
    assert added[0] == ["m --tensor-parallel-size 1 --disable-log-requests"]
    assert "m --tensor-parallel-size 2 --disable-log-requests" in added[1]


def test_the_image_that_a_branch_chooses() -> None:
    launch = launch_in(DOCKER, "run.sh")
    assert launch.release.release == "0.19.1"
    assert [one.release.rolling for one in launch.alternatives] == [True]


def test_what_a_branch_adds_reaches_its_own_launch_only() -> None:
    first, second = launches_in(ROLES, "run.sh")
    assert not first.alternatives
    assert [shown(one)[-30:] for one in second.alternatives] == ["--log-level debug --node-rank 1"[-30:]]


def test_a_prefix_that_may_be_there() -> None:
    launch = launch_in(PREFIX, "run.sh")
    assert shown(launch) == "-m model.gguf -c 4096"
    assert not launch.alternatives


def test_a_condition_has_its_characters() -> None:
    launch = launch_in('if [ -n "$A" ]; then X=--a; fi\nvllm serve m $X\n', "run.sh")
    ((branch,),) = [one.branches for one in launch.alternatives]
    assert (branch.span.text, branch.taken, branch.span.line) == ('[ -n "$A" ]', True, 1)


def test_past_the_bound_more_words_may_follow() -> None:
    lines = [f'[ -n "$V{number}" ] && R="$R --f{number}"' for number in range(40)]
    launch = launch_in("\n".join(["R=", *lines, "vllm serve m $R"]), "run.sh")
    assert shown(launch) == "m"
    assert launch.argv[-1].many, "an unknown word"
    assert len(launch.alternatives) <= 12


def test_a_variable_that_a_branch_exports() -> None:
    launch = launch_in('[ "$A" = 1 ] && export VLLM_USE_V1=0 LOG=x\nvllm serve m\n', "run.sh")
    assert environment(launch) == {}
    assert [environment(one)["VLLM_USE_V1"] for one in launch.alternatives] == ["0"]


OTHERS = {
    "compose.yml": """
        services:
          llm:
            image: vllm/vllm-openai:v0.19.1
            entrypoint: [bash, -c]
            command: ['A=(); [ -n "$$Q" ] && A+=(--quantization "$$Q"); exec vllm serve m "$${A[@]}"']
    """,
    "pod.yaml": """
        apiVersion: v1
        kind: Pod
        metadata: {name: llm}
        spec:
          containers:
            - name: llm
              image: vllm/vllm-openai:v0.19.1
              command: [sh, -c]
              args:
                - |
                  X=
                  if [ -n "$Q" ]; then X="--quantization $Q"; fi
                  exec vllm serve m $X
    """,
    "Dockerfile": """
        FROM vllm/vllm-openai:v0.19.1
        ENTRYPOINT ["bash", "-c", "X=; if [ -n \\"$Q\\" ]; then X=\\"--quantization $Q\\"; fi; exec vllm serve m $X"]
    """,
    "llm.service": """
        [Service]
        ExecStart=/bin/bash -c 'X=; [ -n "$$Q" ] && X="--quantization $$Q"; exec vllm serve m $$X'
    """,
    "Makefile": """
        serve:
        \tX=; if [ -n "$$Q" ]; then X="--quantization $$Q"; fi; vllm serve m $$X
    """,
}


@pytest.mark.parametrize("name", OTHERS)
def test_scripts_in_other_files(name: str) -> None:
    launch = launch_in(OTHERS[name].replace("\\t", "\t"), name)
    assert shown(launch) == "m"
    assert ["--quantization" in shown(one) for one in launch.alternatives] == [True]


@pytest.mark.parametrize(
    ("start", "end"),
    [("for i in $(seq 1 $2); do", "done"), ('if [ -n "$ON" ]; then', "fi"), ('case "$3" in start)', ";; esac")],
)
def test_a_branch_without_the_call_leaves_no_alternative(start: str, end: str) -> None:
    """A function that the script calls in a branch starts nothing where the branch is not taken."""
    launch = launch_in(
        f"""
        spawn() {{
          vllm serve "$1" --served-model-name "$2"
        }}
        {start}
          if [[ "$1" == /* ]]; then NAME=local; else NAME=hub; fi
          spawn "$1" "$NAME"
        {end}
        """,
        "run.sh",
    )
    assert sorted(argv(one)[2] for one in launch.every) == ["hub", "local"]


def test_a_function_that_only_other_scripts_call_keeps_its_alternatives() -> None:
    launch = launch_in(
        'serve() {\n  EXTRA=""\n  [ -n "$FAST" ] && EXTRA=--async-scheduling\n  vllm serve m $EXTRA\n}\n', "run.sh"
    )
    assert sorted(map(argv, launch.every)) == [["m"], ["m", "--async-scheduling"]]


@pytest.mark.parametrize("placeholder", ["sk-CHANGE-ME", "YOUR_KEY_HERE", "__KEY__", "<key>"])
def test_a_placeholder_is_one_in_each_alternative(placeholder: str) -> None:
    launch = launch_in(
        f"""
        COMMON="--api-key {placeholder}"
        case $1 in
          a) EXTRA="--max-model-len 8192" ;;
        esac
        vllm serve m $COMMON $EXTRA
        """,
        "run.sh",
    )
    assert len(launch.alternatives) == 1
    assert [one.argv[2].value for one in (launch, *launch.alternatives)] == [None, None]


CHECKED = """
    #!/bin/bash
    check() {
      local missing=()
      if [ ! -f /opt/model ]; then missing+=(model); fi
      if %s; then missing+=(template); fi
      if [ ${#missing[@]} -gt 0 ]; then echo "missing: ${missing[*]}" >&2; exit 1; fi
    }
    build() {
      local c="vllm serve m"
      if [ "$EAGER" = 1 ]; then c="$c --enforce-eager"; fi
      echo "$c"
    }
    main() {
      check
      local cmd=$(build)
      $cmd
    }
    main "$@"
"""


@pytest.mark.parametrize("test", ["false", '[ -z "$TEMPLATE" ]', "! command -v jq >/dev/null"])
def test_a_script_that_gives_up_for_what_it_has_noted_before(test: str) -> None:
    (launch,) = launches_in(CHECKED % test, "run.sh")
    assert argv(launch)[0] == "m"


def test_what_gives_up_beside_a_launch_that_is_known() -> None:
    first, second = launches_in(CHECKED.replace('main "$@"', "vllm serve other & main") % '[ -z "$T" ]', "run.sh")
    assert {argv(first)[0], argv(second)[0]} == {"other", "m"}


@pytest.mark.parametrize(("known", "most"), [("vllm serve other &\n", 5), ("", 12)])
def test_beside_a_known_launch_few_runs_look_for_another(known: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each condition of the checks ends the run, and the command that they guard starts no engine."""
    runs: list[branches.World] = []
    world = branches.World

    def counted(*given: Any) -> branches.World:
        runs.append(world(*given))
        return runs[-1]

    monkeypatch.setattr(branches, "World", counted)
    checks = "".join([f'[ -n "$X{n}" ] && Y="$Y$X{n}"\n[ -z "$Y" ] && exit 1\nexport Y=\n' for n in range(12)])
    launches_in(f'{known}{checks}CMD=echo\n[ -n "$Z" ] && CMD="$CMD $Z"\n$CMD\n', "run.sh")
    assert (len(runs) <= most) if known else (len(runs) >= most)


def test_scripts_that_use_up_the_steps_of_a_file_lose_no_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    text = CHECKED.replace("%s", "false").replace("      check\n", "")
    assert [argv(one) for one in launches_in(text, "run.sh")] == [["m"]]
    monkeypatch.setattr("servelint.core.run.STEPS_OF_WALKS", 0)
    monkeypatch.setattr("servelint.core.run.WALKS", 0)
    (launch,) = launches_in(text, "run.sh")
    assert argv(launch)[0] == "m"
    assert launch.argv[-1].many  # what the branch adds is not known


@together(
    "command",
    [
        'python3 bench.py --rate "$A"',
        'timeout 60 python3 -u "$(pwd)/tools/score.py" "$A"',
        'python3 -m lm_eval --tasks "$A"',
        "python3 -c \"print('$A')\"",
        'curl --output "$A" http://localhost:8000/health',
        'aiperf profile --concurrency "$A" --url http://localhost:8000',
        'mini-extra swebench -c "$A/overrides.yaml"',
    ],
)
def test_conditions_of_what_starts_no_engine_cost_no_runs(command: str) -> None:
    tests = "".join([f'if [ -n "$X{at}" ]; then A={at}; fi\n' for at in range(24)])
    eager = 'EXTRA=\nif [ -n "$E" ]; then EXTRA=--enforce-eager; fi\n'
    launch = launch_in(f"A=0\n{tests}{command}\n{eager}vllm serve m $EXTRA\n", "run.sh")
    assert [[word.shown for word in one.argv] for one in launch.every] == [["m"], ["m", "--enforce-eager"]]


@together("command", ["$A", "nohup $A", 'bash -c "$A"', "timeout 60 $A", 'ssh host "$A"', 'some-tool "$A"'])
def test_conditions_of_what_may_start_one_are_followed(command: str) -> None:
    text = f'A=true\nif [ -n "$E" ]; then A="vllm serve m"; fi\n{command}\n'
    ran = [word.shown for launch in launches_in(text, "run.sh") for word in launch.argv]
    assert ran == (["m"] if command != 'some-tool "$A"' else [])


COMPOSE = "services:\n  a:\n    image: vllm/vllm-openai:v0.9.1\n    command: {}\n"


@together(
    "name, text, words",
    [
        (
            "a.service.j2",
            "[Service]\nExecStart=/x/vllm serve m {% if k %}--dtype {{ k }}{% endif %}\n",
            ["m", "--dtype", "{{ k }}"],
        ),
        (
            "a.service.j2",
            "[Service]\nExecStart=/x/vllm serve m {{ '--dtype ' ~ k if k else '' }}\n",
            ["m", "--dtype", "{{ k }}"],
        ),
        (
            "compose.yml.j2",
            COMPOSE.format(">-\n      --model m\n      {% if k %}--enforce-eager{% endif %}\n      --port 1"),
            ["--model", "m", "--enforce-eager", "--port", "1"],
        ),
        (
            "compose.yml",
            COMPOSE.format("--model m ${K:+--dtype half} --port 1"),
            ["--model", "m", "--dtype", "half", "--port", "1"],
        ),
        ("Makefile", "serve:\n\tvllm serve m $(if $(K),--dtype half) --port 1\n", ["m", "--dtype", "half", "--port", "1"]),
        ("run.sh", "vllm serve m ${K:+--dtype half}\n", ["m", "--dtype", "half"]),
    ],
)
def test_an_option_that_a_condition_in_the_command_leaves_out(name: str, text: str, words: list[str]) -> None:
    (found,) = launches_in(text, name)
    (other,) = found.alternatives
    assert argv(other) == words


@together(
    "text",
    [
        # a value, a part of a word, an option without a name, no word at all
        "[Service]\nExecStart=/x/vllm serve m --dtype {% if k %}half{% endif %}\n",
        "[Service]\nExecStart=/x/vllm serve m --dtype={% if k %}half{% else %}auto{% endif %}\n",
        "[Service]\nExecStart=/x/vllm serve m {{ '--' ~ name if name }}\n",
        "[Service]\nExecStart=/x/vllm serve m {{ extra if extra }}\n",
    ],
)
def test_no_option_of_a_condition(text: str) -> None:
    (found,) = launches_in(text, "a.service.j2")
    assert found.alternatives == []
