"""Commands: wrappers, shells inside, entry points, and images that start an engine by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core import bounds
from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans
from tests.together import together


def command(text: str) -> Launch:
    return launch_in(text, "run.sh")


class TestWrappers:
    @together(
        "wrapper",
        [
            "exec",
            "sudo -E",
            "nohup",
            "time -p",
            "nice -n 10",
            "numactl --cpunodebind=0 --membind 0",
            "servelint exec --fail-on warning --",
            "taskset -c 0-7",
            "timeout --signal=KILL 3600",
            "stdbuf -oL",
            "env -i",
            "srun --gpus=4 --ntasks 1",
            "mpirun -np 2",
            "nsys profile -o trace -t cuda,nvtx",
            "conda run -n llm --no-capture-output",
            "uv run --no-sync",
            "poetry run",
            "tini --",
            "setsid",
            "screen -dmS llm",
            "opentelemetry-instrument",
            "kubectl exec deploy/llm --",
            "sudo -u llm nice numactl -N 0",
        ],
    )
    def test_the_command_behind_it(self, wrapper: str) -> None:
        launch = command(f"{wrapper} vllm serve Qwen/Qwen3-8B --port 8000")
        assert argv(launch) == ["Qwen/Qwen3-8B", "--port", "8000"]
        assert [word.shown for word in launch.verb] == ["vllm", "serve"]

    def test_a_wrapper_that_nobody_knows_is_looked_behind(self) -> None:
        assert argv(command("$LAUNCHER vllm serve m")) == ["m"]

    @pytest.mark.parametrize(
        "text",
        [
            "./with-libs.sh vllm serve m --port 1",
            "/opt/x/run-in /opt/py/bin/python3 -m vllm.entrypoints.openai.api_server m",
            "with-env -- python -m vllm.entrypoints.cli.main serve m", "linux64 vllm serve m",
            "./pin -n 2 A=1 vllm serve m", "proxychains -q vllm serve m",
        ],
    )  # fmt: skip
    def test_a_program_that_is_not_known_runs_the_command_behind_it(self, text: str) -> None:
        launch = launch_in(text, "run.sh")
        assert launch.engine == "vllm"
        assert launch.open_env

    @together(
        "text",
        [
            "print_step vllm serve m", "./stop.sh vllm serve m", "pip install vllm serve m", "git commit -m vllm serve",
            "is_running vllm serve m", "notify-send vllm serve m", "server-kill vllm serve m",
            "die python -m sglang.launch_server m",
            "ensure llama-server", "./tool read the vllm serve m",
            "agent --llama-server /opt/llama-server --port 1", "agent --llama-server=/opt/llama-server -m a.gguf",
            "agent --vllm-bin /opt/vllm serve m", "agent -v --server llama-server --port 1", "agent --path vllm serve m",
        ],
    )  # fmt: skip
    def test_one_that_prints_or_stops_does_not(self, text: str) -> None:
        assert launches_in(text, "run.sh") == []

    @pytest.mark.parametrize(
        "text", ["log_line vllm serve m", "echo vllm serve m", "ssh host echo vllm serve m", "man vllm serve"]
    )
    def test_another_program_is_not(self, text: str) -> None:
        assert launches_in(text, "run.sh") == []

    def test_variables_that_it_sets(self) -> None:
        launch, marks = marked_launch("sudo A=⟦1⟧ env B=⟦2⟧ C= vllm serve m --x=y", "run.sh")
        assert environment(launch) == {"A": "1", "B": "2", "C": ""}
        assert [value.span() for name in ("A", "B") if (value := launch.env[name].value)] == marks

    @pytest.mark.parametrize(
        ("text", "left"),
        [
            ("env -u A vllm serve m", {"B": "2"}),
            ("env --unset=A --unset B vllm serve m", {}),
            ("env -i C=3 vllm serve m", {"C": "3"}),
            ("env - C=3 vllm serve m", {"C": "3"}),
            ("sudo -u A vllm serve m", {"A": "1", "B": "2"}),
            ("sudo env -u A vllm serve m", {"B": "2"}),
        ],
    )
    def test_variables_that_env_takes_away(self, text: str, left: dict[str, str]) -> None:
        assert environment(command(f"export A=1 B=2\n{text}")) == left

    @pytest.mark.parametrize(
        "wrapper",
        [
            "doppler run --",
            "op run --env-file=.env --",
            "uv run --env-file .env",
            "direnv exec .",
            "kubectl exec -it llm --",
            "sudo doppler run --",
        ],
    )
    def test_more_may_be_set_by_one_that_brings_variables(self, wrapper: str) -> None:
        assert command(f"{wrapper} vllm serve m").open_env

    @pytest.mark.parametrize("wrapper", ["sudo", "nohup", "env", "uv run"])
    def test_the_others_add_nothing(self, wrapper: str) -> None:
        assert not command(f"{wrapper} vllm serve m").open_env

    @pytest.mark.parametrize(
        "text",
        [
            "uvx vllm@0.19.1 serve m",
            "uvx --from vllm==0.19.1 vllm serve m",
            "uv run --with 'vllm==0.19.1' --with hf_transfer vllm serve m",
            "pipx run --spec vllm==0.19.1 vllm serve m",
        ],
    )
    def test_a_release_that_it_installs(self, text: str) -> None:
        launch = command(text)
        assert release(launch) == ("0.19.1", "pip")
        assert launch.release.span is not None
        assert launch.release.span.text == "0.19.1"
        assert environment(launch) == {}

    def test_a_requirement_without_a_release_says_nothing(self) -> None:
        assert release(command("uvx vllm serve m")) == (None, None)


ENTRY_POINTS = {
    "vllm": [
        "python3 /opt/venv/bin/vllm serve m",
        "~/.venv/bin/python -u ~/.venv/bin/vllm serve m",
        "python3 $(which vllm) serve m",
        'python "$(command -v vllm)" serve m',
        "$PYTHON $VENV/bin/vllm serve m",
        "mamba run -n x vllm serve m",
        "pipenv run vllm serve m",
        "hatch run vllm serve m",
        "py-spy record -o p.svg -- vllm serve m",
        "rocprofv3 --hip-trace -- vllm serve m",
        "compute-sanitizer --tool memcheck vllm serve m",
        "setpriv --reuid=1000 vllm serve m",
        "accelerate launch --num_processes 1 vllm serve m",
        "numactl -N 0 python3 /opt/venv/bin/vllm serve m",
    ],
    "sglang": [
        "python3 /opt/venv/bin/sglang serve m",
        "torchrun --nproc_per_node 2 -m sglang.launch_server m",
        "torchrun --nproc_per_node=2 /src/sglang/launch_server.py m",
        "torchrun --nproc_per_node=2 --module sglang.launch_server m",
        "uv run -m sglang.launch_server m",
        "uv run --with sglang --module sglang.launch_server m",
        "accelerate launch -m sglang.launch_server m",
        "python -m torch.distributed.run --nnodes 1 -m sglang.launch_server m",
        "python -X faulthandler -m cProfile -o out.prof -m sglang.launch_server m",
        "python3 -m debugpy --listen 0.0.0.0:5678 -m sglang.launch_server m",
        "gdb --args python -m sglang.launch_server m",
        "taskset -c 0-3 torchrun -m sglang.launch_server m",
    ],
    "trtllm": [
        "trtllm-llmapi-launch trtllm-serve m",
        "mpirun -n 2 --allow-run-as-root trtllm-llmapi-launch trtllm-serve serve m",
        'srun --mpi=pmix -N 2 bash -c "trtllm-llmapi-launch trtllm-serve m"',
        "python /usr/local/bin/trtllm-serve m",
    ],
    "lmdeploy": ["python3 /opt/conda/bin/lmdeploy serve api_server m"],
}


class TestEntryPoints:
    @together("engine, text", [(engine, text) for engine, texts in ENTRY_POINTS.items() for text in texts])
    def test_what_stands_before_the_engines_own_words(self, engine: str, text: str) -> None:
        launch = command(text)
        assert (launch.engine, argv(launch)) == (engine, ["m"])

    @pytest.mark.parametrize(
        "text",
        [
            "python3 $(which python) serve m # vllm",
            "python vllm serve m",
            "torchrun train.py -m vllm",
            "uv pip install vllm",
            "uv run train.py -m vllm",
            "python -m cProfile train.py --engine sglang.launch_server",
            "python -m vllm.benchmarks.serve m",
        ],
    )
    def test_what_starts_something_else(self, text: str) -> None:
        assert launches_in(text, "run.sh") == []

    @pytest.mark.parametrize(
        ("image", "version"),
        [
            ("vllm/vllm-openai:v0.19.1", ("0.19.1", "image")),
            ("docker://vllm/vllm-openai:v0.19.1", ("0.19.1", "image")),
            ("docker://registry.example#vllm/vllm-openai:v0.19.1", ("0.19.1", "image")),
            ("$IMAGE", (None, None)),
            ("/images/own.sqsh", (None, None)),
        ],
    )
    @pytest.mark.parametrize("sign", ["=", " "])
    def test_the_image_of_a_step(self, image: str, version: tuple[str | None, str | None], sign: str) -> None:
        launch = command(f"srun -N 1 --container-image{sign}{image} --container-mounts=/a:/a vllm serve m")
        assert release(launch) == version
        assert launch.image is not None
        assert launch.container is not None
        assert launch.container.open


class TestNoImage:
    @pytest.mark.parametrize(
        "between",
        [
            "\\\n  # the image\n  ",
            "\\   # all GPUs\n  ",
            "\\\n\n  ",
            "\n  ",
            "\\ \n  ",
            "\\\n  # ports\n  -p 80:80 \\\n  # image\n  ",
        ],
    )
    def test_the_command_ends_before_it(self, between: str) -> None:
        (launch,) = launches_in(f"docker run --gpus all {between}vllm/vllm-openai:v0.19.1 --model m --port 80\n", "run.sh")
        assert (launch.engine, release(launch)) == ("vllm", ("0.19.1", "image"))
        assert argv(launch) == ["--model", "m", "--port", "80"]
        assert launch.cut is not None
        assert launch.cut.text == "vllm/vllm-openai:v0.19.1 --model m --port 80"

    @pytest.mark.parametrize(
        "text",
        [
            "docker run --gpus all\necho x\nvllm/vllm-openai:v0.19.1 --model m",
            "docker run --gpus all $OPTIONS\nvllm/vllm-openai:v0.19.1 --model m",
            "docker run --gpus all\n./vllm-openai --model m",
            "docker ps --all\nvllm/vllm-openai:v0.19.1 --model m",
        ],
    )
    def test_other_commands_behind_it(self, text: str) -> None:
        assert launches_in(text, "run.sh") == []

    @together(
        "verb",
        [
            *("attach", "build", "compose", "cp", "images", "inspect", "kill", "logs", "network", "port", "ps", "pull", "push"),
            *("rename", "restart", "rm", "rmi", "start", "stats", "stop", "system", "tag", "top", "update", "volume", "wait"),
        ],
    )
    def test_what_a_container_tool_does_beside_starting_one(self, verb: str) -> None:
        assert launches_in(f"docker {verb} --all\nvllm/vllm-openai:v0.19.1 --model m", "run.sh") == []

    def test_the_launch_is_whole_again_with_the_next_one(self) -> None:
        found = launches_in("docker run --rm \\\n  # x\n  vllm/vllm-openai:v0.19.1 m\nvllm serve n\n", "run.sh")
        assert [argv(launch) for launch in found] == [["m"], ["n"]]
        assert [launch.cut is None for launch in found] == [False, True]


class TestShells:
    @together(
        "shell",
        [
            "bash -c",
            "sh -c",
            "/bin/bash -lc",
            "bash -ec",
            "bash -e -x -c",
            "bash -o pipefail -c",
            "bash -euo pipefail -c",
            "bash --norc -c",
            "bash --rcfile x -c",
            "bash +e -c",
            "sudo bash -c",
            "srun bash -c",
            "docker exec llm bash -c",
            "docker run house/server:1 sh -c",
            "docker run --entrypoint /bin/bash house/server:1 -c",
        ],
    )
    def test_the_script_that_it_is_given(self, shell: str) -> None:
        launch, marks = marked_launch(f"{shell} 'cd /srv; exec vllm serve ⟦m⟧ ⟦--port⟧ ⟦8000⟧'", "run.sh")
        assert argv(launch) == ["m", "--port", "8000"]
        assert spans(launch.argv) == marks

    @pytest.mark.parametrize(
        "shell", ["bash", "bash ./start.sh", "bash -x start.sh 'vllm serve m'", "bash -c", "bash -s < start.sh"]
    )
    def test_one_that_runs_something_else(self, shell: str) -> None:
        assert launches_in(shell, "run.sh") == []

    def test_arguments(self) -> None:
        launch = command('sh -c \'exec vllm serve "$0" "$@" --seed $2\' m --port 8000')
        assert argv(launch) == ["m", "--port", "8000", "--seed", "8000"]

    def test_the_outer_shell_fills_double_quotes(self) -> None:
        launch = command('PORT=8000\nbash -c "PORT=1; vllm serve m --port $PORT --seed \\$PORT"')
        assert argv(launch) == ["m", "--port", "8000", "--seed", "1"]

    def test_only_exported_variables_reach_the_inner_shell(self) -> None:
        launch = command("A=1\nexport B=2\nC=3 bash -c 'vllm serve m --a $A --b $B --c $C'")
        assert argv(launch) == ["m", "--a", "${A}", "--b", "2", "--c", "3"]

    def test_shells_in_shells(self) -> None:
        assert argv(command('bash -c "sh -c \'bash -c \\"vllm serve m\\"\'"')) == ["m"]

    def test_shells_without_end(self) -> None:
        script = "vllm serve m"
        for _ in range(8):
            script = "sh -c " + "'" + script.replace("'", "'\\''") + "'"
        found = read(Source("run.sh", script))
        assert found.launches == []
        assert [one.message for one in found.problems] == [bounds.SCRIPTS.message]


class TestContainers:
    def test_the_image_starts_the_engine(self) -> None:
        launch, marks = marked_launch(
            """
            docker run --rm -d --gpus all \\
              -p 8000:8000 \\
              vllm/vllm-openai:v⟦0.20.0⟧ \\
              ⟦--model⟧ ⟦Qwen/Qwen3-8B⟧ \\
              ⟦--port⟧ "⟦8000⟧"
            """,
            "run.sh",
        )
        assert argv(launch) == ["--model", "Qwen/Qwen3-8B", "--port", "8000"]
        assert [launch.release.span, *spans(launch.argv)] == marks
        assert launch.verb == ()
        assert lines(launch) == (1, 5)

    @pytest.mark.parametrize(
        "tool", ["docker run", "podman run", "nerdctl run", "sudo docker container run", "docker -H ssh://h run"]
    )
    def test_tools(self, tool: str) -> None:
        assert argv(command(f"{tool} vllm/vllm-openai:v0.20.0 --model m")) == ["--model", "m"]

    @together(
        "text",
        [
            "docker pull vllm/vllm-openai:v0.20.0",
            "docker logs -f vllm",
            "docker compose run llm",
            "docker run",
            "docker run -d",
            "docker run nginx:1.27 vllm",
            "docker run lmsysorg/sglang:v0.5.9",
            "docker run --entrypoint bash vllm/vllm-openai:v0.20.0",
            "docker run vllm/vllm-openai:v0.20.0 bash",
            "docker run -it $IMAGE --model m",
            "docker stop sglang && docker rm sglang",
        ],
    )
    def test_no_engine(self, text: str) -> None:
        assert launches_in(text, "run.sh") == []

    @together(
        "text, words",
        [
            ("docker run --entrypoint vllm house/server:1 serve m", ["m"]),
            (
                "docker run --entrypoint python3 house/server:1 -m vllm.entrypoints.openai.api_server --model m",
                ["--model", "m"],
            ),
            ("docker run --entrypoint= vllm/vllm-openai:v0.20.0 vllm serve m", ["m"]),
            ("docker run --entrypoint '' vllm/vllm-openai:v0.20.0 vllm serve m", ["m"]),
            ("docker run lmsysorg/sglang:v0.5.9 python3 -m sglang.launch_server --model-path m", ["--model-path", "m"]),
            ("docker run lmsysorg/sglang:v0.5.9 bash -c 'sglang serve --model-path m'", ["--model-path", "m"]),
            ("docker run house/server:1 vllm serve m", ["m"]),
            ("docker run house/vllm:1 serve m --port 8000", ["m", "--port", "8000"]),
            ("docker run house/vllm:1 --model m", ["--model", "m"]),
            ("docker run house/vllm:1 Qwen/Qwen3-8B --port 8000", ["Qwen/Qwen3-8B", "--port", "8000"]),
            ("docker run $IMAGE vllm serve m", ["m"]),
        ],
    )
    def test_entry_points(self, text: str, words: list[str]) -> None:
        assert argv(command(text)) == words

    def test_options(self) -> None:
        launch = command(
            "docker run --ipc=host --shm-size 16g --runtime nvidia -e A=1 -eB=2 --env C=3 -e 'D=x y' house/vllm:1 --model m"
        )
        assert launch.container is not None
        assert {name: text.shown for name, text in launch.container.settings.items()} == {
            "ipc": "host",
            "shm_size": "16g",
            "runtime": "nvidia",
        }
        assert environment(launch) == {"A": "1", "B": "2", "C": "3", "D": "x y"}

    def test_variables_of_the_host_stay_outside(self) -> None:
        launch = command("export A=1\nB=2 docker run -e C=3 vllm/vllm-openai:v0.20.0 --model m")
        assert environment(launch) == {"C": "3"}
        assert not launch.open_env

    def test_variables_that_are_passed_in(self) -> None:
        launch = command("export A=1\ndocker run -e A -e B vllm/vllm-openai:v0.20.0 --model m")
        assert environment(launch) == {"A": "1", "B": None}

    @pytest.mark.parametrize(
        "option", ['-e "$PAIR"', "-e ${NAME}=1", "--env-file missing.env", "--env-file $FILE", "$OPTIONS", '"${OPTIONS[@]}"']
    )
    def test_more_variables_may_come_from_what_is_not_known(self, option: str) -> None:
        assert command(f"docker run {option} vllm/vllm-openai:v0.20.0 --model m").open_env

    @together(
        "option, gpus, reserved",
        [
            ("", None, False),
            ("--device /dev/dri", None, None),
            ("--runtime nvidia", None, None),
            ("--privileged", None, None),
            ("-e NVIDIA_VISIBLE_DEVICES=all", None, None),
            ("$OPTIONS", None, None),
            ("--gpus all", None, True),
            ("--gpus 2", 2, True),
            ("--gpus=device=0", 1, True),
            ("--gpus '\"device=0,2,3\"'", 3, True),
            ("--gpus device=$GPU", None, True),
            ("--gpus $GPUS", None, True),
        ],
    )
    def test_gpus(self, option: str, gpus: int | None, reserved: bool | None) -> None:
        container = command(f"docker run {option} vllm/vllm-openai:v0.20.0 --model m").container
        assert container is not None
        assert (container.gpus, container.reserved) == (gpus, reserved)

    def test_in_a_running_container_nothing_is_known_of_it(self) -> None:
        launch = command("docker exec -it -e A=1 llm vllm serve m")
        assert argv(launch) == ["m"]
        assert environment(launch) == {"A": "1"}
        assert launch.open_env
        assert launch.container is None
        assert release(launch) == (None, None)


class TestEnginesThatAreOnlyNamed:
    @pytest.mark.parametrize(
        "line",
        [
            "sudo systemctl restart llama-server",
            "sudo pkill -f llama-server",
            "sudo docker logs -f llama-server",
            "sudo docker restart llama-server",
            "docker run --gpus all house/vllm-node ./join-cluster.sh --role worker --interface eth0",
        ],
    )
    def test_by_another_program(self, line: str) -> None:
        assert launches_in(line, "run.sh") == []

    @pytest.mark.parametrize(
        "line",
        [
            "sudo -u systemd llama-server -m a.gguf",
            "sudo docker run --rm ghcr.io/ggml-org/llama.cpp:server-cuda-b6000 -m a.gguf",
            "docker run --gpus all house/vllm-node /models/a --port 8000",
        ],
    )
    def test_and_ones_that_start(self, line: str) -> None:
        assert len(launches_in(line, "run.sh")) == 1


class TestScriptsThatAreToldACommand:
    @pytest.mark.parametrize("script", ["./wait.sh db:5432 --", "./cluster.sh --nodes 2 exec", "/opt/entry.sh -- "])
    def test_what_they_run(self, script: str) -> None:
        launch = command(f"{script} vllm serve m --port 8000")
        assert argv(launch) == ["m", "--port", "8000"]
        assert launch.open_env

    @pytest.mark.parametrize("line", ["./stop.sh vllm serve m", "echo exec vllm serve m", "./wait.sh -- vllm bench serve"])
    def test_and_what_they_do_not(self, line: str) -> None:
        assert launches_in(line, "run.sh") == []


class TestFunctionsOfOtherFiles:
    @pytest.mark.parametrize("shell", ["bash -lc", "/bin/bash -c", "sh -ec"])
    def test_a_shell_s_script_behind_other_words(self, shell: str) -> None:
        script = f'start_with_pid_file "$PID" log {shell} "exec env A=1 vllm serve m --port $PORT"\n'
        launch = launch_in(script, "run.sh")
        assert argv(launch) == ["m", "--port", "${PORT}"]
        assert launch.open_env

    @pytest.mark.parametrize("name", ["log", "show_command", "echo_step", "wait_for", "die"])
    def test_one_that_only_speaks_of_it(self, name: str) -> None:
        assert launches_in(f'{name} "$X" bash -c "vllm serve m --port 1"\n', "run.sh") == []


@pytest.mark.parametrize("script", ["/opt/nvidia/nvidia_entrypoint.sh", "/docker-entrypoint.sh"])
def test_entry_points_that_pass_their_words_on(script: str) -> None:
    assert argv(launch_in(f"{script} trtllm-serve m --port 8000", "run.sh")) == ["m", "--port", "8000"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('sbatch --wrap "vllm serve m --port 1"', "m --port 1"),
        ('sbatch -N 1 --gres=gpu:1 --wrap="vllm serve m --port 1"', "m --port 1"),
        ('id=$(sbatch --parsable --wrap="vllm serve m --port 1")', "m --port 1"),
        ("sbatch --job-name=x -N 1 job.sh m 1", "m --port 1"),
        ("id=$(sbatch --parsable job.sh m 1)", "m --port 1"),
        ("sbatch --export=ALL,MODEL=m,PORT=1 env.slurm", "m --port 1"),
        ("MODEL=m PORT=1 sbatch env.slurm", "m --port 1"),
        ("qsub -v MODEL=m,PORT=1 env.slurm", "m --port 1"),
    ],
)
def test_what_a_scheduler_of_jobs_is_given(tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "job.sh").write_text('#!/bin/bash\n#SBATCH -N 1\nvllm serve "$1" --port $2\n')
    (tmp_path / "env.slurm").write_text("#!/bin/bash\nvllm serve $MODEL --port $PORT\n")
    assert argv(launch_in(f"#!/bin/bash\n{line}\n", "submit.sh", tmp_path)) == words.split()
    assert launches_in("#!/bin/bash\nsbatch job.sh\nsbatch env.slurm\nsbatch absent.sh\n", "submit.sh", tmp_path) == []


@pytest.mark.parametrize("options", ["$CONTAINER_OPTIONS", "$REPO_MOUNT", "$OPTIONS $CONTAINER_ARGS"])
def test_options_in_front_of_an_image_that_are_not_known(options: str) -> None:
    found = command(f'docker run -d --entrypoint bash {options} "$VLLM_IMAGE" -c "vllm serve m --port 1"')
    assert argv(found) == ["m", "--port", "1"]
    assert found.container is not None
    assert found.container.image is not None
    assert found.container.image.shown == "${VLLM_IMAGE}"
    assert argv(command("docker run -d $VLLM_CONTAINER --model m")) == ["--model", "m"]


@pytest.mark.parametrize(
    "line",
    [
        'env -S "A=b vllm serve m --port 1"',
        'env -i -S "A=b vllm serve" m --port 1',
        "env --split-string 'A=b vllm serve m' --port 1",
    ],
)
def test_a_command_that_env_splits(line: str) -> None:
    found = command(line)
    assert (argv(found), environment(found)) == (["m", "--port", "1"], {"A": "b"})


def test_a_script_that_is_written_and_not_run() -> None:
    found = command("cat > run.sh <<EOF\n#!/bin/bash\nMODEL=m\nvllm serve $MODEL\nEOF\nchmod +x run.sh\n")
    assert [mishap.kind for mishap in found.mishaps] == ["expanded-early"]


@pytest.mark.parametrize(
    "inner",
    [
        'tmux new-session -d ⟦"$BIN/vllm serve m"⟧',
        'bash -c ⟦"$BIN/vllm serve m"⟧',
        'ssh host ⟦"exec $BIN/python -m vllm.entrypoints.openai.api_server --model m"⟧',
        'S() { sudo "$@"; }\nS bash -c ⟦"cd /opt && env A=1 $BIN/vllm serve m"⟧',
    ],
)
def test_a_launch_stands_where_its_command_does_not_where_the_path_of_its_program_is_set(inner: str) -> None:
    launch, (place,) = marked_launch(f"BIN=/opt/venv/bin\n\n{inner}\n", "run.sh")
    assert place.start <= launch.site.start < launch.site.end <= place.end


@together(
    "text",
    [
        "sg render -c 'vllm serve m'",
        "sudo sg video -c 'vllm serve m'",
        "newgrp docker <<< 'vllm serve m'",
        "sudo su - u -c 'vllm serve m'",
        "sudo -u root runuser -l u -c 'vllm serve m'",
        "timeout 10 ssh host 'vllm serve m'",
        "ssh host -- docker exec box vllm serve m",
        "autossh -M 0 host 'vllm serve m'",
        "gcloud compute ssh host --command='vllm serve m'",
        "nix-shell -p python3 --run 'vllm serve m'",
        "sops exec-env secrets.env 'vllm serve m'",
        "fish -c 'vllm serve m'",
        "concurrently 'vllm serve m' 'npm start'",
        "pm2 start 'vllm serve m' --name llm",
        "pm2 start vllm --interpreter none --name llm -- serve m",
        "start-stop-daemon --start --pidfile p --exec /usr/bin/vllm --chuid u -- serve m",
        "daemonize -p pid /usr/bin/vllm serve m",
        "bwrap --ro-bind / / vllm serve m",
        "cgexec -g memory:llm vllm serve m",
        "salloc -N1 srun vllm serve m",
        "oc rsh pod vllm serve m",
    ],
)
def test_who_runs_a_command_that_it_is_given(text: str) -> None:
    assert argv(command(text + "\n")) == ["m"]


@together(
    "text",
    [
        "pm2 delete 'vllm serve m'",
        "pm2 logs vllm -- serve m",
        "sg render -c 'echo vllm serve m'",
        "sudo su - u -c \"pkill -f 'vllm serve m'\"",
        "start-stop-daemon --stop --exec /usr/bin/vllm",
        "find / -name vllm",
        "find . -name 'vllm serve m' -delete",
        "sky launch -c vllm serve.yaml",
        "sky down vllm",
    ],
)
def test_who_does_something_else_with_it(text: str) -> None:
    assert launches_in(text + "\n", "run.sh") == []


def test_the_name_of_an_object_that_is_not_known() -> None:
    text = "kubectl apply -f - <<EOF\napiVersion: v1\nkind: Pod\nmetadata:\n  name: ${NAME}-a\nspec:\n  containers:\n"
    text += "  - {name: llm, image: vllm/vllm-openai:v0.33.0, args: [--model, m]}\nEOF\n"
    assert [launch.name for launch in launches_in(text, "run.sh")] == ["Pod/*-a.containers.llm"]


@together(
    "text, known",
    [
        ("parallel -j2 vllm serve {} --port 80 ::: m n", [None, "--port", "80"]),
        ("parallel vllm serve m --port {2} --tp {1} :::+ 1 2 ::: 80 90", ["m", "--port", None, "--tp", None]),
        ("parallel 'CUDA_VISIBLE_DEVICES={%} vllm serve m --port 800{#}' :::: ports", ["m", "--port", None]),
        ("seq 3 | parallel -j 4 vllm serve m --port", ["m", "--port", None]),
        ("cat a | xargs -P2 -I PORT vllm serve m --port PORT", ["m", "--port", None]),
        ("cat a | xargs -I% sh -c 'vllm serve m --port 80%'", ["m", "--port", None]),
        ("cat a | xargs --replace=@ vllm serve @", [None]),
        ("cat a | xargs -i vllm serve {}", [None]),
        ("cat a | xargs -n1 vllm serve m --port {} --model", ["m", "--port", "{}", "--model", None]),
        ("find /models -name '*.gguf' -exec vllm serve {} --port 80 \\;", [None, "--port", "80"]),
        ("find . -type d -execdir vllm serve m --served-model-name {} ';'", ["m", "--served-model-name", None]),
        ("find /models -maxdepth 1 -exec bash -c 'vllm serve m --port 80' \\;", ["m", "--port", "80"]),
        ("find . -ok vllm serve {} +", [None]),
        ("sky launch -c llm --gpus A100:1 'vllm serve m --port 80'", ["m", "--port", "80"]),
        ("sky exec llm vllm serve m", ["m"]),
        ("sky launch -y -c llm -- vllm serve m", ["m"]),
    ],
)
def test_what_a_command_is_completed_with(text: str, known: list[str | None]) -> None:
    assert [word.value for word in command(text + "\n").argv] == known


def test_an_image_that_starts_another_program() -> None:
    image = "ghcr.io/mostlygeek/llama-swap:v245-cuda-b10200"
    assert launches_in(f"docker run {image} --listen 0.0.0.0:80\n", "run.sh") == []
    assert argv(command(f"docker run --entrypoint /app/llama-server {image} -m a.gguf\n")) == ["-m", "a.gguf"]


def test_a_sentence_with_the_name_of_a_server() -> None:
    found = launches_in("Bundled llama-server - no dependencies\nwith-env llama-server -m a\n", "run.sh")
    assert [argv(one) for one in found] == [["-m", "a"]]


@together(
    "text",
    [
        "tmux new-session -d -s llama-server -n main",
        "sudo tmux new -ds llama-server",
        "tmux has-session -t llama-server 2>/dev/null",
        "tmux kill-session -t llama-server",
        "tmux select-pane -t llama-server:main.0",
        "tmux rename-window llama-server",
        "tmux -L work rename-session -t 0 llama-server",
        "screen -S llama-server -X quit",
        "sudo screen -d -r llama-server",
        "xterm -title llama-server",
        "gnome-terminal --title llama-server -- top",
        "pm2 restart llama-server",
        "pm2 start proxy.js --name llama-server",
        "pm2 start --name vllm ecosystem.config.js",
        "pm2 start ./proxy.sh --interpreter bash --name vllm",
        "sudo pm2 delete llama-server",
    ],
)
def test_a_session_that_has_the_name_of_a_server(text: str) -> None:
    assert launches_in(text + "\n", "run.sh") == []


@together(
    "text",
    [
        "tmux new-session -d -s llama-server -n main 'llama-server -m a'",
        "tmux new -A -s llama-server llama-server -m a",
        "tmux kill-session -t a ';' new-session -d -s llama-server 'llama-server -m a'",
        "tmux send-keys -t llama-server 'llama-server -m a' C-m",
        "sudo tmux split-window -h -t llama-server 'llama-server -m a'",
        "screen -dmS llama-server llama-server -m a",
        "screen -d -m llama-server -m a",
        "screen llama-server -m a",
        "screen -S llama-server -X stuff 'llama-server -m a'",
        "xterm -T llama-server -e llama-server -m a",
        "pm2 start llama-server --name llama-server -- -m a",
        "pm2 start /opt/llama-server --name chat -- -m a",
        "pm2 start --name chat -i 1 llama-server -- -m a",
        "sudo pm2 start llama-server --name chat -- -m a",
        "pm2 start 'llama-server -m a' --name llama-server",
    ],
)
def test_a_command_in_a_session(text: str) -> None:
    assert [word.value for word in command(text + "\n").argv][-2:] == ["-m", "a"]


@together(
    "text",
    [
        "cmake --build build --target llama-server -j4",
        "cmake --build build --config Release -j 8 --target llama-server --parallel",
        "ninja -C build llama-server -j4",
        "sudo cmake --build build --target llama-server -j4",
        "hf download a/b --include llama-server --local-dir x",
    ],
)
def test_a_build_of_a_server(text: str) -> None:
    assert launches_in(text + "\n", "run.sh") == []


_POD = '{"spec": {"containers": [{"name": "a", "image": "vllm/vllm-openai:v0.20.0", "args": ["--model", "m"]}]}}'


@together(
    "text, expected, pinned",
    [
        (f"kubectl run a --image=vllm/vllm-openai:v0.19.1 --overrides='{_POD}'", ["--model", "m"], "0.20.0"),
        (f"kubectl -n ai run a --image alpine --overrides '{_POD}' -- sleep 1", ["--model", "m"], "0.20.0"),
        (f"oc run a --image=alpine --restart=Never --overrides='{_POD}'", ["--model", "m"], "0.20.0"),
        (
            'kubectl run a --image=vllm/vllm-openai:v0.19.1 --overrides=\'{"spec": {"nodeName": "b"}}\' -- --model a',
            ["--model", "a"],
            "0.19.1",
        ),
        ('kubectl run a --image=vllm/vllm-openai:v0.19.1 --overrides="$POD" -- --model a', ["--model", "a"], "0.19.1"),
    ],
)
def test_a_pod_that_a_command_overrides(text: str, expected: list[str], pinned: str) -> None:
    (launch,) = launches_in(text + "\n", "run.sh")
    assert (argv(launch), launch.release.release) == (expected, pinned)


def test_an_override_that_runs_another_image() -> None:
    pod = '{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", "image": "alpine"}]}}'
    assert launches_in(f"kubectl run a --image=vllm/vllm-openai:v0.19.1 --overrides='{pod}'\n", "run.sh") == []


@together(
    "text",
    [
        "docker run --rm ghcr.io/ggml-org/llama.cpp:server-cuda /app/llama-server --help",
        'docker run --rm "ghcr.io/ggml-org/llama.cpp:server-cuda@$DIGEST" /app/llama-server --version',
        "docker run --rm vllm/vllm-openai:v0.19.1 vllm serve --help",
        "docker run --rm ollama/ollama:0.12.0 --version",
    ],
)
def test_an_image_that_is_asked_for_its_help(text: str) -> None:
    assert launches_in(text + "\n", "run.sh") == []


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("lmdeploy serve proxy --server-port 8000\n", ["lmdeploy serve proxy is a router of LMDeploy"]),
        (
            "python -m sglang_router.launch_router --worker-urls http://a:1\n",
            ["sglang_router.launch_router is a router of SGLang"],
        ),
        ("srun -n 1 python3 -u -m vllm_router.app --port 1 &\n", ["vllm_router.app is a router of vLLM"]),
        ("# vllm\nnohup vllm-router --policy cache_aware > log &\n", ["vllm-router is a router of vLLM"]),
        ("# sglang\nsmg launch --worker-urls http://a:1\n", ["smg launch is a router of SGLang"]),
        ("uv pip install vllm-router\nsudo pip install vllm-router --upgrade\n", []),
        ("vllm-router --help\n", []),
        ("echo vllm-router\nsglang-router-exporter --x\n", []),
        ("lmdeploy serve api_client http://a:1\n", []),
    ],
)
def test_a_router_is_no_launch_and_is_said(text: str, noted: list[str]) -> None:
    found = read(Source("run.sh", text))
    assert found.launches == []
    assert [one.message.partition(":")[0] for one in found.problems] == noted
    assert {one.note for one in found.problems} <= {"always"}


def test_a_router_that_starts_its_workers_is_a_launch() -> None:
    found = read(Source("run.sh", "python -m sglang_router.launch_server --model-path m --dp-size 4\n"))
    assert ([one.engine for one in found.launches], found.problems) == (["sglang"], [])
