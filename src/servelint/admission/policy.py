"""The policy of the webhook: which findings are denied or warned of, for which objects, and who is exempt.

A policy file is YAML. One table of its keys serves the reader and the JSON Schema, which tools/formats.py writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from servelint.admission.request import Request
from servelint.core.finding import SEVERITIES
from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.settings.keys import suggestion
from servelint.syntax import yaml
from servelint.syntax.yaml import Entries, Node

NEVER = "never"
DENY, WARN, ALLOW = "deny", "warn", "allow"
SKIP, JUDGE = "skip", "judge"
NAMESPACES = ("kube-system", "kube-public", "kube-node-lease")
"""Namespaces of the cluster itself, exempt unless a policy lists others."""


@dataclass(slots=True, frozen=True)
class Terms:
    """What holds for one object.

    Attributes:
        deny: the lowest severity that is denied, or `never`.
        warn: the lowest severity that gives a warning, or `never`.
        known: deny, warn or allow: what happens to a finding at `deny` that the object had before an update.
        unjudged: allow or deny: what happens to an object that could not be judged, by an error or for lack of time.
        owned: skip or judge: whether an object is judged whose controller is judged itself.
    """

    deny: str = "error"
    warn: str = "warning"
    known: str = WARN
    unjudged: str = ALLOW
    owned: str = SKIP

    def action(self, severity: str, *, known: bool) -> str:
        """Return deny, warn or allow for a finding; `known` if the object had it before."""
        if _reaches(severity, self.deny):
            return self.known if known else DENY
        if _reaches(severity, self.warn):
            return ALLOW if known and self.known == ALLOW else WARN
        return ALLOW


@dataclass(slots=True, frozen=True)
class Override:
    """Other terms for some objects: those that match one pattern of each list that is there.

    Attributes:
        terms: name of a term to its value.
        namespaces: patterns of namespaces.
        labels: name of a label to a pattern of its value.
        paths: names after /validate/ in the request.
    """

    terms: dict[str, str]
    namespaces: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = ()

    def covers(self, request: Request, path: str) -> bool:
        """Return whether the override is for the object of a request."""
        if self.namespaces and not _matches(request.namespace, self.namespaces):
            return False
        if self.paths and path not in self.paths:
            return False
        labels = request.labels
        return all(name in labels and fnmatchcase(labels[name], pattern) for name, pattern in self.labels.items())


@dataclass(slots=True, frozen=True)
class Policy:
    """What happens to findings, and who is exempt.

    Attributes:
        terms: the terms of all objects.
        overrides: other terms for some objects; a later one wins.
        namespaces: patterns of namespaces objects that are not judged.
        users: patterns of users objects that are not judged.
        groups: patterns of groups of such users.
    """

    terms: Terms = field(default_factory=Terms)
    overrides: tuple[Override, ...] = ()
    namespaces: tuple[str, ...] = NAMESPACES
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def paths(self) -> frozenset[str]:
        """The names after /validate/ that have an override."""
        return frozenset([path for one in self.overrides for path in one.paths])

    def of(self, request: Request, path: str = "") -> Terms:
        """Return the terms of an object; `path` is the name after /validate/ in the request."""
        found = self.terms
        for one in self.overrides:
            if one.covers(request, path):
                found = replace(found, **one.terms)
        return found

    def exempt(self, request: Request) -> str | None:
        """Return why an object is not judged at all; None if it is."""
        if request.namespace and _matches(request.namespace, self.namespaces):
            return "namespace"
        if request.user and _matches(request.user, self.users):
            return "user"
        if self.groups and any(_matches(group, self.groups) for group in request.groups):
            return "group"
        return None


def _reaches(severity: str, least: str) -> bool:
    return least != NEVER and SEVERITIES.index(severity) >= SEVERITIES.index(least)


def _matches(text: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


_LEVELS = ("error", "warning", "info", NEVER)
TERMS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "deny": (_LEVELS, "error", "the lowest severity that is denied"),
    "warn": (_LEVELS, "warning", "the lowest severity that gives a warning"),
    "known": (
        (DENY, WARN, ALLOW),
        WARN,
        "what happens to findings that the object had before an update; allow does not report them",
    ),
    "unjudged": (
        (ALLOW, DENY),
        ALLOW,
        "what happens to an object that could not be judged: an error in servelint, or a timeout",
    ),
    "owned": ((SKIP, JUDGE), SKIP, "whether an object is judged if its controller is judged, such as the pods of a Deployment"),
}
"""Key to (values, default, description)."""

EXEMPT = {
    "namespaces": "patterns of namespaces (default: those of the cluster itself)",
    "users": "patterns of users and service accounts, such as system:serviceaccount:argocd:*",
    "groups": "patterns of groups of users",
}
SCOPE = {
    "namespaces": "patterns of namespaces",
    "labels": "labels of objects, each with a pattern of its value",
    "paths": "names of webhooks: a webhook that sends requests to /validate/NAME has NAME",
}
NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
"""A name after /validate/: a name of Kubernetes."""


_SIZE_AT_MOST = 1 << 20


def read(path: str) -> tuple[Policy, list[Problem]]:
    """Read a policy file. Returns the policy and what is wrong with it; with a problem, the policy must not be used."""
    try:
        with open(path, "rb") as file:
            data = file.read(_SIZE_AT_MOST + 1)
    except (OSError, ValueError) as error:
        return Policy(), [Problem(path, f"cannot be read: {getattr(error, 'strerror', None) or error}")]
    if len(data) > _SIZE_AT_MOST:
        return Policy(), [Problem(path, f"not read: a policy is read up to {_SIZE_AT_MOST >> 20} MiB")]
    try:
        return parse(Source(path, data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        return Policy(), [Problem(path, f"not valid UTF-8: byte 0x{data[error.start]:02x}")]


def parse(source: Source) -> tuple[Policy, list[Problem]]:
    """Read the text of a policy. Returns the policy and what is wrong with it."""
    documents, problem = yaml.documents(source)
    if problem is not None:
        return Policy(), [problem]
    if len(documents) > 1:
        return Policy(), [Problem(source.path, "a policy is one document")]
    reader = _Reader(source)
    found = reader.policy(documents[0]) if documents else Policy()
    return found, reader.problems


class _Reader:
    """Reads the nodes of a policy, with a problem for each thing that is wrong in it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []

    def policy(self, node: Node) -> Policy:
        fields = self.table(node, "the policy", (*TERMS, "exempt", "overrides"))
        exempt = self.exempt(fields["exempt"][1]) if "exempt" in fields else {}
        wanted = "overrides is a list, each with the namespaces, labels or paths that it is for"
        listed = self.items(fields["overrides"][1], wanted) if "overrides" in fields else []
        overrides = [self.override(one) for one in listed]
        return Policy(
            Terms(**self.terms(fields)),
            tuple(overrides),
            exempt.get("namespaces", NAMESPACES),
            exempt.get("users", ()),
            exempt.get("groups", ()),
        )

    def terms(self, fields: Entries) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, (choices, _, _) in TERMS.items():
            if name not in fields:
                continue
            written = yaml.scalar(fields[name][1])
            if written in choices:
                found[name] = written
            else:
                shown = f'"{written}"' if written is not None else "not a text"
                hint = suggestion(written, choices) if written is not None else ""
                self.wrong(fields[name][1], f"{name} is {shown}; it is one of {', '.join(choices)}{hint}")
        return found

    def exempt(self, node: Node) -> dict[str, tuple[str, ...]]:
        fields = self.table(node, "exempt", tuple(EXEMPT))
        return {name: self.texts(value, f"exempt.{name}") for name, (_, value) in fields.items()}

    def override(self, node: Node) -> Override:
        fields = self.table(node, "an override", (*SCOPE, *TERMS))
        if fields and not any(name in fields for name in SCOPE):
            self.wrong(node, f"an override says whom it is for: {', '.join(SCOPE)}")
        if fields and not any(name in fields for name in TERMS):
            self.wrong(node, f"an override says what holds instead: {', '.join(TERMS)}")
        paths = self.texts(fields["paths"][1], "paths") if "paths" in fields else ()
        for path in paths:
            if re.fullmatch(NAME, path) is None:
                self.wrong(fields["paths"][1], f'"{path}" is not a name for /validate/NAME: small letters, digits and -')
        return Override(
            self.terms(fields),
            self.texts(fields["namespaces"][1], "namespaces") if "namespaces" in fields else (),
            self.labels(fields["labels"][1]) if "labels" in fields else {},
            paths,
        )

    def labels(self, node: Node) -> dict[str, str]:
        if not yaml.is_mapping(node):
            self.wrong(node, 'labels is a table: write {tier: "gold*"}')
            return {}
        found: dict[str, str] = {}
        for name, (_, value) in yaml.entries(node).items():
            written = yaml.scalar(value)
            if written is None:
                self.wrong(value, f'the pattern of label {name} is not a text: write "*" for any value')
            else:
                found[name] = written
        return found

    def texts(self, node: Node, key: str) -> tuple[str, ...]:
        found: list[str] = []
        for item in self.items(node, f"{key} is a list of texts"):
            if written := yaml.scalar(item):
                found.append(written)
            else:
                self.wrong(item, f"an element of {key} is not a text")
        return tuple(found)

    def items(self, node: Node, wanted: str) -> list[Node]:
        items = yaml.items(node)
        if items is None:
            self.wrong(node, wanted)
        elif not items:
            self.wrong(node, f"{wanted}, and this one is empty: delete it")
        return items or []

    def table(self, node: Node, what: str, known: tuple[str, ...]) -> Entries:
        listed = ", ".join(known)
        if not yaml.is_mapping(node):
            self.wrong(node, f"{what} is a table with {listed}")
            return {}
        fields = yaml.entries(node)
        for name, (key, _) in fields.items():
            if name not in known:
                self.wrong(key, f'unknown key "{name}" of {what}{suggestion(name, known)}; it has {listed}')
        if len(fields) < len(node.value):
            self.wrong(node, f"a key of {what} is there twice, or is not a text")
        return {name: pair for name, pair in fields.items() if name in known}

    def wrong(self, node: Node, message: str) -> None:
        span = yaml.span(self.source, node)
        self.problems.append(Problem(self.source.path, message, *self.source.position(span.start)))
