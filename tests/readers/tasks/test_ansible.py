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


@pytest.mark.parametrize("keys", [("dest", "content"), ("path", "content"), ("dest", "block"), ("path", "block")])
@pytest.mark.parametrize("module", ["copy", "blockinfile", "ansible.builtin.blockinfile"])
def test_the_keys_of_a_file_that_a_task_writes(module: str, keys: tuple[str, str]) -> None:
    dest, content = keys
    task = f"- {module}:\n        {dest}: /opt/serve.sh\n        {content}: |\n          vllm serve m --port 8000\n"
    assert argv(launch("- hosts: a\n  tasks:\n    " + task)) == ["m", "--port", "8000"]


@pytest.mark.parametrize(
    "task",
    [
        "- copy: {dest: /opt/serve.sh, content: 'echo {{ x }}'}",
        "- copy: {dest: /opt/serve.sh, content: [vllm serve m]}",
        "- copy: {content: vllm serve m}",
        "- copy: {dest: /opt/serve.sh, src: serve.sh}",
        "- template: {dest: /opt/serve.sh, content: vllm serve m}",
    ],
)
def test_a_task_that_writes_no_launch(task: str) -> None:
    assert launches_in(f"- hosts: a\n  tasks:\n    {task}\n", "playbook.yml") == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("- hosts: a\n  roles: [vllm]\n", []),
        ("- a: 1\n- shell: vllm serve m\n", [""]),
        ("a: 1\n", []),
        ("- my.own.shell: vllm serve m\n- name: b\n  command: vllm serve m\n", ["", "b"]),
        ("- own.shell: vllm serve m\n- name: b\n  shell: vllm serve m\n", ["b"]),  # a collection's name has two parts
        ("- name: a\n  shell: vllm serve m\n- name: a\n  shell: vllm serve m\n", ["a", "a #2"]),
    ],
)
def test_the_tasks_that_start_something(text: str, names: list[str]) -> None:
    assert [one.name for one in launches_in(text, "tasks.yml")] == names


def test_blocks_in_blocks() -> None:
    text = "- hosts: a\n  tasks: [{environment: {A: 1, C: 3}, block: [{environment: {A: 2}, always: [{raw: vllm serve m}]}]}]\n"
    assert environment(launch_in(text, "playbook.yml")) == {"A": "2", "C": "3"}
    for depth, count in ((12, 1), (13, 0)):
        nested = "{block: [" * depth + "{shell: vllm serve m}" + "]}" * depth
        assert len(launches_in(f"- {nested}\n", "tasks.yml")) == count


@pytest.mark.parametrize(
    ("fields", "words", "settings"),
    [
        ("command: --model m\n    entrypoint: vllm serve", ["--model", "m"], {}),
        ("cmd: [--model, m]\n    shm_size: 4g\n    runtime: nvidia\n    ipc: host", ["--model", "m"], {
            "shm_size": "4g", "runtime": "nvidia", "ipc": "host",
        }),
        ("command: [--model, 'a b']\n    cmd: --model other", ["--model", "a b"], {}),
        ("entrypoint: [vllm]\n    command: [serve, m]", ["m"], {}),
    ],
)  # fmt: skip
def test_the_command_and_settings_of_a_container(fields: str, words: list[str], settings: dict[str, str]) -> None:
    text = f"- name: llm\n  docker_container:\n    image: vllm/vllm-openai:v0.20.0\n    {fields}\n"
    found = launch(text)
    assert (found.name, argv(found)) == ("llm", words)
    assert found.container is not None
    assert {name: value.shown for name, value in found.container.settings.items()} == settings
    assert not found.open_env
    assert launch(text + "    env_file: serve.env\n").open_env


def test_the_place_of_a_container() -> None:
    text = "- docker_container:\n    image: vllm/vllm-openai:v0.20.0\n    command: --model m\n    name: x\n"
    assert launch_in(text, "t.yml").site.text == "command: --model m"
    whole = "- docker_container: {image: 'nvcr.io/nim/meta/llama:1'}\n- docker_container: {command: --model m}\n"
    assert [one.site.text for one in launches_in(whole, "t.yml")] in ([], ["image: 'nvcr.io/nim/meta/llama:1'"])


