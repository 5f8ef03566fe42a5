"""Shell scripts: every engine that a script starts, with its words at their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.core.source import Span
from tests.launching import (
    argv,
    environment,
    launch_in,
    launches_in,
    lines,
    marked_launch,
    release,
    sites,
    spans,
)


def script(text: str, folder: Path | None = None) -> Launch:
    return launch_in(text, "run.sh", folder)


def marked_script(text: str) -> tuple[Launch, list[Span]]:
    return marked_launch(text, "run.sh")


class TestEntryPoints:
    @pytest.mark.parametrize(
        ("command", "engine", "words"),
        [
            ("vllm serve Qwen/Qwen3-8B --port 8000", "vllm", ["Qwen/Qwen3-8B", "--port", "8000"]),
            ("/opt/venv/bin/vllm serve m", "vllm", ["m"]),
            ("python -m vllm.entrypoints.openai.api_server --model m", "vllm", ["--model", "m"]),
            ("python3.12 -u -O -W ignore -m vllm.entrypoints.openai.api_server --model m", "vllm", ["--model", "m"]),
            ("python -m vllm.entrypoints.cli.main serve m", "vllm", ["m"]),
            ("python -m vllm serve m", "vllm", ["m"]),
            ("python /src/vllm/entrypoints/openai/api_server.py --model m", "vllm", ["--model", "m"]),
            ("$PYTHON -m vllm.entrypoints.openai.api_server --model m", "vllm", ["--model", "m"]),
            ("python -m sglang.launch_server --model-path m", "sglang", ["--model-path", "m"]),
            ("sglang serve --model-path m", "sglang", ["--model-path", "m"]),
            ("./build/bin/llama-server -m a.gguf", "llama.cpp", ["-m", "a.gguf"]),
            ("trtllm-serve m --port 8000", "trtllm", ["m", "--port", "8000"]),
            ("trtllm-serve serve m", "trtllm", ["m"]),
            ("lmdeploy serve api_server m", "lmdeploy", ["m"]),
            ("text-generation-launcher --model-id m", "tgi", ["--model-id", "m"]),
        ],
    )
    def test_starts_an_engine(self, command: str, engine: str, words: list[str]) -> None:
        launch = script(command)
        assert (launch.engine, argv(launch)) == (engine, words)

    @pytest.mark.parametrize(
        "command",
        [
            "vllm bench serve --model m",
            "vllm --version",
            "vllm serve --help",
            "sglang version",
            "python -m sglang.bench_serving --backend vllm",
            "python -m vllm.benchmarks.serve --model m",
            "python -c 'import vllm; print(vllm.__version__)'",
            "lmdeploy serve gradio m",
            "trtllm-serve disaggregated -c config.yml",
            "pip install vllm",
            "pkill -f 'vllm serve'",
            "echo vllm serve m",
            "grep -r 'vllm serve m' .",
            "# vllm serve m",
            "cat <<EOF\nvllm serve m\nEOF",
            "which vllm && vllm",
        ],
    )
    def test_starts_none(self, command: str) -> None:
        assert launches_in(command, "run.sh") == []


class TestWords:
    def test_quotes(self) -> None:
        launch, marks = marked_script("""
            vllm serve "⟦Qwen/Qwen3-8B⟧" --served-model-name '⟦my model⟧' --chat-template ⟦a\\ b⟧ --api-key "⟦a\\"b⟧"
        """)
        assert argv(launch) == [
            "Qwen/Qwen3-8B",
            "--served-model-name",
            "my model",
            "--chat-template",
            "a b",
            "--api-key",
            'a"b',
        ]
        assert spans(launch.argv)[::2] == marks

    def test_continued_lines_and_comments(self) -> None:
        launch, marks = marked_script("""
            #!/bin/bash
            # starts the server
            vllm serve ⟦Qwen/Qwen3-8B⟧ \\
              ⟦--port⟧ ⟦8000⟧ \\
              ⟦--max-model-len=32768⟧  # enough
            echo --port 9000
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--max-model-len=32768"]
        assert sites(launch.argv) == marks
        assert lines(launch) == (3, 5)

    def test_json_in_single_quotes(self) -> None:
        launch, marks = marked_script("""
            vllm serve m --speculative-config '⟦{"method": "mtp", "num_speculative_tokens": 2}⟧'
        """)
        assert launch.argv[2].value == '{"method": "mtp", "num_speculative_tokens": 2}'
        assert launch.argv[2].text.span() == marks[0]

    def test_redirections_belong_to_nobody(self) -> None:
        launch = script("exec vllm serve m --port 8000 > log.txt 2>&1 < /dev/null --seed 1")
        assert argv(launch) == ["m", "--port", "8000", "--seed", "1"]

    def test_in_the_background_and_in_a_pipe(self) -> None:
        launch = script("nohup vllm serve m --port 8000 2>&1 | tee log.txt &")
        assert argv(launch) == ["m", "--port", "8000"]

    def test_what_comes_after_an_operator_is_another_command(self) -> None:
        first, second = launches_in("cd /srv && vllm serve a --port 1; vllm serve b || exit 1", "run.sh")
        assert (argv(first), argv(second)) == (["a", "--port", "1"], ["b"])


