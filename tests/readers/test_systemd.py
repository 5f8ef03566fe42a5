"""systemd services, and Quadlet units."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servelint.core.launch import Launch
from servelint.core.source import Source, Span
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, reading, release, sites, spans
from tests.together import together


def service(text: str, folder: Path | None = None) -> Launch:
    return launch_in("[Service]\n" + text, "llm.service", folder)


def marked_service(text: str) -> tuple[Launch, list[Span]]:
    return marked_launch("[Service]\n" + text, "llm.service")


class TestLines:
    def test_a_backslash_at_the_line_end_joins_lines(self) -> None:
        launch, marks = marked_launch(
            """
            [Unit]
            Description=the model
            After=network-online.target

            [Service]
            Type=simple
            ExecStart=/opt/llm/bin/vllm serve ⟦Qwen/Qwen3-8B⟧ \\
                ⟦--port⟧ ⟦8000⟧ \\
              ⟦--max-model-len=32768⟧
            Restart=always

            [Install]
            WantedBy=multi-user.target
            """,
            "llm.service",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--max-model-len=32768"]
        assert sites(launch.argv) == marks
        assert lines(launch) == (7, 9)
        assert launch.cut is None

    def test_one_that_is_glued_to_a_word_separates_it_too(self) -> None:
        launch = service("ExecStart=/opt/llama-server\\\n-m a.gguf\\\n--port 8080\n")
        assert (launch.engine, argv(launch)) == ("llama.cpp", ["-m", "a.gguf", "--port", "8080"])

    def test_two_of_them_are_none(self) -> None:
        launch = service("ExecStart=/opt/llama-server -m a\\\\\n--port 8080\n")
        assert argv(launch) == ["-m", "a\\"]

    def test_comment_lines_between_are_passed_over(self) -> None:
        launch = service("ExecStart=vllm serve m \\\n  # --seed 1 \\\n; --seed 2\n  --port 8000\n")
        assert argv(launch) == ["m", "--port", "8000"]

    def test_a_missing_backslash_ends_the_command(self) -> None:
        launch, marks = marked_service(
            "ExecStart=vllm serve m \\\n  --port 8000\n  ⟦--seed 1 \\\n  --max-num-seqs=4⟧\nRestart=no\n"
        )
        assert argv(launch) == ["m", "--port", "8000"]
        assert launch.cut == marks[0]

    def test_a_blank_behind_the_backslash_makes_a_word_of_it(self) -> None:
        launch, marks = marked_service("ExecStart=vllm serve m \\ \n  ⟦--port 8000⟧\n")
        assert argv(launch) == ["m", "\\"]
        assert launch.cut == marks[0]

    def test_a_blank_line_ends_the_command(self) -> None:
        launch, marks = marked_service("ExecStart=vllm serve m \\\n\n  ⟦--port 8000⟧\n")
        assert argv(launch) == ["m"]
        assert launch.cut == marks[0]

    def test_another_setting_is_not_a_rest_of_the_command(self) -> None:
        launch = service("ExecStart=vllm serve m\n# --port 8000\nExecStop=-/bin/true\n  --seed 1\n")
        assert launch.cut is None

    def test_carriage_returns(self) -> None:
        launch = service("ExecStart=vllm serve m \\\r\n  --port 8000\r\nRestart=no\r\n")
        assert argv(launch) == ["m", "--port", "8000"]


class TestWords:
    @together(
        "written, word",
        [
            ('"my model"', "my model"),
            ("'my model'", "my model"),
            ('my" model"', "my model"),
            ('\'{"a": "b"}\'', '{"a": "b"}'),
            ('"{\\"a\\": 1}"', '{"a": 1}'),
            ("'it\\'s'", "it's"),
            ("my\\x20model", "my model"),
            ("my\\040model", "my model"),
            ("my\\smodel", "my model"),
            ("caf\\u00e9", "café"),
            ("a\\qb", "a\\qb"),
            ("50%%", "50%"),
            ("{a,b}", "{a,b}"),
            ("*.gguf", "*.gguf"),
            ("a$B", "a$B"),
            ("a$$B", "a$B"),
            ("$${B}", "${B}"),
            ("$(hostname)", "$(hostname)"),
            ("%h/models", "%h/models"),
            ("${B}/x", "${B}/x"),
            ("\\xff", "\\xff"),
            ("\\000", "\\000"),
        ],
    )
    def test_quotes_escapes_and_dollars(self, written: str, word: str) -> None:
        launch = service(f"ExecStart=vllm serve m --served-model-name x{written}\n")
        assert argv(launch) == ["m", "--served-model-name", "x" + word]

    @pytest.mark.parametrize("written", ["a$B", "$(nproc)x", "a|b", "50%%", "{a,b}"])
    def test_what_is_known(self, written: str) -> None:
        assert service(f"ExecStart=vllm serve m --x x{written}\n").argv[2].text.known

    @pytest.mark.parametrize("written", ["%h", "%i", "${B}", "${B:-d}", "\\xff", "\\0", '"'])
    def test_what_is_not(self, written: str) -> None:
        launch = service(f"ExecStart=vllm serve m --x x{written}\n")
        assert launch.argv[2].text.known is (written == "\\0")

    def test_it_is_no_shell(self) -> None:
        launch = service("ExecStart=vllm serve m > log.txt 2>&1 | tee & && ; next\n")
        assert argv(launch) == ["m", ">", "log.txt", "2>&1", "|", "tee", "&", "&&"]

    def test_a_semicolon_alone_separates_commands(self) -> None:
        first, second = launches_in("[Service]\nType=oneshot\nExecStart=vllm serve a ; vllm serve b \\; c\n", "x.service")
        assert (argv(first), argv(second)) == (["a"], ["b", ";", "c"])

    def test_a_quote_that_is_never_closed(self) -> None:
        launch = service("ExecStart=vllm serve m --port 8000 '--seed 1\n")
        assert argv(launch)[:3] == ["m", "--port", "8000"]
        assert launch.argv[3].many

    @pytest.mark.parametrize("marks", ["-", "+", "!", "!!", ":", "-:", "@"])
    def test_marks_in_front_of_the_program(self, marks: str) -> None:
        name = " llm" if marks == "@" else ""
        assert argv(service(f"ExecStart={marks}/usr/bin/vllm{name} serve m\n")) == ["m"]

    def test_words_stand_at_their_places(self) -> None:
        launch, marks = marked_service("ExecStart=vllm serve ⟦m⟧ '⟦--x y⟧' \"a⟦\\x20⟧b\"\n")
        assert spans(launch.argv[:2]) == marks[:2]
        assert launch.argv[2].text.pieces[1].span == marks[2]
        assert [site.text for site in sites(launch.argv) if site] == ["m", "'--x y'", '"a\\x20b"']


class TestVariables:
    TEXT = """
        [Service]
        Environment=MODEL=⟦Qwen/Qwen3-8B⟧ "ARGS=⟦--port⟧ ⟦8000⟧ --served-model-name 'my model'"
        ExecStart=vllm serve ${MODEL} $ARGS --api-key ${KEY} $MORE
    """

    def test_known_and_unknown(self) -> None:
        launch, marks = marked_launch(self.TEXT, "llm.service")
        assert argv(launch) == [
            "Qwen/Qwen3-8B", "--port", "8000", "--served-model-name", "my model", "--api-key", "${KEY}", "${MORE}",
        ]  # fmt: skip
        assert spans(launch.argv[:3]) == marks
        assert [word.many for word in launch.argv[-2:]] == [False, True]
        assert [site.text for site in sites(launch.argv[:3]) if site] == ["${MODEL}", "$ARGS", "$ARGS"]

    def test_a_colon_keeps_them_as_they_are(self) -> None:
        launch = service("Environment=MODEL=m\nExecStart=:vllm serve ${MODEL}\n")
        assert launch.argv[0].value == "${MODEL}"

    def test_inside_a_word_only_braces_count(self) -> None:
        launch = service("Environment=PORT=8000\nExecStart=vllm serve m --port=$PORT --port=${PORT}\n")
        assert argv(launch) == ["m", "--port=$PORT", "--port=8000"]

    def test_a_shell_inside_sees_what_systemd_leaves(self) -> None:
        launch = service(
            "Environment=MODEL=m PORT=8000\n"
            "ExecStart=/bin/bash -c 'cd /srv && exec vllm serve ${MODEL} --port $PORT --x $$(nproc) --y $Z'\n"
        )
        assert argv(launch) == ["m", "--port", "8000", "--x", "$(nproc)", "--y", "${Z}"]

    def test_by_a_shell(self) -> None:
        assert argv(service("ExecStart=|vllm serve m > log.txt\n")) == ["m"]


class TestEnvironment:
    def test_settings_add_up_and_an_empty_one_takes_them_back(self) -> None:
        launch = service("""
            Environment=A=1 B=1
            Environment=
            Environment="C=a b" D='x' not-an-assignment E=
            Environment=C=2
            ExecStart=vllm serve m
        """)
        assert environment(launch) == {"C": "2", "D": "x", "E": ""}
        assert not launch.open_env

    def test_values_stand_at_their_places(self) -> None:
        launch, marks = marked_service('Environment="VLLM_USE_V1=⟦1⟧" HF_HOME=⟦/cache⟧\nExecStart=vllm serve m\n')
        assert [variable.value.span() for variable in launch.env.values() if variable.value] == marks

    def test_passed_and_taken_away(self) -> None:
        launch = service("""
            PassEnvironment=HF_TOKEN OTHER
            Environment=A=1 B=1 C=1
            UnsetEnvironment=A B=2 C=1 OTHER
            ExecStart=vllm serve m
        """)
        assert environment(launch) == {"HF_TOKEN": None, "B": "1"}

    def test_an_environment_file_beside_the_unit(self, tmp_path: Path) -> None:
        (tmp_path / "llm.env").write_text(
            '# comment\n; comment\nA=1\nMODEL="Qwen/Qwen3-8B"\nB=\'a b\' \nC=a \\\n b # c\nD=$A\nexport E=1\nF="x\\$y\\z"\nG=\n'
        )
        launch = service(
            "Environment=A=0 Z=1\nEnvironmentFile=-/etc/llm/llm.env\nExecStart=vllm serve ${MODEL} --x ${D}\n", tmp_path
        )
        assert environment(launch) == {
            "A": "1", "Z": "1", "MODEL": "Qwen/Qwen3-8B", "B": "a b", "C": "a  b # c", "D": "$A", "F": "x$y\\z", "G": "",
        }  # fmt: skip
        assert argv(launch) == ["Qwen/Qwen3-8B", "--x", "$A"]
        assert launch.argv[0].text.assumed
        assert launch.argv[0].text.origin is not None
        assert launch.argv[0].text.origin.source.path == "llm.env"
        assert not launch.open_env

    @pytest.mark.parametrize("path", ["/etc/llm/llm.env", "-/etc/llm/llm.env", "%h/llm.env", "/etc/llm/*.env"])
    def test_one_that_is_not_here(self, path: str, tmp_path: Path) -> None:
        launch = service(f"EnvironmentFile={path}\nExecStart=vllm serve m $ARGS\n", tmp_path)
        assert launch.open_env
        assert launch.argv[1].many

    def test_the_file_of_that_path_on_this_machine_is_not_read(self, tmp_path: Path) -> None:
        (tmp_path / "unit").mkdir()
        (tmp_path / "llm.env").write_text("A=1\n")
        launch = service(f"EnvironmentFile={tmp_path}/llm.env\nExecStart=vllm serve m\n", tmp_path / "unit")
        assert environment(launch) == {}


class TestCommands:
    def test_only_the_start_is_a_launch(self) -> None:
        assert (
            launches_in(
                """
                [Service]
                ExecStartPre=vllm serve a
                ExecStart=/usr/bin/python3 bench.py --backend vllm
                ExecStartPost=vllm serve b
                ExecReload=vllm serve c
                ExecStop=vllm serve d
                """,
                "bench.service",
            )
            == []
        )

    def test_an_empty_start_takes_back_those_before_it(self) -> None:
        launch = launch_in("[Service]\nExecStart=\nExecStart=vllm serve b\n", "llm.service.d-override.conf")
        assert argv(launch) == ["b"]
        # the unit that it is added to may set more
        assert launch.open_env
        assert argv(service("ExecStart=vllm serve a\nExecStart=\nExecStart=vllm serve b\n")) == ["b"]

    def test_several_starts(self) -> None:
        launches = launches_in("[Service]\nType=oneshot\nExecStart=vllm serve a\nExecStart=vllm serve b\n", "x.service")
        assert [argv(launch) for launch in launches] == [["a"], ["b"]]

    def test_another_section_starts_nothing(self) -> None:
        assert launches_in("[Unit]\nExecStart=vllm serve m\n[X-Service]\nExecStart=vllm serve m\n", "x.service") == []

    def test_a_container(self) -> None:
        launch, marks = marked_service("""
            ExecStartPre=-/usr/bin/docker rm -f llm
            ExecStart=/usr/bin/docker run --rm --name llm --gpus all --ipc=host \\
                -e HF_TOKEN=${HF_TOKEN} -e VLLM_USE_V1=1 -v %h/.cache:/root/.cache \\
                vllm/vllm-openai:v⟦0.20.0⟧ \\
                ⟦--model⟧ ⟦Qwen/Qwen3-8B⟧
        """)
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B"]
        assert spans(launch.argv) == marks[1:]
        assert launch.release.span == marks[0]
        assert environment(launch) == {"HF_TOKEN": "${HF_TOKEN}", "VLLM_USE_V1": "1"}
        assert lines(launch) == (4, 7)

    def test_what_is_installed_before(self) -> None:
        launch = service("ExecStartPre=/opt/llm/bin/pip install -q vllm==0.19.1\nExecStart=/opt/llm/bin/vllm serve m\n")
        assert release(launch) == ("0.19.1", "pip")
        assert release(service("ExecStart=/opt/llm/bin/vllm serve m\n")) == (None, None)


class TestTemplates:
    def test_holes_are_unknown(self) -> None:
        launch = launch_in(
            """
            [Service]
            ExecStart=@BINDIR@/vllm serve {{ model }} \\
                {% if eager %}
                --enforce-eager \\
                {% endif %}
                --port {{ port | default(8000) }}
            """,
            "llm.service.j2",
        )
        assert argv(launch) == ["{{ model }}", "--enforce-eager", "--port", "{{ port | default(8000) }}"]
        assert [word.text.known for word in launch.argv] == [False, False, True, False]

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("--x{% if k is defined and a > 0 %} --api-key {{ k }}{% endif %} --port 1", ["--x", "--api-key {{ k }}"]),
            ("{% for a in b %}{{ a }} {% endfor %}--port 1", ["{% for a in b %}{{ a }} {% endfor %}"]),
            ("--x{% for a in b %} {{ a }}{% endfor %} --port 1", ["--x", "{{ a }}"]),
            ("{% if v %}--a{% else %}--b c{% endif %} --port 1", ["--a", "--b c"]),
            ("{% if v %}--a {% endif %}{% if w %}--b c {% endif %}--port 1", ["--a", "--b c"]),
            ("{{ '--b ' ~ c if c else '' }} --port 1", ["{{ '--b ' ~ c if c else '' }}"]),
            ("--d a{% if v %}1{% else %}2{% endif %} --port 1", ["--d", "a{% if v %}1{% else %}2{% endif %}"]),
            ("--x{# why #} --port 1", ["--x"]),
        ],
    )
    def test_parts_within_a_line(self, line: str, words: list[str]) -> None:
        launch = launch_in(f"[Service]\nExecStart=/opt/bin/vllm serve {{{{ m }}}} {line}\n", "llm.service.j2")
        assert argv(launch) == ["{{ m }}", *words, "--port", "1"]
        assert not any(word.text.known for word in launch.argv if "{" in word.shown)

    def test_a_part_of_several_lines_that_starts_behind_a_word(self) -> None:
        launch = launch_in(
            """
            [Service]
            ExecStart=vllm serve m \\
                {%- for x in y %}
                --{{ x }} \\
                {%- endfor %}
                --a{% if d %} --b \\
                --c{% endif %} \\
                --d
            """,
            "llm.service.j2",
        )
        assert argv(launch) == ["m", "--{{ x }}", "--a", "--b", "--c", "--d"]
        assert [word.text.known for word in launch.argv] == [True, False, True, False, False, True]

    def test_a_unit_has_no_conditions(self) -> None:
        launch = service("ExecStart=vllm serve {{ m }} @M@ \\\n  {% if a %} \\\n  {% endif %}\n")
        assert argv(launch) == ["{{ m }}", "@M@", "{%", "if", "a", "%}", "{%", "endif", "%}"]
        assert [word.text.known for word in launch.argv[:2]] == [False, False]


@given(st.text("[Servic]\nEx=vlm \\'\"$%{}-#;A\r", max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    source = Source("x.service", "[Service]\nExecStart=vllm serve " + text)
    for launch in read(source).launches:
        assert 0 <= launch.site.start <= launch.site.end <= len(source.text)


def container(text: str, folder: Path | None = None) -> Launch:
    return launch_in("[Container]\n" + text, "llm.container", folder)


def test_image_and_arguments() -> None:
    launch, marks = marked_launch(
        """
        [Unit]
        Description=the model

        [Container]
        Image=docker.io/vllm/vllm-openai:v⟦0.20.0⟧
        ContainerName=llm
        PublishPort=8000:8000
        Volume=%h/.cache:/root/.cache:Z
        Exec=⟦--model⟧ ⟦Qwen/Qwen3-8B⟧ \\
          ⟦--served-model-name⟧ ⟦"my model"⟧

        [Install]
        WantedBy=default.target
        """,
        "llm.container",
    )
    assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--served-model-name", "my model"]
    assert sites(launch.argv) == marks[1:]
    assert release(launch) == ("0.20.0", "image")
    assert launch.release.span == marks[0]
    assert launch.image is not None
    assert launch.image.value == "docker.io/vllm/vllm-openai:v0.20.0"
    assert lines(launch) == (9, 10)


def test_an_image_that_starts_its_engine_without_arguments() -> None:
    launch = container("Image=ghcr.io/ggml-org/llama.cpp:server-cuda-b9180\nEnvironment=LLAMA_ARG_MODEL=/m.gguf\n")
    assert (launch.engine, argv(launch), environment(launch)) == ("llama.cpp", [], {"LLAMA_ARG_MODEL": "/m.gguf"})
    assert lines(launch) == (2, 2)


@pytest.mark.parametrize(
    "text",
    [
        "Image=docker.io/library/nginx:1.27\n",
        "Image=docker.io/lmsysorg/sglang:v0.5.9\n",
        "Exec=vllm serve m\n",
        "Image=docker.io/vllm/vllm-openai:v0.20.0\nEntrypoint=/bin/bash\nExec=-c 'vllm bench serve'\n",
        "",
    ],
)
def test_what_starts_none(text: str) -> None:
    assert launches_in("[Container]\n" + text, "x.container") == []


@pytest.mark.parametrize(
    ("entrypoint", "words", "expected"),
    [
        ("vllm", "serve m --port 80", ["m", "--port", "80"]),
        ('["vllm", "serve"]', "m --port 80", ["m", "--port", "80"]),
        ("/bin/bash", "-c 'exec vllm serve m --port 80'", ["m", "--port", "80"]),
        ("/usr/bin/env", "A=1 vllm serve m", ["m"]),
    ],
)
def test_another_entry_point(entrypoint: str, words: str, expected: list[str]) -> None:
    launch = container(f"Image=docker.io/vllm/vllm-openai:v0.20.0\nEntrypoint={entrypoint}\nExec={words}\n")
    assert argv(launch) == expected


def test_environment(tmp_path: Path) -> None:
    (tmp_path / "llm.env").write_text("A=1\nB=1\n")
    launch = container(
        """
        Image=docker.io/vllm/vllm-openai:v0.20.0
        EnvironmentFile=./llm.env
        Environment=B=2 "C=a b"
        Environment=D=%h
        PodmanArgs=--env E=1 -e F
        Exec=m
        """,
        tmp_path,
    )
    assert environment(launch) == {"A": "1", "B": "2", "C": "a b", "D": "%h", "E": "1", "F": None}
    assert not launch.open_env


def test_an_environment_file_that_is_not_here(tmp_path: Path) -> None:
    launch = container("Image=docker.io/vllm/vllm-openai:v0.20.0\nEnvironmentFile=%h/llm.env\nExec=m\n", tmp_path)
    assert launch.open_env


def test_variables_are_those_of_the_service() -> None:
    launch = launch_in(
        """
        [Service]
        Environment=MODEL=m
        [Container]
        Environment=PORT=80
        Image=docker.io/vllm/vllm-openai:v0.20.0
        Exec=--model ${MODEL} --port ${PORT} $MORE
        """,
        "llm.container",
    )
    assert argv(launch) == ["--model", "m", "--port", "${PORT}", "${MORE}"]
    assert environment(launch) == {"PORT": "80"}


@pytest.mark.parametrize(
    ("text", "gpus", "reserved"),
    [
        ("AddDevice=nvidia.com/gpu=all", None, True),
        ("AddDevice=nvidia.com/gpu=0\nAddDevice=nvidia.com/gpu=1", 2, True),
        ("PodmanArgs=--gpus 2", 2, True),
        ("AddDevice=/dev/dri", None, None),
        ("AddDevice=nvidia.com/gpu=all\nAddDevice=", None, False),
    ],
)
def test_gpus(text: str, gpus: int | None, reserved: bool | None) -> None:
    launch = container(f"Image=docker.io/vllm/vllm-openai:v0.20.0\n{text}\nExec=m\n")
    assert launch.container is not None
    assert (launch.container.gpus, launch.container.reserved) == (gpus, reserved)


def test_settings() -> None:
    launch = container("Image=docker.io/vllm/vllm-openai:v0.20.0\nShmSize=16g\nPodmanArgs=--ipc=host\nExec=m\n")
    assert launch.container is not None
    assert {name: text.shown for name, text in launch.container.settings.items()} == {"shm_size": "16g", "ipc": "host"}


def test_the_image_of_another_unit(tmp_path: Path) -> None:
    (tmp_path / "llm.image").write_text("[Image]\nImage=docker.io/vllm/vllm-openai:v0.19.1\n")
    assert release(container("Image=llm.image\nExec=m\n", tmp_path)) == ("0.19.1", "image")
    assert launches_in("[Container]\nImage=other.image\nExec=m\n", "x.container", tmp_path) == []
    assert release(container("Image=llm.build\nExec=vllm serve m\n", tmp_path)) == (None, None)


@pytest.mark.parametrize("comment", ["", "# the port\n", "; the port\n", "\n"])
def test_lines_that_are_lost(comment: str) -> None:
    launch, marks = marked_launch(
        f"[Container]\nImage=docker.io/vllm/vllm-openai:v0.20.0\nExec=--model m\n{comment}  ⟦--port 80⟧\n", "llm.container"
    )
    assert argv(launch) == ["--model", "m"]
    assert launch.cut == marks[0]


def test_how_it_is_run() -> None:
    launch = container(
        "Image=docker.io/vllm/vllm-openai:v0.20.0\nPublishPort=127.0.0.1:8000:8001\nVolume=%h/.cache:/root/.cache:Z\n"
        "Network=llm.network\nHealthCmd=curl -f http://localhost:8001/health\nHealthStartPeriod=5m\nExec=m\n"
    )
    runtime = launch.container.runtime if launch.container is not None else None
    assert runtime is not None
    assert runtime.ports is not None
    assert [(port.number, port.host, port.exposed) for port in runtime.ports] == [(8001, 8000, False)]
    assert [mount.shown for mount in runtime.mounts or []] == ["/root/.cache"]
    assert [(probe.patience, probe.port) for probe in runtime.probes] == [(390, 8001)]
    assert runtime.private


class TestDropInsOfAnEngine:
    """A drop-in of the unit that an engine's installer writes starts the engine with the variables that it adds."""

    @pytest.mark.parametrize(
        "path",
        [
            *("override.conf", "ollama.service.d/override.conf", "etc/ollama.service.d/10-gpu.conf"),
            *("override.conf.j2", "roles/ollama/templates/ollama-env.conf.j2"),
        ],
    )
    def test_its_variables(self, path: str) -> None:
        launch = launch_in('[Service]\nEnvironment="OLLAMA_HOST=0.0.0.0" OLLAMA_NUM_PARALLEL=2\n', path)
        assert (launch.engine, argv(launch)) == ("ollama", [])
        assert {name: variable.value.shown for name, variable in launch.env.items() if variable.value is not None} == {
            "OLLAMA_HOST": "0.0.0.0",
            "OLLAMA_NUM_PARALLEL": "2",
        }
        assert launch.open_env
        assert launch.site is not None

    def test_a_drop_in_of_another_unit(self) -> None:
        assert launches_in('[Service]\nEnvironment="VLLM_PORT=1"\n', "vllm.service.d/override.conf") == []

    def test_a_unit_starts_what_it_says(self) -> None:
        assert launches_in("[Service]\nEnvironment=OLLAMA_HOST=0.0.0.0\n", "ollama.service") == []


