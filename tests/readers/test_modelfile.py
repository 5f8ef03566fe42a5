"""Ollama's Modelfiles."""

from __future__ import annotations

import pytest

import servelint
from servelint.core.settings import Settings
from servelint.judge.judging import judge
from tests.launching import launches_in

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


@pytest.mark.parametrize("name", ["Modelfile", "Modelfile.qwen", "qwen.modelfile"])
def test_names(name: str) -> None:
    assert len(servelint.find_launches("FROM a\nPARAMETER top_k 1\n", name)) == 2


@pytest.mark.parametrize("text", ['"""A module\nparameter x of it."""\n', "import os\nFROM = 1\n", "# only a comment\n", ""])
def test_another_file_of_that_name(text: str) -> None:
    assert servelint.find_launches(text, "modelfile.py") == []


def test_a_dockerfile_is_none() -> None:
    assert servelint.find_launches("FROM ubuntu\nARG PARAMETER\nRUN echo\n", "Dockerfile") == []


@pytest.mark.parametrize(
    ("line", "release", "rules"),
    [
        ("PARAMETER draft_num_predict 4", "0.30.0", []),
        ("PARAMETER draft_num_predict 4", "0.24.0", ["ollama/modelfile-unknown-parameter"]),
        ("PARAMETER tfs_z 1", "0.5.1", []),
        ("PARAMETER tfs_z 1", "0.6.0", ["ollama/modelfile-unknown-parameter"]),
        ("PARAMETER mirostat 2", "0.32.15", []),
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
