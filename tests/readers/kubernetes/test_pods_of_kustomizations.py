"""Kustomizations: the patches in them, JSON patches, and the images that they run instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.core.launch import Launch
from tests.launching import argv, environment, launch_in, launches_in, marked_launch, release

NAME = "kustomization.yaml"


class TestPatches:
    def test_strategic_merge(self) -> None:
        launch, marks = marked_launch(
            """
            apiVersion: kustomize.config.k8s.io/v1beta1
            kind: Kustomization
            resources: [../base]
            patches:
              - target: {kind: Deployment, name: decode}
                patch: |-
                  apiVersion: apps/v1
                  kind: Deployment
                  metadata: {name: decode}
                  spec:
                    template:
                      spec:
                        containers:
                          - name: vllm
                            command: [⟦vllm⟧, ⟦serve⟧]
                            args:
                              - "⟦m⟧"
                              - ⟦--port=8000⟧
            """,
            NAME,
        )
        assert argv(launch) == ["m", "--port=8000"]
        assert [word.text.span() for word in (*launch.verb, *launch.argv)] == marks
        assert launch.name == "Deployment/decode.containers.vllm"
        assert launch.open_env

    def test_json_patch(self) -> None:
        launch, marks = marked_launch(
            """
            kind: Component
            apiVersion: kustomize.config.k8s.io/v1alpha1
            patches:
              - target: {kind: Deployment, name: decode}
                patch: |
                  # what the provider needs
                  - op: replace
                    path: /spec/template/spec/containers/0/command
                    value: [vllm, serve]
                  - op: replace
                    path: /spec/template/spec/containers/0/args
                    value: [⟦m⟧]
                  - op: add
                    path: /spec/template/spec/containers/0/env
                    value: [{name: A, value: b}]
                  - op: remove
                    path: /spec/template/spec/containers/0/resources
            """,
            NAME,
        )
        assert argv(launch) == ["m"]
        assert [word.text.span() for word in launch.argv] == marks
        assert environment(launch) == {"A": "b"}
        assert launch.name == "Deployment/decode.containers.0"

    @pytest.mark.parametrize(
        "operations",
        [
            "- {op: add, path: /spec/template/spec/containers/-, value: {image: 'vllm/vllm-openai:v0.20.0', args: [m]}}",
            "- {op: add, path: /spec/template/spec, value: {containers: [{image: 'vllm/vllm-openai:v0.20.0', args: [m]}]}}",
            "- {op: replace, path: /spec/template/spec/containers/0/args/0, value: 'exec vllm serve m'}",
        ],
    )
    def test_other_operations(self, operations: str) -> None:
        launch = launch_in(f"resources: [vllm]\npatches:\n  - target: {{kind: Job}}\n    patch: |-\n      {operations}\n", NAME)
        assert argv(launch) == ["m"]

    @pytest.mark.parametrize(
        "operations",
        [
            "- {op: add, path: /spec/template/spec/containers/0/args/-, value: --port=8000}",
            "- {op: replace, path: /spec/template/spec/containers/0/args, value: [--model, m]}",
            "- {op: remove, path: /spec/template/spec/containers/0/command, value: [vllm, serve]}",
            "- {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: USER, value: vllm serve m}}",
            "- {op: add, value: [vllm, serve]}",
            "- [vllm, serve]",
        ],
    )
    def test_operations_that_start_nothing(self, operations: str) -> None:
        assert launches_in(f"resources: [vllm]\npatches:\n  - patch: |-\n      {operations}\n", NAME) == []

    def test_older_keys(self) -> None:
        found = launches_in(
            """
            resources: [vllm.yaml]
            patchesStrategicMerge:
              - other.yaml
              - |-
                apiVersion: v1
                kind: Pod
                metadata: {name: a}
                spec: {containers: [{name: s, command: [vllm, serve], args: [m]}]}
            patchesJson6902:
              - target: {kind: Pod, name: b}
                patch: "[{op: add, path: /spec/containers/0/command, value: [vllm, serve, '⟦n⟧']}]"
            """.replace("⟦", "").replace("⟧", ""),
            NAME,
        )
        assert [(launch.name, argv(launch)[0]) for launch in found] == [
            ("Pod/b.containers.0", "n"),
            ("Pod/a.containers.s", "m"),
        ]

    def test_words_of_a_quoted_patch_stand_in_the_file(self) -> None:
        launch, marks = marked_launch(
            "patches:\n  - patch: '[{op: add, path: /spec/containers/0/command, value: [vllm, serve, ''⟦my model⟧'']}]'\n", NAME
        )
        assert [word.text.span() for word in launch.argv[:1]] == marks

    def test_another_file_with_patches_is_none(self) -> None:
        text = "patches:\n  - patch: '[{op: add, path: /spec/containers/0/command, value: [vllm, serve, m]}]'\n"
        assert launches_in(text, "settings.yaml") == []


class TestPatchFiles:
    def test_json_patch(self) -> None:
        launch = launch_in("- op: replace\n  path: /spec/containers/0/command\n  value: [vllm, serve]\n", "patch.yaml")
        assert [word.many for word in launch.argv] == [True]

    def test_another_list(self) -> None:
        assert launches_in("- path: /spec/containers/0/command\n  value: [vllm, serve]\n", "patch.yaml") == []


MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec: {containers: [{name: s, image: ⟦vllm/vllm-openai:v0.9.0⟧, command: [vllm, serve, m]}]}
"""