START = '#!/bin/bash\nexec vllm serve "$MODEL" "$@"\n'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/opt/llm/scripts/start.sh --port 1", [["m/m", "--port", "1"]]),
        ("%h/llm/scripts/start.sh", [["m/m"]]),
        ("/bin/bash /opt/llm/scripts/start.sh --port 1", [["m/m", "--port", "1"]]),
        ("/usr/bin/env A=b /opt/llm/scripts/start.sh", [["m/m"]]),
        ("-/srv/start.sh --port 1", [["m/m", "--port", "1"]]),
        ("/usr/local/bin/start.sh", [["m/m"]]),
        ("/opt/llm/other/start.sh", [["m/m"]]),
        ("/srv/llm/serve.py", []),
        ("/opt/llm/scripts/stop.sh", []),
        ("start.sh", []),
    ],
)
def test_a_script_of_the_repository(line: str, expected: list[list[str]], tmp_path: Path) -> None:
    units_, scripts = tmp_path / "deploy" / "systemd", tmp_path / "scripts"
    units_.mkdir(parents=True)
    scripts.mkdir()
    (scripts / "start.sh").write_text(START)
    found = launches_in(f"[Service]\nEnvironment=MODEL=m/m\nExecStart={line}\n", "llm.service", folder=units_)
    assert [argv(launch) for launch in found] == expected


