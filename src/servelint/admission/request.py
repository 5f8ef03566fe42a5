"""AdmissionReview v1 as an API server sends it (k8s.io/api/admission/v1), and errors for other bodies."""

from __future__ import annotations

import json
from typing import Any

VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"
OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
_SHOWN_AT_MOST = 80


class RefusedError(Exception):
    """A body is not a review. The message says why, without any text of an object.

    Attributes:
        status: the HTTP status of the answer.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Request:
    """The question of a review: may this object be written?

    Attributes:
        uid: the id of the review.
        operation: one of OPERATIONS.
        kind: the kind of the object, such as "Deployment".
        subresource: such as "scale", "" for the object itself.
        name: the name of the object, "" where the server generates it.
        namespace: its namespace, "" for an object of the whole cluster.
        labels: its labels.
        user: the user who writes it.
        groups: the groups of that user.
        object: the object, None where the request has none.
        old: the object before an update, None where the request has none.
    """

    __slots__ = ("groups", "kind", "labels", "name", "namespace", "object", "old", "operation", "subresource", "uid", "user")

    def __init__(self, fields: dict[str, Any]) -> None:
        self.uid = _text(fields, "uid", "request", needed=True)
        self.operation = _text(fields, "operation", "request", needed=True)
        if self.operation not in OPERATIONS:
            raise RefusedError(400, f'request.operation is "{_cut(self.operation)}"; it is one of {", ".join(OPERATIONS)}')
        self.subresource = _text(fields, "subResource", "request")
        self.object = _table(fields, "object", "request") or None
        self.old = _table(fields, "oldObject", "request") or None
        self.kind = _text(_table(fields, "kind", "request"), "kind", "request.kind") or _plain_text(self.object or {}, "kind")
        metadata = _plain_table(self.object or self.old or {}, "metadata")
        self.name = _text(fields, "name", "request") or _plain_text(metadata, "name") or _plain_text(metadata, "generateName")
        self.namespace = _text(fields, "namespace", "request")
        labels = _plain_table(metadata, "labels")
        self.labels = {name: value for name, value in labels.items() if isinstance(value, str)}
        user = _table(fields, "userInfo", "request")
        self.user = _text(user, "username", "request.userInfo")
        groups = user.get("groups")
        self.groups = tuple([one for one in groups if isinstance(one, str)]) if isinstance(groups, list) else ()


def parse(body: bytes) -> Request:
    """Return the request in a review. Raises RefusedError."""
    try:
        data = json.loads(body)
    except RecursionError as error:
        raise RefusedError(400, "not read: the JSON is nested too deeply") from error
    except ValueError as error:  # its text may quote the body
        at = getattr(error, "pos", None)
        place = f" (at character {at})" if at is not None else ""
        raise RefusedError(400, f"the body is not JSON{place}; send an {KIND} of {VERSION}") from error
    if not isinstance(data, dict):
        raise RefusedError(400, f"the body is not a JSON object; send an {KIND} of {VERSION}")
    kind, version = data.get("kind"), data.get("apiVersion")
    if kind != KIND:
        raise RefusedError(400, f"the body is not an {KIND}: its kind is {_shown(kind)}")
    if version != VERSION:
        raise RefusedError(
            400, f'apiVersion is {_shown(version)}; write admissionReviewVersions: ["v1"] in the webhook configuration'
        )
    if "request" not in data:
        raise RefusedError(400, f"the {KIND} has no request")
    return Request(_table(data, "request", KIND))


def _table(fields: dict[str, Any], key: str, at: str) -> dict[str, Any]:
    value = fields.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RefusedError(400, f"{key} of {at} is not an object")
    return value


def _text(fields: dict[str, Any], key: str, at: str, *, needed: bool = False) -> str:
    value = fields.get(key)
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or (needed and not value):
        raise RefusedError(400, f"{at}.{key} is {'missing' if value in (None, '') else 'not a text'}")
    return value


def _plain_table(fields: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a table of an object, empty where it is none."""
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def _plain_text(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _shown(value: object) -> str:
    return f'"{_cut(value)}"' if isinstance(value, str) else "missing" if value is None else "no text"


def _cut(text: str) -> str:
    return "".join([char if char.isprintable() else "?" for char in text[:_SHOWN_AT_MOST]])
