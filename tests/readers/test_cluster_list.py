"""What kubectl prints of a cluster: what is left out before it is read, and what is found in the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from servelint.core import bounds
from servelint.readers.cluster_list import is_list, stream, thinned, thinned_yaml
from tests.running import Workspace

ARGS = ["--model", "Qwen/Qwen3-8B", "--swap-space", "4"]


def pod(name: str, namespace: str = "llm", image: str = "vllm/vllm-openai:v0.27.1", **more: Any) -> dict[str, Any]:
    container = {"name": "server", "image": image, "args": ARGS, **more}
    metadata = {"name": name, "namespace": namespace, "managedFields": [{"manager": "kubectl"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}, "status": {"x": "y"}}


def config_map(name: str, namespace: str = "llm", **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def printed(*items: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "items": list(items), "kind": "List", "metadata": {"resourceVersion": ""}}, indent=4)


class TestWhatIsLeft:
    def test_only_what_starts_an_engine_where_it_stood(self) -> None:
        text = printed(pod("a", image="nginx"), pod("b"), pod("c", image="redis"), pod("d"))
        left = thinned(text)
        assert left is not None
        assert len(left) == len(text)
        assert [item["metadata"]["name"] for item in json.loads(left)["items"]] == ["b", "d"]
        assert left.index('"b"') == text.index('"b"')

    def test_not_what_the_cluster_notes_down(self) -> None:
        (item,) = json.loads(thinned(printed(pod("a"))) or "")["items"]
        assert (item["status"], item["metadata"]["managedFields"]) == (None, None)

    def test_the_config_maps_that_it_names(self) -> None:
        named = pod("a", envFrom=[{"configMapRef": {"name": "settings"}}])
        left = json.loads(thinned(printed(config_map("other"), named, config_map("settings"))) or "")
        assert [item["metadata"]["name"] for item in left["items"]] == ["a", "settings"]

    @pytest.mark.parametrize("text", ['{"apiVersion": "v1", "kind": "Pod"}', '{"items": [1, 2', "[]", "", '{"items": [' * 5000])
    def test_nothing_of_another_text(self, text: str) -> None:
        assert thinned(text) is None

    def test_nothing_where_there_is_none(self) -> None:
        assert json.loads(thinned(printed(pod("a", image="nginx"))) or "")["items"] == []

    def test_what_the_server_itself_answers(self) -> None:
        text = json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": [pod("a")]})
        assert is_list(text.encode())
        assert thinned(text) is not None


def found(workspace: Workspace, text: str) -> list[tuple[int, str]]:
    ran = workspace.run("check", "--format", "json", "-", stdin=text.encode())
    report = json.loads(ran.out)
    assert report["errors"] == []
    return [(one["start"]["line"], one["rule"]) for one in report["findings"] if one["severity"] == "error"]


def test_findings_stand_where_they_stand(workspace: Workspace) -> None:
    text = printed(pod("a", image="nginx"), pod("b"))
    lines = [number for number, line in enumerate(text.split("\n"), start=1) if "--swap-space" in line]
    assert found(workspace, text) == [(lines[1], "vllm/removed-option")]


def test_one_that_is_larger_than_any_other_file(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(
        *[pod(f"p{number}", image="nginx", env=[{"name": "X", "value": "y" * 4000}]) for number in range(60)], pod("b")
    )
    assert len(text) > 1 << 17
    monkeypatch.setattr(bounds.FILE, "most", 1 << 17)
    assert [rule for _, rule in found(workspace, text)] == ["vllm/removed-option"]
    (workspace.folder / "cluster.json").write_text(text)
    assert workspace.run("check", "cluster.json").status == 1


def test_a_name_of_several_namespaces_is_not_followed(workspace: Workspace) -> None:
    refers = [{"name": "UTIL", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "util"}}}]
    args = ["--model", "x/y", "--gpu-memory-utilization", "$(UTIL)"]
    one = pod("a", args=args, env=refers)
    wrong, right = config_map("settings", util="1.5"), config_map("settings", namespace="other", util="0.9")
    assert [rule for _, rule in found(workspace, printed(one, wrong))] == ["vllm/gpu-memory-utilization-out-of-range"]
    assert found(workspace, printed(one, wrong, right)) == []


CRD = "apiVersion: x/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: x\nspec:\n  about: runs vllm serve\n"
POD = """apiVersion: v1
kind: Pod
metadata:
  name: llm
