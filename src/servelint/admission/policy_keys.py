"""What a policy file may say: one table, from which it is read and its JSON Schema is made."""

from __future__ import annotations

from servelint.admission.policy import ALLOW, DENY, JUDGE, NEVER, SKIP, WARN

SEVERITIES = ("error", "warning", "info", NEVER)
TERMS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "deny": (SEVERITIES, "error", "the least severity that is denied"),
    "warn": (SEVERITIES, "warning", "the least severity that is warned of"),
    "known": (
        (DENY, WARN, ALLOW),
        WARN,
        "what becomes of findings to be denied that the object had before an update; allow is silent about all that it had",
    ),
    "unjudged": (
        (ALLOW, DENY),
        ALLOW,
        "what becomes of an object that could not be judged: a fault of servelint, or no time left",
    ),
    "owned": (
        (SKIP, JUDGE),
        SKIP,
        "whether an object is judged whose controller is judged itself, such as the pods of a Deployment",
    ),
}
"""key -> (its values, the one that holds where nobody says anything, what it is)"""

EXEMPT = {
    "namespaces": "patterns of namespaces; those of the cluster itself where this is not given",
    "users": "patterns of users and service accounts, such as system:serviceaccount:argocd:*",
    "groups": "patterns of groups of users",
}
SCOPE = {
    "namespaces": "patterns of the namespaces that it is for",
    "labels": "the labels that objects have that it is for, each with a pattern of its value",
    "paths": "the names that it is for: a webhook that asks at /validate/NAME has NAME",
}
NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
"""What stands behind /validate/: as Kubernetes has names."""
