"""Shell scripts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.core.source import Source, Span
from servelint.files.siblings import Neighbours
from servelint.readers import read
from tests.launching import (
    argv,
    environment,
    launch_in,
    launches_in,
    lines,
    marked_launch,
    release,
    sites,
    spans,
)
from tests.together import together


def script(text: str, folder: Path | None = None) -> Launch:
    return launch_in(text, "run.sh", folder)


def marked_script(text: str) -> tuple[Launch, list[Span]]:
    return marked_launch(text, "run.sh")


STARTERS = [
    *(
        ("", tool)
        for tool in (
            "docker run -d",
            "podman create",
            "/usr/bin/nerdctl run",
            "docker container run",
            "docker --context gpu run",
        )
    ),
    *(
        (before, "docker run -d")
        for before in ("sudo ", "sudo -n -E ", "A=1 ", "env A=1 B= ", "$SUDO ", "${SUDO} ", "sudo A=1 ")
    ),
]
"""Words in front of a container tool, and its words in front of an image."""


class TestEntryPoints:
    @together(
        "command, engine, words",
        [
            ("vllm serve Qwen/Qwen3-8B --port 8000", "vllm", ["Qwen/Qwen3-8B", "--port", "8000"]),
            ("/opt/venv/bin/vllm serve m", "vllm", ["m"]),
            ("python -m vllm.entrypoints.openai.api_server --model m", "vllm", ["--model", "m"]),
            ("python3.12 -u -O -W ignore -m vllm.entrypoints.openai.api_server --model m", "vllm", ["--model", "m"]),
            ("python -m vllm.entrypoints.cli.main serve m", "vllm", ["m"]),
            ("python -m vllm serve m", "vllm", ["m"]),
            ("python /src/vllm/entrypoints/openai/api_server.py --model m", "vllm", ["--model", "m"]),
            ("$PYTHON -m vllm.entrypoints.openai.api_server --model m", "vllm", ["--model", "m"]),
            ("python -m sglang.launch_server --model-path m", "sglang", ["--model-path", "m"]),
            ("sglang serve --model-path m", "sglang", ["--model-path", "m"]),
            ("./build/bin/llama-server -m a.gguf", "llama.cpp", ["-m", "a.gguf"]),
            ("trtllm-serve m --port 8000", "trtllm", ["m", "--port", "8000"]),
            ("trtllm-serve serve m", "trtllm", ["m"]),
            ("lmdeploy serve api_server m", "lmdeploy", ["m"]),
            ("text-generation-launcher --model-id m", "tgi", ["--model-id", "m"]),
        ],
    )
    def test_starts_an_engine(self, command: str, engine: str, words: list[str]) -> None:
        launch = script(command)
        assert (launch.engine, argv(launch)) == (engine, words)

    @together(
        "command",
        [
            "vllm bench serve --model m",
            "vllm --version",
            "vllm serve --help",
            "sglang version",
            "python -m sglang.bench_serving --backend vllm",
            "python -m vllm.benchmarks.serve --model m",
            "python -c 'import vllm; print(vllm.__version__)'",
            "lmdeploy serve gradio m",
            "pip install vllm",
            "pkill -f 'vllm serve'",
            "echo vllm serve m",
            "grep -r 'vllm serve m' .",
            "# vllm serve m",
            "cat <<EOF\nvllm serve m\nEOF",
            "which vllm && vllm",
        ],
    )
    def test_starts_none(self, command: str) -> None:
        assert launches_in(command, "run.sh") == []


class TestWords:
    def test_quotes(self) -> None:
        launch, marks = marked_script("""
            vllm serve "⟦Qwen/Qwen3-8B⟧" --served-model-name '⟦my model⟧' --chat-template ⟦a\\ b⟧ --api-key "⟦a\\"b⟧"
        """)
        assert argv(launch) == [
            "Qwen/Qwen3-8B",
            "--served-model-name",
            "my model",
            "--chat-template",
            "a b",
            "--api-key",
            'a"b',
        ]
        assert spans(launch.argv)[::2] == marks

    def test_continued_lines_and_comments(self) -> None:
        launch, marks = marked_script("""
            #!/bin/bash
            # starts the server
            vllm serve ⟦Qwen/Qwen3-8B⟧ \\
              ⟦--port⟧ ⟦8000⟧ \\
              ⟦--max-model-len=32768⟧  # enough
            echo --port 9000
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--max-model-len=32768"]
        assert sites(launch.argv) == marks
        assert lines(launch) == (3, 5)

    def test_json_in_single_quotes(self) -> None:
        launch, marks = marked_script("""
            vllm serve m --speculative-config '⟦{"method": "mtp", "num_speculative_tokens": 2}⟧'
        """)
        assert launch.argv[2].value == '{"method": "mtp", "num_speculative_tokens": 2}'
        assert launch.argv[2].text.span() == marks[0]

    def test_redirections_belong_to_nobody(self) -> None:
        launch = script("exec vllm serve m --port 8000 > log.txt 2>&1 < /dev/null --seed 1")
        assert argv(launch) == ["m", "--port", "8000", "--seed", "1"]

    def test_in_the_background_and_in_a_pipe(self) -> None:
        launch = script("nohup vllm serve m --port 8000 2>&1 | tee log.txt &")
        assert argv(launch) == ["m", "--port", "8000"]

    def test_what_comes_after_an_operator_is_another_command(self) -> None:
        first, second = launches_in("cd /srv && vllm serve a --port 1; vllm serve b || exit 1", "run.sh")
        assert (argv(first), argv(second)) == (["a", "--port", "1"], ["b"])


