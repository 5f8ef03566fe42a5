"""Ollama's Modelfiles."""

from __future__ import annotations

from pathlib import Path

import pytest

import servelint
from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.judge.judging import judge
from servelint.readers import read
from tests.launching import launches_in
from tests.together import together

MODELFILE = '''
    # a comment
    FROM ./model.gguf
    PARAMETER num_ctx 8192
    parameter stop "<|im_end|>"
    TEMPLATE """{{ .Prompt }}
    PARAMETER nothing 1
    """
    ADAPTER ./lora.gguf
    DRAFT ./draft.gguf
    SYSTEM You are PARAMETER top_k 1
'''


def test_instructions() -> None:
    found = launches_in(MODELFILE, "Modelfile")
    assert [(one.name, [word.shown for word in one.argv]) for one in found] == [
        ("FROM", ["FROM", "./model.gguf"]),
        ("PARAMETER num_ctx", ["num_ctx", "8192"]),
        ("PARAMETER stop", ["stop", "<|im_end|>"]),
        ("ADAPTER", ["ADAPTER", "./lora.gguf"]),
        ("DRAFT", ["DRAFT", "./draft.gguf"]),
    ]
    assert all(one.engine == "ollama" and one.fragment for one in found)
    assert found[1].site.text == "PARAMETER num_ctx 8192"


@pytest.mark.parametrize(
    "name",
    ["Modelfile", "Modelfile.qwen", "qwen.modelfile", "Modelfile-qwen", "Modelfile_qwen", "qwen-Modelfile", "gemma4__12b"],
)
def test_names(name: str) -> None:
    assert len(servelint.find_launches("FROM a\nPARAMETER top_k 1\n", name)) == 2


@pytest.mark.parametrize("text", ['"""A module\nparameter x of it."""\n', "import os\nFROM = 1\n", "# only a comment\n", ""])
def test_another_file_of_that_name(text: str) -> None:
    assert servelint.find_launches(text, "modelfile.py") == []


@pytest.mark.parametrize(
    "text", ["FROM ubuntu\nRUN echo PARAMETER\n", "FROM a AS b\nPARAMETER top_k 1\n", "PARAMETER top_k 1\n"]
)
def test_a_file_whose_name_says_nothing(text: str) -> None:
    assert not any(one.name.startswith("PARAMETER") for one in servelint.find_launches(text, "gemma4__12b"))


def test_what_a_template_fills_in_is_not_judged() -> None:
    found = launches_in("FROM a\nPARAMETER num_ctx <the context>\nPARAMETER top_k 1x\n", "Modelfile")
    assert [finding.span.text for one in found for finding in judge(one, Settings())] == ["1x"]


def test_a_dockerfile_is_none() -> None:
    assert servelint.find_launches("FROM ubuntu\nARG PARAMETER\nRUN echo\n", "Dockerfile") == []


@together(
    "line, release, rules",
    [
        ("PARAMETER draft_num_predict 4", "0.30.0", []),
        ("PARAMETER draft_num_predict 4", "0.24.0", ["ollama/modelfile-draft-num-predict-not-yet"]),
        ("PARAMETER tfs_z 1", "0.5.1", []),
        ("PARAMETER tfs_z 1", "0.6.0", ["ollama/modelfile-tfs-z-removed"]),
        ("PARAMETER mirostat 2", "0.32.15", ["ollama/modelfile-ignored-parameter"]),
        ("PARAMETER use_mmap yes", "0.32.15", ["ollama/modelfile-invalid-value"]),
        ("PARAMETER use_mmap T", "0.32.15", []),
        ("PARAMETER num_ctx -1", "0.32.15", []),
        ('PARAMETER top_p ".9"', "0.32.15", []),
        ("PARAMETER top_p 0,9", "0.32.15", ["ollama/modelfile-invalid-value"]),
        ('PARAMETER stop "', "0.32.15", []),
    ],
)
def test_parameters_of_a_release(line: str, release: str, rules: list[str]) -> None:
    found = launches_in(f"FROM a\n{line}\n", "Modelfile")
    settings = Settings(engine_versions={"ollama": release})
    assert [finding.rule for one in found for finding in judge(one, settings)] == rules


COMPOSE = "services:\n  ollama:\n    image: ollama/ollama:{}\n    volumes: ['./{}:/m']\n"


def released(path: str, files: dict[str, str], tmp_path: Path) -> str | None:
    for name, text in {path: "FROM a\nPARAMETER min_p 0.1\n", **files}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return launches_beside(tmp_path / path)[0].release.release


def launches_beside(path: Path) -> list[Launch]:
    return read(Source(str(path), path.read_text()), Neighbours(str(path.parent), str(path.parent))).launches


class TestRelease:
    def test_of_the_compose_file_that_mounts_it(self, tmp_path: Path) -> None:
        assert released("Modelfile", {"compose.yaml": COMPOSE.format("0.3.0", "Modelfile")}, tmp_path) == "0.3.0"

    def test_of_the_compose_file_above(self, tmp_path: Path) -> None:
        assert (
            released("models/Modelfile", {"docker-compose.yml": COMPOSE.format("0.3.0", "models/Modelfile")}, tmp_path)
            == "0.3.0"
        )

    def test_of_the_image_that_creates_it(self, tmp_path: Path) -> None:
        text = "FROM ollama/ollama:0.5.2\nCOPY Modelfile /\nRUN ollama serve & sleep 5; ollama create m -f /Modelfile\n"
        assert released("Modelfile", {"Dockerfile": text}, tmp_path) == "0.5.2"

    @pytest.mark.parametrize(
        "text",
        [
            COMPOSE.format("0.3.0", "Modelfile.other"),  # another one
            COMPOSE.format("$TAG", "Modelfile"),
            COMPOSE.format("0.3.0", "Modelfile") + "  b:\n    image: ollama/ollama:0.4.0\n",
            "services:\n  llm:\n    image: vllm/vllm-openai:v0.9.0\n    volumes: ['./Modelfile:/m']\n",
            "services: [Modelfile",
        ],
    )
    def test_not_known(self, text: str, tmp_path: Path) -> None:
        assert released("Modelfile", {"compose.yaml": text}, tmp_path) is None

    def test_a_message_in_three_quotes_holds_no_instruction(self) -> None:
        text = 'FROM a\nMESSAGE user """Hello\nDRAFT me a letter\n"""\nPARAMETER top_k 1\n'
        assert [one.name for one in launches_in(text, "Modelfile")] == ["FROM", "PARAMETER top_k"]
