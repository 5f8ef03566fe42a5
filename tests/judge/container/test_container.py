"""What is wrong around a launch: complaints at the right places, and none where something is not known."""

from __future__ import annotations

import pytest

from servelint.engines.config import configs
from servelint.judge import container as surroundings
from servelint.judge.parser.violation import Violation
from tests.launching import launches_in, marked_launch
from tests.reporting import findings_in
from tests.together import together

VLLM = "vllm/vllm-openai:v0.33.0"
SGLANG = "lmsysorg/sglang:v0.5.23"
SERVER = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --host 0.0.0.0"


def found(text: str, filename: str) -> list[Violation]:
    launch = launches_in(text, filename)[0]
    return surroundings.violations(configs(launch, [launch.release.release or "0.33.0"])[0], {})


def names(text: str, filename: str = "compose.yml") -> set[str]:
    return {complaint.rule for complaint in found(text, filename)}


def compose(fields: str, image: str = VLLM, others: str = "") -> set[str]:
    lines = [f"    {line}" for line in fields.strip().splitlines()]
    return names(f"services:\n  llm:\n    image: {image}\n    gpus: all\n" + "\n".join(lines) + "\n" + others)


def run(options: str, command: str = "--model Qwen/Qwen3-8B", image: str = VLLM) -> set[str]:
    return names(f"docker run {options} {image} {command}\n", "run.sh")


def pod(container: str, args: str = "[--model, Qwen/Qwen3-8B]", spec: str = "") -> set[str]:
    lines = ["apiVersion: v1", "kind: Pod", "metadata: {name: llm}", "spec:"]
    lines += [f"  {line}" for line in spec.splitlines()]
    lines += ["  containers:", "    - name: s", f"      image: {VLLM}", f"      args: {args}"]
    lines += [f"      {line}" for line in container.splitlines()]
    return names("\n".join(lines) + "\n", "pod.yaml")


