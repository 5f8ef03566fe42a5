"""GitHub Actions and GitLab CI."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans

GITHUB = "workflow.yml"


def steps(text: str, job: str = "", top: str = "") -> str:
    job = indent(dedent(job).strip("\n"), "    ")
    listed = indent(dedent(text).strip("\n"), "      ")
    return f"on: [push]\n{top}jobs:\n  serve:\n    runs-on: ubuntu-latest\n{job}\n    steps:\n{listed}\n"


def github_launch(text: str, job: str = "", top: str = "") -> Launch:
    return launch_in(steps(text, job, top), GITHUB)


class TestExpressionsOfEnv:
    @pytest.mark.parametrize(
        ("job", "top"),
        [("", "env: {M: org/m}\n"), ("env: {M: org/m}", ""), ("env: {M: '${{ env.BASE }}/m'}", "env: {BASE: org}\n")],
    )
    def test_the_workflow_s_own(self, job: str, top: str) -> None:
        assert argv(github_launch("- run: vllm serve ${{ env.M }} --port 1", job, top)) == ["org/m", "--port", "1"]

    def test_a_step_s_own(self) -> None:
        assert argv(github_launch("- run: vllm serve ${{env.M}}\n  env: {M: a}", top="env: {M: b}\n")) == ["a"]

    @pytest.mark.parametrize("expression", ["${{ env.N }}", "${{ vars.M }}", "${{ env.M || 'x' }}"])
    def test_others_are_unknown(self, expression: str) -> None:
        (word,) = github_launch(f'- run: vllm serve "{expression}"', top="env: {M: b}\n").argv
        assert not word.text.known

    def test_one_that_a_step_sets_is_unknown(self) -> None:
        text = '- run: echo "M=c" >> $GITHUB_ENV\n- run: vllm serve ${{ env.M }}'
        (word,) = github_launch(text, top="env: {M: b}\n").argv
        assert not word.text.known


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
            GITHUB,
        )
        assert argv(found) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert [span for index, span in enumerate(spans(found.argv)) if index != 1] == marks
        assert found.name == "jobs.serve.steps[1]"
        assert lines(found) == (11, 12)

    def test_two_commands_of_one_are_two_launches(self) -> None:
        found = launches_in(steps("- run: |\n    vllm serve a &\n    vllm serve b &"), GITHUB)
        assert [one.name for one in found] == ["jobs.serve.steps[0]", "jobs.serve.steps[0] #2"]

    def test_expressions_are_unknown(self) -> None:
        found = github_launch("- run: vllm serve /models/${{ matrix.model }} --tp ${{matrix.tp}} --host ${{ env.HOST }}")
        assert argv(found) == ["/models/${{ matrix.model }}", "--tp", "${{matrix.tp}}", "--host", "${{ env.HOST }}"]
        assert [word.value is None for word in found.argv] == [True, False, True, False, True]

    @pytest.mark.parametrize(
        ("action", "name"),
        [
            ("nick-fields/retry@v3", "command"),
            ("Wandalen/wretry.action@v3", "command"),
            ("appleboy/ssh-action@v1", "script"),
            ("azure/cli@v2", "inlineScript"),
            ("cypress-io/github-action@v6", "start"),
            ("uraimo/run-on-arch-action@v3", "run"),
        ],
    )
    def test_the_script_of_an_action(self, action: str, name: str) -> None:
        script = "nohup vllm serve ${{ env.M }} --port 1 > log 2>&1 &"
        text = f"- uses: {action}\n  with:\n    timeout_minutes: 4\n    {name}: |\n      {script}"
        found = github_launch(text, top="env: {M: org/m}\n")
        assert (found.name, argv(found)) == ("jobs.serve.steps[0]", ["org/m", "--port", "1"])

    def test_the_image_of_an_action(self) -> None:
        text = "- uses: addnab/docker-run-action@v3\n  with: {image: 'vllm/vllm-openai:v0.19.0', run: vllm serve m}"
        assert release(github_launch(text)) == ("0.19.0", "image")

    @pytest.mark.parametrize(
        "given",
        [
            "uses: actions/github-script@v7\n  with: {script: vllm serve m}",
            "uses: nick-fields/retry@v3\n  with: {command: vllm serve m, shell: pwsh}",
            "uses: docker/build-push-action@v6\n  with: {tags: vllm serve m}",
            "with: {command: vllm serve m}",
        ],
    )
    def test_what_no_shell_reads(self, given: str) -> None:
        assert launches_in(steps(f"- {given}"), GITHUB) == []

    @pytest.mark.parametrize("shell", ["python", "pwsh", "cmd", "node {0}"])
    def test_other_shells(self, shell: str) -> None:
        assert launches_in(steps(f"- run: vllm serve m\n  shell: {shell}"), GITHUB) == []
        assert launches_in(steps("- run: vllm serve m", top=f"defaults: {{run: {{shell: '{shell}'}}}}\n"), GITHUB) == []

    @pytest.mark.parametrize("shell", ["bash", "sh", "bash -el {0}"])
    def test_shells(self, shell: str) -> None:
        assert argv(github_launch(f"- run: vllm serve m\n  shell: '{shell}'")) == ["m"]

    def test_composite_actions(self) -> None:
        text = "name: start\nruns:\n  using: composite\n  steps:\n    - run: vllm serve m\n      shell: bash\n"
        assert (argv(launch_in(text, "action.yml")), launch_in(text, "action.yml").name) == (["m"], "runs.steps[0]")

    @pytest.mark.parametrize(
        "line", ["pip install vllm", "pytest tests/vllm", "vllm bench serve --model m", "pkill -f 'vllm serve'"]
    )
    def test_what_starts_nothing(self, line: str) -> None:
        assert launches_in(steps(f"- run: {line}"), GITHUB) == []


class TestSurroundings:
    def test_environment_of_three_levels(self) -> None:
        found = github_launch(
            "- run: vllm serve m\n  env: {C: step, VLLM_USE_V1: '1'}",
            "env:\n  B: job\n  C: job",
            "env:\n  A: top\n  B: top\n  C: top\n",
        )
        assert environment(found) == {"A": "top", "B": "job", "C": "step", "VLLM_USE_V1": "1"}

    def test_an_expression_in_it(self) -> None:
        found = github_launch("- run: vllm serve $MODEL", "env:\n  MODEL: ${{ inputs.model }}")
        assert argv(found) == ["${{ inputs.model }}"]
        assert found.argv[0].value is None

    def test_variables_that_a_step_passes_on(self) -> None:
        assert github_launch("- run: echo A=1 >> $GITHUB_ENV\n- run: vllm serve m").open_env
        assert not github_launch("- run: vllm serve m\n- run: echo A=1 >> $GITHUB_ENV").open_env

    def test_an_install_in_an_earlier_step(self) -> None:
        assert release(github_launch("- run: pip install vllm==0.20.0\n- run: vllm serve m")) == ("0.20.0", "pip")

    def test_one_whose_release_is_in_the_environment(self) -> None:
        found = github_launch("- run: pip install vllm==$RELEASE\n- run: vllm serve m", "env: {RELEASE: 0.20.0}")
        assert release(found) == ("0.20.0", "pip")

    def test_one_in_a_later_step_or_another_job(self) -> None:
        other = "  other:\n    runs-on: gpu\n    steps:\n      - run: pip install vllm==0.20.0\n"
        text = steps("- run: vllm serve m\n- run: pip install vllm==0.20.0")
        assert release(launch_in(text.replace("  serve:\n", other + "  serve:\n"), GITHUB)) == (None, None)

    @pytest.mark.parametrize(
        "container", ["container: vllm/vllm-openai:v0.20.0", "container: {image: 'vllm/vllm-openai:v0.20.0'}"]
    )
    def test_the_container_of_a_job(self, container: str) -> None:
        found = github_launch("- run: vllm serve m", container)
        assert release(found) == ("0.20.0", "image")
        assert found.image is not None
        assert found.image.value == "vllm/vllm-openai:v0.20.0"

    def test_its_image_starts_nothing_by_itself(self) -> None:
        assert launches_in(steps("- run: make test", "container: vllm/vllm-openai:v0.20.0"), GITHUB) == []


class TestServices:
    def test_an_image_that_starts_by_itself(self) -> None:
        found = github_launch("- run: make test", "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    env: {A: '1'}")
        assert (found.name, argv(found), environment(found)) == ("jobs.serve.services.llm", [], {"A": "1"})

    def test_one_with_a_command(self) -> None:
        found = github_launch(
            "- run: make test", "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    command: --model m"
        )
        assert argv(found) == ["--model", "m"]

    def test_other_images(self) -> None:
        assert launches_in(steps("- run: make test", "services:\n  db:\n    image: postgres:16"), GITHUB) == []


GITLAB = ".gitlab-ci.yml"


def gitlab_launch(text: str) -> Launch:
    return launch_in(dedent(text), GITLAB)


def test_a_list_of_lines() -> None:
    found, marks = marked_launch(
        """
        serve:
          stage: test
          script:
            - export VLLM_USE_V1=1
            - vllm serve \u27e6m\u27e7
              --port \u27e68000\u27e7
            - make test
        """,
        GITLAB,
    )
    assert argv(found) == ["m", "--port", "8000"]
    assert [spans(found.argv)[0], spans(found.argv)[2]] == marks
    assert environment(found) == {"VLLM_USE_V1": "1"}
    assert (found.name, lines(found)) == ("serve", (5, 6))


def test_lines_before_it_run_in_the_same_shell() -> None:
    found = gitlab_launch("""
        default:
          before_script: [pip install vllm==0.20.0, export A=1]
        serve:
          script: [vllm serve m]
    """)
    assert release(found) == ("0.20.0", "pip")
    assert environment(found) == {"A": "1"}


def test_lines_after_it_run_in_another() -> None:
    found = gitlab_launch("""
        serve:
          stage: test
          script: [export A=1]
          after_script: [vllm serve m]
    """)
    assert environment(found) == {}


def test_variables_and_image() -> None:
    found = gitlab_launch("""
        variables: {RELEASE: 0.20.0, A: top, B: {value: top, description: a variable}}
        image: vllm/vllm-openai:v$RELEASE
        serve:
          variables: {A: job}
          script: [vllm serve m]
    """)
    assert environment(found) == {"RELEASE": "0.20.0", "A": "job", "B": "top"}
    assert release(found) == ("0.20.0", "image")


def test_what_a_job_extends() -> None:
    found = gitlab_launch("""
        .base:
          image: {name: vllm/vllm-openai:v0.20.0, entrypoint: ['']}
          variables: {A: base, B: base}
          script: [vllm serve m]
        serve:
          extends: .base
          variables: {B: job}
    """)
    assert (found.name, argv(found)) == ("serve", ["m"])
    assert environment(found) == {"A": "base", "B": "job"}
    assert release(found) == ("0.20.0", "image")
    assert not found.open_env


def test_what_it_extends_of_another_file() -> None:
    found = gitlab_launch("""
        include: [base.yml]
        serve:
          extends: .base
          script: [vllm serve m]
    """)
    assert found.open_env


def test_nested_lists() -> None:
    found = gitlab_launch("""
        .lines: &lines [export A=1, true]
        serve:
          stage: test
          script:
            - *lines
            - vllm serve m
    """)
    assert environment(found) == {"A": "1"}


def test_services() -> None:
    found = gitlab_launch("""
        test:
          services:
            - name: vllm/vllm-openai:v0.20.0
              alias: llm
              command: [--model, m]
            - postgres:16
          script: [make test]
    """)
    assert (found.name, argv(found), release(found)) == ("test.services[0]", ["--model", "m"], ("0.20.0", "image"))


@pytest.mark.parametrize(
    "text",
    [
        "test:\n  stage: test\n  script: [pip install vllm, pytest]\n",
        "variables: {COMMAND: vllm serve m}\ntest:\n  script: [make]\n",
        "test:\n  image: vllm/vllm-openai:v0.20.0\n  script: [python -m pytest tests]\n",
    ],
)
def test_what_starts_nothing(text: str) -> None:
    assert launches_in(text, GITLAB) == []
