"""Checks of what stands between a container, a script or a unit and the engine."""

from __future__ import annotations

from servelint.engines.config import configs
from servelint.judge.checks.containers import own_variables
from tests.launching import launch_in
from tests.together import together

UNIT = "[Service]\nEnvironment=OLLAMA_X=1\nExecStart={}\n"


@together(
    "text, filename, own",
    [
        ("OLLAMA_X=1 ollama serve\n", "run.sh", True),
        ("#!/bin/sh\n\nOLLAMA_X=1 ollama serve\n", "run.sh", True),
        ("#!/bin/sh\n  OLLAMA_X=1 B=2 ollama serve\n", "run.sh", True),
        ("export OLLAMA_X=1\nollama serve\n", "run.sh", False),
        ("OLLAMA_X=1 sudo ollama serve\n", "run.sh", False),
        ("export OLLAMA_Y=1\nOLLAMA_X=1 ollama serve\n", "run.sh", False),
        ("ollama serve\n", "run.sh", False),
        (UNIT.format("/usr/bin/ollama serve"), "ollama.service", True),
        (UNIT.format("/bin/sh -c 'ollama serve'"), "ollama.service", False),
        ("services:\n  a:\n    image: ollama/ollama:0.12.3\n    environment: {OLLAMA_X: 1}\n", "compose.yml", True),
    ],
)
def test_whether_no_script_reads_the_variables_before_the_engine(text: str, filename: str, own: bool) -> None:
    (config,) = configs(launch_in(text, filename), ["0.12.3"])
    assert (own_variables(config) is not None) is own