class TestVariables:
    def test_a_value_stands_where_it_is_given(self) -> None:
        launch, marks = marked_script("""
            MODEL=⟦Qwen/Qwen3-8B⟧
            PORT="${PORT:-⟦8000⟧}"
            vllm serve "$MODEL" --port "${PORT}" --seed ${SEED:-⟦1⟧}
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--seed", "1"]
        assert spans(launch.argv)[::2] == marks
        assert [site.text for site in sites(launch.argv)[::2] if site] == ['"$MODEL"', '"${PORT}"', "${SEED:-1}"]
        assert [word.text.assumed for word in launch.argv[::2]] == [False, True, True]

    def test_what_nobody_knows_stays_as_it_is_written(self) -> None:
        launch = script("vllm serve ${MODEL} --port $PORT --seed $(date +%s) --name `hostname` --dtype ${1} $EXTRA_ARGS")
        assert argv(launch) == [
            "${MODEL}",
            "--port",
            "${PORT}",
            "--seed",
            "$(date +%s)",
            "--name",
            "`hostname`",
            "--dtype",
            "${1}",
            "${EXTRA_ARGS}",
        ]
        assert not any(word.text.known for word in launch.argv if "$" in word.shown or "`" in word.shown)

    def test_all_arguments_of_the_script(self) -> None:
        launch = script('vllm serve m "$@"')
        assert launch.argv[1].many
        assert not launch.argv[1].text.known

    def test_a_quoted_unknown_is_one_word(self) -> None:
        launch = script('vllm serve "$MODEL" $MODEL')
        assert [word.many for word in launch.argv] == [False, True]

    def test_a_known_value_is_split_where_it_is_not_quoted(self) -> None:
        launch, marks = marked_script("""
            ARGS="⟦--port⟧ ⟦8000⟧"
            vllm serve m $ARGS
        """)
        assert argv(launch) == ["m", "--port", "8000"]
        assert spans(launch.argv[1:]) == marks

    def test_arrays(self) -> None:
        launch, marks = marked_script("""
            ARGS=(
              ⟦--port⟧ ⟦8000⟧   # a comment
              '⟦--served-model-name⟧' "⟦my model⟧"
            )
            ARGS+=(⟦--seed⟧ ⟦1⟧)
            vllm serve m "${ARGS[@]}"
        """)
        assert argv(launch) == ["m", "--port", "8000", "--served-model-name", "my model", "--seed", "1"]
        assert spans(launch.argv[1:]) == marks
        assert not any(word.many for word in launch.argv)
        assert lines(launch) == (6, 6)

    def test_an_array_that_may_have_grown(self) -> None:
        launch = script("""
            ARGS=(--port 8000)
            if [ -n "$EAGER" ]; then ARGS+=(--enforce-eager); fi
            vllm serve m "${ARGS[@]}"
        """)
        assert argv(launch) == ["m", "--port", "8000"]
        assert all(word.many for word in launch.argv[1:])

    def test_both_branches_are_launches(self) -> None:
        launches = launches_in(
            """
            if [ "$MODE" = big ]; then
              vllm serve Qwen/Qwen3-32B
            else
              vllm serve Qwen/Qwen3-8B
            fi
            """,
            "run.sh",
        )
        assert [argv(launch) for launch in launches] == [["Qwen/Qwen3-32B"], ["Qwen/Qwen3-8B"]]

    def test_a_function(self) -> None:
        launch, marks = marked_script("""
            serve() {
              vllm serve "$1" ⟦--port⟧ ⟦8000⟧
            }
            serve ⟦Qwen/Qwen3-8B⟧
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == [marks[2], marks[0], marks[1]]


class TestEnvironment:
    def test_inline_and_exported(self) -> None:
        launch, marks = marked_script("""
            export VLLM_USE_V1=⟦1⟧
            HF_HOME=/cache
            export HF_HOME
            NOT_EXPORTED=1
            CUDA_VISIBLE_DEVICES=⟦0,1⟧ VLLM_LOGGING_LEVEL="${LEVEL:-⟦INFO⟧}" vllm serve m
        """)
        assert environment(launch) == {
            "VLLM_USE_V1": "1",
            "HF_HOME": "/cache",
            "CUDA_VISIBLE_DEVICES": "0,1",
            "VLLM_LOGGING_LEVEL": "INFO",
        }
        found = [launch.env[name].value for name in ("VLLM_USE_V1", "CUDA_VISIBLE_DEVICES", "VLLM_LOGGING_LEVEL")]
        assert [value.span() for value in found if value] == marks

    def test_unset_and_overwritten(self) -> None:
        launch = script("""
            export A=1 B=1 C=1
            unset A
            B=2
            C=3 vllm serve m
        """)
        assert environment(launch) == {"B": "2", "C": "3"}

    def test_inline_variables_end_with_their_command(self) -> None:
        _, second = launches_in("A=1 vllm serve a\nvllm serve b", "run.sh")
        assert environment(second) == {}

    @pytest.mark.parametrize("sourced", [". ./env.sh", "source /etc/profile.d/llm.sh", 'source "$CONFIG"'])
    def test_a_sourced_script_may_export_more(self, sourced: str) -> None:
        assert script(f"{sourced}\nvllm serve m").open_env
        assert not script(f"vllm serve m\n{sourced}").open_env

    def test_an_env_file_of_the_container_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "llm.env").write_text("VLLM_USE_V1=1\n")
        launch = script("docker run --env-file llm.env -e A=2 vllm/vllm-openai:v0.20.0 --model m", tmp_path)
        assert environment(launch) == {"VLLM_USE_V1": "1", "A": "2"}
        assert not launch.open_env


