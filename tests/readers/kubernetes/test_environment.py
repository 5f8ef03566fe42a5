"""What reaches a container: variables, references to them, mounted files."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release

CONTAINER = """\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  containers:
    - name: s
      image: vllm/vllm-openai:v0.20.0
"""
CONFIG_MAP = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  VLLM_LOGGING_LEVEL: DEBUG
  model: Qwen/Qwen3-8B
"""
SECRET = """\
---
apiVersion: v1
kind: Secret
metadata: {name: token}
stringData: {HF_TOKEN: abc}
"""


def launch_of(fields: str, more: str = "") -> Launch:
    return launch_in(CONTAINER + "".join([f"      {line}\n" for line in fields.strip().splitlines()]) + more, "pod.yaml")


class TestEnv:
    def test_values(self) -> None:
        launch = launch_of("env:\n- name: A\n  value: '1'\n- name: B\n  value: 2\n- name: C\n- name: D\n  value:")
        assert environment(launch) == {"A": "1", "B": "2", "C": "", "D": ""}
        assert not launch.open_env

    def test_the_last_of_one_name_wins(self) -> None:
        assert environment(launch_of("env: [{name: A, value: x}, {name: B, value: b}, {name: A, value: y}]")) == {
            "B": "b",
            "A": "y",
        }

    def test_spans(self) -> None:
        launch, marks = marked_launch(CONTAINER + "      env:\n        - name: ⟦A⟧\n          value: '⟦x⟧'\n", "pod.yaml")
        variable = launch.env["A"]
        assert [variable.site, variable.value.span() if variable.value else None] == marks

    @pytest.mark.parametrize(
        "source",
        [
            "{secretKeyRef: {name: hf, key: token}}",
            "{configMapKeyRef: {name: elsewhere, key: a}}",
            "{fieldRef: {fieldPath: status.podIP}}",
            "{resourceFieldRef: {resource: limits.cpu}}",
            "",
        ],
    )
    def test_a_value_that_only_the_cluster_knows(self, source: str) -> None:
        launch = launch_of(f"env:\n- name: A\n  valueFrom: {source}")
        assert environment(launch) == {"A": "<valueFrom>"}
        assert launch.env["A"].value is not None
        assert launch.env["A"].value.value is None

    def test_a_value_from_objects_of_the_same_file(self) -> None:
        launch = launch_of(
            "env:\n- name: A\n  valueFrom: {configMapKeyRef: {name: settings, key: model}}\n"
            "- name: B\n  valueFrom: {secretKeyRef: {name: token, key: HF_TOKEN}}\n"
            "- name: C\n  valueFrom: {configMapKeyRef: {name: settings, key: other}}",
            CONFIG_MAP + SECRET,
        )
        assert environment(launch) == {"A": "Qwen/Qwen3-8B", "B": "abc", "C": "<valueFrom>"}

    def test_a_placeholder_is_not_known(self) -> None:
        launch = launch_of("env: [{name: HF_TOKEN, value: $HF_TOKEN}, {name: A, value: 'x-${B}'}]")
        assert environment(launch) == {"HF_TOKEN": "$HF_TOKEN", "A": "x-${B}"}
        assert [variable.value.value for variable in launch.env.values() if variable.value] == [None, None]

    def test_an_item_without_a_name_leaves_more_open(self) -> None:
        assert launch_of("env: [{$patch: replace}, {name: A, value: b}]").open_env

    def test_a_mapping_as_operators_take_it(self) -> None:
        assert environment(launch_of("env: {A: x, B: $(A)/y}")) == {"A": "x", "B": "x/y"}


class TestEnvFrom:
    def test_a_config_map_of_the_same_file(self) -> None:
        launch = launch_of("envFrom: [{configMapRef: {name: settings}}]", CONFIG_MAP)
        assert environment(launch) == {"VLLM_LOGGING_LEVEL": "DEBUG", "model": "Qwen/Qwen3-8B"}
        assert not launch.open_env

    def test_a_prefix(self) -> None:
        launch = launch_of("envFrom: [{prefix: X_, configMapRef: {name: settings}}]", CONFIG_MAP)
        assert list(environment(launch)) == ["X_VLLM_LOGGING_LEVEL", "X_model"]

    def test_env_wins(self) -> None:
        launch = launch_of(
            "env: [{name: VLLM_LOGGING_LEVEL, value: INFO}]\nenvFrom: [{configMapRef: {name: settings}}]", CONFIG_MAP
        )
        assert environment(launch)["VLLM_LOGGING_LEVEL"] == "INFO"

    @pytest.mark.parametrize("source", ["configMapRef: {name: elsewhere}", "secretRef: {name: token}", "secretRef: {name: x}"])
    def test_what_stands_elsewhere_leaves_more_open(self, source: str) -> None:
        assert launch_of(f"envFrom: [{{{source}}}]", CONFIG_MAP + SECRET).open_env


