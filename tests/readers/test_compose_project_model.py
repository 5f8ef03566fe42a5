"""Compose files that build on one another: `extends`, `include`, override files, tags, several documents."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from servelint.core import bounds
from servelint.core.launch import Launch
from servelint.core.source import Source, Span
from servelint.files.siblings import Neighbours
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, lines, reading, release, spans


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).removeprefix("\n"))


def launches_of(folder: Path, name: str) -> list[Launch]:
    """The launches of a file that stands in a folder."""
    path = folder / name
    found = read(Source(name, path.read_text()), Neighbours(str(path.parent), str(Path(name).parent)))
    assert found.problems == []
    return found.launches


def launch_of(folder: Path, name: str) -> Launch:
    launches = launches_of(folder, name)
    assert len(launches) == 1, launches
    return launches[0]


def place(span: Span | None) -> tuple[str, int, str]:
    """The file, the line and the text of a span."""
    assert span is not None
    return span.source.path, span.line, span.text


BASE = """
    services:
      base:
        image: vllm/vllm-openai:v0.19.1
        ipc: host
        environment:
          HF_HOME: /cache
          VLLM_USE_V1: "1"
        command: [--model, Qwen/Qwen3-8B]
"""


class TestExtends:
    def test_a_service_of_the_same_file(self) -> None:
        launches = {
            launch.name: launch
            for launch in launches_in("""
                services:
                  llm:
                    extends: {service: base}
                    environment: {HF_HOME: /other}
                  base:
                    image: registry.example/house/server:prod
                    environment: {HF_HOME: /cache, TP: "2"}
                    command: [vllm, serve, Qwen/Qwen3-8B]
            """)
        }
        llm, base = launches["services.llm"], launches["services.base"]
        assert environment(llm) == {"HF_HOME": "/other", "TP": "2"}
        assert argv(llm) == argv(base) == ["Qwen/Qwen3-8B"]
        assert spans(llm.argv) == spans(base.argv)
        assert (lines(llm), lines(base)) == ((3, 3), (8, 8))

    def test_values_keep_the_places_of_the_file_they_stand_in(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "common.yml": BASE,
                "compose.yml": """
                    services:
                      llm:
                        extends:
                          file: common.yml
                          service: base
                        environment: [HF_HOME=/other]
                    """,
            },
        )
        launch = launch_of(tmp_path, "compose.yml")
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B"]
        assert [place(span) for span in spans(launch.argv)] == [
            ("common.yml", 8, "--model"),
            ("common.yml", 8, "Qwen/Qwen3-8B"),
        ]
        assert environment(launch) == {"HF_HOME": "/other", "VLLM_USE_V1": "1"}
        assert place(launch.env["HF_HOME"].site) == ("compose.yml", 6, "HF_HOME=/other")
        assert place(launch.env["VLLM_USE_V1"].site) == ("common.yml", 7, "VLLM_USE_V1")
        assert release(launch) == ("0.19.1", "image")
        assert place(launch.release.span) == ("common.yml", 3, "0.19.1")
        # the launch itself is where this file says that there is one
        assert (launch.source.path, launch.name) == ("compose.yml", "services.llm")
        assert launch.site.source is launch.source
        assert lines(launch) == (3, 5)
        assert launch.container is not None
        assert launch.container.settings["ipc"].value == "host"
        assert (launch.container.reserved, launch.container.open, launch.open_env) == (False, False, False)

    def test_its_own_command_takes_the_place_of_the_other(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "common.yml": BASE,
                "compose.yml": """
                    services:
                      llm:
                        extends: {file: ./common.yml, service: base}
                        command: --model Qwen/Qwen3-4B --port 8000
                        image: vllm/vllm-openai:v0.20.0
                    """,
            },
        )
        launch = launch_of(tmp_path, "compose.yml")
        assert argv(launch) == ["--model", "Qwen/Qwen3-4B", "--port", "8000"]
        assert release(launch) == ("0.20.0", "image")
        assert lines(launch) == (4, 4)

    def test_a_chain_through_folders(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "deploy/common/base.yml": """
                    services:
                      base:
                        image: vllm/vllm-openai:v0.19.1
                        env_file: base.env
                        environment: {LEVEL: base, BASE: "1"}
                    """,
                "deploy/common/base.env": "FROM_BASE_FILE=1\nLEVEL=file\n",
                "deploy/common.yml": """
                    services:
                      middle:
                        extends: {file: common/base.yml, service: base}
                        env_file: [middle.env]
                        environment: {LEVEL: middle}
                    """,
                "deploy/middle.env": "FROM_MIDDLE_FILE=1\n",
                "compose.yml": """
                    services:
                      llm:
                        extends: {file: deploy/common.yml, service: middle}
                        command: --model Qwen/Qwen3-8B
                    """,
            },
        )
        launch = launch_of(tmp_path, "compose.yml")
        assert environment(launch) == {"FROM_BASE_FILE": "1", "FROM_MIDDLE_FILE": "1", "LEVEL": "middle", "BASE": "1"}
        assert place(launch.env["FROM_BASE_FILE"].site)[0] == "deploy/common/base.env"
        assert not launch.open_env

    def test_variables_are_those_of_the_project(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                ".env": "MODEL=Qwen/Qwen3-8B\n",
                "common/.env": "MODEL=Qwen/Qwen3-0.6B\n",
                "common/base.yml": "services: {base: {image: 'vllm/vllm-openai:v0.19.1', command: '--model ${MODEL}'}}\n",
                "compose.yml": "services: {llm: {extends: {file: common/base.yml, service: base}}}\n",
            },
        )
        assert argv(launch_of(tmp_path, "compose.yml")) == ["--model", "Qwen/Qwen3-8B"]

    def test_the_short_form(self) -> None:
        launches = launches_in("""
            services:
              a: {image: "vllm/vllm-openai:v0.19.1", command: "--model Qwen/Qwen3-8B"}
              b: {extends: a, environment: {B: "1"}}
        """)
        assert [argv(launch) for launch in launches] == [["--model", "Qwen/Qwen3-8B"]] * 2
        assert [environment(launch) for launch in launches] == [{}, {"B": "1"}]

    def test_a_merge_key_comes_from_the_file_it_stands_in(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "common.yml": """
                    x-env: &env
                      HF_HOME: /cache
                    services:
                      base:
                        image: vllm/vllm-openai:v0.19.1
                        environment:
                          <<: *env
                    """,
                "compose.yml": """
                    services:
                      llm:
                        extends: {file: common.yml, service: base}
                        command: [--model, Qwen/Qwen3-8B]
                    """,
            },
        )
        launch = launch_of(tmp_path, "compose.yml")
        assert place(launch.env["HF_HOME"].site) == ("common.yml", 2, "HF_HOME")

    @pytest.mark.parametrize(
        "extends",
        [
            "{file: nowhere.yml, service: base}",
            "{file: '${FILE}', service: base}",
            "{file: compose.yml, service: nobody}",
            "{file: broken.yml, service: base}",
            "{service: '${NAME}'}",
            "{file: other.yml}",
            "nobody",
            "[base]",
            "5",
            "{}",
            "",
        ],
    )
    def test_what_is_not_here_may_say_more(self, extends: str, tmp_path: Path) -> None:
        write(tmp_path, {"broken.yml": "services: {base: [\n", "other.yml": "services: {base: {ipc: host}}\n"})
        launch = launch_in(
            f"""
            services:
              llm:
                extends: {extends}
                image: vllm/vllm-openai:v0.20.0
                environment: {{A: "1"}}
            """,
            folder=tmp_path,
        )
        assert launch.open_env
        assert environment(launch) == {"A": "1"}
        assert launch.container is not None
        assert (launch.container.reserved, launch.container.open) == (None, True)
        # what it is given stands there
        assert [(word.many, word.text.known) for word in launch.argv] == [(True, False)]

    def test_a_service_of_itself(self) -> None:
        found, _ = reading("services: {llm: {extends: {service: llm}, image: 'vllm/vllm-openai:v0.20.0'}}\n")
        assert [launch.open_env for launch in found.launches] == [True]
        assert [one.message for one in found.problems] == [bounds.COMPOSE_CIRCLE.message]

    def test_a_circle_ends(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "a.yml": "services: {x: {extends: {file: b.yml, service: x}, command: [vllm, serve, m]}}\n",
                "b.yml": "services: {x: {extends: {file: a.yml, service: x}, environment: {B: '1'}}}\n",
            },
        )
        found, _ = reading((tmp_path / "a.yml").read_text(), "a.yml", tmp_path)
        (launch,) = found.launches
        assert argv(launch) == ["m"]
        assert launch.open_env
        assert [repr(one) for one in found.problems] == [f"b.yml:1:25: {bounds.COMPOSE_CIRCLE.message}"]

    def test_services_that_multiply_end(self) -> None:
        # each document doubles what the services before bring
        text = "\n---\n".join(
            "services:\n"
            + "".join(
                [f"  s{number}: {{extends: s{number - 1}, environment: {{A{number}: '1'}}}}\n" for number in range(1, 40)]
                + ["  s0: {image: 'vllm/vllm-openai:v0.20.0', command: [m]}\n"]
            )
            for _ in range(3)
        )
        found, _ = reading(text)
        assert len(found.launches) <= 40
        assert {one.message for one in found.problems} == {bounds.COMPOSE_PARTS.message, bounds.COMPOSE_FIELDS.message}


class TestMergeRules:
    """A field of a service that extends another, as the Compose specification merges it."""

    def merged(self, base: str, own: str, folder: Path) -> Launch:
        write(
            folder,
            {
                "a.env": "A=a\nBOTH=a\n",
                "b.env": "B=b\nBOTH=b\n",
                "base.yml": f"services: {{base: {{{base}}}}}\n",
                "compose.yml": f"services: {{llm: {{extends: {{file: base.yml, service: base}}, {own}}}}}\n",
            },
        )
        return launch_of(folder, "compose.yml")

    @pytest.mark.parametrize(
        ("base", "own", "verb", "expected"),
        [
            ("command: [vllm, serve, a]", "init: true", 2, ["a"]),
            ("command: [vllm, serve, a]", "command: vllm serve b", 2, ["b"]),
            ("entrypoint: vllm serve, command: a", "command: [b, --port, '1']", 2, ["b", "--port", "1"]),
            ("entrypoint: [sh, -c, x], command: a", "entrypoint: [vllm, serve]", 2, ["a"]),
            ("image: 'vllm/vllm-openai:v0.20.0', command: [a]", "command: ", 0, []),
            ("image: 'vllm/vllm-openai:v0.20.0', command: [a]", "command: []", 0, []),
            ("image: 'vllm/vllm-openai:v0.20.0', command: [a]", "command: !reset null", 0, []),
            ("image: 'vllm/vllm-openai:v0.20.0', command: [a]", "command: !reset []", 0, []),
            ("image: 'vllm/vllm-openai:v0.20.0', command: [a]", "command: !override [b]", 0, ["b"]),
            ("image: 'vllm/vllm-openai:v0.20.0', entrypoint: sh, command: [a]", "entrypoint: null", 0, ["a"]),
            ("image: 'x/y:1', command: [a]", "image: 'vllm/vllm-openai:v0.20.0'", 0, ["a"]),
            ("image: 'vllm/vllm-openai:v0.20.0', command: [a]", "image: ", 0, ["a"]),
        ],
    )
    def test_command_entrypoint_and_image_replace(
        self, base: str, own: str, verb: int, expected: list[str], tmp_path: Path
    ) -> None:
        launch = self.merged(base, own, tmp_path)
        assert (len(launch.verb), argv(launch)) == (verb, expected)

    @pytest.mark.parametrize(
        ("base", "own", "expected"),
        [
            ("environment: {A: '1', B: '1'}", "environment: {B: '2', C: '2'}", {"A": "1", "B": "2", "C": "2"}),
            ("environment: [A=1, B=1]", "environment: {B: '2'}", {"A": "1", "B": "2"}),
            ("environment: {A: '1'}", "environment: [A=2, B=2]", {"A": "2", "B": "2"}),
            ("environment: {A: '1', B: '1'}", "environment: {A: }", {"A": None, "B": "1"}),
            ("environment: {A: '1', B: '1'}", "environment: [A]", {"A": None, "B": "1"}),
            ("environment: {A: '1', B: '1'}", "environment: {A: !reset null}", {"B": "1"}),
            ("environment: {A: '1', B: '1'}", "environment: !reset {}", {}),
            ("environment: {A: '1', B: '1'}", "environment: !override {C: '2'}", {"C": "2"}),
            ("environment: {A: '1'}", "environment: !override [C=2]", {"C": "2"}),
            ("environment: {A: '1'}", "environment: ", {"A": "1"}),
            ("env_file: a.env", "env_file: b.env", {"A": "a", "BOTH": "b", "B": "b"}),
            ("env_file: [a.env]", "env_file: [{path: b.env}]", {"A": "a", "BOTH": "b", "B": "b"}),
            ("env_file: [a.env]", "env_file: !override [b.env]", {"B": "b", "BOTH": "b"}),
            ("env_file: [a.env]", "env_file: !reset []", {}),
            # the first place of a file that is named twice counts
            ("env_file: [a.env, b.env]", "env_file: [a.env]", {"A": "a", "BOTH": "b", "B": "b"}),
            # whichever file says it: a variable of `environment` comes before those of files
            ("environment: {BOTH: '1'}", "env_file: b.env", {"B": "b", "BOTH": "1"}),
        ],
    )
    def test_environment_merges_by_name(self, base: str, own: str, expected: dict[str, str | None], tmp_path: Path) -> None:
        launch = self.merged(f"command: [vllm, serve, m], {base}", own, tmp_path)
        assert environment(launch) == expected

    @pytest.mark.parametrize(
        ("base", "own", "gpus", "reserved"),
        [
            ("gpus: all", "init: true", None, True),
            ("gpus: [{count: 1}]", "gpus: [{count: 2}]", 3, True),
            ("gpus: [{count: 1}]", "gpus: !override [{count: 2}]", 2, True),
            ("gpus: [{count: 1}]", "gpus: !reset []", 0, False),
            ("deploy: {replicas: 2}", "deploy: {resources: {reservations: {devices: [{count: 2}]}}}", 2, True),
            ("deploy: {resources: {reservations: {devices: [{count: 2}]}}}", "deploy: {replicas: 2}", 2, True),
            ("deploy: {resources: {reservations: {devices: [{count: 2}]}}}", "deploy: !override {replicas: 2}", 0, False),
            (
                "deploy: {resources: {reservations: {devices: [{count: 2}]}}}",
                "deploy: {resources: {reservations: {devices: !override [{count: 4}]}}}",
                4,
                True,
            ),
            ("deploy: {resources: {reservations: {devices: [{count: 2}]}}}", "deploy: {resources: !reset {}}", 0, False),
            ("devices: ['nvidia.com/gpu=0']", "devices: ['nvidia.com/gpu=1']", 2, True),
            ("runtime: nvidia", "runtime: runc", None, False),
        ],
    )
    def test_reservations_merge(self, base: str, own: str, gpus: int | None, reserved: bool, tmp_path: Path) -> None:
        launch = self.merged(f"image: 'vllm/vllm-openai:v0.20.0', command: [m], {base}", own, tmp_path)
        assert launch.container is not None
        assert (launch.container.gpus or 0, launch.container.reserved) == (gpus or 0, reserved)
        assert launch.container.gpus == gpus or not reserved

    @pytest.mark.parametrize(
        ("base", "own", "expected"),
        [
            ("build: .", "command: [m]", "0.19.1"),
            ("build: {context: ., dockerfile: new.Dockerfile}", "command: [m]", "0.20.0"),
            ("build: .", "build: {dockerfile: new.Dockerfile}", "0.20.0"),
            ("build: {context: ., dockerfile: new.Dockerfile}", "build: .", "0.20.0"),
            ("build: {context: ., args: {TAG: v0.18.0, X: y}}", "build: {args: [TAG=v0.17.0]}", "0.17.0"),
            ("build: {context: ., args: {TAG: v0.18.0}}", "build: {args: {X: y}}", "0.18.0"),
            ("build: {context: ., args: {TAG: v0.18.0}}", "build: {args: !reset {}}", "0.19.1"),
            ("build: {context: ., dockerfile: new.Dockerfile}", "build: {dockerfile: !reset null}", "0.19.1"),
            ("build: {context: ., dockerfile: new.Dockerfile}", "build: !override {context: .}", "0.19.1"),
        ],
    )
    def test_build_merges(self, base: str, own: str, expected: str, tmp_path: Path) -> None:
        write(tmp_path, {"Dockerfile": "ARG TAG=v0.19.1\nFROM vllm/vllm-openai:$TAG\n"})
        write(tmp_path, {"new.Dockerfile": "FROM vllm/vllm-openai:v0.20.0\n"})
        launch = self.merged(f"command: [--model, m], {base}", own, tmp_path)
        assert release(launch) == (expected, "image")


class TestOverride:
    OVERRIDE = """
        services:
          llm:
            environment: {HF_HOME: /other, MORE: "1"}
            command: [--model, Qwen/Qwen3-4B]
          extra:
            image: vllm/vllm-openai:v0.20.0
            command: [--model, Qwen/Qwen3-0.6B]
          nothing:
            environment: {A: "1"}
        """
    COMPOSE = """
        services:
          llm:
            image: vllm/vllm-openai:v0.19.1
            environment: {HF_HOME: /cache, KEPT: "1"}
            command: [--model, Qwen/Qwen3-8B]
          other:
            image: vllm/vllm-openai:v0.18.0
            command: [--model, Qwen/Qwen3-14B]
        """

    @pytest.mark.parametrize(
        ("base", "override"),
        [
            ("docker-compose.yml", "docker-compose.override.yml"),
            ("docker-compose.yaml", "docker-compose.override.yaml"),
            ("compose.yml", "compose.override.yml"),
            ("compose.yaml", "compose.override.yaml"),
            ("compose.yaml", "docker-compose.override.yml"),
        ],
    )
    def test_both_files_tell_the_service_as_it_is_started(self, base: str, override: str, tmp_path: Path) -> None:
        write(tmp_path, {base: self.COMPOSE, override: self.OVERRIDE})
        read_as_base = {launch.name: launch for launch in launches_of(tmp_path, base)}
        read_as_override = {launch.name: launch for launch in launches_of(tmp_path, override)}
        assert read_as_base.keys() == {"services.llm", "services.other"}
        assert read_as_override.keys() == {"services.llm", "services.extra"}
        for name, found, line in ((base, read_as_base, 5), (override, read_as_override, 4)):
            launch = found["services.llm"]
            assert argv(launch) == ["--model", "Qwen/Qwen3-4B"]
            assert environment(launch) == {"HF_HOME": "/other", "KEPT": "1", "MORE": "1"}
            assert release(launch) == ("0.19.1", "image")
            assert [place(span)[:2] for span in spans(launch.argv)] == [(override, 4)] * 2
            assert place(launch.env["KEPT"].site)[0] == base
            assert (launch.source.path, launch.site.source.path) == (name, name)
            assert launch.line == line
        assert read_as_base["services.llm"].owner is None
        owner = read_as_override["services.llm"].owner
        assert owner is not None
        assert owner.path == base
        assert read_as_override["services.extra"].owner is None
        assert release(read_as_base["services.other"]) == ("0.18.0", "image")

    def test_a_service_without_a_command_of_its_own_stands_at_its_name(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "compose.yml": self.COMPOSE,
                "compose.override.yml": "services:\n  llm:\n    environment: {A: '1'}\n    ports: ['8000:8000']\n",
            },
        )
        launch = launch_of(tmp_path, "compose.override.yml")
        assert place(launch.site) == ("compose.override.yml", 2, "llm")
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B"]

    @pytest.mark.parametrize(
        ("base", "override"),
        [
            # the first name that is there wins, of each kind
            ("docker-compose.yml", "compose.yaml"),
            ("compose.yml", "compose.prod.yml"),
            ("stack.yml", "stack.override.yml"),
            ("stack.yml", "compose.override.yml"),
            ("deploy/compose.yml", "compose.override.yml"),
        ],
    )
    def test_another_file_beside_it_says_nothing(self, base: str, override: str, tmp_path: Path) -> None:
        write(tmp_path, {base: self.COMPOSE, override: self.OVERRIDE})
        llm = next(launch for launch in launches_of(tmp_path, base) if launch.name == "services.llm")
        assert argv(llm) == ["--model", "Qwen/Qwen3-8B"]
        assert environment(llm) == {"HF_HOME": "/cache", "KEPT": "1"}

    def test_the_file_that_compose_does_not_take_is_read_alone(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "compose.yaml": "services: {}\n",
                "docker-compose.yml": self.COMPOSE,
                "compose.override.yml": self.OVERRIDE,
                "docker-compose.override.yml": self.OVERRIDE,
            },
        )
        assert [argv(launch)[1] for launch in launches_of(tmp_path, "docker-compose.yml")] == [
            "Qwen/Qwen3-8B",
            "Qwen/Qwen3-14B",
        ]
        assert [argv(launch)[1] for launch in launches_of(tmp_path, "docker-compose.override.yml")] == ["Qwen/Qwen3-0.6B"]

    @pytest.mark.parametrize("override", ["services: [\n", "just a text\n", "services: [llm]\n", "services:\n", "", "\0"])
    def test_an_override_that_is_none_changes_nothing(self, override: str, tmp_path: Path) -> None:
        write(tmp_path, {"compose.yml": self.COMPOSE, "compose.override.yml": override})
        assert [argv(launch)[1] for launch in launches_of(tmp_path, "compose.yml")] == ["Qwen/Qwen3-8B", "Qwen/Qwen3-14B"]

    def test_tags_take_away_and_replace(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "compose.yml": self.COMPOSE,
                "compose.override.yml": """
                    services:
                      llm: !override
                        image: vllm/vllm-openai:v0.20.0
                      other: !reset null
                    """,
            },
        )
        launch = launch_of(tmp_path, "compose.yml")
        assert (launch.name, argv(launch), environment(launch)) == ("services.llm", [], {})
        assert release(launch) == ("0.20.0", "image")

    def test_the_base_s_service_is_extended_before_it_is_overridden(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "compose.yml": """
                    services:
                      base: {image: "vllm/vllm-openai:v0.19.1", command: "--model a"}
                      llm: {extends: base}
                    """,
                "compose.override.yml": "services: {base: {command: '--model b'}, llm: {environment: {VLLM_X: '1'}}}\n",
            },
        )
        launches = {launch.name: launch for launch in launches_of(tmp_path, "compose.yml")}
        assert argv(launches["services.base"]) == ["--model", "b"]
        assert argv(launches["services.llm"]) == ["--model", "a"]
        assert environment(launches["services.llm"]) == {"VLLM_X": "1"}

    def test_configs_of_either_file_are_mounted(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "compose.yml": """
                    services: {llm: {image: "vllm/vllm-openai:v0.19.1", entrypoint: [bash, /start.sh], configs: [start.sh]}}
                    configs: {start.sh: {content: vllm serve a}}
                    """,
                "compose.override.yml": "services: {llm: {init: true}}\nconfigs: {start.sh: {content: vllm serve b}}\n",
            },
        )
        assert argv(launch_of(tmp_path, "compose.yml")) == ["b"]


class TestPartOfAService:
    """A file for `docker compose -f base.yml -f this.yml`."""

    def test_a_command_that_starts_an_engine_is_read(self) -> None:
        launch = launch_in("services: {llm: {command: [vllm, serve, Qwen/Qwen3-8B], environment: {A: '1'}}}\n")
        assert argv(launch) == ["Qwen/Qwen3-8B"]
        assert (release(launch), launch.image, launch.open_env) == ((None, None), None, True)
        assert launch.container is not None
        assert (launch.container.reserved, launch.container.open) == (None, True)

    @pytest.mark.parametrize(
        "service",
        ["command: [--model, Qwen/Qwen3-8B]", "command: serve --port 8000", "environment: {VLLM_PORT: '1'}", "ports: ['vllm']"],
    )
    def test_anything_else_may_be_for_any_image(self, service: str) -> None:
        assert launches_in(f"services: {{vllm: {{{service}}}}}\n") == []


class TestInclude:
    INCLUDED = """
        services:
          llm:
            image: vllm/vllm-openai:v0.19.1
            environment: {HF_HOME: "${CACHE:-/cache}", OWN: "${OWN}"}
            env_file: llm.env
            command: [--model, "${MODEL}"]
        """

    def test_included_services_are_told_where_they_stand(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {"vllm/llm.yml": self.INCLUDED, "compose.yml": "include: [vllm/llm.yml]\nservices: {web: {image: nginx}}\n"},
        )
        assert launches_of(tmp_path, "compose.yml") == []
        assert [launch.name for launch in launches_of(tmp_path, "vllm/llm.yml")] == ["services.llm"]

    @pytest.mark.parametrize(
        ("include", "model", "own", "file"),
        [
            ("- vllm/llm.yml", "project", "included", "included"),
            ("- path: vllm/llm.yml", "project", "included", "included"),
            ("- path: [vllm/llm.yml, vllm/more.yml]", "project", "more", "included"),
            ("- {path: vllm/llm.yml, env_file: other.env}", "project", "other", "included"),
            ("- {path: vllm/llm.yml, env_file: [vllm/.env, other.env]}", "project", "other", "included"),
            ("- {path: vllm/llm.yml, project_directory: .}", "project", None, "project"),
            ("- ${FOLDER:-vllm}/llm.yml", "project", "included", "included"),
            ("- deeper.yml", "project", "included", "included"),
        ],
    )
    @pytest.mark.parametrize("how", ["override", "extends"])
    def test_they_can_be_changed(self, include: str, model: str, own: str | None, file: str, how: str, tmp_path: Path) -> None:
        override = "services: {llm: {environment: {CHANGED: '1'}}}\n"
        extending = "services: {mine: {extends: {service: llm}, environment: {CHANGED: '1'}}}\n"
        write(
            tmp_path,
            {
                ".env": "MODEL=project\n",
                "llm.env": "FILE=project\n",
                "other.env": "OWN=other\nMODEL=other\n",
                "vllm/.env": "MODEL=included\nOWN=included\n",
                "vllm/llm.env": "FILE=included\n",
                "vllm/llm.yml": self.INCLUDED,
                "vllm/more.yml": "services: {llm: {environment: {OWN: more}}}\n",
                "deeper.yml": "include: [vllm/llm.yml]\n",
            },
        )
        (tmp_path / "compose.yml").write_text(f"include:\n  {include}\n{extending if how == 'extends' else ''}")
        (tmp_path / "compose.override.yml").write_text(override if how == "override" else "{}\n")
        launch = launch_of(tmp_path, "compose.yml" if how == "extends" else "compose.override.yml")
        assert argv(launch) == ["--model", model]
        found = environment(launch)
        assert found == {"HF_HOME": "/cache", "OWN": own or "${OWN}", "FILE": file, "CHANGED": "1"}
        assert place(launch.env["HF_HOME"].site)[0] == "vllm/llm.yml"
        assert launch.owner is None

    @pytest.mark.parametrize(
        "include",
        ["[nowhere.yml]", "['${FILE}']", "[{}]", "[[x]]", "compose.yml", "[compose.yml]", "[{path: [a, {b: c}]}]", "5", ""],
    )
    def test_what_is_not_here_says_nothing(self, include: str, tmp_path: Path) -> None:
        write(tmp_path, {"compose.yml": f"include: {include}\nservices: {{a: {{extends: b, command: [vllm, serve, m]}}}}\n"})
        launch = launch_of(tmp_path, "compose.yml")
        assert (argv(launch), launch.open_env) == (["m"], True)


class TestDocuments:
    def test_a_later_document_changes_what_an_earlier_one_says(self) -> None:
        launch = launch_in("""
            services: {a: {image: "vllm/vllm-openai:v0.20.0", environment: {A: "1", B: "1"}}}
            ---
            services: {a: {command: [--model, m], environment: {B: "2"}}}
        """)
        assert (argv(launch), environment(launch)) == (["--model", "m"], {"A": "1", "B": "2"})

    def test_and_takes_away(self) -> None:
        assert (
            launches_in("""
            services: {a: {image: "vllm/vllm-openai:v0.20.0"}}
            ---
            services: {a: !reset null}
        """)
            == []
        )


def test_a_file_without_a_folder_has_no_others() -> None:
    launch = launch_in("""
        include: [../other.yml]
        services:
          llm: {extends: {file: /etc/hostname, service: x}, image: "vllm/vllm-openai:v0.20.0", command: [m]}
    """)
    assert (argv(launch), launch.open_env) == (["m"], True)


def test_what_an_included_file_lacks_may_stand_in_its_project(tmp_path: Path) -> None:
    """docker/ollama/compose.yaml is one of several files that the compose.yaml of the folder above includes."""
    part = """
        services:
          ollama:
            image: ollama/ollama:0.5.7
            depends_on: [proxy]
            volumes: [models:/root/.ollama]
        """
    write(tmp_path, {"docker/ollama/compose.yaml": part, "docker/other/compose.yaml": part})
    included = "include:\n  - ./docker/proxy/compose.yaml\n  - ./docker/ollama/compose.yaml\n"
    write(tmp_path, {"compose.yaml": included})

    def missing(name: str) -> list[str]:
        return sorted(one.kind for one in launch_of(tmp_path, name).mishaps)

    assert missing("docker/ollama/compose.yaml") == []
    assert missing("docker/other/compose.yaml") == ["no-service", "no-such-volume"]
