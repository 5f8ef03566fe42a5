"""Env files: which of their values are commands or arguments of an engine."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.lint import check_launches
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, sites
from tests.together import together


class TestCommands:
    @pytest.mark.parametrize(
        "text",
        [
            "SERVE_CMD=vllm serve a/b --port 1",
            'SERVE_CMD="vllm serve a/b --port 1"  # how',
            "export SERVE_CMD='vllm serve a/b --port 1'",
            "command = /opt/venv/bin/vllm serve a/b --port 1",
            "CMD=nohup env A=1 vllm serve a/b --port 1",
            "CMD=\"bash -c 'vllm serve a/b --port 1'\"",
        ],
    )
    def test_a_value_that_starts_an_engine(self, text: str) -> None:
        for name in (".env", "prod.env", "llm.conf", ".env.example"):
            launch = launch_in(text + "\n", name)
            assert (argv(launch), launch.fragment) == (["a/b", "--port", "1"], False)

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ('SERVE_CMD="vllm serve"\nVLLM_ARGS="--model a/b --max-num-seqs 4"\n', ["VLLM_ARGS"]),
            ('SERVE_CMD="vllm serve c/d"\nVLLM_ARGS="--model a/b --max-num-seqs 4"\n', ["SERVE_CMD", "VLLM_ARGS"]),
            ('SERVE_CMD="vllm serve"\n', ["SERVE_CMD"]),
            ('OLLAMA_CMD="ollama serve"\nVLLM_ARGS="--model a/b --max-num-seqs 4"\n', ["OLLAMA_CMD", "VLLM_ARGS"]),
        ],
    )
    def test_a_command_and_its_arguments_in_two_variables_are_one(self, text: str, names: list[str]) -> None:
        assert [launch.name for launch in launches_in(text, "profile.env")] == names

    def test_places_and_environment(self) -> None:
        launch, marks = marked_launch(
            """
            # the server
            VLLM_USE_V1=0
            MODEL=⟦a/b⟧
            SERVE_CMD="vllm serve $MODEL --hf-overrides ⟦'{\\"a\\": 1}'⟧ --port ⟦${PORT}⟧"
            """,
            ".env",
        )
        assert [word.value for word in launch.argv] == ["a/b", "--hf-overrides", '{"a": 1}', "--port", None]
        assert launch.argv[0].text.origin == marks[0]
        assert sites([launch.argv[2], launch.argv[4]]) == marks[1:]
        assert environment(launch) == {"VLLM_USE_V1": "0", "MODEL": "a/b"}
        assert (launch.name, lines(launch)) == ("SERVE_CMD", (4, 4))
        site = launch.env["VLLM_USE_V1"].site
        assert site is not None
        assert site.text == "VLLM_USE_V1=0"

    @pytest.mark.parametrize(
        "text",
        [
            "PROVIDER=vllm",
            "VLLM_URL=http://vllm:8000/v1",
            "BENCH_CMD=vllm bench serve --model a/b",
            "INSTALL=pip install vllm",
            "# SERVE_CMD=vllm serve a/b",
            "NOTE=start it with vllm serve a/b",
            "VLLM_VERSION=0.20.0",
        ],
    )
    def test_a_value_that_does_not(self, text: str) -> None:
        assert launches_in(text + "\n", ".env") == []


class TestArguments:
    @pytest.mark.parametrize(
        ("text", "engine"),
        [
            ("VLLM_ARGS=--max-model-len 8192", "vllm"),
            ("EXTRA_VLLM_ARGS='--enforce-eager'", "vllm"),
            ("SGLANG_EXTRA_OPTS=--tp 2", "sglang"),
            ("LLAMA_CPP_FLAGS=-c 4096 -ngl 99", "llama.cpp"),
            ("LMDEPLOY_OPTIONS=--tp 2", "lmdeploy"),
            ("EXTRA_ARGS=--max-model-len 8192 --enforce-eager", "vllm"),  # the options tell
            ("EXTRA_ARGS=--mem-fraction-static 0.8 # sglang", "sglang"),
        ],
    )
    def test_the_engine(self, text: str, engine: str) -> None:
        launch = launch_in(text + "\n# vllm\n", ".env")
        assert (launch.engine, launch.fragment) == (engine, True)

    def test_places(self) -> None:
        launch, marks = marked_launch(
            'A=1\nVLLM_ARGS="⟦--model⟧ ⟦a/b⟧ \\\n  ⟦--hf-overrides⟧ ⟦\'{\\"x\\": 1}\'⟧"\n',
            ".env",
        )
        assert argv(launch) == ["--model", "a/b", "--hf-overrides", '{"x": 1}']
        assert sites(launch.argv) == marks
        assert (launch.name, lines(launch)) == ("VLLM_ARGS", (2, 3))

    def test_json_without_quotes_of_its_own(self) -> None:
        launch = launch_in('VLLM_ARGS=--speculative-config {"method":"mtp","num_speculative_tokens":2} --port 1\n', ".env")
        assert argv(launch)[1:] == ['{"method":"mtp","num_speculative_tokens":2}', "--port", "1"]

    def test_nested_json_with_blanks_in_quotes(self) -> None:
        text = 'CMD="vllm serve a/b --hf-overrides \'{\\"x\\": {\\"y\\": 1}}\' --port 1"\n'
        assert argv(launch_in(text, ".env")) == ["a/b", "--hf-overrides", '{"x": {"y": 1}}', "--port", "1"]

    def test_an_array_of_a_file_that_a_script_sources(self) -> None:
        text = "VLLM_ARGS=(\n  --model a/b\n  --hf-overrides '{\"x\": 1}'  # more\n)\n"
        launch = launch_in(text, "llm.conf")
        assert argv(launch) == ["--model", "a/b", "--hf-overrides", '{"x": 1}']

    def test_an_image_beside_them_tells_the_release(self) -> None:
        text = "VLLM_IMAGE=vllm/vllm-openai:v0.27.1\nVLLM_ARGS=--swap-space 4\n"
        launch = launch_in(text, ".env")
        assert release(launch) == ("0.27.1", "image")
        found = check_launches(launch.source, [launch], Settings())
        assert [one.rule for one in found] == ["vllm/removed-option"]
        two = launch_in(text + "OTHER_IMAGE=vllm/vllm-openai:v0.10.0\n", ".env")
        assert release(two) == (None, None)

    @together(
        "text",
        [
            "EXTRA_ARGS=--model a/b --port 1 # vllm",  # options of any engine
            "EXTRA_ARGS=--verbose --max-model-len 1 # vllm",  # of none
            "BENCHMARK_ARGS=--max-model-len 8192",
            "VLLM_BENCH_ARGS=--num-prompts 10",
            "VLLM_BUILD_ARGS=--build-arg A=b",
            "VLLM_PORT=-1",
            "LLAMA_ARG_CTX_SIZE=4096 # llama.cpp",
            "JAVA_OPTS=-Xmx1g # vllm",
            "VLLM_ARGS=",
            "VLLM_ARGS=${MORE}",
        ],
    )
    def test_what_is_none(self, text: str) -> None:
        assert launches_in(text + "\n", ".env") == []


@together(
    "name, text",
    [
        ("nginx.conf", "upstream vllm {\n  server vllm:8000;\n}\nserver { location / { proxy_pass http://vllm; } }\n"),
        ("redis.conf", "# cache of vllm\nmaxmemory 1gb\nsave 900 1\n"),
        ("sysctl.conf", "# for vllm\nvm.swappiness = -1\nkernel.shmmax=1\n"),
        ("pytest.ini", "[pytest]\naddopts = --strict-markers -m 'not vllm'\n"),
        ("prometheus.conf", "job_name: vllm\nargs: --web.enable\n"),
        (".env", "VLLM_ARGS=('\nX=(\n"),
        (".env", 'VLLM_ARGS="--model \\\n'),
        (".env", "=\n==\nexport\nvllm=\n"),
    ],
)
def test_other_files(name: str, text: str) -> None:
    assert [argv(launch) for launch in launches_in(text, name)] in ([], [["--model "]])
