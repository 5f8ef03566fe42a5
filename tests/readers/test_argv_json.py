"""JSON recipes: which of their strings and arrays start an engine."""

from __future__ import annotations

import json
import time
from typing import Any, ClassVar

import pytest

from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.readers import read as read_all
from servelint.readers.argv_json import read
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, shown, sites, spans


def written(recipe: Any) -> str:
    return json.dumps(recipe, indent=2) + "\n"


class TestArrays:
    def test_a_list_of_words(self) -> None:
        launch, marks = marked_launch(
            """
            {
              "model": "x",
              "argv": [
                "vllm", "serve",
                "⟦Qwen/Qwen3-8B⟧",
                "⟦--speculative-config⟧", "⟦{\\"method\\": \\"mtp\\"}⟧",
                "--port", ⟦8000⟧
              ]
            }
            """,
            "recipe.json",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--speculative-config", '{"method": "mtp"}', "--port", "8000"]
        assert [launch.argv[index].text.span() for index in (0, 1, 2, 4)] == marks
        assert lines(launch) == (3, 8)
        assert launch.name == "argv"

    @pytest.mark.parametrize(
        ("recipe", "name"),
        [
            ([["vllm", "serve", "a/b"]], "[0]"),
            ({"a": {"b": [{"c": ["vllm", "serve", "a/b"]}]}}, "a.b[0].c"),
            ({"cmd": ["vllm", "serve", "a/b"]}, "cmd"),
            ({"run": ["bash", "-c", "vllm serve a/b"]}, "run"),
            ({"script": ["pip install vllm", "vllm serve a/b"]}, "script"),
            ({"command": ["env", "A=1", "vllm", "serve", "a/b"], "description": "x"}, "command"),
        ],
    )
    def test_wherever_it_stands(self, recipe: Any, name: str) -> None:
        launch = launch_in(written(recipe), "recipe.json")
        assert (launch.name, argv(launch)) == (name, ["a/b"])

    @pytest.mark.parametrize(
        "recipe",
        [
            {"keywords": ["vllm", "serve", "a/b"]},
            {"stack": ["vllm", "serve", "gpu"]},
            {"cmd": ["vllm", "bench", "serve", "--model", "a/b"]},
            {"cmd": ["pip", "install", "vllm"]},
            {"words": ["--model", "a/b", "vllm"]},
            {"lines": ["vllm serve a/b\n", "done\n"]},
            {"argv": [["vllm"], "serve", "a/b"]},
        ],
    )
    def test_what_is_none(self, recipe: Any) -> None:
        assert launches_in(written(recipe), "recipe.json") == []


class TestStrings:
    @pytest.mark.parametrize(
        "recipe",
        [
            {"cmd": "vllm serve a/b"},
            {"command": "CUDA_VISIBLE_DEVICES=0 vllm serve a/b && true"},
            {"launch_command": "cd /srv; nohup vllm serve a/b > log 2>&1 &"},
            {"scripts": {"serve": "vllm serve a/b", "build": "tsc"}},
            {"postStartCommand": {"server": "vllm serve a/b"}},
            {"serveCommand": "bash -lc 'vllm serve a/b'"},
        ],
    )
    def test_a_key_that_means_a_command(self, recipe: Any) -> None:
        assert argv(launch_in(written(recipe), "recipe.json")) == ["a/b"]

    def test_options_on_lines_of_their_own(self) -> None:
        (launch,) = launches_in(
            json.dumps({"load_command": "llama-server\n--model /m.gguf\n--ctx-size 4096 -np 1"}), "meta.json"
        )
        assert [word.value for word in launch.argv] == ["--model", "/m.gguf", "--ctx-size", "4096", "-np", "1"]
        assert launch.cut is None

    def test_places(self) -> None:
        launch, marks = marked_launch('{\n "scripts": {\n  "serve": "vllm serve ⟦a/b⟧ --port ⟦$PORT⟧"\n }\n}\n', "package.json")
        assert argv(launch) == ["a/b", "--port", "${PORT}"]
        assert [launch.argv[0].text.span(), launch.argv[2].text.span()] == marks
        assert (launch.name, launch.line) == ("scripts.serve", 3)

    @pytest.mark.parametrize(
        "recipe",
        [
            {"description": "vllm serve a/b"},
            {"notes": ["run vllm serve a/b"]},
            {"content": "# vllm serve a/b"},
            {"command": "vllm bench serve --model a/b"},
            {"tool_result": "$ vllm serve a/b"},
        ],
    )
    def test_prose(self, recipe: Any) -> None:
        assert launches_in(written(recipe), "recipe.json") == []


class TestCommandWithArguments:
    def test_an_editor_s_task(self) -> None:
        launch, marks = marked_launch(
            """
            {
              // started by hand
              "version": "2.0.0",
              "tasks": [
                {
                  "label": "serve",
                  "command": "vllm",
                  "args": ["serve", "⟦${input:model}⟧", {"value": "⟦--port⟧", "quoting": "strong"}, "8000"],
                  "options": {"env": {"VLLM_USE_V1": "0"}},
                },
              ],
            }
            """,
            "tasks.json",
        )
        assert argv(launch) == ["${input:model}", "--port", "8000"]
        assert launch.argv[0].value is None
        assert spans(launch.argv[:2]) == marks
        assert environment(launch) == {"VLLM_USE_V1": "0"}
        assert (launch.name, lines(launch)) == ("tasks[0]", (7, 8))

    @pytest.mark.parametrize(
        "fields",
        [
            {"module": "vllm.entrypoints.openai.api_server", "args": ["--model", "a/b"]},
            {"program": "python", "args": ["-m", "vllm.entrypoints.openai.api_server", "--model", "a/b"]},
            {"command": "python -m vllm.entrypoints.openai.api_server", "args": ["--model", "a/b"]},
            {"command": "docker", "args": ["run", "--gpus", "all", "vllm/vllm-openai:v0.20.0", "--model", "a/b"]},
            {"command": "uv", "args": "run vllm serve --model a/b"},
        ],
    )
    def test_the_words_are_joined(self, fields: dict[str, Any]) -> None:
        assert argv(launch_in(written({"configurations": [fields]}), "launch.json")) == ["--model", "a/b"]

    @pytest.mark.parametrize(
        "fields",
        [
            {"command": "npx", "args": ["-y", "some-server", "--backend", "vllm"]},
            {"command": "python", "args": ["bench.py", "--backend", "vllm", "--model", "a/b"]},
            {"module": "vllm.benchmarks.serve", "args": ["--model", "a/b"]},
        ],
    )
    def test_another_program(self, fields: dict[str, Any]) -> None:
        assert launches_in(written({"servers": {"vllm": fields}}), "launch.json") == []


class TestContainers:
    def test_a_task_definition(self) -> None:
        launch = launch_in(
            written(
                {
                    "containerDefinitions": [
                        {"name": "proxy", "image": "nginx", "command": ["nginx"]},
                        {
                            "name": "llm",
                            "image": "vllm/vllm-openai:v0.20.0",
                            "command": ["--model", "a/b"],
                            "environment": [{"name": "HF_HOME", "value": "/models"}, {"name": "TOKEN", "valueFrom": "x"}],
                        },
                    ]
                }
            ),
            "task.json",
        )
        assert argv(launch) == ["--model", "a/b"]
        assert release(launch) == ("0.20.0", "image")
        assert environment(launch) == {"HF_HOME": "/models", "TOKEN": None}
        assert launch.name == "containerDefinitions[1]"

    @pytest.mark.parametrize(
        "fields",
        [
            {"imageName": "vllm/vllm-openai:v0.20.0", "dockerArgs": "--model a/b", "env": {"A": "1"}},
            {"image": "vllm/vllm-openai:v0.20.0", "entryPoint": ["vllm", "serve"], "args": ["--model", "a/b"], "env": ["A=1"]},
            {"docker_image": "vllm/vllm-openai:v0.20.0", "command": "--model a/b", "env": {"A": 1}},
            {"image": "python:3.12", "command": "vllm serve --model a/b", "env": {"A": "1"}},
        ],
    )
    def test_other_names(self, fields: dict[str, Any]) -> None:
        launch = launch_in(written(fields), "template.json")
        assert argv(launch) == ["--model", "a/b"]
        assert environment(launch) == {"A": "1"}

    @pytest.mark.parametrize(
        "fields",
        [
            {"image": "vllm/vllm-openai:v0.20.0"},
            {"dockerImage": "vllm/vllm-openai:v0.20.0", "dockerArgs": "--trust-remote-code"},  # the rest comes from elsewhere
            {"image": "vllm/vllm-openai:v0.20.0", "command": ["bash"]},
            {"image": "nginx", "args": ["--model", "vllm"]},
        ],
    )
    def test_what_starts_nothing_by_itself(self, fields: dict[str, Any]) -> None:
        assert launches_in(written(fields), "template.json") == []


class TestUnknowns:
    @pytest.mark.parametrize("value", ["$MODEL", "${MODEL}", "{model}", "{{ model }}", "${env:MODEL}", "${input:m}"])
    def test_what_the_reader_of_the_recipe_fills_in(self, value: str) -> None:
        for recipe in ({"argv": ["vllm", "serve", value, "--port", "1"]}, {"cmd": f'vllm serve "{value}" --port 1'}):
            launch = launch_in(written(recipe), "recipe.json")
            assert [word.value for word in launch.argv] == [None, "--port", "1"]

    def test_json_in_a_word_is_no_placeholder(self) -> None:
        launch = launch_in(
            written({"argv": ["vllm", "serve", "a/b", "--hf-overrides", '{"a": {"b": 1}}', "--x", "{}"]}), "a.json"
        )
        assert argv(launch)[2] == '{"a": {"b": 1}}'
        assert all(word.value is not None for word in launch.argv)


class TestRecords:
    """What was recorded of a run that is over starts nothing."""

    COMMAND = ("vllm", "serve", "a/b")

    @pytest.mark.parametrize(
        "recipe",
        [
            {"command": COMMAND, "exit_code": 0},
            {"command": " ".join(COMMAND), "elapsed_s": 4.2},
            {"server": {"argv": COMMAND}, "output_throughput": 100.0},
            {"results": [{"command": COMMAND}]},
            {"runs": {"one": {"command": COMMAND}}},
            {"name": "x", "results": {"tps": 1}, "setup": {"command": COMMAND}},
            {"messages": [{"command": COMMAND}]},
        ],
    )
    def test_a_record(self, recipe: Any) -> None:
        assert launches_in(written(recipe), "recipe.json") == []

    @pytest.mark.parametrize("recipe", [{"command": COMMAND, "results": "out/"}, {"command": COMMAND, "timeout": 4}])
    def test_a_recipe(self, recipe: Any) -> None:
        assert len(launches_in(written(recipe), "recipe.json")) == 1


def test_the_brackets_and_quotes_of_a_word() -> None:
    launch, marks = marked_launch('{"argv": ["vllm", "serve", ⟦"a/b"⟧]}', "recipe.json")
    assert sites(launch.argv) == marks


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('["vllm", "serve", "m"', "1:22: not valid JSON: a comma or a closing bracket is expected"),
        ("{'cmd': 'vllm serve m'}", "1:2: not valid JSON: a key in double quotes is expected"),
        ('{\n  "cmd": "vllm serve m",\n  "x": }', "3:8: not valid JSON: not a JSON value"),
    ],
)
def test_a_recipe_that_is_no_json(text: str, place: str) -> None:
    assert [shown(problem) for problem in read_all(Source("recipe.json", text)).problems] == [f"recipe.json:{place}"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"vllm": }', "recipe.json"),
        ('{"a": 1} {"cmd": "vllm serve m"}', "recipe.json"),
        ('{"cmd": "vllm serve {{ model }}", }}', "recipe.json"),
        ("vllm serve m", "recipe.json"),
        ("{cmd: 'vllm serve m'}", "recipe.json5"),
    ],
)
def test_what_need_not_be_json(text: str, name: str) -> None:
    found = read_all(Source(name, text))
    assert (found.launches, found.problems) == ([], [])


