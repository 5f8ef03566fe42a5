"""`servelint admission`: what it refuses, and a single review."""

from __future__ import annotations

import json

import pytest

from tests.admission.reviews import BROKEN, SOUND, deployment, review
from tests.running import Workspace

REFUSED = [
    ([], "servelint admission: error: give --tls-cert and --tls-key, or --plain-http if a proxy terminates TLS"),
    (["--tls-cert", "a"], "give --tls-cert and --tls-key"),
    (["--plain-http", "--tls-key", "a"], "--plain-http takes no certificate"),
    (["--plain-http", "--listen", "8443"], '"8443" is not an address; write HOST:PORT, such as 0.0.0.0:8443'),
    (["--plain-http", "--listen", "a:99999"], '"a:99999" is not an address'),
    (["--plain-http", "--budget", "0"], '--budget: "0" is not a number of seconds above 0, such as 5'),
    (["--plain-http", "--idle", "5s"], '--idle: "5s" is not a number of seconds, such as 5'),
    (["--plain-http", "--max-body", "8MB"], '--max-body: "8MB" is not a size; write bytes, or 512k, 8M, 1G'),
    (["--plain-http", "--workers", "0"], '--workers: "0" is not a whole number from 1'),
    (["--tls-cert", "no.crt", "--tls-key", "no.key"], "no.crt and no.key are not a certificate and its key: No such file"),
    (["--plain-http", "--policy", "no.yaml"], "no.yaml:1:1: cannot be read: No such file or directory"),
    (["--plain-http", "--policy", "wrong.yaml"], 'wrong.yaml:1:7: deny is "all"; it is one of error, warning, info, never'),
    (["--check-policy", "--policy", "wrong.yaml"], 'wrong.yaml:1:7: deny is "all"'),
    (["--plain-http", "--settings", "wrong.toml"], 'wrong.toml:1:1: unknown key "profil"'),
]


@pytest.mark.parametrize(("args", "message"), REFUSED, ids=[" ".join(args) for args, _ in REFUSED])
def test_what_is_wrong_is_told(args: list[str], message: str, workspace: Workspace) -> None:
    workspace.file("wrong.yaml", "deny: all\n")
    workspace.file("wrong.toml", "profil = 'strict'\n")
    ran = workspace.run("admission", *args)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_a_policy_and_settings_that_are_good(workspace: Workspace) -> None:
    workspace.file("policy.yaml", "deny: warning\n")
    workspace.file("servelint.toml", "profile = 'strict'\n")
    assert workspace.run("admission", "--check-policy", "--policy", "policy.yaml", "--settings", "servelint.toml") == (
        0,
        "",
        "",
    )


def test_a_review_in_a_file(workspace: Workspace) -> None:
    workspace.file("sound.json", json.dumps(review(deployment(SOUND))))
    ran = workspace.run("admission", "--review", "sound.json")
    assert (ran.status, ran.data["response"]["allowed"]) == (0, True)
    ran = workspace.run("admission", "--review", "-", stdin=json.dumps(review(deployment(BROKEN))).encode())
    assert (ran.status, ran.data["response"]["status"]["code"]) == (1, 403)
    workspace.file("policy.yaml", "deny: never\n")
    ran = workspace.run(
        "admission", "--policy", "policy.yaml", "--review", "-", stdin=json.dumps(review(deployment(BROKEN))).encode()
    )
    assert (ran.status, ran.data["response"]["allowed"]) == (0, True)


def test_what_is_no_review(workspace: Workspace) -> None:
    ran = workspace.run("admission", "--review", "-", stdin=b"{}")
    assert (ran.status, ran.data["code"]) == (2, 400)
    ran = workspace.run("admission", "--review", "no.json")
    assert (ran.status, ran.err) == (2, "servelint: no.json cannot be read: No such file or directory\n")
