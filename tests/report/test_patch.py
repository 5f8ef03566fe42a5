"""`--diff`: a patch that the real `git apply` takes, on files of all kinds, and nothing else on standard output."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from servelint.core.source import Source
from servelint.report import patch
from tests.running import Ran, Workspace

SLOW = 'vllm serve Qwen/Qwen3.6-27B --speculative-config \'{"method": "qwen3_next_mtp", "num_speculative_tokens": 2}\''
SECRET = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def git(folder: Path, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *args], cwd=folder, input=stdin, capture_output=True, check=False)


def tried(workspace: Workspace, *more: str, folder: str = "", stdin: bytes = b"") -> tuple[Ran, bytes]:
    """Run check with --diff in a new repository, apply what it printed, and give the run and what git says."""
    git(workspace.folder, "init", "-q")
    ran = workspace.run("check", "--diff", "--unsafe-fixes", *(more or (".",)), stdin=stdin)
    applied = git(workspace.folder / folder, "apply", "--verbose", "-", stdin=ran.out.encode("utf-8"))
    if ran.out:
        assert applied.returncode == 0, (ran.out, applied.stderr)
    return ran, applied.stderr


def fixed(workspace: Workspace, paths: list[str]) -> dict[str, bytes]:
    """What --fix makes of files, which are then as before."""
    before = {path: (workspace.folder / path).read_bytes() for path in paths}
    workspace.run("check", "--unsafe-fixes", *paths)
    after = {path: (workspace.folder / path).read_bytes() for path in paths}
    for path, data in before.items():
        (workspace.folder / path).write_bytes(data)
    return after


MANY = "\n".join([SLOW, "echo one", f"{SLOW} --port 8001", *["echo more"] * 12, f"{SLOW} --port 8002", ""])
COMPOSE = """services:
  a:
    image: vllm/vllm-openai:v0.27.1
    command: --model m --enable_prefix_caching --disable-log-requests
  b:
    image: vllm/vllm-openai:v0.27.1
    command: --model n --disable-log-requests
