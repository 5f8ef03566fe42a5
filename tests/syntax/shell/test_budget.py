"""A script that runs long scripts again and again is followed as far as pays, and no further."""

from __future__ import annotations

import pytest

from servelint.syntax.shell.evaluate import Evaluator
from tests.running import Workspace

LONG = "for i in 1 2 3 4 5 6 7 8; do for j in 1 2 3 4 5 6 7 8; do for k in 1 2 3 4 5 6 7 8; do :; x=$k; done; done; done\n"


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps of each script that was followed."""
    taken: list[int] = []
    real = Evaluator.uncalled

    def uncalled(self: Evaluator) -> None:
        real(self)
        taken.append(self.steps)

    monkeypatch.setattr(Evaluator, "uncalled", uncalled)
    return taken


def test_many_calls(workspace: Workspace, steps: list[int]) -> None:
    workspace.file("long.sh", LONG + "vllm serve m --gpu-memory-utilization $1\n")
    workspace.file("run.sh", "./long.sh 1.5\n" * 200 + "vllm serve m --swap-space 4\n")
    ran = workspace.run("check", "run.sh", "--engine-version", "vllm=0.27.1", "--format", "json")
    assert sorted({one["rule"] for one in ran.data["findings"]}) == [
        "vllm/gpu-memory-utilization-out-of-range",
        "vllm/removed-option",
    ]
    assert len(steps) < 30
    assert sum(steps) < 45_000


def test_many_calls_of_a_large_file(workspace: Workspace, steps: list[int]) -> None:
    workspace.file("large.sh", "# " + "x" * 900_000 + "\n:\n")
    workspace.file("run.sh", "./large.sh\n" * 200 + "vllm serve m\n")
    assert workspace.run("check", "run.sh").status == 0
    assert len(steps) < 12
