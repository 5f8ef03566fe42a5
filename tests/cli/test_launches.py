"""`servelint launches`: what servelint sees, normalised."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.running import Workspace

COMPOSE = """\
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    environment:
      HF_HOME: /cache
      HF_TOKEN:
      LEVEL: ${LEVEL}
    command:
      - --model
      - Qwen/Qwen3-8B
      - --port
      - "8000"
      - --max-model-len
      - ${LENGTH:-4096}
      - --enable-prefix-caching
      - --no-enforce-eager
      - --speculative-config
      - '{"method": "mtp", "num_speculative_tokens": 2, "list": [1, null, true], "n": ${N}}'
      - --served-model-name
      - my model
      - --api-key
      - ${KEY}
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 2, capabilities: [gpu]}]}}}
"""


def launches(workspace: Workspace, text: str, name: str = "run.sh", *options: str) -> list[dict[str, Any]]:
    workspace.file(name, text)
    data = workspace.run("launches", name, "--format", "json", *options).data
    assert data["errors"] == []
    found: list[dict[str, Any]] = data["launches"]
    return found


def launch(workspace: Workspace, text: str, name: str = "run.sh", *options: str) -> dict[str, Any]:
    (found,) = launches(workspace, text, name, *options)
    return found


def test_json(workspace: Workspace) -> None:
    found = launch(workspace, COMPOSE, "deploy/compose.yml")
    judged = found.pop("judged")
    assert found == {
        "path": "deploy/compose.yml",
        "line": 8,
        "end_line": 22,
        "engine": "vllm",
        "version": "0.20.0",
        "version_from": "image",
        "image": "vllm/vllm-openai:v0.20.0",
        "name": "services.llm",
        "argv": [
            "--model",
            "Qwen/Qwen3-8B",
            "--port",
            "8000",
            "--max-model-len",
            "4096",
            "--enable-prefix-caching",
            "--no-enforce-eager",
            "--speculative-config",
            '{"method": "mtp", "num_speculative_tokens": 2, "list": [1, null, true], "n": ${N}}',
            "--served-model-name",
            "my model",
            "--api-key",
            "${KEY}",
        ],
        "env": {"HF_HOME": "/cache", "LEVEL": "${LEVEL}"},
        "config": {
            "model": "Qwen/Qwen3-8B",
            "port": 8000,
            "max-model-len": 4096,
            "enable-prefix-caching": True,
            "enforce-eager": False,
            "speculative-config": {"method": "mtp", "num_speculative_tokens": 2, "list": [1, None, True], "n": None},
            "served-model-name": "my model",
            "api-key": None,
        },
        "fragment": False,
        "gpus": 2,
    }
    assert judged["release"] == {"version": "0.20.0", "how": "image", "assumption": None}
    assert [(one["kind"], one["start"]["line"], one["matters"]) for one in judged["unresolved"]] == [
        ("word", 18, True),
        ("word", 22, False),  # a secret
        ("variable", 6, False),
        ("variable", 7, False),
    ]


def test_text(workspace: Workspace) -> None:
    workspace.file("deploy/compose.yml", COMPOSE)
    ran = workspace.run("launches", "deploy")
    assert (ran.status, ran.err) == (0, "")
    assert (
        ran.out
        == """\
deploy/compose.yml:8: vLLM 0.20.0 (services.llm)
  image vllm/vllm-openai:v0.20.0
  env   HF_HOME=/cache
  env   LEVEL=${LEVEL}
  argv --model Qwen/Qwen3-8B
       --port 8000
       --max-model-len 4096
       --enable-prefix-caching
       --no-enforce-eager
       --speculative-config '{"method": "mtp", "num_speculative_tokens": 2, "list": [1, null, true], "n": ${N}}'
       --served-model-name 'my model'
       --api-key ${KEY}
