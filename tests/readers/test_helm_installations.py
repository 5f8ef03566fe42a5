"""Charts of the same repository with the values of an installation: Argo CD, Flux, files of values."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.core.settings import Settings
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.lint import check
from servelint.readers import mentions_engine, read
from tests.launching import argv, release

TEMPLATE = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    spec:
      containers:
        - name: vllm
          image: "vllm/vllm-openai:{{ .Values.tag }}"
          args:
            - --model={{ .Values.model.name }}
            {{- if .Values.model.trust }}
            - --trust-remote-code
            {{- end }}
"""
VALUES = "tag: v0.9.0\nmodel:\n  name: m/own\n  trust: false\n"
APPLICATION = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: llm}\nspec:\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    chart = tmp_path / "charts" / "llm"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: llm\nversion: 0.1.0\n")
    (chart / "values.yaml").write_text(VALUES)
    (chart / "templates" / "deployment.yaml").write_text(TEMPLATE)
    (tmp_path / "apps").mkdir()
    (tmp_path / "prod.yaml").write_text("tag: v0.11.0\n")
    return tmp_path


def launches(folder: Path, text: str, name: str = "app.yaml") -> list[Launch]:
    found = read(Source(name, text), Neighbours(str(folder)))
    assert found.problems == []
    return found.launches


def test_parameters(repository: Path) -> None:
    (launch,) = launches(
        repository / "apps",
        APPLICATION
        + """  source:
    path: charts/llm
    helm:
      parameters:
        - {name: model.name, value: m/other}
        - {name: model.trust, value: "true"}
        - {name: "list[0].a", value: x}
""",
    )
    assert argv(launch) == ["--model=m/other", "--trust-remote-code"]
    assert release(launch) == ("0.9.0", "image")
    assert launch.source.path == launch.site.source.path == "app.yaml"
    assert launch.name.startswith("Application/llm.")


@pytest.mark.parametrize("values", ["valuesObject: {model: {name: m/x}}", "values: |\n        model: {name: m/x}"])
def test_values_of_an_application(repository: Path, values: str) -> None:
    (launch,) = launches(repository / "apps", APPLICATION + f"  source:\n    path: ./charts/llm\n    helm:\n      {values}\n")
    assert argv(launch) == ["--model=m/x"]


def test_values_of_another_source(repository: Path) -> None:
    (launch,) = launches(
        repository / "apps",
        APPLICATION
        + """  sources:
    - path: charts/llm
      helm: {valueFiles: [$values/prod.yaml]}
    - {ref: values, repoURL: x}
""",
    )
    assert release(launch) == ("0.11.0", "image")


def test_a_helm_release(repository: Path) -> None:
    text = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: llm}
spec:
  chart: {spec: {chart: ./charts/llm, sourceRef: {kind: GitRepository, name: x}}}
  values: {model: {trust: true, name: null}}