def test_scripts_of_one_name(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder / "units").mkdir(parents=True)
    text = "[Service]\nEnvironment=MODEL=m/m\nExecStart=/opt/start.sh\n"
    (tmp_path / "a" / "start.sh").write_text(START)
    assert [argv(one) for one in launches_in(text, "llm.service", folder=tmp_path / "a" / "units")] == [["m/m"]]
    assert launches_in(text, "llm.service", folder=tmp_path / "b" / "units") == []
    (tmp_path / "start.sh").write_text(START.replace("serve", "serve --port 1"))
    found, _ = reading(text, "llm.service", tmp_path / "a" / "units")
    assert found.launches == []
    (problem,) = found.problems
    assert (problem.line, problem.note) == (3, "always")
    assert problem.message.startswith("/opt/start.sh may be ")


def test_a_program_of_the_repository_is_given_the_units_variables(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "serve.py").write_text(
        'import os\nos.execvp("vllm", ["vllm", "serve", os.environ["MODEL"], "--port", os.getenv("PORT", "8000")])\n'
    )
    unit = "[Service]\nEnvironment=MODEL=m/m PORT=9\nExecStart={}/usr/bin/python3 -u /opt/llm/serve.py\n"
    launch = launch_in(unit.format(""), "llm.service", tmp_path)
    assert (argv(launch), environment(launch)) == (["m/m", "--port", "9"], {"MODEL": "m/m", "PORT": "9"})
    assert launches_in("[Service]\nExecStart=/usr/bin/python3 /opt/llm/serve.py\n", "llm.service", tmp_path) == []