class TestVariables:
    def test_a_value_stands_where_it_is_given(self) -> None:
        launch, marks = marked_script("""
            MODEL=⟦Qwen/Qwen3-8B⟧
            PORT="${PORT:-⟦8000⟧}"
            vllm serve "$MODEL" --port "${PORT}" --seed ${SEED:-⟦1⟧}
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000", "--seed", "1"]
        assert spans(launch.argv)[::2] == marks
        assert [site.text for site in sites(launch.argv)[::2] if site] == ['"$MODEL"', '"${PORT}"', "${SEED:-1}"]
        assert [word.text.assumed for word in launch.argv[::2]] == [False, True, True]

    def test_what_nobody_knows_stays_as_it_is_written(self) -> None:
        launch = script("vllm serve ${MODEL} --port $PORT --seed $(date +%s) --name `hostname` --dtype ${1} $EXTRA_ARGS")
        assert argv(launch) == [
            "${MODEL}",
            "--port",
            "${PORT}",
            "--seed",
            "$(date +%s)",
            "--name",
            "`hostname`",
            "--dtype",
            "${1}",
            "${EXTRA_ARGS}",
        ]
        assert not any(word.text.known for word in launch.argv if "$" in word.shown or "`" in word.shown)

    def test_an_unknown_stands_where_it_is_used(self) -> None:
        """Also under `set -u`, where its first use says that it has a value."""
        launch, marks = marked_script("""
            set -u
            echo "model: $MODEL"
            vllm serve "⟦${MODEL}⟧" --port ⟦$PORT⟧
        """)
        assert [word.text.span() for word in launch.argv if not word.text.known] == marks

    def test_all_arguments_of_the_script(self) -> None:
        launch = script('vllm serve m "$@"')
        assert launch.argv[1].many
        assert not launch.argv[1].text.known

    def test_a_quoted_unknown_is_one_word(self) -> None:
        launch = script('vllm serve "$MODEL" $MODEL')
        assert [word.many for word in launch.argv] == [False, True]

    def test_a_known_value_is_split_where_it_is_not_quoted(self) -> None:
        launch, marks = marked_script("""
            ARGS="⟦--port⟧ ⟦8000⟧"
            vllm serve m $ARGS
        """)
        assert argv(launch) == ["m", "--port", "8000"]
        assert spans(launch.argv[1:]) == marks

    def test_arrays(self) -> None:
        launch, marks = marked_script("""
            ARGS=(
              ⟦--port⟧ ⟦8000⟧   # a comment
              '⟦--served-model-name⟧' "⟦my model⟧"
            )
            ARGS+=(⟦--seed⟧ ⟦1⟧)
            vllm serve m "${ARGS[@]}"
        """)
        assert argv(launch) == ["m", "--port", "8000", "--served-model-name", "my model", "--seed", "1"]
        assert spans(launch.argv[1:]) == marks
        assert not any(word.many for word in launch.argv)
        assert lines(launch) == (6, 6)

    def test_an_array_that_may_have_grown(self) -> None:
        launch = script("""
            ARGS=(--port 8000)
            if [ -n "$EAGER" ]; then ARGS+=(--enforce-eager); fi
            vllm serve m "${ARGS[@]}"
        """)
        assert argv(launch) == ["m", "--port", "8000"]
        assert not any(word.many for word in launch.argv)
        assert [argv(one) for one in launch.alternatives] == [["m", "--port", "8000", "--enforce-eager"]]

    def test_both_branches_are_launches(self) -> None:
        launches = launches_in(
            """
            if [ "$MODE" = big ]; then
              vllm serve Qwen/Qwen3-32B
            else
              vllm serve Qwen/Qwen3-8B
            fi
            """,
            "run.sh",
        )
        assert [argv(launch) for launch in launches] == [["Qwen/Qwen3-32B"], ["Qwen/Qwen3-8B"]]

    def test_a_function(self) -> None:
        launch, marks = marked_script("""
            serve() {
              vllm serve "$1" ⟦--port⟧ ⟦8000⟧
            }
            serve ⟦Qwen/Qwen3-8B⟧
        """)
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert spans(launch.argv) == [marks[2], marks[0], marks[1]]


class TestEnvironment:
    def test_inline_and_exported(self) -> None:
        launch, marks = marked_script("""
            export VLLM_USE_V1=⟦1⟧
            HF_HOME=/cache
            export HF_HOME
            NOT_EXPORTED=1
            CUDA_VISIBLE_DEVICES=⟦0,1⟧ VLLM_LOGGING_LEVEL="${LEVEL:-⟦INFO⟧}" vllm serve m
        """)
        assert environment(launch) == {
            "VLLM_USE_V1": "1",
            "HF_HOME": "/cache",
            "CUDA_VISIBLE_DEVICES": "0,1",
            "VLLM_LOGGING_LEVEL": "INFO",
        }
        found = [launch.env[name].value for name in ("VLLM_USE_V1", "CUDA_VISIBLE_DEVICES", "VLLM_LOGGING_LEVEL")]
        assert [value.span() for value in found if value] == marks

    def test_unset_and_overwritten(self) -> None:
        launch = script("""
            export A=1 B=1 C=1
            unset A
            B=2
            C=3 vllm serve m
        """)
        assert environment(launch) == {"B": "2", "C": "3"}

    def test_inline_variables_end_with_their_command(self) -> None:
        _, second = launches_in("A=1 vllm serve a\nvllm serve b", "run.sh")
        assert environment(second) == {}

    @pytest.mark.parametrize("sourced", [". ./env.sh", "source /etc/profile.d/llm.sh", 'source "$CONFIG"'])
    def test_a_sourced_script_may_export_more(self, sourced: str) -> None:
        assert script(f"{sourced}\nvllm serve m").open_env
        assert not script(f"vllm serve m\n{sourced}").open_env

    @together(
        "started",
        [
            *(f"{before}{tool} vllm/vllm-openai:v0.20.0 --model m" for before, tool in STARTERS),
            "kubectl run a --image=vllm/vllm-openai:v0.20.0 -- --model m",
            "oc run a --image=vllm/vllm-openai:v0.20.0 -- --model m",
            "ssh host vllm serve --model m",
            "sbatch --wrap 'vllm serve --model m'",
            "gcloud run deploy x --image=vllm/vllm-openai:v0.20.0 --args=--model,m",
            "az container create --image a --command-line 'vllm serve --model m'",
            "sky launch 'vllm serve --model m'",
            "vastai create instance 1 --image vllm/vllm-openai:v0.20.0 --args --model m",
            "runpodctl create pod --imageName vllm/vllm-openai:v0.20.0 --args '--model m'",
        ],
    )
    def test_what_starts_something_and_prints_its_id(self, started: str) -> None:
        first, second = launches_in(f"ID=$({started})\nvllm serve n --served-model-name $ID\n", "run.sh")
        assert argv(first) == ["--model", "m"]
        assert [word.value for word in second.argv] == ["n", "--served-model-name", None]

    @pytest.mark.parametrize(
        "command", ["echo docker run vllm/vllm-openai:v0.20.0", "docker ps -q --filter run ", "docker compose run vllm"]
    )
    def test_what_starts_nothing_and_prints_something(self, command: str) -> None:
        assert launches_in(f"ID=$({command})\n", "run.sh") == []

    def test_an_env_file_of_the_container_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "llm.env").write_text("VLLM_USE_V1=1\n")
        launch = script("docker run --env-file llm.env -e A=2 vllm/vllm-openai:v0.20.0 --model m", tmp_path)
        assert environment(launch) == {"VLLM_USE_V1": "1", "A": "2"}
        assert not launch.open_env


class TestRelease:
    @together(
        "text, expected",
        [
            ("pip install vllm==0.19.1\nvllm serve m", ("0.19.1", "pip")),
            ("pip install -q 'vllm[audio]==0.19.1'\nvllm serve m", ("0.19.1", "pip")),
            ("uv pip install --system vllm==0.19.1 sglang==0.5.9\nvllm serve m", ("0.19.1", "pip")),
            ("VERSION=0.19.1\npip install vllm==$VERSION\nvllm serve m", ("0.19.1", "pip")),
            ("pip install vllm==$VERSION\nvllm serve m", (None, "pip")),
            ("pip install vllm==0.19.1\npip install vllm==0.20.0\nvllm serve m", ("0.20.0", "pip")),
            ("vllm serve m\npip install vllm==0.19.1", (None, None)),
            ("pip install sglang==0.5.9\nvllm serve m", (None, None)),
            ("pip install 'vllm>=0.19'\nvllm serve m", (None, "pip")),
            ("if $NEW; then pip install vllm==0.20.0; fi\nvllm serve m", (None, "pip")),
            ("if $NEW; then pip install vllm==0.20.0; else uv pip install vllm==0.20.0; fi\nvllm serve m", ("0.20.0", "pip")),
            ("if $NEW; then pip install vllm==0.20.0; else pip install vllm==0.19.1; fi\nvllm serve m", (None, "pip")),
            # where the engine is missing, this is installed
            ("command -v vllm || pip install vllm==0.20.0\nvllm serve m", ("0.20.0", "pip")),
            ("if [ ! -d venv ]; then venv/bin/pip install vllm==0.20.0; fi\nvllm serve m", ("0.20.0", "pip")),
            ("if [[ -z $(which vllm) ]]; then pip install vllm==0.20.0; fi\nvllm serve m", ("0.20.0", "pip")),
            (
                "if conda env list | grep -q e; then echo; else conda run -n e pip install vllm==0.20.0; fi\nvllm serve m",
                ("0.20.0", "pip"),
            ),
            ("if [ -f offline ]; then pip install vllm==0.20.0; fi\nvllm serve m", (None, "pip")),
            ("pip install vllm==0.19.1\ncommand -v vllm || pip install vllm==0.20.0\nvllm serve m", (None, "pip")),
            ("conda run -n e pip install vllm==0.20.0\nconda run -n e vllm serve m", ("0.20.0", "pip")),
            ("docker run vllm/vllm-openai:v0.20.0 --model m", ("0.20.0", "image")),
            # what is installed here is not in a container, and the other way round
            ("pip install vllm==0.19.1\ndocker run vllm/vllm-openai:v0.20.0 --model m", ("0.20.0", "image")),
            ("pip install vllm==0.19.1\ndocker run house/server:1 vllm serve m", (None, None)),
            ("pip install vllm==0.19.1\ndocker exec llm vllm serve m", (None, None)),
            ("docker exec llm pip install vllm==0.19.1\nvllm serve m", (None, None)),
            ("pip install vllm==0.19.1\nuvx vllm@0.20.0 serve m", ("0.20.0", "pip")),
            ("pip install vllm==0.19.1\nbash -c 'vllm serve m'", ("0.19.1", "pip")),
        ],
    )
    def test_what_the_script_says(self, text: str, expected: tuple[str | None, str | None]) -> None:
        assert release(script(text)) == expected

    def test_of_each_engine_its_own(self) -> None:
        first, second = launches_in(
            "pip install vllm==0.19.1 sglang==0.5.9\nvllm serve m &\npython -m sglang.launch_server --model-path m", "run.sh"
        )
        assert (release(first), release(second)) == (("0.19.1", "pip"), ("0.5.9", "pip"))


@pytest.mark.parametrize("name", ["run.sh", "run.bash", "serve.sbatch", "start"])
def test_what_a_shebang_or_a_name_makes_a_script(name: str) -> None:
    launch = launch_in("#!/usr/bin/env bash\nvllm serve m\n", name)
    assert lines(launch) == (2, 2)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_line_ends(end: str) -> None:
    launch = script(end.join(["#!/bin/bash", "vllm serve m \\", "  --port 8000", ""]))
    assert argv(launch) == ["m", "--port", "8000"]
    assert lines(launch) == (2, 3)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("", ["m", "--port", "80"]),
        ("#!/bin/bash\n", ["m", "--port", "80"]),
        ("#!/usr/bin/env bash\n", ["m", "--port", "80"]),
        ("#!/bin/sh\n", ["m", "--port", "80", "\\"]),
    ],
)
def test_a_backslash_that_ends_the_file(start: str, words: list[str]) -> None:
    """Bash drops it, other shells keep it."""
    assert argv(script(start + "vllm serve m --port 80 \\")) == words


def test_an_escaped_backslash_that_ends_the_file() -> None:
    assert argv(script("vllm serve m --port 80\\\\")) == ["m", "--port", "80\\"]


@pytest.mark.parametrize("broken", ["if true; then vllm serve m", "vllm serve m )"])
def test_a_broken_script_is_read_as_far_as_it_goes(broken: str) -> None:
    assert argv(read(Source("run.sh", broken)).launches[0]) == ["m"]


class TestUnclosed:
    """What a shell refuses with "unexpected EOF while looking for matching"."""

    @pytest.mark.parametrize(
        ("text", "line", "column", "what"),
        [
            ("vllm serve m --port 'not closed\necho\n", 1, 21, "quote '"),
            ('vllm serve m --port "not closed\n', 1, 21, 'quote "'),
            ("vllm serve m --port $'a\n", 1, 21, "substitution $'"),
            ("vllm serve m --port `cat port\n", 1, 21, "backquote `"),
            ("vllm serve m --port $((1 + 2)\n", 1, 21, "substitution $("),
            ("vllm serve m --port $(cat port\n", 1, 21, "substitution $("),
            ("vllm serve m --port ${PORT\n", 1, 21, "substitution ${"),
            ("# it's fine\necho it's not\nvllm serve m\n", 2, 8, "quote '"),
            ("exec vllm serve m --port 'a\n", 1, 26, "quote '"),
            ("exec 2>&1\nvllm serve m \\\r\n  --port 'a\r\n", 3, 10, "quote '"),
            ("cat <<'EOF'\nit's\nEOF\nvllm serve m \"\n", 4, 14, 'quote "'),
        ],
    )
    def test_is_a_problem(self, text: str, line: int, column: int, what: str, tmp_path: Path) -> None:
        (problem,) = read(Source("run.sh", text)).problems
        assert (problem.line, problem.column) == (line, column)
        assert problem.message == f"not valid shell: the {what} is never closed"
        (tmp_path / "run.sh").write_bytes(text.encode())
        judge = subprocess.run(["bash", "-n", str(tmp_path / "run.sh")], capture_output=True, text=True)
        assert "unexpected EOF while looking for matching" in judge.stderr

    @together(
        "text",
        [
            "vllm serve m # it's\n",
            "vllm serve it\\'s\n",
            "cat <<EOF\nit's\nEOF\nvllm serve m\n",
            "vllm serve m\nexit 0\nit's data\n",
            "exec vllm serve m\nit's data\n",
            'A=$(case x in a) echo "b)";; esac)\nvllm serve m\n',
            'A=${B#"it\'s"}\nvllm serve ${#A}\n',
            'vllm serve "${A:-it\'s}"\n',
            "#!/bin/zsh\nvllm serve m\n: ${(q)a\n",
        ],
    )
    def test_what_is_closed_or_is_not_read(self, text: str) -> None:
        assert read(Source("run.sh", text)).problems == []

    def test_the_words_before_it_are_kept_and_more_may_follow(self) -> None:
        (launch,) = read(Source("run.sh", "vllm serve m --port 'a\n")).launches
        assert [(word.shown, word.many) for word in launch.argv] == [("m", False), ("--port", False), ("", True)]


class TestWrittenFiles:
    """Units and manifests that a script writes, or hands to the program that starts them."""

    UNIT = "[Service]\nExecStart=/usr/bin/vllm serve m --port ⟦81⟧\n"
    COMPOSE = "services:\n  v:\n    image: vllm/vllm-openai:v0.19.0\n    command: --model m --port ⟦81⟧\n"
    POD = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: v}\nspec:\n  containers:\n    - name: v\n"
        '      image: vllm/vllm-openai:v0.19.0\n      args: [--model, m, --port, "⟦81⟧"]\n'
    )

    @pytest.mark.parametrize(
        ("command", "text"),
        [
            ("cat > /etc/systemd/system/vllm.service", UNIT),
            ("cat >/etc/systemd/system/$NAME.service", UNIT),
            ("sudo tee /etc/systemd/system/vllm.service > /dev/null", UNIT),
            ("sudo -E tee vllm.service", UNIT),
            ("cat > /etc/supervisor/conf.d/v.conf", "[program:v]\ncommand=vllm serve m --port ⟦81⟧\n"),
            ("cat > docker-compose.yml", COMPOSE),
            ("docker compose -f - up -d", COMPOSE),
            ("cat > pod.yaml", POD),
            ("kubectl apply -f -", POD),
            ("kubectl -n llm create -f-", POD),
            ("k3s kubectl apply -f -", POD),
        ],
    )
    @pytest.mark.parametrize("quote", ["", "'"])
    def test_are_read_as_the_files_that_they_are(self, command: str, text: str, quote: str) -> None:
        launch, marks = marked_launch(f"#!/bin/bash\n{command} <<{quote}EOF{quote}\n{text}EOF\n", "run.sh")
        assert argv(launch)[-2:] == ["--port", "81"]
        assert spans(launch.argv)[-1] == marks[0]

    def test_are_read_where_a_process_substitution_prints_them(self) -> None:
        for given in ("-f <(cat <<'EOF'", "--filename <(cat <<EOF"):
            launch, marks = marked_launch(f"#!/bin/bash\nkubectl apply {given}\n{self.POD}EOF\n)\n", "run.sh")
            assert argv(launch)[-2:] == ["--port", "81"]
            assert spans(launch.argv)[-1] == marks[0]
        assert (
            launches_in(
                f"#!/bin/bash\nkubectl delete -f <(cat <<EOF\n{self.POD.replace('⟦', '').replace('⟧', '')}EOF\n)\n", "run.sh"
            )
            == []
        )

    def test_are_read_where_a_filter_fills_them_in(self, tmp_path: Path) -> None:
        pod = self.POD.replace("⟦", "").replace("⟧", "")
        (tmp_path / "pod.yaml").write_text(pod.replace("81", "$PORT"))
        (tmp_path / "sed.yaml").write_text(pod.replace("81", "@PORT@"))
        for line, port in (
            ("kubectl apply -f <(envsubst < pod.yaml)", "81"),
            ("kubectl apply -f <(envsubst '$PORT $HF_TOKEN' < pod.yaml)", "81"),
            ("envsubst < pod.yaml | kubectl apply -f -", "81"),
            ("sed 's/@PORT@/82/' sed.yaml | kubectl apply -f -", "82"),
            ("sed -e 's/@PORT@/82/' -e s/x/x/ sed.yaml | kubectl apply -f -", "82"),
            ("kubectl apply -f <(sed s/@PORT@/82/ sed.yaml)", "82"),
            ("kubectl apply -f <(sed s/@PORT@/82/ < sed.yaml)", "82"),
            ("sed 's/@PORT@/82/' sed.yaml > out.yaml\nkubectl apply -f out.yaml", "82"),
        ):
            found = [argv(launch)[-2:] for launch in launches_in(f"#!/bin/bash\nexport PORT=81\n{line}\n", "run.sh", tmp_path)]
            assert found == [["--port", port]], (line, found)

    def test_stand_where_the_name_of_their_file_ends(self, tmp_path: Path) -> None:
        (tmp_path / "k8s").mkdir()
        (tmp_path / "k8s" / "pod.yaml").write_text(self.POD.replace("⟦", "").replace("⟧", ""))
        text = '#!/bin/bash\nHERE="$(cd "$(dirname "$0")" && pwd)"\nenvsubst < "$HERE/k8s/pod.yaml" | kubectl apply -f -\n'
        (launch,) = launches_in(text, "run.sh", tmp_path)
        span = launch.argv[-1].text.span()
        assert span is not None
        assert span.text == "/k8s/pod.yaml"

    def test_are_read_where_another_user_writes_them(self) -> None:
        unit = "[Service]\nExecStart=/usr/bin/vllm serve m --port 81\n"
        for line in (
            "cat <<EOF | sudo tee v.service >/dev/null",
            "cat <<'EOF' | sudo -E tee v.service > /dev/null",
            "cat <<EOF | tee v.service >/dev/null",
            "cat <<EOF | $SUDO tee v.service >/dev/null",
            "cat <<EOF | ${SUDO:-} tee v.service",
            "SUDO=; cat <<EOF | $SUDO tee v.service",
            'SUDO=; [ -n "$X" ] && SUDO=sudo; cat <<EOF | $SUDO tee v.service >/dev/null',
            "$SUDO tee v.service <<EOF >/dev/null",
            "doas tee v.service <<EOF",
            "cat <<EOF | sudo -u llm tee v.service >/dev/null",
            "cat <<EOF | $SUDO -u llm -g llm tee v.service >/dev/null",
        ):
            assert argv(script(f"{line}\n{unit}EOF\n")) == ["m", "--port", "81"], line
        others = ("$RUN v.service", "sed s/m/x/ | sudo tee v.service", "$RUN grep v.service", "sudo grep -u tee v.service")
        for line in [f"cat <<EOF | {other}" for other in others]:
            assert launches_in(f"{line}\n{unit}EOF\n", "run.sh") == [], line

    def test_a_pipe(self) -> None:
        assert argv(script(f"cat <<EOF | kubectl apply -f -\n{self.POD.replace('⟦', '').replace('⟧', '')}EOF\n"))[1] == "m"

    def test_variables_of_the_script(self) -> None:
        unit = '[Service]\nExecStart=vllm serve "$MODEL" --port $PORT --api-key $1\n'
        launch, marks = marked_launch(f"PORT=⟦81⟧\ncat > v.service <<EOF\n{unit}EOF\n", "run.sh")
        assert argv(launch) == ["${MODEL}", "--port", "81", "--api-key", "${1}"]
        assert spans(launch.argv)[2] == marks[0]

    @pytest.mark.parametrize(
        "text",
        [
            "cat > README.md <<EOF\n```\nvllm serve m\n```\nEOF\n",
            "cat > notes.txt <<EOF\nvllm serve m\nEOF\n",
            "cat > serve.yaml <<EOF\nmodel: m\nmax-num-seqs: 4\nEOF\n",
            f"kubectl delete -f - <<EOF\n{POD.replace('⟦', '').replace('⟧', '')}EOF\n",
            "cat > v.service <<EOF\n[Service]\nExecStart=/usr/bin/true\nEOF\n",
        ],
    )
    def test_what_starts_none(self, text: str) -> None:
        assert launches_in(text, "run.sh") == []


RUN = "docker run --gpus all vllm/vllm-openai"


@pytest.mark.parametrize(
    "wait",
    [
        "if curl -sf $1; then return 0; fi; exit 1",
        "for i in 1 2 3; do curl -sf $1 && return; sleep 1; done; echo no; exit 1",
        "while [ $n -lt 300 ]; do\n if curl -s $1 | grep -q 200; then return 0; fi\n n=$((n + 1))\ndone\nexit 1",
        'case "$1" in a|b) return ;; *) exit 2 ;; esac',
        "command -v vllm > /dev/null && return 0; die missing",
    ],
)
def test_what_follows_a_function_that_returns_or_gives_up(wait: str) -> None:
    start = "die() { echo $1; exit 1; }\nready() {\n" + wait + "\n}\n"
    assert [argv(one) for one in launches_in(start + "vllm serve a &\nready $1\nvllm serve b\n", "run.sh")] == [["a"], ["b"]]
    gone = "ready() { exit 1; }\nvllm serve a &\nready\nvllm serve b\n"
    assert [argv(one) for one in launches_in(gone, "run.sh")] == [["a"]]


class TestTemplate:
    """A script that a playbook or a chart fills in: its actions are unknown, words and commands that it may leave out too."""

    SCRIPT = """
        #!/bin/bash
        {% if debug %}
        export VLLM_LOGGING_LEVEL=DEBUG
        {% endif %}
        exec vllm serve {{ model }} \\
          {% if length %}
          --max-model-len {{ length }} \\
          {% endif %}
          --served-model-name "{{ name }}" --dtype half
    """

    def test_actions_are_unknown(self) -> None:
        launch = launch_in(self.SCRIPT, "run.sh.j2")
        assert [(word.shown, word.many) for word in launch.argv] == [
            ("{{ model }}", True),
            ("--max-model-len {{ length }}", True),
            ("--served-model-name", False),
            ("{{ name }}", False),
            ("--dtype", False),
            ("half", False),
        ]
        assert environment(launch) == {"VLLM_LOGGING_LEVEL": "DEBUG"}
        assert [environment(one) for one in launch.alternatives] == [{}]

    def test_whatever_it_is_called(self) -> None:
        assert argv(launch_in(self.SCRIPT, "run.sh"))[0] == "{{ model }}"
        assert argv(launch_in("vllm serve {{ .Values.model }}\n", "run.sh")) == ["{{ .Values.model }}"]

    @pytest.mark.parametrize(
        "blocks",
        [
            "{% if a %}\n$ONE{% else %}\n$TWO{% endif %}\n",
            "{%- if a == 'x' %}\n$ONE{%- elif b %}\n$TWO{%- endif %}\n",
            "{{ if .Values.a }}\n$ONE{{ else }}\n$TWO{{ end }}\n",
        ],
    )
    def test_two_beginnings_of_one_command(self, blocks: str) -> None:
        for one, two in (("vllm serve", "python -m vllm.entrypoints.openai.api_server"), (f"{RUN}:v0.19.1", f"{RUN}:v0.20.0")):
            head = blocks.replace("$ONE", f"{one} \\\n").replace("$TWO", f"{two} \\\n")
            found = launches_in(f"{head}  --port 8000 \\\n  --dtype half\necho vllm serve\n", "run.sh")
            assert [argv(launch) for launch in found] == [["--port", "8000", "--dtype", "half"]] * 2
            assert [release(launch)[0] for launch in found] in ([None, None], ["0.19.1", "0.20.0"])

    def test_parts_that_begin_no_command(self) -> None:
        text = "vllm serve m \\\n{% if a %}\n  --port 1 \\\n{% else %}\n  --port 2 \\\n{% endif %}\n  --dtype half\n"
        assert len(launches_in(text, "run.sh")) == 1

    def test_braces_of_another_kind(self) -> None:
        text = "docker ps --format '{{.Names}}' ${A%{%} \nvllm serve a --chat-template '{% for a in b %}{{ a }}{% endfor %}'\n"
        assert argv(launch_in(text, "run.sh")) == ["a", "--chat-template", "{% for a in b %}{{ a }}{% endfor %}"]


class TestProgramsThatAreFound:
    """A program that the script looks for is one of several paths, or has options that no other program has."""

    @pytest.mark.parametrize(
        "search",
        [
            'for d in bin/cuda bin/cpu; do\n  [ -f "$D/$d/llama-server" ] && BIN="$D/$d/llama-server" && break\ndone\n',
            'for p in /opt/a/llama-server ~/b/llama-server; do\n  if [ -x "$p" ]; then BIN="$p"; fi\ndone\n',
            "if [ -x a/llama-server ]; then BIN=a/llama-server; elif [ -x b/llama-server ]; then BIN=b/llama-server; fi\n",
        ],
    )
    def test_paths_to_the_same_program(self, search: str) -> None:
        text = f'D=$(pwd)\nBIN=""\n{search}[ -n "$BIN" ] || exit 1\n' + "".join(
            [f'[ -n "${{O{n}}}" ] && ARGS="$ARGS --o{n}"\n' for n in range(8)]
        )
        text += 'if [ "$M" = big ]; then\n  exec "$BIN" -m a.gguf $ARGS\nfi\nexec "$BIN" -m b.gguf $ARGS\n'
        assert [argv(launch)[:2] for launch in launches_in(text, "run.sh")] == [["-m", "a.gguf"], ["-m", "b.gguf"]]

    def test_paths_to_several_programs(self) -> None:
        text = 'BIN=""\nfor p in a/llama-server a/llama-cli; do\n  [ -x "$p" ] && BIN="$p"\ndone\n"$BIN" -m a.gguf\n'
        assert all(launch.engine == "llama.cpp" for launch in launches_in(text, "run.sh"))

    @pytest.mark.parametrize(
        ("command", "found"),
        [
            ('exec "$BIN" -m a.gguf -ngl 99 --port 80', True),
            ('nohup "$(find_it)" --model a.gguf --n-gpu-layers=99 --host 0.0.0.0 &', True),
            ('sudo -E "$1" -m a.gguf -ngl 99 --port 80', False),
            ('"$BIN" -m a.gguf -ngl 99 -p hello', False),
            ('"$BIN" --model a --port 80', False),
            ('echo "$BIN" -m a.gguf -ngl 99 --port 80', False),
        ],
    )
    def test_options_of_one_program(self, command: str, found: bool) -> None:
        launches = launches_in(f"# llama.cpp\n. ./common.sh\n{command}\n", "run.sh")
        assert [launch.engine for launch in launches] == ["llama.cpp"] * found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('m="${1:-}"\n[[ -n "$m" ]] || exit 1\nvllm serve "$m"\n', ["${m}"]),
        ('die() { exit 1; }\nm="${1:-}"\n[ -n "$m" ] || die\nvllm serve "$m" --port "${2:-80}"\n', ["${m}", "--port", "80"]),
        ('M=${M:-}\nif [ -z "$M" ]; then\n  exit 1\nfi\nvllm serve "$M"\n', ["${M}"]),
        ('M=${M:-none}\nif [ "$M" = none ]; then\n  exit 1\nfi\nvllm serve "$M"\n', ["${M}"]),
        ('M=${M:-a}\nif [ "$M" = b ]; then\n  exit 1\nfi\nvllm serve "$M"\n', ["a"]),
        ('vllm serve "${1:?which}"\n', ["${1}"]),
    ],
)
def test_a_default_with_which_the_script_gives_up(text: str, words: list[str]) -> None:
    assert argv(script(text)) == words


class TestAlternativesThatGiveUp:
    """A script that found nothing ends: what it found is not empty where it goes on."""

    @pytest.mark.parametrize(
        "search",
        [
            'if [ -d models ]; then\n  for d in models/*; do\n    [ -f "$d/a" ] || continue\n    L="$L$d "; N=1\n  done\nfi\n',
            'if [ -f a ]; then L=a; N=1; fi\nif [ -f b ]; then L="$L b"; N=1; fi\n',
            "case $(uname) in Linux) L=a; N=1 ;; esac\n",
        ],
    )
    def test_a_value_that_was_found(self, search: str) -> None:
        text = f'L=""\nN=0\n{search}if [ "$N" -eq 0 ]; then\n  exit 1\nfi\nvllm serve m --lora-modules $L\n'
        launch = script(text)
        assert all(len(one.argv) >= 3 for one in launch.every), [argv(one) for one in launch.every]


def test_a_command_that_a_function_runs_again() -> None:
    """`"$@"` twice is one launch of the words that it is given; two calls with other words are two."""
    again = 'again() {{\n  "$@"\n  if [ $? -ne 0 ]; then\n    "$@"\n  fi\n}}\n{}'
    launch, marks = marked_script(again.format("again vllm serve ⟦org/m⟧ --port 80\n"))
    assert spans(launch.argv)[:1] == marks
    two = launches_in(again.format("again vllm serve org/m --port 80\nagain vllm serve org/n --port 81\n"), "run.sh")
    assert [argv(one)[0] for one in two] == ["org/m", "org/n"]
    assert len(launches_in("C='vllm serve m'\n$C &\nsleep 9\n$C &\n", "run.sh")) == 2


@together(
    "program, given, words",
    [
        ("import x\nfrom vllm.entrypoints.openai.api_server import run_server\nrun_server(args)", "--model a/b", "--model a/b"),
        ("from vllm.entrypoints.cli.main import main; main()", "serve a/b --port 80", "a/b --port 80"),
        ("from vllm.entrypoints.cli.main import main; print(main)", "serve a/b", None),
        ("from vllm.entrypoints.cli.main import main; main()", "bench a/b", None),
        ("import sys; sys.argv = [1]; from vllm.entrypoints.cli.main import main; main()", "serve a/b", None),
        ("import vllm; print(vllm.__version__)", "serve a/b", None),
    ],
)
def test_a_program_that_calls_the_entry_point_of_an_engine(program: str, given: str, words: str | None) -> None:
    found = launches_in(f"python3 -c '{program}' {given}\n", "run.sh")
    assert [" ".join(argv(launch)) for launch in found] == ([words] if words is not None else [])


WRAPPER = "docker run --entrypoint python3 me/vllm-patched@sha256:0123 /opt/{} serve org/m {}\n"


def test_a_script_that_wraps_an_engine() -> None:
    """Its name, the engine's verb and an option of the engine's own say it; fewer of them do not."""
    launch = script(WRAPPER.format("my_vllm_wrapper.py", "--gpu-memory-utilization 0.5"))
    assert (launch.engine, argv(launch)) == ("vllm", ["org/m", "--gpu-memory-utilization", "0.5"])
    for name, options in (("wrapper.py", "--gpu-memory-utilization 0.5"), ("my_vllm_wrapper.py", "--port 80")):
        assert launches_in(WRAPPER.format(name, options), "run.sh") == []
    assert launches_in("python3 vllm_manager.py start --gpu-memory-utilization 0.5\n", "run.sh") == []


class TestOtherShells:
    def test_powershell(self) -> None:
        text = """
        param([string]$Model = "a.gguf", [int]$Port = 8080)
        $env:CUDA_VISIBLE_DEVICES = "0"
        $exe = Join-Path $PSScriptRoot "bin\\llama-server.exe"
        if (-not (Test-Path $exe)) { Write-Error "llama-server is missing"; exit 1 }
        & $exe `
          -m $Model --port ⟦$Port⟧
        """
        launch, marks = marked_launch(text, "start.ps1")
        assert argv(launch) == ["-m", "a.gguf", "--port", "8080"]
        assert environment(launch) == {"CUDA_VISIBLE_DEVICES": "0"}
        assert launch.argv[3].site == marks[0]

    def test_a_text_for_a_shell(self) -> None:
        text = "$cmd = @'\ncd x\nvllm serve ⟦m⟧ \\\n  --port 80\n'@\nwsl -e bash -lc $cmd\n"
        launch, marks = marked_launch(text, "start.ps1")
        assert argv(launch) == ["m", "--port", "80"]
        assert spans(launch.argv)[:1] == marks

    @together(
        "text",
        [
            "function Invoke-Docker { & docker @args }\nInvoke-Docker ⟦run⟧ vllm/vllm-openai:v0.20.0 --model m\n",
            (
                "function D {\n  param([string[]]$Rest)\n  $docker @Rest\n}\n"
                "$docker = 'C:\\x\\docker.exe'\nD ⟦run⟧ vllm/vllm-openai:v0.20.0 --model m\n"
            ),
            (
                "function D([string[]]$Rest) {\n  docker run @Rest\n}\n"
                "$a = @('vllm/vllm-openai:v0.20.0', '--model', '⟦m⟧')\nD @a\n"
            ),
            "$docker = Join-Path $x 'docker.exe'\n$a = @('run', 'vllm/vllm-openai:v0.20.0', '--model', '⟦m⟧')\n& $docker @a\n",
        ],
    )
    def test_powershell_hands_on_to_docker(self, text: str) -> None:
        launch, _ = marked_launch(text, "start.ps1")
        assert (argv(launch), release(launch)[0]) == (["--model", "m"], "0.20.0")

    def test_a_container_and_what_was_installed(self) -> None:
        text = "docker run --gpus all vllm/vllm-openai:v0.20.0 `\n  --model m\npip install vllm==0.19.1\nvllm serve m\n"
        assert [release(launch) for launch in launches_in(text, "a.ps1")] == [("0.20.0", "image"), ("0.19.1", "pip")]

    def test_fish(self) -> None:
        text = "#!/usr/bin/env fish\nset -gx VLLM_PORT 81\nset model a/b\nvllm serve $model \\\n  --port 80 # why\n"
        for name in ("serve.fish", "serve"):
            launch = launch_in(text, name)
            assert argv(launch) == ["a/b", "--port", "80"]
            assert environment(launch) == {"VLLM_PORT": "81"}


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("python3 -m dynamo.trtllm --model-path a/b --extra-engine-args x.yaml", True),
        ("python -m sglang.launch_server --model-path a --config x.yaml", True),
        ("python change.py x.yaml\npython -m sglang.launch_server --model-path a --config x.yaml", False),
        ("python -m change x.yaml\npython -m sglang.launch_server --model-path a --config x.yaml", False),
    ],
)
def test_a_module_reads_the_file_that_an_option_names(command: str, read: bool) -> None:
    launch = launches_in(f"cat > x.yaml <<'EOF'\nport: 1\nEOF\n{command}\n", "run.sh")[-1]
    opened = launch.open(launch.argv[-1].text) if launch.open is not None else None
    assert (opened is not None) == read


