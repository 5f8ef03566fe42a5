"""The GitHub action: its file against the published schema, and its steps run as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from servelint.core.settings import FORMATS
from tests.published import problems, vendored
from tests.repository import Repository
from tests.syntax import yaml_texts

ROOT = Path(__file__).parent.parent
ACTION = yaml_texts.load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, CHECK, UPLOAD = ACTION["runs"]["steps"]
WRONG = "vllm serve m --gpu-memory-utilization 1.5\n"

pytestmark = [pytest.mark.book, pytest.mark.skipif(os.name == "nt", reason="the stubs are shell scripts")]


class Ran(NamedTuple):
    """How a step ended; its outputs, and the summary of the job."""

    status: int
    log: str
    outputs: dict[str, str]
    summary: str


class Runner:
    """A folder laid out as a runner's, with a repository in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = folder / "repository"
        self.repository.mkdir()
        self.temp = folder / "temp folder"
        self.temp.mkdir()

    def script(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def installed(self) -> None:
        """What the first step leaves behind: here, this servelint."""
        self.script(self.temp / "servelint" / "bin" / "python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')

    def run(self, step: dict[str, Any], **inputs: str) -> Ran:
        """Run a step with the defaults of the action and some inputs; what other contexts hold is replaced likewise."""
        given = {name: str(one["default"]) for name, one in ACTION["inputs"].items()} | {
            name.replace("_", "-"): value for name, value in inputs.items()
        }

        def fill(text: str) -> str:
            context = {f"inputs.{name}": value for name, value in given.items()} | {"github.action_path": str(ROOT)}
            return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda match: context[match.group(1)], text)

        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        env = {**os.environ, "RUNNER_TEMP": str(self.temp), "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
        env |= {name: str(file) for name, file in files.items()}
        env |= {name: fill(value) for name, value in step["env"].items()}
        script = self.folder / "step.sh"
        script.write_text(step["run"])
        # as GitHub runs `shell: bash`
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        folder = self.repository / fill(step.get("working-directory", "."))
        ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
        outputs = files["GITHUB_OUTPUT"].read_text()
        found = dict(re.findall(r"(?m)^([\w-]+)=(.*)$", outputs))
        found |= {name: value for name, _, value in re.findall(r"(?ms)^([\w-]+)<<(\S+)\n(.*?)\n\2$", outputs)}
        return Ran(ran.returncode, ran.stdout + ran.stderr, found, files["GITHUB_STEP_SUMMARY"].read_text())


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


class TestFile:
    def test_against_the_published_schema(self) -> None:
        assert problems(ACTION, vendored("github-actions")) == []
        assert problems({**ACTION, "runs": {"using": "composite"}}, vendored("github-actions"))

    def test_no_input_stands_in_a_script(self) -> None:
        """What is put into a script before bash reads it could be anything."""
        for step in (INSTALL, CHECK):
            assert "${{" not in step["run"]
        used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
        assert used == set(ACTION["inputs"])

    def test_what_it_uses_is_pinned_to_a_commit(self) -> None:
        assert re.fullmatch(r"github/codeql-action/upload-sarif@[0-9a-f]{40}", UPLOAD["uses"])

    def test_the_report_is_uploaded_only_where_that_is_wanted_and_also_after_findings(self) -> None:
        assert UPLOAD["if"] == "${{ !cancelled() && inputs.upload-sarif == 'true' && steps.check.outputs.sarif != '' }}"
        assert ACTION["inputs"]["upload-sarif"]["default"] == "false"
        assert UPLOAD["with"]["sarif_file"] == ACTION["outputs"]["sarif"]["value"] == "${{ steps.check.outputs.sarif }}"

    def test_its_format_is_one(self) -> None:
        assert ACTION["inputs"]["format"]["default"] in FORMATS


class TestInstall:
    """A Python that writes down what it is told to do."""

    STUB = '#!/bin/sh\necho "$(basename "$0"): $*" >>"$RUNNER_TEMP/log"\nlast=$4\n'
    MAKES = 'mkdir -p "$last/bin" && cp "$0" "$last/bin/python"\n'

    def calls(self, runner: Runner, **inputs: str) -> list[str]:
        python = runner.folder / "some python"
        runner.script(python, self.STUB + f'case "$2" in venv) {self.MAKES} ;; esac\n')
        ran = runner.run(INSTALL, python=str(python), **inputs)
        assert ran.status == 0, ran.log
        return (runner.temp / "log").read_text().splitlines()

    def test_the_action_itself(self, runner: Runner) -> None:
        venv, pip = self.calls(runner)
        assert venv == f"some python: -m venv --clear {runner.temp}/servelint"
        assert pip == f"python: -m pip install --quiet --disable-pip-version-check {ROOT}"

    def test_a_release(self, runner: Runner) -> None:
        assert self.calls(runner, version="0.1.0")[1].endswith(" servelint==0.1.0")
        assert self.calls(runner, version="1 --index-url x; exit")[-1].endswith(" servelint==1 --index-url x; exit")

    def test_a_python_that_is_not_there(self, runner: Runner) -> None:
        assert runner.run(INSTALL, python="no-such-python").status == 127


class TestCheck:
    @pytest.fixture(autouse=True)
    def _installed(self, runner: Runner) -> None:
        runner.installed()

    def test_findings(self, runner: Runner) -> None:
        (runner.repository / "run.sh").write_text(WRONG)
        ran = runner.run(CHECK)
        assert ran.status == 1
        assert "::error file=run.sh,line=1,col=39," in ran.log
        assert ran.outputs == {"exit-status": "1", "findings": "1", "sarif": f"{runner.temp}/servelint/servelint.sarif"}
        assert json.loads(Path(ran.outputs["sarif"]).read_text())["runs"][0]["results"][0]["level"] == "error"
        assert "| error | <code>run.sh&#58;1&#58;39</code> |" in ran.summary

    def test_nothing_to_report(self, runner: Runner) -> None:
        (runner.repository / "run.sh").write_text("vllm serve m\n")
        ran = runner.run(CHECK)
        assert (ran.status, ran.outputs["exit-status"], ran.outputs["findings"]) == (0, "0", "0")
        assert "nothing found" in ran.summary

    def test_a_report_of_an_earlier_run_does_not_count(self, runner: Runner) -> None:
        runner.run(CHECK)
        ran = runner.run(CHECK, args="--no-such-option")
        assert (ran.status, ran.outputs, ran.summary) == (2, {"exit-status": "2"}, "")
        assert "no such option: --no-such-option" in ran.log

    def test_paths_and_arguments(self, runner: Runner) -> None:
        for name in ("a b.sh", "c.sh", "-d.sh", "other.sh"):
            (runner.repository / name).write_text(WRONG)
        ran = runner.run(CHECK, paths="a b.sh\nc.sh\n\n-d.sh\n", args="--severity error\n  --gpu   h100", format="concise")
        *findings, last = ran.log.splitlines()
        assert sorted(line.partition(":")[0] for line in findings) == ["-d.sh", "a b.sh", "c.sh"]
        assert last.startswith("servelint: 3 launches: ")

    def test_suppressions_of_the_base_count(self, runner: Runner) -> None:
        repository = Repository(runner.repository)
        (runner.repository / "run.sh").write_text("# servelint: ignore[vllm/*] hidden\n" + WRONG)
        runner.installed()
        assert runner.run(CHECK).status == 0
        assert runner.run(CHECK, trusted_base="main").status == 1
        repository.commit("accepted")
        assert runner.run(CHECK, trusted_base="main").status == 0
        assert runner.run(CHECK, trusted_base="--output=x").status == 2
        assert not (runner.repository / "x").exists()

    def test_what_fails_the_job(self, runner: Runner) -> None:
        (runner.repository / "run.sh").write_text(WRONG)
        ran = runner.run(CHECK, fail_on="never")
        assert (ran.status, ran.outputs["exit-status"], ran.outputs["findings"]) == (0, "0", "1")

    def test_inputs_are_no_commands(self, runner: Runner) -> None:
        bad = '$(touch hit); `touch hit` "; touch hit'
        for name in ("paths", "args", "format", "fail_on", "sarif_file"):
            runner.run(CHECK, **{name: bad})
            assert not list(runner.folder.rglob("hit"))
        (runner.repository / "x.sh").write_text(WRONG)
        assert "file=*,line=1,col=1,title=servelint::cannot be read" in runner.run(CHECK, args="*").log  # not a list of files

    def test_where_it_runs_and_where_the_report_goes(self, runner: Runner) -> None:
        (runner.repository / "deploy").mkdir()
        (runner.repository / "deploy" / "run.sh").write_text(WRONG)
        ran = runner.run(CHECK, working_directory="deploy", sarif_file="report.sarif")
        assert "file=run.sh,line=1" in ran.log
        assert ran.outputs["sarif"] == str(runner.repository / "deploy" / "report.sarif")
        assert (runner.repository / "deploy" / "report.sarif").exists()

    def test_a_summary_that_is_too_long_is_cut(self, runner: Runner) -> None:
        stub = 'for one; do case "$one" in markdown=*) head -c 2000000 /dev/zero | tr "\\0" x >"${one#*=}" ;; esac; done\n'
        runner.script(runner.temp / "servelint" / "bin" / "python", "#!/bin/sh\n" + stub)
        assert len(runner.run(CHECK).summary) == 1_000_000
