"""Compose services that are built here: what their Dockerfile starts, sets and copies."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans

DOCKERFILE = """\
FROM vllm/vllm-openai:v0.19.1 AS server
ENV MODEL=Qwen/Qwen3-8B VLLM_LOGGING_LEVEL=INFO
ENTRYPOINT ["vllm", "serve"]
CMD ["Qwen/Qwen3-8B", "--port", "8000"]
"""


def built(rest: str, folder: Path, dockerfile: str = DOCKERFILE) -> Launch:
    (folder / "Dockerfile").write_text(dockerfile)
    return launch_in(f"services:\n  llm:\n    build: .\n{rest}", folder=folder)


class TestWhatItStarts:
    def test_its_entry_point_and_command(self, tmp_path: Path) -> None:
        launch = built("", tmp_path)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert [span.source.path for span in spans([*launch.verb, *launch.argv]) if span] == ["Dockerfile"] * 5
        assert (launch.source.path, launch.name, lines(launch)) == ("compose.yml", "services.llm", (3, 3))
        assert launch.site.source is launch.source
        assert release(launch) == ("0.19.1", "image")

    @pytest.mark.parametrize(
        ("rest", "expected"),
        [
            ("    command: [m]\n", ["m"]),
            ("    command: m --port 1\n", ["m", "--port", "1"]),
            ("    command:\n", ["Qwen/Qwen3-8B", "--port", "8000"]),
            ("    command: []\n", []),
            ("    entrypoint: [vllm, serve, m]\n", ["m"]),
            ("    entrypoint: vllm serve\n    command: m\n", ["m"]),
            ("    entrypoint:\n", ["Qwen/Qwen3-8B", "--port", "8000"]),
            ("    entrypoint: []\n    command: vllm serve m\n", ["m"]),
        ],
    )
    def test_what_the_service_says_instead(self, rest: str, expected: list[str], tmp_path: Path) -> None:
        assert argv(built(rest, tmp_path)) == expected

    def test_a_command_for_a_shell(self, tmp_path: Path) -> None:
        launch = built("    environment: {PORT: '9000'}\n", tmp_path, "FROM x\nCMD vllm serve m --port ${PORT:-8000}\n")
        assert argv(launch) == ["m", "--port", "9000"]
        assert launch.site.source is launch.source
        assert lines(launch) == (3, 3)

    def test_a_command_for_the_base_s_entry_point(self, tmp_path: Path) -> None:
        launch = built("", tmp_path, 'FROM vllm/vllm-openai:v0.19.1\nCMD ["--model", "m"]\n')
        assert (argv(launch), launch.verb) == (["--model", "m"], ())

    @pytest.mark.parametrize(
        ("dockerfile", "expected"),
        [
            ("FROM ollama/ollama:0.12.3\n", []),
            ('FROM ollama/ollama:0.12.3\nCMD ["serve"]\n', []),
            ('FROM ollama/ollama:0.12.3\nRUN ollama serve & sleep 3 && ollama create m -f M\nCMD ["serve"]\n', []),
            ('FROM ollama/ollama:0.12.3\nENTRYPOINT ["/bin/ollama"]\nCMD ["serve"]\n', []),
            ("FROM lmsysorg/sglang:v0.5.3\nCMD python3 -m sglang.launch_server --model-path m\n", ["--model-path", "m"]),
            ('FROM vllm/vllm-openai:v0.19.1\nRUN pip install vllm==0.20.0\nCMD ["--model", "m"]\n', ["--model", "m"]),
        ],
    )
    def test_what_the_base_starts_by_itself(self, dockerfile: str, expected: list[str], tmp_path: Path) -> None:
        assert argv(built("", tmp_path, dockerfile)) == expected

    def test_a_target(self, tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text(DOCKERFILE + 'FROM server\nCMD ["other"]\n')
        launch = launch_in("services: {llm: {build: {context: ., target: server}}}\n", folder=tmp_path)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]

    def test_no_program_of_an_engine(self, tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text('FROM vllm/vllm-openai:v0.19.1\nENTRYPOINT ["python3", "bench.py"]\n')
        assert launches_in("services: {llm: {build: ., command: [--model, m]}}\n", folder=tmp_path) == []

    def test_written_into_the_compose_file(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                build:
                  dockerfile_inline: |
                    FROM vllm/vllm-openai:v⟦0.19.1⟧
                    ENV VLLM_LOGGING_LEVEL=⟦DEBUG⟧
                    CMD ["--model", "⟦m⟧"]
        """)
        level = launch.env["VLLM_LOGGING_LEVEL"].value
        assert level is not None
        assert [launch.release.span, level.span(), launch.argv[1].text.span()] == marks

    @pytest.mark.parametrize("build", ["nowhere", "{context: nowhere}", "{dockerfile: other}", "{target: x}", "[x]", "5", "{}"])
    def test_a_dockerfile_that_is_not_there_starts_nothing(self, build: str, tmp_path: Path) -> None:
        assert launches_in(f"services: {{llm: {{build: {build}}}}}\n", folder=tmp_path) == []


