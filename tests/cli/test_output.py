"""`servelint check --output`: where reports go, and that they arrive whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from servelint.core.settings import FORMATS
from tests.running import Workspace

WRONG = "vllm serve m --gpu-memory-utilization 1.5\n"
RANGE = "vllm/gpu-memory-utilization-out-of-range"


def test_several_beside_the_usual_one(workspace: Workspace) -> None:
    workspace.file("run.sh", WRONG)
    outputs = [f"--output={kind}=report.{kind}" for kind in FORMATS]
    ran = workspace.run("check", "run.sh", *outputs)
    assert ran.status == 1
    assert ran.out.startswith(f"error[{RANGE}]: ")
    assert sorted(os.listdir()) == sorted([*[f"report.{kind}" for kind in FORMATS], "run.sh"])
    for kind in FORMATS:
        text = Path(f"report.{kind}").read_text()
        assert RANGE in text
        if kind == "junit":
            ElementTree.fromstring(text)
        elif kind in ("json", "gitlab", "rdjson", "sarif"):
            json.loads(text)


def test_each_is_what_the_format_alone_prints(workspace: Workspace) -> None:
    workspace.file("run.sh", WRONG)
    kinds = [kind for kind in FORMATS if kind != "text"]  # which says how long it took
    workspace.run("check", "run.sh", *[f"--output={kind}=report.{kind}" for kind in kinds])
    for kind in kinds:
        assert Path(f"report.{kind}").read_text() == workspace.run("check", "run.sh", "--format", kind).out


def test_one_of_a_format_and_one_of_the_usual(workspace: Workspace) -> None:
    workspace.file("run.sh", WRONG)
    ran = workspace.run("check", "run.sh", "--output", "report.txt", "--output", "sarif=report.sarif")
    assert (ran.status, ran.out, ran.err) == (1, "", "")
    assert Path("report.txt").read_text().startswith(f"error[{RANGE}]: ")
    assert json.loads(Path("report.sarif").read_text())["version"] == "2.1.0"


def test_a_name_with_a_sign_of_equality(workspace: Workspace) -> None:
    workspace.file("run.sh", WRONG)
    workspace.run("check", "run.sh", "--output", "build=1.txt")
    assert Path("build=1.txt").read_text().startswith(f"error[{RANGE}]: ")


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (["a", "b"], "--output FILE is given once; name the format of the others, as in --output sarif=report.sarif"),
        (["a", "sarif=./a"], "two reports would go to the same file"),
        (["sarif=a", "junit=a"], "two reports would go to the same file"),
        (["sarif="], "--output needs the name of a file"),
        ([""], "--output needs the name of a file"),
    ],
)
def test_what_makes_no_sense(outputs: list[str], said: str, workspace: Workspace) -> None:
    workspace.file("run.sh", WRONG)
    ran = workspace.run("check", "run.sh", *[f"--output={one}" for one in outputs])
    assert ran.status == 2
    assert ran.err.splitlines()[-1] == f"servelint check: error: {said}"
    assert os.listdir() == ["run.sh"]


def test_one_that_cannot_be_written_does_not_stop_the_others(workspace: Workspace) -> None:
    workspace.file("run.sh", WRONG)
    ran = workspace.run("check", "run.sh", "--output", "junit=missing/a", "--output", "sarif=report.sarif")
    assert ran.status == 2
    assert ran.err.startswith("servelint: missing/a: cannot be written: ")
    assert RANGE in Path("report.sarif").read_text()
    assert ran.out.startswith("error[")


def test_settings_that_are_wrong_are_in_each(workspace: Workspace) -> None:
    workspace.file("servelint.toml", "nonsense = 1\n")
    workspace.file("run.sh", WRONG)
    ran = workspace.run("check", "run.sh", "--output", "sarif=report.sarif")
    assert ran.status == 2
    (run,) = json.loads(Path("report.sarif").read_text())["runs"]
    assert run["results"] == []
    (said,) = run["invocations"][0]["toolExecutionNotifications"]
    assert said["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "servelint.toml"


MUCH = """
import sys
from servelint.cli import main, options
from tests.findings import report, simple

found = report(*[simple("\u27e6m\u27e7", f"{number}.sh") for number in range(6)])
for one in found.findings:
    one.message = "long " * 540_000
options.lint = lambda *_, **__: found
sys.exit(main(["check", "--isolated", "--format", sys.argv[1]]))
"""
"""A check that finds 15 MB to say, and ends as soon as it has said it."""


@pytest.mark.parametrize(("kind", "blocking"), [("text", True), *((kind, False) for kind in FORMATS)])
def test_a_report_of_15_mb_goes_through_a_pipe_whole(kind: str, blocking: bool) -> None:
    """Also through one that another program left non-blocking, as Node does."""
    read, write = os.pipe()
    os.set_blocking(write, blocking)
    with subprocess.Popen([sys.executable, "-c", MUCH, kind], stdout=write, cwd=Path(__file__).parent.parent.parent) as process:
        os.close(write)
        with open(read, "rb") as pipe:
            data = pipe.read()
    assert process.returncode == 1
    assert len(data) > 15_000_000
    if kind == "junit":
        ElementTree.fromstring(data)
    elif kind in ("json", "gitlab", "rdjson", "sarif"):
        json.loads(data)
    else:
        assert data.endswith(b"\n")
