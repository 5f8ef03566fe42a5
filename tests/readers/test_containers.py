"""`docker run` and its kin: where the options end, which word is the image, and what comes after it."""

from __future__ import annotations

import pytest

from servelint.core.launch import Word
from servelint.readers.containers import parse, verb_of
from tests.launching import argv, launch_in, launches_in
from tests.together import together


def words(text: str) -> list[Word]:
    """The words as a shell script gives them, variables unknown."""
    return launch_in(f"vllm serve {text}", "run.sh").argv


@together(
    "text, options",
    [
        ("", []),
        ("--rm -d", [("--rm", None), ("-d", None)]),
        ("-it", [("-i", None), ("-t", None)]),
        ("--name llm", [("--name", "llm")]),
        ("--name=llm", [("--name", "llm")]),
        ("--gpus all --ipc=host", [("--gpus", "all"), ("--ipc", "host")]),
        ("-e A=1", [("--env", "A=1")]),
        ("-eA=1", [("--env", "A=1")]),
        ("-e=A=1", [("--env", "A=1")]),
        ("-dp 8000:8000", [("-d", None), ("--publish", "8000:8000")]),
        ("-ditp8000:8000", [("-d", None), ("-i", None), ("-t", None), ("--publish", "8000:8000")]),
        ("-v a:b -w /x -h h", [("--volume", "a:b"), ("--workdir", "/x"), ("--hostname", "h")]),
        ("-u 0 -m 8g", [("--user", "0"), ("--memory", "8g")]),
        ("-x a", [("-x", "a")]),
        ("-dxa", [("-d", None), ("-x", "a")]),
        ("--init=true --tty=false", [("--init", "true"), ("--tty", "false")]),
        ("--privileged --read-only --pull always", [("--privileged", None), ("--read-only", None), ("--pull", "always")]),
        ("--ulimit memlock=-1 --device -x", [("--ulimit", "memlock=-1"), ("--device", "-x")]),
        ("--env-host --replace --tls-verify", [("--env-host", None), ("--replace", None), ("--tls-verify", None)]),
        ("--an-option-of-tomorrow x", [("--an-option-of-tomorrow", "x")]),
        ("--", []),
    ],
)
def test_options_end_where_the_image_stands(text: str, options: list[tuple[str, str | None]]) -> None:
    run = parse(words(f"{text} house/server:1 serve --port 8000"))
    assert [(name, value.shown if value else None) for name, value in run.options] == options
    assert run.image is not None
    assert run.image.shown == "house/server:1"
    assert [word.shown for word in run.command] == ["serve", "--port", "8000"]
    assert not run.open


@pytest.mark.parametrize("text", ["-d --rm", "--name", "-e", "--", "-"])
def test_without_an_image(text: str) -> None:
    run = parse(words(text))
    assert run.command == []
    assert run.image is None or run.image.shown == "-"


@pytest.mark.parametrize(
    ("text", "image", "command"),
    [
        ("$OPTIONS house/server:1 serve", "house/server:1", ["serve"]),
        ("-d $OPTIONS $MORE house/server:1", "house/server:1", []),
        ("$IMAGE serve", "${IMAGE}", ["serve"]),
        ("-d $DOCKER_IMG --model m", "${DOCKER_IMG}", ["--model", "m"]),
        ("$OPTIONS $IMAGE serve", "${IMAGE}", ["serve"]),
        ('"${OPTIONS[@]}" "$IMAGE" serve', "${IMAGE}", ["serve"]),
        ("$SOMETHING --port 8000", "${SOMETHING}", ["--port", "8000"]),
    ],
)
def test_a_variable_is_the_image_or_options(text: str, image: str, command: list[str]) -> None:
    run = parse(words(text))
    assert run.image is not None
    assert run.image.shown == image
    assert [word.shown for word in run.command] == command
    assert run.open is ("OPTIONS" in text)


@together("container", ["$NAME", "$(docker ps -q)", "$(docker ps | grep node)", '"$NAME"'])
def test_the_container_of_exec_may_be_a_variable(container: str) -> None:
    assert argv(launch_in(f"docker exec -it {container} vllm serve a/b --port 1", "run.sh")) == ["a/b", "--port", "1"]
    assert argv(launch_in(f"docker exec {container} /bin/bash -c 'vllm serve a/b'", "run.sh")) == ["a/b"]


