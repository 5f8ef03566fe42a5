"""Ansible: commands and containers of playbooks and roles."""

from __future__ import annotations

from textwrap import dedent

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, lines, marked_launch, release, spans


def launch(text: str) -> Launch:
    return launch_in(dedent(text), "playbook.yml")


def test_a_shell() -> None:
    found, marks = marked_launch(
        """
        - hosts: gpus
          environment: {A: play, B: play}
          tasks:
            - name: start the server
              ansible.builtin.shell: |
                cd /srv
                nohup vllm serve \u27e6{{ model }}\u27e7 --port \u27e68000\u27e7 &
              environment: {B: task}
        """,
        "playbook.yml",
    )
    assert argv(found) == ["{{ model }}", "--port", "8000"]
    assert found.argv[0].value is None
    assert [spans(found.argv)[0], spans(found.argv)[2]] == marks
    assert environment(found) == {"A": "play", "B": "task"}
    assert (found.name, lines(found)) == ("start the server", (7, 7))


@pytest.mark.parametrize(
    "task",
    [
        "- shell: vllm serve m --port 1",
        "- command: vllm serve m --port 1",
        "- command: {cmd: vllm serve m --port 1}",
        "- ansible.builtin.command:\n    argv: [vllm, serve, m, --port, '1']",
        "- command:\n  args: {cmd: vllm serve m --port 1}",
        "- block:\n    - raw: vllm serve m --port 1\n  rescue: []",
        "- name: play\n  hosts: all\n  pre_tasks:\n    - shell: vllm serve m --port 1",
    ],
)
def test_modules(task: str) -> None:
    assert argv(launch(task + "\n")) == ["m", "--port", "1"]


def test_a_command_has_no_shell() -> None:
    found = launch("- command: vllm serve $MODEL\n")
    assert found.argv[0].value == "$MODEL"


@pytest.mark.parametrize(
    "module", ["docker_container", "community.docker.docker_container", "containers.podman.podman_container"]
)
def test_containers(module: str) -> None:
    found = launch(f"""
        - name: llm
          {module}:
            image: vllm/vllm-openai:v0.20.0
            command: --model m
            env: {{HF_HOME: /cache}}
            ipc_mode: host
    """)
    assert (argv(found), environment(found), release(found)) == (["--model", "m"], {"HF_HOME": "/cache"}, ("0.20.0", "image"))
    assert found.container is not None
    assert found.container.settings["ipc"].value == "host"


@pytest.mark.parametrize(
    "task",
    [
        "- pip: {name: vllm==0.20.0}",
        "- debug: {msg: vllm serve m}",
        "- docker_image: {name: 'vllm/vllm-openai:v0.20.0'}",
        "- shell: systemctl restart vllm",
        "- include_tasks: vllm.yml",
    ],
)
def test_what_starts_nothing(task: str) -> None:
    assert launches_in(task + "\n", "tasks.yml") == []


@pytest.mark.parametrize("module", ["copy", "ansible.builtin.copy"])
def test_a_file_that_a_task_writes(module: str) -> None:
    found, marks = marked_launch(
        f"""
        - hosts: gpus
          tasks:
            - name: unit
              {module}:
                dest: /etc/systemd/system/vllm.service
                content: |
                  [Service]
                  Environment=HF_HOME=/x
                  ExecStart=/opt/bin/vllm serve \u27e6m/m\u27e7 --port 8000
        """,
        "playbook.yml",
    )
    assert argv(found) == ["m/m", "--port", "8000"]
    assert environment(found) == {"HF_HOME": "/x"}
    assert spans(found.argv)[:1] == marks


def test_a_file_of_another_kind_that_a_task_writes() -> None:
    text = "- hosts: gpus\n  tasks:\n    - copy: {dest: /etc/motd, content: 'vllm serve m runs here'}\n"
    assert launches_in(text, "playbook.yml") == []