class TestScriptsWithVariablesInFront:
    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("PORT=1 bash serve.sh", ["m", "--port", "1"]),
            ("MODEL=x PORT=1 ./serve.sh", ["x", "--port", "1"]),
            ("A=\"b c\" \\\n  MODEL='x' nohup bash serve.sh", ["x", "--port", "8000"]),
            ("nlprun -q a -g 8 'bash serve.sh m'", ["m", "--port", "8000"]),
            ("tmux new-session -d -s llm 'bash serve.sh m'", ["m", "--port", "8000"]),
            ('R=${1:-bsub}; "$R" -n 8 "bash serve.sh m"', ["m", "--port", "8000"]),
        ],
    )
    def test_followed(self, tmp_path: Path, line: str, words: list[str]) -> None:
        (tmp_path / "serve.sh").write_text('vllm serve "${MODEL:-m}" --port "${PORT:-8000}"\n')
        launch = script(line + "\n", tmp_path)
        assert argv(launch) == words
        assert launch.site.source.path == "run.sh"

    @pytest.mark.parametrize("line", ["bash serve.sh", "OTHER=1 bash serve.sh", "ssh host 'bash serve.sh m'"])
    def test_found_where_the_script_is_read(self, tmp_path: Path, line: str) -> None:
        (tmp_path / "serve.sh").write_text('vllm serve "${MODEL:-m}" --port "${PORT:-8000}"\n')
        assert launches_in(line + "\n", "run.sh", tmp_path) == []


