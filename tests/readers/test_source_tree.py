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
    assert "lmdeploy/gguf-repository" not in [one.rule for one in report.findings]  # a fork may load it
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


REQUIRED = "torch\nvllm==0.11.0\n"
LOCK = '[[package]]\nname = "vllm"\nversion = "0.11.0"\n'


@together(
    "path, files, release",
    [
        ("run.sh", {"requirements.txt": REQUIRED}, "0.11.0"),
        ("a/b/run.sh", {"requirements.txt": REQUIRED}, "0.11.0"),
        ("a/run.sh", {"a/requirements.txt": "vllm==0.10.0\n", "requirements.txt": REQUIRED}, "0.10.0"),
        ("a/run.sh", {"pyproject.toml": '[project]\ndependencies = ["vllm==0.11.0"]\n'}, "0.11.0"),
        ("a/run.sh", {"uv.lock": LOCK, "pyproject.toml": '[project]\ndependencies = ["vllm>=0.9"]\n'}, "0.11.0"),
        ("run.sh", {"environment.yml": "dependencies:\n  - pip:\n      - vllm==0.11.0\n"}, "0.11.0"),
        ("run.sh", {"requirements.lock": "-e file:.\nvllm==0.11.0\n    # via a\n"}, "0.11.0"),
        ("run.sh", {"requirements.txt": "vllm>=0.11.0\n"}, None),
        ("run.sh", {"requirements.txt": REQUIRED, "uv.lock": LOCK.replace("0.11.0", "0.12.0"), "pyproject.toml": ""}, None),
        ("a/run.sh", {"a/requirements.txt": "requests\n", "requirements.txt": REQUIRED}, None),
        ("a/b/c/d/run.sh", {"requirements.txt": REQUIRED}, None),
        ("README.md", {"requirements.txt": REQUIRED}, None),
        ("run.sh", {"requirements.txt": REQUIRED, "pyproject.toml": PROJECT.format("vllm")}, None),
    ],
)
def test_the_release_that_the_project_requires(path: str, files: dict[str, str], release: str | None, tmp_path: Path) -> None:
    folder = tmp_path / str(abs(hash((path, *files.items()))))
    text = "```bash\nvllm serve m\n```\n" if path == "README.md" else "vllm serve m\n"
    (found,) = check(folder, {path: text, **files}, path).launches
    assert found.release.release == release


@together(
    "text, release",
    [
        ("pip install vllm==0.12.0\nvllm serve m\n", "0.12.0"),
        ("pip install vllm\nvllm serve m\n", None),
        ("docker run vllm/vllm-openai:v0.20.0 --model m\n", "0.20.0"),
        ("docker run own/image vllm serve m\n", None),
        ("sglang serve --model-path m\n", None),
        ("ssh gpu1 vllm serve m\n", None),
        ("docker exec llm vllm serve m\n", None),
        ("conda activate serving\nvllm serve m\n", None),
        ("source ~/serving/bin/activate\nvllm serve m\n", None),
        ('source "$VENV/bin/activate"\nvllm serve m\n', None),
        ("/opt/serving/bin/vllm serve m\n", None),
        ("module load cuda vllm\nvllm serve m\n", None),
        ("source .venv/bin/activate\nvllm serve m\n", "0.11.0"),
        (". venv/bin/activate && exec vllm serve m\n", "0.11.0"),
    ],
)
def test_what_a_launch_itself_says_counts_before_requirements(text: str, release: str | None, tmp_path: Path) -> None:
    folder = tmp_path / str(abs(hash(text)))
    (found,) = check(folder, {"run.sh": text, "requirements.txt": REQUIRED}, "run.sh").launches
    assert found.release.release == release


def test_settings_count_before_requirements(tmp_path: Path) -> None:
    report = check(tmp_path, {"run.sh": "vllm serve m\n", "requirements.txt": REQUIRED}, "run.sh", vllm="0.20.0")
    (found,) = report.launches
    assert found.release.release is None
    assert found.judged is not None
    assert (found.judged.release, found.judged.how) == ("0.20.0", "settings")


SERVICE = 'services:\n  llm:\n    image: {}\n    entrypoint: [bash, /run.sh]\n    volumes: ["{}:/run.sh"]\n'
IMAGE = "FROM vllm/vllm-openai:v0.9.1\nCOPY {} /app/\n"
SETUP = "python3 -m venv ~/serving\nsource ~/serving/bin/activate\npip install vllm==0.8.5\n"
ENTERS = "source ~/serving/bin/activate\nvllm serve m\n"


