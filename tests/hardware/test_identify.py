"""GPUs: the names under which people and clusters know them, and what is known of each."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from servelint import hardware
from servelint.hardware import Fact, identify
from tests.together import together


@together(
    "name, expected",
    [
        ("h100", "h100"),
        ("H100", "h100"),
        ("h100-80gb", "h100-80gb"),
        ("NVIDIA-H100-80GB-HBM3", "h100-80gb"),
        ("NVIDIA H100 PCIe", "h100"),
        ("NVIDIA H100 NVL", "h100-nvl"),
        ("nvidia-h100-80gb", "h100-80gb"),
        ("nvidia-h100-mega-80gb", "h100-80gb"),
        ("H100_NVLINK_80GB", "h100-80gb"),
        ("A100_PCIE_40GB", "a100-40gb"),
        ("nvidia-l4", "l4"),
        ("nvidia-tesla-t4", "t4"),
        ("Tesla T4", "t4"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("rtx-4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "rtx-4090-laptop"),
        ("rtx5090-laptop", "rtx-5090-laptop"),
        ("rtx5090", "rtx-5090"),
        ("RTX PRO 6000 Blackwell", "rtx-pro-6000"),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "rtx-pro-6000"),
        ("NVIDIA RTX PRO 5000 72GB Blackwell", "rtx-pro-5000-72gb"),
        ("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"),
        ("gb10", "gb10"),
        ("dgx-spark", "gb10"),
        ("NVIDIA GB10", "gb10"),
        ("DGX Spark (GB10)", "gb10"),
        ("Thor", "jetson-thor"),
        ("Strix Halo gfx1151", "strix-halo"),
        ("gb200", "gb200"),
        ("NVIDIA B200", "b200"),
        ("b300", "b300"),
        ("nvidia-h200-141gb", "h200"),
        ("h20", "h20"),
        ("a100", "a100"),
        ("a100-40gb", "a100-40gb"),
        ("NVIDIA-A100-SXM4-80GB", "a100-80gb"),
        ("A100-80GB-SXM", "a100-80gb"),
        ("nvidia-tesla-a100", "a100-40gb"),
        ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "a100-80gb"),
        ("a10", "a10"),
        ("a10g", "a10g"),
        ("NVIDIA-L40S-SHARED", "l40s"),
        ("Tesla-V100-SXM2-32GB", "v100-32gb"),
        ("AMD-Instinct-MI300X-OAM", "mi300x"),
        ("mi325x", "mi325x"),
        ("MI355X", "mi355x"),
        ("AMD Radeon AI PRO R9700", "r9700"),
        ("gaudi3", "gaudi3"),
    ],
)
def test_a_name(name: str, expected: str) -> None:
    found = identify(name)
    assert found is not None
    assert found.facts["name"] == found.name == expected


@together(
    "name",
    [
        "",
        " ",
        "gpu",
        "nvidia",
        "h1000",
        "RTX 6000",
        "Quadro RTX 6000",
        "rtx 4090 ti",
        "a100-60gb",
        "tpu-v5-lite",
        "h100:8",
        "100",
    ],
)
def test_a_name_that_says_nothing(name: str) -> None:
    assert identify(name) is None


@together(
    "name, facts",
    [
        (
            "h100",
            {"vendor": "nvidia", "capability": 9.0, "architecture": "hopper", "memory-gib": 79.65, "unified": False,
             "fp8": True, "nvfp4": False, "flash-attention-3": True},
        ),
        ("a100-80gb", {"capability": 8.0, "memory-gib": 80.0, "fp8": False, "flash-attention-3": False}),
        ("a100", {"capability": 8.0, "memory-gib": None}),
        ("l4", {"capability": 8.9, "memory-gib": 22.49, "fp8": True}),
        ("b200", {"capability": 10.0, "nvfp4": True, "flash-attention-3": False}),
        ("b300", {"capability": 10.3, "memory-gib": 268.59}),
        ("gb10", {"capability": 12.1, "memory-gib": 121.69, "unified": True}),
        ("t4", {"capability": 7.5, "memory-gib": 15.0, "fp8": False}),
        ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", {"capability": 8.0, "memory-gib": 9.5, "spread-gib": 0.25}),
        ("NVIDIA-A100-SXM4-80GB-MIG-1g.99gb", {"capability": 8.0, "memory-gib": None}),
        ("mi300x", {"vendor": "amd", "architecture": "gfx942", "capability": None, "fp8": True, "nvfp4": False}),
        ("gaudi2", {"vendor": "intel", "capability": None, "fp8": True}),
        ("CMP 170HX 10G", {"name": "cmp-170hx", "capability": 8.0, "memory-gib": None, "bandwidth-gbs": 1493}),
    ],
)  # fmt: skip
def test_facts(name: str, facts: dict[str, Fact | None]) -> None:
    found = identify(name)
    assert found is not None
    assert {key: found.facts.get(key) for key in facts} == facts


@together(
    "name, facts",
    [
        ("h100-80gb", {"cuda-gib": 79.18, "bandwidth-gbs": 3350, "bf16-tflops": 989, "fp8-tflops": 1979}),
        ("NVIDIA-H100-80GB-HBM3", {"name": "h100-80gb", "fp4-tflops": None}),
        ("H100-64GB", {"name": "h100-64gb", "memory-gib": 63.72, "bandwidth-gbs": None}),
        ("NVIDIA H100 PCIe", {"memory-gib": 79.65, "bandwidth-gbs": 2000, "bf16-tflops": 756}),
        ("h100-nvl", {"memory-gib": 93.58, "cuda-gib": None, "bandwidth-gbs": 3938}),
        ("a100-40gb", {"cuda-gib": 39.49, "bandwidth-gbs": 1555}),
        ("A100-SXM4-80GB", {"cuda-gib": 79.25, "bandwidth-gbs": 2039}),
        ("a100", {"cuda-gib": None, "memory-gib": None, "bandwidth-gbs": 1935, "bf16-tflops": 312}),
        ("rtx-5090", {"cuda-gib": 31.36, "fp4-tflops": 1676}),
        ("rtx-4090-48gb", {"memory-gib": 47.99, "cuda-gib": None, "bandwidth-gbs": 1008}),
        ("NVIDIA-H100-80GB-HBM3-MIG-3g.40gb", {"slice": "3g.40gb", "memory-gib": 39.5, "bandwidth-gbs": None}),
        ("NVIDIA-H100-80GB-HBM3-MIG-9g.99gb", {"slice": None, "memory-gib": None}),
        ("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", {"name": "a100-40gb", "slice": "1g.5gb", "memory-gib": 4.75, "spread-gib": 0.0}),
        ("NVIDIA-A100-PCIE-80GB-MIG-1c.3g.40gb", {"slice": "3g.40gb", "memory-gib": 39.25}),
        ("NVIDIA H200 MIG 1g.18gb+me", {"slice": "1g.18gb", "cuda-gib": 16.0}),
        ("h200-3g.71gb", {"slice": "3g.71gb", "memory-gib": 69.5}),
        ("NVIDIA-B200-MIG-1g.23gb", {"memory-gib": 20.5, "spread-gib": 1.5}),
        ("rtx-pro-6000 MIG 2g.48gb+gfx", {"slice": "2g.48gb", "memory-gib": 46.5}),
        ("GRID A100-40C", {"name": "a100", "capability": 8.0, "memory-gib": None}),
        ("GRID A100D-3-40C", {"name": "a100", "memory-gib": None}),
        ("H100XM-80C", {"name": "h100", "memory-gib": None}),
        ("NVIDIA A16-16C", {"name": "a16", "capability": 8.6, "memory-gib": None}),
        ("AMD Ryzen AI Max+ 395", {"name": "strix-halo", "unified": True, "memory-gib": None}),
        ("Intel Data Center GPU Max 1550", {"vendor": "intel", "memory-gib": None}),
        ("t4", {"cuda-gib": 14.56, "bandwidth-gbs": 320, "bf16-tflops": 65}),
        ("RTX 4070 Ti SUPER 16GB", {"bandwidth-gbs": 672.3, "bf16-tflops": 88.2}),
        ("gb10", {"cuda-gib": 121.69, "bandwidth-gbs": 273}),
    ],
)  # fmt: skip
def test_what_a_plan_needs(name: str, facts: dict[str, Fact | None]) -> None:
    found = identify(name)
    assert found is not None
    assert {key: found.facts.get(key) for key in facts} == facts


def test_a_laptop_s_card_is_not_the_desktop_s() -> None:
    laptop, desktop = identify("RTX 4090 Laptop"), identify("RTX 4090")
    assert laptop is not None
    assert desktop is not None
    assert laptop.facts["memory-gib"] == 15.99
    assert laptop.facts["capability"] == desktop.facts["capability"]
    assert identify("RTX 2080 Super Laptop") is None


def test_no_card_gives_more_than_its_driver_reports() -> None:
    for name in hardware.names():
        found = identify(name)
        assert found is not None
        driver, cuda = found.facts.get("memory-gib"), found.facts.get("cuda-gib")
        if cuda is not None:
            assert isinstance(cuda, float)
            assert isinstance(driver, float)
            assert 0.95 * driver < cuda <= driver


def test_every_name_that_is_offered_is_known() -> None:
    for name in hardware.names():
        found = identify(name)
        assert found is not None, name
        assert found.name == name


@pytest.mark.parametrize(
    ("name", "first"), [("h1000", "h100"), ("rtx-4900", "rtx-4090"), ("RTX5009", "rtx-5090"), ("mi300", "mi300x")]
)
def test_names_that_are_like_one(name: str, first: str) -> None:
    assert hardware.near(name)[0] == first


def test_nothing_is_like_a_word() -> None:
    assert hardware.near("potato") == []


class TestTable:
    DATA: dict[str, Any] = json.loads((resources.files("servelint.hardware") / "gpus.json").read_text())

    @pytest.mark.parametrize("family", DATA["families"], ids=lambda one: str(one.get("capability", one["architecture"])))
    def test_every_kind(self, family: dict[str, Any]) -> None:
        assert family["source"]
        assert family["vendor"] in ("nvidia", "amd", "intel")
        assert ("capability" in family) == (family["vendor"] == "nvidia")
        for gpu in family["gpus"]:
            assert all(memory > 0 for memory in gpu["memory"].values())

    def test_no_name_stands_for_two(self) -> None:
        names = [name for family in self.DATA["families"] for gpu in family["gpus"] for name in (gpu["name"], *gpu["also"])]
        assert sorted(names) == sorted(set(names))

    def test_what_they_support_has_a_source(self) -> None:
        assert all(needs["source"] for needs in self.DATA["supports"].values())


def test_machines_have_gpus_that_are_known() -> None:
    table = json.loads((resources.files("servelint.hardware") / "machines.json").read_text())
    for pattern, name, source in table["types"]:
        gpu = identify(name)
        assert gpu is not None, pattern
        assert (gpu.name, "memory-gib" in gpu.facts, source in table["sources"]) == (name, True, True)


@together(
    "machine, gpu",
    [
        ("p5.48xlarge", "h100-80gb"),
        ("p5e.48xlarge", "h200"),
        ("g6e.12xlarge", "l40s"),
        ("g5.xlarge", "a10g"),
        ("a3-megagpu-8g", "h100-80gb"),
        ("Standard_NC40ads_H100_v5", "h100-nvl"),
        ("g7e.2xlarge", "rtx-pro-6000"),
        ("g4-standard-96", "rtx-pro-6000"),
        ("Standard_ND96isr_MI300X_v5", "mi300x"),
        ("BM.GPU.A100-v2.8", "a100-80gb"),
        ("BM.GPU4.8", "a100-40gb"),
        ("VM.GPU.A10.1", "a10"),
        ("g4-standard-12", None),  # a part of an RTX PRO 6000
        ("g6f.xlarge", None),  # a part of an L4
        ("m7i.4xlarge", None),
        ("", None),
    ],
)
def test_machines(machine: str, gpu: str | None) -> None:
    assert hardware.of_machine(machine) == gpu


@pytest.mark.parametrize(
    ("said", "named", "counts"),
    [
        ("h100-80gb", "our-best", True),
        ("a100-80gb", "a100", True),
        ("h100-80gb", "NVIDIA-L4", False),
        ("h100", "h100-80gb", False),
        ("our-best", "nothing", False),
    ],
)
def test_what_a_person_says_beside_a_file(said: str, named: str, counts: bool) -> None:
    assert hardware.counts(said, named) is counts