class TestBlocksThatEndEarly:
    TEXT = """\
        @echo off
        set "BIN=llama-server.exe"
        if not exist "%BIN%" (
            dir /b models || echo (empty or not found)
            exit /b 1
        )
        "%BIN%" --model m.gguf
        """

    def test_told(self) -> None:
        launch = launch_in(self.TEXT, "start.bat")
        assert (launch.started, [(one.kind, one.span.line) for one in launch.mishaps]) == (False, [("block-closed", 4)])

    @pytest.mark.parametrize("echo", ["echo ^(empty^)", 'echo "(empty)"', "echo empty", "(echo empty)"])
    def test_not_where_it_ends_as_it_looks(self, echo: str) -> None:
        launch = launch_in(self.TEXT.replace("echo (empty or not found)", echo), "start.bat")
        assert (launch.started, launch.mishaps) == (True, [])


class TestMismatch:
    """What `bash -n` calls "syntax error near unexpected token" or "unexpected end of file"."""

    @pytest.mark.parametrize(
        ("text", "line", "column", "message"),
        [
            ("if a; then\n  vllm serve m\n", 3, 1, "unexpected end of file: the if at line 1 is never closed by fi"),
            ("if a; then\n  vllm serve m", 2, 15, "unexpected end of file: the if at line 1 is never closed by fi"),
            ("for i in 1 2; do\n  vllm serve m\n", 3, 1, "unexpected end of file: the for at line 1 is never closed by done"),
            ("while :\ndo vllm serve m\n", 3, 1, "unexpected end of file: the while at line 1 is never closed by done"),
            ("case $1 in\n  a) vllm serve m ;;\n", 3, 1, "unexpected end of file: the case at line 1 is never closed by esac"),
            ("f() {\n  vllm serve m\n", 3, 1, "unexpected end of file: the { at line 1 is never closed by }"),
            ("(\n  vllm serve m\n", 3, 1, "unexpected end of file: the ( at line 1 is never closed by )"),
            ("vllm serve m\nfi\n", 2, 1, "unexpected fi"),
            ("vllm serve m\n}\n", 2, 1, "unexpected }"),
            ("vllm serve m ;;\n", 1, 14, "unexpected ;;"),
            ("vllm serve m )\n", 1, 14, "unexpected )"),
            ("vllm serve m\n  done # x\n", 2, 3, "unexpected done"),
            ("if a; then\n  vllm serve m\ndone\n", 3, 1, "unexpected done in the if at line 1"),
            ("for i in 1; do\n  if a; then vllm serve m\ndone\n", 3, 1, "unexpected done in the if at line 2"),
            ("for i in 1 2\n  vllm serve m\ndone\n", 2, 3, "unexpected vllm in the for at line 1"),
            ("if a\n  vllm serve m\nfi\n", 3, 1, "unexpected fi in the if at line 1"),
            ("else vllm serve m\n", 1, 1, "unexpected else"),
            (
                "cat <<A <<-'B'\nif\nA\n\tdone\n\tB\nwhile a; do vllm serve m\n",
                7,
                1,
                "unexpected end of file: the while at line 6 is never closed by done",
            ),
        ],
    )
    def test_is_a_problem(self, text: str, line: int, column: int, message: str, tmp_path: Path) -> None:
        (problem,) = read(Source("run.sh", text)).problems
        assert (problem.line, problem.column, problem.message) == (line, column, f"not valid shell: {message}")
        (tmp_path / "run.sh").write_text(text)
        judge = subprocess.run(["bash", "-n", str(tmp_path / "run.sh")], capture_output=True, text=True)
        named = line + (not text.endswith("\n"))  # bash names the line after an unfinished one
        assert f"line {named}: syntax error" in judge.stderr

    @pytest.mark.parametrize(
        "text",
        [
            "if a; then vllm serve m; elif b; then :; else :; fi > log 2>&1 && echo done\n",
            "for ((i = 0; i < 2; i++)); do vllm serve m; done\n",
            "for i\ndo vllm serve m; done | tee log\n",
            "for f in *.gguf; { vllm serve m; }\n",
            "case $1 in (a|b) vllm serve m;; esac) :;; *) ;; esac\n".replace("esac) :;; ", ""),
            "case $1 in\n  'a b'|\"c)\") vllm serve m ;&\n  (x|y) : ;;& # )\n  *) : \nesac\n",
            "function f { vllm serve m; }; g () ( vllm serve m ); f\n",
            "[[ $a =~ ^(x|y)$ && ( -n $b ) ]] && { vllm serve m; } || exit 1\n",
            'A=(if then fi) B[1]=done declare -a C=( "}" )\nvllm serve m\n',
            "echo if then fi } done; echo {a,b} ; vllm serve m # fi\n",
            "coproc LLM { vllm serve m; }\n",
            "while read -r a; do vllm serve $a; done < <(cat list) <<< done\n",
            "cat <<EOF | while read x; do\nif\nEOF\n  vllm serve $x\ndone\n",
            "select x in a b; do vllm serve $x; break; done\n",
            "if ! ((a > 1)); then vllm serve m; fi\n",
            "time -p vllm serve m; ! { a; }\n",
            "A=$(case x in a) echo done ;; esac) vllm serve m\n",
            "exit 0\nif a; then vllm serve m\n",
            "#!/bin/zsh\nif a { vllm serve m }\n",
            "{% if a %}\nif b; then\n{% endif %}\nvllm serve m\n",
            "{{ start }}\nvllm serve m\nfi\n",
            "if a; then vllm serve m; fi;\r\nfor i in a; do\r\n vllm serve m\r\ndone\r\n",
        ],
    )
    def test_what_bash_takes_or_is_not_read(self, text: str, tmp_path: Path) -> None:
        assert read(Source("run.sh", text)).problems == []
        (tmp_path / "run.sh").write_text(text.replace("\r", ""))
        judge = subprocess.run(["bash", "-n", str(tmp_path / "run.sh")], capture_output=True, text=True)
        assert judge.stderr == "" or text.startswith(("#!/bin/zsh", "{", "exit"))

    def test_the_commands_before_it_are_kept(self) -> None:
        assert argv(read(Source("run.sh", "vllm serve m\nif a; then\n")).launches[0]) == ["m"]