def test_the_last_of_an_option_counts() -> None:
    run = parse(words("--ipc private --ipc host --shm-size 1g house/server:1"))
    last = run.last("--ipc")
    assert last is not None
    assert last.value == "host"
    assert run.last("--runtime") is None
    assert [word.shown for word in run.values("--ipc", "--shm-size")] == ["private", "host", "1g"]


@together(
    "text, found",
    [
        ("docker run x", ("run", 2)),
        ("docker exec x", ("exec", 2)),
        ("docker container run x", ("run", 3)),
        ("docker create x", ("run", 2)),
        ("podman container create x", ("run", 3)),
        ("docker --context gpu -D run x", ("run", 5)),
        ("docker -H ssh://gpu run x", ("run", 4)),
        ("nerdctl -n k8s.io run x", ("run", 4)),
        ("docker compose run x", ("exec", 3)),
        ("docker compose -f a.yml exec x", ("exec", 5)),
        ("docker-compose run x", ("exec", 2)),
        ("apptainer exec --nv x", ("apptainer", 2)),
        ("docker compose up x", None),
        ("docker compose create x", None),
        ("docker network create vllm", None),
        ("docker volume create vllm", None),
        ("docker pull x", None),
        ("docker $VERB x", None),
        ("docker", None),
    ],
)
def test_the_verb(text: str, found: tuple[str, int] | None) -> None:
    assert verb_of(words(text)) == found


def test_options_of_a_variable_s_known_value() -> None:
    launch = launch_in(
        """
        OPTIONS="--rm --ipc=host -e A=1"
        docker run $OPTIONS vllm/vllm-openai:v0.20.0 --model m
        """,
        "run.sh",
    )
    assert argv(launch) == ["--model", "m"]
    assert list(launch.env) == ["A"]
    assert not launch.open_env


@pytest.mark.parametrize("tag", ["full", "full-cuda", "full-cuda-b5000"])
@pytest.mark.parametrize(
    ("first", "starts"), [("--server", True), ("-s", True), ("--run", False), ("--bench", False), ("", False)]
)
def test_an_image_whose_first_word_chooses_the_program(tag: str, first: str, starts: bool) -> None:
    text = f"docker run ghcr.io/ggml-org/llama.cpp:{tag} {first} -m a.gguf --port 80\n"
    assert [argv(launch) for launch in launches_in(text, "run.sh")] == ([["-m", "a.gguf", "--port", "80"]] if starts else [])


def test_a_container_that_is_created_and_then_started() -> None:
    launch = launch_in("docker create --name v --gpus all vllm/vllm-openai:v0.19.0 --model m\ndocker start -a v\n", "run.sh")
    assert (argv(launch), launch.release.release) == (["--model", "m"], "0.19.0")


@together(
    "options, engine",
    [
        ("$VLLM_IMAGE", "vllm"),
        ('"${SGLANG_DOCKER_IMAGE}"', "sglang"),
        ("${LLAMA_CPP_IMAGE}", "llama.cpp"),
        ('--name vllm-main "$IMAGE"', "vllm"),
        ('--name vllm-router "$IMAGE"', None),
        ('"$VLLM_BENCH_IMAGE"', None),
        ('"$IMAGE"', None),
        ("--name vllm registry.local/web:1", None),
    ],
)
def test_an_image_that_a_variable_holds(options: str, engine: str | None) -> None:
    found = launches_in(f"docker run -d {options} --model m --port 80\n", "run.sh")
    assert [(launch.engine, launch.release.release) for launch in found] == ([(engine, None)] if engine else [])


IMAGE = "vllm/vllm-openai:v0.9.0"


