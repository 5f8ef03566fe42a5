"""Templates of a chart: holes are unknown, and a chart's own values fill those that only name one."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release, spans
from tests.running import Workspace

TEMPLATE = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    spec:
      containers:
        - name: vllm
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          args:
            - --model={{ .Values.model.name }}
            - --max-model-len
            - {{ .Values.model.length | default 4096 | quote }}
            - --port={{ $.Values.port }}
            {{- if .Values.quantization }}
            - --quantization={{ .Values.quantization }}
            {{- end }}
            {{- toYaml .Values.extraArgs | nindent 12 }}
          env:
            - name: HOME
              value: {{ printf "/home/%s" .Values.user }}
"""
VALUES = """
image:
  repository: vllm/vllm-openai
  tag: v0.9.1
model:
  name: a/b
  length: 0
port: 8000
"""


def launch(folder: Path, values: str, name: str = "chart/templates/deployment.yaml") -> Launch:
    """The launch of a template that stands in a chart with some values."""
    (folder / "chart").mkdir()
    (folder / "chart" / "values.yaml").write_text(values)
    path = folder / name
    path.parent.mkdir(parents=True)
    found = read(Source(name, TEMPLATE), Neighbours(str(path.parent), str(Path(name).parent))).launches
    assert len(found) == 1
    return found[0]


class TestValuesOfTheChart:
    def test_they_fill_the_holes(self, tmp_path: Path) -> None:
        found = launch(tmp_path, VALUES)
        assert argv(found)[:4] == ["--model=a/b", "--max-model-len", "4096", "--port=8000"]
        assert all(word.text.assumed for word in found.argv[:1])
        assert release(found) == ("0.9.1", "image")
        span = found.argv[0].text.span()
        assert span is not None
        assert span.text == "--model={{ .Values.model.name }}"

    def test_the_rest_stays_unknown(self, tmp_path: Path) -> None:
        found = launch(tmp_path, VALUES)
        assert [(word.shown, word.many) for word in found.argv[4:]] == [
            ("--quantization={{ .Values.quantization }}", True),
            ("{{- toYaml .Values.extraArgs | nindent 12 }}", True),
        ]
        assert environment(found) == {"HOME": '{{ printf "/home/%s" .Values.user }}'}
        assert found.argv[4].value is None

    def test_a_folder_below_the_templates(self, tmp_path: Path) -> None:
        assert argv(launch(tmp_path, VALUES, "chart/templates/engine/deployment.yaml"))[0] == "--model=a/b"

    def test_values_that_are_not_simple(self, tmp_path: Path) -> None:
        values = VALUES.replace("name: a/b", "name: [a]").replace("port: 8000", 'port: "{{ .Values.port }}"')
        found = launch(tmp_path, values)
        assert argv(found)[0] == "--model={{ .Values.model.name }}"
        assert found.argv[3].value is None

    def test_none_beside_the_template(self) -> None:
        assert launches_in(TEMPLATE, "chart/templates/deployment.yaml") == []


