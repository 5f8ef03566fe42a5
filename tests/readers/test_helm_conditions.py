"""Charts whose conditions, commands, releases and engines only their values and their own file tell."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.files.siblings import Neighbours, from_disk
from servelint.readers import mentions_engine, read
from servelint.syntax import yaml
from tests.launching import argv, launches_in, release
from tests.running import Workspace

HEAD = """\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  containers:
    - name: {{ .Chart.Name }}
"""
IMAGE = """\
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
"""
ENGINE = """\
      image: vllm/vllm-openai:v0.19.0
"""
VALUES = """\
image: {repository: vllm/vllm-openai, tag: ""}
model: org/m
"""


def rendered(folder: Path, template: str, values: str = VALUES, version: str = "v0.11.0") -> list[Launch]:
    """The launches of a template of a chart."""
    templates = folder / "templates"
    templates.mkdir()
    (folder / "values.yaml").write_text(values)
    (folder / "Chart.yaml").write_text(f"name: chart\nappVersion: {version}\n")
    found = read(Source("templates/pod.yaml", template), Neighbours(str(templates), "templates"))
    assert found.problems == []
    return found.launches


class TestNames:
    def test_an_engine_that_only_the_values_name(self, tmp_path: Path) -> None:
        text = HEAD + IMAGE + "      args: [--model, '{{ .Values.model }}']\n"
        assert mentions_engine(text.encode())
        (launch,) = rendered(tmp_path, text)
        assert argv(launch) == ["--model", "org/m"]
        assert release(launch) == ("0.11.0", "image")

    def test_values_that_name_none(self, tmp_path: Path) -> None:
        text = HEAD + IMAGE + "      args: [--model, m]\n"
        assert rendered(tmp_path, text, "image: {repository: nginx}\n") == []

    def test_a_tag_of_the_values_comes_before_the_chart_s(self, tmp_path: Path) -> None:
        text = HEAD + IMAGE + "      args: [--model, m]\n"
        (launch,) = rendered(tmp_path, text, VALUES.replace('""', "v0.9.1"))
        assert release(launch)[0] == "0.9.1"

    def test_the_default_repository_of_several_models(self, tmp_path: Path) -> None:
        image = IMAGE.replace(".Values.image.repository", "(.image).repository | default $.Values.image.repository").replace(
            ".Values.image.tag", "(.image).tag | default .Values.image.tag"
        )
        (launch,) = rendered(tmp_path, HEAD + image + "      args: [--model, m]\n", VALUES.replace('""', "v0.9.1"))
        assert (launch.engine, release(launch)[0]) == ("vllm", None)


class TestOptionalCommands:
    @pytest.mark.parametrize("opening", ["if .Values.command", "with .Values.command"])
    @pytest.mark.parametrize("command", ["command: {{ .Values.command }}", "command:\n        {{- toYaml . | nindent 8 }}"])
    def test_the_image_s_own_start_is_without_it(self, opening: str, command: str) -> None:
        text = HEAD + ENGINE + f"      {{{{- {opening} }}}}\n      {command}\n      {{{{- end }}}}\n      args: [--model, m]\n"
        assert [argv(launch) for launch in launches_in(text, "templates/pod.yaml")] == [["--model", "m"]]

    ARMS = (
        HEAD
        + """\
      image: house/server:1
      {{- if eq .Values.backend "llama" }}
      {{- if .Values.file }}
      command: [llama-server, -m, a.gguf]
      {{- else }}
      command: [llama-server, -m, b.gguf]
      {{- end }}
      {{- else if eq .Values.backend "vllm" }}
      command: [sh, -c]
      args: ["exec vllm serve m"]
      {{- end }}
"""
    )

    def test_each_of_several_is_a_launch(self) -> None:
        found = launches_in(self.ARMS, "pod.yaml")
        assert [(launch.engine, argv(launch)) for launch in found] == [
            ("llama.cpp", ["-m", "a.gguf"]), ("llama.cpp", ["-m", "b.gguf"]), ("vllm", ["m"]),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ("backend: llama\nfile: ''\n", ["-m", "b.gguf"]),
            ("backend: llama\nfile: x\n", ["-m", "a.gguf"]),
            ("backend: vllm\n", ["m"]),
        ],
    )
    def test_the_values_choose_one(self, tmp_path: Path, values: str, words: list[str]) -> None:
        assert [argv(launch) for launch in rendered(tmp_path, self.ARMS, values)] == [words]

    def test_none_is_left_where_the_values_take_none(self, tmp_path: Path) -> None:
        assert rendered(tmp_path, self.ARMS, "backend: other # vllm\n") == []


class TestParts:
    SCRIPT = (
        HEAD
        + ENGINE
        + """\
      command: [sh, -c]
      args:
        - >-
          vllm serve
          {{- if CONDITION }}
          /models/a
          {{- else }}
          org/b
          {{- end }}
          --port 1
          {{- range .Values.more }}
          {{ quote . }}
          {{- end }}