class TestAdditionalContexts:
    @pytest.mark.parametrize(
        ("contexts", "expected"),
        [
            ("{server: 'docker-image://vllm/vllm-openai:v0.20.0'}", ("0.20.0", "image")),
            ("[server=docker-image://vllm/vllm-openai:v0.20.0]", ("0.20.0", "image")),
            ("{server: 'docker-image://vllm/vllm-openai:${TAG:-v0.20.0}'}", ("0.20.0", "image")),
            ("{server: 'docker-image://vllm/vllm-openai:${TAG}'}", (None, None)),
            ("{server: 'service:other'}", (None, None)),
            ("{server: ./folder}", (None, None)),
            ("{other: 'docker-image://vllm/vllm-openai:v0.20.0'}", (None, None)),
            ("5", (None, None)),
        ],
    )
    def test_an_image_that_it_builds_on(self, contexts: str, expected: tuple[str | None, str | None], tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text("FROM server AS made\nRUN true\n")
        launch = launch_in(
            f"services: {{llm: {{build: {{context: ., additional_contexts: {contexts}}}, command: [vllm, serve, m]}}}}\n",
            folder=tmp_path,
        )
        assert release(launch) == expected


class TestWhatItSets:
    def test_variables(self, tmp_path: Path) -> None:
        (tmp_path / "llm.env").write_text("VLLM_LOGGING_LEVEL=WARNING\nFILE=1\n")
        launch = built("    environment: {MODEL: m}\n    env_file: llm.env\n", tmp_path)
        assert environment(launch) == {"MODEL": "m", "VLLM_LOGGING_LEVEL": "WARNING", "FILE": "1"}
        assert environment(built("", tmp_path)) == {"MODEL": "Qwen/Qwen3-8B", "VLLM_LOGGING_LEVEL": "INFO"}

    def test_a_service_that_names_an_image_is_not_built(self, tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text(DOCKERFILE)
        launch = launch_in("services: {llm: {image: 'vllm/vllm-openai:v0.20.0', command: m}}\n", folder=tmp_path)
        assert (environment(launch), release(launch)) == ({}, ("0.20.0", "image"))

    def test_releases_that_it_installs(self, tmp_path: Path) -> None:
        launch = built(
            "    command: sglang serve m\n", tmp_path, "FROM python:3.12\nRUN pip install vllm==0.19.1 sglang==0.5.9\n"
        )
        assert (launch.engine, release(launch)) == ("sglang", ("0.5.9", "pip"))


class TestWhatItCopies:
    SCRIPT = '#!/bin/sh\nexport VLLM_LOGGING_LEVEL=DEBUG\nexec vllm serve "$@" --host $HOST\n'

    @pytest.mark.parametrize(
        "context", [".", "docker", "./docker/", "{context: docker}", "{context: ., dockerfile: docker/Dockerfile}"]
    )
    def test_a_script_runs_with_the_service_s_arguments(self, context: str, tmp_path: Path) -> None:
        (tmp_path / "docker").mkdir()
        dockerfile = 'FROM vllm/vllm-openai:v0.19.1\nENV HOST=0.0.0.0\nCOPY start.sh /start.sh\nENTRYPOINT ["/start.sh"]\n'
        for folder in (tmp_path, tmp_path / "docker"):
            (folder / "Dockerfile").write_text(dockerfile)
            (folder / "start.sh").write_text(self.SCRIPT)
        launch = launch_in(
            f"services: {{llm: {{build: {context}, command: [m], environment: {{HOST: localhost}}}}}}\n", folder=tmp_path
        )
        assert argv(launch) == ["m", "--host", "localhost"]
        assert environment(launch) == {"HOST": "localhost", "VLLM_LOGGING_LEVEL": "DEBUG"}
        assert launch.site.source is launch.source

    def test_a_mounted_one_hides_it(self, tmp_path: Path) -> None:
        (tmp_path / "start.sh").write_text("exec vllm serve copied\n")
        (tmp_path / "mounted.sh").write_text("exec vllm serve mounted\n")
        dockerfile = 'FROM x\nCOPY start.sh /start.sh\nENTRYPOINT ["/start.sh"]\n'
        assert argv(built("", tmp_path, dockerfile)) == ["copied"]
        assert argv(built("    volumes: ['./mounted.sh:/start.sh']\n", tmp_path, dockerfile)) == ["mounted"]

    def test_one_that_is_not_here_passes_its_arguments_on(self, tmp_path: Path) -> None:
        dockerfile = 'FROM x\nCOPY start.sh /start.sh\nENTRYPOINT ["/start.sh"]\nCMD ["vllm", "serve", "m"]\n'
        launch = built("", tmp_path, dockerfile)
        assert (argv(launch), launch.open_env) == (["m"], True)
        assert launch.site.source is launch.source


def test_a_service_of_another_file_is_built_there(tmp_path: Path) -> None:
    (tmp_path / "deploy" / "docker").mkdir(parents=True)
    (tmp_path / "deploy" / "docker" / "Dockerfile").write_text(DOCKERFILE)
    (tmp_path / "deploy" / "base.yml").write_text("services: {base: {build: docker}}\n")
    launch = launch_in("services: {llm: {extends: {file: deploy/base.yml, service: base}}}\n", folder=tmp_path)
    assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
    assert launch.release.span is not None
    assert launch.release.span.source.path == "deploy/docker/Dockerfile"
