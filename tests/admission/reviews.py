"""Reviews for tests, and what is answered to them in this process."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from servelint.admission.answer import Rules, answer
from servelint.admission.policy import Policy, parse
from servelint.admission.worker import rules
from servelint.core.source import Source

BROKEN = ["Qwen/Qwen3-8B", "--swap-space", "4", "--gpu-memory-utilization", "0.9"]
"""--swap-space is gone since vLLM 0.18."""
SOUND = ["Qwen/Qwen3-8B", "--gpu-memory-utilization", "0.9"]


def pod_spec(args: list[str], image: str = "vllm/vllm-openai:v0.19.1", **more: Any) -> dict[str, Any]:
    resources = {"limits": {"nvidia.com/gpu": "1"}}
    return {"containers": [{"name": "vllm", "image": image, "args": args, "resources": resources, **more}]}


def deployment(args: list[str], *, name: str = "llm", **more: Any) -> dict[str, Any]:
    """A Deployment of vLLM 0.19.1."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "prod", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(args, **more)},
        },
    }


def review(thing: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """A review of an object that is made. more: fields of the request"""
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "apps", "version": "v1", "kind": (thing or {}).get("kind", "Deployment")},
        "namespace": "prod",
        "name": "llm",
        "operation": "CREATE",
        "userInfo": {"username": "somebody", "groups": ["system:authenticated"]},
        "object": thing,
        **more,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def by(text: str = "") -> Rules:
    """Rules with the policy that a text is."""
    found, _ = rules(None, None)
    policy, problems = parse(Source("policy.yaml", text)) if text else (Policy(), [])
    assert problems == []
    found.policy = policy
    return found


def answered(data: dict[str, Any], policy: str = "", path: str = "") -> dict[str, Any]:
    """The response to a review; the uid is checked here."""
    made = answer(json.dumps(data).encode(), by(policy), path)
    assert made.status == 200, made.body
    found = json.loads(made.body)
    assert (found["apiVersion"], found["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response: dict[str, Any] = found["response"]
    assert response["uid"] == data["request"]["uid"]
    return {**response, "result": made.facts["result"]}


def changed(thing: dict[str, Any], *path: str | int, to: Any) -> dict[str, Any]:
    """A copy with another value of a field."""
    copy = deepcopy(thing)
    at: Any = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = to
    return copy