"""
    )

    @pytest.mark.parametrize(
        ("condition", "model"),
        [
            ('eq .Values.kind "image"', "org/b"),
            ('ne .Values.kind "image"', "/models/a"),
            ("not .Values.kind", "org/b"),
            ("not (.Values.absent)", "/models/a"),
            (".Values.flag", "org/b"),
            (".Values.quoted", "/models/a"),
            (".Values.list", "org/b"),
        ],
    )
    def test_one_arm_is_written(self, tmp_path: Path, condition: str, model: str) -> None:
        values = "kind: pvc\nflag: false\nquoted: 'false'\nlist: []\nmore: []\n"
        (launch,) = rendered(tmp_path, self.SCRIPT.replace("CONDITION", condition), values)
        assert argv(launch) == [model, "--port", "1"]

    def test_a_condition_that_nobody_knows_leaves_both_open(self, tmp_path: Path) -> None:
        condition = 'lookup "v1" "Pod" .Values.kind "x"'
        (launch,) = rendered(tmp_path, self.SCRIPT.replace("CONDITION", condition), "kind: a\nmore: [--x]\n")
        model, *others = launch.argv
        assert not model.text.known
        assert "/models/a" in model.shown
        assert "org/b" in model.shown
        assert [word.shown for word in others] == ["--port", "1", "--x"]

    @pytest.mark.parametrize(("more", "count"), [("[]", 2), ("[--a]", 3)])
    def test_items_of_an_empty_list(self, tmp_path: Path, more: str, count: int) -> None:
        text = (
            HEAD
            + ENGINE
            + """\
      args:
        - --model
        - m
      {{- with .Values.more }}
        {{- toYaml . | nindent 8 }}
      {{- end }}