@together(
    "command, expected",
    [
        (f"kubectl run llm --image={IMAGE} -- --model m/m --port 8000", ["--model", "m/m", "--port", "8000"]),
        (f"kubectl -n ai run llm --image {IMAGE} --command -- vllm serve m/m", ["m/m"]),
        (f"oc run llm --image={IMAGE} -- --model m/m", ["--model", "m/m"]),
        (f'gcloud run deploy llm --image {IMAGE} --args="--model=m/m,--port=8000"', ["--model=m/m", "--port=8000"]),
        (f'gcloud run deploy llm --image {IMAGE} --args="^|^--model=m/m|--port=8000"', ["--model=m/m", "--port=8000"]),
        (f"gcloud beta run deploy llm --image {IMAGE} --command=vllm --args=serve,m/m", ["m/m"]),
        (f"gcloud ai models upload --container-image-uri={IMAGE} --container-args=--model=m/m", ["--model=m/m"]),
        (
            f"gcloud compute instances create-with-container a --container-image {IMAGE} --container-arg=-m --container-arg=m",
            ["-m", "m"],
        ),
        (f'az container create --name llm --image {IMAGE} --command-line "vllm serve m/m --port 80"', ["m/m", "--port", "80"]),
        (f"az containerapp create -n llm --image {IMAGE} --args --model m/m", ["--model", "m/m"]),
        (f'runpodctl create pod --imageName {IMAGE} --args "--model m/m"', ["--model", "m/m"]),
        (f"vastai create instance 1 --image {IMAGE} --disk 40 --args --model m/m", ["--model", "m/m"]),
        (f'vastai create instance 1 --image {IMAGE} --onstart-cmd "cd /x && vllm serve m/m"', ["m/m"]),
        (f"koyeb services create llm --docker {IMAGE} --docker-args --model --docker-args m/m", ["--model", "m/m"]),
        (f'lep deployment create -n llm --container-image {IMAGE} --container-command "vllm serve m/m"', ["m/m"]),
        (f"lep job create -n llm --container-image {IMAGE} --command 'vllm serve m/m'", ["m/m"]),
    ],
)
def test_containers_that_a_cloud_starts(command: str, expected: list[str]) -> None:
    launch = launch_in(command, "run.sh")
    assert argv(launch) == expected
    assert launch.release.release == "0.9.0"
    assert launch.open_env


@pytest.mark.parametrize(
    "command",
    [
        f"kubectl set image deployment/llm llm={IMAGE}",
        "kubectl run busybox --image=busybox -- vllm-is-here",
        "gcloud run services describe vllm",
        f"az acr import --name r --source docker.io/{IMAGE}",
        "vastai search offers 'gpu_name=RTX_4090'",
        "runpodctl get pod vllm",
        "kubectl run llm --image",
    ],
)
def test_commands_of_clouds_that_start_no_engine(command: str) -> None:
    assert launches_in(command, "run.sh") == []


@together(
    "script",
    [
        f"ID=$(docker run -d {IMAGE} --model m/m)",
        f"ID=$(sudo podman run -d {IMAGE} --model m/m 2>/dev/null | head -c 12)",
        f'OUT=$(runpodctl create pod --imageName {IMAGE} --args "--model m/m")\necho "$OUT"',
        f"if ! ID=$(docker container run -d {IMAGE} --model m/m); then exit 1; fi",
        f"ID=$(cd deploy && docker run -d {IMAGE} --model m/m)",
        f"ID=$(set -e; docker run -d {IMAGE} --model m/m)",
        f"ID=$(\n  echo starting >&2\n  docker run -d {IMAGE} --model m/m\n)",
        f'start() {{\n  local id\n  id=$(docker run -d {IMAGE} --model "$1")\n  echo "$id"\n}}\nID=$(start m/m)',
        f'SHORT=$(echo "$(docker run -d {IMAGE} --model m/m)" | cut -c1-12)',
        f"ID=$(A=$(set -e; docker run -d {IMAGE} --model m/m); echo $A)",
    ],
)
def test_a_container_whose_id_is_kept(script: str) -> None:
    launch = launch_in(script, "run.sh")
    assert argv(launch) == ["--model", "m/m"]


@pytest.mark.parametrize(
    "script",
    [
        "PID=$(vllm serve m & echo $!)",
        'PID="$(cd /srv; nohup vllm serve m >log 2>&1 & echo $!)"',
        "PID=`vllm serve m & echo $!`",
        "PID=$(bash -c 'vllm serve m & echo $!')",
        "read PID < <(vllm serve m & echo $!)",
        'echo "$(if true; then vllm serve m & fi; echo $!)"',
        'pids+=("$(vllm serve m & echo $!)")',
    ],
)
def test_a_process_whose_id_is_kept(script: str) -> None:
    assert argv(launch_in(script, "run.sh")) == ["m"]


def test_a_substitution_that_leaves_the_script_ends_only_itself() -> None:
    assert argv(launch_in("PID=$(sleep 9 & echo $!; exit 1)\nvllm serve m", "run.sh")) == ["m"]
    assert argv(launch_in("M=$(A=b & echo m)\nvllm serve m --seed $A", "run.sh"))[:2] == ["m", "--seed"]