"""
    (launch,) = launches(repository / "apps", text)
    assert argv(launch)[-1] == "--trust-remote-code"


@pytest.mark.parametrize("name", ["values-prod.yaml", "prod.values.yaml", "ci/gpu-values.yaml"])
def test_values_in_the_chart_s_folder(repository: Path, name: str) -> None:
    folder = repository / "charts" / "llm" / Path(name).parent
    folder.mkdir(exist_ok=True)
    (launch,) = launches(folder, "# vllm\nmodel: {name: m/prod}\n", name)
    assert argv(launch) == ["--model=m/prod"]


def test_values_that_are_called_after_a_chart(repository: Path) -> None:
    (launch,) = launches(repository / "apps", "nameOverride: a\nmodel: {name: m/named}\n", "values/llm-amd.yaml")
    assert argv(launch) == ["--model=m/named"]
    assert launches(repository / "apps", "model: {name: m/named}\nothers: {a: b}\n", "values/llm-amd.yaml") == []
    assert launches(repository / "apps", "model: {name: m/named}\n", "values/other.yaml") == []


@pytest.mark.parametrize("chart", ["chart", "helm", "charts"])
@pytest.mark.parametrize("name", ["models/a/values.yaml", "values/a.yaml", "models/values-a.yaml"])
def test_values_beside_the_only_chart(tmp_path: Path, chart: str, name: str) -> None:
    for path, text in (("Chart.yaml", "name: c\n"), ("values.yaml", VALUES), ("templates/deployment.yaml", TEMPLATE)):
        (tmp_path / chart / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / chart / path).write_text(text)
    folder = tmp_path / Path(name).parent
    folder.mkdir(parents=True)
    found = launches(folder, "model: {name: m/other}\n", name)
    assert [argv(launch) for launch in found] == [["--model=m/other"]]
    assert launches(folder, "model: {name: m/other}\nvllm: {a: b}\n", name) == []


@pytest.mark.parametrize(
    ("other", "models"),
    [(None, ["--model=m/new"]), ("tag: x\nmodel: {}\n", []), ("replicas: 1\n", ["--model=m/new"])],
)
def test_values_with_the_keys_of_one_chart(repository: Path, other: str | None, models: list[str]) -> None:
    """The only one of the folder, or of those in it, whose own values have all the keys."""
    if other is not None:
        (repository / "charts" / "other").mkdir()
        (repository / "charts" / "other" / "Chart.yaml").write_text("name: other\n")
        (repository / "charts" / "other" / "values.yaml").write_text(other)
    (repository / "examples").mkdir()
    found = launches(repository / "examples", "# vllm\ntag: v0.11.0\nmodel: {name: m/new}\n", "qwen-values.yaml")
    assert [argv(launch)[0] for launch in found] == models
    assert launches(repository / "examples", "# vllm\ntag: v0.11.0\nmodels: {name: m/new}\n", "qwen-values.yaml") == []


def test_a_finding_names_the_value_that_makes_it(repository: Path) -> None:
    chart = repository / "charts" / "llm"
    (chart / "values.yaml").write_text(VALUES + "args: []\n")
    listed = "            {{- range .Values.args }}\n            - {{ . | quote }}\n            {{- end }}\n"
    (chart / "templates" / "deployment.yaml").write_text(TEMPLATE + listed)
    (chart / "values-prod.yaml").write_text("# vllm\ntag: v0.11.0\nargs:\n  - --enforce-eager\n  - --swapp-space=4\n")
    report = check([str(chart / "values-prod.yaml")], Settings())
    (found,) = [one for one in report.findings if one.rule == "vllm/unknown-option"]
    related = {one.message: one.span.text for one in found.related}
    assert related["with the values of this file"] == "--swapp-space=4"


def test_a_chart_that_is_not_there(repository: Path) -> None:
    text = APPLICATION + "  source: {path: charts/missing, helm: {parameters: [{name: a, value: vllm}]}}\n"
    assert launches(repository / "apps", text) == []


def test_a_release_of_a_helmfile(repository: Path) -> None:
    text = "releases:\n  - name: chat\n    chart: ../charts/llm\n    values: [{model: {name: m/held}}, ../prod.yaml]\n"
    (launch,) = launches(repository / "apps", text, "helmfile.yaml")
    assert argv(launch) == ["--model=m/held"]
    assert release(launch) == ("0.11.0", "image")
    assert launch.name.startswith("chat.")
    assert launches(repository / "apps", text.replace("../charts/llm", "stable/llm"), "helmfile.yaml") == []


def test_a_script_of_the_chart_with_the_values_of_the_installation(repository: Path) -> None:
    templates = repository / "charts" / "llm" / "templates"
    (templates / "configmap.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata:\n  run.sh: |\n    vllm serve {{ .Values.model.name }}\n"
    )
    text = TEMPLATE.split("          args:")[0].replace("vllm/vllm-openai", "vllm/vllm-openai")
    text += "          command: [/s/run.sh]\n          volumeMounts: [{name: s, mountPath: /s}]\n"
    (templates / "deployment.yaml").write_text(text + "      volumes: [{name: s, configMap: {name: s}}]\n")
    (launch,) = launches(repository / "charts" / "llm", "# vllm\nmodel: {name: m/prod}\n", "values-prod.yaml")
    assert argv(launch) == ["m/prod"]


def test_actions_in_quotes_of_a_chart_s_own_values(repository: Path) -> None:
    path = repository / "charts" / "llm" / "values.yaml"
    text = 'tag: v0.9.0\nextra: "--served-model-name={{ .Values.model.name }}"\nmodel:\n  name: m/own\n  trust: false\n'
    path.write_text(text)
    template = TEMPLATE.rstrip() + "\n            - {{ tpl .Values.extra . | quote }}\n"
    (repository / "charts" / "llm" / "templates" / "deployment.yaml").write_text(template)
    (launch,) = launches(path.parent, text, "values.yaml")
    assert argv(launch) == ["--model=m/own", "--served-model-name=m/own"]


class TestOwnValues:
    """The chart's own values, which are checked without its templates."""

    @pytest.mark.parametrize("template", ["deployment.yaml", "llm/deployment.yaml", "statefulset.yaml"])
    def test_a_template_makes_the_launch(self, repository: Path, template: str) -> None:
        chart = repository / "charts" / "llm"
        (chart / "templates" / "deployment.yaml").unlink()
        (chart / "templates" / "llm").mkdir()
        (chart / "templates" / template).write_text(TEMPLATE)
        (launch,) = launches(chart, VALUES, "values.yaml")
        assert (argv(launch), release(launch)) == (["--model=m/own"], ("0.9.0", "image"))
        assert launch.owner is not None
        assert (launch.source.path, launch.owner.path) == ("values.yaml", f"templates/{template}")

    def test_what_the_editor_holds_counts(self, repository: Path) -> None:
        (launch,) = launches(repository / "charts" / "llm", VALUES.replace("m/own", "m/new"), "values.yaml")
        assert argv(launch) == ["--model=m/new"]

    def test_a_template_without_values_is_left_to_itself(self, repository: Path) -> None:
        chart = repository / "charts" / "llm"
        (chart / "templates" / "deployment.yaml").write_text(TEMPLATE.split("{{")[0] + 'v0.9.0"\n')
        assert launches(chart, VALUES, "values.yaml") == []

    def test_values_without_a_chart(self, repository: Path) -> None:
        assert launches(repository, VALUES, "values.yaml") == []

    @pytest.mark.parametrize("paths", [["charts"], ["charts/llm/values.yaml", "charts/llm/templates/deployment.yaml"]])
    def test_the_launch_counts_once(self, repository: Path, paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(repository)
        values = repository / "charts" / "llm" / "values.yaml"
        values.write_text("# vllm\n" + VALUES.replace("v0.9.0", "latest"))
        report = check(paths, Settings(profile="strict"))
        assert len(report.launches) == 1
        assert [finding.rule for finding in report.findings].count("container/unpinned-image") == 1


@pytest.mark.parametrize("name", ["llminferenceservice.yaml", "llm-inference-service.yaml"])
def test_a_service_of_the_chart_s_own_values(repository: Path, name: str) -> None:
    chart = repository / "charts" / "llm"
    (chart / "templates" / "deployment.yaml").unlink()
    (chart / "templates" / name).write_text(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: a}\nspec:\n"
        "  model: {uri: 'hf://m/own'}\n  template:\n    containers:\n      - name: main\n        env:\n"
        "          - {name: VLLM_ADDITIONAL_ARGS, value: {{ .Values.args | quote }}}\n"
    )
    (launch,) = launches(chart, 'args: "--max-model-len 8192 --enforce-eager"\n', "values.yaml")
    assert argv(launch)[-3:] == ["--max-model-len", "8192", "--enforce-eager"]