"""
        )
        (launch,) = rendered(tmp_path, text, f"more: {more}\n")
        assert len(launch.argv) == count


class TestValues:
    def values(self, folder: Path, values: str, template: str) -> list[Launch]:
        (folder / "templates").mkdir()
        (folder / "templates" / "deployment.yaml").write_text(template)
        (folder / "Chart.yaml").write_text("name: chart\nappVersion: v0.11.0\n")
        return read(Source("values.yaml", values), Neighbours(str(folder))).launches

    WORDS = "deploy:\n  image: {repository: vllm/vllm-openai}\n  args: [--model, m]\n"
    TEMPLATE = HEAD + '      image: "{{ .Values.deploy.image.repository }}:{{ .Chart.AppVersion }}"\n'

    def test_words_that_no_template_reads_are_in_no_launch(self, tmp_path: Path) -> None:
        template = self.TEMPLATE + "      args: {{ toYaml .Values.deploy.extraArgs }}\n"
        assert [argv(launch) for launch in self.values(tmp_path, self.WORDS, template)] == [[]]

    @pytest.mark.parametrize("reads", ["toYaml .Values.deploy.args", "include .Values.deploy", 'index .Values.deploy "args"'])
    def test_those_that_one_reads_are(self, tmp_path: Path, reads: str) -> None:
        (launch,) = self.values(tmp_path, self.WORDS, self.TEMPLATE + f"      args: {{{{ {reads} }}}}\n")
        assert argv(launch)[-2:] == ["--model", "m"]
        assert release(launch) == ("0.11.0", "image")

    def test_the_chart_s_release_counts_where_a_template_takes_it(self, tmp_path: Path) -> None:
        template = self.TEMPLATE.replace(".Chart.AppVersion", ".Values.tag") + "      args: {{ .Values.deploy.args }}\n"
        (launch,) = self.values(tmp_path, self.WORDS, template)
        assert release(launch)[0] is None


def test_keys_of_one_container_in_two_parts_of_a_template() -> None:
    source = Source("a.yaml", "a:\n  {{- if .x }}\n  k: 1\n  {{- else }}\n  k: 2\n  {{- end }}\n")
    documents, problem = yaml.documents(source)
    mask = yaml.mask_of(source)
    assert problem is None
    assert mask is not None
    assert documents
    first, second = mask.branch(source.text.index("k: 1")), mask.branch(source.text.index("k: 2"))
    assert mask.excludes(first, second)
    assert mask.has_else(first)
    assert mask.taken(first) is None


HELPER = """\
{{- define "x.other" -}}
{{- if .Values.more }}
--never
{{- end }}
{{- end }}
{{- define "x.args" -}}
--port {{ .Values.port | quote }} \\
--host "{{ .Values.host }}"{{ range .Values.more }} \\
{{ . | quote }}{{ end }}
{{- end }}
"""


@pytest.mark.parametrize(
    ("include", "more", "words"),
    [
        ('include "x.args" .', "[]", ["m", "--port", "1", "--host", "h"]),
        ('include "x.args" $ | nindent 10 | trim', "[]", ["m", "--port", "1", "--host", "h"]),
        ('include "x.none" .', "[]", ["m", '{{ include "x.none" . }}']),
        ('include "x.args" (dict "a" .)', "[]", ["m", '{{ include "x.args" (dict "a" .) }}']),
    ],
)
def test_a_helper_that_writes_words(tmp_path: Path, include: str, more: str, words: list[str]) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "_helpers.tpl").write_text(HELPER)
    (tmp_path / "values.yaml").write_text(f"port: 1\nhost: h\nmore: {more}\n")
    head = f"{HEAD}{ENGINE}      command: [sh, -c]\n      args:\n        - |\n"
    text = f"{head}          exec vllm serve m \\\n            {{{{ {include} }}}}\n"
    found = read(Source("templates/pod.yaml", text), Neighbours(str(tmp_path / "templates"), "templates"))
    assert [argv(launch) for launch in found.launches] == [words]


def test_braces_for_another_program_are_shown_as_it_reads_them() -> None:
    (launch,) = launches_in(
        f"{HEAD}{ENGINE}      args: ['--model={{{{`{{{{ .Path }}}}`}}}}', '{{{{ .Values.x }}}}']\n", "pod.yaml"
    )
    assert argv(launch) == ["--model={{ .Path }}", "{{ .Values.x }}"]
    assert not launch.argv[0].text.known


class TestFilled:
    """Templates that the chart's own values fill."""

    def test_words_of_a_list(self, tmp_path: Path) -> None:
        text = HEAD + IMAGE + "      args:\n        {{- toYaml .Values.args | nindent 8 }}\n"
        (launch,) = rendered(tmp_path, text, VALUES + "args: [--model, org/m, --port, '80']\n")
        assert argv(launch) == ["--model", "org/m", "--port", "80"]

    def test_an_option_that_is_off_is_no_word(self, tmp_path: Path) -> None:
        text = (
            HEAD
            + IMAGE
            + (
                "      args:\n        - --model={{ .Values.model }}\n        {{- if .Values.quantization }}\n"
                "        - --quantization={{ .Values.quantization }}\n        {{- end }}\n"
            )
        )
        (launch,) = rendered(tmp_path, text, VALUES + 'quantization: ""\n')
        assert argv(launch) == ["--model=org/m"]

    def test_a_launch_for_each_entry(self, tmp_path: Path) -> None:
        text = (
            "{{- range .Values.models }}\n---\napiVersion: v1\nkind: Pod\n"
            "metadata: {name: '{{ .name }}'}\nspec:\n  containers:\n"
            "    - name: vllm\n      image: vllm/vllm-openai:v0.19.0\n      args: [--model, '{{ .name }}']\n{{- end }}\n"
        )
        found = rendered(tmp_path, text, "models: [{name: org/a}, {name: org/b}]\n")
        assert [argv(launch) for launch in found] == [["--model", "org/a"], ["--model", "org/b"]]

    def test_options_of_a_mapping(self, tmp_path: Path) -> None:
        text = (
            HEAD
            + ENGINE
            + (
                '      args:\n        {{- range $key, $value := .Values.options }}\n        - "--{{ $key }}"\n'
                "        - {{ $value | quote }}\n"
                "        {{- end }}\n"
            )
        )
        (launch,) = rendered(tmp_path, text, "options: {port: 80, model: m}\n")
        assert argv(launch) == ["--model", "m", "--port", "80"]

    def test_no_gpu_in_the_values_of_a_chart_says_nothing(self, tmp_path: Path) -> None:
        text = (
            HEAD + ENGINE + "      args: [--model, m]\n      resources:\n        {{- toYaml .Values.resources | nindent 8 }}\n"
        )
        (launch,) = rendered(tmp_path, text, "resources: {}\n")
        assert launch.container is not None
        assert launch.container.reserved is None

    def test_variables_of_the_chart_s_config_map(self, tmp_path: Path) -> None:
        (tmp_path / "templates").mkdir()
        (tmp_path / "templates" / "configmap.yaml").write_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-env\n"
            "data:\n  MODEL_ID: {{ .Values.model | quote }}\n"
        )
        (tmp_path / "values.yaml").write_text(VALUES)
        (tmp_path / "Chart.yaml").write_text("name: chart\n")
        text = HEAD + (
            "      image: ghcr.io/huggingface/text-generation-inference:3.0.0\n"
            "      envFrom: [{configMapRef: {name: '{{ .Release.Name }}-env'}}]\n"
        )
        source = Source("templates/pod.yaml", text)
        (launch,) = read(source, Neighbours(str(tmp_path / "templates"), "templates")).launches
        value = launch.env["MODEL_ID"].value
        assert value is not None
        assert value.flat == "org/m"


