"""What kubectl prints of a cluster: what is left out before it is read, and what is found in the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from servelint.core import bounds
from servelint.readers.cluster_list import is_list, thinned
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
    for bound in (bounds.FILE, bounds.DATA):
        monkeypatch.setattr(bound, "most", 1 << 17)
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
