"""A git repository in a folder of its own, untouched by the settings of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "somebody"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "somebody@example.org"),
}


class Repository:
    """A new repository with an empty first commit, whose branch is `main`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "empty")

    def git(self, *args: str) -> str:
        ran = subprocess.run(
            ["git", *args], cwd=self.folder, env=_ENVIRONMENT, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
        assert ran.returncode == 0, (args, ran.stderr)
        return ran.stdout.decode()

    def commit(self, message: str) -> None:
        """Commit all that there is."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