class TestPorts:
    @together(
        "options, command, wrong",
        [
            ("-p 8000:8000", "--model m", False),
            ("-p 80:8000", "--model m", False),
            ("-p 8000:8001", "--model m", True),
            ("-p 8000:8001", "--model m --port 8001", False),
            ("-p 8000:8001", "--model m --port $PORT", False),
            ("-p 8000:8001", "--model m $MORE", False),
            ("-p 8000:$PORT", "--model m", False),
            ("-p 9000:9000 -p 8000:8000", "--model m", False),
            ("-p 5557:5557 -e VLLM_NIXL_SIDE_CHANNEL_PORT=5557", "--model m", False),
            ("-p 8000:8001 --network host", "--model m", False),
            ("-p 8000:8001 --network container:vpn", "--model m", False),
            ("-p 8000:8001", "--model m --uds /run/vllm.sock", False),
            ("-p 8000:8001", "--model m --nnodes 2 --node-rank 1 --headless", False),
            ("-p 8000:8001 --entrypoint bash", "-c 'nginx; vllm serve m'", False),
            ("-p 8000-8005:8000-8005", "--model m --port 8003", False),
        ],
    )
    def test_not_served(self, options: str, command: str, wrong: bool) -> None:
        assert ("port-not-served" in run(f"--gpus all {options}", command)) is wrong

    def test_an_image_of_somebody_elses_may_set_another_port(self) -> None:
        assert "port-not-served" not in run("--gpus all -p 80:80", "--model m", "house/vllm:1")
        assert "port-not-served" in run("--gpus all -p 80:80", "vllm serve m", "house/vllm:1")
        assert "port-not-served" in run("--gpus all -p 80:80", "vllm serve m --port 8000", "house/vllm:1")

    def test_where_the_server_listens_is_told(self) -> None:
        launch, marks = marked_launch("""
            services:
              llm:
                image: vllm/vllm-openai:v0.33.0
                gpus: all
                command: [--model, m, --port, "⟦9001⟧"]
                ports: ["⟦9000:9000⟧"]
        """)
        complaint = next(
            one for one in surroundings.violations(configs(launch, ["0.33.0"])[0], {}) if one.rule == "port-not-served"
        )
        assert complaint.span == marks[1]
        assert [related.span for related in complaint.related] == [marks[0]]

    @pytest.mark.parametrize(
        ("fields", "wrong"),
        [
            (f"command: {SERVER}", False),
            (f"command: {SERVER.removesuffix(' --host 0.0.0.0')}", True),
            (f"command: {SERVER} --host localhost", True),
            (f"command: {SERVER} --host ${{HOST}}", False),
            (f"command: {SERVER.removesuffix(' --host 0.0.0.0')}\nnetwork_mode: host", False),
        ],
    )
    def test_loopback(self, fields: str, wrong: bool) -> None:
        assert ("listens-on-loopback" in compose(f'{fields}\nports: ["30000:30000"]', SGLANG)) is wrong

    def test_a_proxy_in_the_same_network_reaches_the_loopback_interface(self) -> None:
        fields = f'command: {SERVER} --host 127.0.0.1\nports: ["30000:30000"]'
        assert "listens-on-loopback" not in compose(fields, SGLANG, "  proxy: {image: nginx, network_mode: 'service:llm'}\n")
        assert {"listens-on-loopback", "port-not-served"} <= compose(fields.replace("30000:30000", "80:80"), SGLANG)

    @together(
        "options, command, wrong",
        [
            ("-p 8000:8000", "--model m", True),
            ("-p 127.0.0.1:8000:8000", "--model m", False),
            ("-p $ADDRESS:8000:8000", "--model m", False),
            ("-p 8000:8000", "--model m --api-key $KEY", False),
            ("-p 8000:8000 -e VLLM_API_KEY=$KEY", "--model m", False),
            ("-p 8000:8000 --env-file secrets.env", "--model m", False),
            ("-p 8000:8000", "--model m --host 127.0.0.1", False),
            ("--network=host", "--model m", True),
            ("--net host", "--model m --host 0.0.0.0", True),
            ("--network=host", "--model m --host 127.0.0.1", False),
            ("--network=host", "--model m --host 10.0.0.7", False),
            ("--network=host", "--model m --host $HOST", False),
            ("--network=host -e VLLM_API_KEY=$KEY", "--model m", False),
            ("--network=$NETWORK", "--model m", False),
            ("--network=llm", "--model m", False),
        ],
    )
    def test_open(self, options: str, command: str, wrong: bool) -> None:
        assert ("open-port-without-key" in run(f"--gpus all {options}", command)) is wrong

    @pytest.mark.parametrize(
        ("ports", "wrong"), [("9000:8000", True), ("8000:8000", False), ("${P}:8000", False), ("8000", False)]
    )
    def test_in_the_hosts_network(self, ports: str, wrong: bool) -> None:
        complaints = compose(f'command: [--model, m]\nnetwork_mode: host\nports: ["{ports}"]')
        assert ("ports-on-host-network" in complaints) is wrong


class TestProbes:
    @pytest.mark.parametrize(
        ("probe", "expected"),
        [
            ("livenessProbe: {httpGet: {port: 8000}}", {"probe-before-load"}),
            ("livenessProbe: {httpGet: {port: 8000}, initialDelaySeconds: 60}", {"short-probe"}),
            ("livenessProbe: {httpGet: {port: 8000}, initialDelaySeconds: 600}", set()),
            ("startupProbe: {httpGet: {port: 8000}, failureThreshold: 2}", {"probe-before-load"}),
            ("readinessProbe: {httpGet: {port: 8000}}", set()),
            ("readinessProbe: {httpGet: {port: 8080}}", {"probe-port"}),
            ("livenessProbe: {httpGet: {port: 8000}, failureThreshold: '{{ .Values.x }}'}", set()),
        ],
    )
    def test_of_pods(self, probe: str, expected: set[str]) -> None:
        assert pod(probe) & {"probe-before-load", "short-probe", "probe-port"} == expected

    def test_without_graphs_a_start_may_be_short(self) -> None:
        probe = "livenessProbe: {httpGet: {port: 8000}}"
        assert "probe-before-load" not in pod(probe, "[--model, m, --enforce-eager]")

    def test_another_container_may_answer(self) -> None:
        probe = "readinessProbe: {httpGet: {port: 8080}}"
        assert "probe-port" not in pod(probe, spec="hostNetwork: true")
        assert "probe-port" not in pod(probe, "[--model, m, --port, '{{ .Values.port }}']")

    def test_seconds_are_an_option(self) -> None:
        text = f"""
            services:
              llm:
                image: {VLLM}
                gpus: all
                command: [--model, m]
                healthcheck: {{test: curl localhost, start_period: 150s, interval: 10s}}
              web: {{image: web, depends_on: {{llm: {{condition: service_healthy}}}}}}
        """
        config = configs(launches_in(text)[0], ["0.33.0"])[0]
        assert [one.rule for one in surroundings.violations(config, {"probe-before-load": {"seconds": 300}})] == [
            "probe-before-load"
        ]
        assert not surroundings.violations(config, {})


