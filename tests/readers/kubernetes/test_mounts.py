"""Scripts that ConfigMaps hold: run by a container of the file, or by nobody here."""

from __future__ import annotations

import pytest

from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release

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