class TestImages:
    def launch(self, folder: Path, kustomization: str, name: str = NAME, image: str = "vllm/vllm-openai:v0.9.0") -> Launch:
        (folder / name).write_text(kustomization)
        text = MANIFEST.replace("⟦", "").replace("⟧", "").replace("vllm/vllm-openai:v0.9.0", image)
        return launch_in(text, "deploy.yaml", folder)

    IMAGES = "images: [{name: vllm/vllm-openai, newTag: v0.20.0}]\n"

    @pytest.mark.parametrize(
        "named",
        [
            "resources: [deploy.yaml]",
            "resources: [./deploy.yaml]",
            "patches: [{path: deploy.yaml}]",
            "patchesStrategicMerge: [deploy.yaml]",
        ],
    )
    def test_a_tag(self, tmp_path: Path, named: str) -> None:
        launch = self.launch(tmp_path, f"{named}\n{self.IMAGES}")
        assert release(launch) == ("0.20.0", "image")
        assert launch.image is not None
        assert launch.image.value == "vllm/vllm-openai:v0.20.0"

    @pytest.mark.parametrize("name", ["kustomization.yml", "Kustomization"])
    def test_its_other_names(self, tmp_path: Path, name: str) -> None:
        assert release(self.launch(tmp_path, f"resources: [deploy.yaml]\n{self.IMAGES}", name)) == ("0.20.0", "image")

    @pytest.mark.parametrize(
        ("fields", "image", "expected"),
        [
            ("name: REPLACE, newName: vllm/vllm-openai, newTag: v0.20.0", "REPLACE", "vllm/vllm-openai:v0.20.0"),
            ("name: a/b, newName: c/d", "a/b:v1", "c/d:v1"),
            ("name: a/b, digest: 'sha256:0f'", "a/b:v1", "a/b@sha256:0f"),
            ("name: a/b, newTag: '2'", "a/b@sha256:0f", "a/b:2"),
            ("name: 'r:5000/a', newTag: '2'", "r:5000/a", "r:5000/a:2"),
            ("name: a, newTag: '2'", "r/a:1", "r/a:1"),
        ],
    )
    def test_what_is_replaced(self, tmp_path: Path, fields: str, image: str, expected: str) -> None:
        launch = self.launch(tmp_path, f"resources: [deploy.yaml]\nimages: [{{{fields}}}]\n", image=image)
        assert launch.image is not None
        assert launch.image.value == expected

    def test_the_place_is_the_manifests_and_the_origin_is_told(self, tmp_path: Path) -> None:
        (tmp_path / NAME).write_text(f"resources: [deploy.yaml]\n{self.IMAGES}")
        launch, marks = marked_launch(MANIFEST, "deploy.yaml", tmp_path)
        assert launch.image is not None
        assert launch.image.span() == marks[0]
        assert launch.image.origin is not None
        assert launch.image.origin.text == "v0.20.0"

    @pytest.mark.parametrize(
        "kustomization", ["resources: [other.yaml]\n" + IMAGES, "resources: [deploy.yaml]\nimages: []", "- a", "x: [", ""]
    )
    def test_a_kustomization_that_says_nothing_of_the_file(self, tmp_path: Path, kustomization: str) -> None:
        assert release(self.launch(tmp_path, kustomization)) == ("0.9.0", "image")

    def test_images_of_a_patch_in_the_kustomization_itself(self) -> None:
        launch = launch_in(
            "images: [{name: IMAGE, newName: vllm/vllm-openai, newTag: v0.20.0}]\npatches:\n  - patch: |-\n"
            "      [{op: add, path: /spec/containers/0, value: {image: IMAGE, args: [m]}}]\n",
            NAME,
        )
        assert release(launch) == ("0.20.0", "image")


PATCH = """
    apiVersion: apps/v1
    kind: Deployment
    metadata: {{name: llm}}
    spec:
      template:
        spec:
          containers:
          - name: {}
            args: {}
    """


@pytest.mark.parametrize(
    ("name", "engine"), [("llama-server", "llama.cpp"), ("vllm", "vllm"), ("sglang-decode", "sglang"), ("lmdeploy", "lmdeploy")]
)
def test_the_options_of_a_patch_for_a_container_that_is_called_after_its_engine(name: str, engine: str) -> None:
    found = launch_in(PATCH.format(name, "[--model, m, --host, 0.0.0.0, --port, '80']"), "patch-deployment.yaml")
    assert (found.engine, argv(found)[:4]) == (engine, ["--model", "m", "--host", "0.0.0.0"])


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("vllm", "[--port, '80']"),
        ("vllm-router", "[--model, m, --host, a, --port, '80']"),
        ("server", "[--model, m, --host, a, --port, '80']"),
    ],
)
def test_options_of_a_patch_that_may_be_of_something_else(name: str, args: str) -> None:
    assert launches_in(PATCH.format(name, args), "patch-deployment.yaml") == []
