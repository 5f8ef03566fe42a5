"""`check --trusted-suppressions base`: what a pull request says of itself does not count."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.repository import Repository
from tests.running import Workspace

BAD = "vllm serve m --gpu-memory-utilization 1.5\n"
RULE = "vllm/gpu-memory-utilization-out-of-range"
IGNORE = f"# servelint: ignore[{RULE}] we know\n"
OLD = "echo an old line\n"
SCHEMA = Path(__file__).parent.parent.parent / "schemas" / "report.schema.json"
GATE = ("--trusted-suppressions", "base", "--base", "main")


@pytest.fixture
def repository(workspace: Workspace) -> Repository:
    found = Repository(workspace.folder)
    workspace.file("old.sh", OLD + BAD)
    workspace.file("known.sh", IGNORE + BAD)
    workspace.file("servelint.toml", 'select = ["vllm/*"]\nextend-exclude = ["left-out/**"]\n')
    found.commit("base")
    found.git("checkout", "-q", "-b", "change")
    return found


def told(workspace: Workspace, *args: str) -> list[str]:
    """The findings of the files under test, judged as the base says."""
    ran = workspace.run("check", "--format", "json", *GATE, *args)
    assert ran.status in (0, 1), ran.err
    return sorted([f"{one['path']}:{one['start']['line']}" for one in ran.data["findings"]])


def test_what_the_base_says_counts(workspace: Workspace, repository: Repository) -> None:
    assert told(workspace) == ["old.sh:2"]


class TestComments:
    def test_a_new_one_does_not_count(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("old.sh", OLD + IGNORE + BAD)
        assert told(workspace) == ["old.sh:3"]
        repository.commit("hide it")
        assert told(workspace) == ["old.sh:3"]

    def test_nor_at_the_end_of_a_line(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("old.sh", OLD + BAD.replace("\n", f"  {IGNORE}"))
        assert told(workspace) == ["old.sh:2"]

    def test_nor_one_that_was_moved(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("two.sh", IGNORE + BAD + OLD + BAD.replace("1.5", "1.7"))
        repository.git("checkout", "-q", "main")
        repository.commit("two")
        repository.git("checkout", "-q", "-B", "change")
        assert told(workspace, "two.sh") == ["two.sh:4"]
        workspace.file("two.sh", BAD + OLD + IGNORE + BAD.replace("1.5", "1.7"))
        assert told(workspace, "two.sh") == ["two.sh:1", "two.sh:4"]

    def test_nor_one_that_names_more(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("known.sh", IGNORE.replace("]", ", vllm/*]") + BAD)
        assert told(workspace, "known.sh") == ["known.sh:2"]

    def test_an_old_one_does_not_count_for_what_is_new(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("known.sh", IGNORE + BAD.replace("1.5", "2.5"))
        assert told(workspace, "known.sh") == ["known.sh:2"]

    def test_nor_for_a_new_line_of_its_launch(self, workspace: Workspace, repository: Repository) -> None:
        repository.git("checkout", "-q", "main")
        workspace.file("long.sh", "# servelint: ignore[vllm/*] all of it\nvllm serve m \\\n  --port 80 \\\n  --host x\n")
        repository.commit("long")
        repository.git("checkout", "-q", "-B", "change")
        text = (workspace.folder / "long.sh").read_text()
        workspace.file("long.sh", text.replace("  --host", "  --gpu-memory-utilization 1.5 \\\n  --host"))
        assert told(workspace, "long.sh") == ["long.sh:4"]
        assert workspace.run("check", "long.sh", "--trusted-suppressions", "head").status == 0

    def test_one_of_a_renamed_file_counts(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("known.sh", IGNORE + BAD + "".join([f"echo {number}\n" for number in range(20)]))
        repository.git("checkout", "-q", "main")
        repository.commit("longer")
        repository.git("checkout", "-q", "-B", "change")
        repository.git("mv", "known.sh", "deploy.sh")
        assert told(workspace) == ["old.sh:2"]
        text = (workspace.folder / "deploy.sh").read_text()
        workspace.file("deploy.sh", text + IGNORE + BAD.replace("1.5", "1.6"))
        assert told(workspace, "deploy.sh") == ["deploy.sh:24"]

    def test_in_a_new_file_none_counts(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("new.sh", IGNORE + BAD)
        assert told(workspace, "new.sh") == ["new.sh:2"]
        repository.commit("new")
        assert told(workspace, "new.sh") == ["new.sh:2"]

    def test_nor_in_a_file_that_git_ignores(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file(".gitignore", "built.sh\n")
        workspace.file("built.sh", IGNORE + BAD)
        assert told(workspace, "built.sh") == ["built.sh:2"]

    def test_nor_under_another_name_by_a_link(self, workspace: Workspace, repository: Repository) -> None:
        os.symlink("known.sh", workspace.folder / "link.sh")
        assert told(workspace, "link.sh") == ["link.sh:2"]

    @pytest.mark.parametrize(
        "attributes", ["* -diff", "* binary", "*.sh ident", "*.sh working-tree-encoding=UTF-16", "* filter=x"]
    )
    def test_attributes_hide_nothing(self, attributes: str, workspace: Workspace, repository: Repository) -> None:
        workspace.file(".gitattributes", attributes + "\n")
        workspace.file("old.sh", OLD + IGNORE + BAD.replace("1.5", "1.6"))
        ran = workspace.run("check", "--format", "json", *GATE)
        if ran.status != 2:  # git itself may not take the file
            assert [one["path"] for one in ran.data["findings"]] == ["old.sh"]
        since = workspace.run("check", "old.sh", "--no-inline-ignore", "--format", "json", "--changed-since", "main")
        if since.status != 2:
            assert len(since.data["findings"]) == 1

    def test_none_at_all(self, workspace: Workspace, repository: Repository) -> None:
        out = workspace.run("check", "--no-inline-ignore", "--format", "concise").out
        assert [line.partition(":")[0] for line in out.splitlines()] == ["known.sh", "old.sh"]
        assert "unused-ignore" not in workspace.run("check", "--no-inline-ignore", "--extend-select", "servelint/*").out


class TestSettings:
    @pytest.mark.parametrize(
        "text",
        [
            f'ignore = ["{RULE}"]',
            'select = ["sglang/*"]',
            'exclude = ["**"]',
            'extend-exclude = ["old.sh"]',
            f'[rule."{RULE}"]\nseverity = "info"',
            'severity = "error"\nfail-on = "never"\nselect = ["sglang/*"]',
            '[[per-path]]\npaths = ["*.sh"]\nignore = ["vllm/*"]',
            'trusted-suppressions = "head"\nignore = ["vllm/*"]',
            "this is not TOML",
        ],
    )
    def test_those_of_the_change_do_not_count(self, text: str, workspace: Workspace, repository: Repository) -> None:
        workspace.file("servelint.toml", text + "\n")
        assert told(workspace) == ["old.sh:2"]
        assert workspace.run("check", *GATE).status == 1

    def test_nor_those_of_a_folder(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("deploy/servelint.toml", 'ignore = ["vllm/*"]\n')
        workspace.file("deploy/pyproject.toml", '[tool.servelint]\nignore = ["vllm/*"]\n')
        workspace.file("deploy/run.sh", BAD)
        assert told(workspace) == ["deploy/run.sh:1", "old.sh:2"]

    def test_nor_what_a_link_leads_to(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("mine.toml", 'ignore = ["vllm/*"]\n')
        (workspace.folder / "servelint.toml").unlink()
        os.symlink("mine.toml", workspace.folder / "servelint.toml")
        assert told(workspace) == ["old.sh:2"]

    def test_nor_a_file_that_an_option_names(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("servelint.toml", 'ignore = ["vllm/*"]\n')
        assert told(workspace, "--settings", "servelint.toml") == ["old.sh:2"]
        workspace.file("mine.toml", 'ignore = ["vllm/*"]\n')
        ran = workspace.run("check", *GATE, "--settings", "mine.toml")
        assert ran.status == 2
        assert "mine.toml:1:1: cannot be read" in ran.err

    def test_a_link_of_the_base_is_followed_within_it(self, workspace: Workspace, repository: Repository) -> None:
        repository.git("checkout", "-q", "main")
        os.rename(workspace.folder / "servelint.toml", workspace.folder / "shared.toml")
        os.symlink("shared.toml", workspace.folder / "servelint.toml")
        repository.commit("a link")
        repository.git("checkout", "-q", "-B", "change")
        workspace.file("shared.toml", 'ignore = ["vllm/*"]\n')
        assert told(workspace) == ["old.sh:2"]

    def test_the_rules_are_those_of_the_base(self, workspace: Workspace, repository: Repository) -> None:
        repository.git("checkout", "-q", "main")
        workspace.file("servelint.toml", 'rules = ["policy"]\nselect = ["ours/*"]\n')
        workspace.file("policy/ours/port.yaml", OURS)
        workspace.file("port.sh", "vllm serve m --port 80\n")
        repository.commit("rules")
        repository.git("checkout", "-q", "-B", "change")
        assert told(workspace) == ["port.sh:1"]
        workspace.file("policy/ours/port.yaml", OURS.replace("port: 80", "port: 81"))
        assert told(workspace) == ["port.sh:1"]
        (workspace.folder / "policy/ours/port.yaml").unlink()
        assert told(workspace) == ["port.sh:1"]
        assert workspace.run("check").status == 2  # of the files as they are, no rule is left that the settings name

    def test_the_base_itself_may_ask_for_it(self, workspace: Workspace, repository: Repository) -> None:
        repository.git("checkout", "-q", "main")
        workspace.file("servelint.toml", 'select = ["vllm/*"]\ntrusted-suppressions = "base"\n')
        repository.commit("gate")
        repository.git("checkout", "-q", "-B", "change")
        workspace.file("servelint.toml", 'ignore = ["vllm/*"]\n')
        for option in ("--base", "--changed-since"):
            workspace.file("old.sh", OLD + IGNORE + BAD.replace("1.5", "1.6"))
            assert workspace.run("check", "--format", "json", option, "main").data["findings"] != []
        assert workspace.run("check").status == 0


class TestBaselines:
    def test_that_of_the_base_counts(self, workspace: Workspace, repository: Repository) -> None:
        repository.git("checkout", "-q", "main")
        assert workspace.run("check", "--write-baseline").status == 0
        repository.commit("baseline")
        repository.git("checkout", "-q", "-B", "change")
        assert told(workspace, "--baseline", "servelint-baseline.json") == []
        workspace.file("new.sh", BAD)
        assert workspace.run("check", "--write-baseline").status == 0
        assert told(workspace, "--baseline", "servelint-baseline.json") == ["new.sh:1"]
        (workspace.folder / "servelint-baseline.json").unlink()
        assert told(workspace, "--baseline", "servelint-baseline.json") == ["new.sh:1"]

    def test_one_that_the_base_lacks_is_an_error(self, workspace: Workspace, repository: Repository) -> None:
        assert workspace.run("check", "--write-baseline").status == 0
        ran = workspace.run("check", *GATE, "--baseline", "servelint-baseline.json")
        assert ran.status == 2
        assert "it is not in main" in ran.out


class TestUsage:
    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (["--trusted-suppressions", "base"], "needs a revision; give --base REV"),
            (["--base", "main"], "--base is for --trusted-suppressions base, and neither"),
            (["--trusted-suppressions", "head", "--base", "main"], "--base is for --trusted-suppressions base"),
            ([*GATE[:3], "nowhere"], "--base: git knows no revision 'nowhere'"),
            ([*GATE[:3], "--output=x"], "--base: git knows no revision"),
            ([*GATE, "--command", "vllm serve m"], "is for files"),
            ([*GATE, "--write-baseline"], "cannot be combined with --trusted-suppressions base"),
            (["--show-suppressed", "--format", "sarif"], "printed as text or json, not as sarif"),
        ],
    )
    def test_what_makes_no_sense(self, args: list[str], said: str, workspace: Workspace, repository: Repository) -> None:
        if args[-1] == "--output=x":
            args = [*args[:-2], "--base=--output=x"]
        ran = workspace.run("check", *args)
        assert (ran.status, said in ran.err) == (2, True), ran.err
        assert not (workspace.folder / "x").exists()

    def test_settings_that_ask_for_it_need_a_revision(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("servelint.toml", 'trusted-suppressions = "base"\n')
        ran = workspace.run("check")
        assert ran.status == 2
        assert "give --base REV" in ran.err

    def test_before_the_first_commit_there_is_none(self, workspace: Workspace, tmp_path: Path) -> None:
        subprocess.run(["git", "init", "-q", "."], cwd=workspace.folder, check=True)
        workspace.file("run.sh", BAD)
        assert workspace.run("check", "--changed-since", "HEAD").status == 1
        assert workspace.run("check", *GATE[:3], "HEAD").status == 2

    def test_the_next_check_reads_files_again(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("servelint.toml", 'ignore = ["vllm/*"]\n')
        assert workspace.run("check", *GATE).status == 1
        assert workspace.run("check").status == 0


class TestGitRunsNothing:
    @pytest.mark.parametrize(
        ("key", "attributes"),
        [
            ("core.fsmonitor", ""),
            ("diff.external", ""),
            ("diff.x.command", "* diff=x"),
            ("diff.x.textconv", "* diff=x"),
            ("filter.x.clean", "* filter=x"),
            ("filter.x.process", "* filter=x"),
            ("core.pager", ""),
            ("alias.diff", ""),
        ],
    )
    def test_that_the_repository_brings_along(
        self, key: str, attributes: str, workspace: Workspace, repository: Repository, tmp_path: Path
    ) -> None:
        trap = tmp_path / "trap"
        program = workspace.file("program.sh", f"#!/bin/sh\ntouch {trap}\ncat\n")
        program.chmod(0o755)
        workspace.file(".gitattributes", attributes + "\n")
        repository.commit("attributes")
        value = f"!{program}" if key.startswith("alias") else str(program)
        repository.git("config", key, value)
        workspace.file("old.sh", OLD + BAD + "echo more\n")
        assert workspace.run("check", *GATE).status == 1
        assert workspace.run("check", "--changed-since", "main").status in (0, 1)
        assert not trap.exists()

    def test_hooks(self, workspace: Workspace, repository: Repository, tmp_path: Path) -> None:
        trap = tmp_path / "trap"
        for hook in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
            path = workspace.file(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {trap}\n")
            path.chmod(0o755)
        workspace.file("old.sh", OLD + BAD + "echo more\n")
        assert workspace.run("check", *GATE).status == 1
        assert not trap.exists()


class TestTheReport:
    def suppressions(self, workspace: Workspace, *args: str) -> list[dict[str, Any]]:
        data = workspace.run("check", "--format", "json", "--show-suppressed", *args).data
        Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
        found: list[dict[str, Any]] = data["suppressions"]
        return found

    def test_a_comment(self, workspace: Workspace, repository: Repository) -> None:
        (comment,) = [one for one in self.suppressions(workspace) if one["kind"] == "comment"]
        (hidden,) = comment.pop("hidden")
        assert comment == {
            "kind": "comment",
            "what": RULE,
            "reason": "we know",
            "path": "known.sh",
            "line": 1,
            "column": 1,
            "said_by": None,
            "trusted": True,
        }
        assert (hidden["rule"], hidden["path"], hidden["line"]) == (RULE, "known.sh", 2)

    def test_one_that_is_not_trusted(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("old.sh", OLD + IGNORE + BAD)
        found = {one["path"]: one["trusted"] for one in self.suppressions(workspace, *GATE) if one["kind"] == "comment"}
        assert found == {"known.sh": True, "old.sh": False}
        out = workspace.run("check", "--show-suppressed", *GATE).out
        assert f"old.sh:2:1: comment: {RULE} (we know); not trusted, so it hides nothing\n" in out
        assert "3 suppressions are in force, 1 not trusted:" in out

    def test_settings(self, workspace: Workspace, repository: Repository) -> None:
        workspace.file("servelint.toml", 'ignore = ["vllm/*"]\nbaseline = "b.json"\n[rule."vllm/x-y"]\nseverity = "info"\n')
        found = self.suppressions(workspace, *GATE, "--ignore", "sglang/*")
        assert [(one["what"], one["path"], one["line"], one["said_by"]) for one in found if one["kind"] == "setting"] == [
            ("select = vllm/*", "servelint.toml", 1, None),
            ("extend-exclude = left-out/**", "servelint.toml", 2, None),
            ("ignore = sglang/*", None, None, "--ignore"),
        ]

    def test_a_baseline(self, workspace: Workspace, repository: Repository) -> None:
        workspace.run("check", "--write-baseline")
        data = json.loads((workspace.folder / "servelint-baseline.json").read_text())
        data["findings"][0] |= {"reason": "until spring", "expires": "2099-01-31"}
        workspace.file("servelint-baseline.json", json.dumps(data))
        (entry,) = [
            one for one in self.suppressions(workspace, "--baseline", "servelint-baseline.json") if one["kind"] == "baseline"
        ]
        assert (entry["what"], entry["reason"]) == (RULE, "until spring, until 2099-01-31")
        assert [one["path"] for one in entry["hidden"]] == ["old.sh"]

    def test_nothing(self, workspace: Workspace) -> None:
        workspace.file("run.sh", "vllm serve m\n")
        assert workspace.run("check", "--show-suppressed", "--isolated").out.endswith("\nno suppression is in force\n")


OURS = """\
id: ours/port
title: A port that is not ours
severity: error
confidence: high
impact: best-practice
engine: vllm
versions: ">=0.1"
when: {port: 80}
at: port
message: "--port {port} is not ours"
advice: write --port 8000
why: The proxy in front of our servers knows one port, and it is not this one.
evidence:
  - {url: https://example.org/, says: so}
examples:
  bad:
    - {version: 0.27.1, run: "vllm serve m --port ⟦80⟧"}
  good:
    - {version: 0.27.1, run: "vllm serve m --port 8000"}
"""