"""
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
    "source": ["!" + SLOW + "\n", "print(1)"]}], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4,
    "nbformat_minor": 5}, indent=1)  # fmt: skip

FILES = {
    "plain": ("run.sh", f"{SLOW}\n"),
    "no line end": ("run.sh", SLOW),
    "crlf": ("run.sh", f"echo one\r\n{SLOW}\r\necho two\r\n"),
    "crlf compose": ("compose.yml", COMPOSE.replace("\n", "\r\n")),
    "mixed ends": ("compose.yml", COMPOSE.replace("\n", "\r\n", 3)),
    "several hunks": ("run.sh", MANY),
    "neighbouring lines": ("run.sh", f"{SLOW}\n{SLOW} --port 8001\n{SLOW} --port 8002\n"),
    "a byte order mark": ("compose.yml", "\ufeff" + COMPOSE),
    "a space in its name": ("my files/compose file.yml", COMPOSE),
    "a quote in its name": ('a"b/compose.yml', COMPOSE),
    "an apostrophe": ("it's/compose.yml", COMPOSE),
    "a backslash": ("a\\b/compose.yml", COMPOSE),
    "not ASCII": ("dépôt/compose-ü.yml", COMPOSE),
    "a tab in its name": ("a\tb/compose.yml", COMPOSE),
    "text that is not ASCII": ("compose.yml", "# größe 日本\n" + COMPOSE),
    "a notebook": ("run.ipynb", NOTEBOOK),
    "begins with a change": ("run.sh", f"{SLOW}\n" + "echo\n" * 9),
    "ends with a change": ("run.sh", "echo\n" * 9 + f"{SLOW}\n"),
}


@pytest.mark.parametrize("kind", FILES)
def test_git_applies_it(kind: str, workspace: Workspace) -> None:
    path, text = FILES[kind]
    file = workspace.file(path, text)
    wanted = fixed(workspace, [path])
    ran, _ = tried(workspace)
    assert wanted[path] != text.encode()
    assert file.read_bytes() == wanted[path]
    assert all(line[:1] in "-+ @\\" for line in ran.out.split("\n") if line)


def test_several_files_in_one_patch(workspace: Workspace) -> None:
    paths = ["run.sh", "deploy/compose.yml", "deploy/more/compose.yaml"]
    for path in paths:
        workspace.file(path, COMPOSE if "compose" in path else f"{SLOW}\n")
    wanted = fixed(workspace, paths)
    tried(workspace)
    assert {path: (workspace.folder / path).read_bytes() for path in paths} == wanted


@pytest.mark.parametrize("named", ["compose.yml", "./compose.yml", "../deploy/compose.yml", "{full}"])
def test_the_paths_are_those_of_the_current_folder(named: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    file = workspace.file("deploy/compose.yml", COMPOSE)
    monkeypatch.chdir(workspace.folder / "deploy")
    ran, _ = tried(workspace, named.format(full=file), folder="deploy")
    assert ran.out.startswith("--- a/compose.yml\n+++ b/compose.yml\n")
    assert file.read_text() != COMPOSE


def test_a_file_outside_the_current_folder_is_named_from_the_repository(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workspace.file("deploy/compose.yml", COMPOSE)
    workspace.file("tools/x", "")
    monkeypatch.chdir(workspace.folder / "tools")
    ran, _ = tried(workspace, "../deploy")
    assert ran.out.startswith("--- a/deploy/compose.yml\n")
    assert f"the paths of the patch are relative to {workspace.folder}: apply it there" in ran.err
    assert file.read_text() != COMPOSE


class TestSecrets:
    def test_context_with_a_secret_is_not_printed(self, workspace: Workspace) -> None:
        file = workspace.file("run.sh", f"export OPENAI_API_KEY={SECRET}\necho one\n{SLOW}\necho two\necho {SECRET}\n")
        wanted = fixed(workspace, ["run.sh"])
        ran, _ = tried(workspace)
        assert SECRET not in ran.out + ran.err
        assert "***" not in ran.out
        assert file.read_bytes() == wanted["run.sh"]

    @pytest.mark.parametrize(
        "text",
        [
            f"{SLOW} --api-key {SECRET}\necho\n",
            f"{SLOW}\nexport OPENAI_API_KEY={SECRET}\n",
            f"{SLOW} # \x1b[31m\necho\n",
            f"{SLOW}\n::add-mask::x\n",
        ],
    )
    def test_a_hunk_beside_one_is_left_out_and_said(self, text: str, workspace: Workspace) -> None:
        workspace.file("run.sh", text + "echo\n" * 9 + SLOW + " --port 8001" + "\necho\n")
        ran, _ = tried(workspace)
        assert "run.sh: changes at line 1 are beside a secret" in ran.err.replace(" run.sh", " ./run.sh")
        assert ran.out.count("@@ -") == 1
        assert SECRET not in ran.out + ran.err

    def test_a_file_in_utf_16_is_left_out_and_said(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", COMPOSE.encode("utf-16"))
        ran, _ = tried(workspace)
        assert ran.out == ""
        assert "a patch of a file in UTF-16 does not apply" in ran.err


class TestOutput:
    def test_without_fixes_it_is_empty(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m\n")
        ran, _ = tried(workspace)
        assert (ran.status, ran.out, ran.err) == (0, "", "servelint: nothing to fix\n")

    def test_findings_without_a_fix_are_not_printed_and_count(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m --gpu-memory-utilization 1.5\n")
        ran, _ = tried(workspace)
        assert (ran.status, ran.out) == (1, "")

    @pytest.mark.parametrize("option", ["--fix", "--unsafe-fixes"])
    def test_with_other_options_nothing_is_changed(self, option: str, workspace: Workspace) -> None:
        file = workspace.file("compose.yml", COMPOSE)
        ran = workspace.run("check", "--diff", option, "compose.yml")
        assert ran.out.startswith("--- a/compose.yml\n")
        assert ran.err == "servelint: would fix 2 findings in 1 file\n"
        assert file.read_text() == COMPOSE

    def test_the_summary_can_be_silenced(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", COMPOSE)
        assert workspace.run("check", "--diff", "--quiet", "compose.yml").err == ""

    def test_a_file_that_cannot_be_read_is_said_and_the_others_are_in_it(self, workspace: Workspace) -> None:
        workspace.file("compose.yml", COMPOSE)
        workspace.file("broken.yml", "services:\n  a:\n    image: vllm/vllm-openai\n   command: [\n")
        ran, _ = tried(workspace)
        assert ran.status == 2
        assert "broken.yml" in ran.err
        assert ran.out.startswith("--- a/compose.yml\n")

    def test_standard_input_has_the_path_that_is_given(self, workspace: Workspace) -> None:
        file = workspace.file("compose.yml", COMPOSE)
        ran, _ = tried(workspace, "-", "--stdin-filename", "compose.yml", stdin=COMPOSE.encode())
        assert ran.out.startswith("--- a/compose.yml\n")
        assert file.read_text() != COMPOSE

    def test_standard_input_without_a_path(self, workspace: Workspace) -> None:
        ran = workspace.run("check", "--diff", "-", stdin=COMPOSE.encode())
        assert (ran.status, ran.out) == (2, "")
        assert "give --stdin-filename" in ran.err


def test_a_hunk_is_split_at_unsafe_lines_and_numbered_as_what_is_printed(tmp_path: Path) -> None:
    before = ["a", "b", f"key={SECRET}", "c", "d", "e", f"key={SECRET}", "f", "g"]
    after = ["A", "b", f"key={SECRET}", "c", "D", "D2", "e", f"key={SECRET}", "f", "G"]
    old, new = [Source(str(tmp_path / "x.sh"), "\n".join(lines) + "\n") for lines in (before, after)]
    text = patch.make([(old, new)]).text
    (tmp_path / "x.sh").write_text(old.text)
    assert git(tmp_path, "apply", "-", stdin=text.encode()).returncode == 0
    assert (tmp_path / "x.sh").read_text() == new.text
    assert [line for line in text.splitlines() if line.startswith("@@")] == [
        "@@ -1,2 +1,2 @@",
        "@@ -4,3 +4,4 @@",
        "@@ -8,2 +9,2 @@",
    ]