def test_data_is_not_read_through() -> None:
    start = time.process_time()
    text = '{"cmd": "vllm serve m", "rows": [' + '{"a": [1, 2], "b": "vllm"},' * 60_000 + "1]}"
    assert read(Source("data.json", text), Neighbours(None)) == []
    assert time.process_time() - start < 5


class TestBlueprint:
    """A recipe of Oracle's AI blueprints: https://github.com/oracle-quickstart/oci-ai-blueprints."""

    RECIPE: ClassVar[Any] = {
        "recipe_id": "llm_inference_nvidia",
        "recipe_image_uri": "docker.io/vllm/vllm-openai:v0.9.1",
        "recipe_container_env": [{"key": "model_name", "value": "a/b"}, {"key": "HF_HOME", "value": "/x"}],
        "recipe_container_command_args": ["--model", "$(model_name)", "--seed", "$(OTHER)"],
    }

    def test_a_recipe(self) -> None:
        launch = launch_in(written(self.RECIPE), "recipe.json")
        assert argv(launch) == ["--model", "a/b", "--seed", "$(OTHER)"]
        assert environment(launch)["HF_HOME"] == "/x"
        assert launch.release.release == "0.9.1"

    def test_a_group_of_recipes(self) -> None:
        found = launches_in(written({"deployment_group": {"deployments": [{"recipe": self.RECIPE}] * 2}}), "recipe.json")
        assert [launch.release.release for launch in found] == ["0.9.1"] * 2

    def test_one_that_builds(self) -> None:
        recipe = {**self.RECIPE, "recipe_image_uri": "docker.io/nginx:1"}
        assert launches_in(written(recipe), "recipe.json") == []