class TestReferences:
    def test_in_args(self) -> None:
        launch, marks = marked_launch(
            CONTAINER + "      args: [--model=$(MODEL), --port, ⟦$(PORT)⟧]\n"
            "      env: [{name: MODEL, value: ⟦m⟧}, {name: PORT, value: '⟦80⟧'}]\n",
            "pod.yaml",
        )
        assert argv(launch) == ["--model=m", "--port", "80"]
        assert launch.argv[2].site == marks[0]
        assert [launch.argv[0].text.span(8), launch.argv[2].text.span()] == marks[1:]

    def test_only_earlier_variables_in_values(self) -> None:
        launch = launch_of("env: [{name: A, value: $(B)}, {name: B, value: b}, {name: C, value: $(B)$(A)}]")
        assert environment(launch) == {"A": "$(B)", "B": "b", "C": "b$(B)"}

    def test_variables_of_env_from(self) -> None:
        launch = launch_of("args: [$(model)]\nenvFrom: [{configMapRef: {name: settings}}]", CONFIG_MAP)
        assert argv(launch) == ["Qwen/Qwen3-8B"]

    @pytest.mark.parametrize(
        ("text", "shown"),
        [("$$(A)", "$(A)"), ("$$", "$"), ("$(A", "$(A"), ("a$", "a$"), ("$(not a name)", "$(not a name)"), ("$1", "$1")],
    )
    def test_what_stays(self, text: str, shown: str) -> None:
        launch = launch_of(f"args: ['{text}']\nenv: [{{name: A, value: x}}]")
        assert [word.value for word in launch.argv] == [shown]

    @pytest.mark.parametrize("text", ["$(LWS_LEADER_ADDRESS)", "$(SECRET)", "$MODEL", "${MODEL}", "${MODEL:=m}"])
    def test_what_is_not_known(self, text: str) -> None:
        launch = launch_of(f"args: [a, '{text}:80']\nenv: [{{name: SECRET, valueFrom: {{secretKeyRef: {{name: x, key: y}}}}}}]")
        assert argv(launch)[1] == f"{text}:80"
        assert launch.argv[1].value is None
        assert not launch.argv[1].many

    def test_the_dollars_of_a_script_are_the_shells(self) -> None:
        launch = launch_of(
            "command: [bash, -c, 'MODEL=m; vllm serve $MODEL --port $(PORT) --host $(hostname) \"$@\"', x, --seed, $(SEED)]\n"
            "env: [{name: PORT, value: '80'}]"
        )
        assert argv(launch) == ["m", "--port", "80", "--host", "$(hostname)", "--seed", "$(SEED)"]

    def test_a_variable_of_a_script_that_only_the_cluster_knows(self) -> None:
        launch = launch_of(
            "command: [bash, -c, 'vllm serve $MODEL --port ${PORT:-8000}']\n"
            "env: [{name: MODEL, valueFrom: {secretKeyRef: {name: x, key: y}}}]"
        )
        assert argv(launch) == ["${MODEL}", "--port", "8000"]
        assert environment(launch)["MODEL"] == "<valueFrom>"

    def test_values_that_double_each_time(self) -> None:
        doubled = "".join([f", {{name: E{at}, value: $(E{at - 1})$(E{at - 1})}}" for at in range(1, 60)])
        launch = launch_of(f"args: [$(E59)]\nenv: [{{name: E0, value: xxxxxxxx}}{doubled}]")
        assert launch.argv[0].value is None


SCRIPT = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: scripts}
data:
  start.sh: |
    #!/bin/bash
    exec vllm serve ⟦$MODEL⟧ --port ⟦${1:-8000}⟧
  notes.txt: |
    vllm serve is what start.sh runs
"""


def pod(fields: str, volume: str = "configMap: {name: scripts}", mount: str = "mountPath: /scripts") -> str:
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: llm}}
spec:
  volumes: [{{name: v, {volume}}}]
  containers:
    - name: s
      image: vllm/vllm-openai:v0.20.0
      {fields}
      env: [{{name: MODEL, value: m}}]
      volumeMounts: [{{name: v, {mount}}}]
"""