class TestRelease:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("pip install vllm==0.19.1\nvllm serve m", ("0.19.1", "pip")),
            ("pip install -q 'vllm[audio]==0.19.1'\nvllm serve m", ("0.19.1", "pip")),
            ("uv pip install --system vllm==0.19.1 sglang==0.5.9\nvllm serve m", ("0.19.1", "pip")),
            ("VERSION=0.19.1\npip install vllm==$VERSION\nvllm serve m", ("0.19.1", "pip")),
            ("pip install vllm==$VERSION\nvllm serve m", (None, "pip")),
            ("pip install vllm==0.19.1\npip install vllm==0.20.0\nvllm serve m", ("0.20.0", "pip")),
            ("vllm serve m\npip install vllm==0.19.1", (None, None)),
            ("pip install sglang==0.5.9\nvllm serve m", (None, None)),
            ("pip install 'vllm>=0.19'\nvllm serve m", (None, "pip")),
            ("if $NEW; then pip install vllm==0.20.0; fi\nvllm serve m", (None, "pip")),
            ("docker run vllm/vllm-openai:v0.20.0 --model m", ("0.20.0", "image")),
            # what is installed here is not in a container, and the other way round
            ("pip install vllm==0.19.1\ndocker run vllm/vllm-openai:v0.20.0 --model m", ("0.20.0", "image")),
            ("pip install vllm==0.19.1\ndocker run house/server:1 vllm serve m", (None, None)),
            ("pip install vllm==0.19.1\ndocker exec llm vllm serve m", (None, None)),
            ("docker exec llm pip install vllm==0.19.1\nvllm serve m", (None, None)),
            ("pip install vllm==0.19.1\nuvx vllm@0.20.0 serve m", ("0.20.0", "pip")),
            ("pip install vllm==0.19.1\nbash -c 'vllm serve m'", ("0.19.1", "pip")),
        ],
    )
    def test_what_the_script_says(self, text: str, expected: tuple[str | None, str | None]) -> None:
        assert release(script(text)) == expected

    def test_of_each_engine_its_own(self) -> None:
        first, second = launches_in(
            "pip install vllm==0.19.1 sglang==0.5.9\nvllm serve m &\npython -m sglang.launch_server --model-path m", "run.sh"
        )
        assert (release(first), release(second)) == (("0.19.1", "pip"), ("0.5.9", "pip"))