@pytest.mark.parametrize(
    "script",
    [
        "OUT=$(curl -s 'http://vllm/x?a=1&b=2')",
        "OUT=$(sleep 1 & echo vllm serve m)",
        f"OUT=$(cd x && docker pull {IMAGE} && docker inspect {IMAGE})",
        f"OUT=$(exit 0; docker run -d {IMAGE} --model m/m)",
    ],
)
def test_substitutions_that_start_no_engine(script: str) -> None:
    assert launches_in(script, "run.sh") == []


def test_what_is_only_asked_of_a_container_tool() -> None:
    assert launches_in("ID=$(docker ps -q --filter ancestor=vllm/vllm-openai)\nH=$(docker inspect vllm)\n", "run.sh") == []


@pytest.mark.parametrize("prefix", ["SINGULARITYENV_", "APPTAINERENV_"])
def test_variables_that_apptainer_passes_in(prefix: str) -> None:
    launch = launch_in(f"{prefix}HF_HOME=/x apptainer exec vllm.sif vllm serve m", "run.sh")
    assert launch.env["HF_HOME"].value is not None
    assert launch.env["HF_HOME"].value.flat == "/x"


def test_a_local_image_in_a_container_that_is_called_after_the_engine() -> None:
    text = "[Container]\nImage=localhost/{}:latest\nContainerName={}\nExec={}\n"
    found = launch_in(text.format("llama-vulkan", "llama-server", "--port 8080 --model /m/a.gguf"), "llm.container")
    assert found.engine == "llama.cpp"
    assert argv(found) == ["--port", "8080", "--model", "/m/a.gguf"]
    assert launches_in(text.format("llama-vulkan", "llama-server", "--port 8080"), "llm.container") == []
    assert launches_in(text.format("llama-vulkan", "web", "--model /m/a.gguf"), "llm.container") == []
    assert launches_in(text.format("llama-vulkan", "llama-server-proxy", "--model x"), "llm.container") == []


class TestNoProgram:
    """An image without an entrypoint starts the first word of its command."""

    @pytest.mark.parametrize(
        ("image", "engine"),
        [("lmsysorg/sglang:v0.5.9", "sglang"), ("rocm/vllm:latest", "vllm"), ("rocm/vllm-dev:nightly", "vllm")],
    )
    def test_options_are_no_program(self, image: str, engine: str) -> None:
        launch = launch_in(f"docker run --gpus all {image} --model-path m\n", "run.sh")
        assert (launch.engine, launch.started, [one.kind for one in launch.mishaps]) == (engine, False, ["no-program"])

    @pytest.mark.parametrize(
        "rest",
        ["vllm/vllm-openai:v0.20.0 --model m", "rocm/vllm:latest vllm serve m", "--entrypoint vllm rocm/vllm:latest serve m"],
    )
    def test_a_program(self, rest: str) -> None:
        assert launch_in(f"docker run --gpus all {rest}\n", "run.sh").started

    @pytest.mark.parametrize("rest", ["rocm/vllm:latest -c true", "rocm/vllm:latest", "busybox --model m"])
    def test_nothing_of_an_engine(self, rest: str) -> None:
        assert launches_in(f"docker run {rest}\n", "run.sh") == []


NIM = "docker run {} nvcr.io/nim/meta/llama-3.1-8b-instruct:2.0.4 {}"


@pytest.mark.parametrize(
    ("options", "command", "given"),
    [
        ("-e NIM_PASSTHROUGH_ARGS='--max-num-seqs 8'", "", ["--max-num-seqs", "8"]),
        (
            "-e NIM_PASSTHROUGH_ARGS='--max-num-seqs 8'",
            "nim-serve --max-num-seqs 9",
            ["--max-num-seqs", "8", "--max-num-seqs", "9"],
        ),
        ("", "nim-serve --max-num-seqs 9", ["--max-num-seqs", "9"]),
        ("", "--max-num-seqs 9", ["--max-num-seqs", "9"]),
        ("", "hf://Qwen/Qwen3-8B --max-num-seqs 9", ["--max-num-seqs", "9"]),
        ("-e NIM_MAX_MODEL_LEN=8192", "", ["--max-model-len", "8192"]),
        (
            "-e NIM_MAX_MODEL_LEN=8192 -e NIM_PASSTHROUGH_ARGS='--max-num-seqs 8' -e NIM_TENSOR_PARALLEL_SIZE=$TP",
            "nim-serve --max-model-len 4096",
            ["--max-model-len", "8192", "--tensor-parallel-size", None, "--max-num-seqs", "8", "--max-model-len", "4096"],
        ),
    ],
)
def test_a_wrapper_takes_arguments_from_variables_too(options: str, command: str, given: list[str | None]) -> None:
    launch = launch_in(NIM.format(options, command), "run.sh")
    assert (launch.engine, [word.value for word in launch.argv]) == ("vllm", [*given, None])
    assert launch.argv[-1].many


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ("", ""),
        ("-e NIM_PASSTHROUGH_ARGS=$ARGS", ""),
        ("-e NIM_PASSTHROUGH_ARGS", ""),
        ("", "list-model-profiles"),
        ("-e NIM_MAX_MODEL_LEN=8192", "list-model-profiles"),
        ("", "hf://Qwen/Qwen3-8B"),
        ("", "bash"),
    ],
)
def test_a_wrapper_without_arguments_that_are_known_is_no_launch(options: str, command: str) -> None:
    assert launches_in(NIM.format(options, command), "run.sh") == []