class TestSharedMemory:
    @together(
        "fields, small",
        [
            ("", True),
            ("ipc: host", False),
            ("ipc: ${IPC}", False),
            ("shm_size: 64m", True),
            ("shm_size: 16gb", False),
            ("shm_size: '17179869184'", False),
            ("shm_size: ${SHM}", False),
            ("volumes: [/dev/shm:/dev/shm]", False),
            ("tmpfs: ['/dev/shm:size=8g']", False),
            ("volumes: ['./a:${B}']", False),
        ],
    )
    def test_compose(self, fields: str, small: bool) -> None:
        assert ("small-shared-memory" in compose(f"command: [--model, m, -tp, '2']\n{fields}")) is small

    def test_chips_of_one_process(self) -> None:
        found = [run("", "vllm serve m -tp 8", image) for image in ("rocm/vllm:latest", "vllm/vllm-tpu:v0.11.1")]
        assert ["small-shared-memory" in one for one in found] == [True, False]

    @pytest.mark.parametrize("command", ["--model m", "--model m -tp 1", "--model m -tp $TP", "--model m -tp 2 $MORE"])
    def test_one_rank_or_an_unknown_number(self, command: str) -> None:
        assert "small-shared-memory" not in run("--gpus all", command)

    def test_pods(self) -> None:
        args = "[--model, m, -tp, '2']"
        shm = "volumes: [{name: shm, emptyDir: {medium: Memory}}]"
        limits = "resources: {limits: {nvidia.com/gpu: 2}}"
        assert "small-shared-memory" in pod(limits, args)
        assert "small-shared-memory" not in pod(f"{limits}\nvolumeMounts: [{{name: shm, mountPath: /dev/shm}}]", args, shm)
        assert "small-shared-memory" not in pod(limits, args, "hostIPC: true")


