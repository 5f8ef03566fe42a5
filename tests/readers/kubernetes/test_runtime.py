"""GPUs, GPU products and shared memory of a container."""

from __future__ import annotations

import pytest

from servelint.core.launch import Container
from servelint.engines.config import configs
from tests.launching import launch_in
from tests.together import together


def container(fields: str = "", spec: str = "") -> Container:
    lines = ["apiVersion: v1", "kind: Pod", "metadata: {name: llm}", "spec:"]
    lines += [f"  {line}" for line in spec.splitlines()]
    lines += ["  containers:", "    - name: s", "      image: vllm/vllm-openai:v0.20.0"]
    lines += [f"      {line}" for line in fields.splitlines()]
    found = launch_in("\n".join(lines) + "\n", "pod.yaml").container
    assert found is not None
    return found


def settings(fields: str = "", spec: str = "") -> dict[str, str]:
    return {name: text.shown for name, text in container(fields, spec).settings.items()}


class TestGpus:
    @together(
        "resources, expected",
        [
            ("{limits: {nvidia.com/gpu: 8}}", (8, True)),
            ("{limits: {nvidia.com/gpu: '2'}, requests: {nvidia.com/gpu: '1'}}", (2, True)),
            ("{requests: {amd.com/gpu: 4}}", (4, True)),
            ("{limits: {nvidia.com/mig-1g.10gb: 2}}", (2, True)),
            ("{limits: {nvidia.com/gpu: '${GPUS}'}}", (None, True)),
            ("{limits: {nvidia.com/gpu: 0}}", (0, False)),
            ("{limits: {cpu: 8, memory: 64Gi}}", (0, False)),
            ("{limits: {google.com/tpu: 4}}", (None, None)),
            ("{limits: {volcano.sh/vgpu-number: 1}}", (None, None)),
            ("{claims: [{name: gpu}]}", (None, None)),
        ],
    )
    def test_resources(self, resources: str, expected: tuple[int | None, bool | None]) -> None:
        found = container(f"resources: {resources}")
        assert (found.gpus, found.reserved) == expected

    def test_none(self) -> None:
        assert (container().gpus, container().reserved) == (0, False)

    @pytest.mark.parametrize("spec", ["runtimeClassName: nvidia", "runtimeClassName: nvidia-cdi"])
    def test_a_runtime_that_gives_every_gpu(self, spec: str) -> None:
        found = container(spec=spec)
        assert (found.gpus, found.reserved) == (None, True)