def test_a_script_that_reads_nothing_of_the_unit_is_judged_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("exec vllm serve m\n")
    assert launches_in("[Service]\nExecStart=/opt/start.sh\n", "llm.service", folder=tmp_path) == []


@pytest.mark.parametrize(
    ("arms", "engines"),
    [
        ("{% if a %}\nExecStart=/opt/bin/vllm serve {{ m }}\n{% endif %}\n", ["vllm"]),
        ("{% if a %}\nExecStart=vllm serve m\n{% else %}\nExecStart=llama-server -m m\n{% endif %}\n", ["vllm", "llama.cpp"]),
        (
            "{% if a == 1 %}\nExecStart=vllm serve m\n{% elif a == 2 %}\nExecStart=sglang serve --model-path m\n{% endif %}\n",
            ["vllm", "sglang"],
        ),
        ("{% if a %}{% if b %}\nExecStart=vllm serve m\n{% endif %}{% endif %}\n", ["vllm"]),
        ("{% if a %}\nExecStart=/bin/true\n{% endif %}\n", []),
    ],
)  # fmt: skip
def test_commands_that_parts_of_a_template_hold_whole(arms: str, engines: list[str]) -> None:
    found = launches_in(f"[Service]\nUser=llm\n{arms}Restart=always\n", "llm.service.j2")
    assert [launch.engine for launch in found] == engines


def test_a_word_in_a_part_within_such_a_command_is_unsure() -> None:
    text = "[Service]\n{% if a %}\nExecStart=vllm serve m \\\n{% if b %}\n  --x \\\n{% endif %}\n  --y\n{% endif %}\n"
    launch = launch_in(text, "llm.service.j2")
    assert [word.value for word in launch.argv] == ["m", None, "--y"]
