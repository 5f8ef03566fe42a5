"""YAML of tools that nobody told of: commands under keys that mean one."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.lint import check_launches
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans
from tests.together import together


def launch(text: str) -> Launch:
    return launch_in(dedent(text), "file.yaml")


class TestCommands:
    @together(
        "key",
        [
            "command",
            "cmd",
            "run",
            "script",
            "start_command",
            "startCommand",
            "serve",
            "launch",
            "entrypoint",
            "exec",
            "vllm-command",
        ],
    )
    def test_keys(self, key: str) -> None:
        found, marks = marked_launch(f"a:\n  b:\n    {key}: vllm serve \u27e6m\u27e7 --port 8000\n", "file.yaml")
        assert argv(found) == ["m", "--port", "8000"]
        assert spans(found.argv[:1]) == marks
        assert (found.name, lines(found)) == ("a.b", (3, 3))

    @together(
        "key", ["expected_command", "description", "example", "stop_command", "prompt", "title", "help", "vllm_args", "model"]
    )
    def test_keys_that_mean_none(self, key: str) -> None:
        assert launches_in(f"a:\n  {key}: vllm serve m\n", "file.yaml") == []

    @pytest.mark.parametrize(
        "value",
        [
            "[vllm, serve, m]",
            "[bash, -c, vllm serve m]",
            "['cd /srv', 'vllm serve m']",
            "'cd /srv && vllm serve m'",
            "[[cd, /srv], [vllm, serve, m]]",
            "[cd /srv, [vllm, serve, m]]",
        ],
    )
    def test_lists(self, value: str) -> None:
        assert argv(launch(f"command: {value}\n")) == ["m"]

    def test_what_is_inside_of_expectations(self) -> None:
        assert launches_in("tests:\n  - expected:\n      command: vllm serve m\n", "file.yaml") == []

    def test_tests_of_a_chart(self) -> None:
        assert launches_in("suite: a\ntests:\n  - set: {command: vllm serve m}\n", "file.yaml") == []

    @pytest.mark.parametrize(
        "text",
        [
            "server: {model: vllm, tensor_parallel_size: 8}\n",
            "command: vllm bench serve --model m\n",
            "command: pip install vllm\n",
            "features:\n  a:\n    args: [--speculative-config, '{}']\nengine: vllm\n",
            "image: vllm/vllm-openai:v0.20.0\nmodel: m\n",
            "run: [pytest, tests/vllm]\n",
        ],
    )
    def test_what_starts_nothing(self, text: str) -> None:
        assert launches_in(text, "file.yaml") == []


class TestSurroundings:
    def test_the_environment_of_the_mappings_around(self) -> None:
        found = launch("""
            env: {A: top, B: top}
            processes:
              llm:
                environment: [B=process, C]
                command: vllm serve $MODEL
                env_vars: {MODEL: m}
        """)
        assert environment(found) == {"A": "top", "B": "process", "C": None, "MODEL": "m"}
        assert argv(found) == ["m"]

    def test_the_image_around(self) -> None:
        found = launch("""
            base_image: {image: 'vllm/vllm-openai:v0.20.0'}
            docker_server: {start_command: vllm serve m}
        """)
        assert release(found) == ("0.20.0", "image")

    def test_a_container(self) -> None:
        found = launch("""
            jobs:
              - docker_image: registry.example/house:1
                args: [vllm, serve, m]
                env: [{name: A, value: '1'}]
        """)
        assert (found.name, argv(found), environment(found)) == ("jobs[0]", ["m"], {"A": "1"})
        assert found.image is not None
        assert found.image.value == "registry.example/house:1"

    def test_a_container_with_command_and_arguments(self) -> None:
        assert argv(launch("docker_image: a\ncommand: [vllm]\nargs: [serve, m]\n")) == ["m"]
        assert argv(launch("docker_image: a\nentrypoint: [vllm, serve]\ncommand: [m]\n")) == ["m"]

    def test_what_an_earlier_step_installs(self) -> None:
        steps = "steps:\n  - script: pip install vllm==0.20.0\n  - script: vllm serve m\n"
        assert release(launch(steps)) == ("0.20.0", "pip")

    def test_what_setup_installs_wherever_it_stands(self) -> None:
        assert release(launch("run: vllm serve m\nsetup: pip install vllm==0.20.0\n")) == ("0.20.0", "pip")

    def test_what_a_later_step_or_another_place_installs(self) -> None:
        steps = (
            "steps:\n  - script: vllm serve m\n  - script: pip install vllm==0.20.0\nother: {setup: pip install vllm==0.19.0}\n"
        )
        assert release(launch(steps)) == (None, None)

    def test_expressions_are_unknown(self) -> None:
        found = launch("tasks:\n  serve:\n    cmds:\n      - vllm serve {{.MODEL}} --port {port}\n")
        assert argv(found) == ["{{.MODEL}}", "--port", "{port}"]
        assert [word.value is None for word in found.argv] == [True, False, True]


class TestMarkdown:
    def test_fences_in_a_scalar(self) -> None:
        found, marks = marked_launch(
            """
            model: m
            guide: |
              ## Launch

              - Start it:

                ```bash
                vllm serve \u27e6m\u27e7 \\
                  --port 8000
                ```
            """,
            "models.yaml",
        )
        assert argv(found) == ["m", "--port", "8000"]
        assert spans(found.argv[:1]) == marks
        assert lines(found) == (8, 9)

    def test_prose_in_a_scalar(self) -> None:
        assert launches_in("guide: |\n  Start it:\n\n  vllm serve m\n", "models.yaml") == []


class TestFiles:
    def test_files_that_are_written_out(self) -> None:
        found, marks = marked_launch(
            """
            write_files:
              - path: /etc/systemd/system/llm.service
                content: |
                  [Service]
                  Environment=A=1
                  ExecStart=/usr/bin/vllm serve \u27e6m\u27e7
            runcmd:
              - [systemctl, start, llm]
            """,
            "user-data.yaml",
        )
        assert (argv(found), environment(found)) == (["m"], {"A": "1"})
        assert spans(found.argv) == marks

    def test_of_a_kind_that_starts_nothing(self) -> None:
        text = "write_files:\n  - path: /srv/notes.txt\n    content: vllm serve m\n"
        assert launches_in(text, "user-data.yaml") == []


class TestSize:
    def test_aliases_that_grow(self) -> None:
        lines = ["a0: &a0 {command: vllm serve m}"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
        assert launches_in("\n".join(lines), "file.yaml") == []

    def test_aliases_that_do_not(self) -> None:
        assert len(launches_in("a: &a {command: vllm serve m}\nb: {c: *a}\n", "file.yaml")) == 2

    def test_a_document_in_itself(self) -> None:
        assert launches_in("a: &a\n  command: vllm serve m\n  b: *a\n", "file.yaml") == []


class TestOptionsBelowEachOther:
    @pytest.mark.parametrize("style", [">", "|", ">-"])
    def test_an_unknown_reader_may_split_them_at_white_space(self, style: str) -> None:
        lines = ("vllm serve m", "    --port 8000", "    --speculative-config", '    \'{"method": "ngram"}\'')
        text = f"server_cmd: {style}\n" + "".join([f"  {line}\n" for line in lines])
        (launch,) = launches_in(text, "case.yaml")
        assert argv(launch) == ["m", "--port", "8000", "--speculative-config", '{"method": "ngram"}']
        assert launch.cut is None

    def test_one_that_continues_its_lines_is_cut_where_it_does_not(self) -> None:
        text = "server_cmd: |\n  vllm serve m \\\n      --port 8000\n      --seed 1\n"
        (launch,) = launches_in(text, "case.yaml")
        assert launch.cut is not None


class TestClouds:
    def test_a_step_of_cloud_build(self) -> None:
        found = launch(
            """
            steps:
              - name: gcr.io/cloud-builders/docker
                args: [run, -d, "vllm/vllm-openai:v0.9.0", --model, m]
            """
        )
        assert argv(found) == ["--model", "m"]
        assert launches_in("steps:\n  - name: vllm\n    args: [run, 'vllm/vllm-openai:v0.9.0']\n", "file.yaml") == []

    def test_another_entry_point(self) -> None:
        found = launch(
            """
            steps:
              - name: gcr.io/google.com/cloudsdktool/cloud-sdk
                entrypoint: gcloud
                args: [run, deploy, llm, --image, "vllm/vllm-openai:v0.9.0", "--args=--model=m,--port=8000"]
            """
        )
        assert argv(found) == ["--model=m", "--port=8000"]

    def test_user_data_of_cloudformation(self) -> None:
        found = launch(
            """
            Resources:
              Server:
                Type: AWS::EC2::Instance
                Properties:
                  UserData:
                    Fn::Base64: !Sub |
                      #!/bin/bash
                      docker run -d vllm/vllm-openai:v0.9.0 --model ${Model}
            """
        )
        assert argv(found) == ["--model", "${Model}"]

    def test_a_container_of_cloudformation(self) -> None:
        found = launch(
            """
            Resources:
              Task:
                Type: AWS::ECS::TaskDefinition
                Properties:
                  ContainerDefinitions:
                    - Name: llm
                      Image: vllm/vllm-openai:v0.9.0
                      Command: [--model, !Ref Model]
            """
        )
        assert release(found) == ("0.9.0", "image")
        assert not found.argv[1].text.known


def test_lines_that_a_program_fills_in() -> None:
    text = """
        apiVersion: v1
        kind: Pod
        spec:
          containers:
            - name: a
              image: vllm/vllm-openai:v0.9.0
              args: [--model, m]
        {region}
          restartPolicy: Always
        """
    assert argv(launch_in(text, "pod.yaml.tpl")) == ["--model", "m"]


@pytest.mark.parametrize(
    "keys", ["image_repo: {}\n  image_tag: {}", "imageRepository: {}\n  imageTag: {}", "image_name: {}:{}"]
)
def test_an_image_in_parts(keys: str) -> None:
    text = "engine:\n  " + keys.format("vllm/vllm-openai", "v0.9.0") + "\n  command: [--model, m, --dtype, auto]\n"
    found = launch(text)
    assert argv(found) == ["--model", "m", "--dtype", "auto"]
    assert release(found) == ("0.9.0", "image")


def test_parts_of_an_image_without_words_for_it() -> None:
    assert launches_in("engine:\n  image_repo: vllm/vllm-openai\n  image_tag: v0.9.0\n", "x.yaml") == []


@pytest.mark.parametrize("key", ["customCommand", "custom_command", "overrideCommand", "default_cmd"])
def test_a_command_in_place_of_a_default(key: str) -> None:
    found = launch(f"decode:\n  vllm:\n    {key}: |\n      export A=1\n      vllm serve m --port 8000\n")
    assert argv(found) == ["m", "--port", "8000"]


def test_options_in_lines_of_their_own() -> None:
    found = launch(
        "x:\n  image: house/llamacpp\n  command: |\n    /app/llama-server\n    -m /m.gguf\n    --port 8080\n    --metrics\n"
    )
    assert argv(found) == ["-m", "/m.gguf", "--port", "8080", "--metrics"]


def test_commands_in_lines_of_their_own() -> None:
    assert argv(launch("run: |\n  vllm serve m\n  echo -n done\n")) == ["m"]


@together(
    "image, found",
    [
        ("image: vllm/vllm-openai:v0.9.0", "0.9.0"),
        ("container: vllm/vllm-openai:v0.9.0", "0.9.0"),
        ("image: {repository: vllm/vllm-openai, tag: v0.9.0}", "0.9.0"),
        ("image: {repository: vllm/vllm-openai, tag: ''}", None),
        ("image: {repository: 'vllm/vllm-openai:v0.9.0'}", "0.9.0"),
        ("image: {repository: {}, name: 'vllm/vllm-openai:v0.9.0'}", "0.9.0"),
        ("image: {image: 'vllm/vllm-openai:v0.9.0', name: x}", "0.9.0"),
        ("image_uri: vllm/vllm-openai:v0.9.0", "0.9.0"),
        ("imageUri: vllm/vllm-openai:v0.9.0", "0.9.0"),
        ("docker_image: vllm/vllm-openai:v0.9.0", "0.9.0"),
        ("container_image: vllm/vllm-openai:v0.9.0", "0.9.0"),
        ("base_image: vllm/vllm-openai:v0.9.0", "0.9.0"),
        ("picture: vllm/vllm-openai:v0.9.0", None),
    ],
)
def test_the_image_of_a_command(image: str, found: str | None) -> None:
    assert release(launch(f"a:\n  {image}\n  b: {{run: vllm serve m}}\n"))[0] == found


@together(
    "text, count",
    [
        ("openapi: 3.1.0\nrun: vllm serve m\n", 0),
        ("suite: a\nrun: vllm serve m\n", 1),
        ("columns: []\neach: {}\nrows: [{run: vllm serve m}]\n", 0),
        ("columns: []\nrows: [{run: vllm serve m}]\n", 1),
        ("examples: {bad: [{run: vllm serve m}], good: []}\n", 0),
        ("examples: {bad: [{run: vllm serve m}]}\n", 0),
        ("examples: {bad: [{run: vllm serve m}], best: []}\n", 1),
        ("examples: {}\nrun: vllm serve m\n", 1),
    ],
)
def test_documents_whose_commands_nobody_starts(text: str, count: int) -> None:
    assert len(launches_in(text, "file.yaml")) == count


@together("key", ["expected", "assertions", "prompt", "message", "changelog", "description", "nav", "docs", "doc", "readme"])
def test_nothing_in_a_text_for_readers_is_started(key: str) -> None:
    assert launches_in(f"a:\n  {key}: [{{run: vllm serve m}}]\n", "file.yaml") == []
    assert len(launches_in(f"a:\n  x_{key}: [{{run: vllm serve m}}]\n", "file.yaml")) == 1


def test_the_place_and_the_name_of_each_command() -> None:
    text = "run: [vllm, serve, a]\njobs:\n  - x: {command: [vllm, serve, b]}\n  - - run: vllm serve c\n"
    found = [(one.name, argv(one), one.site.text) for one in launches_in(text, "file.yaml")]
    assert found == [
        ("run", ["a"], "run: [vllm, serve, a]"),
        ("jobs[0].x", ["b"], "command: [vllm, serve, b]"),
        ("jobs[1][0]", ["c"], "vllm serve c"),
    ]


def test_a_list_of_lines_and_of_words() -> None:
    text = "image: vllm/vllm-openai:v0.9.0\nruncmd:\n  - pip install vllm==0.8.5\n  - [vllm, serve, a]\n  - vllm serve b\n"
    found = launches_in(text, "file.yaml")
    assert [(one.name, argv(one)) for one in found] == [("runcmd", ["a"]), ("runcmd #2", ["b"])]


def test_the_words_of_a_container_in_each_of_its_keys() -> None:
    for keys in (
        "command: [--model, m]",
        "cmd: [--model, m]",
        "args: [--model, m]",
        "args: --model m",
        "command: ['--model', m]",
    ):
        found = launch(f"jobs:\n  - docker_image: vllm/vllm-openai:v0.9.0\n    {keys}\n")
        assert (found.name, argv(found), found.site.text) == ("jobs[0]", ["--model", "m"], keys)
    both = launch("docker_image: vllm/vllm-openai:v0.9.0\ncommand: [vllm]\ncmd: [x]\nargs: [serve, m]\n")
    assert (both.name, argv(both), both.site.text) == ("command", ["m"], "command: [vllm]\ncmd: [x]\nargs: [serve, m]")


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("guide.yaml", '{"kv_connector": "NixlConnector", "kv_role": "kv_both"${accelerator.kvBufferJson}}', False),
        ("guide.yaml", '{"kv_connector": "NixlConnector", "kv_role": "kv_both", "kv_buffer_size": $(BYTES)}', False),
        ("guide.yaml", '{"kv_connector": "NixlConnector", "kv_role": ${roles.prefill.name}}', False),
        ("guide.yaml", '{"kv_connector": "NixlConnector", "kv_role": kv_both}', True),
        ("start.sh", '{"kv_connector": "NixlConnector", "kv_role": "kv_both", "kv_buffer_size": $(BYTES)}', True),
    ],
)
def test_what_another_program_fills_in_is_unknown(name: str, value: str, refused: bool) -> None:
    line = f"vllm serve Qwen/Qwen3-8B --kv-transfer-config '{value}'\n"
    text = line if name.endswith(".sh") else f"decode:\n  customCommand: |\n    {line}"
    source = Source(name, text)
    found = check_launches(source, read(source).launches, Settings(engine_versions={"vllm": "0.33.0"}))
    assert ("vllm/malformed-json" in [one.rule for one in found]) is refused