def test_a_variable_of_a_wrapper_means_nothing_to_other_images() -> None:
    launch = launch_in("docker run -e NIM_PASSTHROUGH_ARGS='--x 1' vllm/vllm-openai:v0.20.0 --model m", "run.sh")
    assert argv(launch) == ["--model", "m"]


LMI = "docker run --gpus all -e HF_MODEL_ID=Qwen/Qwen3-8B {} 763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:{}"
LMI_16 = "0.34.0-lmi16.0.0-cu128"


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ("-e OPTION_MAX_MODEL_LEN=8192", ["--max-model-len", "8192"]),
        ("-e OPTION_TENSOR_PARALLEL_DEGREE=2 -e OPTION_ROLLING_BATCH=vllm", ["--tensor-parallel-size", "2"]),
        ("-e OPTION_TENSOR_PARALLEL_DEGREE=max -e OPTION_ROLLING_BATCH=auto", []),
        ("-e OPTION_ENABLE_LORA=true -e OPTION_ENFORCE_EAGER=False", ["--enable-lora"]),
        ("-e OPTION_MAX_MODEL_LENGTH=8192", []),  # not a field of EngineArgs: LMI drops it
        ("-e OPTION_MAX_MODEL_LEN=$LEN", ["--max-model-len", None]),
        ("-e OPTION_ENTRYPOINT=djl_python.lmi_vllm.vllm_async_service -e OPTION_QUANTIZE=awq", ["--quantization", "awq"]),
    ],
)
def test_variables_of_an_image_set_options(options: str, given: list[str | None]) -> None:
    launch = launch_in(LMI.format(options, LMI_16) + "\n", "run.sh")
    assert (launch.engine, launch.argv[0].many) == ("vllm", True)
    assert [word.value for word in launch.argv[1:]] == ["--model", "Qwen/Qwen3-8B", *given]


@pytest.mark.parametrize(
    ("options", "tag"),
    [
        ("-e OPTION_ROLLING_BATCH=trtllm", LMI_16),
        ("-e OPTION_ROLLING_BATCH=$BATCH", LMI_16),
        ("-e OPTION_ENTRYPOINT=djl_python.huggingface", LMI_16),
        ("", "0.31.0-lmi13.0.0-cu124"),
        ("", "0.33.0-tensorrtllm0.21.0-cu128"),
    ],
)
def test_an_image_that_may_start_another_engine_starts_none(options: str, tag: str) -> None:
    assert launches_in(LMI.format(options, tag) + "\n", "run.sh") == []


