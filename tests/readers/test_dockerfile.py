"""Dockerfiles: what the image starts that a file makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.engines.config import configs
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, sites, spans
from tests.together import together


class TestCommand:
    def test_arguments_for_the_entry_point_of_the_base_image(self) -> None:
        launch, marks = marked_launch(
            """
            FROM vllm/vllm-openai:v0.20.0
            CMD ["⟦--model⟧", "⟦Qwen/Qwen3-8B⟧", \\
                 # the port
                 "⟦--port⟧", "⟦8000⟧"]
            """,
            "Dockerfile",
        )
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks
        assert lines(launch) == (2, 4)
        assert launch.verb == ()
        assert release(launch) == ("0.20.0", "image")
        assert launch.name == ""
        assert launch.image is not None
        assert launch.image.shown == "vllm/vllm-openai:v0.20.0"

    def test_escapes_in_json(self) -> None:
        launch, marks = marked_launch(
            r"""
            FROM vllm/vllm-openai:v0.20.0
            CMD ["m", ⟦"--speculative-config"⟧, ⟦"{\"method\": \"mtp\", \"num_speculative_tokens\": 2}"⟧]
            """,
            "Dockerfile",
        )
        assert argv(launch)[2] == '{"method": "mtp", "num_speculative_tokens": 2}'
        assert sites(launch.argv[1:]) == marks

    def test_entry_point_and_command(self) -> None:
        launch, marks = marked_launch(
            """
            FROM vllm/vllm-openai:v0.20.0
            CMD ["⟦Qwen/Qwen3-8B⟧", "⟦--port⟧", "⟦8000⟧"]
            ENTRYPOINT ["vllm", "serve"]
            """,
            "Containerfile",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == marks
        assert [word.shown for word in launch.verb] == ["vllm", "serve"]

    def test_the_shell_s_form(self) -> None:
        launch, marks = marked_launch(
            """
            FROM python:3.12
            RUN pip install vllm==0.20.0
            ENV MODEL=⟦Qwen/Qwen3-8B⟧
            ENTRYPOINT exec vllm serve $MODEL \\
                --port ⟦${PORT}⟧ # the end
            CMD ["--never", "seen"]
            """,
            "serve.Dockerfile",
        )
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "${PORT}"]
        assert [launch.argv[0].text.span(), launch.argv[2].text.span()] == marks
        assert release(launch) == ("0.20.0", "pip")
        assert launch.line == 4

    def test_variables_are_not_replaced_in_an_array(self) -> None:
        launch = launch_in('FROM vllm/vllm-openai:v0.20.0\nENV M=m\nCMD ["--model", "$M"]\n', "Dockerfile")
        assert [word.value for word in launch.argv] == ["--model", "$M"]

    def test_a_shell_in_an_array(self) -> None:
        launch = launch_in(
            'FROM vllm/vllm-openai:v0.20.0\nENV M=m\nENTRYPOINT []\nCMD ["bash", "-c", "vllm serve $M --seed $S"]\n',
            "Dockerfile",
        )
        assert argv(launch) == ["m", "--seed", "${S}"]

    def test_behind_an_init_process(self) -> None:
        launch = launch_in(
            'FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT ["tini", "-g", "--"]\nCMD ["vllm", "serve", "m"]\n', "Dockerfile"
        )
        assert argv(launch) == ["m"]

    def test_an_entry_point_of_unknown_content_that_passes_on(self) -> None:
        text = 'FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT ["/{}"]\nCMD ["vllm", "serve", "m"]\n'
        assert argv(launch_in(text.format("docker-entrypoint.sh"), "Dockerfile")) == ["m"]
        assert argv(launch_in(text.format("app"), "Dockerfile")) == ["m"]
        assert launches_in(text.format("start.py"), "Dockerfile") == []

    def test_an_entry_point_waits_for_arguments(self) -> None:
        launch = launch_in('FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT ["vllm", "serve", "--port", "1"]\n', "Dockerfile")
        assert argv(launch) == ["--port", "1", ""]
        assert launch.argv[-1].many

    @together(
        "text",
        [
            "FROM vllm/vllm-openai:v0.20.0\nRUN pip install hf_transfer\n",  # the image's own start, with nothing
            "FROM vllm/vllm-openai:v0.20.0\nHEALTHCHECK CMD vllm serve m\n",
            "FROM vllm/vllm-openai:v0.20.0\nRUN vllm serve m\n",
            "FROM vllm/vllm-openai:v0.20.0\nONBUILD CMD vllm serve m\n",
            "FROM vllm/vllm-openai:v0.20.0\nLABEL start='vllm serve m'\n",
            'FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT ["vllm"]\nCMD ["--help"]\n',
            'FROM vllm/vllm-openai:v0.20.0\nCMD ["python3", "-u", "handler.py"]\n',
            'FROM vllm/vllm-openai:v0.20.0\nCMD ["/start.sh"]\n',
            'FROM vllm/vllm-openai:v0.20.0\nCMD ["/bin/bash"]\n',
            "FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT []\nCMD []\n",
            'FROM nginx\n# CMD ["vllm", "serve", "m"]\nCMD ["nginx"]\n',
            'FROM python\nCMD ["vllm", "bench", "serve", "--model", "m"]\n',
            'CMD ["vllm", "serve", "m"]\n',  # in no stage
            'FROM vllm/vllm-openai:v0.20.0\nCMD ["m",\n     "--port", "1"]\n',  # cut short: it cannot be built
        ],
    )
    def test_what_starts_nothing(self, text: str) -> None:
        assert launches_in(text, "Dockerfile") == []

    @pytest.mark.parametrize(
        "command",
        [
            'CMD ["-m", "a.gguf" "--port", "8080"]',
            'CMD ["-m", "a.gguf", "--port", "8080",]',
            "CMD ['-m', 'a.gguf', '--port', '8080']",
            'CMD ["-m", "a.gguf", "--port", "8080"',
        ],
    )
    def test_a_list_that_is_not_json_starts_nothing(self, command: str) -> None:
        (launch,) = launches_in(f"FROM ghcr.io/ggml-org/llama.cpp:server-cuda-b5583\n{command}\n", "Dockerfile")
        assert (launch.started, [one.kind for one in launch.mishaps]) == (False, ["not-json"])
        assert argv(launch)[-2:] == ["--port", "8080"]

    @pytest.mark.parametrize("image", ["vllm/vllm-openai:v0.20.0", "ghcr.io/ggml-org/llama.cpp:server-cuda-b5583"])
    def test_options_that_are_not_a_list_start_nothing(self, image: str) -> None:
        (launch,) = launches_in(f"FROM {image}\nENV A=1\nCMD --model m \\\n  --port 8080\n", "Dockerfile")
        assert (launch.started, [one.kind for one in launch.mishaps]) == (False, ["shell-form"])
        assert argv(launch) == ["--model", "m", "--port", "8080"]

    @pytest.mark.parametrize(
        "text",
        [
            'FROM vllm/vllm-openai:v0.20.0\nCMD ["--model", "m"]\n',
            "FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT vllm serve m\n",
            "FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT []\nCMD vllm serve m\n",
        ],
    )
    def test_what_a_shell_or_the_entrypoint_starts(self, text: str) -> None:
        (launch,) = launches_in(text, "Dockerfile")
        assert (launch.started, launch.mishaps) == (True, [])

    def test_brackets_of_a_shell_are_not_a_list(self) -> None:
        found = launches_in('FROM vllm/vllm-openai:v0.33.0\nENTRYPOINT [ -f /m ] && exec vllm serve "m"\n', "Dockerfile")
        assert all(not launch.mishaps for launch in found)


class TestStages:
    TEXT = """
        FROM vllm/vllm-openai:v0.20.0 AS base
        ENV A=1
        CMD ["--model", "never"]
        FROM base AS prefill
        CMD ["--model", "p"]
        FROM base AS tools
        CMD ["vllm", "serve", "t"]
        FROM base
        COPY --from=tools /x /x
        ENV A=2
        CMD ["--model", "d"]
    """

    def test_the_last_and_other_targets(self) -> None:
        found = launches_in(self.TEXT, "Dockerfile")
        assert [(launch.name, argv(launch)[-1], environment(launch)) for launch in found] == [
            ("prefill", "p", {"A": "1"}),
            ("", "d", {"A": "2"}),
        ]

    def test_targets_that_start_the_same(self) -> None:
        text = 'FROM vllm/vllm-openai:v0.20.0 AS base\nCMD ["m"]\nFROM base AS one\nFROM base\n'
        assert argv(launch_in(text, "Dockerfile")) == ["m"]


class TestEnvironment:
    def test_what_the_image_sets(self) -> None:
        launch, marks = marked_launch(
            """
            FROM vllm/vllm-openai:v0.20.0
            ENV ⟦VLLM_USE_V1=0⟧ \\
                # which path
                ⟦PATH="/x:$PATH"⟧
            CMD ["m"]
            """,
            "Dockerfile",
        )
        assert environment(launch) == {"VLLM_USE_V1": "0", "PATH": "/x:${PATH}"}
        assert [variable.site for variable in launch.env.values()] == marks

    def test_a_build_argument_is_not_there_when_it_runs(self) -> None:
        launch = launch_in("FROM vllm/vllm-openai:v0.20.0\nARG MODEL=m\nENTRYPOINT vllm serve $MODEL\n", "Dockerfile")
        assert argv(launch) == ["${MODEL}"]
        assert environment(launch) == {}

    @pytest.mark.parametrize("line", ["ARG MODEL=", 'ARG MODEL=""', "ARG MODEL=''", "ARG MODEL=m\nARG MODEL="])
    def test_an_empty_build_argument_is_for_the_build_to_fill(self, line: str) -> None:
        text = f"FROM vllm/vllm-openai:v0.20.0\n{line}\nENV MODEL=$MODEL D=${{MODEL:-d}}\nENTRYPOINT vllm serve $MODEL --n $D\n"
        launch = launch_in(text, "Dockerfile")
        assert argv(launch) == ["${MODEL}", "--n", "d"]
        assert environment(launch) == {"MODEL": "${MODEL}", "D": "d"}

    def test_what_is_set_where_it_is_run_is_not_known(self) -> None:
        launch = launch_in('FROM vllm/vllm-openai:v0.20.0\nCMD ["m"]\n', "Dockerfile")
        assert configs(launch, [])[0].operand("container.ipc").present is None


class TestRelease:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('ARG TAG=v0.20.0\nFROM vllm/vllm-openai:$TAG\nCMD ["m"]\n', ("0.20.0", "image")),
            ('FROM vllm/vllm-openai:v0.20.0\nRUN pip install vllm==0.19.1\nCMD ["m"]\n', ("0.19.1", "pip")),
            ('FROM vllm/vllm-openai:v0.20.0 AS a\nFROM a\nCMD ["m"]\n', ("0.20.0", "image")),
            ('FROM vllm/vllm-openai\nCMD ["m"]\n', (None, "image")),
            ('FROM vllm/vllm-openai:${TAG}\nCMD ["m"]\n', (None, None)),
            ('FROM lmsysorg/sglang:v0.5.9\nCMD ["python3", "-m", "sglang.launch_server"]\n', ("0.5.9", "image")),
        ],
    )
    def test_of_the_engine(self, text: str, expected: tuple[str | None, str | None]) -> None:
        assert release(launch_in(text, "Dockerfile")) == expected

    def test_what_is_installed_on_another_image_is_the_engine_s_own_build(self) -> None:
        launch = launch_in("FROM nvidia/cuda:12.8.0\nRUN pip install vllm==0.19.1\nCMD vllm serve m\n", "Dockerfile")
        assert launch.image is None


class TestScripts:
    """Scripts that the image holds are evaluated with its variables and arguments."""

    SCRIPT = '#!/bin/sh\nexec vllm serve "$MODEL" --port "${PORT:-1}" "$@"\n'

    @pytest.mark.parametrize(
        "instructions",
        [
            'COPY serve.sh /app/\nENTRYPOINT ["/app/serve.sh"]\nCMD ["--seed", "1"]',
            'COPY --chmod=755 serve.sh /app/go\nENTRYPOINT ["/app/go"]\nCMD ["--seed", "1"]',
            'COPY . /app\nWORKDIR /app\nENTRYPOINT ["./serve.sh", "--seed", "1"]',
            'WORKDIR /app\nCOPY serve.sh ./\nENTRYPOINT ["bash", "serve.sh", "--seed", "1"]',
            'WORKDIR /srv\nWORKDIR app\nCOPY ["serve.sh", "x.txt", "./"]\nENTRYPOINT ["/srv/app/serve.sh", "--seed", "1"]',
            'COPY *.sh /usr/local/bin/\nENTRYPOINT ["serve.sh", "--seed", "1"]',
            'COPY serve.sh .\nRUN chmod +x serve.sh\nENTRYPOINT ["tini", "--", "./serve.sh", "--seed", "1"]',
            "ENTRYPOINT []\nCOPY serve.sh /\nCMD /serve.sh --seed 1",
            "ADD serve.sh /\nRUN sed -i 's/\\r$//' /serve.sh && chown app /serve.sh\nENTRYPOINT exec /serve.sh --seed 1",
        ],
    )
    def test_copied_from_beside_the_file(self, instructions: str, tmp_path: Path) -> None:
        (tmp_path / "serve.sh").write_text(self.SCRIPT)
        text = f"FROM vllm/vllm-openai:v0.20.0\nENV MODEL=m PORT=2\n{instructions}\n"
        launch = launch_in(text, "Dockerfile", tmp_path)
        assert argv(launch)[:5] == ["m", "--port", "2", "--seed", "1"]
        assert all(word.many for word in launch.argv[5:])
        assert launch.source.path == "Dockerfile"
        assert launch.site.source is launch.source
        assert launch.site.text in text.partition("ENV")[2]

    @pytest.mark.parametrize(
        "instructions",
        [
            'ENTRYPOINT ["/app/serve.sh"]',  # from the base image
            'COPY other.sh /app/serve.sh\nENTRYPOINT ["/app/serve.sh"]',
            'COPY serve.sh /app/\nRUN sed -i "s/port/seed/" /app/serve.sh\nENTRYPOINT ["/app/serve.sh"]',
            'COPY serve.sh /app/\nADD https://example.com/serve.sh /app/serve.sh\nENTRYPOINT ["/bin/app"]',
            'COPY --from=builder serve.sh /app/\nENTRYPOINT ["/app/serve.sh"]',
            'COPY serve.sh /app/serve.py\nENTRYPOINT ["python", "/app/serve.py"]',
        ],
    )
    def test_what_it_holds_is_not_known(self, instructions: str, tmp_path: Path) -> None:
        (tmp_path / "serve.sh").write_text(self.SCRIPT)
        assert launches_in(f"FROM vllm/vllm-openai:v0.20.0\n{instructions}\n", "Dockerfile", tmp_path) == []

    def test_below_the_folder_that_is_built(self, tmp_path: Path) -> None:
        (tmp_path / "docker").mkdir()
        (tmp_path / "scripts").mkdir()
        (tmp_path / "scripts" / "serve.sh").write_text(self.SCRIPT)
        text = 'FROM vllm/vllm-openai:v0.20.0\nCOPY scripts/serve.sh /\nENTRYPOINT ["/serve.sh"]\n'
        assert argv(launch_in(text, "docker/Dockerfile", tmp_path / "docker"))[:3] == ["${MODEL}", "--port", "1"]

    @together(
        "instructions",
        [
            "COPY <<'EOF' /s.sh\n#!/bin/sh\nvllm serve ⟦m⟧ $X\nEOF",
            'COPY --chmod=755 <<"s.sh" /\n#!/bin/sh\nvllm serve ⟦m⟧ $X\ns.sh',
            "COPY <<EOF /s.sh\n#!/bin/sh\nvllm serve ⟦m⟧ $X\nEOF",
            "RUN cat > /s.sh <<'EOF'\n#!/bin/sh\nvllm serve ⟦m⟧ $X\nEOF",
            "RUN cat <<'EOF' > /s.sh && chmod +x /s.sh\n#!/bin/sh\nvllm serve ⟦m⟧ $X\nEOF",
            "RUN <<EOT\necho '#!/bin/sh' > /s.sh\necho 'vllm serve ⟦m⟧ $X' >> /s.sh\nEOT",
            "RUN echo '#!/bin/sh' > /s.sh\nRUN echo 'vllm serve ⟦m⟧ $X' >> /s.sh",
            "RUN echo '#!/bin/sh\\nset -e\\n\\\nvllm serve ⟦m⟧ $X\\n' > /s.sh",
            "RUN printf '#!/bin/sh\\nvllm serve ⟦m⟧ $X\\n' > /s.sh",
            "WORKDIR /\nRUN echo 'vllm serve ⟦m⟧ $X' > s.sh",
        ],
    )
    def test_written_by_the_file(self, instructions: str) -> None:
        text = f'FROM vllm/vllm-openai:v0.20.0\nENV X=y\n{instructions}\nENTRYPOINT ["/s.sh"]\n'
        launch, marks = marked_launch(text, "Dockerfile")
        assert argv(launch) == ["m", "y"]
        assert [launch.argv[0].text.span()] == marks

    def test_copied_from_another_stage(self) -> None:
        text = (
            "FROM alpine AS made\nCOPY <<'EOF' /out/s.sh\n#!/bin/sh\nvllm serve m\nEOF\n"
            'FROM vllm/vllm-openai:v0.20.0\nCOPY --from=made /out /opt\nENTRYPOINT ["/opt/s.sh"]\n'
        )
        assert argv(launch_in(text, "Dockerfile")) == ["m"]

    def test_a_script_that_sources_another(self, tmp_path: Path) -> None:
        (tmp_path / "serve.sh").write_text('#!/bin/bash\nsource "$(dirname "$0")/common.sh"\nvllm serve $M\n')
        (tmp_path / "common.sh").write_text("M=m\n")
        text = 'FROM vllm/vllm-openai:v0.20.0\nCOPY *.sh /app/\nENTRYPOINT ["/app/serve.sh"]\n'
        assert argv(launch_in(text, "Dockerfile", tmp_path)) == ["m"]

    def test_a_script_in_the_folder_of_the_image_below(self, tmp_path: Path) -> None:
        (tmp_path / "start.sh").write_text("ollama serve\n")
        text = 'FROM ollama/ollama:0.12.3\nCOPY start.sh start.sh\nENTRYPOINT ["bash", "start.sh"]\n'
        launch = launch_in(text, "Dockerfile", tmp_path)
        assert (launch.engine, launch.release.release) == ("ollama", "0.12.3")


@pytest.mark.parametrize(
    "text",
    [
        "FROM a\nCOPY --from=0 /s.sh /s.sh\nCOPY --from=a /s.sh /s.sh\nCMD /s.sh vllm\n",
        "FROM a AS a\nFROM a AS a\nCOPY --from=a / /\nCMD /s.sh vllm\n",
        "FROM\nENV\nARG\nCOPY\nCOPY a\nCMD\nENTRYPOINT\nSHELL\nWORKDIR\nRUN\n# vllm\n",
        "FROM a\nSHELL []\nSHELL [1]\nCMD [\nCMD vllm serve m\n",
        "FROM a\nENV =b c\nENV A\nRUN <<\nCOPY <<EOF\nCMD vllm\n",
        "FROM vllm\n" + "RUN a \\\n" * 500,
        "FROM vllm\nENV A=" + "${A:-" * 2000 + "\n",
    ],
)
def test_what_no_builder_takes(text: str) -> None:
    assert [argv(launch) for launch in launches_in(text, "Dockerfile")] in ([], [["m"]])


class TestWhatIsBuilt:
    @pytest.mark.parametrize(
        ("step", "script"),
        [
            ("RUN cp /usr/lib/py/vllm/entrypoints/openai/api_server.py /srv/run.py", "/srv/run.py"),
            ("RUN true && mv -f /usr/lib/py/vllm/entrypoints/openai/api_server.py /srv/", "/srv/api_server.py"),
            ("WORKDIR /srv\nRUN ln -s /opt/vllm/entrypoints/openai/api_server.py run.py", "run.py"),
        ],
    )
    @pytest.mark.parametrize("keyword", ["ENTRYPOINT", "CMD"])
    def test_a_copy_of_the_engine_s_script(self, step: str, script: str, keyword: str) -> None:
        text = f'FROM vllm/vllm-openai:v0.8.3\nENTRYPOINT []\n{step}\n{keyword} ["python3", "{script}", "--model", "m"]\n'
        launch = launch_in(text, "Dockerfile")
        assert launch.engine == "vllm"
        assert [word for word in argv(launch) if word] == ["--model", "m"]

    def test_a_copy_of_another_script(self) -> None:
        text = 'FROM python\nRUN cp /opt/app/server.py /srv/run.py\nCMD ["python3", "/srv/run.py", "--model", "m"]\n'
        assert launches_in(text, "Dockerfile") == []

    @pytest.mark.parametrize("empty", ["", '""'])
    def test_an_empty_argument_is_given_by_whoever_builds(self, empty: str) -> None:
        text = f"FROM vllm/vllm-openai:v0.20.0\nARG M={empty}\nENV M=$M\nENTRYPOINT exec vllm serve --model $M --port 1\n"
        assert argv(launch_in(text, "Dockerfile")) == ["--model", "${M}", "--port", "1"]

    @pytest.mark.parametrize(
        "step",
        [
            "RUN git clone https://example.com/vllm && pip install -r vllm/requirements.txt", "RUN pip install vllm==0.9.1",
            "RUN uv sync", "RUN make && make install",
        ],
    )  # fmt: skip
    def test_an_image_below_what_is_installed_is_not_the_engine_s(self, step: str) -> None:
        launch = launch_in(f'FROM registry.example/ubi9/python-311\n{step}\nCMD ["vllm", "serve", "m"]\n', "Dockerfile")
        assert launch.image is None

    def test_one_with_nothing_installed_is(self) -> None:
        launch = launch_in('FROM registry.example/house/llm\nCMD ["vllm", "serve", "m"]\n', "Dockerfile")
        assert launch.image is not None

    def test_an_image_that_starts_its_server_by_itself(self) -> None:
        launch = launch_in("FROM ollama/ollama:0.12.3\nENV OLLAMA_NUM_PARALLEL=2\n", "Dockerfile")
        assert (launch.engine, release(launch)[0], argv(launch)) == ("ollama", "0.12.3", [])
        assert environment(launch)["OLLAMA_NUM_PARALLEL"] == "2"
        launch = launch_in("ARG RELEASE=0.12.3\nFROM ollama/ollama:$RELEASE\nENV OLLAMA_NUM_PARALLEL=2\n", "Dockerfile")
        assert (launch.engine, release(launch)[0], launch.line) == ("ollama", "0.12.3", 2)
        assert launches_in('FROM ollama/ollama:0.12.3\nENTRYPOINT ["./start.sh"]\n', "Dockerfile") == []
        assert launches_in('FROM ollama/ollama:0.12.3\nCMD ["pull", "m"]\n', "Dockerfile") == []


class TestSupervisord:
    TEXT = """\
        FROM vllm/vllm-openai:v0.11.0
        ENV VLLM_LOGGING_LEVEL=DEBUG
        RUN cat > /etc/supervisor/conf.d/llm.conf <<'EOF'
        [program:llm]
        command=vllm serve m --port ⟦8000⟧
        EOF
        ENTRYPOINT ["/usr/bin/supervisord", "-n"]
        """

    def test_programs_of_a_file_that_a_step_writes(self) -> None:
        launch, spans = marked_launch(self.TEXT, "Dockerfile")
        assert argv(launch) == ["m", "--port", "8000"]
        assert [launch.argv[2].text.span()] == spans
        assert release(launch)[0] == "0.11.0"
        assert environment(launch)["VLLM_LOGGING_LEVEL"] == "DEBUG"

    @pytest.mark.parametrize(
        "text",
        [
            TEXT.replace("RUN cat > /etc/supervisor/conf.d/llm.conf", "COPY").replace(
                "'EOF'", "'EOF' /etc/supervisor/conf.d/llm.conf"
            ),
            TEXT.replace('ENTRYPOINT ["/usr/bin/supervisord", "-n"]', "ENTRYPOINT exec supervisord -c /etc/supervisord.conf"),
        ],
    )
    def test_other_ways(self, text: str) -> None:
        assert argv(marked_launch(text, "Dockerfile")[0]) == ["m", "--port", "8000"]

    def test_without_supervisord(self) -> None:
        text = self.TEXT.replace("⟦", "").replace("⟧", "").replace("/usr/bin/supervisord", "/usr/bin/top")
        assert [one.started for one in launches_in(text, "Dockerfile")] in ([], [False])


@together(
    "steps, pinned",
    [
        ("COPY requirements.txt /app/requirements.txt\nRUN pip install -r /app/requirements.txt", "0.20.0"),
        ("WORKDIR /app\nCOPY . .\nRUN uv pip install --system --requirement=requirements.txt", "0.20.0"),
        ("WORKDIR /app\nARG FILE=requirements.txt\nCOPY ${FILE} ./\nRUN pip install -U pip -r ${FILE}", "0.20.0"),
        ("COPY requirements.txt /app/\nRUN pip install -r /app/requirements.txt && pip install vllm==0.19.1", "0.19.1"),
        ("RUN pip install -r /app/requirements.txt", None),
        ("COPY requirements.txt /app/\nRUN echo pip uninstall -r /app/other.txt", None),
    ],
)  # fmt: skip
def test_requirements_that_a_step_installs(steps: str, pinned: str | None, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\nvllm[audio]==0.20.0  # pinned\n")
    text = f'FROM python:3.12\n{steps}\nCMD ["vllm", "serve", "m"]\n'
    assert launch_in(text, "Dockerfile", tmp_path).release.release == pinned


def test_requirements_of_an_earlier_stage(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("vllm==0.20.0\n")
    base = "FROM python:3.12 AS base\nCOPY requirements.txt /r.txt\nRUN pip install -r /r.txt\n"
    text = base + 'FROM base\nCMD ["vllm", "serve", "m"]\n'
    assert launch_in(text, "Dockerfile", tmp_path).release.release == "0.20.0"


@together(
    "steps, expected",
    [
        ("FROM vllm/vllm-openai:v0.18.1\nRUN for p in /p/*.patch; do patch -p1 < $p; done", ("0.18.1", "+patched")),
        ("FROM vllm/vllm-openai:v0.18.1 AS a\nRUN cd /x && git apply /p/a.patch\nFROM a", ("0.18.1", "+patched")),
        ("FROM vllm/vllm-openai:v0.18.1\nRUN apt-get install -y patch && pip install patch-ng", ("0.18.1", "")),
        (
            "FROM a\nRUN git clone -b v0.18.1 https://github.com/vllm-project/vllm /v && cd /v && git apply a && pip install .",
            ("0.18.1", "+patched"),
        ),
        ("FROM python:3.12\nRUN git clone https://github.com/house/vllm\nRUN cd vllm && pip install -e .", (None, "+fork")),
    ],
)
def test_an_engine_that_a_step_changes(steps: str, expected: tuple[str | None, str]) -> None:
    claim = launch_in(f'{steps}\nENTRYPOINT ["vllm", "serve", "m", "--turbo-mode"]\n', "Dockerfile").release
    assert (claim.release, claim.build) == expected