class TestProgramsInsideOfCommands:
    @together(
        "text, words",
        [
            ("""python3 -c "import subprocess; subprocess.run(['vllm', 'serve', 'm'])\"""", ["m"]),
            ("nohup python -u -c 'import os; os.system(\"vllm serve m --port 1\")' &", ["m", "--port", "1"]),
            ("python - <<'EOF'\nimport os\nos.execvp('vllm', ['vllm', 'serve', 'm'])\nEOF", ["m"]),
            ("python3 <<EOF\nimport os\nos.system('vllm serve $MODEL --port 1')\nEOF", ["${MODEL}", "--port", "1"]),
            ("srun uv run python - <<'EOF'\nimport subprocess\nsubprocess.run('vllm serve m', shell=True)\nEOF", ["m"]),
            ("cat > go.py <<'EOF'\nimport os\nos.system('vllm serve m')\nEOF\npython go.py", ["m"]),
            ("sbatch -N 1 <<'EOF'\n#!/bin/bash\nvllm serve m --port $PORT\nEOF", ["m", "--port", "${PORT}"]),
            ("qsub -b y -cwd -l gpu=1 vllm serve m --port 1", ["m", "--port", "1"]),
            ("dotenv -f a.env run vllm serve m", ["m"]),
            ("dotenvx run -f a.env -- vllm serve m", ["m"]),
            ('echo "@reboot vllm serve m --port 1" | crontab -', ["m", "--port", "1"]),
            ('(crontab -l; echo "0 3 * * * cd /srv && vllm serve m") | crontab -', ["m"]),
            ("trap 'vllm serve m --port $P' EXIT; P=2", ["m", "--port", "2"]),
            ('go() { vllm serve "$1" --port "$2"; }\nssh host "$(declare -f go); go m 1"', ["m", "--port", "1"]),
            (
                'go() { docker run --entrypoint sh "$I" -c "$1"; }\nsrun bash -c "$(declare -f go)\n go \'vllm serve m\'"',
                ["m"],
            ),
            ('cmd.exe /c "llama-server.exe -m x"', ["-m", "x"]),
        ],
    )
    def test_are_found(self, text: str, words: list[str]) -> None:
        assert argv(script(text)) == words

    @pytest.mark.parametrize(
        "text",
        [
            'python3 -c "import vllm; print(vllm.__version__)"',
            "python3 -c 'from vllm import LLM; LLM(**c)'",
            "python - <<'EOF'\nif vllm serve m:\nEOF",
            "trap 'docker rm -f vllm; pkill -f \"vllm serve\"' EXIT",
            "trap 'vllm serve m' EXIT; trap - EXIT",
            "crontab -l | grep 'vllm serve m'",
            "qsub -b n job.sh vllm serve m",
        ],
    )
    def test_are_not_taken_from_others(self, text: str) -> None:
        assert launches_in(text, "run.sh") == []


