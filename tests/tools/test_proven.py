"""tools/proven.py: launches that run elsewhere, written as scripts, and what servelint says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repository import Repository
from tests.scan.samples import written
from tests.tools.loading import loaded

proven = loaded("proven.py")

CONFIGURATION = """\
model-fp8-h200-vllm:
  image: vllm/vllm-openai:v0.22.0
  model: Qwen/Qwen3-8B
  model-prefix: qwen
  runner: cluster:h200-1
  precision: fp8
  framework: vllm
  scenarios:
    fixed-seq-len:
      - {isl: 1024, osl: 1024, search-space: [{tp: 2, conc-start: 4, conc-end: 64}]}
model-fp8-b200-vllm:
  image: vllm/vllm-openai:nightly
  model: Qwen/Qwen3-8B
  model-prefix: qwen
  runner: b200
  precision: fp8
  framework: vllm
  scenarios:
    fixed-seq-len:
      - {isl: 1024, osl: 1024, search-space: [{tp: 2, conc-list: [4]}]}
"""


def _tests(folder: Path, arguments: str, listed: str = "models-h100.txt") -> Path:
    tests = "vllm-0.33.0/tests/evals/gsm8k/configs"
    config = f'model_name: Qwen/Qwen3-8B\nserver_args: "{arguments}"\nenv: {{VLLM_LOGGING_LEVEL: DEBUG}}\n'
    written(folder, {f"{tests}/{listed}": "# small\nsmall.yaml\nabsent.yaml\n", f"{tests}/small.yaml": config})
    return folder / "vllm-0.33.0"


def test_a_test_that_runs_gives_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert proven.write(proven.of_tests(_tests(tmp_path, "--max-model-len 4096")), out) == 1
    (script,) = (out / "h100+vllm+0.33.0").iterdir()
    command = "VLLM_LOGGING_LEVEL=DEBUG vllm serve Qwen/Qwen3-8B --max-model-len 4096 --trust-remote-code\n"
    assert script.read_text().endswith(f"small.yaml\n{command}")
    assert proven.check(out) == 0
    assert "1 files, 1 launches, 0 errors" in capsys.readouterr().out


def test_an_error_about_a_launch_that_runs_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    proven.write(proven.of_tests(_tests(tmp_path, "--swap-space 4")), out)
    assert proven.check(out) == 1
    assert "[vllm/removed-option]" in capsys.readouterr().out


def test_a_list_that_names_no_gpu_is_left_out(tmp_path: Path) -> None:
    assert list(proven.of_tests(_tests(tmp_path, "--seed 1", listed="models-small.txt"))) == []


def test_a_benchmark_gets_the_variables_of_its_configuration(tmp_path: Path) -> None:
    script = 'vllm serve $MODEL --tensor-parallel-size $TP --max-num-seqs "$CONC"\n'
    names = [f"benchmarks/single_node/fixed_seq_len/qwen_fp8_{gpu}.sh" for gpu in ("h200", "b200")]
    files = {**dict.fromkeys(names, script), "configs/nvidia-master.yaml": CONFIGURATION}
    Repository(written(tmp_path / "clone", files)).commit("files")
    found = list(proven.of_benchmarks(tmp_path / "clone", 1))
    # the image of the other names no release
    assert [(one.gpu, one.engine, one.release) for one in found] == [("h200", "vllm", "0.22.0")] * 2
    assert [line for one in found for line in one.script.splitlines() if "CONC=" in line] == [
        'export CONC="4"',
        'export CONC="64"',
    ]
    assert found[0].script.endswith(script)