class TestGpus:
    @pytest.mark.parametrize(
        ("options", "beyond"),
        [
            ("--gpus device=2 -e CUDA_VISIBLE_DEVICES=2", True),
            ("--gpus device=2 -e CUDA_VISIBLE_DEVICES=0", False),
            ("--gpus all -e CUDA_VISIBLE_DEVICES=2", False),
            ("--gpus 2 -e CUDA_VISIBLE_DEVICES=1,2", True),
            ("--gpus 2 -e CUDA_VISIBLE_DEVICES=$GPU", False),
            ("--gpus 2 -e CUDA_VISIBLE_DEVICES=GPU-1,7", False),
            ("--gpus 2 --privileged -e CUDA_VISIBLE_DEVICES=1,2", False),
        ],
    )
    def test_visible_devices(self, options: str, beyond: bool) -> None:
        assert ("visible-devices" in run(options)) is beyond

    @together(
        "resources, refused",
        [
            ("{requests: {nvidia.com/gpu: 1}}", True),
            ("{requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}", False),
            ("{requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}", True),
            ("{limits: {nvidia.com/gpu: 0.5}}", True),
            ("{limits: {nvidia.com/gpu: 500m}}", True),
            ("{limits: {nvidia.com/gpu: '1.0'}}", False),
            ("{requests: {nvidia.com/gpu: '{{ .Values.gpus }}'}}", False),
            ("{requests: {cpu: 0.5}, limits: {nvidia.com/gpu: 1}}", False),
        ],
    )
    def test_requests(self, resources: str, refused: bool) -> None:
        assert ("gpu-request" in pod(f"resources: {resources}")) is refused

    @pytest.mark.parametrize(
        ("command", "idle"),
        [
            ("--model m", True),
            ("--model m -tp 2", True),
            ("--model m -tp 4", False),
            ("--model m -tp 2 -dp 2", False),
            ("--model m -tp $TP", False),
            ("--model m --distributed-executor-backend ray", False),
            ("--model m -dp 8 --data-parallel-size-local 4", False),
        ],
    )
    def test_idle(self, command: str, idle: bool) -> None:
        assert ("idle-gpus" in run("--gpus 4 --ipc host", command)) is idle

    @pytest.mark.parametrize(
        ("command", "below"),
        [("--tp 4", True), ("--tp 2", False), ("--tp $TP", False), ("--tp 4 --nnodes 2", False), ("", False)],
    )
    def test_below_ranks(self, command: str, below: bool) -> None:
        complaints = run("--gpus 2", f"lmdeploy serve api_server m {command}", "openmmlab/lmdeploy:v0.8.0-cu12")
        assert ("gpus-below-ranks" in complaints) is below

    @pytest.mark.parametrize(
        ("options", "missing"),
        [("", True), ("--gpus all", False), ("--runtime nvidia", False), ("--device /dev/kfd", False), ("$OPTIONS", False)],
    )
    def test_none(self, options: str, missing: bool) -> None:
        assert ("no-gpu" in run(options)) is missing


class TestUpkeep:
    @together(
        "options, command, lost",
        [
            ("", "--model Qwen/Qwen3-8B", True),
            ("-v ~/.cache/huggingface:/root/.cache/huggingface", "--model Qwen/Qwen3-8B", False),
            ("-v ./chat.jinja:/chat.jinja", "--model Qwen/Qwen3-8B", True),
            ("-v ~/models:/models", "--model Qwen/Qwen3-8B", False),
            ("-e HF_HUB_OFFLINE=1", "--model Qwen/Qwen3-8B", False),
            ("", "--model /models/qwen", False),
            ("", "--model $MODEL", False),
            ("-v ~/x:$TARGET", "--model Qwen/Qwen3-8B", False),
        ],
    )
    def test_model_cache(self, options: str, command: str, lost: bool) -> None:
        assert ("no-model-cache" in run(f"--gpus all {options}", command)) is lost

    @pytest.mark.parametrize(
        ("restart", "endless"), [("always", True), ("unless-stopped", True), ("on-failure:3", False), ("$R", False)]
    )
    def test_restarts(self, restart: str, endless: bool) -> None:
        assert ("restarts-for-ever" in run(f"--gpus all --restart {restart}")) is endless


class TestNodes:
    @together(
        "variables, options, wrong",
        [
            ("NCCL_SOCKET_IFNAME=lo", "--nnodes 2", True),
            ("NCCL_SOCKET_IFNAME==lo", "--nnodes 2", True),
            ("GLOO_SOCKET_IFNAME=lo", "--nnodes 2", True),
            ("NCCL_SOCKET_IFNAME=eth0", "--nnodes 2", False),
            ("NCCL_SOCKET_IFNAME=$NIC", "--nnodes 2", False),
            ("NCCL_SOCKET_IFNAME=lo", "", False),
            ("NCCL_SOCKET_IFNAME=lo", "--nnodes $N", False),
            ("A=1", "--nnodes 2 --master-addr 127.0.0.1", False),
        ],
    )
    def test_interface(self, variables: str, options: str, wrong: bool) -> None:
        assert ("nodes-on-loopback" in names(f"{variables} vllm serve m -tp 16 {options}\n", "run.sh")) is wrong

    @pytest.mark.parametrize(
        ("options", "address", "wrong"),
        [
            ("--ipc host", "127.0.0.1", True),
            ("--ipc host", "localhost", True),
            ("--ipc host", "10.0.0.1", False),
            ("--ipc host", "$HEAD", False),
            ("--ipc host --network host", "127.0.0.1", False),
        ],
    )
    def test_address(self, options: str, address: str, wrong: bool) -> None:
        command = f"--model m -tp 16 --nnodes 2 --node-rank 0 --master-addr {address}"
        assert ("nodes-on-loopback" in run(f"--gpus all {options}", command)) is wrong