class TestRun:
    @pytest.mark.parametrize(
        "fields",
        [
            "command: [bash, /scripts/start.sh]",
            "command: [/scripts/start.sh]",
            "command: [/bin/bash]\n      args: [-x, /scripts/start.sh]",
            "command: [tini, --, bash, /scripts/start.sh]",
            "command: [sh, -c, 'sleep 1; exec bash /scripts/start.sh']",
        ],
    )
    def test_by_a_container(self, fields: str) -> None:
        launch = launch_in(pod(fields) + SCRIPT.replace("⟦", "").replace("⟧", ""), "pod.yaml")
        assert argv(launch) == ["m", "--port", "8000"]
        assert release(launch) == ("0.20.0", "image")
        assert environment(launch)["MODEL"] == "m"
        assert launch.name == "Pod/llm.containers.s"

    def test_words_stand_in_the_script(self) -> None:
        launch, marks = marked_launch(pod("command: [/scripts/start.sh, '9000']") + SCRIPT, "pod.yaml")
        assert argv(launch) == ["m", "--port", "9000"]
        assert [launch.argv[at].site for at in (0, 2)] == marks

    @pytest.mark.parametrize(
        ("volume", "mount", "path"),
        [
            ("configMap: {name: scripts, items: [{key: start.sh, path: bin/run.sh}]}", "mountPath: /opt/", "/opt/bin/run.sh"),
            ("configMap: {name: scripts}", "mountPath: /run.sh, subPath: start.sh", "/run.sh"),
            ("projected: {sources: [{secret: {name: x}}, {configMap: {name: scripts}}]}", "mountPath: /a", "/a/start.sh"),
        ],
    )
    def test_ways_to_mount(self, volume: str, mount: str, path: str) -> None:
        launch = launch_in(
            pod(f"command: [bash, {path}]", volume, mount) + SCRIPT.replace("⟦", "").replace("⟧", ""), "pod.yaml"
        )
        assert launch.name == "Pod/llm.containers.s"


class TestNotRun:
    def names(self, text: str) -> list[str]:
        return [launch.name for launch in launches_in(text.replace("⟦", "").replace("⟧", ""), "pod.yaml")]

    @pytest.mark.parametrize("path", ["/scripts/other.sh", "/elsewhere/start.sh"])
    def test_another_file_leaves_the_script_on_its_own(self, path: str) -> None:
        assert self.names(pod(f"command: [bash, {path}]") + SCRIPT) == ["ConfigMap/scripts.start.sh"]

    def test_a_script_that_is_sourced_is_told_on_its_own(self) -> None:
        assert self.names(pod("command: [bash, -c, 'source /scripts/start.sh']") + SCRIPT) == ["ConfigMap/scripts.start.sh"]

    def test_on_its_own(self) -> None:
        text = SCRIPT.removeprefix("---\n")
        launch, marks = marked_launch(text, "scripts.yaml")
        assert argv(launch) == ["${MODEL}", "--port", "8000"]
        assert [launch.argv[at].site for at in (0, 2)] == marks
        assert launch.open_env
        assert launch.name == "ConfigMap/scripts.start.sh"

    def test_a_script_without_its_ending_is_known_by_its_first_line(self) -> None:
        assert self.names(SCRIPT.replace("start.sh", "start")) == ["ConfigMap/scripts.start"]
        assert self.names(SCRIPT.replace("start.sh", "start").replace("#!/bin/bash", "# bash")) == []

    def test_what_is_no_script(self) -> None:
        text = (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {readme.md: '    vllm serve m', run.py: vllm serve m}"
        )
        assert self.names(text) == []


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: s
          image: vllm/vllm-openai:v0.20.0
          command: [/bin/bash, -c, "cd /work && ./serve.sh"]
          volumeMounts: [{name: scripts, mountPath: /work/serve.sh, subPath: serve.sh}]
      volumes: [{name: scripts, configMap: {name: llm-scripts}}]
