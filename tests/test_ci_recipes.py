"""docs/ci.md: each recipe against the published schema of its system, and its shell lines run in a repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import servelint
from tests.published import problems, schemastore, vendored
from tests.syntax import yaml_texts

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
RANGE = "vllm/gpu-memory-utilization-out-of-range"

pytestmark = [pytest.mark.book, pytest.mark.skipif(os.name == "nt", reason="the lines are those of a shell")]


def recipes(title: str) -> list[str]:
    """The blocks of code of the sections whose title starts so."""
    sections = re.findall(r"(?ms)^## ([^\n]*)\n(.*?)(?=^## |\Z)", TEXT)
    return [
        block for name, body in sections if name.startswith(title) for block in re.findall(r"(?ms)^```\w+\n(.*?)^```", body)
    ]


def parsed(text: str) -> Any:
    data = yaml_texts.load(text)
    return {"on" if key is True else key: value for key, value in data.items()}  # `on` is a truth value of YAML 1.1


WORKFLOWS = [parsed(text) for text in recipes("GitHub")]
GITLAB = [parsed(text) for text in recipes("GitLab")]
(AZURE,) = [parsed(text) for text in recipes("Azure")]
(JENKINS,) = recipes("Jenkins")
(PRE_COMMIT,) = [parsed(text) for text in recipes("pre-commit")]


class TestPublishedSchemas:
    @pytest.mark.parametrize("recipe", WORKFLOWS)
    def test_github(self, recipe: Any) -> None:
        assert problems(recipe, vendored("github-workflows")) == []

    @pytest.mark.parametrize("recipe", GITLAB)
    def test_gitlab(self, recipe: Any) -> None:
        assert problems(recipe, vendored("gitlab-ci")) == []

    def test_azure(self) -> None:
        assert problems(AZURE, vendored("azure-pipelines")) == []

    def test_pre_commit(self) -> None:
        assert problems(PRE_COMMIT, schemastore("https://json.schemastore.org/pre-commit-config.json")) == []
        hooks = yaml_texts.load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
        assert problems(hooks, schemastore("https://json.schemastore.org/pre-commit-hooks.json")) == []
        assert {hook["id"] for hook in PRE_COMMIT["repos"][0]["hooks"]} <= {hook["id"] for hook in hooks}

    def test_they_would_find_something(self) -> None:
        """A schema that takes anything proves nothing."""
        assert problems({"on": "push", "jobs": {"a": {"steps": []}}}, vendored("github-workflows"))
        assert problems({"a": {"scrip": "x"}}, vendored("gitlab-ci"))
        assert problems({"steps": [{"scrip": "x"}]}, vendored("azure-pipelines"))


class TestGitHub:
    def test_inputs_of_the_action_are_its_own(self) -> None:
        action = yaml_texts.load((ROOT / "action.yml").read_text(encoding="utf-8"))
        (used,) = [step for one in WORKFLOWS for step in steps(one) if "servelint@" in step.get("uses", "")]
        assert set(used["with"]) <= set(action["inputs"])
        (table,) = re.findall(r"(?m)^\| input \|.*\n((?:\|.*\n)+)", TEXT)
        assert set(re.findall(r"`([a-z-]+)`", " ".join([row.split("|")[1] for row in table.splitlines()]))) == set(
            action["inputs"]
        )
        assert all(f"`{name}`" in TEXT for name in action["outputs"])

    @pytest.mark.parametrize("recipe", WORKFLOWS)
    def test_no_job_may_do_more_than_it_needs(self, recipe: Any) -> None:
        assert recipe["permissions"] == {}
        (job,) = recipe["jobs"].values()
        assert job["permissions"].pop("contents") == "read"
        assert set(job["permissions"]) <= {"security-events", "pull-requests"}


def steps(workflow: Any) -> list[Any]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


class Machine:
    """A repository with a launch that ends at its start, added after the first commit; and programs that only write down
    what they are told, beside this servelint."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.folder.mkdir()
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.program("servelint", f'exec {sys.executable} -m servelint "$@"')
        self.program("pip", 'echo "$@" >>pip.log')
        self.program("reviewdog", 'echo "$@" >reviewdog.log; cat >reviewdog.in')
        # `python3 -m venv FOLDER`
        self.program("python3", f'mkdir -p "$3/bin" && cp {self.bin}/pip {self.bin}/servelint "$3/bin"')
        self.env = {**os.environ, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "WORKSPACE_TMP": str(folder / "t m p")}
        self.env["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), *sys.path])
        names = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        people = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.env |= names | people
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            self.env.pop(name, None)
        self.run("git init -q . && echo launches >README && git add -A && git commit -q -m first")
        self.run("git update-ref refs/remotes/origin/main HEAD")
        self.env |= {"GITHUB_BASE_REF": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.run("git rev-parse HEAD").stdout.strip()}
        (self.folder / "run.sh").write_text("vllm serve m --gpu-memory-utilization 1.5\n")
        self.run("git add -A && git commit -q -m second")

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line as GitHub, GitLab, Azure and Jenkins do: by a shell that stops at the first failure."""
        shell = ["bash", "-e", "-c", line]
        return subprocess.run(shell, cwd=self.folder, env=self.env, capture_output=True, text=True)

    def statuses(self, lines: list[str]) -> list[int]:
        """The exit status of each line; the log is in `log`."""
        done = [self.run(line) for line in lines]
        self.log = "".join(one.stdout + one.stderr for one in done)
        return [one.returncode for one in done]

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def has(option: str, machine: Machine) -> bool:
    return option in machine.run("servelint check --help").stdout


class TestLines:
    """Each recipe installs servelint, finds the launch, fails the job, and leaves the report where the next step takes it."""

    def test_github_with_steps_of_its_own(self, machine: Machine) -> None:
        if not has("--changed-since", machine):
            pytest.skip("no --changed-since here")
        lines = [step["run"] for step in steps(WORKFLOWS[1]) if "run" in step]
        assert machine.statuses(lines) == [0, 1]
        assert f"title={RANGE}::" in machine.log

    def test_reviewdog(self, machine: Machine) -> None:
        lines = [step["run"] for step in steps(WORKFLOWS[2]) if "run" in step]
        assert machine.statuses(lines) == [0, 0, 0]
        assert machine.read("reviewdog.log").startswith("-f=rdjson ")
        assert json.loads(machine.read("reviewdog.in"))["diagnostics"][0]["code"]["value"] == RANGE

    def test_gitlab(self, machine: Machine) -> None:
        job = GITLAB[0]["servelint"]
        assert machine.statuses(job["script"]) == [0, 1]
        assert job["artifacts"]["when"] == "always"
        assert json.loads(machine.read(job["artifacts"]["reports"]["codequality"]))[0]["check_name"] == RANGE

    def test_gitlab_for_what_a_merge_request_changes(self, machine: Machine) -> None:
        if not has("--changed-since", machine):
            pytest.skip("no --changed-since here")
        assert machine.statuses(GITLAB[1]["servelint"]["script"]) == [0, 1]
        assert RANGE in machine.log

    def test_azure(self, machine: Machine) -> None:
        assert machine.statuses([step["script"] for step in AZURE["steps"] if "script" in step]) == [0, 1]
        (publish,) = [step["inputs"] for step in AZURE["steps"] if step.get("task", "").startswith("PublishTestResults")]
        assert RANGE in machine.read(publish["testResultsFiles"])
        ElementTree.fromstring(machine.read(publish["testResultsFiles"]))

    def test_jenkins(self, machine: Machine) -> None:
        assert machine.statuses(re.findall(r"(?m)^ +sh '(.*)'$", JENKINS)) == [0, 0, 1]
        (junit,) = re.findall(r"junit '(.*?)'", JENKINS)
        (sarif,) = re.findall(r"pattern: '(.*?)'", JENKINS)
        ElementTree.fromstring(machine.read(junit))
        assert json.loads(machine.read(sarif))["runs"][0]["results"][0]["ruleId"] == RANGE
        assert JENKINS.count("{") == JENKINS.count("}")

    def test_each_installs_servelint(self) -> None:
        assert TEXT.count(f"install servelint=={servelint.__version__}") == 6

    def test_nothing_fails_without_findings(self, machine: Machine) -> None:
        machine.run("git rm -q -f run.sh && git commit -q -m third")
        for lines in (GITLAB[0]["servelint"]["script"], [step["script"] for step in AZURE["steps"] if "script" in step]):
            assert machine.statuses(lines) == [0, 0]
