"""Kustomizations over a base beside them: patches, images, ConfigMaps that they make or change."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from servelint.core.source import Source
from servelint.files.siblings import Neighbours
from servelint.readers import read
from tests.launching import argv, environment, launch_in, launches_in, release

BASE = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    metadata: {labels: {app: llm}}
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.9.0
          args: [--model, m/base, --port, "8000"]
          env:
            - name: HF_HOME
              value: /cache
"""
HEAD = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../../base]\n"
PATCH = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  template:
    spec:
      containers:
        - name: vllm
          args: [--model, m/large]
"""


def overlay(folder: Path, text: str, base: str = BASE, head: str = HEAD, **files: str) -> list[Launch]:
    """The launches of an overlay. files: name with _ for a dot -> content, beside the overlay."""
    (folder / "base").mkdir()
    (folder / "base" / "kustomization.yaml").write_text("resources: [deployment.yaml]\n")
    (folder / "base" / "deployment.yaml").write_text(base)
    here = folder / "overlays" / "gpu"
    here.mkdir(parents=True)
    for name, content in files.items():
        (here / name.replace("_", ".")).write_text(content)
    found = read(Source("kustomization.yaml", head + text), Neighbours(str(here), "overlays/gpu"))
    assert found.problems == []
    return found.launches


def test_a_strategic_merge_patch_in_a_file(tmp_path: Path) -> None:
    (launch,) = overlay(tmp_path, "patches:\n  - path: args.yaml\n", args_yaml=PATCH)
    assert argv(launch) == ["--model", "m/large"]
    assert release(launch) == ("0.9.0", "image")
    assert environment(launch)["HF_HOME"] == "/cache"
    assert launch.source.path == launch.site.source.path == "kustomization.yaml"
    model = launch.argv[1].text.span()
    assert model is not None
    assert model.source.path == "overlays/gpu/args.yaml"
    assert model.text == "m/large"


@pytest.mark.parametrize("head", ["---\n", "# a licence\n#\n\n---\n", "\n# a licence\n--- # of the file\n"])
@pytest.mark.parametrize("of", ["base", "patch", "overlay"])
def test_what_stands_in_front_of_the_first_document(head: str, of: str, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "kustomization.yaml").write_text((head if of == "base" else "") + "resources: [deployment.yaml]\n")
    (tmp_path / "base" / "deployment.yaml").write_text((head if of == "base" else "") + BASE)
    here = tmp_path / "overlays" / "gpu"
    here.mkdir(parents=True)
    (here / "patch.yaml").write_text((head if of == "patch" else "") + PATCH)
    text = (head if of == "overlay" else "") + HEAD + "patches: [{path: patch.yaml}]\n"
    (launch,) = read(Source("kustomization.yaml", text), Neighbours(str(here), "overlays/gpu")).launches
    assert argv(launch) == ["--model", "m/large"]


def test_a_replacement_from_a_generated_config_map(tmp_path: Path) -> None:
    text = """configMapGenerator: [{name: runtime, envs: [runtime.env]}]
replacements:
  - source: {kind: ConfigMap, name: runtime, fieldPath: data.IMAGE}
    targets: [{select: {kind: Deployment}, fieldPaths: ["spec.template.spec.containers.[name=vllm].image"]}]
"""
    (launch,) = overlay(tmp_path, text, runtime_env="IMAGE=vllm/vllm-openai:v0.19.1\n")
    assert release(launch) == ("0.19.1", "image")


def test_a_patch_in_the_kustomization(tmp_path: Path) -> None:
    text = "patches:\n  - patch: |-\n" + "".join(f"      {line}\n" for line in PATCH.strip().splitlines())
    (launch,) = overlay(tmp_path, text)
    assert argv(launch) == ["--model", "m/large"]
    assert launch.argv[1].text.span().source.path == "kustomization.yaml"  # type: ignore[union-attr]


def test_a_json_patch(tmp_path: Path) -> None:
    text = """patches:
  - target: {kind: Deployment, name: ll.}
    patch: |-
      - {op: add, path: /spec/template/spec/containers/0/args/-, value: --enforce-eager}
      - {op: replace, path: /spec/template/spec/containers/0/args/1, value: m/other}
      - {op: remove, path: /spec/template/spec/containers/0/env}