@pytest.mark.parametrize("name", ["run.sh", "run.bash", "serve.sbatch", "start"])
def test_what_a_shebang_or_a_name_makes_a_script(name: str) -> None:
    launch = launch_in("#!/usr/bin/env bash\nvllm serve m\n", name)
    assert lines(launch) == (2, 2)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_line_ends(end: str) -> None:
    launch = script(end.join(["#!/bin/bash", "vllm serve m \\", "  --port 8000", ""]))
    assert argv(launch) == ["m", "--port", "8000"]
    assert lines(launch) == (2, 3)


@pytest.mark.parametrize(
    "broken",
    ["vllm serve m 'not closed", "if true; then vllm serve m", "vllm serve m $((", "vllm serve m ${X", "vllm serve m )"],
)
def test_a_broken_script_is_read_as_far_as_it_goes(broken: str) -> None:
    assert argv(script(broken)) == ["m"]


class TestTemplate:
    """A script that a playbook or a chart fills in: its actions are unknown, words and commands that it may leave out too."""

    SCRIPT = """
        #!/bin/bash
        {% if debug %}
        export VLLM_LOGGING_LEVEL=DEBUG
        {% endif %}
        exec vllm serve {{ model }} \\
          {% if length %}
          --max-model-len {{ length }} \\
          {% endif %}
          --served-model-name "{{ name }}" --dtype half
    """

    def test_actions_are_unknown(self) -> None:
        launch = launch_in(self.SCRIPT, "run.sh.j2")
        assert [(word.shown, word.many) for word in launch.argv] == [
            ("{{ model }}", True),
            ("--max-model-len {{ length }}", True),
            ("--served-model-name", False),
            ("{{ name }}", False),
            ("--dtype", False),
            ("half", False),
        ]
        variable = launch.env["VLLM_LOGGING_LEVEL"].value
        assert variable is not None
        assert not variable.known

    def test_whatever_it_is_called(self) -> None:
        assert argv(launch_in(self.SCRIPT, "run.sh"))[0] == "{{ model }}"
        assert argv(launch_in("vllm serve {{ .Values.model }}\n", "run.sh")) == ["{{ .Values.model }}"]

    def test_braces_of_another_kind(self) -> None:
        text = "docker ps --format '{{.Names}}' ${A%{%} \nvllm serve a --chat-template '{% for a in b %}{{ a }}{% endfor %}'\n"
        assert argv(launch_in(text, "run.sh")) == ["a", "--chat-template", "{% for a in b %}{{ a }}{% endfor %}"]
