"""SkyPilot, dstack and Akash: scripts and containers on machines in a cloud."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans
from tests.reporting import findings_in


def sky(text: str) -> Launch:
    return launch_in(dedent(text), "serve.sky.yaml")


def dstack(text: str) -> Launch:
    return launch_in("type: service\n" + dedent(text), "serve.dstack.yml")


def machine(launch: Launch) -> tuple[str | None, int | None]:
    assert launch.container is not None
    product = launch.container.settings.get("gpu_product")
    return product.value if product is not None else None, launch.container.gpus


class TestSkyPilot:
    def test_run(self) -> None:
        launch, marks = marked_launch(
            """
            name: llm
            resources:
              accelerators: \u27e6H100\u27e7:8
            envs:
              MODEL: \u27e6Qwen/Qwen3-8B\u27e7
              HF_TOKEN:
            run: |
              vllm serve $MODEL \\
                --tensor-parallel-size $SKYPILOT_NUM_GPUS_PER_NODE
            """,
            "task.yaml",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--tensor-parallel-size", "8"]
        assert launch.container is not None
        assert [launch.container.settings["gpu_product"].span(), spans(launch.argv)[0]] == marks
        assert machine(launch) == ("H100", 8)
        assert environment(launch) == {"MODEL": "Qwen/Qwen3-8B", "HF_TOKEN": None, "SKYPILOT_NUM_GPUS_PER_NODE": "8"}
        assert (launch.name, lines(launch)) == ("run", (8, 9))

    def test_what_the_task_says_of_its_nodes(self) -> None:
        launch = sky("""
            num_nodes: 2
            resources: {accelerators: {H100: 8}}
            run: vllm serve m -tp $SKYPILOT_NUM_GPUS_PER_NODE -pp ${SKYPILOT_NUM_NODES}
        """)
        assert argv(launch) == ["m", "-tp", "8", "-pp", "2"]

    def test_a_choice_of_machines_has_no_number(self) -> None:
        launch = sky("""
            resources: {accelerators: {L4: 1, A100: 2}}
            run: vllm serve m -tp $SKYPILOT_NUM_GPUS_PER_NODE
        """)
        assert argv(launch) == ["m", "-tp", "${SKYPILOT_NUM_GPUS_PER_NODE}"]

    def test_setup_names_the_release_wherever_it_stands(self) -> None:
        launch = sky("""
            resources: {accelerators: L4}
            run: vllm serve m
            setup: |
              pip list | grep vllm || pip install vllm==0.20.0
        """)
        assert release(launch) == ("0.20.0", "pip")
        assert machine(launch) == ("L4", 1)

    def test_an_image(self) -> None:
        launch = sky("""
            resources: {image_id: 'docker:vllm/vllm-openai:v0.20.0'}
            run: vllm serve m
        """)
        assert release(launch) == ("0.20.0", "image")
        assert machine(launch) == (None, None)

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            ("{H100: 4}", ("H100", 4)),
            ("['A100:2']", ("A100", 2)),
            ("H100", ("H100", 1)),
            ("'H100:${N}'", ("H100", None)),
        ],
    )
    def test_accelerators(self, written: str, expected: tuple[str, int]) -> None:
        assert machine(sky(f"resources: {{accelerators: {written}}}\nrun: vllm serve m\n")) == expected

    @pytest.mark.parametrize("written", ["{L4: 1, A10G: 1}", "[L4, A10G]"])
    def test_a_choice_of_several_is_not_known(self, written: str) -> None:
        assert sky(f"resources: {{accelerators: {written}}}\nrun: vllm serve m\n").container is None

    def test_tasks_of_several_documents(self) -> None:
        task = "---\nresources: {accelerators: H100}\nrun: vllm serve m\n"
        found = launches_in(f"name: both\n{task}{task}", "tasks.yaml")
        assert [launch.name for launch in found] == ["run", "run #2"]

    @pytest.mark.parametrize("run", ["python train.py --vllm", "pip install vllm", "echo vllm serve m"])
    def test_what_starts_nothing(self, run: str) -> None:
        assert launches_in(f"resources: {{accelerators: H100:8}}\nrun: |\n  {run}\n", "task.yaml") == []


class TestDstack:
    def test_commands(self) -> None:
        launch = dstack("""
            image: vllm/vllm-openai:v0.20.0
            env:
              - HF_TOKEN
              - MODEL=Qwen/Qwen3-8B
            commands:
              - export VLLM_USE_V1=1
              - vllm serve $MODEL
                --tensor-parallel-size $DSTACK_GPUS_NUM
            resources:
              gpu: H100:8
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--tensor-parallel-size", "${DSTACK_GPUS_NUM}"]
        assert environment(launch) == {"HF_TOKEN": None, "MODEL": "Qwen/Qwen3-8B", "VLLM_USE_V1": "1"}
        assert release(launch) == ("0.20.0", "image")
        assert machine(launch) == ("H100", 8)
        assert launch.name == "commands"

    def test_an_install_before_it(self) -> None:
        launch = dstack("python: '3.12'\ncommands: [pip install vllm==0.20.0, vllm serve m]\n")
        assert release(launch) == ("0.20.0", "pip")

    @pytest.mark.parametrize(
        "lines",
        [
            "init: [pip install vllm==0.20.0, vllm serve m]",
            "init: [pip install vllm==0.20.0]\ncommands: [vllm serve m]",
            "commands: [vllm serve m]\ninit: [pip install vllm==0.20.0]",
        ],
    )
    def test_what_init_runs_comes_before_the_commands(self, lines: str) -> None:
        launch = dstack(f"image: a\n{lines}\n")
        assert (launch.release.release, argv(launch)) == ("0.20.0", ["m"])

    def test_an_entrypoint_takes_the_commands_for_words(self) -> None:
        launch = dstack("image: a\nentrypoint: vllm serve\ncommands: [m, --port, '8000']\n")
        assert argv(launch) == ["m", "--port", "8000"]

    def test_an_image_without_commands_starts_by_itself(self) -> None:
        text = "image: vllm/vllm-openai:v0.20.0\nreplicas: 1\nport: 8000\n"
        assert argv(dstack(text)) == []
        assert launches_in("type: service\nreplicas: 1\nport: 8000\nimage: postgres:16\n", "serve.dstack.yml") == []

    def test_groups_of_replicas(self) -> None:
        found = launches_in(
            "type: service\nport: 8000\nenv: [A=1]\nreplicas:\n  - count: 1\n    commands: [vllm serve a]\n"
            "  - count: 2\n    commands: [vllm serve b]\n    resources: {gpu: H200}\n",
            "serve.dstack.yml",
        )
        assert [(launch.name, argv(launch)) for launch in found] == [("replicas[0]", ["a"]), ("replicas[1]", ["b"])]
        assert environment(found[1]) == {"A": "1"}
        assert machine(found[1]) == ("H200", 1)

    @pytest.mark.parametrize(
        ("gpu", "expected"),
        [
            ("H100", ("H100", 1)),
            ("A100:80GB:2", ("A100", 2)),
            ("nvidia:B200:8", ("B200", 8)),
            ("H100:1..8", ("H100", None)),
            ("{name: H100, count: 2, memory: 80GB}", ("H100", 2)),
        ],
    )
    def test_gpus(self, gpu: str, expected: tuple[str, int]) -> None:
        assert machine(dstack(f"port: 1\ncommands: [vllm serve m]\nresources:\n  gpu: {gpu}\n")) == expected

    @pytest.mark.parametrize("gpu", ["24GB", "'2'", "24GB..80GB:2", "'A100,H100'"])
    def test_no_product(self, gpu: str) -> None:
        assert dstack(f"port: 1\ncommands: [vllm serve m]\nresources:\n  gpu: {gpu}\n").container is None

    def test_another_type_is_not_its_own(self) -> None:
        assert launches_in("type: fleet\nname: vllm\nnodes: 2\nresources: {gpu: H100}\n", "fleet.dstack.yml") == []