"""
    )


def test_the_text_hides_secrets(workspace: Workspace) -> None:
    token = "hf_" + "q1w2e3r4t5" * 3
    workspace.file("run.sh", f"export HF_TOKEN={token}\nvllm serve Qwen/Qwen3-8B --api-key s3cr3tvalue99\n")
    said = workspace.run("launches", "run.sh").out
    assert "HF_TOKEN=hf_***" in said
    assert "--api-key ***" in said
    assert token not in said
    assert "s3cr3tvalue99" not in said


class TestConfig:
    @pytest.mark.parametrize(
        ("command", "config"),
        [
            ("vllm serve", {}),
            ("vllm serve Qwen/Qwen3-8B", {"model": "Qwen/Qwen3-8B"}),
            ('vllm serve "$MODEL"', {"model": None}),
            (
                "vllm serve m --gpu_memory_utilization=0.9 -tp 2",
                {"model": "m", "gpu-memory-utilization": 0.9, "tensor-parallel-size": 2},
            ),
            ("vllm serve m --port", {"model": "m", "port": None}),
            ("vllm serve m -sc.method mtp", {"model": "m", "speculative-config.method": "mtp"}),
            ("vllm serve m --speculative-config '{broken'", {"model": "m", "speculative-config": None}),
            ("sglang serve --model-path m --disable-radix-cache", {"model-path": "m", "disable-radix-cache": True}),
            ("llama-server -m a.gguf -ngl 99", {"model": "a.gguf", "gpu-layers": "99"}),
            ("text-generation-launcher --model-id m --port 80", {"model-id": "m", "port": 80}),
        ],
    )
    def test_options_under_their_own_names(self, command: str, config: dict[str, Any], workspace: Workspace) -> None:
        assert launch(workspace, command)["config"] == config


class TestRelease:
    @pytest.mark.parametrize(
        ("text", "options", "version", "version_from"),
        [
            ("pip install vllm==0.19.1\nvllm serve m", [], "0.19.1", "pip"),
            ("vllm serve m", [], None, None),
            ("vllm serve m", ["--engine-version", "vllm=0.19.1"], "0.19.1", "settings"),
            ("vllm serve m", ["--engine-version", "sglang=0.5.9"], None, None),
            ("docker run vllm/vllm-openai:latest --model m", [], None, "image"),
            ("docker run vllm/vllm-openai:latest --model m", ["--engine-version", "vllm=0.19.1"], "0.19.1", "settings"),
            ("docker run vllm/vllm-openai:$TAG --model m", [], None, None),
        ],
    )
    def test_and_what_names_it(
        self, text: str, options: list[str], version: str | None, version_from: str | None, workspace: Workspace
    ) -> None:
        found = launch(workspace, text, "run.sh", *options)
        assert (found["version"], found["version_from"]) == (version, version_from)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("vllm serve m", "run.sh:1: vLLM release not known\n"),
            ("docker run vllm/vllm-openai:latest --model m", "run.sh:1: vLLM newest\n"),
            ("pip install vllm==0.19.1\nvllm serve m", "run.sh:2: vLLM 0.19.1\n"),
        ],
    )
    def test_as_text(self, text: str, said: str, workspace: Workspace) -> None:
        workspace.file("run.sh", text)
        assert workspace.run("launches").out.startswith(said)


class TestOneEach:
    """A launch is listed once, as a plain run of its script starts it."""

    def test_other_runs_of_a_command(self, workspace: Workspace) -> None:
        text = "for m in a b a c; do HF_TOKEN=hf_secret$m vllm serve $m --api-key k$m; done\n"
        found = launch(workspace, text)
        assert found["argv"] == ["a", "--api-key", "***"]
        assert [(one["argv"], one["line"]) for one in found["others"]] == [
            (["b", "--api-key", "***"], 1), (["c", "--api-key", "***"], 1),
        ]  # fmt: skip
        assert "hf_secret" not in str(found)
        assert "2 more runs with other words" in workspace.run("launches", "run.sh").out
        assert "others" not in launch(workspace, "for m in a a; do vllm serve $m; done\n")

    def test_a_command_in_a_loop(self, workspace: Workspace) -> None:
        assert len(launches(workspace, "for port in 1 2 3; do\n  vllm serve m --port $port\ndone\n")) == 1

    def test_a_function_that_is_called_twice(self, workspace: Workspace) -> None:
        found = launch(workspace, 'serve() {\n  vllm serve "$1"\n}\nserve first\nserve second\n')
        assert (found["line"], found["argv"]) == (2, ["first"])

    def test_two_commands(self, workspace: Workspace) -> None:
        found = launches(workspace, "if x; then\n  vllm serve a\nelse\n  vllm serve b\nfi\n")
        assert [(one["line"], one["argv"]) for one in found] == [(2, ["a"]), (4, ["b"])]

    def test_a_service_whose_script_has_branches(self, workspace: Workspace) -> None:
        text = """
services:
  llm:
    image: vllm/vllm-openai:v0.20.0
    entrypoint: [bash, -c]
    command:
      - |
        if [ -n "$$DEBUG" ]; then
          vllm serve a --enforce-eager
        else
          vllm serve a
        fi
