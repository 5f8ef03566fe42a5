"""Parquet holds the rows of JSON Lines, with their types."""

from __future__ import annotations

from pathlib import Path

import pytest

from servelint.scan import output
from servelint.scan.output import COLUMNS
from tests.running import Workspace
from tests.scan.samples import RULE, rows, written

pytest.importorskip("pyarrow")


def test_the_same_rows(workspace: Workspace) -> None:
    from pyarrow import parquet as reader

    written(workspace.folder / "work")
    (workspace.folder / "work/broken.yml").write_text("services: [ # vllm")
    options = ("scan", "work", "--select", RULE, "--no-cache", "--output")
    assert workspace.run(*options, "rows.jsonl").status == 2
    assert workspace.run(*options, "rows.parquet", "--format", "parquet").status == 2
    table = reader.read_table("rows.parquet")
    assert table.to_pylist() == rows(Path("rows.jsonl").read_bytes())
    assert [row["kind"] for row in table.to_pylist()] == ["error", "finding", "finding"]
    assert table.schema.names == list(COLUMNS)
    assert {str(field.type) for field in table.schema} == {"string", "int32"}
    assert sorted(path.name for path in workspace.folder.iterdir()) == ["rows.jsonl", "rows.parquet", "work"]


def test_no_rows_and_odd_names(tmp_path: Path) -> None:
    from pyarrow import parquet as reader

    lines = tmp_path / "rows.jsonl"
    lines.write_bytes(b"")
    output.write_parquet(str(lines), str(tmp_path / "none.parquet"))
    assert reader.read_table(tmp_path / "none.parquet").num_rows == 0
    lines.write_bytes(b'{"path":"caf\\udce9.yml"}\n')
    output.write_parquet(str(lines), str(tmp_path / "odd.parquet"))
    assert reader.read_table(tmp_path / "odd.parquet").column("path").to_pylist() == ["caf\\udce9.yml"]


def test_what_goes_wrong_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"no JSON\n")
    with pytest.raises(ValueError, match="Expecting value"):
        output.write_parquet(str(tmp_path / "rows.jsonl"), str(tmp_path / "rows.parquet"))
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]