class TestLeftToTheInstallation:
    @pytest.mark.parametrize(
        ("words", "given"),
        [
            ("'--served-model-name={{ .Values.name }}'", "name:"),
            ("'--served-model-name={{ .Values.name }}'", 'name: ""'),
            ("'--served-model-name={{ .Values.name | default .Values.other }}'", "name:"),
            ("'--served-model-name={{ .Values.name }}'", "other: x"),
        ],
    )
    def test_an_empty_value_of_an_option_is_unknown(self, tmp_path: Path, words: str, given: str) -> None:
        text = HEAD + ENGINE + f"      args: [--model, m, {words}]\n"
        (launch,) = rendered(tmp_path, text, VALUES + given + "\n")
        assert argv(launch)[:2] == ["--model", "m"]
        assert launch.argv[2].text.flat.startswith("--served-model-name=")
        assert not launch.argv[2].text.known

    def test_an_empty_item_is_unknown(self, tmp_path: Path) -> None:
        words = "{{- with .Values.vllm }}\n        - {{ .path }}\n        - --port\n        - {{ .name }}\n{{- end }}\n"
        (launch,) = rendered(tmp_path, HEAD + ENGINE + f"      args:\n{words}", VALUES + 'vllm: {path: "", name: ""}\n')
        assert [word.text.known for word in launch.argv] == [False, True, False]

    def test_a_condition_of_a_file_that_is_off(self, tmp_path: Path) -> None:
        words = (
            "      args:\n        - --model=m\n{{- if .Values.size }}\n        - --tensor-parallel-size={{ .Values.size }}\n"
            "{{- end }}\n{{- if .Values.eager }}\n        - --enforce-eager\n{{- end }}\n"
        )
        text = "{{- if .Values.on }}\n" + HEAD + ENGINE + words + "{{- end }}\n"
        (launch,) = rendered(tmp_path, text, VALUES + "on: false\nsize:\neager: false\n")
        assert [(word.text.known, word.many) for word in launch.argv] == [(True, False), (False, True)]

    def test_no_further_options(self, tmp_path: Path) -> None:
        text = HEAD + ENGINE + "      command: [sh, -c, 'vllm serve m --trust-remote-code {{ .Values.extraArgs }}']\n"
        (launch,) = rendered(tmp_path, text, VALUES + 'extraArgs: ""\n')
        assert argv(launch) == ["m", "--trust-remote-code"]

    def test_a_value_that_the_chart_requires(self, tmp_path: Path) -> None:
        image = (
            """      image: '{{ required "no image" .Values.image.repository }}:{{ required `no tag` .Values.image.tag }}'\n"""
        )
        text = "{{- if .Values.on }}\n" + HEAD + image + "      args: [--model, '{{ .Values.model }}']\n{{- end }}\n"
        (launch,) = rendered(tmp_path, text, "image: {repository: vllm/vllm-openai, tag: v0.11.0}\nmodel: org/m\non: false\n")
        assert argv(launch) == ["--model", "org/m"]
        assert release(launch) == ("0.11.0", "image")

    @pytest.mark.parametrize(
        "around", ["{{- if .Values.on }}\n", "---\n{{- if .Values.on }}\n{{- $a := .Values.model }}\n{{- if $a }}\n"]
    )
    def test_a_file_that_the_values_switch_off_has_their_release(self, tmp_path: Path, around: str) -> None:
        version = '(ternary "v0" .Chart.AppVersion false)'
        tag = f'      image: "{{{{ .Values.image.repository }}}}:{{{{ default {version} .Values.image.tag }}}}"\n'
        text = around + HEAD + tag + "      args: [--model, '{{ .Values.model }}']\n" + "{{- end }}\n" * around.count("if ")
        (launch,) = rendered(tmp_path, text, VALUES + "on: false\n")
        assert (argv(launch), release(launch)) == (["--model", "org/m"], ("0.11.0", "image"))


