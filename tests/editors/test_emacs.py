"""A real Emacs with eglot and the settings of docs/editors.md: it shows a finding and a hover, and applies a quick fix."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.editors.running import BROKEN, documented, environment

EMACS = shutil.which("emacs")
BATCH = ["--batch", "--no-init-file", "--funcall", "package-initialize"]


pytestmark = pytest.mark.skipif(EMACS is None, reason="there is no emacs here")


def test_a_finding_a_hover_and_a_quick_fix(tmp_path: Path) -> None:
    assert EMACS is not None
    if subprocess.run([EMACS, *BATCH, "--eval", "(require 'eglot)"], capture_output=True, check=False).returncode:
        pytest.skip("this emacs has no eglot")
    file = tmp_path / "work" / "serve.sh"
    file.parent.mkdir()
    text = (BROKEN / "prefix-caching-mtp.sh").read_text()
    file.write_text(text)
    settings = tmp_path / "init.el"
    settings.write_text(documented("Emacs", "elisp")[0])
    output = tmp_path / "seen.json"
    outcome = subprocess.run(
        [EMACS, *BATCH, "--load", str(settings), "--load", str(Path(__file__).with_name("session.el"))],
        env={
            **environment(tmp_path),
            "SERVELINT_SEEN": str(output),
            "SERVELINT_FILE": str(file),
            "SERVELINT_WORD": "qwen3_next_mtp",
            "SERVELINT_ACTION": '"method": "mtp"',
        },
        cwd=file.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert output.exists(), outcome.stderr
    seen = json.loads(output.read_text())
    assert "problem" not in seen, f"{seen}\n{outcome.stderr}"

    before = [(one["severe"], one["place"]) for one in seen["before"]]
    assert (True, "--enable-prefix-caching") in before
    assert (False, "qwen3_next_mtp") in before
    assert any("vllm/hybrid-mtp-prefix-caching" in one["text"] for one in seen["before"])
    assert "qwen3_next_mtp" in seen["hover"]
    assert file.read_text() == text.replace("qwen3_next_mtp", "mtp")
    assert "qwen3_next_mtp" not in [one["place"] for one in seen["after"]]