"""
        assert launch(workspace, text, "compose.yml")["argv"] == ["a"]

    def test_services_that_share_a_command(self, workspace: Workspace) -> None:
        text = (
            "x-command: &command [--model, m]\nservices:\n"
            "  a: {image: 'vllm/vllm-openai:v0.20.0', command: *command}\n"
            "  b: {image: 'vllm/vllm-openai:v0.20.0', command: *command}\n"
        )
        assert [one["name"] for one in launches(workspace, text, "compose.yml")] == ["services.a", "services.b"]


class TestWords:
    @pytest.mark.parametrize(
        ("command", "argv"),
        [
            ('vllm serve m "$@"', ["m"]),
            ("vllm serve m $EXTRA", ["m", "${EXTRA}"]),
            ("vllm serve m ${X:+--enforce-eager}", ["m"]),
            ("vllm serve m --api-key ''", ["m", "--api-key", ""]),
            ("vllm serve m --port $(free-port)", ["m", "--port", "$(free-port)"]),
        ],
    )
    def test_what_a_plain_run_does_not_add_is_left_out(self, command: str, argv: list[str], workspace: Workspace) -> None:
        assert launch(workspace, command)["argv"] == argv

    def test_the_terminal_is_not_steered(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "export A=$'\\x1b[31m'\nB='\x1b[31m' vllm serve '\x1b]0;title\x07' --port '\u202e'\n")
        out = workspace.run("launches").out
        assert all(char.isprintable() for char in out.replace("\n", ""))


def test_the_same_answer_every_time(workspace: Workspace) -> None:
    names = [f"VLLM_{name}" for name in "ZYXABCMN"]
    workspace.file("run.sh", "".join([f"export {name}=1\n" for name in names]) + "INLINE=1 vllm serve m\n")
    for seed in ("1", "2", "3"):
        ran = subprocess.run(
            [sys.executable, "-m", "servelint", "launches", "--format", "json"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        (found,) = json.loads(ran.stdout)["launches"]
        assert list(found["env"]) == [*names, "INLINE"]


class TestErrors:
    def test_a_file_that_cannot_be_read(self, workspace: Workspace) -> None:
        workspace.file("bad.yml", "services: [ # vllm\n")
        workspace.file("run.sh", "vllm serve m\n")
        ran = workspace.run("launches", "--format", "json")
        assert ran.status == 2
        assert [one["path"] for one in ran.data["launches"]] == ["run.sh"]
        assert [(error["path"], error["line"]) for error in ran.data["errors"]] == [("bad.yml", 2)]
        text = workspace.run("launches")
        assert text.status == 2
        assert text.err.startswith("error: bad.yml:2:1: not valid YAML: ")

    def test_no_launch(self, workspace: Workspace) -> None:
        assert workspace.run("launches") == (0, "", "servelint: no launch found\n")
        assert workspace.run("launches", "--format", "json").data == {"launches": [], "errors": []}

    def test_standard_input_and_a_command_line(self, workspace: Workspace) -> None:
        ran = workspace.run("launches", "-", "--stdin-filename", "x.sh", "--format", "json", stdin=b"vllm serve m\n")
        assert [one["path"] for one in ran.data["launches"]] == ["x.sh"]
        ran = workspace.run("launches", "--command", "vllm serve m", "--format", "json")
        assert [one["argv"] for one in ran.data["launches"]] == [["m"]]


def test_parts_of_launches_are_listed_and_what_never_starts_is_not(workspace: Workspace) -> None:
    workspace.file("serve.env", "VLLM_ARGS=--max-model-len 4096\n")
    workspace.file("config.yaml", "model: m\nmax-model-len: 4096\n")
    workspace.file("run.sh", "bash -c vllm serve m\n")
    found = workspace.run("launches", "--format", "json").data["launches"]
    assert [(one["path"], one["argv"], one["fragment"]) for one in found] == [
        ("config.yaml", ["--model", "m", "--max-model-len", "4096"], True),
        ("serve.env", ["--max-model-len", "4096"], True),
    ]


def test_words_that_a_branch_adds_or_replaces(workspace: Workspace) -> None:
    script = (
        'T=1\nif [ -n "$A" ]; then R="--enforce-eager --seed 1"; fi\nif [ "$B" = x ]; then T=2; fi\nvllm serve m $R --tp $T\n'
    )
    found = launch(workspace, "R=\n" + script)
    assert found["argv"] == ["m", "--tp", "1"]
    first = {"line": 3, "column": 4, "text": '[ -n "$A" ]', "taken": True}
    second = {"line": 4, "column": 4, "text": '[ "$B" = x ]', "taken": True}
    assert found["possible"] == [
        {"words": ["--enforce-eager", "--seed", "1"], "branch": first},
        {"words": ["2"], "instead_of": ["1"], "branch": second},
        {"words": ["--enforce-eager", "--seed", "1", "2"], "instead_of": ["1"], "branch": second, "within": [first]},
    ]


def test_a_secret_of_a_branch_is_masked(workspace: Workspace) -> None:
    found = launch(workspace, 'R=\n[ "$A" = 1 ] && R="--api-key sk-verysecretkey123"\nvllm serve m $R\n')
    assert found["possible"][0]["words"][0] == "--api-key"
    assert "verysecret" not in json.dumps(found)


def test_an_optional_key_is_a_possible_word(workspace: Workspace) -> None:
    found = launch(workspace, 'R=()\nif [ -n "${KEY:-}" ]; then R+=(--api-key "$KEY"); fi\nvllm serve m "${R[@]}"\n')
    assert [one["words"] for one in found["possible"]] == [["--api-key", "${KEY}"]]


def test_a_function_that_is_given_whole_commands(workspace: Workspace) -> None:
    found = launches(workspace, 'start() { "$@" & }\nstart vllm serve a --port 1\nstart vllm serve b --port 2\n')
    assert [one["argv"][0] for one in found] == ["a", "b"]
    assert len(launches(workspace, "start() { vllm serve $1 & }\nstart a\nstart b\n")) == 1
