"""Texts without a name: standard input, whose format is found by its shape and by what it starts."""

from __future__ import annotations

import pytest

from servelint.core.source import Source
from servelint.readers import read
from tests.together import together

TEXTS = {
    "compose": "services:\n  a:\n    image: vllm/vllm-openai:v0.19.1\n    command: m\n",
    "kubernetes": "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {image: 'vllm/vllm-openai:v0.19.1', args: [m]}\n",
    "json object": '{"apiVersion": "v1", "kind": "Pod", '
    '"metadata": {"name": "x"}, "spec": {"containers": [{"name": "a", "image": "a/b:1", "command": ["vllm", "serve", "m"]}]}}',
    "script": "#!/bin/bash\nvllm serve m\n",
    "script without an interpreter": "export A=1\nvllm serve \\\n  m\n",
    "script with a comment": "# start\nsource venv/bin/activate\nvllm serve m\n",
    "command": "docker run vllm/vllm-openai:v0.19.1 m\n",
    "Dockerfile": 'FROM vllm/vllm-openai:v0.19.1\nCMD ["m"]\n',
    "unit": "[Service]\nExecStart=/usr/bin/vllm serve m\n",
    "Quadlet": "[Container]\nImage=vllm/vllm-openai:v0.19.1\nExec=m\n",
    "supervisord": "[program:vllm]\ncommand=vllm serve m\n",
    "variables": 'HF_HOME=/x\nSERVE_CMD="vllm serve m"\n',
    "Procfile": "web: vllm serve m\nworker: python x.py\n",
    "Makefile": "serve:\n\tvllm serve m\n\n.PHONY: serve\n",
    "justfile": "set shell := ['bash', '-c']\nserve:\n    vllm serve m\n",
    "Markdown": "# Title\n\n```bash\nvllm serve m\n```\n",
    "workflow": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: vllm serve m\n",
    "playbook": "- hosts: all\n  tasks:\n  - name: x\n    ansible.builtin.shell: vllm serve m\n",
    "notebook": '{"cells": [{"cell_type": "code", "source": ["!vllm serve m"]}], "metadata": {}, "nbformat": 4}',
    "batch file": "@echo off\r\nset A=1\r\nvllm serve m\r\n",
    "Ray": "applications:\n- {import_path: 'a:b', args: {llm_configs: [{model_loading_config: {model_id: m}}]}}\n",
    "recipe": '{"scripts": {"serve": "vllm serve m"}}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_without_a_name(text: str) -> None:
    found = read(Source("-", text))
    assert found.problems == []
    assert [[word.shown for word in launch.argv] for launch in found.launches] == [["m"]]


@together("text", ["", "vllm", "a: b\n", "{}", "[1, 2", "serve:\n\techo vllm\n", "web: echo vllm\n", "<vllm serve m>"])
def test_a_text_that_starts_nothing(text: str) -> None:
    found = read(Source("-", text))
    assert (found.launches, found.problems) == ([], [])


@pytest.mark.parametrize(
    "text", ["model: m\nmax-model-len: 4096\nport: 8000\n", "VLLM_ARGS=--max-model-len 4096\nHF_HOME=/x\n"]
)
def test_a_part_of_a_launch(text: str) -> None:
    (launch,) = read(Source("-", text)).launches
    assert launch.fragment


def test_a_file_of_that_name_in_a_folder_is_another_thing() -> None:
    assert read(Source("folder/-x.txt", "vllm serve m\n")).launches == []
