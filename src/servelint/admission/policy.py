"""What becomes of findings: which are denied, which are warned of, for which objects, and who is exempt."""

from __future__ import annotations

from fnmatch import fnmatchcase

from servelint.admission.request import Request
from servelint.core.finding import SEVERITIES

NEVER = "never"
DENY, WARN, ALLOW = "deny", "warn", "allow"
SKIP, JUDGE = "skip", "judge"
NAMESPACES = ("kube-system", "kube-public", "kube-node-lease")
"""Those of the cluster itself: exempt unless a policy lists others."""


class Terms:
    """What holds for one object.

    deny, warn: the least severity that is denied, that is warned of; or `never`
    known:      what becomes of a finding at `deny` that the object had before an update: deny, warn or allow
    unjudged:   what becomes of an object that could not be judged, by a fault of servelint or for want of time: allow or deny
    owned:      whether an object is judged whose controller is judged itself: skip or judge
    """

    __slots__ = ("deny", "known", "owned", "unjudged", "warn")

    def __init__(
        self, deny: str = "error", warn: str = "warning", known: str = WARN, unjudged: str = ALLOW, owned: str = SKIP
    ) -> None:
        self.deny = deny
        self.warn = warn
        self.known = known
        self.unjudged = unjudged
        self.owned = owned

    def with_(self, said: dict[str, str]) -> Terms:
        """The same with what is said instead."""
        return Terms(**{**{name: getattr(self, name) for name in self.__slots__}, **said})

    def action(self, severity: str, *, known: bool) -> str:
        """What becomes of a finding: deny, warn or allow. known: the object had it before"""
        if _reaches(severity, self.deny):
            return self.known if known else DENY
        if _reaches(severity, self.warn):
            return ALLOW if known and self.known == ALLOW else WARN
        return ALLOW


class Override:
    """Other terms for some objects: those that match one pattern of each list that is there.

    namespaces: patterns of names;  labels: name -> pattern of its value;  paths: names behind /validate/ that are asked
    """

    __slots__ = ("labels", "namespaces", "paths", "said")

    def __init__(
        self,
        said: dict[str, str],
        namespaces: tuple[str, ...] = (),
        labels: dict[str, str] | None = None,
        paths: tuple[str, ...] = (),
    ) -> None:
        self.said = said
        self.namespaces = namespaces
        self.labels = labels or {}
        self.paths = paths

    def covers(self, request: Request, path: str) -> bool:
        if self.namespaces and not _matches(request.namespace, self.namespaces):
            return False
        if self.paths and path not in self.paths:
            return False
        labels = request.labels
        return all(name in labels and fnmatchcase(labels[name], pattern) for name, pattern in self.labels.items())


class Policy:
    """terms: for all;  overrides: for some, of which a later one wins
    namespaces, users, groups: patterns of those whose objects are not judged
    """

    __slots__ = ("groups", "namespaces", "overrides", "terms", "users")

    def __init__(
        self,
        terms: Terms | None = None,
        overrides: tuple[Override, ...] = (),
        namespaces: tuple[str, ...] = NAMESPACES,
        users: tuple[str, ...] = (),
        groups: tuple[str, ...] = (),
    ) -> None:
        self.terms = terms or Terms()
        self.overrides = overrides
        self.namespaces = namespaces
        self.users = users
        self.groups = groups

    @property
    def paths(self) -> frozenset[str]:
        """The names behind /validate/ that an override is for."""
        return frozenset([path for one in self.overrides for path in one.paths])

    def of(self, request: Request, path: str = "") -> Terms:
        """The terms of an object. path: the name behind /validate/ that is asked"""
        found = self.terms
        for one in self.overrides:
            if one.covers(request, path):
                found = found.with_(one.said)
        return found

    def exempt(self, request: Request) -> str | None:
        """Why an object is not judged at all; None where it is."""
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