@pytest.mark.parametrize(
    ("dest", "content"),
    [
        (
            "/etc/systemd/system/a.service",
            ["[Service]", "ExecStart=/opt/vllm serve m --no-such{% if x %} \\", "  --port 80{% endif %}"],
        ),
        ("/opt/run.sh", ["#!/bin/bash", "exec vllm serve m --no-such{% if x %} --port 80{% endif %}"]),
        ("/opt/{{ name }}.service", ["[Service]", "ExecStart=/opt/vllm serve m --no-such{%- if x %} -v{%- endif %}"]),
    ],
)
def test_blocks_in_a_file_that_a_task_writes(dest: str, content: list[str]) -> None:
    text = "".join(f"          {line}\n" for line in content)
    play = f"- hosts: a\n  tasks:\n    - copy:\n        dest: {dest}\n        content: |\n{text}"
    words = launch_in(play, "playbook.yml").argv
    assert [word.value for word in words[:2]] == ["m", "--no-such"]
    assert not any("{%" in word.text.flat for word in words)
    site = words[1].site
    assert site is not None
    assert play[site.start : site.end] == "--no-such"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("{line: 'ExecStart={{ d }}/bin/vllm serve m --port 8', path: /etc/systemd/system/v.service}", ["m", "--port", "8"]),
        ("{option: ExecStart, value: '{{ d }}/bin/vllm serve m', path: /etc/systemd/system/v.service}", ["m"]),
    ],
)
def test_a_line_that_a_task_puts_into_a_unit(fields: str, words: list[str]) -> None:
    module = "lineinfile" if "line:" in fields else "community.general.ini_file"
    found, marks = marked_launch(f"- {module}: {fields}\n".replace("serve m", "serve \u27e6m\u27e7"), "tasks.yml")
    assert argv(found) == words
    assert spans(found.argv)[:1] == marks


@pytest.mark.parametrize(
    "fields", ["{line: '# vllm serve m', path: /a}", "{option: Description, value: vllm serve m, path: /a}", "{path: /a}"]
)
def test_another_line(fields: str) -> None:
    assert launches_in(f"- lineinfile: {fields}\n", "tasks.yml") == []


UNIT = (
    "- copy:\n    dest: /etc/systemd/system/v.service\n    content: |\n      [Service]\n      ExecStart={}/bin/vllm serve m\n"
)


def test_a_list_of_tasks_that_only_writes_files() -> None:
    assert argv(launch(UNIT.format("{{ d }}"))) == ["m"]


@pytest.mark.parametrize(
    ("tasks", "pinned"),
    [
        ("- pip: {name: vllm==0.9.1, virtualenv: '{{ d }}'}\n", "0.9.1"),
        ("- pip: {name: [torch, vllm==0.9.1], executable: '{{ d }}/bin/pip'}\n", "0.9.1"),
        ("- pip: {name: vllm, version: 0.9.1, virtualenv: '{{ d }}'}\n", "0.9.1"),
        ("- command: '{{ d }}/bin/pip install vllm==0.9.1'\n", "0.9.1"),
        ("- shell: |\n    cd /x\n    {{ d }}/bin/pip install \\\n      vllm==0.9.1\n", "0.9.1"),
        ("- pip: {name: vllm==0.9.1, virtualenv: /another}\n", None),
        ("- pip: {name: vllm==0.9.1}\n", None),
        ("- pip: {name: vllm, virtualenv: '{{ d }}'}\n", None),
        ("- pip: {name: 'vllm=={{ v }}', virtualenv: '{{ d }}'}\n", None),
        ("- pip: {name: vllm==0.9.1, virtualenv: '{{ d }}'}\n- pip: {name: vllm==0.9.2, virtualenv: '{{ d }}'}\n", None),
    ],
)
def test_the_release_in_the_environment_of_a_unit(tasks: str, pinned: str | None) -> None:
    assert launch(tasks + UNIT.format("{{ d }}")).release.release == pinned


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("vllm serve m {% if q %}--quantization {{ q }}{% endif %} --port 1", "--quantization {{ q }}"),
        ("vllm serve m {{ '--quantization ' ~ q if q else '' }} --port 1", "{{ '--quantization ' ~ q if q else '' }}"),
    ],
)
@pytest.mark.parametrize("task", ['- command: "{}"\n', '- shell: "{}"\n'])
def test_an_option_that_a_condition_leaves_out(task: str, command: str, option: str) -> None:
    found = launch(task.format(command))
    assert argv(found) == ["m", option, "--port", "1"]
    (other,) = found.alternatives
    assert argv(other) == ["m", "--quantization", "{{ q }}", "--port", "1"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "\"{{ ['--model', 'a/b', '--port', port | string] + extra }}\"",
            ["--model", "a/b", "--port", "port | string", "extra..."],
        ),
        ('\'{{ ["m"] + (["--tp"] if x else []) + ["--seed", "1"] }}\'', ["m", '(["--tp"] if x else [])...', "--seed", "1"]),
        ("\"{{ ['m', 'a, b + c'] }}\"", ["m", "a, b + c"]),
        ("\"{{ ['m'] + (a if b else c) | list }}\"", ["m", "(a if b else c) | list..."]),
        # the condition chooses among the lists
        ("\"{{ ['m'] + a if b else c }}\"", ["{{ ['m'] + a if b else c }}..."]),
        ("\"{{ [['m']] }}\"", ["[['m']]..."]),
    ],
)
def test_lists_that_an_expression_adds(command: str, words: list[str]) -> None:
    text = f"""
    - hosts: gpus
      tasks:
        - community.docker.docker_container:
            image: vllm/vllm-openai:v0.19.1
            command: {command}
    """
    assert [word.shown + "..." * word.many for word in launch(text).argv] == words