"""
SCRIPTS = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: llm-scripts}\ndata:\n  serve.sh: |\n    vllm serve m/m --port 8000\n"
)


class TestConfigMapsBeside:
    @pytest.mark.parametrize("name", ["config.yaml", "llm-scripts.yaml", "llm-scripts-configmap.yaml"])
    def test_a_script_in_another_file(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text(SCRIPTS)
        launch = launch_in(DEPLOYMENT, "llm.yaml", tmp_path)
        assert argv(launch) == ["m/m", "--port", "8000"]
        assert launch.source.path == launch.site.source.path == "llm.yaml"
        assert release(launch) == ("0.20.0", "image")

    def test_a_script_that_a_kustomization_puts_there(self, tmp_path: Path) -> None:
        (tmp_path / "start.sh").write_text("vllm serve m/m --port 8000\n")
        (tmp_path / "kustomization.yaml").write_text(
            "configMapGenerator:\n  - name: llm-scripts\n    files: [serve.sh=start.sh]\n    literals: [A=b]\n"
        )
        assert argv(launch_in(DEPLOYMENT, "llm.yaml", tmp_path)) == ["m/m", "--port", "8000"]

    @pytest.mark.parametrize("name", ["../config/any.yaml", "any.yml", "../any.yaml", "../01-configmaps/any.yaml"])
    def test_a_script_in_a_file_of_any_name(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "llm").mkdir()
        path = tmp_path / "llm" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(SCRIPTS)
        assert argv(launch_in(DEPLOYMENT, "llm.yaml", tmp_path / "llm")) == ["m/m", "--port", "8000"]

    def test_a_variable_of_what_a_kustomization_above_puts_beside_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "base" / "llm").mkdir(parents=True)
        (tmp_path / "base" / "kustomization.yaml").write_text("resources: [settings/model.yaml, llm]\n")
        (tmp_path / "base" / "settings").mkdir()
        config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: model}\ndata: {MODEL: m/m}\n"
        (tmp_path / "base" / "settings" / "model.yaml").write_text(config_map)
        text = (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: llm}\nspec:\n  containers:\n    - name: llm\n"
            "      image: vllm/vllm-openai:v0.20.0\n      args: [--model=$(MODEL), --port=$(PORT)]\n"
            "      envFrom: [{configMapRef: {name: model}}]\n"
        )
        launch = launch_in(text, "llm.yaml", tmp_path / "base" / "llm")
        assert argv(launch) == ["--model=m/m", "--port=$(PORT)"]
        assert not launch.mishaps  # an overlay may add the port
        span = launch.argv[0].text.pieces[-1].span
        assert span is not None
        assert (Path(span.source.path).name, span.text) == ("model.yaml", "m/m")

    def test_two_that_differ_in_one_folder(self, tmp_path: Path) -> None:
        (tmp_path / "one.yaml").write_text(SCRIPTS)
        (tmp_path / "two.yaml").write_text(SCRIPTS.replace("8000", "9000"))
        assert launches_in(DEPLOYMENT, "llm.yaml", tmp_path) == []

    def test_one_that_is_nowhere(self, tmp_path: Path) -> None:
        assert launches_in(DEPLOYMENT, "llm.yaml", tmp_path) == []


def test_both_branches_of_a_group_s_rank() -> None:
    text = """
        apiVersion: leaderworkerset.x-k8s.io/v1
        kind: LeaderWorkerSet
        metadata: {name: x}
        spec:
          leaderWorkerTemplate:
            size: 2
            workerTemplate:
              spec:
                containers:
                  - name: a
                    image: vllm/vllm-openai:v0.9.0
                    command: [/bin/sh, -c]
                    args:
                      - |
                        if [ "${LWS_WORKER_INDEX:-0}" -eq 0 ]; then exec vllm serve m --port 1
                        else exec vllm serve m --headless; fi
        """
    found = launches_in(text, "lws.yaml")
    assert [argv(launch)[-1] for launch in found] == ["1", "--headless"]
    assert all(launch.likely for launch in found)
    assert len({launch.name for launch in found}) == 2


def test_a_python_script_of_a_config_map() -> None:
    text = CONTAINER + (
        '      command: ["python3", "/scripts/launch.py"]\n'
        "      volumeMounts: [{name: s, mountPath: /scripts}]\n"
        "  volumes: [{name: s, configMap: {name: scripts}}]\n"
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts}\ndata:\n  launch.py: |\n"
        '    import subprocess\n    subprocess.run(["vllm", "serve", "m", "--seed", "1"])\n'
    )
    launch = launch_in(text, "pod.yaml")
    assert argv(launch) == ["m", "--seed", "1"]
    assert release(launch)[0] == "0.20.0"