def test_the_one_string_of_a_nosana_job_is_a_command_line() -> None:
    args = {"image": "openmmlab/lmdeploy:v0.5.3-cu12", "cmd": ["lmdeploy serve api_server m --tp 2"], "gpu": True}
    job = {"type": "container", "ops": [{"type": "container/run", "id": "a", "args": args}]}
    (launch,) = launches_in(json.dumps(job), "job.json")
    assert (launch.started, [word.value for word in launch.argv]) == (True, ["m", "--tp", "2"])


@pytest.mark.parametrize("key", ["load_command", "cmd", "start_command"])
def test_options_below_the_program_are_options_of_its_command(key: str) -> None:
    """As llama-swap reports the command of a running model."""
    line = "/opt/llama-server\n--model /m/a.gguf\n--ctx-size 4096 --parallel 1\n-fa on"
    launch = launch_in(json.dumps({"model": "a", key: line}), "meta.json")
    assert argv(launch) == ["--model", "/m/a.gguf", "--ctx-size", "4096", "--parallel", "1", "-fa", "on"]


def test_a_script_in_one_string_keeps_its_lines() -> None:
    script = "cd /srv\nvllm serve a/b \\\n  --port 8001\ncurl localhost:8001/health"
    assert argv(launch_in(json.dumps({"command": script}), "job.json")) == ["a/b", "--port", "8001"]