class TestCommandsThatAreNoCommands:
    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ('CMD="vllm serve m"\n"$CMD"', "quoted-command"),
            ('run() { "$1"; }\nrun "vllm serve m"', "quoted-command"),
            ('nohup "vllm serve m" &', "quoted-command"),
            ('CMD="A=1 vllm serve m"\n$CMD', "no-assignment"),
            ('CMD=(A=1 B=2 vllm serve m)\n"${CMD[@]}"', "no-assignment"),
            ("nohup A=1 vllm serve m &", "no-assignment"),
            ("exec A=1 vllm serve m", "no-assignment"),
        ],
    )
    def test_start_nothing(self, text: str, kind: str) -> None:
        launch = script(text)
        assert [mishap.kind for mishap in launch.mishaps] == [kind]
        assert not launch.started

    @pytest.mark.parametrize(
        "text",
        [
            'CMD="A=1 vllm serve m"\neval "$CMD"',
            'CMD="A=1 vllm serve m"\nbash -c "$CMD"',
            'CMD="A=1 vllm serve m"\nenv $CMD',
            'CMD="A=1 vllm serve m"\nsudo $CMD',
            'CMD="vllm serve m"\n$CMD',
            'run() { eval "$1"; }\nrun "vllm serve m"',
            "A=1 nohup vllm serve m",
        ],
    )
    def test_others_start_the_engine(self, text: str) -> None:
        launch = script(text)
        assert launch.started
        assert launch.mishaps == []


@pytest.mark.parametrize(
    "test", ["case $M in abc) R=--a ;; *) R=--b ;; esac", "if [[ $M == abc ]]; then R=--a; else R=--b; fi"]
)
def test_texts_that_differ_may_be_equal_where_case_is_ignored(test: str) -> None:
    launch = script(f"shopt -s nocasematch\nM=ABC\n{test}\nvllm serve m $R\n")
    assert sorted([argv(launch), *map(argv, launch.alternatives)]) == [["m", "--a"], ["m", "--b"]]
    assert argv(script(f"M=ABC\n{test}\nvllm serve m $R\n")) == ["m", "--b"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("etc/cron.d/llm", "SHELL=/bin/bash\n\n# at boot\n@reboot root vllm serve m --port 1\n", [["m", "--port", "1"]]),
        ("etc/cron.d/llm", "*/5 0 * * 1-5 ai cd /opt && vllm serve m\n0 3 * * * ai vllm serve n\n", [["m"], ["n"]]),
        ("crontab", "@daily vllm serve m\n", [["m"]]),
        ("llm.cron", "0 3 * * mon vllm serve m >> /var/log/llm.log 2>&1\n", [["m"]]),
        ("etc/cron.d/llm", "0 3 * * * root pkill -f 'vllm serve m'\n", []),
        ("notes", "1 2 3 go\nvllm serve m\n", []),
    ],
)
def test_crontabs(name: str, text: str, words: list[list[str]]) -> None:
    assert [argv(one) for one in launches_in(text, name)] == words


