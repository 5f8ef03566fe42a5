"""A real Neovim with the settings of docs/editors.md: it shows a finding and a hover, and applies a quick fix."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.editors.running import BROKEN, documented, environment

NVIM = shutil.which("nvim")
pytestmark = pytest.mark.skipif(NVIM is None, reason="there is no nvim here")


def _session(folder: Path, file: Path, word: str, action: str) -> dict[str, Any]:
    """What was seen in a session that puts the cursor on a word and takes the action with these words in its title."""
    assert NVIM is not None
    version = re.search(
        r"v(\d+)\.(\d+)", subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=True).stdout
    )
    assert version is not None
    newer, older, *_ = documented("Neovim", "lua")
    settings = folder / "init.lua"
    settings.write_text(newer if (int(version[1]), int(version[2])) >= (0, 11) else older)
    seen = folder / "seen.json"
    outcome = subprocess.run(
        [NVIM, "--headless", "--clean", "-u", str(settings), "-S", str(Path(__file__).with_name("session.lua")), str(file)],
        env={
            **environment(folder),
            "SERVELINT_SEEN": str(seen),
            "SERVELINT_WORD": word,
            "SERVELINT_ACTION": action,
        },
        cwd=file.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert seen.exists(), outcome.stderr
    data: dict[str, Any] = json.loads(seen.read_text())
    assert "problem" not in data, f"{data}\n{outcome.stderr}"
    return data


def test_a_finding_a_hover_and_a_quick_fix(tmp_path: Path) -> None:
    file = tmp_path / "work" / "turboquant.yml"
    file.parent.mkdir()
    text = (BROKEN / "turboquant.yml").read_text()
    file.write_text(text)
    seen = _session(tmp_path, file, "turboquant_k8v4", "--kv-cache-dtype fp8")

    rule = "vllm/turboquant-with-spec-decode"
    column = len("      --kv-cache-dtype ")
    place = {"line": 11, "column": column, "end": column + len("turboquant_k8v4")}
    assert {"code": rule, "severity": 1, "source": "servelint", **place} in seen["before"]
    assert "--kv-cache-dtype" in seen["hover"]
    assert any("--kv-cache-dtype fp8" in title for title in seen["offered"])
    assert file.read_text() == text.replace("turboquant_k8v4", "fp8")
    assert rule not in [one["code"] for one in seen["after"]]
