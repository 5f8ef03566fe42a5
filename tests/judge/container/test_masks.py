"""One thing that is wrong, or not known, must not hide what is certain beside it."""

from __future__ import annotations

import pytest

from servelint.core.settings import Settings
from servelint.judge.judging import judge
from tests.launching import launches_in
from tests.together import together

VLLM = "vllm/vllm-openai:v0.33.0"
NODES = "--nnodes 2 --node-rank 0 --master-addr 10.0.0.1"


def found(text: str, filename: str = "pod.yaml") -> set[str]:
    return {finding.rule for finding in judge(launches_in(text, filename)[0], Settings(profile="audit"))}


def pod(words: str, fields: str = "", kind: str = "Pod", pod_fields: str = "", labels: str = "", spec: str = "") -> str:
    container = ["- name: s", f"  image: {VLLM}", f"  command: {words}", *[f"  {line}" for line in fields.splitlines()]]
    inner = [*pod_fields.splitlines(), "containers:", *[f"  {line}" for line in container]]
    if kind == "Pod":
        lines = ["spec:", *[f"  {line}" for line in inner]]
    else:
        lines = ["spec:", *[f"  {line}" for line in spec.splitlines()], "  template:", labels, "    spec:"]
        lines += [f"      {line}" for line in inner]
    return f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: llm}}\n" + "\n".join(filter(None, lines)) + "\n"


PROBE = "ports: [{containerPort: 8000}]\nreadinessProbe: {httpGet: {path: /health, port: 7777}}"
WRONG = {"container/probe-port", "container/listens-on-loopback", "container/small-shared-memory"}
LABELS = "    metadata: {labels: {app: llm}}"


def engine(more: str) -> str:
    words = f"vllm serve Qwen/Qwen3-8B -tp 4 --host 127.0.0.1 {more}".split()
    return "[" + ", ".join([f'"{word}"' for word in words]) + "]"


class TestSeveralNodes:
    def test_node_0_serves(self) -> None:
        assert found(pod(engine(NODES), PROBE)) >= WRONG

    def test_so_does_what_counts_its_nodes_from_0(self) -> None:
        assert found(pod(engine("--nnodes 2 --node-rank $(LWS_WORKER_INDEX)"), PROBE)) >= WRONG

    @pytest.mark.parametrize(
        "more", ["--nnodes 2 --node-rank 1 --headless", "--nnodes 2 --node-rank 1", "--nnodes 2 --node-rank $(RANK)"]
    )
    def test_others_may_not(self, more: str) -> None:
        assert found(pod(engine(more), PROBE)) & WRONG == {"container/small-shared-memory"}

    @pytest.mark.parametrize(
        ("words", "here"),
        [
            ("-tp 2 --nnodes 2", False),
            ("-tp 4 --nnodes 2", True),
            ("-tp 4 -pp 2 --nnodes 4", True),
            ("-tp 8 --nnodes $N", False),
        ],
    )
    def test_ranks_of_a_node(self, words: str, here: bool) -> None:
        text = (
            f"services:\n  llm:\n    image: {VLLM}\n    gpus: all\n    command: Qwen/Qwen3-8B {words} --master-addr 10.0.0.1\n"
        )
        assert ("container/small-shared-memory" in found(text, "compose.yml")) is here

    def test_idle_gpus(self) -> None:
        text = pod(engine(NODES), 'resources: {limits: {nvidia.com/gpu: "8"}}')
        assert "container/idle-gpus" in found(text)
        assert "container/idle-gpus" not in found(text.replace('"8"', '"2"'))

    def test_more_ranks_than_a_node_has(self) -> None:
        text = "docker run --gpus 1 openmmlab/lmdeploy:v0.12.0 lmdeploy serve api_server Qwen/Qwen3-8B --tp 4 --nnodes 2\n"
        assert "container/gpus-below-ranks" in found(text, "run.sh")
        assert "container/gpus-below-ranks" not in found(text.replace("--gpus 1", "--gpus 2"), "run.sh")