PARENT = "apiVersion: v2\nname: platform\nversion: 0.1.0\n"


class TestAChartInsideAnother:
    @pytest.mark.parametrize(
        ("chart", "values", "expected"),
        [
            (PARENT, "llm:\n  tag: v0.10.0\n  model: {name: m/parent}\n", ("0.10.0", ["--model=m/parent"])),
            (PARENT, "llm:\n  model: {name: m/parent}\n", ("0.9.0", ["--model=m/parent"])),
            (PARENT, "other:\n  tag: v0.10.0\n", ("0.9.0", ["--model=m/own"])),
            (
                PARENT + "dependencies:\n  - {name: llm, alias: chat, version: 0.1.0}\n",
                "llm: {tag: v0.11.0}\nchat:\n  tag: v0.10.0\n",
                ("0.10.0", ["--model=m/own"]),
            ),
            ("apiVersion: v2\nname: platform\n", None, ("0.9.0", ["--model=m/own"])),
            (None, "llm:\n  tag: v0.10.0\n", ("0.9.0", ["--model=m/own"])),
        ],
    )
    def test_the_values_of_its_parent(
        self, chart: str | None, values: str | None, expected: tuple[str, list[str]], repository: Path
    ) -> None:
        if chart is not None:
            (repository / "Chart.yaml").write_text(chart)
        if values is not None:
            (repository / "values.yaml").write_text(values)
        (launch,) = launches(repository / "charts" / "llm" / "templates", TEMPLATE, "templates/deployment.yaml")
        assert (release(launch)[0], argv(launch)) == expected

    def test_values_that_only_the_parent_has(self, repository: Path) -> None:
        (repository / "charts" / "llm" / "values.yaml").unlink()
        (repository / "Chart.yaml").write_text(PARENT)
        (repository / "values.yaml").write_text("llm:\n  tag: v0.10.0\n  model: {name: m/parent}\n")
        (launch,) = launches(repository / "charts" / "llm" / "templates", TEMPLATE, "templates/deployment.yaml")
        assert argv(launch) == ["--model=m/parent"]
        (repository / "values.yaml").write_text(
            "llm:\n  tag: v0.10.0\n  model: {name: m/parent, trust: true}\nglobal: {a: b}\n"
        )
        (launch,) = launches(repository / "charts" / "llm" / "templates", TEMPLATE, "templates/deployment.yaml")
        assert argv(launch) == ["--model=m/parent", "--trust-remote-code"]


