"""Launches beside an engine's own source tree, which may be at any commit."""

from __future__ import annotations

from pathlib import Path

import servelint
from servelint.core.settings import Settings
from tests.together import together

PROJECT = '[build-system]\nrequires = ["setuptools"]\n\n[project]\nversion = "1"\nname = "{}"\n'
GGUF = "lmdeploy serve api_server me/my-model-GGUF\n"
VLLM = "export VLLM_ATTENTION_BACKEND=FLASH_ATTN\nvllm serve m --swap-space 4 --no-such-option\n"
SGLANG = "python3 -m sglang.launch_server --model-path m --no-such-option\n"


def check(folder: Path, files: dict[str, str], path: str, **versions: str) -> servelint.Report:
    for name, text in {".git/HEAD": "", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return servelint.check([str(folder / path)], Settings(engine_versions=versions))


@together(
    "launch, files",
    [
        (GGUF, {"pyproject.toml": PROJECT.format("lmdeploy")}),
        (GGUF, {"lmdeploy/__init__.py": "", "lmdeploy/version.py": "__version__ = '0.18.0'\n"}),
        (VLLM, {"pyproject.toml": PROJECT.format("vllm")}),
        (VLLM, {"setup.py": 'from setuptools import setup\nsetup(name="vllm")\n'}),
        (VLLM, {"pyproject.toml": PROJECT.format("1cat-vllm"), "vllm/__init__.py": "", "vllm/envs.py": ""}),
        (SGLANG, {"python/pyproject.toml": PROJECT.format("sglang")}),
        (SGLANG, {"python/sglang/__init__.py": "", "python/sglang/launch_server.py": ""}),
    ],
)
def test_what_depends_on_the_release_is_no_error(launch: str, files: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / str(abs(hash((launch, *files))))
    report = check(folder, {"scripts/a/run.sh": launch, **files}, "scripts/a/run.sh")
    assert not [one for one in report.findings if one.severity == "error" or one.rule.endswith("/removed-later")]
    (found,) = report.launches
    assert found.judged is not None
    assert found.judged.how == "unknown"
    assert "source tree" in found.judged.assumption
    assert [one.text for one in found.judged.words] == ["--no-such-option"] * launch.count("--no-such")


@together(
    "files",
    [
        {},
        {"pyproject.toml": PROJECT.format("my-app") + 'dependencies = ["lmdeploy"]\n[[tool.uv.index]]\nname = "lmdeploy"\n'},
        # an own package of the same name; a tree that is not around the script
        {"lmdeploy/__init__.py": ""},
        {"third_party/lmdeploy/pyproject.toml": PROJECT.format("lmdeploy")},
        {"vllm/__init__.py": "", "vllm/version.py": ""},
    ],
)
def test_no_tree_of_the_engine(files: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / str(abs(hash(tuple(files))))
    report = check(folder, {"scripts/run.sh": GGUF, **files}, "scripts/run.sh")
    assert [one.rule for one in report.findings if one.severity == "error"] == ["lmdeploy/gguf-repository"]


def test_a_tree_outside_the_project_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT.format("lmdeploy"))
    report = check(tmp_path / "mine", {"run.sh": GGUF}, "run.sh")
    assert [one.severity for one in report.findings] == ["error"]
    assert (report.errors, report.notes) == ([], [])


@together(
    "launch",
    [
        "pip install lmdeploy==0.18.0\n" + GGUF,
        "docker run openmmlab/lmdeploy:v0.18.0 " + GGUF,
    ],
)
def test_a_release_that_is_named_counts(launch: str, tmp_path: Path) -> None:
    report = check(tmp_path, {"pyproject.toml": PROJECT.format("lmdeploy"), "run.sh": launch}, "run.sh")
    assert "error" in [one.severity for one in report.findings if one.rule == "lmdeploy/gguf-repository"]


def test_a_release_of_the_settings_counts(tmp_path: Path) -> None:
    files = {"pyproject.toml": PROJECT.format("vllm"), "run.sh": VLLM}
    report = check(tmp_path, files, "run.sh", vllm="0.33.0")
    assert {one.severity for one in report.findings if "swap" in one.message or "no-such" in one.message} == {"error"}


def test_words_that_no_engine_takes_stay_errors(tmp_path: Path) -> None:
    text = "python3 -m sglang.launch_server --model-path m --tp-size 1.5\n"
    report = check(tmp_path, {"python/pyproject.toml": PROJECT.format("sglang"), "run.sh": text}, "run.sh")
    assert [(one.rule, one.severity) for one in report.findings] == [("sglang/invalid-value", "error")]