@pytest.mark.parametrize("key", ["token-abc123", "EMPTY", "dummy", "sk-no-key-required", "sk-1234"])
def test_keys_of_the_documentation_are_no_secrets(key: str) -> None:
    exported = f'export OPENAI_API_KEY="{key}"\nvllm serve Qwen/Qwen3-8B --api-key {key}\n'
    served = f"services:\n  a:\n    image: vllm/vllm-openai:v0.19.1\n    environment: {{VLLM_API_KEY: {key}}}\n"
    assert not [one.rule for one in findings_in(exported, "serve.sh") if "plain-text" in one.rule]
    assert not [one.rule for one in findings_in(served, "compose.yaml") if "plain-text" in one.rule]


def test_a_key_that_looks_like_one_of_the_documentation_is_a_secret() -> None:
    text = "vllm serve Qwen/Qwen3-8B --api-key token-abf7Qk93zPl\n"
    assert [one.rule for one in findings_in(text, "serve.sh") if "plain-text" in one.rule] == [
        "container/api-key-in-plain-text"
    ]


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: llm}}
spec:
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.19.1
      args: [Qwen/Qwen3-8B]
      {field}
"""


@pytest.mark.parametrize(
    ("field", "missing"),
    [
        ("securityContext: {privileged: true}", False),
        ("securityContext: {privileged: false}", True),
        ("env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]", False),
        ("env: [{name: NVIDIA_VISIBLE_DEVICES, value: '0'}]", False),
        ("env: [{name: NVIDIA_VISIBLE_DEVICES, value: none}]", True),
        ("env: [{name: OTHER, value: all}]", True),
    ],
)
def test_what_a_node_gives_a_pod_by_itself(field: str, missing: bool) -> None:
    rules = [one.rule for one in findings_in(POD.format(field=field), "pod.yaml")]
    assert ("container/no-gpu" in rules) is missing


@pytest.mark.parametrize(
    ("annotation", "missing"),
    [
        ("cdi.k8s.io/llm: nvidia.com/gpu=0", False),
        ('nvidia.cdi.k8s.io/container.engine: "nvidia.com/gpu=all"', False),
        ("io.kubernetes.cri-o.Devices: /dev/nvidia0", False),
        ("run.oci.handler: nvidia", False),
        ("prometheus.io/scrape: 'true'", True),
    ],
)
def test_devices_of_an_annotation(annotation: str, missing: bool) -> None:
    pod = POD.replace("metadata: {{name: llm}}", f"metadata: {{{{name: llm, annotations: {{{{{annotation}}}}}}}}}")
    rules = [one.rule for one in findings_in(pod.format(field="tty: true"), "pod.yaml")]
    assert ("container/no-gpu" in rules) is missing


def test_a_key_that_an_option_and_its_variable_hold_is_reported_once() -> None:
    text = 'export VLLM_API_KEY="${VLLM_API_KEY:-house-4711-blue}"\nvllm serve m --api-key "$VLLM_API_KEY"\n'
    assert [one.rule for one in findings_in(text, "serve.sh") if "plain-text" in one.rule] == [
        "container/api-key-in-plain-text"
    ]


@pytest.mark.parametrize(("heading", "missing"), [("## With a CPU only", False), ("## Input", True), ("## Start it", True)])
def test_a_page_that_speaks_of_another_device(heading: str, missing: bool) -> None:
    fence = "```bash\ndocker run -p 127.0.0.1:80:80 ghcr.io/huggingface/text-generation-inference:3.3.4 --model-id a/b\n```\n"
    rules = [one.rule for one in findings_in(f"# TGI on a GPU\n\n{heading}\n\n{fence}", "page.md")]
    assert ("container/no-gpu" in rules) is missing
