"""From the body of a review to the body of its answer: a pure function of the body, the policy and the settings.

An API server passes warnings on to the user: each up to 256 characters, all of them up to 4,096, counted in code points, and
none with a control character (k8s.io/apiserver pkg/endpoints/filters/warning.go, apimachinery pkg/util/net).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from servelint.admission.findings import Found, UnreadError, findings_of
from servelint.admission.policy import ALLOW, DENY, SKIP, WARN, Policy, Terms
from servelint.admission.request import KIND, VERSION, RefusedError, Request, parse
from servelint.core.numbers import counted
from servelint.core.settings import Settings
from servelint.report.clean import clean
from servelint.settings.files import Governing

JUDGED_BY_CONTROLLER = frozenset((
    "CronJob", "DaemonSet", "Deployment", "InferenceService", "Job", "LLMInferenceService", "LeaderWorkerSet", "Model",
    "RayJob", "RayService", "ReplicaSet", "StatefulSet", "VLLMRuntime",
))  # fmt: skip
"""Kinds that are judged themselves, as deploy/ registers the webhook for them: the objects that they create need not be."""
_NOT_THE_OBJECT = frozenset(("status", "scale", "binding", "eviction", "approval", "finalize", "log", "exec", "token"))
"""Subresources that do not change how the containers of an object start."""


@dataclass(slots=True)
class Answer:
    """An answer to a review.

    Attributes:
        status: the HTTP status.
        body: JSON.
        facts: what logs and metrics record, which has nothing of the object but its name.
    """

    status: int
    body: bytes
    facts: dict[str, Any]


@dataclass(slots=True)
class Rules:
    """By what objects are judged.

    Attributes:
        policy: the policy.
        governing: the settings of `--settings`, whose paths are NAMESPACE/KIND/NAME.yaml beside that file.
    """

    policy: Policy
    governing: Governing

    def settings(self, request: Request) -> Settings:
        """Return the settings for the object of a request."""
        names = [part.replace(os.sep, "_") or "_" for part in (request.namespace, request.kind, request.name)]
        return self.governing.settings(os.path.join(self.governing.folder, *names[:2], f"{names[2]}.yaml"))


def answer(body: bytes, rules: Rules, path: str = "") -> Answer:
    """Answer a review.

    Args:
        body: the body of the request.
        rules: by what the object is judged.
        path: the name after /validate/ in the request.
    """
    try:
        request = parse(body)
    except RefusedError as error:
        return refusal(error.status, str(error))
    terms = rules.policy.of(request, path)
    if (skipped := _not_judged(request, rules.policy, terms)) is not None:
        return _answered(request, skipped, [])
    try:
        return _judged(request, terms, rules.settings(request))
    except UnreadError as error:
        return _unjudged(request, terms, str(error))
    except Exception as error:  # a bug: the policy decides what happens to the object
        return _unjudged(request, terms, f"an error in servelint itself ({type(error).__name__})")


def unjudged(body: bytes, rules: Rules, path: str, why: str) -> Answer:
    """Answer a review that could not be judged; `why` is such as "no answer within 5 s"."""
    try:
        request = parse(body)
    except RefusedError as error:
        return refusal(error.status, str(error))
    return _unjudged(request, rules.policy.of(request, path), why)


def refusal(status: int, message: str) -> Answer:
    """Answer a request that is not a review; the API server then follows the failurePolicy of the webhook."""
    text = clean(message)
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "message": f"servelint: {text}"}
    return Answer(status, _json(body), {"result": "refused", "why": text})


def _not_judged(request: Request, policy: Policy, terms: Terms) -> str | None:
    """Return why the object is not judged, as the metrics name the result; None if it is."""
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
    findings = findings_of(request.object or {}, settings)
    before: Counter[str] = Counter()
    if findings and request.operation == "UPDATE" and request.old is not None:
        before.update([one.mark for one in findings_of(request.old, settings)])
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
        response["status"] = _status(denial(denied, _named(request)))
    if warned:
        response["warnings"] = warnings(warned)
    if denied or warned:
        response["auditAnnotations"] = {"findings": audit([*denied, *warned])}
    result = result or ("denied" if denied else "warned" if warned else "allowed")
    facts = [[one.rule, one.severity, action] for one, action in actions]
    return _review(request, response, {"result": result, "findings": facts})


def _unjudged(request: Request, terms: Terms, why: str) -> Answer:
    allowed = terms.unjudged == ALLOW
    text = clean(f"servelint could not judge {_named(request)}: {why}")
    response: dict[str, Any] = {"uid": request.uid, "allowed": allowed}
    if allowed:
        response["warnings"] = [cut(f"{text}; it is accepted", WARNING_AT_MOST)]
    else:
        response["status"] = _status(text)
    return _review(request, response, {"result": "failed-open" if allowed else "failed-closed", "why": why, "findings": []})


def _status(message: str) -> dict[str, Any]:
    return {"code": 403, "reason": "Forbidden", "message": message}


def _named(request: Request) -> str:
    return f"{request.kind or 'object'} {'/'.join([part for part in (request.namespace, request.name) if part])}".rstrip()


def _review(request: Request, response: dict[str, Any], facts: dict[str, Any]) -> Answer:
    about = {name: getattr(request, name) for name in ("uid", "operation", "kind", "namespace", "name", "user")}
    return Answer(200, _json({"apiVersion": VERSION, "kind": KIND, "response": response}), {**about, **facts})


def _json(data: dict[str, Any]) -> bytes:
    return json.dumps(data).encode()


WARNING_AT_MOST = 256
WARNINGS_AT_MOST = 4096
_MESSAGE_AT_MOST = 4096
_MORE_AT_MOST = 48
_SIGN = "\u2026"


def denial(denied: Sequence[Found], what: str) -> str:
    """Return why an object is denied, one finding on each line; `what` is such as "Deployment prod/llm"."""
    lines = [f"servelint denies {what} for {counted(len(denied), 'finding', 'findings')}:"]
    left = _MESSAGE_AT_MOST - len(lines[0]) - _MORE_AT_MOST
    for number, one in enumerate(denied):
        line = cut(f"{one.severity}[{one.rule}] {_sentence(one)}", 1024)
        left -= len(line) + 1
        if left < 0:
            lines.append(f"and {len(denied) - number} more")
            break
        lines.append(line)
    return "\n".join(lines)


def warnings(warned: Sequence[Found]) -> list[str]:
    """Return the warnings of an object, the most severe first."""
    found: list[str] = []
    left = WARNINGS_AT_MOST - _MORE_AT_MOST
    for number, one in enumerate(warned):
        line = cut(f"{one.rule}: {_sentence(one)}", WARNING_AT_MOST)
        left -= len(line)
        if left < 0:
            found.append(f"servelint: and {len(warned) - number} more")
            break
        found.append(line)
    return found


def audit(findings: Sequence[Found]) -> str:
    """Return the findings for an audit log: "error vllm/removed-option, warning vllm/..."."""
    return cut(", ".join(dict.fromkeys([f"{one.severity} {one.rule}" for one in findings])), _MESSAGE_AT_MOST)


def _sentence(one: Found) -> str:
    where = f"{one.field}: " if one.field else ""
    releases = f" ({one.releases})" if one.releases else ""
    return f"{where}{one.sentence}{releases}"


def cut(text: str, most: int) -> str:
    """Return a text on one line, of at most `most` characters."""
    line = clean(text)
    return line if len(line) <= most else line[: most - 1] + _SIGN