@together(
    "path, text, files, release",
    [
        ("run.sh", "vllm serve m\n", {"Dockerfile": IMAGE.format("run.sh")}, "0.9.1"),
        ("scripts/run.sh", "vllm serve m\n", {"Dockerfile": IMAGE.format("scripts/run.sh")}, "0.9.1"),
        ("run.sh", "vllm serve m\n", {"Dockerfile.vllm": IMAGE.format(".") + 'CMD ["./run.sh"]\n'}, "0.9.1"),
        (
            "run.sh",
            "vllm serve m\n",
            {"Dockerfile": "FROM python:3.12\nRUN pip install vllm==0.8.5\nCOPY . .\nENTRYPOINT bash run.sh\n"},
            "0.8.5",
        ),
        (
            "run.sh",
            "llama-server -m a.gguf\n",
            {"Dockerfile": "FROM ghcr.io/ggml-org/llama.cpp:server-b5000\nCOPY run.sh /\n"},
            "b5000",
        ),
        # another script, no script, a tag that names no release
        ("run.sh", "vllm serve m\n", {"compose.yml": SERVICE.format("vllm/vllm-openai:v0.9.1", "./run.sh")}, "0.9.1"),
        (
            "a/run.sh",
            "vllm serve m\n",
            {"docker-compose.yml": SERVICE.format("vllm/vllm-openai:v0.9.1", "./a/run.sh")},
            "0.9.1",
        ),
        ("run.sh", "vllm serve m\n", {"compose.yml": SERVICE.format("vllm/vllm-openai:latest", "./run.sh")}, None),
        ("run.sh", "vllm serve m\n", {"compose.yml": SERVICE.format("vllm/vllm-openai:v0.9.1", "./other/run.sh")}, None),
        ("run.sh", "vllm serve m\n", {"Dockerfile": IMAGE.format("dry-run.sh")}, None),
        ("run.sh", "vllm serve m\n", {"Dockerfile": IMAGE.format(".")}, None),
        ("run.sh", "vllm serve m\n", {"Dockerfile": "FROM vllm/vllm-openai:latest\nCOPY run.sh /\n"}, None),
        # files that do not agree
        ("run.sh", "vllm serve m\n", {"Dockerfile": IMAGE.format("run.sh"), "requirements.txt": REQUIRED}, None),
        (
            "run.sh",
            "vllm serve m\n",
            {"Dockerfile": IMAGE.format("run.sh"), "Dockerfile.vllm": IMAGE.format("run.sh").replace("0.9.1", "0.9.2")},
            None,
        ),
        ("run.sh", "docker run own/image vllm serve m\n", {"Dockerfile": IMAGE.format("run.sh")}, None),
        ("run.sh", ENTERS, {"setup.sh": SETUP}, "0.8.5"),
        ("scripts/run.sh", ENTERS, {"setup.sh": SETUP}, "0.8.5"),
        ("run.sh", "E=$HOME/serving\n$E/bin/vllm serve m\n", {"install.sh": SETUP}, "0.8.5"),
        (
            "run.sh",
            "conda activate llm\nvllm serve m\n",
            {"setup.sh": "conda create -n llm\nconda activate llm\npip install vllm==0.8.5\n"},
            "0.8.5",
        ),
        ("run.sh", ENTERS, {"setup.sh": SETUP.replace("vllm==0.8.5", "-r r.txt"), "r.txt": "vllm==0.8.5\n"}, "0.8.5"),
        ("run.sh", ENTERS, {"setup.sh": SETUP.replace("serving", "other")}, None),
        ("run.sh", ENTERS, {"setup.sh": SETUP.replace("==0.8.5", "")}, None),
        ("run.sh", ENTERS, {"setup.sh": f"if [ $1 ]; then\npip install vllm==0.9.0\nfi\n{SETUP}"}, None),
        ("run.sh", ENTERS, {"setup.sh": SETUP, "install.sh": SETUP.replace("0.8.5", "0.9.0")}, None),
        ("run.sh", f"source ~/a/bin/activate\n{ENTERS}", {"setup.sh": SETUP}, None),
    ],
)
def test_the_release_of_the_image_or_environment_of_a_script(
    path: str, text: str, files: dict[str, str], release: str | None, tmp_path: Path
) -> None:
    folder = tmp_path / str(abs(hash((path, text, *files.items()))))
    (found,) = check(folder, {path: text, **files}, path).launches
    assert found.release.release == release
