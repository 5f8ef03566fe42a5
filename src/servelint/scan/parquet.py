"""Rows as Parquet (extra `parquet`): made of whole JSON Lines, since nothing can be added to a Parquet file."""

from __future__ import annotations

import json
import os
from itertools import islice

from servelint.scan.rows import COLUMNS

_ROWS = 50_000
"""Rows of a row group."""


def check() -> str | None:
    """Why no Parquet can be written here, if so."""
    try:
        import pyarrow.parquet  # noqa: F401 - to see whether it is here
    except ImportError:
        return "pyarrow is not installed here: pip install 'servelint[parquet]'"
    return None


def write(lines: str, path: str) -> None:
    """Make a Parquet file of a file of JSON Lines; it is whole, or the old one, at any time. Raises OSError."""
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([(name, pyarrow.string() if kind is str else pyarrow.int32()) for name, kind in COLUMNS.items()])
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(lines, encoding="utf-8") as file, parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
            while some := list(islice(file, _ROWS)):
                writer.write_table(pyarrow.Table.from_pylist([_clean(json.loads(line)) for line in some], schema=schema))
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _clean(row: dict[str, object]) -> dict[str, object]:
    """A row whose texts are valid UTF-8, which a path need not be."""
    return {
        name: value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        for name, value in row.items()
    }
