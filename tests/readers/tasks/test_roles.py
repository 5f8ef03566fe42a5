"""Templates of roles, whose variables stand beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.readers import read
from tests.launching import argv

UNIT = "[Service]\nExecStart=/opt/bin/vllm serve {{ model }} --port {{ port | default(8000) }}\n"
COMPOSE = (
    "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    command: [--model, '{{ model }}', --port, '{{ port }}']\n"
    "    restart: {{ restart }}\n"
)


def words(folder: Path, files: dict[str, str], name: str = "templates/llm.service.j2", text: str = UNIT) -> list[str]:
    """The words of the launch of a role's template."""
    (folder / "templates").mkdir()
    for path, content in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(content)
    found = read(Source(name, text), Neighbours(str((folder / name).parent), str(Path(name).parent))).launches
    assert len(found) == 1
    assert all(word.text.assumed or not word.shown.startswith("org/") for word in found[0].argv)
    return argv(found[0])


class TestRoles:
    def test_defaults(self, tmp_path: Path) -> None:
        assert words(tmp_path, {"defaults/main.yml": "model: org/m\nport: 9000\n"}) == ["org/m", "--port", "9000"]

    def test_variables_come_before_defaults(self, tmp_path: Path) -> None:
        files = {"defaults/main.yml": "model: org/a\nport: 1\n", "vars/main.yaml": "model: org/b\n"}
        assert words(tmp_path, files) == ["org/b", "--port", "1"]

    def test_a_compose_file(self, tmp_path: Path) -> None:
        found = words(tmp_path, {"defaults/main.yml": "model: org/m\nport: 9000\n"}, "templates/compose.yml.j2", COMPOSE)
        assert found == ["--model", "org/m", "--port", "9000"]

    @pytest.mark.parametrize("value", ["'{{ other }}'", "[a, b]", "", "''"])
    def test_what_is_no_plain_value_is_unknown(self, tmp_path: Path, value: str) -> None:
        assert words(tmp_path, {"defaults/main.yml": f"model: {value}\nport: 1\n"}) == ["{{ model }}", "--port", "1"]

    def test_a_template_elsewhere_has_none(self, tmp_path: Path) -> None:
        files = {"defaults/main.yml": "model: org/m\n"}
        assert words(tmp_path, files, "files/llm.service.j2")[0] == "{{ model }}"

    def test_variables_of_all_hosts(self, tmp_path: Path) -> None:
        role = tmp_path / "roles" / "llm"
        role.mkdir(parents=True)
        (tmp_path / "group_vars").mkdir()
        (tmp_path / "group_vars" / "all.yml").write_text("model: org/g\nport: 1\n")
        assert words(role, {"defaults/main.yml": "model: org/d\nport: 2\n"}) == ["org/g", "--port", "1"]

    def test_quoted_by_the_role(self, tmp_path: Path) -> None:
        unit = UNIT.replace("{{ model }}", "{{ model | quote }}")
        assert words(tmp_path, {"defaults/main.yml": "model: org/m\nport: 1\n"}, text=unit) == ["org/m", "--port", "1"]


class TestTasks:
    """The tasks of a role know its variables too."""

    DEFAULTS = "tag: v0.11.0\nmodel: org/m\nvenv: /opt/venv\nport: 8001\n"

    @pytest.mark.parametrize(
        "task",
        [
            "docker_container: {image: 'vllm/vllm-openai:{{ tag }}', command: '--model {{ model }} --port {{ port }}'}",
            (
                "containers.podman.podman_container:\n    image: vllm/vllm-openai:{{ tag }}\n"
                "    command: [--model, '{{ model }}', --port, '{{ port }}']"
            ),
            "ansible.builtin.shell: docker run vllm/vllm-openai:{{ tag }} --model {{ model }} --port {{ port | default(1) }}",
            (
                "copy:\n    dest: /etc/containers/systemd/llm.container\n    content: |\n      [Container]\n"
                "      Image=docker.io/vllm/vllm-openai:{{ tag }}\n      Exec=--model {{ model }} --port {{ port }}"
            ),
        ],
    )
    @pytest.mark.parametrize("folder", ["tasks", "handlers"])
    def test_the_defaults_of_the_role(self, tmp_path: Path, task: str, folder: str) -> None:
        text = f"- name: llm\n  {task}\n"
        assert words(tmp_path, {"defaults/main.yml": self.DEFAULTS, f"{folder}/main.yml": ""}, f"{folder}/main.yml", text) == [
            "--model", "org/m", "--port", "8001",
        ]  # fmt: skip

    def test_what_no_file_of_the_role_says(self, tmp_path: Path) -> None:
        text = "- name: llm\n  shell: vllm serve {{ item.model }} --port {{ other }}\n"
        files = {"defaults/main.yml": self.DEFAULTS, "tasks/main.yml": ""}
        assert words(tmp_path, files, "tasks/main.yml", text) == ["{{ item.model }}", "--port", "{{ other }}"]

    BUILT = """
- name: build
  ansible.builtin.set_fact:
    _command: >-
      --model {{ model }}
      --port {{ port }} {{ extra }}
- name: start
  community.docker.docker_container:
    image: vllm/vllm-openai:{{ tag }}
    command: "{{ _command }}"
"""

    def test_a_fact_that_a_task_sets(self, tmp_path: Path) -> None:
        files = {"defaults/main.yml": self.DEFAULTS, "tasks/main.yml": ""}
        assert words(tmp_path, files, "tasks/main.yml", self.BUILT) == ["--model", "org/m", "--port", "8001", "{{ extra }}"]

    @pytest.mark.parametrize("more", ["  when: large\n", "- set_fact: {_command: --model org/other}\n"])
    def test_a_fact_that_depends_on_what_runs(self, tmp_path: Path, more: str) -> None:
        files = {"defaults/main.yml": self.DEFAULTS, "tasks/main.yml": ""}
        text = self.BUILT.replace("- name: start\n", more + "- name: start\n")
        assert words(tmp_path, files, "tasks/main.yml", text) == ["{{ _command }}"]


PLAYBOOK = """
- hosts: all
  vars:
    tag: v0.11.0
    model: org/m
  {more}
  tasks:
    - block:
        - name: start
          shell: docker run vllm/vllm-openai:{{{{ tag }}}} --model {{{{ model }}}} --port {{{{ port }}}}
"""


class TestPlaybooks:
    """The variables of a playbook hold in its tasks."""

    @pytest.mark.parametrize(
        ("more", "path", "port"),
        [
            ("gather_facts: false", "x.yml", "{{ port }}"),
            ("vars_files: [own.yml]", "own.yml", "8002"),
            ("vars_files: [own.yml]", "group_vars/all.yml", "8002"),
            ("pre_tasks: [{set_fact: {port: '8003'}}]", "group_vars/all.yml", "8003"),
        ],
    )
    def test_variables(self, tmp_path: Path, more: str, path: str, port: str) -> None:
        found = words(tmp_path, {path: "port: 8002\n"}, "site.yml", PLAYBOOK.format(more=more))
        assert found == ["--model", "org/m", "--port", port]
