"""A policy file: YAML, read with the place of everything that is wrong in it."""

from __future__ import annotations

import re

from servelint.admission.policy import NAMESPACES, Override, Policy, Terms
from servelint.admission.policy_keys import EXEMPT, NAME, SCOPE, TERMS
from servelint.core.problem import Problem
from servelint.core.source import Source
from servelint.settings.keys import suggestion
from servelint.syntax import yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from servelint.syntax.yaml import Entries, Node

_SIZE_AT_MOST = 1 << 20


def read(path: str) -> tuple[Policy, list[Problem]]:
    """The policy in a file, and what is wrong with it: a file with a problem is no policy."""
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
    """The policy in a text, and what is wrong with it."""
    documents, problem = yaml.documents(source)
    if problem is not None:
        return Policy(), [problem]
    if len(documents) > 1:
        return Policy(), [Problem(source.path, "a policy is one document")]
    reader = _Reader(source)
    found = reader.policy(documents[0]) if documents else Policy()
    return found, reader.problems


class _Reader:
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
            written = self.text(fields[name][1])
            if written in choices:
                found[name] = written
            else:
                told = f'"{written}"' if written is not None else "no text"
                hint = suggestion(written, choices) if written is not None else ""
                self.wrong(fields[name][1], f"{name} is {told}; it is one of {', '.join(choices)}{hint}")
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
                self.wrong(fields["paths"][1], f'"{path}" is no name for /validate/NAME: small letters, digits and -')
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
            written = self.text(value)
            if written is None:
                self.wrong(value, f'the pattern of label {name} is no text: write "*" for any value')
            else:
                found[name] = written
        return found

    def texts(self, node: Node, key: str) -> tuple[str, ...]:
        found: list[str] = []
        for item in self.items(node, f"{key} is a list of texts"):
            written = self.text(item)
            if written:
                found.append(written)
            else:
                self.wrong(item, f"an element of {key} is no text")
        return tuple(found)

    def items(self, node: Node, wanted: str) -> list[Node]:
        items = yaml.items(node)
        if items is None:
            self.wrong(node, wanted)
        elif not items:
            self.wrong(node, f"{wanted}, and this one is empty: delete it")
        return items or []

    def table(self, node: Node, what: str, known: tuple[str, ...]) -> Entries:
        """The entries of a table that are known; the others are told of."""
        if not yaml.is_mapping(node):
            self.wrong(node, f"{what} is a table with {_listed(known)}")
            return {}
        fields = yaml.entries(node)
        for name, (key, _) in fields.items():
            if name not in known:
                self.wrong(key, f'unknown key "{name}" of {what}{suggestion(name, known)}; it has {_listed(known)}')
        if len(fields) < len(node.value):
            self.wrong(node, f"a key of {what} is there twice, or is no text")
        return {name: pair for name, pair in fields.items() if name in known}

    def text(self, node: Node) -> str | None:
        return yaml.scalar(node)

    def wrong(self, node: Node, message: str) -> None:
        span = yaml.span(self.source, node)
        self.problems.append(Problem(self.source.path, message, *self.source.position(span.start)))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