class TestObjects:
    @pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "Rollout", "JobSet", "CloneSet"])
    def test_without_a_selector(self, kind: str) -> None:
        assert found(pod(engine(""), PROBE, kind, labels=LABELS)) >= WRONG

    def test_a_patch(self) -> None:
        assert not found(pod(engine(""), PROBE, "Deployment")) & WRONG
        assert not found(pod(engine(""), PROBE, "Deployment", labels=LABELS), "overlays/prod/llm.yaml") & WRONG

    @pytest.mark.parametrize("key", ["nodeSelector", "affinity", "volumes"])
    def test_a_template_in_another_field_of_the_pod(self, key: str) -> None:
        text = pod(engine(""), PROBE, pod_fields=f"{key}:\n  {{{{- toYaml .Values.x | nindent 4 }}}}")
        assert found(text, "templates/pod.yaml") >= {"container/probe-port", "container/listens-on-loopback"}
        assert ("container/small-shared-memory" in found(text, "templates/pod.yaml")) is (key != "volumes")

    def test_a_template_in_the_mounts(self) -> None:
        mounts = "\nvolumeMounts:\n  {{- toYaml .Values.mounts | nindent 8 }}"
        assert found(pod(engine(""), PROBE + mounts), "templates/pod.yaml") & WRONG == WRONG - {"container/small-shared-memory"}

    def test_a_template_in_the_ports(self) -> None:
        text = pod(engine(""), PROBE.partition("\n")[2] + "\nports:\n  {{- toYaml .Values.ports | nindent 8 }}")
        assert found(text, "templates/pod.yaml") >= WRONG

    def test_a_template_in_the_containers(self) -> None:
        text = pod(engine(""), PROBE) + "    {{- toYaml .Values.sidecars | nindent 4 }}\n"
        assert found(text, "templates/pod.yaml") & WRONG == {"container/small-shared-memory"}

    @pytest.mark.parametrize("kind", ["RayCluster", "Notebook", "Pod"])
    def test_a_part_of_a_gpu_is_refused_in_every_kind(self, kind: str) -> None:
        text = pod(engine(""), 'resources: {limits: {nvidia.com/gpu: "0.5"}}', kind)
        assert "container/gpu-request" in found(text)


class TestScripts:
    @together(
        "script, alone",
        [
            ("exec vllm serve m --port 8000", True),
            ("export A=1; pip install x && vllm serve m", True),
            ("nvidia-smi; vllm serve m; sleep infinity", True),
            ("nginx; vllm serve m", False),
            ("vllm serve m & python3 proxy.py", False),
            ("source env.sh; vllm serve m", False),
            ("vllm serve m & vllm serve n --port 7777 & wait", False),
            ("if [ -f x ]; then vllm serve m; fi", False),
        ],
    )
    def test_a_script_that_starts_nothing_else(self, script: str, alone: bool) -> None:
        assert ("container/probe-port" in found(pod(f'["sh", "-c", "{script}"]', PROBE))) is alone


class TestPorts:
    def test_a_mismatch_does_not_hide_the_interface(self) -> None:
        text = f"services:\n  llm:\n    image: {VLLM}\n    gpus: all\n    ports: ['80:80']\n    command: m --host 127.0.0.1\n"
        assert found(text, "compose.yml") >= {"container/port-not-served", "container/listens-on-loopback"}

    def test_a_probe_from_outside_is_enough(self) -> None:
        text = pod(engine(""), PROBE.partition("\n")[2].replace("7777", "8000"))
        assert "container/listens-on-loopback" in found(text)

    @pytest.mark.parametrize(
        "probe", ["exec: {command: [curl, 'http://localhost:8000/health']}", "httpGet: {host: 127.0.0.1, port: 8000}"]
    )
    def test_one_that_asks_inside_is_not(self, probe: str) -> None:
        assert "container/listens-on-loopback" not in found(pod(engine(""), f"readinessProbe: {{{probe}}}"))


@pytest.mark.parametrize("path", ["input/compose.yml", "baremetal/compose.yml", "descend/compose.yml"])
def test_a_word_in_a_path_is_no_device(path: str) -> None:
    text = f"services:\n  llm:\n    image: {VLLM}\n    ipc: host\n    command: m\n"
    assert "container/no-gpu" in found(text, path)
    assert "container/no-gpu" not in found(text, "examples/npu/compose.yml")
    assert "container/no-gpu" not in found(text, "compose.cpu.yml")
