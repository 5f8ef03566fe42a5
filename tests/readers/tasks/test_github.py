"""GitHub Actions: steps, what surrounds them, and services."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans

FILE = "workflow.yml"


def steps(text: str, job: str = "", top: str = "") -> str:
    job = indent(dedent(job).strip("\n"), "    ")
    listed = indent(dedent(text).strip("\n"), "      ")
    return f"on: [push]\n{top}jobs:\n  serve:\n    runs-on: ubuntu-latest\n{job}\n    steps:\n{listed}\n"


def launch(text: str, job: str = "", top: str = "") -> Launch:
    return launch_in(steps(text, job, top), FILE)


class TestSteps:
    def test_a_script(self) -> None:
        found, marks = marked_launch(
            steps("""
                - uses: actions/checkout@v4
                - name: start
                  run: |
                    # in the background
                    vllm serve \u27e6Qwen/Qwen3-8B\u27e7 \\
                      --port \u27e68000\u27e7 > server.log 2>&1 &
            """),
            FILE,
        )
        assert argv(found) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert [span for index, span in enumerate(spans(found.argv)) if index != 1] == marks
        assert found.name == "jobs.serve.steps[1]"
        assert lines(found) == (11, 12)

    def test_two_commands_of_one_are_two_launches(self) -> None:
        found = launches_in(steps("- run: |\n    vllm serve a &\n    vllm serve b &"), FILE)
        assert [one.name for one in found] == ["jobs.serve.steps[0]", "jobs.serve.steps[0] #2"]

    def test_expressions_are_unknown(self) -> None:
        found = launch("- run: vllm serve /models/${{ matrix.model }} --tp ${{matrix.tp}} --host ${{ env.HOST }}")
        assert argv(found) == ["/models/${{ matrix.model }}", "--tp", "${{matrix.tp}}", "--host", "${{ env.HOST }}"]
        assert [word.value is None for word in found.argv] == [True, False, True, False, True]

    @pytest.mark.parametrize("shell", ["python", "pwsh", "cmd", "node {0}"])
    def test_other_shells(self, shell: str) -> None:
        assert launches_in(steps(f"- run: vllm serve m\n  shell: {shell}"), FILE) == []
        assert launches_in(steps("- run: vllm serve m", top=f"defaults: {{run: {{shell: '{shell}'}}}}\n"), FILE) == []

    @pytest.mark.parametrize("shell", ["bash", "sh", "bash -el {0}"])
    def test_shells(self, shell: str) -> None:
        assert argv(launch(f"- run: vllm serve m\n  shell: '{shell}'")) == ["m"]

    def test_composite_actions(self) -> None:
        text = "name: start\nruns:\n  using: composite\n  steps:\n    - run: vllm serve m\n      shell: bash\n"
        assert (argv(launch_in(text, "action.yml")), launch_in(text, "action.yml").name) == (["m"], "runs.steps[0]")

    @pytest.mark.parametrize(
        "line", ["pip install vllm", "pytest tests/vllm", "vllm bench serve --model m", "pkill -f 'vllm serve'"]
    )
    def test_what_starts_nothing(self, line: str) -> None:
        assert launches_in(steps(f"- run: {line}"), FILE) == []


class TestSurroundings:
    def test_environment_of_three_levels(self) -> None:
        found = launch(
            "- run: vllm serve m\n  env: {C: step, VLLM_USE_V1: '1'}",
            "env:\n  B: job\n  C: job",
            "env:\n  A: top\n  B: top\n  C: top\n",
        )
        assert environment(found) == {"A": "top", "B": "job", "C": "step", "VLLM_USE_V1": "1"}

    def test_an_expression_in_it(self) -> None:
        found = launch("- run: vllm serve $MODEL", "env:\n  MODEL: ${{ inputs.model }}")
        assert argv(found) == ["${{ inputs.model }}"]
        assert found.argv[0].value is None

    def test_variables_that_a_step_passes_on(self) -> None:
        assert launch("- run: echo A=1 >> $GITHUB_ENV\n- run: vllm serve m").open_env
        assert not launch("- run: vllm serve m\n- run: echo A=1 >> $GITHUB_ENV").open_env

    def test_an_install_in_an_earlier_step(self) -> None:
        assert release(launch("- run: pip install vllm==0.20.0\n- run: vllm serve m")) == ("0.20.0", "pip")

    def test_one_whose_release_is_in_the_environment(self) -> None:
        found = launch("- run: pip install vllm==$RELEASE\n- run: vllm serve m", "env: {RELEASE: 0.20.0}")
        assert release(found) == ("0.20.0", "pip")

    def test_one_in_a_later_step_or_another_job(self) -> None:
        other = "  other:\n    runs-on: gpu\n    steps:\n      - run: pip install vllm==0.20.0\n"
        text = steps("- run: vllm serve m\n- run: pip install vllm==0.20.0")
        assert release(launch_in(text.replace("  serve:\n", other + "  serve:\n"), FILE)) == (None, None)

    @pytest.mark.parametrize(
        "container", ["container: vllm/vllm-openai:v0.20.0", "container: {image: 'vllm/vllm-openai:v0.20.0'}"]
    )
    def test_the_container_of_a_job(self, container: str) -> None:
        found = launch("- run: vllm serve m", container)
        assert release(found) == ("0.20.0", "image")
        assert found.image is not None
        assert found.image.value == "vllm/vllm-openai:v0.20.0"

    def test_its_image_starts_nothing_by_itself(self) -> None:
        assert launches_in(steps("- run: make test", "container: vllm/vllm-openai:v0.20.0"), FILE) == []


class TestServices:
    def test_an_image_that_starts_by_itself(self) -> None:
        found = launch("- run: make test", "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    env: {A: '1'}")
        assert (found.name, argv(found), environment(found)) == ("jobs.serve.services.llm", [], {"A": "1"})

    def test_one_with_a_command(self) -> None:
        found = launch("- run: make test", "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    command: --model m")
        assert argv(found) == ["--model", "m"]

    def test_other_images(self) -> None:
        assert launches_in(steps("- run: make test", "services:\n  db:\n    image: postgres:16"), FILE) == []
