"""A variable is dead only if nothing in the distribution names it."""

from __future__ import annotations

import pytest

from servelint.harvest.mentions import in_native_code, mentioned
from servelint.harvest.sources import Tree
from tests.reporting import rules_in

CODE = '''
"""Reads VLLM_IN_A_DOCSTRING."""
# VLLM_IN_A_COMMENT
import os
A = os.environ.get("VLLM_QUOTED")
B = envs.VLLM_ATTRIBUTE
VLLM_ASSIGNED: str = helper("VLLM_ARGUMENT")
raise ValueError("VLLM_IN_A_SENTENCE was removed")
'''


def test_names_in_python_code() -> None:
    tree = Tree("vllm", "0.33.0", {"vllm/plugins/one.py": CODE, "vllm/bad.py": "VLLM_IN_BROKEN ="})
    assert mentioned(tree) == {"VLLM_QUOTED", "VLLM_ATTRIBUTE", "VLLM_ASSIGNED", "VLLM_ARGUMENT", "VLLM_IN_BROKEN"}


def test_names_in_native_code() -> None:
    text = 'auto a = getenv("VLLM_READ"); VLLM_MACRO(x); // VLLM_COMMENT\nenv::var("SGL_RUST")'
    assert in_native_code(text) == {"VLLM_READ", "SGL_RUST"}


@pytest.mark.parametrize(
    "launch",
    [
        "SGLANG_CACHE_DIT_FN=1 python -m sglang.launch_server --model-path m/m",
        "SGLANG_CACHE_DIT_MC=3 SGLANG_DIFFUSION_STAGE_LOGGING=1 python -m sglang.launch_server --model-path m/m",
        "SGLANG_USE_ROCM_VAE=1 SGLANG_CACHE_ROOT=/x SGLANG_TP_RANK=0 python -m sglang.launch_server --model-path m/m",
        "VLLM_MORIIO_NUM_WORKERS=4 VLLM_RUNTIME_LORA_ALLOWED_PATH_PREFIXES=/l vllm serve m/m",
        "VLLM_RS_REQUEST_WORKER_THREADS=4 VLLM_CPU_MOE_PREPACK=1 VLLM_WATCHDOG_TIME_S=5 vllm serve m/m",
    ],
)
def test_what_a_part_of_the_release_reads_is_not_dead(launch: str) -> None:
    install = "pip install vllm==0.33.0 sglang==0.5.23\n"
    assert rules_in(install + launch + "\n") == []


def test_what_nothing_names_is() -> None:
    assert rules_in("pip install vllm==0.33.0\nVLLM_USE_V1=1 VLLM_MORIIO_NUM_WORKER=4 vllm serve m/m\n") == ["vllm/removed-env"]
