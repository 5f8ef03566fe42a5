"""Where the data are: in the package, or in an installed bundle; a process and those that it starts use the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from servelint.core import data

ONE, TWO = "1" * 40, "2" * 40
DATE = "2030-01-01T00:00:00Z"
PROGRAM = """
import json, os, subprocess, sys
from servelint.core import data
def seen():
    found = data.active()
    return [found and found.id, data.data_path("models/traits.json"), data.date()]
first = seen()
os.rename(sys.argv[1], sys.argv[2])
child = subprocess.run([sys.executable, "-c", sys.argv[3]], env=data.environment(), capture_output=True, text=True, check=True)
print(json.dumps([first, seen(), json.loads(child.stdout)]))
"""
CHILD = "import json; from servelint.core import data; found = data.active(); print(json.dumps(found and found.id))"


def installed(home: Path, *ids: str, date: str = DATE) -> Path:
    folder = home / "servelint" / "bundles"
    for one in ids:
        (folder / one).mkdir(parents=True, exist_ok=True)
        (folder / one / "manifest.json").write_text(json.dumps({"date": date, "code": "0.1.0"}))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / data.CURRENT).write_text(json.dumps({"bundles": list(ids)}))
    return folder


def ask(home: Path, other: Path) -> list[object]:
    environ = {name: value for name, value in os.environ.items() if name != data.VARIABLE} | {"XDG_DATA_HOME": str(home)}
    current = home / "servelint" / "bundles" / data.CURRENT
    words = [sys.executable, "-c", PROGRAM, str(other), str(current), CHILD]
    ran = subprocess.run(words, env=environ, capture_output=True, text=True, check=True)
    found: list[object] = json.loads(ran.stdout)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="the folder of another system")
class TestOneProcess:
    def test_keeps_its_data_when_others_are_installed(self, tmp_path: Path) -> None:
        folder = installed(tmp_path, ONE, TWO)
        other = tmp_path / "other.json"
        other.write_text(json.dumps({"bundles": [TWO]}))
        seen = [ONE, str(folder / ONE / "models" / "traits.json"), "2030-01-01"]
        assert ask(tmp_path, other) == [seen, seen, ONE]

    def test_keeps_those_of_the_package(self, tmp_path: Path) -> None:
        installed(tmp_path)
        other = tmp_path / "other.json"
        other.write_text(json.dumps({"bundles": [ONE]}))
        seen = [None, str(Path(data.PACKAGE) / "models" / "traits.json"), data.package_date()]
        assert ask(tmp_path, other) == [seen, seen, None]

    def test_sets_an_older_bundle_aside(self, tmp_path: Path) -> None:
        installed(tmp_path, ONE, date="2020-01-01T00:00:00Z")
        other = tmp_path / "other.json"
        other.write_text(json.dumps({"bundles": [ONE]}))
        seen = [None, str(Path(data.PACKAGE) / "models" / "traits.json"), data.package_date()]
        assert ask(tmp_path, other) == [seen, seen, None]


def test_compiled_forms_of_a_bundle_are_kept_by_the_version_of_the_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert data.compiled_path("/x/engines/data") == "/x/engines/data"
    bundle = data.Bundle(ONE, str(tmp_path), {"date": DATE, "code": "0.1.0"})
    monkeypatch.setattr(data, "active", lambda: bundle)
    assert data.compiled_path(data.data_path("engines/data")) == str(tmp_path / "compiled" / data.VERSION / "engines" / "data")
    assert data.compiled_path("/x/engines/data") == "/x/engines/data"


def test_a_name_that_is_no_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(data.VARIABLE, "../../etc")
    data.active.cache_clear()
    with pytest.raises(data.DataError, match="which is not the id of a bundle"):
        data.active()
    monkeypatch.setenv(data.VARIABLE, "")
    assert data.active() is None