RECIPE = """\
name: r
model: {path: PATH, container: "CONTAINER", precision: fp8}
resources: {gpu_type: gb200, gpus_per_node: 4}
backend:
  type: sglang
  prefill_environment: {NCCL_DEBUG: WARN}
  BACKEND_config:
    prefill:
      served-model-name: chat
      trust-remote-code: true
      enable-dp-attention: false
      tensor-parallel-size: 4
      nccl-port: 1234
    decode: {mem_fraction_static: 0.8, cuda-graph-bs: [1, 2], disaggregation-mode: decode}
benchmark: {type: sa-bench}
"""


def recipe(path: str = "hf:a/b", container: str = "lmsysorg/sglang:v0.5.8-cu130", backend: str = "sglang") -> str:
    return RECIPE.replace("PATH", path).replace("CONTAINER", container).replace("BACKEND", backend)


class TestSrtSlurm:
    def test_the_workers(self) -> None:
        prefill, decode = launches_in(recipe(), "recipe.yaml")
        assert (prefill.engine, prefill.name) == ("sglang", "backend.sglang_config.prefill")
        assert argv(prefill) == [
            *("--model-path", "a/b", "--served-model-name", "chat", "--trust-remote-code", "--tensor-parallel-size", "4"),
            *("--disaggregation-mode", "prefill"),
        ]
        assert argv(decode)[2:] == [
            "--mem-fraction-static",
            "0.8",
            "--cuda-graph-bs",
            "1",
            "2",
            "--disaggregation-mode",
            "decode",
        ]
        assert environment(prefill) == {"NCCL_DEBUG": "WARN"}
        assert environment(decode) == {}
        assert (prefill.release.release, decode.release.release) == ("0.5.8", "0.5.8")

    @pytest.mark.parametrize(
        ("backend", "container", "engine", "number"),
        [
            ("sglang", "nvcr.io#nvidia/ai-dynamo/sglang-runtime:1.2.0", "sglang", "0.5.11"),
            ("vllm", "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.0", "vllm", "0.12.0"),
            ("vllm", "vllm/vllm-openai:v0.20.0-ubuntu2404", "vllm", "0.20.0"),
            ("sglang", "dynamo-sglang", "sglang", None),
        ],
    )
    def test_the_release_is_the_container_s(self, backend: str, container: str, engine: str, number: str | None) -> None:
        found = launches_in(recipe(container=container, backend=backend), "recipe.yaml")
        assert [(launch.engine, launch.release.release) for launch in found] == [(engine, number)] * 2

    def test_the_options_are_where_they_are_written(self) -> None:
        prefill, _ = launches_in(recipe(), "recipe.yaml")
        assert prefill.site.text.startswith("served-model-name: chat")
        assert prefill.argv[1].site is not None
        assert prefill.argv[1].site.text == "hf:a/b"

    @pytest.mark.parametrize(
        "text",
        [
            recipe(backend="mocker"),
            recipe().replace("resources:", "other:"),
            recipe().replace("container:", "image:"),
            recipe().replace("backend:", "rear:"),
        ],
    )
    def test_another_file(self, text: str) -> None:
        assert launches_in(text, "recipe.yaml") == []


