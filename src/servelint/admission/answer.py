"""From the body of a review to the body of its answer. A pure function of the body, the policy and the settings."""

from __future__ import annotations

import json
import os
from collections import Counter

from servelint.admission import wording
from servelint.admission.found import Found, UnreadError, found
from servelint.admission.policy import ALLOW, DENY, SKIP, WARN, Policy, Terms
from servelint.admission.request import KIND, VERSION, RefusedError, Request, parse
from servelint.core.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.settings.files import Governing

JUDGED_BY_CONTROLLER = frozenset(
    (
        "CronJob",
        "DaemonSet",
        "Deployment",
        "InferenceService",
        "Job",
        "LLMInferenceService",
        "LeaderWorkerSet",
        "Model",
        "RayJob",
        "RayService",
        "ReplicaSet",
        "StatefulSet",
        "VLLMRuntime",
    )
)
"""Kinds that are judged themselves, as deploy/ has the webhook asked of them: what they make need not be once more."""
_NOT_THE_OBJECT = frozenset(("status", "scale", "binding", "eviction", "approval", "finalize", "log", "exec", "token"))
"""Subresources that change nothing of how an object's containers start."""


class Answer:
    """status: of HTTP;  body: JSON;  facts: what logs and metrics tell of it, without anything of the object but its name"""

    __slots__ = ("body", "facts", "status")

    def __init__(self, status: int, body: bytes, facts: dict[str, Any]) -> None:
        self.status = status
        self.body = body
        self.facts = facts


class Rules:
    """By what objects are judged.

    settings: of servelint, as `--settings` has them; an object goes by the path NAMESPACE/KIND/NAME.yaml beside that file
    """

    __slots__ = ("_governing", "policy")

    def __init__(self, policy: Policy, governing: Governing) -> None:
        self.policy = policy
        self._governing = governing

    def settings(self, request: Request) -> Settings:
        names = [part.replace(os.sep, "_") or "_" for part in (request.namespace, request.kind, request.name)]
        return self._governing.settings(os.path.join(self._governing.folder, *names[:2], f"{names[2]}.yaml"))


def answer(body: bytes, rules: Rules, path: str = "") -> Answer:
    """The answer to a review. path: the name behind /validate/ that was asked"""
    try:
        request = parse(body)
    except RefusedError as error:
        return refusal(error.status, str(error))
    terms = rules.policy.of(request, path)
    skipped = _not_judged(request, rules.policy, terms)
    if skipped is not None:
        return _answered(request, skipped, [])
    try:
        return _judged(request, terms, rules.settings(request))
    except UnreadError as error:
        return _unjudged(request, terms, str(error))
    except Exception as error:  # a bug of ours: the policy says what becomes of the object
        return _unjudged(request, terms, f"an error in servelint itself ({type(error).__name__})")


def unjudged(body: bytes, rules: Rules, path: str, why: str) -> Answer:
    """The answer where nobody could judge. why: "no answer within 5 s" """
    try:
        request = parse(body)
    except RefusedError as error:
        return refusal(error.status, str(error))
    return _unjudged(request, rules.policy.of(request, path), why)


def refusal(status: int, message: str) -> Answer:
    """The answer to what is no review: the API server goes by the webhook's failurePolicy then."""
    text = wording.plain(message)
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "message": f"servelint: {text}"}
    return Answer(status, _json(body), {"result": "refused", "why": text})


def _not_judged(request: Request, policy: Policy, terms: Terms) -> str | None:
    """Why there is nothing to judge: what the metrics call the result; None where there is."""
    if request.operation not in ("CREATE", "UPDATE") or request.object is None or request.subresource in _NOT_THE_OBJECT:
        return "nothing"
    if policy.exempt(request) is not None:
        return "exempt"
    return "owned" if terms.owned == SKIP and _is_owned(request.object) else None


def _is_owned(thing: dict[str, Any]) -> bool:
    metadata = thing.get("metadata")
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    return isinstance(owners, list) and any(
        isinstance(one, dict) and one.get("controller") is True and one.get("kind") in JUDGED_BY_CONTROLLER for one in owners
    )


def _judged(request: Request, terms: Terms, settings: Settings) -> Answer:
    findings = found(request.object or {}, settings)
    before: Counter[str] = Counter()
    if findings and request.operation == "UPDATE" and request.old is not None:
        before.update([one.mark for one in found(request.old, settings)])
    actions: list[tuple[Found, str]] = []
    for one in findings:
        known = before[one.mark] > 0
        before[one.mark] -= 1
        actions.append((one, terms.action(one.severity, known=known)))
    return _answered(request, "", actions)


def _answered(request: Request, result: str, actions: list[tuple[Found, str]]) -> Answer:
    denied = [one for one, action in actions if action == DENY]
    warned = [one for one, action in actions if action == WARN]
    response: dict[str, Any] = {"uid": request.uid, "allowed": not denied}
    if denied:
        response["status"] = _status(wording.message(denied, _named(request)))
    if warned:
        response["warnings"] = wording.warnings(warned)
    if denied or warned:
        response["auditAnnotations"] = {"findings": wording.audit([*denied, *warned])}
    result = result or ("denied" if denied else "warned" if warned else "allowed")
    told = [[one.rule, one.severity, action] for one, action in actions]
    return _review(request, response, {"result": result, "findings": told})


def _unjudged(request: Request, terms: Terms, why: str) -> Answer:
    allowed = terms.unjudged == ALLOW
    text = wording.plain(f"servelint could not judge {_named(request)}: {why}")
    response: dict[str, Any] = {"uid": request.uid, "allowed": allowed}
    if allowed:
        response["warnings"] = [wording.cut(f"{text}; it is taken as it is", wording.WARNING_AT_MOST)]
    else:
        response["status"] = _status(text)
    return _review(request, response, {"result": "failed-open" if allowed else "failed-closed", "why": why, "findings": []})


def _status(message: str) -> dict[str, Any]:
    return {"code": 403, "reason": "Forbidden", "message": message}


def _named(request: Request) -> str:
    return f"{request.kind or 'object'} {'/'.join([part for part in (request.namespace, request.name) if part])}".rstrip()


def _review(request: Request, response: dict[str, Any], facts: dict[str, Any]) -> Answer:
    about = {
        "uid": request.uid,
        "operation": request.operation,
        "kind": request.kind,
        "namespace": request.namespace,
        "name": request.name,
        "user": request.user,
    }
    return Answer(200, _json({"apiVersion": VERSION, "kind": KIND, "response": response}), {**about, **facts})


def _json(data: dict[str, Any]) -> bytes:
    return json.dumps(data).encode()