"""
    (launch,) = overlay(tmp_path, text)
    assert argv(launch) == ["--model", "m/other", "--port", "8000", "--enforce-eager"]
    assert environment(launch) == {}


def test_a_new_tag(tmp_path: Path) -> None:
    (launch,) = overlay(tmp_path, "images:\n  - name: vllm/vllm-openai\n    newTag: v0.11.0\n")
    assert release(launch) == ("0.11.0", "image")
    assert argv(launch) == ["--model", "m/base", "--port", "8000"]


def test_a_variable_of_a_patch_takes_the_place_of_the_base_s(tmp_path: Path) -> None:
    patch = PATCH.replace("args: [--model, m/large]", "env: [{name: HF_HOME, value: /other}, {name: A, value: b}]")
    (launch,) = overlay(tmp_path, "patchesStrategicMerge: [env.yaml]\n", env_yaml=patch)
    assert environment(launch) == {"HF_HOME": "/other", "A": "b"}


@pytest.mark.parametrize("text", ["", "namespace: other\n", "namePrefix: a-\n", "labels: [{pairs: {a: b}}]\n"])
def test_an_overlay_that_changes_no_launch(tmp_path: Path, text: str) -> None:
    assert overlay(tmp_path, text) == []


def test_a_config_map_that_it_makes(tmp_path: Path) -> None:
    base = BASE.replace('args: [--model, m/base, --port, "8000"]', "args: [--model, $(MODEL)]").replace(
        "            - name: HF_HOME\n              value: /cache\n",
        "            - name: MODEL\n              valueFrom: {configMapKeyRef: {name: settings, key: MODEL}}\n",
    )
    text = "configMapGenerator:\n  - name: settings\n    envs: [run.env]\n"
    (launch,) = overlay(tmp_path, text, base, run_env="MODEL=m/of-env\n")
    assert argv(launch) == ["--model", "m/of-env"]


def test_a_base_that_is_elsewhere() -> None:
    text = HEAD.replace("../../base", "https://example.com/base?ref=v1") + (
        "patches:\n  - target: {kind: Deployment, name: vllm}\n    patch: |-\n"
        "      - op: replace\n        path: /spec/template/spec/containers/0/args\n"
        "        value: [--model, m/m, --dtype, auto, --max-model-len, '4096']\n"
    )
    (launch,) = read(Source("kustomization.yaml", text)).launches
    assert argv(launch)[:2] == ["--model", "m/m"]
    assert launch.engine == "vllm"
    assert read(Source("kustomization.yaml", text.replace("name: vllm", "name: api"))).launches == []


@pytest.mark.parametrize(
    "text", ["resources: [../../base]\npatches: [{path: 1}]\n", "resources: {a: b}\n", "resources: [..]\n"]
)
def test_odd_kustomizations(tmp_path: Path, text: str) -> None:
    (tmp_path / "kustomization.yaml").write_text(text)
    found = read(Source("kustomization.yaml", "kind: Kustomization\n" + text), Neighbours(str(tmp_path)))
    assert found.launches == []


SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {model: m/other, tag: v0.11.0, image: "vllm/vllm-openai:v0.12.0", port: "9000"}
"""
SOURCE = "resources: [../../base, settings.yaml]\nreplacements:\n  - source: {kind: ConfigMap, name: settings, fieldPath: data."


def replaced(folder: Path, field: str, target: str) -> Launch:
    """The launch of an overlay that copies a field of a ConfigMap."""
    text = f"{SOURCE}{field}}}\n    targets:\n      - select: {{kind: Deployment, name: llm}}\n        fieldPaths: ['{target}"
    (launch,) = overlay(folder, text, settings_yaml=SETTINGS, head=BARE)
    return launch


BARE = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


class TestReplacements:
    @pytest.mark.parametrize(
        "target",
        [
            "spec.template.spec.containers.[name=vllm].args.1']\n",
            "spec.template.spec.containers.*.args.1']\n",
            "spec.template.spec.containers.0.args.1']\n",
        ],
    )
    def test_a_word(self, target: str, tmp_path: Path) -> None:
        launch = replaced(tmp_path, "model", target)
        assert argv(launch) == ["--model", "m/other", "--port", "8000"]
        span = launch.argv[1].text.span()
        assert span is not None
        assert (span.source.path, span.text) == ("overlays/gpu/settings.yaml", "m/other")

    def test_a_part(self, tmp_path: Path) -> None:
        target = "spec.template.spec.containers.0.image']\n        options: {delimiter: ':', index: 1}\n"
        assert release(replaced(tmp_path, "tag", target)) == ("0.11.0", "image")

    def test_a_part_of_the_source(self, tmp_path: Path) -> None:
        target = "spec.template.spec.containers.0.args.1']\n"
        launch = replaced(tmp_path, "image, options: {delimiter: ':'}", target)
        assert argv(launch)[1] == "vllm/vllm-openai"

    @pytest.mark.parametrize(
        ("field", "target"),
        [
            ("model", "spec.template.spec.containers.[name=other].args.1']\n"),
            ("nothing", "spec.template.spec.containers.0.args.1']\n"),
            ("model", "spec.template.spec.containers.0.args.1']\n        reject: [{name: llm}]\n"),
        ],
    )
    def test_what_replaces_nothing(self, field: str, target: str, tmp_path: Path) -> None:
        text = (
            f"{SOURCE}{field}}}\n    targets:\n      - select: {{kind: Deployment, name: llm}}\n        fieldPaths: ['{target}"
        )
        assert overlay(tmp_path, text, settings_yaml=SETTINGS, head=BARE) == []

    def test_variables(self, tmp_path: Path) -> None:
        text = (
            "resources: [../../base, settings.yaml]\nvars:\n  - name: PORT\n    objref: {kind: ConfigMap, name: settings}\n"
            "    fieldref: {fieldpath: data.port}\n"
        )
        base = BASE.replace('"8000"', '"$(PORT)"')
        (launch,) = overlay(tmp_path, text, base, settings_yaml=SETTINGS, head=BARE)
        assert argv(launch) == ["--model", "m/base", "--port", "9000"]


def test_images_alone_make_no_launch_of_their_own(tmp_path: Path) -> None:
    """The files beside the kustomization are read with them."""
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: llm}\nspec:\n  containers:\n    - {name: llm, image: vllm, args: [-h]}\n"
    (tmp_path / "pod.yaml").write_text(pod.replace("[-h]", "[--model=m/m]"))
    text = "resources: [pod.yaml]\nimages: [{name: vllm, newName: vllm/vllm-openai, newTag: v0.20.0}]\n"
    (tmp_path / "kustomization.yaml").write_text(text)
    assert launches_in(text, "kustomization.yaml", tmp_path) == []
    assert release(launch_in((tmp_path / "pod.yaml").read_text(), "pod.yaml", tmp_path)) == ("0.20.0", "image")
