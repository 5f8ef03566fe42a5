"""A repository's history, commit by commit: what the baseline knows, and what each commit touches."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from servelint.core.own_rules import MOVED_ENTRY, STALE_ENTRY
from tests.repository import Repository
from tests.running import Workspace

pytestmark = pytest.mark.book

SETTINGS = """\
baseline = "known.json"
select = ["vllm/removed-option", "vllm/removed-env", "vllm/gpu-memory-utilization-out-of-range", "servelint/*"]
engine-versions = {vllm = "0.27.1"}
"""
COMPOSE = """\
services:
  a:
    image: vllm/vllm-openai:v0.27.1
    command: --model m --swap-space 4
  b:
    image: vllm/vllm-openai:${TAG}
    command:
      - --model=m
      - --port=8000
"""
RUN = "#!/bin/bash\nvllm serve m --gpu-memory-utilization 1.5 --port 8000\n"
SHORT = {
    "vllm/removed-option": "option",
    "vllm/removed-env": "variable",
    "vllm/gpu-memory-utilization-out-of-range": "range",
    STALE_ENTRY: "stale",
    MOVED_ENTRY: "moved",
}


class History:
    """Commits one step after the other, and holds each against what is expected of it."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.repository = Repository(workspace.folder)
        self.steps = 0

    def path(self, name: str) -> Path:
        return self.workspace.folder / name

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a text in a file, where it must be."""
        text = self.path(name).read_text()
        assert old in text, (name, old, text)
        self.path(name).write_text(text.replace(old, new))

    def accept(self) -> None:
        """Write the baseline anew."""
        ran = self.workspace.run("check", "--write-baseline")
        assert ran.status == 0, ran

    def step(
        self,
        what: str,
        *edits: Callable[[], object],
        new: tuple[str, ...] = (),
        told: tuple[str, ...] = (),
        touched: tuple[str, ...] = (),
        errors: int = 0,
    ) -> None:
        """Make a commit of edits.

        new:     findings that the baseline does not know;  told: what is said of its entries
        touched: findings that the commit touches, known or not
        """
        for edit in edits:
            edit()
        self.repository.commit(what)
        self.steps += 1
        data = self.check()
        assert self.short(data, own=False) == sorted(new), what
        assert self.short(data, own=True) == sorted(told), what
        assert len(data["errors"]) == errors, what
        # the first step's own baseline is not in force here, so that known findings are seen as well
        self.change("servelint.toml", 'baseline = "known.json"\n', "\n")
        data = self.check("--changed-since", "HEAD~1")
        assert self.short(data, own=False) == sorted(touched), what
        self.repository.git("checkout", "-q", "servelint.toml")

    def check(self, *args: str) -> Any:
        return self.workspace.run("check", "--format", "json", *args).data

    @staticmethod
    def short(data: Any, *, own: bool) -> list[str]:
        found: list[str] = []
        for finding in data["findings"]:
            kind = SHORT[finding["rule"]]
            if (kind in ("stale", "moved")) != own:
                continue
            if own:
                where = re.search(r"from .* to ([^;]*);|^([^;]*?),? (?:no longer|has)", finding["message"])
                assert where is not None, finding["message"]
                found.append(f"{kind} {where.group(1) or where.group(2)}")
            else:
                name = finding["launch"]["name"]
                found.append(f"{kind} {finding['path']}" + (f", {name}" if name else ""))
        return sorted(found)


def test_a_history(workspace: Workspace) -> None:
    history = History(workspace)
    change, accept, git = history.change, history.accept, history.repository.git

    def write(name: str, text: str) -> None:
        workspace.file(name, text)

    def move(old: str, new: str) -> None:
        history.path(new).parent.mkdir(exist_ok=True)
        git("mv", old, new)

    a, b, moved_b = "compose.yml, services.a", "compose.yml, services.b", "compose.yml, services.backend"
    gpu = "gpu.yml, services.backend"
    history.step(
        "launches with two known findings",
        lambda: write("servelint.toml", SETTINGS),
        lambda: write("compose.yml", COMPOSE),
        lambda: write(".env", "# where it runs\nTAG=v0.27.1\n"),
        lambda: write("run.sh", RUN),
        accept,
        touched=(f"option {a}", "range run.sh"),
    )
    history.step(
        "lines drift: comments above the launches",
        lambda: change("compose.yml", "services:\n", "# ours\n# theirs\nservices:\n"),
        lambda: change("run.sh", "vllm serve", "set -e\n\n\nvllm serve"),
    )
    history.step(
        "a launch goes over several lines",
        lambda: change("run.sh", " --port 8000", " \\\n    --port 8000"),
        touched=("range run.sh",),
    )
    history.step(
        "a new service with an old option",
        lambda: change(
            "compose.yml",
            "  b:\n",
            "  c:\n    image: vllm/vllm-openai:v0.27.1\n    command: --model m --swap-space 8\n  b:\n",
        ),
        new=("option compose.yml, services.c",),
        touched=("option compose.yml, services.c",),
    )
    history.step("it is mended", lambda: change("compose.yml", " --swap-space 8", ""))
    history.step("a known finding is mended", lambda: change("compose.yml", " --swap-space 4", ""), told=(f"stale {a}",))
    history.step("it comes back", lambda: change("compose.yml", "m\n  c:", "m --swap-space 4\n  c:"), touched=(f"option {a}",))
    history.step(
        "it comes back worse: another value is another decision",
        lambda: change("compose.yml", "--swap-space 4", "--swap-space=16"),
        touched=(f"option {a}",),
    )
    history.step("it is mended for good", lambda: change("compose.yml", " --swap-space=16", ""), accept)
    history.step(
        "a script gets another name",
        lambda: move("run.sh", "scripts/start.sh"),
        told=("moved scripts/start.sh",),
    )
    history.step("the baseline follows", accept)
    history.step(
        "a copy of the script",
        lambda: write("serve.sh", history.path("scripts/start.sh").read_text()),
        new=("range serve.sh",),
        touched=("range serve.sh",),
    )
    history.step(
        "accepted by hand, with a reason and a day",
        lambda: change(
            "known.json",
            "[\n",
            '[\n  {"rule": "vllm/gpu-memory-utilization-out-of-range", "path": "serve.sh", "text": "1.5",'
            ' "reason": "an experiment", "expires": "2999-12-31"},\n',
        ),
    )
    history.step("the day is over", lambda: change("known.json", "2999-12-31", "2020-01-31"), new=("range serve.sh",))
    history.step("writing the baseline anew does not give another day", accept, new=("range serve.sh",))
    assert '"reason": "an experiment", "expires": "2020-01-31"' in history.path("known.json").read_text()
    history.step("it is mended", lambda: change("serve.sh", "1.5", "0.9"), told=("stale serve.sh",))
    history.step("the script goes", lambda: git("rm", "-q", "serve.sh"), told=("stale serve.sh",))
    history.step("and its entry", accept)
    history.step(
        "a variable that nothing reads",
        lambda: change("compose.yml", "${TAG}\n", "${TAG}\n    environment:\n      VLLM_ATTENTION_BACKEND: FLASHINFER\n"),
        new=(f"variable {b}",),
        touched=(f"variable {b}",),
    )
    history.step("accepted", accept)
    history.step(
        "a service gets another name",
        lambda: change("compose.yml", "  b:\n", "  backend:\n"),
        told=(f"moved {moved_b}",),
        touched=(f"variable {moved_b}",),
    )
    history.step("the baseline follows", accept)
    history.step(
        "the release in .env is one that reads the variable",
        lambda: change(".env", "v0.27.1", "v0.14.0"),
        told=(f"stale {moved_b}",),
    )
    history.step("and one that does not", lambda: change(".env", "v0.14.0", "v0.27.1"), touched=(f"variable {moved_b}",))
    history.step("another line of .env", lambda: change(".env", "# where it runs", "PORT=8000"))
    tail = history.path("compose.yml").read_text().partition("  backend:\n")[2]
    history.step(
        "a service goes to a file of its own",
        lambda: change("compose.yml", "  backend:\n" + tail, ""),
        lambda: write("gpu.yml", "services:\n  backend:\n" + tail),
        told=(f"moved {gpu}",),
        touched=(f"variable {gpu}",),
    )
    history.step("the baseline follows", accept)
    history.step(
        "a line is taken out of a launch",
        lambda: change("gpu.yml", "      - --port=8000\n", ""),
        touched=(f"variable {gpu}",),
    )
    history.step(
        "the settings say another release",
        lambda: change("servelint.toml", "0.27.1", "0.26.0"),
        touched=("range scripts/start.sh",),
    )
    history.step(
        "another name and another port at once",
        lambda: move("scripts/start.sh", "scripts/launch.sh"),
        lambda: change("scripts/launch.sh", "8000", "9000"),
        told=("moved scripts/launch.sh",),
        touched=("range scripts/launch.sh",),
    )
    history.step(
        "a file that cannot be parsed is not one without findings",
        accept,
        lambda: change("gpu.yml", "command:", "command: [["),
        errors=1,
    )
    history.step(
        "all is mended",
        lambda: change("gpu.yml", "command: [[", "command:"),
        lambda: change("gpu.yml", "      VLLM_ATTENTION_BACKEND: FLASHINFER\n", "      A: b\n"),
        lambda: change("scripts/launch.sh", "1.5", "0.9"),
        told=(f"stale {gpu}", "stale scripts/launch.sh"),
    )
    history.step("nothing is known any more", accept)
    assert '"findings": []' in history.path("known.json").read_text()
    assert history.steps >= 30


def test_what_others_did_on_the_main_branch_is_not_ours(workspace: Workspace) -> None:
    repository = Repository(workspace.folder)
    workspace.file("ours.sh", RUN)
    workspace.file("theirs.sh", RUN)
    repository.commit("both")
    repository.git("checkout", "-q", "-b", "feature")
    workspace.file("ours.sh", RUN.replace("8000", "9000"))
    repository.commit("ours")
    repository.git("checkout", "-q", "main")
    workspace.file("theirs.sh", RUN.replace("8000", "9000"))
    workspace.file("new.sh", RUN)
    repository.commit("theirs")
    repository.git("checkout", "-q", "feature")
    found = workspace.run("check", "--changed-since", "main", "--format", "json").data
    assert [finding["path"] for finding in found["findings"]] == ["ours.sh"]
    assert found["unchanged"] == 1
    repository.git("merge", "-q", "main", "-m", "merged")
    found = workspace.run("check", "--changed-since", "main", "--format", "json").data
    assert [finding["path"] for finding in found["findings"]] == ["ours.sh"]
