"""Hostile files in a folder that is linted: names, values, comments and settings that try to steer what reads the output."""

from __future__ import annotations

import json
import os
import re

import pytest

from servelint.core.settings import FORMATS
from tests.running import Workspace

EVIL = "\x1b]0;t\x07\x9b\u202e\u200b::error::x ##[add-mask]y <script>z</script>"
TOKEN = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"
PASSWORD = "correct-horse-4711"
OTHERS = {
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "url": "hunter2-in-an-address",
    "bearer": "abcdef0123456789abcdef",
    "aws": "AKIAIOSFODNN7ABCDEFG",
}

COMPOSE = f"""
services:
  {json.dumps(EVIL)}:
    image: vllm/vllm-openai:v0.27.1
    command: [--model, {json.dumps(EVIL)}, --gpu-memory-utilization, "1.5", {json.dumps("--" + EVIL)}, --api-key, {PASSWORD}]
    environment:
      HF_TOKEN: {TOKEN}
      UNKNOWN: {json.dumps(EVIL)}
"""
SCRIPT = f"""# servelint: ignore[vllm/{EVIL}] {EVIL}
export HF_TOKEN={TOKEN} DATABASE=postgres://me:{OTHERS["url"]}@db/x AWS={OTHERS["aws"]}
vllm serve m --gpu-memory-utilization 1.5 --api-key cor'rect-horse'-"4711" --no-such-option {OTHERS["jwt"]}
vllm serve m --gpu-memory-utilization 1.5 --header "Authorization: Bearer {OTHERS["bearer"]}" --api-key \\
  {PASSWORD}
"""


def terminal(text: str) -> list[str]:
    """What in a text would steer a terminal or a CI."""
    bad = [char for char in text if not char.isprintable() and char not in "\n"]
    return bad + re.findall(r"##[A-Za-z]*\[|^\s*::(?!error |warning |notice )[A-Za-z][^:]*::", text, re.MULTILINE)


def secrets(text: str) -> list[str]:
    return [one for one in (TOKEN, PASSWORD, "rect-horse", *OTHERS.values()) if one in text]


@pytest.fixture
def hostile(workspace: Workspace) -> Workspace:
    workspace.file("compose.yml", COMPOSE)
    workspace.file("run.sh", SCRIPT)
    workspace.file("bad.yml", f"vllm: serve\npassword: {PASSWORD}\n  x: [ {TOKEN}\n")
    folder = os.fsencode(workspace.folder)
    for name in (b"a\n::error::x\x1b[31m.sh", b"\xff\xe2\x80\xae.sh", b"::set-output name=x::y.sh"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"vllm serve m --gpu-memory-utilization 1.5\n")
    return workspace


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "html"])
def test_every_format(kind: str, hostile: Workspace) -> None:
    ran = hostile.run("check", ".", "--format", kind, "--profile", "audit")
    assert ran.status == 2
    assert terminal(ran.out) == []
    assert terminal(ran.err) == []
    assert secrets(ran.out + ran.err) == []


def test_the_page(hostile: Workspace) -> None:
    out = hostile.run("check", ".", "--format", "html", "--profile", "audit").out
    assert out.count("<script>") == 1
    assert secrets(out) == []


@pytest.mark.parametrize("command", ["launches", "memory", "translate", "upgrade"])
@pytest.mark.parametrize("kind", ["text", "json"])
def test_other_commands(command: str, kind: str, hostile: Workspace) -> None:
    more = {"upgrade": ["--to", "vllm=0.33.0"], "translate": ["--to", "sglang"]}.get(command, [])
    ran = hostile.run(command, ".", "--format", kind, *more)
    assert terminal(ran.out + ran.err) == []
    assert secrets(ran.out + ran.err) == []
    if kind == "json":
        json.loads(ran.out)


def test_secrets_where_they_are_asked_for(hostile: Workspace) -> None:
    out = hostile.run("launches", "run.sh", "--format", "json", "--show-secrets").out
    assert json.loads(out)["launches"][0]["env"]["HF_TOKEN"] == TOKEN
    assert terminal(out) == []


@pytest.mark.parametrize("kind", ["text", "json"])
def test_settings(kind: str, hostile: Workspace) -> None:
    hostile.file("servelint.toml", '[rule."container/secret-in-plain-text"]\nallow = ["\\u001b[31m\\u202e"]\n')
    ran = hostile.run("check", "run.sh", "--show-settings", "--format", kind)
    assert terminal(ran.out + ran.err) == []
    hostile.file("servelint.toml", '"\\u001b[31m\\n::error::x" = 1\n')
    ran = hostile.run("check", "run.sh", "--format", kind)
    assert ran.status == 2
    assert terminal(ran.out + ran.err) == []


def test_a_baseline(hostile: Workspace) -> None:
    hostile.run("check", ".", "--write-baseline", "--profile", "audit")
    text = (hostile.folder / "servelint-baseline.json").read_text()
    assert json.loads(text)["findings"]
    assert secrets(text) == []
    ran = hostile.run("check", "run.sh", "--profile", "audit", "--baseline", "servelint-baseline.json")
    assert ran.status == 0
    assert "known findings are left out" in ran.out


def test_a_difference_shows_no_secret(workspace: Workspace) -> None:
    workspace.file("run.sh", f"vllm serve m --api-key {PASSWORD} --gpu_memory_utilisation 0.9 --disable-log-requests\x1b[31m\n")
    ran = workspace.run("check", "run.sh", "--diff", "--unsafe-fixes", "--engine-version", "vllm=0.27.1")
    assert ran.out == ""
    assert "run.sh: changes at line 1 are beside a secret or a control character" in ran.err
    assert secrets(ran.out + ran.err) == []
    assert terminal(ran.out + ran.err) == []


def test_a_command_that_becomes_a_server(workspace: Workspace) -> None:
    ran = workspace.run(
        "exec", "--dry-run", "--", "vllm", "serve", "m", "--api-key", PASSWORD, "--gpu-memory-utilization", "1.5\x1b[m"
    )
    assert ran.status == 1
    assert secrets(ran.err) == []
    assert terminal(ran.err) == []


def test_wrong_usage(workspace: Workspace) -> None:
    ran = workspace.run("check", "--no-such\x1b[31m\n::error::x")
    assert ran.status == 2
    assert terminal(ran.err) == []
