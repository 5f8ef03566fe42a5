"""Policy files: what they say, what is wrong with them, and their schema."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import jsonschema
import pytest

from servelint.admission import policy
from servelint.admission.policy import TERMS, Policy, Terms
from servelint.core.source import Source
from tests.syntax import yaml_texts
from tests.together import together
from tools import schemas

ROOT = Path(__file__).parent.parent.parent
EVERYTHING = """\
deny: warning
warn: info
known: deny
unjudged: deny
owned: judge
exempt:
  namespaces: [infra-*]
  users: ["system:serviceaccount:argocd:*"]
  groups: [break-glass]
overrides:
  - namespaces: [prod-*]
    labels: {tier: "*"}
    paths: [strict]
    deny: info
"""


def read(written: str) -> tuple[Policy, list[str]]:
    found, problems = policy.parse(Source("policy.yaml", written))
    return found, [repr(problem) for problem in problems]


def terms(one: Terms) -> dict[str, str]:
    return asdict(one)


def test_everything() -> None:
    found, problems = read(EVERYTHING)
    assert problems == []
    assert terms(found.terms) == {"deny": "warning", "warn": "info", "known": "deny", "unjudged": "deny", "owned": "judge"}
    assert (found.namespaces, found.users, found.groups) == (
        ("infra-*",),
        ("system:serviceaccount:argocd:*",),
        ("break-glass",),
    )
    (override,) = found.overrides
    assert (override.namespaces, override.labels, override.paths, override.terms) == (
        ("prod-*",), {"tier": "*"}, ("strict",), {"deny": "info"},
    )  # fmt: skip
    assert found.paths == {"strict"}


@pytest.mark.parametrize("written", ["", "# nothing\n", "{}"])
def test_what_holds_where_nothing_is_said(written: str) -> None:
    found, problems = read(written)
    assert problems == []
    assert terms(found.terms) == {name: default for name, (_, default, _) in TERMS.items()}
    assert found.namespaces == ("kube-system", "kube-public", "kube-node-lease")


WRONG = [
    ("deny: errors", 'policy.yaml:1:7: deny is "errors"; it is one of error, warning, info, never (did you mean "error"?)'),
    ("deny: [error]", "policy.yaml:1:7: deny is not a text; it is one of error, warning, info, never"),
    ("denny: error", 'policy.yaml:1:1: unknown key "denny" of the policy (did you mean "deny"?); it has deny, warn, known'),
    ("- deny", "policy.yaml:1:1: the policy is a table with deny, warn"),
    ("exempt: [kube-system]", "policy.yaml:1:9: exempt is a table with namespaces, users, groups"),
    ("exempt: {user: [a]}", 'policy.yaml:1:10: unknown key "user" of exempt (did you mean "users"?)'),
    ("exempt: {users: a}", "policy.yaml:1:17: exempt.users is a list of texts"),
    ("exempt: {users: []}", "policy.yaml:1:17: exempt.users is a list of texts, and this one is empty: delete it"),
    ("exempt: {users: [{}]}", "policy.yaml:1:18: an element of exempt.users is not a text"),
    ("overrides: {deny: error}", "policy.yaml:1:12: overrides is a list, each with the namespaces"),
    ("overrides:\n- deny: error\n", "policy.yaml:2:3: an override says whom it is for: namespaces, labels, paths"),
    ("overrides:\n- paths: [a]\n", "policy.yaml:2:3: an override says what holds instead: deny, warn"),
    ("overrides:\n- {paths: [a/b], deny: never}\n", 'policy.yaml:2:11: "a/b" is not a name for /validate/NAME'),
    ("overrides:\n- {labels: [a], deny: never}\n", 'policy.yaml:2:12: labels is a table: write {tier: "gold*"}'),
    ("overrides:\n- {labels: {a: []}, deny: never}\n", 'policy.yaml:2:16: the pattern of label a is not a text: write "*"'),
    ("deny: error\ndeny: info\n", "policy.yaml:1:1: a key of the policy is there twice, or is not a text"),
    ("deny: error\n---\nwarn: info\n", "policy.yaml:1:1: a policy is one document"),
    ("deny: [", "policy.yaml:1:8: not valid YAML"),
]


@together("written, message", list(WRONG))
def test_what_is_wrong_is_told_with_its_place(written: str, message: str) -> None:
    _, problems = read(written)
    assert len(problems) == 1
    assert problems[0].startswith(message)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in repr(policy.read(str(tmp_path / "none.yaml"))[1])
    (tmp_path / "odd.yaml").write_bytes(b"deny: \xff")
    assert "not valid UTF-8: byte 0xff" in repr(policy.read(str(tmp_path / "odd.yaml"))[1])


def test_the_schema_is_of_one_mind_with_the_code() -> None:
    validator = jsonschema.Draft202012Validator(schemas.policy())
    validator.check_schema(schemas.policy())
    assert validator.is_valid(yaml_texts.load(EVERYTHING))
    told_by_both = [written for written, message in WRONG if "YAML" not in message and "twice" not in message]
    for written in told_by_both:
        data = yaml_texts.load_all(written)
        assert len(data) > 1 or not validator.is_valid(data[0]), written


def test_the_one_in_deploy_is_good() -> None:
    _, problems = policy.read(str(ROOT / "deploy" / "base" / "policy.yaml"))
    assert problems == []
    assert schemas.policy()["properties"].keys() == {*TERMS, "exempt", "overrides"}
