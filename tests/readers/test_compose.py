"""Compose files: what a service starts, and where each word of it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servelint.core import bounds
from servelint.core.launch import Launch
from tests.launching import (
    argv,
    environment,
    launch_in,
    launches_in,
    lines,
    marked_launch,
    reading,
    release,
    sites,
    spans,
)
from tests.together import together


class TestCommand:
    """Every way to write a command gives the same words; the marks are around each word as it stands in the file."""

    def test_block_list(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command:
                  - ⟦--model⟧
                  - '⟦Qwen/Qwen3-8B⟧'   # the target
                  - "⟦--port⟧"
                  - ⟦8000⟧
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks
        assert [span.text for span in sites(launch.argv) if span] == ["--model", "'Qwen/Qwen3-8B'", '"--port"', "8000"]
        assert lines(launch) == (4, 8)

    def test_flow_list_over_several_lines(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: [⟦--model⟧, '⟦Qwen/Qwen3-8B⟧',
                          "⟦--port⟧", ⟦8000⟧]
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks
        assert lines(launch) == (4, 5)

    def test_plain_string_over_several_lines(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: ⟦--model⟧ ⟦Qwen/Qwen3-8B⟧
                  ⟦--served-model-name⟧ ⟦"my model"⟧
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--served-model-name", "my model"]
        assert sites(launch.argv) == marks
        assert lines(launch) == (4, 5)

    def test_folded_string(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: >-
                  ⟦--model⟧ ⟦Qwen/Qwen3-8B⟧
                  ⟦--served-model-name⟧ ⟦'my model'⟧

                  ⟦--speculative-config⟧ ⟦'{"method": "mtp", "num_speculative_tokens": 2}'⟧
        """)
        assert argv(launch)[3:] == ["my model", "--speculative-config", '{"method": "mtp", "num_speculative_tokens": 2}']
        assert sites(launch.argv) == marks
        assert lines(launch) == (4, 8)

    def test_block_string(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: |
                  ⟦--model⟧ ⟦Qwen/Qwen3-8B⟧
                  ⟦--port⟧ ⟦8000⟧
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port", "8000"]
        assert sites(launch.argv) == marks
        assert lines(launch) == (4, 6)

    def test_block_string_with_backslashes(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: |
                  ⟦--model⟧ ⟦Qwen/Qwen3-8B⟧ \\
                  ⟦--port⟧ ⟦8000⟧
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks

    def test_single_quoted_string(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: '⟦--model⟧ ''⟦Qwen/Qwen3-8B⟧'' ⟦--port⟧ ⟦8000⟧'
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks

    def test_double_quoted_string(self) -> None:
        launch, marks = marked_launch(r"""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: "⟦--model⟧ \"⟦Qwen/Qwen3-8B⟧\" \
                  ⟦--port⟧ ⟦8000⟧"
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks

    def test_what_follows_a_shell_operator_never_reaches_the_container(self) -> None:
        # compose splits a string with go-shellwords, which stops there
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B --port 8000 && echo done
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]

    @pytest.mark.parametrize("command", ["command:", "command: null", "command: []", "command: ''", "ports: []"])
    def test_no_command_starts_the_engine_with_its_defaults(self, command: str) -> None:
        launch = launch_in(f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                {command}
        """)
        assert argv(launch) == []
        assert launch.verb == ()

    def test_an_item_that_is_no_scalar_is_passed_over(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: [--model, [nested], {a: b}, Qwen/Qwen3-8B]
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B"]


class TestEntrypoint:
    def test_its_words_come_before_the_command(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: registry.example/house/server:prod
                entrypoint: [⟦vllm⟧, ⟦serve⟧, ⟦Qwen/Qwen3-8B⟧]
                command: [⟦--port⟧, "⟦8000⟧"]
        """)
        assert spans(launch.verb) == marks[:2]
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks[2:]
        assert lines(launch) == (4, 5)

    @pytest.mark.parametrize(
        "entrypoint",
        [
            "entrypoint: ⟦vllm⟧ ⟦serve⟧ ⟦Qwen/Qwen3-8B⟧",
            "entrypoint: '⟦vllm⟧ ⟦serve⟧ ⟦Qwen/Qwen3-8B⟧'",
            "entrypoint: >-\n      ⟦vllm⟧ ⟦serve⟧\n      ⟦Qwen/Qwen3-8B⟧",
            "entrypoint: |\n      ⟦vllm⟧ ⟦serve⟧\n      ⟦Qwen/Qwen3-8B⟧",
            "entrypoint: [⟦vllm⟧, ⟦serve⟧,\n      ⟦Qwen/Qwen3-8B⟧]",
            "entrypoint:\n      - ⟦vllm⟧\n      - ⟦serve⟧\n      - ⟦Qwen/Qwen3-8B⟧",
        ],
    )
    def test_in_every_form(self, entrypoint: str) -> None:
        launch, marks = marked_launch(f"services:\n  llm:\n    image: house/server:1\n    {entrypoint}\n")
        assert [*sites(launch.verb), *sites(launch.argv)] == marks

    def test_written_after_the_command(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: registry.example/house/server:prod
                command: [--port, "8000"]
                entrypoint: vllm serve Qwen/Qwen3-8B
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert lines(launch) == (5, 5)

    def test_block_list_and_folded_string(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: lmsysorg/sglang:v0.5.9-cu126
                entrypoint:
                  - ⟦python3⟧
                  - ⟦-m⟧
                  - ⟦sglang.launch_server⟧
                command: >
                  ⟦--model-path⟧ ⟦Qwen/Qwen3-8B⟧
                  ⟦--port⟧ ⟦30000⟧
        """)
        assert launch.engine == "sglang"
        assert [*sites(launch.verb), *sites(launch.argv)] == marks

    def test_another_program_hides_the_image_s_own(self) -> None:
        assert (
            launches_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                entrypoint: ["python3", "bench.py"]
                command: ["--model", "Qwen/Qwen3-8B"]
        """)
            == []
        )

    @pytest.mark.parametrize("empty", ["[]", "''"])
    def test_an_empty_one_runs_the_command_itself(self, empty: str) -> None:
        launch = launch_in(f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                entrypoint: {empty}
                command: vllm serve Qwen/Qwen3-8B
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B"]

    def test_null_leaves_the_image_s_own(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                entrypoint:
                command: Qwen/Qwen3-8B
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B"]


class TestShellInside:
    def test_script_as_a_list_item(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                entrypoint: [bash, -c]
                command:
                  - |
                    set -e
                    exec vllm serve ⟦Qwen/Qwen3-8B⟧ \\
                      ⟦--port⟧ ⟦8000⟧
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks
        assert lines(launch) == (8, 9)

    @pytest.mark.parametrize("shell", ["sh -lc", "bash -euo pipefail -c", "bash -e -c", "/bin/bash --login -c"])
    def test_script_in_the_command_string(self, shell: str) -> None:
        launch, marks = marked_launch(f"""
            services:
              llm:
                image: registry.example/house/server:prod
                command: {shell} "ulimit -l unlimited && exec vllm serve ⟦Qwen/Qwen3-8B⟧ ⟦--port⟧ ⟦8000⟧"
        """)
        assert sites(launch.argv) == marks
        assert lines(launch) == (4, 4)

    def test_quotes_in_a_folded_string(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: registry.example/house/server:prod
                command: >
                  bash -c "vllm serve ⟦Qwen/Qwen3-8B⟧
                  ⟦--speculative-config⟧ '⟦{\\"method\\":\\"mtp\\"}⟧'"
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--speculative-config", '{"method":"mtp"}']
        assert spans(launch.argv) == marks

    def test_arguments_come_from_the_command(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                entrypoint: ["bash", "-c", "exec vllm serve \\"$$@\\"", "--"]
                command: ["⟦Qwen/Qwen3-8B⟧", "⟦--port⟧", "⟦8000⟧"]
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks

    def test_numbered_arguments(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                entrypoint: [bash, -c, 'vllm serve "$$1" --port $$2', start]
                command: [Qwen/Qwen3-8B, "8000"]
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]

    def test_environment_of_the_service(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                environment:
                  MODEL: Qwen/Qwen3-8B
                  TOKEN:
                entrypoint: [bash, -c]
                command:
                  - |
                    export VLLM_LOGGING_LEVEL=DEBUG
                    HF_HUB_OFFLINE=1 vllm serve $$MODEL --api-key "$$TOKEN" --port $${PORT:-8000}
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--api-key", "${TOKEN}", "--port", "8000"]
        assert environment(launch) == {
            "MODEL": "Qwen/Qwen3-8B",
            "TOKEN": None,
            "VLLM_LOGGING_LEVEL": "DEBUG",
            "HF_HUB_OFFLINE": "1",
        }

    def test_compose_interpolates_before_the_shell_does(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                entrypoint: [bash, -c, "PORT=1; vllm serve m --port ${PORT:-8000} --seed $$PORT"]
        """)
        assert argv(launch) == ["m", "--port", "8000", "--seed", "1"]

    def test_a_release_that_the_script_installs(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                entrypoint: [bash, -c, "pip install vllm==0.19.1 && vllm serve Qwen/Qwen3-8B"]
        """)
        assert release(launch) == ("0.19.1", "pip")

    def test_a_script_file_is_not_followed(self) -> None:
        assert (
            launches_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                entrypoint: [bash, /start.sh]
                command: [train, --model, Qwen/Qwen3-8B]
        """)
            == []
        )


class TestAnchors:
    def test_alias_of_a_command(self) -> None:
        first, second = launches_in("""
            services:
              a:
                image: vllm/vllm-openai:v0.20.0
                command: &serve
                  - --model
                  - Qwen/Qwen3-8B
              b:
                image: vllm/vllm-openai:v0.19.1
                command: *serve
        """)
        assert spans(second.argv) == spans(first.argv)
        assert (first.name, second.name) == ("services.a", "services.b")
        assert release(second) == ("0.19.1", "image")
        assert (first.site.text, lines(first)) == ("command: &serve\n      - --model\n      - Qwen/Qwen3-8B", (4, 6))
        assert (second.site.text, lines(second)) == ("command", (9, 9))

    def test_alias_of_one_word(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command:
                  - --model
                  - &model ⟦Qwen/Qwen3-8B⟧
                  - --served-model-name
                  - *model
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--served-model-name", "Qwen/Qwen3-8B"]
        assert spans(launch.argv)[1] == spans(launch.argv)[3] == marks[0]

    def test_merge_key(self) -> None:
        launch, marks = marked_launch("""
            x-engine: &engine
              image: vllm/vllm-openai:v0.20.0
              ipc: host
              command: [⟦--model⟧, ⟦Qwen/Qwen3-8B⟧]
            services:
              llm:
                <<: *engine
                shm_size: 16gb
        """)
        assert spans(launch.argv) == marks
        assert launch.name == "services.llm"
        assert launch.container is not None
        assert {name: text.shown for name, text in launch.container.settings.items()} == {"ipc": "host", "shm_size": "16gb"}

    def test_what_the_service_writes_itself_wins(self) -> None:
        launch = launch_in("""
            x-engine: &engine
              image: vllm/vllm-openai:v0.20.0
              command: [--model, Qwen/Qwen3-8B]
            services:
              llm:
                <<: *engine
                command: [--model, Qwen/Qwen3-32B]
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-32B"]

    def test_the_first_of_several_merges_wins(self) -> None:
        launch = launch_in("""
            x-a: &a {image: "vllm/vllm-openai:v0.20.0"}
            x-b: &b {image: "vllm/vllm-openai:v0.19.1", command: Qwen/Qwen3-8B}
            services:
              llm:
                <<: [*a, *b]
        """)
        assert release(launch) == ("0.20.0", "image")
        assert argv(launch) == ["Qwen/Qwen3-8B"]

    def test_merged_environment(self) -> None:
        launch, marks = marked_launch("""
            x-env: &env
              ⟦HF_HOME⟧: /cache
              VLLM_USE_V1: "1"
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
                environment:
                  <<: *env
                  ⟦VLLM_USE_V1⟧: "0"
        """)
        assert environment(launch) == {"HF_HOME": "/cache", "VLLM_USE_V1": "0"}
        assert [launch.env["HF_HOME"].site, launch.env["VLLM_USE_V1"].site] == marks


class TestEnvironment:
    def test_map(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
                environment:
                  VLLM_USE_V1: ⟦1⟧
                  HF_HOME: "⟦/cache⟧"
                  EMPTY: ""
                  HF_TOKEN:
                  LEVEL: ${LEVEL}
        """)
        assert environment(launch) == {
            "VLLM_USE_V1": "1",
            "HF_HOME": "/cache",
            "EMPTY": "",
            "HF_TOKEN": None,
            "LEVEL": "${LEVEL}",
        }
        assert [value.span() for name in ("VLLM_USE_V1", "HF_HOME") if (value := launch.env[name].value)] == marks

    def test_list(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
                environment:
                  - VLLM_USE_V1=⟦1⟧
                  - "OPTIONS=⟦a=b c⟧"
                  - EMPTY=
                  - HF_TOKEN
                  - LEVEL=${LEVEL:-INFO}
        """)
        assert environment(launch) == {
            "VLLM_USE_V1": "1",
            "OPTIONS": "a=b c",
            "EMPTY": "",
            "HF_TOKEN": None,
            "LEVEL": "INFO",
        }
        assert [value.span() for name in ("VLLM_USE_V1", "OPTIONS") if (value := launch.env[name].value)] == marks

    @pytest.mark.parametrize("env_file", ["llm.env", "[llm.env]", "[{path: llm.env}]", "{path: llm.env}", "./sub/../llm.env"])
    def test_env_file_beside(self, env_file: str, tmp_path: Path) -> None:
        (tmp_path / "llm.env").write_text("VLLM_USE_V1=1\nHF_HOME=/cache # where\n")
        (tmp_path / "sub").mkdir()
        launch = launch_in(
            f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
                env_file: {env_file}
                environment: {{VLLM_USE_V1: "0"}}
            """,
            folder=tmp_path,
        )
        assert environment(launch) == {"VLLM_USE_V1": "0", "HF_HOME": "/cache"}
        assert not launch.open_env
        site = launch.env["HF_HOME"].site
        assert site is not None
        assert (site.source.path, site.line, site.text) == ("llm.env", 2, "/cache")

    def test_env_file_lists_are_read_in_order(self, tmp_path: Path) -> None:
        (tmp_path / "a.env").write_text("A=1\nB=1\n")
        (tmp_path / "b.env").write_text("B=2\n")
        launch = launch_in(
            """
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
                env_file:
                  - ./a.env
                  - path: b.env
                    required: false
            """,
            folder=tmp_path,
        )
        assert environment(launch) == {"A": "1", "B": "2"}
        assert not launch.open_env

    @pytest.mark.parametrize(
        "env_file",
        [
            "missing.env",
            "[missing.env]",
            "[{path: missing.env, required: false}]",
            "${FILE}",
            "[{required: false}]",
            "[]  # none",
        ],
    )
    def test_more_may_be_set_by_a_file_that_cannot_be_read(self, env_file: str, tmp_path: Path) -> None:
        launch = launch_in(
            f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
                env_file: {env_file}
            """,
            folder=tmp_path,
        )
        assert environment(launch) == {}
        assert launch.open_env is (env_file != "[]  # none")

    def test_a_variable_without_a_value_comes_from_the_dotenv_file(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("HF_TOKEN=secret\nMODE=a\n")
        launch, marks = marked_launch(
            """
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
                environment:
                  - ⟦HF_TOKEN⟧
                  - OTHER
            """,
            folder=tmp_path,
        )
        assert environment(launch) == {"HF_TOKEN": "secret", "OTHER": None}
        value = launch.env["HF_TOKEN"].value
        assert value is not None
        assert (value.span(), value.assumed) == (marks[0], True)
        launch = launch_in(
            "services: {llm: {image: 'vllm/vllm-openai:v0.20.0', command: m, environment: {MODE: , OTHER: }}}", folder=tmp_path
        )
        assert environment(launch) == {"MODE": "a", "OTHER": None}

    @pytest.mark.parametrize(
        ("format", "expected"), [("", {"A": "x y", "B": "1"}), (", format: raw", {"A": "'x y' # z", "B": "${C:-1}"})]
    )
    def test_the_format_of_an_env_file(self, format: str, expected: dict[str, str], tmp_path: Path) -> None:
        (tmp_path / "llm.env").write_text("# why\nA='x y' # z\nB=${C:-1}\n")
        launch = launch_in(
            f"services: {{llm: {{command: [vllm, serve, m], env_file: [{{path: llm.env{format}}}]}}}}\n", folder=tmp_path
        )
        assert environment(launch) == expected

    @pytest.mark.parametrize("env_file", ["", "null", "[]", "[null]"])
    def test_no_env_file(self, env_file: str) -> None:
        launch = launch_in(f"services: {{llm: {{image: 'vllm/vllm-openai:v0.20.0', command: m, env_file: {env_file}}}}}\n")
        assert not launch.open_env


class TestInterpolation:
    @together(
        "written, word",
        [
            ("${V}", "${V}"),
            ("$V", "${V}"),
            ("a$V-b", "a${V}-b"),
            ("${V:-d}", "d"),
            ("${V-d}", "d"),
            ("${V:-}", ""),
            ("${V:?must be set}", "${V}"),
            ("${V?must be set}", "${V}"),
            ("${V:+other}", ""),
            ("${V+other}", ""),
            ("${V:-${W:-inner}}", "inner"),
            ("${V:-${W}}", "${W}"),
            ("${V:-a${W:-b}c}", "abc"),
            ("$$V", "$V"),
            ("$${V}", "${V}"),
            ("$$$V", "$${V}"),
            ("${V:-$$}", "$"),
            ("100%", "100%"),
            ("a$", "a$"),
            ("$1", "$1"),
            ("${}", "${}"),
            ("${V", "${V"),
            ("${V:-{}}", "{}"),
        ],
    )
    def test_a_variable_that_nobody_sets(self, written: str, word: str) -> None:
        launch = launch_in(f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: [--model, '{written}']
        """)
        assert argv(launch) == ["--model", word]

    @pytest.mark.parametrize(
        ("written", "word"),
        [
            ("${V}", "set"),
            ("$V", "set"),
            ("${V:-d}", "set"),
            ("${V-d}", "set"),
            ("${V:?e}", "set"),
            ("${V:+other}", "other"),
            ("${V+other}", "other"),
            ("${V:+${W:-w}}", "w"),
            ("${EMPTY:-d}", "d"),
            ("${EMPTY-d}", ""),
            ("${EMPTY:+other}", ""),
            ("${EMPTY+other}", "other"),
            ("$$V", "$V"),
            ("${BOTH}", "set/more"),
        ],
    )
    def test_a_variable_that_the_dotenv_file_sets(self, written: str, word: str, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("V=set\nEMPTY=\nBOTH=${V}/more\n")
        launch = launch_in(
            f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: [--model, '{written}']
            """,
            folder=tmp_path,
        )
        assert argv(launch) == ["--model", word]

    def test_a_value_of_the_dotenv_file_stands_where_it_is_used(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("MODEL=Qwen/Qwen3-8B\n")
        launch, marks = marked_launch(
            """
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: --model ⟦${MODEL}⟧ --port 8000
            """,
            folder=tmp_path,
        )
        word = launch.argv[1]
        assert word.value == "Qwen/Qwen3-8B"
        assert word.text.span() == marks[0]
        assert word.text.origin is not None
        assert (word.text.origin.source.path, word.text.origin.text) == (".env", "Qwen/Qwen3-8B")

    def test_a_default_stands_inside_its_braces(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:${TAG:-v⟦0.20.0⟧}
                command: --model ${MODEL:-⟦Qwen/Qwen3-8B⟧} --port ${PORT:-${ALT:-⟦8000⟧}}
        """)
        assert [launch.release.span, launch.argv[1].text.span(), launch.argv[3].text.span()] == marks
        assert all(word.text.assumed for word in (launch.argv[1], launch.argv[3]))
        assert release(launch) == ("0.20.0", "image")

    def test_in_a_string_an_unknown_may_be_several_words(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: --model ${MODEL} "${NAME}" ${EXTRA_ARGS}
        """)
        assert [word.many for word in launch.argv] == [False, True, False, True]

    def test_in_a_list_an_unknown_is_one_word(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: ["--model", "${MODEL}", "${EXTRA_ARGS}"]
        """)
        assert [word.many for word in launch.argv] == [False, False, False]

    def test_a_known_value_in_a_string_is_split(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("ARGS=\"--port 8000 --served-model-name 'my model'\"\n")
        launch = launch_in(
            """
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B ${ARGS}
            """,
            folder=tmp_path,
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--served-model-name", "my model"]


GENERIC = "{discrete_resource_spec: {kind: '%s', value: 2}}"


class TestContainer:
    def settings(self, launch: Launch) -> dict[str, str]:
        assert launch.container is not None
        return {name: text.shown for name, text in launch.container.settings.items()}

    def test_image_ipc_shm_size_and_runtime(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: ⟦vllm/vllm-openai:v0.20.0⟧
                ipc: ⟦host⟧
                shm_size: "⟦16gb⟧"
                runtime: ⟦nvidia⟧
                command: Qwen/Qwen3-8B
        """)
        assert self.settings(launch) == {"ipc": "host", "shm_size": "16gb", "runtime": "nvidia"}
        assert launch.container is not None
        assert launch.image is not None
        found = [launch.image.span(), *[text.span() for text in launch.container.settings.values()]]
        assert found == marks
        assert (launch.container.gpus, launch.container.reserved) == (None, True)

    @together(
        "device, gpus",
        [
            ("{driver: nvidia, count: 2, capabilities: [gpu]}", 2),
            ("{driver: nvidia, count: all, capabilities: [gpu]}", None),
            ("{driver: nvidia, count: -1, capabilities: [gpu]}", None),
            ("{driver: nvidia, capabilities: [gpu]}", None),
            ("{driver: nvidia, device_ids: ['0', '3'], capabilities: [gpu]}", 2),
            ("{driver: nvidia, device_ids: ['0,1'], capabilities: [gpu]}", 2),
            ("{driver: nvidia, device_ids: [], capabilities: [gpu]}", None),
            ("{driver: nvidia, count: '${GPUS:-4}', capabilities: [gpu]}", 4),
            ("{driver: nvidia, count: '${GPUS}', capabilities: [gpu]}", None),
            ("{driver: nvidia, device_ids: ['${GPUS}'], capabilities: [gpu]}", None),
            ("{driver: nvidia, device_ids: '${GPUS}', capabilities: [gpu]}", None),
        ],
    )
    def test_reserved_devices(self, device: str, gpus: int | None) -> None:
        launch = launch_in(f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
                deploy:
                  resources:
                    reservations:
                      devices:
                        - {device}
        """)
        assert launch.container is not None
        assert (launch.container.gpus, launch.container.reserved) == (gpus, True)

    @together(
        "written, gpus, reserved",
        [
            ("gpus: all", None, True),
            ("gpus: [{driver: nvidia, count: 1}, {driver: nvidia, count: 2}]", 3, True),
            ("runtime: nvidia", None, True),
            ("runtime: runc", None, False),
            ("gpus: []", None, False),
            ("gpus: [{driver: cdi, device_ids: ['nvidia.com/gpu=all']}]", None, True),
            ("gpus: [{driver: cdi, device_ids: ['nvidia.com/gpu=0', 'nvidia.com/gpu=1']}]", 2, True),
            ("devices: ['nvidia.com/gpu=all']", None, True),
            ("devices: ['nvidia.com/gpu=0', 'nvidia.com/gpu=2']", 2, True),
            ("devices: [{source: nvidia.com/gpu=0, target: x}]", 1, True),
            ("devices: ['nvidia.com/gpu=${GPU}']", None, True),
            ("devices: ['/dev/kfd:/dev/kfd', /dev/dri]", None, None),
            ("devices: /dev/kfd", None, False),
            ("privileged: true", None, None),
            ("environment: {NVIDIA_VISIBLE_DEVICES: all}", None, None),
            (f"deploy: {{resources: {{reservations: {{generic_resources: [{GENERIC % 'NVIDIA-GPU'}]}}}}}}", 2, True),
            (
                f"deploy: {{resources: {{reservations: {{generic_resources: [{GENERIC % 'gpu'}, {GENERIC % 'gpu'}]}}}}}}",
                4,
                True,
            ),
            (f"deploy: {{resources: {{reservations: {{generic_resources: [{GENERIC % 'SSD'}]}}}}}}", None, False),
            ("deploy: {resources: {reservations: {generic_resources: [{discrete_resource_spec: {kind: gpu}}]}}}", None, True),
            ("deploy: {resources: [reservations]}", None, False),
            ("deploy: 5", None, False),
            ("deploy: {replicas: 1}", None, False),
            ("deploy: {resources: {reservations: {devices: []}}}", None, False),
            ("init: true", None, False),
        ],
    )
    def test_other_ways_to_ask_for_gpus(self, written: str, gpus: int | None, reserved: bool | None) -> None:
        launch = launch_in(f"""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
                {written}
        """)
        assert launch.container is not None
        assert (launch.container.gpus, launch.container.reserved) == (gpus, reserved)


FIELDS = [
    "image", "command", "entrypoint", "environment", "env_file", "build", "deploy", "devices", "gpus", "volumes", "configs",
    "working_dir", "runtime", "extends",
]  # fmt: skip
KEYS = [*FIELDS, "resources", "reservations", "count", "device_ids", "context", "args", "source", "target", "path", "service"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["vllm serve m", "vllm/vllm-openai:v0.20.0", "$A", "/a:/b", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)


class TestShapes:
    """Whatever a file looks like, it is read or passed over."""

    def test_numbers_and_truths_in_lists_are_as_they_are_written(self) -> None:
        launch = launch_in("""
            version: "3.8"
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                profiles: [gpu]
                deploy: {replicas: 2}
                develop: {watch: [{action: sync, path: ., target: /app}]}
                environment: {VLLM_USE_V1: 1, FLAG: true, RATIO: 0.90, HEX: 0x10, YES: yes, EMPTY: ""}
                command: [--model, m, --port, 8000, --gpu-memory-utilization, 0.90, --flag, true, --seed, 0x10, -1, "" ]
        """)
        assert argv(launch)[2:] == [
            "--port",
            "8000",
            "--gpu-memory-utilization",
            "0.90",
            "--flag",
            "true",
            "--seed",
            "0x10",
            "-1",
            "",
        ]
        assert environment(launch) == {
            "VLLM_USE_V1": "1", "FLAG": "true", "RATIO": "0.9", "HEX": "16", "YES": "yes", "EMPTY": "",
        }  # fmt: skip

    def test_json(self) -> None:
        launch, marks = marked_launch(
            """
            {"services": {"llm": {"image": "vllm/vllm-openai:v0.20.0", "environment": ["A=\\u0031"],
              "command": ["⟦--model⟧", "⟦Qwen/Qwen3-8B⟧"]}}}
            """,
            filename="compose.json",
        )
        assert (spans(launch.argv), environment(launch)) == (marks, {"A": "1"})

    def test_keys_that_are_there_twice(self) -> None:
        found, _ = reading("""
            services:
              llm:
                image: vllm/vllm-openai:v0.19.1
                image: vllm/vllm-openai:v0.20.0
                environment: {A: "1", A: "2"}
                command: [m]
        """)
        assert [repr(one) for one in found.problems] == [f"compose.yml:4:5: {bounds.COMPOSE_KEYS.message}"]
        (launch,) = found.launches
        assert (release(launch), environment(launch)) == (("0.20.0", "image"), {"A": "2"})

    @pytest.mark.parametrize(
        "field",
        [
            "command: {a: b}",
            "entrypoint: {a: b}",
            "image: [a]",
            "image: {a: b}",
            "environment: 5",
            "environment: [[a], {b: c}, null, =, '']",
            "environment: {[a]: b, c: [d], e: {f: g}}",
            "env_file: {}",
            "env_file: [[a], {}, {path: [b]}]",
            "volumes: {a: b}",
            "configs: 5",
            "build: {args: 5, context: [a]}",
            "build: [a]",
            "deploy: {resources: {reservations: {devices: {a: b}}}}",
            "deploy: {resources: {reservations: {devices: [a, [b]]}}}",
            "deploy: {resources: {reservations: {generic_resources: [a, {discrete_resource_spec: b}]}}}",
            "gpus: {a: b}",
            "gpus: [a, [b]]",
            "devices: {a: b}",
            "devices: [[a], {b: c}, null]",
            "runtime: [a]",
            "working_dir: [a]",
            "extends: [a]",
            "? [a]\n    : b",
            "!tag x: !other {}",
        ],
    )
    def test_a_field_of_another_shape(self, field: str, tmp_path: Path) -> None:
        (tmp_path / "compose.override.yml").write_text(f"services:\n  llm:\n    {field}\n")
        for folder in (None, tmp_path):
            text = f"services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    command: [vllm, serve, m]\n    {field}\n"
            found, _ = reading(text, folder=folder)
            assert len(found.launches) <= 1

    @together(
        "text",
        [
            "services: {llm: [vllm]}",
            "services: {llm: vllm}",
            "services: {[vllm]: {image: vllm/vllm-openai}}",
            "services: {llm: !reset {image: vllm/vllm-openai}}",
            "services: {llm: {image: !reset vllm/vllm-openai}}",
            "x-services: {llm: {image: vllm/vllm-openai}}",
            "x-vllm: {services: {llm: {image: vllm/vllm-openai}}}",
            "services: {x-llm: }",
            "{vllm: {image: vllm/vllm-openai}}",
        ],
    )
    def test_what_is_no_service(self, text: str) -> None:
        assert launches_in(text + "\n") == []

    def test_an_alias_of_nothing_is_a_problem(self) -> None:
        found, _ = reading("services: {llm: {image: vllm/vllm-openai, command: *nothing}}\n")
        assert found.launches == []
        assert [problem.message for problem in found.problems] == ["not valid YAML: found undefined alias"]

    @settings(max_examples=50, deadline=None)
    @given(st.dictionaries(st.sampled_from(FIELDS), VALUES), st.dictionaries(st.sampled_from(FIELDS), VALUES), VALUES)
    def test_whatever_is_said(self, service: Any, other: Any, top: Any) -> None:
        services = {"llm": service, "base": other, "ours": {**service, "extends": "base"}}
        text = json.dumps({"services": services, "configs": top, "include": top, "secrets": top})
        found, _ = reading(text)
        assert all(launch.site.source is launch.source for launch in found.launches)

    def test_an_alias_is_not_followed_without_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds.VALUES, "most", 3000)
        variables = ", ".join([f"K{number}: '1'" for number in range(300)])
        service = "{image: 'vllm/vllm-openai:v0.20.0', environment: *env}"
        text = f"x-env: &env {{{variables}}}\nservices:\n" + "".join([f"  s{number}: {service}\n" for number in range(200)])
        found, _ = reading(text)
        assert 10 < len(found.launches) < 100

    def test_a_value_inside_itself_ends(self) -> None:
        text = (
            "services: &s\n  a: &a\n    <<: *a\n    extends: *a\n    deploy: *a\n    build: *s\n    image: vllm/vllm-openai\n"
        )
        found, _ = reading(text)
        assert len(found.launches) <= 1


class TestServices:
    def test_each_service_that_starts_an_engine_is_a_launch(self) -> None:
        launches = launches_in("""
            services:
              proxy:
                image: nginx:1.27
              llm:
                image: vllm/vllm-openai:v0.20.0
                command: Qwen/Qwen3-8B
              draft:
                image: lmsysorg/sglang:v0.5.9-cu126
                command: python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B
              gguf:
                image: ghcr.io/ggml-org/llama.cpp:server-cuda-b9180
                command: -m /models/a.gguf
        """)
        assert [(launch.name, launch.engine, launch.release.release) for launch in launches] == [
            ("services.llm", "vllm", "0.20.0"),
            ("services.draft", "sglang", "0.5.9"),
            ("services.gguf", "llama.cpp", "b9180"),
        ]

    @together(
        "service",
        [
            # a client of the server
            "{image: 'python:3.12', command: 'python benchmark_serving.py --backend vllm --base-url http://llm:8000'}",
            "{image: 'lmsysorg/sglang:v0.5.9', command: 'python3 -m sglang.bench_serving --backend vllm'}",
            "{image: 'vllm/vllm-openai:v0.20.0', entrypoint: [vllm, bench, serve], command: [--model, m]}",
            "{image: 'vllm/vllm-openai:v0.20.0', entrypoint: [bash, -c, 'curl http://vllm:8000/health']}",
            # a web page in front of it, a router
            "{image: 'ghcr.io/open-webui/open-webui:main', environment: ['OPENAI_API_BASE_URL=http://vllm:8000/v1']}",
            "{image: 'registry.example/vllm-router:1.0', command: [--backends, 'http://llm:8000']}",
            # an SGLang image without a command starts a shell
            "{image: 'lmsysorg/sglang:v0.5.9'}",
            # not a service at all
            "vllm serve Qwen/Qwen3-8B",
            "",
        ],
    )
    def test_a_service_that_only_mentions_an_engine_is_none(self, service: str) -> None:
        assert launches_in(f"services:\n  client: {service}\n") == []

    def test_a_text_without_services_is_no_compose_file(self) -> None:
        assert launches_in("llm:\n  image: vllm/vllm-openai:v0.20.0\n  command: Qwen/Qwen3-8B\n") == []
        assert launches_in("services: [vllm]\n") == []
        assert launches_in("- services: {llm: {image: 'vllm/vllm-openai:v0.20.0'}}\n") == []

    def test_every_document_of_a_file_is_read(self) -> None:
        launches = launches_in("""
            services: {a: {image: "vllm/vllm-openai:v0.20.0"}}
            ---
            services: {b: {image: "vllm/vllm-openai:v0.19.1"}}
        """)
        assert [launch.name for launch in launches] == ["services.a", "services.b"]


class TestBuild:
    def service(self, build: str, folder: Path) -> Launch:
        return launch_in(
            f"""
            services:
              llm:
                image: registry.example/house/server:prod
                build: {build}
                command: vllm serve Qwen/Qwen3-8B
            """,
            folder=folder,
        )

    def test_release_of_the_dockerfile_s_base(self, tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text("FROM vllm/vllm-openai:v0.19.1\n")
        launch = self.service(".", tmp_path)
        assert release(launch) == ("0.19.1", "image")
        assert launch.release.span is not None
        assert (launch.release.span.source.path, launch.release.span.text) == ("Dockerfile", "0.19.1")

    def test_other_folder_and_other_name(self, tmp_path: Path) -> None:
        (tmp_path / "docker").mkdir()
        (tmp_path / "docker" / "vllm.Dockerfile").write_text("FROM python:3.12\nRUN pip install vllm==0.18.0\n")
        launch = self.service("{context: ./docker/, dockerfile: vllm.Dockerfile}", tmp_path)
        assert release(launch) == ("0.18.0", "pip")

    def test_the_base_s_entry_point_takes_the_command(self, tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text("FROM vllm/vllm-openai:v0.19.1\nRUN pip install hf_transfer\n")
        launch = launch_in("services:\n  llm:\n    build: .\n    command: --model Qwen/Qwen3-8B\n", folder=tmp_path)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B"]
        assert release(launch) == ("0.19.1", "image")

    @pytest.mark.parametrize(
        "build", [".", "{context: docker}", "https://github.com/house/server.git", "{dockerfile: '${FILE}'}"]
    )
    @pytest.mark.parametrize(
        ("image", "expected"),
        [
            ("vllm/vllm-openai:v0.20.0", ("0.20.0", "image")),
            ("local/vllm-openai-secrets:v0.20.0", ("0.20.0", "image")),
            ("me/vllm-openai:latest", (None, None)),
            ("me/vllm-openai:v1", (None, None)),
            ("me/vllm-openai:${TAG}", (None, None)),
        ],
    )
    def test_a_dockerfile_that_is_not_there_leaves_the_tag(
        self, build: str, image: str, expected: tuple[str | None, str | None], tmp_path: Path
    ) -> None:
        launch = launch_in(
            f"services:\n  llm:\n    image: {image}\n    build: {build}\n    command: --model m\n", folder=tmp_path
        )
        assert release(launch) == expected

    def test_a_dockerfile_that_is_there_wins_over_the_tag(self, tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text("FROM vllm/vllm-openai:v0.19.1\n")
        launch = launch_in(
            "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    build: .\n    command: --model m\n", folder=tmp_path
        )
        assert release(launch) == ("0.19.1", "image")

    def test_a_dockerfile_written_into_the_compose_file(self, tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text("FROM vllm/vllm-openai:v0.18.0\n")
        launch, marks = marked_launch(
            """
            services:
              llm:
                build:
                  dockerfile_inline: |
                    FROM vllm/vllm-openai:v⟦0.19.1⟧
                command: vllm serve Qwen/Qwen3-8B
            """,
            folder=tmp_path,
        )
        assert release(launch) == ("0.19.1", "image")
        assert launch.release.span == marks[0]

    @pytest.mark.parametrize(
        ("args", "expected"),
        [
            ("{}", "0.20.0"),
            ("{TAG: v0.19.1}", "0.19.1"),
            ("[TAG=v0.19.1]", "0.19.1"),
            ("{TAG: '${TAG:-v0.19.1}'}", "0.19.1"),
            ("{TAG: '${TAG}'}", None),
            ("{TAG: }", None),
            ("[TAG]", None),
            ("{OTHER: x}", "0.20.0"),
        ],
    )
    def test_build_arguments_take_the_place_of_the_dockerfile_s_defaults(
        self, args: str, expected: str | None, tmp_path: Path
    ) -> None:
        (tmp_path / "Dockerfile").write_text("ARG TAG=v0.20.0\nFROM vllm/vllm-openai:${TAG}\n")
        assert self.service(f"{{context: ., args: {args}}}", tmp_path).release.release == expected

    @pytest.mark.parametrize(("target", "expected"), [("old", "0.19.1"), ("NEW", "0.20.0"), ("none", None), ("'${T}'", None)])
    def test_the_target_stage(self, target: str, expected: str | None, tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text("FROM vllm/vllm-openai:v0.19.1 AS old\nFROM vllm/vllm-openai:v0.20.0 AS new\n")
        assert self.service(f"{{context: ., target: {target}}}", tmp_path).release.release == expected


def test_a_service_that_extends_another_may_take_variables_from_it() -> None:
    launch = launch_in("""
        services:
          llm:
            extends: {file: common.yml, service: base}
            image: vllm/vllm-openai:v0.20.0
            command: Qwen/Qwen3-8B
    """)
    assert launch.open_env


def test_the_image_s_release_is_its_own_engine_s() -> None:
    launch = launch_in("""
        services:
          llm:
            image: vllm/vllm-openai:v0.20.0
            entrypoint: python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B
    """)
    assert (launch.engine, release(launch)) == ("sglang", (None, None))


@pytest.mark.parametrize(
    ("name", "reserved"), [("docker-compose.gpu.yml", None), ("compose-cuda.yaml", None), ("other.yml", False)]
)
def test_gpus_may_be_added_by_a_file_beside_it(name: str, reserved: bool | None, tmp_path: Path) -> None:
    (tmp_path / name).write_text("services: {llm: {gpus: all}}")
    text = "services: {llm: {image: 'vllm/vllm-openai:v0.33.0', command: [--model, m]}}"
    container = launch_in(text, "docker-compose.yml", tmp_path).container
    assert container is not None
    assert container.reserved is reserved


class TestAServiceAlone:
    """A template without another name that holds a service, which a program puts into a compose file."""

    TEXT = (
        "  {{ name }}:\n    image: a/llama\n    command: |\n"
        "      /build/bin/llama-server\n      -m {{ model }}\n      --host 0.0.0.0\n"
    )

    @pytest.mark.parametrize("path", ["templates/llamacpp.j2", "vllm.jinja", "service.tmpl"])
    def test_its_launch(self, path: str) -> None:
        launch = launch_in(self.TEXT, path)
        assert (launch.engine, argv(launch)) == ("llama.cpp", ["-m", "{{ model }}", "--host", "0.0.0.0"])

    @pytest.mark.parametrize("path", ["prompt.j2", "readme.tmpl"])
    def test_another_template(self, path: str) -> None:
        assert launches_in("Write about llama-server -m {{ model }} and\nimage: a\ncommand: b\n", path) == []


ARMS = """\
services:
  llm:
{% if engine == 'vllm' %}
    image: vllm/vllm-openai:v0.9.1
    command: --model {{ model }} --seed 1
{% elif old %}
    image: vllm/vllm-openai:v0.8.5
    command: --model {{ model }} --seed 2
{% else %}
    image: lmsysorg/sglang:v0.4.9-cu126
    command: python3 -m sglang.launch_server --model-path {{ model }}
{% endif %}
"""


def test_each_part_of_a_condition_of_a_template() -> None:
    found = [one for launch in launches_in(ARMS, "compose.yml.j2") for one in launch.every]
    parts = [one for one in found if one.branches]
    assert {(one.engine, release(one)[0], one.argv[-1].shown) for one in parts} == {
        ("vllm", "0.9.1", "1"),
        ("vllm", "0.8.5", "2"),
        ("sglang", "0.4.9", "{{ model }}"),
    }
    assert sorted((one.branches[0].span.line, one.branches[0].taken) for one in parts) == [(3, False), (3, True), (6, True)]
    alone = ARMS.replace("{% elif old %}\n", "").replace("{% else %}\n", "")
    assert all(not one.branches for launch in launches_in(alone, "compose.yml.j2") for one in launch.every)


def test_quotes_of_env_files_that_nothing_closes(tmp_path: Path) -> None:
    text = "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    env_file: {}\n    command: [--model, m]\n"
    (tmp_path / "open.env").write_text('A="b\n')
    for files, found in (("[open.env]", ["open-quote"]), ("[{path: open.env, format: raw}]", []), ("[other.env]", [])):
        launch = launch_in(text.format(files), "compose.yml", tmp_path)
        assert [one.kind for one in launch.mishaps] == found, files
    (tmp_path / ".env").write_text("B='c\n")
    assert [one.span.source.path for one in launch_in(text.format("[]"), "compose.yml", tmp_path).mishaps] == [".env"]


@pytest.mark.parametrize(("other", "part"), [("{image: postgres}", True), ("{image: postgres, restart: always}", False)])
def test_a_file_that_only_names_images_is_a_part_of_another_one(other: str, part: bool) -> None:
    found = launch_in(f"services:\n  llm: {{image: 'ollama/ollama:0.9.0'}}\n  db: {other}\n")
    assert (found.open_env, found.container is not None and found.container.open) == (part, part)