class TestTemplates:
    def test_words_and_their_places(self) -> None:
        text = TEMPLATE.replace('"{{ .Values.image.repository }}:', '"vllm/vllm-openai:')
        found = launch_in(text, "templates/deployment.yaml")
        assert argv(found)[:3] == [
            "--model={{ .Values.model.name }}",
            "--max-model-len",
            "{{ .Values.model.length | default 4096 | quote }}",
        ]
        assert [span.text for span in spans(found.argv) if span is not None] == [
            "--model={{ .Values.model.name }}",
            "--max-model-len",
            "{{ .Values.model.length | default 4096 | quote }}",
            "--port={{ $.Values.port }}",
            "--quantization={{ .Values.quantization }}",
            "{{- toYaml .Values.extraArgs | nindent 12 }}",
        ]

    def test_a_script(self) -> None:
        found, marks = marked_launch(
            """
            apiVersion: v1
            kind: Pod
            metadata: {name: "{{ .Release.Name }}"}
            spec:
              containers:
                - image: vllm/vllm-openai:v0.9.1
                  command: [bash, -c]
                  args:
                    - |
                      {{- if .Values.multi }}
                      ray start --head
                      {{- end }}
                      exec vllm serve ⟦{{ .Values.model }}⟧ \\
                      {{- range .Values.more }}
                        {{ . }} \\
                      {{- end }}
                        ⟦--dtype⟧ ⟦half⟧
            """,
            "templates/pod.yaml",
        )
        assert [word.many for word in found.argv] == [True, True, False, False]
        assert [spans(found.argv)[index] for index in (0, 2, 3)] == marks

    def test_a_compose_file(self) -> None:
        text = """
            services:
              llm:
                image: vllm/vllm-openai:{{ vllm_version }}
                command:
                  - --model
                  - "{{ model }}"
                {% if gpu %}
                runtime: nvidia
                {% endif %}
        """
        found = launch_in(text, "docker-compose.yml")
        assert argv(found) == ["--model", "{{ model }}"]
        assert release(found)[0] is None

    @pytest.mark.parametrize(
        "environment",
        [
            "{% for k in a %}\n  {{ k }}: x\n{% endfor %}\n{% for k in b %}\n  {{ k }}: y\n{% endfor %}\n",
            "{% if a %}\n  A: x\n{% else %}\n  A: y\n{% endif %}\n",
            "{% if a %}\n  A: x\n{% endif %}\n{% if b %}\n  A: y\n{% endif %}\n",
        ],
    )
    def test_keys_that_a_template_of_compose_repeats(self, environment: str) -> None:
        lines = environment.replace("\n  ", "\n      ")
        text = f"services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    command: [--model, m]\n    environment:\n{lines}"
        assert argv(launch_in(text, "compose.yaml.j2")) == ["--model", "m"]

    @pytest.mark.parametrize("prefix", ["{{PREFIX}}", "{{ registry }}/", "registry.example/{{ group }}/"])
    def test_an_image_behind_a_placeholder(self, prefix: str) -> None:
        text = (
            "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: c\n"
            f"      image: {prefix}huggingface/text-generation-inference:3.3.4\n      args: [--model-id, m]\n"
        )
        found = launch_in(text, "pod.yaml")
        assert (found.engine, release(found)[0]) == ("tgi", "3.3.4")

    @pytest.mark.parametrize(
        "text",
        [
            "apiVersion: v1\nkind: Service\nmetadata: {name: vllm}\nspec:\n  ports: {{ toYaml .Values.vllm }}\n",
            '{{- define "vllm.labels" }}\napp: vllm\n{{- end }}\n',
            'groups:\n  - rules:\n      - alert: vllm\n        annotations: {summary: "{{ $labels.instance }}"}\n',
            "# vllm\n{{ .Values.a }}\n",
        ],
    )
    def test_what_starts_nothing(self, text: str) -> None:
        assert launches_in(text, "templates/a.yaml") == []


class TestOllamaHelm:
    """The values of a chart whose container has no words of its own."""

    VALUES = "image: {repository: ollama/ollama, tag: 0.12.3}\nollama:\n  gpu: {enabled: true}\n  models: {pull: [llama3.2]}\n"

    def test_its_variables(self) -> None:
        launch = launch_in(self.VALUES + "extraEnv:\n- name: OLLAMA_NUM_PARALLEL\n  value: '2'\n", "values.yaml")
        assert (launch.engine, release(launch)[0], argv(launch)) == ("ollama", "0.12.3", [])
        assert environment(launch) == {"OLLAMA_NUM_PARALLEL": "2"}

    def test_values_of_another_chart(self) -> None:
        assert launches_in("ollama:\n  baseUrl: http://ollama:11434\nextraEnv: []\n", "values.yaml") == []

    def test_the_release_of_the_chart_itself(self, tmp_path: Path) -> None:
        (tmp_path / "templates").mkdir()
        (tmp_path / "Chart.yaml").write_text("name: ollama\nappVersion: 0.15.4\n")
        template = "containers:\n- image: a:{{ .Values.image.tag | default .Chart.AppVersion }}\n"
        (tmp_path / "templates" / "deployment.yaml").write_text(template)
        values = Source("values.yaml", self.VALUES.replace("0.12.3", '""'))
        (found,) = read(values, Neighbours(str(tmp_path), "")).launches
        assert release(found) == ("0.15.4", "image")


