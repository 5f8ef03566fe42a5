"""The command line, run in this process."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from servelint.cli import main


class Ran(NamedTuple):
    """How a command ended: its exit status, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What it printed as JSON."""
        return json.loads(self.out)


class Workspace:
    """A folder in which servelint runs."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(folder)

    def file(self, path: str, content: str | bytes) -> Path:
        """Write a file: a text as UTF-8, bytes as they are."""
        full = self.folder / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content if isinstance(content, bytes) else content.encode())
        return full

    def run(self, *args: str, stdin: bytes = b"") -> Ran:
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(list(args))
        out, err = self._capsys.readouterr()
        return Ran(status, out, err)
