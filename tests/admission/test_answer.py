"""What is answered to a review: allowed, warned, denied, and in which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from servelint.admission import findings
from servelint.admission.answer import answer, unjudged
from servelint.admission.worker import rules
from servelint.report.clean import clean
from tests.admission.reviews import BROKEN, SOUND, answered, by, changed, deployment, pod_spec, review
from tests.together import together


def test_a_sound_object_is_allowed_in_silence() -> None:
    assert answered(review(deployment(SOUND))) == {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "allowed": True,
        "result": "allowed",
    }


def test_a_broken_one_is_denied_with_field_value_rule_release_and_remedy() -> None:
    response = answered(review(deployment(BROKEN)))
    assert not response["allowed"]
    assert (response["status"]["code"], response["status"]["reason"]) == (403, "Forbidden")
    first, line = response["status"]["message"].split("\n")
    assert first == "servelint denies Deployment prod/llm for 1 finding:"
    assert line.startswith("error[vllm/removed-option] spec.template.spec.containers[0].args[1]: --swap-space was removed")
    assert "vLLM 0.19.1" in line
    assert "delete it" in line
    assert response["auditAnnotations"] == {"findings": "error vllm/removed-option"}


@pytest.mark.parametrize(
    ("thing", "place"),
    [
        ({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "llm-"}, "spec": pod_spec(BROKEN)}, "spec."),
        (
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "metadata": {"name": "llm"},
                "spec": {"jobTemplate": {"spec": {"template": {"spec": pod_spec(BROKEN)}}}},
            },
            "spec.jobTemplate.spec.template.spec.",
        ),
        (
            {
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "metadata": {"name": "llm"},
                "spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": pod_spec(BROKEN)}}},
            },
            "spec.leaderWorkerTemplate.workerTemplate.spec.",
        ),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_other_kinds(thing: dict[str, Any], place: str) -> None:
    response = answered(review(thing))
    assert not response["allowed"]
    assert f"] {place}containers[0].args[1]: " in response["status"]["message"]


def test_a_field_in_a_script_or_under_an_odd_key_is_told() -> None:
    spec = pod_spec(["set -e\nvllm serve m --swap-space 4\n"], command=["sh", "-c"])
    response = answered(review({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}))
    assert "spec.containers[0].args[0]: --swap-space" in response["status"]["message"]


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
def test_what_writes_no_object_is_allowed(operation: str) -> None:
    assert answered(review(None, operation=operation, oldObject=deployment(BROKEN)))["result"] == "nothing"


@pytest.mark.parametrize("subresource", ["status", "scale"])
def test_what_changes_no_container_is_allowed(subresource: str) -> None:
    assert answered(review(deployment(BROKEN), operation="UPDATE", subResource=subresource))["result"] == "nothing"


class TestUpdates:
    def test_what_was_there_before_is_warned_of(self) -> None:
        old = deployment(BROKEN)
        new = changed(old, "metadata", "labels", to={"app": "llm", "tier": "gold"})
        response = answered(review(new, operation="UPDATE", oldObject=old))
        assert response["allowed"]
        assert response["warnings"][0].startswith("vllm/removed-option: spec.template.spec.containers[0].args[1]: --swap-space")

    def test_what_is_new_is_denied(self) -> None:
        response = answered(review(deployment(BROKEN), operation="UPDATE", oldObject=deployment(SOUND)))
        assert response["result"] == "denied"

    def test_what_moved_within_the_object_is_not_new(self) -> None:
        response = answered(review(deployment([*SOUND, "--swap-space", "4"]), operation="UPDATE", oldObject=deployment(BROKEN)))
        assert response["result"] == "warned"

    def test_the_same_once_more_is_new(self) -> None:
        old = deployment(BROKEN)
        containers = [*pod_spec(BROKEN)["containers"], {**pod_spec(BROKEN)["containers"][0], "name": "second"}]
        new = changed(old, "spec", "template", "spec", "containers", to=containers)
        response = answered(review(new, operation="UPDATE", oldObject=old))
        assert "containers[1].args[1]" in response["status"]["message"]
        assert "containers[0].args[1]" in response["warnings"][0]

    @pytest.mark.parametrize(("known", "result"), [("deny", "denied"), ("warn", "warned"), ("allow", "allowed")])
    def test_the_policy_may_say_otherwise(self, known: str, result: str) -> None:
        thing = deployment(BROKEN)
        response = answered(review(thing, operation="UPDATE", oldObject=thing), f"known: {known}")
        assert response["result"] == result


class TestOwners:
    def pod(self, **more: Any) -> dict[str, Any]:
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "llm-1", "uid": "1", "controller": True, **more}
        metadata = {"name": "llm-1-abc", "ownerReferences": [owner]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(BROKEN)}

    def test_a_pod_of_a_controller_that_is_judged_is_not(self) -> None:
        assert answered(review(self.pod()))["result"] == "owned"

    def test_a_pod_of_another_controller_is_judged(self) -> None:
        assert answered(review(self.pod(kind="Sandbox")))["result"] == "denied"
        assert answered(review(self.pod(controller=False)))["result"] == "denied"

    def test_all_are_if_the_policy_says_so(self) -> None:
        assert answered(review(self.pod()), "owned: judge")["result"] == "denied"


class TestPolicy:
    def test_severities(self) -> None:
        assert answered(review(deployment(BROKEN)), "deny: never")["result"] == "warned"
        assert answered(review(deployment(BROKEN)), "deny: never\nwarn: never")["result"] == "allowed"
        late = deployment(SOUND, image="vllm/vllm-openai:latest")
        assert answered(review(late), "deny: never\nwarn: info")["result"] in ("allowed", "warned")

    def test_namespaces(self) -> None:
        policy = "overrides:\n  - namespaces: [prod-*, lab]\n    deny: never\n"
        broken = deployment(BROKEN)
        results = [answered(review(broken, namespace=name), policy)["result"] for name in ("prod-eu", "lab", "prod", "labs")]
        assert results == ["warned", "warned", "denied", "denied"]

    def test_a_later_override_wins_and_both_conditions_hold(self) -> None:
        policy = """
            overrides:
              - {namespaces: ["*"], deny: never}
              - {namespaces: [prod], labels: {tier: "g*"}, deny: error}
        """
        thing = deployment(BROKEN)
        gold = changed(thing, "metadata", "labels", to={"tier": "gold"})
        assert answered(review(thing), policy)["result"] == "warned"
        assert answered(review(gold), policy)["result"] == "denied"
        assert answered(review(gold, namespace="lab"), policy)["result"] == "warned"

    def test_a_path_is_for_a_webhook_of_its_own(self) -> None:
        policy = "overrides: [{paths: [warn], deny: never}]"
        assert answered(review(deployment(BROKEN)), policy, "warn")["result"] == "warned"
        assert answered(review(deployment(BROKEN)), policy)["result"] == "denied"

    @pytest.mark.parametrize(
        ("policy", "more"),
        [
            ("", {"namespace": "kube-system"}),
            ("exempt: {namespaces: [infra-*]}", {"namespace": "infra-gpu"}),
            (
                "exempt: {users: ['system:serviceaccount:argocd:*']}",
                {"userInfo": {"username": "system:serviceaccount:argocd:x"}},
            ),
            ("exempt: {groups: [break-glass]}", {"userInfo": {"username": "u", "groups": ["a", "break-glass"]}}),
        ],
    )
    def test_who_is_exempt(self, policy: str, more: dict[str, Any]) -> None:
        assert answered(review(deployment(BROKEN), **more), policy)["result"] == "exempt"
        assert answered(review(deployment(BROKEN)), policy)["result"] == "denied"

    def test_settings_speak_of_namespaces_as_paths(self, tmp_path: Path) -> None:
        settings = tmp_path / "servelint.toml"
        settings.write_text('[[per-path]]\npaths = ["prod/**"]\nrule."vllm/removed-option".severity = "warning"\n')
        given, problems = rules(None, str(settings))
        assert problems == []
        data = review(deployment(BROKEN))
        assert answer(json.dumps(data).encode(), given).facts["result"] == "warned"
        data["request"]["namespace"] = "lab"
        assert answer(json.dumps(data).encode(), given).facts["result"] == "denied"


class TestSecrets:
    KEY = "sk-live-0123456789abcdefghijklmnop"

    def test_are_in_no_answer(self) -> None:
        thing = deployment([*BROKEN, "--api-key", self.KEY])
        made = answer(json.dumps(review(thing)).encode(), by("warn: info"))
        assert made.facts["result"] == "denied"
        assert self.KEY not in made.body.decode()
        assert self.KEY not in json.dumps(made.facts)
        assert "sk-" in made.body.decode()

    def test_what_a_config_map_holds_is_unknown(self) -> None:
        """A finding that the value could refute is none."""
        args = ["Qwen/Qwen3-8B", "--gpu-memory-utilization", "$(SHARE)"]
        env = [{"name": "SHARE", "valueFrom": {"configMapKeyRef": {"name": "llm", "key": "share"}}}]
        assert answered(review(deployment(args, env=env)))["result"] == "allowed"
        told = answered(review(deployment(args, env=[{"name": "SHARE", "value": "1.5"}])))
        assert "containers[0].env[0].value: " in told["status"]["message"]


class TestFailures:
    def test_a_fault_of_ours_is_the_policy_s_matter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise ZeroDivisionError("of the object's text: sk-secret")

        monkeypatch.setattr("servelint.admission.answer.findings_of", fail)
        open_ = answered(review(deployment(BROKEN)))
        assert open_["allowed"]
        why = "an error in servelint itself (ZeroDivisionError)"
        assert open_["warnings"] == [f"servelint could not judge Deployment prod/llm: {why}; it is accepted"]
        closed = answered(review(deployment(BROKEN)), "unjudged: deny")
        assert (closed["allowed"], closed["result"]) == (False, "failed-closed")
        assert "sk-secret" not in json.dumps([open_, closed])

    def test_an_object_that_no_reader_can_take(self) -> None:
        long_key = {"apiVersion": "v1", "kind": "Pod", "spec": {"vllm" * 400: 1, **pod_spec(BROKEN)}}
        assert answered(review(long_key))["result"] == "failed-open"

    def test_no_time_left(self) -> None:
        body = json.dumps(review(deployment(BROKEN))).encode()
        assert unjudged(body, by(), "", "no answer within 5 s").facts["result"] == "failed-open"
        assert unjudged(body, by("unjudged: deny"), "", "no answer within 5 s").facts["result"] == "failed-closed"
        assert unjudged(b"{", by(), "", "no answer within 5 s").status == 400


class TestObjects:
    def test_what_launches_nothing_is_left_out(self) -> None:
        thing = deployment(SOUND)
        plain = findings.text_of(thing)
        thing["metadata"] |= {
            "managedFields": [{"fieldsV1": {"f:spec": {}}}],
            "annotations": {"a": "vllm"},
            "labels": {"b": "c"},
        }
        thing["status"] = {"replicas": 3}
        thing["spec"]["template"]["metadata"] = {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}}
        assert findings.text_of(thing) == plain

    @together("odd", ["\x7f", "\x85", "\u2028", "\ufeff", "\ud800", "\U0001f600", "\x00", "a\nb", "\\/\b"])
    def test_any_text_is_read_as_it_is(self, odd: str) -> None:
        response = answered(review(deployment([*BROKEN, "--served-model-name", f"x{odd}y"])))
        assert response["result"] == "denied"
        assert clean(response["status"]["message"].replace("\n", " ")).isprintable()

    def test_the_same_object_is_judged_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        thing = deployment([*BROKEN, "--seed", "77"])
        first = answered(review(thing), "deny: never")
        settings = next(reversed(findings._known))[1]
        monkeypatch.setattr("servelint.admission.findings.judge", lambda *_: pytest.fail("judged again"))
        monkeypatch.setattr("servelint.admission.answer.Rules.settings", lambda *_: settings)
        assert answered(review(thing), "deny: never") == first