def test_values_that_another_file_or_another_chart_gives(workspace: Workspace) -> None:
    workspace.file(
        "Chart.yaml", "name: llm\nversion: 1.0.0\ndependencies:\n- {name: base, version: 1, repository: 'https://a.b'}\n"
    )
    workspace.file("values.yaml", "replicas: 1\n")
    workspace.file("values.global.yaml", "global:\n  model: m/m\n")
    args = '["--model", "{{ .Values.global.model }}", "--port", "{{ .Values.base.port }}", "--dtype", "{{ .Release.Name }}"]'
    workspace.file(
        "templates/pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n"
        f"  - name: vllm\n    image: vllm/vllm-openai:v0.11.0\n    args: {args}\n",
    )
    (launch,) = json.loads(workspace.run("launches", "--format", "json", ".").out)["launches"]
    assert [one["why"] for one in launch["judged"]["unresolved"]] == [
        "values.global.yaml sets it, which Helm reads only where it is given with -f",
        "the chart base, whose files are not here, may set it",
        "a template fills it in",
    ]


CHART_OF_MODELS = """
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: "{{ .image }}"
          {{- with .command }}
          command:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          args:
            - /model
            - --served-model-name={{ .name }}
"""


def test_a_command_whose_options_the_own_template_writes_is_no_launch_of_its_own(workspace: Workspace) -> None:
    workspace.file("chart/Chart.yaml", "name: a\n")
    workspace.file("chart/templates/deployment.yaml", CHART_OF_MODELS)
    models = "models:\n  - name: tts\n    image: vllm/vllm-omni:v0.18.0\n    command: [vllm, serve]\n"
    neighbours = Neighbours(str(workspace.folder / "chart"), "chart")
    assert read(Source("chart/values.yaml", models), neighbours).launches == []
    whole = models.replace("serve]", "serve, a/b, --port, '80']")
    assert [argv(one) for one in read(Source("chart/values.yaml", whole), neighbours).launches] == [["a/b", "--port", "80"]]


@pytest.mark.parametrize(
    "image",
    ["{version: 'vllm/vllm-openai:v0.19.0'}", "vllm/vllm-openai:v0.19.0", "{repository: vllm/vllm-openai, tag: v0.19.0}"],
)
@pytest.mark.parametrize("around", ["service", "deployment", "container", "app", "workload"])
def test_an_image_in_the_mapping_of_the_workload_beside_the_words(around: str, image: str) -> None:
    found = launch_in(
        f"""
        serving:
          {around}:
            image: {image}
          llm:
            args: '--gpu-memory-utilization "0.9" --dtype auto'
    """,
        "values.yaml",
    )
    assert release(found)[0] == "0.19.0"
    assert argv(found)[1:] == ["--gpu-memory-utilization", "0.9", "--dtype", "auto"]


def test_a_mapping_with_an_image_and_words_of_its_own_is_one_launch() -> None:
    found = launches_in(
        """
        server:
          image: vllm/vllm-openai:v0.19.0
          args: ["--port", "8000"]
        args: ["--dtype", "auto"]
    """,
        "values.yaml",
    )
    assert [argv(one)[1:] for one in found] == [["--port", "8000"]]


@pytest.mark.parametrize("image", ["{version: '1.27'}", "{tag: a/b}", "nginx:1.27"])
def test_another_image_in_the_mapping_of_the_workload(image: str) -> None:
    assert launches_in(f"service:\n  image: {image}\nllm:\n  args: --dtype auto\n", "values.yaml") == []


