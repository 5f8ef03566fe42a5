"""Where the data are: in the package, or in an installed bundle; a process and those that it starts use the same."""

from __future__ import annotations

import json
import mmap
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


class TestLines:
    def written(self, folder: Path) -> tuple[Path, list[int]]:
        writer = data.LinesWriter()
        offsets = [writer.add(value) for value in VALUES]
        path = folder / "a.lines"
        path.write_bytes(writer.text({"offsets": offsets}))
        return path, offsets

    def test_each_is_found_by_its_offset(self, tmp_path: Path) -> None:
        path, offsets = self.written(tmp_path)
        text = data.mapped(str(path))
        assert isinstance(text, mmap.mmap)
        for lines in (data.Lines(text), data.Lines(path.read_bytes())):
            assert lines.header["offsets"] == offsets
            assert [lines.load(one) for one in offsets] == VALUES

    def test_the_line_after_another(self, tmp_path: Path) -> None:
        path, offsets = self.written(tmp_path)
        lines = data.Lines(path.read_bytes())
        assert [lines.load_next(one) for one in offsets[:-1]] == VALUES[1:]

    @pytest.mark.parametrize("values", [{}, {"": 1}, {"A_B": [[0, 3, {"default": "a\tb\nc", "é": None}]], 'é "': "", "C": []}])
    def test_a_table(self, values: dict[str, object]) -> None:
        writer = data.LinesWriter()
        writer.add([1])
        offset = writer.add_table(values)
        writer.add([2])
        lines = data.Lines(writer.text({}))
        table = lines.table(offset)
        assert (dict(table), list(table), len(table), lines.load_next(offset)) == (values, list(values), len(values), [2])
        assert ("A_B" in table, "A" in table, table.get("A")) == ("A_B" in values, False, None)

    def test_a_file_system_without_mappings(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path, offsets = self.written(tmp_path)

        def refuse(*_: object, **__: object) -> None:
            raise OSError(19, "No such device")

        monkeypatch.setattr("mmap.mmap", refuse)
        text = data.mapped(str(path))
        assert text == path.read_bytes()
        assert isinstance(text, bytes)
        assert data.Lines(text).load(offsets[1]) == VALUES[1]

    @pytest.mark.parametrize("other", [b"", b"{", b"[]\n[1]\n"])
    def test_a_file_of_another_format(self, other: bytes, tmp_path: Path) -> None:
        (tmp_path / "a.lines").write_bytes(other)
        assert data.mapped(str(tmp_path / "a.lines")) is None


VALUES: list[object] = [{"a": [1, 2]}, "größer\n\u2028", [], None]