def test_values_whose_parts_have_templates_of_their_own(tmp_path: Path) -> None:
    """Where the folder cannot be listed, the keys above an image give the names of the files."""

    def launches(text: str) -> list[Launch]:
        beside = Neighbours(str(tmp_path), "", lambda path: None if path.endswith("/") else from_disk(path))
        return read(Source("values.yaml", text), beside).launches

    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: worker\nversion: 0.1.0\n")
    (tmp_path / "templates").mkdir()
    template = HEAD + '      image: "{{ .Values.ollama.gpu.image.repository }}:{{ .Values.ollama.gpu.image.tag }}"\n'
    (tmp_path / "templates/ollama-gpu-deployment.yaml").write_text(template)
    values = "ollama:\n  gpu:\n    image:\n      repository: ollama/ollama\n      tag: 0.16.0\n"
    assert [release(launch) for launch in launches(values)] == [("0.16.0", "image")]
    assert launches(values.replace("ollama", "redis")) == []


class TestRefutedValues:
    """A list in a chart's own values beside a template that makes other words of it."""

    VALUES = """\
image: {repository: vllm/vllm-openai, tag: v0.11.0}
model: a/b
args:
  - "--dtype auto"
  - "--max-model-lenn=4096"
"""
    JOINED = """\
      command: [/bin/sh, -c]
      args:
        - >-
          vllm serve {{ .Values.model }} --max-num-seqs many
          {{ join " " .Values.args }}
"""
    LISTED = """\
      args:
        - --model={{ .Values.model }}
        {{- toYaml .Values.args | nindent 8 }}
"""
    MAPPED = """\
      args:
        - --model={{ .Values.model }}
        - --max-model-len=4096
"""

    @pytest.mark.parametrize("files", ["chart", "chart/values.yaml", "chart/templates"])
    @pytest.mark.parametrize("name", ["deployment.yaml", "a-server.yaml"])
    @pytest.mark.parametrize(
        ("words", "rules"),
        [
            (JOINED, ["vllm/invalid-value", "vllm/unknown-option"]),
            (LISTED, ["vllm/ignored-model", "vllm/unknown-option"]),
            (MAPPED, []),
        ],
    )
    def test_findings_are_those_of_the_template(
        self, workspace: Workspace, words: str, rules: list[str], name: str, files: str
    ) -> None:
        workspace.file("chart/Chart.yaml", "apiVersion: v2\nname: llm\nversion: 0.1.0\n")
        workspace.file("chart/values.yaml", self.VALUES)
        workspace.file(f"chart/templates/{name}", HEAD + IMAGE + words)
        ran = workspace.run("check", "--format", "json", files)
        found = {one["rule"] for one in ran.data["findings"]}
        assert sorted(one for one in found if not one.startswith(("container/", "vllm/cve"))) == rules
        assert len(workspace.run("launches", "--format", "json", files).data["launches"]) == 1

    def test_a_launch_of_another_template_stays(self, workspace: Workspace) -> None:
        workspace.file("chart/Chart.yaml", "apiVersion: v2\nname: llm\nversion: 0.1.0\n")
        workspace.file("chart/values.yaml", "one:\n" + indent(self.VALUES, "  ") + "two:\n" + indent(self.VALUES, "  "))
        text = (HEAD + IMAGE + self.MAPPED).replace(".Values.", ".Values.one.")
        workspace.file("chart/templates/deployment.yaml", text)
        launches = workspace.run("launches", "--format", "json", "chart").data["launches"]
        assert [one["name"] for one in launches] == ["two", "Pod/llm.containers.llm"]

    def test_an_option_and_its_value_in_values_of_a_chart_elsewhere(self) -> None:
        (found,) = launches_in(self.VALUES, "values.yaml")
        assert argv(found)[-3:] == ["--dtype", "auto", "--max-model-lenn=4096"]