def test_values_with_braces_in_a_text(repository: Path) -> None:
    text = "template: |\n  {%- if a %}\n      {{- b }}\n  {%- endif %}\nmodel: {name: m/prod}\n"
    (launch,) = launches(repository / "charts" / "llm", text, "values-prod.yaml")
    assert argv(launch) == ["--model=m/prod"]


@pytest.mark.parametrize(("on", "models"), [("true", ["m/chat", "m/embed"]), ("false", ["m/chat"])])
def test_a_subchart_under_two_aliases(repository: Path, on: str, models: list[str]) -> None:
    (repository / "Chart.yaml").write_text(
        "apiVersion: v2\nname: stack\nversion: 0.1.0\ndependencies:\n"
        "  - {name: llm, alias: chat}\n  - {name: llm, alias: embed, condition: embed.enabled}\n"
    )
    (repository / "values.yaml").write_text(
        f"chat: {{model: {{name: m/chat}}}}\nembed: {{enabled: {on}, model: {{name: m/embed}}, tag: v0.10.2}}\n"
    )
    folder = repository / "charts" / "llm" / "templates"
    found = read(Source("templates/deployment.yaml", TEMPLATE), Neighbours(str(folder), "templates")).launches
    assert [argv(one)[0] for one in found] == [f"--model={model}" for model in models]
    assert [release(one)[0] for one in found] == ["0.9.0", "0.10.2"][: len(models)]
    assert found[0].name.partition(".")[0] == ("chat" if len(models) > 1 else "Deployment/llm")


def test_an_application_that_names_no_engine_is_read() -> None:
    text = APPLICATION + "  source:\n    path: charts/llm\n    helm: {valueFiles: [prod.yaml]}\n"
    assert mentions_engine(text.encode())
    assert not mentions_engine(text.replace("helm", "directory").encode())


ENGINE_VALUES = "model: {name: m/own}\nimage: {repository: vllm/vllm-openai, tag: v0.19.0}\n"
ENGINE_TEMPLATE = """apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
      args: ["--model={{ .Values.model.name }}"]
"""
OVERLAY = "model: {name: m/other}\nimage:\n  repository: vllm/vllm-openai\n  tag: v0.20.0\n"


def chart(folder: Path, template: str = ENGINE_TEMPLATE, values: str = ENGINE_VALUES) -> None:
    for path, text in (("Chart.yaml", "name: c\n"), ("values.yaml", values), ("templates/deployment.yaml", template)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.mark.parametrize("name", ["env/lab/a.yaml", "clusters/gpu.yaml", "environments/prod/llm/b.yml"])
@pytest.mark.parametrize("where", ["charts/vllm", "helm", "deploy/charts/vllm"])
def test_values_in_a_file_of_another_name(tmp_path: Path, where: str, name: str) -> None:
    chart(tmp_path / where)
    folder = (tmp_path / name).parent
    folder.mkdir(parents=True)
    (found,) = launches(folder, OVERLAY, name)
    assert (argv(found), release(found)) == (["--model=m/other"], ("0.20.0", "image"))


@pytest.mark.parametrize("more", ["unknown: {a: b}\n", "apiVersion: v1\n", "services: {a: {}}\n"])
def test_other_files_with_an_image_are_no_values(tmp_path: Path, more: str) -> None:
    chart(tmp_path / "charts" / "vllm")
    folder = tmp_path / "env"
    folder.mkdir()
    assert launches(folder, OVERLAY + more, "env/a.yaml") == []


DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("image", "values", "found"),
    [
        ('{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}', f"tag: v0.20.0, digest: '{DIGEST}'", "0.20.0"),
        ('"{{ .Values.image.repository }}@{{ .Values.image.digest }}"', f"tag: v0.20.0, digest: '{DIGEST}'", "0.20.0"),
        ('"{{ .Values.image.repository }}:v0.19.0@{{ .Values.image.digest }}"', f"tag: v0.20.0, digest: '{DIGEST}'", "0.19.0"),
        ('"{{ .Values.image.repository }}@{{ .Values.image.digest }}"', f"tag: '', digest: '{DIGEST}'", None),
        ('"{{ .Values.image.repository }}@sha256:%s"' % ("1" * 64), f"tag: v0.20.0, digest: '{DIGEST}'", None),
    ],
)
def test_the_tag_beside_a_digest(tmp_path: Path, image: str, values: str, found: str | None) -> None:
    template = ENGINE_TEMPLATE.replace('"{{ .Values.image.repository }}:{{ .Values.image.tag }}"', image)
    text = f"model: {{name: m/own}}\nimage: {{repository: vllm/vllm-openai, {values}}}\n"
    chart(tmp_path / "charts" / "vllm", template, text)
    (launch,) = launches(tmp_path / "charts" / "vllm", "# vllm\nmodel: {name: m/own}\n", "values-a.yaml")
    assert release(launch)[0] == found
