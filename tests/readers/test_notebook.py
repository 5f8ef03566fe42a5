"""Notebooks: the lines and cells that a shell runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from servelint.core.source import Source
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release
from tests.together import together


def cell(*lines: str, kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "outputs": [], "source": [line + "\n" for line in lines]}


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4}, indent=1, ensure_ascii=False)


@together(
    "lines",
    [
        ["!vllm serve a/b"],
        ["import os", "!vllm serve a/b", "print(1)"],
        ["  !nohup vllm serve a/b > log 2>&1 &"],
        ["!vllm \\", "  serve a/b"],
        ["%%bash", "set -e", "vllm serve a/b"],
        ["%%bash --bg", "vllm serve a/b &"],
        ["%%sh", "vllm serve a/b"],
        ["%%script bash --bg", "vllm serve a/b"],
        ["%%capture", "!vllm serve a/b"],
        ["M = 'a/b'  # small", "!vllm serve {M}"],
        ["M = 'a/b'", '!vllm serve "$M"'],
    ],
)
def test_what_the_shell_runs(lines: list[str]) -> None:
    launch = launch_in(notebook(cell("# vllm serve x", kind="markdown"), cell(*lines)), "a.ipynb")
    assert (argv(launch), launch.name) == (["a/b"], "cells[1]")


@pytest.mark.parametrize(
    "lines",
    [
        ["vllm serve a/b"],  # no Python, nor a shell's line
        ["# !vllm serve a/b"],
        ["print('!vllm serve a/b')"],
        ["%%writefile serve.sh", "vllm serve a/b"],
        ["%%html", "!vllm serve a/b"],
        ["!pip install vllm"],
        ["!vllm bench serve --model a/b"],
    ],
)
def test_what_it_does_not(lines: list[str]) -> None:
    assert launches_in(notebook(cell(*lines)), "a.ipynb") == []


def test_other_cells() -> None:
    assert launches_in(notebook(cell("!vllm serve a/b", kind="markdown"), cell("!vllm serve a/b", kind="raw")), "a.ipynb") == []


def test_a_notebook_in_the_shell_s_language() -> None:
    text = notebook(cell("vllm serve a/b"), kernelspec={"language": "bash"})
    assert argv(launch_in(text, "a.ipynb")) == ["a/b"]


def test_places() -> None:
    launch, marks = marked_launch(
        """
        {
         "cells": [
          {
           "cell_type": "code",
           "outputs": [{"text": ["!vllm serve a/b"]}],
           "source": [
            "MODEL = \\"⟦a/b⟧\\"\\n",
            "!vllm serve {MODEL} \\\\\\n",
            "  --speculative-config '{\\"method\\": \\"⟦mtp⟧\\"}' --port ⟦$PORT⟧"
           ]
          }
         ]
        }
        """,
        "a.ipynb",
    )
    assert argv(launch) == ["a/b", "--speculative-config", '{"method": "mtp"}', "--port", "${PORT}"]
    assert [launch.argv[0].text.span(), launch.argv[2].text.cut(12, 15).span(), launch.argv[4].text.span()] == marks
    assert (launch.line, launch.end_line) == (8, 9)


def test_what_earlier_cells_set() -> None:
    text = notebook(
        cell("%pip install -q vllm==0.20.0"),
        cell("%env VLLM_USE_V1=0", "%set_env HF_HOME /x", "import os", "os.environ['A'] = 'b'", "os.environ['C'] = get()"),
        cell("!D=e vllm serve a/b"),
        cell("%env LATER=1"),
    )
    launch = launch_in(text, "a.ipynb")
    assert release(launch) == ("0.20.0", "pip")
    assert environment(launch) == {"VLLM_USE_V1": "0", "HF_HOME": "/x", "A": "b", "C": "get()", "D": "e"}
    assert launch.env["C"].value is not None
    assert launch.env["C"].value.value is None


def test_python_s_values_that_are_not_known() -> None:
    text = notebook(cell("m = pick()", "!vllm serve {m} --port {ports[0]} --hf-overrides '{\"a\": 1}' --seed $seed"))
    launch = launch_in(text, "a.ipynb")
    assert [word.value for word in launch.argv] == [None, "--port", None, "--hf-overrides", '{"a": 1}', "--seed", None]


def test_a_notebook_that_is_cut_short_is_a_problem() -> None:
    cell = '{"cells": [{"cell_type": "code", "source": ["SHELL"'
    cases = [("!vllm serve m --port 1", [(1, 69)]), ("import vllm", [])]
    for shell, places in cases:
        reading = read(Source("a.ipynb", cell.replace("SHELL", shell)))
        assert [(one.line, one.column) for one in reading.problems if one.message == "not valid JSON"] == places, shell
        assert reading.launches == []


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"cells": 1} vllm', '{"cells": [1, {"cell_type": "code", "source": 1}], "x": "!vllm"}']
)
def test_what_is_no_notebook(text: str) -> None:
    assert launches_in(text, "a.ipynb") == []


COMPOSE = ["services:", "  llm:", "    image: vllm/vllm-openai:v0.19.0", "    command: --model a/b"]
OBJECT = [
    "apiVersion: v1", "kind: Pod", "spec:", "  containers:", "    - name: c", "      image: vllm/vllm-openai:v0.19.0",
    "      args: [--model, a/b]",
]  # fmt: skip


@pytest.mark.parametrize(
    "lines",
    [
        ["%%writefile docker-compose.yml", *COMPOSE],
        ["%%file 'deploy/compose.yaml'", *COMPOSE],
        ["%%writefile manifests/pod.yaml", *OBJECT],
        [
            "%%writefile /etc/systemd/system/llm.service",
            "[Service]",
            "ExecStart=docker run vllm/vllm-openai:v0.19.0 --model a/b",
        ],
    ],
)
def test_a_file_that_a_cell_writes(lines: list[str]) -> None:
    launch = launch_in(notebook(cell(*lines)), "a.ipynb")
    assert (argv(launch), release(launch)[0]) == (["--model", "a/b"], "0.19.0")


@pytest.mark.parametrize(
    "lines",
    [
        ["%%writefile -a docker-compose.yml", *COMPOSE],
        ["%%writefile notes.txt", "vllm serve a/b"],
        ["%%writefile app.py", "from vllm import LLM"],
        ["%%writefile", *COMPOSE],
        ["%%html", "<pre>vllm serve a/b</pre>"],
    ],
)
def test_a_file_of_another_kind_or_a_part_of_one(lines: list[str]) -> None:
    assert launches_in(notebook(cell(*lines)), "a.ipynb") == []


@together(
    "lines",
    [
        ["## Serve", "", "```bash", "vllm serve a/b", "```"],
        ["~~~", "x", "~~~", "```", "$ vllm serve a/b", "```"],
        ["```yaml", "services:", "  llm:", "    image: vllm/vllm-openai:v0.20.0", "    command: [--model, a/b]", "```"],
        ["- run it:", "", "  ```shell", "  vllm serve a/b", "  ```"],
    ],
)
def test_what_a_markdown_cell_shows(lines: list[str]) -> None:
    launch = launch_in(notebook(cell("x = 1"), cell(*lines, kind="markdown")), "a.ipynb")
    assert argv(launch)[-1] == "a/b"
    assert launch.name.startswith("cells[1]")


def test_the_place_in_a_markdown_cell() -> None:
    text = notebook(
        cell("# Serve", "```bash", "vllm serve a/b --swap-space \u27e64\u27e7", "```", kind="markdown"), cell("!ls")
    )
    launch, marks = marked_launch(text, "a.ipynb")
    assert launch.argv[-1].text.span() == marks[0]


@pytest.mark.parametrize(
    "lines",
    [["Run `vllm serve a/b`."], ["```output", "vllm serve a/b", "```"], ["vllm serve a/b"], ["```", "no engine", "```"]],
)
def test_what_a_markdown_cell_does_not(lines: list[str]) -> None:
    assert launches_in(notebook(cell(*lines, kind="markdown")), "a.ipynb") == []