class TestStandardInput:
    """A script that a shell reads from its standard input: on another host, and through a function."""

    @together(
        "before",
        [
            "ssh host bash -s <<'END'",
            "ssh host 'A=1 bash -s' <<'END'",
            "ssh host \"$(settings) $MORE bash -s\" <<'END'",
            'ssh $OPTIONS "$HOST" "$(settings) bash -s" "$@" <<\'END\'',
            "ssh -p 22 host sudo -u llm env A=1 bash -e -s -- x <<'END'",
            "ssh host 'exec /bin/bash -' <<'END'",
            "run() { ssh \"$1\" bash -s; }\nrun host <<'END'",
            'run() {\n  local host="$1"\n  shift\n  ssh $OPTIONS "$host" "$(settings) bash -s" "$@"\n}\nrun host x <<\'END\'',
            "run() { bash -s; }\nrun <<'END'",
            "inner() { ssh h bash -s; }\nouter() { inner; }\nouter <<'END'",
            "ssh host 'cat > start.sh' <<'END'",
            "sudo bash -c 'mkdir -p x && cat >x/start.sh' <<'END'",
            "docker exec -i box sh -c 'tee start.sh' <<'END'",
        ],
    )
    def test_a_script_that_a_shell_reads(self, before: str) -> None:
        text = f'{before}\nset -e\nargs=(serve m --port 1)\nvllm "${{args[@]}}"\nEND\n'
        assert argv(script(text)) == ["m", "--port", "1"]

    @pytest.mark.parametrize(
        "before",
        [
            "ssh host cat <<'END'",
            "ssh host 'cat > notes.txt' <<'END'",
            "ssh host 'bash start.sh' <<'END'",
            "ssh host \"bash -c 'cat'\" <<'END'",
            "run() { cat >/dev/null; bash -s; }\nrun <<'END'",
            "run() { echo; }\nrun <<'END'",
            "run() { ssh a bash -s; }\ncat <<'END'",
        ],
    )
    def test_a_text_that_no_shell_reads(self, before: str) -> None:
        assert launches_in(f"{before}\nvllm serve m\nEND\n", "run.sh") == []

    def test_only_the_first_program_of_a_function_reads(self) -> None:
        text = "run() { ssh a bash -s; ssh b bash -s; }\nrun <<END\nvllm serve m\nEND\n"
        assert len(launches_in(text, "run.sh")) == 1


class TestForeground:
    """A server in the foreground of a substitution: the script waits for it."""

    @pytest.mark.parametrize(
        "text",
        [
            "OUT=$(vllm serve m)",
            'OUT="$(vllm serve m 2>&1 | tee log)"',
            "if ! OUT=$(timeout 60 vllm serve m 2>&1); then echo failed; fi",
            "start() { local out; out=$(cd /x && exec vllm serve m); }\nstart",
            "OUT=`vllm serve m`",
            "OUT=$(python3 -m vllm.entrypoints.openai.api_server --model m)",
        ],
    )
    def test_a_server(self, text: str) -> None:
        assert argv(script(text))[-1] == "m"

    @pytest.mark.parametrize(
        "text",
        [
            "HELP=$(vllm serve --help)",
            "V=$(vllm --version)",
            "V=$(python3 -m vllm.collect_env)",
            "PID=$(pgrep -f 'vllm serve')",
            "N=$(ps aux | grep -c 'vllm serve m')",
            'CMD=$(echo "vllm serve m")',
            "URL=$(get_server_url --launch x)",
        ],
    )
    def test_what_starts_none(self, text: str) -> None:
        assert launches_in(text + "\n", "run.sh") == []


OPTION_LOOPS = {
    "while": 'while [ $# -gt 0 ]; do case "$1" in --engine) E="$2"; shift 2 ;; *) shift ;; esac; done',
    "getopts": 'while getopts "e:" o; do case $o in e) E=$OPTARG ;; esac; done',
    "for": 'for a in "$@"; do case $a in --engine=*) E=${a#*=} ;; esac; done',
    "until": 'until [ -z "$1" ]; do E=$1; shift; done',
    "one argument": '[ "${1:-}" = --sglang ] && E=sglang',
}


@pytest.mark.parametrize("loop", OPTION_LOOPS.values(), ids=OPTION_LOOPS.keys())
@pytest.mark.parametrize(
    "choice",
    [
        'if [ "$E" = vllm ]; then vllm serve m; else python3 -m sglang.launch_server --model-path m; fi',
        'case "$E" in vllm) exec vllm serve m ;; sglang) exec python3 -m sglang.launch_server --model-path m ;; esac',
        '[ "$E" != sglang ] || exec python3 -m sglang.launch_server --model-path m\nvllm serve m',
    ],
)
def test_an_engine_that_an_option_chooses(loop: str, choice: str) -> None:
    found = launches_in(f"E=vllm\n{loop}\n{choice}\n", "run.sh")
    assert sorted(launch.engine for launch in found) == ["sglang", "vllm"]


def test_an_option_that_nothing_sets_chooses_nothing() -> None:
    text = "E=vllm\nwhile [ $# -gt 0 ]; do case $1 in --port) P=$2 ;; esac; shift; done\n"
    text += "if [ $E = vllm ]; then vllm serve m; else sglang serve --model-path m; fi\n"
    assert [launch.engine for launch in launches_in(text, "run.sh")] == ["vllm"]


TERRAFORM = """\
#!/bin/bash
docker run -d vllm/vllm-openai:v0.9.1 \\
  --model ${model} \\
%{ if quantization != "" ~}
  --quantization ${quantization} \\
%{ endif ~}
  --seed 1
%{ if other }
vllm serve a --seed 2
%{ else }
vllm serve b --seed 3
%{ endif }
"""


def test_directives_of_terraform() -> None:
    for name in ("user_data.tftpl", "run.sh.tpl"):
        first, *others = launches_in(TERRAFORM, name)
        assert [word.shown for word in first.argv] == ["--model", "${model}", "--quantization ${quantization}", "--seed", "1"]
        assert [argv(one) for one in others] == [["a", "--seed", "2"], ["b", "--seed", "3"]]
    rendered = TERRAFORM.replace("%{ if", "%%{ if")  # an escaped one is a text
    assert "%%{" in " ".join(word.shown for word in launches_in(rendered, "run.sh.tpl")[0].argv)


def test_a_template_for_cloud_init() -> None:
    text = "#cloud-config\nruncmd:\n  - vllm serve ${model} --port 8000\n"
    for name in ("init.tftpl", "cloud-init.tpl", "user-data"):
        assert argv(launch_in(text, name)) == ["${model}", "--port", "8000"]


_A_OR_B = 'if [ -n "$Q" ]; then echo "exec vllm serve a"; else echo "exec vllm serve b"; fi'


@together(
    "text, models",
    [
        (f"{_A_OR_B} > run.sh", ["a", "b"]),
        (f"{_A_OR_B} > run.sh\nbash run.sh", ["a", "b"]),
        (f"{{ echo '#!/bin/sh'\necho 'set -e'\n{_A_OR_B}; }} > /start.sh", ["a", "b"]),
        ('case "$Q" in a) echo "exec vllm serve a";; b) echo "exec vllm serve b";; *) echo "exec vllm serve c";; esac > run.sh',
         ["a", "b", "c"]),
        ('{ if [ -n "$Q" ]; then printf "vllm serve a\\nexit 0\\n"; fi\necho "exec vllm serve b"; } > run.sh', ["a", "b"]),
        (f'{{ if [ -n "$Z" ]; then echo "exec vllm serve z"; else {_A_OR_B}; fi; }} > run.sh', ["z", "a", "b"]),
        # decided: one branch prints
        (f"Q=1\n{_A_OR_B} > run.sh", ["a"]),
        # parts of a command, of a statement, or of a file that is no script
        ("{ echo 'vllm serve a \\\\'\nif [ -n \"$Q\" ]; then echo ' --port 1'; else echo ' --port 2'; fi; } > run.sh", ["a"]),
        ('{ if [ -n "$Q" ]; then echo "if true; then"; fi\necho "exec vllm serve b"; } > run.sh', ["b"]),
    ],
)  # fmt: skip
def test_branches_that_print_the_end_of_a_script(text: str, models: list[str]) -> None:
    assert [one.argv[0].value for one in launches_in("#!/bin/bash\n" + text + "\n", "make.sh")] == models


def test_many_branches_that_print_the_end_of_a_script_are_bounded() -> None:
    row = "\n".join([_A_OR_B.replace("Q", f"Q{number}") for number in range(24)])
    assert [one.argv[0].value for one in launches_in(f"{{\n{row}\n}} > run.sh\n", "make.sh")] == ["a", "b"]


@together(
    "given, words",
    [
        ('"A=$X/1" "B=$Y" C=3', ["m", "--port", "1"]),
        ('"$X/a" "$Y-b" "$Z=c"', ["m", "--port", "1"]),
    ],
)
def test_an_unknown_text_that_cannot_be_another(given: str, words: list[str]) -> None:
    body = """while [ "${1:-}" != '--' ]; do shift; done; shift; vllm serve "$@\""""
    text = f"run() {{\n{body}\n}}\nrun {given} -- m --port 1\n"
    assert argv(script(text)) == words