spec:
  containers:
    - name: llm
      image: vllm/vllm-openai:v0.27.1
      args: [--model, Qwen/Qwen3-8B, --swap-space, "4"]
      envFrom: [{configMapRef: {name: settings}}]
"""
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  LEVEL: '0'\n"


class TestBundles:
    def test_only_what_starts_an_engine_and_what_it_names(self) -> None:
        text = "---\n".join([CRD, MAP.replace("settings", "others"), POD, MAP, "kind: Service\nspec: {}\n"])
        left = thinned_yaml(text)
        assert left is not None
        assert len(left) == len(text)
        assert [one for one in ("CustomResource", "others", "Pod", "name: settings\n", "Service") if one in left] == [
            "Pod",
            "name: settings\n",
        ]
        assert left.index("kind: Pod") == text.index("kind: Pod")

    @pytest.mark.parametrize("text", [POD, f"---\n{POD}---\n{MAP}", "services:\n  a: {}\n---\nx: 1\n", "", "---"])
    def test_nothing_where_all_is_needed_or_none_is_an_object(self, text: str) -> None:
        assert thinned_yaml(text) is None

    def test_a_list_as_kubectl_prints_it(self) -> None:
        items = ["- " + one.replace("\n", "\n  ").rstrip() + "\n" for one in (CRD, POD, MAP, CRD)]
        text = "apiVersion: v1\nitems:\n" + "".join(items) + "kind: List\nmetadata: {}\n"
        left = thinned_yaml(text)
        assert left is not None
        assert ("CustomResource" in left, "kind: List" in left) == (False, True)
        assert left.index("kind: Pod") == text.index("kind: Pod")

    @pytest.mark.parametrize("list_of", [False, True])
    def test_one_of_several_megabytes_is_read(self, workspace: Workspace, list_of: bool) -> None:
        crd = CRD + "".join([f"  k{number}: {{type: string, description: about vllm}}\n" for number in range(20_000)])
        parts = [crd] * 6 + [POD, MAP]
        text = "---\n".join(parts)
        if list_of:
            text = "apiVersion: v1\nitems:\n" + "".join(["- " + one.replace("\n", "\n  ").rstrip() + "\n" for one in parts])
            text += "kind: List\n"
        assert len(text) > 5 << 20
        (workspace.folder / "bundle.yaml").write_text(text)
        report = workspace.run("check", "--format", "json", ".").data
        line = text[: text.index("--swap-space")].count("\n") + 1
        assert [(one["rule"], one["start"]["line"]) for one in report["findings"] if one["severity"] == "error"] == [
            ("vllm/removed-option", line)
        ]

    def test_a_script_with_manifests_in_it_is_read(self, workspace: Workspace) -> None:
        crd = CRD + "".join([f"  k{number}: {{type: string, description: about vllm}}\n" for number in range(20_000)])
        start = "vllm serve m --gpu-memory-utilization 1.5\n"
        text = f"#!/bin/bash\ncat <<'EOF' | kubectl apply -f -\n{crd}---\n{crd}EOF\n{start}"
        (workspace.folder / "install.sh").write_text(text)
        report = workspace.run("check", "--format", "json", ".").data
        assert report["errors"] == []
        assert [(one["rule"], one["start"]["line"]) for one in report["findings"]] == [
            ("vllm/gpu-memory-utilization-out-of-range", text.count("\n"))
        ]


class TestPassedOver:
    LARGE = "# about vllm\n" + "".join([f"k{number}: [1, 2, 3]\n" for number in range(30_000)])

    def test_what_starts_nothing_is_passed_over_and_counted(self, workspace: Workspace) -> None:
        (workspace.folder / "values.yaml").write_text(self.LARGE)
        (workspace.folder / "notes.md").write_text("# vllm\n" + "lorem ipsum\n" * 400_000)
        ran = workspace.run("check", ".")
        assert ran.status == 0
        assert "note: values.yaml:20001:16: skipped, because nothing in it starts an engine: the YAML has more than" in ran.out
        assert ran.out.rstrip().endswith("2 large files were passed over")

    @pytest.mark.parametrize("names", [["values.yaml"], [".", "values.yaml"]])
    def test_what_is_named_is_an_error(self, workspace: Workspace, names: list[str]) -> None:
        (workspace.folder / "values.yaml").write_text(self.LARGE)
        ran = workspace.run("check", *names)
        assert ran.status == 2
        assert "error: values.yaml:20001:16: not read: the YAML has more than 100,000 keys and values" in ran.out

    @pytest.mark.parametrize(
        "start", ["vllm serve m", "python -m sglang.launch_server", "image: vllm/vllm-openai:v0.33.0", '["vllm", "serve"]']
    )
    def test_what_starts_an_engine_is_an_error(self, workspace: Workspace, start: str) -> None:
        (workspace.folder / "values.yaml").write_text(self.LARGE + f"x: |\n  {start}\n")
        assert workspace.run("check", ".").status == 2


class TestStream:
    """JSON values one after another, as logs of requests and benchmarks are, and as `kubectl apply` takes manifests."""

    @pytest.mark.parametrize("end", ["\n", "\n\n", "", "\r\n"])
    def test_records_are_no_manifests(self, workspace: Workspace, end: str) -> None:
        score = json.dumps({"accuracy": 0.36, "count": 200})
        record = json.dumps(
            {"id": "1", "model": "vllm", "error": 'a "services" key', "parsed": {"services": [], "apiVersion": 1}}
        )
        (workspace.folder / "score.json").write_text(score + "\n" + "\n".join([record] * 3) + end)
        report = workspace.run("check", "--format", "json", ".").data
        assert (report["errors"], report["launches"]) == ([], 0)

    @pytest.mark.parametrize("between", ["\n", " ", "\n\n"])
    def test_manifests_are_read(self, workspace: Workspace, between: str) -> None:
        objects: list[dict[str, Any]] = [config_map("a"), pod("one"), {"services": {}}, pod("two")]
        (workspace.folder / "all.json").write_text(between.join([json.dumps(one) for one in objects]))
        report = workspace.run("check", "--format", "json", ".").data
        assert (report["errors"], report["launches"]) == ([], 2)
        text = (workspace.folder / "all.json").read_text()
        places = [
            (one["start"]["line"], one["start"]["column"]) for one in report["findings"] if one["rule"] == "vllm/removed-option"
        ]
        lines = text.split("\n")
        assert [
            lines[line - 1][column - 1 :].startswith("--swap-space") or lines[line - 1][column - 1 :].startswith('"--swap')
            for line, column in places
        ] == [True] * 2

    @pytest.mark.parametrize("text", ['{"services": {}}\n{"a": ', '{"services": {"vllm": 1}} rest', '{"services": 1}\n2'])
    def test_what_is_no_stream_is_an_error_as_before(self, text: str) -> None:
        assert stream(text) is None

    def test_more_manifests_than_are_read_is_an_error(self, workspace: Workspace) -> None:
        (workspace.folder / "many.json").write_text("\n".join([json.dumps(pod(f"pod-{at}")) for at in range(51)]))
        report = workspace.run("check", "--format", "json", "many.json").data
        assert report["launches"] == 50
        assert ["more than 50 manifests" in one["message"] for one in report["errors"]] == [True]

    def test_manifests_without_an_engine_are_not_counted(self) -> None:
        other = json.dumps({"apiVersion": "v1", "kind": "Namespace"})
        assert len(stream("\n".join([*[other] * 60, json.dumps(pod("one"))])) or []) == 1

    def test_one_value_is_none(self) -> None:
        assert stream(json.dumps(pod("one"))) is None
