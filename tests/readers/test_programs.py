"""Programs by their names: which run the command behind them, which only speak of it, which manage what runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, launch_in, launches_in

SERVE = "vllm serve m --port 1"
MODULE = "-m vllm.entrypoints.openai.api_server --model m"

WRAPPERS = """
    accelerate bash-preexec bwrap cgexec daemonize foreman honcho qrsh salloc catchsegv catatonit chpst chrt
    compute-sanitizer conda coverage cpulimit cuda-gdb ddtrace-run debugpy deepspeed doas dumb-init enroot env
    eatmydata firejail flux gdb gosu hatch heaptrack hivemind ionice ipexrun jemalloc.sh jsrun kernprof ltrace mamba
    memray micromamba mpiexec mpiexec.hydra mpirun ncu newrelic-admin nice nohup nsys numactl numawrap nvprof
    omnitrace-run opentelemetry-instrument orterun pdm perf pipenv pipx poetry prlimit prterun prun proxychains4
    py-spy pyenv pyinstrument ray rocprof rocprof-sys-run rocprofv2 rocprofv3 rocgdb rye s6-setuidgid scalene
    sentry-cli servelint setarch setpriv setsid setuidgid srun start-stop-daemon stdbuf strace su-exec sudo
    systemd-cat systemd-inhibit systemd-run taskset timeout tini torchrun trtllm-llmapi-launch tsocks unbuffer
    unshare uv uvx valgrind vglrun viztracer xpu-smi xvfb-run
"""
OPENERS = """
    aws-vault chroot devbox direnv distrobox docker-entrypoint.sh doppler dotenv dotenvx envdir incus infisical
    kubectl lxc nix nvidia_entrypoint.sh oc op pixi toolbox
"""
RUNNERS = """
    accelerate coverage debugpy deepspeed ipexrun kernprof memray pyinstrument scalene torchrun viztracer
"""
RUNNING_MODULES = """
    accelerate.commands.launch cProfile coverage ddtrace debugpy intel_extension_for_pytorch.cpu.launch ipexrun
    kernprof memray pdb profile pyinstrument torch.distributed.launch torch.distributed.run torch.utils.bottleneck
    trace viztracer
"""
SPEAKING = """
    abort alert_user annotate assert_up banner bench check_gpu cowsay debug describe die doc echo_green err expect
    explain fail fatal figlet find_port has have header heading help highlight info is-up is_up kill_all log_cmd man
    message msg need note notice notify pgrep pkill print_cmd prompt puts require say section show_cmd skip spd-say
    step stop success title trace usage verbose wait_for wall warn write my-log my_msg run_echo do-print server-kill
    model_exists image_found gpu_missing server_running
"""
OTHERS = """
    ack ag amake ansible apropos aspell awk brew bundle cargo choco crontab emerge expr gawk gem gh git go helm hub
    info initctl java jq just launchctl logger make mawk node npm npx open pacman perl php rg ruby sbatch service
    snap supervisorctl task tee terraform test tldr type vi vim whatis where whereami whereis xdg-open yarn yq
    zypper pip pip3 pip3.11 apt apt-get cat chmod chown cp curl dnf echo grep journalctl killall ln ls mkdir mv
    pgrep pidof pkill printf ps rm rsync scp sed systemctl tail tee wget which yum basename cmp comm cut date df
    diff dig dirname du egrep fgrep file free fuser getent head hostname id ip kill lsof lspci md5sum mktemp
    mountpoint nc netstat nproc nslookup nvidia-smi paste ping readlink realpath rev rmdir rocm-smi seq sha256sum
    sort ss stat sync tac touch tput tr uname uniq uptime wc whoami
"""
NOT_BEHIND_SUDO = """
    apt apt-get cat chmod chown cp curl dnf echo grep journalctl killall ln ls mkdir mv pgrep pidof pkill printf ps
    rm rsync scp sed systemctl tail tee wget which yum
"""
MANAGING = """
    attach build compose cp images inspect kill logs network port ps pull push rename restart rm rmi start stats
    stop system tag top update volume wait