class TestObjectsThatValuesHold:
    POD = "spec: {containers: [{name: vllm, image: 'vllm/vllm-openai:v0.20.0', args: [--model, m]}]}"
    RAW = f"rawResources:\n  llm:\n    enabled: true\n    apiVersion: v1\n    kind: Pod\n    spec: {{{POD}}}\n"
    TEXT = f"extraObjects:\n  - |\n    apiVersion: v1\n    kind: Pod\n    metadata: {{name: '{{{{ .Name }}}}'}}\n    {POD}\n"
    RELEASE = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r}\nspec:\n  values:\n"

    @pytest.mark.parametrize("text", [RAW, RAW.replace("    spec: {", "    manifest: {"), TEXT])
    @pytest.mark.parametrize("around", ["", RELEASE])
    def test_launches(self, text: str, around: str) -> None:
        lines = "".join([f"    {line}" for line in text.splitlines(keepends=True)]) if around else text
        (found,) = launches_in(around + lines, "values.yaml" if not around else "release.yaml")
        assert (argv(found), found.release.release) == (["--model", "m"], "0.20.0")
        assert found.release.span is not None
        assert found.release.span.text == "v0.20.0"[1:]

    @pytest.mark.parametrize(
        "text", [RAW.replace("true", "false"), RAW.replace("Pod", "Secret").replace("vllm/vllm-openai", "nginx")]
    )
    def test_none(self, text: str) -> None:
        assert launches_in(text, "values.yaml") == []


class TestAChartWithoutValues:
    """A chart whose templates have a default for each value."""

    TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Values.name | default "llm" | quote }}
  {{- if .Values.namespace }}
  namespace: {{ .Values.namespace | quote }}
  {{- end }}
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: {{ .Values.image | default "vllm/vllm-openai:v0.9.1" | quote }}
          args: [--model, {{ .Values.model | default "a/b" | quote }}, --max-num-seqs, {{ .Values.seqs | default 8 | quote }}]
"""

    def launches(self, folder: Path, template: str, chart: str = "apiVersion: v2\nname: c\nversion: 0.1.0\n") -> list[Launch]:
        templates = folder / "templates"
        templates.mkdir()
        (folder / "Chart.yaml").write_text(chart)
        return read(Source("templates/a.yaml", template), Neighbours(str(templates), "templates")).launches

    @pytest.mark.parametrize("chart", ["apiVersion: v2\nname: c\nversion: 0.1.0\n", ""])
    def test_the_defaults(self, tmp_path: Path, chart: str) -> None:
        (found,) = self.launches(tmp_path, self.TEMPLATE, chart)
        assert argv(found) == ["--model", "a/b", "--max-num-seqs", "8"]
        assert found.release.release == "0.9.1"

    def test_objects_of_a_platform(self, tmp_path: Path) -> None:
        booster = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {name: a}
spec:
  backend:
    type: {{ .Values.type | default "vLLM" | quote }}
    modelURI: {{ .Values.modelURI | default "hf://a/b" | quote }}
    workers:
      - image: {{ .Values.image | default "vllm/vllm-openai:v0.9.1" | quote }}
        config: {max-model-len: {{ .Values.length | default "2048" }}}
"""
        (found,) = self.launches(tmp_path, booster)
        assert (found.engine, found.release.release) == ("vllm", "0.9.1")

    def test_a_value_without_one_leaves_the_image_unknown(self, tmp_path: Path) -> None:
        assert self.launches(tmp_path, self.TEMPLATE.replace('.Values.model | default "a/b"', ".Values.model")) == []


def test_an_image_whose_launch_the_values_complete_is_judged(workspace: Workspace) -> None:
    runtime = """
        apiVersion: serving.kserve.io/v1alpha1
        kind: ServingRuntime
        metadata: {name: r}
        spec:
          containers:
            - name: kserve-container
              command:
                {{- toYaml .Values.runtime.command | nindent 8 }}
              args:
                {{- toYaml .Values.runtime.args | nindent 8 }}
              image: "{{ .Values.runtime.image }}"
        """
    values = (
        "runtime:\n  image: quay.io/modh/vllm:rhoai-2.20-cuda\n  command: [python, -m, vllm.entrypoints.openai.api_server]\n"
    )
    (workspace.folder / "chart/templates").mkdir(parents=True)
    for name, text in (
        ("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("templates/runtime.yaml", dedent(runtime).lstrip()),
        ("values.yaml", values + "  args: [--model=m]\n"),
    ):
        (workspace.folder / "chart" / name).write_text(text)
    ran = workspace.run("launches", "chart/templates/runtime.yaml")
    assert "--model=m" in ran.out
    assert "not judged" not in ran.err