class TestProduct:
    def test_node_selector(self) -> None:
        assert settings(spec="nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}") == {
            "gpu_product": "nvidia-h100-80gb"
        }

    @pytest.mark.parametrize("spec", ["nodeSelector: {zone: a}", "nodeSelector: {cloud.google.com/gke-tpu-accelerator: v6e}"])
    def test_other_labels(self, spec: str) -> None:
        assert settings(spec=spec) == {}

    @pytest.mark.parametrize(
        ("label", "gpu"),
        [
            ("node.kubernetes.io/instance-type: p5.48xlarge", "h100-80gb"),
            ("beta.kubernetes.io/instance-type: Standard_ND96isr_H200_v5", "h200"),
            ("node.kubernetes.io/instance-type: a2-ultragpu-1g", "a100-80gb"),
            ("{node.kubernetes.io/instance-type: g6.12xlarge, nvidia.com/gpu.product: NVIDIA-L4}", "NVIDIA-L4"),
        ],
    )
    def test_a_type_of_machine(self, label: str, gpu: str) -> None:
        selector = label if label.startswith("{") else f"{{{label}}}"
        assert settings(spec=f"nodeSelector: {selector}") == {"gpu_product": gpu}

    @together(
        "label, gpu",
        [
            ("nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3", "h100-80gb"),
            ("cloud.google.com/gke-accelerator: nvidia-h100-80gb", "h100-80gb"),
            ("cloud.google.com/gke-accelerator: nvidia-tesla-a100", "a100-40gb"),
            ("karpenter.k8s.aws/instance-gpu-name: l40s", "l40s"),
            ("gpu.nvidia.com/class: H100_NVLINK_80GB", "h100-80gb"),
            ("amd.com/gpu.product-name: AMD_Instinct_MI300X_OAM", "mi300x"),
            ("node.kubernetes.io/instance-type: p4de.24xlarge", "a100-80gb"),
            ("nvidia.com/gpu.product: our-best", None),
        ],
    )
    def test_rules_see_the_gpu_that_a_label_names(self, label: str, gpu: str | None) -> None:
        text = "apiVersion: v1\nkind: Pod\nmetadata: {name: llm}\nspec:\n  nodeSelector: {" + label + "}\n  containers:\n"
        launch = launch_in(text + "    - {name: s, image: 'vllm/vllm-openai:v0.20.0', args: [--model=m]}\n", "pod.yaml")
        (config,) = configs(launch, ["0.20.0"])
        assert (config.gpu_name is not None, config.operand("gpu.name").value) == (True, gpu)

    @pytest.mark.parametrize("machine", ["m5.large", "g6f.xlarge", "p5.48xlarge-of-ours", "'{{ .Values.machine }}'"])
    def test_a_type_of_machine_that_has_no_gpu_or_is_not_known(self, machine: str) -> None:
        assert settings(spec=f"nodeSelector: {{node.kubernetes.io/instance-type: {machine}}}") == {}

    def test_a_part_of_a_gpu(self) -> None:
        whole = "nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}"
        found = settings("resources: {limits: {nvidia.com/mig-1g.10gb: 1}}", whole)
        assert found["gpu_product"] == "NVIDIA-H100-80GB-HBM3 MIG 1g.10gb"
        several = "resources: {limits: {nvidia.com/mig-1g.10gb: 1, nvidia.com/mig-2g.20gb: 1}}"
        assert "gpu_product" not in settings(several, whole)
        google = "{cloud.google.com/gke-accelerator: nvidia-tesla-a100, cloud.google.com/gke-gpu-partition-size: 1g.5gb}"
        assert settings(spec=f"nodeSelector: {google}")["gpu_product"] == "nvidia-tesla-a100 MIG 1g.5gb"

    @pytest.mark.parametrize(
        ("machines", "expected"),
        [
            ("[g5.xlarge, g5.2xlarge]", {"gpu_product": "a10g"}),
            ("[g5.xlarge, g6.xlarge]", {}),
            ("[g5.xlarge, m5.large]", {}),
            ("[]", {}),
        ],
    )
    def test_machines_of_several_sizes(self, machines: str, expected: dict[str, str]) -> None:
        found = settings(spec=self.affinity(machines).replace("nvidia.com/gpu.product", "node.kubernetes.io/instance-type"))
        assert found == expected

    def affinity(self, values: str, operator: str = "In") -> str:
        return (
            "affinity:\n  nodeAffinity:\n    requiredDuringSchedulingIgnoredDuringExecution:\n      nodeSelectorTerms:\n"
            f"        - matchExpressions: [{{key: nvidia.com/gpu.product, operator: {operator}, values: {values}}}]"
        )

    def test_affinity(self) -> None:
        assert settings(spec=self.affinity("[NVIDIA-L40S]")) == {"gpu_product": "NVIDIA-L40S"}

    def test_one_of_several_is_not_known(self) -> None:
        assert settings(spec=self.affinity("[NVIDIA-L40S, NVIDIA-H100]")) == {}
        assert settings(spec=self.affinity("[NVIDIA-L40S]", "NotIn")) == {}
        assert settings(spec=self.affinity("[NVIDIA-L40S]") + "\n        - matchExpressions: []") == {}


class TestSharedMemory:
    MOUNT = "volumeMounts: [{name: shm, mountPath: /dev/shm}]"

    @pytest.mark.parametrize(
        ("directory", "shown"),
        [("{medium: Memory, sizeLimit: 16Gi}", "16Gi"), ("{medium: Memory}", "Memory"), ("{}", "")],
    )
    def test_empty_dir(self, directory: str, shown: str) -> None:
        assert settings(self.MOUNT, f"volumes: [{{name: shm, emptyDir: {directory}}}]") == {"dev_shm": shown}

    def test_another_volume_is_not_known(self) -> None:
        found = container(self.MOUNT, "volumes: [{name: shm, hostPath: {path: /dev/shm}}]")
        assert found.settings["dev_shm"].value is None

    def test_no_mount(self) -> None:
        assert settings("volumeMounts: [{name: shm, mountPath: /cache}]", "volumes: [{name: shm, emptyDir: {}}]") == {}

    def test_the_memory_of_the_node(self) -> None:
        assert settings(spec="hostIPC: true") == {"ipc": "host"}
        assert settings(spec="hostIPC: false") == {}