"""


def _only(text: str) -> Launch | None:
    found = launches_in(text, "run.sh")
    return found[0] if len(found) == 1 else None


def test_a_wrapper_runs_what_follows_its_own_words() -> None:
    for name in WRAPPERS.split():
        found = _only(f"{name} word {SERVE}")
        assert found is not None, name
        assert (found.engine, found.open_env) == ("vllm", False), name
    for name in OPENERS.split():
        found = _only(f"{name} word {SERVE}")
        assert found is not None, name
        assert found.open_env, name


def test_what_runs_a_module_of_python() -> None:
    for command in (*RUNNERS.split(), *[f"python -m {module}" for module in RUNNING_MODULES.split()]):
        found = _only(f"{command} --option 1 {MODULE}")
        assert found is not None, command
        assert not found.open_env, command


def test_a_program_that_speaks_of_a_command_does_not_run_it() -> None:
    for name in (*SPEAKING.split(), *OTHERS.split()):
        assert launches_in(f"{name} {SERVE}", "run.sh") == [], name


def test_what_stands_behind_a_wrapper_and_manages() -> None:
    for command in (*NOT_BEHIND_SUDO.split(), *[f"docker {verb}" for verb in MANAGING.split()]):
        assert launches_in(f"sudo {command} {SERVE}", "run.sh") == [], command
    for command in ("unknown", "date"):
        assert len(launches_in(f"sudo {command} {SERVE}", "run.sh")) == 1, command


SWITCHES = """
    --detach --disable-content-trust --env-host --help --http-proxy --init --interactive --no-healthcheck
    --no-hostname --no-hosts --oom-kill-disable --passwd --privileged --publish-all --quiet --read-only
    --read-only-tmpfs --replace --rm --rmi --rootfs --sig-proxy --tls-verify --tty --unsetenv-all --use-api-socket
    -d -i -t -P -q -it -dit
"""
APPTAINER_SWITCHES = """
    --allow-setuid --cleanenv --compat --contain --containall --debug --fakeroot --ipc --keep-privs --net --no-eval
    --no-home --no-https --no-init --no-privs --no-umask --nv --nvccli --pid --quiet --rocm --silent --sharens
    --unsquash --userns --uts --verbose --vm --writable --writable-tmpfs -c -C -d -e -f -i -n -p -q -s -u -v -w -ce
