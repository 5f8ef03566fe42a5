"""Scripts that a compose service runs from its mounts and configs."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.engines.config import configs
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans

SCRIPT = '#!/bin/bash\nset -e\nexec vllm serve "$MODEL" --port "${PORT:-8000}" "$@"\n'


def service(rest: str, folder: Path, top: str = "") -> list[Launch]:
    return launches_in(
        "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    environment: {MODEL: Qwen/Qwen3-8B}\n" + rest + top,
        folder=folder,
    )


class TestMounts:
    @pytest.mark.parametrize(
        "volumes",
        [
            "['./start.sh:/start.sh']",
            "['./start.sh:/start.sh:ro,z']",
            "[{type: bind, source: ./start.sh, target: /start.sh, read_only: true}]",
            "['${PWD}/start.sh:/start.sh']",
            "['${SCRIPTS:-.}/start.sh:/start.sh']",
            "['./nothing:/', './start.sh:/start.sh']",
            "['data:/data', './start.sh:/start.sh', /tmp]",
        ],
    )
    def test_a_script_beside_the_file_is_run(self, volumes: str, tmp_path: Path) -> None:
        (tmp_path / "start.sh").write_text(SCRIPT)
        (launch,) = service(f"    entrypoint: [/start.sh, --seed, '1']\n    volumes: {volumes}\n", tmp_path)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--seed", "1"]
        assert environment(launch) == {"MODEL": "Qwen/Qwen3-8B"}
        assert release(launch) == ("0.20.0", "image")
        # the launch is the service's, its words stand where they are written
        assert (launch.source.path, launch.name, lines(launch)) == ("compose.yml", "services.llm", (5, 5))
        found = [span.source.path for span in spans(launch.argv) if span is not None]
        assert found == ["compose.yml", "start.sh", "start.sh", "compose.yml", "compose.yml"]

    @pytest.mark.parametrize(
        "volumes",
        [
            "['scripts:/start.sh']",
            "['./other.sh:/start.sh']",
            "['/opt/start.sh:/start.sh']",
            "['~/start.sh:/start.sh']",
            "['${FOLDER}/start.sh:/start.sh']",
            "['./start.sh:/other.sh']",
            "['./start.sh:${TARGET}']",
            "['./start.sh:start.sh']",
            "['./start.sh']",
            "[{type: bind, source: ./start.sh}, {target: /start.sh}, [./start.sh], 5, null]",
            "{./start.sh: /start.sh}",
            "./start.sh:/start.sh",
            # a volume over it hides it
            "['./:/scripts', 'data:/start.sh']",
        ],
    )
    def test_a_script_that_is_not_here_says_nothing(self, volumes: str, tmp_path: Path) -> None:
        (tmp_path / "start.sh").write_text(SCRIPT)
        assert service(f"    entrypoint: [/start.sh, --seed, '1']\n    volumes: {volumes}\n", tmp_path) == []

    @pytest.mark.parametrize(
        "command",
        [
            "entrypoint: /scripts/start.sh",
            "entrypoint: [bash, /scripts/start.sh]",
            "entrypoint: bash -e /scripts/start.sh",
            "entrypoint: bash -e //scripts/./start.sh",
            "entrypoint: []\n    command: [/scripts/start.sh]",
            "entrypoint: [bash, -c]\n    command: [/scripts/start.sh]",
            "entrypoint: [bash, -c, 'ulimit -l unlimited; exec /scripts/start.sh']",
            "entrypoint: [tini, --]\n    command: [bash, /scripts/start.sh]",
            "entrypoint: ./start.sh\n    working_dir: /scripts",
            "entrypoint: bash start.sh\n    working_dir: /scripts",
            "entrypoint: bash ../scripts/start.sh\n    working_dir: /scripts/",
        ],
    )
    def test_ways_to_run_it(self, command: str, tmp_path: Path) -> None:
        (tmp_path / "scripts").mkdir()
        (tmp_path / "scripts" / "start.sh").write_text(SCRIPT)
        (launch,) = service(f"    {command}\n    volumes: ['./scripts:/scripts']\n", tmp_path)
        assert argv(launch)[:3] == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert launch.site.source.path == "compose.yml"

    @pytest.mark.parametrize(
        "command", ["entrypoint: bash start.sh", "entrypoint: ./start.sh", "entrypoint: bash -c /start.sh"]
    )
    def test_a_folder_that_nobody_knows(self, command: str, tmp_path: Path) -> None:
        (tmp_path / "start.sh").write_text(SCRIPT)
        assert service(f"    {command}\n    volumes: ['.:/scripts']\n", tmp_path) == []

    def test_a_program_that_is_no_shell_script(self, tmp_path: Path) -> None:
        (tmp_path / "start").write_text("import vllm\nvllm serve m\n")
        assert service("    entrypoint: [/start]\n    volumes: ['./start:/start']\n", tmp_path) == []

    def test_scripts_that_it_sources(self, tmp_path: Path) -> None:
        (tmp_path / "env.sh").write_text("export VLLM_LOGGING_LEVEL=DEBUG\nPORT=9000\n")
        script = ". /scripts/env.sh; exec vllm serve m --port $$PORT"
        (launch,) = service(f"    entrypoint: [bash, -c, '{script}']\n    volumes: ['.:/scripts']\n", tmp_path)
        assert argv(launch) == ["m", "--port", "9000"]
        assert environment(launch) == {"MODEL": "Qwen/Qwen3-8B", "VLLM_LOGGING_LEVEL": "DEBUG"}
        assert not launch.open_env
        (launch,) = service(f"    entrypoint: [bash, -c, '{script}']\n    volumes: ['.:/other']\n", tmp_path)
        assert argv(launch) == ["m", "--port", "${PORT}"]
        assert launch.open_env


class TestConfigs:
    def test_a_script_in_the_file_itself(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                environment: {TP: "2"}
                configs:
                  - source: start
                    target: /opt/start.sh
                    mode: 0755
                entrypoint: ["bash", "/opt/start.sh"]
            configs:
              start:
                content: |
                  #!/bin/bash
                  exec vllm serve ⟦Qwen/Qwen3-8B⟧ ⟦--port⟧ ${PORT:-⟦8000⟧} --tp $$TP
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--tp", "2"]
        assert spans(launch.argv)[:3] == marks
        assert launch.name == "services.llm"

    @pytest.mark.parametrize(
        ("configs", "path"),
        [
            ("[start.sh]", "/start.sh"),
            ("[{source: start.sh}]", "/start.sh"),
            ("[{source: start.sh, target: /a/b.sh}]", "/a/b.sh"),
            ("[{source: start.sh, target: '/a/${NAME:-b}.sh'}]", "/a/b.sh"),
        ],
    )
    @pytest.mark.parametrize("definition", ["file: ./conf/start.sh", "content: 'vllm serve a'"])
    def test_short_and_long_syntax(self, configs: str, path: str, definition: str, tmp_path: Path) -> None:
        (tmp_path / "conf").mkdir()
        (tmp_path / "conf" / "start.sh").write_text("vllm serve a\n")
        text = f"    entrypoint: [bash, {path}]\n    configs: {configs}\n"
        (launch,) = service(text, tmp_path, f"configs: {{start.sh: {{{definition}}}}}\n")
        assert argv(launch) == ["a"]

    @pytest.mark.parametrize(
        ("configs", "top"),
        [
            ("[start.sh]", "configs: {start.sh: {external: true}}"),
            ("[start.sh]", "configs: {start.sh: {environment: SCRIPT}}"),
            ("[start.sh]", "configs: {start.sh: {file: ./nowhere.sh}}"),
            ("[start.sh]", "configs: {start.sh: {file: '${FILE}'}}"),
            ("[start.sh]", "configs: {other: {content: vllm serve a}}"),
            ("[start.sh]", "configs: [start.sh]"),
            ("[start.sh]", "configs: {start.sh: }"),
            ("[start.sh]", ""),
            ("[{target: /start.sh}, {source: '${NAME}'}, [start.sh]]", "configs: {start.sh: {content: vllm serve a}}"),
            ("[{source: start.sh, target: /other}]", "configs: {start.sh: {content: vllm serve a}}"),
            ("{start.sh: }", "configs: {start.sh: {content: vllm serve a}}"),
            # what is secret is no one's to read
            ("[]\n    secrets: [{source: start.sh, target: /start.sh}]", "secrets: {start.sh: {file: ./secret.sh}}"),
        ],
    )
    def test_what_is_not_here_says_nothing(self, configs: str, top: str, tmp_path: Path) -> None:
        (tmp_path / "secret.sh").write_text("vllm serve a\n")
        assert service(f"    entrypoint: [bash, /start.sh]\n    configs: {configs}\n", tmp_path, top + "\n") == []

    def test_a_value_that_a_script_reads_from_a_secret_is_unknown(self) -> None:
        launch = launch_in("""
            services:
              llm:
                image: vllm/vllm-openai:v0.20.0
                secrets: [key]
                entrypoint: [bash, -c, 'vllm serve m --api-key "$$(cat /run/secrets/key)"']
            secrets: {key: {environment: KEY}}
        """)
        assert argv(launch) == ["m", "--api-key", "$(cat /run/secrets/key)"]


class TestFilesOfTheEngine:
    """`--config FILE` of a file in the container."""

    @pytest.mark.parametrize(
        ("mount", "top"),
        [
            ("volumes: ['./conf:/etc/vllm:ro']", ""),
            ("configs: [{source: vllm, target: /etc/vllm/vllm.yaml}]", "configs: {vllm: {file: conf/vllm.yaml}}\n"),
            (
                "configs: [{source: vllm, target: /etc/vllm/vllm.yaml}]",
                "configs:\n  vllm:\n    content: |\n      max-model-len: 4096\n      seed: 1\n",
            ),
        ],
    )
    def test_what_it_says_counts(self, mount: str, top: str, tmp_path: Path) -> None:
        (tmp_path / "conf").mkdir()
        (tmp_path / "conf" / "vllm.yaml").write_text("max-model-len: 4096\nseed: 1\n")
        (launch,) = service(f"    command: [m, --config, /etc/vllm/vllm.yaml, --seed, '2']\n    {mount}\n", tmp_path, top)
        (config,) = configs(launch, ["0.20.0"])
        assert [config.operand(name).value for name in ("max-model-len", "seed")] == [4096, 2]
        span = config.operand("max-model-len").span
        assert span is not None
        assert span.text == "4096"

    @pytest.mark.parametrize("volumes", ["['./other:/etc/vllm']", "['conf:/etc/vllm']", "['./conf:/etc/other']"])
    def test_one_that_is_not_here_says_nothing(self, volumes: str, tmp_path: Path) -> None:
        (tmp_path / "conf").mkdir()
        (tmp_path / "conf" / "vllm.yaml").write_text("max-model-len: 4096\n")
        (launch,) = service(f"    command: [m, --config, /etc/vllm/vllm.yaml]\n    volumes: {volumes}\n", tmp_path)
        (config,) = configs(launch, ["0.20.0"])
        assert config.operand("max-model-len").value is None


class TestScriptsThatAreNotHere:
    """A script that is given the whole command of an engine ends in `exec "$@"`; what it sets before nobody knows."""

    @pytest.mark.parametrize(
        "command",
        [
            "entrypoint: [/opt/nvidia/nvidia_entrypoint.sh]\n    command: [vllm, serve, m, --port, '1']",
            "entrypoint: /docker-entrypoint.sh\n    command: vllm serve m --port 1",
            "entrypoint: [/bin/bash, /mods/fix.sh]\n    command: [vllm, serve, m, --port, '1']",
            "entrypoint: []\n    command: [/entrypoint, vllm, serve, m, --port, '1']",
            "command: ./wait.sh -- vllm serve m --port 1",
            "command: [bash, /wait-for.sh, --, vllm, serve, m, --port, '1']",
        ],
    )
    def test_passes_its_arguments_on(self, command: str) -> None:
        launch = launch_in(f"services:\n  llm:\n    image: registry.example/house/server:prod\n    {command}\n")
        assert argv(launch) == ["m", "--port", "1"]
        assert launch.open_env

    @pytest.mark.parametrize(
        "command",
        [
            "entrypoint: [/start.sh]\n    command: [m, --port, '1']",
            "entrypoint: [/start.sh]\n    command: [vllm, bench, serve]",
            "entrypoint: [/start.sh]\n    command: [db, '5432', vllm, serve, m]",
            "entrypoint: [grep, vllm, serve, m]",
            "entrypoint: [/start.py]\n    command: [vllm, serve, m]",
            "entrypoint: [/start.sh]",
            "entrypoint: [bash]",
        ],
    )
    def test_or_does_something_else(self, command: str) -> None:
        assert launches_in(f"services:\n  llm:\n    image: registry.example/house/server:prod\n    {command}\n") == []

    def test_one_that_is_here_says_what_it_does(self, tmp_path: Path) -> None:
        (tmp_path / "run.sh").write_text('echo "$@"\n')
        text = (
            "services:\n  llm:\n    image: house/server:1\n    volumes: ['./run.sh:/run.sh']\n    entrypoint: [/run.sh, {}]\n"
        )
        assert launches_in(text.format("vllm, serve, m"), folder=tmp_path) == []
        (tmp_path / "run.sh").write_text('export VLLM_X=1\nexec "$@" --port 1\n')
        launch = launch_in(text.format("vllm, serve, m"), folder=tmp_path)
        assert (argv(launch), environment(launch), launch.open_env) == (["m", "--port", "1"], {"VLLM_X": "1"}, False)