SERVE = '#!/bin/bash\nvllm serve "$MODEL" --port 1 $EXTRA\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("export MODEL=a EXTRA='--seed 2'\n./serve.sh\n", ["a", "--port", "1", "--seed", "2"]),
        ("export MODEL=a\nunset EXTRA\nbash ./serve.sh\n", ["a", "--port", "1"]),
        ("MODEL=a\n./serve.sh\n", None),  # not exported
        ("export PORT=2\n./serve.sh\n", None),  # not read there
    ],
)
def test_a_script_that_reads_what_its_caller_exports(text: str, words: list[str] | None, tmp_path: Path) -> None:
    (tmp_path / "serve.sh").write_text(SERVE)
    found = launches_in(text, "run.sh", tmp_path)
    assert [[word.value for word in one.argv if not word.many] for one in found] == ([words] if words else [])


_QUOTES = """q() {
  local all=() one
  for one in "$@"; do all+=("$(printf '%q' "$one")"); done
  ssh host "docker ${all[*]}"
}
"""


@pytest.mark.parametrize("count", [1, 40])
def test_a_loop_that_quotes_the_words_of_a_command(count: int) -> None:
    given = " ".join(["-e A=1"] * count)
    found = script(f'{_QUOTES}q run {given} vllm/vllm-openai:v0.20.0 --model m --json \'{{"a": "b c"}}\'\n')
    assert argv(found) == ["--model", "m", "--json", '{"a": "b c"}']
    assert release(found) == ("0.20.0", "image")


def test_a_loop_that_collects_words_of_which_one_may_be_several() -> None:
    found = script('for one in vllm serve m $OPTIONS --port 3; do run+=("$one"); done\n"${run[@]}"\n')
    assert [(word.shown, word.many) for word in found.argv] == [
        ("m", False), ("${OPTIONS}", True), ("--port", False), ("3", False)
    ]  # fmt: skip


def test_a_loop_that_collects_words_and_does_more() -> None:
    assert launches_in('for one in vllm serve $OPTIONS; do run+=("$one"); echo; done\n"${run[@]}"\n', "run.sh") == []


@pytest.mark.parametrize("second", ["start() { vllm serve b --port 2; }", "function start { vllm serve b --port 2; }"])
@pytest.mark.parametrize(
    "script",
    [
        'case "$1" in\n  a) start() { vllm serve a --port 1; } ;;\n  b) %s ;;\nesac\nstart\n',
        'if [ -n "$A" ]; then\n  start() { vllm serve a --port 1; }\nelse\n  %s\nfi\nstart\n',
        'start() { vllm serve a --port 1; }\n[ -n "$1" ] && %s\nif [ "$2" = run ]; then start; fi\n',
    ],
)
def test_a_function_that_branches_define_differently(script: str, second: str) -> None:
    assert sorted(argv(one) for one in launches_in(script % second, "run.sh")) == [["a", "--port", "1"], ["b", "--port", "2"]]


def test_a_function_that_is_defined_again_is_the_last_one() -> None:
    text = "start() { vllm serve a; }\nstart\nstart() { vllm serve b; }\nstart\n"
    assert [argv(one) for one in launches_in(text, "run.sh")] == [["a"], ["b"]]


@together(
    "text, language",
    [
        ("# start\n$model = 'm/m'\nvllm serve $model --no-such-option\n", "PowerShell"),
        ("vllm serve m `\n  --port 1 `\n  --no-such-option\n", "PowerShell"),
        ("param([string]$m)\nvllm serve $m\n", "PowerShell"),
        ("@echo off\nset M=m\nvllm serve %M%\n", "a Windows batch file"),
        ("import os\nos.system('vllm serve m')\n", "Python"),
        ("#!/usr/bin/env python3\nimport os\nos.system('vllm serve m')\n", "a script of python3"),
        ("<!DOCTYPE html>\n<p>vllm serve m</p>\n", "a web page"),
        ("FROM vllm/vllm-openai:v0.9.1\nCMD vllm serve m\n", "a Dockerfile"),
        ("services:\n  a:\n    command: vllm serve m\n", "YAML"),
        ('{\n  "cmd": "vllm serve m"\n}\n', "JSON"),
    ],
)
def test_another_language_under_the_name_of_a_script(text: str, language: str) -> None:
    found = read(Source("run.sh", text))
    assert found.launches == []
    assert [(one.message, one.note) for one in found.problems] == [
        (f"not judged: its name is a shell script's, and it is {language}", "always")
    ]


@together(
    "text",
    [
        "#!/bin/bash\n$RUN = x\nvllm serve m\n",
        "M=m\n$SUDO vllm serve m\n",
        "import_env() { . ./env; }\nvllm serve m\n",
        "python - <<EOF\nimport os\nEOF\nvllm serve m\n",
        "pwsh - <<EOF\n$a = 1\n$b = 2\nEOF\nvllm serve m\n",
        "{ echo a; }\nvllm serve m\n",
        "N=`nproc`\nD=`date `\nvllm serve m\n",
    ],
)
def test_a_script_that_is_one(text: str) -> None:
    assert [argv(one) for one in launches_in(text, "run.sh")] == [["m"]]


def test_scripts_that_run_each_other_in_a_circle(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d", "e"]
    for name in names:
        calls = "".join(f"./{other}.sh $1 x{name}\n" for other in names if other != name)
        (tmp_path / f"{name}.sh").write_text(f"{calls}vllm serve $1 --port 1\n")
    found = read(Source("a.sh", (tmp_path / "a.sh").read_text()), Neighbours(str(tmp_path)))
    assert [one.site.line for one in found.launches] == [1, 2, 3, 4, 5]
    assert found.problems == []


def test_a_script_that_runs_itself(tmp_path: Path) -> None:
    text = 'if [ "$1" = worker ]; then\n  exec vllm serve m --port 1\nfi\n./run.sh worker\n'
    (tmp_path / "run.sh").write_text(text)
    found = read(Source("run.sh", text), Neighbours(str(tmp_path)))
    assert {tuple(argv(one)) for one in found.launches} == {("m", "--port", "1")}


@together(
    "text, expected",
    [
        ('if pid="$(cat run.pid)"; then exit 0; fi\nllama-server -m a', [["-m", "a"]]),
        ("if pid=$(pgrep llama); then echo runs; exit 0; fi\nllama-server -m a", [["-m", "a"]]),
        ("r() { cat run.pid; }\nif p=`r`; then exit 0; fi\nllama-server -m a", [["-m", "a"]]),
        ("P=$(pick) || exit 1\nllama-server -m a", [["-m", "a"]]),
        ("set -e\nP=$(pick)\nllama-server -m a", [["-m", "a"]]),
        ("if P=80; then exit 0; fi\nllama-server -m a", []),
        ('if P="$((1 + 2))"; then exit 0; fi\nllama-server -m a', []),
    ],
)
def test_an_assignment_has_the_status_of_the_command_in_it(text: str, expected: list[list[str]]) -> None:
    assert [argv(one) for one in launches_in(text + "\n", "run.sh")] == expected


@pytest.mark.parametrize("words", ['"${A[@]}"', '"${A[@]+"${A[@]}"}"', '$(printf "%q " "${A[@]}")'])
@pytest.mark.parametrize("condition", ["[[ $# -gt 0 ]]", "(( $# ))", '[ "$#" -ne 0 ]', '(( "$#" ))'])
def test_an_array_that_a_loop_over_the_arguments_fills(condition: str, words: str) -> None:
    """It is empty only where the script is given nothing: what it holds is not known."""
    body = 'case "$1" in\n  --image) IMAGE="$2"; shift 2 ;;\n  *) A+=("$1"); shift ;;\nesac'
    launch = launches_in(f"A=()\nwhile {condition}; do\n{body}\ndone\nvllm serve {words} --port 1\n", "run.sh")[0]
    assert launch.argv[0].value is None
    assert argv(launch)[-2:] == ["--port", "1"]


@pytest.mark.parametrize(
    "write",
    [
        "unit a/b > /etc/systemd/system/llm.service",
        "unit a/b | sudo tee /etc/systemd/system/llm.service > /dev/null",
        'unit a/b >> "$HOME/.config/systemd/user/llm.service"',
    ],
)
def test_what_a_function_prints_into_a_file(write: str) -> None:
    script = f"unit() {{\n  cat <<EOF\n[Service]\nExecStart=/opt/bin/vllm serve $1 --port 8000\nEOF\n}}\n{write}\n"
    (launch,) = launches_in(script, "install.sh")
    assert argv(launch) == ["a/b", "--port", "8000"]


@pytest.mark.parametrize("name", ["serve.command", "serve.job"])
def test_scripts_of_macos_and_of_clusters(name: str) -> None:
    (launch,) = launches_in("#!/bin/bash\nvllm serve a/b --port 8000\n", name)
    assert argv(launch) == ["a/b", "--port", "8000"]


@pytest.mark.parametrize(
    ("script", "model"),
    [
        ('vllm serve "" --port 80', ""),
        ('M=\nvllm serve "$M" --port 80', ""),
        ('vllm serve "${1:-}" --port 80', None),
        ('M="${1:-}"\nvllm serve "$M" --port 80', None),
        ('M="${MODEL:-}"\nvllm serve "$M" --port 80', ""),
    ],
)
def test_a_model_that_is_empty_and_one_that_is_given_later(script: str, model: str | None) -> None:
    assert [word.value for word in launch_in(script, "run.sh").argv] == [model, "--port", "80"]