"""
VALUED = "--context -c --host -H --config --log-level -l --namespace -n --env-file"
IMAGE = "vllm/vllm-openai:v0.11.0"


def test_a_switch_of_a_container_tool_takes_no_value() -> None:
    commands = [
        *[f"docker run {switch} {IMAGE} --model m" for switch in SWITCHES.split()],
        *[f"docker run --gpus all {option} x {IMAGE} --model m" for option in ("-e", "--cpus", "-v", "-h", "-dw", "--name")],
        *[f"apptainer run {switch} docker://{IMAGE} --model m" for switch in APPTAINER_SWITCHES.split()],
        *[f"apptainer run {option} x docker://{IMAGE} --model m" for option in ("-B", "-H", "-o", "-S", "-W", "--bind")],
        *[f"docker {option} x run {IMAGE} --model m" for option in VALUED.split()],
        *[f"docker {option} run {IMAGE} --model m" for option in ("--debug", "--tls", "--context=x")],
    ]
    for command in commands:
        found = _only(command)
        assert found is not None, command
        assert [word.shown for word in found.argv] == ["--model", "m"], command


def test_short_options_of_a_container_tool_are_the_long_ones() -> None:
    found = _only(f"docker run -e A=1 -dp 1:2 -m 8g -u root -w /x -h host -v /a:/b {IMAGE} --model m")
    assert found is not None
    assert found.container is not None
    assert {name: one.value.shown for name, one in found.env.items() if one.value is not None} == {"A": "1"}
    found = _only(f"apptainer run -B /a:/b -H /h -W /w docker://{IMAGE} --model m")
    assert found is not None


def test_commands_of_clouds() -> None:
    words = "vllm serve m --port 1"
    listed = words.replace(" ", ",")
    each = [f"='{one}'" for one in words.split()]
    shell = f"--args '{words.removeprefix('vllm serve ')}'"
    commands = [
        *[f"runpodctl create {one} --imageName {IMAGE} {shell}" for one in ("pod", "pods")],
        f"vastai create instance 1 --image {IMAGE} --onstart-cmd '{words}'",
        *[f"{one} run llm --image={IMAGE} --command -- {words}" for one in ("kubectl", "oc")],
        *[f"gcloud run {one} llm --image {IMAGE} --command vllm --args {listed[5:]}" for one in ("deploy", "jobs create")],
        f"gcloud ai models upload --container-image-uri={IMAGE} --container-command=vllm --container-args={listed[5:]}",
        f"gcloud compute instances create-with-container x --container-image {IMAGE} --container-command vllm "
        + " ".join([f"--container-arg{one}" for one in each[1:]]),
        f"az container create -n x --image {IMAGE} --command-line '{words}'",
        f"az containerapp create -n x --image {IMAGE} --command vllm --args {words[5:]}",
        *[
            f"koyeb {one} llm --docker {IMAGE} --docker-command vllm " + " ".join([f"--docker-args{part}" for part in each[1:]])
            for one in ("service create", "services create", "app init", "apps init")
        ],
        *[
            f"lep {one} create -n x --container-image {IMAGE} --container-command '{words}'"
            for one in ("deployment", "endpoint")
        ],
        f"lep job create -n x --container-image {IMAGE} --command '{words}'",
    ]
    for command in commands:
        found = _only(command)
        assert found is not None, command
        assert found.engine == "vllm", command
        assert [word.shown for word in found.argv] == ["m", "--port", "1"], command
        assert found.container is not None, command


READS = (
    'import os, subprocess\nm = os.environ["MODEL"]\nsubprocess.run(["vllm", "serve", m, "--seed", os.getenv("SEED", "0")])\n'
)


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        ("environment: {MODEL: a/b, SEED: 7}", "a/b --seed 7"),
        ("env_file: llm.env", "c/d --seed 0"),
        ("env_file: llm.env\n    environment: [SEED=7]", "c/d --seed 7"),
        ("environment: [MODEL=a/b]", "a/b --seed 0"),
    ],
)
def test_a_program_reads_the_variables_of_its_service(service: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "serve.py").write_text(READS)
    (tmp_path / "llm.env").write_text("MODEL=c/d\n")
    text = f"""
    services:
      llm:
        image: vllm/vllm-openai:v0.11.0
        entrypoint: [python3, /app/serve.py]
        volumes: ["./serve.py:/app/serve.py"]
        {service}
    """
    text = text.replace("\n    environment", "\n        environment")
    launch = launch_in(text, "compose.yml", tmp_path)
    assert (" ".join(argv(launch)), launch.release.release) == (expected, "0.11.0")


def test_a_program_reads_the_variables_of_its_image(tmp_path: Path) -> None:
    (tmp_path / "serve.py").write_text(READS)
    text = (
        "FROM python:3.12\nRUN pip install vllm==0.11.0\nENV MODEL=a/b\nWORKDIR /app\nCOPY serve.py .\n"
        'CMD ["python", "serve.py"]\n'
    )
    launch = launch_in(text, "Dockerfile", tmp_path)
    assert (argv(launch), launch.release.release) == (["a/b", "--seed", "0"], "0.11.0")


def test_a_program_beside_a_script_is_read_with_what_the_script_sets_in_front_of_it(tmp_path: Path) -> None:
    (tmp_path / "serve.py").write_text(READS)
    found = launches_in("# vllm\nMODEL=a/b SEED=1 python serve.py\npython serve.py\nA=1 python serve.py\n", "run.sh", tmp_path)
    assert [argv(one) for one in found] == [["a/b", "--seed", "1"]]


def test_what_the_program_sets_itself_counts(tmp_path: Path) -> None:
    (tmp_path / "serve.py").write_text(READS.replace("m = os", 'os.environ["SEED"] = "3"\nm = os'))
    (launch,) = launches_in("# vllm\nMODEL=a/b SEED=1 python serve.py\n", "run.sh", tmp_path)
    assert argv(launch) == ["a/b", "--seed", "3"]