class TestAkash:
    """A deployment of Akash."""

    TEXT = """
        version: "2.0"
        services:
          llm:
            image: vllm/vllm-openai:v0.9.0
            env:
              - MODEL=org/m
              - "VLLM_LOGGING_LEVEL=DEBUG"
              - HF_TOKEN=
            WORDS
            expose: [{port: 8000, as: 80, to: [{global: true}]}]
        profiles:
          compute:
            big: {resources: {gpu: {units: 2, attributes: {vendor: {nvidia: [{model: h100}]}}}}}
            choice: {resources: {gpu: {units: 1, attributes: {vendor: {nvidia: [{model: h100}, {model: a100}]}}}}}
            small: {resources: {cpu: {units: 1}}}
        deployment:
          llm: {west: {profile: PROFILE, count: 1}}
        """

    def launch(self, words: str, profile: str = "big") -> Launch:
        return launch_in(self.TEXT.replace("WORDS", words).replace("PROFILE", profile), "deploy.yaml")

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ("args: [--model, $(MODEL)]", ["--model", "org/m"]),
            ("args: --model org/m", ["--model", "org/m"]),
            ("command: [vllm, serve]\n            args: [org/m]", ["org/m"]),
            ('command: [bash, -c]\n            args: ["vllm serve $MODEL --port 8000"]', ["org/m", "--port", "8000"]),
            ("credentials: {host: x}", []),
        ],
    )
    def test_words(self, words: str, expected: list[str]) -> None:
        found = self.launch(words)
        assert argv(found) == expected
        assert (release(found), found.name) == (("0.9.0", "image"), "deployment.llm")
        assert environment(found) == {"MODEL": "org/m", "VLLM_LOGGING_LEVEL": "DEBUG", "HF_TOKEN": ""}

    @pytest.mark.parametrize(
        ("profile", "expected"),
        [("big", (2, True, "h100")), ("choice", (1, True, None)), ("small", (None, None, None)), ("none", (None, None, None))],
    )
    def test_gpus(self, profile: str, expected: tuple[int | None, bool | None, str | None]) -> None:
        container = self.launch("args: [--model, m]", profile).container
        assert container is not None
        product = container.settings.get("gpu_product")
        assert (container.gpus, container.reserved, product.flat if product is not None else None) == expected

    def test_a_command_replaces_the_entrypoint(self) -> None:
        assert argv(self.launch("command: [--model, m]")) == ["--model", "m"]
        found = findings_in(dedent(self.TEXT.replace("WORDS", "command: [--model, m]")), "deploy.yaml")
        (one,) = [one for one in found if one.rule == "container/not-started"]
        assert (one.span.text, one.advice) == ("--model", "write args instead of command")