class TestAScriptThatIsNotHere:
    """The entry point of an engine's image is a script of another place, which is given the engine's own options."""

    @pytest.mark.parametrize(
        ("service", "engine", "words"),
        [
            (
                "image: vllm/vllm-openai:v0.9.1, entrypoint: /s/start.sh, command: --model m --port 8000",
                "vllm",
                ["--model", "m"],
            ),
            (
                "image: vllm/vllm-openai:v0.9.1, entrypoint: [bash, /s/start.sh], command: [--model, m]",
                "vllm",
                ["--model", "m"],
            ),
            (
                "image: lmsysorg/sglang:v0.5.9, entrypoint: [/entrypoint.sh], command: [--model-path, m, --tp, '2']",
                "sglang",
                [],
            ),
            (
                "image: vllm/vllm-openai:v0.9.1, entrypoint: /entrypoint, command: [--max_model_len, '8', --port, '1']",
                "vllm",
                [],
            ),
        ],
    )
    def test_options_of_the_engine(self, service: str, engine: str, words: list[str]) -> None:
        launch = launch_in(f"services:\n  a: {{{service}}}\n", "compose.yaml")
        assert launch.engine == engine
        assert launch.argv[0].many
        assert argv(launch)[1 : len(words) + 1] == words

    @pytest.mark.parametrize(
        "service",
        [
            "image: vllm/vllm-openai:v0.9.1, entrypoint: /s/start.sh, command: [--port, '8000']",  # any script has a port
            "image: vllm/vllm-openai:v0.9.1, entrypoint: /s/start.sh, command: [--model, m, --workers, '4']",
            "image: vllm/vllm-openai:v0.9.1, entrypoint: /s/start.sh, command: [bench]",
            "image: vllm/vllm-openai:v0.9.1, entrypoint: /s/start.py, command: [--model, m]",
            "image: python:3.12, entrypoint: /s/start.sh, command: [--model, m]",
        ],
    )
    def test_what_may_be_the_script_s_own(self, service: str) -> None:
        assert launches_in(f"services:\n  a: {{{service}}}\n", "compose.yaml") == []

    def test_a_pod(self) -> None:
        text = (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
            "    - {name: a, image: 'vllm/vllm-openai:v0.9.1', command: [/s/start.sh], args: [--model, m, --port, '1']}\n"
        )
        assert argv(launch_in(text, "pod.yaml"))[1:] == ["--model", "m", "--port", "1"]

    def test_a_dockerfile(self) -> None:
        text = 'FROM vllm/vllm-openai:v0.9.1\nENTRYPOINT ["/entrypoint.sh"]\nCMD ["--model", "m"]\n'
        assert argv(launch_in(text, "Dockerfile"))[1:] == ["--model", "m"]

    def test_a_script_that_is_here(self) -> None:
        text = (
            "FROM vllm/vllm-openai:v0.9.1\nRUN printf 'python3 /train.py\\\\n' > /entrypoint.sh\n"
            'ENTRYPOINT ["/entrypoint.sh"]\nCMD ["--model", "m"]\n'
        )
        assert launches_in(text, "Dockerfile") == []


@pytest.mark.parametrize(
    ("image", "args", "found"),
    [
        ("${VLLM_IMAGE}", '["--model=a/b", "--port=8000"]', 1),
        ("${VLLM_IMAGE}", '["--model=a/b", "--enable-kvcache=true"]', 0),
        ("${VLLM_IMAGE}", '["--model", "a/b", "--time-to-first-token", "10ms"]', 0),
        ("example.org/sglang-inference-sim:0.1", '["--model=a/b"]', 0),
        ("example.org/vllm-sim:v1", '["--model=a/b"]', 0),
        ("vllm/vllm-openai:v0.9.1", '["--model=a/b", "--fake-metrics=1"]', 1),
        ("example.org/vllm-simple:v0.9.1", '["--model=a/b"]', 1),
    ],
)
def test_a_simulator(image: str, args: str, found: int) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n  - name: vllm\n    image: {image}\n"
    assert len(launches_in(f"{text}    args: {args}\n", "pod.yaml")) == found


@pytest.mark.parametrize(("first", "found"), [("trtllm-bench", 0), ("huggingface-cli", 0), ("serve", 1), ("org/model", 1)])
def test_another_program_of_a_house_image_in_an_array_that_a_condition_lengthens(first: str, found: int) -> None:
    text = f'run=({first} -m "$MODEL")\nif [ -n "$P" ]; then run+=(--path "$P"); fi\n'
    assert len(launches_in(text + 'docker run --gpus all "$TRTLLM_IMAGE" "${run[@]}" --warmup 1\n', "run.sh")) == found


@pytest.mark.parametrize("image", ["vllm/vllm-openai:v0.11.0", "ghcr.io/ggml-org/llama.cpp:server-cuda"])
def test_a_look_into_an_image(image: str) -> None:
    for command in ("nvidia-smi", "bash", "ls -l /models", "python3 -c 'import torch'", "python check.py"):
        assert launches_in(f"docker run --rm --gpus all {image} {command}\n", "run.sh") == []
    assert len(launches_in(f"docker run --rm --gpus all {image} --port 80\n", "run.sh")) == 1
